// SPDX-License-Identifier: Apache-2.0
#ifndef SORTER_H
#define SORTER_H

#include "../stray.h"

#include <stdlib.h>

struct entry {
    int rank, number;
};

struct list {
    int count;
    struct entry entries[12];
};

int list_add(struct list *list, int rank);
int list_check(struct list *list, int round);

#endif
