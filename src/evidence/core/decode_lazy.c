// SPDX-License-Identifier: Apache-2.0
/*
 * An interrupted frame of a lazy function: words were stored at some place that came earlier.
 *
 * A call that is really made, and may not return, holds loads, stores and traps in their place:
 * nothing of what follows it in the source can have been executed before it. Calls that were
 * inlined, and loose ones, do not: an instruction can have been moved across what was stored there.
 * So the words are those of the last call that holds, or of a place since then that stores: a call
 * that was inlined, an edge into a loop, the call that control stands at. These are searched for
 * backwards from where control may stand; what their trails have in common is certain. Where that
 * search comes to the entry, the words may be those of another activation.
 */
#include "evidence/core/decode_record.h"

#include "common/alloc.h"

#include <stdlib.h>

struct lazy_search {
    struct decoder *decoder;
    const struct stop *stop;
    const struct position *position;
    const struct path_numbering *numbers;
    struct layout_shape shape;
    const struct model_function *function;
    struct predecessors before;
    uint8_t *ended;   // by node: control may have come from its end
    uint8_t *entered; // by node: control may have come to its start
    uint32_t *stack;  // of nodes whose start was come to
    uint32_t top;
    bool from_entry;
};

static struct site_id site_of(const struct lazy_search *search, uint32_t node)
{
    struct node_id id = {search->function->first_node + node};

    return model_node(search->decoder->model, id)->site;
}

static bool holds(const struct lazy_search *search, uint32_t node)
{
    return decode_call_holds(search->decoder, search->stop, search->position, node);
}

// Control has come to the start of `node`.
static void come_to(struct lazy_search *search, uint32_t node)
{
    if (search->entered[node])
        return;
    search->entered[node] = 1;
    search->from_entry |= node == 0;
    search->stack[search->top++] = node;
}

static void search_init(struct lazy_search *search, struct decoder *decoder,
                        const struct stop *stop, const struct position *position,
                        struct evidence_nodes candidates)
{
    const struct model_function *function = model_function(decoder->model, position->function);

    *search = (struct lazy_search){
        .decoder = decoder,
        .stop = stop,
        .position = position,
        .numbers = model_numbering(decoder->model, position->function),
        .shape = model_shape(decoder->model, position->function),
        .function = function,
        .ended = xcalloc(function->node_count + 1u, 1),
        .entered = xcalloc(function->node_count + 1u, 1),
        .stack = xmalloc_array(function->node_count + 1u, sizeof(uint32_t)),
    };
    predecessors_init(&search->before, decoder->model, position->function);
    for (uint32_t c = 0; c < candidates.count; c++)
        come_to(search, candidates.nodes[c]);
    while (search->top) {
        uint32_t node = search->stack[--search->top];

        for (uint32_t p = search->before.start[node]; p < search->before.start[node + 1]; p++) {
            uint32_t from = search->before.node[p];

            search->ended[from] = 1;
            if (!holds(search, from))
                come_to(search, from);
        }
    }
    // the call of the very node may have been announced already
    for (uint32_t c = 0; c < candidates.count; c++)
        search->ended[candidates.nodes[c]] = 1;
}

static void search_deinit(struct lazy_search *search)
{
    predecessors_deinit(&search->before);
    free(search->ended);
    free(search->entered);
    free(search->stack);
}

bool decode_passed_call(struct decoder *decoder, const struct stop *stop,
                        const struct position *position, struct evidence_nodes candidates)
{
    struct lazy_search search;

    search_init(&search, decoder, stop, position, candidates);
    bool passed = !search.from_entry && candidates.count > 0;
    search_deinit(&search);
    return passed;
}

static bool edge_stores(const struct lazy_search *search, uint32_t edge)
{
    struct path_action actions[PATH_MOST_ACTIONS];
    uint32_t count = path_edge_actions(search->numbers, &search->shape, edge, actions);

    for (uint32_t i = 0; i < count; i++)
        if (actions[i].stores)
            return true;
    return false;
}

// The trails of all places of one node where words may have been stored last.
static void add_node(const struct lazy_search *search, const struct path_words *words,
                     uint32_t node, struct common_path *common)
{
    struct model *model = search->decoder->model;
    struct node_list next =
        model_successors(model, (struct node_id){search->function->first_node + node});
    uint32_t first = model->successor_start[search->function->first_node];
    uint32_t edge = model->successor_start[search->function->first_node + node] - first;
    struct path path;

    if (search->ended[node] && site_of(search, node).value != MODEL_NONE &&
        path_trail(search->numbers, words, node, &path))
        common_path_add(common, &path);
    for (uint32_t k = 0; k < next.count; k++, edge++)
        if (search->entered[next.data[k].value - search->function->first_node] &&
            edge_stores(search, edge) && path_trail_on_edge(search->numbers, words, edge, &path))
            common_path_add(common, &path);
}

bool decode_lazy(struct decoder *decoder, const struct stop *stop, const struct position *position,
                 const struct path_words *words, struct evidence_frame *frame)
{
    struct lazy_search search;
    struct common_path common = {0};

    search_init(&search, decoder, stop, position, frame->candidates);
    for (uint32_t n = 0; n < search.function->node_count; n++)
        add_node(&search, words, n, &common);
    search_deinit(&search);
    bool any = common.any;
    common_path_keep(&common, decoder, false, frame);
    return any;
}
