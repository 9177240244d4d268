// SPDX-License-Identifier: Apache-2.0
#include "cli/path_failures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ask/case.h"
#include "common/alloc.h"
#include "common/bitset.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "evidence/evidence.h"
#include "program/model.h"

// ---- Reading

// `a,b`: two files, unless there is one of that name.
static const char **split_paths(char *text, size_t *count)
{
    const char **paths = xcalloc(strlen(text) + 2, sizeof(*paths));

    *count = 0;
    if (access(text, F_OK) == 0 || !strchr(text, ',')) {
        paths[(*count)++] = text;
        return paths;
    }
    char *rest = text, *part;
    while ((part = strsep(&rest, ",")))
        paths[(*count)++] = part;
    return paths;
}

// A document that says nothing, so that EXE is opened as it is with evidence.
static struct error *read_nothing(struct inquiry *inquiry, const char *executable)
{
    int descriptor = memfd_create("nothing.json", MFD_CLOEXEC);
    _cleanup_fclose_ FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "w");

    if (!stream)
        return error_errno(errno, NULL, "cannot make a file in memory");
    struct evidence *nothing = evidence_create();
    struct error *err = evidence_write_json(nothing, stream);
    evidence_destroy(nothing);
    if (!err && fflush(stream) != 0)
        err = error_errno(errno, NULL, "cannot write to memory");
    if (err)
        return err;
    _cleanup_free_ char *path = xasprintf("/proc/self/fd/%d", descriptor);
    return inquiry_read(inquiry, executable, (const char *const *)&path, 1);
}

static struct error *read_one(struct path_failures *failures, uint32_t index)
{
    struct path_failure *failure = &failures->all[index];
    _cleanup_free_ char *text = xstrdup(failures->paths[index]);
    size_t count;
    _cleanup_free_ const char **paths = split_paths(text, &count);

    failure->name = xstrdup(failures->paths[index]);
    if (index == 0)
        return inquiry_read(failures->inquiry, failures->executable, paths, count);
    failure->own = (struct input){.sysroot = failures->inquiry->input.sysroot,
                                  .no_cache = failures->inquiry->input.no_cache};
    failure->own.debug_directories = failures->inquiry->input.debug_directories;
    struct error *err = input_open_all(&failure->own, failures->executable, paths, count);
    failure->own.debug_directories = (struct option_values){0};
    return err;
}

// Evidence names functions by their modules, so that any model that has these will do: the one with
// the most, where some of the runs had loaded more libraries than others.
static void choose_model(struct path_failures *failures)
{
    struct model **best = &failures->inquiry->input.model;

    for (uint32_t i = 1; i < failures->count; i++) {
        struct model **other = &failures->all[i].own.model, *swap = *other;

        if ((*other)->module_count > (*best)->module_count) {
            *other = *best;
            *best = swap;
        }
    }
}

struct error *path_failures_read(struct path_failures *failures, struct inquiry *inquiry,
                                 const char *executable, const char *const *paths, uint32_t count)
{
    struct error *err = NULL;

    *failures = (struct path_failures){
        .inquiry = inquiry, .has_evidence = count > 0, .executable = executable, .paths = paths};
    failures->count = count ? count : 1;
    failures->all = xcalloc(failures->count, sizeof(*failures->all));
    if (count > 1 && inquiry->logs.count)
        return error_create(ERROR_USAGE,
                            "--log is about one run, and here are %u: of one run are "
                            "files that are named with a comma between them",
                            count);
    if (!count)
        err = read_nothing(inquiry, executable);
    for (uint32_t i = 0; !err && i < count; i++)
        err = read_one(failures, i);
    if (!err)
        choose_model(failures);
    return err;
}

// ---- Stacks that are made up

static bool find_main(const struct model *model, struct function_id *ret)
{
    for (uint32_t r = 0; r < model->root_count; r++)
        if (model->roots[r].reason == ROOT_MAIN &&
            model_function(model, model->roots[r].function)->node_count) {
            *ret = model->roots[r].function;
            return true;
        }
    return false;
}

static void push_all(struct function_list list, struct bitset *seen, struct function_id *work,
                     uint32_t *count)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (!bitset_test_and_set(seen, list.data[i].value))
            work[(*count)++] = list.data[i];
}

// May main be on the stack while `function` runs?
static bool main_leads_to(const struct model *model, struct function_id main,
                          struct function_id function)
{
    struct function_id *work = xmalloc_array(model->function_count + 1u, sizeof(*work));
    struct bitset seen;
    uint32_t count = 0;

    bitset_init(&seen, model->function_count);
    push_all((struct function_list){&main, 1}, &seen, work, &count);
    for (uint32_t r = 0; r < model->root_count; r++)
        if (model->roots[r].reason == ROOT_SIGNAL || model->roots[r].reason == ROOT_ASSEMBLY)
            push_all((struct function_list){&model->roots[r].function, 1}, &seen, work, &count);
    while (count > 0) {
        const struct model_function *f = model_function(model, work[--count]);

        for (uint32_t s = f->first_site; f->node_count && s < f->first_site + f->site_count; s++) {
            push_all(model_callees(model, (struct site_id){s}), &seen, work, &count);
            push_all(model_callbacks(model, (struct site_id){s}), &seen, work, &count);
        }
    }
    bool leads = bitset_test(&seen, function.value);
    bitset_deinit(&seen);
    free(work);
    return leads;
}

static void set_function(struct evidence_frame *frame, const struct model *model,
                         struct function_id function)
{
    const struct model_function *f = model_function(model, function);

    frame->kind = EVIDENCE_FRAME_MODEL;
    frame->function =
        (struct evidence_function){model_module(model, f->module)->id, f->index, f->name};
    frame->candidates_from = "asked";
}

// Any of main's calls is pending.
static void set_main(struct evidence *evidence, struct evidence_frame *frame,
                     const struct model *model, struct function_id main)
{
    const struct model_function *f = model_function(model, main);
    uint32_t *nodes = arena_alloc_array(&evidence->arena, f->node_count + 1u, uint32_t), count = 0;

    for (uint32_t n = 0; n < f->node_count; n++)
        if (model->nodes[f->first_node + n].site.value != MODEL_NONE)
            nodes[count++] = n;
    set_function(frame, model, main);
    frame->candidates = (struct evidence_nodes){nodes, count};
}

// The stack: `inner`, whatever called it, main where that can be.
static void set_stack(struct evidence *evidence, const struct model *model,
                      const struct evidence_frame *inner, uint32_t inner_count,
                      struct function_id function)
{
    struct evidence_frame *frames =
        arena_alloc_array(&evidence->arena, inner_count + 1u, struct evidence_frame);
    uint32_t count = evidence->thread_count ? evidence->thread_count : 1;
    struct evidence_thread *threads =
        arena_alloc_array(&evidence->arena, count, struct evidence_thread);
    struct function_id main;
    bool has_main = find_main(model, &main) && main_leads_to(model, main, function);

    memset(frames, 0, (inner_count + 1u) * sizeof(*frames));
    memcpy(frames, inner, inner_count * sizeof(*frames));
    if (evidence->thread_count)
        memcpy(threads, evidence->threads, count * sizeof(*threads));
    else
        threads[0] = (struct evidence_thread){.crashed = true};
    bool is_main = has_main && main.value == function.value;
    frames[inner_count - 1].gap = !is_main;
    if (has_main && !is_main)
        set_main(evidence, &frames[inner_count++], model, main);
    threads[0].frames = frames;
    threads[0].frame_count = inner_count;
    threads[0].whole = has_main;
    threads[0].end = "asked for";
    evidence->threads = threads;
    evidence->thread_count = count;
}

// The run ends at one of these nodes of a function.
static void set_end(struct evidence *evidence, const struct model *model, const uint32_t *nodes,
                    uint32_t count)
{
    struct function_id function = model->nodes[nodes[0]].function;
    uint32_t *at = arena_alloc_array(&evidence->arena, count, uint32_t);
    struct evidence_frame frame = {.interrupted = true};

    for (uint32_t i = 0; i < count; i++)
        at[i] = nodes[i] - model_function(model, function)->first_node;
    set_function(&frame, model, function);
    frame.candidates = (struct evidence_nodes){at, count};
    set_stack(evidence, model, &frame, 1, function);
}

// Leaves the innermost frame of the model, and what is inside of it.
static struct error *forget_stack(struct evidence *evidence, const struct model *model)
{
    const struct evidence_thread *thread = evidence->thread_count ? &evidence->threads[0] : NULL;
    struct module_id module;
    struct function_id function;

    for (uint32_t f = 0; thread && f < thread->frame_count; f++) {
        const struct evidence_frame *frame = &thread->frames[f];

        if (frame->kind != EVIDENCE_FRAME_MODEL || frame->guessed ||
            !model_find_module(model, frame->function.module_id, &module) ||
            !model_find_function(model, module, frame->function.index, &function))
            continue;
        set_stack(evidence, model, thread->frames, f + 1, function);
        return NULL;
    }
    return error_create(ERROR_NOT_FOUND, "no frame of the stack that is certain has a model: "
                                         "--end says where the path ends");
}

// ---- Cases

static struct evidence *evidence_of(const struct path_failures *failures, uint32_t index)
{
    return index ? failures->all[index].own.evidence : failures->inquiry->input.evidence;
}

// The same evidence once more, with a stack of its own; borrows from the other one.
static uint32_t copy_failure(struct path_failures *failures, uint32_t index, const char *name)
{
    struct evidence *copy = evidence_create();
    struct arena arena = copy->arena;
    uint32_t at = failures->count++;

    *copy = *evidence_of(failures, index);
    copy->arena = arena;
    failures->all = xrealloc_array(failures->all, failures->count, sizeof(*failures->all));
    failures->all[at] = (struct path_failure){.name = xstrdup(name), .own = {.evidence = copy}};
    return at;
}

// A line may be of several functions: each is an end by itself.
static void set_ends(struct path_failures *failures, const struct path_failures_options *options)
{
    const struct model *model = failures->inquiry->input.model;
    uint32_t count = failures->count;

    for (uint32_t from = 0, to; from < options->end_count; from = to) {
        uint32_t function = model->nodes[options->ends[from]].function.value;

        for (to = from;
             to < options->end_count && model->nodes[options->ends[to]].function.value == function;)
            to++;
        for (uint32_t i = 0; i < count; i++) {
            const char *name = failures->all[i].name;
            // the first function takes the evidence that is there
            uint32_t at = from ? copy_failure(failures, i, name ? name : options->end_text) : i;

            set_end(evidence_of(failures, at), model, options->ends + from, to - from);
        }
    }
}

// The line that the thread stood on, as the evidence has it.
static uint32_t end_line(const struct evidence *evidence)
{
    const struct evidence_thread *thread = evidence->thread_count ? &evidence->threads[0] : NULL;

    for (uint32_t f = 0; thread && f < thread->frame_count; f++)
        if (thread->frames[f].kind == EVIDENCE_FRAME_MODEL)
            return thread->frames[f].place.line;
    return 0;
}

static struct error *make_case(struct path_failures *failures, uint32_t index)
{
    struct inquiry *inquiry = failures->inquiry;
    struct path_failure *failure = &failures->all[index];

    if (index == 0) {
        struct error *err = inquiry_make_case(inquiry);

        failure->ask = inquiry->ask;
        return err;
    }
    struct error *err =
        ask_case_create(inquiry->input.model, failure->own.evidence, inquiry->kinds, &failure->ask);
    for (size_t i = 0; !err && i < inquiry->given.count; i++)
        ask_case_given(failure->ask, inquiry->queries[i]);
    return err;
}

struct error *path_failures_make(struct path_failures *failures,
                                 const struct path_failures_options *options)
{
    const struct model *model = failures->inquiry->input.model;
    struct error *err = NULL;

    set_ends(failures, options);
    for (uint32_t i = 0; !err && options->no_stack && i < failures->count; i++)
        err = forget_stack(evidence_of(failures, i), model);
    failures->cases = xcalloc(failures->count, sizeof(*failures->cases));
    failures->names = xcalloc(failures->count, sizeof(*failures->names));
    failures->end_lines = xcalloc(failures->count, sizeof(*failures->end_lines));
    for (uint32_t i = 0; !err && i < failures->count; i++) {
        err = make_case(failures, i);
        failures->cases[i] = failures->all[i].ask;
        failures->end_lines[i] = end_line(evidence_of(failures, i));
        failures->names[i] = failures->all[i].name ? failures->all[i].name : options->end_text;
    }
    return err;
}

void path_failures_deinit(struct path_failures *failures)
{
    for (uint32_t i = 0; i < failures->count; i++) {
        if (i > 0) {
            ask_case_destroy(failures->all[i].ask);
            input_deinit(&failures->all[i].own);
        }
        free(failures->all[i].name);
    }
    free(failures->all);
    free(failures->cases);
    free(failures->names);
    free(failures->end_lines);
    *failures = (struct path_failures){0};
}
