// SPDX-License-Identifier: Apache-2.0
/*
 * The best paths of small random programs against those that an exhaustive search finds (score,
 * then length), with every mix of what can be known: stacks, several of them, views with suffixes
 * and gaps, closed and absent nodes, orders, automata, negative and zero scores, a cost of length,
 * clusters, a measure. Forwards, backwards, as sets and as diagrams, compressed and not: all the
 * same.
 *
 *     test_path [PROGRAMS [FIRST]]
 */
// timeout: 600
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "brute_program.h"
#include "common/bitset.h"
#include "common/budget.h"
#include "common/error.h"
#include "path/path.h"
#include "path_oracle.h"
#include "program/model.h"
#include "program/model_text.h"
#include "solve/automata.h"
#include "solve/conjunction.h"
#include "solve/view.h"

enum kind {
    KIND_ENDS,
    KIND_STACK,
    KIND_STACKS,
    KIND_VIEWS,
    KIND_COUNT,
};

struct example {
    struct brute_program program;
    struct model *model;
    struct flow *flow;
    struct oracle_question question;
    enum kind kind;
    uint64_t closed, absent, avoid;
    double score[ORACLE_CRITICAL];
    uint32_t cluster[ORACLE_CRITICAL];
    double per_step;
    bool separate, measures;
    uint32_t top;
    struct automaton *automaton;
    uint32_t automaton_kind;
    bool is_walked;   // all of it was seen in one walk
    uint64_t reached; // by some walk
};

// ---- Walks

struct walk {
    struct oracle_state *next;
    bool *is_step;
    uint32_t count, room;
};

static void take(void *context, const struct oracle_state *state, bool is_step)
{
    struct walk *walk = context;

    if (walk->count == walk->room) {
        walk->room = walk->room ? walk->room * 2 : 64;
        walk->next = xrealloc(walk->next, walk->room * sizeof(*walk->next));
        walk->is_step = xrealloc(walk->is_step, walk->room * sizeof(bool));
    }
    walk->next[walk->count] = *state;
    walk->is_step[walk->count++] = is_step;
}

// What a walk has seen, by frame and in all.
struct seen {
    struct oracle_state state;
    uint32_t own[ORACLE_DEPTH][64], own_count[ORACLE_DEPTH];
    uint64_t passed, reached;
};

static void follow_walk(struct seen *seen, const struct oracle_state *next, bool is_step)
{
    uint32_t before = seen->state.depth;

    for (uint32_t d = next->depth; d < before; d++)
        seen->own_count[d] = 0;
    if (is_step) {
        uint32_t top = next->depth - 1u, node = next->frames[top].node;

        if (next->depth > before)
            seen->own_count[top] = 0;
        if (seen->own_count[top] == 64) { // forget the beginning
            memmove(seen->own[top], seen->own[top] + 32, 32 * sizeof(uint32_t));
            seen->own_count[top] = 32;
        }
        seen->own[top][seen->own_count[top]++] = node;
        seen->reached |= UINT64_C(1) << node;
    }
    // of frames that are gone the last nodes too, and the calls that they were in
    for (uint32_t d = next->depth ? next->depth - 1u : 0; d < before; d++)
        seen->passed |= UINT64_C(1) << seen->state.frames[d].node;
    if (before)
        seen->passed |= UINT64_C(1) << seen->state.frames[before - 1].node;
    seen->state = *next;
}

static bool walk_some(const struct flow *flow, uint32_t steps, uint64_t *seed, struct seen *seen)
{
    struct oracle_question free_question = {.flow = flow, .start = flow->start, .ends = ~0ull};
    struct walk walk = {0};
    struct oracle oracle;

    memset(seen, 0, sizeof(*seen));
    oracle_begin(&oracle, &free_question);
    oracle.take = take;
    oracle.context = &walk;
    oracle_start(&oracle);
    for (uint32_t i = 0; walk.count && i < steps; i++) {
        uint32_t chosen = brute_random(seed, walk.count);

        follow_walk(seen, &walk.next[chosen], walk.is_step[chosen]);
        walk.count = 0;
        struct oracle_state state = seen->state;
        oracle_follow(&oracle, &state);
    }
    // not in the middle of a jump
    bool good = seen->state.depth && !seen->state.frames[seen->state.depth - 1].is_jumped;
    free(walk.next);
    free(walk.is_step);
    oracle_deinit(&oracle);
    return good;
}

// ---- Examples

static uint32_t any_node(const struct example *example, uint64_t *seed)
{
    return brute_random(seed, example->program.node_count);
}

static void know_view(struct oracle_view *view, const struct seen *seen, uint32_t depth,
                      bool is_last, uint64_t *seed)
{
    uint32_t count = seen->own_count[depth];

    *view = (struct oracle_view){.function = seen->state.frames[depth].function,
                                 .at = UINT64_C(1) << seen->state.frames[depth].node};
    (void)is_last;
    if (brute_chance(seed, 35)) {
        uint32_t skip = brute_chance(seed, 40) ? brute_random(seed, 3) : 0;
        uint32_t length = 1 + brute_random(seed, ORACLE_STEPS - 1);

        if (skip < count && length <= count - skip) {
            view->step_count = length;
            for (uint32_t i = 0; i < length; i++)
                view->steps[i] = seen->own[depth][count - skip - length + i];
            view->to_end = skip == 0;
            view->from_entry = length + skip == count && count < 32;
        }
    }
    for (uint32_t i = 0; i < count && count < 32; i++)
        if (brute_chance(seed, 15) && __builtin_popcountll(view->ran) < 3)
            view->ran |= UINT64_C(1) << seen->own[depth][i];
    if (count < 32 && brute_chance(seed, 30)) {
        uint64_t own = 0;

        for (uint32_t i = 0; i + 1 < count; i++)
            own |= UINT64_C(1) << seen->own[depth][i];
        for (uint32_t n = 0; n < 64; n++)
            if (!(own >> n & 1) && brute_chance(seed, 25))
                view->closed |= UINT64_C(1) << n;
    }
}

static void know_stack(struct oracle_stack *stack, const struct seen *seen)
{
    stack->count = seen->state.depth;
    for (uint32_t i = 0; i < stack->count; i++)
        stack->nodes[i] = seen->state.frames[i].node;
}

static void know_end(struct example *example, const struct seen *seen, uint64_t *seed)
{
    struct oracle_question *question = &example->question;
    uint32_t depth = seen->state.depth;

    question->start = example->flow->start;
    if (example->kind == KIND_ENDS) {
        question->ends = UINT64_C(1) << seen->state.frames[depth - 1].node;
        if (brute_chance(seed, 30))
            question->ends |= UINT64_C(1) << any_node(example, seed);
    } else if (example->kind == KIND_VIEWS) {
        for (uint32_t i = 0; i < depth && question->view_count < ORACLE_VIEWS; i++) {
            if (i > 0 && brute_chance(seed, 15)) {
                // instead of some frames, or none
                if (!question->views[question->view_count - 1].is_gap)
                    question->views[question->view_count++] =
                        (struct oracle_view){.is_gap = true, .function = FLOW_NONE};
                if (brute_chance(seed, 60))
                    continue;
            }
            if (question->view_count < ORACLE_VIEWS)
                know_view(&question->views[question->view_count++], seen, i, i + 1 == depth, seed);
        }
    } else
        know_stack(&question->stacks[question->stack_count++], seen);
}

// Most often a node that some walk reaches.
static uint32_t some_node(const struct example *example, uint64_t *seed)
{
    uint32_t node = any_node(example, seed);

    for (uint32_t i = 0; i < 4 && !(example->reached >> node & 1) && brute_chance(seed, 80); i++)
        node = any_node(example, seed);
    return node;
}

static void choose_critical(struct example *example, const struct seen *seen, uint64_t *seed)
{
    struct oracle_question *question = &example->question;
    static const double scores[] = {1, 2, 3, 4, 0.5, 8, 0, -1, -2, -0.5};
    uint32_t kinds = brute_chance(seed, 40) ? 10 : brute_chance(seed, 30) ? 7 : 6;

    question->critical_count = brute_random(seed, ORACLE_CRITICAL + 1);
    for (uint32_t i = 0; i < question->critical_count; i++) {
        question->critical[i] = some_node(example, seed);
        if (brute_chance(seed, 10)) // where it ends
            question->critical[i] = seen->state.frames[seen->state.depth - 1].node;
        example->score[i] = scores[brute_random(seed, kinds)];
        example->cluster[i] = brute_random(seed, 2);
    }
    question->order_count = brute_chance(seed, 35) ? 1 + brute_random(seed, ORACLE_ORDERS) : 0;
    for (uint32_t i = 0; i < question->order_count; i++) {
        bool known = question->critical_count && brute_chance(seed, 50);

        question->before[i] = known
                                  ? question->critical[brute_random(seed, question->critical_count)]
                                  : some_node(example, seed);
        question->after[i] = some_node(example, seed);
    }
}

static struct automaton *choose_automaton(const struct example *example, uint32_t kind,
                                          const struct seen *seen, uint64_t *seed)
{
    uint32_t count = (uint32_t)__builtin_popcountll(seen->reached), ids[2];
    uint64_t left = seen->reached;

    for (uint32_t i = 0; i < 2; i++) {
        ids[i] = any_node(example, seed);
        if (count && brute_chance(seed, 60)) {
            left = seen->reached;
            for (uint32_t skip = brute_random(seed, count); skip--;)
                left &= left - 1;
            ids[i] = (uint32_t)__builtin_ctzll(left);
        }
    }
    struct id_set one = {&ids[0], 1}, other = {&ids[1], 1};
    uint32_t function = example->program.nodes[any_node(example, seed)].function;
    struct event call = {.kind = EVENT_CALL, .nodes_any = true, .functions = {&function, 1}};
    switch (kind) {
    case 1:
        return automaton_create(language_ran(one), NULL, 0, "ran");
    case 2:
        return automaton_create(language_then(language_ran(one), language_ran(other)), NULL, 0,
                                "then");
    case 3:
        return automaton_create(language_never(one), NULL, 0, "never");
    case 4: {
        struct context context = {CONTEXT_OPEN, call};

        return automaton_create(language_inside(language_ran(one), &call, 0), &context, 1,
                                "inside");
    }
    default:
        return automaton_create(language_call(&call, 1, language_all(), false), NULL, 0,
                                "one call");
    }
}

static bool example_make(struct example *example, uint64_t number, uint64_t *seed)
{
    static const enum brute_class classes[] = {BRUTE_PLAIN, BRUTE_PLAIN,   BRUTE_LIBRARY,
                                               BRUTE_JUMPS, BRUTE_SIGNALS, BRUTE_STARTS};
    struct strbuf text = STRBUF_INIT;
    struct seen seen;

    memset(example, 0, sizeof(*example));
    brute_program_make(&example->program, classes[number % 6], seed);
    brute_program_text(&example->program, &text);
    assert_null(model_read_text("model", text.data, text.length, &example->model));
    assert_null(model_complete(example->model));
    strbuf_deinit(&text);
    example->flow = flow_from_model(example->model);
    example->question.flow = example->flow;
    example->kind = (enum kind)brute_random(seed, KIND_COUNT);
    if (example->flow->node_count > 64 || example->flow->function_count > 200)
        return false;
    uint32_t stacks = example->kind == KIND_STACKS ? ORACLE_STACKS : 1;
    for (uint32_t i = 0; i < stacks; i++) {
        if (!walk_some(example->flow, 3 + brute_random(seed, 30), seed, &seen))
            return false;
        know_end(example, &seen, seed);
    }
    example->is_walked = stacks == 1;
    example->reached = seen.reached;
    for (uint32_t i = 0; i < 4; i++) {
        struct seen other;

        walk_some(example->flow, 60, seed, &other);
        example->reached |= other.reached;
    }
    if (brute_chance(seed, 35))
        for (uint32_t n = 0; n < example->flow->node_count; n++)
            if (!(seen.passed >> n & 1) && brute_chance(seed, 30))
                example->closed |= UINT64_C(1) << n;
    if (brute_chance(seed, 30))
        for (uint32_t n = 0; n < example->flow->node_count; n++)
            if (!(seen.reached >> n & 1) && brute_chance(seed, 25))
                *(brute_chance(seed, 50) ? &example->absent : &example->avoid) |= UINT64_C(1) << n;
    if (brute_chance(seed, 8)) {
        example->closed |= UINT64_C(1) << any_node(example, seed);
        example->is_walked = false;
    }
    choose_critical(example, &seen, seed);
    example->is_walked &= !example->question.order_count;
    if (brute_chance(seed, 30)) {
        example->automaton_kind = 1 + brute_random(seed, 5);
        example->automaton = choose_automaton(example, example->automaton_kind, &seen, seed);
        example->is_walked = false;
    }
    uint32_t mode = brute_random(seed, 100);
    example->per_step = mode < 15 ? (double[]){0.125, 0.25, 1, 2}[brute_random(seed, 4)] : 0;
    example->separate = mode >= 15 && mode < 25;
    example->measures = mode >= 25 && mode < 32;
    example->top = brute_chance(seed, 30) ? 1 + brute_random(seed, 4) : 0;
    example->question.closed = example->closed;
    example->question.absent = example->absent | example->avoid;
    example->question.automaton = example->automaton;
    return true;
}

static void example_deinit(struct example *example)
{
    automaton_destroy(example->automaton);
    flow_destroy(example->flow);
    model_destroy(example->model);
}

// ---- What paths are worth

static double measure(void *context, uint64_t touched, uint64_t length)
{
    const struct example *example = context;
    double sum = 0;

    // odd on purpose: two of them together are worth less
    for (uint32_t i = 0; i < example->question.critical_count; i++)
        if (touched >> i & 1)
            sum += example->score[i] * (i % 2 ? 1 : 1.5);
    if ((touched & 3) == 3)
        sum /= 2;
    return sum - 0.0625 * (double)length;
}

static double score_of(const struct example *example, uint64_t touched)
{
    double sum = 0;
    uint32_t clusters = 0;

    for (uint32_t i = 0; i < example->question.critical_count; i++)
        if (touched >> i & 1) {
            sum += example->score[i];
            clusters |= 1u << example->cluster[i];
        }
    return example->separate && clusters == 3 ? 0 : sum;
}

static double worth_of(const struct example *example, uint64_t touched, uint64_t length)
{
    if (example->measures)
        return measure((void *)(uintptr_t)example, touched, length);
    return score_of(example, touched) - example->per_step * (double)length;
}

struct point {
    uint32_t stack, touched;
    uint64_t length;
    double worth;
};

// Nobody would rather have b than a.
static bool point_covers(const struct example *example, const struct point *a,
                         const struct point *b)
{
    bool exact = example->measures || example->separate;

    if (a->length > b->length)
        return false;
    for (uint32_t i = 0; i < example->question.critical_count; i++) {
        bool in_a = a->touched >> i & 1, in_b = b->touched >> i & 1;
        double sum = 0; // of those at the same node

        for (uint32_t k = 0; k < example->question.critical_count; k++)
            if (example->question.critical[k] == example->question.critical[i])
                sum += example->score[k];
        if (in_a != in_b && (exact || (sum > 0 && in_b) || (sum < 0 && in_a)))
            return false;
    }
    return true;
}

static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    return x->length < y->length ? -1 : x->length > y->length;
}

// Best first, those that others cover left out.
static uint32_t points_of(const struct example *example, const struct oracle *oracle,
                          struct point *points)
{
    uint32_t count = 0, kept = 0;

    for (uint32_t s = 0; s < ORACLE_STACKS; s++)
        for (uint32_t t = 0; t < 1 << ORACLE_CRITICAL; t++)
            if (oracle->shortest[s][t] != ORACLE_FAR)
                points[count++] =
                    (struct point){s, t, (uint64_t)oracle->shortest[s][t],
                                   worth_of(example, t, (uint64_t)oracle->shortest[s][t])};
    for (uint32_t i = 0; i < count; i++) {
        bool covered = false;

        for (uint32_t k = 0; k < count && !covered; k++)
            covered = k != i && point_covers(example, &points[k], &points[i]) &&
                      (!point_covers(example, &points[i], &points[k]) || k < i);
        if (!covered)
            points[count + kept++] = points[i];
    }
    memmove(points, points + count, kept * sizeof(*points));
    qsort(points, kept, sizeof(*points), compare_points);
    return kept;
}

// ---- Asking the solver

struct variant {
    const char *name;
    enum path_method method;
    enum path_weights weights;
    bool no_compression;
};

static const struct variant variants[] = {
    {"search", PATH_AUTO, PATH_WEIGHTS_AUTO, false},
    {"search, not compressed", PATH_AUTO, PATH_WEIGHTS_AUTO, true},
    {"forwards, sets", PATH_FORWARD, PATH_WEIGHTS_SETS, false},
    {"backwards, sets", PATH_BACKWARD, PATH_WEIGHTS_SETS, false},
    {"forwards, diagrams", PATH_FORWARD, PATH_WEIGHTS_DIAGRAMS, false},
    {"backwards, diagrams", PATH_BACKWARD, PATH_WEIGHTS_DIAGRAMS, true},
};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

static void set_of(struct bitset *set, const struct flow *flow, uint64_t nodes)
{
    bitset_init(set, flow->node_count);
    for (uint32_t n = 0; n < flow->node_count; n++)
        if (nodes >> n & 1)
            bitset_set(set, n);
}

static uint32_t list_of(uint64_t nodes, uint32_t *list)
{
    uint32_t count = 0;

    for (; nodes; nodes &= nodes - 1)
        list[count++] = (uint32_t)__builtin_ctzll(nodes);
    return count;
}

static struct view *make_view(const struct flow *flow, const struct oracle_view *known)
{
    uint32_t at[64], closed[64], ran[64];
    struct view_step steps[ORACLE_STEPS];
    struct view_facts facts = {.function = known->is_gap ? FLOW_NONE : known->function,
                               .at = at,
                               .closed = closed,
                               .ran = ran,
                               .steps = steps,
                               .step_count = known->step_count,
                               .from_entry = known->from_entry,
                               .to_end = known->to_end};

    facts.at_count = list_of(known->at, at);
    facts.closed_count = list_of(known->closed, closed);
    facts.ran_count = list_of(known->ran, ran);
    for (uint32_t i = 0; i < known->step_count; i++)
        steps[i] = (struct view_step){.node = known->steps[i]};
    return view_create(flow, &facts);
}

static void ask(const struct example *example, const struct variant *variant,
                struct path_result *result)
{
    const struct oracle_question *question = &example->question;
    struct bitset closed, absent, avoid;
    struct path_critical critical[ORACLE_CRITICAL];
    struct path_order orders[ORACLE_ORDERS];
    struct path_stack stacks[ORACLE_STACKS];
    struct view *views[ORACLE_VIEWS];
    uint32_t ends[64];
    struct path_problem problem = {.flow = example->flow,
                                   .closed = &closed,
                                   .absent = &absent,
                                   .avoid = &avoid,
                                   .critical = critical,
                                   .critical_count = question->critical_count,
                                   .orders = orders,
                                   .order_count = question->order_count,
                                   .automaton = example->automaton,
                                   .views = views,
                                   .view_count = question->view_count,
                                   .stacks = stacks,
                                   .stack_count = question->stack_count,
                                   .start = question->start,
                                   .ends = ends,
                                   .end_count = list_of(question->ends, ends),
                                   .per_step = example->per_step,
                                   .separate = example->separate,
                                   .measure = example->measures ? measure : NULL,
                                   .measure_context = (void *)(uintptr_t)example,
                                   .top = example->top,
                                   .method = variant->method,
                                   .weights = variant->weights,
                                   .no_compression = variant->no_compression};

    set_of(&closed, example->flow, example->closed);
    set_of(&absent, example->flow, example->absent);
    set_of(&avoid, example->flow, example->avoid);
    for (uint32_t i = 0; i < question->critical_count; i++)
        critical[i] = (struct path_critical){question->critical[i], example->score[i],
                                             example->cluster[i], DATAFLOW_ONE};
    for (uint32_t i = 0; i < question->order_count; i++)
        orders[i] = (struct path_order){question->before[i], question->after[i]};
    for (uint32_t i = 0; i < question->stack_count; i++)
        stacks[i] = (struct path_stack){question->stacks[i].nodes, question->stacks[i].count};
    for (uint32_t i = 0; i < question->view_count; i++)
        views[i] = make_view(example->flow, &question->views[i]);
    path_solve(&problem, NULL, result);
    for (uint32_t i = 0; i < question->view_count; i++)
        view_destroy(views[i]);
    bitset_deinit(&closed);
    bitset_deinit(&absent);
    bitset_deinit(&avoid);
}

// ---- Comparing

struct verdict {
    const char *wrong;
    uint32_t path;
    bool deeper; // than the exhaustive search looks
};

static void check_path(const struct example *example, const struct path_found *found,
                       struct verdict *verdict, struct oracle_answer *answer)
{
    double score = example->measures
                       ? measure((void *)(uintptr_t)example, found->touched, found->length)
                       : score_of(example, found->touched);

    verdict->wrong = oracle_replay(&example->question, &found->run, found->stack, answer);
    if (!verdict->wrong && (answer->touched != found->touched || answer->length != found->length))
        verdict->wrong = "what it touches, or its length, is not what is said";
    if (!verdict->wrong && score != found->score)
        verdict->wrong = "its score is not what is said";
    if (!verdict->wrong && !found->is_feasible)
        verdict->wrong = "nothing speaks against it";
    verdict->deeper |= answer->depth > ORACLE_DEPTH;
}

static bool is_same_run(const struct run *a, const struct run *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->events[i].letter != b->events[i].letter || a->events[i].node != b->events[i].node ||
            a->events[i].function != b->events[i].function)
            return false;
    return true;
}

static void compare(const struct example *example, const struct oracle *oracle,
                    const struct point *points, uint32_t point_count,
                    const struct path_result *result, struct verdict *verdict)
{
    uint32_t top = example->top ? example->top : 1;

    *verdict = (struct verdict){0};
    if (!result->complete || !result->is_optimal)
        verdict->wrong = "it is not complete";
    for (uint32_t i = 0; i < result->count && !verdict->wrong; i++) {
        struct oracle_answer answer;

        verdict->path = i;
        check_path(example, &result->paths[i], verdict, &answer);
        for (uint32_t k = 0; k < i && !verdict->wrong; k++)
            if (is_same_run(&result->paths[i].run, &result->paths[k].run))
                verdict->wrong = "two paths are the same";
    }
    if (verdict->wrong || (verdict->deeper && oracle->is_cut))
        return;
    if (result->count > top)
        verdict->wrong = "there are more than were asked for";
    for (uint32_t i = 0; i < top && i < point_count && !verdict->wrong; i++) {
        verdict->path = i;
        if (i >= result->count)
            verdict->wrong = "a path is missing";
        else if (worth_of(example, result->paths[i].touched, result->paths[i].length) !=
                 points[i].worth)
            verdict->wrong = "it is not worth what it could be";
        else if (result->paths[i].length != points[i].length)
            verdict->wrong = "it is not as short as it could be";
    }
    if (!verdict->wrong && point_count == 0 && result->count)
        verdict->wrong = "there is none";
}

// ---- Showing

static void print_nodes(const char *what, uint64_t nodes)
{
    if (!nodes)
        return;
    printf("%s", what);
    for (; nodes; nodes &= nodes - 1)
        printf(" %d", __builtin_ctzll(nodes));
    printf("\n");
}

static void print_question(const struct example *example)
{
    const struct oracle_question *question = &example->question;

    print_nodes("closed", example->closed);
    print_nodes("absent", example->absent);
    print_nodes("avoid", example->avoid);
    print_nodes("ends", question->ends);
    for (uint32_t i = 0; i < question->critical_count; i++)
        printf("critical %u score %g cluster %u\n", question->critical[i], example->score[i],
               example->cluster[i]);
    for (uint32_t i = 0; i < question->order_count; i++)
        printf("order %u before %u\n", question->before[i], question->after[i]);
    for (uint32_t i = 0; i < question->stack_count; i++) {
        printf("stack");
        for (uint32_t k = 0; k < question->stacks[i].count; k++)
            printf(" %u", question->stacks[i].nodes[k]);
        printf("\n");
    }
    for (uint32_t i = 0; i < question->view_count; i++) {
        const struct oracle_view *view = &question->views[i];

        printf("view of %d%s%s steps", (int)view->function, view->from_entry ? " from entry" : "",
               view->to_end ? " to end" : "");
        for (uint32_t k = 0; k < view->step_count; k++)
            printf(" %u", view->steps[k]);
        print_nodes(" at", view->at);
        print_nodes(" closed", view->closed);
        print_nodes(" ran", view->ran);
    }
    printf("start %u automaton %u per step %g separate %d measure %d top %u\n", question->start,
           example->automaton_kind, example->per_step, example->separate, example->measures,
           example->top);
}

static void print_flow(const struct flow *flow)
{
    for (uint32_t n = 0; n < flow->node_count; n++) {
        struct flow_edges next = flow_edges(flow, n);
        struct flow_callees callees = flow_callees(flow, n);

        printf("%u f%u%s%s%s:", n, flow->node_function[n],
               flow->functions[flow->node_function[n]].entry == n ? " entry" : "",
               flow->node_flags[n] & FLOW_RETURNS ? " returns" : "",
               flow->node_flags[n] & FLOW_JUMPS ? " jumps" : "");
        for (uint32_t i = 0; i < callees.count; i++)
            printf(" call f%u", callees.data[i]);
        for (uint32_t k = 0; k < next.count; k++)
            printf(" ->%u%s%s%s", next.data[k].target, next.data[k].flags & FLOW_PAST ? "p" : "",
                   next.data[k].flags & FLOW_BEHIND ? "b" : "",
                   next.data[k].flags & FLOW_LANDS ? "l" : "");
        printf("\n");
    }
    if (flow->signals != FLOW_NONE)
        printf("signals f%u\n", flow->signals);
}

static void print_run(const struct run *run)
{
    for (uint32_t i = 0; i < run->count; i++)
        printf(" %s%u", (const char *[]){"", "call@", "leave@"}[run->events[i].letter],
               run->events[i].node);
    printf("\n");
}

static void show(uint64_t number, const struct example *example, const struct variant *variant,
                 const struct verdict *verdict, const struct path_result *result,
                 const struct point *points, uint32_t point_count)
{
    printf("---- program %llu, %s: path %u: %s\n", (unsigned long long)number, variant->name,
           verdict->path, verdict->wrong);
    print_flow(example->flow);
    print_question(example);
    for (uint32_t i = 0; i < result->count; i++) {
        printf("found: stack %u score %g length %llu touched %llx:", result->paths[i].stack,
               result->paths[i].score, (unsigned long long)result->paths[i].length,
               (unsigned long long)result->paths[i].touched);
        print_run(&result->paths[i].run);
    }
    for (uint32_t i = 0; i < point_count; i++)
        printf("there is: stack %u worth %g length %llu touched %x\n", points[i].stack,
               points[i].worth, (unsigned long long)points[i].length, points[i].touched);
    fflush(stdout);
}

// ---- The test

struct statistics {
    uint64_t programs, not_made, too_many, cut, deeper, none, wrong;
    uint64_t by_kind[KIND_COUNT], by_class[BRUTE_CLASS_COUNT], orders, automata, closed, blocked,
        per_step, separate, measured, tops, negative, zero, at_end, kept[8], points, steps, gaps,
        repeated, several, length, calls;
    uint64_t aba; // the best path reaches before, after and before again
};

static bool has_aba(const struct example *example, const struct run *run)
{
    for (uint32_t o = 0; o < example->question.order_count; o++) {
        uint32_t stage = 0;

        for (uint32_t i = 0; i < run->count; i++) {
            uint32_t wanted = stage % 2 ? example->question.after[o] : example->question.before[o];

            stage += run->events[i].letter == RUN_STEP && run->events[i].node == wanted;
        }
        if (stage >= 3)
            return true;
    }
    return false;
}

static void count_example(struct statistics *statistics, const struct example *example,
                          const struct path_result *result, uint32_t point_count)
{
    const struct oracle_question *question = &example->question;
    bool negative = false, zero = false, steps = false, gaps = false;

    statistics->by_kind[example->kind]++;
    statistics->by_class[example->program.class]++;
    statistics->orders += question->order_count > 0;
    statistics->automata += example->automaton != NULL;
    statistics->closed += example->closed != 0;
    statistics->blocked += question->absent != 0;
    statistics->per_step += example->per_step != 0;
    statistics->separate += example->separate;
    statistics->measured += example->measures;
    statistics->tops += example->top > 1;
    for (uint32_t i = 0; i < question->critical_count; i++) {
        negative |= example->score[i] < 0;
        zero |= example->score[i] == 0;
    }
    statistics->negative += negative;
    statistics->zero += zero;
    for (uint32_t i = 0; i < question->view_count; i++) {
        steps |= question->views[i].step_count > 0;
        gaps |= question->views[i].is_gap;
    }
    statistics->steps += steps;
    statistics->gaps += gaps;
    statistics->none += point_count == 0;
    statistics->several += point_count > 1;
    statistics->points += point_count;
    if (!result->count)
        return;
    const struct run *run = &result->paths[0].run;
    statistics->kept[__builtin_popcountll(result->paths[0].touched)]++;
    statistics->length += result->paths[0].length;
    statistics->aba += has_aba(example, run);
    for (uint32_t i = 0; i < run->count; i++)
        statistics->calls += run->events[i].letter == RUN_LEAVE;
    for (uint32_t i = 0; i < question->critical_count; i++)
        if (question->critical[i] == run->events[run->count - 1].node) {
            statistics->at_end++;
            break;
        }
}

static void print_statistics(const struct statistics *s)
{
#define N(what) (unsigned long long)s->what
    printf("%llu programs; left out: %llu not made, %llu too many states; %llu cut at the depth, "
           "%llu paths deeper than that\n",
           N(programs), N(not_made), N(too_many), N(cut), N(deeper));
    printf("to an end %llu, a stack %llu, stacks %llu, views %llu (steps %llu, gaps %llu); "
           "no path %llu, several points %llu, points %llu\n",
           N(by_kind[0]), N(by_kind[1]), N(by_kind[2]), N(by_kind[3]), N(steps), N(gaps), N(none),
           N(several), N(points));
    printf("plain %llu, library %llu, jumps %llu, signals %llu, starts %llu\n", N(by_class[0]),
           N(by_class[1]), N(by_class[2]), N(by_class[3]), N(by_class[4]));
    printf("orders %llu (best is A, B, A: %llu), automata %llu, closed %llu, absent or avoided "
           "%llu, per step %llu, separate %llu, measure %llu, top %llu, negative %llu, zero %llu, "
           "critical where it ends %llu\n",
           N(orders), N(aba), N(automata), N(closed), N(blocked), N(per_step), N(separate),
           N(measured), N(tops), N(negative), N(zero), N(at_end));
    printf("best paths: length %.1f, completed calls %.1f; touch 0..6: %llu %llu %llu %llu %llu "
           "%llu %llu\n",
           (double)s->length / (double)(s->programs + !s->programs),
           (double)s->calls / (double)(s->programs + !s->programs), N(kept[0]), N(kept[1]),
           N(kept[2]), N(kept[3]), N(kept[4]), N(kept[5]), N(kept[6]));
    fflush(stdout);
#undef N
}

static uint64_t wanted = 2500, first_number;
static uint32_t variant_first, variant_count = VARIANTS;

static bool applies(const struct example *example, const struct variant *variant)
{
    return variant->method != PATH_BACKWARD || example->kind != KIND_STACKS;
}

static void check_example(uint64_t number, struct statistics *statistics)
{
    static struct point points[2 * ORACLE_STACKS << ORACLE_CRITICAL];
    uint64_t seed = number * 0x2545f4914f6cdd1du + 7;
    struct example example;
    struct oracle oracle;

    if (!example_make(&example, number, &seed)) {
        statistics->not_made++;
        example_deinit(&example);
        return;
    }
    oracle_run(&oracle, &example.question);
    uint32_t count = oracle.too_many ? 0 : points_of(&example, &oracle, points);
    statistics->too_many += oracle.too_many;
    if (!oracle.too_many && example.is_walked && !count && !oracle.is_cut) {
        printf("---- program %llu: the exhaustive search misses what was walked\n",
               (unsigned long long)number);
        print_flow(example.flow);
        print_question(&example);
        statistics->wrong++;
    }
    for (uint32_t v = variant_first; v < variant_count && !oracle.too_many; v++) {
        struct path_result result;
        struct verdict verdict;

        if (!applies(&example, &variants[v]))
            continue;
        ask(&example, &variants[v], &result);
        compare(&example, &oracle, points, count, &result, &verdict);
        if (verdict.wrong) {
            if (statistics->wrong++ < 3)
                show(number, &example, &variants[v], &verdict, &result, points, count);
        }
        if (v == variant_first) {
            statistics->programs++;
            statistics->cut += oracle.is_cut;
            statistics->deeper += verdict.deeper;
            count_example(statistics, &example, &result, count);
        }
        path_result_deinit(&result);
    }
    oracle_deinit(&oracle);
    example_deinit(&example);
}

static void test_random(void **state)
{
    static struct statistics statistics;

    (void)state;
    for (uint64_t number = first_number; number < first_number + wanted; number++)
        check_example(number, &statistics);
    print_statistics(&statistics);
    assert_int_equal(statistics.wrong, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    if (argc > 1)
        wanted = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_number = strtoull(argv[2], NULL, 10);
    if (argc > 4) { // of the variants
        variant_first = (uint32_t)strtoul(argv[3], NULL, 10);
        variant_count = (uint32_t)strtoul(argv[4], NULL, 10);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
