// SPDX-License-Identifier: Apache-2.0
/*
 * What a tracing build calls (dep_plugin.cc, truth-dep). Appends to the file $TRUTH_LOG, which is
 * mapped shared, so that nothing is lost however the process ends (dep_trace.h). Compiled without
 * any instrumentation. One thread is traced; that there were others is noted.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dep_runtime.h"

#define CAPACITY (24ull << 20)

// In a page of its own that a forked child finds empty: only the first process is traced.
struct state {
    struct dep_header *header;
    int closed;
};

static struct state *state;
static __thread uint64_t thread_id;

static void open_trace(void)
{
    const char *name = getenv("TRUTH_LOG");
    size_t size = sizeof(struct dep_header) + CAPACITY * sizeof(struct dep_record);
    int file = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    state->closed = 1;
    if (file < 0 || ftruncate(file, (off_t)size) != 0)
        return;
    struct dep_header *header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (header == MAP_FAILED || header->magic == DEP_MAGIC)
        return; // a child of the process that is traced
    header->magic = DEP_MAGIC;
    header->capacity = CAPACITY;
    header->thread = (uint64_t)syscall(SYS_gettid);
    state->header = header;
    state->closed = 0;
}

// NULL: this is not traced.
static struct dep_header *trace_header(void)
{
    if (!state) {
        struct state *page =
            mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED)
            _exit(120);
        madvise(page, 4096, MADV_WIPEONFORK);
        state = page;
    }
    if (!state->header && !state->closed)
        open_trace();
    if (state->closed)
        return NULL;
    if (!thread_id)
        thread_id = (uint64_t)syscall(SYS_gettid);
    if (thread_id != state->header->thread) {
        state->header->threads = 1;
        return NULL;
    }
    return state->header;
}

static struct dep_record *reserve(struct dep_header *header, uint64_t count)
{
    uint64_t at = __atomic_fetch_add(&header->length, count, __ATOMIC_RELAXED);

    return at + count <= header->capacity ? (struct dep_record *)(header + 1) + at : NULL;
}

static struct dep_record make(enum dep_kind kind, uint32_t at, uint32_t extra, uint64_t value)
{
    return (struct dep_record){(uint32_t)kind << DEP_AT_BITS | at, extra, value};
}

void dep_log(enum dep_kind kind, uint32_t at, uint32_t extra, uint64_t value)
{
    struct dep_header *header = trace_header();
    struct dep_record *record = header ? reserve(header, 1) : NULL;

    if (record)
        *record = make(kind, at, extra, value);
}

// ---------------------------------------------------------------- who is called

#define CALLEES (1u << 17)

// By address: functions of the program, and what was looked up of others.
struct callee {
    uint64_t address;
    const struct dep_effects *effects;
    int ours;
};

static struct callee callees[CALLEES];

static struct callee *find_callee(uint64_t address, int *is_new)
{
    uint32_t at = (uint32_t)(address * 0x9e3779b97f4a7c15ull >> 40) % CALLEES;

    while (callees[at].address && callees[at].address != address)
        at = (at + 1) % CALLEES;
    *is_new = callees[at].address == 0;
    callees[at].address = address;
    return &callees[at];
}

static const struct callee *look_up(void *address, const char *name)
{
    int is_new;
    struct callee *callee = find_callee((uint64_t)address, &is_new);
    Dl_info info;

    if (!is_new || !address)
        return callee;
    if (!name && dladdr(address, &info) && info.dli_saddr == address)
        name = info.dli_sname;
    callee->effects = name ? dep_find_effects(name) : NULL;
    return callee;
}

// ---------------------------------------------------------------- what the program calls

uint32_t __dep_enter(uint32_t module, uint32_t function);
void __dep_node(uint32_t activation, uint32_t node);
void __dep_leave(uint32_t activation);
void __dep_call(uint32_t insn, void *callee, const char *name, uint32_t count,
                const uint64_t *arguments);
void __dep_returned(uint32_t insn, void *callee, uint32_t count, const uint64_t *arguments,
                    uint64_t result);
void __dep_access(uint32_t insn, uint32_t kinds, uint64_t address, uint64_t length);
void __dep_copy(uint32_t insn, uint64_t to, uint64_t from, uint64_t length);
void __dep_allocate(uint32_t insn, uint64_t address, uint64_t size);
void __dep_mark(uint32_t insn);
void __dep_param(uint32_t number, uint32_t at_call, uint64_t address, uint64_t size);
void __dep_variadic(uint32_t insn, const void *list);
void __dep_clobber(uint32_t insn, uint64_t address);
void __dep_address(uint32_t kind, uint32_t module, uint32_t index, uint64_t address);

uint32_t __dep_enter(uint32_t module, uint32_t function)
{
    struct dep_header *header = trace_header();

    if (!header)
        return 0;
    uint32_t activation = (uint32_t)__atomic_add_fetch(&header->activations, 1, __ATOMIC_RELAXED);
    dep_log(DEP_ENTER, module, activation, function);
    return activation;
}

void __dep_node(uint32_t activation, uint32_t node)
{
    dep_log(DEP_NODE, node, activation, 0);
}

void __dep_leave(uint32_t activation)
{
    dep_log(DEP_LEAVE, 0, activation, 0);
}

// A function without known effects may have written to what it was given.
static void clobber(uint32_t insn, uint32_t count, const uint64_t *arguments)
{
    for (uint32_t i = 0; i < count; i++)
        if (arguments[i] >= 4096)
            dep_log(DEP_CLOBBER, insn, 0, arguments[i]);
}

void __dep_call(uint32_t insn, void *address, const char *name, uint32_t count,
                const uint64_t *arguments)
{
    int error = errno;
    const struct callee *callee = look_up(address, name);

    dep_log(DEP_CALL, insn, callee->effects != NULL, (uint64_t)address);
    if (callee->effects)
        dep_before(callee->effects, &(struct dep_call){insn, count, arguments, 0});
    else if (!callee->ours)
        clobber(insn, count, arguments);
    errno = error;
}

void __dep_returned(uint32_t insn, void *address, uint32_t count, const uint64_t *arguments,
                    uint64_t result)
{
    int error = errno;
    const struct callee *callee = look_up(address, NULL);

    if (callee->effects)
        dep_after(callee->effects, &(struct dep_call){insn, count, arguments, result});
    else if (!callee->ours)
        clobber(insn, count, arguments);
    errno = error;
}

void __dep_access(uint32_t insn, uint32_t kinds, uint64_t address, uint64_t length)
{
    if (kinds & 1)
        dep_log(DEP_READ, insn, (uint32_t)length, address);
    if (kinds & 2)
        dep_log(DEP_WRITE, insn, (uint32_t)length, address);
}

void __dep_copy(uint32_t insn, uint64_t to, uint64_t from, uint64_t length)
{
    struct dep_header *header = trace_header();
    struct dep_record *record = header ? reserve(header, 2) : NULL;

    if (record) {
        record[0] = make(DEP_COPY, insn, (uint32_t)length, to);
        record[1] = make(DEP_MORE, insn, 0, from);
    }
}

void __dep_allocate(uint32_t insn, uint64_t address, uint64_t size)
{
    dep_log(DEP_ALLOCATE, insn, (uint32_t)size, address);
}

void __dep_mark(uint32_t insn)
{
    dep_log(DEP_MARK, insn, 0, 0);
}

void __dep_param(uint32_t number, uint32_t at_call, uint64_t address, uint64_t size)
{
    dep_log(at_call ? DEP_PASS : DEP_PARAM, number, (uint32_t)size, address);
}

// The list as the ABI lays it out.
struct argument_list {
    uint32_t gp_offset, fp_offset;
    uint64_t overflow_arg_area, reg_save_area;
};

void __dep_variadic(uint32_t insn, const void *pointer)
{
    const struct argument_list *list = pointer;
    struct dep_header *header = trace_header();

    dep_log(DEP_WRITE, insn, sizeof(*list), (uint64_t)pointer);
    struct dep_record *record = header ? reserve(header, 2) : NULL;
    if (record) {
        record[0] =
            make(DEP_VARIADIC, insn, list->gp_offset | list->fp_offset << 16, list->reg_save_area);
        record[1] = make(DEP_MORE, insn, 0, list->overflow_arg_area);
    }
}

void __dep_clobber(uint32_t insn, uint64_t address)
{
    dep_log(DEP_CLOBBER, insn, 0, address);
}

void __dep_address(uint32_t kind, uint32_t module, uint32_t index, uint64_t address)
{
    int is_new;

    if (kind == 0)
        find_callee(address, &is_new)->ours = 1;
    dep_log(kind == 0 ? DEP_FUNCTION : DEP_GLOBAL, index, module, address);
}
