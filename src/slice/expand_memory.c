// SPDX-License-Identifier: Apache-2.0
// What memory depends on: who may have written it.
#include "common/alloc.h"
#include "slice/expand.h"
#include "solve/flow.h"
#include "solve/view.h"

bool function_writes(struct slicer *slicer, uint32_t function, uint32_t class)
{
    return class_set_meets(slicer->dependence,
                           dependence_mod(slicer->dependence, (struct function_id){function}),
                           (struct class_id){class});
}

void need_anywhere(struct slicer *slicer, struct insn_id insn)
{
    struct node_id node = dependence_insn_node(slicer->dependence, insn);

    if (!slicer_may_run(slicer, node.value))
        return;
    uint32_t shared = slicer_shared(slicer, model_node(slicer->model, node)->function.value);
    uint32_t position = activation_position(slicer, activation_of(slicer, shared), insn);
    vertex_needs_anywhere(slicer, insn_vertex(slicer, shared, position), SLICE_BY_MEMORY);
}

bool need_anytime(struct slicer *slicer, uint32_t class)
{
    if (!bitset_test(&slicer->wide, class) || slicer->flags & SLICE_INTRA)
        return false;
    vertex_needs(slicer, vertex_of_number(slicer, VERTEX_ANYTIME, class), SLICE_BY_MEMORY);
    return true;
}

static void need_writers(struct slicer *slicer, uint32_t class)
{
    for (uint32_t i = slicer->writers_start[class]; i < slicer->writers_start[class + 1]; i++)
        vertex_needs(slicer, vertex_of_number(slicer, VERTEX_WRITERS, slicer->writers_of[i]),
                     SLICE_BY_MEMORY);
}

void expand_anytime(struct slicer *slicer, struct vertex vertex)
{
    if (vertex.class) {
        need_writers(slicer, vertex.class);
        need_writers(slicer, 0);
    } else
        for (uint32_t w = 0; w < slicer->writers.length; w++)
            vertex_needs(slicer, vertex_of_number(slicer, VERTEX_WRITERS, w), SLICE_BY_MEMORY);
}

static void need_definitions(struct slicer *slicer, uint32_t activation, uint32_t class,
                             struct definitions *definitions)
{
    struct {
        const struct insn_vec *list;
        enum vertex_kind kind;
    } calls[] = {{&definitions->calls, VERTEX_AFTER_CALL},
                 {&definitions->jumps, VERTEX_AFTER_JUMP}};

    for (size_t i = 0; i < definitions->writers.length; i++) {
        uint32_t position = activation_position(slicer, activation_of(slicer, activation),
                                                definitions->writers.data[i]);
        vertex_needs(slicer, insn_vertex(slicer, activation, position), SLICE_BY_MEMORY);
    }
    if ((definitions->calls.length || definitions->jumps.length || definitions->from_entry) &&
        need_anytime(slicer, class))
        return;
    for (uint32_t k = 0; k < 2; k++)
        for (size_t i = 0; i < calls[k].list->length; i++) {
            uint32_t position = activation_position(slicer, activation_of(slicer, activation),
                                                    calls[k].list->data[i]);
            uint32_t base = insn_vertex(slicer, activation, position);

            vertex_needs(slicer, vertex_of(slicer, base, calls[k].kind, class), SLICE_BY_MEMORY);
        }
    if (definitions->from_entry) {
        uint32_t entry = vertex_at(slicer, activation, VERTEX_ENTRY, 0);

        vertex_needs(slicer, vertex_of(slicer, entry, VERTEX_AT_ENTRY, class), SLICE_BY_MEMORY);
    }
    if (definitions->asynchronous.count && !(slicer->flags & SLICE_INTRA))
        vertex_needs(slicer, vertex_of_list(slicer, definitions->asynchronous), SLICE_BY_MEMORY);
}

static bool contains(struct class_set set, uint32_t class)
{
    for (uint32_t i = 0; i < set.count; i++)
        if (set.data[i].value == class)
            return true;
    return false;
}

bool callee_writes(struct slicer *slicer, struct site_id site, uint32_t class)
{
    struct function_list lists[] = {model_callees(slicer->model, site),
                                    model_callbacks(slicer->model, site)};

    for (uint32_t l = 0; l < 2; l++)
        for (uint32_t i = 0; i < lists[l].count; i++)
            if (class_set_meets(slicer->dependence,
                                dependence_mod(slicer->dependence, lists[l].data[i]),
                                (struct class_id){class}))
                return true;
    return false;
}

bool need_in_copy(struct slicer *slicer, uint32_t activation, uint32_t copy, uint32_t end,
                  enum came came, bool sure, uint32_t class)
{
    for (uint32_t position = end; position-- > activation_of(slicer, activation)->first[copy];) {
        struct spot spot = spot_at(slicer, activation, position);
        struct class_accesses accesses = dependence_accesses(slicer->dependence, spot.id);
        struct site_id site;
        bool last = position + 1 == end && came == CAME_JUMPED;

        if (site_of(slicer, &spot, &site) && enters_model(slicer, site) &&
            callee_writes(slicer, site, class) && !need_anytime(slicer, class))
            vertex_needs(slicer,
                         vertex_of(slicer, insn_vertex(slicer, activation, position),
                                   last ? VERTEX_AFTER_JUMP : VERTEX_AFTER_CALL, class),
                         SLICE_BY_MEMORY);
        if (class_set_meets(slicer->dependence, accesses.writes, (struct class_id){class}))
            vertex_needs(slicer, insn_vertex(slicer, activation, position), SLICE_BY_MEMORY);
        if (sure && !last && contains(accesses.certain, class))
            return false;
    }
    return true;
}

void need_at_copy(struct slicer *slicer, uint32_t activation, uint32_t copy, uint32_t class)
{
    uint32_t base = vertex_at(slicer, activation, VERTEX_NODE, copy);

    vertex_needs(slicer, vertex_of(slicer, base, VERTEX_AT_COPY, class), SLICE_BY_MEMORY);
}

static void need_asynchronous(struct slicer *slicer, uint32_t function, uint32_t class)
{
    struct insn_list list = dependence_asynchronous(
        slicer->dependence, (struct function_id){function}, (struct class_id){class});

    if (list.count && !(slicer->flags & SLICE_INTRA))
        vertex_needs(slicer, vertex_of_list(slicer, list), SLICE_BY_MEMORY);
}

void expand_at_copy(struct slicer *slicer, struct vertex vertex)
{
    const struct activation *a = activation_of(slicer, vertex.activation);

    if (bitset_test(&a->is_start, vertex.index) &&
        !dependence_is_own(slicer->dependence, (struct function_id){a->function},
                           (struct class_id){vertex.class}) &&
        !need_anytime(slicer, vertex.class)) {
        uint32_t entry = vertex_at(slicer, vertex.activation, VERTEX_ENTRY, 0);

        vertex_needs(slicer, vertex_of(slicer, entry, VERTEX_AT_ENTRY, vertex.class),
                     SLICE_BY_MEMORY);
    }
    a = activation_of(slicer, vertex.activation);
    for (uint32_t b = a->before_start[vertex.index]; b < a->before_start[vertex.index + 1]; b++) {
        uint32_t copy = a->before[b];
        bool jumped = a->before_flags[b] & FLOW_LANDS;
        bool back = a->before_flags[b] & (FLOW_PAST | FLOW_BEHIND);
        bool further = false;

        if (back)
            further |= need_in_copy(slicer, vertex.activation, copy, a->first[copy + 1], CAME_BACK,
                                    true, vertex.class);
        a = activation_of(slicer, vertex.activation);
        if (jumped)
            further |= need_in_copy(slicer, vertex.activation, copy, a->first[copy + 1],
                                    CAME_JUMPED, true, vertex.class);
        if (further)
            need_at_copy(slicer, vertex.activation, copy, vertex.class);
        a = activation_of(slicer, vertex.activation);
    }
}

// Memory before the instruction; or when what it calls is entered.
void expand_before(struct slicer *slicer, struct vertex vertex)
{
    struct spot spot = spot_at(slicer, vertex.activation, vertex.index);
    struct class_id class = {vertex.class};
    bool callee = vertex.kind == VERTEX_BEFORE_CALLEE;

    if (!activation_of(slicer, vertex.activation)->view) {
        struct reaching_limits limits = {.nodes = slicer->may};
        struct definitions definitions = {0};

        (callee ? dependence_reaching_callee : dependence_reaching)(
            slicer->dependence, spot.id, class, slicer->may ? &limits : NULL, &definitions);
        need_definitions(slicer, vertex.activation, vertex.class, &definitions);
        definitions_deinit(&definitions);
        return;
    }
    if (need_in_copy(slicer, vertex.activation, spot.copy, spot.position, CAME_BY, true,
                     vertex.class))
        need_at_copy(slicer, vertex.activation, spot.copy, vertex.class);
    if (callee) // arguments in memory, other callbacks
        need_in_copy(slicer, vertex.activation, spot.copy, spot.position + 1, CAME_BY, false,
                     vertex.class);
    need_asynchronous(slicer, activation_of(slicer, vertex.activation)->function, vertex.class);
}

void expand_at_exit(struct slicer *slicer, struct vertex vertex)
{
    struct reaching_limits limits = {.nodes = slicer->may};
    struct definitions definitions = {0};
    struct function_id function = {activation_of(slicer, vertex.activation)->function};

    (vertex.kind == VERTEX_AT_JUMP ? dependence_reaching_jump : dependence_reaching_exit)(
        slicer->dependence, function, (struct class_id){vertex.class}, slicer->may ? &limits : NULL,
        &definitions);
    need_definitions(slicer, vertex.activation, vertex.class, &definitions);
    definitions_deinit(&definitions);
}

void need_earlier_roots(struct slicer *slicer, uint32_t function, uint32_t class)
{
    for (uint32_t r = 0; r < slicer->model->root_count; r++) {
        uint32_t root = slicer->model->roots[r].function.value;

        if (root == function || !function_writes(slicer, root, class))
            continue;
        uint32_t exit = vertex_at(slicer, slicer_shared(slicer, root), VERTEX_EXIT, 0);
        vertex_needs_anywhere(slicer, vertex_of(slicer, exit, VERTEX_AT_EXIT, class),
                              SLICE_BY_MEMORY);
    }
}
