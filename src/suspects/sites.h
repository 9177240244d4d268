// SPDX-License-Identifier: Apache-2.0
/*
 * The sites of an image, as `.inquest.suspects` has them (layout/suspects.h), and what its
 * predicates say.
 *
 *     struct suspects_sites *sites;
 *     err = suspects_sites_open("prog", &sites);
 *     for (uint32_t m = 0; m < sites->module_count; m++) ... sites->modules[m].sites ...
 *     suspects_sites_destroy(sites);
 */
#ifndef SUSPECTS_SITES_H
#define SUSPECTS_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/suspects.h"

struct error;
struct strbuf;

struct suspects_sites_module {
    uint64_t module_id;
    const struct suspects_site *sites;
    uint32_t site_count, counter_count, predicate_count;
    const char *strings; // every offset of a site lies within, and its string ends within
    uint32_t string_length;
};

struct suspects_sites {
    uint8_t build_id[SUSPECTS_BUILD_ID];
    uint32_t build_id_length;
    struct suspects_sites_module *modules; // ascending by module_id, each once
    uint32_t module_count;
    char *path; // of the image
    void *block;
};

// ERROR_NOT_FOUND: the image was not built to sample.
struct error *suspects_sites_open(const char *path, struct suspects_sites **ret);
// The bytes of the section; for tests and stores.
struct error *suspects_sites_read(const void *bytes, size_t length, const char *name,
                                  struct suspects_sites **ret);
void suspects_sites_destroy(struct suspects_sites *sites); // NULL is fine

// NULL: there is none.
const struct suspects_sites_module *suspects_sites_find(const struct suspects_sites *sites,
                                                        uint64_t module_id);
static inline const char *suspects_site_string(const struct suspects_sites_module *module,
                                               uint32_t offset)
{
    return module->strings + offset;
}

// Predicate number `predicate` of the site in words: "x < y", "read() returned 0", "x > 0 is
// false", "f() was entered".
void suspects_predicate_words(uint32_t kind, uint32_t predicate, const char *left,
                              const char *right, struct strbuf *out);
// Where it sits: the first node of its side for a branch, else the site's.
uint32_t suspects_predicate_node(const struct suspects_site *site, uint32_t predicate);

#endif
