// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "ask/case.h"
#include "ask/query.h"
#include "common/alloc.h"
#include "common/arena.h"
#include "report/answer.h"

// A piece of a run as it is printed: a line of a function, at a depth.
struct piece {
    uint32_t depth;
    uint32_t function;
    uint32_t file, first, last; // lines; 0: not known
    bool enters;                // of a function, by a call
};
VEC_DEFINE(piece_vec, struct piece);

static void add_step(const struct model *model, uint32_t node, uint32_t depth, bool enters,
                     struct piece_vec *pieces)
{
    const struct model_node *n = &model->nodes[node];
    struct piece piece = {depth, n->function.value, n->file.value, n->line, n->line, enters};
    struct piece *last = pieces->length ? &pieces->data[pieces->length - 1] : NULL;

    if (!n->line && !enters)
        return;
    // lines that follow each other are one piece
    if (last && !enters && last->depth == depth && last->function == piece.function &&
        last->file == piece.file && n->line >= last->last && n->line <= last->last + 3) {
        last->last = n->line;
        return;
    }
    piece_vec_push(pieces, piece);
}

static void pieces_of(const struct ask_case *ask, const struct run *run, struct piece_vec *pieces)
{
    uint32_t depth = 0;
    bool enters = true;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct run_event *event = &run->events[i];

        if (event->letter == RUN_CALL) {
            depth++;
            enters = true;
        } else if (event->letter == RUN_LEAVE)
            depth -= depth > 0;
        else {
            if (event->node < ask->model->node_count)
                add_step(ask->model, event->node, depth, enters, pieces);
            enters = false;
        }
    }
}

static bool same_piece(const struct piece *a, const struct piece *b)
{
    return a->depth == b->depth && a->function == b->function && a->file == b->file &&
           a->first == b->first && a->last == b->last && a->enters == b->enters;
}

// How often pieces at..at+length-1 are repeated right behind.
static uint32_t repeats(const struct piece_vec *pieces, size_t at, size_t length)
{
    uint32_t count = 1;

    for (size_t next = at + length; next + length <= pieces->length; next += length, count++)
        for (size_t i = 0; i < length; i++)
            if (!same_piece(&pieces->data[at + i], &pieces->data[next + i]))
                return count;
    return count;
}

static void print_piece(const struct ask_case *ask, const struct piece *piece, uint32_t base,
                        FILE *stream)
{
    const struct model_function *function = &ask->model->functions[piece->function];
    const char *path = piece->file == MODEL_NONE
                           ? NULL
                           : model_file_path(ask->model, (struct file_id){piece->file});
    const char *slash = path ? strrchr(path, '/') : NULL;

    fprintf(stream, "  %*s", (int)(2 * (piece->depth - base)), "");
    if (piece->enters)
        fprintf(stream, "%s() ", function->name);
    if (path && piece->first)
        fprintf(stream, "%s:%u", slash ? slash + 1 : path, piece->first);
    if (piece->last > piece->first)
        fprintf(stream, "-%u", piece->last);
}

static void print_run(const struct ask_case *ask, const struct run *run, FILE *stream)
{
    struct piece_vec pieces = VEC_INIT;
    uint32_t base = UINT32_MAX;

    pieces_of(ask, run, &pieces);
    for (size_t i = 0; i < pieces.length; i++)
        if (pieces.data[i].depth < base)
            base = pieces.data[i].depth;
    for (size_t i = 0; i < pieces.length;) {
        uint32_t count = 1;
        size_t length = 1;

        for (length = 1; length <= 16 && i + 2 * length <= pieces.length; length++)
            if ((count = repeats(&pieces, i, length)) > 1)
                break;
        if (count == 1)
            length = 1;
        for (size_t k = 0; k < length; k++) {
            print_piece(ask, &pieces.data[i + k], base, stream);
            if (k + 1 == length && count > 1)
                fprintf(stream, "   (%s%u times)", length > 1 ? "these lines " : "", count);
            fputc('\n', stream);
        }
        i += length * count;
    }
    piece_vec_deinit(&pieces);
}

// Names the first few of what could not be taken into account.
static void print_aside(const struct ask_case *ask, const struct ask_result *result, FILE *stream)
{
    struct arena arena;
    uint32_t shown = result->aside_count < 5 ? result->aside_count : 5;

    arena_init(&arena);
    fprintf(stream, "note: %u calls that were made could not be taken into account%s\n",
            result->dropped, shown ? ":" : "");
    for (uint32_t i = 0; i < shown; i++)
        fprintf(stream, "    %s\n", ask_fact_words(ask, result->aside[i], &arena));
    if (shown < result->aside_count)
        fprintf(stream, "    and %u more\n", result->aside_count - shown);
    arena_deinit(&arena);
}

static uint32_t steps_of(const struct run *run)
{
    uint32_t steps = 0;

    for (uint32_t i = 0; i < run->count; i++)
        steps += run->events[i].letter == RUN_STEP;
    return steps;
}

static void print_because(const struct ask_case *ask, const struct ask_result *result, FILE *stream)
{
    _cleanup_arena_ struct arena arena;

    arena_init(&arena);
    if (!result->because_is_minimal)
        fputs("the budget was spent before the reasons were found\n", stream);
    else if (!result->because_count)
        fputs("because: the program cannot do it, whatever was observed\n", stream);
    for (uint32_t i = 0; i < result->because_count; i++)
        fprintf(stream, "%s%s\n",
                i ? "    and: " : "because: ", ask_fact_words(ask, result->because[i], &arena));
}

void answer_write_text(const struct ask_case *ask, const struct query *query,
                       const struct ask_result *result, const struct answer_style *style,
                       FILE *stream)
{
    static const char *const colors[] = {"\033[32m", "\033[31m", "\033[33m"};
    char *words = query ? query_words(query) : NULL;

    fprintf(stream, "%s%s%s", style->color ? colors[result->verdict] : "",
            ask_verdict_name(result->verdict), style->color ? "\033[0m" : "");
    if (words)
        fprintf(stream, ": %s", words);
    fprintf(stream, "  (%s%s)\n", ask_solver_name(result->solver),
            result->context_insensitive ? ", context-insensitive" : "");
    free(words);
    for (uint32_t i = 0; query && i < query_note_count(query); i++)
        fprintf(stream, "note: %s\n", query_note(query, i));
    if (result->note)
        fprintf(stream, "note: %s\n", result->note);
    if (result->verdict == ASK_UNDECIDED && result->dropped)
        print_aside(ask, result, stream);
    if (result->witness_problem)
        fprintf(stream, "note: the run that was found is none: %s\n", result->witness_problem);
    if (result->verdict == ASK_IMPOSSIBLE)
        print_because(ask, result, stream);
    if (result->verdict != ASK_POSSIBLE || !result->has_witness)
        return;
    fprintf(stream, "a run of %u steps shows it%s\n", steps_of(&result->witness),
            style->witness ? ":" : " (--witness prints it)");
    if (style->witness)
        print_run(ask, &result->witness, stream);
}
