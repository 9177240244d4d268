// SPDX-License-Identifier: Apache-2.0
/*
 * Where control stands in optimised code, from the machine code around the program counter.
 *
 * Going back from the program counter to the landmarks (landmark.h) that control may have passed
 * last, and on to those that it may come to next, gives two sets of nodes of the source's graph.
 * Control stands on a path from the one to the other, and passes no call of the source on it: each
 * is announced by a landmark, inlined or not. Anything else whose row was lost is no landmark: the
 * search goes past it, and the result is wider. Where an announcement cannot be told apart (`lost`)
 * paths may pass calls.
 */
#include "evidence/core/landmark.h"
#include "evidence/core/order.h"

#include "common/alloc.h"
#include "common/error.h"
#include "layout/section.h"

#include <stdlib.h>
#include <string.h>

VEC_DEFINE(index_stack, uint32_t);

struct search {
    struct machine_view view;
    uint32_t count;   // nodes of the function
    uint8_t *from;    // by node: control may come from its beginning
    uint8_t *ended;   // by node: or from its end
    uint8_t *to;      // by node: control may go to a landmark in it
    uint8_t *called;  // by node: the last landmark was in its call, which was inlined, or announced
                      // it; or NULL
    bool lost;        // an announcement was gone past
    uint8_t *visited; // by instruction
    struct index_stack stack;
};

static bool is_announcement(const struct search *search, const struct machine_insn *insn)
{
    struct site_id site;

    return machine_announces(search->view.decoder, insn, &site);
}

static struct node_list successors_of(const struct search *search, uint32_t node)
{
    return model_successors(
        search->view.decoder->model,
        model_node_at(search->view.decoder->model, search->view.position->function, node));
}

static uint32_t index_of(const struct search *search, struct node_id node)
{
    return node.value -
           model_function(search->view.decoder->model, search->view.position->function)->first_node;
}

static bool has_branch(const struct search *search, uint32_t node)
{
    struct node_list next = successors_of(search, node);

    for (uint32_t k = 1; k < next.count; k++)
        if (next.data[k].value != next.data[0].value)
            return true;
    return false;
}

static struct site_id site_of(const struct search *search, uint32_t node)
{
    const struct model *model = search->view.decoder->model;

    return model_node(model, model_node_at(model, search->view.position->function, node))->site;
}

static bool may_end_silently(const struct search *search, uint32_t node)
{
    return site_of(search, node).value != MODEL_NONE &&
           !decode_call_holds(search->view.decoder, search->view.stop, search->view.position, node);
}

// Is there a landmark at the end of this node, since it calls?
static bool announces(const struct search *search, uint32_t node)
{
    const struct position *position = search->view.position;

    return !search->lost && !position->plain &&
           model_function_level(search->view.decoder->model, position->function) >=
               SECTION_LEVEL_CALLS &&
           site_of(search, node).value != MODEL_NONE;
}

// Control came by this instruction. False: go further back.
static bool passed(struct search *search, uint32_t at)
{
    const struct machine_insn *insn = &search->view.code->insns[at];
    struct named_place named;
    enum standing standing = machine_standing(&search->view, insn, &named);
    bool told = standing == STANDS_OUTSIDE ||
                (standing != STANDS_UNTOLD && named.source == POSITION_DISCRIMINATOR);

    search->lost |= (!told && is_announcement(search, insn)) || machine_may_announce(insn);
    if (insn->flow == MACHINE_JUMP)
        return false;
    if (!told || !machine_is_landmark(&search->view, at)) {
        if (insn->flow == MACHINE_NEXT || insn->flow == MACHINE_CALL ||
            insn->flow == MACHINE_BRANCH)
            return false;
        memset(search->from, 1, search->count);
        return true;
    }
    if (standing != STANDS_OUTSIDE && (standing == STANDS_IN_CALL || is_announcement(search, insn)))
        search->called[named.node] = 1;
    if (standing == STANDS_OUTSIDE)
        search->from[0] = 1;
    else if (standing == STANDS_INSIDE && insn->flow != MACHINE_NEXT &&
             (insn->flow == MACHINE_CALL || has_branch(search, named.node)))
        search->ended[named.node] = 1;
    else {
        search->from[named.node] = 1;
        // a call that was inlined, or was dropped, may be over without a further landmark
        search->ended[named.node] |= may_end_silently(search, named.node);
    }
    return true;
}

static void mark_exits(struct search *search)
{
    for (uint32_t n = 0; n < search->count; n++)
        search->to[n] |= successors_of(search, n).count == 0;
}

// Control comes to this instruction. False: go further on.
static bool coming(struct search *search, uint32_t at)
{
    const struct machine_insn *insn = &search->view.code->insns[at];
    struct named_place named;
    enum standing standing = machine_standing(&search->view, insn, &named);
    bool told = standing == STANDS_OUTSIDE ||
                (standing != STANDS_UNTOLD && named.source == POSITION_DISCRIMINATOR);

    search->lost |= (!told && is_announcement(search, insn)) || machine_may_announce(insn);
    if (insn->flow == MACHINE_JUMP)
        return false;
    if (!told || !machine_is_landmark(&search->view, at)) {
        if (insn->flow == MACHINE_NEXT || insn->flow == MACHINE_CALL ||
            insn->flow == MACHINE_BRANCH)
            return false;
        if (insn->flow == MACHINE_LEAVE)
            mark_exits(search);
        else
            memset(search->to, 1, search->count);
    } else if (standing == STANDS_OUTSIDE)
        mark_exits(search);
    else
        search->to[named.node] = 1;
    return true;
}

static void push_once(struct search *search, uint32_t insn)
{
    if (!search->visited[insn])
        index_stack_push(&search->stack, insn);
    search->visited[insn] = 1;
}

static bool is_entry(const struct search *search, uint64_t address)
{
    size_t count;
    const struct debug_scope *scopes = debug_function_scopes(search->view.stop->physical, &count);

    for (uint32_t r = 0; count && r < scopes[0].range_count; r++)
        if (scopes[0].ranges[r].start == address)
            return true;
    return false;
}

// All instructions right before this one. Where there are none, it is the function's beginning,
// padding, or reached in some way that is not known.
static void push_before(struct search *search, uint32_t i)
{
    const struct machine_code *code = search->view.code;
    bool entry = is_entry(search, code->insns[i].address);

    for (uint32_t p = code->before_start[i]; p < code->before_start[i + 1]; p++)
        push_once(search, code->before[p]);
    if (entry)
        search->from[0] = 1;
    bool jumped = code->has_table && machine_is_in_table(&search->view, code->insns[i].address);
    for (uint32_t k = 0; jumped && k < code->count; k++)
        if (code->insns[k].flow == MACHINE_TABLE)
            push_once(search, k);
    if (code->before_start[i] == code->before_start[i + 1] && !entry && !jumped &&
        !code->has_indirect && !code->insns[i].is_padding)
        memset(search->from, 1, search->count);
}

static void search_back(struct search *search, uint32_t at)
{
    const struct machine_code *code = search->view.code;

    memset(search->visited, 0, code->count);
    push_before(search, at);
    // an indirect jump may lead to any instruction, also to this one
    for (uint32_t i = 0; code->has_indirect && i < code->count; i++)
        if (code->insns[i].flow == MACHINE_INDIRECT)
            push_once(search, i);
    while (search->stack.length) {
        uint32_t i = index_stack_pop(&search->stack);

        if (!passed(search, i))
            push_before(search, i);
    }
}

static void search_on(struct search *search, uint32_t at)
{
    const struct machine_code *code = search->view.code;

    memset(search->visited, 0, code->count);
    push_once(search, at);
    while (search->stack.length) {
        uint32_t i = index_stack_pop(&search->stack), next[2];

        if (coming(search, i))
            continue;
        uint32_t count = machine_successors(code, i, next);
        for (uint32_t k = 0; k < count; k++)
            push_once(search, next[k]);
        if (!count)
            memset(search->to, 1, search->count);
    }
}

// All that is reached from the nodes marked, along edges or against them, without going past an
// announcement. Against them that is so for nodes that were reached: what was marked from the
// start is the landmark itself.
static void close_over(const struct search *search, uint8_t *mark, bool backwards)
{
    bool inlined = search->view.position->scope->parent != NULL && search->lost, changed = true;
    uint8_t *stops = xcalloc(search->count + 1u, 1);

    for (uint32_t i = 0; i < search->count; i++)
        stops[i] = announces(search, i) && !(backwards && mark[i]);
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < search->count; i++) {
            struct node_list next = successors_of(search, i);

            for (uint32_t k = 0; k < next.count; k++) {
                uint32_t target = index_of(search, next.data[k]);
                uint32_t from = backwards ? target : i, to = backwards ? i : target;

                if (mark[from] && !stops[from] && !mark[to])
                    mark[to] = changed = true;
            }
            // an inlined function may return and be called again
            if (inlined && next.count == 0 && mark[backwards ? 0 : i] && !mark[backwards ? i : 0])
                mark[backwards ? i : 0] = changed = true;
        }
    }
    free(stops);
}

// `from` becomes the answer.
static void meet(struct search *search)
{
    uint8_t *straight = xcalloc(search->count + 1u, 1);

    for (uint32_t n = 0; n < search->count; n++) {
        struct node_list next = successors_of(search, n);

        straight[n] = search->ended[n] && search->to[n];
        for (uint32_t k = 0; search->ended[n] && k < next.count; k++)
            search->from[index_of(search, next.data[k])] = 1;
    }
    close_over(search, search->from, false);
    close_over(search, search->to, true);
    for (uint32_t n = 0; n < search->count; n++)
        search->from[n] = (search->from[n] && search->to[n]) || straight[n];
    free(straight);
}

/*
 * Can control have come to the node from each of the landmarks that it may have passed last?
 * Otherwise the row is that of one way only, on which something was computed that all of them need:
 * a copy of a variable where a loop begins again. Before meet().
 */
static bool is_on_all_ways(const struct search *search, uint32_t node)
{
    uint8_t *mark = xmalloc(search->count + 1u);
    bool all = true;

    for (uint32_t m = 0; all && m < search->count; m++) {
        struct node_list next = successors_of(search, m);

        if (m == node || (!search->from[m] && !search->ended[m]))
            continue;
        memset(mark, 0, search->count + 1u);
        mark[m] = search->from[m];
        for (uint32_t k = 0; search->ended[m] && k < next.count; k++)
            mark[index_of(search, next.data[k])] = 1;
        close_over(search, mark, false);
        all = mark[node];
    }
    free(mark);
    return all;
}

// The node of the frame's own code that an instruction's row names, or UINT32_MAX. *on: control
// just goes by, so the next instruction may tell more.
static uint32_t named_node(const struct search *search, const struct machine_insn *insn, bool *on)
{
    struct named_place named;
    enum standing standing = machine_standing(&search->view, insn, &named);

    *on = standing == STANDS_UNTOLD && insn->flow == MACHINE_NEXT;
    return standing == STANDS_INSIDE && named.source == POSITION_DISCRIMINATOR ? named.node
                                                                               : UINT32_MAX;
}

/*
 * An instruction without a row of its own, such as a spill, between two of the same node, in one
 * straight line without a landmark: as much of that node as they are. UINT32_MAX: it is not so.
 */
static uint32_t flanking_node(const struct search *search, uint32_t at)
{
    const struct machine_code *code = search->view.code;
    uint32_t before = UINT32_MAX, behind = UINT32_MAX;
    bool on = true;

    for (uint32_t i = at; on && machine_only_follows(&search->view, i); i--) {
        before = named_node(search, &code->insns[i - 1], &on);
        if (code->insns[i - 1].flow != MACHINE_NEXT)
            return UINT32_MAX;
    }
    on = true;
    for (uint32_t i = at; on && before != UINT32_MAX && i < code->count; i++)
        behind = named_node(search, &code->insns[i], &on);
    return before == behind ? before : UINT32_MAX;
}

// The instruction right before *at in one straight line, without an announcement; *at moves there.
// NULL: there is none.
static const struct machine_insn *right_before(const struct search *search, uint32_t *at)
{
    if (!machine_only_follows(&search->view, *at))
        return NULL;
    const struct machine_insn *insn = &search->view.code->insns[--*at];

    return insn->flow != MACHINE_NEXT || is_announcement(search, insn) ? NULL : insn;
}

/*
 * The row names a node, but right before it, in one straight line, an instruction of a node that
 * comes later in the source was executed: the named one was sunk, and control has come as far as
 * the other.
 */
static void mark_overtaken(struct search *search, const struct order *order, uint32_t at,
                           uint32_t node)
{
    uint8_t *behind = xcalloc(search->count + 1u, 1);
    const struct machine_insn *insn;

    order_mark_behind(order, node, behind);
    while ((insn = right_before(search, &at))) {
        struct named_place named;
        enum standing standing = machine_standing(&search->view, insn, &named);

        if (standing == STANDS_INSIDE && named.source == POSITION_DISCRIMINATOR &&
            behind[named.node] && search->from[named.node])
            search->from[named.node] = BETWEEN_OVERTAKEN;
    }
    free(behind);
}

// The node of the frame's own code that an instruction is of, or that it was inlined from there.
static uint32_t node_in_frame(const struct search *search, const struct machine_insn *insn)
{
    struct named_place named;
    enum standing standing = machine_standing(&search->view, insn, &named);

    return standing != STANDS_UNTOLD && standing != STANDS_OUTSIDE &&
                   named.source == POSITION_DISCRIMINATOR
               ? named.node
               : UINT32_MAX;
}

/*
 * The row names a node, but on the straight way on from there something is stored that comes
 * earlier in the source: the code generator orders a block as it likes, as long as accesses to
 * memory keep their order. Control has not come further than that store.
 */
static bool is_ahead(const struct search *search, const struct order *order, uint32_t at,
                     uint32_t node)
{
    const struct machine_code *code = search->view.code;
    uint8_t *behind = xcalloc(search->count + 1u, 1);
    uint32_t last = node;
    bool ahead = false;

    for (uint32_t i = at; !ahead && i + 1 < code->count && code->insns[i].flow == MACHINE_NEXT;
         i++) {
        const struct machine_insn *insn = &code->insns[i + 1];
        uint32_t other = insn->stores ? node_in_frame(search, insn) : UINT32_MAX;

        if (other == UINT32_MAX || other == node || other == last)
            continue;
        order_mark_behind(order, other, behind);
        ahead = behind[node];
        last = other;
    }
    free(behind);
    return ahead;
}

// Has something been stored right before that has lost its place? What comes in several branches
// alike is done before they part.
static bool is_late(const struct search *search, uint32_t at)
{
    const struct machine_insn *insn;
    struct named_place named;

    while ((insn = right_before(search, &at)))
        if (insn->stores_off && machine_standing(&search->view, insn, &named) == STANDS_UNTOLD)
            return true;
    return false;
}

static bool is_in_call(const struct search *search, const struct machine_insn *insn)
{
    struct named_place named;

    return machine_standing(&search->view, insn, &named) == STANDS_IN_CALL;
}

/*
 * Does the instruction stand amid those of a function that was inlined: right behind one, or before
 * one whose call is not announced on the way there? What the caller computes for it, or with its
 * result, may have been put there.
 */
static bool is_amid_call(const struct search *search, uint32_t at)
{
    const struct machine_code *code = search->view.code;
    const struct machine_insn *insn;

    for (uint32_t i = at; (insn = right_before(search, &i));)
        if (is_in_call(search, insn))
            return true;
    for (uint32_t i = at; i + 1 < code->count && code->insns[i].flow == MACHINE_NEXT; i++) {
        if (is_announcement(search, &code->insns[i]))
            break;
        if (is_in_call(search, &code->insns[i + 1]))
            return !is_announcement(search, &code->insns[i + 1]);
    }
    return false;
}

// False: there is no machine code to look at.
static bool search_init(struct search *search, struct decoder *decoder, const struct stop *stop,
                        const struct position *position, uint32_t *ret_at)
{
    *search = (struct search){.view = {.decoder = decoder, .stop = stop, .position = position},
                              .stack = VEC_INIT};
    if (stop->physical && stop->unwound->module)
        error_destroy(debug_info_open(stop->unwound->module, &search->view.info));
    search->view.code = search->view.info ? machine_code_of(decoder, stop->physical) : NULL;
    *ret_at = search->view.code ? machine_find(search->view.code, stop->unwound->pc) : MACHINE_NONE;
    if (*ret_at == MACHINE_NONE)
        return false;
    search->count = model_function(decoder->model, position->function)->node_count;
    search->from = xcalloc(search->count + 1u, 1);
    search->ended = xcalloc(search->count + 1u, 1);
    search->to = xcalloc(search->count + 1u, 1);
    search->called = xcalloc(search->count + 1u, 1);
    search->visited = xcalloc(search->view.code->count + 1u, 1);
    return true;
}

static void search_deinit(struct search *search)
{
    free(search->from);
    free(search->ended);
    free(search->to);
    free(search->called);
    free(search->visited);
    index_stack_deinit(&search->stack);
}

bool decode_is_amid_call(struct decoder *decoder, const struct stop *stop,
                         const struct position *position)
{
    struct search search;
    uint32_t at;

    if (position->function.value == MODEL_NONE ||
        !function_is_optimized(decoder, position->function) ||
        !search_init(&search, decoder, stop, position, &at))
        return false;
    bool amid = is_amid_call(&search, at);
    search_deinit(&search);
    return amid;
}

uint8_t *decode_called(struct decoder *decoder, const struct stop *stop,
                       const struct position *position)
{
    struct search search;
    uint32_t at;

    if (!search_init(&search, decoder, stop, position, &at))
        return NULL;
    search_back(&search, at);
    if (search.lost)
        memset(search.called, 1, search.count);
    uint8_t *called = search.called;
    search.called = NULL;
    search_deinit(&search);
    return called;
}

uint8_t *decode_between(struct decoder *decoder, const struct stop *stop,
                        const struct position *position, bool *ret_moved)
{
    struct search search;
    uint32_t at;

    *ret_moved = false;
    if (!search_init(&search, decoder, stop, position, &at))
        return NULL;
    bool named = position->source == POSITION_DISCRIMINATOR && position->nodes.count == 1;
    search_back(&search, at);
    search_on(&search, at);
    bool on_all = !named || !stop->asynchronous || !search.view.code->insns[at].is_copy ||
                  is_on_all_ways(&search, position->nodes.nodes[0]);
    meet(&search);
    uint32_t flanking = flanking_node(&search, at);
    struct order order;
    order_init(&order, decoder->model, position->function);
    if (flanking != UINT32_MAX && search.from[flanking] && !is_ahead(&search, &order, at, flanking))
        search.from[flanking] = BETWEEN_FLANKED;
    if (named) {
        mark_overtaken(&search, &order, at, position->nodes.nodes[0]);
        *ret_moved = !on_all || is_ahead(&search, &order, at, position->nodes.nodes[0]) ||
                     is_late(&search, at);
    }
    order_deinit(&order);
    uint8_t *from = search.from;
    search.from = NULL;
    search_deinit(&search);
    return from;
}

static bool is_among(struct evidence_nodes set, uint32_t node)
{
    for (uint32_t i = 0; i < set.count; i++)
        if (set.nodes[i] == node)
            return true;
    return false;
}

// Keeps of `between` the nodes that control can come to at all; how many.
static uint32_t keep_reachable(const struct path_numbering *numbers, uint32_t total,
                               uint8_t *between)
{
    uint32_t count = 0;

    for (uint32_t n = 0; between && n < total; n++) {
        if (!path_reachable(numbers, n))
            between[n] = 0;
        count += between[n] != 0;
    }
    return count;
}

// Appends the nodes of `between` that are at least `least` there and, unless `among` is NULL, in
// it.
static uint32_t choose_nodes(const uint8_t *between, uint32_t total, uint8_t least,
                             const struct evidence_nodes *among, uint32_t *nodes)
{
    uint32_t count = 0;

    for (uint32_t n = 0; n < total; n++)
        if (between[n] >= least &&
            (!among || is_among(*among, n) || between[n] == BETWEEN_OVERTAKEN))
            nodes[count++] = n;
    return count;
}

/*
 * A jump that always goes may belong to several nodes: the code generator makes one for an edge,
 * with the place of the branch there, and then one of several that lead to the same place.
 */
static bool is_at_jump(struct decoder *decoder, const struct stop *stop)
{
    const struct machine_code *code =
        stop->physical ? machine_code_of(decoder, stop->physical) : NULL;
    uint32_t at = code ? machine_find(code, stop->unwound->pc) : MACHINE_NONE;

    return at != MACHINE_NONE && code->insns[at].flow == MACHINE_JUMP;
}

enum machine_says decode_machine(struct decoder *decoder, const struct stop *stop,
                                 const struct position *position, bool is_outer,
                                 struct evidence_frame *frame)
{
    const struct path_numbering *numbers = model_numbering(decoder->model, position->function);
    uint32_t total = model_function(decoder->model, position->function)->node_count, kept = 0;
    bool named = position->source == POSITION_DISCRIMINATOR || position->source == POSITION_EDGE;
    enum machine_says says = MACHINE_AGREES;
    bool moved;

    if (!stop->interrupted || stop->trapped || position->source == POSITION_PROLOGUE ||
        (!named && !stop->asynchronous) || !function_is_optimized(decoder, position->function))
        return MACHINE_SAYS_NOTHING;
    if (stop->folded && !is_outer) // the machine code was asked already
        return MACHINE_AGREES;
    uint8_t *between = decode_between(decoder, stop, position, &moved);
    if (!keep_reachable(numbers, total, between)) {
        free(between);
        return MACHINE_SAYS_NOTHING;
    }
    uint32_t *nodes = xmalloc_array(total + 1u, sizeof(*nodes));
    if (!named && !is_outer)
        kept = choose_nodes(between, total, BETWEEN_FLANKED, NULL, nodes);
    if (!kept)
        kept = choose_nodes(between, total, 1, &position->nodes, nodes);
    if (named && (!between[position->nodes.nodes[0]] || (stop->asynchronous && moved) ||
                  (!is_outer && stop->asynchronous && is_at_jump(decoder, stop))))
        kept = 0;
    if (!kept) {
        says = MACHINE_CORRECTS;
        if (named && !(is_outer && stop->asynchronous))
            between[position->nodes.nodes[0]] = 1;
        kept = choose_nodes(between, total, 1, NULL, nodes);
    }
    // something behind the call has been executed: the function that was inlined may be over
    if (is_outer && stop->asynchronous && kept > 1)
        says = MACHINE_CORRECTS;
    if (kept != position->nodes.count || nodes[0] != position->nodes.nodes[0]) {
        frame->candidates = decode_nodes(decoder, nodes, kept);
        frame->candidates_from = "machine";
    }
    free(nodes);
    free(between);
    return says;
}
