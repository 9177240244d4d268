// SPDX-License-Identifier: Apache-2.0
#include "suspects/store_statistics.h"

#include <math.h>

#include "suspects/store_internal.h"

// ---- Predicates

// Whether two sets of counters make the same runs' predicates true.
static bool is_same(const struct cell *cells, uint32_t count, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < count; i++)
        if (!(cells[i].mask & a) != !(cells[i].mask & b))
            return false;
    return true;
}

static bool is_ever_true(const struct cell *cells, uint32_t count, uint32_t mask)
{
    for (uint32_t i = 0; i < count; i++)
        if (cells[i].mask & mask)
            return true;
    return false;
}

// The predicates of one site, whose cells these are. The fewer counters make a predicate true the
// more it says: `<` rather than `<=`.
static void add_site(const struct cell_vec *cells, uint32_t first, uint32_t count, uint32_t kind,
                     struct subject_vec *ret)
{
    const struct cell *here = cells->data + first;
    uint32_t predicates = suspects_predicates(kind);

    for (uint32_t p = 0; p < predicates; p++) {
        uint32_t mask = suspects_predicate_mask(kind, p);
        int bits = __builtin_popcount(mask);
        struct subject subject = {.site = here->site,
                                  .predicate = p,
                                  .mask = mask,
                                  .first = first,
                                  .count = count,
                                  .is_strongest = true};
        if (!is_ever_true(here, count, mask))
            continue;
        for (uint32_t q = 0; q < predicates; q++) {
            uint32_t other = suspects_predicate_mask(kind, q);
            int other_bits = __builtin_popcount(other);
            if (q == p || !is_same(here, count, mask, other))
                continue;
            subject.redundant++;
            if (other_bits < bits || (other_bits == bits && q < p))
                subject.is_strongest = false;
        }
        subject_vec_push(ret, subject);
    }
}

void statistics_subjects(const struct store_layout *layout, const struct cell_vec *cells,
                         struct subject_vec *ret)
{
    for (size_t i = 0, end; i < cells->length; i = end) {
        const struct suspects_sites_module *module;
        for (end = i; end < cells->length && cells->data[end].site == cells->data[i].site;)
            end++;
        add_site(cells, (uint32_t)i, (uint32_t)(end - i),
                 store_site(layout, cells->data[i].site, &module)->kind, ret);
    }
}

// ---- Numbers

void statistics_count(const struct cell_vec *cells, const struct subject *subject,
                      struct counts *ret)
{
    *ret = (struct counts){0};
    for (uint32_t i = subject->first; i < subject->first + subject->count; i++) {
        const struct cell *cell = &cells->data[i];
        ret->failing_observed += cell->failing;
        ret->passing_observed += cell->passing;
        if (cell->mask & subject->mask) {
            ret->failing += cell->failing;
            ret->passing += cell->passing;
        }
    }
}

static double share(uint64_t part, uint64_t rest)
{
    return part ? (double)part / (double)(part + rest) : 0;
}

// Of the mean of so many draws.
static double variance(double probability, uint64_t draws)
{
    return draws ? probability * (1 - probability) / (double)draws : 0;
}

static double importance(double increase, uint64_t failing, uint64_t all)
{
    // With one failing run in all there is no logarithm to divide by: what is true in it covers it.
    double sensitivity = all == 1 ? (double)failing : failing ? log(failing) / log(all) : 0;

    return increase > 0 && sensitivity > 0 ? 2 / (1 / increase + 1 / sensitivity) : 0;
}

void statistics_compute(const struct counts *counts, uint64_t failing, uint64_t passing, double z,
                        struct statistics *ret)
{
    uint64_t f = counts->failing, s = counts->passing;
    uint64_t fo = counts->failing_observed, so = counts->passing_observed;

    ret->failure = share(f, s);
    ret->context = share(fo, so);
    ret->increase = ret->failure - ret->context;
    ret->increase_low =
        ret->increase - z * sqrt(variance(ret->failure, f + s) + variance(ret->context, fo + so));
    ret->importance = importance(ret->increase, f, failing);
    ret->ochiai = f ? (double)f / sqrt((double)failing * (double)(f + s)) : 0;
    double f_rate = f ? (double)f / (double)failing : 0,
           s_rate = s ? (double)s / (double)passing : 0;
    ret->tarantula = f ? f_rate / (f_rate + s_rate) : 0;
}

double statistics_quantile(double confidence)
{
    double low = 0, high = 40;

    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) > 1 - confidence)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}
