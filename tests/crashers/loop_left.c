// SPDX-License-Identifier: Apache-2.0
// A loop without calls is recorded as one unit; that it was left at its header is no second visit of it.
// signal: SIGSEGV
// expect: first last
#include <stddef.h>

struct cell {
    struct cell *next;
    int value;
};

static int *volatile nowhere;

__attribute__((noinline)) static int last(const struct cell *cell)
{
    return cell->value + *nowhere;
}

// The inner loop's body does not run: the list has one cell.
__attribute__((noinline)) static int add(const struct cell *cell, int depth)
{
    if (depth == 0)
        return last(cell);
    while (cell->next)
        cell = cell->next;
    return add(cell, depth - 1) + 1;
}

int main(void)
{
    struct cell cell = {NULL, 1};

    return add(&cell, 2);
}
