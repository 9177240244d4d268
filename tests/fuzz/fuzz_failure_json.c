// SPDX-License-Identifier: Apache-2.0
// Any bytes as a failure report of one program: an error, or evidence that fits the program and
// comes back the same.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/graphml_fixture.h"
#include "evidence/evidence.h"
#include "evidence/evidence_fit.h"
#include "evidence/failure_json.h"
#include "program/from_graphml.h"
#include "program/model.h"

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
    static struct model *model;
    struct evidence *first, *second;
    if (!model)
        assert(!model_from_graphml_bytes("fuzz", graphml_program, strlen(graphml_program), &model));
    struct error *err = failure_json_read((const char *)data, size, "fuzz", model, &first);
    if (err) {
        error_destroy(err);
        return 0;
    }
    assert(!evidence_fit(first, model));
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
