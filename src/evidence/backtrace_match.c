// SPDX-License-Identifier: Apache-2.0
/*
 * From names and lines to nodes, where a frame's address is not known.
 *
 * Requires a complete model, for its callees. What is claimed:
 *
 *   - A frame that waits stands at a call whose instruction has the line; of library code also at
 *     any other instruction of the line, since compilers make calls of their own.
 *   - An interrupted frame stands at an instruction of the line, without optimisation. With it
 *     instructions move: a fault's by no more than to where control goes for certain or has come
 *     from for certain, any other one's to anywhere in the function.
 *   - With optimisation some code has no line, and gdb makes one up: where that can be, the line
 *     tells nothing.
 */
#include "evidence/backtrace_join.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "layout/section.h"
#include "program/path_number.h"

#define ROWS_MAX 256u

VEC_DEFINE(join_function_vec, struct function_id);

struct function_id joiner_function(const struct joiner *joiner, const struct evidence_frame *frame)
{
    struct module_id module;
    struct function_id function = {MODEL_NONE};
    if (frame->kind != EVIDENCE_FRAME_MODEL ||
        !model_find_module(joiner->model, frame->function.module_id, &module) ||
        !model_find_function(joiner->model, module, frame->function.index, &function))
        function.value = MODEL_NONE;
    return function;
}

struct evidence_nodes joiner_nodes(struct joiner *joiner, const uint8_t *marks, uint32_t count)
{
    uint32_t *nodes = arena_alloc_array(&joiner->evidence->arena, count + 1u, uint32_t), kept = 0;
    for (uint32_t n = 0; n < count; n++) {
        if (marks[n])
            nodes[kept++] = n;
    }
    return (struct evidence_nodes){nodes, kept};
}

static bool is_optimized(const struct joiner *joiner, struct function_id function)
{
    return !(model_function(joiner->model, function)->flags & FUNCTION_OPTNONE);
}

// ---- Which function

// Is one path the end of the other, at components?
static bool paths_agree(const char *a, const char *b)
{
    while (a[0] == '.' && a[1] == '/')
        a += 2;
    while (b[0] == '.' && b[1] == '/')
        b += 2;
    size_t long_length = strlen(a), length = strlen(b);
    const char *longer = a, *shorter = b;
    if (length > long_length) {
        longer = b;
        shorter = a;
        length = long_length;
        long_length = strlen(longer);
    }
    if (strcmp(longer + long_length - length, shorter) != 0)
        return false;
    return length == long_length || longer[long_length - length - 1] == '/' || shorter[0] == '/';
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

enum likeness { UNLIKE, SAME_BASE_NAME, SAME_FILE };

static enum likeness file_likeness(const struct joiner *joiner, struct function_id function,
                                   const char *file)
{
    const char *path =
        model_file_path(joiner->model, model_function(joiner->model, function)->file);
    if (!path || !file || paths_agree(path, file))
        return SAME_FILE;
    return strcmp(base_name(path), base_name(file)) == 0 ? SAME_BASE_NAME : UNLIKE;
}

static const struct place *insn_place(const struct code *code, uint32_t insn)
{
    return code_place(code, code->insns[insn].place);
}

static bool is_on(const struct place *place, uint32_t line, uint32_t column)
{
    return place && place->line == line && (!column || place->column == column);
}

// Has the node an instruction there? `call_only`: is it the call that ends it?
static bool node_is_on(const struct joiner *joiner, struct node_id id, uint32_t line,
                       uint32_t column, bool call_only)
{
    const struct model *model = joiner->model;
    const struct model_node *node = model_node(model, id);
    const struct code *code = model_code(model, node->function);
    if (call_only && node->site.value == MODEL_NONE)
        return false;
    if (!code)
        return true; // a model without instructions has the first line of a node only
    const struct code_node *in = model_code_node(model, id);
    if (call_only)
        return is_on(insn_place(code, code->sites[in->site].insn), line, column);
    for (uint32_t i = in->first_insn; i < in->first_insn + in->insn_count; i++) {
        if (is_on(insn_place(code, i), line, column))
            return true;
    }
    return false;
}

static bool function_has_line(const struct joiner *joiner, struct function_id function,
                              uint32_t line)
{
    const struct model_function *f = model_function(joiner->model, function);
    for (uint32_t n = 0; n < f->node_count; n++) {
        if (node_is_on(joiner, (struct node_id){f->first_node + n}, line, 0, false))
            return true;
    }
    return false;
}

static bool set_has(struct function_list set, struct function_id function)
{
    for (uint32_t i = 0; i < set.count; i++) {
        if (set.data[i].value == function.value)
            return true;
    }
    return false;
}

// May this call enter the function, itself or through library code that leaves no frame?
static bool site_may_enter(const struct joiner *joiner, struct site_id site,
                           struct function_id function)
{
    return set_has(model_callees(joiner->model, site), function) ||
           set_has(model_callbacks(joiner->model, site), function);
}

// Keeps those of the functions that `keep` says, unless it is none.
static void filter(struct join_function_vec *functions, const bool *keep)
{
    size_t kept = 0;
    for (size_t i = 0; i < functions->length; i++)
        kept += keep[i];
    if (kept == 0)
        return;
    kept = 0;
    for (size_t i = 0; i < functions->length; i++) {
        if (keep[i])
            functions->data[kept++] = functions->data[i];
    }
    functions->length = kept;
}

// Can a call on the line of the outer frame enter the function?
static bool outer_calls(const struct joiner *joiner, const struct backtrace_frame *outer,
                        struct function_id function)
{
    struct function_id *callers;
    uint32_t count = model_find_name(joiner->model, outer->function, &callers);
    bool calls = false;
    for (uint32_t c = 0; c < count && !calls; c++) {
        const struct model_function *f = model_function(joiner->model, callers[c]);
        for (uint32_t s = 0; s < f->site_count && !calls; s++) {
            struct site_id site = {f->first_site + s};
            calls =
                node_is_on(joiner, model_site(joiner->model, site)->node, outer->line, 0, true) &&
                site_may_enter(joiner, site, function);
        }
    }
    free(callers);
    return calls;
}

// All functions that the text can mean.
static void find_functions(struct joiner *joiner, const struct backtrace_frame *text,
                           struct join_function_vec *functions)
{
    struct function_id *all;
    uint32_t count = model_find_name(joiner->model, text->function, &all);
    enum likeness best = UNLIKE;
    for (uint32_t i = 0; i < count; i++) {
        enum likeness like = file_likeness(joiner, all[i], text->file);
        const struct model_function *f = model_function(joiner->model, all[i]);
        // a file of the same name elsewhere: moved, or of a library
        if (like == SAME_BASE_NAME && text->line && !function_has_line(joiner, all[i], text->line))
            like = UNLIKE;
        if (like == UNLIKE || like < best || f->linked == LINKED_NO ||
            (f->flags & FUNCTION_AVAILABLE_EXTERNALLY))
            continue;
        if (like > best)
            join_function_vec_clear(functions);
        best = like;
        join_function_vec_push(functions, all[i]);
    }
    free(all);
}

// Several static functions of one name: the one that has the line, and is called where the text
// says.
static void narrow_functions(struct joiner *joiner, const struct backtrace_frame *text,
                             const struct backtrace_frame *outer,
                             struct join_function_vec *functions)
{
    if (functions->length < 2)
        return;
    bool *keep = xcalloc(functions->length + 1, sizeof(*keep));
    for (size_t i = 0; text->line && i < functions->length; i++)
        keep[i] = function_has_line(joiner, functions->data[i], text->line);
    filter(functions, keep);
    memset(keep, 0, functions->length * sizeof(*keep));
    for (size_t i = 0; outer && outer->function && outer->line && !outer->after_skipped &&
                       functions->length > 1 && i < functions->length;
         i++)
        keep[i] = outer_calls(joiner, outer, functions->data[i]);
    filter(functions, keep);
    free(keep);
}

// A report that has a place and no function: the one function with code there.
static void find_by_place(struct joiner *joiner, const struct backtrace_frame *text,
                          struct join_function_vec *functions)
{
    struct node_id *nodes;
    uint32_t count = model_find_line(joiner->model, text->file, text->line, true, &nodes);
    for (uint32_t i = 0; i < count; i++) {
        struct function_id function = model_node(joiner->model, nodes[i])->function;
        if (node_is_on(joiner, nodes[i], text->line, text->column, false) &&
            (functions->length == 0 ||
             functions->data[functions->length - 1].value != function.value))
            join_function_vec_push(functions, function);
    }
    free(nodes);
}

// ---- Which nodes

// Marks the nodes of the function that fit; how many.
static uint32_t mark_line(struct joiner *joiner, struct function_id function, uint32_t line,
                          uint32_t column, bool call_only, uint8_t *marks)
{
    const struct path_numbering *numbers = model_numbering(joiner->model, function);
    uint32_t count = model_function(joiner->model, function)->node_count, marked = 0;
    for (uint32_t n = 0; n < count; n++) {
        struct node_id node = model_node_at(joiner->model, function, n);
        bool fits = line ? node_is_on(joiner, node, line, column, call_only)
                         : !call_only || model_node(joiner->model, node)->site.value != MODEL_NONE;
        marks[n] = path_reachable(numbers, n) && fits;
        marked += marks[n];
    }
    return marked;
}

// Everything that control can go on to from a marked node; `backwards`: nodes from which control
// goes to a marked one for certain.
static void spread(const struct joiner *joiner, struct function_id function, bool backwards,
                   uint8_t *marks)
{
    const struct model_function *f = model_function(joiner->model, function);
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < f->node_count; i++) {
            uint32_t n = backwards ? f->node_count - 1 - i : i;
            struct node_list next =
                model_successors(joiner->model, (struct node_id){f->first_node + n});
            for (uint32_t k = 0; k < next.count; k++) {
                uint32_t to = next.data[k].value - f->first_node;
                uint8_t *from_mark = &marks[backwards ? to : n], *mark = &marks[backwards ? n : to];
                if (*from_mark && !*mark && (!backwards || next.count == 1))
                    *mark = changed = true;
            }
        }
    }
}

static bool is_fault(const struct joiner *joiner)
{
    int number = joiner->evidence->signal.number;
    return joiner->backtrace->dialect != BACKTRACE_GDB || number == SIGSEGV || number == SIGBUS ||
           number == SIGFPE || number == SIGILL;
}

// gdb prints no address where the next instruction is the first of a line: of which rows, debug
// information tells. False: it is of no use here.
static bool mark_rows(struct joiner *joiner, struct function_id function,
                      const struct join_frame *frame, uint8_t *marks)
{
    uint64_t rows[ROWS_MAX];
    uint32_t node_count = model_function(joiner->model, function)->node_count;
    if (!joiner->has_bias || frame->text.has_pc || joiner->backtrace->dialect != BACKTRACE_GDB ||
        locator_has_inlined(joiner->locator, frame->text.function, frame->text.line))
        return false;
    size_t count =
        locator_find_rows(joiner->locator, frame->text.function, frame->text.line, rows, ROWS_MAX);
    bool any = false;
    memset(marks, 0, node_count);
    for (size_t i = 0; count <= ROWS_MAX && i < count; i++) {
        struct locate_stop stop = {.pc = rows[i], .interrupted = true};
        struct located located = locator_at(joiner->locator, &stop);
        if (located.is_doubtful)
            return false;
        if (located.count == 0 ||
            joiner_function(joiner, &located.frames[0]).value != function.value)
            continue;
        any = true;
        for (uint32_t k = 0; k < located.frames[0].candidates.count; k++)
            marks[located.frames[0].candidates.nodes[k]] = 1;
    }
    return any;
}

// Can the line of a frame be relied on? gdb gives code that has none the line of the code before
// it.
static bool is_certain(const struct joiner *joiner, struct function_id function,
                       const struct backtrace_frame *text)
{
    if (!is_optimized(joiner, function) || joiner->backtrace->dialect != BACKTRACE_GDB)
        return true;
    return joiner->locator && !joiner->is_misfit && text->function &&
           locator_is_certain(joiner->locator, text->function, text->line);
}

static const char *mark_interrupted(struct joiner *joiner, struct function_id function,
                                    const struct join_frame *frame, uint8_t *marks)
{
    const struct backtrace_frame *text = &frame->text;
    bool optimized = is_optimized(joiner, function);
    if (optimized && mark_rows(joiner, function, frame, marks))
        return "line";
    uint32_t found = mark_line(joiner, function, text->line, text->column, false, marks);
    if (!found && text->column)
        found = mark_line(joiner, function, text->line, 0, false, marks);
    if (!found && text->line)
        joiner_warn(joiner, "'%s' has no code on line %u: every place in it is possible",
                    text->function ? text->function : "??", text->line);
    if (!found || !text->line || (optimized && !is_fault(joiner)) ||
        !is_certain(joiner, function, text)) {
        mark_line(joiner, function, 0, 0, false, marks);
        return "function";
    }
    if (optimized) {
        spread(joiner, function, true, marks);
        spread(joiner, function, false, marks);
    }
    return "line";
}

static const char *mark_waiting(struct joiner *joiner, struct function_id function,
                                const struct backtrace_frame *text, bool calls_model,
                                uint8_t *marks)
{
    uint32_t found = mark_line(joiner, function, text->line, text->column, calls_model, marks);
    if (!found && text->column)
        found = mark_line(joiner, function, text->line, 0, calls_model, marks);
    if (found && text->line && is_certain(joiner, function, text))
        return "line";
    if (!found && text->line)
        joiner_warn(joiner, "'%s' has no call on line %u: every call in it is possible",
                    text->function ? text->function : "??", text->line);
    if (!mark_line(joiner, function, 0, 0, calls_model, marks))
        mark_line(joiner, function, 0, 0, false, marks);
    return "function";
}

// Of the nodes marked those that may call the inner frame's function, where it is certain that it
// was called from here.
static void narrow_to_callers(struct joiner *joiner, struct function_id function,
                              const struct evidence_frame *inner, uint8_t *marks)
{
    const struct model_function *f = model_function(joiner->model, function);
    struct function_id callee = joiner_function(joiner, inner);
    uint8_t *kept = xcalloc(f->node_count + 1u, 1);
    bool any = false;
    for (uint32_t n = 0; n < f->node_count && callee.value != MODEL_NONE; n++) {
        struct site_id site = model_node(joiner->model, (struct node_id){f->first_node + n})->site;
        kept[n] = marks[n] && site.value != MODEL_NONE && site_may_enter(joiner, site, callee);
        any |= kept[n];
    }
    if (any)
        memcpy(marks, kept, f->node_count);
    free(kept);
}

static void fill_frame(struct joiner *joiner, struct function_id function,
                       const struct join_frame *frame, struct evidence_frame *ret)
{
    struct arena *arena = &joiner->evidence->arena;
    const struct backtrace_frame *text = &frame->text;
    const struct model_function *f = model_function(joiner->model, function);
    const char *path = model_file_path(joiner->model, f->file);
    *ret = (struct evidence_frame){
        .kind = EVIDENCE_FRAME_MODEL,
        .function = {model_module(joiner->model, f->module)->id, f->index,
                     arena_strdup(arena, text->function ? text->function : f->source_name)},
        .pc = text->has_pc ? text->pc : 0,
        .interrupted = frame->interrupted,
        .place = {NULL, text->line, text->column},
    };
    if (text->file)
        ret->place.file = arena_strdup(
            arena,
            path && text->file[0] != '/' && paths_agree(path, text->file) ? path : text->file);
    else if (path)
        ret->place.file = arena_strdup(arena, path);
    if (model_shape(joiner->model, function).words) {
        ret->record = EVIDENCE_RECORD_UNTOLD;
        ret->record_note = "a backtrace has no records";
    }
}

// Is it in a source file of the program? Then it is a function of the model under another name.
static bool is_own_source(const struct joiner *joiner, const struct backtrace_frame *text)
{
    if (!text->file || (text->image && !joiner_is_program(joiner, text)))
        return false;
    for (uint32_t m = 0; m < joiner->model->module_count; m++) {
        const char *source = joiner->model->modules[m].source;
        if (source && paths_agree(source, text->file))
            return true;
    }
    return false;
}

bool joiner_match(struct joiner *joiner, const struct join_frame *frame,
                  const struct join_frame *outer, const struct evidence_frame *inner,
                  struct evidence_frame *ret, bool *is_unknown)
{
    const struct backtrace_frame *text = &frame->text;
    struct join_function_vec functions = VEC_INIT;
    *is_unknown = false;
    if (text->function && (!text->image || joiner_is_program(joiner, text))) {
        find_functions(joiner, text, &functions);
        narrow_functions(joiner, text, outer ? &outer->text : NULL, &functions);
    } else if (!text->function && text->file && text->line)
        find_by_place(joiner, text, &functions);
    if (functions.length != 1) {
        *is_unknown = functions.length > 1 || is_own_source(joiner, text);
        join_function_vec_deinit(&functions);
        return false;
    }
    struct function_id function = functions.data[0];
    join_function_vec_deinit(&functions);
    uint32_t node_count = model_function(joiner->model, function)->node_count;
    if (node_count == 0)
        return false;
    uint8_t *marks = xcalloc(node_count + 1u, 1);
    fill_frame(joiner, function, frame, ret);
    ret->candidates_from = frame->interrupted
                               ? mark_interrupted(joiner, function, frame, marks)
                               : mark_waiting(joiner, function, text, inner != NULL, marks);
    ret->candidates = joiner_nodes(joiner, marks, node_count);
    if (inner && !frame->interrupted && !joiner_match_gap(joiner, ret, inner)) {
        narrow_to_callers(joiner, function, inner, marks);
        ret->candidates = joiner_nodes(joiner, marks, node_count);
    }
    free(marks);
    return ret->candidates.count > 0;
}

// ---- Gaps

// May a tail call of some function lead to this one? Debug information knows, where it is of use.
static bool may_be_tail_called(struct joiner *joiner, const struct evidence_frame *inner)
{
    uint64_t start;
    const struct model *model = joiner->model;
    if (joiner->locator && !joiner->is_misfit &&
        locator_find_offset(joiner->locator, inner->function.name, 0, &start, 1) == 1) {
        struct locate_stop stop = {.pc = start, .interrupted = true};
        if (locator_gap(joiner->locator, 0, &stop, inner->function.name))
            return true;
        for (uint32_t f = 0; f < model->function_count; f++) {
            if (model->functions[f].flags & FUNCTION_MUSTTAIL)
                return true;
        }
        return false;
    }
    for (uint32_t f = 0; f < model->function_count; f++) {
        if (!(model->functions[f].flags & FUNCTION_OPTNONE) ||
            (model->functions[f].flags & FUNCTION_MUSTTAIL))
            return true;
    }
    return false;
}

bool joiner_match_gap(struct joiner *joiner, const struct evidence_frame *outer,
                      const struct evidence_frame *inner)
{
    struct function_id callee = joiner_function(joiner, inner);
    struct function_id function = joiner_function(joiner, outer);
    bool any = false;
    if (callee.value == MODEL_NONE)
        return true;
    for (uint32_t i = 0; function.value != MODEL_NONE && i < outer->candidates.count; i++) {
        struct site_id site = model_node(joiner->model, model_node_at(joiner->model, function,
                                                                      outer->candidates.nodes[i]))
                                  ->site;
        any |= site.value != MODEL_NONE && site_may_enter(joiner, site, callee);
    }
    // what it waits for has called this one: frames are not there
    if (function.value != MODEL_NONE && !any)
        return true;
    // it may have been made a loop where it was inlined
    const struct model_function *called = model_function(joiner->model, callee);
    if (called->record_flags & SECTION_FUNCTION_RECURSIVE && !(called->flags & FUNCTION_OPTNONE))
        return true;
    return may_be_tail_called(joiner, inner);
}

void joiner_widen(struct joiner *joiner, struct evidence_frame *frame)
{
    struct function_id function = joiner_function(joiner, frame);
    if (function.value == MODEL_NONE)
        return;
    uint32_t node_count = model_function(joiner->model, function)->node_count;
    uint8_t *marks = xcalloc(node_count + 1u, 1);
    for (uint32_t i = 0; i < frame->candidates.count; i++)
        marks[frame->candidates.nodes[i]] = 1;
    spread(joiner, function, false, marks);
    frame->candidates = joiner_nodes(joiner, marks, node_count);
    frame->candidates_from = "ahead";
    frame->interrupted = true;
    free(marks);
}
