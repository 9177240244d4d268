// SPDX-License-Identifier: Apache-2.0
// What a product says: is there a run, what may and must it execute, and the shortest one.
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "solve/product_internal.h"

static void edges_by(const struct product *product, bool by_target, uint32_t **ret_start,
                     uint32_t **ret_edges)
{
    uint32_t count = (uint32_t)product->states.length;
    uint32_t *start = xcalloc(count + 2u, sizeof(*start));
    uint32_t *edges = xmalloc_array(product->edges.length + 1, sizeof(*edges));

    for (size_t e = 0; e < product->edges.length; e++) {
        const struct product_edge *edge = &product->edges.data[e];
        start[(by_target ? edge->to : edge->from) + 2]++;
    }
    for (uint32_t s = 0; s < count; s++)
        start[s + 2] += start[s + 1];
    for (size_t e = 0; e < product->edges.length; e++) {
        const struct product_edge *edge = &product->edges.data[e];
        edges[start[(by_target ? edge->to : edge->from) + 1]++] = (uint32_t)e;
    }
    *ret_start = start;
    *ret_edges = edges;
}

bool product_accepts(const struct product *product, uint32_t id)
{
    struct automaton *automaton = product->problem.automaton;

    return !automaton || automaton->accepts(automaton, product_mode(product, id).state);
}

static void mark_useful(struct product *product, uint32_t state, struct product_id_vec *work)
{
    if (!bitset_test_and_set(&product->useful, state))
        product_id_vec_push(work, state);
}

void product_index(struct product *product)
{
    struct product_id_vec work = VEC_INIT;

    edges_by(product, true, &product->in_start, &product->in_edges);
    edges_by(product, false, &product->out_start, &product->out_edges);
    bitset_init(&product->useful, product->states.length + 1);
    for (size_t f = 0; f < product->finals.length; f++)
        if (product_accepts(product, product->finals.data[f]))
            mark_useful(product, product->finals.data[f], &work);
    product->possible = work.length > 0;
    while (work.length) {
        uint32_t state = work.data[--work.length];

        for (uint32_t i = product->in_start[state]; i < product->in_start[state + 1]; i++) {
            const struct product_edge *edge = &product->edges.data[product->in_edges[i]];

            mark_useful(product, edge->from, &work);
            if (edge->through != FLOW_NONE)
                mark_useful(product, edge->through, &work);
        }
    }
    product_id_vec_deinit(&work);
}

void product_may(const struct product *product, struct bitset *may)
{
    for (uint32_t s = 0; s < product->states.length; s++)
        if (bitset_test(&product->useful, s) && product->states.data[s].node != FLOW_NONE)
            bitset_set(may, product->states.data[s].node);
}

// ---- Must: sets of nodes along edges, met where they join; begins with everything.

struct must_sets {
    const struct product *product;
    uint32_t words;
    uint64_t
        *sets; // by state; what every way from its instance's entry to it has executed, it included
    bool *seen;
    uint64_t *out;
};

// A start may have edges into it as well; they take nothing away.
static bool is_start(const struct product *product, uint32_t s)
{
    uint32_t instance = product->states.data[s].instance;

    return s < product->start_count ||
           (instance != PRODUCT_SPINE && product->instances.data[instance].entry == s);
}

static bool flow_along(struct must_sets *must, const struct product_edge *edge)
{
    const struct product_state *to = &must->product->states.data[edge->to];
    const uint64_t *from = must->sets + (size_t)edge->from * must->words;
    uint64_t *target = must->sets + (size_t)edge->to * must->words, lost = 0;

    if (!must->seen[edge->from] || (edge->through != FLOW_NONE && !must->seen[edge->through]))
        return false;
    memcpy(must->out, from, must->words * sizeof(uint64_t));
    if (edge->through != FLOW_NONE) {
        const uint64_t *through = must->sets + (size_t)edge->through * must->words;
        for (uint32_t w = 0; w < must->words; w++)
            must->out[w] |= through[w];
    }
    if (to->node != FLOW_NONE)
        must->out[to->node / 64] |= UINT64_C(1) << (to->node % 64);
    if (!must->seen[edge->to]) {
        memcpy(target, must->out, must->words * sizeof(uint64_t));
        must->seen[edge->to] = true;
        return true;
    }
    for (uint32_t w = 0; w < must->words; w++) {
        lost |= target[w] & ~must->out[w];
        target[w] &= must->out[w];
    }
    return lost != 0;
}

static void start_sets(struct must_sets *must)
{
    const struct product *product = must->product;

    for (uint32_t s = 0; s < product->states.length; s++) {
        uint32_t node = product->states.data[s].node;

        if (node == FLOW_NONE || !bitset_test(&product->useful, s))
            continue;
        if (!is_start(product, s))
            continue;
        must->seen[s] = true;
        memset(must->sets + (size_t)s * must->words, 0, must->words * sizeof(uint64_t));
        must->sets[(size_t)s * must->words + node / 64] |= UINT64_C(1) << (node % 64);
    }
}

static bool settle(struct must_sets *must, struct budget *budget)
{
    const struct product *product = must->product;

    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t s = 0; s < product->states.length; s++) {
            if (!bitset_test(&product->useful, s))
                continue;
            if (budget_is_spent(budget))
                return false;
            for (uint32_t i = product->out_start[s]; i < product->out_start[s + 1]; i++) {
                const struct product_edge *edge = &product->edges.data[product->out_edges[i]];

                if (bitset_test(&product->useful, edge->to) &&
                    (edge->through == FLOW_NONE || bitset_test(&product->useful, edge->through)))
                    changed |= flow_along(must, edge);
            }
        }
    }
    return true;
}

bool product_must(const struct product *product, struct budget *budget, uint64_t bytes,
                  struct bitset *ret)
{
    uint32_t words = (product->flow->node_count + 63) / 64;
    struct must_sets must = {.product = product, .words = words};

    if (!product->possible || (uint64_t)product->states.length * words * 8 > bytes)
        return false;
    must.sets = xmalloc_array((size_t)product->states.length * words + 1, sizeof(uint64_t));
    must.out = xmalloc_array(words + 1u, sizeof(uint64_t));
    must.seen = xcalloc(product->states.length + 1, sizeof(bool));
    start_sets(&must);
    bool settled = settle(&must, budget);
    for (size_t f = 0, first = 1; settled && f < product->finals.length; f++) {
        uint32_t s = product->finals.data[f];

        if (!product_accepts(product, s))
            continue;
        for (uint32_t n = 0; n < product->flow->node_count; n++) {
            bool in = must.sets[(size_t)s * words + n / 64] >> (n % 64) & 1;

            if (first && in)
                bitset_set(ret, n);
            else if (!in)
                bitset_clear(ret, n);
        }
        first = 0;
    }
    free(must.sets);
    free(must.out);
    free(must.seen);
    return settled;
}

// ---- The shortest run (Knuth: A generalization of Dijkstra's algorithm)

static bool heap_before(const struct shortest *shortest, size_t a, size_t b)
{
    return shortest->length[shortest->heap.data[a]] < shortest->length[shortest->heap.data[b]];
}

static void heap_swap(struct shortest *shortest, size_t a, size_t b)
{
    uint32_t x = shortest->heap.data[a], y = shortest->heap.data[b];

    shortest->heap.data[a] = y;
    shortest->heap.data[b] = x;
    shortest->position[y] = (uint32_t)a;
    shortest->position[x] = (uint32_t)b;
}

static void heap_up(struct shortest *shortest, size_t i)
{
    for (; i > 0 && heap_before(shortest, i, (i - 1) / 2); i = (i - 1) / 2)
        heap_swap(shortest, i, (i - 1) / 2);
}

static uint32_t heap_pop(struct shortest *shortest)
{
    uint32_t first = shortest->heap.data[0];

    heap_swap(shortest, 0, shortest->heap.length - 1);
    shortest->heap.length--;
    shortest->position[first] = FLOW_NONE;
    for (size_t i = 0;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < shortest->heap.length && heap_before(shortest, child + 1, child))
            child++;
        if (child >= shortest->heap.length || !heap_before(shortest, child, i))
            break;
        heap_swap(shortest, i, child);
        i = child;
    }
    return first;
}

static void improve(struct shortest *shortest, uint32_t state, uint64_t length, uint32_t by)
{
    if (length >= shortest->length[state])
        return;
    shortest->length[state] = length;
    shortest->by[state] = by;
    if (shortest->position[state] == FLOW_NONE) {
        shortest->position[state] = (uint32_t)shortest->heap.length;
        product_id_vec_push(&shortest->heap, state);
    }
    heap_up(shortest, shortest->position[state]);
}

static void try_edge(struct shortest *shortest, uint32_t e)
{
    const struct product_edge *edge = &shortest->product->edges.data[e];
    uint64_t length = shortest->length[edge->from];

    if (!shortest->settled[edge->from] ||
        (edge->through != FLOW_NONE && !shortest->settled[edge->through]))
        return;
    if (edge->through != FLOW_NONE)
        length += shortest->length[edge->through];
    bool steps = !edge->resumes && shortest->product->states.data[edge->to].node != FLOW_NONE &&
                 !product_mode(shortest->product, edge->to).insn;
    improve(shortest, edge->to, length + steps, e);
}

static void index_through(struct shortest *shortest)
{
    const struct product *product = shortest->product;
    uint32_t *start = xcalloc(product->states.length + 2, sizeof(*start)), total = 0;

    for (size_t e = 0; e < product->edges.length; e++)
        if (product->edges.data[e].through != FLOW_NONE) {
            start[product->edges.data[e].through + 2]++;
            total++;
        }
    for (size_t s = 0; s < product->states.length; s++)
        start[s + 2] += start[s + 1];
    shortest->through_edges = xmalloc_array(total + 1u, sizeof(uint32_t));
    for (size_t e = 0; e < product->edges.length; e++)
        if (product->edges.data[e].through != FLOW_NONE)
            shortest->through_edges[start[product->edges.data[e].through + 1]++] = (uint32_t)e;
    shortest->through_start = start;
}

// Lengths of everything; unless `all`, until the first accepted end is settled: it is the nearest.
static uint32_t nearest_end(struct shortest *shortest, bool all, struct budget *budget)
{
    const struct product *product = shortest->product;
    struct bitset ends;
    uint32_t found = FLOW_NONE;

    bitset_init(&ends, product->states.length + 1);
    for (size_t f = 0; f < product->finals.length; f++)
        if (product_accepts(product, product->finals.data[f]))
            bitset_set(&ends, product->finals.data[f]);
    for (uint32_t s = 0; s < product->start_count; s++)
        improve(shortest, s, 1, FLOW_NONE);
    for (size_t i = 1; i < product->instances.length; i++)
        if (product->instances.data[i].entry != FLOW_NONE)
            improve(shortest, product->instances.data[i].entry, 1, FLOW_NONE);
    while ((all || found == FLOW_NONE) && shortest->heap.length && !budget_is_spent(budget)) {
        uint32_t state = heap_pop(shortest);

        shortest->settled[state] = true;
        if (found == FLOW_NONE && bitset_test(&ends, state))
            found = state;
        for (uint32_t i = product->out_start[state]; i < product->out_start[state + 1]; i++)
            try_edge(shortest, product->out_edges[i]);
        for (uint32_t i = shortest->through_start[state]; i < shortest->through_start[state + 1];
             i++)
            try_edge(shortest, shortest->through_edges[i]);
    }
    bitset_deinit(&ends);
    return found;
}

struct run_event product_step_event(const struct product *product, uint32_t state)
{
    return (struct run_event){RUN_STEP, product->states.data[state].node, FLOW_NONE,
                              product_mode(product, state).insn};
}

// What is left to be told, last first: an edge backwards from a state, or an event.
struct told {
    bool is_event;
    uint32_t state;
    struct run_event event;
};
VEC_DEFINE(told_vec, struct told);

// The run to a state, from its end to its beginning. Calls may be nested deeply: by a stack of our
// own.
static void tell(const struct shortest *shortest, uint32_t end, struct run_event_vec *events)
{
    const struct product *product = shortest->product;
    struct told_vec stack = VEC_INIT;

    told_vec_push(&stack, (struct told){.state = end});
    while (stack.length) {
        struct told told = stack.data[--stack.length];
        uint32_t by = told.is_event ? FLOW_NONE : shortest->by[told.state];
        const struct product_edge *edge = by == FLOW_NONE ? NULL : &product->edges.data[by];

        if (told.is_event) {
            run_event_vec_push(events, told.event);
            continue;
        }
        uint32_t node = product->states.data[told.state].node;
        if (node != FLOW_NONE && !(edge && edge->resumes))
            run_event_vec_push(events, product_step_event(product, told.state));
        if (!edge)
            continue;
        uint32_t from = product->states.data[edge->from].node;
        // pushed first is told last: the way to `from`; before it, behind what is told now, the
        // call
        told_vec_push(&stack, (struct told){.state = edge->from});
        if (edge->pends)
            told_vec_push(&stack, (struct told){true, 0, {RUN_CALL, from, edge->callee, 0}});
        if (edge->through == FLOW_NONE)
            continue;
        told_vec_push(&stack, (struct told){true, 0, {RUN_CALL, from, edge->callee, 0}});
        told_vec_push(&stack, (struct told){.state = edge->through});
        run_event_vec_push(events, (struct run_event){RUN_LEAVE, from, edge->callee, 0});
    }
    told_vec_deinit(&stack);
    for (size_t i = 0, k = events->length; i + 1 < k; i++) {
        struct run_event first = events->data[i];
        events->data[i] = events->data[--k];
        events->data[k] = first;
    }
}

uint32_t shortest_init(struct shortest *shortest, const struct product *product, bool all,
                       struct budget *budget)
{
    size_t count = product->states.length;

    *shortest = (struct shortest){.product = product};
    shortest->length = xmalloc_array(count + 1, sizeof(uint64_t));
    memset(shortest->length, 0xff, count * sizeof(uint64_t));
    shortest->by = xmalloc_array(count + 1, sizeof(uint32_t));
    memset(shortest->by, 0xff, count * sizeof(uint32_t));
    shortest->position = xmalloc_array(count + 1, sizeof(uint32_t));
    memset(shortest->position, 0xff, count * sizeof(uint32_t));
    shortest->settled = xcalloc(count + 1, sizeof(bool));
    index_through(shortest);
    return nearest_end(shortest, all, budget);
}

void shortest_deinit(struct shortest *shortest)
{
    free(shortest->length);
    free(shortest->by);
    free(shortest->position);
    free(shortest->settled);
    free(shortest->through_start);
    free(shortest->through_edges);
    product_id_vec_deinit(&shortest->heap);
}

bool product_shortest(const struct product *product, struct budget *budget, struct run *ret)
{
    struct shortest shortest;
    struct run_event_vec events = VEC_INIT;
    uint32_t end = shortest_init(&shortest, product, false, budget);

    if (end != FLOW_NONE)
        tell(&shortest, end, &events);
    shortest_deinit(&shortest);
    ret->count = (uint32_t)events.length;
    ret->events = run_event_vec_steal(&events);
    return end != FLOW_NONE;
}

void run_deinit(struct run *run)
{
    free(run->events);
    *run = (struct run){0};
}
