// SPDX-License-Identifier: Apache-2.0
/*
 * An interrupted frame of a lazy function: `path` was stored before some call that came earlier.
 *
 * A call that is really made holds loads, stores and traps in their place: nothing of what follows
 * it in the source can have been executed before it, since it may not return. Inlined calls do not:
 * an instruction can have been moved across their stores. So the word is that of the last real
 * call, of a call that was inlined since, or of one that control stands at; searched for backwards
 * from where control may stand. Where that search comes to the entry, the word may be that of
 * another activation. Where it passes a cut edge, the path that the word tells may have ended.
 */
#include "evidence/core/decode_record.h"

#include "common/alloc.h"

#include <stdlib.h>

enum { BEFORE = 1, BEFORE_CUT = 2 }; // control may have come from here; by way of a cut edge

struct lazy_search {
    struct decoder *decoder;
    const struct position *position;
    const struct path_numbering *numbers;
    const struct model_function *function;
    struct predecessors before;
    uint8_t *mark; // by node: what of the above holds of its end
    uint32_t *stack;
    uint32_t top;
    bool from_entry;
};

static struct site_id site_of(const struct lazy_search *search, uint32_t node)
{
    struct node_id id = {search->function->first_node + node};

    return model_node(search->decoder->model, id)->site;
}

static bool calls(const struct lazy_search *search, uint32_t node)
{
    return site_of(search, node).value != MODEL_NONE;
}

static bool is_real_call(const struct lazy_search *search, uint32_t node)
{
    struct site_id site = site_of(search, node);

    return site.value != MODEL_NONE &&
           !decode_may_be_inlined(search->decoder, search->position->function, site);
}

// Is some edge between the two cut?
static bool is_cut(const struct lazy_search *search, uint32_t from, uint32_t to)
{
    struct model *model = search->decoder->model;
    struct node_id id = {search->function->first_node + from};
    struct node_list next = model_successors(model, id);
    uint32_t first =
        model->successor_start[id.value] - model->successor_start[search->function->first_node];

    for (uint32_t k = 0; k < next.count; k++)
        if (next.data[k].value - search->function->first_node == to &&
            path_edge_action(search->numbers, first + k).cut)
            return true;
    return false;
}

static void mark_end(struct lazy_search *search, uint32_t node, uint8_t how)
{
    if ((search->mark[node] | how) == search->mark[node])
        return;
    search->mark[node] |= how;
    search->stack[search->top++] = node;
}

// Control has come to the start of `node`; `how`: since then.
static void come_to(struct lazy_search *search, uint32_t node, uint8_t how)
{
    search->from_entry |= node == 0;
    for (uint32_t p = search->before.start[node]; p < search->before.start[node + 1]; p++) {
        uint32_t from = search->before.node[p];

        mark_end(search, from, how | (is_cut(search, from, node) ? BEFORE_CUT : 0));
    }
}

static void search_init(struct lazy_search *search, struct decoder *decoder,
                        const struct position *position, struct evidence_nodes candidates)
{
    const struct model_function *function = model_function(decoder->model, position->function);

    *search = (struct lazy_search){
        .decoder = decoder,
        .position = position,
        .numbers = model_numbering(decoder->model, position->function),
        .function = function,
        .mark = xcalloc(function->node_count + 1u, 1),
        // a node is pushed when a mark of it is new: at most twice
        .stack = xmalloc_array(2ull * function->node_count + 1, sizeof(uint32_t)),
    };
    predecessors_init(&search->before, decoder->model, position->function);
    for (uint32_t c = 0; c < candidates.count; c++)
        come_to(search, candidates.nodes[c], BEFORE);
    while (search->top) {
        uint32_t node = search->stack[--search->top];

        if (!is_real_call(search, node))
            come_to(search, node, search->mark[node]);
    }
    // the call of the very node may have been announced already
    for (uint32_t c = 0; c < candidates.count; c++)
        if (calls(search, candidates.nodes[c]))
            search->mark[candidates.nodes[c]] |= BEFORE;
}

static void search_deinit(struct lazy_search *search)
{
    predecessors_deinit(&search->before);
    free(search->mark);
    free(search->stack);
}

bool decode_passed_call(struct decoder *decoder, const struct position *position,
                        struct evidence_nodes candidates)
{
    struct lazy_search search;

    search_init(&search, decoder, position, candidates);
    bool passed = !search.from_entry && candidates.count > 0;
    search_deinit(&search);
    return passed;
}

bool decode_lazy(struct decoder *decoder, const struct position *position, uint64_t sum,
                 struct evidence_frame *frame)
{
    struct lazy_search search;
    struct path common = {0}, path;
    uint32_t length = 0;
    bool any = false, ended = false;

    search_init(&search, decoder, position, frame->candidates);
    for (uint32_t n = 0; n < search.function->node_count; n++) {
        if (!search.mark[n] || !calls(&search, n) ||
            !path_numbering_decode(search.numbers, sum, n, &path))
            continue;
        ended |= search.mark[n] & BEFORE_CUT;
        if (!any) {
            common = path;
            length = path.step_count;
            any = true;
            continue;
        }
        length = decode_common_prefix(&common, length, &path);
        path_deinit(&path);
    }
    search_deinit(&search);
    frame->has_partial = any && !ended && length > 0;
    if (frame->has_partial)
        frame->partial = decode_keep_path(decoder, &common, length);
    else
        path_deinit(&common);
    return any;
}
