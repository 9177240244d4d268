// SPDX-License-Identifier: Apache-2.0
/* Line tables. Rows that stand for no code, and sequences that were not linked, are left out. */
#include <stdlib.h>
#include <string.h>

#include "evidence/core/dwarf_internal.h"
#include "evidence/core/modules_internal.h"

static struct debug_line debug_read_line(struct debug_unit *unit, Dwarf_Line *row, uint64_t start)
{
    struct debug_line line = {.start = start};
    int number = 0, column = 0;
    unsigned discriminator = 0;
    dwarf_lineno(row, &number);
    dwarf_linecol(row, &column);
    dwarf_linediscriminator(row, &discriminator);
    dwarf_linebeginstatement(row, &line.is_statement);
    dwarf_lineprologueend(row, &line.is_prologue_end);
    line.line = number > 0 ? (uint32_t)number : 0;
    line.column = column > 0 ? (uint32_t)column : 0;
    line.discriminator = discriminator;
    line.file = debug_file_name(unit, dwarf_linesrc(row, NULL, NULL));
    return line;
}

/* libdw gives rows in order of address, the end of a sequence before what starts there. */
void debug_read_lines(struct debug_unit *unit)
{
    Dwarf_Lines *rows;
    size_t count;
    if (unit->lines_were_read)
        return;
    unit->lines_were_read = true;
    if (dwarf_getsrclines(&unit->die, &rows, &count) != 0) {
        debug_warn(unit->info, error_create(ERROR_FORMAT, "no line table for '%s': %s", unit->name,
                                            dwarf_errmsg(-1)));
        return;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        Dwarf_Line *row = dwarf_onesrcline(rows, i);
        Dwarf_Addr start, end;
        bool is_end;
        if (dwarf_lineaddr(row, &start) != 0 ||
            dwarf_lineaddr(dwarf_onesrcline(rows, i + 1), &end) != 0 ||
            dwarf_lineendsequence(row, &is_end) != 0)
            continue;
        if (is_end || start >= end || !module_has_code(unit->info->module, start, start + 1))
            continue;
        struct debug_line line = debug_read_line(unit, row, start);
        line.end = end;
        debug_line_vec_push(&unit->lines, line);
    }
}

/* The first row that ends behind address. */
static size_t debug_first_line(const struct debug_unit *unit, uint64_t address)
{
    size_t low = 0, high = unit->lines.length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (unit->lines.data[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct debug_row debug_row_of(const struct debug_unit *unit, const struct debug_line *line)
{
    uint64_t bias = unit->info->module->info.bias;
    return (struct debug_row){
        .start = line->start + bias,
        .end = line->end + bias,
        .file = line->file,
        .line = line->line,
        .column = line->column,
        .discriminator = line->discriminator,
        .is_statement = line->is_statement,
        .is_prologue_end = line->is_prologue_end,
    };
}

bool debug_row_at(struct debug_info *info, uint64_t address, struct debug_row *ret)
{
    uint64_t at = address - info->module->info.bias;
    struct debug_unit *unit = debug_unit_at(info, address);
    if (!unit)
        return false;
    debug_read_lines(unit);
    size_t index = debug_first_line(unit, at);
    if (index == unit->lines.length || unit->lines.data[index].start > at)
        return false;
    *ret = debug_row_of(unit, &unit->lines.data[index]);
    return true;
}

VEC_DEFINE(debug_row_vec, struct debug_row);

static void debug_collect_rows(struct debug_unit *unit, uint64_t start, uint64_t end,
                               struct debug_row_vec *ret)
{
    debug_read_lines(unit);
    for (size_t i = debug_first_line(unit, start);
         i < unit->lines.length && unit->lines.data[i].start < end; i++)
        debug_row_vec_push(ret, debug_row_of(unit, &unit->lines.data[i]));
}

static int debug_compare_rows(const void *a, const void *b)
{
    const struct debug_row *x = a;
    const struct debug_row *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

struct debug_row *debug_rows_in(struct debug_info *info, uint64_t start, uint64_t end,
                                size_t *ret_count)
{
    struct debug_row_vec rows = VEC_INIT;
    uint64_t bias = info->module->info.bias, low = start - bias, high = end - bias;
    for (size_t i = 0; i < info->ranges.length && info->ranges.data[i].start < high; i++) {
        const struct debug_interval *range = &info->ranges.data[i];
        uint64_t from = range->start > low ? range->start : low;
        uint64_t to = range->end < high ? range->end : high;
        if (from < to && debug_owner_of(info, from) == info->units.data[range->index])
            debug_collect_rows(info->units.data[range->index], from, to, &rows);
    }
    if (rows.length)
        qsort(rows.data, rows.length, sizeof(rows.data[0]), debug_compare_rows);
    *ret_count = rows.length;
    return debug_row_vec_steal(&rows);
}
