// SPDX-License-Identifier: Apache-2.0
// Fails before main.
// signal: SIGSEGV
// expect: stack set_up
// expect: coverage main work no
static volatile int sink;

__attribute__((noinline)) static int work(int n)
{
    return sink + n;
}

__attribute__((constructor)) static void set_up(void)
{
    for (int i = 0; i < 3; i++)
        work(i);
    *(volatile int *)16 = sink;
}

int main(void)
{
    return work(1);
}
