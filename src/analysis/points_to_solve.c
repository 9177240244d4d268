// SPDX-License-Identifier: Apache-2.0
/*
 * The graph of constraints and its least solution: difference propagation in waves. A wave visits
 * nodes in topological order of the copy edges, with cycles united before (as Pereira and Berlin's
 * wave propagation, CGO 2009, does; we apply what loads, stores and moves ask for in the same
 * visit, and look for cycles again only when enough edges have come).
 */
#include "analysis/digraph.h"
#include "analysis/points_to_internal.h"
#include "common/budget.h"

uint32_t node_create(struct points_to *pt)
{
    uint32_t node = (uint32_t)pt->nodes.length;

    node_vec_push(&pt->nodes, (struct node){.parent = node});
    if (pt->is_solving)
        id_vec_push(&pt->order, node);
    return node;
}

uint32_t node_find(struct points_to *pt, uint32_t node)
{
    struct node *nodes = pt->nodes.data;

    while (nodes[node].parent != node) {
        nodes[node].parent = nodes[nodes[node].parent].parent;
        node = nodes[node].parent;
    }
    return node;
}

// The world's points are its own one only; what else gets there is fresh until it is seen to.
static bool is_world(struct points_to *pt, uint32_t node)
{
    return node == node_find(pt, pt->world);
}

void node_add_point(struct points_to *pt, uint32_t node, uint32_t point)
{
    node = node_find(pt, node);
    struct node *n = &pt->nodes.data[node];

    if (is_world(pt, node) && point != WORLD_POINT)
        sparse_set_add(&n->fresh, point);
    else if (sparse_set_add(&n->points, point))
        sparse_set_add(&n->fresh, point);
}

// target >= points, which do not belong to it.
static void pass_on(struct points_to *pt, const struct sparse_set *points, uint32_t target)
{
    struct node *n = &pt->nodes.data[target];

    sparse_set_difference(points, is_world(pt, target) ? &pt->escaped : &n->points, &pt->scratch);
    if (sparse_set_is_empty(&pt->scratch))
        return;
    if (!is_world(pt, target))
        sparse_set_union(&n->points, &pt->scratch);
    sparse_set_union(&n->fresh, &pt->scratch);
}

void node_add_edge(struct points_to *pt, uint32_t from, uint32_t to)
{
    from = node_find(pt, from);
    to = node_find(pt, to);
    if (from == to || !sparse_set_add(&pt->nodes.data[from].successors, to))
        return;
    pt->new_edges++;
    pass_on(pt, &pt->nodes.data[from].points, to);
}

// What makes two constraints equal.
struct memo_key constraint_key(struct points_to *pt, uint32_t node, const struct constraint *c)
{
    uint64_t offset = c->kind == CONSTRAINT_STORE ? node_find(pt, c->target) : (uint64_t)c->offset;

    return (struct memo_key){(uint64_t)c->kind << 32 | node_find(pt, node), offset, c->size};
}

static void append_constraints(struct points_to *pt, struct node *node, uint32_t first,
                               uint32_t last, uint32_t count)
{
    if (node->last_constraint)
        pt->constraints.data[node->last_constraint - 1].next = first;
    else
        node->first_constraint = first;
    node->last_constraint = last;
    node->constraint_count += count;
}

// The constraint, and those linked behind it where `all`, have not seen these points. Lists change
// while constraints are applied, so it is noted now which.
static void push_pending(struct points_to *pt, uint32_t first, bool all,
                         const struct sparse_set *points)
{
    struct pending pending = {VEC_INIT, SPARSE_SET_INIT};

    for (uint32_t c = first; c; c = all ? pt->constraints.data[c - 1].next : 0)
        id_vec_push(&pending.constraints, c);
    sparse_set_union(&pending.points, points);
    pending_vec_push(&pt->pending, pending);
}

void node_add_constraint(struct points_to *pt, uint32_t node, struct constraint constraint)
{
    struct node *n = &pt->nodes.data[node_find(pt, node)];
    uint32_t index = (uint32_t)pt->constraints.length + 1;

    constraint.next = 0;
    constraint_vec_push(&pt->constraints, constraint);
    append_constraints(pt, n, index, index, 1);
    if (sparse_set_is_empty(&n->points))
        return;
    push_pending(pt, index, false, &n->points);
}

// ---- Uniting

// The constraints of a node that becomes another: equal ones are left out, their targets united.
static void move_constraints(struct points_to *pt, uint32_t from, uint32_t to,
                             const struct sparse_set *unseen)
{
    struct node *x = &pt->nodes.data[to], *y = &pt->nodes.data[from];
    uint32_t first = 0, last = 0, count = 0;

    for (uint32_t c = y->first_constraint, next; c; c = next) {
        struct constraint *constraint = &pt->constraints.data[c - 1];
        next = constraint->next;
        constraint->next = 0;
        if (constraint->is_pure || constraint->kind == CONSTRAINT_STORE) {
            bool is_new;
            uint32_t *target =
                pt_memo_put_new(&pt->memo, constraint_key(pt, to, constraint), &is_new);
            if (!is_new && constraint->is_pure) {
                id_vec_push(&pt->unites, *target);
                id_vec_push(&pt->unites, constraint->target);
            }
            if (!is_new)
                continue;
            *target = constraint->target;
        }
        if (last)
            pt->constraints.data[last - 1].next = c;
        else
            first = c;
        last = c;
        count++;
    }
    y->first_constraint = y->last_constraint = y->constraint_count = 0;
    if (!first)
        return;
    append_constraints(pt, x, first, last, count);
    if (!sparse_set_is_empty(unseen))
        push_pending(pt, first, true, unseen);
}

static void unite_two(struct points_to *pt, uint32_t a, uint32_t b)
{
    struct sparse_set unseen = SPARSE_SET_INIT;

    a = node_find(pt, a);
    b = node_find(pt, b);
    if (a == b)
        return;
    if (!is_world(pt, a) && (is_world(pt, b) || pt->nodes.data[a].constraint_count <
                                                    pt->nodes.data[b].constraint_count)) {
        uint32_t other = a;
        a = b;
        b = other;
    }
    struct node *x = &pt->nodes.data[a], *y = &pt->nodes.data[b];
    sparse_set_difference(&x->points, &y->points, &unseen);
    struct sparse_set successors = y->successors;
    y->successors = (struct sparse_set)SPARSE_SET_INIT;
    y->parent = a;
    pt->united++;
    SPARSE_SET_FOREACH (&successors, s) {
        uint32_t to = node_find(pt, s);
        if (to != a && !sparse_set_is_empty(&unseen))
            pass_on(pt, &unseen, to);
    }
    move_constraints(pt, b, a, &unseen);
    x = &pt->nodes.data[a];
    y = &pt->nodes.data[b];
    sparse_set_difference(&y->points, &x->points, &unseen);
    sparse_set_union(&x->fresh, &unseen);
    sparse_set_union(&x->fresh, &y->fresh);
    if (!is_world(pt, a))
        sparse_set_union(&x->points, &y->points);
    sparse_set_union(&x->successors, &successors);
    sparse_set_deinit(&successors);
    sparse_set_deinit(&unseen);
    sparse_set_deinit(&y->fresh);
    sparse_set_deinit(&y->points);
}

uint32_t node_unite(struct points_to *pt, uint32_t a, uint32_t b)
{
    id_vec_push(&pt->unites, a);
    id_vec_push(&pt->unites, b);
    if (!pt->is_uniting) {
        pt->is_uniting = true;
        while (pt->unites.length) {
            uint32_t y = id_vec_pop(&pt->unites), x = id_vec_pop(&pt->unites);
            unite_two(pt, x, y);
        }
        pt->is_uniting = false;
    }
    return node_find(pt, a);
}

// ---- Cycles: Tarjan's algorithm without recursion

struct visit {
    uint32_t node, block, next;
};
VEC_DEFINE(visit_vec, struct visit);

struct search {
    uint32_t *number, *low; // number 0: not seen
    struct bitset is_on_stack;
    struct id_vec stack;
    struct visit_vec visits;
    struct id_vec finished; // representatives, sinks first
    uint32_t count;
};

static void search_enter(struct search *search, uint32_t node)
{
    search->number[node] = search->low[node] = ++search->count;
    bitset_set(&search->is_on_stack, node);
    id_vec_push(&search->stack, node);
    visit_vec_push(&search->visits, (struct visit){node, 0, 0});
}

// All edges of the node on top are done.
static void search_leave(struct points_to *pt, struct search *search)
{
    uint32_t node = visit_vec_pop(&search->visits).node, other;

    if (search->visits.length) {
        uint32_t caller = visit_vec_last(&search->visits)->node;
        if (search->low[node] < search->low[caller])
            search->low[caller] = search->low[node];
    }
    if (search->low[node] != search->number[node])
        return;
    uint32_t kept = node;
    do {
        other = id_vec_pop(&search->stack);
        bitset_clear(&search->is_on_stack, other);
        kept = node_unite(pt, kept, other);
    } while (other != node);
    id_vec_push(&search->finished, kept);
}

// Names representatives only, without the node itself.
static void tidy_successors(struct points_to *pt, uint32_t node)
{
    struct sparse_set *successors = &pt->nodes.data[node].successors;
    bool is_tidy = true;

    SPARSE_SET_FOREACH (successors, s)
        is_tidy = is_tidy && pt->nodes.data[s].parent == s && s != node;
    if (is_tidy)
        return;
    struct sparse_set fresh = SPARSE_SET_INIT;
    SPARSE_SET_FOREACH (successors, s) {
        uint32_t to = node_find(pt, s);
        if (to != node)
            sparse_set_add(&fresh, to);
    }
    sparse_set_deinit(successors);
    pt->nodes.data[node].successors = fresh;
}

static void search_from(struct points_to *pt, struct search *search, uint32_t root)
{
    search_enter(search, root);
    while (search->visits.length) {
        struct visit *visit = visit_vec_last(&search->visits);
        uint32_t node = visit->node, next = visit->next;
        if (!sparse_set_next(&pt->nodes.data[node].successors, &visit->block, &next)) {
            search_leave(pt, search);
            continue;
        }
        visit->next = next + 1;
        if (!search->number[next])
            search_enter(search, next);
        else if (bitset_test(&search->is_on_stack, next) &&
                 search->number[next] < search->low[node])
            search->low[node] = search->number[next];
    }
}

/*
 * A shift within a cycle is a walk: the pointer may have moved any number of times. Cycles are
 * those of the copy edges and the shifts together.
 */
static void find_walks(struct points_to *pt);

static void unite_cycles(struct points_to *pt)
{
    uint32_t count = (uint32_t)pt->nodes.length;
    struct search search = {.number = xcalloc(count, sizeof(uint32_t)),
                            .low = xcalloc(count, sizeof(uint32_t))};

    bitset_init(&search.is_on_stack, count);
    for (uint32_t n = 1; n < count; n++)
        if (pt->nodes.data[n].parent == n)
            tidy_successors(pt, n);
    for (uint32_t n = 1; n < count; n++)
        if (pt->nodes.data[n].parent == n && !search.number[n])
            search_from(pt, &search, n);
    id_vec_clear(&pt->order);
    for (size_t i = search.finished.length; i-- > 0;)
        id_vec_push(&pt->order, search.finished.data[i]);
    pt->new_edges = 0;
    find_walks(pt);
    free(search.number);
    free(search.low);
    bitset_deinit(&search.is_on_stack);
    id_vec_deinit(&search.stack);
    visit_vec_deinit(&search.visits);
    id_vec_deinit(&search.finished);
}

static bool is_shift(const struct constraint *constraint)
{
    return constraint->kind == CONSTRAINT_SHIFT && constraint->offset != 0;
}

static void add_shift_edges(struct points_to *pt, struct digraph *graph, uint32_t node)
{
    SPARSE_SET_FOREACH (&pt->nodes.data[node].successors, s)
        digraph_add(graph, node, node_find(pt, s));
    for (uint32_t c = pt->nodes.data[node].first_constraint; c;
         c = pt->constraints.data[c - 1].next)
        if (is_shift(&pt->constraints.data[c - 1]))
            digraph_add(graph, node, node_find(pt, pt->constraints.data[c - 1].target));
}

static void shift_becomes_walk(struct points_to *pt, uint32_t node, uint32_t c)
{
    struct constraint *constraint = &pt->constraints.data[c - 1];

    constraint->kind = CONSTRAINT_WALK;
    constraint->is_pure = false; // the memo knows it as a shift
    if (constraint->offset < 0)
        constraint->offset = -constraint->offset;
    push_pending(pt, c, false, &pt->nodes.data[node].points);
}

static void find_walks(struct points_to *pt)
{
    uint32_t count = (uint32_t)pt->nodes.length;
    struct digraph graph;
    struct components components;

    digraph_init(&graph, count);
    for (uint32_t n = 1; n < count; n++)
        if (pt->nodes.data[n].parent == n) {
            digraph_add(&graph, 0, n); // all can be reached from NODE_NONE
            add_shift_edges(pt, &graph, n);
        }
    digraph_close(&graph);
    components_init(&components, &graph, 0, DIGRAPH_NONE);
    for (uint32_t n = 1; n < count; n++)
        for (uint32_t c = pt->nodes.data[n].parent == n ? pt->nodes.data[n].first_constraint : 0; c;
             c = pt->constraints.data[c - 1].next)
            if (is_shift(&pt->constraints.data[c - 1]) &&
                components.of_node[n] ==
                    components.of_node[node_find(pt, pt->constraints.data[c - 1].target)])
                shift_becomes_walk(pt, n, c);
    components_deinit(&components);
    digraph_deinit(&graph);
}

// ---- Waves

static void apply_call(struct points_to *pt, const struct constraint *constraint,
                       const struct sparse_set *points)
{
    struct sparse_set others = SPARSE_SET_INIT, called = SPARSE_SET_INIT;

    sparse_set_difference(points, &pt->callable, &others);
    sparse_set_difference(points, &others, &called);
    SPARSE_SET_FOREACH (&called, point)
        constraint_apply(pt, constraint, point);
    sparse_set_deinit(&others);
    sparse_set_deinit(&called);
}

static void apply_pending(struct points_to *pt)
{
    while (pt->pending.length) {
        struct pending pending = pending_vec_pop(&pt->pending);
        for (size_t i = 0; i < pending.constraints.length; i++) {
            struct constraint constraint = pt->constraints.data[pending.constraints.data[i] - 1];
            if (pt->budget && budget_is_spent(pt->budget))
                break;
            if (constraint.kind == CONSTRAINT_CALL) {
                apply_call(pt, &constraint, &pending.points);
                continue;
            }
            SPARSE_SET_FOREACH (&pending.points, point)
                constraint_apply(pt, &constraint, point_find(pt, point));
        }
        id_vec_deinit(&pending.constraints);
        sparse_set_deinit(&pending.points);
    }
}

/*
 * What the world holds is not passed on object by object: its own point stands for all that
 * escapes. So the points that get here are seen to and forgotten.
 */
static void visit_world(struct points_to *pt, struct sparse_set *fresh)
{
    SPARSE_SET_FOREACH (fresh, p) {
        uint32_t object = pt->points.data[point_find(pt, p)].object;
        if (object_at(pt, object)->info.kind != OBJECT_FUNCTION)
            object_escape(pt, object);
        else if (!object_at(pt, object)->name)
            world_call(pt, object_at(pt, object)->info.index);
    }
    bool is_new = sparse_set_contains(fresh, WORLD_POINT);
    sparse_set_union(&pt->escaped, fresh);
    sparse_set_clear(fresh);
    if (is_new)
        sparse_set_add(fresh, WORLD_POINT);
}

/*
 * A large set that is copied whole is mostly part of a cycle, or of one to come (Hardekopf and
 * Lin's lazy cycle detection, PLDI 2007, looks there). We do not look: uniting the two is sound,
 * and what is lost is little where so much is held together already.
 */
#define LARGE_SET 256u

static bool are_large_and_same(const struct sparse_set *from, const struct sparse_set *to)
{
    if (from->count != to->count || from->count < LARGE_SET / 32)
        return false;
    uint32_t size = sparse_set_size(from);
    return size >= LARGE_SET && size == sparse_set_size(to);
}

static void visit_node(struct points_to *pt, uint32_t node)
{
    struct sparse_set fresh = pt->nodes.data[node].fresh;

    pt->nodes.data[node].fresh = (struct sparse_set)SPARSE_SET_INIT;
    if (node == node_find(pt, pt->world)) {
        visit_world(pt, &fresh);
        node = node_find(pt, pt->world);
        if (sparse_set_is_empty(&fresh)) {
            sparse_set_deinit(&fresh);
            return;
        }
    }
    if (pt->nodes.data[node].first_constraint)
        push_pending(pt, pt->nodes.data[node].first_constraint, true, &fresh);
    struct id_vec same = VEC_INIT;
    SPARSE_SET_FOREACH (&pt->nodes.data[node].successors, s) {
        uint32_t to = node_find(pt, s);
        if (to == node)
            continue;
        pass_on(pt, &fresh, to);
        if (are_large_and_same(&pt->nodes.data[node].points, &pt->nodes.data[to].points))
            id_vec_push(&same, to);
    }
    for (size_t i = 0; i < same.length; i++)
        node_unite(pt, node, same.data[i]);
    id_vec_deinit(&same);
    sparse_set_deinit(&fresh);
    apply_pending(pt);
}

// Points that are no more become what stands for them; *ret_added: those, as far as they are new.
static void refresh_set(struct points_to *pt, struct sparse_set *set, struct sparse_set *ret_added)
{
    struct sparse_set kept = SPARSE_SET_INIT, gone = SPARSE_SET_INIT, added = SPARSE_SET_INIT;

    sparse_set_difference(set, &pt->stale, &kept);
    sparse_set_difference(set, &kept, &gone);
    SPARSE_SET_FOREACH (&gone, p)
        sparse_set_add(&added, point_find(pt, p));
    sparse_set_deinit(&gone);
    sparse_set_difference(&added, &kept, ret_added);
    sparse_set_union(&kept, &added);
    sparse_set_deinit(&added);
    sparse_set_deinit(set);
    *set = kept;
}

static void refresh_sets(struct points_to *pt)
{
    struct sparse_set added = SPARSE_SET_INIT;

    for (uint32_t n = 1; n < pt->nodes.length; n++) {
        struct node *node = &pt->nodes.data[n];
        if (node->parent != n)
            continue;
        if (sparse_set_intersects(&node->fresh, &pt->stale))
            refresh_set(pt, &node->fresh, &added);
        if (!sparse_set_intersects(&node->points, &pt->stale))
            continue;
        refresh_set(pt, &node->points, &added);
        sparse_set_union(&node->fresh, &added);
    }
    for (size_t i = 0; i < pt->pending.length; i++)
        if (sparse_set_intersects(&pt->pending.data[i].points, &pt->stale))
            refresh_set(pt, &pt->pending.data[i].points, &added);
    sparse_set_deinit(&added);
    sparse_set_clear(&pt->stale);
}

// Does what was put off. Whether that was anything that may have changed a set.
static bool catch_up(struct points_to *pt)
{
    bool any = false;

    while (pt->written.length || pt->pending.length) {
        uint32_t edges = pt->new_edges;
        any |= pt->pending.length > 0;
        windows_serve(pt);
        any |= edges != pt->new_edges;
        apply_pending(pt);
    }
    return any;
}

#define MOST_FOLDS_PUT_OFF 500u

// Ends early when enough has changed to look for cycles and to fold. False: the budget is spent.
static bool wave(struct points_to *pt, bool *ret_changed)
{
    uint32_t most_edges = 10000 + (uint32_t)pt->nodes.length / 10;

    *ret_changed = false;
    for (size_t i = 0; i < pt->order.length; i++) {
        uint32_t node = pt->order.data[i];
        if (pt->nodes.data[node].parent != node || sparse_set_is_empty(&pt->nodes.data[node].fresh))
            continue;
        if (pt->budget && budget_is_spent(pt->budget))
            return false;
        visit_node(pt, node);
        catch_up(pt);
        *ret_changed = true;
        if (pt->new_edges > most_edges || pt->folds.length > MOST_FOLDS_PUT_OFF)
            break;
    }
    return true;
}

#define MOST_WAVES 4u // without a look for cycles

bool solve(struct points_to *pt)
{
    bool changed = true;
    uint32_t waves = 0;

    pt->is_solving = true;
    catch_up(pt);
    pt->new_edges = UINT32_MAX / 2;
    while (changed) {
        if (pt->new_edges > 1000 + pt->nodes.length / 50 || ++waves > MOST_WAVES) {
            unite_cycles(pt);
            waves = 0;
        }
        if (!wave(pt, &changed))
            return false;
        if (pt->folds.length && folds_apply(pt)) {
            refresh_sets(pt);
            changed = true;
        }
        if (changed && clones_merge(pt))
            refresh_sets(pt);
        windows_look_again(pt);
        changed |= catch_up(pt);
    }
    return true;
}
