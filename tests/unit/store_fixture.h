// SPDX-License-Identifier: Apache-2.0
/*
 * Made-up programs and runs for the tests of stores. Everything follows from a shape, a seed and
 * the number of a run, which its run_id holds: a run found in a store can be made again and
 * compared.
 *
 *     struct fixture fixture;
 *     fixture_init(&fixture, "plain", 1);
 *     struct suspects_report *report = fixture_report(&fixture, 17);
 *
 * Some sites belong to bugs: in a run that has the bug one counter of the site is not 0, if it was
 * sampled, and the run mostly fails.
 */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "suspects/report.h"
#include "suspects/sites.h"

struct fixture_shape {
    const char *name;
    uint32_t modules, sites, runs;
    uint32_t bugs;
    uint32_t patterns;   // runs are so many different ones only, over and over; 0: all differ
    unsigned observed;   // per mille of the sites that a run samples
    unsigned bug;        // per mille of the runs that have a given bug
    unsigned noise;      // per mille of the others that fail
    uint32_t fails_only; // outcome: 0 as it comes; else: 1 none, 2 all, 3 the first run only
};

static const struct fixture_shape fixture_shapes[] = {
    {"plain", 2, 40, 300, 2, 0, 500, 150, 10, 0}, {"three", 3, 120, 600, 4, 0, 300, 80, 20, 0},
    {"ties", 1, 24, 200, 2, 7, 600, 300, 0, 0},   {"rare", 2, 200, 400, 3, 0, 30, 150, 30, 0},
    {"one", 1, 60, 120, 1, 0, 80, 100, 0, 3},     {"nofail", 1, 30, 80, 1, 0, 400, 100, 0, 1},
    {"nopass", 1, 30, 80, 1, 0, 400, 100, 0, 2},  {"same", 2, 20, 60, 1, 1, 700, 500, 0, 0},
    {"noise", 2, 60, 300, 0, 0, 300, 0, 300, 0},  {"few", 1, 3, 8, 1, 0, 700, 400, 100, 0},
    {"bench", 4, 3000, 0, 5, 0, 0, 20, 5, 0},
};

struct fixture {
    const struct fixture_shape *shape;
    uint64_t seed;
    struct suspects_sites sites;
};

static inline uint64_t fixture_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return hash_mix(*state);
}

static inline uint32_t fixture_below(uint64_t *state, uint32_t end)
{
    return (uint32_t)((fixture_next(state) >> 32) * end >> 32);
}

static inline bool fixture_chance(uint64_t *state, unsigned mille)
{
    return fixture_below(state, 1000) < mille;
}

// ---- The program

static inline void fixture_module(struct fixture *fixture, uint32_t number, uint64_t *state,
                                  struct suspects_sites_module *ret)
{
    const struct fixture_shape *shape = fixture->shape;
    static const char strings[] = "\0left\0right\0file.c\0function";
    struct suspects_site *sites = xcalloc(shape->sites, sizeof(*sites));
    uint32_t counter = 0, predicate = 0;
    // A branch for a pair gives 10,000 predicates of 3,000 sites.
    bool is_bench = strcmp(shape->name, "bench") == 0;
    uint32_t count = shape->sites / shape->modules;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = is_bench ? (i % 3 ? SUSPECTS_BRANCH : SUSPECTS_PAIR)
                                 : 1 + fixture_below(state, SUSPECTS_KIND_COUNT - 1);
        sites[i] = (struct suspects_site){.kind = kind,
                                          .function = i / 4,
                                          .node = i,
                                          .node_false = i + 1,
                                          .node_true = i + 2,
                                          .line = 10 + i,
                                          .column = number,
                                          .left = 1,
                                          .right = 6,
                                          .file = 12,
                                          .function_name = 19,
                                          .first_counter = counter,
                                          .first_predicate = predicate,
                                          .constant = -(int64_t)i};
        counter += suspects_counters(kind);
        predicate += suspects_predicates(kind);
    }
    *ret = (struct suspects_sites_module){
        .module_id = (UINT64_C(0x4000000000000000) * number + 77) ^ (fixture->seed << 8),
        .sites = sites,
        .site_count = count,
        .counter_count = counter,
        .predicate_count = predicate,
        .strings = strings,
        .string_length = sizeof(strings)};
}

static inline void fixture_init(struct fixture *fixture, const char *shape, uint64_t seed)
{
    uint64_t state = seed * 2 + 1;

    memset(fixture, 0, sizeof(*fixture));
    for (size_t i = 0; i < sizeof(fixture_shapes) / sizeof(fixture_shapes[0]); i++)
        if (strcmp(fixture_shapes[i].name, shape) == 0)
            fixture->shape = &fixture_shapes[i];
    if (!fixture->shape) {
        fprintf(stderr, "no shape '%s'\n", shape);
        exit(2);
    }
    fixture->seed = seed;
    fixture->sites.module_count = fixture->shape->modules;
    fixture->sites.modules = xcalloc(fixture->shape->modules, sizeof(*fixture->sites.modules));
    for (uint32_t m = 0; m < fixture->shape->modules; m++)
        fixture_module(fixture, m, &state, &fixture->sites.modules[m]);
    fixture->sites.build_id_length = 20;
    for (unsigned i = 0; i < 20; i++)
        fixture->sites.build_id[i] = (uint8_t)fixture_next(&state);
    fixture->sites.path = xstrdup("prog");
}

static inline void fixture_deinit(struct fixture *fixture)
{
    for (uint32_t m = 0; m < fixture->sites.module_count; m++)
        free((void *)fixture->sites.modules[m].sites);
    free(fixture->sites.modules);
    free(fixture->sites.path);
}

// ---- A run

struct fixture_bug {
    uint32_t module, site, counter;
    bool is_here, is_seen;
};

static inline void fixture_bugs(const struct fixture *fixture, uint64_t *run,
                                struct fixture_bug *ret)
{
    for (uint32_t b = 0; b < fixture->shape->bugs; b++) {
        uint64_t state = fixture->seed * 1000 + b;
        ret[b].module = fixture_below(&state, fixture->sites.module_count);
        const struct suspects_sites_module *module = &fixture->sites.modules[ret[b].module];
        ret[b].site = fixture_below(&state, module->site_count);
        ret[b].counter = fixture_below(&state, suspects_counters(module->sites[ret[b].site].kind));
        ret[b].is_here = fixture_chance(run, fixture->shape->bug);
        ret[b].is_seen = fixture_chance(run, 800);
    }
}

// The counters of a site in a run, as a set.
static inline uint32_t fixture_mask(const struct fixture *fixture, const struct fixture_bug *bugs,
                                    uint32_t m, uint32_t s, unsigned observed, uint64_t *state)
{
    uint32_t kind = fixture->sites.modules[m].sites[s].kind, mask = 0;

    if (fixture_chance(state, observed))
        mask = 1u << fixture_below(state, suspects_counters(kind));
    if (mask && fixture_chance(state, 300))
        mask |= 1u << fixture_below(state, suspects_counters(kind));
    for (uint32_t b = 0; b < fixture->shape->bugs; b++)
        if (bugs[b].module == m && bugs[b].site == s) {
            mask &= ~(1u << bugs[b].counter);
            if (bugs[b].is_here && bugs[b].is_seen)
                mask |= 1u << bugs[b].counter;
        }
    return mask;
}

static inline void fixture_counts(const struct fixture *fixture, const struct fixture_bug *bugs,
                                  uint64_t *state, struct suspects_report *report)
{
    unsigned observed = fixture->shape->observed ? fixture->shape->observed : 27;
    uint32_t all = 0, count = 0;

    for (uint32_t m = 0; m < fixture->sites.module_count; m++)
        all += fixture->sites.modules[m].counter_count;
    report->modules = xcalloc(fixture->sites.module_count, sizeof(*report->modules));
    report->module_count = fixture->sites.module_count;
    report->counts = xmalloc_array(all, sizeof(*report->counts));
    for (uint32_t m = 0; m < fixture->sites.module_count; m++) {
        const struct suspects_sites_module *module = &fixture->sites.modules[m];
        report->modules[m] = (struct suspects_report_module){
            .module_id = module->module_id, .counter_count = module->counter_count, .first = count};
        for (uint32_t s = 0; s < module->site_count; s++) {
            uint32_t mask = fixture_mask(fixture, bugs, m, s, observed, state);
            for (uint32_t c = 0; mask >> c; c++)
                if (mask >> c & 1)
                    report->counts[count++] = (struct suspects_count){
                        module->sites[s].first_counter + c, 1 + fixture_below(state, 300)};
        }
        report->modules[m].count = count - report->modules[m].first;
    }
    report->count_count = count;
}

static inline enum suspects_outcome fixture_outcome(const struct fixture *fixture,
                                                    const struct fixture_bug *bugs, uint64_t number,
                                                    uint64_t *state)
{
    bool fails = fixture_chance(state, fixture->shape->noise);

    for (uint32_t b = 0; b < fixture->shape->bugs; b++)
        fails |= bugs[b].is_here && fixture_chance(state, 900);
    if (fixture->shape->fails_only == 3)
        fails = number == 0;
    else if (fixture->shape->fails_only)
        fails = fixture->shape->fails_only == 2;
    if (number && number % 23 == 22)
        return SUSPECTS_UNKNOWN;
    return fails ? SUSPECTS_FAILED : SUSPECTS_PASSED;
}

static inline struct suspects_report *fixture_report(const struct fixture *fixture, uint64_t number)
{
    struct suspects_report *report = xcalloc(1, sizeof(*report));
    struct fixture_bug bugs[8];
    uint64_t same = fixture->shape->patterns ? number % fixture->shape->patterns : number;
    uint64_t state = fixture->seed * 1000003 + same * 7919;

    fixture_bugs(fixture, &state, bugs);
    fixture_counts(fixture, bugs, &state, report);
    report->outcome = fixture_outcome(fixture, bugs, number, &state);
    // The number comes scattered, so that order of arrival and order by run_id differ.
    uint64_t scattered = hash_mix(number + 1);
    memcpy(report->run_id, &scattered, 8);
    memcpy(report->run_id + 8, &number, 8);
    memcpy(report->build_id, fixture->sites.build_id, fixture->sites.build_id_length);
    report->build_id_length = fixture->sites.build_id_length;
    report->signal = report->outcome == SUSPECTS_FAILED ? 11 : 0;
    report->rate = 1 + number % 3 * 100;
    report->seed = number;
    report->start = UINT64_C(1700000000000000000) + number;
    report->frame_count = report->signal ? (uint32_t)(number % 4) : 0;
    report->frames = xcalloc(report->frame_count, sizeof(*report->frames));
    for (uint32_t f = 0; f < report->frame_count; f++)
        report->frames[f] = (struct suspects_frame){fixture->sites.modules[0].module_id, f,
                                                    f == 2 ? SUSPECTS_NONE : (uint32_t)number};
    return report;
}

static inline uint64_t fixture_number(const uint8_t run_id[16])
{
    uint64_t number;

    memcpy(&number, run_id + 8, sizeof(number));
    return number;
}

#endif
