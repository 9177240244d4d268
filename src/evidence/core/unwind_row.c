// SPDX-License-Identifier: Apache-2.0
/* Call frame information of libdw, one row a pc, in a form that is quick to apply. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/core/dwarf_internal.h"
#include "evidence/core/modules_internal.h"
#include "evidence/core/unwind_internal.h"

static struct unwind_module *unwind_tables_of(struct unwinder *unwinder, struct module *module)
{
    bool is_new;
    struct unwind_module *tables =
        unwind_module_map_put_new(&unwinder->tables, (uintptr_t)module, &is_new);
    if (is_new && module->elf)
        tables->eh_frame = dwarf_getcfi_elf(module->elf);
    return tables;
}

static bool unwind_find(struct unwinder *unwinder, struct module *module, uint64_t address,
                        Dwarf_Frame **ret)
{
    struct unwind_module *tables = unwind_tables_of(unwinder, module);
    uint64_t at = address - module->info.bias;
    if (tables->eh_frame && dwarf_cfi_addrframe(tables->eh_frame, at, ret) == 0)
        return true;
    if (!tables->debug_frame_was_sought) {
        tables->debug_frame_was_sought = true;
        struct debug_info *info;
        struct error *err = debug_info_open(module, &info);
        if (err)
            error_destroy(err); // no debug information: nothing to find
        else
            tables->debug_frame = dwarf_getcfi(debug_info_handle(info));
    }
    return tables->debug_frame && dwarf_cfi_addrframe(tables->debug_frame, at, ret) == 0;
}

/* Whether ops are the usual `cfa + offset`, as a location or (with is_value) as a value. */
static bool unwind_is_cfa_offset(const Dwarf_Op *ops, size_t count, bool *is_value, int64_t *offset)
{
    size_t at = 0;
    if (count == 0 || ops[at++].atom != DW_OP_call_frame_cfa)
        return false;
    *offset = at < count && ops[at].atom == DW_OP_plus_uconst ? (int64_t)ops[at++].number : 0;
    *is_value = at < count && ops[at].atom == DW_OP_stack_value;
    at += *is_value;
    return at == count;
}

static struct unwind_rule unwind_read_rule(struct unwinder *unwinder, Dwarf_Frame *frame,
                                           unsigned number, bool *keep)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    bool is_value;
    struct unwind_rule rule = {.kind = UNWIND_RULE_UNDEFINED};
    if (dwarf_frame_register(frame, (int)number, memory, &ops, &count) != 0)
        return rule;
    if (count == 0) {
        rule.kind = ops ? UNWIND_RULE_UNDEFINED : UNWIND_RULE_SAME;
    } else if (unwind_is_cfa_offset(ops, count, &is_value, &rule.offset)) {
        rule.kind = is_value ? UNWIND_RULE_VALUE : UNWIND_RULE_MEMORY;
    } else {
        rule.kind = UNWIND_RULE_EXPRESSION;
        rule.op_count = count;
        rule.ops = ops;
        if (ops == memory)
            rule.ops = arena_memdup(&unwinder->arena, memory, count * sizeof(memory[0]));
        else
            *keep = true;
    }
    return rule;
}

static bool unwind_read_cfa(Dwarf_Frame *frame, struct unwind_row *row, bool *keep)
{
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0)
        return false;
    bool is_short = ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31;
    row->cfa_is_simple = count == 1 && (is_short || ops[0].atom == DW_OP_bregx);
    if (row->cfa_is_simple) {
        row->cfa_register =
            is_short ? (unsigned)ops[0].atom - DW_OP_breg0 : (unsigned)ops[0].number;
        row->cfa_offset = (int64_t)(is_short ? ops[0].number : ops[0].number2);
    } else {
        row->cfa_ops = ops;
        row->cfa_op_count = count;
        *keep = true;
    }
    return true;
}

static void unwind_read_row(struct unwinder *unwinder, Dwarf_Frame *frame, struct unwind_row *row)
{
    bool keep = false;
    int return_register = dwarf_frame_info(frame, NULL, NULL, &row->is_signal);
    row->has_cfi = return_register == CORE_RIP && unwind_read_cfa(frame, row, &keep);
    for (unsigned i = 0; row->has_cfi && i < CORE_REGISTERS; i++)
        row->rules[i] = unwind_read_rule(unwinder, frame, i, &keep);
    if (keep)
        unwind_kept_vec_push(&unwinder->kept, frame);
    else
        free(frame);
}

/* mov $__NR_rt_sigreturn, %rax; syscall: what every signal handler returns to on x86-64. */
static bool unwind_is_trampoline(const struct unwinder *unwinder, uint64_t pc)
{
    static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    unsigned char found[sizeof(code)];
    return modules_read(unwinder->modules, pc, found, sizeof(found)) == sizeof(found) &&
           memcmp(found, code, sizeof(code)) == 0;
}

static void unwind_make_row(struct unwinder *unwinder, struct module *module, uint64_t pc,
                            bool is_exact, struct unwind_row *row)
{
    Dwarf_Frame *frame;
    bool is_trampoline = !is_exact && unwind_is_trampoline(unwinder, pc);
    uint64_t lookup = is_exact || is_trampoline ? pc : pc - 1;
    if (module && module->elf && unwind_find(unwinder, module, lookup, &frame))
        unwind_read_row(unwinder, frame, row);
    if (is_trampoline && !(row->has_cfi && row->is_signal)) {
        row->has_cfi = false;
        row->is_trampoline = true;
        row->is_signal = true;
    }
}

const struct unwind_row *unwind_row_at(struct unwinder *unwinder, struct module *module,
                                       uint64_t pc, bool is_exact)
{
    bool is_new;
    struct unwind_row_map *map = is_exact ? &unwinder->exact_rows : &unwinder->caller_rows;
    struct unwind_row **row = unwind_row_map_put_new(map, pc, &is_new);
    if (is_new) {
        *row = arena_alloc_one(&unwinder->arena, struct unwind_row);
        unwind_make_row(unwinder, module, pc, is_exact, *row);
    }
    return *row;
}

void unwind_rows_deinit(struct unwinder *unwinder)
{
    for (size_t i = 0; i < unwinder->kept.length; i++)
        free(unwinder->kept.data[i]);
    unwind_kept_vec_deinit(&unwinder->kept);
    MAP_FOREACH (unwind_module_map, &unwinder->tables, entry) {
        if (entry->value.eh_frame)
            dwarf_cfi_end(entry->value.eh_frame);
    }
    unwind_module_map_deinit(&unwinder->tables);
    unwind_row_map_deinit(&unwinder->exact_rows);
    unwind_row_map_deinit(&unwinder->caller_rows);
}
