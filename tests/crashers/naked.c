// SPDX-License-Identifier: Apache-2.0
// A naked function has no place for a record; a call goes through it.
// signal: SIGSEGV
// expect: stack target main
// expect: candidates main exact
static volatile int sink;

__attribute__((noinline, used)) static int target(int n)
{
    if (n > 3)
        return *(volatile int *)16;
    return sink + n;
}

__attribute__((naked, noinline)) static int through(int n)
{
    __asm__("jmp target");
}

int main(void)
{
    int sum = through(2);

    return sum + through(5);
}
