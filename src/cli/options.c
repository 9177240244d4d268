// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/strbuf.h"

// --- the options that every command takes ---

struct common_targets {
    const char *time, *memory;
};

// Verbosity counts, so it is not in the table; the order is that of --help.
static void common_specs(struct options *options, struct common_targets *targets,
                         struct option_spec specs[static 7])
{
    specs[0] = (struct option_spec){
        "json", 0, NULL, "print JSON (docs/formats)", OPTION_FLAG, &options->json};
    specs[1] = (struct option_spec){
        "quiet",     'q',
        NULL,        "no progress, no warnings, no text: the exit status tells",
        OPTION_FLAG, &options->quiet};
    specs[2] = (struct option_spec){
        "time", 0, "T", "stop after T (10, 500ms, 2m), exit status 3", OPTION_TEXT, &targets->time};
    specs[3] = (struct option_spec){"memory",    0,
                                    "M",         "stop at M bytes (512M, 2G), exit status 3",
                                    OPTION_TEXT, &targets->memory};
    specs[4] = (struct option_spec){
        "verbose", 'v', NULL, "say all there is to say", OPTION_FLAG, &options->verbose};
    specs[5] = (struct option_spec){"help", 'h', NULL, "this text", OPTION_FLAG, &options->help};
    specs[6] = (struct option_spec){0};
}

#define COMMON_SPECS 7

// --- suggestions ---

// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other.
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][33];
    size_t a_length = strnlen(a, 32), b_length = strnlen(b, 32);
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        size_t *freed = before;
        before = last;
        last = now;
        now = freed;
    }
    return last[b_length];
}

// How far a word may be from what was typed: a third of it, and a beginning of two letters or more
// is near.
static size_t nearness(const char *text, const char *name)
{
    size_t length = strlen(text);
    if (length >= 2 && strncmp(text, name, length) == 0)
        return 1;
    size_t distance = edit_distance(text, name);
    return distance <= 1 + length / 3 && distance < length ? distance + 1 : SIZE_MAX;
}

const char *options_nearest(const char *text, const char *const *names)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (; *names; names++) {
        size_t distance = nearness(text, *names);
        if (distance < least) {
            least = distance;
            nearest = *names;
        }
    }
    return nearest;
}

// --- help ---

static void print_specs(const struct option_spec *specs)
{
    for (; specs->name; specs++) {
        _cleanup_strbuf_ struct strbuf left = STRBUF_INIT;
        if (specs->letter)
            strbuf_printf(&left, "-%c, ", specs->letter);
        strbuf_printf(&left, "--%s", specs->name);
        if (specs->value)
            strbuf_printf(&left, " %s", specs->value);
        printf("  %-26s %s\n", left.data, specs->about);
    }
}

static void print_indented(const char *lines, const char *first, const char *other)
{
    const char *prefix = first;
    while (*lines) {
        int length = (int)strcspn(lines, "\n");
        printf("%s%.*s\n", prefix, length, lines);
        lines += length + (lines[length] == '\n');
        prefix = other;
    }
}

static void print_help(const struct command_help *help, const struct option_spec *common)
{
    _cleanup_free_ char *first = xasprintf("usage: inquest %s ", help->name);
    _cleanup_free_ char *other = xasprintf("       inquest %s ", help->name);
    print_indented(help->usage, first, other);
    printf("\n%s\n\noptions:\n", help->about);
    if (help->specs)
        print_specs(help->specs);
    print_specs(common);
    printf("\n");
    print_indented(help->example, "example: ", "         ");
}

// --- parsing ---

struct parser {
    const struct command_help *help;
    const struct option_spec *tables[2];
    unsigned *verbose;
    int argc;
    char **argv;
    int at;
};

static const struct option_spec *find_long(const struct parser *parser, const char *name,
                                           size_t length)
{
    for (int t = 0; t < 2; t++) {
        for (const struct option_spec *spec = parser->tables[t]; spec && spec->name; spec++) {
            if (strlen(spec->name) == length && strncmp(spec->name, name, length) == 0)
                return spec;
        }
    }
    return NULL;
}

static const struct option_spec *find_letter(const struct parser *parser, char letter)
{
    for (int t = 0; t < 2; t++) {
        for (const struct option_spec *spec = parser->tables[t]; spec && spec->name; spec++) {
            if (spec->letter == letter)
                return spec;
        }
    }
    return NULL;
}

static struct error *unknown_long(const struct parser *parser, const char *name, size_t length)
{
    const char *names[64];
    size_t count = 0;
    for (int t = 0; t < 2; t++) {
        for (const struct option_spec *spec = parser->tables[t]; spec && spec->name; spec++) {
            if (count + 1 < sizeof(names) / sizeof(names[0]))
                names[count++] = spec->name;
        }
    }
    names[count] = NULL;
    _cleanup_free_ char *typed = xstrndup(name, length);
    const char *nearest = options_nearest(typed, names);
    if (nearest)
        return error_create(ERROR_USAGE, "unknown option '--%s', did you mean '--%s'?", typed,
                            nearest);
    return error_create(ERROR_USAGE, "unknown option '--%s'", typed);
}

static void set_value(struct parser *parser, const struct option_spec *spec, const char *text)
{
    switch (spec->kind) {
    case OPTION_FLAG:
        if (spec->target == parser->verbose)
            ++*parser->verbose;
        else
            *(bool *)spec->target = true;
        break;
    case OPTION_TEXT:
        *(const char **)spec->target = text;
        break;
    case OPTION_MANY: {
        struct option_values *values = spec->target;
        values->data = xrealloc_array(values->data, values->count + 1, sizeof(*values->data));
        values->data[values->count++] = (struct option_value){spec->name, text};
        break;
    }
    }
}

// The value of an option: `attached` to it, or the next argument.
static struct error *take_value(struct parser *parser, const struct option_spec *spec,
                                const char *attached)
{
    if (spec->kind == OPTION_FLAG && attached)
        return error_create(ERROR_USAGE, "option '--%s' takes no value", spec->name);
    if (spec->kind != OPTION_FLAG && !attached) {
        if (parser->at + 1 >= parser->argc)
            return error_create(ERROR_USAGE, "option '--%s' needs a value (%s)", spec->name,
                                spec->value);
        attached = parser->argv[++parser->at];
    }
    set_value(parser, spec, attached);
    return NULL;
}

static struct error *parse_long(struct parser *parser, const char *name)
{
    size_t length = strcspn(name, "=");
    const struct option_spec *spec = find_long(parser, name, length);
    if (!spec)
        return unknown_long(parser, name, length);
    return take_value(parser, spec, name[length] == '=' ? name + length + 1 : NULL);
}

static struct error *parse_letters(struct parser *parser, const char *letters)
{
    for (; *letters; letters++) {
        const struct option_spec *spec = find_letter(parser, *letters);
        if (!spec)
            return error_create(ERROR_USAGE, "unknown option '-%c'", *letters);
        if (spec->kind != OPTION_FLAG)
            return take_value(parser, spec, letters[1] ? letters + 1 : NULL);
        set_value(parser, spec, NULL);
    }
    return NULL;
}

static struct error *parse_all(struct parser *parser, struct options *options)
{
    bool only_arguments = false;
    for (; parser->at < parser->argc; parser->at++) {
        const char *argument = parser->argv[parser->at];
        struct error *err = NULL;
        if (only_arguments || argument[0] != '-' || argument[1] == '\0') {
            options->arguments[options->argument_count++] = argument;
            only_arguments |= parser->help->stop_at_first;
        } else if (strcmp(argument, "--") == 0) {
            only_arguments = true;
        } else if (argument[1] == '-') {
            err = parse_long(parser, argument + 2);
        } else {
            err = parse_letters(parser, argument + 1);
        }
        if (err)
            return err;
    }
    return NULL;
}

static struct error *check_arguments(const struct options *options, const struct command_help *help)
{
    int length = (int)strcspn(help->usage, "\n");
    if (options->argument_count < help->least)
        return error_create(ERROR_USAGE, "too few arguments, usage is 'inquest %s %.*s'",
                            help->name, length, help->usage);
    if (options->argument_count > help->most)
        return error_create(ERROR_USAGE, "unexpected argument '%s'",
                            options->arguments[help->most]);
    return NULL;
}

static struct error *parse_limits(struct options *options, const struct common_targets *targets)
{
    struct error *err = NULL;
    if (targets->time)
        err = budget_parse_time(targets->time, &options->seconds);
    if (!err && targets->memory)
        err = budget_parse_memory(targets->memory, &options->bytes);
    if (err)
        err->code = ERROR_USAGE;
    return err;
}

struct error *options_parse(struct options *options, const struct command_help *help, int argc,
                            char **argv)
{
    struct common_targets targets = {NULL, NULL};
    struct option_spec common[COMMON_SPECS];
    *options = (struct options){.command = help->name};
    options->arguments = xcalloc((size_t)argc + 1, sizeof(*options->arguments));
    common_specs(options, &targets, common);
    struct parser parser = {.help = help,
                            .tables = {help->specs, common},
                            .verbose = &options->verbose,
                            .argc = argc,
                            .argv = argv,
                            .at = 1};
    struct error *err = parse_all(&parser, options);
    if (!err && options->help) {
        print_help(help, common);
        return NULL;
    }
    if (!err)
        err = parse_limits(options, &targets);
    return err ? err : check_arguments(options, help);
}

void options_deinit(struct options *options)
{
    free(options->arguments);
    *options = (struct options){0};
}

int options_fail(struct options *options, struct error *err)
{
    if (err->code == ERROR_USAGE) {
        _cleanup_free_ char *text = error_text(err);
        fprintf(stderr, "inquest: %s (see 'inquest %s --help')\n", text, options->command);
    } else {
        error_print(err);
    }
    error_destroy(err);
    options_deinit(options);
    return CLI_TROUBLE;
}

void options_budget(const struct options *options, struct budget *budget)
{
    budget_init(budget, options->seconds, options->bytes);
}
