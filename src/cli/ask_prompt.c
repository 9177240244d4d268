// SPDX-License-Identifier: Apache-2.0
#include "cli/ask_prompt.h"

#include <ctype.h>
#include <histedit.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "program/model.h"

struct prompt {
    const struct model *model;
    void (*line)(void *context, const char *text);
    void *context;
    bool ended;
};

static void take_line(struct prompt *prompt, char *text)
{
    size_t length = strlen(text);

    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    while (isspace((unsigned char)*text))
        text++;
    if (strcmp(text, "quit") == 0 || strcmp(text, "exit") == 0)
        prompt->ended = true;
    else if (*text && *text != '#')
        prompt->line(prompt->context, text);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

// What all names that begin like the word have in common; how many there are.
static size_t complete_word(const struct model *model, const char *word, size_t length,
                            struct strbuf *common)
{
    size_t count = 0;

    for (uint32_t i = 0; i < model->function_count + model->file_count; i++) {
        const char *name = i < model->function_count
                               ? model->functions[i].name
                               : base_name(model->files[i - model->function_count].name);
        size_t same = 0;

        if (!name || strncmp(name, word, length) != 0)
            continue;
        if (count++ == 0) {
            strbuf_append(common, name);
            continue;
        }
        while (common->data[same] && common->data[same] == name[same])
            same++;
        strbuf_truncate(common, same);
    }
    return count;
}

static unsigned char complete(EditLine *line, int key)
{
    struct prompt *prompt;
    const LineInfo *info = el_line(line);
    const char *word = info->cursor;
    struct strbuf common = STRBUF_INIT;
    unsigned char result = CC_ERROR;

    (void)key;
    el_get(line, EL_CLIENTDATA, &prompt);
    while (word > info->buffer && (isalnum((unsigned char)word[-1]) || strchr("_.-", word[-1])))
        word--;
    size_t length = (size_t)(info->cursor - word);
    if (length && complete_word(prompt->model, word, length, &common) &&
        strlen(common.data) > length && el_insertstr(line, common.data + length) == 0)
        result = CC_REFRESH;
    strbuf_deinit(&common);
    return result;
}

static char *prompt_text(EditLine *line)
{
    static char text[] = "ask> ";

    (void)line;
    return text;
}

static void read_edited(struct prompt *prompt)
{
    EditLine *line = el_init("inquest", stdin, stdout, stderr);
    History *past = history_init();
    HistEvent event;
    const char *text;
    int count;

    history(past, &event, H_SETSIZE, 500);
    el_set(line, EL_PROMPT, prompt_text);
    el_set(line, EL_EDITOR, "emacs");
    el_set(line, EL_HIST, history, past);
    el_set(line, EL_CLIENTDATA, prompt);
    el_set(line, EL_ADDFN, "inquest-complete", "completes names", complete);
    el_set(line, EL_BIND, "^I", "inquest-complete", NULL);
    el_source(line, NULL);
    while (!prompt->ended && (text = el_gets(line, &count)) && count > 0) {
        char *copy = xstrdup(text);

        if (*copy != '\n')
            history(past, &event, H_ENTER, text);
        take_line(prompt, copy);
        free(copy);
    }
    history_end(past);
    el_end(line);
}

struct error *ask_prompt(const struct model *model, void (*line)(void *context, const char *text),
                         void *context)
{
    struct prompt prompt = {model, line, context, false};
    char *text = NULL;
    size_t capacity = 0;

    if (isatty(STDIN_FILENO)) {
        read_edited(&prompt);
        return NULL;
    }
    while (!prompt.ended && getline(&text, &capacity, stdin) >= 0)
        take_line(&prompt, text);
    free(text);
    return NULL;
}
