// SPDX-License-Identifier: Apache-2.0
// Any bytes as GraphML: an error, or a model whose text comes back the same.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "program/from_graphml.h"
#include "program/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *write_text(const struct model *model, size_t *length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    assert(stream);
    model_write_text(model, (struct function_id){MODEL_NONE}, false, stream);
    fclose(stream);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model *first, *second;
    struct error *err = model_from_graphml_bytes("fuzz", data, size, &first);
    if (err) {
        error_destroy(err);
        return 0;
    }
    size_t first_length, second_length;
    char *first_text = write_text(first, &first_length);
    assert(!model_read_text("fuzz", first_text, first_length, &second));
    char *second_text = write_text(second, &second_length);
    assert(first_length == second_length && memcmp(first_text, second_text, first_length) == 0);
    free(first_text);
    free(second_text);
    model_destroy(first);
    model_destroy(second);
    return 0;
}
