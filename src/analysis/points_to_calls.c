// SPDX-License-Identifier: Apache-2.0
// Calls: direct ones at once, others as functions reach the pointer that is called.
#include <string.h>

#include "analysis/points_to_internal.h"

uint32_t call_add(struct points_to *pt, struct pt_call call)
{
    uint32_t index = (uint32_t)pt->calls.length;

    call.plain = call.result;
    pt_call_vec_push(&pt->calls, call);
    return index;
}

struct value call_argument(const struct points_to *pt, uint32_t call, uint32_t index)
{
    const struct pt_call *c = &pt->calls.data[call];

    if (index >= c->argument_count)
        return (struct value){0};
    return (struct value){pt->call_arguments.data[c->first_argument + index]};
}

// ---- Functions of the model

static void pass_variadic(struct points_to *pt, uint32_t call, uint32_t function, uint32_t from)
{
    const struct pt_call *c = &pt->calls.data[call];
    uint32_t count = c->argument_count;

    if (from >= count)
        return;
    const struct code *code = pt->model->modules[c->module].code;
    bool has_memory = false; // a struct may be among them: what it holds is passed
    if (c->site != MODEL_NONE)
        has_memory =
            code->sites[c->site - pt->model->modules[c->module].first_site].signature.memory > 0;
    uint32_t node = point_write(pt, point_get(pt, variadic_object(pt, function), 0), 8);
    for (uint32_t i = from; i < count; i++) {
        struct value value = call_argument(pt, call, i);
        value_flow(pt, value, node);
        if (has_memory)
            value_flow(pt, value_move(pt, value, CONSTRAINT_LOAD_ALL, 0, 0), node);
    }
}

static void pass_arguments(struct points_to *pt, uint32_t call, uint32_t function)
{
    const struct model_function *f = &pt->model->functions[function];
    const struct code *code = pt->model->modules[f->module.value].code;
    const struct code_function *body = &code->functions[f->index];

    for (uint32_t i = 0; i < body->argument_count; i++) {
        uint32_t index = body->first_argument + i;
        struct value parameter = pt->argument_values[f->module.value][index];
        struct value value = call_argument(pt, call, i);
        if (code->arguments[index].flags & ARGUMENT_BYVAL)
            value_copy(pt, parameter, value, code_type(code, code->arguments[index].pointee)->size);
        else
            value_flow(pt, value, parameter.bits);
    }
    if (f->flags & FUNCTION_VARARGS)
        pass_variadic(pt, call, function, body->argument_count);
}

static void wire_function(struct points_to *pt, uint32_t call, uint32_t function)
{
    id_vec_push(&pt->calls.data[call].functions, function);
    pass_arguments(pt, call, function);
    if (pt->functions[function].is_wrapper) {
        wrapper_called(pt, call, function);
        return;
    }
    const struct pt_call *c = &pt->calls.data[call];
    if (c->plain)
        node_add_edge(pt, pt->functions[function].result, c->plain);
}

static bool model_allows(const struct points_to *pt, const struct pt_call *call, uint32_t function)
{
    if (call->is_callback || call->site == MODEL_NONE)
        return true;
    struct function_list list = model_callees(pt->model, (struct site_id){call->site});
    uint32_t low = 0, high = list.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list.data[middle].value < function)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list.count && list.data[low].value == function;
}

void call_wire_object(struct points_to *pt, uint32_t call, uint32_t object)
{
    const struct pt_object *o = object_at(pt, object);
    struct pt_call *c = &pt->calls.data[call];

    if ((o->info.kind != OBJECT_FUNCTION && object != WORLD_OBJECT) ||
        !sparse_set_add(&c->done, object))
        return;
    if (object == WORLD_OBJECT)
        call_unknown(pt, call);
    else if (o->name)
        library_wire(pt, call, o->name);
    else if (model_allows(pt, c, o->info.index))
        wire_function(pt, call, o->info.index);
}

// ---- Model-less code

void call_unknown(struct points_to *pt, uint32_t call)
{
    struct pt_call *c = &pt->calls.data[call];

    c->is_unclear = true;
    for (uint32_t i = 0; i < c->argument_count; i++)
        value_flow(pt, call_argument(pt, call, i), pt->world);
    c = &pt->calls.data[call];
    if (c->plain)
        node_add_edge(pt, pt->world, c->plain);
}

void world_call(struct points_to *pt, uint32_t function)
{
    struct pt_function *f = &pt->functions[function];
    const struct model_function *in = &pt->model->functions[function];
    const struct code *code = pt->model->modules[in->module.value].code;
    const struct code_function *body = &code->functions[in->index];

    if (f->is_called_by_world)
        return;
    f->is_called_by_world = true;
    for (uint32_t i = 0; i < body->argument_count; i++) {
        struct value parameter = pt->argument_values[in->module.value][body->first_argument + i];
        if (value_is_point(parameter))
            node_add_edge(pt, pt->world,
                          object_write_all(pt, pt->points.data[value_point(parameter)].object));
        else if (parameter.bits)
            node_add_edge(pt, pt->world, parameter.bits);
    }
    if (in->flags & FUNCTION_VARARGS)
        node_add_edge(pt, pt->world, object_write_all(pt, variadic_object(pt, function)));
    if (f->is_wrapper)
        wrapper_called(pt, MODEL_NONE, function);
    node_add_edge(pt, f->result, pt->world);
}

// ---- Intrinsics and assembly

static bool starts_with(const char *string, const char *start)
{
    return strncmp(string, start, strlen(start)) == 0;
}

static void build_va_start(struct points_to *pt, uint32_t call)
{
    const struct pt_call *c = &pt->calls.data[call];
    struct value list = call_argument(pt, call, 0);
    struct value area = value_of_point(point_get(pt, variadic_object(pt, c->caller), 0));

    // overflow_arg_area and reg_save_area of the x86-64 ABI
    value_store(pt, value_shift(pt, list, 8), area, 8);
    value_store(pt, value_shift(pt, list, 16), area, 8);
}

static void build_intrinsic(struct points_to *pt, uint32_t call, const char *name)
{
    const struct pt_call *c = &pt->calls.data[call];

    if (starts_with(name, "llvm.va_start")) {
        build_va_start(pt, call);
    } else if (starts_with(name, "llvm.va_copy")) {
        value_copy(pt, call_argument(pt, call, 0), call_argument(pt, call, 1), 24);
    } else if (effects_find(name)) {
        library_wire(pt, call, name);
    } else if (c->result) {
        const struct code *code = pt->model->modules[c->module].code;
        uint8_t kind = code_type(code, code->insns[c->insn].type)->kind;
        uint32_t result = c->result, count = c->argument_count;
        bool same = kind == TYPE_POINTER && !starts_with(name, "llvm.ptrmask");
        for (uint32_t i = 0; i < count; i++) {
            struct value value = call_argument(pt, call, i);
            value_flow(pt, same ? value : value_move(pt, value, CONSTRAINT_ANYWHERE, 0, 0), result);
        }
    }
}

// May read and write whatever its operands reach, and give any of it.
static void build_asm(struct points_to *pt, uint32_t call)
{
    uint32_t node = node_create(pt), count = pt->calls.data[call].argument_count;

    for (uint32_t i = 0; i < count; i++)
        value_flow(pt, value_move(pt, call_argument(pt, call, i), CONSTRAINT_ANYWHERE, 0, 0), node);
    node_add_constraint(pt, node, (struct constraint){.kind = CONSTRAINT_LOAD_ALL, .target = node});
    node_add_constraint(pt, node,
                        (struct constraint){.kind = CONSTRAINT_STORE_ALL, .target = node});
    if (pt->calls.data[call].result)
        node_add_edge(pt, node, pt->calls.data[call].result);
}

// ---- Call instructions

static void add_arguments(struct points_to *pt, uint32_t module, const struct insn *insn,
                          struct pt_call *call)
{
    const struct code *code = pt->model->modules[module].code;
    uint32_t count = code_call(code, insn)->argument_count;
    uint32_t *values = xmalloc_array(count + (size_t)1, sizeof(*values));

    for (uint32_t i = 0; i < count; i++) { // may build other instructions
        struct operand operand = code_operand(code, insn, i);
        values[i] = type_carries(code, code_operand_type(code, operand))
                        ? value_of_operand(pt, module, operand).bits
                        : 0;
    }
    call->first_argument = (uint32_t)pt->call_arguments.length;
    call->argument_count = count;
    id_vec_append(&pt->call_arguments, values, count);
    free(values);
}

static void wire_direct(struct points_to *pt, uint32_t call, struct value callee)
{
    if (value_is_point(callee)) {
        call_wire_object(pt, call, pt->points.data[value_point(callee)].object);
    } else if (callee.bits) {
        node_add_constraint(pt, callee.bits,
                            (struct constraint){.kind = CONSTRAINT_CALL, .target = call});
    }
}

void call_build(struct points_to *pt, uint32_t module, uint32_t insn, struct value result)
{
    const struct model_module *m = &pt->model->modules[module];
    const struct insn *in = &m->code->insns[insn];
    const struct call *info = code_call(m->code, in);
    struct operand callee = code_callee(m->code, in);
    struct pt_call call = {
        .module = module,
        .insn = insn,
        .caller = m->first_function + m->code->nodes[in->node].function,
        .site = info->site == CODE_NONE ? MODEL_NONE : m->first_site + info->site,
        .result = result.bits};

    add_arguments(pt, module, in, &call);
    uint32_t index = call_add(pt, call);
    *pt_map_put(&pt->call_of_insn, (uint64_t)module << 32 | insn) = index + 1;
    if (pt->returned_insns && bitset_test(&pt->returned_insns[module], insn) && result.bits) {
        struct pt_function *f = &pt->functions[call.caller];
        struct pt_call *c = &pt->calls.data[index];
        c->is_returned = true;
        c->is_traced = call_is_traced(pt, module, insn);
        id_vec_push(&f->returned, index);
        uint32_t plain = node_create(pt);
        c->plain = plain;
        node_add_edge(pt, plain, result.bits);
        node_add_edge(pt, plain, f->plain);
    }
    if (info->flags & CALL_INTRINSIC)
        build_intrinsic(pt, index,
                        code_string(m->code, m->code->globals[operand_index(callee)].name));
    else if (info->flags & CALL_ASM)
        build_asm(pt, index);
    else if (info->site != CODE_NONE && m->code->sites[info->site].callee != CODE_NONE)
        wire_direct(pt, index, pt->global_values[module][m->code->sites[info->site].callee]);
    else
        wire_direct(pt, index, value_of_operand(pt, module, callee));
}

// ---- Roots

static void give_start(struct points_to *pt, uint32_t function)
{
    const struct model_function *f = &pt->model->functions[function];
    const struct code *code = pt->model->modules[f->module.value].code;
    const struct code_function *body = &code->functions[f->index];

    if (!pt->argument_object) {
        struct object info = {
            .kind = OBJECT_ARGUMENT, .module = MODEL_NONE, .index = 0, .context = MODEL_NONE};
        uint32_t object = object_create(pt, info);
        layout_fold(&object_at(pt, object)->layout, &pt->arena, 0, UINT64_MAX, 1);
        pt->argument_object = object;
        uint32_t point = point_get(pt, object, 0);
        node_add_point(pt, point_write(pt, point, 8), point);
    }
    for (uint32_t i = 1; i < 3 && i < body->argument_count; i++) {
        struct value parameter = pt->argument_values[f->module.value][body->first_argument + i];
        uint32_t object =
            i == 1 ? pt->argument_object : pt->state_objects[EFFECT_STATE_ENVIRONMENT];
        if (parameter.bits && !value_is_point(parameter))
            node_add_point(pt, parameter.bits, point_get(pt, object, 0));
    }
}

void roots_build(struct points_to *pt)
{
    for (uint32_t r = 0; r < pt->model->root_count; r++) {
        uint32_t function = pt->model->roots[r].function.value;
        switch (pt->model->roots[r].reason) {
        case ROOT_MAIN:
        case ROOT_CONSTRUCTOR:
            give_start(pt, function);
            break;
        case ROOT_EXPORTED:
        case ROOT_IFUNC_RESOLVER:
        case ROOT_MODELLESS:
        case ROOT_ASSEMBLY:
        case ROOT_USED:
        case ROOT_BUILTIN:
            world_call(pt, function);
            break;
        default: // by address: when the address gets there
            break;
        }
    }
}
