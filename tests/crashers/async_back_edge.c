// SPDX-License-Identifier: Apache-2.0
// A signal between the end of one path and the jump back: the sum is the next path's already.
// truth: step 120
static volatile unsigned sink;

__attribute__((noinline)) static int look(int i)
{
    return i < 25;
}

__attribute__((noinline)) static unsigned walk(unsigned n)
{
    int i = 0;

    while (look(i)) {
        if (n > 1000)
            break;
        if (n & 1)
            n = n * 3 + 1;
        else if (n & 2)
            n /= 2;
        else
            n += 5;
        sink++;
        i++;
    }
    return n;
}

int main(void)
{
    sink += walk(7);
    return (int)walk(12) & 1;
}
