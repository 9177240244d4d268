// SPDX-License-Identifier: Apache-2.0
// `inquest ask EXE EVIDENCE... [QUERY]`: is there a run that fits the evidence and the query?
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask/ask.h"
#include "ask/case.h"
#include "ask/query.h"
#include "cli/ask_prompt.h"
#include "cli/commands.h"
#include "cli/inquiry.h"
#include "cli/options.h"
#include "common/alloc.h"
#include "common/color.h"
#include "common/error.h"
#include "common/vec.h"
#include "report/answer.h"

static const char about[] =
    "Answers whether a run of the program fits both the evidence and QUERY, with a proof: a run\n"
    "that shows it is possible, or the observations that make it impossible. Queries are "
    "described\n"
    "in docs/queries.md: `never init()` asks whether init() may not have run, `parse.c:30 then\n"
    "free()` whether free() may have been called after that line.\n"
    "\n"
    "Without QUERY, queries are read line by line from the terminal or standard input.";

// What has been answered: the same question is not solved twice.
struct asked {
    char *text;
    struct query *query;
    struct ask_result result;
};
VEC_DEFINE(asked_vec, struct asked);

struct asking {
    const struct options *options;
    struct inquiry *inquiry;
    struct ask_session *session;
    struct asked_vec asked;
    bool witness;
    int status;
};

static int status_of(enum ask_verdict verdict)
{
    return verdict == ASK_POSSIBLE     ? CLI_FOUND
           : verdict == ASK_IMPOSSIBLE ? CLI_NOT_FOUND
                                       : CLI_UNDECIDED;
}

static struct error *print(struct asking *asking, const struct query *query,
                           const struct ask_result *result)
{
    asking->status = status_of(result->verdict);
    if (asking->options->json)
        return answer_write_json(asking->inquiry->ask, query, result, stdout);
    if (!asking->options->quiet)
        answer_write_text(
            asking->inquiry->ask, query, result,
            &(struct answer_style){.color = color_enabled(stdout), .witness = asking->witness},
            stdout);
    return NULL;
}

// Before anything is answered: is there any run that fits?
static struct error *check_evidence(struct asking *asking)
{
    struct budget budget;
    struct ask_result result;
    struct error *err = NULL;

    options_budget(asking->options, &budget);
    ask_consistent(asking->session, asking->inquiry->solver, &budget, &result);
    if (result.verdict == ASK_IMPOSSIBLE) {
        struct arena arena;

        arena_init(&arena);
        err = error_create(
            ERROR_FORMAT, "the evidence contradicts itself%s%s", result.because_count ? ": " : "",
            result.because_count ? ask_fact_words(asking->inquiry->ask, result.because[0], &arena)
                                 : "");
        for (uint32_t i = 0; i < result.because_count; i++)
            fprintf(stderr, "inquest: contradiction: %s\n",
                    ask_fact_words(asking->inquiry->ask, result.because[i], &arena));
        arena_deinit(&arena);
    }
    ask_result_deinit(&result);
    return err;
}

static const struct asked *find_asked(const struct asking *asking, const char *text)
{
    for (size_t i = 0; i < asking->asked.length; i++)
        if (!strcmp(asking->asked.data[i].text, text))
            return &asking->asked.data[i];
    return NULL;
}

// Where there are several queries the evidence has been checked.
static struct error *ask_one(struct asking *asking, const char *text, bool interactive)
{
    struct query_place where;
    struct budget budget;
    struct asked new = {0};
    const struct asked *before = find_asked(asking, text);
    if (before)
        return print(asking, before->query, &before->result);
    struct error *err = query_parse(text, asking->inquiry->input.model, &new.query, &where);
    if (err) {
        if (!asking->options->quiet)
            query_print_place(interactive ? stdout : stderr, text, where);
        return err;
    }
    options_budget(asking->options, &budget);
    ask_query(asking->session, new.query, asking->inquiry->solver, &budget, &new.result);
    if (!interactive && new.result.verdict != ASK_POSSIBLE)
        err = check_evidence(asking);
    if (!err)
        err = print(asking, new.query, &new.result);
    new.text = xstrdup(text);
    asked_vec_push(&asking->asked, new);
    return err;
}

static void forget_asked(struct asking *asking)
{
    for (size_t i = 0; i < asking->asked.length; i++) {
        free(asking->asked.data[i].text);
        ask_result_deinit(&asking->asked.data[i].result);
        query_destroy(asking->asked.data[i].query);
    }
    asked_vec_deinit(&asking->asked);
}

static void ask_line(void *context, const char *line)
{
    struct asking *asking = context;
    struct error *err = ask_one(asking, line, true);

    if (err)
        printf("%s\n", err->message);
    error_destroy(err);
    fflush(stdout);
}

static struct error *ask_all(struct asking *asking, const char *query)
{
    asking->session = ask_session_create(asking->inquiry->ask);
    // what is possible shows that the evidence is consistent; ask_one looks where it is not
    struct error *err = query ? ask_one(asking, query, false) : check_evidence(asking);
    if (!err && !query)
        err = ask_prompt(asking->inquiry->input.model, ask_line, asking);
    forget_asked(asking);
    ask_session_destroy(asking->session);
    return err;
}

int cli_ask(int argc, char **argv)
{
    struct inquiry inquiry = {0};
    struct asking asking = {.inquiry = &inquiry};
    const struct option_spec specs[] = {
        {"witness", 'w', NULL, "print the run that shows what is possible", OPTION_FLAG,
         &asking.witness},
        INQUIRY_SPECS(inquiry),
        {0},
    };
    const struct command_help help = {
        .name = "ask",
        .usage = "EXE EVIDENCE... [QUERY] [OPTIONS]",
        .about = about,
        .example = "inquest ask ./prog core 'never init()'\n"
                   "inquest ask ./prog bt.txt --log app.log 'f() then g()' -w",
        .specs = specs,
        .least = 2,
        .most = OPTIONS_ANY};
    struct options options;
    struct error *err = options_parse(&options, &help, argc, argv);
    if (!err && !options.help) {
        size_t files = options.argument_count;
        const char *query = NULL;

        // the last argument is a file, or else a query
        if (files > 2 && access(options.arguments[files - 1], F_OK) != 0)
            query = options.arguments[--files];
        asking.options = &options;
        err = inquiry_open(&inquiry, options.arguments[0], options.arguments + 1, files - 1);
        if (!err)
            err = ask_all(&asking, query);
    }
    inquiry_deinit(&inquiry);
    if (err)
        return options_fail(&options, err);
    options_deinit(&options);
    return asking.status;
}
