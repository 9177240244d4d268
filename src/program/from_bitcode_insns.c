// SPDX-License-Identifier: Apache-2.0
// The instructions of one function, node by node.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "program/from_bitcode_reader.h"

VEC_DEFINE(operand_vec, struct operand);

// The function at hand.
struct body {
    struct reader *reader;
    LLVMValueRef function;
    uint32_t index;
    struct code_function *entry; // in the builder, whose function table does not grow any more
    struct pointer_map stored;   // alloca's insn -> argument that is stored into it
    struct pointer_map braces;   // by place (place_key): where lives of variables end
    struct operand_vec operands; // of the instruction at hand
};

static LLVMValueRef attribute_function(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    return LLVMIsAFunction(callee) ? callee : NULL;
}

static bool call_has(LLVMValueRef call, LLVMAttributeIndex index, unsigned kind)
{
    LLVMValueRef function = attribute_function(call);

    return LLVMGetCallSiteEnumAttribute(call, index, kind) ||
           (function && LLVMGetEnumAttributeAtIndex(function, index, kind));
}

static bool call_is(LLVMValueRef call, unsigned kind)
{
    return call_has(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
}

// memory(none) is 0; memory(read) has only the first of each pair of bits (llvm/Support/ModRef.h).
static uint32_t memory_flags(const struct reader *reader, LLVMValueRef call)
{
    LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMAttributeRef memory = LLVMGetCallSiteEnumAttribute(call, at, reader->names.memory);
    LLVMValueRef function = attribute_function(call);

    if (!memory && function)
        memory = LLVMGetEnumAttributeAtIndex(function, at, reader->names.memory);
    if (!memory)
        return 0;
    uint64_t effects = LLVMGetEnumAttributeValue(memory);
    if (effects == 0)
        return CALL_READ_NONE;
    return (effects & UINT64_C(0xaaaaaaaaaaaaaaaa)) == 0 ? CALL_READ_ONLY : 0;
}

static uint32_t call_flags(const struct body *body, LLVMValueRef call)
{
    const struct reader_names *names = &body->reader->names;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    uint32_t flags = memory_flags(body->reader, call);

    if (call_is(call, names->noreturn))
        flags |= CALL_NORETURN;
    if (call_is(call, names->returns_twice))
        flags |= CALL_RETURNS_TWICE;
    if (call_is(call, names->nounwind))
        flags |= CALL_NOUNWIND;
    if (LLVMIsAInlineAsm(callee))
        flags |= CALL_ASM;
    if (LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee))
        flags |= CALL_INTRINSIC;
    return flags;
}

static struct signature call_signature(const struct body *body, LLVMValueRef call)
{
    struct signature signature = {0};

    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        reader_count_argument(body->reader, LLVMTypeOf(LLVMGetOperand(call, i)),
                              call_has(call, i + 1, body->reader->names.byval), &signature);
    signature.varargs = (uint8_t)(LLVMIsFunctionVarArg(LLVMGetCalledFunctionType(call)) != 0);
    return signature;
}

static uint32_t site_flags(LLVMValueRef call, const struct call *made)
{
    uint32_t flags = 0;

    if (made->flags & CALL_NORETURN)
        flags |= SITE_NORETURN;
    if (made->flags & CALL_RETURNS_TWICE)
        flags |= SITE_RETURNS_TWICE;
    if (made->flags & CALL_NOUNWIND)
        flags |= SITE_NOUNWIND;
    if (split_is_loose(call))
        flags |= SITE_LOOSE;
    if (LLVMIsAInvokeInst(call))
        flags |= SITE_INVOKE;
    else if (LLVMIsACallInst(call) && LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail)
        flags |= SITE_MUSTTAIL;
    return flags;
}

static uint32_t push_site(struct body *body, LLVMValueRef call, const struct call *made,
                          uint32_t node)
{
    struct reader *reader = body->reader;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const uint32_t *global = pointer_map_get(&reader->globals, reader_key(callee));
    struct code_site site = {.node = node,
                             .insn = (uint32_t)reader->builder->insns.length,
                             .callee = global ? *global : CODE_NONE,
                             .flags = site_flags(call, made),
                             .signature = call_signature(body, call)};

    if (!global)
        site.flags |= SITE_INDIRECT;
    else if (reader->builder->globals.data[*global].kind == GLOBAL_IFUNC)
        site.flags |= SITE_IFUNC;
    if (site.flags & SITE_RETURNS_TWICE)
        body->entry->flags |= FUNCTION_SETJMP;
    if (site.flags & SITE_MUSTTAIL)
        body->entry->flags |= FUNCTION_MUSTTAIL;
    if (site.flags & SITE_INVOKE)
        body->entry->flags |= FUNCTION_INVOKE;
    code_sites_push(&reader->builder->sites, site);
    return (uint32_t)reader->builder->sites.length - 1;
}

static void push_operand(struct body *body, LLVMValueRef value)
{
    operand_vec_push(&body->operands, reader_operand(body->reader, value));
}

static void push_block(struct body *body, LLVMBasicBlockRef block)
{
    push_operand(body, LLVMBasicBlockAsValue(block));
}

static unsigned intrinsic_of(LLVMValueRef insn)
{
    return LLVMIsAIntrinsicInst(insn) ? LLVMGetIntrinsicID(LLVMGetCalledValue(insn)) : 0;
}

// The jumps that are no call sites.
static uint32_t jump_flags(const struct reader *reader, LLVMValueRef call)
{
    unsigned id = intrinsic_of(call);

    if (!id)
        return 0;
    return id == reader->names.builtin_setjmp    ? NODE_SETJMP
           : id == reader->names.builtin_longjmp ? NODE_LONGJMP
                                                 : 0;
}

// Arguments, callee, then the blocks it goes on to. Operand bundles are not kept.
static void read_call(struct body *body, LLVMValueRef call, uint32_t node, bool is_site,
                      struct insn *insn)
{
    struct reader *reader = body->reader;
    struct call made = {.type = reader_type(reader, LLVMGetCalledFunctionType(call)),
                        .site = CODE_NONE,
                        .flags = call_flags(body, call),
                        .argument_count = LLVMGetNumArgOperands(call)};

    for (unsigned i = 0; i < made.argument_count; i++)
        push_operand(body, LLVMGetOperand(call, i));
    push_operand(body, LLVMGetCalledValue(call));
    if (LLVMIsATerminatorInst(call))
        for (unsigned i = 0; i < LLVMGetNumSuccessors(call); i++)
            push_block(body, LLVMGetSuccessor(call, i));
    if (made.flags & CALL_ASM) {
        reader->builder->nodes.data[node].flags |= NODE_ASM;
        body->entry->flags |= FUNCTION_ASM;
    }
    reader->builder->nodes.data[node].flags |= jump_flags(reader, call);
    if (is_site)
        made.site = push_site(body, call, &made, node);
    if (LLVMIsACallInst(call)) {
        LLVMTailCallKind kind = LLVMGetTailCallKind(call);
        insn->flags |= kind == LLVMTailCallKindTail       ? INSN_TAIL
                       : kind == LLVMTailCallKindMustTail ? INSN_MUSTTAIL
                       : kind == LLVMTailCallKindNoTail   ? INSN_NOTAIL
                                                          : 0;
    }
    insn->detail = (uint32_t)reader->builder->calls.length;
    code_calls_push(&reader->builder->calls, made);
}

static void read_phi(struct body *body, LLVMValueRef phi)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        const uint32_t *last =
            pointer_map_get(&body->reader->block_ends, reader_key(LLVMGetIncomingBlock(phi, i)));
        push_operand(body, LLVMGetIncomingValue(phi, i));
        operand_vec_push(&body->operands, operand_make(OPERAND_NODE, *last));
    }
}

// LLVM keeps a conditional branch's operands the other way round.
static void read_branch(struct body *body, LLVMValueRef branch)
{
    if (LLVMIsConditional(branch))
        push_operand(body, LLVMGetCondition(branch));
    for (unsigned i = 0; i < LLVMGetNumSuccessors(branch); i++)
        push_block(body, LLVMGetSuccessor(branch, i));
}

static void read_shuffle(struct body *body, LLVMValueRef shuffle)
{
    LLVMTypeRef type = LLVMInt32TypeInContext(body->reader->context);

    push_operand(body, LLVMGetOperand(shuffle, 0));
    push_operand(body, LLVMGetOperand(shuffle, 1));
    for (unsigned i = 0; i < LLVMGetNumMaskElements(shuffle); i++) {
        int element = LLVMGetMaskValue(shuffle, i);
        if (element == LLVMGetUndefMaskElem())
            push_operand(body, LLVMGetUndef(type));
        else
            operand_vec_push(&body->operands, reader_integer(body->reader, (uint64_t)element));
    }
}

static void read_plain_operands(struct body *body, LLVMValueRef instruction)
{
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++)
        push_operand(body, LLVMGetOperand(instruction, (unsigned)i));
}

static void read_indexed(struct body *body, LLVMValueRef instruction)
{
    const unsigned *indices = LLVMGetIndices(instruction);

    read_plain_operands(body, instruction);
    for (unsigned i = 0; i < LLVMGetNumIndices(instruction); i++)
        operand_vec_push(&body->operands, reader_integer(body->reader, indices[i]));
}

static void read_clauses(struct body *body, LLVMValueRef pad, struct insn *insn)
{
    for (unsigned i = 0; i < LLVMGetNumClauses(pad); i++)
        push_operand(body, LLVMGetClause(pad, i));
    insn->subcode = LLVMIsCleanup(pad) ? 1 : 0;
}

static void read_operands(struct body *body, LLVMValueRef instruction, uint32_t node, bool is_site,
                          struct insn *insn)
{
    switch (insn->opcode) {
    case INSN_CALL:
    case INSN_INVOKE:
    case INSN_CALLBR:
        read_call(body, instruction, node, is_site, insn);
        break;
    case INSN_PHI:
        read_phi(body, instruction);
        break;
    case INSN_BR:
        read_branch(body, instruction);
        break;
    case INSN_SHUFFLEVECTOR:
        read_shuffle(body, instruction);
        break;
    case INSN_EXTRACTVALUE:
    case INSN_INSERTVALUE:
        read_indexed(body, instruction);
        break;
    case INSN_LANDINGPAD:
        read_clauses(body, instruction, insn);
        break;
    default:
        read_plain_operands(body, instruction);
        break;
    }
}

// ---- What an instruction has besides operands

static uint8_t predicate_of(LLVMValueRef compare)
{
    if (LLVMIsAICmpInst(compare))
        return (uint8_t)(PREDICATE_EQ + (LLVMGetICmpPredicate(compare) - LLVMIntEQ));
    static const uint8_t of_real[] = {
        [LLVMRealPredicateFalse] = PREDICATE_FALSE,
        [LLVMRealOEQ] = PREDICATE_OEQ,
        [LLVMRealOGT] = PREDICATE_OGT,
        [LLVMRealOGE] = PREDICATE_OGE,
        [LLVMRealOLT] = PREDICATE_OLT,
        [LLVMRealOLE] = PREDICATE_OLE,
        [LLVMRealONE] = PREDICATE_ONE,
        [LLVMRealORD] = PREDICATE_ORD,
        [LLVMRealUNO] = PREDICATE_UNO,
        [LLVMRealUEQ] = PREDICATE_UEQ,
        [LLVMRealUGT] = PREDICATE_FUGT,
        [LLVMRealUGE] = PREDICATE_FUGE,
        [LLVMRealULT] = PREDICATE_FULT,
        [LLVMRealULE] = PREDICATE_FULE,
        [LLVMRealUNE] = PREDICATE_UNE,
        [LLVMRealPredicateTrue] = PREDICATE_TRUE,
    };
    return of_real[LLVMGetFCmpPredicate(compare)];
}

static uint8_t rmw_of(LLVMValueRef rmw)
{
    LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(rmw);

    static_assert((int)LLVMAtomicRMWBinOpFMin == (int)RMW_FMIN, "same order");
    return operation <= LLVMAtomicRMWBinOpFMin ? (uint8_t)operation : (uint8_t)RMW_OTHER;
}

static void read_memory(struct body *body, LLVMValueRef instruction, struct insn *insn)
{
    struct reader *reader = body->reader;

    insn->alignment = reader_log2(LLVMGetAlignment(instruction));
    if (insn->opcode == INSN_ALLOCA) {
        insn->detail = reader_type(reader, LLVMGetAllocatedType(instruction)).value;
        return;
    }
    if (LLVMGetVolatile(instruction))
        insn->flags |= INSN_VOLATILE;
    if (insn->opcode == INSN_CMPXCHG) {
        insn->ordering = (uint8_t)LLVMGetCmpXchgSuccessOrdering(instruction);
        insn->subcode = (uint8_t)LLVMGetCmpXchgFailureOrdering(instruction);
        insn->flags |= LLVMGetWeak(instruction) ? INSN_WEAK : 0;
    } else {
        insn->ordering = (uint8_t)LLVMGetOrdering(instruction);
    }
    if (insn->ordering && LLVMIsAtomicSingleThread(instruction))
        insn->flags |= INSN_SINGLE_THREAD;
    if (insn->opcode == INSN_RMW)
        insn->subcode = rmw_of(instruction);
    LLVMTypeRef accessed = insn->opcode == INSN_LOAD ? LLVMTypeOf(instruction)
                           : insn->opcode == INSN_STORE
                               ? LLVMTypeOf(LLVMGetOperand(instruction, 0))
                               : LLVMTypeOf(LLVMGetOperand(instruction, 1));
    insn->detail = reader_type(reader, accessed).value;
}

static void read_arithmetic(LLVMValueRef instruction, struct insn *insn)
{
    switch (insn->opcode) {
    case INSN_ADD:
    case INSN_SUB:
    case INSN_MUL:
    case INSN_SHL:
        insn->flags |= LLVMGetNSW(instruction) ? INSN_NSW : 0;
        insn->flags |= LLVMGetNUW(instruction) ? INSN_NUW : 0;
        break;
    case INSN_UDIV:
    case INSN_SDIV:
    case INSN_LSHR:
    case INSN_ASHR:
        insn->flags |= LLVMGetExact(instruction) ? INSN_EXACT : 0;
        break;
    case INSN_OR:
        insn->flags |= LLVMGetIsDisjoint(instruction) ? INSN_DISJOINT : 0;
        break;
    case INSN_ZEXT:
        insn->flags |= LLVMGetNNeg(instruction) ? INSN_NNEG : 0;
        break;
    default:
        break;
    }
    if (LLVMCanValueUseFastMathFlags(instruction) && LLVMGetFastMathFlags(instruction))
        insn->flags |= INSN_FAST;
}

static void read_details(struct body *body, LLVMValueRef instruction, struct insn *insn)
{
    switch (insn->opcode) {
    case INSN_ALLOCA:
    case INSN_LOAD:
    case INSN_STORE:
    case INSN_CMPXCHG:
    case INSN_RMW:
        read_memory(body, instruction, insn);
        break;
    case INSN_FENCE:
        insn->ordering = (uint8_t)LLVMGetOrdering(instruction);
        insn->flags |= LLVMIsAtomicSingleThread(instruction) ? INSN_SINGLE_THREAD : 0;
        break;
    case INSN_GEP:
        insn->detail = reader_gep(body->reader, instruction);
        insn->flags |= LLVMIsInBounds(instruction) ? INSN_INBOUNDS : 0;
        break;
    case INSN_ICMP:
    case INSN_FCMP:
        insn->subcode = predicate_of(instruction);
        break;
    case INSN_VAARG:
        insn->detail = reader_type(body->reader, LLVMTypeOf(instruction)).value;
        break;
    default:
        break;
    }
    read_arithmetic(instruction, insn);
}

// An argument stored into a fresh slot: that is how front ends keep parameters.
static void note_store(struct body *body, const struct insn *insn)
{
    struct operand value = body->operands.data[0], address = body->operands.data[1];

    if (insn->opcode == INSN_STORE && operand_kind(value) == OPERAND_ARGUMENT &&
        operand_kind(address) == OPERAND_INSN)
        *pointer_map_put(&body->stored, operand_index(address)) = operand_index(value);
}

static void read_insn(struct body *body, LLVMValueRef instruction, uint32_t node, bool is_site)
{
    struct code_builder *builder = body->reader->builder;
    struct insn insn = {
        .opcode = (uint8_t)reader_opcode(LLVMGetInstructionOpcode(instruction)),
        .type = reader_type(body->reader, LLVMTypeOf(instruction)),
        .detail = CODE_NONE,
        .place = reader_place(body->reader, LLVMInstructionGetDebugLoc(instruction)),
        .node = node,
    };

    operand_vec_clear(&body->operands);
    read_operands(body, instruction, node, is_site, &insn);
    read_details(body, instruction, &insn);
    if (insn.opcode == INSN_STORE)
        note_store(body, &insn);
    insn.first_operand = (uint32_t)builder->operands.length;
    insn.operand_count = (uint32_t)body->operands.length;
    code_operands_append(&builder->operands, body->operands.data, body->operands.length);
    code_insns_push(&builder->insns, insn);
}

// ---- Nodes

static uint32_t end_flag(enum insn_opcode opcode)
{
    switch (opcode) {
    case INSN_RET:
        return NODE_RETURN;
    case INSN_UNREACHABLE:
        return NODE_UNREACHABLE;
    case INSN_RESUME:
        return NODE_RESUME;
    default:
        return 0;
    }
}

static void finish_node(struct body *body, uint32_t n)
{
    struct code_builder *builder = body->reader->builder;
    struct code_node *node = &builder->nodes.data[n];

    node->insn_count = (uint32_t)builder->insns.length - node->first_insn;
    for (uint32_t i = 0; i < node->insn_count; i++) {
        const struct insn *insn = &builder->insns.data[node->first_insn + i];
        if (insn->opcode == INSN_LANDINGPAD || insn->opcode == INSN_CLEANUPPAD ||
            insn->opcode == INSN_CATCHPAD || insn->opcode == INSN_CATCHSWITCH)
            node->flags |= NODE_LANDING;
        if (insn->opcode == INSN_INDIRECTBR)
            body->entry->flags |= FUNCTION_INDIRECT_BRANCH;
    }
    const struct insn *last = code_insns_last(&builder->insns);
    node->flags |= end_flag((enum insn_opcode)last->opcode);
}

static uint64_t place_key(const struct code_builder *builder, const struct insn *insn)
{
    const struct place *place = &builder->places.data[insn->place.value];

    return insn->place.value
               ? (uint64_t)place->file << 48 ^ (uint64_t)place->line << 16 ^ place->column
               : 0;
}

// Of the line as a whole: no place has column 65535.
static uint64_t line_key(const struct code_builder *builder, const struct insn *insn)
{
    uint64_t key = place_key(builder, insn);

    return key ? key | 0xffff : 0;
}

static void read_node(struct body *body, const struct split_node *split, uint32_t n)
{
    struct code_builder *builder = body->reader->builder;

    builder->nodes.data[n].first_insn = (uint32_t)builder->insns.length;
    builder->nodes.data[n].site =
        split->call ? (uint32_t)builder->sites.length : (uint32_t)CODE_NONE;
    for (LLVMValueRef i = split->first;; i = LLVMGetNextInstruction(i)) {
        if (reader_is_debug(body->reader, i))
            reader_variable(body->reader, body->index, i, (uint32_t)builder->insns.length);
        else
            read_insn(body, i, n, i == split->call);
        if (intrinsic_of(i) == body->reader->names.lifetime_end)
            *pointer_map_put(&body->braces,
                             place_key(builder, &builder->insns.data[builder->insns.length - 1])) =
                1;
        if (i == split->last)
            break;
    }
    finish_node(body, n);
}

// Every value gets its number first: PHIs and blocks in odd order name later ones.
static void number_values(struct body *body, const struct split *split)
{
    struct reader *reader = body->reader;
    uint32_t argument = body->entry->first_argument;
    uint32_t insn = (uint32_t)reader->builder->insns.length;

    if (reader->values.capacity > 1024 && reader->values.length < reader->values.capacity / 64)
        pointer_map_deinit(&reader->values); // one huge function should not slow all that follow
    pointer_map_clear(&reader->values);
    for (LLVMValueRef a = LLVMGetFirstParam(body->function); a; a = LLVMGetNextParam(a))
        *pointer_map_put(&reader->values, reader_key(a)) =
            operand_make(OPERAND_ARGUMENT, argument++).bits;
    for (uint32_t n = 0; n < split->graph.node_count; n++) {
        for (LLVMValueRef i = split->nodes[n].first;; i = LLVMGetNextInstruction(i)) {
            if (!reader_is_debug(reader, i))
                *pointer_map_put(&reader->values, reader_key(i)) =
                    operand_make(OPERAND_INSN, insn++).bits;
            if (i == split->nodes[n].last)
                break;
        }
    }
}

// Variables that live where an argument was stored, or in the argument itself.
static void match_arguments(struct body *body)
{
    struct code_builder *builder = body->reader->builder;
    struct code_function *entry = body->entry;

    for (uint32_t v = entry->first_variable; v < builder->variables.length; v++) {
        struct variable *variable = &builder->variables.data[v];
        const uint32_t *stored = NULL;
        uint32_t argument = CODE_NONE;

        if (operand_kind(variable->storage) == OPERAND_INSN)
            stored = pointer_map_get(&body->stored, operand_index(variable->storage));
        if (stored)
            argument = *stored;
        else if (operand_kind(variable->storage) == OPERAND_ARGUMENT)
            argument = operand_index(variable->storage);
        if (argument == CODE_NONE)
            continue;
        variable->argument = argument - entry->first_argument + 1;
        if (builder->arguments.data[argument].variable == CODE_NONE)
            builder->arguments.data[argument].variable = v;
    }
    entry->variable_count = (uint32_t)builder->variables.length - entry->first_variable;
}

// ---- Places

// How many instructions of the node stand at this place.
static uint32_t count_place(const struct code_builder *builder, const struct code_node *node,
                            uint64_t key,
                            uint64_t (*key_of)(const struct code_builder *, const struct insn *))
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < node->insn_count; i++)
        count += key_of(builder, &builder->insns.data[node->first_insn + i]) == key;
    return count;
}

/*
 * Whose is the place? A jump to one place does nothing, and where the source has no statement for
 * it clang gives it the place of the statement before. So its place is its own only where no other
 * node has any on its line: that of `break` and `goto`. And where a block is left in several ways,
 * the lives of its variables end at its closing brace, whichever way it is; that of the function is
 * where it returns.
 */
static enum place_carried carried(const struct code_builder *builder, struct pointer_map *places,
                                  const struct pointer_map *braces, const struct code_node *node,
                                  const struct insn *insn)
{
    uint64_t key = place_key(builder, insn), line = line_key(builder, insn);

    if (key == 0)
        return PLACE_OWN;
    const uint32_t *brace = pointer_map_get(braces, key);
    if (brace && *brace)
        return PLACE_OTHERS;
    if (insn->opcode != INSN_BR || insn->operand_count != 1)
        return PLACE_OWN;
    if (*pointer_map_get(places, key) != count_place(builder, node, key, place_key))
        return PLACE_OTHERS;
    return *pointer_map_get(places, line) != count_place(builder, node, line, line_key)
               ? PLACE_PERHAPS
               : PLACE_OWN;
}

static void carry_place(struct code_builder *builder, struct insn *insn, enum place_carried whose)
{
    struct place place = builder->places.data[insn->place.value];

    place.carried = whose;
    insn->place.value = (uint32_t)builder->places.length;
    code_places_push(&builder->places, place);
}

static void find_places(struct body *body, uint32_t node_count)
{
    struct code_builder *builder = body->reader->builder;
    struct code_node *nodes = &builder->nodes.data[body->entry->first_node];
    struct pointer_map places = MAP_INIT; // how many instructions stand there

    for (uint32_t i = nodes[0].first_insn; i < builder->insns.length; i++) {
        uint64_t key = place_key(builder, &builder->insns.data[i]);

        if (key) {
            ++*pointer_map_put(&places, key);
            ++*pointer_map_put(&places, line_key(builder, &builder->insns.data[i]));
        }
        if (key && builder->insns.data[i].opcode == INSN_RET)
            *pointer_map_put(&body->braces, key) = 0;
    }
    for (uint32_t n = 0; n < node_count; n++)
        for (uint32_t i = 0; i < nodes[n].insn_count; i++) {
            struct insn *insn = &builder->insns.data[nodes[n].first_insn + i];
            enum place_carried whose = carried(builder, &places, &body->braces, &nodes[n], insn);

            if (whose != PLACE_OWN)
                carry_place(builder, insn, whose);
            else if (nodes[n].place.value == 0)
                nodes[n].place = insn->place;
        }
    pointer_map_deinit(&places);
}

void reader_read_body(struct reader *reader, uint32_t function, const struct split *split)
{
    struct body body = {.reader = reader,
                        .function = split->function,
                        .index = function,
                        .entry = &reader->builder->functions.data[function]};

    body.entry->first_variable = (uint32_t)reader->builder->variables.length;
    number_values(&body, split);
    for (uint32_t n = 0; n < split->graph.node_count; n++)
        read_node(&body, &split->nodes[n], body.entry->first_node + n);
    find_places(&body, split->graph.node_count);
    match_arguments(&body);
    pointer_map_deinit(&body.stored);
    pointer_map_deinit(&body.braces);
    operand_vec_deinit(&body.operands);
}
