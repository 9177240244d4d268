// SPDX-License-Identifier: Apache-2.0
#include "evidence/evidence_text.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "common/strbuf.h"

static const char *const record_names[] = {
    [EVIDENCE_RECORD_NONE] = "none",       [EVIDENCE_RECORD_VALID] = "valid",
    [EVIDENCE_RECORD_OFF] = "off",         [EVIDENCE_RECORD_UNTOLD] = "untold",
    [EVIDENCE_RECORD_UNREADY] = "unready", [EVIDENCE_RECORD_CORRUPT] = "corrupt",
};

static const char *const frame_kind_names[] = {
    [EVIDENCE_FRAME_MODEL] = "model",
    [EVIDENCE_FRAME_FOREIGN] = "foreign",
    [EVIDENCE_FRAME_SIGNAL] = "signal",
};

static const char *const observation_kind_names[] = {
    [EVIDENCE_RAN] = "ran",
    [EVIDENCE_NOT_ALL] = "not-all",
    [EVIDENCE_TRACE] = "trace",
};

static const char *const reliability_names[] = {
    [EVIDENCE_UNRELIABLE] = "unreliable",
    [EVIDENCE_RELIABLE] = "reliable",
    [EVIDENCE_BURST] = "burst",
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static bool parse_name(const char *const *names, size_t count, const char *text, unsigned *out)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = (unsigned)i;
            return true;
        }
    }
    return false;
}

const char *evidence_record_name(enum evidence_record record)
{
    assert((unsigned)record < LENGTH(record_names));
    return record_names[record];
}

const char *evidence_frame_kind_name(enum evidence_frame_kind kind)
{
    assert((unsigned)kind < LENGTH(frame_kind_names));
    return frame_kind_names[kind];
}

const char *evidence_observation_kind_name(enum evidence_observation_kind kind)
{
    assert((unsigned)kind < LENGTH(observation_kind_names));
    return observation_kind_names[kind];
}

const char *evidence_reliability_name(enum evidence_reliability reliability)
{
    assert((unsigned)reliability < LENGTH(reliability_names));
    return reliability_names[reliability];
}

bool evidence_parse_record(const char *text, enum evidence_record *out)
{
    unsigned value;
    if (!parse_name(record_names, LENGTH(record_names), text, &value))
        return false;
    *out = (enum evidence_record)value;
    return true;
}

bool evidence_parse_frame_kind(const char *text, enum evidence_frame_kind *out)
{
    unsigned value;
    if (!parse_name(frame_kind_names, LENGTH(frame_kind_names), text, &value))
        return false;
    *out = (enum evidence_frame_kind)value;
    return true;
}

bool evidence_parse_observation_kind(const char *text, enum evidence_observation_kind *out)
{
    unsigned value;
    if (!parse_name(observation_kind_names, LENGTH(observation_kind_names), text, &value))
        return false;
    *out = (enum evidence_observation_kind)value;
    return true;
}

bool evidence_parse_reliability(const char *text, enum evidence_reliability *out)
{
    unsigned value;
    if (!parse_name(reliability_names, LENGTH(reliability_names), text, &value))
        return false;
    *out = (enum evidence_reliability)value;
    return true;
}

// A decimal number of 32 bits without needless zeros; *text is moved behind it.
static bool parse_number(const char **text, uint32_t *out)
{
    const char *at = *text;
    uint64_t value = 0;
    if (*at < '0' || *at > '9' || (*at == '0' && at[1] >= '0' && at[1] <= '9'))
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *text = at;
    *out = (uint32_t)value;
    return true;
}

static const char truth_letters[] = "ny?"; // by enum evidence_truth

void evidence_append_truths(struct strbuf *text, const uint8_t *truths, uint32_t count)
{
    for (uint32_t i = 0, run; i < count; i += run) {
        assert(truths[i] <= EVIDENCE_UNKNOWN);
        for (run = 1; i + run < count && truths[i + run] == truths[i];)
            run++;
        strbuf_append_char(text, truth_letters[truths[i]]);
        if (run > 1)
            strbuf_printf(text, "%u", run);
    }
}

// The next run of a row of truths; a run that could be joined with the one before is refused.
static bool parse_run(const char **text, char *letter, uint32_t *run)
{
    if (**text == '\0' || **text == *letter || !strchr(truth_letters, **text))
        return false;
    *letter = *(*text)++;
    *run = 1;
    return **text < '0' || **text > '9' || (parse_number(text, run) && *run > 1);
}

bool evidence_parse_truths(struct arena *arena, const char *text, uint32_t limit,
                           const uint8_t **out, uint32_t *count)
{
    uint64_t total = 0;
    uint32_t run;
    char letter = '\0';
    for (const char *at = text; *at; total += run) {
        if (!parse_run(&at, &letter, &run))
            return false;
        if (total + run > limit)
            return false;
    }
    uint8_t *truths = arena_alloc_array(arena, total, uint8_t);
    uint64_t done = 0;
    letter = '\0';
    for (const char *at = text; *at; done += run) {
        bool again = parse_run(&at, &letter, &run);
        assert(again);
        memset(truths + done, (int)(strchr(truth_letters, letter) - truth_letters), run);
    }
    *out = truths;
    *count = (uint32_t)total;
    return true;
}

static const char step_marks[] = {[PATH_STEP_NODE] = '\0',
                                  [PATH_STEP_LOOP] = '*',
                                  [PATH_STEP_PASSES] = '+',
                                  [PATH_STEP_ROUNDS] = '^'};

void evidence_append_path(struct strbuf *text, const struct evidence_path *path)
{
    for (uint32_t i = 0; i < path->step_count; i++) {
        const struct path_step *step = &path->steps[i];
        const char mark[] = {step_marks[step->kind], '\0'};
        strbuf_printf(text, "%s%u%s", i ? " " : "", step->node, mark);
    }
}

// Moves behind one space that something follows.
static bool parse_space(const char **text)
{
    if ((*text)[0] != ' ' || (*text)[1] == '\0')
        return false;
    (*text)++;
    return true;
}

static bool parse_step(const char **text, struct path_step *step)
{
    if (!parse_number(text, &step->node))
        return false;
    step->kind = PATH_STEP_NODE;
    for (size_t kind = 1; kind < sizeof(step_marks); kind++)
        if (**text == step_marks[kind])
            step->kind = (enum path_step_kind)kind;
    if (step->kind != PATH_STEP_NODE)
        (*text)++;
    return true;
}

bool evidence_parse_path(struct arena *arena, const char *text, struct evidence_path *out)
{
    struct evidence_path path = {0};
    size_t most = 1;
    for (const char *at = text; *at; at++)
        most += *at == ' ';
    struct path_step *steps = arena_alloc_array(arena, most, struct path_step);
    do {
        if (!parse_step(&text, &steps[path.step_count++]) || (*text && !parse_space(&text)))
            return false;
    } while (*text);
    path.steps = steps;
    *out = path;
    return true;
}

// --- points ---

void evidence_append_point(struct strbuf *text, const struct evidence_point *point)
{
    strbuf_printf(text, "0x%" PRIx64 ":%" PRIu32 ":%" PRIu32, point->module_id, point->function,
                  point->node);
}

// "0x" and at most 16 digits without needless zeros; *text is moved behind it.
static bool parse_hex(const char **text, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = *text;
    uint64_t value = 0;
    if (at[0] != '0' || at[1] != 'x')
        return false;
    at += 2;
    size_t length = strspn(at, digits);
    if (length == 0 || length > 16 || (at[0] == '0' && length > 1))
        return false;
    for (size_t i = 0; i < length; i++)
        value = value << 4 | (uint64_t)(strchr(digits, at[i]) - digits);
    *text = at + length;
    *out = value;
    return true;
}

bool evidence_parse_point(const char *text, struct evidence_point *out)
{
    struct evidence_point point;
    if (!parse_hex(&text, &point.module_id) || *text++ != ':' ||
        !parse_number(&text, &point.function) || *text++ != ':' ||
        !parse_number(&text, &point.node) || *text != '\0')
        return false;
    *out = point;
    return true;
}
