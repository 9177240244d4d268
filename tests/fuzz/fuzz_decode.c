// SPDX-License-Identifier: Apache-2.0
// cost: 20
// Cores of a real crash, edited: decoded against their program end to end, then summarised. What is
// decoded must fit the model, and go out as JSON and come back.
#include <assert.h>
#include <stdlib.h>

#include "common/error.h"
#include "evidence/core/decode.h"
#include "evidence/evidence.h"
#include "evidence/evidence_fit.h"
#include "program/model.h"
#include "report/position.h"
#include "report/summary.h"
#include "subject.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct subject *cores[2], *programs[2];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    for (int i = 0; i < 2; i++) {
        cores[i] = subject_open(**argv, i ? "optimised.core" : "plain.core");
        programs[i] = subject_open(**argv, i ? "optimised" : "plain");
        // most of the records lie there: the last page but one of the stack, which is mapped last
        struct subject_region *last = &cores[i]->regions[cores[i]->region_count - 1];
        for (size_t k = 1; k <= 4 && k * 4096 <= last->size; k++)
            subject_add_region(cores[i], last->start + last->size - k * 4096, 4096);
    }
    return 0;
}

static void read_back(const struct evidence *evidence)
{
    char *text;
    size_t length;
    struct evidence *again;
    FILE *stream = open_memstream(&text, &length);
    assert(stream && !evidence_write_json(evidence, stream));
    fclose(stream);
    assert(!evidence_read_json(text, length, "fuzz", &again));
    evidence_destroy(again);
    free(text);
}

static void summarise(const struct evidence *evidence, struct model *model)
{
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    struct positions *positions = positions_create(model);
    struct summary summary = {
        .evidence = evidence, .positions = positions, .program = "program", .verbose = true};
    assert(!summary_write_text(&summary, nowhere));
    assert(!summary_write_json(&summary, nowhere));
    positions_destroy(positions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_options options = {.sysroot = "/nonexistent"};
    struct model *model;
    struct evidence *evidence;
    if (size == 0)
        return 0;
    int which = data[0] % 2;
    size_t edited_size;
    unsigned char *edited = subject_edit(cores[which], data + 1, size - 1, &edited_size);
    const char *core = subject_file("core", edited, edited_size);
    free(edited);
    struct error *err = decode_core(programs[which]->path, core, &options, &model, &evidence);
    if (err) {
        error_destroy(err);
        return 0;
    }
    assert(!evidence_fit(evidence, model));
    read_back(evidence);
    summarise(evidence, model);
    evidence_destroy(evidence);
    model_destroy(model);
    return 0;
}
