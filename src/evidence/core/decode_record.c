// SPDX-License-Identifier: Apache-2.0
/*
 * The frame words of one virtual frame (layout/frame.h): are they there, may they be trusted, which
 * paths do they tell.
 *
 * A frame in a real call of the source: the words are exact. A word that is no code, or a sum that
 * no path to the call has, was overwritten; nothing is claimed from it then, and it is said so.
 *
 * An interrupted frame, not optimised: the same, but for the few instructions that update a word,
 * which the line table marks (POSITION_EDGE): there the unfinished path is not claimed.
 *
 * An interrupted frame, optimised and eager: sums are written by volatile stores, which keep their
 * order and are not made on paths that do not make them. So a sum proves the path up to where it
 * was last changed, wherever the program counter claims to be. Every node v with a path to v of
 * that sum is a possible place in that order of stores; claimed is what all of them have in common.
 * A load or store that faulted may have moved above the stores of the edges into its straight run
 * of nodes, but not below any; so for it only that run and the nodes before it count as places.
 * Between two stores at a cut edge the sum still is that of the path just finished: when it could
 * be, nothing is claimed of an unfinished path.
 *
 * An interrupted frame, optimised and lazy, and one that waits for a call that the compiler made:
 * the word is that of some call before. Real calls hold everything in its place, so it is that of
 * the last real one, or of one that was inlined since (decode_lazy.c).
 */
#include "evidence/core/decode_record.h"

#include "common/alloc.h"
#include "layout/section.h"

#include <stdlib.h>
#include <string.h>

static void damaged(struct decoder *decoder, const struct position *position,
                    struct evidence_frame *frame, const char *note)
{
    frame->record = EVIDENCE_RECORD_CORRUPT;
    frame->record_note = note;
    decode_warn(decoder, "the record of %s() is damaged: %s", position->name, note);
}

/*
 * Was `path` of this eager physical function initialised before the address? The word that it
 * starts with is an immediate of the store that does so, which stands before everything else: so
 * its bytes come earlier in the function's code, or it did not run yet.
 */
static bool initialized_before(const struct decoder *decoder, const struct stop *stop,
                               const struct frame_words *words, uint64_t start)
{
    uint64_t word = layout_encode(&words->code, start);
    size_t count, width = words->code.bits / 8;
    const struct debug_scope *scopes = debug_function_scopes(stop->physical, &count);
    bool found = false;

    for (uint32_t r = 0; count && !found && r < scopes[0].range_count; r++) {
        uint64_t from = scopes[0].ranges[r].start, to = scopes[0].ranges[r].end;

        if (stop->unwound->pc >= from && stop->unwound->pc < to)
            to = stop->unwound->pc;
        if (to - from > (64u << 20))
            continue;
        unsigned char *code = xmalloc((size_t)(to - from) + 1);
        size_t got = modules_read(decoder->modules, from, code, (size_t)(to - from));
        found = got >= width && memmem(code, got, &word, width) != NULL;
        free(code);
    }
    return found;
}

// Why the word cannot be read, or NULL.
static const char *read_word(const struct decoder *decoder, const struct stop *stop,
                             const struct position *position, const char *name, uint32_t size,
                             uint64_t *ret)
{
    const struct debug_variable *variable = debug_scope_variable(position->scope, name);
    bool present[8] = {false};
    uint64_t value = 0;

    if (!variable || debug_variable_size(variable) != size)
        return "debug information does not say where its frame words are";
    if (debug_variable_read(variable, decoder->modules, stop->unwound, 0, (unsigned char *)&value,
                            size, present) != size)
        return "its frame words are not in the core";
    *ret = value;
    return NULL;
}

// False: the frame says why there is nothing to read.
static bool read_words(struct decoder *decoder, const struct stop *stop,
                       const struct position *position, struct frame_words *words,
                       struct evidence_frame *frame)
{
    const char *trouble = NULL;

    words->shape = model_shape(decoder->model, position->function);
    if (!words->shape.has_path) {
        frame->record = EVIDENCE_RECORD_NONE;
        return false;
    }
    words->code = model_code_of_paths(decoder->model, position->function);
    uint32_t size = words->code.bits / 8;
    // a function that records has the variable in every copy of it, inlined or not
    if (!debug_scope_variable(position->scope, LAYOUT_PATH_VARIABLE)) {
        frame->record = EVIDENCE_RECORD_OFF;
        return false;
    }
    trouble = read_word(decoder, stop, position, LAYOUT_PATH_VARIABLE, size, &words->path);
    if (!trouble && words->shape.has_last)
        trouble = read_word(decoder, stop, position, LAYOUT_LAST_VARIABLE,
                            words->shape.has_older ? 8 : size, &words->last);
    if (!trouble && words->shape.has_older)
        trouble = read_word(decoder, stop, position, LAYOUT_OLDER_VARIABLE, 8, &words->older);
    if (trouble) {
        frame->record = EVIDENCE_RECORD_UNTOLD;
        frame->record_note = trouble;
        return false;
    }
    frame->record = EVIDENCE_RECORD_VALID;
    return true;
}

/*
 * May the word be read as one of this activation, at this very place? Lazy functions store it
 * before calls: then only while such a call is waited for.
 */
static bool is_current(const struct decoder *decoder, const struct stop *stop,
                       const struct position *position, bool is_outer,
                       const struct frame_words *words)
{
    if (words->shape.eager)
        return !stop->interrupted || !function_is_optimized(decoder, position->function);
    if (stop->interrupted)
        return false;
    return is_outer || decode_waits_at_site(decoder, stop, position);
}

struct evidence_path decode_keep_path(struct decoder *decoder, struct path *path, uint32_t steps)
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

// Keep the candidates that the sum allows; false where it allows none.
static bool narrow_by_sum(struct decoder *decoder, const struct path_numbering *numbers,
                          uint64_t sum, struct evidence_frame *frame)
{
    uint32_t *kept = xmalloc_array(frame->candidates.count + 1u, sizeof(*kept)), count = 0;

    for (uint32_t i = 0; i < frame->candidates.count; i++) {
        struct path path;

        if (path_numbering_decode(numbers, sum, frame->candidates.nodes[i], &path)) {
            path_deinit(&path);
            kept[count++] = frame->candidates.nodes[i];
        }
    }
    if (count && count < frame->candidates.count) {
        frame->candidates = decode_nodes(decoder, kept, count);
        frame->candidates_from = "path";
    }
    free(kept);
    return count > 0;
}

// An instruction that was moved: where the sum does not lead to its node, control stands at one of
// the nodes that it leads to.
static void widen_by_sum(struct decoder *decoder, const struct position *position,
                         const struct path_numbering *numbers, uint64_t sum,
                         struct evidence_frame *frame)
{
    uint32_t count = model_function(decoder->model, position->function)->node_count, kept = 0;
    uint32_t *nodes = xmalloc_array(count + 1u, sizeof(*nodes));
    bool leads_here = false;

    for (uint32_t n = 0, c = 0; n < count; n++) {
        bool named = c < frame->candidates.count && frame->candidates.nodes[c] == n;
        struct path path;
        bool leads = path_numbering_decode(numbers, sum, n, &path);

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

// Where the word of an eager function is that may be trusted, for the machine code's sake.
static bool find_word(const struct decoder *decoder, const struct stop *stop,
                      const struct position *position, const struct frame_words *words,
                      struct path_word *word)
{
    struct debug_location location;

    if (!words->shape.eager || !layout_decode(&words->code, words->path, &word->sum))
        return false;
    debug_variable_locate(debug_scope_variable(position->scope, LAYOUT_PATH_VARIABLE),
                          decoder->modules, stop->unwound, &location);
    if (location.count != 1 || location.pieces[0].kind != DEBUG_PIECE_MEMORY)
        return false;
    word->address = location.pieces[0].address;
    word->code = words->code;
    return true;
}

// The codes of finished paths, oldest first; 0 stands for none. `atomic`: of one word only, since
// they may be in the middle of an update.
static uint32_t finished_codes(const struct frame_words *words, bool atomic, uint64_t codes[4])
{
    bool halves = words->shape.has_older && words->code.bits == 32;
    uint32_t count = 0;

    if (words->shape.has_older && !atomic) {
        if (halves)
            codes[count++] = words->older >> 32;
        codes[count++] = halves ? (uint32_t)words->older : words->older;
    }
    if (halves)
        codes[count++] = words->last >> 32;
    codes[count++] = halves ? (uint32_t)words->last : words->last;
    return count;
}

// Does the path go on where the next one starts?
static bool leads_to(const struct evidence_path *path, uint32_t start)
{
    return path->end == PATH_END_CUT && (path->next == UINT32_MAX || path->next == start);
}

/*
 * The paths that were finished before the one that started at `start`. They are of this activation
 * if any was: the words are stored when a path ends. False: they were overwritten.
 */
static bool finished_paths(struct decoder *decoder, const struct path_numbering *numbers,
                           const struct frame_words *words, bool atomic, uint32_t start,
                           struct evidence_frame *frame)
{
    uint64_t codes[4];
    uint32_t count = finished_codes(words, atomic, codes);
    struct evidence_path *paths =
        arena_alloc_array(&decoder->evidence->arena, count + 1u, struct evidence_path);
    uint32_t first = count;

    for (uint32_t k = count; k-- > 0;) {
        struct path path;
        uint64_t sum;

        if (!codes[k] && k + 1 < count)
            break;
        if (!layout_decode(&words->code, codes[k], &sum) ||
            !path_numbering_decode_finished(numbers, sum, &path))
            return false;
        paths[k] = decode_keep_path(decoder, &path, path.step_count);
        if (!leads_to(&paths[k], start))
            return false;
        start = paths[k].start;
        first = k;
        if (start == 0)
            break;
    }
    // what lies before the first path of the activation must be nothing
    for (uint32_t k = 0; words->shape.has_older && k < first; k++)
        if (codes[k])
            return false;
    frame->paths = paths + first;
    frame->path_count = count - first;
    frame->paths_finished = start == 0 ? frame->path_count : EVIDENCE_PATHS_UNCOUNTED;
    return true;
}

uint32_t decode_common_prefix(const struct path *a, uint32_t length, const struct path *b)
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
                             const struct path_numbering *numbers, const struct frame_words *words,
                             uint64_t sum)
{
    const struct model_function *f = model_function(decoder->model, function);
    const uint32_t *start = decoder->model->successor_start + f->first_node;
    uint64_t codes[4], last;

    if (!words->shape.has_last)
        return false;
    if (!layout_decode(&words->code, codes[finished_codes(words, true, codes) - 1], &last))
        return false;
    for (uint32_t n = 0; n < f->node_count; n++)
        for (uint32_t e = start[n] - start[0]; e < start[n + 1] - start[0]; e++) {
            struct path_edge_action action = path_edge_action(numbers, e);
            struct path path;

            if (!action.cut || action.inside || sum + action.increment != last)
                continue;
            if (path_numbering_decode(numbers, sum, n, &path)) {
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
                              const struct frame_words *words, uint64_t sum,
                              struct evidence_frame *frame)
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
        sum_may_be_stale(decoder, position->function, numbers, words, sum)) {
        free(mark);
        return;
    }
    if (told) {
        any = path_numbering_decode(numbers, sum, frame->candidates.nodes[0], &common);
        length = any ? common.step_count : 0;
        frame->partial_exact = any;
    }
    for (uint32_t n = 0; n < count; n++) {
        if (!mark[n] || !path_numbering_decode(numbers, sum, n, &path))
            continue;
        if (!any) {
            common = path;
            length = path.step_count;
            any = true;
            continue;
        }
        uint32_t shared = decode_common_prefix(&common, length, &path);
        if (shared < (frame->partial_exact ? path.step_count : length)) {
            frame->partial_exact = false;
            length = shared;
        }
        path_deinit(&path);
    }
    free(mark);
    frame->has_partial = length > 0;
    if (frame->has_partial)
        frame->partial = decode_keep_path(decoder, &common, length);
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
    frame->partial = decode_keep_path(decoder, &path, path.step_count);
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

static bool sets_jumps(const struct decoder *decoder, const struct position *position)
{
    return model_function(decoder->model, position->function)->flags & FUNCTION_SETJMP;
}

// A frame whose word is right at this very place. Why it cannot be so, or NULL.
static const char *current_path(struct decoder *decoder, const struct position *position,
                                const struct frame_words *words, uint64_t sum,
                                struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);

    if (position->source == POSITION_EDGE || position->source == POSITION_PROLOGUE)
        return NULL;
    if (!narrow_by_sum(decoder, numbers, sum, frame) ||
        !partial_of_node(decoder, numbers, sum, frame))
        return "its path does not lead here";
    // after a jump the path before may have been left in the middle
    if (!words->shape.has_last || !frame->has_partial || sets_jumps(decoder, position))
        return NULL;
    if (frame->partial.start == 0)
        frame->paths_finished = 0;
    else if (!finished_paths(decoder, numbers, words, false, frame->partial.start, frame))
        return "a finished path in it is none";
    return NULL;
}

// An interrupted frame of an eager function, optimised. `settled`: the candidates are not to be
// changed.
static void eager_path(struct decoder *decoder, const struct stop *stop,
                       const struct position *position, const struct frame_words *words,
                       uint64_t sum, bool settled, struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);

    if (position->source == POSITION_UNKNOWN && !settled)
        narrow_by_sum(decoder, numbers, sum, frame);
    if (position->source == POSITION_EDGE)
        return;
    if (!settled)
        widen_by_sum(decoder, position, numbers, sum, frame);
    partial_of_places(decoder, stop, position, numbers, words, sum, frame);
    if (!frame->has_partial || sets_jumps(decoder, position))
        return;
    if (frame->partial.start == 0)
        frame->paths_finished = 0;
    else if (words->shape.has_last)
        finished_paths(decoder, numbers, words, true, frame->partial.start, frame);
}

// Is it certain that an interrupted eager function has set up its word in this activation? An
// inlined one may have left it there when it ran here before.
static bool is_set_up(const struct decoder *decoder, const struct stop *stop,
                      const struct position *position, const struct frame_words *words,
                      const struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);

    return !frame->inlined && !stop->sets_jumps && position->source != POSITION_PROLOGUE &&
           initialized_before(decoder, stop, words, path_start(numbers, 0));
}

// Claims what the words tell. Why they cannot be right, or NULL.
static const char *use_words(struct decoder *decoder, const struct stop *stop,
                             const struct position *position, bool is_outer,
                             const struct frame_words *words, bool settled,
                             struct evidence_frame *frame)
{
    static const char overwritten[] = "its path was overwritten";
    bool current = is_current(decoder, stop, position, is_outer, words);
    bool ready = current || decode_passed_call(decoder, position, frame->candidates) ||
                 (words->shape.eager && is_set_up(decoder, stop, position, words, frame));
    uint64_t sum;

    // at the entry of a function that is not optimised the word is set up before its first node
    if (!ready || position->source == POSITION_PROLOGUE) {
        frame->record = EVIDENCE_RECORD_UNREADY;
        return NULL;
    }
    if (!layout_decode(&words->code, words->path, &sum))
        return overwritten;
    if (current)
        return current_path(decoder, position, words, sum, frame);
    if (words->shape.eager)
        eager_path(decoder, stop, position, words, sum, settled, frame);
    else if (!decode_lazy(decoder, position, sum, frame))
        return overwritten;
    return NULL;
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
    struct frame_words words = {0};
    struct path_word word;
    bool readable = read_words(decoder, stop, position, &words, frame);
    bool found = readable && stop->interrupted && words.shape.eager &&
                 is_set_up(decoder, stop, position, &words, frame) &&
                 find_word(decoder, stop, position, &words, &word);
    enum machine_says says =
        decode_machine(decoder, stop, position, is_outer, found ? &word : NULL, frame);
    const char *trouble = readable ? use_words(decoder, stop, position, is_outer, &words,
                                               says != MACHINE_SAYS_NOTHING, frame)
                                   : NULL;

    if (trouble) { // nothing that an overwritten record says is kept
        damaged(decoder, position, frame, trouble);
        forget_paths(frame);
        frame->candidates = position->nodes;
        frame->candidates_from = "address";
        says = decode_machine(decoder, stop, position, is_outer, NULL, frame);
    }
    frame->paths_from_entry = frame->partial_exact && frame->record == EVIDENCE_RECORD_VALID &&
                              frame->paths_finished == frame->path_count &&
                              !sets_jumps(decoder, position);
    single_path(decoder, stop, position, frame);
    bool left = is_outer && stop->asynchronous && says == MACHINE_CORRECTS;
    decode_calls(decoder, stop, position, is_outer && !left, frame);
    return left;
}
