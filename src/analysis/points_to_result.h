// SPDX-License-Identifier: Apache-2.0
// What the files points_to_{result,access,callees,text}.c share. Only they include it.
#ifndef ANALYSIS_POINTS_TO_RESULT_H
#define ANALYSIS_POINTS_TO_RESULT_H

#include "analysis/points_to_internal.h"

VEC_DEFINE(cell_vec, struct cell);
VEC_DEFINE(object_vec, struct object);
VEC_DEFINE(cell_id_vec, struct cell_id);
VEC_DEFINE(cell_set_vec, struct cell_set);
VEC_DEFINE(accesses_vec, struct accesses);

struct results {
    struct arena arena;
    struct cell_vec cells;
    struct object_vec objects; // without temporary ones
    struct id_vec sources;     // by result object: object of the graph
    uint32_t *object_ids;      // by object of the graph; MODEL_NONE
    uint32_t *cell_of_point;   // MODEL_NONE
    struct id_vec cell_nodes;  // by cell: what it holds, or NODE_NONE
    // made on demand
    struct cell_set **known_nodes, **known_points;
    struct pt_memo extents;
    struct cell_set_vec extent_sets;
    struct pt_map access_of_insn;
    struct accesses_vec accesses;
    struct cell_id_vec scratch;
};

struct value results_operand(const struct points_to *pt, uint32_t module, struct operand operand);
struct cell_set results_node(const struct points_to *pt, uint32_t node);
struct cell_set results_value(const struct points_to *pt, struct value value);
void results_value_extent(const struct points_to *pt, struct value value, uint64_t length,
                          struct cell_id_vec *cells);
void cells_add_point(const struct points_to *pt, uint32_t point, struct cell_id_vec *cells);
void cells_add_extent(const struct points_to *pt, uint32_t point, uint64_t length,
                      struct cell_id_vec *cells);
void cells_add_object(const struct results *results, uint32_t object, struct cell_id_vec *cells);
// Sorted, each once, in the results' arena.
struct cell_set cells_finish(struct results *results, struct cell_id_vec *cells);
struct cell_set results_cell(const struct points_to *pt, uint32_t cell); // what it holds
struct cell_set anything(void);

// points_to_callees.c: objects of which there is at most one.
void singles_find(struct points_to *pt);

#endif
