// SPDX-License-Identifier: Apache-2.0
// Shared by the files that expand vertices; see graph.h.
#ifndef SLICE_EXPAND_H
#define SLICE_EXPAND_H

#include "slice/graph.h"

// An instruction of an activation.
struct spot {
    uint32_t activation;
    uint32_t position, copy;
    struct insn_id id;
    struct module_id module;
    uint32_t index; // in the module
    const struct code *code;
    const struct insn *insn;
};

static inline const struct activation *activation_of(const struct slicer *slicer,
                                                     uint32_t activation)
{
    return &slicer->activations.data[activation];
}

static inline struct spot spot_at(const struct slicer *slicer, uint32_t activation,
                                  uint32_t position)
{
    const struct activation *a = activation_of(slicer, activation);
    struct spot spot = {.activation = activation,
                        .position = position,
                        .copy = activation_copy_at(a, position),
                        .id = activation_insn(slicer, a, position)};

    spot.insn = dependence_insn_at(slicer->dependence, spot.id, &spot.module, &spot.index);
    spot.code = model_module(slicer->model, spot.module)->code;
    return spot;
}

// ---- Calls

static inline bool is_call(const struct insn *insn)
{
    return insn->opcode == INSN_CALL || insn->opcode == INSN_INVOKE || insn->opcode == INSN_CALLBR;
}

// The call site that the instruction is; false: none of the model's (intrinsics, assembly).
static inline bool site_of(const struct slicer *slicer, const struct spot *spot,
                           struct site_id *ret)
{
    if (!is_call(spot->insn) || code_call(spot->code, spot->insn)->site == CODE_NONE)
        return false;
    ret->value = model_module(slicer->model, spot->module)->first_site +
                 code_call(spot->code, spot->insn)->site;
    return true;
}

static inline bool enters_model(const struct slicer *slicer, struct site_id site)
{
    return model_callees(slicer->model, site).count || model_callbacks(slicer->model, site).count;
}

// Is anything but functions of the model called there, which looks at all that it is given?
static inline bool enters_library(const struct slicer *slicer, struct site_id site)
{
    return model_site(slicer->model, site)->flags & (SITE_EXTERNAL | SITE_CALLS_BACK) ||
           !model_callees(slicer->model, site).count;
}

static inline uint32_t insn_vertex(struct slicer *slicer, uint32_t activation, uint32_t position)
{
    return vertex_at(slicer, activation, VERTEX_INSN, position);
}

// ---- expand_memory.c

// How control came behind the last instruction of a copy.
enum came {
    CAME_BY,     // it is in the middle
    CAME_BACK,   // behind a call that came back, or was none
    CAME_JUMPED, // a call ended in a jump
};

/*
 * Figure 6, on the graph of copies: who wrote the class before position `end`, in this copy. True:
 * perhaps nobody, and whoever did so before counts too. `sure`: certain writes end the search.
 */
bool need_in_copy(struct slicer *slicer, uint32_t activation, uint32_t copy, uint32_t end,
                  enum came came, bool sure, uint32_t class);
void need_at_copy(struct slicer *slicer, uint32_t activation, uint32_t copy, uint32_t class);
// An instruction of whatever function, in a shared activation, at any time.
void need_anywhere(struct slicer *slicer, struct insn_id insn);
// A class that many use: whoever may write it, at any time. False: it is none.
bool need_anytime(struct slicer *slicer, uint32_t class);
// Memory before anything of the thread ran: what other roots may have left.
void need_earlier_roots(struct slicer *slicer, uint32_t function, uint32_t class);
bool callee_writes(struct slicer *slicer, struct site_id site, uint32_t class);
bool function_writes(struct slicer *slicer, uint32_t function, uint32_t class);
void expand_anytime(struct slicer *slicer, struct vertex vertex);
void expand_at_copy(struct slicer *slicer, struct vertex vertex);
void expand_before(struct slicer *slicer, struct vertex vertex);
void expand_at_exit(struct slicer *slicer, struct vertex vertex);

#endif
