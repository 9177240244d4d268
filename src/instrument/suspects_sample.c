// SPDX-License-Identifier: Apache-2.0
/*
 * The code that counts: calls of the runtime, which keep all registers. Comparing is left to it,
 * too: what was computed here might be moved to where code runs that does not count.
 */
#include "instrument/suspects.h"

// Reading what was not initialised gives some value; comparing it must not give none.
static LLVMValueRef frozen(const struct suspects *suspects, LLVMValueRef value)
{
    return LLVMIsAConstant(value) ? value : LLVMBuildFreeze(suspects->module->builder, value, "");
}

// As 64 bits.
static LLVMValueRef widened(const struct suspects *suspects, LLVMValueRef value, bool is_unsigned)
{
    const struct instrumented_module *module = suspects->module;

    value = frozen(suspects, value);
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(module->builder, value, module->type_i64, "");
    return is_unsigned ? LLVMBuildZExt(module->builder, value, module->type_i64, "")
                       : LLVMBuildSExt(module->builder, value, module->type_i64, "");
}

static LLVMValueRef counters_of(const struct suspects *suspects, const struct suspects_site *site,
                                bool due)
{
    const struct instrumented_module *module = suspects->module;
    LLVMValueRef index = instrument_i64(module, site->first_counter);
    LLVMValueRef counters =
        LLVMBuildInBoundsGEP2(module->builder, module->type_i32, suspects->counters, &index, 1, "");

    return due ? suspects_call(suspects, &suspects->due, &counters, 1) : counters;
}

// 0 or 1 picks the counter.
static void count(const struct suspects *suspects, LLVMValueRef counters, LLVMValueRef which)
{
    LLVMValueRef arguments[] = {
        counters, which ? widened(suspects, which, true) : instrument_i64(suspects->module, 0)};

    suspects_call(suspects, &suspects->count, arguments, 2);
}

static void count_equal(const struct suspects *suspects, LLVMValueRef counters, LLVMValueRef left,
                        LLVMValueRef right, LLVMIntPredicate predicate)
{
    count(suspects, counters,
          LLVMBuildICmp(suspects->module->builder, predicate, frozen(suspects, left), right, ""));
}

static void compare(const struct suspects *suspects, LLVMValueRef counters, LLVMValueRef left,
                    LLVMValueRef right, bool is_unsigned)
{
    LLVMValueRef arguments[] = {counters, widened(suspects, left, is_unsigned),
                                widened(suspects, right, is_unsigned)};

    suspects_call(suspects, is_unsigned ? &suspects->compare_unsigned : &suspects->compare,
                  arguments, 3);
}

// A condition that has come through the stack (suspects_demote.c) has no sides any more.
static void compare_sides(const struct suspects *suspects, LLVMValueRef counters,
                          LLVMValueRef condition, bool is_unsigned)
{
    if (LLVMIsAICmpInst(condition))
        compare(suspects, counters, LLVMGetOperand(condition, 0), LLVMGetOperand(condition, 1),
                is_unsigned);
}

static void count_float(const struct suspects *suspects, LLVMValueRef counters, LLVMValueRef value)
{
    const struct instrumented_module *module = suspects->module;
    bool narrow = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMFloatTypeKind;
    LLVMValueRef bits = LLVMBuildBitCast(module->builder, frozen(suspects, value),
                                         narrow ? module->type_i32 : module->type_i64, "");
    LLVMValueRef arguments[] = {counters, bits};

    suspects_call(suspects, narrow ? &suspects->kind_32 : &suspects->kind, arguments, 2);
}

// At the builder's position; `anchor` is the instruction.
static void sample(const struct suspects *suspects, const struct suspects_point *point,
                   LLVMValueRef anchor, bool due)
{
    LLVMBuilderRef builder = suspects->module->builder;
    bool is_unsigned = point->site.flags & SUSPECTS_UNSIGNED;
    LLVMValueRef counters = counters_of(suspects, &point->site, due), right = point->right;
    LLVMValueRef value = point->site.kind == SUSPECTS_RETURN ? anchor : LLVMGetOperand(anchor, 0);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));

    switch (point->site.kind) {
    case SUSPECTS_BRANCH:
        if (right)
            count_equal(suspects, counters, value, right, LLVMIntEQ);
        else
            count(suspects, counters, LLVMGetCondition(anchor));
        break;
    case SUSPECTS_RETURN:
        compare(suspects, counters, value, zero, is_unsigned);
        break;
    case SUSPECTS_PAIR:
        if (!right) {
            compare_sides(suspects, counters, LLVMGetCondition(anchor), is_unsigned);
            break;
        }
        if (!LLVMIsAConstant(right) || LLVMIsAGlobalVariable(right)) {
            right = LLVMBuildLoad2(builder, LLVMTypeOf(value), right, "");
            // the variable may not be in scope yet, or not have a value
            instrument_unsanitized(suspects->module, right);
        }
        compare(suspects, counters, value, right, is_unsigned);
        break;
    case SUSPECTS_FLOAT:
        count_float(suspects, counters, value);
        break;
    default: // SUSPECTS_WATCH
        count_equal(suspects, counters, value, zero, LLVMIntNE);
        break;
    }
}

// Where the instruction's sites are looked at: before a terminator, behind anything else.
static LLVMValueRef sampling_point(LLVMValueRef anchor)
{
    if (LLVMGetInstructionOpcode(anchor) == LLVMInvoke)
        return suspects_first_insertion_point(LLVMGetNormalDest(anchor));
    return LLVMIsATerminatorInst(anchor) ? anchor : LLVMGetNextInstruction(anchor);
}

static bool is_watch(const struct suspects *suspects, uint32_t first)
{
    return suspects->points.data[first].site.kind == SUSPECTS_WATCH;
}

// The annotation itself is in the way of the optimiser.
static void remove_watch(LLVMValueRef i)
{
    LLVMReplaceAllUsesWith(i, LLVMGetOperand(i, 0));
    LLVMInstructionEraseFromParent(i);
}

uint32_t suspects_sample_block(const struct suspects *suspects, LLVMBasicBlockRef block, bool due)
{
    LLVMBuilderRef builder = suspects->module->builder;
    uint32_t total = 0;
    LLVMValueRef next;

    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        uint32_t first, sites;

        next = LLVMGetNextInstruction(i);
        if (!suspects_marked(suspects, i, &first, &sites))
            continue;
        // a call that became a tail call after the sites were found leaves no place behind it
        if (LLVMGetInstructionOpcode(i) == LLVMCall && next &&
            LLVMGetInstructionOpcode(next) == LLVMRet &&
            LLVMGetTailCallKind(i) == LLVMTailCallKindTail) {
            LLVMSetMetadata(i, suspects->mark, NULL);
            continue;
        }
        LLVMPositionBuilderBefore(builder, sampling_point(i));
        LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(i));
        total += sites;
        for (uint32_t p = first; p < first + sites; p++)
            sample(suspects, &suspects->points.data[p], i, due);
        LLVMSetCurrentDebugLocation2(builder, NULL);
        LLVMSetMetadata(i, suspects->mark, NULL);
        if (is_watch(suspects, first))
            remove_watch(i);
    }
    return total;
}

void suspects_sample_entry(const struct suspects *suspects, uint32_t point, LLVMValueRef before,
                           bool due)
{
    LLVMPositionBuilderBefore(suspects->module->builder, before);
    LLVMSetCurrentDebugLocation2(suspects->module->builder, LLVMInstructionGetDebugLoc(before));
    count(suspects, counters_of(suspects, &suspects->points.data[point].site, due), NULL);
    LLVMSetCurrentDebugLocation2(suspects->module->builder, NULL);
}

void suspects_clean_block(const struct suspects *suspects, LLVMBasicBlockRef block)
{
    LLVMValueRef next;

    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        uint32_t first, sites;

        next = LLVMGetNextInstruction(i);
        if (!suspects_marked(suspects, i, &first, &sites))
            continue;
        LLVMSetMetadata(i, suspects->mark, NULL);
        if (is_watch(suspects, first))
            remove_watch(i);
    }
}
