// SPDX-License-Identifier: Apache-2.0
/*
 * A query about a process of several threads. What is to be done (query_shares.h: leaves) may be
 * done by any of them, also by threads that are gone; what is never to be done, by none.
 *
 * Which share of the query a thread's run can fit is asked of its own product, or graph, as if it
 * were the only thread. Each of the threads that are there takes part, with some leaves or none,
 * and as many as wanted of those that are gone: the sets of leaves that the first so many threads
 * can have done together are kept as bits of one number. Who can do some leaves can do fewer of
 * them, so only the largest sets of each thread matter.
 *
 * What ran in some thread, not known in which, counts where something never happened: if nobody
 * can have run it then, though somebody can otherwise, the query is impossible.
 */
#include <stdlib.h>
#include <string.h>

#include "ask/account.h"
#include "ask/ask_internal.h"
#include "ask/case.h"
#include "ask/query.h"
#include "ask/query_shares.h"
#include "common/alloc.h"
#include "common/budget.h"
#include "solve/flow.h"
#include "solve/utl.h"
#include "solve/vpa.h"

enum { SETS = 1u << QUERY_LEAVES_MAX };
static_assert(SETS <= 64, "sets of sets of leaves are bits of one number");

static const char together[] =
    "threads together may have done what none of them did by itself, or in an order that they "
    "cannot all have kept; this is not looked into";
static const char parted[] = "several threads did it together; the run is of one of them";

// A thread that takes part, or that may.
struct member {
    const struct ask_thread *thread;
    uint32_t like;     // the first that nothing tells from it: answers are kept there
    bool may_lack;     // gone: it need not have been
    struct bitset may; // what it may have run, by utl alone; empty: not looked at yet
    // By set of leaves of the way that is looked at: 0: not asked yet, or 1 + verdict.
    uint8_t known[SETS];
};

struct crew {
    struct ask_session *session;
    const struct ask_case *ask;
    enum ask_solver solver;
    struct budget *budget;
    const struct query *query;
    struct query_ways ways;
    uint32_t way;
    struct member *members;
    uint32_t count;
    struct ask_result *ret;
    bool used_utl; // instead of vpa
};

// ---- Members

// Do the two have the same runs?
static bool is_alike(const struct ask_case *ask, const struct ask_thread *a,
                     const struct ask_thread *b)
{
    bool given = ask->given.length && (a->index == 0 || b->index == 0);

    return a->start == b->start && !given && a->is_doubtful == b->is_doubtful &&
           a->is_impossible == b->is_impossible && a->views.length == b->views.length &&
           memcmp(a->views.data, b->views.data, a->views.length * sizeof(*a->views.data)) == 0;
}

static void add_member(struct crew *crew, const struct ask_thread *thread, bool may_lack)
{
    struct member *member = &crew->members[crew->count];
    uint32_t like = 0;

    while (like < crew->count && !is_alike(crew->ask, crew->members[like].thread, thread))
        like++;
    *member = (struct member){.thread = thread, .like = like, .may_lack = may_lack};
    crew->count++;
}

// Of threads that are gone there may have been any number: more than leaves do nothing more. There
// was one first thread.
static void add_members(struct crew *crew)
{
    const struct ask_case *ask = crew->ask;
    uint32_t most = ask->thread_count + ask->gone_count * QUERY_LEAVES_MAX;

    crew->members = xcalloc(most + 1u, sizeof(*crew->members));
    for (uint32_t t = 0; t < ask->thread_count; t++)
        add_member(crew, &ask->threads[t], false);
    for (uint32_t g = 0; g < ask->gone_count; g++) {
        bool is_first = ask->gone[g].start == ask->flow->start;

        for (uint32_t i = 0; i < (is_first ? 1 : QUERY_LEAVES_MAX); i++)
            add_member(crew, &ask->gone[g], true);
    }
}

// Notes of a share are of the query that it was made of.
static const char *note_of(const struct crew *crew, const struct query *share, const char *note)
{
    const char *lost;

    if (!note || !share)
        return note;
    if (note == query_as_utl(share)->lost)
        lost = query_as_utl(crew->query)->lost;
    else if (note == query_lost_by_fsa(share))
        lost = query_lost_by_fsa(crew->query);
    else
        return note;
    return lost ? lost : "a part that a thread does is left out";
}

static enum ask_verdict solve_member(struct crew *crew, const struct member *member,
                                     const struct query *share, bool with_witness,
                                     struct ask_result *ret)
{
    *ret = (struct ask_result){0};
    ret->verdict = ask_solve_thread(crew->session, member->thread, share, crew->solver,
                                    with_witness, crew->budget, ret);
    crew->used_utl |= crew->solver == ASK_SOLVER_AUTO && ret->solver == ASK_SOLVER_UTL;
    crew->ret->states += ret->states;
    if (ret->note && !crew->ret->note)
        crew->ret->note = note_of(crew, share, ret->note);
    return ret->verdict;
}

static void cover_flat(const struct crew *crew, const struct ask_thread *thread,
                       const struct bitset *closed, struct utl_coverage *ret)
{
    struct utl_problem problem = {.flow = crew->ask->flow,
                                  .closed = closed,
                                  .start = thread->start,
                                  .links = thread->links.data,
                                  .link_count = (uint32_t)thread->links.length,
                                  .ends = thread->ends.data,
                                  .end_count = (uint32_t)thread->ends.length};

    utl_cover(&problem, crew->budget, ret);
}

// A quick look, as coverage has it: can the member have come to where each of the leaves is?
static bool reaches(struct crew *crew, struct member *member, uint32_t leaves)
{
    if (!member->may.size) {
        struct utl_coverage coverage;

        cover_flat(crew, member->thread, &crew->ask->closed, &coverage);
        bitset_init_copy(&member->may, &coverage.may);
        bitset_subtract(&member->may, &crew->ask->absent);
        utl_coverage_deinit(&coverage);
    }
    for (uint32_t leaf = 0; leaf < QUERY_LEAVES_MAX; leaf++)
        if (leaves >> leaf & 1 && !query_leaf_reaches(&crew->ways, crew->way, leaf, &member->may))
            return false;
    return true;
}

// Can the member have done these leaves?
static enum ask_verdict member_does(struct crew *crew, uint32_t number, uint32_t leaves)
{
    struct member *member = &crew->members[crew->members[number].like];
    struct ask_result result;

    if (member->known[leaves])
        return (enum ask_verdict)(member->known[leaves] - 1);
    if (leaves && !reaches(crew, member, leaves)) {
        member->known[leaves] = 1 + ASK_IMPOSSIBLE;
        return ASK_IMPOSSIBLE;
    }
    struct query *share = crew->query ? query_share(&crew->ways, crew->way, leaves) : NULL;
    enum ask_verdict verdict = solve_member(crew, member, share, false, &result);
    ask_result_deinit(&result);
    query_destroy(share);
    member->known[leaves] = (uint8_t)(verdict + 1);
    return verdict;
}

// ---- Who does what

// `sure`: what is undecided does not count as possible.
static bool does(struct crew *crew, uint32_t number, uint32_t leaves, bool sure)
{
    enum ask_verdict verdict = member_does(crew, number, leaves);

    return verdict == ASK_POSSIBLE || (!sure && verdict == ASK_UNDECIDED);
}

// The largest sets of leaves that the member can have done, as bits. None: it cannot even have
// done nothing.
static uint64_t largest_sets(struct crew *crew, uint32_t number, uint32_t leaf_count, bool sure)
{
    uint32_t all = (1u << leaf_count) - 1, able = 0;
    uint64_t found = 0;

    if (does(crew, number, all, sure))
        return UINT64_C(1) << all;
    for (uint32_t i = 0; leaf_count > 1 && i < leaf_count; i++)
        if (does(crew, number, 1u << i, sure))
            able |= 1u << i;
    for (uint32_t size = leaf_count; size-- > 0;)
        for (uint32_t leaves = 0; leaves < all; leaves++) {
            bool covered = false;

            if ((uint32_t)__builtin_popcount(leaves) != size || leaves & ~able)
                continue;
            for (uint32_t larger = 0; larger <= all; larger++)
                covered |= (found >> larger & 1) && (leaves & ~larger) == 0;
            if (!covered && does(crew, number, leaves, sure))
                found |= UINT64_C(1) << leaves;
        }
    return found;
}

static uint64_t unite(uint64_t done, uint64_t sets)
{
    uint64_t ret = 0;

    for (uint32_t a = 0; a < SETS; a++)
        for (uint32_t b = 0; done >> a & 1 && b < SETS; b++)
            if (sets >> b & 1)
                ret |= UINT64_C(1) << (a | b);
    return ret;
}

// done[i]: the sets that members before i can have done together. Can all of them do all?
static bool find_done(struct crew *crew, bool sure, uint64_t *done, uint64_t *sets)
{
    uint32_t leaf_count = crew->query ? crew->ways.ways[crew->way].leaf_count : 0;
    uint64_t all = UINT64_C(1) << ((1u << leaf_count) - 1);

    done[0] = 1;
    for (uint32_t i = 0; i < crew->count; i++) {
        const struct member *member = &crew->members[i];
        bool enough = done[i] & all;

        if (enough && member->may_lack)
            sets[i] = 1;
        else if (enough) // it need not do more
            sets[i] = does(crew, i, 0, sure) ? 1 : largest_sets(crew, i, leaf_count, sure);
        else
            sets[i] = largest_sets(crew, i, leaf_count, sure) | member->may_lack;
        done[i + 1] = unite(enough ? all : done[i], sets[i]);
        if (!done[i + 1])
            return false;
    }
    return done[crew->count] & all;
}

// Is it among the sets, or a part of one?
static bool is_in(uint64_t sets, uint32_t leaves)
{
    for (uint32_t larger = 0; larger < SETS; larger++)
        if (sets >> larger & 1 && (leaves & ~larger) == 0)
            return true;
    return false;
}

// The fewest of the leaves that the member has to do, so that those before it can do the others.
static uint32_t fewest(uint64_t before, uint64_t sets, uint32_t left)
{
    uint32_t best = left;

    for (uint32_t own = 0; own <= left; own++)
        if ((own & ~left) == 0 && is_in(sets, own) && is_in(before, left & ~own) &&
            __builtin_popcount(own) < __builtin_popcount(best))
            best = own;
    return best;
}

// What each member does, the first as much as they can.
static void share_out(const struct crew *crew, const uint64_t *done, const uint64_t *sets,
                      uint8_t *part)
{
    uint32_t left = (1u << crew->ways.ways[crew->way].leaf_count) - 1;

    for (uint32_t i = crew->count; i-- > 0;) {
        part[i] = (uint8_t)fewest(done[i], sets[i], left);
        left &= ~part[i];
    }
}

// ---- What ran somewhere

static void add_may(const struct crew *crew, const struct ask_thread *thread,
                    const struct bitset *closed, struct bitset *may)
{
    struct vpa_problem exact = {.flow = crew->ask->flow,
                                .views = thread->views.data,
                                .view_count = (uint32_t)thread->views.length,
                                .closed = closed};
    struct utl_coverage flat;
    struct vpa_coverage coverage;

    cover_flat(crew, thread, closed, &flat);
    if (crew->solver == ASK_SOLVER_VPA || crew->solver == ASK_SOLVER_AUTO) {
        vpa_cover(&exact, crew->budget, &coverage);
        flat.possible &= coverage.possible;
        bitset_intersect(&flat.may, &coverage.may);
        vpa_coverage_deinit(&coverage);
    }
    if (flat.possible)
        bitset_union(may, &flat.may);
    utl_coverage_deinit(&flat);
}

// Of functions that were entered once, by the first thread, no other has run anything.
static void leave_out_once(const struct ask_case *ask, const struct account *account,
                           struct bitset *may)
{
    const struct flow *flow = ask->flow;

    for (size_t f = bitset_next(&account->once, 0); f < flow->function_count;
         f = bitset_next(&account->once, f + 1))
        for (uint32_t n = 0; n < flow->functions[f].node_count; n++)
            bitset_clear(may, flow->functions[f].first_node + n);
}

// What some thread may have run where nothing passes the nodes that are closed.
static void find_may(const struct crew *crew, const struct bitset *closed, struct bitset *may)
{
    const struct ask_case *ask = crew->ask;
    struct account account;

    account_init(&account, ask);
    bitset_init(may, ask->flow->node_count);
    // the first thread comes last: what is left out is not what it has run
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->members[i].like == i && crew->members[i].thread->start != ask->flow->start)
            add_may(crew, crew->members[i].thread, closed, may);
    leave_out_once(ask, &account, may);
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->members[i].like == i && crew->members[i].thread->start == ask->flow->start)
            add_may(crew, crew->members[i].thread, closed, may);
    account_deinit(&account);
}

// Of a call that was about to be entered, control has come to the end of its node. A thread that is
// gone may have got no further.
static bool is_passed(const struct ask_case *ask, uint32_t node)
{
    for (size_t f = 0; f < ask->facts.length; f++)
        if (ask->facts.data[f].kind == ASK_FACT_CALLED && ask->facts.data[f].node == node &&
            bitset_test(&ask->enabled, f))
            return true;
    return false;
}

// Is there something that ran, and that nobody can have run without these nodes?
static bool misses_ran(const struct crew *crew, const struct query_utl *never)
{
    const struct ask_case *ask = crew->ask;
    struct bitset closed, may = BITSET_INIT, otherwise = BITSET_INIT;
    bool misses = false, compared = false;

    bitset_init_copy(&closed, &ask->closed);
    for (uint32_t i = 0; i < never->removed.count; i++)
        bitset_set(&closed, never->removed.data[i]);
    find_may(crew, &closed, &may);
    for (size_t i = 0; !misses && i < ask->ran.length; i++) {
        uint32_t node = ask->ran.data[i];

        misses = id_set_has(never->removed, node) &&
                 (!id_set_has(never->entered, node) || is_passed(ask, node));
        if (misses || bitset_test(&may, node))
            continue;
        // not for the sake of threads that the model knows nothing of
        if (!compared)
            find_may(crew, &ask->closed, &otherwise);
        compared = true;
        misses = bitset_test(&otherwise, node);
    }
    bitset_deinit(&closed);
    bitset_deinit(&may);
    bitset_deinit(&otherwise);
    return misses;
}

static bool fits_ran(const struct crew *crew)
{
    if (!crew->query || !crew->ask->ran.length)
        return true;
    struct query *always = query_share_always(&crew->ways, crew->way);
    bool fits =
        !always || !query_as_utl(always)->removed.count || !misses_ran(crew, query_as_utl(always));
    query_destroy(always);
    return fits;
}

// ---- Verdicts

// The run of one member, as the answer's.
static void take_witness(struct crew *crew, const struct member *member, const struct query *share,
                         bool is_part)
{
    struct ask_result *ret = crew->ret, own;

    if (solve_member(crew, member, share, true, &own) == ASK_POSSIBLE)
        ask_prove(crew->session, member->thread, share, crew->budget, &own);
    ret->verdict = own.verdict;
    ret->solver = own.solver;
    ret->context_insensitive = own.context_insensitive;
    ret->has_witness = own.has_witness;
    ret->witness_problem = own.witness_problem;
    run_deinit(&ret->witness);
    ret->witness = own.witness;
    ret->witness_thread = member->thread->index;
    ret->witness_is_part = is_part;
    own.witness = (struct run){0};
    if (is_part && !ret->note)
        ret->note = parted;
    ask_result_deinit(&own);
}

// Of the member that does most, the first of several.
static void take_part_witness(struct crew *crew, const uint64_t *done, const uint64_t *sets)
{
    uint8_t *part = xcalloc(crew->count + 1u, 1);
    uint32_t most = 0, parts = 0;

    if (crew->query)
        share_out(crew, done, sets, part);
    for (uint32_t i = 0; i < crew->count; i++) {
        parts += part[i] != 0;
        if (__builtin_popcount(part[i]) > __builtin_popcount(part[most]))
            most = i;
    }
    struct query *share = crew->query ? query_share(&crew->ways, crew->way, part[most]) : NULL;
    take_witness(crew, &crew->members[most], share, parts > 1);
    query_destroy(share);
    free(part);
}

// ASK_UNDECIDED also where a way is not exact.
static enum ask_verdict solve_way(struct crew *crew, bool with_witness)
{
    uint64_t *done = xcalloc(crew->count + 1u, sizeof(*done));
    uint64_t *sets = xcalloc(crew->count + 1u, sizeof(*sets));
    enum ask_verdict verdict = ASK_IMPOSSIBLE;

    for (uint32_t i = 0; i < crew->count; i++)
        memset(crew->members[i].known, 0, SETS);
    if (find_done(crew, false, done, sets) && fits_ran(crew)) {
        bool sure = !crew->query || crew->ways.ways[crew->way].is_exact;

        verdict = sure && find_done(crew, true, done, sets) ? ASK_POSSIBLE : ASK_UNDECIDED;
    }
    if (verdict == ASK_POSSIBLE && with_witness) {
        take_part_witness(crew, done, sets);
        verdict = crew->ret->verdict;
    }
    free(done);
    free(sets);
    return verdict;
}

// Can the member have done all of it, and the others nothing that would change that?
static bool does_alone(struct crew *crew, const struct query *beside, uint32_t number)
{
    struct ask_result result;
    bool does = true;

    for (uint32_t i = 0; does && i < crew->count; i++) {
        const struct member *member = &crew->members[i];

        if (i != number && member->may_lack)
            continue;
        does = solve_member(crew, member, i == number ? crew->query : beside, false, &result) ==
               ASK_POSSIBLE;
        ask_result_deinit(&result);
    }
    return does;
}

static enum ask_verdict solve_alone(struct crew *crew, bool with_witness)
{
    struct query *beside = query_share_beside(&crew->ways);
    enum ask_verdict verdict = ASK_UNDECIDED;

    for (uint32_t i = 0; verdict == ASK_UNDECIDED && i < crew->count; i++) {
        if (crew->members[i].like != i || !does_alone(crew, beside, i))
            continue;
        verdict = ASK_POSSIBLE;
        if (with_witness) {
            take_witness(crew, &crew->members[i], crew->query, false);
            verdict = crew->ret->verdict;
        }
        break;
    }
    query_destroy(beside);
    return verdict;
}

static enum ask_verdict solve_ways(struct crew *crew, bool with_witness)
{
    enum ask_verdict verdict = ASK_IMPOSSIBLE;
    bool is_exact = true;

    query_ways_init(&crew->ways, crew->query);
    for (crew->way = 0; verdict != ASK_POSSIBLE && crew->way < crew->ways.count; crew->way++) {
        enum ask_verdict own = solve_way(crew, with_witness);

        if (own == ASK_UNDECIDED)
            is_exact &= crew->ways.ways[crew->way].is_exact;
        verdict = own == ASK_IMPOSSIBLE ? verdict : own;
    }
    if (verdict == ASK_UNDECIDED && !is_exact) {
        verdict = solve_alone(crew, with_witness);
        if (verdict == ASK_UNDECIDED)
            crew->ret->note = together;
    }
    query_ways_deinit(&crew->ways);
    return verdict;
}

enum ask_verdict ask_solve_threads(struct ask_session *session, const struct query *query,
                                   enum ask_solver solver, bool with_witness, struct budget *budget,
                                   struct ask_result *ret)
{
    struct crew crew = {.session = session,
                        .ask = session->ask,
                        .solver = solver,
                        .budget = budget,
                        .query = query,
                        .ret = ret};

    ret->solver = solver == ASK_SOLVER_AUTO ? ASK_SOLVER_VPA : solver;
    ret->context_insensitive = ret->solver != ASK_SOLVER_VPA;
    add_members(&crew);
    enum ask_verdict verdict =
        query ? solve_ways(&crew, with_witness) : solve_way(&crew, with_witness);
    if (verdict == ASK_IMPOSSIBLE && crew.used_utl) {
        ret->solver = ASK_SOLVER_UTL;
        ret->context_insensitive = true;
    }
    if (verdict == ASK_IMPOSSIBLE)
        ret->note = NULL;
    for (uint32_t i = 0; i < crew.count; i++)
        bitset_deinit(&crew.members[i].may);
    free(crew.members);
    return verdict;
}
