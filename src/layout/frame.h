// SPDX-License-Identifier: Apache-2.0
/*
 * What an instrumented program keeps in memory while it runs, and where.
 *
 * Loaded data, one set a module:
 *   - a descriptor (struct layout_descriptor) in section `inquest_desc`, found by section name, so
 *     that it survives `strip`;
 *   - one byte a call site, `inquest_cov`: non-zero when the call was about to be entered, ever;
 *   - one byte a function, `inquest_flags`: enum layout_flag, edited by `inquest tune`.
 *
 * On the stack, one a record-carrying activation, inlined ones included: the frame record, a
 * variable of the name LAYOUT_FRAME_VARIABLE in DWARF. Its members, each present only when the
 * shape of the function asks for it, in this order and naturally aligned:
 *
 *     uint32_t cookie      0 after exit, where the function says so (SECTION_FUNCTION_CLEARS)
 *     uint32_t pending     1 + index of the last call site about to be entered in this activation
 *     uint64_t sum         running path sum                          if shape.has_sum
 *     uint64_t ring_count  paths finished in this activation         if shape.has_ring
 *     uint64_t ring[16]    slot (k % 16) holds the k-th path's sum    if shape.has_ring
 *     uint8_t  calls[n]    1 when that chain's first call was about to be entered (path_chain())
 *                                                                    if shape.local_sites > 0
 *
 * The shape is a pure function of the model (program/path_number.h), so it is stored nowhere.
 * Order of updates: the ring slot is written before ring_count, ring_count before the new sum;
 * everything is initialised before the cookie is set.
 *
 * Shared by the compiler plugin and the reader. No libc.
 */
#ifndef LAYOUT_FRAME_H
#define LAYOUT_FRAME_H

#include <stdint.h>

#define LAYOUT_VERSION            2u
#define LAYOUT_FRAME_VARIABLE     "__inquest_frame"
#define LAYOUT_DESCRIPTOR_SECTION "inquest_desc"
#define LAYOUT_COVERAGE_SECTION   "inquest_cov"
#define LAYOUT_FLAGS_SECTION      "inquest_flags"
#define LAYOUT_RING_SLOTS         16u

// A global of this name followed by 16 hex digits of the module id stands in each compile unit's
// DWARF; it ties the unit to its bitcode.
#define LAYOUT_MODULE_VARIABLE "__inquest_module_"

enum layout_flag {
    LAYOUT_FLAG_PATHS = 1u << 0, // run the body that records (all the level has)
};

#define LAYOUT_DESCRIPTOR_MAGIC 0x6d71756573743031ull

struct layout_descriptor {
    uint64_t magic;
    uint64_t module_id;
    int32_t coverage_offset; // of the coverage bytes, from the address of this descriptor
    uint32_t site_count;
    int32_t flags_offset; // of the flag bytes, from the address of this descriptor
    uint32_t function_count;
    uint32_t version; // LAYOUT_VERSION
    uint32_t level;   // enum section_level
    // The offsets once more: the linker fills them in, so that no hash can cover them, and coverage
    // that is read from another place is a lie.
    int32_t coverage_offset_again;
    int32_t flags_offset_again;
};

static inline int layout_descriptor_is_sound(const struct layout_descriptor *descriptor)
{
    return descriptor->coverage_offset == descriptor->coverage_offset_again &&
           descriptor->flags_offset == descriptor->flags_offset_again;
}

// The cookie of function number `index` in module `module_id`; `recording` tells the body that
// keeps paths from the one that only keeps calls. Never 0, and below 2^31: so that one store of a
// sign-extended immediate sets the cookie and clears the pending site.
static inline uint32_t layout_cookie(uint64_t module_id, uint32_t index, int recording)
{
    uint64_t x = module_id + 0x9e3779b97f4a7c15ull * (index + 1ull);

    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    return (((uint32_t)x & 0x7fffffffu) | 2u) ^ (recording ? 1u : 0u);
}

struct layout_shape {
    uint8_t has_record;
    uint8_t has_sum;
    uint8_t has_ring;
    uint32_t local_sites; // bytes in calls[]
};

// Offsets of the members; those that are absent have the offset of the next one.
struct layout_frame {
    uint32_t cookie, pending, sum, ring_count, ring, calls;
    uint32_t size; // multiple of 8
};

static inline struct layout_frame layout_frame_of(const struct layout_shape *shape)
{
    struct layout_frame frame = {.cookie = 0, .pending = 4, .sum = 8};

    frame.ring_count = frame.sum + (shape->has_sum ? 8u : 0u);
    frame.ring = frame.ring_count + (shape->has_ring ? 8u : 0u);
    frame.calls = frame.ring + (shape->has_ring ? 8u * LAYOUT_RING_SLOTS : 0u);
    frame.size = (frame.calls + shape->local_sites + 7u) & ~7u;
    return frame;
}

#endif
