// SPDX-License-Identifier: Apache-2.0
#include "path/marks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "solve/flow.h"

static bool is_same_value(struct dataflow_value a, struct dataflow_value b)
{
    return a.number == b.number;
}

static bool is_assumed(const struct path_problem *problem, const struct path_critical *critical)
{
    return problem->dataflow && !is_same_value(critical->assume, DATAFLOW_ONE);
}

// Critical nodes at one node, under one assumption and of one cluster, are reached together: one
// bit.
static uint32_t bit_for(struct marks *marks, uint32_t number)
{
    const struct path_problem *problem = marks->problem;
    const struct path_critical *critical = &problem->critical[number];

    for (uint32_t i = 0; i < number; i++) {
        const struct path_critical *other = &problem->critical[i];

        if (other->node == critical->node && is_same_value(other->assume, critical->assume) &&
            (!problem->separate || other->cluster == critical->cluster))
            return marks->bit_of[i];
    }
    return marks->bit_count++;
}

static void add_critical(struct marks *marks, uint32_t number)
{
    const struct path_critical *critical = &marks->problem->critical[number];

    uint32_t bit = bit_for(marks, number);
    marks->bit_of[number] = (uint8_t)bit;
    marks->critical_of[bit] |= UINT64_C(1) << number;
    marks->score[bit] += critical->score;
    marks->touched |= UINT64_C(1) << bit;
    marks->assume[bit] = critical->assume;
    if (is_assumed(marks->problem, critical))
        marks->assumed |= UINT64_C(1) << bit;
}

static bool is_sum(const struct marks *marks)
{
    return !marks->problem->measure && !marks->problem->separate;
}

// Where scores are added up, those that come to nothing need not be kept apart.
static void drop_zeros(struct marks *marks)
{
    for (uint32_t i = 0; i < marks->problem->critical_count && is_sum(marks); i++) {
        uint32_t bit = marks->bit_of[i];

        if (marks->score[bit] != 0)
            continue;
        marks->bit_of[i] = MARKS_NO_BIT;
        marks->touched &= ~(UINT64_C(1) << bit);
        marks->assumed &= ~(UINT64_C(1) << bit);
    }
}

static void add_to_node(struct marks *marks, uint32_t *count, uint32_t node, uint64_t bits)
{
    uint8_t *mask = &marks->mask_of_node[node];

    if (!*mask) {
        assert(*count < 256);
        *mask = (uint8_t)(*count)++;
    }
    marks->masks[*mask] |= bits;
}

static void add_orders(struct marks *marks, uint32_t *count)
{
    const struct path_problem *problem = marks->problem;
    uint32_t first = marks->bit_count;

    marks->order_shift = problem->order_count;
    marks->bit_count += 2 * problem->order_count;
    assert(marks->bit_count <= 64);
    for (uint32_t i = 0; i < problem->order_count; i++) {
        uint64_t has = UINT64_C(1) << (first + i), needs = has << marks->order_shift;

        marks->has |= has;
        marks->needs |= needs;
        add_to_node(marks, count, problem->orders[i].before, has);
        // reached at once is not reached before
        if (problem->orders[i].before != problem->orders[i].after)
            add_to_node(marks, count, problem->orders[i].after, needs);
    }
}

static void classify(struct marks *marks)
{
    marks->good = marks->has;
    marks->bad = marks->needs;
    if (!is_sum(marks))
        marks->exact = marks->touched;
    for (uint32_t b = 0; is_sum(marks) && b < marks->bit_count; b++)
        if (marks->touched >> b & 1)
            *(marks->score[b] > 0 ? &marks->good : &marks->bad) |= UINT64_C(1) << b;
}

void marks_init(struct marks *marks, const struct path_problem *problem)
{
    uint32_t count = 1;

    *marks = (struct marks){.problem = problem};
    marks->mask_of_node = xcalloc(problem->flow->node_count + 1u, 1);
    assert(problem->critical_count + 2 * problem->order_count <= PATH_CRITICAL_MOST);
    for (uint32_t i = 0; i < problem->critical_count; i++)
        add_critical(marks, i);
    drop_zeros(marks);
    for (uint32_t i = 0; i < problem->critical_count; i++)
        if (marks->bit_of[i] != MARKS_NO_BIT)
            add_to_node(marks, &count, problem->critical[i].node, UINT64_C(1) << marks->bit_of[i]);
    add_orders(marks, &count);
    classify(marks);
}

void marks_deinit(struct marks *marks)
{
    free(marks->mask_of_node);
}

uint64_t marks_touched(const struct marks *marks, uint64_t bits)
{
    uint64_t touched = 0;

    for (bits &= marks->touched; bits; bits &= bits - 1)
        touched |= marks->critical_of[__builtin_ctzll(bits)];
    return touched;
}

static double sum_of_scores(const struct marks *marks, uint64_t bits)
{
    const struct path_problem *problem = marks->problem;
    uint64_t touched = marks_touched(marks, bits);
    double sum = 0;
    bool has_cluster = false;
    uint32_t cluster = 0;

    // always in the order of their numbers, so that sums of the same come out the same
    for (uint32_t i = 0; i < problem->critical_count; i++) {
        if (!(touched >> i & 1))
            continue;
        sum += problem->critical[i].score;
        if (problem->separate && has_cluster && cluster != problem->critical[i].cluster)
            return 0;
        has_cluster = true;
        cluster = problem->critical[i].cluster;
    }
    return sum;
}

double marks_worth(const struct marks *marks, uint64_t bits, uint64_t length)
{
    const struct path_problem *problem = marks->problem;

    if (problem->measure)
        return problem->measure(problem->measure_context, marks_touched(marks, bits), length);
    return sum_of_scores(marks, bits) - problem->per_step * (double)length;
}
