// SPDX-License-Identifier: Apache-2.0
// What dataflow rules out: small programs of C in which lines are marked that no run reaches, or
// that some run does; all paths of them are gone along. Real runs are in test_dataflow_runs.c.
#include "dataflow_fixture.h"

#include "common/bitset.h"
#include "common/vec.h"
#include "layout/suspects.h"
#include "path/dataflow_range.h"
#include "program/insn.h"
#include "solve/product.h"

// ---- All paths

VEC_DEFINE(event_vec, struct run_event);

struct search {
    struct subject subject;
    struct bitset reached;  // nodes at the end of a path with a value other than zero
    struct bitset replayed; // and replayed
    struct event_vec events;
    uint32_t steps, most;
    uint64_t paths;
};

struct activation {
    struct activation *caller;
    uint32_t function, node;             // node: where the caller waits
    struct dataflow_value before, value; // from the start to the entry; from there on
};

static void go(struct search *search, struct activation *at, uint32_t node);

// The call has ended; `flag`: by a return (FLOW_BEHIND) or by a jump (FLOW_LANDS), which may leave
// the caller as well.
static void go_back(struct search *search, struct activation *at, struct dataflow_value callee,
                    uint32_t flag)
{
    struct dataflow *dataflow = search->subject.dataflow;
    struct activation *caller = at->caller;

    if (!caller || dataflow_is_zero(callee))
        return;
    struct flow_edges edges = flow_edges(search->subject.flow, at->node);
    event_vec_push(&search->events, (struct run_event){RUN_LEAVE, at->node, at->function, 0});
    for (uint32_t e = 0; e < edges.count; e++) {
        if (!(edges.data[e].flags & flag))
            continue;
        struct activation next = *caller;
        next.value = dataflow_merge(dataflow, caller->value, callee, at->node, at->function, e);
        go(search, &next, edges.data[e].target);
    }
    if (flag == FLOW_LANDS)
        go_back(search, caller,
                dataflow_merge(dataflow, caller->value, callee, at->node, at->function, UINT32_MAX),
                flag);
    search->events.length--;
}

static void go_into(struct search *search, struct activation *at, uint32_t node)
{
    struct dataflow *dataflow = search->subject.dataflow;
    struct flow_callees callees = flow_callees(search->subject.flow, node);

    for (uint32_t i = 0; i < callees.count; i++) {
        uint32_t function = callees.data[i];
        struct dataflow_value call = dataflow_call(dataflow, node, function);
        struct activation inner = {
            .caller = at, .function = function, .node = node, .value = DATAFLOW_ONE};
        inner.before =
            dataflow_extend(dataflow, dataflow_extend(dataflow, at->before, at->value), call);
        event_vec_push(&search->events, (struct run_event){RUN_CALL, node, function, 0});
        go(search, &inner, search->subject.flow->functions[function].entry);
        search->events.length--;
    }
}

static void go(struct search *search, struct activation *at, uint32_t node)
{
    struct dataflow *dataflow = search->subject.dataflow;
    struct flow_edges edges = flow_edges(search->subject.flow, node);

    if (search->steps >= search->most ||
        dataflow_is_zero(dataflow_extend(dataflow, at->before, at->value)))
        return;
    search->paths++;
    search->steps++;
    event_vec_push(&search->events, (struct run_event){RUN_STEP, node, FLOW_NONE, 0});
    bitset_set(&search->reached, node);
    struct run run = {search->events.data, (uint32_t)search->events.length};
    if (!bitset_test(&search->replayed, node) && dataflow_replay(dataflow, &run) == UINT32_MAX)
        bitset_set(&search->replayed, node);
    go_into(search, at, node);
    if (search->subject.flow->node_flags[node] & FLOW_RETURNS)
        go_back(search, at, dataflow_extend(dataflow, at->value, dataflow_leave(dataflow, node)),
                FLOW_BEHIND);
    if (search->subject.flow->node_flags[node] & FLOW_JUMPS)
        go_back(search, at, dataflow_extend(dataflow, at->value, dataflow_leave(dataflow, node)),
                FLOW_LANDS);
    for (uint32_t e = 0; e < edges.count; e++) {
        if (!(edges.data[e].flags & FLOW_PAST))
            continue;
        struct activation next = *at;
        next.value = dataflow_extend(dataflow, at->value, dataflow_step(dataflow, node, e));
        go(search, &next, edges.data[e].target);
    }
    search->events.length--;
    search->steps--;
}

static bool line_in(const struct subject *subject, const struct bitset *nodes, uint32_t line)
{
    for (uint32_t n = 0; n < subject->model->node_count; n++)
        if (subject->model->nodes[n].line == line && bitset_test(nodes, n))
            return true;
    return false;
}

// Lines with "// never" and "// may".
static int check_lines(const struct search *search, const char *source)
{
    uint32_t line = 1;
    int checked = 0;

    for (const char *at = source; *at; line++) {
        const char *end = strchr(at, '\n'), *never = strstr(at, "// never"),
                   *may = strstr(at, "// may");
        end = end ? end : at + strlen(at);
        bool reached = line_in(&search->subject, &search->reached, line);
        bool replayed = line_in(&search->subject, &search->replayed, line);
        if (never && never < end && (reached || replayed))
            fail_msg("line %u is reached%s:\n%s", line, reached ? "" : " by replay", source);
        if (may && may < end && (!reached || !replayed))
            fail_msg("line %u is not reached%s:\n%s", line, reached ? " by replay" : "", source);
        checked += (never && never < end) + (may && may < end);
        at = *end ? end + 1 : end;
    }
    return checked;
}

static void check_with(const char *source, uint32_t options, uint32_t most)
{
    struct search search = {.most = most};

    subject_init(&search.subject, source, options);
    const struct flow *flow = search.subject.flow;
    bitset_init(&search.reached, flow->node_count);
    bitset_init(&search.replayed, flow->node_count);
    struct activation start = {.function = flow->start,
                               .before = dataflow_begin(search.subject.dataflow),
                               .value = DATAFLOW_ONE};
    go(&search, &start, flow->functions[flow->start].entry);
    assert_true(check_lines(&search, source) > 0);
    bitset_deinit(&search.reached);
    bitset_deinit(&search.replayed);
    event_vec_deinit(&search.events);
    subject_deinit(&search.subject);
}

static void check(const char *source, uint32_t most)
{
    check_with(source, 0, most);
    check_with(source, SUBJECT_POINTS_TO | SUBJECT_OPTIMISING, most);
}

static void constants_and_copies(void **unused)
{
    (void)unused;
    check("void hit(void);\n"
          "int main(void) {\n"
          "    int x = 1, y = x;\n"
          "    if (y == 0)\n"
          "        hit(); // never\n"
          "    y = y + 2;\n"
          "    if (y != 3)\n"
          "        hit(); // never\n"
          "    else\n"
          "        hit(); // may\n"
          "    return 0;\n"
          "}\n",
          30);
}

static void conditions_are_kept(void **unused)
{
    (void)unused;
    check("void hit(void); int any(void);\n"
          "int main(void) {\n"
          "    int x = any(), y = any(), z = x;\n"
          "    if (x < 5) {\n"
          "        if (z > 10)\n"
          "            hit(); // never\n"
          "        if (x == y && y > 4)\n"
          "            hit(); // never\n"
          "        if (x > y && y > 4)\n"
          "            hit(); // never\n"
          "        if (x > y && y > 3)\n"
          "            hit(); // never\n"
          "        if (x > y && y > 2)\n"
          "            hit(); // may\n"
          "        if (z == 4)\n"
          "            hit(); // may\n"
          "    }\n"
          "    return 0;\n"
          "}\n",
          60);
}

static void widths_wrap(void **unused)
{
    (void)unused;
    check("void hit(void); int any(void);\n"
          "int main(void) {\n"
          "    unsigned char c = any();\n"
          "    unsigned u = any();\n"
          "    signed char s = any();\n"
          "    if (c > 255 || c < 0)\n"
          "        hit(); // never\n"
          "    if (s == 200)\n"
          "        hit(); // never\n"
          "    if (s == -56)\n"
          "        hit(); // may\n"
          "    if (u == 0) {\n"
          "        u--;\n"
          "        if (u < 10)\n"
          "            hit(); // never\n"
          "        if (u == 4294967295u)\n"
          "            hit(); // may\n"
          "    } else if (u - 1 > 4294967293u) {\n"
          "        if (u != 4294967295u)\n"
          "            hit(); // never\n"
          "    }\n"
          "    return 0;\n"
          "}\n",
          60);
}

static void null_is_checked_by_the_caller(void **unused)
{
    (void)unused;
    check("#include <stdio.h>\n"
          "#include <stdlib.h>\n"
          "#include <string.h>\n"
          "char *xreadline(FILE *fin) {\n"
          "    char *buf = malloc(100);\n"
          "    char *res, *nl;\n"
          "    res = fgets(buf, 100, fin);\n"
          "    if (res == NULL) {\n"
          "        free(buf);\n"
          "        return NULL;\n"
          "    }\n"
          "    nl = strchr(buf, '\\n');\n"
          "    if (nl) *nl = 0;\n"
          "    return (char *)1;\n"
          "}\n"
          "void hit(void);\n"
          "int main(void) {\n"
          "    char *a = xreadline(stdin);\n"
          "    if (a == NULL)\n"
          "        exit(1);\n"
          "    char *b = xreadline(stdin);\n"
          "    if (b == NULL) {\n"
          "        if (a != NULL)\n"
          "            hit(); // may\n"
          "        else\n"
          "            hit(); // never\n"
          "    }\n"
          "    return 0;\n"
          "}\n",
          40);
}

static void globals_and_fields(void **unused)
{
    (void)unused;
    check("void hit(void); int any(void);\n"
          "int mode; static struct s { int kind; struct s *next; char flag; } g = {3};\n"
          "static void set(int to) { mode = to; g.kind = to + 1; }\n"
          "int main(void) {\n"
          "    struct s l = {0};\n"
          "    if (mode || g.kind != 3 || g.next)\n"
          "        hit(); // never\n"
          "    set(4);\n"
          "    if (mode != 4 || g.kind != 5)\n"
          "        hit(); // never\n"
          "    if (l.kind || l.next || l.flag)\n"
          "        hit(); // never\n"
          "    l.next = &g;\n"
          "    if (!l.next || l.kind)\n"
          "        hit(); // never\n"
          "    l.flag = any();\n"
          "    if (l.flag && g.kind == 5)\n"
          "        hit(); // may\n"
          "    return 0;\n"
          "}\n",
          60);
}

static void switches(void **unused)
{
    (void)unused;
    check("void hit(void); int any(void);\n"
          "int main(void) {\n"
          "    int x = any();\n"
          "    switch (x) {\n"
          "    case 1: case 2: case 7:\n"
          "        if (x == 3 || x > 7 || x < 1)\n"
          "            hit(); // never\n"
          "        if (x == 7)\n"
          "            hit(); // may\n"
          "        break;\n"
          "    case 4:\n"
          "        if (x != 4)\n"
          "            hit(); // never\n"
          "        break;\n"
          "    default:\n"
          "        if (x == 2 || x == 4)\n"
          "            hit(); // never\n"
          "        if (x == 3)\n"
          "            hit(); // may\n"
          "    }\n"
          "    return 0;\n"
          "}\n",
          30);
}

// More cases than a range has spans.
static void many_cases(void **unused)
{
    (void)unused;
    check(
        "void hit(void); int any(void);\n"
        "int main(void) {\n"
        "    int x = any();\n"
        "    switch (x) {\n"
        "    case 0: case 2: case 4: case 6: case 8: case 10: case 12: case 14: case 16: case 18:\n"
        "    case 20: case 22:\n"
        "        if (x < 0 || x > 22)\n"
        "            hit(); // never\n"
        "        break;\n"
        "    default:\n"
        "        if (x == 1) hit(); // may\n"
        "        if (x == 3) hit(); // may\n"
        "        if (x == 5) hit(); // may\n"
        "        if (x == 7) hit(); // may\n"
        "        if (x == 19) hit(); // may\n"
        "        if (x == 21) hit(); // may\n"
        "    }\n"
        "    return 0;\n"
        "}\n",
        70);
}

static void truth_values(void **unused)
{
    (void)unused;
    check("#include <stdbool.h>\n"
          "void hit(void); int any(void);\n"
          "int main(void) {\n"
          "    int x = any(), y = any();\n"
          "    bool b = x == 3, c = x == 3 && y == 4;\n"
          "    if (b && x != 3)\n"
          "        hit(); // never\n"
          "    if (!b && x == 3)\n"
          "        hit(); // never\n"
          "    if (c && y != 4)\n"
          "        hit(); // never\n"
          "    if (c && x == 3)\n"
          "        hit(); // may\n"
          "    while (x < 2 && y)\n"
          "        if (y == 0 || x == 2)\n"
          "            hit(); // never\n"
          "    int n = !x;\n"
          "    if (n && x)\n"
          "        hit(); // never\n"
          "    return 0;\n"
          "}\n",
          28);
}

static void loops_and_recursion(void **unused)
{
    (void)unused;
    check("void hit(void);\n"
          "static int down(int n) {\n"
          "    int here = n;\n"
          "    if (n == 0)\n"
          "        return 7;\n"
          "    int below = down(n - 1);\n"
          "    if (here != n)\n"
          "        hit(); // never\n"
          "    if (below != 7)\n"
          "        hit(); // never\n"
          "    return below;\n"
          "}\n"
          "int main(void) {\n"
          "    int i;\n"
          "    for (i = 0; i < 3; i++)\n"
          "        ;\n"
          "    if (i != 3)\n"
          "        hit(); // never\n"
          "    if (down(2) != 7)\n"
          "        hit(); // never\n"
          "    hit(); // may\n"
          "    return 0;\n"
          "}\n",
          60);
}

static void frames_are_apart(void **unused)
{
    (void)unused;
    check("void hit(void);\n"
          "static void down(int n) {\n"
          "    int un;\n"
          "    if (n == 0) {\n"
          "        if (un != 5)\n"
          "            hit(); // may\n"
          "        un = 6;\n"
          "    } else {\n"
          "        un = 5;\n"
          "        hit();\n"
          "        down(n - 1);\n"
          "        if (un != 5)\n"
          "            hit(); // never\n"
          "    }\n"
          "}\n"
          "int main(void) {\n"
          "    down(1);\n"
          "    return 0;\n"
          "}\n",
          40);
}

static void widened_numbers(void **unused)
{
    (void)unused;
    check("void hit(void); int any(void);\n"
          "int main(void) {\n"
          "    unsigned char a = any(), b = any();\n"
          "    signed char c = any(), d = any();\n"
          "    if (a < b) {\n"
          "        if (a == 5 && b == 200)\n"
          "            hit(); // may\n"
          "        if (a > 10 && b < 11)\n"
          "            hit(); // never\n"
          "    }\n"
          "    if (c < d) {\n"
          "        if (c == -3 && d == 5)\n"
          "            hit(); // may\n"
          "        if (c == 5 && d == -3)\n"
          "            hit(); // never\n"
          "    }\n"
          "    return 0;\n"
          "}\n",
          40);
}

static void pointers(void **unused)
{
    (void)unused;
    check_with("void hit(void); int any(void);\n"
               "static int a, b;\n"
               "static void put(int *p, int v) { *p = v; }\n"
               "int main(void) {\n"
               "    int x = 1, y = 2;\n"
               "    a = 1; b = 1;\n"
               "    put(&x, 5);\n"
               "    if (y != 2 || b != 1)\n"
               "        hit(); // never\n"
               "    if (x == 5)\n"
               "        hit(); // may\n"
               "    put(&a, 3);\n"
               "    if (a == 3)\n"
               "        hit(); // may\n"
               "    if (b != 1)\n"
               "        hit(); // never\n"
               "    int *only = &y;\n"
               "    *only = 9;\n"
               "    if (y != 9)\n"
               "        hit(); // never\n"
               "    y = 8;\n"
               "    if (*only != 8)\n"
               "        hit(); // never\n"
               "    return 0;\n"
               "}\n",
               SUBJECT_POINTS_TO, 60);
}

static void others_at_work(void **unused)
{
    (void)unused;
    check("#include <signal.h>\n"
          "void hit(void);\n"
          "static volatile int v; static int stop, quiet;\n"
          "static void handler(int s) { stop = 1; }\n"
          "int main(void) {\n"
          "    signal(SIGINT, handler);\n"
          "    stop = 0; quiet = 0; v = 0;\n"
          "    if (stop)\n"
          "        hit(); // may\n"
          "    if (v)\n"
          "        hit(); // may\n"
          "    if (quiet)\n"
          "        hit(); // never\n"
          "    return 0;\n"
          "}\n",
          30);
}

static void jumps(void **unused)
{
    (void)unused;
    check("#include <setjmp.h>\n"
          "void hit(void); int any(void);\n"
          "static jmp_buf buffer; static int g;\n"
          "static void leap(void) { g = 2; if (any()) longjmp(buffer, 1); g = 3; }\n"
          "int main(void) {\n"
          "    int x = 1;\n"
          "    if (setjmp(buffer)) {\n"
          "        if (x == 2)\n"
          "            hit(); // may\n"
          "        return 0;\n"
          "    }\n"
          "    x = 2;\n"
          "    leap();\n"
          "    if (g != 3 || x != 2)\n"
          "        hit(); // never\n"
          "    return 0;\n"
          "}\n",
          40);
}

// ---- Ranges, against all numbers of 5 bits

static uint32_t bits_of(const struct range *range)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < 1u << range->width; i++)
        bits |= (uint32_t)range_holds(range, i) << i;
    return bits;
}

static struct range range_of_bits(uint32_t bits)
{
    struct range range = range_empty(5);

    for (uint32_t i = 0; i < 32; i++) {
        struct range one = range_single(5, i);
        if (bits >> i & 1)
            range = range_union(&range, &one);
    }
    return range;
}

static bool compares(uint32_t predicate, uint32_t a, uint32_t b)
{
    int x = a < 16 ? (int)a : (int)a - 32, y = b < 16 ? (int)b : (int)b - 32;
    const bool results[] = {a == b, a != b, a > b, a >= b, a<b, a <= b, x> y,
                            x >= y, x < y,  x <= y};

    return results[predicate];
}

static void range_predicates(void **unused)
{
    (void)unused;
    for (uint32_t predicate = PREDICATE_EQ; predicate <= PREDICATE_SLE; predicate++)
        for (uint32_t b = 0; b < 32; b++) {
            struct range range = range_of_predicate(5, predicate, b);
            for (uint32_t a = 0; a < 32; a++)
                assert_int_equal(range_holds(&range, a), compares(predicate, a, b));
        }
}

static void range_operations(void **unused)
{
    uint64_t random = 1;

    (void)unused;
    for (uint32_t round = 0; round < 20000; round++) {
        random = hash_mix(random + round);
        // few enough spans to be exact
        uint32_t x = (uint32_t)(random & random >> 13 & 0xf0f0ffff), distance = random >> 50 & 31;
        uint32_t y = (uint32_t)(random >> 32 | random >> 7) & 0xff00f0ff;
        struct range a = range_of_bits(x), b = range_of_bits(y), c;
        assert_int_equal(bits_of(&a) & x, x);
        if (a.is_wider || b.is_wider)
            continue;
        c = range_intersect(&a, &b);
        assert_true(c.is_wider || bits_of(&c) == (x & y));
        c = range_union(&a, &b);
        assert_int_equal(bits_of(&c) & (x | y), x | y);
        assert_true(c.is_wider || bits_of(&c) == (x | y));
        c = range_complement(&a);
        assert_true(c.is_wider || bits_of(&c) == ~x);
        c = range_shift(&a, distance);
        uint32_t moved = distance ? x << distance | x >> (32 - distance) : x;
        assert_int_equal(bits_of(&c) & moved, moved);
        assert_true(c.is_wider || bits_of(&c) == moved);
        assert_int_equal(range_is_subset(&a, &b), (x & ~y) == 0);
        c = range_close(&a);
        assert_true(range_is_subset(&a, &c));
        struct range twice = range_close(&c);
        assert_true(range_is_equal(&c, &twice));
    }
}

static void range_widths(void **unused)
{
    (void)unused;
    for (uint32_t extension = 0; extension < 2; extension++)
        for (uint32_t low = 0; low < 32; low++)
            for (uint32_t high = 0; high < 32; high++) {
                struct range wide = range_span(5, low, high);
                struct range narrow = range_span(3, low & 7, high & 7);
                struct range before = range_before_extend(&wide, 3, extension);
                struct range after = range_extend(&narrow, 5, extension);
                struct range cut = range_truncate(&wide, 3);
                for (uint32_t n = 0; n < 8; n++) {
                    uint32_t image = extension == EXTENSION_SIGN && n >= 4 ? n + 24 : n;
                    assert_int_equal(range_holds(&before, n), range_holds(&wide, image));
                    assert_int_equal(range_holds(&after, image), range_holds(&narrow, n));
                }
                for (uint32_t n = 0; n < 32; n++)
                    assert_true(!range_holds(&wide, n) || range_holds(&cut, n & 7));
            }
}

// ---- Assumptions and texts

static uint32_t node_of_line(const struct subject *subject, uint32_t line)
{
    for (uint32_t n = 0; n < subject->model->node_count; n++)
        if (subject->model->nodes[n].line == line)
            return n;
    fail_msg("no node on line %u", line);
    return 0;
}

// The shape of examples/words.c, a global, fields, an argument.
static void functions_by_pointers(void **unused)
{
    (void)unused;
    check("#include <stdio.h>\n"
          "static void hit(void) {}\n"
          "static int state;\n"
          "static void add(void) {\n"
          "    if (state == 1)\n"
          "        hit(); // may\n"
          "    if (state == 2)\n"
          "        hit(); // never\n"
          "}\n"
          "static void drop(void) {\n"
          "    if (state == 2)\n"
          "        hit(); // may\n"
          "    if (state == 1)\n"
          "        hit(); // never\n"
          "}\n"
          "int main(void) {\n"
          "    void (*change)(void) = add;\n"
          "    state = 1;\n"
          "    if (getchar() == '-') {\n"
          "        change = drop;\n"
          "        state = 2;\n"
          "    }\n"
          "    change();\n"
          "    if (!change)\n"
          "        hit(); // never\n"
          "    hit(); // may\n"
          "    return 0;\n"
          "}\n",
          40);
    check(
        "#include <stdio.h>\n"
        "static void hit(void) {}\n"
        "static int one(void) { return 1; }\n"
        "static int two(void) { return 2; }\n"
        "int (*back)(void); int (*at_first)(void) = one;\n"
        "static const struct op { int id; int (*run)(void); } ops[] = {{1, one}, {2, two}, {3}};\n"
        "static int apply(int (*f)(void)) { return f(); }\n"
        "static int call_back(void) { return back ? back() : 0; }\n"
        "int main(void) {\n"
        "    if (ops[0].run() == 2 || ops[1].run() != 2)\n"
        "        hit(); // never\n"
        "    if (ops[2].run)\n"
        "        hit(); // never\n"
        "    if (at_first() != 1 || apply(two) != 2)\n"
        "        hit(); // never\n"
        "    back = two;\n"
        "    if (call_back() != 2)\n"
        "        hit(); // never\n"
        "    hit(); // may\n"
        "    return 0;\n"
        "}\n",
        70);
}

// Pointers that are not known, and what a call tells of one.
static void functions_that_may_be_any(void **unused)
{
    (void)unused;
    check("#include <stdlib.h>\n"
          "static void hit(void) {}\n"
          "static int one(void) { return 1; }\n"
          "static int two(void) { return 2; }\n"
          "int main(void) {\n"
          "    int (*f)(void) = (void *)getenv(\"f\"), (*g)(void) = one, (*h)(void) = 0;\n"
          "    int a = f();\n"
          "    if (!f)\n"
          "        hit(); // never\n"
          "    if (a == 2)\n"
          "        hit(); // may\n"
          "    if (a == 7)\n"
          "        hit(); // may\n"
          "    if (f == two && a == 1)\n"
          "        hit(); // may\n"
          "    if (g == two)\n"
          "        hit(); // may\n"
          "    if (g != one)\n"
          "        hit(); // never\n"
          "    if (g)\n"
          "        hit(); // may\n"
          "    h();\n"
          "    hit(); // never\n"
          "    return 0;\n"
          "}\n",
          40);
    check("#include <stdio.h>\n"
          "static void hit(void) {}\n"
          "static int entered;\n"
          "static void one(void) { entered = 1; }\n"
          "static void two(void) { entered = 2; }\n"
          "__attribute__((weak)) void three(void) { entered = 3; }\n"
          "int main(void) {\n"
          "    void (*table[])(void) = {one, two, three};\n"
          "    void (*f)(void) = table[getchar()];\n"
          "    f();\n"
          "    int first = entered;\n"
          "    entered = 0;\n"
          "    f();\n"
          "    if (first == 1 && entered == 1)\n"
          "        hit(); // may\n"
          "    if (first == 3 && entered == 3)\n"
          "        hit(); // may\n"
          "    if (first == 0 && entered == 0)\n"
          "        hit(); // may\n"
          "    if (first != entered)\n"
          "        hit(); // never\n"
          "    return 0;\n"
          "}\n",
          40);
    check("#include <stdio.h>\n"
          "static void hit(void) {}\n"
          "static int entered;\n"
          "static void one(void) { entered = 1; }\n"
          "int main(void) {\n"
          "    void (*f)(void) = one;\n"
          "    f();\n"
          "    if (entered == 0)\n"
          "        hit(); // never\n"
          "    f = (void (*)(void))getchar;\n"
          "    if (!f)\n"
          "        hit(); // never\n"
          "    entered = 0;\n"
          "    f();\n"
          "    if (entered == 0)\n"
          "        hit(); // may\n"
          "    return 0;\n"
          "}\n",
          50);
    check("static void hit(void) {}\n"
          "static int entered;\n"
          "static void one(void) { entered = 1; }\n"
          "__attribute__((weak)) void five(void);\n"
          "int main(void) {\n"
          "    void (*f)(void) = five;\n"
          "    if (!f)\n"
          "        hit(); // may\n"
          "    else\n"
          "        f();\n"
          "    f = one;\n"
          "    if (!f)\n"
          "        hit(); // never\n"
          "    f();\n"
          "    hit(); // may\n"
          "    return 0;\n"
          "}\n",
          24);
}

static void assumptions(void **unused)
{
    struct subject subject;
    struct strbuf text = STRBUF_INIT;

    (void)unused;
    subject_init(&subject,
                 "void hit(void);\n"
                 "static int g;\n"
                 "int main(void) {\n"
                 "    int x = 3; signed char c = 1;\n"
                 "    hit();\n"
                 "    return x + g + c;\n"
                 "}\n",
                 SUBJECT_ALL);
    struct dataflow *dataflow = subject.dataflow;
    uint32_t first = subject.flow->functions[subject_function(&subject, "main")].entry;
    uint32_t node = node_of_line(&subject, 6);
    struct dataflow_value step = dataflow_step(dataflow, first, 0);
    struct dataflow_value is_7 = dataflow_assume(dataflow, node, "x", SUSPECTS_EQUAL, 7, false);
    struct dataflow_value below = dataflow_assume(dataflow, node, "x", SUSPECTS_LESS, 4, false);
    assert_true(dataflow_is_zero(dataflow_extend(dataflow, step, is_7)));
    assert_int_equal(dataflow_extend(dataflow, step, below).number, step.number);
    assert_true(dataflow_is_zero(dataflow_extend(dataflow, is_7, below)));
    assert_true(dataflow_is_zero(dataflow_extend(
        dataflow, step, dataflow_assume(dataflow, node, "c", SUSPECTS_LESS, 1, false))));
    assert_int_equal(dataflow_assume(dataflow, node, "nobody", SUSPECTS_EQUAL, 7, false).number, 1);
    struct dataflow_value global = dataflow_assume(dataflow, node, "g", SUSPECTS_GREATER, 0, false);
    assert_true(dataflow_is_zero(dataflow_extend(dataflow, dataflow_begin(dataflow), global)));
    dataflow_print(dataflow, dataflow_extend(dataflow, step, global), &text);
    assert_string_equal(text.data, "%0 = 0, x = 3, c = 1; requires g in {1..2147483647}");
    strbuf_deinit(&text);
    subject_deinit(&subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_predicates),
        cmocka_unit_test(range_operations),
        cmocka_unit_test(range_widths),
        cmocka_unit_test(constants_and_copies),
        cmocka_unit_test(conditions_are_kept),
        cmocka_unit_test(widths_wrap),
        cmocka_unit_test(null_is_checked_by_the_caller),
        cmocka_unit_test(globals_and_fields),
        cmocka_unit_test(switches),
        cmocka_unit_test(many_cases),
        cmocka_unit_test(truth_values),
        cmocka_unit_test(loops_and_recursion),
        cmocka_unit_test(frames_are_apart),
        cmocka_unit_test(widened_numbers),
        cmocka_unit_test(pointers),
        cmocka_unit_test(others_at_work),
        cmocka_unit_test(jumps),
        cmocka_unit_test(functions_by_pointers),
        cmocka_unit_test(functions_that_may_be_any),
        cmocka_unit_test(assumptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
