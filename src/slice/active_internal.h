// SPDX-License-Identifier: Apache-2.0
// Shared by the files of active.h.
#ifndef SLICE_ACTIVE_INTERNAL_H
#define SLICE_ACTIVE_INTERNAL_H

#include "common/bitset.h"
#include "slice/active.h"

struct flow_edge;

// Of one activation's graph, what lies between where it begins and where it stands.
struct active_reach {
    bool possible;
    bool *copies; // by copy of the view
    bool *edges;  // by edge of the view
};

// ---- active_view.c

// Can control go over an edge of this node? With `closed` the node's call was never made: a signal
// handler may have jumped away before it.
bool active_crosses(const struct ask_case *ask, bool closed, const struct flow_edge *edge);

// `free`: calls that were never made are not heeded.
void active_reach_init(struct active_reach *reach, const struct ask_case *ask,
                       const struct view *view, bool free);
void active_reach_deinit(struct active_reach *reach);

// Adds the nodes (of the flow) and edges that every way through the view passes.
void active_certain(const struct active *active, const struct view *view,
                    const struct active_reach *reach, struct bitset *nodes, struct bitset *edges);

// ---- active.c

// Can control also go from one node to the other by a jump that lands there?
bool active_is_jump(const struct active *active, uint32_t from, uint32_t to);
// Control may have gone from one node to the other, over an edge of the flow with these flags: adds
// the model's edge and, where it may have been a jump, the edges of calls that return twice.
void active_cross(const struct active *active, uint32_t from, uint32_t to, uint32_t flags,
                  struct bitset *edges);

#endif
