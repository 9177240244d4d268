// SPDX-License-Identifier: Apache-2.0
// Opening and closing, and every statement that the store makes.
#include "suspects/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "suspects/store_internal.h"

// ---- What is said to the databases

static const char *const scripts[SCRIPT_COUNT] = {
    [SCRIPT_READ] = "BEGIN{snapshot}",
    [SCRIPT_WRITE] = "BEGIN{immediate}",
    [SCRIPT_CREATE] = "BEGIN{immediate}{create_lock}",
    [SCRIPT_COMMIT] = "COMMIT",
    [SCRIPT_ROLLBACK] = "ROLLBACK",
    [SCRIPT_SCHEMA] = "CREATE TABLE inquest_store (version BIGINT NOT NULL);"
                      "INSERT INTO inquest_store VALUES (1);"
                      "CREATE TABLE inquest_build ("
                      "  id {id}, build_id {bytes} NOT NULL UNIQUE, hash BIGINT NOT NULL,"
                      "  site_count BIGINT NOT NULL, predicate_count BIGINT NOT NULL,"
                      "  path {bytes} NOT NULL, sites {bytes} NOT NULL);"
                      "CREATE TABLE inquest_run ("
                      "  id {id}, run_id {bytes} NOT NULL UNIQUE, build BIGINT NOT NULL,"
                      "  outcome SMALLINT NOT NULL, signal BIGINT NOT NULL,"
                      "  exit_status BIGINT NOT NULL, rate BIGINT NOT NULL, seed BIGINT NOT NULL,"
                      "  start BIGINT NOT NULL, frames {bytes} NOT NULL, codes {codes} NOT NULL,"
                      "  counts {bytes} NOT NULL);"
                      "CREATE INDEX inquest_run_build ON inquest_run (build, outcome)",
    // alive: not yet taken away. Of a chosen predictor: the runs in which it is true.
    [SCRIPT_SCRATCH] = "CREATE TEMPORARY TABLE inquest_standing ("
                       "  run {key}, outcome SMALLINT, alive SMALLINT);"
                       "CREATE TEMPORARY TABLE inquest_hit ("
                       "  run BIGINT, outcome SMALLINT, alive SMALLINT)",
};

// Outcomes are enum suspects_outcome: 1 passed, 2 failed.
static const char *const statements[STATEMENT_COUNT] = {
    [STATEMENT_EXISTS] = "SELECT COUNT(*) FROM {catalog}",
    [STATEMENT_VERSION] = "SELECT version FROM inquest_store",
    [STATEMENT_BUILD_ADD] =
        "INSERT INTO inquest_build (build_id, hash, site_count, predicate_count, path, sites)"
        " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (build_id) DO NOTHING",
    [STATEMENT_BUILD_FIND] = "SELECT id, hash FROM inquest_build WHERE build_id = $1",
    [STATEMENT_BUILD_SITES] = "SELECT sites, path FROM inquest_build WHERE id = $1",
    [STATEMENT_BUILDS] =
        "SELECT id, build_id, path, site_count, predicate_count FROM inquest_build ORDER BY id",
    [STATEMENT_OUTCOMES] = "SELECT build, outcome, COUNT(*) FROM inquest_run"
                           " GROUP BY build, outcome",
    [STATEMENT_RUN_ADD] =
        "INSERT INTO inquest_run (run_id, build, outcome, signal, exit_status, rate, seed, start,"
        " frames, codes, counts) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
        " ON CONFLICT (run_id) DO NOTHING",
    [STATEMENT_RUNS] = "SELECT run_id, outcome, signal, exit_status, rate, start, frames"
                       " FROM inquest_run WHERE build = $1 ORDER BY id",
    [STATEMENT_RUNS_ALL] = "SELECT run_id, build, outcome, signal, exit_status, rate, seed, start,"
                           " frames, codes, counts FROM inquest_run ORDER BY id",
    // Counts of codes, in three columns; a bit of `class` for each says which a run counts in.
    [STATEMENT_TALLY] = "SELECT code, n1, n2 FROM {tally}"
                        "SELECT r.codes, 3 - r.outcome AS class FROM inquest_run r"
                        " WHERE r.build = $1 AND r.outcome IN (1, 2){tallied}",
    [STATEMENT_STAND] = "INSERT INTO inquest_standing SELECT id, outcome, 1 FROM inquest_run"
                        " WHERE build = $1 AND outcome IN (1, 2)",
    [STATEMENT_HIT_CLEAR] = "DELETE FROM inquest_hit",
    // $1: the build; $2: codes that make the predictor true; $3: the outcomes from which on runs
    // are taken away. Runs that failed earlier on count for clusters.
    [STATEMENT_HIT] =
        "INSERT INTO inquest_hit SELECT r.id, s.outcome, s.alive"
        " FROM inquest_standing s JOIN inquest_run r ON r.id = s.run"
        " WHERE r.build = $1 AND (s.outcome = 2 OR s.alive = 1 AND s.outcome >= $3) AND {overlap}",
    // Failing and passing runs that are taken away, and all that failed.
    [STATEMENT_HIT_TALLY] =
        "SELECT code, n1, n2, n3 FROM {tally}"
        "SELECT r.codes, h.alive * (3 - h.outcome) + 4 * (h.outcome - 1) AS class"
        " FROM inquest_hit h JOIN inquest_run r ON r.id = h.run{tallied}",
    [STATEMENT_HIT_TAKE] = "UPDATE inquest_standing SET alive = 0 WHERE run IN"
                           " (SELECT run FROM inquest_hit WHERE alive = 1)",
};

static const char *find_word(const struct store *store, const char *name, size_t length)
{
    for (const struct store_word *word = store->backend->words; word->name; word++)
        if (strlen(word->name) == length && memcmp(word->name, name, length) == 0)
            return word->text;
    return "";
}

void store_text(const struct store *store, const char *text, struct strbuf *out)
{
    for (;;) {
        size_t plain = strcspn(text, "{");
        strbuf_append_bytes(out, text, plain);
        text += plain;
        if (*text == '\0')
            return;
        size_t length = strcspn(++text, "}");
        strbuf_append(out, find_word(store, text, length));
        text += length + 1;
    }
}

const char *store_statement_text(struct store *store, enum store_statement statement)
{
    if (!store->texts[statement]) {
        struct strbuf text = STRBUF_INIT;
        store_text(store, statements[statement], &text);
        store->texts[statement] = strbuf_steal(&text);
    }
    return store->texts[statement];
}

struct error *store_script(struct store *store, enum store_script script)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

    store_text(store, scripts[script], &text);
    return store->backend->script(store, text.data);
}

struct error *store_execute(struct store *store, enum store_statement statement,
                            const struct store_value *values, unsigned count)
{
    bool row = true;
    struct error *err = store_start(store, statement, values, count);

    while (!err && row)
        err = store_step(store, &row);
    return err;
}

struct error *store_finish(struct store *store, struct error *err)
{
    if (!err) {
        err = store_script(store, SCRIPT_COMMIT);
        if (!err)
            return NULL;
    }
    error_destroy(store_script(store, SCRIPT_ROLLBACK));
    return err;
}

// ---- Opening

static struct error *one_integer(struct store *store, enum store_statement statement, int64_t *ret)
{
    bool row;
    struct error *err = store_start(store, statement, NULL, 0);

    if (!err)
        err = store_step(store, &row);
    if (err)
        return err;
    if (!row)
        return error_create_file(ERROR_FORMAT, store->name, "the store is damaged");
    *ret = store->backend->integer(store, 0);
    store->backend->end(store);
    return NULL;
}

static struct error *create_schema(struct store *store)
{
    int64_t there;
    struct error *err = store_script(store, SCRIPT_CREATE);

    if (err)
        return err;
    err = one_integer(store, STATEMENT_EXISTS, &there);
    if (!err && !there)
        err = store_script(store, SCRIPT_SCHEMA);
    return store_finish(store, err);
}

static struct error *check_schema(struct store *store, enum store_mode mode)
{
    int64_t there, version;
    struct error *err = one_integer(store, STATEMENT_EXISTS, &there);

    if (err)
        return err;
    if (!there && mode != STORE_CREATE)
        return error_create_file(ERROR_NOT_FOUND, store->name, "not a store of suspects");
    if (!there && (err = create_schema(store)))
        return err;
    err = one_integer(store, STATEMENT_VERSION, &version);
    if (!err && version != STORE_VERSION)
        err = error_create_file(ERROR_MISMATCH, store->name,
                                "the store is of version %" PRId64 ", not %d: made by another "
                                "version of inquest",
                                version, STORE_VERSION);
    return err;
}

static bool is_postgres(const char *where)
{
    return strncmp(where, "postgresql://", 13) == 0 || strncmp(where, "postgres://", 11) == 0;
}

// The URL without what may be secret: user, password and options.
static char *public_name(const char *where)
{
    const char *host = strstr(where, "://") + 3;
    size_t length = strcspn(host, "?");
    const char *slash = memchr(host, '/', length);
    const char *at = memrchr(host, '@', slash ? (size_t)(slash - host) : length);
    const char *from = at ? at + 1 : host;

    return xasprintf("postgresql://%.*s", (int)(host + length - from), from);
}

struct error *store_open(const char *where, enum store_mode mode, struct store **ret)
{
    struct store *store = xcalloc(1, sizeof(*store));
    struct error *err;

    store->mode = mode;
    if (is_postgres(where)) {
        store->name = public_name(where);
        err = store_postgres_open(store, where);
    } else {
        store->name = xstrdup(where);
        err = store_sqlite_open(store, where, mode);
    }
    if (!err)
        err = check_schema(store, mode);
    if (err) {
        store_close(store);
        return err;
    }
    *ret = store;
    return NULL;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    if (store->connection)
        store->backend->close(store);
    for (size_t i = 0; i < store->layouts.length; i++)
        store_layout_destroy(store->layouts.data[i]);
    layout_vec_deinit(&store->layouts);
    for (unsigned i = 0; i < STATEMENT_COUNT; i++)
        free(store->texts[i]);
    free(store->name);
    free(store);
}
