// SPDX-License-Identifier: Apache-2.0
// What the files model*.c and callees.c share. Only they include it.
#ifndef PROGRAM_MODEL_PRIVATE_H
#define PROGRAM_MODEL_PRIVATE_H

#include "common/arena.h"
#include "common/bitset.h"
#include "common/map.h"
#include "program/model.h"

MAP_DEFINE_STRING(model_string_map, uint32_t);
MAP_DEFINE_U64(model_id_map, uint32_t);

struct model_numbers;

struct model_private {
    struct arena arena;
    bool no_cache;
    const char *const *debug_directories; // copied into the arena
    size_t debug_directory_count;
    uint32_t image_capacity, module_capacity, node_capacity, edge_capacity, file_capacity;
    struct model_string_map file_ids; // "directory\nname"
    struct model_id_map module_ids;   // module id -> first module
    struct model_numbers **numbers;   // by function, made on demand
    uint32_t numbers_count;
    const char **file_paths; // by file, made on demand
    uint32_t file_paths_count;
};

// Room for `needed` elements; *capacity is how many there is room for.
void *model_grow(void *array, uint32_t *capacity, uint32_t needed, size_t size);

struct file_id model_intern_file(struct model *model, const char *directory, const char *name);
// A module in the next place; its functions and sites are numbered, nothing else is known.
struct model_module *model_push_module(struct model *model, struct model_module module);
// Room for that many more nodes and edges.
void model_reserve_nodes(struct model *model, uint32_t nodes, uint32_t edges);
void model_forget_numbers(struct model *model);
void model_forget_completion(struct model *model);

// model_cache.c: the tables of a module, from the cache or from its bitcode.
struct error *model_module_code(const struct model *model, const struct model_module *module,
                                struct code **ret);

// callees.c: everything that `complete` promises, once all modules are loaded.
void model_resolve(struct model *model);

#endif
