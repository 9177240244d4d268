// SPDX-License-Identifier: Apache-2.0
/*
 * What the files of the compiler plugin share. The plugin sees each module once, as the front end
 * made it; module.c is its table of contents. One file a scheme:
 *
 *   embed.c          the model section
 *   discriminators.c a discriminator a node, so that an address leads back to its node
 *   memory_calls.c   memcpy and its like as calls of the source
 *   attributes.c     what must not be assumed of callees
 *   plain.c          copies that record nothing, for functions that are switched off
 *   words.c          the frame words: storage, debug info, changes
 *   calls.c          call coverage
 *   paths.c          where control comes by what changes sums
 *   tailcalls.c      frames stay, except in recursive cycles
 *   trim.c           stores that inlining made useless
 *   descriptor.c     loaded data of the module
 *   suspects*.c      sampled predicates: sites, regions, counters (suspects.h)
 *   plugin.cc        the order of all this; loads kept apart from uses in other nodes, and reads
 *                    and writes from those on other ways,
 *                    results of `asm goto` kept in memory
 *
 * clone.c copies blocks.
 */
#ifndef INSTRUMENT_INSTRUMENT_H
#define INSTRUMENT_INSTRUMENT_H

#include "common/arena.h"
#include "instrument/driver/prefix_map.h"
#include "layout/frame.h"
#include "layout/section.h"
#include "program/path_number.h"
#include "program/split.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

struct instrument_options {
    uint32_t level; // enum section_level
    bool tunable;
    bool suspects;
    char **include; // function-name patterns; none: all
    uint32_t include_count;
    char **exclude;
    uint32_t exclude_count;
    struct prefix_map map; // of paths that are stored
    struct arena arena;
};

struct instrumented_function {
    LLVMValueRef function;
    LLVMMetadataRef subprogram; // or NULL
    uint32_t index;             // among the module's functions with a body
    uint32_t first_site;        // module-wide number of its first call site
    uint32_t level;             // enum section_level, for this function
    uint32_t flags;             // enum section_function_flag
    bool optimized;             // not optnone
    bool left_out;              // by pattern, annotation or nature: nothing is recorded
    bool unique;                // holds code that cannot stand twice
    bool copied;                // has a plain copy
    struct split split;
    uint8_t *takes_frame; // by call site: a loop may depend on its taking over the frame
    bool has_takers;      // some call site does
    struct path_numbering *numbers;
    uint64_t checksum;
    struct layout_shape shape;
    // Set while the function is being instrumented.
    LLVMValueRef plain;    // its copy that records nothing, or NULL
    LLVMTypeRef word_type; // of frame words
    LLVMValueRef word[LAYOUT_MOST_WORDS];
    // What the optimiser may keep in registers; NULL where the word itself does.
    LLVMValueRef sum[LAYOUT_MOST_WORDS];
    LLVMValueRef pin; // at its entry
    uint32_t added;   // instructions, as far as inlining counts them
};

struct instrumented_module {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMDIBuilderRef debug;
    struct instrument_options options;
    uint64_t module_id;
    struct instrumented_function *functions;
    uint32_t function_count;
    uint32_t site_count;
    LLVMValueRef coverage; // [site_count x i8]
    LLVMValueRef tag;      // of stores to it, for alias analysis; or NULL
    unsigned tag_kind;
    struct suspects *suspects; // or NULL
    bool is_for_lto;
    uint32_t *component; // of the call graph, by function (tailcalls.c)
    LLVMTypeRef type_i8, type_i32, type_i64, type_ptr, type_void;
};

// Entry points, called by plugin.cc once a module each: as the front end made it (returns whether
// it changed), when inlining is done, and last of all.
bool instrument_module(LLVMModuleRef module);
void instrument_trim(LLVMModuleRef module);
void instrument_finish(LLVMModuleRef module);
bool instrument_is_for_lto(LLVMModuleRef module);

// INQUEST_PLUGIN as inquest-cc sets it; false with a message when it is malformed.
bool instrument_options_init(struct instrument_options *options, const char *text,
                             const char **problem);
void instrument_options_deinit(struct instrument_options *options);
bool instrument_options_wants(const struct instrument_options *options, const char *name);

// Of lazy stores of frame words.
#define WORDS_METADATA "inquest.word"

// Has the function this attribute, one of those without a value?
bool instrument_has_attribute(LLVMValueRef function, const char *name);
// An access of ours: sanitizers need not look at it. They have nothing to find there, threads may
// store the same byte at once, and in resolvers of ifuncs a sanitizer is not yet there.
void instrument_unsanitized(const struct instrumented_module *module, LLVMValueRef access);
// Is it used otherwise than by calling it?
bool instrument_address_taken(LLVMValueRef function);

// The steps of module.c, in this order.
void embed_model(struct instrumented_module *module, LLVMMemoryBufferRef bitcode);
// `size` bytes, a multiple of EMBED_UNIT, in a section that is not loaded.
#define EMBED_UNIT 16
void embed_section(const struct instrumented_module *module, const char *section,
                   const unsigned char *frame, size_t size);
void descriptor_add(struct instrumented_module *module);
// Appends to a list of globals such as llvm.used, which neither compiler nor linker drops.
void descriptor_keep(LLVMModuleRef module, const char *list, const LLVMValueRef *globals,
                     unsigned count);
// Before anything else, and before the model is made: what is known of library functions.
void attributes_mark(struct instrumented_module *module);
void attributes_hold(struct instrumented_module *module);
void discriminators_add(struct instrumented_module *module, struct instrumented_function *function);
// The location with discriminator node + 1.
LLVMMetadataRef discriminators_locate(const struct instrumented_module *module,
                                      LLVMMetadataRef location, uint32_t node);
// memcpy and its like of the source become calls, which end nodes; and what they were.
void memory_calls_show(struct instrumented_module *module);
void memory_calls_hide(struct instrumented_module *module);
bool memory_calls_is_shown(LLVMValueRef call);
// Which functions make tail calls, by which calls: flags, components, takers of frames.
void tailcalls_find(struct instrumented_module *module);
// Adds the instructions between calls that take over the frame and returns.
struct value_map;
void tailcalls_find_behind(const struct instrumented_function *function, struct value_map *ret);
// Does nothing come from this instruction on but a return, or a jump to one of these blocks?
bool tailcalls_is_exit(LLVMValueRef instruction, const struct value_map *exits);
void tailcalls_limit(struct instrumented_module *module);
// Which functions hold code that cannot stand twice; those are not inlined any more.
void plain_find_unique(struct instrumented_module *module);
bool plain_can_copy(LLVMValueRef function);
// May the call stand twice?
bool plain_can_copy_call(LLVMValueRef call);
void plain_copy(struct instrumented_module *module, struct instrumented_function *function);
// Once every copy was made.
void plain_connect(struct instrumented_module *module);
// Functions that only calls refer to, and their copies, keep their arguments as they are; and may
// lose them, while LLVM inlines. plugin.cc calls both.
void plain_hold_locals(LLVMModuleRef module);
void plain_release_locals(LLVMModuleRef module);
// Of a plain copy?
bool plain_is_name(const char *name, size_t length);
// `asm sideeffect ""` at the entry of a function.
void words_pin(struct instrumented_module *module, struct instrumented_function *function);
// Last: what was added does not count when the function is considered for inlining.
void words_weigh(struct instrumented_module *module, struct instrumented_function *function);
void words_add(struct instrumented_module *module, struct instrumented_function *function);
void calls_init(struct instrumented_module *module);
void calls_add(struct instrumented_module *module, struct instrumented_function *function);
void paths_add(struct instrumented_module *module, struct instrumented_function *function);

// plugin.cc: what LLVM's C interface lacks.
// The copy has debug information of its own, with this linkage name.
LLVMValueRef plugin_copy_function(LLVMValueRef function, const char *name);
// Are the addresses of its blocks known to the function and to tables of its own alone?
bool plugin_can_copy_tables(LLVMValueRef function);
bool plugin_has_prefix(LLVMValueRef function);
void plugin_set_prefix(LLVMValueRef function, LLVMValueRef data);
// Does a call by name certainly come to this body, however the program is linked?
bool plugin_is_final(LLVMValueRef function);
// Adds what LLVM knows of a library function of this name; true if that is that it only reads.
bool plugin_infer_library(LLVMValueRef function);
// Is this the name of a function that the optimiser knows?
bool plugin_is_library(LLVMValueRef function, const char *name, size_t length);
// Puts what is known of the callee onto the call.
void plugin_keep_attributes(LLVMValueRef call);
// A function or a call: attributes.c.
void plugin_hold(LLVMValueRef function_or_call);
// Sampling does not compare the addresses of this function's locals, whatever is inlined into it.
void plugin_forget_addresses(LLVMValueRef function);
// Of a declaration that was held, whatever LLVM finds out about it later.
void plugin_keep_held(LLVMValueRef declaration);

// Shared by the schemes.
LLVMValueRef instrument_i32(const struct instrumented_module *module, uint32_t value);
LLVMValueRef instrument_i64(const struct instrumented_module *module, uint64_t value);
// What happens to sums, at the builder's position.
void words_change(const struct instrumented_module *module, struct instrumented_function *function,
                  const struct path_action *actions, uint32_t count);
// `asm sideeffect ""`: no code, but an effect that must not be moved or dropped. What stands behind
// pins of different numbers is not merged.
LLVMValueRef instrument_pin(const struct instrumented_module *module, uint64_t number);

#endif
