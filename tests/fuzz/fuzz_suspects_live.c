// SPDX-License-Identifier: Apache-2.0
// Any bytes as a live file, from behind its magic on: an error, or a report that comes back.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "suspects/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct suspects_report *report, *again;
    struct strbuf bytes = STRBUF_INIT;
    // the input, and then zeros up to two pages of counters, so that small inputs get far
    size_t length = 8 + size < 3 * SUSPECTS_PAGE ? 3 * SUSPECTS_PAGE : 8 + size;
    uint8_t *live = xcalloc(1, length);
    memcpy(live, SUSPECTS_LIVE_MAGIC, 8);
    if (size)
        memcpy(live + 8, data, size);
    struct error *err = suspects_report_from_live(live, length, "fuzz", &report);
    if (!err) {
        suspects_report_write(report, &bytes);
        assert(!suspects_report_read(bytes.data, bytes.length, "fuzz", &again));
        assert(again->count_count == report->count_count);
        suspects_report_destroy(again);
        suspects_report_destroy(report);
    }
    error_destroy(err);
    strbuf_deinit(&bytes);
    free(live);
    return 0;
}
