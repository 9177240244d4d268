// SPDX-License-Identifier: Apache-2.0
// A trap that is no memory access: it may stand on either side of an update of the record.
// signal: SIGFPE
// expect: stack divide main
static volatile int sink;

__attribute__((noinline)) static int touch(int n)
{
    return sink = n;
}

__attribute__((noinline)) static int divide(int x, int n, int rounds)
{
    int sum = 0;

    for (int i = 0; i < rounds; i++) {
        if (i & 1)
            sum += touch(i);
        int q = x / (n - i);
        if (q > 3)
            sum += 2;
        sum += q;
    }
    return sum;
}

int main(void)
{
    return divide(100, 20, 4) + divide(100, 5, 9);
}
