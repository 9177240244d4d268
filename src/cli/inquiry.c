// SPDX-License-Identifier: Apache-2.0
#include "cli/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/points_to.h"
#include "ask/case.h"
#include "ask/query.h"
#include "common/alloc.h"
#include "common/budget.h"
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

static struct error *parse_solver(struct inquiry *inquiry)
{
    if (!ask_solver_parse(inquiry->solver_name, &inquiry->solver))
        return error_create(ERROR_USAGE, "--solver is utl, fsa, vpa%s or auto, not '%s'",
                            inquiry->takes_csi ? ", csi" : "", inquiry->solver_name);
    if (inquiry->solver == ASK_SOLVER_CSI && !inquiry->takes_csi)
        return error_create(ERROR_USAGE, "--solver csi answers no queries: it is for coverage; "
                                         "here it is utl, fsa, vpa or auto");
    return NULL;
}

// One word of --log-is.
static bool parse_log_word(const char *word, size_t length, struct log_options *options)
{
    static const struct {
        const char *name;
        enum log_file_kind kind;
    } kinds[] = {{"stdout", LOG_FILE_STDOUT},
                 {"stderr", LOG_FILE_STDERR},
                 {"syslog", LOG_FILE_SYSLOG},
                 {"one-stream", LOG_FILE_ONE}};

    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        if (strlen(kinds[k].name) == length && !strncmp(kinds[k].name, word, length)) {
            options->kind = kinds[k].kind;
            return true;
        }
    if (length > 5 && length < 15 && !strncmp(word, "from=", 5) &&
        strspn(word + 5, "0123456789") >= length - 5) {
        unsigned long line = strtoul(word + 5, NULL, 10);

        options->first_line = (uint32_t)line;
        return line > 0 && line < UINT32_MAX;
    }
    options->one_process |= length == 11 && !strncmp(word, "one-process", length);
    options->any_text |= length == 8 && !strncmp(word, "any-text", length);
    return (length == 11 && options->one_process) || (length == 8 && options->any_text);
}

static struct error *parse_log_is(const char *text, struct log_options *options)
{
    while (text && *text) {
        size_t length = strcspn(text, ",");

        if (!parse_log_word(text, length, options))
            return error_create(ERROR_USAGE,
                                "--log-is has '%.*s', which is none of stdout, stderr, syslog, "
                                "one-stream, one-process, any-text, from=LINE",
                                (int)length, text);
        text += length + (text[length] == ',');
    }
    return NULL;
}

static struct error *read_logs(struct inquiry *inquiry)
{
    struct log_options options = {.complete = inquiry->log_complete};
    struct error *err = parse_log_is(inquiry->log_is, &options);

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

struct error *inquiry_read(struct inquiry *inquiry, const char *executable,
                           const char *const *paths, size_t count)
{
    struct error *err = parse_use(inquiry->use, &inquiry->kinds);
    if (!err && inquiry->solver_name)
        err = parse_solver(inquiry);
    if (!err)
        err = input_open_all(&inquiry->input, executable, paths, count);
    return err ? err : read_logs(inquiry);
}

struct error *inquiry_make_case(struct inquiry *inquiry)
{
    struct error *err = ask_case_create(inquiry->input.model, inquiry->input.evidence,
                                        inquiry->kinds, &inquiry->ask);
    return err ? err : take_given(inquiry);
}

// How long pointers are followed, at most; what is not known then stays as wide as it was.
#define NARROW_SECONDS 120.0

static struct error *narrow_calls(struct inquiry *inquiry)
{
    struct model *model = inquiry->input.model;
    struct callee_table callees;
    struct budget budget;
    struct error *err = model_complete(model);
    if (err)
        return err;
    for (uint32_t m = 0; m < model->module_count; m++)
        if (!model->modules[m].code)
            return error_create(ERROR_UNSUPPORTED, "--narrow needs a model with instructions");
    budget_init(&budget, NARROW_SECONDS, 0);
    struct points_to *points_to = points_to_create(model, &budget);
    points_to_callees(points_to, &callees);
    model_replace_callees(model, &callees);
    points_to_destroy(points_to);
    return NULL;
}

struct error *inquiry_open(struct inquiry *inquiry, const char *executable,
                           const char *const *paths, size_t count)
{
    struct error *err = inquiry_read(inquiry, executable, paths, count);
    if (!err && inquiry->narrow)
        err = narrow_calls(inquiry);
    return err ? err : inquiry_make_case(inquiry);
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
