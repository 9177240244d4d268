// SPDX-License-Identifier: Apache-2.0
#include "evidence/core/landmark.h"

#include "common/alloc.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTION_SIZE_MAX (4u << 20)

// What an instruction's row names in the function that it belongs to.
struct own_place {
    const struct debug_scope *scope;
    struct function_id function;
    struct named_place named; // POSITION_UNKNOWN: nothing is told
};

bool machine_announces(const struct decoder *decoder, const struct machine_insn *insn,
                       struct site_id *site)
{
    // nothing else is stored to a coverage byte
    return insn->byte_address && (!insn->byte_told || insn->byte == LAYOUT_CALLED) &&
           decode_coverage_site(decoder, insn->byte_address, site);
}

bool machine_may_announce(const struct machine_insn *insn)
{
    return insn->byte_somewhere && !insn->byte_address && insn->byte_told &&
           insn->byte == LAYOUT_CALLED;
}

static struct own_place own_place_of(const struct machine_view *view,
                                     const struct machine_insn *insn)
{
    const struct model *model = view->decoder->model;
    struct own_place own = {.scope = debug_scope_at(view->info, insn->address),
                            .function = {MODEL_NONE},
                            .named = {.source = POSITION_UNKNOWN}};
    struct debug_row row;
    struct site_id site;

    if (own.scope)
        own.function.value = decode_scope_function(view->decoder, own.scope);
    if (own.function.value == MODEL_NONE)
        return own;
    if (machine_announces(view->decoder, insn, &site)) {
        struct node_id node = model_site(model, site)->node;

        // where the scope is another one, which activation announces is not told
        if (model_node(model, node)->function.value == own.function.value)
            own.named = (struct named_place){
                POSITION_DISCRIMINATOR,
                node.value - model_function(model, own.function)->first_node, 0};
        return own;
    }
    if (debug_row_at(view->info, insn->address, &row))
        own.named = decode_named(view->decoder, own.function, row.line, row.discriminator);
    return own;
}

enum standing machine_standing(const struct machine_view *view, const struct machine_insn *insn,
                               struct named_place *named)
{
    struct own_place own = own_place_of(view, insn);

    *named = own.named;
    if (named->source == POSITION_UNKNOWN)
        return STANDS_UNTOLD;
    if (own.scope == view->position->scope)
        return STANDS_INSIDE;
    for (const struct debug_scope *scope = own.scope; scope->parent; scope = scope->parent)
        if (scope->parent == view->position->scope) {
            *named = decode_named(view->decoder, view->position->function, scope->call_line,
                                  scope->call_discriminator);
            return named->source == POSITION_DISCRIMINATOR ? STANDS_IN_CALL : STANDS_UNTOLD;
        }
    return STANDS_OUTSIDE;
}

/*
 * The entry of a jump table? Each table that the function refers to is read as far as its entries
 * lead to instructions of the function: beyond its end perhaps, which does no harm.
 */
bool machine_is_in_table(const struct machine_view *view, uint64_t address)
{
    const struct machine_code *code = view->code;

    for (uint32_t i = 0; i < code->count; i++) {
        uint64_t table = code->insns[i].reference;
        int32_t offset;

        for (uint64_t at = table;
             table &&
             modules_read(view->decoder->modules, at, &offset, sizeof(offset)) == sizeof(offset) &&
             machine_find(code, table + (uint64_t)(int64_t)offset) != MACHINE_NONE;
             at += sizeof(offset))
            if (table + (uint64_t)(int64_t)offset == address)
                return true;
    }
    return false;
}

// Does nothing lead to this instruction but the one before it?
bool machine_only_follows(const struct machine_view *view, uint32_t i)
{
    const struct machine_code *code = view->code;

    return i > 0 && code->before_start[i] + 1 == code->before_start[i + 1] &&
           code->before[code->before_start[i]] == i - 1 && !code->has_indirect &&
           !(code->has_table && machine_is_in_table(view, code->insns[i].address));
}

// A call that the source makes there. Those that compilers make (memset for a loop) can be
// anywhere, and so can those that have no effect but their result.
static bool is_call_of_source(const struct machine_view *view, const struct machine_insn *insn)
{
    struct model *model = view->decoder->model;
    struct own_place own = own_place_of(view, insn);
    const struct debug_call_site *call = debug_call_site_at(view->info, insn->address + insn->size);

    if (own.named.source != POSITION_DISCRIMINATOR || !call)
        return false;
    struct site_id site =
        model_node(model, model_node_at(model, own.function, own.named.node))->site;
    if (site.value == MODEL_NONE || model_site(model, site)->flags & SITE_LOOSE)
        return false;
    const char *callee = model_site(model, site)->callee;
    if (!callee || !call->target)
        return !callee && !call->target;
    return !strcmp(callee, call->target) ||
           (call->target_linkage && !strcmp(callee, call->target_linkage));
}

// Does control go from what this row names straight to that node?
static bool goes_straight_to(const struct machine_view *view, const struct own_place *own,
                             uint32_t node)
{
    const struct model *model = view->decoder->model;
    uint32_t first = model_function(model, own->function)->first_node;
    struct node_list next = model_successors(model, (struct node_id){first + own->named.node});
    bool straight = next.count > 0;

    if (own->named.source == POSITION_EDGE)
        return model->successor[model->successor_start[first] + own->named.edge].value ==
               first + node;
    for (uint32_t k = 0; k < next.count; k++)
        straight &= next.data[k].value == first + node;
    return own->named.node == node || straight;
}

/*
 * A jump of the node where it stands. One that was moved out of a loop (unswitching) keeps its row,
 * but what it decides by was computed elsewhere; so the instruction before it has to be of the same
 * node, or of one that just goes on to it.
 */
static bool is_jump_of_place(const struct machine_view *view, uint32_t at)
{
    struct own_place jump = own_place_of(view, &view->code->insns[at]);

    if (jump.named.source != POSITION_DISCRIMINATOR)
        return false;
    for (uint32_t i = at; machine_only_follows(view, i); i--) {
        const struct machine_insn *insn = &view->code->insns[i - 1];
        struct own_place own = own_place_of(view, insn);

        if (own.named.source == POSITION_UNKNOWN && insn->flow == MACHINE_NEXT)
            continue;
        return own.scope == jump.scope && own.named.source != POSITION_UNKNOWN &&
               goes_straight_to(view, &own, jump.named.node);
    }
    return false;
}

bool machine_is_landmark(const struct machine_view *view, uint32_t at)
{
    const struct machine_insn *insn = &view->code->insns[at];
    struct site_id site;

    switch ((enum machine_flow)insn->flow) {
    case MACHINE_CALL:
        return is_call_of_source(view, insn);
    case MACHINE_BRANCH:
    case MACHINE_TABLE:
    case MACHINE_INDIRECT:
        return is_jump_of_place(view, at);
    case MACHINE_LEAVE:
    case MACHINE_STOP:
        return true;
    case MACHINE_NEXT:
        return machine_announces(view->decoder, insn, &site);
    case MACHINE_JUMP:
        break;
    }
    return false;
}

static bool read_code(const struct decoder *decoder, struct debug_function *function,
                      struct machine_code *code)
{
    size_t count;
    const struct debug_scope *scopes = debug_function_scopes(function, &count);
    bool whole = count > 0;

    for (uint32_t r = 0; whole && r < scopes[0].range_count; r++) {
        uint64_t start = scopes[0].ranges[r].start, size = scopes[0].ranges[r].end - start;

        if (size > FUNCTION_SIZE_MAX)
            return false;
        unsigned char *bytes = xmalloc((size_t)size + 1);
        whole = modules_read(decoder->modules, start, bytes, (size_t)size) == size &&
                machine_decode(code, bytes, (size_t)size, start);
        free(bytes);
    }
    return whole && machine_link(code);
}

// Of the physical function, kept; NULL when it cannot be had whole.
const struct machine_code *machine_code_of(struct decoder *decoder, struct debug_function *function)
{
    struct machine_code **found = code_map_get(&decoder->code, (uintptr_t)function);

    if (found)
        return *found;
    struct machine_code *code = xcalloc(1, sizeof(*code));
    if (!read_code(decoder, function, code)) {
        machine_deinit(code);
        free(code);
        code = NULL;
    }
    *code_map_put(&decoder->code, (uintptr_t)function) = code;
    return code;
}

void decode_forget_code(struct decoder *decoder)
{
    MAP_FOREACH (code_map, &decoder->code, entry) {
        if (entry->value)
            machine_deinit(entry->value);
        free(entry->value);
    }
    code_map_deinit(&decoder->code);
}
