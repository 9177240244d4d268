// SPDX-License-Identifier: Apache-2.0
// Points-to: the steps. See points_to.h and points_to_internal.h.
#include "analysis/points_to.h"

#include "analysis/points_to_internal.h"
#include "common/budget.h"

static void start(struct points_to *pt)
{
    uint32_t count = pt->model->module_count;
    struct object world = {.kind = OBJECT_WORLD,
                           .module = MODEL_NONE,
                           .index = MODEL_NONE,
                           .context = MODEL_NONE,
                           .escapes = true};

    node_vec_push(&pt->nodes, (struct node){0}); // NODE_NONE
    pt->world = node_create(pt);
    object_create(pt, world);
    point_vec_push(&pt->points, (struct point){.node = pt->world, .is_accessed = true});
    id_vec_push(&object_at(pt, WORLD_OBJECT)->points, WORLD_POINT);
    layout_fold(&object_at(pt, WORLD_OBJECT)->layout, &pt->arena, 0, UINT64_MAX, 1);
    sparse_set_add(&pt->callable, WORLD_POINT);
    node_add_point(pt, pt->world, WORLD_POINT);
    pt->insn_values = xcalloc(count + (size_t)1, sizeof(*pt->insn_values));
    pt->insn_known = xcalloc(count + (size_t)1, sizeof(*pt->insn_known));
    pt->argument_values = xcalloc(count + (size_t)1, sizeof(*pt->argument_values));
    pt->global_values = xcalloc(count + (size_t)1, sizeof(*pt->global_values));
    pt->functions = xcalloc(pt->model->function_count + (size_t)1, sizeof(*pt->functions));
}

static bool has_code(const struct model *model)
{
    for (uint32_t m = 0; m < model->module_count; m++)
        if (!model->modules[m].code)
            return false;
    return true;
}

struct points_to *points_to_create(struct model *model, struct budget *budget)
{
    struct points_to *pt = xcalloc(1, sizeof(*pt));

    assert(model->complete);
    pt->model = model;
    pt->budget = budget;
    if (has_code(model)) {
        resolver_init(&pt->resolver, model);
        start(pt);
        globals_build(pt);
        wrappers_find(pt);
        program_build(pt);
        wrappers_finish(pt);
        roots_build(pt);
        pt->is_complete = !(budget && budget_is_spent(budget)) && solve(pt);
    }
    results_build(pt);
    return pt;
}

bool points_to_is_complete(const struct points_to *pt)
{
    return pt->is_complete;
}

// ---- The end

static void destroy_graph(struct points_to *pt)
{
    for (size_t i = 0; i < pt->nodes.length; i++) {
        sparse_set_deinit(&pt->nodes.data[i].points);
        sparse_set_deinit(&pt->nodes.data[i].fresh);
        sparse_set_deinit(&pt->nodes.data[i].successors);
    }
    for (size_t i = 0; i < pt->objects.length; i++)
        id_vec_deinit(&pt->objects.data[i].points);
    for (size_t i = 0; i < pt->calls.length; i++) {
        sparse_set_deinit(&pt->calls.data[i].done);
        id_vec_deinit(&pt->calls.data[i].functions);
        id_vec_deinit(&pt->calls.data[i].wrappers);
    }
    node_vec_deinit(&pt->nodes);
    pt_object_vec_deinit(&pt->objects);
    pt_call_vec_deinit(&pt->calls);
    point_vec_deinit(&pt->points);
    window_vec_deinit(&pt->windows);
    fold_vec_deinit(&pt->folds);
    sparse_set_deinit(&pt->stale);
    sparse_set_deinit(&pt->escaped);
    sparse_set_deinit(&pt->callable);
    sparse_set_deinit(&pt->scratch);
    id_vec_deinit(&pt->written);
    id_vec_deinit(&pt->empty);
    id_vec_deinit(&pt->order);
    id_vec_deinit(&pt->call_arguments);
    constraint_vec_deinit(&pt->constraints);
    for (size_t i = 0; i < pt->pending.length; i++) {
        id_vec_deinit(&pt->pending.data[i].constraints);
        sparse_set_deinit(&pt->pending.data[i].points);
    }
    pending_vec_deinit(&pt->pending);
    id_vec_deinit(&pt->unites);
}

static void destroy_tables(struct points_to *pt)
{
    for (uint32_t m = 0; pt->insn_values && m < pt->model->module_count; m++) {
        free(pt->insn_values[m]);
        free(pt->insn_known[m]);
        free(pt->argument_values[m]);
        free(pt->global_values[m]);
        bitset_deinit(&pt->complex[m]);
        bitset_deinit(&pt->returned_insns[m]);
    }
    for (uint32_t f = 0; pt->functions && f < pt->model->function_count; f++) {
        id_vec_deinit(&pt->functions[f].contexts);
        id_vec_deinit(&pt->functions[f].returned);
    }
    free(pt->insn_values);
    free(pt->insn_known);
    free(pt->argument_values);
    free(pt->global_values);
    free(pt->complex);
    free(pt->returned_insns);
    free(pt->functions);
    plain_vec_deinit(&pt->plains);
    pt_map_deinit(&pt->call_of_insn);
    pt_map_deinit(&pt->function_objects);
    pt_memo_deinit(&pt->memo);
    pt_memo_deinit(&pt->wanted);
    pt_names_deinit(&pt->library_objects);
    pt_names_deinit(&pt->variable_objects);
}

void points_to_destroy(struct points_to *pt)
{
    if (!pt)
        return;
    results_destroy(pt->results);
    if (pt->functions)
        resolver_deinit(&pt->resolver);
    destroy_graph(pt);
    destroy_tables(pt);
    arena_deinit(&pt->arena);
    free(pt);
}
