// SPDX-License-Identifier: Apache-2.0
// Two files; a callback of qsort; a structure in main's frame that others write to.
#include "sorter.h"

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    L;
    if (x->rank == y->rank) {
        L;
        CRASH;
        return 0;
    }
    return x->rank < y->rank ? -1 : 1;
}

int main(void)
{
    struct list list = {.count = 0};

    L;
    for (int i = 0; i < 7; i++) {
        L;
        if (list_add(&list, i * 37 % 5) > 5)
            L;
    }
    qsort(list.entries, (size_t)list.count, sizeof(list.entries[0]), compare);
    for (int round = 0; round < 3; round++) {
        L;
        if (list_check(&list, round)) {
            L;
            STRAY(0, list.entries);
            CRASH;
        } else {
            L;
            list_add(&list, round);
        }
    }
    CRASH;
    return 0;
}
