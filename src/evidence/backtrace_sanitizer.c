// SPDX-License-Identifier: Apache-2.0
/*
 * What the sanitizers of clang and gcc print.
 *
 *     ==486==ERROR: AddressSanitizer: heap-use-after-free on address 0x502000000010 at pc ...
 *     READ of size 4 at 0x502000000010 thread T0
 *         #0 0x562998697dd3 in use /src/a.c:8:32
 *         #1 0x5629985b8330 in _start (/src/prog+0x2c330) (BuildId: 11b7f1cb)
 *
 * The first stack of a report is where it was made. Those behind it (freed by, allocated by,
 * previous access, thread created by) are of other moments, and the runtime takes them from frame
 * pointers, which may be no frames at all: they are not used.
 *
 * A report is the end of the run when it says so ("ABORTING"), or was made of a deadly signal. Else
 * the program may have gone on; then the report is taken only when nothing follows it in the text.
 */
#include "evidence/backtrace_text.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

enum report_state {
    REPORT_NONE,
    REPORT_HEAD,  // before its stack
    REPORT_STACK, // in it
    REPORT_TAIL,  // behind it
};

struct report {
    uint32_t line;
    const char *tool; // "AddressSanitizer"
    bool is_end;      // the run ended with it, for sure
    bool is_followed; // by something that is not part of it
    bool has_summary; // seen
    bool is_no_stack; // leaks and other findings that are not about where control stood
    int signal;
    bool has_address;
    uint64_t address;
    int64_t pid;
    uint32_t thread;
    struct backtrace_frame_vec frames;
};

struct sanitizer_reader {
    struct backtrace_reader *out;
    enum report_state state;
    struct report report; // the last one
    uint32_t report_count;
};

struct sanitizer_reader *sanitizer_reader_create(struct backtrace_reader *out)
{
    struct sanitizer_reader *reader = xcalloc(1, sizeof(*reader));
    reader->out = out;
    out->dialect = BACKTRACE_SANITIZER;
    return reader;
}

// ---- Frames

// "(/src/prog+0x2c330)" at the end of `length` bytes; the length without it.
static size_t take_module(struct arena *arena, const char *at, size_t length,
                          struct backtrace_frame *frame)
{
    if (length < 2 || at[length - 1] != ')')
        return length;
    size_t open = length - 1;
    while (open > 0 && at[open] != '(')
        open--;
    _cleanup_free_ char *inside = xstrndup(at + open + 1, length - open - 2);
    char *plus = strrchr(inside, '+');
    const char *behind = plus ? text_hex(plus + 1, &frame->offset) : NULL;
    if (at[open] != '(' || !behind || *behind || plus == inside)
        return length;
    *plus = '\0';
    frame->image = arena_strdup(arena, inside);
    frame->has_offset = true;
    while (open > 0 && at[open - 1] == ' ')
        open--;
    return open;
}

// "(BuildId: 11b7f1cb...)" at the end of `length` bytes; the length without it.
static size_t take_build_id(struct arena *arena, const char *at, size_t length,
                            struct backtrace_frame *frame)
{
    static const char word[] = "(BuildId: ";
    const char *found = strstr(at, word);
    if (!found || length == 0 || at[length - 1] != ')' || found >= at + length)
        return length;
    const char *digits = found + strlen(word);
    if (digits < at + length - 1)
        frame->build_id = arena_strndup(arena, digits, (size_t)(at + length - 1 - digits));
    length = (size_t)(found - at);
    while (length > 0 && at[length - 1] == ' ')
        length--;
    return length;
}

// "NAME FILE:LINE:COLUMN", "NAME FILE", "NAME <null>", "NAME"
static bool take_function(struct arena *arena, const char *at, size_t length,
                          struct backtrace_frame *frame)
{
    const char *space = memchr(at, ' ', length);
    if (length == 0)
        return true;
    // C++: the name has parameters, with spaces between them
    if (space && memchr(at, '(', (size_t)(space - at))) {
        space = at + length;
        while (space > at && space[-1] != ' ')
            space--;
        space = space > at ? space - 1 : NULL;
    }
    size_t name = space ? (size_t)(space - at) : length;
    if (name == 0)
        return false;
    if (strncmp(at, "<null>", name) != 0 && strncmp(at, "??", name) != 0)
        frame->function = arena_strndup(arena, at, name);
    if (!space)
        return true;
    const char *place = space + 1;
    size_t rest = length - name - 1;
    if (!text_place(arena, place, rest, frame) && strncmp(place, "<null>", rest) != 0) {
        if (!memchr(place, '/', rest) && !memchr(place, '.', rest))
            return false;
        frame->file = arena_strndup(arena, place, rest);
    }
    return true;
}

bool sanitizer_frame(struct arena *arena, const char *line, struct backtrace_frame *ret)
{
    struct backtrace_frame frame = {.pc_is_inside = true};
    bool is_plain;
    const char *at = text_frame_number(line, &frame.number, &is_plain);
    const char *behind = text_hex(at, &frame.pc);
    frame.has_pc = behind != NULL;
    if (!at || (behind && *behind != ' ') || strstr(at, ") at "))
        return false;
    if (behind)
        at = text_spaces(behind);
    const char *named = text_skip(at, "in ");
    if (named)
        at = named;
    size_t length = strlen(at);
    while (length > 0 && at[length - 1] == ' ')
        length--;
    length = take_build_id(arena, at, length, &frame);
    length = take_module(arena, at, length, &frame);
    // gdb's have arguments behind the name: "main (argc=1)"
    if ((!frame.has_pc && !frame.has_offset) || memmem(at, length, " (", 2) ||
        !take_function(arena, at, length, &frame) ||
        (!frame.file && !frame.has_offset && !frame.function))
        return false;
    *ret = frame;
    return true;
}

// ---- Reports

static void start_report(struct sanitizer_reader *reader, const char *tool, uint32_t line)
{
    backtrace_frame_vec_deinit(&reader->report.frames);
    reader->report = (struct report){.line = line, .tool = tool};
    reader->state = REPORT_HEAD;
    reader->report_count++;
}

static const char *find_tool(const char *line, const char *severity)
{
    static const char *const tools[] = {
        "AddressSanitizer",           "MemorySanitizer", "ThreadSanitizer",
        "UndefinedBehaviorSanitizer", "LeakSanitizer",   "HWAddressSanitizer",
    };
    const char *at = strstr(line, severity);
    for (size_t i = 0; at && i < sizeof(tools) / sizeof(tools[0]); i++) {
        const char *behind = text_skip(at + strlen(severity), tools[i]);
        if (behind && *behind == ':')
            return tools[i];
    }
    return NULL;
}

// "SEGV on unknown address 0x0 (pc ... T0)": of a signal that ends the process.
static void read_deadly(struct report *report, const char *what)
{
    size_t length = strcspn(what, " ");
    report->signal = backtrace_signal_number(what, length);
    if (length == strlen("stack-overflow") && text_begins(what, "stack-overflow"))
        report->signal = SIGSEGV;
    report->is_end |= report->signal != 0;
    report->has_address =
        report->signal == SIGSEGV && text_find_hex(what, "address ", &report->address);
    text_find_number(what, " T", &report->thread);
}

static bool read_header(struct sanitizer_reader *reader, const char *line, uint32_t number)
{
    const char *tool = find_tool(line, "ERROR: ");
    uint32_t pid = 0;
    if (!tool)
        tool = find_tool(line, "WARNING: ");
    if (!tool)
        return false;
    start_report(reader, tool, number);
    const char *what = strstr(line, tool) + strlen(tool) + 1;
    what = text_spaces(what);
    read_deadly(&reader->report, what);
    if (text_find_number(line, "==", &pid) || text_find_number(line, "(pid=", &pid))
        reader->report.pid = pid;
    bool is_race = text_begins(what, "data race") || text_begins(what, "heap-use-after-free");
    reader->report.is_no_stack =
        text_begins(what, "detected memory leaks") || strcmp(tool, "LeakSanitizer") == 0 ||
        (strcmp(tool, "ThreadSanitizer") == 0 && !is_race && !reader->report.signal);
    return true;
}

// "a.c:10:38: runtime error: signed integer overflow": a stack follows only if that was asked for.
static bool read_runtime_error(struct sanitizer_reader *reader, const char *line, uint32_t number)
{
    const char *found = strstr(line, ": runtime error: ");
    struct backtrace_frame frame = {.text_line = number};
    if (!found)
        return false;
    const char *start = found;
    while (start > line && start[-1] != ' ' && start[-1] != '\t')
        start--;
    start_report(reader, "UndefinedBehaviorSanitizer", number);
    if (text_place(reader->out->arena, start, (size_t)(found - start), &frame) && frame.column)
        backtrace_frame_vec_push(&reader->report.frames, frame);
    return true;
}

// What tells of another moment than the report's.
static bool is_other_stack(const char *line)
{
    static const char *const words[] = {
        "freed by thread",
        "previously allocated",
        "allocated by thread",
        "located in stack of",
        "created by",
        "Previous ",
        "previous ",
        "As if synchronized",
        "Location is ",
        "Mutex ",
        "allocated from:",
        "was created at",
        "Uninitialized value was",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strstr(line, words[i]))
            return true;
    }
    return false;
}

// Lines that may stand behind a report although nothing ran after it.
static bool is_part_of_tail(const char *line)
{
    static const char *const beginnings[] = {" ",       "=>0x",       "Shadow byte",
                                             "HINT: ",  "SUMMARY:",   "Aborted",
                                             "Exiting", "==========", "NOTE: "};
    if (!*text_spaces(line) || strstr(line, ": note: "))
        return true;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        if (text_begins(line, beginnings[i]))
            return true;
    }
    return false;
}

static void read_tail(struct sanitizer_reader *reader, const char *line)
{
    struct report *report = &reader->report;
    bool ends = text_begins(line, "==") && text_ends(line, "==ABORTING");
    report->is_end |= ends || (report->has_summary && strcmp(line, "Exiting") == 0);
    if (text_begins(line, "SUMMARY: "))
        report->has_summary = true;
    else if (report->has_summary || strcmp(report->tool, "UndefinedBehaviorSanitizer") == 0)
        report->is_followed |= !ends && !is_part_of_tail(line);
}

static void read_thread(struct report *report, const char *line)
{
    if (!report->thread && !text_find_number(line, " thread T", &report->thread))
        text_find_number(line, "in thread T", &report->thread);
}

static void read_in_report(struct sanitizer_reader *reader, const char *line, uint32_t number)
{
    struct report *report = &reader->report;
    struct backtrace_frame frame;
    bool is_frame = sanitizer_frame(reader->out->arena, line, &frame);
    frame.text_line = number;
    if (reader->state == REPORT_HEAD && is_frame && frame.number == 0 && !report->is_no_stack) {
        backtrace_frame_vec_clear(&report->frames); // a place without a stack
        reader->state = REPORT_STACK;
    }
    if (reader->state == REPORT_STACK) {
        if (is_frame && frame.number == report->frames.length) {
            backtrace_frame_vec_push(&report->frames, frame);
            return;
        }
        reader->state = REPORT_TAIL;
    }
    if (reader->state == REPORT_HEAD && is_other_stack(line))
        reader->state = REPORT_TAIL;
    if (reader->state == REPORT_HEAD)
        read_thread(report, line);
    if (!is_frame)
        read_tail(reader, line);
}

void sanitizer_reader_line(struct sanitizer_reader *reader, const char *line, uint32_t number)
{
    if (read_header(reader, line, number) || read_runtime_error(reader, line, number))
        return;
    if (reader->state != REPORT_NONE)
        read_in_report(reader, line, number);
    // at exit, after reports that the program went on from
    if (text_begins(line, "ThreadSanitizer: reported "))
        reader->report.is_followed = true;
}

// ---- The end

static bool judge(struct sanitizer_reader *reader)
{
    struct report *report = &reader->report;
    if (!reader->report_count)
        return false;
    if (report->is_no_stack || report->frames.length == 0)
        reader->out->reason = "the last report is not about where the program stood";
    else if (!report->is_end && report->is_followed)
        reader->out->reason = "the program went on after the last report";
    else
        return true;
    return false;
}

static void keep_report(struct sanitizer_reader *reader)
{
    struct report *report = &reader->report;
    bool is_threads = strcmp(report->tool, "ThreadSanitizer") == 0;
    if (is_threads && !report->signal)
        reader->out->dialect = BACKTRACE_THREADS;
    reader->out->signal = (struct evidence_signal){
        .number = report->signal, .has_address = report->has_address, .address = report->address};
    reader->out->pid = report->pid;
    if (!report->is_end)
        reader_warn(reader->out,
                    "the report on line %u is taken for the end of the run: nothing follows it",
                    report->line);
    bool is_place = report->frames.length == 1 && !report->frames.data[0].has_pc &&
                    !report->frames.data[0].has_offset;
    reader_keep_stack(
        reader->out, &report->frames,
        (struct backtrace_stack){.thread = report->thread,
                                 .crashed = true,
                                 .is_cut = is_place,
                                 .end = is_place ? "the report has a place and no stack" : NULL});
}

void sanitizer_reader_finish(struct sanitizer_reader *reader)
{
    reader->out->first_line = reader->report.line;
    if (judge(reader)) {
        keep_report(reader);
        if (reader->report_count > 1)
            reader_warn(reader->out, "%u earlier reports are not used: the program went on",
                        reader->report_count - 1);
    }
    backtrace_frame_vec_deinit(&reader->report.frames);
    free(reader);
}
