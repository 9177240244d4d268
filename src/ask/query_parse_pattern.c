// SPDX-License-Identifier: Apache-2.0
// { patterns }: regular expressions over letters, and whole calls.
#include <stdlib.h>
#include <string.h>

#include "ask/query_parser.h"

static parse_rule parse_either;

// An atom, where an event alone can stand: inside and outside may follow it.
static struct error *parse_pattern_event(struct parser *parser, struct query_node **ret)
{
    struct error *err = parser_atom(parser, ret);

    while (!err && (parser_at_keyword(parser, "inside") || parser_at_keyword(parser, "outside")))
        err = parser_inside(
            parser, parser_at_keyword(parser, "inside") ? QUERY_INSIDE : QUERY_OUTSIDE, *ret, ret);
    return err;
}

// [A, B]
static struct error *parse_bracket(struct parser *parser, enum query_kind kind,
                                   struct query_node **ret)
{
    struct query_node *inner = NULL;
    struct query_place first = parser->token.where;
    struct error *err = parser_advance(parser);

    if (!err)
        err = parser_list(parser, kind, parser_at_sign, ",", parse_pattern_event, &inner);
    if (!err && (inner->kind != kind))
        err = parser_wrap(parser, kind, inner->where, inner, &inner);
    if (err)
        return err;
    inner->where = place_spread(first, parser->token.where);
    *ret = inner;
    return parser_expect(parser, "]", "behind the events");
}

// not A, not [A, B]
static struct error *parse_none_of(struct parser *parser, struct query_node **ret)
{
    struct query_place first = parser->token.where;
    struct query_node *inner;
    struct error *err = parser_advance(parser);

    if (err)
        return err;
    if (parser_at_sign(parser, "["))
        err = parse_bracket(parser, PATTERN_NONE_OF, ret);
    else {
        err = parse_pattern_event(parser, &inner);
        if (!err)
            err = parser_wrap(parser, PATTERN_NONE_OF, inner->where, inner, ret);
    }
    if (!err)
        (*ret)->where = place_spread(first, (*ret)->where);
    return err;
}

// { P }, of a call or alone
static struct error *parse_braces(struct parser *parser, struct query_node **ret)
{
    struct error *err = parser_enter(parser);

    if (!err)
        err = parser_expect(parser, "{", "before the pattern of the call");
    if (!err)
        err = parse_either(parser, ret);
    if (err)
        return err;
    parser->depth--;
    return parser_expect(parser, "}", "at the end of the pattern");
}

static bool brace_follows(const struct parser *parser)
{
    const char *at = parser->text + parser->token.where.offset + parser->token.where.length;

    return at[parser_space(at)] == '{';
}

// f { P }, unfinished f { P }
static struct error *parse_whole_call(struct parser *parser, enum query_kind kind,
                                      struct query_node **ret)
{
    struct query_place first = parser->token.where;
    struct query_node *inner;
    struct error *err = parser_node(parser, kind, first, ret);

    if (!err && kind == PATTERN_UNFINISHED)
        err = parser_advance(parser);
    if (!err)
        err = parser_function(parser, "unfinished", &(*ret)->function);
    if (!err)
        err = parse_braces(parser, &inner);
    if (!err) {
        parser_set_parts(parser, *ret, &inner, 1);
        (*ret)->where = place_spread(first, (*ret)->function.where);
    }
    return err;
}

static struct error *parse_single(struct parser *parser, enum query_kind kind,
                                  struct query_node **ret)
{
    struct error *err = parser_node(parser, kind, parser->token.where, ret);

    return err ? err : parser_advance(parser);
}

static struct error *parse_group(struct parser *parser, struct query_node **ret)
{
    struct error *err = parser_enter(parser);

    if (!err)
        err = parser_advance(parser);
    if (!err)
        err = parse_either(parser, ret);
    if (err)
        return err;
    parser->depth--;
    return parser_expect(parser, ")", "at the end of the group");
}

static struct error *parse_item(struct parser *parser, struct query_node **ret)
{
    struct query_node *event;
    struct error *err;

    if (parser_at_keyword(parser, "any"))
        return parse_single(parser, PATTERN_ANY, ret);
    if (parser_at_sign(parser, "..."))
        return parse_single(parser, PATTERN_ALL, ret);
    if (parser_at_keyword(parser, "balanced"))
        return parse_single(parser, PATTERN_BALANCED, ret);
    if (parser_at_keyword(parser, "unfinished"))
        return parse_whole_call(parser, PATTERN_UNFINISHED, ret);
    if (parser_at_keyword(parser, "not"))
        return parse_none_of(parser, ret);
    if (parser_at_sign(parser, "["))
        return parse_bracket(parser, PATTERN_ONE_OF, ret);
    if (parser_at_sign(parser, "("))
        return parse_group(parser, ret);
    if (parser_at_name(parser) && brace_follows(parser))
        return parse_whole_call(parser, PATTERN_CALL, ret);
    err = parse_pattern_event(parser, &event);
    return err ? err : parser_wrap(parser, PATTERN_EVENT, event->where, event, ret);
}

static struct error *parse_repeated(struct parser *parser, struct query_node **ret)
{
    struct error *err = parse_item(parser, ret);
    uint32_t count = 0;

    while (!err && (parser_at_sign(parser, "*") || parser_at_sign(parser, "+") ||
                    parser_at_sign(parser, "?"))) {
        enum query_kind kind = parser_at_sign(parser, "*")   ? PATTERN_STAR
                               : parser_at_sign(parser, "+") ? PATTERN_PLUS
                                                             : PATTERN_OPTIONAL;
        if (++count > QUERY_DEPTH_MAX)
            return parser_fail(parser, parser->token.where, "repeated too often");
        err =
            parser_wrap(parser, kind, place_spread((*ret)->where, parser->token.where), *ret, ret);
        if (!err)
            err = parser_advance(parser);
    }
    return err;
}

static bool ends_sequence(const struct parser *parser)
{
    return parser->token.kind == TOKEN_END || parser_at_sign(parser, "|") ||
           parser_at_sign(parser, ")") || parser_at_sign(parser, "}");
}

static struct error *parse_sequence(struct parser *parser, struct query_node **ret)
{
    struct query_node_vec parts = VEC_INIT;
    struct query_node *part;
    struct error *err = parser_node(parser, PATTERN_SEQUENCE, parser->token.where, ret);

    while (!err && !ends_sequence(parser)) {
        err = parse_repeated(parser, &part);
        if (!err)
            query_node_vec_push(&parts, part);
    }
    if (!err) {
        parser_set_parts(parser, *ret, parts.data, parts.length);
        if (parts.length)
            (*ret)->where = place_spread((*ret)->where, part->where);
    }
    query_node_vec_deinit(&parts);
    return err;
}

static struct error *parse_either(struct parser *parser, struct query_node **ret)
{
    return parser_list(parser, PATTERN_EITHER, parser_at_sign, "|", parse_sequence, ret);
}

struct error *parser_pattern(struct parser *parser, struct query_node **ret)
{
    struct query_place first = parser->token.where;
    struct query_node *inner;
    struct error *err = parse_braces(parser, &inner);

    return err ? err : parser_wrap(parser, QUERY_PATTERN, first, inner, ret);
}
