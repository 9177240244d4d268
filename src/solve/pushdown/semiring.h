// SPDX-License-Identifier: Apache-2.0
/*
 * What the paths of a pushdown system are worth: weights that are extended along a path and
 * combined over paths.
 *
 *     struct pushdown *system = pushdown_create(&semiring_length, states, symbols);
 *
 * A weight is 64 bits: a value, or a handle into tables of the domain's own. Equal weights have
 * equal bits (a domain with tables keeps each value once), so that a change is seen by comparing.
 *
 * What a domain must keep (a bounded idempotent semiring: Reps, Schwoon, Jha, Melski: Weighted
 * pushdown systems, 2005, section 2), with a ⊑ b for combine(a, b) == a:
 *   - combine is associative, commutative and idempotent; zero is neutral to it. Zero is the weight
 *     of "no path".
 *   - extend is associative; one is neutral to it; extending zero, or by zero, gives zero.
 *   - extend distributes over combine from both sides.
 *   - no weight can be bettered for ever: chains a1 ⊐ a2 ⊐ ... end. (Lengths keep this because they
 *     are not negative.)
 *
 * A domain that does not distribute but is monotone (a ⊑ b gives extend(a, c) ⊑ extend(b, c) and
 * the same from the left) may be used: values are then ⊑ what the paths combine to, zero is still
 * said only of what no path of a weight other than zero leads to, and the end is still reached.
 * Witnesses stay paths of the system, but what they combine to may be ⊐ the value.
 *
 * `merge` is for calls that have returned (Lal, Reps, Balakrishnan: Extended weighted pushdown
 * systems, 2005; paper 004, section 3.6.3): caller is the weight from the caller's entry up to the
 * call, `call` that of the rule that pushes, callee that from the callee's entry to its end. It is
 * zero where caller or callee is, and distributes in both. For what is found backwards it must keep
 *     merge(extend(a, b), call, c) == extend(a, merge(b, call, c)).
 * A call that is still pending is extended as ever: caller, call, callee.
 */
#ifndef SOLVE_PUSHDOWN_SEMIRING_H
#define SOLVE_PUSHDOWN_SEMIRING_H

#include <stdbool.h>
#include <stdint.h>

struct strbuf;

struct weight {
    uint64_t bits;
};

struct semiring {
    void *context; // given to each function
    struct weight zero, one;
    struct weight (*extend)(void *context, struct weight first, struct weight second);
    struct weight (*combine)(void *context, struct weight a, struct weight b);
    // NULL: extend(extend(caller, call), callee). tag: of the rule that pushes.
    struct weight (*merge)(void *context, struct weight caller, struct weight call,
                           struct weight callee, uint32_t tag);
    // What is worked on first, the smallest number. Any order is right; a good one is many times
    // faster. NULL: first come, first served.
    uint64_t (*rank)(void *context, struct weight weight);
    // combine picks the weight of the smaller rank, and no extend or merge has a smaller rank than
    // what it is made of: then each weight is final when its turn comes (Knuth: A generalization of
    // Dijkstra's algorithm).
    bool is_superior;
    // The text of a weight, without a line's end, and back; false: that is none. NULL, both: the
    // bits as a decimal number.
    void (*print)(void *context, struct weight weight, struct strbuf *out);
    bool (*parse)(void *context, const char *text, struct weight *ret);
};

static inline bool weight_is_equal(struct weight a, struct weight b)
{
    return a.bits == b.bits;
}

static inline struct weight semiring_extend(const struct semiring *semiring, struct weight first,
                                            struct weight second)
{
    return semiring->extend(semiring->context, first, second);
}

static inline struct weight semiring_combine(const struct semiring *semiring, struct weight a,
                                             struct weight b)
{
    return semiring->combine(semiring->context, a, b);
}

static inline struct weight semiring_merge(const struct semiring *semiring, struct weight caller,
                                           struct weight call, struct weight callee, uint32_t tag)
{
    if (semiring->merge)
        return semiring->merge(semiring->context, caller, call, callee, tag);
    return semiring_extend(semiring, semiring_extend(semiring, caller, call), callee);
}

// Is there a path: 1, else 0.
extern const struct semiring semiring_reach;
// The fewest steps, or what rules are said to cost; UINT64_MAX: no path. Superior.
extern const struct semiring semiring_length;

#endif
