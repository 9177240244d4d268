// SPDX-License-Identifier: Apache-2.0
// cost: 4
// Any text as a backtrace, joined with a real program: an error, or evidence that fits the model,
// can be summarised, merged with itself, and goes out as JSON and comes back.
#include <assert.h>
#include <stdlib.h>

#include "common/error.h"
#include "evidence/backtrace.h"
#include "evidence/backtrace_evidence.h"
#include "evidence/core/decode.h"
#include "evidence/evidence.h"
#include "evidence/evidence_fit.h"
#include "evidence/merge.h"
#include "program/model.h"
#include "report/position.h"
#include "report/summary.h"
#include "subject.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct subject *programs[2];
static struct model *models[2];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    for (int i = 0; i < 2; i++) {
        programs[i] = subject_open(**argv, i ? "optimised" : "plain");
        assert(!model_open(programs[i]->path, &(struct model_options){0}, &models[i]));
    }
    return 0;
}

static struct evidence *read_back(const struct evidence *evidence)
{
    char *text;
    size_t length;
    struct evidence *again;
    FILE *stream = open_memstream(&text, &length);
    assert(stream && !evidence_write_json(evidence, stream));
    fclose(stream);
    assert(!evidence_read_json(text, length, "fuzz", &again));
    free(text);
    return again;
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

static void check(struct evidence *evidence, struct model *model)
{
    assert(!evidence_fit(evidence, model));
    for (uint32_t t = 0; t < evidence->thread_count; t++)
        for (uint32_t f = 0; f < evidence->threads[t].frame_count; f++)
            assert(evidence->threads[t].frames[f].kind != EVIDENCE_FRAME_MODEL ||
                   evidence->threads[t].frames[f].candidates.count);
    summarise(evidence, model);
    assert(!evidence_merge(&evidence, read_back(evidence)));
    evidence_destroy(evidence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_options options = {0};
    struct backtrace *backtrace;
    struct evidence *evidence;
    if (size == 0)
        return 0;
    int which = data[0] % 2;
    const char *program = data[0] & 2 ? NULL : programs[which]->path;
    struct error *err = backtrace_read((const char *)data + 1, size - 1, "fuzz", &backtrace);
    if (err) {
        error_destroy(err);
        return 0;
    }
    err = backtrace_evidence(backtrace, "fuzz", program, &options, models[which], &evidence);
    if (!err)
        check(evidence, models[which]);
    error_destroy(err);
    backtrace_destroy(backtrace);
    return 0;
}
