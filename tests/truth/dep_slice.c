// SPDX-License-Identifier: Apache-2.0
/*
 * The dynamic slice of a run that failed: dep_slice TRACE TABLE... prints as JSON what the failure
 * depended on, by the trace that the tracing build left (dep_trace.h) and the tables of its
 * modules.
 *
 * Replays the trace. Data: operands within the activation, arguments and results between them, and
 * the last writer of every byte that is read. Control: a node depends on the last choice of its
 * activation after which it was not certain; where there is none, on the call of the function.
 * Functions of the library do what the trace says of them; those of which it does not know anything
 * define nothing, and what they may have written is forgotten.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dep_graph.h"
#include "dep_output.h"
#include "dep_shadow.h"
#include "dep_table.h"
#include "dep_trace.h"

#define NONE UINT32_MAX

// An instance of a call that returns twice: where a longjmp may lead.
struct landing {
    uint32_t frame, insn, instance;
};

struct passed { // in memory, by value
    uint64_t address, size;
};

static struct {
    struct dep_table table;
    struct dep_frame *frames;
    uint32_t frames_count, frames_room;
    uint32_t *values; // of frames' instructions, then of what they were passed
    uint32_t values_count, values_room;
    uint32_t *locals; // objects of all frames
    uint32_t locals_count, locals_room;
    struct landing *landings;
    uint32_t landings_count, landings_room;
    uint32_t *arguments; // of the last call that was made: instances
    uint32_t arguments_count, arguments_room;
    uint32_t last_call, last_callee; // its instance; function, or NONE
    struct passed passed[64];
    uint32_t *addresses; // functions by address, as a hash table
    uint64_t *address_keys;
    uint32_t *unknown; // calls of functions without known effects, by instruction
    uint32_t jump;     // the last call of longjmp, or 0
} run;

#define ADDRESSES (1u << 18)

static struct dep_frame *top(void)
{
    return run.frames_count ? &run.frames[run.frames_count - 1] : NULL;
}

static struct dep_function *function_of(const struct dep_frame *frame)
{
    return &run.table.functions[frame->function];
}

static uint32_t *value_slot(const struct dep_frame *frame, uint32_t insn)
{
    return &run.values[frame->first_value + insn - function_of(frame)->first_insn];
}

static uint32_t *function_slot(uint64_t address)
{
    uint32_t at = (uint32_t)(address * 0x9e3779b97f4a7c15ull >> 40) & (ADDRESSES - 1);

    while (run.address_keys[at] && run.address_keys[at] != address)
        at = (at + 1) & (ADDRESSES - 1);
    if (!run.address_keys[at]) {
        run.addresses[at] = NONE;
        run.address_keys[at] = address;
    }
    return &run.addresses[at];
}

// ---------------------------------------------------------------- instructions

static uint32_t operand_value(const struct dep_frame *frame, const struct dep_operand *operand)
{
    const struct dep_function *function = function_of(frame);

    if (operand->kind == OPERAND_INSN)
        return *value_slot(frame, function->first_insn + operand->index);
    if (operand->kind == OPERAND_ARGUMENT && operand->index < frame->passed_count)
        return run.values[frame->first_value + function->insn_count + operand->index];
    return 0;
}

static uint32_t execute(struct dep_frame *frame, uint32_t i)
{
    const struct dep_insn *insn = &run.table.insns[i];
    uint32_t instance = dep_new_instance(i, frame->node_instance);

    for (uint32_t k = 0; insn->kind != 'c' && k < insn->operand_count; k++)
        dep_depend(instance, operand_value(frame, &run.table.operands[insn->first_operand + k]));
    *value_slot(frame, i) = instance;
    return instance;
}

// PHIs take their values all at once.
static void execute_phis(struct dep_frame *frame, uint32_t before)
{
    const struct dep_node *node = &run.table.nodes[frame->node];
    uint32_t first = frame->next, count = 0;

    while (count < node->insn_count && run.table.insns[first + count].kind == 'p')
        count++;
    uint32_t from = dep_instance_count();
    for (uint32_t i = first; i < first + count; i++) {
        const struct dep_insn *insn = &run.table.insns[i];
        uint32_t instance = dep_new_instance(i, frame->node_instance);
        from = i == first ? instance : from;
        for (uint32_t k = 0; k < insn->operand_count; k++) {
            const struct dep_operand *operand = &run.table.operands[insn->first_operand + k];
            if (operand->node + function_of(frame)->first_node == before)
                dep_depend(instance, operand_value(frame, operand));
        }
    }
    for (uint32_t k = 0; k < count; k++)
        *value_slot(frame, first + k) = from + k;
    frame->next = first + count;
}

// Those that only compute, up to `end`.
static void advance(struct dep_frame *frame, uint32_t end)
{
    for (; frame->node != NONE && frame->next < end; frame->next++)
        if (run.table.insns[frame->next].kind != 'j')
            execute(frame, frame->next);
}

static uint32_t node_end(uint32_t n)
{
    return run.table.nodes[n].first_insn + run.table.nodes[n].insn_count;
}

// The instance of an instruction that the trace names: now, or already before.
static uint32_t instance_of(struct dep_frame *frame, uint32_t insn)
{
    if (frame->node != NONE && insn >= frame->next && insn < node_end(frame->node)) {
        advance(frame, insn);
        frame->current = execute(frame, insn);
        frame->next = insn + 1;
        return frame->current;
    }
    return *value_slot(frame, insn);
}

static void note_read(uint32_t instance, uint64_t address, uint64_t length)
{
    uint32_t last = 0;

    for (uint64_t i = 0; i < length; i++) {
        uint32_t writer = dep_writer(address + i);
        if (writer != last)
            dep_depend(instance, writer);
        last = writer;
    }
    dep_note_access(dep_insn_of(instance), false, address, length);
}

static void note_write(uint32_t instance, uint64_t address, uint64_t length)
{
    dep_set_writer(address, length, instance);
    dep_note_access(dep_insn_of(instance), true, address, length);
}

// Each byte of what is copied depends on its own source alone, and on the copying.
static void note_copy(uint32_t instance, uint64_t to, uint64_t from, uint64_t length)
{
    uint32_t *writers = malloc((length + 1) * sizeof(*writers));
    uint32_t insn = dep_insn_of(instance), made = 0;

    if (!writers)
        dep_fail("out of memory", "copy");
    for (uint64_t i = 0; i < length; i++)
        writers[i] = dep_writer(from + i);
    dep_note_access(insn, false, from, length);
    dep_note_access(insn, true, to, length);
    for (uint64_t i = 0; i < length; i++) {
        if (i == 0 || writers[i] != writers[i - 1]) {
            made = writers[i] ? dep_new_instance(insn, dep_node_of(instance)) : instance;
            dep_depend(made, instance);
            dep_depend(made, writers[i]);
        }
        dep_set_writer(to + i, 1, made);
    }
    free(writers);
}

// ---------------------------------------------------------------- nodes and activations

static void pop(void)
{
    struct dep_frame *frame = top();

    while (run.locals_count > frame->first_local)
        dep_forget_object(run.locals[--run.locals_count]);
    while (run.landings_count && run.landings[run.landings_count - 1].frame == run.frames_count - 1)
        run.landings_count--;
    run.values_count = frame->first_value;
    run.frames_count--;
}

static uint32_t *push_value(uint32_t value)
{
    uint32_t *slot = DEP_PUSH(&run, values);

    *slot = value;
    return slot;
}

static void enter(uint32_t module, uint32_t index, uint32_t activation)
{
    uint32_t number = run.table.modules[module].first_function + index;
    const struct dep_function *function = &run.table.functions[number];
    const struct dep_frame *caller = top();
    bool direct = run.last_call && run.last_callee == number;
    uint32_t call = direct ? run.last_call : caller && caller->in_call ? caller->calls_back : 0;
    struct dep_frame *frame = DEP_PUSH(&run, frames);

    *frame = (struct dep_frame){.function = number,
                                .activation = activation,
                                .call = call,
                                .direct = direct,
                                .node = NONE,
                                .first_value = run.values_count,
                                .passed_count = direct ? run.arguments_count : function->arguments,
                                .first_local = run.locals_count};
    for (uint32_t i = 0; i < function->insn_count; i++)
        push_value(0);
    for (uint32_t i = 0; i < frame->passed_count; i++)
        push_value(direct ? run.arguments[i] : call);
    run.last_call = 0;
}

// Which choice is it that led to this node?
static uint32_t choice_of(const struct dep_frame *frame, uint32_t node, uint32_t before,
                          uint32_t before_instance)
{
    uint32_t choice = frame->call;

    if (before != NONE) {
        choice = dep_choice(before_instance);
        if (run.table.nodes[before].chooses)
            choice = *value_slot(frame, node_end(before) - 1);
    }
    while (choice != frame->call &&
           dep_is_certain_after(&run.table, node, run.table.insns[dep_insn_of(choice)].node))
        choice = dep_choice(dep_node_of(choice));
    return choice;
}

static bool follows(uint32_t before, uint32_t node)
{
    const struct dep_node *from = &run.table.nodes[before];
    uint32_t first = run.table.functions[from->function].first_node;

    for (uint32_t k = 0; k < from->successor_count; k++)
        if (first + run.table.successors[from->first_successor + k] == node)
            return true;
    return false;
}

// A longjmp has led behind a call that returns twice: that call's second result is longjmp's.
static void land(struct dep_frame *frame, uint32_t node)
{
    for (uint32_t i = run.landings_count; i-- > 0;) {
        struct landing *landing = &run.landings[i];
        uint32_t at = run.table.insns[landing->insn].node;
        if (landing->frame != run.frames_count - 1 || !follows(at, node))
            continue;
        uint32_t again = dep_new_instance(landing->insn, dep_node_of(landing->instance));
        dep_depend(again, landing->instance);
        dep_depend(again, run.jump);
        *value_slot(frame, landing->insn) = again;
        frame->node = at;
        frame->node_instance = dep_node_of(landing->instance);
        frame->next = node_end(at);
        return;
    }
}

static void begin_node(uint32_t activation, uint32_t index)
{
    bool unwound = false;

    while (run.frames_count && top()->activation != activation) {
        pop();
        unwound = true;
    }
    struct dep_frame *frame = top();
    if (!frame)
        return;
    uint32_t node = function_of(frame)->first_node + index;
    if (frame->node != NONE &&
        (unwound || run.jump == frame->current || !follows(frame->node, node)))
        land(frame, node);
    if (frame->node != NONE)
        advance(frame, node_end(frame->node));
    uint32_t before = frame->node;
    uint32_t choice = choice_of(frame, node, before, frame->node_instance);
    frame->node = node;
    frame->node_instance = dep_new_node(choice);
    frame->next = run.table.nodes[node].first_insn;
    frame->in_call = false;
    run.last_call = 0;
    execute_phis(frame, before);
}

// The library has called back: what it does, and calls next, depends on the answer.
static void take_answer(struct dep_frame *frame, uint32_t answer)
{
    uint32_t next = dep_new_instance(dep_insn_of(frame->current), dep_node_of(frame->current));

    dep_depend(frame->current, answer);
    dep_depend(next, frame->calls_back);
    dep_depend(next, answer);
    frame->calls_back = next;
}

static void leave(void)
{
    struct dep_frame *frame = top();

    if (!frame || frame->node == NONE)
        return;
    advance(frame, node_end(frame->node));
    uint32_t last = node_end(frame->node) - 1;
    const struct dep_insn *insn = &run.table.insns[last];
    uint32_t result = insn->kind == 'r' && insn->operand_count ? *value_slot(frame, last) : 0;
    bool direct = frame->direct;
    pop();
    struct dep_frame *caller = top();
    if (!caller || !caller->in_call || !result)
        return;
    if (direct)
        *value_slot(caller, dep_insn_of(caller->current)) = result;
    else if (caller->known)
        take_answer(caller, result);
}

// ---------------------------------------------------------------- calls

static void depend_on_arguments(uint32_t instance)
{
    for (uint32_t i = 0; i < run.arguments_count; i++)
        dep_depend(instance, run.arguments[i]);
}

static void make_call(struct dep_frame *frame, uint32_t i, bool known, uint64_t address)
{
    const struct dep_insn *insn = &run.table.insns[i];
    const struct dep_operand *operands = &run.table.operands[insn->first_operand];
    uint32_t instance = instance_of(frame, i), count = insn->operand_count - 1;

    run.arguments_count = 0;
    for (uint32_t k = 0; k < count; k++)
        *DEP_PUSH(&run, arguments) = operand_value(frame, &operands[k]);
    dep_depend(instance, operand_value(frame, &operands[count]));
    run.last_call = instance;
    run.last_callee = *function_slot(address);
    frame->in_call = true;
    frame->known = known;
    frame->calls_back = instance;
    if (known) {
        // what it reads from memory does not decide that it calls
        frame->calls_back = dep_new_instance(i, frame->node_instance);
        depend_on_arguments(frame->calls_back);
        depend_on_arguments(instance);
    } else if (run.last_callee == NONE) {
        run.unknown[i]++;
    }
    if (insn->callee && strstr(insn->callee, "longjmp"))
        run.jump = instance;
    if (run.table.nodes[insn->node].returns_twice)
        *DEP_PUSH(&run, landings) = (struct landing){run.frames_count - 1, i, instance};
}

// Arguments beyond the fixed ones, where the ABI puts them (System V, 3.5.7).
static void place_variadic(struct dep_frame *frame, uint32_t offsets, uint64_t saved, uint64_t rest)
{
    const struct dep_function *function = function_of(frame);
    uint32_t whole = offsets & 0xffff, floating = offsets >> 16;

    if (!frame->direct || function->fixed < 0)
        return;
    const struct dep_insn *call = &run.table.insns[dep_insn_of(frame->call)];
    for (uint32_t k = (uint32_t)function->fixed; k < frame->passed_count; k++) {
        char class = run.table.operands[call->first_operand + k].class;
        uint32_t made = dep_new_instance(dep_insn_of(frame->call), dep_node_of(frame->call));
        dep_depend(made, run.values[frame->first_value + function->insn_count + k]);
        if (class == 'g' && whole < 48) {
            dep_set_writer(saved + whole, 8, made);
            whole += 8;
        } else if (class == 'f' && floating < 176) {
            dep_set_writer(saved + floating, 16, made);
            floating += 16;
        } else if (class == 'x') {
            return;
        } else {
            dep_set_writer(rest, 8, made);
            rest += 8;
        }
    }
}

static void take_parameter(uint32_t number, uint64_t address, uint64_t size)
{
    const struct passed *passed = &run.passed[number % 64];

    dep_set_writer(address, size, 0);
    for (uint64_t i = 0; passed->size == size && i < size; i++)
        dep_set_writer(address + i, 1, dep_writer(passed->address + i));
}

// ---------------------------------------------------------------- objects

static void allocate(struct dep_frame *frame, uint32_t insn, uint64_t address, uint64_t size,
                     bool keeps)
{
    bool local = run.table.insns[insn].kind == 'a';
    struct dep_identity identity = {local ? DEP_OBJECT_LOCAL : DEP_OBJECT_HEAP, insn, {NONE, NONE}};
    uint32_t depth = 0;

    for (uint32_t f = run.frames_count; !local && depth < 2 && f-- > 0 && run.frames[f].call;)
        identity.outer[depth++] = dep_insn_of(run.frames[f].call);
    if (local)
        instance_of(frame, insn);
    if (!keeps)
        dep_set_writer(address, size, 0);
    uint32_t object = dep_begin_object(&identity, address, size);
    if (local)
        *DEP_PUSH(&run, locals) = object;
}

static void add_global(uint32_t module, uint32_t index, uint64_t address)
{
    uint32_t number = run.table.modules[module].first_global + index;
    struct dep_identity identity = {DEP_OBJECT_GLOBAL, number, {NONE, NONE}};

    dep_begin_object(&identity, address, run.table.globals[number].size);
}

// ---------------------------------------------------------------- the trace

static void take_outer(const struct dep_record *record, uint32_t kind, uint32_t at)
{
    switch (kind) {
    case DEP_NODE:
        begin_node(record->extra, at);
        break;
    case DEP_ENTER:
        enter(at, (uint32_t)record->value, record->extra);
        break;
    case DEP_LEAVE:
        leave();
        break;
    case DEP_FUNCTION:
        *function_slot(record->value) = run.table.modules[record->extra].first_function + at;
        break;
    case DEP_GLOBAL:
        add_global(record->extra, at, record->value);
        break;
    case DEP_PASS:
        run.passed[at % 64] = (struct passed){record->value, record->extra};
        break;
    default:
        break;
    }
}

// Records that are about an instruction of the innermost activation.
static void take_insn(struct dep_frame *frame, const struct dep_record *record, uint32_t kind,
                      uint32_t insn)
{
    uint32_t instance;

    if (kind == DEP_CALL) {
        make_call(frame, insn, record->extra != 0, record->value);
        return;
    }
    instance = kind == DEP_FREE ? 0 : instance_of(frame, insn);
    if (kind == DEP_READ)
        note_read(instance, record->value, record->extra);
    else if (kind == DEP_WRITE)
        note_write(instance, record->value, record->extra);
    else if (kind == DEP_COPY)
        note_copy(instance, record->value, record[1].value, record->extra);
    else if (kind == DEP_FREE)
        dep_release(record->value, record->extra != 0);
    else if (kind == DEP_FORGET)
        dep_set_writer(record->value, record->extra, 0);
    else if (kind == DEP_CLOBBER)
        dep_clobber(record->value);
    else if (kind == DEP_VARIADIC)
        place_variadic(frame, record->extra, record->value, record[1].value);
}

static void take(const struct dep_record *record)
{
    uint32_t kind = record->kind_at >> DEP_AT_BITS,
             at = record->kind_at & ((1u << DEP_AT_BITS) - 1);
    struct dep_frame *frame = top();
    bool outer = kind == DEP_NODE || kind == DEP_ENTER || kind == DEP_LEAVE ||
                 kind == DEP_FUNCTION || kind == DEP_GLOBAL || kind == DEP_PASS;

    if (outer) {
        take_outer(record, kind, at);
    } else if (kind == DEP_PARAM) {
        take_parameter(at, record->value, record->extra);
    } else if (frame && kind != DEP_MORE) {
        uint32_t first = run.table.modules[function_of(frame)->module].first_insn;
        if (kind == DEP_ALLOCATE)
            allocate(frame, first + (at & ~DEP_KEEPS), record->value, record->extra,
                     (at & DEP_KEEPS) != 0);
        else
            take_insn(frame, record, kind, first + at);
    }
}

// ---------------------------------------------------------------- the slice

/*
 * From what the innermost activation was about to do, and from the calls that led there. A call
 * that did not return is taken with all its arguments, whatever it calls. An activation that no
 * call has entered (a signal's handler) began where the one below it stood.
 */
static uint32_t slice(bool *in_slice)
{
    const struct dep_frame *frame = top();
    uint32_t count = 0;

    if (frame && frame->in_call && run.last_call == frame->current)
        depend_on_arguments(frame->current);
    for (uint32_t f = 0; f < run.frames_count; f++) {
        const struct dep_frame *at = &run.frames[f];
        bool entered = f + 1 < run.frames_count && run.frames[f + 1].call;
        if (at == frame)
            count += dep_mark(at->current, in_slice);
        else if (!entered && at->current)
            count += dep_mark(dep_choice(dep_node_of(at->current)), in_slice);
        count += dep_mark(at->call, in_slice);
    }
    return count;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: dep_slice TRACE TABLE...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        dep_table_read(&run.table, argv[i]);
    const struct dep_header *header = dep_trace_map(argv[1]);
    const struct dep_record *records = (const struct dep_record *)(header + 1);
    run.addresses = calloc(ADDRESSES, sizeof(*run.addresses));
    run.address_keys = calloc(ADDRESSES, sizeof(*run.address_keys));
    run.unknown = calloc(run.table.insns_count + 1, sizeof(*run.unknown));
    bool *in_slice = calloc(run.table.insns_count + 1, sizeof(bool));
    if (!run.addresses || !run.address_keys || !run.unknown || !in_slice)
        dep_fail("out of memory", argv[1]);
    for (uint64_t i = 0; i < header->length; i++)
        take(&records[i]);
    struct dep_result result = {.table = &run.table,
                                .frames = run.frames,
                                .frame_count = run.frames_count,
                                .in_slice = in_slice,
                                .unknown = run.unknown,
                                .records = header->length,
                                .instances = dep_instance_count()};
    result.marked = slice(in_slice);
    uint32_t last =
        header->length ? records[header->length - 1].kind_at >> DEP_AT_BITS : (uint32_t)DEP_NODE;
    result.is_vague = last == DEP_NODE || last == DEP_ENTER || last == DEP_LEAVE;
    dep_write_result(&result);
    return 0;
}
