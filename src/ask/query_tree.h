// SPDX-License-Identifier: Apache-2.0
/*
 * A query as a tree, for the files of this folder: query_parse.c makes it, query_names.c fills in
 * what names stand for, the others read it.
 */
#ifndef ASK_QUERY_TREE_H
#define ASK_QUERY_TREE_H

#include "ask/near.h"
#include "ask/query.h"
#include "common/arena.h"
#include "common/error.h"
#include "common/vec.h"

enum {
    QUERY_LENGTH_MAX = 65536, // bytes of text
    QUERY_NODES_MAX = 2000,   // of the tree
    QUERY_DEPTH_MAX = 100,
};

enum query_kind {
    // Events: what a single letter may match
    QUERY_ATOM,
    QUERY_INSIDE,  // of an event an event; of anything else a query
    QUERY_OUTSIDE, // of an event
    // Queries. An event as a query: it happens.
    QUERY_ONLY_INSIDE, // parts[0] an event
    QUERY_NEVER,
    QUERY_NOT,
    QUERY_AND,
    QUERY_OR, // of events, an event
    QUERY_THEN,
    QUERY_WITHOUT, // parts[0] an event, parts[1] what may not be before it
    QUERY_PATTERN, // parts[0] one of those below
    // Patterns
    PATTERN_EVENT,  // parts[0]
    PATTERN_ANY,    // one letter
    PATTERN_ALL,    // any number of them; of a query, any piece of run (query_shares.h)
    PATTERN_ONE_OF, // parts: events
    PATTERN_NONE_OF,
    PATTERN_SEQUENCE,
    PATTERN_EITHER,
    PATTERN_STAR,
    PATTERN_PLUS,
    PATTERN_OPTIONAL,
    PATTERN_BALANCED,
    PATTERN_CALL, // function, parts[0]
    PATTERN_UNFINISHED,
};

// A function's name, and what it stands for.
struct query_function {
    const char *file; // `a.c:f`; NULL where any will do
    const char *name;
    struct query_place where;
    struct id_set functions; // of the model; empty: it has no model
    struct id_set entries;   // their first nodes
    bool entered_once;       // a call reaches them once: no edge leads there
    struct id_set callers;   // nodes whose call may enter them; without a model: that name it
    struct spot_set calls;   // without a model: where in them the call is
    struct id_set own_nodes; // all nodes of the functions: only where it is looked inside of
};

enum query_atom_kind {
    ATOM_PLACE,  // file:line[:column]
    ATOM_ENTRY,  // f()
    ATOM_CALL,   // call f
    ATOM_RETURN, // return f
    ATOM_SITE,   // place -> f
    ATOM_NODE,   // node f#3, or what GraphML calls it
};

struct query_atom {
    enum query_atom_kind kind;
    const char *file; // or the node's name
    struct query_place file_where, line_where;
    uint32_t line, column; // column 0: any
    struct id_set nodes;   // of a place, a node, an entry
    struct spot_set spots; // of a place: where in them it begins
    // Of a place, without jumps that only may be of its line: these count where the line is to have
    // run, and not where it is to have not.
    struct id_set sure_nodes;
    struct spot_set sure_spots;
};

struct query_node {
    enum query_kind kind;
    struct query_place where;
    struct query_node **parts;
    uint32_t part_count;
    struct query_atom atom;
    struct query_function function; // of atoms, inside, outside, whole calls
};

VEC_DEFINE(note_vec, const char *);
VEC_DEFINE(spot_vec, struct node_spot);

struct query {
    struct arena arena;
    const char *text;
    struct query_node *root;
    struct note_vec notes;
    uint32_t node_count; // of the model
    struct query_utl utl;
    const char *lost_by_fsa;
};

static inline bool query_is_event(const struct query_node *node)
{
    if (node->kind == QUERY_INSIDE || node->kind == QUERY_OUTSIDE)
        return query_is_event(node->parts[0]);
    if (node->kind != QUERY_OR)
        return node->kind == QUERY_ATOM;
    for (uint32_t i = 0; i < node->part_count; i++)
        if (!query_is_event(node->parts[i]))
            return false;
    return true;
}

// ERROR_FORMAT or ERROR_NOT_FOUND with the column in front.
struct error *query_error(const char *text, enum error_code code, struct query_place where,
                          struct query_place *ret, const char *format, ...)
    __attribute__((__format__(__printf__, 5, 6)));

// text is the query's own. Fills in root.
struct error *query_parse_text(struct query *query, struct query_place *where);
// Fills in what names stand for, and the notes.
struct error *query_resolve(struct query *query, const struct model *model,
                            struct query_place *where);
// Fills in query->utl.
void query_make_utl(struct query *query);
// Fills in all that is made of the tree.
void query_make_ready(struct query *query);

#endif
