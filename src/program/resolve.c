// SPDX-License-Identifier: Apache-2.0
// Names to functions. See resolve.h.
#include "program/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "program/image.h"

// ---- Definitions

static void define(struct resolver *resolver, uint32_t image, const char *name, uint32_t function,
                   bool is_weak)
{
    bool is_new;
    uint32_t index = (uint32_t)resolver->definitions.length;
    uint32_t *first = model_string_map_put_new(&resolver->images[image].definitions, name, &is_new);
    struct definition definition = {function, is_new ? MODEL_NONE : *first, is_weak};

    *first = index;
    definition_vec_push(&resolver->definitions, definition);
}

static bool is_weak(const struct global *global)
{
    return global->linkage == LINKAGE_WEAK || global->linkage == LINKAGE_WEAK_ODR ||
           global->linkage == LINKAGE_LINKONCE || global->linkage == LINKAGE_LINKONCE_ODR;
}

uint32_t resolver_base(const struct code *code, struct operand operand)
{
    for (;;) {
        uint32_t index = operand_index(operand);
        if (operand_kind(operand) == OPERAND_CONSTANT) {
            const struct constant *constant = &code->constants[index];
            if ((constant->kind != CONSTANT_EXPRESSION && constant->kind != CONSTANT_ALIAS_OF) ||
                constant->operand_count == 0)
                return CODE_NONE;
            operand = code->operands[constant->first_operand];
        } else if (operand_kind(operand) == OPERAND_GLOBAL) {
            if (code->globals[index].kind != GLOBAL_ALIAS)
                return code->globals[index].kind == GLOBAL_VARIABLE ? CODE_NONE : index;
            operand = code->globals[index].initialiser;
        } else {
            return CODE_NONE;
        }
    }
}

// The function that global g of the module defines, itself or as an alias. False: none.
static bool defines(const struct model_module *module, uint32_t g, uint32_t *ret_function,
                    bool *ret_ifunc)
{
    const struct code *code = module->code;
    const struct global *global = &code->globals[g];

    if (global->kind == GLOBAL_ALIAS) {
        g = resolver_base(code, operand_make(OPERAND_GLOBAL, g));
        if (g == CODE_NONE)
            return false;
        global = &code->globals[g];
    }
    *ret_ifunc = global->kind == GLOBAL_IFUNC;
    *ret_function = *ret_ifunc ? MODEL_NONE : module->first_function + global->target;
    return *ret_ifunc || (global->kind == GLOBAL_FUNCTION && global->target != CODE_NONE);
}

static void define_module(struct resolver *resolver, const struct model_module *module)
{
    const struct code *code = module->code;

    for (uint32_t g = 0; code && g < code->globals_count; g++) {
        const struct global *global = &code->globals[g];
        uint32_t function;
        bool is_ifunc;
        if (global->linkage == LINKAGE_INTERNAL ||
            global->linkage == LINKAGE_AVAILABLE_EXTERNALLY ||
            !defines(module, g, &function, &is_ifunc))
            continue;
        if (!is_ifunc && resolver->model->functions[function].linked == LINKED_NO)
            continue;
        define(resolver, module->image.value, code_string(code, global->name), function,
               is_weak(global));
    }
}

// What the inputs of a link without a model refer to.
static void read_link(struct resolve_image *image, const struct link_record *record)
{
    for (size_t i = 0; i < record->inputs.length; i++) {
        const struct link_input *input = &record->inputs.data[i];
        uint32_t by =
            input->origin == LINK_TOOLCHAIN ? UNDEFINED_BY_TOOLCHAIN : UNDEFINED_BY_OBJECT;
        image->is_opaque |= input->opaque;
        for (size_t u = 0; u < input->undefined.length; u++)
            *model_string_map_put(&image->undefined, input->undefined.data[u]) |= by;
    }
}

static void read_image(struct resolver *resolver, uint32_t i)
{
    const struct image *image = resolver->model->images[i].image;

    if (!image)
        return;
    resolver->images[i].is_opaque = !image_final_link(image);
    for (uint32_t l = 0; l < image->link_count; l++)
        read_link(&resolver->images[i], &image->links[l].record);
    if (resolver->model->images[i].module_count == 0)
        return;
    for (uint32_t s = 0; s < image->symbol_count; s++) {
        if (!(image->symbols[s].flags & IMAGE_SYMBOL_DEFINED))
            continue;
        uint32_t *symbol =
            model_string_map_put(&resolver->images[i].symbols, image->symbols[s].name);
        if (!(image->symbols[s].flags & IMAGE_SYMBOL_LOCAL))
            *symbol = s + 1;
    }
}

void resolver_init(struct resolver *resolver, struct model *model)
{
    *resolver = (struct resolver){.model = model};
    resolver->images = xcalloc(model->image_count + (size_t)1, sizeof(*resolver->images));
    resolver->resolutions =
        xcalloc(model->module_count + (size_t)1, sizeof(*resolver->resolutions));
    bitset_init(&resolver->taken, model->function_count);
    bitset_init(&resolver->modelless, model->function_count);
    resolve_vec_reserve(&resolver->members, 1); // never NULL
    index_vec_push(&resolver->set_start, 0);
    resolver_set(resolver, &(struct resolve_vec)VEC_INIT); // set 0 is empty
    for (uint32_t i = 0; i < model->image_count; i++)
        read_image(resolver, i);
    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct code *code = model->modules[m].code;
        define_module(resolver, &model->modules[m]);
        resolver->resolutions[m] =
            xcalloc((code ? code->globals_count : 0) + (size_t)1, sizeof(struct resolution));
    }
}

void resolver_deinit(struct resolver *resolver)
{
    for (uint32_t i = 0; i < resolver->model->image_count; i++) {
        model_string_map_deinit(&resolver->images[i].definitions);
        model_string_map_deinit(&resolver->images[i].undefined);
        model_string_map_deinit(&resolver->images[i].symbols);
    }
    for (uint32_t m = 0; m < resolver->model->module_count; m++)
        free(resolver->resolutions[m]);
    free(resolver->images);
    free(resolver->resolutions);
    definition_vec_deinit(&resolver->definitions);
    resolve_vec_deinit(&resolver->members);
    index_vec_deinit(&resolver->set_start);
    model_id_map_deinit(&resolver->set_ids);
    model_id_map_deinit(&resolver->fits);
    bitset_deinit(&resolver->taken);
    bitset_deinit(&resolver->modelless);
    free(resolver->roots);
}

// ---- Sets

static int compare_functions(const void *a, const void *b)
{
    const struct function_id *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

static void sort_unique(struct resolve_vec *members)
{
    size_t kept = 0;

    if (members->length)
        qsort(members->data, members->length, sizeof(*members->data), compare_functions);
    for (size_t i = 0; i < members->length; i++)
        if (kept == 0 || members->data[kept - 1].value != members->data[i].value)
            members->data[kept++] = members->data[i];
    members->length = kept;
}

struct function_list resolver_members(const struct resolver *resolver, uint32_t set)
{
    uint32_t start = resolver->set_start.data[set];

    return (struct function_list){resolver->members.data + start,
                                  resolver->set_start.data[set + 1] - start};
}

uint32_t resolver_set(struct resolver *resolver, struct resolve_vec *members)
{
    sort_unique(members);
    size_t bytes = members->length * sizeof(*members->data);
    uint64_t hash = hash_u64(HASH_SEED, members->length);
    hash = members->length ? hash_bytes(hash, members->data, bytes) : hash;
    bool is_new;
    uint32_t *id = model_id_map_put_new(&resolver->set_ids, hash, &is_new);
    if (!is_new) {
        struct function_list same = resolver_members(resolver, *id);
        if (same.count == members->length &&
            (bytes == 0 || memcmp(same.data, members->data, bytes) == 0))
            return *id;
    }
    *id = (uint32_t)resolver->set_start.length - 1;
    resolve_vec_append(&resolver->members, members->data, members->length);
    index_vec_push(&resolver->set_start, (uint32_t)resolver->members.length);
    return *id;
}

uint32_t resolver_set_of_bits(struct resolver *resolver, const struct bitset *functions)
{
    struct resolve_vec members = VEC_INIT;

    for (size_t f = bitset_next(functions, 0); f < functions->size;
         f = bitset_next(functions, f + 1))
        resolve_vec_push(&members, (struct function_id){(uint32_t)f});
    uint32_t set = resolver_set(resolver, &members);
    resolve_vec_deinit(&members);
    return set;
}

/*
 * May a call that passes this enter a function that takes that? Arguments of the two register
 * classes are passed apart, so only their numbers count; a callee may ignore what it is passed, and
 * a result may be dropped. Stricter than the machine only in this: a call passes at least what is
 * taken.
 */
bool signature_fits(struct signature call, struct signature callee)
{
    // where there is no prototype, what is not used may be left out
    return call.varargs || (callee.integers <= call.integers && callee.floats <= call.floats &&
                            callee.memory <= call.memory);
}

struct signature resolver_signature(const struct resolver *resolver, uint32_t function)
{
    const struct model_function *f = &resolver->model->functions[function];

    return resolver->model->modules[f->module.value].code->functions[f->index].signature;
}

// ---- Binding

// Adds what an image has under this name: the strong definition, or every weak copy.
static bool add_definitions(struct resolver *resolver, uint32_t image, const char *name,
                            struct resolve_vec *found, struct resolution *resolution)
{
    const uint32_t *first = model_string_map_get(&resolver->images[image].definitions, name);
    bool strong = false, linked = false;

    if (!first)
        return false;
    for (uint32_t d = *first; d != MODEL_NONE; d = resolver->definitions.data[d].next) {
        const struct definition *definition = &resolver->definitions.data[d];
        strong |= !definition->is_weak;
        linked |= definition->function != MODEL_NONE &&
                  resolver->model->functions[definition->function].linked == LINKED_YES;
    }
    for (uint32_t d = *first; d != MODEL_NONE; d = resolver->definitions.data[d].next) {
        const struct definition *definition = &resolver->definitions.data[d];
        if (strong && definition->is_weak)
            continue;
        if (definition->function == MODEL_NONE)
            resolution->is_ifunc = true;
        else if (strong || !linked ||
                 resolver->model->functions[definition->function].linked == LINKED_YES)
            resolve_vec_push(found, (struct function_id){definition->function});
    }
    return true;
}

static bool image_exports(const struct model *model, uint32_t image, const char *name)
{
    const struct image_symbol *symbol =
        model->images[image].image ? image_dynamic(model->images[image].image, name) : NULL;

    return symbol && symbol->flags & IMAGE_SYMBOL_DEFINED;
}

// Other images. Which of them comes first when the program is loaded is not known here: that
// depends on LD_PRELOAD, on versions of symbols, on what was loaded later.
static bool add_from_others(struct resolver *resolver, uint32_t own, const char *name,
                            struct resolve_vec *found, struct resolution *resolution)
{
    const struct model *model = resolver->model;
    bool any = false;

    for (uint32_t i = 0; i < model->image_count; i++) {
        if (i == own || !image_exports(model, i, name))
            continue;
        if (!add_definitions(resolver, i, name, found, resolution))
            resolution->is_external = true;
        any = true;
    }
    return any;
}

// The C library's own function, as far as can be told, not one of a model-less object?
static bool is_from_library(const struct resolver *resolver, uint32_t image, const char *name)
{
    const struct image *file = resolver->model->images[image].image;

    if (!file || file->is_static || image_dynamic(file, name))
        return true;
    return file->symbol_count > 0 && !model_string_map_get(&resolver->images[image].symbols, name);
}

// Functions of the image by any linkage: symbols do not say which module a static one is from.
static void add_by_symbol(struct resolver *resolver, uint32_t image, const char *name,
                          struct resolve_vec *found)
{
    const struct model *model = resolver->model;
    const struct model_image *in = &model->images[image];

    for (uint32_t m = in->first_module; m < in->first_module + in->module_count; m++)
        for (uint32_t f = 0; f < model->modules[m].function_count; f++) {
            uint32_t function = model->modules[m].first_function + f;
            if (strcmp(model->functions[function].name, name) == 0)
                resolve_vec_push(found, (struct function_id){function});
        }
}

// Names that the linker or assembly gave to functions of ours (--defsym, .set, .symver): other
// symbols at the same address. Under the very name there may be a static function that has nothing
// to do with it, and the one that is called is in a model-less object.
static bool add_other_names(struct resolver *resolver, uint32_t image, const char *name,
                            struct resolve_vec *found, struct resolution *resolution)
{
    const struct image *file = resolver->model->images[image].image;
    const uint32_t *symbol = model_string_map_get(&resolver->images[image].symbols, name);
    const struct image_symbol *same;
    size_t before = found->length;

    if (!file || !symbol || *symbol == 0)
        return false;
    uint32_t count = image_symbols_at(file, file->symbols[*symbol - 1].address, &same);
    for (uint32_t i = 0; i < count; i++) {
        size_t last = found->length;

        if (same[i].flags & IMAGE_SYMBOL_FUNCTION)
            add_by_symbol(resolver, image, same[i].name, found);
        resolution->is_external |= found->length > last && strcmp(same[i].name, name) == 0;
    }
    return found->length > before;
}

// A symbol of the image that no module defines: of a model-less object, or one that a function was
// given after it was compiled (objcopy --redefine-sym). Then that function has lost its own.
static void add_renamed(struct resolver *resolver, uint32_t image, const char *name,
                        struct resolve_vec *found)
{
    const struct model *model = resolver->model;
    const struct model_image *in = &model->images[image];
    const struct model_string_map *symbols = &resolver->images[image].symbols;

    if (!model_string_map_get(symbols, name) || library_find(name))
        return;
    for (uint32_t m = in->first_module; m < in->first_module + in->module_count; m++)
        for (uint32_t f = 0; f < model->modules[m].function_count; f++) {
            uint32_t function = model->modules[m].first_function + f;
            const struct model_function *entry = &model->functions[function];

            if (!(entry->flags & FUNCTION_INTERNAL) && entry->linked != LINKED_NO &&
                !model_string_map_get(symbols, entry->name))
                resolve_vec_push(found, (struct function_id){function});
        }
}

// --wrap leaves no trace but names: a call of NAME may go to __wrap_NAME, one of __real_NAME to
// NAME.
static void add_wrapped(struct resolver *resolver, uint32_t image, const char *name,
                        struct resolve_vec *found, struct resolution *resolution)
{
    char wrapped[256];

    if (strncmp(name, "__real_", 7) == 0)
        add_definitions(resolver, image, name + 7, found, resolution);
    if (snprintf(wrapped, sizeof(wrapped), "__wrap_%s", name) < (int)sizeof(wrapped))
        add_definitions(resolver, image, wrapped, found, resolution);
}

// A copy in the module itself may have been inlined, whichever copy was linked.
static bool may_be_inlined(const struct global *global)
{
    return global->linkage != LINKAGE_WEAK && global->linkage != LINKAGE_LINKONCE;
}

// A name that the linker binds: in the image, or in others.
static void bind_name(struct resolver *resolver, uint32_t image, const char *name, bool is_hidden,
                      struct resolve_vec *found, struct resolution *resolution)
{
    bool in_image = add_definitions(resolver, image, name, found, resolution);
    bool elsewhere = false, renamed = false;

    if (!in_image || (!is_hidden && !resolver->model->images[image].is_executable))
        elsewhere = add_from_others(resolver, image, name, found, resolution);
    if (!in_image)
        renamed = add_other_names(resolver, image, name, found, resolution);
    if (!in_image && !elsewhere && !renamed) {
        add_renamed(resolver, image, name, found);
        resolution->is_external = true;
    }
    add_wrapped(resolver, image, name, found, resolution);
}

static void resolve(struct resolver *resolver, uint32_t m, uint32_t g,
                    struct resolution *resolution)
{
    const struct model_module *module = &resolver->model->modules[m];
    const struct global *global = &module->code->globals[g];
    const char *name = code_string(module->code, global->name);
    struct resolve_vec found = VEC_INIT;
    uint32_t function, image = module->image.value;
    bool is_ifunc, own = defines(module, g, &function, &is_ifunc);

    if (own && is_ifunc)
        resolution->is_ifunc = true;
    else if (own && (global->linkage == LINKAGE_INTERNAL || may_be_inlined(global)))
        resolve_vec_push(&found, (struct function_id){function});
    if (!own || global->linkage != LINKAGE_INTERNAL)
        bind_name(resolver, image, name, (global->flags & (GLOBAL_HIDDEN | GLOBAL_PROTECTED)) != 0,
                  &found, resolution);
    if (resolution->is_external && is_from_library(resolver, image, name))
        resolution->library = library_find(name);
    resolution->set = resolver_set(resolver, &found);
    resolution->known = true;
    resolve_vec_deinit(&found);
}

const struct resolution *resolver_global(struct resolver *resolver, uint32_t module,
                                         uint32_t global)
{
    struct resolution *resolution = &resolver->resolutions[module][global];

    if (!resolution->known)
        resolve(resolver, module, global, resolution);
    return resolution;
}
