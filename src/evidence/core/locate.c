// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/locate.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "evidence/core/decode_internal.h"
#include "evidence/core/modules_internal.h"

struct locator {
    struct decoder decoder; // without a core
    struct module *module;
    struct debug_info *info;
    bool has_tails;     // what follows is known
    bool tails_outside; // some tail call leads to a function without code here, or to any
};

struct error *locator_create(const char *executable, const char *const *directories,
                             struct model *model, struct evidence *evidence, struct locator **ret)
{
    struct locator *locator = xcalloc(1, sizeof(*locator));
    locator->decoder.model = model;
    locator->decoder.evidence = evidence;
    struct error *err = modules_open_file(executable, directories, &locator->decoder.modules);
    if (!err) {
        locator->module = modules_executable(locator->decoder.modules);
        err = debug_info_open(locator->module, &locator->info);
    }
    if (!err)
        decode_find_coverage(&locator->decoder);
    if (err) {
        locator_destroy(locator);
        return err;
    }
    *ret = locator;
    return NULL;
}

void locator_destroy(struct locator *locator)
{
    if (!locator)
        return;
    address_map_deinit(&locator->decoder.addresses);
    scope_map_deinit(&locator->decoder.functions);
    decode_forget_code(&locator->decoder);
    coverage_place_vec_deinit(&locator->decoder.coverage);
    name_set_deinit(&locator->decoder.tail_targets);
    name_set_deinit(&locator->decoder.tail_callers);
    scope_flags_deinit(&locator->decoder.gaps);
    warning_vec_deinit(&locator->decoder.warnings);
    modules_destroy(locator->decoder.modules);
    free(locator);
}

bool locator_is_fixed(const struct locator *locator)
{
    GElf_Ehdr header;
    return gelf_getehdr(locator->module->elf, &header) && header.e_type == ET_EXEC;
}

const char *locator_build_id(const struct locator *locator)
{
    const struct module_info *info = module_info(locator->module);
    if (!info->build_id)
        return NULL;
    char *text = arena_alloc(&locator->decoder.evidence->arena, 2 * info->build_id_size + 1);
    for (size_t i = 0; i < info->build_id_size; i++)
        snprintf(text + 2 * i, 3, "%02x", info->build_id[i]);
    return text;
}

size_t locator_warning_count(const struct locator *locator)
{
    return locator->decoder.warnings.length;
}

const char *locator_warning_at(const struct locator *locator, size_t index)
{
    return *warning_vec_at(&locator->decoder.warnings, index);
}

// ---- Frames

static uint64_t lookup_address(const struct locate_stop *stop)
{
    return stop->interrupted || stop->is_inside ? stop->pc : stop->pc - 1;
}

static const struct address_info *address_of(struct locator *locator,
                                             const struct locate_stop *stop)
{
    return decode_address(&locator->decoder, locator->module, lookup_address(stop),
                          stop->interrupted && !stop->is_inside);
}

// The call around an address inside of it, where it is the usual `call rel32`; else the address.
static uint64_t start_of_call(const struct locator *locator, uint64_t inside)
{
    unsigned char byte = 0;
    if (inside >= 4 && modules_read(locator->decoder.modules, inside - 4, &byte, 1) == 1 &&
        byte == 0xe8)
        return inside - 4;
    return inside;
}

// Without a record it is the machine code that tells whether the instruction of a row was moved
// (decode_machine.c). False: control stands elsewhere for sure; then `nodes` are all that it can
// be.
static bool check_machine(struct locator *locator, const struct stop *stop,
                          const struct position *position, struct evidence_nodes *nodes)
{
    struct decoder *decoder = &locator->decoder;
    uint32_t total = model_function(decoder->model, position->function)->node_count, count = 0;
    uint8_t *between = NULL;
    bool agrees = false, moved = false;
    if (stop->interrupted && position->source != POSITION_PROLOGUE &&
        position->source != POSITION_UNKNOWN && function_is_optimized(decoder, position->function))
        between = decode_between(decoder, stop, position, &moved);
    *nodes = position->nodes;
    for (uint32_t n = 0; between && n < total; n++)
        count += between[n] != 0;
    for (uint32_t i = 0; between && i < nodes->count; i++)
        agrees |= between[nodes->nodes[i]] && !(stop->asynchronous && moved);
    if (count == 0 || agrees) {
        free(between);
        return true;
    }
    uint32_t *all = xmalloc_array(total + 1u, sizeof(*all));
    count = 0;
    for (uint32_t i = 0; i < nodes->count; i++)
        between[nodes->nodes[i]] = 1;
    for (uint32_t n = 0; n < total; n++)
        if (between[n])
            all[count++] = n;
    *nodes = decode_nodes(decoder, all, count);
    free(all);
    free(between);
    return false;
}

static const char *source_name(const struct position *position, uint32_t depth, bool agrees)
{
    static const char *const names[] = {"discriminator", "edge", "line", "prologue", "unknown"};
    return !agrees ? "machine" : depth ? "call" : names[position->source];
}

static void model_frame(struct locator *locator, const struct stop *stop,
                        const struct position *position, uint32_t depth, bool *agrees,
                        struct evidence_frame *frame)
{
    struct model *model = locator->decoder.model;
    const struct model_function *function = model_function(model, position->function);
    frame->kind = EVIDENCE_FRAME_MODEL;
    frame->function.module_id = model_module(model, function->module)->id;
    frame->function.index = function->index;
    *agrees = check_machine(locator, stop, position, &frame->candidates);
    frame->candidates_from = source_name(position, depth, *agrees);
    if (model_shape(model, position->function).words) {
        frame->record = EVIDENCE_RECORD_UNTOLD;
        frame->record_note = "a backtrace has no records";
    }
}

struct located locator_at(struct locator *locator, const struct locate_stop *stop)
{
    const struct address_info *info = address_of(locator, stop);
    struct arena *arena = &locator->decoder.evidence->arena;
    struct unwind_frame unwound = {
        .pc = stop->is_inside ? start_of_call(locator, stop->pc) : stop->pc,
        .module = locator->module,
        .flags = stop->interrupted ? UNWIND_EXACT : 0};
    struct stop here = {.unwound = &unwound,
                        .physical = info->physical,
                        .interrupted = stop->interrupted,
                        .asynchronous = stop->asynchronous,
                        .callee = stop->callee};
    if (info->count && !stop->interrupted && !stop->is_inside && stop->callee) {
        here.is_call_site = decode_is_call_site(&unwound);
        here.holds = decode_waits_at_site(&locator->decoder, &here, &info->positions[0]);
        if (decode_is_moved_call(&locator->decoder, &here, &info->positions[0], &unwound.pc)) {
            unwound.flags |= UNWIND_EXACT;
            here.interrupted = here.asynchronous = true;
        }
    }
    const char **names = arena_alloc_array(arena, info->count + 1u, const char *);
    struct located located = {
        .frames = arena_alloc_array(arena, info->count + 1u, struct evidence_frame),
        .names = names,
        .depth = info->count};
    for (uint32_t d = 0; d < info->count; d++) {
        const struct position *position = &info->positions[d];
        bool agrees = true;
        names[d] = position->name;
        struct evidence_frame frame = {.kind = EVIDENCE_FRAME_FOREIGN,
                                       .function.name = position->name,
                                       .inlined = d + 1 < info->count,
                                       .interrupted = here.interrupted,
                                       .place = position->place,
                                       .gap = position->repeats};
        if (position->function.value != MODEL_NONE)
            model_frame(locator, &here, position, d, &agrees, &frame);
        if (d && !agrees) {
            located.count = 0;
            located.is_doubtful = true;
            frame.place.line = frame.place.column = 0;
        }
        located.frames[located.count++] = frame;
    }
    return located;
}

const char *locator_symbol(struct locator *locator, uint64_t address)
{
    struct module_symbol symbol;
    if (!module_symbol_at(locator->module, address, &symbol))
        return NULL;
    return arena_strdup(&locator->decoder.evidence->arena, symbol.name);
}

// ---- Gaps

static bool has_code(struct locator *locator, const char *name)
{
    for (size_t u = 0; u < debug_info_unit_count(locator->info); u++)
        if (debug_unit_function(debug_info_unit_at(locator->info, u), name))
            return true;
    return false;
}

static void read_tails(struct locator *locator)
{
    locator->has_tails = true;
    for (size_t u = 0; u < debug_info_unit_count(locator->info); u++) {
        struct debug_unit *unit = debug_info_unit_at(locator->info, u);
        for (size_t f = 0; f < debug_unit_function_count(unit); f++) {
            size_t count;
            const struct debug_call_site *sites =
                debug_function_call_sites(debug_unit_function_at(unit, f), &count);
            for (size_t i = 0; i < count && !locator->tails_outside; i++)
                locator->tails_outside =
                    sites[i].is_tail && (!sites[i].target || !has_code(locator, sites[i].target));
        }
    }
}

// A library function runs. Was it called from the frame itself, or by a tail call of a function of
// the program that the frame called?
static bool gap_to_library(struct locator *locator, uint64_t caller)
{
    const struct debug_call_site *site = debug_call_site_at(locator->info, caller);
    if (!locator->has_tails)
        read_tails(locator);
    if (!locator->tails_outside)
        return false;
    return !site || !site->target || has_code(locator, site->target);
}

bool locator_gap(struct locator *locator, uint64_t caller, const struct locate_stop *callee,
                 const char *name)
{
    if (strstr(name, "longjmp"))
        return true;
    if (callee->pc == 0 || !address_of(locator, callee)->physical)
        return caller != 0 && gap_to_library(locator, caller);
    const struct address_info *info = address_of(locator, callee);
    if (info->positions[info->count - 1].repeats)
        return true;
    struct unwind_frame outer = {.pc = caller, .module = caller ? locator->module : NULL};
    struct unwind_frame inner = {.pc = callee->pc,
                                 .module = locator->module,
                                 .flags = callee->interrupted ? UNWIND_EXACT : 0};
    return decode_gap(&locator->decoder, &outer, &inner, name);
}

// ---- Searching

static void found(uint64_t address, uint64_t *ret, size_t room, size_t *count)
{
    if (*count < room)
        ret[*count] = address;
    ++*count;
}

bool locator_has(const struct locator *locator, uint64_t address)
{
    const struct module_info *info = module_info(locator->module);
    return address >= info->start && address < info->end;
}

bool locator_agrees(struct locator *locator, uint64_t address, const char *function, uint32_t line)
{
    struct debug_row row;
    const struct debug_scope *scope = debug_scope_at(locator->info, address);
    if (!scope || (function && strcmp(scope->name, function) != 0))
        return false;
    if (!line || !debug_row_at(locator->info, address, &row))
        return !line;
    // gdb takes code that has no line for the line of the code before it
    return row.line == line || row.line == 0;
}

// Every function of that name, with its ranges of code.
typedef void visit_function(struct locator *locator, const struct debug_scope *scopes, size_t count,
                            void *context);

static void each_function(struct locator *locator, const char *name, visit_function *visit,
                          void *context)
{
    for (size_t u = 0; u < debug_info_unit_count(locator->info); u++) {
        struct debug_function *function =
            debug_unit_function(debug_info_unit_at(locator->info, u), name);
        size_t count = 0;
        const struct debug_scope *scopes =
            function ? debug_function_scopes(function, &count) : NULL;
        if (count)
            visit(locator, scopes, count, context);
    }
}

struct search {
    const struct locate_place *place;
    const char *file;
    const char *function;
    uint32_t line;
    uint64_t offset;
    uint64_t *ret;
    size_t room, count;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void visit_file(struct locator *locator, const struct debug_scope *scopes, size_t count,
                       void *context)
{
    struct search *search = context;
    (void)locator;
    (void)count;
    search->count += !search->file || !scopes[0].file ||
                     strcmp(base_name(scopes[0].file), base_name(search->file)) == 0;
}

bool locator_has_function(struct locator *locator, const char *function, const char *file)
{
    struct search search = {.file = file};
    each_function(locator, function, visit_file, &search);
    return search.count > 0;
}

static void visit_residues(struct locator *locator, const struct debug_scope *scopes, size_t count,
                           void *context)
{
    struct search *search = context;
    (void)count;
    for (uint32_t r = 0; r < scopes[0].range_count; r++) {
        const struct debug_range *range = &scopes[0].ranges[r];
        uint64_t at = (range->start & ~(LOCATE_PAGE - 1)) | search->place->residue;
        for (at += at < range->start ? LOCATE_PAGE : 0; at < range->end; at += LOCATE_PAGE)
            if (locator_agrees(locator, at, search->place->function, search->place->line))
                found(at, search->ret, search->room, &search->count);
    }
}

size_t locator_find(struct locator *locator, const struct locate_place *place, uint64_t *ret,
                    size_t room)
{
    struct search search = {.place = place, .ret = ret, .room = room};
    each_function(locator, place->physical, visit_residues, &search);
    return search.count;
}

static void visit_offset(struct locator *locator, const struct debug_scope *scopes, size_t count,
                         void *context)
{
    struct search *search = context;
    (void)locator;
    (void)count;
    if (scopes[0].range_count)
        found(scopes[0].ranges[0].start + search->offset, search->ret, search->room,
              &search->count);
}

size_t locator_find_offset(struct locator *locator, const char *function, uint64_t offset,
                           uint64_t *ret, size_t room)
{
    struct search search = {.offset = offset, .ret = ret, .room = room};
    each_function(locator, function, visit_offset, &search);
    return search.count;
}

// Calls `visit` with every function of the program.
static void each_code(struct locator *locator, visit_function *visit, void *context)
{
    for (size_t u = 0; u < debug_info_unit_count(locator->info); u++) {
        struct debug_unit *unit = debug_info_unit_at(locator->info, u);
        for (size_t f = 0; f < debug_unit_function_count(unit); f++) {
            size_t count;
            const struct debug_scope *scopes =
                debug_function_scopes(debug_unit_function_at(unit, f), &count);
            if (count)
                visit(locator, scopes, count, context);
        }
    }
}

static void visit_rows(struct locator *locator, const struct debug_scope *scopes, size_t count,
                       void *context)
{
    struct search *search = context;
    for (size_t s = 0; s < count; s++) {
        for (uint32_t r = 0;
             strcmp(scopes[s].name, search->function) == 0 && r < scopes[s].range_count; r++) {
            size_t rows_count;
            struct debug_row *rows = debug_rows_in(locator->info, scopes[s].ranges[r].start,
                                                   scopes[s].ranges[r].end, &rows_count);
            for (size_t i = 0; i < rows_count; i++)
                if (rows[i].line == search->line &&
                    debug_scope_at(locator->info, rows[i].start) == &scopes[s])
                    found(rows[i].start, search->ret, search->room, &search->count);
            free(rows);
        }
    }
}

size_t locator_find_rows(struct locator *locator, const char *function, uint32_t line,
                         uint64_t *ret, size_t room)
{
    struct search search = {.function = function, .line = line, .ret = ret, .room = room};
    each_code(locator, visit_rows, &search);
    return search.count;
}

// Code without a line that follows code of this line.
static void visit_unlined(struct locator *locator, const struct debug_scope *scopes, size_t count,
                          void *context)
{
    struct search *search = context;
    for (uint32_t r = 0; count && r < scopes[0].range_count; r++) {
        size_t rows_count;
        struct debug_row *rows = debug_rows_in(locator->info, scopes[0].ranges[r].start,
                                               scopes[0].ranges[r].end, &rows_count);
        uint32_t line = search->line; // of the function before: it can be any
        for (size_t i = 0; i < rows_count; i++) {
            const struct debug_scope *scope = debug_scope_at(locator->info, rows[i].start);
            if (rows[i].line)
                line = rows[i].line;
            else if (line == search->line && scope && !strcmp(scope->name, search->function))
                search->count++;
        }
        free(rows);
    }
}

bool locator_is_certain(struct locator *locator, const char *function, uint32_t line)
{
    struct search search = {.function = function, .line = line};
    each_code(locator, visit_unlined, &search);
    return search.count == 0;
}

static void visit_inlined(struct locator *locator, const struct debug_scope *scopes, size_t count,
                          void *context)
{
    struct search *search = context;
    (void)locator;
    for (size_t s = 1; s < count; s++)
        search->count += scopes[s].parent && scopes[s].call_line == search->line &&
                         strcmp(scopes[s].parent->name, search->function) == 0;
}

bool locator_has_inlined(struct locator *locator, const char *function, uint32_t line)
{
    struct search search = {.function = function, .line = line};
    each_code(locator, visit_inlined, &search);
    return search.count > 0;
}

bool locate_trampoline(const char *path, uint64_t address)
{
    // mov $__NR_rt_sigreturn, %rax; syscall
    static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    unsigned char bytes[sizeof(code)];
    struct modules *modules;
    struct error *err = modules_open_file(path, NULL, &modules);
    if (err) {
        error_destroy(err);
        return false;
    }
    bool is_there = modules_read(modules, address, bytes, sizeof(bytes)) == sizeof(bytes) &&
                    memcmp(bytes, code, sizeof(code)) == 0;
    modules_destroy(modules);
    return is_there;
}
