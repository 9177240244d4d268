// SPDX-License-Identifier: Apache-2.0
// Facts in words: what an answer gives as its reason.
#include <string.h>

#include "ask/case.h"
#include "ask/query.h"
#include "evidence/evidence.h"
#include "program/model.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

// "parse.c:30", or "node 7 of parse".
static const char *node_words(const struct ask_case *ask, uint32_t n, struct arena *arena)
{
    const struct model *model = ask->model;
    const struct model_node *node = &model->nodes[n];
    const char *file = node->file.value == MODEL_NONE ? NULL : model_file_path(model, node->file);

    if (model->node_names)
        return model->node_names[n];
    if (file && node->line)
        return arena_printf(arena, "%s:%u", base_name(file), node->line);
    return arena_printf(arena, "node %u of %s",
                        n - model_function(model, node->function)->first_node,
                        model_function(model, node->function)->name);
}

// The line of the call, where instructions tell it.
static const char *call_words(const struct ask_case *ask, uint32_t n, struct arena *arena)
{
    const struct model *model = ask->model;
    const struct model_node *node = &model->nodes[n];
    const struct model_function *function = model_function(model, node->function);
    const struct model_module *module = model_module(model, function->module);
    const char *callee =
        node->site.value == MODEL_NONE ? NULL : model->sites[node->site.value].callee;
    const char *where = node_words(ask, n, arena);

    if (module->code) {
        const struct code_node *code = model_code_node(model, (struct node_id){n});
        const struct place *place =
            code->insn_count
                ? code_place(module->code,
                             module->code->insns[code->first_insn + code->insn_count - 1].place)
                : NULL;

        if (place && place->line)
            where = arena_printf(arena, "%s:%u",
                                 base_name(model_file_path(model, module->files[place->file])),
                                 place->line);
    }
    if (callee)
        return arena_printf(arena, "the call of %s() at %s in %s()", callee, where, function->name);
    return arena_printf(arena, "the call through a pointer at %s in %s()", where, function->name);
}

static const char *frame_words(const struct ask_case *ask, const struct ask_fact *fact,
                               struct arena *arena)
{
    const struct evidence_thread *thread = &ask->evidence->threads[fact->thread];

    return arena_printf(arena, "frame #%u, %s()", fact->frame,
                        thread->frames[fact->frame].function.name);
}

static const char *stack_words(const struct ask_case *ask, const struct ask_fact *fact,
                               struct arena *arena)
{
    const struct evidence_thread *thread = &ask->evidence->threads[fact->thread];
    const char *names = "";
    uint32_t told = 0;

    for (uint32_t f = 0; f < thread->frame_count && told < 6; f++) {
        if (thread->frames[f].kind != EVIDENCE_FRAME_MODEL)
            continue;
        names = arena_printf(arena, "%s%s%s()", names, told ? " < " : "",
                             thread->frames[f].function.name);
        told++;
    }
    return arena_printf(arena, "the stack of thread %lld: %s%s", (long long)thread->tid, names,
                        told == 6 ? " < ..." : "");
}

static const char *points_words(const struct ask_case *ask, const struct evidence_points *points,
                                struct arena *arena)
{
    const char *text = "";

    for (uint32_t i = 0; i < points->count && i < 4; i++) {
        struct module_id module;
        struct function_id function;
        const char *where = "?";

        if (model_find_module(ask->model, points->points[i].module_id, &module) &&
            model_find_function(ask->model, module, points->points[i].function, &function) &&
            points->points[i].node < model_function(ask->model, function)->node_count)
            where = node_words(
                ask, model_node_at(ask->model, function, points->points[i].node).value, arena);
        text = arena_printf(arena, "%s%s%s", text, i ? " or " : "", where);
    }
    return points->count > 4 ? arena_printf(arena, "%s or ...", text) : text;
}

static const char *observation_words(const struct ask_case *ask,
                                     const struct evidence_observation *observation,
                                     struct arena *arena)
{
    const char *first = points_words(ask, &observation->entries[0], arena);

    switch (observation->kind) {
    case EVIDENCE_RAN:
        return arena_printf(arena, "%s: %s ran", observation->origin, first);
    case EVIDENCE_NOT_ALL:
        return observation->entries[0].count == 1
                   ? arena_printf(arena, "%s: %s did not run", observation->origin, first)
                   : arena_printf(arena, "%s: not all of %s ran", observation->origin, first);
    case EVIDENCE_TRACE:
        break;
    }
    return arena_printf(arena, "%s: %u places in this order, first %s", observation->origin,
                        observation->entry_count, first);
}

const char *ask_fact_words(const struct ask_case *ask, uint32_t number, struct arena *arena)
{
    const struct ask_fact *fact = &ask->facts.data[number];

    switch (fact->kind) {
    case ASK_FACT_STACK:
        return stack_words(ask, fact, arena);
    case ASK_FACT_PATHS:
        return arena_printf(arena, "the path that %s recorded", frame_words(ask, fact, arena));
    case ASK_FACT_CALLS:
        return arena_printf(arena, "the calls that %s made and did not make",
                            frame_words(ask, fact, arena));
    case ASK_FACT_NOT_CALLED:
        return arena_printf(arena, "%s was never made", call_words(ask, fact->node, arena));
    case ASK_FACT_CALLED:
        return arena_printf(arena, "%s was made", call_words(ask, fact->node, arena));
    case ASK_FACT_GIVEN:
        return arena_printf(arena, "given: %s", query_text(ask->queries.data[fact->observation]));
    case ASK_FACT_OBSERVATION:
        break;
    }
    return observation_words(ask, &ask->evidence->observations[fact->observation], arena);
}
