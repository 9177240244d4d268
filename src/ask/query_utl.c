// SPDX-License-Identifier: Apache-2.0
/*
 * A query as unreliable traces: nodes that never run, and sequences of single nodes (paper 000,
 * section 4). What cannot be said so is left out, or replaced by nodes that certainly ran then:
 *
 *   call f      f's entry runs right behind it: where nothing follows in the sequence
 *   return f    f's entry ran before it: where nothing comes before it in the sequence
 *   A inside f  f's entry ran before A, or is A: likewise
 *
 * A node that stands in for a letter is at another moment than the letter. So in `call f then f()`
 * the entry may not stand for the call: one entry of f serves both.
 */
#include <stdlib.h>
#include <string.h>

#include "ask/query_tree.h"
#include "common/strbuf.h"

enum moment {
    MOMENT_EXACT,
    MOMENT_EARLIER, // the node runs before the letter it stands for
    MOMENT_LATER,
};

struct element {
    uint32_t node;
    enum moment moment;
};

struct sequence {
    const struct element *data; // in the builder's arena
    size_t length;
};

VEC_DEFINE(element_vec, struct element);
VEC_DEFINE(sequence_vec, struct sequence);
VEC_DEFINE(removed_vec, struct node_spot);

// What is known of all runs of a part.
struct known {
    struct sequence_vec sequences;
    struct removed_vec removed;
};

struct builder {
    struct query *query;
    struct arena arena;
    struct strbuf lost;
};

static void known_deinit(struct known *known)
{
    sequence_vec_deinit(&known->sequences);
    removed_vec_deinit(&known->removed);
}

// The part of the text cannot be said; each is named once, and not more than a few.
static void lose(struct builder *builder, const struct query_node *node)
{
    if (builder->lost.length > 400)
        return;
    strbuf_printf(&builder->lost, "%s'", builder->lost.length ? ", " : "");
    strbuf_append_bytes(&builder->lost, builder->query->text + node->where.offset,
                        node->where.length);
    strbuf_append_char(&builder->lost, '\'');
}

static void add_sequence(struct builder *builder, struct known *known,
                         const struct element *elements, size_t count)
{
    struct sequence sequence = {arena_memdup(&builder->arena, elements, count * sizeof(*elements)),
                                count};

    sequence_vec_push(&known->sequences, sequence);
}

// ---- Events

static void add_nodes(struct removed_vec *ret, struct id_set nodes)
{
    for (uint32_t i = 0; i < nodes.count; i++)
        removed_vec_push(ret, (struct node_spot){nodes.data[i], 0});
}

// The nodes of an event that is about nodes only, and where in them it is.
// `sure`: without places that may be another's.
static bool event_nodes(const struct query_node *node, bool sure, struct removed_vec *ret)
{
    const struct query_atom *atom = &node->atom;

    if (node->kind == QUERY_OR) {
        for (uint32_t i = 0; i < node->part_count; i++)
            if (!event_nodes(node->parts[i], sure, ret))
                return false;
        return true;
    }
    if (node->kind != QUERY_ATOM)
        return false;
    bool modelless = node->function.functions.count == 0;
    if (atom->kind == ATOM_ENTRY || atom->kind == ATOM_NODE)
        add_nodes(ret, atom->nodes);
    else if (atom->kind == ATOM_PLACE || (atom->kind == ATOM_SITE && modelless)) {
        struct spot_set spots = sure ? atom->sure_spots : atom->spots;
        removed_vec_append(ret, spots.data, spots.count);
    } else if (atom->kind == ATOM_CALL && modelless)
        removed_vec_append(ret, node->function.calls.data, node->function.calls.count);
    else
        return false;
    return true;
}

static void happens_by_entry(struct builder *builder, const struct query_node *node,
                             struct known *ret)
{
    struct element element = {.moment =
                                  node->atom.kind == ATOM_RETURN ? MOMENT_EARLIER : MOMENT_LATER};

    bool is_alone = node->function.entries.count == 1;

    if (node->atom.kind != ATOM_CALL || !is_alone || !node->function.entered_once)
        lose(builder, node);
    if (!is_alone)
        return;
    element.node = node->function.entries.data[0];
    add_sequence(builder, ret, &element, 1);
}

static bool is_one_node(const struct removed_vec *spots)
{
    for (size_t i = 1; i < spots->length; i++)
        if (spots->data[i].node != spots->data[0].node)
            return false;
    return spots->length > 0;
}

static void happens(struct builder *builder, const struct query_node *node, struct known *ret)
{
    struct removed_vec nodes = VEC_INIT;

    if (event_nodes(node, false, &nodes)) {
        struct element element = {.moment = MOMENT_EXACT};
        if (is_one_node(&nodes)) {
            element.node = nodes.data[0].node;
            add_sequence(builder, ret, &element, 1);
        } else {
            lose(builder, node);
        }
    } else if (node->kind == QUERY_ATOM) {
        happens_by_entry(builder, node, ret);
    } else {
        lose(builder, node);
    }
    removed_vec_deinit(&nodes);
}

// ---- Combinations

static void know(struct builder *builder, const struct query_node *node, bool negated,
                 struct known *ret);

// Of an event inside f: f's entry ran before it, unless it is that entry.
static void know_entered(struct builder *builder, const struct query_node *node,
                         const struct sequence *event, struct known *ret)
{
    struct element_vec elements = VEC_INIT;

    if (node->kind != QUERY_INSIDE || node->function.entries.count != 1)
        return;
    struct element entry = {node->function.entries.data[0], MOMENT_EARLIER};
    if (event->data[0].node != entry.node || event->data[0].moment != MOMENT_EXACT)
        element_vec_push(&elements, entry);
    element_vec_append(&elements, event->data, event->length);
    add_sequence(builder, ret, elements.data, elements.length);
    element_vec_deinit(&elements);
}

// Which of several calls was entered first is not known: each is a sequence of its own.
static void know_placed_event(struct builder *builder, const struct query_node *node,
                              struct known *ret)
{
    const struct query_node *event = node;
    struct known core = {0};

    while (event->kind == QUERY_INSIDE || event->kind == QUERY_OUTSIDE)
        event = event->parts[0];
    know(builder, event, false, &core);
    for (size_t i = 0; i < core.sequences.length; i++) {
        const struct sequence *sequence = &core.sequences.data[i];
        add_sequence(builder, ret, sequence->data, sequence->length);
        for (const struct query_node *at = node; at != event; at = at->parts[0])
            know_entered(builder, at, sequence, ret);
    }
    known_deinit(&core);
}

static void know_inside(struct builder *builder, const struct query_node *node, struct known *ret)
{
    size_t removed = ret->removed.length;

    lose(builder, node);
    size_t lost = builder->lost.length;
    if (query_is_event(node))
        know_placed_event(builder, node, ret);
    else
        know(builder, node->parts[0], false, ret);
    ret->removed.length = removed; // not in that call; elsewhere perhaps
    strbuf_truncate(&builder->lost, lost);
}

// One behind the other; what is not at its letter's moment leaves where the order would be wrong.
// Whether something left.
static bool join(const struct sequence *first, const struct sequence *second,
                 struct element_vec *ret)
{
    size_t before = ret->length;

    for (size_t i = 0; i < first->length; i++)
        if (first->data[i].moment != MOMENT_LATER)
            element_vec_push(ret, first->data[i]);
    for (size_t i = 0; i < second->length; i++)
        if (second->data[i].moment != MOMENT_EARLIER)
            element_vec_push(ret, second->data[i]);
    return ret->length - before != first->length + second->length;
}

// Each of the first with each of the second: exact where one of them is alone.
static bool join_all(struct builder *builder, const struct sequence_vec *first,
                     const struct sequence_vec *second, struct known *ret)
{
    bool lost = first->length > 1 && second->length > 1;
    size_t rows = first->length ? first->length : 1, columns = second->length ? second->length : 1;
    const struct sequence none = {NULL, 0};
    struct element_vec joined = VEC_INIT;

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            element_vec_clear(&joined);
            lost |= join(first->length ? &first->data[i] : &none,
                         second->length ? &second->data[j] : &none, &joined);
            if (joined.length)
                add_sequence(builder, ret, joined.data, joined.length);
        }
    element_vec_deinit(&joined);
    return lost;
}

enum { JOINED_MAX = 1000 }; // sequences of one `then`

// The part behind what is known so far. Whether something is lost.
static bool know_next(struct builder *builder, const struct query_node *part, struct known *known)
{
    struct known next = {0};
    struct sequence_vec before = known->sequences;

    know(builder, part, false, &next);
    bool lost = next.removed.length > 0; // not there; before it perhaps
    if (before.length * next.sequences.length > JOINED_MAX) {
        known_deinit(&next);
        return true;
    }
    known->sequences = (struct sequence_vec)VEC_INIT;
    lost |= join_all(builder, &before, &next.sequences, known);
    sequence_vec_deinit(&before);
    known_deinit(&next);
    return lost;
}

static void know_then(struct builder *builder, const struct query_node *node, struct known *ret)
{
    struct known known = {0};

    know(builder, node->parts[0], false, &known);
    bool lost = known.removed.length > 0;
    for (uint32_t i = 1; i < node->part_count; i++)
        lost |= know_next(builder, node->parts[i], &known);
    if (lost)
        lose(builder, node);
    for (size_t i = 0; i < known.sequences.length; i++)
        add_sequence(builder, ret, known.sequences.data[i].data, known.sequences.data[i].length);
    known_deinit(&known);
}

static void know_never(struct builder *builder, const struct query_node *node, struct known *ret)
{
    size_t before = ret->removed.length;

    if (event_nodes(node, true, &ret->removed))
        return;
    ret->removed.length = before;
    if (node->kind == QUERY_ATOM && node->atom.kind == ATOM_CALL) // nothing else leads to its entry
        add_nodes(&ret->removed, node->function.entries);
    else
        lose(builder, node);
}

// A negated `or` is an `and` of negations; a negated `and` says nothing of any part.
static void know_negated(struct builder *builder, const struct query_node *node, struct known *ret)
{
    switch (node->kind) {
    case QUERY_NEVER:
    case QUERY_NOT:
        know(builder, node->parts[0], false, ret);
        return;
    case QUERY_OR:
        for (uint32_t i = 0; i < node->part_count; i++)
            know(builder, node->parts[i], true, ret);
        return;
    case QUERY_ONLY_INSIDE: // it happens outside
        lose(builder, node);
        know(builder, node->parts[0], false, ret);
        return;
    case QUERY_ATOM:
        know_never(builder, node, ret);
        return;
    default:
        lose(builder, node);
    }
}

static void know(struct builder *builder, const struct query_node *node, bool negated,
                 struct known *ret)
{
    if (negated) {
        know_negated(builder, node, ret);
        return;
    }
    switch (node->kind) {
    case QUERY_ATOM:
        happens(builder, node, ret);
        return;
    case QUERY_OR:
        if (query_is_event(node))
            happens(builder, node, ret);
        else
            lose(builder, node);
        return;
    case QUERY_NEVER:
    case QUERY_NOT:
        know(builder, node->parts[0], true, ret);
        return;
    case QUERY_AND:
        for (uint32_t i = 0; i < node->part_count; i++)
            know(builder, node->parts[i], false, ret);
        return;
    case QUERY_THEN:
        know_then(builder, node, ret);
        return;
    case QUERY_INSIDE:
    case QUERY_OUTSIDE:
        know_inside(builder, node, ret);
        return;
    case QUERY_WITHOUT:
        lose(builder, node);
        know(builder, node->parts[0], false, ret);
        return;
    case PATTERN_ALL: // any piece of run
        return;
    default:
        lose(builder, node);
    }
}

// ---- Result

// Nodes that are not passed; and those of them that control may stand in all the same, since what
// does not happen is not at their beginning.
static void take_removed(struct query *query, struct removed_vec *removed)
{
    struct query_utl *utl = &query->utl;
    struct spot_set spots = spot_set_make(removed->data, (uint32_t)removed->length);
    uint32_t *nodes = arena_alloc_array(&query->arena, spots.count + (size_t)1, uint32_t);
    uint32_t *entered = arena_alloc_array(&query->arena, spots.count + (size_t)1, uint32_t);

    utl->removed = (struct id_set){nodes, 0};
    utl->entered = (struct id_set){entered, 0};
    for (uint32_t i = 0; i < spots.count; i++) {
        if (i > 0 && spots.data[i - 1].node == spots.data[i].node)
            continue;
        nodes[utl->removed.count++] = spots.data[i].node;
        if (spots.data[i].insn)
            entered[utl->entered.count++] = spots.data[i].node;
    }
}

void query_make_utl(struct query *query)
{
    struct builder builder = {.query = query, .lost = STRBUF_INIT};
    struct known known = {0};
    struct query_utl *utl = &query->utl;
    bool within = false;

    know(&builder, query->root, false, &known);
    take_removed(query, &known.removed);
    utl->sequence_count = (uint32_t)known.sequences.length;
    utl->sequences =
        arena_alloc_array(&query->arena, known.sequences.length + 1, struct id_sequence);
    for (uint32_t i = 0; i < utl->sequence_count; i++) {
        const struct sequence *elements = sequence_vec_at(&known.sequences, i);
        uint32_t *nodes = arena_alloc_array(&query->arena, elements->length + 1, uint32_t);
        uint32_t count = 0;
        // two that follow each other in one node may be of one visit
        for (size_t e = 0; e < elements->length; e++)
            if (!count || nodes[count - 1] != elements->data[e].node)
                nodes[count++] = elements->data[e].node;
        within |= count < elements->length;
        utl->sequences[i] = (struct id_sequence){nodes, count};
    }
    if (within || (utl->sequence_count && utl->entered.count))
        lose(&builder, query->root);
    utl->is_exact = builder.lost.length == 0;
    utl->lost = utl->is_exact ? NULL : arena_strdup(&query->arena, builder.lost.data);
    known_deinit(&known);
    arena_deinit(&builder.arena);
    strbuf_deinit(&builder.lost);
}
