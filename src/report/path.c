// SPDX-License-Identifier: Apache-2.0
#include "report/path.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/bitset.h"
#include "path/evidence.h"
#include "program/model.h"

bool path_counts(const struct path_report *report, uint32_t path, const struct path_mark *mark)
{
    return mark->critical == UINT32_MAX ||
           report->answer->paths[path].found.touched >> mark->critical & 1;
}

uint32_t path_touched(const struct path_report *report, uint32_t path, uint32_t *of)
{
    uint32_t touched = 0;

    *of = 0;
    for (size_t m = 0; m < report->marks->length; m++) {
        const struct path_mark *mark = &report->marks->data[m];

        *of += mark->critical != UINT32_MAX;
        touched += mark->critical != UINT32_MAX && path_counts(report, path, mark);
    }
    return touched;
}

// By event: is it the step before a call that stays pending?
static void find_pending(const struct run *run, struct bitset *ret)
{
    uint32_t *open = xmalloc_array(run->count + 1u, sizeof(*open)), depth = 0;

    for (uint32_t i = 0; i < run->count; i++)
        if (run->events[i].letter == RUN_CALL)
            open[depth++] = i;
        else if (run->events[i].letter == RUN_LEAVE)
            depth -= depth > 0;
    while (depth > 0) {
        uint32_t at = open[--depth];

        while (at > 0 && (run->events[at].letter != RUN_STEP ||
                          run->events[at].node != run->events[open[depth]].node))
            at--;
        bitset_set(ret, at);
    }
    free(open);
}

// Has the node marks that count for this path? Are some of them new?
static void find_hits(const struct path_report *report, uint32_t path, struct bitset *seen,
                      struct path_note *note)
{
    for (size_t m = 0; m < report->marks->length; m++)
        if (report->marks->data[m].node == note->node &&
            path_counts(report, path, &report->marks->data[m])) {
            note->hits |= !bitset_test_and_set(seen, m);
            note->again = !note->hits;
        }
}

// The event that values speak against, or the step before it; UINT32_MAX: there is none.
static uint32_t find_doubtful(const struct path_report *report, const struct path_found *found)
{
    uint32_t at = found->doubtful;

    if (!report->has_dataflow || found->is_feasible || at >= found->run.count)
        return UINT32_MAX;
    while (at > 0 && (found->run.events[at].letter != RUN_STEP ||
                      found->run.events[at].node >= report->model->node_count))
        at--;
    return at;
}

// Which of the node's lines a note is about.
static uint32_t line_of(const struct path_report *report, uint32_t path,
                        const struct path_note *note)
{
    for (size_t m = 0; (note->hits || note->again) && m < report->marks->length; m++)
        if (report->marks->data[m].node == note->node)
            return report->marks->data[m].line;
    if (note->is_end)
        return report->end_lines ? report->end_lines[report->answer->paths[path].failure] : 0;
    return note->is_pending ? UINT32_MAX : 0;
}

// Places that are reached again, and nothing else, share a note, so that loops can be folded.
static uint32_t shared_note(const struct path_report *report, const struct path_note *note,
                            uint32_t *shared, uint32_t next)
{
    size_t m = 0;

    if (!note->again || note->is_pending || note->is_end || note->is_doubtful)
        return next;
    while (m < report->marks->length && report->marks->data[m].node != note->node)
        m++;
    if (shared[m] == UINT32_MAX)
        shared[m] = next;
    return shared[m];
}

void path_notes_init(struct path_notes *notes, const struct path_report *report, uint32_t path)
{
    const struct path_found *found = &report->answer->paths[path].found;
    const struct run *run = &found->run;
    uint32_t doubtful = find_doubtful(report, found);
    struct bitset pending, seen;
    uint32_t *shared = xmalloc_array(report->marks->length + 1, sizeof(*shared));

    memset(shared, 0xff, (report->marks->length + 1) * sizeof(*shared));
    bitset_init(&pending, run->count + 1u);
    bitset_init(&seen, report->marks->length + 1);
    find_pending(run, &pending);
    *notes = (struct path_notes){.by_event = xcalloc(run->count + 1u, sizeof(uint32_t)),
                                 .lines = xcalloc(run->count + 1u, sizeof(uint32_t)),
                                 .at = xcalloc(run->count + 1u, sizeof(*notes->at))};
    for (uint32_t i = 0; i < run->count; i++) {
        struct path_note note = {.node = run->events[i].node,
                                 .is_pending = bitset_test(&pending, i),
                                 .is_end = i + 1 == run->count,
                                 .is_doubtful = doubtful == i};

        if (run->events[i].letter != RUN_STEP)
            continue;
        find_hits(report, path, &seen, &note);
        if (note.hits || note.again || note.is_pending || note.is_end || note.is_doubtful) {
            uint32_t at = shared_note(report, &note, shared, notes->count);

            notes->lines[i] = line_of(report, path, &note);
            notes->at[at] = note;
            notes->by_event[i] = at + 1;
            notes->count += at == notes->count;
        }
    }
    bitset_deinit(&pending);
    bitset_deinit(&seen);
    free(shared);
}

void path_notes_deinit(struct path_notes *notes)
{
    free(notes->by_event);
    free(notes->lines);
    free(notes->at);
    *notes = (struct path_notes){0};
}
