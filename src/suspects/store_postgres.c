// SPDX-License-Identifier: Apache-2.0
// A store for a fleet: PostgreSQL through libpq, everything in its binary formats. Rows come one by
// one, so that a table never has to fit into memory.
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/budget.h"
#include "common/error.h"
#include "suspects/store_internal.h"
#include "suspects/store_libpq.h"

// Object identifiers of types (pg_type.dat); they never change.
enum {
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_INT4 = 23,
    OID_INT4_ARRAY = 1007,
};

// Statements under way before their results are looked at.
#define PIPELINE_LENGTH 128

// Milliseconds between two looks at the budget.
#define WAIT_MILLISECONDS 20

struct postgres_connection {
    PGconn *server;
    PGresult *row;
    bool prepared[STATEMENT_COUNT];
    bool cancelled;
    struct strbuf array;
};

struct arguments {
    const char *values[STORE_VALUES_MOST];
    int lengths[STORE_VALUES_MOST];
    int formats[STORE_VALUES_MOST];
    uint64_t integers[STORE_VALUES_MOST];
};

static const struct store_word words[] = {
    // Codes are few and rows are many: a hash table counts them sooner than sorting all rows does,
    // which the planner cannot know.
    {"snapshot", " ISOLATION LEVEL REPEATABLE READ;"
                 " SET LOCAL enable_sort = off; SET LOCAL work_mem = '64MB'; SET LOCAL jit = off"},
    {"create_lock", "; SELECT pg_advisory_xact_lock(5283014717442)"},
    {"id", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"},
    {"key", "BIGINT PRIMARY KEY"},
    {"bytes", "BYTEA"},
    {"codes", "INTEGER[]"},
    {"catalog", "pg_class WHERE oid = to_regclass('inquest_store')"},
    {"tally", "(SELECT code, COUNT(*) FILTER (WHERE class & 1 <> 0) AS n1,"
              " COUNT(*) FILTER (WHERE class & 2 <> 0) AS n2,"
              " COUNT(*) FILTER (WHERE class & 4 <> 0) AS n3"
              " FROM (SELECT unnest(codes) AS code, class FROM ("},
    {"tallied", ") c) u GROUP BY code) t"},
    {"overlap", "r.codes && $2"},
    {NULL, NULL},
};

static struct postgres_connection *connection_of(struct store *store)
{
    return store->connection;
}

// ---- Errors

static struct error *connection_error(struct store *store, const char *what)
{
    char *text = xstrdup(PQerrorMessage(connection_of(store)->server));

    // Several lines where several addresses were tried: the last says most.
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n')
        text[--length] = '\0';
    const char *last = memrchr(text, '\n', length);
    struct error *err =
        error_create_file(ERROR_OTHER, store->name, "%s: %s", what, last ? last + 1 : text);
    free(text);
    return err;
}

static struct error *result_error(struct store *store, const PGresult *result)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *message = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;

    if (connection_of(store)->cancelled && store->budget)
        return budget_error(store->budget);
    if (!state || !message)
        return connection_error(store, "the connection broke");
    if (strcmp(state, "25006") == 0 || strcmp(state, "42501") == 0)
        return error_create_file(ERROR_OTHER, store->name, "the store refuses it (%s)", message);
    return error_create_file(ERROR_OTHER, store->name, "PostgreSQL: %s", message);
}

static struct error *check_result(struct store *store, PGresult *result)
{
    ExecStatusType status = result ? PQresultStatus(result) : PGRES_FATAL_ERROR;
    struct error *err = NULL;

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        err = result_error(store, result);
    PQclear(result);
    return err;
}

static struct error *postgres_script(struct store *store, const char *text)
{
    return check_result(store, PQexec(connection_of(store)->server, text));
}

// ---- Values

static void put_u32(struct strbuf *out, uint32_t value)
{
    uint32_t bytes = htobe32(value);

    strbuf_append_bytes(out, &bytes, sizeof(bytes));
}

// array_recv: dimensions, whether there are NULLs, the type; length and lower bound of each
// dimension; then length and bytes of each element. None has no dimension.
static void put_array(struct strbuf *out, const uint32_t *codes, size_t count)
{
    strbuf_clear(out);
    put_u32(out, count ? 1 : 0);
    put_u32(out, 0);
    put_u32(out, OID_INT4);
    if (count) {
        put_u32(out, (uint32_t)count);
        put_u32(out, 1);
    }
    for (size_t i = 0; i < count; i++) {
        put_u32(out, sizeof(uint32_t));
        put_u32(out, codes[i]);
    }
}

static void encode(struct store *store, const struct store_value *values, unsigned count,
                   struct arguments *ret)
{
    struct strbuf *array = &connection_of(store)->array;
    bool has_array = false;

    assert(count <= STORE_VALUES_MOST);
    for (unsigned i = 0; i < count; i++) {
        ret->formats[i] = 1;
        switch (values[i].type) {
        case STORE_INTEGER:
            ret->integers[i] = htobe64((uint64_t)values[i].integer);
            ret->values[i] = (const char *)&ret->integers[i];
            ret->lengths[i] = sizeof(ret->integers[i]);
            break;
        case STORE_BYTES:
            ret->values[i] = values[i].length ? values[i].data : "";
            ret->lengths[i] = (int)values[i].length;
            break;
        case STORE_CODES:
            assert(!has_array); // there is one buffer
            has_array = true;
            put_array(array, values[i].data, values[i].length);
            ret->values[i] = array->data;
            ret->lengths[i] = (int)array->length;
            break;
        }
    }
}

static struct error *prepare(struct store *store, enum store_statement statement,
                             const struct store_value *values, unsigned count, char name[16])
{
    static const Oid types[] = {
        [STORE_INTEGER] = OID_INT8, [STORE_BYTES] = OID_BYTEA, [STORE_CODES] = OID_INT4_ARRAY};
    struct postgres_connection *connection = connection_of(store);
    Oid oids[STORE_VALUES_MOST];

    snprintf(name, 16, "inquest_%u", (unsigned)statement);
    if (connection->prepared[statement])
        return NULL;
    assert(count <= STORE_VALUES_MOST);
    for (unsigned i = 0; i < count; i++)
        oids[i] = types[values[i].type];
    struct error *err =
        check_result(store, PQprepare(connection->server, name,
                                      store_statement_text(store, statement), (int)count, oids));
    connection->prepared[statement] = !err;
    return err;
}

// ---- Statements

static struct error *postgres_start(struct store *store, enum store_statement statement,
                                    const struct store_value *values, unsigned count)
{
    struct postgres_connection *connection = connection_of(store);
    struct arguments arguments;
    char name[16];
    struct error *err = prepare(store, statement, values, count, name);

    if (err)
        return err;
    encode(store, values, count, &arguments);
    connection->cancelled = false;
    if (!PQsendQueryPrepared(connection->server, name, (int)count, arguments.values,
                             arguments.lengths, arguments.formats, 1) ||
        !PQsetSingleRowMode(connection->server))
        return connection_error(store, "cannot ask");
    return NULL;
}

static void cancel(struct store *store)
{
    char message[256];
    PGcancel *handle = PQgetCancel(connection_of(store)->server);

    if (handle)
        PQcancel(handle, message, sizeof(message));
    PQfreeCancel(handle);
    connection_of(store)->cancelled = true;
}

// The next result, NULL: no more. Where the budget is spent the server is told to stop.
static PGresult *next_result(struct store *store)
{
    struct postgres_connection *connection = connection_of(store);

    while (store->budget && PQisBusy(connection->server)) {
        struct pollfd ready = {.fd = PQsocket(connection->server), .events = POLLIN};
        if (poll(&ready, 1, WAIT_MILLISECONDS) < 0 && errno != EINTR)
            break;
        if (ready.revents && !PQconsumeInput(connection->server))
            break;
        if (!connection->cancelled && budget_look(store->budget))
            cancel(store);
    }
    return PQgetResult(connection->server);
}

static void drain(struct store *store)
{
    PGresult *result;

    while ((result = PQgetResult(connection_of(store)->server)))
        PQclear(result);
}

static void drop_row(struct store *store)
{
    PQclear(connection_of(store)->row);
    connection_of(store)->row = NULL;
}

static void postgres_end(struct store *store)
{
    drop_row(store);
    drain(store);
}

static struct error *postgres_step(struct store *store, bool *ret)
{
    drop_row(store);
    PGresult *result = next_result(store);
    if (PQresultStatus(result) == PGRES_SINGLE_TUPLE) {
        connection_of(store)->row = result;
        *ret = true;
        return NULL;
    }
    *ret = false;
    struct error *err = check_result(store, result);
    drain(store);
    return err;
}

static int64_t postgres_integer(struct store *store, unsigned column)
{
    const PGresult *row = connection_of(store)->row;
    const char *data = PQgetvalue(row, 0, (int)column);
    uint16_t small;
    uint32_t middle;
    uint64_t large;

    switch (PQgetlength(row, 0, (int)column)) {
    case sizeof(small):
        memcpy(&small, data, sizeof(small));
        return (int16_t)be16toh(small);
    case sizeof(middle):
        memcpy(&middle, data, sizeof(middle));
        return (int32_t)be32toh(middle);
    case sizeof(large):
        memcpy(&large, data, sizeof(large));
        return (int64_t)be64toh(large);
    default:
        return 0;
    }
}

static const void *postgres_bytes(struct store *store, unsigned column, size_t *ret_length)
{
    const PGresult *row = connection_of(store)->row;

    *ret_length = (size_t)PQgetlength(row, 0, (int)column);
    return PQgetvalue(row, 0, (int)column);
}

static uint32_t get_u32(const unsigned char *bytes, size_t index)
{
    uint32_t value;

    memcpy(&value, bytes + index * sizeof(value), sizeof(value));
    return be32toh(value);
}

static struct error *postgres_codes(struct store *store, unsigned column, struct code_vec *ret)
{
    size_t length;
    const unsigned char *data = postgres_bytes(store, column, &length);
    size_t words_count = length / sizeof(uint32_t);
    uint32_t count = words_count > 3 && get_u32(data, 0) == 1 ? get_u32(data, 3) : 0;

    if (words_count < 3 || get_u32(data, 0) > 1 || get_u32(data, 1) ||
        get_u32(data, 2) != OID_INT4 || (count && (words_count - 5) / 2 != count))
        return error_create_file(ERROR_FORMAT, store->name, "the store is damaged");
    code_vec_resize(ret, count);
    for (uint32_t i = 0; i < count; i++)
        ret->data[i] = get_u32(data, 6 + 2 * (size_t)i);
    return NULL;
}

// ---- Many changes, without waiting for each

// The results of `times` statements and of the point where they meet again. Keeps the first error.
static struct error *receive(struct store *store, size_t times, bool *ret_changed)
{
    PGconn *server = connection_of(store)->server;
    struct error *err = NULL;

    for (size_t i = 0; i < times; i++) {
        PGresult *result = PQgetResult(server);
        if (!result && !err)
            err = connection_error(store, "the connection broke");
        if (!result)
            return err;
        ret_changed[i] =
            PQresultStatus(result) == PGRES_COMMAND_OK && strcmp(PQcmdTuples(result), "0") != 0;
        if (err)
            PQclear(result);
        else
            err = check_result(store, result);
        PQclear(PQgetResult(server)); // NULL: that was all of it
    }
    PGresult *meeting = PQgetResult(server);
    if (PQresultStatus(meeting) != PGRES_PIPELINE_SYNC && !err)
        err = connection_error(store, "the connection broke");
    PQclear(meeting);
    return err;
}

static struct error *send_part(struct store *store, const char *name,
                               const struct store_value *values, unsigned count, size_t times)
{
    PGconn *server = connection_of(store)->server;

    for (size_t i = 0; i < times; i++) {
        struct arguments arguments;
        encode(store, values + i * count, count, &arguments);
        if (!PQsendQueryPrepared(server, name, (int)count, arguments.values, arguments.lengths,
                                 arguments.formats, 1))
            return connection_error(store, "cannot write");
    }
    return PQpipelineSync(server) ? NULL : connection_error(store, "cannot write");
}

static struct error *postgres_change_many(struct store *store, enum store_statement statement,
                                          const struct store_value *values, unsigned count,
                                          size_t times, bool *ret_changed)
{
    PGconn *server = connection_of(store)->server;
    char name[16];
    struct error *err = prepare(store, statement, values, count, name);

    if (!err && !PQenterPipelineMode(server))
        err = connection_error(store, "cannot write");
    for (size_t i = 0; i < times && !err; i += PIPELINE_LENGTH) {
        size_t part = times - i < PIPELINE_LENGTH ? times - i : PIPELINE_LENGTH;
        err = send_part(store, name, values + i * count, count, part);
        if (!err)
            err = receive(store, part, ret_changed + i);
    }
    if (!PQexitPipelineMode(server) && !err)
        err = connection_error(store, "cannot write");
    return err;
}

// ---- Opening and closing

static void postgres_close(struct store *store)
{
    struct postgres_connection *connection = connection_of(store);

    drop_row(store);
    PQfinish(connection->server);
    strbuf_deinit(&connection->array);
    free(connection);
}

static const struct store_backend backend = {
    .words = words,
    .script = postgres_script,
    .start = postgres_start,
    .step = postgres_step,
    .end = postgres_end,
    .integer = postgres_integer,
    .bytes = postgres_bytes,
    .codes = postgres_codes,
    .change_many = postgres_change_many,
    .close = postgres_close,
};

static void ignore_notice(void *context, const PGresult *result)
{
    (void)context, (void)result;
}

struct error *store_postgres_open(struct store *store, const char *where)
{
    struct error *err = libpq_load();
    if (err)
        return err;
    struct postgres_connection *connection = xcalloc(1, sizeof(*connection));

    store->backend = &backend;
    store->connection = connection;
    strbuf_init(&connection->array);
    connection->server = PQconnectdb(where);
    if (PQstatus(connection->server) != CONNECTION_OK)
        return connection_error(store, "cannot connect");
    PQsetNoticeReceiver(connection->server, ignore_notice, NULL);
    return NULL;
}
