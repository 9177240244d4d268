// SPDX-License-Identifier: Apache-2.0
/*
 * Calls: those that a frame's path tells, and the coverage bytes of every module.
 *
 * The store before a call is made where it stands. But in an interrupted, optimised frame the
 * instruction that control stopped at may have been moved across such stores, between real calls.
 * So there, and only there, are doubts:
 *   - a byte that is set says nothing about the calls that come next without a branch, up to and
 *     including the first real one;
 *   - a byte that is not set says nothing about calls that were inlined, back to the last real one.
 * With a signal from outside the instruction at the program counter may have been moved down: then
 * both doubts are about all that control can have come to from its node as well.
 */
#include "evidence/core/decode_internal.h"

#include "common/alloc.h"
#include "common/error.h"
#include "layout/section.h"

#include <stdlib.h>
#include <string.h>

VEC_DEFINE(node_stack, uint32_t);

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

bool decode_may_be_inlined(const struct decoder *decoder, struct function_id function,
                           struct site_id site)
{
    const struct model_site *s = model_site(decoder->model, site);
    struct function_id callee;

    if (!s->callee)
        return true; // an indirect call may have been made direct
    struct error *err = model_find_debug_name(
        decoder->model, model_function(decoder->model, function)->module, s->callee, &callee);
    if (err) {
        error_destroy(err);
        return true;
    }
    return callee.value != MODEL_NONE;
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
        if (decode_may_be_inlined(doubts->decoder, (struct function_id){function}, site))
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
    bool inlined = decode_may_be_inlined(doubts->decoder, (struct function_id){function}, site);
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

void decode_inlined_doubts(struct decoder *decoder, const struct stop *stop,
                           const struct address_info *info)
{
    struct doubts doubts = {.decoder = decoder, .stop = stop};
    uint32_t function = info->count ? info->positions[0].function.value : MODEL_NONE;

    if (!stop->interrupted || !stop->physical)
        return;
    doubts.scopes = debug_function_scopes(stop->physical, &doubts.scope_count);
    if (function != MODEL_NONE && !function_is_optimized(decoder, (struct function_id){function})) {
        // only the call of the node itself may be under way
        for (uint32_t i = 0; i < info->positions[0].nodes.count; i++) {
            struct site_id site = node_site(decoder, function, info->positions[0].nodes.nodes[i]);
            if (site.value != MODEL_NONE)
                doubt_site(&doubts, site, true);
        }
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
        doubt_near(&doubts, position, i > 0, stop->memory_fault ? DOUBT_ON : DOUBT_AHEAD);
    }
}

// Calls that a path shows: of all nodes that it went on from.
static void calls_of_path(const struct decoder *decoder, struct function_id function,
                          const struct evidence_path *path, uint32_t steps, uint8_t *calls)
{
    uint32_t first_site = model_function(decoder->model, function)->first_site;

    for (uint32_t i = 0; i < steps; i++) {
        struct site_id site = node_site(decoder, function.value, path->steps[i].node);

        if (site.value != MODEL_NONE)
            calls[site.value - first_site] = EVIDENCE_TRUE;
    }
}

static void mark_certain(const struct decoder *decoder, struct function_id function,
                         const struct evidence_frame *frame, uint8_t *certain)
{
    for (uint32_t p = 0; p < frame->path_count; p++) {
        const struct evidence_path *path = &frame->paths[p];
        uint32_t steps = path->step_count;
        struct node_id last = model_node_at(decoder->model, function, path->steps[steps - 1].node);

        // a path that ends at a call that returns twice was stored before the call
        if (model_node(decoder->model, last)->flags & NODE_RETURNS_TWICE)
            steps--;
        calls_of_path(decoder, function, path, steps, certain);
    }
    if (frame->has_partial && frame->partial.step_count)
        calls_of_path(decoder, function, &frame->partial, frame->partial.step_count - 1, certain);
}

bool decode_waits_for(const struct decoder *decoder, const struct stop *stop, struct site_id site)
{
    const char *named = model_site(decoder->model, site)->callee;

    if (!stop->callee)
        return false;
    if (named && !strcmp(named, stop->callee))
        return true;
    return stop->callee_has_model && strncmp(stop->callee, "mem", 3) != 0 &&
           strncmp(stop->callee, "__", 2) != 0;
}

/*
 * Compilers call functions by themselves (a struct copy is memcpy, floor() may be an instruction or
 * a call). Such a call has no entry among the call sites of debug information, and its callee has
 * not the name that the source says.
 */
bool decode_waits_at_site(const struct decoder *decoder, const struct stop *stop,
                          const struct position *position)
{
    if (stop->interrupted || position->nodes.count == 0)
        return false;
    for (uint32_t i = 0; i < position->nodes.count; i++) {
        struct site_id site =
            node_site(decoder, position->function.value, position->nodes.nodes[i]);

        if (site.value == MODEL_NONE)
            return false;
        if (!stop->is_call_site && !decode_waits_for(decoder, stop, site))
            return false;
    }
    return true;
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

    memset(calls, frame->paths_from_entry ? EVIDENCE_FALSE : EVIDENCE_UNKNOWN, f->site_count);
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
