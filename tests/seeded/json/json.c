// SPDX-License-Identifier: Apache-2.0
/*
 * Reads JSON documents, one a line, and does with each what the arguments say.
 *
 *     json [-p] [-s] [-k] [-g PATH]...
 *
 * -p: print indented; -s: statistics; -k: all keys, sorted; -g: the value at a path such as a.b.2
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 32
#define KEY_SHORT  16

enum kind { KIND_NULL, KIND_FALSE, KIND_TRUE, KIND_NUMBER, KIND_STRING, KIND_ARRAY, KIND_OBJECT };

struct member;

struct value {
    enum kind kind;
    double number;
    char *string;
    struct member *first, **end; // of arrays and objects
    int count;
};

// Most keys are short and are kept in the member itself.
struct member {
    char *long_key; // NULL: it is short
    char key[KEY_SHORT];
    struct value *value;
    struct member *next;
};

struct parser {
    const char *start, *at;
    const char *error;
    int depth;
};

struct statistics {
    int kinds[KIND_OBJECT + 1];
    int depth, members;
    double sum;
};

static struct value *parse_value(struct parser *parser);

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

static const char *member_key(const struct member *member)
{
    return member->long_key != NULL ? member->long_key : member->key;
}

static void value_free(struct value *value)
{
    if (value == NULL)
        return;
    for (struct member *member = value->first; member != NULL;) {
        struct member *next = member->next;
        value_free(member->value);
        free(member->long_key);
        free(member);
        member = next;
    }
    free(value->string);
    free(value);
}

// ---- Parsing

static void skip(struct parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static bool fail(struct parser *parser, const char *message)
{
    if (parser->error == NULL)
        parser->error = message;
    return false;
}

static bool accept(struct parser *parser, char wanted)
{
    skip(parser);
    if (*parser->at != wanted)
        return false;
    parser->at++;
    return true;
}

static struct value *value_new(enum kind kind)
{
    struct value *value = must(calloc(1, sizeof *value));
    value->kind = kind;
    value->end = &value->first;
    return value;
}

static struct member *member_add(struct value *value)
{
    struct member *member = must(calloc(1, sizeof *member));
    *value->end = member;
    value->end = &member->next;
    value->count++;
    return member;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static int put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

// After the backslash. Returns the number of bytes put, 0 on an error.
static int parse_escape(struct parser *parser, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = *parser->at++;
    if (c == 'u') {
        unsigned code = 0;
        for (int i = 0; i < 4; i++) {
            int digit = hex_digit(*parser->at);
            if (digit < 0)
                return 0;
            code = code * 16 + (unsigned)digit;
            parser->at++;
        }
        return code == 0 ? 0 : put_utf8(out, code);
    }
    const char *found = c != '\0' ? strchr(from, c) : NULL;
    if (found == NULL) {
        parser->at--;
        return 0;
    }
    *out = to[found - from];
    return 1;
}

// The text after the opening quote, in new memory; NULL on an error.
static char *parse_string(struct parser *parser, size_t *length)
{
    char *text = must(malloc(strlen(parser->at) + 1));
    size_t used = 0;
    while (*parser->at != '"') {
        if (*parser->at == '\0') {
            free(text);
            fail(parser, "string without end");
            return NULL;
        }
        if (*parser->at != '\\') {
            text[used++] = *parser->at++;
            continue;
        }
        parser->at++;
        int put = parse_escape(parser, text + used);
        if (put == 0) {
            free(text);
            fail(parser, "bad escape");
            return NULL;
        }
        used += (size_t)put;
    }
    parser->at++;
    text[used] = '\0';
    *length = used;
    return text;
}

static bool parse_key(struct parser *parser, struct member *member)
{
    size_t length;
    if (!accept(parser, '"'))
        return fail(parser, "key expected");
    char *text = parse_string(parser, &length);
    if (text == NULL)
        return false;
    if (length <= sizeof member->key) {
        memcpy(member->key, text, length);
        free(text);
    } else {
        member->long_key = text;
    }
    return true;
}

static void parse_members(struct parser *parser, struct value *value)
{
    char close = value->kind == KIND_OBJECT ? '}' : ']';
    if (accept(parser, close))
        return;
    do {
        struct member *member = member_add(value);
        if (value->kind == KIND_OBJECT) {
            if (!parse_key(parser, member))
                return;
            if (!accept(parser, ':')) {
                fail(parser, "':' expected");
                return;
            }
        } else {
            snprintf(member->key, sizeof member->key, "%d", value->count - 1);
        }
        member->value = parse_value(parser);
        if (parser->error != NULL)
            return;
    } while (accept(parser, ','));
    if (!accept(parser, close))
        fail(parser, "',' or end expected");
}

static struct value *parse_number(struct parser *parser)
{
    struct value *value = value_new(KIND_NUMBER);
    char *end;
    value->number = strtod(parser->at, &end);
    if (end == parser->at)
        fail(parser, "value expected");
    parser->at = end;
    return value;
}

static struct value *parse_word(struct parser *parser)
{
    static const char *const words[] = {"null", "false", "true"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(parser->at, words[i], length) == 0) {
            parser->at += length;
            return value_new((enum kind)i);
        }
    }
    fail(parser, "unknown word");
    return value_new(KIND_NULL);
}

static struct value *parse_value(struct parser *parser)
{
    struct value *value;
    if (accept(parser, '"')) {
        size_t length;
        value = value_new(KIND_STRING);
        value->string = parse_string(parser, &length);
    } else if (*parser->at == '{' || *parser->at == '[') {
        value = value_new(*parser->at++ == '{' ? KIND_OBJECT : KIND_ARRAY);
        if (++parser->depth > DEPTH_MOST)
            fail(parser, "too deep");
        else
            parse_members(parser, value);
        parser->depth--;
    } else if (islower((unsigned char)*parser->at)) {
        value = parse_word(parser);
    } else {
        value = parse_number(parser);
    }
    return value;
}

// ---- What is done with documents

static void print_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            printf("\\u%04x", *text);
        else
            putchar(*text);
    }
    putchar('"');
}

static void print_value(const struct value *value, int indent)
{
    static const char *const words[] = {"null", "false", "true"};
    switch (value->kind) {
    case KIND_NUMBER:
        printf("%.10g", value->number);
        return;
    case KIND_STRING:
        print_string(value->string);
        return;
    case KIND_ARRAY:
    case KIND_OBJECT:
        break;
    default:
        printf("%s", words[value->kind]);
        return;
    }
    putchar(value->kind == KIND_OBJECT ? '{' : '[');
    for (const struct member *member = value->first; member != NULL; member = member->next) {
        printf("\n%*s", indent + 2, "");
        if (value->kind == KIND_OBJECT) {
            print_string(member_key(member));
            printf(": ");
        }
        print_value(member->value, indent + 2);
        if (member->next != NULL)
            putchar(',');
    }
    if (value->first != NULL)
        printf("\n%*s", indent, "");
    putchar(value->kind == KIND_OBJECT ? '}' : ']');
}

static void count_value(const struct value *value, int depth, struct statistics *statistics)
{
    statistics->kinds[value->kind]++;
    if (depth > statistics->depth)
        statistics->depth = depth;
    if (value->kind == KIND_NUMBER)
        statistics->sum += value->number;
    for (const struct member *member = value->first; member != NULL; member = member->next) {
        statistics->members++;
        count_value(member->value, depth + 1, statistics);
    }
}

static void print_statistics(const struct value *value)
{
    struct statistics s = {0};
    count_value(value, 0, &s);
    printf("depth %d, members %d, sum %.10g, kinds", s.depth, s.members, s.sum);
    for (int i = 0; i <= KIND_OBJECT; i++)
        printf(" %d", s.kinds[i]);
    putchar('\n');
}

static const struct value *value_at(const struct value *value, const char *path)
{
    while (*path != '\0') {
        size_t length = strcspn(path, ".");
        const struct member *member = value->first;
        while (member != NULL && (strncmp(member_key(member), path, length) != 0 ||
                                  member_key(member)[length] != '\0'))
            member = member->next;
        if (member == NULL)
            return NULL;
        value = member->value;
        path += length + (path[length] == '.');
    }
    return value;
}

static void print_at(const struct value *value, const char *path)
{
    const struct value *found = value_at(value, path);
    printf("%s: ", path);
    if (found == NULL)
        printf("nothing");
    else
        print_value(found, 0);
    putchar('\n');
}

static void collect_keys(const struct value *value, const char **keys, int *count)
{
    for (const struct member *member = value->first; member != NULL; member = member->next) {
        if (value->kind == KIND_OBJECT)
            keys[(*count)++] = member_key(member);
        collect_keys(member->value, keys, count);
    }
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void print_keys(const struct value *value)
{
    struct statistics s = {0};
    int count = 0;
    count_value(value, 0, &s);
    const char **keys = must(malloc(((size_t)s.members + 1) * sizeof *keys));
    collect_keys(value, keys, &count);
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    for (int i = 0; i < count; i++) {
        if (i == 0 || strcmp(keys[i], keys[i - 1]) != 0)
            printf("%s\n", keys[i]);
    }
    free(keys);
}

static void document(const char *line, int argc, char **argv)
{
    struct parser parser = {line, line, NULL, 0};
    struct value *value = parse_value(&parser);
    skip(&parser);
    if (parser.error == NULL && *parser.at != '\0')
        fail(&parser, "end expected");
    if (parser.error != NULL) {
        printf("error: column %d: %s\n", (int)(parser.at - parser.start) + 1, parser.error);
        value_free(value);
        return;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-s") == 0) {
            print_statistics(value);
        } else if (strcmp(argv[i], "-k") == 0) {
            print_keys(value);
        } else if (strcmp(argv[i], "-g") == 0 && i + 1 < argc) {
            print_at(value, argv[++i]);
        } else {
            print_value(value, 0);
            putchar('\n');
        }
    }
    value_free(value);
}

int main(int argc, char **argv)
{
    char line[8192];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        document(line, argc, argv);
    }
    return 0;
}
