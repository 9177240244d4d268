// SPDX-License-Identifier: Apache-2.0
/*
 * The solvers of `inquest coverage` against enumeration (brute_oracle.h), on small random programs
 * and reports (brute_program.h, brute_report.h), always the same ones.
 *
 *     build/tests/test_brute [PROGRAMS [FIRST [LENIENCE]]]
 *
 * `make check` takes a sample, `make check-long` many (tests/cli/test_brute_long.sh). What does not
 * fit is made smaller and printed as files for `inquest coverage MODEL.txt EVIDENCE.json`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "ask/case.h"
#include "ask/coverage.h"
#include "common/budget.h"
#include "common/error.h"
#include "evidence/evidence.h"
#include "evidence/evidence_fit.h"
#include "program/model.h"
#include "brute_oracle.h"
#include "brute_paths.h"
#include "brute_report.h"
#include "brute_shrink.h"

// So many failures are shown at most, of every class, solver and kind one.
#define FAILURES_SHOWN 24

// ---- What is expected of the solvers

enum expectation {
    EXACT, // equals enumeration
    SOUND, // says maybe where it could say more, never what is wrong
};

// What a program or report has. A case is expected to be exact when all that it has is.
enum feature {
    HAS_STACK,
    HAS_CANDIDATES,
    HAS_GAP,
    HAS_NEVER,
    HAS_ABSENT,
    HAS_LOCAL_NEVER,
    HAS_PATHS,
    HAS_MADE,
    HAS_LOCAL_MADE,
    HAS_RAN,
    HAS_RAN_SET,
    HAS_NOT_ALL_SET,
    HAS_UNRELIABLE,
    HAS_RELIABLE,
    HAS_BURST,
    HAS_LIBRARY,
    HAS_LIBRARY_OR_CALLEE, // at one site
    HAS_JUMPS,
    HAS_SIGNALS,
    HAS_STARTS,
    HAS_THREADS,
    HAS_THREADS_JOINED, // threads, and something that one of them must have done
    FEATURE_COUNT,
};

enum solver {
    VPA,
    UTL,
    FSA,
    SOLVER_COUNT,
};

static const enum ask_solver solvers[] = {ASK_SOLVER_VPA, ASK_SOLVER_UTL, ASK_SOLVER_FSA};

// For solvers without contexts local facts are dropped, by enumeration too.
static const struct {
    const char *name;
    enum expectation expected[SOLVER_COUNT]; // vpa, utl, fsa
} features[FEATURE_COUNT] = {
    [HAS_STACK] = {"stack", {EXACT, EXACT, EXACT}},
    [HAS_CANDIDATES] = {"candidates", {EXACT, SOUND, SOUND}},
    [HAS_GAP] = {"gap", {EXACT, EXACT, EXACT}},
    [HAS_NEVER] = {"never", {EXACT, EXACT, EXACT}},
    [HAS_ABSENT] = {"absent", {EXACT, EXACT, EXACT}},
    [HAS_LOCAL_NEVER] = {"local never", {EXACT, EXACT, EXACT}},
    [HAS_PATHS] = {"paths", {EXACT, EXACT, EXACT}},
    [HAS_MADE] = {"made", {EXACT, EXACT, EXACT}},
    [HAS_LOCAL_MADE] = {"local made", {EXACT, EXACT, EXACT}},
    [HAS_RAN] = {"ran", {EXACT, EXACT, EXACT}},
    [HAS_RAN_SET] = {"ran, set", {EXACT, EXACT, EXACT}},
    [HAS_NOT_ALL_SET] = {"not all", {EXACT, EXACT, EXACT}},
    [HAS_UNRELIABLE] = {"unreliable", {EXACT, SOUND, EXACT}},
    [HAS_RELIABLE] = {"reliable", {EXACT, SOUND, EXACT}},
    [HAS_BURST] = {"burst", {EXACT, SOUND, EXACT}},
    [HAS_LIBRARY] = {"library", {EXACT, EXACT, EXACT}},
    [HAS_LIBRARY_OR_CALLEE] = {"library or not", {EXACT, SOUND, SOUND}},
    [HAS_JUMPS] = {"jumps", {EXACT, EXACT, EXACT}},
    [HAS_SIGNALS] = {"signals", {SOUND, SOUND, SOUND}},
    [HAS_STARTS] = {"starts", {EXACT, EXACT, EXACT}},
    [HAS_THREADS] = {"threads", {EXACT, EXACT, EXACT}},
    [HAS_THREADS_JOINED] = {"threads joined", {SOUND, SOUND, SOUND}},
};

static uint32_t features_of_frame(const struct brute_frame *frame)
{
    return (frame->kind == BRUTE_FRAME_MODEL && frame->at & (frame->at - 1) ? 1u << HAS_CANDIDATES
                                                                            : 0) |
           (frame->gap ? 1u << HAS_GAP : 0) | (frame->calls ? 1u << HAS_LOCAL_MADE : 0) |
           (frame->calls_never ? 1u << HAS_LOCAL_NEVER : 0) |
           (frame->step_count ? 1u << HAS_PATHS : 0);
}

static uint32_t features_of_observation(const struct brute_observation *seen)
{
    bool set = seen->entries[0] & (seen->entries[0] - 1);

    switch (seen->kind) {
    case BRUTE_RAN:
        return 1u << (set ? HAS_RAN_SET : HAS_RAN);
    case BRUTE_NOT_ALL:
        return 1u << (set ? HAS_NOT_ALL_SET : HAS_ABSENT);
    case BRUTE_UNRELIABLE:
        return 1u << HAS_UNRELIABLE;
    case BRUTE_RELIABLE:
        return 1u << HAS_RELIABLE;
    case BRUTE_BURST:
        return 1u << HAS_BURST;
    }
    return 0;
}

static uint32_t features_of(const struct brute_program *program, const struct brute_report *report)
{
    uint32_t has = 1u << HAS_STACK;

    for (uint32_t n = 0; n < program->node_count; n++)
        has |=
            (program->nodes[n].calls_back ? 1u << HAS_LIBRARY : 0) |
            (program->nodes[n].calls_back && program->nodes[n].callees ? 1u << HAS_LIBRARY_OR_CALLEE
                                                                       : 0) |
            (program->nodes[n].returns_twice ? 1u << HAS_JUMPS : 0);
    has |= (program->handlers ? 1u << HAS_SIGNALS : 0) | (program->early ? 1u << HAS_STARTS : 0) |
           (program->threads ? 1u << HAS_THREADS : 0);
    for (uint32_t t = 0; t < report->thread_count; t++) {
        has |= report->threads[t].whole ? 0 : 1u << HAS_GAP;
        for (uint32_t f = 0; f < report->threads[t].frame_count; f++)
            has |= features_of_frame(&report->threads[t].frames[f]);
    }
    has |= (report->sites ? 1u << HAS_MADE : 0) | (report->sites_never ? 1u << HAS_NEVER : 0);
    for (uint32_t i = 0; i < report->observation_count; i++)
        has |= features_of_observation(&report->observations[i]);
    if (program->threads &&
        has & (1u << HAS_MADE | 1u << HAS_RAN | 1u << HAS_RAN_SET | 1u << HAS_NOT_ALL_SET))
        has |= 1u << HAS_THREADS_JOINED;
    return has;
}

static enum expectation expectation_of(uint32_t has, enum solver solver)
{
    for (uint32_t f = 0; f < FEATURE_COUNT; f++)
        if (has >> f & 1 && features[f].expected[solver] == SOUND)
            return SOUND;
    return EXACT;
}

// ---- Asking

struct solved {
    bool possible;
    uint32_t yes, no;
};

static void ask_solver(const struct brute_program *program, const struct brute_report *report,
                       struct solved solved[SOLVER_COUNT])
{
    struct strbuf text = STRBUF_INIT, json = STRBUF_INIT;
    struct model *model = NULL;
    struct evidence *evidence = NULL;
    struct ask_case *ask;

    brute_program_text(program, &text);
    brute_report_json(program, report, &json);
    struct error *err = model_read_text("model", text.data, text.length, &model);
    if (!err)
        err = evidence_read_json(json.data, json.length, "evidence", &evidence);
    if (!err)
        err = evidence_fit(evidence, model);
    if (!err)
        err = ask_case_create(model, evidence, ASK_USE_ALL, &ask);
    if (err) {
        printf("%s\n%s", text.data, json.data);
        fail_msg("%s", err->message);
    }
    for (uint32_t s = 0; s < SOLVER_COUNT; s++) {
        struct ask_coverage coverage;
        struct budget budget;

        budget_init(&budget, 0, 0);
        ask_coverage_init(&coverage, ask, solvers[s], &budget);
        solved[s] = (struct solved){.possible = !coverage.contradiction};
        for (uint32_t n = 0; n < program->node_count; n++) {
            solved[s].yes |= (uint32_t)(coverage.answers[n] == ASK_YES) << n;
            solved[s].no |= (uint32_t)(coverage.answers[n] == ASK_NO) << n;
        }
        ask_coverage_deinit(&coverage);
    }
    ask_case_destroy(ask);
    evidence_destroy(evidence);
    model_destroy(model);
    strbuf_deinit(&text);
    strbuf_deinit(&json);
}

// ---- Comparing

// What is wrong, or NULL; *nodes are those that it is about.
static const char *compare(const struct brute_answer *truth, const struct solved *solved,
                           enum expectation expected, uint32_t all, uint32_t *nodes)
{
    *nodes = 0;
    if (!truth->possible)
        return solved->possible && expected == EXACT ? "a contradiction was not found" : NULL;
    if (!solved->possible)
        return "says contradiction where runs fit";
    if ((*nodes = solved->yes & ~truth->must & all))
        return "says yes where some run does without";
    if ((*nodes = solved->no & truth->may & all))
        return "says no where some run goes there";
    if (expected == SOUND)
        return NULL;
    if ((*nodes = ~solved->yes & truth->must & all))
        return "does not say yes where every run goes there";
    if ((*nodes = ~solved->no & ~truth->may & all))
        return "does not say no where no run goes there";
    return NULL;
}

struct verdict {
    const char *wrong; // NULL: nothing
    enum solver solver;
    uint32_t nodes;
    bool skipped; // too many states
    bool oracle;  // enumeration itself is wrong
    struct solved solved[SOLVER_COUNT];
    struct brute_answer truth[SOLVER_COUNT];
};

static void check(const struct brute_program *program, const struct brute_report *report,
                  struct verdict *verdict)
{
    uint32_t has = features_of(program, report), all = (1u << program->node_count) - 1u;

    bool walked = report->is_true &&
                  !(program->handlers && brute_lenience & BRUTE_LENIENT_SIGNALS) &&
                  !(program->threads && brute_lenience & BRUTE_LENIENT_GONE);

    *verdict = (struct verdict){.wrong = NULL};
    brute_answer_exact(program, report, &verdict->truth[VPA]);
    brute_answer_flat(program, report, true, &verdict->truth[UTL]);
    brute_answer_flat(program, report, false, &verdict->truth[FSA]);
    for (uint32_t s = 0; s < SOLVER_COUNT; s++) {
        const struct brute_answer *truth = &verdict->truth[s];

        verdict->skipped |= !truth->known;
        verdict->oracle |=
            walked && truth->known &&
            (!truth->possible || report->visited & ~truth->may || truth->must & ~report->visited);
    }
    if (verdict->oracle) {
        verdict->wrong = "enumeration has missed a run that was walked";
        return;
    }
    if (verdict->skipped)
        return;
    ask_solver(program, report, verdict->solved);
    for (uint32_t s = 0; s < SOLVER_COUNT && !verdict->wrong; s++) {
        enum expectation expected = expectation_of(has, (enum solver)s);

        verdict->solver = (enum solver)s;
        // whatever its definition, what it says has to be true
        verdict->wrong =
            compare(&verdict->truth[VPA], &verdict->solved[s], SOUND, all, &verdict->nodes);
        if (!verdict->wrong && expected == EXACT)
            verdict->wrong =
                compare(&verdict->truth[s], &verdict->solved[s], EXACT, all, &verdict->nodes);
    }
}

// ---- Making failures smaller

static bool still_wrong(const struct brute_program *program, const struct brute_report *report,
                        const struct verdict *before)
{
    struct verdict verdict;

    check(program, report, &verdict);
    return verdict.wrong == before->wrong && verdict.solver == before->solver;
}

static void make_smaller(struct brute_program *program, struct brute_report *report,
                         const struct verdict *verdict)
{
    bool changed = true;

    report->is_true = false;
    while (changed) {
        changed = false;
        for (uint32_t n = 0; n < BRUTE_CHANGES; n++) {
            struct brute_program smaller = *program;
            struct brute_report shorter = *report;

            if (brute_shrink(&smaller, &shorter, n) &&
                (memcmp(&smaller, program, sizeof(smaller)) != 0 ||
                 memcmp(&shorter, report, sizeof(shorter)) != 0) &&
                brute_frames_fit(&smaller, &shorter) && still_wrong(&smaller, &shorter, verdict)) {
                *program = smaller;
                *report = shorter;
                changed = true;
            }
        }
    }
}

static void print_nodes(const struct brute_program *program, const char *what, uint32_t set)
{
    print_message("%s", what);
    for (uint32_t n = 0; n < program->node_count; n++)
        if (set >> n & 1) {
            uint32_t f = program->nodes[n].function;

            print_message(" f%u#%u", f, n - program->first[f]);
        }
    print_message("\n");
}

static void show_failure(uint64_t number, const struct brute_program *program,
                         const struct brute_report *report)
{
    static const char *const names[] = {"vpa", "utl", "fsa"};
    struct brute_program small = *program;
    struct brute_report shorter = *report;
    struct strbuf text = STRBUF_INIT;
    struct verdict verdict;

    check(program, report, &verdict);
    if (!verdict.oracle) {
        make_smaller(&small, &shorter, &verdict);
        check(&small, &shorter, &verdict);
    }
    print_message("---- program %llu: %s %s", (unsigned long long)number, names[verdict.solver],
                  verdict.wrong);
    print_nodes(&small, ":", verdict.nodes);
    print_nodes(&small, "every run:", verdict.truth[verdict.solver].must);
    print_nodes(&small, "some run:", verdict.truth[verdict.solver].may);
    print_nodes(&small, "said yes:", verdict.solved[verdict.solver].yes);
    print_nodes(&small, "said no:", verdict.solved[verdict.solver].no);
    if (verdict.oracle)
        print_nodes(&small, "walked:", shorter.visited);
    brute_program_text(&small, &text);
    brute_report_json(&small, &shorter, &text);
    puts(text.data); // longer than cmocka's messages can be
    fflush(stdout);
    strbuf_deinit(&text);
}

// ---- The test

struct statistics {
    uint64_t cases, skipped, true_cases, failures;
    uint64_t exact[FEATURE_COUNT][SOLVER_COUNT], count[FEATURE_COUNT],
        impossible[FEATURE_COUNT][SOLVER_COUNT], yes[FEATURE_COUNT][SOLVER_COUNT],
        no[FEATURE_COUNT][SOLVER_COUNT], maybe[FEATURE_COUNT][SOLVER_COUNT];
};

static void count_case(struct statistics *statistics, const struct brute_program *program,
                       const struct brute_report *report, const struct verdict *verdict)
{
    uint32_t has = features_of(program, report);

    statistics->true_cases += report->is_true;
    for (uint32_t f = 0; f < FEATURE_COUNT; f++) {
        if (!(has >> f & 1))
            continue;
        statistics->count[f]++;
        for (uint32_t s = 0; s < SOLVER_COUNT; s++) {
            uint32_t yes = (uint32_t)__builtin_popcount(verdict->solved[s].yes),
                     no = (uint32_t)__builtin_popcount(verdict->solved[s].no);

            statistics->exact[f][s] += expectation_of(has, (enum solver)s) == EXACT;
            if (!verdict->solved[s].possible) {
                statistics->impossible[f][s]++;
                continue;
            }
            statistics->yes[f][s] += yes;
            statistics->no[f][s] += no;
            statistics->maybe[f][s] += program->node_count - yes - no;
        }
    }
}

static void print_statistics(const struct statistics *statistics)
{
    print_message("%llu programs, %llu of them with a report of a walk, %llu left out (too many "
                  "states), %llu wrong\n",
                  (unsigned long long)statistics->cases, (unsigned long long)statistics->true_cases,
                  (unsigned long long)statistics->skipped,
                  (unsigned long long)statistics->failures);
    print_message("%-15s %6s | vpa %% of nodes: yes no maybe, contradictions, cases that must be "
                  "equal | utl | fsa\n",
                  "with", "cases");
    for (uint32_t f = 0; f < FEATURE_COUNT; f++) {
        print_message("%-15s %6llu", features[f].name, (unsigned long long)statistics->count[f]);
        for (uint32_t s = 0; s < SOLVER_COUNT; s++) {
            uint64_t all =
                statistics->yes[f][s] + statistics->no[f][s] + statistics->maybe[f][s] + !f;

            all += !all;
            print_message(" | %2llu %2llu %2llu %6llu %6llu",
                          (unsigned long long)(statistics->yes[f][s] * 100 / all),
                          (unsigned long long)(statistics->no[f][s] * 100 / all),
                          (unsigned long long)(statistics->maybe[f][s] * 100 / all),
                          (unsigned long long)statistics->impossible[f][s],
                          (unsigned long long)statistics->exact[f][s]);
        }
        print_message("\n");
    }
}

static uint64_t wanted = 3000, first_number;

static void random_case(uint64_t number, struct brute_program *program, struct brute_report *report)
{
    uint64_t seed = number * 0x2545f4914f6cdd1du + 1;
    unsigned facts;

    do {
        brute_program_make(program, (enum brute_class)(number % BRUTE_CLASS_COUNT), &seed);
        // a fifth has everything; the others one to three kinds, so that these can be told apart
        facts = brute_random(&seed, 128);
        if (!brute_chance(&seed, 20))
            facts &= brute_random(&seed, 128);
    } while (!brute_report_make(program, facts, &seed, report));
    if (brute_chance(&seed, 15))
        brute_report_spoil(program, &seed, report);
}

struct shown {
    struct {
        enum brute_class class;
        enum solver solver;
        const char *wrong;
    } data[FAILURES_SHOWN];
    uint32_t count;
};

// Nothing like it was shown yet.
static bool is_news(struct shown *shown, enum brute_class class, const struct verdict *verdict)
{
    for (uint32_t i = 0; i < shown->count; i++)
        if (shown->data[i].class == class && shown->data[i].solver == verdict->solver &&
            shown->data[i].wrong == verdict->wrong)
            return false;
    if (shown->count == FAILURES_SHOWN)
        return false;
    shown->data[shown->count].class = class;
    shown->data[shown->count].solver = verdict->solver;
    shown->data[shown->count++].wrong = verdict->wrong;
    return true;
}

static void test_brute(void **state)
{
    static struct statistics statistics;
    struct shown shown = {.count = 0};

    (void)state;
    for (uint64_t number = first_number; number < first_number + wanted; number++) {
        struct brute_program program;
        struct brute_report report;
        struct verdict verdict;

        random_case(number, &program, &report);
        check(&program, &report, &verdict);
        statistics.cases++;
        statistics.skipped += verdict.skipped;
        statistics.failures += verdict.wrong != NULL;
        if (verdict.wrong && is_news(&shown, program.class, &verdict))
            show_failure(number, &program, &report);
        if (!verdict.skipped)
            count_case(&statistics, &program, &report, &verdict);
    }
    print_statistics(&statistics);
    assert_int_equal(statistics.failures, 0);
}

// ---- Is enumeration right?

static bool is_subset(const struct brute_set *a, struct brute_set *b)
{
    bool is_new = false;

    for (uint32_t i = 0; i < a->count && !is_new; i++)
        brute_set_add(b, a->data[i], &is_new);
    return !is_new;
}

// What it says of the whole stack, without facts about one activation or gaps.
static void strip(struct brute_report *report)
{
    for (uint32_t t = 0; t < report->thread_count; t++)
        for (uint32_t f = 0; f < report->threads[t].frame_count; f++) {
            struct brute_frame *frame = &report->threads[t].frames[f];

            frame->calls = frame->calls_never = 0;
            frame->step_count = 0;
            frame->to_end = false;
        }
}

static bool has_gaps(const struct chain_of *chain)
{
    for (uint32_t i = 0; i < chain->count; i++)
        if (chain->items[i].gap)
            return true;
    return false;
}

// Compares the two ways of enumeration. True: the paths' depth was enough to tell.
static bool check_paths(uint64_t number, const struct brute_program *program,
                        const struct brute_report *report)
{
    struct machine machine;
    struct calls calls = {.machine = &machine};
    struct brute_set runs = {0}, low = {0}, high = {0};
    struct chain_of chain;
    bool known = false;

    machine_init(&machine, program, report);
    chain_init(&machine, &report->threads[0], &chain);
    if (!has_gaps(&chain) && chain.count + 5 <= PATHS_DEPTH) {
        thread_runs(&calls, &chain, &runs);
        known = !calls.too_many && brute_paths(&machine, &chain, chain.count + 3, &low) &&
                brute_paths(&machine, &chain, chain.count + 5, &high);
    }
    if (known && (!is_subset(&low, &runs) || !is_subset(&high, &runs) ||
                  (low.count == high.count && high.count != runs.count))) {
        printf("---- program %llu: %u runs, %u and %u as paths\n", (unsigned long long)number,
               runs.count, low.count, high.count);
        fail_msg("enumeration is wrong");
    }
    known &= low.count == high.count;
    brute_set_deinit(&runs);
    brute_set_deinit(&low);
    brute_set_deinit(&high);
    calls_deinit(&calls);
    return known;
}

static void test_enumeration(void **state)
{
    uint64_t count = wanted / 4, told = 0;

    (void)state;
    for (uint64_t number = first_number; number < first_number + count; number++) {
        struct brute_program program;
        struct brute_report report;

        random_case(number, &program, &report);
        strip(&report);
        told += check_paths(number, &program, &report);
    }
    print_message("%llu programs enumerated in two ways, %llu of them to the end\n",
                  (unsigned long long)count, (unsigned long long)told);
    assert_true(count < 100 || told > count / 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_enumeration),
                                       cmocka_unit_test(test_brute)};

    if (argc > 1)
        wanted = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_number = strtoull(argv[2], NULL, 10);
    if (argc > 3)
        brute_lenience = (unsigned)strtoul(argv[3], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
