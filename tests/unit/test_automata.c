// SPDX-License-Identifier: Apache-2.0
/*
 * Languages against brute force: thousands of random ones, each asked about every short run over a
 * tiny alphabet and about random longer ones. The answers come from a direct evaluation of what
 * automata.h says, by trying all moments, calls and cuts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "common/hash.h"
#include "common/strbuf.h"
#include "solve/automata.h"

enum { NODES = 3, FUNCTIONS = 2, LONGEST = 12, SHORT = 4, LANGUAGES = 2500, RANDOM_RUNS = 40 };
enum { PARTS = 3, NONE = -1 };

// ---- Random numbers

static uint64_t seed;

static uint32_t pick(uint32_t limit)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash_mix(seed) >> 32) % limit;
}

// ---- Runs

struct sign {
    enum event_kind kind;
    uint32_t node, function;
};

struct run {
    struct sign signs[LONGEST];
    int partner[LONGEST]; // of a call its return, of a return its call; NONE
    int open[LONGEST];    // calls that are open at the end, outermost first
    int length, depth;
};

static void run_push(struct run *run, struct sign sign)
{
    int at = run->length++;

    run->signs[at] = sign;
    run->partner[at] = NONE;
    if (sign.kind == EVENT_CALL)
        run->open[run->depth++] = at;
    if (sign.kind == EVENT_LEAVE) {
        int call = run->open[--run->depth];
        run->partner[at] = call;
        run->partner[call] = at;
        run->signs[at].node = run->signs[call].node;
        run->signs[at].function = run->signs[call].function;
    }
}

static void run_pop(struct run *run)
{
    int at = --run->length;

    if (run->signs[at].kind == EVENT_CALL)
        run->depth--;
    if (run->signs[at].kind == EVENT_LEAVE) {
        run->open[run->depth++] = run->partner[at];
        run->partner[run->partner[at]] = NONE;
    }
}

static const struct sign alphabet[] = {
    {EVENT_STEP, 0, 0}, {EVENT_STEP, 1, 0}, {EVENT_STEP, 2, 0},  {EVENT_CALL, 0, 0},
    {EVENT_CALL, 1, 1}, {EVENT_CALL, 0, 1}, {EVENT_LEAVE, 0, 0},
};
enum { SIGNS = sizeof(alphabet) / sizeof(alphabet[0]) };

// Is a call of the function open at letter `at`, where it happens in the caller?
static bool is_inside(const struct run *run, int at, uint32_t function)
{
    for (int c = 0; c < at; c++) {
        if (run->signs[c].kind != EVENT_CALL || run->signs[c].function != function)
            continue;
        if (run->partner[c] == NONE || run->partner[c] > at)
            return true;
    }
    return false;
}

// ---- Expressions and what they mean

enum kind {
    ALL,
    NOTHING,
    EMPTY,
    HAPPENS,
    RAN,
    NEVER,
    WITHOUT,
    INSIDE,
    NOT_ALL,
    TRACE,
    NOT,
    AND,
    OR,
    THEN,
    LETTER,
    REPEAT,
    BALANCED,
    CALL,
    KINDS,
};

struct simple_event { // sets as bits
    enum event_kind kind;
    uint32_t nodes, functions;
    uint32_t required, forbidden;
};

struct expr {
    enum kind kind;
    struct simple_event events[2];
    uint32_t event_count;
    uint32_t sets[3]; // of nodes: entries of a trace; sets[0] elsewhere
    uint32_t set_count, letters, function;
    enum trace_kind trace;
    bool flag;
    struct expr *parts[PARTS];
    uint32_t part_count;
};

static bool event_fits(const struct simple_event *event, const struct run *run, int at)
{
    const struct sign *sign = &run->signs[at];

    if (event->kind != sign->kind || !(event->nodes >> sign->node & 1))
        return false;
    if (event->kind != EVENT_STEP && !(event->functions >> sign->function & 1))
        return false;
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        if ((event->required >> f & 1) && !is_inside(run, at, f))
            return false;
        if ((event->forbidden >> f & 1) && is_inside(run, at, f))
            return false;
    }
    return true;
}

static bool any_fits(const struct expr *expr, const struct run *run, int at)
{
    for (uint32_t e = 0; e < expr->event_count; e++)
        if (event_fits(&expr->events[e], run, at))
            return true;
    return false;
}

static bool is_in(const struct expr *expr, const struct run *run, int i, int j);

static bool steps_on(const struct run *run, int at, uint32_t nodes)
{
    return run->signs[at].kind == EVENT_STEP && (nodes >> run->signs[at].node & 1);
}

// Entries from `entry` on are what letters i .. j-1 show.
static bool trace_fits(const struct expr *expr, const struct run *run, int i, int j, uint32_t entry)
{
    if (i == j)
        return entry == expr->set_count;
    if (entry < expr->set_count && steps_on(run, i, expr->sets[entry]) &&
        trace_fits(expr, run, i + 1, j, entry + 1))
        return true;
    bool must = expr->trace != TRACE_UNRELIABLE && steps_on(run, i, expr->letters);
    return !must && trace_fits(expr, run, i + 1, j, entry);
}

static bool trace_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    if (expr->trace != TRACE_BURST)
        return trace_fits(expr, run, i, j, 0);
    for (int a = i; a <= j; a++)
        for (int b = a; b <= j; b++)
            if (trace_fits(expr, run, a, b, 0))
                return true;
    return false;
}

static bool inside_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    for (int c = 0; c < j; c++) {
        if (run->signs[c].kind != EVENT_CALL || run->signs[c].function != expr->function)
            continue;
        int end = run->partner[c] == NONE ? run->length : run->partner[c];
        if (end < i)
            continue;
        if (is_in(expr->parts[0], run, c < i ? i : c + 1, end < j ? end : j))
            return true;
    }
    return false;
}

static bool balanced_is_in(const struct run *run, int i, int j)
{
    for (int k = i; k < j; k++)
        if (run->signs[k].kind != EVENT_STEP && (run->partner[k] < i || run->partner[k] >= j))
            return false;
    return true;
}

static bool call_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    if (i == j || run->signs[i].kind != EVENT_CALL || !any_fits(expr, run, i))
        return false;
    if (expr->flag)
        return (run->partner[i] == NONE || run->partner[i] >= j) &&
               is_in(expr->parts[0], run, i + 1, j);
    return run->partner[i] == j - 1 && is_in(expr->parts[0], run, i + 1, j - 1);
}

static bool not_all_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    uint32_t ran = 0;

    for (int k = i; k < j; k++)
        if (run->signs[k].kind == EVENT_STEP)
            ran |= 1u << run->signs[k].node;
    return (expr->sets[0] & ~ran) != 0;
}

static bool repeat_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    if (i == j)
        return true;
    for (int k = i + 1; k <= j; k++)
        if (is_in(expr->parts[0], run, i, k) && repeat_is_in(expr, run, k, j))
            return true;
    return false;
}

static bool cut_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    for (int k = i; k <= j; k++)
        if (is_in(expr->parts[0], run, i, k) && is_in(expr->parts[1], run, k, j))
            return true;
    return false;
}

static bool without_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    for (int k = i; k < j; k++)
        if (any_fits(expr, run, k) && !is_in(expr->parts[0], run, i, k))
            return true;
    return false;
}

static bool happens_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    for (int k = i; k < j; k++)
        if (expr->kind == HAPPENS ? any_fits(expr, run, k) : steps_on(run, k, expr->sets[0]))
            return true;
    return false;
}

static bool is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    switch (expr->kind) {
    case ALL:
        return true;
    case NOTHING:
        return false;
    case EMPTY:
        return i == j;
    case HAPPENS:
    case RAN:
        return happens_is_in(expr, run, i, j);
    case NEVER:
        return !happens_is_in(expr, run, i, j);
    case WITHOUT:
        return without_is_in(expr, run, i, j);
    case INSIDE:
        return inside_is_in(expr, run, i, j);
    case NOT_ALL:
        return not_all_is_in(expr, run, i, j);
    case TRACE:
        return trace_is_in(expr, run, i, j);
    case NOT:
        return !is_in(expr->parts[0], run, i, j);
    case AND:
    case OR:
        for (uint32_t p = 0; p < expr->part_count; p++)
            if (is_in(expr->parts[p], run, i, j) == (expr->kind == OR))
                return expr->kind == OR;
        return expr->kind == AND;
    case THEN:
        return cut_is_in(expr, run, i, j);
    case LETTER:
        return j == i + 1 && any_fits(expr, run, i) != expr->flag;
    case REPEAT:
        return repeat_is_in(expr, run, i, j);
    case BALANCED:
        return balanced_is_in(run, i, j);
    case CALL:
        return call_is_in(expr, run, i, j);
    case KINDS:
        break;
    }
    fail();
    return false;
}

// ---- Random expressions

static uint32_t parts_of(enum kind kind)
{
    switch (kind) {
    case WITHOUT:
    case INSIDE:
    case NOT:
    case REPEAT:
    case CALL:
        return 1;
    case THEN:
        return 2;
    case AND:
    case OR:
        return pick(PARTS + 1);
    default:
        return 0;
    }
}

static struct simple_event random_event(bool call, bool regular)
{
    struct simple_event event = {.kind = call ? EVENT_CALL : (enum event_kind)pick(3),
                                 .nodes = pick(1u << NODES),
                                 .functions = pick(1u << FUNCTIONS)};
    if (call || event.kind != EVENT_STEP)
        event.nodes = pick(3) ? (1u << NODES) - 1 : event.nodes;
    if (!regular && pick(4) == 0)
        event.required = 1u << pick(FUNCTIONS);
    if (!regular && pick(4) == 0)
        event.forbidden = 1u << pick(FUNCTIONS);
    return event;
}

static struct expr *random_expr(int depth, bool regular)
{
    struct expr *expr = calloc(1, sizeof(*expr));

    do {
        expr->kind = (enum kind)pick(KINDS);
        expr->part_count = parts_of(expr->kind);
    } while ((depth == 0 && expr->part_count) ||
             (regular && (expr->kind == INSIDE || expr->kind == BALANCED || expr->kind == CALL)) ||
             (expr->kind <= EMPTY && pick(4)));
    expr->event_count = 1 + pick(2);
    for (uint32_t e = 0; e < expr->event_count; e++)
        expr->events[e] = random_event(expr->kind == CALL, regular);
    expr->set_count = pick(4);
    for (uint32_t s = 0; s < 3; s++)
        expr->sets[s] = pick(1u << NODES);
    expr->letters = pick(1u << NODES);
    expr->function = pick(FUNCTIONS);
    expr->trace = (enum trace_kind)pick(3);
    expr->flag = pick(2);
    for (uint32_t p = 0; p < expr->part_count; p++)
        expr->parts[p] = random_expr(depth - 1, regular);
    return expr;
}

static void expr_free(struct expr *expr)
{
    for (uint32_t p = 0; p < expr->part_count; p++)
        expr_free(expr->parts[p]);
    free(expr);
}

static void expr_print(const struct expr *expr, struct strbuf *text)
{
    static const char *const names[] = {
        "all",   "nothing", "empty", "happens", "ran",  "never",  "without", "inside",   "not-all",
        "trace", "not",     "and",   "or",      "then", "letter", "repeat",  "balanced", "call"};

    strbuf_printf(text, "(%s", names[expr->kind]);
    if (expr->kind == HAPPENS || expr->kind == WITHOUT || expr->kind == LETTER ||
        expr->kind == CALL)
        for (uint32_t e = 0; e < expr->event_count; e++)
            strbuf_printf(text, " [%u n%x f%x +%x -%x]", expr->events[e].kind,
                          expr->events[e].nodes, expr->events[e].functions,
                          expr->events[e].required, expr->events[e].forbidden);
    strbuf_printf(text, " {%x %x %x/%u %x} f%u t%u %d", expr->sets[0], expr->sets[1], expr->sets[2],
                  expr->set_count, expr->letters, expr->function, expr->trace, expr->flag);
    for (uint32_t p = 0; p < expr->part_count; p++)
        expr_print(expr->parts[p], text);
    strbuf_append_char(text, ')');
}

// ---- Expressions as languages

static const uint32_t numbers[8][3] = {{0}, {0}, {1}, {0, 1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}};

static struct id_set set_of(uint32_t bits)
{
    return (struct id_set){numbers[bits], (uint32_t)__builtin_popcount(bits)};
}

static struct event event_of(const struct simple_event *simple)
{
    bool any = simple->nodes == (1u << NODES) - 1;

    return (struct event){.kind = simple->kind,
                          .nodes = set_of(simple->nodes),
                          .nodes_any = any,
                          .functions = set_of(simple->functions),
                          .required = simple->required,
                          .forbidden = simple->forbidden};
}

static struct event call_of(uint32_t function)
{
    static const uint32_t callers[FUNCTIONS][2] = {{0}, {0, 1}};

    return (struct event){.kind = EVENT_CALL,
                          .nodes_any = true,
                          .functions = set_of(1u << function),
                          .callers = {callers[function], function + 1},
                          .caller_limit = NODES};
}

static struct language *language_of(const struct expr *expr)
{
    struct event events[2];
    struct language *parts[PARTS];
    struct id_set sets[3];
    struct trace_entry entries[3] = {0};

    for (uint32_t e = 0; e < expr->event_count; e++)
        events[e] = event_of(&expr->events[e]);
    for (uint32_t p = 0; p < expr->part_count; p++)
        parts[p] = language_of(expr->parts[p]);
    for (uint32_t s = 0; s < 3; s++)
        entries[s].nodes = sets[s] = set_of(expr->sets[s]);
    struct event call = call_of(expr->function);
    switch (expr->kind) {
    case ALL:
        return language_all();
    case NOTHING:
        return language_nothing();
    case EMPTY:
        return language_empty();
    case HAPPENS:
        return language_happens(events, expr->event_count);
    case RAN:
        return language_ran(sets[0]);
    case NEVER:
        return language_never(sets[0]);
    case WITHOUT:
        return language_without(events, expr->event_count, parts[0]);
    case INSIDE:
        return language_inside(parts[0], &call, expr->function);
    case NOT_ALL:
        return language_not_all(sets[0]);
    case TRACE:
        return language_trace(expr->trace, entries, expr->set_count, set_of(expr->letters));
    case NOT:
        return language_not(parts[0]);
    case AND:
        return language_and(parts, expr->part_count);
    case OR:
        return language_or(parts, expr->part_count);
    case THEN:
        return language_then(parts[0], parts[1]);
    case LETTER:
        return language_letter(events, expr->event_count, expr->flag);
    case REPEAT:
        return language_repeat(parts[0]);
    case BALANCED:
        return language_balanced();
    case CALL:
        return language_call(events, expr->event_count, parts[0], expr->flag);
    case KINDS:
        break;
    }
    fail();
    return NULL;
}

// ---- Comparing

struct walk {
    struct automaton *automaton;
    bool skips; // passes nodes that the automaton does not mind
    uint32_t states[LONGEST + 1];
    uint32_t symbols[LONGEST];
};

// The state behind letter `at` from the one before it.
static void walk_letter(struct walk *walk, const struct run *run, int at)
{
    struct automaton *automaton = walk->automaton;
    const struct sign *sign = &run->signs[at];
    uint32_t state = walk->states[at], *next = &walk->states[at + 1];

    *next = state;
    if (state == AUTOMATON_DEAD || (walk->skips && !automaton->minds(automaton, sign->node)))
        return;
    if (sign->kind == EVENT_STEP)
        *next = automaton_step(automaton, state, sign->node, 0);
    else if (sign->kind == EVENT_CALL)
        *next = automaton->call(automaton, state, sign->node, sign->function, &walk->symbols[at]);
    else
        *next = automaton->leave(automaton, state,
                                 automaton->is_regular ? 12345 : walk->symbols[run->partner[at]],
                                 sign->node, sign->function);
}

static uint64_t compared, members;

static void compare(struct walk *walk, const struct expr *expr, const struct run *run)
{
    uint32_t state = walk->states[run->length];
    bool got = state != AUTOMATON_DEAD && walk->automaton->accepts(walk->automaton, state);
    bool expected = is_in(expr, run, 0, run->length);

    compared++;
    members += expected;
    if (got == expected)
        return;
    struct strbuf text = STRBUF_INIT;
    expr_print(expr, &text);
    for (int i = 0; i < run->length; i++)
        strbuf_printf(&text, " %c%u.%u", "scl"[run->signs[i].kind], run -> signs[i].node,
                      run->signs[i].function);
    fail_msg("expected %d%s: %s", expected, walk->skips ? " (skipping)" : "", text.data);
}

static bool can_follow(const struct run *run, int sign)
{
    return alphabet[sign].kind != EVENT_LEAVE || run->depth > 0;
}

static void compare_all(struct walk *walk, const struct expr *expr, struct run *run, int longest)
{
    compare(walk, expr, run);
    if (run->length == longest)
        return;
    for (int s = 0; s < SIGNS; s++) {
        if (!can_follow(run, s))
            continue;
        run_push(run, alphabet[s]);
        walk_letter(walk, run, run->length - 1);
        compare_all(walk, expr, run, longest);
        run_pop(run);
    }
}

static void compare_random(struct walk *walk, const struct expr *expr)
{
    struct run run = {0};
    int length = SHORT + 1 + (int)pick(LONGEST - SHORT);

    while (run.length < length) {
        int s = (int)pick(SIGNS + 1) % SIGNS;
        s = pick(4) ? s : SIGNS - 1;
        if (!can_follow(&run, s))
            continue;
        run_push(&run, alphabet[s]);
        walk_letter(walk, &run, run.length - 1);
        compare(walk, expr, &run);
    }
}

static struct automaton *automaton_of(const struct expr *expr, bool with_contexts)
{
    struct context contexts[FUNCTIONS];

    for (uint32_t f = 0; f < FUNCTIONS; f++)
        contexts[f] = (struct context){CONTEXT_OPEN, call_of(f)};
    return automaton_create(language_of(expr), contexts, with_contexts ? FUNCTIONS : 0, "random");
}

static void compare_expr(const struct expr *expr, bool regular)
{
    struct walk walk = {.automaton = automaton_of(expr, !regular)};

    if (regular)
        assert_true(walk.automaton->is_regular);
    assert_string_equal(walk.automaton->name, "random");
    for (int skips = 0; skips < 2; skips++) {
        struct run run = {0};
        walk.skips = skips;
        walk.states[0] = walk.automaton->initial;
        compare_all(&walk, expr, &run, skips ? SHORT - 1 : SHORT);
        for (int r = 0; r < RANDOM_RUNS; r++)
            compare_random(&walk, expr);
    }
    automaton_size(walk.automaton);
    automaton_destroy(walk.automaton);
}

static void random_languages(uint64_t from, bool regular)
{
    compared = members = 0;
    for (uint32_t i = 0; i < LANGUAGES; i++) {
        seed = from + i;
        struct expr *expr = random_expr(1 + (int)pick(3), regular);
        compare_expr(expr, regular);
        expr_free(expr);
    }
    // Neither all nor none: the comparison had something to tell apart.
    assert_true(members > compared / 10 && members < compared / 10 * 9);
}

static void nested_languages_as_defined(void **state)
{
    (void)state;
    random_languages(1000000, false);
}

static void regular_languages_as_defined(void **state)
{
    (void)state;
    random_languages(2000000, true);
}

// ---- By hand

static bool accepts_run(struct automaton *automaton, const struct sign *signs, int count)
{
    struct walk walk = {.automaton = automaton};
    struct run run = {0};

    walk.states[0] = automaton->initial;
    for (int i = 0; i < count; i++) {
        run_push(&run, signs[i]);
        walk_letter(&walk, &run, i);
    }
    uint32_t end = walk.states[count];
    return end != AUTOMATON_DEAD && automaton->accepts(automaton, end);
}

// Figure 9 of the paper: the call trace [C, F, F] where S = {C, J, F}; here 0, 1 and 2 are C, J, F.
static void reliable_trace_of_the_paper(void **state)
{
    (void)state;
    static const uint32_t c = 0, f = 2, all[] = {0, 1, 2};
    struct trace_entry entries[] = {{.nodes = {&c, 1}}, {.nodes = {&f, 1}}, {.nodes = {&f, 1}}};
    struct automaton *automaton = automaton_create(
        language_trace(TRACE_RELIABLE, entries, 3, (struct id_set){all, 3}), NULL, 0, "[C, F, F]");
    static const struct sign good[] = {{EVENT_STEP, 9, 0},
                                       {EVENT_STEP, 0, 0},
                                       {EVENT_STEP, 2, 0},
                                       {EVENT_STEP, 9, 0},
                                       {EVENT_STEP, 2, 0}};
    static const struct sign other[] = {
        {EVENT_STEP, 0, 0}, {EVENT_STEP, 1, 0}, {EVENT_STEP, 2, 0}, {EVENT_STEP, 2, 0}};

    assert_true(automaton->is_regular);
    assert_true(accepts_run(automaton, good, 5));
    assert_false(accepts_run(automaton, good, 4));
    assert_false(accepts_run(automaton, other, 4));
    assert_true(automaton->minds(automaton, 1));
    assert_false(automaton->minds(automaton, 9));
    automaton_destroy(automaton);
}

// Section 5.4: {B, C}: true and {B, C}: false.
static void ambiguous_coverage_of_the_paper(void **state)
{
    (void)state;
    static const uint32_t b_c[] = {1, 2};
    struct id_set nodes = {b_c, 2};
    struct automaton *some = automaton_create(language_ran(nodes), NULL, 0, "{B, C}: true");
    struct automaton *not_all = automaton_create(language_not_all(nodes), NULL, 0, "{B, C}: false");
    static const struct sign signs[] = {
        {EVENT_STEP, 0, 0}, {EVENT_STEP, 2, 0}, {EVENT_STEP, 2, 0}, {EVENT_STEP, 1, 0}};

    for (int i = 0; i <= 4; i++) {
        assert_int_equal(accepts_run(some, signs, i), i >= 2);
        assert_int_equal(accepts_run(not_all, signs, i), i < 4);
    }
    automaton_destroy(some);
    automaton_destroy(not_all);
}

static void not_all_has_a_limit(void **state)
{
    (void)state;
    uint32_t ids[AUTOMATA_NOT_ALL_MAX + 1];

    for (uint32_t i = 0; i <= AUTOMATA_NOT_ALL_MAX; i++)
        ids[i] = i;
    assert_null(language_not_all((struct id_set){ids, AUTOMATA_NOT_ALL_MAX + 1}));
    struct automaton *automaton = automaton_create(
        language_not_all((struct id_set){ids, AUTOMATA_NOT_ALL_MAX}), NULL, 0, "most");
    uint32_t at = automaton->initial;
    for (uint32_t i = 0; i < AUTOMATA_NOT_ALL_MAX; i++) {
        assert_true(automaton->accepts(automaton, at));
        assert_int_equal(automaton_step(automaton, at, 1000, 0), at);
        at = automaton_step(automaton, at, i, 0);
    }
    assert_int_equal(at, AUTOMATON_DEAD);
    assert_int_equal(automaton_size(automaton), AUTOMATA_NOT_ALL_MAX);
    automaton_destroy(automaton);
}

// A call that was made at some time before, whether it returned or not.
static void seen_contexts_are_regular(void **state)
{
    (void)state;
    struct context context = {CONTEXT_SEEN, call_of(0)};
    static const uint32_t two = 2;
    struct event event = {.kind = EVENT_STEP, .nodes = {&two, 1}, .required = 1};
    struct automaton *automaton =
        automaton_create(language_happens(&event, 1), &context, 1, "2 after a call of 0");
    static const struct sign before[] = {{EVENT_STEP, 2, 0},  {EVENT_CALL, 0, 1},
                                         {EVENT_LEAVE, 0, 0}, {EVENT_CALL, 0, 0},
                                         {EVENT_LEAVE, 0, 0}, {EVENT_STEP, 2, 0}};

    assert_true(automaton->is_regular);
    assert_true(accepts_run(automaton, before, 6));
    assert_false(accepts_run(automaton, before, 5));
    assert_true(automaton->minds(automaton, 0));
    assert_true(automaton->minds(automaton, 2));
    assert_false(automaton->minds(automaton, 1));
    assert_true(automaton->minds(automaton, NODES)); // not known to the model that told the callers
    automaton_destroy(automaton);
}

// Recursion 100,000 deep: as many symbols as there are different states, not as there are calls.
static void deep_recursion_needs_few_states(void **state)
{
    (void)state;
    static const uint32_t one = 1, two = 2;
    struct event call = call_of(0);
    struct event event = {.kind = EVENT_STEP, .nodes = {&one, 1}, .forbidden = 1};
    struct language *inner = language_then(language_ran((struct id_set){&one, 1}),
                                           language_ran((struct id_set){&two, 1}));
    struct language *parts[] = {language_inside(inner, &call, 0), language_happens(&event, 1)};
    struct context context = {CONTEXT_OPEN, call};
    struct automaton *automaton = automaton_create(language_and(parts, 2), &context, 1, "deep");
    enum { DEPTH = 100000 };
    uint32_t *symbols = calloc(DEPTH, sizeof(*symbols)), at = automaton->initial;

    assert_false(automaton->is_regular);
    for (uint32_t i = 0; i < DEPTH; i++)
        at = automaton->call(automaton, at, 0, 0, &symbols[i]);
    at = automaton_step(automaton, at, 1, 0);
    for (uint32_t i = DEPTH; i-- > 0;)
        at = automaton->leave(automaton, at, symbols[i], 0, 0);
    assert_false(automaton->accepts(automaton, at));
    at = automaton_step(automaton, at, 1, 0);
    at = automaton->call(automaton, at, 0, 0, &symbols[0]);
    at = automaton_step(automaton, at, 1, 0);
    at = automaton_step(automaton, at, 2, 0);
    assert_true(automaton->accepts(automaton, at));
    assert_true(automaton_size(automaton) < 200);
    free(symbols);
    automaton_destroy(automaton);
}

static void ids_are_sorted_once(void **state)
{
    (void)state;
    uint32_t ids[] = {5, 1, 5, 3, 1};
    struct id_set set = id_set_make(ids, 5);

    assert_int_equal(set.count, 3);
    for (uint32_t id = 0; id < 8; id++)
        assert_int_equal(id_set_has(set, id), id == 1 || id == 3 || id == 5);
    assert_int_equal(id_set_make(NULL, 0).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_languages_as_defined),
        cmocka_unit_test(regular_languages_as_defined),
        cmocka_unit_test(reliable_trace_of_the_paper),
        cmocka_unit_test(ambiguous_coverage_of_the_paper),
        cmocka_unit_test(not_all_has_a_limit),
        cmocka_unit_test(seen_contexts_are_regular),
        cmocka_unit_test(deep_recursion_needs_few_states),
        cmocka_unit_test(ids_are_sorted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
