// SPDX-License-Identifier: Apache-2.0
#include "evidence/merge.h"

#include <string.h>

#include "common/error.h"
#include "evidence/evidence.h"

static struct error *contradiction(const struct evidence *a, const struct evidence *b,
                                   const char *what)
{
    return error_create(ERROR_MISMATCH, "'%s' and '%s' are not of the same run: %s", a->source,
                        b->source, what);
}

// ---- Stacks

static const struct evidence_thread *failed_thread(const struct evidence *evidence)
{
    for (uint32_t t = 0; t < evidence->thread_count; t++) {
        if (evidence->threads[t].crashed)
            return &evidence->threads[t];
    }
    return evidence->thread_count == 1 ? &evidence->threads[0] : NULL;
}

static bool nodes_meet(struct evidence_nodes a, struct evidence_nodes b)
{
    for (uint32_t i = 0, k = 0; i < a.count && k < b.count;) {
        if (a.nodes[i] == b.nodes[k])
            return true;
        if (a.nodes[i] < b.nodes[k])
            i++;
        else
            k++;
    }
    return false;
}

static bool frames_agree(const struct evidence_frame *a, const struct evidence_frame *b)
{
    return a->function.module_id == b->function.module_id &&
           a->function.index == b->function.index && nodes_meet(a->candidates, b->candidates);
}

static const struct evidence_frame *next_model_frame(const struct evidence_thread *thread,
                                                     uint32_t *at)
{
    while (*at < thread->frame_count && thread->frames[*at].kind != EVIDENCE_FRAME_MODEL)
        ++*at;
    return *at < thread->frame_count ? &thread->frames[(*at)++] : NULL;
}

// Are the program's frames of one all in the other, in this order?
static bool is_part_of(const struct evidence_thread *part, const struct evidence_thread *whole)
{
    uint32_t i = 0, k = 0;
    const struct evidence_frame *frame;
    while ((frame = next_model_frame(part, &i))) {
        const struct evidence_frame *other;
        do
            other = next_model_frame(whole, &k);
        while (other && !frames_agree(frame, other));
        if (!other)
            return false;
    }
    return true;
}

static bool has_gap(const struct evidence_thread *thread)
{
    for (uint32_t i = 0; i < thread->frame_count; i++) {
        if (thread->frames[i].gap)
            return true;
    }
    return false;
}

static struct error *check_stacks(const struct evidence *a, const struct evidence *b)
{
    const struct evidence_thread *x = failed_thread(a), *y = failed_thread(b);
    if (!x || !y)
        return NULL;
    bool x_in_y = is_part_of(x, y), y_in_x = is_part_of(y, x);
    bool complete = x->whole && y->whole && !has_gap(x) && !has_gap(y);
    if (complete ? x_in_y && y_in_x : x_in_y || y_in_x)
        return NULL;
    return contradiction(a, b, "their stacks differ");
}

// ---- Coverage

static struct error *join_sites(const struct evidence *a, const struct evidence *b,
                                struct arena *arena, struct evidence_coverage *into,
                                const struct evidence_coverage *other)
{
    if (into->site_count != other->site_count)
        return contradiction(a, b, "one has other call sites");
    uint8_t *sites = arena_memdup(arena, into->sites, into->site_count);
    for (uint32_t s = 0; s < into->site_count; s++) {
        if (sites[s] == EVIDENCE_UNKNOWN)
            sites[s] = other->sites[s];
        else if (other->sites[s] != EVIDENCE_UNKNOWN && other->sites[s] != sites[s])
            return contradiction(a, b, "a call was made by the one and never by the other");
    }
    into->sites = sites;
    return NULL;
}

static struct error *join_coverage(struct evidence *into, const struct evidence *other)
{
    uint32_t count = into->coverage_count;
    struct evidence_coverage *all = arena_alloc_array(
        &into->arena, (size_t)count + other->coverage_count + 1, struct evidence_coverage);
    for (uint32_t i = 0; i < count; i++)
        all[i] = into->coverage[i];
    for (uint32_t i = 0; i < other->coverage_count; i++) {
        const struct evidence_coverage *more = &other->coverage[i];
        uint32_t at = 0;
        while (at < count && all[at].module_id != more->module_id)
            at++;
        if (at < count) {
            struct error *err = join_sites(into, other, &into->arena, &all[at], more);
            if (err)
                return err;
            continue;
        }
        all[count] = *more;
        all[count++].sites = arena_memdup(&into->arena, more->sites, more->site_count);
    }
    into->coverage = all;
    into->coverage_count = count;
    return NULL;
}

// ---- The rest

static struct evidence_points copy_points(struct arena *arena, struct evidence_points points)
{
    return (struct evidence_points){
        arena_memdup(arena, points.points ? (const void *)points.points : "",
                     points.count * sizeof(*points.points)),
        points.count};
}

static void join_observations(struct evidence *into, const struct evidence *other)
{
    uint32_t count = into->observation_count;
    struct evidence_observation *all = arena_alloc_array(
        &into->arena, (size_t)count + other->observation_count + 1, struct evidence_observation);
    for (uint32_t i = 0; i < count; i++)
        all[i] = into->observations[i];
    for (uint32_t i = 0; i < other->observation_count; i++) {
        struct evidence_observation observation = other->observations[i];
        struct evidence_points *entries = arena_alloc_array(
            &into->arena, observation.entry_count + (size_t)1, struct evidence_points);
        for (uint32_t k = 0; k < observation.entry_count; k++)
            entries[k] = copy_points(&into->arena, observation.entries[k]);
        observation.entries = entries;
        observation.alphabet = copy_points(&into->arena, observation.alphabet);
        observation.origin = arena_strdup(&into->arena, observation.origin);
        all[count++] = observation;
    }
    into->observations = all;
    into->observation_count = count;
}

static bool has_image(const struct evidence *evidence, const struct evidence_image *image)
{
    for (uint32_t i = 0; i < evidence->image_count; i++) {
        const struct evidence_image *other = &evidence->images[i];
        if ((image->executable && other->executable) ||
            (image->path && other->path && strcmp(image->path, other->path) == 0))
            return true;
    }
    return false;
}

static void join_images(struct evidence *into, const struct evidence *other)
{
    struct arena *arena = &into->arena;
    uint32_t count = into->image_count;
    struct evidence_image *all =
        arena_alloc_array(arena, (size_t)count + other->image_count + 1, struct evidence_image);
    for (uint32_t i = 0; i < count; i++)
        all[i] = into->images[i];
    for (uint32_t i = 0; i < other->image_count; i++) {
        struct evidence_image image = other->images[i];
        if (has_image(into, &image))
            continue;
        image.path = image.path ? arena_strdup(arena, image.path) : NULL;
        image.build_id = image.build_id ? arena_strdup(arena, image.build_id) : NULL;
        image.modules = arena_memdup(arena, image.modules ? (const void *)image.modules : "",
                                     image.module_count * sizeof(*image.modules));
        all[count++] = image;
    }
    into->images = all;
    into->image_count = count;
}

static void join_warnings(struct evidence *into, const struct evidence *other)
{
    uint32_t count = into->warning_count;
    const char **all =
        arena_alloc_array(&into->arena, (size_t)count + other->warning_count + 1, const char *);
    for (uint32_t i = 0; i < count; i++)
        all[i] = into->warnings[i];
    for (uint32_t i = 0; i < other->warning_count; i++)
        all[count++] = arena_strdup(&into->arena, other->warnings[i]);
    into->warnings = all;
    into->warning_count = count;
}

static void join_process(struct evidence *into, const struct evidence *other)
{
    if (!into->command && other->command)
        into->command = arena_strdup(&into->arena, other->command);
    if (!into->pid)
        into->pid = other->pid;
    if (!into->signal.number && other->signal.number)
        into->signal = other->signal;
}

// Stacks of a core before those of others; of these the first.
static unsigned rank(const struct evidence *evidence)
{
    if (evidence->thread_count == 0)
        return 0;
    return strcmp(evidence->kind, "core") == 0 ? 2 : 1;
}

struct error *evidence_merge(struct evidence **into, struct evidence *other)
{
    struct evidence *first = *into;
    struct error *err = NULL;
    if (rank(first) == 2 && rank(other) == 2)
        err = contradiction(first, other, "both are cores, of which a run has one");
    if (rank(other) > rank(first)) {
        *into = other;
        other = first;
    }
    if (!err)
        err = check_stacks(*into, other);
    if (!err)
        err = join_coverage(*into, other);
    if (!err) {
        join_observations(*into, other);
        join_images(*into, other);
        join_warnings(*into, other);
        join_process(*into, other);
    }
    evidence_destroy(other);
    return err;
}
