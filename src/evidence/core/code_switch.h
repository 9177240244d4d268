// SPDX-License-Identifier: Apache-2.0
/*
 * Functions of an executable or library that can be switched off (struct layout_switch), for
 * `inquest tune`: found by the data before their entries, so in stripped files too.
 *
 *     err = code_switches_find(path, data, size, &switches, &count);
 *     code_switch_set(&switches[0], data, false); // its entry now jumps to the plain copy
 *     free(switches);
 */
#ifndef EVIDENCE_CORE_CODE_SWITCH_H
#define EVIDENCE_CORE_CODE_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct code_switch {
    uint64_t module_id;
    uint32_t function; // number in its module
    uint64_t offset;   // in the file, of its struct layout_switch
    uint64_t jump;     // in the file, of where a jump goes: its entry, behind endbr64
    int32_t distance;  // that the jump goes
};

// `data` is the whole file; every range given lies in it. Sorted by module and function; a function
// may be there more than once.
struct error *code_switches_find(const char *path, const unsigned char *data, size_t size,
                                 struct code_switch **ret, size_t *ret_count);
// How it is set in the file. An error: neither, so that the file is damaged.
struct error *code_switch_get(const struct code_switch *at, const char *path,
                              const unsigned char *data, bool *on);
// Requires that it could be got.
void code_switch_set(const struct code_switch *at, unsigned char *data, bool on);

#endif
