// SPDX-License-Identifier: Apache-2.0
/*
 * Calls: those that a frame's path tells, and the coverage bytes of every module.
 *
 * The store before a call is made where it stands. But in an interrupted, optimised frame the
 * instruction that control stopped at may have been moved across such stores, between real calls.
 * So there, and only there, are doubts:
 *   - a byte that is set says nothing about the calls that come next without a branch, up to and
 *     including the first real one;
 *   - a byte that is not set says nothing about calls that were inlined or are loose, back to the
 *     last one that holds everything in its place.
 * With a signal from outside the instruction at the program counter may have been moved down: then
 * both doubts are about all that control can have come to from its node as well. So may a store
 * that faults: out of a loop, past calls that do not look at what it writes.
 */
#include "evidence/core/landmark.h"

#include "common/alloc.h"
#include "common/error.h"
#include "layout/section.h"
#include "program/library.h"

#include <stdlib.h>
#include <string.h>

VEC_DEFINE(node_stack, uint32_t);

enum { RETURNS = 1, MAY_NOT_RETURN = 2 };

struct doubts {
    struct decoder *decoder;
    const struct stop *stop;
    const struct debug_scope *scopes; // of the physical function
    size_t scope_count;
};

static struct site_id node_site(const struct decoder *decoder, uint32_t function, uint32_t node)
{
    struct node_id id = model_node_at(decoder->model, (struct function_id){function}, node);

    return model_node(decoder->model, id)->site;
}

static bool find_in_module(const struct decoder *decoder, struct module_id module, const char *name,
                           struct function_id *callee)
{
    struct error *err = model_find_debug_name(decoder->model, module, name, callee);

    if (err)
        callee->value = MODEL_NONE;
    error_destroy(err);
    return err || callee->value != MODEL_NONE;
}

/*
 * Did the compiler see the function that is called? Then it may have inlined it, and knows what it
 * does. `callee`: MODEL_NONE where it is not known which one it is. With LTO it saw all modules.
 */
static bool sees_callee(const struct decoder *decoder, struct function_id function,
                        struct site_id site, struct function_id *callee)
{
    const struct model *model = decoder->model;
    const char *name = model_site(model, site)->callee;
    struct module_id own = model_function(model, function)->module;

    callee->value = MODEL_NONE;
    if (!name)
        return true; // an indirect call may have been made direct
    bool found = find_in_module(decoder, own, name, callee);
    if (!(model_module(model, own)->flags & SECTION_MODULE_LTO))
        return found;
    for (uint32_t m = 0; !found && m < model->module_count; m++)
        if (model->modules[m].flags & SECTION_MODULE_LTO)
            found = find_in_module(decoder, (struct module_id){m}, name, callee);
    return found;
}

bool decode_may_be_inlined(const struct decoder *decoder, struct function_id function,
                           struct site_id site)
{
    struct function_id callee;

    return sees_callee(decoder, function, site, &callee);
}

// Has the function a call that LLVM does not know to return? Then a call of it need not either.
static bool may_not_return(struct decoder *decoder, struct function_id function)
{
    uint8_t *known = scope_flags_put(&decoder->returns, function.value);
    const struct model_function *f = model_function(decoder->model, function);

    if (*known)
        return *known == MAY_NOT_RETURN;
    *known = MAY_NOT_RETURN; // of whoever calls itself nothing is known
    bool found = false;
    for (uint32_t s = 0; !found && s < f->site_count; s++) {
        struct site_id site = {f->first_site + s};
        struct function_id callee;

        if (model_site(decoder->model, site)->flags & SITE_LOOSE)
            continue;
        sees_callee(decoder, function, site, &callee);
        found = callee.value == MODEL_NONE || may_not_return(decoder, callee);
    }
    *scope_flags_put(&decoder->returns, function.value) = found ? MAY_NOT_RETURN : RETURNS;
    return found;
}

// Is there code of this virtual frame that really makes the call of the node, and none of it that
// was inlined?
static bool is_called_here(struct decoder *decoder, const struct stop *stop,
                           const struct position *position, uint32_t node)
{
    struct debug_info *info = NULL;
    size_t count = 0, scope_count = 0;
    const struct debug_scope *scopes =
        stop->physical ? debug_function_scopes(stop->physical, &scope_count) : NULL;
    const struct debug_call_site *sites =
        stop->physical ? debug_function_call_sites(stop->physical, &count) : NULL;
    bool called = false;

    if (!stop->unwound->module)
        return false;
    error_destroy(debug_info_open(stop->unwound->module, &info));
    for (size_t i = 1; i < scope_count; i++)
        if (scopes[i].parent == position->scope &&
            (!scopes[i].call_discriminator || scopes[i].call_discriminator == node + 1))
            return false;
    for (size_t i = 0; info && !called && i < count; i++) {
        struct debug_row row;

        // clang lists the calls of inlined functions with those of the function around them
        if (!sites[i].is_return || debug_scope_at(info, sites[i].address - 1) != position->scope ||
            !debug_row_at(info, sites[i].address - 1, &row))
            continue;
        struct named_place named =
            decode_named(decoder, position->function, row.line, row.discriminator);
        called = named.source == POSITION_DISCRIMINATOR && named.node == node;
    }
    return called;
}

bool decode_call_holds(struct decoder *decoder, const struct stop *stop,
                       const struct position *position, uint32_t node)
{
    struct site_id site = node_site(decoder, position->function.value, node);
    struct function_id callee;

    if (site.value == MODEL_NONE || model_site(decoder->model, site)->flags & SITE_LOOSE)
        return false;
    if (!sees_callee(decoder, position->function, site, &callee))
        return true;
    return (callee.value == MODEL_NONE || may_not_return(decoder, callee)) &&
           is_called_here(decoder, stop, position, node);
}

static void doubt_site(const struct doubts *doubts, struct site_id site, bool forward)
{
    bitset_set(forward ? &doubts->decoder->doubtful_true : &doubts->decoder->doubtful_false,
               site.value);
}

// Every call of a function, where nothing better is known.
static void doubt_function(const struct doubts *doubts, uint32_t function)
{
    const struct model_function *f =
        model_function(doubts->decoder->model, (struct function_id){function});

    for (uint32_t s = 0; s < f->site_count; s++) {
        struct site_id site = {f->first_site + s};

        doubt_site(doubts, site, true);
        if (model_site(doubts->decoder->model, site)->flags & SITE_LOOSE ||
            decode_may_be_inlined(doubts->decoder, (struct function_id){function}, site))
            doubt_site(doubts, site, false);
    }
}

static void doubt_inlined_at(const struct doubts *doubts, const struct debug_scope *parent,
                             uint32_t node)
{
    for (size_t i = 1; i < doubts->scope_count; i++) {
        const struct debug_scope *scope = &doubts->scopes[i];

        if (scope->parent != parent ||
            (scope->call_discriminator && scope->call_discriminator != node + 1))
            continue;
        // it and all that was inlined into it
        for (size_t k = 1; k < doubts->scope_count; k++)
            for (const struct debug_scope *s = &doubts->scopes[k]; s; s = s->parent)
                if (s == scope) {
                    uint32_t function = decode_scope_function(doubts->decoder, &doubts->scopes[k]);
                    if (function != MODEL_NONE)
                        doubt_function(doubts, function);
                    break;
                }
    }
}

enum direction {
    DOUBT_ON,    // on to the first branch or real call: stores made early
    DOUBT_BACK,  // back to the last real call: stores made late
    DOUBT_AHEAD, // wherever control can have gone on to, past calls too
};

// The call at a node that was come by. False: go no further that way.
static bool doubt_node(const struct doubts *doubts, const struct position *position, uint32_t node,
                       enum direction direction)
{
    uint32_t function = position->function.value;
    struct site_id site = node_site(doubts->decoder, function, node);

    if (site.value == MODEL_NONE)
        return true;
    bool inlined = !decode_call_holds(doubts->decoder, doubts->stop, position, node);
    if (direction != DOUBT_BACK || (inlined && !doubts->stop->memory_fault))
        doubt_site(doubts, site, true);
    if (inlined && direction != DOUBT_ON)
        doubt_site(doubts, site, false);
    if (inlined)
        doubt_inlined_at(doubts, position->scope, node);
    return inlined || direction == DOUBT_AHEAD;
}

static void push_new(struct node_stack *stack, uint8_t *seen, uint32_t node)
{
    if (!seen[node])
        node_stack_push(stack, node);
    seen[node] = 1;
}

/*
 * With a signal from outside, the instruction at the program counter may have been moved down, so
 * that control is anywhere ahead of its node, or up within its straight run of nodes.
 */
static void doubt_near(const struct doubts *doubts, const struct position *position, bool is_outer,
                       enum direction direction)
{
    struct model *model = doubts->decoder->model;
    const struct model_function *f = model_function(model, position->function);
    uint8_t *seen = xcalloc(f->node_count + 1u, 1);
    struct node_stack stack = VEC_INIT;
    struct predecessors before;

    predecessors_init(&before, model, position->function);
    for (uint32_t i = 0; i < position->nodes.count; i++)
        push_new(&stack, seen, position->nodes.nodes[i]);
    for (size_t starts = stack.length; stack.length;) {
        uint32_t node = node_stack_pop(&stack);
        struct node_list next = model_successors(model, (struct node_id){f->first_node + node});
        bool is_start = starts > 0;

        starts -= is_start;
        // the call that ends the starting node is ahead of it, and under way in an outer frame
        if (!(is_start && (is_outer || direction == DOUBT_BACK)) &&
            !doubt_node(doubts, position, node, direction))
            continue;
        if (direction == DOUBT_AHEAD || (direction == DOUBT_ON && next.count == 1))
            for (uint32_t k = 0; k < next.count; k++)
                push_new(&stack, seen, next.data[k].value - f->first_node);
        for (uint32_t p = before.start[node]; direction == DOUBT_BACK && p < before.start[node + 1];
             p++)
            push_new(&stack, seen, before.node[p]);
    }
    predecessors_deinit(&before);
    node_stack_deinit(&stack);
    free(seen);
}

// Only the call of the node itself may be under way.
static void doubt_own(const struct doubts *doubts, const struct position *position)
{
    bool optimized = function_is_optimized(doubts->decoder, position->function);

    for (uint32_t i = 0; i < position->nodes.count; i++) {
        struct site_id site =
            node_site(doubts->decoder, position->function.value, position->nodes.nodes[i]);

        if (site.value == MODEL_NONE)
            continue;
        doubt_site(doubts, site, true);
        if (optimized)
            doubt_site(doubts, site, false);
    }
}

/*
 * Do the rows name nodes that the machine code around the program counter allows, in all virtual
 * frames? Then no call was announced or left out between where control is and where the instruction
 * that it stopped at belongs.
 */
static bool stands_where_it_says(struct decoder *decoder, const struct stop *stop,
                                 const struct address_info *info)
{
    bool agrees = info->count > 0 && !stop->folded;

    for (uint32_t i = 0; agrees && i < info->count; i++) {
        const struct position *position = &info->positions[i];
        bool moved = false;
        uint8_t *between =
            position->function.value != MODEL_NONE && position->source == POSITION_DISCRIMINATOR
                ? decode_between(decoder, stop, position, &moved)
                : NULL;

        agrees = between && between[position->nodes.nodes[0]] && !moved;
        free(between);
    }
    return agrees;
}

void decode_inlined_doubts(struct decoder *decoder, const struct stop *stop,
                           const struct address_info *info)
{
    struct doubts doubts = {.decoder = decoder, .stop = stop};
    uint32_t function = info->count ? info->positions[0].function.value : MODEL_NONE;

    if (!stop->interrupted || !stop->physical)
        return;
    doubts.scopes = debug_function_scopes(stop->physical, &doubts.scope_count);
    if (function != MODEL_NONE && !function_is_optimized(decoder, (struct function_id){function})) {
        doubt_own(&doubts, &info->positions[0]);
        return;
    }
    if (stands_where_it_says(decoder, stop, info)) {
        doubt_own(&doubts, &info->positions[0]);
        return;
    }
    for (uint32_t i = 0; i < info->count; i++) {
        const struct position *position = &info->positions[i];

        if (position->function.value == MODEL_NONE)
            continue;
        // the inlined call that is being made: its store may come late
        for (uint32_t n = 0; i > 0 && n < position->nodes.count; n++) {
            struct site_id site =
                node_site(decoder, position->function.value, position->nodes.nodes[n]);
            if (site.value != MODEL_NONE)
                doubt_site(&doubts, site, false);
        }
        doubt_near(&doubts, position, i > 0, DOUBT_BACK);
        doubt_near(&doubts, position, i > 0,
                   stop->memory_fault && !stop->stores ? DOUBT_ON : DOUBT_AHEAD);
    }
}

// Calls that a path shows: of all nodes that it went on from.
static void mark_certain(const struct decoder *decoder, struct function_id function,
                         const struct evidence_frame *frame, uint8_t *certain)
{
    uint32_t first_site = model_function(decoder->model, function)->first_site;

    for (uint32_t i = 0; i + 1 < frame->path.step_count; i++) {
        const struct path_step *step = &frame->path.steps[i];
        struct site_id site = node_site(decoder, function.value, step->node);

        // a loop's header may still be where control is, and before further passes perhaps nowhere
        if (site.value != MODEL_NONE && step->kind == PATH_STEP_NODE)
            certain[site.value - first_site] = EVIDENCE_TRUE;
    }
}

// With a path since the entry, calls that are neither on it nor in a loop of it were not made.
static void mark_never(const struct decoder *decoder, struct function_id function,
                       const struct evidence_frame *frame, uint8_t *calls)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, function);
    const struct model_function *f = model_function(decoder->model, function);

    if (!frame->path_from_entry || !frame->path_exact)
        return;
    for (uint32_t s = 0; s < f->site_count; s++) {
        struct node_id node = model_site(decoder->model, (struct site_id){f->first_site + s})->node;
        bool looped = false;

        for (uint32_t i = 0; i < frame->path.step_count; i++)
            looped |= frame->path.steps[i].kind != PATH_STEP_NODE &&
                      path_in_loop(numbers, frame->path.steps[i].node, node.value - f->first_node);
        if (!looped)
            calls[s] = EVIDENCE_FALSE;
    }
}

bool decode_waits_for(const struct decoder *decoder, const struct stop *stop, struct site_id site)
{
    const char *named = model_site(decoder->model, site)->callee;

    if (!stop->callee)
        return false;
    if (named && !strcmp(named, stop->callee))
        return true;
    return stop->callee_has_model && !library_is_builtin(stop->callee);
}

/*
 * A loose call may have been moved. But where its announcement is the last that was made before it,
 * by the machine code, everything that is stored is as it was at its place.
 */
static bool was_just_announced(struct decoder *decoder, const struct stop *stop,
                               struct site_id site)
{
    const struct machine_code *code =
        stop->physical ? machine_code_of(decoder, stop->physical) : NULL;
    struct machine_view view = {.decoder = decoder, .code = code};
    uint32_t next = code ? machine_find(code, stop->unwound->pc) : MACHINE_NONE;

    for (uint32_t i = next == MACHINE_NONE || next == 0 ? 0 : next - 1;
         i > 0 && machine_only_follows(&view, i); i--) {
        const struct machine_insn *insn = &code->insns[i - 1];
        struct site_id announced;

        if (machine_announces(decoder, insn, &announced))
            return announced.value == site.value;
        if (insn->flow != MACHINE_NEXT)
            return false;
    }
    return false;
}

/*
 * Compilers call functions by themselves (a struct copy is memcpy, floor() may be an instruction or
 * a call). Such a call has no entry among the call sites of debug information, and its callee has
 * not the name that the source says.
 */
bool decode_waits_at_site(struct decoder *decoder, const struct stop *stop,
                          const struct position *position)
{
    if (stop->interrupted || position->nodes.count == 0 || position->function.value == MODEL_NONE)
        return false;
    for (uint32_t i = 0; i < position->nodes.count; i++) {
        struct site_id site =
            node_site(decoder, position->function.value, position->nodes.nodes[i]);

        if (site.value == MODEL_NONE)
            return false;
        bool waits = model_site(decoder->model, site)->flags & SITE_LOOSE
                         ? was_just_announced(decoder, stop, site)
                         : stop->is_call_site || decode_waits_for(decoder, stop, site);
        if (!waits)
            return false;
    }
    return true;
}

// Is it one of the C library's that copy or set memory, under any of its names
// (__memmove_avx_unaligned)?
static bool is_of_memory(const char *callee)
{
    return callee && (strstr(callee, "memcpy") || strstr(callee, "memmove") ||
                      strstr(callee, "mempcpy") || strstr(callee, "memset"));
}

bool decode_is_moved_call(struct decoder *decoder, const struct stop *stop,
                          const struct position *position, uint64_t *ret)
{
    const struct machine_code *code =
        stop->physical ? machine_code_of(decoder, stop->physical) : NULL;

    if (stop->interrupted || stop->holds || !code || position->function.value == MODEL_NONE ||
        !function_is_optimized(decoder, position->function) || is_of_memory(stop->callee))
        return false;
    for (uint32_t i = 0; i < code->count; i++)
        if (code->insns[i].address + code->insns[i].size == stop->unwound->pc) {
            *ret = code->insns[i].address;
            return code->insns[i].flow == MACHINE_CALL;
        }
    return false;
}

// A frame that waits for a call at its node has entered it, also when the callee is inlined.
static void mark_pending(const struct decoder *decoder, const struct position *position,
                         const struct stop *stop, bool is_outer, const struct evidence_frame *frame,
                         uint8_t *certain)
{
    if (frame->candidates.count != 1 || (stop->interrupted && !is_outer))
        return;
    struct site_id site = node_site(decoder, position->function.value, frame->candidates.nodes[0]);
    if (site.value == MODEL_NONE)
        return;
    if (is_outer || stop->is_call_site || decode_waits_for(decoder, stop, site))
        certain[site.value - model_function(decoder->model, position->function)->first_site] =
            EVIDENCE_TRUE;
}

void decode_calls(struct decoder *decoder, const struct stop *stop, const struct position *position,
                  bool is_outer, struct evidence_frame *frame)
{
    const struct model_function *f = model_function(decoder->model, position->function);
    uint8_t *calls = arena_alloc(&decoder->evidence->arena, f->site_count + 1u);

    memset(calls, EVIDENCE_UNKNOWN, f->site_count);
    mark_never(decoder, position->function, frame, calls);
    // the call of the node itself may be under way
    for (uint32_t i = 0; i < frame->candidates.count; i++) {
        struct site_id site =
            node_site(decoder, position->function.value, frame->candidates.nodes[i]);

        if (site.value != MODEL_NONE)
            calls[site.value - f->first_site] = EVIDENCE_UNKNOWN;
    }
    mark_certain(decoder, position->function, frame, calls);
    mark_pending(decoder, position, stop, is_outer, frame, calls);
    frame->calls = calls;
    frame->call_count = f->site_count;
}
