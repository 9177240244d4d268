// SPDX-License-Identifier: Apache-2.0
// Instructions assembled by hand; what is expected is from the processor's manual.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "evidence/core/machine.h"

#define BASE                0x1000u
#define DECODE(code, bytes) machine_decode((code), (bytes), sizeof(bytes), BASE)

static const struct machine_insn *insn_at(const struct machine_code *code, uint64_t offset)
{
    uint32_t i = machine_find(code, BASE + offset);

    assert_int_not_equal(i, MACHINE_NONE);
    return &code->insns[i];
}

// The offsets that control can come from, as bits.
static uint64_t before(const struct machine_code *code, uint64_t offset)
{
    uint32_t i = machine_find(code, BASE + offset);
    uint64_t found = 0;

    for (uint32_t p = code->before_start[i]; p < code->before_start[i + 1]; p++)
        found |= UINT64_C(1) << (code->insns[code->before[p]].address - BASE);
    return found;
}

static void flow(void **state)
{
    static const unsigned char bytes[] = {
        0x85, 0xff,                   // 0  test edi, edi
        0x74, 0x05,                   // 2  je 9
        0xe8, 0xf7, 0x0f, 0x00, 0x00, // 4  call 0x2000
        0xff, 0xcf,                   // 9  dec edi
        0x75, 0xf3,                   // 11 jne 0
        0xeb, 0x03,                   // 13 jmp 18
        0x0f, 0x1f, 0x00,             // 15 nop
        0x0f, 0x0b,                   // 18 ud2
        0xe9, 0xe7, 0x1f, 0x00, 0x00, // 20 jmp 0x3000
        0xc3,                         // 25 ret
    };
    struct machine_code code = {0};
    uint32_t next[2];

    (void)state;
    assert_true(DECODE(&code, bytes));
    assert_true(machine_link(&code));
    assert_int_equal(code.count, 10);
    assert_int_equal(insn_at(&code, 0)->flow, MACHINE_NEXT);
    assert_int_equal(insn_at(&code, 2)->flow, MACHINE_BRANCH);
    assert_int_equal(insn_at(&code, 2)->target, BASE + 9);
    assert_int_equal(insn_at(&code, 4)->flow, MACHINE_CALL);
    assert_int_equal(insn_at(&code, 13)->flow, MACHINE_JUMP);
    assert_true(insn_at(&code, 15)->is_padding);
    assert_int_equal(insn_at(&code, 18)->flow, MACHINE_STOP);
    assert_int_equal(insn_at(&code, 20)->flow, MACHINE_LEAVE);
    assert_int_equal(insn_at(&code, 25)->flow, MACHINE_LEAVE);
    assert_false(code.has_indirect || code.has_table);
    assert_int_equal(machine_find(&code, BASE + 1), MACHINE_NONE);

    assert_int_equal(before(&code, 0), 1u << 11);
    assert_int_equal(before(&code, 4), 1u << 2);
    assert_int_equal(before(&code, 9), 1u << 2 | 1u << 4);
    assert_int_equal(before(&code, 15), 0);
    assert_int_equal(before(&code, 18), 1u << 13 | 1u << 15);
    assert_int_equal(before(&code, 20), 0);
    assert_int_equal(machine_successors(&code, machine_find(&code, BASE + 11), next), 2);
    assert_int_equal(machine_successors(&code, machine_find(&code, BASE + 20), next), 0);
    machine_deinit(&code);
}

static void stores(void **state)
{
    static const unsigned char bytes[] = {
        0x48, 0x89, 0x44, 0x24, 0x38,             // 0  mov [rsp + 56], rax
        0xc6, 0x05, 0x10, 0x00, 0x00, 0x00, 0xd6, // 5  mov byte [rip + 16], 0xd6
        0xc6, 0x06, 0xd6,                         // 12 mov byte [rsi], 0xd6
        0x83, 0x7c, 0x24, 0x04, 0x00,             // 15 cmp dword [rsp + 4], 0
        0x48, 0x8b, 0x44, 0x24, 0x38,             // 20 mov rax, [rsp + 56]
        0x01, 0x06,                               // 25 add [rsi], eax
        0x40, 0x88, 0x2d, 0x10, 0x00, 0x00, 0x00, // 27 mov byte [rip + 16], bpl
        0x0f, 0xb6, 0x06,                         // 34 movzx eax, byte [rsi]
        0xff, 0x36,                               // 37 push [rsi]
        0xc3,                                     // 39 ret
    };
    struct machine_code code = {0};

    (void)state;
    assert_true(DECODE(&code, bytes) && machine_link(&code));
    assert_true(insn_at(&code, 0)->stores && insn_at(&code, 5)->stores &&
                insn_at(&code, 12)->stores && insn_at(&code, 25)->stores);
    assert_false(insn_at(&code, 15)->stores || insn_at(&code, 20)->stores);
    assert_int_equal(insn_at(&code, 5)->byte_address, BASE + 12 + 16);
    assert_int_equal(insn_at(&code, 5)->byte, 0xd6);
    assert_int_equal(insn_at(&code, 0)->byte_address, 0);
    assert_int_equal(insn_at(&code, 12)->byte_address, 0);
    assert_true(insn_at(&code, 12)->byte_somewhere && insn_at(&code, 12)->byte_told);
    assert_int_equal(insn_at(&code, 27)->byte_address, BASE + 34 + 16);
    assert_false(insn_at(&code, 27)->byte_told);
    // loads that are a part of something else
    assert_true(insn_at(&code, 15)->folds && insn_at(&code, 25)->folds &&
                insn_at(&code, 37)->folds);
    assert_false(insn_at(&code, 0)->folds || insn_at(&code, 5)->folds ||
                 insn_at(&code, 20)->folds || insn_at(&code, 34)->folds);
    machine_deinit(&code);
}

static void tables(void **state)
{
    static const unsigned char bytes[] = {
        0x48, 0x8d, 0x05, 0xf9, 0x0f, 0x00, 0x00, // 0  lea rax, [rip + 0xff9]
        0x48, 0x63, 0x0c, 0xb8,                   // 7  movsxd rcx, dword [rax + 4 * rdi]
        0x31, 0xd2,                               // 11 xor edx, edx
        0x48, 0x01, 0xc1,                         // 13 add rcx, rax
        0xff, 0xe1,                               // 16 jmp rcx
    };
    static const unsigned char changed[] = {
        0x48, 0x63, 0x0c, 0xb8, // 0  movsxd rcx, dword [rax + 4 * rdi]
        0x48, 0x01, 0xc1,       // 4  add rcx, rax
        0x48, 0x89, 0xf1,       // 7  mov rcx, rsi
        0xff, 0xe1,             // 10 jmp rcx
    };
    struct machine_code code = {0};

    (void)state;
    assert_true(DECODE(&code, bytes) && machine_link(&code));
    assert_int_equal(insn_at(&code, 0)->reference, 0x2000);
    assert_int_equal(insn_at(&code, 7)->reference, 0);
    assert_int_equal(insn_at(&code, 16)->flow, MACHINE_TABLE);
    assert_true(code.has_table && !code.has_indirect);
    machine_deinit(&code);
    assert_true(DECODE(&code, changed) && machine_link(&code));
    assert_int_equal(insn_at(&code, 10)->flow, MACHINE_INDIRECT);
    assert_true(code.has_indirect && !code.has_table);
    machine_deinit(&code);
}

static void several_ranges(void **state)
{
    static const unsigned char hot[] = {0x74, 0x7e, 0xc3};                    // je 0x1080; ret
    static const unsigned char cold[] = {0x90, 0xe9, 0x7c, 0xff, 0xff, 0xff}; // nop; jmp 0x1002
    struct machine_code code = {0};

    (void)state;
    assert_true(machine_decode(&code, cold, sizeof(cold), BASE + 0x80));
    assert_true(machine_decode(&code, hot, sizeof(hot), BASE));
    assert_true(machine_link(&code));
    assert_int_equal(code.insns[0].address, BASE);
    assert_int_equal(code.count, 4);
    // ret, from je and from the far jump
    uint32_t i = machine_find(&code, BASE + 2);
    assert_int_equal(code.before_start[i + 1] - code.before_start[i], 2);
    // nothing goes on from one range to the next
    i = machine_find(&code, BASE + 0x80);
    assert_int_equal(code.before_start[i + 1] - code.before_start[i], 1);
    machine_deinit(&code);
}

static void unusable(void **state)
{
    static const unsigned char invalid[] = {0x90, 0x06, 0x90}; // push es: not in 64-bit mode
    static const unsigned char cut[] = {0x90, 0xe8, 0x00};
    static const unsigned char middle[] = {0x90, 0xeb, 0xff}; // into its own second byte
    struct machine_code code = {0};

    (void)state;
    assert_false(DECODE(&code, invalid));
    machine_deinit(&code);
    assert_false(DECODE(&code, cut));
    machine_deinit(&code);
    assert_true(DECODE(&code, middle));
    assert_false(machine_link(&code));
    machine_deinit(&code);
    assert_true(machine_decode(&code, middle, 0, BASE) && machine_link(&code));
    assert_int_equal(machine_find(&code, BASE), MACHINE_NONE);
    machine_deinit(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flow),           cmocka_unit_test(stores),   cmocka_unit_test(tables),
        cmocka_unit_test(several_ranges), cmocka_unit_test(unusable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
