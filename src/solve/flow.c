// SPDX-License-Identifier: Apache-2.0
#include "solve/flow.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/vec.h"
#include "program/library.h"
#include "program/model.h"

#include "common/map.h"

VEC_DEFINE(flow_edge_vec, struct flow_edge);
MAP_DEFINE_U64(flow_set_map, uint32_t);
VEC_DEFINE(flow_id_vec, uint32_t);

struct builder {
    const struct model *model;
    struct flow *flow;
    struct flow_edge_vec edges;
    struct flow_id_vec members, set_start;
    struct flow_set_map sets; // by the model's sets of callees and callbacks
    uint32_t *library_of_set; // by set of callbacks: the function that stands for it
    struct flow_id_vec first; // roots that run before or after main
    struct flow_id_vec last;  // and those that only run after it
    struct flow_id_vec mains, threads, handlers, assembly;
    uint32_t *landing_start;    // by function + 1: its landings in `landing`
    uint32_t *landing;          // nodes that jumps lead to
    uint32_t assembly_function; // calls what assembly names; FLOW_NONE
    bool has_landing_pads, has_jumps, has_vfork;
};

static void sort_unique(struct flow_id_vec *ids)
{
    size_t kept = 0;

    for (size_t i = 1; i < ids->length; i++) // nearly sorted: roots are
        for (size_t k = i; k > 0 && ids->data[k - 1] > ids->data[k]; k--) {
            uint32_t other = ids->data[k];
            ids->data[k] = ids->data[k - 1];
            ids->data[k - 1] = other;
        }
    for (size_t i = 0; i < ids->length; i++)
        if (i == 0 || ids->data[i] != ids->data[i - 1])
            ids->data[kept++] = ids->data[i];
    ids->length = kept;
}

// Does any library code call what it is given?
static bool has_callbacks(const struct model *model)
{
    for (uint32_t s = 0; s < model->site_count; s++)
        if (model->sites[s].flags & SITE_CALLS_BACK)
            return true;
    return false;
}

// Which of the lists of roots a reason puts a function on.
static void collect_roots(struct builder *builder)
{
    const struct model *model = builder->model;
    bool calls_back = has_callbacks(model);

    for (uint32_t r = 0; r < model->root_count; r++) {
        uint32_t function = model->roots[r].function.value;

        switch (model->roots[r].reason) {
        case ROOT_MAIN:
            flow_id_vec_push(&builder->mains, function);
            continue;
        case ROOT_SIGNAL:
            flow_id_vec_push(&builder->handlers, function);
            continue;
        case ROOT_ESCAPED:
            // before main nobody has been given them, but for constructors, whose calls say so
            if (calls_back)
                flow_id_vec_push(&builder->last, function);
            break;
        case ROOT_THREAD:
            break;
        case ROOT_ASSEMBLY:
            flow_id_vec_push(&builder->assembly, function);
            flow_id_vec_push(&builder->first, function);
            break;
        default:
            flow_id_vec_push(&builder->first, function);
        }
        flow_id_vec_push(&builder->threads, function);
    }
    sort_unique(&builder->mains);
    sort_unique(&builder->handlers);
    sort_unique(&builder->assembly);
    sort_unique(&builder->first);
    flow_id_vec_append(&builder->last, builder->first.data, builder->first.length);
    sort_unique(&builder->last);
    sort_unique(&builder->threads);
}

// Where jumps lead to when they land at this node: behind its call, or back into it.
static struct node_list landings_at(const struct model *model, const struct node_id *node)
{
    const struct model_node *n = model_node(model, *node);

    if (n->site.value != MODEL_NONE && model_site(model, n->site)->flags & SITE_RETURNS_TWICE)
        return model_successors(model, *node);
    return (struct node_list){node, n->flags & NODE_SETJMP ? 1 : 0};
}

// All of them, by function.
static void collect_landings(struct builder *builder)
{
    const struct model *model = builder->model;

    builder->landing_start = xcalloc(model->function_count + 2u, sizeof(uint32_t));
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < model->node_count; n++) {
            struct node_id node = {n};
            struct node_list to = landings_at(model, &node);
            uint32_t function = model->nodes[n].function.value;

            for (uint32_t k = 0; k < to.count; k++) {
                if (pass == 0)
                    builder->landing_start[function + 2]++;
                else
                    builder->landing[builder->landing_start[function + 1]++] = to.data[k].value;
            }
        }
        for (uint32_t f = 0; pass == 0 && f < model->function_count; f++)
            builder->landing_start[f + 2] += builder->landing_start[f + 1];
        if (pass == 0)
            builder->landing = xmalloc_array(builder->landing_start[model->function_count + 1] + 1u,
                                             sizeof(uint32_t));
    }
}

static bool calls_name(const struct model_site *site, const char *const *names)
{
    for (; site->callee && *names; names++)
        if (strcmp(site->callee, *names) == 0)
            return true;
    return false;
}

// What may leave frames by a jump at all. After vfork the parent goes on once the child is gone.
static void collect_jumps(struct builder *builder)
{
    const struct model *model = builder->model;
    static const char *const vforks[] = {"vfork", "__vfork", NULL};

    for (uint32_t n = 0; n < model->node_count; n++)
        builder->has_landing_pads |= (model->nodes[n].flags & NODE_LANDING) != 0;
    for (uint32_t l = 0; l < model->landing_count; l++)
        builder->has_vfork |= calls_name(model_site(model, model->landings[l]), vforks);
    builder->has_jumps =
        builder->has_landing_pads || builder->landing_start[model->function_count] > 0;
    builder->flow->has_jumps = builder->has_jumps;
}

static bool site_jumps(const struct builder *builder, const struct model_site *site)
{
    static const char *const ends[] = {"_exit",    "_Exit",   "execl",  "execle",  "execlp",
                                       "execv",    "execve",  "execvp", "execvpe", "fexecve",
                                       "execveat", "syscall", NULL};

    if (!builder->has_jumps)
        return false;
    return site->flags & (SITE_LONGJMP | SITE_MAY_LONGJMP) ||
           (builder->has_landing_pads && site->flags & SITE_EXTERNAL &&
            !(site->flags & SITE_NOUNWIND)) ||
           (builder->has_vfork && (calls_name(site, ends) || site->flags & SITE_EXITS));
}

static void push_members(struct builder *builder, struct function_list list)
{
    for (uint32_t i = 0; i < list.count; i++)
        flow_id_vec_push(&builder->members, list.data[i].value);
}

// The set of what has been pushed since the last one; 0 when nothing was.
static uint32_t close_set(struct builder *builder)
{
    uint32_t last = builder->set_start.data[builder->set_start.length - 1];

    if (last == builder->members.length)
        return 0;
    flow_id_vec_push(&builder->set_start, (uint32_t)builder->members.length);
    return (uint32_t)builder->set_start.length - 2;
}

// What a node may call: its site's callees, library code, what assembly in it names. MODEL_NONE: it
// has no site.
static uint32_t set_of_node(struct builder *builder, struct site_id site, bool has_assembly)
{
    const struct callee_table *table = &builder->model->callees;
    bool calls = site.value != MODEL_NONE;
    uint32_t callees = calls ? table->callees_of_site[site.value] : 0;
    uint32_t callbacks = calls && builder->model->sites[site.value].flags & SITE_CALLS_BACK
                             ? table->callbacks_of_site[site.value]
                             : 0;
    has_assembly &= builder->assembly_function != FLOW_NONE;
    uint64_t key = (uint64_t)callees << 32 | (uint64_t)has_assembly << 31 | callbacks;
    uint32_t *found = flow_set_map_get(&builder->sets, key);

    if (found)
        return *found;
    push_members(builder, callee_table_set(table, callees));
    if (callbacks) {
        if (builder->library_of_set[callbacks] == FLOW_NONE)
            builder->library_of_set[callbacks] = builder->flow->function_count++;
        flow_id_vec_push(&builder->members, builder->library_of_set[callbacks]);
    }
    if (has_assembly)
        flow_id_vec_push(&builder->members, builder->assembly_function);
    uint32_t set = close_set(builder);
    *flow_set_map_put(&builder->sets, key) = set;
    return set;
}

// Where a jump out of the call at `node`, or from the node itself, lands in its own function.
static void push_landings(struct builder *builder, uint32_t node, uint32_t flags)
{
    const struct model *model = builder->model;
    uint32_t function = model->nodes[node].function.value;

    for (uint32_t l = builder->landing_start[function]; l < builder->landing_start[function + 1];
         l++)
        flow_edge_vec_push(&builder->edges, (struct flow_edge){builder->landing[l], flags});
}

// Does the compiler perhaps put code of its own in place of the call, or drop it? So it does with
// functions that it knows by name, also where the program defines them. No compiler has seen models
// that name their nodes (GraphML).
static bool may_be_expanded(const struct model *model, const struct model_site *site)
{
    if (site->flags & SITE_LOOSE)
        return true;
    return !model->node_names && site->callee &&
           (library_is_builtin(site->callee) || library_is_replaceable(site->callee));
}

static void push_node(struct builder *builder, uint32_t node)
{
    const struct model *model = builder->model;
    const struct model_node *model_node = &model->nodes[node];
    struct node_list next = model_successors(model, (struct node_id){node});
    uint32_t flags = FLOW_PAST, set = 0;
    // a signal may end the child of vfork anywhere, and the parent goes on
    bool jumps = builder->has_vfork || (builder->has_jumps && model_node->flags & NODE_LONGJMP);

    bool has_assembly = model_node->flags & NODE_ASM;
    if (model_node->site.value != MODEL_NONE || has_assembly)
        set = set_of_node(builder, model_node->site, has_assembly);
    if (model_node->site.value != MODEL_NONE) {
        const struct model_site *site = model_site(model, model_node->site);

        jumps |= site_jumps(builder, site);
        if (set) {
            bool past = site->flags & SITE_EXTERNAL && !(site->flags & SITE_CALLS_BACK);
            flags = past || may_be_expanded(model, site) ? FLOW_PAST | FLOW_BEHIND : FLOW_BEHIND;
        }
    } else if (set)
        flags = FLOW_PAST | FLOW_BEHIND;
    for (uint32_t k = 0; k < next.count; k++) {
        bool pad = model->nodes[next.data[k].value].flags & NODE_LANDING;
        flow_edge_vec_push(&builder->edges,
                           (struct flow_edge){next.data[k].value, flags | (pad ? FLOW_LANDS : 0)});
    }
    if (set || builder->flow->signals != FLOW_NONE)
        push_landings(builder, node, FLOW_LANDS);
    if (jumps)
        push_landings(builder, node, FLOW_PAST);
    // a naked function returns by its own assembly
    bool is_naked = model_function(model, model_node->function)->flags & FUNCTION_NAKED;
    builder->flow->node_set[node] = set;
    builder->flow->node_function[node] = model_node->function.value;
    builder->flow->node_flags[node] =
        (model_node->flags & NODE_RETURN || is_naked ? FLOW_RETURNS : 0) |
        (jumps || (model_node->flags & NODE_RESUME && builder->has_jumps) ? FLOW_JUMPS : 0);
}

// ---- Functions that stand for other code

static uint32_t add_node(struct builder *builder, uint32_t function, uint32_t flags, uint32_t set)
{
    struct flow *flow = builder->flow;
    uint32_t node = flow->node_count++;

    flow->node_function = xrealloc(flow->node_function, flow->node_count * sizeof(uint32_t));
    flow->node_flags = xrealloc(flow->node_flags, flow->node_count);
    flow->edge_start = xrealloc(flow->edge_start, (flow->node_count + 1u) * sizeof(uint32_t));
    flow->node_set = xrealloc(flow->node_set, flow->node_count * sizeof(uint32_t));
    flow->node_function[node] = function;
    flow->node_flags[node] = (uint8_t)flags;
    flow->edge_start[node] = (uint32_t)builder->edges.length;
    flow->node_set[node] = set;
    return node;
}

static void push_edge(struct builder *builder, uint32_t target, uint32_t flags)
{
    flow_edge_vec_push(&builder->edges, (struct flow_edge){target, flags});
}

static void begin_function(struct builder *builder, uint32_t function)
{
    struct flow_function *f = &builder->flow->functions[function];

    f->entry = f->first_node = builder->flow->node_count;
}

static void end_function(struct builder *builder, uint32_t function)
{
    struct flow_function *f = &builder->flow->functions[function];

    f->node_count = builder->flow->node_count - f->first_node;
}

// Two nodes: `hub`, which goes on to `next` as well (FLOW_NONE: it does not), and one that calls
// the functions and goes back to the hub. Foreign code may catch what a function throws.
static void add_hub(struct builder *builder, uint32_t function, uint32_t hub_flags, uint32_t set,
                    uint32_t next)
{
    uint32_t hub = add_node(builder, function, hub_flags, 0);

    if (set)
        push_edge(builder, hub + 1, FLOW_PAST);
    if (next != FLOW_NONE)
        push_edge(builder, next, FLOW_PAST);
    add_node(builder, function, 0, set);
    push_edge(builder, hub, FLOW_BEHIND | FLOW_LANDS);
}

static uint32_t set_of_ids(struct builder *builder, const struct flow_id_vec *ids)
{
    for (size_t i = 0; i < ids->length; i++)
        flow_id_vec_push(&builder->members, ids->data[i]);
    return close_set(builder);
}

static void add_libraries(struct builder *builder)
{
    struct flow *flow = builder->flow;
    const struct callee_table *table = &builder->model->callees;

    for (uint32_t set = 0; set < table->set_count; set++) {
        uint32_t function = builder->library_of_set[set];

        if (function == FLOW_NONE)
            continue;
        begin_function(builder, function);
        push_members(builder, callee_table_set(table, set));
        add_hub(builder, function, FLOW_RETURNS, close_set(builder), FLOW_NONE);
        end_function(builder, function);
    }
    if (builder->assembly_function != FLOW_NONE) {
        begin_function(builder, builder->assembly_function);
        add_hub(builder, builder->assembly_function, FLOW_RETURNS,
                set_of_ids(builder, &builder->assembly), FLOW_NONE);
        end_function(builder, builder->assembly_function);
    }
    if (flow->signals != FLOW_NONE) {
        begin_function(builder, flow->signals);
        add_hub(builder, flow->signals, FLOW_RETURNS, set_of_ids(builder, &builder->handlers),
                FLOW_NONE);
        end_function(builder, flow->signals);
    }
}

static void add_starts(struct builder *builder)
{
    struct flow *flow = builder->flow;
    uint32_t set = set_of_ids(builder, &builder->first), first = flow->node_count;
    uint32_t last = set_of_ids(builder, &builder->last);

    begin_function(builder, flow->start);
    flow->main_call = first + 2;
    flow->late_call = first + 4;
    add_hub(builder, flow->start, 0, set, first + 2);
    add_node(builder, flow->start, 0, set_of_ids(builder, &builder->mains));
    push_edge(builder, first + 3, builder->mains.length ? FLOW_BEHIND | FLOW_LANDS : FLOW_PAST);
    add_hub(builder, flow->start, FLOW_RETURNS, last, FLOW_NONE);
    end_function(builder, flow->start);

    begin_function(builder, flow->thread_start);
    add_hub(builder, flow->thread_start, FLOW_RETURNS, set_of_ids(builder, &builder->threads),
            FLOW_NONE);
    end_function(builder, flow->thread_start);

    begin_function(builder, flow->any_start);
    flow_id_vec_push(&builder->members, flow->start);
    flow_id_vec_push(&builder->members, flow->thread_start);
    add_node(builder, flow->any_start, FLOW_RETURNS, close_set(builder));
    end_function(builder, flow->any_start);
}

static void add_model(struct builder *builder)
{
    const struct model *model = builder->model;
    struct flow *flow = builder->flow;

    flow->node_count = model->node_count;
    flow->node_function = xcalloc(model->node_count + 1u, sizeof(uint32_t));
    flow->node_flags = xcalloc(model->node_count + 1u, 1);
    flow->edge_start = xcalloc(model->node_count + 2u, sizeof(uint32_t));
    flow->node_set = xcalloc(model->node_count + 1u, sizeof(uint32_t));
    for (uint32_t n = 0; n < model->node_count; n++) {
        flow->edge_start[n] = (uint32_t)builder->edges.length;
        push_node(builder, n);
    }
}

static void name_functions(struct builder *builder)
{
    const struct model *model = builder->model;
    struct flow *flow = builder->flow;

    flow->functions = xcalloc(flow->function_count + 1u, sizeof(*flow->functions));
    for (uint32_t f = 0; f < model->function_count; f++)
        flow->functions[f] =
            (struct flow_function){model->functions[f].first_node, model->functions[f].first_node,
                                   model->functions[f].node_count};
}

struct flow *flow_from_model(const struct model *model)
{
    struct flow *flow = xcalloc(1, sizeof(*flow));
    struct builder builder = {.model = model, .flow = flow};

    assert(model->complete);
    builder.library_of_set = xmalloc_array(model->callees.set_count + 1u, sizeof(uint32_t));
    for (uint32_t s = 0; s < model->callees.set_count; s++)
        builder.library_of_set[s] = FLOW_NONE;
    flow_id_vec_push(&builder.set_start, 0);
    flow_id_vec_push(&builder.set_start, 0);
    collect_roots(&builder);
    collect_landings(&builder);
    collect_jumps(&builder);
    flow->function_count = model->function_count;
    flow->start = flow->function_count++;
    flow->thread_start = flow->function_count++;
    flow->any_start = flow->function_count++;
    flow->signals = builder.handlers.length ? flow->function_count++ : FLOW_NONE;
    builder.assembly_function = builder.assembly.length ? flow->function_count++ : FLOW_NONE;
    add_model(&builder);
    name_functions(&builder);
    add_starts(&builder);
    add_libraries(&builder);
    flow->edge_start[flow->node_count] = (uint32_t)builder.edges.length;
    flow->edges = flow_edge_vec_steal(&builder.edges);
    flow->members = flow_id_vec_steal(&builder.members);
    flow->set_count = (uint32_t)builder.set_start.length - 1;
    flow->set_start = flow_id_vec_steal(&builder.set_start);
    flow_set_map_deinit(&builder.sets);
    flow_id_vec_deinit(&builder.first);
    flow_id_vec_deinit(&builder.last);
    flow_id_vec_deinit(&builder.mains);
    flow_id_vec_deinit(&builder.threads);
    flow_id_vec_deinit(&builder.handlers);
    flow_id_vec_deinit(&builder.assembly);
    free(builder.library_of_set);
    free(builder.landing_start);
    free(builder.landing);
    return flow;
}

void flow_destroy(struct flow *flow)
{
    if (!flow)
        return;
    free(flow->node_function);
    free(flow->node_flags);
    free(flow->edge_start);
    free(flow->edges);
    free(flow->node_set);
    free(flow->set_start);
    free(flow->members);
    free(flow->functions);
    free(flow);
}

void flow_sets_of_functions(const struct flow *flow, uint32_t **start, uint32_t **sets)
{
    uint32_t *first = xcalloc(flow->function_count + 2u, sizeof(*first));
    uint32_t total = flow->set_start[flow->set_count];

    *sets = xmalloc_array(total + 1u, sizeof(uint32_t));
    for (uint32_t i = 0; i < total; i++)
        first[flow->members[i] + 2]++;
    for (uint32_t f = 0; f < flow->function_count; f++)
        first[f + 2] += first[f + 1];
    for (uint32_t set = 0; set < flow->set_count; set++) {
        struct flow_callees members = flow_set(flow, set);

        for (uint32_t i = 0; i < members.count; i++)
            (*sets)[first[members.data[i] + 1]++] = set;
    }
    *start = first;
}
