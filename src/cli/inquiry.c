// SPDX-License-Identifier: Apache-2.0
#include "cli/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "ask/case.h"
#include "ask/query.h"
#include "common/alloc.h"
#include "common/error.h"
#include "evidence/log.h"
#include "program/model.h"

static struct error *parse_use(const char *text, unsigned *ret)
{
    static const struct {
        const char *name;
        unsigned use;
    } kinds[] = {{"stack", ASK_USE_STACK},
                 {"coverage", ASK_USE_COVERAGE},
                 {"paths", ASK_USE_PATHS},
                 {"logs", ASK_USE_LOGS}};

    *ret = text ? 0 : ASK_USE_ALL;
    while (text && *text) {
        size_t length = strcspn(text, ","), k = 0;

        while (k < 4 && (strlen(kinds[k].name) != length || strncmp(kinds[k].name, text, length)))
            k++;
        if (k == 4)
            return error_create(ERROR_USAGE,
                                "--use has '%.*s', which is none of stack, coverage, paths, logs",
                                (int)length, text);
        *ret |= kinds[k].use;
        text += length + (text[length] == ',');
    }
    return NULL;
}

static struct error *read_logs(struct inquiry *inquiry)
{
    struct log_options options = {.complete = inquiry->log_complete};
    struct error *err = NULL;

    for (size_t i = 0; !err && i < inquiry->logs.count; i++)
        err = log_read(inquiry->input.model, inquiry->logs.data[i].text, &options,
                       inquiry->input.evidence);
    return err;
}

static struct error *take_given(struct inquiry *inquiry)
{
    struct error *err = NULL;

    inquiry->queries = xcalloc(inquiry->given.count + 1, sizeof(*inquiry->queries));
    for (size_t i = 0; !err && i < inquiry->given.count; i++) {
        err = query_parse(inquiry->given.data[i].text, inquiry->input.model, &inquiry->queries[i],
                          NULL);
        if (!err)
            ask_case_given(inquiry->ask, inquiry->queries[i]);
    }
    return err;
}

struct error *inquiry_open(struct inquiry *inquiry, const char *executable,
                           const char *const *paths, size_t count)
{
    unsigned use;
    struct error *err = parse_use(inquiry->use, &use);
    if (!err && inquiry->solver_name && !ask_solver_parse(inquiry->solver_name, &inquiry->solver))
        err = error_create(ERROR_USAGE, "--solver is utl, fsa, vpa or auto, not '%s'",
                           inquiry->solver_name);
    if (!err)
        err = input_open_all(&inquiry->input, executable, paths, count);
    if (!err)
        err = read_logs(inquiry);
    if (!err)
        err = ask_case_create(inquiry->input.model, inquiry->input.evidence, use, &inquiry->ask);
    return err ? err : take_given(inquiry);
}

void inquiry_deinit(struct inquiry *inquiry)
{
    ask_case_destroy(inquiry->ask);
    for (size_t i = 0; inquiry->queries && i < inquiry->given.count; i++)
        query_destroy(inquiry->queries[i]);
    free(inquiry->queries);
    free(inquiry->logs.data);
    free(inquiry->given.data);
    input_deinit(&inquiry->input);
    *inquiry = (struct inquiry){0};
}
