// SPDX-License-Identifier: Apache-2.0
/*
 * Where frames may be missing from a stack: a function that ended with a tail call left none.
 *
 * Between a frame that waits for a call and the function that runs there may be tail calls when the
 * call names another function; when it names the same one, but that one makes tail calls (and may
 * have come back to itself); when it names none, and the function that runs is called by some tail
 * call of the program. Not: functions compiled without optimisation, which make none.
 *
 * A function that calls itself may have been made a loop, also where it has something left to do
 * with the result: its frame, an inlined one too, then stands for many. Debug information does not
 * say so, but the machine code does: the call is announced, and then not made.
 */
#include "evidence/core/decode_internal.h"

#include "common/error.h"
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

// Does any function of the image call this one by a tail call, or an unknown one? Kept by name.
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
                if (sites[i].target)
                    *name_set_put(&decoder->tail_targets, sites[i].target) = true;
                else
                    decoder->has_unknown_tail_calls = true;
            }
        }
    }
}

static bool is_tail_target(struct decoder *decoder, const char *name)
{
    for (size_t i = 0; !decoder->knows_tail_targets && i < modules_count(decoder->modules); i++) {
        struct debug_info *info = open_info(modules_at(decoder->modules, i));

        if (info)
            collect_tail_targets(decoder, info);
    }
    decoder->knows_tail_targets = true;
    return decoder->has_unknown_tail_calls || name_set_get(&decoder->tail_targets, name);
}

// Has any unit of the image code of this function?
static bool has_function(struct debug_info *info, const char *name)
{
    for (size_t u = 0; u < debug_info_unit_count(info); u++)
        if (debug_unit_function(debug_info_unit_at(info, u), name))
            return true;
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

bool decode_gap(struct decoder *decoder, const struct unwind_frame *caller,
                const struct unwind_frame *callee, const char *name)
{
    struct debug_info *info = open_info(caller->module);
    const struct address_info *inner = decode_address(
        decoder, callee->module, unwind_frame_lookup(callee), callee->flags & UNWIND_EXACT);
    const struct debug_call_site *site = info ? debug_call_site_at(info, caller->pc) : NULL;

    // a library function may go by several names, and may itself have been called at the end of
    // another
    if (!site || !site->target)
        return is_tail_target(decoder, name) ||
               (!inner->physical && decoder->tail_targets.length > 0);
    if (!strcmp(site->target, name) ||
        (site->target_linkage && !strcmp(site->target_linkage, name)))
        return inner->physical && makes_tail_calls(inner->physical);
    // Another name: of a library function, which may have several, or of one with code here.
    return inner->physical || has_function(info, site->target);
}
