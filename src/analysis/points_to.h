// SPDX-License-Identifier: Apache-2.0
/*
 * Where pointers may point: inclusion-based (Andersen), field-sensitive by byte offset,
 * flow-insensitive, over all modules of a complete model with code.
 *
 *     struct points_to *points_to = points_to_create(model, budget);
 *     struct cell_set cells = points_to_value(points_to, module, operand);
 *     for (uint32_t i = 0; i < cells.count; i++)
 *             printf("%s\n", points_to_cell_name(points_to, cells.data[i], &text));
 *     points_to_destroy(points_to);
 *
 * An *object* is memory that is one piece: a variable, a local variable (all activations of its
 * function are one object), what one call site allocates (for a wrapper of malloc: what each call
 * of the wrapper allocates), a function, state of the library (analysis/effects.h), the world: all
 * that model-less code owns. A *cell* is a part of an object at a byte offset; objects that are
 * indexed are folded, so that a cell stands for all offsets that are equal modulo some stride, and
 * an object of which too much is known is one cell. Cells of one object do not overlap; where one
 * of several is at offset 0 with stride 1, it stands for the bytes that the others leave.
 *
 * Claims, for programs that stay within their objects: whatever address an instruction uses while
 * the program runs is in a cell of its operand's set, at an offset that the cell stands for. What a
 * store out of bounds, through a stale pointer or by assembly does is not claimed
 * (docs/slicing.md).
 *
 * When the budget ends first, the result is not complete: every set is then "anything", which is
 * sound; `is_complete` tells.
 */
#ifndef ANALYSIS_POINTS_TO_H
#define ANALYSIS_POINTS_TO_H

#include <stdbool.h>
#include <stdint.h>

#include "program/model.h"

struct budget;
struct strbuf;

struct object_id {
    uint32_t value;
};
struct cell_id {
    uint32_t value;
};

enum object_kind {
    OBJECT_WORLD,  // object 0: anything that model-less code owns or can reach
    OBJECT_GLOBAL, // a variable: module, index in its globals (the definition that was linked)
    OBJECT_LOCAL,  // an alloca: module, index of the instruction
    OBJECT_HEAP,   // module, index of the call that allocates; context: site of the wrapper's call
    OBJECT_BYVAL,  // an argument that is passed in memory: module, index in its arguments
    OBJECT_FUNCTION,  // index: function_id; of the library: module, index in its globals
    OBJECT_VARIADIC,  // the arguments beyond the fixed ones, of a function: index: function_id
    OBJECT_ARGUMENT,  // what main and other roots are given: argv and its like
    OBJECT_STATE,     // index: enum effect_state
    OBJECT_CONSTANTS, // variables that are never written and hold no pointers, all of
                      // them together: texts, tables of numbers
};

struct object {
    uint8_t kind;    // enum object_kind
    bool is_single;  // there is at most one at a time, ever: no heap object, no local of a function
                     // that may be active twice; only then can a write be certain
    bool overlaps;   // cells may overlap: any two of them may be the same memory (never, now)
    bool escapes;    // model-less code may hold its address
    uint32_t module; // MODEL_NONE where it has none
    uint32_t index;
    uint32_t context; // site_id, or MODEL_NONE
    uint64_t size;    // in bytes; 0: not known
    uint32_t first_cell, cell_count;
};

struct cell {
    struct object_id object;
    uint64_t offset; // the first
    uint64_t stride; // and every further stride bytes, as far as they are its (an array in an array
                     // has the common stride of both); 0: none
    uint64_t length; // bytes of one; 0: not known
};

// Borrowed, sorted. Where the world's cell is among them, so are all cells of objects that escape;
// these need not be listed.
struct cell_set {
    const struct cell_id *data;
    uint32_t count;
    bool is_anything; // any cell at all
};

#define POINTS_TO_WORLD_CELL 0u // the cell of the world

struct points_to;

struct points_to *points_to_create(struct model *model, struct budget *budget);
void points_to_destroy(struct points_to *points_to); // NULL is fine
bool points_to_is_complete(const struct points_to *points_to);

uint32_t points_to_object_count(const struct points_to *points_to);
const struct object *points_to_object(const struct points_to *points_to, struct object_id object);
uint32_t points_to_cell_count(const struct points_to *points_to);
const struct cell *points_to_cell(const struct points_to *points_to, struct cell_id cell);

// What an operand of that module may point to. (Arguments, instructions, constants, globals.)
struct cell_set points_to_value(const struct points_to *points_to, struct module_id module,
                                struct operand operand);
// Does the set hold the cell, be it as part of the world?
bool points_to_holds(const struct points_to *points_to, struct cell_set set, struct cell_id cell);
// The cells that `length` bytes from there on may touch: as above, and the cells behind. 0:
// unknown.
struct cell_set points_to_extent(const struct points_to *points_to, struct module_id module,
                                 struct operand operand, uint64_t length);

/*
 * Memory that an instruction itself may read or write (loads, stores, atomics, va_arg, intrinsics,
 * assembly, calls of library functions by their effects; not what called functions of the model
 * do). `certain`: of what is written, cells that are written whenever it is executed to its end.
 */
struct accesses { // borrowed
    struct cell_set reads, writes, certain;
};
struct accesses points_to_accesses(const struct points_to *points_to, struct module_id module,
                                   uint32_t insn);

// The callees that pointers allow, never more than the model's: made with malloc, for
// model_replace_callees. Callbacks of library calls are narrowed too.
void points_to_callees(const struct points_to *points_to, struct callee_table *ret);

// "words.c:12 buffer[8]", "malloc at words.c:40 +16": for people.
const char *points_to_cell_name(const struct points_to *points_to, struct cell_id cell,
                                struct strbuf *text);
// All of it as text: objects, cells, what they hold (docs/formats/points_to.md).
void points_to_write_text(const struct points_to *points_to, struct strbuf *text);

// ---- Figures

struct points_to_figures {
    uint32_t nodes, constraints, collapsed; // of the constraint graph; nodes united in cycles
    double mean_set;            // over `pointers`: addresses of loads and stores that no name gives
    double mean_load_store_set; // over all loads and stores
    uint32_t pointers, largest_set;
};
struct points_to_figures points_to_figures(const struct points_to *points_to);

#endif
