// SPDX-License-Identifier: Apache-2.0
/*
 * Stores of frame words that nobody can ask for, taken away once functions are inlined.
 *
 * A word of a lazy function is read while a real call is waited for. A call that was inlined and
 * has none inside needs no store: it is taken away where every way from it comes to another store
 * of the same word, or to the end of the function, before a real call. What remains is as if it
 * stood there alone, so that at each real call the word holds what it would have held.
 *
 * Requires: inlining is done. Keeps: everything but such stores. Words are known by metadata of
 * their stores; a store that lost it stays, and counts for nothing.
 */
#include "instrument/instrument.h"

#include "common/alloc.h"
#include "common/map.h"
#include "common/vec.h"

#include <stdlib.h>
#include <string.h>

MAP_DEFINE_U64(block_numbers, uint32_t);
MAP_DEFINE_U64(slot_numbers, uint32_t);

struct event {
    LLVMValueRef store; // NULL: a real call
    uint32_t word;
};
VEC_DEFINE(event_vec, struct event);

struct trim {
    LLVMValueRef function;
    unsigned kind; // of the metadata
    struct block_numbers numbers;
    struct slot_numbers words;
    uint32_t block_count, word_count;
    LLVMBasicBlockRef *blocks;
    uint32_t *first_event; // by block, and one more
    struct event_vec events;
    uint8_t *asked; // by block, for one word: may a real call come from its beginning, first?
};

// Intrinsics that are never more than an instruction or two.
static bool is_harmless_intrinsic(LLVMValueRef call)
{
    static const char *const starts[] = {
        "llvm.dbg.",       "llvm.lifetime.",    "llvm.assume",
        "llvm.expect",     "llvm.abs.",         "llvm.smax.",
        "llvm.smin.",      "llvm.umax.",        "llvm.umin.",
        "llvm.ctpop.",     "llvm.ctlz.",        "llvm.cttz.",
        "llvm.bswap.",     "llvm.fshl.",        "llvm.fshr.",
        "llvm.sadd.",      "llvm.uadd.",        "llvm.ssub.",
        "llvm.usub.",      "llvm.va_",          "llvm.prefetch",
        "llvm.stacksave",  "llvm.stackrestore", "llvm.experimental.noalias.scope",
        "llvm.objectsize", "llvm.is.constant",  "llvm.trap",
        "llvm.ubsantrap",  "llvm.fabs.",
    };
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);

    for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
        if (!strncmp(name, starts[i], strlen(starts[i])))
            return true;
    return false;
}

// May an activation come to wait here?
static bool is_real_call(LLVMValueRef i)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);

    if (opcode == LLVMInvoke || opcode == LLVMCallBr)
        return true;
    if (opcode != LLVMCall || LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
        return false;
    return !LLVMIsAIntrinsicInst(i) || !is_harmless_intrinsic(i);
}

static bool is_word_store(const struct trim *trim, LLVMValueRef i)
{
    return LLVMIsAStoreInst(i) && LLVMGetMetadata(i, trim->kind) &&
           LLVMIsAAllocaInst(LLVMGetOperand(i, 1));
}

static uint32_t word_of(struct trim *trim, LLVMValueRef slot)
{
    uint32_t *number = slot_numbers_get(&trim->words, (uintptr_t)slot);

    if (!number) {
        number = slot_numbers_put(&trim->words, (uintptr_t)slot);
        *number = trim->word_count++;
    }
    return *number;
}

static void collect(struct trim *trim)
{
    uint32_t b = 0;

    trim->block_count = LLVMCountBasicBlocks(trim->function);
    trim->blocks = xmalloc_array(trim->block_count + 1u, sizeof(*trim->blocks));
    trim->first_event = xmalloc_array(trim->block_count + 1u, sizeof(uint32_t));
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(trim->function); block;
         block = LLVMGetNextBasicBlock(block), b++) {
        trim->blocks[b] = block;
        trim->first_event[b] = (uint32_t)trim->events.length;
        *block_numbers_put(&trim->numbers, (uintptr_t)block) = b;
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (is_word_store(trim, i))
                event_vec_push(&trim->events,
                               (struct event){i, word_of(trim, LLVMGetOperand(i, 1))});
            else if (is_real_call(i))
                event_vec_push(&trim->events, (struct event){0});
        }
    }
    trim->first_event[b] = (uint32_t)trim->events.length;
}

// From event `e` of block b on: may a real call come before the next store of the word?
static bool is_asked_from(const struct trim *trim, uint32_t b, uint32_t e, uint32_t word)
{
    for (; e < trim->first_event[b + 1]; e++) {
        const struct event *event = &trim->events.data[e];

        if (!event->store)
            return true;
        if (event->word == word)
            return false;
    }
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(trim->blocks[b]);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++)
        if (trim->asked[*block_numbers_get(&trim->numbers,
                                           (uintptr_t)LLVMGetSuccessor(terminator, s))])
            return true;
    return false;
}

static void trim_word(struct trim *trim, uint32_t word)
{
    bool changed = true;

    memset(trim->asked, 0, trim->block_count);
    while (changed) {
        changed = false;
        for (uint32_t b = trim->block_count; b-- > 0;)
            if (!trim->asked[b] && is_asked_from(trim, b, trim->first_event[b], word))
                trim->asked[b] = changed = true;
    }
    for (uint32_t b = 0; b < trim->block_count; b++)
        for (uint32_t e = trim->first_event[b]; e < trim->first_event[b + 1]; e++) {
            struct event *event = &trim->events.data[e];

            if (!event->store || event->word != word || is_asked_from(trim, b, e + 1, word))
                continue;
            LLVMInstructionEraseFromParent(event->store);
            // what comes behind it goes for what comes before, too: it passes for no event
            event->word = UINT32_MAX;
        }
}

static void trim_function(LLVMValueRef function, unsigned kind)
{
    struct trim trim = {.function = function, .kind = kind};

    collect(&trim);
    trim.asked = xcalloc(trim.block_count + 1u, 1);
    for (uint32_t w = 0; w < trim.word_count; w++)
        trim_word(&trim, w);
    block_numbers_deinit(&trim.numbers);
    slot_numbers_deinit(&trim.words);
    event_vec_deinit(&trim.events);
    free(trim.blocks);
    free(trim.first_event);
    free(trim.asked);
}

void instrument_trim(LLVMModuleRef module)
{
    unsigned kind = LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), WORDS_METADATA,
                                             strlen(WORDS_METADATA));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            trim_function(f, kind);
}
