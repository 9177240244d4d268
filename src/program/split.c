// SPDX-License-Identifier: Apache-2.0
#include "program/split.h"

#include "common/alloc.h"

#include <stdlib.h>
#include <string.h>

bool split_is_accessor(LLVMValueRef function)
{
    static const char *const names[] = {"__ctype_b_loc", "__ctype_tolower_loc",
                                        "__ctype_toupper_loc", "__errno_location"};
    size_t length;

    if (!LLVMIsDeclaration(function))
        return false;
    const char *name = LLVMGetValueName2(function, &length);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == length && !memcmp(names[i], name, length))
            return true;
    return false;
}

bool split_is_loose(LLVMValueRef call)
{
    return LLVMGetCallSiteStringAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                          SPLIT_LOOSE, strlen(SPLIT_LOOSE));
}

bool split_is_call(LLVMValueRef instruction)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);

    if (opcode != LLVMCall && opcode != LLVMInvoke && opcode != LLVMCallBr)
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    if (LLVMIsAInlineAsm(callee))
        return false;
    return !LLVMIsAFunction(callee) || (!LLVMGetIntrinsicID(callee) && !split_is_accessor(callee));
}

bool split_call_has_attribute(LLVMValueRef call, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (LLVMGetCallSiteEnumAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind))
        return true;
    return LLVMIsAFunction(callee) &&
           LLVMGetEnumAttributeAtIndex(callee, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       kind);
}

// Blocks by address, to find their first node.
struct block_entry {
    LLVMBasicBlockRef block;
    uint32_t first_node;
};

static int compare_blocks(const void *a, const void *b)
{
    const struct block_entry *x = a, *y = b;

    return (uintptr_t)x->block<(uintptr_t)y->block ? -1 : (uintptr_t)x->block>(uintptr_t) y->block
               ? 1
               : 0;
}

static uint32_t first_node_of(const struct block_entry *blocks, uint32_t count,
                              LLVMBasicBlockRef block)
{
    struct block_entry key = {.block = block};
    const struct block_entry *found = bsearch(&key, blocks, count, sizeof(*blocks), compare_blocks);

    return found->first_node;
}

static uint8_t call_flags(LLVMValueRef call)
{
    bool twice = LLVMGetInstructionOpcode(call) == LLVMCall &&
                 split_call_has_attribute(call, "returns_twice");

    return (uint8_t)(PATH_NODE_CALL | (twice ? PATH_NODE_RETURNS_TWICE : 0));
}

static void count(LLVMValueRef function, uint32_t *blocks, uint32_t *nodes, uint32_t *edges,
                  uint32_t *indirect)
{
    *blocks = *nodes = *edges = *indirect = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);

        ++*blocks;
        ++*nodes;
        *edges += LLVMGetNumSuccessors(terminator);
        *indirect += LLVMGetInstructionOpcode(terminator) == LLVMIndirectBr;
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != terminator;
             i = LLVMGetNextInstruction(i))
            if (split_is_call(i)) {
                ++*nodes;
                ++*edges;
            }
    }
}

// Nodes of one block; the block's first node index is known from blocks[].
static uint32_t split_block(struct split *split, LLVMBasicBlockRef block, uint32_t node,
                            uint8_t *flags)
{
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
    LLVMValueRef first = LLVMGetFirstInstruction(block);

    for (LLVMValueRef i = first;; i = LLVMGetNextInstruction(i)) {
        bool call = split_is_call(i);

        if (!call && i != terminator)
            continue;
        split->nodes[node] = (struct split_node){.block = block,
                                                 .first = first,
                                                 .last = i,
                                                 .call = call ? i : NULL,
                                                 .site = split->site_count};
        if (call) {
            split->site_node[split->site_count++] = node;
            flags[node] = call_flags(i);
        }
        node++;
        if (i == terminator)
            return node;
        first = LLVMGetNextInstruction(i);
    }
}

static uint8_t edge_flag(LLVMValueRef terminator, unsigned successor, uint32_t indirect_count)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(terminator);

    if (opcode == LLVMIndirectBr)
        return indirect_count > 1 ? PATH_EDGE_SHARED : 0;
    if (opcode == LLVMInvoke)
        return successor == 1 ? PATH_EDGE_SHARED : 0;
    // exception dispatch of other personalities: pads may not be split
    return opcode == LLVMCatchSwitch || opcode == LLVMCleanupRet ? PATH_EDGE_SHARED : 0;
}

void split_init(struct split *split, LLVMValueRef function)
{
    uint32_t block_count, node_count, edge_count, indirect_count, b = 0, node = 0, edge = 0;

    count(function, &block_count, &node_count, &edge_count, &indirect_count);
    struct block_entry *blocks = xmalloc_array(block_count, sizeof(*blocks));
    uint32_t *start = xmalloc_array(node_count + 1u, sizeof(*start));
    uint32_t *successor = xmalloc_array(edge_count + 1u, sizeof(*successor));
    uint8_t *node_flags = xcalloc(node_count + 1u, 1);
    uint8_t *edge_flags = xcalloc(edge_count + 1u, 1);

    *split = (struct split){.function = function};
    split->nodes = xcalloc(node_count, sizeof(*split->nodes));
    split->site_node = xmalloc_array(node_count + 1u, sizeof(uint32_t));
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block)) {
        blocks[b++] = (struct block_entry){block, node};
        node = split_block(split, block, node, node_flags);
    }
    qsort(blocks, block_count, sizeof(*blocks), compare_blocks);
    for (node = 0; node < node_count; node++) {
        LLVMValueRef last = split->nodes[node].last;

        start[node] = edge;
        if (!LLVMIsATerminatorInst(last)) {
            successor[edge++] = node + 1;
            continue;
        }
        for (unsigned s = 0; s < LLVMGetNumSuccessors(last); s++) {
            edge_flags[edge] = edge_flag(last, s, indirect_count);
            successor[edge++] = first_node_of(blocks, block_count, LLVMGetSuccessor(last, s));
        }
    }
    start[node_count] = edge;
    free(blocks);
    split->graph = (struct path_graph){.node_count = node_count,
                                       .successor_start = start,
                                       .successor = successor,
                                       .node_flags = node_flags,
                                       .edge_flags = edge_flags};
}

void split_deinit(struct split *split)
{
    free(split->nodes);
    free(split->site_node);
    free((void *)split->graph.successor_start);
    free((void *)split->graph.successor);
    free((void *)split->graph.node_flags);
    free((void *)split->graph.edge_flags);
    *split = (struct split){0};
}
