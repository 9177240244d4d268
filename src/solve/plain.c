// SPDX-License-Identifier: Apache-2.0
#include "solve/plain.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "solve/automaton.h"
#include "solve/complete.h"

struct notice {
    const struct flow *flow;
    struct bitset *plain;
    uint32_t *work; // functions that are not plain, and whose callers are to be told
    uint32_t work_count;
};

static void notice(struct notice *n, uint32_t function)
{
    if (!bitset_test(n->plain, function))
        return;
    bitset_clear(n->plain, function);
    n->work[n->work_count++] = function;
}

// By set: the functions that may call a member.
static void callers_of_sets(const struct complete *complete, bool if_opened, uint32_t **ret_start,
                            uint32_t **ret_callers)
{
    const struct flow *flow = complete->flow;
    uint32_t *start = xcalloc(flow->set_count + 2u, sizeof(*start));
    uint32_t *callers = xmalloc_array(flow->node_count + 1u, sizeof(*callers));

    for (uint32_t n = 0; n < flow->node_count; n++)
        if (if_opened || !bitset_test(complete->closed, n))
            start[flow->node_set[n] + 2u]++;
    for (uint32_t s = 0; s < flow->set_count; s++)
        start[s + 2u] += start[s + 1u];
    for (uint32_t n = 0; n < flow->node_count; n++)
        if (if_opened || !bitset_test(complete->closed, n))
            callers[start[flow->node_set[n] + 1u]++] = flow->node_function[n];
    *ret_start = start;
    *ret_callers = callers;
}

void plain_init(struct bitset *plain, const struct complete *complete, const struct bitset *absent,
                const struct automaton *automaton, bool if_opened)
{
    const struct flow *flow = complete->flow;
    struct notice n = {flow, plain, xmalloc_array(flow->function_count + 1u, sizeof(uint32_t)), 0};
    bool *told = xcalloc(flow->set_count + 1u, sizeof(*told));
    uint32_t *start, *callers;

    bitset_init(plain, flow->function_count);
    bitset_set_all(plain);
    callers_of_sets(complete, if_opened, &start, &callers);
    for (uint32_t node = 0; node < flow->node_count; node++)
        if ((if_opened || bitset_test(&complete->reached, node)) &&
            (flow->node_flags[node] & FLOW_JUMPS || (absent && bitset_test(absent, node)) ||
             (automaton && automaton->minds(automaton, node))))
            notice(&n, flow->node_function[node]);
    while (n.work_count) {
        uint32_t function = n.work[--n.work_count];

        for (uint32_t i = complete->in_start[function]; i < complete->in_start[function + 1]; i++) {
            uint32_t set = complete->in_sets[i];

            for (uint32_t c = start[set]; !told[set] && c < start[set + 1]; c++)
                notice(&n, callers[c]);
            told[set] = true;
        }
    }
    // handlers come at any node
    if (flow->signals != FLOW_NONE && !bitset_test(plain, flow->signals))
        bitset_clear_all(plain);
    free(n.work);
    free(told);
    free(start);
    free(callers);
}
