// SPDX-License-Identifier: Apache-2.0
// The second unit of weak.c.
static volatile int sink;

__attribute__((noinline)) int chosen(const int *p, int n)
{
    for (int i = 0; i < n; i++)
        if (i & 1)
            sink++;
    return n > 1 ? *p : n;
}
