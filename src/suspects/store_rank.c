// SPDX-License-Identifier: Apache-2.0
/*
 * Ranking (store.h). The database counts: how many failing and passing runs have each code, once
 * for all runs, and then for the runs in which a chosen predictor is true. Those are subtracted
 * from what was counted before, so that elimination as a whole takes each run apart about once,
 * however many predictors are chosen. The same counts tell how many failing runs each other
 * predictor shares with the chosen one, which is what clusters go by.
 *
 * All of it happens in one transaction that sees the store as it was when it began and that leaves
 * nothing behind.
 */
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "common/error.h"
#include "suspects/report.h"
#include "suspects/store_internal.h"
#include "suspects/store_statistics.h"

#define DEFAULT_CONFIDENCE 0.95

// A chosen predictor.
struct head {
    uint32_t subject;
    double importance;
    uint64_t failing, passing; // runs that it was chosen for
    uint64_t whole;            // failing runs in which it is true
};

VEC_DEFINE(head_vec, struct head);

// What is known of a subject besides.
struct standing {
    struct counts whole;
    struct statistics statistics;
    bool is_predictor;
    // The head with which it fails together most, and how often; 0: with none.
    uint32_t head;
    uint64_t together, whole_head;
};

struct rank {
    struct store *store;
    const struct store_layout *layout;
    const struct store_rank_request *request;
    double z;
    struct cell_vec cells; // of the runs that are left
    struct subject_vec subjects;
    struct standing *standings; // by subject
    uint64_t failing, passing;  // runs that are left
    uint64_t *together;         // by cell: failing runs of the head
    struct head_vec heads;
};

static struct error *damaged(const struct store *store)
{
    return error_create_file(ERROR_FORMAT, store->name, "the store is damaged");
}

// ---- Counting

static int by_code(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;

    return (x->code > y->code) - (x->code < y->code);
}

static struct error *count_cells(struct store *store, const struct store_layout *layout,
                                 struct cell_vec *ret)
{
    struct store_value build = store_integer((uint64_t)layout->build);
    bool row = true;
    struct error *err = store_start(store, STATEMENT_TALLY, &build, 1);

    while (!err && !(err = store_step(store, &row)) && row) {
        int64_t code = store->backend->integer(store, 0);
        struct cell cell = {.code = (uint32_t)code,
                            .failing = (uint64_t)store->backend->integer(store, 1),
                            .passing = (uint64_t)store->backend->integer(store, 2)};
        if (!store_decode(layout, code, &cell.site, &cell.mask)) {
            store->backend->end(store);
            return damaged(store);
        }
        cell_vec_push(ret, cell);
    }
    if (ret->length)
        qsort(ret->data, ret->length, sizeof(*ret->data), by_code);
    return err;
}

// What a request is about: the build as it is at this moment, its layout and its cells.
static struct error *begin(struct store *store, const struct store_rank_request *request,
                           struct arena *arena, struct store_build *ret_build,
                           const struct store_layout **ret_layout)
{
    struct error *err = store_script(store, SCRIPT_READ);

    if (err)
        return err;
    err = store_choose(store, request, arena, ret_build);
    if (!err)
        err = store_layout(store, ret_build->build_id, ret_build->build_id_length, ret_layout);
    if (err)
        error_destroy(store_script(store, SCRIPT_ROLLBACK));
    return err;
}

static void end(struct store *store)
{
    error_destroy(store_script(store, SCRIPT_ROLLBACK));
}

static double quantile_of(const struct store_rank_request *request)
{
    double confidence = request->confidence > 0 ? request->confidence : DEFAULT_CONFIDENCE;

    assert(confidence < 1);
    return statistics_quantile(confidence);
}

// ---- Elimination

// The codes with which the subject is true.
static void codes_of(const struct rank *rank, const struct subject *subject, struct code_vec *ret)
{
    for (uint32_t i = subject->first; i < subject->first + subject->count; i++)
        if (rank->cells.data[i].mask & subject->mask)
            code_vec_push(ret, rank->cells.data[i].code);
}

// Puts the runs in which the subject is true aside.
static struct error *find_runs(struct rank *rank, const struct subject *subject)
{
    struct code_vec codes = VEC_INIT;
    struct error *err = store_execute(rank->store, STATEMENT_HIT_CLEAR, NULL, 0);

    if (err)
        return err;
    codes_of(rank, subject, &codes);
    struct store_value values[] = {
        store_integer((uint64_t)rank->layout->build),
        store_codes(codes.data, codes.length),
        store_integer(rank->request->elimination == STORE_DISCARD ? SUSPECTS_PASSED
                                                                  : SUSPECTS_FAILED),
    };
    err = store_execute(rank->store, STATEMENT_HIT, values, 3);
    code_vec_deinit(&codes);
    return err;
}

static struct cell *find_cell(const struct rank *rank, int64_t code)
{
    size_t low = 0, high = rank->cells.length;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rank->cells.data[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rank->cells.length && rank->cells.data[low].code == code ? &rank->cells.data[low]
                                                                          : NULL;
}

static bool subtract(const struct rank *rank, struct cell *cell, uint64_t failing, uint64_t passing)
{
    if (failing > cell->failing || passing > cell->passing)
        return false;
    cell->failing -= failing;
    if (rank->request->elimination == STORE_DISCARD)
        cell->passing -= passing;
    else if (rank->request->elimination == STORE_RELABEL)
        cell->passing += failing;
    return true;
}

// Takes those runs away.
static struct error *take_runs(struct rank *rank)
{
    struct store *store = rank->store;
    bool row = true;
    struct error *err = store_start(store, STATEMENT_HIT_TALLY, NULL, 0);

    memset(rank->together, 0, rank->cells.length * sizeof(*rank->together));
    while (!err && !(err = store_step(store, &row)) && row) {
        struct cell *cell = find_cell(rank, store->backend->integer(store, 0));
        if (!cell || !subtract(rank, cell, (uint64_t)store->backend->integer(store, 1),
                               (uint64_t)store->backend->integer(store, 2))) {
            store->backend->end(store);
            return damaged(store);
        }
        rank->together[cell - rank->cells.data] = (uint64_t)store->backend->integer(store, 3);
    }
    return err ? err : store_execute(store, STATEMENT_HIT_TAKE, NULL, 0);
}

// Whether a/b > c/d.
static bool is_more(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return (unsigned __int128)a * d > (unsigned __int128)c * b;
}

// Of the failing runs in which either is true, the share in which both are (Jaccard). The first of
// equal heads keeps a predictor.
static void join_predictors(struct rank *rank, uint32_t head)
{
    uint64_t whole_head = rank->heads.data[head].whole;

    for (size_t i = 0; i < rank->subjects.length; i++) {
        const struct subject *subject = &rank->subjects.data[i];
        struct standing *standing = &rank->standings[i];
        uint64_t together = 0;
        if (!standing->is_predictor)
            continue;
        for (uint32_t c = subject->first; c < subject->first + subject->count; c++)
            if (rank->cells.data[c].mask & subject->mask)
                together += rank->together[c];
        uint64_t whole = standing->whole.failing;
        if (together == 0 || (standing->together &&
                              !is_more(together, whole + whole_head - together, standing->together,
                                       whole + standing->whole_head - standing->together)))
            continue;
        standing->head = head;
        standing->together = together;
        standing->whole_head = whole_head;
    }
}

// The most important predictor of the runs that are left; false: there is none.
static bool choose(const struct rank *rank, struct head *ret)
{
    bool found = false;

    for (size_t i = 0; i < rank->subjects.length; i++) {
        struct counts counts;
        struct statistics statistics;
        if (!rank->subjects.data[i].is_strongest)
            continue;
        statistics_count(&rank->cells, &rank->subjects.data[i], &counts);
        statistics_compute(&counts, rank->failing, rank->passing, rank->z, &statistics);
        if (!statistics_predicts(&statistics) ||
            (found && statistics.importance <= ret->importance))
            continue;
        found = true;
        *ret = (struct head){.subject = (uint32_t)i,
                             .importance = statistics.importance,
                             .failing = counts.failing,
                             .passing = counts.passing,
                             .whole = rank->standings[i].whole.failing};
    }
    return found;
}

// One run alone that is left over says nothing.
static bool goes_on(const struct rank *rank)
{
    uint32_t most = rank->request->cluster_most;

    return rank->failing > (rank->heads.length ? 1 : 0) && (most == 0 || rank->heads.length < most);
}

static struct error *eliminate(struct rank *rank)
{
    struct store_value build = store_integer((uint64_t)rank->layout->build);
    struct head head = {0};
    struct error *err = store_script(rank->store, SCRIPT_SCRATCH);

    if (!err)
        err = store_execute(rank->store, STATEMENT_STAND, &build, 1);
    while (!err && goes_on(rank) && choose(rank, &head)) {
        if (rank->store->budget && budget_look(rank->store->budget))
            return budget_error(rank->store->budget);
        err = find_runs(rank, &rank->subjects.data[head.subject]);
        if (!err)
            err = take_runs(rank);
        if (err)
            break;
        rank->failing -= head.failing;
        if (rank->request->elimination == STORE_DISCARD)
            rank->passing -= head.passing;
        else if (rank->request->elimination == STORE_RELABEL)
            rank->passing += head.failing;
        head_vec_push(&rank->heads, head);
        join_predictors(rank, (uint32_t)rank->heads.length - 1);
    }
    return err;
}

static struct error *rank_runs(struct rank *rank, struct ranking *ranking)
{
    struct error *err = count_cells(rank->store, rank->layout, &rank->cells);

    if (err)
        return err;
    statistics_subjects(rank->layout, &rank->cells, &rank->subjects);
    rank->standings = xcalloc(rank->subjects.length, sizeof(*rank->standings));
    rank->together = xcalloc(rank->cells.length, sizeof(*rank->together));
    for (size_t i = 0; i < rank->subjects.length; i++) {
        struct standing *standing = &rank->standings[i];
        statistics_count(&rank->cells, &rank->subjects.data[i], &standing->whole);
        statistics_compute(&standing->whole, rank->failing, rank->passing, rank->z,
                           &standing->statistics);
        standing->is_predictor =
            rank->subjects.data[i].is_strongest && statistics_predicts(&standing->statistics);
        ranking->candidates += standing->whole.failing > 0;
    }
    return eliminate(rank);
}

// ---- Results

static void fill_predictor(const struct store_layout *layout, const struct subject *subject,
                           const struct counts *counts, const struct statistics *statistics,
                           struct predictor *ret)
{
    const struct suspects_sites_module *module;
    const struct suspects_site *site = store_site(layout, subject->site, &module);

    *ret = (struct predictor){
        .module_id = module->module_id,
        .site = (uint32_t)(site - module->sites),
        .predicate = subject->predicate,
        .kind = site->kind,
        .function = site->function,
        .node = suspects_predicate_node(site, subject->predicate),
        .function_name = suspects_site_string(module, site->function_name),
        .file = suspects_site_string(module, site->file),
        .left = suspects_site_string(module, site->left),
        .right = suspects_site_string(module, site->right),
        .line = site->line,
        .column = site->column,
        .flags = site->flags,
        .operator= site->operator,
        .constant = site->constant,
        .failing = counts->failing,
        .passing = counts->passing,
        .failing_observed = counts->failing_observed,
        .passing_observed = counts->passing_observed,
        .failure = statistics->failure,
        .context = statistics->context,
        .increase = statistics->increase,
        .increase_low = statistics->increase_low,
        .importance = statistics->importance,
        .ochiai = statistics->ochiai,
        .tarantula = statistics->tarantula,
        .redundant = subject->redundant,
    };
}

static void keep_predictor(const struct rank *rank, uint32_t subject, struct arena *arena,
                           struct predictor *ret)
{
    const struct standing *standing = &rank->standings[subject];

    fill_predictor(rank->layout, &rank->subjects.data[subject], &standing->whole,
                   &standing->statistics, ret);
    ret->function_name = arena_strdup(arena, ret->function_name);
    ret->file = arena_strdup(arena, ret->file);
    ret->left = arena_strdup(arena, ret->left);
    ret->right = arena_strdup(arena, ret->right);
}

static bool is_member(const struct rank *rank, uint32_t head, uint32_t subject)
{
    const struct standing *standing = &rank->standings[subject];

    for (size_t i = 0; i < rank->heads.length; i++)
        if (rank->heads.data[i].subject == subject)
            return false; // of another cluster, or of this as its head
    return standing->is_predictor && standing->together && standing->head == head;
}

// For sorting: a stable order by falling importance.
struct member {
    double importance;
    uint32_t subject;
};

VEC_DEFINE(member_vec, struct member);

static int by_importance(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->importance != y->importance)
        return x->importance < y->importance ? 1 : -1;
    return (x->subject > y->subject) - (x->subject < y->subject);
}

static void make_cluster(const struct rank *rank, uint32_t number, struct arena *arena,
                         struct cluster *ret)
{
    const struct head *head = &rank->heads.data[number];
    uint32_t most = rank->request->predictor_most;
    struct member_vec members = VEC_INIT;

    for (uint32_t i = 0; i < rank->subjects.length; i++)
        if (is_member(rank, number, i))
            member_vec_push(&members, (struct member){rank->standings[i].statistics.importance, i});
    if (members.length)
        qsort(members.data, members.length, sizeof(*members.data), by_importance);
    ret->failing = head->failing;
    ret->count = (uint32_t)members.length + 1;
    if (most && ret->count > most)
        ret->count = most;
    ret->predictors = arena_alloc_array(arena, ret->count, struct predictor);
    keep_predictor(rank, head->subject, arena, &ret->predictors[0]);
    ret->predictors[0].head_importance = head->importance;
    ret->predictors[0].head_failing = head->failing;
    for (uint32_t i = 1; i < ret->count; i++)
        keep_predictor(rank, members.data[i - 1].subject, arena, &ret->predictors[i]);
    member_vec_deinit(&members);
}

static void make_clusters(const struct rank *rank, struct ranking *ret)
{
    ret->unexplained = ret->failing;
    ret->cluster_count = (uint32_t)rank->heads.length;
    ret->clusters = arena_alloc_array(&ret->arena, rank->heads.length, struct cluster);
    for (uint32_t i = 0; i < ret->cluster_count; i++) {
        make_cluster(rank, i, &ret->arena, &ret->clusters[i]);
        ret->unexplained -= ret->clusters[i].failing;
    }
}

static void rank_deinit(struct rank *rank)
{
    cell_vec_deinit(&rank->cells);
    subject_vec_deinit(&rank->subjects);
    head_vec_deinit(&rank->heads);
    free(rank->standings);
    free(rank->together);
}

static struct error *rank_within(struct store *store, const struct store_rank_request *request,
                                 struct ranking *ranking)
{
    struct rank rank = {.store = store, .request = request, .z = quantile_of(request)};
    struct error *err = begin(store, request, &ranking->arena, &ranking->build, &rank.layout);

    if (err)
        return err;
    rank.failing = ranking->failing = ranking->build.failed;
    rank.passing = ranking->passing = ranking->build.passed;
    err = rank_runs(&rank, ranking);
    end(store);
    ranking->complete = !err;
    if (err && err->code == ERROR_LIMIT && store->budget && store->budget->state != BUDGET_LEFT) {
        error_destroy(err);
        err = NULL;
    }
    if (!err)
        make_clusters(&rank, ranking);
    rank_deinit(&rank);
    return err;
}

struct error *store_rank(struct store *store, const struct store_rank_request *request,
                         struct budget *budget, struct ranking *ret)
{
    struct ranking ranking = {.arena = ARENA_INIT};

    store->budget = budget;
    struct error *err = rank_within(store, request, &ranking);
    store->budget = NULL;
    if (err) {
        ranking_deinit(&ranking);
        return err;
    }
    *ret = ranking;
    return NULL;
}

void ranking_deinit(struct ranking *ranking)
{
    arena_deinit(&ranking->arena);
}

// ---- Everything

struct error *store_each(struct store *store, const struct store_rank_request *request,
                         void (*each)(void *context, const struct predictor *predictor),
                         void *context)
{
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct cell_vec cells = VEC_INIT;
    struct subject_vec subjects = VEC_INIT;
    struct store_build build;
    const struct store_layout *layout;
    double z = quantile_of(request);
    struct error *err = begin(store, request, &arena, &build, &layout);

    if (err)
        return err;
    err = count_cells(store, layout, &cells);
    end(store);
    if (!err)
        statistics_subjects(layout, &cells, &subjects);
    for (size_t i = 0; i < subjects.length; i++) {
        struct counts counts;
        struct statistics statistics;
        struct predictor predictor;
        statistics_count(&cells, &subjects.data[i], &counts);
        statistics_compute(&counts, build.failed, build.passed, z, &statistics);
        fill_predictor(layout, &subjects.data[i], &counts, &statistics, &predictor);
        each(context, &predictor);
    }
    cell_vec_deinit(&cells);
    subject_vec_deinit(&subjects);
    return err;
}

VEC_DEFINE(run_frame_vec, struct suspects_frame);

static void read_run(struct store *store, struct run_frame_vec *frames, struct store_run *ret)
{
    const struct store_backend *backend = store->backend;
    size_t length;
    const void *data = backend->bytes(store, 0, &length);

    *ret = (struct store_run){
        .outcome = (uint32_t)backend->integer(store, 1),
        .signal = (uint32_t)backend->integer(store, 2),
        .exit_status = (uint32_t)backend->integer(store, 3),
        .rate = (uint64_t)backend->integer(store, 4),
        .start = (uint64_t)backend->integer(store, 5),
    };
    memcpy(ret->run_id, data, length < sizeof(ret->run_id) ? length : sizeof(ret->run_id));
    data = backend->bytes(store, 6, &length);
    run_frame_vec_resize(frames, length / sizeof(*frames->data));
    if (frames->length)
        memcpy(frames->data, data, frames->length * sizeof(*frames->data));
    ret->frames = frames->data;
    ret->frame_count = (uint32_t)frames->length;
}

struct error *store_each_run(struct store *store, const struct store_rank_request *request,
                             void (*each)(void *context, const struct store_run *run),
                             void *context)
{
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct run_frame_vec frames = VEC_INIT;
    struct store_build build;
    const struct store_layout *layout;
    bool row = true;
    struct error *err = begin(store, request, &arena, &build, &layout);

    if (err)
        return err;
    struct store_value value = store_integer((uint64_t)layout->build);
    err = store_start(store, STATEMENT_RUNS, &value, 1);
    while (!err && !(err = store_step(store, &row)) && row) {
        struct store_run run;
        read_run(store, &frames, &run);
        each(context, &run);
    }
    end(store);
    run_frame_vec_deinit(&frames);
    return err;
}
