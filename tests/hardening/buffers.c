// SPDX-License-Identifier: Apache-2.0
/*
 * Buffers of many kinds in functions that keep frame words: each has branches and loops around real
 * calls. hit() may run over the buffer, and the canary has to notice when the function returns.
 */
#include "buffers.h"

#include <alloca.h>
#include <string.h>

static volatile int sink;

static int chars32(int n)
{
    char b[32];

    memset(b, 0, sizeof(b));
    for (int i = 0; i < n; i++)
        if (some(i) & 1)
            sink += some(i + 2);
        else
            hit(0, b, sizeof(b));
    return b[3];
}

static int chars_odd(int n)
{
    char b[13];

    b[0] = (char)n;
    if (some(n) > 2)
        hit(0, b, sizeof(b));
    else
        sink += some(1);
    return b[0] + some(n);
}

static int chars_small(int n)
{
    char b[5];

    b[0] = (char)n;
    while (some(n) > 0) {
        if (n == 2)
            hit(0, b, sizeof(b));
        n--;
    }
    return b[0];
}

static int integers(int n)
{
    int b[9];

    b[0] = n;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            sink += some(k);
        if (some(i) == 2)
            hit(0, b, sizeof(b));
    }
    return b[0];
}

static int doubles(int n)
{
    double b[4];

    b[0] = n;
    switch (some(n)) {
    case 1:
        sink = some(4);
        break;
    case 3:
        hit(0, b, sizeof(b));
        break;
    default:
        sink = some(5);
    }
    return (int)b[0] + some(1);
}

struct message {
    int length;
    char text[20];
    void *next;
};

static int in_struct(int n)
{
    struct message m = {.length = n};

    for (int i = 0; i < n; i++)
        if (some(i) == 1)
            hit(0, m.text, sizeof(m.text));
        else if (some(i) == 2)
            hit(1, &m, sizeof(m));
    return m.length + m.text[0];
}

union word {
    char text[24];
    long number[3];
};

static int in_union(int n)
{
    union word u;

    u.number[0] = n;
    do {
        if (some(n) & 1)
            hit(0, u.text, sizeof(u.text));
        else
            sink += some(n);
    } while (--n > 0);
    return (int)u.number[0];
}

static int several(int n)
{
    char first[16], second[40];
    int numbers[6];
    short small[3];
    char tiny[3];
    int alone = n;

    first[0] = second[0] = tiny[0] = (char)n;
    numbers[0] = small[0] = (short)n;
    for (int i = 0; i < n; i++) {
        if (some(i) == 0)
            hit(0, first, sizeof(first));
        else if (some(i) == 1)
            hit(1, second, sizeof(second));
        hit(2, numbers, sizeof(numbers));
        for (int k = i; k < n; k++)
            if (some(k) & 1)
                hit(3, small, sizeof(small));
        hit(4, tiny, sizeof(tiny));
        alone += some(i);
    }
    return alone + first[0] + second[0] + numbers[0] + small[0] + tiny[0];
}

static int matrix(int n)
{
    char lines[4][12];
    struct message list[2];

    memset(lines, 0, sizeof(lines));
    memset(list, 0, sizeof(list));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (some(i) < some(k))
                hit(0, lines, sizeof(lines));
            else
                hit(1, list, sizeof(list));
    return lines[1][1] + list[1].length;
}

static int variable(int n)
{
    char b[8 * n];

    b[0] = (char)n;
    for (int i = 0; i < n; i++)
        if (some(i) & 1)
            hit(0, b, sizeof(b));
        else
            sink += some(i);
    return b[0];
}

static int from_alloca(int n)
{
    char *b = alloca((size_t)some(24)), fixed[16];

    b[0] = fixed[0] = (char)n;
    if (some(n) > 2)
        hit(0, b, 24);
    else
        sink += some(2);
    hit(1, fixed, sizeof(fixed));
    return fixed[0] + some(3);
}

__attribute__((always_inline)) static inline int inner(int n, int first)
{
    char b[24];
    int numbers[4];

    b[0] = (char)n;
    numbers[0] = n;
    for (int i = 0; i < n; i++)
        if (some(i) == 1)
            hit(first, b, sizeof(b));
        else
            hit(first + 1, numbers, sizeof(numbers));
    return b[0] + numbers[0];
}

__attribute__((always_inline)) static inline int middle(int n, int first)
{
    char b[10];

    b[0] = (char)n;
    while (n-- > 0)
        if (some(n) & 1)
            sink += inner(n + 2, first);
        else
            hit(first + 2, b, sizeof(b));
    return b[0];
}

static int nested(int n)
{
    char b[17];

    b[0] = (char)n;
    for (int i = 0; i < n; i++)
        if (some(i) == 1)
            sink += middle(n, 0);
        else
            hit(3, b, sizeof(b));
    return b[0];
}

static int helper(int n)
{
    char b[11];

    b[0] = (char)n;
    if (some(n) > 1)
        hit(0, b, sizeof(b));
    return b[0];
}

// Inlined, or not, as the compiler likes.
static int twice(int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += helper(i) + helper(n - i);
    return sum;
}

static int aligned(int n)
{
    _Alignas(32) char b[32];
    _Alignas(64) int numbers[4];

    b[0] = (char)n;
    numbers[0] = n;
    for (int i = 0; i < n; i++)
        if (some(i) & 1)
            hit(0, b, sizeof(b));
        else
            hit(1, numbers, sizeof(numbers));
    return b[0] + numbers[0];
}

// Eight levels of loops: as many words as a function can have.
static int deep(int n)
{
    char b[21];

    b[0] = (char)n;
    for (int i = 0; i < some(1); i++)
        for (int j = 0; j < some(1); j++)
            for (int k = 0; k < some(1); k++)
                for (int l = 0; l < some(1); l++)
                    for (int m = 0; m < some(1); m++)
                        for (int o = 0; o < some(1); o++)
                            for (int p = 0; p < some(1); p++)
                                for (int q = 0; q < some(2); q++)
                                    if (some(q) > 0)
                                        hit(0, b, sizeof(b));
                                    else
                                        sink += some(q);
    return b[0];
}

// Many branches: words of 64 bits.
static int many(int n)
{
    char b[40];

    memset(b, n, sizeof(b));
#define FORK(bit)                                                                                  \
    if (some(n) & 1 << (bit))                                                                      \
        sink += some(bit);
#define FORKS(bit) FORK(bit) FORK((bit) + 1) FORK((bit) + 2) FORK((bit) + 3) FORK((bit) + 4)
    FORKS(0) FORKS(5) FORKS(10) FORKS(15) FORKS(20) if (some(n) == 3) hit(0, b, sizeof(b));
    return b[2] + some(2);
}

// Its address is known elsewhere: no array, but -fstack-protector-strong protects it.
static int escaped(int n)
{
    long value = n;

    for (int i = 0; i < n; i++)
        if (some(i) == 1)
            hit(0, &value, sizeof(value));
    return (int)value;
}

static int recursive(int n)
{
    char b[16];

    b[0] = (char)n;
    if (some(n) == 1)
        hit(0, b, sizeof(b));
    else if (some(n) > 1)
        sink += recursive(n - 1);
    return b[0];
}

const struct tried all_tried[] = {
    {"chars32", chars32},   {"chars_odd", chars_odd},     {"chars_small", chars_small},
    {"integers", integers}, {"doubles", doubles},         {"in_struct", in_struct},
    {"in_union", in_union}, {"several", several},         {"matrix", matrix},
    {"variable", variable}, {"from_alloca", from_alloca}, {"nested", nested},
    {"twice", twice},       {"aligned", aligned},         {"deep", deep},
    {"many", many},         {"escaped", escaped},         {"recursive", recursive},
    {NULL, NULL},
};
