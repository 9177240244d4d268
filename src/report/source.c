// SPDX-License-Identifier: Apache-2.0
#include "report/source.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/map.h"
#include "common/strbuf.h"
#include "common/vec.h"

#define SOURCE_SIZE_MAX ((off_t)64 << 20)
#define TAB_WIDTH       4u

VEC_DEFINE(offset_vec, size_t);

struct source {
    struct file_bytes bytes;
    struct offset_vec lines; // where each begins; empty when the file was not found
    time_t changed;
};

MAP_DEFINE_STRING(source_map, struct source *);

struct sources {
    struct arena arena; // of the keys
    struct source_map map;
    const char *const *directories;
    size_t directory_count;
};

struct sources *sources_create(const char *const *directories, size_t count)
{
    struct sources *sources = xcalloc(1, sizeof(*sources));
    sources->directories = directories;
    sources->directory_count = count;
    return sources;
}

static void source_destroy(struct source *source)
{
    file_bytes_deinit(&source->bytes);
    offset_vec_deinit(&source->lines);
    free(source);
}

void sources_destroy(struct sources *sources)
{
    if (!sources)
        return;
    MAP_FOREACH (source_map, &sources->map, entry)
        source_destroy(entry->value);
    source_map_deinit(&sources->map);
    arena_deinit(&sources->arena);
    free(sources);
}

// Read, not mapped: an editor may cut the file while we look at it.
static bool source_read(struct source *source, const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > SOURCE_SIZE_MAX)
        return false;
    struct error *err = file_read(path, &source->bytes);
    if (err) {
        error_destroy(err);
        return false;
    }
    source->changed = status.st_mtime;
    const char *data = (const char *)source->bytes.data;
    for (size_t at = 0; at < source->bytes.size;) {
        offset_vec_push(&source->lines, at);
        const char *end = memchr(data + at, '\n', source->bytes.size - at);
        at = end ? (size_t)(end - data) + 1 : source->bytes.size;
    }
    return true;
}

// DIR/a/b.c, DIR/b.c: the ends of `path` under a directory, the longest first.
static bool source_read_under(struct source *source, const char *directory, const char *path)
{
    while (*path == '/')
        path++;
    for (const char *end = path; end; end = strchr(end, '/')) {
        end += *end == '/';
        _cleanup_free_ char *name = file_join(directory, end);
        if (source_read(source, name))
            return true;
    }
    return false;
}

static void source_find(const struct sources *sources, struct source *source, const char *path)
{
    for (size_t i = 0; i < sources->directory_count; i++) {
        if (source_read_under(source, sources->directories[i], path))
            return;
    }
    source_read(source, path);
}

static struct source *sources_get(struct sources *sources, const char *path)
{
    struct source **known = source_map_get(&sources->map, path);
    if (known)
        return *known;
    struct source *source = xcalloc(1, sizeof(*source));
    source_find(sources, source, path);
    *source_map_put(&sources->map, arena_strdup(&sources->arena, path)) = source;
    return source;
}

const char *sources_line(struct sources *sources, const char *path, uint32_t line, size_t *length)
{
    const struct source *source = sources_get(sources, path);
    if (line == 0 || line > source->lines.length)
        return NULL;
    size_t begin = source->lines.data[line - 1];
    size_t end = line < source->lines.length ? source->lines.data[line] : source->bytes.size;
    const char *data = (const char *)source->bytes.data;
    while (end > begin && (data[end - 1] == '\n' || data[end - 1] == '\r'))
        end--;
    *length = end - begin;
    return data + begin;
}

time_t sources_changed(struct sources *sources, const char *path)
{
    return sources_get(sources, path)->changed;
}

// Bytes of the UTF-8 character at `text`; 0 when it is not one, or a control character.
static size_t character_length(const char *text, size_t left)
{
    unsigned char first = (unsigned char)text[0];
    if (first < 0x80)
        return first >= 0x20 && first != 0x7f;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
    }
    bool is_c1_control = first == 0xc2 && (unsigned char)text[1] < 0xa0;
    return is_c1_control ? 0 : length;
}

void source_append_line(struct strbuf *text, const char *line, size_t length, uint32_t width,
                        uint32_t *column)
{
    uint32_t shown = 0, marked = 0;
    for (size_t at = 0, step; at < length; at += step) {
        if (*column && at + 1 <= *column)
            marked = shown;
        if (shown >= width) {
            strbuf_append(text, " ...");
            break;
        }
        step = character_length(line + at, length - at);
        if (line[at] == '\t') {
            uint32_t spaces = TAB_WIDTH - shown % TAB_WIDTH;
            strbuf_append_repeated(text, ' ', spaces);
            shown += spaces;
        } else {
            strbuf_append_bytes(text, step ? line + at : "?", step ? step : 1);
            shown++;
        }
        step = step ? step : 1;
    }
    *column = marked;
}
