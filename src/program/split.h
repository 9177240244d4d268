// SPDX-License-Identifier: Apache-2.0
/*
 * How the blocks of an LLVM function become nodes: each block, in order, is split after every call
 * (anything but intrinsics, accessors and inline assembly). Compiled into plugin and reader, so
 * that both number alike; it looks at block, instruction and successor order only.
 *
 *     struct split split;
 *     split_init(&split, function);
 *     ... split.graph, split.nodes[n].call ...
 *     split_deinit(&split);
 */
#ifndef PROGRAM_SPLIT_H
#define PROGRAM_SPLIT_H

#include "program/path_number.h"

#include <llvm-c/Core.h>

struct split_node {
    LLVMBasicBlockRef block;
    LLVMValueRef first; // first instruction
    LLVMValueRef last;  // last instruction: the call, or the block's terminator
    LLVMValueRef call;  // the call that ends the node, or NULL
    uint32_t site;      // index of that call among the function's call sites
};

struct split {
    LLVMValueRef function;
    struct split_node *nodes;
    uint32_t site_count;
    uint32_t *site_node;     // by site
    struct path_graph graph; // arrays owned here
};

// The function must have a body. Instructions are borrowed from it.
void split_init(struct split *split, LLVMValueRef function);
void split_deinit(struct split *split);

// Is this instruction a call site, that is, does it end a node?
bool split_is_call(LLVMValueRef instruction);
// Calls that may be moved, merged or dropped have this attribute (instrument/attributes.c).
#define SPLIT_LOOSE "inquest-loose"
bool split_is_loose(LLVMValueRef call);
// What macros of the C library call to get at a variable (errno, the tables of isalpha). It does
// nothing else, so that a call of it is none of the source's.
bool split_is_accessor(LLVMValueRef function);
// Does an attribute of this name stand on the call or on the function it names?
bool split_call_has_attribute(LLVMValueRef call, const char *name);

#endif
