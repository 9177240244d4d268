// SPDX-License-Identifier: Apache-2.0
/*
 * Where an address is: its virtual frames, and for each the nodes where control may stand.
 *
 * The line table's discriminator names the node (plugin: discriminators.c); where the optimiser has
 * merged locations it is 0, and the line narrows; where it has dropped them the line is 0, and
 * nothing does. Results depend on the address alone and are kept, since deep recursion comes back
 * to the same few addresses.
 */
#include "evidence/core/decode_internal.h"

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "layout/section.h"

#include <stdlib.h>
#include <string.h>

struct evidence_nodes decode_nodes(struct decoder *decoder, const uint32_t *nodes, uint32_t count)
{
    return (struct evidence_nodes){
        arena_memdup(&decoder->evidence->arena, nodes, count * sizeof(*nodes)), count};
}

bool function_is_optimized(const struct decoder *decoder, struct function_id function)
{
    return !(model_function(decoder->model, function)->flags & FUNCTION_OPTNONE);
}

void predecessors_init(struct predecessors *predecessors, const struct model *model,
                       struct function_id function)
{
    const struct model_function *f = model_function(model, function);
    uint32_t count = f->node_count;
    uint32_t edges =
        model->successor_start[f->first_node + count] - model->successor_start[f->first_node];
    uint32_t *start = xcalloc(count + 2u, sizeof(*start));
    uint32_t *node = xmalloc_array(edges + 1u, sizeof(*node));

    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < count; n++) {
            struct node_list next = model_successors(model, (struct node_id){f->first_node + n});

            for (uint32_t k = 0; k < next.count; k++) {
                uint32_t to = next.data[k].value - f->first_node;

                if (pass == 0)
                    start[to + 2]++;
                else
                    node[start[to + 1]++] = n;
            }
        }
        for (uint32_t n = 0; pass == 0 && n < count; n++)
            start[n + 2] += start[n + 1];
    }
    *predecessors = (struct predecessors){start, node};
}

void predecessors_deinit(struct predecessors *predecessors)
{
    free(predecessors->start);
    free(predecessors->node);
}

static bool node_has_line(const struct model *model, struct node_id node, uint32_t line)
{
    const struct code_node *code_node = model_code_node(model, node);
    const struct code *code = model_code(model, model_node(model, node)->function);

    for (uint32_t i = 0; i < code_node->insn_count; i++) {
        const struct place *place = code_place(code, code->insns[code_node->first_insn + i].place);

        if (place && place->line == line)
            return true;
    }
    return false;
}

// Every reachable node of the function that `accept` takes (NULL: all).
static struct evidence_nodes select_nodes(struct decoder *decoder, struct function_id function,
                                          uint32_t line, bool calls_only)
{
    struct model *model = decoder->model;
    const struct path_numbering *numbers = model_numbering(model, function);
    uint32_t count = model_function(model, function)->node_count, kept = 0;
    uint32_t *nodes = xmalloc_array(count + 1u, sizeof(*nodes));

    for (uint32_t n = 0; n < count; n++) {
        struct node_id node = model_node_at(model, function, n);

        if (!path_reachable(numbers, n) || (line && !node_has_line(model, node, line)) ||
            (calls_only && model_node(model, node)->site.value == MODEL_NONE))
            continue;
        nodes[kept++] = n;
    }
    struct evidence_nodes set = decode_nodes(decoder, nodes, kept);
    free(nodes);
    return set;
}

static void position_unknown(struct decoder *decoder, struct position *position)
{
    position->source = POSITION_UNKNOWN;
    position->nodes = select_nodes(decoder, position->function, 0, false);
}

static void position_line(struct decoder *decoder, struct position *position, uint32_t line,
                          bool calls_only)
{
    position->source = POSITION_LINE;
    position->nodes = line ? select_nodes(decoder, position->function, line, calls_only)
                           : (struct evidence_nodes){NULL, 0};
    if (!position->nodes.count)
        position_unknown(decoder, position);
}

struct named_place decode_named(const struct decoder *decoder, struct function_id id, uint32_t line,
                                uint32_t discriminator)
{
    const struct model_function *function = model_function(decoder->model, id);
    const uint32_t *start = decoder->model->successor_start + function->first_node;
    uint32_t count = function->node_count, edges = start[count] - start[0];
    uint32_t number = discriminator - 1;

    if (!discriminator || (uint64_t)number >= (uint64_t)count + edges)
        return (struct named_place){.source = POSITION_UNKNOWN};
    if (number < count) {
        bool has_line =
            node_has_line(decoder->model, model_node_at(decoder->model, id, number), line);

        return (struct named_place){has_line ? POSITION_DISCRIMINATOR : POSITION_UNKNOWN, number,
                                    0};
    }
    uint32_t edge = number - count, node = 0;
    while (start[node + 1] - start[0] <= edge)
        node++;
    return (struct named_place){POSITION_EDGE, node, edge};
}

// What (line, discriminator) of a row or of an inlined call says.
static void position_told(struct decoder *decoder, struct position *position, uint32_t line,
                          uint32_t discriminator, bool calls_only)
{
    struct named_place named = decode_named(decoder, position->function, line, discriminator);

    if (named.source == POSITION_UNKNOWN) {
        position_line(decoder, position, line, calls_only);
        return;
    }
    position->source = named.source;
    position->edge = named.edge;
    position->nodes = decode_nodes(decoder, &named.node, 1);
}

// Before the first row that ends the prologue no node has begun.
static bool in_prologue(struct debug_info *info, const struct debug_scope *scope, uint64_t address)
{
    if (scope->parent || !scope->range_count)
        return false;
    uint64_t start = scope->ranges[0].start;
    for (uint32_t r = 0; r < scope->range_count; r++)
        if (address >= scope->ranges[r].start && address < scope->ranges[r].end)
            start = scope->ranges[r].start;
    if (start != scope->ranges[0].start)
        return false;
    size_t count;
    struct debug_row *rows = debug_rows_in(info, start, address + 1, &count);
    bool prologue = true;
    for (size_t i = 0; i < count; i++)
        if (rows[i].is_prologue_end || rows[i].discriminator)
            prologue = false;
    free(rows);
    return prologue;
}

bool decode_is_plain(const struct debug_scope *scope)
{
    size_t length = scope->linkage_name ? strlen(scope->linkage_name) : 0;
    size_t suffix = strlen(LAYOUT_PLAIN_SUFFIX);

    return length > suffix && !strcmp(scope->linkage_name + length - suffix, LAYOUT_PLAIN_SUFFIX);
}

// The plain copy of a function has a linkage name of its own, which is made of the function's
// symbol. NULL: it is none.
static char *name_of_original(const struct debug_scope *scope)
{
    if (!decode_is_plain(scope))
        return NULL;
    size_t length = strlen(scope->linkage_name) - strlen(LAYOUT_PLAIN_SUFFIX);
    // a name that is to be taken as it is
    size_t skip = scope->linkage_name[0] == '\1';
    return xasprintf("%.*s", (int)(length - skip), scope->linkage_name + skip);
}

uint32_t decode_scope_function(struct decoder *decoder, const struct debug_scope *scope)
{
    uint64_t key = hash_mix(scope->origin_die) ^ (uintptr_t)scope->origin;
    uint32_t *found = scope_map_get(&decoder->functions, key);
    uint64_t id;
    struct module_id module;
    struct function_id function = {MODEL_NONE};

    if (found)
        return *found;
    if (scope->origin && debug_unit_module_id(scope->origin, &id) &&
        model_find_module(decoder->model, id, &module)) {
        _cleanup_free_ char *original = name_of_original(scope);
        const char *name = original              ? original
                           : scope->linkage_name ? scope->linkage_name
                                                 : scope->name;
        struct error *err = model_find_debug_name(decoder->model, module, name, &function);

        if (err) {
            decode_warn(decoder, "the model of '%s' cannot be read: %s", scope->name, err->message);
            error_destroy(err);
            function.value = MODEL_NONE;
        }
    }
    *scope_map_put(&decoder->functions, key) = function.value;
    return function.value;
}

static const char *copy(struct decoder *decoder, const char *string)
{
    return string ? arena_strdup(&decoder->evidence->arena, string) : NULL;
}

// A function that was switched off begins with a jump to its plain copy, which has the row of
// whatever was there before.
static bool is_at_switch(const struct decoder *decoder, const struct debug_scope *scope,
                         uint64_t address)
{
    unsigned char byte = 0;

    return !scope->parent && scope->range_count && scope->ranges[0].start == address &&
           !decode_is_plain(scope) && modules_read(decoder->modules, address, &byte, 1) == 1 &&
           byte == 0xe9;
}

// The innermost virtual frame, from the row of the address.
static void innermost_position(struct decoder *decoder, struct debug_info *info, uint64_t address,
                               bool exact, struct position *position)
{
    struct debug_row row = {0};
    bool known = debug_row_at(info, address, &row);

    if (known)
        position->place = (struct evidence_place){copy(decoder, row.file), row.line, row.column};
    if (!position->place.line && position->scope->line)
        position->place = (struct evidence_place){copy(decoder, position->scope->file), 0, 0};
    if (position->function.value == MODEL_NONE)
        return;
    if (exact && (((!known || !row.discriminator) && in_prologue(info, position->scope, address)) ||
                  is_at_switch(decoder, position->scope, address))) {
        uint32_t entry = 0;

        position->source = POSITION_PROLOGUE;
        position->nodes = decode_nodes(decoder, &entry, 1);
    } else
        position_told(decoder, position, known ? row.line : 0, known ? row.discriminator : 0,
                      false);
}

static void fill_positions(struct decoder *decoder, struct debug_info *info, uint64_t address,
                           bool exact, struct address_info *result)
{
    const struct debug_scope *child = NULL;
    uint32_t i = 0;

    for (const struct debug_scope *s = debug_scope_at(info, address); s; s = s->parent, i++) {
        struct position *position = &result->positions[i];

        position->scope = s;
        position->plain = decode_is_plain(s);
        position->function.value = decode_scope_function(decoder, s);
        position->name = copy(decoder, *s->name ? s->name : "??");
        if (!child)
            innermost_position(decoder, info, address, exact, position);
        else {
            position->place = (struct evidence_place){copy(decoder, child->call_file),
                                                      child->call_line, child->call_column};
            if (position->function.value != MODEL_NONE)
                position_told(decoder, position, child->call_line, child->call_discriminator, true);
        }
        child = s;
    }
}

// Debug information of code without a model gives names and lines only; where it lies in a separate
// file (a system library's) reading it costs more than that is worth, and symbols do.
static bool is_worth_reading(struct module *module)
{
    struct module_section section;

    return !module_info(module)->debug || module_section(module, SECTION_MODEL, &section);
}

const struct address_info *decode_address(struct decoder *decoder, struct module *module,
                                          uint64_t address, bool exact)
{
    uint64_t key = address << 1 | exact;
    struct address_info **found = address_map_get(&decoder->addresses, key);
    struct debug_info *info = NULL;
    struct arena *arena = &decoder->evidence->arena;

    if (found)
        return *found;
    struct address_info *result = arena_alloc_one(arena, struct address_info);
    struct error *err = module && is_worth_reading(module) ? debug_info_open(module, &info) : NULL;
    error_destroy(err);
    if (info) {
        for (const struct debug_scope *s = debug_scope_at(info, address); s; s = s->parent)
            result->count++;
        result->positions = arena_alloc_array(arena, result->count + 1u, struct position);
        result->physical = debug_function_at(info, address);
        fill_positions(decoder, info, address, exact, result);
        for (uint32_t i = 0; i < result->count; i++)
            result->positions[i].repeats =
                decode_repeats(decoder, info, result->physical, &result->positions[i]);
    }
    *address_map_put(&decoder->addresses, key) = result;
    return result;
}
