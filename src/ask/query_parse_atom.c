// SPDX-License-Identifier: Apache-2.0
// What happens: places, functions, calls.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ask/query_parser.h"

static struct error *parse_number(struct parser *parser, const char *what, uint32_t *ret)
{
    char *end = NULL;
    const char *digits = parser->token.text;
    unsigned long value = parser->token.kind == TOKEN_WORD && isdigit((unsigned char)digits[0])
                              ? strtoul(digits, &end, 10)
                              : 0;
    if (value == 0 || value > INT32_MAX || *end)
        return parser_fail(parser, parser->token.where, "expected a %s number, but %s", what,
                           parser_token_words(parser));
    *ret = (uint32_t)value;
    return parser_advance(parser);
}

static bool looks_like_number(const struct parser *parser)
{
    return parser->token.kind == TOKEN_WORD && isdigit((unsigned char)parser->token.text[0]);
}

// Parentheses behind a function's name are optional where only a function can stand.
static struct error *skip_parentheses(struct parser *parser, struct query_place *where)
{
    struct error *err;

    if (!parser_at_sign(parser, "("))
        return NULL;
    const char *behind = parser->text + parser->token.where.offset + 1;
    if (behind[parser_space(behind)] != ')')
        return NULL;
    err = parser_advance(parser);
    if (err)
        return err;
    *where = place_spread(*where, parser->token.where);
    return parser_advance(parser);
}

// f, f(), a.c:f, a.c:f()
struct error *parser_function(struct parser *parser, const char *behind, struct query_function *ret)
{
    struct error *err;

    if (!parser_at_name(parser))
        return parser_fail(parser, parser->token.where, "expected a function behind '%s', but %s",
                           behind, parser_token_words(parser));
    *ret = (struct query_function){.name = parser->token.text, .where = parser->token.where};
    err = parser_advance(parser);
    if (!err && parser_at_sign(parser, ":")) {
        err = parser_advance(parser);
        if (!err && (!parser_at_name(parser) || looks_like_number(parser)))
            return parser_fail(parser, parser->token.where,
                               "expected a function behind '%s:', but %s", ret->name,
                               parser_token_words(parser));
        if (err)
            return err;
        ret->file = ret->name;
        ret->name = parser->token.text;
        ret->where = place_spread(ret->where, parser->token.where);
        err = parser_advance(parser);
    }
    return err ? err : skip_parentheses(parser, &ret->where);
}

// call f, return f
static struct error *parse_of_function(struct parser *parser, enum query_atom_kind kind,
                                       struct query_node **ret)
{
    struct token word = parser->token;
    struct error *err = parser_node(parser, QUERY_ATOM, word.where, ret);

    if (!err)
        err = parser_advance(parser);
    if (!err)
        err = parser_function(parser, word.text, &(*ret)->function);
    if (!err) {
        (*ret)->atom.kind = kind;
        (*ret)->where = place_spread(word.where, (*ret)->function.where);
    }
    return err;
}

// Behind `node`: f#3, n:f:3, or any of that in quotes. Taken from the text up to a space or
// bracket.
static struct error *parse_node_name(struct parser *parser, struct query_node **ret)
{
    struct token word = parser->token;
    struct error *err = parser_node(parser, QUERY_ATOM, word.where, ret);

    if (!err)
        err = parser_advance(parser);
    if (err)
        return err;
    (*ret)->atom.kind = ATOM_NODE;
    if (parser->token.kind == TOKEN_QUOTED) {
        (*ret)->atom.file = parser->token.text;
    } else {
        const char *at = parser->text + parser->token.where.offset;
        size_t length = strcspn(at, " \t\r\n\f\v(){}[],|*+?\"");
        if (!length)
            return parser_fail(parser, parser->token.where, "expected a node behind 'node', but %s",
                               parser_token_words(parser));
        (*ret)->atom.file = arena_strndup(&parser->query->arena, at, length);
        parser->token.where.length = (uint32_t)length;
    }
    (*ret)->atom.file_where = parser->token.where;
    (*ret)->where = place_spread(word.where, parser->token.where);
    return parser_advance(parser);
}

// -> f, behind a place
static struct error *parse_arrow(struct parser *parser, struct query_node *node)
{
    struct error *err = parser_advance(parser);

    if (!err)
        err = parser_function(parser, "->", &node->function);
    if (!err) {
        node->atom.kind = ATOM_SITE;
        node->where = place_spread(node->where, node->function.where);
    }
    return err;
}

// :42, :42:7, :42 -> f, behind a file
static struct error *parse_place(struct parser *parser, struct query_node *node)
{
    struct query_place last = parser->token.where;
    struct error *err;

    node->atom.kind = ATOM_PLACE;
    node->atom.line_where = last;
    err = parse_number(parser, "line", &node->atom.line);
    if (!err && parser_at_sign(parser, ":")) {
        err = parser_advance(parser);
        last = parser->token.where;
        if (!err)
            err = parse_number(parser, "column", &node->atom.column);
    }
    if (err)
        return err;
    node->where = place_spread(node->where, last);
    return parser_at_sign(parser, "->") ? parse_arrow(parser, node) : NULL;
}

static struct error *bare_name(struct parser *parser, const struct token *name)
{
    struct near_names near = {0};

    if (strpbrk(name->text, "./"))
        return parser_fail(parser, name->where, "'%s' needs a line: write '%s:LINE'", name->text,
                           name->text);
    for (size_t i = 0; i < PARSER_KEYWORDS; i++)
        if (edit_distance(name->text, parser_keywords[i], 1) == 1 && strlen(name->text) > 2)
            near_names_offer(&near, name->text, parser_keywords[i]);
    return parser_fail(
        parser, name->where,
        "'%s' alone says nothing: write '%s()' for its entry, 'call %s' or 'return %s'%s",
        name->text, name->text, name->text, name->text,
        near_names_text(&near, "", &parser->query->arena));
}

// What begins with a name: f(), a.c:f(), a.c:42...
static struct error *parse_named(struct parser *parser, struct query_node **ret)
{
    struct token name = parser->token;
    struct error *err = parser_node(parser, QUERY_ATOM, name.where, ret);

    if (!err)
        err = parser_advance(parser);
    if (err)
        return err;
    struct query_node *node = *ret;
    node->function = (struct query_function){.name = name.text, .where = name.where};
    node->atom.kind = ATOM_ENTRY;
    if (parser_at_sign(parser, ":")) {
        node->atom.file = name.text;
        node->atom.file_where = name.where;
        err = parser_advance(parser);
        if (err || looks_like_number(parser) || !parser_at_name(parser))
            return err ? err : parse_place(parser, node);
        node->function = (struct query_function){
            .file = name.text, .name = parser->token.text, .where = parser->token.where};
        name = parser->token;
        err = parser_advance(parser);
    }
    struct query_place where = node->where;
    if (!err)
        err = skip_parentheses(parser, &where);
    if (!err && where.length == node->where.length)
        err = bare_name(parser, &name);
    node->where = where;
    return err;
}

struct error *parser_atom(struct parser *parser, struct query_node **ret)
{
    if (parser_at_keyword(parser, "call"))
        return parse_of_function(parser, ATOM_CALL, ret);
    if (parser_at_keyword(parser, "return"))
        return parse_of_function(parser, ATOM_RETURN, ret);
    if (parser_at_keyword(parser, "node"))
        return parse_node_name(parser, ret);
    if (parser_at_name(parser))
        return parse_named(parser, ret);
    return parser_fail(parser, parser->token.where,
                       "expected something that happens, as 'file.c:42', 'f()' or 'call f', but %s",
                       parser_token_words(parser));
}

struct error *parser_inside(struct parser *parser, enum query_kind kind, struct query_node *part,
                            struct query_node **ret)
{
    struct error *err = parser_wrap(parser, kind, part->where, part, ret);

    if (!err && ++parser->inside_count > AUTOMATA_CONTEXTS_MAX)
        err = parser_fail(parser, parser->token.where, "more than %d times 'inside' or 'outside'",
                          AUTOMATA_CONTEXTS_MAX);
    const char *word = parser->token.text;
    if (!err)
        err = parser_advance(parser);
    if (!err)
        err = parser_function(parser, word, &(*ret)->function);
    if (!err)
        (*ret)->where = place_spread(part->where, (*ret)->function.where);
    return err;
}
