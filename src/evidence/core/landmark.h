// SPDX-License-Identifier: Apache-2.0
/*
 * Landmarks: the instructions of optimised code that stand where the source put them.
 *
 * Optimisers move instructions, and what they move keeps its row of the line table (when it is
 * sunk) or loses it (when it is hoisted, merged, a spill or a copy). What they do not move is
 * control flow and what can be seen from outside. So these are landmarks as long as their rows name
 * a node:
 *   - calls that the source makes, and returns;
 *   - jumps, conditional or by table, right behind an instruction of the same node, or of one that
 * just goes on to it: those that are moved all the same (out of a loop) stand behind something
 * else;
 *   - stores of coverage bytes, which are volatile: right before the call that they announce,
 * whether that was inlined or not. The byte itself names the call.
 */
#ifndef EVIDENCE_CORE_LANDMARK_H
#define EVIDENCE_CORE_LANDMARK_H

#include "evidence/core/decode_internal.h"
#include "evidence/core/machine.h"

// The code of a physical function as one of its virtual frames sees it.
struct machine_view {
    struct decoder *decoder;
    const struct stop *stop;
    const struct position *position; // the virtual frame
    struct debug_info *info;
    const struct machine_code *code;
};

// Where an instruction is, as seen from the virtual frame that is asked about.
enum standing {
    STANDS_UNTOLD,
    STANDS_INSIDE,  // in the frame's own code
    STANDS_IN_CALL, // in a function that was inlined into it
    STANDS_OUTSIDE, // in what it was inlined into, or beside it
};

// What an instruction's row, or the coverage byte that it stores, names, seen from the frame: with
// STANDS_IN_CALL the call.
enum standing machine_standing(const struct machine_view *view, const struct machine_insn *insn,
                               struct named_place *named);
// Does it announce a call?
bool machine_announces(const struct decoder *decoder, const struct machine_insn *insn,
                       struct site_id *site);
// May it announce some call, to an address that is computed?
bool machine_may_announce(const struct machine_insn *insn);
// Is it a landmark, if it names something?
bool machine_is_landmark(const struct machine_view *view, uint32_t insn);
// May a jump by table lead there?
bool machine_is_in_table(const struct machine_view *view, uint64_t address);
// Does nothing lead to this instruction but the one before it?
bool machine_only_follows(const struct machine_view *view, uint32_t insn);

// The code of a physical function, kept by the decoder; NULL when it cannot be had whole.
const struct machine_code *machine_code_of(struct decoder *decoder,
                                           struct debug_function *function);

#endif
