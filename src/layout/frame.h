// SPDX-License-Identifier: Apache-2.0
/*
 * What an instrumented program keeps in memory while it runs, and where.
 *
 * Loaded data, one set a module:
 *   - a descriptor (struct layout_descriptor) in section `inquest_desc`, found by section name, so
 *     that it survives `strip`;
 *   - one byte a call site, `inquest_cov`: LAYOUT_UNCALLED until the call was about to be entered,
 *     LAYOUT_CALLED from then on. Anything else was written by somebody else: zeros, text and small
 *     numbers are neither. LAYOUT_GUARD_SIZE bytes LAYOUT_GUARD stand before and behind the bytes
 *     of each module, so that what runs over an object of the user's hits them first;
 *   - one byte a function, `inquest_flags`: enum layout_flag, edited by `inquest tune`; loaded so
 *     that a core tells what was so in its run, whatever was done to the file since;
 *   - before the entry of each function that can be switched off, struct layout_switch.
 *
 * On the stack, one set an activation, inlined ones included: the *frame words*, each a variable of
 * its own in DWARF, LAYOUT_WORD_VARIABLE and its number. Their address is not known to anybody, so
 * that no call can change them, no canary is drawn, and stack protectors put them below all arrays.
 *
 * A word holds the sum of one region of the function (program/path_number.h): word 0 that of the
 * function or its outermost loop that has any, the next one that of a loop inside. Loops beside
 * each other share a word. Words have 32 bits, or 64 in functions with very many paths.
 *
 * A sum is kept as a code, layout_code_of(): `offset + multiplier * sum`. Few sums lead to where an
 * activation stands, so of all values of a word nearly none is right there: 0, 1, a pointer, text
 * and any change of one byte are noticed. The multiplication costs nothing, since it is made on the
 * increments when the program is compiled; and each region has an offset of its own.
 *
 * *Eager* functions (shape.eager) store each change of a sum. In *lazy* ones sums live in
 * registers, and are stored where an activation can come to wait, if the word does not hold the sum
 * already on every way there: before calls, and on edges into loops that have calls. So they are
 * right while a call is waited for, older in a frame that was interrupted, and of another
 * activation where none of this one's calls was passed.
 *
 * The shape is a pure function of the model, so it is stored nowhere. Shared by the compiler plugin
 * and the reader. No libc.
 */
#ifndef LAYOUT_FRAME_H
#define LAYOUT_FRAME_H

#include <stdint.h>

#define LAYOUT_VERSION            4u
#define LAYOUT_WORD_VARIABLE      "__inquest_path" // and a digit
#define LAYOUT_MOST_WORDS         8u
#define LAYOUT_DESCRIPTOR_SECTION "inquest_desc"
#define LAYOUT_COVERAGE_SECTION   "inquest_cov"
#define LAYOUT_FLAGS_SECTION      "inquest_flags"
#define LAYOUT_PLAIN_SUFFIX       ".inquest.plain" // of the name of a function's plain copy

#define LAYOUT_UNCALLED 0xb1u
#define LAYOUT_CALLED   0xd6u

#define LAYOUT_GUARD      0x8du
#define LAYOUT_GUARD_SIZE 64u

// A global of this name followed by 16 hex digits of the module id stands in each compile unit's
// DWARF; it ties the unit to its bitcode.
#define LAYOUT_MODULE_VARIABLE "__inquest_module_"

// Values that nothing else is likely to write; any other is not known.
enum layout_flag {
    LAYOUT_FLAG_ON = 0x4e,
    LAYOUT_FLAG_OFF = 0xa7, // its entry jumps to the plain copy
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

#define LAYOUT_SWITCH_MAGIC 0x8f6b21d3c47e95a1ull

// Right before the entry of a function that has a plain copy.
struct layout_switch {
    uint64_t magic;
    uint64_t module_id;
    uint32_t function;    // number in its module
    int32_t plain_offset; // of the plain copy's entry, from this function's
    uint8_t saved[8];     // what the jump to the plain copy stands over, while it is off
};

// ---- Codes of path sums

#define LAYOUT_NARROW_RANGE (1ull << 18) // of sums, in either direction: 32 bits do
#define LAYOUT_MOST_PATHS   (1ull << 40) // to one place

struct layout_code {
    uint64_t multiplier; // odd
    uint64_t inverse;    // of the multiplier
    uint64_t offset;
    uint64_t range; // of sums, in either direction
    uint32_t bits;  // 32 or 64
};

static inline uint64_t layout_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x ^ x >> 32;
}

static inline uint64_t layout_word(const struct layout_code *code, uint64_t value)
{
    return code->bits == 32 ? (uint32_t)value : value;
}

static inline uint64_t layout_encode(const struct layout_code *code, uint64_t sum)
{
    return layout_word(code, code->offset + code->multiplier * sum);
}

// What is added to a word when its sum grows by this.
static inline uint64_t layout_increment(const struct layout_code *code, uint64_t increment)
{
    return layout_word(code, code->multiplier * increment);
}

static inline int layout_in_range(const struct layout_code *code, uint64_t product)
{
    int64_t value = code->bits == 32 ? (int32_t)(uint32_t)product : (int64_t)product;

    return value >= -(int64_t)code->range && value <= (int64_t)code->range;
}

// False: no sum has this word.
static inline int layout_decode(const struct layout_code *code, uint64_t word, uint64_t *sum)
{
    uint64_t product = (word - code->offset) * code->inverse;

    if ((code->bits == 32 && word >> 32) || !layout_in_range(code, product))
        return 0;
    *sum = code->bits == 32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)product : product;
    return 1;
}

// Is a code that differs in one byte never a code again? Are 0, small numbers of either sign and
// bytes that repeat none?
static inline int layout_code_is_good(const struct layout_code *code)
{
    uint64_t sum;

    for (uint64_t value = 0; value < 256; value++)
        if (layout_decode(code, value, &sum) ||
            layout_decode(code, layout_word(code, 0 - value), &sum) ||
            layout_decode(code, layout_word(code, value * 0x0101010101010101ull), &sum))
            return 0;
    for (uint32_t shift = 0; shift < code->bits; shift += 8)
        for (uint64_t change = 1; change < 256; change++) {
            struct layout_code twice = *code;

            twice.range *= 2;
            if (layout_in_range(&twice, (change << shift) * code->inverse))
                return 0;
        }
    return 1;
}

// The code of a region's sums, of function number `index` of a module, which all lie in this range
// around 0. A few dozen are tried, and the first good one is taken: the same for whoever asks.
static inline struct layout_code layout_code_of(uint64_t module_id, uint32_t index, uint32_t region,
                                                uint64_t range, int wide)
{
    struct layout_code code = {.bits = wide ? 64 : 32, .range = range};
    uint64_t seed =
        module_id + 0x9e3779b97f4a7c15ull * (index + 1ull) + 0xc2b2ae3d27d4eb4full * region;

    for (int tries = 0; tries < 64; tries++) {
        seed = layout_mix(seed + 0x9e3779b97f4a7c15ull);
        code.multiplier = layout_word(&code, seed | 1);
        code.inverse = code.multiplier; // Newton: each step doubles the bits that are right
        for (int step = 0; step < 6; step++)
            code.inverse *= 2 - code.multiplier * code.inverse;
        code.offset = layout_word(&code, layout_mix(seed ^ 0x5851f42d4c957f2dull));
        if (layout_code_is_good(&code))
            break;
    }
    return code;
}

struct layout_shape {
    uint8_t words;
    uint8_t wide; // words have 64 bits
    uint8_t eager;
};

#endif
