// SPDX-License-Identifier: Apache-2.0
// Tables of sites: read and checked once, so that nobody has to look twice.
#include "suspects/sites.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "layout/section.h"
#include "program/image.h"

// ---- One module

static struct error *bad(const char *name, uint64_t offset, const char *what)
{
    return error_create_at_offset(ERROR_FORMAT, name, offset, "damaged table of sites: %s", what);
}

static const char *check_site(const struct suspects_site *site, const struct suspects_module *head,
                              uint32_t counter, uint32_t predicate)
{
    if (suspects_counters(site->kind) == 0)
        return "a site is of a kind that there is not";
    if (site->first_counter != counter || site->first_predicate != predicate)
        return "counters or predicates are not numbered site by site";
    if (site->left >= head->string_length || site->right >= head->string_length ||
        site->file >= head->string_length || site->function_name >= head->string_length)
        return "a string lies behind the end";
    if (site->operator> SUSPECTS_LESS_EQUAL)
        return "a site has an operator that there is not";
    return NULL;
}

// That the payload is what it should be; `ret` borrows from it.
static struct error *check_module(const unsigned char *payload, size_t length, const char *name,
                                  uint64_t offset, struct suspects_sites_module *ret)
{
    struct suspects_module head;
    uint64_t counter = 0, predicate = 0;

    if (length < sizeof(head))
        return bad(name, offset, "it ends too early");
    memcpy(&head, payload, sizeof(head));
    uint64_t size = sizeof(head) + (uint64_t)head.site_count * sizeof(struct suspects_site);
    if (length != size + head.string_length)
        return bad(name, offset, "its length is wrong");
    const char *strings = (const char *)payload + size;
    if (head.site_count && (head.string_length == 0 || strings[head.string_length - 1] != '\0'))
        return bad(name, offset, "its last string does not end");
    const struct suspects_site *sites = (const void *)(payload + sizeof(head));
    for (uint32_t s = 0; s < head.site_count; s++) {
        const char *what =
            counter > UINT32_MAX || predicate > UINT32_MAX
                ? "it has too many counters"
                : check_site(&sites[s], &head, (uint32_t)counter, (uint32_t)predicate);
        if (what)
            return bad(name, offset, what);
        counter += suspects_counters(sites[s].kind);
        predicate += suspects_predicates(sites[s].kind);
    }
    if (counter != head.counter_count || predicate != head.predicate_count)
        return bad(name, offset, "it has another number of counters than it says");
    *ret = (struct suspects_sites_module){.module_id = head.module_id,
                                          .sites = sites,
                                          .site_count = head.site_count,
                                          .counter_count = head.counter_count,
                                          .predicate_count = head.predicate_count,
                                          .strings = strings,
                                          .string_length = head.string_length};
    return NULL;
}

// ---- All of them

static int by_module(const void *a, const void *b)
{
    const struct suspects_sites_module *x = a, *y = b;

    return (x->module_id > y->module_id) - (x->module_id < y->module_id);
}

static bool same_table(const struct suspects_sites_module *a, const struct suspects_sites_module *b)
{
    return a->site_count == b->site_count && a->string_length == b->string_length &&
           (a->site_count == 0 ||
            memcmp(a->sites, b->sites, a->site_count * sizeof(*a->sites)) == 0) &&
           memcmp(a->strings, b->strings, a->string_length) == 0;
}

// One source that was linked twice has one table twice.
static struct error *drop_duplicates(struct suspects_sites *sites, const char *name)
{
    uint32_t kept = 0;

    for (uint32_t m = 0; m < sites->module_count; m++) {
        struct suspects_sites_module *module = &sites->modules[m];
        if (kept && sites->modules[kept - 1].module_id == module->module_id) {
            if (!same_table(&sites->modules[kept - 1], module))
                return error_create_file(ERROR_FORMAT, name,
                                         "damaged table of sites: module 0x%llx has two",
                                         (unsigned long long)module->module_id);
            continue;
        }
        sites->modules[kept++] = *module;
    }
    sites->module_count = kept;
    return NULL;
}

// Payloads into one block of ours, aligned, so that the image can go.
static struct error *read_frames(const struct image_frame *frames, uint32_t count, const char *name,
                                 struct suspects_sites *sites)
{
    size_t size = 0, at = 0;
    struct error *err = NULL;

    for (uint32_t f = 0; f < count; f++)
        if (frames[f].kind == SECTION_KIND_SUSPECTS)
            size += (frames[f].length + 7) & ~(size_t)7;
    unsigned char *block = sites->block = xmalloc(size);
    sites->modules = xcalloc(count, sizeof(*sites->modules));
    for (uint32_t f = 0; f < count && !err; f++) {
        if (frames[f].kind != SECTION_KIND_SUSPECTS)
            continue;
        if (frames[f].length)
            memcpy(block + at, frames[f].payload, frames[f].length);
        err = check_module(block + at, frames[f].length, name, frames[f].offset,
                           &sites->modules[sites->module_count++]);
        at += (frames[f].length + 7) & ~(size_t)7;
    }
    if (err)
        return err;
    qsort(sites->modules, sites->module_count, sizeof(*sites->modules), by_module);
    return drop_duplicates(sites, name);
}

static struct error *finish(struct error *err, const char *path, struct suspects_sites *sites,
                            struct suspects_sites **ret)
{
    if (!err && sites->module_count == 0)
        err = error_create_file(ERROR_NOT_FOUND, path,
                                "no table of sites: not built with -finquest=LEVEL,suspects");
    if (err) {
        suspects_sites_destroy(sites);
        return err;
    }
    *ret = sites;
    return NULL;
}

struct error *suspects_sites_read(const void *bytes, size_t length, const char *name,
                                  struct suspects_sites **ret)
{
    _cleanup_free_ struct image_frame *frames = NULL;
    uint32_t count;
    struct error *err = image_parse_frames(name, bytes, length, &frames, &count);

    if (err)
        return err;
    struct suspects_sites *sites = xcalloc(1, sizeof(*sites));
    sites->path = xstrdup(name);
    return finish(read_frames(frames, count, name, sites), name, sites, ret);
}

struct error *suspects_sites_open(const char *path, struct suspects_sites **ret)
{
    struct image *image;
    struct error *err = image_open(path, NULL, 0, &image);

    if (err)
        return err;
    struct suspects_sites *sites = xcalloc(1, sizeof(*sites));
    sites->path = xstrdup(path);
    sites->build_id_length = image->build_id_size > SUSPECTS_BUILD_ID
                                 ? SUSPECTS_BUILD_ID
                                 : (uint32_t)image->build_id_size;
    if (sites->build_id_length)
        memcpy(sites->build_id, image->build_id, sites->build_id_length);
    err = read_frames(image->frames, image->frame_count, image->model_path, sites);
    image_destroy(image);
    return finish(err, path, sites, ret);
}

void suspects_sites_destroy(struct suspects_sites *sites)
{
    if (!sites)
        return;
    free(sites->modules);
    free(sites->block);
    free(sites->path);
    free(sites);
}

const struct suspects_sites_module *suspects_sites_find(const struct suspects_sites *sites,
                                                        uint64_t module_id)
{
    const struct suspects_sites_module key = {.module_id = module_id};

    return sites->module_count ? bsearch(&key, sites->modules, sites->module_count,
                                         sizeof(*sites->modules), by_module)
                               : NULL;
}

// ---- Predicates

static const char *const three_way[6] = {"<", "==", ">", ">=", "!=", "<="};

static const char *const float_kinds[SUSPECTS_FLOAT_COUNT] = {
    "-infinity", "negative", "negative and subnormal", "-0.0", "not a number", "0.0", "subnormal",
    "positive",  "+infinity"};

// "read() returned 0", "(*hook)() returned < 0"
static void append_return(struct strbuf *out, const char *callee, uint32_t predicate)
{
    if (*callee == '\0')
        strbuf_append(out, "the call");
    else
        strbuf_printf(out, *callee == '*' ? "(%s)()" : "%s()", callee);
    strbuf_printf(out, " returned %s0",
                  (const char *const[]){"< ", "", "> ", ">= ", "!= ", "<= "}[predicate]);
}

void suspects_predicate_words(uint32_t kind, uint32_t predicate, const char *left,
                              const char *right, struct strbuf *out)
{
    switch (kind) {
    case SUSPECTS_BRANCH:
    case SUSPECTS_WATCH:
        strbuf_printf(out, "%s is %s", *left ? left : "the condition",
                      predicate ? "true" : "false");
        break;
    case SUSPECTS_RETURN:
        append_return(out, left, predicate % 6);
        break;
    case SUSPECTS_PAIR:
        strbuf_printf(out, "%s %s %s", left, three_way[predicate % 6], right);
        break;
    case SUSPECTS_FLOAT:
        strbuf_printf(out, "%s is %s", left, float_kinds[predicate % SUSPECTS_FLOAT_COUNT]);
        break;
    case SUSPECTS_ENTRY:
        strbuf_printf(out, "%s() was entered", left);
        break;
    default:
        strbuf_append(out, "?");
    }
}

uint32_t suspects_predicate_node(const struct suspects_site *site, uint32_t predicate)
{
    uint32_t side = predicate ? site->node_true : site->node_false;

    return site->kind == SUSPECTS_BRANCH && side != SUSPECTS_NONE ? side : site->node;
}
