// SPDX-License-Identifier: Apache-2.0
/*
 * Sampled predicates: the scheme `suspects` (layout/suspects.h).
 *
 * Sites are found in the code as the front end made it, and their instructions marked with
 * metadata, which copies of them carry on. When every other scheme has been applied, each function
 * gets a second copy of its blocks, which counts at every site; the first has nothing. The function
 * is cut into acyclic regions at *heads*: its entry, loops, blocks whose address is taken. A head
 * takes one off the thread's countdown and goes into the counting copy when it runs out; both
 * copies go back to a head. So every region is seen whole or not at all, one in `rate` on average,
 * each independently of the others (runtime/sampler.c draws the gaps), and since a region passes a
 * site at most once, so is each event of a site. A loop so small that a check would cost much of it
 * is no region of its own, but part of the one around it.
 *
 *   suspects.c          the table, the counters, the order of things
 *   suspects_sites.c    what is sampled: branches, returns, entries, watches
 *   suspects_assign.c   what is sampled where a variable is assigned
 *   suspects_names.c    variables of the source and where they live; conditions in words
 *   suspects_loops.c    control flow of one function, its loops
 *   suspects_demote.c   values that cross blocks go through the stack
 *   suspects_regions.c  heads and the counting copy
 *   suspects_sample.c   the code that counts
 */
#ifndef INSTRUMENT_SUSPECTS_H
#define INSTRUMENT_SUSPECTS_H

#include "common/arena.h"
#include "common/map.h"
#include "common/strbuf.h"
#include "common/vec.h"
#include "instrument/clone.h"
#include "instrument/instrument.h"
#include "layout/suspects.h"

// One site. The sites of one instruction follow each other.
struct suspects_point {
    struct suspects_site site;
    // Of a pair: the slot or global that is read, or a constant; NULL: both sides are those of the
    // comparison that the branch is made by. Of a switch: the case.
    LLVMValueRef right;
};

VEC_DEFINE(suspects_points, struct suspects_point);
MAP_DEFINE_STRING(suspects_strings, uint32_t);

// A named variable with a scalar type that may be read anywhere.
struct suspects_variable {
    LLVMValueRef storage; // slot or global
    LLVMMetadataRef type; // without typedefs and qualifiers
    LLVMMetadataRef scope;
    const char *name;
    LLVMTypeRef ir;
    bool is_unsigned;
    uint32_t line; // of the declaration of a local one
};

VEC_DEFINE(suspects_variables, struct suspects_variable);
MAP_DEFINE_U64(suspects_index, uint32_t);

// A function of the runtime.
struct suspects_callee {
    LLVMValueRef function;
    LLVMTypeRef type;
};

struct suspects {
    struct instrumented_module *module;
    struct arena arena;
    struct suspects_points points;
    struct strbuf strings;
    struct suspects_strings string_offsets;
    uint32_t *entry_point; // by function: its entry site, or SUSPECTS_NONE
    uint8_t *called_once;  // by function
    uint32_t counter_count, predicate_count;
    struct suspects_variables globals;
    struct suspects_index global_index; // by storage
    unsigned mark;                      // kind of metadata: first site and number of sites
    // What the code refers to.
    LLVMValueRef counters, countdown;
    LLVMValueRef thresholds; // stands for their array until their number is known
    uint32_t threshold_count;
    struct suspects_callee next, due, count, compare, compare_unsigned, kind, kind_32;
};

// The steps of module.c.
void suspects_find(struct instrumented_module *module);
void suspects_apply(struct instrumented_module *module);
void suspects_destroy(struct suspects *suspects); // NULL is fine

// ---- suspects.c

// Appends a site of `function`; kind and node are set, the rest may be filled in afterwards.
struct suspects_point *suspects_add(struct suspects *suspects,
                                    const struct instrumented_function *function, uint32_t kind,
                                    uint32_t node, LLVMMetadataRef location);
uint32_t suspects_string(struct suspects *suspects, const char *text);
// The points from `first` on are those of the instruction.
void suspects_mark(const struct suspects *suspects, LLVMValueRef instruction, uint32_t first);
// False: the instruction has none.
bool suspects_marked(const struct suspects *suspects, LLVMValueRef instruction, uint32_t *first,
                     uint32_t *count);

// A new head's: what the countdown must not be below there. More than it ever is, until the head
// has been passed once; then 0.
LLVMValueRef suspects_add_threshold(struct suspects *suspects);

// At the builder's position.
LLVMValueRef suspects_call(const struct suspects *suspects, const struct suspects_callee *callee,
                           LLVMValueRef *arguments, unsigned count);

// ---- suspects_names.c

struct suspects_scope {
    struct suspects *suspects;
    LLVMValueRef function;
    struct suspects_variables variables; // local ones
    struct suspects_index index;         // by storage
};

void suspects_globals_find(struct suspects *suspects);
// Requires that debug info is in instructions, not in records (LLVMSetIsNewDbgInfoFormat).
void suspects_scope_init(struct suspects_scope *scope, struct suspects *suspects,
                         LLVMValueRef function);
void suspects_scope_deinit(struct suspects_scope *scope);
// Local or global; NULL: none that has a name.
const struct suspects_variable *suspects_variable_at(const struct suspects_scope *scope,
                                                     LLVMValueRef storage);
// May code at this place name the variable?
bool suspects_in_scope(const struct suspects *suspects, const struct suspects_variable *variable,
                       LLVMMetadataRef location);
// Fills in what the condition of a branch says, where it can be told.
void suspects_describe(struct suspects *suspects, const struct suspects_scope *scope,
                       LLVMValueRef condition, struct suspects_site *site);
// The two sides of a comparison, for a site that tells <, = and > apart.
void suspects_describe_sides(struct suspects *suspects, const struct suspects_scope *scope,
                             LLVMValueRef comparison, struct suspects_site *site);
// "v == 3", where v stands for the value of a switch.
void suspects_describe_case(struct suspects *suspects, const struct suspects_scope *scope,
                            LLVMValueRef value, LLVMValueRef constant, struct suspects_site *site);

// ---- suspects_sites.c, suspects_assign.c

void suspects_find_in(struct suspects *suspects, struct instrumented_function *function);

struct suspects_assign {
    struct suspects *suspects;
    const struct suspects_scope *scope;
    const struct instrumented_function *function;
    uint32_t count;     // instructions of the function, in order
    LLVMValueRef *read; // by position: the storage of a named variable that is used there, or NULL
    LLVMValueRef *number;        // by position: an integer constant that stands there, or NULL
    struct suspects_index loops; // by block: the header of the loop around it that calls nothing
    uint32_t *loop_pairs;        // by that header: comparisons in it so far
};

void suspects_assign_init(struct suspects_assign *assign, struct suspects *suspects,
                          const struct suspects_scope *scope,
                          const struct instrumented_function *function);
void suspects_assign_deinit(struct suspects_assign *assign);
// The sites of a store at this position; `node` is that of the store.
void suspects_assign_find(struct suspects_assign *assign, LLVMValueRef store, uint32_t position,
                          uint32_t node);

// ---- suspects_loops.c

struct suspects_flow {
    uint32_t block_count;
    LLVMBasicBlockRef *blocks; // in the function's order
    struct suspects_index index;
    uint32_t *successor_start, *successor;
    uint32_t *predecessor_start, *predecessor;
    uint8_t *reachable;
    uint8_t *header;    // some edge to it goes back
    uint8_t *addressed; // its address is taken
    uint8_t *calls;     // has a call that may come to a head
    uint32_t *cost;     // its instructions
};

struct suspects_loop {
    uint32_t header;
    uint32_t *members; // blocks; the header is first
    uint32_t count;
    bool innermost;
    bool calls;
};

void suspects_flow_init(struct suspects_flow *flow, LLVMValueRef function);
void suspects_flow_deinit(struct suspects_flow *flow);
// The natural loop of a header; false where control enters it elsewhere too.
bool suspects_loop_init(struct suspects_loop *loop, const struct suspects_flow *flow,
                        uint32_t header);
void suspects_loop_deinit(struct suspects_loop *loop);
// So small that no check is wanted in it.
bool suspects_loop_is_small(const struct suspects_loop *loop, const struct suspects_flow *flow);

// ---- suspects_demote.c

// False: it cannot be done, and nothing was changed. Slots go to the head of the entry block.
bool suspects_demote(const struct suspects *suspects, LLVMValueRef function);
LLVMValueRef suspects_first_insertion_point(LLVMBasicBlockRef block);

// ---- suspects_regions.c, suspects_sample.c

void suspects_apply_to(struct suspects *suspects, struct instrumented_function *function);
// At the sites of one block, whose number is returned; `due`: each counts only when the countdown
// says so.
uint32_t suspects_sample_block(const struct suspects *suspects, LLVMBasicBlockRef block, bool due);
void suspects_sample_entry(const struct suspects *suspects, uint32_t point, LLVMValueRef before,
                           bool due);
// Takes marks and watches out of a block that does not count.
void suspects_clean_block(const struct suspects *suspects, LLVMBasicBlockRef block);

#endif
