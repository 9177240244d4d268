// SPDX-License-Identifier: Apache-2.0
// The kernel, without libc: a system call gives its result, or minus an error number.
#ifndef RUNTIME_SYSTEM_H
#define RUNTIME_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long system_call_3(long number, long a, long b, long c)
{
    return system_call(number, a, b, c, 0, 0, 0);
}

#endif
