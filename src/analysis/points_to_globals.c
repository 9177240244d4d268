// SPDX-License-Identifier: Apache-2.0
/*
 * Variables and functions over all modules. Variables that are seen outside of their module are one
 * object a name: weak, common and inlined copies, and what the dynamic linker binds between images.
 */
#include "analysis/points_to_internal.h"

#include <string.h>

#include "program/image.h"

static const char *global_name(const struct points_to *pt, uint32_t module, uint32_t global)
{
    const struct code *code = pt->model->modules[module].code;

    return code_string(code, code->globals[global].name);
}

// ---- Functions

uint32_t function_object(struct points_to *pt, uint32_t function)
{
    uint32_t *known = pt_map_put(&pt->function_objects, function);

    if (!*known) {
        struct object info = {.kind = OBJECT_FUNCTION,
                              .module = MODEL_NONE,
                              .index = function,
                              .context = MODEL_NONE,
                              .is_single = true};
        uint32_t object = *known = object_create(pt, info);
        sparse_set_add(&pt->callable, point_get(pt, object, 0));
        return object;
    }
    return *known;
}

static uint32_t library_object(struct points_to *pt, uint32_t module, uint32_t global)
{
    const char *name = global_name(pt, module, global);
    uint32_t *known = pt_names_put(&pt->library_objects, name);

    if (!*known) {
        struct object info = {.kind = OBJECT_FUNCTION,
                              .module = module,
                              .index = global,
                              .context = MODEL_NONE,
                              .is_single = true};
        uint32_t object = *known = object_create(pt, info);
        object_at(pt, object)->name = name;
        sparse_set_add(&pt->callable, point_get(pt, object, 0));
        return object;
    }
    return *known;
}

uint32_t variadic_object(struct points_to *pt, uint32_t function)
{
    if (!pt->functions[function].variadic) {
        struct object info = {.kind = OBJECT_VARIADIC,
                              .module = MODEL_NONE,
                              .index = function,
                              .context = MODEL_NONE};
        uint32_t object = object_create(pt, info);
        layout_fold(&object_at(pt, object)->layout, &pt->arena, 0, UINT64_MAX, 1);
        pt->functions[function].variadic = object + 1;
    }
    return pt->functions[function].variadic - 1;
}

struct value function_value(struct points_to *pt, uint32_t module, uint32_t global)
{
    if (pt->model->modules[module].code->globals[global].flags & GLOBAL_INTRINSIC)
        return (struct value){0};
    const struct resolution *resolution = resolver_global(&pt->resolver, module, global);
    struct function_list list = resolver_members(&pt->resolver, resolution->set);
    if (list.count == 1 && !resolution->is_external && !resolution->is_ifunc)
        return value_of_point(point_get(pt, function_object(pt, list.data[0].value), 0));
    uint32_t node = node_create(pt);
    for (uint32_t i = 0; i < list.count; i++)
        node_add_point(pt, node, point_get(pt, function_object(pt, list.data[i].value), 0));
    if (resolution->is_ifunc)
        node_add_point(pt, node, WORLD_POINT);
    if (resolution->is_external)
        node_add_point(pt, node, point_get(pt, library_object(pt, module, global), 0));
    return value_of_node(node);
}

// ---- Variables

static bool is_defined(const struct global *global)
{
    return global->kind == GLOBAL_VARIABLE && operand_kind(global->initialiser) != OPERAND_NONE;
}

static uint32_t variable_create(struct points_to *pt, uint32_t m, uint32_t g)
{
    const struct code *code = pt->model->modules[m].code;
    const struct global *global = &code->globals[g];
    struct object info = {.kind = OBJECT_GLOBAL,
                          .module = m,
                          .index = g,
                          .context = MODEL_NONE,
                          .is_single = !(global->flags & GLOBAL_THREAD_LOCAL),
                          .size = code_type(code, global->type)->size};
    uint32_t object = object_create(pt, info);

    layout_add_type(&object_at(pt, object)->layout, &pt->arena, code, global->type, 0);
    return object;
}

// A further definition of the same name.
static void variable_merge(struct points_to *pt, uint32_t object, uint32_t m, uint32_t g)
{
    const struct code *code = pt->model->modules[m].code;
    const struct global *global = &code->globals[g];
    struct object *info = &object_at(pt, object)->info;
    uint64_t size = code_type(code, global->type)->size;

    if (pt->model->modules[info->module].image.value != pt->model->modules[m].image.value)
        info->is_single = false;
    if (size > info->size)
        info->size = size;
    layout_add_type(&object_at(pt, object)->layout, &pt->arena, code, global->type, 0);
}

static bool is_shared(const struct global *global)
{
    return global->linkage != LINKAGE_INTERNAL;
}

static bool holds_no_pointer(const struct code *code, struct operand operand)
{
    if (operand_kind(operand) != OPERAND_CONSTANT)
        return false;
    const struct constant *constant = &code->constants[operand_index(operand)];
    if (constant->kind == CONSTANT_EXPRESSION || constant->kind == CONSTANT_BLOCK ||
        constant->kind == CONSTANT_ALIAS_OF || constant->kind == CONSTANT_OTHER)
        return false;
    for (uint32_t i = 0; constant->kind == CONSTANT_AGGREGATE && i < constant->operand_count; i++)
        if (!holds_no_pointer(code, code->operands[constant->first_operand + i]))
            return false;
    return true;
}

static void define_variable(struct points_to *pt, uint32_t m, uint32_t g)
{
    const struct global *global = &pt->model->modules[m].code->globals[g];

    if (!is_shared(global) && global->flags & GLOBAL_CONSTANT && !(global->flags & GLOBAL_USED) &&
        holds_no_pointer(pt->model->modules[m].code, global->initialiser)) {
        pt->global_values[m][g] = value_of_point(point_get(pt, pt->constants_object, 0));
        return;
    }
    if (!is_shared(global)) {
        pt->global_values[m][g] = value_of_point(point_get(pt, variable_create(pt, m, g), 0));
        return;
    }
    uint32_t *known = pt_names_get(&pt->variable_objects, global_name(pt, m, g));
    if (known) {
        variable_merge(pt, *known, m, g);
        return;
    }
    uint32_t object = variable_create(pt, m, g);
    *pt_names_put(&pt->variable_objects, global_name(pt, m, g)) = object;
}

static uint32_t state_object(struct points_to *pt, enum effect_state state)
{
    return pt->state_objects[state];
}

// A variable of model-less code, or of the library.
static struct value foreign_variable(struct points_to *pt, uint32_t m, uint32_t g)
{
    enum effect_state state;

    if (effects_variable(global_name(pt, m, g), &state))
        return value_of_point(point_get(pt, state_object(pt, state), 0));
    uint32_t object = variable_create(pt, m, g);
    struct object *info = &object_at(pt, object)->info;
    info->size = 0;
    object_escape(pt, object);
    *pt_names_put(&pt->variable_objects, global_name(pt, m, g)) = object;
    return value_of_point(point_get(pt, object, 0));
}

static void bind_global(struct points_to *pt, uint32_t m, uint32_t g)
{
    const struct global *global = &pt->model->modules[m].code->globals[g];
    struct value *value = &pt->global_values[m][g];

    if (value->bits || global->kind == GLOBAL_ALIAS)
        return;
    if (global->kind != GLOBAL_VARIABLE) {
        *value = function_value(pt, m, g);
        return;
    }
    const uint32_t *object = pt_names_get(&pt->variable_objects, global_name(pt, m, g));
    *value = object ? value_of_point(point_get(pt, *object, 0)) : foreign_variable(pt, m, g);
}

// ---- Aliases

static void bind_alias(struct points_to *pt, uint32_t m, uint32_t g)
{
    const struct code *code = pt->model->modules[m].code;

    if (resolver_base(code, operand_make(OPERAND_GLOBAL, g)) != CODE_NONE)
        pt->global_values[m][g] = function_value(pt, m, g);
    else
        pt->global_values[m][g] = value_of_operand(pt, m, code->globals[g].initialiser);
}

// Declarations elsewhere of a name that is an alias of a variable here.
static void alias_names(struct points_to *pt, uint32_t m, uint32_t g)
{
    const struct code *code = pt->model->modules[m].code;
    struct operand target = code->globals[g].initialiser;

    if (operand_kind(target) != OPERAND_GLOBAL ||
        code->globals[operand_index(target)].kind != GLOBAL_VARIABLE)
        return;
    uint32_t of = operand_index(target), object;
    if (is_shared(&code->globals[of])) {
        const uint32_t *known = pt_names_get(&pt->variable_objects, global_name(pt, m, of));
        if (!known)
            return;
        object = *known;
    } else {
        object = pt->points.data[value_point(pt->global_values[m][of])].object;
    }
    *pt_names_put(&pt->variable_objects, global_name(pt, m, g)) = object;
}

// ---- Initialisers

static void initialise(struct points_to *pt, uint32_t m, uint32_t object, struct operand operand,
                       uint64_t offset)
{
    const struct code *code = pt->model->modules[m].code;
    const struct constant *constant =
        operand_kind(operand) == OPERAND_CONSTANT ? &code->constants[operand_index(operand)] : NULL;

    if (constant && constant->kind == CONSTANT_AGGREGATE) {
        const struct type *type = code_type(code, constant->type);
        for (uint32_t i = 0; i < constant->operand_count; i++) {
            bool is_struct = type->kind == TYPE_STRUCT;
            uint64_t at =
                is_struct ? code->type_members[type->first_member + i].offset
                          : i * code_type(code, code_type_member(code, constant->type, 0))->size;
            initialise(pt, m, object, code->operands[constant->first_operand + i], offset + at);
        }
        return;
    }
    struct value value = value_of_operand(pt, m, operand);
    if (value.bits)
        value_store(pt, value_of_point(point_get(pt, object, offset)), value,
                    code_type(code, code_operand_type(code, operand))->store);
}

static bool is_exported_to_others(const struct points_to *pt, uint32_t i, const char *name)
{
    const struct model *model = pt->model;
    const struct image *image = model->images[i].image;
    const struct image_symbol *symbol = image ? image_dynamic(image, name) : NULL;

    if (!symbol || !(symbol->flags & IMAGE_SYMBOL_DEFINED))
        return false;
    for (uint32_t o = 0; o < model->image_count; o++)
        if (o != i && model->images[o].module_count == 0 && model->images[o].image &&
            image_dynamic(model->images[o].image, name))
            return true;
    for (uint32_t r = 0; r < model->root_count; r++)
        if (model->roots[r].reason == ROOT_EXPORTED)
            return true; // not all that may use it is known
    return false;
}

static bool is_used_by_others(const struct points_to *pt, uint32_t m, const struct global *global,
                              const char *name)
{
    uint32_t i = pt->model->modules[m].image.value;
    const struct resolve_image *image = &pt->resolver.images[i];
    const uint32_t *undefined = model_string_map_get(&image->undefined, name);

    if (!is_shared(global))
        return (global->flags & GLOBAL_USED) != 0;
    return image->is_opaque || (undefined && *undefined & UNDEFINED_BY_OBJECT) ||
           is_exported_to_others(pt, i, name) || global->flags & GLOBAL_USED;
}

static void initialise_module(struct points_to *pt, uint32_t m)
{
    const struct code *code = pt->model->modules[m].code;

    for (uint32_t g = 0; g < code->globals_count; g++) {
        const struct global *global = &code->globals[g];
        if (!is_defined(global) || !value_is_point(pt->global_values[m][g]))
            continue;
        const char *name = code_string(code, global->name);
        if (strncmp(name, "llvm.", 5) == 0)
            continue;
        uint32_t object =
            pt->points.data[point_find(pt, value_point(pt->global_values[m][g]))].object;
        initialise(pt, m, object, global->initialiser, 0);
        if (is_used_by_others(pt, m, global, name))
            object_escape(pt, object);
    }
}

// ---- All

static void make_constants(struct points_to *pt)
{
    struct object info = {
        .kind = OBJECT_CONSTANTS, .module = MODEL_NONE, .index = MODEL_NONE, .context = MODEL_NONE};

    pt->constants_object = object_create(pt, info);
    layout_fold(&object_at(pt, pt->constants_object)->layout, &pt->arena, 0, UINT64_MAX, 1);
}

static void make_states(struct points_to *pt)
{
    for (uint32_t s = 0; s < EFFECT_STATE_COUNT; s++) {
        struct object info = {
            .kind = OBJECT_STATE, .module = MODEL_NONE, .index = s, .context = MODEL_NONE};
        uint32_t object = object_create(pt, info);
        layout_fold(&object_at(pt, object)->layout, &pt->arena, 0, UINT64_MAX, 1);
        pt->state_objects[s] = object;
        uint32_t point = point_get(pt, object, 0);
        node_add_point(pt, point_write(pt, point, 1), point);
    }
}

void globals_build(struct points_to *pt)
{
    uint32_t count = pt->model->module_count;

    make_states(pt);
    make_constants(pt);
    for (uint32_t m = 0; m < count; m++) {
        const struct code *code = pt->model->modules[m].code;
        pt->global_values[m] = xcalloc(code->globals_count + (size_t)1, sizeof(struct value));
        for (uint32_t g = 0; g < code->globals_count; g++)
            if (is_defined(&code->globals[g]))
                define_variable(pt, m, g);
    }
    for (uint32_t m = 0; m < count; m++)
        for (uint32_t g = 0; g < pt->model->modules[m].code->globals_count; g++)
            if (pt->model->modules[m].code->globals[g].kind == GLOBAL_ALIAS)
                alias_names(pt, m, g);
    for (uint32_t m = 0; m < count; m++)
        for (uint32_t g = 0; g < pt->model->modules[m].code->globals_count; g++)
            bind_global(pt, m, g);
    for (uint32_t m = 0; m < count; m++)
        for (uint32_t g = 0; g < pt->model->modules[m].code->globals_count; g++)
            if (pt->model->modules[m].code->globals[g].kind == GLOBAL_ALIAS)
                bind_alias(pt, m, g);
    for (uint32_t m = 0; m < count; m++)
        initialise_module(pt, m);
}
