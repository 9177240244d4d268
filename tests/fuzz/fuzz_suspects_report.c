// SPDX-License-Identifier: Apache-2.0
// Any bytes as a report behind a right length and hash: an error, or the same bytes again.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "suspects/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct suspects_report *report;
    struct strbuf again = STRBUF_INIT;
    size_t length = 16 + size + 8;
    uint8_t *bytes = xcalloc(1, length);
    memcpy(bytes, "INQREPT\n\1", 9);
    memcpy(bytes + 12, &(uint32_t){(uint32_t)length}, 4);
    if (size)
        memcpy(bytes + 16, data, size);
    memcpy(bytes + length - 8, &(uint64_t){hash_bytes(HASH_SEED, bytes, length - 8)}, 8);
    struct error *err = suspects_report_read(bytes, length, "fuzz", &report);
    if (!err) {
        suspects_report_write(report, &again);
        assert(again.length == length && memcmp(again.data, bytes, length) == 0);
        suspects_report_destroy(report);
    }
    error_destroy(err);
    strbuf_deinit(&again);
    free(bytes);
    return 0;
}
