// SPDX-License-Identifier: Apache-2.0
// `inquest suspects rank STORE`: what predicts failure.
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/suspects.h"
#include "common/cleanup.h"
#include "common/color.h"
#include "common/error.h"
#include "common/file.h"
#include "common/vec.h"
#include "report/suspects.h"

VEC_DEFINE(predictor_vec, struct predictor);

enum { SHOWN = 10 }; // of each cluster, as text

struct rank {
    struct options options;
    const char *build_text, *cluster_text, *first_text, *by, *export, *confidence_text, *discard;
    bool csv;
    struct option_values directories;
    uint32_t cluster, first;
    struct suspects_build build;
    struct store_rank_request request;
    struct budget budget;
    struct store *store;
    struct ranking ranking;
    bool has_ranking;
};

static const char about[] =
    "Ranks the predicates that were true more often in runs that failed than the runs that got as\n"
    "far would have it, and groups them: a list for each bug, as far as the runs tell bugs apart.\n"
    "Exit status 1: no predicate predicts failure.\n"
    "\n"
    "A bar is as long as the predicate was often true (in runs, as a logarithm). Its parts: "
    "context,\n"
    "the share that fails of the runs that got there; by how much the predicate increases it at\n"
    "least, and up to; runs that passed.";

// ---- What is wanted

static struct error *parse_confidence(struct rank *rank)
{
    char *end;
    const char *text = rank->confidence_text;
    double value = strtod(text, &end);

    if (*end == '%') {
        value /= 100;
        end++;
    }
    if (end == text || *end || !(value >= 0.5 && value < 1))
        return error_create(ERROR_USAGE, "'--confidence %s' is not from 0.5 up to 1", text);
    rank->request.confidence = value;
    return NULL;
}

// The number of `text` in a list of names; an error that suggests one.
static struct error *parse_name(const char *option, const char *text, const char *const *names,
                                unsigned *ret)
{
    for (unsigned i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0) {
            *ret = i;
            return NULL;
        }
    const char *nearest = options_nearest(text, names);
    return error_create(ERROR_USAGE, "'--%s %s' is none of those there are, did you mean '%s'?",
                        option, text, nearest ? nearest : names[0]);
}

static struct error *check(struct rank *rank)
{
    static const char *const measures[] = {"importance", "ochiai", "tarantula", NULL};
    static const char *const ways[] = {"all", "failing", "relabel", NULL};
    unsigned number = 0;
    struct error *err = parse_name("by", rank->by, measures, &number);

    if (!err && rank->cluster_text)
        err = suspects_parse_count("cluster", rank->cluster_text, 1, &rank->cluster);
    if (!err && rank->first_text)
        err = suspects_parse_count("first", rank->first_text, 1, &rank->first);
    if (!err && rank->confidence_text)
        err = parse_confidence(rank);
    if (!err && rank->csv && rank->options.json)
        err = error_create(ERROR_USAGE, "'--csv' and '--json' exclude each other");
    if (!err && number && (rank->cluster || rank->export))
        err = error_create(ERROR_USAGE,
                           "'--by %s' has no clusters: it goes with neither '--cluster' "
                           "nor '--export'",
                           rank->by);
    if (!err && rank->discard) {
        err = parse_name("discard", rank->discard, ways, &number);
        rank->request.elimination = (enum store_elimination)number;
    }
    rank->request.cluster_most = rank->cluster;
    return err;
}

static struct error *parse(struct rank *rank, int argc, char **argv)
{
    const struct option_spec specs[] = {
        {"build", 'b', "EXE|ID", "of this build: a file, or the beginning of its build-id",
         OPTION_TEXT, &rank->build_text},
        {"cluster", 'c', "C", "only the cluster of this number", OPTION_TEXT, &rank->cluster_text},
        {"first", 'n', "N", "of each cluster the first N (text: 10)", OPTION_TEXT,
         &rank->first_text},
        {"by", 0, "MEASURE", "importance (the default); ochiai, tarantula: one list, to compare",
         OPTION_TEXT, &rank->by},
        {"confidence", 0, "P", "of the increase's lower bound (0.95)", OPTION_TEXT,
         &rank->confidence_text},
        {"discard", 0, "HOW", "runs that a chosen predictor explains: all, failing or relabel",
         OPTION_TEXT, &rank->discard},
        {"csv", 0, NULL, "print CSV", OPTION_FLAG, &rank->csv},
        {"export", 'x', "FILE", "write the predictors for 'inquest path --suspects FILE'",
         OPTION_TEXT, &rank->export},
        {"source-dir", 0, "DIR", "look for sources in DIR", OPTION_MANY, &rank->directories},
        {0},
    };
    const struct command_help help = {
        .name = "suspects rank",
        .usage = "STORE [OPTIONS]",
        .about = about,
        .example = "inquest suspects rank runs.db\n"
                   "inquest suspects rank runs.db --cluster 1 --first 2 --export two.json",
        .specs = specs,
        .least = 1,
        .most = 1,
    };
    rank->by = "importance";
    struct error *err = options_parse(&rank->options, &help, argc, argv);
    return err || rank->options.help ? err : check(rank);
}

// ---- Other measures: one list of all that was ever true in a failing run

struct listing {
    struct arena *arena;
    struct predictor_vec predictors;
};

static void take_predictor(void *context, const struct predictor *predictor)
{
    struct listing *listing = context;
    struct predictor copy = *predictor;

    if (!predictor->failing)
        return;
    copy.function_name = arena_strdup(listing->arena, predictor->function_name);
    copy.file = arena_strdup(listing->arena, predictor->file);
    copy.left = arena_strdup(listing->arena, predictor->left);
    copy.right = arena_strdup(listing->arena, predictor->right);
    predictor_vec_push(&listing->predictors, copy);
}

static int compare(double a, double b)
{
    return (a < b) - (a > b);
}

static int same_measure(const struct predictor *x, const struct predictor *y)
{
    int order = (x->failing < y->failing) - (x->failing > y->failing);

    if (!order)
        order = (x->module_id > y->module_id) - (x->module_id < y->module_id);
    if (!order)
        order = (x->site > y->site) - (x->site < y->site);
    return order ? order : (x->predicate > y->predicate) - (x->predicate < y->predicate);
}

static int by_ochiai(const void *a, const void *b)
{
    const struct predictor *x = a, *y = b;
    int order = compare(x->ochiai, y->ochiai);

    return order ? order : same_measure(x, y);
}

static int by_tarantula(const void *a, const void *b)
{
    const struct predictor *x = a, *y = b;
    int order = compare(x->tarantula, y->tarantula);

    return order ? order : same_measure(x, y);
}

// The build and its runs, as a ranking has them.
static struct error *find_runs(struct rank *rank)
{
    struct ranking *ranking = &rank->ranking;
    struct store_build *builds;
    uint32_t count;
    struct error *err = store_builds(rank->store, &ranking->arena, &builds, &count);

    for (uint32_t b = 0; !err && b < count; b++) {
        bool is_meant =
            rank->request.build_id
                ? builds[b].build_id_length == rank->request.build_id_length &&
                      !memcmp(builds[b].build_id, rank->request.build_id, builds[b].build_id_length)
                : builds[b].passed || builds[b].failed;
        if (is_meant)
            ranking->build = builds[b];
    }
    ranking->failing = ranking->build.failed;
    ranking->passing = ranking->build.passed;
    return err;
}

static struct error *list_all(struct rank *rank)
{
    struct ranking *ranking = &rank->ranking;
    struct listing listing = {.arena = &ranking->arena};

    arena_init(&ranking->arena);
    rank->has_ranking = true;
    struct error *err = find_runs(rank);
    if (!err)
        err = store_each(rank->store, &rank->request, take_predictor, &listing);
    size_t count = listing.predictors.length;
    if (!err && count) {
        qsort(listing.predictors.data, count, sizeof(struct predictor),
              rank->by[0] == 'o' ? by_ochiai : by_tarantula);
        ranking->clusters = arena_alloc_one(&ranking->arena, struct cluster);
        ranking->clusters->predictors = arena_memdup(&ranking->arena, listing.predictors.data,
                                                     count * sizeof(struct predictor));
        ranking->clusters->count = ranking->candidates = (uint32_t)count;
        ranking->clusters->failing = ranking->failing;
        ranking->cluster_count = 1;
    }
    ranking->complete = true;
    predictor_vec_deinit(&listing.predictors);
    return err;
}

// ---- What is shown

static struct error *write_export(const struct rank *rank, const struct suspects_view *view)
{
    _cleanup_file_writer_ struct file_writer writer = {NULL, NULL, NULL};

    if (!strcmp(rank->export, "-"))
        return suspects_write_export(view, stdout);
    struct error *err = file_writer_init(&writer, rank->export, 0666);
    if (!err)
        err = suspects_write_export(view, writer.stream);
    return err ? err : file_writer_commit(&writer);
}

static struct error *show(const struct rank *rank)
{
    bool is_text = !rank->csv && !rank->options.json;
    const struct suspects_view all = {
        .ranking = &rank->ranking, .by = rank->by, .cluster = rank->cluster, .first = rank->first};
    struct suspects_view text = all;
    _cleanup_free_ const char **directories = option_values_texts(&rank->directories);
    const struct suspects_style style = {.color = color_enabled(stdout),
                                         .ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
                                         .verbose = rank->options.verbose,
                                         .source_directories = directories,
                                         .source_directory_count = rank->directories.count};

    struct error *err = rank->export ? write_export(rank, &all) : NULL;
    if (err || (rank->export && !strcmp(rank->export, "-")))
        return err;
    if (rank->options.json)
        return suspects_write_json(&all, stdout);
    if (rank->csv)
        suspects_write_csv(&all, stdout);
    if (!text.first && !rank->options.verbose)
        text.first = SHOWN;
    if (is_text && !rank->options.quiet)
        suspects_write_text(&text, &style, stdout);
    return NULL;
}

static struct error *check_cluster(const struct rank *rank)
{
    uint32_t count = rank->ranking.cluster_count;

    if (!rank->cluster || rank->cluster <= count)
        return NULL;
    return error_create(ERROR_NOT_FOUND, "there is no cluster %u: there %s %u", rank->cluster,
                        count == 1 ? "is" : "are", count);
}

static struct error *rank_all(struct rank *rank)
{
    struct error *err = store_open(rank->options.arguments[0], STORE_READ, &rank->store);

    options_budget(&rank->options, &rank->budget);
    if (!err)
        err = suspects_choose_build(rank->store, rank->build_text, &rank->build, &rank->request);
    if (!err && rank->by[0] != 'i') {
        err = list_all(rank);
    } else if (!err) {
        err = store_rank(rank->store, &rank->request, &rank->budget, &rank->ranking);
        rank->has_ranking = !err;
    }
    if (!err)
        err = check_cluster(rank);
    return err ? err : show(rank);
}

int cli_suspects_rank(int argc, char **argv)
{
    struct rank rank = {0};
    struct error *err = parse(&rank, argc, argv);
    int status = CLI_FOUND;

    if (!err && !rank.options.help) {
        err = rank_all(&rank);
        if (!err && !rank.ranking.complete)
            status = CLI_UNDECIDED;
        else if (!err && !rank.ranking.cluster_count)
            status = CLI_NOT_FOUND;
    }
    if (rank.has_ranking)
        ranking_deinit(&rank.ranking);
    store_close(rank.store);
    free(rank.directories.data);
    if (err)
        return options_fail(&rank.options, err);
    options_deinit(&rank.options);
    return status;
}
