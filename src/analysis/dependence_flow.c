// SPDX-License-Identifier: Apache-2.0
// One function's graph turned round, with its jumps and the instructions that matter to memory.
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence_internal.h"
#include "common/alloc.h"

VEC_DEFINE(flow_node_vec, uint32_t);

struct insn_id node_first_insn(const struct dependence *dependence, struct node_id node,
                               uint32_t *ret_end)
{
    const struct model *model = dependence->model;
    struct module_id module = model_function(model, model_node(model, node)->function)->module;
    const struct code_node *code_node = model_code_node(model, node);
    uint32_t first = dependence->insn_start[module.value] + code_node->first_insn;

    *ret_end = first + code_node->insn_count;
    return (struct insn_id){first};
}

// Two passes of a counting sort: how many lead to each node, then which.
static void add_before(const struct model *model, struct function_flow *flow)
{
    uint32_t *start = xcalloc(flow->node_count + 3u, sizeof(*start)), count = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < flow->node_count; n++) {
            struct node_id node = {flow->first_node + n};
            uint32_t edge = model->successor_start[node.value];
            for (; edge < model->successor_start[node.value + 1]; edge++) {
                uint32_t to = model->successor[edge].value - flow->first_node;
                if (!edge_is_real(model, node, model->successor[edge]))
                    continue;
                if (pass == 0)
                    start[to + 2]++, count++;
                else
                    flow->before[start[to + 1]++] = (struct flow_edge){n, edge};
            }
        }
        if (pass == 0)
            flow->before = xmalloc_array(count + 1u, sizeof(*flow->before));
        for (uint32_t n = 0; pass == 0 && n < flow->node_count; n++)
            start[n + 2] += start[n + 1];
    }
    flow->before_start = start;
}

static void add_jumps(const struct dependence *dependence, struct function_flow *flow)
{
    struct flow_node_vec twice = VEC_INIT, leaving = VEC_INIT;

    for (uint32_t n = 0; n < flow->node_count; n++) {
        struct node_id node = {flow->first_node + n};
        if (model_node(dependence->model, node)->flags & NODE_RETURNS_TWICE)
            flow_node_vec_push(&twice, n);
        if (call_may_jump(dependence, node))
            flow_node_vec_push(&leaving, n);
    }
    flow->twice_count = (uint32_t)twice.length;
    flow->twice = flow_node_vec_steal(&twice);
    flow->leaving_count = (uint32_t)leaving.length;
    flow->leaving = flow_node_vec_steal(&leaving);
}

static void add_events(const struct dependence *dependence, struct function_flow *flow)
{
    const struct model *model = dependence->model;
    struct insn_vec events = VEC_INIT;
    uint32_t end = 0;

    flow->insn_start = xmalloc_array(flow->node_count + 1u, sizeof(uint32_t));
    for (uint32_t n = 0; n < flow->node_count; n++) {
        struct node_id node = {flow->first_node + n};
        bool calls = model->nodes[node.value].site.value != MODEL_NONE;
        flow->insn_start[n] = node_first_insn(dependence, node, &end).value;
        assert(n == 0 || flow->insn_start[n] >= flow->insn_start[n - 1]);
        for (uint32_t i = flow->insn_start[n]; i < end; i++)
            if (dependence->classes.triple_of_insn[i] || (calls && i + 1 == end))
                insn_vec_push(&events, (struct insn_id){i});
    }
    flow->insn_start[flow->node_count] = end;
    flow->event_count = (uint32_t)events.length;
    flow->events = insn_vec_steal(&events);
}

const struct function_flow *flow_get(struct dependence *dependence, struct function_id function)
{
    const struct model_function *f = model_function(dependence->model, function);
    struct function_flow **place = &dependence->flows[function.value];

    if (*place)
        return *place;
    struct function_flow *flow = *place = xcalloc(1, sizeof(*flow));
    flow->first_node = f->first_node;
    flow->node_count = f->node_count;
    add_before(dependence->model, flow);
    add_jumps(dependence, flow);
    add_events(dependence, flow);
    return flow;
}
