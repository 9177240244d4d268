// SPDX-License-Identifier: Apache-2.0
/*
 * What the files of the parser share: tokens, nodes, and the rules that more than one of them uses.
 * docs/queries.md has the grammar. One function a rule, one token of lookahead (two where a word
 * may be a name: `call` is a keyword, `call()` a function).
 */
#ifndef ASK_QUERY_PARSER_H
#define ASK_QUERY_PARSER_H

#include "ask/query_tree.h"

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   // a name, a file or a number; not a keyword
    TOKEN_QUOTED, // "..."
    TOKEN_KEYWORD,
    TOKEN_SIGN, // one of ( ) { } [ ] , | * + ? : # -> ...
};

struct token {
    enum token_kind kind;
    struct query_place where;
    const char *text; // without quotes
};

struct parser {
    struct query *query;
    const char *text;
    struct token token; // the next one
    uint32_t node_count, depth, inside_count;
    struct query_place *where;
};

VEC_DEFINE(query_node_vec, struct query_node *);

typedef struct error *parse_rule(struct parser *parser, struct query_node **ret);

enum { PARSER_KEYWORDS = 17 };
extern const char *const parser_keywords[PARSER_KEYWORDS];

static inline struct query_place place_spread(struct query_place first, struct query_place last)
{
    return (struct query_place){first.offset, last.offset + last.length - first.offset};
}

// ---- Tokens (query_lex.c)

struct error *parser_fail(struct parser *parser, struct query_place where, const char *format, ...)
    __attribute__((__format__(__printf__, 3, 4)));
// Reads the token behind the present one.
struct error *parser_advance(struct parser *parser);
struct error *parser_expect(struct parser *parser, const char *sign, const char *why);
bool parser_at_sign(const struct parser *parser, const char *sign);
bool parser_at_keyword(const struct parser *parser, const char *keyword);
bool parser_at_name(const struct parser *parser);
// "'x' stands here", "the query ends here".
const char *parser_token_words(const struct parser *parser);
// How many blanks there are.
size_t parser_space(const char *at);

// ---- Nodes (query_lex.c)

struct error *parser_node(struct parser *parser, enum query_kind kind, struct query_place where,
                          struct query_node **ret);
void parser_set_parts(struct parser *parser, struct query_node *node,
                      struct query_node *const *parts, size_t count);
// A node around `part`.
struct error *parser_wrap(struct parser *parser, enum query_kind kind, struct query_place where,
                          struct query_node *part, struct query_node **ret);
// Items with the same word or sign between them; one alone stays as it is.
struct error *parser_list(struct parser *parser, enum query_kind kind,
                          bool (*at)(const struct parser *, const char *), const char *word,
                          parse_rule *item, struct query_node **ret);
// One level deeper; the caller takes it back from parser->depth.
struct error *parser_enter(struct parser *parser);

// ---- Atoms (query_parse_atom.c)

// f, f(), a.c:f, a.c:f(); behind: the word before it
struct error *parser_function(struct parser *parser, const char *behind,
                              struct query_function *ret);
struct error *parser_atom(struct parser *parser, struct query_node **ret);
// inside f(), outside f(), behind `part`
struct error *parser_inside(struct parser *parser, enum query_kind kind, struct query_node *part,
                            struct query_node **ret);

// ---- Patterns (query_parse_pattern.c)

struct error *parser_pattern(struct parser *parser, struct query_node **ret);

#endif
