// SPDX-License-Identifier: Apache-2.0
// Dependences of random programs, against what their definitions give by brute force. Programs of C
// are in test_dependence_program.c.
// timeout: 600
#include "dependence_fixture.h"

enum {
    SEEDS = 6000,
    MOST_FACTS = 1 + 3 * MODULES * MOST_INSNS,
};

struct oracle {
    struct program *program;
    const struct model *model;
    uint32_t insn_count;
    uint32_t insn_module[MODULES * MOST_INSNS], insn_index[MODULES * MOST_INSNS];
    bool calls[MOST_FUNCTIONS][MOST_FUNCTIONS]; // at once, or through others
    bool stays[MOST_FUNCTIONS], jumps[MOST_FUNCTIONS], aside[MOST_FUNCTIONS];
    bool is_threaded, handler_jumps, has_pads;
    uint64_t class_of[MOST_CELLS]; // mask of the cells of the same class; 0: none
    uint64_t mod[MOST_FUNCTIONS], ref[MOST_FUNCTIONS];
};

// ---- The calls

static bool site_enters(const struct oracle *oracle, uint32_t site, uint32_t f, bool callbacks_only)
{
    struct function_list lists[] = {model_callees(oracle->model, (struct site_id){site}),
                                    model_callbacks(oracle->model, (struct site_id){site})};

    for (int l = callbacks_only; l < 2; l++)
        for (uint32_t i = 0; i < lists[l].count; i++)
            if (lists[l].data[i].value == f)
                return true;
    return false;
}

static bool site_enters_any(const struct oracle *oracle, uint32_t site, const bool *functions)
{
    for (uint32_t f = 0; f < oracle->model->function_count; f++)
        if (functions[f] && site_enters(oracle, site, f, false))
            return true;
    return false;
}

static bool flags_jump(const struct oracle *oracle, uint32_t flags)
{
    return flags & (SITE_LONGJMP | SITE_MAY_LONGJMP) ||
           (oracle->has_pads && flags & SITE_EXTERNAL && !(flags & SITE_NOUNWIND));
}

static bool node_jumps(const struct oracle *oracle, uint32_t n)
{
    uint32_t site = oracle->model->nodes[n].site.value;

    return site != MODEL_NONE && (flags_jump(oracle, oracle->model->sites[site].flags) ||
                                  site_enters_any(oracle, site, oracle->jumps));
}

static bool node_stays(const struct oracle *oracle, uint32_t n)
{
    uint32_t site = oracle->model->nodes[n].site.value;

    return site != MODEL_NONE &&
           (oracle->model->sites[site].flags &
                (SITE_NORETURN | SITE_LONGJMP | SITE_MAY_LONGJMP | SITE_EXITS) ||
            site_enters_any(oracle, site, oracle->stays));
}

static bool is_real(const struct oracle *oracle, uint32_t from, uint32_t to)
{
    uint32_t site = oracle->model->nodes[from].site.value;

    return site == MODEL_NONE || !(oracle->model->sites[site].flags & SITE_NORETURN) ||
           oracle->model->nodes[to].flags & NODE_LANDING;
}

// Nodes that can be reached from `from` over real edges.
static void reach(const struct oracle *oracle, uint32_t from, bool *seen)
{
    if (seen[from])
        return;
    seen[from] = true;
    for (uint32_t e = oracle->model->successor_start[from];
         e < oracle->model->successor_start[from + 1]; e++)
        if (is_real(oracle, from, oracle->model->successor[e].value))
            reach(oracle, oracle->model->successor[e].value, seen);
}

static bool has_way_on(const struct oracle *oracle, uint32_t n)
{
    for (uint32_t e = oracle->model->successor_start[n]; e < oracle->model->successor_start[n + 1];
         e++)
        if (is_real(oracle, n, oracle->model->successor[e].value))
            return true;
    return false;
}

// A node that can be reached, from which no end can.
static bool has_endless_loop(const struct oracle *oracle, uint32_t f)
{
    const struct model_function *function = &oracle->model->functions[f];
    bool seen[MOST_NODES] = {0};

    reach(oracle, function->first_node, seen);
    for (uint32_t n = 0; n < MOST_NODES; n++) {
        bool behind[MOST_NODES] = {0}, ends = false;
        if (!seen[n])
            continue;
        reach(oracle, n, behind);
        for (uint32_t k = 0; k < MOST_NODES; k++)
            ends |= behind[k] && !has_way_on(oracle, k);
        if (!ends)
            return true;
    }
    return false;
}

static void close_calls(struct oracle *oracle)
{
    uint32_t count = oracle->model->function_count;

    for (uint32_t s = 0; s < oracle->model->site_count; s++)
        for (uint32_t f = 0; f < count; f++)
            if (site_enters(oracle, s, f, false))
                oracle->calls[model_site_function(oracle->model, (struct site_id){s}).value][f] =
                    true;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < count; j++)
                oracle->calls[i][j] |= oracle->calls[i][k] && oracle->calls[k][j];
}

static void find_stays(struct oracle *oracle)
{
    const struct model *model = oracle->model;

    for (uint32_t n = 0; n < model->node_count; n++)
        oracle->has_pads |= (model->nodes[n].flags & NODE_LANDING) != 0;
    for (uint32_t round = 0; round <= model->function_count; round++)
        for (uint32_t n = 0; n < model->node_count; n++) {
            uint32_t f = model->nodes[n].function.value;
            oracle->jumps[f] |= node_jumps(oracle, n) || model->nodes[n].flags & NODE_RESUME;
            oracle->stays[f] |= node_stays(oracle, n) || oracle->jumps[f] ||
                                model->nodes[n].flags & (NODE_UNREACHABLE | NODE_RESUME) ||
                                has_endless_loop(oracle, f);
        }
    for (uint32_t r = 0; r < model->root_count; r++) {
        uint32_t f = model->roots[r].function.value;
        if (model->roots[r].reason != ROOT_SIGNAL && model->roots[r].reason != ROOT_THREAD)
            continue;
        oracle->is_threaded = true;
        oracle->handler_jumps |= model->roots[r].reason == ROOT_SIGNAL && oracle->jumps[f];
        oracle->aside[f] = true;
        for (uint32_t g = 0; g < model->function_count; g++)
            oracle->aside[g] |= oracle->calls[f][g];
    }
}

// ---- Memory

static uint64_t reads_of(const struct oracle *oracle, uint32_t insn)
{
    return oracle->program->reads[oracle->insn_module[insn]][oracle->insn_index[insn]];
}

static uint64_t writes_of(const struct oracle *oracle, uint32_t insn)
{
    return oracle->program->writes[oracle->insn_module[insn]][oracle->insn_index[insn]];
}

static const struct insn *insn_of(const struct oracle *oracle, uint32_t insn)
{
    return &oracle->program->insns[oracle->insn_module[insn]][oracle->insn_index[insn]];
}

// What is written for certain: as points-to says, or since it is a store to a local by name.
static uint64_t certain_of(const struct oracle *oracle, uint32_t insn)
{
    uint32_t m = oracle->insn_module[insn], i = oracle->insn_index[insn];

    if (insn_of(oracle, insn)->opcode == INSN_INVOKE)
        return 0;
    return oracle->program->certain[m][i] ? oracle->program->certain[m][i]
                                          : oracle->program->covered[m][i];
}

static uint32_t function_of(const struct oracle *oracle, uint32_t insn)
{
    const struct model_module *module = &oracle->model->modules[oracle->insn_module[insn]];

    return oracle->model->nodes[module->first_node + insn_of(oracle, insn)->node].function.value;
}

// Two cells are of one class when every mask has both or none.
static void find_classes(struct oracle *oracle)
{
    const struct program *program = oracle->program;

    for (uint32_t c = 0; c < program->cell_count; c++) {
        bool used = false;
        for (uint32_t d = 0; d < program->cell_count; d++) {
            bool same = true;
            for (uint32_t i = 0; i < oracle->insn_count; i++) {
                uint64_t masks[] = {reads_of(oracle, i), writes_of(oracle, i),
                                    certain_of(oracle, i)};
                for (int k = 0; k < 3; k++) {
                    if (masks[k] & ANYTHING)
                        continue;
                    same &= (masks[k] >> c & 1) == (masks[k] >> d & 1);
                    used |= masks[k] >> c & 1;
                }
            }
            if (same)
                oracle->class_of[c] |= UINT64_C(1) << d;
        }
        if (!used)
            oracle->class_of[c] = 0;
    }
}

static bool is_lasting(const struct program *program, uint32_t o)
{
    return program->objects[o].is_single || (program->owner[o] != MODEL_NONE && !program->leaks[o]);
}

// Does a certain write of all these cells leave nothing of what they held?
static bool is_killable(const struct oracle *oracle, uint64_t mask)
{
    for (uint32_t o = 0; o < oracle->program->object_count; o++)
        if (mask & object_mask(oracle->program, o) && !is_lasting(oracle->program, o))
            return false;
    return true;
}

// Are these cells gone when the function's activation ends?
static bool dies_with(const struct oracle *oracle, uint64_t mask, uint32_t f)
{
    for (uint32_t o = 0; o < oracle->program->object_count; o++)
        if (mask & object_mask(oracle->program, o) &&
            (oracle->program->owner[o] != f || !is_lasting(oracle->program, o)))
            return false;
    return mask != ANYTHING;
}

static bool is_private(const struct oracle *oracle, uint64_t mask)
{
    for (uint32_t o = 0; o < oracle->program->object_count; o++)
        if (mask & object_mask(oracle->program, o) &&
            (oracle->program->owner[o] == MODEL_NONE || oracle->program->leaks[o]))
            return false;
    return mask != ANYTHING;
}

// Rounds up to whole classes.
static uint64_t classes_in(const struct oracle *oracle, uint64_t mask)
{
    uint64_t all = mask & ANYTHING;

    for (uint32_t c = 0; c < oracle->program->cell_count; c++)
        all |= mask >> c & 1 ? oracle->class_of[c] : 0;
    return all;
}

static uint64_t without_dead(const struct oracle *oracle, uint64_t mask, uint32_t f)
{
    bool recurs = oracle->calls[f][f];

    for (uint32_t c = 0; c < oracle->program->cell_count; c++)
        if (mask >> c & 1 && dies_with(oracle, oracle->class_of[c], f) &&
            (!recurs || is_private(oracle, oracle->class_of[c])))
            mask &= ~(UINT64_C(1) << c);
    return mask;
}

static void find_mod(struct oracle *oracle)
{
    uint32_t count = oracle->model->function_count;

    for (uint32_t round = 0; round <= count + 1; round++)
        for (uint32_t f = 0; f < count; f++) {
            uint64_t mod = oracle->mod[f], ref = oracle->ref[f];
            for (uint32_t i = 0; i < oracle->insn_count; i++)
                if (function_of(oracle, i) == f) {
                    uint64_t read = reads_of(oracle, i), written = writes_of(oracle, i);
                    ref |= classes_in(oracle, read) | (read & ANYTHING);
                    mod |= classes_in(oracle, written) | (written & ANYTHING);
                }
            for (uint32_t s = 0; s < oracle->model->site_count; s++)
                for (uint32_t g = 0; g < count; g++)
                    if (model_site_function(oracle->model, (struct site_id){s}).value == f &&
                        site_enters(oracle, s, g, false)) {
                        mod |= oracle->mod[g];
                        ref |= oracle->ref[g];
                    }
            oracle->mod[f] = without_dead(oracle, mod, f);
            oracle->ref[f] = without_dead(oracle, ref, f);
        }
}

static void oracle_init(struct oracle *oracle, struct program *program)
{
    *oracle = (struct oracle){.program = program, .model = &program->model};
    for (uint32_t m = 0; m < MODULES; m++)
        for (uint32_t i = 0; i < program->code[m].insns_count; i++) {
            oracle->insn_module[oracle->insn_count] = m;
            oracle->insn_index[oracle->insn_count++] = i;
        }
    close_calls(oracle);
    find_stays(oracle);
    find_classes(oracle);
    find_mod(oracle);
}

static struct program *program_random(uint64_t seed)
{
    bool single[MOST_FUNCTIONS] = {0};
    struct program *first = program_draw(seed, single);
    struct oracle *oracle = xcalloc(1, sizeof(*oracle));

    oracle_init(oracle, first);
    for (uint32_t f = 0; f < MOST_FUNCTIONS; f++)
        single[f] = (!oracle->calls[f][f] && !oracle->aside[f]) || // or points-to knows better
                    hash_mix(seed * MOST_FUNCTIONS + f) % 4 == 0;
    free(oracle);
    free(first);
    return program_draw(seed, single);
}

// ---- Control

struct graph {
    uint32_t first, count; // the exit is node `count`
    bool edge[MOST_NODES][MOST_NODES + 1];
    bool reachable[MOST_NODES];
};

static void graph_reach(const struct graph *graph, uint32_t n, uint32_t without, bool *seen)
{
    if (n == without || seen[n])
        return;
    seen[n] = true;
    for (uint32_t t = 0; n < graph->count && t <= graph->count; t++)
        if (graph->edge[n][t])
            graph_reach(graph, t, without, seen);
}

static void graph_make(const struct oracle *oracle, uint32_t f, struct graph *graph)
{
    const struct model *model = oracle->model;
    const struct model_function *function = &model->functions[f];

    *graph = (struct graph){.first = function->first_node, .count = function->node_count};
    for (uint32_t n = 0; n < graph->count; n++) {
        uint32_t node = graph->first + n;
        for (uint32_t e = model->successor_start[node]; e < model->successor_start[node + 1]; e++)
            if (is_real(oracle, node, model->successor[e].value))
                graph->edge[n][model->successor[e].value - graph->first] = true;
        graph->edge[n][graph->count] = !has_way_on(oracle, node) || node_stays(oracle, node);
        for (uint32_t t = graph->first; t < graph->first + graph->count; t++)
            for (uint32_t e = model->successor_start[t];
                 node_jumps(oracle, node) && model->nodes[t].flags & NODE_RETURNS_TWICE &&
                 e < model->successor_start[t + 1];
                 e++)
                graph->edge[n][model->successor[e].value - graph->first] = true;
    }
    bool seen[MOST_NODES + 1] = {0};
    graph_reach(graph, 0, MODEL_NONE, seen);
    memcpy(graph->reachable, seen, sizeof(graph->reachable));
    // loops that nothing leaves: whatever can be reached from a node of one leads back to it
    bool stuck[MOST_NODES] = {0};
    for (uint32_t n = 0; n < graph->count; n++) {
        bool behind[MOST_NODES + 1] = {0};
        graph_reach(graph, n, MODEL_NONE, behind);
        stuck[n] = seen[n];
        for (uint32_t k = 0; k <= graph->count; k++) {
            bool back[MOST_NODES + 1] = {0};
            graph_reach(graph, k, MODEL_NONE, back);
            stuck[n] &= !behind[k] || back[n];
        }
    }
    for (uint32_t n = 0; n < graph->count; n++)
        graph->edge[n][graph->count] |= stuck[n];
}

// Is t on every way from n to the exit?
static bool postdominates(const struct graph *graph, uint32_t t, uint32_t n)
{
    bool seen[MOST_NODES + 1] = {0};

    graph_reach(graph, n, t, seen);
    return !seen[graph->count];
}

static bool depends(const struct graph *graph, uint32_t t, uint32_t on)
{
    if (!graph->reachable[t] || !graph->reachable[on] || (t != on && postdominates(graph, t, on)))
        return false;
    for (uint32_t v = 0; v < graph->count; v++)
        if (graph->edge[on][v] && postdominates(graph, t, v))
            return true;
    return false;
}

static void check_control(const struct oracle *oracle, struct dependence *dependence, uint32_t f)
{
    struct graph graph;

    graph_make(oracle, f, &graph);
    for (uint32_t t = 0; t < graph.count; t++) {
        struct control control = dependence_control(dependence, (struct node_id){graph.first + t});
        uint32_t at = 0;
        for (uint32_t n = 0; n < graph.count; n++) {
            bool found = at < control.count && control.nodes[at].value == graph.first + n;
            assert_int_equal(found, depends(&graph, t, n));
            at += found;
        }
        assert_int_equal(at, control.count);
        bool lands = false;
        for (uint32_t n = graph.first; n < graph.first + graph.count; n++)
            for (uint32_t e = oracle->model->successor_start[n];
                 e < oracle->model->successor_start[n + 1]; e++)
                lands |= oracle->model->nodes[n].flags & NODE_RETURNS_TWICE &&
                         oracle->model->successor[e].value == graph.first + t;
        assert_int_equal(control.is_entry,
                         lands || (graph.reachable[t] && postdominates(&graph, t, 0)));
    }
}

// ---- Classes

// The cells of a class; the fixture names a class by one of its cells.
static uint64_t mask_of(const struct oracle *oracle, const struct dependence *dependence,
                        uint32_t class)
{
    struct strbuf text = STRBUF_INIT;
    uint64_t mask = ANYTHING;

    if (class)
        mask = oracle->class_of[strtoul(
            dependence_class_name(dependence, (struct class_id){class}, &text), NULL, 10)];
    else
        assert_string_equal(dependence_class_name(dependence, (struct class_id){0}, &text),
                            "anything");
    strbuf_deinit(&text);
    return mask;
}

static uint64_t union_of(const struct oracle *oracle, const struct dependence *dependence,
                         struct class_set set)
{
    uint64_t mask = 0;

    for (uint32_t i = 0; i < set.count; i++) {
        assert_true(i == 0 || set.data[i - 1].value < set.data[i].value);
        mask |= mask_of(oracle, dependence, set.data[i].value);
    }
    return mask;
}

static uint64_t killed_of(const struct oracle *oracle, uint32_t insn)
{
    uint64_t certain = certain_of(oracle, insn), killed = 0;

    for (uint32_t c = 0; c < oracle->program->cell_count; c++)
        if (certain >> c & 1 && !(oracle->class_of[c] & ~certain) &&
            is_killable(oracle, oracle->class_of[c]))
            killed |= oracle->class_of[c];
    return killed;
}

static void check_classes(const struct oracle *oracle, struct dependence *dependence)
{
    uint64_t seen = 0;
    uint32_t count = 1;

    for (uint32_t c = 0; c < oracle->program->cell_count; c++)
        if (oracle->class_of[c] && !(seen >> c & 1)) {
            seen |= oracle->class_of[c];
            count++;
        }
    assert_int_equal(dependence_class_count(dependence), count);
    for (uint32_t i = 0; i < oracle->insn_count; i++) {
        struct class_accesses accesses = dependence_accesses(dependence, (struct insn_id){i});
        assert_int_equal(union_of(oracle, dependence, accesses.reads), reads_of(oracle, i));
        assert_int_equal(union_of(oracle, dependence, accesses.writes), writes_of(oracle, i));
        assert_int_equal(union_of(oracle, dependence, accesses.certain), killed_of(oracle, i));
    }
    for (uint32_t f = 0; f < oracle->model->function_count; f++) {
        struct function_id id = {f};
        assert_int_equal(dependence_may_stay(dependence, id), oracle->stays[f]);
        assert_int_equal(dependence_may_jump(dependence, id), oracle->jumps[f]);
        assert_int_equal(union_of(oracle, dependence, dependence_mod(dependence, id)),
                         oracle->mod[f]);
        assert_int_equal(union_of(oracle, dependence, dependence_ref(dependence, id)),
                         oracle->ref[f]);
    }
}

// ---- Who wrote last: a fixpoint of sets of facts, forwards

struct facts {
    bool is[MOST_FACTS]; // 0: entry; then by instruction: wrote, call came back, call jumped
};

struct solution {
    const struct oracle *oracle;
    const struct model_function *function;
    uint64_t mask; // of the class
    const struct reaching_limits *limits;
    struct facts in[8]; // where a node of the function begins
};

enum { WROTE, CALLED, JUMPED };
enum { WHOLE, JUMP, PART };

static uint32_t fact(const struct oracle *oracle, uint32_t kind, uint32_t insn)
{
    return 1 + kind * oracle->insn_count + insn;
}

static bool meets(uint64_t a, uint64_t b)
{
    return a & b || (a && b && (a | b) & ANYTHING);
}

static void node_insns(const struct oracle *oracle, uint32_t n, uint32_t *ret_first,
                       uint32_t *ret_end)
{
    uint32_t m = oracle->model->functions[oracle->model->nodes[n].function.value].module.value;
    const struct code_node *node =
        &oracle->program->code_nodes[m][n - oracle->model->modules[m].first_node];

    *ret_first = node->first_insn + (m ? oracle->program->code[0].insns_count : 0);
    *ret_end = *ret_first + node->insn_count;
}

static bool site_writes(const struct oracle *oracle, uint32_t site, uint64_t mask,
                        const uint64_t *effects, bool callbacks_only)
{
    for (uint32_t f = 0; f < oracle->model->function_count; f++)
        if (site_enters(oracle, site, f, callbacks_only) && meets(effects[f], mask))
            return true;
    return false;
}

// What instruction i of node n does to the facts.
static void step(const struct solution *solution, uint32_t n, uint32_t i, int way,
                 struct facts *facts)
{
    const struct oracle *oracle = solution->oracle;
    uint32_t first, end, site = oracle->model->nodes[n].site.value;

    node_insns(oracle, n, &first, &end);
    bool is_call = site != MODEL_NONE && i + 1 == end;
    bool kills = solution->mask != ANYTHING && !(solution->mask & ~killed_of(oracle, i)) &&
                 way != PART && !(way == JUMP && i + 1 == end);
    if (kills)
        *facts = (struct facts){0};
    if (meets(writes_of(oracle, i), solution->mask))
        facts->is[fact(oracle, WROTE, i)] = true;
    if (is_call && site_writes(oracle, site, solution->mask, oracle->mod, false))
        facts->is[fact(oracle, way == WHOLE ? CALLED : JUMPED, i)] = true;
}

static void join(struct facts *into, const struct facts *from)
{
    for (uint32_t i = 0; i < MOST_FACTS; i++)
        into->is[i] |= from->is[i];
}

// The facts at the end of a node that is allowed.
static void join_end(const struct solution *solution, uint32_t n, int way, struct facts *into)
{
    uint32_t first, end;
    struct facts facts = solution->in[n - solution->function->first_node];

    if (solution->limits && solution->limits->nodes && !bitset_test(solution->limits->nodes, n))
        return;
    node_insns(solution->oracle, n, &first, &end);
    for (uint32_t i = first; i < end; i++)
        step(solution, n, i, way, &facts);
    join(into, &facts);
}

static void join_jumps(const struct solution *solution, struct facts *into)
{
    const struct model_function *f = solution->function;

    for (uint32_t n = f->first_node; n < f->first_node + f->node_count; n++) {
        if (node_jumps(solution->oracle, n))
            join_end(solution, n, JUMP, into);
        if (solution->oracle->handler_jumps)
            join_end(solution, n, PART, into);
    }
}

static void solve(struct solution *solution, uint32_t f)
{
    const struct oracle *oracle = solution->oracle;
    const struct model *model = oracle->model;
    bool changed = true;

    memset(solution->in, 0, sizeof(solution->in));
    solution->function = &model->functions[f];
    solution->in[0].is[0] = !dies_with(oracle, solution->mask, f);
    while (changed) {
        changed = false;
        for (uint32_t k = 0; k < solution->function->node_count; k++) {
            uint32_t n = solution->function->first_node + k;
            for (uint32_t e = model->successor_start[n]; e < model->successor_start[n + 1]; e++) {
                uint32_t to = model->successor[e].value;
                struct facts *in = &solution->in[to - solution->function->first_node];
                struct facts before = *in;
                if (!is_real(oracle, n, to) || (solution->limits && solution->limits->edges &&
                                                !bitset_test(solution->limits->edges, e)))
                    continue;
                join_end(solution, n, model->nodes[to].flags & NODE_LANDING ? JUMP : WHOLE, in);
                if (model->nodes[n].flags & NODE_RETURNS_TWICE)
                    join_jumps(solution, in);
                changed |= memcmp(&before, in, sizeof(before)) != 0;
            }
        }
    }
}

static void before_insn(const struct solution *solution, uint32_t n, uint32_t insn,
                        struct facts *ret)
{
    uint32_t first, end;

    *ret = solution->in[n - solution->function->first_node];
    node_insns(solution->oracle, n, &first, &end);
    for (uint32_t i = first; i < insn; i++)
        step(solution, n, i, WHOLE, ret);
}

static void compare_insns(const struct oracle *oracle, const struct facts *facts, uint32_t kind,
                          const struct insn_vec *insns)
{
    size_t at = 0;

    for (uint32_t i = 0; i < oracle->insn_count; i++) {
        bool found = at < insns->length && insns->data[at].value == i;
        assert_int_equal(found, facts->is[fact(oracle, kind, i)]);
        at += found;
    }
    assert_int_equal(at, insns->length);
}

static void compare_aside(const struct oracle *oracle, uint32_t f, uint64_t mask, bool writes,
                          struct insn_list list)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < oracle->insn_count; i++) {
        bool expected = oracle->is_threaded && !is_private(oracle, mask) &&
                        (oracle->aside[f] || oracle->aside[function_of(oracle, i)]) &&
                        meets(writes ? writes_of(oracle, i) : reads_of(oracle, i), mask);
        bool found = at < list.count && list.data[at].value == i;
        assert_int_equal(found, expected);
        at += found;
    }
    assert_int_equal(at, list.count);
}

static void compare(const struct solution *solution, const struct facts *facts,
                    struct definitions *definitions)
{
    const struct oracle *oracle = solution->oracle;

    compare_insns(oracle, facts, WROTE, &definitions->writers);
    compare_insns(oracle, facts, CALLED, &definitions->calls);
    compare_insns(oracle, facts, JUMPED, &definitions->jumps);
    assert_int_equal(definitions->from_entry, facts->is[0]);
    compare_aside(oracle, (uint32_t)(solution->function - oracle->model->functions), solution->mask,
                  true, definitions->asynchronous);
    definitions_deinit(definitions);
}

static void check_insn(const struct solution *solution, struct dependence *dependence, uint32_t n,
                       uint32_t insn, struct class_id class)
{
    const struct oracle *oracle = solution->oracle;
    uint32_t first, end, site = oracle->model->nodes[n].site.value;
    struct definitions definitions;
    struct facts facts;

    before_insn(solution, n, insn, &facts);
    dependence_reaching(dependence, (struct insn_id){insn}, class, solution->limits, &definitions);
    compare(solution, &facts, &definitions);
    node_insns(oracle, n, &first, &end);
    if (site == MODEL_NONE || insn + 1 != end)
        return;
    facts.is[fact(oracle, WROTE, insn)] |= meets(writes_of(oracle, insn), solution->mask);
    facts.is[fact(oracle, CALLED, insn)] |=
        site_writes(oracle, site, solution->mask, oracle->mod, true);
    dependence_reaching_callee(dependence, (struct insn_id){insn}, class, solution->limits,
                               &definitions);
    compare(solution, &facts, &definitions);
}

static void find_ends(const struct solution *solution, struct facts *exit, struct facts *jump)
{
    const struct model_function *f = solution->function;

    *exit = *jump = (struct facts){0};
    for (uint32_t n = f->first_node; n < f->first_node + f->node_count; n++) {
        if (solution->oracle->model->nodes[n].flags & NODE_RETURN)
            join_end(solution, n, WHOLE, exit);
        if (solution->oracle->model->nodes[n].flags & NODE_RESUME)
            join_end(solution, n, WHOLE, jump);
    }
    join_jumps(solution, jump);
}

// ---- Who reads it: the same facts, asked of the readers

static bool is_allowed(const struct solution *solution, uint32_t n)
{
    return !solution->limits || !solution->limits->nodes || bitset_test(solution->limits->nodes, n);
}

static void check_uses(const struct solution *solution, struct dependence *dependence,
                       uint32_t writer, struct class_id class)
{
    const struct oracle *oracle = solution->oracle;
    const struct model_function *f = solution->function;
    struct facts facts, exit, jump;
    struct uses uses;
    size_t readers = 0, calls = 0;

    dependence_reached(dependence, (struct insn_id){writer}, class, solution->limits, &uses);
    for (uint32_t n = f->first_node; n < f->first_node + f->node_count; n++) {
        uint32_t first, end, site = oracle->model->nodes[n].site.value;
        node_insns(oracle, n, &first, &end);
        for (uint32_t i = first; i < end && is_allowed(solution, n); i++) {
            before_insn(solution, n, i, &facts);
            bool lives = facts.is[fact(oracle, WROTE, writer)];
            bool is_reader = readers < uses.readers.length && uses.readers.data[readers].value == i;
            assert_int_equal(is_reader, lives && meets(reads_of(oracle, i), solution->mask));
            readers += is_reader;
            bool is_call = calls < uses.calls.length && uses.calls.data[calls].value == i;
            assert_int_equal(is_call,
                             lives && site != MODEL_NONE && i + 1 == end &&
                                 site_writes(oracle, site, solution->mask, oracle->ref, false));
            calls += is_call;
        }
    }
    assert_int_equal(readers, uses.readers.length);
    assert_int_equal(calls, uses.calls.length);
    find_ends(solution, &exit, &jump);
    bool lasts = !dies_with(oracle, solution->mask, function_of(oracle, writer));
    assert_int_equal(uses.to_exit, lasts && exit.is[fact(oracle, WROTE, writer)]);
    assert_int_equal(uses.to_jump, lasts && jump.is[fact(oracle, WROTE, writer)]);
    compare_aside(oracle, function_of(oracle, writer), solution->mask, false, uses.asynchronous);
    uses_deinit(&uses);
}

static void check_class(struct solution *solution, struct dependence *dependence, uint32_t f,
                        struct class_id class)
{
    const struct oracle *oracle = solution->oracle;
    struct definitions definitions;
    struct facts exit, jump;

    solution->mask = mask_of(oracle, dependence, class.value);
    solve(solution, f);
    for (uint32_t k = 0; k < solution->function->node_count; k++) {
        uint32_t n = solution->function->first_node + k, first, end;
        node_insns(oracle, n, &first, &end);
        for (uint32_t i = first; i < end; i++) {
            check_insn(solution, dependence, n, i, class);
            if (meets(writes_of(oracle, i), solution->mask) && is_allowed(solution, n))
                check_uses(solution, dependence, i, class);
        }
    }
    find_ends(solution, &exit, &jump);
    dependence_reaching_exit(dependence, (struct function_id){f}, class, solution->limits,
                             &definitions);
    compare(solution, &exit, &definitions);
    dependence_reaching_jump(dependence, (struct function_id){f}, class, solution->limits,
                             &definitions);
    compare(solution, &jump, &definitions);
}

// ---- The tests

static void check_program(uint64_t seed, void (*check)(const struct oracle *, struct dependence *))
{
    struct program *program = program_random(seed);
    struct oracle *oracle = xcalloc(1, sizeof(*oracle));
    struct dependence *dependence = dependence_create(&program->model, NULL);

    oracle_init(oracle, program);
    check(oracle, dependence);
    dependence_destroy(dependence);
    free(oracle);
    free(program);
}

static void check_all_control(const struct oracle *oracle, struct dependence *dependence)
{
    for (uint32_t f = 0; f < oracle->model->function_count; f++)
        check_control(oracle, dependence, f);
}

static void check_all_memory(const struct oracle *oracle, struct dependence *dependence)
{
    struct solution *solution = xcalloc(1, sizeof(*solution));

    check_classes(oracle, dependence);
    solution->oracle = oracle;
    for (uint32_t f = 0; f < oracle->model->function_count; f++)
        for (int k = 0; k < 3; k++)
            check_class(
                solution, dependence, f,
                (struct class_id){draw(oracle->program, dependence_class_count(dependence))});
    free(solution);
}

static void check_all_limits(const struct oracle *oracle, struct dependence *dependence)
{
    struct solution *solution = xcalloc(1, sizeof(*solution));
    struct bitset nodes, edges;
    struct reaching_limits limits = {0};

    bitset_init(&nodes, oracle->model->node_count);
    bitset_init(&edges, oracle->model->edge_count);
    for (uint32_t n = 0; n < nodes.size; n++)
        if (draw(oracle->program, 5))
            bitset_set(&nodes, n);
    for (uint32_t e = 0; e < edges.size; e++)
        if (draw(oracle->program, 5))
            bitset_set(&edges, e);
    limits.nodes = draw(oracle->program, 4) ? &nodes : NULL;
    limits.edges = draw(oracle->program, 4) ? &edges : NULL;
    *solution = (struct solution){.oracle = oracle, .limits = &limits};
    for (uint32_t f = 0; f < oracle->model->function_count; f++)
        check_class(solution, dependence, f,
                    (struct class_id){draw(oracle->program, dependence_class_count(dependence))});
    bitset_deinit(&nodes);
    bitset_deinit(&edges);
    free(solution);
}

static void control_is_as_defined(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        check_program(seed, check_all_control);
}

static void memory_is_as_solved(void **state)
{
    (void)state;
    for (uint64_t seed = SEEDS; seed < SEEDS + SEEDS / 4; seed++)
        check_program(seed, check_all_memory);
}

static void limits_are_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 2 * SEEDS; seed < 2 * SEEDS + SEEDS / 4; seed++)
        check_program(seed, check_all_limits);
}

static void check_numbers(const struct oracle *oracle, struct dependence *dependence)
{
    assert_int_equal(dependence_insn_count(dependence), oracle->insn_count);
    for (uint32_t i = 0; i < oracle->insn_count; i++) {
        struct module_id module = {oracle->insn_module[i]};
        uint32_t index;
        assert_int_equal(dependence_insn(dependence, module, oracle->insn_index[i]).value, i);
        assert_ptr_equal(dependence_insn_at(dependence, (struct insn_id){i}, &module, &index),
                         insn_of(oracle, i));
        assert_int_equal(module.value, oracle->insn_module[i]);
        assert_int_equal(index, oracle->insn_index[i]);
        uint32_t n = dependence_insn_node(dependence, (struct insn_id){i}).value, first, end;
        node_insns(oracle, n, &first, &end);
        assert_true(first <= i && i < end);
    }
    for (uint32_t a = 0; a < dependence_class_count(dependence); a++)
        for (uint32_t b = 0; b < dependence_class_count(dependence); b++) {
            struct class_id ids[] = {{a}, {b}};
            assert_int_equal(dependence_overlap(dependence, ids[0], ids[1]),
                             a == b || a == 0 || b == 0);
            assert_int_equal(class_set_meets(dependence, (struct class_set){ids, 1}, ids[1]),
                             a == b || a == 0 || b == 0);
        }
    assert_false(class_set_meets(dependence, (struct class_set){NULL, 0}, (struct class_id){0}));
}

static void instructions_are_numbered(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++)
        check_program(seed, check_numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_numbered),
        cmocka_unit_test(control_is_as_defined),
        cmocka_unit_test(memory_is_as_solved),
        cmocka_unit_test(limits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
