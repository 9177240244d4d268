// SPDX-License-Identifier: Apache-2.0
/*
 * Addresses of functions, and which function a call through a pointer enters.
 *
 * The address of a function is a number of which nothing is known but that it is not 0 and stays
 * what it is: a variable that nothing writes. So two pointers to it are equal, and two functions
 * may have one address (a linker that folds them). That a call through a pointer enters a function
 * is a comparison of its own, of the pointer with the function's *entry*, a variable that is held
 * by nothing: a pointer that is some function's address has no other's entry.
 *
 * Which function a name is, the resolver says as it does for calls by name. Where it may be
 * several, none of the model, or one of another image, the address is as any other.
 */
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "path/dataflow_internal.h"
#include "program/resolve.h"

struct operand called_pointer(const struct dataflow *dataflow, uint32_t node)
{
    struct operand none = operand_make(OPERAND_NONE, 0);
    uint32_t module;
    const struct code_node *at;
    const struct code *code = node_code(dataflow, node, &module, &at);

    // assembly of the node may have called, and what it wrote is known behind the node only
    if (at->site == CODE_NONE || code->sites[at->site].callee != CODE_NONE ||
        dataflow->model->nodes[node].flags & NODE_ASM)
        return none;
    const struct insn *call = &code->insns[code->sites[at->site].insn];
    if (code_call(code, call)->flags & (CALL_ASM | CALL_INTRINSIC))
        return none;
    struct operand pointer = code_callee(code, call);
    bool is_value = operand_kind(pointer) == OPERAND_INSN ||
                    operand_kind(pointer) == OPERAND_ARGUMENT ||
                    operand_kind(pointer) == OPERAND_CONSTANT;
    return is_value && type_width(code, code_operand_type(code, pointer)) == 64 ? pointer : none;
}

// The one function that the name stands for, or NONE.
static uint32_t function_of(struct resolver *resolver, uint32_t m, uint32_t g)
{
    const struct model *model = resolver->model;
    const struct global *global = &model->modules[m].code->globals[g];

    if (global->kind != GLOBAL_FUNCTION || !(global->flags & GLOBAL_ADDRESS_TAKEN) ||
        global->flags & GLOBAL_INTRINSIC)
        return NONE;
    const struct resolution *resolution = resolver_global(resolver, m, g);
    struct function_list list = resolver_members(resolver, resolution->set);
    if (list.count != 1 || resolution->is_external || resolution->is_ifunc)
        return NONE;
    // another image may see another address of it
    uint32_t defined_in = model->functions[list.data[0].value].module.value;
    return model->modules[defined_in].image.value == model->modules[m].image.value
               ? list.data[0].value
               : NONE;
}

static bool calls_by_pointers(const struct dataflow *dataflow)
{
    for (uint32_t n = 0; n < dataflow->model->node_count; n++)
        if (operand_kind(called_pointer(dataflow, n)) != OPERAND_NONE)
            return true;
    return false;
}

void functions_find(struct dataflow *dataflow)
{
    const struct model *model = dataflow->model;
    struct resolver resolver;

    for (uint32_t m = 0; m < model->module_count; m++) {
        uint32_t count = model->modules[m].code->globals_count;
        dataflow->modules[m].address_of_global = xmalloc_array(count + 1u, sizeof(uint32_t));
        memset(dataflow->modules[m].address_of_global, 0xff, (count + 1u) * sizeof(uint32_t));
    }
    if (!calls_by_pointers(dataflow))
        return;
    resolver_init(&resolver, (struct model *)model); // which changes nothing that can be seen
    for (uint32_t m = 0; m < model->module_count; m++)
        for (uint32_t g = 0; g < model->modules[m].code->globals_count; g++) {
            uint32_t function = function_of(&resolver, m, g);
            dataflow->modules[m].address_of_global[g] = function;
            dataflow->has_addresses |= function != NONE;
        }
    resolver_deinit(&resolver);
}

static uint32_t add(struct dataflow *dataflow, uint32_t kind, uint32_t function)
{
    tracked_vec_push(
        &dataflow->variables,
        (struct tracked){.kind = (uint8_t)kind, .width = 64, .function = NONE, .index = function});
    return (uint32_t)dataflow->variables.length - 1;
}

// By function, and behind them by set of callees: that of code without a model.
static void number_entries(struct dataflow *dataflow)
{
    const struct model *model = dataflow->model;
    uint32_t *entries = dataflow->entry_variable;

    for (uint32_t n = 0; n < model->node_count; n++) {
        if (operand_kind(called_pointer(dataflow, n)) == OPERAND_NONE)
            continue;
        struct flow_callees callees = flow_callees(dataflow->flow, n);
        for (uint32_t i = 0; i < callees.count; i++)
            if (callees.data[i] < model->function_count && entries[callees.data[i]] == NONE)
                entries[callees.data[i]] = add(dataflow, TRACKED_ENTRY, callees.data[i]);
        uint32_t past = model->function_count + dataflow->flow->node_set[n];
        if (entries[past] == NONE)
            entries[past] = add(dataflow, TRACKED_ENTRY, past);
    }
}

// What is called at a place past all that has a model may be a function that does not fit there.
bool functions_differ(const struct dataflow *dataflow, uint32_t a, uint32_t b)
{
    uint32_t count = dataflow->model->function_count;

    if (a < count && b < count)
        return a != b;
    if (a >= count && b >= count)
        return false;
    struct flow_callees set = flow_set(dataflow->flow, (a < count ? b : a) - count);
    for (uint32_t i = 0; i < set.count; i++)
        if (set.data[i] == (a < count ? a : b))
            return true;
    return false;
}

void functions_number(struct dataflow *dataflow)
{
    const struct model *model = dataflow->model;
    size_t bytes = (model->function_count + dataflow->flow->set_count + 1u) * sizeof(uint32_t);

    dataflow->entry_variable = xmalloc(bytes);
    memset(dataflow->entry_variable, 0xff, bytes);
    if (!dataflow->has_addresses)
        return;
    uint32_t *variables = xmalloc(bytes);
    memset(variables, 0xff, bytes);
    for (uint32_t m = 0; m < model->module_count; m++)
        for (uint32_t g = 0; g < model->modules[m].code->globals_count; g++) {
            uint32_t *address = &dataflow->modules[m].address_of_global[g];
            if (*address == NONE)
                continue;
            if (variables[*address] == NONE)
                variables[*address] = add(dataflow, TRACKED_ADDRESS, *address);
            *address = variables[*address];
        }
    free(variables);
    number_entries(dataflow);
}

void walk_target(struct walk *walk, uint32_t function)
{
    const struct dataflow *dataflow = walk->dataflow;
    uint32_t count = dataflow->model->function_count;
    uint32_t past = count + dataflow->flow->node_set[walk->node];
    uint32_t entry = dataflow->entry_variable[function < count ? function : past];

    if (entry == NONE)
        return;
    struct operand pointer = called_pointer(dataflow, walk->node);
    if (operand_kind(pointer) != OPERAND_NONE)
        state_relate(&walk->draft->state, walk_operand(walk, pointer), expression_base(64, entry),
                     OUTCOME_EQUAL);
}
