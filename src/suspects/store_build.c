// SPDX-License-Identifier: Apache-2.0
// Builds: their tables of sites, kept as the bytes of the section that they came in, and the
// numbering of codes that follows from them.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/hash.h"
#include "layout/section.h"
#include "suspects/report.h"
#include "suspects/store_internal.h"

void store_build_id_text(const uint8_t *build_id, uint32_t length, struct strbuf *out)
{
    if (length == 0)
        strbuf_append(out, "(none)");
    for (uint32_t i = 0; i < length; i++)
        strbuf_printf(out, "%02x", build_id[i]);
}

static bool same_id(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length)
{
    return a_length == b_length && memcmp(a, b, a_length) == 0;
}

// ---- Numbering

static uint32_t site_codes(const struct suspects_site *site)
{
    return (1u << suspects_counters(site->kind)) - 1;
}

static uint64_t count_codes(const struct suspects_sites *sites)
{
    uint64_t codes = 0;

    for (uint32_t m = 0; m < sites->module_count; m++)
        for (uint32_t s = 0; s < sites->modules[m].site_count; s++)
            codes += site_codes(&sites->modules[m].sites[s]);
    return codes;
}

static void number_codes(struct store_layout *layout)
{
    const struct suspects_sites *sites = layout->sites;
    uint32_t site = 0, code = 0;

    layout->first_site = xmalloc_array(sites->module_count, sizeof(uint32_t));
    for (uint32_t m = 0; m < sites->module_count; m++)
        layout->site_count += sites->modules[m].site_count;
    layout->first_code = xmalloc_array((size_t)layout->site_count + 1, sizeof(uint32_t));
    for (uint32_t m = 0; m < sites->module_count; m++) {
        layout->first_site[m] = site;
        for (uint32_t s = 0; s < sites->modules[m].site_count; s++) {
            layout->first_code[site++] = code;
            code += site_codes(&sites->modules[m].sites[s]);
        }
    }
    layout->first_code[site] = code;
}

// The last of an ascending table that is not above the number.
static uint32_t last_not_above(const uint32_t *table, uint32_t count, uint32_t number)
{
    uint32_t low = 0, high = count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (table[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool store_decode(const struct store_layout *layout, int64_t code, uint32_t *ret_site,
                  uint32_t *ret_mask)
{
    if (code < 0 || code >= layout->first_code[layout->site_count])
        return false;
    *ret_site = last_not_above(layout->first_code, layout->site_count, (uint32_t)code);
    *ret_mask = (uint32_t)code - layout->first_code[*ret_site] + 1;
    return true;
}

const struct suspects_site *store_site(const struct store_layout *layout, uint32_t site,
                                       const struct suspects_sites_module **ret_module)
{
    // Modules without sites begin where the next one does: the last of them has it.
    uint32_t m = last_not_above(layout->first_site, layout->sites->module_count, site);

    *ret_module = &layout->sites->modules[m];
    return &(*ret_module)->sites[site - layout->first_site[m]];
}

// ---- Layouts

void store_layout_destroy(struct store_layout *layout)
{
    if (!layout)
        return;
    suspects_sites_destroy(layout->sites);
    free(layout->first_site);
    free(layout->first_code);
    free(layout);
}

static struct error *read_sites(struct store *store, int64_t build, struct suspects_sites **ret)
{
    struct store_value value = store_integer((uint64_t)build);
    bool row;
    size_t length;
    struct error *err = store_start(store, STATEMENT_BUILD_SITES, &value, 1);

    if (!err)
        err = store_step(store, &row);
    if (err)
        return err;
    if (!row)
        return error_create_file(ERROR_FORMAT, store->name, "the store is damaged");
    const void *data = store->backend->bytes(store, 0, &length);
    _cleanup_free_ void *bytes = xmemdup(data, length);
    size_t path_length;
    const char *path = store->backend->bytes(store, 1, &path_length);
    _cleanup_free_ char *name = xstrndup(path, path_length);
    store->backend->end(store);
    err = suspects_sites_read(bytes, length, store->name, ret);
    if (err)
        return error_prefix(err, "the store is damaged");
    free((*ret)->path);
    (*ret)->path = no_cleanup_ptr(name);
    if (count_codes(*ret) <= INT32_MAX)
        return NULL;
    suspects_sites_destroy(*ret);
    return error_create_file(ERROR_FORMAT, store->name, "the store is damaged");
}

// ret_hash: NULL where it is of no interest.
static struct error *find_build(struct store *store, const uint8_t *build_id, uint32_t length,
                                int64_t *ret, uint64_t *ret_hash)
{
    struct store_value value = store_bytes(build_id, length);
    bool row;
    struct error *err = store_start(store, STATEMENT_BUILD_FIND, &value, 1);

    if (!err)
        err = store_step(store, &row);
    if (err)
        return err;
    if (!row) {
        _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
        store_build_id_text(build_id, length, &text);
        return error_create_file(ERROR_NOT_FOUND, store->name,
                                 "the store does not know the build %s", text.data);
    }
    *ret = store->backend->integer(store, 0);
    if (ret_hash)
        *ret_hash = (uint64_t)store->backend->integer(store, 1);
    store->backend->end(store);
    return NULL;
}

struct error *store_layout(struct store *store, const uint8_t *build_id, uint32_t length,
                           const struct store_layout **ret)
{
    int64_t build;
    struct suspects_sites *sites;

    for (size_t i = 0; i < store->layouts.length; i++) {
        const struct store_layout *known = store->layouts.data[i];
        if (same_id(known->build_id, known->build_id_length, build_id, length)) {
            *ret = known;
            return NULL;
        }
    }
    assert(length <= SUSPECTS_BUILD_ID);
    struct error *err = find_build(store, build_id, length, &build, NULL);
    if (!err)
        err = read_sites(store, build, &sites);
    if (err)
        return err;
    struct store_layout *layout = xcalloc(1, sizeof(*layout));
    layout->build = build;
    layout->sites = sites;
    layout->build_id_length = sites->build_id_length = length;
    memcpy(layout->build_id, build_id, length);
    memcpy(sites->build_id, build_id, length);
    number_codes(layout);
    layout_vec_push(&store->layouts, layout);
    *ret = layout;
    return NULL;
}

// ---- Adding

// A frame as layout/section.h has it.
static void put_module(const struct suspects_sites_module *module, struct strbuf *out)
{
    struct section_header header = {
        .magic = SECTION_MAGIC, .version = SECTION_VERSION, .kind = SECTION_KIND_SUSPECTS};
    struct suspects_module head = {.module_id = module->module_id,
                                   .site_count = module->site_count,
                                   .counter_count = module->counter_count,
                                   .predicate_count = module->predicate_count,
                                   .string_length = module->string_length};
    size_t start = out->length, payload = start + sizeof(header);

    strbuf_append_bytes(out, &header, sizeof(header));
    strbuf_append_bytes(out, &head, sizeof(head));
    strbuf_append_bytes(out, module->sites, module->site_count * sizeof(*module->sites));
    strbuf_append_bytes(out, module->strings, module->string_length);
    header.payload_length = out->length - payload;
    header.payload_hash = hash_bytes(HASH_SEED, out->data + payload, header.payload_length);
    memcpy(out->data + start, &header, sizeof(header));
    strbuf_append_repeated(out, '\0', -out->length % SECTION_ALIGN);
}

static struct error *check_known(struct store *store, const struct suspects_sites *sites,
                                 uint64_t hash)
{
    int64_t build;
    uint64_t known;
    struct error *err = find_build(store, sites->build_id, sites->build_id_length, &build, &known);

    if (err || known == hash)
        return err;
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    store_build_id_text(sites->build_id, sites->build_id_length, &text);
    return error_create_file(ERROR_MISMATCH, sites->path,
                             "the store knows the build %s with other sites", text.data);
}

struct error *store_add_build(struct store *store, const struct suspects_sites *sites)
{
    _cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
    uint64_t site_count = 0, predicate_count = 0;
    bool added;

    assert(store->mode != STORE_READ);
    if (count_codes(sites) > INT32_MAX)
        return error_create_file(ERROR_UNSUPPORTED, sites->path, "too many sites for a store");
    for (uint32_t m = 0; m < sites->module_count; m++) {
        assert(m == 0 || sites->modules[m - 1].module_id < sites->modules[m].module_id);
        put_module(&sites->modules[m], &bytes);
        site_count += sites->modules[m].site_count;
        predicate_count += sites->modules[m].predicate_count;
    }
    uint64_t hash = hash_bytes(HASH_SEED, bytes.data, bytes.length);
    struct store_value values[] = {
        store_bytes(sites->build_id, sites->build_id_length),
        store_integer(hash),
        store_integer(site_count),
        store_integer(predicate_count),
        store_bytes(sites->path ? sites->path : "", sites->path ? strlen(sites->path) : 0),
        store_bytes(bytes.data, bytes.length),
    };
    struct error *err = store->backend->change_many(store, STATEMENT_BUILD_ADD, values,
                                                    sizeof(values) / sizeof(values[0]), 1, &added);
    return err || added ? err : check_known(store, sites, hash);
}

// ---- Listing

VEC_DEFINE(build_vec, struct store_build);
VEC_DEFINE(id_vec, int64_t);

static struct error *list_builds(struct store *store, struct arena *arena, struct build_vec *builds,
                                 struct id_vec *ids)
{
    bool row = true;
    struct error *err = store_start(store, STATEMENT_BUILDS, NULL, 0);

    while (!err && !(err = store_step(store, &row)) && row) {
        struct store_build build = {0};
        size_t length;
        const void *data = store->backend->bytes(store, 1, &length);
        if (length > SUSPECTS_BUILD_ID)
            length = SUSPECTS_BUILD_ID;
        memcpy(build.build_id, data, length);
        build.build_id_length = (uint32_t)length;
        data = store->backend->bytes(store, 2, &length);
        build.path = arena_strndup(arena, data, length);
        build.site_count = (uint32_t)store->backend->integer(store, 3);
        build.predicate_count = (uint32_t)store->backend->integer(store, 4);
        id_vec_push(ids, store->backend->integer(store, 0));
        build_vec_push(builds, build);
    }
    return err;
}

static struct error *count_runs(struct store *store, struct build_vec *builds,
                                const struct id_vec *ids)
{
    bool row = true;
    struct error *err = store_start(store, STATEMENT_OUTCOMES, NULL, 0);

    while (!err && !(err = store_step(store, &row)) && row) {
        int64_t id = store->backend->integer(store, 0), outcome = store->backend->integer(store, 1);
        uint64_t runs = (uint64_t)store->backend->integer(store, 2);
        for (size_t i = 0; i < ids->length; i++) {
            struct store_build *build = &builds->data[i];
            if (ids->data[i] == id)
                *(outcome == SUSPECTS_FAILED   ? &build->failed
                  : outcome == SUSPECTS_PASSED ? &build->passed
                                               : &build->unknown) += runs;
        }
    }
    return err;
}

struct error *store_builds(struct store *store, struct arena *arena, struct store_build **ret,
                           uint32_t *count)
{
    struct build_vec builds = VEC_INIT;
    struct id_vec ids = VEC_INIT;
    struct error *err = list_builds(store, arena, &builds, &ids);

    if (!err)
        err = count_runs(store, &builds, &ids);
    if (!err) {
        *ret = arena_memdup(arena, builds.data ? builds.data : (void *)"",
                            builds.length * sizeof(*builds.data));
        *count = (uint32_t)builds.length;
    }
    build_vec_deinit(&builds);
    id_vec_deinit(&ids);
    return err;
}

// ---- Choosing

static struct error *several(struct store *store, const struct store_build *builds, uint32_t count)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

    for (uint32_t i = 0; i < count; i++) {
        const struct store_build *build = &builds[i];
        if (build->passed + build->failed + build->unknown == 0)
            continue;
        strbuf_append(&text, text.length ? ", " : "");
        store_build_id_text(build->build_id, build->build_id_length, &text);
        strbuf_printf(&text, " (%s)", build->path);
    }
    return error_create_file(ERROR_USAGE, store->name,
                             "the store has runs of several builds, say which: %s", text.data);
}

struct error *store_choose(struct store *store, const struct store_rank_request *request,
                           struct arena *arena, struct store_build *ret)
{
    struct store_build *builds;
    const struct store_build *chosen = NULL;
    uint32_t count;
    struct error *err = store_builds(store, arena, &builds, &count);

    if (err)
        return err;
    for (uint32_t i = 0; i < count; i++) {
        const struct store_build *build = &builds[i];
        bool is_meant = request->build_id ? same_id(build->build_id, build->build_id_length,
                                                    request->build_id, request->build_id_length)
                                          : build->passed + build->failed + build->unknown > 0;
        if (is_meant && chosen)
            return several(store, builds, count);
        if (is_meant)
            chosen = build;
    }
    if (!chosen && request->build_id)
        return error_create_file(ERROR_NOT_FOUND, store->name,
                                 "the store does not know this build");
    if (!chosen)
        return error_create_file(ERROR_NOT_FOUND, store->name, "the store has no runs");
    *ret = *chosen;
    return NULL;
}
