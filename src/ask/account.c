// SPDX-License-Identifier: Apache-2.0
#include "ask/account.h"

#include <stdlib.h>
#include <string.h>

#include "ask/case.h"
#include "common/alloc.h"
#include "program/library.h"
#include "program/model.h"

// ---- Code that may leave activations behind

// May the call give up activations of the program, or run some of them on a stack of their own?
static bool may_abandon(const struct model_site *site)
{
    static const char *const leaving[] = {"vfork", "clone", "clone3", "syscall"};
    const struct library_function *known = NULL;

    if (site->flags & (SITE_LONGJMP | SITE_THREAD_START))
        return true;
    if (!(site->flags & SITE_EXTERNAL))
        return false;
    for (size_t i = 0; site->callee && i < sizeof(leaving) / sizeof(*leaving); i++)
        if (strcmp(site->callee, leaving[i]) == 0)
            return true;
    if (site->callee)
        known = library_find(site->callee);
    // what calls nothing of the program has none of its activations above itself
    if (!known)
        return site->flags & (SITE_CALLS_BACK | SITE_MAY_LONGJMP);
    return known->flags & (LIBRARY_LONGJMP | LIBRARY_THREAD | LIBRARY_LOADS | LIBRARY_HANDS_OUT);
}

static bool is_plain_code(const struct ask_case *ask)
{
    const struct model *model = ask->model;

    for (uint32_t n = 0; n < model->node_count; n++) {
        const struct model_node *node = &model->nodes[n];

        if (node->flags & (NODE_ASM | NODE_LONGJMP))
            return false;
        if (node->site.value != MODEL_NONE && !bitset_test(&ask->closed, n) &&
            may_abandon(model_site(model, node->site)))
            return false;
    }
    return true;
}

static bool is_sound(const struct ask_thread *thread)
{
    return !thread->is_impossible && !thread->is_doubtful;
}

static bool is_whole_stack(const struct ask_case *ask)
{
    const struct ask_thread *thread = &ask->threads[0];

    if (!is_sound(thread) || thread->start != ask->flow->start)
        return false;
    for (size_t v = 0; v < thread->views.length; v++)
        if (thread->views.data[v]->function == FLOW_NONE)
            return false;
    return true;
}

// ---- What stands on the stack

struct callers {
    uint32_t *count; // by function: nodes that may call it
    uint32_t *node;  // one of them
};

static void find_callers(const struct ask_case *ask, struct callers *callers)
{
    const struct flow *flow = ask->flow;
    uint32_t *count = xcalloc(flow->set_count + 1u, sizeof(*count)); // by set
    uint32_t *node = xcalloc(flow->set_count + 1u, sizeof(*node));

    callers->count = xcalloc(flow->function_count + 1u, sizeof(uint32_t));
    callers->node = xcalloc(flow->function_count + 1u, sizeof(uint32_t));
    for (uint32_t n = 0; n < flow->node_count; n++)
        if (!bitset_test(&ask->closed, n)) {
            count[flow->node_set[n]]++;
            node[flow->node_set[n]] = n;
        }
    for (uint32_t s = 1; s < flow->set_count; s++) {
        struct flow_callees members = flow_set(flow, s);

        for (uint32_t m = 0; m < members.count && count[s]; m++) {
            callers->count[members.data[m]] += count[s];
            callers->node[members.data[m]] = node[s];
        }
    }
    free(count);
    free(node);
}

// Can control come to the node again in one activation?
static bool is_in_loop(const struct ask_case *ask, uint32_t node)
{
    const struct flow *flow = ask->flow;
    const struct flow_function *f = &flow->functions[flow->node_function[node]];
    uint32_t *stack = xmalloc_array(f->node_count + 1u, sizeof(*stack)), top = 0;
    bool *seen = xcalloc(f->node_count + 1u, sizeof(*seen));
    bool again = false;

    stack[top++] = node;
    while (top && !again) {
        uint32_t from = stack[--top];
        struct flow_edges edges = flow_edges(flow, from);

        for (uint32_t e = 0; e < edges.count && !bitset_test(&ask->closed, from); e++) {
            uint32_t target = edges.data[e].target;

            again |= target == node;
            if (!seen[target - f->first_node]) {
                seen[target - f->first_node] = true;
                stack[top++] = target;
            }
        }
    }
    free(stack);
    free(seen);
    return again;
}

static bool is_called_once(const struct ask_case *ask, const struct account *account,
                           const struct callers *callers, uint32_t function)
{
    uint32_t node = callers->node[function];

    if (callers->count[function] != 1)
        return false;
    return node == ask->flow->main_call ||
           (bitset_test(&account->once, ask->flow->node_function[node]) &&
            bitset_test(&account->stands, node) && !is_in_loop(ask, node));
}

static void find_standing(struct account *account, const struct ask_thread *thread)
{
    for (size_t v = 0; v < thread->views.length; v++) {
        const struct view *view = thread->views.data[v];

        for (uint32_t e = 0; e < view->end_count; e++)
            bitset_set(&account->stands, view->node[view->end[e]]);
    }
}

// Outermost first: what has one caller, at which one activation stands that is in no loop, was
// entered once itself.
static void find_once(struct account *account, const struct ask_case *ask,
                      const struct ask_thread *thread)
{
    struct callers callers;

    find_callers(ask, &callers);
    for (size_t v = 0; v < thread->views.length; v++) {
        uint32_t function = thread->views.data[v]->function;

        if (function != FLOW_NONE && is_called_once(ask, account, &callers, function))
            bitset_set(&account->once, function);
    }
    free(callers.count);
    free(callers.node);
}

// ----

void account_init(struct account *account, const struct ask_case *ask)
{
    *account = (struct account){0};
    bitset_init(&account->stands, ask->flow->node_count);
    bitset_init(&account->once, ask->flow->function_count);
    if (ask->flow->has_jumps)
        return;
    for (uint32_t t = 0; t < ask->thread_count; t++)
        find_standing(account, &ask->threads[t]);
    for (uint32_t t = 0; t < ask->thread_count; t++)
        if (is_sound(&ask->threads[t]) && ask->threads[t].start == ask->flow->start)
            find_once(account, ask, &ask->threads[t]);
    account->is_complete = ask->is_single && is_whole_stack(ask) && is_plain_code(ask);
}

void account_deinit(struct account *account)
{
    bitset_deinit(&account->stands);
    bitset_deinit(&account->once);
}
