// SPDX-License-Identifier: Apache-2.0
// Tail calls that cannot have led to any function on the stack: no gap.
// opt: -O0
// build: -finquest=none
// signal: SIGSEGV
// expect: stack leaf middle main
// expect: no-gap leaf
// expect: no-gap middle
typedef int step(int value);
typedef int other(const char *text, int value);

static volatile int sink;
static step leaf, middle;
static other first, second;
static step *volatile steps[] = {leaf, middle};
static other *volatile others[] = {first, second};

static int second(const char *text, int value)
{
    sink += text[0];
    return value;
}

static int first(const char *text, int value)
{
    sink += text[0];
    __attribute__((musttail)) return others[1](text, value + 8);
}

static int leaf(int value)
{
    return *(volatile int *)(long)value;
}

static int middle(int value)
{
    int sum = sink ? others[0]("a", value) : 0;

    return sum + steps[0](value + 8);
}

int main(void)
{
    return middle(8) + 1;
}
