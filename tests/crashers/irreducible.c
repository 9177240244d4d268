// SPDX-License-Identifier: Apache-2.0
// Loops with two entries, and nested ones.
// signal: SIGSEGV
static volatile int sink;

__attribute__((noinline)) static int touch(int n)
{
    return sink += n;
}

__attribute__((noinline)) static int tangled(int n, const int *p)
{
    int i = 0;

    if (n & 1)
        goto middle;
top:
    i += 2;
    touch(i);
    if (i > 30)
        return p[i];
middle:
    i++;
    if (i % 3 == 0)
        goto inside;
    while (i % 5) {
        i++;
    inside:
        sink--;
        if (i % 7 == 0)
            goto top;
    }
    goto top;
}

int main(void)
{
    return tangled(1, &(int){0}) + tangled(2, (const int *)16);
}
