// SPDX-License-Identifier: Apache-2.0
/*
 * Random small programs with random memory accesses, for tests of dependences: a model and its code
 * made by hand, and a points-to analysis that answers whatever was drawn.
 *
 *     struct program *program = program_random(seed);
 *     struct dependence *dependence = dependence_create(&program->model, NULL);
 *     ... program->writes[insn] is the mask of cells that the instruction may write ...
 *
 * Only dependence_*.o is linked with this: the functions of points_to.h that it uses are here.
 */
#ifndef TESTS_UNIT_DEPENDENCE_FIXTURE_H
#define TESTS_UNIT_DEPENDENCE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence.h"
#include "analysis/points_to.h"
#include "common/alloc.h"
#include "common/hash.h"
#include "common/strbuf.h"

enum {
    MODULES = 2,
    MOST_FUNCTIONS = 5,
    MOST_NODES = 8 * MOST_FUNCTIONS,
    MOST_INSNS = 10 * MOST_NODES,
    MOST_EDGES = 3 * MOST_NODES,
    MOST_SETS = 8,
    MOST_CELLS = 48,
    MOST_OBJECTS = 32,
};

#define ANYTHING (UINT64_C(1) << 63)

struct program {
    uint64_t random;
    struct model model;
    struct model_module modules[MODULES];
    struct code code[MODULES];
    struct model_function functions[MOST_FUNCTIONS];
    struct model_node nodes[MOST_NODES];
    struct code_node code_nodes[MODULES][MOST_NODES];
    struct model_site sites[MOST_NODES];
    uint32_t successor_start[MOST_NODES + 1];
    struct node_id successor[MOST_EDGES];
    struct insn insns[MODULES][MOST_INSNS];
    struct operand operands[MODULES][2 * MOST_INSNS];
    struct type types[3];
    struct gep geps[2]; // to the second cell; to any
    struct gep_step step;
    struct call call_kinds[2]; // of an intrinsic, of assembly
    struct global globals[2];  // intrinsics: one that keeps addresses to itself, one that may not
    uint32_t callees_of_site[MOST_NODES], callbacks_of_site[MOST_NODES];
    uint32_t set_start[MOST_SETS + 1];
    struct function_id members[MOST_SETS * MOST_FUNCTIONS];
    struct root roots[8];

    struct object objects[MOST_OBJECTS];
    struct cell cells[MOST_CELLS];
    uint32_t object_count, cell_count;
    uint64_t pool[4];
    uint32_t pooled;              // so many of four accesses are of a set of the pool
    uint32_t owner[MOST_OBJECTS]; // of a local: function
    bool late[MOST_FUNCTIONS];    // its locals are made behind its entry, perhaps many times
    bool is_named[MOST_OBJECTS];  // of a local: it is used by its name, not by pointers alone
    bool leaks[MOST_OBJECTS];     // of a local: its address gets away, or it is late

    // By module and instruction: masks of cells, and what points_to_accesses gives.
    uint64_t reads[MODULES][MOST_INSNS], writes[MODULES][MOST_INSNS], certain[MODULES][MOST_INSNS];
    uint64_t covered[MODULES][MOST_INSNS]; // of a local: the store itself covers these
    struct cell_id lists[3][MODULES][MOST_INSNS][MOST_CELLS];
};

static struct program *fixture_program; // the one that points_to_* speak of

static uint32_t draw(struct program *program, uint32_t below)
{
    program->random += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash_mix(program->random) >> 33) % below;
}

// ---- Points-to

static struct cell_set fixture_set(uint32_t kind, uint32_t module, uint32_t insn, uint64_t mask)
{
    struct cell_id *list = fixture_program->lists[kind][module][insn];
    struct cell_set set = {list, 0, (mask & ANYTHING) != 0};

    for (uint32_t c = 0; c < fixture_program->cell_count && !set.is_anything; c++)
        if (mask >> c & 1)
            list[set.count++].value = c;
    return set;
}

struct accesses points_to_accesses(const struct points_to *points_to, struct module_id module,
                                   uint32_t insn)
{
    const struct program *program = fixture_program;

    (void)points_to;
    return (struct accesses){
        fixture_set(0, module.value, insn, program->reads[module.value][insn]),
        fixture_set(1, module.value, insn, program->writes[module.value][insn]),
        fixture_set(2, module.value, insn, program->certain[module.value][insn])};
}

const struct object *points_to_object(const struct points_to *points_to, struct object_id object)
{
    (void)points_to;
    assert_true(object.value < fixture_program->object_count);
    return &fixture_program->objects[object.value];
}

uint32_t points_to_cell_count(const struct points_to *points_to)
{
    (void)points_to;
    return fixture_program->cell_count;
}

const struct cell *points_to_cell(const struct points_to *points_to, struct cell_id cell)
{
    (void)points_to;
    assert_true(cell.value < fixture_program->cell_count);
    return &fixture_program->cells[cell.value];
}

const char *points_to_cell_name(const struct points_to *points_to, struct cell_id cell,
                                struct strbuf *text)
{
    (void)points_to;
    strbuf_clear(text);
    strbuf_printf(text, "%u", cell.value);
    return text->data;
}

// ---- Objects

static void add_object(struct program *program, enum object_kind kind, bool is_single,
                       uint32_t cells)
{
    struct object *object = &program->objects[program->object_count];

    *object = (struct object){.kind = (uint8_t)kind,
                              .is_single = is_single,
                              .module = MODEL_NONE,
                              .size = 4 * cells,
                              .first_cell = program->cell_count,
                              .cell_count = cells};
    for (uint32_t i = 0; i < cells; i++)
        program->cells[program->cell_count++] = (struct cell){{program->object_count}, 4 * i, 0, 4};
    program->owner[program->object_count++] = MODEL_NONE;
    assert_true(program->object_count <= MOST_OBJECTS && program->cell_count <= MOST_CELLS);
}

static uint64_t object_mask(const struct program *program, uint32_t object)
{
    const struct object *o = &program->objects[object];

    return ((UINT64_C(1) << o->cell_count) - 1) << o->first_cell;
}

// ---- Instructions

static struct insn *add_insn(struct program *program, uint32_t m, uint32_t node,
                             enum insn_opcode opcode, uint32_t *ret_index)
{
    struct code *code = &program->code[m];
    uint32_t index = code->insns_count++;

    assert_true(index < MOST_INSNS);
    program->insns[m][index] = (struct insn){.opcode = (uint8_t)opcode,
                                             .node = node,
                                             .detail = 1,
                                             .first_operand = code->operands_count};
    program->code_nodes[m][node].insn_count++;
    if (ret_index)
        *ret_index = index;
    return &program->insns[m][index];
}

static void add_operand(struct program *program, uint32_t m, struct insn *insn,
                        struct operand operand)
{
    assert_true(insn->first_operand + insn->operand_count == program->code[m].operands_count);
    program->operands[m][program->code[m].operands_count++] = operand;
    insn->operand_count++;
}

// Cells that anybody may hold the address of.
static uint64_t shared_cells(const struct program *program)
{
    uint64_t mask = 0;

    for (uint32_t o = 0; o < program->object_count; o++)
        if (program->owner[o] == MODEL_NONE || program->leaks[o])
            mask |= object_mask(program, o);
    return mask;
}

static uint64_t draw_cells(struct program *program)
{
    uint64_t shared = shared_cells(program), mask = 0;

    if (draw(program, 40) == 0)
        return ANYTHING;
    if (draw(program, 4) < program->pooled)
        return program->pool[draw(program, 4)] & shared;
    for (uint32_t i = 0, count = 1 + draw(program, 4); i < count; i++)
        mask |= UINT64_C(1) << draw(program, program->cell_count);
    return mask & shared;
}

static uint64_t draw_certain(struct program *program, uint64_t writes)
{
    uint64_t mask = 0;

    for (uint32_t o = 0; o < program->object_count; o++) {
        bool wanted = draw(program, 2);
        if (wanted && program->objects[o].is_single && !(writes & ANYTHING))
            mask |= object_mask(program, o) & writes;
    }
    return mask;
}

static void add_access(struct program *program, uint32_t m, uint32_t node)
{
    static const enum insn_opcode opcodes[] = {INSN_LOAD, INSN_STORE, INSN_RMW, INSN_CMPXCHG};
    uint32_t i;
    struct insn *insn = add_insn(program, m, node, opcodes[draw(program, 4)], &i);

    if (insn->opcode == INSN_STORE)
        add_operand(program, m, insn, operand_make(OPERAND_CONSTANT, 0));
    add_operand(program, m, insn, operand_make(OPERAND_CONSTANT, 0));
    if (insn->opcode != INSN_STORE)
        program->reads[m][i] = draw_cells(program);
    if (insn->opcode != INSN_LOAD) {
        program->writes[m][i] = draw_cells(program);
        program->certain[m][i] = draw_certain(program, program->writes[m][i]);
    }
}

// An access of a local by its name, or of its second cell or any cell through a getelementptr.
static void add_local_access(struct program *program, uint32_t m, uint32_t node, uint32_t object)
{
    const struct object *o = &program->objects[object];
    bool second = o->cell_count > 1 && draw(program, 2), is_any = draw(program, 6) == 0;
    bool is_store = draw(program, 2), is_whole = draw(program, 4) && !is_any;
    struct operand address = operand_make(OPERAND_INSN, o->index);
    uint64_t mask = is_any ? object_mask(program, object) : UINT64_C(1) << (o->first_cell + second);
    uint32_t i;

    if (second || is_any) {
        struct insn *gep = add_insn(program, m, node, INSN_GEP, &i);
        gep->detail = is_any;
        add_operand(program, m, gep, address);
        address = operand_make(OPERAND_INSN, i);
    }
    struct insn *insn = add_insn(program, m, node, is_store ? INSN_STORE : INSN_LOAD, &i);
    insn->detail = is_whole || is_any ? 1 : 2;
    if (is_store)
        add_operand(program, m, insn, operand_make(OPERAND_CONSTANT, 0));
    add_operand(program, m, insn, address);
    // points-to may not know where exactly
    (is_store ? program->writes : program->reads)[m][i] =
        draw(program, 3) ? mask : object_mask(program, object);
    if (is_store && is_whole && o->is_single)
        program->certain[m][i] = mask;
    if (is_store && is_whole && !program->leaks[object])
        program->covered[m][i] = mask;
}

// An instruction that has this address, or one a step away from it, as its only operand.
static struct insn *add_use(struct program *program, uint32_t m, uint32_t node,
                            enum insn_opcode opcode, uint32_t address)
{
    if (draw(program, 2)) {
        struct insn *gep = add_insn(program, m, node, INSN_GEP, NULL);
        gep->detail = 0;
        add_operand(program, m, gep, operand_make(OPERAND_INSN, address));
        address = program->code[m].insns_count - 1;
    }
    struct insn *insn = add_insn(program, m, node, opcode, NULL);
    add_operand(program, m, insn, operand_make(OPERAND_INSN, address));
    return insn;
}

static void add_callee(struct program *program, uint32_t m, struct insn *call, uint32_t kind,
                       struct operand callee)
{
    call->detail = kind;
    add_operand(program, m, call, callee);
}

// The address gets to where others may use it.
static void add_leak(struct program *program, uint32_t m, uint32_t node, uint32_t local)
{
    static const enum insn_opcode opcodes[] = {INSN_RET, INSN_PTRTOINT, INSN_PHI};

    switch (draw(program, 4)) {
    case 0:
        add_operand(program, m, add_use(program, m, node, INSN_STORE, local),
                    operand_make(OPERAND_CONSTANT, 0));
        break;
    case 1:
        add_callee(program, m, add_use(program, m, node, INSN_CALL, local), 0,
                   operand_make(OPERAND_GLOBAL, 1));
        break;
    case 2:
        add_callee(program, m, add_use(program, m, node, INSN_CALL, local), 1,
                   operand_make(OPERAND_ASM, 0));
        break;
    default:
        add_use(program, m, node, opcodes[draw(program, 3)], local);
        break;
    }
}

static void add_harmless_use(struct program *program, uint32_t m, uint32_t node, uint32_t local)
{
    switch (draw(program, 3)) {
    case 0:
        add_use(program, m, node, INSN_ICMP, local);
        break;
    case 1:
        add_callee(program, m, add_use(program, m, node, INSN_CALL, local), 0,
                   operand_make(OPERAND_GLOBAL, 0));
        break;
    default:
        break;
    }
}

// ---- Nodes

static void add_edge(struct program *program, uint32_t to)
{
    assert_true(program->model.edge_count < MOST_EDGES);
    program->successor[program->model.edge_count++].value = to;
}

// Any node of the function but its landing pad.
static uint32_t draw_target(struct program *program, const struct model_function *f, uint32_t pad)
{
    uint32_t n;

    do
        n = f->first_node + draw(program, f->node_count);
    while (n == pad);
    return n;
}

static uint32_t draw_site_flags(struct program *program)
{
    static const uint32_t flags[] = {SITE_NORETURN,
                                     SITE_LONGJMP,
                                     SITE_MAY_LONGJMP,
                                     SITE_EXITS,
                                     SITE_EXTERNAL,
                                     SITE_NOUNWIND,
                                     SITE_EXTERNAL | SITE_NOUNWIND};

    return draw(program, 2) ? 0 : flags[draw(program, 7)];
}

static void add_call(struct program *program, uint32_t m, uint32_t f, uint32_t n, uint32_t pad)
{
    struct model *model = &program->model;
    struct model_function *function = &program->functions[f];
    uint32_t site = model->site_count++, i;
    bool is_invoke = pad != MODEL_NONE && draw(program, 2);
    bool is_twice = !is_invoke && draw(program, 4) == 0;

    program->nodes[n].site.value = site;
    program->nodes[n].flags |= NODE_CALL | (is_twice ? NODE_RETURNS_TWICE : 0);
    function->flags |= is_twice ? FUNCTION_SETJMP : 0;
    program->sites[site] = (struct model_site){{n}, NULL, draw_site_flags(program)};
    if (is_twice)
        program->sites[site].flags = SITE_RETURNS_TWICE | SITE_EXTERNAL | SITE_NOUNWIND;
    if (!is_twice) {
        program->callees_of_site[site] = draw(program, model->callees.set_count);
        program->callbacks_of_site[site] =
            draw(program, 3) ? 0 : draw(program, model->callees.set_count);
    }
    add_insn(program, m, n - program->modules[m].first_node, is_invoke ? INSN_INVOKE : INSN_CALL,
             &i);
    if (draw(program, 3) == 0) {
        program->reads[m][i] = draw_cells(program);
        program->writes[m][i] = draw_cells(program);
        program->certain[m][i] = draw_certain(program, program->writes[m][i]);
    }
    add_edge(program, draw_target(program, function, pad));
    if (is_invoke)
        add_edge(program, pad);
}

static void add_end(struct program *program, uint32_t m, uint32_t f, uint32_t n, uint32_t pad)
{
    static const uint32_t flags[] = {NODE_RETURN, NODE_RETURN, NODE_RETURN, NODE_UNREACHABLE,
                                     NODE_RESUME};
    static const enum insn_opcode opcodes[] = {INSN_RET, INSN_RET, INSN_RET, INSN_UNREACHABLE,
                                               INSN_RESUME};
    uint32_t node = n - program->modules[m].first_node,
             which = draw(program, pad == MODEL_NONE ? 4 : 5);

    if (draw(program, 4) == 0) {
        program->nodes[n].flags |= flags[which];
        add_insn(program, m, node, opcodes[which], NULL);
        return;
    }
    add_insn(program, m, node, INSN_BR, NULL);
    for (uint32_t i = 0, count = 1 + draw(program, 3); i < count; i++)
        add_edge(program, draw_target(program, &program->functions[f], pad));
}

static void add_node(struct program *program, uint32_t m, uint32_t f, uint32_t n, uint32_t pad)
{
    uint32_t node = n - program->modules[m].first_node;

    program->nodes[n] = (struct model_node){
        .function = {f}, .site = {MODEL_NONE}, .flags = n == pad ? NODE_LANDING : 0};
    program->code_nodes[m][node] =
        (struct code_node){.function = program->functions[f].index,
                           .block = n != program->functions[f].first_node || program->late[f],
                           .first_insn = program->code[m].insns_count};
    program->successor_start[n] = program->model.edge_count;
    for (uint32_t o = 0; o < program->object_count; o++) {
        if (program->owner[o] != f)
            continue;
        if (n == program->functions[f].first_node) {
            uint32_t i;
            add_insn(program, m, node, INSN_ALLOCA, &i);
            program->objects[o].module = m;
            program->objects[o].index = i;
            if (program->leaks[o] && !program->late[f])
                add_leak(program, m, node, i);
            else
                add_harmless_use(program, m, node, i);
        }
        if (draw(program, 2) && program->is_named[o])
            add_local_access(program, m, node, o);
    }
    for (uint32_t i = 0, count = draw(program, 3); i < count; i++)
        add_access(program, m, node);
    if (draw(program, 5) < 2)
        add_call(program, m, f, n, pad);
    else
        add_end(program, m, f, n, pad);
    program->successor_start[n + 1] = program->model.edge_count;
}

// ---- The whole

// Few sets, so that cells of several objects are always met together; in some programs.
static void draw_pool(struct program *program)
{
    program->pooled = draw(program, 5);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t c = 0; c < program->cell_count; c++)
            if (draw(program, 2))
                program->pool[i] |= UINT64_C(1) << c;
}

static void draw_sets(struct program *program)
{
    struct callee_table *table = &program->model.callees;
    uint32_t count = 0;

    table->set_count = 1 + draw(program, MOST_SETS);
    for (uint32_t s = 0; s < table->set_count; s++) {
        program->set_start[s] = count;
        for (uint32_t f = 0; s > 0 && f < program->model.function_count; f++)
            if (draw(program, 3) == 0)
                program->members[count++].value = f;
        program->set_start[s + 1] = count;
    }
}

static void draw_roots(struct program *program)
{
    program->roots[program->model.root_count++] = (struct root){{0}, ROOT_MAIN};
    for (uint32_t f = 0; f < program->model.function_count; f++)
        if (draw(program, 12) == 0)
            program->roots[program->model.root_count++] =
                (struct root){{f}, draw(program, 2) ? ROOT_THREAD : ROOT_SIGNAL};
}

static void draw_objects(struct program *program)
{
    add_object(program, OBJECT_WORLD, false, 1);
    for (uint32_t i = 0, count = 1 + draw(program, 3); i < count; i++)
        add_object(program, OBJECT_GLOBAL, true, 1 + draw(program, 3));
    for (uint32_t i = 0, count = draw(program, 3); i < count; i++)
        add_object(program, OBJECT_HEAP, false, 1 + draw(program, 2));
    for (uint32_t f = 0; f < program->model.function_count; f++) {
        program->late[f] = draw(program, 6) == 0;
        for (uint32_t i = 0, count = draw(program, 3); i < count; i++) {
            add_object(program, OBJECT_LOCAL, false, 1 + draw(program, 2));
            program->owner[program->object_count - 1] = f;
            program->leaks[program->object_count - 1] = draw(program, 2) || program->late[f];
            program->is_named[program->object_count - 1] = draw(program, 3);
        }
    }
}

static void add_functions(struct program *program, const bool *single)
{
    struct model *model = &program->model;

    for (uint32_t o = 0; o < program->object_count; o++)
        if (program->owner[o] != MODEL_NONE)
            program->objects[o].is_single = single[program->owner[o]];
    for (uint32_t m = 0, f = 0; m < MODULES; m++) {
        program->modules[m] =
            (struct model_module){.first_function = f, .first_node = model->node_count};
        uint32_t end = m + 1 == MODULES ? model->function_count : draw(program, f + 3);
        for (; f < end && f < model->function_count; f++) {
            struct model_function *function = &program->functions[f];
            uint32_t count = 1 + draw(program, 8);
            *function = (struct model_function){.module = {m},
                                                .index = program->modules[m].function_count++,
                                                .name = "f",
                                                .first_node = model->node_count,
                                                .node_count = count};
            model->node_count += count;
            uint32_t pad = count > 2 && draw(program, 4) == 0
                               ? function->first_node + 1 + draw(program, count - 1)
                               : MODEL_NONE;
            for (uint32_t n = 0; n < count; n++)
                add_node(program, m, f, function->first_node + n, pad);
        }
    }
}

static void link_tables(struct program *program)
{
    struct model *model = &program->model;

    model->module_count = MODULES;
    model->modules = program->modules;
    model->functions = program->functions;
    model->nodes = program->nodes;
    model->sites = program->sites;
    model->successor_start = program->successor_start;
    model->successor = program->successor;
    model->roots = program->roots;
    model->callees.callees_of_site = program->callees_of_site;
    model->callees.callbacks_of_site = program->callbacks_of_site;
    model->callees.set_start = program->set_start;
    model->callees.members = program->members;
    model->complete = true;
    program->types[1].store = 4;
    program->types[2].store = 1;
    program->geps[0] = (struct gep){.offset = 4};
    program->geps[1] = (struct gep){.step_count = 1};
    program->step = (struct gep_step){.index = operand_make(OPERAND_ARGUMENT, 0), .stride = 4};
    program->call_kinds[0] = (struct call){.flags = CALL_INTRINSIC, .argument_count = 1};
    program->call_kinds[1] = (struct call){.flags = CALL_ASM, .argument_count = 1};
    program->globals[0].name.value = 1;
    program->globals[1].name.value = 1 + sizeof("llvm.memset.p0.i64");
    for (uint32_t m = 0; m < MODULES; m++) {
        struct code *code = &program->code[m];
        code->insns = program->insns[m];
        code->nodes = program->code_nodes[m];
        code->operands = program->operands[m];
        code->types = program->types;
        code->types_count = 3;
        code->geps = program->geps;
        code->gep_steps = &program->step;
        code->calls = program->call_kinds;
        code->globals = program->globals;
        code->strings = "\0llvm.memset.p0.i64\0llvm.launder";
        code->strings_count = 64;
        program->modules[m].code = code;
    }
}

// Which functions can be active twice at a time is known once calls were drawn; locals that are
// single are drawn again then, from the same seed.
static struct program *program_draw(uint64_t seed, const bool *single)
{
    struct program *program = xcalloc(1, sizeof(*program));

    fixture_program = program;
    program->random = seed;
    program->model.function_count = 1 + draw(program, MOST_FUNCTIONS);
    draw_sets(program);
    draw_roots(program);
    draw_objects(program);
    draw_pool(program);
    add_functions(program, single);
    link_tables(program);
    return program;
}

#endif
