// SPDX-License-Identifier: Apache-2.0
// Calls that must be tail calls, between functions of one signature: each replaces its caller.
// signal: SIGSEGV
// expect: stack accept main
#include <stddef.h>

typedef int state(const char *text, long count);

static state start, number, word, accept;
static volatile long sink;

__attribute__((noinline)) static int accept(const char *text, long count)
{
    sink = count;
    return *(volatile int *)(text ? (char *)16 : NULL);
}

__attribute__((noinline)) static int number(const char *text, long count)
{
    if (*text >= '0' && *text <= '9')
        __attribute__((musttail)) return number(text + 1, count + 1);
    __attribute__((musttail)) return start(text, count);
}

__attribute__((noinline)) static int word(const char *text, long count)
{
    if (*text >= 'a' && *text <= 'z')
        __attribute__((musttail)) return word(text + 1, count + 1);
    __attribute__((musttail)) return start(text, count);
}

__attribute__((noinline)) static int start(const char *text, long count)
{
    switch (*text) {
    case '\0':
        __attribute__((musttail)) return accept(text, count);
    case '0' ... '9':
        __attribute__((musttail)) return number(text, count);
    case 'a' ... 'z':
        __attribute__((musttail)) return word(text, count);
    default:
        __attribute__((musttail)) return start(text + 1, count);
    }
}

int main(void)
{
    return start("12 ab3 x 400 zz", 0) + 1;
}
