// SPDX-License-Identifier: Apache-2.0
// print() is replaced by a function of the C library, which crashes.
// opt: -O0 -O2
// build: -finquest=none
// build: off=print
// signal: SIGSEGV
// expect: stack run main
#include <stdio.h>

typedef int printer(const char *text);

static volatile int sink;

__attribute__((noinline)) static void note(int value)
{
    sink += value;
}

__attribute__((noinline)) static int print(const char *text)
{
    note(1);
    __attribute__((musttail)) return puts(text);
}

static printer *volatile pointer = print;

__attribute__((noinline)) static int run(int by_pointer)
{
    const char *bad = (const char *)16;

    if (by_pointer)
        return pointer(bad) + 1;
    return print(bad) + 2;
}

int main(int argc, char **argv)
{
    (void)argv;
    return run(argc > 1) + 1;
}
