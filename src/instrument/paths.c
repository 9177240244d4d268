// SPDX-License-Identifier: Apache-2.0
/*
 * Path tracing: the code of edges (program/path_number.h), which changes sums and stores them
 * (words.c).
 *
 * Requires: the frame words are there; call coverage stores may be. Breaks: edges are split, so the
 * function's split still names its instructions, but no longer all its blocks.
 */
#include "instrument/instrument.h"

#include "common/alloc.h"

#include <stdlib.h>

struct path_context {
    const struct instrumented_module *module;
    struct instrumented_function *function;
    uint32_t *predecessor_count; // by node: distinct nodes with an edge to it
};

static LLVMValueRef first_insertion_point(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);

    while (LLVMGetInstructionOpcode(i) == LLVMPHI)
        i = LLVMGetNextInstruction(i);
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    if (opcode == LLVMLandingPad || opcode == LLVMCatchPad || opcode == LLVMCleanupPad)
        i = LLVMGetNextInstruction(i);
    return i;
}

static bool is_source(LLVMBasicBlockRef block, const LLVMBasicBlockRef *sources, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (sources[i] == block)
            return true;
    return false;
}

// Moves the incoming values from `sources` of every PHI in `target` to the new block `between`.
static void split_phis(const struct instrumented_module *module, LLVMBasicBlockRef target,
                       LLVMBasicBlockRef between, const LLVMBasicBlockRef *sources, uint32_t count)
{
    LLVMValueRef phi = LLVMGetFirstInstruction(target), next;

    for (; LLVMGetInstructionOpcode(phi) == LLVMPHI; phi = next) {
        LLVMTypeRef type = LLVMTypeOf(phi);

        next = LLVMGetNextInstruction(phi);
        LLVMPositionBuilder(module->builder, between, LLVMGetFirstInstruction(between));
        LLVMValueRef merged = LLVMBuildPhi(module->builder, type, "");
        LLVMPositionBuilderBefore(module->builder, phi);
        LLVMValueRef rest = LLVMBuildPhi(module->builder, type, "");
        LLVMInstructionSetDebugLoc(rest, LLVMInstructionGetDebugLoc(phi));
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);

            LLVMAddIncoming(is_source(from, sources, count) ? merged : rest, &value, &from, 1);
        }
        LLVMAddIncoming(rest, &merged, &between, 1);
        LLVMReplaceAllUsesWith(phi, rest);
        LLVMInstructionEraseFromParent(phi);
    }
}

// A new block on all edges from `sources` to `target`; its terminator, before which code can go.
static LLVMValueRef split_edges(const struct instrumented_module *module, LLVMValueRef function,
                                LLVMBasicBlockRef target, const LLVMBasicBlockRef *sources,
                                uint32_t count, LLVMMetadataRef location)
{
    LLVMBasicBlockRef between = LLVMAppendBasicBlockInContext(module->context, function, "");
    bool indirect = false;

    LLVMMoveBasicBlockAfter(between, sources[0]);
    LLVMPositionBuilderAtEnd(module->builder, between);
    LLVMValueRef jump = LLVMBuildBr(module->builder, target);
    LLVMInstructionSetDebugLoc(jump, location);
    split_phis(module, target, between, sources, count);
    for (uint32_t s = 0; s < count; s++) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(sources[s]);

        indirect |= LLVMGetInstructionOpcode(terminator) == LLVMIndirectBr;
        for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
            if (LLVMGetSuccessor(terminator, i) == target)
                LLVMSetSuccessor(terminator, i, between);
    }
    if (indirect)
        LLVMReplaceAllUsesWith(LLVMBlockAddress(function, target),
                               LLVMBlockAddress(function, between));
    return jump;
}

static uint32_t distinct_successors(const struct path_graph *graph, uint32_t node)
{
    uint32_t count = 0;

    for (uint32_t e = graph->successor_start[node]; e < graph->successor_start[node + 1]; e++) {
        bool seen = false;

        for (uint32_t d = graph->successor_start[node]; d < e; d++)
            seen |= graph->successor[d] == graph->successor[e];
        count += !seen;
    }
    return count;
}

// Where the code of edge node -> target can stand: at the end of one, at the start of the other, or
// between them.
static LLVMValueRef edge_position(const struct path_context *context, uint32_t node,
                                  uint32_t target, LLVMMetadataRef location)
{
    const struct split *split = &context->function->split;
    LLVMValueRef last = split->nodes[node].last;
    LLVMBasicBlockRef source_block = split->nodes[node].block;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(last);

    if (!LLVMIsATerminatorInst(last))
        return LLVMGetNextInstruction(last);
    if (opcode == LLVMBr && distinct_successors(&split->graph, node) == 1)
        return last;
    if (context->predecessor_count[target] == 1 && target != 0 && opcode != LLVMIndirectBr)
        return first_insertion_point(split->nodes[target].block);
    // the block may have been split off from its node's start by nothing else: blocks stay whole
    return split_edges(context->module, context->function->function, split->nodes[target].block,
                       &source_block, 1, location);
}

// The code of an edge has the line of the node it leaves and a discriminator of its own, past those
// of the nodes: whoever finds the program counter there knows that an update is under way.
static LLVMMetadataRef edge_location(const struct path_context *context, uint32_t node,
                                     uint32_t edge)
{
    const struct split *split = &context->function->split;
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(split->nodes[node].last);

    return location
               ? discriminators_locate(context->module, location, split->graph.node_count + edge)
               : NULL;
}

static void plain_edge(const struct path_context *context, uint32_t node, uint32_t edge)
{
    const struct split *split = &context->function->split;
    const struct path_graph *graph = &split->graph;
    uint32_t target = graph->successor[edge];
    struct path_action actions[PATH_MOST_ACTIONS];
    uint32_t count =
        path_edge_actions(context->function->numbers, &context->function->shape, edge, actions);

    for (uint32_t e = graph->successor_start[node]; e < edge; e++)
        if (graph->successor[e] == target)
            return; // the code of the first parallel edge serves this one
    if (!count)
        return;
    LLVMMetadataRef location = edge_location(context, node, edge);
    LLVMValueRef position = edge_position(context, node, target, location);
    LLVMPositionBuilderBefore(context->module->builder, position);
    LLVMSetCurrentDebugLocation2(context->module->builder, location);
    words_change(context->module, context->function, actions, count);
    LLVMSetCurrentDebugLocation2(context->module->builder, NULL);
    // the jump behind the update belongs to the edge as well: the sum is no longer that of the node
    if (position == split->nodes[node].last)
        LLVMInstructionSetDebugLoc(position, location);
}

// Shared edges arrive at one place: a landing pad, or a block before the target of indirect jumps.
static void shared_target(const struct path_context *context, uint32_t target)
{
    const struct split *split = &context->function->split;
    const struct path_graph *graph = &split->graph;
    LLVMBasicBlockRef block = split->nodes[target].block, *sources;
    uint32_t count = 0;
    LLVMValueRef position = NULL;
    LLVMMetadataRef location = NULL;
    struct path_action actions[PATH_MOST_ACTIONS];
    uint32_t action_count =
        path_shared_actions(context->function->numbers, &context->function->shape, target, actions);

    if (!action_count)
        return;
    sources = xmalloc_array(context->predecessor_count[target] + 1u, sizeof(*sources));
    for (uint32_t n = 0; n < graph->node_count; n++)
        for (uint32_t e = graph->successor_start[n]; e < graph->successor_start[n + 1]; e++)
            if (graph->successor[e] == target && (graph->edge_flags[e] & PATH_EDGE_SHARED) &&
                !is_source(split->nodes[n].block, sources, count)) {
                sources[count++] = split->nodes[n].block;
                location = edge_location(context, n, e);
            }
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(sources[0]);
    if (LLVMGetInstructionOpcode(terminator) == LLVMIndirectBr)
        position =
            split_edges(context->module, context->function->function, block, sources, count, NULL);
    else
        position = first_insertion_point(block);
    free(sources);
    LLVMPositionBuilderBefore(context->module->builder, position);
    LLVMSetCurrentDebugLocation2(context->module->builder, location);
    words_change(context->module, context->function, actions, action_count);
    LLVMSetCurrentDebugLocation2(context->module->builder, NULL);
}

static uint32_t *count_predecessors(const struct path_graph *graph)
{
    uint32_t *counts = xcalloc(graph->node_count + 1u, sizeof(*counts));

    for (uint32_t n = 0; n < graph->node_count; n++)
        for (uint32_t e = graph->successor_start[n]; e < graph->successor_start[n + 1]; e++) {
            bool seen = false;

            for (uint32_t d = graph->successor_start[n]; d < e; d++)
                seen |= graph->successor[d] == graph->successor[e];
            counts[graph->successor[e]] += !seen;
        }
    return counts;
}

void paths_add(struct instrumented_module *module, struct instrumented_function *function)
{
    const struct path_graph *graph = &function->split.graph;

    if (!function->shape.words)
        return;
    struct path_context context = {module, function, count_predecessors(graph)};
    uint8_t *shared = xcalloc(graph->node_count + 1u, 1);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        if (!path_reachable(function->numbers, n))
            continue;
        for (uint32_t e = graph->successor_start[n]; e < graph->successor_start[n + 1]; e++) {
            if (graph->edge_flags[e] & PATH_EDGE_SHARED)
                shared[graph->successor[e]] = 1;
            else
                plain_edge(&context, n, e);
        }
    }
    for (uint32_t n = 0; n < graph->node_count; n++)
        if (shared[n])
            shared_target(&context, n);
    free(shared);
    free(context.predecessor_count);
}
