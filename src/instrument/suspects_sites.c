// SPDX-License-Identifier: Apache-2.0
/*
 * What is sampled in one function, in the order of its instructions:
 *
 *   - its entry, unless it is a single block that calls nothing and only this module can call it;
 *   - every branch on a condition; where that compares numbers by order, also whether they are
 *     less, equal or greater;
 *   - a switch over at most SWITCH_MOST values as a branch for each of them, `value == case`; one
 *     over more is left out, since each pass would have to count for all of them;
 *   - what a call of a function that gives back an integer or a pointer returned;
 *   - INQUEST_WATCH();
 *   - assignments (suspects_assign.c).
 *
 * Where a loop may depend on a call taking over this frame (tailcalls.c), nothing is sampled from
 * the call to the return: it would keep the frame. Only a watch is the source's own demand.
 */
#include "instrument/suspects.h"

#include <string.h>

#define WATCH_PREFIX "inquest:watch:"

enum { SWITCH_MOST = 32 };

static uint32_t first_node(const struct split *split, LLVMBasicBlockRef block)
{
    for (uint32_t n = 0; n < split->graph.node_count; n++)
        if (split->nodes[n].block == block)
            return n;
    return SUSPECTS_NONE;
}

// Of the k-th successor of the node's terminator.
static uint32_t successor_node(const struct split *split, uint32_t node, unsigned k)
{
    return split->graph.successor[split->graph.successor_start[node] + k];
}

// A comparison of numbers by <, <=, > or >=: whether they are equal is where bounds go wrong.
static bool has_order(LLVMValueRef condition)
{
    if (!LLVMIsAICmpInst(condition))
        return false;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(condition, 0));
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
    return predicate != LLVMIntEQ && predicate != LLVMIntNE &&
           LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64;
}

static void find_branch(struct suspects *suspects, const struct suspects_scope *scope,
                        const struct instrumented_function *function, LLVMValueRef branch,
                        uint32_t node)
{
    struct suspects_point *point =
        suspects_add(suspects, function, SUSPECTS_BRANCH, node, LLVMInstructionGetDebugLoc(branch));

    point->site.node_true = successor_node(&function->split, node, 0);
    point->site.node_false = successor_node(&function->split, node, 1);
    suspects_describe(suspects, scope, LLVMGetCondition(branch), &point->site);
    if (has_order(LLVMGetCondition(branch))) {
        point = suspects_add(suspects, function, SUSPECTS_PAIR, node,
                             LLVMInstructionGetDebugLoc(branch));
        suspects_describe_sides(suspects, scope, LLVMGetCondition(branch), &point->site);
    }
}

// Operand 0 is the value, successor 0 the default; then a value and a block for each case.
static void find_switch(struct suspects *suspects, const struct suspects_scope *scope,
                        const struct instrumented_function *function, LLVMValueRef branch,
                        uint32_t node)
{
    unsigned count = LLVMGetNumSuccessors(branch);

    if (count - 1 > SWITCH_MOST || LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(branch, 0))) > 64)
        return;
    for (unsigned k = 1; k < count; k++) {
        struct suspects_point *point = suspects_add(suspects, function, SUSPECTS_BRANCH, node,
                                                    LLVMInstructionGetDebugLoc(branch));

        // "false" may lead to any of the other cases
        point->site.node_true = successor_node(&function->split, node, k);
        point->right = LLVMGetOperand(branch, 2 * k);
        suspects_describe_case(suspects, scope, LLVMGetOperand(branch, 0), point->right,
                               &point->site);
    }
}

static bool is_integer_or_pointer(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);

    return kind == LLVMPointerTypeKind ||
           (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64);
}

// Is there a place behind the call, reached from nowhere else, at which to look at what it gave?
static uint32_t node_behind(const struct instrumented_function *function, uint32_t node,
                            LLVMValueRef call)
{
    const struct split *split = &function->split;

    if (LLVMGetInstructionOpcode(call) == LLVMCall)
        return function->takes_frame[split->nodes[node].site] ? SUSPECTS_NONE : node + 1;
    if (LLVMGetInstructionOpcode(call) != LLVMInvoke)
        return SUSPECTS_NONE;
    uint32_t uses = 0;
    LLVMBasicBlockRef normal = LLVMGetNormalDest(call);
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(normal)); use;
         use = LLVMGetNextUse(use))
        uses++;
    return uses == 1 ? first_node(split, normal) : SUSPECTS_NONE;
}

static void find_return(struct suspects *suspects, const struct instrumented_function *function,
                        LLVMValueRef call, uint32_t node)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    uint32_t behind = node_behind(function, node, call);
    size_t length;

    if (!is_integer_or_pointer(LLVMTypeOf(call)) || behind == SUSPECTS_NONE ||
        memory_calls_is_shown(call))
        return;
    struct suspects_point *point =
        suspects_add(suspects, function, SUSPECTS_RETURN, behind, LLVMInstructionGetDebugLoc(call));
    point->site.left = suspects_string(
        suspects, LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "*fp");
    point->site.flags = SUSPECTS_RIGHT_IS_CONSTANT;
    if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind ||
        split_call_has_attribute(call, "zeroext") ||
        LLVMGetCallSiteEnumAttribute(call, LLVMAttributeReturnIndex,
                                     LLVMGetEnumAttributeKindForName("zeroext", 7)))
        point->site.flags |= SUSPECTS_UNSIGNED;
}

// The text behind WATCH_PREFIX of an annotation, or NULL.
static const char *watched(struct suspects *suspects, LLVMValueRef i)
{
    static const char name[] = "llvm.annotation";
    unsigned id = LLVMLookupIntrinsicID(name, sizeof(name) - 1);
    size_t length;

    if (!LLVMIsAIntrinsicInst(i) || LLVMGetIntrinsicID(LLVMGetCalledValue(i)) != id)
        return NULL;
    LLVMValueRef global = LLVMIsAGlobalVariable(LLVMGetOperand(i, 1));
    LLVMValueRef string = global ? LLVMGetInitializer(global) : NULL;
    if (!string || !LLVMIsConstantString(string))
        return NULL;
    const char *text = LLVMGetAsString(string, &length);
    size_t prefix = strlen(WATCH_PREFIX);
    return length > prefix && !memcmp(text, WATCH_PREFIX, prefix)
               ? arena_strndup(&suspects->arena, text + prefix, length - 1 - prefix)
               : NULL;
}

static void find_watch(struct suspects *suspects, const struct instrumented_function *function,
                       LLVMValueRef i, uint32_t node)
{
    const char *text = watched(suspects, i);

    if (text)
        suspects_add(suspects, function, SUSPECTS_WATCH, node, LLVMInstructionGetDebugLoc(i))
            ->site.left = suspects_string(suspects, text);
}

static void find_at(struct suspects *suspects, struct suspects_assign *assign,
                    const struct instrumented_function *function, LLVMValueRef i, uint32_t position,
                    uint32_t node)
{
    uint32_t first = (uint32_t)suspects->points.length;

    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMBr:
        if (LLVMIsConditional(i))
            find_branch(suspects, assign->scope, function, i, node);
        break;
    case LLVMSwitch:
        find_switch(suspects, assign->scope, function, i, node);
        break;
    case LLVMStore:
        suspects_assign_find(assign, i, position, node);
        break;
    case LLVMCall:
    case LLVMInvoke:
        if (split_is_call(i))
            find_return(suspects, function, i, node);
        else
            find_watch(suspects, function, i, node);
        break;
    default:
        break;
    }
    suspects_mark(suspects, i, first);
}

static bool has_entry_site(const struct instrumented_function *function)
{
    LLVMLinkage linkage = LLVMGetLinkage(function->function);
    bool local = linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage ||
                 linkage == LLVMLinkOnceODRLinkage || linkage == LLVMLinkOnceAnyLinkage;

    return !local || function->split.graph.node_count > 1;
}

static void find_entry(struct suspects *suspects, const struct instrumented_function *function)
{
    if (!has_entry_site(function))
        return;
    suspects->entry_point[function->index] = (uint32_t)suspects->points.length;
    struct suspects_point *point = suspects_add(suspects, function, SUSPECTS_ENTRY, 0, NULL);
    if (function->subprogram) {
        unsigned length;
        LLVMMetadataRef file = LLVMDIScopeGetFile(function->subprogram);
        const char *name = file ? LLVMDIFileGetFilename(file, &length) : NULL;

        point->site.line = LLVMDISubprogramGetLine(function->subprogram);
        if (name)
            point->site.file =
                suspects_string(suspects, arena_strndup(&suspects->arena, name, length));
    }
    point->site.left = point->site.function_name;
}

// A function that the loader calls to bind a symbol: nothing may be relied on yet.
static bool is_resolver(const struct suspects *suspects, LLVMValueRef function)
{
    for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(suspects->module->module); i;
         i = LLVMGetNextGlobalIFunc(i))
        if (LLVMGetGlobalIFuncResolver(i) == function)
            return true;
    return false;
}

void suspects_find_in(struct suspects *suspects, struct instrumented_function *function)
{
    struct suspects_scope scope;
    struct suspects_assign assign;
    struct value_map behind = MAP_INIT;
    uint32_t position = 0, node = 0;

    // a body that is only there to be inlined belongs to another module
    if (is_resolver(suspects, function->function) ||
        LLVMGetLinkage(function->function) == LLVMAvailableExternallyLinkage)
        return;
    suspects_scope_init(&scope, suspects, function->function);
    suspects_assign_init(&assign, suspects, &scope, function);
    tailcalls_find_behind(function, &behind);
    find_entry(suspects, function);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->function); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
             i = LLVMGetNextInstruction(i), position++) {
            if (LLVMIsACallInst(i) || !value_map_get(&behind, (uintptr_t)i))
                find_at(suspects, &assign, function, i, position, node);
            node += function->split.nodes[node].last == i;
        }
    suspects_assign_deinit(&assign);
    suspects_scope_deinit(&scope);
    value_map_deinit(&behind);
}
