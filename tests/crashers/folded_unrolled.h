// SPDX-License-Identifier: Apache-2.0
struct list {
    struct list *next;
    int value;
};

extern struct list *first;

int has(int count);
int value(const struct list *list);
