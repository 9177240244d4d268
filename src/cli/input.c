// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "evidence/core/decode.h"
#include "evidence/evidence.h"
#include "evidence/open.h"
#include "program/model.h"

const char **option_values_texts(const struct option_values *values)
{
    if (values->count == 0)
        return NULL;
    const char **texts = xcalloc(values->count + 1, sizeof(*texts));
    for (size_t i = 0; i < values->count; i++)
        texts[i] = values->data[i].text;
    return texts;
}

static void close_both(struct input *input)
{
    evidence_destroy(input->evidence);
    model_destroy(input->model);
    input->evidence = NULL;
    input->model = NULL;
}

struct error *input_open(struct input *input, const char *executable, const char *path)
{
    return input_open_all(input, executable, &path, 1);
}

struct error *input_open_all(struct input *input, const char *executable, const char *const *paths,
                             size_t count)
{
    _cleanup_free_ const char **directories = option_values_texts(&input->debug_directories);
    struct decode_options options = {
        .debug_directories = directories, .sysroot = input->sysroot, .no_cache = input->no_cache};
    close_both(input);
    return evidence_open_all(executable, paths, count, &options, &input->model, &input->evidence);
}

void input_deinit(struct input *input)
{
    close_both(input);
    free(input->debug_directories.data);
    *input = (struct input){0};
}
