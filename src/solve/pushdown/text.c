// SPDX-License-Identifier: Apache-2.0
// The text of a system and an automaton, see pushdown.h.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "solve/pushdown/pushdown_internal.h"

// ---- Out

static void print_weight(const struct semiring *semiring, struct weight weight, struct strbuf *out)
{
    strbuf_append(out, " weight ");
    if (semiring->print)
        semiring->print(semiring->context, weight, out);
    else
        strbuf_printf(out, "%llu", (unsigned long long)weight.bits);
    strbuf_append_char(out, '\n');
}

static void print_automaton(const struct pushdown_automaton *automaton, struct strbuf *out)
{
    strbuf_printf(out, "automaton %zu\n", automaton->states.length);
    for (size_t s = 0; s < automaton->states.length; s++)
        if (automaton->states.data[s].is_final)
            strbuf_printf(out, "final %zu\n", s);
    for (size_t t = 0; t < automaton->transitions.length; t++) {
        const struct transition *transition = &automaton->transitions.data[t];
        const struct head *head = &automaton->heads.data[transition->head];

        strbuf_printf(out, "transition %u ", head->state);
        if (head->symbol == PUSHDOWN_NONE || head->symbol == PUSHDOWN_ANY)
            strbuf_append_char(out, head->symbol == PUSHDOWN_ANY ? '*' : '-');
        else
            strbuf_printf(out, "%u", head->symbol);
        strbuf_printf(out, " %u", transition->to);
        print_weight(automaton->semiring, transition->tally.weight, out);
    }
}

void pushdown_print(const struct pushdown *system, const struct pushdown_automaton *automaton,
                    struct strbuf *out)
{
    strbuf_printf(out, "inquest-pushdown 1\nstates %u\nsymbols %u\n", system->state_count,
                  system->symbol_count);
    for (size_t r = 0; r < system->rules.length; r++) {
        const struct pushdown_rule *rule = &system->rules.data[r];

        strbuf_printf(out, "rule %u %u -> %u", rule->state, rule->symbol, rule->to);
        if (rule->top != PUSHDOWN_NONE)
            strbuf_printf(out, " %u", rule->top);
        if (rule->below != PUSHDOWN_NONE)
            strbuf_printf(out, " %u", rule->below);
        strbuf_printf(out, " tag %u", rule->tag);
        print_weight(system->semiring, rule->weight, out);
    }
    if (automaton)
        print_automaton(automaton, out);
}

// ---- In

// States come with memory; a text that asks for more is none of ours.
#define STATES_MOST (1u << 24)

struct parser {
    const char *at;
    const char *name;
    uint64_t line;
    const struct semiring *semiring;
    struct pushdown *system;
    struct pushdown_automaton *automaton;
};

static struct error *bad(const struct parser *parser, const char *what)
{
    return error_create_at_line(ERROR_FORMAT, parser->name, parser->line, "bad pushdown text: %s",
                                what);
}

static bool accept(struct parser *parser, const char *word)
{
    size_t length = strlen(word);

    while (*parser->at == ' ')
        parser->at++;
    if (strncmp(parser->at, word, length) != 0 || !strchr(" \n", parser->at[length]))
        return false;
    parser->at += length;
    return true;
}

// A number below the limit.
static bool accept_number(struct parser *parser, uint32_t limit, uint32_t *ret)
{
    uint64_t value = 0;
    const char *at = parser->at + strspn(parser->at, " ");
    size_t digits = strspn(at, "0123456789");

    if (digits == 0 || digits > 10 || !strchr(" \n", at[digits]))
        return false;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (uint64_t)(at[i] - '0');
    if (value >= limit)
        return false;
    *ret = (uint32_t)value;
    parser->at = at + digits;
    return true;
}

// The rest of the line.
static bool accept_weight(struct parser *parser, struct weight *ret)
{
    if (!accept(parser, "weight") || *parser->at != ' ')
        return false;
    size_t length = strcspn(parser->at + 1, "\n");
    _cleanup_free_ char *text = xstrndup(parser->at + 1, length);
    parser->at += 1 + length;
    if (parser->semiring->parse)
        return parser->semiring->parse(parser->semiring->context, text, ret);
    if (length == 0 || length > 20 || strspn(text, "0123456789") != length)
        return false;
    ret->bits = strtoull(text, NULL, 10);
    return true;
}

static struct error *parse_rule(struct parser *parser)
{
    uint32_t states = parser->system->state_count, symbols = parser->system->symbol_count;
    struct pushdown_rule rule = {.top = PUSHDOWN_NONE, .below = PUSHDOWN_NONE};

    if (parser->automaton)
        return bad(parser, "a rule behind the automaton");
    if (!accept_number(parser, states, &rule.state) ||
        !accept_number(parser, symbols, &rule.symbol) || !accept(parser, "->") ||
        !accept_number(parser, states, &rule.to))
        return bad(parser, "no such rule");
    if (accept_number(parser, symbols, &rule.top))
        accept_number(parser, symbols, &rule.below);
    if (!accept(parser, "tag") || !accept_number(parser, UINT32_MAX, &rule.tag))
        return bad(parser, "no such symbol or tag");
    if (!accept_weight(parser, &rule.weight))
        return bad(parser, "no weight");
    pushdown_add_rule(parser->system, &rule);
    return NULL;
}

static struct error *parse_automaton(struct parser *parser)
{
    uint32_t count;

    if (parser->automaton)
        return bad(parser, "a second automaton");
    if (!accept_number(parser, STATES_MOST, &count) || count < parser->system->state_count)
        return bad(parser, "no such number of states");
    parser->automaton = pushdown_automaton_create(parser->system);
    while (pushdown_automaton_state_count(parser->automaton) < count)
        pushdown_automaton_add_state(parser->automaton);
    return NULL;
}

static struct error *parse_transition(struct parser *parser)
{
    uint32_t states = pushdown_automaton_state_count(parser->automaton), from, symbol, to;
    struct weight weight;

    if (!accept_number(parser, states, &from))
        return bad(parser, "no such state");
    if (accept(parser, "-"))
        return bad(parser, "a transition without a symbol: this one has been saturated");
    if (accept(parser, "*"))
        symbol = PUSHDOWN_ANY;
    else if (!accept_number(parser, parser->system->symbol_count, &symbol))
        return bad(parser, "no such symbol");
    if (!accept_number(parser, states, &to) || to < parser->system->state_count)
        return bad(parser, "no state that a transition may lead to");
    if (!accept_weight(parser, &weight))
        return bad(parser, "no weight");
    pushdown_automaton_add_transition(parser->automaton, from, symbol, to, weight);
    return NULL;
}

static struct error *parse_final(struct parser *parser)
{
    uint32_t state;

    if (!accept_number(parser, pushdown_automaton_state_count(parser->automaton), &state))
        return bad(parser, "no such state");
    pushdown_automaton_set_final(parser->automaton, state);
    return NULL;
}

static struct error *parse_line(struct parser *parser)
{
    if (accept(parser, "rule"))
        return parse_rule(parser);
    if (accept(parser, "automaton"))
        return parse_automaton(parser);
    if (parser->automaton && accept(parser, "final"))
        return parse_final(parser);
    if (parser->automaton && accept(parser, "transition"))
        return parse_transition(parser);
    return bad(parser, "neither a rule nor part of an automaton");
}

static bool end_line(struct parser *parser)
{
    while (*parser->at == ' ')
        parser->at++;
    if (*parser->at != '\n')
        return false;
    parser->at++;
    parser->line++;
    return true;
}

static struct error *parse_start(struct parser *parser)
{
    uint32_t version, states, symbols;

    if (!accept(parser, "inquest-pushdown") || !accept_number(parser, UINT32_MAX, &version) ||
        version != 1 || !end_line(parser))
        return bad(parser, "does not begin with 'inquest-pushdown 1'");
    if (!accept(parser, "states") || !accept_number(parser, STATES_MOST, &states) ||
        !end_line(parser))
        return bad(parser, "no number of states");
    if (!accept(parser, "symbols") || !accept_number(parser, PUSHDOWN_ANY, &symbols) ||
        !end_line(parser))
        return bad(parser, "no number of symbols");
    parser->system = pushdown_create(parser->semiring, states, symbols);
    return NULL;
}

struct error *pushdown_parse(const char *text, const char *name, const struct semiring *semiring,
                             struct pushdown **system, struct pushdown_automaton **automaton)
{
    struct parser parser = {.at = text, .name = name, .line = 1, .semiring = semiring};
    struct error *err = parse_start(&parser);

    while (!err && *parser.at) {
        err = parse_line(&parser);
        if (!err && !end_line(&parser))
            err = bad(&parser, "something behind the end of a line");
    }
    if (err) {
        pushdown_automaton_destroy(parser.automaton);
        pushdown_destroy(parser.system);
        return err;
    }
    *system = parser.system;
    *automaton = parser.automaton;
    return NULL;
}
