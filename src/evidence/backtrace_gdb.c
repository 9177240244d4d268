// SPDX-License-Identifier: Apache-2.0
/*
 * What gdb prints: `bt`, `bt full`, `bt N`, `bt -N`, `frame`, `thread apply all bt`, of a live
 * process or a core, one after the other in one text.
 *
 *     #3  0x00005555555551b6 in parse (at=0x0, n=3) at src/parse.c:47
 *     #4  parse_all (n=3) at src/parse.c:90                 inlined: #3 has no frame of its own
 *     #5  <signal handler called>
 *     #6  0x00007ffff7e12bf4 in ?? () from /lib/x86_64-linux-gnu/libc.so.6
 *
 * Frames are kept by thread and number, so that it does not matter how often and in how many pieces
 * a stack was printed; two frames of one number that differ are a contradiction. Whenever the
 * program goes on, all that was seen before is forgotten.
 */
#include "evidence/backtrace_text.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/strbuf.h"

// A frame's arguments may go over several lines.
#define FRAME_TEXT_MAX 65536u

#define NOT_CUT UINT32_MAX

struct gdb_thread {
    uint32_t number; // 0: the one that is selected
    int64_t tid;
    struct backtrace_frame_vec frames; // by number, once settled
    uint32_t cut_after;                // the text says that more follow this one
    const char *end;
};

VEC_DEFINE(gdb_thread_vec, struct gdb_thread);

struct gdb_reader {
    struct backtrace_reader *out;
    struct gdb_thread_vec threads;
    uint32_t section; // number of the thread whose stack is being printed
    bool in_section;  // some of its frames were, under this heading
    uint32_t last;    // the last number seen there
    uint32_t selected;
    uint32_t stopped; // the thread that took the signal, 0 when not told
    bool is_core;
    struct strbuf pending;
    uint32_t pending_line;
};

struct gdb_reader *gdb_reader_create(struct backtrace_reader *out)
{
    struct gdb_reader *reader = xcalloc(1, sizeof(*reader));
    reader->out = out;
    out->dialect = BACKTRACE_GDB;
    strbuf_init(&reader->pending);
    return reader;
}

static void forget_threads(struct gdb_reader *reader)
{
    for (size_t i = 0; i < reader->threads.length; i++)
        backtrace_frame_vec_deinit(&reader->threads.data[i].frames);
    gdb_thread_vec_clear(&reader->threads);
    reader->section = 0;
    reader->in_section = false;
    error_destroy(reader->out->problem);
    reader->out->problem = NULL;
}

static struct gdb_thread *find_thread(struct gdb_reader *reader, uint32_t number)
{
    for (size_t i = 0; i < reader->threads.length; i++) {
        if (reader->threads.data[i].number == number)
            return &reader->threads.data[i];
    }
    gdb_thread_vec_push(&reader->threads,
                        (struct gdb_thread){.number = number, .cut_after = NOT_CUT});
    return gdb_thread_vec_last(&reader->threads);
}

// ---- One frame

// Behind a string or a character; `at` itself where none begins. NULL: it does not end.
static const char *skip_quoted(const char *at)
{
    if (*at == '\'') {
        size_t length = at[1] == '\\' ? strcspn(at + 2, "'") + 2 : 2;
        return strnlen(at, length + 1) > length && at[length] == '\'' ? at + length + 1 : at;
    }
    if (*at != '"')
        return at;
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1])
            at++;
    }
    return *at ? at + 1 : NULL;
}

// The place behind the parenthesis that closes the one at `at`; NULL when none does.
static const char *skip_arguments(const char *at)
{
    unsigned depth = 0;
    while (at && *at) {
        const char *behind = skip_quoted(at);
        if (behind != at) {
            at = behind;
            continue;
        }
        depth += *at == '(';
        depth -= *at == ')';
        at++;
        if (depth == 0)
            return at;
    }
    return NULL;
}

enum frame_text {
    FRAME_NONE,
    FRAME_UNFINISHED, // its arguments go on
    FRAME_OPEN,       // complete, but the place may stand on the next line
    FRAME_COMPLETE,
};

static enum frame_text parse_tail(struct arena *arena, const char *at,
                                  struct backtrace_frame *frame)
{
    const char *place = text_skip(at, " at "), *image = text_skip(at, " from ");
    if (*text_spaces(at) == '\0')
        return FRAME_OPEN;
    if (place)
        return text_place(arena, place, strlen(place), frame) ? FRAME_COMPLETE : FRAME_NONE;
    if (!image || !*image)
        return FRAME_NONE;
    frame->image = arena_strdup(arena, image);
    return FRAME_COMPLETE;
}

// " (" behind the name, which may have template arguments with the same in them.
static const char *find_arguments(const char *name)
{
    int depth = 0;
    for (const char *at = name; *at; at++) {
        depth += *at == '<';
        depth -= *at == '>';
        if (depth == 0 && at > name && at[0] == ' ' && at[1] == '(')
            return at;
    }
    return *name ? strstr(name + 1, " (") : NULL;
}

static enum frame_text parse_call(struct arena *arena, const char *at,
                                  struct backtrace_frame *frame)
{
    const char *open = find_arguments(at);
    if (!open)
        return FRAME_NONE;
    size_t length = (size_t)(open - at);
    if (length != 2 || strncmp(at, "??", 2) != 0)
        frame->function = arena_strndup(arena, at, length);
    const char *behind = skip_arguments(open + 1);
    if (!behind)
        return FRAME_UNFINISHED;
    // "()", "(n=1)" or "(...)"; else it is prose
    size_t size = (size_t)(behind - open - 1);
    if (size != 2 && !memchr(open, '=', size) && !text_begins(open, " (...)"))
        return FRAME_NONE;
    return parse_tail(arena, behind, frame);
}

static enum frame_text parse_frame(struct arena *arena, const char *line,
                                   struct backtrace_frame *frame)
{
    struct backtrace_frame other = {0};
    bool is_plain;
    *frame = (struct backtrace_frame){0};
    const char *at = text_frame_number(line, &frame->number, &is_plain);
    if (!at || sanitizer_frame(arena, line, &other))
        return FRAME_NONE;
    const char *behind = text_skip(text_hex(at, &frame->pc), " in ");
    frame->has_pc = behind != NULL;
    if (behind)
        at = behind;
    if (text_begins(at, "<signal handler called>")) {
        frame->is_signal = true;
        return FRAME_COMPLETE;
    }
    enum frame_text result = parse_call(arena, at, frame);
    // behind other words only what is certainly a frame
    if (result == FRAME_OPEN && !is_plain && !frame->has_pc)
        return FRAME_NONE;
    return result;
}

// ---- The frames of a thread

static bool same_text(const char *a, const char *b)
{
    return !a || !b || strcmp(a, b) == 0;
}

// Can both be the same frame, printed in two ways?
static bool same_frame(const struct backtrace_frame *a, const struct backtrace_frame *b)
{
    return a->is_signal == b->is_signal && same_text(a->function, b->function) &&
           (!a->has_pc || !b->has_pc || a->pc == b->pc) && same_text(a->file, b->file) &&
           (!a->line || !b->line || a->line == b->line);
}

static void contradiction(struct gdb_reader *reader, const struct backtrace_frame *a,
                          const struct backtrace_frame *b)
{
    if (!reader->out->problem)
        reader->out->problem = error_create_at_line(
            ERROR_FORMAT, NULL, b->text_line,
            "two different stacks of one thread: frame #%u is another one on line %u", b->number,
            a->text_line);
}

static int compare_frames(const void *a, const void *b)
{
    const struct backtrace_frame *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->text_line < y->text_line ? -1 : x->text_line > y->text_line;
}

// By number, one frame a number.
static void settle_frames(struct gdb_reader *reader, struct gdb_thread *thread)
{
    struct backtrace_frame *frames = thread->frames.data;
    size_t kept = 0;
    if (thread->frames.length)
        qsort(frames, thread->frames.length, sizeof(*frames), compare_frames);
    for (size_t i = 0; i < thread->frames.length; i++) {
        if (kept == 0 || frames[kept - 1].number != frames[i].number)
            frames[kept++] = frames[i];
        else if (!same_frame(&frames[kept - 1], &frames[i]))
            contradiction(reader, &frames[kept - 1], &frames[i]);
        else if (frames[i].has_pc && !frames[kept - 1].has_pc)
            frames[kept - 1] = frames[i];
    }
    thread->frames.length = kept;
}

static void take_frame(struct gdb_reader *reader, const struct backtrace_frame *frame)
{
    if (reader->in_section && frame->number <= reader->last)
        reader->section = reader->selected; // the next one, without a heading
    reader->in_section = true;
    reader->last = frame->number;
    if (!reader->out->first_line)
        reader->out->first_line = frame->text_line;
    backtrace_frame_vec_push(&find_thread(reader, reader->section)->frames, *frame);
}

static void flush_pending(struct gdb_reader *reader)
{
    struct backtrace_frame frame;
    if (reader->pending.length == 0)
        return;
    enum frame_text kind = parse_frame(reader->out->arena, reader->pending.data, &frame);
    frame.text_line = reader->pending_line;
    if (kind == FRAME_OPEN || kind == FRAME_COMPLETE)
        take_frame(reader, &frame);
    strbuf_clear(&reader->pending);
}

// Does the line go on with the frame before it?
static bool continue_pending(struct gdb_reader *reader, const char *line)
{
    struct backtrace_frame frame;
    const char *at = text_spaces(line);
    if (reader->pending.length == 0 || at == line || *at == '#' ||
        reader->pending.length + strlen(at) > FRAME_TEXT_MAX)
        return false;
    enum frame_text kind = parse_frame(reader->out->arena, reader->pending.data, &frame);
    if (kind != FRAME_UNFINISHED &&
        (kind != FRAME_OPEN || (!text_begins(at, "at ") && !text_begins(at, "from "))))
        return false;
    strbuf_append_char(&reader->pending, ' ');
    strbuf_append(&reader->pending, at);
    return true;
}

// ---- Everything else that matters

// "Thread 2 (Thread 0x7ffff7dcf6c0 (LWP 32639) "prog"):"
static bool read_heading(struct gdb_reader *reader, const char *line)
{
    uint32_t number, tid = 0;
    const char *at = text_number(text_skip(line, "Thread "), &number);
    if (!at || !text_begins(at, " (") || !strchr(at, ')') || number == 0 ||
        strstr(at, "received signal"))
        return false;
    reader->section = number;
    reader->in_section = false;
    if (text_find_number(at, "LWP ", &tid) || text_find_number(at, "process ", &tid))
        find_thread(reader, number)->tid = tid;
    return true;
}

// "[Current thread is 1 (Thread 0x7ffff7d8a740 (LWP 4711))]", "[Switching to thread 2 (...)]"
static bool read_selection(struct gdb_reader *reader, const char *line)
{
    const char *at = text_skip(line, "[Current thread is ");
    uint32_t tid;
    if (!at)
        at = text_skip(line, "[Switching to thread ");
    if (!at)
        return false;
    bool is_first = reader->selected == 0;
    text_number(at, &reader->selected);
    if (text_find_number(at, "LWP ", &tid))
        find_thread(reader, reader->selected)->tid = tid;
    // the one that gdb shows first is the one that failed
    if (is_first && reader->is_core && !reader->stopped)
        reader->stopped = reader->selected;
    reader->section = reader->selected;
    reader->in_section = false;
    return true;
}

// "Program received signal SIGSEGV, ...", "Thread 2 "prog" received signal SIGSEGV, ...",
// "Program terminated with signal SIGSEGV, ...": of a core, or of a process that is gone.
static bool read_signal(struct gdb_reader *reader, const char *line)
{
    const char *at = strstr(line, " received signal ");
    bool is_stop = at != NULL;
    uint32_t number = 0;
    if (is_stop)
        at += strlen(" received signal ");
    else
        at = text_skip(line, "Program terminated with signal ");
    if (!at || (is_stop && !text_begins(line, "Program") && !text_begins(line, "Thread ")))
        return false;
    int signal = backtrace_signal_number(at, strcspn(at, ",. "));
    if (is_stop)
        forget_threads(reader);
    reader->is_core = !is_stop;
    reader->out->signal = (struct evidence_signal){.number = signal};
    if (is_stop && text_number(text_skip(line, "Thread "), &number))
        reader->stopped = reader->selected = number;
    else if (is_stop)
        reader->stopped = reader->selected = 0;
    if (is_stop)
        reader->section = reader->selected;
    return true;
}

static void program_went_on(struct gdb_reader *reader, const char *why)
{
    forget_threads(reader);
    reader->out->signal = (struct evidence_signal){0};
    reader->stopped = reader->selected = 0;
    reader->out->reason = why;
}

// What says that the stacks seen so far are not those of the end.
static bool read_going_on(struct gdb_reader *reader, const char *line)
{
    if (text_begins(line, "Continuing.") || text_begins(line, "Starting program: ") ||
        text_begins(line, "Run till exit "))
        program_went_on(reader, "the program went on after the last stack");
    else if (text_begins(line, "[Inferior ") && strstr(line, ") exited"))
        program_went_on(reader, "the program ended by itself after the last stack");
    else if (text_begins(line, "The program no longer exists."))
        program_went_on(reader, "the program was gone when its stack was asked for");
    else
        return false;
    return true;
}

static bool read_limit(struct gdb_reader *reader, const char *line)
{
    const char *stopped = text_skip(line, "Backtrace stopped: ");
    if (!stopped && !text_begins(line, "(More stack frames follow...)"))
        return false;
    if (reader->in_section) {
        struct gdb_thread *thread = find_thread(reader, reader->section);
        thread->cut_after = reader->last;
        thread->end = arena_strdup(reader->out->arena,
                                   stopped ? stopped : "the text does not show the frames behind");
    }
    return true;
}

static bool read_command(struct gdb_reader *reader, const char *line)
{
    const char *at = text_skip(line, "Core was generated by `");
    size_t length = at ? strlen(at) : 0;
    if (!at)
        return false;
    if (length >= 2 && strcmp(at + length - 2, "'.") == 0)
        length -= 2;
    reader->out->command = arena_strndup(reader->out->arena, at, length);
    reader->is_core = true;
    return true;
}

void gdb_reader_line(struct gdb_reader *reader, const char *line, uint32_t number)
{
    struct backtrace_frame frame;
    if (continue_pending(reader, line))
        return;
    flush_pending(reader);
    while (text_begins(line, "(gdb) ")) {
        line += strlen("(gdb) ");
        reader->section = reader->selected;
        reader->in_section = false;
    }
    if (parse_frame(reader->out->arena, line, &frame) != FRAME_NONE) {
        strbuf_append(&reader->pending, line);
        reader->pending_line = number;
        return;
    }
    if (!read_heading(reader, line) && !read_selection(reader, line) &&
        !read_signal(reader, line) && !read_going_on(reader, line) && !read_limit(reader, line))
        read_command(reader, line);
}

// ---- The end

static void mark_skipped(struct gdb_thread *thread)
{
    for (size_t i = 0; i < thread->frames.length; i++) {
        uint32_t before = i ? thread->frames.data[i - 1].number + 1 : 0;
        thread->frames.data[i].after_skipped = thread->frames.data[i].number != before;
    }
}

// Is all that one has also in the other, as far as both go?
static bool threads_agree(const struct gdb_thread *a, const struct gdb_thread *b)
{
    uint32_t common = 0;
    for (size_t i = 0, k = 0; i < a->frames.length && k < b->frames.length;) {
        const struct backtrace_frame *x = &a->frames.data[i], *y = &b->frames.data[k];
        if (x->number == y->number && !same_frame(x, y))
            return false;
        common += x->number == y->number;
        i += x->number <= y->number;
        k += y->number <= x->number;
    }
    return common > 0;
}

// The stack without a heading is that of the selected thread; when it is not told which that is, of
// the only one that it can be.
static void settle_selected(struct gdb_reader *reader)
{
    struct gdb_thread *unnamed = NULL, *found = NULL;
    uint32_t agreeing = 0;
    for (size_t i = 0; i < reader->threads.length; i++) {
        if (reader->threads.data[i].number == 0)
            unnamed = &reader->threads.data[i];
    }
    if (!unnamed || unnamed->frames.length == 0)
        return;
    for (size_t i = 0; i < reader->threads.length; i++) {
        struct gdb_thread *thread = &reader->threads.data[i];
        if (thread != unnamed && threads_agree(thread, unnamed)) {
            found = thread;
            agreeing++;
        }
    }
    if (agreeing == 1) {
        backtrace_frame_vec_append(&found->frames, unnamed->frames.data, unnamed->frames.length);
        backtrace_frame_vec_clear(&unnamed->frames);
        settle_frames(reader, found);
        if (!reader->stopped)
            reader->stopped = found->number;
    }
}

// The number of the thread that failed; UINT32_MAX: it cannot be told.
static uint32_t failed_thread(const struct gdb_reader *reader)
{
    uint32_t with_frames = 0, only = UINT32_MAX, first = UINT32_MAX;
    bool has_unnamed = false;
    for (size_t i = 0; i < reader->threads.length; i++) {
        const struct gdb_thread *thread = &reader->threads.data[i];
        if (thread->frames.length == 0)
            continue;
        with_frames++;
        only = thread->number;
        has_unnamed |= thread->number == 0;
        if (thread->number == 1)
            first = 1;
        if (reader->stopped && thread->number == reader->stopped)
            return reader->stopped;
    }
    if (with_frames == 1)
        return only;
    if (has_unnamed)
        return 0;
    // gdb counts the threads of a core from the one that took the signal
    return reader->is_core ? first : UINT32_MAX;
}

static void keep_threads(struct gdb_reader *reader)
{
    uint32_t failed = failed_thread(reader);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < reader->threads.length; i++) {
            struct gdb_thread *thread = &reader->threads.data[i];
            if (thread->frames.length == 0 || (thread->number == failed) != (pass == 0))
                continue;
            mark_skipped(thread);
            bool is_cut = thread->cut_after == backtrace_frame_vec_last(&thread->frames)->number;
            reader_keep_stack(reader->out, &thread->frames,
                              (struct backtrace_stack){.thread = thread->number,
                                                       .tid = thread->tid,
                                                       .crashed = pass == 0,
                                                       .is_cut = is_cut,
                                                       .end = is_cut ? thread->end : NULL});
        }
    }
    if (failed == UINT32_MAX && reader->out->stacks.length)
        reader_warn(reader->out, "the text does not say which of the %zu threads failed",
                    reader->out->stacks.length);
}

void gdb_reader_finish(struct gdb_reader *reader)
{
    flush_pending(reader);
    for (size_t i = 0; i < reader->threads.length; i++)
        settle_frames(reader, &reader->threads.data[i]);
    settle_selected(reader);
    if (!reader->out->problem)
        keep_threads(reader);
    struct error *problem = reader->out->problem;
    reader->out->problem = NULL;
    forget_threads(reader);
    reader->out->problem = problem;
    gdb_thread_vec_deinit(&reader->threads);
    strbuf_deinit(&reader->pending);
    free(reader);
}
