// SPDX-License-Identifier: Apache-2.0
// first() is called through a pointer, and replaced by second(): the call that waits names neither.
// Without optimisation debug information has no tail calls.
// opt: -O0 -O2
// build: -finquest=none
// build: -finquest-exclude=first
// build: off=first
// signal: SIGSEGV
// expect: first second
// expect: gap second
typedef int step(int value);

static step first, second;
static step *volatile steps[] = {first, second};
static volatile int sink;

__attribute__((noinline)) static void note(int value)
{
    sink += value;
}

static int second(int value)
{
    return *(volatile int *)(long)value;
}

static int first(int value)
{
    note(value);
    __attribute__((musttail)) return steps[1](value + 8);
}

__attribute__((noinline)) static int run(int value)
{
    return steps[0](value) + 1;
}

int main(void)
{
    return run(8);
}
