// SPDX-License-Identifier: Apache-2.0
// Structures: copied whole, passed and returned by value. Each field goes its own way.
#include <string.h>

struct pair {
    long left, right;
    long more[6];
};

struct small {
    int x, y;
};

static struct pair filled(long l, long r)
{
    struct pair p;
    memset(&p, 0, sizeof(p)); // out: both fields are set
    p.left = l;               // out
    p.right = r;              // in
    return p;
}

static long right_of(struct pair p)
{
    p.left = 0;     // out
    return p.right; // in
}

static struct small small_of(int x)
{
    struct small s;
    s.x = x;      // in
    s.y = x + 99; // in: one register holds both
    return s;     // in
}

int main(int argc, char **argv)
{
    struct pair a = filled(argc + 70, // in: the call; that argument is not
                           argc);     // in
    struct pair b;
    struct small s;
    (void)argv;
    a.more[2] = 5;               // out
    b = a;                       // in, writes local
    b.left = 4;                  // out
    memcpy(&a, &b, sizeof(a));   // in
    b.right = 8;                 // out
    s = small_of(3);             // in
    *(volatile int *)(long)      // in
        (right_of(a) + s.x) = 0; // in
    return 0;
}
