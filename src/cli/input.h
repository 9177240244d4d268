// SPDX-License-Identifier: Apache-2.0
/*
 * EXE EVIDENCE... on a command line, with the options that say where to look for files.
 *
 *     struct input input = {0};
 *     const struct option_spec specs[] = {INPUT_SPECS(input), {0}};
 *     ...
 *     err = input_open(&input, exe, evidence_path);
 *     ... input.model, input.evidence ...
 *     input_deinit(&input);
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"

struct error;
struct evidence;
struct model;

struct input {
    struct option_values debug_directories;
    const char *sysroot;
    bool no_cache;

    struct model *model;
    struct evidence *evidence;
};

#define INPUT_SPECS(input)                                                                         \
    {"debug-dir", 0,                                                                               \
     "DIR",       "look for separate debug files in DIR, too",                                     \
     OPTION_MANY, &(input).debug_directories},                                                     \
        {"sysroot",       0, "DIR", "the program's libraries are under DIR", OPTION_TEXT,          \
         &(input).sysroot},                                                                        \
    {                                                                                              \
        "no-cache", 0, NULL, "read the model anew", OPTION_FLAG, &(input).no_cache                 \
    }

// Replaces what was opened before. On failure nothing is open.
struct error *input_open(struct input *input, const char *executable, const char *path);
// The same with several files of evidence, of one run.
struct error *input_open_all(struct input *input, const char *executable, const char *const *paths,
                             size_t count);
void input_deinit(struct input *input);

// The texts of the values, NULL-terminated, to be freed; NULL when there are none.
const char **option_values_texts(const struct option_values *values);

#endif
