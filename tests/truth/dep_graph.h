// SPDX-License-Identifier: Apache-2.0
/*
 * Instances of instructions and what each depends on. An instance belongs to an instance of its
 * node, which depends on the choice that led there (a branch's instance, or the call of the
 * function). Instance 0 is none.
 */
#ifndef TRUTH_DEP_GRAPH_H
#define TRUTH_DEP_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

uint32_t dep_new_node(uint32_t choice);
uint32_t dep_choice(uint32_t node_instance);
uint32_t dep_new_instance(uint32_t insn, uint32_t node_instance);
void dep_depend(uint32_t instance, uint32_t on); // `on` may be 0
uint32_t dep_insn_of(uint32_t instance);
uint32_t dep_node_of(uint32_t instance); // the instance of its node
uint32_t dep_instance_count(void);

// Marks all that the instance depends on, and itself; `in_slice` by instruction. Returns how many
// instances were not yet marked.
uint32_t dep_mark(uint32_t instance, bool *in_slice);

#endif
