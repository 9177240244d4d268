// SPDX-License-Identifier: Apache-2.0
/*
 * The frame words of one virtual frame (layout/frame.h): are they there, may they be trusted, which
 * path do they tell.
 *
 * A frame that waits for a call of the source which holds everything in its place: the words are
 * exact. Words that no path to the call has were overwritten; nothing is claimed from them then,
 * and it is said so.
 *
 * An interrupted frame, not optimised: the same, but for the few instructions that update a word,
 * which the line table marks (POSITION_EDGE): there no path is claimed.
 *
 * An interrupted frame, optimised and eager: sums are written by volatile stores, which keep their
 * order and are not made on paths that do not make them. So at every moment the words are those of
 * some place in that order of stores. The places that come into question are those that the machine
 * code allows; what all of their trails have in common is claimed. A load or store that faulted may
 * have moved above the stores of the edges into its straight run of nodes, but not below any; so
 * for it only that run and the nodes before it count as places.
 *
 * An interrupted frame, optimised and lazy, and one that waits for a call that the compiler made or
 * may have moved: decode_lazy.c.
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

// ---- What paths have in common

static uint32_t common_prefix(const struct path *a, uint32_t length, const struct path *b)
{
    uint32_t i = 0;

    if (a->from_entry != b->from_entry)
        return 0;
    while (i < length && i < b->step_count && a->steps[i].node == b->steps[i].node &&
           a->steps[i].kind == b->steps[i].kind)
        i++;
    return i;
}

// Of a beginning, a step that stands for a loop and is the last one says less: control may be still
// there, or never have come to the next.
static uint32_t without_open_end(const struct path *path, uint32_t length)
{
    while (length && length < path->step_count && path->steps[length - 1].kind != PATH_STEP_NODE)
        length--;
    return length;
}

void common_path_add(struct common_path *common, struct path *path)
{
    if (!common->any) {
        *common = (struct common_path){*path, path->step_count, true};
        return;
    }
    common->length = common_prefix(&common->path, common->length, path);
    common->length = without_open_end(&common->path, common->length);
    path_deinit(path);
}

void common_path_keep(struct common_path *common, struct decoder *decoder, bool exact,
                      struct evidence_frame *frame)
{
    if (common->any && common->length) {
        frame->path =
            (struct evidence_path){arena_memdup(&decoder->evidence->arena, common->path.steps,
                                                common->length * sizeof(*common->path.steps)),
                                   common->length};
        frame->path_from_entry = common->path.from_entry;
        frame->path_exact = exact;
    }
    path_deinit(&common->path);
    *common = (struct common_path){0};
}

static void forget_path(struct evidence_frame *frame)
{
    frame->path = (struct evidence_path){0};
    frame->path_exact = frame->path_from_entry = false;
}

// ---- Reading

// Why the word cannot be read, or NULL.
static const char *read_word(const struct decoder *decoder, const struct stop *stop,
                             const struct position *position, uint32_t number, uint32_t size,
                             uint64_t *ret)
{
    char name[] = LAYOUT_WORD_VARIABLE "0";
    bool present[8] = {false};
    uint64_t value = 0;

    name[sizeof(name) - 2] = (char)('0' + number);
    const struct debug_variable *variable = debug_scope_variable(position->scope, name);
    if (!variable || debug_variable_size(variable) != size)
        return "debug information does not say where its frame words are";
    if (debug_variable_read(variable, decoder->modules, stop->unwound, 0, (unsigned char *)&value,
                            size, present) != size)
        return "its frame words are not in the core";
    *ret = value;
    return NULL;
}

// Does it keep what tells its paths apart? Then one without words has places that one path leads
// to.
static bool keeps_paths(const struct model_function *function)
{
    return function->level >= SECTION_LEVEL_PATHS &&
           !(function->record_flags & SECTION_FUNCTION_NO_RECORD);
}

/*
 * False: not all of them could be had. A word that no store is left of is nowhere
 * (instrument/trim.c). One that could not be read is 0, which is never a code.
 */
static bool read_words(struct decoder *decoder, const struct stop *stop,
                       const struct position *position, struct path_words *words,
                       struct evidence_frame *frame)
{
    const struct model_function *function = model_function(decoder->model, position->function);
    uint32_t missing = 0;

    *words = (struct path_words){
        .module_id = model_module(decoder->model, function->module)->id,
        .index = function->index,
        .shape = model_shape(decoder->model, position->function),
    };
    frame->record = EVIDENCE_RECORD_NONE;
    if (position->plain)
        frame->record = EVIDENCE_RECORD_OFF;
    if (position->plain || !words->shape.words)
        return !words->shape.words && keeps_paths(function);
    if (stop->leaves) {
        frame->record = EVIDENCE_RECORD_UNTOLD;
        frame->record_note = "it was about to return";
        return false;
    }
    for (uint32_t w = 0; w < words->shape.words; w++) {
        const char *trouble =
            read_word(decoder, stop, position, w, words->shape.wide ? 8 : 4, &words->value[w]);

        if (trouble)
            frame->record_note = trouble;
        missing += trouble != NULL;
    }
    frame->record = missing == words->shape.words ? EVIDENCE_RECORD_UNTOLD : EVIDENCE_RECORD_VALID;
    if (frame->record == EVIDENCE_RECORD_VALID)
        frame->record_note = NULL;
    return missing == 0;
}

/*
 * Was the word of this eager physical function set up before the address? What it starts with is an
 * immediate of the store that does so, which stands before everything else: so its bytes come
 * earlier in the function's code, or it did not run yet.
 */
static bool initialized_before(const struct decoder *decoder, const struct stop *stop,
                               uint64_t word, size_t width)
{
    size_t count;
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

// Is it certain that an interrupted eager function has set up its words in this activation? An
// inlined one may have left them there when it ran here before.
static bool is_set_up(const struct decoder *decoder, const struct stop *stop,
                      const struct position *position, const struct path_words *words,
                      const struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);
    struct path_action actions[PATH_MOST_ACTIONS];
    bool all = !frame->inlined && !stop->sets_jumps && stop->physical;

    for (uint32_t i = 0, count = path_entry_actions(numbers, &words->shape, actions);
         all && i < count; i++) {
        struct layout_code code =
            path_code(numbers, &words->shape, words->module_id, words->index, actions[i].region);

        all = initialized_before(decoder, stop, layout_encode(&code, actions[i].value),
                                 code.bits / 8);
    }
    return all;
}

// ---- Claims

// Keeps the candidates that the words allow; false where they allow none.
static bool narrow(struct decoder *decoder, const struct path_numbering *numbers,
                   const struct path_words *words, struct evidence_frame *frame)
{
    uint32_t *kept = xmalloc_array(frame->candidates.count + 1u, sizeof(*kept)), count = 0;

    for (uint32_t i = 0; i < frame->candidates.count; i++) {
        struct path path;

        if (path_trail(numbers, words, frame->candidates.nodes[i], &path)) {
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

// Words that are right at this very place. Why they cannot be, or NULL.
static const char *exact_path(struct decoder *decoder, const struct position *position,
                              const struct path_words *words, struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);
    struct common_path common = {0};
    struct path path;

    if (position->source == POSITION_EDGE || position->source == POSITION_PROLOGUE)
        return NULL;
    if (!narrow(decoder, numbers, words, frame))
        return words->shape.words ? "its path was overwritten" : NULL;
    if (frame->candidates.count == 1 &&
        path_trail(numbers, words, frame->candidates.nodes[0], &path)) {
        common_path_add(&common, &path);
        common_path_keep(&common, decoder, true, frame);
    }
    return NULL;
}

// A fault at a place that one path alone leads to: no words are asked for.
static bool only_path(struct decoder *decoder, const struct stop *stop,
                      const struct position *position, struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);
    struct common_path common = {0};
    struct path_words none = {0};
    struct path path;

    if (!stop->memory_fault || position->source != POSITION_DISCRIMINATOR ||
        frame->candidates.count != 1 ||
        !path_trail(numbers, &none, frame->candidates.nodes[0], &path))
        return false;
    common_path_add(&common, &path);
    common_path_keep(&common, decoder, true, frame);
    return true;
}

// Where words are missing, what the others and the place itself say is right all the same; but that
// they say nothing proves nothing.
static void without_words(struct decoder *decoder, const struct stop *stop,
                          const struct position *position, const struct path_words *words,
                          struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);
    bool exact = stop->holds || (!function_is_optimized(decoder, position->function) &&
                                 position->source == POSITION_DISCRIMINATOR);
    struct common_path common = {0};
    struct path path;

    if (only_path(decoder, stop, position, frame) || !exact || frame->candidates.count != 1 ||
        !path_trail(numbers, words, frame->candidates.nodes[0], &path))
        return;
    common_path_add(&common, &path);
    common_path_keep(&common, decoder, true, frame);
}

// Marks the nodes of the straight runs that end in `node`, and the nodes right before them.
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
            mark[source] = 1;
            if (model_successors(decoder->model, id).count == 1)
                stack[top++] = source;
        }
    }
    free(stack);
    predecessors_deinit(&before);
}

// What every possible place of an interrupted, optimised, eager frame has in common. A fault at a
// node that the words lead to stands there, when all other places lie on the way.
static void path_of_places(struct decoder *decoder, const struct stop *stop,
                           const struct position *position, const struct path_words *words,
                           bool settled, struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);
    uint32_t count = model_function(decoder->model, position->function)->node_count;
    uint8_t *mark = xcalloc(count + 1u, 1);
    bool told = stop->memory_fault && frame->candidates.count == 1 &&
                position->source == POSITION_DISCRIMINATOR;
    struct common_path common = {0};
    struct path path, here = {0};

    if (told)
        mark_places_before(decoder, position->function, frame->candidates.nodes[0], mark);
    else if (settled)
        for (uint32_t i = 0; i < frame->candidates.count; i++)
            mark[frame->candidates.nodes[i]] = 1;
    else
        memset(mark, 1, count);
    bool exact = told && path_trail(numbers, words, frame->candidates.nodes[0], &here);
    for (uint32_t n = 0; n < count; n++) {
        if (!mark[n] || !path_trail(numbers, words, n, &path))
            continue;
        exact = exact && common_prefix(&here, here.step_count, &path) == path.step_count;
        common_path_add(&common, &path);
    }
    if (exact) { // all lie on the way there
        path_deinit(&common.path);
        common = (struct common_path){0};
        common_path_add(&common, &here);
    } else
        path_deinit(&here);
    common_path_keep(&common, decoder, exact, frame);
    free(mark);
}

// An instruction that was moved: where the words do not lead to its node, control stands at one of
// the nodes that they lead to.
static void widen(struct decoder *decoder, const struct position *position,
                  const struct path_words *words, struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);
    uint32_t count = model_function(decoder->model, position->function)->node_count, kept = 0;
    uint32_t *nodes = xmalloc_array(count + 1u, sizeof(*nodes));
    bool leads_here = false;

    for (uint32_t n = 0, c = 0; n < count; n++) {
        bool named = c < frame->candidates.count && frame->candidates.nodes[c] == n;
        struct path path;
        bool leads = path_trail(numbers, words, n, &path);

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

static void eager_path(struct decoder *decoder, const struct stop *stop,
                       const struct position *position, const struct path_words *words,
                       bool settled, struct evidence_frame *frame)
{
    if (position->source == POSITION_EDGE)
        return;
    if (!settled)
        widen(decoder, position, words, frame);
    path_of_places(decoder, stop, position, words, settled, frame);
}

/*
 * An interrupted, optimised frame of a function that keeps no words, since each place has one path:
 * nothing is stored, so nothing can be damaged. The place says what is claimed: in eager functions
 * what all places that the machine code allows have in common, else what the calls have in common
 * that control may have passed last.
 */
static void wordless_path(struct decoder *decoder, const struct stop *stop,
                          const struct position *position, const struct path_words *words,
                          bool settled, struct evidence_frame *frame)
{
    if (words->shape.eager && settled)
        eager_path(decoder, stop, position, words, settled, frame);
    else if (decode_passed_call(decoder, stop, position, frame->candidates))
        decode_lazy(decoder, stop, position, words, frame);
}

// Claims what the words tell. Why they cannot be right, or NULL.
static const char *use_words(struct decoder *decoder, const struct stop *stop,
                             const struct position *position, const struct path_words *words,
                             bool settled, struct evidence_frame *frame)
{
    bool optimized = function_is_optimized(decoder, position->function);

    if (!optimized || stop->holds)
        return exact_path(decoder, position, words, frame);
    if (position->source == POSITION_PROLOGUE || only_path(decoder, stop, position, frame))
        return NULL;
    if (!words->shape.words) {
        wordless_path(decoder, stop, position, words, settled, frame);
        return NULL;
    }
    if (!decode_passed_call(decoder, stop, position, frame->candidates) &&
        !(words->shape.eager && is_set_up(decoder, stop, position, words, frame))) {
        frame->record = EVIDENCE_RECORD_UNREADY;
        return NULL;
    }
    if (words->shape.eager) {
        eager_path(decoder, stop, position, words, settled, frame);
        return NULL;
    }
    if (decode_lazy(decoder, stop, position, words, frame))
        return NULL;
    if (settled || !stop->asynchronous)
        return "its path was overwritten";
    // the row alone says where control stands: words may have been stored behind that node
    frame->record = EVIDENCE_RECORD_UNREADY;
    return NULL;
}

bool decode_record(struct decoder *decoder, const struct stop *stop,
                   const struct position *position, bool is_outer, struct evidence_frame *frame)
{
    struct path_words words;
    bool complete = read_words(decoder, stop, position, &words, frame);
    enum machine_says says = decode_machine(decoder, stop, position, is_outer, frame);
    const char *trouble = NULL;

    if (complete)
        trouble = use_words(decoder, stop, position, &words, says != MACHINE_SAYS_NOTHING, frame);
    else
        without_words(decoder, stop, position, &words, frame);

    if (trouble) { // nothing that an overwritten record says is kept
        damaged(decoder, position, frame, trouble);
        forget_path(frame);
        frame->candidates = position->nodes;
        frame->candidates_from = "address";
        says = decode_machine(decoder, stop, position, is_outer, frame);
    }
    bool left = is_outer && stop->asynchronous && says == MACHINE_CORRECTS;
    decode_calls(decoder, stop, position, is_outer && !left, frame);
    return left;
}
