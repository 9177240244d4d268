// SPDX-License-Identifier: Apache-2.0
/*
 * What the parts of the store share: one small interface to two databases, and the layout of a
 * build, which says what the numbers in its runs mean.
 *
 * A statement is one text for both databases (store.c). Words in braces differ from one to the
 * other: {bytes} is BLOB here and BYTEA there. Parameters are $1, $2, ...
 *
 *     struct store_value values[] = {store_integer(build)};
 *     err = store_start(store, STATEMENT_TALLY, values, 1);
 *     while (!err && !(err = store_step(store, &row)) && row)
 *         ... store->backend->integer(store, 0) ...
 *
 * One statement at a time; its values live until it has ended.
 *
 * What a run sampled is one array of codes, ascending. A code stands for a site and for which of
 * its counters are not 0: the codes of a site with n counters are its first one and the 2^n - 2
 * behind that, for the sets of counters 1, 2, ... 2^n - 1 (a bit a counter). Sites follow each
 * other module by module. So a run is one row, as small as what it saw, and is there whole or not
 * at all; the databases take arrays apart and count codes, and from the counts of a site's codes
 * follow those of all its predicates, exactly.
 */
#ifndef SUSPECTS_STORE_INTERNAL_H
#define SUSPECTS_STORE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/strbuf.h"
#include "common/vec.h"
#include "suspects/sites.h"
#include "suspects/store.h"

#define STORE_VERSION 1

VEC_DEFINE(code_vec, uint32_t);

enum store_statement {
    STATEMENT_EXISTS,
    STATEMENT_VERSION,
    STATEMENT_BUILD_ADD,
    STATEMENT_BUILD_FIND,
    STATEMENT_BUILD_SITES,
    STATEMENT_BUILDS,
    STATEMENT_OUTCOMES,
    STATEMENT_RUN_ADD,
    STATEMENT_RUNS,
    STATEMENT_RUNS_ALL,
    STATEMENT_TALLY,
    STATEMENT_STAND,
    STATEMENT_HIT_CLEAR,
    STATEMENT_HIT,
    STATEMENT_HIT_TALLY,
    STATEMENT_HIT_TAKE,
    STATEMENT_COUNT,
};

enum store_script {
    SCRIPT_READ, // begins: what is read is from one moment
    SCRIPT_WRITE,
    SCRIPT_CREATE, // as SCRIPT_WRITE, and nobody else creates at the same time
    SCRIPT_COMMIT,
    SCRIPT_ROLLBACK,
    SCRIPT_SCHEMA,
    SCRIPT_SCRATCH, // tables of one ranking; they go with its transaction
    SCRIPT_COUNT,
};

enum store_type {
    STORE_INTEGER,
    STORE_BYTES,
    STORE_CODES,
};

struct store_value {
    enum store_type type;
    int64_t integer;
    const void *data;
    size_t length; // bytes, or codes
};

#define STORE_VALUES_MOST 12

static inline struct store_value store_integer(uint64_t value)
{
    return (struct store_value){.type = STORE_INTEGER, .integer = (int64_t)value};
}

static inline struct store_value store_bytes(const void *data, size_t length)
{
    return (struct store_value){.type = STORE_BYTES, .data = data, .length = length};
}

static inline struct store_value store_codes(const uint32_t *codes, size_t count)
{
    return (struct store_value){.type = STORE_CODES, .data = codes, .length = count};
}

// A word in braces, and what it becomes.
struct store_word {
    const char *name, *text;
};

struct store_backend {
    const struct store_word *words; // the last has no name
    struct error *(*script)(struct store *store, const char *text);
    struct error *(*start)(struct store *store, enum store_statement statement,
                           const struct store_value *values, unsigned count);
    // Whether there is a row. At the end, and on an error, the statement has ended.
    struct error *(*step)(struct store *store, bool *ret);
    void (*end)(struct store *store); // before its last row
    int64_t (*integer)(struct store *store, unsigned column);
    // Until the next step.
    const void *(*bytes)(struct store *store, unsigned column, size_t *ret_length);
    struct error *(*codes)(struct store *store, unsigned column, struct code_vec *ret);
    // One statement that changes rows, `times` times with `count` values each; which of them did.
    struct error *(*change_many)(struct store *store, enum store_statement statement,
                                 const struct store_value *values, unsigned count, size_t times,
                                 bool *ret_changed);
    void (*close)(struct store *store);
};

// What the numbers in the runs of a build mean.
struct store_layout {
    int64_t build;
    uint8_t build_id[SUSPECTS_BUILD_ID];
    uint32_t build_id_length;
    struct suspects_sites *sites;
    uint32_t *first_site; // by module; among all of the build's
    uint32_t *first_code; // by site; and the end
    uint32_t site_count;
};

VEC_DEFINE(layout_vec, struct store_layout *);

struct store {
    const struct store_backend *backend;
    void *connection; // the backend's
    char *name;       // for messages: no password in it
    char *texts[STATEMENT_COUNT];
    enum store_mode mode;
    struct budget *budget; // NULL: as long as it takes
    struct layout_vec layouts;
};

// ---- store.c

// Where a word in braces is not one of the backend's it is left out.
void store_text(const struct store *store, const char *text, struct strbuf *out);
const char *store_statement_text(struct store *store, enum store_statement statement);
struct error *store_script(struct store *store, enum store_script script);
static inline struct error *store_start(struct store *store, enum store_statement statement,
                                        const struct store_value *values, unsigned count)
{
    return store->backend->start(store, statement, values, count);
}
static inline struct error *store_step(struct store *store, bool *ret)
{
    return store->backend->step(store, ret);
}
// A statement without rows, or whose rows are of no interest.
struct error *store_execute(struct store *store, enum store_statement statement,
                            const struct store_value *values, unsigned count);
// Ends a transaction: COMMIT, or ROLLBACK where there is an error, which is given back.
struct error *store_finish(struct store *store, struct error *err);

// ---- The databases: sqlite and postgres each in a file of its own

struct error *store_sqlite_open(struct store *store, const char *where, enum store_mode mode);
struct error *store_postgres_open(struct store *store, const char *where);
// Functions of SQL that take arrays of codes apart.
struct error *store_sqlite_codes(struct store *store, void *database);

// ---- store_build.c

// Borrowed from the store. ERROR_NOT_FOUND: it does not know the build.
struct error *store_layout(struct store *store, const uint8_t *build_id, uint32_t length,
                           const struct store_layout **ret);
void store_layout_destroy(struct store_layout *layout); // NULL is fine
// The build that a request means.
struct error *store_choose(struct store *store, const struct store_rank_request *request,
                           struct arena *arena, struct store_build *ret);
void store_build_id_text(const uint8_t *build_id, uint32_t length, struct strbuf *out);
// Which site, of all the build's, and which of its counters. False: there is no such code.
bool store_decode(const struct store_layout *layout, int64_t code, uint32_t *ret_site,
                  uint32_t *ret_mask);
const struct suspects_site *store_site(const struct store_layout *layout, uint32_t site,
                                       const struct suspects_sites_module **ret_module);

#endif
