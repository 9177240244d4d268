// SPDX-License-Identifier: Apache-2.0
/*
 * Command lines: one table a command gives its parsing, its --help and the suggestions for what was
 * misspelt. The options that every command takes (--json, --quiet, --time, --memory, -v, --help)
 * are not in the table.
 *
 *     const char *output = NULL;
 *     const struct option_spec specs[] = {
 *             {"output", 'o', "FILE", "write to FILE", OPTION_TEXT, &output}, {0}};
 *     const struct command_help help = {"report", "EXE CORE [-o FILE]", "...", "...", specs};
 *     struct options options;
 *     struct error *err = options_parse(&options, &help, argc, argv);
 *     if (err)
 *             return options_fail(&options, err);      // one line, exit status 2
 *     if (options.help)
 *             return CLI_FOUND;                        // it has been printed
 *     ... options.arguments[0 .. options.argument_count - 1] ...
 *     options_deinit(&options);
 *
 * Options may stand anywhere before "--"; `--name=VALUE`, `--name VALUE`, `-oVALUE` and `-o VALUE`
 * are the same. Unless help.stop_at_first, arguments and options may be mixed.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/budget.h"

struct error;

enum option_kind {
    OPTION_FLAG, // target: bool, set to true
    OPTION_TEXT, // target: const char *, borrowed from argv; the last one counts
    OPTION_MANY, // target: struct option_values, every one in order
};

struct option_spec {
    const char *name;  // without the dashes; NULL ends the table
    char letter;       // or 0
    const char *value; // what the value is called in --help; NULL for flags
    const char *about; // in --help
    enum option_kind kind;
    void *target;
};

// Values of OPTION_MANY. Several options may share one: `name` tells which it was.
struct option_value {
    const char *name; // the option's
    const char *text; // borrowed from argv
};
struct option_values {
    struct option_value *data; // to be freed
    size_t count;
};

#define OPTIONS_ANY SIZE_MAX

struct command_help {
    const char *name;
    const char *usage;   // behind "inquest NAME"; several lines are separated by '\n'
    const char *about;   // a paragraph or two
    const char *example; // a command line or several
    const struct option_spec *specs;
    bool stop_at_first; // options end at the first argument, as for `run -- CMD`
    size_t least, most; // how many arguments; OPTIONS_ANY: any number
};

struct options {
    bool json, quiet, help;
    unsigned verbose;       // how many -v
    double seconds;         // --time; 0: no limit
    uint64_t bytes;         // --memory; 0: no limit
    const char **arguments; // borrowed strings
    size_t argument_count;
    const char *command;
};

// `options` is to be deinitialised in any case. With --help the text is printed to stdout.
struct error *options_parse(struct options *options, const struct command_help *help, int argc,
                            char **argv);
void options_deinit(struct options *options);

// Prints the error, and for a wrong command line where to find help; frees both. Gives 2.
int options_fail(struct options *options, struct error *err);

// The budget that --time and --memory give, starting now.
void options_budget(const struct options *options, struct budget *budget);

// The name of `names` (NULL-terminated) that `text` was probably meant to be, or NULL.
const char *options_nearest(const char *text, const char *const *names);

#endif
