// SPDX-License-Identifier: Apache-2.0
/*
 * Addresses of a program without a core: what is known of a frame from where its code is. For
 * stacks that are told as text.
 *
 *     struct locator *locator;
 *     err = locator_create("prog", NULL, model, evidence, &locator);   // no debug info: an error
 *     struct locate_stop stop = {.pc = 0x13c0};                         // waits for a call
 *     struct located located = locator_at(locator, &stop);
 *     for (uint32_t i = 0; i < located.count; i++)
 *             use(&located.frames[i]);                                  // innermost first
 *     locator_destroy(locator);
 *
 * Addresses are those of the file, as `nm` prints them. What is found is as decode.h finds it of a
 * core, but nothing is recorded: candidates come from the line table and from the machine code
 * around the address. All that is found lives in the evidence's arena.
 */
#ifndef EVIDENCE_CORE_LOCATE_H
#define EVIDENCE_CORE_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct evidence;
struct evidence_frame;
struct locator;
struct model;

// The model's executable; directories as struct decode_options has them.
struct error *locator_create(const char *executable, const char *const *directories,
                             struct model *model, struct evidence *evidence, struct locator **ret);
void locator_destroy(struct locator *locator); // NULL is fine

// Is the program always loaded at the addresses of its file (no PIE)?
bool locator_is_fixed(const struct locator *locator);
// In hex, in the evidence's arena; NULL when it has none.
const char *locator_build_id(const struct locator *locator);
// What could not be read so far, one sentence each.
size_t locator_warning_count(const struct locator *locator);
const char *locator_warning_at(const struct locator *locator, size_t index);

struct locate_stop {
    uint64_t pc;        // where it goes on: a return address unless interrupted
    bool interrupted;   // innermost, or right below a signal frame: pc is the next instruction
    bool is_inside;     // but pc lies inside of a call that the compiler made (of a sanitizer)
    bool asynchronous;  // interrupted by a signal from outside, for sure
    const char *callee; // that it waits for; NULL: not known
};

struct located {
    struct evidence_frame *frames; // virtual ones of one physical frame, innermost first
    uint32_t count;                // 0: no code with debug information
    const char *const *names;      // as debug information has them at the address
    uint32_t depth;                // how many those are
    bool is_doubtful; // control may have left the inlined ones: frames are then the other ones only
};
struct located locator_at(struct locator *locator, const struct locate_stop *stop);
// The name of a symbol at the address, in the evidence's arena; NULL when there is none.
const char *locator_symbol(struct locator *locator, uint64_t address);

/*
 * May frames be missing between a frame that waits and the one it called? The caller's pc and the
 * callee's are 0 when they are not in the program. `name`: what runs there.
 */
#define LOCATE_UNTOLD UINT64_MAX // the caller is in the program, but it is not known where
bool locator_gap(struct locator *locator, uint64_t caller, const struct locate_stop *callee,
                 const char *name);

// Is the address in the program?
bool locator_has(const struct locator *locator, uint64_t address);
// Does debug information name this function (NULL: any) and line (0: any) there, or no line?
bool locator_agrees(struct locator *locator, uint64_t address, const char *function, uint32_t line);
// Has the program code of a function of this name, declared in a file of this base name (NULL:
// any)?
bool locator_has_function(struct locator *locator, const char *function, const char *file);

/*
 * Where the code of the physical function `physical` can be for which debug information says what a
 * text says: addresses that are `residue` modulo the size of a page, where innermost function and
 * line (0: any) are these. At most `room` of `ret` are set; how many there are.
 */
struct locate_place {
    const char *physical; // the function that has the code
    const char *function; // innermost, may be inlined there; NULL: any
    uint32_t line;
    uint64_t residue;
};
size_t locator_find(struct locator *locator, const struct locate_place *place, uint64_t *ret,
                    size_t room);
// Addresses `offset` behind the beginning of a function of that name; the same way.
size_t locator_find_offset(struct locator *locator, const char *function, uint64_t offset,
                           uint64_t *ret, size_t room);
// Addresses where a row of this line begins in the code of this function, also where it was inlined
// (and is the innermost); the same way.
size_t locator_find_rows(struct locator *locator, const char *function, uint32_t line,
                         uint64_t *ret, size_t room);
// Where gdb says that a frame of the function is on this line, is it? It says so, too, of code
// without a line that follows code of this one.
bool locator_is_certain(struct locator *locator, const char *function, uint32_t line);
// Was anything inlined into the function `function` at this line?
bool locator_has_inlined(struct locator *locator, const char *function, uint32_t line);

#define LOCATE_PAGE UINT64_C(4096)

// Is there, in an ELF file, the code that the kernel lets signal handlers return to?
bool locate_trampoline(const char *path, uint64_t address);

#endif
