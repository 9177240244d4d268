// SPDX-License-Identifier: Apache-2.0
// Any bytes as a table of sites in a right frame: an error, or sites that all can be put in words.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "layout/section.h"
#include "suspects/sites.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct suspects_sites_module *module)
{
    struct strbuf words = STRBUF_INIT;
    for (uint32_t s = 0; s < module->site_count; s++) {
        const struct suspects_site *site = &module->sites[s];
        assert(strlen(suspects_site_string(module, site->file)) < module->string_length);
        assert(strlen(suspects_site_string(module, site->function_name)) < module->string_length);
        for (uint32_t p = 0; p < suspects_predicates(site->kind); p++) {
            suspects_predicate_words(site->kind, p, suspects_site_string(module, site->left),
                                     suspects_site_string(module, site->right), &words);
            suspects_predicate_node(site, p);
        }
        strbuf_clear(&words);
    }
    strbuf_deinit(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct suspects_sites *sites;
    struct section_header header = {.version = SECTION_VERSION,
                                    .kind = SECTION_KIND_SUSPECTS,
                                    .payload_length = size,
                                    .payload_hash = hash_bytes(HASH_SEED, data, size)};
    memcpy(header.magic, SECTION_MAGIC, sizeof(header.magic));
    uint8_t *section = xmalloc(sizeof(header) + size);
    memcpy(section, &header, sizeof(header));
    if (size)
        memcpy(section + sizeof(header), data, size);
    struct error *err = suspects_sites_read(section, sizeof(header) + size, "fuzz", &sites);
    free(section);
    for (uint32_t m = 0; !err && m < sites->module_count; m++)
        use(&sites->modules[m]);
    if (!err)
        suspects_sites_destroy(sites);
    error_destroy(err);
    return 0;
}
