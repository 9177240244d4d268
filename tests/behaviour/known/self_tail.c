// Tail recursion, of one function and through a pointer to a structure: a loop from -O1 on.
// opt: -O1 -O2 -Os
// output: 3000000
#include <stdio.h>

struct task {
    unsigned left, sum;
};

static __attribute__((noinline)) void walk(struct task *t)
{
    t->sum++;
    if (!--t->left)
        return;
    walk(t);
}

int main(void)
{
    struct task task = {3000000, 0};

    walk(&task);
    printf("%u\n", task.sum);
    return 0;
}
