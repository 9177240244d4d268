// SPDX-License-Identifier: Apache-2.0
#include "tokeniser.h"

#include <string.h>

static void begin(const struct reader *reader, struct token *token)
{
    *token = (struct token){
        .text = reader->data + reader->at, .line = reader->line, .column = reader->column};
}

static void end(const struct reader *reader, struct token *token, enum token_kind kind)
{
    token->kind = kind;
    token->length = (size_t)(reader->data + reader->at - token->text);
}

static void skip_blanks(struct reader *reader)
{
    while (is_blank(reader_peek(reader)))
        reader_next(reader);
}

static bool at_comment(const struct reader *reader)
{
    int second = reader_peek_second(reader);
    return reader_peek(reader) == '/' && (second == '*' || second == '/');
}

static void skip_line(struct reader *reader)
{
    while (!reader_at_end(reader) && reader_peek(reader) != '\n')
        reader_next(reader);
}

static bool skip_to_close(struct reader *reader)
{
    while (!reader_at_end(reader)) {
        if (reader_next(reader) == '*' && reader_accept(reader, '/'))
            return true;
    }
    return false;
}

static enum token_kind lex_comment(struct reader *reader)
{
    reader_next(reader);
    if (reader_next(reader) == '*')
        return skip_to_close(reader) ? TOKEN_COMMENT : TOKEN_BAD;
    skip_line(reader);
    return TOKEN_COMMENT;
}

static void lex_word(struct reader *reader)
{
    while (is_word(reader_peek(reader)))
        reader_next(reader);
}

static void add_digit(struct token *token, int base, int c)
{
    token->value = token->value * (uint64_t)base + (uint64_t)digit_value(c);
}

static void lex_digits(struct reader *reader, struct token *token, int base, bool (*accepts)(int))
{
    while (accepts(reader_peek(reader)))
        add_digit(token, base, reader_next(reader));
}

static bool is_suffix(int c)
{
    return c == 'u' || c == 'U' || c == 'l' || c == 'L' || c == 'f' || c == 'F';
}

static void lex_suffix(struct reader *reader)
{
    while (is_suffix(reader_peek(reader)))
        reader_next(reader);
}

static bool lex_fraction(struct reader *reader, struct token *token)
{
    if (!reader_accept(reader, '.'))
        return false;
    lex_digits(reader, token, 10, is_digit);
    return true;
}

static bool lex_exponent(struct reader *reader, struct token *token)
{
    if (!reader_accept(reader, 'e') && !reader_accept(reader, 'E'))
        return false;
    if (!reader_accept(reader, '+'))
        reader_accept(reader, '-');
    lex_digits(reader, token, 10, is_digit);
    return true;
}

static enum token_kind lex_number(struct reader *reader, struct token *token)
{
    enum token_kind kind = TOKEN_INTEGER;
    if (reader_accept(reader, '0') && (reader_accept(reader, 'x') || reader_accept(reader, 'X'))) {
        lex_digits(reader, token, 16, is_hex);
    } else {
        bool octal = token->text[0] == '0' && is_octal(reader_peek(reader));
        lex_digits(reader, token, octal ? 8 : 10, octal ? is_octal : is_digit);
        if (lex_fraction(reader, token))
            kind = TOKEN_FLOAT;
        if (lex_exponent(reader, token))
            kind = TOKEN_FLOAT;
    }
    lex_suffix(reader);
    return is_word(reader_peek(reader)) ? TOKEN_BAD : kind;
}

static int lex_escape(struct reader *reader)
{
    int c = reader_next(reader), value = 0;
    if (!is_octal(c))
        return escape_value(c);
    for (int i = 0; i < 3 && is_octal(c); i++) {
        value = value * 8 + digit_value(c);
        if (!is_octal(reader_peek(reader)))
            break;
        c = reader_next(reader);
    }
    return value & 0xff;
}

static int lex_unit(struct reader *reader)
{
    int c = reader_next(reader);
    return c == '\\' ? lex_escape(reader) : c;
}

/* A string ends at the end of its line at the latest. */
static enum token_kind lex_quoted(struct reader *reader, struct token *token, enum token_kind kind)
{
    int quote = reader_next(reader);
    while (!reader_at_end(reader) && reader_peek(reader) != '\n') {
        if (reader_accept(reader, quote))
            return kind;
        token->value = token->value * 31 + (uint64_t)lex_unit(reader);
    }
    return TOKEN_BAD;
}

static bool is_doubled(int c)
{
    return c == '+' || c == '-' || c == '&' || c == '|' || c == '<' || c == '>';
}

static bool takes_assignment(int c)
{
    return c != '~' && c != '?' && c != ':' && c != ';' && c != ',' && c != '.';
}

static enum token_kind lex_operator(struct reader *reader)
{
    int c = reader_next(reader);
    if (c == '.' && reader_peek(reader) == '.' && reader_peek_second(reader) == '.') {
        reader_next(reader);
        reader_next(reader);
    } else if (c == '-' && reader_accept(reader, '>')) {
        return TOKEN_OPERATOR;
    } else {
        if (is_doubled(c))
            reader_accept(reader, c);
        if (takes_assignment(c))
            reader_accept(reader, '=');
    }
    return TOKEN_OPERATOR;
}

static enum token_kind lex_other(struct reader *reader, struct token *token, int c)
{
    if (c == '"')
        return lex_quoted(reader, token, TOKEN_STRING);
    if (c == '\'')
        return lex_quoted(reader, token, TOKEN_CHARACTER);
    if (c == '#' && token->column == 1) {
        skip_line(reader);
        return TOKEN_DIRECTIVE;
    }
    if (is_operator(c))
        return lex_operator(reader);
    reader_next(reader);
    return is_bracket(c) ? TOKEN_BRACKET : TOKEN_BAD;
}

static enum token_kind lex(struct reader *reader, struct token *token)
{
    int c = reader_peek(reader);
    if (is_letter(c)) {
        lex_word(reader);
        return TOKEN_IDENTIFIER;
    }
    if (is_digit(c) || (c == '.' && is_digit(reader_peek_second(reader))))
        return lex_number(reader, token);
    if (at_comment(reader))
        return lex_comment(reader);
    return lex_other(reader, token, c);
}

void lexer_next(struct reader *reader, struct token *token)
{
    skip_blanks(reader);
    begin(reader, token);
    enum token_kind kind = reader_at_end(reader) ? TOKEN_END : lex(reader, token);
    end(reader, token, kind);
    if (kind == TOKEN_IDENTIFIER && is_keyword(token->text, token->length))
        token->kind = TOKEN_KEYWORD;
}

const char *token_kind_name(enum token_kind kind)
{
    static const char *const names[TOKEN_KINDS] = {
        "end",       "identifier", "keyword", "integer",   "float",   "string",
        "character", "operator",   "bracket", "directive", "comment", "bad",
    };
    return names[kind];
}
