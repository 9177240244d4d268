// SPDX-License-Identifier: Apache-2.0
// The result of dep_slice as JSON (README.md).
#ifndef TRUTH_DEP_OUTPUT_H
#define TRUTH_DEP_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

struct dep_table;

// An activation that is not over.
struct dep_frame {
    uint32_t function, activation;
    uint32_t call;                // instance of the call that entered it, or 0
    bool direct;                  // by that call itself, not from inside the library
    uint32_t node, node_instance; // at hand; UINT32_MAX before the first
    uint32_t next;                // instruction of it that has not been executed
    uint32_t current;             // instance of the last one that the trace names
    bool in_call, known;          // that is a call; its effects are known
    uint32_t calls_back;          // what callbacks from inside that call depend on
    uint32_t first_value, passed_count, first_local;
};

struct dep_result {
    struct dep_table *table;
    const struct dep_frame *frames; // outermost first
    uint32_t frame_count;
    const bool *in_slice;    // by instruction
    const uint32_t *unknown; // calls of unknown functions, by instruction
    uint64_t records;
    uint32_t instances, marked;
    bool is_vague; // the trace does not tell which instruction failed
};

void dep_write_result(const struct dep_result *result);

#endif
