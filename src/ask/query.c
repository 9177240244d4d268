// SPDX-License-Identifier: Apache-2.0
// A query from text to what solvers take; places in it.
#include "ask/query.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ask/query_tree.h"
#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/strbuf.h"

static void make_lost_by_fsa(struct query *query);

struct error *query_parse(const char *text, const struct model *model, struct query **ret,
                          struct query_place *where)
{
    struct query *query = xcalloc(1, sizeof(*query));
    struct query_place ignored;

    query->text = arena_strdup(&query->arena, text);
    struct error *err = query_parse_text(query, where ? where : &ignored);
    if (!err)
        err = query_resolve(query, model, where ? where : &ignored);
    if (err) {
        query_destroy(query);
        return err;
    }
    query_make_ready(query);
    *ret = query;
    return NULL;
}

void query_make_ready(struct query *query)
{
    query_make_utl(query);
    make_lost_by_fsa(query);
}

void query_destroy(struct query *query)
{
    if (!query)
        return;
    note_vec_deinit(&query->notes);
    arena_deinit(&query->arena);
    free(query);
}

const char *query_text(const struct query *query)
{
    return query->text;
}

uint32_t query_note_count(const struct query *query)
{
    return (uint32_t)query->notes.length;
}

const char *query_note(const struct query *query, uint32_t index)
{
    return *note_vec_at(&query->notes, index);
}

// ---- Places

// Characters, as UTF-8 has them.
static uint32_t count_characters(const char *text, size_t length)
{
    uint32_t count = 0;

    for (size_t i = 0; i < length && text[i]; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

uint32_t query_column(const char *text, struct query_place where)
{
    return count_characters(text, where.offset) + 1;
}

struct error *query_error(const char *text, enum error_code code, struct query_place where,
                          struct query_place *ret, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    _cleanup_free_ char *message = xvasprintf(format, arguments);
    va_end(arguments);
    *ret = where;
    return error_create(code, "column %u: %s", query_column(text, where), message);
}

void query_print_place(FILE *stream, const char *text, struct query_place where)
{
    size_t length = strlen(text);
    uint32_t offset = where.offset < length ? where.offset : (uint32_t)length;
    uint32_t marked = count_characters(text + offset, where.length);

    fputs("  ", stream);
    for (size_t i = 0; i < length; i++) // one column a character
        fputc((unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i], stream);
    fprintf(stream, "\n  %*s^", (int)query_column(text, where) - 1, "");
    for (uint32_t i = 1; i < marked; i++)
        fputc('~', stream);
    fputc('\n', stream);
}

// ---- Solvers

static bool needs_stack(const struct query_node *node)
{
    switch (node->kind) {
    case QUERY_INSIDE:
    case QUERY_OUTSIDE:
    case QUERY_ONLY_INSIDE:
    case PATTERN_BALANCED:
    case PATTERN_CALL:
    case PATTERN_UNFINISHED:
        return true;
    default:
        break;
    }
    for (uint32_t i = 0; i < node->part_count; i++)
        if (needs_stack(node->parts[i]))
            return true;
    return false;
}

// The parts that look at nesting, outermost only.
static void find_lost(const struct query *query, const struct query_node *node, struct strbuf *lost)
{
    if (!needs_stack(node) || lost->length > 400)
        return;
    bool inner = false;
    for (uint32_t i = 0; i < node->part_count; i++)
        inner |= needs_stack(node->parts[i]);
    if (!inner || node->kind == QUERY_INSIDE || node->kind == QUERY_PATTERN) {
        strbuf_append(lost, lost->length ? ", '" : "'");
        strbuf_append_bytes(lost, query->text + node->where.offset, node->where.length);
        strbuf_append_char(lost, '\'');
        return;
    }
    for (uint32_t i = 0; i < node->part_count; i++)
        find_lost(query, node->parts[i], lost);
}

static void make_lost_by_fsa(struct query *query)
{
    _cleanup_strbuf_ struct strbuf lost = STRBUF_INIT;

    find_lost(query, query->root, &lost);
    if (lost.length)
        query->lost_by_fsa = arena_strdup(&query->arena, lost.data);
}

unsigned query_exact_solvers(const struct query *query)
{
    return QUERY_BY_VPA | (needs_stack(query->root) ? 0u : (unsigned)QUERY_BY_FSA) |
           (query->utl.is_exact ? (unsigned)QUERY_BY_UTL : 0u);
}

const struct query_utl *query_as_utl(const struct query *query)
{
    return &query->utl;
}

const char *query_lost_by_fsa(const struct query *query)
{
    return query->lost_by_fsa;
}
