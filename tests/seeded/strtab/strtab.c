// SPDX-License-Identifier: Apache-2.0
/*
 * A table of the symbols of a program with scopes, as a compiler keeps it. Commands: push, pop,
 * define NAME TYPE, use NAME, rename NAME NAME, prefix C, dump. At the end: how names were used.
 *
 *     strtab [-u]     -u: symbols that were never used are named when their scope ends
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS    64
#define SCOPE_MOST 16

struct string {
    struct string *next;
    int references;
    char text[];
};

struct symbol {
    struct string *name, *type;
    int uses, line;
    struct symbol *next; // in the scope
};

struct scope {
    struct symbol *symbols;
    int count;
};

struct table {
    struct string *bucket[BUCKETS]; // every string once
    int initial[128];               // symbols by the first letter of their name
    struct scope scope[SCOPE_MOST];
    int depth;
    int strings, errors, line;
    bool warn;
};

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

// ---- Strings

static unsigned hash(const char *text)
{
    unsigned value = 0;
    for (; *text != '\0'; text++)
        value = value * 131 + (unsigned char)*text;
    return value % BUCKETS;
}

static struct string *string_get(struct table *table, const char *text)
{
    unsigned bucket = hash(text);
    for (struct string *string = table->bucket[bucket]; string != NULL; string = string->next) {
        if (strcmp(string->text, text) == 0) {
            string->references++;
            return string;
        }
    }
    struct string *string = must(malloc(sizeof *string + strlen(text) + 1));
    strcpy(string->text, text);
    string->references = 1;
    string->next = table->bucket[bucket];
    table->bucket[bucket] = string;
    table->strings++;
    return string;
}

static void string_put(struct table *table, struct string *string)
{
    if (--string->references > 0)
        return;
    struct string **link = &table->bucket[hash(string->text)];
    while (*link != string)
        link = &(*link)->next;
    *link = string->next;
    free(string);
    table->strings--;
}

// ---- Symbols

static int initial_of(const char *name)
{
    char first = name[0];
    if (first == '_' && name[1] != '\0')
        first = name[1];
    return first;
}

static struct symbol *symbol_in(const struct scope *scope, const char *name)
{
    for (struct symbol *symbol = scope->symbols; symbol != NULL; symbol = symbol->next) {
        if (strcmp(symbol->name->text, name) == 0)
            return symbol;
    }
    return NULL;
}

static struct symbol *symbol_find(const struct table *table, const char *name)
{
    for (int depth = table->depth; depth >= 0; depth--) {
        struct symbol *symbol = symbol_in(&table->scope[depth], name);
        if (symbol != NULL)
            return symbol;
    }
    return NULL;
}

static void symbol_add(struct table *table, const char *name, const char *type)
{
    struct scope *scope = &table->scope[table->depth];
    struct symbol *symbol = must(calloc(1, sizeof *symbol));
    symbol->name = string_get(table, name);
    symbol->type = string_get(table, type);
    symbol->line = table->line;
    symbol->next = scope->symbols;
    scope->symbols = symbol;
    scope->count++;
    table->initial[initial_of(name)]++;
}

static void symbol_free(struct table *table, struct symbol *symbol)
{
    table->initial[initial_of(symbol->name->text)]--;
    string_put(table, symbol->name);
    string_put(table, symbol->type);
    free(symbol);
}

static void scope_end(struct table *table)
{
    struct scope *scope = &table->scope[table->depth];
    while (scope->symbols != NULL) {
        struct symbol *symbol = scope->symbols;
        scope->symbols = symbol->next;
        if (table->warn && symbol->uses == 0)
            printf("line %d: %s is not used\n", symbol->line, symbol->name->text);
        symbol_free(table, symbol);
    }
    scope->count = 0;
}

// ---- Commands

static void error(struct table *table, const char *message, const char *name)
{
    printf("line %d: %s: %s\n", table->line, name, message);
    table->errors++;
}

static void command_push(struct table *table)
{
    if (table->depth + 1 == SCOPE_MOST)
        error(table, "too many scopes", "push");
    else
        table->depth++;
}

static void command_pop(struct table *table)
{
    if (table->depth == 0) {
        error(table, "no scope", "pop");
        return;
    }
    scope_end(table);
    table->depth--;
}

static void command_define(struct table *table, const char *name, const char *type)
{
    if (symbol_in(&table->scope[table->depth], name) != NULL)
        error(table, "defined twice", name);
    else
        symbol_add(table, name, type);
}

static void command_use(struct table *table, const char *name)
{
    struct symbol *symbol = symbol_find(table, name);
    if (symbol == NULL) {
        error(table, "not defined", name);
        return;
    }
    symbol->uses++;
    printf("%s: %s of line %d\n", name, symbol->type->text, symbol->line);
}

static void command_rename(struct table *table, const char *name, const char *to)
{
    struct symbol *symbol = symbol_find(table, name);
    if (symbol == NULL) {
        error(table, "not defined", name);
        return;
    }
    if (symbol_find(table, to) != NULL) {
        error(table, "already there", to);
        return;
    }
    struct string *before = symbol->name;
    table->initial[initial_of(before->text)]--;
    symbol->name = string_get(table, to);
    table->initial[initial_of(to)]++;
    string_put(table, before);
}

static void command_prefix(const struct table *table, const char *text)
{
    int count = 0;
    size_t length = strlen(text);
    for (int depth = 0; depth <= table->depth; depth++) {
        for (const struct symbol *symbol = table->scope[depth].symbols; symbol != NULL;
             symbol = symbol->next)
            count += strncmp(symbol->name->text, text, length) == 0;
    }
    printf("%d with '%s'\n", count, text);
}

static void command_dump(const struct table *table)
{
    for (int depth = 0; depth <= table->depth; depth++) {
        const struct scope *scope = &table->scope[depth];
        printf("scope %d: %d symbols\n", depth, scope->count);
        for (const struct symbol *symbol = scope->symbols; symbol != NULL; symbol = symbol->next)
            printf("  %s %s, %d uses\n", symbol->type->text, symbol->name->text, symbol->uses);
    }
}

static void command_letters(const struct table *table)
{
    for (int i = 0; i < 128; i++) {
        if (table->initial[i] > 0)
            printf("%c%d ", i, table->initial[i]);
    }
    printf("of %d strings\n", table->strings);
}

static void command(struct table *table, char *line)
{
    char *word = strtok(line, " \n");
    char *name = strtok(NULL, " \n");
    char *other = strtok(NULL, " \n");
    table->line++;
    if (word == NULL)
        return;
    if (strcmp(word, "push") == 0)
        command_push(table);
    else if (strcmp(word, "pop") == 0)
        command_pop(table);
    else if (strcmp(word, "dump") == 0)
        command_dump(table);
    else if (strcmp(word, "letters") == 0)
        command_letters(table);
    else if (name == NULL)
        error(table, "a name is missing", word);
    else if (strcmp(word, "use") == 0)
        command_use(table, name);
    else if (strcmp(word, "prefix") == 0)
        command_prefix(table, name);
    else if (other == NULL)
        error(table, "a word is missing", word);
    else if (strcmp(word, "define") == 0)
        command_define(table, name, other);
    else if (strcmp(word, "rename") == 0)
        command_rename(table, name, other);
    else
        error(table, "what?", word);
}

int main(int argc, char **argv)
{
    static struct table table;
    char line[256];
    table.warn = argc > 1 && strcmp(argv[1], "-u") == 0;
    while (fgets(line, sizeof line, stdin) != NULL)
        command(&table, line);
    command_letters(&table);
    while (table.depth > 0)
        command_pop(&table);
    scope_end(&table);
    printf("%d strings, %d errors\n", table.strings, table.errors);
    return 0;
}
