// SPDX-License-Identifier: Apache-2.0
// Calls of library functions, by their effects. See effects.h.
#include "analysis/points_to_internal.h"

#include <string.h>

#include "program/image.h"

static uint64_t argument_number(const struct points_to *pt, uint32_t call, uint32_t index)
{
    const struct pt_call *c = &pt->calls.data[call];
    const struct code *code = pt->model->modules[c->module].code;
    const struct insn *insn = &code->insns[c->insn];
    uint64_t number;

    if (c->is_callback || index >= c->argument_count ||
        !operand_number(code, code_operand(code, insn, index), &number))
        return LENGTH_ANY;
    return number;
}

static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t result;

    if (a == LENGTH_ANY || b == LENGTH_ANY || __builtin_mul_overflow(a, b, &result))
        return LENGTH_ANY;
    return result;
}

uint64_t call_extent(const struct points_to *pt, uint32_t call, struct effect_extent extent)
{
    switch ((enum effect_extent_kind)extent.kind) {
    case EFFECT_BYTES:
        return extent.length;
    case EFFECT_TIMES:
        return product(
            argument_number(pt, call, extent.length),
            extent.other == EFFECT_NO_ARGUMENT ? 1 : argument_number(pt, call, extent.other));
    case EFFECT_SCALED:
        return product(argument_number(pt, call, extent.length), extent.other);
    case EFFECT_ANY_LENGTH:
    case EFFECT_STRING:
        break;
    }
    return LENGTH_ANY;
}

// ---- Places

static struct value all_of(struct points_to *pt, struct value address)
{
    return value_move(pt, address, CONSTRAINT_LOAD_ALL, 0, 0);
}

static struct value rest_of_arguments(struct points_to *pt, uint32_t call, uint32_t from)
{
    uint32_t node = node_create(pt), count = pt->calls.data[call].argument_count;

    for (uint32_t i = from; i < count; i++)
        value_flow(pt, call_argument(pt, call, i), node);
    return value_of_node(node);
}

static struct value reachable(struct points_to *pt, struct value value)
{
    uint32_t node = node_create(pt);

    value_flow(pt, value_move(pt, value, CONSTRAINT_ANYWHERE, 0, 0), node);
    node_add_constraint(pt, node, (struct constraint){.kind = CONSTRAINT_LOAD_ALL, .target = node});
    return value_of_node(node);
}

// The address of the memory that a place is; no pointer where it is none.
static struct value place_address(struct points_to *pt, uint32_t call, struct effect_place place)
{
    switch ((enum effect_place_kind)place.kind) {
    case EFFECT_POINTEE:
        return call_argument(pt, call, place.index);
    case EFFECT_POINTEE_POINTEE:
        return all_of(pt, call_argument(pt, call, place.index));
    case EFFECT_REACHABLE:
        return reachable(pt, call_argument(pt, call, place.index));
    case EFFECT_VARIADIC_POINTEE:
        return rest_of_arguments(pt, call, place.index);
    case EFFECT_RESULT_POINTEE:
        return value_of_node(pt->calls.data[call].result);
    case EFFECT_STATE:
        return value_of_point(point_get(pt, pt->state_objects[place.index], 0));
    case EFFECT_STATE_POINTEE:
        return all_of(pt, value_of_point(point_get(pt, pt->state_objects[place.index], 0)));
    case EFFECT_LISTED_POINTEE:
        return all_of(pt, all_of(pt, call_argument(pt, call, place.index)));
    default:
        return (struct value){0};
    }
}

static struct value place_value(struct points_to *pt, uint32_t call, struct effect_place place)
{
    switch ((enum effect_place_kind)place.kind) {
    case EFFECT_NOTHING:
        return (struct value){0};
    case EFFECT_ARGUMENT:
        return call_argument(pt, call, place.index);
    case EFFECT_VARIADIC:
        return rest_of_arguments(pt, call, place.index);
    case EFFECT_RESULT:
        return value_of_node(pt->calls.data[call].result);
    case EFFECT_LISTED:
        return all_of(pt, all_of(pt, call_argument(pt, call, place.index)));
    case EFFECT_REACHABLE:
        return place_address(pt, call, place);
    default:
        return all_of(pt, place_address(pt, call, place));
    }
}

static void place_store(struct points_to *pt, uint32_t call, struct effect_place place,
                        struct value value)
{
    if (place.kind == EFFECT_RESULT) {
        value_flow(pt, value, pt->calls.data[call].plain);
        return;
    }
    struct value address = place_address(pt, call, place);
    uint32_t source = value_node(pt, value);
    if (address.bits && source)
        node_add_constraint(pt, value_node(pt, address),
                            (struct constraint){.kind = CONSTRAINT_STORE_ALL, .target = source});
}

// ---- Effects

// Contents of files and of what streams write to. Pointers that leave through there and come back
// are not followed.
static bool is_data(struct effect_place place)
{
    return (place.kind == EFFECT_STATE && place.index == EFFECT_STATE_FILES) ||
           (place.kind == EFFECT_STATE_POINTEE && place.index == EFFECT_STATE_STREAMS);
}

static void effect_copy(struct points_to *pt, uint32_t call, const struct effect *effect)
{
    if (is_data(effect->from) || is_data(effect->to))
        return;
    struct value from = place_address(pt, call, effect->from);
    struct value to = place_address(pt, call, effect->to);

    if (from.bits && to.bits && !effect->moved && effect->from.kind != EFFECT_REACHABLE) {
        value_copy(pt, to, from, call_extent(pt, call, effect->extent));
        return;
    }
    struct value value = place_value(pt, call, effect->from);
    if (effect->moved)
        value = value_move(pt, value, CONSTRAINT_WALK, 1, 0);
    place_store(pt, call, effect->to, value);
}

static void effect_returns(struct points_to *pt, uint32_t call, const struct effect *effect)
{
    struct value value = effect->from.kind == EFFECT_STATE ? place_address(pt, call, effect->from)
                                                           : place_value(pt, call, effect->from);

    if (effect->moved)
        value = value_move(pt, value, CONSTRAINT_WALK, 1, 0);
    bool is_traced =
        pt->calls.data[call].is_traced && !effect->moved && effect->from.kind == EFFECT_ARGUMENT;
    value_flow(pt, value, is_traced ? pt->calls.data[call].result : pt->calls.data[call].plain);
}

// The library calls what it was given: a call of its own, with what the effect lists.
static void effect_calls(struct points_to *pt, uint32_t call, const struct effect *effect)
{
    struct pt_call callback = pt->calls.data[call];
    uint32_t values[EFFECT_MOST_ARGUMENTS], count = 0;
    struct value called = place_value(pt, call, effect->from);

    for (uint32_t i = 0; i < EFFECT_MOST_ARGUMENTS; i++) {
        struct value value = place_value(pt, call, effect->arguments[i]);
        if (effect->moved)
            value = value_move(pt, value, CONSTRAINT_WALK, 1, 0);
        values[i] = value.bits;
        if (effect->arguments[i].kind != EFFECT_NOTHING)
            count = i + 1;
    }
    callback.is_callback = true;
    callback.is_returned = callback.is_traced = false;
    callback.result = effect->to.kind == EFFECT_NOTHING ? NODE_NONE : node_create(pt);
    callback.first_argument = (uint32_t)pt->call_arguments.length;
    callback.argument_count = EFFECT_MOST_ARGUMENTS;
    callback.done = (struct sparse_set)SPARSE_SET_INIT;
    callback.functions = callback.wrappers = (struct id_vec)VEC_INIT;
    id_vec_append(&pt->call_arguments, values, EFFECT_MOST_ARGUMENTS);
    (void)count;
    uint32_t index = call_add(pt, callback);
    if (callback.result)
        place_store(pt, call, effect->to, value_of_node(callback.result));
    if (called.bits)
        node_add_constraint(pt, value_node(pt, called),
                            (struct constraint){.kind = CONSTRAINT_CALL, .target = index});
}

void effect_apply(struct points_to *pt, uint32_t call, const struct effect *effect)
{
    switch ((enum effect_kind)effect->kind) {
    case EFFECT_COPY:
        effect_copy(pt, call, effect);
        break;
    case EFFECT_ALLOCATES:
        place_store(pt, call, effect->to,
                    value_of_point(point_get(pt, heap_object(pt, call, MODEL_NONE), 0)));
        break;
    case EFFECT_CALLS:
        effect_calls(pt, call, effect);
        break;
    case EFFECT_RETURNS:
        effect_returns(pt, call, effect);
        break;
    case EFFECT_READ:
    case EFFECT_WRITE:
    case EFFECT_SETS:
    case EFFECT_RELEASES:
        break;
    }
}

// The C library's own function, not one of a model-less object?
static bool is_from_library(const struct points_to *pt, uint32_t call, const char *name)
{
    uint32_t i = pt->model->modules[pt->calls.data[call].module].image.value;
    const struct image *image = pt->model->images[i].image;

    if (strncmp(name, "llvm.", 5) == 0 || !image || image->is_static || image_dynamic(image, name))
        return true;
    return image->symbol_count > 0 && !model_string_map_get(&pt->resolver.images[i].symbols, name);
}

static bool allocates_result(const struct effects *effects)
{
    for (uint32_t i = 0; i < effects->count; i++)
        if (effects->list[i].kind == EFFECT_ALLOCATES && effects->list[i].to.kind == EFFECT_RESULT)
            return true;
    return false;
}

void library_wire(struct points_to *pt, uint32_t call, const char *name)
{
    const struct effects *effects = effects_find(name);

    if (!effects || !is_from_library(pt, call, name)) {
        call_unknown(pt, call);
        return;
    }
    if (pt->calls.data[call].is_returned && allocates_result(effects)) {
        wrapper_allocates(pt, call, effects);
        return;
    }
    for (uint32_t i = 0; i < effects->count; i++)
        effect_apply(pt, call, &effects->list[i]);
}
