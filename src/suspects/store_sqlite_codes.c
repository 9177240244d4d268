// SPDX-License-Identifier: Apache-2.0
/*
 * What SQLite lacks: arrays, and counting without sorting. A run's codes are 32-bit numbers,
 * ascending, in a BLOB.
 *
 *     inquest_overlap(codes, codes)   whether they share one
 *     inquest_tally(codes, class)     an aggregate: for each code how many rows of each class had
 * it; a class is a set of three, as bits inquest_counts(tally)           the table of that: code,
 * n1, n2, n3, ascending by code
 */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/map.h"
#include "suspects/store_internal.h"

enum {
    CLASSES = 3,
};

// A row of a tally; a tally is many of them in a BLOB.
struct tally_row {
    uint64_t code;
    uint64_t counts[CLASSES];
};

struct tally_counts {
    uint64_t counts[CLASSES];
};

MAP_DEFINE_U64(tally_map, struct tally_counts);

static uint32_t code_at(const unsigned char *codes, size_t index)
{
    uint32_t code;

    memcpy(&code, codes + index * sizeof(code), sizeof(code));
    return code;
}

// ---- inquest_overlap

static bool holds(const unsigned char *codes, size_t count, uint32_t code)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code_at(codes, middle) < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && code_at(codes, low) == code;
}

static void overlap(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const unsigned char *run = sqlite3_value_blob(values[0]);
    size_t run_count = (size_t)sqlite3_value_bytes(values[0]) / sizeof(uint32_t);
    const unsigned char *wanted = sqlite3_value_blob(values[1]);
    size_t wanted_count = (size_t)sqlite3_value_bytes(values[1]) / sizeof(uint32_t);
    bool found = false;

    for (size_t i = 0; i < wanted_count && run_count && !found; i++)
        found = holds(run, run_count, code_at(wanted, i));
    sqlite3_result_int(context, found);
}

// ---- inquest_tally

static void tally_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    struct tally_map *map = sqlite3_aggregate_context(context, sizeof(*map)); // zeros at first
    const unsigned char *codes = sqlite3_value_blob(values[0]);
    size_t code_count = (size_t)sqlite3_value_bytes(values[0]) / sizeof(uint32_t);
    uint64_t class = (uint64_t)sqlite3_value_int64(values[1]);

    if (!map) {
        sqlite3_result_error_nomem(context);
        return;
    }
    for (size_t i = 0; i < code_count; i++) {
        struct tally_counts *here = tally_map_put(map, code_at(codes, i));
        for (unsigned c = 0; c < CLASSES; c++)
            here->counts[c] += class >> c & 1;
    }
}

static void tally_final(sqlite3_context *context)
{
    struct tally_map *map = sqlite3_aggregate_context(context, 0);

    if (!map)
        return;
    struct tally_row *rows = xmalloc_array(map->length, sizeof(*rows));
    size_t count = 0;
    MAP_FOREACH (tally_map, map, entry) {
        rows[count].code = entry->key;
        memcpy(rows[count++].counts, entry->value.counts, sizeof(rows->counts));
    }
    tally_map_deinit(map);
    sqlite3_result_blob64(context, rows, count * sizeof(*rows), free);
}

// ---- inquest_counts

enum {
    COLUMN_CODE,
    COLUMN_TALLY = 1 + CLASSES, // the argument
};

VEC_DEFINE(tally_vec, struct tally_row);

struct counts_cursor {
    sqlite3_vtab_cursor base; // first
    struct tally_vec rows;
    size_t at;
};

static int counts_connect(sqlite3 *database, void *context, int count, const char *const *arguments,
                          sqlite3_vtab **ret, char **ret_message)
{
    (void)context, (void)count, (void)arguments, (void)ret_message;
    int code = sqlite3_declare_vtab(
        database,
        "CREATE TABLE counts (code INTEGER, n1 INTEGER, n2 INTEGER, n3 INTEGER, tally HIDDEN)");

    if (code == SQLITE_OK)
        *ret = xcalloc(1, sizeof(**ret));
    return code;
}

static int counts_disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

// Only with its argument is it a table.
static int counts_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != COLUMN_TALLY ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ || !info->aConstraint[i].usable)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
}

static int counts_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
    (void)table;
    struct counts_cursor *cursor = xcalloc(1, sizeof(*cursor));
    *ret = &cursor->base;
    return SQLITE_OK;
}

static int counts_close(sqlite3_vtab_cursor *base)
{
    struct counts_cursor *cursor = (struct counts_cursor *)base;

    tally_vec_deinit(&cursor->rows);
    free(cursor);
    return SQLITE_OK;
}

static int counts_filter(sqlite3_vtab_cursor *base, int index, const char *name, int count,
                         sqlite3_value **values)
{
    (void)index, (void)name, (void)count;
    struct counts_cursor *cursor = (struct counts_cursor *)base;
    const void *data = sqlite3_value_blob(values[0]);
    size_t length = data ? (size_t)sqlite3_value_bytes(values[0]) / sizeof(struct tally_row) : 0;

    tally_vec_resize(&cursor->rows, length);
    if (length)
        memcpy(cursor->rows.data, data, length * sizeof(struct tally_row));
    cursor->at = 0;
    return SQLITE_OK;
}

static int counts_next(sqlite3_vtab_cursor *base)
{
    ((struct counts_cursor *)base)->at++;
    return SQLITE_OK;
}

static int counts_eof(sqlite3_vtab_cursor *base)
{
    const struct counts_cursor *cursor = (struct counts_cursor *)base;

    return cursor->at >= cursor->rows.length;
}

static int counts_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct counts_cursor *cursor = (struct counts_cursor *)base;
    const struct tally_row *row = &cursor->rows.data[cursor->at];

    if (column == COLUMN_CODE)
        sqlite3_result_int64(context, (sqlite3_int64)row->code);
    else if (column < COLUMN_TALLY)
        sqlite3_result_int64(context, (sqlite3_int64)row->counts[column - 1]);
    return SQLITE_OK;
}

static int counts_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)((struct counts_cursor *)base)->at;
    return SQLITE_OK;
}

static const sqlite3_module counts_module = {
    .xConnect = counts_connect,
    .xBestIndex = counts_best_index,
    .xDisconnect = counts_disconnect,
    .xOpen = counts_open,
    .xClose = counts_close,
    .xFilter = counts_filter,
    .xNext = counts_next,
    .xEof = counts_eof,
    .xColumn = counts_column,
    .xRowid = counts_rowid,
};

struct error *store_sqlite_codes(struct store *store, void *database)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int code = sqlite3_create_module_v2(database, "inquest_counts", &counts_module, NULL, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(database, "inquest_overlap", 2, flags, NULL, overlap,
                                          NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(database, "inquest_tally", 2, flags, NULL, NULL,
                                          tally_step, tally_final, NULL);
    return code == SQLITE_OK ? NULL
                             : error_create_file(ERROR_OTHER, store->name, "SQLite: %s",
                                                 sqlite3_errmsg(database));
}
