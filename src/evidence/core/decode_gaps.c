// SPDX-License-Identifier: Apache-2.0
/*
 * Where frames may be missing from a stack: a function that ended with a tail call left none.
 *
 * Between a frame that waits for a call and the function that runs there may be tail calls when the
 * call names another function; and when a chain of one or more tail calls can lead from a function
 * that the call may enter to the one that runs, which may be the same. Two sources know tail calls:
 *   - debug information has those of optimised code. It is asked coarsely: does the function that
 * is named and runs make any, or, where none is named, is the one that runs called by any?
 *   - the model has those that the source demands (musttail), at every level of optimisation, also
 *     where code records nothing. Chains of these are followed through the call graph. Where one
 *     comes to a function that makes tail calls by debug information, it may go on anywhere.
 * Debug information has no call sites of functions compiled without optimisation: what a frame of
 * theirs calls is told by the model.
 *
 * A function that calls itself may have been made a loop, also where it has something left to do
 * with the result: its frame, an inlined one too, then stands for many. Debug information does not
 * say so, but the machine code does: the call is announced, and then not made.
 */
#include "evidence/core/decode_internal.h"

#include "common/error.h"
#include "common/hash.h"
#include "evidence/core/landmark.h"
#include "layout/section.h"

#include <string.h>

// Of an image with a model; that of others is not worth reading.
static struct debug_info *open_info(struct module *module)
{
    struct module_section section;
    struct debug_info *info = NULL;

    if (!module || !module_section(module, SECTION_MODEL, &section))
        return NULL;
    error_destroy(debug_info_open(module, &info));
    return info;
}

bool decode_is_call_site(const struct unwind_frame *unwound)
{
    struct debug_info *info = open_info(unwound->module);

    return info && debug_call_site_at(info, unwound->pc);
}

static bool makes_tail_calls(struct debug_function *function)
{
    size_t count;
    const struct debug_call_site *sites = debug_function_call_sites(function, &count);

    for (size_t i = 0; i < count; i++)
        if (sites[i].is_tail)
            return true;
    return false;
}

// May code of this function have run? Plain copies of functions that are on have not.
static bool may_have_run(const struct decoder *decoder, struct debug_function *function)
{
    size_t count;
    const struct debug_scope *scopes = debug_function_scopes(function, &count);

    return decoder->some_are_off || !count || !decode_is_plain(&scopes[0]);
}

static void keep_tail_caller(struct decoder *decoder, struct debug_function *function)
{
    size_t count;
    const struct debug_scope *scopes = debug_function_scopes(function, &count);

    if (!count)
        return;
    *name_set_put(&decoder->tail_callers, scopes[0].name) = true;
    if (scopes[0].linkage_name)
        *name_set_put(&decoder->tail_callers, scopes[0].linkage_name) = true;
}

// The functions of an image that make tail calls, and those that they call so. Kept by name.
static void collect_tail_targets(struct decoder *decoder, struct debug_info *info)
{
    for (size_t u = 0; u < debug_info_unit_count(info); u++) {
        struct debug_unit *unit = debug_info_unit_at(info, u);

        for (size_t f = 0; f < debug_unit_function_count(unit); f++) {
            struct debug_function *function = debug_unit_function_at(unit, f);
            size_t count = 0;
            const struct debug_call_site *sites = may_have_run(decoder, function)
                                                      ? debug_function_call_sites(function, &count)
                                                      : NULL;

            for (size_t i = 0; i < count; i++) {
                if (!sites[i].is_tail)
                    continue;
                keep_tail_caller(decoder, function);
                if (sites[i].target)
                    *name_set_put(&decoder->tail_targets, sites[i].target) = true;
                else
                    decoder->has_unknown_tail_calls = true;
            }
        }
    }
}

static void learn_tail_calls(struct decoder *decoder)
{
    for (size_t i = 0; !decoder->knows_tail_targets && i < modules_count(decoder->modules); i++) {
        struct debug_info *info = open_info(modules_at(decoder->modules, i));

        if (info)
            collect_tail_targets(decoder, info);
    }
    decoder->knows_tail_targets = true;
}

static bool is_tail_target(struct decoder *decoder, const char *name)
{
    learn_tail_calls(decoder);
    return decoder->has_unknown_tail_calls || name_set_get(&decoder->tail_targets, name);
}

// Has any image with a model code of this function?
static bool has_function(struct decoder *decoder, const char *name)
{
    for (size_t i = 0; i < modules_count(decoder->modules); i++) {
        struct debug_info *info = open_info(modules_at(decoder->modules, i));

        for (size_t u = 0; info && u < debug_info_unit_count(info); u++)
            if (debug_unit_function(debug_info_unit_at(info, u), name))
                return true;
    }
    return false;
}

static bool may_be_called(const struct model *model, struct site_id site,
                          const struct model_function *function)
{
    const char *callee = model_site(model, site)->callee;

    return !callee || !strcmp(callee, function->name) || !strcmp(callee, function->debug_name);
}

// Is the call that instruction `at` announces made, by the next instruction that is not just
// followed by another one?
static bool is_made(struct debug_info *info, const struct machine_code *code, uint32_t at,
                    const char *callee)
{
    while (++at < code->count && code->insns[at].flow == MACHINE_NEXT)
        ;
    if (at >= code->count || code->insns[at].flow != MACHINE_CALL)
        return false;
    const struct debug_call_site *call =
        debug_call_site_at(info, code->insns[at].address + code->insns[at].size);
    return call && (!callee || !call->target || !strcmp(callee, call->target) ||
                    (call->target_linkage && !strcmp(callee, call->target_linkage)));
}

static bool is_within(const struct debug_scope *scope, const struct debug_scope *outer)
{
    while (scope && scope != outer)
        scope = scope->parent;
    return scope != NULL;
}

bool decode_repeats(struct decoder *decoder, struct debug_info *info,
                    struct debug_function *physical, const struct position *position)
{
    if (position->function.value == MODEL_NONE ||
        !(decoder->model->functions[position->function.value].record_flags &
          SECTION_FUNCTION_RECURSIVE) ||
        !function_is_optimized(decoder, position->function))
        return false;
    const struct model_function *function = model_function(decoder->model, position->function);
    const struct machine_code *code = physical ? machine_code_of(decoder, physical) : NULL;
    if (!code || position->plain || function->level < SECTION_LEVEL_CALLS)
        return true;
    for (uint32_t i = 0; i < code->count; i++) {
        struct site_id site;

        if (machine_announces(decoder, &code->insns[i], &site) &&
            may_be_called(decoder->model, site, function) &&
            is_within(debug_scope_at(info, code->insns[i].address), position->scope) &&
            !is_made(info, code, i, model_site(decoder->model, site)->callee))
            return true;
    }
    return false;
}

// ---- Calls that must be tail calls

// A call that a frame waits for, and what runs.
struct pending {
    const struct position *waits; // of the innermost virtual frame that waits; NULL: not known
    const char *target;           // what the call names, or NULL
    const char *target_linkage;   // or NULL
    const char *name;             // of what runs
    struct function_id runs;      // MODEL_NONE: no function of the model
};

/*
 * Is there a call in the program that must be a tail call? If so the model is complete. Which
 * functions may make such calls is known before their modules are loaded.
 */
static bool has_musttail(struct decoder *decoder)
{
    struct error *err = NULL;
    bool found = false;

    if (decoder->knows_musttail)
        return decoder->has_musttail;
    for (uint32_t f = 0; !err && !found && f < decoder->model->function_count; f++) {
        if (!(decoder->model->functions[f].record_flags & SECTION_FUNCTION_TAIL_CALLS))
            continue;
        err = model_load_function(decoder->model, (struct function_id){f});
        found = decoder->model->functions[f].flags & FUNCTION_MUSTTAIL;
    }
    if (!err && found)
        err = model_complete(decoder->model);
    decoder->knows_musttail = true;
    decoder->has_musttail = found || err;
    decoder->misses_musttail = err != NULL;
    if (err)
        decode_warn(decoder, "tail calls of the program are not known: %s", err->message);
    error_destroy(err);
    return decoder->has_musttail;
}

static bool is_named(const struct model_function *function, const char *name)
{
    return !strcmp(function->name, name) || !strcmp(function->debug_name, name) ||
           !strcmp(function->source_name, name);
}

VEC_DEFINE(function_stack, uint32_t);

// Functions that a chain of tail calls may have come to.
struct chain {
    struct decoder *decoder;
    const struct pending *pending;
    struct bitset seen;
    struct function_stack stack;
};

static void chain_push(struct chain *chain, uint32_t function)
{
    if (bitset_test(&chain->seen, function))
        return;
    bitset_set(&chain->seen, function);
    function_stack_push(&chain->stack, function);
}

static void chain_push_all(struct chain *chain)
{
    for (uint32_t f = 0; f < chain->decoder->model->function_count; f++)
        chain_push(chain, f);
}

// True: what runs is among them. Copies of a function in several modules go by their name.
static bool chain_push_list(struct chain *chain, struct function_list list)
{
    const struct pending *pending = chain->pending;
    bool runs = false;

    for (uint32_t i = 0; i < list.count; i++) {
        const struct model_function *function = model_function(chain->decoder->model, list.data[i]);

        chain_push(chain, list.data[i].value);
        runs |= pending->runs.value != MODEL_NONE && is_named(function, pending->name);
    }
    return runs;
}

// What the call of a site may enter. Library code may go on by a tail call, too; then `calls_back`.
static bool chain_push_site(struct chain *chain, struct site_id site, bool calls_back)
{
    const struct model *model = chain->decoder->model;
    bool runs = chain_push_list(chain, model_callees(model, site));

    if (calls_back)
        runs |= chain_push_list(chain, model_callbacks(model, site));
    return runs || (chain->pending->runs.value == MODEL_NONE &&
                    model_site(model, site)->flags & SITE_EXTERNAL);
}

// Goes on by one tail call of the function. True: that may have entered what runs.
static bool chain_follow(struct chain *chain, struct function_id id)
{
    struct decoder *decoder = chain->decoder;
    const struct model_function *function = model_function(decoder->model, id);
    bool runs = false;

    for (uint32_t s = 0; function->flags & FUNCTION_MUSTTAIL && s < function->site_count; s++) {
        struct site_id site = model_site_at(decoder->model, id, s);

        if (model_site(decoder->model, site)->flags & SITE_MUSTTAIL)
            runs |= chain_push_site(chain, site, true);
    }
    learn_tail_calls(decoder);
    if (name_set_get(&decoder->tail_callers, function->name) ||
        name_set_get(&decoder->tail_callers, function->debug_name)) {
        runs |= is_tail_target(decoder, chain->pending->name);
        chain_push_all(chain);
    }
    return runs;
}

// The functions that the call may enter. A library function that is named, and runs, was called.
static void chain_begin(struct chain *chain)
{
    const struct model *model = chain->decoder->model;
    const struct pending *pending = chain->pending;

    for (uint32_t i = 0; pending->waits && i < pending->waits->nodes.count; i++) {
        struct node_id node =
            model_node_at(model, pending->waits->function, pending->waits->nodes.nodes[i]);

        if (model_node(model, node)->site.value != MODEL_NONE)
            chain_push_site(chain, model_node(model, node)->site, !pending->target);
    }
    for (uint32_t f = 0; !pending->waits && pending->target && f < model->function_count; f++)
        if (is_named(&model->functions[f], pending->target) ||
            (pending->target_linkage && is_named(&model->functions[f], pending->target_linkage)))
            chain_push(chain, f);
    if (!pending->target && !chain->stack.length)
        chain_push_all(chain);
}

static bool hides_musttail(struct decoder *decoder, const struct pending *pending)
{
    struct chain chain = {.decoder = decoder, .pending = pending, .stack = VEC_INIT};
    bool runs = false;

    if (!has_musttail(decoder) || decoder->misses_musttail)
        return decoder->misses_musttail;
    bitset_init(&chain.seen, decoder->model->function_count);
    chain_begin(&chain);
    while (!runs && chain.stack.length)
        runs = chain_follow(&chain, (struct function_id){function_stack_pop(&chain.stack)});
    bitset_deinit(&chain.seen);
    function_stack_deinit(&chain.stack);
    return runs;
}

// ---- Gaps

// What the only call site among the nodes of a position names.
static const char *named_by_model(const struct decoder *decoder, const struct position *position)
{
    if (position->nodes.count != 1)
        return NULL;
    struct site_id site =
        model_node(decoder->model,
                   model_node_at(decoder->model, position->function, position->nodes.nodes[0]))
            ->site;
    return site.value == MODEL_NONE ? NULL : model_site(decoder->model, site)->callee;
}

static struct pending find_pending(struct decoder *decoder, const struct unwind_frame *caller,
                                   const struct address_info *inner, const char *name)
{
    struct pending pending = {.name = name, .runs = {MODEL_NONE}};
    struct debug_info *info = open_info(caller->module);
    const struct debug_call_site *site = info ? debug_call_site_at(info, caller->pc) : NULL;
    const struct address_info *outer = decode_address(
        decoder, caller->module, unwind_frame_lookup(caller), caller->flags & UNWIND_EXACT);
    const struct position *position = outer->count ? &outer->positions[0] : NULL;

    if (inner->count)
        pending.runs = inner->positions[inner->count - 1].function;
    if (site && site->target) {
        pending.target = site->target;
        pending.target_linkage = site->target_linkage;
    } else if (position && position->function.value != MODEL_NONE &&
               !function_is_optimized(decoder, position->function)) {
        pending.waits = position;
        pending.target = named_by_model(decoder, position);
    }
    return pending;
}

// Does the function that the call names run?
static bool runs_target(const struct decoder *decoder, const struct pending *pending)
{
    return !strcmp(pending->target, pending->name) ||
           (pending->target_linkage && !strcmp(pending->target_linkage, pending->name)) ||
           (pending->waits && pending->runs.value != MODEL_NONE &&
            is_named(model_function(decoder->model, pending->runs), pending->target));
}

static bool find_gap(struct decoder *decoder, const struct unwind_frame *caller,
                     const struct unwind_frame *callee, const char *name)
{
    const struct address_info *inner = decode_address(
        decoder, callee->module, unwind_frame_lookup(callee), callee->flags & UNWIND_EXACT);
    struct pending pending = find_pending(decoder, caller, inner, name);
    bool is_other = pending.target && !runs_target(decoder, &pending);
    // without optimisation library code may have been called by the compiler, before the call
    bool may_be_before = pending.waits && pending.runs.value == MODEL_NONE;

    // Another name: of a library function, which may have several, or of one with code here.
    if (is_other && !may_be_before)
        return inner->physical || has_function(decoder, pending.target);
    if (hides_musttail(decoder, &pending))
        return true;
    if (pending.target && !is_other)
        return inner->physical && makes_tail_calls(inner->physical);
    // a library function may go by several names, and may itself have been called at the end of
    // another
    return is_tail_target(decoder, name) || (!inner->physical && decoder->tail_targets.length > 0);
}

// Kept, since deep recursion comes back to the same few addresses.
bool decode_gap(struct decoder *decoder, const struct unwind_frame *caller,
                const struct unwind_frame *callee, const char *name)
{
    uint64_t addresses[] = {caller->pc, (uintptr_t)caller->module, unwind_frame_lookup(callee)};
    uint64_t key =
        hash_bytes(hash_bytes(HASH_SEED, addresses, sizeof(addresses)), name, strlen(name));
    const uint8_t *found = scope_flags_get(&decoder->gaps, key);
    bool gap = found ? *found : find_gap(decoder, caller, callee, name);

    if (!found)
        *scope_flags_put(&decoder->gaps, key) = gap;
    return gap;
}
