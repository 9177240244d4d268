// SPDX-License-Identifier: Apache-2.0
/*
 * Call coverage: before each call its byte is set, and where the frame word does not hold the sum
 * yet that leads there, the sum is stored. So a byte that is not set means "never about to be
 * entered", whatever longjmp, unwinding or exit did.
 *
 * All of these stores are volatile. The call itself may do anything, as far as LLVM knows
 * (attributes.c), volatile accesses included: so neither can pass the other (LangRef, "Volatile
 * Memory Accesses"). No call is merged with another one (`nomerge`), since a return address is to
 * name its node; and none that could be a frame is made a tail call (tailcalls.c).
 *
 * The bytes have a type of their own for alias analysis: no access of the program's can be to them,
 * so that what it has loaded need not be loaded again.
 */
#include "instrument/instrument.h"

#include <string.h>

static LLVMMetadataRef string(const struct instrumented_module *module, const char *text)
{
    return LLVMMDStringInContext2(module->context, text, strlen(text));
}

// The node at the root of the types that this tag's is one of. A type is its name, its parent and
// an offset; of a struct, what follows the name are its members. The root has a name only.
static LLVMValueRef root_of(LLVMValueRef tag)
{
    LLVMValueRef operands[4]; // a tag has 3, or 4 where the memory is constant

    if (LLVMGetMDNodeNumOperands(tag) < 3 || LLVMGetMDNodeNumOperands(tag) > 4)
        return NULL;
    LLVMGetMDNodeOperands(tag, operands);
    LLVMValueRef type = operands[1]; // of the access: a scalar
    for (int steps = 0; type && steps < 64; steps++) {
        if (LLVMGetMDNodeNumOperands(type) == 1)
            return type;
        if (LLVMGetMDNodeNumOperands(type) != 3)
            return NULL;
        LLVMGetMDNodeOperands(type, operands);
        type = operands[1];
    }
    return NULL;
}

static LLVMValueRef find_root(const struct instrumented_module *module, unsigned kind)
{
    for (uint32_t f = 0; f < module->function_count; f++)
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(module->functions[f].function); block;
             block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
                 i = LLVMGetNextInstruction(i)) {
                LLVMValueRef tag =
                    LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) ? LLVMGetMetadata(i, kind) : NULL;
                LLVMValueRef root = tag ? root_of(tag) : NULL;

                if (root)
                    return root;
            }
    return NULL;
}

// The tag of a type beside `omnipotent char`; NULL where the program's accesses have none.
static LLVMValueRef make_tag(const struct instrumented_module *module, unsigned kind)
{
    LLVMValueRef root = find_root(module, kind);
    LLVMMetadataRef zero = LLVMValueAsMetadata(instrument_i64(module, 0));

    if (!root)
        return NULL;
    LLVMMetadataRef type = LLVMMDNodeInContext2(
        module->context,
        (LLVMMetadataRef[]){string(module, "inquest"), LLVMValueAsMetadata(root), zero}, 3);
    LLVMMetadataRef tag =
        LLVMMDNodeInContext2(module->context, (LLVMMetadataRef[]){type, type, zero}, 3);
    return LLVMMetadataAsValue(module->context, tag);
}

void calls_init(struct instrumented_module *module)
{
    module->tag_kind = LLVMGetMDKindIDInContext(module->context, "tbaa", strlen("tbaa"));
    module->tag = make_tag(module, module->tag_kind);
}

static void cover(const struct instrumented_module *module, struct instrumented_function *function,
                  uint32_t site)
{
    LLVMValueRef called = LLVMConstInt(module->type_i8, LAYOUT_CALLED, false);
    LLVMValueRef index = instrument_i64(module, function->first_site + site);
    LLVMValueRef store = LLVMBuildStore(
        module->builder, called,
        LLVMBuildInBoundsGEP2(module->builder, module->type_i8, module->coverage, &index, 1, ""));

    LLVMSetVolatile(store, true);
    instrument_unsanitized(module, store);
    function->added++;
    if (module->tag)
        LLVMSetMetadata(store, module->tag_kind, module->tag);
}

/*
 * May nothing be left of the call but what announces it: is it loose, or made a loop? Then two
 * announcements at the ends of two arms would become one store, whose address tells which. What is
 * inlined has a pin of its own.
 */
static bool may_vanish(const struct instrumented_function *function, LLVMValueRef call)
{
    return split_is_loose(call) || function->flags & SECTION_FUNCTION_RECURSIVE;
}

static void announce(const struct instrumented_module *module,
                     struct instrumented_function *function, uint32_t site)
{
    uint32_t node = function->split.site_node[site];
    LLVMValueRef call = function->split.nodes[node].call;
    unsigned kind = LLVMGetEnumAttributeKindForName("nomerge", strlen("nomerge"));
    struct path_action action;

    LLVMPositionBuilderBefore(module->builder, call);
    // the stores belong to the call's line, not to whatever row came before
    LLVMSetCurrentDebugLocation2(module->builder, LLVMInstructionGetDebugLoc(call));
    cover(module, function, site);
    if (path_call_stores(function->numbers, &function->shape, node, &action))
        words_change(module, function, &action, 1);
    if (may_vanish(function, call))
        instrument_pin(module, (uint64_t)function->index << 32 | 1u << 31 | site);
    LLVMSetCurrentDebugLocation2(module->builder, NULL);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(module->context, kind, 0));
}

void calls_add(struct instrumented_module *module, struct instrumented_function *function)
{
    for (uint32_t s = 0; s < function->split.site_count; s++)
        announce(module, function, s);
}
