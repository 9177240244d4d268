// SPDX-License-Identifier: Apache-2.0
/*
 * Queries: how they are read (by what they say in English), what is said of bad ones, and what they
 * mean: thousands of random ones, printed, parsed and compared on random runs with a direct
 * evaluation. What fsa and utl get must hold at every run of the query, and at no other where it
 * is said to be exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/query.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "program/model.h"

// ---- The program

static const char model_text[] =
    "inquest-model 1\n"
    "file 0 \"/src\" \"a.c\"\n"
    "file 1 \"/src\" \"lib/sort.c\"\n"
    "file 2 \"/src\" \"other/sort.c\"\n"
    "image 0 executable \"prog\"\n"
    "module 0 image 0 id 00000000000000ff level paths flags 0 source \"a.c\"\n"
    "function 0 module 0 \"main\" debug \"main\" source \"main\" at 0:9 linked unknown level paths "
    "record 0\n"
    " node 0 at 0:10:3 flags block -> 1\n"
    " node 1 at 0:11:3 flags call -> 2\n"
    "  site * flags indirect callees 1 callbacks 0\n"
    " node 2 at 0:12:3 flags return -> 0\n"
    "function 1 module 0 \"f\" debug \"f\" source \"f\" at 0:19 linked unknown level paths record "
    "0\n"
    " node 0 at 0:20:3 flags block -> 1\n"
    " node 1 at 0:21:7 flags call,return -> 1\n"
    "  site \"g\" callees 2 callbacks 0\n"
    "function 2 module 0 \"g\" debug \"g\" source \"g\" at 0:29 linked unknown level paths record "
    "0\n"
    " node 0 at 0:30:3 flags block -> 1\n"
    " node 1 at 0:21:9 flags call,return -> 0\n"
    "  site \"f\" callees 3 callbacks 0\n"
    "function 3 module 0 \"initialise\" debug \"initialise\" source \"initialise\" at 0:39 linked "
    "unknown level paths record 0\n"
    " node 0 at 0:40:3 flags call,block -> 1\n"
    "  site \"malloc\" flags external callees 0 callbacks 0\n"
    " node 1 at 0:45:3 flags call -> 2\n"
    "  site \"qsort\" flags external,calls-back callees 0 callbacks 4\n"
    " node 2 at 0:46:3 flags return\n"
    "function 4 module 0 \"twice\" debug \"twice\" source \"twice\" at 1:1 linked unknown level "
    "paths "
    "record 0\n"
    " node 0 at 1:2:1 flags return\n"
    "function 5 module 0 \"twice\" debug \"twice\" source \"twice\" at 2:1 linked unknown level "
    "paths "
    "record 0\n"
    " node 0 at 2:2:1 flags return\n"
    "function 6 module 0 \"call\" debug \"call\" source \"call\" at 0:60 linked unknown level "
    "paths "
    "record 0\n"
    " node 0 at 0:61:1 flags return\n"
    "function 7 module 0 \"ns::run\" debug \"_Zrun\" source \"ns::run\" at 0:70 linked unknown "
    "level "
    "paths record 0\n"
    " node 0 at 0:71:1 flags return\n"
    "set 1 1 2\n"
    "set 2 2\n"
    "set 3 1\n"
    "set 4 2\n"
    "root 0 main\n";

static struct model *model;

static int set_up(void **state)
{
    (void)state;
    struct error *err = model_read_text("test", model_text, strlen(model_text), &model);
    if (err)
        error_print(err);
    return err != NULL;
}

static int tear_down(void **state)
{
    (void)state;
    model_destroy(model);
    return 0;
}

static struct query *parse(const char *text)
{
    struct query *query = NULL;
    struct error *err = query_parse(text, model, &query, NULL);

    if (err)
        fail_msg("%s: %s", text, err->message);
    return query;
}

// ---- How they are read

static void reads(const char *text, const char *expected)
{
    struct query *query = parse(text);
    char *words = query_words(query);

    assert_string_equal(words, expected);
    assert_string_equal(query_text(query), text);
    free(words);
    query_destroy(query);
}

static void atoms_in_words(void **state)
{
    (void)state;
    reads("a.c:10", "a.c:10 runs");
    reads("/src/a.c:21:7", "/src/a.c:21:7 runs");
    reads("  \"a.c\" : 10 ", "a.c:10 runs");
    reads("f()", "'f' is entered");
    reads("f ( )", "'f' is entered");
    reads("call f", "'f' is called");
    reads("call f()", "'f' is called");
    reads("return g", "a call of 'g' ends");
    reads("a.c:11 -> f", "a.c:11 calls 'f'");
    reads("a.c:11->f()", "a.c:11 calls 'f'");
    reads("a.c:11:3->g", "a.c:11:3 calls 'g'");
    reads("lib/sort.c:twice()", "'twice' of lib/sort.c is entered");
    reads("call lib/sort.c:twice", "'twice' of lib/sort.c is called");
}

static void keywords_can_be_names(void **state)
{
    (void)state;
    reads("call()", "'call' is entered");
    reads("call \"call\"", "'call' is called");
    reads("call call()", "'call' is called");
    reads("ns::run()", "'ns::run' is entered");
    reads("node f#1", "node f#1 runs");
    reads("node \"f#1\" then f()", "node f#1 runs, and later 'f' is entered");
    reads("(node g#0)", "node g#0 runs");
}

static void precedence(void **state)
{
    (void)state;
    reads("f() or g() and main()", "'f' is entered or ('g' is entered and 'main' is entered)");
    reads("f() and g() or main()", "('f' is entered and 'g' is entered) or 'main' is entered");
    reads("f() then g() and main()",
          "('f' is entered, and later 'g' is entered) and 'main' is entered");
    reads("f() then g() then main()",
          "'f' is entered, and later 'g' is entered, and later 'main' is entered");
    reads("never f() and g()", "(it never happens that 'f' is entered) and 'g' is entered");
    reads("not (f() and g())", "it never happens that ('f' is entered and 'g' is entered)");
    reads("f() then never g()", "'f' is entered, and later (it never happens that 'g' is entered)");
    reads("never a.c:10 inside f()", "it never happens that (a.c:10 runs inside a call of 'f')");
    reads("never a.c:10 without f() before it",
          "it never happens that (a.c:10 runs without 'f' is entered before it)");
    reads("a.c:10 without f() or g() before it then main()",
          "(a.c:10 runs without ('f' is entered or 'g' is entered) before it), and later 'main' is "
          "entered");
    reads("a.c:10 only inside f()", "a.c:10 runs only inside calls of 'f'");
    reads("a.c:10 outside f", "a.c:10 runs outside of all calls of 'f'");
    reads("(f() then g()) inside main()",
          "('f' is entered, and later 'g' is entered) inside a call of 'main'");
    reads("a.c:10 inside f() inside g()",
          "(a.c:10 runs inside a call of 'f') inside a call of 'g'");
    reads("not not f()", "it never happens that (it never happens that 'f' is entered)");
}

static void patterns_in_words(void **state)
{
    (void)state;
    reads("{ ... f() ... }", "all that happens is: anything, 'f' is entered, anything");
    reads("{}", "all that happens is: nothing");
    reads("{ not f()* a.c:10 ... }", "all that happens is: any number of <one thing other than "
                                     "['f' is entered]>, a.c:10 runs, anything");
    reads("{ f { not call g * } }", "all that happens is: a whole call of 'f' with <any number of "
                                    "<one thing other than ['g' is called]>> in it");
    reads("{any* | f()+ g()?}",
          "all that happens is: either <any number of <any one thing>> or <one or more of <'f' is "
          "entered>, perhaps <'g' is entered>>");
    reads("{balanced call f balanced}",
          "all that happens is: anything whose calls all return, 'f' is called, anything whose "
          "calls all return");
    reads("{... f{not [g(), a.c:10]*} ...}",
          "all that happens is: anything, a whole call of 'f' with <any number of <one thing other "
          "than ['g' is entered, a.c:10 runs]>> in it, anything");
    reads("{any... unfinished f() { [f(), g() inside f()] (f() | g()) not f() }}",
          "all that happens is: any one thing, anything, a call that does not end of 'f' with <one "
          "of ['f' is entered, 'g' is entered inside a call of 'f'], either <'f' is entered> or "
          "<'g' is entered>, one thing other than ['f' is entered]> in it");
}

// ---- What is said of bad ones

static void refuses(const char *text, const char *expected)
{
    struct query *query = NULL;
    struct query_place where = {12345, 0};
    struct error *err = query_parse(text, model, &query, &where);

    assert_non_null(err);
    assert_null(query);
    assert_string_equal(err->message, expected);
    char *column = NULL;
    assert_true(asprintf(&column, "column %u: ", query_column(text, where)) > 0);
    assert_memory_equal(err->message, column, strlen(column));
    free(column);
    error_destroy(err);
}

static void errors_of_form(void **state)
{
    (void)state;
    refuses("", "column 1: expected something that happens, as 'file.c:42', 'f()' or 'call f', but "
                "the query ends here");
    refuses("never ", "column 7: expected something that happens, as 'file.c:42', 'f()' or 'call "
                      "f', but the query ends here");
    refuses("f() g()",
            "column 5: expected 'then', 'and', 'or', 'inside' or 'without', but 'g' stands here");
    refuses("f() thn g()", "column 5: expected 'then', 'and', 'or', 'inside' or 'without', but "
                           "'thn' stands here; did you mean 'then'?");
    refuses("never f() then g()", "column 11: 'never A then B' can be read in two ways: write "
                                  "'never (A then B)', or 'B without A before it'");
    refuses("(f()", "column 5: expected ')' to close the parenthesis, but the query ends here");
    refuses("f())",
            "column 4: expected 'then', 'and', 'or', 'inside' or 'without', but ')' stands here");
    refuses("a.c:0", "column 5: expected a line number, but '0' stands here");
    refuses("a.c:99999999999", "column 5: expected a line number, but '99999999999' stands here");
    refuses("a.c:10:x", "column 8: expected a column number, but 'x' stands here");
    refuses("a.c:", "column 5: expected a line number, but the query ends here");
    refuses("call then", "column 6: expected a function behind 'call', but 'then' stands here");
    refuses("f() & g()", "column 5: '&' means nothing in a query");
    refuses("f() inside",
            "column 11: expected a function behind 'inside', but the query ends here");
    refuses("f() only g()", "column 10: expected 'inside' behind 'only', but 'g' stands here");
    refuses("(f() then g()) outside f()", "column 16: 'outside' needs a single event before it, as "
                                          "'a.c:42' or '(f() or g())'");
    refuses("(f() then g()) without f() before it",
            "column 16: 'without ... before it' needs a single event before it, as 'a.c:42' or "
            "'(f() or g())'");
    refuses("f() without g()", "column 16: 'without' is closed by 'before it', but the query ends "
                               "here");
    refuses("f() without g() before g()",
            "column 24: expected 'it' behind 'before', but 'g' stands here");
    refuses("f", "column 1: 'f' alone says nothing: write 'f()' for its entry, 'call f' or 'return "
                 "f'");
    refuses("nevr f()", "column 1: 'nevr' alone says nothing: write 'nevr()' for its entry, 'call "
                        "nevr' or 'return nevr'; did you mean 'never'?");
    refuses("a.c", "column 1: 'a.c' needs a line: write 'a.c:LINE'");
    refuses("\"a.c", "column 1: the name that begins here has no closing '\"'");
    refuses("{ f() ", "column 7: expected '}' at the end of the pattern, but the query ends here");
    refuses("{ [f() g()] }", "column 8: expected ']' behind the events, but 'g' stands here");
    refuses("{ * }", "column 3: expected something that happens, as 'file.c:42', 'f()' or 'call "
                     "f', but '*' stands here");
    refuses("{ then }", "column 3: expected something that happens, as 'file.c:42', 'f()' or 'call "
                        "f', but 'then' stands here");
}

static void errors_of_names(void **state)
{
    (void)state;
    refuses("never initialize()", "column 7: the program has no function 'initialize'; did you "
                                  "mean 'initialise()'?");
    refuses("call mian", "column 6: the program has no function 'mian'; did you mean 'main'?");
    refuses("call mallok", "column 6: the program has no function 'mallok'; did you mean "
                           "'malloc'?");
    refuses("zzzzzz()", "column 1: the program has no function 'zzzzzz'");
    refuses("f() and b.c:10", "column 9: the program has no file 'b.c'; did you mean 'a.c'?");
    refuses("lib/srot.c:2", "column 1: the program has no file 'lib/srot.c'; did you mean "
                            "'sort.c'?");
    refuses("a.c:41", "column 5: line 41 of 'a.c' has no code; the nearest with code are 40 and "
                      "45");
    refuses("a.c:99", "column 5: line 99 of 'a.c' has no code; the nearest with code is 71");
    refuses("a.c:1", "column 5: line 1 of 'a.c' has no code; the nearest with code is 10");
    refuses("a.c:21:8", "column 5: no code begins at column 8 of 'a.c:21'; code begins at column "
                        "7, 9");
    refuses("a.c:10 -> f", "column 1: no call on line 10 of 'a.c' can enter 'f' directly");
    refuses("malloc()", "column 1: 'malloc' has no model: its entry cannot be seen; write 'call "
                        "malloc'");
    refuses("f() then return malloc", "column 17: 'malloc' has no model: its return cannot be "
                                      "seen; name the line behind the call");
    refuses("f() inside malloc()",
            "column 12: 'malloc' has no model: nothing of the program runs inside it");
    refuses("{ qsort{...} }",
            "column 3: 'qsort' has no model: what happens inside it cannot be seen");
    refuses("a.c:twice()", "column 5: the program has no function 'twice' in a.c; did you mean "
                           "'twice()'?");
    refuses("node f#7", "column 6: the program has no node 'f#7'");
    refuses("\xc3\xa9\xc3\xa9() or f()",
            "column 1: the program has no function '\xc3\xa9\xc3\xa9'");
    refuses("f() or \xc3\xa9() or zz()", "column 8: the program has no function '\xc3\xa9'");
}

static void limits(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    struct query *query;

    strbuf_append_repeated(&text, '(', 101);
    strbuf_append(&text, "f()");
    struct error *err = query_parse(text.data, model, &query, NULL);
    assert_string_equal(err->message, "column 101: more than 100 parts inside each other");
    error_destroy(err);
    strbuf_clear(&text);
    for (int i = 0; i < 2000; i++)
        strbuf_append(&text, "f() then ");
    strbuf_append(&text, "f()");
    err = query_parse(text.data, model, &query, NULL);
    assert_non_null(strstr(err->message, "more than 2000 parts"));
    error_destroy(err);
    strbuf_clear(&text);
    strbuf_append(&text, "f()");
    for (int i = 0; i < 65; i++)
        strbuf_append(&text, " or f() inside g()");
    err = query_parse(text.data, model, &query, NULL);
    assert_non_null(strstr(err->message, "more than 64 times 'inside' or 'outside'"));
    error_destroy(err);
    strbuf_append_repeated(&text, ' ', 65536);
    err = query_parse(text.data, model, &query, NULL);
    assert_string_equal(err->message, "column 1: the query has more than 65536 bytes");
    error_destroy(err);
    strbuf_deinit(&text);
}

static void prints(const char *text, struct query_place where, const char *expected)
{
    char *got = NULL;
    size_t length;
    FILE *stream = open_memstream(&got, &length);

    query_print_place(stream, text, where);
    fclose(stream);
    assert_string_equal(got, expected);
    free(got);
}

static void carets(void **state)
{
    (void)state;
    prints("never inti()", (struct query_place){6, 6}, "  never inti()\n        ^~~~~~\n");
    prints("\xc3\xa9\t x()", (struct query_place){4, 1}, "  \xc3\xa9  x()\n     ^\n");
    prints("f() or", (struct query_place){6, 1}, "  f() or\n        ^\n");
    prints("", (struct query_place){0, 1}, "  \n  ^\n");
}

static void notes(void **state)
{
    (void)state;
    struct query *query = parse("twice() and call malloc and sort.c:2 and f() inside qsort()");

    assert_int_equal(query_note_count(query), 4);
    assert_string_equal(query_note(query, 0), "'twice' is 2 functions: any of them is meant; "
                                              "'FILE:twice' names one");
    assert_string_equal(query_note(query, 1),
                        "'malloc' has no model: a call of it is taken to be made where control "
                        "reaches code that calls it by name");
    assert_string_equal(query_note(query, 2), "'sort.c' is more than one file: "
                                              "'/src/lib/sort.c' and '/src/other/sort.c', among "
                                              "others");
    assert_string_equal(query_note(query, 3), "'qsort' has no model: inside it is what it calls "
                                              "back, where it is called by name");
    query_destroy(query);
}

// ---- Who answers exactly

static void solvers(const char *text, unsigned expected, const char *lost_by_fsa,
                    const char *lost_by_utl)
{
    struct query *query = parse(text);

    assert_int_equal(query_exact_solvers(query), expected);
    if (lost_by_fsa)
        assert_string_equal(query_lost_by_fsa(query), lost_by_fsa);
    else
        assert_null(query_lost_by_fsa(query));
    if (lost_by_utl)
        assert_string_equal(query_as_utl(query)->lost, lost_by_utl);
    else
        assert_null(query_as_utl(query)->lost);
    query_destroy(query);
}

static void exact_solvers(void **state)
{
    (void)state;
    unsigned all = QUERY_BY_UTL | QUERY_BY_FSA | QUERY_BY_VPA, fsa = QUERY_BY_FSA | QUERY_BY_VPA;

    solvers("never initialise()", all, NULL, NULL);
    solvers("never (a.c:21 or g())", all, NULL, NULL);
    solvers("f() then g() and never a.c:10", all, NULL, NULL);
    solvers("call f", all, NULL, NULL);
    solvers("call g", fsa, NULL, "'call g'"); // its entry is in a loop
    solvers("not (never f())", all, NULL, NULL);
    solvers("a.c:21", fsa, NULL, "'a.c:21'");
    solvers("f() or g()", fsa, NULL, "'f() or g()'");
    solvers("a.c:10 without f() before it", fsa, NULL, "'a.c:10 without f() before it'");
    solvers("f() then never g()", fsa, NULL, "'f() then never g()'");
    solvers("call f then f()", fsa, NULL, "'call f then f()'");
    solvers("never (f() then g())", fsa, NULL, "'(f() then g())'");
    solvers("{ ... f() ... }", fsa, NULL, "'{'");
    solvers("g() and a.c:30 inside f()", QUERY_BY_VPA, "'a.c:30 inside f()'",
            "'a.c:30 inside f()'");
    solvers("a.c:10 only inside f()", QUERY_BY_VPA, "'a.c:10 only inside f()'",
            "'a.c:10 only inside f()'");
    solvers("{ balanced f() }", QUERY_BY_VPA, "'{'", "'{'");
}

static void sequence_is(const struct query_utl *utl, uint32_t index, const uint32_t *nodes,
                        uint32_t count)
{
    assert_true(index < utl->sequence_count);
    assert_int_equal(utl->sequences[index].count, count);
    assert_memory_equal(utl->sequences[index].data, nodes, count * sizeof(*nodes));
}

static void unreliable_traces(void **state)
{
    (void)state;
    struct query *query = parse("f() then a.c:12 then g() and never (a.c:21 or call f) and main()");
    const struct query_utl *utl = query_as_utl(query);

    assert_true(utl->is_exact);
    assert_int_equal(utl->removed.count, 3);
    assert_memory_equal(utl->removed.data, ((uint32_t[]){3, 4, 6}), 12);
    assert_int_equal(utl->sequence_count, 2);
    sequence_is(utl, 0, (uint32_t[]){3, 2, 5}, 3);
    sequence_is(utl, 1, (uint32_t[]){0}, 1);
    query_destroy(query);

    query = parse("(f() and g()) then main() inside f() then return g then call f");
    utl = query_as_utl(query);
    assert_false(utl->is_exact);
    assert_int_equal(utl->removed.count, 0);
    assert_int_equal(utl->sequence_count, 4);
    sequence_is(utl, 0, (uint32_t[]){3, 0, 3}, 3);
    sequence_is(utl, 3, (uint32_t[]){5, 0, 3}, 3);
    query_destroy(query);

    query = parse("f() inside f() and a.c:30 inside f()");
    utl = query_as_utl(query);
    assert_int_equal(utl->sequence_count, 4); // the event, and with the entry before it
    sequence_is(utl, 0, (uint32_t[]){3}, 1);
    sequence_is(utl, 1, (uint32_t[]){3}, 1);
    sequence_is(utl, 2, (uint32_t[]){5}, 1);
    sequence_is(utl, 3, (uint32_t[]){3, 5}, 2);
    query_destroy(query);
}

// ---- Runs of the program, as far as calls go: any node of a function may follow any other, but
// nothing leads back to f's entry

enum { LONGEST = 12, NONE = -1, START = 1000 };

struct sign {
    enum event_kind kind;
    uint32_t node, function;
};

struct run {
    struct sign signs[LONGEST];
    int partner[LONGEST];
    int open[LONGEST];
    int length, depth;
};

static uint64_t seed;

static uint32_t pick(uint32_t limit)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash_mix(seed) >> 32) % limit;
}

static void run_push(struct run *run, struct sign sign)
{
    int at = run->length++;

    run->signs[at] = sign;
    run->partner[at] = NONE;
    if (sign.kind == EVENT_CALL)
        run->open[run->depth++] = at;
    if (sign.kind == EVENT_LEAVE) {
        int call = run->open[--run->depth];
        run->partner[at] = call;
        run->partner[call] = at;
    }
}

static const uint32_t first_node[] = {0, 3, 5, 7}; // of main, f, g

// A function that the node may call, or NONE.
static int callee_of(uint32_t node)
{
    return node == 1 ? 1 + (int)pick(2) : node == 4 ? 2 : node == 6 ? 1 : NONE;
}

static void run_call(struct run *run, uint32_t node, uint32_t function)
{
    run_push(run, (struct sign){EVENT_CALL, node, function});
    run_push(run, (struct sign){EVENT_STEP, first_node[function], 0});
}

static void random_run(struct run *run)
{
    *run = (struct run){.length = 0};
    run_call(run, START, 0);
    while (run->length < LONGEST - 1) {
        const struct sign *last = &run->signs[run->length - 1];
        int callee = last->kind == EVENT_STEP ? callee_of(last->node) : NONE;
        const struct sign *call = &run->signs[run->open[run->depth - 1]];
        uint32_t low = first_node[call->function], high = first_node[call->function + 1];
        if (callee != NONE && pick(2))
            run_call(run, last->node, (uint32_t)callee);
        else if (run->depth > 1 && pick(3) == 0)
            run_push(run, (struct sign){EVENT_LEAVE, call->node, call->function});
        else
            run_push(run, (struct sign){EVENT_STEP, high - 1 - pick(high - low - (low == 3)), 0});
    }
}

// ---- Random queries and what they mean

enum kind {
    ATOM,
    ANY_OF, // events
    INSIDE,
    OUTSIDE,
    ONLY_INSIDE,
    NEVER,
    AND,
    OR,
    THEN,
    WITHOUT,
    PATTERN,
    KINDS,
    LETTER = KINDS, // of patterns from here
    OTHER_LETTER,
    ANY,
    ALL,
    BALANCED,
    SEQUENCE,
    EITHER,
    STAR,
    PLUS,
    OPTIONAL,
    WHOLE,
    UNFINISHED,
    PATTERN_KINDS,
};

struct atom {
    const char *text;
    enum event_kind kind;
    uint32_t nodes; // bits; of calls: 0 for any
    int function;
};

static const struct atom atoms[] = {
    {"a.c:10", EVENT_STEP, 1u << 0, 0},
    {"a.c:11:3", EVENT_STEP, 1u << 1, 0},
    {"a.c:12", EVENT_STEP, 1u << 2, 0},
    {"a.c:21", EVENT_STEP, 1u << 4 | 1u << 6, 0},
    {"a.c:21:9", EVENT_STEP, 1u << 6, 0},
    {"node f#1", EVENT_STEP, 1u << 4, 0},
    {"f()", EVENT_STEP, 1u << 3, 0},
    {"g()", EVENT_STEP, 1u << 5, 0},
    {"main()", EVENT_STEP, 1u << 0, 0},
    {"call f", EVENT_CALL, 0, 1},
    {"call g", EVENT_CALL, 0, 2},
    {"return f", EVENT_LEAVE, 0, 1},
    {"return g", EVENT_LEAVE, 0, 2},
    {"a.c:11 -> f", EVENT_CALL, 1u << 1, 1},
    {"a.c:21 -> g", EVENT_CALL, 1u << 4, 2},
};
enum { ATOMS = sizeof(atoms) / sizeof(atoms[0]), PARTS = 3 };

struct expr {
    enum kind kind;
    const struct atom *atom;
    uint32_t function;
    struct expr *parts[PARTS];
    uint32_t part_count;
};

static struct expr *random_expr(int depth, bool event);
static struct expr *random_pattern(int depth);

static struct expr *create(enum kind kind)
{
    struct expr *expr = calloc(1, sizeof(*expr));

    expr->kind = kind;
    expr->atom = &atoms[pick(ATOMS)];
    expr->function = 1 + pick(2);
    return expr;
}

static void add_part(struct expr *expr, struct expr *part)
{
    expr->parts[expr->part_count++] = part;
}

static struct expr *random_event(int depth)
{
    struct expr *expr = create(depth && pick(2) ? (enum kind)(ANY_OF + (int)pick(3)) : ATOM);
    uint32_t count = expr->kind == ATOM ? 0 : expr->kind == ANY_OF ? 2 : 1;

    for (uint32_t i = 0; i < count; i++)
        add_part(expr, random_event(depth - 1));
    return expr;
}

static struct expr *random_expr(int depth, bool event)
{
    if (event || depth == 0 || pick(6) == 0)
        return random_event(depth);
    struct expr *expr = create((enum kind)(INSIDE + (int)pick(KINDS - INSIDE)));
    uint32_t count = expr->kind >= AND && expr->kind <= THEN ? 2 + pick(2) : 1;
    bool of_event = expr->kind == OUTSIDE || expr->kind == ONLY_INSIDE || expr->kind == WITHOUT;

    for (uint32_t i = 0; i < count; i++)
        add_part(expr,
                 expr->kind == PATTERN ? random_pattern(2) : random_expr(depth - 1, of_event));
    if (expr->kind == WITHOUT)
        add_part(expr, random_expr(depth - 1, false));
    return expr;
}

static struct expr *random_pattern(int depth)
{
    enum kind last = depth ? PATTERN_KINDS : SEQUENCE;
    struct expr *expr = create((enum kind)(LETTER + (int)pick((uint32_t)(last - LETTER))));

    if (expr->kind == LETTER || expr->kind == OTHER_LETTER) {
        for (uint32_t i = 1 + pick(2); i > 0; i--) {
            struct expr *event = create(pick(3) ? ATOM : INSIDE);
            if (event->kind == INSIDE)
                add_part(event, create(ATOM));
            add_part(expr, event);
        }
        return expr;
    }
    uint32_t count = expr->kind == SEQUENCE || expr->kind == EITHER ? 2 + pick(2)
                     : expr->kind > EITHER                          ? 1
                                                                    : 0;
    for (uint32_t i = 0; i < count; i++)
        add_part(expr, random_pattern(depth - 1));
    return expr;
}

static void expr_free(struct expr *expr)
{
    for (uint32_t i = 0; i < expr->part_count; i++)
        expr_free(expr->parts[i]);
    free(expr);
}

static void print(struct strbuf *text, const struct expr *expr);

static void print_list(struct strbuf *text, const struct expr *expr, const char *open,
                       const char *between, const char *close)
{
    strbuf_append(text, open);
    for (uint32_t i = 0; i < expr->part_count; i++) {
        strbuf_append(text, i ? between : "");
        print(text, expr->parts[i]);
    }
    strbuf_append(text, close);
}

static void print(struct strbuf *text, const struct expr *expr)
{
    const char *name = expr->function == 1 ? "f" : "g";

    switch (expr->kind) {
    case ATOM:
        strbuf_append(text, expr->atom->text);
        return;
    case ANY_OF:
    case OR:
        print_list(text, expr, "(", " or ", ")");
        return;
    case INSIDE:
    case OUTSIDE:
    case ONLY_INSIDE: {
        const struct expr *part = expr->parts[0];
        bool bare = part->kind == ATOM || part->kind == INSIDE || part->kind == OUTSIDE;
        print_list(text, expr, bare ? "" : "(", "", bare ? "" : ")");
        strbuf_printf(text, " %s %s()",
                      expr->kind == INSIDE    ? "inside"
                      : expr->kind == OUTSIDE ? "outside"
                                              : "only inside",
                      name);
        return;
    }
    case NEVER:
        print_list(text, expr, "(never ", "", ")");
        return;
    case AND:
        print_list(text, expr, "(", " and ", ")");
        return;
    case THEN:
        print_list(text, expr, "(", " then ", ")");
        return;
    case WITHOUT:
        print_list(text, expr, "(", " without ", " before it)");
        return;
    case PATTERN:
        print_list(text, expr, "{", "", "}");
        return;
    case LETTER:
        print_list(text, expr, "[", ", ", "]");
        return;
    case OTHER_LETTER:
        print_list(text, expr, "not [", ", ", "]");
        return;
    case ANY:
        strbuf_append(text, "any");
        return;
    case ALL:
        strbuf_append(text, "...");
        return;
    case BALANCED:
        strbuf_append(text, "balanced");
        return;
    case SEQUENCE:
        print_list(text, expr, "(", " ", ")");
        return;
    case EITHER:
        print_list(text, expr, "(", " | ", ")");
        return;
    case STAR:
        print_list(text, expr, "(", "", ")*");
        return;
    case PLUS:
        print_list(text, expr, "(", "", ")+");
        return;
    case OPTIONAL:
        print_list(text, expr, "(", "", ")?");
        return;
    case WHOLE:
    case UNFINISHED:
        strbuf_printf(text, "%s%s", expr->kind == WHOLE ? "" : "unfinished ", name);
        print_list(text, expr, " {", "", "}");
        return;
    case PATTERN_KINDS:
        break;
    }
    fail();
}

// Is a call of the function open at the letter?
static bool is_inside(const struct run *run, int at, uint32_t function)
{
    for (int c = 0; c < at; c++)
        if (run->signs[c].kind == EVENT_CALL && run->signs[c].function == function &&
            (run->partner[c] == NONE || run->partner[c] > at))
            return true;
    return false;
}

static bool atom_fits(const struct atom *atom, const struct sign *sign)
{
    if (atom->kind != sign->kind)
        return false;
    if (sign->kind != EVENT_STEP && (int)sign->function != atom->function)
        return false;
    return (sign->kind != EVENT_STEP && !atom->nodes) ||
           (sign->node < 32 && (atom->nodes >> sign->node & 1));
}

static bool is_event(const struct expr *expr)
{
    if (expr->kind == INSIDE || expr->kind == OUTSIDE)
        return is_event(expr->parts[0]);
    if (expr->kind != ANY_OF && expr->kind != OR)
        return expr->kind == ATOM;
    for (uint32_t i = 0; i < expr->part_count; i++)
        if (!is_event(expr->parts[i]))
            return false;
    return true;
}

static bool fits(const struct expr *event, const struct run *run, int at)
{
    if (event->kind == ATOM)
        return atom_fits(event->atom, &run->signs[at]);
    bool any = false;
    for (uint32_t i = 0; i < event->part_count; i++)
        any |= fits(event->parts[i], run, at);
    if (event->kind == INSIDE)
        return any && is_inside(run, at, event->function);
    return any && (event->kind != OUTSIDE || !is_inside(run, at, event->function));
}

static bool any_fits(const struct expr *expr, const struct run *run, int at)
{
    for (uint32_t i = 0; i < expr->part_count; i++)
        if (fits(expr->parts[i], run, at))
            return true;
    return false;
}

static bool is_in(const struct expr *expr, const struct run *run, int i, int j);

static bool inside_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    for (int c = 0; c < j; c++) {
        if (run->signs[c].kind != EVENT_CALL || run->signs[c].function != expr->function)
            continue;
        int end = run->partner[c] == NONE ? run->length : run->partner[c];
        if (end >= i && is_in(expr->parts[0], run, c < i ? i : c + 1, end < j ? end : j))
            return true;
    }
    return false;
}

// Parts from `part` on, one behind the other.
static bool sequence_is_in(const struct expr *expr, uint32_t part, const struct run *run, int i,
                           int j)
{
    if (part + 1 == expr->part_count)
        return is_in(expr->parts[part], run, i, j);
    for (int k = i; k <= j; k++)
        if (is_in(expr->parts[part], run, i, k) && sequence_is_in(expr, part + 1, run, k, j))
            return true;
    return false;
}

static bool repeated_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    bool reached[LONGEST + 1] = {false};

    reached[i] = true;
    for (int k = i; k <= j; k++)
        for (int next = k + 1; reached[k] && next <= j; next++)
            reached[next] |= is_in(expr->parts[0], run, k, next);
    if (expr->kind == PLUS && i == j)
        return is_in(expr->parts[0], run, i, j);
    return reached[j];
}

static bool balanced_is_in(const struct run *run, int i, int j)
{
    for (int k = i; k < j; k++)
        if (run->signs[k].kind != EVENT_STEP && (run->partner[k] < i || run->partner[k] >= j))
            return false;
    return true;
}

static bool whole_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    if (i == j || run->signs[i].kind != EVENT_CALL || run->signs[i].function != expr->function)
        return false;
    if (expr->kind == UNFINISHED)
        return (run->partner[i] == NONE || run->partner[i] >= j) &&
               is_in(expr->parts[0], run, i + 1, j);
    return run->partner[i] == j - 1 && is_in(expr->parts[0], run, i + 1, j - 1);
}

static bool pattern_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    switch (expr->kind) {
    case LETTER:
        return j == i + 1 && any_fits(expr, run, i);
    case OTHER_LETTER:
        return j == i + 1 && !any_fits(expr, run, i);
    case ANY:
        return j == i + 1;
    case ALL:
        return true;
    case BALANCED:
        return balanced_is_in(run, i, j);
    case SEQUENCE:
        return sequence_is_in(expr, 0, run, i, j);
    case EITHER:
        for (uint32_t p = 0; p < expr->part_count; p++)
            if (is_in(expr->parts[p], run, i, j))
                return true;
        return false;
    case STAR:
    case PLUS:
        return repeated_is_in(expr, run, i, j);
    case OPTIONAL:
        return i == j || is_in(expr->parts[0], run, i, j);
    default:
        return whole_is_in(expr, run, i, j);
    }
}

static bool only_inside_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    for (int k = i; k < j; k++)
        if (fits(expr->parts[0], run, k) && !is_inside(run, k, expr->function))
            return false;
    return true;
}

static bool without_is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    for (int k = i; k < j; k++)
        if (fits(expr->parts[0], run, k) && !is_in(expr->parts[1], run, i, k))
            return true;
    return false;
}

static bool is_in(const struct expr *expr, const struct run *run, int i, int j)
{
    if (is_event(expr)) {
        for (int k = i; k < j; k++)
            if (fits(expr, run, k))
                return true;
        return false;
    }
    switch (expr->kind) {
    case INSIDE:
        return inside_is_in(expr, run, i, j);
    case ONLY_INSIDE:
        return only_inside_is_in(expr, run, i, j);
    case NEVER:
        return !is_in(expr->parts[0], run, i, j);
    case AND:
    case OR:
    case ANY_OF:
        for (uint32_t p = 0; p < expr->part_count; p++)
            if (is_in(expr->parts[p], run, i, j) == (expr->kind != AND))
                return expr->kind != AND;
        return expr->kind == AND;
    case THEN:
        return sequence_is_in(expr, 0, run, i, j);
    case WITHOUT:
        return without_is_in(expr, run, i, j);
    case PATTERN:
        return is_in(expr->parts[0], run, i, j);
    default:
        return pattern_is_in(expr, run, i, j);
    }
}

// ---- Comparing

struct walk {
    struct automaton *automaton;
    bool skips;
    uint32_t states[LONGEST + 1], symbols[LONGEST];
};

static void walk_letter(struct walk *walk, const struct run *run, int at)
{
    struct automaton *automaton = walk->automaton;
    const struct sign *sign = &run->signs[at];
    uint32_t state = walk->states[at], *next = &walk->states[at + 1];

    *next = state;
    if (state == AUTOMATON_DEAD || (walk->skips && !automaton->minds(automaton, sign->node)))
        return;
    if (sign->kind == EVENT_STEP)
        *next = automaton_step(automaton, state, sign->node, 0);
    else if (sign->kind == EVENT_CALL)
        *next = automaton->call(automaton, state, sign->node, sign->function, &walk->symbols[at]);
    else
        *next = automaton->leave(automaton, state, walk->symbols[run->partner[at]], sign->node,
                                 sign->function);
}

static bool walk_accepts(const struct walk *walk, int length)
{
    uint32_t state = walk->states[length];

    return state != AUTOMATON_DEAD && walk->automaton->accepts(walk->automaton, state);
}

static bool utl_fits(const struct query_utl *utl, const struct run *run, int length)
{
    for (int k = 0; k < length; k++)
        if (run->signs[k].kind == EVENT_STEP && id_set_has(utl->removed, run->signs[k].node))
            return false;
    for (uint32_t s = 0; s < utl->sequence_count; s++) {
        uint32_t seen = 0;
        for (int k = 0; k < length && seen < utl->sequences[s].count; k++)
            seen += run->signs[k].kind == EVENT_STEP &&
                    run->signs[k].node == utl->sequences[s].data[seen];
        if (seen < utl->sequences[s].count)
            return false;
    }
    return true;
}

struct counts {
    uint64_t all, members, by_fsa, by_utl, exact_fsa, exact_utl;
};

static void check(bool got, bool expected, bool is_exact, const char *who, const char *text,
                  const struct run *run, int length)
{
    if (is_exact ? got == expected : got || !expected)
        return;
    struct strbuf letters = STRBUF_INIT;
    for (int i = 0; i < length; i++)
        strbuf_printf(&letters, " %c%u.%u", "scl"[run->signs[i].kind], run -> signs[i].node,
                      run->signs[i].function);
    fail_msg("%s says %d of '%s' at%s", who, got, text, letters.data);
}

// A run's beginnings are runs, unless they end between a call and what it enters.
static void compare_run(struct walk walks[3], const struct query *query, const struct expr *expr,
                        const struct run *whole, struct counts *counts)
{
    unsigned exact = query_exact_solvers(query);
    struct run run = {.length = 0};

    for (int n = 0; n < whole->length; n++) {
        run_push(&run, whole->signs[n]);
        for (int w = 0; w < 3; w++)
            walk_letter(&walks[w], &run, n);
        if (run.signs[n].kind == EVENT_CALL)
            continue;
        const char *text = query_text(query);
        bool expected = is_in(expr, &run, 0, n + 1);
        bool by_fsa = walk_accepts(&walks[1], n + 1);
        bool by_utl = utl_fits(query_as_utl(query), &run, n + 1);
        check(walk_accepts(&walks[0], n + 1), expected, true, "vpa", text, &run, n + 1);
        check(walk_accepts(&walks[2], n + 1), expected, true, "vpa, skipping,", text, &run, n + 1);
        check(by_fsa, expected, exact & QUERY_BY_FSA, "fsa", text, &run, n + 1);
        check(by_utl, expected, exact & QUERY_BY_UTL, "utl", text, &run, n + 1);
        counts->all++;
        counts->members += expected;
        counts->by_fsa += by_fsa;
        counts->by_utl += by_utl;
    }
}

static void compare_query(const struct expr *expr, struct counts *counts)
{
    struct strbuf text = STRBUF_INIT;

    print(&text, expr);
    struct query *query = parse(text.data);
    struct walk walks[3] = {{.automaton = query_automaton(query, QUERY_EXACT)},
                            {.automaton = query_automaton(query, QUERY_REGULAR)},
                            {.automaton = query_automaton(query, QUERY_EXACT), .skips = true}};
    assert_true(walks[1].automaton->is_regular);
    assert_string_equal(walks[0].automaton->name, text.data);
    counts->exact_fsa += (query_exact_solvers(query) & QUERY_BY_FSA) != 0;
    counts->exact_utl += (query_exact_solvers(query) & QUERY_BY_UTL) != 0;
    for (int w = 0; w < 3; w++)
        walks[w].states[0] = walks[w].automaton->initial;
    for (int r = 0; r < 25; r++) {
        struct run run;
        random_run(&run);
        compare_run(walks, query, expr, &run, counts);
    }
    for (int w = 0; w < 3; w++)
        automaton_destroy(walks[w].automaton);
    char *words = query_words(query);
    assert_true(strlen(words) > 5);
    free(words);
    query_destroy(query);
    strbuf_deinit(&text);
}

static void random_queries_mean_what_they_say(void **state)
{
    (void)state;
    struct counts counts = {0};

    for (uint64_t i = 0; i < 12000; i++) {
        seed = 7000000 + i;
        struct expr *expr = random_expr((int)pick(4), false);
        compare_query(expr, &counts);
        expr_free(expr);
    }
    assert_true(counts.members > counts.all / 10 && counts.members < counts.all / 10 * 9);
    // What is not exact says something all the same.
    assert_true(counts.by_fsa >= counts.members && counts.by_fsa < counts.all / 10 * 9);
    assert_true(counts.by_utl >= counts.members && counts.by_utl < counts.all);
    assert_true(counts.exact_fsa > 2000 && counts.exact_utl > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atoms_in_words),
        cmocka_unit_test(keywords_can_be_names),
        cmocka_unit_test(precedence),
        cmocka_unit_test(patterns_in_words),
        cmocka_unit_test(errors_of_form),
        cmocka_unit_test(errors_of_names),
        cmocka_unit_test(limits),
        cmocka_unit_test(carets),
        cmocka_unit_test(notes),
        cmocka_unit_test(exact_solvers),
        cmocka_unit_test(unreliable_traces),
        cmocka_unit_test(random_queries_mean_what_they_say),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
