// SPDX-License-Identifier: Apache-2.0
// `inquest [summary] EXE EVIDENCE...`: what happened.
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/options.h"
#include "common/cleanup.h"
#include "common/color.h"
#include "common/error.h"
#include "report/position.h"
#include "report/summary.h"

static const char about[] =
    "Says what happened: the signal and what it means, the stack with an excerpt of the source\n"
    "where the program's own code failed, the path through each function as source lines,\n"
    "which calls were made in this activation and which never. EVIDENCE is a core "
    "(zstd-compressed\n"
    "too), evidence JSON, a text with the stack of the failure in it (gdb, sanitizers,\n"
    "backtrace()), or several of them, of one run. The command's name may be left out.";

static time_t changed_at(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_mtime : 0;
}

static struct error *write_summary(struct options *options, struct input *input,
                                   const struct option_values *directories, bool *incomplete)
{
    struct budget budget;
    _cleanup_free_ const char **texts = option_values_texts(directories);
    options_budget(options, &budget);
    struct positions *positions = positions_create(input->model);
    struct summary summary = {
        .evidence = input->evidence,
        .positions = positions,
        .program = options->arguments[0],
        .program_changed = changed_at(options->arguments[0]),
        .source_directories = texts,
        .source_directory_count = directories->count,
        .verbose = options->verbose,
        .quiet = options->quiet,
        .color = color_enabled(stdout),
        .ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
        .budget = &budget,
    };
    struct error *err =
        options->json ? summary_write_json(&summary, stdout) : summary_write_text(&summary, stdout);
    positions_destroy(positions);
    *incomplete = summary.incomplete;
    return err;
}

int cli_summary(int argc, char **argv)
{
    struct input input = {0};
    struct option_values directories = {0};
    const struct option_spec specs[] = {
        {"source-dir", 0, "DIR", "look for source files in DIR, too", OPTION_MANY, &directories},
        INPUT_SPECS(input),
        {0},
    };
    const struct command_help help = {.name = "summary",
                                      .usage = "EXE EVIDENCE... [OPTIONS]",
                                      .about = about,
                                      .example = "inquest ./prog core\n"
                                                 "inquest ./prog bug-report.txt\n"
                                                 "inquest summary --json ./prog core.zst",
                                      .specs = specs,
                                      .least = 2,
                                      .most = OPTIONS_ANY};
    struct options options;
    bool incomplete = false;
    struct error *err = options_parse(&options, &help, argc, argv);
    if (!err && !options.help) {
        err = input_open_all(&input, options.arguments[0], options.arguments + 1,
                             options.argument_count - 1);
        if (!err)
            err = write_summary(&options, &input, &directories, &incomplete);
    }
    input_deinit(&input);
    free(directories.data);
    if (err)
        return options_fail(&options, err);
    options_deinit(&options);
    return incomplete ? CLI_UNDECIDED : CLI_FOUND;
}
