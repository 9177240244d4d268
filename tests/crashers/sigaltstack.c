// SPDX-License-Identifier: Apache-2.0
// The same on a stack of its own.
// signal: SIGABRT
// expect: stack handler deep deep deep deep main
// expect: signal-frame
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>

static volatile int sink;

static void handler(int number, siginfo_t *info, void *context)
{
    (void)context;
    sink += number;
    if (info->si_addr)
        abort();
    sink = 0;
}

__attribute__((noinline)) static int deep(int n)
{
    if (n == 0)
        return *(volatile int *)16;
    sink++;
    return deep(n - 1) / 2 + n; // divided: what only adds to it can be made a loop
}

int main(void)
{
    static char room[65536];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_ONSTACK | SA_SIGINFO};

    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    return deep(3);
}
