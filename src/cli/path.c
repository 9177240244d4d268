// SPDX-License-Identifier: Apache-2.0
// `inquest path EXE EVIDENCE...`: the way to the failure that touches the most
// telling places.
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/points_to.h"
#include "ask/ask.h"
#include "ask/case.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/path_failures.h"
#include "cli/path_places.h"
#include "cli/path_wanted.h"
#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/color.h"
#include "common/error.h"
#include "common/file.h"
#include "common/progress.h"
#include "path/evidence.h"
#include "program/model.h"
#include "report/path.h"

static const char about[] =
    "Shows a path through the program that ends as the failed run did and "
    "touches the most "
    "telling\n"
    "places on the way: predictors of the failure (`inquest suspects rank "
    "--export`), or places\n"
    "that are named. Of the paths with the greatest sum of scores it is a "
    "shortest one; it fits\n"
    "all that is known of the run, and values that are known rule out what "
    "cannot happen\n"
    "(docs/path.md).\n"
    "\n"
    "Several files of evidence are several runs of the same bug; files of one "
    "run are named with\n"
    "a comma between them. Without evidence, --end says where the path ends.\n"
    "\n"
    "WHERE is FUNC or FILE:LINE. Exit status 1: there is no such path.";

// How long pointers are followed, at most, for what values are known.
#define POINTS_TO_SECONDS 20.0

VEC_DEFINE(note_vec, char *);

struct command {
    const struct options *options;
    struct inquiry inquiry;
    // As given
    struct path_wanted wanted;
    struct option_values directories;
    const char *end, *per_step_text, *top_text, *method_text, *weights_text, *dot;
    bool no_dataflow, no_stack, full;
    // As understood
    struct path_failures failures;
    struct path_request request;
    struct note_vec notes;

    struct budget budget;
    struct progress progress;
    struct points_to *points_to;
    struct path_critical_set set; // of the path that is shown
    struct path_answer answer;
    struct path_cluster_line *lines;
    uint32_t line_count;
};

enum { PHASES = 3 };

static void begin(struct command *command, const char *what, uint32_t phase)
{
    command->progress.what = what;
    progress_draw(&command->progress, phase);
}

// ---- The command line

static struct error *parse_word(const char *option, const char *text, const char *const *words,
                                uint32_t *ret)
{
    const char *wanted = text ? text : "auto";

    for (*ret = 0; words[*ret]; ++*ret)
        if (strcmp(words[*ret], wanted) == 0)
            return NULL;
    return error_create(ERROR_USAGE, "%s is %s, %s or %s, not '%s'", option, words[0], words[1],
                        words[2], text);
}

static struct error *parse_per_step(const char *text, double *ret)
{
    char *end = NULL;

    *ret = text ? strtod(text, &end) : 0;
    if (text && (!*text || *end || !isfinite(*ret) || *ret < 0))
        return error_create(ERROR_USAGE, "--per-step is a number that is not negative, not '%s'",
                            text);
    return NULL;
}

static struct error *check_options(struct command *command)
{
    static const char *const methods[] = {"auto", "forward", "backward", NULL};
    static const char *const weights[] = {"auto", "sets", "diagrams", NULL};
    uint32_t method, weight;
    struct path_request *request = &command->request;
    struct error *err = path_parse_count("--top", command->top_text, 1000, &request->top);

    if (!err)
        err = parse_per_step(command->per_step_text, &request->per_step);
    if (!err)
        err = parse_word("--method", command->method_text, methods, &method);
    if (!err)
        err = parse_word("--weights", command->weights_text, weights, &weight);
    if (err)
        return err;
    request->method = (enum path_method)method;
    request->weights = (enum path_weights)weight;
    request->separate = command->wanted.separate;
    if (command->options->argument_count < 2 && !command->end)
        return error_create(ERROR_USAGE, "evidence of the failed run is missing, or --end, which "
                                         "says where the path ends");
    if (command->end && command->no_stack)
        return error_create(ERROR_USAGE, "--end and --no-stack exclude each other");
    if (!command->wanted.lists.count &&
        (command->wanted.clusters.count || command->wanted.first_text || command->wanted.separate))
        return error_create(ERROR_USAGE, "--%s is about predictors: --suspects names their list",
                            command->wanted.clusters.count ? "cluster"
                            : command->wanted.first_text   ? "first"
                                                           : "separate");
    if (command->inquiry.solver_name)
        return error_create(ERROR_USAGE, "there is no choice of --solver here, but of --method and "
                                         "--weights");
    if (command->dot && !strcmp(command->dot, "-") && command->options->json)
        return error_create(ERROR_USAGE, "'--dot -' is an output of its own: it does not go with "
                                         "--json");
    return NULL;
}

// ---- What it takes

static bool has_code(const struct model *model)
{
    for (uint32_t m = 0; m < model->module_count; m++)
        if (model->modules[m].node_count && model->modules[m].code)
            return true;
    return false;
}

// Where pointers point: for the callees of calls (--narrow), and for what
// values are known.
static struct error *follow_pointers(struct command *command)
{
    struct model *model = command->inquiry.input.model;
    struct callee_table callees;
    struct budget budget;
    double left = budget_seconds_left(&command->budget) / 4;

    command->no_dataflow |= !has_code(model);
    if (command->inquiry.narrow && !has_code(model))
        return error_create(ERROR_UNSUPPORTED, "--narrow needs a model with instructions");
    if (command->no_dataflow && !command->inquiry.narrow)
        return NULL;
    begin(command, "following pointers", 0);
    budget_init(&budget, left < POINTS_TO_SECONDS ? left : POINTS_TO_SECONDS,
                command->budget.memory);
    command->points_to = points_to_create(model, &budget);
    if (command->inquiry.narrow) {
        points_to_callees(command->points_to, &callees);
        model_replace_callees(model, &callees);
    }
    return NULL;
}

static struct error *make_failures(struct command *command)
{
    struct place_nodes ends = VEC_INIT;
    struct error *err = NULL;

    if (command->end)
        err = path_place_find("--end", command->end, command->inquiry.input.model, PATH_PLACE_END,
                              &ends);
    if (!err)
        err = path_failures_make(&command->failures,
                                 &(struct path_failures_options){.ends = ends.data,
                                                                 .end_count = (uint32_t)ends.length,
                                                                 .end_text = command->end,
                                                                 .no_stack = command->no_stack});
    place_nodes_deinit(&ends);
    return err;
}

static struct error *prepare(struct command *command)
{
    struct model *model = command->inquiry.input.model;
    struct path_request *request = &command->request;
    struct error *err = model_complete(model);
    if (!err)
        err = path_wanted_find(&command->wanted, model);
    if (!err)
        err = follow_pointers(command);
    if (!err)
        err = make_failures(command);
    if (err)
        return err;
    request->flow = command->failures.cases[0]->flow;
    if (command->wanted.avoid.size) {
        bitset_resize(&command->wanted.avoid, request->flow->node_count);
        request->avoid = &command->wanted.avoid;
    }
    request->orders = command->wanted.orders.data;
    request->order_count = (uint32_t)command->wanted.orders.length;
    if (!command->no_dataflow)
        request->dataflow = dataflow_create(
            model, request->flow, &(struct dataflow_options){.points_to = command->points_to});
    return NULL;
}

// ---- Solving

static struct error *make_set(struct command *command, uint32_t cluster,
                              struct path_critical_set *set)
{
    struct error *err = path_wanted_set(&command->wanted, command->inquiry.input.model, cluster,
                                        command->request.dataflow, set);

    command->request.critical = set->critical;
    command->request.critical_count = set->count;
    return err;
}

static void solve(struct command *command, struct path_answer *answer)
{
    path_answer_init(answer, &command->request, command->failures.cases, command->failures.count,
                     &command->budget);
}

static struct path_cluster_line line_of(const struct command *command, uint32_t cluster,
                                        const struct path_critical_set *set,
                                        const struct path_answer *answer)
{
    const struct path_cluster *from = &command->wanted.predictors.clusters.data[cluster];
    const struct path_report report = {.marks = &set->marks, .answer = answer};
    struct path_cluster_line line = {.number = from->number,
                                     .file = from->file,
                                     .complete = answer->complete,
                                     .has_path = answer->count};

    if (answer->count) {
        line.score = answer->paths[0].found.score;
        line.length = answer->paths[0].found.length;
        line.touched = path_touched(&report, 0, &line.predictors);
    }
    return line;
}

// Is the first cluster's path a best one for this cluster, too? Ties are broken
// in any way, so that equal paths are not asked for.
static bool is_same_path(const struct command *command, const struct path_answer *other)
{
    const struct path_found *first = command->answer.count ? &command->answer.paths[0].found : NULL;
    const struct path_found *second = other->count ? &other->paths[0].found : NULL;
    struct path_found counted;
    uint64_t flow_length;

    if (!first || !second)
        return false;
    path_measure(&command->request, &first->run, UINT64_MAX,
                 command->inquiry.input.model->node_count, &counted, &flow_length);
    return counted.length == second->length && fabs(counted.score - second->score) < 1e-9;
}

static struct error *solve_other(struct command *command, uint32_t cluster)
{
    struct path_critical_set set;
    struct path_answer answer;
    uint32_t top = command->request.top;
    struct error *err = make_set(command, cluster, &set);

    if (!err) {
        command->request.top = 1;
        solve(command, &answer);
        command->request.top = top;
        command->lines[command->line_count] = line_of(command, cluster, &set, &answer);
        command->lines[command->line_count++].is_same = is_same_path(command, &answer);
        path_answer_deinit(&answer);
    }
    path_critical_deinit(&set);
    return err;
}

// The first in full, the others to be compared with it.
static struct error *solve_all(struct command *command)
{
    const struct path_selected_vec *selected = &command->wanted.selected;
    bool by_cluster = path_wanted_is_by_cluster(&command->wanted);
    struct error *err =
        make_set(command, by_cluster ? selected->data[0] : PATH_WANTED_ALL, &command->set);

    begin(command, "looking for the path", 1);
    if (err)
        return err;
    solve(command, &command->answer);
    if (!by_cluster)
        return NULL;
    command->lines = xcalloc(selected->length, sizeof(*command->lines));
    command->lines[command->line_count++] =
        line_of(command, selected->data[0], &command->set, &command->answer);
    for (size_t i = 1; !err && i < selected->length; i++) {
        begin(command, "looking at other clusters", 2);
        err = solve_other(command, selected->data[i]);
    }
    return err;
}

// Before it is said that there is no path: is there any run that fits?
static struct error *check_evidence(struct command *command, struct ask_case *ask)
{
    struct ask_session *session = ask_session_create(ask);
    struct ask_result result;
    struct error *err = NULL;
    struct arena arena;

    arena_init(&arena);
    ask_consistent(session, ASK_SOLVER_AUTO, &command->budget, &result);
    if (result.verdict == ASK_IMPOSSIBLE && command->failures.has_evidence && !command->end) {
        err = error_create(
            ERROR_FORMAT, "the evidence contradicts itself%s%s", result.because_count ? ": " : "",
            result.because_count ? ask_fact_words(ask, result.because[0], &arena) : "");
        for (uint32_t i = 0; i < result.because_count; i++)
            fprintf(stderr, "inquest: contradiction: %s\n",
                    ask_fact_words(ask, result.because[i], &arena));
    }
    arena_deinit(&arena);
    ask_result_deinit(&result);
    ask_session_destroy(session);
    return err;
}

static struct error *check_all_evidence(struct command *command)
{
    struct error *err = NULL;

    for (uint32_t i = 0; !err && !command->answer.count && i < command->failures.count; i++)
        err = check_evidence(command, command->failures.cases[i]);
    return err;
}

// ---- What is shown

static void note(struct command *command, char *text)
{
    note_vec_push(&command->notes, text);
}

// Does the first thread's stack have a frame of the model?
static bool has_frame(const struct ask_case *ask)
{
    const struct ask_view_vec *views = &ask->threads[0].views;

    for (size_t v = 0; v < views->length; v++)
        if (views->data[v]->function < ask->model->function_count)
            return true;
    return false;
}

static void take_notes(struct command *command)
{
    for (uint32_t i = 0; i < command->failures.count; i++)
        if (!has_frame(command->failures.cases[i]))
            note(command, xasprintf("'%s' has no stack whose frames are certain: the path may end "
                                    "anywhere (--end WHERE says where)",
                                    command->failures.names[i]));
    if (command->set.left_out)
        note(command, xasprintf("%u predictors are left out: there may be %u places at most",
                                command->set.left_out, command->set.room));
    if (!command->wanted.predictors.complete)
        note(command, xstrdup("the list of predictors is not complete: the ranking "
                              "had ended early"));
    if (command->points_to && !points_to_is_complete(command->points_to))
        note(command, xstrdup("where pointers point was not worked out to the end: less is known "
                              "of values"));
}

static struct error *write_dot(const struct command *command, const struct path_report *report,
                               const struct path_style *style)
{
    _cleanup_file_writer_ struct file_writer writer = {NULL, NULL, NULL};

    if (!strcmp(command->dot, "-")) {
        path_write_dot(report, style, stdout);
        return NULL;
    }
    struct error *err = file_writer_init(&writer, command->dot, 0666);
    if (err)
        return err;
    path_write_dot(report, style, writer.stream);
    return file_writer_commit(&writer);
}

static struct error *show(struct command *command)
{
    _cleanup_free_ const char **directories = option_values_texts(&command->directories);
    const struct path_report report = {.model = command->inquiry.input.model,
                                       .marks = &command->set.marks,
                                       .answer = &command->answer,
                                       .failures = command->failures.names,
                                       .end_lines = command->failures.end_lines,
                                       .failure_count = command->failures.count,
                                       .clusters = command->lines,
                                       .cluster_count = command->line_count,
                                       .notes = (const char *const *)command->notes.data,
                                       .note_count = command->notes.length,
                                       .has_dataflow = command->request.dataflow};
    const struct path_style style = {.color = color_enabled(stdout),
                                     .ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
                                     .full = command->full,
                                     .source_directories = directories,
                                     .source_directory_count = command->directories.count};
    struct error *err = command->dot ? write_dot(command, &report, &style) : NULL;

    if (err || (command->dot && !strcmp(command->dot, "-")))
        return err;
    if (command->options->json)
        return path_write_json(&report, stdout);
    if (!command->options->quiet)
        path_write_text(&report, &style, stdout);
    return NULL;
}

// ---- All of it

static int status_of(const struct path_answer *answer)
{
    if (answer->count)
        return answer->paths[0].missed ? CLI_UNDECIDED : CLI_FOUND;
    return answer->complete && !answer->problem ? CLI_NOT_FOUND : CLI_UNDECIDED;
}

static struct error *run(struct command *command, int *status)
{
    const char *const *arguments = command->options->arguments;
    struct error *err = check_options(command);
    if (!err)
        err = path_wanted_read(&command->wanted);
    if (!err)
        err = path_failures_read(&command->failures, &command->inquiry, arguments[0], arguments + 1,
                                 (uint32_t)command->options->argument_count - 1);
    if (!err)
        err = prepare(command);
    if (!err)
        err = solve_all(command);
    if (!err)
        err = check_all_evidence(command);
    progress_finish(&command->progress);
    if (err)
        return err;
    take_notes(command);
    *status = status_of(&command->answer);
    return show(command);
}

static void command_deinit(struct command *command)
{
    progress_finish(&command->progress);
    path_answer_deinit(&command->answer);
    path_critical_deinit(&command->set);
    free(command->lines);
    for (size_t i = 0; i < command->notes.length; i++)
        free(command->notes.data[i]);
    note_vec_deinit(&command->notes);
    if (command->request.dataflow)
        dataflow_destroy(command->request.dataflow);
    points_to_destroy(command->points_to);
    path_failures_deinit(&command->failures);
    path_wanted_deinit(&command->wanted);
    free(command->directories.data);
    inquiry_deinit(&command->inquiry);
}

// `--before A B` has two operands: they become one value, A, a newline, B. To
// be freed: argv and what is in *made.
static char **join_before(int *argc, char **argv, struct note_vec *made)
{
    char **joined = xcalloc((size_t)*argc + 1, sizeof(*joined));
    int count = 0;

    for (int i = 0; i < *argc; i++) {
        bool inside = strncmp(argv[i], "--before=", 9) == 0;
        int operands = inside ? i + 1 : i + 2;

        if (strcmp(argv[i], "--") == 0) {
            while (i < *argc)
                joined[count++] = argv[i++];
            break;
        }
        if ((!inside && strcmp(argv[i], "--before") != 0) || operands >= *argc) {
            joined[count++] = argv[i];
            continue;
        }
        note_vec_push(
            made, xasprintf("--before=%s\n%s", inside ? argv[i] + 9 : argv[i + 1], argv[operands]));
        joined[count++] = made->data[made->length - 1];
        i = operands;
    }
    *argc = count;
    return joined;
}

static struct error *check_before(const struct option_values *before)
{
    for (size_t i = 0; i < before->count; i++)
        if (!strchr(before->data[i].text, '\n'))
            return error_create(ERROR_USAGE, "--before takes two places, A and B");
    return NULL;
}

int cli_path(int argc, char **argv)
{
    struct command command = {0};
    const struct option_spec specs[] = {
        {"suspects", 0, "FILE", "predictors, of `inquest suspects rank --export`", OPTION_MANY,
         &command.wanted.lists},
        {"cluster", 0, "C", "of cluster C only; several, or all, count together", OPTION_MANY,
         &command.wanted.clusters},
        {"first", 0, "N", "the first N predictors of a cluster", OPTION_TEXT,
         &command.wanted.first_text},
        {"critical", 0, "WHERE[=SCORE]", "a place to touch; the score is 1 where none is given",
         OPTION_MANY, &command.wanted.critical},
        {"avoid", 0, "WHERE", "a place that is not reached", OPTION_MANY,
         &command.wanted.avoid_places},
        {"before", 0, "A B", "B is not reached before A has been", OPTION_MANY,
         &command.wanted.before},
        {"end", 0, "WHERE", "where the path ends, instead of the stack", OPTION_TEXT, &command.end},
        {"no-stack", 0, NULL, "of the stack, only where it ends", OPTION_FLAG, &command.no_stack},
        {"per-step", 0, "COST", "what each step takes off the score", OPTION_TEXT,
         &command.per_step_text},
        {"separate", 0, NULL, "touching several clusters scores nothing", OPTION_FLAG,
         &command.wanted.separate},
        {"top", 0, "K", "the K best paths", OPTION_TEXT, &command.top_text},
        {"no-dataflow", 0, NULL, "do not look at values: paths may be infeasible", OPTION_FLAG,
         &command.no_dataflow},
        {"full", 0, NULL, "calls that came back and touch nothing, too", OPTION_FLAG,
         &command.full},
        {"dot", 0, "FILE", "write the calls as a graph for Graphviz to FILE", OPTION_TEXT,
         &command.dot},
        {"source-dir", 0, "DIR", "look for source files in DIR, too", OPTION_MANY,
         &command.directories},
        {"method", 0, "NAME", "forward, backward or auto", OPTION_TEXT, &command.method_text},
        {"weights", 0, "NAME", "sets, diagrams or auto", OPTION_TEXT, &command.weights_text},
        INQUIRY_SPECS(command.inquiry),
        {0},
    };
    const struct command_help help = {
        .name = "path",
        .usage = "EXE EVIDENCE... [OPTIONS]\nEXE --end WHERE [OPTIONS]",
        .about = about,
        .example = "inquest path ./prog core --suspects bug.json --first 3\n"
                   "inquest path ./prog core --critical parse.c:41 --before init "
                   "main.c:20\n"
                   "inquest path ./prog --end main --critical parse_list",
        .specs = specs,
        .least = 1,
        .most = OPTIONS_ANY};
    struct note_vec made = VEC_INIT;
    char **joined = join_before(&argc, argv, &made);
    struct options options;
    int status = CLI_FOUND;
    struct error *err = options_parse(&options, &help, argc, joined);
    if (!err && !options.help) {
        command.options = &options;
        progress_init(&command.progress, "looking for the path", PHASES, options.quiet);
        options_budget(&options, &command.budget);
        err = check_before(&command.wanted.before);
        if (!err)
            err = run(&command, &status);
    }
    command_deinit(&command);
    if (err)
        status = options_fail(&options, err);
    else
        options_deinit(&options);
    for (size_t i = 0; i < made.length; i++)
        free(made.data[i]);
    note_vec_deinit(&made);
    free(joined);
    return status;
}
