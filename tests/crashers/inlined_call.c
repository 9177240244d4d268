// SPDX-License-Identifier: Apache-2.0
// Inlined functions of one straight line, stopped inside the call they end with or never leave.
// signal: SIGABRT
// expect: stack report stop_with check main
// expect: call stop_with report yes
// expect: call check stop_with yes
#include <stdlib.h>

static volatile int sink;
static const char *volatile message;

__attribute__((noinline)) static void report(int n)
{
    if (n > 2)
        abort();
    sink += n;
}

static inline void stop_with(const char *text)
{
    message = text;
    report(3);
}

static inline void note(const char *text)
{
    message = text;
    report(1);
}

__attribute__((noinline)) static void check(int n)
{
    if (n < 0)
        note("negative");
    note("first");
    stop_with("last");
}

int main(int argc, char **argv)
{
    (void)argv;
    check(argc);
    return 0;
}
