// SPDX-License-Identifier: Apache-2.0
// Arguments beyond the fixed ones, in registers and in memory.
#include <stdarg.h>

static long nth(int n, ...)
{
    va_list list;
    long value = 0;                // out
    va_start(list, n);             // in
    for (int i = 0; i < n; i++)    // in
        value = va_arg(list, int); // in
    va_end(list);                  // out
    return value;                  // in
}

int main(int argc, char **argv)
{
    int one = argc + 1;   // out
    int two = argc + 2;   // in
    int seven = argc + 3; // in
    int eight = argc + 4; // out
    (void)argv;
    long a = nth(2, one, two);                         // in
    long b = nth(7, one, 0, 0, 0, 0, 0, seven, eight); // in
    long c = nth(1, one);                              // out
    *(volatile long *)(a + b)                          // in
        = 0;
    return (int)c;
}
