// SPDX-License-Identifier: Apache-2.0
/*
 * The trace of a run for dynamic slices: what dep_runtime.c writes and dep_slice.c reads. A header,
 * then records. Instructions are named by their index in the module of the activation at hand
 * (program/insn.h counts the same way); memory is told before it is touched.
 */
#ifndef TRUTH_DEP_TRACE_H
#define TRUTH_DEP_TRACE_H

#include <stdint.h>

enum dep_kind {
    DEP_NODE,     // at: node of the function, extra: activation
    DEP_ENTER,    // at: module, extra: activation, value: function
    DEP_LEAVE,    // extra: activation; about to return
    DEP_CALL,     // extra: 1 when its effects are known, value: address called
    DEP_READ,     // extra: length, value: address
    DEP_WRITE,    // the same
    DEP_COPY,     // the same, of the destination; the next record's value is the source
    DEP_MORE,     // value: what belongs to the record before
    DEP_ALLOCATE, // extra: size, value: address of memory that is new; at: may have DEP_KEEPS
    DEP_FREE,     // value: address; extra: 1 when its contents stay
    DEP_FORGET,   // extra: length, value: address: written by who knows
    DEP_CLOBBER,  // value: address: the object there, if any, was written by who knows
    DEP_MARK,     // about to be executed, and may fail
    DEP_FUNCTION, // at: function, extra: module, value: its address
    DEP_GLOBAL,   // at: number in the table, extra: module, value: its address
    DEP_PARAM,    // at: number, extra: size, value: address of a parameter passed in memory
    DEP_PASS,     // the same at the call: where it is copied from
    DEP_VARIADIC, // va_start: extra: gp_offset | fp_offset << 16, value: reg_save_area;
                  // the next record's value is overflow_arg_area
};

#define DEP_AT_BITS 27u
#define DEP_KEEPS   (1u << 26) // the contents of what is allocated stay
#define DEP_MAGIC   0x3270656468747274ull
#define DEP_STATE   (1ull << 62) // addresses from here on: state of the library, one byte each

struct dep_header {
    uint64_t magic;
    uint64_t length;   // records, also those that found no room
    uint64_t capacity; // records
    uint64_t activations;
    uint64_t thread;  // the one that logs
    uint64_t threads; // not 0: others ran as well
};

struct dep_record {
    uint32_t kind_at; // enum dep_kind << DEP_AT_BITS | at
    uint32_t extra;
    uint64_t value;
};

// Of the reader: for ever. Fails when it is not whole.
const struct dep_header *dep_trace_map(const char *path);

#endif
