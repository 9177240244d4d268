// SPDX-License-Identifier: Apache-2.0
// The XML side of from_graphml.c: nodes and edges as the file has them. Only that file includes it.
#ifndef PROGRAM_FROM_GRAPHML_READ_H
#define PROGRAM_FROM_GRAPHML_READ_H

#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/vec.h"

struct error;

enum graphml_kind {
    GRAPHML_PLAIN, // expression and whatever else there is
    GRAPHML_ENTRY,
    GRAPHML_EXIT,
    GRAPHML_CALL_SITE,
};

struct graphml_node {
    const char *id; // not empty
    enum graphml_kind kind;
    const char *procedure, *file, *call_name; // NULL where absent or empty
    uint32_t source_line;                     // 0 where absent
    uint64_t line;                            // of the XML
};

enum graphml_type {
    GRAPHML_FLOW, // within a function
    GRAPHML_CALL, // control, interprocedural
    GRAPHML_IGNORED,
};

struct graphml_edge {
    const char *source, *target; // ids
    enum graphml_type type;
    uint64_t line;
};

VEC_DEFINE(graphml_nodes, struct graphml_node);
VEC_DEFINE(graphml_edges, struct graphml_edge);

struct graphml {
    struct arena arena; // all strings
    struct graphml_nodes nodes;
    struct graphml_edges edges; // without those that are ignored
    uint64_t hash;              // of the XML text
};

// On an error, too, graph is to be deinitialised.
struct error *graphml_read(const char *name, const void *data, size_t size, struct graphml *graph);
void graphml_deinit(struct graphml *graph);

#endif
