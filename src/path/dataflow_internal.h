// SPDX-License-Identifier: Apache-2.0
/*
 * Inside of dataflow.h.
 *
 * dataflow_range.c      sets of numbers
 * dataflow_state.c      what is known of a few numbers and how they compare
 * dataflow_expression.c how they are computed from each other
 * dataflow_draft.c      values in the making
 * dataflow_value.c      values, each kept once; extend, combine
 * dataflow_objects.c    variables of the program and who takes their address
 * dataflow_variables.c  which of them are tracked
 * dataflow_functions.c  addresses of functions and calls through them
 * dataflow_effects.c    what instructions, library code and functions may write
 * dataflow_node.c       what a node's instructions say
 * dataflow_condition.c  what its edges require
 * dataflow.c            edges, calls, returns
 * dataflow_begin.c      what holds at first, what is assumed
 * dataflow_replay.c     going along a run
 *
 * All numbers that expressions speak of have a *base*: what a variable held when the stretch began,
 * or an unknown that came up in it (something that was read from elsewhere). Two variables with the
 * same unknown hold the same.
 */
#ifndef PATH_DATAFLOW_INTERNAL_H
#define PATH_DATAFLOW_INTERNAL_H

#include "common/arena.h"
#include "common/bitset.h"
#include "common/map.h"
#include "common/vec.h"
#include "path/dataflow.h"
#include "path/dataflow_range.h"
#include "program/model.h"
#include "solve/flow.h"

#define NONE UINT32_MAX

// ---- Bases and expressions

#define BASE_UNKNOWN (1u << 31)
#define BASE_SAVED   (1u << 30) // a variable of the caller, while a call is put together

enum expression_kind {
    EXPRESSION_NONE,     // no number that can be told
    EXPRESSION_CONSTANT, // constant
    EXPRESSION_COPY,     // base + constant, in the base's width
    EXPRESSION_TEST,     // 1 if base is in range number `constant`, else 0
    EXPRESSION_ZERO,     // base with zeros before it
    EXPRESSION_SIGN,     // with its sign before it
    EXPRESSION_LOW,      // its lower bits
};

struct expression {
    uint32_t base;
    uint8_t kind;  // enum expression_kind
    uint8_t width; // bits
    uint16_t reserved;
    uint64_t constant;
};

static inline struct expression expression_constant(uint32_t width, uint64_t number)
{
    return (struct expression){.kind = EXPRESSION_CONSTANT,
                               .width = (uint8_t)width,
                               .constant = number & width_mask(width)};
}

static inline struct expression expression_base(uint32_t width, uint32_t base)
{
    return (struct expression){.kind = EXPRESSION_COPY, .width = (uint8_t)width, .base = base};
}

static inline bool expression_has_base(const struct expression *expression)
{
    return expression->kind > EXPRESSION_CONSTANT;
}

static inline bool expression_is_equal(const struct expression *a, const struct expression *b)
{
    return a->base == b->base && a->kind == b->kind && a->width == b->width &&
           a->constant == b->constant;
}

// ---- Comparisons of two bases

// How two numbers can compare, as bits.
enum outcome {
    OUTCOME_EQUAL = 1u << 0,
    OUTCOME_LESS = 1u << 1,        // signed and unsigned
    OUTCOME_SIGNED_LESS = 1u << 2, // signed less, unsigned greater
    OUTCOME_SIGNED_MORE = 1u << 3, // signed greater, unsigned less
    OUTCOME_GREATER = 1u << 4,     // both
    OUTCOME_ALL = (1u << 5) - 1,
};

// left + left_add compares with right + right_add in one of `outcomes`; left < right.
struct relation {
    uint32_t left, right;
    uint64_t left_add, right_add;
    uint32_t outcomes;
    uint32_t reserved;
};
VEC_DEFINE(relation_vec, struct relation);

struct limit { // the base is in the range
    uint32_t base;
    uint32_t range;
};
VEC_DEFINE(limit_vec, struct limit);

struct unknown {
    uint32_t range;
    uint8_t width;
    bool is_bound; // it is target + distance
    uint16_t reserved;
    uint32_t target;
    uint64_t distance;
};
VEC_DEFINE(unknown_vec, struct unknown);

struct dataflow;

// What holds of bases.
struct state {
    struct dataflow *dataflow;
    struct limit_vec limits; // of variables
    struct unknown_vec unknowns;
    struct relation_vec relations;
    bool is_impossible;
    bool is_changed; // a range, since relations were looked at
};

void state_init(struct state *state, struct dataflow *dataflow);
void state_deinit(struct state *state);
void state_clear(struct state *state);
// A new unknown.
struct expression state_unknown(struct state *state, const struct range *range);
// With what unknowns stand for put in.
struct expression state_resolve(struct state *state, struct expression expression);
uint32_t state_width(const struct state *state, uint32_t base);
// The numbers of its base, so wide, for which the expression is in the range.
struct range state_before(struct state *state, const struct expression *expression,
                          const struct range *range, uint32_t width);
struct range range_of_truth(uint32_t width); // 0 and 1
// The numbers that it can be.
struct range state_range(struct state *state, struct expression expression);
void state_require(struct state *state, struct expression expression, const struct range *range);
// They compare in one of these ways (enum outcome).
void state_relate(struct state *state, struct expression left, struct expression right,
                  uint32_t outcomes);
// Draws conclusions from comparisons until there are no more.
void state_settle(struct state *state);

uint32_t outcomes_of_predicate(uint32_t predicate);
uint32_t outcomes_swap(uint32_t outcomes);
// The numbers that compare with this one so.
struct range range_of_outcomes(uint32_t width, uint32_t outcomes, uint64_t number);

// What an expression becomes when its base is `inner`. May make an unknown.
struct expression expression_substitute(struct state *state, struct expression outer,
                                        struct expression inner);
struct expression expression_add(struct state *state, struct expression expression,
                                 uint64_t number);
struct expression expression_extend(struct state *state, struct expression expression,
                                    uint32_t width, enum extension extension);
struct expression expression_truncate(struct state *state, struct expression expression,
                                      uint32_t width);
// 1 where it is in the range, in `width` bits.
struct expression expression_test(struct state *state, struct expression expression,
                                  const struct range *range, uint32_t width);

// ---- Values

struct entry {
    uint32_t variable;
    uint32_t reserved;
    struct expression expression;
};
VEC_DEFINE(entry_vec, struct entry);
VEC_DEFINE(u32_vec, uint32_t);
VEC_DEFINE(expression_vec, struct expression);

struct value {
    uint32_t any; // set of variables of which nothing is known
    uint32_t entry_count, limit_count, relation_count, unknown_count;
    bool drops; // variables of functions are others now: those that no entry tells of are anything
    const struct entry *entries; // ascending by variable; not one that stays as it was
    const struct limit *limits;  // of variables at the beginning, ascending
    const struct relation *relations;
    const struct limit *unknowns; // width and range, by number
};
VEC_DEFINE(value_vec, struct value);

struct variable_set {
    const uint32_t *data; // ascending
    uint32_t count;
};
VEC_DEFINE(variable_set_vec, struct variable_set);
VEC_DEFINE(range_vec, struct range);
MAP_DEFINE_U64(number_map, uint32_t);

// How an unknown is numbered in the one form of a value.
struct numbering {
    uint32_t occurrences; // in entries
    uint32_t relations;
    uint32_t number; // + 1
    bool is_only_copied;
    bool is_same;            // all entries that have it are alike
    uint64_t shift;          // the new one is so much more
    struct expression first; // of those entries
};
VEC_DEFINE(numbering_vec, struct numbering);

// A value in the making.
struct draft {
    struct state state;
    struct entry_vec entries; // ascending by variable; EXPRESSION_NONE: anything
    bool drops;
    // while it is finished
    struct numbering_vec numbers;
    struct limit_vec unknowns;
    struct u32_vec any;
};

void draft_init(struct draft *draft, struct dataflow *dataflow);
void draft_deinit(struct draft *draft);
void draft_clear(struct draft *draft);
// What the variable holds now; made an unknown where nothing is known.
struct expression draft_get(struct draft *draft, uint32_t variable);
void draft_set(struct draft *draft, uint32_t variable, struct expression expression);
void draft_forget(struct draft *draft, uint32_t variable);
// As behind a value.
void draft_load(struct draft *draft, struct dataflow_value value);
struct dataflow_value draft_finish(struct draft *draft);

// Where the variable's entry is, or would be.
size_t entries_find(const struct entry *entries, size_t count, uint32_t variable);
int relation_compare(const void *a, const void *b); // by what is compared
struct dataflow_value value_intern(struct dataflow *dataflow, const struct value *value);
const struct value *value_at(const struct dataflow *dataflow, struct dataflow_value value);
uint32_t range_intern(struct dataflow *dataflow, const struct range *range);
const struct range *range_at(const struct dataflow *dataflow, uint32_t range);
uint32_t set_intern(struct dataflow *dataflow, const uint32_t *variables, uint32_t count);
bool set_holds(const struct dataflow *dataflow, uint32_t set, uint32_t variable);

// ---- The program

// A piece of memory with a name.
struct memory_object {
    uint32_t module, index; // of the alloca's instruction, or of the global
    uint32_t function;      // of a local; else NONE
    uint32_t first_slot, slot_count;
    uint64_t size;
    bool is_taken;    // its address is known beyond loads and stores by name
    bool is_shared;   // code without a model can name it
    bool is_excluded; // volatile, atomic, defined elsewhere or twice: not tracked
    bool is_doubtful; // what it holds at first is not known
};
VEC_DEFINE(object_vec, struct memory_object);

struct slot {
    uint32_t object;
    uint32_t bytes;
    int64_t offset;
    uint32_t variable; // or NONE
};
VEC_DEFINE(slot_vec, struct slot);

enum variable_kind_tracked {
    TRACKED_SLOT,     // index: of the slot
    TRACKED_REGISTER, // module, index of the instruction
    TRACKED_ARGUMENT, // module, index of the argument
    TRACKED_RESULT,   // of the function
    TRACKED_ADDRESS,  // of function `index`: nothing writes it
    // that a call through a pointer enters: of function `index`, or behind those, by set of
    // callees, of code without a model
    TRACKED_ENTRY,
};

struct tracked {
    uint8_t kind; // enum variable_kind_tracked
    uint8_t width;
    uint32_t function; // NONE: it is a global
    uint32_t module, index;
    bool is_asynchronous; // others may write it at any time
};
VEC_DEFINE(tracked_vec, struct tracked);

struct module_tables {
    uint32_t *object_of_insn;    // of allocas
    uint32_t *object_of_global;  // or NONE
    uint32_t *address_of_global; // variable of the function's address, or NONE
    uint32_t *slot_of_insn;      // of loads and stores by name
    uint32_t *register_of_insn;  // variable of the result, or NONE
    uint32_t *argument_variable;
    struct bitset wanted; // by instruction: some condition may depend on it
    uint32_t first_insn;  // of the module, in numbers over all
};

struct dataflow {
    const struct model *model;
    const struct flow *flow;
    const struct points_to *points_to;
    struct arena arena;
    uint32_t condition_most;
    bool has_code;

    struct object_vec objects;
    struct slot_vec slots;
    struct tracked_vec variables; // globals first, then function by function
    uint32_t memory_count;        // the first of the globals: what can be written
    uint32_t global_count;
    bool has_addresses;       // of functions
    uint32_t *entry_variable; // by function of the model, and then by set of callees; or NONE
    uint32_t *function_start; // by function of the model, + 1: its variables
    uint32_t *result_variable;
    struct module_tables *modules;
    uint32_t *last_start; // by node, + 1: in `last`
    uint32_t *last;       // registers that no other node reads

    uint32_t *writes;   // by function of the flow: the set of slots that a call may write
    uint32_t *between;  // by function that stands for library code: the set that it may write
    uint32_t taken;     // the set of those whose address is known
    uint32_t reachable; // and of those that code without a model may write
    struct number_map hits_of_insn; // set by instruction over all

    struct range_vec ranges;
    struct number_map range_numbers;
    struct variable_set_vec sets;
    struct number_map set_numbers;
    struct value_vec values;
    struct number_map value_numbers;
    struct number_map extends, combines, calls, kept_calls, points, merges;
    uint32_t *steps, *skips;         // by edge: value + 1
    uint32_t *leaves, *ends;         // by node
    struct draft draft;              // of extend and combine
    struct state sides[2];           // of combine
    struct entry_vec before, behind; // of extend
    struct expression_vec results;   // of a walk
    struct draft node_draft;         // of steps
};

static inline bool is_kind(const struct dataflow *dataflow, uint32_t base, uint8_t kind)
{
    return base < dataflow->global_count && dataflow->variables.data[base].kind == kind;
}

// Does a call not see it?
static inline bool is_local(const struct dataflow *dataflow, uint32_t variable)
{
    return variable >= dataflow->global_count && !(variable & (BASE_SAVED | BASE_UNKNOWN));
}

static inline uint32_t base_width(const struct dataflow *dataflow, uint32_t variable)
{
    return dataflow->variables.data[variable & ~BASE_SAVED].width;
}

static inline const struct code *node_code(const struct dataflow *dataflow, uint32_t node,
                                           uint32_t *ret_module, const struct code_node **ret_node)
{
    const struct model *model = dataflow->model;
    uint32_t module = model->functions[model->nodes[node].function.value].module.value;
    const struct model_module *m = &model->modules[module];

    *ret_module = module;
    *ret_node = &m->code->nodes[node - m->first_node];
    return m->code;
}

// dataflow_objects.c
void objects_find(struct dataflow *dataflow);
// The object that an address is in, or NONE. *ret_offset: where, if *ret_exact.
uint32_t objects_base(const struct dataflow *dataflow, uint32_t module, struct operand address,
                      int64_t *ret_offset, bool *ret_exact);
// Width of a number or pointer that can be tracked; 0: it cannot.
uint32_t type_width(const struct code *code, struct type_id type);

// dataflow_variables.c
void variables_find(struct dataflow *dataflow, bool all);

// dataflow_functions.c
void functions_find(struct dataflow *dataflow);
void functions_number(struct dataflow *dataflow);
// Is what has entry a not what has entry b? By their indices.
bool functions_differ(const struct dataflow *dataflow, uint32_t a, uint32_t b);
// The pointer that the node's call goes through, or OPERAND_NONE.
struct operand called_pointer(const struct dataflow *dataflow, uint32_t node);

// dataflow_effects.c
void effects_find_all(struct dataflow *dataflow);
// What the instruction may write of tracked slots besides what its own slot says; a library call
// included. A set of variables.
uint32_t effects_hits(struct dataflow *dataflow, uint32_t module, uint32_t insn);
// The intrinsic or library function that a call names, or NULL.
const char *callee_name(const struct code *code, const struct insn *insn);

// dataflow_node.c
struct walk {
    struct dataflow *dataflow;
    struct draft *draft;
    const struct code *code;
    uint32_t module, function, node;
    const struct code_node *at;
    uint32_t first_result; // in the dataflow's results, by instruction of the node
};
// The draft is as it was before the node; the walk's results last until walk_end. A walk may begin
// within another.
void walk_begin(struct walk *walk, struct dataflow *dataflow, struct draft *draft, uint32_t node);
void walk_end(struct walk *walk);
// All instructions but a call or jump that ends it.
void walk_body(struct walk *walk);
struct expression walk_operand(struct walk *walk, struct operand operand);
// The call that ends the node runs code without a model.
void walk_external(struct walk *walk);
const struct insn *walk_call(const struct walk *walk); // or NULL
// The call, if it is through a pointer, enters the function; one that is not the model's: no code
// that has a model.
void walk_target(struct walk *walk, uint32_t function);
// The condition of going to successor `edge`.
void walk_condition(struct walk *walk, uint32_t edge);
// That of going to any of these.
void walk_condition_any(struct walk *walk, const uint32_t *edges, uint32_t count);
// What successors begin with: PHIs.
void walk_enter(struct walk *walk, uint32_t target);
// Registers that nobody reads behind the node are forgotten.
void walk_last(struct walk *walk);
void walk_forget_set(struct walk *walk, uint32_t set);
void walk_forget_locals(struct walk *walk);
// A constant as a number; false where it is none.
bool constant_number(const struct code *code, struct operand operand, uint64_t *ret);

#endif
