// SPDX-License-Identifier: Apache-2.0
/*
 * The model of a program: its functions, nodes, edges, call sites and sources, for the executable
 * and the instrumented shared libraries of a run together.
 *
 *     struct model *model;
 *     struct error *err = model_open("prog", &(struct model_options){0}, &model);
 *     if (!err)
 *             err = model_complete(model);              // all modules, callees, roots
 *     for (uint32_t n = 0; !err && n < model->node_count; n++)
 *             visit(model_successors(model, (struct node_id){n}));
 *     model_destroy(model);
 *
 * Ids are dense and count over the whole model. Functions and call sites are numbered when an image
 * is added, in the order of images, modules, functions; they never change. A module's nodes are
 * numbered when the module is loaded, so that a summary loads only what is on the stack: outside of
 * one process name a node by its function and its index there. Before its module is loaded a
 * function has a module, an index, a level and record flags, and nothing else.
 *
 * A node is a straight run of instructions with at most one call, which ends it. Three kinds of
 * edges: internal ones (model_successors), from a call site's node to the entries of its callees
 * (model_callees), and from those functions' exits back behind the site. A call site of an external
 * function has the internal edge only; where it may call back (SITE_CALLS_BACK) any of
 * model_callbacks() may be entered from it, any number of times, one inside the other too. A
 * longjmp (SITE_LONGJMP, or SITE_MAY_LONGJMP) lands behind one of model->landings. Any call may
 * fail to return, and a run may end at any node. Roots are the functions that something other than
 * a call site of the model may enter.
 *
 * Callees are supersets of the truth. Sets are shared between sites and live in a table of their
 * own, which a later analysis replaces by a narrower one.
 *
 * Everything a model gives is borrowed from it. Pointers into functions, nodes and sites live until
 * the next module is loaded or image added; strings, code and numberings as long as the model.
 */
#ifndef PROGRAM_MODEL_H
#define PROGRAM_MODEL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "layout/frame.h"
#include "program/insn.h"

struct error;
struct image;
struct path_numbering;
struct section_function;

#define MODEL_NONE UINT32_MAX

struct image_id {
    uint32_t value;
};
struct module_id {
    uint32_t value;
};
struct function_id {
    uint32_t value;
};
struct node_id {
    uint32_t value;
};
struct site_id {
    uint32_t value;
};
struct file_id {
    uint32_t value;
};

struct model_options {
    const char *const *debug_directories; // for separate debug files, besides the usual one
    size_t debug_directory_count;
    bool no_cache;
};

struct model_image {
    const char *path;
    struct image *image; // NULL in a model read from text
    bool is_executable;
    uint32_t first_module, module_count; // 0 modules: model-less, known for its symbols only
};

struct model_module {
    uint64_t id; // names the module everywhere: hash of its bitcode
    struct image_id image;
    uint32_t level; // enum section_level
    uint32_t flags; // enum section_module_flag
    uint32_t first_function, function_count;
    uint32_t first_site, site_count;
    bool loaded;
    uint32_t first_node, node_count;         // once loaded
    const struct code *code;                 // NULL until loaded, and in a model read from text
    const char *source;                      // what was compiled; NULL until loaded
    const struct section_function *recorded; // by function, as the plugin wrote it
    const unsigned char *bitcode;            // compressed, in the image
    size_t compressed_length, bitcode_length;
    uint64_t offset;       // of its frame in the file, for messages
    struct file_id *files; // by the code's file index
};

// Is this copy of a function in the image? COMDAT and weak functions have a copy a module.
enum linked {
    LINKED_UNKNOWN,
    LINKED_YES,
    LINKED_NO,
};

struct model_function {
    struct module_id module;
    uint32_t index;        // in its module
    uint32_t level;        // enum section_level: what it records
    uint32_t record_flags; // enum section_function_flag
    const char *name;
    const char *debug_name; // as DWARF names it: linkage name, else name; "" without debug info
    const char *source_name;
    struct file_id file; // MODEL_NONE when not known
    uint32_t line;
    uint32_t flags; // enum function_flag
    enum linked linked;
    uint32_t first_node, node_count;
    uint32_t first_site, site_count;
};

struct model_node {
    struct function_id function;
    struct site_id site;   // MODEL_NONE when it does not end with a call
    struct file_id file;   // MODEL_NONE when it has no line
    uint32_t line, column; // of its first instruction that has a line; 0 when none has
    uint32_t flags;        // enum node_flag
};

struct model_site {
    struct node_id node;
    const char *callee; // the symbol called; NULL when indirect
    uint32_t flags;     // enum site_flag
};

struct model_file {
    const char *directory; // of the compilation
    const char *name;      // as the compiler was given it
};

enum root_reason {
    ROOT_MAIN,
    ROOT_CONSTRUCTOR,
    ROOT_DESTRUCTOR,
    ROOT_EXPORTED,       // in .dynsym: a library may call it
    ROOT_IFUNC_RESOLVER, // the dynamic linker calls it
    ROOT_MODELLESS,      // model-less objects refer to it
    ROOT_ESCAPED,        // its address is known, and model-less code may call what it is given
    ROOT_SIGNAL,         // may be a signal handler: entered at any node
    ROOT_THREAD,         // may start a thread
    ROOT_AT_EXIT,
    ROOT_ASSEMBLY, // assembly names it
    ROOT_USED,     // marked as used in ways that the compiler cannot see
    ROOT_BUILTIN,  // of a name that compilers call on their own (memcpy)
    ROOT_REASON_COUNT,
};

struct root {
    struct function_id function;
    enum root_reason reason;
};

// Sets of functions, each sorted; sets 0 is empty. By site: the set of its callees, the set of
// functions that library code may enter while the call is pending.
struct callee_table {
    uint32_t *callees_of_site;
    uint32_t *callbacks_of_site;
    uint32_t *set_start; // set_count + 1
    struct function_id *members;
    uint32_t set_count;
};

struct function_list { // borrowed
    const struct function_id *data;
    uint32_t count;
};

struct model {
    uint32_t image_count, module_count, function_count, node_count, edge_count, site_count,
        file_count;
    struct model_image *images;
    struct model_module *modules;
    struct model_function *functions;
    struct model_node *nodes;
    struct model_site *sites;
    struct model_file *files;
    uint32_t *successor_start; // node_count + 1
    struct node_id *successor;
    uint8_t *edge_flags; // enum path_edge_flag, parallel to successor
    // What the file that the model was read from calls each node (GraphML ids); NULL elsewhere.
    const char **node_names;

    bool complete; // what follows is there
    struct callee_table callees;
    struct root *roots; // sorted by function, then reason
    uint32_t root_count;
    struct site_id *landings; // of longjmp: calls that return twice
    uint32_t landing_count;

    struct model_private *private;
};

// ---- Making one

struct model *model_create(const struct model_options *options);
void model_destroy(struct model *model); // NULL is fine

// The executable first, then shared libraries in load order. A file without our sections is taken
// for its symbols (and *ret is its id); only the executable must have them: ERROR_NOT_FOUND.
// Invalidates `complete`. ret may be NULL.
struct error *model_add_image(struct model *model, const char *path, bool is_executable,
                              struct image_id *ret);
// The libraries that the images need, where they are found as the dynamic linker would; those that
// are not found are left out, and the model stays conservative about them.
struct error *model_add_needed(struct model *model);
// model_create and model_add_image of one executable.
struct error *model_open(const char *path, const struct model_options *options, struct model **ret);

struct error *model_load_module(struct model *model, struct module_id module);
struct error *model_load_function(struct model *model, struct function_id function);
// All modules, callees, landings and roots.
struct error *model_complete(struct model *model);

// Says which copies were linked; callees that are LINKED_NO leave the table at the next completion.
void model_set_linked(struct model *model, struct function_id function, enum linked linked);

// Takes over the table's arrays (made with malloc); narrows, never widens.
void model_replace_callees(struct model *model, struct callee_table *table);
void callee_table_deinit(struct callee_table *table);

// ---- Finding things. False or a value of MODEL_NONE: there is none.

// The first image that holds it; model_find_module_in asks one image.
bool model_find_module(const struct model *model, uint64_t id, struct module_id *ret);
bool model_find_module_in(const struct model *model, struct image_id image, uint64_t id,
                          struct module_id *ret);
// Function number `index` of the module.
bool model_find_function(const struct model *model, struct module_id module, uint32_t index,
                         struct function_id *ret);
// By debug name, or symbol, within one module, which is loaded when it was not.
struct error *model_find_debug_name(struct model *model, struct module_id module, const char *name,
                                    struct function_id *ret);
// Every loaded function of this symbol or source name. *ret is the caller's to free.
uint32_t model_find_name(const struct model *model, const char *name, struct function_id **ret);
// Every loaded node with an instruction on this line. file matches at path components from the end:
// "b.c" and "a/b.c" both match "/src/a/b.c". `carried`: also by places that are another's, as rows
// of machine code have them (struct place). *ret is the caller's to free, in order of ids.
uint32_t model_find_line(const struct model *model, const char *file, uint32_t line, bool carried,
                         struct node_id **ret);

// ---- Walking

static inline const struct model_function *model_function(const struct model *model,
                                                          struct function_id id)
{
    assert(id.value < model->function_count);
    return &model->functions[id.value];
}

static inline const struct model_node *model_node(const struct model *model, struct node_id id)
{
    assert(id.value < model->node_count);
    return &model->nodes[id.value];
}

static inline const struct model_site *model_site(const struct model *model, struct site_id id)
{
    assert(id.value < model->site_count);
    return &model->sites[id.value];
}

static inline const struct model_module *model_module(const struct model *model,
                                                      struct module_id id)
{
    assert(id.value < model->module_count);
    return &model->modules[id.value];
}

static inline const struct code *model_code(const struct model *model, struct function_id id)
{
    return model_module(model, model_function(model, id)->module)->code;
}

// Node `index` of a loaded function.
static inline struct node_id model_node_at(const struct model *model, struct function_id function,
                                           uint32_t index)
{
    const struct model_function *f = model_function(model, function);
    assert(index < f->node_count);
    return (struct node_id){f->first_node + index};
}

static inline uint32_t model_node_index(const struct model *model, struct node_id node)
{
    return node.value - model_function(model, model_node(model, node)->function)->first_node;
}

// Site `index` of a loaded function, and back.
static inline struct site_id model_site_at(const struct model *model, struct function_id function,
                                           uint32_t index)
{
    const struct model_function *f = model_function(model, function);
    assert(index < f->site_count);
    return (struct site_id){f->first_site + index};
}

static inline struct function_id model_site_function(const struct model *model, struct site_id site)
{
    return model_node(model, model_site(model, site)->node)->function;
}

// The node in the tables of its module, for its instructions.
static inline const struct code_node *model_code_node(const struct model *model,
                                                      struct node_id node)
{
    const struct model_module *module =
        model_module(model, model_function(model, model_node(model, node)->function)->module);
    return &module->code->nodes[node.value - module->first_node];
}

struct node_list { // borrowed
    const struct node_id *data;
    uint32_t count;
};

static inline struct node_list model_successors(const struct model *model, struct node_id node)
{
    assert(node.value < model->node_count);
    uint32_t start = model->successor_start[node.value];
    return (struct node_list){model->successor + start,
                              model->successor_start[node.value + 1] - start};
}

static inline struct function_list callee_table_set(const struct callee_table *table, uint32_t set)
{
    assert(set < table->set_count);
    return (struct function_list){table->members + table->set_start[set],
                                  table->set_start[set + 1] - table->set_start[set]};
}

// The model must be complete.
static inline struct function_list model_callees(const struct model *model, struct site_id site)
{
    assert(model->complete && site.value < model->site_count);
    return callee_table_set(&model->callees, model->callees.callees_of_site[site.value]);
}

static inline struct function_list model_callbacks(const struct model *model, struct site_id site)
{
    assert(model->complete && site.value < model->site_count);
    return callee_table_set(&model->callees, model->callees.callbacks_of_site[site.value]);
}

// directory/name, or name where it is absolute; NULL for MODEL_NONE. Lives as long as the model.
const char *model_file_path(const struct model *model, struct file_id file);

// ---- Paths and records. The function must be loaded.

// How much the function records (enum section_level): its module's level, or less. Known before the
// function is loaded.
static inline uint32_t model_function_level(const struct model *model, struct function_id function)
{
    return model_function(model, function)->level;
}

// Made on first use; collapses loops as the function's level says.
const struct path_numbering *model_numbering(struct model *model, struct function_id function);
// The frame words of the function; all 0 where it has none.
struct layout_shape model_shape(struct model *model, struct function_id function);

// ---- Text form (docs/formats/model.md)

// The whole model, or one function where that is not MODEL_NONE; with instructions when verbose.
void model_write_text(const struct model *model, struct function_id only, bool verbose,
                      FILE *stream);
// A model from its text: complete, without instructions. name stands for the file in errors.
struct error *model_read_text(const char *name, const char *text, size_t length,
                              struct model **ret);

const char *root_reason_name(enum root_reason reason);
// Name of flag number `bit` of a function, node or site; NULL when there is none.
const char *function_flag_name(unsigned bit);
const char *node_flag_name(unsigned bit);
const char *site_flag_name(unsigned bit);

#endif
