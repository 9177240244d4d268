// SPDX-License-Identifier: Apache-2.0
// Called back from a library, which stands between the frames.
// signal: SIGSEGV
// expect: stack compare sort_all main
#include <stdlib.h>

static volatile int calls;

static int compare(const void *a, const void *b)
{
    const int *const *x = a, *const *y = b;

    calls++;
    if (**x != **y)
        return **x < **y ? -1 : 1;
    return 0;
}

__attribute__((noinline)) static void sort_all(const int **items, size_t count)
{
    if (count > 1)
        qsort(items, count, sizeof(*items), compare);
    calls = 0;
}

int main(void)
{
    int values[] = {5, 3, 9, 1, 7};
    const int *items[] = {&values[0], &values[1], &values[2], &values[3], &values[4]};

    sort_all(items, 5);
    items[3] = (const int *)16;
    sort_all(items, 5);
    return calls;
}
