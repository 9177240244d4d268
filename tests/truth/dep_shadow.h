// SPDX-License-Identifier: Apache-2.0
/*
 * What is known of each byte of the traced program's memory: which instance of an instruction wrote
 * it last, and which object it belongs to; and which objects each instruction touched.
 */
#ifndef TRUTH_DEP_SHADOW_H
#define TRUTH_DEP_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

// The instance that wrote the byte; 0: none that is known.
uint32_t dep_writer(uint64_t address);
void dep_set_writer(uint64_t address, uint64_t length, uint32_t writer);

enum dep_object_kind { DEP_OBJECT_OTHER, DEP_OBJECT_GLOBAL, DEP_OBJECT_LOCAL, DEP_OBJECT_HEAP };

// What an object is in the program's text.
struct dep_identity {
    uint32_t kind;     // enum dep_object_kind
    uint32_t index;    // of the variable, or the instruction that made it
    uint32_t outer[2]; // HEAP: calls that led there, inside first; UINT32_MAX: none
};

// The object's number, for dep_forget_object; 0 when it is too large to be looked after.
uint32_t dep_begin_object(const struct dep_identity *identity, uint64_t address, uint64_t size);
void dep_forget_object(uint32_t object); // its memory is nobody's, and nobody has written it
// The object that begins there ends: what touches it now is stale. `keeps`: its contents stay.
void dep_release(uint64_t address, bool keeps);
// The object there, if any, was written by who knows.
void dep_clobber(uint64_t address);

// Instruction `insn` touches these bytes.
void dep_note_access(uint32_t insn, bool is_write, uint64_t address, uint64_t length);

#define DEP_SPANS 64u

struct dep_access {
    uint32_t insn;
    uint32_t identity; // see dep_identity
    bool is_write, is_stale /* the object had ended */, has_more /* spans */, used;
    uint32_t span_count;
    struct {
        uint64_t offset, length;
    } *spans;
};

const struct dep_identity *dep_identity(uint32_t identity);
// All of them, in no order; entries with `used` unset are none.
const struct dep_access *dep_accesses(uint32_t *count);

#endif
