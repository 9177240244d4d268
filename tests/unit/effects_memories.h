// SPDX-License-Identifier: Apache-2.0
/*
 * The arguments of a call of the C library (effects_harness.h), as memory: each argument that
 * points somewhere points to memory of its own, whose end lies against a page that cannot be
 * touched, and which allows as much as the table's effects need.
 */
#ifndef TESTS_UNIT_EFFECTS_MEMORIES_H
#define TESTS_UNIT_EFFECTS_MEMORIES_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/effects.h"

enum argument_kind {
    A_NONE,
    A_NUMBER,
    A_MEMORY,   // `data` first, then open bytes, up to `size`
    A_POINTER,  // 8 bytes: the address of memory `number`
    A_LIST,     // the addresses of memories `number` on, `size` of them, and NULL
    A_FUNCTION, // a callback, which keeps what it is given
    A_STREAM,   // a FILE of a file with some lines, open for both
    A_FILE,     // a descriptor of such a file
};

struct argument {
    uint8_t kind;
    int64_t number;
    const char *data;
    size_t length, size;
};

#define NUM(n)        {.kind = A_NUMBER, .number = (int64_t)(n)}
#define NUL           NUM(0)
#define TEXT(s)       {.kind = A_MEMORY, .data = s, .length = sizeof(s), .size = sizeof(s)}
#define WIDE(s)       {.kind = A_MEMORY, .data = (const char *)s, .length = sizeof(s), .size = sizeof(s)}
#define DATA(s, n)    {.kind = A_MEMORY, .data = s, .length = n, .size = n}
#define ROOM(s, n)    {.kind = A_MEMORY, .data = s, .length = sizeof(s), .size = n}
#define OUT(n)        {.kind = A_MEMORY, .size = n}
#define POINTS(i)     {.kind = A_POINTER, .number = i, .size = 8}
#define LIST(i, n)    {.kind = A_LIST, .number = i, .size = n}
#define BACK(f)       {.kind = A_FUNCTION, .number = (int64_t)(uintptr_t)(f)}
#define A_FILE_STREAM {.kind = A_STREAM}
#define A_FILE_NUMBER {.kind = A_FILE}

#define MOST_ARGUMENTS 8 // of a call; further memories stand behind them
#define MOST_MEMORIES  12

struct library_case {
    const char *names; // of functions that take the same
    struct argument arguments[MOST_MEMORIES];
    bool varies; // clocks, random numbers: what comes out differs from call to call
};

struct memory {
    unsigned char *pages, *at; // at: what the argument points to
    size_t page_bytes, size;   // size: what is there
    unsigned char before[4096], after[4096];
    uint8_t owner; // the argument it is reached from
    bool is_second;
};

struct run {
    const char *name;
    const struct library_case *test;
    const struct effects *effects;
    struct memory memories[MOST_MEMORIES];
    uint64_t values[MOST_ARGUMENTS];
    uint64_t result;
    int error;
    FILE *stream;
    int file;
    uint64_t given[64][4]; // what callbacks got
    uint32_t given_count;
};

static struct run *current;
static sigjmp_buf fault;
static uint32_t failures;

#define COMPLAIN(run, ...)                                                                         \
    do {                                                                                           \
        failures++;                                                                                \
        fprintf(stderr, "%s: ", (run)->name);                                                      \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
    } while (0)

static void on_fault(int number)
{
    (void)number;
    siglongjmp(fault, 1);
}

// ---- What the table says of a memory

static bool is_place_of(struct effect_place place, const struct memory *memory)
{
    if (place.index != memory->owner)
        return false;
    if (place.kind == EFFECT_REACHABLE)
        return true;
    return place.kind == (memory->is_second ? EFFECT_POINTEE_POINTEE : EFFECT_POINTEE);
}

static bool is_variadic_place_of(struct effect_place place, const struct memory *memory)
{
    return place.kind == EFFECT_VARIADIC_POINTEE && place.index <= memory->owner &&
           !memory->is_second;
}

// The bytes of an extent, in memory that holds those bytes; SIZE_MAX: any.
static size_t extent_bytes(const struct run *run, struct effect_extent extent,
                           const unsigned char *bytes, size_t size, bool is_wide)
{
    size_t step = is_wide ? 4 : 1;

    switch (extent.kind) {
    case EFFECT_BYTES:
        return extent.length;
    case EFFECT_TIMES:
        return run->values[extent.length] *
               (extent.other == EFFECT_NO_ARGUMENT ? 1 : run->values[extent.other]);
    case EFFECT_SCALED:
        return run->values[extent.length] * extent.other;
    case EFFECT_STRING:
        for (size_t i = 0; i + step <= size; i += step)
            if (memcmp(bytes + i, "\0\0\0", step) == 0)
                return i + step;
        return SIZE_MAX;
    default:
        return SIZE_MAX;
    }
}

static bool name_is_wide(const char *name)
{
    static const char *const wide[] = {"wcs",   "wcp",    "wmem",    "__wcs",
                                       "__wcp", "__wmem", "swprintf"};

    if (strcmp(name, "mbsrtowcs") == 0 || strcmp(name, "mbstowcs") == 0)
        return false;
    for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
        if (strncmp(name, wide[i], strlen(wide[i])) == 0)
            return true;
    return false;
}

// What is in the register of the result then means nothing.
static bool gives_nothing(const char *name)
{
    static const char names[] =
        " bcopy bzero explicit_bzero __explicit_bzero_chk __fpurge rewind clearerr flockfile"
        " funlockfile setlinebuf swab insque remque argz_stringify sincos arc4random_buf qsort"
        " qsort_r ";
    char pattern[80];

    snprintf(pattern, sizeof(pattern), " %s ", name);
    return strstr(names, pattern) != NULL;
}

static bool reads_memory(const struct effect *effect, const struct memory *memory)
{
    return (effect->kind == EFFECT_READ || effect->kind == EFFECT_COPY) &&
           (is_place_of(effect->from, memory) || is_variadic_place_of(effect->from, memory));
}

static bool writes_memory(const struct effect *effect, const struct memory *memory)
{
    bool writes = effect->kind == EFFECT_WRITE || effect->kind == EFFECT_SETS ||
                  effect->kind == EFFECT_COPY || effect->kind == EFFECT_ALLOCATES;

    return writes && (is_place_of(effect->to, memory) || is_variadic_place_of(effect->to, memory));
}

// ---- Memory

// The protection and the size that the table's effects need, no more.
static void allowance(const struct run *run, const struct memory *memory, size_t *size,
                      int *protection)
{
    size_t most = 0;

    *protection = PROT_NONE;
    for (uint32_t i = 0; i < MOST_ARGUMENTS; i++)
        if (run->test->arguments[i].kind == A_FUNCTION && memory->is_second) {
            *protection = PROT_READ; // by the callback
            most = memory->size;
        }
    for (uint32_t i = 0; i < run->effects->count; i++) {
        const struct effect *effect = &run->effects->list[i];
        bool reads = reads_memory(effect, memory), writes = writes_memory(effect, memory);
        if (!reads && !writes)
            continue;
        *protection |= PROT_READ | (writes ? PROT_WRITE : 0);
        // What a written string will be is not known yet; ALLOCATES writes a pointer.
        size_t bytes = effect->kind == EFFECT_ALLOCATES ? 8
                       : writes && effect->extent.kind == EFFECT_STRING
                           ? SIZE_MAX
                           : extent_bytes(run, effect->extent, memory->before, memory->size,
                                          name_is_wide(run->name));
        most = bytes > most ? bytes : most;
    }
    *size = most < memory->size ? most : memory->size;
}

static void place_memory(struct run *run, struct memory *memory)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size;
    int protection;

    allowance(run, memory, &size, &protection);
    memory->size = size;
    memcpy(memory->at, memory->before, size);
    // Moved so that what is there ends at the page that is not.
    memmove(memory->pages + memory->page_bytes - size, memory->at, size);
    memory->at = memory->pages + memory->page_bytes - size;
    assert_int_equal(mprotect(memory->pages, memory->page_bytes, protection), 0);
    assert_int_equal(mprotect(memory->pages + memory->page_bytes, page, PROT_NONE), 0);
}

// Always at the same address, so that pointers are equal from run to run.
static void create_memory(struct memory *memory, uint32_t index, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *wanted = (void *)(uintptr_t)(0x200000000000 + index * 0x10000000);

    assert_true(size <= sizeof(memory->before));
    memory->size = size;
    memory->page_bytes = 2 * page;
    memory->pages = mmap(wanted, memory->page_bytes + page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(memory->pages, wanted);
    memory->at = memory->pages;
}

static bool is_read(const struct run *run, const struct memory *memory)
{
    for (uint32_t i = 0; i < run->effects->count; i++)
        if (reads_memory(&run->effects->list[i], memory))
            return true;
    for (uint32_t i = 0; i < MOST_ARGUMENTS; i++)
        if (run->test->arguments[i].kind == A_FUNCTION) // callbacks may
            return true;
    return false;
}

static void fill_memory(struct run *run, uint32_t index, unsigned char open)
{
    const struct argument *argument = &run->test->arguments[index];
    struct memory *memory = &run->memories[index];

    // What is not read may be anything.
    memset(memory->before, open, sizeof(memory->before));
    if (argument->kind == A_MEMORY && argument->length && is_read(run, memory))
        memcpy(memory->before, argument->data, argument->length);
}

// Addresses are known once all others have their place.
static void fill_pointers(struct run *run, uint32_t index)
{
    const struct argument *argument = &run->test->arguments[index];
    struct memory *memory = &run->memories[index];
    size_t count = argument->kind == A_LIST ? argument->size : 1;

    memset(memory->before, 0, sizeof(memory->before));
    for (size_t i = 0; i < count; i++)
        memcpy(memory->before + 8 * i, &run->memories[argument->number + (int64_t)i].at, 8);
}

static bool is_memory(const struct argument *argument)
{
    return argument->kind == A_MEMORY || argument->kind == A_POINTER || argument->kind == A_LIST;
}

static void set_owner(struct run *run, uint32_t index, uint32_t owner, bool is_second)
{
    run->memories[index].owner = (uint8_t)owner;
    run->memories[index].is_second = is_second;
}

// Which argument each memory is reached from.
static void set_owners(struct run *run)
{
    for (uint32_t i = 0; i < MOST_ARGUMENTS; i++)
        set_owner(run, i, i, false);
    for (uint32_t i = 0; i < MOST_MEMORIES; i++) {
        const struct argument *argument = &run->test->arguments[i];
        size_t count = argument->kind == A_LIST ? argument->size : argument->kind == A_POINTER;
        for (size_t k = 0; k < count; k++)
            set_owner(run, (uint32_t)argument->number + (uint32_t)k, i, true);
    }
}

static void prepare(struct run *run, unsigned char open)
{
    set_owners(run);
    for (int pass = 0; pass < 2; pass++) // pointers last
        for (uint32_t i = 0; i < MOST_MEMORIES; i++) {
            const struct argument *argument = &run->test->arguments[i];
            if (!is_memory(argument) || (argument->kind != A_MEMORY) != pass)
                continue;
            size_t count = argument->kind == A_LIST ? argument->size + 1 : 1;
            create_memory(&run->memories[i], i, pass ? 8 * count : argument->size);
            if (pass)
                fill_pointers(run, i);
            else
                fill_memory(run, i, open);
            place_memory(run, &run->memories[i]);
        }
}

static void prepare_values(struct run *run)
{
    for (uint32_t i = 0; i < MOST_ARGUMENTS; i++) {
        const struct argument *argument = &run->test->arguments[i];
        if (argument->kind == A_NUMBER || argument->kind == A_FUNCTION)
            run->values[i] = (uint64_t)argument->number;
        if (argument->kind != A_STREAM && argument->kind != A_FILE)
            continue;
        static const char lines[] = "12 first line\nsecond\n\nthe last";
        run->stream = tmpfile();
        assert_non_null(run->stream);
        assert_int_equal(fwrite(lines, 1, sizeof(lines) - 1, run->stream), sizeof(lines) - 1);
        rewind(run->stream);
        run->values[i] = argument->kind == A_STREAM ? (uint64_t)(uintptr_t)run->stream
                                                    : (uint64_t)fileno(run->stream);
    }
}

static void release(struct run *run)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (uint32_t i = 0; i < MOST_MEMORIES; i++)
        if (run->memories[i].pages)
            munmap(run->memories[i].pages, run->memories[i].page_bytes + page);
    if (run->stream)
        fclose(run->stream);
}

#endif
