// SPDX-License-Identifier: Apache-2.0
// A cycle of a musttail call, in a function without optimisation, and of one made by the optimiser.
// opt: -O2
// build: -finquest=none
// build: -finquest-exclude=plain
// signal: SIGSEGV
// expect: stack plain main
// expect: gap plain
volatile int place = 16, sink;

int plain(int value);
int quick(int value);

__attribute__((noinline)) static void note(int value)
{
    sink += value;
}

__attribute__((noinline, optnone)) int plain(int value)
{
    if (value == 0)
        return *(volatile int *)(long)place;
    note(value);
    __attribute__((musttail)) return quick(value - 1);
}

__attribute__((noinline)) int quick(int value)
{
    note(value);
    return plain(value - 1);
}

int main(void)
{
    return plain(2) + 1;
}
