// SPDX-License-Identifier: Apache-2.0
/*
 * Heads, and the copy that counts.
 *
 * A head keeps its block, so that all jumps to it, through a table of addresses too, come to the
 * check; what it held moves to a new block, of which there are two. The copy's jumps to heads stay,
 * all others go to the copy, but for those to where only a tail call of a recursive cycle and a
 * return are to come, which are there once. Requires: all other schemes are applied. Breaks:
 * nothing that is known of blocks holds any more.
 *
 * The countdown is the thread's variable, changed in place. In a loop that calls nothing that could
 * come to a head it lives in a slot, which is a register later on.
 */
#include "instrument/suspects.h"

#include <stdio.h>

struct region_pass {
    struct suspects *suspects;
    const struct instrumented_function *function;
    struct suspects_flow flow;
    uint8_t *head;           // by block of flow
    uint32_t *local;         // by block: 1 + number of the slot its countdown is in, or 0
    LLVMValueRef slot;       // of the countdown in loops, or NULL
    LLVMBasicBlockRef entry; // slots and stores of arguments
    LLVMBasicBlockRef *fast; // by block: what a head held; else the block
    struct value_map copies;
    struct value_map takers; // calls that take over the frame, by the blocks that they begin
    struct value_map exits;  // blocks that both copies share
    bool called_once;
};

// ---- Where the heads are

static void choose_heads(struct region_pass *pass)
{
    struct suspects_flow *flow = &pass->flow;

    for (uint32_t b = 0; b < flow->block_count; b++) {
        struct suspects_loop loop;
        bool small = false;

        if (!flow->header[b] || !flow->reachable[b])
            continue;
        if (suspects_loop_init(&loop, flow, b)) {
            small = suspects_loop_is_small(&loop, flow);
            suspects_loop_deinit(&loop);
        }
        pass->head[b] = !small;
    }
}

static bool is_pad(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);

    while (LLVMGetInstructionOpcode(i) == LLVMPHI)
        i = LLVMGetNextInstruction(i);
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    return opcode == LLVMLandingPad || opcode == LLVMCatchPad || opcode == LLVMCleanupPad ||
           opcode == LLVMCatchSwitch;
}

static bool can_split_edge(LLVMBasicBlockRef from)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(LLVMGetBasicBlockTerminator(from));

    return opcode == LLVMBr || opcode == LLVMSwitch;
}

// Can the countdown be loaded before the loop and stored behind it?
static bool can_be_local(const struct region_pass *pass, const struct suspects_loop *loop,
                         const uint8_t *member)
{
    const struct suspects_flow *flow = &pass->flow;

    if (loop->calls)
        return false;
    for (uint32_t m = 0; m < loop->count; m++) {
        uint32_t b = loop->members[m];

        if (flow->addressed[b] || !can_split_edge(flow->blocks[b]))
            return false;
        for (uint32_t e = flow->predecessor_start[b]; e < flow->predecessor_start[b + 1]; e++)
            if (!member[flow->predecessor[e]] &&
                !can_split_edge(flow->blocks[flow->predecessor[e]]))
                return false;
    }
    return true;
}

// The largest loops that have heads and call nothing.
static void choose_local(struct region_pass *pass)
{
    struct suspects_flow *flow = &pass->flow;
    uint32_t *size = xcalloc(flow->block_count, sizeof(*size));

    for (uint32_t b = 0; b < flow->block_count; b++) {
        struct suspects_loop loop;

        if (!pass->head[b] || !suspects_loop_init(&loop, flow, b))
            continue;
        uint8_t *member = xcalloc(flow->block_count, 1);
        for (uint32_t m = 0; m < loop.count; m++)
            member[loop.members[m]] = 1;
        if (can_be_local(pass, &loop, member))
            for (uint32_t m = 0; m < loop.count; m++)
                if (loop.count > size[loop.members[m]]) {
                    size[loop.members[m]] = loop.count;
                    pass->local[loop.members[m]] = b + 1;
                }
        free(member);
        suspects_loop_deinit(&loop);
    }
    free(size);
}

// ---- Edges in and out of loops that keep the countdown to themselves

// What sampling keeps for itself is no business of the sanitizers': threads share thresholds.
static LLVMValueRef load_own(const struct instrumented_module *module, LLVMValueRef place)
{
    LLVMValueRef load = LLVMBuildLoad2(module->builder, module->type_i64, place, "");

    instrument_unsanitized(module, load);
    return load;
}

static void store_own(const struct instrumented_module *module, LLVMValueRef value,
                      LLVMValueRef place)
{
    instrument_unsanitized(module, LLVMBuildStore(module->builder, value, place));
}

static void move_countdown(const struct region_pass *pass, bool into_slot)
{
    const struct instrumented_module *module = pass->suspects->module;
    LLVMValueRef from = into_slot ? pass->suspects->countdown : pass->slot;
    LLVMValueRef to = into_slot ? pass->slot : pass->suspects->countdown;

    store_own(module, load_own(module, from), to);
}

static void split_edge(struct region_pass *pass, LLVMValueRef terminator, unsigned successor,
                       bool leaves, bool enters)
{
    const struct instrumented_module *module = pass->suspects->module;
    LLVMBasicBlockRef target = LLVMGetSuccessor(terminator, successor);
    LLVMBasicBlockRef between =
        LLVMAppendBasicBlockInContext(module->context, pass->function->function, "");

    LLVMPositionBuilderAtEnd(module->builder, between);
    LLVMSetCurrentDebugLocation2(module->builder, NULL);
    if (leaves)
        move_countdown(pass, false);
    if (enters)
        move_countdown(pass, true);
    LLVMValueRef jump = LLVMBuildBr(module->builder, target);
    LLVMInstructionSetDebugLoc(jump, LLVMInstructionGetDebugLoc(terminator));
    LLVMSetSuccessor(terminator, successor, between);
}

static void split_edges(struct region_pass *pass)
{
    struct suspects_flow *flow = &pass->flow;
    bool any = false;

    for (uint32_t b = 0; b < flow->block_count; b++)
        any |= pass->local[b] != 0;
    if (!any)
        return;
    LLVMPositionBuilderBefore(
        pass->suspects->module->builder,
        LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(pass->function->function)));
    pass->slot = LLVMBuildAlloca(pass->suspects->module->builder, pass->suspects->module->type_i64,
                                 "inquest.countdown");
    for (uint32_t b = 0; b < flow->block_count; b++) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(flow->blocks[b]);

        for (uint32_t e = flow->successor_start[b]; e < flow->successor_start[b + 1]; e++) {
            uint32_t from = pass->local[b], to = pass->local[flow->successor[e]];
            if (from != to)
                split_edge(pass, terminator, e - flow->successor_start[b], from != 0, to != 0);
        }
    }
}

// ---- Bodies

static void move_instruction(LLVMBuilderRef builder, LLVMValueRef i)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i);

    LLVMInstructionRemoveFromParent(i);
    LLVMInsertIntoBuilder(builder, i);
    LLVMInstructionSetDebugLoc(i, location);
}

// A new entry block: slots of the old one, stores of arguments at its start.
static void make_entry(struct region_pass *pass)
{
    const struct instrumented_module *module = pass->suspects->module;
    LLVMBasicBlockRef old = LLVMGetEntryBasicBlock(pass->function->function);
    bool start = true;
    LLVMValueRef next;

    pass->entry = LLVMInsertBasicBlockInContext(module->context, old, "");
    LLVMPositionBuilderAtEnd(module->builder, pass->entry);
    LLVMSetCurrentDebugLocation2(module->builder, NULL);
    for (LLVMValueRef i = LLVMGetFirstInstruction(old); i; i = next) {
        bool slot = clone_is_static_alloca(i);

        next = LLVMGetNextInstruction(i);
        start &= slot || clone_is_argument_store(i);
        if (slot || start)
            move_instruction(module->builder, i);
    }
}

static LLVMBasicBlockRef insert_block(const struct region_pass *pass, LLVMBasicBlockRef before)
{
    LLVMContextRef context = pass->suspects->module->context;
    LLVMBasicBlockRef after = LLVMGetNextBasicBlock(before);

    return after ? LLVMInsertBasicBlockInContext(context, after, "")
                 : LLVMAppendBasicBlockInContext(context, pass->function->function, "");
}

// The instruction and all that follow in its block.
static void move_from(const struct region_pass *pass, LLVMValueRef first, LLVMBasicBlockRef to)
{
    LLVMBuilderRef builder = pass->suspects->module->builder;
    LLVMValueRef next;

    LLVMPositionBuilderAtEnd(builder, to);
    LLVMSetCurrentDebugLocation2(builder, NULL);
    for (LLVMValueRef i = first; i; i = next) {
        next = LLVMGetNextInstruction(i);
        move_instruction(builder, i);
    }
}

static void empty_head(struct region_pass *pass, uint32_t b)
{
    LLVMBasicBlockRef head = pass->flow.blocks[b];
    LLVMBasicBlockRef body = insert_block(pass, head);

    move_from(pass, LLVMGetFirstInstruction(head), body);
    pass->fast[b] = body;
    // the copy's jumps to a head stay
    *value_map_put(&pass->copies, (uintptr_t)LLVMBasicBlockAsValue(head)) =
        LLVMBasicBlockAsValue(head);
}

// Checks have what the copy's jumps to heads go to.
static bool is_shared(const struct region_pass *pass, LLVMBasicBlockRef block)
{
    uintptr_t key = (uintptr_t)LLVMBasicBlockAsValue(block);

    return block == pass->entry || value_map_get(&pass->copies, key) ||
           value_map_get(&pass->exits, key);
}

// Blocks that are copied are all but checks and exits.
static LLVMBasicBlockRef *bodies(const struct region_pass *pass, uint32_t *ret_count)
{
    uint32_t room = LLVMCountBasicBlocks(pass->function->function), count = 0;
    LLVMBasicBlockRef *blocks = xmalloc_array(room, sizeof(*blocks));

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(pass->function->function); block;
         block = LLVMGetNextBasicBlock(block))
        if (!is_shared(pass, block))
            blocks[count++] = block;
    *ret_count = count;
    return blocks;
}

static bool is_marked(const struct suspects *suspects, LLVMBasicBlockRef block)
{
    uint32_t first, count;

    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (suspects_marked(suspects, i, &first, &count))
            return true;
    return false;
}

// Calls that take over the frame begin blocks of their own. False: values cross blocks.
static bool split_takers(struct region_pass *pass)
{
    const struct suspects *suspects = pass->suspects;
    const struct split *split = &pass->function->split;
    LLVMValueRef function = pass->function->function;

    if (!suspects_demote(suspects, function))
        return false;
    for (uint32_t s = 0; s < split->site_count; s++) {
        LLVMValueRef call = split->nodes[split->site_node[s]].call;
        LLVMBasicBlockRef before = LLVMGetInstructionParent(call);

        if (!pass->function->takes_frame[s])
            continue;
        LLVMBasicBlockRef block = insert_block(pass, before);
        move_from(pass, call, block);
        LLVMPositionBuilderAtEnd(suspects->module->builder, before);
        LLVMInstructionSetDebugLoc(LLVMBuildBr(suspects->module->builder, block),
                                   LLVMInstructionGetDebugLoc(call));
        *value_map_put(&pass->takers, (uintptr_t)LLVMBasicBlockAsValue(block)) = call;
    }
    return suspects_demote(suspects, function);
}

// From a call that takes over the frame on, and where else there is only a return to come, nothing
// is sampled; both copies go there. The call stays the only one, so that whatever LLVM makes of it
// for this (it is inlined; it becomes a jump back) it does. And returns stay one: LLVM would let
// two of them go to a third one, and what is before would not be followed by a return any more.
// Requires that no values cross blocks.
static void find_exits(struct region_pass *pass)
{
    const struct suspects_flow *flow = &pass->flow;
    bool more = true;

    while (more) {
        more = false;
        for (uint32_t b = 1; b < flow->block_count; b++) {
            LLVMValueRef value = LLVMBasicBlockAsValue(flow->blocks[b]);
            LLVMValueRef *taker = value_map_get(&pass->takers, (uintptr_t)value);

            if (value_map_get(&pass->exits, (uintptr_t)value) ||
                is_marked(pass->suspects, flow->blocks[b]) ||
                !tailcalls_is_exit(taker ? LLVMGetNextInstruction(*taker)
                                         : LLVMGetFirstInstruction(flow->blocks[b]),
                                   &pass->exits))
                continue;
            *value_map_put(&pass->exits, (uintptr_t)value) = value;
            more = true;
        }
    }
}

// ---- Checks

// Weights: that of the unlikely side is 1.
static void set_unlikely(const struct instrumented_module *module, LLVMValueRef branch,
                         uint32_t weight)
{
    static const char name[] = "branch_weights";
    LLVMMetadataRef operands[] = {
        LLVMMDStringInContext2(module->context, name, sizeof(name) - 1),
        LLVMValueAsMetadata(instrument_i32(module, 1)),
        LLVMValueAsMetadata(instrument_i32(module, weight)),
    };
    unsigned kind = LLVMGetMDKindIDInContext(module->context, "prof", 4);

    LLVMSetMetadata(
        branch, kind,
        LLVMMetadataAsValue(module->context, LLVMMDNodeInContext2(module->context, operands, 3)));
}

// One off the countdown; below the threshold the runtime says what it becomes, and whether to
// count.
static void add_check(const struct region_pass *pass, LLVMBasicBlockRef head,
                      LLVMBasicBlockRef fast, bool local)
{
    enum { LIKELY = 2000 };
    const struct suspects *suspects = pass->suspects;
    const struct instrumented_module *module = suspects->module;
    LLVMBuilderRef builder = module->builder;
    LLVMValueRef place = local ? pass->slot : suspects->countdown;
    LLVMValueRef threshold = suspects_add_threshold(pass->suspects);
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(suspects_first_insertion_point(fast));
    LLVMBasicBlockRef out =
        LLVMAppendBasicBlockInContext(module->context, pass->function->function, "");

    LLVMPositionBuilderAtEnd(builder, head);
    LLVMSetCurrentDebugLocation2(builder, location);
    LLVMValueRef left =
        LLVMBuildSub(builder, load_own(module, place), instrument_i64(module, 1), "");
    store_own(module, left, place);
    LLVMValueRef least = load_own(module, threshold);
    LLVMValueRef is_out = LLVMBuildICmp(builder, LLVMIntSLT, left, least, "");
    LLVMValueRef branch = LLVMBuildCondBr(builder, is_out, out, fast);
    // nothing is inlined into what is rarely run
    if (!pass->function->has_takers)
        set_unlikely(module, branch, LIKELY);

    LLVMPositionBuilderAtEnd(builder, out);
    LLVMValueRef arguments[] = {left, least};
    LLVMValueRef next = suspects_call(suspects, &suspects->next, arguments, 2);
    store_own(module, instrument_i64(module, 0), threshold);
    store_own(module, LLVMBuildAShr(builder, next, instrument_i64(module, 1), ""), place);
    LLVMValueRef now = LLVMBuildTrunc(builder, next, LLVMInt1TypeInContext(module->context), "");
    LLVMBuildCondBr(builder, now, clone_of_block(&pass->copies, fast), fast);
    LLVMSetCurrentDebugLocation2(builder, NULL);
}

static void add_checks(struct region_pass *pass, LLVMBasicBlockRef first)
{
    for (uint32_t b = 0; b < pass->flow.block_count; b++)
        if (pass->head[b])
            add_check(pass, pass->flow.blocks[b], pass->fast[b], pass->local[b] != 0);
    add_check(pass, pass->entry, first, false);
}

// ---- Inlining

// The copy that counts is rarely run: what it calls stays out of it, unless that may be what makes
// a loop of a tail call.
static void keep_calls(const struct region_pass *pass, LLVMBasicBlockRef block)
{
    static const char never[] = "noinline", always[] = "alwaysinline";
    LLVMAttributeRef attribute =
        LLVMCreateEnumAttribute(pass->suspects->module->context,
                                LLVMGetEnumAttributeKindForName(never, sizeof(never) - 1), 0);

    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && !pass->function->has_takers;
         i = LLVMGetNextInstruction(i))
        if (split_is_call(i) && LLVMIsAFunction(LLVMGetCalledValue(i)) &&
            !LLVMIsDeclaration(LLVMGetCalledValue(i)) && !split_call_has_attribute(i, always))
            LLVMAddCallSiteAttribute(i, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

// The inliner sees both copies, and twice as many calls. Whatever it would have inlined without us
// it is to inline still: its limit (InlineCost.h) is raised by what was added. A function that was
// called from one place, where it would go whatever its size, is now called from two.
static void allow_inlining(const struct region_pass *pass, uint32_t site_count)
{
    enum { ONCE = 15000, USUAL = 225, HINTED = 325, SMALL = 50, SMALLEST = 5 };
    enum { COPIES = 2, CHECK = 60, SITE = 40 };
    static const char key[] = "function-inline-threshold";
    LLVMValueRef function = pass->function->function;
    unsigned limit = instrument_has_attribute(function, "minsize")      ? SMALLEST
                     : instrument_has_attribute(function, "optsize")    ? SMALL
                     : instrument_has_attribute(function, "inlinehint") ? HINTED
                                                                        : USUAL;
    char value[16];

    if (instrument_has_attribute(function, "noinline") ||
        instrument_has_attribute(function, "alwaysinline"))
        return;
    int length = snprintf(value, sizeof(value), "%u",
                          pass->called_once ? ONCE : COPIES * limit + CHECK + SITE * site_count);
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(pass->suspects->module->context, key,
                                                      sizeof(key) - 1, value, (unsigned)length));
}

// ---- The whole

// The number of sites.
static uint32_t count_in_copy(const struct region_pass *pass, const LLVMBasicBlockRef *blocks,
                              uint32_t count, LLVMBasicBlockRef first)
{
    const struct suspects *suspects = pass->suspects;
    uint32_t entry_point = suspects->entry_point[pass->function->index];
    uint32_t sites = entry_point != SUSPECTS_NONE;

    for (uint32_t b = 0; b < count; b++)
        suspects_clean_block(suspects, blocks[b]);
    if (entry_point != SUSPECTS_NONE)
        suspects_sample_entry(suspects, entry_point,
                              suspects_first_insertion_point(clone_of_block(&pass->copies, first)),
                              false);
    for (uint32_t b = 0; b < count; b++) {
        keep_calls(pass, clone_of_block(&pass->copies, blocks[b]));
        sites += suspects_sample_block(suspects, clone_of_block(&pass->copies, blocks[b]), false);
    }
    return sites;
}

static void make_copies(struct region_pass *pass)
{
    LLVMValueRef function = pass->function->function;
    LLVMBasicBlockRef first = LLVMGetEntryBasicBlock(function);
    uint32_t count;

    split_edges(pass);
    make_entry(pass);
    for (uint32_t b = 0; b < pass->flow.block_count; b++) {
        pass->fast[b] = pass->flow.blocks[b];
        if (pass->head[b])
            empty_head(pass, b);
    }
    LLVMBasicBlockRef *blocks = bodies(pass, &count);
    clone_blocks(pass->suspects->module, function, blocks, count, &pass->copies);
    add_checks(pass, first);
    allow_inlining(pass, count_in_copy(pass, blocks, count, first));
    free(blocks);
}

// One body: each site asks by itself.
static void count_in_place(struct suspects *suspects, const struct instrumented_function *function)
{
    uint32_t entry_point = suspects->entry_point[function->index];
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function->function);
    LLVMValueRef first = LLVMGetFirstInstruction(entry);

    while (LLVMGetInstructionOpcode(first) == LLVMAlloca)
        first = LLVMGetNextInstruction(first);
    for (LLVMBasicBlockRef block = entry; block; block = LLVMGetNextBasicBlock(block))
        suspects_sample_block(suspects, block, true);
    if (entry_point != SUSPECTS_NONE)
        suspects_sample_entry(suspects, entry_point, first, true);
}

static bool has_sites(const struct suspects *suspects, const struct instrumented_function *function)
{
    if (suspects->entry_point[function->index] != SUSPECTS_NONE)
        return true;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->function); block;
         block = LLVMGetNextBasicBlock(block))
        if (is_marked(suspects, block))
            return true;
    return false;
}

// LLVM makes retpolines of the only computed jump that clang makes a function, and fails on more.
static bool has_retpolines(LLVMValueRef f)
{
    static const char key[] = "target-features";
    LLVMAttributeRef features = LLVMGetStringAttributeAtIndex(
        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, key, sizeof(key) - 1);
    unsigned length = 0;
    const char *text = features ? LLVMGetStringAttributeValue(features, &length) : "";

    return memmem(text, length, "+retpoline-indirect-branches", 28) != NULL;
}

static bool instruction_can_copy(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMCallBr:
    case LLVMCatchSwitch:
    case LLVMCatchPad:
    case LLVMCleanupPad:
        return false;
    case LLVMCall:
    case LLVMInvoke:
        return plain_can_copy_call(i);
    case LLVMIndirectBr:
        return !has_retpolines(LLVMGetBasicBlockParent(LLVMGetInstructionParent(i)));
    default:
        return true;
    }
}

static bool can_copy(struct region_pass *pass)
{
    bool heads = false;

    for (uint32_t b = 0; b < pass->flow.block_count; b++) {
        LLVMBasicBlockRef block = pass->flow.blocks[b];

        if (pass->head[b] && is_pad(block))
            return false;
        heads |= pass->head[b];
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (!instruction_can_copy(i))
                return false;
    }
    return !heads || suspects_demote(pass->suspects, pass->function->function);
}

void suspects_apply_to(struct suspects *suspects, struct instrumented_function *function)
{
    struct region_pass pass = {.suspects = suspects,
                               .function = function,
                               .copies = MAP_INIT,
                               .takers = MAP_INIT,
                               .exits = MAP_INIT};

    if (!has_sites(suspects, function))
        return;
    bool shares = function->has_takers && split_takers(&pass);
    suspects_flow_init(&pass.flow, function->function);
    pass.head = xcalloc(pass.flow.block_count, 1);
    pass.local = xcalloc(pass.flow.block_count, sizeof(uint32_t));
    pass.fast = xcalloc(pass.flow.block_count, sizeof(LLVMBasicBlockRef));
    pass.called_once = suspects->called_once[function->index];
    choose_heads(&pass);
    if (shares)
        find_exits(&pass);
    if (can_copy(&pass)) {
        choose_local(&pass);
        make_copies(&pass);
    } else
        count_in_place(suspects, function);
    suspects_flow_deinit(&pass.flow);
    value_map_deinit(&pass.copies);
    value_map_deinit(&pass.takers);
    value_map_deinit(&pass.exits);
    free(pass.head);
    free(pass.local);
    free(pass.fast);
}
