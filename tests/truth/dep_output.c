// SPDX-License-Identifier: Apache-2.0
#include "dep_output.h"

#include <inttypes.h>
#include <stdio.h>

#include "dep_graph.h"
#include "dep_shadow.h"
#include "dep_table.h"

static const char *separator(bool *first)
{
    const char *text = *first ? "" : ",\n";

    *first = false;
    return text;
}

static void write_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\')
            printf("\\u%04x", (unsigned char)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

// [module, function, node, instruction], each as the model numbers it.
static void write_insn(const struct dep_table *table, uint32_t i)
{
    const struct dep_node *node = &table->nodes[table->insns[i].node];
    const struct dep_function *function = &table->functions[node->function];

    printf("[%u,%u,%u,%u]", function->module, function->index,
           table->insns[i].node - function->first_node,
           i - table->modules[function->module].first_insn);
}

static void write_frames(const struct dep_result *result)
{
    bool first = true;

    printf("\"stack\": [\n");
    for (uint32_t f = result->frame_count; f-- > 0;) {
        const struct dep_frame *frame = &result->frames[f];
        if (!frame->current)
            continue;
        printf("%s{\"function\": ", separator(&first));
        write_text(result->table->functions[frame->function].name);
        printf(", \"insn\": ");
        write_insn(result->table, dep_insn_of(frame->current));
        printf("}");
    }
    printf("],\n");
}

// Allocas are places, not statements. What may have run elsewhere is not this program's.
static bool is_told(const struct dep_result *result, uint32_t i)
{
    const struct dep_insn *insn = &result->table->insns[i];

    return result->in_slice[i] && insn->kind != 'a' &&
           !result->table->functions[result->table->nodes[insn->node].function].is_elsewhere;
}

static void write_slice(const struct dep_result *result)
{
    const struct dep_table *table = result->table;
    bool first = true;

    printf("\"insns\": [\n");
    for (uint32_t i = 0; i < table->insns_count; i++) {
        if (!is_told(result, i))
            continue;
        printf("%s", separator(&first));
        write_insn(table, i);
    }
    printf("],\n\"lines\": [\n");
    first = true;
    for (uint32_t i = 0; i < table->insns_count; i++) {
        const struct dep_insn *insn = &table->insns[i];
        if (!is_told(result, i) || !insn->line)
            continue;
        printf("%s[", separator(&first));
        write_text(table->files[insn->file]);
        printf(",%u]", insn->line);
    }
    printf("],\n");
}

static void write_identity(const struct dep_table *table, const struct dep_identity *identity)
{
    if (identity->kind == DEP_OBJECT_GLOBAL) {
        printf("\"kind\": \"global\", \"module\": %u, \"name\": ",
               table->globals[identity->index].module);
        write_text(table->globals[identity->index].name);
    } else if (identity->kind == DEP_OBJECT_OTHER) {
        printf("\"kind\": \"other\"");
    } else {
        printf("\"kind\": \"%s\", \"insn\": ",
               identity->kind == DEP_OBJECT_LOCAL ? "local" : "heap");
        write_insn(table, identity->index);
    }
    if (identity->kind == DEP_OBJECT_HEAP) {
        printf(", \"outer\": [");
        for (uint32_t k = 0; k < 2 && identity->outer[k] != UINT32_MAX; k++) {
            printf("%s", k ? "," : "");
            write_insn(table, identity->outer[k]);
        }
        printf("]");
    }
}

static void write_accesses(const struct dep_result *result)
{
    uint32_t count;
    const struct dep_access *accesses = dep_accesses(&count);
    bool first = true;

    printf("\"accesses\": [\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct dep_access *access = &accesses[i];
        if (!access->used)
            continue;
        printf("%s{\"at\": ", separator(&first));
        write_insn(result->table, access->insn);
        printf(", \"writes\": %s, ", access->is_write ? "true" : "false");
        write_identity(result->table, dep_identity(access->identity));
        printf(", \"stale\": %s, \"more\": %s, \"spans\": [", access->is_stale ? "true" : "false",
               access->has_more ? "true" : "false");
        for (uint32_t k = 0; k < access->span_count; k++)
            printf("%s[%" PRIu64 ",%" PRIu64 "]", k ? "," : "", access->spans[k].offset,
                   access->spans[k].length);
        printf("]}");
    }
    printf("],\n");
}

static void write_unknown(const struct dep_result *result)
{
    bool first = true;

    printf("\"unknown\": [\n");
    for (uint32_t i = 0; i < result->table->insns_count; i++) {
        if (!result->unknown[i])
            continue;
        const char *callee = result->table->insns[i].callee;
        printf("%s[", separator(&first));
        write_text(callee ? callee : "*");
        printf(",%u]", result->unknown[i]);
    }
    printf("],\n");
}

void dep_write_result(const struct dep_result *result)
{
    printf("{\n");
    write_frames(result);
    write_slice(result);
    write_accesses(result);
    write_unknown(result);
    printf("\"records\": %" PRIu64 ", \"instances\": %u, \"marked\": %u, \"vague\": %s\n}\n",
           result->records, result->instances, result->marked, result->is_vague ? "true" : "false");
}
