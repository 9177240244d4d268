// SPDX-License-Identifier: Apache-2.0
// Arguments in memory: structs by value through pointers to functions, lists that are passed on.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct big {
    long value, weight, rest[6];
};

static char line[64];

static void format(const char *form, ...)
{
    va_list list;
    va_start(list, form);
    vsnprintf(line, sizeof(line), form, list); // in, writes global line
    va_end(list);
}

static long last_of(va_list *list, int count)
{
    struct big big = {0};                // out
    for (int i = 0; i < count; i++)      // in
        big = va_arg(*list, struct big); // in
    return big.value;                    // in
}

static long total(int count, ...)
{
    va_list list;
    va_start(list, count);
    long value = last_of(&list, count); // in
    va_end(list);
    return value; // in
}

static long value_of(struct big big)
{
    return big.value; // in
}

static long weight_of(struct big big)
{
    return big.weight; // in
}

int main(int argc, char **argv)
{
    long (*table[])(struct big) = {value_of, weight_of};
    struct big *boxed = malloc(sizeof(*boxed));
    struct big first = {.value = argc + 2}, second = {.value = argc + 3};
    (void)argv;
    boxed->value = argc + 10;                    // in, writes heap
    boxed->weight = argc + 11;                   // in, writes heap
    long sum = table[argc](*boxed);              // in
    sum += table[argc - 1](*boxed);              // in
    boxed->value = 0;                            // out
    format("%ld and %s", sum, argc ? "1" : "2"); // in
    sum = atol(line) + total(2, first, second);  // in
    *(volatile long *)sum                        // in
        = 0;
    return 0;
}
