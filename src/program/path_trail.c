// SPDX-License-Identifier: Apache-2.0
// From the words of an activation to the path that it took; see path_number.h.
#include "program/path_internal.h"

#include "common/alloc.h"
#include "common/vec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

VEC_DEFINE(step_vec, struct path_step);
VEC_DEFINE(edge_vec, uint32_t);

struct trail {
    const struct path_numbering *numbers;
    const struct path_words *words;
    struct step_vec steps;
    struct edge_vec edges; // of one region, last first
    bool from_entry;
};

// Which of the paths to the unit was taken? False: none that the word names.
static bool path_index(const struct trail *trail, uint32_t region, uint32_t unit, uint64_t *index)
{
    const struct path_unit *u = &trail->numbers->units[unit];
    uint32_t word = path_region_word(trail->numbers, &trail->words->shape, region);
    uint64_t sum;

    *index = 0;
    if (u->reach == 1)
        return true;
    if (word == PATH_NONE)
        return false;
    struct layout_code code = path_code(trail->numbers, &trail->words->shape,
                                        trail->words->module_id, trail->words->index, region);
    if (!layout_decode(&code, trail->words->value[word], &sum))
        return false;
    *index = sum + u->potential;
    return *index < u->reach;
}

// The edge by which the path came to the unit, and its number at the edge's source; PATH_NONE where
// it began there.
static uint32_t last_edge(const struct path_numbering *numbers, uint32_t unit, uint64_t *index)
{
    uint32_t found = PATH_NONE;

    for (uint32_t k = numbers->in_start[unit]; k < numbers->in_start[unit + 1]; k++) {
        uint32_t e = numbers->in_edge[k];

        if (numbers->edges[e].kind != PATH_EDGE_PLAIN || numbers->edges[e].value > *index)
            continue;
        found = e;
    }
    if (found == PATH_NONE || *index < numbers->units[unit].starts)
        return PATH_NONE;
    *index -= numbers->edges[found].value;
    return found;
}

// What was known before is of no use: control may have come from anywhere.
static void forget(struct trail *trail)
{
    trail->steps.length = 0;
    trail->from_entry = false;
}

static void push(struct trail *trail, uint32_t node, enum path_step_kind kind)
{
    step_vec_push(&trail->steps, (struct path_step){node, kind});
}

// Control came to a unit and went on from the node `left`.
static void pass_unit(struct trail *trail, uint32_t unit, uint32_t left)
{
    const struct path_numbering *numbers = trail->numbers;

    if (!path_unit_is_loop(numbers, unit)) {
        push(trail, unit, PATH_STEP_NODE);
        return;
    }
    const struct path_region *loop = path_unit_loop(numbers, unit);
    push(trail, loop->header, loop->sideways ? PATH_STEP_PASSES : PATH_STEP_LOOP);
    // a jump may have led back into it after it was left
    if (loop->twice)
        forget(trail);
    push(trail, left, PATH_STEP_NODE);
}

// The path through the loop began at this unit; with which of the paths that begin there tells
// whether control has come round.
static void begin_loop(struct trail *trail, const struct path_region *loop, uint32_t unit,
                       uint64_t index)
{
    if (!loop->counts_rounds || unit != loop->header)
        push(trail, loop->header, PATH_STEP_PASSES);
    else if (index > 0)
        push(trail, loop->header, PATH_STEP_ROUNDS);
}

// Appends the path that was taken through a region up to, but without, the unit.
// `inner`: it is a loop that control came to from the region before.
static bool add_region(struct trail *trail, uint32_t region, uint32_t unit, bool inner)
{
    const struct path_numbering *numbers = trail->numbers;
    uint64_t index;

    if (!path_index(trail, region, unit, &index))
        return false;
    trail->edges.length = 0;
    for (;;) {
        uint32_t e = last_edge(numbers, unit, &index);

        if (e == PATH_NONE)
            break;
        edge_vec_push(&trail->edges, e);
        unit = numbers->edges[e].from;
    }
    assert(index < numbers->units[unit].starts);
    if (inner)
        begin_loop(trail, &numbers->regions[region], unit, index);
    if (numbers->units[unit].from_twice)
        forget(trail);
    if (region == 0 && unit != path_unit_in(numbers, 0, 0))
        trail->from_entry = false;
    for (size_t k = trail->edges.length; k-- > 0;) {
        const struct path_edge *edge = &numbers->edges[trail->edges.data[k]];

        pass_unit(trail, edge->from, edge->source);
    }
    return true;
}

// All regions around `inner`, and the last of them up to `unit`.
static bool add_regions(struct trail *trail, uint32_t inner, uint32_t unit)
{
    const struct path_numbering *numbers = trail->numbers;
    uint32_t chain[LAYOUT_MOST_WORDS + 1], depth = 0;
    bool is_inner = false;

    trail->from_entry = true;
    uint32_t region = inner;
    // what was kept of the regions around a loop to which control can jump back may be wrong
    while (region != 0 && !numbers->regions[region].twice) {
        chain[depth++] = region;
        region = numbers->regions[region].parent;
    }
    if (region != 0)
        forget(trail);
    while (depth) {
        uint32_t next = chain[--depth];

        if (!add_region(trail, region, path_loop_unit(numbers, next), is_inner))
            return false;
        region = next;
        is_inner = true;
    }
    return add_region(trail, region, unit, is_inner);
}

static bool finish(struct trail *trail, bool found, struct path *out)
{
    edge_vec_deinit(&trail->edges);
    if (!found) {
        step_vec_deinit(&trail->steps);
        return false;
    }
    out->step_count = (uint32_t)trail->steps.length;
    out->steps = step_vec_steal(&trail->steps);
    out->from_entry = trail->from_entry;
    return true;
}

// Control is at the node, or somewhere in the opaque loop that holds it.
static void stand(struct trail *trail, uint32_t unit, uint32_t node)
{
    if (!path_unit_is_loop(trail->numbers, unit)) {
        push(trail, node, PATH_STEP_NODE);
        return;
    }
    const struct path_region *loop = path_unit_loop(trail->numbers, unit);
    if (loop->twice)
        forget(trail);
    push(trail, loop->header, loop->sideways || loop->twice ? PATH_STEP_PASSES : PATH_STEP_LOOP);
}

bool path_trail(const struct path_numbering *numbers, const struct path_words *words, uint32_t node,
                struct path *out)
{
    struct trail trail = {.numbers = numbers, .words = words};

    if (node >= numbers->graph->node_count || !numbers->reachable[node])
        return false;
    uint32_t region = path_region_of(numbers, node), unit = path_unit_in(numbers, region, node);
    bool found = add_regions(&trail, region, unit);

    if (found)
        stand(&trail, unit, node);
    return finish(&trail, found, out);
}

bool path_trail_on_edge(const struct path_numbering *numbers, const struct path_words *words,
                        uint32_t edge, struct path *out)
{
    struct trail trail = {.numbers = numbers, .words = words};
    const struct path_edge *e = &numbers->edges[edge];

    if (e->kind != PATH_EDGE_PLAIN)
        return false;
    bool found =
        add_regions(&trail, e->region, e->to) && trail.edges.length && trail.edges.data[0] == edge;
    return finish(&trail, found, out);
}

void path_deinit(struct path *path)
{
    free(path->steps);
    *path = (struct path){0};
}
