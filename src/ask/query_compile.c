// SPDX-License-Identifier: Apache-2.0
/*
 * A query as a language, exactly or without the stack.
 *
 * Without the stack (for fsa) a query becomes a superset of its runs, and what is below a `not` a
 * subset: every construct has an upper and a lower form. At a letter that is inside f() a call of f
 * was made before (upper); at a node of f itself one certainly is inside (lower).
 */
#include <stdlib.h>

#include "ask/query_tree.h"
#include "common/alloc.h"

enum form {
    FORM_EXACT,
    FORM_EXACT_BELOW_NOT,
    FORM_UPPER, // a superset that is regular
    FORM_LOWER, // a subset that is
};

VEC_DEFINE(event_vec, struct event);
VEC_DEFINE(context_vec, struct context);
VEC_DEFINE(context_name_vec, const struct query_function *);

struct compiler {
    const struct query *query;
    struct arena arena;
    struct context_vec contexts;
    struct context_name_vec names; // of the contexts
};

static enum form flipped(enum form form)
{
    static const enum form other[] = {
        [FORM_EXACT] = FORM_EXACT_BELOW_NOT,
        [FORM_EXACT_BELOW_NOT] = FORM_EXACT,
        [FORM_UPPER] = FORM_LOWER,
        [FORM_LOWER] = FORM_UPPER,
    };

    return other[form];
}

static bool form_is_exact(enum form form)
{
    return form == FORM_EXACT || form == FORM_EXACT_BELOW_NOT;
}

// ---- Events

static struct event call_event(const struct compiler *compiler,
                               const struct query_function *function, enum event_kind kind)
{
    if (function->functions.count == 0) // whatever code without a model calls back
        return (struct event){.kind = kind, .nodes = function->callers, .functions_any = true};
    return (struct event){.kind = kind,
                          .nodes_any = true,
                          .functions = function->functions,
                          .callers = function->callers,
                          .caller_limit = compiler->query->node_count};
}

// What only may be of a line counts where it is to have run, and not where it is to have not.
static struct event place_event(const struct query_atom *atom, enum form form)
{
    bool sure = form == FORM_LOWER || form == FORM_EXACT_BELOW_NOT;

    return (struct event){.kind = EVENT_STEP,
                          .nodes = sure ? atom->sure_nodes : atom->nodes,
                          .spots = sure ? atom->sure_spots : atom->spots};
}

static struct event atom_event(const struct compiler *compiler, const struct query_node *node,
                               enum form form)
{
    const struct query_function *function = &node->function;
    bool modelless = function->functions.count == 0;

    switch (node->atom.kind) {
    case ATOM_CALL:
        if (!modelless)
            return call_event(compiler, function, EVENT_CALL);
        return (struct event){
            .kind = EVENT_STEP, .nodes = function->callers, .spots = function->calls};
    case ATOM_RETURN:
        return call_event(compiler, function, EVENT_LEAVE);
    case ATOM_SITE:
        return (struct event){.kind = modelless ? EVENT_STEP : EVENT_CALL,
                              .nodes = node->atom.nodes,
                              .spots = modelless ? node->atom.spots : (struct spot_set){NULL, 0},
                              .functions = function->functions};
    case ATOM_PLACE:
        return place_event(&node->atom, form);
    case ATOM_ENTRY:
    case ATOM_NODE:
        break;
    }
    return (struct event){.kind = EVENT_STEP, .nodes = node->atom.nodes};
}

// The bit of "inside this function".
static uint32_t context_of(struct compiler *compiler, const struct query_function *function,
                           enum context_kind kind)
{
    for (size_t i = 0; i < compiler->names.length; i++)
        if (compiler->names.data[i] == function && compiler->contexts.data[i].kind == kind)
            return (uint32_t)i;
    struct context context = {kind, call_event(compiler, function, EVENT_CALL)};
    context_vec_push(&compiler->contexts, context);
    context_name_vec_push(&compiler->names, function);
    assert(compiler->contexts.length <= AUTOMATA_CONTEXTS_MAX);
    return (uint32_t)compiler->contexts.length - 1;
}

// The members of set that are in the other one, or are not.
static struct id_set set_filter(struct compiler *compiler, struct id_set set, struct id_set other,
                                bool in_it)
{
    uint32_t *kept = arena_alloc_array(&compiler->arena, set.count + (size_t)1, uint32_t);
    uint32_t count = 0;

    for (uint32_t i = 0; i < set.count; i++)
        if (id_set_has(other, set.data[i]) == in_it)
            kept[count++] = set.data[i];
    return (struct id_set){kept, count};
}

// The event, as far as it happens inside the function or outside of it.
static void narrow(struct compiler *compiler, struct event *event,
                   const struct query_function *function, bool inside, enum form form)
{
    struct id_set own = function->own_nodes;

    if (form_is_exact(form) || (form == FORM_UPPER) == inside) {
        uint64_t bit = UINT64_C(1) << context_of(compiler, function,
                                                 form_is_exact(form) ? CONTEXT_OPEN : CONTEXT_SEEN);
        *(inside ? &event->required : &event->forbidden) |= bit;
    } else if (inside) {
        event->nodes = event->nodes_any ? own : set_filter(compiler, event->nodes, own, true);
        event->nodes_any = false;
    } else if (!event->nodes_any) {
        event->nodes = set_filter(compiler, event->nodes, own, false);
    }
}

static void collect_events(struct compiler *compiler, const struct query_node *node, enum form form,
                           struct event_vec *ret)
{
    size_t first = ret->length;

    if (node->kind == QUERY_ATOM) {
        event_vec_push(ret, atom_event(compiler, node, form));
        return;
    }
    for (uint32_t i = 0; i < node->part_count; i++)
        collect_events(compiler, node->parts[i], form, ret);
    if (node->kind == QUERY_INSIDE || node->kind == QUERY_OUTSIDE)
        for (size_t i = first; i < ret->length; i++)
            narrow(compiler, &ret->data[i], &node->function, node->kind == QUERY_INSIDE, form);
}

// ---- Queries

static struct language *compile(struct compiler *compiler, const struct query_node *node,
                                enum form form);

static struct language *compile_happens(struct compiler *compiler, const struct query_node *node,
                                        enum form form)
{
    struct event_vec events = VEC_INIT;

    collect_events(compiler, node, form, &events);
    struct language *language = language_happens(events.data, (uint32_t)events.length);
    event_vec_deinit(&events);
    return language;
}

// No event happens outside of the function.
static struct language *compile_only_inside(struct compiler *compiler,
                                            const struct query_node *node, enum form form)
{
    struct event_vec events = VEC_INIT;

    collect_events(compiler, node->parts[0], flipped(form), &events);
    for (size_t i = 0; i < events.length; i++)
        narrow(compiler, &events.data[i], &node->function, false, flipped(form));
    struct language *language = language_happens(events.data, (uint32_t)events.length);
    event_vec_deinit(&events);
    return language_not(language);
}

static struct language *compile_without(struct compiler *compiler, const struct query_node *node,
                                        enum form form)
{
    struct event_vec events = VEC_INIT;
    struct language *before = compile(compiler, node->parts[1], flipped(form));

    collect_events(compiler, node->parts[0], form, &events);
    struct language *language = language_without(events.data, (uint32_t)events.length, before);
    event_vec_deinit(&events);
    return language;
}

static struct language *compile_inside(struct compiler *compiler, const struct query_node *node,
                                       enum form form)
{
    if (form == FORM_LOWER)
        return language_nothing();
    struct language *inner = compile(compiler, node->parts[0], form);
    if (form == FORM_UPPER)
        return language_then(language_then(language_all(), inner), language_all());
    struct event call = call_event(compiler, &node->function, EVENT_CALL);
    return language_inside(inner, &call, context_of(compiler, &node->function, CONTEXT_OPEN));
}

static struct language *compile_product(struct compiler *compiler, const struct query_node *node,
                                        enum form form, bool is_or)
{
    struct language **parts = xcalloc(node->part_count + (size_t)1, sizeof(struct language *));

    for (uint32_t i = 0; i < node->part_count; i++)
        parts[i] = compile(compiler, node->parts[i], form);
    struct language *language =
        is_or ? language_or(parts, node->part_count) : language_and(parts, node->part_count);
    free(parts);
    return language;
}

// A sequence of nodes is a trace; it needs one number instead of sets.
static struct language *compile_trace(struct compiler *compiler, const struct query_node *node,
                                      enum form form)
{
    struct trace_entry *entries =
        arena_alloc_array(&compiler->arena, node->part_count, struct trace_entry);

    for (uint32_t i = 0; i < node->part_count; i++) {
        if (node->parts[i]->kind != QUERY_ATOM)
            return NULL;
        struct event event = atom_event(compiler, node->parts[i], form);
        if (event.kind != EVENT_STEP)
            return NULL;
        entries[i] = (struct trace_entry){event.nodes, event.spots};
    }
    return language_trace(TRACE_UNRELIABLE, entries, node->part_count, (struct id_set){NULL, 0});
}

// From the left: then the part that is behind the cut is a small one.
static struct language *compile_sequence(struct compiler *compiler, const struct query_node *node,
                                         enum form form)
{
    struct language *language = NULL;

    if (node->kind == QUERY_THEN)
        language = compile_trace(compiler, node, form);
    if (language)
        return language;
    for (uint32_t i = 0; i < node->part_count; i++) {
        struct language *part = compile(compiler, node->parts[i], form);
        language = language ? language_then(language, part) : part;
    }
    return language ? language : language_empty();
}

// ---- Patterns

static struct language *compile_letter(struct compiler *compiler, const struct query_node *node,
                                       enum form form)
{
    bool other = node->kind == PATTERN_NONE_OF;
    struct event_vec events = VEC_INIT;

    for (uint32_t i = 0; i < node->part_count; i++)
        collect_events(compiler, node->parts[i], other ? flipped(form) : form, &events);
    struct language *language = language_letter(events.data, (uint32_t)events.length, other);
    event_vec_deinit(&events);
    return language;
}

static struct language *any_letter(void)
{
    return language_letter(NULL, 0, true);
}

// Is the empty stretch in the pattern?
static bool is_nullable(const struct query_node *node)
{
    switch (node->kind) {
    case PATTERN_ALL:
    case PATTERN_STAR:
    case PATTERN_OPTIONAL:
    case PATTERN_BALANCED:
        return true;
    case PATTERN_PLUS:
        return is_nullable(node->parts[0]);
    case PATTERN_SEQUENCE:
    case PATTERN_EITHER:
        for (uint32_t i = 0; i < node->part_count; i++)
            if (is_nullable(node->parts[i]) == (node->kind == PATTERN_EITHER))
                return node->kind == PATTERN_EITHER;
        return node->kind == PATTERN_SEQUENCE;
    default:
        return false;
    }
}

static struct language *compile_repeated(struct compiler *compiler, const struct query_node *node,
                                         enum form form)
{
    struct language *inner = compile(compiler, node->parts[0], form);

    if (node->kind == PATTERN_OPTIONAL) {
        struct language *parts[2] = {language_empty(), inner};
        return language_or(parts, 2);
    }
    struct language *any_number = language_repeat(inner);
    if (node->kind == PATTERN_STAR || is_nullable(node->parts[0]))
        return any_number;
    struct language *parts[2] = {any_number, language_then(any_letter(), language_all())};
    return language_and(parts, 2);
}

static struct language *compile_balanced(enum form form)
{
    const struct event step = {.kind = EVENT_STEP, .nodes_any = true};

    if (form_is_exact(form))
        return language_balanced();
    return form == FORM_UPPER ? language_all() : language_repeat(language_letter(&step, 1, false));
}

static struct language *compile_call(struct compiler *compiler, const struct query_node *node,
                                     enum form form)
{
    struct event call = call_event(compiler, &node->function, EVENT_CALL);
    struct event leave = call_event(compiler, &node->function, EVENT_LEAVE);
    bool unfinished = node->kind == PATTERN_UNFINISHED;

    if (form == FORM_LOWER)
        return language_nothing();
    struct language *inner = compile(compiler, node->parts[0], form);
    if (form_is_exact(form))
        return language_call(&call, 1, inner, unfinished);
    struct language *language = language_then(language_letter(&call, 1, false), inner);
    return unfinished ? language : language_then(language, language_letter(&leave, 1, false));
}

static struct language *compile(struct compiler *compiler, const struct query_node *node,
                                enum form form)
{
    if (query_is_event(node))
        return compile_happens(compiler, node, form);
    switch (node->kind) {
    case QUERY_ATOM:
    case QUERY_OUTSIDE:
        break; // events
    case QUERY_INSIDE:
        return compile_inside(compiler, node, form);
    case QUERY_ONLY_INSIDE:
        return compile_only_inside(compiler, node, form);
    case QUERY_NEVER:
    case QUERY_NOT:
        return language_not(compile(compiler, node->parts[0], flipped(form)));
    case QUERY_AND:
        return compile_product(compiler, node, form, false);
    case QUERY_OR:
    case PATTERN_EITHER:
        return compile_product(compiler, node, form, true);
    case QUERY_THEN:
    case PATTERN_SEQUENCE:
        return compile_sequence(compiler, node, form);
    case QUERY_WITHOUT:
        return compile_without(compiler, node, form);
    case QUERY_PATTERN:
        return compile(compiler, node->parts[0], form);
    case PATTERN_EVENT:
    case PATTERN_ONE_OF:
    case PATTERN_NONE_OF:
        return compile_letter(compiler, node, form);
    case PATTERN_ANY:
        return any_letter();
    case PATTERN_ALL:
        return language_all();
    case PATTERN_STAR:
    case PATTERN_PLUS:
    case PATTERN_OPTIONAL:
        return compile_repeated(compiler, node, form);
    case PATTERN_BALANCED:
        return compile_balanced(form);
    case PATTERN_CALL:
    case PATTERN_UNFINISHED:
        return compile_call(compiler, node, form);
    }
    assert(!"a kind of query that is not compiled");
    return NULL;
}

// All spots that the query names.
static void collect_spots(const struct compiler *compiler, const struct query_node *node,
                          struct spot_vec *ret)
{
    if (node->kind == QUERY_ATOM) {
        struct event event = atom_event(compiler, node, FORM_EXACT);

        spot_vec_append(ret, event.spots.data, event.spots.count);
    }
    for (uint32_t i = 0; i < node->part_count; i++)
        collect_spots(compiler, node->parts[i], ret);
}

struct automaton *query_automaton(const struct query *query, enum query_precision precision)
{
    struct compiler compiler = {.query = query};
    bool is_exact = precision == QUERY_EXACT || (query_exact_solvers(query) & QUERY_BY_FSA);
    struct language *language = compile(&compiler, query->root, is_exact ? FORM_EXACT : FORM_UPPER);

    assert(precision == QUERY_EXACT || language_is_regular(language));
    struct automaton *automaton = automaton_create(language, compiler.contexts.data,
                                                   (uint32_t)compiler.contexts.length, query->text);
    struct spot_vec spots = VEC_INIT;

    collect_spots(&compiler, query->root, &spots);
    automaton_set_spots(automaton, spots.data, (uint32_t)spots.length);
    spot_vec_deinit(&spots);
    context_vec_deinit(&compiler.contexts);
    context_name_vec_deinit(&compiler.names);
    arena_deinit(&compiler.arena);
    return automaton;
}
