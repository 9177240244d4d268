// SPDX-License-Identifier: Apache-2.0
#include "evidence/log.h"

#include <inttypes.h>
#include <string.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "evidence/evidence.h"
#include "evidence/log_observe.h"
#include "evidence/log_prefix.h"

struct reading {
    const struct log_options *options;
    const struct log_catalogue *catalogue;
    struct log_matcher *matcher;
    struct log_observer *observer;
    struct evidence *evidence;
    int64_t pid;    // of the first line that has one
    bool many_pids; // and others have another
    uint64_t lines, matched, ambiguous, weak, wide, foreign, others, skipped;
};

// ---- Which sources come into question

static bool may_write_here(void *context, const struct log_source *source)
{
    const struct log_options *options = context;
    enum log_stream_kind kind = source->stream.kind;
    switch (options->kind) {
    case LOG_FILE_STDOUT:
        return kind != LOG_STREAM_STDERR && kind != LOG_STREAM_SYSLOG &&
               (kind != LOG_STREAM_DESCRIPTOR || source->stream.value == 1);
    case LOG_FILE_STDERR:
        return kind != LOG_STREAM_STDOUT && kind != LOG_STREAM_SYSLOG &&
               (kind != LOG_STREAM_DESCRIPTOR || source->stream.value == 2);
    case LOG_FILE_SYSLOG:
        return kind == LOG_STREAM_SYSLOG || kind == LOG_STREAM_UNKNOWN;
    case LOG_FILE_ANY:
    case LOG_FILE_ONE:
        break;
    }
    return true;
}

// ---- Lines

// Is it of the failed process, as far as its prefix says?
static bool is_of_process(struct reading *reading, int64_t pid)
{
    int64_t wanted = reading->evidence->pid;
    if (pid && !reading->pid)
        reading->pid = pid;
    if (pid && pid != reading->pid)
        reading->many_pids = true;
    if (pid && wanted && !reading->options->one_process)
        return pid == wanted;
    return !reading->catalogue->has_forks || reading->options->one_process;
}

static void count_line(struct reading *reading, const struct log_line *line)
{
    switch (line->state) {
    case LOG_LINE_MATCHED: {
        bool is_ambiguous = false;
        for (size_t i = 0; i < line->entries.length; i++)
            is_ambiguous |= line->entries.data[i].sources.length > 1;
        reading->matched++;
        reading->ambiguous += is_ambiguous;
        break;
    }
    case LOG_LINE_WEAK:
        reading->weak++;
        break;
    case LOG_LINE_WIDE:
        reading->wide++;
        break;
    case LOG_LINE_FOREIGN:
        reading->foreign++;
        break;
    }
}

static void read_line(struct reading *reading, uint32_t number, const char *bytes, size_t length,
                      struct log_line *line)
{
    struct log_prefix prefix;
    size_t starts[LOG_PREFIX_MOST + 1] = {0};
    log_prefix_read(bytes, length, &prefix);
    memcpy(starts + 1, prefix.ends, prefix.count * sizeof(*starts));
    if (!is_of_process(reading, prefix.pid)) {
        reading->others++;
        return;
    }
    if (length >= reading->catalogue->resolver.shortest_cut || length > LOG_LONGEST_LINE) {
        reading->wide++;
        log_observer_gap(reading->observer);
        return;
    }
    log_match_line(reading->matcher, bytes, length, starts, prefix.count + 1, line);
    count_line(reading, line);
    log_observer_line(reading->observer, number, line);
}

static void read_lines(struct reading *reading, const char *text, size_t size)
{
    struct log_line line = LOG_LINE_INIT;
    const char *end = text + size;
    uint32_t number = 0;
    if (reading->options->first_line > 1)
        log_observer_cut(reading->observer);
    while (text < end && number < UINT32_MAX) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((stop ? stop : end) - text);
        reading->lines++;
        number++;
        if (!stop || number < reading->options->first_line) {
            reading->skipped++;
            log_observer_cut(reading->observer);
        } else {
            read_line(reading, number, text, length - (length && text[length - 1] == '\r'), &line);
        }
        text = stop ? stop + 1 : end;
    }
    log_line_deinit(&line);
}

// ---- What is said about it

static void warn(struct evidence *evidence, const char *text)
{
    const char **all =
        arena_alloc_array(&evidence->arena, evidence->warning_count + 1u, const char *);
    for (uint32_t i = 0; i < evidence->warning_count; i++)
        all[i] = evidence->warnings[i];
    all[evidence->warning_count++] = arena_strdup(&evidence->arena, text);
    evidence->warnings = all;
}

static void say_count(struct strbuf *text, uint64_t count, const char *what)
{
    if (count)
        strbuf_printf(text, ", %" PRIu64 " %s", count, what);
}

static void say_lines(const struct reading *reading, const char *path)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "log '%s': of %" PRIu64 " lines %" PRIu64 " were used", path,
                  reading->lines, reading->matched);
    say_count(&text, reading->ambiguous, "of them with more than one possible writer");
    say_count(&text, reading->weak, "have too little text that is known");
    say_count(&text, reading->wide, "are too long or fit too many outputs");
    say_count(&text, reading->others, "may be of other processes");
    say_count(&text, reading->skipped, "were left out at the beginning or the end");
    say_count(&text, reading->foreign, "fit no output of the program");
    warn(reading->evidence, text.data);
}

static void say_why_not(const struct reading *reading, const char *path)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    if (reading->many_pids && !reading->evidence->pid && !reading->options->one_process)
        strbuf_printf(&text,
                      "log '%s': several processes wrote it and which one failed is not known: "
                      "nothing is taken from it",
                      path);
    else if (reading->others && reading->catalogue->has_forks)
        strbuf_printf(&text,
                      "log '%s': the program forks, and lines do not say which process wrote them",
                      path);
    else if (reading->matched && reading->catalogue->has_threads)
        strbuf_printf(&text, "log '%s': the program has threads: the order of lines is not used",
                      path);
    if (text.length)
        warn(reading->evidence, text.data);
}

static void read_text(struct reading *reading, const char *path, const struct file_bytes *bytes)
{
    struct log_match_options match = {
        .weight = reading->options->weight ? reading->options->weight : LOG_WEIGHT,
        .any_text = reading->options->any_text,
        .by_literals = reading->options->by_literals,
        .is_possible = may_write_here,
        .context = (void *)reading->options};
    reading->matcher = log_matcher_create(reading->catalogue, &match);
    reading->observer =
        log_observer_create(reading->catalogue, path, reading->options, reading->evidence);
    read_lines(reading, (const char *)bytes->data, bytes->size);
    bool is_mixed = reading->many_pids && !reading->evidence->pid && !reading->options->one_process;
    if (is_mixed)
        reading->matched = reading->ambiguous = 0;
    else
        log_observer_finish(reading->observer);
    say_lines(reading, path);
    say_why_not(reading, path);
    log_observer_destroy(reading->observer);
    log_matcher_destroy(reading->matcher);
}

struct error *log_read(struct model *model, const char *path, const struct log_options *options,
                       struct evidence *evidence)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct log_catalogue *catalogue;
    struct error *err = file_map(path, &bytes);
    if (!err)
        err = log_catalogue_create(model, &catalogue);
    if (err)
        return err;
    struct reading reading = {.options = options, .catalogue = catalogue, .evidence = evidence};
    read_text(&reading, path, &bytes);
    log_catalogue_destroy(catalogue);
    return NULL;
}
