/*
 * Libraries by name, and linker scripts as far as they name inputs: INPUT(FILE -lNAME
 * AS_NEEDED(FILE)), GROUP(...), STARTUP(FILE), INCLUDE FILE, SEARCH_DIR(DIRECTORY). See
 * link_walk.h.
 */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "common/arena.h"
#include "instrument/driver/link_walk.h"

/* Where GNU ld looks after all of -L; clang names the others itself. */
static const char *const builtin_directories[] = {
    "/usr/local/lib/x86_64-linux-gnu", "/usr/local/lib", "/usr/local/lib64", "/lib64", "/usr/lib64",
};
#define BUILTIN_COUNT (sizeof(builtin_directories) / sizeof(builtin_directories[0]))

const char *walk_in_sysroot(const struct walk *walk, const char *path)
{
    return path[0] == '=' ? arena_printf(walk->arena, "%s%s", walk->sysroot, path + 1) : path;
}

/* Libraries. */

static const char *find_library(const struct walk *walk, const char *directory, const char *name)
{
    struct arena *arena = walk->arena;
    if (name[0] == ':') {
        const char *path = arena_printf(arena, "%s/%s", directory, name + 1);
        return access(path, F_OK) == 0 ? path : NULL;
    }
    const char *path = arena_printf(arena, "%s/lib%s.so", directory, name);
    if (!walk->state.archives_only && access(path, F_OK) == 0)
        return path;
    path = arena_printf(arena, "%s/lib%s.a", directory, name);
    return access(path, F_OK) == 0 ? path : NULL;
}

uint32_t walk_read_library(struct walk *walk, const char *name, bool user)
{
    const char *path = NULL;
    for (size_t i = 0; !path && i < walk->directories.length; i++)
        path = find_library(walk, walk->directories.data[i], name);
    for (size_t i = 0; !path && i < BUILTIN_COUNT; i++)
        path = find_library(walk, builtin_directories[i], name);
    if (path)
        return walk_read_file(walk, path, user);
    return walk_add_missing(walk, arena_printf(walk->arena, "-l%s", name), user);
}

/* Scripts. */

static const char script_spaces[] = " \t\r\n,;";

/* The next word or parenthesis at *text, which moves behind it; NULL at the end. */
static const char *script_word(struct arena *arena, const char **text)
{
    const char *at = *text;
    for (;;) {
        at += strspn(at, script_spaces);
        if (strncmp(at, "/*", 2) != 0)
            break;
        const char *end = strstr(at + 2, "*/");
        at = end ? end + 2 : at + strlen(at);
    }
    size_t length = strcspn(at, " \t\r\n,;()\"");
    if (*at == '(' || *at == ')') {
        length = 1;
    } else if (*at == '"') {
        const char *word = at + 1;
        length = strcspn(word, "\"");
        *text = word + length + (word[length] == '"');
        return arena_strndup(arena, word, length);
    }
    *text = at + length;
    return length ? arena_strndup(arena, at, length) : NULL;
}

const char *walk_find_script(const struct walk *walk, const char *file)
{
    const char *path = walk_in_sysroot(walk, file);
    if (path[0] == '/' && *walk->sysroot) {
        const char *rooted = arena_printf(walk->arena, "%s%s", walk->sysroot, path);
        path = access(rooted, F_OK) == 0 ? rooted : path;
    }
    for (size_t i = 0; path[0] != '/' && access(path, F_OK) != 0; i++) {
        if (i == walk->directories.length)
            break;
        const char *found = arena_printf(walk->arena, "%s/%s", walk->directories.data[i], file);
        path = access(found, F_OK) == 0 ? found : path;
    }
    return path;
}

static void read_script_file(struct walk *walk, const char *file, bool user)
{
    const char *path = walk_find_script(walk, file);
    if (access(path, F_OK) == 0)
        walk_note_whole(walk, walk_read_file(walk, path, user));
    else
        walk_add_missing(walk, path, user);
}

/* What stands between the parentheses of INPUT, GROUP or STARTUP. */
static const char *read_script_inputs(struct walk *walk, const char *text, bool user)
{
    unsigned depth = 0;
    for (const char *word; (word = script_word(walk->arena, &text));) {
        if (strcmp(word, "(") == 0)
            depth++;
        else if (strcmp(word, ")") == 0 && --depth == 0)
            break;
        else if (depth == 0)
            break; /* INPUT without a parenthesis is some other word */
        else if (has_prefix(word, "-l"))
            walk_note_whole(walk, walk_read_library(walk, word + 2, user));
        else if (strcmp(word, ")") != 0 && strcmp(word, "AS_NEEDED") != 0)
            read_script_file(walk, word, user);
    }
    return text;
}

static const char *read_search_directory(struct walk *walk, const char *text)
{
    const char *rest = text;
    const char *open = script_word(walk->arena, &rest);
    const char *directory = open && strcmp(open, "(") == 0 ? script_word(walk->arena, &rest) : NULL;
    if (!directory)
        return text;
    arguments_push(&walk->directories, walk_in_sysroot(walk, directory));
    return rest;
}

/* EXTERN, ENTRY, PROVIDE and expressions name symbols: every word may be one. */
void walk_want_words(struct walk *walk, const char *word)
{
    while (*word) {
        size_t length = 0;
        while (isalnum((unsigned char)word[length]) || word[length] == '_' || word[length] == '.' ||
               word[length] == '$')
            length++;
        if (length)
            extraction_want(&walk->extraction, arena_strndup(walk->arena, word, length));
        word += length ? length : 1;
    }
}

static bool names_inputs(const char *word)
{
    return strcmp(word, "INPUT") == 0 || strcmp(word, "GROUP") == 0 || strcmp(word, "STARTUP") == 0;
}

void walk_read_script(struct walk *walk, const struct file_bytes *bytes, uint32_t input, bool user)
{
    if (walk->nesting == WALK_NESTING_MAX)
        return;
    const char *text = arena_strndup(walk->arena, (const char *)bytes->data, bytes->size);
    uint32_t outer = walk->within;
    walk->within = input;
    walk->nesting++;
    for (const char *word; (word = script_word(walk->arena, &text));) {
        if (names_inputs(word))
            text = read_script_inputs(walk, text, user);
        else if (strcmp(word, "SEARCH_DIR") == 0)
            text = read_search_directory(walk, text);
        else if (strcmp(word, "INCLUDE") == 0 && (word = script_word(walk->arena, &text)))
            read_script_file(walk, word, user);
        else if (word)
            walk_want_words(walk, word);
    }
    walk->nesting--;
    walk->within = outer;
}
