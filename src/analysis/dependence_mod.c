// SPDX-License-Identifier: Apache-2.0
/*
 * What calls of functions may write and read (mod and ref), a component of the call graph at a
 * time, from the last to the first, for what the function asked about reaches.
 *
 * A function's own locals are left out where nothing of them is left when it ends: those whose
 * address stays, whatever the function; any of a function that is active once. (In a recursive one
 * a local that others hold the address of may be an outer activation's.)
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence_internal.h"
#include "common/alloc.h"

VEC_DEFINE(node_id_vec, uint32_t);

struct scratch {
    struct dependence *dependence;
    struct bitset mod, ref;      // by class
    struct bitset reads, writes; // by set: already taken for this function
    uint32_t *first_member;      // by component: graph nodes, in a list
    uint32_t *next_member;       // by graph node
};

static void take_set(const struct classes *classes, uint32_t set, struct bitset *seen,
                     struct bitset *into, uint32_t function)
{
    struct class_set ids = classes->sets.data[set].classes;

    if (bitset_test_and_set(seen, set))
        return;
    for (uint32_t i = 0; i < ids.count; i++) {
        const struct memory_class *class = &classes->list.data[ids.data[i].value];
        if (class->owner != function || !class->stays)
            bitset_set(into, ids.data[i].value);
    }
}

static void take_function(struct scratch *scratch, uint32_t function)
{
    const struct dependence *dependence = scratch->dependence;
    const struct model_function *f = &dependence->model->functions[function];

    bitset_clear_all(&scratch->reads);
    bitset_clear_all(&scratch->writes);
    for (uint32_t n = f->first_node; n < f->first_node + f->node_count; n++) {
        uint32_t end, i = node_first_insn(dependence, (struct node_id){n}, &end).value;
        for (; i < end; i++) {
            const struct access_triple *triple = access_of(dependence, (struct insn_id){i});
            take_set(&dependence->classes, triple->reads, &scratch->reads, &scratch->ref, function);
            take_set(&dependence->classes, triple->writes, &scratch->writes, &scratch->mod,
                     function);
        }
    }
}

static void take_sparse(const struct sparse_set *from, struct bitset *into)
{
    SPARSE_SET_FOREACH (from, id)
        bitset_set(into, id);
}

// What is kept of them, without the locals of a function that is alone in its component.
static void give_sparse(const struct classes *classes, struct bitset *from, uint32_t function,
                        struct sparse_set *ret)
{
    for (size_t id = bitset_next(from, 0); id < from->size; id = bitset_next(from, id + 1)) {
        const struct memory_class *class = &classes->list.data[id];
        if (function == MODEL_NONE || class->owner != function || !class->dies)
            sparse_set_add(ret, (uint32_t)id);
    }
    bitset_clear_all(from);
}

static void compute(struct scratch *scratch, uint32_t component)
{
    struct dependence *dependence = scratch->dependence;
    const struct call_graph *calls = &dependence->calls;
    struct component_effects *effects = &dependence->effects[component];
    uint32_t alone = MODEL_NONE;

    for (uint32_t n = scratch->first_member[component]; n != DIGRAPH_NONE;
         n = scratch->next_member[n]) {
        bool is_function = n < dependence->model->function_count;
        if (is_function)
            take_function(scratch, n);
        if (is_function && !calls->components.is_cyclic[component])
            alone = n;
        for (uint32_t e = calls->graph.start[n]; e < calls->graph.start[n + 1]; e++) {
            uint32_t next = calls->components.of_node[calls->graph.target[e]];
            if (next == component)
                continue;
            assert(dependence->effects[next].is_known);
            take_sparse(&dependence->effects[next].mod, &scratch->mod);
            take_sparse(&dependence->effects[next].ref, &scratch->ref);
        }
    }
    give_sparse(&dependence->classes, &scratch->mod, alone, &effects->mod);
    give_sparse(&dependence->classes, &scratch->ref, alone, &effects->ref);
    effects->is_known = true;
}

static int compare_down(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

// The components that are reachable and not known yet, the last first.
static void collect(struct scratch *scratch, uint32_t node, struct node_id_vec *ret)
{
    struct dependence *dependence = scratch->dependence;
    const struct call_graph *calls = &dependence->calls;
    struct node_id_vec work = VEC_INIT;
    struct bitset seen;

    bitset_init(&seen, calls->graph.count);
    bitset_set(&seen, node);
    node_id_vec_push(&work, node);
    while (work.length) {
        uint32_t n = node_id_vec_pop(&work), component = calls->components.of_node[n];
        if (scratch->first_member[component] == DIGRAPH_NONE)
            node_id_vec_push(ret, component);
        scratch->next_member[n] = scratch->first_member[component];
        scratch->first_member[component] = n;
        for (uint32_t e = calls->graph.start[n]; e < calls->graph.start[n + 1]; e++) {
            uint32_t next = calls->graph.target[e];
            if (!dependence->effects[calls->components.of_node[next]].is_known &&
                !bitset_test_and_set(&seen, next))
                node_id_vec_push(&work, next);
        }
    }
    qsort(ret->data, ret->length, sizeof(*ret->data), compare_down);
    node_id_vec_deinit(&work);
    bitset_deinit(&seen);
}

const struct component_effects *effects_get(struct dependence *dependence, uint32_t node)
{
    const struct call_graph *calls = &dependence->calls;
    struct component_effects *effects = &dependence->effects[calls->components.of_node[node]];
    struct scratch scratch = {.dependence = dependence};
    struct node_id_vec components = VEC_INIT;

    if (effects->is_known)
        return effects;
    bitset_init(&scratch.mod, dependence->classes.list.length);
    bitset_init(&scratch.ref, dependence->classes.list.length);
    bitset_init(&scratch.reads, dependence->classes.sets.length);
    bitset_init(&scratch.writes, dependence->classes.sets.length);
    scratch.first_member = xmalloc_array(calls->components.count, sizeof(uint32_t));
    memset(scratch.first_member, 0xff, calls->components.count * sizeof(uint32_t));
    scratch.next_member = xmalloc_array(calls->graph.count, sizeof(uint32_t));
    collect(&scratch, node, &components);
    for (size_t i = 0; i < components.length; i++)
        compute(&scratch, components.data[i]);
    node_id_vec_deinit(&components);
    bitset_deinit(&scratch.mod);
    bitset_deinit(&scratch.ref);
    bitset_deinit(&scratch.reads);
    bitset_deinit(&scratch.writes);
    free(scratch.first_member);
    free(scratch.next_member);
    return effects;
}

bool effects_meet(const struct sparse_set *set, struct class_id id)
{
    if (sparse_set_is_empty(set))
        return false;
    return id.value == CLASS_ANYTHING || sparse_set_contains(set, CLASS_ANYTHING) ||
           sparse_set_contains(set, id.value);
}

static struct class_set list_of(struct arena *arena, const struct sparse_set *set)
{
    struct class_id *data = arena_alloc_array(arena, sparse_set_size(set) + 1u, struct class_id);
    uint32_t count = 0;

    SPARSE_SET_FOREACH (set, id)
        data[count++].value = id;
    return (struct class_set){data, count};
}

static const struct component_effects *with_lists(struct dependence *dependence,
                                                  struct function_id function)
{
    assert(function.value < dependence->model->function_count);
    struct component_effects *effects =
        (struct component_effects *)effects_get(dependence, function.value);
    if (!effects->has_lists) {
        effects->mod_list = list_of(&dependence->arena, &effects->mod);
        effects->ref_list = list_of(&dependence->arena, &effects->ref);
        effects->has_lists = true;
    }
    return effects;
}

struct class_set dependence_mod(struct dependence *dependence, struct function_id function)
{
    return with_lists(dependence, function)->mod_list;
}

struct class_set dependence_ref(struct dependence *dependence, struct function_id function)
{
    return with_lists(dependence, function)->ref_list;
}

void effects_deinit(struct dependence *dependence)
{
    for (uint32_t c = 0; c < dependence->calls.components.count; c++) {
        sparse_set_deinit(&dependence->effects[c].mod);
        sparse_set_deinit(&dependence->effects[c].ref);
    }
    free(dependence->effects);
}
