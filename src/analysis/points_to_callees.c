// SPDX-License-Identifier: Apache-2.0
// The narrowed call graph, and which objects there is but one of.
#include <stdlib.h>
#include <string.h>

#include "analysis/digraph.h"
#include "analysis/points_to_result.h"

// ---- Objects of which there is one at a time

// Functions that may run while others do: threads, handlers, whatever model-less code calls.
static bool runs_aside(const struct points_to *pt, const struct pt_call *call)
{
    if (!call->is_callback || call->site == MODEL_NONE)
        return false;
    return (pt->model->sites[call->site].flags & (SITE_THREAD_START | SITE_SIGNAL_SETUP)) != 0;
}

static void add_call_edges(const struct points_to *pt, struct digraph *graph, uint32_t aside)
{
    uint32_t world = aside + 1, root = aside + 2;

    for (uint32_t f = 0; f < aside; f++) {
        digraph_add(graph, root, f);
        if (pt->functions[f].is_called_by_world)
            digraph_add(graph, world, f);
    }
    digraph_add(graph, root, aside);
    digraph_add(graph, aside, world); // it may have threads
    for (size_t i = 0; i < pt->calls.length; i++) {
        const struct pt_call *call = &pt->calls.data[i];
        if (call->is_unclear)
            digraph_add(graph, call->caller, world);
        for (size_t k = 0; k < call->functions.length; k++) {
            digraph_add(graph, call->caller, call->functions.data[k]);
            if (runs_aside(pt, call))
                digraph_add(graph, aside, call->functions.data[k]);
        }
    }
    digraph_close(graph);
}

void singles_find(struct points_to *pt)
{
    uint32_t count = pt->model->function_count;
    struct digraph graph;
    struct components all, aside;

    digraph_init(&graph, count + 3);
    add_call_edges(pt, &graph, count);
    components_init(&all, &graph, count + 2, DIGRAPH_NONE);
    components_init(&aside, &graph, count, DIGRAPH_NONE);
    for (size_t o = 0; o < pt->results->objects.length; o++) {
        struct object *object = &pt->results->objects.data[o];
        const struct code *code =
            object->module == MODEL_NONE ? NULL : pt->model->modules[object->module].code;
        uint32_t function;
        if (object->kind == OBJECT_LOCAL && object->size)
            function = code->nodes[code->insns[object->index].node].function;
        else if (object->kind == OBJECT_BYVAL)
            function = code->arguments[object->index].function;
        else
            continue;
        function += pt->model->modules[object->module].first_function;
        object->is_single =
            !all.is_cyclic[all.of_node[function]] && aside.of_node[function] == DIGRAPH_NONE;
    }
    components_deinit(&all);
    components_deinit(&aside);
    digraph_deinit(&graph);
}

// ---- The table

VEC_DEFINE(function_vec, struct function_id);

struct table {
    const struct points_to *pt;
    struct function_vec members;
    struct id_vec starts;
    struct pt_memo known;                     // hash and length -> set
    struct function_vec *callees, *callbacks; // by site
    struct bitset unclear_callees, unclear_callbacks;
};

static int compare_functions(const void *a, const void *b)
{
    const struct function_id *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

static void sort_unique(struct function_vec *set)
{
    size_t kept = 0;

    if (set->length)
        qsort(set->data, set->length, sizeof(*set->data), compare_functions);
    for (size_t i = 0; i < set->length; i++)
        if (kept == 0 || set->data[kept - 1].value != set->data[i].value)
            set->data[kept++] = set->data[i];
    set->length = kept;
}

static uint32_t add_set(struct table *table, const struct function_id *data, size_t count)
{
    uint64_t hash = count ? hash_bytes(HASH_SEED, data, count * sizeof(*data)) : 0;

    for (uint32_t attempt = 0;; attempt++) {
        bool is_new;
        uint32_t *set =
            pt_memo_put_new(&table->known, (struct memo_key){hash, count, attempt}, &is_new);
        if (!is_new) {
            uint32_t start = table->starts.data[*set];
            if (count == 0 || memcmp(table->members.data + start, data, count * sizeof(*data)) == 0)
                return *set;
            continue;
        }
        *set = (uint32_t)table->starts.length - 1;
        uint32_t id = *set;
        function_vec_append(&table->members, data, count);
        id_vec_push(&table->starts, (uint32_t)table->members.length);
        return id;
    }
}

// Those of the set that the model has, too.
static void restrict_to(struct function_vec *set, struct function_list allowed)
{
    size_t kept = 0;
    uint32_t at = 0;

    sort_unique(set);
    for (size_t i = 0; i < set->length; i++) {
        while (at < allowed.count && allowed.data[at].value < set->data[i].value)
            at++;
        if (at < allowed.count && allowed.data[at].value == set->data[i].value)
            set->data[kept++] = set->data[i];
    }
    set->length = kept;
}

// What this library function may call besides what effects say; false: not clear.
static bool library_calls(struct table *table, uint32_t site, const char *name)
{
    const struct library_function *library = library_find(name);
    const struct model *model = table->pt->model;

    if (!library || library->kind == LIBRARY_OPEN ||
        library->flags & (LIBRARY_EXITS | LIBRARY_LOADS | LIBRARY_HOOKS | LIBRARY_HANDS_OUT))
        return false;
    if (library->kind == LIBRARY_PURE)
        return true;
    struct function_list allowed = model_callbacks(model, (struct site_id){site});
    for (uint32_t i = 0; i < allowed.count; i++)
        if (library_is_replaceable(model->functions[allowed.data[i].value].name))
            function_vec_push(&table->callbacks[site], allowed.data[i]);
    return true;
}

static void collect_call(struct table *table, const struct pt_call *call)
{
    const struct points_to *pt = table->pt;
    struct function_vec *into =
        call->is_callback ? &table->callbacks[call->site] : &table->callees[call->site];

    for (size_t i = 0; i < call->functions.length; i++)
        function_vec_push(into, (struct function_id){call->functions.data[i]});
    if (call->is_unclear) {
        bitset_set(&table->unclear_callbacks, call->site);
        if (!call->is_callback)
            bitset_set(&table->unclear_callees, call->site);
    }
    SPARSE_SET_FOREACH (&call->done, object) {
        const char *name = object_at(pt, object)->name;
        if (name && !library_calls(table, call->site, name))
            bitset_set(&table->unclear_callbacks, call->site);
    }
}

static bool has_hooks(const struct points_to *pt)
{
    for (uint32_t m = 0; m < pt->model->module_count; m++) {
        const struct code *code = pt->model->modules[m].code;
        for (uint32_t g = 0; g < code->globals_count; g++) {
            const struct library_function *library =
                code->globals[g].kind == GLOBAL_FUNCTION && code->globals[g].target == CODE_NONE
                    ? library_find(code_string(code, code->globals[g].name))
                    : NULL;
            if (library && library->flags & LIBRARY_HOOKS)
                return true;
        }
    }
    return false;
}

static uint32_t narrowed(struct table *table, struct function_vec *set, struct function_list model,
                         bool is_unclear)
{
    if (is_unclear)
        return add_set(table, model.data, model.count);
    restrict_to(set, model);
    return add_set(table, set->data, set->length);
}

static void fill(struct table *table, struct callee_table *ret)
{
    const struct model *model = table->pt->model;
    bool hooks = has_hooks(table->pt);

    for (uint32_t s = 0; s < model->site_count; s++) {
        struct site_id site = {s};
        uint32_t flags = model->sites[s].flags;
        bool plain = !(flags & SITE_INDIRECT) || flags & SITE_IFUNC;
        ret->callees_of_site[s] = narrowed(table, &table->callees[s], model_callees(model, site),
                                           plain || bitset_test(&table->unclear_callees, s));
        ret->callbacks_of_site[s] =
            narrowed(table, &table->callbacks[s], model_callbacks(model, site),
                     hooks || flags & SITE_IFUNC || bitset_test(&table->unclear_callbacks, s));
    }
}

void points_to_callees(const struct points_to *pt, struct callee_table *ret)
{
    const struct model *model = pt->model;
    size_t sites = model->site_count + (size_t)1;
    struct table table = {.pt = pt,
                          .callees = xcalloc(sites, sizeof(struct function_vec)),
                          .callbacks = xcalloc(sites, sizeof(struct function_vec))};

    bitset_init(&table.unclear_callees, sites);
    bitset_init(&table.unclear_callbacks, sites);
    if (!pt->is_complete) {
        bitset_set_all(&table.unclear_callees);
        bitset_set_all(&table.unclear_callbacks);
    }
    function_vec_reserve(&table.members, 1);
    id_vec_push(&table.starts, 0);
    add_set(&table, NULL, 0);
    for (size_t i = 0; pt->is_complete && i < pt->calls.length; i++)
        if (pt->calls.data[i].site != MODEL_NONE)
            collect_call(&table, &pt->calls.data[i]);
    *ret = (struct callee_table){.callees_of_site = xcalloc(sites, sizeof(uint32_t)),
                                 .callbacks_of_site = xcalloc(sites, sizeof(uint32_t))};
    fill(&table, ret);
    ret->set_count = (uint32_t)table.starts.length - 1;
    ret->set_start = id_vec_steal(&table.starts);
    ret->members = function_vec_steal(&table.members);
    for (size_t s = 0; s < sites; s++) {
        function_vec_deinit(&table.callees[s]);
        function_vec_deinit(&table.callbacks[s]);
    }
    free(table.callees);
    free(table.callbacks);
    pt_memo_deinit(&table.known);
    bitset_deinit(&table.unclear_callees);
    bitset_deinit(&table.unclear_callbacks);
}
