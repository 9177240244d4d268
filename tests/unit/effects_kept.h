// SPDX-License-Identifier: Apache-2.0
// What a call of the C library keeps for a later one: seen to happen, then looked for in the table.
#ifndef TESTS_UNIT_EFFECTS_KEPT_H
#define TESTS_UNIT_EFFECTS_KEPT_H

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/effects.h"

#define ARG_PLACE(i)                                                                               \
    (struct effect_place)                                                                          \
    {                                                                                              \
        EFFECT_ARGUMENT, i                                                                         \
    }
#define AT_PLACE(i)                                                                                \
    (struct effect_place)                                                                          \
    {                                                                                              \
        EFFECT_POINTEE, i                                                                          \
    }
#define NO_PLACE     (struct effect_place){EFFECT_NOTHING, 0}
#define RESULT_PLACE (struct effect_place){EFFECT_RESULT, 0}
#define STATE_PLACE(s)                                                                             \
    (struct effect_place)                                                                          \
    {                                                                                              \
        EFFECT_STATE, s                                                                            \
    }
#define AT_STATE_PLACE(s)                                                                          \
    (struct effect_place)                                                                          \
    {                                                                                              \
        EFFECT_STATE_POINTEE, s                                                                    \
    }

static bool is_place(struct effect_place a, struct effect_place b)
{
    return a.kind == b.kind && a.index == b.index;
}

static void expect(const char *name, enum effect_kind kind, struct effect_place from,
                   struct effect_place to)
{
    const struct effects *effects = effects_find(name);

    assert_non_null(effects);
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->list[i];
        if (effect->kind == kind && is_place(effect->from, from) && is_place(effect->to, to))
            return;
    }
    fail_msg("%s lacks an effect that was seen", name);
}

static void test_tokens_are_kept(void **state)
{
    char *(*cut)(char *, const char *) =
        (char *(*)(char *, const char *))dlsym(RTLD_DEFAULT, "strtok");
    char text[] = "ab cd ef";

    (void)state;
    assert_ptr_equal(cut(text, " "), text);
    if (cut(NULL, " ") == text + 3) { // from the first call's argument, by way of the library
        expect("strtok", EFFECT_COPY, ARG_PLACE(0), STATE_PLACE(EFFECT_STATE_TOKENS));
        expect("strtok", EFFECT_COPY, STATE_PLACE(EFFECT_STATE_TOKENS), RESULT_PLACE);
    }
    if (text[5] == '\0')
        expect("strtok", EFFECT_WRITE, NO_PLACE, AT_STATE_PLACE(EFFECT_STATE_TOKENS));
    assert_int_equal(text[5], 0);
}

static void test_buffers_are_kept(void **state)
{
    static char buffer[BUFSIZ];
    FILE *stream = tmpfile();

    (void)state;
    assert_non_null(stream);
    assert_int_equal(setvbuf(stream, buffer, _IOFBF, sizeof(buffer)), 0);
    fputs("kept", stream);
    assert_memory_equal(buffer, "kept", 4);
    expect("setvbuf", EFFECT_COPY, ARG_PLACE(1), STATE_PLACE(EFFECT_STATE_STREAMS));
    expect("fputs", EFFECT_WRITE, NO_PLACE, AT_STATE_PLACE(EFFECT_STATE_STREAMS));
    expect("printf", EFFECT_WRITE, NO_PLACE, AT_STATE_PLACE(EFFECT_STATE_STREAMS));
    expect("fclose", EFFECT_WRITE, NO_PLACE, AT_STATE_PLACE(EFFECT_STATE_STREAMS));
    fclose(stream);

    char *text = NULL;
    size_t size = 0;
    stream = open_memstream(&text, &size);
    assert_non_null(stream);
    fputs("more", stream);
    fflush(stream);
    assert_int_equal(size, 4);
    assert_string_equal(text, "more");
    expect("open_memstream", EFFECT_ALLOCATES, NO_PLACE, AT_PLACE(0));
    for (uint8_t i = 0; i < 2; i++)
        expect("open_memstream", EFFECT_COPY, ARG_PLACE(i), STATE_PLACE(EFFECT_STATE_STREAMS));
    expect("open_memstream", EFFECT_COPY, AT_PLACE(0), STATE_PLACE(EFFECT_STATE_STREAMS));
    fclose(stream);
    free(text);
}

static void *cookie_given[2];

static ssize_t take_output(void *cookie, const char *buffer, size_t size)
{
    cookie_given[0] = cookie;
    cookie_given[1] = (void *)buffer;
    return (ssize_t)size;
}

static void test_cookies(void **state)
{
    static char cookie, text[20000];
    FILE *stream = fopencookie(&cookie, "w", (cookie_io_functions_t){.write = take_output});

    (void)state;
    assert_non_null(stream);
    memset(text, 'x', sizeof(text) - 1);
    fputs(text, stream);
    fflush(stream);
    assert_ptr_equal(cookie_given[0], &cookie);
    expect("fopencookie", EFFECT_COPY, ARG_PLACE(0), STATE_PLACE(EFFECT_STATE_STREAMS));
    expect("fopencookie", EFFECT_COPY, AT_PLACE(2), STATE_PLACE(EFFECT_STATE_STREAMS));
    expect("fputs", EFFECT_CALLS, STATE_PLACE(EFFECT_STATE_STREAMS), NO_PLACE);
    fclose(stream);
}

static void test_environment_is_kept(void **state)
{
    static char entry[] = "EFFECTS_KEPT=value";

    (void)state;
    assert_int_equal(putenv(entry), 0);
    assert_ptr_equal(getenv("EFFECTS_KEPT"), entry + 13);
    expect("putenv", EFFECT_COPY, ARG_PLACE(0), STATE_PLACE(EFFECT_STATE_ENVIRONMENT));
    expect("getenv", EFFECT_COPY, STATE_PLACE(EFFECT_STATE_ENVIRONMENT), RESULT_PLACE);
    unsetenv("EFFECTS_KEPT");
}

static void *give_back(void *argument)
{
    return argument;
}

static void test_threads_give_back(void **state)
{
    pthread_t thread;
    pthread_key_t key;
    void *given = NULL;
    char some;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, give_back, &some), 0);
    assert_int_equal(pthread_join(thread, &given), 0);
    assert_ptr_equal(given, &some);
    expect("pthread_create", EFFECT_CALLS, ARG_PLACE(2), STATE_PLACE(EFFECT_STATE_THREADS));
    expect("pthread_join", EFFECT_COPY, STATE_PLACE(EFFECT_STATE_THREADS), AT_PLACE(1));

    assert_int_equal(pthread_key_create(&key, NULL), 0);
    pthread_setspecific(key, &some);
    assert_ptr_equal(pthread_getspecific(key), &some);
    expect("pthread_setspecific", EFFECT_COPY, ARG_PLACE(1), STATE_PLACE(EFFECT_STATE_THREADS));
    expect("pthread_getspecific", EFFECT_COPY, STATE_PLACE(EFFECT_STATE_THREADS), RESULT_PLACE);
    pthread_key_delete(key);
}

static void on_signal(int number)
{
    (void)number;
}

static void test_handlers_are_kept(void **state)
{
    struct sigaction action = {.sa_handler = on_signal}, old;

    (void)state;
    signal(SIGUSR2, on_signal);
    assert_ptr_equal(signal(SIGUSR2, SIG_DFL), on_signal);
    expect("signal", EFFECT_COPY, ARG_PLACE(1), STATE_PLACE(EFFECT_STATE_PROCESS));
    expect("signal", EFFECT_COPY, STATE_PLACE(EFFECT_STATE_PROCESS), RESULT_PLACE);
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGUSR2, NULL, &old);
    assert_ptr_equal(old.sa_handler, on_signal);
    expect("sigaction", EFFECT_COPY, AT_PLACE(1), STATE_PLACE(EFFECT_STATE_PROCESS));
    expect("sigaction", EFFECT_COPY, STATE_PLACE(EFFECT_STATE_PROCESS), AT_PLACE(2));
    expect("sigaction", EFFECT_CALLS, AT_PLACE(1), NO_PLACE);
    signal(SIGUSR2, SIG_DFL);
}

static void test_pointers_through_a_pipe(void **state)
{
    int ends[2];
    char some;
    void *sent = &some, *got = NULL;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], &sent, sizeof(sent)), sizeof(sent));
    assert_int_equal(read(ends[0], &got, sizeof(got)), sizeof(got));
    assert_ptr_equal(got, &some);
    expect("write", EFFECT_COPY, AT_PLACE(1), STATE_PLACE(EFFECT_STATE_FILES));
    expect("read", EFFECT_COPY, STATE_PLACE(EFFECT_STATE_FILES), AT_PLACE(1));
    expect("fwrite", EFFECT_COPY, AT_PLACE(0), STATE_PLACE(EFFECT_STATE_FILES));
    expect("fread", EFFECT_COPY, STATE_PLACE(EFFECT_STATE_FILES), AT_PLACE(0));
    close(ends[0]);
    close(ends[1]);
}

static void test_reallocation(void **state)
{
    void **block = malloc(16);
    char some;

    (void)state;
    block[0] = &some;
    block = realloc(block, 100000);
    assert_ptr_equal(block[0], &some);
    expect("realloc", EFFECT_COPY, AT_PLACE(0), (struct effect_place){EFFECT_RESULT_POINTEE, 0});
    expect("realloc", EFFECT_ALLOCATES, NO_PLACE, RESULT_PLACE);
    expect("realloc", EFFECT_RETURNS, ARG_PLACE(0), NO_PLACE);
    expect("realloc", EFFECT_RELEASES, ARG_PLACE(0), NO_PLACE);
    expect("free", EFFECT_RELEASES, ARG_PLACE(0), NO_PLACE);
    free(block);
}

#endif
