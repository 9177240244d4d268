// SPDX-License-Identifier: Apache-2.0
#include "tokeniser.h"

#include <stdio.h>
#include <stdlib.h>

struct counts {
    unsigned long by_kind[TOKEN_KINDS];
    uint64_t checksum;
    unsigned depth;
    unsigned deepest;
    unsigned long unbalanced;
};

static void add_to_checksum(struct counts *counts, uint64_t value)
{
    counts->checksum = (counts->checksum << 5 | counts->checksum >> 59) ^ value;
}

static bool opens(const struct token *token)
{
    return token->text[0] == '(' || token->text[0] == '[' || token->text[0] == '{';
}

static void count_bracket(struct counts *counts, const struct token *token)
{
    if (opens(token)) {
        counts->depth++;
        if (counts->depth > counts->deepest)
            counts->deepest = counts->depth;
    } else if (counts->depth) {
        counts->depth--;
    } else {
        counts->unbalanced++;
    }
}

static void count_token(struct counts *counts, struct symbols *symbols, const struct token *token)
{
    counts->by_kind[token->kind]++;
    add_to_checksum(counts, token->value + token->length);
    if (token->kind == TOKEN_IDENTIFIER)
        add_to_checksum(counts,
                        symbols_add(symbols, token->text, token->length, token->line)->hash);
    else if (token->kind == TOKEN_BRACKET)
        count_bracket(counts, token);
}

static void count_tokens(struct reader *reader, struct counts *counts, struct symbols *symbols)
{
    struct token token;
    do {
        lexer_next(reader, &token);
        count_token(counts, symbols, &token);
    } while (token.kind != TOKEN_END);
}

static void print_counts(const struct counts *counts)
{
    for (int kind = 0; kind < TOKEN_KINDS; kind++)
        printf("%-10s %lu\n", token_kind_name((enum token_kind)kind), counts->by_kind[kind]);
    printf("deepest %u, unbalanced %lu, checksum %016llx\n", counts->deepest, counts->unbalanced,
           (unsigned long long)counts->checksum);
}

static void print_symbols(const struct symbols *symbols, size_t most)
{
    struct symbol **sorted = symbols_sorted(symbols);
    printf("%zu identifiers\n", symbols->symbol_count);
    for (size_t i = 0; i < most && i < symbols->symbol_count; i++)
        printf("%8u %s (line %u)\n", sorted[i]->count, sorted[i]->name, sorted[i]->first_line);
    free(sorted);
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    struct symbols symbols;
    symbols_init(&symbols);
    for (int i = 1; i < argc; i++) {
        struct reader reader;
        if (!reader_open(&reader, argv[i])) {
            fprintf(stderr, "tokeniser: cannot read '%s'\n", argv[i]);
            return 1;
        }
        count_tokens(&reader, &counts, &symbols);
        reader_close(&reader);
    }
    print_counts(&counts);
    print_symbols(&symbols, 20);
    symbols_deinit(&symbols);
    return 0;
}
