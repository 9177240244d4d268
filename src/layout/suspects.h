// SPDX-License-Identifier: Apache-2.0
/*
 * What a program that samples predicates (`-finquest=LEVEL,suspects`) and its readers share: the
 * table of sites in the executable, and the file that the counters of a running process live in.
 *
 * A *site* is a place where the program looks at something: which way a branch goes, the sign of a
 * returned value. It has one counter for each way that can turn out. A *predicate* is a statement
 * about one sample at a site (`x < y`); it is true in a run when its counters, taken together, are
 * not all 0 (suspects_predicates below). The counters of a module are numbered from 0, site by site
 * in the order of the table; so are its predicates.
 *
 * The table is not loaded: section `.inquest.suspects`, frames as layout/section.h has them, kind
 * SECTION_KIND_SUSPECTS, one a module. Payload: struct suspects_module, site_count times struct
 * suspects_site, then string_length bytes of NUL-terminated UTF-8 strings.
 *
 * The file is made and mapped by the runtime when the process starts (INQUEST_OPTIONS, see
 * docs/inquest-cc.md). All of it but the counters is written before the magic is, and never changes
 * afterwards; the counters are complete at every moment, however the process ends. One file a
 * process and image.
 *
 * Everything is little-endian. No libc.
 */
#ifndef LAYOUT_SUSPECTS_H
#define LAYOUT_SUSPECTS_H

#include <stdint.h>

#define SECTION_SUSPECTS ".inquest.suspects"

enum suspects_kind {
    SUSPECTS_BRANCH = 1, // counters: false, true
    SUSPECTS_RETURN = 2, // < 0, = 0, > 0
    SUSPECTS_PAIR = 3,   // left <, =, > right
    SUSPECTS_FLOAT = 4,  // enum suspects_float
    SUSPECTS_ENTRY = 5,  // the function was entered
    SUSPECTS_WATCH = 6,  // INQUEST_WATCH(expr): false, true
    SUSPECTS_KIND_COUNT,
};

enum suspects_float {
    SUSPECTS_FLOAT_MINUS_INFINITY,
    SUSPECTS_FLOAT_MINUS_NORMAL,
    SUSPECTS_FLOAT_MINUS_SUBNORMAL,
    SUSPECTS_FLOAT_MINUS_ZERO,
    SUSPECTS_FLOAT_NAN,
    SUSPECTS_FLOAT_ZERO,
    SUSPECTS_FLOAT_SUBNORMAL,
    SUSPECTS_FLOAT_NORMAL,
    SUSPECTS_FLOAT_INFINITY,
    SUSPECTS_FLOAT_COUNT,
};

#define SUSPECTS_NONE UINT32_MAX

struct suspects_module {
    uint64_t module_id; // that of the module's model (struct section_module)
    uint32_t site_count;
    uint32_t counter_count;
    uint32_t predicate_count;
    uint32_t string_length;
};

struct suspects_site {
    uint32_t kind;     // enum suspects_kind
    uint32_t function; // number among the module's functions with a body
    uint32_t node;     // of that function, as program/split.h numbers them: where it is sampled
    // Of a branch: the first nodes of its sides. Elsewhere SUSPECTS_NONE.
    uint32_t node_false, node_true;
    uint32_t line, column; // 0: not known
    // Strings, as offsets. left: the condition in words where it is known ("x < y"), the function
    // called ("*fp" for a pointer), the assigned variable, the expression that is watched. right:
    // the variable or constant compared with, else "". file: as the compiler was given it.
    uint32_t left, right, file, function_name;
    uint32_t first_counter;
    uint32_t first_predicate;
    // What the predicates say in terms that an analysis can use: a comparison of the variable
    // `left` (SUSPECTS_LEFT_IS_VARIABLE: a local or global variable of that name, read at the end
    // of `node`; of a branch, the variable is the first word of `left`) with `constant`
    // (SUSPECTS_RIGHT_IS_CONSTANT).
    uint32_t flags;
    int64_t constant;
    uint32_t operator; // of a branch: enum suspects_operator, how left compares when it is true
    uint32_t reserved;
};

enum suspects_site_flag {
    SUSPECTS_LEFT_IS_VARIABLE = 1u << 0,
    SUSPECTS_RIGHT_IS_CONSTANT = 1u << 1,
    SUSPECTS_RIGHT_IS_VARIABLE = 1u << 2,
    SUSPECTS_UNSIGNED = 1u << 3, // is compared so
};

enum suspects_operator {
    SUSPECTS_NO_OPERATOR,
    SUSPECTS_LESS,
    SUSPECTS_EQUAL,
    SUSPECTS_GREATER,
    SUSPECTS_GREATER_EQUAL,
    SUSPECTS_NOT_EQUAL,
    SUSPECTS_LESS_EQUAL,
};

// ---- Loaded data, one a module: how the runtime finds the counters

#define SUSPECTS_DESCRIPTOR_SECTION "inquest_suspects"

struct suspects_descriptor {
    uint64_t module_id;
    // Of the counters, from the address of this descriptor. They start at a page and are a whole
    // number of pages.
    int64_t counters_offset;
    uint32_t counter_count;
    uint32_t reserved;
};

// ---- Counters and predicates of a kind

static inline uint32_t suspects_counters(uint32_t kind)
{
    static const uint8_t counters[SUSPECTS_KIND_COUNT] = {
        0, 2, 3, 3, SUSPECTS_FLOAT_COUNT, 1, 2,
    };
    return kind < SUSPECTS_KIND_COUNT ? counters[kind] : 0;
}

// Three-way counters give six predicates: <, =, >, >=, !=, <= (in this order); the others one a
// counter.
static inline uint32_t suspects_predicates(uint32_t kind)
{
    return suspects_counters(kind) == 3 ? 6 : suspects_counters(kind);
}

// The counters of the site, as bits, that make its predicate true.
static inline uint32_t suspects_predicate_mask(uint32_t kind, uint32_t predicate)
{
    static const uint8_t three[6] = {1, 2, 4, 6, 5, 3};
    return suspects_counters(kind) == 3 ? three[predicate] : 1u << predicate;
}

// ---- The file of a process

#define SUSPECTS_LIVE_MAGIC   "INQSUSP\n" // 8 bytes, no terminator; written last
#define SUSPECTS_LIVE_VERSION 1u
#define SUSPECTS_PAGE         4096u
#define SUSPECTS_BUILD_ID     32u // bytes at most; a longer one is cut

struct suspects_live {
    char magic[8];
    uint32_t version;
    uint32_t header_length; // of this and the modules, up to the first counters: pages
    uint8_t run_id[16];     // random: names this process and image everywhere
    uint8_t build_id[SUSPECTS_BUILD_ID];
    uint32_t build_id_length; // 0: the image has none
    uint32_t module_count;
    uint64_t rate; // one in so many is sampled; at least 1
    uint64_t seed;
    uint32_t process, parent; // parent: 0, or the process that this one was forked from while
                              // sampling
    uint64_t start;           // CLOCK_REALTIME, nanoseconds
    uint64_t reserved[4];
    char image[256]; // path of the image, cut where it is longer; for messages
    // struct suspects_live_module modules[module_count]
};

// Counters are uint32_t and stop growing somewhere above SUSPECTS_COUNT_MOST.
#define SUSPECTS_COUNT_MOST 0x7fffffffu

struct suspects_live_module {
    uint64_t module_id;
    uint32_t counter_count;
    uint32_t reserved;
    uint64_t offset; // of its counters in the file; a multiple of SUSPECTS_PAGE
};

#endif
