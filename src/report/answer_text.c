// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "ask/case.h"
#include "ask/query.h"
#include "common/alloc.h"
#include "common/arena.h"
#include "evidence/evidence.h"
#include "report/answer.h"
#include "report/steps.h"

// Lines that follow each other within so many are printed as one.
#define JOINED_LINES 3u

static void print_piece(const struct ask_case *ask, const struct step_piece *piece, uint32_t base,
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
    struct step_vec steps = VEC_INIT;

    steps_of_run(ask->model, run, &(struct steps_style){.join = JOINED_LINES}, &steps);
    uint32_t base = steps_base(&steps);
    for (size_t i = 0, length; i < steps.length;) {
        uint32_t count = steps_repeats(&steps, i, &length);

        for (size_t k = 0; k < length; k++) {
            print_piece(ask, &steps.data[i + k], base, stream);
            if (k + 1 == length && count > 1)
                fprintf(stream, "   (%s%u times)", length > 1 ? "these lines " : "", count);
            fputc('\n', stream);
        }
        i += length * count;
    }
    step_vec_deinit(&steps);
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
        steps += run->events[i].letter == RUN_STEP && !run->events[i].insn;
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

// Where not all ran in one thread: which threads the answer speaks of.
static void print_scope(const struct ask_case *ask, FILE *stream)
{
    if (ask->is_single)
        return;
    fprintf(stream, "scope: the process: %u thread%s%s\n", ask->thread_count,
            ask->thread_count == 1 ? "" : "s",
            ask->gone_count ? ", and those that may be gone" : "");
}

static void print_witness(const struct ask_case *ask, const struct ask_result *result, bool whole,
                          FILE *stream)
{
    const struct evidence *evidence = ask->evidence;

    fprintf(stream, "a run of %u steps", steps_of(&result->witness));
    if (!ask->is_single && result->witness_thread == ASK_THREAD_GONE)
        fputs(" of a thread that is gone", stream);
    else if (!ask->is_single && result->witness_thread < evidence->thread_count)
        fprintf(stream, " of thread %" PRId64, evidence->threads[result->witness_thread].tid);
    fprintf(stream, " shows %s%s\n", result->witness_is_part ? "its part" : "it",
            whole ? ":" : " (--witness prints it)");
    if (whole)
        print_run(ask, &result->witness, stream);
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
    print_scope(ask, stream);
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
    if (result->verdict == ASK_POSSIBLE && result->has_witness)
        print_witness(ask, result, style->witness, stream);
}
