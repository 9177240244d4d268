// SPDX-License-Identifier: Apache-2.0
/*
 * Who calls whom, and who is called by nobody we see: names to functions as linker and dynamic
 * linker bind them, sets of functions by address, calling signature and reason. Used by
 * model_complete and points-to only.
 *
 * A function whose address is taken anywhere may be called through any pointer that fits it
 * (signature_fits), and by any library function that may call back. Model-less code knows the
 * addresses it is given, the functions exported to it and those its undefined symbols name; it may
 * hand these out, too (start-up files and libgcc do not).
 */
#ifndef PROGRAM_RESOLVE_H
#define PROGRAM_RESOLVE_H

#include "common/bitset.h"
#include "common/map.h"
#include "common/vec.h"
#include "program/library.h"
#include "program/model_private.h"

VEC_DEFINE(resolve_vec, struct function_id);
VEC_DEFINE(index_vec, uint32_t);

// One definition of a symbol in an image.
struct definition {
    uint32_t function; // MODEL_NONE: an ifunc
    uint32_t next;     // of the same symbol, or MODEL_NONE
    bool is_weak;
};
VEC_DEFINE(definition_vec, struct definition);

// Who leaves a symbol undefined.
enum undefined_by {
    UNDEFINED_BY_TOOLCHAIN = 1u << 0, // start-up files, libgcc, a static libc
    UNDEFINED_BY_OBJECT = 1u << 1,    // model-less inputs of the user's
};

struct resolve_image {
    struct model_string_map definitions; // symbol -> first definition
    struct model_string_map undefined;   // symbol -> enum undefined_by
    bool is_opaque; // has inputs of which nothing is known: they may refer to anything
    struct model_string_map symbols; // defined in .symtab -> 1 + index, 0 when local
};

// What a global of a module stands for.
struct resolution {
    bool known;
    bool is_external; // may be model-less code
    bool is_ifunc;
    uint32_t set;
    const struct library_function *library; // of an external; NULL: not known, may do anything
};

struct resolver {
    struct model *model;
    struct definition_vec definitions;
    struct resolve_image *images;
    struct resolution **resolutions; // by module, by global

    // sets
    struct resolve_vec members;
    struct index_vec set_start;
    struct model_id_map set_ids; // hash of the contents -> set
    struct model_id_map fits;    // signature -> set
    uint32_t taken_set;          // what a pointer of the program may lead to
    uint32_t any_set;            // all that model-less code may call
    uint32_t exit_set;           // that, constructors and destructors
    uint32_t replaceable_set;    // what the C library calls of its own
    struct bitset taken;         // functions whose address the program may hold
    struct bitset modelless;     // that model-less code may call by name
    bool loads, hands_out, hooks;
    bool foreign; // calls model-less code that is not known
    // of functions that run as a handler, as a thread, at exit: any taken one may be among them
    bool any_handler, any_thread, any_at_exit;

    struct root *roots;
    uint32_t root_count, root_capacity;
};

// resolve.c
void resolver_init(struct resolver *resolver, struct model *model);
void resolver_deinit(struct resolver *resolver);
const struct resolution *resolver_global(struct resolver *resolver, uint32_t module,
                                         uint32_t global);
// The function that a constant comes down to within its module; CODE_NONE when it is none.
uint32_t resolver_base(const struct code *code, struct operand operand);
// A set with these members, which are sorted here.
uint32_t resolver_set(struct resolver *resolver, struct resolve_vec *members);
uint32_t resolver_set_of_bits(struct resolver *resolver, const struct bitset *functions);
struct function_list resolver_members(const struct resolver *resolver, uint32_t set);
bool signature_fits(struct signature call, struct signature callee);
struct signature resolver_signature(const struct resolver *resolver, uint32_t function);

// roots.c
void resolver_collect(struct resolver *resolver);
void resolver_roots(struct resolver *resolver);

#endif
