// SPDX-License-Identifier: Apache-2.0
// Effects in short words (docs/library.md explains them).
#include "analysis/effects.h"

#include <assert.h>

#include "common/strbuf.h"

static const char *state_name(uint8_t state)
{
    static const char *const names[] = {
        [EFFECT_STATE_ERRNO] = "errno",
        [EFFECT_STATE_HEAP] = "heap",
        [EFFECT_STATE_STREAMS] = "streams",
        [EFFECT_STATE_FILES] = "files",
        [EFFECT_STATE_ENVIRONMENT] = "environment",
        [EFFECT_STATE_LOCALE] = "locale",
        [EFFECT_STATE_TIME] = "time",
        [EFFECT_STATE_RANDOM] = "random",
        [EFFECT_STATE_PROCESS] = "process",
        [EFFECT_STATE_THREADS] = "threads",
        [EFFECT_STATE_TOKENS] = "tokens",
        [EFFECT_STATE_DATABASE] = "database",
        [EFFECT_STATE_STRINGS] = "strings",
    };

    static_assert(sizeof(names) / sizeof(*names) == EFFECT_STATE_COUNT, "a name each");
    assert(state < EFFECT_STATE_COUNT);
    return names[state];
}

static void write_place(struct effect_place place, struct strbuf *text)
{
    static const char *const forms[] = {
        [EFFECT_NOTHING] = "-",
        [EFFECT_ARGUMENT] = "%u",
        [EFFECT_POINTEE] = "*%u",
        [EFFECT_REACHABLE] = "all from %u",
        [EFFECT_VARIADIC] = "%u...",
        [EFFECT_VARIADIC_POINTEE] = "*%u...",
        [EFFECT_RESULT] = "result",
        [EFFECT_RESULT_POINTEE] = "*result",
        [EFFECT_POINTEE_POINTEE] = "**%u",
        [EFFECT_LISTED] = "list %u",
        [EFFECT_LISTED_POINTEE] = "*list %u",
    };

    if (place.kind == EFFECT_STATE || place.kind == EFFECT_STATE_POINTEE) {
        strbuf_printf(text, "%s%s", place.kind == EFFECT_STATE ? "" : "*", state_name(place.index));
        return;
    }
    assert(place.kind < sizeof(forms) / sizeof(*forms) && forms[place.kind]);
    for (const char *at = forms[place.kind]; *at; at++)
        if (at[0] == '%' && at[1] == 'u') {
            strbuf_printf(text, "%u", place.index);
            at++;
        } else {
            strbuf_append_char(text, *at);
        }
}

static void write_extent(struct effect_extent extent, struct strbuf *text)
{
    switch (extent.kind) {
    case EFFECT_ANY_LENGTH:
        return;
    case EFFECT_BYTES:
        strbuf_printf(text, "[%u]", extent.length);
        return;
    case EFFECT_TIMES:
        strbuf_printf(text, "[#%u", extent.length);
        if (extent.other != EFFECT_NO_ARGUMENT)
            strbuf_printf(text, " x #%u", extent.other);
        strbuf_append_char(text, ']');
        return;
    case EFFECT_STRING:
        strbuf_append(text, "[text]");
        return;
    case EFFECT_SCALED:
        strbuf_printf(text, "[#%u x %u]", extent.length, extent.other);
        return;
    }
    assert(!"an extent of no kind");
}

static void write_arguments(const struct effect *effect, struct strbuf *text)
{
    uint32_t count = EFFECT_MOST_ARGUMENTS;

    while (count && effect->arguments[count - 1].kind == EFFECT_NOTHING)
        count--;
    strbuf_append_char(text, '(');
    for (uint32_t i = 0; i < count; i++) {
        strbuf_append(text, i ? ", " : "");
        write_place(effect->arguments[i], text);
    }
    strbuf_append_char(text, ')');
}

static const char *verb(const struct effect *effect)
{
    switch (effect->kind) {
    case EFFECT_READ:
        return "reads ";
    case EFFECT_WRITE:
        return "writes ";
    case EFFECT_COPY:
        return effect->moved ? "moves " : "copies ";
    case EFFECT_SETS:
        return "sets ";
    case EFFECT_ALLOCATES:
        return "new ";
    case EFFECT_RELEASES:
        return "ends ";
    case EFFECT_CALLS:
        return effect->moved ? "calls within " : "calls ";
    case EFFECT_RETURNS:
        return effect->moved ? "gives within " : "gives ";
    }
    assert(!"an effect of no kind");
}

static void write_effect(const struct effect *effect, bool with_verb, struct strbuf *text)
{
    strbuf_append(text, with_verb ? verb(effect) : "");
    if (effect->from.kind != EFFECT_NOTHING)
        write_place(effect->from, text);
    if (effect->kind == EFFECT_CALLS)
        write_arguments(effect, text);
    if (effect->from.kind != EFFECT_NOTHING && effect->to.kind != EFFECT_NOTHING)
        strbuf_append(text, " > ");
    if (effect->to.kind != EFFECT_NOTHING)
        write_place(effect->to, text);
    write_extent(effect->extent, text);
}

void effects_write_text(const struct effects *effects, struct strbuf *text)
{
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->list[i];
        bool same = i && verb(effect) == verb(effect - 1);

        strbuf_append(text, i == 0 ? "" : same ? ", " : "; ");
        write_effect(effect, !same, text);
    }
    if (effects->never_returns)
        strbuf_append(text, effects->count ? "; never returns" : "never returns");
    else if (effects->count == 0)
        strbuf_append(text, "nothing");
}
