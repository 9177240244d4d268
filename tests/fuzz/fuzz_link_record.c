// SPDX-License-Identifier: Apache-2.0
// Records of links: what is read is written as it was, and can be asked for what the link needs.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "common/error.h"
#include "common/strbuf.h"
#include "program/image.h"
#include "program/link_needs.h"
#include "program/link_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_needs(const struct link_record *record)
{
    struct image_link link = {.id = 1, .record = *record};
    struct image image = {.path = "fuzz", .links = &link, .link_count = 1};
    struct link_needs needs;
    struct error *err = link_needs_find(&image, "/nowhere", &needs);

    assert(!err == !record->relocatable);
    if (!err) {
        for (size_t i = 0; i < needs.length; i++)
            assert(needs.data[i].name && *link_need_advice(&needs.data[i]));
        link_needs_destroy(&needs);
    }
    error_destroy(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct link_record record;
    struct error *err = link_record_parse("fuzz", 0, data, size, &record);

    if (!err) {
        struct strbuf text = STRBUF_INIT;
        link_record_write(&record, &text);
        assert(text.length == size && memcmp(text.data, data, size) == 0);
        strbuf_deinit(&text);
        ask_needs(&record);
        link_record_deinit(&record);
    }
    error_destroy(err);
    return 0;
}
