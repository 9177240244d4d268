// SPDX-License-Identifier: Apache-2.0
// Opening closed nodes one by one, as long as no run comes of it: what is left closed is needed.
#include "common/budget.h"
#include "solve/product_internal.h"

// How much there was of everything before a trial.
struct before {
    size_t states, finals, parked, instances;
    uint64_t place_count;
    uint32_t worked;
};

static void forget_states(struct product *product, size_t from)
{
    for (size_t s = from; s < product->states.length; s++) {
        const struct product_state *state = &product->states.data[s];

        product_map_remove(&product->state_of,
                           product_place_number(product, state) << 32 | state->mode);
    }
    product->states.length = from;
}

static void forget_instances(struct product *product, size_t from)
{
    for (size_t i = from; i < product->instances.length; i++) {
        struct product_instance *instance = &product->instances.data[i];

        product_map_remove(&product->instance_of,
                           (uint64_t)instance->function << 32 | instance->called_in);
        product_caller_vec_deinit(&instance->callers);
        product_id_vec_deinit(&instance->exits);
    }
    product->instances.length = from;
}

static void undo(struct product *product, const struct before *before)
{
    for (size_t j = product->journal.length; j-- > 0;) {
        struct product_instance *instance = &product->instances.data[product->journal.data[j] / 2];

        if (product->journal.data[j] % 2)
            instance->exits.length--;
        else
            instance->callers.length--;
    }
    forget_states(product, before->states);
    forget_instances(product, before->instances);
    product->finals.length = before->finals;
    product->parked.length = before->parked;
    product->place_count = before->place_count;
    product->worked = before->worked;
    product->found = false;
}

// Those that stand at the node are not parked any more.
static void unpark(struct product *product, uint32_t node)
{
    size_t kept = 0;

    for (size_t i = 0; i < product->parked.length; i++)
        if (product->states.data[product->parked.data[i]].node != node)
            product->parked.data[kept++] = product->parked.data[i];
    product->parked.length = kept;
}

bool product_open(struct product *product, uint32_t node, struct budget *budget)
{
    struct before before = {product->states.length, product->finals.length,
                            product->parked.length, product->instances.length,
                            product->place_count,   product->worked};

    assert(product->problem.opens && !product->problem.flat && !product->found);
    bitset_clear(&product->closed, node);
    if (!bitset_test(&product->parked_at, node))
        return false;
    product->in_trial = true;
    product->journal.length = 0;
    for (size_t i = 0; i < before.parked && !product->found; i++)
        if (product->states.data[product->parked.data[i]].node == node)
            product_work(product, product->parked.data[i]);
    product_run(product, budget);
    product->in_trial = false;
    if (!product->found) {
        unpark(product, node);
        return false;
    }
    undo(product, &before);
    bitset_set(&product->closed, node);
    return true;
}
