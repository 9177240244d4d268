// SPDX-License-Identifier: Apache-2.0
// A function without an exit: a loop for ever, ended by a signal from outside.
// truth: none
// kill: SIGQUIT
// signal: SIGQUIT
// expect: stack spin main
// expect: call main never no
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static void never(void)
{
    sink = 0;
}

__attribute__((noinline, noreturn)) static void spin(void)
{
    for (;;) {
        if (sink & 1)
            sink += 3;
        else
            sink++;
        if (sink == 4001 && write(1, "ready\n", 6) != 6)
            sink = 0;
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 5)
        never();
    spin();
}
