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
#include "instrument/clone.h"
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

// On the way from a call to a return.
struct way {
    bool computes; // values may be computed there
    uint32_t steps;
    struct value_map *passed; // takes the instructions behind the call, or NULL
};

enum step { STEP_ON, STEP_JUMPS, STEP_RETURNS, STEP_STOPS };

static enum step step_of(LLVMValueRef i, bool computes)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMRet:
        return STEP_RETURNS;
    case LLVMPHI:
    case LLVMLoad:
    case LLVMBitCast:
        return STEP_ON;
    case LLVMStore:
        return LLVMIsAAllocaInst(LLVMGetOperand(i, 1)) ? STEP_ON : STEP_STOPS;
    case LLVMCall:
        return LLVMIsAIntrinsicInst(i) && LLVMIsAFunction(LLVMGetCalledValue(i)) ? STEP_ON
                                                                                 : STEP_STOPS;
    case LLVMBr:
        return LLVMGetNumSuccessors(i) == 1 ? STEP_JUMPS : STEP_STOPS;
    case LLVMSwitch: // clang's, on where to go behind what a scope has to do at its end
        return STEP_JUMPS;
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMSelect:
    case LLVMFNeg:
        return computes ? STEP_ON : STEP_STOPS;
    default:
        return computes && (LLVMIsABinaryOperator(i) || LLVMIsACastInst(i)) ? STEP_ON : STEP_STOPS;
    }
}

// Does nothing come from this instruction on but a return, on some way?
static bool leads_to_return(LLVMValueRef first, struct way *way)
{
    enum { MOST = 256 };
    enum step step = STEP_ON;
    LLVMValueRef i = first;

    while (way->steps++ < MOST && (step = step_of(i, way->computes)) == STEP_ON)
        i = LLVMGetNextInstruction(i);
    bool leads = step == STEP_ON || step == STEP_RETURNS; // after so many it is not known
    for (unsigned k = 0; step == STEP_JUMPS && k < LLVMGetNumSuccessors(i); k++)
        leads |= leads_to_return(LLVMGetFirstInstruction(LLVMGetSuccessor(i, k)), way);
    for (; leads && way->passed; first = LLVMGetNextInstruction(first)) {
        *value_map_put(way->passed, (uintptr_t)first) = first;
        if (first == i)
            break;
    }
    return leads;
}

static bool is_last(LLVMValueRef call, bool computes, struct value_map *passed)
{
    struct way way = {.computes = computes, .passed = passed};

    return LLVMGetInstructionOpcode(call) == LLVMCall &&
           leads_to_return(LLVMGetNextInstruction(call), &way);
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
           !library_find(LLVMGetValueName2(declaration, &length)) && is_last(call, false, NULL);
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

static bool is_demanded(LLVMValueRef call)
{
    return LLVMGetInstructionOpcode(call) == LLVMCall &&
           LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail;
}

// Within the module, recursion can be made a loop also where something is left to do behind the
// call. What is called through a pointer or in another module takes a tail call.
static bool may_be_loop(const struct call_graph *graph, LLVMValueRef call)
{
    return callee_index(graph, call) != graph->module->function_count;
}

static void mark_tail_calls(const struct call_graph *graph, struct instrumented_function *function)
{
    const struct split *split = &function->split;

    function->takes_frame = xcalloc(split->site_count + 1u, 1);
    for (uint32_t s = 0; s < split->site_count; s++) {
        LLVMValueRef call = split->nodes[split->site_node[s]].call;
        bool demanded = is_demanded(call);

        if (LLVMGetInstructionOpcode(call) != LLVMCall ||
            !(demanded || is_in_cycle(graph, function->index, call)))
            continue;
        bool loop = may_be_loop(graph, call);
        function->flags |= SECTION_FUNCTION_RECURSIVE;
        if (demanded || loop || is_last(call, false, NULL))
            function->flags |= SECTION_FUNCTION_TAIL_CALLS;
        function->takes_frame[s] = demanded || is_last(call, loop, NULL);
        function->has_takers |= function->takes_frame[s];
    }
}

bool tailcalls_is_exit(LLVMValueRef i, const struct value_map *exits)
{
    enum step step;

    while ((step = step_of(i, true)) == STEP_ON)
        i = LLVMGetNextInstruction(i);
    for (unsigned k = 0; step == STEP_JUMPS && k < LLVMGetNumSuccessors(i); k++)
        if (!value_map_get(exits, (uintptr_t)LLVMBasicBlockAsValue(LLVMGetSuccessor(i, k))))
            return false;
    return step != STEP_STOPS || LLVMGetInstructionOpcode(i) == LLVMUnreachable;
}

void tailcalls_find_behind(const struct instrumented_function *function, struct value_map *ret)
{
    const struct split *split = &function->split;

    // if values may be computed behind one is no question any more
    for (uint32_t s = 0; s < split->site_count; s++)
        if (function->takes_frame[s])
            is_last(split->nodes[split->site_node[s]].call, true, ret);
}

static void keep_frames(const struct call_graph *graph, struct instrumented_function *function)
{
    const struct split *split = &function->split;

    for (uint32_t s = 0; function->level >= SECTION_LEVEL_CALLS && s < split->site_count; s++) {
        LLVMValueRef call = split->nodes[split->site_node[s]].call;

        if (LLVMGetInstructionOpcode(call) == LLVMCall && !is_demanded(call) &&
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
