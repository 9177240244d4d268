// SPDX-License-Identifier: Apache-2.0
// Text to tree: never, not, then, and, or, and what stands behind an event.
#include <string.h>

#include "ask/query_parser.h"

static parse_rule parse_query;

static struct error *parse_parentheses(struct parser *parser, struct query_node **ret)
{
    struct query_place first = parser->token.where;
    struct error *err = parser_enter(parser);

    if (!err)
        err = parser_advance(parser);
    if (!err)
        err = parse_query(parser, ret);
    if (err)
        return err;
    parser->depth--;
    (*ret)->where = place_spread(first, parser->token.where);
    return parser_expect(parser, ")", "to close the parenthesis");
}

// B before it, behind A without
static struct error *parse_without(struct parser *parser, struct query_node **node)
{
    struct query_place word = parser->token.where;
    struct query_node *parts[2] = {*node};
    struct error *err;

    if (!query_is_event(*node))
        return parser_fail(parser, word,
                           "'without ... before it' needs a single event before it, as "
                           "'a.c:42' or '(f() or g())'");
    err = parser_enter(parser);
    if (!err)
        err = parser_advance(parser);
    if (!err)
        err = parse_query(parser, &parts[1]);
    if (err)
        return err;
    parser->depth--;
    if (!parser_at_keyword(parser, "before"))
        return parser_fail(parser, parser->token.where,
                           "'without' is closed by 'before it', but %s",
                           parser_token_words(parser));
    err = parser_advance(parser);
    if (!err && !parser_at_keyword(parser, "it"))
        return parser_fail(parser, parser->token.where, "expected 'it' behind 'before', but %s",
                           parser_token_words(parser));
    if (!err)
        err = parser_node(parser, QUERY_WITHOUT, place_spread(parts[0]->where, parser->token.where),
                          node);
    if (err)
        return err;
    parser_set_parts(parser, *node, parts, 2);
    return parser_advance(parser);
}

static struct error *parse_outside(struct parser *parser, enum query_kind kind,
                                   struct query_node **node)
{
    if (!query_is_event(*node))
        return parser_fail(parser, parser->token.where,
                           "'%s' needs a single event before it, as 'a.c:42' or '(f() or g())'",
                           kind == QUERY_OUTSIDE ? "outside" : "only inside");
    return parser_inside(parser, kind, *node, node);
}

static struct error *parse_only(struct parser *parser, struct query_node **node)
{
    struct error *err = parser_advance(parser);

    if (!err && !parser_at_keyword(parser, "inside"))
        return parser_fail(parser, parser->token.where, "expected 'inside' behind 'only', but %s",
                           parser_token_words(parser));
    return err ? err : parse_outside(parser, QUERY_ONLY_INSIDE, node);
}

// Whether something followed.
static struct error *parse_suffix(struct parser *parser, struct query_node **node, bool *found)
{
    *found = true;
    if (parser_at_keyword(parser, "inside"))
        return parser_inside(parser, QUERY_INSIDE, *node, node);
    if (parser_at_keyword(parser, "outside"))
        return parse_outside(parser, QUERY_OUTSIDE, node);
    if (parser_at_keyword(parser, "only"))
        return parse_only(parser, node);
    if (parser_at_keyword(parser, "without"))
        return parse_without(parser, node);
    *found = false;
    return NULL;
}

static struct error *parse_postfix(struct parser *parser, struct query_node **ret)
{
    bool found = true;
    uint32_t count = 0;
    struct error *err = parser_at_sign(parser, "(")   ? parse_parentheses(parser, ret)
                        : parser_at_sign(parser, "{") ? parser_pattern(parser, ret)
                                                      : parser_atom(parser, ret);

    while (!err && found) {
        if (++count > QUERY_DEPTH_MAX)
            return parser_fail(parser, parser->token.where, "too many suffixes");
        err = parse_suffix(parser, ret, &found);
    }
    return err;
}

static struct error *parse_prefixed(struct parser *parser, struct query_node **ret)
{
    struct token word = parser->token;
    struct query_node *part = NULL;
    struct error *err;

    if (!parser_at_keyword(parser, "never") && !parser_at_keyword(parser, "not"))
        return parse_postfix(parser, ret);
    err = parser_enter(parser);
    if (!err)
        err = parser_advance(parser);
    if (!err)
        err = parse_prefixed(parser, &part);
    if (err)
        return err;
    assert(part);
    parser->depth--;
    if (parser_at_keyword(parser, "then"))
        return parser_fail(
            parser, parser->token.where,
            "'%s A then B' can be read in two ways: write '%s (A then B)', or 'B without "
            "A before it'",
            word.text, word.text);
    return parser_wrap(parser, word.text[2] == 'v' ? QUERY_NEVER : QUERY_NOT,
                       place_spread(word.where, part->where), part, ret);
}

static struct error *parse_then(struct parser *parser, struct query_node **ret)
{
    return parser_list(parser, QUERY_THEN, parser_at_keyword, "then", parse_prefixed, ret);
}

static struct error *parse_and(struct parser *parser, struct query_node **ret)
{
    return parser_list(parser, QUERY_AND, parser_at_keyword, "and", parse_then, ret);
}

static struct error *parse_query(struct parser *parser, struct query_node **ret)
{
    return parser_list(parser, QUERY_OR, parser_at_keyword, "or", parse_and, ret);
}

static struct error *left_over(struct parser *parser)
{
    struct near_names near = {0};

    if (parser->token.kind == TOKEN_WORD)
        for (size_t i = 0; i < PARSER_KEYWORDS; i++)
            near_names_offer(&near, parser->token.text, parser_keywords[i]);
    return parser_fail(parser, parser->token.where,
                       "expected 'then', 'and', 'or', 'inside' or 'without', but %s%s",
                       parser_token_words(parser),
                       near_names_text(&near, "", &parser->query->arena));
}

struct error *query_parse_text(struct query *query, struct query_place *where)
{
    struct parser parser = {.query = query, .text = query->text, .where = where};
    struct error *err;

    if (strlen(query->text) > QUERY_LENGTH_MAX)
        return query_error("", ERROR_FORMAT, (struct query_place){0, 1}, where,
                           "the query has more than %d bytes", (int)QUERY_LENGTH_MAX);
    err = parser_advance(&parser);
    if (!err)
        err = parse_query(&parser, &query->root);
    if (!err && parser.token.kind != TOKEN_END)
        err = left_over(&parser);
    return err;
}
