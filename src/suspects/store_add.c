// SPDX-License-Identifier: Apache-2.0
// Reports into rows, and rows from one store into another.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "suspects/report.h"
#include "suspects/store_internal.h"

// Columns of STATEMENT_RUN_ADD, and of STATEMENT_RUNS_ALL.
enum {
    RUN_ID,
    RUN_BUILD,
    RUN_OUTCOME,
    RUN_SIGNAL,
    RUN_EXIT_STATUS,
    RUN_RATE,
    RUN_SEED,
    RUN_START,
    RUN_FRAMES,
    RUN_CODES,
    RUN_COUNTS,
    RUN_COLUMNS,
};

// Rows that a merge writes at once.
#define MERGE_ROWS 500

// ---- One report

// Seven bits a byte, least significant first; the high bit says that more follow.
static void put_varint(struct strbuf *out, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        strbuf_append_char(out, (char)(value | 0x80));
    strbuf_append_char(out, (char)value);
}

// The site that has the counter, from `from` on.
static uint32_t site_of(const struct suspects_sites_module *module, uint32_t from, uint32_t counter)
{
    uint32_t low = from, high = module->site_count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (module->sites[middle].first_counter <= counter)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct error *check_counts(const struct suspects_report *report,
                                  const struct suspects_report_module *module)
{
    const char *what = NULL;

    if (module->first > report->count_count || module->count > report->count_count - module->first)
        return error_create(ERROR_FORMAT, "module 0x%" PRIx64 " has counters beyond the report's",
                            module->module_id);
    const struct suspects_count *counts = report->counts + module->first;
    for (uint32_t i = 0; i < module->count && !what; i++) {
        if (counts[i].counter >= module->counter_count)
            what = "is not one of its module's";
        else if (counts[i].value == 0)
            what = "is 0";
        else if (i && counts[i].counter <= counts[i - 1].counter)
            what = "is out of order";
        if (what)
            return error_create(ERROR_FORMAT, "counter %" PRIu32 " of module 0x%" PRIx64 " %s",
                                counts[i].counter, module->module_id, what);
    }
    return NULL;
}

static struct error *find_module(const struct store_layout *layout,
                                 const struct suspects_report_module *module,
                                 const struct suspects_sites_module **ret)
{
    *ret = suspects_sites_find(layout->sites, module->module_id);
    if (!*ret)
        return error_create(ERROR_FORMAT, "the build has no module 0x%" PRIx64, module->module_id);
    if ((*ret)->counter_count != module->counter_count)
        return error_create(ERROR_FORMAT,
                            "module 0x%" PRIx64 " has %" PRIu32 " counters in the build, %" PRIu32
                            " in the report",
                            module->module_id, (*ret)->counter_count, module->counter_count);
    return NULL;
}

static void put_codes(const struct store_layout *layout, const struct suspects_sites_module *sites,
                      const struct suspects_count *counts, uint32_t count, struct code_vec *codes,
                      struct strbuf *values)
{
    uint32_t first = layout->first_site[sites - layout->sites->modules];

    for (uint32_t i = 0, site = 0; i < count;) {
        site = site_of(sites, site, counts[i].counter);
        uint32_t start = sites->sites[site].first_counter, mask = 0;
        uint32_t end = start + suspects_counters(sites->sites[site].kind);
        for (; i < count && counts[i].counter < end; i++) {
            mask |= 1u << (counts[i].counter - start);
            put_varint(values, counts[i].value);
        }
        code_vec_push(codes, layout->first_code[first + site] + mask - 1);
    }
}

static int by_module(const void *a, const void *b)
{
    const struct suspects_report_module *x = *(const struct suspects_report_module *const *)a;
    const struct suspects_report_module *y = *(const struct suspects_report_module *const *)b;

    return (x->module_id > y->module_id) - (x->module_id < y->module_id);
}

static struct error *encode_counts(const struct store_layout *layout,
                                   const struct suspects_report *report, struct arena *arena,
                                   struct code_vec *codes, struct strbuf *values)
{
    const struct suspects_report_module **modules =
        arena_alloc_array(arena, report->module_count, const struct suspects_report_module *);

    for (uint32_t m = 0; m < report->module_count; m++)
        modules[m] = &report->modules[m];
    qsort(modules, report->module_count, sizeof(modules[0]), by_module);
    for (uint32_t m = 0; m < report->module_count; m++) {
        const struct suspects_sites_module *sites;
        struct error *err = find_module(layout, modules[m], &sites);
        if (!err && m && modules[m]->module_id == modules[m - 1]->module_id)
            err = error_create(ERROR_FORMAT, "module 0x%" PRIx64 " is there twice",
                               modules[m]->module_id);
        if (!err)
            err = check_counts(report, modules[m]);
        if (err)
            return err;
        put_codes(layout, sites, report->counts + modules[m]->first, modules[m]->count, codes,
                  values);
    }
    return NULL;
}

static struct store_value kept_bytes(struct arena *arena, const void *data, size_t length)
{
    return store_bytes(length ? arena_memdup(arena, data, length) : NULL, length);
}

static struct store_value kept_codes(struct arena *arena, const struct code_vec *codes)
{
    size_t size = codes->length * sizeof(*codes->data);

    return store_codes(size ? arena_memdup(arena, codes->data, size) : NULL, codes->length);
}

// The row of a report; what it refers to is in the arena.
static struct error *make_row(const struct store_layout *layout,
                              const struct suspects_report *report, struct arena *arena,
                              struct store_value row[RUN_COLUMNS])
{
    struct code_vec codes = VEC_INIT;
    _cleanup_strbuf_ struct strbuf values = STRBUF_INIT;
    struct error *err = NULL;

    if (report->outcome > SUSPECTS_FAILED)
        err = error_create(ERROR_FORMAT, "its outcome is none that there is");
    if (!err)
        err = encode_counts(layout, report, arena, &codes, &values);
    if (!err) {
        row[RUN_ID] = kept_bytes(arena, report->run_id, sizeof(report->run_id));
        row[RUN_BUILD] = store_integer((uint64_t)layout->build);
        row[RUN_OUTCOME] = store_integer(report->outcome);
        row[RUN_SIGNAL] = store_integer(report->signal);
        row[RUN_EXIT_STATUS] = store_integer(report->exit_status);
        row[RUN_RATE] = store_integer(report->rate);
        row[RUN_SEED] = store_integer(report->seed);
        row[RUN_START] = store_integer(report->start);
        row[RUN_FRAMES] =
            kept_bytes(arena, report->frames, report->frame_count * sizeof(*report->frames));
        row[RUN_CODES] = kept_codes(arena, &codes);
        row[RUN_COUNTS] = kept_bytes(arena, values.data, values.length);
    }
    code_vec_deinit(&codes);
    return err;
}

// ---- Adding

static int by_run_id(const void *a, const void *b)
{
    const struct suspects_report *x = **(const struct suspects_report *const *const *)a;
    const struct suspects_report *y = **(const struct suspects_report *const *const *)b;

    return memcmp(x->run_id, y->run_id, sizeof(x->run_id));
}

static struct error *write_rows(struct store *store, const struct store_value *rows, size_t count,
                                bool *ret_added)
{
    struct error *err = store_script(store, SCRIPT_WRITE);

    if (err)
        return err;
    return store_finish(store, store->backend->change_many(store, STATEMENT_RUN_ADD, rows,
                                                           RUN_COLUMNS, count, ret_added));
}

// Rows of the reports that fit, in the given order; `which`: the number of each. Refusals go to
// ret; an error is the store's own.
static struct error *make_rows(struct store *store, const struct suspects_report *const **order,
                               const struct suspects_report *const *reports, size_t count,
                               struct arena *arena, struct store_value *rows, size_t *which,
                               size_t *ret_rows, struct store_added *ret)
{
    *ret_rows = 0;
    for (size_t i = 0; i < count; i++) {
        const struct suspects_report *report = *order[i];
        const struct store_layout *layout;
        struct error *err = store_layout(store, report->build_id, report->build_id_length, &layout);
        if (err && err->code != ERROR_NOT_FOUND)
            return err;
        if (!err)
            err = make_row(layout, report, arena, rows + *ret_rows * RUN_COLUMNS);
        ret[order[i] - reports].refused = err;
        if (!err)
            which[(*ret_rows)++] = (size_t)(order[i] - reports);
    }
    return NULL;
}

struct error *store_add_many(struct store *store, const struct suspects_report *const *reports,
                             size_t count, struct store_added *ret)
{
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    // All writers go by run_id, so that two with the same reports do not wait for each other.
    const struct suspects_report *const **order =
        arena_alloc_array(&arena, count, const struct suspects_report *const *);
    struct store_value *rows = arena_alloc_array(&arena, count * RUN_COLUMNS, struct store_value);
    size_t *which = arena_alloc_array(&arena, count, size_t);
    bool *added = arena_alloc_array(&arena, count, bool);
    size_t row_count;

    assert(store->mode != STORE_READ);
    for (size_t i = 0; i < count; i++) {
        order[i] = &reports[i];
        ret[i] = (struct store_added){STORE_KNOWN, NULL};
    }
    qsort(order, count, sizeof(*order), by_run_id);
    struct error *err =
        make_rows(store, order, reports, count, &arena, rows, which, &row_count, ret);
    if (!err && row_count)
        err = write_rows(store, rows, row_count, added);
    for (size_t i = 0; err && i < count; i++) {
        error_destroy(ret[i].refused);
        ret[i].refused = NULL;
    }
    for (size_t i = 0; !err && i < row_count; i++)
        if (added[i])
            ret[which[i]].result = STORE_ADDED;
    return err;
}

struct error *store_add(struct store *store, const struct suspects_report *report,
                        enum store_result *ret)
{
    struct store_added added;
    struct error *err = store_add_many(store, &report, 1, &added);

    if (!err)
        err = added.refused;
    if (!err)
        *ret = added.result;
    return err;
}

// ---- Merging

// One build of the other store, and its number here.
struct merged_build {
    const struct store_layout *there;
    int64_t here;
};

struct merge {
    struct store *to, *from;
    struct merged_build *builds;
    uint32_t build_count;
    struct arena rows_arena;
    struct store_value *rows;
    size_t row_count;
    uint64_t added, known;
};

static struct error *merge_builds(struct merge *merge, struct arena *arena)
{
    struct store_build *builds;
    struct error *err = store_builds(merge->from, arena, &builds, &merge->build_count);

    if (err)
        return err;
    merge->builds = arena_alloc_array(arena, merge->build_count, struct merged_build);
    for (uint32_t i = 0; i < merge->build_count && !err; i++) {
        const struct store_layout *here;
        err = store_layout(merge->from, builds[i].build_id, builds[i].build_id_length,
                           &merge->builds[i].there);
        if (!err)
            err = store_add_build(merge->to, merge->builds[i].there->sites);
        if (!err)
            err = store_layout(merge->to, builds[i].build_id, builds[i].build_id_length, &here);
        if (!err)
            merge->builds[i].here = here->build;
    }
    return err;
}

static struct error *flush_rows(struct merge *merge)
{
    bool added[MERGE_ROWS];
    struct error *err =
        merge->row_count ? write_rows(merge->to, merge->rows, merge->row_count, added) : NULL;

    for (size_t i = 0; i < merge->row_count && !err; i++)
        *(added[i] ? &merge->added : &merge->known) += 1;
    merge->row_count = 0;
    arena_clear(&merge->rows_arena);
    return err;
}

static bool are_codes(const struct store_layout *layout, const struct code_vec *codes)
{
    for (size_t i = 0; i < codes->length; i++)
        if (codes->data[i] >= layout->first_code[layout->site_count] ||
            (i && codes->data[i] <= codes->data[i - 1]))
            return false;
    return true;
}

// The row that the other store stands at.
static struct error *merge_row(struct merge *merge, struct code_vec *codes)
{
    static const int bytes[] = {RUN_ID, RUN_FRAMES, RUN_COUNTS};
    const struct store_backend *from = merge->from->backend;
    struct store_value *row = merge->rows + merge->row_count * RUN_COLUMNS;
    const struct merged_build *build = NULL;

    for (unsigned i = RUN_BUILD; i <= RUN_START; i++)
        row[i] = store_integer((uint64_t)from->integer(merge->from, i));
    for (uint32_t i = 0; i < merge->build_count; i++)
        if (merge->builds[i].there->build == row[RUN_BUILD].integer)
            build = &merge->builds[i];
    for (unsigned i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        size_t length;
        const void *data = from->bytes(merge->from, (unsigned)bytes[i], &length);
        row[bytes[i]] = kept_bytes(&merge->rows_arena, data, length);
    }
    struct error *err = from->codes(merge->from, RUN_CODES, codes);
    if (!err && (!build || !are_codes(build->there, codes)))
        err = error_create_file(ERROR_FORMAT, merge->from->name, "the store is damaged");
    if (err)
        return err;
    row[RUN_BUILD] = store_integer((uint64_t)build->here);
    row[RUN_CODES] = kept_codes(&merge->rows_arena, codes);
    return ++merge->row_count == MERGE_ROWS ? flush_rows(merge) : NULL;
}

static struct error *merge_runs(struct merge *merge)
{
    struct code_vec codes = VEC_INIT;
    bool row = true;
    struct error *err = store_start(merge->from, STATEMENT_RUNS_ALL, NULL, 0);

    while (!err && !(err = store_step(merge->from, &row)) && row) {
        err = merge_row(merge, &codes);
        if (err)
            merge->from->backend->end(merge->from);
    }
    code_vec_deinit(&codes);
    return err ? err : flush_rows(merge);
}

struct error *store_merge(struct store *store, struct store *other, uint64_t *added,
                          uint64_t *known)
{
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct merge merge = {.to = store, .from = other, .rows_arena = ARENA_INIT};

    assert(store != other && store->mode != STORE_READ);
    merge.rows = arena_alloc_array(&arena, (size_t)MERGE_ROWS * RUN_COLUMNS, struct store_value);
    struct error *err = store_script(other, SCRIPT_READ);
    if (err)
        return err;
    err = merge_builds(&merge, &arena);
    if (!err)
        err = merge_runs(&merge);
    err = store_finish(other, err);
    arena_deinit(&merge.rows_arena);
    if (err)
        return err;
    *added = merge.added;
    *known = merge.known;
    return NULL;
}
