// SPDX-License-Identifier: Apache-2.0
// Any formats (each up to a NUL, the last one empty) and any log: prefixes and writers of each line
// keep what their headers promise, and a line that a format writes as it stands has it as a writer.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "evidence/log_match.h"
#include "evidence/log_prefix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_FORMATS 16

static void check_ids(const struct log_source_ids *ids, size_t sources)
{
    for (size_t i = 0; i < ids->length; i++) {
        assert(ids->data[i] < sources);
        assert(i == 0 || ids->data[i - 1] < ids->data[i]);
    }
}

// Every entry of a line that is one format, whole: that format may have written each byte.
static void check_own(const char *const *formats, size_t count, const char *bytes, size_t length,
                      const struct log_line *line)
{
    for (size_t f = 0; f < count; f++) {
        size_t size = strlen(formats[f]);
        if (strchr(formats[f], '%') || size != length + 1 || formats[f][length] != '\n' ||
            memcmp(formats[f], bytes, length) != 0)
            continue;
        for (size_t e = 0; e < line->entries.length; e++) {
            bool is_there = false;
            for (size_t i = 0; i < line->entries.data[e].sources.length; i++)
                is_there |= line->entries.data[e].sources.data[i] == f;
            assert(is_there);
        }
    }
}

static void check_line(struct log_matcher *matcher, const struct log_catalogue *catalogue,
                       const char *bytes, size_t length, struct log_line *line)
{
    struct log_prefix prefix;
    size_t starts[LOG_PREFIX_MOST + 1] = {0};
    log_prefix_read(bytes, length, &prefix);
    assert(prefix.count <= LOG_PREFIX_MOST);
    for (unsigned i = 0; i < prefix.count; i++) {
        starts[i + 1] = prefix.ends[i];
        assert(starts[i] < starts[i + 1] && starts[i + 1] <= length);
    }
    log_match_line(matcher, bytes, length, starts, prefix.count + 1, line);
    assert((line->state == LOG_LINE_MATCHED) == (line->entries.length > 0));
    for (size_t e = 0; e < line->entries.length; e++) {
        assert(line->entries.data[e].sources.length > 0);
        check_ids(&line->entries.data[e].sources, catalogue->sources.length);
        check_ids(&line->entries.data[e].continued, catalogue->sources.length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct log_catalogue catalogue = {0};
    struct log_line line = LOG_LINE_INIT;
    const char *at = (const char *)data, *end = at + size, *formats[MOST_FORMATS];
    size_t count = 0;
    if (size < 2)
        return 0;
    struct log_match_options options = {
        .weight = data[0] & 7, .any_text = data[0] & 8, .by_literals = data[0] & 16};
    log_resolver_init(&catalogue.resolver, NULL);
    at++;
    for (const char *stop;
         count < MOST_FORMATS && (stop = memchr(at, '\0', (size_t)(end - at))) && stop > at;
         at = stop + 1) {
        struct log_patterns patterns = VEC_INIT;
        struct log_source source = {.node = {(uint32_t)count}};
        log_format_parse(&catalogue.resolver.arena, at, (size_t)(stop - at), NULL, &patterns);
        log_catalogue_add(&catalogue, source, patterns.data[0]);
        log_patterns_deinit(&patterns);
        formats[count++] = at;
    }
    struct log_matcher *matcher = log_matcher_create(&catalogue, &options);
    for (const char *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        check_line(matcher, &catalogue, at, (size_t)(stop - at), &line);
        check_own(formats, count, at, (size_t)(stop - at), &line);
    }
    log_matcher_destroy(matcher);
    log_line_deinit(&line);
    for (size_t i = 0; i < catalogue.outputs.length; i++)
        log_source_ids_deinit(&catalogue.outputs.data[i].sources);
    log_text_outputs_deinit(&catalogue.outputs);
    log_sources_deinit(&catalogue.sources);
    log_resolver_deinit(&catalogue.resolver);
    return 0;
}
