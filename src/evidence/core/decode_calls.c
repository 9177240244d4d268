// SPDX-License-Identifier: Apache-2.0
/*
 * Call coverage: local bytes of a frame, global bytes of every module.
 *
 * The stores before a call are made before any real call. Between real calls the optimiser may make
 * them earlier or later, or once for a whole loop. So in an interrupted, optimised frame there are
 * doubts, and only there:
 *   - a byte that is set says nothing about the calls that come next without a branch, up to and
 *     including the first real one: its store may have been made early, but not before a branch;
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

// May the callee be inlined: a direct call to a function with a body in the same module?
static bool may_be_inlined(const struct decoder *decoder, uint32_t function, struct site_id site)
{
    const struct model_site *s = model_site(decoder->model, site);
    struct function_id callee;

    if (!s->callee)
        return true; // an indirect call may have been made direct
    struct error *err = model_find_debug_name(
        decoder->model, model_function(decoder->model, (struct function_id){function})->module,
        s->callee, &callee);
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
        if (may_be_inlined(doubts->decoder, function, site))
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
    bool inlined = may_be_inlined(doubts->decoder, function, site);
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
    bool pending = frame->candidates_from && !strcmp(frame->candidates_from, "pending");
    if (is_outer || pending || decode_waits_for(decoder, stop, site))
        certain[site.value - model_function(decoder->model, position->function)->first_site] =
            EVIDENCE_TRUE;
}

// Is this call behind where control stands (or may stand) in its own chain? Then the chain's byte,
// set at its first call, does not tell of it: in a loop it may have been made before.
static bool is_ahead_in_chain(const struct path_numbering *numbers, uint32_t node,
                              const struct evidence_frame *frame)
{
    struct path_chain chain = path_chain(numbers, node);

    for (uint32_t i = 0; i < frame->candidates.count; i++) {
        struct path_chain here = path_chain(numbers, frame->candidates.nodes[i]);

        if (here.head == chain.head && here.position <= chain.position)
            return true;
    }
    return false;
}

// What the chain's byte says of the call at a node.
static uint8_t call_from_byte(struct decoder *decoder, const struct position *position,
                              const uint8_t *bytes, uint32_t node,
                              const struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);
    struct path_chain chain = path_chain(numbers, node);

    if (chain.byte == UINT32_MAX)
        return EVIDENCE_UNKNOWN; // not reachable
    if (!bytes[chain.byte])
        return EVIDENCE_FALSE;
    return !chain.stores && is_ahead_in_chain(numbers, node, frame) ? EVIDENCE_UNKNOWN
                                                                    : EVIDENCE_TRUE;
}

// Is the byte of this call's chain in doubt, in the interrupted frame?
static bool is_doubtful(const struct decoder *decoder, const struct bitset *doubts,
                        struct function_id function, uint32_t node)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, function);
    const struct model_function *f = model_function(decoder->model, function);
    uint32_t head = path_chain(numbers, node).head;

    for (uint32_t s = 0; s < f->site_count; s++) {
        struct site_id site = {f->first_site + s};
        uint32_t other = model_site(decoder->model, site)->node.value - f->first_node;

        if (path_chain(numbers, other).head == head && bitset_test(doubts, site.value))
            return true;
    }
    return false;
}

void decode_calls(struct decoder *decoder, const struct stop *stop, const struct position *position,
                  bool is_outer, const uint8_t *bytes, struct evidence_frame *frame)
{
    const struct model_function *f = model_function(decoder->model, position->function);
    uint8_t *calls = arena_alloc(&decoder->evidence->arena, f->site_count + 1u);
    uint8_t *certain = xcalloc(f->site_count + 1u, 1);
    bool from_path = !bytes && frame->paths_from_entry;

    mark_certain(decoder, position->function, frame, certain);
    mark_pending(decoder, position, stop, is_outer, frame, certain);
    for (uint32_t s = 0; s < f->site_count; s++) {
        struct site_id site = {f->first_site + s};
        uint32_t node = model_site(decoder->model, site)->node.value - f->first_node;
        uint8_t value = bytes       ? call_from_byte(decoder, position, bytes, node, frame)
                        : from_path ? EVIDENCE_FALSE
                                    : EVIDENCE_UNKNOWN;

        if (stop->interrupted && value == EVIDENCE_TRUE &&
            is_doubtful(decoder, &decoder->doubtful_true, position->function, node))
            value = EVIDENCE_UNKNOWN;
        if (stop->interrupted && value == EVIDENCE_FALSE &&
            is_doubtful(decoder, &decoder->doubtful_false, position->function, node))
            value = EVIDENCE_UNKNOWN;
        calls[s] = certain[s] ? EVIDENCE_TRUE : value;
    }
    // the call of the node itself may be under way
    if (from_path && frame->candidates.count == 1) {
        struct site_id site =
            node_site(decoder, position->function.value, frame->candidates.nodes[0]);
        if (site.value != MODEL_NONE && !certain[site.value - f->first_site])
            calls[site.value - f->first_site] = EVIDENCE_UNKNOWN;
    }
    free(certain);
    frame->calls = calls;
    frame->call_count = f->site_count;
}

// Functions that were left out store nothing: their bytes stay 0 whatever they call. Which sites
// are theirs is known only once the module is loaded, so a module with such a function is.
static void forget_unrecorded(struct decoder *decoder, struct module_id id, uint8_t *bytes)
{
    const struct model_module *module = model_module(decoder->model, id);
    uint32_t first = module->first_function, count = module->function_count;
    bool all = true;

    for (uint32_t f = first; f < first + count; f++)
        all &= decoder->model->functions[f].level >= SECTION_LEVEL_CALLS;
    if (all)
        return;
    struct error *err = model_load_module(decoder->model, id);
    module = model_module(decoder->model, id);
    for (uint32_t f = first; !err && f < first + count; f++) {
        const struct model_function *function = &decoder->model->functions[f];

        if (function->level < SECTION_LEVEL_CALLS)
            memset(bytes + (function->first_site - module->first_site), EVIDENCE_UNKNOWN,
                   function->site_count);
    }
    if (err)
        memset(bytes, EVIDENCE_UNKNOWN, module->site_count);
    error_destroy(err);
}

// The bytes of one module, read from the process.
static void module_coverage(struct decoder *decoder, struct module_id id, uint64_t address,
                            struct evidence_coverage *out)
{
    const struct model_module *module = model_module(decoder->model, id);
    uint8_t *bytes = arena_alloc(&decoder->evidence->arena, module->site_count + 1u);
    size_t got = modules_read(decoder->modules, address, bytes, module->site_count);
    bool corrupt = false;

    for (uint32_t s = 0; s < module->site_count; s++) {
        uint32_t site = module->first_site + s;

        if (s >= got || bytes[s] > 1) {
            corrupt |= s < got;
            bytes[s] = EVIDENCE_UNKNOWN;
        } else if (bitset_test(bytes[s] ? &decoder->doubtful_true : &decoder->doubtful_false, site))
            bytes[s] = EVIDENCE_UNKNOWN;
    }
    forget_unrecorded(decoder, id, bytes);
    if (corrupt)
        decode_warn(decoder, "coverage bytes of module %016llx were overwritten",
                    (unsigned long long)module->id);
    *out = (struct evidence_coverage){module->id, bytes, module->site_count};
}

VEC_DEFINE(coverage_vec, struct evidence_coverage);

// Two images can hold the same module: what ran in one of them ran.
static void add_coverage(struct coverage_vec *all, const struct evidence_coverage *coverage)
{
    for (size_t i = 0; i < all->length; i++) {
        uint8_t *known = (uint8_t *)all->data[i].sites;

        if (all->data[i].module_id != coverage->module_id)
            continue;
        for (uint32_t s = 0; s < coverage->site_count; s++)
            if (coverage->sites[s] == EVIDENCE_TRUE || known[s] == EVIDENCE_FALSE)
                known[s] = coverage->sites[s];
        return;
    }
    coverage_vec_push(all, *coverage);
}

static void image_coverage(struct decoder *decoder, struct module *image, struct coverage_vec *all)
{
    struct module_section section;

    if (!module_section(image, LAYOUT_DESCRIPTOR_SECTION, &section) || !section.data ||
        !section.is_loaded)
        return;
    // aligned to 8, with perhaps zeros between them
    for (uint64_t at = 0; at + sizeof(struct layout_descriptor) <= section.size; at += 8) {
        struct layout_descriptor descriptor;
        struct module_id id;
        struct evidence_coverage coverage;

        memcpy(&descriptor, section.data + at, sizeof(descriptor));
        if (descriptor.magic == 0)
            continue;
        if (descriptor.magic != LAYOUT_DESCRIPTOR_MAGIC || descriptor.version != LAYOUT_VERSION ||
            !layout_descriptor_is_sound(&descriptor) ||
            !model_find_module(decoder->model, descriptor.module_id, &id) ||
            model_module(decoder->model, id)->site_count != descriptor.site_count) {
            decode_warn(decoder, "'%s' has loaded data that its model does not know",
                        module_info(image)->path);
            return;
        }
        module_coverage(decoder, id,
                        section.address + at + (uint64_t)(int64_t)descriptor.coverage_offset,
                        &coverage);
        add_coverage(all, &coverage);
        at += sizeof(descriptor) - 8;
    }
}

void decode_coverage(struct decoder *decoder)
{
    struct coverage_vec all = VEC_INIT;

    for (size_t i = 0; i < modules_count(decoder->modules); i++)
        image_coverage(decoder, modules_at(decoder->modules, i), &all);
    decoder->evidence->coverage =
        arena_memdup(&decoder->evidence->arena, all.data ? (void *)all.data : "",
                     all.length * sizeof(*all.data));
    decoder->evidence->coverage_count = (uint32_t)all.length;
    coverage_vec_deinit(&all);
}
