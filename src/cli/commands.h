// SPDX-License-Identifier: Apache-2.0
/*
 * The subcommands: one file each, src/cli/NAME.c, one line each in main.c's table.
 *
 *     int cli_path(int argc, char **argv);
int cli_report(int argc, char **argv)     // argv[0] is "report", its arguments follow
 *
 * The result is the exit status.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

// As grep has them.
enum cli_status {
    CLI_FOUND = 0,     // found, possible, done
    CLI_NOT_FOUND = 1, // not found, impossible
    CLI_TROUBLE = 2,   // bad input, said in one line on stderr
    CLI_UNDECIDED = 3, // the budget was spent before the answer
};

int cli_ask(int argc, char **argv);
int cli_coverage(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_dump(int argc, char **argv);
int cli_path(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_slice(int argc, char **argv);
int cli_summary(int argc, char **argv);
int cli_suspects(int argc, char **argv);
int cli_tune(int argc, char **argv);

#endif
