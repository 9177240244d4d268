// SPDX-License-Identifier: Apache-2.0
// Pointers that come by other ways than assignment: as numbers, byte by byte, from a member to its
// struct.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct link {
    struct link *next;
};

struct item {
    long value;
    struct link link;
};

union either {
    long *pointer;
    uintptr_t number;
    unsigned char bytes[sizeof(long *)];
};

static struct link *head;
static long grid[3][4];

static void add(struct item *item)
{
    item->link.next = head; // in, writes heap
    head = &item->link;     // in, writes global head
}

static struct item *nth(int n)
{
    struct link *link = head;                                           // in
    while (n-- > 0)                                                     // in
        link = link->next;                                              // in
    return (struct item *)((char *)link - offsetof(struct item, link)); // in
}

static void copy(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size; i++)              // in
        ((char *)to)[i] = ((const char *)from)[i]; // in
}

int main(int argc, char **argv)
{
    union either one, two;
    long a = argc + 1, b = argc + 2;
    (void)argv;
    for (int i = 0; i < 3; i++) {                  // in
        struct item *item = malloc(sizeof(*item)); // in
        item->value = argc + i;                    // in, writes heap
        add(item);                                 // in
    }
    one.pointer = &a;                              // in
    for (size_t i = 0; i < sizeof(one.bytes); i++) // in
        two.bytes[i] = one.bytes[i];               // in
    *two.pointer = nth(1)->value;                  // in, writes local
    uintptr_t number = (uintptr_t)&b ^ 1;          // in
    *(long *)(number ^ 1) += a;                    // in, writes local
    long *cell = &grid[0][0] + 4 * argc;           // in
    cell[2] = b;                                   // in, writes global grid
    long kept[4] = {0};                            // out
    copy(kept, grid[argc], sizeof(kept));          // in
    grid[argc][2] = 0;                             // out
    *(volatile long *)(kept[2] + 1)                // in
        = 0;
    return 0;
}
