// SPDX-License-Identifier: Apache-2.0
/* Splits C-like text into tokens, counts them by kind and identifiers by name.
 *
 * A subject of the overhead benchmark: most of its time goes into calls of functions that do next
 * to nothing, which is where instrumentation costs most. Use:
 *
 *     tokeniser FILE...
 *
 * prints the counts, the identifiers that occur most often, and a checksum over all tokens.
 */
#ifndef TOKENISER_H
#define TOKENISER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_IDENTIFIER,
    TOKEN_KEYWORD,
    TOKEN_INTEGER,
    TOKEN_FLOAT,
    TOKEN_STRING,
    TOKEN_CHARACTER,
    TOKEN_OPERATOR,
    TOKEN_BRACKET,
    TOKEN_DIRECTIVE,
    TOKEN_COMMENT,
    TOKEN_BAD,
    TOKEN_KINDS
};

/* Text points into the reader's buffer and lives as long as that. */
struct token {
    enum token_kind kind;
    const char *text;
    size_t length;
    unsigned line;
    unsigned column;
    uint64_t value;
};

/* reader.c: characters with their position. */
struct reader {
    char *data;
    size_t size;
    size_t at;
    unsigned line;
    unsigned column;
};

bool reader_open(struct reader *reader, const char *path);
void reader_close(struct reader *reader);
bool reader_at_end(const struct reader *reader);
int reader_peek(const struct reader *reader);
int reader_peek_second(const struct reader *reader);
int reader_next(struct reader *reader);
bool reader_accept(struct reader *reader, int wanted);

/* characters.c: what a character may be part of. */
bool is_blank(int c);
bool is_digit(int c);
bool is_octal(int c);
bool is_hex(int c);
bool is_letter(int c);
bool is_word(int c);
bool is_bracket(int c);
bool is_operator(int c);
int digit_value(int c);
bool is_keyword(const char *text, size_t length);
int escape_value(int c);

/* lexer.c */
void lexer_next(struct reader *reader, struct token *token);
const char *token_kind_name(enum token_kind kind);

/* symbols.c: identifiers by name, open hashing, in an arena of its own. */
struct symbol {
    struct symbol *next;
    char *name;
    size_t length;
    uint32_t hash;
    unsigned count;
    unsigned first_line;
};

struct symbols {
    struct symbol **buckets;
    size_t bucket_count;
    size_t symbol_count;
};

void symbols_init(struct symbols *symbols);
void symbols_deinit(struct symbols *symbols);
struct symbol *symbols_add(struct symbols *symbols, const char *name, size_t length, unsigned line);
struct symbol **symbols_sorted(const struct symbols *symbols);

#endif
