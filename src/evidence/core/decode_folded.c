// SPDX-License-Identifier: Apache-2.0
/*
 * A load that faulted as a part of another instruction, such as `cmp [rdi], 4`. The row is that of
 * the instruction as a whole, which may come later in the source than the load: behind a call that
 * was inlined, in a function inlined later on, or in the one around it.
 *
 * Instruction selection joins a load with what uses it inside one block. Volatile stores and calls
 * stay behind the loads that come before them in the source, so the load lies behind the last call
 * that was announced. It may be
 *   - in the node that the row names, or in one that leads there since that announcement;
 *   - in a function that was inlined and announced there, and has returned since by the row;
 *   - in the functions around, if the row is in an inlined one whose announcement comes only now.
 * Of these, the places where the source loads from an address that could fault.
 *
 * The compiler keeps such loads and uses of different nodes apart (SECTION_FUNCTION_LOADS_APART),
 * but for code that is made at the link and for code that is switched off: there a load may have
 * come from any node since the last landmark, since loops and branches between them may be gone.
 * Elsewhere what is left is a call that the code generator itself makes loads of (memcmp), joined
 * with what looks at its result, in one straight line.
 */
#include "evidence/core/landmark.h"

#include "common/alloc.h"
#include "common/error.h"
#include "layout/section.h"
#include "program/library.h"

#include <stdlib.h>
#include <string.h>

struct fold {
    struct machine_view view; // `position` is set level by level
    uint32_t at;              // the instruction
    bool apart;               // only with what uses it in its own node
};

// What may have loaded, of one virtual frame.
struct fold_level {
    uint8_t *own;  // by node: by itself
    bool has_own;  // some do
    bool inlined;  // a function inlined at one of `calls` does, perhaps
    uint8_t *call; // by node
};

// ---- What the source loads

// Variables are where they are; other addresses may be anywhere.
static bool is_variable(const struct code *code, struct operand address)
{
    if (operand_kind(address) == OPERAND_INSN)
        return code->insns[operand_index(address)].opcode == INSN_ALLOCA;
    return operand_kind(address) == OPERAND_GLOBAL;
}

static bool may_fault(const struct code *code, const struct insn *insn)
{
    switch (insn->opcode) {
    case INSN_LOAD:
        return !is_variable(code, code_operand(code, insn, 0));
    case INSN_RMW:
    case INSN_CMPXCHG:
        return true;
    case INSN_CALL:
        return code_is_memory_intrinsic(code, insn) || code_call(code, insn)->flags & CALL_ASM;
    default:
        return false;
    }
}

static bool node_loads(const struct decoder *decoder, struct function_id function, uint32_t node)
{
    const struct code *code = model_code(decoder->model, function);
    const struct code_node *code_node =
        model_code_node(decoder->model, model_node_at(decoder->model, function, node));

    for (uint32_t i = 0; i < code_node->insn_count; i++)
        if (may_fault(code, &code->insns[code_node->first_insn + i]))
            return true;
    return false;
}

static struct site_id site_of(const struct decoder *decoder, struct function_id function,
                              uint32_t node)
{
    return model_node(decoder->model, model_node_at(decoder->model, function, node))->site;
}

// Does the function that the site calls load, or one that it calls? `depth`: how far is looked.
static bool callee_loads(struct decoder *decoder, struct function_id caller, struct site_id site,
                         uint32_t depth)
{
    const struct model_function *own = model_function(decoder->model, caller);
    const char *name = model_site(decoder->model, site)->callee;
    struct function_id callee = {MODEL_NONE};

    if (name)
        error_destroy(model_find_debug_name(decoder->model, own->module, name, &callee));
    if (callee.value == MODEL_NONE || !depth)
        return true; // it is not known which
    const struct model_function *f = model_function(decoder->model, callee);
    for (uint32_t n = 0; n < f->node_count; n++) {
        struct site_id inner = site_of(decoder, callee, n);

        if (node_loads(decoder, callee, n) ||
            (inner.value != MODEL_NONE && decode_may_be_inlined(decoder, callee, inner) &&
             callee_loads(decoder, callee, inner, depth - 1)))
            return true;
    }
    return false;
}

// May the code generator put loads in place of the call?
static bool may_become_loads(const struct decoder *decoder, struct site_id site)
{
    const struct model_site *s = model_site(decoder->model, site);

    return s->flags & SITE_LOOSE || (s->callee && library_is_builtin(s->callee));
}

// ---- Announcements around the instruction

static bool announces_site(const struct fold *fold, uint32_t insn, struct site_id site)
{
    struct site_id found;

    return machine_announces(fold->view.decoder, &fold->view.code->insns[insn], &found) &&
           found.value == site.value;
}

static bool announced_before(const struct fold *fold, struct site_id site)
{
    for (uint32_t i = fold->at; machine_only_follows(&fold->view, i); i--) {
        if (fold->view.code->insns[i - 1].flow != MACHINE_NEXT)
            return false;
        if (announces_site(fold, i - 1, site))
            return true;
    }
    return false;
}

static bool announced_behind(const struct fold *fold, struct site_id site)
{
    const struct machine_code *code = fold->view.code;

    for (uint32_t i = fold->at; i + 1 < code->count && code->insns[i].flow == MACHINE_NEXT; i++)
        if (announces_site(fold, i + 1, site))
            return true;
    return false;
}

// Are its calls announced at all?
static bool records_calls(const struct fold *fold, const struct position *position)
{
    return !position->plain && model_function_level(fold->view.decoder->model,
                                                    position->function) >= SECTION_LEVEL_CALLS;
}

// ---- Levels

// Of the nodes marked, keeps those from which control goes straight to `node`, itself included: one
// block holds no others, unless a branch between them was turned into a choice of values.
static void keep_straight(const struct decoder *decoder, struct function_id function, uint32_t node,
                          uint8_t *mark)
{
    const struct model_function *f = model_function(decoder->model, function);
    struct predecessors before;
    uint8_t *straight = xcalloc(f->node_count + 1u, 1);

    predecessors_init(&before, decoder->model, function);
    for (uint32_t n = node;;) {
        straight[n] = 1;
        if (before.start[n] + 1 != before.start[n + 1])
            break;
        n = before.node[before.start[n]];
        if (!mark[n] || straight[n] ||
            model_successors(decoder->model, model_node_at(decoder->model, function, n)).count != 1)
            break;
    }
    memcpy(mark, straight, f->node_count);
    predecessors_deinit(&before);
    free(straight);
}

static void level_deinit(struct fold_level *level)
{
    free(level->own);
    free(level->call);
}

// False: nothing is known of where control is in this frame.
static bool level_init(struct fold_level *level, struct fold *fold, const struct position *position,
                       bool is_outer)
{
    struct decoder *decoder = fold->view.decoder;
    struct function_id function = position->function;
    uint32_t count = model_function(decoder->model, function)->node_count;
    uint32_t named = position->nodes.nodes[0];
    bool moved;
    uint8_t *mark = decode_between(decoder, fold->view.stop, position, &moved);

    *level = (struct fold_level){.own = xcalloc(count + 1u, 1), .call = xcalloc(count + 1u, 1)};
    if (!mark)
        return false;
    if (fold->apart)
        keep_straight(decoder, function, named, mark);
    for (uint32_t n = 0; n < count; n++) {
        struct site_id site =
            mark[n] ? site_of(decoder, function, n) : (struct site_id){MODEL_NONE};
        bool calls = site.value != MODEL_NONE, passed = calls && announced_before(fold, site);

        if (!mark[n])
            continue;
        level->own[n] = !passed && (!fold->apart || (n == named && !is_outer)) &&
                        node_loads(decoder, function, n);
        level->has_own |= level->own[n];
        // of the named node, a call that is still to come, unless it was announced, or in plain
        // code might have been; of an outer frame, the inner frame itself
        bool may_be_in =
            n != named || (!is_outer && !fold->apart && (passed || !records_calls(fold, position)));
        level->call[n] = calls && may_be_in &&
                         !decode_call_holds(decoder, fold->view.stop, position, n) &&
                         (may_become_loads(decoder, site) ||
                          (!fold->apart && decode_may_be_inlined(decoder, function, site) &&
                           callee_loads(decoder, function, site, 4)));
        level->inlined |= level->call[n];
    }
    // it has to be somewhere
    if (!is_outer && !level->has_own && !level->inlined)
        level->own[named] = true;
    free(mark);
    return true;
}

// ---- All of them

static bool is_usable(const struct decoder *decoder, const struct position *position)
{
    return position->function.value != MODEL_NONE && position->nodes.count == 1 &&
           position->source == POSITION_DISCRIMINATOR &&
           function_is_optimized(decoder, position->function) &&
           model_code(decoder->model, position->function);
}

static void take_nodes(struct decoder *decoder, const struct position *position,
                       const struct fold_level *level, bool named_too, struct folded *ret)
{
    uint32_t count = model_function(decoder->model, position->function)->node_count, kept = 0;
    uint32_t *nodes = xmalloc_array(count + 1u, sizeof(*nodes));

    for (uint32_t n = 0; n < count; n++)
        if (level->own[n] || level->call[n] || (named_too && n == position->nodes.nodes[0]))
            nodes[kept++] = n;
    ret->nodes = decode_nodes(decoder, nodes, kept);
    free(nodes);
}

// Is the inlined frame's call, of the frame around it, one that is only announced now?
static bool is_still_before(const struct fold *fold, const struct position *position)
{
    struct site_id site = site_of(fold->view.decoder, position->function, position->nodes.nodes[0]);

    return site.value == MODEL_NONE || !records_calls(fold, position) ||
           announced_behind(fold, site);
}

static bool settle(struct fold *fold, const struct address_info *info,
                   const struct fold_level *levels, struct folded *ret)
{
    for (uint32_t d = info->count; d-- > 0;) {
        const struct position *position = &info->positions[d];
        const struct fold_level *level = &levels[d];
        bool inner = false;

        if (d > 0 && (!(level->has_own || level->inlined) || !is_still_before(fold, position)))
            continue;
        for (uint32_t e = 0; e < d; e++)
            inner |= levels[e].has_own || levels[e].inlined;
        ret->depth = d;
        ret->inside = level->inlined || inner;
        take_nodes(fold->view.decoder, position, level, inner, ret);
        return d > 0 || level->inlined || ret->nodes.count != 1 ||
               ret->nodes.nodes[0] != position->nodes.nodes[0];
    }
    return false;
}

bool decode_folded(struct decoder *decoder, const struct stop *stop,
                   const struct address_info *info, struct folded *ret)
{
    struct fold fold = {.view = {.decoder = decoder, .stop = stop}};
    bool known = stop->physical && stop->unwound->module && info->count;

    for (uint32_t d = 0; d < info->count; d++)
        known &= is_usable(decoder, &info->positions[d]);
    if (!known)
        return false;
    const struct position *outermost = &info->positions[info->count - 1];
    fold.apart =
        !outermost->plain && model_function(decoder->model, outermost->function)->record_flags &
                                 SECTION_FUNCTION_LOADS_APART;
    error_destroy(debug_info_open(stop->unwound->module, &fold.view.info));
    fold.view.code = fold.view.info ? machine_code_of(decoder, stop->physical) : NULL;
    fold.at = fold.view.code ? machine_find(fold.view.code, stop->unwound->pc) : MACHINE_NONE;
    if (fold.at == MACHINE_NONE || !fold.view.code->insns[fold.at].folds)
        return false;
    struct fold_level *levels = xcalloc(info->count, sizeof(*levels));
    for (uint32_t d = 0; d < info->count; d++) {
        fold.view.position = &info->positions[d];
        known &= level_init(&levels[d], &fold, &info->positions[d], d > 0);
    }
    bool found = known && settle(&fold, info, levels, ret);
    for (uint32_t d = 0; d < info->count; d++)
        level_deinit(&levels[d]);
    free(levels);
    return found;
}
