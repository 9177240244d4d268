// SPDX-License-Identifier: Apache-2.0
#include "folded_unrolled.h"

#include <stddef.h>
#include <stdio.h>

int has(int count)
{
    struct list *at = first;

    while (at != NULL && count > 0) {
        at = at->next;
        count--;
    }
    if (count > 0) {
        puts("too few");
        return 0;
    }
    return 1;
}

int value(const struct list *list)
{
    return list != NULL && list->value;
}
