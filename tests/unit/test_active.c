// SPDX-License-Identifier: Apache-2.0
/*
 * Active nodes and edges against enumeration, on small random programs and reports (brute_*.h),
 * always the same ones.
 *
 *     build/tests/test_active [PROGRAMS [FIRST]]
 *
 * An edge is made a node of its own in the program that is enumerated (as many edges as there is
 * room for, chosen by chance), so that what is said of edges is compared as what is said of nodes
 * is. The frames by themselves are compared with all paths through their function. `make check`
 * takes a sample, `make check-long` many (tests/cli/test_active_long.sh).
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
#include "slice/active.h"
#include "brute_oracle.h"

// ---- Programs with some of their edges as nodes

struct split {
    struct brute_program program;
    struct brute_report report;
    uint8_t node[BRUTE_NODES];                  // by node of the program: its number now
    uint8_t from[BRUTE_NODES], to[BRUTE_NODES]; // of the edges that are nodes
    uint8_t at[BRUTE_NODES];                    // their numbers
    uint32_t count;
};

static void choose_edges(const struct brute_program *program, uint64_t *seed, struct split *split)
{
    uint8_t from[3 * BRUTE_NODES], to[3 * BRUTE_NODES];
    uint32_t count = 0;

    for (uint32_t n = 0; n < program->node_count; n++)
        for (uint32_t k = 0; k < program->nodes[n].next_count; k++) {
            from[count] = (uint8_t)n;
            to[count++] = program->nodes[n].next[k];
        }
    while (count && program->node_count + split->count < BRUTE_NODES) {
        uint32_t i = brute_random(seed, count--);

        split->from[split->count] = from[i];
        split->to[split->count++] = to[i];
        from[i] = from[count];
        to[i] = to[count];
    }
}

// The number of the edge's node; UINT32_MAX: it is none.
static uint32_t split_edge(const struct split *split, uint32_t from, uint32_t to)
{
    for (uint32_t e = 0; e < split->count; e++)
        if (split->from[e] == from && split->to[e] == to)
            return split->at[e];
    return UINT32_MAX;
}

static void split_program(const struct brute_program *program, struct split *split)
{
    struct brute_program *ret = &split->program;

    *ret = *program;
    ret->node_count = 0;
    for (uint32_t f = 0; f < program->function_count; f++) {
        ret->first[f] = (uint8_t)ret->node_count;
        for (uint32_t n = program->first[f]; n < program->first[f + 1]; n++) {
            split->node[n] = (uint8_t)ret->node_count;
            ret->nodes[ret->node_count++] = program->nodes[n];
        }
        for (uint32_t e = 0; e < split->count; e++)
            if (program->nodes[split->from[e]].function == f) {
                split->at[e] = (uint8_t)ret->node_count;
                ret->nodes[ret->node_count++] = (struct brute_node){.function = (uint8_t)f};
            }
    }
    ret->first[program->function_count] = (uint8_t)ret->node_count;
    for (uint32_t n = 0; n < program->node_count; n++)
        for (uint32_t k = 0; k < program->nodes[n].next_count; k++) {
            uint32_t to = program->nodes[n].next[k], edge = split_edge(split, n, to);
            struct brute_node *from = &ret->nodes[split->node[n]];

            from->next[k] = split->node[to];
            if (edge == UINT32_MAX)
                continue;
            from->next[k] = (uint8_t)edge;
            ret->nodes[edge].next[0] = split->node[to];
            ret->nodes[edge].next_count = 1;
        }
}

static uint32_t split_nodes(const struct split *split, uint32_t count, uint32_t nodes)
{
    uint32_t ret = 0;

    for (uint32_t n = 0; n < count; n++)
        ret |= (nodes >> n & 1) << split->node[n];
    return ret;
}

// A path with its edges. Steps of `frame` for which there is no room are forgotten, the oldest.
static void split_steps(const struct split *split, struct brute_frame *frame,
                        struct brute_frame *ret)
{
    uint8_t steps[2 * BRUTE_STEPS];
    uint32_t count;

    for (;; frame->step_count--) {
        count = 0;
        for (uint32_t s = 0; s < frame->step_count; s++) {
            uint32_t edge =
                s ? split_edge(split, frame->steps[s - 1], frame->steps[s]) : UINT32_MAX;

            if (edge != UINT32_MAX)
                steps[count++] = (uint8_t)edge;
            steps[count++] = split->node[frame->steps[s]];
        }
        if (count <= BRUTE_STEPS)
            break;
        memmove(frame->steps, frame->steps + 1, frame->step_count - 1u);
    }
    memcpy(ret->steps, steps, count);
    ret->step_count = (uint8_t)count;
    ret->to_end = frame->to_end;
}

static void split_report(struct split *split, uint32_t count, struct brute_report *report)
{
    struct brute_report *ret = &split->report;

    *ret = *report;
    for (uint32_t t = 0; t < report->thread_count; t++)
        for (uint32_t f = 0; f < report->threads[t].frame_count; f++) {
            struct brute_frame *frame = &report->threads[t].frames[f];
            struct brute_frame *to = &ret->threads[t].frames[f];

            to->at = split_nodes(split, count, frame->at);
            to->calls = split_nodes(split, count, frame->calls);
            to->calls_never = split_nodes(split, count, frame->calls_never);
            split_steps(split, frame, to);
        }
    ret->sites = split_nodes(split, count, report->sites);
    ret->sites_never = split_nodes(split, count, report->sites_never);
    ret->visited = split_nodes(split, count, report->visited);
    for (uint32_t i = 0; i < report->observation_count; i++) {
        struct brute_observation *seen = &ret->observations[i];

        for (uint32_t e = 0; e < seen->entry_count; e++)
            seen->entries[e] = split_nodes(split, count, seen->entries[e]);
        seen->alphabet = split_nodes(split, count, seen->alphabet);
    }
}

// Nodes that are told not to have run.
static uint32_t absent_nodes(const struct brute_report *report)
{
    uint32_t absent = 0;

    for (uint32_t i = 0; i < report->observation_count; i++)
        if (report->observations[i].kind == BRUTE_NOT_ALL &&
            __builtin_popcount(report->observations[i].entries[0]) == 1)
            absent |= report->observations[i].entries[0];
    return absent;
}

// ---- One activation: all paths through its function

struct activation {
    const struct brute_program *program;
    const struct brute_frame *frame;
    uint32_t first, count;
    uint32_t at, closed, absent;
    bool has_landings;
    struct brute_set states; // node, steps taken, nodes and edges passed
};

struct passed {
    bool possible;
    uint32_t may_nodes, must_nodes; // by number in the function
    uint32_t may_edges, must_edges; // 3 * node + k
};

static void activation_come(struct activation *activation, const struct brute_key *from,
                            uint32_t node, uint32_t edges)
{
    const struct brute_frame *frame = activation->frame;
    uint32_t steps = from ? from->w[1] : 0, nodes = (from ? from->w[2] : 0);
    bool is_new;

    if (activation->absent >> node & 1)
        return;
    nodes |= 1u << (node - activation->first);
    edges |= from ? from->w[3] : 0;
    // the known path is begun here, is gone on with, or is still to come
    bool from_entry = frame->step_count && frame->steps[0] == activation->first;
    if (steps < frame->step_count && frame->steps[steps] == node && (steps || !from || !from_entry))
        brute_set_add(&activation->states, (struct brute_key){{node, steps + 1, nodes, edges}},
                      &is_new);
    if (steps == frame->step_count ? !steps || !frame->to_end : !steps && !(from_entry && !from))
        brute_set_add(&activation->states, (struct brute_key){{node, steps, nodes, edges}},
                      &is_new);
}

static void activation_jump(struct activation *activation, const struct brute_key *state)
{
    const struct brute_program *program = activation->program;
    const struct brute_node *node = &program->nodes[state->w[0]];

    if (!node->callees && !node->calls_back && !program->handlers &&
        !(activation->has_landings && (node->longjmp || node->may_longjmp)))
        return;
    for (uint32_t l = 0; l < activation->count; l++) {
        const struct brute_node *landing = &program->nodes[activation->first + l];

        for (uint32_t k = 0; landing->returns_twice && k < landing->next_count; k++)
            activation_come(activation, state, landing->next[k], 1u << (3 * l + k));
    }
}

static void activation_paths(struct activation *activation, struct passed *ret)
{
    const struct brute_program *program = activation->program;

    *ret = (struct passed){.must_nodes = UINT32_MAX, .must_edges = UINT32_MAX};
    activation_come(activation, NULL, activation->first, 0);
    for (uint32_t i = 0; i < activation->states.count; i++) {
        struct brute_key state = activation->states.data[i];
        const struct brute_node *node = &program->nodes[state.w[0]];
        bool closed = activation->closed >> state.w[0] & 1;

        if (activation->at >> state.w[0] & 1 && state.w[1] == activation->frame->step_count) {
            uint32_t made = activation->frame->calls >> activation->first;

            ret->possible = true;
            ret->may_nodes |= state.w[2];
            ret->may_edges |= state.w[3];
            if ((made & ~state.w[2]) == 0) {
                ret->must_nodes &= state.w[2];
                ret->must_edges &= state.w[3];
            }
        }
        for (uint32_t k = 0; !closed && k < node->next_count; k++)
            activation_come(activation, &state, node->next[k],
                            1u << (3 * (state.w[0] - activation->first) + k));
        if (!closed || program->handlers)
            activation_jump(activation, &state);
    }
    brute_set_deinit(&activation->states);
}

// ---- Asking

struct subject {
    struct model *model;
    struct evidence *evidence;
    struct ask_case *ask;
    struct active active;
};

static void subject_init(struct subject *subject, const struct brute_program *program,
                         const struct brute_report *report)
{
    struct strbuf text = STRBUF_INIT, json = STRBUF_INIT;
    struct budget budget;

    brute_program_text(program, &text);
    brute_report_json(program, report, &json);
    struct error *err = model_read_text("model", text.data, text.length, &subject->model);
    if (!err)
        err = evidence_read_json(json.data, json.length, "evidence", &subject->evidence);
    if (!err)
        err = evidence_fit(subject->evidence, subject->model);
    if (!err)
        err = ask_case_create(subject->model, subject->evidence, ASK_USE_ALL, &subject->ask);
    if (err) {
        printf("%s\n%s", text.data, json.data);
        fail_msg("%s", err->message);
    }
    budget_init(&budget, 0, 0);
    active_init(&subject->active, subject->ask, &budget);
    strbuf_deinit(&text);
    strbuf_deinit(&json);
}

static void subject_deinit(struct subject *subject)
{
    active_deinit(&subject->active);
    ask_case_destroy(subject->ask);
    evidence_destroy(subject->evidence);
    model_destroy(subject->model);
}

// ---- Comparing

struct statistics {
    uint64_t cases, skipped, contradictions, missed, wrong;
    // by answer; what enumeration has found: of what csi says, of what there is to say
    uint64_t nodes[3], edges[3], true_nodes[3], true_edges[3];
    uint64_t frames, frame_nodes[3], frame_edges[3], ambiguous, must_missed;
};

static uint32_t truth_of(const struct brute_answer *truth, uint32_t n)
{
    return truth->must >> n & 1 ? ASK_YES : truth->may >> n & 1 ? ASK_MAYBE : ASK_NO;
}

// What is wrong with it, or NULL.
static const char *wrong_answer(uint32_t answer, uint32_t truth)
{
    if (answer == ASK_YES && truth != ASK_YES)
        return "yes where some run does without";
    if (answer == ASK_NO && truth != ASK_NO)
        return "no where some run goes there";
    return NULL;
}

// What was seen is said.
static const char *compare_told(const struct brute_program *program,
                                const struct brute_report *report, const struct active *active)
{
    uint32_t ran = report->sites, absent = absent_nodes(report);

    for (uint32_t t = 0; t < report->thread_count; t++)
        for (uint32_t f = 0; f < report->threads[t].frame_count; f++)
            ran |= report->threads[t].frames[f].calls;
    for (uint32_t n = 0; n < program->node_count && !active->contradiction; n++) {
        if (ran >> n & 1 && active->nodes[n] != ASK_YES)
            return "no yes of a call that was made";
        if (absent >> n & 1 && active->nodes[n] != ASK_NO)
            return "no no of a node that is told not to have run";
    }
    return NULL;
}

static const char *compare(const struct brute_program *program, const struct split *split,
                           const struct brute_answer *truth, const struct active *active,
                           struct statistics *statistics)
{
    const char *wrong = NULL;
    uint32_t absent = absent_nodes(&split->report);

    if (!truth->possible) {
        statistics->missed += !active->contradiction;
        return NULL;
    }
    if (active->contradiction)
        return "a contradiction where runs fit";
    for (uint32_t n = 0; n < program->node_count && !wrong; n++) {
        statistics->nodes[active->nodes[n]]++;
        statistics->true_nodes[truth_of(truth, split->node[n])]++;
        wrong = wrong_answer(active->nodes[n], truth_of(truth, split->node[n]));
    }
    for (uint32_t e = 0; e < split->count && !wrong; e++) {
        uint32_t edge = active_edge(active, split->from[e], split->to[e]);

        if (absent >> split->node[split->to[e]] & 1)
            continue; // a run that is cut off may stand between
        assert_int_not_equal(edge, ACTIVE_NONE);
        statistics->edges[active->edges[edge]]++;
        statistics->true_edges[truth_of(truth, split->at[e])]++;
        if (wrong_answer(active->edges[edge], truth_of(truth, split->at[e])))
            wrong = active->edges[edge] == ASK_YES ? "yes of an edge that some run does without"
                                                   : "no of an edge that some run crosses";
    }
    return wrong;
}

static uint32_t ends_of(const struct view *view)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < view->end_count; i++)
        at |= 1u << view->node[view->end[i]];
    return at;
}

// One frame by itself: what may have run in it is exactly what its paths pass.
static const char *compare_frame(const struct brute_program *program,
                                 const struct brute_report *report, const struct active *active,
                                 const struct active_frame *told, struct statistics *statistics)
{
    const struct brute_thread *thread = &report->threads[told->thread];
    const struct brute_frame *frame = &thread->frames[thread->frame_count - 1 - told->frame];
    uint32_t first = program->first[frame->function], absent = absent_nodes(report);
    struct activation activation = {.program = program,
                                    .frame = frame,
                                    .first = first,
                                    .count = program->first[frame->function + 1] - first,
                                    .closed = report->sites_never | frame->calls_never | absent,
                                    .absent = absent};
    struct passed passed;

    if (told->function != frame->function)
        return "another frame";
    // of several nodes it may stand at, those that fit the next frame
    activation.at = frame->at & (frame->at - 1) ? ends_of(told->view) : frame->at;
    for (uint32_t f = 0; f < program->function_count; f++)
        activation.has_landings |= brute_returns_twice(program, f);
    activation_paths(&activation, &passed);
    if (!passed.possible)
        return "a frame where no path leads";
    statistics->frames++;
    statistics->ambiguous += told->is_ambiguous;
    for (uint32_t n = 0; n < activation.count; n++) {
        bool may = passed.may_nodes >> n & 1, must = passed.must_nodes >> n & 1;

        statistics->frame_nodes[told->nodes[n]]++;
        statistics->must_missed += must && told->nodes[n] != ASK_YES;
        if ((told->nodes[n] == ASK_NO) == may)
            return "other nodes of a frame than its paths pass";
        if (told->nodes[n] == ASK_YES && !must)
            return "yes of a node that some path of a frame does without";
        for (uint32_t k = 0; k < program->nodes[first + n].next_count; k++) {
            uint32_t edge = active_edge(active, first + n, program->nodes[first + n].next[k]);
            uint8_t answer = told->edges[edge - active->edge_start[first]];

            statistics->frame_edges[answer]++;
            if ((answer == ASK_NO) == (passed.may_edges >> (3 * n + k) & 1))
                return "other edges of a frame than its paths pass";
            if (answer == ASK_YES && !(passed.must_edges >> (3 * n + k) & 1))
                return "yes of an edge that some path of a frame does without";
        }
    }
    return NULL;
}

static const char *compare_frames(const struct brute_program *program,
                                  const struct brute_report *report, const struct active *active,
                                  struct statistics *statistics)
{
    struct active_frame_vec frames = VEC_INIT;
    const char *wrong = NULL;
    uint32_t wanted = 0, told = 0;

    if (active->contradiction)
        return NULL;
    for (uint32_t t = 0; t < report->thread_count; t++)
        for (uint32_t f = 0; f < report->threads[t].frame_count; f++)
            wanted += report->threads[t].frames[f].kind == BRUTE_FRAME_MODEL;
    active_frames(active, &frames);
    for (size_t i = 0; i < frames.length && !wrong; i++) {
        const struct active_frame *frame = &frames.data[i];

        told += frame->count;
        wrong = compare_frame(program, report, active, frame, statistics);
        if (frame->active.nodes > frame->baseline.nodes ||
            frame->active.edges > frame->baseline.edges)
            wrong = "more is active than can lead to where the frame stands";
    }
    active_frames_deinit(&frames);
    return !wrong && told != wanted ? "not every frame" : wrong;
}

// ---- The test

static uint64_t wanted_programs = 6000, first_number;

static void random_case(uint64_t number, struct brute_program *program, struct brute_report *report,
                        struct split *split)
{
    uint64_t seed = number * 0x9e6c63d0876a9a47u + 11;
    unsigned facts;

    do {
        brute_program_make(program, (enum brute_class)(number % BRUTE_CLASS_COUNT), &seed);
        // a handler may jump, too
        if (program->class == BRUTE_JUMPS && program->node_count < 13 && brute_chance(&seed, 50))
            program->handlers = (uint8_t)(2u << brute_random(&seed, program->function_count - 1));
        facts = brute_random(&seed, 128);
        if (brute_chance(&seed, 50))
            facts &= brute_random(&seed, 128);
    } while (!brute_report_make(program, facts, &seed, report));
    if (brute_chance(&seed, 10))
        brute_report_spoil(program, &seed, report);
    *split = (struct split){.count = 0};
    choose_edges(program, &seed, split);
    split_program(program, split);
    split_report(split, program->node_count, report);
}

static void show(uint64_t number, const char *wrong, const struct brute_program *program,
                 const struct brute_report *report, const struct split *split,
                 const struct brute_answer *truth, const struct active *active)
{
    struct strbuf text = STRBUF_INIT;

    printf("---- program %llu: %s\n", (unsigned long long)number, wrong);
    for (uint32_t n = 0; n < program->node_count; n++)
        printf(" f%u#%u: said %s, is %s\n", program->nodes[n].function,
               n - program->first[program->nodes[n].function], ask_answer_name(active->nodes[n]),
               ask_answer_name(truth_of(truth, split->node[n])));
    for (uint32_t e = 0; e < split->count; e++)
        printf(" f%u#%u-#%u: said %s, is %s\n", program->nodes[split->from[e]].function,
               split->from[e] - program->first[program->nodes[split->from[e]].function],
               split->to[e] - program->first[program->nodes[split->from[e]].function],
               ask_answer_name(active->edges[active_edge(active, split->from[e], split->to[e])]),
               ask_answer_name(truth_of(truth, split->at[e])));
    brute_program_text(program, &text);
    brute_report_json(program, report, &text);
    puts(text.data);
    fflush(stdout);
    strbuf_deinit(&text);
}

static void check(uint64_t number, struct statistics *statistics)
{
    struct brute_program program;
    struct brute_report report;
    struct split split;
    struct brute_answer truth;
    struct subject subject = {0};

    random_case(number, &program, &report, &split);
    subject_init(&subject, &program, &report);
    statistics->cases++;
    statistics->contradictions += subject.active.contradiction != NULL;
    brute_answer_exact(&split.program, &split.report, &truth);
    const char *wrong = compare_frames(&program, &report, &subject.active, statistics);
    if (!wrong)
        wrong = compare_told(&program, &report, &subject.active);
    if (!truth.known)
        statistics->skipped++;
    else if (!wrong)
        wrong = compare(&program, &split, &truth, &subject.active, statistics);
    if (wrong && statistics->wrong++ < 3)
        show(number, wrong, &program, &report, &split, &truth, &subject.active);
    subject_deinit(&subject);
}

static void print_answers(const char *what, const uint64_t told[3], const uint64_t is[3])
{
    uint64_t all = told[ASK_YES] + told[ASK_NO] + told[ASK_MAYBE];

    print_message("%-15s %8llu: yes %4.1f%% no %4.1f%% maybe %4.1f%%", what,
                  (unsigned long long)all, 100.0 * (double)told[ASK_YES] / (double)(all + !all),
                  100.0 * (double)told[ASK_NO] / (double)(all + !all),
                  100.0 * (double)told[ASK_MAYBE] / (double)(all + !all));
    if (is)
        print_message("; of %4.1f%% and %4.1f%% by enumeration",
                      100.0 * (double)is[ASK_YES] / (double)(all + !all),
                      100.0 * (double)is[ASK_NO] / (double)(all + !all));
    print_message("\n");
}

static void test_enumeration(void **state)
{
    static struct statistics statistics;

    (void)state;
    for (uint64_t number = first_number; number < first_number + wanted_programs; number++)
        check(number, &statistics);
    print_message("%llu programs, %llu left out (too many states), %llu contradictions found and "
                  "%llu not, %llu wrong\n",
                  (unsigned long long)statistics.cases, (unsigned long long)statistics.skipped,
                  (unsigned long long)statistics.contradictions,
                  (unsigned long long)statistics.missed, (unsigned long long)statistics.wrong);
    print_answers("nodes", statistics.nodes, statistics.true_nodes);
    print_answers("edges", statistics.edges, statistics.true_edges);
    print_answers("nodes of frames", statistics.frame_nodes, NULL);
    print_answers("edges of frames", statistics.frame_edges, NULL);
    print_message("%llu frames, %llu with a branch that can go either way; %llu nodes on every "
                  "path that are maybe\n",
                  (unsigned long long)statistics.frames, (unsigned long long)statistics.ambiguous,
                  (unsigned long long)statistics.must_missed);
    assert_int_equal(statistics.wrong, 0);
    // it does say something
    assert_true(wanted_programs < 1000 ||
                (statistics.nodes[ASK_NO] * 2 > statistics.true_nodes[ASK_NO] &&
                 statistics.nodes[ASK_YES] * 2 > statistics.true_nodes[ASK_YES] &&
                 statistics.edges[ASK_NO] * 2 > statistics.true_edges[ASK_NO] &&
                 statistics.edges[ASK_YES] * 2 > statistics.true_edges[ASK_YES]));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_enumeration)};

    if (argc > 1)
        wanted_programs = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_number = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
