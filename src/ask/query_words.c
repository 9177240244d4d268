// SPDX-License-Identifier: Apache-2.0
// A query in English.
#include "ask/query_tree.h"
#include "common/strbuf.h"

static void words(struct strbuf *text, const struct query_node *node);

static void function_words(struct strbuf *text, const struct query_function *function)
{
    strbuf_printf(text, "'%s'", function->name);
    if (function->file)
        strbuf_printf(text, " of %s", function->file);
}

static void place_words(struct strbuf *text, const struct query_atom *atom)
{
    strbuf_printf(text, "%s:%u", atom->file, atom->line);
    if (atom->column)
        strbuf_printf(text, ":%u", atom->column);
}

static void atom_words(struct strbuf *text, const struct query_node *node)
{
    switch (node->atom.kind) {
    case ATOM_PLACE:
        place_words(text, &node->atom);
        strbuf_append(text, " runs");
        return;
    case ATOM_ENTRY:
        function_words(text, &node->function);
        strbuf_append(text, " is entered");
        return;
    case ATOM_CALL:
        function_words(text, &node->function);
        strbuf_append(text, " is called");
        return;
    case ATOM_RETURN:
        strbuf_append(text, "a call of ");
        function_words(text, &node->function);
        strbuf_append(text, " ends");
        return;
    case ATOM_SITE:
        place_words(text, &node->atom);
        strbuf_append(text, " calls ");
        function_words(text, &node->function);
        return;
    case ATOM_NODE:
        strbuf_printf(text, "node %s runs", node->atom.file);
        return;
    }
}

static void list_words(struct strbuf *text, const struct query_node *node, const char *between)
{
    for (uint32_t i = 0; i < node->part_count; i++) {
        strbuf_append(text, i ? between : "");
        words(text, node->parts[i]);
    }
}

// In parentheses unless it is one clause.
static void grouped(struct strbuf *text, const struct query_node *node)
{
    bool is_clause = node->kind == QUERY_ATOM || node->kind >= QUERY_PATTERN;

    strbuf_append(text, is_clause ? "" : "(");
    words(text, node);
    strbuf_append(text, is_clause ? "" : ")");
}

static void group_list(struct strbuf *text, const struct query_node *node, const char *between)
{
    for (uint32_t i = 0; i < node->part_count; i++) {
        strbuf_append(text, i ? between : "");
        grouped(text, node->parts[i]);
    }
}

static void in_function(struct strbuf *text, const struct query_node *node, const char *how)
{
    grouped(text, node->parts[0]);
    strbuf_printf(text, " %s ", how);
    function_words(text, &node->function);
}

static void call_words(struct strbuf *text, const struct query_node *node)
{
    strbuf_append(text,
                  node->kind == PATTERN_CALL ? "a whole call of " : "a call that does not end of ");
    function_words(text, &node->function);
    strbuf_append(text, " with <");
    words(text, node->parts[0]);
    strbuf_append(text, "> in it");
}

static void pattern_words(struct strbuf *text, const struct query_node *node)
{
    switch (node->kind) {
    case PATTERN_EVENT:
    case PATTERN_SEQUENCE:
        if (node->part_count == 0)
            strbuf_append(text, "nothing");
        list_words(text, node, ", ");
        return;
    case PATTERN_ANY:
        strbuf_append(text, "any one thing");
        return;
    case PATTERN_ALL:
        strbuf_append(text, "anything");
        return;
    case PATTERN_ONE_OF:
    case PATTERN_NONE_OF:
        strbuf_append(text, node->kind == PATTERN_ONE_OF ? "one of [" : "one thing other than [");
        list_words(text, node, ", ");
        strbuf_append(text, "]");
        return;
    case PATTERN_EITHER:
        strbuf_append(text, "either <");
        list_words(text, node, "> or <");
        strbuf_append(text, ">");
        return;
    case PATTERN_STAR:
    case PATTERN_PLUS:
    case PATTERN_OPTIONAL:
        strbuf_append(text, node->kind == PATTERN_STAR   ? "any number of <"
                            : node->kind == PATTERN_PLUS ? "one or more of <"
                                                         : "perhaps <");
        list_words(text, node, ", ");
        strbuf_append(text, ">");
        return;
    case PATTERN_BALANCED:
        strbuf_append(text, "anything whose calls all return");
        return;
    default:
        call_words(text, node);
    }
}

static void words(struct strbuf *text, const struct query_node *node)
{
    switch (node->kind) {
    case QUERY_ATOM:
        atom_words(text, node);
        return;
    case QUERY_INSIDE:
        in_function(text, node, "inside a call of");
        return;
    case QUERY_OUTSIDE:
        in_function(text, node, "outside of all calls of");
        return;
    case QUERY_ONLY_INSIDE:
        in_function(text, node, "only inside calls of");
        return;
    case QUERY_NEVER:
    case QUERY_NOT:
        strbuf_append(text, "it never happens that ");
        grouped(text, node->parts[0]);
        return;
    case QUERY_AND:
        group_list(text, node, " and ");
        return;
    case QUERY_OR:
        group_list(text, node, " or ");
        return;
    case QUERY_THEN:
        group_list(text, node, ", and later ");
        return;
    case QUERY_WITHOUT:
        grouped(text, node->parts[0]);
        strbuf_append(text, " without ");
        grouped(text, node->parts[1]);
        strbuf_append(text, " before it");
        return;
    case QUERY_PATTERN:
        strbuf_append(text, "all that happens is: ");
        words(text, node->parts[0]);
        return;
    default:
        pattern_words(text, node);
    }
}

char *query_words(const struct query *query)
{
    struct strbuf text = STRBUF_INIT;

    words(&text, query->root);
    return strbuf_steal(&text);
}
