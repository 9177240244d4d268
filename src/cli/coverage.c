// SPDX-License-Identifier: Apache-2.0
// `inquest coverage EXE EVIDENCE...`: yes, no or maybe for every node and line.
#include "ask/coverage.h"
#include "cli/commands.h"
#include "cli/inquiry.h"
#include "cli/options.h"
#include "common/color.h"
#include "common/error.h"
#include "common/file.h"
#include "report/coverage.h"

static const char about[] =
    "Says of every line whether it ran: yes, no, or maybe where the evidence leaves it open. Yes\n"
    "means that every run that fits the evidence executes it, no that none does.\n"
    "\n"
    "Solvers: vpa follows calls and returns exactly (the default); utl and fsa let a return go to\n"
    "any call of its function, which is faster and says maybe more often.";

struct coverage_options {
    const char *lcov, *only;
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

static struct error *answer(const struct options *options, const struct coverage_options *wanted,
                            const struct inquiry *inquiry, int *status)
{
    struct budget budget;
    struct ask_coverage coverage;
    struct error *err = NULL;

    options_budget(options, &budget);
    ask_coverage_init(&coverage, inquiry->ask, inquiry->solver, &budget);
    if (coverage.contradiction)
        err = error_create(ERROR_FORMAT, "the evidence contradicts itself: %s",
                           coverage.contradiction);
    else if (wanted->lcov)
        err = write_lcov(&coverage, wanted->lcov);
    if (!err && options->json)
        err = coverage_write_json(&coverage, stdout);
    else if (!err && !options->quiet)
        coverage_write_text(
            &coverage,
            &(struct coverage_style){
                .color = color_enabled(stdout), .verbose = options->verbose, .only = wanted->only},
            stdout);
    *status = coverage.complete ? CLI_FOUND : CLI_UNDECIDED;
    ask_coverage_deinit(&coverage);
    return err;
}

int cli_coverage(int argc, char **argv)
{
    struct inquiry inquiry = {0};
    struct coverage_options wanted = {0};
    const struct option_spec specs[] = {
        {"lcov", 0, "FILE", "write lcov's .info to FILE as well", OPTION_TEXT, &wanted.lcov},
        {"file", 0, "NAME", "show only files whose name ends with NAME", OPTION_TEXT, &wanted.only},
        INQUIRY_SPECS(inquiry),
        {0},
    };
    const struct command_help help = {.name = "coverage",
                                      .usage = "EXE EVIDENCE... [OPTIONS]",
                                      .about = about,
                                      .example = "inquest coverage ./prog core\n"
                                                 "inquest coverage -v --file parse.c ./prog core\n"
                                                 "inquest coverage --lcov run.info ./prog core",
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
            err = answer(&options, &wanted, &inquiry, &status);
    }
    inquiry_deinit(&inquiry);
    if (err)
        return options_fail(&options, err);
    options_deinit(&options);
    return status;
}
