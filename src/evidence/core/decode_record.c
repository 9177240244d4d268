// SPDX-License-Identifier: Apache-2.0
/*
 * The frame record of one virtual frame: is it there, may it be trusted, which paths does it tell.
 *
 * A frame in a real call: the record is exact; a sum that no path to the call has means that the
 * record was overwritten.
 *
 * An interrupted frame, not optimised: the same, but for the few instructions that update it, which
 * the line table marks (POSITION_EDGE): there the unfinished path is not claimed, and the oldest
 * ring entry may already be overwritten.
 *
 * An interrupted frame, optimised: sums are written by volatile stores, which keep their order and
 * are not made on paths that do not make them. So a sum proves the path up to where it was last
 * changed, wherever the program counter claims to be. Every node v with a path to v of that sum is
 * a possible place in that order of stores; claimed is what all of them have in common. A load or
 * store that faulted may have moved above the stores of the edges into its straight run of nodes,
 * but not below any; so for it only that run and the nodes before it count as places. Between the
 * count's and the sum's store at a cut edge the sum still is that of the path just finished: when
 * it could be, nothing is claimed of an unfinished path.
 */
#include "evidence/core/decode_internal.h"

#include "common/alloc.h"
#include "layout/section.h"

#include <stdlib.h>
#include <string.h>

struct record {
    struct layout_shape shape;
    struct layout_frame layout;
    unsigned char *bytes; // layout.size of them
    uint32_t pending;
    uint64_t sum;
    uint64_t ring_count;
};

static uint64_t read_u64(const struct record *record, uint32_t offset)
{
    uint64_t value;

    memcpy(&value, record->bytes + offset, sizeof(value));
    return value;
}

static uint32_t read_u32(const struct record *record, uint32_t offset)
{
    uint32_t value;

    memcpy(&value, record->bytes + offset, sizeof(value));
    return value;
}

static void problem(struct decoder *decoder, struct evidence_frame *frame,
                    enum evidence_record state, const char *note)
{
    frame->record = state;
    frame->record_note = note ? arena_strdup(&decoder->evidence->arena, note) : NULL;
}

/*
 * Was the record of this physical function initialised before the address? The cookie is an
 * immediate of the store that ends the initialisation, which stands before everything else: so its
 * four bytes come earlier in the function's code, or it did not run yet. A slot can hold the cookie
 * of an earlier activation that longjmp left.
 */
static bool initialized_before(const struct decoder *decoder, const struct stop *stop,
                               uint32_t cookie)
{
    size_t count;
    const struct debug_scope *scopes = debug_function_scopes(stop->physical, &count);
    bool found = false;

    for (uint32_t r = 0; count && !found && r < scopes[0].range_count; r++) {
        uint64_t start = scopes[0].ranges[r].start, end = scopes[0].ranges[r].end;

        if (stop->unwound->pc >= start && stop->unwound->pc < end)
            end = stop->unwound->pc;
        if (end - start > (64u << 20))
            continue;
        unsigned char *code = xmalloc((size_t)(end - start) + 1);
        size_t got = modules_read(decoder->modules, start, code, (size_t)(end - start));
        found = got >= 4 && memmem(code, got, &cookie, sizeof(cookie)) != NULL;
        free(code);
    }
    return found;
}

// Reads the bytes and judges the cookie. False: the frame says why there is no record.
static bool read_record(struct decoder *decoder, const struct stop *stop,
                        const struct position *position, struct record *record,
                        struct evidence_frame *frame)
{
    const struct model_function *function = model_function(decoder->model, position->function);
    uint64_t module_id = model_module(decoder->model, function->module)->id;
    uint32_t size = record->layout.size;

    record->shape = model_shape(decoder->model, position->function);
    if (!record->shape.has_record) {
        frame->record = EVIDENCE_RECORD_NONE;
        return false;
    }
    record->layout = layout_frame_of(&record->shape);
    size = record->layout.size;
    const struct debug_variable *variable =
        debug_scope_variable(position->scope, LAYOUT_FRAME_VARIABLE);
    if (!variable) {
        problem(decoder, frame, EVIDENCE_RECORD_UNTOLD,
                "debug information has no record for this frame");
        return false;
    }
    if (debug_variable_size(variable) != size) {
        problem(decoder, frame, EVIDENCE_RECORD_UNTOLD,
                "the record has not the size it should have");
        return false;
    }
    record->bytes = arena_alloc(&decoder->evidence->arena, size);
    bool *present = xcalloc(size + 1u, sizeof(*present));
    size_t got = debug_variable_read(variable, decoder->modules, stop->unwound, 0, record->bytes,
                                     size, present);
    free(present);
    if (got != size) {
        problem(decoder, frame, EVIDENCE_RECORD_UNTOLD, "the record is not in the core");
        return false;
    }
    uint32_t cookie = read_u32(record, record->layout.cookie);
    bool recording = cookie == layout_cookie(module_id, function->index, 1);
    if (!recording && cookie != layout_cookie(module_id, function->index, 0)) {
        bool must_be_there = !stop->interrupted && !frame->inlined && cookie != 0;
        problem(decoder, frame, must_be_there ? EVIDENCE_RECORD_CORRUPT : EVIDENCE_RECORD_UNREADY,
                must_be_there ? "its cookie was overwritten" : NULL);
        return false;
    }
    if (stop->interrupted && !initialized_before(decoder, stop, cookie)) {
        problem(decoder, frame, EVIDENCE_RECORD_UNREADY, NULL);
        return false;
    }
    if (stop->interrupted && frame->inlined &&
        (stop->sets_jumps || !(function->record_flags & SECTION_FUNCTION_CLEARS))) {
        problem(decoder, frame, EVIDENCE_RECORD_UNTOLD,
                "it may be from an earlier activation that was inlined here");
        return false;
    }
    record->pending = read_u32(record, record->layout.pending);
    record->sum = record->shape.has_sum ? read_u64(record, record->layout.sum) : 0;
    record->ring_count = record->shape.has_ring ? read_u64(record, record->layout.ring_count) : 0;
    if (record->pending > function->site_count) {
        problem(decoder, frame, EVIDENCE_RECORD_CORRUPT,
                "its pending call is none of the function");
        return false;
    }
    frame->record = recording ? EVIDENCE_RECORD_VALID : EVIDENCE_RECORD_CALLS;
    return true;
}

// The call bytes, checked; NULL when this body keeps none. False: overwritten.
static bool call_bytes(struct decoder *decoder, const struct position *position,
                       const struct record *record, struct evidence_frame *frame,
                       const uint8_t **ret)
{
    uint32_t level = model_function_level(decoder->model, position->function);

    *ret = NULL;
    if (!path_keeps_calls(&record->shape, level, frame->record == EVIDENCE_RECORD_VALID))
        return true;
    *ret = record->bytes + record->layout.calls;
    for (uint32_t s = 0; s < record->shape.local_sites; s++)
        if ((*ret)[s] > 1) {
            *ret = NULL;
            return false;
        }
    return true;
}

static struct evidence_path keep_path(struct decoder *decoder, struct path *path, uint32_t steps)
{
    struct evidence_path kept = {
        .steps = arena_memdup(&decoder->evidence->arena, path->steps, steps * sizeof(*path->steps)),
        .step_count = steps,
        .start = path->start,
        .end = path->end,
        .next = path->next,
    };

    path_deinit(path);
    return kept;
}

/*
 * Is the pending site the call that the frame waits for? Compilers call functions by themselves (a
 * struct copy is memcpy, floor() may be an instruction or a call): then the site is an older one.
 * So the callee must have the name that the site says, or be code of ours that no compiler calls.
 */
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

// The node of a frame that waits for a real call, from the pending site.
static void narrow_by_pending(struct decoder *decoder, const struct stop *stop,
                              const struct position *position, bool is_outer,
                              const struct record *record, struct evidence_frame *frame)
{
    if (!record->pending)
        return;
    struct site_id site = model_site_at(decoder->model, position->function, record->pending - 1);
    uint32_t node = model_node_index(decoder->model, model_site(decoder->model, site)->node);
    bool among = false;

    for (uint32_t i = 0; i < frame->candidates.count; i++)
        among |= frame->candidates.nodes[i] == node;
    bool told = position->source == POSITION_DISCRIMINATOR;
    if (told && !among)
        return; // a call that is no site, in another node
    if (!told && !is_outer && !decode_waits_for(decoder, stop, site))
        return;
    frame->candidates = decode_nodes(decoder, &node, 1);
    frame->candidates_from = "pending";
}

// Keep the candidates that the sum allows.
static void narrow_by_sum(struct decoder *decoder, const struct path_numbering *numbers,
                          const struct record *record, struct evidence_frame *frame)
{
    uint32_t *kept = xmalloc_array(frame->candidates.count + 1u, sizeof(*kept)), count = 0;

    for (uint32_t i = 0; i < frame->candidates.count; i++) {
        struct path path;

        if (path_numbering_decode(numbers, record->sum, frame->candidates.nodes[i], &path)) {
            path_deinit(&path);
            kept[count++] = frame->candidates.nodes[i];
        }
    }
    if (count && count < frame->candidates.count)
        frame->candidates = decode_nodes(decoder, kept, count);
    free(kept);
}

// An instruction that was moved: where the sum does not lead to its node, control stands at one of
// the nodes that it leads to.
static void widen_by_sum(struct decoder *decoder, const struct position *position,
                         const struct path_numbering *numbers, const struct record *record,
                         struct evidence_frame *frame)
{
    uint32_t count = model_function(decoder->model, position->function)->node_count, kept = 0;
    uint32_t *nodes = xmalloc_array(count + 1u, sizeof(*nodes));
    bool leads_here = false;

    for (uint32_t n = 0, c = 0; n < count; n++) {
        bool named = c < frame->candidates.count && frame->candidates.nodes[c] == n;
        struct path path;
        bool leads = path_numbering_decode(numbers, record->sum, n, &path);

        c += named;
        if (leads)
            path_deinit(&path);
        if (leads || named)
            nodes[kept++] = n;
        leads_here |= leads && named;
    }
    if (!leads_here && kept > frame->candidates.count) {
        frame->candidates = decode_nodes(decoder, nodes, kept);
        frame->candidates_from = "path";
    }
    free(nodes);
}

// Where the running sum of a record that may be trusted is; 0 when nothing keeps one there.
static uint64_t sum_address(const struct decoder *decoder, const struct stop *stop,
                            const struct position *position, const struct record *record,
                            const struct evidence_frame *frame)
{
    struct debug_location location;

    if (frame->record != EVIDENCE_RECORD_VALID || !record->shape.has_sum)
        return 0;
    debug_variable_locate(debug_scope_variable(position->scope, LAYOUT_FRAME_VARIABLE),
                          decoder->modules, stop->unwound, &location);
    if (location.count != 1 || location.pieces[0].kind != DEBUG_PIECE_MEMORY)
        return 0;
    return location.pieces[0].address + record->layout.sum;
}

// The finished paths. False: a ring entry is no path.
static bool ring_paths(struct decoder *decoder, const struct stop *stop,
                       const struct path_numbering *numbers, const struct record *record,
                       struct evidence_frame *frame)
{
    uint64_t keep = record->ring_count < LAYOUT_RING_SLOTS ? record->ring_count : LAYOUT_RING_SLOTS;

    frame->paths_finished = record->ring_count;
    // the slot after the newest may be half-way through an update
    if (stop->interrupted && keep == LAYOUT_RING_SLOTS)
        keep--;
    struct evidence_path *paths =
        arena_alloc_array(&decoder->evidence->arena, (size_t)keep + 1, struct evidence_path);
    for (uint64_t k = record->ring_count - keep; k < record->ring_count; k++) {
        uint64_t sum =
            read_u64(record, record->layout.ring + 8 * (uint32_t)(k % LAYOUT_RING_SLOTS));
        struct path path;

        if (!path_numbering_decode_ring(numbers, sum, &path))
            return false;
        paths[frame->path_count++] = keep_path(decoder, &path, path.step_count);
    }
    frame->paths = paths;
    return true;
}

static uint32_t common_prefix(const struct path *a, uint32_t length, const struct path *b)
{
    uint32_t i = 0;

    if (a->start != b->start)
        return 0;
    while (i < length && i < b->step_count && a->steps[i].node == b->steps[i].node &&
           a->steps[i].kind == b->steps[i].kind)
        i++;
    return i;
}

// Could the sum be that of the path that was finished last, between two stores of a cut edge?
static bool sum_may_be_stale(const struct decoder *decoder, struct function_id function,
                             const struct path_numbering *numbers, const struct record *record)
{
    const struct model_function *f = model_function(decoder->model, function);
    const uint32_t *start = decoder->model->successor_start + f->first_node;

    if (!record->shape.has_ring || !record->ring_count)
        return false;
    uint64_t last = read_u64(
        record, record->layout.ring + 8 * (uint32_t)((record->ring_count - 1) % LAYOUT_RING_SLOTS));
    for (uint32_t n = 0; n < f->node_count; n++)
        for (uint32_t e = start[n] - start[0]; e < start[n + 1] - start[0]; e++) {
            struct path_edge_action action = path_edge_action(numbers, e);
            struct path path;

            if (!action.cut || action.inside || record->sum + action.increment != last)
                continue;
            if (path_numbering_decode(numbers, record->sum, n, &path)) {
                path_deinit(&path);
                return true;
            }
        }
    return false;
}

// Marks the nodes of the straight runs that end in `node` (1), and the nodes right before them (2).
static void mark_places_before(const struct decoder *decoder, struct function_id function,
                               uint32_t node, uint8_t *mark)
{
    const struct model_function *f = model_function(decoder->model, function);
    struct predecessors before;
    uint32_t *stack = xmalloc_array(f->node_count + 1u, sizeof(*stack)), top = 0;

    predecessors_init(&before, decoder->model, function);
    mark[node] = 1;
    stack[top++] = node;
    while (top) {
        uint32_t n = stack[--top];

        for (uint32_t p = before.start[n]; p < before.start[n + 1]; p++) {
            uint32_t source = before.node[p];
            struct node_id id = {f->first_node + source};

            if (mark[source])
                continue;
            mark[source] = model_successors(decoder->model, id).count == 1 ? 1 : 2;
            if (mark[source] == 1)
                stack[top++] = source;
        }
    }
    free(stack);
    predecessors_deinit(&before);
}

// Is the place behind a cut edge among those marked as in a run?
static bool reaches_start(const struct path_numbering *numbers, const uint8_t *mark, uint32_t count)
{
    for (uint32_t n = 1; n < count; n++)
        if (mark[n] == 1 && path_is_start(numbers, n))
            return true;
    return false;
}

// What every possible place of an interrupted, optimised frame has in common. A fault at a node
// that the sum leads to stands there, when all other places lie on the way.
static void partial_of_places(struct decoder *decoder, const struct stop *stop,
                              const struct position *position, const struct path_numbering *numbers,
                              const struct record *record, struct evidence_frame *frame)
{
    uint32_t count = model_function(decoder->model, position->function)->node_count, length = 0;
    uint8_t *mark = xcalloc(count + 1u, 1);
    struct path common, path;
    bool told = stop->memory_fault && frame->candidates.count == 1 &&
                position->source == POSITION_DISCRIMINATOR;
    bool any = false;

    if (told)
        mark_places_before(decoder, position->function, frame->candidates.nodes[0], mark);
    else
        memset(mark, 1, count);
    if (reaches_start(numbers, mark, count) &&
        sum_may_be_stale(decoder, position->function, numbers, record)) {
        free(mark);
        return;
    }
    if (told) {
        any = path_numbering_decode(numbers, record->sum, frame->candidates.nodes[0], &common);
        length = any ? common.step_count : 0;
        frame->partial_exact = any;
    }
    for (uint32_t n = 0; n < count; n++) {
        if (!mark[n] || !path_numbering_decode(numbers, record->sum, n, &path))
            continue;
        if (!any) {
            common = path;
            length = path.step_count;
            any = true;
            continue;
        }
        uint32_t shared = common_prefix(&common, length, &path);
        if (shared < (frame->partial_exact ? path.step_count : length)) {
            frame->partial_exact = false;
            length = shared;
        }
        path_deinit(&path);
    }
    free(mark);
    frame->has_partial = length > 0;
    if (frame->has_partial)
        frame->partial = keep_path(decoder, &common, length);
    else if (any)
        path_deinit(&common);
}

// The unfinished path where one node is certain. False: the sum fits none.
static bool partial_of_node(struct decoder *decoder, const struct path_numbering *numbers,
                            uint64_t sum, struct evidence_frame *frame)
{
    struct path path;

    if (frame->candidates.count != 1)
        return true;
    if (!path_numbering_decode(numbers, sum, frame->candidates.nodes[0], &path))
        return false;
    frame->has_partial = frame->partial_exact = true;
    frame->partial = keep_path(decoder, &path, path.step_count);
    return true;
}

static void forget_paths(struct evidence_frame *frame)
{
    frame->paths = NULL;
    frame->path_count = 0;
    frame->paths_finished = 0;
    frame->has_partial = frame->partial_exact = false;
    frame->partial = (struct evidence_path){0};
}

// `settled`: the candidates are not to be changed.
static void decode_paths(struct decoder *decoder, const struct stop *stop,
                         const struct position *position, const struct record *record, bool settled,
                         struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);
    bool optimized = function_is_optimized(decoder, position->function), ok = true;

    if (record->shape.has_ring && !ring_paths(decoder, stop, numbers, record, frame)) {
        forget_paths(frame);
        problem(decoder, frame, EVIDENCE_RECORD_CORRUPT, "a finished path in it is no path");
        return;
    }
    if (!stop->interrupted) {
        narrow_by_sum(decoder, numbers, record, frame);
        ok = partial_of_node(decoder, numbers, record->sum, frame);
    } else if (!optimized && position->source == POSITION_DISCRIMINATOR)
        ok = partial_of_node(decoder, numbers, record->sum, frame);
    else if (position->source == POSITION_UNKNOWN && !settled)
        narrow_by_sum(decoder, numbers, record, frame);
    if (stop->interrupted && optimized && position->source != POSITION_EDGE) {
        if (!settled)
            widen_by_sum(decoder, position, numbers, record, frame);
        partial_of_places(decoder, stop, position, numbers, record, frame);
    }
    if (!ok) {
        forget_paths(frame);
        problem(decoder, frame, EVIDENCE_RECORD_CORRUPT, "its path does not lead here");
    }
    bool jumps = model_function(decoder->model, position->function)->flags & FUNCTION_SETJMP;
    frame->paths_from_entry = !jumps && frame->partial_exact &&
                              frame->paths_finished == frame->path_count &&
                              frame->record == EVIDENCE_RECORD_VALID;
}

// A function with one path needs no sum: where control stands says all.
static void single_path(struct decoder *decoder, const struct stop *stop,
                        const struct position *position, struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);
    bool moved = stop->interrupted && function_is_optimized(decoder, position->function);

    if (path_count(numbers) != 1 || path_has_cuts(numbers) || frame->candidates.count != 1 ||
        (moved && !(stop->memory_fault && position->source == POSITION_DISCRIMINATOR)))
        return;
    if (partial_of_node(decoder, numbers, path_start(numbers, 0), frame))
        frame->paths_from_entry = frame->partial_exact;
}

bool decode_record(struct decoder *decoder, const struct stop *stop,
                   const struct position *position, bool is_outer, struct evidence_frame *frame)
{
    struct record record = {0};
    const uint8_t *bytes = NULL;
    bool readable = read_record(decoder, stop, position, &record, frame);
    uint64_t sum = sum_address(decoder, stop, position, &record, frame);
    enum machine_says says =
        decode_machine(decoder, stop, position, is_outer, sum, record.sum, frame);

    if (readable) {
        if (!stop->interrupted)
            narrow_by_pending(decoder, stop, position, is_outer, &record, frame);
        if (frame->record == EVIDENCE_RECORD_VALID && record.shape.has_sum)
            decode_paths(decoder, stop, position, &record, says != MACHINE_SAYS_NOTHING, frame);
        if (frame->record != EVIDENCE_RECORD_CORRUPT &&
            !call_bytes(decoder, position, &record, frame, &bytes))
            problem(decoder, frame, EVIDENCE_RECORD_CORRUPT, "its call bytes are neither 0 nor 1");
        // nothing that an overwritten record says is kept
        if (frame->record == EVIDENCE_RECORD_CORRUPT) {
            forget_paths(frame);
            frame->candidates = position->nodes;
            frame->candidates_from = "address";
            says = decode_machine(decoder, stop, position, is_outer, 0, 0, frame);
        }
    }
    single_path(decoder, stop, position, frame);
    bool left = is_outer && stop->asynchronous && says == MACHINE_CORRECTS;
    decode_calls(decoder, stop, position, is_outer && !left, bytes, frame);
    return left;
}
