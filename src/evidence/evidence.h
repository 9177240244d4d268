// SPDX-License-Identifier: Apache-2.0
/*
 * What is known of one failed run, wherever it came from (a core, a backtrace, logs, by hand).
 *
 * Evidence is about control flow only: no memory contents, no log text, so that it can be shared.
 * It stands by itself: functions are named by module id and index in that module, nodes by their
 * index in the function, so it can be read back later and joined with the model of the same build.
 * Every claim here must be the truth; what is not known is UNKNOWN, a set, or absent.
 *
 *     struct evidence *evidence;
 *     err = evidence_read_json(text, length, "report.json", &evidence);
 *     for (size_t t = 0; t < evidence->threads.length; t++) ...
 *     evidence_destroy(evidence);
 *
 * All strings and arrays are owned by the evidence and freed with it (one arena).
 */
#ifndef EVIDENCE_EVIDENCE_H
#define EVIDENCE_EVIDENCE_H

#include "common/arena.h"
#include "common/error.h"
#include "program/path_number.h"

#include <stdbool.h>
#include <stdint.h>

enum evidence_truth {
    EVIDENCE_FALSE = 0,
    EVIDENCE_TRUE = 1,
    EVIDENCE_UNKNOWN = 2,
};

// A function of a model. `module_id` 0: not in any model (library code, or code without a model).
struct evidence_function {
    uint64_t module_id;
    uint32_t index;   // in its module
    const char *name; // never NULL; "??" where nothing is known
};

// Where in the source; file NULL or line 0 where it is not known.
struct evidence_place {
    const char *file;
    uint32_t line;
    uint32_t column;
};

// Set of nodes of one function.
struct evidence_nodes {
    const uint32_t *nodes; // ascending
    uint32_t count;
};

// How one activation went, as program/path_number.h tells it.
struct evidence_path {
    const struct path_step *steps;
    uint32_t step_count; // 0: nothing is told
};

enum evidence_record {
    EVIDENCE_RECORD_NONE,    // the function keeps none (level, or nothing to keep)
    EVIDENCE_RECORD_VALID,   // a path, perhaps
    EVIDENCE_RECORD_OFF,     // the function was switched off: its plain copy runs
    EVIDENCE_RECORD_UNTOLD,  // where the record is cannot be told at this address
    EVIDENCE_RECORD_UNREADY, // may be that of an earlier activation
    EVIDENCE_RECORD_CORRUPT, // overwritten: no code, or of a path that does not lead here
};

enum evidence_frame_kind {
    EVIDENCE_FRAME_MODEL,   // a function of a model: candidates is not empty
    EVIDENCE_FRAME_FOREIGN, // code without a model
    EVIDENCE_FRAME_SIGNAL,  // the kernel called a signal handler here
};

struct evidence_frame {
    enum evidence_frame_kind kind;
    struct evidence_function function;
    const char *image; // file name of the executable or library; may be NULL
    uint64_t pc;
    bool inlined;     // inlined into the next (outer) frame
    bool interrupted; // innermost frame of its thread, or right below a signal frame
    bool guessed;     // the unwinder was not certain of this frame
    bool gap;         // frames may be missing between this one and the next (outer) one: tail calls
    struct evidence_place place;
    // Nodes where control may stand; the truth is among them. One: exact.
    struct evidence_nodes candidates;
    const char
        *candidates_from; // "discriminator", "line", "call", "machine", ...: how it was found

    enum evidence_record record;
    const char *record_note; // one sentence where record is CORRUPT or UNTOLD, else NULL
    // How control came to where it stands: what it went through last. With path_exact the last step
    // is where it stands (or the loop that holds it); otherwise it has gone on from there.
    struct evidence_path path;
    bool path_exact;
    bool path_from_entry; // the first step is where the activation began
    // By call site of the function: was it about to be entered in this activation?
    const uint8_t *calls; // enum evidence_truth
    uint32_t call_count;
};

struct evidence_thread {
    int64_t tid;
    bool crashed;                        // took the signal
    const struct evidence_frame *frames; // innermost first
    uint32_t frame_count;
    const char *end; // why the stack ends there, in words
    bool whole;      // ends at the thread's first function
};

// Coverage bytes of one module: by call site, numbered through all its functions.
struct evidence_coverage {
    uint64_t module_id;
    const uint8_t
        *sites; // enum evidence_truth: was this call about to be entered in the run, ever?
    uint32_t site_count;
};

// A node of a function of a model.
struct evidence_point {
    uint64_t module_id;
    uint32_t function; // index in its module
    uint32_t node;
};

// One of these, it is not known which; with one point: that one.
struct evidence_points {
    const struct evidence_point *points;
    uint32_t count;
};

enum evidence_observation_kind {
    EVIDENCE_RAN,     // entries[0]: at least one of its points ran
    EVIDENCE_NOT_ALL, // entries[0]: at least one of its points did not; with one point: it did not
    EVIDENCE_TRACE,   // entries, in this order
};

enum evidence_reliability {
    EVIDENCE_UNRELIABLE, // anything may have run before, between and after
    EVIDENCE_RELIABLE,   // every visit to a point of `alphabet` in the whole run is in the trace
    EVIDENCE_BURST,      // every such visit in one stretch of the run, anything before and after
};

// Anything else that was seen of the run. In a program with threads it is about all of them.
struct evidence_observation {
    enum evidence_observation_kind kind;
    enum evidence_reliability reliability; // of a trace
    const struct evidence_points *entries; // each with at least one point
    uint32_t entry_count;                  // 1 unless it is a trace
    struct evidence_points alphabet;       // of a reliable trace or a burst
    const char *origin;                    // "app.log:12", "obsYes[3]": never NULL, no log text
};

struct evidence_image {
    const char *path;
    const char *build_id; // hex, or NULL
    bool executable;      // the program itself
    const uint64_t *modules;
    uint32_t module_count;
};

#define EVIDENCE_CODE_UNTOLD INT32_MIN // of a signal that a text names

struct evidence_signal {
    int number; // 0: none
    int code;   // si_code
    bool has_address;
    uint64_t address;
};

struct evidence {
    struct arena arena;
    const char *source;  // the core's or report's file name, for messages
    const char *kind;    // "core", "backtrace", "log", "hand"
    const char *command; // command line of the process, or NULL
    int64_t pid;
    struct evidence_signal signal;
    const struct evidence_image *images;
    uint32_t image_count;
    const struct evidence_thread *threads; // the crashed one first
    uint32_t thread_count;
    const struct evidence_coverage *coverage;
    uint32_t coverage_count;
    const struct evidence_observation *observations;
    uint32_t observation_count;
    const char *const *warnings; // what was skipped and why, one sentence each
    uint32_t warning_count;
};

struct evidence *evidence_create(void);
void evidence_destroy(struct evidence *evidence);

// JSON (docs/formats/evidence.md, schema "evidence/2"): lossless both ways. `file` is for messages.
struct error *evidence_read_json(const char *text, size_t length, const char *file,
                                 struct evidence **out);
struct error *evidence_write_json(const struct evidence *evidence, FILE *stream);

#endif
