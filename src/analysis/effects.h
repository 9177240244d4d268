// SPDX-License-Identifier: Apache-2.0
/*
 * What functions of the C library do to memory: a table, one line a function (docs/library.md). It
 * says what is read and written, where pointers go, what is allocated and what is called. The table
 * holds for the system's library only; a function that is not in it may do anything to whatever it
 * can reach.
 *
 *     const struct effects *effects = effects_find("strtol");      // NULL: not known
 *     for (uint32_t i = 0; effects && i < effects->count; i++)
 *             apply(&effects->list[i]);
 *
 * Spellings of the same function (__isoc99_sscanf, __printf_chk with its further arguments) are
 * found as well, with the arguments renumbered.
 *
 * A *place* is where a value can be: argument i itself, the memory that it points to, the result,
 * memory of the library's own; what a call does not have (a pointer that is NULL, an argument
 * beyond the last) is no place. An effect that is not listed does not happen. Contents that are no
 * pointers (characters of a string) flow by reads and writes; `EFFECT_COPY` says that pointers go
 * along. Reads and writes of the library's own state (errno, the buffers of streams, the locale,
 * the heap's lists) are effects on EFFECT_STATE places, so that a later call can depend on an
 * earlier one.
 *
 * Each state is one object without offsets that holds pointers to anywhere in itself from the start
 * (environ and its strings, stdout and its FILE, a struct passwd and its names), so that a copy out
 * of it gives addresses into it as well. It may come to hold pointers of the program too (setvbuf,
 * putenv), which later calls use. Some of the library's variables are parts of a state:
 * effects_variable().
 */
#ifndef ANALYSIS_EFFECTS_H
#define ANALYSIS_EFFECTS_H

#include <stdbool.h>
#include <stdint.h>

struct strbuf;

enum effect_place_kind {
    EFFECT_NOTHING,   // no place
    EFFECT_ARGUMENT,  // the value of argument `index`
    EFFECT_POINTEE,   // the object that argument `index` points to, from there on (see extent)
    EFFECT_REACHABLE, // that, and whatever can be reached from it by pointers
    EFFECT_VARIADIC,  // the value of any argument from `index` on
    EFFECT_VARIADIC_POINTEE, // what they point to
    EFFECT_RESULT,           // the value that is returned
    EFFECT_RESULT_POINTEE,   // the object that it points to
    EFFECT_STATE,            // state `index` of the library: enum effect_state
    EFFECT_STATE_POINTEE,    // what pointers in it point to, itself left out
    EFFECT_POINTEE_POINTEE,  // what pointers in the pointee of argument `index` point to (iovecs)
    EFFECT_LISTED,           // the arguments that the va_list at argument `index` holds
    EFFECT_LISTED_POINTEE,   // what they point to
};

// Each is one object of the library; those marked * can be pointed to by results.
enum effect_state {
    EFFECT_STATE_ERRNO,       // *
    EFFECT_STATE_HEAP,        // the allocator's lists: calls that allocate and free
    EFFECT_STATE_STREAMS,     // * FILE objects and their buffers, stdin, stdout, stderr
    EFFECT_STATE_FILES,       // what the kernel keeps: descriptors, files, directories, sockets
    EFFECT_STATE_ENVIRONMENT, // * environ and its strings
    EFFECT_STATE_LOCALE,      // *
    EFFECT_STATE_TIME,        // * static results of localtime and its like; the clock
    EFFECT_STATE_RANDOM,
    EFFECT_STATE_PROCESS,  // ids, limits, signal masks, handlers, working directory
    EFFECT_STATE_THREADS,  // thread-specific data, locks
    EFFECT_STATE_TOKENS,   // * strtok's and getopt's position
    EFFECT_STATE_DATABASE, // * static results of getpwnam, gethostbyname and their like
    EFFECT_STATE_STRINGS,  // * constant and static texts: strerror, setlocale's results, ctype
                           // tables
    EFFECT_STATE_COUNT,
};

struct effect_place {
    uint8_t kind;  // enum effect_place_kind
    uint8_t index; // argument from 0, or enum effect_state
};

// How far a pointee is touched, from where the pointer points.
enum effect_extent_kind {
    EFFECT_ANY_LENGTH, // unknown, from the pointer on
    EFFECT_BYTES,      // at most `length` bytes
    EFFECT_TIMES,      // at most argument `length` times argument `other` (0xff: 1) bytes
    EFFECT_STRING,     // up to a 0, a wide one in wide strings
    EFFECT_SCALED,     // at most argument `length` times `other` bytes
};

struct effect_extent {
    uint8_t kind; // enum effect_extent_kind
    uint8_t length;
    uint8_t other;
};

enum effect_kind {
    EFFECT_READ,  // `from` may be read
    EFFECT_WRITE, // `to` may be written, with what no pointer of the program is in
    EFFECT_COPY,  // pointers in `from` may be put into `to`; both are read and written; offsets
                  // from memory to memory are kept (memcpy), unless moved (qsort) or a state's
    EFFECT_SETS,  // as EFFECT_WRITE, and all of the extent is always written when the call returns
    EFFECT_ALLOCATES, // `to` becomes the address of a new object, which the call may write to
    EFFECT_RELEASES,  // objects that pointers in `from` point to end: of an argument, its pointee
    EFFECT_CALLS,     // functions in `from` are called, now or later; their parameters may be what
                      // `arguments` lists (moved), what they return may get into `to`
    EFFECT_RETURNS,   // the result may be `from`, moved by an unknown offset (strchr) when `moved`;
                      // of a state: its address
};

#define EFFECT_MOST_ARGUMENTS 4u

struct effect {
    uint8_t kind; // enum effect_kind
    bool moved; // the pointer that is copied or returned may point elsewhere in its object, and may
                // be put anywhere in the extent
    struct effect_place from, to;
    struct effect_extent extent;                          // of what is read or written
    struct effect_place arguments[EFFECT_MOST_ARGUMENTS]; // of a call
};

#define EFFECT_NO_ARGUMENT 0xffu

struct effects {
    const struct effect *list;
    uint32_t count;
    bool never_returns;
    uint8_t printf_format; // the argument that is a format of printf, or EFFECT_NO_ARGUMENT: only
                           // by its %n are pointees of variadic and of listed arguments written,
                           // only by its %m is errno read
};

// Lives for ever.
const struct effects *effects_find(const char *name);
// Is it a variable of the library that is part of a state (optarg, stdout, environ)?
bool effects_variable(const char *name, enum effect_state *ret);
// How many functions are known, and each one's name and area (strings, stdio), sorted by name, for
// the documentation and its tests. A name that ends in * stands for all that begin like it.
uint32_t effects_count(void);
const char *effects_name(uint32_t index);
const char *effects_area(uint32_t index);
// In short words, on one line: "reads *1[text]; sets *0[text]; gives 0".
void effects_write_text(const struct effects *effects, struct strbuf *text);

#endif
