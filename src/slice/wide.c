// SPDX-License-Identifier: Apache-2.0
/*
 * Classes that calls of many functions may write, such as the fields of the objects that a program
 * is about. To follow what each call does to each of them costs functions times classes, and tells
 * little: nearly every call may write them. Within an activation they are followed as any class is;
 * beyond its calls and its entry, whoever may write one at any time counts. It depends on the
 * program alone which classes these are, so that slices of the same program can be compared.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "slice/graph.h"

// A class that calls of more functions than this may write is wide.
#define WIDE_FUNCTIONS 16u

MAP_DEFINE_U64(set_map, uint32_t);

static void add_writer(struct slicer *slicer, struct set_map *sets, struct class_set set,
                       struct insn_id insn)
{
    struct writers_vec *writers = &slicer->writers;
    bool is_new;

    if (!set.count)
        return;
    uint32_t *index = set_map_put_new(sets, (uint64_t)(uintptr_t)set.data, &is_new);
    if (is_new) {
        *index = (uint32_t)writers->length;
        writers_vec_push(writers, (struct writers){.classes = set});
    }
    insn_vec_push(&writers->data[*index].insns, insn);
}

// By class: the sets of writers that have it. Class 0 is anything: whoever has it has all.
static void index_writers(struct slicer *slicer, uint32_t classes)
{
    uint32_t *start = xcalloc(classes + 2u, sizeof(*start));

    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t w = 0; w < slicer->writers.length; w++) {
            struct class_set set = slicer->writers.data[w].classes;

            for (uint32_t i = 0; i < set.count; i++)
                if (pass == 0)
                    start[set.data[i].value + 2]++;
                else
                    slicer->writers_of[start[set.data[i].value + 1]++] = w;
        }
        if (pass == 1)
            break;
        for (uint32_t c = 0; c < classes; c++)
            start[c + 2] += start[c + 1];
        slicer->writers_of = xmalloc_array(start[classes + 1] + (size_t)1, sizeof(uint32_t));
    }
    slicer->writers_start = start;
}

// How many functions there are whose calls may write it, up to one more than matters.
static void count_functions(struct slicer *slicer, uint32_t *count)
{
    const struct model *model = slicer->model;
    struct set_map seen = MAP_INIT; // functions that call each other have one set

    for (uint32_t f = 0; f < model->function_count; f++) {
        struct class_set mod = dependence_mod(slicer->dependence, (struct function_id){f});
        uint32_t *times = set_map_put(&seen, (uint64_t)(uintptr_t)mod.data);

        if (!mod.count || (*times)++ > WIDE_FUNCTIONS)
            continue;
        for (uint32_t i = 0; i < mod.count; i++)
            count[mod.data[i].value]++;
    }
    set_map_deinit(&seen);
}

void slicer_find_wide(struct slicer *slicer)
{
    uint32_t classes = dependence_class_count(slicer->dependence);
    uint32_t *count = xcalloc(classes + 1u, sizeof(*count));
    struct set_map sets = MAP_INIT; // by address: index in writers

    count_functions(slicer, count);
    for (uint32_t i = 0; i < dependence_insn_count(slicer->dependence); i++)
        add_writer(slicer, &sets,
                   dependence_accesses(slicer->dependence, (struct insn_id){i}).writes,
                   (struct insn_id){i});
    bitset_init(&slicer->wide, classes);
    for (uint32_t c = 0; c < classes; c++)
        if (count[c] > WIDE_FUNCTIONS)
            bitset_set(&slicer->wide, c);
    bitset_set(&slicer->wide, 0); // anything
    index_writers(slicer, classes);
    free(count);
    set_map_deinit(&sets);
}
