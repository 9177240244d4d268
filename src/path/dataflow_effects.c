// SPDX-License-Identifier: Apache-2.0
/*
 * What may be written to tracked slots other than by a store that names its slot: through pointers,
 * by intrinsics and by library functions; and what a call of a function may write in all. With
 * points-to this is what it says of the instruction; without, a store through a pointer may be to
 * any slot whose address is known, and a library function writes what effects.h says of it.
 *
 * Slots that other threads or signal handlers may write are anything at all times.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/effects.h"
#include "analysis/points_to.h"
#include "common/alloc.h"
#include "path/dataflow_internal.h"

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static uint32_t close_set(struct dataflow *dataflow, struct u32_vec *variables)
{
    size_t kept = 0;
    bool sorted = true;

    for (size_t i = 1; i < variables->length; i++)
        sorted &= variables->data[i - 1] < variables->data[i];
    if (!sorted)
        qsort(variables->data, variables->length, sizeof(uint32_t), compare_numbers);
    for (size_t i = 0; i < variables->length; i++)
        if (kept == 0 || variables->data[kept - 1] != variables->data[i])
            variables->data[kept++] = variables->data[i];
    uint32_t set = set_intern(dataflow, variables->data, (uint32_t)kept);
    u32_vec_deinit(variables);
    return set;
}

static void add_set(const struct dataflow *dataflow, uint32_t set, struct u32_vec *ret)
{
    const struct variable_set *s = &dataflow->sets.data[set];

    for (uint32_t i = 0; i < s->count; i++)
        u32_vec_push(ret, s->data[i]);
}

const char *callee_name(const struct code *code, const struct insn *insn)
{
    struct operand callee = code_callee(code, insn);

    return operand_kind(callee) == OPERAND_GLOBAL
               ? code_string(code, code->globals[operand_index(callee)].name)
               : NULL;
}

// ---- Slots of objects

// Those that `length` bytes from offset on overlap; UINT64_MAX: to its end.
static void add_slots(const struct dataflow *dataflow, uint32_t object, int64_t offset,
                      uint64_t length, struct u32_vec *ret)
{
    const struct memory_object *o = &dataflow->objects.data[object];

    for (uint32_t s = o->first_slot; s < o->first_slot + o->slot_count; s++) {
        const struct slot *slot = &dataflow->slots.data[s];
        bool before = slot->offset + (int64_t)slot->bytes <= offset;
        bool behind = length != UINT64_MAX && slot->offset >= offset &&
                      (uint64_t)(slot->offset - offset) >= length;
        if (slot->variable != NONE && !before && !behind)
            u32_vec_push(ret, slot->variable);
    }
}

// ---- By points-to

static uint32_t object_of(const struct dataflow *dataflow, const struct object *object)
{
    if (object->module == MODEL_NONE)
        return NONE;
    if (object->kind == OBJECT_GLOBAL)
        return dataflow->modules[object->module].object_of_global[object->index];
    if (object->kind == OBJECT_LOCAL)
        return dataflow->modules[object->module].object_of_insn[object->index];
    return NONE;
}

static void add_cell(const struct dataflow *dataflow, struct cell_id id, struct u32_vec *ret)
{
    const struct cell *cell = points_to_cell(dataflow->points_to, id);
    const struct object *object = points_to_object(dataflow->points_to, cell->object);
    uint32_t known = object_of(dataflow, object);

    if (known == NONE)
        return;
    if (cell->stride == 0 && cell->length)
        add_slots(dataflow, known, (int64_t)cell->offset, cell->length, ret);
    else
        add_slots(dataflow, known, INT64_MIN / 2, UINT64_MAX, ret);
}

static void add_cells(const struct dataflow *dataflow, struct cell_set cells, struct u32_vec *ret)
{
    if (cells.is_anything) {
        add_set(dataflow, dataflow->reachable, ret);
        add_set(dataflow, dataflow->taken, ret);
        return;
    }
    for (uint32_t i = 0; i < cells.count; i++) {
        if (cells.data[i].value == POINTS_TO_WORLD_CELL)
            add_set(dataflow, dataflow->reachable, ret);
        add_cell(dataflow, cells.data[i], ret);
    }
}

// What `length` bytes from an address on may be; UINT64_MAX: unknown.
static void add_address(const struct dataflow *dataflow, uint32_t module, struct operand address,
                        uint64_t length, struct u32_vec *ret)
{
    int64_t offset;
    bool exact;
    uint32_t object = objects_base(dataflow, module, address, &offset, &exact);

    if (object == NONE && dataflow->points_to)
        add_cells(dataflow,
                  points_to_extent(dataflow->points_to, (struct module_id){module}, address,
                                   length == UINT64_MAX ? 0 : length),
                  ret);
    else if (object == NONE)
        add_set(dataflow, dataflow->taken, ret);
    else if (exact)
        add_slots(dataflow, object, offset, length, ret);
    else
        add_slots(dataflow, object, INT64_MIN / 2, UINT64_MAX, ret);
}

// ---- Without

static uint64_t extent_of(const struct code *code, const struct insn *insn,
                          const struct effect *effect)
{
    uint32_t count = code_call(code, insn)->argument_count;
    uint64_t length, other = 1;

    switch (effect->extent.kind) {
    case EFFECT_BYTES:
        return effect->extent.length;
    case EFFECT_SCALED:
    case EFFECT_TIMES:
        if (effect->extent.length >= count ||
            !constant_number(code, code_operand(code, insn, effect->extent.length), &length))
            return UINT64_MAX;
        if (effect->extent.kind == EFFECT_SCALED)
            other = effect->extent.other;
        else if (effect->extent.other != EFFECT_NO_ARGUMENT &&
                 (effect->extent.other >= count ||
                  !constant_number(code, code_operand(code, insn, effect->extent.other), &other)))
            return UINT64_MAX;
        return other && length > (UINT64_MAX >> 1) / other ? UINT64_MAX : length * other;
    default:
        return UINT64_MAX;
    }
}

static void add_effect(const struct dataflow *dataflow, uint32_t module, const struct insn *insn,
                       const struct effect *effect, struct u32_vec *ret)
{
    const struct code *code = dataflow->model->modules[module].code;
    uint32_t count = code_call(code, insn)->argument_count;

    if (effect->kind == EFFECT_READ || effect->kind == EFFECT_RETURNS ||
        effect->kind == EFFECT_ALLOCATES || effect->kind == EFFECT_RELEASES)
        return;
    switch (effect->to.kind) {
    case EFFECT_NOTHING:
    case EFFECT_ARGUMENT:
    case EFFECT_RESULT:
    case EFFECT_RESULT_POINTEE:
    case EFFECT_STATE:
        return;
    case EFFECT_POINTEE:
        if (effect->to.index < count)
            add_address(dataflow, module, code_operand(code, insn, effect->to.index),
                        extent_of(code, insn, effect), ret);
        return;
    case EFFECT_VARIADIC_POINTEE:
        for (uint32_t a = effect->to.index; a < count; a++) {
            struct operand operand = code_operand(code, insn, a);
            if (code_type(code, code_operand_type(code, operand))->kind == TYPE_POINTER)
                add_address(dataflow, module, operand, UINT64_MAX, ret);
        }
        return;
    default:
        add_set(dataflow, dataflow->taken, ret);
    }
}

// Does the format have %n, or may it?
static bool may_store(const struct code *code, const struct insn *insn, uint32_t format)
{
    if (format >= code_call(code, insn)->argument_count)
        return true;
    struct operand operand = code_operand(code, insn, format);
    if (operand_kind(operand) != OPERAND_GLOBAL)
        return true;
    const struct global *global = &code->globals[operand_index(operand)];
    if (!(global->flags & GLOBAL_CONSTANT) || global->kind != GLOBAL_VARIABLE ||
        operand_kind(global->initialiser) != OPERAND_CONSTANT)
        return true;
    const struct constant *text = &code->constants[operand_index(global->initialiser)];
    if (text->kind != CONSTANT_BYTES)
        return text->kind != CONSTANT_ZERO;
    for (uint32_t i = 0; i < text->byte_count; i++) {
        if (code->bytes[text->first_byte + i] != '%')
            continue;
        while (++i < text->byte_count && code->bytes[text->first_byte + i] &&
               strchr("0123456789 #+-'.*hlLjztqI$", code->bytes[text->first_byte + i]))
            continue;
        if (i < text->byte_count && code->bytes[text->first_byte + i] == 'n')
            return true;
    }
    return false;
}

static void add_library(const struct dataflow *dataflow, uint32_t module, const struct insn *insn,
                        struct u32_vec *ret)
{
    const struct code *code = dataflow->model->modules[module].code;
    const char *name = callee_name(code, insn);
    const struct effects *effects = name ? effects_find(name) : NULL;

    if (!effects) {
        add_set(dataflow, dataflow->reachable, ret);
        return;
    }
    bool is_quiet = effects->printf_format != EFFECT_NO_ARGUMENT &&
                    !may_store(code, insn, effects->printf_format);
    for (uint32_t i = 0; i < effects->count; i++) {
        uint8_t to = effects->list[i].to.kind;
        if (!is_quiet || (to != EFFECT_VARIADIC_POINTEE && to != EFFECT_LISTED_POINTEE))
            add_effect(dataflow, module, insn, &effects->list[i], ret);
    }
}

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

// Intrinsics that write to what they are given, and those that do not.
static void add_intrinsic(const struct dataflow *dataflow, uint32_t module, const struct insn *insn,
                          struct u32_vec *ret)
{
    const struct code *code = dataflow->model->modules[module].code;
    const struct call *call = code_call(code, insn);
    const char *name = callee_name(code, insn);
    uint64_t length;

    if (has_prefix(name, "llvm.memcpy.") || has_prefix(name, "llvm.memmove.") ||
        has_prefix(name, "llvm.memset.")) {
        if (!constant_number(code, code_operand(code, insn, 2), &length))
            length = UINT64_MAX;
        add_address(dataflow, module, code_operand(code, insn, 0), length, ret);
        return;
    }
    if (has_prefix(name, "llvm.lifetime.")) { // what it held is lost
        add_address(dataflow, module, code_operand(code, insn, 1), UINT64_MAX, ret);
        return;
    }
    if (call->flags & (CALL_READ_NONE | CALL_READ_ONLY))
        return;
    for (uint32_t a = 0; a < call->argument_count; a++) {
        struct operand operand = code_operand(code, insn, a);
        if (operand_kind(operand) == OPERAND_METADATA || operand_kind(operand) == OPERAND_NONE ||
            code_type(code, code_operand_type(code, operand))->kind != TYPE_POINTER)
            continue;
        add_address(dataflow, module, operand, UINT64_MAX, ret);
    }
}

// ---- One instruction

static bool is_call(const struct insn *insn)
{
    return insn->opcode == INSN_CALL || insn->opcode == INSN_INVOKE || insn->opcode == INSN_CALLBR;
}

static void add_call(const struct dataflow *dataflow, uint32_t module, uint32_t index,
                     struct u32_vec *ret)
{
    const struct code *code = dataflow->model->modules[module].code;
    const struct insn *insn = &code->insns[index];
    const struct call *call = code_call(code, insn);

    if (call->flags & CALL_INTRINSIC)
        add_intrinsic(dataflow, module, insn, ret);
    else if (dataflow->points_to)
        add_cells(dataflow,
                  points_to_accesses(dataflow->points_to, (struct module_id){module}, index).writes,
                  ret);
    else if (call->flags & CALL_ASM) {
        add_set(dataflow, dataflow->reachable, ret);
        for (uint32_t a = 0; a < call->argument_count; a++)
            add_address(dataflow, module, code_operand(code, insn, a), UINT64_MAX, ret);
    } else
        add_library(dataflow, module, insn, ret);
}

// A store, or what writes like one.
static void add_write(const struct dataflow *dataflow, uint32_t module, uint32_t index,
                      struct u32_vec *ret)
{
    const struct code *code = dataflow->model->modules[module].code;
    const struct insn *insn = &code->insns[index];
    struct operand address = code_operand(code, insn, insn->opcode == INSN_STORE ? 1 : 0);
    uint32_t slot = dataflow->modules[module].slot_of_insn[index];
    bool has_type = insn->opcode != INSN_VAARG && insn->detail != CODE_NONE;
    uint64_t length =
        has_type ? code_type(code, (struct type_id){insn->detail})->store : UINT64_MAX;
    size_t first = ret->length;
    add_address(dataflow, module, address, length ? length : UINT64_MAX, ret);
    // what the store itself tells of
    uint32_t own = slot == NONE ? NONE : dataflow->slots.data[slot].variable;
    for (size_t i = first; i < ret->length; i++)
        if (ret->data[i] == own)
            ret->data[i--] = ret->data[--ret->length];
}

uint32_t effects_hits(struct dataflow *dataflow, uint32_t module, uint32_t insn)
{
    const struct insn *at = &dataflow->model->modules[module].code->insns[insn];
    bool is_new;

    if (!is_call(at) && at->opcode != INSN_STORE && at->opcode != INSN_CMPXCHG &&
        at->opcode != INSN_RMW && at->opcode != INSN_VAARG)
        return 0;
    int64_t offset;
    bool exact;
    if (at->opcode == INSN_STORE && !dataflow->points_to &&
        objects_base(dataflow, module, code_operand(dataflow->model->modules[module].code, at, 1),
                     &offset, &exact) == NONE)
        return dataflow->taken;
    uint64_t key = dataflow->modules[module].first_insn + insn;
    uint32_t *known = number_map_put_new(&dataflow->hits_of_insn, key, &is_new);
    if (!is_new)
        return *known;
    struct u32_vec hits = VEC_INIT;
    if (is_call(at))
        add_call(dataflow, module, insn, &hits);
    else
        add_write(dataflow, module, insn, &hits);
    uint32_t set = close_set(dataflow, &hits);
    *number_map_put(&dataflow->hits_of_insn, key) = set;
    return set;
}

// ---- What a call may write

struct summary {
    struct dataflow *dataflow;
    uint32_t *open; // by variable: its number among those that others may see, or NONE
    uint32_t open_count;
    struct u32_vec variables; // by that number
    struct bitset *writes;    // by function of the flow
};

static void mark_set(struct summary *summary, uint32_t function, uint32_t set)
{
    const struct variable_set *s = &summary->dataflow->sets.data[set];

    for (uint32_t i = 0; i < s->count; i++)
        if (summary->open[s->data[i]] != NONE)
            bitset_set(&summary->writes[function], summary->open[s->data[i]]);
}

static bool runs_library(const struct dataflow *dataflow, uint32_t node, const struct insn *insn,
                         const struct code *code)
{
    uint32_t site = code_call(code, insn)->site;

    if (site == CODE_NONE)
        return true;
    struct site_id id = dataflow->model->nodes[node].site;
    return dataflow->model->sites[id.value].flags & SITE_EXTERNAL ||
           flow_callees(dataflow->flow, node).count == 0;
}

static void mark_node(struct summary *summary, uint32_t node)
{
    struct dataflow *dataflow = summary->dataflow;
    uint32_t function = dataflow->flow->node_function[node], module;
    const struct code_node *at;
    const struct code *code = node_code(dataflow, node, &module, &at);

    for (uint32_t i = at->first_insn; i < at->first_insn + at->insn_count; i++) {
        const struct insn *insn = &code->insns[i];
        uint32_t slot = dataflow->modules[module].slot_of_insn[i];
        if (insn->opcode == INSN_STORE && slot != NONE) {
            uint32_t variable = dataflow->slots.data[slot].variable;
            if (variable != NONE && summary->open[variable] != NONE)
                bitset_set(&summary->writes[function], summary->open[variable]);
        }
        if (is_call(insn) && !runs_library(dataflow, node, insn, code))
            continue;
        uint32_t set = effects_hits(dataflow, module, i);
        mark_set(summary, function, set);
        // between callbacks the library may write as well
        struct flow_callees callees = flow_callees(dataflow->flow, node);
        for (uint32_t k = 0; is_call(insn) && k < callees.count; k++)
            if (callees.data[k] >= dataflow->model->function_count)
                mark_set(summary, callees.data[k], set);
    }
}

static uint32_t set_of_bits(struct summary *summary, const struct bitset *bits)
{
    struct u32_vec variables = VEC_INIT;

    for (size_t i = bitset_next(bits, 0); i < bits->size; i = bitset_next(bits, i + 1))
        u32_vec_push(&variables, summary->variables.data[i]);
    return close_set(summary->dataflow, &variables);
}

static void close_writes(struct summary *summary)
{
    const struct flow *flow = summary->dataflow->flow;
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t f = flow->function_count; f-- > 0;) {
            const struct flow_function *function = &flow->functions[f];
            for (uint32_t n = function->first_node; n < function->first_node + function->node_count;
                 n++) {
                struct flow_callees callees = flow_callees(flow, n);
                for (uint32_t i = 0; i < callees.count; i++)
                    if (callees.data[i] != f)
                        changed |=
                            bitset_union(&summary->writes[f], &summary->writes[callees.data[i]]);
            }
        }
    }
}

// Slots that functions may see which do not own them.
static void find_open(struct summary *summary)
{
    struct dataflow *dataflow = summary->dataflow;
    struct u32_vec taken = VEC_INIT, reachable = VEC_INIT;

    summary->open = xmalloc_array(dataflow->variables.length + 1, sizeof(uint32_t));
    memset(summary->open, 0xff, (dataflow->variables.length + 1) * sizeof(uint32_t));
    for (uint32_t s = 0; s < dataflow->slots.length; s++) {
        const struct slot *slot = &dataflow->slots.data[s];
        const struct memory_object *object = &dataflow->objects.data[slot->object];
        if (slot->variable == NONE)
            continue;
        if (object->is_taken)
            u32_vec_push(&taken, slot->variable);
        if (object->is_taken || (object->is_shared && !dataflow->points_to))
            u32_vec_push(&reachable, slot->variable);
        if (object->is_taken || object->function == NONE) {
            summary->open[slot->variable] = summary->open_count++;
            u32_vec_push(&summary->variables, slot->variable);
        }
    }
    dataflow->taken = close_set(dataflow, &taken);
    dataflow->reachable = close_set(dataflow, &reachable);
}

// With points-to: what it says that model-less code may hold the address of.
static void narrow_reachable(struct dataflow *dataflow)
{
    struct u32_vec reachable = VEC_INIT;

    for (uint32_t o = 0; o < points_to_object_count(dataflow->points_to); o++) {
        const struct object *object = points_to_object(dataflow->points_to, (struct object_id){o});
        uint32_t known = object->escapes ? object_of(dataflow, object) : NONE;
        if (known != NONE)
            add_slots(dataflow, known, INT64_MIN / 2, UINT64_MAX, &reachable);
    }
    dataflow->reachable = close_set(dataflow, &reachable);
}

// ---- Others at work

static void mark_reached(const struct flow *flow, struct bitset *reached, uint32_t root)
{
    struct u32_vec work = VEC_INIT;

    if (!bitset_test_and_set(reached, root))
        u32_vec_push(&work, root);
    while (work.length) {
        const struct flow_function *f = &flow->functions[work.data[--work.length]];
        for (uint32_t n = f->first_node; n < f->first_node + f->node_count; n++) {
            struct flow_callees callees = flow_callees(flow, n);
            for (uint32_t i = 0; i < callees.count; i++)
                if (!bitset_test_and_set(reached, callees.data[i]))
                    u32_vec_push(&work, callees.data[i]);
        }
    }
    u32_vec_deinit(&work);
}

static void mark_asynchronous(struct dataflow *dataflow, uint32_t set)
{
    const struct variable_set *s = &dataflow->sets.data[set];

    for (uint32_t i = 0; i < s->count; i++)
        dataflow->variables.data[s->data[i]].is_asynchronous = true;
}

// Where there are threads: what one of them names, or anybody may have the address of.
static void find_threads(struct dataflow *dataflow)
{
    const struct model *model = dataflow->model;
    struct bitset aside;
    bool is_threaded = false;

    bitset_init(&aside, dataflow->flow->function_count + 1u);
    for (uint32_t r = 0; r < model->root_count; r++)
        if (model->roots[r].reason == ROOT_THREAD) {
            is_threaded = true;
            mark_reached(dataflow->flow, &aside, model->roots[r].function.value);
        }
    for (uint32_t n = 0; is_threaded && n < model->node_count; n++) {
        uint32_t module;
        const struct code_node *at;
        if (!bitset_test(&aside, model->nodes[n].function.value))
            continue;
        node_code(dataflow, n, &module, &at);
        for (uint32_t i = at->first_insn; i < at->first_insn + at->insn_count; i++) {
            uint32_t slot = dataflow->modules[module].slot_of_insn[i];
            uint32_t variable = slot == NONE ? NONE : dataflow->slots.data[slot].variable;
            if (variable != NONE && variable < dataflow->global_count)
                dataflow->variables.data[variable].is_asynchronous = true;
        }
    }
    if (is_threaded) {
        mark_asynchronous(dataflow, dataflow->taken);
        mark_asynchronous(dataflow, dataflow->reachable);
    }
    bitset_deinit(&aside);
}

// Variables that are anything at all times need not be forgotten.
static uint32_t without_asynchronous(struct dataflow *dataflow, uint32_t set)
{
    struct variable_set s = dataflow->sets.data[set];
    struct u32_vec kept = VEC_INIT;

    for (uint32_t i = 0; i < s.count; i++)
        if (!dataflow->variables.data[s.data[i]].is_asynchronous)
            u32_vec_push(&kept, s.data[i]);
    if (kept.length != s.count)
        return close_set(dataflow, &kept);
    u32_vec_deinit(&kept);
    return set;
}

static void drop_asynchronous(struct dataflow *dataflow)
{
    dataflow->taken = without_asynchronous(dataflow, dataflow->taken);
    dataflow->reachable = without_asynchronous(dataflow, dataflow->reachable);
    for (uint32_t f = 0; f < dataflow->flow->function_count; f++) {
        dataflow->writes[f] = without_asynchronous(dataflow, dataflow->writes[f]);
        dataflow->between[f] = without_asynchronous(dataflow, dataflow->between[f]);
    }
    MAP_FOREACH (number_map, &dataflow->hits_of_insn, entry)
        entry->value = without_asynchronous(dataflow, entry->value);
}

void effects_find_all(struct dataflow *dataflow)
{
    const struct flow *flow = dataflow->flow;
    uint32_t count = flow->function_count, first = dataflow->model->function_count;
    struct summary summary = {.dataflow = dataflow};

    find_open(&summary);
    if (dataflow->points_to)
        narrow_reachable(dataflow);
    summary.writes = xcalloc(count + 1u, sizeof(*summary.writes));
    for (uint32_t f = 0; f < count; f++)
        bitset_init(&summary.writes[f], summary.open_count);
    for (uint32_t n = 0; n < dataflow->model->node_count; n++)
        mark_node(&summary, n);
    dataflow->between = xcalloc(count + 1u, sizeof(uint32_t));
    dataflow->writes = xcalloc(count + 1u, sizeof(uint32_t));
    for (uint32_t f = first; f < count; f++)
        dataflow->between[f] = set_of_bits(&summary, &summary.writes[f]);
    close_writes(&summary);
    for (uint32_t f = 0; f < count; f++) {
        dataflow->writes[f] = set_of_bits(&summary, &summary.writes[f]);
        bitset_deinit(&summary.writes[f]);
    }
    free(summary.writes);
    free(summary.open);
    u32_vec_deinit(&summary.variables);
    if (flow->signals != FLOW_NONE)
        mark_asynchronous(dataflow, dataflow->writes[flow->signals]);
    find_threads(dataflow);
    drop_asynchronous(dataflow);
}
