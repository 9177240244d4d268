// SPDX-License-Identifier: Apache-2.0
// Images, modules and their numbering; loading a module into the model's tables.
#include "program/model.h"

#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/vec.h"
#include "layout/section.h"
#include "program/image.h"
#include "program/model_private.h"

void *model_grow(void *array, uint32_t *capacity, uint32_t needed, size_t size)
{
    if (needed <= *capacity && array)
        return array;
    uint32_t grown = *capacity < UINT32_MAX / 2 ? *capacity * 2 : UINT32_MAX;
    *capacity = grown < needed ? needed : grown;
    return xrealloc_array(array, *capacity + (size_t)1, size);
}

struct model *model_create(const struct model_options *options)
{
    struct model *model = xcalloc(1, sizeof(*model));
    struct model_private *own = model->private = xcalloc(1, sizeof(*own));

    arena_init(&own->arena);
    own->no_cache = options && options->no_cache;
    if (options && options->debug_directory_count) {
        const char **copy =
            arena_alloc_array(&own->arena, options->debug_directory_count, const char *);
        for (size_t i = 0; i < options->debug_directory_count; i++)
            copy[i] = arena_strdup(&own->arena, options->debug_directories[i]);
        own->debug_directories = copy;
        own->debug_directory_count = options->debug_directory_count;
    }
    model_reserve_nodes(model, 0, 0);
    model->successor_start[0] = 0;
    return model;
}

void model_destroy(struct model *model)
{
    if (!model)
        return;
    model_forget_numbers(model);
    model_forget_completion(model);
    for (uint32_t i = 0; i < model->module_count; i++) {
        code_destroy((struct code *)model->modules[i].code);
        free(model->modules[i].files);
    }
    for (uint32_t i = 0; i < model->image_count; i++)
        image_destroy(model->images[i].image);
    free(model->images);
    free(model->modules);
    free(model->functions);
    free(model->nodes);
    free(model->sites);
    free(model->files);
    free(model->successor_start);
    free(model->successor);
    free(model->edge_flags);
    free(model->node_names);
    free(model->private->numbers);
    free(model->private->file_paths);
    model_string_map_deinit(&model->private->file_ids);
    model_id_map_deinit(&model->private->module_ids);
    arena_deinit(&model->private->arena);
    free(model->private);
    free(model);
}

void callee_table_deinit(struct callee_table *table)
{
    free(table->callees_of_site);
    free(table->callbacks_of_site);
    free(table->set_start);
    free(table->members);
    *table = (struct callee_table){0};
}

void model_forget_completion(struct model *model)
{
    callee_table_deinit(&model->callees);
    free(model->roots);
    free(model->landings);
    model->roots = NULL;
    model->landings = NULL;
    model->root_count = model->landing_count = 0;
    model->complete = false;
}

void model_replace_callees(struct model *model, struct callee_table *table)
{
    assert(model->complete);
    callee_table_deinit(&model->callees);
    model->callees = *table;
    *table = (struct callee_table){0};
}

void model_set_linked(struct model *model, struct function_id function, enum linked linked)
{
    assert(function.value < model->function_count);
    model->functions[function.value].linked = linked;
}

// ---- Modules

// The path without `.` and `DIRECTORY/..`, in the arena.
static char *plain_path(struct arena *arena, const char *path)
{
    char *plain = arena_alloc(arena, strlen(path) + 2);
    size_t length = 0, most = 0; // up to `most` there is nothing that `..` could undo

    if (*path == '/')
        plain[length++] = '/';
    most = length;
    while (*path) {
        size_t word = strcspn(path, "/");

        if (word == 2 && path[0] == '.' && path[1] == '.' && (length > most || plain[0] == '/')) {
            while (length > most && plain[length - 1] == '/')
                length--;
            while (length > most && plain[length - 1] != '/')
                length--;
        } else if (word && !(word == 1 && path[0] == '.')) {
            memcpy(plain + length, path, word);
            length += word;
            plain[length++] = '/';
            if (word == 2 && path[0] == '.' && path[1] == '.')
                most = length;
        }
        path += word + strspn(path + word, "/");
    }
    length -= length > 1 && plain[length - 1] == '/';
    plain[length] = '\0';
    return plain;
}

// One file may be spelled in several ways: as it was included from here and there.
struct file_id model_intern_file(struct model *model, const char *directory, const char *name)
{
    struct model_private *own = model->private;
    bool is_whole = name[0] == '/' || directory[0] == '\0', is_new;
    char *path = plain_path(&own->arena,
                            is_whole ? name : arena_printf(&own->arena, "%s/%s", directory, name));
    const char *within = plain_path(&own->arena, directory);
    size_t length = strlen(within);
    uint32_t *id = model_string_map_put_new(&own->file_ids, path, &is_new);

    if (is_new) {
        bool is_below = length && strncmp(path, within, length) == 0 && path[length] == '/';

        *id = model->file_count++;
        model->files =
            model_grow(model->files, &own->file_capacity, model->file_count, sizeof(*model->files));
        model->files[*id] = (struct model_file){.directory = arena_strdup(&own->arena, directory),
                                                .name = is_below ? path + length + 1 : path};
    }
    return (struct file_id){*id};
}

struct model_module *model_push_module(struct model *model, struct model_module module)
{
    uint32_t index = model->module_count++;
    uint32_t first_function = model->function_count, first_site = model->site_count;

    model->modules = model_grow(model->modules, &model->private->module_capacity,
                                model->module_count, sizeof(*model->modules));
    module.first_function = first_function;
    module.first_site = first_site;
    model->modules[index] = module;
    model->function_count += module.function_count;
    model->site_count += module.site_count;
    model->functions = xrealloc_array(model->functions, model->function_count + (size_t)1,
                                      sizeof(*model->functions));
    model->sites =
        xrealloc_array(model->sites, model->site_count + (size_t)1, sizeof(*model->sites));
    for (uint32_t f = 0; f < module.function_count; f++)
        model->functions[first_function + f] =
            (struct model_function){.module = {index},
                                    .index = f,
                                    .level = module.recorded[f].level,
                                    .record_flags = module.recorded[f].flags,
                                    .file = {MODEL_NONE}};
    for (uint32_t s = 0; s < module.site_count; s++)
        model->sites[first_site + s] = (struct model_site){.node = {MODEL_NONE}};
    bool is_new;
    uint32_t *known = model_id_map_put_new(&model->private->module_ids, module.id, &is_new);
    if (is_new)
        *known = index;
    return &model->modules[index];
}

static struct error *check_counts(const struct image *image, const struct image_frame *frame,
                                  const struct section_module *header)
{
    // Every function has an entry in the payload; a site takes at least some bits of bitcode.
    uint64_t room = frame->length - sizeof(*header);

    if (header->function_count > room / sizeof(struct section_function))
        return error_create_at_offset(ERROR_FORMAT, image->model_path, frame->offset,
                                      "damaged model: more functions than its frame has room for");
    if (header->site_count > header->bitcode_length ||
        header->bitcode_length / 1024 > frame->length)
        return error_create_at_offset(ERROR_FORMAT, image->model_path, frame->offset,
                                      "damaged model: sizes that cannot be");
    if (header->level > SECTION_LEVEL_FULL)
        return error_create_at_offset(ERROR_FORMAT, image->model_path, frame->offset,
                                      "damaged model: no level %u", header->level);
    for (uint32_t f = 0; f < header->function_count; f++) {
        struct section_function entry;
        memcpy(&entry, frame->payload + sizeof(*header) + f * sizeof(entry), sizeof(entry));
        if (entry.level > SECTION_LEVEL_FULL)
            return error_create_at_offset(ERROR_FORMAT, image->model_path, frame->offset,
                                          "damaged model: no level %u", entry.level);
    }
    return NULL;
}

static struct error *read_module(struct model *model, struct image_id id, const struct image *image,
                                 const struct image_frame *frame, struct model_module *ret)
{
    struct section_module header;

    if (frame->length < sizeof(header))
        return error_create_at_offset(ERROR_FORMAT, image->model_path, frame->offset,
                                      "truncated model: a module's header is cut off");
    memcpy(&header, frame->payload, sizeof(header));
    struct error *err = check_counts(image, frame, &header);
    if (err)
        return err;
    size_t entries = header.function_count * sizeof(struct section_function);
    *ret = (struct model_module){
        .id = header.module_id,
        .image = id,
        .level = header.level,
        .flags = header.flags,
        .function_count = header.function_count,
        .site_count = header.site_count,
        .recorded = arena_memdup(&model->private->arena, frame->payload + sizeof(header), entries),
        .bitcode = frame->payload + sizeof(header) + entries,
        .compressed_length = frame->length - sizeof(header) - entries,
        .bitcode_length = header.bitcode_length,
        .offset = frame->offset,
    };
    return NULL;
}

VEC_DEFINE(module_vec, struct model_module);

// All modules of the image, or none.
static struct error *read_modules(struct model *model, struct image_id id,
                                  const struct image *image, struct module_vec *modules)
{
    uint64_t functions = model->function_count, sites = model->site_count;

    for (uint32_t i = 0; i < image->frame_count; i++) {
        struct model_module module;
        if (image->frames[i].kind != SECTION_KIND_MODULE)
            continue;
        struct error *err = read_module(model, id, image, &image->frames[i], &module);
        if (err)
            return err;
        functions += module.function_count;
        sites += module.site_count;
        module_vec_push(modules, module);
    }
    if (functions >= UINT32_MAX || sites >= UINT32_MAX)
        return error_create_file(ERROR_LIMIT, image->model_path, "more than 2^32 call sites");
    return NULL;
}

static void push_image(struct model *model, struct image *image, bool is_executable,
                       const struct module_vec *modules)
{
    uint32_t id = model->image_count++;

    model_forget_completion(model);
    model->images = model_grow(model->images, &model->private->image_capacity, model->image_count,
                               sizeof(*model->images));
    model->images[id] = (struct model_image){.path = image->path,
                                             .image = image,
                                             .is_executable = is_executable,
                                             .first_module = model->module_count,
                                             .module_count = (uint32_t)modules->length};
    for (size_t m = 0; m < modules->length; m++)
        model_push_module(model, modules->data[m]);
}

struct error *model_add_image(struct model *model, const char *path, bool is_executable,
                              struct image_id *ret)
{
    struct model_private *own = model->private;
    struct module_vec modules = VEC_INIT;
    struct image_id id = {model->image_count};
    struct image *image;
    struct error *err =
        image_open(path, own->debug_directories, own->debug_directory_count, &image);

    if (err)
        return err;
    err = read_modules(model, id, image, &modules);
    if (!err && is_executable && modules.length == 0)
        err = error_create_file(ERROR_NOT_FOUND, path,
                                "no model: neither the file nor a debug file of it has a '%s' "
                                "section (was it built with inquest-cc?)",
                                SECTION_MODEL);
    if (err) {
        image_destroy(image);
    } else {
        push_image(model, image, is_executable, &modules);
        if (ret)
            *ret = id;
    }
    module_vec_deinit(&modules);
    return err;
}

struct error *model_open(const char *path, const struct model_options *options, struct model **ret)
{
    struct model *model = model_create(options);
    struct error *err = model_add_image(model, path, true, NULL);

    if (err) {
        model_destroy(model);
        return err;
    }
    *ret = model;
    return NULL;
}

// ---- Needed libraries

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool has_library(const struct model *model, const char *name)
{
    for (uint32_t i = 0; i < model->image_count; i++) {
        const struct image *image = model->images[i].image;
        if (strcmp(base_name(model->images[i].path), base_name(name)) == 0 ||
            (image && image->soname && strcmp(image->soname, name) == 0))
            return true;
    }
    return false;
}

struct error *model_add_needed(struct model *model)
{
    for (uint32_t i = 0; i < model->image_count; i++) {
        const struct image *image = model->images[i].image;
        for (uint32_t n = 0; image && n < image->needed_count; n++) {
            if (has_library(model, image->needed[n]))
                continue;
            _cleanup_free_ char *path = image_find_needed(image, image->needed[n]);
            struct error *err = path ? model_add_image(model, path, false, NULL) : NULL;
            if (err)
                return err;
        }
    }
    return NULL;
}

// ---- Loading

void model_reserve_nodes(struct model *model, uint32_t nodes, uint32_t edges)
{
    struct model_private *own = model->private;
    uint32_t capacity = own->node_capacity;
    uint32_t needed = model->node_count + nodes + 1;

    model->nodes = model_grow(model->nodes, &capacity, needed, sizeof(*model->nodes));
    capacity = own->node_capacity;
    model->successor_start =
        model_grow(model->successor_start, &capacity, needed, sizeof(*model->successor_start));
    own->node_capacity = capacity;
    capacity = own->edge_capacity;
    needed = model->edge_count + edges;
    model->successor = model_grow(model->successor, &capacity, needed, sizeof(*model->successor));
    capacity = own->edge_capacity;
    model->edge_flags =
        model_grow(model->edge_flags, &capacity, needed, sizeof(*model->edge_flags));
    own->edge_capacity = capacity;
}

static struct error *check_code(const struct model *model, const struct model_module *module,
                                const struct code *code)
{
    const char *path = model->images[module->image.value].image->model_path;

    if (code->functions_count != module->function_count || code->sites_count != module->site_count)
        return error_create_at_offset(
            ERROR_FORMAT, path, module->offset,
            "model of '%s' does not match its code: %u functions and %u call sites, not %u and %u",
            code_string(code, code->source), code->functions_count, code->sites_count,
            module->function_count, module->site_count);
    for (uint32_t f = 0; f < module->function_count; f++)
        if (code->functions[f].checksum != module->recorded[f].checksum)
            return error_create_at_offset(
                ERROR_FORMAT, path, module->offset,
                "model of '%s' does not match its code: function '%s' has other nodes",
                code_string(code, code->source), code_string(code, code->functions[f].name));
    return NULL;
}

static void load_function(struct model *model, const struct model_module *module,
                          const struct code *code, uint32_t f)
{
    const struct code_function *from = &code->functions[f];
    const struct place *place = code_place(code, from->place);
    struct model_function *to = &model->functions[module->first_function + f];

    to->name = code_string(code, from->name);
    to->debug_name = code_string(code, from->debug_name);
    to->source_name = code_string(code, from->source_name.value ? from->source_name : from->name);
    to->file = place ? module->files[place->file] : (struct file_id){MODEL_NONE};
    to->line = place ? place->line : 0;
    to->flags = from->flags;
    to->first_node = module->first_node + from->first_node;
    to->node_count = from->node_count;
    to->first_site = module->first_site + from->first_site;
    to->site_count = from->site_count;
}

static void load_node(struct model *model, const struct model_module *module,
                      const struct code *code, uint32_t n)
{
    const struct code_node *from = &code->nodes[n];
    const struct place *place = code_place(code, from->place);
    uint32_t base = module->first_node + code->functions[from->function].first_node;

    model->nodes[model->node_count++] = (struct model_node){
        .function = {module->first_function + from->function},
        .site = {from->site == CODE_NONE ? MODEL_NONE : module->first_site + from->site},
        .file = place ? module->files[place->file] : (struct file_id){MODEL_NONE},
        .line = place ? place->line : 0,
        .column = place ? place->column : 0,
        .flags = from->flags,
    };
    for (uint32_t e = from->first_edge; e < code_edge_end(code, n); e++) {
        model->edge_flags[model->edge_count] = code->edge_flags[e];
        model->successor[model->edge_count++] = (struct node_id){base + code->edge_targets[e]};
    }
    model->successor_start[model->node_count] = model->edge_count;
}

static void load_site(struct model *model, const struct model_module *module,
                      const struct code *code, uint32_t s)
{
    const struct code_site *from = &code->sites[s];

    model->sites[module->first_site + s] = (struct model_site){
        .node = {module->first_node + from->node},
        .callee =
            from->callee == CODE_NONE ? NULL : code_string(code, code->globals[from->callee].name),
        .flags = from->flags,
    };
}

static void load_code(struct model *model, struct model_module *module, const struct code *code)
{
    module->code = code;
    module->source = code_string(code, code->source);
    module->first_node = model->node_count;
    module->node_count = code->nodes_count;
    module->files = xmalloc_array(code->files_count + (size_t)1, sizeof(*module->files));
    for (uint32_t i = 0; i < code->files_count; i++)
        module->files[i] = model_intern_file(model, code_string(code, code->files[i].directory),
                                             code_string(code, code->files[i].name));
    model_reserve_nodes(model, code->nodes_count, code->edge_targets_count);
    for (uint32_t f = 0; f < code->functions_count; f++)
        load_function(model, module, code, f);
    for (uint32_t n = 0; n < code->nodes_count; n++)
        load_node(model, module, code, n);
    for (uint32_t s = 0; s < code->sites_count; s++)
        load_site(model, module, code, s);
    module->loaded = true;
}

struct error *model_load_module(struct model *model, struct module_id id)
{
    assert(id.value < model->module_count);
    struct model_module *module = &model->modules[id.value];
    struct code *code;

    if (module->loaded)
        return NULL;
    struct error *err = model_module_code(model, module, &code);
    if (err)
        return err;
    err = check_code(model, module, code);
    if (!err && code->nodes_count > UINT32_MAX - 2 - model->node_count)
        err = error_create(ERROR_LIMIT, "more than 2^32 nodes");
    if (err) {
        code_destroy(code);
        return err;
    }
    load_code(model, module, code);
    return NULL;
}

struct error *model_load_function(struct model *model, struct function_id function)
{
    return model_load_module(model, model_function(model, function)->module);
}

struct error *model_complete(struct model *model)
{
    if (model->complete)
        return NULL;
    for (uint32_t m = 0; m < model->module_count; m++) {
        struct error *err = model_load_module(model, (struct module_id){m});
        if (err)
            return err;
    }
    model_resolve(model);
    model->complete = true;
    return NULL;
}
