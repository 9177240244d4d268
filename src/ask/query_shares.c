// SPDX-License-Identifier: Apache-2.0
#include "ask/query_shares.h"

#include <stdlib.h>

#include "ask/query_tree.h"
#include "common/alloc.h"
#include "common/bitset.h"

VEC_DEFINE(node_vec, const struct query_node *);

// Any piece of run. Where none is asked for, the same text is named as before.
static const struct query_node *anything(struct arena *arena, const struct query_node *of)
{
    struct query_node *node = arena_alloc_one(arena, struct query_node);

    *node = (struct query_node){.kind = PATTERN_ALL, .where = of->where};
    return node;
}

static bool is_anything(const struct query_node *node)
{
    return node->kind == PATTERN_ALL;
}

static const struct query_node *with_parts(struct arena *arena, const struct query_node *like,
                                           enum query_kind kind, const struct node_vec *parts)
{
    struct query_node *node = arena_alloc_one(arena, struct query_node);

    *node = *like;
    node->kind = kind;
    node->part_count = (uint32_t)parts->length;
    node->parts = arena_memdup(arena, parts->data, parts->length * sizeof(*parts->data));
    return node;
}

static const struct query_node *with_part(struct arena *arena, const struct query_node *like,
                                          enum query_kind kind, const struct query_node *part)
{
    struct node_vec parts = VEC_INIT;

    node_vec_push(&parts, part);
    const struct query_node *node = with_parts(arena, like, kind, &parts);
    node_vec_deinit(&parts);
    return node;
}

// About one thread's run, as a whole.
static bool is_whole(const struct query_node *node)
{
    return node->kind == QUERY_PATTERN || (node->kind == QUERY_INSIDE && !query_is_event(node));
}

// Done by one thread.
static bool is_leaf(const struct query_node *node)
{
    return query_is_event(node) || is_whole(node);
}

// Does it hold with more letters, too, wherever they come? Then where it does not hold of a run, it
// does not of any thread's part of it.
static bool is_lasting(const struct query_node *node)
{
    if (is_leaf(node))
        return true;
    if (node->kind != QUERY_AND && node->kind != QUERY_OR && node->kind != QUERY_THEN)
        return false;
    for (uint32_t i = 0; i < node->part_count; i++)
        if (!is_lasting(node->parts[i]))
            return false;
    return true;
}

// ---- Negations down to what is not to happen

struct negations {
    struct arena *arena;
    bool widened; // more runs fit what came out
};

static const struct query_node *pushed(struct negations *negations, const struct query_node *node,
                                       bool negated);

static const struct query_node *pushed_parts(struct negations *negations,
                                             const struct query_node *node, bool negated)
{
    struct node_vec parts = VEC_INIT;
    enum query_kind kind = node->kind;

    if (negated)
        kind = kind == QUERY_AND ? QUERY_OR : QUERY_AND;
    for (uint32_t i = 0; i < node->part_count; i++)
        node_vec_push(&parts, pushed(negations, node->parts[i], negated));
    const struct query_node *ret = with_parts(negations->arena, node, kind, &parts);
    node_vec_deinit(&parts);
    return ret;
}

// Threads together may do what none of them does.
static const struct query_node *not_together(struct negations *negations,
                                             const struct query_node *node)
{
    negations->widened = true;
    return is_lasting(node) ? with_part(negations->arena, node, QUERY_NOT, node)
                            : anything(negations->arena, node);
}

static const struct query_node *pushed(struct negations *negations, const struct query_node *node,
                                       bool negated)
{
    if (is_leaf(node))
        return negated ? with_part(negations->arena, node, QUERY_NOT, node) : node;
    switch (node->kind) {
    case QUERY_NEVER:
    case QUERY_NOT:
        return pushed(negations, node->parts[0], !negated);
    case QUERY_ONLY_INSIDE: // not: it happens outside
        return negated ? with_part(negations->arena, node, QUERY_OUTSIDE, node->parts[0]) : node;
    case QUERY_AND:
    case QUERY_OR:
        return pushed_parts(negations, node, negated);
    case QUERY_THEN:
        return negated ? not_together(negations, node) : pushed_parts(negations, node, false);
    case QUERY_WITHOUT:
        if (negated)
            return not_together(negations, node);
        if (is_lasting(node->parts[1])) // others can do it later
            return node;
        negations->widened = true;
        return node->parts[0];
    default:
        negations->widened = true;
        return anything(negations->arena, node);
    }
}

// ---- One side of every `or`

// All of the ways in which these parts can be taken together. False: too many.
static bool multiply(struct arena *arena, const struct query_node *node, const struct node_vec *own,
                     struct node_vec *ret);

static bool expand(struct arena *arena, const struct query_node *node, struct node_vec *ret)
{
    bool fits = true;

    if (is_leaf(node) || node->kind == QUERY_NOT || node->kind == QUERY_WITHOUT ||
        node->part_count == 0) {
        node_vec_push(ret, node);
    } else if (node->kind == QUERY_OR) {
        for (uint32_t i = 0; fits && i < node->part_count; i++)
            fits = expand(arena, node->parts[i], ret) && ret->length <= QUERY_WAYS_MAX;
    } else if (node->kind == QUERY_AND || node->kind == QUERY_THEN) {
        struct node_vec *own = xcalloc(node->part_count + 1u, sizeof(*own));

        for (uint32_t i = 0; fits && i < node->part_count; i++)
            fits = expand(arena, node->parts[i], &own[i]);
        fits = fits && multiply(arena, node, own, ret);
        for (uint32_t i = 0; i < node->part_count; i++)
            node_vec_deinit(&own[i]);
        free(own);
    } else {
        node_vec_push(ret, node);
    }
    return fits;
}

static bool multiply(struct arena *arena, const struct query_node *node, const struct node_vec *own,
                     struct node_vec *ret)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < node->part_count; i++) {
        count *= own[i].length;
        if (count > QUERY_WAYS_MAX)
            return false;
    }
    for (uint64_t number = 0; number < count; number++) {
        struct node_vec parts = VEC_INIT;
        uint64_t rest = number;

        for (uint32_t i = 0; i < node->part_count; i++) {
            node_vec_push(&parts, own[i].data[rest % own[i].length]);
            rest /= own[i].length;
        }
        node_vec_push(ret, with_parts(arena, node, node->kind, &parts));
        node_vec_deinit(&parts);
    }
    return true;
}

// An `or` that is not taken apart is any piece of run.
static const struct query_node *without_or(struct arena *arena, const struct query_node *node)
{
    struct node_vec parts = VEC_INIT;

    if (is_leaf(node) || (node->kind != QUERY_AND && node->kind != QUERY_THEN))
        return !is_leaf(node) && node->kind == QUERY_OR ? anything(arena, node) : node;
    for (uint32_t i = 0; i < node->part_count; i++)
        node_vec_push(&parts, without_or(arena, node->parts[i]));
    const struct query_node *ret = with_parts(arena, node, node->kind, &parts);
    node_vec_deinit(&parts);
    return ret;
}

// ---- Ways

static uint32_t count_leaves(const struct query_node *node)
{
    uint32_t count = 0;

    if (is_leaf(node) || node->kind == QUERY_WITHOUT)
        return 1;
    if (node->kind == QUERY_AND || node->kind == QUERY_THEN)
        for (uint32_t i = 0; i < node->part_count; i++)
            count += count_leaves(node->parts[i]);
    return count;
}

// Does it say that something is before something else? Not of one thread's run as a whole.
static bool has_order(const struct query_node *node)
{
    bool has = node->kind == QUERY_THEN || node->kind == QUERY_WITHOUT;

    for (uint32_t i = 0; !has && node->kind == QUERY_AND && i < node->part_count; i++)
        has = has_order(node->parts[i]);
    return has;
}

// One order inside of another is kept, one beside another perhaps not.
static bool orders_agree(const struct query_node *node)
{
    uint32_t orders = 0;

    if (node->kind != QUERY_AND && node->kind != QUERY_THEN)
        return true;
    for (uint32_t i = 0; i < node->part_count; i++) {
        if (!orders_agree(node->parts[i]))
            return false;
        orders += has_order(node->parts[i]);
    }
    return node->kind == QUERY_THEN || orders < 2;
}

void query_ways_init(struct query_ways *ways, const struct query *query)
{
    *ways = (struct query_ways){.query = query};
    struct negations negations = {&ways->arena, false};
    const struct query_node *root = pushed(&negations, query->root, false);
    struct node_vec roots = VEC_INIT;

    if (!expand(&ways->arena, root, &roots) || roots.length > QUERY_WAYS_MAX) {
        roots.length = 0;
        node_vec_push(&roots, without_or(&ways->arena, root));
        negations.widened = true;
    }
    ways->count = (uint32_t)roots.length;
    ways->ways = arena_alloc_array(&ways->arena, roots.length + 1, struct query_way);
    for (uint32_t w = 0; w < ways->count; w++) {
        const struct query_node *way = roots.data[w];
        uint32_t leaves = count_leaves(way);
        bool few = leaves <= QUERY_LEAVES_MAX;

        ways->ways[w] = (struct query_way){way, few ? leaves : QUERY_LEAVES_MAX,
                                           !negations.widened && few && orders_agree(way)};
    }
    node_vec_deinit(&roots);
}

void query_ways_deinit(struct query_ways *ways)
{
    arena_deinit(&ways->arena);
}

// ---- Shares

// A query whose tree is made in its own arena, of parts of the ways'.
static struct query *begin(const struct query_ways *ways)
{
    struct query *query = xcalloc(1, sizeof(*query));

    query->text = ways->query->text;
    query->node_count = ways->query->node_count;
    return query;
}

// NULL where it is any run.
static struct query *finish(struct query *query, const struct query_node *root)
{
    if (is_anything(root)) {
        query_destroy(query);
        return NULL;
    }
    query->root = (struct query_node *)root;
    query_make_ready(query);
    return query;
}

// What is done later is done, too: then nothing is left of what may come before it or behind.
static bool may_come_behind(const struct query_node *node)
{
    return query_is_event(node) || node->kind == QUERY_WITHOUT;
}

// Parts that are any piece of run are left out where the others say the same without them.
static const struct query_node *joined(struct arena *arena, const struct query_node *node,
                                       const struct node_vec *parts)
{
    struct node_vec kept = VEC_INIT;
    const struct query_node *ret;

    for (size_t i = 0; i < parts->length; i++) {
        const struct query_node *part = parts->data[i];
        const struct query_node *last = kept.length ? kept.data[kept.length - 1] : NULL;

        if (is_anything(part) &&
            (node->kind == QUERY_AND || (last && (is_anything(last) || may_come_behind(last)))))
            continue;
        if (last && is_anything(last) && query_is_event(part))
            kept.length--;
        node_vec_push(&kept, part);
    }
    if (kept.length == 0)
        ret = anything(arena, node);
    else
        ret = kept.length == 1 ? kept.data[0] : with_parts(arena, node, node->kind, &kept);
    node_vec_deinit(&kept);
    return ret;
}

// *next: the number of the leaf that comes next.
static const struct query_node *share_of(struct arena *arena, const struct query_node *node,
                                         uint32_t leaves, uint32_t *next)
{
    struct node_vec parts = VEC_INIT;

    if (is_leaf(node) || node->kind == QUERY_WITHOUT) {
        uint32_t number = (*next)++;

        return number < QUERY_LEAVES_MAX && leaves >> number & 1 ? node : anything(arena, node);
    }
    if (node->kind != QUERY_AND && node->kind != QUERY_THEN)
        return node;
    for (uint32_t i = 0; i < node->part_count; i++)
        node_vec_push(&parts, share_of(arena, node->parts[i], leaves, next));
    const struct query_node *ret = joined(arena, node, &parts);
    node_vec_deinit(&parts);
    return ret;
}

struct query *query_share(const struct query_ways *ways, uint32_t way, uint32_t leaves)
{
    struct query *query = begin(ways);
    uint32_t next = 0;

    return finish(query, share_of(&query->arena, ways->ways[way].root, leaves, &next));
}

static bool event_reaches(const struct query_node *node, const struct bitset *nodes)
{
    bool reaches = false;

    if (node->kind == QUERY_ATOM) {
        if (node->atom.kind == ATOM_CALL || node->atom.kind == ATOM_RETURN)
            return true; // seldom worth a look
        for (uint32_t i = 0; !reaches && i < node->atom.nodes.count; i++)
            reaches = bitset_test(nodes, node->atom.nodes.data[i]);
        return reaches;
    }
    for (uint32_t i = 0; !reaches && i < node->part_count; i++)
        reaches = event_reaches(node->parts[i], nodes);
    return reaches;
}

// The leaf that *left leaves come before, or NULL.
static const struct query_node *leaf_of(const struct query_node *node, uint32_t *left)
{
    const struct query_node *found = NULL;

    if (is_leaf(node) || node->kind == QUERY_WITHOUT)
        return (*left)-- == 0 ? node : NULL;
    if (node->kind == QUERY_AND || node->kind == QUERY_THEN)
        for (uint32_t i = 0; !found && i < node->part_count; i++)
            found = leaf_of(node->parts[i], left);
    return found;
}

bool query_leaf_reaches(const struct query_ways *ways, uint32_t way, uint32_t leaf,
                        const struct bitset *nodes)
{
    const struct query_node *node = leaf_of(ways->ways[way].root, &leaf);

    if (node && node->kind == QUERY_WITHOUT)
        node = node->parts[0];
    return !node || !query_is_event(node) || event_reaches(node, nodes);
}

static void find_always(const struct query_node *node, struct node_vec *ret)
{
    if (node->kind == QUERY_AND)
        for (uint32_t i = 0; i < node->part_count; i++)
            find_always(node->parts[i], ret);
    else if (node->kind == QUERY_NOT || node->kind == QUERY_ONLY_INSIDE)
        node_vec_push(ret, node);
}

static struct query *finish_all(struct query *query, const struct query_ways *ways,
                                const struct node_vec *parts)
{
    struct query_node all = {.kind = QUERY_AND, .where = ways->query->root->where};

    return finish(query, joined(&query->arena, &all, parts));
}

struct query *query_share_always(const struct query_ways *ways, uint32_t way)
{
    struct node_vec parts = VEC_INIT;

    find_always(ways->ways[way].root, &parts);
    struct query *query = finish_all(begin(ways), ways, &parts);
    node_vec_deinit(&parts);
    return query;
}

// What would make the query false if it were done by somebody else, behind all that counts.
static void find_harmful(struct arena *arena, const struct query_node *node, bool negated,
                         struct node_vec *ret)
{
    if (is_leaf(node)) {
        if (negated)
            node_vec_push(ret, with_part(arena, node, QUERY_NOT, node));
        return;
    }
    if (node->kind == QUERY_ONLY_INSIDE) {
        if (!negated)
            node_vec_push(ret, node);
        return;
    }
    bool flips = node->kind == QUERY_NEVER || node->kind == QUERY_NOT;
    for (uint32_t i = 0; i < node->part_count; i++)
        if (node->kind != QUERY_WITHOUT || i == 0)
            find_harmful(arena, node->parts[i], negated != flips, ret);
}

struct query *query_share_beside(const struct query_ways *ways)
{
    struct query *query = begin(ways);
    struct node_vec parts = VEC_INIT;

    find_harmful(&query->arena, ways->query->root, false, &parts);
    query = finish_all(query, ways, &parts);
    node_vec_deinit(&parts);
    return query;
}
