// SPDX-License-Identifier: Apache-2.0
/*
 * Questions about a run, as text (docs/queries.md): "is there a run that fits what is known, and in
 * which ...?"
 *
 *     struct query *query;
 *     struct query_place where;
 *     struct error *err = query_parse("never init()", model, &query, &where);
 *     if (err)
 *             query_print_place(stderr, text, where);     // the query, and a caret below it
 *     struct automaton *automaton = query_automaton(query, QUERY_EXACT);
 *     ...
 *     automaton_destroy(automaton);
 *     query_destroy(query);
 *
 * A query is a language of runs. All solvers answer it soundly: where one cannot express it, it
 * gets a superset of the runs, so that its "impossible" stands.
 */
#ifndef ASK_QUERY_H
#define ASK_QUERY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "solve/automata.h"

struct error;
struct model;
struct query;

// Where in the text: bytes.
struct query_place {
    uint32_t offset, length;
};

// Names are looked up in the model, which must be complete; the query does not keep it. On error
// *where is what it is about (the message says its column too). where may be NULL.
struct error *query_parse(const char *text, const struct model *model, struct query **ret,
                          struct query_place *where);
void query_destroy(struct query *query); // NULL is fine

const char *query_text(const struct query *query);
// In English; to be freed.
char *query_words(const struct query *query);
// What was taken for granted about names, one sentence each, to be said with every answer.
uint32_t query_note_count(const struct query *query);
const char *query_note(const struct query *query, uint32_t index);

// Two lines: the text and a caret under the place. From 1, in characters.
void query_print_place(FILE *stream, const char *text, struct query_place where);
uint32_t query_column(const char *text, struct query_place where);

// ---- For solvers

enum query_solver {
    QUERY_BY_UTL = 1u << 0,
    QUERY_BY_FSA = 1u << 1,
    QUERY_BY_VPA = 1u << 2,
};

// Those that are asked exactly this question; the others get a wider one.
unsigned query_exact_solvers(const struct query *query);

enum query_precision {
    QUERY_EXACT,   // as asked: for vpa
    QUERY_REGULAR, // the narrowest superset that we know and that needs no stack: for fsa
};

// Exact wherever query_exact_solvers says so. The automaton does not need the query any more.
struct automaton *query_automaton(const struct query *query, enum query_precision precision);

// For utl: nodes that never run, and sequences of nodes that run in this order, anything between
// them. A run that fits the query fits all of it; the other way round too where is_exact.
struct query_utl {
    bool is_exact;
    struct id_set removed; // nodes that are not passed
    struct id_set entered; // of those: control may stand in them, before what does not happen
    struct id_sequence {
        const uint32_t *data;
        uint32_t count;
    } *sequences;
    uint32_t sequence_count;
    const char *lost; // what was left out, in words; NULL where is_exact
};

// Lives as long as the query.
const struct query_utl *query_as_utl(const struct query *query);
// What QUERY_REGULAR leaves out, in words; NULL where it is exact. Lives as long as the query.
const char *query_lost_by_fsa(const struct query *query);

#endif
