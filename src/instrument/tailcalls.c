// SPDX-License-Identifier: Apache-2.0
/*
 * Tail calls in recursive cycles stay tail calls.
 *
 * The record is known elsewhere, as far as the optimiser can tell, so that no call becomes a tail
 * call and every frame stays, which is what evidence wants. Where functions call each other in a
 * cycle by tail calls, that would turn a loop into a stack overflow: there the frame is given up
 * before the call, and the stack has a gap. Cycles are looked for within the module, with all
 * indirect calls taken together as one function that calls everything whose address is taken.
 *
 * tailcalls_find() looks at the function as the front end made it. tailcalls_apply() runs last: it
 * turns `call, ..., jump to the common return` into `call, return`.
 */
#include "instrument/instrument.h"

#include "common/alloc.h"
#include "common/map.h"

#include <stdlib.h>
#include <string.h>

MAP_DEFINE_U64(function_map, uint32_t);

static bool address_taken(LLVMValueRef f)
{
    for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (!LLVMIsACallInst(user) && !LLVMIsAInvokeInst(user))
            return true;
        if (LLVMGetCalledValue(user) != f)
            return true;
        for (unsigned a = 0; a < LLVMGetNumArgOperands(user); a++)
            if (LLVMGetOperand(user, a) == f)
                return true;
    }
    return false;
}

// Strongly connected components of the call graph; node `function_count` is "indirect".
struct call_graph {
    const struct instrumented_module *module;
    struct function_map index;
    uint8_t *taken;
    uint32_t *component;
};

static uint32_t callee_index(const struct call_graph *graph, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (!LLVMIsAFunction(callee))
        return graph->module->function_count;
    uint32_t *found = function_map_get(&graph->index, (uintptr_t)callee);
    return found ? *found : UINT32_MAX;
}

struct visit {
    uint32_t node, next;
};

// The k-th callee of a node of the call graph; UINT32_MAX - 1 past the last, UINT32_MAX for none.
static uint32_t kth_callee(const struct call_graph *graph, uint32_t node, uint32_t k)
{
    const struct instrumented_module *module = graph->module;

    if (node == module->function_count) {
        if (k >= module->function_count)
            return UINT32_MAX - 1;
        return graph->taken[k] ? k : UINT32_MAX;
    }
    const struct split *split = &module->functions[node].split;
    if (k >= split->site_count)
        return UINT32_MAX - 1;
    return callee_index(graph, split->nodes[split->site_node[k]].call);
}

// Tarjan's algorithm, without recursion.
static void find_components(struct call_graph *graph)
{
    uint32_t count = graph->module->function_count + 1, counter = 0, top = 0, depth = 0;
    uint32_t *number = xcalloc(count, sizeof(*number)), *low = xcalloc(count, sizeof(*low));
    uint32_t *stack = xmalloc_array(count, sizeof(*stack));
    struct visit *visits = xmalloc_array(count, sizeof(*visits));
    uint8_t *on_stack = xcalloc(count, 1);

    for (uint32_t root = 0; root < count; root++) {
        if (number[root])
            continue;
        visits[depth++] = (struct visit){root, 0};
        number[root] = low[root] = ++counter;
        stack[top++] = root;
        on_stack[root] = 1;
        while (depth) {
            struct visit *visit = &visits[depth - 1];
            uint32_t node = visit->node, callee = kth_callee(graph, node, visit->next++);

            if (callee == UINT32_MAX - 1) {
                depth--;
                if (depth && low[visits[depth - 1].node] > low[node])
                    low[visits[depth - 1].node] = low[node];
                if (low[node] != number[node])
                    continue;
                uint32_t member;
                do {
                    member = stack[--top];
                    on_stack[member] = 0;
                    graph->component[member] = node;
                } while (member != node);
            } else if (callee == UINT32_MAX) {
                continue;
            } else if (!number[callee]) {
                number[callee] = low[callee] = ++counter;
                stack[top++] = callee;
                on_stack[callee] = 1;
                visits[depth++] = (struct visit){callee, 0};
            } else if (on_stack[callee] && number[callee] < low[node])
                low[node] = number[callee];
        }
    }
    free(number);
    free(low);
    free(stack);
    free(visits);
    free(on_stack);
}

// Is the slot used by plain loads and stores only, so that no callee can know it?
static bool slot_is_private(LLVMValueRef pointer, LLVMValueRef slot)
{
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsALoadInst(user))
            continue;
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != pointer)
            continue;
        if (LLVMIsAGetElementPtrInst(user) && slot_is_private(user, slot))
            continue;
        if (LLVMIsACallInst(user) && LLVMIsAIntrinsicInst(user))
            continue; // lifetimes, debug info, copies in and out
        return false;
    }
    return true;
}

static bool slots_are_private(LLVMValueRef f)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAAllocaInst(i) && !slot_is_private(i, i))
                return false;
    return true;
}

static bool is_marker(LLVMValueRef i)
{
    static const char lifetime[] = "llvm.lifetime.", debug[] = "llvm.dbg.";
    size_t length;

    if (!LLVMIsAIntrinsicInst(i))
        return false;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(i), &length);
    return !strncmp(name, lifetime, sizeof(lifetime) - 1) ||
           !strncmp(name, debug, sizeof(debug) - 1);
}

// From `i` on, does control return `value` (or nothing) at once? The front end goes there through a
// slot and a jump to the common return.
static bool returns_now(LLVMValueRef i, LLVMValueRef value)
{
    LLVMValueRef slot = NULL, loaded = NULL;

    for (int steps = 0; i && steps < 32; steps++) {
        LLVMOpcode opcode = LLVMGetInstructionOpcode(i);

        if (opcode == LLVMRet)
            return LLVMGetNumOperands(i) == 0 || LLVMGetOperand(i, 0) == value ||
                   (loaded && LLVMGetOperand(i, 0) == loaded);
        if (opcode == LLVMBr && LLVMGetNumSuccessors(i) == 1) {
            i = LLVMGetFirstInstruction(LLVMGetSuccessor(i, 0));
            continue;
        }
        if (opcode == LLVMStore && LLVMGetOperand(i, 0) == value &&
            LLVMIsAAllocaInst(LLVMGetOperand(i, 1)))
            slot = LLVMGetOperand(i, 1);
        else if (opcode == LLVMLoad && slot && LLVMGetOperand(i, 0) == slot)
            loaded = i;
        else if (!is_marker(i))
            return false; // PHIs too
        i = LLVMGetNextInstruction(i);
    }
    return false;
}

static bool passes_memory(LLVMValueRef call)
{
    static const char *const kinds[] = {"byval", "sret", "inalloca"};

    for (unsigned a = 0; a < LLVMGetNumArgOperands(call); a++)
        for (int k = 0; k < 3; k++)
            if (LLVMGetCallSiteEnumAttribute(
                    call, a + 1, LLVMGetEnumAttributeKindForName(kinds[k], strlen(kinds[k]))))
                return true;
    return false;
}

static void find_in(const struct call_graph *graph, struct instrumented_function *function)
{
    const struct split *split = &function->split;
    bool is_private = false, checked = false;

    if (!function->optimized || !function->shape.has_record)
        return;
    for (uint32_t s = 0; s < split->site_count; s++) {
        LLVMValueRef call = split->nodes[split->site_node[s]].call;
        uint32_t callee = callee_index(graph, call);

        if (callee == UINT32_MAX || LLVMGetInstructionOpcode(call) != LLVMCall ||
            graph->component[callee] != graph->component[function->index] ||
            LLVMGetTailCallKind(call) == LLVMTailCallKindNoTail || passes_memory(call) ||
            !returns_now(LLVMGetNextInstruction(call), call))
            continue;
        if (!checked)
            is_private = slots_are_private(function->function);
        checked = true;
        if (!is_private)
            return;
        if (!function->tail_sites)
            function->tail_sites = xcalloc(split->site_count, 1);
        function->tail_sites[s] = 1;
    }
}

void tailcalls_find(struct instrumented_module *module)
{
    struct call_graph graph = {.module = module, .index = MAP_INIT};

    graph.taken = xcalloc(module->function_count + 1u, 1);
    graph.component = xcalloc(module->function_count + 1u, sizeof(uint32_t));
    for (uint32_t f = 0; f < module->function_count; f++) {
        *function_map_put(&graph.index, (uintptr_t)module->functions[f].function) = f;
        graph.taken[f] = address_taken(module->functions[f].function);
    }
    find_components(&graph);
    for (uint32_t f = 0; f < module->function_count; f++)
        find_in(&graph, &module->functions[f]);
    function_map_deinit(&graph.index);
    free(graph.taken);
    free(graph.component);
}

static void make_tail(struct instrumented_module *module,
                      const struct instrumented_function *function, LLVMValueRef call)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(call);
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(call);
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(function->function));

    if (function->flags & SECTION_FUNCTION_CLEARS) {
        LLVMPositionBuilderBefore(module->builder, call);
        record_store(module, function, function->frame.cookie, instrument_i32(module, 0));
    }
    // what follows the call in its block serves the common return only
    for (LLVMValueRef last = LLVMGetLastInstruction(block); last != call;
         last = LLVMGetLastInstruction(block))
        LLVMInstructionEraseFromParent(last);
    LLVMSetTailCallKind(call, LLVMTailCallKindTail);
    LLVMPositionBuilderAtEnd(module->builder, block);
    LLVMSetCurrentDebugLocation2(module->builder, location);
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(module->builder);
    else
        LLVMBuildRet(module->builder, call);
    LLVMSetCurrentDebugLocation2(module->builder, NULL);
}

void tailcalls_apply(struct instrumented_module *module, struct instrumented_function *function)
{
    if (!function->tail_sites)
        return;
    for (uint32_t s = 0; s < function->split.site_count; s++) {
        if (!function->tail_sites[s])
            continue;
        make_tail(module, function, function->split.nodes[function->split.site_node[s]].call);
        if (function->plain_calls)
            make_tail(module, function, function->plain_calls[s]);
    }
}
