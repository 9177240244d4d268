// SPDX-License-Identifier: Apache-2.0
// A tree is built and walked; names lie in frames, and are written by the functions called.
#include "../stray.h"

#include <stdlib.h>
#include <string.h>

struct node {
    int key;
    struct node *left, *right;
};

static int found;

static struct node *insert(struct node *tree, int key)
{
    L;
    if (!tree) {
        L;
        tree = calloc(1, sizeof(*tree));
        tree->key = key;
    } else if (key < tree->key) {
        L;
        tree->left = insert(tree->left, key);
    } else {
        L;
        tree->right = insert(tree->right, key);
    }
    return tree;
}

__attribute__((noinline)) static void spell(char *name, int key)
{
    L;
    name[0] = (char)('a' + key % 20);
    name[1] = 0;
    if (key % 3 == 0) {
        L;
        strcat(name, "x");
        STRAY(2, name);
        CRASH;
    }
}

static int walk(const struct node *tree, int depth)
{
    char name[24];
    int sum = 0;

    L;
    if (!tree)
        return 0;
    spell(name, tree->key);
    if (depth > 2) {
        L;
        STRAY(3, name);
        CRASH;
        sum = 1;
    }
    if (name[1] == 'x') {
        L;
        found++;
        sum += walk(tree->right, depth + 1);
        sum += walk(tree->left, depth + 1);
    } else {
        L;
        sum += walk(tree->left, depth + 1) + walk(tree->right, depth + 1);
    }
    return sum + 1;
}

int main(void)
{
    static const int keys[] = {50, 20, 70, 10, 33, 60, 90, 5, 12, 36, 99, 61};
    struct node *tree = NULL;

    for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        L;
        tree = insert(tree, keys[i]);
    }
    if (walk(tree, 0) > 3)
        L;
    CRASH;
    return found > 100;
}
