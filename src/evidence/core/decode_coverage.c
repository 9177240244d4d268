// SPDX-License-Identifier: Apache-2.0
/*
 * Coverage bytes of every module of every image: read, judged, and compared with what the frames
 * say of the same calls.
 *
 * A byte has one of two values; any other one was written by somebody else, and makes what lies
 * around it unknown. What a function that is off did, or what it called, leaves no trace, so that
 * there "never" is unknown too; and so it is in a library that may have been unloaded and loaded
 * again, since its bytes began anew.
 */
#include "evidence/core/decode_internal.h"

#include "common/alloc.h"
#include "common/error.h"
#include "layout/section.h"

#include <stdlib.h>
#include <string.h>

VEC_DEFINE(function_stack, uint32_t);

// Functions that were left out store nothing: their bytes say never whatever they call. Which sites
// are theirs is known only once the module is loaded, so a module with such a function is.
static void forget_unrecorded(struct decoder *decoder, struct module_id id, uint8_t *bytes)
{
    const struct model_module *module = model_module(decoder->model, id);
    uint32_t first = module->first_function, count = module->function_count;
    bool all = true;

    for (uint32_t f = first; f < first + count; f++)
        all &= decoder->model->functions[f].level >= SECTION_LEVEL_CALLS;
    if (all)
        return;
    struct error *err = model_load_module(decoder->model, id);
    module = model_module(decoder->model, id);
    for (uint32_t f = first; !err && f < first + count; f++) {
        const struct model_function *function = &decoder->model->functions[f];

        if (function->level < SECTION_LEVEL_CALLS)
            memset(bytes + (function->first_site - module->first_site), EVIDENCE_UNKNOWN,
                   function->site_count);
    }
    if (err)
        memset(bytes, EVIDENCE_UNKNOWN, module->site_count);
    error_destroy(err);
}

// What is around a byte that somebody else wrote may have been written with it.
enum { NEIGHBOURHOOD = 4096 };

// A function that was switched off, and what it calls by name in its module, may have run without a
// trace: the plain copy of one calls the plain copies of others.
static void spread_off(const struct decoder *decoder, struct module_id id, uint8_t *off,
                       struct function_stack *stack)
{
    const struct model_module *module = model_module(decoder->model, id);

    while (stack->length) {
        const struct model_function *function =
            &decoder->model->functions[module->first_function + function_stack_pop(stack)];

        for (uint32_t s = 0; s < function->site_count; s++) {
            struct site_id site = {function->first_site + s};
            const char *callee = model_site(decoder->model, site)->callee;
            struct function_id found;

            if (!callee)
                continue;
            struct error *err = model_find_debug_name(decoder->model, id, callee, &found);
            error_destroy(err);
            if (err || found.value == MODEL_NONE)
                continue;
            uint32_t index = found.value - module->first_function;
            if (off[index] ||
                !(decoder->model->functions[found.value].record_flags & SECTION_FUNCTION_TUNABLE))
                continue;
            off[index] = 1;
            function_stack_push(stack, index);
        }
    }
}

// By function: its flag byte, or 0 where it is not known.
static uint8_t *read_flags(const struct decoder *decoder, const struct coverage_place *place)
{
    uint32_t count = model_module(decoder->model, place->module)->function_count;
    uint8_t *flags = xcalloc(count + 1u, 1);
    size_t got = modules_read(decoder->modules, place->flags_address, flags, count);

    if (got < count)
        memset(flags + got, 0, count - got);
    return flags;
}

static void forget_off(struct decoder *decoder, const struct coverage_place *place, uint8_t *bytes)
{
    struct module_id id = place->module;
    const struct model_module *module = model_module(decoder->model, id);
    uint32_t count = module->function_count;
    uint8_t *off = read_flags(decoder, place);
    struct function_stack stack = VEC_INIT;

    for (uint32_t f = 0; f < count; f++) {
        off[f] = off[f] != LAYOUT_FLAG_ON;
        if (off[f])
            function_stack_push(&stack, f);
    }
    struct error *err = stack.length ? model_load_module(decoder->model, id) : NULL;
    module = model_module(decoder->model, id);
    if (!err)
        spread_off(decoder, id, off, &stack);
    for (uint32_t f = 0; f < count; f++) {
        const struct model_function *function =
            &decoder->model->functions[module->first_function + f];

        for (uint32_t s = 0; !err && off[f] && s < function->site_count; s++) {
            uint8_t *byte = &bytes[function->first_site - module->first_site + s];

            if (*byte == EVIDENCE_FALSE)
                *byte = EVIDENCE_UNKNOWN;
        }
    }
    if (err)
        memset(bytes, EVIDENCE_UNKNOWN, module->site_count);
    error_destroy(err);
    function_stack_deinit(&stack);
    free(off);
}

static void forget_reloaded(const struct decoder *decoder, const struct coverage_place *place,
                            uint8_t *bytes)
{
    uint32_t count = model_module(decoder->model, place->module)->site_count;

    for (uint32_t s = 0; module_may_be_reloaded(place->image) && s < count; s++)
        if (bytes[s] == EVIDENCE_FALSE)
            bytes[s] = EVIDENCE_UNKNOWN;
}

static void warn_of_reloaded(struct decoder *decoder)
{
    const struct module *first = NULL, *last = NULL;
    uint32_t count = 0;

    for (size_t i = 0; i < decoder->coverage.length; i++) {
        struct module *image = decoder->coverage.data[i].image;

        if (image == last || !module_may_be_reloaded(image))
            continue;
        first = first ? first : image;
        last = image;
        count++;
    }
    if (first)
        decode_warn(decoder,
                    "'%s'%s may have been unloaded and loaded again: that a call there was never "
                    "made is not known",
                    module_info(first)->path, count > 1 ? " and other libraries" : "");
}

static const char *module_name(const struct model_module *module)
{
    return module->source ? module->source : "a module";
}

// The bytes of a module as they are in the process, with the guards before and behind them.
struct raw_coverage {
    uint8_t *data; // LAYOUT_GUARD_SIZE, then `count`, then LAYOUT_GUARD_SIZE
    uint32_t count;
};

static bool is_sound(const struct raw_coverage *raw, uint64_t at)
{
    uint8_t byte = raw->data[at];

    return at < LAYOUT_GUARD_SIZE || at >= (uint64_t)LAYOUT_GUARD_SIZE + raw->count
               ? byte == LAYOUT_GUARD
               : byte == LAYOUT_CALLED || byte == LAYOUT_UNCALLED;
}

// Forgets the sites [from, to) of `raw`, guards counted, that are not forgotten yet.
static void forget_range(const struct raw_coverage *raw, uint64_t from, uint64_t to, uint8_t *bytes)
{
    if (from < LAYOUT_GUARD_SIZE)
        from = LAYOUT_GUARD_SIZE;
    if (to > (uint64_t)LAYOUT_GUARD_SIZE + raw->count)
        to = (uint64_t)LAYOUT_GUARD_SIZE + raw->count;
    for (uint64_t at = from; at < to; at++)
        bytes[at - LAYOUT_GUARD_SIZE] = EVIDENCE_UNKNOWN;
}

// Bytes that have none of their values make their surroundings unknown. The core has `size` of
// them, the first guards included.
static void judge_bytes(struct decoder *decoder, const struct model_module *module,
                        const struct raw_coverage *raw, uint64_t size, uint8_t *bytes)
{
    uint64_t damage = 0, known = 0;

    for (uint32_t s = 0; s < raw->count; s++)
        bytes[s] =
            raw->data[LAYOUT_GUARD_SIZE + s] == LAYOUT_CALLED ? EVIDENCE_TRUE : EVIDENCE_FALSE;
    for (uint64_t at = 0; at < size; at++) {
        if (is_sound(raw, at))
            continue;
        uint64_t from = at > NEIGHBOURHOOD ? at - NEIGHBOURHOOD : 0, to = at + NEIGHBOURHOOD;
        // what lies before `known` is forgotten already
        forget_range(raw, from > known ? from : known, to, bytes);
        known = to;
        damage++;
    }
    if (size < raw->count + 2ull * LAYOUT_GUARD_SIZE) {
        forget_range(raw, size, UINT64_MAX, bytes);
        decode_warn(decoder,
                    "the core lacks memory with the coverage of '%s': which calls were made is not "
                    "known; 'inquest doctor' says what cores hold here",
                    module_name(module));
    }
    if (damage)
        decode_warn(decoder,
                    "the coverage of '%s' is damaged: %llu of its bytes were overwritten; calls "
                    "near them are unknown",
                    module_name(module), (unsigned long long)damage);
}

// The bytes of one module, read from the process.
static void module_coverage(struct decoder *decoder, const struct coverage_place *place,
                            struct evidence_coverage *out)
{
    const struct model_module *module = model_module(decoder->model, place->module);
    uint8_t *bytes = arena_alloc(&decoder->evidence->arena, module->site_count + 1u);
    size_t size = module->site_count + 2ull * LAYOUT_GUARD_SIZE;
    struct raw_coverage raw = {xcalloc(size, 1), module->site_count};
    size_t got = modules_read(decoder->modules, place->address - LAYOUT_GUARD_SIZE, raw.data, size);

    judge_bytes(decoder, module, &raw, got, bytes);
    free(raw.data);
    for (uint32_t s = 0; s < module->site_count; s++) {
        uint32_t site = module->first_site + s;

        if (bytes[s] != EVIDENCE_UNKNOWN &&
            bitset_test(bytes[s] ? &decoder->doubtful_true : &decoder->doubtful_false, site))
            bytes[s] = EVIDENCE_UNKNOWN;
    }
    forget_unrecorded(decoder, place->module, bytes);
    forget_off(decoder, place, bytes);
    forget_reloaded(decoder, place, bytes);
    *out = (struct evidence_coverage){module->id, bytes, module->site_count};
}

VEC_DEFINE(coverage_vec, struct evidence_coverage);

// Two images can hold the same module: what ran in one of them ran.
static void add_coverage(struct coverage_vec *all, const struct evidence_coverage *coverage)
{
    for (size_t i = 0; i < all->length; i++) {
        uint8_t *known = (uint8_t *)all->data[i].sites;

        if (all->data[i].module_id != coverage->module_id)
            continue;
        for (uint32_t s = 0; s < coverage->site_count; s++)
            if (coverage->sites[s] == EVIDENCE_TRUE || known[s] == EVIDENCE_FALSE)
                known[s] = coverage->sites[s];
        return;
    }
    coverage_vec_push(all, *coverage);
}

static void find_in_image(struct decoder *decoder, struct module *image)
{
    struct module_section section;

    if (!module_section(image, LAYOUT_DESCRIPTOR_SECTION, &section) || !section.data ||
        !section.is_loaded)
        return;
    // aligned to 8, with perhaps zeros between them
    for (uint64_t at = 0; at + sizeof(struct layout_descriptor) <= section.size; at += 8) {
        struct layout_descriptor descriptor;
        struct module_id id;

        memcpy(&descriptor, section.data + at, sizeof(descriptor));
        if (descriptor.magic == 0)
            continue;
        if (descriptor.magic != LAYOUT_DESCRIPTOR_MAGIC || descriptor.version != LAYOUT_VERSION ||
            !layout_descriptor_is_sound(&descriptor) ||
            !model_find_module(decoder->model, descriptor.module_id, &id) ||
            model_module(decoder->model, id)->site_count != descriptor.site_count) {
            decode_warn(decoder, "'%s' has loaded data that its model does not know",
                        module_info(image)->path);
            return;
        }
        uint64_t here = section.address + at;
        coverage_place_vec_push(
            &decoder->coverage,
            (struct coverage_place){id, image, here + (uint64_t)(int64_t)descriptor.coverage_offset,
                                    here + (uint64_t)(int64_t)descriptor.flags_offset,
                                    descriptor.site_count});
        at += sizeof(descriptor) - 8;
    }
}

void decode_find_coverage(struct decoder *decoder)
{
    for (size_t i = 0; i < modules_count(decoder->modules); i++)
        find_in_image(decoder, modules_at(decoder->modules, i));
    for (size_t i = 0; i < decoder->coverage.length; i++) {
        const struct coverage_place *place = &decoder->coverage.data[i];
        uint8_t *flags = read_flags(decoder, place);

        for (uint32_t f = 0; f < model_module(decoder->model, place->module)->function_count; f++)
            decoder->some_are_off |= flags[f] != LAYOUT_FLAG_ON;
        free(flags);
    }
}

bool decode_coverage_site(const struct decoder *decoder, uint64_t address, struct site_id *site)
{
    for (size_t i = 0; i < decoder->coverage.length; i++) {
        const struct coverage_place *place = &decoder->coverage.data[i];

        if (address < place->address || address - place->address >= place->site_count)
            continue;
        // sites of a module have numbers when it is loaded
        error_destroy(model_load_module(decoder->model, place->module));
        site->value = model_module(decoder->model, place->module)->first_site +
                      (uint32_t)(address - place->address);
        return true;
    }
    return false;
}

void decode_coverage(struct decoder *decoder)
{
    struct coverage_vec all = VEC_INIT;

    for (size_t i = 0; i < decoder->coverage.length; i++) {
        struct evidence_coverage coverage;

        module_coverage(decoder, &decoder->coverage.data[i], &coverage);
        add_coverage(&all, &coverage);
    }
    warn_of_reloaded(decoder);
    decoder->evidence->coverage =
        arena_memdup(&decoder->evidence->arena, all.data ? (void *)all.data : "",
                     all.length * sizeof(*all.data));
    decoder->evidence->coverage_count = (uint32_t)all.length;
    coverage_vec_deinit(&all);
}

static uint8_t *coverage_of(const struct decoder *decoder, uint64_t module_id, uint32_t *count)
{
    for (uint32_t c = 0; c < decoder->evidence->coverage_count; c++)
        if (decoder->evidence->coverage[c].module_id == module_id) {
            *count = decoder->evidence->coverage[c].site_count;
            return (uint8_t *)decoder->evidence->coverage[c].sites;
        }
    return NULL;
}

// The coverage of a frame's function by site, or NULL.
static uint8_t *frame_coverage(const struct decoder *decoder, const struct evidence_frame *frame,
                               struct function_id *ret)
{
    struct module_id module;
    uint32_t count = 0;
    uint8_t *sites = frame->kind == EVIDENCE_FRAME_MODEL && frame->calls
                         ? coverage_of(decoder, frame->function.module_id, &count)
                         : NULL;

    if (!sites || !model_find_module(decoder->model, frame->function.module_id, &module))
        return NULL;
    const struct model_module *m = model_module(decoder->model, module);
    ret->value = m->first_function + frame->function.index;
    const struct model_function *f = model_function(decoder->model, *ret);
    return f->first_site - m->first_site + f->site_count <= count
               ? sites + (f->first_site - m->first_site)
               : NULL;
}

// A call that a frame certainly made was announced. Where its byte says otherwise, no byte of the
// module that says "never" can be believed.
static void check_frame(struct decoder *decoder, const struct evidence_frame *frame)
{
    struct function_id function;
    uint8_t *sites = frame_coverage(decoder, frame, &function);

    for (uint32_t s = 0; sites && s < frame->call_count; s++) {
        if (frame->calls[s] != EVIDENCE_TRUE || sites[s] != EVIDENCE_FALSE)
            continue;
        uint32_t count = 0;
        uint8_t *all = coverage_of(decoder, frame->function.module_id, &count);
        const char *callee =
            model_site(decoder->model, model_site_at(decoder->model, function, s))->callee;

        for (uint32_t i = 0; i < count; i++)
            if (all[i] == EVIDENCE_FALSE)
                all[i] = EVIDENCE_UNKNOWN;
        decode_warn(decoder,
                    "the coverage of the module of %s() is damaged: the call of %s in it was made, "
                    "and its byte says never",
                    frame->function.name, callee ? callee : "a function pointer");
        return;
    }
}

static void tell_frame(const struct decoder *decoder, const struct evidence_frame *frame)
{
    struct function_id function;
    const uint8_t *sites = frame_coverage(decoder, frame, &function);
    uint8_t *calls = (uint8_t *)frame->calls; // made by this decoder

    for (uint32_t s = 0; sites && s < frame->call_count; s++)
        if (calls[s] == EVIDENCE_UNKNOWN && sites[s] == EVIDENCE_FALSE)
            calls[s] = EVIDENCE_FALSE;
}

void decode_agreement(struct decoder *decoder)
{
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t t = 0; t < decoder->evidence->thread_count; t++) {
            const struct evidence_thread *thread = &decoder->evidence->threads[t];

            for (uint32_t f = 0; f < thread->frame_count; f++) {
                if (pass == 0)
                    check_frame(decoder, &thread->frames[f]);
                else
                    tell_frame(decoder, &thread->frames[f]);
            }
        }
}
