// SPDX-License-Identifier: Apache-2.0
/*
 * The notes of a Linux core, x86-64. Layouts: Linux, include/uapi/linux/elfcore.h (elf_prstatus,
 * elf_prpsinfo), arch/x86/include/asm/user_64.h (user_regs_struct), fs/binfmt_elf.c
 * (fill_files_note). Offsets are written out, since the reader need not run on x86-64.
 */
#include <elf.h>
#include <signal.h>
#include <string.h>

#include "common/error.h"
#include "evidence/core/core_internal.h"

#ifndef NT_SIGINFO
#define NT_SIGINFO 0x53494749
#endif
#ifndef NT_FILE
#define NT_FILE 0x46494c45
#endif

enum {
    PRSTATUS_SIZE = 336,
    PRSTATUS_SIGNAL = 12,
    PRSTATUS_TID = 32,
    PRSTATUS_REGISTERS = 112,
    PRPSINFO_SIZE = 136,
    PRPSINFO_PID = 24,
    PRPSINFO_NAME = 40,
    PRPSINFO_NAME_SIZE = 16,
    PRPSINFO_COMMAND = 56,
    PRPSINFO_COMMAND_SIZE = 80,
    SIGINFO_NUMBER = 0,
    SIGINFO_CODE = 8,
    SIGINFO_FIELDS = 16,
    REGISTER_FS_BASE = 21,
};

/* Where user_regs_struct has the register of each DWARF number. */
static const unsigned char core_register_place[CORE_REGISTERS] = {
    [CORE_RAX] = 10, [CORE_RDX] = 12, [CORE_RCX] = 11, [CORE_RBX] = 5, [CORE_RSI] = 13,
    [CORE_RDI] = 14, [CORE_RBP] = 4,  [CORE_RSP] = 19, [CORE_R8] = 9,  [CORE_R9] = 8,
    [CORE_R10] = 7,  [CORE_R11] = 6,  [CORE_R12] = 3,  [CORE_R13] = 2, [CORE_R14] = 1,
    [CORE_R15] = 0,  [CORE_RIP] = 16,
};

struct core_note {
    uint32_t type;
    const unsigned char *data;
    uint64_t size;
    uint64_t offset; // in the file, for messages
};

static uint16_t core_get16(const unsigned char *data)
{
    return (uint16_t)(data[0] | data[1] << 8);
}

static uint32_t core_get32(const unsigned char *data)
{
    return core_get16(data) | (uint32_t)core_get16(data + 2) << 16;
}

static uint64_t core_get64(const unsigned char *data)
{
    return core_get32(data) | (uint64_t)core_get32(data + 4) << 32;
}

static struct error *core_bad_note(const struct core *core, uint64_t offset, const char *what)
{
    return error_create_at_offset(ERROR_FORMAT, core->path, offset, "malformed %s in the core",
                                  what);
}

static struct error *core_read_prstatus(struct core *core, const struct core_note *note)
{
    if (note->size < PRSTATUS_SIZE)
        return core_bad_note(core, note->offset, "thread status (NT_PRSTATUS)");
    struct core_thread thread = {
        .tid = core_get32(note->data + PRSTATUS_TID),
        .signal = core_get16(note->data + PRSTATUS_SIGNAL),
    };
    const unsigned char *registers = note->data + PRSTATUS_REGISTERS;
    for (size_t i = 0; i < CORE_REGISTERS; i++)
        thread.registers[i] = core_get64(registers + 8u * core_register_place[i]);
    thread.fs_base = core_get64(registers + 8 * REGISTER_FS_BASE);
    core_thread_vec_push(&core->threads, thread);
    return NULL;
}

static struct error *core_read_prpsinfo(struct core *core, const struct core_note *note)
{
    if (note->size < PRPSINFO_SIZE)
        return core_bad_note(core, note->offset, "process information (NT_PRPSINFO)");
    core->pid = core_get32(note->data + PRPSINFO_PID);
    memcpy(core->program_name, note->data + PRPSINFO_NAME, PRPSINFO_NAME_SIZE);
    memcpy(core->command_line, note->data + PRPSINFO_COMMAND, PRPSINFO_COMMAND_SIZE);
    for (size_t i = strlen(core->command_line); i > 0 && core->command_line[i - 1] == ' '; i--)
        core->command_line[i - 1] = '\0'; // the kernel ends every argument with a blank
    return NULL;
}

static bool core_is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE ||
           number == SIGTRAP;
}

static struct error *core_read_siginfo(struct core *core, const struct core_note *note)
{
    if (core->signal.has_details)
        return NULL; // gcore writes one a thread; the first is that of the failed thread
    if (note->size < SIGINFO_FIELDS + 8)
        return core_bad_note(core, note->offset, "signal information (NT_SIGINFO)");
    struct core_signal *signal = &core->signal;
    signal->has_details = true;
    signal->number = (int)core_get32(note->data + SIGINFO_NUMBER);
    signal->code = (int)core_get32(note->data + SIGINFO_CODE);
    // SI_KERNEL, as for a non-canonical address, comes without any.
    signal->has_address =
        core_is_fault(signal->number) && signal->code > 0 && signal->code != SI_KERNEL;
    signal->address = signal->has_address ? core_get64(note->data + SIGINFO_FIELDS) : 0;
    signal->has_sender =
        signal->code == SI_USER || signal->code == SI_TKILL || signal->code == SI_QUEUE;
    signal->sender = signal->has_sender ? core_get32(note->data + SIGINFO_FIELDS) : 0;
    return NULL;
}

static struct error *core_read_auxv(struct core *core, const struct core_note *note)
{
    for (uint64_t at = 0; at + 16 <= note->size; at += 16) {
        uint64_t type = core_get64(note->data + at);
        if (type == AT_NULL)
            break;
        core_auxv_vec_push(&core->auxv,
                           (struct core_auxv_entry){type, core_get64(note->data + at + 8)});
    }
    return NULL;
}

/* count, page size, count * (start, end, page offset), count names. */
static struct error *core_read_files(struct core *core, const struct core_note *note)
{
    const char *what = "list of mapped files (NT_FILE)";
    if (note->size < 16)
        return core_bad_note(core, note->offset, what);
    uint64_t count = core_get64(note->data);
    uint64_t page = core_get64(note->data + 8);
    if (count > (note->size - 16) / 24)
        return core_bad_note(core, note->offset, what);
    const char *name = (const char *)note->data + 16 + count * 24;
    uint64_t left = note->size - 16 - count * 24;
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *entry = note->data + 16 + i * 24;
        size_t length = strnlen(name, left);
        if (length == left)
            return core_bad_note(core, note->offset, what);
        struct core_mapping mapping = {
            .start = core_get64(entry),
            .end = core_get64(entry + 8),
            .path = arena_strdup(&core->arena, name),
        };
        name += length + 1;
        left -= length + 1;
        if (mapping.start >= mapping.end ||
            __builtin_mul_overflow(core_get64(entry + 16), page, &mapping.offset))
            return core_bad_note(core, note->offset, what);
        core_mapping_vec_push(&core->mappings, mapping);
    }
    return NULL;
}

static struct error *core_read_note(struct core *core, const struct core_note *note)
{
    switch (note->type) {
    case NT_PRSTATUS:
        return core_read_prstatus(core, note);
    case NT_PRPSINFO:
        return core_read_prpsinfo(core, note);
    case NT_SIGINFO:
        return core_read_siginfo(core, note);
    case NT_AUXV:
        return core->auxv.length ? NULL : core_read_auxv(core, note);
    case NT_FILE:
        return core->mappings.length ? NULL : core_read_files(core, note);
    default:
        return NULL; // NT_FPREGSET and others hold nothing that control flow needs
    }
}

struct error *core_read_notes(struct core *core, uint64_t offset, uint64_t size)
{
    const unsigned char *data = core->data + offset;
    uint64_t at = 0;
    while (size - at >= sizeof(Elf64_Nhdr)) {
        uint64_t name_size = core_get32(data + at);
        struct core_note note = {.size = core_get32(data + at + 4),
                                 .type = core_get32(data + at + 8),
                                 .offset = offset + at};
        uint64_t name = at + sizeof(Elf64_Nhdr);
        uint64_t description = name + ((name_size + 3) & ~UINT64_C(3));
        if (description > size || note.size > size - description)
            return core_bad_note(core, note.offset, "note");
        note.data = data + description;
        bool is_core = name_size >= 4 && name_size <= 5 && memcmp(data + name, "CORE", 4) == 0;
        struct error *err = is_core ? core_read_note(core, &note) : NULL;
        if (err)
            return err;
        uint64_t next = description + ((note.size + 3) & ~UINT64_C(3));
        at = next < size ? next : size;
    }
    return NULL;
}
