// SPDX-License-Identifier: Apache-2.0
// Any text as a query: an error with a place in the text, or a query that every solver can have.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ask/query.h"
#include "common/alloc.h"
#include "common/error.h"
#include "program/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model_text[] =
    "inquest-model 1\nfile 0 \"/src\" \"a.c\"\nimage 0 executable \"prog\"\n"
    "module 0 image 0 id 00000000000000ff level paths flags 0 source \"a.c\"\n"
    "function 0 module 0 \"main\" debug \"main\" source \"main\" at 0:1 linked unknown level paths "
    "record 0\nnode 0 at 0:1:1 flags call -> 1\nsite * flags indirect callees 1 callbacks 0\n"
    "node 1 at 0:2:1 flags call -> 0\nsite \"qsort\" flags external,calls-back callees 0 callbacks "
    "1\nfunction 1 module 0 \"f\" debug \"f\" source \"f\" at 0:3 linked unknown level paths "
    "record "
    "0\nnode 0 at 0:3:1 -> 1\nnode 1 at 0:4:1 flags return\nset 1 0 1\nroot 0 main\n";

// A short run with calls in each other.
static void walk(struct automaton *automaton)
{
    uint32_t state = automaton->initial, symbols[4], open = 0;

    for (uint32_t i = 0; i < 12 && state != AUTOMATON_DEAD; i++) {
        if (i % 3 == 1 && open < 4)
            state = automaton->call(automaton, state, i % 2, 1, &symbols[open++]);
        else if (i % 4 == 3 && open)
            state = automaton->leave(automaton, state, symbols[--open], 0, 1);
        else
            state = automaton_pass(automaton, state, i % 4);
    }
    if (state != AUTOMATON_DEAD)
        automaton->accepts(automaton, state);
    automaton_destroy(automaton);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model *model;
    struct query *query;
    struct query_place where = {UINT32_MAX, 0};
    char *text = xstrndup((const char *)data, size);

    if (!model)
        assert(!model_read_text("fuzz", model_text, sizeof(model_text) - 1, &model));
    struct error *err = query_parse(text, model, &query, &where);
    if (err) {
        assert(where.offset <= strlen(text) && where.length > 0);
        assert(strncmp(err->message, "column ", 7) == 0);
        error_destroy(err);
        free(text);
        return 0;
    }
    free(query_words(query));
    assert(query_as_utl(query)->is_exact == !query_as_utl(query)->lost);
    walk(query_automaton(query, QUERY_EXACT));
    walk(query_automaton(query, QUERY_REGULAR));
    query_destroy(query);
    free(text);
    return 0;
}
