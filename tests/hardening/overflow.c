// SPDX-License-Identifier: Apache-2.0
/*
 * Measures how far each buffer is from the canary, by running over it: for every function and
 * buffer the program forks, with one byte more each time, until the child dies. Prints lines
 *
 *     FUNCTION BUFFER abort N        the first N bytes past its end that end with "stack smashing
 * detected" FUNCTION BUFFER signal S N     died of another signal first: no canary, or something
 * before it FUNCTION BUFFER survives       nothing happened up to the limit
 */
#include "buffers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 400, MOST_BUFFERS = 8 };

enum { WILD = 3, MOST_CALLS = 1000 }; // exit status; calls that a function makes at most

static int chosen, seen, past, calls;
static int is_child; // a return address that was half overwritten may lead back to here

static void count_call(void)
{
    if (calls++ > MOST_CALLS)
        _exit(WILD);
}

void hit(int which, void *buffer, size_t size)
{
    count_call();
    seen |= 1 << which;
    if (which == chosen)
        memset(buffer, 'A', size + (size_t)past);
}

int some(int value)
{
    count_call();
    return value;
}

static void die_trying(const struct tried *tried, int message)
{
    struct rlimit none = {0, 0}, second = {1, 1};

    is_child = 1;
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &second);
    dup2(message, STDERR_FILENO);
    tried->function(3);
    _exit(0);
}

// The signal that ended it, 0 for none, -1 if it went wild; whether it said that the stack was
// smashed.
static int outcome(const struct tried *tried, int *smashed)
{
    int ends[2], status;
    char text[200];

    if (is_child)
        _exit(WILD);
    if (pipe(ends) != 0)
        exit(2);
    calls = 0;
    pid_t child = fork();
    if (child == 0)
        die_trying(tried, ends[1]);
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof(text) - 1);
    text[length > 0 ? length : 0] = 0;
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(2);
    *smashed = strstr(text, "stack smashing detected") != NULL;
    if (WIFEXITED(status))
        return WEXITSTATUS(status) ? -1 : 0;
    return WTERMSIG(status);
}

static void measure(const struct tried *tried)
{
    int smashed, number;

    for (past = 0; past <= LIMIT; past++) {
        number = outcome(tried, &smashed);
        if (number == 0)
            continue;
        if (number == SIGABRT && smashed)
            printf("%s %d abort %d\n", tried->name, chosen, past);
        else if (number < 0)
            printf("%s %d wild %d\n", tried->name, chosen, past);
        else
            printf("%s %d signal %d %d\n", tried->name, chosen, number, past);
        return;
    }
    printf("%s %d survives\n", tried->name, chosen);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const struct tried *tried = all_tried; tried->name; tried++) {
        chosen = -1;
        seen = calls = 0;
        tried->function(3);
        int there = seen;
        for (chosen = 0; chosen < MOST_BUFFERS; chosen++)
            if (there & 1 << chosen)
                measure(tried);
    }
    return 0;
}
