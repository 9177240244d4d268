// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_observe.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "common/bitset.h"
#include "common/map.h"
#include "evidence/evidence.h"
#include "evidence/log_part.h"

// A set of sources, one of which wrote something.
struct set {
    struct log_source_ids sources;
    uint32_t first_line;
    bool is_in_trace;
};
VEC_DEFINE(sets, struct set);
MAP_DEFINE_U64(set_map, uint32_t);

struct seen {
    uint32_t set;
    uint32_t line;
};
VEC_DEFINE(seens, struct seen);

struct trace {
    struct log_stream stream;
    struct seens seen;
};
VEC_DEFINE(traces, struct trace);
VEC_DEFINE(observations, struct evidence_observation);

struct log_observer {
    const struct log_catalogue *catalogue;
    const char *path;
    const struct log_options *options;
    struct evidence *evidence;
    struct sets sets;
    struct set_map set_ids; // by hash
    struct traces traces;
    // For complete logs
    struct bitset unclear; // sources whose visits are not all seen
    struct seens whole;    // lines that are one output each
    bool has_gap, is_cut;
    struct observations found;
};

struct log_observer *log_observer_create(const struct log_catalogue *catalogue, const char *path,
                                         const struct log_options *options,
                                         struct evidence *evidence)
{
    struct log_observer *observer = xcalloc(1, sizeof(*observer));
    observer->catalogue = catalogue;
    observer->path = path;
    observer->options = options;
    observer->evidence = evidence;
    bitset_init(&observer->unclear, catalogue->sources.length);
    return observer;
}

void log_observer_destroy(struct log_observer *observer)
{
    if (!observer)
        return;
    for (size_t i = 0; i < observer->sets.length; i++)
        log_source_ids_deinit(&observer->sets.data[i].sources);
    for (size_t i = 0; i < observer->traces.length; i++)
        seens_deinit(&observer->traces.data[i].seen);
    sets_deinit(&observer->sets);
    set_map_deinit(&observer->set_ids);
    traces_deinit(&observer->traces);
    seens_deinit(&observer->whole);
    bitset_deinit(&observer->unclear);
    observations_deinit(&observer->found);
    free(observer);
}

// ---- Lines

static bool same_ids(const struct log_source_ids *a, const struct log_source_ids *b)
{
    return a->length == b->length && memcmp(a->data, b->data, a->length * sizeof(*a->data)) == 0;
}

static uint32_t find_set(struct log_observer *observer, const struct log_source_ids *sources,
                         uint32_t line)
{
    uint64_t hash = hash_bytes(HASH_SEED, sources->data, sources->length * sizeof(*sources->data));
    bool is_new;
    uint32_t *id = set_map_put_new(&observer->set_ids, hash, &is_new);
    if (!is_new && same_ids(&observer->sets.data[*id].sources, sources))
        return *id;
    struct set set = {.first_line = line};
    log_source_ids_append(&set.sources, sources->data, sources->length);
    *id = (uint32_t)observer->sets.length;
    sets_push(&observer->sets, set);
    return *id;
}

// The one stream that all of them write to in order; false: there is none.
static bool common_stream(const struct log_observer *observer, const struct log_source_ids *sources,
                          struct log_stream *ret)
{
    const struct log_catalogue *catalogue = observer->catalogue;
    bool is_one = observer->options->kind == LOG_FILE_ONE;
    struct log_stream first = catalogue->sources.data[sources->data[0]].stream;
    if (catalogue->has_threads || (catalogue->has_forks && !observer->options->one_process))
        return false;
    for (size_t i = 0; i < sources->length; i++) {
        const struct log_source *source = &catalogue->sources.data[sources->data[i]];
        if (!source->is_ordered)
            return false;
        if (!is_one &&
            (source->stream.kind == LOG_STREAM_UNKNOWN || !log_stream_equal(source->stream, first)))
            return false;
    }
    *ret = is_one ? (struct log_stream){LOG_STREAM_UNKNOWN, 0} : first;
    return true;
}

static struct trace *find_trace(struct log_observer *observer, struct log_stream stream)
{
    for (size_t i = 0; i < observer->traces.length; i++) {
        if (log_stream_equal(observer->traces.data[i].stream, stream))
            return &observer->traces.data[i];
    }
    traces_push(&observer->traces, (struct trace){.stream = stream});
    return traces_last(&observer->traces);
}

static bool share_one(const struct log_source_ids *a, const struct log_source_ids *b)
{
    for (size_t i = 0, j = 0; i < a->length && j < b->length;) {
        if (a->data[i] == b->data[j])
            return true;
        if (a->data[i] < b->data[j])
            i++;
        else
            j++;
    }
    return false;
}

static void add_entry(struct log_observer *observer, uint32_t number, const struct log_entry *entry)
{
    struct log_stream stream;
    uint32_t set = find_set(observer, &entry->sources, number);
    if (!common_stream(observer, &entry->sources, &stream))
        return;
    struct trace *trace = find_trace(observer, stream);
    if (trace->seen.length) {
        const struct set *last = &observer->sets.data[seens_last(&trace->seen)->set];
        if (share_one(&last->sources, &entry->continued))
            return; // may be more of the same output
    }
    seens_push(&trace->seen, (struct seen){set, number});
    observer->sets.data[set].is_in_trace = true;
}

void log_observer_line(struct log_observer *observer, uint32_t number, const struct log_line *line)
{
    for (size_t i = 0; i < line->entries.length; i++)
        add_entry(observer, number, &line->entries.data[i]);
    if (!observer->options->complete)
        return;
    if (line->is_whole)
        seens_push(&observer->whole,
                   (struct seen){find_set(observer, &line->touched, number), number});
    else
        for (size_t i = 0; i < line->touched.length; i++)
            bitset_set(&observer->unclear, line->touched.data[i]);
}

void log_observer_gap(struct log_observer *observer)
{
    observer->has_gap = true;
}

void log_observer_cut(struct log_observer *observer)
{
    observer->is_cut = true;
}

// ---- Observations

static struct evidence_points points_of(const struct log_observer *observer,
                                        const uint32_t *sources, size_t count)
{
    const struct model *model = observer->catalogue->model;
    struct evidence_point *points =
        arena_alloc_array(&observer->evidence->arena, count, struct evidence_point);
    uint32_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct node_id node = observer->catalogue->sources.data[sources[i]].node;
        const struct model_function *function =
            model_function(model, model_node(model, node)->function);
        struct evidence_point point = {model_module(model, function->module)->id, function->index,
                                       model_node_index(model, node)};
        uint32_t known = 0; // a site that writes to two streams is one point
        while (known < kept &&
               (points[known].module_id != point.module_id ||
                points[known].function != point.function || points[known].node != point.node))
            known++;
        if (known == kept)
            points[kept++] = point;
    }
    return (struct evidence_points){points, kept};
}

static const char *origin_of(const struct log_observer *observer, uint32_t first, uint32_t last)
{
    struct arena *arena = &observer->evidence->arena;
    return first == last ? arena_printf(arena, "%s:%u", observer->path, first)
                         : arena_printf(arena, "%s:%u-%u", observer->path, first, last);
}

static uint32_t most_of(const struct log_observer *observer)
{
    return observer->options->most ? observer->options->most : LOG_MOST;
}

static void mark_kept(struct bitset *kept, size_t entry, uint32_t *left)
{
    if (*left && !bitset_test_and_set(kept, entry))
        --*left;
}

// An unreliable trace stays true when entries are left out: keep where each set comes first and
// last, then what is nearest to the end.
static void shorten(const struct log_observer *observer, struct seens *seen)
{
    uint32_t left = most_of(observer);
    size_t length = 0, sets = observer->sets.length;
    struct bitset kept, known;
    if (seen->length <= left)
        return;
    bitset_init(&kept, seen->length);
    bitset_init(&known, sets);
    for (size_t i = 0; i < seen->length; i++) {
        if (!bitset_test_and_set(&known, seen->data[i].set))
            mark_kept(&kept, i, &left);
    }
    bitset_clear_all(&known);
    for (size_t i = seen->length; i-- > 0;) {
        if (!bitset_test_and_set(&known, seen->data[i].set))
            mark_kept(&kept, i, &left);
    }
    for (size_t i = seen->length; i-- > 0;)
        mark_kept(&kept, i, &left);
    for (size_t i = 0; i < seen->length; i++) {
        if (bitset_test(&kept, i))
            seen->data[length++] = seen->data[i];
    }
    seen->length = length;
    bitset_deinit(&kept);
    bitset_deinit(&known);
}

static struct evidence_observation *add_trace(struct log_observer *observer,
                                              const struct seen *seen, size_t count,
                                              enum evidence_reliability reliability)
{
    struct evidence_points *entries =
        arena_alloc_array(&observer->evidence->arena, count, struct evidence_points);
    struct evidence_points *of_set = xcalloc(observer->sets.length + 1, sizeof(*of_set));
    for (size_t i = 0; i < count; i++) {
        const struct set *set = &observer->sets.data[seen[i].set];
        if (!of_set[seen[i].set].count)
            of_set[seen[i].set] = points_of(observer, set->sources.data, set->sources.length);
        entries[i] = of_set[seen[i].set];
    }
    free(of_set);
    observations_push(&observer->found,
                      (struct evidence_observation){
                          .kind = EVIDENCE_TRACE,
                          .reliability = reliability,
                          .entries = entries,
                          .entry_count = (uint32_t)count,
                          .origin = origin_of(observer, seen[0].line, seen[count - 1].line)});
    return observations_last(&observer->found);
}

static void add_ran(struct log_observer *observer, const struct set *set)
{
    struct evidence_points *entry =
        arena_alloc_one(&observer->evidence->arena, struct evidence_points);
    *entry = points_of(observer, set->sources.data, set->sources.length);
    observations_push(&observer->found,
                      (struct evidence_observation){
                          .kind = EVIDENCE_RAN,
                          .entries = entry,
                          .entry_count = 1,
                          .origin = origin_of(observer, set->first_line, set->first_line)});
}

// ---- Complete logs

// Does each visit write one line, whole, that nobody else takes part in?
static void find_clear_sources(struct log_observer *observer)
{
    const struct log_catalogue *catalogue = observer->catalogue;
    for (size_t i = 0; i < catalogue->sources.length; i++) {
        const struct log_source *source = &catalogue->sources.data[i];
        // What syslog passes on is not the program's decision.
        if (!source->is_ordered || source->may_be_silent ||
            source->stream.kind == LOG_STREAM_UNKNOWN || source->stream.kind == LOG_STREAM_SYSLOG)
            bitset_set(&observer->unclear, i);
    }
    for (size_t i = 0; i < catalogue->outputs.length; i++) {
        const struct log_text_output *output = &catalogue->outputs.data[i];
        if (log_pattern_is_line(output->pattern))
            continue;
        for (size_t s = 0; s < output->sources.length; s++)
            bitset_set(&observer->unclear, output->sources.data[s]);
    }
}

// Calls that have not returned may not have written yet.
static void leave_out_pending(struct log_observer *observer)
{
    const struct model *model = observer->catalogue->model;
    const struct evidence *evidence = observer->evidence;
    for (size_t i = 0; i < observer->catalogue->sources.length; i++) {
        struct node_id node = observer->catalogue->sources.data[i].node;
        const struct model_function *function =
            model_function(model, model_node(model, node)->function);
        uint64_t module = model_module(model, function->module)->id;
        uint32_t index = model_node_index(model, node);
        for (uint32_t t = 0; t < evidence->thread_count; t++) {
            for (uint32_t f = 0; f < evidence->threads[t].frame_count; f++) {
                const struct evidence_frame *frame = &evidence->threads[t].frames[f];
                if (frame->function.module_id != module || frame->function.index != function->index)
                    continue;
                for (uint32_t c = 0; c < frame->candidates.count; c++) {
                    if (frame->candidates.nodes[c] == index)
                        bitset_set(&observer->unclear, i);
                }
            }
        }
    }
}

static bool is_stack_whole(const struct evidence *evidence)
{
    for (uint32_t t = 0; t < evidence->thread_count; t++) {
        if (!evidence->threads[t].whole)
            return false;
        for (uint32_t f = 0; f < evidence->threads[t].frame_count; f++) {
            if (evidence->threads[t].frames[f].gap || evidence->threads[t].frames[f].guessed)
                return false;
        }
    }
    return evidence->thread_count > 0;
}

static bool any_unclear(const struct log_observer *observer, const struct log_source_ids *sources)
{
    for (size_t i = 0; i < sources->length; i++) {
        if (bitset_test(&observer->unclear, sources->data[i]))
            return true;
    }
    return false;
}

// A line that someone unclear may have written makes all unclear who may have. To the end.
static void spread_unclear(struct log_observer *observer)
{
    bool changed = true;
    struct log_stream stream;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < observer->whole.length; i++) {
            const struct log_source_ids *sources =
                &observer->sets.data[observer->whole.data[i].set].sources;
            if (!any_unclear(observer, sources) && common_stream(observer, sources, &stream))
                continue;
            for (size_t s = 0; s < sources->length; s++)
                changed |= !bitset_test_and_set(&observer->unclear, sources->data[s]);
        }
    }
}

static void add_reliable(struct log_observer *observer, struct log_stream stream,
                         enum evidence_reliability reliability)
{
    struct seens seen = VEC_INIT;
    struct log_source_ids alphabet = VEC_INIT;
    struct log_stream of_set;
    for (size_t i = 0; i < observer->whole.length; i++) {
        const struct log_source_ids *sources =
            &observer->sets.data[observer->whole.data[i].set].sources;
        if (!any_unclear(observer, sources) && common_stream(observer, sources, &of_set) &&
            log_stream_equal(of_set, stream))
            seens_push(&seen, observer->whole.data[i]);
    }
    for (uint32_t i = 0; i < observer->catalogue->sources.length; i++) {
        if (!bitset_test(&observer->unclear, i) &&
            (observer->options->kind == LOG_FILE_ONE ||
             log_stream_equal(observer->catalogue->sources.data[i].stream, stream)))
            log_source_ids_push(&alphabet, i);
    }
    size_t most = most_of(observer), first = 0;
    if (seen.length > most) { // the last stretch of the run
        first = seen.length - most;
        reliability = EVIDENCE_BURST;
    }
    if (seen.length) {
        struct evidence_observation *trace =
            add_trace(observer, seen.data + first, seen.length - first, reliability);
        trace->alphabet = points_of(observer, alphabet.data, alphabet.length);
    }
    seens_deinit(&seen);
    log_source_ids_deinit(&alphabet);
}

static void finish_complete(struct log_observer *observer)
{
    enum evidence_reliability reliability = EVIDENCE_BURST;
    if (observer->has_gap)
        return;
    if (!observer->is_cut && is_stack_whole(observer->evidence))
        reliability = EVIDENCE_RELIABLE;
    find_clear_sources(observer);
    leave_out_pending(observer);
    spread_unclear(observer);
    for (size_t i = 0; i < observer->traces.length; i++)
        add_reliable(observer, observer->traces.data[i].stream, reliability);
}

void log_observer_finish(struct log_observer *observer)
{
    struct evidence *evidence = observer->evidence;
    if (observer->options->complete)
        finish_complete(observer);
    for (size_t i = 0; i < observer->traces.length; i++) {
        struct seens *seen = &observer->traces.data[i].seen;
        shorten(observer, seen);
        add_trace(observer, seen->data, seen->length, EVIDENCE_UNRELIABLE);
    }
    uint32_t left = most_of(observer);
    for (size_t i = 0; left > 0 && i < observer->sets.length; i++) {
        if (observer->sets.data[i].is_in_trace)
            continue;
        add_ran(observer, &observer->sets.data[i]);
        left--;
    }
    size_t count = observer->found.length;
    struct evidence_observation *all = arena_alloc_array(
        &evidence->arena, evidence->observation_count + count, struct evidence_observation);
    if (evidence->observation_count)
        memcpy(all, evidence->observations, evidence->observation_count * sizeof(*all));
    if (count)
        memcpy(all + evidence->observation_count, observer->found.data, count * sizeof(*all));
    evidence->observations = all;
    evidence->observation_count += (uint32_t)count;
}
