// SPDX-License-Identifier: Apache-2.0
// Memory of the heap: a list, an array that moves when it grows, and sorting with a function of the
// program's own.
#include <stdlib.h>

struct item {
    struct item *next;
    int key, weight;
};

static struct item *push(struct item *list, int key)
{
    struct item *item = malloc(sizeof(*item)); // in
    item->next = list;                         // in, writes heap
    item->key = key;                           // in
    item->weight = key * 3;                    // out, writes heap
    return item;                               // in
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b; // in
}

int main(int argc, char **argv)
{
    struct item *list = NULL; // out: the last element is not looked at
    int *numbers = malloc(8); // in
    (void)argv;
    list = push(list, argc + 40);        // in
    list = push(list, argc + 6);         // in
    numbers[0] = list->next->key;        // in
    numbers[1] = list->key;              // in, writes heap
    int *freed = malloc(16);             // out, though it is in the way: realloc has to move
    numbers = realloc(numbers, 1 << 20); // in
    numbers[2] = 30;                     // in, writes heap
    numbers[3] = 31;                     // out: beyond what is sorted
    qsort(numbers, 3,                    // in
          sizeof(int), compare);
    free(freed);                 // out
    int value = numbers[0];      // in, writes local
    *(volatile int *)(long)value // in
        = 1;
    return 0;
}
