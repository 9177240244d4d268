// SPDX-License-Identifier: Apache-2.0
/*
 * Which slots, registers, arguments and results are tracked: those that a condition may depend on,
 * going back from branches and pointers that are called over operands, stores by name, arguments
 * and results. A register needs a variable only where another node reads it; within its node it is
 * an expression.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "path/dataflow_internal.h"

struct index { // lists by number
    uint32_t *start, *items;
};

struct closure {
    struct dataflow *dataflow;
    struct u32_vec work; // pairs: module, instruction
    struct bitset slots, results, *arguments;
    struct index stores;  // by slot: instructions over all modules, as pairs
    struct index callers; // by function: nodes
};

static void index_init(struct index *index, uint32_t count)
{
    index->start = xcalloc(count + 2u, sizeof(uint32_t));
    index->items = NULL;
}

static void index_sum(struct index *index, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        index->start[i + 2] += index->start[i + 1];
    index->items = xmalloc_array(index->start[count + 1] + 1u, sizeof(uint32_t));
}

static void index_deinit(struct index *index)
{
    free(index->start);
    free(index->items);
}

static void index_stores(struct closure *closure)
{
    struct dataflow *dataflow = closure->dataflow;
    uint32_t count = (uint32_t)dataflow->slots.length;

    index_init(&closure->stores, count);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t m = 0; m < dataflow->model->module_count; m++) {
            const struct code *code = dataflow->model->modules[m].code;
            for (uint32_t i = 0; i < code->insns_count; i++) {
                uint32_t slot = dataflow->modules[m].slot_of_insn[i];
                if (slot == NONE || code->insns[i].opcode != INSN_STORE)
                    continue;
                if (pass == 0)
                    closure->stores.start[slot + 2]++;
                else
                    closure->stores.items[closure->stores.start[slot + 1]++] =
                        dataflow->modules[m].first_insn + i;
            }
        }
        if (pass == 0)
            index_sum(&closure->stores, count);
    }
}

static void index_callers(struct closure *closure)
{
    const struct flow *flow = closure->dataflow->flow;
    uint32_t count = flow->function_count;

    index_init(&closure->callers, count);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < closure->dataflow->model->node_count; n++) {
            struct flow_callees callees = flow_callees(flow, n);
            for (uint32_t i = 0; i < callees.count; i++)
                if (pass == 0)
                    closure->callers.start[callees.data[i] + 2]++;
                else
                    closure->callers.items[closure->callers.start[callees.data[i] + 1]++] = n;
        }
        if (pass == 0)
            index_sum(&closure->callers, count);
    }
}

// ---- Going back

static void want(struct closure *closure, uint32_t module, struct operand operand);

static void want_argument(struct closure *closure, uint32_t module, uint32_t argument)
{
    const struct model_module *m = &closure->dataflow->model->modules[module];
    const struct argument *a = &m->code->arguments[argument];
    uint32_t number = argument - m->code->functions[a->function].first_argument;
    uint32_t function = m->first_function + a->function;

    if (bitset_test_and_set(&closure->arguments[module], argument))
        return;
    for (uint32_t i = closure->callers.start[function]; i < closure->callers.start[function + 1];
         i++) {
        uint32_t caller;
        const struct code_node *node;
        const struct code *code =
            node_code(closure->dataflow, closure->callers.items[i], &caller, &node);
        if (node->site == CODE_NONE)
            continue;
        const struct insn *insn = &code->insns[code->sites[node->site].insn];
        if (number < code_call(code, insn)->argument_count)
            want(closure, caller, code_operand(code, insn, number));
    }
}

static void want(struct closure *closure, uint32_t module, struct operand operand)
{
    uint32_t index = operand_index(operand);

    if (operand_kind(operand) == OPERAND_ARGUMENT)
        want_argument(closure, module, index);
    else if (operand_kind(operand) == OPERAND_INSN &&
             !bitset_test_and_set(&closure->dataflow->modules[module].wanted, index)) {
        u32_vec_push(&closure->work, module);
        u32_vec_push(&closure->work, index);
    }
}

static void want_slot(struct closure *closure, uint32_t slot)
{
    const struct dataflow *dataflow = closure->dataflow;

    if (bitset_test_and_set(&closure->slots, slot))
        return;
    uint32_t module = 0;
    for (uint32_t i = closure->stores.start[slot]; i < closure->stores.start[slot + 1]; i++) {
        uint32_t insn = closure->stores.items[i];
        while (module + 1 < dataflow->model->module_count &&
               dataflow->modules[module + 1].first_insn <= insn)
            module++;
        const struct code *code = dataflow->model->modules[module].code;
        want(closure, module,
             code_operand(code, &code->insns[insn - dataflow->modules[module].first_insn], 0));
    }
}

static void want_result(struct closure *closure, uint32_t function)
{
    const struct model *model = closure->dataflow->model;

    if (function >= model->function_count || bitset_test_and_set(&closure->results, function))
        return;
    const struct model_function *f = &model->functions[function];
    const struct code *code = model->modules[f->module.value].code;
    const struct code_function *cf = &code->functions[f->index];
    for (uint32_t n = cf->first_node; n < cf->first_node + cf->node_count; n++) {
        const struct code_node *node = &code->nodes[n];
        if (node->insn_count == 0)
            continue;
        const struct insn *last = &code->insns[node->first_insn + node->insn_count - 1];
        if (last->opcode == INSN_RET && last->operand_count)
            want(closure, f->module.value, code_operand(code, last, 0));
    }
}

static void follow(struct closure *closure, uint32_t module, uint32_t index)
{
    const struct model_module *m = &closure->dataflow->model->modules[module];
    const struct insn *insn = &m->code->insns[index];
    uint32_t slot = closure->dataflow->modules[module].slot_of_insn[index];

    switch ((enum insn_opcode)insn->opcode) {
    case INSN_LOAD:
        if (slot != NONE)
            want_slot(closure, slot);
        break;
    case INSN_CALL:
    case INSN_INVOKE: {
        struct flow_callees callees =
            flow_callees(closure->dataflow->flow, m->first_node + insn->node);
        bool is_site = code_call(m->code, insn)->site != CODE_NONE;
        for (uint32_t i = 0; is_site && i < callees.count; i++)
            want_result(closure, callees.data[i]);
        break;
    }
    case INSN_ALLOCA:
    case INSN_CMPXCHG:
    case INSN_RMW:
    case INSN_VAARG:
        break;
    case INSN_GEP:
        want(closure, module, code_operand(m->code, insn, 0));
        break;
    default:
        for (uint32_t o = 0; o < insn->operand_count; o++)
            want(closure, module, code_operand(m->code, insn, o));
    }
}

static void want_conditions(struct closure *closure)
{
    const struct model *model = closure->dataflow->model;

    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct code *code = model->modules[m].code;
        for (uint32_t i = 0; i < code->insns_count; i++) {
            const struct insn *insn = &code->insns[i];
            if ((insn->opcode == INSN_BR && insn->operand_count == 3) ||
                insn->opcode == INSN_SWITCH)
                want(closure, m, code_operand(code, insn, 0));
        }
    }
}

// What is called, where addresses of functions are known.
static void want_pointers(struct closure *closure)
{
    const struct dataflow *dataflow = closure->dataflow;

    for (uint32_t n = 0; dataflow->has_addresses && n < dataflow->model->node_count; n++) {
        uint32_t module;
        const struct code_node *at;
        struct operand pointer = called_pointer(dataflow, n);
        node_code(dataflow, n, &module, &at);
        if (operand_kind(pointer) != OPERAND_NONE)
            want(closure, module, pointer);
    }
}

static void close_over(struct closure *closure)
{
    while (closure->work.length) {
        uint32_t index = closure->work.data[--closure->work.length];
        uint32_t module = closure->work.data[--closure->work.length];
        follow(closure, module, index);
    }
}

// ---- Registers that other nodes read

// By instruction: the one other node that reads it; NONE: none does; NONE - 1: several do.
static void note_reader(const struct code *code, uint32_t *reader, struct operand operand,
                        uint32_t node)
{
    if (operand_kind(operand) != OPERAND_INSN)
        return;
    uint32_t index = operand_index(operand);
    const struct insn *insn = &code->insns[index];
    // what a call gives is there behind its node only
    bool is_call = insn->opcode == INSN_CALL || insn->opcode == INSN_INVOKE;
    if (insn->node == node && !(is_call && code_call(code, insn)->site != CODE_NONE))
        return;
    reader[index] = reader[index] == NONE || reader[index] == node ? node : NONE - 1;
}

static void find_readers(const struct code *code, uint32_t *reader, uint32_t *argument_reader)
{
    memset(reader, 0xff, code->insns_count * sizeof(*reader));
    memset(argument_reader, 0xff, code->arguments_count * sizeof(*argument_reader));
    for (uint32_t i = 0; i < code->insns_count; i++) {
        const struct insn *insn = &code->insns[i];
        for (uint32_t o = 0; o < insn->operand_count; o++) {
            struct operand operand = code_operand(code, insn, o);
            uint32_t node = insn->node;
            if (insn->opcode == INSN_PHI) {
                if (o % 2)
                    continue;
                // read on the edge, by the node that it comes from
                node = operand_index(code_operand(code, insn, o + 1));
            }
            note_reader(code, reader, operand, node);
            if (operand_kind(operand) == OPERAND_ARGUMENT) {
                uint32_t *known = &argument_reader[operand_index(operand)];
                *known = *known == NONE || *known == node ? node : NONE - 1;
            }
        }
        if (insn->opcode == INSN_PHI) // written on edges: its own node reads it as any other
            reader[i] = reader[i] == NONE ? insn->node : NONE - 1;
    }
}

// ---- Numbers

struct last_vec_entry {
    uint32_t node, variable;
};
VEC_DEFINE(last_vec, struct last_vec_entry);

struct numberer {
    struct dataflow *dataflow;
    const struct closure *closure;
    struct last_vec last;
    uint32_t next_object; // of locals
};

static uint32_t add_variable(struct dataflow *dataflow, struct tracked tracked)
{
    tracked_vec_push(&dataflow->variables, tracked);
    return (uint32_t)dataflow->variables.length - 1;
}

static void number_slots(struct numberer *numberer, uint32_t object, uint32_t function)
{
    struct dataflow *dataflow = numberer->dataflow;
    const struct memory_object *o = &dataflow->objects.data[object];

    for (uint32_t s = o->first_slot; s < o->first_slot + o->slot_count; s++)
        if (bitset_test(&numberer->closure->slots, s))
            dataflow->slots.data[s].variable = add_variable(
                dataflow, (struct tracked){.kind = TRACKED_SLOT,
                                           .width = (uint8_t)(dataflow->slots.data[s].bytes * 8),
                                           .function = function,
                                           .module = o->module,
                                           .index = s});
}

static void number_arguments(struct numberer *numberer, uint32_t function, const uint32_t *readers)
{
    struct dataflow *dataflow = numberer->dataflow;
    const struct model_function *f = &dataflow->model->functions[function];
    const struct model_module *m = &dataflow->model->modules[f->module.value];
    const struct code_function *cf = &m->code->functions[f->index];

    for (uint32_t a = cf->first_argument; a < cf->first_argument + cf->argument_count; a++) {
        uint32_t width = type_width(m->code, m->code->arguments[a].type);
        if (!width || !bitset_test(&numberer->closure->arguments[f->module.value], a))
            continue;
        uint32_t variable = add_variable(dataflow, (struct tracked){.kind = TRACKED_ARGUMENT,
                                                                    .width = (uint8_t)width,
                                                                    .function = function,
                                                                    .module = f->module.value,
                                                                    .index = a});
        dataflow->modules[f->module.value].argument_variable[a] = variable;
        if (readers[a] < NONE - 1)
            last_vec_push(&numberer->last,
                          (struct last_vec_entry){m->first_node + readers[a], variable});
    }
}

static void number_registers(struct numberer *numberer, uint32_t function, const uint32_t *readers)
{
    struct dataflow *dataflow = numberer->dataflow;
    const struct model_function *f = &dataflow->model->functions[function];
    const struct model_module *m = &dataflow->model->modules[f->module.value];
    const struct code_function *cf = &m->code->functions[f->index];
    struct module_tables *tables = &dataflow->modules[f->module.value];

    if (cf->node_count == 0)
        return;
    const struct code_node *first = &m->code->nodes[cf->first_node];
    const struct code_node *last = &m->code->nodes[cf->first_node + cf->node_count - 1];
    for (uint32_t i = first->first_insn; i < last->first_insn + last->insn_count; i++) {
        uint32_t width = type_width(m->code, m->code->insns[i].type);
        if (!width || readers[i] == NONE || !bitset_test(&tables->wanted, i) ||
            m->code->insns[i].opcode == INSN_ALLOCA)
            continue;
        uint32_t variable = add_variable(dataflow, (struct tracked){.kind = TRACKED_REGISTER,
                                                                    .width = (uint8_t)width,
                                                                    .function = function,
                                                                    .module = f->module.value,
                                                                    .index = i});
        tables->register_of_insn[i] = variable;
        if (readers[i] < NONE - 1)
            last_vec_push(&numberer->last,
                          (struct last_vec_entry){m->first_node + readers[i], variable});
    }
}

static void number_function(struct numberer *numberer, uint32_t function, const uint32_t *readers,
                            const uint32_t *argument_readers)
{
    struct dataflow *dataflow = numberer->dataflow;
    const struct model_function *f = &dataflow->model->functions[function];
    const struct code *code = dataflow->model->modules[f->module.value].code;

    dataflow->function_start[function] = (uint32_t)dataflow->variables.length;
    while (numberer->next_object < dataflow->objects.length &&
           dataflow->objects.data[numberer->next_object].function == function)
        number_slots(numberer, numberer->next_object++, function);
    number_arguments(numberer, function, argument_readers);
    number_registers(numberer, function, readers);
    struct type_id type = code->functions[f->index].type;
    uint32_t width = type_width(code, code_type_member(code, type, 0));
    if (width && bitset_test(&numberer->closure->results, function))
        dataflow->result_variable[function] =
            add_variable(dataflow, (struct tracked){.kind = TRACKED_RESULT,
                                                    .width = (uint8_t)width,
                                                    .function = function,
                                                    .module = f->module.value,
                                                    .index = f->index});
}

static void list_last(struct dataflow *dataflow, const struct last_vec *last)
{
    uint32_t count = dataflow->model->node_count, *start = xcalloc(count + 2u, sizeof(*start));

    dataflow->last = xmalloc_array(last->length + 1, sizeof(uint32_t));
    for (size_t i = 0; i < last->length; i++)
        start[last->data[i].node + 2]++;
    for (uint32_t n = 0; n < count; n++)
        start[n + 2] += start[n + 1];
    for (size_t i = 0; i < last->length; i++)
        dataflow->last[start[last->data[i].node + 1]++] = last->data[i].variable;
    dataflow->last_start = start;
}

static void number_all(struct dataflow *dataflow, const struct closure *closure)
{
    const struct model *model = dataflow->model;
    struct numberer numberer = {.dataflow = dataflow, .closure = closure};
    uint32_t count = (uint32_t)dataflow->objects.length;

    dataflow->function_start = xcalloc(model->function_count + 2u, sizeof(uint32_t));
    dataflow->result_variable = xmalloc_array(model->function_count + 1u, sizeof(uint32_t));
    memset(dataflow->result_variable, 0xff, (model->function_count + 1u) * sizeof(uint32_t));
    while (numberer.next_object < count &&
           dataflow->objects.data[numberer.next_object].function == NONE)
        number_slots(&numberer, numberer.next_object++, NONE);
    dataflow->memory_count = (uint32_t)dataflow->variables.length;
    functions_number(dataflow);
    dataflow->global_count = (uint32_t)dataflow->variables.length;
    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct model_module *module = &model->modules[m];
        uint32_t *readers = xmalloc_array(module->code->insns_count + 1u, sizeof(uint32_t));
        uint32_t *arguments = xmalloc_array(module->code->arguments_count + 1u, sizeof(uint32_t));
        find_readers(module->code, readers, arguments);
        for (uint32_t f = 0; f < module->function_count; f++)
            number_function(&numberer, module->first_function + f, readers, arguments);
        free(readers);
        free(arguments);
    }
    assert(numberer.next_object == count);
    dataflow->function_start[model->function_count] = (uint32_t)dataflow->variables.length;
    list_last(dataflow, &numberer.last);
    last_vec_deinit(&numberer.last);
}

void variables_find(struct dataflow *dataflow, bool all)
{
    const struct model *model = dataflow->model;
    struct closure closure = {.dataflow = dataflow};

    bitset_init(&closure.slots, dataflow->slots.length + 1);
    bitset_init(&closure.results, model->function_count + 1u);
    closure.arguments = xcalloc(model->module_count + 1u, sizeof(*closure.arguments));
    for (uint32_t m = 0; m < model->module_count; m++)
        bitset_init(&closure.arguments[m], model->modules[m].code->arguments_count + 1u);
    index_stores(&closure);
    index_callers(&closure);
    want_conditions(&closure);
    want_pointers(&closure);
    for (uint32_t s = 0; all && s < dataflow->slots.length; s++)
        want_slot(&closure, s);
    close_over(&closure);
    number_all(dataflow, &closure);
    for (uint32_t m = 0; m < model->module_count; m++)
        bitset_deinit(&closure.arguments[m]);
    free(closure.arguments);
    bitset_deinit(&closure.slots);
    bitset_deinit(&closure.results);
    index_deinit(&closure.stores);
    index_deinit(&closure.callers);
    u32_vec_deinit(&closure.work);
}
