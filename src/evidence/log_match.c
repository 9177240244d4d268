// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_match.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "evidence/log_part.h"

#define GRAM         4u // bytes of an anchor
#define GRAM_SLOTS   4096u
#define MOST_EDGES   512u     // of one line
#define MOST_ENDS    65536u   // of all edges of one line
#define MOST_WORK    4000000u // bytes looked at for one line
#define MOST_WRITERS 64u      // of one byte
#define MOST_ENTRIES 8u       // of one line
#define NO_ANCHOR    UINT32_MAX
#define PAIR_BUCKETS 65536u

struct edge {
    uint32_t part; // UINT32_MAX: an output of any text
    uint32_t from, first_end, end_count;
    uint32_t to; // the farthest end on a path; 0: on none
};
VEC_DEFINE(edges, struct edge);
VEC_DEFINE(positions, uint32_t);

struct log_matcher {
    const struct log_catalogue *catalogue;
    struct log_match_options options;
    struct arena arena;
    struct log_parts parts;
    uint32_t *anchors;          // by part: hash of a gram that its line must hold, or NO_ANCHOR
    struct log_source_ids free; // sources of any text
    // Parts by their first two literal bytes, those with one literal byte, those with a hole first.
    uint32_t *pair_start; // PAIR_BUCKETS + 1
    uint32_t *pair_parts;
    struct positions byte_parts[256];
    struct positions open_parts;
    // Of the line at hand
    uint32_t stamps[GRAM_SLOTS], stamp; // grams that it holds
    struct positions open_here;         // open parts whose anchors it holds
    uint8_t scratch[LOG_LONGEST_LINE + 2], reached[LOG_LONGEST_LINE + 2],
        leaving[LOG_LONGEST_LINE + 2], starts[LOG_LONGEST_LINE + 2];
    uint32_t found[LOG_LONGEST_LINE + 2];
    struct edges edges;
    struct positions ends;
    uint32_t work;
};

// ---- The index

static uint32_t gram_at(const char *bytes)
{
    uint32_t gram;
    memcpy(&gram, bytes, sizeof(gram));
    return (gram * 2654435761u) >> 20;
}
_Static_assert(LOG_CHAR < LOG_LINE && LOG_CHAR < LOG_TEXT, "holds_any_text");
_Static_assert(GRAM_SLOTS == 1u << 12, "gram_at gives 12 bits");

// The start of the longest literal: seldom in lines that are not the part's.
static uint32_t anchor_of(const struct log_part *part)
{
    const struct log_element *longest = NULL;
    for (uint32_t i = 0; i < part->count; i++) {
        const struct log_element *e = &part->elements[i];
        if (e->kind == LOG_LITERAL && e->length >= GRAM &&
            (!longest || e->length > longest->length))
            longest = e;
    }
    return longest ? gram_at(longest->bytes + (longest->length - GRAM) / 2) : NO_ANCHOR;
}

static uint32_t pair_at(const char *bytes)
{
    return (uint32_t)(unsigned char)bytes[0] << 8 | (unsigned char)bytes[1];
}

static const struct log_element *first_literal(const struct log_part *part)
{
    return part->count && part->elements[0].kind == LOG_LITERAL ? &part->elements[0] : NULL;
}

static void index_pairs(struct log_matcher *matcher)
{
    matcher->pair_start = xcalloc(PAIR_BUCKETS + 1, sizeof(uint32_t));
    matcher->pair_parts = xcalloc(matcher->parts.length + 1, sizeof(uint32_t));
    for (size_t p = 0; p < matcher->parts.length; p++) {
        const struct log_element *literal = first_literal(&matcher->parts.data[p]);
        if (literal && literal->length >= 2)
            matcher->pair_start[pair_at(literal->bytes) + 1]++;
    }
    for (uint32_t b = 0; b < PAIR_BUCKETS; b++)
        matcher->pair_start[b + 1] += matcher->pair_start[b];
    uint32_t *next = xmalloc_array(PAIR_BUCKETS, sizeof(*next));
    memcpy(next, matcher->pair_start, PAIR_BUCKETS * sizeof(*next));
    for (size_t p = 0; p < matcher->parts.length; p++) {
        const struct log_element *literal = first_literal(&matcher->parts.data[p]);
        if (literal && literal->length >= 2)
            matcher->pair_parts[next[pair_at(literal->bytes)]++] = (uint32_t)p;
    }
    free(next);
}

static void index_parts(struct log_matcher *matcher)
{
    index_pairs(matcher);
    matcher->anchors = xmalloc_array(matcher->parts.length + 1, sizeof(uint32_t));
    for (size_t p = 0; p < matcher->parts.length; p++) {
        const struct log_part *part = &matcher->parts.data[p];
        const struct log_element *literal = first_literal(part);
        matcher->anchors[p] = anchor_of(part);
        if (!literal)
            positions_push(&matcher->open_parts, (uint32_t)p);
        else if (literal->length == 1)
            positions_push(&matcher->byte_parts[(unsigned char)literal->bytes[0]], (uint32_t)p);
    }
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_ids(struct log_source_ids *ids)
{
    size_t kept = 0;
    if (ids->length == 0)
        return;
    qsort(ids->data, ids->length, sizeof(*ids->data), compare_ids);
    for (size_t i = 0; i < ids->length; i++) {
        if (i == 0 || ids->data[i] != ids->data[i - 1])
            ids->data[kept++] = ids->data[i];
    }
    ids->length = kept;
}

static bool is_possible(const struct log_matcher *matcher, uint32_t source)
{
    return !matcher->options.is_possible ||
           matcher->options.is_possible(matcher->options.context,
                                        &matcher->catalogue->sources.data[source]);
}

static void add_sources(const struct log_matcher *matcher, uint32_t output,
                        struct log_source_ids *out)
{
    const struct log_source_ids *sources = &matcher->catalogue->outputs.data[output].sources;
    for (size_t i = 0; i < sources->length; i++) {
        if (is_possible(matcher, sources->data[i]))
            log_source_ids_push(out, sources->data[i]);
    }
}

static bool holds_any_text(struct log_pattern pattern)
{
    for (uint32_t i = 0; i < pattern.count; i++) {
        const struct log_element *e = &pattern.elements[i];
        if (e->kind == LOG_HOLE && e->class >= LOG_CHAR)
            return true;
    }
    return false;
}

static void add_output(struct log_matcher *matcher, uint32_t output)
{
    struct log_pattern pattern = matcher->catalogue->outputs.data[output].pattern;
    struct log_source_ids sources = VEC_INIT;
    add_sources(matcher, output, &sources);
    bool is_free = log_pattern_is_free(pattern);
    if (matcher->options.by_literals && holds_any_text(pattern) &&
        log_pattern_weight(pattern) < matcher->options.weight)
        log_source_ids_clear(&sources);
    if (sources.length && !is_free)
        is_free = !log_parts_cut(&matcher->arena, pattern, output, &matcher->parts);
    is_free |= matcher->options.any_text && log_pattern_has_text(pattern);
    if (is_free && !matcher->options.by_literals)
        log_source_ids_append(&matcher->free, sources.data, sources.length);
    log_source_ids_deinit(&sources);
}

struct log_matcher *log_matcher_create(const struct log_catalogue *catalogue,
                                       const struct log_match_options *options)
{
    struct log_matcher *matcher = xcalloc(1, sizeof(*matcher));
    matcher->catalogue = catalogue;
    matcher->options = *options;
    arena_init(&matcher->arena);
    for (size_t i = 0; i < catalogue->outputs.length; i++)
        add_output(matcher, (uint32_t)i);
    sort_ids(&matcher->free);
    index_parts(matcher);
    return matcher;
}

void log_matcher_destroy(struct log_matcher *matcher)
{
    if (!matcher)
        return;
    for (int b = 0; b < 256; b++)
        positions_deinit(&matcher->byte_parts[b]);
    positions_deinit(&matcher->open_parts);
    positions_deinit(&matcher->open_here);
    positions_deinit(&matcher->ends);
    edges_deinit(&matcher->edges);
    log_parts_deinit(&matcher->parts);
    log_source_ids_deinit(&matcher->free);
    free(matcher->anchors);
    free(matcher->pair_start);
    free(matcher->pair_parts);
    arena_deinit(&matcher->arena);
    free(matcher);
}

// ---- Edges

static bool holds_anchor(const struct log_matcher *matcher, uint32_t part)
{
    uint32_t anchor = matcher->anchors[part];
    return anchor == NO_ANCHOR || matcher->stamps[anchor] == matcher->stamp;
}

static void note_grams(struct log_matcher *matcher, const char *line, uint32_t length)
{
    if (++matcher->stamp == 0) {
        memset(matcher->stamps, 0, sizeof(matcher->stamps));
        matcher->stamp = 1;
    }
    for (uint32_t i = 0; i + GRAM <= length; i++)
        matcher->stamps[gram_at(line + i)] = matcher->stamp;
    positions_clear(&matcher->open_here);
    for (size_t i = 0; i < matcher->open_parts.length; i++) {
        if (holds_anchor(matcher, matcher->open_parts.data[i]))
            positions_push(&matcher->open_here, matcher->open_parts.data[i]);
    }
}

static bool add_edges_of(struct log_matcher *matcher, uint32_t part, const char *line,
                         uint32_t length, uint32_t at)
{
    const struct log_part *tried = &matcher->parts.data[part];
    if (!tried->begins_output && !matcher->starts[at])
        return true;
    uint32_t count = log_part_ends(tried, line, length, at, matcher->scratch, matcher->found);
    uint32_t first = (uint32_t)matcher->ends.length;
    matcher->work += length - at + 1;
    for (uint32_t i = 0; i < count; i++) {
        if (matcher->found[i] == at)
            continue; // wrote nothing
        positions_push(&matcher->ends, matcher->found[i]);
        matcher->reached[matcher->found[i]] = 1;
    }
    count = (uint32_t)matcher->ends.length - first;
    if (count)
        edges_push(&matcher->edges, (struct edge){part, at, first, count, 0});
    return matcher->edges.length <= MOST_EDGES && matcher->ends.length <= MOST_ENDS &&
           matcher->work <= MOST_WORK;
}

// Where all positions are reached, a part that begins with any text need not be tried again: from
// the first position on it covers all that it does from later ones, and ends where they end.
static bool is_covered(const struct log_matcher *matcher, uint32_t part, uint32_t at)
{
    const struct log_part *tried = &matcher->parts.data[part];
    return matcher->free.length && at > 0 && tried->count && tried->elements[0].may_be_empty &&
           (tried->elements[0].class == LOG_TEXT || tried->elements[0].class == LOG_LINE);
}

static bool add_edges_at(struct log_matcher *matcher, const char *line, uint32_t length,
                         uint32_t at)
{
    bool is_good = true;
    if (at + 1 < length) {
        uint32_t pair = pair_at(line + at);
        for (uint32_t i = matcher->pair_start[pair]; is_good && i < matcher->pair_start[pair + 1];
             i++)
            is_good = !holds_anchor(matcher, matcher->pair_parts[i]) ||
                      add_edges_of(matcher, matcher->pair_parts[i], line, length, at);
    }
    if (at < length) {
        const struct positions *parts = &matcher->byte_parts[(unsigned char)line[at]];
        for (size_t i = 0; is_good && i < parts->length; i++)
            is_good = add_edges_of(matcher, parts->data[i], line, length, at);
    }
    for (size_t i = 0; is_good && i < matcher->open_here.length; i++) {
        uint32_t part = matcher->open_here.data[i];
        is_good = is_covered(matcher, part, at) || add_edges_of(matcher, part, line, length, at);
    }
    return is_good;
}

// All edges that can be reached from a start. False: too many.
static bool find_edges(struct log_matcher *matcher, const char *line, uint32_t length,
                       const size_t *starts, size_t start_count)
{
    bool is_free = matcher->free.length > 0, is_good = true;
    memset(matcher->reached, is_free, length + 2);
    memset(matcher->leaving, is_free, length + 2);
    memset(matcher->starts, 0, length + 2);
    for (size_t i = 0; i < start_count; i++)
        matcher->reached[starts[i]] = matcher->starts[starts[i]] = 1;
    edges_clear(&matcher->edges);
    positions_clear(&matcher->ends);
    matcher->work = 0;
    for (uint32_t at = 0; is_good && at <= length; at++) {
        if (matcher->reached[at])
            is_good = add_edges_at(matcher, line, length, at);
    }
    return is_good;
}

// Keeps the edges from where the end of the line can be reached; edges are in order of `from`.
static void keep_paths(struct log_matcher *matcher, uint32_t length)
{
    size_t kept = 0;
    matcher->leaving[length + 1] = 1;
    for (size_t e = matcher->edges.length; e-- > 0;) {
        struct edge *edge = &matcher->edges.data[e];
        for (uint32_t i = 0; i < edge->end_count; i++) {
            uint32_t end = matcher->ends.data[edge->first_end + i];
            if (matcher->leaving[end] && end > edge->to)
                edge->to = end;
        }
        if (edge->to)
            matcher->leaving[edge->from] = 1;
    }
    for (size_t e = 0; e < matcher->edges.length; e++) {
        if (matcher->edges.data[e].to)
            matcher->edges.data[kept++] = matcher->edges.data[e];
    }
    matcher->edges.length = kept;
}

// ---- Writers of bytes

// Bytes that the same edges cover.
struct span {
    uint32_t from;
    bool is_heavy; // an edge over it has enough literal characters
    struct log_entry writers;
};
VEC_DEFINE(spans, struct span);

static void entry_deinit(struct log_entry *entry)
{
    log_source_ids_deinit(&entry->sources);
    log_source_ids_deinit(&entry->continued);
}

static bool is_over(const struct edge *edge, uint32_t at)
{
    return at >= edge->from && at < edge->to;
}

static bool is_heavy(const struct log_matcher *matcher, const struct edge *edge)
{
    return matcher->parts.data[edge->part].weight >= matcher->options.weight;
}

// False: too many.
static bool find_writers(const struct log_matcher *matcher, uint32_t at, struct span *span)
{
    for (size_t e = 0; e < matcher->edges.length; e++)
        span->is_heavy |=
            is_over(&matcher->edges.data[e], at) && is_heavy(matcher, &matcher->edges.data[e]);
    bool only_heavy = span->is_heavy && matcher->options.by_literals;
    if (!only_heavy) {
        log_source_ids_append(&span->writers.sources, matcher->free.data, matcher->free.length);
        log_source_ids_append(&span->writers.continued, matcher->free.data, matcher->free.length);
    }
    for (size_t e = 0; e < matcher->edges.length; e++) {
        const struct edge *edge = &matcher->edges.data[e];
        const struct log_part *part = &matcher->parts.data[edge->part];
        if (!is_over(edge, at) || (only_heavy && !is_heavy(matcher, edge)))
            continue;
        add_sources(matcher, part->output, &span->writers.sources);
        if (!part->begins_output)
            add_sources(matcher, part->output, &span->writers.continued);
        if (span->writers.sources.length > MOST_WRITERS * 4)
            return false;
    }
    sort_ids(&span->writers.sources);
    sort_ids(&span->writers.continued);
    return span->writers.sources.length <= MOST_WRITERS;
}

// The first position behind `at` where an edge begins or ends.
static uint32_t next_change(const struct log_matcher *matcher, uint32_t at, uint32_t end)
{
    for (size_t e = 0; e < matcher->edges.length; e++) {
        const struct edge *edge = &matcher->edges.data[e];
        if (edge->from > at && edge->from < end)
            end = edge->from;
        if (edge->to > at && edge->to < end)
            end = edge->to;
    }
    return end;
}

// From the last start on: what stands before may have been written by others.
static void find_spans(const struct log_matcher *matcher, uint32_t first, uint32_t length,
                       struct spans *out)
{
    for (uint32_t at = first; at <= length; at = next_change(matcher, at, length + 1)) {
        struct span span = {.from = at};
        if (find_writers(matcher, at, &span) && span.writers.sources.length)
            spans_push(out, span);
        else
            entry_deinit(&span.writers);
    }
}

static bool are_disjoint(const struct log_source_ids *a, const struct log_source_ids *b)
{
    size_t i = 0, j = 0;
    while (i < a->length && j < b->length) {
        if (a->data[i] == b->data[j])
            return false;
        if (a->data[i] < b->data[j])
            i++;
        else
            j++;
    }
    return true;
}

// The span that fewest can have written among those with enough literals.
static size_t best_span(const struct spans *spans)
{
    size_t best = spans->length;
    for (size_t i = 0; i < spans->length; i++) {
        if (spans->data[i].is_heavy &&
            (best == spans->length ||
             spans->data[i].writers.sources.length < spans->data[best].writers.sources.length))
            best = i;
    }
    return best;
}

static void take(struct spans *spans, size_t index, struct log_entries *entries)
{
    log_entries_push(entries, spans->data[index].writers);
    spans->data[index].writers = (struct log_entry){VEC_INIT, VEC_INIT};
}

// The best span, and those to its left and right that are other outputs for certain.
static void pick_spans(struct spans *spans, struct log_entries *entries)
{
    size_t best = best_span(spans), picked[MOST_ENTRIES * 2], count = 0;
    if (best == spans->length)
        return;
    size_t last = best;
    picked[MOST_ENTRIES] = best;
    size_t low = MOST_ENTRIES, high = MOST_ENTRIES + 1;
    for (size_t i = best; i-- > 0 && count < MOST_ENTRIES - 1;) {
        if (are_disjoint(&spans->data[i].writers.sources, &spans->data[last].writers.sources)) {
            picked[--low] = last = i;
            count++;
        }
    }
    last = best;
    for (size_t i = best + 1; i < spans->length && high < MOST_ENTRIES * 2; i++) {
        if (are_disjoint(&spans->data[i].writers.sources, &spans->data[last].writers.sources))
            picked[high++] = last = i;
    }
    for (size_t i = low; i < high; i++)
        take(spans, picked[i], entries);
}

// ---- Lines

static void clear_line(struct log_line *line)
{
    for (size_t i = 0; i < line->entries.length; i++)
        entry_deinit(&line->entries.data[i]);
    log_entries_clear(&line->entries);
    log_source_ids_clear(&line->touched);
    line->is_whole = false;
    line->state = LOG_LINE_FOREIGN;
}

void log_line_deinit(struct log_line *line)
{
    clear_line(line);
    log_entries_deinit(&line->entries);
    log_source_ids_deinit(&line->touched);
}

// Every output that has a part with a literal of the line, matching or not.
static void touch_by_anchor(struct log_matcher *matcher, struct log_line *line)
{
    for (size_t p = 0; p < matcher->parts.length; p++) {
        if (holds_anchor(matcher, (uint32_t)p))
            add_sources(matcher, matcher->parts.data[p].output, &line->touched);
    }
    sort_ids(&line->touched);
}

static void touch_by_edge(const struct log_matcher *matcher, uint32_t length, struct log_line *line)
{
    bool is_whole = matcher->free.length == 0 && matcher->edges.length > 0;
    log_source_ids_append(&line->touched, matcher->free.data, matcher->free.length);
    for (size_t e = 0; e < matcher->edges.length; e++) {
        const struct edge *edge = &matcher->edges.data[e];
        const struct log_part *part = &matcher->parts.data[edge->part];
        add_sources(matcher, part->output, &line->touched);
        is_whole &= part->begins_output && part->ends_line && matcher->starts[edge->from] &&
                    edge->to == length + 1;
    }
    sort_ids(&line->touched);
    line->is_whole = is_whole && line->entries.length == 1 &&
                     line->touched.length == line->entries.data[0].sources.length;
}

void log_match_line(struct log_matcher *matcher, const char *bytes, size_t length,
                    const size_t *starts, size_t start_count, struct log_line *line)
{
    clear_line(line);
    if (length > LOG_LONGEST_LINE) {
        line->state = LOG_LINE_WIDE;
        return;
    }
    note_grams(matcher, bytes, (uint32_t)length);
    if (matcher->free.length > MOST_WRITERS ||
        !find_edges(matcher, bytes, (uint32_t)length, starts, start_count)) {
        line->state = LOG_LINE_WIDE;
        log_source_ids_append(&line->touched, matcher->free.data, matcher->free.length);
        touch_by_anchor(matcher, line);
        return;
    }
    keep_paths(matcher, (uint32_t)length);
    if (matcher->edges.length == 0 && matcher->free.length == 0) {
        touch_by_anchor(matcher, line);
        return;
    }
    struct spans spans = VEC_INIT;
    find_spans(matcher, (uint32_t)starts[start_count - 1], (uint32_t)length, &spans);
    pick_spans(&spans, &line->entries);
    line->state = line->entries.length ? LOG_LINE_MATCHED
                  : spans.length       ? LOG_LINE_WEAK
                                       : LOG_LINE_WIDE;
    touch_by_edge(matcher, (uint32_t)length, line);
    for (size_t i = 0; i < spans.length; i++)
        entry_deinit(&spans.data[i].writers);
    spans_deinit(&spans);
}
