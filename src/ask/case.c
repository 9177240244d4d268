// SPDX-License-Identifier: Apache-2.0
#include "ask/case.h"

#include <stdlib.h>
#include <string.h>

#include "ask/case_internal.h"
#include "ask/query.h"
#include "common/alloc.h"
#include "common/error.h"
#include "evidence/evidence.h"
#include "program/model.h"
#include "solve/automaton.h"

bool case_function(const struct ask_case *ask, uint64_t module_id, uint32_t index, uint32_t *ret)
{
    struct module_id module;
    struct function_id function;

    if (!module_id || !model_find_module(ask->model, module_id, &module) ||
        !model_find_function(ask->model, module, index, &function) ||
        !model_function(ask->model, function)->node_count)
        return false;
    *ret = function.value;
    return true;
}

// ---- Facts

static void frame_facts(struct ask_case *ask, unsigned use, uint32_t t, uint32_t f)
{
    const struct evidence_frame *frame = &ask->evidence->threads[t].frames[f];

    if (frame->kind != EVIDENCE_FRAME_MODEL)
        return;
    if (use & ASK_USE_PATHS && frame->path.step_count)
        ask_fact_vec_push(&ask->facts,
                          (struct ask_fact){.kind = ASK_FACT_PATHS, .thread = t, .frame = f});
    if (use & ASK_USE_COVERAGE && frame->call_count)
        ask_fact_vec_push(&ask->facts,
                          (struct ask_fact){.kind = ASK_FACT_CALLS, .thread = t, .frame = f});
}

// Coverage of a module that is in several images is of all of them together, and left aside.
static bool is_loaded_once(const struct ask_case *ask, uint64_t module_id, uint32_t *ret)
{
    uint32_t count = 0;

    for (uint32_t m = 0; m < ask->model->module_count; m++)
        if (ask->model->modules[m].id == module_id) {
            *ret = m;
            count++;
        }
    return count == 1;
}

static void coverage_facts(struct ask_case *ask, const struct evidence_coverage *coverage)
{
    uint32_t m;

    if (!is_loaded_once(ask, coverage->module_id, &m))
        return;
    const struct model_module *module = &ask->model->modules[m];
    for (uint32_t s = 0; s < module->site_count && s < coverage->site_count; s++)
        if (coverage->sites[s] != EVIDENCE_UNKNOWN)
            ask_fact_vec_push(
                &ask->facts,
                (struct ask_fact){.kind = coverage->sites[s] == EVIDENCE_TRUE ? ASK_FACT_CALLED
                                                                              : ASK_FACT_NOT_CALLED,
                                  .node = ask->model->sites[module->first_site + s].node.value});
}

static void collect_facts(struct ask_case *ask, unsigned use)
{
    const struct evidence *evidence = ask->evidence;

    for (uint32_t t = 0; use & ASK_USE_STACK && t < evidence->thread_count; t++) {
        ask_fact_vec_push(&ask->facts, (struct ask_fact){.kind = ASK_FACT_STACK, .thread = t});
        for (uint32_t f = 0; f < evidence->threads[t].frame_count; f++)
            frame_facts(ask, use, t, f);
    }
    for (uint32_t c = 0; use & ASK_USE_COVERAGE && c < evidence->coverage_count; c++)
        coverage_facts(ask, &evidence->coverage[c]);
    for (uint32_t o = 0; use & ASK_USE_LOGS && o < evidence->observation_count; o++)
        ask_fact_vec_push(&ask->facts,
                          (struct ask_fact){.kind = ASK_FACT_OBSERVATION, .observation = o});
}

// Facts of threads come first, sorted by thread, frame and kind.
static int compare_fact(const struct ask_fact *a, const struct ask_fact *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if ((a->kind == ASK_FACT_STACK) != (b->kind == ASK_FACT_STACK))
        return a->kind == ASK_FACT_STACK ? -1 : 1;
    if (a->frame != b->frame)
        return a->frame < b->frame ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

bool case_uses(const struct ask_case *ask, enum ask_fact_kind kind, uint32_t thread, uint32_t frame)
{
    struct ask_fact wanted = {.kind = kind, .thread = thread, .frame = frame};
    uint32_t low = 0, high = ask->thread_fact_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_fact(&ask->facts.data[middle], &wanted);

        if (order == 0)
            return bitset_test(&ask->enabled, middle);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

// ---- The case

// May code have run in a thread that is not in the evidence any more?
static bool may_have_more_threads(const struct ask_case *ask)
{
    for (uint32_t r = 0; r < ask->model->root_count; r++)
        if (ask->model->roots[r].reason == ROOT_THREAD)
            return true;
    return false;
}

static void take_facts(struct ask_case *ask)
{
    for (uint32_t i = 0; i < ask->facts.length; i++) {
        const struct ask_fact *fact = &ask->facts.data[i];

        if (!bitset_test(&ask->enabled, i))
            continue;
        if (fact->kind == ASK_FACT_CALLED)
            ask_id_vec_push(&ask->ran, fact->node);
        else if (fact->kind == ASK_FACT_NOT_CALLED)
            bitset_set(&ask->closed, fact->node);
        else if (fact->kind == ASK_FACT_OBSERVATION)
            case_observation(ask, &ask->evidence->observations[fact->observation]);
        else if (fact->kind == ASK_FACT_GIVEN) {
            const struct query *query = ask->queries.data[fact->observation];

            ask_automaton_vec_push(&ask->given, query_automaton(query, QUERY_EXACT));
            ask_automaton_vec_push(&ask->given_flat, query_automaton(query, QUERY_REGULAR));
        }
    }
}

static void drop_automata(struct ask_automaton_vec *automata)
{
    for (size_t a = 0; a < automata->length; a++)
        automaton_destroy(automata->data[a]);
    automata->length = 0;
}

static void drop_thread(struct ask_thread *thread)
{
    ask_view_vec_deinit(&thread->views);
    ask_link_vec_deinit(&thread->links);
    ask_id_vec_deinit(&thread->ends);
    ask_id_vec_deinit(&thread->cut);
}

static void drop_views(struct ask_view_vec *views)
{
    for (size_t v = 0; v < views->length; v++)
        view_destroy(views->data[v]);
    views->length = 0;
}

static void clear(struct ask_case *ask)
{
    for (uint32_t t = 0; t < ask->thread_count; t++)
        drop_thread(&ask->threads[t]);
    for (uint32_t g = 0; g < ask->gone_count; g++)
        drop_thread(&ask->gone[g]);
    free(ask->threads);
    ask->threads = NULL;
    ask->thread_count = ask->gone_count = 0;
    drop_views(&ask->views);
    drop_views(&ask->gone_views);
    drop_automata(&ask->automata);
    drop_automata(&ask->given);
    drop_automata(&ask->given_flat);
    ask->ran.length = 0;
    ask->traces.length = 0;
    bitset_clear_all(&ask->closed);
    bitset_clear_all(&ask->absent);
    arena_clear(&ask->arena);
}

static void build(struct ask_case *ask)
{
    ask->may_have_more = may_have_more_threads(ask);
    take_facts(ask);
    case_threads(ask);
    ask->is_single = ask->thread_count == 1 && !ask->may_have_more;
    case_gone(ask);
}

void ask_case_given(struct ask_case *ask, const struct query *query)
{
    ask_fact_vec_push(&ask->facts, (struct ask_fact){.kind = ASK_FACT_GIVEN,
                                                     .observation = (uint32_t)ask->queries.length});
    ask_query_vec_push(&ask->queries, query);
    clear(ask);
    bitset_resize(&ask->enabled, ask->facts.length);
    bitset_set(&ask->enabled, ask->facts.length - 1);
    build(ask);
}

void ask_case_enable(struct ask_case *ask, const struct bitset *facts)
{
    clear(ask);
    bitset_copy(&ask->enabled, facts);
    build(ask);
}

struct error *ask_case_create(struct model *model, const struct evidence *evidence, unsigned use,
                              struct ask_case **ret)
{
    struct error *err = model_complete(model);
    if (err)
        return err;
    struct ask_case *ask = xcalloc(1, sizeof(*ask));
    ask->model = model;
    ask->evidence = evidence;
    arena_init(&ask->arena);
    ask->flow = flow_from_model(model);
    bitset_init(&ask->closed, ask->flow->node_count);
    bitset_init(&ask->absent, ask->flow->node_count);
    collect_facts(ask, use);
    while (ask->thread_fact_count < ask->facts.length &&
           ask->facts.data[ask->thread_fact_count].kind <= ASK_FACT_CALLS)
        ask->thread_fact_count++;
    bitset_init(&ask->enabled, ask->facts.length);
    bitset_set_all(&ask->enabled);
    build(ask);
    *ret = ask;
    return NULL;
}

void ask_case_destroy(struct ask_case *ask)
{
    if (!ask)
        return;
    clear(ask);
    ask_fact_vec_deinit(&ask->facts);
    bitset_deinit(&ask->enabled);
    ask_view_vec_deinit(&ask->views);
    ask_view_vec_deinit(&ask->gone_views);
    ask_id_vec_deinit(&ask->ran);
    ask_trace_vec_deinit(&ask->traces);
    ask_automaton_vec_deinit(&ask->automata);
    ask_automaton_vec_deinit(&ask->given);
    ask_automaton_vec_deinit(&ask->given_flat);
    ask_query_vec_deinit(&ask->queries);
    bitset_deinit(&ask->closed);
    bitset_deinit(&ask->absent);
    flow_destroy(ask->flow);
    arena_deinit(&ask->arena);
    free(ask);
}
