// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the decoder; see decode.h.
#ifndef EVIDENCE_CORE_DECODE_INTERNAL_H
#define EVIDENCE_CORE_DECODE_INTERNAL_H

#include "common/arena.h"
#include "common/bitset.h"
#include "common/map.h"
#include "common/vec.h"
#include "evidence/core/core.h"
#include "evidence/core/dwarf.h"
#include "evidence/core/modules.h"
#include "evidence/core/unwind.h"
#include "evidence/evidence.h"
#include "program/model.h"

enum position_source {
    POSITION_DISCRIMINATOR, // the line table names the node
    POSITION_EDGE,          // the line table names an edge: its update is under way
    POSITION_LINE,          // nodes of the line
    POSITION_PROLOGUE,      // before the function's first node
    POSITION_UNKNOWN,       // nothing is told: every node
};

// One virtual frame of an address: the same for every activation that stands there.
struct position {
    const struct debug_scope *scope;
    struct function_id function; // MODEL_NONE: no model
    const char *name;
    struct evidence_place place;
    enum position_source source;
    uint32_t edge;               // with POSITION_EDGE
    struct evidence_nodes nodes; // the truth is among them
};

// All virtual frames of an address, innermost first.
struct address_info {
    struct position *positions;
    uint32_t count;
    struct debug_function *physical; // or NULL
};

MAP_DEFINE_U64(address_map, struct address_info *);
MAP_DEFINE_U64(scope_map, uint32_t);
MAP_DEFINE_STRING(name_set, bool);
VEC_DEFINE(warning_vec, const char *);

struct decoder {
    struct core *core;
    struct modules *modules;
    struct unwinder *unwinder;
    struct model *model;
    struct evidence *evidence; // everything found is allocated in its arena
    struct address_map addresses;
    struct scope_map functions;                  // of a scope, by its defining DIE
    struct bitset doubtful_true, doubtful_false; // by call site: what its global byte cannot tell
    struct name_set tail_targets;                // of the program's tail calls, once it was asked
    bool knows_tail_targets, has_unknown_tail_calls;
    struct warning_vec warnings;
};

// How a physical frame stands.
struct stop {
    const struct unwind_frame *unwound;
    struct debug_function *physical;
    bool interrupted;
    bool memory_fault;  // stopped by its own load or store, not from outside
    bool trapped;       // stopped by an invalid instruction: __builtin_trap
    bool sets_jumps;    // some function of the physical frame calls setjmp
    const char *callee; // what the frame waits for, or NULL
    bool callee_has_model;
};

// ---- decode_position.c

// Borrowed from the decoder. `exact`: address is the next instruction, else inside a call.
const struct address_info *decode_address(struct decoder *decoder, struct module *module,
                                          uint64_t address, bool exact);
struct evidence_nodes decode_nodes(struct decoder *decoder, const uint32_t *nodes, uint32_t count);
// The model's function of a scope, MODEL_NONE when it has none.
uint32_t decode_scope_function(struct decoder *decoder, const struct debug_scope *scope);

// ---- decode_gaps.c

// May frames be missing between a frame that waits and the one it called? `name`: of what runs
// there.
bool decode_gap(struct decoder *decoder, const struct unwind_frame *caller,
                const struct unwind_frame *callee, const char *name);

// ---- decode_record.c

// Reads the record of one virtual frame, narrows its candidates and fills in its paths.
// `is_outer`: another virtual frame of the same physical one is inside it.
void decode_record(struct decoder *decoder, const struct stop *stop,
                   const struct position *position, bool is_outer, struct evidence_frame *frame);

// Is this site the call that the frame waits for, by the callee's name?
bool decode_waits_for(const struct decoder *decoder, const struct stop *stop, struct site_id site);

// ---- decode_calls.c

// Local calls of a frame whose record was read (bytes is NULL when it keeps none), and what the
// global bytes cannot be trusted for.
void decode_calls(struct decoder *decoder, const struct stop *stop, const struct position *position,
                  bool is_outer, const uint8_t *bytes, struct evidence_frame *frame);
void decode_inlined_doubts(struct decoder *decoder, const struct stop *stop,
                           const struct address_info *info);
// Coverage of every module of every image.
void decode_coverage(struct decoder *decoder);

// ---- shared

// The nodes before each node of a function, by their index in it.
struct predecessors {
    uint32_t *start; // node_count + 1
    uint32_t *node;
};
void predecessors_init(struct predecessors *predecessors, const struct model *model,
                       struct function_id function);
void predecessors_deinit(struct predecessors *predecessors);

bool function_is_optimized(const struct decoder *decoder, struct function_id function);
void decode_warn(struct decoder *decoder, const char *format, ...)
    __attribute__((__format__(__printf__, 2, 3)));

#endif
