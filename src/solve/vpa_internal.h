// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the context-sensitive solver; see vpa.h.
#ifndef SOLVE_VPA_INTERNAL_H
#define SOLVE_VPA_INTERNAL_H

#include "solve/complete.h"
#include "solve/vpa.h"

// Edges of the flow, backwards.
struct vpa_reverse {
    uint32_t *start;         // node_count + 1
    struct flow_edge *edges; // target: the node that the edge comes from
};

struct vpa {
    const struct vpa_problem *problem;
    const struct flow *flow;
    struct complete complete;
    struct vpa_reverse reverse;
    uint32_t *caller_start; // set_count + 1: the nodes that call each set
    uint32_t *callers;
    uint32_t *distinct; // numbers of views, one of those that are alike
    uint32_t distinct_count;
    uint8_t *set_needed;      // how calls of the set end in some run: FLOW_BEHIND, FLOW_LANDS
    uint8_t *function_needed; // the same by function
    uint32_t *needed;         // functions that are needed in any way
    uint32_t needed_count;
    struct bitset useful; // nodes of completed calls that are on the way to a needed end
    struct budget *budget;
};

// By copy of a view.
enum view_reach {
    VIEW_FORWARD = 1u << 0,
    VIEW_BACKWARD = 1u << 1,
    VIEW_USEFUL = VIEW_FORWARD | VIEW_BACKWARD,
};

// ---- vpa_may.c

// What lies on the way from a start of the view to an end of it; to be freed. NULL: nothing does.
uint8_t *vpa_view_reach(const struct vpa *vpa, const struct view *view);
// Marks in `may` what may have run in the activations, and in vpa what completed calls they need.
// False: in activation *ret_view there is no way.
bool vpa_may(struct vpa *vpa, struct bitset *may, uint32_t *ret_view);

// ---- vpa_sample.c

// The functions of which one run, the same for all activations, completes calls. There is a run.
void vpa_sample(const struct vpa *vpa, struct bitset *functions);

// ---- vpa_must.c

void vpa_must(struct vpa *vpa, struct bitset *must);

#endif
