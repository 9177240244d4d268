// SPDX-License-Identifier: Apache-2.0
/*
 * Prints what variables hold that nobody has set: with -ftrivial-auto-var-init that is defined.
 */
#include <stdio.h>

struct pair {
    char tag;
    long value;
    int rest[3];
};

__attribute__((noinline)) static void show(const char *name, const volatile void *data, int size)
{
    printf("%s", name);
    for (int i = 0; i < size; i++)
        printf(" %02x", ((const volatile unsigned char *)data)[i]);
    printf("\n");
}

__attribute__((noinline)) static int dirty(int n)
{
    volatile long room[64];

    for (int i = 0; i < 64; i++)
        room[i] = n + i;
    return (int)room[n];
}

__attribute__((noinline)) static int look(int n)
{
    volatile int number;
    volatile char text[13];
    volatile struct pair pair;
    int sum = 0;

    for (int i = 0; i < n; i++) {
        volatile long inside[2];

        if (i & 1)
            show("inside", inside, sizeof(inside));
        else
            sum += dirty(i);
        inside[0] = inside[1] = i;
    }
    show("number", &number, sizeof(number));
    show("text", text, sizeof(text));
    show("pair", &pair, sizeof(pair));
    return sum;
}

int main(void)
{
    return (dirty(5) + look(4)) & 0;
}
