// SPDX-License-Identifier: Apache-2.0
#include "slice/slice.h"

#include <stdlib.h>
#include <string.h>

#include "ask/case.h"
#include "common/alloc.h"
#include "common/budget.h"
#include "slice/graph.h"
#include "solve/view.h"

// ---- Slicers

// By function: the sites that may enter it.
static void index_callers(struct slicer *slicer)
{
    const struct model *model = slicer->model;
    uint32_t *start = xcalloc(model->function_count + 2u, sizeof(*start));

    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t s = 0; s < model->site_count; s++) {
            struct function_list lists[] = {model_callees(model, (struct site_id){s}),
                                            model_callbacks(model, (struct site_id){s})};

            for (uint32_t l = 0; l < 2; l++)
                for (uint32_t i = 0; i < lists[l].count; i++) {
                    uint32_t function = lists[l].data[i].value;

                    if (pass == 0)
                        start[function + 2]++;
                    else
                        slicer->callers[start[function + 1]++] = s;
                }
        }
        if (pass == 1)
            break;
        for (uint32_t f = 0; f < model->function_count; f++)
            start[f + 2] += start[f + 1];
        slicer->callers = xmalloc_array(start[model->function_count + 1] + 1u, sizeof(uint32_t));
    }
    slicer->caller_start = start;
}

struct slicer *slicer_create(struct model *model, struct dependence *dependence,
                             const struct ask_case *ask, const struct bitset *may,
                             enum slice_kind kind)
{
    struct slicer *slicer = xcalloc(1, sizeof(*slicer));

    assert(model->complete && (ask || kind == SLICE_STATIC));
    slicer->model = model;
    slicer->dependence = dependence;
    slicer->ask = ask;
    slicer->kind = kind;
    slicer->may = kind == SLICE_RESTRICTED ? may : NULL;
    slicer->shared = xmalloc_array(model->function_count + 1u, sizeof(uint32_t));
    for (uint32_t f = 0; f < model->function_count; f++)
        slicer->shared[f] = MODEL_NONE;
    index_callers(slicer);
    slicer_find_wide(slicer);
    if (kind != SLICE_STATIC)
        slicer_make_frames(slicer);
    return slicer;
}

void slicer_destroy(struct slicer *slicer)
{
    if (!slicer)
        return;
    slicer_forget(slicer);
    for (size_t i = 0; i < slicer->activations.length; i++)
        activation_deinit(&slicer->activations.data[i]);
    activation_vec_deinit(&slicer->activations);
    for (size_t i = 0; i < slicer->writers.length; i++)
        insn_vec_deinit(&slicer->writers.data[i].insns);
    writers_vec_deinit(&slicer->writers);
    free(slicer->writers_start);
    free(slicer->writers_of);
    bitset_deinit(&slicer->wide);
    free(slicer->shared);
    free(slicer->caller_start);
    free(slicer->callers);
    free(slicer);
}

uint32_t slicer_frame_count(const struct slicer *slicer)
{
    return slicer->frame_count;
}

struct function_id slicer_frame_function(const struct slicer *slicer, uint32_t frame)
{
    assert(frame < slicer->frame_count);
    return (struct function_id){slicer->activations.data[frame].function};
}

// ---- Criteria

void slice_criterion_deinit(struct slice_criterion *criterion)
{
    slice_start_vec_deinit(&criterion->starts);
}

static bool can_fault(const struct insn *insn)
{
    switch (insn->opcode) {
    case INSN_LOAD:
    case INSN_STORE:
    case INSN_CMPXCHG:
    case INSN_RMW:
    case INSN_UDIV:
    case INSN_SDIV:
    case INSN_UREM:
    case INSN_SREM:
    case INSN_CALL:
    case INSN_INVOKE:
    case INSN_CALLBR:
    case INSN_VAARG:
    case INSN_UNREACHABLE:
        return true;
    default:
        return false;
    }
}

// Instructions of a node: its call, those that can fault, or all.
static void add_node(const struct slicer *slicer, struct node_id node, uint32_t frame, bool pending,
                     bool all, struct slice_criterion *ret)
{
    const struct code_node *code = model_code_node(slicer->model, node);
    const struct model_function *f =
        model_function(slicer->model, model_node(slicer->model, node)->function);
    bool some = false;

    for (uint32_t pass = 0; pass < 2 && !some; pass++)
        for (uint32_t i = pending ? code->insn_count - 1 : 0; i < code->insn_count; i++) {
            struct slice_start start = {
                .frame = frame,
                .insn = dependence_insn(slicer->dependence, f->module, code->first_insn + i),
                .with_value = true,
                .memory = SLICE_NO_CLASS};

            if (!all && !pass && !pending &&
                !can_fault(dependence_insn_at(slicer->dependence, start.insn, NULL, NULL)))
                continue;
            slice_start_vec_push(&ret->starts, start);
            some = true;
        }
}

bool slicer_default_criterion(const struct slicer *slicer, struct slice_criterion *ret)
{
    *ret = (struct slice_criterion){VEC_INIT};
    if (!slicer->ask)
        return false;
    const struct ask_thread *thread = &slicer->ask->threads[0];
    bool interrupted = thread->cut.length > 0;

    for (uint32_t v = (uint32_t)thread->views.length; v-- > 0;) {
        const struct view *view = thread->views.data[v];

        if (view->function >= slicer->model->function_count)
            continue;
        for (uint32_t i = 0; i < view->end_count; i++)
            add_node(slicer, (struct node_id){view->node[view->end[i]]},
                     slicer->kind == SLICE_STATIC ? MODEL_NONE : 0, !interrupted, false, ret);
        break;
    }
    return ret->starts.length > 0;
}

// Does the instruction load or store this variable of its function, or a global of that name?
static bool touches(const struct slicer *slicer, struct insn_id id, const char *variable)
{
    struct module_id module;
    const struct insn *insn = dependence_insn_at(slicer->dependence, id, &module, NULL);
    const struct code *code = model_module(slicer->model, module)->code;
    uint32_t function = code->nodes[insn->node].function;

    if (insn->opcode != INSN_LOAD && insn->opcode != INSN_STORE)
        return false;
    struct operand address = code_operand(code, insn, insn->opcode == INSN_STORE);
    if (operand_kind(address) == OPERAND_GLOBAL) {
        const struct global *global = &code->globals[operand_index(address)];

        return !strcmp(code_string(code, global->name), variable) ||
               !strcmp(code_string(code, global->debug_name), variable);
    }
    const struct code_function *f = &code->functions[function];
    for (uint32_t v = f->first_variable; v < f->first_variable + f->variable_count; v++)
        if (code->variables[v].storage.bits == address.bits &&
            !strcmp(code_string(code, code->variables[v].name), variable))
            return true;
    return false;
}

static uint32_t frame_of(const struct slicer *slicer, struct function_id function)
{
    for (uint32_t i = 0; i < slicer->frame_count; i++)
        if (slicer->activations.data[i].function == function.value)
            return i;
    return MODEL_NONE;
}

void slicer_criterion_at(const struct slicer *slicer, const struct node_id *nodes, uint32_t count,
                         const char *variable, struct slice_criterion *ret)
{
    size_t kept = 0;

    *ret = (struct slice_criterion){VEC_INIT};
    for (uint32_t i = 0; i < count; i++)
        add_node(slicer, nodes[i], frame_of(slicer, model_node(slicer->model, nodes[i])->function),
                 false, true, ret);
    for (size_t i = 0; variable && i < ret->starts.length; i++)
        if (touches(slicer, ret->starts.data[i].insn, variable))
            ret->starts.data[kept++] = ret->starts.data[i];
    if (variable)
        ret->starts.length = kept;
}

// ---- Slices

struct slice_trail {
    const struct slicer *slicer; // for activations
    struct vertex_vec vertices;
    struct insn_vec insns;       // by vertex; MODEL_NONE: none
    struct vertex_id_vec frames; // by vertex
};

static void ask_at(struct slicer *slicer, const struct slice_start *start, uint32_t activation,
                   uint32_t position)
{
    uint32_t vertex = vertex_at(slicer, activation, VERTEX_INSN, position);
    struct module_id module;
    const struct insn *insn = dependence_insn_at(slicer->dependence, start->insn, &module, NULL);
    const struct code *code = model_module(slicer->model, module)->code;

    if (start->memory.value != UINT32_MAX) {
        vertex_ask(slicer, vertex_of(slicer, vertex, VERTEX_BEFORE, start->memory.value),
                   CONTEXT_ANY, MODEL_NONE, SLICE_BY_CRITERION);
        return;
    }
    if (!start->with_value)
        vertex = vertex_at(slicer, activation, VERTEX_NODE,
                           activation_copy_at(&slicer->activations.data[activation], position));
    vertex_ask(slicer, vertex, CONTEXT_ANY, MODEL_NONE, SLICE_BY_CRITERION);
    if (start->with_value &&
        (insn->opcode == INSN_CALL || insn->opcode == INSN_INVOKE || insn->opcode == INSN_CALLBR))
        for (uint32_t i = 0; i < code_call(code, insn)->argument_count; i++)
            vertex_ask(slicer, vertex_of(slicer, vertex, VERTEX_ACTUAL, i), CONTEXT_ANY, MODEL_NONE,
                       SLICE_BY_CRITERION);
}

// Every copy of the instruction's node in the frame; of the innermost frame, where it stands, those
// alone if there are any.
static void ask_in_frame(struct slicer *slicer, const struct slice_start *start)
{
    struct node_id node = dependence_insn_node(slicer->dependence, start->insn);
    const struct activation *a = &slicer->activations.data[start->frame];
    uint32_t index, copy_count = a->copy_count;
    bool ends = false;

    dependence_insn_at(slicer->dependence, start->insn, NULL, &index);
    uint32_t offset = index - model_code_node(slicer->model, node)->first_insn;
    for (uint32_t i = 0; i < a->view->end_count; i++)
        ends |= a->view->node[a->view->end[i]] == node.value;
    for (uint32_t copy = 0; copy < copy_count; copy++) {
        bool end = false;

        a = &slicer->activations.data[start->frame];
        if (a->view->node[copy] != node.value)
            continue;
        for (uint32_t i = 0; i < a->view->end_count; i++)
            end |= a->view->end[i] == copy;
        if (end || !ends)
            ask_at(slicer, start, start->frame, a->first[copy] + offset);
    }
}

static void ask_start(struct slicer *slicer, const struct slice_start *start)
{
    struct node_id node = dependence_insn_node(slicer->dependence, start->insn);
    uint32_t function = model_node(slicer->model, node)->function.value;

    if (start->frame != MODEL_NONE && start->frame < slicer->frame_count &&
        slicer->activations.data[start->frame].function == function) {
        ask_in_frame(slicer, start);
        return;
    }
    uint32_t shared = slicer_shared(slicer, function);
    ask_at(slicer, start, shared,
           activation_position(slicer, &slicer->activations.data[shared], start->insn));
}

// The budget is spent: all that may have run.
static void take_everything(const struct slicer *slicer, struct slice *ret)
{
    for (uint32_t i = 0; i < dependence_insn_count(slicer->dependence); i++) {
        struct node_id node = dependence_insn_node(slicer->dependence, (struct insn_id){i});

        if (slicer_may_run(slicer, node.value))
            bitset_set(&ret->insns, i);
    }
}

static void collect(struct slicer *slicer, struct slice *ret)
{
    struct slice_trail *trail = ret->trail;
    struct vertex_map actuals = MAP_INIT;

    for (size_t v = 0; v < slicer->vertices.length; v++) {
        const struct vertex *vertex = &slicer->vertices.data[v];
        const struct activation *a = &slicer->activations.data[vertex->activation];
        struct insn_id insn = {MODEL_NONE};

        if (vertex->kind == VERTEX_INSN || vertex->kind == VERTEX_RESULT ||
            vertex->kind == VERTEX_ACTUAL || vertex->kind == VERTEX_CALL_BACK ||
            vertex->kind == VERTEX_AFTER_CALL || vertex->kind == VERTEX_AFTER_JUMP)
            insn = activation_insn(slicer, a, vertex->index);
        insn_vec_push(&trail->insns, insn);
        vertex_id_vec_push(&trail->frames, a->frame);
        if (!vertex->contexts || insn.value == MODEL_NONE)
            continue;
        bitset_set(&ret->insns, insn.value);
        if (vertex->kind == VERTEX_ACTUAL) { // of all activations once
            bool is_new;

            vertex_map_put_new(&actuals, (uint64_t)insn.value << 32 | vertex->class, &is_new);
            ret->actual_count += is_new;
        }
    }
    vertex_map_deinit(&actuals);
    trail->vertices = slicer->vertices;
    slicer->vertices = (struct vertex_vec)VEC_INIT;
}

// ---- Forwards

// All instructions that may have run, in completed calls and in frames.
static void ask_everything(struct slicer *slicer)
{
    for (uint32_t f = 0; f < slicer->model->function_count; f++) {
        const struct model_function *function = &slicer->model->functions[f];
        uint32_t shared = slicer_shared(slicer, f);

        for (uint32_t n = 0; n < function->node_count; n++)
            for (uint32_t p = slicer->activations.data[shared].first[n];
                 slicer_may_run(slicer, function->first_node + n) &&
                 p < slicer->activations.data[shared].first[n + 1];
                 p++)
                vertex_ask(slicer, vertex_at(slicer, shared, VERTEX_INSN, p), CONTEXT_ANY,
                           MODEL_NONE, SLICE_BY_CRITERION);
    }
    for (uint32_t a = 0; a < slicer->frame_count; a++)
        for (uint32_t p = 0;
             p < slicer->activations.data[a].first[slicer->activations.data[a].copy_count]; p++)
            vertex_ask(slicer, vertex_at(slicer, a, VERTEX_INSN, p), CONTEXT_ANY, MODEL_NONE,
                       SLICE_BY_CRITERION);
}

/*
 * Only what the start can be reached from stays asked for. Contexts are not looked at on the way: a
 * call may seem to come back to another call of the same function, which makes the slice larger.
 */
static void keep_dependents(struct slicer *slicer, const struct vertex_id_vec *starts)
{
    uint32_t count = (uint32_t)slicer->vertices.length;
    uint32_t *first = xmalloc_array(count + 1u, sizeof(*first));
    uint32_t *next = xmalloc_array(slicer->edges.length + 1, sizeof(*next));
    uint32_t *from = xmalloc_array(slicer->edges.length + 1, sizeof(*from));
    struct vertex_id_vec work = VEC_INIT;

    for (uint32_t v = 0; v < count; v++)
        first[v] = MODEL_NONE;
    for (uint32_t v = 0; v < count; v++) {
        slicer->vertices.data[v].contexts = 0;
        for (uint32_t e = slicer->vertices.data[v].first_edge; e != MODEL_NONE;
             e = slicer->edges.data[e].next) {
            from[e] = v;
            next[e] = first[slicer->edges.data[e].to];
            first[slicer->edges.data[e].to] = e;
        }
    }
    for (size_t i = 0; i < starts->length; i++) {
        slicer->vertices.data[starts->data[i]].contexts = CONTEXT_ANY;
        slicer->vertices.data[starts->data[i]].parent = MODEL_NONE;
        vertex_id_vec_push(&work, starts->data[i]);
    }
    while (work.length) {
        uint32_t v = vertex_id_vec_pop(&work);

        for (uint32_t e = first[v]; e != MODEL_NONE; e = next[e]) {
            struct vertex *vertex = &slicer->vertices.data[from[e]];

            if (vertex->contexts)
                continue;
            vertex->contexts = CONTEXT_ANY;
            vertex->parent = v;
            vertex->reason = slicer->edges.data[e].reason;
            vertex_id_vec_push(&work, from[e]);
        }
    }
    vertex_id_vec_deinit(&work);
    free(first);
    free(next);
    free(from);
}

// What has been asked for: the criterion.
static void find_starts(struct slicer *slicer, struct vertex_id_vec *ret)
{
    for (uint32_t v = 0; v < slicer->vertices.length; v++)
        if (slicer->vertices.data[v].contexts)
            vertex_id_vec_push(ret, v);
}

void slicer_run(struct slicer *slicer, const struct slice_criterion *criterion, unsigned flags,
                struct budget *budget, struct slice *ret)
{
    *ret = (struct slice){.trail = xcalloc(1, sizeof(*ret->trail))};
    ret->trail->slicer = slicer;
    bitset_init(&ret->insns, dependence_insn_count(slicer->dependence));
    bitset_init(&ret->nodes, slicer->model->node_count);
    slicer->flags = flags;
    for (size_t i = 0; i < criterion->starts.length; i++)
        ask_start(slicer, &criterion->starts.data[i]);
    if (flags & SLICE_FORWARD) {
        struct vertex_id_vec starts = VEC_INIT;

        find_starts(slicer, &starts);
        ask_everything(slicer);
        ret->complete = slicer_propagate(slicer, budget);
        keep_dependents(slicer, &starts);
        vertex_id_vec_deinit(&starts);
    } else
        ret->complete = slicer_propagate(slicer, budget);
    collect(slicer, ret);
    if (!ret->complete)
        take_everything(slicer, ret);
    slicer_forget(slicer);
    for (size_t i = bitset_next(&ret->insns, 0); i < ret->insns.size;
         i = bitset_next(&ret->insns, i + 1)) {
        struct insn_id insn = {(uint32_t)i};

        bitset_set(&ret->nodes, dependence_insn_node(slicer->dependence, insn).value);
        ret->insn_count++;
    }
}

void slice_deinit(struct slice *slice)
{
    bitset_deinit(&slice->insns);
    bitset_deinit(&slice->nodes);
    if (slice->trail) {
        vertex_vec_deinit(&slice->trail->vertices);
        insn_vec_deinit(&slice->trail->insns);
        vertex_id_vec_deinit(&slice->trail->frames);
    }
    free(slice->trail);
    *slice = (struct slice){0};
}

// ---- Why

const char *slice_reason_name(enum slice_reason reason)
{
    static const char *const names[] = {"criterion", "value", "memory",
                                        "control",   "call",  "result"};

    return names[reason];
}

// The class that a step through memory is about.
static struct class_id class_of(const struct vertex *vertex)
{
    return vertex->kind >= VERTEX_FIRST_CLASSED && vertex->kind != VERTEX_ACTUAL
               ? (struct class_id){vertex->class}
               : SLICE_NO_CLASS;
}

bool slice_why(const struct slice *slice, const struct bitset *insns, struct slice_link_vec *ret)
{
    const struct slice_trail *trail = slice->trail;
    uint32_t at = MODEL_NONE;

    *ret = (struct slice_link_vec)VEC_INIT;
    for (uint32_t v = 0; v < trail->insns.length && at == MODEL_NONE; v++)
        if (trail->insns.data[v].value != MODEL_NONE && trail->vertices.data[v].contexts &&
            bitset_test(insns, trail->insns.data[v].value))
            at = v;
    if (at == MODEL_NONE)
        return false;
    struct class_id memory = SLICE_NO_CLASS;
    for (uint32_t v = at; v != MODEL_NONE; v = trail->vertices.data[v].parent) {
        const struct vertex *vertex = &trail->vertices.data[v];

        if (class_of(vertex).value != UINT32_MAX)
            memory = class_of(vertex);
        if (trail->insns.data[v].value == MODEL_NONE)
            continue;
        if (ret->length && slice_link_vec_last(ret)->insn.value == trail->insns.data[v].value) {
            // the vertex nearest to the criterion tells how it is tied to what comes before
            slice_link_vec_last(ret)->reason = (enum slice_reason)vertex->reason;
            slice_link_vec_last(ret)->memory = memory;
            memory = SLICE_NO_CLASS;
            continue;
        }
        // what the previous link is needed by, through whatever lies between
        slice_link_vec_push(ret, (struct slice_link){trail->insns.data[v], trail->frames.data[v],
                                                     (enum slice_reason)vertex->reason, memory});
        memory = SLICE_NO_CLASS;
    }
    for (size_t i = 0; i < ret->length / 2; i++) {
        struct slice_link other = ret->data[i];

        ret->data[i] = ret->data[ret->length - 1 - i];
        ret->data[ret->length - 1 - i] = other;
    }
    return true;
}
