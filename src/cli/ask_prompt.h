// SPDX-License-Identifier: Apache-2.0
/*
 * Reads queries line by line: from a terminal with editing, history and completion of function and
 * file names, otherwise plainly. Empty lines and lines that begin with '#' are skipped; "quit" ends
 * it.
 */
#ifndef CLI_ASK_PROMPT_H
#define CLI_ASK_PROMPT_H

struct error;
struct model;

struct error *ask_prompt(const struct model *model, void (*line)(void *context, const char *text),
                         void *context);

#endif
