// SPDX-License-Identifier: Apache-2.0
// `inquest coverage EXE EVIDENCE...`: yes, no or maybe for every node and line.
#include "ask/case.h"
#include "ask/coverage.h"
#include "cli/commands.h"
#include "cli/inquiry.h"
#include "cli/options.h"
#include "common/color.h"
#include "common/error.h"
#include "common/file.h"
#include "report/coverage.h"
#include "slice/active.h"

static const char about[] =
    "Says of every line whether it ran: yes, no, or maybe where the evidence leaves it open. Yes\n"
    "means that every run that fits the evidence executes it, no that none does.\n"
    "\n"
    "Solvers: vpa follows calls and returns exactly (the default); utl and fsa let a return go to\n"
    "any call of its function, which is faster and says maybe more often; csi goes by\n"
    "reachability in each frame and in what it may have called, and knows of edges, too.";

struct coverage_options {
    const char *lcov, *only;
    bool intra;
};

static struct error *write_lcov(const struct ask_coverage *coverage, const char *path)
{
    _cleanup_file_writer_ struct file_writer writer = {NULL, NULL, NULL};
    struct error *err = file_writer_init(&writer, path, 0666);
    if (err)
        return err;
    coverage_write_lcov(coverage, "inquest", writer.stream);
    return file_writer_commit(&writer);
}

static struct error *contradiction(const char *words)
{
    return error_create(ERROR_FORMAT, "the evidence contradicts itself: %s", words);
}

// active: what there is to say of edges, or NULL.
static struct error *show(const struct options *options, const struct coverage_options *wanted,
                          const struct ask_coverage *coverage, const struct coverage_active *active)
{
    struct error *err = NULL;

    if (coverage->contradiction)
        return contradiction(coverage->contradiction);
    if (wanted->lcov)
        err = write_lcov(coverage, wanted->lcov);
    if (!err && options->json)
        return coverage_write_json(coverage, active, stdout);
    if (err || options->quiet)
        return err;
    coverage_write_text(
        coverage,
        &(struct coverage_style){
            .color = color_enabled(stdout), .verbose = options->verbose, .only = wanted->only},
        stdout);
    if (active)
        coverage_write_active_text(active, stdout);
    return NULL;
}

// ---- csi

// What the stack alone leaves active.
static struct error *baseline(const struct inquiry *inquiry, struct budget *budget,
                              struct active_count *ret)
{
    struct ask_case *bare;
    struct active active;
    struct error *err =
        ask_case_create(inquiry->input.model, inquiry->input.evidence, ASK_USE_STACK, &bare);
    if (err)
        return err;
    active_init(&active, bare, budget);
    *ret = active_count(&active);
    active_deinit(&active);
    ask_case_destroy(bare);
    return NULL;
}

static struct error *show_frames(const struct options *options, const struct active *active)
{
    struct active_frame_vec frames = VEC_INIT;
    struct error *err = NULL;

    if (active->contradiction)
        return contradiction(active->contradiction);
    active_frames(active, &frames);
    if (options->json)
        err = coverage_write_frames_json(active, &frames, stdout);
    else if (!options->quiet)
        coverage_write_frames_text(active, &frames, stdout);
    active_frames_deinit(&frames);
    return err;
}

static struct error *show_active(const struct options *options,
                                 const struct coverage_options *wanted,
                                 const struct inquiry *inquiry, struct budget *budget,
                                 const struct active *active)
{
    struct coverage_active found = {.active = active};
    struct ask_coverage coverage;
    struct error *err = baseline(inquiry, budget, &found.baseline);
    if (err)
        return err;
    active_coverage(active, &coverage);
    err = show(options, wanted, &coverage, &found);
    ask_coverage_deinit(&coverage);
    return err;
}

static struct error *answer_csi(const struct options *options,
                                const struct coverage_options *wanted,
                                const struct inquiry *inquiry, struct budget *budget, int *status)
{
    struct active active;

    active_init(&active, inquiry->ask, budget);
    struct error *err = wanted->intra ? show_frames(options, &active)
                                      : show_active(options, wanted, inquiry, budget, &active);
    *status = active.complete ? CLI_FOUND : CLI_UNDECIDED;
    active_deinit(&active);
    return err;
}

// ---- The other solvers

static struct error *answer(const struct options *options, const struct coverage_options *wanted,
                            const struct inquiry *inquiry, int *status)
{
    struct budget budget;
    struct ask_coverage coverage;

    options_budget(options, &budget);
    if (inquiry->solver == ASK_SOLVER_CSI)
        return answer_csi(options, wanted, inquiry, &budget, status);
    ask_coverage_init(&coverage, inquiry->ask, inquiry->solver, &budget);
    struct error *err = show(options, wanted, &coverage, NULL);
    *status = coverage.complete ? CLI_FOUND : CLI_UNDECIDED;
    ask_coverage_deinit(&coverage);
    return err;
}

// --intra is csi's.
static struct error *check_intra(const struct coverage_options *wanted, struct inquiry *inquiry)
{
    if (!wanted->intra)
        return NULL;
    if (wanted->lcov || wanted->only)
        return error_create(ERROR_USAGE, "--intra goes with neither --lcov nor --file");
    if (!inquiry->solver_name)
        inquiry->solver = ASK_SOLVER_CSI;
    if (inquiry->solver != ASK_SOLVER_CSI)
        return error_create(ERROR_USAGE, "--intra needs --solver csi, not '%s'",
                            inquiry->solver_name);
    return NULL;
}

int cli_coverage(int argc, char **argv)
{
    struct inquiry inquiry = {.takes_csi = true};
    struct coverage_options wanted = {0};
    const struct option_spec specs[] = {
        {"lcov", 0, "FILE", "write lcov's .info to FILE as well", OPTION_TEXT, &wanted.lcov},
        {"file", 0, "NAME", "show only files whose name ends with NAME", OPTION_TEXT, &wanted.only},
        {"intra", 0, NULL, "each frame of the stack by itself (csi)", OPTION_FLAG, &wanted.intra},
        INQUIRY_SPECS(inquiry),
        {0},
    };
    const struct command_help help = {.name = "coverage",
                                      .usage = "EXE EVIDENCE... [OPTIONS]",
                                      .about = about,
                                      .example = "inquest coverage ./prog core\n"
                                                 "inquest coverage -v --file parse.c ./prog core\n"
                                                 "inquest coverage --lcov run.info ./prog core\n"
                                                 "inquest coverage --intra ./prog core",
                                      .specs = specs,
                                      .least = 2,
                                      .most = OPTIONS_ANY};
    struct options options;
    int status = CLI_FOUND;
    struct error *err = options_parse(&options, &help, argc, argv);
    if (!err && !options.help) {
        err = inquiry_open(&inquiry, options.arguments[0], options.arguments + 1,
                           options.argument_count - 1);
        if (!err)
            err = check_intra(&wanted, &inquiry);
        if (!err)
            err = answer(&options, &wanted, &inquiry, &status);
    }
    inquiry_deinit(&inquiry);
    if (err)
        return options_fail(&options, err);
    options_deinit(&options);
    return status;
}
