// SPDX-License-Identifier: Apache-2.0
#include "dep_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

void dep_fail(const char *what, const char *subject)
{
    fprintf(stderr, "dep_slice: %s '%s'\n", what, subject);
    exit(2);
}

void *dep_grow(void *data, uint32_t size, uint32_t *room)
{
    uint32_t more = *room ? *room * 2 : 64;

    data = more > *room ? realloc(data, (size_t)more * size) : NULL;
    if (!data)
        dep_fail("out of memory", "tables");
    memset((char *)data + (size_t)*room * size, 0, (size_t)(more - *room) * size);
    *room = more;
    return data;
}

// ---------------------------------------------------------------- reading

// The next word of the line, ended by a 0; NULL at its end.
static char *word(char **at)
{
    char *start = *at;

    if (!start || !*start)
        return NULL;
    char *end = strchr(start, ' ');
    if (end)
        *end = 0;
    *at = end ? end + 1 : NULL;
    return start;
}

static uint32_t number(char **at)
{
    char *text = word(at);

    if (!text)
        dep_fail("a number is missing", "table");
    return (uint32_t)strtoul(text, NULL, 10);
}

static struct dep_operand operand_of(const char *text)
{
    const char *colon = strchr(text, ':');
    struct dep_operand operand = {.class = colon ? colon[1] : 0};

    if (text[0] == '@')
        return (struct dep_operand){.kind = OPERAND_NAME};
    if (text[0] != '-') {
        operand.kind = text[0] == 'i' ? OPERAND_INSN : OPERAND_ARGUMENT;
        operand.index = (uint32_t)strtoul(text + 1, NULL, 10);
    }
    return operand;
}

static void read_function(struct dep_table *table, char *line)
{
    struct dep_module *module = &table->modules[table->modules_count - 1];
    struct dep_function *function = DEP_PUSH(table, functions);

    *function = (struct dep_function){.module = table->modules_count - 1,
                                      .index = module->function_count++,
                                      .first_node = table->nodes_count,
                                      .first_insn = table->insns_count};
    function->name = word(&line);
    function->arguments = number(&line);
    function->fixed = (int)number(&line);
    const char *where = word(&line);
    function->is_elsewhere = where && strcmp(where, "elsewhere") == 0;
}

static void read_node(struct dep_table *table, char *line)
{
    struct dep_node *node = DEP_PUSH(table, nodes);
    const char *flags = word(&line);

    *node = (struct dep_node){.function = table->functions_count - 1,
                              .first_insn = table->insns_count,
                              .first_successor = table->successors_count,
                              .returns_twice = flags && flags[0] == 't'};
    while (line && *line) {
        uint32_t successor = number(&line);
        *DEP_PUSH(table, successors) = successor;
        node->chooses |= successor != table->successors[node->first_successor];
        node->successor_count++;
    }
    table->functions[node->function].node_count++;
}

static void read_insn(struct dep_table *table, char *line)
{
    struct dep_insn *insn = DEP_PUSH(table, insns);
    const char *kind = word(&line);

    *insn = (struct dep_insn){.kind = kind ? kind[0] : 'o',
                              .node = table->nodes_count - 1,
                              .first_operand = table->operands_count};
    insn->file = number(&line) + table->modules[table->modules_count - 1].first_file;
    insn->line = number(&line);
    for (char *text; (text = word(&line)) != NULL; insn->operand_count++) {
        struct dep_operand operand = operand_of(text);
        if (operand.kind == OPERAND_NAME)
            insn->callee = text + 1;
        if (insn->kind == 'p')
            operand.node = number(&line);
        *DEP_PUSH(table, operands) = operand;
    }
    table->nodes[insn->node].insn_count++;
    table->functions[table->functions_count - 1].insn_count++;
}

static void read_line(struct dep_table *table, char *line)
{
    const char *kind = word(&line);

    if (!kind)
        return;
    if (strcmp(kind, "insn") == 0) {
        read_insn(table, line);
    } else if (strcmp(kind, "node") == 0) {
        read_node(table, line);
    } else if (strcmp(kind, "function") == 0) {
        read_function(table, line);
    } else if (strcmp(kind, "file") == 0) {
        *DEP_PUSH(table, files) = line;
    } else if (strcmp(kind, "global") == 0) {
        struct dep_global *global = DEP_PUSH(table, globals);
        *global = (struct dep_global){.name = word(&line), .module = table->modules_count - 1};
        global->size = number(&line);
    } else {
        dep_fail("no such line", kind);
    }
}

// The text stays: names point into it.
static char *whole_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;

    if (file && fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        text = malloc((size_t)size + 1);
        if (text)
            text[fread(text, 1, (size_t)size, file)] = 0;
    }
    if (!text)
        dep_fail("cannot read", path);
    fclose(file);
    return text;
}

void dep_table_read(struct dep_table *table, const char *path)
{
    *DEP_PUSH(table, modules) = (struct dep_module){.first_function = table->functions_count,
                                                    .first_insn = table->insns_count,
                                                    .first_global = table->globals_count,
                                                    .first_file = table->files_count};
    for (char *line = whole_file(path), *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        read_line(table, line);
    }
}

// ---------------------------------------------------------------- postdominators

/*
 * By the definition of dominance in the reversed graph: the iterative scheme over a postorder. Node
 * `count` is the end; what leaves the function leads there, and so does one node of every loop
 * that is never left, the first in the order of the nodes.
 */
struct tree {
    const struct dep_table *table;
    const struct dep_function *function;
    uint32_t count;                   // without the end
    uint32_t *before, *first_before;  // predecessors, by node
    bool *ends;                       // has an edge to the end
    uint32_t *order, *place, *parent; // reverse postorder of the reversed graph
    uint32_t ordered;
};

static uint32_t *fill(uint32_t count, uint32_t value)
{
    uint32_t *data = malloc((count + 1) * sizeof(*data));

    if (!data)
        dep_fail("out of memory", "postdominators");
    for (uint32_t i = 0; i <= count; i++)
        data[i] = value;
    return data;
}

static const uint32_t *successors_of(const struct tree *tree, uint32_t n, uint32_t *count)
{
    const struct dep_node *node = &tree->table->nodes[tree->function->first_node + n];

    *count = node->successor_count;
    return tree->table->successors + node->first_successor;
}

static void find_predecessors(struct tree *tree)
{
    uint32_t total = 0, count;
    uint32_t *at;

    tree->first_before = fill(tree->count + 1, 0);
    for (uint32_t n = 0; n < tree->count; n++) {
        const uint32_t *next = successors_of(tree, n, &count);
        for (uint32_t k = 0; k < count; k++, total++)
            tree->first_before[next[k] + 1]++;
    }
    for (uint32_t n = 0; n < tree->count; n++)
        tree->first_before[n + 1] += tree->first_before[n];
    at = fill(tree->count, 0);
    memcpy(at, tree->first_before, (tree->count + 1) * sizeof(*at));
    tree->before = fill(total, 0);
    for (uint32_t n = 0; n < tree->count; n++) {
        const uint32_t *next = successors_of(tree, n, &count);
        for (uint32_t k = 0; k < count; k++)
            tree->before[at[next[k]]++] = n;
    }
    free(at);
}

// All that can reach `start`, marked.
static void mark_before(const struct tree *tree, uint32_t start, bool *seen)
{
    uint32_t *work = fill(tree->count, 0), length = 0;

    if (!seen[start])
        work[length++] = start;
    seen[start] = true;
    while (length) {
        uint32_t n = work[--length];
        for (uint32_t k = tree->first_before[n]; k < tree->first_before[n + 1]; k++)
            if (!seen[tree->before[k]]) {
                seen[tree->before[k]] = true;
                work[length++] = tree->before[k];
            }
    }
    free(work);
}

// Can all that n leads to come back to n?
static bool in_last_loop(const struct tree *tree, uint32_t n)
{
    bool *back = calloc(tree->count, sizeof(bool)), *seen = calloc(tree->count, sizeof(bool));
    uint32_t *work = fill(tree->count, 0), length = 1, count;
    bool all = back && seen;

    if (all)
        mark_before(tree, n, back);
    work[0] = n;
    while (all && length) {
        const uint32_t *next = successors_of(tree, work[--length], &count);
        for (uint32_t k = 0; k < count; k++) {
            all = all && back[next[k]];
            if (!seen[next[k]]) {
                seen[next[k]] = true;
                work[length++] = next[k];
            }
        }
    }
    free(work);
    free(seen);
    free(back);
    return all;
}

static void find_ends(struct tree *tree)
{
    bool *reaches = calloc(tree->count + 1, sizeof(bool));
    uint32_t count;

    tree->ends = calloc(tree->count + 1, sizeof(bool));
    if (!reaches || !tree->ends)
        dep_fail("out of memory", "postdominators");
    for (uint32_t n = 0; n < tree->count; n++) {
        successors_of(tree, n, &count);
        if (count == 0) {
            tree->ends[n] = true;
            mark_before(tree, n, reaches);
        }
    }
    for (uint32_t n = 0; n < tree->count; n++)
        if (!reaches[n] && in_last_loop(tree, n)) {
            tree->ends[n] = true;
            mark_before(tree, n, reaches);
        }
    free(reaches);
}

// From the end backwards.
static void find_order(struct tree *tree)
{
    uint32_t *work = fill(2 * tree->count + 2, 0), length = 0, finished = 0;
    uint32_t *next = fill(tree->count, 0);
    bool *seen = calloc(tree->count + 1, sizeof(bool));
    uint32_t *post = fill(tree->count, 0);

    tree->order = fill(tree->count, 0);
    tree->place = fill(tree->count, NONE);
    for (uint32_t start = 0; seen && start < tree->count; start++) {
        if (!tree->ends[start] || seen[start])
            continue;
        seen[start] = true;
        work[length++] = start;
        while (length) {
            uint32_t n = work[length - 1], k = tree->first_before[n] + next[n]++;
            if (k >= tree->first_before[n + 1]) {
                post[finished++] = n;
                length--;
            } else if (!seen[tree->before[k]]) {
                seen[tree->before[k]] = true;
                work[length++] = tree->before[k];
            }
        }
    }
    tree->ordered = finished + 1;
    tree->order[0] = tree->count;
    tree->place[tree->count] = 0;
    for (uint32_t k = 0; k < finished; k++) {
        tree->order[finished - k] = post[k];
        tree->place[post[k]] = finished - k;
    }
    free(work);
    free(next);
    free(seen);
    free(post);
}

static uint32_t meet(const struct tree *tree, uint32_t a, uint32_t b)
{
    if (a == NONE)
        return b;
    while (a != b) {
        while (tree->place[a] > tree->place[b])
            a = tree->parent[a];
        while (tree->place[b] > tree->place[a])
            b = tree->parent[b];
    }
    return a;
}

static void find_parents(struct tree *tree)
{
    uint32_t count;

    tree->parent = fill(tree->count, NONE);
    tree->parent[tree->count] = tree->count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 1; k < tree->ordered; k++) {
            uint32_t n = tree->order[k], found = tree->ends[n] ? tree->count : NONE;
            const uint32_t *next = successors_of(tree, n, &count);
            for (uint32_t s = 0; s < count; s++)
                if (tree->parent[next[s]] != NONE)
                    found = meet(tree, found, next[s]);
            changed |= tree->parent[n] != found;
            tree->parent[n] = found;
        }
    }
}

// Numbers of entering and leaving each node on a walk over the tree.
static void number_tree(struct tree *tree, struct dep_function *function)
{
    uint32_t *size = fill(tree->count, 1), *used = fill(tree->count, 1);

    function->enter = fill(tree->count, 0);
    function->leave = fill(tree->count, 0);
    for (uint32_t k = tree->ordered; k-- > 1;)
        size[tree->parent[tree->order[k]]] += size[tree->order[k]];
    function->leave[tree->count] = size[tree->count];
    for (uint32_t k = 1; k < tree->ordered; k++) {
        uint32_t n = tree->order[k], parent = tree->parent[n];
        function->enter[n] = function->enter[parent] + used[parent];
        function->leave[n] = function->enter[n] + size[n];
        used[parent] += size[n];
    }
    free(size);
    free(used);
}

static void make_postdominators(const struct dep_table *table, struct dep_function *function)
{
    struct tree tree = {.table = table, .function = function, .count = function->node_count};

    find_predecessors(&tree);
    find_ends(&tree);
    find_order(&tree);
    find_parents(&tree);
    number_tree(&tree, function);
    free(tree.before);
    free(tree.first_before);
    free(tree.ends);
    free(tree.order);
    free(tree.place);
    free(tree.parent);
}

static bool contains(const struct dep_function *function, uint32_t a, uint32_t b)
{
    return function->enter[a] <= function->enter[b] && function->leave[b] <= function->leave[a];
}

bool dep_is_certain_after(struct dep_table *table, uint32_t node, uint32_t from)
{
    struct dep_function *function = &table->functions[table->nodes[node].function];
    const struct dep_node *choice = &table->nodes[from];

    if (!function->enter)
        make_postdominators(table, function);
    for (uint32_t k = 0; k < choice->successor_count; k++)
        if (!contains(function, node - function->first_node,
                      table->successors[choice->first_successor + k]))
            return false;
    return true;
}
