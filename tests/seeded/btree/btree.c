// SPDX-License-Identifier: Apache-2.0
/*
 * A B-tree of numbers with values, driven by commands: add K V, del K, get K, range A B, count,
 * show. When it is checked and its keys are out of order the program gives up.
 *
 *     btree [-c N]     -c: checked after every N commands (else at the end)
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE    2
#define KEYS_MOST (2 * DEGREE - 1)

struct node {
    int count;
    bool leaf;
    int key[KEYS_MOST];
    int value[KEYS_MOST];
    struct node *child[KEYS_MOST + 1];
};

struct tree {
    struct node *root;
    int size;
    int splits, merges, borrows;
};

static struct node *node_new(bool leaf)
{
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL)
        exit(3);
    node->leaf = leaf;
    return node;
}

static void node_free(struct node *node)
{
    for (int i = 0; !node->leaf && i <= node->count; i++)
        node_free(node->child[i]);
    free(node);
}

// The first key that is not less.
static int position(const struct node *node, int key)
{
    int at = 0;
    while (at < node->count && node->key[at] < key)
        at++;
    return at;
}

static int *tree_find(const struct tree *tree, int key)
{
    struct node *node = tree->root;
    for (;;) {
        int at = position(node, key);
        if (at < node->count && node->key[at] == key)
            return &node->value[at];
        if (node->leaf)
            return NULL;
        node = node->child[at];
    }
}

// ---- Adding

static void slot_open(struct node *node, int at)
{
    for (int i = node->count; i > at; i--) {
        node->key[i] = node->key[i - 1];
        node->value[i] = node->value[i - 1];
    }
    node->count++;
}

static void split_child(struct tree *tree, struct node *parent, int at)
{
    struct node *left = parent->child[at];
    struct node *right = node_new(left->leaf);
    right->count = DEGREE - 1;
    for (int i = 0; i < DEGREE - 1; i++) {
        right->key[i] = left->key[i + DEGREE];
        right->value[i] = left->value[i + DEGREE];
    }
    for (int i = 0; !left->leaf && i < DEGREE; i++)
        right->child[i] = left->child[i + DEGREE];
    left->count = DEGREE - 1;
    for (int i = parent->count; i > at; i--)
        parent->child[i + 1] = parent->child[i];
    parent->child[at + 1] = right;
    slot_open(parent, at);
    parent->key[at] = left->key[DEGREE - 1];
    parent->value[at] = left->value[DEGREE - 1];
    tree->splits++;
}

static void add_below(struct tree *tree, struct node *node, int key, int value)
{
    while (!node->leaf) {
        int at = position(node, key);
        if (node->child[at]->count == KEYS_MOST) {
            split_child(tree, node, at);
            if (node->key[at] < key)
                at++;
        }
        node = node->child[at];
    }
    int at = position(node, key);
    slot_open(node, at);
    node->key[at] = key;
    node->value[at] = value;
}

static bool tree_add(struct tree *tree, int key, int value)
{
    int *old = tree_find(tree, key);
    if (old != NULL) {
        *old = value;
        return false;
    }
    if (tree->root->count == KEYS_MOST) {
        struct node *root = node_new(false);
        root->child[0] = tree->root;
        tree->root = root;
        split_child(tree, root, 0);
    }
    add_below(tree, tree->root, key, value);
    tree->size++;
    return true;
}

// ---- Deleting

static void slot_close(struct node *node, int at)
{
    node->count--;
    for (int i = at; i < node->count; i++) {
        node->key[i] = node->key[i + 1];
        node->value[i] = node->value[i + 1];
    }
}

static void borrow_left(struct tree *tree, struct node *parent, int at)
{
    struct node *node = parent->child[at], *left = parent->child[at - 1];
    slot_open(node, 0);
    node->key[0] = parent->key[at - 1];
    node->value[0] = parent->value[at - 1];
    for (int i = node->count; !node->leaf && i > 0; i--)
        node->child[i] = node->child[i - 1];
    if (!node->leaf)
        node->child[0] = left->child[left->count];
    parent->key[at - 1] = left->key[left->count - 1];
    parent->value[at - 1] = left->value[left->count - 1];
    left->count--;
    tree->borrows++;
}

static void borrow_right(struct tree *tree, struct node *parent, int at)
{
    struct node *node = parent->child[at], *right = parent->child[at + 1];
    node->key[node->count] = parent->key[at];
    node->value[node->count] = parent->value[at];
    node->count++;
    if (!node->leaf) {
        node->child[node->count] = right->child[0];
        for (int i = 0; i < node->count; i++)
            right->child[i] = right->child[i + 1];
    }
    parent->key[at] = right->key[0];
    parent->value[at] = right->value[0];
    slot_close(right, 0);
    tree->borrows++;
}

// Child `at`, the key between and child `at + 1` become one.
static void merge_children(struct tree *tree, struct node *parent, int at)
{
    struct node *left = parent->child[at], *right = parent->child[at + 1];
    left->key[left->count] = parent->key[at];
    left->value[left->count] = parent->value[at];
    left->count++;
    for (int i = 0; i < right->count; i++) {
        left->key[left->count + i] = right->key[i];
        left->value[left->count + i] = right->value[i];
    }
    for (int i = 0; !left->leaf && i <= right->count; i++)
        left->child[left->count + i] = right->child[i];
    left->count += right->count;
    for (int i = at + 1; i < parent->count; i++)
        parent->child[i] = parent->child[i + 1];
    slot_close(parent, at);
    free(right);
    tree->merges++;
}

// Makes sure that child `at` has a key to spare; the place where it is now.
static int fill_child(struct tree *tree, struct node *parent, int at)
{
    if (parent->child[at]->count >= DEGREE)
        return at;
    if (at > 0 && parent->child[at - 1]->count >= DEGREE) {
        borrow_left(tree, parent, at);
        return at;
    }
    if (at < parent->count && parent->child[at + 1]->count >= DEGREE) {
        borrow_right(tree, parent, at);
        return at;
    }
    if (at == parent->count)
        at--;
    merge_children(tree, parent, at);
    return at;
}

static bool delete_below(struct tree *tree, struct node *node, int key);

// The key at `at` of an inner node: replaced by a neighbour that is taken from below.
static bool delete_inner(struct tree *tree, struct node *node, int at)
{
    int key = node->key[at];
    struct node *left = node->child[at], *right = node->child[at + 1];
    if (left->count >= DEGREE) {
        while (!left->leaf)
            left = left->child[left->count];
        int last = left->key[left->count - 1], value = left->value[left->count - 1];
        delete_below(tree, node->child[at], last);
        node->key[at] = last;
        node->value[at] = value;
        return true;
    }
    if (right->count >= DEGREE) {
        while (!right->leaf)
            right = right->child[0];
        int first = right->key[0], value = right->value[0];
        delete_below(tree, node->child[at + 1], first);
        node->key[at] = first;
        node->value[at] = value;
        return true;
    }
    merge_children(tree, node, at);
    return delete_below(tree, node->child[at], key);
}

static bool delete_below(struct tree *tree, struct node *node, int key)
{
    int at = position(node, key);
    bool here = at < node->count && node->key[at] == key;
    if (node->leaf) {
        if (here)
            slot_close(node, at);
        return here;
    }
    if (here)
        return delete_inner(tree, node, at);
    at = fill_child(tree, node, at);
    return delete_below(tree, node->child[at], key);
}

static bool tree_delete(struct tree *tree, int key)
{
    bool there = delete_below(tree, tree->root, key);
    if (tree->root->count == 0 && !tree->root->leaf) {
        struct node *old = tree->root;
        tree->root = old->child[0];
        free(old);
    }
    tree->size -= there;
    return there;
}

// ---- Looking

static void check_node(const struct node *node, long low, long high)
{
    if (node->count > KEYS_MOST)
        abort();
    for (int i = 0; i <= node->count; i++) {
        long next = i < node->count ? node->key[i] : high;
        if (!node->leaf)
            check_node(node->child[i], low, next);
        if (i < node->count && (next <= low || next >= high))
            abort();
        low = next;
    }
}

static int show_range(const struct node *node, int from, int to)
{
    int shown = 0;
    for (int i = 0; i <= node->count; i++) {
        if (!node->leaf && (i == node->count || node->key[i] >= from) &&
            (i == 0 || node->key[i - 1] <= to))
            shown += show_range(node->child[i], from, to);
        if (i < node->count && node->key[i] >= from && node->key[i] <= to) {
            printf("%d=%d ", node->key[i], node->value[i]);
            shown++;
        }
    }
    return shown;
}

static void show_node(const struct node *node, int depth)
{
    printf("%*s", depth * 2, "");
    for (int i = 0; i < node->count; i++)
        printf("%d ", node->key[i]);
    putchar('\n');
    for (int i = 0; !node->leaf && i <= node->count; i++)
        show_node(node->child[i], depth + 1);
}

static void command(struct tree *tree, const char *line)
{
    char word[16];
    int a = 0, b = 0;
    int count = sscanf(line, "%15s %d %d", word, &a, &b);
    if (count < 1)
        return;
    if (strcmp(word, "add") == 0 && count == 3) {
        if (!tree_add(tree, a, b))
            printf("%d changed\n", a);
    } else if (strcmp(word, "del") == 0 && count >= 2) {
        if (!tree_delete(tree, a))
            printf("%d is not there\n", a);
    } else if (strcmp(word, "get") == 0 && count >= 2) {
        int *value = tree_find(tree, a);
        if (value != NULL)
            printf("%d: %d\n", a, *value);
        else
            printf("%d: none\n", a);
    } else if (strcmp(word, "range") == 0 && count == 3) {
        printf("(%d)\n", show_range(tree->root, a, b));
    } else if (strcmp(word, "count") == 0) {
        printf("%d keys, %d splits, %d merges, %d borrows\n", tree->size, tree->splits,
               tree->merges, tree->borrows);
    } else if (strcmp(word, "show") == 0) {
        show_node(tree->root, 0);
    } else {
        printf("bad command '%s'\n", word);
    }
}

int main(int argc, char **argv)
{
    struct tree tree = {.root = node_new(true)};
    char line[128];
    int every = argc > 2 && strcmp(argv[1], "-c") == 0 ? atoi(argv[2]) : 0;
    for (int number = 1; fgets(line, sizeof line, stdin) != NULL; number++) {
        command(&tree, line);
        if (every > 0 && number % every == 0)
            check_node(tree.root, -1000000, 1000000);
    }
    check_node(tree.root, -1000000, 1000000);
    node_free(tree.root);
    return 0;
}
