// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the decoder; see decode.h.
#ifndef EVIDENCE_CORE_DECODE_INTERNAL_H
#define EVIDENCE_CORE_DECODE_INTERNAL_H

#include "common/arena.h"
#include "common/bitset.h"
#include "common/map.h"
#include "common/vec.h"
#include "evidence/core/core.h"
#include "evidence/core/dwarf.h"
#include "evidence/core/modules.h"
#include "evidence/core/unwind.h"
#include "evidence/evidence.h"
#include "program/model.h"

struct machine_code;

enum position_source {
    POSITION_DISCRIMINATOR, // the line table names the node
    POSITION_EDGE,          // the line table names an edge: its update is under way
    POSITION_LINE,          // nodes of the line
    POSITION_PROLOGUE,      // before the function's first node
    POSITION_UNKNOWN,       // nothing is told: every node
};

// One virtual frame of an address: the same for every activation that stands there.
struct position {
    const struct debug_scope *scope;
    struct function_id function; // MODEL_NONE: no model
    const char *name;
    struct evidence_place place;
    enum position_source source;
    uint32_t edge;               // with POSITION_EDGE
    struct evidence_nodes nodes; // the truth is among them
    bool plain;                  // code that records nothing: the function is switched off
    bool repeats;                // may stand for more activations than one: decode_repeats()
};

// What a line and a discriminator name: a node, or an edge (then `node` is the one it leaves).
struct named_place {
    enum position_source source; // POSITION_DISCRIMINATOR, POSITION_EDGE, or POSITION_UNKNOWN
    uint32_t node;
    uint32_t edge;
};

// All virtual frames of an address, innermost first.
struct address_info {
    struct position *positions;
    uint32_t count;
    struct debug_function *physical; // or NULL
};

MAP_DEFINE_U64(address_map, struct address_info *);
MAP_DEFINE_U64(scope_map, uint32_t);
MAP_DEFINE_U64(code_map, struct machine_code *);
MAP_DEFINE_U64(scope_flags, uint8_t);
MAP_DEFINE_STRING(name_set, bool);
VEC_DEFINE(warning_vec, const char *);

// The coverage bytes of one module in one image.
struct coverage_place {
    struct module_id module;
    struct module *image;
    uint64_t address, flags_address;
    uint32_t site_count;
};
VEC_DEFINE(coverage_place_vec, struct coverage_place);

struct decoder {
    struct core *core;
    struct modules *modules;
    struct unwinder *unwinder;
    struct model *model;
    struct evidence *evidence; // everything found is allocated in its arena
    struct address_map addresses;
    struct scope_map functions; // of a scope, by its defining DIE
    struct code_map code;       // of physical functions, by their address in memory
    struct coverage_place_vec coverage;
    struct scope_flags returns;                  // of functions: decode_calls.c
    struct bitset doubtful_true, doubtful_false; // by call site: what its global byte cannot tell
    struct scope_flags gaps;                     // of two addresses: decode_gaps.c
    // Of the program's tail calls, once it was asked: decode_gaps.c.
    struct name_set tail_targets, tail_callers; // by debug information
    bool knows_tail_targets, has_unknown_tail_calls;
    bool knows_musttail, has_musttail, misses_musttail; // by the model; the last: it cannot be read
    bool some_are_off;                                  // functions that were switched off
    struct warning_vec warnings;
};

// How a physical frame stands.
struct stop {
    const struct unwind_frame *unwound;
    struct debug_function *physical;
    bool interrupted;
    bool memory_fault; // stopped by its own load or store, not from outside
    bool stores;       // at an instruction that writes memory
    bool folded;       // the load that faulted may stand elsewhere than the row says
    bool leaves; // its frame is being taken down: debug information does not tell where it was
    bool asynchronous;  // stopped by a signal from outside, for sure
    bool trapped;       // stopped by an invalid instruction: __builtin_trap
    bool sets_jumps;    // some function of the physical frame calls setjmp
    bool holds;         // waits for a call of the source, where that stands: all stores are made
    const char *callee; // what the frame waits for, or NULL
    bool is_call_site;  // debug information says that the source makes a call there
    bool callee_has_model;
};

// ---- decode_position.c

// Borrowed from the decoder. `exact`: address is the next instruction, else inside a call.
const struct address_info *decode_address(struct decoder *decoder, struct module *module,
                                          uint64_t address, bool exact);
struct evidence_nodes decode_nodes(struct decoder *decoder, const uint32_t *nodes, uint32_t count);
struct named_place decode_named(const struct decoder *decoder, struct function_id function,
                                uint32_t line, uint32_t discriminator);
// Is it code of a plain copy?
bool decode_is_plain(const struct debug_scope *scope);
// The model's function of a scope, MODEL_NONE when it has none.
uint32_t decode_scope_function(struct decoder *decoder, const struct debug_scope *scope);

// ---- decode_inside.c

// Where a trap may have stopped: the position itself where it was not one.
struct position decode_trap(struct decoder *decoder, const struct stop *stop,
                            const struct position *position);
// May control be in a function that was inlined into this interrupted frame, and that the line
// table does not name? `position`: that of the address.
bool decode_may_be_inside(struct decoder *decoder, const struct stop *stop,
                          const struct position *position, const struct evidence_frame *frame);

// ---- decode_folded.c

// Where a load may stand that faulted as a part of another instruction.
struct folded {
    uint32_t depth; // of the virtual frame: those inside of it had not been entered
    struct evidence_nodes nodes;
    bool inside; // or in a function that was inlined at one of the nodes
};
// False: where the row says, or the instruction is a plain load or store.
bool decode_folded(struct decoder *decoder, const struct stop *stop,
                   const struct address_info *info, struct folded *ret);

// ---- decode_gaps.c

// May frames be missing between a frame that waits and the one it called? `name`: of what runs
// there.
bool decode_gap(struct decoder *decoder, const struct unwind_frame *caller,
                const struct unwind_frame *callee, const char *name);
// May the frame be one of several activations of its function, called by each other, of which the
// others have left no frame?
bool decode_repeats(struct decoder *decoder, struct debug_info *info,
                    struct debug_function *physical, const struct position *position);
// Does debug information have a call site for where the frame waits?
bool decode_is_call_site(const struct unwind_frame *unwound);

// ---- decode_record.c

// Reads the record of one virtual frame, narrows its candidates and fills in its paths.
// `is_outer`: another virtual frame of the same physical one is inside it, by the line table. True:
// but that one has returned, its instruction was moved.
bool decode_record(struct decoder *decoder, const struct stop *stop,
                   const struct position *position, bool is_outer, struct evidence_frame *frame);

// ---- decode_machine.c

#define BETWEEN_FLANKED   2u
#define BETWEEN_OVERTAKEN 3u // it lies behind the node that the row names, and has been begun

/*
 * The nodes of a virtual frame of optimised code between the last landmark that control has passed
 * and the next one that it comes to: control stands at one of them. A byte a node, to be freed: not
 * 0, and BETWEEN_FLANKED for the one whose instructions stand right before and behind the program
 * counter. NULL where nothing is proved. *ret_moved: what stands around
 * it says that the row may name one that control has not come to, or has left.
 */
uint8_t *decode_between(struct decoder *decoder, const struct stop *stop,
                        const struct position *position, bool *ret_moved);
// By node: has control perhaps come last by the announcement of its call, or by a landmark in the
// function that was inlined there? To be freed; NULL where nothing is known.
uint8_t *decode_called(struct decoder *decoder, const struct stop *stop,
                       const struct position *position);
// Does the instruction of this virtual frame stand amid those of a function that was inlined there?
bool decode_is_amid_call(struct decoder *decoder, const struct stop *stop,
                         const struct position *position);

// What the machine code around the program counter says of a frame.
enum machine_says {
    MACHINE_SAYS_NOTHING,
    MACHINE_AGREES,   // with what the row names, if anything
    MACHINE_CORRECTS, // the instruction was moved: control stands elsewhere
};

/*
 * Settles the candidates of an interrupted frame of optimised code, but for a trap: what the row
 * names is believed where the machine code allows it, else control stands where the machine code
 * says. The node of the instruction itself stays a candidate, since perhaps it is what stopped the
 * program.
 */
enum machine_says decode_machine(struct decoder *decoder, const struct stop *stop,
                                 const struct position *position, bool is_outer,
                                 struct evidence_frame *frame);

// ---- landmark.c

// Frees what was kept of functions' code.
void decode_forget_code(struct decoder *decoder);

// ---- decode_calls.c

// Calls that the frame's paths and what it waits for tell.
void decode_calls(struct decoder *decoder, const struct stop *stop, const struct position *position,
                  bool is_outer, struct evidence_frame *frame);
// Is this site the call that the frame waits for, by the callee's name?
bool decode_waits_for(const struct decoder *decoder, const struct stop *stop, struct site_id site);
/*
 * Does the frame wait for a call that the optimiser may have moved: one of a loose site, or one
 * that only the compiler knows of (floor() as a call)? Those that copy or set memory are where the
 * source has them. *ret: the address of the call.
 */
bool decode_is_moved_call(struct decoder *decoder, const struct stop *stop,
                          const struct position *position, uint64_t *ret);
// Does the frame certainly wait for the call of the source that ends its node, where it stands? Not
// for one that the compiler made by itself, and not for a loose one.
bool decode_waits_at_site(struct decoder *decoder, const struct stop *stop,
                          const struct position *position);
// May the callee be inlined: a call to a function with a body in the same module, or to any?
bool decode_may_be_inlined(const struct decoder *decoder, struct function_id function,
                           struct site_id site);
// Was the call of this node, if control has passed it, really made, and does it hold what comes
// before and behind it in its place?
bool decode_call_holds(struct decoder *decoder, const struct stop *stop,
                       const struct position *position, uint32_t node);
void decode_inlined_doubts(struct decoder *decoder, const struct stop *stop,
                           const struct address_info *info);
// ---- decode_coverage.c

// Where the coverage bytes of every module of every image are. First of all.
void decode_find_coverage(struct decoder *decoder);
// The call that the byte at this address is about.
bool decode_coverage_site(const struct decoder *decoder, uint64_t address, struct site_id *site);
void decode_coverage(struct decoder *decoder);
// Once all is decoded: where coverage and frames speak of the same calls, do they agree? What
// coverage says of calls is told to the frames.
void decode_agreement(struct decoder *decoder);

// ---- shared

// The nodes before each node of a function, by their index in it.
struct predecessors {
    uint32_t *start; // node_count + 1
    uint32_t *node;
};
void predecessors_init(struct predecessors *predecessors, const struct model *model,
                       struct function_id function);
void predecessors_deinit(struct predecessors *predecessors);

bool function_is_optimized(const struct decoder *decoder, struct function_id function);
void decode_warn(struct decoder *decoder, const char *format, ...)
    __attribute__((__format__(__printf__, 2, 3)));

#endif
