// SPDX-License-Identifier: Apache-2.0
/*
 * Control dependence of one function: nodes, and a node behind every way out. A node depends on
 * those at whose end a way leads to it for sure and another does not, which is read off the tree of
 * postdominators (Ferrante, Ottenstein, Warren 1987, section 3.1.1).
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence_internal.h"
#include "common/alloc.h"

struct builder {
    const struct dependence *dependence;
    const struct model_function *function;
    uint32_t exit;
    const struct bitset *endless; // nodes of loops without an exit; NULL until known
    struct digraph graph;
};

static bool returns_twice(const struct builder *builder, uint32_t n)
{
    return model_node(builder->dependence->model,
                      (struct node_id){builder->function->first_node + n})
               ->flags &
           NODE_RETURNS_TWICE;
}

// Behind every call that returns twice: jumps land there.
static void add_landings(struct builder *builder, uint32_t n)
{
    const struct model *model = builder->dependence->model;
    uint32_t first = builder->function->first_node;

    for (uint32_t t = 0; t < builder->exit; t++) {
        struct node_list next = model_successors(model, (struct node_id){first + t});
        for (uint32_t i = 0; returns_twice(builder, t) && i < next.count; i++)
            digraph_add(&builder->graph, n, next.data[i].value - first);
    }
}

static void add_edges(struct builder *builder, uint32_t n)
{
    const struct dependence *dependence = builder->dependence;
    const struct model *model = dependence->model;
    struct node_id node = {builder->function->first_node + n};
    struct node_list next = model_successors(model, node);
    bool goes_on = false;

    for (uint32_t i = 0; i < next.count; i++)
        if (edge_is_real(model, node, next.data[i])) {
            digraph_add(&builder->graph, n, next.data[i].value - builder->function->first_node);
            goes_on = true;
        }
    if (!goes_on || call_may_stay(dependence, node) ||
        (builder->endless && bitset_test(builder->endless, n)))
        digraph_add(&builder->graph, n, builder->exit);
    if (model_function(model, model_node(model, node)->function)->flags & FUNCTION_SETJMP &&
        call_may_jump(dependence, node))
        add_landings(builder, n);
}

static void build_graph(struct builder *builder)
{
    digraph_init(&builder->graph, builder->exit + 1);
    for (uint32_t n = 0; n < builder->exit; n++)
        add_edges(builder, n);
    digraph_close(&builder->graph);
}

// Marks the nodes of components that nothing leaves; whether there are any.
static bool find_endless(const struct builder *builder, const struct components *components,
                         struct bitset *endless)
{
    bool *is_left = xcalloc(components->count + 1u, sizeof(bool)), found = false;

    for (uint32_t n = 0; n < builder->exit; n++)
        for (uint32_t e = builder->graph.start[n];
             components->of_node[n] != DIGRAPH_NONE && e < builder->graph.start[n + 1]; e++)
            if (components->of_node[builder->graph.target[e]] != components->of_node[n])
                is_left[components->of_node[n]] = true;
    for (uint32_t n = 0; n < builder->exit; n++)
        if (components->of_node[n] != DIGRAPH_NONE && !is_left[components->of_node[n]]) {
            bitset_set(endless, n);
            found = true;
        }
    free(is_left);
    return found;
}

// An edge to be added to `dependent` for each pair: the first depends on the second.
static void find_pairs(const struct builder *builder, const struct components *components,
                       const uint32_t *postdominator, struct digraph *dependent)
{
    uint32_t *last = xmalloc_array(builder->exit + 1u, sizeof(*last));

    memset(last, 0xff, (builder->exit + 1u) * sizeof(*last));
    for (uint32_t n = 0; n < builder->exit; n++) {
        if (components->of_node[n] == DIGRAPH_NONE)
            continue;
        for (uint32_t e = builder->graph.start[n]; e < builder->graph.start[n + 1]; e++)
            for (uint32_t t = builder->graph.target[e]; t != postdominator[n];
                 t = postdominator[t]) {
                if (last[t] == n)
                    continue;
                last[t] = n;
                digraph_add(dependent, t, n);
            }
    }
    free(last);
}

static void find_entry(const struct builder *builder, const uint32_t *postdominator,
                       struct bitset *is_entry)
{
    const struct model *model = builder->dependence->model;
    uint32_t first = builder->function->first_node;

    for (uint32_t n = 0; n != builder->exit; n = postdominator[n])
        bitset_set(is_entry, n);
    for (uint32_t t = 0; t < builder->exit; t++) {
        struct node_list next = model_successors(model, (struct node_id){first + t});
        for (uint32_t i = 0; returns_twice(builder, t) && i < next.count; i++)
            bitset_set(is_entry, next.data[i].value - first);
    }
}

static void control_fill(const struct builder *builder, const struct components *components,
                         struct function_control *control)
{
    struct digraph reverse, dependent;

    digraph_init_reverse(&reverse, &builder->graph);
    uint32_t *postdominator = digraph_dominators(&reverse, &builder->graph, builder->exit);
    digraph_init(&dependent, builder->exit);
    find_pairs(builder, components, postdominator, &dependent);
    digraph_close(&dependent);
    control->start = dependent.start;
    dependent.start = NULL;
    control->nodes = xmalloc_array(dependent.edge_count + 1u, sizeof(*control->nodes));
    for (uint32_t e = 0; e < dependent.edge_count; e++)
        control->nodes[e].value = builder->function->first_node + dependent.target[e];
    bitset_init(&control->is_entry, builder->exit);
    find_entry(builder, postdominator, &control->is_entry);
    free(postdominator);
    digraph_deinit(&dependent);
    digraph_deinit(&reverse);
}

static struct function_control *control_build(const struct dependence *dependence, uint32_t f)
{
    struct function_control *control = xcalloc(1, sizeof(*control));
    struct builder builder = {.dependence = dependence,
                              .function = &dependence->model->functions[f],
                              .exit = dependence->model->functions[f].node_count};
    struct components components;
    struct bitset endless;

    bitset_init(&endless, builder.exit);
    build_graph(&builder);
    components_init(&components, &builder.graph, 0, DIGRAPH_NONE);
    if (find_endless(&builder, &components, &endless)) {
        builder.endless = &endless;
        digraph_deinit(&builder.graph);
        build_graph(&builder);
    }
    control_fill(&builder, &components, control);
    components_deinit(&components);
    digraph_deinit(&builder.graph);
    bitset_deinit(&endless);
    return control;
}

struct control dependence_control(struct dependence *dependence, struct node_id node)
{
    struct function_id function = model_node(dependence->model, node)->function;
    uint32_t n = model_node_index(dependence->model, node);

    if (!dependence->controls[function.value])
        dependence->controls[function.value] = control_build(dependence, function.value);
    const struct function_control *control = dependence->controls[function.value];
    return (struct control){control->nodes + control->start[n],
                            control->start[n + 1] - control->start[n],
                            bitset_test(&control->is_entry, n)};
}
