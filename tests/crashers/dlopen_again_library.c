// SPDX-License-Identifier: Apache-2.0
// The library of dlopen_again.c and library_needed.c.
static volatile int sink;
int library_work(int value);
int library_crash(int value);

__attribute__((noinline)) static int library_note(int value)
{
    sink += value;
    return value;
}

int library_work(int value)
{
    return value ? library_note(value) + 1 : 0;
}

int library_crash(int value)
{
    int sum = library_note(value);

    return sum + *(volatile int *)(long)value;
}
