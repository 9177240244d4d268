// SPDX-License-Identifier: Apache-2.0
/*
 * Tail calls: frames stay, except in recursive cycles.
 *
 * A call that takes over its caller's frame leaves a gap in the stack, so calls are kept from it
 * (`notail`). Where functions call each other in a cycle that would turn a loop into a stack
 * overflow: such calls are left to the optimiser as they are, and so is everything that the source
 * demands (`musttail`). Cycles are looked for within the module, with all calls through pointers,
 * and those into other modules that may come back, taken together as one function that calls
 * everything that others can name: what has its address taken, and what other modules see, but
 * main().
 */
#include "instrument/instrument.h"

#include "common/alloc.h"
#include "common/map.h"
#include "program/library.h"

#include <stdlib.h>
#include <string.h>

MAP_DEFINE_U64(function_map, uint32_t);

static bool is_named_elsewhere(LLVMValueRef f)
{
    LLVMLinkage linkage = LLVMGetLinkage(f);

    size_t length;

    return (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage &&
            strcmp(LLVMGetValueName2(f, &length), "main") != 0) ||
           instrument_address_taken(f);
}

// Strongly connected components of the call graph; node `function_count` is "indirect".
struct call_graph {
    const struct instrumented_module *module;
    struct function_map index;
    uint8_t *taken;
    uint32_t *component;
};

// Does nothing come behind this instruction but a return, on some way?
static bool leads_to_return(LLVMValueRef i, uint32_t *steps)
{
    for (; i && (*steps)++ < 256; i = LLVMGetNextInstruction(i))
        switch (LLVMGetInstructionOpcode(i)) {
        case LLVMRet:
            return true;
        case LLVMPHI:
        case LLVMLoad:
        case LLVMBitCast:
            break;
        case LLVMStore:
            if (!LLVMIsAAllocaInst(LLVMGetOperand(i, 1)))
                return false;
            break;
        case LLVMCall:
            if (!LLVMIsAIntrinsicInst(i) || !LLVMIsAFunction(LLVMGetCalledValue(i)))
                return false;
            break;
        case LLVMBr:
        case LLVMSwitch: // clang's, on where to go behind what a scope has to do at its end
            if (LLVMGetNumSuccessors(i) == 2 && LLVMGetInstructionOpcode(i) == LLVMBr)
                return false;
            for (unsigned k = 0; k < LLVMGetNumSuccessors(i); k++)
                if (leads_to_return(LLVMGetFirstInstruction(LLVMGetSuccessor(i, k)), steps))
                    return true;
            return false;
        default:
            return false;
        }
    return i != NULL; // not known
}

bool tailcalls_is_last(LLVMValueRef call)
{
    uint32_t steps = 0;

    return LLVMGetInstructionOpcode(call) == LLVMCall &&
           leads_to_return(LLVMGetNextInstruction(call), &steps);
}

/*
 * May a function of another module come back by tail calls? Loops over several files are written
 * with functions of one type, which hand their state on.
 */
static bool may_come_back(LLVMValueRef call, LLVMValueRef declaration)
{
    LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    LLVMTypeRef type = LLVMGlobalGetValueType(declaration);
    size_t length;

    return !LLVMGetIntrinsicID(declaration) && LLVMCountParamTypes(type) > 0 &&
           type == LLVMGlobalGetValueType(caller) && is_named_elsewhere(caller) &&
           !library_find(LLVMGetValueName2(declaration, &length)) && tailcalls_is_last(call);
}

static uint32_t callee_index(const struct call_graph *graph, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (!LLVMIsAFunction(callee))
        return graph->module->function_count;
    uint32_t *found = function_map_get(&graph->index, (uintptr_t)callee);
    if (found)
        return *found;
    return may_come_back(call, callee) ? graph->module->function_count : UINT32_MAX;
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

// May the call take over its caller's frame?
static bool is_in_cycle(const struct call_graph *graph, uint32_t caller, LLVMValueRef call)
{
    uint32_t callee = callee_index(graph, call);

    return callee != UINT32_MAX && graph->component[callee] == graph->component[caller];
}

// Within the module, recursion can be made a loop also where something is left to do behind the
// call. What is called through a pointer or in another module takes a tail call.
static void mark_tail_calls(const struct call_graph *graph, struct instrumented_function *function)
{
    const struct split *split = &function->split;

    for (uint32_t s = 0; s < split->site_count; s++) {
        LLVMValueRef call = split->nodes[split->site_node[s]].call;
        bool demanded = LLVMGetInstructionOpcode(call) == LLVMCall &&
                        LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail;

        if (LLVMGetInstructionOpcode(call) != LLVMCall ||
            !(demanded || is_in_cycle(graph, function->index, call)))
            continue;
        function->flags |= SECTION_FUNCTION_RECURSIVE;
        if (demanded || callee_index(graph, call) != graph->module->function_count ||
            tailcalls_is_last(call))
            function->flags |= SECTION_FUNCTION_TAIL_CALLS;
    }
}

static void keep_frames(const struct call_graph *graph, struct instrumented_function *function)
{
    const struct split *split = &function->split;

    for (uint32_t s = 0; function->level >= SECTION_LEVEL_CALLS && s < split->site_count; s++) {
        LLVMValueRef call = split->nodes[split->site_node[s]].call;

        if (LLVMGetInstructionOpcode(call) == LLVMCall &&
            LLVMGetTailCallKind(call) != LLVMTailCallKindMustTail &&
            !is_in_cycle(graph, function->index, call))
            LLVMSetTailCallKind(call, LLVMTailCallKindNoTail);
    }
}

static void graph_init(struct call_graph *graph, const struct instrumented_module *module)
{
    *graph = (struct call_graph){.module = module, .index = MAP_INIT};
    graph->taken = xcalloc(module->function_count + 1u, 1);
    graph->component = module->component;
    for (uint32_t f = 0; f < module->function_count; f++) {
        *function_map_put(&graph->index, (uintptr_t)module->functions[f].function) = f;
        graph->taken[f] = is_named_elsewhere(module->functions[f].function);
    }
}

static void graph_deinit(struct call_graph *graph)
{
    function_map_deinit(&graph->index);
    free(graph->taken);
}

void tailcalls_find(struct instrumented_module *module)
{
    struct call_graph graph;

    module->component = xcalloc(module->function_count + 1u, sizeof(uint32_t));
    graph_init(&graph, module);
    find_components(&graph);
    for (uint32_t f = 0; f < module->function_count; f++)
        mark_tail_calls(&graph, &module->functions[f]);
    graph_deinit(&graph);
}

void tailcalls_limit(struct instrumented_module *module)
{
    struct call_graph graph;

    graph_init(&graph, module);
    for (uint32_t f = 0; f < module->function_count; f++)
        keep_frames(&graph, &module->functions[f]);
    graph_deinit(&graph);
}
