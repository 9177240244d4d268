// SPDX-License-Identifier: Apache-2.0
// Any bytes as evidence JSON: an error, or evidence that goes out and comes back the same.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "evidence/evidence.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *write_text(const struct evidence *evidence, size_t *length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    assert(stream && !evidence_write_json(evidence, stream));
    fclose(stream);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct evidence *first, *second;
    struct error *err = evidence_read_json((const char *)data, size, "fuzz", &first);
    if (err) {
        error_destroy(err);
        return 0;
    }
    size_t first_length, second_length;
    char *first_text = write_text(first, &first_length);
    assert(!evidence_read_json(first_text, first_length, "fuzz", &second));
    char *second_text = write_text(second, &second_length);
    assert(first_length == second_length && memcmp(first_text, second_text, first_length) == 0);
    free(first_text);
    free(second_text);
    evidence_destroy(first);
    evidence_destroy(second);
    return 0;
}
