// SPDX-License-Identifier: Apache-2.0
#include "evidence/evidence_fit.h"

#include <inttypes.h>

#include "evidence/evidence.h"
#include "program/model.h"

static struct error *misfit(const char *function, const char *what, uint32_t found, uint32_t count)
{
    return error_create(ERROR_MISMATCH,
                        "evidence of another build: %s %" PRIu32 " of '%s', which has %" PRIu32,
                        what, found, function, count);
}

static struct error *check_path(const char *name, const struct evidence_path *path,
                                uint32_t node_count)
{
    for (uint32_t i = 0; i < path->step_count; i++) {
        if (path->steps[i].node >= node_count)
            return misfit(name, "node", path->steps[i].node, node_count);
    }
    return NULL;
}

static struct error *check_frame(const struct evidence_frame *frame,
                                 const struct model_function *function)
{
    const char *name = frame->function.name;
    uint32_t nodes = function->node_count;
    if (frame->candidates.count && frame->candidates.nodes[frame->candidates.count - 1] >= nodes)
        return misfit(name, "node", frame->candidates.nodes[frame->candidates.count - 1], nodes);
    struct error *err = check_path(name, &frame->path, nodes);
    if (!err && frame->call_count && frame->call_count != function->site_count)
        err = misfit(name, "call sites:", frame->call_count, function->site_count);
    return err;
}

static struct error *check_function(struct model *model, const struct evidence_frame *frame)
{
    struct module_id module;
    struct function_id function;
    if (!frame->function.module_id || !model_find_module(model, frame->function.module_id, &module))
        return NULL;
    if (!model_find_function(model, module, frame->function.index, &function))
        return misfit(frame->function.name, "function", frame->function.index,
                      model_module(model, module)->function_count);
    struct error *err = model_load_function(model, function);
    if (err)
        return err;
    return check_frame(frame, model_function(model, function));
}

static struct error *check_points(struct model *model, const struct evidence_points *points)
{
    for (uint32_t i = 0; i < points->count; i++) {
        const struct evidence_point *point = &points->points[i];
        struct module_id module;
        struct function_id function;
        if (!model_find_module(model, point->module_id, &module))
            continue;
        if (!model_find_function(model, module, point->function, &function))
            return error_create(ERROR_MISMATCH,
                                "evidence of another build: function %" PRIu32
                                " of module 0x%" PRIx64 ", which has %" PRIu32,
                                point->function, point->module_id,
                                model_module(model, module)->function_count);
        struct error *err = model_load_function(model, function);
        if (err)
            return err;
        const struct model_function *in = model_function(model, function);
        if (point->node >= in->node_count)
            return misfit(in->name, "node", point->node, in->node_count);
    }
    return NULL;
}

static struct error *check_observation(struct model *model,
                                       const struct evidence_observation *observation)
{
    struct error *err = check_points(model, &observation->alphabet);
    for (uint32_t i = 0; !err && i < observation->entry_count; i++)
        err = check_points(model, &observation->entries[i]);
    return err;
}

static struct error *check_coverage(const struct model *model, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < evidence->coverage_count; i++) {
        const struct evidence_coverage *coverage = &evidence->coverage[i];
        struct module_id module;
        if (model_find_module(model, coverage->module_id, &module) &&
            coverage->site_count != model_module(model, module)->site_count)
            return error_create(ERROR_MISMATCH,
                                "evidence of another build: %" PRIu32
                                " call sites in module 0x%" PRIx64 ", which has %" PRIu32,
                                coverage->site_count, coverage->module_id,
                                model_module(model, module)->site_count);
    }
    return NULL;
}

// Evidence that names modules of its executable has to name one of this model's.
static struct error *check_executable(const struct model *model, const struct evidence *evidence)
{
    bool has_modules = false;
    for (uint32_t i = 0; i < evidence->image_count; i++) {
        const struct evidence_image *image = &evidence->images[i];
        for (uint32_t m = 0; image->executable && m < image->module_count; m++) {
            struct module_id module;
            has_modules = true;
            if (model_find_module(model, image->modules[m], &module))
                return NULL;
        }
    }
    if (!has_modules)
        return NULL;
    return error_create(ERROR_MISMATCH,
                        "evidence of another build: the program has none of its modules");
}

struct error *evidence_fit(const struct evidence *evidence, struct model *model)
{
    struct error *err = check_executable(model, evidence);
    if (!err)
        err = check_coverage(model, evidence);
    for (uint32_t t = 0; !err && t < evidence->thread_count; t++) {
        for (uint32_t f = 0; !err && f < evidence->threads[t].frame_count; f++)
            err = check_function(model, &evidence->threads[t].frames[f]);
    }
    for (uint32_t i = 0; !err && i < evidence->observation_count; i++)
        err = error_prefix(check_observation(model, &evidence->observations[i]),
                           "observations[%" PRIu32 "]", i);
    return err;
}
