// SPDX-License-Identifier: Apache-2.0
/*
 * What the files of the compiler plugin share. The plugin sees each module once, as the front end
 * made it; module.c is its table of contents. One file a scheme:
 *
 *   embed.c          the model section
 *   discriminators.c a discriminator a node, so that an address leads back to its node
 *   attributes.c     what must not be assumed of callees
 *   record.c         the frame record: storage, debug info, initialisation, exit
 *   calls.c          pending site, local and global call coverage
 *   paths.c          path sum and ring
 *   bodies.c         the second body, and the flag that chooses
 *   tailcalls.c      tail calls in recursive cycles stay tail calls
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
    struct layout_frame frame;
    // Set while the function is being instrumented.
    LLVMValueRef record;       // the alloca, or NULL
    LLVMValueRef sum_register; // a copy of the sum that the optimiser may keep in a register
    LLVMValueRef
        *plain_calls;    // by site: the call in the other body, or NULL when there is one body
    uint8_t *tail_sites; // by site: a tail call to be kept; NULL: none
    LLVMBasicBlockRef plain_entry; // first block of the other body, or NULL
    LLVMBasicBlockRef body_entry;  // first block of the recording body
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
    LLVMValueRef coverage;     // [site_count x i8]
    LLVMValueRef flags;        // [function_count x i8]
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
void tailcalls_find(struct instrumented_module *module);
bool bodies_can_clone(const struct instrumented_function *function);
// May the call stand twice in a function?
bool bodies_can_clone_call(LLVMValueRef call);
void bodies_clone(struct instrumented_module *module, struct instrumented_function *function);
// For a function that keeps none: `asm sideeffect ""` at its entry.
void record_pin(struct instrumented_module *module, struct instrumented_function *function);
void record_add(struct instrumented_module *module, struct instrumented_function *function);
void calls_add(struct instrumented_module *module, struct instrumented_function *function);
void paths_add(struct instrumented_module *module, struct instrumented_function *function);
void tailcalls_apply(struct instrumented_module *module, struct instrumented_function *function);

// Shared by the schemes.
LLVMValueRef instrument_i32(const struct instrumented_module *module, uint32_t value);
LLVMValueRef instrument_i64(const struct instrumented_module *module, uint64_t value);
// Address of a byte offset in the record, at the builder's position.
LLVMValueRef record_address(const struct instrumented_module *module,
                            const struct instrumented_function *function, uint32_t offset);
// A volatile store: kept, and kept in order with other volatile accesses.
void record_store(const struct instrumented_module *module,
                  const struct instrumented_function *function, uint32_t offset,
                  LLVMValueRef value);
// `asm sideeffect ""`: no code, but the function has an effect that must not be moved or dropped.
void instrument_pin(const struct instrumented_module *module);

#endif
