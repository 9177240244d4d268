// SPDX-License-Identifier: Apache-2.0
/*
 * What follows from nodes that ran, against runs that are made at random: whatever is said to have
 * run has run. Runs end with activations pending; some of the program's calls may be left by a jump
 * to behind an earlier one of an activation below, and then nothing is accounted for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "solve/consequence.h"

#define FUNCTIONS  4u
#define NODES      8u // of each
#define EDGES      3u // of each node, at most
#define DEEPEST    12u
#define MOST_STEPS 60u
#define NODE_COUNT (FUNCTIONS * NODES)

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

// Node 0 of each function is its entry, the last one returns. Set f + 1 is {f}.
struct program {
    struct flow flow;
    struct flow_function functions[FUNCTIONS];
    uint32_t node_function[NODE_COUNT], edge_start[NODE_COUNT + 1], node_set[NODE_COUNT];
    uint8_t node_flags[NODE_COUNT];
    struct flow_edge edges[NODE_COUNT * EDGES];
    uint32_t set_start[FUNCTIONS + 2], members[FUNCTIONS];
};

static void make_program(struct program *program, bool main_is_called)
{
    uint32_t edges = 0;

    memset(program, 0, sizeof(*program));
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        program->functions[f] = (struct flow_function){f * NODES, f * NODES, NODES};
        program->members[f] = f;
        program->set_start[f + 1] = f;
    }
    program->set_start[FUNCTIONS + 1] = FUNCTIONS;
    for (uint32_t n = 0; n < NODE_COUNT; n++) {
        uint32_t own = n / NODES, last = own * NODES + NODES - 1;
        uint32_t callee = draw(FUNCTIONS), kind = FLOW_PAST;

        program->node_function[n] = own;
        program->edge_start[n] = edges;
        if (n == last) {
            program->node_flags[n] = FLOW_RETURNS;
            continue;
        }
        if (draw(2) && (callee || main_is_called)) {
            program->node_set[n] = callee + 1;
            kind = draw(6) ? FLOW_BEHIND : FLOW_BEHIND | FLOW_PAST; // library code, perhaps
        }
        // mostly forward, so that many nodes cannot be avoided
        for (uint32_t e = 0, count = 1 + draw(EDGES); e < count; e++) {
            uint32_t target = draw(5) ? n + 1 + draw(2) : own * NODES + draw(NODES);

            program->edges[edges++] = (struct flow_edge){target > last ? last : target, kind};
        }
    }
    program->edge_start[NODE_COUNT] = edges;
    program->flow = (struct flow){.node_count = NODE_COUNT,
                                  .function_count = FUNCTIONS,
                                  .node_function = program->node_function,
                                  .node_flags = program->node_flags,
                                  .edge_start = program->edge_start,
                                  .edges = program->edges,
                                  .node_set = program->node_set,
                                  .set_count = FUNCTIONS + 1,
                                  .set_start = program->set_start,
                                  .members = program->members,
                                  .functions = program->functions};
}

struct run {
    const struct program *program;
    bool jumps;
    uint32_t at[DEEPEST], landing[DEEPEST]; // by depth; a landing: an edge that was taken
    uint32_t depth;
    bool ran[NODE_COUNT], passed[NODE_COUNT];
    uint32_t entered[FUNCTIONS];
};

static void come_to(struct run *run, uint32_t node)
{
    run->at[run->depth] = node;
    run->ran[node] = true;
}

static void enter(struct run *run, uint32_t function)
{
    run->depth++;
    run->entered[function]++;
    run->landing[run->depth] = UINT32_MAX;
    come_to(run, function * NODES);
}

// Goes on from the node at which the innermost activation stands by an edge of this kind.
static bool go_on(struct run *run, uint32_t kind)
{
    uint32_t node = run->at[run->depth];
    struct flow_edges edges = flow_edges(&run->program->flow, node);
    uint32_t e = draw(edges.count);

    if (!(edges.data[e].flags & kind))
        return false;
    run->passed[node] = true;
    if (!draw(4))
        run->landing[run->depth] = edges.data[e].target;
    come_to(run, edges.data[e].target);
    return true;
}

static bool jump(struct run *run)
{
    uint32_t depth = draw(run->depth + 1);

    if (run->landing[depth] == UINT32_MAX)
        return false;
    run->depth = depth;
    come_to(run, run->landing[depth]);
    return true;
}

// False: the run is over, where it stands.
static bool step(struct run *run)
{
    uint32_t node = run->at[run->depth], set = run->program->node_set[node];

    if (run->jumps && !draw(8) && jump(run))
        return true;
    if (run->program->node_flags[node] & FLOW_RETURNS) {
        if (!run->depth)
            return false;
        run->passed[node] = true;
        run->depth--;
        return go_on(run, FLOW_BEHIND);
    }
    if (set && run->depth + 1 < DEEPEST) {
        enter(run, set - 1);
        return true;
    }
    return go_on(run, FLOW_PAST);
}

static void make_run(struct run *run, const struct program *program, bool jumps)
{
    *run = (struct run){.program = program, .jumps = jumps, .depth = UINT32_MAX};
    enter(run, 0);
    for (uint32_t steps = draw(MOST_STEPS); steps && step(run); steps--)
        ;
}

static void check(const struct run *run, bool accounted, bool once_too, uint32_t *found)
{
    struct bitset closed, stands, once, certain;
    struct consequence_problem problem = {&run->program->flow, &closed, &stands, &once, accounted};
    uint32_t before = 0, after = 0;

    bitset_init(&closed, NODE_COUNT);
    bitset_init(&stands, NODE_COUNT);
    bitset_init(&once, FUNCTIONS);
    bitset_init(&certain, NODE_COUNT);
    for (uint32_t d = 0; d <= run->depth; d++)
        bitset_set(&stands, run->at[d]);
    for (uint32_t d = 0; once_too && d <= run->depth; d++)
        if (run->entered[run->at[d] / NODES] == 1)
            bitset_set(&once, run->at[d] / NODES);
    for (uint32_t n = 0; n < NODE_COUNT; n++) {
        if (run->program->node_set[n] && !run->ran[n] && draw(3))
            bitset_set(&closed, n);
        if (run->ran[n] && !draw(3)) {
            bitset_set(&certain, n);
            before++;
        }
    }
    consequence_add(&problem, &certain);
    for (uint32_t n = 0; n < NODE_COUNT; n++) {
        if (bitset_test(&certain, n) && !run->ran[n])
            fail_msg("node %u is said to have run", n);
        after += bitset_test(&certain, n);
    }
    *found += after - before;
    bitset_deinit(&closed);
    bitset_deinit(&stands);
    bitset_deinit(&once);
    bitset_deinit(&certain);
}

static void test_random_runs(void **unused)
{
    uint32_t plain = 0, once = 0, accounted = 0, jumping = 0;

    (void)unused;
    for (uint32_t seed = 0; seed < 20000; seed++) {
        struct program program;
        struct run run;

        state = seed;
        make_program(&program, seed % 2);
        make_run(&run, &program, false);
        check(&run, false, false, &plain);
        check(&run, false, true, &once);
        check(&run, true, true, &accounted);
        make_run(&run, &program, true);
        check(&run, false, false, &jumping);
    }
    // each of them says more than the one before, of as many runs
    assert_true(plain > 10000 && jumping > 10000);
    assert_true(once > plain + plain / 20);
    assert_true(accounted > once + once / 20);
}

// entry 0, then 1 or 2, then 3, which returns: of a call that has returned, 0 and 3 are certain.
static void test_returned_call(void **unused)
{
    struct program program;
    struct bitset closed, stands, once, certain;

    (void)unused;
    state = 1;
    make_program(&program, false);
    memset(program.node_set, 0, sizeof(program.node_set));
    memset(program.node_flags, 0, sizeof(program.node_flags));
    static const uint32_t from[] = {0, 1, NODES, NODES, NODES + 1, NODES + 2};
    static const uint32_t to[] = {1, 2, NODES + 1, NODES + 2, NODES + 3, NODES + 3};
    uint32_t edges = 0;
    for (uint32_t n = 0; n < NODE_COUNT; n++) {
        program.edge_start[n] = edges;
        for (uint32_t i = 0; i < sizeof(from) / sizeof(*from); i++)
            if (from[i] == n)
                program.edges[edges++] = (struct flow_edge){to[i], n ? FLOW_PAST : FLOW_BEHIND};
    }
    program.edge_start[NODE_COUNT] = edges;
    program.node_set[0] = 2;
    program.node_flags[NODES + 3] = FLOW_RETURNS;
    bitset_init(&closed, NODE_COUNT);
    bitset_init(&stands, NODE_COUNT);
    bitset_init(&once, FUNCTIONS);
    bitset_init(&certain, NODE_COUNT);
    bitset_set(&certain, 1); // behind the call
    consequence_add(&(struct consequence_problem){&program.flow, &closed, &stands, &once, false},
                    &certain);
    for (uint32_t n = 0; n < NODE_COUNT; n++)
        assert_int_equal(bitset_test(&certain, n),
                         n == 0 || n == 1 || n == NODES || n == NODES + 3);
    bitset_deinit(&closed);
    bitset_deinit(&stands);
    bitset_deinit(&once);
    bitset_deinit(&certain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_returned_call),
        cmocka_unit_test(test_random_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
