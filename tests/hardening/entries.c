// SPDX-License-Identifier: Apache-2.0
/*
 * Places that an indirect jump may come to (-fcf-protection), and frames of many pages
 * (-fstack-clash-protection).
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static volatile int sink;
static jmp_buf place;

int exported(int n);
int large(int n);
int near_page(int n);
int dynamic(int n);
int returns_twice(int n);
int by_table(int n);
int computed(int n);

__attribute__((noinline)) static int direct_only(int n)
{
    if (n > 3)
        sink += exported(n - 1);
    return sink;
}

static int taken(int n)
{
    for (int i = 0; i < n; i++)
        if (i & 1)
            sink += direct_only(i);
    return sink;
}

int exported(int n)
{
    return n > 2 ? direct_only(n) : taken(n);
}

static int (*const table[])(int) = {taken,   exported,      large,    near_page,
                                    dynamic, returns_twice, by_table, computed};

int returns_twice(int n)
{
    if (setjmp(place) == 0) {
        if (n > 1)
            longjmp(place, 1);
        return taken(n);
    }
    return exported(n);
}

int by_table(int n)
{
    switch (n) {
    case 0:
        return taken(1);
    case 1:
        return exported(2);
    case 2:
        sink = 7;
        break;
    case 3:
        return direct_only(4);
    case 4:
        sink = 8;
        return taken(0);
    case 5:
        return exported(0);
    default:
        sink = 9;
    }
    return direct_only(n & 1);
}

int computed(int n)
{
    static const void *const labels[] = {&&first, &&second, &&third};

    goto *labels[n % 3];
first:
    sink += exported(1);
second:
    sink += taken(1);
third:
    return direct_only(n & 3);
}

int large(int n)
{
    char room[20000];

    memset(room, n, sizeof(room));
    for (int i = 0; i < n; i++)
        if (room[i] > 1)
            sink += taken(1);
        else
            sink += exported(1);
    return room[n];
}

// Less than a page without frame words, more with them.
int near_page(int n)
{
    char room[4080];

    memset(room, n, sizeof(room));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (room[k] > 1)
                sink += taken(1);
            else
                sink += exported(1);
    return room[n];
}

int dynamic(int n)
{
    char *room = alloca((size_t)n * 3000);

    memset(room, n, (size_t)n * 3000);
    for (int i = 0; i < n; i++)
        if (room[i] > 1)
            sink += taken(1);
    return room[n];
}

int main(int argc, char **argv)
{
    int sum = 0;

    for (int i = 0; i < 8; i++)
        sum += table[i](argc + 2);
    printf("%d %s\n", sum, argc > 1 ? argv[1] : "");
    return 0;
}
