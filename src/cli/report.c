// SPDX-License-Identifier: Apache-2.0
// `inquest report EXE EVIDENCE... [-o F]`: what is known of the failed run, as evidence JSON.
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/options.h"
#include "common/error.h"
#include "common/file.h"
#include "evidence/evidence.h"

static const char about[] =
    "Writes what is known of the failed run as evidence JSON (docs/formats/evidence.md), which "
    "every\n"
    "command reads in place of the core. It holds control flow only, no memory contents, so that "
    "it\n"
    "can be shared where a core cannot; the command line and file names are in it.";

static struct error *write_file(const struct evidence *evidence, const char *path)
{
    _cleanup_file_writer_ struct file_writer writer = {NULL, NULL, NULL};
    struct error *err = file_writer_init(&writer, path, 0666);
    if (err)
        return err;
    err = evidence_write_json(evidence, writer.stream);
    return err ? error_in_file(err, path) : file_writer_commit(&writer);
}

int cli_report(int argc, char **argv)
{
    struct input input = {0};
    const char *output = NULL;
    const struct option_spec specs[] = {
        {"output", 'o', "FILE", "write to FILE (the default is standard output)", OPTION_TEXT,
         &output},
        INPUT_SPECS(input),
        {0},
    };
    const struct command_help help = {.name = "report",
                                      .usage = "EXE EVIDENCE... [-o FILE] [OPTIONS]",
                                      .about = about,
                                      .example = "inquest report ./prog core -o report.json\n"
                                                 "inquest ./prog report.json",
                                      .specs = specs,
                                      .least = 2,
                                      .most = OPTIONS_ANY};
    struct options options;
    struct error *err = options_parse(&options, &help, argc, argv);
    if (!err && !options.help) {
        err = input_open_all(&input, options.arguments[0], options.arguments + 1,
                             options.argument_count - 1);
        if (!err && output && strcmp(output, "-") != 0)
            err = write_file(input.evidence, output);
        else if (!err)
            err = evidence_write_json(input.evidence, stdout);
    }
    input_deinit(&input);
    if (err)
        return options_fail(&options, err);
    options_deinit(&options);
    return CLI_FOUND;
}
