// SPDX-License-Identifier: Apache-2.0
/*
 * Matches lines with patterns: . [a-z] [^a-z] * + ? {N} {N,M} ( ) | ^ $ \c. The input has lines
 * "/PATTERN", each of which replaces the pattern, and lines of text to be matched.
 *
 *     regex [-i] [-o]     -i: without regard to case, -o: only what matches is printed
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEAT_MOST 20
#define MANY        1000

enum kind { KIND_CHAR, KIND_ANY, KIND_SET, KIND_START, KIND_END, KIND_GROUP };

struct set {
    unsigned char bits[32];
};

// An alternative is a list of nodes by `next`; a group has a list of alternatives by `other`.
struct node {
    enum kind kind;
    int least, most;
    char c;
    struct set *set;           // of KIND_SET
    struct alternative *group; // of KIND_GROUP; NULL: it is empty
    struct node *next;
};

struct alternative {
    struct node *first;
    struct alternative *other;
};

struct parser {
    const char *at;
    const char *error;
    bool fold;
    int nodes;
};

// What remains to be matched after a node: the rest of this list, then of those around it.
struct rest {
    const struct node *node;
    int count; // of its repetitions so far
    const struct rest *outer;
    const char *start; // where this repetition began
};

struct matcher {
    const char *text;
    bool fold;
    long steps;
    const char *end; // of the match
};

static struct alternative *parse_alternatives(struct parser *parser);

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

// ---- Nodes

static struct node *node_new(struct parser *parser, enum kind kind)
{
    struct node *node = must(malloc(sizeof *node));
    node->kind = kind;
    node->least = node->most = 1;
    node->c = '\0';
    node->next = NULL;
    if (kind == KIND_SET)
        node->set = must(calloc(1, sizeof *node->set));
    parser->nodes++;
    return node;
}

static void alternatives_free(struct alternative *alternative)
{
    while (alternative != NULL) {
        struct alternative *other = alternative->other;
        for (struct node *node = alternative->first; node != NULL;) {
            struct node *next = node->next;
            if (node->kind == KIND_SET)
                free(node->set);
            if (node->kind == KIND_GROUP)
                alternatives_free(node->group);
            free(node);
            node = next;
        }
        free(alternative);
        alternative = other;
    }
}

static void set_add(struct set *set, int c)
{
    set->bits[c / 8] |= (unsigned char)(1 << c % 8);
}

static bool set_has(const struct set *set, int c)
{
    return (set->bits[c / 8] >> c % 8 & 1) != 0;
}

// ---- Parsing

static void fail(struct parser *parser, const char *message)
{
    if (parser->error == NULL)
        parser->error = message;
}

// After '['.
static struct node *parse_set(struct parser *parser)
{
    struct node *node = node_new(parser, KIND_SET);
    bool negated = *parser->at == '^';
    if (negated)
        parser->at++;
    do {
        int from = (unsigned char)*parser->at, to = from;
        if (from == '\0') {
            fail(parser, "']' is missing");
            return node;
        }
        parser->at++;
        if (parser->at[0] == '-' && parser->at[1] != ']' && parser->at[1] != '\0') {
            to = (unsigned char)parser->at[1];
            parser->at += 2;
        }
        for (int c = from; c <= to; c++)
            set_add(node->set, parser->fold ? tolower(c) : c);
    } while (*parser->at != ']');
    parser->at++;
    for (int i = 0; negated && i < 32; i++)
        node->set->bits[i] ^= 0xff;
    return node;
}

static struct node *parse_group(struct parser *parser)
{
    struct node *node = node_new(parser, KIND_GROUP);
    if (*parser->at == ')') {
        parser->at++;
        return node;
    }
    node->group = parse_alternatives(parser);
    if (*parser->at == ')')
        parser->at++;
    else
        fail(parser, "')' is missing");
    return node;
}

static struct node *parse_atom(struct parser *parser)
{
    char c = *parser->at++;
    struct node *node;
    switch (c) {
    case '.':
        return node_new(parser, KIND_ANY);
    case '^':
        return node_new(parser, KIND_START);
    case '$':
        return node_new(parser, KIND_END);
    case '[':
        return parse_set(parser);
    case '(':
        return parse_group(parser);
    case '*':
    case '+':
    case '?':
    case '{':
        fail(parser, "nothing to repeat");
        break;
    case '\\':
        if (*parser->at == '\0')
            fail(parser, "'\\' at the end");
        else
            c = *parser->at++;
        break;
    default:
        break;
    }
    node = node_new(parser, KIND_CHAR);
    node->c = parser->fold ? (char)tolower((unsigned char)c) : c;
    return node;
}

static int parse_number(struct parser *parser)
{
    int number = 0;
    if (!isdigit((unsigned char)*parser->at))
        fail(parser, "number expected");
    while (isdigit((unsigned char)*parser->at) && number <= REPEAT_MOST)
        number = number * 10 + (*parser->at++ - '0');
    if (number > REPEAT_MOST)
        fail(parser, "too many repetitions");
    return number;
}

static void parse_braces(struct parser *parser, struct node *node)
{
    node->least = node->most = parse_number(parser);
    if (*parser->at == ',') {
        parser->at++;
        node->most = *parser->at == '}' ? MANY : parse_number(parser);
    }
    if (*parser->at != '}' || node->most < node->least)
        fail(parser, "bad repetition");
    else
        parser->at++;
}

static void parse_repeat(struct parser *parser, struct node *node)
{
    switch (*parser->at) {
    case '*':
        node->least = 0;
        node->most = MANY;
        break;
    case '+':
        node->most = MANY;
        break;
    case '?':
        node->least = 0;
        break;
    case '{':
        parser->at++;
        parse_braces(parser, node);
        return;
    default:
        return;
    }
    parser->at++;
}

static struct alternative *parse_alternative(struct parser *parser)
{
    struct alternative *alternative = must(calloc(1, sizeof *alternative));
    struct node **end = &alternative->first;
    while (*parser->at != '\0' && *parser->at != '|' && *parser->at != ')' &&
           parser->error == NULL) {
        struct node *node = parse_atom(parser);
        *end = node;
        end = &node->next;
        if (parser->error == NULL)
            parse_repeat(parser, node);
    }
    return alternative;
}

static struct alternative *parse_alternatives(struct parser *parser)
{
    struct alternative *first = parse_alternative(parser), *last = first;
    while (*parser->at == '|' && parser->error == NULL) {
        parser->at++;
        last->other = parse_alternative(parser);
        last = last->other;
    }
    return first;
}

// ---- Matching, by trying

static bool match(struct matcher *matcher, const struct node *node, int count, const char *at,
                  const struct rest *outer);

static bool match_group(struct matcher *matcher, const struct node *node, int count, const char *at,
                        const struct rest *outer)
{
    const struct alternative *alternative = node->group;
    struct rest rest = {node, count + 1, outer, at};
    if (alternative == NULL)
        return match(matcher, NULL, 0, at, &rest);
    while (alternative != NULL) {
        if (match(matcher, alternative->first, 0, at, &rest))
            return true;
        alternative = alternative->other;
    }
    return false;
}

// One character at most; -1: no match.
static int match_one(const struct matcher *matcher, const struct node *node, const char *at)
{
    int c = (unsigned char)*at;
    if (matcher->fold)
        c = tolower(c);
    switch (node->kind) {
    case KIND_START:
        return at == matcher->text ? 0 : -1;
    case KIND_END:
        return c == '\0' ? 0 : -1;
    case KIND_ANY:
        return c != '\0' ? 1 : -1;
    case KIND_SET:
        return c != '\0' && set_has(node->set, c) ? 1 : -1;
    default:
        return c != '\0' && (char)c == node->c ? 1 : -1;
    }
}

// The list ended: goes on with the group around it.
static bool match_outer(struct matcher *matcher, const char *at, const struct rest *outer)
{
    if (outer == NULL) {
        matcher->end = at;
        return true;
    }
    if (at == outer->start && outer->count > outer->node->least)
        return match(matcher, outer->node->next, 0, at, outer->outer);
    return match(matcher, outer->node, outer->count, at, outer->outer);
}

static bool match(struct matcher *matcher, const struct node *node, int count, const char *at,
                  const struct rest *outer)
{
    if (++matcher->steps > 20000)
        return false;
    if (node == NULL)
        return match_outer(matcher, at, outer);
    if (count < node->most) {
        if (node->kind == KIND_GROUP) {
            if (match_group(matcher, node, count, at, outer))
                return true;
        } else {
            int length = match_one(matcher, node, at);
            if (length > 0 && match(matcher, node, count + 1, at + length, outer))
                return true;
            if (length == 0)
                return match(matcher, node->next, 0, at, outer);
        }
    }
    return count >= node->least && match(matcher, node->next, 0, at, outer);
}

static bool search(const struct alternative *pattern, struct matcher *matcher, const char **start)
{
    for (const char *at = matcher->text;; at++) {
        for (const struct alternative *a = pattern; a != NULL; a = a->other) {
            if (match(matcher, a->first, 0, at, NULL)) {
                *start = at;
                return true;
            }
        }
        if (*at == '\0')
            return false;
    }
}

// ---- Lines

static struct alternative *compile(const char *text, bool fold)
{
    struct parser parser = {.at = text, .fold = fold};
    struct alternative *pattern = parse_alternatives(&parser);
    if (parser.error == NULL && *parser.at != '\0')
        fail(&parser, "')' without '('");
    if (parser.error != NULL) {
        printf("pattern: %s at %d\n", parser.error, (int)(parser.at - text));
        alternatives_free(pattern);
        return NULL;
    }
    printf("pattern of %d nodes\n", parser.nodes);
    return pattern;
}

static void match_line(const struct alternative *pattern, const char *text, bool fold, bool only)
{
    struct matcher matcher = {.text = text, .fold = fold};
    const char *start;
    if (!search(pattern, &matcher, &start)) {
        puts(matcher.steps > 20000 ? "?" : "-");
        return;
    }
    if (only)
        printf("%.*s\n", (int)(matcher.end - start), start);
    else
        printf("%d-%d %s\n", (int)(start - text), (int)(matcher.end - text), text);
}

int main(int argc, char **argv)
{
    struct alternative *pattern = NULL;
    bool fold = false, only = false;
    char line[256];
    for (int i = 1; i < argc; i++) {
        fold |= strcmp(argv[i], "-i") == 0;
        only |= strcmp(argv[i], "-o") == 0;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '/') {
            alternatives_free(pattern);
            pattern = compile(line + 1, fold);
        } else if (pattern != NULL) {
            match_line(pattern, line, fold, only);
        }
    }
    alternatives_free(pattern);
    return 0;
}
