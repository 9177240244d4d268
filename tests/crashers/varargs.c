// SPDX-License-Identifier: Apache-2.0
// Variable arguments: registers are saved at entry, before anything is recorded.
// signal: SIGSEGV
// expect: stack total report main
#include <stdarg.h>
#include <stdio.h>

__attribute__((noinline)) static long total(int count, va_list arguments)
{
    long sum = 0;

    for (int i = 0; i < count; i++) {
        const long *item = va_arg(arguments, const long *);

        sum += item ? *item : 1;
    }
    return sum;
}

__attribute__((noinline)) static long report(const char *format, int count, ...)
{
    va_list arguments;

    va_start(arguments, count);
    long sum = total(count, arguments);
    va_end(arguments);
    printf(format, sum, (double)sum);
    return sum;
}

int main(void)
{
    long one = 1, two = 2;

    report("%ld %f\n", 2, &one, &two);
    report("%ld %f\n", 5, &one, (long *)0, &two, (long *)16, 2.5);
    return 0;
}
