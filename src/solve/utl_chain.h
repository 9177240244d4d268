// SPDX-License-Identifier: Apache-2.0
/*
 * Way-points: is there a path from a source to a sink of a graph that contains given sequences of
 * nodes, and which nodes may and must be on it? The heart of utl.h, on a plain graph.
 */
#ifndef SOLVE_UTL_CHAIN_H
#define SOLVE_UTL_CHAIN_H

#include "analysis/digraph.h"
#include "common/bitset.h"

struct budget;

struct chain_trace {
    const uint32_t *nodes;
    uint32_t count;
};

struct chain_problem {
    const struct digraph *graph;
    uint32_t source, sink;
    const struct chain_trace *traces;
    uint32_t trace_count;
};

// `removed`: a node that is left out, or DIGRAPH_NONE.
bool chain_possible(const struct chain_problem *problem, uint32_t removed);
// By node of the graph; false: there is no path. *complete becomes false when `must` is too small.
bool chain_cover(const struct chain_problem *problem, struct budget *budget, struct bitset *may,
                 struct bitset *must, bool *complete);

#endif
