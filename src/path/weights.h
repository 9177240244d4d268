// SPDX-License-Identifier: Apache-2.0
/*
 * The weights of paths as semirings for the pushdown core: definitions 6 and 7 of paper 004, as
 * sets of (marks, length, dataflow value) or as decision diagrams (appendix A).
 *
 *     struct weights weights;
 *     weights_init(&weights, PATH_WEIGHTS_SETS, &marks, dataflow);
 *     struct weight w = weights_one_element(&weights, bits, length, value);
 *     struct pushdown *system = pushdown_create(&weights.semiring, ...);
 *     weights_elements(&weights, w, &elements);
 *     weights_deinit(&weights);
 *
 * Sets leave out what another element covers (marks.h), where there is no dataflow; of elements
 * with the same marks one stays, as short as the shortest and with the values combined. Diagrams
 * keep every set of marks. Both are kept once, so that equal weights are equal numbers. What either
 * says of the best paths is the same.
 *
 * A diagram has a node for a mark that some set has: without it by `low`, with it by `high`; a mark
 * that has no node on the way is not in the set. Its leaves are lengths and values.
 */
#ifndef PATH_WEIGHTS_H
#define PATH_WEIGHTS_H

#include "common/arena.h"
#include "common/map.h"
#include "common/vec.h"
#include "path/marks.h"
#include "solve/pushdown/semiring.h"

struct weight_element {
    uint64_t bits;
    uint32_t length;
    struct dataflow_value value;
};
VEC_DEFINE(weight_element_vec, struct weight_element);
MAP_DEFINE_U64(weight_map, uint32_t);

// A set: so many elements behind the first, by marks.
struct weight_set {
    const struct weight_element *elements;
    uint32_t count;
    uint64_t hash;
    uint32_t shortest;
};
VEC_DEFINE(weight_set_vec, struct weight_set);

#define DIAGRAM_LEAF 64u

struct diagram {
    uint32_t mark;      // bit; DIAGRAM_LEAF
    uint32_t low, high; // of a leaf: length and value
    uint32_t shortest;
};
VEC_DEFINE(diagram_vec, struct diagram);

// What an operation gave, by its operands; forgets now and then.
struct weight_cached {
    uint64_t key;
    uint32_t extra, result;
};

struct weights {
    struct semiring semiring;
    const struct marks *marks;
    struct dataflow *dataflow;
    bool is_diagrams;
    bool has_dropped; // some set was too large, and the best of it was kept
    // By tag of a rule that pushes: where the call is, for values behind it.
    struct weights_call {
        uint32_t node, function, edge;
    } (*call_of)(void *context, uint32_t tag);
    void *call_context;

    struct arena arena;
    struct weight_set_vec sets;
    struct diagram_vec diagrams;
    struct weight_map known; // by hash
    struct weight_cached *cache;
    struct weight_element_vec scratch;
};

// weights: PATH_WEIGHTS_SETS or PATH_WEIGHTS_DIAGRAMS. dataflow: or NULL.
void weights_init(struct weights *weights, enum path_weights kind, const struct marks *marks,
                  struct dataflow *dataflow);
void weights_deinit(struct weights *weights);
struct weight weights_one_element(struct weights *weights, uint64_t bits, uint32_t length,
                                  struct dataflow_value value);
// Appends the elements of a weight.
void weights_elements(const struct weights *weights, struct weight weight,
                      struct weight_element_vec *ret);

// ---- Between the two forms

#define WEIGHTS_CACHE 65536u

static inline struct weight_cached *weights_cached(const struct weights *weights, uint64_t key,
                                                   uint32_t extra)
{
    return &weights->cache[(hash_mix(key) ^ hash_mix(extra + 1u)) % WEIGHTS_CACHE];
}

uint32_t weights_extended_length(uint32_t first, uint32_t second);
void sets_init(struct weights *weights);
struct weight sets_make(struct weights *weights, struct weight_element_vec *elements);
void diagrams_init(struct weights *weights);
struct weight diagrams_one(struct weights *weights, const struct weight_element *element);
void diagrams_elements(const struct weights *weights, struct weight weight,
                       struct weight_element_vec *ret);

#endif
