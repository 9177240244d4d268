// SPDX-License-Identifier: Apache-2.0
#include "sorter.h"

static int totals[4];

__attribute__((noinline)) static int tally(int rank)
{
    char marks[10] = {0};

    for (int i = 0; i < rank; i++) {
        L;
        marks[i] = 1;
        if (i == 2) {
            L;
            STRAY(1, marks);
            CRASH;
        }
    }
    totals[rank & 3]++;
    return marks[0] + totals[rank & 3];
}

int list_add(struct list *list, int rank)
{
    L;
    list->entries[list->count] = (struct entry){rank, list->count};
    list->count++;
    if (list->count > 4) {
        L;
        STRAY(2, list->entries);
        CRASH;
    }
    return tally(rank);
}

int list_check(struct list *list, int round)
{
    int seen[4] = {0}, wrong = 0;

    for (int i = 1; i < list->count; i++) {
        L;
        seen[list->entries[i].rank & 3]++;
        if (list->entries[i - 1].rank > list->entries[i].rank) {
            L;
            wrong++;
        }
        for (int k = 0; k < round; k++) {
            L;
            if (seen[k] > 1) {
                L;
                STRAY(3, seen);
                CRASH;
                break;
            }
        }
    }
    STRAY(4, totals);
    CRASH;
    return wrong == 0 && round != 1;
}
