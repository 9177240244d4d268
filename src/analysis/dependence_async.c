// SPDX-License-Identifier: Apache-2.0
/*
 * Threads and signal handlers may read and write at any time. The functions that roots of these
 * kinds reach are *aside*. Beside a function that is not aside only these can be at work; beside
 * one that is, all functions can. Locals whose address stays in their activation are nobody else's.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence_internal.h"
#include "common/alloc.h"

// By set: the instructions that read it (side 0) or write it.
static void index_insns(struct dependence *dependence, uint32_t side)
{
    const struct classes *classes = &dependence->classes;
    uint32_t sets = (uint32_t)classes->sets.length, insns = dependence_insn_count(dependence);
    uint32_t *start = xcalloc(sets + 2u, sizeof(*start));

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < insns; i++) {
            const struct access_triple *triple = access_of(dependence, (struct insn_id){i});
            uint32_t set = side ? triple->writes : triple->reads;
            if (set == SET_EMPTY)
                continue;
            if (pass == 0)
                start[set + 2]++;
            else
                dependence->async.insns[side][start[set + 1]++].value = i;
        }
        for (uint32_t s = 0; pass == 0 && s < sets; s++)
            start[s + 2] += start[s + 1];
        if (pass == 0)
            dependence->async.insns[side] =
                xmalloc_array(start[sets + 1] + 1u, sizeof(struct insn_id));
    }
    dependence->async.set_start[side] = start;
}

// By class: the sets that hold it.
static void index_sets(struct dependence *dependence)
{
    const struct classes *classes = &dependence->classes;
    uint32_t count = (uint32_t)classes->list.length;
    uint32_t *start = xcalloc(count + 2u, sizeof(*start));

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t s = 0; s < classes->sets.length; s++)
            for (uint32_t i = 0; i < classes->sets.data[s].classes.count; i++) {
                uint32_t class = classes->sets.data[s].classes.data[i].value;
                if (pass == 0)
                    start[class + 2]++;
                else
                    dependence->async.sets[start[class + 1]++] = s;
            }
        for (uint32_t c = 0; pass == 0 && c < count; c++)
            start[c + 2] += start[c + 1];
        if (pass == 0)
            dependence->async.sets = xmalloc_array(start[count + 1] + 1u, sizeof(uint32_t));
    }
    dependence->async.class_start = start;
}

static void take_set(struct dependence *dependence, uint32_t set, bool writes, bool only_aside,
                     struct insn_vec *ret)
{
    const struct async_index *index = &dependence->async;
    const uint32_t *start = index->set_start[writes];

    for (uint32_t i = start[set]; i < start[set + 1]; i++) {
        struct insn_id insn = index->insns[writes][i];
        struct function_id function =
            model_node(dependence->model, dependence_insn_node(dependence, insn))->function;
        if (!only_aside || bitset_test(&dependence->calls.aside, function.value))
            insn_vec_push(ret, insn);
    }
}

static struct insn_list make_list(struct dependence *dependence, struct class_id id, bool writes,
                                  bool only_aside)
{
    const struct async_index *index = &dependence->async;
    struct insn_vec insns = VEC_INIT;

    if (id.value == CLASS_ANYTHING) {
        for (uint32_t s = 0; s < dependence->classes.sets.length; s++)
            take_set(dependence, s, writes, only_aside, &insns);
    } else {
        for (uint32_t i = index->class_start[id.value]; i < index->class_start[id.value + 1]; i++)
            take_set(dependence, index->sets[i], writes, only_aside, &insns);
        take_set(dependence, SET_ANYTHING, writes, only_aside, &insns);
    }
    insn_vec_sort(&insns);
    struct insn_list list = {NULL, (uint32_t)insns.length};
    if (insns.length)
        list.data =
            arena_memdup(&dependence->arena, insns.data, insns.length * sizeof(*insns.data));
    insn_vec_deinit(&insns);
    return list;
}

struct insn_list async_list(struct dependence *dependence, struct function_id function,
                            struct class_id id, bool writes)
{
    if (!dependence->calls.is_threaded || dependence->classes.list.data[id.value].stays)
        return (struct insn_list){NULL, 0};
    bool only_aside = !bitset_test(&dependence->calls.aside, function.value);
    struct insn_list_map *lists = &dependence->async_lists[only_aside * 2 + writes];
    const struct insn_list *known = insn_list_map_get(lists, id.value);
    if (known)
        return *known;
    if (!dependence->async.is_built) {
        index_insns(dependence, 0);
        index_insns(dependence, 1);
        index_sets(dependence);
        dependence->async.is_built = true;
    }
    return *insn_list_map_put(lists, id.value) = make_list(dependence, id, writes, only_aside);
}

void async_deinit(struct async_index *index)
{
    for (int side = 0; side < 2; side++) {
        free(index->set_start[side]);
        free(index->insns[side]);
    }
    free(index->class_start);
    free(index->sets);
}
