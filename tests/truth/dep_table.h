// SPDX-License-Identifier: Apache-2.0
/*
 * The modules of a traced program as dep_plugin.cc wrote them down, and who postdominates whom. All
 * numbers here count over all modules; module M's instruction I is modules[M].first_insn + I.
 */
#ifndef TRUTH_DEP_TABLE_H
#define TRUTH_DEP_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { OPERAND_NONE, OPERAND_INSN, OPERAND_ARGUMENT, OPERAND_NAME };

struct dep_operand {
    uint8_t kind;   // OPERAND_*
    char class;     // of a call's argument: 'g', 'f', 'x'
    uint32_t index; // in the function; of a PHI's: also see `node`
    uint32_t node;  // of a PHI's: the predecessor, in the function
};

struct dep_insn {
    char kind; // see dep_plugin.cc
    uint32_t node;
    uint32_t file, line; // line 0: none
    uint32_t first_operand, operand_count;
    const char *callee; // of a call by name
};

struct dep_node {
    uint32_t function;
    uint32_t first_insn, insn_count;
    uint32_t first_successor, successor_count; // in `successors`, counted within the function
    bool returns_twice, chooses;               // chooses: goes on to different nodes
};

struct dep_function {
    const char *name;
    uint32_t module, index;
    uint32_t arguments;
    int fixed;         // -1: not variadic
    bool is_elsewhere; // a library's body may run in its stead
    uint32_t first_node, node_count, first_insn, insn_count;
    uint32_t *enter, *leave; // of the tree of postdominators, by node; NULL: not yet made
};

struct dep_global {
    const char *name;
    uint32_t module;
    uint64_t size;
};

struct dep_module {
    uint32_t first_function, function_count, first_insn, first_global, first_file;
};

#define DEP_TABLES(X)                                                                              \
    X(modules, struct dep_module)                                                                  \
    X(functions, struct dep_function)                                                              \
    X(nodes, struct dep_node)                                                                      \
    X(insns, struct dep_insn)                                                                      \
    X(operands, struct dep_operand)                                                                \
    X(successors, uint32_t)                                                                        \
    X(globals, struct dep_global)                                                                  \
    X(files, const char *)

struct dep_table {
#define X(name, type)                                                                              \
    type *name;                                                                                    \
    uint32_t name##_count, name##_room;
    DEP_TABLES(X)
#undef X
};

// Makes room for one more and gives its address.
#define DEP_PUSH(table, name)                                                                      \
    ((table)->name##_count == (table)->name##_room                                                 \
         ? (void)((table)->name =                                                                  \
                      dep_grow((table)->name, sizeof(*(table)->name), &(table)->name##_room))      \
         : (void)0,                                                                                \
     &(table)->name[(table)->name##_count++])

void *dep_grow(void *data, uint32_t size, uint32_t *room); // at least twice the room
void dep_fail(const char *what, const char *subject) __attribute__((noreturn));

// Adds a module, the next one.
void dep_table_read(struct dep_table *table, const char *path);

// Does every way from node `from` on to the function's end lead through `node`, wherever `from`
// goes? (Both of the same function. Of nodes that have no way to the end: to the start of the loop
// that they end up in.)
bool dep_is_certain_after(struct dep_table *table, uint32_t node, uint32_t from);

#endif
