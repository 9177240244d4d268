// SPDX-License-Identifier: Apache-2.0
// inquest: finds the subcommand and calls it. One line a command in the table below.
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "common/error.h"
#include "common/version.h"

struct command {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *about;
};

static const struct command commands[] = {
    {"summary", cli_summary, "what happened: signal, threads, stack with source, paths"},
    {"run", cli_run, "run a program under ptrace, keep a core of its failure, then as above"},
    {"report", cli_report, "what is known of the failed run, as evidence JSON"},
    {"ask", cli_ask, "is there a run that fits the evidence and a query? With a proof"},
    {"coverage", cli_coverage, "yes, no or maybe for every line: did it run?"},
    {"slice", cli_slice, "what the failure may depend on, as source"},
    {"suspects", cli_suspects, "what predicts failure, from many sampled runs"},
    {"path", cli_path, "the path to the failure that touches the most telling places"},
    {"dump", cli_dump, "the model of a program as text"},
    {"tune", cli_tune, "switch recording on or off, function by function"},
    {"doctor", cli_doctor, "what on this machine would stop a core from being had"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static int print_usage(void)
{
    printf("usage: inquest EXE CORE              what happened\n"
           "       inquest COMMAND [ARGUMENTS]\n"
           "\n"
           "Post-mortem debugger for C programs built with inquest-cc.\n"
           "\n"
           "commands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].about);
    printf("  %-10s %s\n", "help", "help COMMAND tells more");
    printf("\n"
           "Exit status: 0 found, possible or done; 1 not found or impossible; 2 trouble;\n"
           "3 undecided within the time and memory allowed.\n"
           "\n"
           "example: inquest-cc -g -O2 -o prog prog.c && inquest doctor\n"
           "         inquest ./prog core\n");
    return CLI_FOUND;
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS + 2];
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    names[COMMANDS] = "help";
    names[COMMANDS + 1] = NULL;
    const char *nearest = options_nearest(name, names);
    struct error *err =
        nearest
            ? error_create(ERROR_USAGE,
                           "no command and no file is called '%s', did you mean 'inquest %s'?",
                           name, nearest)
            : error_create(ERROR_USAGE,
                           "no command and no file is called '%s' (see 'inquest --help')", name);
    error_print(err);
    error_destroy(err);
    return CLI_TROUBLE;
}

static int help(int argc, char **argv)
{
    if (argc < 2)
        return print_usage();
    const struct command *command = find_command(argv[1]);
    if (!command)
        return unknown_command(argv[1]);
    char *arguments[] = {argv[1], "--help", NULL};
    return command->main(2, arguments);
}

// Whether `inquest NAME ...` means the summary of a program called NAME: a path, or a file that is
// there. `inquest ./report core` is how to name a program that is called like a command.
static bool names_program(const char *name)
{
    return name[0] == '-' || strchr(name, '/') || access(name, F_OK) == 0;
}

static int summary_of(int argc, char **argv)
{
    argv[0] = "summary";
    return cli_summary(argc, argv);
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    if (argc < 2) {
        fprintf(stderr, "inquest: what to look at is missing (see 'inquest --help')\n");
        return CLI_TROUBLE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_usage();
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0) {
        printf("inquest %s\n", INQUEST_VERSION);
        return CLI_FOUND;
    }
    const struct command *command = find_command(argv[1]);
    if (command)
        return command->main(argc - 1, argv + 1);
    return names_program(argv[1]) ? summary_of(argc, argv) : unknown_command(argv[1]);
}
