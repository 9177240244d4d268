// SPDX-License-Identifier: Apache-2.0
/*
 * Instructions that belong to more than one place: traps, which front end and optimiser merge, and
 * those that have lost their row. They may be of a function that was inlined, too.
 */
#include "evidence/core/decode_internal.h"

#include "common/alloc.h"
#include "layout/section.h"

#include <stdlib.h>
#include <string.h>

// A trap, or assembly, which may be one.
static bool traps(const struct code *code, const struct insn *insn)
{
    if (insn->opcode != INSN_CALL)
        return false;
    const struct call *call = code_call(code, insn);
    return (call->flags & CALL_ASM) || code_is_trap(code, insn);
}

// Can a trap be of this node? Behind one that is certain the front end may go on or not.
static bool ends_there(const struct decoder *decoder, struct function_id function, uint32_t node)
{
    struct node_id id = model_node_at(decoder->model, function, node);
    const struct code_node *code_node = model_code_node(decoder->model, id);
    const struct code *code = model_code(decoder->model, function);

    if (model_node(decoder->model, id)->flags & NODE_UNREACHABLE)
        return true;
    for (uint32_t i = 0; i < code_node->insn_count; i++)
        if (traps(code, &code->insns[code_node->first_insn + i]))
            return true;
    return false;
}

// Has the function, or one that was inlined into it here, a place where control does not go on?
static bool may_trap(struct decoder *decoder, const struct debug_scope *scopes, size_t count,
                     const struct debug_scope *scope)
{
    for (size_t i = 0; i < count; i++)
        for (const struct debug_scope *s = &scopes[i]; s; s = s->parent) {
            if (s != scope)
                continue;
            uint32_t function = decode_scope_function(decoder, &scopes[i]);

            if (function == MODEL_NONE)
                return true;
            const struct model_function *f =
                model_function(decoder->model, (struct function_id){function});
            for (uint32_t n = 0; n < f->node_count; n++)
                if (ends_there(decoder, (struct function_id){function}, n))
                    return true;
            break;
        }
    return false;
}

// Marks the calls of the virtual frame that were inlined in this copy of it; with `trapped`, only
// those that may trap.
static void mark_inlined(struct decoder *decoder, const struct stop *stop,
                         const struct position *position, bool trapped, uint8_t *mark)
{
    size_t count = 0;
    const struct debug_scope *scopes =
        stop->physical ? debug_function_scopes(stop->physical, &count) : NULL;
    const struct model_function *f = model_function(decoder->model, position->function);

    for (size_t i = 1; i < count; i++) {
        if (scopes[i].parent != position->scope ||
            (trapped && !may_trap(decoder, scopes, count, &scopes[i])))
            continue;
        struct named_place named = decode_named(decoder, position->function, scopes[i].call_line,
                                                scopes[i].call_discriminator);
        if (named.source == POSITION_DISCRIMINATOR) {
            mark[named.node] = 1;
            continue;
        }
        for (uint32_t n = 0; n < f->node_count; n++) {
            struct node_id id = model_node_at(decoder->model, position->function, n);
            struct site_id site = model_node(decoder->model, id)->site;

            mark[n] |= site.value != MODEL_NONE &&
                       decode_may_be_inlined(decoder, position->function, site);
        }
    }
}

// Nothing but the end, come to from several places: the front end makes one such node for all
// checks of a kind, with the line of the first.
static bool is_shared_end(const struct decoder *decoder, const struct predecessors *before,
                          struct function_id function, uint32_t node)
{
    return ends_there(decoder, function, node) && before->start[node + 1] - before->start[node] > 1;
}

struct position decode_trap(struct decoder *decoder, const struct stop *stop,
                            const struct position *position)
{
    struct position wide = *position;
    uint32_t total = model_function(decoder->model, position->function)->node_count, count = 0;
    bool told = position->source == POSITION_DISCRIMINATOR || position->source == POSITION_EDGE;

    if (!stop->trapped || position->source == POSITION_PROLOGUE)
        return wide;
    uint8_t *mark = xcalloc(total + 1u, 1);
    uint32_t *nodes = xmalloc_array(total + 1u, sizeof(*nodes));
    struct predecessors before;

    predecessors_init(&before, decoder->model, position->function);
    if (!told)
        mark_inlined(decoder, stop, position, true, mark);
    for (uint32_t i = 0; i < position->nodes.count; i++) {
        uint32_t node = position->nodes.nodes[i];

        if (!told && !ends_there(decoder, position->function, node))
            continue;
        mark[node] = 1;
        if (is_shared_end(decoder, &before, position->function, node))
            for (uint32_t p = before.start[node]; p < before.start[node + 1]; p++)
                mark[before.node[p]] = 1;
    }
    for (uint32_t n = 0; n < total; n++)
        if (mark[n])
            nodes[count++] = n;
    if (count)
        wide.nodes = decode_nodes(decoder, nodes, count);
    predecessors_deinit(&before);
    free(mark);
    free(nodes);
    return wide;
}

/*
 * A load that the linker's optimiser took out of a function to pass what it loads: between the
 * announcement of the call, which was made, and the call itself.
 */
static void mark_passed_loads(const struct decoder *decoder, const struct stop *stop,
                              const struct position *position, const uint8_t *called, uint8_t *mark)
{
    const struct model_function *f = model_function(decoder->model, position->function);

    if (!stop->memory_fault || !called || position->plain ||
        f->record_flags & SECTION_FUNCTION_LOADS_APART)
        return;
    for (uint32_t n = 0; n < f->node_count; n++) {
        struct node_id id = model_node_at(decoder->model, position->function, n);

        mark[n] |= called[n] && model_node(decoder->model, id)->site.value != MODEL_NONE;
    }
}

bool decode_may_be_inside(struct decoder *decoder, const struct stop *stop,
                          const struct position *position, const struct evidence_frame *frame)
{
    bool inside = false,
         told = position->source == POSITION_DISCRIMINATOR || position->source == POSITION_EDGE;

    if (!stop->interrupted || frame->kind != EVIDENCE_FRAME_MODEL ||
        position->function.value == MODEL_NONE || position->source == POSITION_PROLOGUE ||
        !function_is_optimized(decoder, position->function) || (told && stop->trapped))
        return false;
    // where the row is right it is right before the call, unless that was announced
    uint8_t *called = told && strcmp(frame->candidates_from, "machine") != 0
                          ? decode_called(decoder, stop, position)
                          : NULL;
    uint8_t *mark = xcalloc(model_function(decoder->model, position->function)->node_count + 1u, 1);
    mark_inlined(decoder, stop, position, stop->trapped, mark);
    mark_passed_loads(decoder, stop, position, called, mark);
    for (uint32_t i = 0; i < frame->candidates.count; i++)
        inside |=
            mark[frame->candidates.nodes[i]] && (!called || called[frame->candidates.nodes[i]]);
    free(mark);
    free(called);
    return inside;
}
