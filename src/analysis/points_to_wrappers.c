// SPDX-License-Identifier: Apache-2.0
/*
 * Wrappers of allocators. A function that returns what calls in it allocate (besides null, its own
 * arguments and whatever else) is a wrapper, and so is one that returns what a wrapper gave it.
 * Each call of a wrapper from elsewhere is a *context*: objects that are allocated within are told
 * apart by it, and its result is its own objects, not those of other contexts.
 *
 * Where a value comes from is traced within the function, through local variables of which nothing
 * but loads and stores is known to exist.
 */
#include "analysis/points_to_internal.h"

#include <string.h>

#define CONTEXT_CHAINED (UINT32_C(1) << 31) // through another wrapper

// ---- Tracing

VEC_DEFINE(operand_vec, struct operand);

struct trace {
    struct points_to *pt;
    uint32_t module, function;    // in the module
    const struct bitset *complex; // allocas that are used otherwise
    struct id_vec seen;
    struct id_vec calls;
    uint64_t arguments;
    struct operand_vec others;
};

static bool is_seen(struct trace *trace, uint32_t insn)
{
    for (size_t i = 0; i < trace->seen.length; i++)
        if (trace->seen.data[i] == insn)
            return true;
    id_vec_push(&trace->seen, insn);
    return false;
}

static const struct effects *call_effects(struct points_to *pt, uint32_t module,
                                          const struct insn *insn)
{
    const struct code *code = pt->model->modules[module].code;
    const struct call *call = code_call(code, insn);

    if (call->site == CODE_NONE || code->sites[call->site].callee == CODE_NONE)
        return NULL;
    uint32_t callee = code->sites[call->site].callee;
    const struct resolution *resolution = resolver_global(&pt->resolver, module, callee);
    if (!resolution->is_external || resolver_members(&pt->resolver, resolution->set).count)
        return NULL;
    return effects_find(code_string(code, code->globals[callee].name));
}

bool call_is_traced(struct points_to *pt, uint32_t module, uint32_t insn)
{
    return call_effects(pt, module, &pt->model->modules[module].code->insns[insn]) != NULL;
}

static void trace_operand(struct trace *trace, struct operand operand);

static void trace_call(struct trace *trace, uint32_t index, const struct insn *insn)
{
    const struct code *code = trace->pt->model->modules[trace->module].code;
    const struct effects *effects = call_effects(trace->pt, trace->module, insn);

    id_vec_push(&trace->calls, index);
    for (uint32_t i = 0; effects && i < effects->count; i++) {
        const struct effect *effect = &effects->list[i];
        if (effect->kind == EFFECT_RETURNS && effect->from.kind == EFFECT_ARGUMENT &&
            !effect->moved && effect->from.index < code_call(code, insn)->argument_count)
            trace_operand(trace, code_operand(code, insn, effect->from.index));
    }
}

// What is stored into a local variable.
static void trace_variable(struct trace *trace, uint32_t variable)
{
    const struct code *code = trace->pt->model->modules[trace->module].code;
    const struct code_function *function = &code->functions[trace->function];
    const struct code_node *first = &code->nodes[function->first_node];
    const struct code_node *last = &code->nodes[function->first_node + function->node_count - 1];

    for (uint32_t i = first->first_insn; i < last->first_insn + last->insn_count; i++)
        if (code->insns[i].opcode == INSN_STORE && code_operand(code, &code->insns[i], 1).bits ==
                                                       operand_make(OPERAND_INSN, variable).bits)
            trace_operand(trace, code_operand(code, &code->insns[i], 0));
}

static void trace_insn(struct trace *trace, struct operand operand)
{
    const struct code *code = trace->pt->model->modules[trace->module].code;
    uint32_t index = operand_index(operand);
    const struct insn *insn = &code->insns[index];

    switch ((enum insn_opcode)insn->opcode) {
    case INSN_LOAD: {
        struct operand from = code_operand(code, insn, 0);
        uint32_t variable = operand_index(from);
        if (operand_kind(from) != OPERAND_INSN || code->insns[variable].opcode != INSN_ALLOCA ||
            bitset_test(trace->complex, variable))
            operand_vec_push(&trace->others, operand);
        else if (!is_seen(trace, variable))
            trace_variable(trace, variable);
        break;
    }
    case INSN_PHI:
        for (uint32_t i = 0; i + 1 < insn->operand_count; i += 2)
            trace_operand(trace, code_operand(code, insn, i));
        break;
    case INSN_SELECT:
        trace_operand(trace, code_operand(code, insn, 1));
        trace_operand(trace, code_operand(code, insn, 2));
        break;
    case INSN_BITCAST:
    case INSN_ADDRSPACECAST:
        trace_operand(trace, code_operand(code, insn, 0));
        break;
    case INSN_CALL:
        if (code_call(code, insn)->site != CODE_NONE) {
            trace_call(trace, index, insn);
            break;
        }
        // fallthrough
    default:
        operand_vec_push(&trace->others, operand);
    }
}

static void trace_operand(struct trace *trace, struct operand operand)
{
    const struct code *code = trace->pt->model->modules[trace->module].code;
    uint32_t index = operand_index(operand);
    uint64_t number;

    if (operand_kind(operand) == OPERAND_ARGUMENT) {
        uint32_t argument = index - code->functions[trace->function].first_argument;
        if (argument < 64 && !(code->arguments[index].flags & ARGUMENT_BYVAL))
            trace->arguments |= UINT64_C(1) << argument;
        else
            operand_vec_push(&trace->others, operand);
    } else if (operand_kind(operand) == OPERAND_INSN) {
        if (!is_seen(trace, index))
            trace_insn(trace, operand);
    } else if (!operand_number(code, operand, &number)) {
        operand_vec_push(&trace->others, operand);
    }
}

static void trace_deinit(struct trace *trace)
{
    id_vec_deinit(&trace->seen);
    id_vec_deinit(&trace->calls);
    operand_vec_deinit(&trace->others);
}

// Allocas whose address is used otherwise than by loads and stores.
static void find_complex(const struct code *code, struct bitset *complex)
{
    bitset_init(complex, code->insns_count + (size_t)1);
    for (uint32_t i = 0; i < code->insns_count; i++) {
        const struct insn *insn = &code->insns[i];
        bool marks =
            insn->opcode == INSN_CALL && code_call(code, insn)->flags & CALL_INTRINSIC &&
            strncmp(code_string(code, code->globals[operand_index(code_callee(code, insn))].name),
                    "llvm.lifetime", 13) == 0;
        for (uint32_t o = 0; !marks && o < insn->operand_count; o++) {
            struct operand operand = code_operand(code, insn, o);
            bool plain =
                (insn->opcode == INSN_LOAD && o == 0) || (insn->opcode == INSN_STORE && o == 1);
            if (operand_kind(operand) == OPERAND_INSN && !plain)
                bitset_set(complex, operand_index(operand));
        }
    }
}

// ---- Which functions are wrappers

static bool allocates(const struct effects *effects)
{
    for (uint32_t i = 0; effects && i < effects->count; i++)
        if (effects->list[i].kind == EFFECT_ALLOCATES && effects->list[i].to.kind == EFFECT_RESULT)
            return true;
    return false;
}

static bool call_allocates(struct points_to *pt, uint32_t module, const struct insn *insn)
{
    const struct code *code = pt->model->modules[module].code;
    const struct call *call = code_call(code, insn);

    if (allocates(call_effects(pt, module, insn)))
        return true;
    if (call->site == CODE_NONE || code->sites[call->site].callee == CODE_NONE)
        return false;
    const struct resolution *resolution =
        resolver_global(&pt->resolver, module, code->sites[call->site].callee);
    struct function_list list = resolver_members(&pt->resolver, resolution->set);
    for (uint32_t i = 0; i < list.count; i++)
        if (!pt->functions[list.data[i].value].is_wrapper)
            return false;
    return list.count > 0;
}

static void trace_results(struct trace *trace)
{
    const struct code *code = trace->pt->model->modules[trace->module].code;
    const struct code_function *function = &code->functions[trace->function];

    for (uint32_t n = function->first_node; n < function->first_node + function->node_count; n++) {
        const struct code_node *node = &code->nodes[n];
        if (!(node->flags & NODE_RETURN) || node->insn_count == 0)
            continue;
        const struct insn *insn = &code->insns[node->first_insn + node->insn_count - 1];
        if (insn->opcode == INSN_RET && insn->operand_count)
            trace_operand(trace, code_operand(code, insn, 0));
    }
}

static void become_wrapper(struct points_to *pt, const struct trace *trace)
{
    uint32_t function = pt->model->modules[trace->module].first_function + trace->function;
    struct pt_function *f = &pt->functions[function];

    f->is_wrapper = true;
    f->plain = node_create(pt);
    f->arguments = trace->arguments;
    for (size_t i = 0; i < trace->calls.length; i++)
        bitset_set(&pt->returned_insns[trace->module], trace->calls.data[i]);
    for (size_t i = 0; i < trace->others.length; i++)
        plain_vec_push(&pt->plains,
                       (struct plain_value){function, trace->module, trace->others.data[i]});
}

static bool find_in_module(struct points_to *pt, uint32_t m)
{
    const struct code *code = pt->model->modules[m].code;
    bool found = false;

    for (uint32_t f = 0; f < code->functions_count; f++) {
        struct type_id result = code_type_member(code, code->functions[f].type, 0);
        uint32_t function = pt->model->modules[m].first_function + f;
        if (code_type(code, result)->kind != TYPE_POINTER || pt->functions[function].is_wrapper)
            continue;
        struct trace trace = {.pt = pt, .module = m, .function = f, .complex = &pt->complex[m]};
        trace_results(&trace);
        bool is_wrapper = false;
        for (size_t i = 0; i < trace.calls.length; i++)
            is_wrapper |= call_allocates(pt, m, &code->insns[trace.calls.data[i]]);
        if (is_wrapper)
            become_wrapper(pt, &trace);
        found |= is_wrapper;
        trace_deinit(&trace);
    }
    return found;
}

#define MOST_CHAIN 4u

void wrappers_find(struct points_to *pt)
{
    uint32_t count = pt->model->module_count;

    pt->returned_insns = xcalloc(count + (size_t)1, sizeof(struct bitset));
    pt->complex = xcalloc(count + (size_t)1, sizeof(struct bitset));
    for (uint32_t m = 0; m < count; m++) {
        bitset_init(&pt->returned_insns[m], pt->model->modules[m].code->insns_count + (size_t)1);
        find_complex(pt->model->modules[m].code, &pt->complex[m]);
    }
    bool found = true;
    for (uint32_t i = 0; found && i < MOST_CHAIN; i++) {
        found = false;
        for (uint32_t m = 0; m < count; m++)
            found |= find_in_module(pt, m);
    }
}

// ---- Objects

// The argument of its function that argument `index` of a call always is; MODEL_NONE: not known.
static uint32_t passed_argument(struct points_to *pt, const struct pt_call *call, uint32_t index)
{
    const struct code *code = pt->model->modules[call->module].code;
    const struct insn *insn = &code->insns[call->insn];
    struct trace trace = {
        .pt = pt,
        .module = call->module,
        .function = call->caller - pt->model->modules[call->module].first_function,
        .complex = &pt->complex[call->module]};
    uint32_t argument = MODEL_NONE;

    if (call->is_callback || index >= code_call(code, insn)->argument_count)
        return MODEL_NONE;
    trace_operand(&trace, code_operand(code, insn, index));
    if (trace.calls.length == 0 && trace.others.length == 0 &&
        __builtin_popcountll(trace.arguments) == 1)
        argument = (uint32_t)__builtin_ctzll(trace.arguments);
    trace_deinit(&trace);
    return argument;
}

static bool call_number(struct points_to *pt, const struct pt_call *call, uint32_t index,
                        const struct pt_call *context, uint64_t *ret)
{
    const struct code *code = pt->model->modules[call->module].code;

    if (!call->is_callback && index < call->argument_count &&
        operand_number(code, code_operand(code, &code->insns[call->insn], index), ret))
        return true;
    if (!context || context->is_callback)
        return false;
    uint32_t argument = passed_argument(pt, call, index);
    code = pt->model->modules[context->module].code;
    return argument < context->argument_count &&
           operand_number(code, code_operand(code, &code->insns[context->insn], argument), ret);
}

static uint64_t heap_size(struct points_to *pt, const struct pt_call *call,
                          const struct pt_call *context)
{
    static const struct {
        const char *name;
        uint8_t size, times;
    } known[] = {{"malloc", 0, 0xff}, {"calloc", 0, 1}, {"realloc", 1, 0xff}};
    const char *name =
        call->site == MODEL_NONE || call->is_callback ? NULL : pt->model->sites[call->site].callee;
    uint64_t size, times = 1;

    for (size_t i = 0; name && i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(name, known[i].name) == 0 &&
            call_number(pt, call, known[i].size, context, &size) &&
            (known[i].times == 0xff || call_number(pt, call, known[i].times, context, &times)))
            return size * times;
    return 0;
}

uint32_t heap_object(struct points_to *pt, uint32_t call, uint32_t context)
{
    bool is_direct = context != MODEL_NONE && !(context & CONTEXT_CHAINED);
    uint32_t by = context == MODEL_NONE ? context : context & ~CONTEXT_CHAINED;
    struct memo_key key = {UINT64_MAX - 1, call, by};
    uint32_t *known = pt_memo_put(&pt->memo, key);

    if (!*known) {
        const struct pt_call *c = &pt->calls.data[call];
        struct object info = {.kind = OBJECT_HEAP,
                              .module = c->module,
                              .index = c->insn,
                              .context = by == MODEL_NONE ? by : pt->calls.data[by].site,
                              .size = heap_size(pt, c, is_direct ? &pt->calls.data[by] : NULL)};
        *known = object_create(pt, info);
    }
    return object_find(pt, *known);
}

// ---- Contexts

static void context_allocate(struct points_to *pt, uint32_t call, uint32_t context)
{
    uint32_t by = context == MODEL_NONE ? context : context & ~CONTEXT_CHAINED;
    bool is_direct = context != MODEL_NONE && !(context & CONTEXT_CHAINED);
    struct value address = value_of_point(point_get(pt, heap_object(pt, call, context), 0));
    const struct effects *effects = pt->calls.data[call].allocator;

    value_flow(pt, address, pt->calls.data[call].result);
    if (by != MODEL_NONE)
        value_flow(pt, address, pt->calls.data[by].result);
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->list[i];
        if (effect->kind != EFFECT_COPY || effect->to.kind != EFFECT_RESULT_POINTEE ||
            effect->from.kind != EFFECT_POINTEE)
            continue;
        uint32_t argument =
            is_direct ? passed_argument(pt, &pt->calls.data[call], effect->from.index) : MODEL_NONE;
        uint64_t length = call_extent(pt, call, effect->extent);
        struct value from = call_argument(pt, call, effect->from.index);
        if (argument != MODEL_NONE) {
            value_copy(pt, address, call_argument(pt, by, argument), length);
        } else if (from.bits) { // the same for all contexts
            if (!pt->calls.data[call].between) {
                uint32_t between = value_copy_from(pt, from, length);
                pt->calls.data[call].between = between;
            }
            value_copy_to(pt, address, pt->calls.data[call].between, length);
        }
    }
}

static void context_add(struct points_to *pt, uint32_t function, uint32_t context)
{
    struct pt_function *f = &pt->functions[function];
    uint32_t by = context == MODEL_NONE ? context : context & ~CONTEXT_CHAINED;
    struct memo_key key = {UINT64_MAX - 2, function, by};
    bool is_new;

    pt_memo_put_new(&pt->memo, key, &is_new);
    if (!is_new)
        return;
    id_vec_push(&f->contexts, context);
    for (size_t i = 0; i < f->returned.length; i++) {
        uint32_t call = f->returned.data[i];
        if (pt->calls.data[call].allocator)
            context_allocate(pt, call, context);
        for (size_t w = 0; w < pt->calls.data[call].wrappers.length; w++)
            context_add(pt, pt->calls.data[call].wrappers.data[w],
                        context == MODEL_NONE ? context : context | CONTEXT_CHAINED);
    }
}

// What a wrapper returns besides objects of its own.
static void flow_plain(struct points_to *pt, uint32_t call, uint32_t function, uint32_t node)
{
    const struct pt_function *f = &pt->functions[function];

    node_add_edge(pt, f->plain, node);
    for (uint32_t i = 0; i < 64; i++)
        if (f->arguments >> i & 1)
            value_flow(pt, call_argument(pt, call, i), node);
}

void wrapper_called(struct points_to *pt, uint32_t call, uint32_t function)
{
    if (call == MODEL_NONE) {
        context_add(pt, function, MODEL_NONE);
        return;
    }
    struct pt_call *c = &pt->calls.data[call];
    if (!c->is_returned) {
        if (c->result)
            flow_plain(pt, call, function, c->result);
        context_add(pt, function, call);
        return;
    }
    id_vec_push(&c->wrappers, function);
    node_add_edge(pt, pt->functions[function].result, c->result);
    uint32_t caller = c->caller;
    flow_plain(pt, call, function, pt->functions[caller].plain);
    for (size_t i = 0; i < pt->functions[caller].contexts.length; i++) {
        uint32_t context = pt->functions[caller].contexts.data[i];
        context_add(pt, function, context == MODEL_NONE ? context : context | CONTEXT_CHAINED);
    }
}

void wrapper_allocates(struct points_to *pt, uint32_t call, const struct effects *effects)
{
    struct pt_function *f = &pt->functions[pt->calls.data[call].caller];

    pt->calls.data[call].allocator = effects;
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->list[i];
        if ((effect->kind != EFFECT_ALLOCATES || effect->to.kind != EFFECT_RESULT) &&
            (effect->kind != EFFECT_COPY || effect->to.kind != EFFECT_RESULT_POINTEE ||
             effect->from.kind != EFFECT_POINTEE))
            effect_apply(pt, call, effect);
    }
    for (size_t i = 0; i < f->contexts.length; i++)
        context_allocate(pt, call, f->contexts.data[i]);
}

void wrappers_finish(struct points_to *pt)
{
    for (size_t i = 0; i < pt->plains.length; i++) {
        const struct plain_value *plain = &pt->plains.data[i];
        value_flow(pt, value_of_operand(pt, plain->module, plain->operand),
                   pt->functions[plain->function].plain);
    }
}
