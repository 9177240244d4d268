// SPDX-License-Identifier: Apache-2.0
#include "dep_graph.h"

#include <stdlib.h>

#include "dep_table.h"

struct instance {
    uint32_t insn, node, first; // first of its dependences, or 0
};

struct dependence {
    uint32_t on, next;
};

static struct {
    struct instance *instances;
    uint32_t instances_count, instances_room;
    struct dependence *dependences;
    uint32_t dependences_count, dependences_room;
    uint32_t *choices; // by node instance
    uint32_t choices_count, choices_room;
    uint32_t *work;
    uint32_t work_count, work_room;
    bool *marked;
} graph;

uint32_t dep_new_node(uint32_t choice)
{
    *DEP_PUSH(&graph, choices) = choice;
    return graph.choices_count - 1;
}

uint32_t dep_choice(uint32_t node_instance)
{
    return graph.choices[node_instance];
}

uint32_t dep_new_instance(uint32_t insn, uint32_t node_instance)
{
    if (!graph.instances_count)
        (void)DEP_PUSH(&graph, instances);
    *DEP_PUSH(&graph, instances) = (struct instance){insn, node_instance, 0};
    return graph.instances_count - 1;
}

void dep_depend(uint32_t instance, uint32_t on)
{
    struct instance *from = &graph.instances[instance];

    if (!on || on == instance || (from->first && graph.dependences[from->first].on == on))
        return;
    if (!graph.dependences_count)
        (void)DEP_PUSH(&graph, dependences);
    *DEP_PUSH(&graph, dependences) = (struct dependence){on, from->first};
    from->first = graph.dependences_count - 1;
}

uint32_t dep_insn_of(uint32_t instance)
{
    return graph.instances[instance].insn;
}

uint32_t dep_node_of(uint32_t instance)
{
    return graph.instances[instance].node;
}

uint32_t dep_instance_count(void)
{
    return graph.instances_count;
}

static void reach(uint32_t instance)
{
    if (instance && !graph.marked[instance]) {
        graph.marked[instance] = true;
        *DEP_PUSH(&graph, work) = instance;
    }
}

uint32_t dep_mark(uint32_t instance, bool *in_slice)
{
    uint32_t count = 0;

    if (!graph.marked)
        graph.marked = calloc(graph.instances_room, sizeof(bool));
    if (!graph.marked)
        dep_fail("out of memory", "marks");
    reach(instance);
    for (; graph.work_count; count++) {
        const struct instance *from = &graph.instances[graph.work[--graph.work_count]];
        in_slice[from->insn] = true;
        reach(graph.choices[from->node]);
        for (uint32_t d = from->first; d; d = graph.dependences[d].next)
            reach(graph.dependences[d].on);
    }
    return count;
}
