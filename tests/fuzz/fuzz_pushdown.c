// SPDX-License-Identifier: Apache-2.0
// Any bytes as the text of a pushdown system: an error, or one whose text comes back the same.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "solve/pushdown/pushdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pushdown *first, *second;
    struct pushdown_automaton *set, *again;
    struct strbuf one = STRBUF_INIT, other = STRBUF_INIT;
    char *text = xstrndup((const char *)data, size);
    struct error *err = pushdown_parse(text, "fuzz", &semiring_length, &first, &set);

    free(text);
    if (err) {
        error_destroy(err);
        return 0;
    }
    pushdown_print(first, set, &one);
    assert(!pushdown_parse(one.data, "fuzz", &semiring_length, &second, &again));
    pushdown_print(second, again, &other);
    assert(one.length == other.length && memcmp(one.data, other.data, one.length) == 0);
    pushdown_automaton_destroy(set);
    pushdown_automaton_destroy(again);
    pushdown_destroy(first);
    pushdown_destroy(second);
    strbuf_deinit(&one);
    strbuf_deinit(&other);
    return 0;
}
