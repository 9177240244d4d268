// SPDX-License-Identifier: Apache-2.0
// An interpreter whose operations replace each other through a table.
// opt: -O0 -O2
// build: -finquest=none
// build: off=add
// signal: SIGSEGV
// expect: first halt
// expect: gap halt
typedef int operation(const unsigned char *code, int value, int *state);

static operation add, twice, jump, show, halt;
static operation *const table[] = {add, twice, jump, show, halt};
static volatile int sink;

#define NEXT __attribute__((musttail)) return table[*code](code, value, state)

__attribute__((noinline)) static void note(int value)
{
    sink += value;
}

__attribute__((noinline)) static int add(const unsigned char *code, int value, int *state)
{
    value++;
    code++;
    state[0] += value;
    NEXT;
}

__attribute__((noinline)) static int twice(const unsigned char *code, int value, int *state)
{
    value *= 2;
    code++;
    NEXT;
}

__attribute__((noinline)) static int jump(const unsigned char *code, int value, int *state)
{
    if (value > 40) {
        code += 2;
        if (value > 1000)
            note(1);
    } else
        code -= code[1];
    NEXT;
}

__attribute__((noinline)) static int show(const unsigned char *code, int value, int *state)
{
    note(value);
    code++;
    NEXT;
}

__attribute__((noinline)) static int halt(const unsigned char *code, int value, int *state)
{
    if (value > 5)
        return *(volatile int *)(long)value;
    return code[0] + state[0];
}

__attribute__((noinline)) static int run(const unsigned char *code)
{
    int state[4] = {0};
    int value = table[*code](code, 1, state);

    if (value)
        note(2);
    return value;
}

int main(void)
{
    unsigned char code[] = {0, 1, 0, 2, 3, 3, 4};
    int value = run(code);

    note(value);
    return value;
}
