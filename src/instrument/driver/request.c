#include "instrument/driver/request.h"

#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "instrument/driver/process.h"

void request_deinit(struct request *request)
{
    arguments_deinit(&request->made);
    arguments_deinit(&request->given);
}

static void put(struct strbuf *text, const char *word)
{
    strbuf_append(text, word);
    strbuf_append_char(text, '\0');
}

static void put_all(struct strbuf *text, struct arena *arena, const struct arguments *words)
{
    put(text, arena_printf(arena, "%zu", words->length));
    for (size_t i = 0; i < words->length; i++)
        put(text, words->data[i]);
}

static const char *yes_or_no(bool value)
{
    return value ? "1" : "0";
}

struct error *request_send(const struct request *request, struct arena *arena)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    put(&text, request->driver);
    put(&text, request->linker);
    put(&text, request->compiler);
    put(&text, yes_or_no(request->has_plugin));
    put(&text, yes_or_no(request->samples));
    put(&text, yes_or_no(request->embeds));
    put(&text, yes_or_no(request->warnings_off));
    put_all(&text, arena, &request->made);
    put_all(&text, arena, &request->given);
    int fd = -1; /* stays open: it is clang's from then on */
    struct error *err = memory_file_create("link", &fd);
    if (!err)
        memory_file_keep(fd);
    if (!err)
        err = memory_file_write(fd, text.data, text.length);
    if (!err && setenv(REQUEST_VARIABLE, memory_file_path(arena, fd), 1) != 0)
        err = error_create(ERROR_SYSTEM, "cannot set '%s'", REQUEST_VARIABLE);
    return err;
}

struct words {
    struct arena *arena;
    const char *at, *end;
    bool ended; /* one was asked for behind the end */
};

static const char *take(struct words *words)
{
    const char *word = words->at;
    const char *end = memchr(word, '\0', (size_t)(words->end - word));
    if (!end) {
        words->ended = true;
        return "";
    }
    words->at = end + 1;
    return arena_strdup(words->arena, word);
}

static bool take_bool(struct words *words)
{
    return strcmp(take(words), "1") == 0;
}

static void take_all(struct words *words, struct arguments *ret)
{
    for (unsigned long count = strtoul(take(words), NULL, 10); count && !words->ended; count--)
        arguments_push(ret, take(words));
}

struct error *request_receive(struct arena *arena, struct request *ret)
{
    const char *path = getenv(REQUEST_VARIABLE);
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = path ? file_read(path, &bytes)
                             : error_create(ERROR_USAGE, "this is not a linker: only inquest-cc "
                                                         "runs it, in place of one");
    if (err)
        return err;
    const char *text = (const char *)bytes.data;
    struct words words = {arena, text, text + bytes.size, false};
    *ret = (struct request){0};
    ret->driver = take(&words);
    ret->linker = take(&words);
    ret->compiler = take(&words);
    ret->has_plugin = take_bool(&words);
    ret->samples = take_bool(&words);
    ret->embeds = take_bool(&words);
    ret->warnings_off = take_bool(&words);
    take_all(&words, &ret->made);
    take_all(&words, &ret->given);
    return words.ended ? error_create_file(ERROR_FORMAT, path, "not what inquest-cc wrote") : NULL;
}
