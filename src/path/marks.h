// SPDX-License-Identifier: Apache-2.0
/*
 * What a stretch of a path is remembered for besides its length: 64 bits, one for each critical
 * node that counts and two for each order.
 *
 *     struct marks marks;
 *     marks_init(&marks, problem);
 *     uint64_t bits = marks_extend(&marks, first, marks_of_node(&marks, node));
 *     if (marks_covers(&marks, bits, other)) ... // whatever goes on from other goes on from bits
 *     marks_deinit(&marks);
 *
 * Orders (paper 004, section 3.4, corrected as FINDINGS has it): a stretch *has* `before`, and it
 * *needs* it when it reaches `after` without having reached `before` first. A path that begins at
 * the start may need nothing.
 *
 * When is a stretch as good as another, with the same dataflow and not longer? If it touches all
 * critical nodes of positive score that the other does and none of negative score that it does not;
 * has what the other has and needs nothing that it does not. Whatever is put before or behind it
 * then does no worse. Where the worth of a path is not a sum of scores (`measure`, `separate`),
 * what is touched has to be equal.
 */
#ifndef PATH_MARKS_H
#define PATH_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "path/path.h"

struct marks {
    const struct path_problem *problem;
    uint32_t bit_count;
    uint64_t good, bad, exact; // bits of which more, fewer, the same are as good
    uint64_t has, needs; // of orders; the bit for "needs" is `order_shift` above that of "has"
    uint32_t order_shift;
    uint64_t touched;                 // bits of critical nodes
    double score[64];                 // by bit
    uint8_t bit_of[64];               // by critical node: its bit; NO_BIT: it does not count
    uint64_t critical_of[64];         // by bit: the critical nodes that it stands for
    struct dataflow_value assume[64]; // by bit
    uint8_t *mask_of_node;            // by node: of `masks`
    uint64_t masks[256];
    uint64_t assumed; // bits that count only where something holds
};

#define MARKS_NO_BIT 255u

void marks_init(struct marks *marks, const struct path_problem *problem);
void marks_deinit(struct marks *marks);

static inline uint64_t marks_of_node(const struct marks *marks, uint32_t node)
{
    return marks->masks[marks->mask_of_node[node]];
}

static inline uint64_t marks_extend(const struct marks *marks, uint64_t first, uint64_t second)
{
    return first | (second & ~((first & marks->has) << marks->order_shift));
}

static inline bool marks_covers(const struct marks *marks, uint64_t a, uint64_t b)
{
    return !((b & ~a & (marks->good | marks->exact)) | (a & ~b & (marks->bad | marks->exact)));
}

// Of a whole path: it needs nothing.
static inline bool marks_is_allowed(const struct marks *marks, uint64_t bits)
{
    return !(bits & marks->needs);
}

// The numbers of critical nodes, by bit.
uint64_t marks_touched(const struct marks *marks, uint64_t bits);
// What a path is worth, all told: the sum of scores less the cost of its length, or the measure.
double marks_worth(const struct marks *marks, uint64_t bits, uint64_t length);

#endif
