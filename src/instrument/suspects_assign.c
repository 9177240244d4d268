// SPDX-License-Identifier: Apache-2.0
/*
 * Assignments to named variables. An integer or a pointer is compared with variables of the same
 * type that are in scope, and with constants; a float or a double has its kind.
 *
 * Compared is what stands nearest: whatever the code around the assignment works with is likely to
 * be in a register and likely to matter. Each comparison costs in every pass that is sampled, so
 * there are few: VARIABLES_MOST and CONSTANTS_MOST for an assignment, and in a loop that calls
 * nothing LOOP_MOST in all.
 */
#include "instrument/suspects.h"

enum { WINDOW = 256, VARIABLES_MOST = 3, CONSTANTS_MOST = 1, LOOP_MOST = 2 };

static uint32_t instruction_count(LLVMValueRef function)
{
    uint32_t count = 0;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            count++;
    return count;
}

static void note(struct suspects_assign *assign, LLVMValueRef i, uint32_t position)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    LLVMValueRef storage = opcode == LLVMLoad    ? LLVMGetOperand(i, 0)
                           : opcode == LLVMStore ? LLVMGetOperand(i, 1)
                                                 : NULL;

    if (storage && suspects_variable_at(assign->scope, storage))
        assign->read[position] = storage;
    if (opcode == LLVMICmp || opcode == LLVMStore)
        for (unsigned o = 0; o < 2; o++)
            if (LLVMIsAConstantInt(LLVMGetOperand(i, o)))
                assign->number[position] = LLVMGetOperand(i, o);
}

// Blocks by the innermost of the loops that call nothing; each such loop has a budget.
static void note_loops(struct suspects_assign *assign)
{
    struct suspects_flow flow;

    suspects_flow_init(&flow, assign->function->function);
    uint32_t *size = xcalloc(flow.block_count, sizeof(*size));
    for (uint32_t b = 0; b < flow.block_count; b++) {
        struct suspects_loop loop;

        if (!flow.header[b] || !suspects_loop_init(&loop, &flow, b))
            continue;
        for (uint32_t m = 0; m < loop.count && !loop.calls; m++)
            if (!size[loop.members[m]] || loop.count < size[loop.members[m]]) {
                size[loop.members[m]] = loop.count;
                *suspects_index_put(&assign->loops, (uintptr_t)flow.blocks[loop.members[m]]) = b;
            }
        suspects_loop_deinit(&loop);
    }
    assign->loop_pairs = xcalloc(flow.block_count + 1u, sizeof(*assign->loop_pairs));
    free(size);
    suspects_flow_deinit(&flow);
}

void suspects_assign_init(struct suspects_assign *assign, struct suspects *suspects,
                          const struct suspects_scope *scope,
                          const struct instrumented_function *function)
{
    uint32_t position = 0;

    *assign = (struct suspects_assign){
        .suspects = suspects, .scope = scope, .function = function, .loops = MAP_INIT};
    if (!function->subprogram)
        return; // no names, no types
    assign->count = instruction_count(function->function);
    assign->read = xcalloc(assign->count + 1u, sizeof(*assign->read));
    assign->number = xcalloc(assign->count + 1u, sizeof(*assign->number));
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->function); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            note(assign, i, position++);
    note_loops(assign);
}

void suspects_assign_deinit(struct suspects_assign *assign)
{
    free(assign->read);
    free(assign->number);
    free(assign->loop_pairs);
    suspects_index_deinit(&assign->loops);
}

struct assignment {
    const struct suspects_variable *left;
    LLVMMetadataRef location;
    uint32_t position, node;
    LLVMValueRef chosen[VARIABLES_MOST + CONSTANTS_MOST];
    uint32_t variables, constants;
    uint32_t variables_most, constants_most;
};

static bool already_chosen(const struct assignment *assignment, LLVMValueRef value)
{
    for (uint32_t i = 0; i < assignment->variables + assignment->constants; i++)
        if (assignment->chosen[i] == value)
            return true;
    return false;
}

static void choose_variable(const struct suspects_assign *assign, struct assignment *assignment,
                            LLVMValueRef storage)
{
    const struct suspects_variable *right = suspects_variable_at(assign->scope, storage);

    if (assignment->variables == assignment->variables_most || right == assignment->left ||
        right->type != assignment->left->type || already_chosen(assignment, storage) ||
        !suspects_in_scope(assign->suspects, right, assignment->location))
        return;
    assignment->chosen[assignment->variables + assignment->constants] = storage;
    assignment->variables++;
}

static void choose_constant(struct assignment *assignment, LLVMValueRef constant)
{
    if (assignment->constants == assignment->constants_most ||
        LLVMTypeOf(constant) != assignment->left->ir || already_chosen(assignment, constant))
        return;
    assignment->chosen[assignment->variables + assignment->constants] = constant;
    assignment->constants++;
}

static void choose_at(const struct suspects_assign *assign, struct assignment *assignment,
                      uint32_t position)
{
    if (assign->read[position])
        choose_variable(assign, assignment, assign->read[position]);
    if (assign->number[position])
        choose_constant(assignment, assign->number[position]);
}

// From the assignment outwards.
static void choose(const struct suspects_assign *assign, struct assignment *assignment,
                   LLVMValueRef stored)
{
    uint32_t position = assignment->position;

    for (uint32_t distance = 1; distance <= WINDOW; distance++) {
        if (position + distance < assign->count)
            choose_at(assign, assignment, position + distance);
        if (distance <= position)
            choose_at(assign, assignment, position - distance);
    }
    // what is always 0 need not be compared with it
    if (!LLVMIsAConstant(stored))
        choose_constant(assignment, LLVMConstNull(assignment->left->ir));
}

static void add_pair(struct suspects_assign *assign, const struct assignment *assignment,
                     LLVMValueRef right)
{
    struct suspects *suspects = assign->suspects;
    struct suspects_point *point = suspects_add(suspects, assign->function, SUSPECTS_PAIR,
                                                assignment->node, assignment->location);
    const struct suspects_variable *variable = suspects_variable_at(assign->scope, right);

    point->right = right;
    point->site.left = suspects_string(suspects, assignment->left->name);
    point->site.flags = SUSPECTS_LEFT_IS_VARIABLE;
    if (assignment->left->is_unsigned)
        point->site.flags |= SUSPECTS_UNSIGNED;
    if (variable) {
        point->site.flags |= SUSPECTS_RIGHT_IS_VARIABLE;
        point->site.right = suspects_string(suspects, variable->name);
        return;
    }
    bool null = LLVMIsAConstantPointerNull(right);
    point->site.flags |= SUSPECTS_RIGHT_IS_CONSTANT;
    point->site.constant = null ? 0
                           : assignment->left->is_unsigned
                               ? (int64_t)LLVMConstIntGetZExtValue(right)
                               : LLVMConstIntGetSExtValue(right);
    point->site.right = suspects_string(
        suspects,
        null ? "NULL"
             : arena_printf(&suspects->arena, assignment->left->is_unsigned ? "%llu" : "%lld",
                            (long long)point->site.constant));
}

static bool is_of_asm(LLVMValueRef value)
{
    if (LLVMIsAExtractValueInst(value))
        value = LLVMGetOperand(value, 0);
    return LLVMIsACallBrInst(value) != NULL;
}

void suspects_assign_find(struct suspects_assign *assign, LLVMValueRef store, uint32_t position,
                          uint32_t node)
{
    LLVMValueRef stored = LLVMGetOperand(store, 0);
    const struct suspects_variable *left =
        assign->count ? suspects_variable_at(assign->scope, LLVMGetOperand(store, 1)) : NULL;
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(stored));

    // arguments are not assigned; what is stored as something else has no name; what `asm goto`
    // gives must not be looked at where clang does not
    if (!left || LLVMTypeOf(stored) != left->ir || LLVMIsAArgument(stored) || is_of_asm(stored) ||
        LLVMGetVolatile(store) || LLVMGetOrdering(store) != LLVMAtomicOrderingNotAtomic)
        return;
    struct assignment assignment = {.left = left,
                                    .location = LLVMInstructionGetDebugLoc(store),
                                    .position = position,
                                    .node = node,
                                    .variables_most = VARIABLES_MOST,
                                    .constants_most = CONSTANTS_MOST};
    if (kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind) {
        struct suspects_point *point = suspects_add(assign->suspects, assign->function,
                                                    SUSPECTS_FLOAT, node, assignment.location);
        point->site.left = suspects_string(assign->suspects, left->name);
        point->site.flags = SUSPECTS_LEFT_IS_VARIABLE;
        return;
    }
    choose(assign, &assignment, stored);
    uint32_t *loop = suspects_index_get(&assign->loops, (uintptr_t)LLVMGetInstructionParent(store));
    for (uint32_t i = 0; i < assignment.variables + assignment.constants; i++)
        if (!loop || assign->loop_pairs[*loop]++ < LOOP_MOST)
            add_pair(assign, &assignment, assignment.chosen[i]);
}
