// SPDX-License-Identifier: Apache-2.0
/*
 * From the addresses that a text has to addresses of the program's file.
 *
 * A program that is position independent was loaded somewhere, at a multiple of the page size (the
 * bias) that texts do not tell. But for every frame of the program the text tells function and
 * line, so the last three digits of its address leave few places in the file where it can be. The
 * bias that all frames agree on is the only one it can be: it is used when exactly one is left, and
 * when none is left the text is of another build.
 */
#include "evidence/backtrace_join.h"

#include <string.h>

#include "common/error.h"

#define PLACES_MAX 64u

struct biases {
    uint64_t values[PLACES_MAX];
    size_t count;
    bool is_known; // else: any
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool joiner_is_program(const struct joiner *joiner, const struct backtrace_frame *frame)
{
    if (!frame->image || !joiner->program)
        return false;
    if (frame->build_id && joiner->build_id)
        return strcmp(frame->build_id, joiner->build_id) == 0;
    return strcmp(base_name(frame->image), joiner->program) == 0;
}

// Leaves what is in both; values that are no biases are none.
static void restrict_biases(struct biases *biases, const uint64_t *places, size_t count,
                            uint64_t address)
{
    size_t kept = 0;
    for (size_t i = 0; !biases->is_known && i < count; i++) {
        uint64_t bias = address - places[i];
        if (bias % LOCATE_PAGE == 0)
            biases->values[kept++] = bias;
    }
    for (size_t b = 0; biases->is_known && b < biases->count; b++) {
        bool is_there = false;
        for (size_t i = 0; i < count; i++)
            is_there |= address - places[i] == biases->values[b];
        if (is_there)
            biases->values[kept++] = biases->values[b];
    }
    biases->is_known = true;
    biases->count = kept;
}

// The last of the frames that share a physical one with frame i: those that gdb prints without an
// address, those that a sanitizer prints with the same one (or a recursion of it).
static uint32_t physical_frame(const struct backtrace_stack *stack, uint32_t i)
{
    const struct backtrace_frame *frames = stack->frames;
    while (i + 1 < stack->frame_count && !frames[i + 1].is_signal && !frames[i + 1].after_skipped &&
           (frames[i].pc_is_inside ? frames[i + 1].has_pc && frames[i + 1].pc == frames[i].pc
                                   : !frames[i + 1].has_pc))
        i++;
    return i;
}

static bool is_inside_another(const struct backtrace_stack *stack, uint32_t i)
{
    return i > 0 && stack->frames[i].pc_is_inside && stack->frames[i - 1].has_pc &&
           stack->frames[i - 1].pc == stack->frames[i].pc;
}

// What a frame with a name and an address says. Its code is in the function of the last frame that
// shares its physical one; in that of an earlier one where addresses are missing for another reason
// (`set print address off`).
static void restrict_by_name(struct joiner *joiner, const struct backtrace_stack *stack, uint32_t i,
                             struct biases *biases)
{
    const struct backtrace_frame *frame = &stack->frames[i];
    bool exact = frame->pc_is_inside || (i == 0 && frame->number == 0) ||
                 (i > 0 && stack->frames[i - 1].is_signal);
    bool is_known = false;
    size_t count = 0;
    uint64_t places[PLACES_MAX], lookup = frame->pc - !exact;
    if (!frame->function || !frame->line || is_inside_another(stack, i))
        return;
    for (uint32_t k = physical_frame(stack, i) + 1; k-- > i && count == 0;) {
        const struct backtrace_frame *physical = &stack->frames[k];
        struct locate_place place = {.physical = physical->function,
                                     .function = frame->function,
                                     .line = frame->line,
                                     .residue = lookup % LOCATE_PAGE};
        if (!physical->function ||
            !locator_has_function(joiner->locator, physical->function, physical->file))
            continue;
        is_known = true;
        count = locator_find(joiner->locator, &place, places, PLACES_MAX);
    }
    if (is_known && count <= PLACES_MAX)
        restrict_biases(biases, places, count, lookup);
}

static void restrict_by_frame(struct joiner *joiner, const struct backtrace_stack *stack,
                              uint32_t i, struct biases *biases)
{
    const struct backtrace_frame *frame = &stack->frames[i];
    uint64_t places[PLACES_MAX];
    if (frame->has_offset) {
        if (joiner_is_program(joiner, frame) && frame->has_pc)
            restrict_biases(biases, &frame->offset, 1, frame->pc);
        if (joiner_is_program(joiner, frame) && frame->file && frame->function)
            joiner->is_misfit |= !locator_agrees(joiner->locator, frame->offset, NULL, frame->line);
    } else if (frame->has_symbol_offset && joiner_is_program(joiner, frame)) {
        size_t count = locator_find_offset(joiner->locator, frame->function, frame->symbol_offset,
                                           places, PLACES_MAX);
        if (count > 0 && count <= PLACES_MAX)
            restrict_biases(biases, places, count, frame->pc);
    } else if (frame->has_pc && !frame->image)
        restrict_by_name(joiner, stack, i, biases);
}

static struct error *check_build_id(const struct joiner *joiner,
                                    const struct backtrace_frame *frame)
{
    if (!frame->build_id || !frame->image || !joiner->build_id || !joiner->program ||
        strcmp(base_name(frame->image), joiner->program) != 0 ||
        strcmp(frame->build_id, joiner->build_id) == 0)
        return NULL;
    return error_create(ERROR_MISMATCH,
                        "backtrace of another build of '%s': build-id %s, the program has %s",
                        joiner->program, frame->build_id, joiner->build_id);
}

struct error *joiner_find_bias(struct joiner *joiner)
{
    struct biases biases = {.is_known = joiner->locator && locator_is_fixed(joiner->locator)};
    biases.count = biases.is_known;
    for (uint32_t s = 0; s < joiner->backtrace->stack_count; s++) {
        const struct backtrace_stack *stack = &joiner->backtrace->stacks[s];
        for (uint32_t i = 0; i < stack->frame_count; i++) {
            struct error *err = check_build_id(joiner, &stack->frames[i]);
            if (err)
                return err;
            if (joiner->locator)
                restrict_by_frame(joiner, stack, i, &biases);
        }
    }
    joiner->is_misfit |= biases.is_known && biases.count == 0;
    joiner->has_bias = !joiner->is_misfit && biases.is_known && biases.count == 1;
    joiner->bias = joiner->has_bias ? biases.values[0] : 0;
    if (joiner->is_misfit)
        joiner_warn(joiner, "the text's addresses are not of this build of the program: names and "
                            "lines are used");
    return NULL;
}

// ---- The frames of a stack

static void place_frame(const struct joiner *joiner, struct join_frame *frame)
{
    const struct backtrace_frame *text = &frame->text;
    if (!joiner->locator || joiner->is_misfit)
        return;
    if (text->has_offset && joiner_is_program(joiner, text)) {
        frame->is_program = true;
        frame->address = text->offset;
    } else if (text->has_pc && joiner->has_bias &&
               (!text->image || joiner_is_program(joiner, text))) {
        frame->address = text->pc - joiner->bias;
        frame->is_program = locator_has(joiner->locator, frame->address);
    }
}

static bool is_trampoline(const struct joiner *joiner, const struct join_frame *frame)
{
    const struct backtrace_frame *text = &frame->text;
    if (text->is_signal)
        return true;
    const char *name = text->function;
    uint64_t at = text->pc_is_inside; // of the return address
    if (frame->is_program && !name)
        name = locator_symbol(joiner->locator, frame->address + at);
    if (name && (strstr(name, "restore_rt") || strstr(name, "rt_sigreturn")))
        return true;
    return !text->function && text->has_offset && !frame->is_program && text->image &&
           text->image[0] == '/' && locate_trampoline(text->image, text->offset + at);
}

// A lone frame of the C library without a name, between two of the program: its code tells only
// when that very library is at hand.
static bool may_be_trampoline(const struct join_frame *frames, uint32_t count, uint32_t i)
{
    const struct backtrace_frame *text = &frames[i].text;
    return i > 0 && i + 1 < count && !text->function && !frames[i].is_program && text->image &&
           frames[i - 1].is_program && frames[i + 1].is_program &&
           (strncmp(base_name(text->image), "libc", 4) == 0 ||
            strncmp(base_name(text->image), "libpthread", 10) == 0);
}

// Sanitizers print where the call is, not where it returns to, but for a deadly signal's first
// frame.
static void settle_address(const struct joiner *joiner, struct join_frame *frame, bool is_first)
{
    if (!frame->text.pc_is_inside || !frame->is_program)
        return;
    bool is_deadly = joiner->backtrace->signal.number != 0;
    if (!is_first || !frame->interrupted)
        frame->address++;
    else
        frame->is_inside = !is_deadly;
}

void joiner_place(struct joiner *joiner, struct join_frame *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        place_frame(joiner, &frames[i]);
    for (uint32_t i = 0; i < count; i++) {
        frames[i].text.is_signal = is_trampoline(joiner, &frames[i]);
        if (!frames[i].text.is_signal && joiner->backtrace->dialect != BACKTRACE_GDB)
            frames[i].may_be_signal = may_be_trampoline(frames, count, i);
        bool is_innermost =
            i == 0 && frames[i].text.number == 0 && joiner->backtrace->dialect != BACKTRACE_GLIBC;
        frames[i].interrupted =
            is_innermost || (i > 0 && !frames[i].text.after_skipped &&
                             (frames[i - 1].text.is_signal || frames[i - 1].may_be_signal));
        settle_address(joiner, &frames[i], i == 0);
    }
}
