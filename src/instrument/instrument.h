// SPDX-License-Identifier: Apache-2.0
/*
 * What the files of the compiler plugin share. The plugin sees each module once, as the front end
 * made it; module.c is its table of contents. One file a scheme:
 *
 *   embed.c          the model section
 *   discriminators.c a discriminator a node, so that an address leads back to its node
 *   attributes.c     what must not be assumed of callees
 *   plain.c          copies that record nothing, for functions that are switched off
 *   words.c          the frame words: storage, debug info, initialisation
 *   calls.c          call coverage
 *   paths.c          path sums
 *   tailcalls.c      frames stay, except in recursive cycles
 *   descriptor.c     loaded data of the module
 *   suspects*.c      sampled predicates: sites, regions, counters (suspects.h)
 *
 * clone.c copies blocks.
 */
#ifndef INSTRUMENT_INSTRUMENT_H
#define INSTRUMENT_INSTRUMENT_H

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
    struct split split;
    struct path_numbering *numbers;
    uint64_t checksum;
    struct layout_shape shape;
    struct layout_code code;
    // Set while the function is being instrumented.
    LLVMValueRef plain;             // its copy that records nothing, or NULL
    LLVMTypeRef path_type;          // of `path`, and of a single path in `last`
    LLVMValueRef path, last, older; // frame words, or NULL
    // Copies that the optimiser may keep in registers; NULL where the word itself does.
    LLVMValueRef path_register, last_register, older_register;
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
    LLVMTypeRef type_i8, type_i32, type_i64, type_ptr, type_void;
};

// Entry point, called by plugin.cc once a module. Returns whether the module changed.
bool instrument_module(LLVMModuleRef module);

// INQUEST_PLUGIN as inquest-cc sets it; false with a message when it is malformed.
bool instrument_options_init(struct instrument_options *options, const char *text,
                             const char **problem);
void instrument_options_deinit(struct instrument_options *options);
bool instrument_options_wants(const struct instrument_options *options, const char *name);

// Has the function this attribute, one of those without a value?
bool instrument_has_attribute(LLVMValueRef function, const char *name);

// The steps of module.c, in this order.
void embed_model(struct instrumented_module *module, LLVMMemoryBufferRef bitcode);
// `size` bytes, a multiple of EMBED_UNIT, in a section that is not loaded.
#define EMBED_UNIT 16
void embed_section(const struct instrumented_module *module, const char *section,
                   const unsigned char *frame, size_t size);
void descriptor_add(struct instrumented_module *module);
// Neither compiler nor linker drops it.
void descriptor_keep(const struct instrumented_module *module, LLVMValueRef global);
void attributes_strip(struct instrumented_module *module);
void discriminators_add(struct instrumented_module *module, struct instrumented_function *function);
// The location with discriminator node + 1.
LLVMMetadataRef discriminators_locate(const struct instrumented_module *module,
                                      LLVMMetadataRef location, uint32_t node);
void tailcalls_limit(struct instrumented_module *module);
bool plain_can_copy(LLVMValueRef function);
// May the call stand twice?
bool plain_can_copy_call(LLVMValueRef call);
void plain_copy(struct instrumented_function *function);
// Once every copy was made.
void plain_connect(struct instrumented_module *module);
// Last: what refers to a function may count as taking its address.
void plain_add_switches(struct instrumented_module *module);
// `asm sideeffect ""` at the entry of a function.
void words_pin(struct instrumented_module *module, struct instrumented_function *function);
void words_add(struct instrumented_module *module, struct instrumented_function *function);
void calls_init(struct instrumented_module *module);
void calls_add(struct instrumented_module *module, struct instrumented_function *function);
void paths_add(struct instrumented_module *module, struct instrumented_function *function);

// plugin.cc: what LLVM's C interface lacks.
LLVMValueRef plugin_copy_function(LLVMValueRef function);
bool plugin_has_prefix(LLVMValueRef function);
void plugin_set_prefix(LLVMValueRef function, LLVMValueRef data);

// Shared by the schemes.
LLVMValueRef instrument_i32(const struct instrumented_module *module, uint32_t value);
LLVMValueRef instrument_i64(const struct instrumented_module *module, uint64_t value);
// A constant of the type of `path`.
LLVMValueRef words_path_value(const struct instrumented_function *function, uint64_t word);
// A volatile store: kept, and kept in order with other volatile accesses.
void words_store(const struct instrumented_module *module, LLVMValueRef slot, LLVMValueRef value);
// `asm sideeffect ""`: no code, but the function has an effect that must not be moved or dropped.
void instrument_pin(const struct instrumented_module *module);

#endif
