// SPDX-License-Identifier: Apache-2.0
// Between dep_runtime.c, which writes the trace, and dep_library.c, which knows the C library.
#ifndef TRUTH_DEP_RUNTIME_H
#define TRUTH_DEP_RUNTIME_H

#include <stdint.h>

#include "dep_trace.h"

struct dep_effects {
    const char *name;
    const char *effects; // see dep_library.c
};

// A call of a library function at hand.
struct dep_call {
    uint32_t insn, count;
    const uint64_t *arguments;
    uint64_t result; // after it
};

void dep_log(enum dep_kind kind, uint32_t at, uint32_t extra, uint64_t value);

// NULL: not known.
const struct dep_effects *dep_find_effects(const char *name);
// What it will read, when it is about to be made; what it has written, when it has returned.
void dep_before(const struct dep_effects *effects, const struct dep_call *call);
void dep_after(const struct dep_effects *effects, const struct dep_call *call);

#endif
