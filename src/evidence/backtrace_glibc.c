// SPDX-License-Identifier: Apache-2.0
/*
 * What glibc's backtrace_symbols() and backtrace_symbols_fd() give.
 *
 *     ./prog(parse+0x1a)[0x55720960d3f1]
 *     ./prog(+0x13c0) [0x55720960d3c0]
 *     ./prog[0x401369]
 *     /lib/x86_64-linux-gnu/libc.so.6(+0x3c050)[0x7fcd3dee8050]
 *
 * Addresses are return addresses, but for what a signal interrupted. The text is printed by the
 * program itself, which goes on from there.
 */
#include "evidence/backtrace_text.h"

#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

struct glibc_reader {
    struct backtrace_reader *out;
    struct backtrace_frame_vec frames; // the stack being read
    struct backtrace_frame_vec last;   // the last whole one
    uint32_t stack_count;
};

struct glibc_reader *glibc_reader_create(struct backtrace_reader *out)
{
    struct glibc_reader *reader = xcalloc(1, sizeof(*reader));
    reader->out = out;
    out->dialect = BACKTRACE_GLIBC;
    return reader;
}

// "parse+0x1a", "+0x13c0" or nothing
static bool parse_symbol(struct arena *arena, char *symbol, struct backtrace_frame *frame)
{
    char *plus = strrchr(symbol, '+');
    if (!*symbol)
        return true;
    uint64_t value;
    const char *behind = plus ? text_hex(plus + 1, &value) : NULL;
    if (!behind || *behind)
        return false;
    if (plus == symbol) {
        frame->has_offset = true;
        frame->offset = value;
        return true;
    }
    *plus = '\0';
    frame->function = arena_strdup(arena, symbol);
    frame->has_symbol_offset = true;
    frame->symbol_offset = value;
    return true;
}

static bool parse_line(struct arena *arena, const char *line, struct backtrace_frame *frame)
{
    _cleanup_free_ char *text = xstrdup(line);
    char *open = strrchr(text, '[');
    const char *behind = open ? text_hex(open + 1, &frame->pc) : NULL;
    if (!behind || strcmp(behind, "]") != 0)
        return false;
    while (open > text && open[-1] == ' ')
        open--;
    *open = '\0';
    char *symbol = open > text && open[-1] == ')' ? strrchr(text, '(') : NULL;
    if (symbol) {
        open[-1] = '\0';
        *symbol = '\0';
        if (!parse_symbol(arena, symbol + 1, frame))
            return false;
    }
    // behind a time stamp
    const char *image = strrchr(text, ' ');
    image = image ? image + 1 : text;
    if (!*image || (!symbol && !strchr(image, '/')))
        return false;
    frame->image = arena_strdup(arena, image);
    frame->has_pc = true;
    return true;
}

static void end_stack(struct glibc_reader *reader)
{
    if (reader->frames.length >= 2) {
        struct backtrace_frame_vec other = reader->last;
        reader->last = reader->frames;
        reader->frames = other;
        reader->stack_count++;
    }
    backtrace_frame_vec_clear(&reader->frames);
}

void glibc_reader_line(struct glibc_reader *reader, const char *line, uint32_t number)
{
    struct backtrace_frame frame = {.text_line = number, .number = (uint32_t)reader->frames.length};
    if (*line && line[strlen(line) - 1] == ']' && parse_line(reader->out->arena, line, &frame))
        backtrace_frame_vec_push(&reader->frames, frame);
    else
        end_stack(reader);
}

void glibc_reader_finish(struct glibc_reader *reader)
{
    end_stack(reader);
    if (reader->stack_count) {
        reader->out->first_line = reader->last.data[0].text_line;
        reader_keep_stack(reader->out, &reader->last, (struct backtrace_stack){.crashed = true});
    }
    if (reader->stack_count > 1)
        reader_warn(reader->out, "%u stacks before the last one are not used: the program went on",
                    reader->stack_count - 1);
    backtrace_frame_vec_deinit(&reader->frames);
    backtrace_frame_vec_deinit(&reader->last);
    free(reader);
}
