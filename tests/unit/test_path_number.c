// SPDX-License-Identifier: Apache-2.0
/*
 * Path numbering against random walks: a walker over a random graph does at each edge what an
 * instrumented program does, and keeps the nodes it saw in a log of its own. The trail that is
 * read from its words must fit that log; and in graphs made of nested loops and branches it must be
 * the one that the log comes to when passes before the present one, and loops that were left, are
 * struck out.
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

enum { MAX_NODES = 60, MAX_OUT = 4, WALK = 300, MODULE = 77, FUNCTION = 5 };

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

static uint8_t draw_flags(bool twice)
{
    if (below(3))
        return 0;
    return twice && below(12) == 0 ? PATH_NODE_CALL | PATH_NODE_RETURNS_TWICE : PATH_NODE_CALL;
}

// Forward edges mostly, some back, some parallel, some shared; calls, some of which return twice.
static void make_wild_graph(struct random_graph *g)
{
    uint32_t nodes = 1 + below(MAX_NODES - 20), edges = 0;
    bool shares = below(4) == 0;

    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t out = n + 1 == nodes ? 0 : below(3) ? 1 + below(2) : below(MAX_OUT + 1);

        g->start[n] = edges;
        g->node_flags[n] = draw_flags(n + 1 < nodes);
        if (g->node_flags[n] & PATH_NODE_RETURNS_TWICE)
            out = 1;
        for (uint32_t k = 0; k < out; k++) {
            uint32_t to = below(4) == 0 ? 1 + below(nodes - 1) : n + 1 + below(nodes - n - 1);

            g->edge_flags[edges] = shares && out > 2 ? PATH_EDGE_SHARED : 0;
            g->successor[edges++] = g->node_flags[n] & PATH_NODE_RETURNS_TWICE ? n + 1 : to;
        }
    }
    g->start[nodes] = edges;
    g->graph = (struct path_graph){nodes, g->start, g->successor, g->node_flags, g->edge_flags};
}

// ---- Graphs of nested statements: out[n][] are the successors, filled in as they come

struct maker {
    uint32_t out[MAX_NODES][MAX_OUT], out_count[MAX_NODES];
    uint32_t nodes;
    uint32_t break_to[16], loops; // nodes that leave the loops around
};

static uint32_t add_node(struct maker *maker)
{
    maker->out_count[maker->nodes] = 0;
    return maker->nodes++;
}

static void add_edge(struct maker *maker, uint32_t from, uint32_t to)
{
    maker->out[from][maker->out_count[from]++] = to;
}

static uint32_t make_statements(struct maker *maker, uint32_t from, int depth);

// Control comes from `from`; the node where it goes on.
static uint32_t make_loop(struct maker *maker, uint32_t from, int depth)
{
    uint32_t header = add_node(maker), behind = add_node(maker);

    add_edge(maker, from, header);
    add_edge(maker, header, behind);
    maker->break_to[maker->loops++] = behind;
    uint32_t body = add_node(maker);
    add_edge(maker, header, body);
    add_edge(maker, make_statements(maker, body, depth - 1), header);
    maker->loops--;
    return behind;
}

static uint32_t make_branch(struct maker *maker, uint32_t from, int depth)
{
    uint32_t one = add_node(maker), join = add_node(maker);

    add_edge(maker, from, one);
    uint32_t last = make_statements(maker, one, depth - 1);
    if (maker->loops && below(4) == 0) // break, perhaps out of several loops
        add_edge(maker, last, maker->break_to[below(maker->loops)]);
    else
        add_edge(maker, last, join);
    if (below(2)) {
        uint32_t other = add_node(maker);

        add_edge(maker, from, other);
        add_edge(maker, make_statements(maker, other, depth - 1), join);
    } else
        add_edge(maker, from, join);
    return join;
}

static uint32_t make_statements(struct maker *maker, uint32_t from, int depth)
{
    for (uint32_t count = below(3); count-- > 0;) {
        uint32_t next;

        if (maker->nodes + 12 > MAX_NODES || depth <= 0)
            return from;
        if (below(3) == 0)
            next = make_loop(maker, from, depth);
        else if (below(2))
            next = make_branch(maker, from, depth);
        else {
            next = add_node(maker);
            add_edge(maker, from, next);
        }
        from = next;
    }
    return from;
}

static void make_nested_graph(struct random_graph *g)
{
    struct maker maker = {0};
    uint32_t edges = 0, at = add_node(&maker);

    for (int i = 0; i < 4; i++)
        at = make_statements(&maker, at, 5);
    for (uint32_t n = 0; n < maker.nodes; n++) {
        g->start[n] = edges;
        g->node_flags[n] = draw_flags(false);
        for (uint32_t k = 0; k < maker.out_count[n]; k++) {
            g->edge_flags[edges] = 0;
            g->successor[edges++] = maker.out[n][k];
        }
    }
    g->start[maker.nodes] = edges;
    g->graph =
        (struct path_graph){maker.nodes, g->start, g->successor, g->node_flags, g->edge_flags};
}

// ---- A walker

struct walk {
    const struct path_numbering *numbers;
    const struct random_graph *g;
    struct layout_shape shape;
    bool in_memory; // there are no registers: words are changed where they are
    uint64_t registers[LAYOUT_MOST_WORDS];
    struct path_words words; // memory
    uint32_t log[WALK + 1];  // nodes
    uint32_t length;
    bool has_jump;
    uint32_t jump_edge; // out of a call that returned once
    uint64_t jump_registers[LAYOUT_MOST_WORDS];
    uint64_t checked, from_entry;
};

static void apply(struct walk *walk, const struct path_action *actions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct path_action *action = &actions[i];
        struct layout_code code =
            path_code(walk->numbers, &walk->shape, MODULE, FUNCTION, action->region);
        uint64_t *word =
            walk->in_memory ? &walk->words.value[action->word] : &walk->registers[action->word];

        *word = action->sets ? layout_encode(&code, action->value)
                             : layout_word(&code, *word + layout_increment(&code, action->value));
        if (walk->shape.eager || action->stores)
            walk->words.value[action->word] = *word;
    }
}

static bool in_loop(const struct walk *walk, uint32_t header, uint32_t node)
{
    return path_in_loop(walk->numbers, header, node);
}

// Do the steps from `s` on fit the log from `at` on, to its end?
static bool fits(const struct walk *walk, const struct path *path, uint32_t s, uint32_t at)
{
    if (s == path->step_count)
        return at == walk->length;
    const struct path_step *step = &path->steps[s], *next = step + 1;
    bool last = s + 1 == path->step_count;

    if (step->kind == PATH_STEP_NODE)
        return at < walk->length && walk->log[at] == step->node && fits(walk, path, s + 1, at + 1);
    bool rounds = step->kind == PATH_STEP_ROUNDS, loop = rounds || step->kind == PATH_STEP_LOOP;
    if (loop && (at == walk->length || walk->log[at] != step->node))
        return false;
    if (rounds && (last || next->kind != PATH_STEP_NODE || next->node != step->node))
        return false;
    for (uint32_t end = at;; end++) {
        bool left = loop && !rounds && !last && next->kind == PATH_STEP_NODE && end > at &&
                    in_loop(walk, step->node, next->node);

        // of a loop that was left the next step is the last that it went through
        if (left                ? walk->log[end - 1] == next->node && fits(walk, path, s + 2, end)
            : end > at || !loop ? fits(walk, path, s + 1, end)
                                : false)
            return true;
        if (end == walk->length || !in_loop(walk, step->node, walk->log[end]))
            return false;
    }
}

static void check_fits(struct walk *walk, const struct path *path)
{
    bool found = path->from_entry && fits(walk, path, 0, 0);

    for (uint32_t at = 0; !path->from_entry && !found && at < walk->length; at++)
        found = fits(walk, path, 0, at);
    assert_true(found);
    walk->checked++;
    walk->from_entry += path->from_entry;
}

static bool is_header(const struct walk *walk, uint32_t node)
{
    return in_loop(walk, node, node);
}

static bool has_call(const struct walk *walk, uint32_t header)
{
    for (uint32_t n = 0; n < walk->g->graph.node_count; n++)
        if (path_reachable(walk->numbers, n) && in_loop(walk, header, n) && walk->g->node_flags[n])
            return true;
    return false;
}

// So far PASSES are the first pass. Only eager functions tell first passes from later ones.
static uint32_t say_rounds(const struct walk *walk, struct path_step *steps, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t s = 0; s < count; s++) {
        if (walk->shape.eager && steps[s].kind == PATH_STEP_PASSES)
            continue;
        steps[kept] = steps[s];
        if (!walk->shape.eager && steps[kept].kind == PATH_STEP_ROUNDS)
            steps[kept].kind = PATH_STEP_PASSES;
        kept++;
    }
    return kept;
}

// What the log comes to: passes before the present one are one step, and so are loops that were
// left. Loops without calls are never looked into with `collapse`.
static uint32_t strike_out(const struct walk *walk, bool collapse, struct path_step *steps)
{
    uint32_t count = 0;

    for (uint32_t at = 0; at < walk->length; at++) {
        uint32_t node = walk->log[at];

        // loops that this step leaves, innermost first: from their first step on they are one
        for (uint32_t s = count; s-- > 0;) {
            uint32_t h = steps[s].node;

            bool left = steps[s].kind == PATH_STEP_LOOP && s + 1 < count;

            if (steps[s].kind == PATH_STEP_NODE || left || in_loop(walk, h, node))
                continue;
            steps[s].kind = PATH_STEP_LOOP;
            count = s + 1;
            steps[count++] = (struct path_step){walk->log[at - 1], PATH_STEP_NODE};
        }
        uint32_t open = UINT32_MAX; // the step of the loop that this node is the header of
        for (uint32_t s = 0; s < count; s++) {
            bool left = s + 1 < count && steps[s].kind == PATH_STEP_LOOP;

            if (steps[s].kind != PATH_STEP_NODE && !left && steps[s].node == node)
                open = s;
            if (steps[s].kind == PATH_STEP_LOOP && !left)
                open = s; // inside of one that is not looked into
        }
        if (open != UINT32_MAX) {
            count = open + 1;
            if (steps[open].kind == PATH_STEP_LOOP)
                continue;
            steps[open].kind = PATH_STEP_ROUNDS;
        } else if (is_header(walk, node)) {
            bool opaque = collapse && !has_call(walk, node);

            steps[count++] = (struct path_step){node, opaque ? PATH_STEP_LOOP : PATH_STEP_PASSES};
            if (opaque)
                continue;
        }
        steps[count++] = (struct path_step){node, PATH_STEP_NODE};
    }
    return say_rounds(walk, steps, count);
}

static void check_equal(const struct walk *walk, bool collapse, const struct path *path)
{
    struct path_step steps[2 * WALK + 4];
    uint32_t count = strike_out(walk, collapse, steps);

    assert_true(path->from_entry);
    assert_int_equal(path->step_count, count);
    for (uint32_t s = 0; s < count; s++) {
        assert_int_equal(path->steps[s].node, steps[s].node);
        assert_int_equal(path->steps[s].kind, steps[s].kind);
    }
}

enum graph_kind { WILD, NESTED };

static void check_here(struct walk *walk, enum graph_kind kind, bool collapse)
{
    uint32_t node = walk->log[walk->length - 1];
    struct path path;

    if (!walk->shape.eager && !(walk->g->node_flags[node] & PATH_NODE_CALL))
        return;
    struct path_action store;
    if (path_call_stores(walk->numbers, &walk->shape, node, &store))
        walk->words.value[store.word] = walk->registers[store.word];
    assert_true(path_trail(walk->numbers, &walk->words, node, &path));
    check_fits(walk, &path);
    if (kind == NESTED)
        check_equal(walk, collapse, &path);
    path_deinit(&path);
}

static void take_edge(struct walk *walk, uint32_t edge)
{
    const struct random_graph *g = walk->g;
    uint32_t to = g->successor[edge], node = walk->log[walk->length - 1];
    struct path_action actions[PATH_MOST_ACTIONS];
    struct path path;

    for (uint32_t e = g->start[node]; e < edge; e++) // the code of parallel edges is common
        if (g->successor[e] == to)
            edge = e;
    if (g->edge_flags[edge] & PATH_EDGE_SHARED)
        apply(walk, actions, path_shared_actions(walk->numbers, &walk->shape, to, actions));
    else
        apply(walk, actions, path_edge_actions(walk->numbers, &walk->shape, edge, actions));
    bool stores = !(g->edge_flags[edge] & PATH_EDGE_SHARED) &&
                  path_edge_actions(walk->numbers, &walk->shape, edge, actions) &&
                  actions[0].stores && !actions[0].sets;
    if (stores) {
        assert_true(path_trail_on_edge(walk->numbers, &walk->words, edge, &path));
        check_fits(walk, &path);
        path_deinit(&path);
    }
    walk->log[walk->length++] = to;
}

static void move(struct walk *walk)
{
    uint32_t node = walk->log[walk->length - 1];
    uint32_t out = walk->g->start[node + 1] - walk->g->start[node];
    uint32_t edge = walk->g->start[node] + (out ? below(out) : 0);

    if (walk->has_jump && below(10) == 0) {
        // back behind the call: what was in registers is as it was then
        memcpy(walk->registers, walk->jump_registers, sizeof(walk->registers));
        edge = walk->jump_edge;
        struct path_action actions[PATH_MOST_ACTIONS];
        apply(walk, actions, path_edge_actions(walk->numbers, &walk->shape, edge, actions));
        walk->log[walk->length++] = walk->g->successor[edge];
        return;
    }
    if (walk->g->node_flags[node] & PATH_NODE_RETURNS_TWICE) {
        walk->has_jump = true;
        walk->jump_edge = edge;
        memcpy(walk->jump_registers, walk->registers, sizeof(walk->registers));
    }
    take_edge(walk, edge);
}

enum keeping { LAZY, EAGER, IN_MEMORY };

static void walk_graph(const struct random_graph *g, enum graph_kind kind, bool collapse,
                       enum keeping keeping, uint64_t *checked, uint64_t *from_entry)
{
    struct path_numbering *numbers = path_numbering_create(&g->graph, collapse, keeping != LAZY);
    struct walk walk = {.numbers = numbers, .g = g, .length = 1, .in_memory = keeping == IN_MEMORY};
    struct path_action actions[PATH_MOST_ACTIONS];

    walk.shape = path_shape(numbers, SECTION_LEVEL_PATHS, keeping != LAZY);
    walk.words = (struct path_words){.module_id = MODULE, .index = FUNCTION, .shape = walk.shape};
    for (uint32_t i = 0; i < LAYOUT_MOST_WORDS; i++) // of an earlier activation
        walk.words.value[i] = walk.registers[i] = below(3) ? seed : below(100);
    apply(&walk, actions, path_entry_actions(numbers, &walk.shape, actions));
    while (walk.length < WALK) {
        uint32_t node = walk.log[walk.length - 1];

        check_here(&walk, kind, collapse);
        if (g->start[node + 1] == g->start[node])
            break;
        move(&walk);
    }
    *checked += walk.checked;
    *from_entry += walk.from_entry;
    path_numbering_destroy(numbers);
}

static void random_walks(void **state, enum graph_kind kind)
{
    uint64_t checked = 0, from_entry = 0;

    (void)state;
    for (seed = 1; seed < 3000; seed++) {
        uint64_t kept = seed;
        struct random_graph g;

        if (kind == WILD)
            make_wild_graph(&g);
        else
            make_nested_graph(&g);
        for (int variant = 0; variant < 6; variant++)
            walk_graph(&g, kind, variant % 2, variant / 2, &checked, &from_entry);
        seed = kept;
    }
    assert_true(checked > 100000);
    assert_true(from_entry > (kind == WILD ? checked / 4 : checked - 1));
}

static void wild_graphs(void **state)
{
    random_walks(state, WILD);
}

static void nested_graphs(void **state)
{
    random_walks(state, NESTED);
}

// 100 diamonds in a row have 2^100 paths: restarts keep the numbers small.
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
        node_flags[3 * d + 3] = PATH_NODE_CALL;
    }
    start[NODES - 1] = start[NODES] = edges;
    struct random_graph g = {.graph = {NODES, start, successor, node_flags, edge_flags}};
    struct path_numbering *numbers = path_numbering_create(&g.graph, true, false);
    struct layout_shape shape = path_shape(numbers, SECTION_LEVEL_PATHS, false);
    assert_int_equal(shape.words, 1);
    assert_true(shape.wide && !shape.eager);

    // now one branch, now the other
    uint64_t word = 0, value = 0;
    struct layout_code code = path_code(numbers, &shape, MODULE, FUNCTION, 0);
    struct path_action actions[PATH_MOST_ACTIONS];
    uint32_t told = 0, whole = 0;
    assert_int_equal(path_entry_actions(numbers, &shape, actions), 1);
    word = layout_encode(&code, actions[0].value);
    for (uint32_t node = 0; start[node] != start[node + 1];) {
        uint32_t edge = node % 2 ? start[node] : start[node + 1] - 1;

        for (uint32_t i = 0, count = path_edge_actions(numbers, &shape, edge, actions); i < count;
             i++)
            word = actions[i].sets ? layout_encode(&code, actions[i].value)
                                   : word + layout_increment(&code, actions[i].value);
        node = successor[edge];
        if (path_call_stores(numbers, &shape, node, &actions[0]))
            value = word;
        if (!node_flags[node])
            continue;
        struct path_words words = {MODULE, FUNCTION, shape, {value}};
        struct path path;
        assert_true(path_trail(numbers, &words, node, &path));
        for (uint32_t s = 0; s < path.step_count; s++) {
            uint32_t at = node - (path.step_count - 1 - s) / 2 * 3, d = at / 3;
            bool inside = (path.step_count - 1 - s) % 2;

            assert_int_equal(path.steps[s].node,
                             inside ? 3 * (d - 1) + (3 * (d - 1) % 2 ? 1 : 2) : at);
        }
        told += path.step_count > 1;
        whole += path.from_entry;
        path_deinit(&path);
    }
    assert_true(told > DIAMONDS - 5 && whole > 30);
    path_numbering_destroy(numbers);
}

// A loop without calls is one unit; with a call inside it is looked into.
static void collapsing(void **state)
{
    uint32_t start[] = {0, 1, 3, 4, 4}, successor[] = {1, 2, 3, 1};
    uint8_t node_flags[4] = {0}, edge_flags[4] = {0};
    struct path_graph graph = {4, start, successor, node_flags, edge_flags};
    struct path_words words = {0};
    struct path path;

    (void)state;
    for (int calls = 0; calls < 2; calls++) {
        node_flags[2] = calls ? PATH_NODE_CALL : 0;
        struct path_numbering *numbers = path_numbering_create(&graph, true, false);

        assert_true(path_in_loop(numbers, 1, 2));
        assert_false(path_in_loop(numbers, 1, 3));
        // where control stands says it all
        assert_int_equal(path_shape(numbers, SECTION_LEVEL_PATHS, false).words, 0);
        assert_true(path_trail(numbers, &words, 2, &path));
        assert_int_equal(path.step_count, calls ? 4 : 2);
        assert_int_equal(path.steps[1].kind, calls ? PATH_STEP_PASSES : PATH_STEP_LOOP);
        path_deinit(&path);
        path_numbering_destroy(numbers);
    }
}

static void wrong_words_are_refused(void **state)
{
    uint32_t start[] = {0, 2, 3, 4, 4}, successor[] = {1, 2, 3, 3};
    uint8_t node_flags[4] = {[3] = PATH_NODE_CALL}, edge_flags[4] = {0};
    struct path_graph graph = {4, start, successor, node_flags, edge_flags};
    struct path_numbering *numbers = path_numbering_create(&graph, true, false);
    struct path_words words = {.module_id = MODULE,
                               .index = FUNCTION,
                               .shape = path_shape(numbers, SECTION_LEVEL_PATHS, false)};
    struct layout_code code = path_code(numbers, &words.shape, MODULE, FUNCTION, 0);
    struct path path;
    uint32_t right = 0;

    (void)state;
    assert_int_equal(words.shape.words, 1);
    for (int64_t sum = -1000; sum < 1000; sum++) {
        words.value[0] = layout_encode(&code, (uint64_t)sum);
        if (!path_trail(numbers, &words, 3, &path))
            continue;
        path_deinit(&path);
        right++;
        for (uint32_t bit = 0; bit < 32; bit++) {
            struct path_words wrong = words;

            wrong.value[0] ^= 1ull << bit;
            assert_false(path_trail(numbers, &wrong, 3, &path));
        }
    }
    assert_int_equal(right, 2); // two paths lead there
    assert_false(path_trail(numbers, &words, 17, &path));
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
        cmocka_unit_test(wild_graphs),
        cmocka_unit_test(nested_graphs),
        cmocka_unit_test(many_paths),
        cmocka_unit_test(collapsing),
        cmocka_unit_test(wrong_words_are_refused),
        cmocka_unit_test(checksums_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
