// SPDX-License-Identifier: Apache-2.0
#include "ask/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "ask/account.h"
#include "ask/case.h"
#include "ask/exact.h"
#include "common/alloc.h"
#include "common/budget.h"
#include "solve/consequence.h"
#include "solve/utl.h"
#include "solve/vpa.h"

// What is made explicit at most: states, nodes that have to be visited, memory for what must have
// run.
#define EXACT_STATES   400000u
#define EXACT_RAN_MOST 12u
#define EXACT_BYTES    (UINT64_C(256) << 20)

static const char *const solver_names[] = {"auto", "utl", "fsa", "vpa", "csi"};

const char *ask_answer_name(enum ask_answer answer)
{
    static const char *const names[] = {"no", "yes", "maybe"};

    return names[answer];
}

const char *ask_solver_name(enum ask_solver solver)
{
    return solver_names[solver];
}

bool ask_solver_parse(const char *name, enum ask_solver *ret)
{
    for (unsigned s = 0; s < sizeof(solver_names) / sizeof(*solver_names); s++)
        if (strcmp(name, solver_names[s]) == 0) {
            *ret = (enum ask_solver)s;
            return true;
        }
    return false;
}

// ---- Threads

// What one thread, or one that is gone, may and must have run.
struct thread_answer {
    bool possible, complete;
    struct bitset may, must;
};

static void cover_by_vpa(const struct ask_case *ask, struct view *const *views, uint32_t count,
                         struct budget *budget, struct thread_answer *ret)
{
    struct vpa_problem problem = {
        .flow = ask->flow, .views = views, .view_count = count, .closed = &ask->closed};
    struct vpa_coverage coverage;

    vpa_cover(&problem, budget, &coverage);
    *ret =
        (struct thread_answer){coverage.possible, coverage.complete, coverage.may, coverage.must};
}

static void cover_by_utl(const struct ask_case *ask, const struct ask_thread *thread,
                         struct budget *budget, struct thread_answer *ret)
{
    struct utl_problem problem = {.flow = ask->flow,
                                  .closed = &ask->closed,
                                  .start = thread->start,
                                  .links = thread->links.data,
                                  .link_count = (uint32_t)thread->links.length,
                                  .ends = thread->ends.data,
                                  .end_count = (uint32_t)thread->ends.length};
    struct utl_coverage coverage;

    if (ask->is_single) {
        struct utl_trace *traces =
            xmalloc_array(ask->ran.length + ask->traces.length + 1, sizeof(*traces));

        for (size_t i = 0; i < ask->ran.length; i++)
            traces[problem.trace_count++] = (struct utl_trace){&ask->ran.data[i], 1};
        for (size_t i = 0; i < ask->traces.length; i++)
            traces[problem.trace_count++] = ask->traces.data[i];
        problem.traces = traces;
    }
    utl_cover(&problem, budget, &coverage);
    free((void *)problem.traces);
    *ret =
        (struct thread_answer){coverage.possible, coverage.complete, coverage.may, coverage.must};
}

// What two solvers say of the same runs, of which both may have looked at more than there are.
static void refine(struct thread_answer *answer, struct thread_answer *other)
{
    answer->possible &= other->possible;
    answer->complete &= other->complete;
    bitset_intersect(&answer->may, &other->may);
    bitset_union(&answer->must, &other->must);
    bitset_deinit(&other->may);
    bitset_deinit(&other->must);
}

// Is there a node that ran and that runs without it would not have to visit?
static bool has_uncertain(const struct ask_case *ask, const struct bitset *must)
{
    for (size_t i = 0; i < ask->ran.length; i++)
        if (!bitset_test(must, ask->ran.data[i]))
            return true;
    return false;
}

// Calls made in one activation, and what is certain across a gap.
static bool needs_product(const struct ask_thread *thread)
{
    for (size_t v = 0; v < thread->views.length; v++)
        if (thread->views.data[v]->ran_count || thread->views.data[v]->function == FLOW_NONE)
            return true;
    return false;
}

// Where there is more to say than the fast solvers can take: the whole of it, as long as that is
// small.
static void refine_exactly(const struct ask_case *ask, const struct ask_thread *thread,
                           enum ask_solver solver, const struct bitset *certain,
                           struct budget *budget, struct thread_answer *answer)
{
    bool vpa = solver == ASK_SOLVER_VPA;
    bool more = ask->is_single && (ask->automata.length || (vpa && has_uncertain(ask, certain)));
    struct exact_settings settings = {.certain = vpa ? certain : NULL,
                                      .ran_most = EXACT_RAN_MOST,
                                      .state_limit = EXACT_STATES,
                                      .budget = budget};
    struct exact exact;

    if (!answer->possible || !(more || (vpa && needs_product(thread))))
        return;
    exact_init(&exact, ask, thread, solver, &settings);
    if (product_is_complete(exact.product)) {
        struct thread_answer other = {.possible = product_is_possible(exact.product),
                                      .complete = true};

        bitset_init(&other.may, ask->flow->node_count);
        bitset_init(&other.must, ask->flow->node_count);
        product_may(exact.product, &other.may);
        product_must(exact.product, budget, EXACT_BYTES, &other.must);
        refine(answer, &other);
    }
    exact_deinit(&exact);
}

static void cover_thread(const struct ask_case *ask, const struct ask_thread *thread,
                         enum ask_solver solver, struct budget *budget, struct thread_answer *ret)
{
    struct bitset certain = BITSET_INIT; // whatever had to be visited
    struct thread_answer other;

    cover_by_utl(ask, thread, budget, ret);
    // what no run does, none does that returns where it was called from
    if (solver == ASK_SOLVER_VPA) {
        cover_by_vpa(ask, thread->views.data, (uint32_t)thread->views.length, budget, &other);
        bitset_init_copy(&certain, &other.must);
        refine(ret, &other);
    }
    if (solver != ASK_SOLVER_UTL)
        refine_exactly(ask, thread, solver, &certain, budget, ret);
    bitset_deinit(&certain);
}

// None need have been.
static void cover_gone(const struct ask_case *ask, const struct ask_thread *thread,
                       enum ask_solver solver, struct budget *budget, struct thread_answer *ret)
{
    if (solver == ASK_SOLVER_VPA)
        cover_by_vpa(ask, thread->views.data, (uint32_t)thread->views.length, budget, ret);
    else
        cover_by_utl(ask, thread, budget, ret);
    bitset_clear_all(&ret->must);
}

static void join_thread(struct ask_coverage *coverage, struct thread_answer *answer)
{
    uint32_t count = coverage->ask->model->node_count;

    coverage->complete &= answer->complete;
    for (uint32_t n = 0; answer->possible && n < count; n++) {
        if (bitset_test(&answer->must, n))
            coverage->answers[n] = ASK_YES;
        else if (bitset_test(&answer->may, n) && coverage->answers[n] == ASK_NO)
            coverage->answers[n] = ASK_MAYBE;
    }
    bitset_deinit(&answer->may);
    bitset_deinit(&answer->must);
}

// What has run as well when all that certainly ran did.
static void add_consequences(struct ask_coverage *coverage)
{
    const struct ask_case *ask = coverage->ask;
    struct account account;
    struct consequence_problem problem = {.flow = ask->flow,
                                          .closed = &ask->closed,
                                          .stands = &account.stands,
                                          .once = &account.once};
    struct bitset certain;

    account_init(&account, ask);
    problem.accounted = account.is_complete;
    bitset_init(&certain, ask->flow->node_count);
    for (uint32_t n = 0; n < ask->model->node_count; n++)
        if (coverage->answers[n] == ASK_YES)
            bitset_set(&certain, n);
    consequence_add(&problem, &certain);
    for (uint32_t n = 0; n < ask->model->node_count; n++)
        if (bitset_test(&certain, n))
            coverage->answers[n] = ASK_YES;
    bitset_deinit(&certain);
    account_deinit(&account);
}

static void cover_threads(struct ask_coverage *coverage, struct budget *budget)
{
    const struct ask_case *ask = coverage->ask;
    struct thread_answer answer;

    for (uint32_t t = 0; t < ask->thread_count; t++) {
        cover_thread(ask, &ask->threads[t], coverage->solver, budget, &answer);
        answer.possible &= !ask->threads[t].is_impossible;
        if (!answer.possible)
            coverage->contradiction = "no run of the program fits what was observed";
        join_thread(coverage, &answer);
    }
    for (uint32_t g = 0; g < ask->gone_count; g++) {
        cover_gone(ask, &ask->gone[g], coverage->solver, budget, &answer);
        join_thread(coverage, &answer);
    }
    for (uint32_t n = 0; n < ask->model->node_count; n++)
        if (bitset_test(&ask->absent, n))
            coverage->answers[n] = ASK_NO;
    for (size_t i = 0; i < ask->ran.length; i++)
        coverage->answers[ask->ran.data[i]] = ASK_YES;
    if (coverage->solver == ASK_SOLVER_VPA && !coverage->contradiction)
        add_consequences(coverage);
}

// ---- Lines

// What one instruction says of a line. `carried`: its place is another statement's, so it may have
// run elsewhere, but that none of the line did is not certain.
struct line_told {
    struct ask_line line;
    bool carried;
};
VEC_DEFINE(line_vec, struct line_told);

static int compare_lines(const void *a, const void *b)
{
    const struct ask_line *x = &((const struct line_told *)a)->line;
    const struct ask_line *y = &((const struct line_told *)b)->line;

    if (x->file.value != y->file.value)
        return x->file.value < y->file.value ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

// All lines of a node. Where control stands in the middle of it, only the first is certain.
static void add_node_lines(const struct model *model, uint32_t n, enum ask_answer answer, bool cut,
                           struct line_vec *lines)
{
    const struct model_node *node = &model->nodes[n];
    const struct model_module *module =
        &model->modules[model->functions[node->function.value].module.value];
    uint32_t last = 0;

    if (node->file.value != MODEL_NONE && node->line)
        line_vec_push(lines, (struct line_told){{node->file, node->line, answer}, false});
    if (!module->code)
        return;
    const struct code_node *code_node = model_code_node(model, (struct node_id){n});
    for (uint32_t i = 0; i < code_node->insn_count; i++) {
        const struct place *place =
            code_place(module->code, module->code->insns[code_node->first_insn + i].place);

        if (!place || !place->line || (place->carried && answer == ASK_NO) ||
            (!place->carried && place->line == last))
            continue;
        last = place->carried ? last : place->line;
        line_vec_push(lines, (struct line_told){{module->files[place->file], place->line,
                                                 cut && answer == ASK_YES ? ASK_MAYBE : answer},
                                                place->carried});
    }
}

static struct ask_line join_lines(struct ask_line a, struct ask_line b)
{
    if (a.answer != b.answer)
        a.answer = a.answer == ASK_YES || b.answer == ASK_YES ? ASK_YES : ASK_MAYBE;
    return a;
}

// What all instructions of one line say together. False: none of them has its own place there.
static bool join_told(const struct line_told *told, size_t count, struct ask_line *ret)
{
    bool own = false, carried = false;

    for (size_t i = 0; i < count; i++) {
        carried |= told[i].carried;
        if (told[i].carried)
            continue;
        *ret = own ? join_lines(*ret, told[i].line) : told[i].line;
        own = true;
    }
    if (own && carried && ret->answer == ASK_NO)
        ret->answer = ASK_MAYBE;
    return own;
}

static void answer_lines(struct ask_coverage *coverage)
{
    const struct ask_case *ask = coverage->ask;
    struct line_vec lines = VEC_INIT;
    struct bitset cut;

    bitset_init(&cut, ask->flow->node_count);
    for (uint32_t t = 0; t < ask->thread_count; t++)
        for (size_t i = 0; i < ask->threads[t].cut.length; i++)
            bitset_set(&cut, ask->threads[t].cut.data[i]);
    for (uint32_t n = 0; n < ask->model->node_count; n++)
        add_node_lines(ask->model, n, coverage->answers[n], bitset_test(&cut, n), &lines);
    bitset_deinit(&cut);
    if (lines.length)
        qsort(lines.data, lines.length, sizeof(*lines.data), compare_lines);
    coverage->lines = xmalloc_array(lines.length + 1, sizeof(*coverage->lines));
    for (size_t i = 0, end; i < lines.length; i = end) {
        for (end = i; end < lines.length && !compare_lines(&lines.data[i], &lines.data[end]);)
            end++;
        coverage->line_count +=
            join_told(&lines.data[i], end - i, &coverage->lines[coverage->line_count]);
    }
    line_vec_deinit(&lines);
}

void ask_coverage_init(struct ask_coverage *coverage, const struct ask_case *ask,
                       enum ask_solver solver, struct budget *budget)
{
    assert(solver != ASK_SOLVER_CSI);
    *coverage = (struct ask_coverage){.ask = ask, .complete = true};
    coverage->solver = solver == ASK_SOLVER_AUTO ? ASK_SOLVER_VPA : solver;
    coverage->answers = xcalloc(ask->model->node_count + 1u, 1);
    cover_threads(coverage, budget);
    answer_lines(coverage);
}

void ask_coverage_init_answers(struct ask_coverage *coverage, const struct ask_case *ask,
                               enum ask_solver solver, const uint8_t *answers)
{
    *coverage = (struct ask_coverage){.ask = ask, .solver = solver, .complete = true};
    coverage->answers = xmemdup(answers, ask->model->node_count);
    answer_lines(coverage);
}

void ask_coverage_deinit(struct ask_coverage *coverage)
{
    free(coverage->answers);
    free(coverage->lines);
    *coverage = (struct ask_coverage){0};
}
