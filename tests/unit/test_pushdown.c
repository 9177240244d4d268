// SPDX-License-Identifier: Apache-2.0
/*
 * The pushdown core against enumeration, on small random systems, always the same ones.
 *
 *     build/tests/test_pushdown [SYSTEMS [FIRST]]
 *
 * A value is right when no path that enumeration finds would better it, and when its witnesses are
 * paths (gone through here, without the code under test) whose weights combine to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/budget.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "solve/pushdown/pushdown.h"

#define MOST_RULES  14
#define MOST_GIVEN  8
#define MOST_HEIGHT 10 // of stacks in enumeration
#define MOST_STATES 6  // of automata
#define ASKED       3  // height of the stacks that are asked about
#define NONE        PUSHDOWN_NONE

static uint32_t systems = 700, first_system;

static uint64_t chance_state;

static uint32_t chance(uint32_t below)
{
    chance_state += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash_mix(chance_state) >> 20) % below;
}

// ---- Domains

struct domain {
    const char *name;
    struct semiring semiring;
    struct weight (*random)(void);
};

static struct weight random_reach(void)
{
    return (struct weight){1};
}

static struct weight random_length(void)
{
    return (struct weight){chance(5)};
}

// Lengths where each call that returns costs more, by its tag.
static struct weight taxed_merge(void *context, struct weight caller, struct weight call,
                                 struct weight callee, uint32_t tag)
{
    (void)context;
    if (caller.bits == UINT64_MAX || call.bits == UINT64_MAX || callee.bits == UINT64_MAX)
        return (struct weight){UINT64_MAX};
    return (struct weight){caller.bits + call.bits + callee.bits + tag % 3 * 4};
}

/*
 * Pairs (a, b) of costs, neither less in both: by a = 0 .. 15, the least b, a nibble each; 15 where
 * there is none or one that is not more for a smaller a. Sums stop at 15 and 14.
 */
static uint32_t nibble(uint64_t bits, uint32_t a)
{
    return bits >> (4 * a) & 15;
}

static uint64_t add_pair(uint64_t bits, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i <= a; i++)
        if (nibble(bits, i) <= b)
            return bits;
    for (uint32_t i = a; i < 16; i++)
        if (nibble(bits, i) >= b)
            bits |= UINT64_C(15) << (4 * i);
    return (bits & ~(UINT64_C(15) << (4 * a))) | (uint64_t)b << (4 * a);
}

static struct weight pareto_combine(void *context, struct weight x, struct weight y)
{
    (void)context;
    for (uint32_t a = 0; a < 16; a++)
        if (nibble(y.bits, a) < 15)
            x.bits = add_pair(x.bits, a, nibble(y.bits, a));
    return x;
}

static struct weight pareto_extend(void *context, struct weight x, struct weight y)
{
    struct weight sum = {UINT64_MAX};

    (void)context;
    for (uint32_t a = 0; a < 16; a++)
        for (uint32_t c = 0; c < 16 && nibble(x.bits, a) < 15; c++)
            if (nibble(y.bits, c) < 15) {
                uint32_t b = nibble(x.bits, a) + nibble(y.bits, c);
                sum.bits = add_pair(sum.bits, a + c < 15 ? a + c : 15, b < 14 ? b : 14);
            }
    return sum;
}

static uint64_t pareto_rank(void *context, struct weight x)
{
    uint64_t least = UINT64_MAX;

    (void)context;
    for (uint32_t a = 0; a < 16; a++)
        if (nibble(x.bits, a) < 15 && a + nibble(x.bits, a) < least)
            least = a + nibble(x.bits, a);
    return least;
}

static struct weight random_pareto(void)
{
    return (struct weight){add_pair(UINT64_MAX, chance(4), chance(4))};
}

/*
 * Relations between what a global and a local bit are before and after: 4 by 4 bits, a row for each
 * before. A call that returns leaves the caller's local bit as it was, unless its tag is even.
 */
static struct weight relation_combine(void *context, struct weight x, struct weight y)
{
    (void)context;
    return (struct weight){x.bits | y.bits};
}

static struct weight relation_extend(void *context, struct weight x, struct weight y)
{
    struct weight result = {0};

    (void)context;
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < 4; k++)
            if (x.bits >> (4 * i + k) & 1)
                result.bits |= (y.bits >> (4 * k) & 15) << (4 * i);
    return result;
}

static struct weight relation_merge(void *context, struct weight caller, struct weight call,
                                    struct weight callee, uint32_t tag)
{
    struct weight inside = relation_extend(context, call, callee), kept = {0};

    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < 4; k++)
            if (inside.bits >> (4 * i + k) & 1)
                kept.bits |= UINT64_C(1) << (4 * i + (tag % 2 ? (k & 2) | (i & 1) : k));
    return relation_extend(context, caller, kept);
}

static struct weight random_relation(void)
{
    struct weight result = {0};

    // Mostly functions, now and then a test that lets part of what is through.
    for (uint32_t i = 0; i < 4; i++)
        if (chance(8))
            result.bits |= UINT64_C(1) << (4 * i + (chance(2) ? i : chance(4)));
    return result;
}

static bool relation_parse(void *context, const char *text, struct weight *ret)
{
    (void)context;
    if (strlen(text) != 16 || strspn(text, "01") != 16)
        return false;
    ret->bits = strtoull(text, NULL, 2);
    return true;
}

static void relation_print(void *context, struct weight weight, struct strbuf *out)
{
    (void)context;
    for (uint32_t i = 16; i-- > 0;)
        strbuf_append_char(out, weight.bits >> i & 1 ? '1' : '0');
}

enum { REACH, LENGTH, TAXED, PARETO, PARETO_UNRANKED, RELATION, DOMAINS };

static struct domain domains[DOMAINS] = {
    [PARETO] = {"pareto",
                {.zero = {UINT64_MAX},
                 .one = {UINT64_MAX << 4},
                 .extend = pareto_extend,
                 .combine = pareto_combine,
                 .rank = pareto_rank},
                random_pareto},
    [RELATION] = {"relation",
                  {.zero = {0},
                   .one = {0x8421},
                   .extend = relation_extend,
                   .combine = relation_combine,
                   .merge = relation_merge,
                   .print = relation_print,
                   .parse = relation_parse},
                  random_relation},
};

static void init_domains(void)
{
    domains[REACH] = (struct domain){"reach", semiring_reach, random_reach};
    domains[LENGTH] = (struct domain){"length", semiring_length, random_length};
    domains[TAXED] = domains[LENGTH];
    domains[TAXED].name = "taxed";
    domains[TAXED].semiring.merge = taxed_merge;
    domains[PARETO_UNRANKED] = domains[PARETO];
    domains[PARETO_UNRANKED].name = "pareto, first come";
    domains[PARETO_UNRANKED].semiring.rank = NULL;
}

static struct weight extend(const struct semiring *s, struct weight a, struct weight b)
{
    return s->extend(s->context, a, b);
}

static struct weight combine(const struct semiring *s, struct weight a, struct weight b)
{
    return s->combine(s->context, a, b);
}

static bool same(struct weight a, struct weight b)
{
    return a.bits == b.bits;
}

// At least as good.
static bool covers(const struct semiring *s, struct weight a, struct weight b)
{
    return same(combine(s, a, b), a);
}

// ---- Samples: a system and a set of configurations, as plain tables

struct given {
    uint32_t from, symbol, to;
    struct weight weight;
};

struct sample {
    const struct semiring *semiring;
    uint32_t states, symbols, automaton_states;
    struct pushdown_rule rules[MOST_RULES];
    uint32_t rule_count;
    struct given given[MOST_GIVEN];
    uint32_t given_count;
    uint32_t finals; // a bit a state
};

static void random_rules(struct sample *sample, const struct domain *domain)
{
    sample->states = 1 + chance(3);
    sample->symbols = 2 + chance(2);
    sample->rule_count = 3 + chance(MOST_RULES - 2);
    for (uint32_t r = 0; r < sample->rule_count; r++) {
        uint32_t size = chance(3);

        sample->rules[r] = (struct pushdown_rule){
            .state = chance(sample->states),
            .symbol = chance(sample->symbols),
            .to = chance(sample->states),
            .top = size > 0 ? chance(sample->symbols) : NONE,
            .below = size > 1 ? chance(sample->symbols) : NONE,
            .tag = chance(100),
            .weight = domain->random(),
        };
    }
}

static void random_given(struct sample *sample, const struct domain *domain)
{
    uint32_t more = 1 + chance(3);

    sample->automaton_states = sample->states + more;
    sample->given_count = 1 + chance(MOST_GIVEN);
    for (uint32_t g = 0; g < sample->given_count; g++)
        sample->given[g] = (struct given){
            g == 0 ? chance(sample->states) : chance(sample->automaton_states),
            chance(sample->symbols), sample->states + chance(more), domain->random()};
    sample->finals = 1u << sample->given[0].to;
    if (chance(3) == 0)
        sample->finals |= 1u << chance(sample->automaton_states);
}

static struct pushdown *build(const struct sample *sample)
{
    struct pushdown *system = pushdown_create(sample->semiring, sample->states, sample->symbols);

    for (uint32_t r = 0; r < sample->rule_count; r++)
        assert_int_equal(pushdown_add_rule(system, &sample->rules[r]), r);
    return system;
}

static struct pushdown_automaton *build_given(const struct sample *sample, struct pushdown *system)
{
    struct pushdown_automaton *automaton = pushdown_automaton_create(system);

    while (pushdown_automaton_state_count(automaton) < sample->automaton_states)
        pushdown_automaton_add_state(automaton);
    for (uint32_t s = 0; s < sample->automaton_states; s++)
        if (sample->finals >> s & 1)
            pushdown_automaton_set_final(automaton, s);
    for (uint32_t g = 0; g < sample->given_count; g++)
        pushdown_automaton_add_transition(automaton, sample->given[g].from, sample->given[g].symbol,
                                          sample->given[g].to, sample->given[g].weight);
    return automaton;
}

// ---- Configurations, numbered as far as they are not higher than ASKED, or than it takes

struct stack {
    uint32_t state, height;
    uint32_t symbols[MOST_HEIGHT]; // top last
};

static uint64_t key_of(const struct sample *sample, const struct stack *stack)
{
    uint64_t key = 0;

    for (uint32_t i = 0; i < stack->height; i++)
        key = key * (sample->symbols + 1) + 1 + stack->symbols[i];
    return key * sample->states + stack->state;
}

static uint32_t key_count(const struct sample *sample, uint32_t height)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < height; i++)
        count *= sample->symbols + 1;
    return (uint32_t)count * sample->states;
}

// False: no stack has this number.
static bool stack_of(const struct sample *sample, uint64_t key, struct stack *stack)
{
    uint64_t rest = key / sample->states;
    uint32_t count = 0;

    stack->state = (uint32_t)(key % sample->states);
    for (; rest; rest /= sample->symbols + 1) {
        if (rest % (sample->symbols + 1) == 0)
            return false;
        stack->symbols[count++] = (uint32_t)(rest % (sample->symbols + 1)) - 1;
    }
    for (uint32_t i = 0, k = count; i + 1 < k; i++) {
        uint32_t symbol = stack->symbols[i];
        stack->symbols[i] = stack->symbols[--k];
        stack->symbols[k] = symbol;
    }
    stack->height = count;
    return true;
}

static struct pushdown_configuration configuration_of(const struct stack *stack, uint32_t *symbols)
{
    for (uint32_t i = 0; i < stack->height; i++)
        symbols[i] = stack->symbols[stack->height - 1 - i];
    return (struct pushdown_configuration){stack->state, symbols, stack->height};
}

static bool apply(const struct pushdown_rule *rule, struct stack *stack)
{
    if (!stack->height || stack->state != rule->state ||
        stack->symbols[stack->height - 1] != rule->symbol || stack->height + 1 >= MOST_HEIGHT)
        return false;
    stack->state = rule->to;
    stack->height--;
    if (rule->below != NONE)
        stack->symbols[stack->height++] = rule->below;
    if (rule->top != NONE)
        stack->symbols[stack->height++] = rule->top;
    return true;
}

// What the given set says of a configuration; behind post from its bottom to its top.
static struct weight given_value_of(const struct sample *sample,
                                    const struct pushdown_configuration *configuration,
                                    bool is_post)
{
    const struct semiring *s = sample->semiring;
    struct weight now[MOST_STATES], next[MOST_STATES], all = s->zero;

    for (uint32_t q = 0; q < sample->automaton_states; q++)
        now[q] = q == configuration->state ? s->one : s->zero;
    for (uint32_t i = 0; i < configuration->count; i++) {
        for (uint32_t q = 0; q < sample->automaton_states; q++)
            next[q] = s->zero;
        for (uint32_t g = 0; g < sample->given_count; g++) {
            const struct given *given = &sample->given[g];

            if (given->symbol == configuration->symbols[i])
                next[given->to] = combine(s, next[given->to],
                                          is_post ? extend(s, given->weight, now[given->from])
                                                  : extend(s, now[given->from], given->weight));
        }
        memcpy(now, next, sizeof(now));
    }
    for (uint32_t q = 0; q < sample->automaton_states; q++)
        if (sample->finals >> q & 1)
            all = combine(s, all, now[q]);
    return all;
}

static struct weight given_value(const struct sample *sample, const struct stack *stack,
                                 bool is_post)
{
    uint32_t symbols[MOST_HEIGHT];
    struct pushdown_configuration configuration = configuration_of(stack, symbols);

    return given_value_of(sample, &configuration, is_post);
}

// ---- Enumeration of paths, where calls are merged

struct call {
    struct weight before;
    uint32_t rule, height;
};

struct walk {
    struct stack stack;
    struct call calls[MOST_HEIGHT];
    uint32_t call_count;
    struct weight weight;
};

static struct weight weight_of_walk(const struct sample *sample, const struct walk *walk)
{
    const struct semiring *s = sample->semiring;
    struct weight weight = s->one;

    for (uint32_t c = 0; c < walk->call_count; c++)
        weight = extend(s, extend(s, weight, walk->calls[c].before),
                        sample->rules[walk->calls[c].rule].weight);
    return extend(s, weight, walk->weight);
}

static bool walk_rule(const struct sample *sample, struct walk *walk, uint32_t r)
{
    const struct semiring *s = sample->semiring;
    const struct pushdown_rule *rule = &sample->rules[r];

    if (!apply(rule, &walk->stack))
        return false;
    if (rule->below != NONE) {
        walk->calls[walk->call_count++] = (struct call){walk->weight, r, walk->stack.height - 1};
        walk->weight = s->one;
        return true;
    }
    walk->weight = extend(s, walk->weight, rule->weight);
    if (walk->call_count && walk->calls[walk->call_count - 1].height == walk->stack.height) {
        const struct call *call = &walk->calls[--walk->call_count];
        const struct pushdown_rule *push = &sample->rules[call->rule];

        walk->weight =
            s->merge ? s->merge(s->context, call->before, push->weight, walk->weight, push->tag)
                     : extend(s, extend(s, call->before, push->weight), walk->weight);
    }
    return true;
}

#define MOST_WALKS 250

static uint64_t hash_walk(const struct walk *walk)
{
    uint64_t hash = hash_u64(HASH_SEED, walk->stack.state);

    for (uint32_t i = 0; i < walk->stack.height; i++)
        hash = hash_u64(hash, walk->stack.symbols[i]);
    for (uint32_t c = 0; c < walk->call_count; c++)
        hash = hash_u64(hash_u64(hash_u64(hash, walk->calls[c].before.bits), walk->calls[c].rule),
                        walk->calls[c].height);
    return hash_mix(hash_u64(hash, walk->weight.bits)) | 1;
}

// Where walks may be after so many steps, the short ones first, each once.
static uint32_t enumerate(const struct sample *sample, const struct walk *start, struct walk *walks)
{
    static uint64_t seen[4 * MOST_WALKS];
    uint32_t count = 0;

    memset(seen, 0, sizeof(seen));
    walks[count++] = *start;
    for (uint32_t w = 0; w < count; w++)
        for (uint32_t r = 0; r < sample->rule_count && count < MOST_WALKS; r++) {
            walks[count] = walks[w];
            if (!walk_rule(sample, &walks[count], r))
                continue;
            uint64_t hash = hash_walk(&walks[count]), slot = hash % (4 * MOST_WALKS);
            while (seen[slot] && seen[slot] != hash)
                slot = (slot + 1) % (4 * MOST_WALKS);
            count += seen[slot] == 0;
            seen[slot] = hash;
        }
    return count;
}

// Paths from this stack, into the values of where they lead; or of those to what is given.
static void walk_from(const struct sample *sample, const struct stack *stack, bool is_post,
                      struct weight *values, uint32_t keys)
{
    static struct walk walks[MOST_WALKS + 1];
    const struct semiring *s = sample->semiring;
    struct walk start = {.stack = *stack, .weight = s->one};
    uint32_t from = (uint32_t)key_of(sample, stack);

    if (is_post)
        start.weight = given_value(sample, stack, true);
    if (same(start.weight, s->zero))
        return;
    uint32_t count = enumerate(sample, &start, walks);
    for (uint32_t w = 0; w < count; w++) {
        struct weight weight = weight_of_walk(sample, &walks[w]);
        uint64_t key = key_of(sample, &walks[w].stack);

        if (!is_post) {
            weight = extend(s, weight, given_value(sample, &walks[w].stack, false));
            key = from;
        }
        if (key < keys)
            values[key] = combine(s, values[key], weight);
    }
}

// ---- Values of an explicit graph of all stacks that are not too high; calls are not merged

#define GRAPH_HEIGHT 5

static void settle_graph(const struct sample *sample, struct weight *values, uint32_t keys,
                         bool is_post)
{
    const struct semiring *s = sample->semiring;
    struct stack stack;

    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t key = 0; key < keys; key++) {
            if (!stack_of(sample, key, &stack))
                continue;
            for (uint32_t r = 0; r < sample->rule_count; r++) {
                struct stack next = stack;

                if (!apply(&sample->rules[r], &next) || next.height > GRAPH_HEIGHT)
                    continue;
                uint32_t next_key = (uint32_t)key_of(sample, &next);
                uint32_t to = is_post ? next_key : key;
                struct weight step = is_post ? extend(s, values[key], sample->rules[r].weight)
                                             : extend(s, sample->rules[r].weight, values[next_key]);
                struct weight better = combine(s, values[to], step);
                changed |= !same(better, values[to]);
                values[to] = better;
            }
        }
    }
}

// By key up to the height ASKED: what is expected, or something that is less good.
static struct weight *expect(const struct sample *sample, bool is_post)
{
    const struct semiring *s = sample->semiring;
    uint32_t keys = key_count(sample, s->merge ? ASKED : GRAPH_HEIGHT);
    struct weight *values = calloc(keys, sizeof(*values));
    struct stack stack;

    for (uint32_t key = 0; key < keys; key++)
        values[key] = s->zero;
    for (uint32_t key = 0; key < keys; key++) {
        if (!stack_of(sample, key, &stack))
            continue;
        if (s->merge)
            walk_from(sample, &stack, is_post, values, keys);
        else
            values[key] = given_value(sample, &stack, is_post);
    }
    if (!s->merge)
        settle_graph(sample, values, keys, is_post);
    return values;
}

// ---- Witnesses

// The weight of a sequence of rules, call by call: *at moves behind what returns from this one.
static struct weight weight_of_rules(const struct sample *sample, const uint32_t *rules,
                                     uint32_t count, uint32_t *at, uint32_t *open,
                                     struct weight before, bool is_outermost)
{
    const struct semiring *s = sample->semiring;
    uint32_t height = 1;

    while (*at < count) {
        const struct pushdown_rule *rule = &sample->rules[rules[(*at)++]];

        if (rule->below != NONE) {
            uint32_t inner_open = 0;
            struct weight callee =
                weight_of_rules(sample, rules, count, at, &inner_open, s->one, false);
            if (inner_open)
                before = extend(s, extend(s, before, rule->weight), callee);
            else if (s->merge)
                before = s->merge(s->context, before, rule->weight, callee, rule->tag);
            else
                before = extend(s, extend(s, before, rule->weight), callee);
            continue;
        }
        before = extend(s, before, rule->weight);
        if (rule->top == NONE && !is_outermost && --height == 0)
            return before;
    }
    *open = 1;
    return before;
}

static bool same_configuration(const struct pushdown_configuration *a,
                               const struct pushdown_configuration *b)
{
    return a->state == b->state && a->count == b->count &&
           (a->count == 0 || memcmp(a->symbols, b->symbols, a->count * sizeof(uint32_t)) == 0);
}

// Goes by the rules with a stack that has room.
static void go(const struct sample *sample, const struct pushdown_witness *path)
{
    uint32_t state = path->from.state, height = path->from.count;
    _cleanup_free_ uint32_t *stack =
        calloc(path->from.count + path->rule_count + 2u, sizeof(*stack));

    for (uint32_t i = 0; i < height; i++)
        stack[i] = path->from.symbols[height - 1 - i];
    for (uint32_t i = 0; i < path->rule_count; i++) {
        const struct pushdown_rule *rule = &sample->rules[path->rules[i]];

        assert_true(height > 0 && state == rule->state && stack[height - 1] == rule->symbol);
        state = rule->to;
        height--;
        if (rule->below != NONE)
            stack[height++] = rule->below;
        if (rule->top != NONE)
            stack[height++] = rule->top;
    }
    assert_int_equal(state, path->to.state);
    assert_int_equal(height, path->to.count);
    for (uint32_t i = 0; i < height; i++)
        assert_int_equal(stack[i], path->to.symbols[height - 1 - i]);
}

static void check_path(const struct sample *sample, struct pushdown *system,
                       const struct pushdown_witness *path, bool is_post)
{
    const struct semiring *s = sample->semiring;
    struct weight before = is_post ? path->given : s->one, weight, replayed;
    struct pushdown_configuration end;
    uint32_t at = 0, open = 0;

    go(sample, path);
    assert_true(
        covers(s, given_value_of(sample, is_post ? &path->from : &path->to, is_post), path->given));
    weight = weight_of_rules(sample, path->rules, path->rule_count, &at, &open, before, true);
    assert_int_equal(at, path->rule_count);
    assert_true(pushdown_replay(system, &path->from, before, path->rules, path->rule_count, &end,
                                &replayed));
    assert_int_equal(weight.bits, replayed.bits);
    assert_true(same_configuration(&end, &path->to));
    free(end.symbols);
    if (!is_post)
        weight = extend(s, weight, path->given);
    assert_int_equal(weight.bits, path->weight.bits);
}

// All paths are right, combine to the value, and none is there for nothing.
static void check_witnesses(const struct sample *sample, struct pushdown *system,
                            const struct pushdown_witnesses *witnesses, struct weight value,
                            bool is_post)
{
    const struct semiring *s = sample->semiring;
    struct weight all = s->zero;

    for (uint32_t i = 0; i < witnesses->count; i++) {
        struct weight others = s->zero;

        check_path(sample, system, &witnesses->paths[i], is_post);
        all = combine(s, all, witnesses->paths[i].weight);
        for (uint32_t k = 0; k < witnesses->count; k++)
            if (k != i)
                others = combine(s, others, witnesses->paths[k].weight);
        assert_false(same(others, value));
    }
    assert_int_equal(all.bits, value.bits);
}

// ---- One sample

static struct {
    uint64_t zero, nonzero, equal, paths, several, rules;
} counted[DOMAINS][2];

static void check_asked(const struct sample *sample, uint32_t domain, struct pushdown *system,
                        struct pushdown_automaton *automaton, const struct stack *stack,
                        struct weight expected, bool is_post)
{
    const struct semiring *s = sample->semiring;
    uint32_t symbols[MOST_HEIGHT];
    struct pushdown_configuration asked = configuration_of(stack, symbols);
    struct weight value = pushdown_value(automaton, &asked);
    struct pushdown_witnesses witnesses;

    if (!covers(s, value, expected))
        fail_msg("%s, %s: %llx, expected %llx", domains[domain].name, is_post ? "post" : "pre",
                 (unsigned long long)value.bits, (unsigned long long)expected.bits);
    assert_true(pushdown_witnesses(automaton, &asked, UINT64_MAX, &witnesses));
    for (uint32_t i = 0; i < witnesses.count; i++) {
        const struct pushdown_witness *path = &witnesses.paths[i];

        assert_true(same_configuration(is_post ? &path->to : &path->from, &asked));
        counted[domain][is_post].rules += path->rule_count;
    }
    check_witnesses(sample, system, &witnesses, value, is_post);
    counted[domain][is_post].zero += same(value, s->zero);
    counted[domain][is_post].nonzero += !same(value, s->zero);
    counted[domain][is_post].equal += same(value, expected);
    counted[domain][is_post].paths += witnesses.count;
    counted[domain][is_post].several += witnesses.count > 1;
    pushdown_witnesses_deinit(&witnesses);
}

// Symbols `top` above anything, in each control state; and everything.
static void check_sets(const struct sample *sample, struct pushdown *system,
                       struct pushdown_automaton *automaton, const struct weight *expected,
                       bool is_post)
{
    const struct semiring *s = sample->semiring;
    uint32_t top = chance(sample->symbols + 1);
    struct pushdown_automaton *set = pushdown_automaton_create(system);
    uint32_t rest = pushdown_automaton_add_state(set);
    struct pushdown_witnesses witnesses;
    struct stack stack;

    for (uint32_t c = 0; c < sample->states; c++) {
        pushdown_automaton_add_transition(set, c, top == sample->symbols ? PUSHDOWN_ANY : top, rest,
                                          s->one);
        if (top == sample->symbols)
            pushdown_automaton_set_final(set, c);
    }
    pushdown_automaton_add_transition(set, rest, PUSHDOWN_ANY, rest, s->one);
    pushdown_automaton_set_final(set, rest);
    struct weight value = pushdown_value_of_set(automaton, set);
    for (uint32_t key = 0; key < key_count(sample, ASKED); key++)
        if (stack_of(sample, key, &stack) &&
            (top == sample->symbols || (stack.height && stack.symbols[stack.height - 1] == top)))
            assert_true(covers(s, value, expected[key]));
    assert_true(pushdown_witnesses_of_set(automaton, set, UINT64_MAX, &witnesses));
    for (uint32_t i = 0; i < witnesses.count && top < sample->symbols; i++) {
        const struct pushdown_witness *path = &witnesses.paths[i];
        const struct pushdown_configuration *end = is_post ? &path->to : &path->from;

        assert_true(end->count > 0 && end->symbols[0] == top);
    }
    check_witnesses(sample, system, &witnesses, value, is_post);
    pushdown_witnesses_deinit(&witnesses);
    pushdown_automaton_destroy(set);
}

static void check_sample(const struct sample *sample, uint32_t domain, bool is_post)
{
    struct pushdown *system = build(sample);
    struct pushdown_automaton *automaton = build_given(sample, system);
    _cleanup_free_ struct weight *expected = expect(sample, is_post);
    struct stack stack;

    assert_false(pushdown_is_complete(automaton));
    assert_true(is_post ? pushdown_post(automaton, NULL) : pushdown_pre(automaton, NULL));
    assert_true(pushdown_is_complete(automaton));
    for (uint32_t key = 0; key < key_count(sample, ASKED); key++)
        if (stack_of(sample, key, &stack))
            check_asked(sample, domain, system, automaton, &stack, expected[key], is_post);
    check_sets(sample, system, automaton, expected, is_post);
    pushdown_automaton_destroy(automaton);
    pushdown_destroy(system);
}

static void make_sample(struct sample *sample, uint32_t domain, uint32_t number)
{
    chance_state = hash_mix(number * 16u + domain + 1);
    *sample = (struct sample){.semiring = &domains[domain].semiring};
    random_rules(sample, &domains[domain]);
    random_given(sample, &domains[domain]);
}

static void test_enumeration(void **state)
{
    (void)state;
    for (uint32_t domain = 0; domain < DOMAINS; domain++)
        for (uint32_t i = first_system; i < first_system + systems; i++) {
            struct sample sample;

            make_sample(&sample, domain, i);
            check_sample(&sample, domain, i % 2);
        }
    for (uint32_t domain = 0; domain < DOMAINS; domain++)
        for (int is_post = 0; is_post < 2; is_post++) {
            uint64_t zero = counted[domain][is_post].zero,
                     nonzero = counted[domain][is_post].nonzero;
            uint64_t equal = counted[domain][is_post].equal;

            print_message("%s, %s: %llu zero, %llu not; %llu as enumerated; %llu paths of %llu "
                          "rules, %llu times several\n",
                          domains[domain].name, is_post ? "post" : "pre", (unsigned long long)zero,
                          (unsigned long long)nonzero, (unsigned long long)equal,
                          (unsigned long long)counted[domain][is_post].paths,
                          (unsigned long long)counted[domain][is_post].rules,
                          (unsigned long long)counted[domain][is_post].several);
            assert_true(zero * 20 > zero + nonzero && nonzero * 20 > zero + nonzero);
            // Walks with merged calls are enumerated only so far.
            uint64_t least = domains[domain].semiring.merge ? 75 : 99;
            assert_true(equal * 100 > (zero + nonzero) * least);
        }
}

// From one configuration to another: the same forwards and backwards.
static void test_post_and_pre(void **state)
{
    uint64_t nonzero = 0, zero = 0;

    (void)state;
    for (uint32_t i = first_system; i < first_system + systems; i++) {
        uint32_t domain = i % DOMAINS, symbols[2][MOST_HEIGHT];
        struct sample sample;
        struct stack stack;

        make_sample(&sample, domain, i + 1000000);
        const struct semiring *s = sample.semiring;
        struct pushdown *system = build(&sample);
        while (!stack_of(&sample, chance(key_count(&sample, 2)), &stack) || !stack.height)
            ;
        struct pushdown_configuration from = configuration_of(&stack, symbols[0]);
        struct pushdown_automaton *post = pushdown_automaton_create(system);
        pushdown_automaton_add_configuration(post, &from);
        assert_true(pushdown_post(post, NULL));
        for (uint32_t key = 0; key < key_count(&sample, ASKED); key++) {
            if (!stack_of(&sample, key, &stack))
                continue;
            struct pushdown_configuration to = configuration_of(&stack, symbols[1]);
            struct pushdown_automaton *pre = pushdown_automaton_create(system);
            pushdown_automaton_add_configuration(pre, &to);
            assert_true(pushdown_pre(pre, NULL));
            struct weight value = pushdown_value(post, &to);
            assert_int_equal(value.bits, pushdown_value(pre, &from).bits);
            nonzero += !same(value, s->zero);
            zero += same(value, s->zero);
            pushdown_automaton_destroy(pre);
        }
        pushdown_automaton_destroy(post);
        pushdown_destroy(system);
    }
    print_message("from one to another: %llu zero, %llu not\n", (unsigned long long)zero,
                  (unsigned long long)nonzero);
    assert_true(nonzero * 20 > zero && zero * 20 > nonzero);
}

// Any order is right.
static void test_order(void **state)
{
    (void)state;
    for (uint32_t i = first_system; i < first_system + systems; i++) {
        struct semiring unordered;
        struct sample sample;
        struct stack stack;

        make_sample(&sample, i % 2 ? TAXED : PARETO, i + 2000000);
        struct pushdown *system = build(&sample);
        struct pushdown_automaton *ordered = build_given(&sample, system);
        unordered = *sample.semiring;
        unordered.rank = NULL;
        unordered.is_superior = false;
        sample.semiring = &unordered;
        struct pushdown *other_system = build(&sample);
        struct pushdown_automaton *other = build_given(&sample, other_system);
        bool is_post = i / 2 % 2;
        assert_true(is_post ? pushdown_post(ordered, NULL) : pushdown_pre(ordered, NULL));
        assert_true(is_post ? pushdown_post(other, NULL) : pushdown_pre(other, NULL));
        for (uint32_t key = 0; key < key_count(&sample, ASKED); key++) {
            uint32_t symbols[MOST_HEIGHT];

            if (!stack_of(&sample, key, &stack))
                continue;
            struct pushdown_configuration asked = configuration_of(&stack, symbols);
            assert_int_equal(pushdown_value(ordered, &asked).bits,
                             pushdown_value(other, &asked).bits);
        }
        pushdown_automaton_destroy(ordered);
        pushdown_automaton_destroy(other);
        pushdown_destroy(system);
        pushdown_destroy(other_system);
    }
}

// ---- Systems that are made by hand

static void rule(struct pushdown *system, uint32_t symbol, uint32_t top, uint32_t below)
{
    pushdown_add_rule(
        system, &(struct pushdown_rule){
                    .symbol = symbol, .top = top, .below = below, .weight = {1}, .tag = symbol});
}

// Function i calls the next one twice: symbols 4i entry, behind the first call, behind the second.
static void test_long_paths(void **state)
{
    enum { FUNCTIONS = 50, END = 4 * FUNCTIONS };
    struct pushdown *system = pushdown_create(&semiring_length, 1, END + 1);
    struct pushdown_witnesses witnesses;
    uint32_t start = 0, outer = 2, inner = END, stack[2] = {END, 2};

    (void)state;
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        rule(system, 4 * f, 4 * f + 4, 4 * f + 1);
        rule(system, 4 * f + 1, 4 * f + 4, 4 * f + 2);
        rule(system, 4 * f + 2, NONE, NONE);
    }
    rule(system, END, NONE, NONE);
    struct pushdown_automaton *automaton = pushdown_automaton_create(system);
    pushdown_automaton_add_configuration(automaton, &(struct pushdown_configuration){0, &start, 1});
    assert_true(pushdown_post(automaton, NULL));
    // A call of function f takes l(f) = 2 l(f + 1) + 3 rules: 2^(50 - f + 2) - 3.
    struct pushdown_configuration behind = {0, &outer, 1}, in_last = {0, stack, 2};
    assert_int_equal(pushdown_value(automaton, &behind).bits, (UINT64_C(1) << 52) - 3 - 1);
    assert_false(pushdown_witnesses(automaton, &behind, 100000, &witnesses));
    struct pushdown_configuration alone = {0, &inner, 1};
    assert_int_equal(pushdown_value(automaton, &alone).bits, UINT64_MAX);
    assert_true(pushdown_witnesses(automaton, &alone, 10, &witnesses));
    assert_int_equal(witnesses.count, 0);
    pushdown_witnesses_deinit(&witnesses);
    assert_int_equal(pushdown_value(automaton, &in_last).bits, UINT64_MAX);
    pushdown_automaton_destroy(automaton);
    pushdown_destroy(system);
}

// Steps 0 .. count, each of which may call a function that returns at once. Deep stacks: one that
// calls itself.
static void test_large(void **state)
{
    enum { STEPS = 100000, CALLEE = STEPS + 1, AGAIN, SYMBOLS };
    struct pushdown *system = pushdown_create(&semiring_length, 1, SYMBOLS);
    struct pushdown_witnesses witnesses;
    uint32_t start = 0, last = STEPS;

    (void)state;
    for (uint32_t i = 0; i < STEPS; i++)
        rule(system, i, CALLEE, i + 1);
    rule(system, CALLEE, NONE, NONE);
    rule(system, CALLEE, CALLEE, AGAIN);
    rule(system, AGAIN, NONE, NONE);
    struct pushdown_automaton *automaton = pushdown_automaton_create(system);
    pushdown_automaton_add_configuration(automaton, &(struct pushdown_configuration){0, &start, 1});
    assert_true(pushdown_post(automaton, NULL));
    struct pushdown_configuration end = {0, &last, 1};
    assert_int_equal(pushdown_value(automaton, &end).bits, 2 * STEPS);
    assert_true(pushdown_witnesses(automaton, &end, UINT64_MAX, &witnesses));
    assert_int_equal(witnesses.count, 1);
    assert_int_equal(witnesses.paths[0].rule_count, 2 * STEPS);
    pushdown_witnesses_deinit(&witnesses);

    // 0 calls; then it calls itself STEPS - 1 times.
    _cleanup_free_ uint32_t *deep = calloc(STEPS + 1, sizeof(*deep));
    deep[0] = CALLEE;
    for (uint32_t i = 1; i < STEPS; i++)
        deep[i] = AGAIN;
    deep[STEPS] = 1;
    struct pushdown_configuration stack = {0, deep, STEPS + 1};
    assert_int_equal(pushdown_value(automaton, &stack).bits, STEPS);
    deep[STEPS] = 0;
    assert_int_equal(pushdown_value(automaton, &stack).bits, UINT64_MAX);
    pushdown_automaton_destroy(automaton);

    // The same backwards, with the stack as what is to be reached.
    deep[STEPS] = 1;
    automaton = pushdown_automaton_create(system);
    pushdown_automaton_add_configuration(automaton, &stack);
    assert_true(pushdown_pre(automaton, NULL));
    struct pushdown_configuration begin = {0, &start, 1};
    assert_int_equal(pushdown_value(automaton, &begin).bits, STEPS);
    assert_true(pushdown_witnesses(automaton, &begin, UINT64_MAX, &witnesses));
    assert_int_equal(witnesses.paths[0].rule_count, STEPS);
    assert_true(same_configuration(&witnesses.paths[0].to, &stack));
    pushdown_witnesses_deinit(&witnesses);
    pushdown_automaton_destroy(automaton);
    pushdown_destroy(system);
}

static void test_budget(void **state)
{
    enum { STEPS = 20000 };
    struct pushdown *system = pushdown_create(&semiring_length, 1, STEPS + 1);
    uint32_t start = 0, near = 10, far = STEPS;
    struct pushdown_configuration begin = {0, &start, 1}, first = {0, &near, 1},
                                  last = {0, &far, 1};
    struct budget budget;

    (void)state;
    for (uint32_t i = 0; i < STEPS; i++)
        rule(system, i, i + 1, NONE);
    budget_init(&budget, 1e-9, 0);
    struct pushdown_automaton *automaton = pushdown_automaton_create(system);
    pushdown_automaton_add_configuration(automaton, &begin);
    assert_false(pushdown_post(automaton, &budget));
    assert_false(pushdown_is_complete(automaton));
    assert_int_equal(pushdown_value(automaton, &first).bits, 10);
    assert_int_equal(pushdown_value(automaton, &last).bits, UINT64_MAX);
    pushdown_automaton_destroy(automaton);

    budget_init(&budget, 1e-9, 0);
    automaton = pushdown_automaton_create(system);
    pushdown_automaton_add_configuration(automaton, &last);
    assert_false(pushdown_pre(automaton, &budget));
    near = STEPS - 10;
    assert_int_equal(pushdown_value(automaton, &first).bits, 10);
    assert_int_equal(pushdown_value(automaton, &begin).bits, UINT64_MAX);
    pushdown_automaton_destroy(automaton);
    pushdown_destroy(system);
}

// ---- Text

static void test_text(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 60; i++) {
        struct strbuf text = STRBUF_INIT, again = STRBUF_INIT;
        struct pushdown_automaton *read_automaton;
        struct pushdown *read_system;
        struct sample sample;

        make_sample(&sample, i % DOMAINS, i + 3000000);
        struct pushdown *system = build(&sample);
        struct pushdown_automaton *automaton = build_given(&sample, system);
        if (i % 5 == 0) {
            uint32_t more = pushdown_automaton_add_state(automaton);
            pushdown_automaton_add_transition(automaton, 0, PUSHDOWN_ANY, more,
                                              sample.semiring->one);
        }
        pushdown_print(system, i % 3 ? automaton : NULL, &text);
        assert_null(
            pushdown_parse(text.data, "test", sample.semiring, &read_system, &read_automaton));
        assert_int_equal(read_automaton != NULL, i % 3 != 0);
        pushdown_print(read_system, read_automaton, &again);
        assert_string_equal(text.data, again.data);
        pushdown_automaton_destroy(read_automaton);
        pushdown_destroy(read_system);
        pushdown_automaton_destroy(automaton);
        pushdown_destroy(system);
        strbuf_deinit(&text);
        strbuf_deinit(&again);
    }
}

static void test_text_by_hand(void **state)
{
    static const char text[] = "inquest-pushdown 1\nstates 1\nsymbols 3\n"
                               "rule 0 0 -> 0 1 2 tag 7 weight 1\n"
                               "rule 0 1 -> 0 tag 8 weight 2\n"
                               "automaton 2\nfinal 1\ntransition 0 0 1 weight 0\n";
    struct strbuf out = STRBUF_INIT;
    struct pushdown_automaton *automaton;
    struct pushdown *system;

    (void)state;
    assert_null(pushdown_parse(text, "test", &semiring_length, &system, &automaton));
    pushdown_print(system, automaton, &out);
    assert_string_equal(out.data, text);
    strbuf_clear(&out);
    assert_true(pushdown_post(automaton, NULL));
    pushdown_print(system, automaton, &out);
    assert_string_equal(out.data + (strstr(text, "automaton") - text),
                        "automaton 3\nfinal 1\ntransition 0 0 1 weight 0\n"
                        "transition 0 1 2 weight 0\ntransition 2 2 1 weight 1\n"
                        "transition 0 - 2 weight 2\ntransition 0 2 1 weight 3\n");
    strbuf_deinit(&out);
    pushdown_automaton_destroy(automaton);
    pushdown_destroy(system);
}

static void test_bad_text(void **state)
{
#define START "inquest-pushdown 1\nstates 2\nsymbols 3\n"
    static const struct {
        const char *text;
        uint64_t line;
    } cases[] = {
        {"", 1},
        {"inquest-pushdown 2\nstates 1\nsymbols 1\n", 1},
        {"inquest-pushdown 1\nstates 99999999999\nsymbols 1\n", 2},
        {"inquest-pushdown 1\nstates 1\nsymbols -1\n", 3},
        {START "rule 2 0 -> 0 tag 1 weight 1\n", 4},
        {START "rule 0 0 -> 0 3 tag 1 weight 1\n", 4},
        {START "rule 0 0 -> 0 1 1 1 tag 1 weight 1\n", 4},
        {START "rule 0 0 -> 0 tag 1 weight x\n", 4},
        {START "rule 0 0 -> 0 tag 1 weight\n", 4},
        {START "rule 0 0 -> 0 tag 1", 4},
        {START "final 0\n", 4},
        {START "automaton 1\n", 4},
        {START "automaton 3\nautomaton 3\n", 5},
        {START "automaton 3\nrule 0 0 -> 0 tag 1 weight 1\n", 5},
        {START "automaton 3\nfinal 3\n", 5},
        {START "automaton 3\ntransition 0 0 1 weight 0\n", 5},
        {START "automaton 3\ntransition 0 - 2 weight 0\n", 5},
        {START "automaton 3 3\n", 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pushdown_automaton *automaton;
        struct pushdown *system;
        struct error *err =
            pushdown_parse(cases[i].text, "test", &semiring_length, &system, &automaton);

        assert_non_null(err);
        assert_int_equal(err->code, ERROR_FORMAT);
        assert_int_equal(err->place, cases[i].line);
        error_destroy(err);
    }
#undef START
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration), cmocka_unit_test(test_post_and_pre),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_large),       cmocka_unit_test(test_budget),
        cmocka_unit_test(test_text),        cmocka_unit_test(test_text_by_hand),
        cmocka_unit_test(test_bad_text),
    };

    systems = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : systems;
    first_system = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    init_domains();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
