// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/order.h"

#include "common/alloc.h"

#include <stdlib.h>
#include <string.h>

static uint32_t edge_of(const struct order *order, uint32_t node, uint32_t k)
{
    return order->model->successor_start[order->first_node + node] + k - order->first_edge;
}

static struct node_list successors_of(const struct order *order, uint32_t node)
{
    return model_successors(order->model, (struct node_id){order->first_node + node});
}

void order_init(struct order *order, const struct model *model, struct function_id function)
{
    enum { UNSEEN, OPEN, CLOSED };
    const struct model_function *f = model_function(model, function);
    uint32_t *path = xmalloc_array(2u * f->node_count + 2u, sizeof(*path)), top = 0;
    uint8_t *state = xcalloc(f->node_count + 1u, 1);

    *order = (struct order){.model = model,
                            .first_node = f->first_node,
                            .count = f->node_count,
                            .first_edge = model->successor_start[f->first_node]};
    order->leads_back =
        xcalloc(model->successor_start[f->first_node + f->node_count] - order->first_edge + 1u, 1);
    predecessors_init(&order->before, model, function);
    path[top++] = 0;
    path[top++] = 0;
    state[0] = OPEN;
    while (top) {
        uint32_t n = path[top - 2], k = path[top - 1]++;
        struct node_list next = successors_of(order, n);

        if (k >= next.count) {
            state[n] = CLOSED;
            top -= 2;
            continue;
        }
        uint32_t to = next.data[k].value - order->first_node;
        order->leads_back[edge_of(order, n, k)] = state[to] == OPEN;
        if (state[to] == UNSEEN) {
            state[to] = OPEN;
            path[top++] = to;
            path[top++] = 0;
        }
    }
    free(path);
    free(state);
}

void order_deinit(struct order *order)
{
    predecessors_deinit(&order->before);
    free(order->leads_back);
}

// The loop that an edge from `end` back to `header` closes.
static void mark_loop(const struct order *order, uint32_t end, uint32_t header, uint8_t *loop,
                      uint32_t *work)
{
    uint32_t count = 0;

    memset(loop, 0, order->count);
    loop[header] = 1;
    if (!loop[end])
        work[count++] = end;
    loop[end] = 1;
    while (count) {
        uint32_t n = work[--count];

        for (uint32_t p = order->before.start[n]; p < order->before.start[n + 1]; p++)
            if (!loop[order->before.node[p]]) {
                loop[order->before.node[p]] = 1;
                work[count++] = order->before.node[p];
            }
    }
}

static void push_next(const struct order *order, uint32_t n, const uint8_t *inside, uint8_t *behind,
                      uint32_t *work, uint32_t *count)
{
    struct node_list next = successors_of(order, n);

    for (uint32_t k = 0; k < next.count; k++) {
        uint32_t to = next.data[k].value - order->first_node;

        if (order->leads_back[edge_of(order, n, k)] || behind[to] || (inside && inside[to]))
            continue;
        behind[to] = 1;
        work[(*count)++] = to;
    }
}

void order_mark_behind(const struct order *order, uint32_t node, uint8_t *behind)
{
    uint32_t total = order->count, count = 0;
    uint32_t *work = xmalloc_array(total + 1u, sizeof(*work));
    uint32_t *inner = xmalloc_array(total + 1u, sizeof(*inner));
    uint8_t *loop = xcalloc(total + 1u, 1);

    memset(behind, 0, total);
    push_next(order, node, NULL, behind, work, &count);
    for (uint32_t n = 0; n < total; n++) {
        struct node_list next = successors_of(order, n);

        for (uint32_t k = 0; k < next.count; k++) {
            if (!order->leads_back[edge_of(order, n, k)])
                continue;
            mark_loop(order, n, next.data[k].value - order->first_node, loop, inner);
            for (uint32_t m = 0; loop[node] && m < total; m++)
                if (loop[m])
                    push_next(order, m, loop, behind, work, &count);
        }
    }
    while (count)
        push_next(order, work[--count], NULL, behind, work, &count);
    behind[node] = 0;
    free(work);
    free(inner);
    free(loop);
}
