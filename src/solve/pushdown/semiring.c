// SPDX-License-Identifier: Apache-2.0
// The two domains that every user would write again.
#include "solve/pushdown/semiring.h"

static struct weight reach_extend(void *context, struct weight first, struct weight second)
{
    (void)context;
    return (struct weight){first.bits & second.bits};
}

static struct weight reach_combine(void *context, struct weight a, struct weight b)
{
    (void)context;
    return (struct weight){a.bits | b.bits};
}

const struct semiring semiring_reach = {
    .zero = {0},
    .one = {1},
    .extend = reach_extend,
    .combine = reach_combine,
};

// Stays at the longest length that is none of "no path".
static struct weight length_extend(void *context, struct weight first, struct weight second)
{
    (void)context;
    if (first.bits == UINT64_MAX || second.bits == UINT64_MAX)
        return (struct weight){UINT64_MAX};
    if (first.bits >= UINT64_MAX - 1 - second.bits)
        return (struct weight){UINT64_MAX - 1};
    return (struct weight){first.bits + second.bits};
}

static struct weight length_combine(void *context, struct weight a, struct weight b)
{
    (void)context;
    return a.bits <= b.bits ? a : b;
}

static uint64_t length_rank(void *context, struct weight weight)
{
    (void)context;
    return weight.bits;
}

const struct semiring semiring_length = {
    .zero = {UINT64_MAX},
    .one = {0},
    .extend = length_extend,
    .combine = length_combine,
    .rank = length_rank,
    .is_superior = true,
};
