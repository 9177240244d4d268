// SPDX-License-Identifier: Apache-2.0
/*
 * json: reads JSON from standard input and prints it with sorted keys, indented.
 *
 * What goes wrong: `+` before a value merges its members into the value before it. An array's members
 * have no names, so an object that an array was merged into has members without a name, and sorting
 * compares names: `[{"b":2} + ["x"]]` follows a null pointer (inputs/json.crash).
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NOTHING, TRUE, FALSE, NUMBER, STRING, ARRAY, OBJECT };

struct value {
    enum kind kind;
    double number;
    char *string;
    struct member *members;
    size_t count;
};

struct member {
    char *name;
    struct value value;
};

struct reader {
    const char *at, *end;
    unsigned line;
};

__attribute__((noreturn, format(printf, 2, 3))) static void stop(struct reader *reader,
                                                                 const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "json: line %u: ", reader->line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static int next(struct reader *reader)
{
    while (reader->at < reader->end && isspace((unsigned char)*reader->at))
        if (*reader->at++ == '\n')
            reader->line++;
    return reader->at < reader->end ? (unsigned char)*reader->at : -1;
}

static void expect(struct reader *reader, char c)
{
    if (next(reader) != c)
        stop(reader, "expected '%c'", c);
    reader->at++;
}

static char *read_string(struct reader *reader)
{
    size_t room = 8, length = 0;
    char *text = malloc(room);

    expect(reader, '"');
    while (reader->at < reader->end && *reader->at != '"') {
        char c = *reader->at++;

        if (c == '\\') {
            c = reader->at < reader->end ? *reader->at++ : '\0';
            switch (c) {
            case 'n':
                c = '\n';
                break;
            case 't':
                c = '\t';
                break;
            case '"':
            case '\\':
            case '/':
                break;
            default:
                stop(reader, "unknown escape '\\%c'", c);
            }
        }
        if (length + 1 == room)
            text = realloc(text, room *= 2);
        text[length++] = c;
    }
    expect(reader, '"');
    text[length] = '\0';
    return text;
}

static struct value read_value(struct reader *reader);

static struct member *add_member(struct value *value)
{
    value->members = realloc(value->members, (value->count + 1) * sizeof(struct member));
    return &value->members[value->count++];
}

static void merge(struct value *into, struct value *from)
{
    for (size_t i = 0; i < from->count; i++)
        *add_member(into) = from->members[i];
}

static void read_members(struct reader *reader, struct value *value, char close)
{
    while (next(reader) != close) {
        struct member member = {0};

        if (value->kind == OBJECT) {
            member.name = read_string(reader);
            expect(reader, ':');
        }
        if (next(reader) == '+' && value->count) {
            reader->at++;
            member.value = read_value(reader);
            merge(&value->members[value->count - 1].value, &member.value);
        } else {
            member.value = read_value(reader);
            *add_member(value) = member;
        }
        if (next(reader) == ',')
            reader->at++;
    }
    reader->at++;
}

static int take_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
        return 0;
    reader->at += length;
    return 1;
}

static struct value read_value(struct reader *reader)
{
    struct value value = {.kind = NOTHING};
    int c = next(reader);

    switch (c) {
    case '{':
        value.kind = OBJECT;
        reader->at++;
        read_members(reader, &value, '}');
        break;
    case '[':
        value.kind = ARRAY;
        reader->at++;
        read_members(reader, &value, ']');
        break;
    case '"':
        value.kind = STRING;
        value.string = read_string(reader);
        break;
    default:
        if (take_word(reader, "true"))
            value.kind = TRUE;
        else if (take_word(reader, "false"))
            value.kind = FALSE;
        else if (!take_word(reader, "null")) {
            char *end;

            value.kind = NUMBER;
            value.number = strtod(reader->at, &end);
            if (end == reader->at)
                stop(reader, "not a value");
            reader->at = end;
        }
    }
    return value;
}

static int by_name(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    size_t i = 0;

    while (x->name[i] && x->name[i] == y->name[i])
        i++;
    return (unsigned char)x->name[i] - (unsigned char)y->name[i];
}

static void print_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
    putchar('"');
}

static void print_value(const struct value *value, int depth)
{
    const char *brackets = value->kind == ARRAY ? "[]" : "{}";

    switch (value->kind) {
    case NOTHING:
        fputs("null", stdout);
        return;
    case TRUE:
    case FALSE:
        fputs(value->kind == TRUE ? "true" : "false", stdout);
        return;
    case NUMBER:
        printf("%g", value->number);
        return;
    case STRING:
        print_string(value->string);
        return;
    case ARRAY:
    case OBJECT:
        break;
    }
    if (value->kind == OBJECT && value->count > 1)
        qsort(value->members, value->count, sizeof(struct member), by_name);
    putchar(brackets[0]);
    for (size_t i = 0; i < value->count; i++) {
        printf("%s%*s", i ? ",\n" : "\n", 2 * (depth + 1), "");
        if (value->members[i].name) {
            print_string(value->members[i].name);
            fputs(": ", stdout);
        }
        print_value(&value->members[i].value, depth + 1);
    }
    if (value->count)
        printf("\n%*s", 2 * depth, "");
    putchar(brackets[1]);
}

int main(void)
{
    static char text[1 << 20];
    struct reader reader = {.at = text, .line = 1};

    reader.end = text + fread(text, 1, sizeof(text), stdin);
    while (next(&reader) >= 0) {
        struct value value = read_value(&reader);

        print_value(&value, 0);
        putchar('\n');
    }
    return 0;
}
