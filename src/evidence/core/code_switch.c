// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/code_switch.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/vec.h"
#include "evidence/core/machine.h"
#include "layout/frame.h"

enum {
    JUMP_LENGTH = 5,
    JUMP = 0xe9,
    BREAKPOINT = 0xcc,               // what linkers pad code with
    LONGEST_START = JUMP_LENGTH + 15 // instructions have 15 bytes at most
};
static const unsigned char endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};
static const unsigned char nothing[JUMP_LENGTH]; // saved of what is on

VEC_DEFINE(code_switch_vec, struct code_switch);

static void elf_cleanup(Elf **elf)
{
    elf_end(*elf);
}

/*
 * Does a jump fit in before other code begins? A function may be as short as a return, and another
 * may follow at once. Control that comes to a byte goes on in the function; where it has left, only
 * padding may be written over.
 */
static bool has_room(const unsigned char *code, size_t size)
{
    struct machine_code decoded = {0};
    size_t length = 0;
    bool left = false, fits = true;

    machine_decode(&decoded, code, size < LONGEST_START ? size : LONGEST_START, 0);
    for (uint32_t i = 0; i < decoded.count && length < JUMP_LENGTH; i++) {
        const struct machine_insn *insn = &decoded.insns[i];

        fits &= !left || insn->is_padding || code[insn->address] == BREAKPOINT;
        left |= insn->flow != MACHINE_NEXT && insn->flow != MACHINE_CALL &&
                insn->flow != MACHINE_BRANCH;
        length += insn->size;
    }
    machine_deinit(&decoded);
    return fits && length >= JUMP_LENGTH;
}

// The switch whose magic was found at `at` of a section of code; false where it is none, or no jump
// fits in.
static bool read_switch(const unsigned char *data, const GElf_Shdr *section, uint64_t at,
                        struct code_switch *ret)
{
    struct layout_switch found;
    uint64_t end = section->sh_size;

    if (at + sizeof(found) + sizeof(endbr64) + JUMP_LENGTH > end)
        return false;
    memcpy(&found, data + section->sh_offset + at, sizeof(found));
    uint64_t entry = at + sizeof(found), jump = entry;
    if (!memcmp(data + section->sh_offset + entry, endbr64, sizeof(endbr64)))
        jump += sizeof(endbr64);
    *ret = (struct code_switch){
        .module_id = found.module_id,
        .function = found.function,
        .offset = section->sh_offset + at,
        .jump = section->sh_offset + jump,
        .distance = (int32_t)(found.plain_offset - (int64_t)(jump - entry) - JUMP_LENGTH),
    };
    bool is_off = memcmp(found.saved, nothing, JUMP_LENGTH) != 0;
    return found.plain_offset != 0 &&
           (is_off || has_room(data + section->sh_offset + jump, end - jump));
}

static void scan_section(const unsigned char *data, const GElf_Shdr *section,
                         struct code_switch_vec *found)
{
    static const uint64_t magic = LAYOUT_SWITCH_MAGIC;
    const unsigned char *start = data + section->sh_offset, *end = start + section->sh_size;

    for (const unsigned char *at = start;
         (at = memmem(at, (size_t)(end - at), &magic, sizeof(magic))); at++) {
        struct code_switch one;

        if (read_switch(data, section, (uint64_t)(at - start), &one))
            code_switch_vec_push(found, one);
    }
}

static int compare(const void *a, const void *b)
{
    const struct code_switch *x = a, *y = b;

    if (x->module_id != y->module_id)
        return x->module_id < y->module_id ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

struct error *code_switches_find(const char *path, const unsigned char *data, size_t size,
                                 struct code_switch **ret, size_t *ret_count)
{
    struct code_switch_vec found = VEC_INIT;
    Elf_Scn *at = NULL;
    GElf_Shdr header;

    elf_version(EV_CURRENT);
    __attribute__((__cleanup__(elf_cleanup))) Elf *elf = elf_memory((char *)data, size);
    if (!elf || elf_kind(elf) != ELF_K_ELF)
        return error_create_file(ERROR_FORMAT, path, "not an ELF file");
    while ((at = elf_nextscn(elf, at))) {
        if (!gelf_getshdr(at, &header) || header.sh_type != SHT_PROGBITS ||
            !(header.sh_flags & SHF_EXECINSTR) || header.sh_offset > size ||
            header.sh_size > size - header.sh_offset)
            continue;
        scan_section(data, &header, &found);
    }
    if (found.length)
        qsort(found.data, found.length, sizeof(*found.data), compare);
    *ret_count = found.length;
    *ret = code_switch_vec_steal(&found);
    return NULL;
}

static unsigned char *saved_bytes(const struct code_switch *at, unsigned char *data)
{
    return data + at->offset + offsetof(struct layout_switch, saved);
}

struct error *code_switch_get(const struct code_switch *at, const char *path,
                              const unsigned char *data, bool *on)
{
    const unsigned char *saved = saved_bytes(at, (unsigned char *)data);
    const unsigned char *code = data + at->jump;

    *on = !memcmp(saved, nothing, sizeof(nothing));
    if (!*on && (code[0] != JUMP || memcmp(code + 1, &at->distance, sizeof(at->distance)) != 0))
        return error_create_at_offset(ERROR_FORMAT, path, at->jump,
                                      "a function that should be switched off is not");
    return NULL;
}

void code_switch_set(const struct code_switch *at, unsigned char *data, bool on)
{
    unsigned char *saved = saved_bytes(at, data), *code = data + at->jump;
    bool was = !memcmp(saved, nothing, sizeof(nothing));

    if (on == was)
        return;
    if (on) {
        memcpy(code, saved, JUMP_LENGTH);
        memset(saved, 0, JUMP_LENGTH);
        return;
    }
    memcpy(saved, code, JUMP_LENGTH);
    code[0] = JUMP;
    memcpy(code + 1, &at->distance, sizeof(at->distance));
}
