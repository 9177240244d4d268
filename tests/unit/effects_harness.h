// SPDX-License-Identifier: Apache-2.0
/*
 * Calls a function of the C library for real and compares what it did with what the table says.
 *
 * Every argument that points somewhere points to memory of its own, whose end lies against a page
 * that cannot be touched. Of that memory only as much is there as the table's extents allow, it can
 * be written only if the table lists a write, and not be touched at all if it lists nothing. After
 * the call every byte that changed, every pointer that got somewhere, the result and errno must
 * have their effects. Each case runs twice with other bytes in what it leaves open: what
 * EFFECT_SETS promises must then be equal, and the result too when nothing was read that differs.
 */
#ifndef TESTS_UNIT_EFFECTS_HARNESS_H
#define TESTS_UNIT_EFFECTS_HARNESS_H

#include <dlfcn.h>
#include <errno.h>

#include "effects_memories.h"

// ---- Where a pointer may come from

static const struct memory *memory_of(const struct run *run, uint64_t address)
{
    for (uint32_t i = 0; i < MOST_MEMORIES; i++) {
        const struct memory *memory = &run->memories[i];
        if (memory->pages && address >= (uintptr_t)memory->at &&
            address <= (uintptr_t)memory->at + memory->size)
            return memory;
    }
    return NULL;
}

// Is something mapped there that is not ours? (Above the shadow of sanitizers, where two
// characters of a wide string are an address too.)
static bool is_foreign_address(uint64_t address)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char there;

    return address >> 44 >= 3 && address >> 47 == 0 &&
           mincore((void *)(uintptr_t)(address / page * page), 1, &there) == 0;
}

static bool is_same(const struct run *run, uint64_t held, uint64_t address, bool moved)
{
    const struct memory *memory = memory_of(run, address);

    return held == address || (moved && memory && memory == memory_of(run, held));
}

// May the place have held the address (of one of our memories) before the call?
static bool may_hold(const struct run *run, struct effect_place place, uint64_t address, bool moved)
{
    if (place.kind == EFFECT_ARGUMENT)
        return is_same(run, run->values[place.index], address, moved);
    for (uint32_t i = 0; i < MOST_MEMORIES; i++) {
        const struct memory *memory = &run->memories[i];
        if (!memory->pages || !is_place_of(place, memory))
            continue;
        for (size_t at = 0; at + 8 <= memory->size; at += 8) {
            uint64_t held;
            memcpy(&held, memory->before + at, 8);
            if (is_same(run, held, address, moved))
                return true;
        }
    }
    return false;
}

// Is it at that offset of memory that is copied?
static bool is_held_at(const struct run *run, struct effect_place place, uint64_t address,
                       size_t at)
{
    for (uint32_t i = 0; i < MOST_MEMORIES; i++) {
        const struct memory *memory = &run->memories[i];
        if (memory->pages && is_place_of(place, memory) && at + 8 <= memory->size &&
            memcmp(memory->before + at, &address, 8) == 0)
            return true;
    }
    return false;
}

static bool explains(const struct run *run, struct effect_place from, uint64_t address, bool moved)
{
    if (memory_of(run, address))
        return may_hold(run, from, address, moved);
    return from.kind == EFFECT_STATE || (from.kind == EFFECT_RESULT && run->result == address);
}

// ---- Comparison

// What calls allocate stays, and stays reachable.
static void keep(uint64_t address)
{
    static uint64_t kept[4096];
    static uint32_t count;

    if (count < sizeof(kept) / sizeof(*kept))
        kept[count++] = address;
}

static void check_result(const struct run *run)
{
    bool ours = memory_of(run, run->result) != NULL;

    if (gives_nothing(run->name) || (!ours && !is_foreign_address(run->result)))
        return;
    if (run->stream && run->result == (uint64_t)(uintptr_t)run->stream)
        return;
    keep(run->result);
    for (uint32_t i = 0; i < run->effects->count; i++) {
        const struct effect *effect = &run->effects->list[i];
        if (effect->kind == EFFECT_ALLOCATES && effect->to.kind == EFFECT_RESULT && !ours)
            return;
        if (effect->kind == EFFECT_RETURNS &&
            explains(run, effect->from, run->result, effect->moved))
            return;
        if (effect->kind == EFFECT_COPY && effect->to.kind == EFFECT_RESULT &&
            explains(run, effect->from, run->result, effect->moved))
            return;
    }
    COMPLAIN(run, "the result is a pointer that no effect gives");
}

static void check_stored_pointer(const struct run *run, const struct memory *memory, size_t at)
{
    uint64_t now, was;

    memcpy(&now, memory->after + at, 8);
    memcpy(&was, memory->before + at, 8);
    if (now == was || (!memory_of(run, now) && !is_foreign_address(now)))
        return;
    keep(now);
    for (uint32_t i = 0; i < run->effects->count; i++) {
        const struct effect *effect = &run->effects->list[i];
        if (!writes_memory(effect, memory))
            continue;
        if (effect->kind == EFFECT_ALLOCATES && !memory_of(run, now))
            return;
        bool from_memory =
            effect->from.kind == EFFECT_POINTEE || effect->from.kind == EFFECT_POINTEE_POINTEE;
        if (effect->kind != EFFECT_COPY)
            continue;
        if (from_memory && !effect->moved ? is_held_at(run, effect->from, now, at)
                                          : explains(run, effect->from, now, effect->moved))
            return;
    }
    COMPLAIN(run, "a pointer that no effect gives is stored at +%zu of argument %u", at,
             memory->owner);
}

static bool is_written(const struct run *run, const struct memory *memory, size_t at)
{
    for (uint32_t i = 0; i < run->effects->count; i++) {
        const struct effect *effect = &run->effects->list[i];
        if (!writes_memory(effect, memory))
            continue;
        if (effect->kind == EFFECT_ALLOCATES
                ? at < 8
                : at < extent_bytes(run, effect->extent, memory->after, memory->size,
                                    name_is_wide(run->name)))
            return true;
    }
    return false;
}

static void check_memory(const struct run *run, const struct memory *memory)
{
    for (size_t at = 0; at < memory->size; at++)
        if (memory->before[at] != memory->after[at] && !is_written(run, memory, at)) {
            COMPLAIN(run, "byte %zu of argument %u changed", at, memory->owner);
            break;
        }
    for (size_t at = 0; at + 8 <= memory->size; at += 8)
        check_stored_pointer(run, memory, at);
}

// What callbacks were given must be what EFFECT_CALLS lists.
static bool is_given(const struct run *run, uint64_t value, uint32_t parameter)
{
    if (!memory_of(run, value))
        return true;
    for (uint32_t i = 0; i < run->effects->count; i++) {
        const struct effect *effect = &run->effects->list[i];
        if (effect->kind == EFFECT_CALLS &&
            explains(run, effect->arguments[parameter], value, effect->moved))
            return true;
    }
    return false;
}

static void check_given(const struct run *run)
{
    bool calls = false;

    for (uint32_t i = 0; i < run->effects->count; i++)
        calls |= run->effects->list[i].kind == EFFECT_CALLS;
    if (run->given_count && !calls)
        COMPLAIN(run, "it calls back");
    for (uint32_t i = 0; i < run->given_count; i++)
        for (uint32_t k = 0; k < 4; k++)
            if (!is_given(run, run->given[i][k], k)) {
                COMPLAIN(run, "parameter %u of the callback", k);
                return;
            }
}

static void check_error(const struct run *run)
{
    if (run->error == 12345)
        return;
    if (run->error == EFAULT) // the kernel met what is not there
        COMPLAIN(run, "a system call touches memory that the table does not allow");
    for (uint32_t i = 0; i < run->effects->count; i++) {
        const struct effect *effect = &run->effects->list[i];
        if (effect->kind == EFFECT_WRITE && effect->to.kind == EFFECT_STATE &&
            effect->to.index == EFFECT_STATE_ERRNO)
            return;
    }
    COMPLAIN(run, "errno became %d", run->error);
}

// ---- Two runs

typedef uint64_t library_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                  uint64_t, uint64_t);

// Functions copy bytes of their stack that they never set (sigaction): no addresses are left there.
static __attribute__((__noinline__)) void clear_stack(void)
{
    volatile char below[16384];

    for (size_t i = 0; i < sizeof(below); i++)
        below[i] = 0;
}

// False: it touched what is not there.
static bool call_guarded(struct run *run, library_function *function)
{
    const uint64_t *v = run->values;

    current = run;
    if (sigsetjmp(fault, 1) != 0)
        return false;
    clear_stack();
    errno = 12345;
    run->result = function(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
    run->error = errno;
    return true;
}

static bool run_once(struct run *run, library_function *function, unsigned char open)
{
    prepare_values(run);
    prepare(run, open);
    for (uint32_t i = 0; i < MOST_ARGUMENTS; i++)
        if (run->memories[i].pages)
            run->values[i] = (uint64_t)(uintptr_t)run->memories[i].at;
    bool returned = call_guarded(run, function);
    for (uint32_t i = 0; i < MOST_MEMORIES; i++)
        if (run->memories[i].pages) {
            struct memory *memory = &run->memories[i];
            mprotect(memory->pages, memory->page_bytes, PROT_READ | PROT_WRITE);
            memcpy(memory->after, memory->at, memory->size);
        }
    if (!returned)
        COMPLAIN(run, "touches memory that the table does not allow");
    return returned;
}

// Every function that takes a stream looks at it.
static void check_streams(const struct run *run)
{
    for (uint32_t i = 0; i < MOST_ARGUMENTS; i++) {
        bool found = run->test->arguments[i].kind != A_STREAM;
        for (uint32_t k = 0; k < run->effects->count && !found; k++)
            found = reads_memory(&run->effects->list[k], &run->memories[i]);
        if (!found)
            COMPLAIN(run, "the stream, argument %u, is not read", i);
    }
}

static void check_run(const struct run *run)
{
    check_streams(run);
    for (uint32_t i = 0; i < MOST_MEMORIES; i++)
        if (run->memories[i].pages)
            check_memory(run, &run->memories[i]);
    check_result(run);
    check_given(run);
    check_error(run);
}

static bool is_new_pointer(const struct run *run, const unsigned char *bytes, size_t at)
{
    uint64_t value;

    memcpy(&value, bytes + at / 8 * 8, 8);
    return !memory_of(run, value) && is_foreign_address(value);
}

// What is always written is the same, whatever was there, or the address of something new.
static bool is_set(const struct run *runs, uint32_t index, size_t at)
{
    const struct memory *a = &runs[0].memories[index], *b = &runs[1].memories[index];

    if (runs[0].test->varies)
        return a->before[at] != a->after[at] || b->before[at] != b->after[at];
    return a->after[at] == b->after[at] ||
           (is_new_pointer(&runs[0], a->after, at) && is_new_pointer(&runs[1], b->after, at));
}

static void check_sets(const struct run *runs)
{
    for (uint32_t i = 0; i < runs->effects->count; i++) {
        const struct effect *effect = &runs->effects->list[i];
        for (uint32_t k = 0; effect->kind == EFFECT_SETS && k < MOST_MEMORIES; k++) {
            const struct memory *memory = &runs->memories[k];
            if (!memory->pages || !is_place_of(effect->to, memory))
                continue;
            size_t bytes = extent_bytes(runs, effect->extent, memory->after, memory->size,
                                        name_is_wide(runs->name));
            for (size_t at = 0; at < bytes && at < memory->size; at++)
                if (!is_set(runs, k, at)) {
                    COMPLAIN(runs, "byte %zu of argument %u is not always set", at, memory->owner);
                    break;
                }
        }
    }
}

static uint64_t comparable(const struct run *run, uint64_t value)
{
    const struct memory *memory = memory_of(run, value);

    if (memory)
        return (uint64_t)(memory - run->memories) << 32 | (value - (uintptr_t)memory->at);
    return is_foreign_address(value) ? 1 : value;
}

// Bytes that only were open to be written do not change what comes out.
static void check_same(const struct run *a, const struct run *b)
{
    for (uint32_t k = 0; k < MOST_MEMORIES; k++)
        for (uint32_t i = 0; a->memories[k].pages && i < a->effects->count; i++)
            if (reads_memory(&a->effects->list[i], &a->memories[k]) &&
                memcmp(a->memories[k].before, b->memories[k].before, a->memories[k].size) != 0 &&
                a->test->arguments[k].kind == A_MEMORY)
                return;
    if (!gives_nothing(a->name) && comparable(a, a->result) != comparable(b, b->result))
        COMPLAIN(a, "the result depends on what the table says is not read");
}

static void run_case(const char *name, const struct library_case *test, library_function *function)
{
    static struct run runs[2];
    bool returned = true;

    memset(runs, 0, sizeof(runs));
    for (int i = 0; i < 2; i++) {
        runs[i].name = name;
        runs[i].test = test;
        runs[i].effects = effects_find(name);
        if (!runs[i].effects) {
            COMPLAIN(&runs[i], "not in the table");
            return;
        }
        returned &= run_once(&runs[i], function, i ? 0xaa : 0x55);
        if (returned)
            check_run(&runs[i]);
        release(&runs[i]);
    }
    if (returned) {
        check_sets(runs);
        if (!test->varies)
            check_same(&runs[0], &runs[1]);
    }
}

// ---- Callbacks

static void keep_given(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    if (current->given_count < 64) {
        uint64_t *to = current->given[current->given_count++];
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
    }
}

#endif
