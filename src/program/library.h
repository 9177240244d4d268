// SPDX-License-Identifier: Apache-2.0
/*
 * What is known of functions of the C library: whether they may call functions of the program, and
 * what they do to control flow. A function that is not known may do anything.
 *
 *     const struct library_function *known = library_find("qsort");    // NULL: not known
 *
 * Spellings of the same function (__isoc99_sscanf, __printf_chk) are found as well. The table holds
 * for the system's library only: a program may have a function of the same name, or model-less
 * objects may.
 */
#ifndef PROGRAM_LIBRARY_H
#define PROGRAM_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum library_kind {
    LIBRARY_PURE,     // calls nothing of the program
    LIBRARY_CLOSED,   // may call what programs replace in the C library: malloc and its like
    LIBRARY_CALLBACK, // as closed, and calls functions that it is given as arguments
    LIBRARY_OPEN,     // may call any function whose address it can know
};

enum library_flag {
    LIBRARY_LONGJMP = 1u << 0,
    LIBRARY_THREAD = 1u << 1,    // its callback starts a thread
    LIBRARY_SIGNAL = 1u << 2,    // installs a signal handler
    LIBRARY_AT_EXIT = 1u << 3,   // its callback runs when the program or a thread ends
    LIBRARY_EXITS = 1u << 4,     // runs those, and destructors
    LIBRARY_LOADS = 1u << 5,     // runs constructors or destructors of libraries
    LIBRARY_HANDS_OUT = 1u << 6, // gives addresses of functions by name
    LIBRARY_HOOKS = 1u << 7,     // makes closed functions call back from then on
};

struct library_function {
    const char *name;
    uint8_t kind;      // enum library_kind
    uint8_t callbacks; // bit i: argument i is called, or run later as the flags say
    uint16_t flags;    // enum library_flag
};

const struct library_function *library_find(const char *name);
// Is it a spelling of another name (__isoc99_NAME, __isoc23_NAME, __NAME_chk, __NAME)? Which?
bool library_plain_name(const char *name, char *plain, size_t size);

// Names that are known, by number; false after the last.
bool library_name(uint32_t index, char *name, size_t size);

// Does the C library call this function of its own, should the program define it (malloc)?
int library_is_replaceable(const char *name);
// Do compilers call this function without being told (memcpy)?
int library_is_builtin(const char *name);

#endif
