// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/decode.h"

#include "common/alloc.h"
#include "common/error.h"
#include "evidence/core/landmark.h"
#include "layout/section.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

VEC_DEFINE(frame_vec, struct evidence_frame);

void decode_warn(struct decoder *decoder, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = xvasprintf(format, arguments);
    va_end(arguments);
    warning_vec_push(&decoder->warnings, arena_strdup(&decoder->evidence->arena, text));
    free(text);
}

static const char *source_name(enum position_source source)
{
    static const char *const names[] = {"discriminator", "edge", "line", "prologue", "unknown"};

    return names[source];
}

// The name of what a physical frame runs, for the frame that called it.
static const char *physical_name(struct decoder *decoder, const struct unwind_frame *unwound)
{
    uint64_t address = unwind_frame_lookup(unwound);
    const struct address_info *info =
        decode_address(decoder, unwound->module, address, unwound->flags & UNWIND_EXACT);
    struct module_symbol symbol;

    if (info->count)
        return info->positions[info->count - 1].name;
    if (unwound->module && module_symbol_at(unwound->module, address, &symbol))
        return symbol.name;
    return "??";
}

static void fill_common(struct decoder *decoder, const struct unwind_frame *unwound,
                        struct evidence_frame *frame)
{
    frame->pc = unwound->pc;
    frame->guessed = unwound->flags & UNWIND_GUESSED;
    if (unwound->module)
        frame->image = arena_strdup(&decoder->evidence->arena, module_info(unwound->module)->path);
}

static void foreign_frame(struct decoder *decoder, const struct stop *stop,
                          struct frame_vec *frames)
{
    bool is_signal = stop->unwound->flags & UNWIND_SIGNAL;
    struct evidence_frame frame = {
        .kind = is_signal ? EVIDENCE_FRAME_SIGNAL : EVIDENCE_FRAME_FOREIGN,
        .interrupted = stop->interrupted && !is_signal,
        .function.name =
            arena_strdup(&decoder->evidence->arena, physical_name(decoder, stop->unwound)),
    };

    fill_common(decoder, stop->unwound, &frame);
    frame_vec_push(frames, frame);
}

static void tell_nothing(struct decoder *decoder, uint32_t site_count, const char *why,
                         struct evidence_frame *frame)
{
    uint8_t *calls = arena_alloc(&decoder->evidence->arena, site_count + 1u);

    memset(calls, EVIDENCE_UNKNOWN, site_count);
    frame->record = EVIDENCE_RECORD_UNTOLD;
    frame->record_note = why;
    frame->calls = calls;
    frame->call_count = site_count;
}

// Stopped before its first node: of the function nothing has run, but that it was called.
static bool is_before_all(const struct stop *stop, const struct position *position)
{
    return stop->interrupted && position->source == POSITION_PROLOGUE;
}

// The innermost frame at a load that was folded: its node, or several.
static struct position folded_position(const struct position *position, const struct folded *folded)
{
    struct position narrow = *position;

    narrow.nodes = folded->nodes;
    narrow.source = folded->nodes.count == 1 ? POSITION_DISCRIMINATOR : POSITION_LINE;
    return narrow;
}

// Is there a call before this instruction, with nothing but a straight line of code between?
static bool is_behind_call(struct decoder *decoder, const struct stop *stop)
{
    const struct machine_code *code =
        stop->physical ? machine_code_of(decoder, stop->physical) : NULL;
    uint32_t at = code ? machine_find(code, stop->unwound->pc) : MACHINE_NONE;

    if (at == MACHINE_NONE)
        return true; // it is not known
    while (at-- > 0 && code->insns[at].flow == MACHINE_NEXT)
        ;
    return at != UINT32_MAX && code->insns[at].flow == MACHINE_CALL;
}

// Behind a call that returns twice: a jump that comes back there goes on to what comes next,
// without coming by the call's node again. What the words told was of the way to the jump, perhaps.
static void add_landings(struct decoder *decoder, const struct stop *stop,
                         struct function_id function, struct evidence_frame *frame)
{
    const struct model_function *f = model_function(decoder->model, function);
    uint32_t *nodes = xmalloc_array(f->node_count + 1u, sizeof(*nodes)), count = 0;
    uint8_t *mark = xcalloc(f->node_count + 1u, 1);
    bool lands = false;

    for (uint32_t i = 0; i < frame->candidates.count; i++) {
        struct node_id node = model_node_at(decoder->model, function, frame->candidates.nodes[i]);
        struct node_list next = model_successors(decoder->model, node);
        bool twice = model_node(decoder->model, node)->flags & NODE_RETURNS_TWICE;

        mark[frame->candidates.nodes[i]] = 1;
        for (uint32_t s = 0; twice && s < next.count; s++)
            mark[model_node_index(decoder->model, next.data[s])] = 1;
        lands |= twice;
    }
    for (uint32_t n = 0; n < f->node_count; n++)
        if (mark[n])
            nodes[count++] = n;
    if (lands && is_behind_call(decoder, stop)) {
        frame->candidates = decode_nodes(decoder, nodes, count);
        frame->candidates_from = source_name(POSITION_LINE);
        frame->path = (struct evidence_path){0};
        tell_nothing(decoder, f->site_count, "a jump may have come back here", frame);
    }
    free(nodes);
    free(mark);
}

// `first`: of the frames, the innermost of this physical one. `folded`: or NULL.
static void model_frame(struct decoder *decoder, const struct stop *stop,
                        const struct address_info *info, uint32_t depth,
                        const struct folded *folded, size_t first, struct frame_vec *frames)
{
    uint32_t innermost = folded ? folded->depth : 0;
    const struct position *position = &info->positions[depth];
    struct evidence_frame frame = {
        .kind = EVIDENCE_FRAME_FOREIGN,
        .function.name = position->name,
        .inlined = depth + 1 < info->count,
        .interrupted = stop->interrupted,
        .place = position->place,
        .gap = position->repeats,
    };

    fill_common(decoder, stop->unwound, &frame);
    if (position->function.value != MODEL_NONE && is_before_all(stop, position)) {
        frame.gap = true;
        frame.record_note = "it was stopped before its first line";
    } else if (position->function.value != MODEL_NONE) {
        const struct model_function *function = model_function(decoder->model, position->function);

        frame.kind = EVIDENCE_FRAME_MODEL;
        frame.function.module_id = model_module(decoder->model, function->module)->id;
        frame.function.index = function->index;
        struct position narrow = *position;
        if (depth == innermost)
            narrow =
                folded ? folded_position(position, folded) : decode_trap(decoder, stop, position);
        frame.candidates = narrow.nodes;
        frame.candidates_from = depth > innermost ? "call" : source_name(narrow.source);
        if (stop->callee && strstr(stop->callee, "longjmp"))
            // the frame it goes to is unwound already, but does not wait for anything
            tell_nothing(decoder, function->site_count, "longjmp is under way", &frame);
        else if (decode_record(decoder, stop, &narrow, depth > innermost, &frame)) {
            frame_vec_resize(frames, first);
            frame.place = (struct evidence_place){position->place.file, 0, 0};
        }
        if (stop->interrupted && stop->sets_jumps && depth == innermost)
            add_landings(decoder, stop, position->function, &frame);
    }
    frame_vec_push(frames, frame);
}

static bool callee_has_model(struct decoder *decoder, const struct unwind_frame *callee)
{
    const struct address_info *info = decode_address(
        decoder, callee->module, unwind_frame_lookup(callee), callee->flags & UNWIND_EXACT);

    return info->count && info->positions[info->count - 1].function.value != MODEL_NONE;
}

// Inside of the frames from `first` on: a function that was inlined there, perhaps.
static void inlined_frame(struct decoder *decoder, const struct stop *stop, size_t first,
                          struct frame_vec *frames)
{
    struct evidence_frame frame = {
        .kind = EVIDENCE_FRAME_FOREIGN,
        .interrupted = true,
        .inlined = true,
        .gap = true,
        .function.name = "??",
        .record_note = "control may be in a function that was inlined here",
    };

    fill_common(decoder, stop->unwound, &frame);
    frame_vec_push(frames, frame);
    memmove(&frames->data[first + 1], &frames->data[first],
            (frames->length - 1 - first) * sizeof(frame));
    frames->data[first] = frame;
}

// Does nothing come but registers that are taken back from the stack, and the return? Those are
// instructions of one or two bytes; which they are does not matter.
static bool is_leaving(struct decoder *decoder, struct debug_function *physical, uint64_t pc)
{
    const struct machine_code *code = physical ? machine_code_of(decoder, physical) : NULL;
    uint32_t at = code ? machine_find(code, pc) : MACHINE_NONE;

    while (at < MACHINE_NONE && at < code->count && code->insns[at].flow == MACHINE_NEXT &&
           code->insns[at].size <= 2)
        at++;
    return at < MACHINE_NONE && at < code->count && code->insns[at].flow == MACHINE_LEAVE;
}

// A plain copy may have one call for several of the source, whose row then names none of them, and
// no inlined frame that some of them have.
static bool merges_calls(const struct stop *stop, const struct position *position)
{
    return !stop->interrupted && position->plain && position->source != POSITION_DISCRIMINATOR;
}

// Unless it is known to be none.
static bool is_store(struct decoder *decoder, struct debug_function *physical, uint64_t pc)
{
    const struct machine_code *code = physical ? machine_code_of(decoder, physical) : NULL;
    uint32_t at = code ? machine_find(code, pc) : MACHINE_NONE;

    return at == MACHINE_NONE || code->insns[at].stores;
}

// `callee`: the frame that this one waits for, NULL when it was interrupted.
static void physical_frame(struct decoder *decoder, const struct stop *stop,
                           const struct unwind_frame *callee, struct frame_vec *frames)
{
    const struct unwind_frame *unwound = stop->unwound;
    const struct address_info *info = decode_address(
        decoder, unwound->module, unwind_frame_lookup(unwound), unwound->flags & UNWIND_EXACT);

    const char *inner = callee ? physical_name(decoder, callee) : NULL;

    if (callee && (strstr(inner, "longjmp") || decode_gap(decoder, unwound, callee, inner)))
        frame_vec_last(frames)->gap = true;
    if (!info->count) {
        foreign_frame(decoder, stop, frames);
        return;
    }
    struct stop here = *stop;
    here.physical = info->physical;
    here.callee = inner;
    here.leaves = stop->interrupted && is_leaving(decoder, info->physical, unwound->pc);
    here.stores = stop->memory_fault && is_store(decoder, info->physical, unwound->pc);
    here.callee_has_model = callee && callee_has_model(decoder, callee);
    here.is_call_site = callee && decode_is_call_site(unwound);
    for (uint32_t d = 0; d < info->count; d++)
        if (info->positions[d].function.value != MODEL_NONE)
            here.sets_jumps |= model_function(decoder->model, info->positions[d].function)->flags &
                               FUNCTION_SETJMP;
    here.holds = decode_waits_at_site(decoder, &here, &info->positions[0]);
    struct unwind_frame before_call = *unwound;
    if (decode_is_moved_call(decoder, &here, &info->positions[0], &before_call.pc)) {
        // the row says where the call is in the source, not how far control has come: as if a
        // signal had come just before it
        before_call.flags |= UNWIND_EXACT;
        here.unwound = &before_call;
        here.interrupted = here.asynchronous = true;
    }
    struct folded folded = {0};
    here.folded = here.memory_fault && decode_folded(decoder, &here, info, &folded);
    decode_inlined_doubts(decoder, &here, info);
    size_t first = frames->length;
    for (uint32_t depth = folded.depth; depth < info->count; depth++)
        model_frame(decoder, &here, info, depth, here.folded ? &folded : NULL, first, frames);
    // inlined frames that control has not come to, or has left, are not there
    size_t left_out = info->count - (frames->length - first);
    const struct position *innermost = &info->positions[left_out];
    bool amid =
        here.interrupted && here.asynchronous && decode_is_amid_call(decoder, &here, innermost);
    if (here.folded ? folded.inside
                    : amid || decode_may_be_inside(decoder, &here, innermost, &frames->data[first]))
        inlined_frame(decoder, &here, first, frames);
    if (first > 0 && merges_calls(stop, &info->positions[0]))
        frames->data[first - 1].gap = true;
}

// A load or store of the thread itself, as opposed to a signal from outside or a trap.
static bool is_memory_fault(const struct core *core)
{
    const struct core_signal *signal = core_signal(core);

    return signal->has_details && signal->code > 0 && !signal->has_sender &&
           (signal->number == SIGSEGV || signal->number == SIGBUS);
}

// From another process or by the thread itself through the kernel: not the doing of an instruction.
static bool is_asynchronous(const struct core *core)
{
    const struct core_signal *signal = core_signal(core);

    if (signal->has_details)
        return signal->code <= 0 || signal->has_sender;
    return signal->number != SIGSEGV && signal->number != SIGBUS && signal->number != SIGFPE &&
           signal->number != SIGILL && signal->number != SIGTRAP;
}

static void decode_thread(struct decoder *decoder, size_t index, struct evidence_thread *out)
{
    const struct core_thread *thread = core_thread_at(decoder->core, index);
    struct unwind_stack stack;
    struct frame_vec frames = VEC_INIT;

    unwind_thread(decoder->unwinder, thread, &stack);
    for (size_t i = 0; i < stack.count; i++) {
        struct stop stop = {.unwound = &stack.frames[i],
                            .interrupted = stack.frames[i].flags & UNWIND_EXACT};

        stop.memory_fault = i == 0 && index == 0 && is_memory_fault(decoder->core);
        stop.trapped = i == 0 && index == 0 && core_signal(decoder->core)->number == SIGILL &&
                       core_signal(decoder->core)->code > 0;
        stop.asynchronous = i == 0 && (index != 0 || is_asynchronous(decoder->core));
        // behind a signal frame nothing was called
        physical_frame(decoder, &stop, stop.interrupted ? NULL : &stack.frames[i - 1], &frames);
    }
    *out = (struct evidence_thread){
        .tid = thread->tid,
        .crashed = index == 0 && core_signal(decoder->core)->number != 0,
        .frames = arena_memdup(&decoder->evidence->arena, frames.data ? (void *)frames.data : "",
                               frames.length * sizeof(*frames.data)),
        .frame_count = (uint32_t)frames.length,
        .end = stack.end_text && *stack.end_text
                   ? arena_strdup(&decoder->evidence->arena, stack.end_text)
                   : NULL,
        .whole = stack.end == UNWIND_END_COMPLETE,
    };
    frame_vec_deinit(&frames);
    unwind_stack_deinit(&stack);
}

static void decode_threads(struct decoder *decoder)
{
    size_t count = core_thread_count(decoder->core);
    struct evidence_thread *threads =
        arena_alloc_array(&decoder->evidence->arena, count + 1, struct evidence_thread);

    for (size_t i = 0; i < count; i++)
        decode_thread(decoder, i, &threads[i]);
    decoder->evidence->threads = threads;
    decoder->evidence->thread_count = (uint32_t)count;
}

static void decode_signal(struct decoder *decoder)
{
    const struct core_signal *signal = core_signal(decoder->core);

    decoder->evidence->signal = (struct evidence_signal){.number = signal->number,
                                                         .code = signal->code,
                                                         .has_address = signal->has_address,
                                                         .address = signal->address};
    decoder->evidence->pid = core_pid(decoder->core);
    decoder->evidence->command =
        arena_strdup(&decoder->evidence->arena, core_command_line(decoder->core));
}

static const char *hex(struct decoder *decoder, const unsigned char *bytes, size_t size)
{
    char *text = arena_alloc(&decoder->evidence->arena, 2 * size + 1);

    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

static void decode_images(struct decoder *decoder)
{
    struct arena *arena = &decoder->evidence->arena;
    uint32_t count = decoder->model->image_count;
    struct evidence_image *images = arena_alloc_array(arena, count + 1u, struct evidence_image);

    for (uint32_t i = 0; i < count; i++) {
        const struct model_image *image = &decoder->model->images[i];
        uint64_t *modules = arena_alloc_array(arena, image->module_count + 1u, uint64_t);

        for (uint32_t m = 0; m < image->module_count; m++)
            modules[m] = decoder->model->modules[image->first_module + m].id;
        images[i] = (struct evidence_image){.path = arena_strdup(arena, image->path),
                                            .executable = image->is_executable,
                                            .modules = modules,
                                            .module_count = image->module_count};
        for (size_t k = 0; k < modules_count(decoder->modules); k++) {
            const struct module_info *info = module_info(modules_at(decoder->modules, k));

            if (info->file && !strcmp(info->file, image->path) && info->build_id)
                images[i].build_id = hex(decoder, info->build_id, info->build_id_size);
        }
    }
    decoder->evidence->images = images;
    decoder->evidence->image_count = count;
}

// One that carries a model, or one that does not: then its symbols are known.
static void add_library(struct decoder *decoder, struct module *module, bool has_model)
{
    struct module_section section;

    if (!module_info(module)->file || module_section(module, SECTION_MODEL, &section) != has_model)
        return;
    struct error *skipped = model_add_image(decoder->model, module_info(module)->file, false, NULL);
    if (skipped && has_model)
        decode_warn(decoder, "the model of '%s' is not used: %s", module_info(module)->file,
                    skipped->message);
    error_destroy(skipped);
}

// The program, and the libraries of the run.
static struct error *open_model(struct decoder *decoder, const char *executable,
                                const struct decode_options *options)
{
    struct model_options model_options = {.debug_directories = options->debug_directories,
                                          .no_cache = options->no_cache};

    while (options->debug_directories &&
           options->debug_directories[model_options.debug_directory_count])
        model_options.debug_directory_count++;
    struct error *err = model_open(executable, &model_options, &decoder->model);
    for (size_t i = 1; !err && i < modules_count(decoder->modules); i++)
        add_library(decoder, modules_at(decoder->modules, i), true);
    // functions of a library with a model may have been replaced by one that has none
    bool libraries = !err && decoder->model->image_count > 1;
    for (size_t i = 1; libraries && i < modules_count(decoder->modules); i++)
        add_library(decoder, modules_at(decoder->modules, i), false);
    return err;
}

static void collect_warnings(struct decoder *decoder)
{
    for (size_t i = 0; i < modules_warning_count(decoder->modules); i++) {
        char *text = error_text(modules_warning_at(decoder->modules, i));

        decode_warn(decoder, "%s", text);
        free(text);
    }
    decoder->evidence->warnings = arena_memdup(
        &decoder->evidence->arena, decoder->warnings.data ? (void *)decoder->warnings.data : "",
        decoder->warnings.length * sizeof(*decoder->warnings.data));
    decoder->evidence->warning_count = (uint32_t)decoder->warnings.length;
}

static struct error *decode(struct decoder *decoder, const char *executable, const char *core,
                            const struct decode_options *options)
{
    struct modules_options modules_options = {.executable = executable,
                                              .directories = options->debug_directories,
                                              .sysroot = options->sysroot};
    struct debug_info *info;
    struct error *err = core_open(core, &decoder->core);

    if (!err)
        err = modules_open(decoder->core, &modules_options, &decoder->modules);
    if (!err)
        err = open_model(decoder, executable, options);
    if (!err)
        err = debug_info_open(modules_executable(decoder->modules), &info);
    if (err)
        return err;
    decoder->unwinder = unwinder_create(decoder->modules);
    bitset_init(&decoder->doubtful_true, decoder->model->site_count);
    bitset_init(&decoder->doubtful_false, decoder->model->site_count);
    decode_find_coverage(decoder);
    decode_signal(decoder);
    decode_threads(decoder);
    decode_coverage(decoder);
    decode_agreement(decoder);
    decode_images(decoder);
    collect_warnings(decoder);
    bitset_deinit(&decoder->doubtful_true);
    bitset_deinit(&decoder->doubtful_false);
    return NULL;
}

struct error *decode_core(const char *executable, const char *core,
                          const struct decode_options *options, struct model **ret_model,
                          struct evidence **ret)
{
    struct decoder decoder = {.evidence = evidence_create()};
    struct error *err;

    decoder.evidence->kind = "core";
    decoder.evidence->source = arena_strdup(&decoder.evidence->arena, core);
    err = decode(&decoder, executable, core, options);
    address_map_deinit(&decoder.addresses);
    scope_map_deinit(&decoder.functions);
    decode_forget_code(&decoder);
    name_set_deinit(&decoder.tail_targets);
    name_set_deinit(&decoder.tail_callers);
    scope_flags_deinit(&decoder.gaps);
    warning_vec_deinit(&decoder.warnings);
    coverage_place_vec_deinit(&decoder.coverage);
    scope_flags_deinit(&decoder.returns);
    unwinder_destroy(decoder.unwinder);
    modules_destroy(decoder.modules);
    core_destroy(decoder.core);
    if (err) {
        evidence_destroy(decoder.evidence);
        model_destroy(decoder.model);
        return err;
    }
    *ret_model = decoder.model;
    *ret = decoder.evidence;
    return NULL;
}
