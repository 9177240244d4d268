// SPDX-License-Identifier: Apache-2.0
/*
 * What a logging build calls (log_plugin.cc, truth-log). Appends to the file $TRUTH_LOG, which is
 * mapped shared, so that nothing is lost however the process ends. Compiled without any
 * instrumentation. No stdio, no locks; any thread, any signal handler.
 *
 * The file: struct header, then records of two 32-bit words.
 *
 *     thread id,  LOG_THREAD                 right before each LOG_ENTER
 *     activation, LOG_ENTER | function       function: module number << 16 | index
 *     activation, LOG_NODE  | node           the node begins
 *     activation, LOG_CALL  | node           its call is about to be made
 *     activation, LOG_LEAVE                  returns, or its unwinding is resumed
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_NODE   0x00000000u
#define LOG_CALL   0x20000000u
#define LOG_ENTER  0x40000000u
#define LOG_LEAVE  0x60000000u
#define LOG_THREAD 0x80000000u

struct header {
    uint64_t magic;
    uint64_t length;   // records, also those that found no room
    uint64_t capacity; // records
    uint64_t activations;
};

#define MAGIC    0x31676f6c68747274ull
#define CAPACITY (48ull << 20)

struct record {
    uint32_t subject, event;
};

// In a page of its own that a forked child finds empty: only the first process logs.
struct state {
    struct header *header;
    int closed;
};

static struct state *state;
static __thread uint32_t thread_id;

static void open_log(void)
{
    const char *name = getenv("TRUTH_LOG");
    size_t size = sizeof(struct header) + CAPACITY * sizeof(struct record);
    int file = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    state->closed = 1;
    if (file < 0 || ftruncate(file, (off_t)size) != 0)
        return;
    struct header *header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (header == MAP_FAILED || header->magic == MAGIC)
        return; // a child of the process that logs
    header->magic = MAGIC;
    header->capacity = CAPACITY;
    state->header = header;
    state->closed = 0;
}

static struct header *log_header(void)
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
        open_log();
    return state->closed ? NULL : state->header;
}

static struct record *reserve(struct header *header, uint64_t count)
{
    uint64_t at = __atomic_fetch_add(&header->length, count, __ATOMIC_RELAXED);

    return at + count <= header->capacity ? (struct record *)(header + 1) + at : NULL;
}

static void append(uint32_t subject, uint32_t event)
{
    struct header *header = log_header();
    struct record *record = header ? reserve(header, 1) : NULL;

    if (record)
        *record = (struct record){subject, event};
}

uint32_t __truth_enter(uint32_t module, uint32_t function);
void __truth_node(uint32_t activation, uint32_t node);
void __truth_call(uint32_t activation, uint32_t node);
void __truth_leave(uint32_t activation);

uint32_t __truth_enter(uint32_t module, uint32_t function)
{
    struct header *header = log_header();

    if (!header)
        return 0;
    uint32_t activation = (uint32_t)__atomic_add_fetch(&header->activations, 1, __ATOMIC_RELAXED);
    struct record *record = reserve(header, 2);
    if (!thread_id)
        thread_id = (uint32_t)syscall(SYS_gettid);
    if (record) {
        record[0] = (struct record){thread_id, LOG_THREAD};
        record[1] = (struct record){activation, LOG_ENTER | module << 16 | function};
    }
    return activation;
}

void __truth_node(uint32_t activation, uint32_t node)
{
    append(activation, LOG_NODE | node);
}

void __truth_call(uint32_t activation, uint32_t node)
{
    append(activation, LOG_CALL | node);
}

void __truth_leave(uint32_t activation)
{
    append(activation, LOG_LEAVE);
}
