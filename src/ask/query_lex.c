// SPDX-License-Identifier: Apache-2.0
// Tokens of a query, and the nodes that are made of them.
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ask/query_parser.h"
#include "common/alloc.h"
#include "common/cleanup.h"

const char *const parser_keywords[PARSER_KEYWORDS] = {
    "never", "not",     "then", "and",    "or",  "without",  "before",     "it",  "inside",
    "only",  "outside", "call", "return", "any", "balanced", "unfinished", "node"};

static bool is_name_start(unsigned char c)
{
    return isalpha(c) || c == '_' || c == '$' || c == '~' || c >= 0x80;
}

// How much of a word stands at `at`: 0 at its end.
static size_t word_piece(const char *at)
{
    unsigned char c = (unsigned char)at[0];

    if (strncmp(at, "...", 3) == 0)
        return 0;
    if (is_name_start(c) || isdigit(c) || (c && strchr("./@%", c)) || (c == '-' && at[1] != '>'))
        return 1;
    if (c == ':' && at[1] == ':' && is_name_start((unsigned char)at[2]))
        return 3;
    return 0;
}

size_t parser_space(const char *at)
{
    return strspn(at, " \t\r\n\f\v");
}

static bool is_keyword(const char *word, const char *behind)
{
    if (behind[0] == '(') { // `call()` and `call ( )` are a function's
        behind += 1 + parser_space(behind + 1);
        if (behind[0] == ')')
            return false;
    }
    for (size_t i = 0; i < PARSER_KEYWORDS; i++)
        if (strcmp(word, parser_keywords[i]) == 0)
            return true;
    return false;
}

static size_t sign_length(const char *at)
{
    if (strncmp(at, "...", 3) == 0)
        return 3;
    if (strncmp(at, "->", 2) == 0)
        return 2;
    return strchr("(){}[],|*+?:#", at[0]) ? 1 : 0;
}

struct error *parser_fail(struct parser *parser, struct query_place where, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    _cleanup_free_ char *message = xvasprintf(format, arguments);
    va_end(arguments);
    return query_error(parser->text, ERROR_FORMAT, where, parser->where, "%s", message);
}

static struct error *read_quoted(struct parser *parser, uint32_t start)
{
    const char *end = strchr(parser->text + start + 1, '"');

    if (!end)
        return parser_fail(parser, (struct query_place){start, 1},
                           "the name that begins here has no closing '\"'");
    uint32_t length = (uint32_t)(end + 1 - (parser->text + start));
    if (length == 2)
        return parser_fail(parser, (struct query_place){start, 2}, "an empty name");
    parser->token =
        (struct token){TOKEN_QUOTED,
                       {start, length},
                       arena_strndup(&parser->query->arena, parser->text + start + 1, length - 2)};
    return NULL;
}

static void read_word(struct parser *parser, uint32_t start)
{
    const char *at = parser->text + start;
    size_t length = 0, piece;

    while ((piece = word_piece(at + length)))
        length += piece;
    const char *word = arena_strndup(&parser->query->arena, at, length);
    const char *behind = at + length + parser_space(at + length);
    parser->token = (struct token){
        is_keyword(word, behind) ? TOKEN_KEYWORD : TOKEN_WORD, {start, (uint32_t)length}, word};
}

// Reads the token behind the present one.
struct error *parser_advance(struct parser *parser)
{
    uint32_t start = parser->token.where.offset + parser->token.where.length;

    assert(parser->token.kind != TOKEN_END || start == 0);
    start += (uint32_t)parser_space(parser->text + start);
    const char *at = parser->text + start;
    if (!at[0]) {
        parser->token = (struct token){TOKEN_END, {start, 1}, ""};
        return NULL;
    }
    if (at[0] == '"')
        return read_quoted(parser, start);
    size_t length = sign_length(at);
    if (length) {
        parser->token = (struct token){TOKEN_SIGN,
                                       {start, (uint32_t)length},
                                       arena_strndup(&parser->query->arena, at, length)};
        return NULL;
    }
    if (!word_piece(at)) {
        parser->token.where = (struct query_place){start, 1};
        return parser_fail(parser, parser->token.where, "'%.1s' means nothing in a query", at);
    }
    read_word(parser, start);
    return NULL;
}

bool parser_at_sign(const struct parser *parser, const char *sign)
{
    return parser->token.kind == TOKEN_SIGN && strcmp(parser->token.text, sign) == 0;
}

bool parser_at_keyword(const struct parser *parser, const char *keyword)
{
    return parser->token.kind == TOKEN_KEYWORD && strcmp(parser->token.text, keyword) == 0;
}

bool parser_at_name(const struct parser *parser)
{
    return parser->token.kind == TOKEN_WORD || parser->token.kind == TOKEN_QUOTED;
}

const char *parser_token_words(const struct parser *parser)
{
    if (parser->token.kind == TOKEN_END)
        return "the query ends here";
    return arena_printf(&parser->query->arena, "'%s' stands here", parser->token.text);
}

struct error *parser_expect(struct parser *parser, const char *sign, const char *why)
{
    if (!parser_at_sign(parser, sign))
        return parser_fail(parser, parser->token.where, "expected '%s' %s, but %s", sign, why,
                           parser_token_words(parser));
    return parser_advance(parser);
}

// ---- Nodes

struct error *parser_node(struct parser *parser, enum query_kind kind, struct query_place where,
                          struct query_node **ret)
{
    if (++parser->node_count > QUERY_NODES_MAX)
        return parser_fail(parser, where, "the query has more than %d parts", (int)QUERY_NODES_MAX);
    *ret = arena_alloc_one(&parser->query->arena, struct query_node);
    (*ret)->kind = kind;
    (*ret)->where = where;
    return NULL;
}

void parser_set_parts(struct parser *parser, struct query_node *node,
                      struct query_node *const *parts, size_t count)
{
    node->parts = arena_alloc_array(&parser->query->arena, count + 1, struct query_node *);
    for (size_t i = 0; i < count; i++)
        node->parts[i] = parts[i];
    node->part_count = (uint32_t)count;
}

// A node around `part`, which starts where the part does.
struct error *parser_wrap(struct parser *parser, enum query_kind kind, struct query_place where,
                          struct query_node *part, struct query_node **ret)
{
    struct error *err = parser_node(parser, kind, where, ret);

    if (!err)
        parser_set_parts(parser, *ret, &part, 1);
    return err;
}

// Items with the same word or sign between them; one alone stays as it is.
struct error *parser_list(struct parser *parser, enum query_kind kind,
                          bool (*at)(const struct parser *, const char *), const char *word,
                          parse_rule *item, struct query_node **ret)
{
    struct query_node_vec parts = VEC_INIT;
    struct error *err;

    query_node_vec_push(&parts, NULL);
    err = item(parser, query_node_vec_last(&parts));
    while (!err && at(parser, word)) {
        err = parser_advance(parser);
        query_node_vec_push(&parts, NULL);
        if (!err)
            err = item(parser, query_node_vec_last(&parts));
    }
    if (!err && parts.length == 1)
        *ret = parts.data[0];
    else if (!err) {
        struct query_place where =
            place_spread(parts.data[0]->where, (*query_node_vec_last(&parts))->where);
        err = parser_node(parser, kind, where, ret);
        if (!err)
            parser_set_parts(parser, *ret, parts.data, parts.length);
    }
    query_node_vec_deinit(&parts);
    return err;
}

struct error *parser_enter(struct parser *parser)
{
    if (++parser->depth > QUERY_DEPTH_MAX)
        return parser_fail(parser, parser->token.where, "more than %d parts inside each other",
                           (int)QUERY_DEPTH_MAX);
    return NULL;
}
