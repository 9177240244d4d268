// SPDX-License-Identifier: Apache-2.0
// The fault is inside libc, in code without frames of its own.
// cflags: -fno-builtin
// signal: SIGSEGV
// expect: stack measure main
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static size_t measure(const char *const *texts)
{
    size_t sum = 0;

    for (; *texts; texts++) {
        sum += strlen(*texts);
        printf("%zu\n", sum);
    }
    return sum;
}

int main(void)
{
    const char *texts[] = {"one", "three", (const char *)16, NULL};

    return (int)measure(texts);
}
