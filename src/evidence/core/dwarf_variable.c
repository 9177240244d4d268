// SPDX-License-Identifier: Apache-2.0
/* Variables of a scope: where they are in one activation, and their bytes. */
#include <dwarf.h>
#include <string.h>

#include "evidence/core/dwarf_expression.h"
#include "evidence/core/dwarf_internal.h"
#include "evidence/core/modules_internal.h"
#include "evidence/core/unwind.h"

#define DEBUG_DEPTH_MAX 512u

/* --- finding --- */

static bool debug_walk_variables(Dwarf_Die *parent, const char *name, unsigned depth,
                                 Dwarf_Die *ret)
{
    Dwarf_Die die;
    if (depth == DEBUG_DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) {
            const char *found = dwarf_diename(&die);
            if (found && strcmp(found, name) == 0) {
                *ret = die;
                return true;
            }
        }
        if (tag == DW_TAG_lexical_block && debug_walk_variables(&die, name, depth + 1, ret))
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

static uint64_t debug_type_size(Dwarf_Die *variable)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Word size;
    if (!dwarf_formref_die(dwarf_attr_integrate(variable, DW_AT_type, &attribute), &type) ||
        dwarf_aggregate_size(&type, &size) != 0)
        return 0;
    return size;
}

static bool debug_is_expression(Dwarf_Attribute *attribute)
{
    switch (dwarf_whatform(attribute)) {
    case DW_FORM_exprloc:
    case DW_FORM_block:
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
        return true;
    default:
        return false;
    }
}

static struct debug_variable *debug_make_variable(const struct debug_scope *scope, const char *name,
                                                  Dwarf_Die *die)
{
    struct arena *arena = &scope->function->unit->info->arena;
    struct debug_variable *variable = arena_alloc_one(arena, struct debug_variable);
    variable->scope = scope;
    variable->name = arena_strdup(arena, name);
    variable->die = *die;
    variable->size = debug_type_size(die);
    variable->has_location = dwarf_attr_integrate(die, DW_AT_location, &variable->location) != NULL;
    if (variable->has_location && debug_is_expression(&variable->location) &&
        dwarf_getlocation(&variable->location, &variable->ops, &variable->op_count) != 0)
        variable->has_location = false;
    return variable;
}

const struct debug_variable *debug_scope_variable(const struct debug_scope *scope, const char *name)
{
    struct debug_function *function = scope->function;
    struct debug_info *info = function->unit->info;
    bool is_new;
    struct debug_variable **cached =
        debug_variable_map_put_new(&info->variables, hash_string((uintptr_t)scope, name), &is_new);
    if (!is_new && (!*cached || ((*cached)->scope == scope && strcmp((*cached)->name, name) == 0)))
        return *cached;
    Dwarf_Die die, scope_die = function->dies[scope - function->scopes];
    struct debug_variable *variable = NULL;
    if (debug_walk_variables(&scope_die, name, 0, &die))
        variable = debug_make_variable(scope, name, &die);
    *cached = variable;
    return variable;
}

uint64_t debug_variable_size(const struct debug_variable *variable)
{
    return variable->size;
}

/* --- locating --- */

/* The expression of attribute at address; false where it has none there. */
static bool debug_expression_at(Dwarf_Attribute *attribute, uint64_t address, Dwarf_Op **ret_ops,
                                size_t *ret_count)
{
    return dwarf_getlocation_addr(attribute, address, ret_ops, ret_count, 1) == 1;
}

static void debug_find_frame_base(struct debug_function *function, uint64_t address,
                                  struct debug_machine *machine)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops = function->frame_base;
    size_t count = function->frame_base_count;
    if (!ops) {
        if (!dwarf_attr_integrate(&function->die, DW_AT_frame_base, &attribute) ||
            !debug_expression_at(&attribute, address, &ops, &count))
            return;
        if (debug_is_expression(&attribute)) {
            function->frame_base = ops;
            function->frame_base_count = count;
        }
    }
    machine->has_frame_base = debug_evaluate_value(machine, ops, count, &machine->frame_base);
}

void debug_variable_locate(const struct debug_variable *variable, const struct modules *modules,
                           const struct unwind_frame *frame, struct debug_location *ret)
{
    struct debug_function *function = variable->scope->function;
    uint64_t bias = function->unit->info->module->info.bias;
    uint64_t address = unwind_frame_lookup(frame) - bias;
    struct debug_machine machine = {.modules = modules,
                                    .frame = frame,
                                    .bias = bias,
                                    .cfa = frame->cfa,
                                    .has_cfa = frame->has_cfa};
    Dwarf_Attribute location = variable->location;
    Dwarf_Op *ops = variable->ops;
    size_t count = variable->op_count;
    ret->count = 0;
    if (!variable->has_location || (!ops && !debug_expression_at(&location, address, &ops, &count)))
        return;
    debug_find_frame_base(function, address, &machine);
    debug_evaluate(&machine, ops, count, &location, ret);
}

/* --- reading --- */

/* Bytes [skip, skip + size) of a piece; present is as long as size. */
static size_t debug_read_piece(const struct debug_piece *piece, const struct modules *modules,
                               uint64_t skip, unsigned char *buffer, size_t size, bool *present)
{
    size_t got = 0;
    unsigned char value[8];
    const unsigned char *data = piece->data;
    uint64_t data_size = piece->data_size;
    switch (piece->kind) {
    case DEBUG_PIECE_ABSENT:
        return 0;
    case DEBUG_PIECE_MEMORY:
        got = modules_read(modules, piece->address + skip, buffer, size);
        break;
    case DEBUG_PIECE_VALUE:
        for (size_t i = 0; i < sizeof(value); i++)
            value[i] = (unsigned char)(piece->value >> 8 * i);
        data = value;
        data_size = sizeof(value);
        // fall through
    case DEBUG_PIECE_BYTES:
        if (skip < data_size)
            got = data_size - skip < size ? (size_t)(data_size - skip) : size;
        memcpy(buffer, data + (got ? skip : 0), got);
        break;
    }
    if (present)
        memset(present, true, got);
    return got;
}

size_t debug_variable_read(const struct debug_variable *variable, const struct modules *modules,
                           const struct unwind_frame *frame, uint64_t offset, void *buffer,
                           size_t size, bool *present)
{
    struct debug_location location;
    uint64_t piece_start = 0;
    size_t known = 0;
    debug_variable_locate(variable, modules, frame, &location);
    memset(buffer, 0, size);
    if (present)
        memset(present, false, size * sizeof(*present));
    for (uint32_t i = 0; i < location.count; i++) {
        const struct debug_piece *piece = &location.pieces[i];
        uint64_t piece_end;
        if (__builtin_add_overflow(piece_start, piece->size, &piece_end))
            piece_end = UINT64_MAX;
        uint64_t from = offset > piece_start ? offset : piece_start;
        uint64_t to = offset + size < piece_end ? offset + size : piece_end;
        if (from < to)
            known += debug_read_piece(
                piece, modules, from - piece_start, (unsigned char *)buffer + (from - offset),
                (size_t)(to - from), present ? present + (from - offset) : NULL);
        piece_start = piece_end;
    }
    return known;
}
