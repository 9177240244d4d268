// SPDX-License-Identifier: Apache-2.0
/*
 * A thread's stack as a chain of activations, outermost first: where it began; the model's frames,
 * with an activation of library code between two where one calls the other back, and of the
 * kernel's where a signal handler was called; a gap where frames may be missing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/case_internal.h"
#include "common/alloc.h"
#include "common/hash.h"
#include "common/map.h"
#include "evidence/evidence.h"
#include "program/library.h"
#include "program/model.h"

MAP_DEFINE_U64(view_map, uint32_t);

// How a frame was entered from the model's frame outside of it.
enum entered {
    ENTERED_DIRECTLY,
    ENTERED_BY_LIBRARY,
    ENTERED_BY_SIGNAL,
    ENTERED_SOMEHOW, // frames may be missing
};

struct chain {
    struct ask_case *ask;
    struct ask_thread *thread;
    struct view_map known;  // views by their facts' hash: index in `facts`
    struct view_facts last; // of the frame that was added last; function FLOW_NONE: a gap
    bool has_last;
};

// ---- Equal activations share a view

struct known_view {
    struct view_facts facts;
    struct view *view;
};
VEC_DEFINE(known_vec, struct known_view);

static uint64_t hash_ids(uint64_t hash, const uint32_t *ids, uint32_t count)
{
    hash = hash_mix(hash ^ count);
    for (uint32_t i = 0; i < count; i++)
        hash = hash_mix(hash ^ ids[i]);
    return hash;
}

static uint64_t hash_facts(const struct view_facts *facts)
{
    uint64_t hash = hash_mix(facts->function);

    hash = hash_ids(hash, facts->at, facts->at_count);
    hash = hash_ids(hash, facts->closed, facts->closed_count);
    hash = hash_ids(hash, facts->amid, facts->amid_count);
    hash = hash_ids(hash, facts->ran, facts->ran_count);
    hash = hash_mix(hash ^ (uint64_t)facts->from_entry << 1 ^ facts->to_end ^
                    (uint64_t)facts->is_direct << 2);
    for (uint32_t s = 0; s < facts->step_count; s++)
        hash = hash_mix(hash ^ facts->steps[s].node ^ (uint64_t)facts->steps[s].loop_count << 32 ^
                        (uint64_t)facts->steps[s].leaves << 16 ^
                        (uint64_t)facts->steps[s].passes << 63);
    return hash;
}

static bool same_ids(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
    return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof(*a)) == 0);
}

static bool same_facts(const struct view_facts *a, const struct view_facts *b)
{
    bool same = a->function == b->function && a->from_entry == b->from_entry &&
                a->to_end == b->to_end && a->is_direct == b->is_direct &&
                a->step_count == b->step_count &&
                same_ids(a->at, a->at_count, b->at, b->at_count) &&
                same_ids(a->closed, a->closed_count, b->closed, b->closed_count) &&
                same_ids(a->amid, a->amid_count, b->amid, b->amid_count) &&
                same_ids(a->ran, a->ran_count, b->ran, b->ran_count);

    // a loop is told by one of its nodes
    for (uint32_t s = 0; same && s < a->step_count; s++)
        same = a->steps[s].node == b->steps[s].node && a->steps[s].leaves == b->steps[s].leaves &&
               a->steps[s].leaves_told == b->steps[s].leaves_told &&
               a->steps[s].passes == b->steps[s].passes &&
               a->steps[s].loop_count == b->steps[s].loop_count;
    return same;
}

static struct known_vec *case_known(struct ask_case *ask)
{
    return ask->known ? ask->known : (ask->known = xcalloc(1, sizeof(struct known_vec)));
}

static struct view *view_of(struct chain *chain, const struct view_facts *facts)
{
    struct ask_case *ask = chain->ask;
    struct known_vec *known = case_known(ask);
    bool is_new;
    uint32_t *found = view_map_put_new(&chain->known, hash_facts(facts), &is_new);

    if (!is_new && same_facts(&known->data[*found].facts, facts))
        return known->data[*found].view;
    struct view *view = view_create(ask->flow, facts);
    ask_view_vec_push(&ask->views, view);
    *found = (uint32_t)known->length;
    known_vec_push(known, (struct known_view){*facts, view});
    return view;
}

// ---- The chain

static void add_view(struct chain *chain, const struct view_facts *facts)
{
    ask_view_vec_push(&chain->thread->views, view_of(chain, facts));
    chain->last = *facts;
    chain->has_last = true;
}

// A pending call into `function`: for solvers without contexts.
static void add_link(struct chain *chain, uint32_t function)
{
    struct utl_link link = {.function = function, .is_direct = chain->thread->is_doubtful};

    if (!chain->has_last)
        return;
    if (chain->last.function != FLOW_NONE) {
        link.nodes = chain->last.at;
        link.count = chain->last.at_count;
    }
    if (link.count || function != FLOW_NONE)
        ask_link_vec_push(&chain->thread->links, link);
}

static void add_gap(struct chain *chain)
{
    if (chain->has_last && chain->last.function == FLOW_NONE)
        return;
    add_link(chain, FLOW_NONE);
    add_view(chain,
             &(struct view_facts){.function = FLOW_NONE, .is_direct = chain->thread->is_doubtful});
}

static bool set_has(const struct flow *flow, uint32_t set, uint32_t function)
{
    struct flow_callees members = flow_set(flow, set);

    for (uint32_t i = 0; i < members.count; i++)
        if (members.data[i] == function)
            return true;
    return false;
}

// An activation of one of the functions that stand for other code, whose call (or whose hub) is
// where it is.
static void add_foreign(struct chain *chain, uint32_t function, uint32_t node)
{
    uint32_t *at = arena_alloc_one(&chain->ask->arena, uint32_t);

    *at = node;
    add_link(chain, function);
    add_view(chain, &(struct view_facts){.function = function, .at = at, .at_count = 1});
}

// The function that stands for library code at this node, FLOW_NONE when there is none.
static uint32_t library_at(const struct ask_case *ask, uint32_t node)
{
    struct flow_callees members = flow_callees(ask->flow, node);

    for (uint32_t i = 0; i < members.count; i++)
        if (members.data[i] >= ask->model->function_count)
            return members.data[i];
    return FLOW_NONE;
}

// The same for all nodes where the last frame waits; FLOW_NONE where they differ.
static uint32_t library_called(const struct chain *chain)
{
    uint32_t library = FLOW_NONE;

    for (uint32_t i = 0; chain->has_last && i < chain->last.at_count; i++) {
        uint32_t f = library_at(chain->ask, chain->last.at[i]);

        if (f == FLOW_NONE || (library != FLOW_NONE && library != f))
            return FLOW_NONE;
        library = f;
    }
    return library;
}

// Can the node's call be the one that entered the function, in this way?
static bool enters(const struct ask_case *ask, uint32_t node, enum entered entered,
                   uint32_t function)
{
    const struct flow *flow = ask->flow;
    uint32_t library;

    switch (entered) {
    case ENTERED_DIRECTLY:
        return set_has(flow, flow->node_set[node], function);
    case ENTERED_BY_LIBRARY:
        library = library_at(ask, node);
        return library != FLOW_NONE &&
               set_has(flow, flow->node_set[flow->functions[library].entry + 1], function);
    case ENTERED_BY_SIGNAL:
    case ENTERED_SOMEHOW:
        break;
    }
    return true;
}

/*
 * Of the nodes where a frame waits, those whose call can be the one it waits for: that was made,
 * and enters the next frame; where none can enter it, frames are missing after all.
 */
static void narrow(struct chain *chain, struct view_facts *facts, bool waits, enum entered entered,
                   uint32_t next)
{
    const struct ask_case *ask = chain->ask;
    uint32_t *at = arena_alloc_array(&chain->ask->arena, facts->at_count + 1u, uint32_t);
    bool some = entered == ENTERED_SOMEHOW && ask->flow->signals == FLOW_NONE;
    bool made = waits && next != FLOW_NONE && (entered == ENTERED_DIRECTLY || some);
    uint32_t count = 0, entering = 0, fits = 0;

    for (uint32_t i = 0; i < facts->at_count; i++) {
        bool closed = bitset_test(&ask->closed, facts->at[i]);

        for (uint32_t c = 0; c < facts->closed_count; c++)
            closed |= facts->closed[c] == facts->at[i];
        entering += waits && next != FLOW_NONE && enters(ask, facts->at[i], entered, next);
        if (!(made && closed))
            at[count++] = facts->at[i];
    }
    for (uint32_t i = 0; entering && i < count; i++)
        if (enters(ask, at[i], entered, next))
            at[fits++] = at[i];
    facts->at = at;
    facts->at_count = entering ? fits : count;
    chain->thread->is_impossible |= facts->at_count == 0;
}

// Connects the last activation to the next frame, of `function`.
static void connect(struct chain *chain, enum entered entered, uint32_t function)
{
    const struct flow *flow = chain->ask->flow;

    if (entered == ENTERED_DIRECTLY) {
        if (chain->last.at_count && enters(chain->ask, chain->last.at[0], entered, function))
            return;
        chain->thread->is_doubtful = true;
    } else if (entered == ENTERED_BY_SIGNAL && flow->signals != FLOW_NONE) {
        uint32_t call = flow->functions[flow->signals].entry + 1;
        if (set_has(flow, flow->node_set[call], function)) {
            add_foreign(chain, flow->signals, call);
            return;
        }
    } else if (entered == ENTERED_BY_LIBRARY) {
        uint32_t library = library_called(chain);
        if (library != FLOW_NONE && enters(chain->ask, chain->last.at[0], entered, function)) {
            add_foreign(chain, library, flow->functions[library].entry + 1);
            return;
        }
    }
    add_gap(chain);
}

// Did the C library begin the stack as it begins those of other threads than the first?
static bool is_begun_as_thread(const struct evidence_thread *evidence)
{
    static const char *const names[] = {"start_thread", "clone", "clone3", "__clone", "__clone3"};
    const struct evidence_frame *frame =
        evidence->frame_count ? &evidence->frames[evidence->frame_count - 1] : NULL;

    for (size_t i = 0; frame && frame->function.name && i < sizeof(names) / sizeof(*names); i++)
        if (frame->kind == EVIDENCE_FRAME_FOREIGN && strcmp(frame->function.name, names[i]) == 0)
            return true;
    return false;
}

// Where the thread began, given its outermost frame of the model.
static void add_start(struct chain *chain, const struct evidence_thread *evidence, bool whole,
                      uint32_t function)
{
    const struct flow *flow = chain->ask->flow;
    uint32_t thread_call = flow->functions[flow->thread_start].entry + 1;
    uint32_t early_call = flow->functions[flow->start].entry + 1;
    bool as_thread = is_begun_as_thread(evidence);

    if (whole && set_has(flow, flow->node_set[flow->main_call], function)) {
        chain->thread->start = flow->start;
        add_foreign(chain, flow->start, flow->main_call);
    } else if (whole && set_has(flow, flow->node_set[thread_call], function) &&
               (as_thread || (!set_has(flow, flow->node_set[early_call], function) &&
                              !set_has(flow, flow->node_set[flow->late_call], function)))) {
        chain->thread->start = flow->thread_start;
        add_foreign(chain, flow->thread_start, thread_call);
    } else {
        chain->thread->start = flow->any_start;
        add_foreign(chain, flow->any_start, flow->functions[flow->any_start].entry);
        add_gap(chain);
    }
}

// A frame of the model, and how it was entered from the one before.
struct stack_frame {
    const struct evidence_frame *frame;
    uint32_t number, function;
    enum entered entered;
};
VEC_DEFINE(stack_frame_vec, struct stack_frame);

// The model's frames, outermost first; how what is inside of the innermost was entered.
static enum entered model_frames(const struct ask_case *ask, const struct evidence_thread *evidence,
                                 struct stack_frame_vec *ret)
{
    enum entered entered = ENTERED_DIRECTLY;

    for (uint32_t i = evidence->frame_count; i-- > 0;) {
        const struct evidence_frame *frame = &evidence->frames[i];
        uint32_t function;

        if (frame->gap || frame->guessed)
            entered = ENTERED_SOMEHOW;
        if (frame->kind == EVIDENCE_FRAME_SIGNAL) {
            if (entered != ENTERED_SOMEHOW)
                entered = ENTERED_BY_SIGNAL;
        } else if (frame->kind == EVIDENCE_FRAME_FOREIGN ||
                   !case_function(ask, frame->function.module_id, frame->function.index,
                                  &function)) {
            if (entered == ENTERED_DIRECTLY)
                entered = ENTERED_BY_LIBRARY;
            else if (entered == ENTERED_BY_SIGNAL)
                entered = ENTERED_SOMEHOW;
        } else if (!frame->guessed) {
            stack_frame_vec_push(ret, (struct stack_frame){frame, i, function, entered});
            entered = ENTERED_DIRECTLY;
        }
    }
    return entered;
}

// Where the run ends: in the innermost frame of the model, or in what it called.
static void add_end(struct chain *chain, enum entered entered)
{
    const struct flow *flow = chain->ask->flow;
    struct ask_thread *thread = chain->thread;
    uint32_t library = entered == ENTERED_BY_LIBRARY ? library_called(chain) : FLOW_NONE;
    bool calls = false;

    for (uint32_t i = 0; i < chain->last.at_count; i++)
        calls |= flow->node_set[chain->last.at[i]] != 0;
    if (library != FLOW_NONE)
        add_foreign(chain, library, flow->functions[library].entry);
    else if (entered == ENTERED_BY_LIBRARY ? calls : entered != ENTERED_DIRECTLY)
        add_gap(chain); // it may have been called back
    for (uint32_t i = 0; i < chain->last.at_count; i++)
        ask_id_vec_push(&thread->ends, chain->last.at[i]);
}

// Is this the function that the site calls? Libraries have several names for one.
static bool is_callee(const struct model_site *site, const char *name)
{
    char plain[128], called[128];

    if (!site->callee || !name || library_is_builtin(site->callee))
        return false;
    if (!library_plain_name(name, plain, sizeof(plain)))
        snprintf(plain, sizeof(plain), "%s", name);
    if (!library_plain_name(site->callee, called, sizeof(called)))
        snprintf(called, sizeof(called), "%s", site->callee);
    return strcmp(plain, called) == 0;
}

// Does the frame certainly wait for the call that ends this node, and not for one that the compiler
// or assembly makes in the middle of it?
static bool waits_at_end(const struct ask_case *ask, const struct evidence_thread *evidence,
                         const struct stack_frame *frame, const struct stack_frame *next,
                         uint32_t node)
{
    const struct model_node *in = &ask->model->nodes[node];
    uint32_t function;

    if (frame->frame->interrupted || frame->number == 0 || in->flags & NODE_ASM ||
        in->site.value == MODEL_NONE || bitset_test(&ask->closed, node))
        return false;
    const struct evidence_frame *inner = &evidence->frames[frame->number - 1];
    if (inner->kind == EVIDENCE_FRAME_MODEL &&
        case_function(ask, inner->function.module_id, inner->function.index, &function))
        return ask->flow->node_set[node] != 0;
    // what compilers call by themselves does not call back
    if (next && next->entered == ENTERED_BY_LIBRARY &&
        enters(ask, node, ENTERED_BY_LIBRARY, next->function))
        return true;
    return is_callee(model_site(ask->model, in->site), inner->function.name);
}

// A frame that does not has perhaps not come to the end of its node.
static void find_amid(struct chain *chain, const struct evidence_thread *evidence,
                      const struct stack_frame *frame, const struct stack_frame *next, bool unasked,
                      struct view_facts *facts)
{
    uint32_t *amid = arena_alloc_array(&chain->ask->arena, facts->at_count + 1u, uint32_t);

    facts->amid = amid;
    for (uint32_t i = 0; i < facts->at_count; i++)
        if (unasked || !waits_at_end(chain->ask, evidence, frame, next, facts->at[i]))
            amid[facts->amid_count++] = facts->at[i];
    ask_id_vec_append(&chain->thread->cut, amid, facts->amid_count);
}

// Does the frame wait for a call that the compiler has made (of the program's own floor)?
static bool is_unasked(const struct chain *chain, const struct view_facts *facts,
                       const struct stack_frame *next)
{
    const struct ask_case *ask = chain->ask;

    if (!next || !library_is_builtin(ask->model->functions[next->function].name))
        return false;
    for (uint32_t i = 0; next->entered != ENTERED_SOMEHOW && i < facts->at_count; i++)
        if (enters(ask, facts->at[i], next->entered, next->function))
            return false;
    return true;
}

static void add_frames(struct chain *chain, const struct evidence_thread *evidence)
{
    struct stack_frame_vec frames = VEC_INIT;
    enum entered inside = model_frames(chain->ask, evidence, &frames);

    if (!frames.length)
        add_start(chain, evidence, false, 0);
    for (size_t i = 0; i < frames.length; i++) {
        const struct stack_frame *frame = &frames.data[i];
        const struct stack_frame *next = i + 1 < frames.length ? frame + 1 : NULL;
        struct view_facts facts;

        if (i == 0)
            add_start(chain, evidence, evidence->whole && frame->entered != ENTERED_SOMEHOW,
                      frame->function);
        else
            connect(chain, frame->entered, frame->function);
        case_frame(chain->ask, frame->frame, chain->thread->index, frame->number, frame->function,
                   &facts);
        bool unasked = is_unasked(chain, &facts, next);
        narrow(chain, &facts, !frame->frame->interrupted && !unasked, next ? next->entered : inside,
               next ? next->function : FLOW_NONE);
        chain->thread->is_doubtful |= unasked;
        find_amid(chain, evidence, frame, next, unasked, &facts);
        add_link(chain, frame->function);
        add_view(chain, &facts);
    }
    if (frames.length)
        add_end(chain, inside);
    stack_frame_vec_deinit(&frames);
}

void case_threads(struct ask_case *ask)
{
    const struct evidence *evidence = ask->evidence;
    uint32_t count = evidence->thread_count ? evidence->thread_count : 1;
    struct evidence_thread nothing = {0};
    struct chain chain = {.ask = ask};

    ask->threads = xcalloc(count, sizeof(*ask->threads));
    ask->thread_count = count;
    for (uint32_t t = 0; t < count; t++) {
        bool known = case_uses(ask, ASK_FACT_STACK, t, 0);

        chain.thread = &ask->threads[t];
        chain.thread->index = t;
        chain.has_last = false;
        add_frames(&chain, known ? &evidence->threads[t] : &nothing);
    }
    view_map_deinit(&chain.known);
    if (ask->known)
        known_vec_deinit(ask->known);
    free(ask->known);
    ask->known = NULL;
}

// ---- Threads that are gone

// May have ended anywhere: pthread_exit, a cancellation, a fork in another thread. So its stack is
// where it began, and a gap.
static void add_gone(struct ask_case *ask, uint32_t start)
{
    const struct flow_function *f = &ask->flow->functions[start];
    uint32_t *at = arena_alloc_array(&ask->arena, f->node_count + 1u, uint32_t);
    struct view_facts begun = {.function = start, .at = at, .at_count = f->node_count};
    struct view_facts gap = {.function = FLOW_NONE};
    struct ask_thread *thread = &ask->gone[ask->gone_count++];

    for (uint32_t n = 0; n < f->node_count; n++)
        at[n] = f->first_node + n;
    *thread = (struct ask_thread){.index = ASK_THREAD_GONE, .start = start};
    for (int i = 0; i < 2; i++) {
        struct view *view = view_create(ask->flow, i ? &gap : &begun);

        ask_view_vec_push(&ask->gone_views, view);
        ask_view_vec_push(&thread->views, view);
    }
}

// main() left by pthread_exit, another thread forked this process, its stack was not pasted: or a
// stack that is not whole may be its.
static bool is_first_gone(const struct ask_case *ask)
{
    for (uint32_t t = 0; t < ask->thread_count; t++)
        if (ask->threads[t].start == ask->flow->start)
            return false;
    return !ask->is_single;
}

void case_gone(struct ask_case *ask)
{
    if (is_first_gone(ask))
        add_gone(ask, ask->flow->start);
    if (ask->may_have_more)
        add_gone(ask, ask->flow->thread_start);
}
