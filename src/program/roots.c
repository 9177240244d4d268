// SPDX-License-Identifier: Apache-2.0
// Whose addresses are known, what model-less code may enter, and the roots. See resolve.h.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "program/image.h"
#include "program/resolve.h"

// ---- What the program refers to

// A function that is handed to this one, by whoever, may run as a handler, a thread, at exit.
static void note_any(struct resolver *resolver, const struct library_function *library)
{
    resolver->any_handler |= !library || library->flags & LIBRARY_SIGNAL;
    resolver->any_thread |= !library || library->flags & LIBRARY_THREAD;
    resolver->any_at_exit |= !library || library->flags & LIBRARY_AT_EXIT;
}

static void note_library(struct resolver *resolver, const struct library_function *library)
{
    if (!library) {
        resolver->foreign = true;
        return;
    }
    resolver->loads |= (library->flags & LIBRARY_LOADS) != 0;
    resolver->hands_out |= (library->flags & LIBRARY_HANDS_OUT) != 0;
    resolver->hooks |= (library->flags & LIBRARY_HOOKS) != 0;
    if (library->flags & (LIBRARY_LOADS | LIBRARY_HANDS_OUT))
        note_any(resolver, NULL); // what is loaded may do anything
}

static void take(struct resolver *resolver, uint32_t set)
{
    struct function_list list = resolver_members(resolver, set);

    for (uint32_t i = 0; i < list.count; i++)
        bitset_set(&resolver->taken, list.data[i].value);
}

static void collect_module(struct resolver *resolver, uint32_t m)
{
    const struct code *code = resolver->model->modules[m].code;

    for (uint32_t g = 0; g < code->globals_count; g++) {
        const struct global *global = &code->globals[g];
        if (global->kind == GLOBAL_VARIABLE || global->flags & GLOBAL_INTRINSIC)
            continue;
        const struct resolution *resolution = resolver_global(resolver, m, g);
        if (resolution->is_external) {
            note_library(resolver, resolution->library);
            if (!resolution->library || global->flags & GLOBAL_ADDRESS_TAKEN)
                note_any(resolver, resolution->library);
        }
        if (global->flags & GLOBAL_ADDRESS_TAKEN)
            take(resolver, resolution->set);
    }
}

// ---- What model-less code may call by name

static bool is_loaded(const struct model *model, const char *needed)
{
    for (uint32_t i = 0; i < model->image_count; i++) {
        const struct image *image = model->images[i].image;
        const char *slash = strrchr(model->images[i].path, '/');
        const char *base = slash ? slash + 1 : model->images[i].path;
        if ((image && image->soname && strcmp(image->soname, needed) == 0) ||
            strcmp(base, needed) == 0)
            return true;
    }
    return false;
}

// Every library that the images need is in the model, and none is loaded by name at run time.
static bool knows_all_libraries(const struct resolver *resolver)
{
    const struct model *model = resolver->model;

    if (resolver->loads || resolver->hands_out || resolver->foreign)
        return false;
    for (uint32_t i = 0; i < model->image_count; i++) {
        const struct image *image = model->images[i].image;
        for (uint32_t n = 0; image && n < image->needed_count; n++)
            if (!is_loaded(model, image->needed[n]))
                return false;
    }
    return true;
}

static bool other_image_names(const struct model *model, uint32_t own, const char *name)
{
    for (uint32_t i = 0; i < model->image_count; i++)
        if (i != own && model->images[i].module_count == 0 && model->images[i].image &&
            image_dynamic(model->images[i].image, name))
            return true;
    return false;
}

static void push_root(struct resolver *resolver, uint32_t function, enum root_reason reason)
{
    resolver->roots = model_grow(resolver->roots, &resolver->root_capacity,
                                 resolver->root_count + 1, sizeof(*resolver->roots));
    resolver->roots[resolver->root_count++] = (struct root){{function}, reason};
}

static void roots_of_name(struct resolver *resolver, uint32_t image, const char *name,
                          enum root_reason reason)
{
    const uint32_t *first = model_string_map_get(&resolver->images[image].definitions, name);

    for (uint32_t d = first ? *first : MODEL_NONE; d != MODEL_NONE;
         d = resolver->definitions.data[d].next)
        if (resolver->definitions.data[d].function != MODEL_NONE)
            push_root(resolver, resolver->definitions.data[d].function, reason);
}

// Model-less code may call functions of this name and, where `handed_out`, give their address away.
static void modelless_name(struct resolver *resolver, uint32_t image, const char *name,
                           enum root_reason reason, bool handed_out)
{
    uint32_t before = resolver->root_count;

    roots_of_name(resolver, image, name, reason);
    for (uint32_t r = before; r < resolver->root_count; r++) {
        uint32_t function = resolver->roots[r].function.value;
        bitset_set(&resolver->modelless, function);
        if (handed_out)
            bitset_set(&resolver->taken, function);
        resolver->model->functions[function].flags |=
            reason == ROOT_EXPORTED ? FUNCTION_EXPORTED : FUNCTION_MODELLESS_USE;
    }
}

static void collect_undefined(struct resolver *resolver, uint32_t i)
{
    const struct resolve_image *image = &resolver->images[i];

    MAP_FOREACH (model_string_map, &image->undefined, entry) {
        bool by_object = (entry->value & UNDEFINED_BY_OBJECT) != 0;
        if (by_object || strcmp(entry->key, "main") != 0) // the start-up file calls main once
            modelless_name(resolver, i, entry->key, ROOT_MODELLESS, by_object);
    }
    if (!image->is_opaque)
        return;
    MAP_FOREACH (model_string_map, &image->definitions, entry)
        if (strcmp(entry->key, "main") != 0)
            modelless_name(resolver, i, entry->key, ROOT_MODELLESS, true);
}

static void collect_exports(struct resolver *resolver, uint32_t i, bool all_known)
{
    struct model *model = resolver->model;
    const struct image *image = model->images[i].image;

    for (uint32_t s = 0; s < image->dynamic_count; s++) {
        const struct image_symbol *symbol = &image->dynamic[s];
        if (symbol->flags & IMAGE_SYMBOL_DEFINED &&
            (!all_known || other_image_names(model, i, symbol->name)))
            modelless_name(resolver, i, symbol->name, ROOT_EXPORTED, true);
    }
}

void resolver_collect(struct resolver *resolver)
{
    struct model *model = resolver->model;

    for (uint32_t m = 0; m < model->module_count; m++)
        if (model->modules[m].code)
            collect_module(resolver, m);
    bool all_known = knows_all_libraries(resolver);
    for (uint32_t i = 0; i < model->image_count; i++) {
        if (!model->images[i].image || model->images[i].module_count == 0)
            continue;
        collect_exports(resolver, i, all_known);
        collect_undefined(resolver, i);
    }
    for (uint32_t f = 0; f < model->function_count; f++)
        if (bitset_test(&resolver->taken, f))
            model->functions[f].flags |= FUNCTION_ADDRESS_TAKEN;
}

// ---- Roots within a module

// Every function that a constant names, through aggregates too.
static void roots_of_constant(struct resolver *resolver, uint32_t m, struct operand operand,
                              enum root_reason reason)
{
    const struct code *code = resolver->model->modules[m].code;
    uint32_t base = resolver_base(code, operand);

    if (base != CODE_NONE) {
        struct function_list list =
            resolver_members(resolver, resolver_global(resolver, m, base)->set);
        for (uint32_t i = 0; i < list.count; i++)
            push_root(resolver, list.data[i].value, reason);
    } else if (operand_kind(operand) == OPERAND_CONSTANT &&
               code->constants[operand_index(operand)].kind == CONSTANT_AGGREGATE) {
        const struct constant *constant = &code->constants[operand_index(operand)];
        for (uint32_t i = 0; i < constant->operand_count; i++)
            roots_of_constant(resolver, m, code->operands[constant->first_operand + i], reason);
    }
}

static bool starts_with(const char *string, const char *start)
{
    return strncmp(string, start, strlen(start)) == 0;
}

// Function pointers put into the arrays of constructors and destructors by hand.
static void roots_of_section(struct resolver *resolver, uint32_t m, const struct global *global)
{
    const char *section = code_string(resolver->model->modules[m].code, global->section);

    if (starts_with(section, ".init_array") || starts_with(section, ".preinit_array") ||
        starts_with(section, ".ctors"))
        roots_of_constant(resolver, m, global->initialiser, ROOT_CONSTRUCTOR);
    else if (starts_with(section, ".fini_array") || starts_with(section, ".dtors"))
        roots_of_constant(resolver, m, global->initialiser, ROOT_DESTRUCTOR);
}

static void roots_of_function(struct resolver *resolver, const struct model_module *module,
                              const struct global *global)
{
    uint32_t function = module->first_function + global->target;
    const struct model_function *entry = &resolver->model->functions[function];

    if (global->flags & GLOBAL_CONSTRUCTOR)
        push_root(resolver, function, ROOT_CONSTRUCTOR);
    if (global->flags & GLOBAL_DESTRUCTOR)
        push_root(resolver, function, ROOT_DESTRUCTOR);
    if (global->flags & GLOBAL_USED)
        push_root(resolver, function, ROOT_USED);
    if (entry->flags & FUNCTION_IFUNC_RESOLVER)
        push_root(resolver, function, ROOT_IFUNC_RESOLVER);
    if (!(entry->flags & FUNCTION_INTERNAL) && library_is_builtin(entry->name))
        push_root(resolver, function, ROOT_BUILTIN);
    if (!(entry->flags & FUNCTION_INTERNAL) && strcmp(entry->name, "main") == 0 &&
        resolver->model->images[module->image.value].is_executable)
        push_root(resolver, function, ROOT_MAIN);
}

// Every word of assembly that is the name of a function.
static void roots_of_asm(struct resolver *resolver, const struct model_module *module,
                         const struct model_string_map *locals, const char *text)
{
    char name[256];

    while (*text) {
        size_t length = 0;
        while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '.' ||
               (length && text[length] == '$'))
            length++;
        if (length && length < sizeof(name)) {
            memcpy(name, text, length);
            name[length] = '\0';
            const uint32_t *local = model_string_map_get(locals, name);
            if (local)
                push_root(resolver, *local, ROOT_ASSEMBLY);
            else
                roots_of_name(resolver, module->image.value, name, ROOT_ASSEMBLY);
        }
        text += length ? length : 1;
    }
}

static void roots_of_assembly(struct resolver *resolver, const struct model_module *module)
{
    const struct code *code = module->code;
    struct model_string_map locals = MAP_INIT;

    if (code->asms_count == 0 && code->module_asm.value == 0)
        return;
    for (uint32_t f = 0; f < code->functions_count; f++)
        *model_string_map_put(&locals, code_string(code, code->functions[f].name)) =
            module->first_function + f;
    roots_of_asm(resolver, module, &locals, code_string(code, code->module_asm));
    for (uint32_t a = 0; a < code->asms_count; a++)
        roots_of_asm(resolver, module, &locals, code_string(code, code->asms[a].text));
    model_string_map_deinit(&locals);
}

static void roots_of_module(struct resolver *resolver, uint32_t m)
{
    const struct model_module *module = &resolver->model->modules[m];

    for (uint32_t g = 0; g < module->code->globals_count; g++) {
        const struct global *global = &module->code->globals[g];
        if (global->kind == GLOBAL_VARIABLE && global->section.value)
            roots_of_section(resolver, m, global);
        if (global->kind == GLOBAL_FUNCTION && global->target != CODE_NONE)
            roots_of_function(resolver, module, global);
        if (global->kind == GLOBAL_ALIAS &&
            strcmp(code_string(module->code, global->name), "main") == 0)
            roots_of_name(resolver, module->image.value, "main", ROOT_MAIN);
    }
    roots_of_assembly(resolver, module);
}

// ---- Roots that the image tells of

static enum root_reason entry_reason(enum image_entry_kind kind)
{
    switch (kind) {
    case IMAGE_ENTRY_START:
        return ROOT_MAIN;
    case IMAGE_ENTRY_CONSTRUCTOR:
        return ROOT_CONSTRUCTOR;
    case IMAGE_ENTRY_DESTRUCTOR:
        return ROOT_DESTRUCTOR;
    case IMAGE_ENTRY_RESOLVER:
        return ROOT_IFUNC_RESOLVER;
    }
    return ROOT_MAIN;
}

static void roots_of_image(struct resolver *resolver, uint32_t i)
{
    struct model *model = resolver->model;
    const struct model_image *in = &model->images[i];
    struct model_string_map reasons = MAP_INIT; // symbol -> 1 + reason

    for (uint32_t e = 0; in->image && in->module_count && e < in->image->entry_count; e++) {
        const struct image_symbol *symbols;
        uint32_t count = image_symbols_at(in->image, in->image->entries[e].address, &symbols);
        for (uint32_t s = 0; s < count; s++)
            *model_string_map_put(&reasons, symbols[s].name) =
                1u + entry_reason(in->image->entries[e].kind);
    }
    for (uint32_t m = in->first_module; m < in->first_module + in->module_count; m++)
        for (uint32_t f = 0; reasons.length && f < model->modules[m].function_count; f++) {
            uint32_t function = model->modules[m].first_function + f;
            const uint32_t *reason =
                model_string_map_get(&reasons, model->functions[function].name);
            if (reason)
                push_root(resolver, function, (enum root_reason)(*reason - 1));
        }
    model_string_map_deinit(&reasons);
}

// ---- Roots by address

// The functions that a call hands over to be run later; any taken one where that is not plain.
static void roots_of_argument(struct resolver *resolver, uint32_t m, const struct code_site *site,
                              const struct library_function *library, enum root_reason reason)
{
    const struct code *code = resolver->model->modules[m].code;
    const struct insn *insn = &code->insns[site->insn];

    for (uint32_t i = 0; i < 8; i++) {
        if (!(library->callbacks >> i & 1))
            continue;
        struct operand argument = i < code_call(code, insn)->argument_count
                                      ? code_operand(code, insn, i)
                                      : (struct operand){0};
        bool is_constant = operand_kind(argument) == OPERAND_CONSTANT;
        uint8_t kind = is_constant ? code->constants[operand_index(argument)].kind : 0;
        if (resolver_base(code, argument) != CODE_NONE)
            roots_of_constant(resolver, m, argument, reason);
        else if (!is_constant || (kind != CONSTANT_NULL && kind != CONSTANT_EXPRESSION))
            note_any(resolver, library); // SIG_IGN and its like are expressions
    }
    if (library->callbacks == 0)
        note_any(resolver, library);
}

static void roots_of_sites(struct resolver *resolver, uint32_t m)
{
    const struct code *code = resolver->model->modules[m].code;

    for (uint32_t s = 0; s < code->sites_count; s++) {
        const struct code_site *site = &code->sites[s];
        if (site->callee == CODE_NONE)
            continue;
        const struct resolution *resolution = resolver_global(resolver, m, site->callee);
        const struct library_function *library =
            resolution->is_external ? resolution->library : NULL;
        if (library && library->flags & LIBRARY_SIGNAL)
            roots_of_argument(resolver, m, site, library, ROOT_SIGNAL);
        if (library && library->flags & LIBRARY_THREAD)
            roots_of_argument(resolver, m, site, library, ROOT_THREAD);
        if (library && library->flags & LIBRARY_AT_EXIT)
            roots_of_argument(resolver, m, site, library, ROOT_AT_EXIT);
    }
}

// A handler is passed at most three integers, a thread's start one, what runs at exit two.
static void roots_by_address(struct resolver *resolver)
{
    static const struct signature handler = {3, 0, 0, 0}, one = {1, 0, 0, 0}, two = {2, 0, 0, 0};

    for (size_t f = bitset_next(&resolver->taken, 0); f < resolver->taken.size;
         f = bitset_next(&resolver->taken, f + 1)) {
        uint32_t function = (uint32_t)f;
        struct signature takes = resolver_signature(resolver, function);
        push_root(resolver, function, ROOT_ESCAPED);
        if (resolver->any_handler && signature_fits(handler, takes))
            push_root(resolver, function, ROOT_SIGNAL);
        if (resolver->any_thread && signature_fits(one, takes))
            push_root(resolver, function, ROOT_THREAD);
        if (resolver->any_at_exit && signature_fits(two, takes))
            push_root(resolver, function, ROOT_AT_EXIT);
    }
}

static int compare_roots(const void *a, const void *b)
{
    const struct root *x = a, *y = b;

    if (x->function.value != y->function.value)
        return x->function.value < y->function.value ? -1 : 1;
    return (int)x->reason - (int)y->reason;
}

void resolver_roots(struct resolver *resolver)
{
    struct model *model = resolver->model;
    uint32_t kept = 0;

    for (uint32_t m = 0; m < model->module_count; m++)
        if (model->modules[m].code) {
            roots_of_module(resolver, m);
            roots_of_sites(resolver, m);
        }
    for (uint32_t i = 0; i < model->image_count; i++)
        roots_of_image(resolver, i);
    roots_by_address(resolver);
    if (resolver->root_count)
        qsort(resolver->roots, resolver->root_count, sizeof(*resolver->roots), compare_roots);
    for (uint32_t i = 0; i < resolver->root_count; i++)
        if (kept == 0 || compare_roots(&resolver->roots[kept - 1], &resolver->roots[i]) != 0)
            resolver->roots[kept++] = resolver->roots[i];
    resolver->root_count = kept;
    for (uint32_t r = 0; r < kept;
         r++) // whatever the compiler does not see is not ours to see either
        if (resolver->roots[r].reason == ROOT_ASSEMBLY || resolver->roots[r].reason == ROOT_USED)
            bitset_set(&resolver->modelless, resolver->roots[r].function.value);
}
