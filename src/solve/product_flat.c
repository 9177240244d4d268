// SPDX-License-Identifier: Apache-2.0
// A product without contexts: one graph.
#include <stdlib.h>

#include "common/alloc.h"
#include "solve/product_internal.h"

// By function: the nodes that may call it and that are passed.
static void index_callers(struct product *product)
{
    const struct flow *flow = product->flow;
    uint32_t *start = xcalloc(flow->function_count + 2u, sizeof(*start));

    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < flow->node_count; n++) {
            struct flow_callees callees = flow_callees(flow, n);

            for (uint32_t i = 0; i < callees.count && !bitset_test(&product->closed, n); i++)
                if (pass == 0)
                    start[callees.data[i] + 2]++;
                else
                    product->callers[start[callees.data[i] + 1]++] = n;
        }
        if (pass == 1)
            break;
        for (uint32_t f = 0; f < flow->function_count; f++)
            start[f + 2] += start[f + 1];
        product->callers = xmalloc_array(start[flow->function_count + 1] + 1u, sizeof(uint32_t));
    }
    product->caller_start = start;
}

// Where a return of `function` may lead: behind any node that may call it.
static void flat_leave(struct product *product, uint32_t from, uint32_t state, uint32_t function,
                       uint32_t how)
{
    const struct flow *flow = product->flow;

    for (uint32_t c = product->caller_start[function]; c < product->caller_start[function + 1];
         c++) {
        uint32_t n = product->callers[c];
        uint32_t after = product_letter_leave(product, state, 0, n, function);
        struct flow_edges next = flow_edges(flow, n);
        for (uint32_t k = 0; after != AUTOMATON_DEAD && k < next.count; k++) {
            uint32_t target = next.data[k].target, mode;

            if (!(next.data[k].flags & how) ||
                (mode = product_letter_step(product, after, target)) == AUTOMATON_DEAD)
                continue;
            uint32_t to =
                product_add_state(product, target, (struct product_state){0, target, mode, target});
            product_add_edge(product,
                             (struct product_edge){from, to, FLOW_NONE, FLOW_NONE, false, false});
        }
        if (how == FLOW_LANDS && after != AUTOMATON_DEAD) {
            uint32_t place = flow->node_count + flow->node_function[n];
            uint32_t to = product_add_state(product, place,
                                            (struct product_state){0, place, after, FLOW_NONE});
            product_add_edge(product,
                             (struct product_edge){from, to, FLOW_NONE, FLOW_NONE, false, false});
        }
    }
}

// A signal handler comes.
static void flat_interrupt(struct product *product, uint32_t id)
{
    const struct flow *flow = product->flow;
    uint32_t symbol, node = product->states.data[id].node;

    if (flow->signals == FLOW_NONE)
        return;
    uint32_t entry = flow->functions[flow->signals].entry;
    uint32_t mode =
        product_letter_call(product, product_mode(product, id).state, node, flow->signals, &symbol);
    if (mode != AUTOMATON_DEAD)
        mode = product_letter_step(product, mode, entry);
    if (mode == AUTOMATON_DEAD)
        return;
    uint32_t to = product_add_state(product, entry, (struct product_state){0, entry, mode, entry});
    product_add_edge(product, (struct product_edge){id, to, FLOW_NONE, flow->signals, true, false});
}

// It goes back to any node, and anywhere in it, since it may have come there.
static void flat_resume(struct product *product, uint32_t id)
{
    const struct flow *flow = product->flow;
    const struct automaton *automaton = product->problem.automaton;
    uint32_t state = product_mode(product, id).state;

    for (uint32_t n = 0; n < flow->node_count; n++) {
        struct product_mode mode = {.state =
                                        product_letter_leave(product, state, 0, n, flow->signals)};

        if (mode.state == AUTOMATON_DEAD ||
            (product->problem.absent && bitset_test(product->problem.absent, n)))
            continue;
        do {
            uint32_t to = product_add_state(
                product, n, (struct product_state){0, n, product_mode_number(product, mode), n});
            product_add_edge(product,
                             (struct product_edge){id, to, FLOW_NONE, FLOW_NONE, false, true});
            mode.insn = automaton ? automaton_next_spot(automaton, n, mode.insn) : 0;
        } while (mode.insn);
    }
}

static bool is_among(const uint32_t *nodes, uint32_t count, uint32_t node)
{
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i] == node)
            return true;
    return false;
}

// May the run end here? `midst`: control has not come to the end of the node.
static bool may_end(const struct product_problem *problem, uint32_t node, bool midst)
{
    return problem->end_count == 0 ||
           (is_among(problem->ends, problem->end_count, node) &&
            (!midst || is_among(problem->amid, problem->amid_count, node)));
}

// Places behind the nodes': a function that a jump leaves.
void product_work_flat(struct product *product, uint32_t id)
{
    const struct flow *flow = product->flow;
    struct product_state state = product->states.data[id];

    if (state.node == FLOW_NONE) {
        flat_leave(product, id, state.mode, state.place - flow->node_count, FLOW_LANDS);
        return;
    }
    flat_interrupt(product, id);
    uint32_t mode_here = product_mode(product, id).state;
    uint32_t function = flow->node_function[state.node];
    struct flow_edges next = flow_edges(flow, state.node);
    struct flow_callees callees = flow_callees(flow, state.node);
    bool closed = bitset_test(&product->closed, state.node);

    bool midst = product_add_next_spot(product, id);
    if (may_end(&product->problem, state.node, midst))
        product_add_final(product, id);
    if ((flow->signals != FLOW_NONE && flow->has_jumps) ||
        (!closed && !midst && flow->node_flags[state.node] & FLOW_JUMPS)) {
        uint32_t place = flow->node_count + function;
        uint32_t to = product_add_state(product, place,
                                        (struct product_state){0, place, mode_here, FLOW_NONE});
        product_add_edge(product,
                         (struct product_edge){id, to, FLOW_NONE, FLOW_NONE, false, false});
    }
    // a frame that need not have come to the end of its node may wait for a call all the same
    if (closed ||
        (midst && !is_among(product->problem.amid, product->problem.amid_count, state.node)))
        return;
    for (uint32_t k = 0; !midst && k < next.count; k++) {
        uint32_t target = next.data[k].target, mode;

        if (!(next.data[k].flags & FLOW_PAST) ||
            (mode = product_letter_step(product, mode_here, target)) == AUTOMATON_DEAD)
            continue;
        uint32_t to =
            product_add_state(product, target, (struct product_state){0, target, mode, target});
        product_add_edge(product,
                         (struct product_edge){id, to, FLOW_NONE, FLOW_NONE, false, false});
    }
    for (uint32_t i = 0; i < callees.count; i++) {
        uint32_t symbol, entry = flow->functions[callees.data[i]].entry, mode;
        uint32_t inner =
            product_letter_call(product, mode_here, state.node, callees.data[i], &symbol);

        if (inner == AUTOMATON_DEAD || !flow->functions[callees.data[i]].node_count ||
            (mode = product_letter_step(product, inner, entry)) == AUTOMATON_DEAD)
            continue;
        uint32_t to =
            product_add_state(product, entry, (struct product_state){0, entry, mode, entry});
        product_add_edge(product,
                         (struct product_edge){id, to, FLOW_NONE, callees.data[i], true, false});
    }
    if (midst || !(flow->node_flags[state.node] & FLOW_RETURNS))
        return;
    flat_leave(product, id, mode_here, function, FLOW_BEHIND);
    if (function == flow->signals)
        flat_resume(product, id);
}

void product_start_flat(struct product *product)
{
    uint32_t entry = product->flow->functions[product->problem.start].entry;
    uint32_t initial = product->problem.automaton ? product->problem.automaton->initial : 0;
    uint32_t mode = product_letter_step(product, initial, entry);

    index_callers(product);
    if (mode != AUTOMATON_DEAD)
        product_add_state(product, entry, (struct product_state){0, entry, mode, entry});
}
