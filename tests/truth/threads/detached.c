// SPDX-License-Identifier: Apache-2.0
/* Detached threads that end, threads that threads create, what runs at a thread's end (keys), and
 * what runs once. */
#include "turns.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *left, *right;
    int key;
};

static pthread_key_t own;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ends, trees;
static int ready[TURNS_MOST];

static void release(struct node *node)
{
    if (!node)
        return;
    release(node->left);
    release(node->right);
    free(node);
}

static void at_end(void *value)
{
    release(value);
    ends++;
}

static void make_key(void)
{
    pthread_key_create(&own, at_end);
}

static struct node *insert(struct node *node, int key)
{
    if (!node) {
        node = calloc(1, sizeof *node);
        node->key = key;
    } else if (key < node->key) {
        node->left = insert(node->left, key);
    } else {
        node->right = insert(node->right, key);
    }
    return node;
}

static struct node *grow(int seed, int count)
{
    struct node *tree = NULL;

    for (int i = 0; i < count; i++) {
        seed = (seed * 1103 + 12345) & 0x7fff;
        tree = insert(tree, seed % 100);
    }
    trees++;
    return tree;
}

static int height(const struct node *node)
{
    int left = node ? height(node->left) : -1;
    int right = node ? height(node->right) : -1;

    return (left > right ? left : right) + 1;
}

static void *brief(void *argument)
{
    int *me = argument;

    pthread_once(&once, make_key);
    struct node *tree = grow(*me, 6);
    *me += 16 * height(tree);
    release(tree);
    turns_hand(*me & 15, 0);
    return NULL;
}

static void *parent(void *argument)
{
    int me = *(int *)argument, child = me + 4, seed = child;

    pthread_once(&once, make_key);
    struct node *tree = grow(me, 8);
    turns_hand(me, 0);
    if (height(tree) > 2) {
        turns_spawn(me, child, parent, &seed);
        turns_hand(me, 0);
    }
    pthread_setspecific(own, tree);
    ready[me] = 1;
    turns_hand(me, 0);
    return NULL;
}

int main(void)
{
    static int numbers[TURNS_MOST];

    turns_begin();
    for (int n = 1; n <= 2; n++) {
        numbers[n] = n;
        turns_spawn_detached(0, n, brief, &numbers[n]);
    }
    struct node *tree = grow(numbers[1], 5);
    turns_outlive(0, 1);
    for (int n = 3; n <= 4; n++) {
        numbers[n] = n;
        turns_spawn(0, n, parent, &numbers[n]);
    }
    turns_hand(0, 3);
    turns_outlive(0, 2);
    while (!ready[3])
        turns_hand(0, 3);
    turns_join(0, 3); // with a key: at_end() runs in it
    turns_hand(0, 4);
    printf("%d %d %d\n", height(tree), ends, trees);
    release(tree);
    return 0;
}
