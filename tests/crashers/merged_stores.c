// SPDX-License-Identifier: Apache-2.0
// Two calls of itself that are made one loop: what announces them must not become one store.
// opt: -O2
// truth: none
// signal: SIGSEGV
// expect: stack find main
// expect: gap find
#include <stdio.h>
#include <string.h>

struct node {
    struct node *left, *right;
    const char *name;
};

static const char *volatile wanted = "d";

__attribute__((noinline)) static struct node *find(struct node *tree, const char *name)
{
    int c = strcmp(name, tree->name);

    if (c == 0)
        return tree;
    if (c < 0)
        return find(tree->left, name);
    return find(tree->right, name);
}

int main(void)
{
    struct node a = {(void *)16, (void *)32, "a"}, c = {(void *)16, (void *)32, "c"};
    struct node b = {&a, &c, "b"};

    printf("%p\n", (void *)find(&b, wanted));
    return 0;
}
