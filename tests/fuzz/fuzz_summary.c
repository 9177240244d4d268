// SPDX-License-Identifier: Apache-2.0
// cost: 4
// Any evidence, of whatever build: checked against a model, then summarised with and without it.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "evidence/evidence.h"
#include "evidence/evidence_fit.h"
#include "program/model.h"
#include "report/position.h"
#include "report/summary.h"

static const char model_text[] =
    "inquest-model 1\n"
    "file 0 \"/src\" \"a.c\"\n"
    "image 0 executable \"prog\"\n"
    "module 0 image 0 id 0000000000000001 level paths flags 1 source \"a.c\"\n"
    "function 0 module 0 \"f\" debug \"f\" source \"f\" at 0:10 linked unknown level paths record "
    "1 "
    "flags nounwind\n"
    "  node 0 at 0:12:3 flags block -> 1\n"
    "  node 1 at 0:14:3 flags block -> 2 3\n"
    "  node 2 at 0:16:3 flags block -> 1\n"
    "  node 3 at 0:20:5 flags call,block -> 4\n"
    "    site \"g\" flags external callees 0 callbacks 0\n"
    "  node 4 at 0:22:5 flags return\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void summarise(const struct evidence *evidence, struct model *model, bool verbose)
{
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    struct positions *positions = positions_create(model);
    struct summary summary = {
        .evidence = evidence, .positions = positions, .program = "prog", .verbose = verbose};
    assert(!summary_write_text(&summary, nowhere));
    assert(!summary_write_json(&summary, nowhere));
    positions_destroy(positions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model *model;
    struct evidence *evidence;
    if (!model)
        assert(!model_read_text("fuzz", model_text, sizeof(model_text) - 1, &model));
    struct error *err = evidence_read_json((const char *)data, size, "fuzz", &evidence);
    if (!err) {
        err = evidence_fit(evidence, model);
        summarise(evidence, model, size % 2);
        summarise(evidence, NULL, size % 2);
        evidence_destroy(evidence);
    }
    error_destroy(err);
    return 0;
}
