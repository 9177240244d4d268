// SPDX-License-Identifier: Apache-2.0
// `inquest suspects show STORE`: builds, predicates at a place, runs.
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/suspects.h"
#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/color.h"
#include "common/error.h"
#include "common/json.h"
#include "common/json_stream.h"
#include "common/strbuf.h"
#include "report/suspects.h"
#include "suspects/sites.h"

struct show {
    struct options options;
    const char *build_text;
    bool runs;
    struct suspects_build build;
    struct store_rank_request request;
    struct store *store;
    struct arena arena;
    struct store_build *builds;
    uint32_t build_count;

    // Of predicates: those in a line of a file, or with this text.
    char *file;
    uint32_t line;
    const char *text;

    struct suspects_style style;
    struct suspects_sites *sites;
    struct json_stream out;
    uint64_t shown, most;
};

static const char about[] =
    "Without more: the builds of the store and their runs. With FILE:LINE: the predicates there, "
    "and\n"
    "in how many runs they were true. With TEXT: those of a function of that name, or that have "
    "it\n"
    "in their words. With --runs: the runs, one a line. Exit status 1: there is nothing.";

static struct error *parse(struct show *show, int argc, char **argv)
{
    const struct option_spec specs[] = {
        {"build", 'b', "EXE|ID", "of this build: a file, or the beginning of its build-id",
         OPTION_TEXT, &show->build_text},
        {"runs", 'r', NULL, "the runs: outcome, end, start, rate, stack", OPTION_FLAG, &show->runs},
        {0},
    };
    const struct command_help help = {
        .name = "suspects show",
        .usage = "STORE [FILE:LINE|TEXT]\nSTORE --runs",
        .about = about,
        .example = "inquest suspects show runs.db\n"
                   "inquest suspects show runs.db parse.c:41\n"
                   "inquest suspects show runs.db --runs",
        .specs = specs,
        .least = 1,
        .most = 2,
    };
    struct error *err = options_parse(&show->options, &help, argc, argv);
    if (!err && !show->options.help && show->runs && show->options.argument_count > 1)
        err = error_create(ERROR_USAGE, "'--runs' goes without '%s'", show->options.arguments[1]);
    return err;
}

// ---- Builds

static void print_builds(struct show *show)
{
    printf("%-12s  %8s  %8s  %8s  %10s  %s\n", "build", "failed", "passed", "unknown", "predicates",
           "image");
    for (uint32_t b = 0; b < show->build_count; b++) {
        const struct store_build *build = &show->builds[b];
        _cleanup_free_ char *id = suspects_build_id(build->build_id, build->build_id_length);
        _cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

        strbuf_append_escaped(&path, build->path);
        printf("%-12.12s  %8llu  %8llu  %8llu  %10u  %s\n", *id ? id : "(no id)",
               (unsigned long long)build->failed, (unsigned long long)build->passed,
               (unsigned long long)build->unknown, build->predicate_count, path.data);
    }
}

static struct error *show_builds(struct show *show)
{
    show->shown = show->build_count;
    if (!show->options.json) {
        if (!show->options.quiet)
            print_builds(show);
        return NULL;
    }
    json_stream_begin(&show->out, stdout, "suspects_builds/1");
    json_stream_open(&show->out, "builds", '[');
    for (uint32_t b = 0; b < show->build_count; b++)
        json_stream_element(&show->out, suspects_build_json(&show->builds[b]));
    json_stream_close(&show->out);
    return json_stream_end(&show->out, true);
}

// ---- Predicates

static void parse_place(struct show *show, const char *argument)
{
    const char *colon = strrchr(argument, ':');
    char *end = NULL;
    unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;

    show->text = argument;
    if (!colon || colon[1] < '0' || colon[1] > '9' || *end || line > UINT32_MAX)
        return;
    show->file = xstrndup(argument, (size_t)(colon - argument));
    show->line = (uint32_t)line;
}

// The whole path, or the end of it from a slash on.
static bool is_file(const char *path, const char *wanted)
{
    size_t length = strlen(path), end = strlen(wanted);

    return length >= end && strcmp(path + length - end, wanted) == 0 &&
           (length == end || path[length - end - 1] == '/');
}

static bool is_wanted(const struct show *show, const struct predictor *predictor)
{
    if (show->file)
        return predictor->line == show->line && is_file(predictor->file, show->file);
    if (strcmp(predictor->function_name, show->text) == 0)
        return true;
    _cleanup_free_ char *words = suspects_words(predictor);
    return strstr(words, show->text) != NULL;
}

static void show_predicate(void *context, const struct predictor *predictor)
{
    struct show *show = context;

    if (!is_wanted(show, predictor))
        return;
    show->shown++;
    if (show->options.json) {
        json_stream_element(&show->out, suspects_predictor_json(predictor));
        return;
    }
    _cleanup_strbuf_ struct strbuf bar = STRBUF_INIT, words = STRBUF_INIT, place = STRBUF_INIT;
    _cleanup_free_ char *plain = suspects_words(predictor);
    suspects_append_bar(&bar, predictor, show->most, &show->style);
    strbuf_append_escaped(&words, plain);
    strbuf_append_escaped(&place, predictor->function_name);
    strbuf_append(&place, "() ");
    strbuf_append_escaped(&place, predictor->file);
    printf("%s  %6llu of %-6llu  %6llu of %-6llu  %+.3f  %s  (%s:%u)\n", bar.data,
           (unsigned long long)predictor->failing, (unsigned long long)predictor->failing_observed,
           (unsigned long long)predictor->passing, (unsigned long long)predictor->passing_observed,
           predictor->increase, words.data, place.data, predictor->line);
}

static struct error *show_predicates(struct show *show)
{
    if (show->options.json) {
        json_stream_begin(&show->out, stdout, "suspects_predicates/1");
        json_stream_open(&show->out, "predicates", '[');
    } else if (!show->options.quiet) {
        printf("%-*s  %16s  %16s  %6s  predicate\n", SUSPECTS_BAR, "", "failed   ", "passed   ",
               "incr.");
    }
    struct error *err = store_each(show->store, &show->request, show_predicate, show);
    if (!show->options.json)
        return err;
    json_stream_close(&show->out);
    struct error *wrong = json_stream_end(&show->out, !err);
    if (err)
        error_destroy(wrong);
    return err ? err : wrong;
}

// ---- Runs

static void show_run(void *context, const struct store_run *run)
{
    struct show *show = context;

    show->shown++;
    if (show->options.json) {
        json_stream_element(&show->out, suspects_run_json(run, show->sites));
        return;
    }
    _cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
    suspects_append_run(&line, run, show->sites);
    puts(line.data);
}

static struct error *show_runs(struct show *show)
{
    if (show->options.json) {
        json_stream_begin(&show->out, stdout, "suspects_runs/1");
        json_stream_open(&show->out, "runs", '[');
    }
    struct error *err = store_each_run(show->store, &show->request, show_run, show);
    if (!show->options.json)
        return err;
    json_stream_close(&show->out);
    struct error *wrong = json_stream_end(&show->out, !err);
    if (err)
        error_destroy(wrong);
    return err ? err : wrong;
}

// ---- The command

// The build that is meant: its runs are the scale of bars, its file has the names.
static void find_build(struct show *show)
{
    for (uint32_t b = 0; b < show->build_count; b++) {
        const struct store_build *build = &show->builds[b];
        bool is_meant =
            show->request.build_id
                ? build->build_id_length == show->request.build_id_length &&
                      !memcmp(build->build_id, show->request.build_id, build->build_id_length)
                : build->passed + build->failed + build->unknown > 0;
        if (!is_meant)
            continue;
        show->most = build->passed + build->failed;
        if (show->runs && !show->sites)
            show->sites = suspects_find_sites(build);
    }
}

static struct error *show_all(struct show *show)
{
    struct error *err = store_open(show->options.arguments[0], STORE_READ, &show->store);

    if (!err)
        err = store_builds(show->store, &show->arena, &show->builds, &show->build_count);
    if (!err)
        err = suspects_choose_build(show->store, show->build_text, &show->build, &show->request);
    if (err)
        return err;
    find_build(show);
    show->style = (struct suspects_style){.color = color_enabled(stdout),
                                          .ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0};
    if (show->runs)
        return show_runs(show);
    if (show->options.argument_count == 1)
        return show_builds(show);
    parse_place(show, show->options.arguments[1]);
    return show_predicates(show);
}

int cli_suspects_show(int argc, char **argv)
{
    struct show show = {.arena = ARENA_INIT};
    struct error *err = parse(&show, argc, argv);
    bool helped = !err && show.options.help;

    if (!err && !helped)
        err = show_all(&show);
    store_close(show.store);
    suspects_sites_destroy(show.sites);
    arena_deinit(&show.arena);
    free(show.file);
    if (err)
        return options_fail(&show.options, err);
    options_deinit(&show.options);
    return helped || show.shown ? CLI_FOUND : CLI_NOT_FOUND;
}
