// SPDX-License-Identifier: Apache-2.0
/*
 * A core dump as the kernel (or gcore, or `inquest run`) left it: threads with their registers, the
 * signal, the mapped files and the memory that was dumped. No knowledge of executables, debug
 * information or models; modules.h joins a core with its ELF files.
 *
 *     struct core *core;
 *     struct error *err = core_open("core", &core);
 *     if (err)
 *             return err;
 *     const struct core_thread *crashed = core_thread_at(core, 0);
 *     size_t got = core_read(core, address, buffer, size);      // got < size: the rest is absent
 *     core_destroy(core);
 *
 * ELF64 x86-64 cores only, plain or zstd-compressed. A core whose file ends before the last byte
 * that its program headers promise is ERROR_FORMAT, "truncated core: N of M bytes are missing", and
 * nothing of it is given: what is missing may be what would contradict the rest.
 *
 * All bytes are untrusted. Everything handed out lives as long as the core.
 */
#ifndef INQUEST_EVIDENCE_CORE_CORE_H
#define INQUEST_EVIDENCE_CORE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core;
struct error;

// Registers by their DWARF numbers (x86-64 psABI, figure 3.36).
enum core_register {
    CORE_RAX = 0,
    CORE_RDX = 1,
    CORE_RCX = 2,
    CORE_RBX = 3,
    CORE_RSI = 4,
    CORE_RDI = 5,
    CORE_RBP = 6,
    CORE_RSP = 7,
    CORE_R8 = 8,
    CORE_R9 = 9,
    CORE_R10 = 10,
    CORE_R11 = 11,
    CORE_R12 = 12,
    CORE_R13 = 13,
    CORE_R14 = 14,
    CORE_R15 = 15,
    CORE_RIP = 16,
};
#define CORE_REGISTERS 17u

struct core_thread {
    uint32_t tid;
    int signal; // what the thread was stopped by, or 0
    uint64_t registers[CORE_REGISTERS];
    uint64_t fs_base; // the thread pointer
};

struct core_signal {
    int number;       // 0: no signal (a core of a live process)
    bool has_details; // the core has a siginfo: code, and what below is said to be there
    int code;         // si_code
    bool has_address; // number is SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGTRAP sent by the kernel
    uint64_t address; // si_addr
    bool has_sender;  // sent by kill(), tgkill(), sigqueue(): by a process, not a fault
    uint32_t sender;  // si_pid
};

// A file-backed mapping (NT_FILE), in order of address.
struct core_mapping {
    uint64_t start, end;
    uint64_t offset; // in the file, in bytes
    const char *path;
};

// A piece of the address space (PT_LOAD), in order of address. Bytes from dumped on are absent.
struct core_segment {
    uint64_t start, end;
    uint64_t dumped; // how many bytes from start on are in the core
    uint64_t offset; // where they are in the core
    bool readable, writable, executable;
};

struct error *core_open(const char *path, struct core **ret);
/* The same from memory that outlives the core; name stands in messages. */
struct error *core_open_memory(const void *data, size_t size, const char *name, struct core **ret);
/* NULL is fine. */
void core_destroy(struct core *core);

const char *core_path(const struct core *core);

/* The thread that failed is number 0. There is at least one. */
size_t core_thread_count(const struct core *core);
const struct core_thread *core_thread_at(const struct core *core, size_t index);

const struct core_signal *core_signal(const struct core *core);
uint32_t core_pid(const struct core *core);
/* Of the process, at most 15 and 79 bytes as the kernel cuts them; "" where unknown. */
const char *core_program_name(const struct core *core);
const char *core_command_line(const struct core *core);

size_t core_mapping_count(const struct core *core);
const struct core_mapping *core_mapping_at(const struct core *core, size_t index);

size_t core_segment_count(const struct core *core);
const struct core_segment *core_segment_at(const struct core *core, size_t index);
/* The segment that holds address, dumped or not; NULL when none does. */
const struct core_segment *core_segment_of(const struct core *core, uint64_t address);

/* An entry of the auxiliary vector (AT_PHDR and the like of <elf.h>). */
bool core_auxv(const struct core *core, uint64_t type, uint64_t *ret);

/*
 * Copies what the core holds from address on; the number of bytes copied. Fewer than size: the byte
 * at address + result is absent (not mapped, or not dumped). Never zero-filled, never guessed.
 */
size_t core_read(const struct core *core, uint64_t address, void *buffer, size_t size);

/*
 * Whether the kernel was asked to dump private memory that was written to (bit 0 of
 * coredump_filter; the default). Told by writable memory that no file backs being in the core.
 */
bool core_has_private_memory(const struct core *core);

#endif
