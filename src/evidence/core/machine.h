// SPDX-License-Identifier: Apache-2.0
/*
 * The machine code of one function, instruction by instruction: how control goes on from each, and
 * which bytes it stores where. x86-64, through Capstone, which nobody else sees.
 *
 *     struct machine_code code = {0};
 *     bool known = machine_decode(&code, bytes, size, address);    // once for each range
 *     machine_link(&code);
 *     uint32_t i = machine_find(&code, pc);                        // MACHINE_NONE: between two
 *     for (uint32_t p = code.before_start[i]; p < code.before_start[i + 1]; p++)
 *             use(code.before[p]);                                 // where control may come from
 *     machine_deinit(&code);
 *
 * Jumps by table are known by how position-independent code does them (an offset of 32 bits, loaded
 * with sign, is added to the table's address); all tables of a function are among its references.
 *
 * Bytes that are no instruction make it all unusable: false, and nothing may be concluded.
 */
#ifndef EVIDENCE_CORE_MACHINE_H
#define EVIDENCE_CORE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_NONE UINT32_MAX

enum machine_flow {
    MACHINE_NEXT,     // to the next instruction
    MACHINE_CALL,     // the same, when the call returns
    MACHINE_BRANCH,   // there, or to `target`
    MACHINE_JUMP,     // to `target`
    MACHINE_TABLE,    // to an entry of a table of offsets, one of those that `reference` names
    MACHINE_INDIRECT, // to any place that is computed, or out of the function
    MACHINE_LEAVE,    // out of the function: a return, a tail call
    MACHINE_STOP,     // nowhere: ud2
};

struct machine_insn {
    uint64_t address;
    uint64_t target;    // with MACHINE_BRANCH and MACHINE_JUMP
    uint64_t reference; // the address that it computes from rip alone (lea); 0: none
    uint8_t size;
    uint8_t flow;    // enum machine_flow
    bool stores;     // writes memory, but not the stack by push or call
    bool stores_off; // and not by an offset from the stack pointer, as spills do
    bool folds;      // reads memory as a part of something else: neither a plain load nor a copy
    bool is_padding; // nop
    bool is_copy;    // of a register or a constant to a register
    bool byte_somewhere;   // stores a byte
    bool byte_told;        // namely the constant `byte`
    uint8_t byte;          // 0 where it is not told
    uint64_t byte_address; // there, if that is known from rip or absolutely; 0: it is not
};

struct machine_code {
    struct machine_insn *insns; // by address
    uint32_t count, capacity;
    bool has_indirect;      // an indirect jump: it may lead to any instruction
    bool has_table;         // a jump by a table; where it leads is for the caller to add
    uint32_t *before_start; // count + 1
    uint32_t *before;
};

// Appends the instructions of one range; ranges come in any order.
bool machine_decode(struct machine_code *code, const unsigned char *bytes, size_t size,
                    uint64_t address);
// Sorts them and fills in `before` for direct flow. Jumps out of the ranges become MACHINE_LEAVE.
// False: a jump leads into the middle of an instruction.
bool machine_link(struct machine_code *code);
// Where direct flow leads from an instruction: how many of `next` are set.
uint32_t machine_successors(const struct machine_code *code, uint32_t insn, uint32_t next[2]);
uint32_t machine_find(const struct machine_code *code, uint64_t address);
// Where a call through a pointer leads, made of these bytes, all of them, that end at `address`.
// `registers` by enum core_register, as the call finds them. False: they are no such call, or where
// it leads cannot be read.
typedef bool machine_reader(const void *memory, uint64_t address, uint64_t *ret);
bool machine_call_target(const unsigned char *bytes, size_t size, uint64_t address,
                         const uint64_t *registers, machine_reader *read, const void *memory,
                         uint64_t *ret);
void machine_deinit(struct machine_code *code);

#endif
