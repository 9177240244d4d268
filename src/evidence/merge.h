// SPDX-License-Identifier: Apache-2.0
/*
 * Evidence of one run from several sources, as one.
 *
 *     err = evidence_merge(&all, other);      // other is consumed, also when that fails
 *
 * Stacks come from the best source: a core, else what was first. Another source's stacks are not
 * used, but must be of the same run: where both tell where the failed thread stood, one may know
 * less than the other, but not something else. Coverage is joined call by call, observations,
 * images and warnings one after the other. A contradiction is ERROR_MISMATCH and names both.
 */
#ifndef EVIDENCE_MERGE_H
#define EVIDENCE_MERGE_H

struct error;
struct evidence;

// Both `source`s are set. Which of the two goes on to live is not said: *into is what there is.
struct error *evidence_merge(struct evidence **into, struct evidence *other);

#endif
