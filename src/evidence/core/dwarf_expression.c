// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/dwarf_expression.h"

#include <assert.h>
#include <dwarf.h>
#include <string.h>

#include "evidence/core/modules.h"
#include "evidence/core/unwind.h"

#define DEBUG_STACK_MAX 64u
#define DEBUG_STEPS_MAX 10000u

/* One evaluation. */
struct debug_run {
    struct debug_machine *machine;
    Dwarf_Attribute *attribute;
    uint64_t stack[DEBUG_STACK_MAX];
    size_t depth;
    bool is_unknown; // something on the stack is not known, up to the end of the piece
    bool is_broken;  // nothing that follows can be told
    struct debug_piece
        piece;      // kind MEMORY until said otherwise: the top of the stack is an address
    bool has_piece; // said otherwise
};

static void debug_fail(struct debug_run *run, enum debug_fault fault, uint64_t address)
{
    run->is_unknown = true;
    if (run->machine->fault == DEBUG_FAULT_NONE) {
        run->machine->fault = fault;
        run->machine->fault_address = address;
    }
}

static void debug_break(struct debug_run *run)
{
    run->is_broken = true;
    debug_fail(run, DEBUG_FAULT_UNSUPPORTED, 0);
}

static void debug_push(struct debug_run *run, uint64_t value)
{
    if (run->depth == DEBUG_STACK_MAX)
        debug_break(run);
    else
        run->stack[run->depth++] = value;
}

static uint64_t debug_pop(struct debug_run *run)
{
    if (run->depth == 0) {
        debug_break(run);
        return 0;
    }
    return run->stack[--run->depth];
}

static uint64_t debug_peek(struct debug_run *run, uint64_t down)
{
    if (down >= run->depth) {
        debug_break(run);
        return 0;
    }
    return run->stack[run->depth - 1 - down];
}

static uint64_t debug_register(struct debug_run *run, uint64_t number)
{
    uint64_t value = 0;
    if (number >= CORE_REGISTERS ||
        !unwind_frame_register(run->machine->frame, (unsigned)number, &value))
        debug_fail(run, DEBUG_FAULT_REGISTER, number);
    return value;
}

static void debug_dereference(struct debug_run *run, uint64_t size)
{
    uint64_t address = debug_pop(run);
    unsigned char bytes[8] = {0};
    if (size < 1 || size > sizeof(bytes)) {
        debug_break(run);
        return;
    }
    if (!run->is_unknown && modules_read(run->machine->modules, address, bytes, size) != size)
        debug_fail(run, DEBUG_FAULT_MEMORY, address);
    uint64_t value = 0;
    for (size_t i = sizeof(bytes); i-- > 0;)
        value = value << 8 | bytes[i];
    debug_push(run, value);
}

static uint64_t debug_binary(struct debug_run *run, unsigned atom, uint64_t a, uint64_t b)
{
    switch (atom) {
    case DW_OP_and:
        return a & b;
    case DW_OP_or:
        return a | b;
    case DW_OP_xor:
        return a ^ b;
    case DW_OP_plus:
        return a + b;
    case DW_OP_minus:
        return a - b;
    case DW_OP_mul:
        return a * b;
    case DW_OP_div:
        if (b == 0)
            break;
        return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
    case DW_OP_mod:
        if (b == 0)
            break;
        return a % b;
    case DW_OP_shl:
        return b < 64 ? a << b : 0;
    case DW_OP_shr:
        return b < 64 ? a >> b : 0;
    case DW_OP_shra:
        return (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
    case DW_OP_eq:
        return a == b;
    case DW_OP_ne:
        return a != b;
    case DW_OP_lt:
        return (int64_t)a < (int64_t)b;
    case DW_OP_le:
        return (int64_t)a <= (int64_t)b;
    case DW_OP_gt:
        return (int64_t)a > (int64_t)b;
    case DW_OP_ge:
        return (int64_t)a >= (int64_t)b;
    default:
        break;
    }
    debug_break(run);
    return 0;
}

static bool debug_is_binary(unsigned atom)
{
    switch (atom) {
    case DW_OP_and:
    case DW_OP_or:
    case DW_OP_xor:
    case DW_OP_plus:
    case DW_OP_minus:
    case DW_OP_mul:
    case DW_OP_div:
    case DW_OP_mod:
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_shra:
    case DW_OP_eq:
    case DW_OP_ne:
    case DW_OP_lt:
    case DW_OP_le:
    case DW_OP_gt:
    case DW_OP_ge:
        return true;
    default:
        return false;
    }
}

/* An address or a constant that stands in .debug_addr. */
static void debug_push_indexed(struct debug_run *run, const Dwarf_Op *op, bool is_address)
{
    Dwarf_Attribute indexed;
    Dwarf_Addr value;
    if (!run->attribute || dwarf_getlocation_attr(run->attribute, op, &indexed) != 0 ||
        dwarf_formaddr(&indexed, &value) != 0) {
        debug_break(run);
        return;
    }
    debug_push(run, is_address ? value + run->machine->bias : value);
}

static void debug_set_implicit(struct debug_run *run, const Dwarf_Op *op)
{
    Dwarf_Block block;
    if (!run->attribute || dwarf_getlocation_implicit_value(run->attribute, op, &block) != 0) {
        debug_break(run);
        return;
    }
    run->has_piece = true;
    run->piece = (struct debug_piece){
        .kind = DEBUG_PIECE_BYTES, .data = block.data, .data_size = block.length};
}

static void debug_set_register(struct debug_run *run, uint64_t number)
{
    run->has_piece = true;
    run->piece =
        (struct debug_piece){.kind = DEBUG_PIECE_VALUE, .value = debug_register(run, number)};
}

static void debug_stack_operation(struct debug_run *run, const Dwarf_Op *op)
{
    uint64_t a, b, c;
    switch (op->atom) {
    case DW_OP_dup:
        debug_push(run, debug_peek(run, 0));
        break;
    case DW_OP_drop:
        debug_pop(run);
        break;
    case DW_OP_over:
        debug_push(run, debug_peek(run, 1));
        break;
    case DW_OP_pick:
        debug_push(run, debug_peek(run, op->number));
        break;
    case DW_OP_swap:
        a = debug_pop(run);
        b = debug_pop(run);
        debug_push(run, a);
        debug_push(run, b);
        break;
    default: // DW_OP_rot
        a = debug_pop(run);
        b = debug_pop(run);
        c = debug_pop(run);
        debug_push(run, a);
        debug_push(run, c);
        debug_push(run, b);
        break;
    }
}

static void debug_base_operation(struct debug_run *run, const Dwarf_Op *op)
{
    const struct debug_machine *machine = run->machine;
    if (op->atom == DW_OP_call_frame_cfa) {
        if (!machine->has_cfa)
            debug_fail(run, DEBUG_FAULT_UNSUPPORTED, 0);
        debug_push(run, machine->cfa);
        return;
    }
    if (!machine->has_frame_base)
        debug_fail(run, DEBUG_FAULT_UNSUPPORTED, 0);
    debug_push(run, machine->frame_base + op->number);
}

static void debug_operation(struct debug_run *run, const Dwarf_Op *op)
{
    unsigned atom = op->atom;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
        debug_push(run, atom - DW_OP_lit0);
        return;
    }
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
        debug_set_register(run, atom - DW_OP_reg0);
        return;
    }
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
        debug_push(run, debug_register(run, atom - DW_OP_breg0) + op->number);
        return;
    }
    if (debug_is_binary(atom)) {
        uint64_t b = debug_pop(run);
        uint64_t a = debug_pop(run);
        debug_push(run, run->is_unknown ? 0 : debug_binary(run, atom, a, b));
        return;
    }
    switch (atom) {
    case DW_OP_nop:
        break;
    case DW_OP_addr:
        debug_push(run, op->number + run->machine->bias);
        break;
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
        debug_push_indexed(run, op, true);
        break;
    case DW_OP_constx:
    case DW_OP_GNU_const_index:
        debug_push_indexed(run, op, false);
        break;
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
        debug_push(run, op->number); // libdw has extended the sign
        break;
    case DW_OP_regx:
        debug_set_register(run, op->number);
        break;
    case DW_OP_bregx:
        debug_push(run, debug_register(run, op->number) + op->number2);
        break;
    case DW_OP_call_frame_cfa:
    case DW_OP_fbreg:
        debug_base_operation(run, op);
        break;
    case DW_OP_dup:
    case DW_OP_drop:
    case DW_OP_over:
    case DW_OP_pick:
    case DW_OP_swap:
    case DW_OP_rot:
        debug_stack_operation(run, op);
        break;
    case DW_OP_deref:
        debug_dereference(run, 8);
        break;
    case DW_OP_deref_size:
        debug_dereference(run, op->number);
        break;
    case DW_OP_abs: {
        int64_t value = (int64_t)debug_pop(run);
        debug_push(run, value < 0 ? -(uint64_t)value : (uint64_t)value);
        break;
    }
    case DW_OP_neg:
        debug_push(run, -debug_pop(run));
        break;
    case DW_OP_not:
        debug_push(run, ~debug_pop(run));
        break;
    case DW_OP_plus_uconst:
        debug_push(run, debug_pop(run) + op->number);
        break;
    case DW_OP_implicit_value:
        debug_set_implicit(run, op);
        break;
    case DW_OP_stack_value:
        run->has_piece = true;
        run->piece = (struct debug_piece){.kind = DEBUG_PIECE_VALUE, .value = debug_pop(run)};
        break;
    default: // entry values, thread-local storage, implicit pointers, typed stacks
        debug_break(run);
        break;
    }
}

/* The branch before *at is taken. */
static void debug_jump(struct debug_run *run, const Dwarf_Op *ops, size_t count, size_t *at)
{
    const Dwarf_Op *op = &ops[*at - 1];
    uint64_t target = op->offset + 3 + (uint64_t)(int64_t)(int16_t)op->number;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ops[middle].offset < target)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < count && ops[low].offset != target)
        debug_break(run); // into the middle of an operation
    *at = low;
}

/* What the stack, or the operation that ended it, says; the stack is for the next piece then. */
static struct debug_piece debug_take_piece(struct debug_run *run, uint64_t size)
{
    struct debug_piece piece = run->piece;
    if (!run->has_piece && run->depth > 0)
        piece = (struct debug_piece){.kind = DEBUG_PIECE_MEMORY, .address = debug_pop(run)};
    else if (!run->has_piece)
        piece.kind = DEBUG_PIECE_ABSENT;
    if (run->is_unknown)
        piece = (struct debug_piece){.kind = DEBUG_PIECE_ABSENT};
    piece.size = size;
    run->has_piece = false;
    run->is_unknown = false;
    run->depth = 0;
    return piece;
}

static void debug_add_piece(struct debug_run *run, struct debug_location *location, uint64_t size)
{
    if (location->count == DEBUG_PIECES_MAX) {
        debug_break(run);
        return;
    }
    location->pieces[location->count++] = debug_take_piece(run, size);
}

static void debug_step(struct debug_run *run, const Dwarf_Op *ops, size_t count, size_t *at,
                       struct debug_location *location)
{
    const Dwarf_Op *op = &ops[(*at)++];
    switch (op->atom) {
    case DW_OP_piece:
        debug_add_piece(run, location, op->number);
        break;
    case DW_OP_bra:
        if (run->is_unknown)
            debug_break(run);
        if (debug_pop(run) != 0)
            debug_jump(run, ops, count, at);
        break;
    case DW_OP_skip:
        debug_jump(run, ops, count, at);
        break;
    default:
        debug_operation(run, op);
        break;
    }
}

static void debug_run(struct debug_run *run, const Dwarf_Op *ops, size_t count,
                      struct debug_location *location)
{
    size_t at = 0;
    for (size_t steps = 0; at < count && !run->is_broken; steps++) {
        if (steps == DEBUG_STEPS_MAX)
            debug_break(run);
        else
            debug_step(run, ops, count, &at, location);
    }
}

void debug_evaluate(struct debug_machine *machine, const Dwarf_Op *ops, size_t count,
                    Dwarf_Attribute *attribute, struct debug_location *ret)
{
    struct debug_run run = {.machine = machine, .attribute = attribute};
    machine->fault = DEBUG_FAULT_NONE;
    ret->count = 0;
    debug_run(&run, ops, count, ret);
    if (run.is_broken || count == 0) {
        // Pieces that stand already stay; what follows is absent.
        return;
    }
    if (ret->count == 0)
        debug_add_piece(&run, ret, UINT64_MAX);
}

bool debug_evaluate_value(struct debug_machine *machine, const Dwarf_Op *ops, size_t count,
                          uint64_t *ret)
{
    struct debug_run run = {.machine = machine};
    struct debug_location location;
    location.count = 0;
    machine->fault = DEBUG_FAULT_NONE;
    debug_run(&run, ops, count, &location);
    // A register stands for its value here, as in a frame base of DW_OP_reg6.
    bool is_value = run.has_piece && run.piece.kind == DEBUG_PIECE_VALUE;
    if (!is_value && run.depth == 0)
        debug_break(&run);
    if (run.is_broken || run.is_unknown)
        return false;
    *ret = is_value ? run.piece.value : run.stack[run.depth - 1];
    return true;
}
