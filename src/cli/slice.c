// SPDX-License-Identifier: Apache-2.0
// `inquest slice EXE EVIDENCE...`: what could have mattered.
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence.h"
#include "analysis/points_to.h"
#include "ask/case.h"
#include "ask/coverage.h"
#include "cli/commands.h"
#include "cli/inquiry.h"
#include "cli/options.h"
#include "cli/slice_at.h"
#include "common/cleanup.h"
#include "common/color.h"
#include "common/error.h"
#include "common/file.h"
#include "common/progress.h"
#include "evidence/evidence.h"
#include "program/model.h"
#include "report/slice.h"
#include "slice/slice.h"
#include "solve/view.h"

static const char about[] =
    "Shows the lines that the failure may depend on: a backward slice from what the crashing\n"
    "instruction read, over control, values and memory, through the calls on the stack and those\n"
    "that had come back, as far as this run can have gone there. What is left out had no part in\n"
    "it, as long as the program stayed within its objects (docs/slicing.md).\n"
    "\n"
    "Exit status 1: nothing is in the slice, or --why's line is not.";

struct command {
    const struct options *options;
    struct inquiry inquiry;
    const char *at_text, *why_text, *dot;
    bool intra, any_run, stack, forward, lines, quick;
    struct option_values directories;
    struct slice_at at, why;
    enum slice_kind kind;
    unsigned flags;

    struct budget budget;
    struct progress progress;
    struct points_to *points_to;
    struct dependence *dependence;
    struct bitset may;   // nodes that may have run; of size 0 where that is not asked
    struct slicer *base; // with all that is known: has the frames, and the criterion
    struct slice_criterion criterion;
    struct slice_report report;
    bool is_coarse;
};

enum { PHASES = 5 };

static void begin(struct command *command, const char *what, uint32_t phase)
{
    command->progress.what = what;
    progress_draw(&command->progress, phase);
}

// ---- What is wanted

static struct error *check_options(struct command *command)
{
    struct error *err = NULL;

    if (command->stack && command->any_run)
        return error_create(ERROR_USAGE, "--stack and --static exclude each other");
    if (command->lines && (command->why_text || command->options->json))
        return error_create(ERROR_USAGE, "--lines goes with neither --why nor --json");
    if (command->dot && !strcmp(command->dot, "-") &&
        (command->lines || command->why_text || command->options->json))
        return error_create(ERROR_USAGE, "'--dot -' is an output of its own: it goes with none of "
                                         "--lines, --why and --json");
    command->kind = command->any_run ? SLICE_STATIC
                    : command->stack ? SLICE_STACK
                                     : SLICE_RESTRICTED;
    command->flags = (command->intra ? SLICE_INTRA : 0u) | (command->forward ? SLICE_FORWARD : 0u);
    if (command->at_text)
        err = slice_at_parse("--at", command->at_text, true, &command->at);
    if (!err && command->why_text)
        err = slice_at_parse("--why", command->why_text, false, &command->why);
    return err;
}

// ---- What it takes

static struct error *check_code(const struct model *model)
{
    for (uint32_t m = 0; m < model->module_count; m++)
        if (model->modules[m].node_count && !model->modules[m].code)
            return error_create(ERROR_UNSUPPORTED,
                                "slices need a program's instructions, and a model that was read "
                                "from text or GraphML has none");
    return NULL;
}

// Pointers first: they tell what calls can enter, which narrows all that follows.
static struct error *analyse(struct command *command)
{
    struct model *model = command->inquiry.input.model;
    struct error *err = model_complete(model);
    if (!err)
        err = check_code(model);
    if (err)
        return err;
    begin(command, "following pointers", 0);
    command->points_to = points_to_create(model, &command->budget);
    command->is_coarse = !points_to_is_complete(command->points_to);
    struct callee_table callees;
    points_to_callees(command->points_to, &callees);
    model_replace_callees(model, &callees);
    command->dependence = dependence_create(model, command->points_to);
    return inquiry_make_case(&command->inquiry);
}

// Nodes that a run that fits the evidence can have executed.
static struct error *find_may(struct command *command)
{
    struct ask_coverage coverage;
    struct error *err = NULL;

    begin(command, "looking for what ran", 1);
    ask_coverage_init(&coverage, command->inquiry.ask, command->inquiry.solver, &command->budget);
    if (coverage.contradiction)
        err = error_create(ERROR_FORMAT, "the evidence contradicts itself: %s",
                           coverage.contradiction);
    bitset_init(&command->may, command->inquiry.input.model->node_count);
    for (uint32_t n = 0; !err && n < command->may.size; n++)
        if (coverage.answers[n] != ASK_NO)
            bitset_set(&command->may, n);
    command->is_coarse |= !coverage.complete;
    ask_coverage_deinit(&coverage);
    return err;
}

// ---- Where to begin

// Leaves those that `keep` says.
static void leave_starts(struct command *command,
                         bool (*keep)(const struct command *, const struct slice_start *))
{
    struct slice_start_vec *starts = &command->criterion.starts;
    size_t count = 0;

    for (size_t i = 0; i < starts->length; i++)
        if (keep(command, &starts->data[i]))
            starts->data[count++] = starts->data[i];
    starts->length = count;
}

// A node may have other lines, too.
static bool is_on_line(const struct command *command, const struct slice_start *start)
{
    return start->memory.value != UINT32_MAX || bitset_test(&command->at.insns, start->insn.value);
}

static bool may_have_run(const struct command *command, const struct slice_start *start)
{
    return bitset_test(&command->may, dependence_insn_node(command->dependence, start->insn).value);
}

static struct error *criterion_at(struct command *command)
{
    const struct model *model = command->inquiry.input.model;
    struct error *err = slice_at_find(&command->at, model, command->dependence);
    if (err)
        return err;
    slicer_criterion_at(command->base, command->at.nodes, command->at.node_count,
                        command->at.variable, &command->criterion);
    leave_starts(command, is_on_line);
    if (!command->criterion.starts.length && command->at.variable)
        return slice_at_no_variable(&command->at, model, command->dependence);
    return NULL;
}

// Frames of which the unwinder was not certain are not used; the user may know better.
static struct error *no_frame(const struct command *command)
{
    const struct evidence *evidence = command->inquiry.input.evidence;
    static const char text[] = "no frame of the stack that is certain has a model, so there is "
                               "nothing to begin with";

    for (uint32_t t = 0; t < evidence->thread_count; t++)
        for (uint32_t f = 0; evidence->threads[t].crashed && f < evidence->threads[t].frame_count;
             f++) {
            const struct evidence_frame *frame = &evidence->threads[t].frames[f];

            if (frame->kind == EVIDENCE_FRAME_MODEL && frame->place.file && frame->place.line)
                return error_create(ERROR_NOT_FOUND,
                                    "%s; '--at %s:%u' begins where #%u stands, "
                                    "which was guessed",
                                    text, frame->place.file, frame->place.line, f);
        }
    return error_create(ERROR_NOT_FOUND, "%s; --at FILE:LINE names a line", text);
}

static struct error *find_criterion(struct command *command)
{
    struct error *err = NULL;

    if (command->at_text)
        err = criterion_at(command);
    else if (!slicer_default_criterion(command->base, &command->criterion))
        err = no_frame(command);
    if (!err && command->kind == SLICE_RESTRICTED)
        leave_starts(command, may_have_run);
    return err;
}

// The call that is pending in a frame, with what it was given.
static void pending_criterion(const struct command *command, const struct view *view,
                              uint32_t frame, struct slice_criterion *ret)
{
    const struct model *model = command->inquiry.input.model;

    *ret = (struct slice_criterion){VEC_INIT};
    for (uint32_t i = 0; i < view->end_count; i++) {
        struct node_id node = {view->node[view->end[i]]};
        const struct code_node *in = model_code_node(model, node);
        struct module_id module = model_function(model, model_node(model, node)->function)->module;
        struct insn_id call =
            dependence_insn(command->dependence, module, in->first_insn + in->insn_count - 1);

        slice_start_vec_push(
            &ret->starts,
            (struct slice_start){
                .frame = frame, .insn = call, .with_value = true, .memory = SLICE_NO_CLASS});
    }
}

// ---- Slices

// frame: whose criterion it is, or MODEL_NONE. False: the budget is spent.
static bool slice_once(struct command *command, struct slicer *slicer, enum slice_kind kind,
                       uint32_t frame, const struct slice_criterion *criterion)
{
    struct slice_criterion own = {VEC_INIT};
    struct slice slice;

    slice_start_vec_append(&own.starts, criterion->starts.data, criterion->starts.length);
    for (size_t i = 0; kind == SLICE_STATIC && i < own.starts.length; i++)
        own.starts.data[i].frame = MODEL_NONE;
    slicer_run(slicer, &own, command->flags, &command->budget, &slice);
    bool complete = slice.complete;
    // a size that is not known is better than one that is too large
    if (complete || kind == command->kind)
        slice_report_add(&command->report, kind, frame, &own, &slice);
    slice_deinit(&slice);
    slice_criterion_deinit(&own);
    return complete;
}

// Each frame by itself, the innermost first.
static void slice_frames(struct command *command, struct slicer *slicer, enum slice_kind kind)
{
    const struct ask_view_vec *views = &command->inquiry.ask->threads[0].views;
    uint32_t frame = 0, count = slicer_frame_count(command->base);
    bool complete = true;

    for (size_t v = views->length; complete && v-- > 0 && frame < count;) {
        struct slice_criterion criterion;

        if (views->data[v]->function >= command->inquiry.input.model->function_count)
            continue;
        if (frame == 0)
            slicer_default_criterion(command->base, &criterion);
        else
            pending_criterion(command, views->data[v], frame, &criterion);
        complete = slice_once(command, slicer, kind, frame++, &criterion);
        slice_criterion_deinit(&criterion);
        progress_update(&command->progress, 2);
    }
    command->report.kept[kind].complete &= complete;
}

static void slice_with(struct command *command, struct slicer *slicer, enum slice_kind kind)
{
    if (command->report.by_frame)
        slice_frames(command, slicer, kind);
    else
        slice_once(command, slicer, kind, MODEL_NONE, &command->criterion);
}

static struct error *slice_kind(struct command *command, enum slice_kind kind)
{
    struct model *model = command->inquiry.input.model;
    struct ask_case *bare = NULL;
    struct error *err = NULL;

    if (kind == SLICE_RESTRICTED) {
        slice_with(command, command->base, kind);
        return NULL;
    }
    if (kind == SLICE_STACK)
        err = ask_case_create(model, command->inquiry.input.evidence, ASK_USE_STACK, &bare);
    if (err)
        return err;
    struct slicer *slicer = slicer_create(model, command->dependence, bare, NULL, kind);
    slice_with(command, slicer, kind);
    slicer_destroy(slicer);
    ask_case_destroy(bare);
    return NULL;
}

// The one that is wanted first, then those it is compared with.
static struct error *slice_all(struct command *command)
{
    begin(command, "slicing", 2);
    struct error *err = slice_kind(command, command->kind);
    bool has_sizes = command->options->json || (!command->why_text && !command->lines);
    if (command->quick || !has_sizes)
        return err;
    for (uint32_t kind = SLICE_STACK; kind < SLICE_KINDS && !err; kind++) {
        begin(command, "slicing, to compare with", 2 + kind);
        if (kind != command->kind && !budget_look(&command->budget))
            err = slice_kind(command, kind);
    }
    return err;
}

// ---- What is shown

static struct error *write_dot(const struct command *command, const struct slice_style *style)
{
    _cleanup_file_writer_ struct file_writer writer = {NULL, NULL, NULL};

    if (!strcmp(command->dot, "-")) {
        slice_write_dot(&command->report, style, stdout);
        return NULL;
    }
    struct error *err = file_writer_init(&writer, command->dot, 0666);
    if (err)
        return err;
    slice_write_dot(&command->report, style, writer.stream);
    return file_writer_commit(&writer);
}

static struct error *show(const struct command *command, const struct slice_style *style)
{
    struct error *err = command->dot ? write_dot(command, style) : NULL;

    if (err || (command->dot && !strcmp(command->dot, "-")))
        return err;
    if (command->options->json)
        return slice_write_json(&command->report, stdout);
    if (command->lines)
        slice_write_lines(&command->report, stdout);
    else if (command->options->quiet)
        return NULL;
    else if (command->why_text)
        slice_write_why(&command->report, style, stdout);
    else
        slice_write_text(&command->report, style, stdout);
    return NULL;
}

static struct error *show_all(const struct command *command)
{
    _cleanup_free_ const char **directories = option_values_texts(&command->directories);
    const struct slice_style style = {.color = color_enabled(stdout),
                                      .ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
                                      .verbose = command->options->verbose,
                                      .source_directories = directories,
                                      .source_directory_count = command->directories.count};

    return show(command, &style);
}

static int status_of(const struct command *command)
{
    const struct slice_report *report = &command->report;

    if (!slice_report_complete(report))
        return CLI_UNDECIDED;
    if (command->why_text)
        return report->chain.length ? CLI_FOUND : CLI_NOT_FOUND;
    return report->kept[report->kind].node_count ? CLI_FOUND : CLI_NOT_FOUND;
}

// ---- All of it

static bool ran_nowhere(const struct command *command, const struct slice_at *at)
{
    for (uint32_t i = 0; i < at->node_count; i++)
        if (bitset_test(&command->may, at->nodes[i].value))
            return false;
    return true;
}

static struct error *prepare_report(struct command *command)
{
    struct slice_report *report = &command->report;

    slice_report_init(report, command->inquiry.input.model, command->dependence,
                      command->inquiry.ask, command->base);
    report->kind = command->kind;
    report->flags = command->flags;
    report->by_frame = command->intra && !command->at_text;
    report->has_edges = command->dot;
    report->is_coarse = command->is_coarse;
    if (command->at_text && command->kind == SLICE_RESTRICTED && ran_nowhere(command, &command->at))
        report->empty = "its line did not run";
    if (!command->why_text)
        return NULL;
    struct error *err =
        slice_at_find(&command->why, command->inquiry.input.model, command->dependence);
    report->why = &command->why.insns;
    report->why_text = command->why_text;
    if (!err && command->kind == SLICE_RESTRICTED && ran_nowhere(command, &command->why))
        report->why_not = "it did not run";
    return err;
}

static struct error *run(struct command *command, int *status)
{
    struct error *err = analyse(command);
    if (!err && command->kind == SLICE_RESTRICTED)
        err = find_may(command);
    if (err)
        return err;
    command->base =
        slicer_create(command->inquiry.input.model, command->dependence, command->inquiry.ask,
                      command->may.size ? &command->may : NULL, SLICE_RESTRICTED);
    err = find_criterion(command);
    if (!err)
        err = prepare_report(command);
    if (!err)
        err = slice_all(command);
    progress_finish(&command->progress);
    if (err)
        return err;
    slice_report_finish(&command->report);
    *status = status_of(command);
    return show_all(command);
}

static void command_deinit(struct command *command)
{
    progress_finish(&command->progress);
    slice_report_deinit(&command->report);
    slice_criterion_deinit(&command->criterion);
    slicer_destroy(command->base);
    dependence_destroy(command->dependence);
    points_to_destroy(command->points_to);
    bitset_deinit(&command->may);
    slice_at_deinit(&command->at);
    slice_at_deinit(&command->why);
    free(command->directories.data);
    inquiry_deinit(&command->inquiry);
}

int cli_slice(int argc, char **argv)
{
    struct command command = {0};
    const struct option_spec specs[] = {
        {"at", 0, "FILE:LINE[:VAR]", "slice from this line, or from a variable there", OPTION_TEXT,
         &command.at_text},
        {"intra", 0, NULL, "each frame by itself; with --at, its function", OPTION_FLAG,
         &command.intra},
        {"static", 0, NULL, "of any run: evidence does not restrict it", OPTION_FLAG,
         &command.any_run},
        {"stack", 0, NULL, "restricted by the stack alone", OPTION_FLAG, &command.stack},
        {"forward", 0, NULL, "what may depend on it instead", OPTION_FLAG, &command.forward},
        {"why", 0, "FILE:LINE", "what brings this line in, step by step", OPTION_TEXT,
         &command.why_text},
        {"lines", 0, NULL, "print FILE:LINE and no source", OPTION_FLAG, &command.lines},
        {"dot", 0, "FILE", "write a graph for Graphviz to FILE", OPTION_TEXT, &command.dot},
        {"quick", 0, NULL, "no other slices to compare with", OPTION_FLAG, &command.quick},
        {"source-dir", 0, "DIR", "look for source files in DIR, too", OPTION_MANY,
         &command.directories},
        INQUIRY_SPECS(command.inquiry),
        {0},
    };
    const struct command_help help = {.name = "slice",
                                      .usage = "EXE EVIDENCE... [OPTIONS]",
                                      .about = about,
                                      .example =
                                          "inquest slice ./prog core\n"
                                          "inquest slice --at parse.c:47:length ./prog core\n"
                                          "inquest slice --why main.c:12 ./prog core\n"
                                          "inquest slice --lines ./prog core > slice.txt",
                                      .specs = specs,
                                      .least = 2,
                                      .most = OPTIONS_ANY};
    struct options options;
    int status = CLI_FOUND;
    struct error *err = options_parse(&options, &help, argc, argv);
    if (!err && !options.help) {
        command.options = &options;
        progress_init(&command.progress, "slicing", PHASES, options.quiet);
        options_budget(&options, &command.budget);
        err = check_options(&command);
        if (!err)
            err = inquiry_read(&command.inquiry, options.arguments[0], options.arguments + 1,
                               options.argument_count - 1);
        if (!err)
            err = run(&command, &status);
    }
    command_deinit(&command);
    if (err)
        return options_fail(&options, err);
    options_deinit(&options);
    return status;
}
