// SPDX-License-Identifier: Apache-2.0
/*
 * Which nodes of a function come later in the source than others, loops or not.
 *
 *     struct order order;
 *     order_init(&order, model, function);
 *     order_mark_behind(&order, node, behind); // a byte a node
 *     order_deinit(&order);
 *
 * Behind a node is what control comes to from it without going back, and what the loops that hold
 * it lead to. So of two nodes of one loop the one is behind the other that is so in a single pass.
 */
#ifndef EVIDENCE_CORE_ORDER_H
#define EVIDENCE_CORE_ORDER_H

#include "evidence/core/decode_internal.h"

struct order {
    const struct model *model;
    uint32_t first_node, count;
    struct predecessors before;
    uint32_t first_edge; // of the function, in the model's list
    uint8_t *leads_back; // by edge: to where a walk from the entry has come from
};

void order_init(struct order *order, const struct model *model, struct function_id function);
void order_deinit(struct order *order);
// Sets every byte of `behind`; the node itself is not behind itself.
void order_mark_behind(const struct order *order, uint32_t node, uint8_t *behind);

#endif
