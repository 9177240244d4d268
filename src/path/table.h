// SPDX-License-Identifier: Apache-2.0
/*
 * The weights of definitions 6 and 7 of paper 004, element by element: what paths from a
 * procedure's entry to each vertex are worth.
 *
 *     struct table table;
 *     table_init(&table, graph, budget);
 *     table.order = TABLE_BY_LENGTH;
 *     table_run(&table);
 *     ... table.elements at the graph's goals ...
 *     table_tell(&table, element, &events);
 *     table_deinit(&table);
 *
 * An element is a set of marks, a length and a dataflow value at a vertex, with what it came from.
 * Those of a procedure's exits are what its completed calls are worth. An element that another at
 * the same vertex covers (marks.h) is left out.
 *
 * This is a dense form of what the weighted pushdown core computes (system.h), where one element is
 * one weight: each is looked at once, in an order in which elements are final when their turn
 * comes (Knuth: A generalization of Dijkstra's algorithm; with bounds: Felzenszwalb, McAllester:
 * The generalized A* architecture, 2007), and the search ends when the best path is known.
 */
#ifndef PATH_TABLE_H
#define PATH_TABLE_H

#include "common/arena.h"
#include "path/bounds.h"
#include "path/graph.h"
#include "path/detours.h"
#include "path/queue.h"

#define TABLE_NONE UINT32_MAX

enum table_order {
    // The shortest first. Covered: also by what is not longer.
    TABLE_BY_LENGTH,
    // Those with the most to show for it first; then the shortest. Covered whatever the length: the
    // best marks are found, with some path that has them.
    TABLE_BY_MARKS,
};

struct element {
    uint64_t bits;
    uint32_t length;
    uint32_t vertex;
    uint32_t before;  // element that it was made of; TABLE_NONE: it begins here
    uint32_t through; // that of the completed call
    uint32_t edge;
    uint32_t next; // at the same vertex
    struct dataflow_value value;
    bool is_settled, is_dead;
};
VEC_DEFINE(element_vec, struct element);

struct settled {
    uint64_t bits;
    uint32_t length;
    uint32_t id;
};
VEC_DEFINE(settled_vec, struct settled);
VEC_DEFINE(table_heap, struct path_queue_entry);

// What is needed of an element, where many are looked at.
struct holding {
    uint32_t length; // UINT32_MAX: there is none
    uint32_t id;
    uint32_t bits;
};

struct table {
    const struct graph *graph;
    const struct marks *marks;
    struct dataflow *dataflow;
    struct budget *budget;
    enum table_order order;
    const struct bounds *bounds;   // or NULL
    const struct detours *detours; // or NULL
    uint64_t wanted;               // with bounds: marks that the best path has for sure
    // By length: ends when a goal is reached with marks that are worth as much.
    bool has_target;
    double target;
    uint32_t start;               // a vertex of the spine; the graph's origin
    const struct bitset *allowed; // vertices that are looked at; NULL: all
    uint64_t length_most;         // longer paths are not looked for
    uint32_t element_most;        // 0: no limit
    uint32_t a_vertex_most;       // settled at one vertex, for each number of marks; 0: no limit
    // What seems best first, though it may not be: as if each mark that is missing took a detour of
    // its own.
    bool is_greedy;

    struct element_vec elements;
    uint32_t *first;  // by vertex
    uint32_t **count; // by vertex and number of marks: settled, where there is a limit
    // By vertex, of those that call or are exits: what has been settled there.
    struct settled_vec *settled;
    // Where marks are few: by vertex, for each set of marks the length of the shortest element that
    // covers it. Sets are numbered so that more is better.
    bool is_dense;
    uint32_t **shortest;
    // Where more marks are always better, too: by vertex of those that call or are exits, for each
    // set the shortest settled element that has it.
    bool is_pure;
    struct holding **holder;
    struct arena arena;
    struct path_queue queue;
    struct table_heap heap; // by marks
    bool complete;          // false: a limit was met
    bool has_dropped;       // a_vertex_most was
    uint32_t found;         // the element that ended it, or TABLE_NONE
};

void table_init(struct table *table, const struct graph *graph, struct budget *budget);
void table_deinit(struct table *table);
void table_run(struct table *table);
// The run to an element of the spine. False: it has more than `most` events.
bool table_tell(const struct table *table, uint32_t element, uint32_t most,
                struct path_event_vec *events);

#endif
