// SPDX-License-Identifier: Apache-2.0
// Logs: formats, prefixes, who may have written a line, and what lines prove together.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "evidence/evidence.h"
#include "evidence/log_observe.h"
#include "evidence/log_part.h"
#include "evidence/log_prefix.h"

// ---- Formats

static void assert_format(const char *format, const char *expected)
{
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    struct log_patterns patterns = VEC_INIT;
    log_format_parse(&arena, format, strlen(format), NULL, &patterns);
    assert_int_equal(patterns.length, 1);
    log_pattern_print(patterns.data[0], &text);
    assert_string_equal(text.data, expected);
    log_patterns_deinit(&patterns);
}

static void test_formats(void **state)
{
    (void)state;
    assert_format("", "");
    assert_format("plain\n", "plain\\n");
    assert_format("%d%% of %5.2f\n", "<integer>% of <float>\\n");
    assert_format("%s: %m%n", "<text>: <line>");
    assert_format("%-*.*lx|%#o|%p|%c", "<hex>|<integer>|<pointer>|<char>");
    assert_format("%2$s and %1$d", "<text> and <integer>");
    assert_format("%'d", "<line>"); // as the locale groups digits
    assert_format("%ls %5c %Y %", "<text> <text> <text> <text>");
    assert_format("%jd %zu %hhd %lld %td", "<integer> <integer> <integer> <integer> <integer>");
}

static void two_words(void *context, uint32_t index, struct log_patterns *out)
{
    struct arena *arena = context;
    log_patterns_add(arena, out, log_pattern_literal(arena, index == 1 ? "one" : "zero", 3));
    log_patterns_add(arena, out, log_pattern_literal(arena, "two", 3));
}

static void test_known_texts(void **state)
{
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    struct log_patterns patterns = VEC_INIT;
    struct log_arguments arguments = {two_words, &arena};
    log_format_parse(&arena, "%d[%s] %9s", 10, &arguments, &patterns);
    assert_int_equal(patterns.length, 2);
    for (size_t i = 0; i < 2; i++)
        log_pattern_print(patterns.data[i], &text);
    assert_string_equal(text.data, "<integer>[one] <text><integer>[two] <text>");
    // Too many alternatives are one hole.
    log_patterns_clear(&patterns);
    log_format_parse(&arena, "%s%s%s%s%s%s%s", 14, &arguments, &patterns);
    assert_true(patterns.length <= LOG_ALTERNATIVES);
    log_patterns_deinit(&patterns);
}

// ---- Prefixes

static void assert_prefix(const char *line, const char *rest, int64_t pid)
{
    struct log_prefix prefix;
    log_prefix_read(line, strlen(line), &prefix);
    if (!rest) {
        assert_int_equal(prefix.count, 0);
        return;
    }
    assert_true(prefix.count > 0);
    assert_string_equal(line + prefix.ends[prefix.count - 1], rest);
    assert_int_equal(prefix.pid, pid);
    for (unsigned i = 1; i < prefix.count; i++)
        assert_true(prefix.ends[i - 1] < prefix.ends[i]);
}

static void test_prefixes(void **state)
{
    (void)state;
    assert_prefix("Mar  1 12:00:00 host prog[123]: message here", "message here", 123);
    assert_prefix("<13>Mar  1 12:00:00 host prog: <warning> text", "text", 0);
    assert_prefix("2024-03-01 12:00:00 text", "text", 0);
    assert_prefix("2024-03-01T12:00:00.123456+01:00 host sshd[9]: x", "x", 9);
    assert_prefix("[2024/03/01 12:00:00,5] [ERROR] - it broke", "it broke", 0);
    assert_prefix("[Fri Mar 01 12:00:00 2024] it", "it", 0);
    assert_prefix("01/Mar/2024:12:00:00 +0100 x y", "x y", 0);
    assert_prefix("12:00:00.5 INFO [main] it", "it", 0);
    assert_prefix("1709290800 up", "up", 0);
    assert_prefix("1709290800.25: up", "up", 0);
    assert_prefix("[    0.000000] kernel text", "kernel text", 0);
    assert_prefix("prog[77]: text", "text", 77);
    // What programs write themselves.
    assert_prefix("error: text", NULL, 0);
    assert_prefix("[12] text", NULL, 0);
    assert_prefix("prog: text", NULL, 0);
    assert_prefix("12 bottles", NULL, 0);
    assert_prefix("2024-03-01", NULL, 0);
    assert_prefix("12:00:00", NULL, 0);
    assert_prefix("", NULL, 0);
}

// ---- A program made by hand: a source for each format, source i at node i

#define NODES 32

struct subject {
    struct model *model;
    struct log_catalogue catalogue;
    struct evidence *evidence;
};

static void subject_init(struct subject *subject)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    strbuf_append(&text, "inquest-model 1\nimage 0 executable \"prog\"\n"
                         "module 0 image 0 id 00000000000000ff level paths flags 0 source \"a.c\"\n"
                         "function 0 module 0 \"main\" debug \"main\" source \"main\" at - linked "
                         "unknown level paths record 0\n");
    for (int i = 0; i < NODES; i++)
        strbuf_printf(&text, "  node %d at -%s -> %d\n", i, i ? "" : " flags block",
                      (i + 1) % NODES);
    *subject = (struct subject){.evidence = evidence_create()};
    struct error *err = model_read_text("model", text.data, text.length, &subject->model);
    if (err)
        error_print(err);
    assert_null(err);
    subject->catalogue.model = subject->model;
    log_resolver_init(&subject->catalogue.resolver, subject->model);
}

static void subject_deinit(struct subject *subject)
{
    struct log_catalogue *catalogue = &subject->catalogue;
    for (size_t i = 0; i < catalogue->outputs.length; i++)
        log_source_ids_deinit(&catalogue->outputs.data[i].sources);
    log_text_outputs_deinit(&catalogue->outputs);
    log_sources_deinit(&catalogue->sources);
    log_resolver_deinit(&catalogue->resolver);
    evidence_destroy(subject->evidence);
    model_destroy(subject->model);
}

static void subject_add(struct subject *subject, enum log_stream_kind stream, const char *format)
{
    struct log_catalogue *catalogue = &subject->catalogue;
    struct log_patterns patterns = VEC_INIT;
    struct log_source source = {
        .node = {(uint32_t)catalogue->sources.length}, .stream = {stream, 0}, .is_ordered = true};
    log_format_parse(&catalogue->resolver.arena, format, strlen(format), NULL, &patterns);
    log_catalogue_add(catalogue, source, patterns.data[0]);
    log_patterns_deinit(&patterns);
}

// What lines prove, as log_read does it but without prefixes.
static void subject_read(struct subject *subject, const struct log_options *options,
                         const char *text)
{
    struct log_match_options match = {.weight = options->weight,
                                      .any_text = options->any_text,
                                      .by_literals = options->by_literals};
    struct log_matcher *matcher = log_matcher_create(&subject->catalogue, &match);
    struct log_observer *observer =
        log_observer_create(&subject->catalogue, "x.log", options, subject->evidence);
    struct log_line line = LOG_LINE_INIT;
    size_t start = 0;
    uint32_t number = 1;
    for (; strchr(text, '\n'); text = strchr(text, '\n') + 1) {
        log_match_line(matcher, text, strcspn(text, "\n"), &start, 1, &line);
        log_observer_line(observer, number++, &line);
    }
    if (*text)
        log_observer_cut(observer);
    log_observer_finish(observer);
    log_line_deinit(&line);
    log_observer_destroy(observer);
    log_matcher_destroy(matcher);
}

// "trace 0 1,2 3" for each observation.
static void append_points(struct strbuf *text, const struct evidence_points *points)
{
    for (uint32_t i = 0; i < points->count; i++)
        strbuf_printf(text, "%c%u", i ? ',' : ' ', points->points[i].node);
}

static void assert_observed(const struct subject *subject, const char *expected)
{
    static const char *const words[] = {"trace", "reliable", "burst"};
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    for (uint32_t i = 0; i < subject->evidence->observation_count; i++) {
        const struct evidence_observation *found = &subject->evidence->observations[i];
        strbuf_append(&text, i ? "; " : "");
        strbuf_append(&text, found->kind == EVIDENCE_RAN ? "ran" : words[found->reliability]);
        for (uint32_t e = 0; e < found->entry_count; e++)
            append_points(&text, &found->entries[e]);
        if (found->alphabet.count) {
            strbuf_append(&text, " of");
            append_points(&text, &found->alphabet);
        }
    }
    assert_string_equal(text.data, expected);
}

static void check_log(const struct log_options *options, const char *const *formats,
                      const char *log, const char *expected)
{
    struct subject subject;
    subject_init(&subject);
    for (; *formats; formats++) // "!" before it: to stderr
        subject_add(&subject, **formats == '!' ? LOG_STREAM_STDERR : LOG_STREAM_STDOUT,
                    *formats + (**formats == '!'));
    subject_read(&subject, options, log);
    assert_observed(&subject, expected);
    subject_deinit(&subject);
}

#define FORMATS(...) ((const char *const[]){__VA_ARGS__, NULL})
static const struct log_options usual = {.weight = 4};

static void test_lines(void **state)
{
    (void)state;
    check_log(&usual, FORMATS("start\n", "item %d\n", "done\n"), "start\nitem 1\nitem 2\ndone\n",
              "trace 0 1 1 2");
    // Who else may have written it is told as well.
    check_log(&usual, FORMATS("value %d\n", "value %s\n"), "value 7\nvalue x\n", "trace 0,1 1");
    check_log(&usual, FORMATS("value %d\n", "%s: %d\n"), "value 7\nerror: 7\n", "trace 0");
    // Too little that is known; nothing at all.
    check_log(&usual, FORMATS("%d\n", "ab%d\n", "", "%n"), "12\nab1\nfoo\n", "");
    // Numbers are numbers.
    check_log(&usual, FORMATS("at %d cm\n", "at %x cm\n", "at %f cm\n"),
              "at 12 cm\nat ff cm\nat 1.5 cm\nat !! cm\n", "trace 0,1,2 1,2 2");
}

static void test_parts(void **state)
{
    (void)state;
    check_log(&usual, FORMATS("item %d: ", "found\n", "lost\n"), "item 1: found\nitem 2: lost\n",
              "trace 0 1 0 2");
    check_log(&usual, FORMATS("this ", "and %d ", "end.\n"), "this and 1 and 2 end.\n",
              "trace 0 1 2");
    // One output, two lines: one visit.
    check_log(&usual, FORMATS("usage: prog\n  -x  extra\n", "next step\n"),
              "usage: prog\n  -x  extra\nnext step\nusage: prog\n  -x  extra\n", "trace 0 1 0");
    check_log(&usual, FORMATS("first\nsecond: ", "%d bytes\n"), "first\nsecond: 5 bytes\n",
              "trace 0 1");
    // A text may end with a line break of its own, and the line then be nobody else's.
    check_log(&usual, FORMATS("got: %s", "%s: hello\n"), "got: hello\n", "trace 0,1");
    check_log(&usual, FORMATS("\nprogress %d"), "\nprogress 1\nprogress 2", "trace 0");
}

static void test_any_text(void **state)
{
    const struct log_options any = {.weight = 4, .any_text = true};
    (void)state;
    // Output of any text may have written any line, and several at once.
    check_log(&usual, FORMATS("start\n", "%s\n", "done\n"), "start\nx\ndone\n",
              "trace 0,1; ran 1,2");
    check_log(&usual, FORMATS("start\n", "%c"), "start\n", "trace 0,1");
    check_log(&usual, FORMATS("start\n", "user %s\n", "done\n"), "start\nuser x\ndone\n",
              "trace 0 1 2");
    check_log(&any, FORMATS("start\n", "user %s\n", "done\n"), "start\nuser x\ndone\n",
              "trace 0,1; ran 1; ran 1,2");
}

static void test_by_literals(void **state)
{
    const struct log_options guess = {.weight = 4, .by_literals = true};
    (void)state;
    check_log(&guess, FORMATS("%s: %s\n", "%s: not found\n", "%s\n"), "x: not found\ny: z\n",
              "trace 1");
}

static void test_streams(void **state)
{
    const struct log_options one = {.weight = 4, .kind = LOG_FILE_ONE};
    (void)state;
    check_log(&usual, FORMATS("start\n", "!oops\n", "done\n"), "start\noops\ndone\noops\n",
              "trace 0 2; trace 1 1");
    check_log(&usual, FORMATS("start\n", "!start\n"), "start\nstart\n", "ran 0,1");
    check_log(&one, FORMATS("start\n", "!oops\n", "done\n"), "start\noops\ndone\n", "trace 0 1 2");
}

static void test_complete(void **state)
{
    const struct log_options complete = {.weight = 4, .complete = true};
    (void)state;
    check_log(&complete, FORMATS("start\n", "never\n", "done\n", "!other\n"), "start\ndone\n",
              "burst 0 2 of 0,1,2; trace 0 2");
    // Not seen whole: a part of a line, of two lines, one of several, beside a foreign line.
    check_log(&complete, FORMATS("start\n", "item ", "%d pieces\n", "two\nlines\n", "foo\n"),
              "start\nitem 1 pieces\n", "burst 0 of 0,4; trace 0 1 2");
    check_log(&complete, FORMATS("start\n", "value %d\n", "value %s"), "start\nvalue 1\n",
              "burst 0 of 0; trace 0 1,2");
    check_log(&complete, FORMATS("start\n", "garbled line\n"), "start\ngarbled \n",
              "burst 0 of 0; trace 0");
}

// With the stack the whole run is known, but for the calls that are under way.
static void test_complete_stack(void **state)
{
    static const uint32_t pending[] = {2};
    static const struct evidence_frame frame = {.kind = EVIDENCE_FRAME_MODEL,
                                                .function = {.module_id = 0xff, .name = "main"},
                                                .candidates = {pending, 1}};
    static const struct evidence_thread thread = {
        .frames = &frame, .frame_count = 1, .whole = true};
    const struct log_options complete = {.weight = 4, .complete = true};
    static const char *const formats[] = {"start\n", "never\n", "here\n"};
    struct subject subject;
    (void)state;
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        subject_init(&subject);
        for (int i = 0; i < 3; i++)
            subject_add(&subject, LOG_STREAM_STDOUT, formats[i]);
        subject.evidence->threads = &thread;
        subject.evidence->thread_count = 1;
        subject_read(&subject, &complete, is_cut ? "start\nhere\nst" : "start\nhere\n");
        assert_observed(&subject,
                        is_cut ? "burst 0 of 0,1; trace 0 2" : "reliable 0 of 0,1; trace 0 2");
        subject_deinit(&subject);
    }
}

static void test_limits(void **state)
{
    const struct log_options few = {.weight = 4, .most = 3};
    const struct log_options few_complete = {.weight = 4, .most = 3, .complete = true};
    (void)state;
    check_log(&few, FORMATS("aaaa\n", "bbbb\n"), "aaaa\nbbbb\nbbbb\naaaa\naaaa\nbbbb\n",
              "trace 0 1 1");
    check_log(&few_complete, FORMATS("aaaa\n", "bbbb\n"), "aaaa\naaaa\nbbbb\nbbbb\naaaa\n",
              "burst 1 1 0 of 0,1; trace 0 1 0");
    // A line that is too long, and one that fits too much, are left out.
    struct strbuf log = STRBUF_INIT;
    strbuf_append_repeated(&log, 'a', 100000);
    strbuf_append(&log, "\nbbbb\n");
    check_log(&few, FORMATS("%saaaa\n", "bbbb\n"), log.data, "trace 1");
    strbuf_clear(&log);
    strbuf_append_repeated(&log, 'a', 4000);
    strbuf_append(&log, "\nbbbb\n");
    check_log(&few, FORMATS("%sa", "%sa%sa", "a%s", "aa", "%s\n", "bbbb\n"), log.data, "trace 4,5");
    strbuf_deinit(&log);
}

// ---- Random programs: what is claimed must be true

struct truth {
    uint32_t events[512];
    uint32_t count;
    struct strbuf log;
};

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = hash_mix(random_state + UINT64_C(0x9e3779b97f4a7c15));
    return (uint32_t)(random_state >> 33) % limit;
}

static const char *const words[] = {"a",    "b",  " ",   ": ",    "ab: ", "item ", "done", "1",
                                    "2 ab", "\n", "\nb", "end\n", "%d",   "%s",    "%c",   "%x"};

static void random_format(struct strbuf *format)
{
    uint32_t count = 1 + random_below(4);
    strbuf_clear(format);
    for (uint32_t i = 0; i < count; i++)
        strbuf_append(format, words[random_below(16)]);
    if (random_below(2))
        strbuf_append(format, "\n");
}

// A text for a hole; like others' output, so that it misleads.
static void random_text(struct strbuf *text, bool may_break, bool is_last)
{
    uint32_t count = random_below(4);
    for (uint32_t i = 0; i < count; i++)
        strbuf_append(text, words[random_below(may_break ? 12 : 9)]);
    if (!may_break && is_last && random_below(4) == 0)
        strbuf_append(text, "\n");
}

static void random_output(struct log_pattern pattern, bool any_text, struct strbuf *text)
{
    bool may_break = any_text || log_pattern_is_free(pattern);
    for (uint32_t i = 0; i < pattern.count; i++) {
        const struct log_element *e = &pattern.elements[i];
        if (e->kind == LOG_LITERAL)
            strbuf_append_bytes(text, e->bytes, e->length);
        else if (e->class == LOG_INTEGER)
            strbuf_printf(text, "%d", (int)random_below(30) - 9);
        else if (e->class == LOG_HEX)
            strbuf_printf(text, "%x", random_below(4000));
        else if (e->class == LOG_CHAR)
            strbuf_append_char(text, "a b\n1:"[random_below(6)]);
        else
            random_text(text, may_break, i + 1 == pattern.count);
    }
}

static bool is_among(const struct evidence_points *points, uint32_t node)
{
    for (uint32_t i = 0; i < points->count; i++) {
        if (points->points[i].node == node)
            return true;
    }
    return false;
}

// Are the entries, in order, among the events?
static bool is_subsequence(const struct evidence_observation *trace, const struct truth *truth)
{
    uint32_t event = 0;
    for (uint32_t e = 0; e < trace->entry_count; e++, event++) {
        while (event < truth->count && !is_among(&trace->entries[e], truth->events[event]))
            event++;
        if (event >= truth->count)
            return false;
    }
    return true;
}

// Are the entries a stretch of the events that are in the alphabet?
static bool is_stretch(const struct evidence_observation *trace, const struct truth *truth)
{
    uint32_t seen[512], count = 0;
    for (uint32_t i = 0; i < truth->count; i++) {
        if (is_among(&trace->alphabet, truth->events[i]))
            seen[count++] = truth->events[i];
    }
    for (uint32_t start = 0; start + trace->entry_count <= count; start++) {
        uint32_t e = 0;
        while (e < trace->entry_count && is_among(&trace->entries[e], seen[start + e]))
            e++;
        if (e == trace->entry_count)
            return true;
    }
    return false;
}

static bool is_true(const struct evidence_observation *found, const struct truth *truth)
{
    if (found->kind == EVIDENCE_TRACE && found->reliability != EVIDENCE_UNRELIABLE)
        return is_stretch(found, truth);
    return is_subsequence(found, truth); // of one entry for EVIDENCE_RAN
}

static uint32_t check_random(uint64_t seed)
{
    struct subject subject;
    struct truth truth = {.log = STRBUF_INIT};
    struct strbuf format = STRBUF_INIT;
    random_state = seed;
    struct log_options options = {.weight = 1 + random_below(4),
                                  .any_text = random_below(2),
                                  .complete = random_below(2),
                                  .most = random_below(2) ? 5 : 0};
    subject_init(&subject);
    uint32_t count = 1 + random_below(6);
    for (uint32_t i = 0; i < count; i++) {
        random_format(&format);
        subject_add(&subject, random_below(4) ? LOG_STREAM_STDOUT : LOG_STREAM_STDERR, format.data);
    }
    uint32_t events = random_below(40);
    for (; truth.count < events; truth.count++) {
        uint32_t source = random_below(count);
        truth.events[truth.count] = source;
        random_output(subject.catalogue.outputs.data[source].pattern, options.any_text, &truth.log);
    }
    subject_read(&subject, &options, truth.log.data);
    for (uint32_t i = 0; i < subject.evidence->observation_count; i++) {
        if (!is_true(&subject.evidence->observations[i], &truth))
            fail_msg("seed %llu: observation %u does not hold", (unsigned long long)seed, i);
    }
    uint32_t found = subject.evidence->observation_count;
    strbuf_deinit(&format);
    strbuf_deinit(&truth.log);
    subject_deinit(&subject);
    return found;
}

static void test_random(void **state)
{
    uint32_t found = 0;
    const char *count = getenv("LOG_SEEDS");
    uint64_t seeds = count ? strtoull(count, NULL, 10) : 3000;
    (void)state;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        found += check_random(seed);
    assert_true(found > seeds / 4); // it does claim things
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),        cmocka_unit_test(test_known_texts),
        cmocka_unit_test(test_prefixes),       cmocka_unit_test(test_lines),
        cmocka_unit_test(test_parts),          cmocka_unit_test(test_any_text),
        cmocka_unit_test(test_streams),        cmocka_unit_test(test_by_literals),
        cmocka_unit_test(test_complete),       cmocka_unit_test(test_limits),
        cmocka_unit_test(test_complete_stack), cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
