// SPDX-License-Identifier: Apache-2.0
// cost: 20
// A good core with an edited program (ELF, DWARF, line tables, call frame information, our
// sections) whose build-id is left as it was: decoded end to end, or refused. Read for `tune` and
// `dump`, too.
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "evidence/core/decode.h"
#include "evidence/core/flag_bytes.h"
#include "evidence/evidence.h"
#include "program/model.h"
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
    }
    return 0;
}

static void dump(const char *path)
{
    static FILE *nowhere;
    struct model *model;
    struct model_options options = {0};
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    struct error *err = model_open(path, &options, &model);
    if (!err) {
        err = model_complete(model);
        if (!err)
            model_write_text(model, (struct function_id){MODEL_NONE}, true, nowhere);
        model_destroy(model);
    }
    error_destroy(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_options options = {.sysroot = "/nonexistent"};
    struct model *model;
    struct evidence *evidence;
    struct flag_bytes *flags;
    size_t edited_size, count;
    if (size == 0)
        return 0;
    int which = data[0] % 2;
    unsigned char *edited = subject_edit(programs[which], data + 1, size - 1, &edited_size);
    const char *path = subject_file("program", edited, edited_size);
    struct error *err = flag_bytes_find(path, edited, edited_size, &flags, &count);
    if (!err)
        free(flags);
    error_destroy(err);
    free(edited);
    err = decode_core(path, cores[which]->path, &options, &model, &evidence);
    if (!err) {
        evidence_destroy(evidence);
        model_destroy(model);
    }
    error_destroy(err);
    dump(path);
    return 0;
}
