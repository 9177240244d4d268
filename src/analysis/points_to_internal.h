// SPDX-License-Identifier: Apache-2.0
/*
 * What the files points_to_*.c share. Only they include it.
 *
 * A *node* is a variable of the constraint graph: a set of points. Nodes that are united share one
 * representative (node_find). A *point* is an object and a byte offset: an address. Its node holds
 * what the memory there may hold. Offsets are normalised by the object's layout (regions that are
 * folded), so that a point may stand for many addresses; the point at POINT_ANYWHERE stands for all
 * addresses in its object. Points of one object whose bytes overlap have united nodes.
 *
 * The world's node is told what reaches it, but gives its own point only: that point stands for all
 * objects that escape. Objects that escape hold what the world holds.
 *
 * Values of the program are nodes or single points (struct value).
 *
 * Layouts only become coarser. A change is put off until the graph is at rest; then the object's
 * points get new ids, so that whatever was computed from the old ones is computed again.
 */
#ifndef ANALYSIS_POINTS_TO_INTERNAL_H
#define ANALYSIS_POINTS_TO_INTERNAL_H

#include "analysis/effects.h"
#include "analysis/points_to.h"
#include "common/arena.h"
#include "common/bitset.h"
#include "common/map.h"
#include "common/sparse_set.h"
#include "common/vec.h"
#include "program/resolve.h"

#define POINT_ANYWHERE  UINT64_MAX
#define LENGTH_ANY      UINT64_MAX
#define NODE_NONE       0u
#define WORLD_OBJECT    0u
#define WORLD_POINT     0u
#define VALUE_POINT_BIT (UINT32_C(1) << 31)

// ---- Layouts (points_to_layout.c)

/*
 * Bytes lo .. hi of the parent's element, an array of elements of `stride` bytes that are not told
 * apart. The root has stride 0 where it is no array. Children lie within one element, do not
 * overlap and are sorted.
 */
struct region {
    uint64_t lo, hi, stride;
    struct region *child, *sibling;
};

struct layout {
    struct region root;
    uint32_t count;
};

uint64_t layout_normalise(const struct layout *layout, uint64_t offset);
// Does folding these bytes change anything? And the folding itself.
bool layout_would_fold(const struct layout *layout, uint64_t lo, uint64_t hi, uint64_t stride);
void layout_fold(struct layout *layout, struct arena *arena, uint64_t lo, uint64_t hi,
                 uint64_t stride);
// Folds all arrays of a type that lies at the offset.
void layout_merge(struct layout *layout, struct arena *arena, const struct layout *other);
void layout_add_type(struct layout *layout, struct arena *arena, const struct code *code,
                     struct type_id type, uint64_t offset);
bool layout_is_one(const struct layout *layout); // a single cell

struct offset_list {
    uint64_t data[16];
    uint32_t count;
    bool anywhere; // too many
    // what has to be folded first, where stride is not 0
    uint64_t fold_lo, fold_hi, fold_stride;
};
// Where offset + delta may be.
void layout_shift(const struct layout *layout, uint64_t offset, int64_t delta,
                  struct offset_list *ret);
// Where offset + any multiple of stride may be; size 0: not known.
void layout_walk(const struct layout *layout, uint64_t size, uint64_t offset, uint64_t stride,
                 struct offset_list *ret);
/*
 * Bytes are copied from `from` on, at most `length`. How far behind `from` may the bytes at `at`
 * be? False: not among those. Where those bytes lie in an array of which more than one element is
 * copied, *ret_fold* (relative to the copy's start) have to be folded at the target.
 */
bool layout_relative(const struct layout *layout, uint64_t from, uint64_t at, uint64_t length,
                     uint64_t *ret, struct region *ret_folds, uint32_t *ret_fold_count);
#define MOST_FOLDS 4u

// The element that holds the offset: where it begins and ends, in normalised offsets.
void layout_element(const struct layout *layout, uint64_t offset, uint64_t *ret_lo,
                    uint64_t *ret_hi);
// The end of the array that holds `at` and does not hold `from`; `at` where there is none.
uint64_t layout_end_of_array(const struct layout *layout, uint64_t from, uint64_t at);
// The common stride of the arrays around the offset, 0 where there is none.
uint64_t layout_stride(const struct layout *layout, uint64_t offset);

// ---- Objects and points (points_to_objects.c)

struct point {
    uint32_t object;
    uint32_t forward; // what it has become; itself while it is alive
    uint64_t offset;
    uint64_t length; // of the longest access; 0: none
    uint32_t node;
    bool is_written;
    bool is_accessed;
    bool is_put_off; // copies of it wait until it holds something
};
VEC_DEFINE(point_vec, struct point);
VEC_DEFINE(id_vec, uint32_t);

struct window { // bytes of an object are copied to another
    uint32_t target;
    uint32_t next;
    uint64_t from, to, length; // POINT_ANYWHERE
};
VEC_DEFINE(window_vec, struct window);

struct pt_object {
    struct object info;
    const char *name; // of a library function
    struct layout layout;
    struct id_vec points;           // alive, by offset; without the one anywhere
    uint32_t anywhere;              // point + 1, or 0
    uint32_t read_node, write_node; // of all points, or NODE_NONE
    uint32_t first_window;
    uint32_t windows;  // of a temporary object: how many were asked for
    bool is_temporary; // between the two sides of a copy
    bool is_pending;   // folds are put off
    bool will_be_one;  // among them that of all of it
    bool is_crowded;   // was seen in many large sets
    uint8_t changes;   // of the layout
    uint32_t forward;  // + 1: the object that it has become part of; 0: none
};
VEC_DEFINE(pt_object_vec, struct pt_object);

struct fold {
    uint32_t object;
    uint64_t lo, hi, stride;
};
VEC_DEFINE(fold_vec, struct fold);

// ---- The graph (points_to_solve.c)

enum constraint_kind {
    CONSTRAINT_LOAD,     // target >= *node, `size` bytes
    CONSTRAINT_STORE,    // *node >= target
    CONSTRAINT_LOAD_ALL, // all that the objects hold
    CONSTRAINT_STORE_ALL,
    CONSTRAINT_SHIFT,     // target >= node + offset
    CONSTRAINT_ARRAY,     // target >= node + any * offset, within size * offset bytes; size 0: ?
    CONSTRAINT_WALK,      // target >= node + any * offset
    CONSTRAINT_MASK,      // target >= node and node rounded down to a multiple of offset
    CONSTRAINT_ANYWHERE,  // target >= anywhere in the objects of node
    CONSTRAINT_COPY_FROM, // target is a temporary object
    CONSTRAINT_COPY_TO,
    CONSTRAINT_CALL, // target: index in calls
};

struct constraint {
    uint8_t kind;
    bool is_pure; // nothing else flows to the target: equal constraints have equal targets
    uint32_t target;
    uint32_t next; // + 1
    int64_t offset;
    uint64_t size;
};
VEC_DEFINE(constraint_vec, struct constraint);

// Points that these constraints have not seen.
struct pending {
    struct id_vec constraints; // + 1
    struct sparse_set points;
};
VEC_DEFINE(pending_vec, struct pending);

struct node {
    uint32_t parent;
    uint32_t first_constraint, last_constraint; // + 1
    uint32_t constraint_count;
    struct sparse_set points, fresh; // fresh: not yet passed on
    struct sparse_set successors;
};
VEC_DEFINE(node_vec, struct node);

// ---- Calls (points_to_calls.c)

struct pt_call {
    uint32_t module, insn;
    uint32_t caller;         // function_id
    uint32_t site;           // of the model, or MODEL_NONE
    uint32_t result;         // node, or NODE_NONE
    uint32_t plain;          // node: results that are not cloned (the result itself, mostly)
    uint32_t first_argument; // in call_arguments
    uint32_t argument_count;
    bool is_callback; // made by the library during the call at `site`
    bool is_returned; // by a wrapper: what it allocates is told apart by the wrapper's calls
    bool is_traced;   // by a wrapper as well: where it returns an argument, that was traced further
    bool is_unclear;  // may run model-less code that is not known
    struct sparse_set done;          // objects that were wired
    struct id_vec functions;         // of the model, that are called
    struct id_vec wrappers;          // of those, the ones that are wrappers
    const struct effects *allocator; // of a returned call
    uint32_t between;                // what its objects are filled from: a temporary object, or 0
};
VEC_DEFINE(pt_call_vec, struct pt_call);

struct value {
    uint32_t bits; // 0: no pointer; a node; or a point with VALUE_POINT_BIT
};

struct pt_function {
    uint32_t result;   // node
    uint32_t variadic; // object + 1
    bool is_called_by_world;
    bool is_wrapper;
    uint32_t plain;         // node: what a wrapper returns besides
    struct id_vec contexts; // of a wrapper: its outermost calls
    struct id_vec returned; // calls in it whose result it returns
    uint64_t arguments;     // bit i: it may return its argument i
};

// What a wrapper returns that is neither a call's result nor an argument.
struct plain_value {
    uint32_t function, module;
    struct operand operand;
};
VEC_DEFINE(plain_vec, struct plain_value);

MAP_DEFINE_U64(pt_map, uint32_t);
MAP_DEFINE_STRING(pt_names, uint32_t);

struct memo_key {
    uint64_t a, b, c;
};
static inline uint64_t memo_hash(struct memo_key key)
{
    return hash_mix(key.a ^ hash_mix(key.b ^ hash_mix(key.c)));
}
static inline bool memo_equal(struct memo_key a, struct memo_key b)
{
    return a.a == b.a && a.b == b.b && a.c == b.c;
}
MAP_DEFINE(pt_memo, struct memo_key, uint32_t, memo_hash, memo_equal);

struct results; // points_to_result.c

struct points_to {
    struct model *model;
    struct budget *budget;
    struct resolver resolver;
    struct arena arena;
    bool is_complete;

    struct pt_object_vec objects;
    struct point_vec points;
    struct window_vec windows;
    struct fold_vec folds;
    struct pt_memo wanted;   // folds
    struct sparse_set stale; // points that are no more, in sets still
    struct id_vec written;   // points whose windows have to be served
    struct id_vec empty;     // those that are put off

    struct node_vec nodes;
    struct constraint_vec constraints;
    struct pending_vec pending;
    struct id_vec unites; // pairs that are still to be united
    bool is_uniting;
    struct sparse_set scratch;
    uint32_t new_edges;
    uint32_t united;
    struct id_vec order;
    bool is_solving;

    struct pt_call_vec calls;
    struct id_vec call_arguments; // struct value bits
    struct pt_map call_of_insn;   // module << 32 | insn -> 1 + index in calls
    struct pt_function *functions;
    uint32_t world; // node: what model-less code holds

    struct value **insn_values;     // by module, by instruction
    struct value **argument_values; // by module, by argument
    struct value **global_values;   // by module, by global
    bool **insn_known;
    struct pt_memo memo;
    struct plain_vec plains;
    struct bitset *complex;         // by module: allocas that are used otherwise than directly
    struct bitset *returned_insns;  // by module: calls whose result a wrapper returns
    struct pt_map function_objects; // function_id -> object
    struct pt_names library_objects, variable_objects;
    uint32_t state_objects[EFFECT_STATE_COUNT];
    uint32_t argument_object, constants_object;
    struct sparse_set escaped;  // points that the world was told of
    struct sparse_set callable; // points of functions, and the world's

    struct results *results;
};

// points_to_objects.c
uint32_t object_create(struct points_to *pt, struct object info);
struct pt_object *object_at(const struct points_to *pt, uint32_t object);
uint32_t point_get(struct points_to *pt, uint32_t object, uint64_t offset);
uint32_t point_anywhere(struct points_to *pt, uint32_t object);
uint32_t point_find(const struct points_to *pt, uint32_t point);
// The node of `length` bytes there, to be read or written.
uint32_t point_read(struct points_to *pt, uint32_t point, uint64_t length);
uint32_t point_write(struct points_to *pt, uint32_t point, uint64_t length);
uint32_t object_read_all(struct points_to *pt, uint32_t object);
uint32_t object_write_all(struct points_to *pt, uint32_t object);
void object_escape(struct points_to *pt, uint32_t object);
void object_want_fold(struct points_to *pt, uint32_t object, uint64_t lo, uint64_t hi,
                      uint64_t stride);
void window_add(struct points_to *pt, uint32_t from_object, uint64_t from, uint32_t to_object,
                uint64_t to, uint64_t length);
void windows_serve(struct points_to *pt);
void windows_look_again(struct points_to *pt);
bool folds_apply(struct points_to *pt);
uint32_t object_find(const struct points_to *pt, uint32_t object);
// One object from now on; sets have to be refreshed afterwards.
void objects_merge(struct points_to *pt, const struct id_vec *objects);

// points_to_solve.c
uint32_t node_create(struct points_to *pt);
uint32_t node_find(struct points_to *pt, uint32_t node);
uint32_t node_unite(struct points_to *pt, uint32_t a, uint32_t b);
void node_add_point(struct points_to *pt, uint32_t node, uint32_t point);
void node_add_edge(struct points_to *pt, uint32_t from, uint32_t to);
void node_add_constraint(struct points_to *pt, uint32_t node, struct constraint constraint);
struct memo_key constraint_key(struct points_to *pt, uint32_t node, const struct constraint *c);
bool solve(struct points_to *pt);

// points_to_apply.c
void constraint_apply(struct points_to *pt, const struct constraint *constraint, uint32_t point);

// points_to_values.c
static inline struct value value_of_point(uint32_t point)
{
    return (struct value){point | VALUE_POINT_BIT};
}
static inline struct value value_of_node(uint32_t node)
{
    return (struct value){node};
}
static inline bool value_is_point(struct value value)
{
    return (value.bits & VALUE_POINT_BIT) != 0;
}
static inline uint32_t value_point(struct value value)
{
    return value.bits & ~VALUE_POINT_BIT;
}
struct value value_of_operand(struct points_to *pt, uint32_t module, struct operand operand);
// A node that holds the value; NODE_NONE for none.
uint32_t value_node(struct points_to *pt, struct value value);
void value_flow(struct points_to *pt, struct value value, uint32_t node);
struct value value_shift(struct points_to *pt, struct value value, int64_t offset);
struct value value_move(struct points_to *pt, struct value value, enum constraint_kind kind,
                        int64_t offset, uint64_t size);
struct value value_load(struct points_to *pt, struct value address, uint64_t size, bool carries);
void value_store(struct points_to *pt, struct value address, struct value value, uint64_t size);
void value_copy(struct points_to *pt, struct value to, struct value from, uint64_t length);
// The two halves: bytes go to a temporary object, and from there to any number of places.
uint32_t value_copy_from(struct points_to *pt, struct value from, uint64_t length);
void value_copy_to(struct points_to *pt, struct value to, uint32_t between, uint64_t length);
bool type_carries(const struct code *code, struct type_id type);
bool operand_number(const struct code *code, struct operand operand, uint64_t *ret);

// points_to_globals.c
void globals_build(struct points_to *pt);
struct value function_value(struct points_to *pt, uint32_t module, uint32_t global);
uint32_t function_object(struct points_to *pt, uint32_t function);
uint32_t variadic_object(struct points_to *pt, uint32_t function);

// points_to_build.c
void program_build(struct points_to *pt);
// The instruction's value and what it does; once.
void insn_build(struct points_to *pt, uint32_t module, uint32_t insn);

// points_to_calls.c
void call_build(struct points_to *pt, uint32_t module, uint32_t insn, struct value result);
void call_wire_object(struct points_to *pt, uint32_t call, uint32_t object);
void world_call(struct points_to *pt, uint32_t function);
uint32_t call_add(struct points_to *pt, struct pt_call call);
void roots_build(struct points_to *pt);

// points_to_library.c
void effect_apply(struct points_to *pt, uint32_t call, const struct effect *effect);
void library_wire(struct points_to *pt, uint32_t call, const char *name);
void call_unknown(struct points_to *pt, uint32_t call);
// Argument i of a call; no pointer where there is none.
struct value call_argument(const struct points_to *pt, uint32_t call, uint32_t index);
uint64_t call_extent(const struct points_to *pt, uint32_t call, struct effect_extent extent);

// points_to_clones.c
bool clones_merge(struct points_to *pt);

// points_to_wrappers.c
void wrappers_find(struct points_to *pt);
// Was it known what the call does when values were traced?
bool call_is_traced(struct points_to *pt, uint32_t module, uint32_t insn);
void wrappers_finish(struct points_to *pt); // once all instructions are built
// A call in a wrapper allocates, or calls a wrapper; or a wrapper is called.
void wrapper_allocates(struct points_to *pt, uint32_t call, const struct effects *effects);
void wrapper_called(struct points_to *pt, uint32_t call, uint32_t function);
// The new object of a call's own; context: a call, or MODEL_NONE.
uint32_t heap_object(struct points_to *pt, uint32_t call, uint32_t context);

// points_to_result.c
void results_build(struct points_to *pt);
void results_destroy(struct results *results);

#endif
