// SPDX-License-Identifier: Apache-2.0
/*
 * INQUEST_OPTIONS=KEY=VALUE:KEY=VALUE. Keys that are not ours are left to others. A value may be
 * put into single or double quotes where it has a colon.
 */
#include "runtime/runtime.h"
#include "runtime/system.h"

static bool is_key(const char *text, size_t length, const char *key)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != key[i] || !key[i])
            return false;
    return !key[length];
}

static bool read_number(const char *text, size_t length, uint64_t *ret)
{
    uint64_t value = 0;

    if (!length || length > 19)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    *ret = value;
    return true;
}

// N or 1/N.
static bool read_rate(const char *text, size_t length, uint64_t *ret)
{
    if (length > 2 && text[0] == '1' && text[1] == '/')
        return read_number(text + 2, length - 2, ret) && *ret >= 1;
    return read_number(text, length, ret) && *ret >= 1;
}

// Made absolute: a child that is forked later may stand elsewhere.
static bool read_directory(const char *text, size_t length, char *ret)
{
    size_t at = 0;

    if (!length)
        return false;
    if (text[0] != '/') {
        long got = system_call_3(SYS_getcwd, (long)ret, RUNTIME_PATH, 0);

        if (got <= 1 || ret[0] != '/')
            return false;
        at = (size_t)got - 1; // without the NUL
        ret[at++] = '/';
    }
    if (at + length >= RUNTIME_PATH)
        return false;
    for (size_t i = 0; i < length; i++)
        ret[at++] = text[i];
    ret[at] = '\0';
    return true;
}

static bool set(struct runtime_options *options, const char *key, size_t key_length,
                const char *value, size_t length)
{
    if (is_key(key, key_length, "suspects"))
        return read_directory(value, length, options->directory);
    if (is_key(key, key_length, "rate"))
        return read_rate(value, length, &options->rate);
    if (is_key(key, key_length, "seed"))
        return options->has_seed = read_number(value, length, &options->seed);
    if (is_key(key, key_length, "first")) {
        uint64_t first;

        if (!read_number(value, length, &first) || first > 1)
            return false;
        options->only_chance = !first;
    }
    return true;
}

// One KEY=VALUE; the position behind it.
static const char *read_one(struct runtime_options *options, const char *text, bool *ok)
{
    const char *key = text, *value, *end;

    while (*text && *text != '=' && *text != ':')
        text++;
    if (*text != '=')
        return text;
    value = text + 1;
    char quote = *value == '"' || *value == '\'' ? *value : '\0';
    if (quote)
        value++;
    for (end = value; *end && *end != (quote ? quote : ':'); end++)
        ;
    *ok &= set(options, key, (size_t)(text - key), value, (size_t)(end - value));
    return quote && *end ? end + 1 : end;
}

bool __inquest_options_read(const char *text, struct runtime_options *options)
{
    bool ok = true;

    options->directory[0] = '\0';
    options->rate = 1;
    options->seed = 0;
    options->has_seed = false;
    options->only_chance = false;
    while (text && *text) {
        text = read_one(options, text, &ok);
        while (*text == ':')
            text++;
    }
    return ok && options->directory[0];
}
