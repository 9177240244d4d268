// SPDX-License-Identifier: Apache-2.0
/*
 * From stacks told as text to evidence: the join of what was printed (backtrace.h) with a program.
 *
 *     err = backtrace_evidence(backtrace, "bug.txt", "prog", &options, model, &evidence);
 *
 * Two ways lead from a frame of the text to nodes of the model:
 *
 *   - By address. Where the text has addresses, and all that it says of names and lines fits the
 *     program's debug information at exactly one place in memory, frames are found as in a core:
 *     inlined ones, the node of each call, where tail calls may have left a gap.
 *   - By name and line, where there are no addresses or they do not fit (another build of the same
 *     sources): all nodes with an instruction of that line; of a frame that waits for a function of
 *     the program, those that may call it.
 *
 * Both give supersets of the truth, if the text is of this program. What was printed by the program
 * itself (glibc) was not the end yet: the frames that did the printing are left out.
 */
#ifndef EVIDENCE_BACKTRACE_EVIDENCE_H
#define EVIDENCE_BACKTRACE_EVIDENCE_H

struct backtrace;
struct decode_options;
struct error;
struct evidence;
struct model;

// `executable` may be NULL, or no ELF file: then names and lines are used. Completes the model.
// ERROR_MISMATCH: the text names the build of another program.
struct error *backtrace_evidence(const struct backtrace *backtrace, const char *file,
                                 const char *executable, const struct decode_options *options,
                                 struct model *model, struct evidence **ret);

#endif
