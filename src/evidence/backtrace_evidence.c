// SPDX-License-Identifier: Apache-2.0
#include "evidence/backtrace_evidence.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "evidence/backtrace_join.h"
#include "evidence/core/decode.h"

void joiner_warn(struct joiner *joiner, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = xvasprintf(format, arguments);
    va_end(arguments);
    join_warning_vec_push(&joiner->warnings, arena_strdup(&joiner->evidence->arena, text));
    free(text);
}

// ---- One stack

// What is being made of one stack.
struct maker {
    struct joiner *joiner;
    struct join_frame *text;
    uint32_t count;
    struct join_frame_vec frames;
    struct locate_stop last; // the physical frame made last, pc 0 when it is not in the program
    bool has_addresses;      // gdb prints one of every frame that nothing was inlined into
};

static const char *keep(struct joiner *joiner, const char *string)
{
    return string ? arena_strdup(&joiner->evidence->arena, string) : NULL;
}

static struct evidence_frame *last_frame(struct maker *maker)
{
    return maker->frames.length ? join_frame_vec_last(&maker->frames) : NULL;
}

static void mark_gap(struct maker *maker, bool is_gap)
{
    if (maker->frames.length)
        join_frame_vec_last(&maker->frames)->gap |= is_gap;
}

// Any number of frames of whatever kind, or none.
static struct evidence_frame unknown_frame(void)
{
    return (struct evidence_frame){
        .kind = EVIDENCE_FRAME_FOREIGN, .function.name = "??", .interrupted = true, .gap = true};
}

// The name of what runs in the frame that was made last.
static const char *last_name(struct maker *maker)
{
    const struct evidence_frame *last = last_frame(maker);
    return last ? last->function.name : "??";
}

static void make_foreign(struct maker *maker, const struct join_frame *text)
{
    struct joiner *joiner = maker->joiner;
    const char *name = text->text.function;
    bool is_signal = text->text.is_signal || text->may_be_signal;
    if (!name && text->is_program)
        name = locator_symbol(joiner->locator, text->address - !text->interrupted);
    if (is_signal)
        name = "__restore_rt";
    struct evidence_frame frame = {
        .kind = is_signal ? EVIDENCE_FRAME_SIGNAL : EVIDENCE_FRAME_FOREIGN,
        .function.name = keep(joiner, name ? name : "??"),
        .image = keep(joiner, text->text.image),
        .pc = text->text.has_pc ? text->text.pc : 0,
        .interrupted = text->interrupted && !is_signal,
        .place = {keep(joiner, text->text.file), text->text.line, text->text.column},
    };
    join_frame_vec_push(&maker->frames, frame);
}

// Of the text's frames from i on, how many are the virtual ones of the same physical frame.
static uint32_t frames_told(const struct maker *maker, uint32_t i, const struct located *located)
{
    const struct backtrace_frame *first = &maker->text[i].text;
    bool is_gdb = maker->joiner->backtrace->dialect == BACKTRACE_GDB;
    uint32_t told = 1;
    for (; i + told < maker->count && told < located->depth; told++) {
        const struct backtrace_frame *next = &maker->text[i + told].text;
        bool same = is_gdb ? !next->has_pc
                           : next->has_pc == first->has_pc && next->pc == first->pc &&
                                 next->offset == first->offset;
        bool by_name = next->function && strcmp(next->function, located->names[told]) == 0;
        if (!same || next->is_signal || next->after_skipped || !(by_name || maker->has_addresses))
            break;
    }
    return told;
}

// It cannot be told whether the frame was interrupted or waits: what is possible either way.
static void unite(struct joiner *joiner, struct located *located, const struct located *other)
{
    bool alike = located->count == other->count;
    for (uint32_t i = 0; alike && i < located->count; i++) {
        struct evidence_frame *a = &located->frames[i];
        const struct evidence_frame *b = &other->frames[i];
        struct function_id function = joiner_function(joiner, a);
        alike = a->kind == b->kind && function.value == joiner_function(joiner, b).value;
        if (!alike || function.value == MODEL_NONE)
            continue;
        uint32_t count = model_function(joiner->model, function)->node_count;
        uint8_t *marks = xcalloc(count + 1u, 1);
        for (uint32_t k = 0; k < a->candidates.count; k++)
            marks[a->candidates.nodes[k]] = 1;
        for (uint32_t k = 0; k < b->candidates.count; k++)
            marks[b->candidates.nodes[k]] = 1;
        a->candidates = joiner_nodes(joiner, marks, count);
        free(marks);
    }
    if (!alike)
        located->count = 0;
}

// Are all the calls that the frame can stand at of this function, by its name?
static bool calls_by_name(const struct joiner *joiner, const struct evidence_frame *outer,
                          const char *name)
{
    struct function_id function = joiner_function(joiner, outer);
    for (uint32_t i = 0; function.value != MODEL_NONE && i < outer->candidates.count; i++) {
        struct node_id node = model_node_at(joiner->model, function, outer->candidates.nodes[i]);
        struct site_id site = model_node(joiner->model, node)->site;
        const char *callee =
            site.value == MODEL_NONE ? NULL : model_site(joiner->model, site)->callee;
        if (!callee || strcmp(callee, name) != 0)
            return false;
    }
    return function.value != MODEL_NONE;
}

// Is there a call that must be a tail call between the frame and the one made last? Debug
// information has those of optimised code only.
static bool hides_musttail(struct maker *maker, const struct evidence_frame *outer)
{
    struct evidence_frame *last = last_frame(maker);
    const struct joiner *joiner = maker->joiner;
    if (!joiner->has_musttail || !last)
        return false;
    struct function_id inner = joiner_function(joiner, last);
    if (!outer || !calls_by_name(joiner, outer, last->function.name))
        return outer || inner.value != MODEL_NONE;
    return inner.value != MODEL_NONE &&
           (model_function(joiner->model, inner)->flags & FUNCTION_MUSTTAIL);
}

static void push_located(struct maker *maker, const struct join_frame *text,
                         const struct located *located)
{
    struct joiner *joiner = maker->joiner;
    const char *image = joiner->model->image_count ? joiner->model->images[0].path : NULL;
    for (uint32_t k = 0; k < located->count; k++) {
        struct evidence_frame frame = located->frames[k];
        frame.pc = text->text.has_pc ? text->text.pc : 0;
        frame.image = keep(joiner, text->text.image ? text->text.image : image);
        join_frame_vec_push(&maker->frames, frame);
    }
}

static void make_undescribed(struct maker *maker, uint32_t i);

// A frame of the program, by its address; how many of the text's it stands for.
static uint32_t make_located(struct maker *maker, uint32_t i)
{
    struct joiner *joiner = maker->joiner;
    const struct join_frame *text = &maker->text[i];
    struct locate_stop stop = {.pc = text->address,
                               .interrupted = text->interrupted,
                               .is_inside = text->is_inside,
                               .callee = maker->frames.length ? last_name(maker) : NULL};
    struct located located = locator_at(joiner->locator, &stop);
    uint32_t told = frames_told(maker, i, &located);
    if (text->interrupted && i > 0 && maker->text[i - 1].may_be_signal) {
        struct located other = locator_at(joiner->locator, &(struct locate_stop){.pc = stop.pc});
        unite(joiner, &located, &other);
        if (located.count == 0)
            mark_gap(maker, true);
    }
    if (!text->interrupted && maker->frames.length) {
        const struct evidence_frame *outer = located.count ? &located.frames[0] : NULL;
        mark_gap(maker, locator_gap(joiner->locator, stop.pc, &maker->last, last_name(maker)) ||
                            hides_musttail(maker, outer));
        // the thread sanitizer keeps no frames of library code
        if (joiner->backtrace->dialect == BACKTRACE_THREADS && outer)
            mark_gap(maker, !calls_by_name(joiner, outer, last_name(maker)));
    }
    if (located.is_doubtful && maker->frames.length)
        mark_gap(maker, true);
    else if (located.is_doubtful)
        join_frame_vec_push(&maker->frames, unknown_frame());
    if (located.count == 0)
        make_undescribed(maker, i);
    push_located(maker, text, &located);
    maker->last = stop;
    return told;
}

// The program's place in memory is known, and this frame (or the one it is inlined into) elsewhere;
// or the text says that it is in another file.
static bool is_foreign(const struct maker *maker, uint32_t i)
{
    const struct joiner *joiner = maker->joiner;
    const struct backtrace_frame *text = &maker->text[i].text;
    if (text->image && !joiner_is_program(joiner, text))
        return true;
    if (!text->function && !text->file)
        return true;
    while (maker->has_addresses && i > 0 && !maker->text[i].text.has_pc &&
           !maker->text[i].interrupted)
        i--;
    return joiner->has_bias && maker->text[i].text.has_pc;
}

// May library code have been called by a function of the program that left no frame?
static bool hides_tail_calls(const struct joiner *joiner, const char *name)
{
    struct locate_stop library = {0};
    if (joiner->locator && !joiner->is_misfit)
        return locator_gap(joiner->locator, LOCATE_UNTOLD, &library, name);
    for (uint32_t f = 0; f < joiner->model->function_count; f++) {
        if (!(joiner->model->functions[f].flags & FUNCTION_OPTNONE))
            return true;
    }
    return false;
}

// Library code waits for the frame made last. Was that called by a function of the program that
// left no frame?
static bool is_called_by_another(struct maker *maker)
{
    struct evidence_frame *last = last_frame(maker);
    if (maker->last.pc)
        return locator_gap(maker->joiner->locator, 0, &maker->last, last_name(maker)) ||
               hides_musttail(maker, NULL);
    return last && last->kind == EVIDENCE_FRAME_MODEL &&
           joiner_match_gap(maker->joiner, &(struct evidence_frame){0}, last);
}

// An address that stands for a frame found by name: of the function's beginning.
static struct locate_stop some_stop(const struct joiner *joiner, const struct evidence_frame *frame)
{
    struct locate_stop stop = {.interrupted = true};
    if (!joiner->locator || joiner->is_misfit || frame->kind != EVIDENCE_FRAME_MODEL ||
        !locator_find_offset(joiner->locator, frame->function.name, 0, &stop.pc, 1))
        return (struct locate_stop){0};
    return stop;
}

static void make_ambiguous(struct maker *maker, const struct join_frame *text)
{
    joiner_warn(maker->joiner, "line %u: which function of the program '%s' is cannot be told",
                text->text.text_line, text->text.function ? text->text.function : "??");
    mark_gap(maker, true);
    make_foreign(maker, text);
    mark_gap(maker, true);
    maker->last = (struct locate_stop){0};
}

// A frame by its name and line.
static void make_matched(struct maker *maker, uint32_t i)
{
    struct joiner *joiner = maker->joiner;
    const struct join_frame *text = &maker->text[i];
    struct evidence_frame *last = last_frame(maker), frame;
    const struct join_frame *outer = i + 1 < maker->count ? &maker->text[i + 1] : NULL;
    const struct evidence_frame *inner =
        last && !text->interrupted && last->kind == EVIDENCE_FRAME_MODEL ? last : NULL;
    bool is_unknown;
    bool is_inlining = maker->has_addresses && i > 0 && !text->text.has_pc && !text->interrupted;
    if (!joiner_match(joiner, text, outer, inner, &frame, &is_unknown)) {
        if (is_unknown) {
            make_ambiguous(maker, text);
            return;
        }
        mark_gap(maker, inner && is_called_by_another(maker));
        make_foreign(maker, text);
        maker->last = (struct locate_stop){0};
        return;
    }
    if (is_inlining && last) {
        last->inlined = true;
        frame.interrupted = last->interrupted;
    } else if (inner)
        mark_gap(maker, joiner_match_gap(joiner, &frame, inner));
    else if (last && !text->interrupted)
        mark_gap(maker, hides_tail_calls(joiner, last->function.name));
    if (joiner->backtrace->dialect == BACKTRACE_THREADS && last)
        mark_gap(maker, !calls_by_name(joiner, &frame, last->function.name));
    // gdb does not show what is inlined right at the place where a live program has stopped
    if (i == 0 && text->interrupted && joiner->backtrace->dialect == BACKTRACE_GDB &&
        !text->text.has_pc && text->text.function && joiner->locator &&
        locator_has_inlined(joiner->locator, text->text.function, text->text.line))
        join_frame_vec_push(&maker->frames, unknown_frame());
    join_frame_vec_push(&maker->frames, frame);
    maker->last = some_stop(joiner, &frame);
}

// Code of the program without debug information: of a function of the model all the same?
static void make_undescribed(struct maker *maker, uint32_t i)
{
    struct joiner *joiner = maker->joiner;
    struct join_frame *text = &maker->text[i];
    struct function_id *functions;
    if (!text->text.function)
        text->text.function = locator_symbol(joiner->locator, text->address - !text->interrupted);
    uint32_t count =
        text->text.function ? model_find_name(joiner->model, text->text.function, &functions) : 0;
    if (text->text.function)
        free(functions);
    if (count)
        make_matched(maker, i);
    else
        make_foreign(maker, text);
}

static void make_frames(struct maker *maker)
{
    for (uint32_t i = 0; i < maker->count;) {
        const struct join_frame *text = &maker->text[i];
        if (i == 0 && text->text.number > 0)
            join_frame_vec_push(&maker->frames, unknown_frame());
        mark_gap(maker, text->text.after_skipped);
        if (text->is_program && !text->text.is_signal) {
            i += make_located(maker, i);
            continue;
        }
        if (text->text.is_signal || text->may_be_signal || is_foreign(maker, i)) {
            mark_gap(maker, !text->text.is_signal && is_called_by_another(maker));
            make_foreign(maker, text);
            maker->last = (struct locate_stop){0};
        } else
            make_matched(maker, i);
        i++;
    }
}

// ---- What the program printed of itself

static bool cannot_return(const struct joiner *joiner, const struct evidence_frame *printer,
                          const struct evidence_frame *caller)
{
    struct function_id function = joiner_function(joiner, printer);
    struct function_id outer = joiner_function(joiner, caller);
    if (function.value != MODEL_NONE &&
        (model_function(joiner->model, function)->flags & FUNCTION_NORETURN))
        return true;
    for (uint32_t i = 0; outer.value != MODEL_NONE && i < caller->candidates.count; i++) {
        struct node_id node = model_node_at(joiner->model, outer, caller->candidates.nodes[i]);
        if (!(model_node(joiner->model, node)->flags & NODE_UNREACHABLE))
            return false;
    }
    return outer.value != MODEL_NONE;
}

// The stack was printed before the end. A signal's handler did it: it may have gone on in any way,
// what it interrupted has not. Else the function that printed may have gone on, or returned.
static void forget_printing(struct maker *maker)
{
    struct evidence_frame *frames = maker->frames.data;
    size_t count = maker->frames.length, first = 0;
    while (first < count && frames[first].kind != EVIDENCE_FRAME_SIGNAL)
        first++;
    if (first == count) {
        for (first = 1; first < count && frames[first].kind != EVIDENCE_FRAME_MODEL; first++)
            ;
        if (first < count && cannot_return(maker->joiner, &frames[0], &frames[first]))
            first = 0;
        if (first >= count)
            return;
        joiner_warn(maker->joiner,
                    "the stack was printed by the program itself: that '%s' did not return after "
                    "it is taken for granted",
                    frames[first].function.name);
        joiner_widen(maker->joiner, &frames[first]);
    }
    struct join_frame_vec kept = VEC_INIT;
    join_frame_vec_push(&kept, unknown_frame());
    join_frame_vec_append(&kept, frames + first, count - first);
    join_frame_vec_deinit(&maker->frames);
    maker->frames = kept;
}

// ---- All of it

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strncmp(name, *names, strlen(*names)) == 0)
            return true;
    }
    return false;
}

// Does the program call main itself? gdb ends a stack at the innermost one.
static bool calls_main(const struct model *model)
{
    for (uint32_t s = 0; s < model->site_count; s++) {
        if (model->sites[s].callee && strcmp(model->sites[s].callee, "main") == 0)
            return true;
    }
    return false;
}

static bool is_whole(const struct maker *maker, const struct backtrace_stack *stack)
{
    static const char *const starts[] = {"_start", "__libc_start", "start_thread",
                                         "clone",  "__clone",      NULL};
    size_t count = maker->frames.length;
    if (stack->is_cut || count == 0)
        return false;
    const struct evidence_frame *last = &maker->frames.data[count - 1];
    if (is_one_of(last->function.name, starts) ||
        (count > 1 && is_one_of(last[-1].function.name, starts)))
        return true;
    return strcmp(last->function.name, "main") == 0 && !calls_main(maker->joiner->model) &&
           (maker->joiner->backtrace->dialect == BACKTRACE_GDB ||
            maker->joiner->backtrace->dialect == BACKTRACE_THREADS);
}

static void make_thread(struct joiner *joiner, const struct backtrace_stack *stack,
                        struct evidence_thread *ret)
{
    struct maker maker = {.joiner = joiner, .count = stack->frame_count};
    maker.text = xcalloc(stack->frame_count + (size_t)1, sizeof(*maker.text));
    for (uint32_t i = 0; i < stack->frame_count; i++)
        maker.text[i].text = stack->frames[i];
    for (uint32_t i = 0; i < stack->frame_count; i++)
        maker.has_addresses |= joiner->backtrace->dialect == BACKTRACE_GDB &&
                               stack->frames[i].number > 0 && stack->frames[i].has_pc;
    joiner_place(joiner, maker.text, maker.count);
    make_frames(&maker);
    bool whole = is_whole(&maker, stack);
    if (joiner->backtrace->dialect == BACKTRACE_GLIBC)
        forget_printing(&maker);
    *ret = (struct evidence_thread){
        .tid = stack->tid ? stack->tid : stack->thread,
        .crashed = stack->crashed,
        .frames = arena_memdup(&joiner->evidence->arena,
                               maker.frames.data ? (void *)maker.frames.data : "",
                               maker.frames.length * sizeof(*maker.frames.data)),
        .frame_count = (uint32_t)maker.frames.length,
        .whole = whole,
        .end = whole ? NULL : keep(joiner, stack->end ? stack->end : "the text ends here"),
    };
    join_frame_vec_deinit(&maker.frames);
    free(maker.text);
}

static void make_threads(struct joiner *joiner)
{
    const struct backtrace *backtrace = joiner->backtrace;
    struct evidence_thread *threads = arena_alloc_array(
        &joiner->evidence->arena, backtrace->stack_count + 1u, struct evidence_thread);
    for (uint32_t s = 0; s < backtrace->stack_count; s++)
        make_thread(joiner, &backtrace->stacks[s], &threads[s]);
    joiner->evidence->threads = threads;
    joiner->evidence->thread_count = backtrace->stack_count;
}

static void make_images(struct joiner *joiner)
{
    struct arena *arena = &joiner->evidence->arena;
    const struct model *model = joiner->model;
    struct evidence_image *images =
        arena_alloc_array(arena, model->image_count + 1u, struct evidence_image);
    for (uint32_t i = 0; i < model->image_count; i++) {
        const struct model_image *image = &model->images[i];
        uint64_t *modules = arena_alloc_array(arena, image->module_count + 1u, uint64_t);
        for (uint32_t m = 0; m < image->module_count; m++)
            modules[m] = model->modules[image->first_module + m].id;
        images[i] = (struct evidence_image){
            .path = arena_strdup(arena, image->path),
            .build_id = image->is_executable ? joiner->build_id : NULL,
            .executable = image->is_executable,
            .modules = modules,
            .module_count = image->module_count,
        };
    }
    joiner->evidence->images = images;
    joiner->evidence->image_count = model->image_count;
}

static void make_warnings(struct joiner *joiner)
{
    const struct backtrace *backtrace = joiner->backtrace;
    for (uint32_t i = 0; i < backtrace->warning_count; i++)
        join_warning_vec_push(&joiner->warnings, keep(joiner, backtrace->warnings[i]));
    for (size_t i = 0; joiner->locator && i < locator_warning_count(joiner->locator); i++)
        join_warning_vec_push(&joiner->warnings, locator_warning_at(joiner->locator, i));
    joiner->evidence->warnings = arena_memdup(
        &joiner->evidence->arena, joiner->warnings.data ? (void *)joiner->warnings.data : "",
        joiner->warnings.length * sizeof(*joiner->warnings.data));
    joiner->evidence->warning_count = (uint32_t)joiner->warnings.length;
}

static bool has_musttail(const struct model *model)
{
    for (uint32_t f = 0; f < model->function_count; f++) {
        if (model->functions[f].flags & FUNCTION_MUSTTAIL)
            return true;
    }
    return false;
}

static struct error *make_evidence(struct joiner *joiner)
{
    const struct backtrace *backtrace = joiner->backtrace;
    joiner->evidence->signal = backtrace->signal;
    joiner->evidence->signal.code = EVIDENCE_CODE_UNTOLD;
    joiner->evidence->command = keep(joiner, backtrace->command);
    joiner->evidence->pid = backtrace->pid;
    struct error *err = joiner_find_bias(joiner);
    if (!err)
        err = model_complete(joiner->model);
    if (err)
        return err;
    joiner->has_musttail = has_musttail(joiner->model);
    make_threads(joiner);
    make_images(joiner);
    make_warnings(joiner);
    return NULL;
}

struct error *backtrace_evidence(const struct backtrace *backtrace, const char *file,
                                 const char *executable, const struct decode_options *options,
                                 struct model *model, struct evidence **ret)
{
    struct joiner joiner = {.backtrace = backtrace, .model = model, .evidence = evidence_create()};
    const char *slash = executable ? strrchr(executable, '/') : NULL;
    joiner.program = slash ? slash + 1 : executable;
    joiner.evidence->kind = "backtrace";
    joiner.evidence->source = arena_strdup(&joiner.evidence->arena, file);
    struct error *err = executable ? locator_create(executable, options->debug_directories, model,
                                                    joiner.evidence, &joiner.locator)
                                   : NULL;
    // without debug information names and lines have to do
    error_destroy(err);
    joiner.build_id = joiner.locator ? locator_build_id(joiner.locator) : NULL;
    err = make_evidence(&joiner);
    join_warning_vec_deinit(&joiner.warnings);
    locator_destroy(joiner.locator);
    if (err) {
        evidence_destroy(joiner.evidence);
        return error_in_file(err, file);
    }
    *ret = joiner.evidence;
    return NULL;
}
