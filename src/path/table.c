// SPDX-License-Identifier: Apache-2.0
#include "path/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/budget.h"

#define LENGTH_MOST (UINT32_C(1) << 30)
// Values kept apart at one vertex, with the same marks; more are combined.
#define VALUES_MOST 6u
// Of more marks than these the sets are not numbered.
#define DENSE_BITS 10u

void table_init(struct table *table, const struct graph *graph, struct budget *budget)
{
    *table = (struct table){.graph = graph,
                            .marks = graph->marks,
                            .dataflow = graph->problem->dataflow,
                            .budget = budget,
                            .length_most = LENGTH_MOST,
                            .start = graph->origin,
                            .complete = true,
                            .found = TABLE_NONE};
    table->first = xmalloc_array(graph->vertices.length + 1, sizeof(uint32_t));
    memset(table->first, 0xff, (graph->vertices.length + 1) * sizeof(uint32_t));
    table->settled = xcalloc(graph->vertices.length + 1, sizeof(*table->settled));
    table->shortest = xcalloc(graph->vertices.length + 1, sizeof(*table->shortest));
    table->holder = xcalloc(graph->vertices.length + 1, sizeof(*table->holder));
    table->count = xcalloc(graph->vertices.length + 1, sizeof(*table->count));
    arena_init(&table->arena);
}

void table_deinit(struct table *table)
{
    for (size_t v = 0; v < table->graph->vertices.length; v++)
        settled_vec_deinit(&table->settled[v]);
    free(table->settled);
    free(table->shortest);
    free(table->holder);
    arena_deinit(&table->arena);
    free(table->first);
    free(table->count);
    element_vec_deinit(&table->elements);
    path_queue_deinit(&table->queue);
    table_heap_deinit(&table->heap);
}

// ---- What is looked at next

static bool heap_before(const struct path_queue_entry *a, const struct path_queue_entry *b)
{
    return a->key < b->key;
}

static void heap_push(struct table_heap *heap, struct path_queue_entry entry)
{
    size_t i = heap->length;

    table_heap_push(heap, entry);
    for (; i && heap_before(&entry, &heap->data[(i - 1) / 2]); i = (i - 1) / 2)
        heap->data[i] = heap->data[(i - 1) / 2];
    heap->data[i] = entry;
}

static bool heap_pop(struct table_heap *heap, struct path_queue_entry *ret)
{
    size_t i = 0;

    if (!heap->length)
        return false;
    *ret = heap->data[0];
    struct path_queue_entry last = heap->data[--heap->length];
    for (size_t child = 1; child < heap->length; child = 2 * i + 1) {
        if (child + 1 < heap->length && heap_before(&heap->data[child + 1], &heap->data[child]))
            child++;
        if (!heap_before(&heap->data[child], &last))
            break;
        heap->data[i] = heap->data[child];
        i = child;
    }
    heap->data[i] = last;
    return true;
}

// How many marks are not as one would have them.
static uint32_t missing_marks(const struct marks *marks, uint64_t bits)
{
    return (uint32_t)(__builtin_popcountll(~bits & marks->good) +
                      __builtin_popcountll(bits & marks->bad));
}

// False: no path that is looked for goes that way.
static bool enqueue(struct table *table, uint32_t id)
{
    const struct element *element = &table->elements.data[id];
    uint64_t key = element->length;

    if (table->allowed && !bitset_test(table->allowed, element->vertex))
        return false;
    if (table->order == TABLE_BY_MARKS) {
        key |= (uint64_t)missing_marks(table->marks, element->bits) << 32;
        heap_push(&table->heap, (struct path_queue_entry){key, id});
        return true;
    }
    if (table->bounds)
        key = bounds_of(table->bounds, element->vertex, element->length,
                        table->wanted & ~element->bits, table->is_greedy);
    if (key >= BOUNDS_FAR || key > table->length_most)
        return false;
    path_queue_push(&table->queue, key, id);
    return true;
}

static bool dequeue(struct table *table, struct path_queue_entry *ret)
{
    return table->order == TABLE_BY_MARKS ? heap_pop(&table->heap, ret)
                                          : path_queue_pop(&table->queue, ret);
}

// ---- Elements at a vertex

static bool value_covers(const struct table *table, struct dataflow_value a,
                         struct dataflow_value b)
{
    return a.number == b.number ||
           (table->dataflow && dataflow_combine(table->dataflow, a, b).number == a.number);
}

static bool covers(const struct table *table, const struct element *a, const struct element *b)
{
    return marks_covers(table->marks, a->bits, b->bits) &&
           (a->length <= b->length || table->order == TABLE_BY_MARKS) &&
           value_covers(table, a->value, b->value);
}

// Is there something at the vertex that covers it? What it covers itself goes.
static bool is_covered(struct table *table, const struct element *element)
{
    for (uint32_t *link = &table->first[element->vertex]; *link != TABLE_NONE;) {
        struct element *other = &table->elements.data[*link];

        if (covers(table, other, element))
            return true;
        if (!covers(table, element, other)) {
            link = &other->next;
            continue;
        }
        other->is_dead = true;
        *link = other->next;
    }
    return false;
}

// Where too many values are kept apart, the one with the same marks that was there first and this
// one become one, which is as short as the shorter.
static void combine_values(struct table *table, struct element *element)
{
    uint32_t count = 0, last = TABLE_NONE;

    if (!table->dataflow)
        return;
    for (uint32_t i = table->first[element->vertex]; i != TABLE_NONE;
         i = table->elements.data[i].next)
        if (table->elements.data[i].bits == element->bits) {
            count++;
            last = i;
        }
    if (count < VALUES_MOST)
        return;
    const struct element *other = &table->elements.data[last];
    struct dataflow_value value = dataflow_combine(table->dataflow, other->value, element->value);
    if (other->length <= element->length) {
        element->length = other->length;
        element->before = other->before;
        element->through = other->through;
        element->edge = other->edge;
    }
    element->value = value;
}

// ---- Where marks are few

// gcc vectorises at -O3 only what clang does at -O2.
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORISED __attribute__((__optimize__("O3")))
#else
#define VECTORISED
#endif

// Sums stay below BOUNDS_FAR.
VECTORISED static void lower_all(uint32_t *restrict lengths, const uint32_t *restrict row,
                                 uint32_t length, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t sum = row[i] + length;

        lengths[i] = sum < lengths[i] ? sum : lengths[i];
    }
}

// Lengths of all sets at a vertex where nothing is known but that it is reached.
static uint32_t *shortest_at(struct table *table, uint32_t vertex)
{
    uint32_t **shortest = &table->shortest[vertex];
    size_t count = (size_t)1 << table->marks->bit_count;

    if (*shortest)
        return *shortest;
    *shortest = arena_alloc_array(&table->arena, count, uint32_t);
    memset(*shortest, 0xff, count * sizeof(uint32_t));
    if (table->detours)
        lower_all(*shortest, table->detours->rows, table->bounds->plain.inside[vertex] + 1, count);
    return *shortest;
}

// Every set that this one covers can be had for its length; the others, by detours.
static void cover_sets(struct table *table, const struct element *element)
{
    uint32_t *shortest = shortest_at(table, element->vertex);
    uint64_t set = element->bits ^ table->marks->bad, kept = set & table->marks->exact;
    uint64_t free = set & ~kept;

    if (table->detours) {
        lower_all(shortest, &table->detours->rows[set << table->marks->bit_count], element->length,
                  (size_t)1 << table->marks->bit_count);
        return;
    }
    for (uint64_t some = free;; some = (some - 1) & free) {
        if (shortest[some | kept] > element->length)
            shortest[some | kept] = element->length;
        if (!some)
            break;
    }
}

static bool is_shorter(struct table *table, uint32_t vertex, uint64_t bits, uint32_t length)
{
    return length < shortest_at(table, vertex)[bits ^ table->marks->bad];
}

// ----

static void keep(struct table *table, const struct element *element)
{
    uint32_t id = (uint32_t)table->elements.length;

    if (table->element_most && id >= table->element_most) {
        table->complete = false;
        return;
    }
    element_vec_push(&table->elements, *element);
    table->elements.data[id].next = table->first[element->vertex];
    if (!enqueue(table, id)) {
        table->elements.length--;
        return;
    }
    table->first[element->vertex] = id;
    if (table->is_dense)
        cover_sets(table, element);
}

// Detours would meet the same for less.
static bool is_roundabout(const struct table *table, const struct element *element)
{
    if (!table->detours)
        return false;
    uint32_t detour = detours_of(table->detours, element->bits);
    return detour < DETOURS_FAR &&
           element->length > table->bounds->plain.inside[element->vertex] + detour;
}

static void add(struct table *table, struct element element)
{
    if (table->graph->vertices.data[element.vertex].procedure == GRAPH_SPINE_PROCEDURE &&
        !marks_is_allowed(table->marks, element.bits))
        return;
    if (element.length > LENGTH_MOST) {
        if (table->order == TABLE_BY_LENGTH)
            return;
        element.length = LENGTH_MOST;
    }
    if (table->is_dense) {
        if (is_shorter(table, element.vertex, element.bits, element.length))
            keep(table, &element);
        return;
    }
    if (dataflow_is_zero(element.value) || is_roundabout(table, &element) ||
        is_covered(table, &element))
        return;
    combine_values(table, &element);
    if (!table->dataflow || !is_covered(table, &element))
        keep(table, &element);
}

// ---- Along edges

static const struct graph_edge *first_of(const struct graph *graph, const struct graph_edge *edge)
{
    while (edge->kind == EDGE_JOINED)
        edge = &graph->edges.data[edge->function];
    return edge;
}

// The callee behind an element of an exit: of a dispatcher, the member's.
static uint32_t callee_of(const struct table *table, const struct graph_edge *edge,
                          const struct element *inside)
{
    return edge->function != FLOW_NONE ? edge->function
                                       : table->graph->edges.data[inside->edge].function;
}

static struct dataflow_value merged(const struct table *table, const struct element *before,
                                    const struct element *inside, const struct graph_edge *edge)
{
    const struct graph_edge *call = first_of(table->graph, edge);
    uint32_t node = table->graph->vertices.data[call->from].node;

    if (call->kind == EDGE_RESUMES)
        return before->value;
    struct dataflow_value value =
        dataflow_merge(table->dataflow, before->value, inside->value, node,
                       callee_of(table, call, inside), call->second);
    return dataflow_extend(table->dataflow, value, edge->value);
}

static void go_through(struct table *table, uint32_t before, uint32_t edge_id, uint32_t inside)
{
    const struct graph_edge *edge = &table->graph->edges.data[edge_id];
    const struct element *first = &table->elements.data[before];
    const struct element *call = &table->elements.data[inside];
    uint64_t bits = marks_extend(table->marks, first->bits, call->bits);
    struct element element = {
        .bits = marks_extend(table->marks, bits, table->graph->masks.data[edge->mask]),
        .length = first->length + call->length + edge->length,
        .vertex = edge->to,
        .before = before,
        .through = inside,
        .edge = edge_id,
        .value = DATAFLOW_ONE,
    };

    if (table->dataflow)
        element.value = merged(table, first, call, edge);
    add(table, element);
}

static void go_by(struct table *table, uint32_t before, uint32_t edge_id)
{
    const struct graph_edge *edge = &table->graph->edges.data[edge_id];
    const struct element *first = &table->elements.data[before];
    struct element element = {
        .bits = marks_extend(table->marks, first->bits, table->graph->masks.data[edge->mask]),
        .length = first->length + edge->length,
        .vertex = edge->to,
        .before = before,
        .through = TABLE_NONE,
        .edge = edge_id,
        .value = DATAFLOW_ONE,
    };

    if (table->dataflow)
        element.value = dataflow_extend(table->dataflow, first->value, edge->value);
    add(table, element);
}

// Elements that are settled meanwhile find the others.
static void go_through_all(struct table *table, uint32_t before, uint32_t edge_id)
{
    const struct settled_vec *settled = &table->settled[table->graph->edges.data[edge_id].through];

    for (size_t i = 0; i < settled->length; i++)
        go_through(table, before, edge_id, settled->data[i].id);
}

static void end_calls(struct table *table, uint32_t inside, uint32_t edge_id)
{
    const struct settled_vec *settled = &table->settled[table->graph->edges.data[edge_id].from];

    for (size_t i = 0; i < settled->length; i++)
        go_through(table, settled->data[i].id, edge_id, inside);
}

static void add_joined(struct table *table, uint32_t before, uint32_t edge_id, uint32_t inside,
                       uint64_t bits, uint32_t length)
{
    keep(table, &(struct element){.bits = bits,
                                  .length = length,
                                  .vertex = table->graph->edges.data[edge_id].to,
                                  .before = before,
                                  .through = inside,
                                  .edge = edge_id,
                                  .value = DATAFLOW_ONE});
}

// The same without dataflow and where marks are few, which is most of the work.
static void join_dense(struct table *table, uint32_t id, uint32_t edge_id, bool is_inside)
{
    const struct graph_edge *edge = &table->graph->edges.data[edge_id];
    struct element one = table->elements.data[id];
    const struct settled_vec *others = &table->settled[is_inside ? edge->from : edge->through];
    uint64_t behind = table->graph->masks.data[edge->mask];
    const struct marks *marks = table->marks;
    const uint32_t *shortest = shortest_at(table, edge->to);
    bool in_spine = table->graph->vertices.data[edge->to].procedure == GRAPH_SPINE_PROCEDURE;

    for (size_t i = 0; i < others->length; i++) {
        const struct settled *other = &others->data[i];
        uint64_t bits = is_inside ? marks_extend(marks, other->bits, one.bits)
                                  : marks_extend(marks, one.bits, other->bits);
        uint32_t length = one.length + other->length + edge->length;

        bits = marks_extend(marks, bits, behind);
        if (length < shortest[bits ^ marks->bad] && length <= LENGTH_MOST &&
            !(in_spine && !marks_is_allowed(marks, bits)))
            add_joined(table, is_inside ? other->id : id, edge_id, is_inside ? id : other->id, bits,
                       length);
    }
}

// Where more marks are always better, of the other side only what adds to these marks counts, and
// for each addition the shortest that has it.
static void join_pure(struct table *table, uint32_t id, uint32_t edge_id, bool is_inside)
{
    const struct graph_edge *edge = &table->graph->edges.data[edge_id];
    struct element one = table->elements.data[id];
    const struct holding *holder = table->holder[is_inside ? edge->from : edge->through];
    uint32_t behind = (uint32_t)(table->graph->masks.data[edge->mask] | one.bits);
    uint32_t had = (uint32_t)one.bits, so_far = one.length + edge->length;
    const uint32_t *shortest = shortest_at(table, edge->to);
    uint32_t all = (UINT32_C(1) << table->marks->bit_count) - 1, free = all & ~had;

    if (!holder)
        return;
    for (uint32_t some = free;; some = (some - 1) & free) {
        struct holding other = holder[some];

        if (other.length <= LENGTH_MOST && (other.bits & ~had) == some &&
            so_far + other.length < shortest[other.bits | behind])
            add_joined(table, is_inside ? other.id : id, edge_id, is_inside ? id : other.id,
                       other.bits | behind, so_far + other.length);
        if (!some)
            return;
    }
}

static void hold(struct table *table, uint32_t id)
{
    const struct element *element = &table->elements.data[id];
    struct holding **holder = &table->holder[element->vertex];
    struct holding this = {element->length, id, (uint32_t)element->bits};

    if (!*holder) {
        size_t count = (size_t)1 << table->marks->bit_count;

        *holder = arena_alloc_array(&table->arena, count, struct holding);
        for (size_t i = 0; i < count; i++)
            (*holder)[i].length = UINT32_MAX;
    }
    for (uint32_t some = this.bits;; some = (some - 1) & this.bits) {
        if ((*holder)[some].length > this.length)
            (*holder)[some] = this;
        if (!some)
            return;
    }
}

static void join_all(struct table *table, uint32_t id, uint32_t edge_id, bool is_inside)
{
    if (table->is_pure)
        join_pure(table, id, edge_id, is_inside);
    else if (table->is_dense)
        join_dense(table, id, edge_id, is_inside);
    else if (is_inside)
        end_calls(table, id, edge_id);
    else
        go_through_all(table, id, edge_id);
}

static void settle(struct table *table, uint32_t id)
{
    const struct graph *graph = table->graph;
    struct element element = table->elements.data[id];
    uint32_t vertex = element.vertex;
    bool is_exit = graph->through_start[vertex] != graph->through_start[vertex + 1];
    bool calls = is_exit;

    table->elements.data[id].is_settled = true;
    for (uint32_t i = graph->out_start[vertex]; i < graph->out_start[vertex + 1]; i++) {
        uint32_t edge = graph->out_edges[i];

        if (graph->edges.data[edge].through == FLOW_NONE) {
            go_by(table, id, edge);
            continue;
        }
        calls = true;
        join_all(table, id, edge, false);
    }
    if (calls && table->is_pure)
        hold(table, id);
    else if (calls)
        settled_vec_push(&table->settled[vertex],
                         (struct settled){element.bits, element.length, id});
    for (uint32_t i = graph->through_start[vertex]; i < graph->through_start[vertex + 1]; i++)
        join_all(table, id, graph->through_edges[i], true);
}

static bool is_target(const struct table *table, uint32_t id)
{
    const struct element *element = &table->elements.data[id];
    const struct graph *graph = table->graph;

    if (!table->has_target ||
        graph->out_start[element->vertex] != graph->out_start[element->vertex + 1])
        return false;
    for (size_t i = 0; i < graph->goals.length; i++)
        if (graph->goals.data[i].vertex == element->vertex)
            return marks_worth(table->marks, element->bits, 0) >= table->target;
    return false;
}

static void begin(struct table *table)
{
    const struct graph *graph = table->graph;

    add(table, (struct element){.vertex = table->start,
                                .before = TABLE_NONE,
                                .through = TABLE_NONE,
                                .edge = FLOW_NONE,
                                .value = DATAFLOW_ONE});
    for (size_t p = 0; p < graph->procedures.length; p++) {
        uint32_t entry = graph->procedures.data[p].entry;

        if (entry == FLOW_NONE)
            continue;
        uint64_t bits = marks_of_node(graph->marks, graph->vertices.data[entry].node);
        add(table, (struct element){.bits = bits & ~graph->marks->assumed,
                                    .length = 1,
                                    .vertex = entry,
                                    .before = TABLE_NONE,
                                    .through = TABLE_NONE,
                                    .edge = FLOW_NONE,
                                    .value = DATAFLOW_ONE});
    }
}

// Covered by what came later, and is shorter.
static bool is_outdone(const struct table *table, uint32_t id)
{
    const struct element *element = &table->elements.data[id];

    if (!table->is_dense)
        return element->is_dead;
    return table->shortest[element->vertex][element->bits ^ table->marks->bad] < element->length;
}

static bool is_crowded(struct table *table, uint32_t id)
{
    // one mark, or none, by each way that there is: all else can be made of these
    if (!table->a_vertex_most ||
        __builtin_popcountll(table->elements.data[id].bits & table->marks->good) < 2)
        return false;
    const struct element *element = &table->elements.data[id];
    uint32_t **counts = &table->count[element->vertex];
    if (!*counts)
        *counts = arena_alloc_array(&table->arena, 65, uint32_t);
    uint32_t *count = &(*counts)[missing_marks(table->marks, element->bits)];
    table->has_dropped |= *count >= table->a_vertex_most;
    return (*count)++ >= table->a_vertex_most;
}

void table_run(struct table *table)
{
    table->is_dense = table->order == TABLE_BY_LENGTH && !table->dataflow &&
                      table->marks->bit_count <= DENSE_BITS && !table->a_vertex_most;
    table->is_pure =
        table->is_dense && !table->marks->bad && !table->marks->exact && !table->marks->has;
    begin(table);
    for (struct path_queue_entry entry; table->found == TABLE_NONE && dequeue(table, &entry);) {
        if (is_outdone(table, entry.id) || is_crowded(table, entry.id))
            continue;
        if (budget_is_spent(table->budget) || !table->complete) {
            table->complete = false;
            return;
        }
        if (is_target(table, entry.id))
            table->found = entry.id;
        settle(table, entry.id);
    }
}

// ---- Telling a run, from its end to its beginning

struct told {
    uint32_t element; // TABLE_NONE: the event
    struct run_event event;
};
VEC_DEFINE(told_vec, struct told);

struct telling {
    const struct table *table;
    struct path_event_vec *events;
    struct told_vec todo;
    struct path_id_vec edges; // scratch
    uint32_t selected;        // the pending call whose node is told by the edge before it
    uint32_t most;
};

static void tell_event(struct telling *telling, enum run_letter letter, uint32_t node,
                       uint32_t function)
{
    path_event_vec_push(telling->events, (struct run_event){letter, node, function, 0});
}

// A shortest call that was passed; its events are told forwards.
static void tell_passed(struct telling *telling, uint32_t node, uint32_t function,
                        enum call_end end)
{
    size_t first = telling->events->length + 1;

    tell_event(telling, RUN_LEAVE, node, function);
    calls_tell(telling->table->graph->calls, function, end, telling->events);
    for (size_t i = first, k = telling->events->length; i + 1 < k; i++) {
        struct run_event event = telling->events->data[i];

        telling->events->data[i] = telling->events->data[--k];
        telling->events->data[k] = event;
    }
    tell_event(telling, RUN_CALL, node, function);
}

// One edge that is not joined. True: what is left to tell goes on inside of a call.
static void tell_edge(struct telling *telling, const struct graph_edge *edge)
{
    const struct graph *graph = telling->table->graph;
    uint32_t from = graph->vertices.data[edge->from].node;
    uint32_t to = graph->vertices.data[edge->to].node;

    if (to != FLOW_NONE && edge->kind != EDGE_RESUMES && edge->kind != EDGE_SELECTS)
        tell_event(telling, RUN_STEP, to, FLOW_NONE);
    if (edge->kind == EDGE_PENDS && from == FLOW_NONE)
        telling->selected = edge->function;
    else if (edge->kind == EDGE_PENDS)
        tell_event(telling, RUN_CALL, from, edge->function);
    else if (edge->kind == EDGE_SELECTS)
        tell_event(telling, RUN_CALL, from, telling->selected);
    else if (edge->kind == EDGE_PASSES_RETURN)
        tell_passed(telling, from, edge->function, CALL_RETURNS);
    else if (edge->kind == EDGE_PASSES_JUMP)
        tell_passed(telling, from, edge->function, CALL_JUMPS);
}

static void tell_element(struct telling *telling, uint32_t id)
{
    const struct table *table = telling->table;
    const struct element *element = &table->elements.data[id];
    uint32_t node = table->graph->vertices.data[element->vertex].node;

    if (element->before == TABLE_NONE) {
        if (node != FLOW_NONE)
            tell_event(telling, RUN_STEP, node, FLOW_NONE);
        return;
    }
    path_id_vec_clear(&telling->edges);
    graph_expand(table->graph, element->edge, &telling->edges);
    for (size_t i = telling->edges.length; i-- > 0;)
        tell_edge(telling, &table->graph->edges.data[telling->edges.data[i]]);
    told_vec_push(&telling->todo, (struct told){.element = element->before});
    if (element->through == TABLE_NONE)
        return;
    // the first of the edges is the one with the call
    const struct graph_edge *call = &table->graph->edges.data[telling->edges.data[0]];
    uint32_t function = callee_of(table, call, &table->elements.data[element->through]);
    uint32_t from = table->graph->vertices.data[call->from].node;
    tell_event(telling, RUN_LEAVE, from, function);
    told_vec_push(&telling->todo, (struct told){TABLE_NONE, {RUN_CALL, from, function, 0}});
    told_vec_push(&telling->todo, (struct told){.element = element->through});
}

bool table_tell(const struct table *table, uint32_t element, uint32_t most,
                struct path_event_vec *events)
{
    struct telling telling = {.table = table, .events = events};
    size_t first = events->length;

    // events are at most two more a node that is reached
    if (table->elements.data[element].length > most / 3)
        return false;
    told_vec_push(&telling.todo, (struct told){.element = element});
    while (telling.todo.length) {
        struct told told = told_vec_pop(&telling.todo);

        if (told.element == TABLE_NONE)
            path_event_vec_push(events, told.event);
        else
            tell_element(&telling, told.element);
    }
    told_vec_deinit(&telling.todo);
    path_id_vec_deinit(&telling.edges);
    for (size_t i = first, k = events->length; i + 1 < k; i++) {
        struct run_event event = events->data[i];

        events->data[i] = events->data[--k];
        events->data[k] = event;
    }
    return true;
}
