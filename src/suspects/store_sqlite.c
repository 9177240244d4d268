// SPDX-License-Identifier: Apache-2.0
// A store in one file: SQLite, with a log of its own (WAL) so that readers do not wait for writers.
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "suspects/store_internal.h"

// How long a writer waits for the others.
#define BUSY_MILLISECONDS 120000

// Operations of its machine between two looks at the budget.
#define PROGRESS_STEPS 20000

struct sqlite_connection {
    sqlite3 *database;
    sqlite3_stmt *prepared[STATEMENT_COUNT];
    sqlite3_stmt *active;
};

static const struct store_word words[] = {
    {"immediate", " IMMEDIATE"},
    {"id", "INTEGER PRIMARY KEY"},
    {"key", "INTEGER PRIMARY KEY"},
    {"bytes", "BLOB"},
    {"codes", "BLOB"},
    {"catalog", "sqlite_master WHERE type = 'table' AND name = 'inquest_store'"},
    {"tally", "inquest_counts((SELECT inquest_tally(c.codes, c.class) FROM ("},
    {"tallied", ") c))"},
    {"overlap", "inquest_overlap(r.codes, $2)"},
    {NULL, NULL},
};

static struct sqlite_connection *connection_of(struct store *store)
{
    return store->connection;
}

static struct error *sqlite_error(struct store *store, int code)
{
    sqlite3 *database = connection_of(store)->database;

    switch (code & 0xff) {
    case SQLITE_INTERRUPT:
        return budget_error(store->budget);
    case SQLITE_BUSY:
        return error_create_file(ERROR_LIMIT, store->name, "the store stays busy with others");
    case SQLITE_NOTADB:
        return error_create_file(ERROR_FORMAT, store->name, "not a store of suspects");
    case SQLITE_READONLY:
        return error_create_file(ERROR_OTHER, store->name, "the store can only be read");
    case SQLITE_CORRUPT:
        return error_create_file(ERROR_FORMAT, store->name, "the store is damaged (SQLite: %s)",
                                 sqlite3_errmsg(database));
    default:
        return error_create_file(ERROR_OTHER, store->name, "SQLite: %s", sqlite3_errmsg(database));
    }
}

static struct error *sqlite_script(struct store *store, const char *text)
{
    int code = sqlite3_exec(connection_of(store)->database, text, NULL, NULL, NULL);

    return code == SQLITE_OK ? NULL : sqlite_error(store, code);
}

// ---- Statements

static int bind(sqlite3_stmt *prepared, unsigned number, const struct store_value *value)
{
    char name[16];

    snprintf(name, sizeof(name), "$%u", number);
    int index = sqlite3_bind_parameter_index(prepared, name);
    if (value->type == STORE_INTEGER)
        return sqlite3_bind_int64(prepared, index, value->integer);
    size_t length = value->type == STORE_CODES ? value->length * sizeof(uint32_t) : value->length;
    // No bytes are not NULL.
    return sqlite3_bind_blob64(prepared, index, length ? value->data : "", length, SQLITE_STATIC);
}

static struct error *prepare(struct store *store, enum store_statement statement,
                             sqlite3_stmt **ret)
{
    struct sqlite_connection *connection = connection_of(store);
    sqlite3_stmt **prepared = &connection->prepared[statement];

    if (!*prepared) {
        int code = sqlite3_prepare_v3(connection->database, store_statement_text(store, statement),
                                      -1, SQLITE_PREPARE_PERSISTENT, prepared, NULL);
        if (code != SQLITE_OK)
            return sqlite_error(store, code);
    }
    *ret = *prepared;
    return NULL;
}

static struct error *bind_all(struct store *store, sqlite3_stmt *prepared,
                              const struct store_value *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        int code = bind(prepared, i + 1, &values[i]);
        if (code != SQLITE_OK)
            return sqlite_error(store, code);
    }
    return NULL;
}

static struct error *sqlite_start(struct store *store, enum store_statement statement,
                                  const struct store_value *values, unsigned count)
{
    struct sqlite_connection *connection = connection_of(store);
    sqlite3_stmt *prepared = NULL;
    struct error *err = prepare(store, statement, &prepared);

    assert(!connection->active);
    if (!err)
        err = bind_all(store, prepared, values, count);
    if (!err)
        connection->active = prepared;
    return err;
}

static void sqlite_end(struct store *store)
{
    struct sqlite_connection *connection = connection_of(store);

    sqlite3_reset(connection->active);
    sqlite3_clear_bindings(connection->active);
    connection->active = NULL;
}

static struct error *sqlite_step(struct store *store, bool *ret)
{
    struct error *err = NULL;
    int code = sqlite3_step(connection_of(store)->active);

    *ret = code == SQLITE_ROW;
    if (*ret)
        return NULL;
    if (code != SQLITE_DONE)
        err = sqlite_error(store, code);
    sqlite_end(store);
    return err;
}

static int64_t sqlite_integer(struct store *store, unsigned column)
{
    return sqlite3_column_int64(connection_of(store)->active, (int)column);
}

static const void *sqlite_bytes(struct store *store, unsigned column, size_t *ret_length)
{
    sqlite3_stmt *active = connection_of(store)->active;
    const void *data = sqlite3_column_blob(active, (int)column);

    *ret_length = (size_t)sqlite3_column_bytes(active, (int)column);
    return data ? data : "";
}

static struct error *sqlite_codes(struct store *store, unsigned column, struct code_vec *ret)
{
    size_t length;
    const void *data = sqlite_bytes(store, column, &length);

    if (length % sizeof(uint32_t))
        return error_create_file(ERROR_FORMAT, store->name, "the store is damaged");
    code_vec_resize(ret, length / sizeof(uint32_t));
    if (length)
        memcpy(ret->data, data, length);
    return NULL;
}

static struct error *sqlite_change_many(struct store *store, enum store_statement statement,
                                        const struct store_value *values, unsigned count,
                                        size_t times, bool *ret_changed)
{
    struct error *err = NULL;

    for (size_t i = 0; i < times && !err; i++) {
        bool row;
        err = sqlite_start(store, statement, values + i * count, count);
        if (!err)
            err = sqlite_step(store, &row);
        ret_changed[i] = !err && sqlite3_changes(connection_of(store)->database) > 0;
    }
    return err;
}

static void sqlite_close(struct store *store)
{
    struct sqlite_connection *connection = connection_of(store);

    for (unsigned i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(connection->prepared[i]);
    sqlite3_close(connection->database);
    free(connection);
}

static const struct store_backend backend = {
    .words = words,
    .script = sqlite_script,
    .start = sqlite_start,
    .step = sqlite_step,
    .end = sqlite_end,
    .integer = sqlite_integer,
    .bytes = sqlite_bytes,
    .codes = sqlite_codes,
    .change_many = sqlite_change_many,
    .close = sqlite_close,
};

// ---- Opening

static int look_at_budget(void *context)
{
    struct store *store = context;

    return store->budget && budget_look(store->budget);
}

static int open_file(struct store *store, const char *where, int flags)
{
    struct sqlite_connection *connection = connection_of(store);

    sqlite3_close(connection->database);
    connection->database = NULL;
    int code = sqlite3_open_v2(where, &connection->database, flags | SQLITE_OPEN_URI, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(connection->database, BUSY_MILLISECONDS);
    return code;
}

// How many tables there are, if this is a database at all.
static int count_tables(struct store *store, int *ret_tables, bool *ret_ours)
{
    sqlite3_stmt *count;
    int code = sqlite3_prepare_v2(connection_of(store)->database,
                                  "SELECT COUNT(*), COUNT(*) FILTER (WHERE name = 'inquest_store')"
                                  " FROM sqlite_master WHERE type = 'table'",
                                  -1, &count, NULL);

    if (code == SQLITE_OK && (code = sqlite3_step(count)) == SQLITE_ROW) {
        *ret_tables = sqlite3_column_int(count, 0);
        *ret_ours = sqlite3_column_int(count, 1) > 0;
        code = SQLITE_OK;
    }
    sqlite3_finalize(count);
    return code;
}

// A log needs a place to lie beside the file. Where nothing may be written, nobody writes: without
// a log that somebody left, the file is all there is.
static int reopen_unwritable(struct store *store, const char *where)
{
    _cleanup_free_ char *log = xasprintf("%s-wal", where);
    _cleanup_strbuf_ struct strbuf uri = STRBUF_INIT;

    if (strncmp(where, "file:", 5) == 0 || access(log, F_OK) == 0)
        return SQLITE_CANTOPEN;
    strbuf_append(&uri, "file:");
    for (const char *c = where; *c; c++)
        if (*c == '?' || *c == '#' || *c == '%')
            strbuf_printf(&uri, "%%%02x", (unsigned char)*c);
        else
            strbuf_append_char(&uri, *c);
    strbuf_append(&uri, "?immutable=1");
    return open_file(store, uri.data, SQLITE_OPEN_READONLY);
}

static struct error *cannot_open(struct store *store, enum store_mode mode)
{
    int errnum = sqlite3_system_errno(connection_of(store)->database);

    if (access(store->name, F_OK) != 0 && mode != STORE_CREATE)
        return error_create_file(ERROR_NOT_FOUND, store->name, "there is no such store");
    if (errnum)
        return error_errno(errnum, store->name, "cannot open");
    return error_create_file(ERROR_OTHER, store->name, "cannot open the store (SQLite: %s)",
                             sqlite3_errmsg(connection_of(store)->database));
}

// The change to WAL needs the file for itself and gives up at once where others try the same.
static int use_log(struct store *store)
{
    sqlite3 *database = connection_of(store)->database;
    int code = SQLITE_OK;

    for (unsigned waited = 0; waited < BUSY_MILLISECONDS; waited += 10) {
        code = sqlite3_exec(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", NULL,
                            NULL, NULL);
        if ((code & 0xff) != SQLITE_BUSY)
            break;
        usleep(10000);
    }
    return code;
}

struct error *store_sqlite_open(struct store *store, const char *where, enum store_mode mode)
{
    struct sqlite_connection *connection = xcalloc(1, sizeof(*connection));
    int tables = 0;
    bool ours = false;

    store->backend = &backend;
    store->connection = connection;
    int code = open_file(store, where,
                         SQLITE_OPEN_READWRITE | (mode == STORE_CREATE ? SQLITE_OPEN_CREATE : 0));
    if (code == SQLITE_OK)
        code = count_tables(store, &tables, &ours);
    if (mode == STORE_READ &&
        ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY) &&
        (code = reopen_unwritable(store, where)) == SQLITE_OK)
        code = count_tables(store, &tables, &ours);
    if ((code & 0xff) == SQLITE_CANTOPEN)
        return cannot_open(store, mode);
    if (code == SQLITE_OK && tables && !ours)
        return error_create_file(ERROR_FORMAT, store->name,
                                 "not a store of suspects but another database");
    if (code == SQLITE_OK && mode != STORE_READ &&
        sqlite3_db_readonly(connection->database, "main"))
        code = SQLITE_READONLY;
    if (code == SQLITE_OK && mode != STORE_READ)
        code = use_log(store);
    if (code != SQLITE_OK)
        return sqlite_error(store, code);
    sqlite3_exec(connection->database, "PRAGMA cache_size = -65536", NULL, NULL, NULL);
    sqlite3_progress_handler(connection->database, PROGRESS_STEPS, look_at_budget, store);
    return store_sqlite_codes(store, connection->database);
}
