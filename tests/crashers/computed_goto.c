// SPDX-License-Identifier: Apache-2.0
// An interpreter with a table of label addresses: indirectbr, blockaddress in static data.
// signal: SIGSEGV
#include <stdio.h>

enum { PUSH, ADD, DUP, JNZ, LOAD, STOP };

__attribute__((noinline)) static long interpret(const int *code)
{
    static const void *const labels[] = {&&push, &&add, &&dup, &&jnz, &&load, &&stop};
    long stack[16], top = 0;
    const int *pc = code;

    goto *labels[*pc];
push:
    stack[top++] = pc[1];
    pc += 2;
    goto *labels[*pc];
add:
    top--;
    stack[top - 1] += stack[top];
    pc++;
    goto *labels[*pc];
dup:
    stack[top] = stack[top - 1];
    top++;
    pc++;
    goto *labels[*pc];
jnz:
    top--;
    pc = stack[top] ? code + pc[1] : pc + 2;
    goto *labels[*pc];
load:
    stack[top - 1] = *(volatile int *)stack[top - 1];
    pc++;
    goto *labels[*pc];
stop:
    return stack[0];
}

int main(void)
{
    static const int program[] = {PUSH, 20, PUSH, -1, ADD, DUP, JNZ, 2, PUSH, 16, LOAD, STOP};

    printf("%ld\n", interpret(program));
    return 0;
}
