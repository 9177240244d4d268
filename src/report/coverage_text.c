// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "ask/case.h"
#include "ask/coverage.h"
#include "common/alloc.h"
#include "common/strbuf.h"
#include "report/coverage.h"

struct tally {
    uint32_t count[3]; // by enum ask_answer
};

static uint32_t tally_all(const struct tally *tally)
{
    return tally->count[ASK_NO] + tally->count[ASK_YES] + tally->count[ASK_MAYBE];
}

static double tally_definite(const struct tally *tally)
{
    uint32_t all = tally_all(tally);

    return all ? 100.0 * (all - tally->count[ASK_MAYBE]) / all : 0.0;
}

static const char *path_of(const struct ask_coverage *coverage, struct file_id file)
{
    const char *path = model_file_path(coverage->ask->model, file);

    return path ? path : "?";
}

static bool is_wanted(const struct coverage_style *style, const char *path)
{
    if (!style->only)
        return true;
    size_t length = strlen(path), end = strlen(style->only);
    return end <= length && strcmp(path + length - end, style->only) == 0;
}

static void print_tally(const struct tally *tally, const char *name, FILE *stream)
{
    fprintf(stream, "%8u %8u %8u %8.1f%%  %s\n", tally->count[ASK_YES], tally->count[ASK_NO],
            tally->count[ASK_MAYBE], tally_definite(tally), name);
}

// "10-14, 20": lines of one answer among lines from..to-1, joined where no other line lies between.
static void print_lines(const struct ask_coverage *coverage, uint32_t from, uint32_t to,
                        enum ask_answer answer, const char *color, FILE *stream)
{
    bool any = false;

    for (uint32_t i = from; i < to; i++) {
        uint32_t last = i;

        if (coverage->lines[i].answer != answer)
            continue;
        while (last + 1 < to && coverage->lines[last + 1].answer == answer)
            last++;
        fprintf(stream, any ? ", " : "      %s%-5s%s ", color, ask_answer_name(answer),
                *color ? "\033[0m" : "");
        fprintf(stream, "%u", coverage->lines[i].line);
        if (last > i)
            fprintf(stream, "-%u", coverage->lines[last].line);
        any = true;
        i = last;
    }
    if (any)
        fputc('\n', stream);
}

static void print_file(const struct ask_coverage *coverage, const struct coverage_style *style,
                       uint32_t from, uint32_t to, struct tally *total, FILE *stream)
{
    const char *path = path_of(coverage, coverage->lines[from].file);
    struct tally tally = {0};

    if (!is_wanted(style, path))
        return;
    for (uint32_t i = from; i < to; i++)
        tally.count[coverage->lines[i].answer]++;
    for (uint32_t a = 0; a < 3; a++)
        total->count[a] += tally.count[a];
    print_tally(&tally, path, stream);
    if (!style->verbose)
        return;
    print_lines(coverage, from, to, ASK_YES, style->color ? "\033[32m" : "", stream);
    print_lines(coverage, from, to, ASK_NO, style->color ? "\033[31m" : "", stream);
    print_lines(coverage, from, to, ASK_MAYBE, style->color ? "\033[33m" : "", stream);
}

void coverage_write_text(const struct ask_coverage *coverage, const struct coverage_style *style,
                         FILE *stream)
{
    struct tally total = {0}, nodes = {0};

    fprintf(stream, "%8s %8s %8s %9s  lines of\n", "ran", "did not", "maybe", "definite");
    for (uint32_t from = 0, to; from < coverage->line_count; from = to) {
        for (to = from + 1; to < coverage->line_count &&
                            coverage->lines[to].file.value == coverage->lines[from].file.value;)
            to++;
        print_file(coverage, style, from, to, &total, stream);
    }
    print_tally(&total, "all files", stream);
    for (uint32_t n = 0; n < coverage->ask->model->node_count; n++)
        nodes.count[coverage->answers[n]]++;
    print_tally(&nodes, "all nodes", stream);
    fprintf(stream, "solver: %s%s\n", ask_solver_name(coverage->solver),
            coverage->complete ? "" : "; the budget was spent, so more is maybe than need be");
}

void coverage_write_lcov(const struct ask_coverage *coverage, const char *test, FILE *stream)
{
    const struct model *model = coverage->ask->model;

    fprintf(stream, "TN:%s\n", test);
    for (uint32_t from = 0, to; from < coverage->line_count; from = to) {
        uint32_t found = 0, hit = 0, file = coverage->lines[from].file.value;

        for (to = from; to < coverage->line_count && coverage->lines[to].file.value == file;)
            to++;
        fprintf(stream, "SF:%s\n", path_of(coverage, coverage->lines[from].file));
        for (uint32_t f = 0; f < model->function_count; f++) {
            const struct model_function *function = &model->functions[f];
            uint8_t answer;

            if (function->file.value != file || !function->node_count)
                continue;
            answer = coverage->answers[function->first_node];
            fprintf(stream, "FN:%u,%s\n", function->line, function->name);
            if (answer != ASK_MAYBE)
                fprintf(stream, "FNDA:%d,%s\n", answer == ASK_YES, function->name);
        }
        for (uint32_t i = from; i < to; i++) {
            if (coverage->lines[i].answer == ASK_MAYBE)
                continue;
            fprintf(stream, "DA:%u,%d\n", coverage->lines[i].line,
                    coverage->lines[i].answer == ASK_YES);
            found++;
            hit += coverage->lines[i].answer == ASK_YES;
        }
        fprintf(stream, "LF:%u\nLH:%u\nend_of_record\n", found, hit);
    }
}
