#include "instrument/driver/jobs.h"

#include <assert.h>
#include <string.h>

#include "common/arena.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "instrument/driver/process.h"

/* A quoted word at *text, which moves behind it; NULL at the end of the line. */
static const char *word_parse(struct arena *arena, const char **text)
{
    const char *at = *text;
    while (*at == ' ')
        at++;
    if (*at != '"')
        return NULL;
    _cleanup_strbuf_ struct strbuf word = STRBUF_INIT;
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1]) /* before '"', '\' and '$' */
            at++;
        strbuf_append_char(&word, *at);
    }
    *text = *at ? at + 1 : at;
    return arena_strdup(arena, word.data);
}

static struct job job_make(struct arena *arena, const struct arguments *words)
{
    assert(words->length > 0);
    struct job job = {
        .kind = JOB_OTHER,
        .program = words->data[0],
        .arguments =
            arena_memdup(arena, words->data + 1, (words->length - 1) * sizeof(words->data[0])),
        .count = words->length - 1,
    };
    if (job.count && strcmp(job.arguments[0], "-cc1") == 0)
        job.kind = JOB_FRONTEND;
    else if (job.count && strcmp(job.arguments[0], "-cc1as") == 0)
        job.kind = JOB_ASSEMBLER;
    return job;
}

void jobs_parse(struct arena *arena, const char *text, struct jobs *ret)
{
    _cleanup_arguments_ struct arguments words = VEC_INIT;
    while (*text) {
        arguments_clear(&words);
        /* Jobs start with a blank and a quote, other lines (version, directories) do not. */
        if (text[0] == ' ' && text[1] == '"') {
            for (const char *word; (word = word_parse(arena, &text));)
                arguments_push(&words, word);
            jobs_push(ret, job_make(arena, &words));
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
}

/* Warnings may come before it. */
static const char *version_parse(struct arena *arena, const char *text)
{
    const char *word = strstr(text, "clang version ");
    if (!word)
        return "";
    while (word > text && word[-1] != '\n')
        word--;
    return arena_strndup(arena, word, strcspn(word, "\n"));
}

struct error *jobs_ask(struct arena *arena, const char *clang, const struct arguments *arguments,
                       struct jobs *ret, const char **ret_version)
{
    _cleanup_close_ int answer = -1;
    struct error *err = memory_file_create("jobs", &answer);
    if (err)
        return err;
    _cleanup_arguments_ struct arguments question = VEC_INIT;
    arguments_push(&question, "-###");
    arguments_append(&question, arguments->data, arguments->length);
    int status = 0;
    struct process_streams streams = {PROCESS_NULL, PROCESS_NULL, answer};
    err = process_run(arena, clang, &question, streams, &status);
    if (err || status != 0)
        return err;
    const char *text = NULL;
    size_t size = 0;
    err = memory_file_read(arena, answer, &text, &size);
    if (err)
        return err;
    jobs_parse(arena, text, ret);
    *ret_version = version_parse(arena, text);
    return NULL;
}

const struct job *jobs_find_link(const struct jobs *jobs)
{
    if (!jobs->length)
        return NULL;
    const struct job *last = jobs_last(jobs);
    const char *emulation = job_option(last, "-m");
    bool links = last->kind == JOB_OTHER && emulation && strcmp(emulation, "elf_x86_64") == 0;
    return links ? last : NULL;
}

const char *job_option(const struct job *job, const char *option)
{
    for (size_t i = 0; i + 1 < job->count; i++) {
        if (strcmp(job->arguments[i], option) == 0)
            return job->arguments[i + 1];
    }
    return NULL;
}

bool job_has(const struct job *job, const char *argument)
{
    for (size_t i = 0; i < job->count; i++) {
        if (strcmp(job->arguments[i], argument) == 0)
            return true;
    }
    return false;
}

const char *job_input(const struct job *job)
{
    return job->count ? job->arguments[job->count - 1] : "";
}

static const struct job *find_maker(const struct jobs *jobs, const char *file)
{
    for (size_t i = 0; i < jobs->length; i++) {
        const struct job *job = &jobs->data[i];
        const char *output = job_option(job, "-o");
        if (job != jobs_last(jobs) && output && strcmp(output, file) == 0)
            return job;
    }
    return NULL;
}

const struct job *jobs_find_maker(const struct jobs *jobs, const char *file)
{
    const struct job *maker = find_maker(jobs, file);
    for (const struct job *before = maker; before; before = find_maker(jobs, job_input(maker)))
        maker = before;
    return maker;
}

bool job_assembles(const struct job *job)
{
    const char *language = job_option(job, "-x");
    return job->kind != JOB_FRONTEND || (language && has_prefix(language, "assembler"));
}
