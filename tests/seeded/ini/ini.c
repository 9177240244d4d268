// SPDX-License-Identifier: Apache-2.0
/*
 * A configuration in INI form and commands on it. The input has the configuration, a line "%%", and
 * commands: get S K, set S K V, delete S [K], copy S T, expand S K, list S, dump.
 * ${K} and ${S:K} in values are expanded by `expand`.
 *
 *     ini [-i]     -i: names without regard to case
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define EXPAND_DEPTH 8

struct key {
    char *name, *value;
    struct key *next;
};

struct section {
    char *name;
    struct key *keys;
    struct section *next;
    int count;
};

struct config {
    struct section *sections;
    bool fold;
    int lines, errors;
};

struct text {
    char *bytes;
    size_t length, capacity;
};

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

static bool same(const struct config *config, const char *a, const char *b)
{
    return (config->fold ? strcasecmp(a, b) : strcmp(a, b)) == 0;
}

// ---- A growing text

static void text_add(struct text *text, const char *bytes, size_t length)
{
    if (text->length + length + 1 > text->capacity) {
        text->capacity = (text->length + length + 1) * 2;
        text->bytes = must(realloc(text->bytes, text->capacity));
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

// ---- The configuration

static struct section *section_find(const struct config *config, const char *name)
{
    for (struct section *section = config->sections; section != NULL; section = section->next) {
        if (same(config, section->name, name))
            return section;
    }
    return NULL;
}

static struct section *section_make(struct config *config, const char *name)
{
    struct section *section = section_find(config, name);
    if (section != NULL)
        return section;
    struct section **end = &config->sections;
    while (*end != NULL)
        end = &(*end)->next;
    *end = must(calloc(1, sizeof **end));
    (*end)->name = must(strdup(name));
    return *end;
}

static struct key *key_find(const struct config *config, const struct section *section,
                            const char *name)
{
    for (struct key *key = section->keys; key != NULL; key = key->next) {
        if (same(config, key->name, name))
            return key;
    }
    return NULL;
}

static void key_set(const struct config *config, struct section *section, const char *name,
                    const char *value)
{
    struct key *key = key_find(config, section, name);
    if (key != NULL) {
        char *copy = must(strdup(value));
        free(key->value);
        key->value = copy;
        return;
    }
    struct key **end = &section->keys;
    while (*end != NULL)
        end = &(*end)->next;
    *end = must(calloc(1, sizeof **end));
    (*end)->name = must(strdup(name));
    (*end)->value = must(strdup(value));
    section->count++;
}

static void key_free(struct key *key)
{
    free(key->name);
    free(key->value);
    free(key);
}

static bool key_delete(const struct config *config, struct section *section, const char *name)
{
    for (struct key **link = &section->keys; *link != NULL; link = &(*link)->next) {
        struct key *key = *link;
        if (same(config, key->name, name)) {
            *link = key->next;
            key_free(key);
            section->count--;
            return true;
        }
    }
    return false;
}

static void section_free(struct section *section)
{
    while (section->keys != NULL) {
        struct key *next = section->keys->next;
        key_free(section->keys);
        section->keys = next;
    }
    free(section->name);
    free(section);
}

static void section_delete(struct config *config, struct section *victim)
{
    struct section **link = &config->sections;
    while (*link != victim)
        link = &(*link)->next;
    *link = victim->next;
    section_free(victim);
}

// ---- Reading

static char *trim(char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    size_t length = strlen(line);
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
    return line;
}

static void config_line(struct config *config, struct section **current, char *line)
{
    line = trim(line);
    config->lines++;
    if (*line == '\0' || *line == ';' || *line == '#')
        return;
    if (*line == '[') {
        char *close = strchr(line, ']');
        if (close == NULL) {
            config->errors++;
            return;
        }
        *close = '\0';
        *current = section_make(config, trim(line + 1));
        return;
    }
    char *equals = strchr(line, '=');
    if (equals == NULL) {
        config->errors++;
        return;
    }
    *equals = '\0';
    if (*current == NULL)
        *current = section_make(config, "global");
    key_set(config, *current, trim(line), trim(equals + 1));
}

// ---- Expansion

static bool expand(const struct config *config, const struct section *section, const char *value,
                   int depth, struct text *out);

// One ${...}: `name` is what stands within.
static bool expand_reference(const struct config *config, const struct section *section, char *name,
                             int depth, struct text *out)
{
    const struct section *from = section;
    char *colon = strchr(name, ':');
    if (colon != NULL) {
        *colon = '\0';
        from = section_find(config, name);
        name = colon + 1;
    }
    const struct key *key = key_find(config, from, name);
    if (key == NULL) {
        text_add(out, "?", 1);
        return true;
    }
    return expand(config, from, key->value, depth + 1, out);
}

static bool expand(const struct config *config, const struct section *section, const char *value,
                   int depth, struct text *out)
{
    if (depth > EXPAND_DEPTH)
        return false;
    while (*value != '\0') {
        const char *close = value[0] == '$' && value[1] == '{' ? strchr(value, '}') : NULL;
        if (close == NULL) {
            text_add(out, value, 1);
            value++;
            continue;
        }
        char *name = must(strndup(value + 2, (size_t)(close - value) - 2));
        bool ok = expand_reference(config, section, name, depth, out);
        free(name);
        if (!ok)
            return false;
        value = close + 1;
    }
    return true;
}

// ---- Commands

static void no_section(const char *name)
{
    printf("no section '%s'\n", name);
}

static void command_get(struct config *config, char **word)
{
    struct section *section = section_find(config, word[1]);
    if (section == NULL) {
        no_section(word[1]);
        return;
    }
    struct key *key = key_find(config, section, word[2]);
    printf("%s.%s: %s\n", word[1], word[2], key != NULL ? key->value : "(none)");
}

static void command_set(struct config *config, char **word)
{
    key_set(config, section_make(config, word[1]), word[2], word[3]);
}

static void command_delete(struct config *config, char **word, int count)
{
    struct section *section = section_find(config, word[1]);
    if (section == NULL) {
        no_section(word[1]);
        return;
    }
    if (count == 2)
        section_delete(config, section);
    else if (!key_delete(config, section, word[2]))
        printf("no key '%s'\n", word[2]);
}

static void command_copy(struct config *config, char **word)
{
    const struct section *from = section_find(config, word[1]);
    if (from == NULL) {
        no_section(word[1]);
        return;
    }
    struct section *to = section_make(config, word[2]);
    for (const struct key *key = from->keys; key != NULL; key = key->next)
        key_set(config, to, key->name, key->value);
}

static void command_expand(struct config *config, char **word)
{
    struct text text = {0};
    struct section *section = section_find(config, word[1]);
    if (section == NULL) {
        no_section(word[1]);
        return;
    }
    struct key *key = key_find(config, section, word[2]);
    if (key == NULL) {
        printf("no key '%s'\n", word[2]);
        return;
    }
    text_add(&text, "", 0);
    if (expand(config, section, key->value, 0, &text))
        printf("%s.%s = %s\n", word[1], word[2], text.bytes);
    else
        printf("%s.%s: too deep\n", word[1], word[2]);
    free(text.bytes);
}

static void list(const struct section *section)
{
    printf("[%s] %d\n", section->name, section->count);
    for (const struct key *key = section->keys; key != NULL; key = key->next)
        printf("%s = %s\n", key->name, key->value);
}

static void command_list(struct config *config, char **word)
{
    struct section *section = section_find(config, word[1]);
    if (section == NULL)
        no_section(word[1]);
    else
        list(section);
}

static void command_dump(const struct config *config)
{
    for (const struct section *section = config->sections; section != NULL; section = section->next)
        list(section);
    printf("%d lines, %d errors\n", config->lines, config->errors);
}

static void command(struct config *config, char *line)
{
    char *word[4] = {0};
    int count = 0;
    for (char *at = strtok(line, " \n"); at != NULL && count < 4; at = strtok(NULL, " \n"))
        word[count++] = at;
    if (count == 0)
        return;
    if (strcmp(word[0], "get") == 0 && count == 3)
        command_get(config, word);
    else if (strcmp(word[0], "set") == 0 && count == 4)
        command_set(config, word);
    else if (strcmp(word[0], "delete") == 0 && count >= 2)
        command_delete(config, word, count);
    else if (strcmp(word[0], "copy") == 0 && count == 3)
        command_copy(config, word);
    else if (strcmp(word[0], "expand") == 0 && count == 3)
        command_expand(config, word);
    else if (strcmp(word[0], "list") == 0 && count == 2)
        command_list(config, word);
    else if (strcmp(word[0], "dump") == 0)
        command_dump(config);
    else
        printf("bad command '%s'\n", word[0]);
}

int main(int argc, char **argv)
{
    struct config config = {0};
    struct section *current = NULL;
    bool commands = false;
    char line[512];
    config.fold = argc > 1 && strcmp(argv[1], "-i") == 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strcmp(line, "%%\n") == 0)
            commands = true;
        else if (commands)
            command(&config, line);
        else
            config_line(&config, &current, line);
    }
    while (config.sections != NULL)
        section_delete(&config, config.sections);
    return 0;
}
