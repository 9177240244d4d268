// SPDX-License-Identifier: Apache-2.0
/*
 * Path numbering against random walks: a walker over a random graph does at each edge what an
 * instrumented program does, and keeps the nodes it saw in a log of its own. What is decoded from
 * its sums must be that log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/alloc.h"
#include "layout/section.h"
#include "program/path_number.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 40, MAX_OUT = 4, WALK = 400 };

struct random_graph {
    struct path_graph graph;
    uint32_t start[MAX_NODES + 1];
    uint32_t successor[MAX_NODES * MAX_OUT];
    uint8_t node_flags[MAX_NODES];
    uint8_t edge_flags[MAX_NODES * MAX_OUT];
};

static uint64_t seed;

static uint32_t below(uint32_t limit)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((seed >> 33) % limit);
}

// Forward edges mostly, some back, some parallel; call nodes; now and then a call that returns
// twice.
static void make_graph(struct random_graph *g)
{
    uint32_t nodes = 1 + below(MAX_NODES - 1), edges = 0;

    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t out = n + 1 == nodes ? 0 : below(3) ? 1 + below(2) : below(MAX_OUT + 1);

        g->start[n] = edges;
        g->node_flags[n] = below(4) == 0 ? PATH_NODE_CALL : 0;
        if (g->node_flags[n] && below(12) == 0) {
            g->node_flags[n] |= PATH_NODE_RETURNS_TWICE;
            out = n + 1 < nodes;
        }
        for (uint32_t k = 0; k < out; k++) {
            uint32_t to = below(4) == 0 ? 1 + below(nodes - 1) : n + 1 + below(nodes - n - 1);

            g->edge_flags[edges] = 0;
            g->successor[edges++] = g->node_flags[n] & PATH_NODE_RETURNS_TWICE ? n + 1 : to;
        }
    }
    g->start[nodes] = edges;
    g->graph = (struct path_graph){nodes, g->start, g->successor, g->node_flags, g->edge_flags};
}

struct walk {
    const struct path_numbering *numbers;
    uint64_t sum;
    uint32_t log[WALK + 1]; // nodes of the path that is being walked
    uint32_t length;
    uint32_t paths;
};

// Does a decoded path tell what the log has? Inside a collapsed loop the log may have more.
static void compare(const struct walk *walk, const struct path *path)
{
    uint32_t at = 0;

    assert_int_equal(path->start, walk->log[0]);
    for (uint32_t s = 0; s < path->step_count; s++) {
        assert_true(at < walk->length);
        assert_int_equal(path->steps[s].node, walk->log[at]);
        if (path->steps[s].kind == PATH_STEP_NODE) {
            at++;
            continue;
        }
        // the unit: on to the last node of the log that is inside it
        uint32_t unit = path->steps[s].node;
        while (at + 1 < walk->length && path_unit(walk->numbers, walk->log[at + 1]) == unit)
            at++;
        if (s + 1 == path->step_count)
            at++; // ends inside
    }
    assert_int_equal(at, walk->length);
}

static void check_here(struct walk *walk)
{
    struct path path;
    uint32_t node = walk->log[walk->length - 1];

    assert_true(path_numbering_decode(walk->numbers, walk->sum, node, &path));
    assert_int_equal(path.end, PATH_END_HERE);
    compare(walk, &path);
    path_deinit(&path);
}

static void check_finished(struct walk *walk, uint64_t sum, uint32_t next)
{
    struct path path;

    assert_true(path_numbering_decode_finished(walk->numbers, sum, &path));
    compare(walk, &path);
    assert_int_equal(path.end, PATH_END_CUT);
    if (path.next != UINT32_MAX)
        assert_int_equal(path.next, next);
    path_deinit(&path);
    walk->paths++;
}

static void take_edge(struct walk *walk, const struct random_graph *g, uint32_t edge)
{
    struct path_edge_action action = path_edge_action(walk->numbers, edge);
    uint32_t to = g->successor[edge];

    if (!action.inside && !action.cut)
        walk->sum += action.increment;
    if (!action.inside && action.cut) {
        check_finished(walk, walk->sum + action.increment, to);
        walk->sum = path_start(walk->numbers, to);
        walk->length = 0;
    }
    walk->log[walk->length++] = to;
}

static uint32_t walk_graph(const struct random_graph *g, bool collapse)
{
    struct path_numbering *numbers = path_numbering_create(&g->graph, collapse);
    struct walk walk = {.numbers = numbers, .sum = path_start(numbers, 0), .length = 1};

    for (int step = 0; step < WALK - 1; step++) {
        uint32_t node = walk.log[walk.length - 1];
        uint32_t out = g->start[node + 1] - g->start[node];

        check_here(&walk);
        if (!out)
            break;
        take_edge(&walk, g, g->start[node] + below(out));
    }
    uint32_t paths = walk.paths;
    path_numbering_destroy(numbers);
    return paths;
}

static void random_walks(void **state)
{
    uint64_t paths = 0;

    (void)state;
    for (seed = 1; seed < 4000; seed++) {
        uint64_t kept = seed;
        struct random_graph g;

        make_graph(&g);
        paths += walk_graph(&g, false);
        paths += walk_graph(&g, true);
        seed = kept;
    }
    assert_true(paths > 10000); // the walks do go round loops
}

// 100 diamonds in a row have 2^100 paths: extra cuts keep the numbers small, and decoding works.
static void many_paths(void **state)
{
    enum { DIAMONDS = 100, NODES = 3 * DIAMONDS + 1 };
    static uint32_t start[NODES + 1], successor[4 * DIAMONDS];
    static uint8_t node_flags[NODES], edge_flags[4 * DIAMONDS];
    uint32_t edges = 0;

    (void)state;
    for (uint32_t d = 0; d < DIAMONDS; d++) {
        start[3 * d] = edges;
        successor[edges++] = 3 * d + 1;
        successor[edges++] = 3 * d + 2;
        start[3 * d + 1] = edges;
        successor[edges++] = 3 * d + 3;
        start[3 * d + 2] = edges;
        successor[edges++] = 3 * d + 3;
    }
    start[NODES - 1] = start[NODES] = edges;
    struct path_graph graph = {NODES, start, successor, node_flags, edge_flags};
    struct path_numbering *numbers = path_numbering_create(&graph, true);
    assert_true(path_has_cuts(numbers));
    assert_true(path_count(numbers) <= LAYOUT_MOST_PATHS);
    assert_true(path_range(numbers) < 1ull << 62);
    struct layout_shape shape = path_shape(numbers, 1, SECTION_LEVEL_PATHS, true);
    assert_true(shape.has_path && shape.has_last && !shape.has_older && !shape.eager);

    // now one branch, now the other
    struct walk walk = {.numbers = numbers, .sum = path_start(numbers, 0), .length = 1};
    for (uint32_t node = 0; start[node] != start[node + 1];) {
        uint32_t edge = node % 2 ? start[node] : start[node + 1] - 1;
        struct path_edge_action action = path_edge_action(numbers, edge);

        check_here(&walk);
        node = successor[edge];
        if (action.cut) {
            check_finished(&walk, walk.sum + action.increment, node);
            walk.sum = path_start(numbers, node);
            walk.length = 0;
        } else
            walk.sum += action.increment;
        walk.log[walk.length++] = node;
    }
    assert_true(walk.paths >= 1);
    path_numbering_destroy(numbers);
}

// A loop without calls is one unit; with a call inside it is not.
static void collapsing(void **state)
{
    uint32_t start[] = {0, 1, 3, 4, 4}, successor[] = {1, 2, 3, 1};
    uint8_t node_flags[4] = {0}, edge_flags[4] = {0};
    struct path_graph graph = {4, start, successor, node_flags, edge_flags};

    (void)state;
    struct path_numbering *numbers = path_numbering_create(&graph, true);
    assert_int_equal(path_count(numbers), 1);
    assert_false(path_has_cuts(numbers));
    assert_int_equal(path_unit(numbers, 2), 1);
    assert_false(path_shape(numbers, 1, SECTION_LEVEL_PATHS, true).has_path);
    path_numbering_destroy(numbers);

    node_flags[2] = PATH_NODE_CALL;
    numbers = path_numbering_create(&graph, true);
    assert_true(path_has_cuts(numbers));
    assert_int_equal(path_unit(numbers, 2), 2);
    path_numbering_destroy(numbers);
}

static void wrong_sums_are_refused(void **state)
{
    uint32_t start[] = {0, 2, 3, 4, 4}, successor[] = {1, 2, 3, 3};
    uint8_t node_flags[4] = {0}, edge_flags[4] = {0};
    struct path_graph graph = {4, start, successor, node_flags, edge_flags};
    struct path_numbering *numbers = path_numbering_create(&graph, true);
    struct path path;

    (void)state;
    assert_false(path_numbering_decode(numbers, 12345, 3, &path));
    assert_false(path_numbering_decode_finished(numbers, UINT64_MAX / 2, &path));
    assert_false(path_numbering_decode(numbers, path_start(numbers, 0), 17, &path));
    path_numbering_destroy(numbers);
}

static void checksums_differ(void **state)
{
    uint32_t start[] = {0, 2, 2, 2}, successor[] = {1, 2}, other[] = {2, 1};
    uint8_t node_flags[3] = {0}, edge_flags[2] = {0};
    struct path_graph a = {3, start, successor, node_flags, edge_flags};
    struct path_graph b = {3, start, other, node_flags, edge_flags};

    (void)state;
    assert_true(path_graph_checksum(&a) == path_graph_checksum(&a));
    assert_true(path_graph_checksum(&a) != path_graph_checksum(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_walks),     cmocka_unit_test(many_paths),
        cmocka_unit_test(collapsing),       cmocka_unit_test(wrong_sums_are_refused),
        cmocka_unit_test(checksums_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
