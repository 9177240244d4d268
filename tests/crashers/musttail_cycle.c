// SPDX-License-Identifier: Apache-2.0
// even() is called by its name and runs, but it has been replaced by odd() and come back.
// opt: -O0 -O2
// build: -finquest=none
// build: -finquest-exclude=even
// build: off=even
// signal: SIGSEGV
// expect: stack even main
// expect: gap even
volatile int place = 16, sink;

int odd(int value);
int even(int value);

__attribute__((noinline)) static void note(int value)
{
    sink += value;
}

__attribute__((noinline)) int even(int value)
{
    if (value == 0)
        return *(volatile int *)(long)place;
    note(value);
    __attribute__((musttail)) return odd(value - 1);
}

__attribute__((noinline)) int odd(int value)
{
    note(value);
    __attribute__((musttail)) return even(value - 1);
}

int main(void)
{
    return even(2) + 1;
}
