// SPDX-License-Identifier: Apache-2.0
// A static program, not position independent.
// ldflags: -static -no-pie
// cflags: -fno-pie
// signal: SIGABRT
// expect: stack check main
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int check(int n)
{
    if (n > 3)
        abort();
    return n + 1;
}

int main(void)
{
    int n = 0;

    while (n >= 0) {
        n = check(n);
        printf("%d\n", n);
    }
    return 0;
}
