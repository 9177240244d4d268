// SPDX-License-Identifier: Apache-2.0
/*
 * For the tests of evidence/core: small programs, compiled and crashed for real, and what gdb says
 * of their cores.
 *
 *     struct crash crash;
 *     crash_init(&crash);                              // a fresh directory
 *     crash_build(&crash, source, "-O2");              // clang-19 -g ... -o program
 *     crash_run(&crash, (const char *[]){"3", NULL});  // leaves crash.core
 *     crash_open(&crash);                              // core, modules, unwinder, the first stack
 *     crash_deinit(&crash);
 *
 * Where core_pattern would not leave the core in the directory, gdb writes it.
 */
#ifndef INQUEST_TEST_CORE_PROGRAM_H
#define INQUEST_TEST_CORE_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "evidence/core/core.h"
#include "evidence/core/dwarf.h"
#include "evidence/core/modules.h"
#include "evidence/core/unwind.h"

struct crash {
    char *directory;
    char *program, *core_path;
    struct core *core;
    struct modules *modules;
    struct unwinder *unwinder;
    struct unwind_stack stack; // of the failed thread
};

static inline void crash_shell(const struct crash *crash, const char *format, ...)
    __attribute__((__format__(__printf__, 2, 3)));

/* A command in the directory, which must succeed. */
static inline void crash_shell(const struct crash *crash, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    _cleanup_free_ char *command = xvasprintf(format, arguments);
    va_end(arguments);
    _cleanup_free_ char *whole = xasprintf("cd '%s' && %s", crash->directory, command);
    int status = system(whole);
    if (status != 0)
        fail_msg("'%s' gave status %d", whole, status);
}

static inline char *crash_path(const struct crash *crash, const char *name)
{
    return file_join(crash->directory, name);
}

static inline void crash_init(struct crash *crash)
{
    const char *parent = getenv("TMPDIR");
    *crash =
        (struct crash){.directory = xasprintf("%s/test_core.XXXXXX", parent ? parent : "/tmp")};
    assert_non_null(mkdtemp(crash->directory));
    crash->program = crash_path(crash, "program");
    crash->core_path = crash_path(crash, "core");
}

static inline void crash_close(struct crash *crash)
{
    unwind_stack_deinit(&crash->stack);
    unwinder_destroy(crash->unwinder);
    modules_destroy(crash->modules);
    core_destroy(crash->core);
    crash->unwinder = NULL;
    crash->modules = NULL;
    crash->core = NULL;
}

static inline void crash_deinit(struct crash *crash)
{
    crash_close(crash);
    crash_shell(crash, "rm -rf '%s'", crash->directory);
    free(crash->directory);
    free(crash->program);
    free(crash->core_path);
}

static inline void crash_build(const struct crash *crash, const char *source, const char *flags)
{
    _cleanup_free_ char *path = crash_path(crash, "program.c");
    struct error *err = file_write(path, source, strlen(source), 0666);
    assert_null(err);
    crash_shell(crash, "clang-19 -g -Wno-everything %s program.c -o program -lpthread", flags);
}

static inline bool crash_pattern_is_plain(void)
{
    struct file_bytes pattern = FILE_BYTES_INIT;
    struct error *err = file_read("/proc/sys/kernel/core_pattern", &pattern);
    bool plain = !err && pattern.size > 0 && pattern.data[0] != '|' && pattern.data[0] != '/';
    error_destroy(err);
    file_bytes_deinit(&pattern);
    return plain;
}

/* Whatever the kernel called it becomes crash->core_path. */
static inline void crash_find_core(const struct crash *crash)
{
    DIR *directory = opendir(crash->directory);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (strstr(entry->d_name, "core") && entry->d_name[0] != '.') {
            _cleanup_free_ char *path = crash_path(crash, entry->d_name);
            rename(path, crash->core_path);
        }
    }
    closedir(directory);
}

/* Runs the program with arguments (without argv[0]); it must die by a signal. */
static inline void crash_run(const struct crash *crash, const char *const *arguments)
{
    unlink(crash->core_path);
    const char *argv[16] = {crash->program};
    for (size_t i = 0; arguments && arguments[i] && i < 14; i++)
        argv[i + 1] = arguments[i];
    if (!crash_pattern_is_plain()) {
        struct strbuf words = STRBUF_INIT;
        for (size_t i = 1; argv[i]; i++)
            strbuf_printf(&words, " '%s'", argv[i]);
        crash_shell(crash,
                    "gdb -nx -q -batch -ex 'handle SIGSEGV nostop pass' -ex 'run%s' "
                    "-ex 'generate-core-file core' ./program >/dev/null 2>&1",
                    words.data);
        strbuf_deinit(&words);
        return;
    }
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
        setrlimit(RLIMIT_CORE, &limit);
        if (chdir(crash->directory) == 0)
            execv(crash->program, (char *const *)argv);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    crash_find_core(crash);
}

static inline void crash_fail(struct error *err)
{
    if (!err)
        return;
    _cleanup_free_ char *text = error_text(err);
    error_destroy(err);
    fail_msg("%s", text);
}

static inline void crash_open_with(struct crash *crash, const char *program,
                                   const char *const *directories)
{
    struct modules_options options = {.executable = program, .directories = directories};
    crash_fail(core_open(crash->core_path, &crash->core));
    crash_fail(modules_open(crash->core, &options, &crash->modules));
    crash->unwinder = unwinder_create(crash->modules);
    unwind_thread(crash->unwinder, core_thread_at(crash->core, 0), &crash->stack);
}

static inline void crash_open(struct crash *crash)
{
    crash_open_with(crash, crash->program, NULL);
}

/* --- virtual frames as lines of text, ours and gdb's --- */

/*
 * `pc function file:line`, the file by the last part of its name. Of other files only the pc, and
 * only of physical frames: an address of a library has several names, and each reader of symbols
 * likes another one.
 */
static inline void crash_append_frame(struct strbuf *text, uint64_t pc, const char *function,
                                      const char *file, uint32_t line, bool is_inlined)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    file = slash ? slash + 1 : file;
    bool is_ours = file && strcmp(file, "program.c") == 0;
    if (is_ours)
        strbuf_printf(text, "0x%lx %s %s:%u\n", (unsigned long)pc, function, file, line);
    else if (!is_inlined)
        strbuf_printf(text, "0x%lx\n", (unsigned long)pc);
}

static inline void crash_append_ours(struct strbuf *text, const struct unwind_frame *frame)
{
    struct debug_info *info = NULL;
    uint64_t at = unwind_frame_lookup(frame);
    struct error *err = frame->module ? debug_info_open(frame->module, &info) : NULL;
    error_destroy(err);
    const struct debug_scope *scope = info ? debug_scope_at(info, at) : NULL;
    struct debug_row row = {.line = 0};
    if (!scope || !module_info(frame->module)->is_executable) {
        crash_append_frame(text, frame->pc, "", NULL, 0, false);
        return;
    }
    debug_row_at(info, at, &row);
    const char *file = row.file;
    uint32_t line = row.line;
    for (; scope; scope = scope->parent) {
        crash_append_frame(text, frame->pc, scope->name, file, line, scope->parent != NULL);
        file = scope->call_file;
        line = scope->call_line;
    }
}

static inline char *crash_our_backtrace(const struct unwind_stack *stack)
{
    struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < stack->count; i++)
        crash_append_ours(&text, &stack->frames[i]);
    return strbuf_steal(&text);
}

/* The same from gdb, of the thread with that id. */
static inline char *crash_gdb_backtrace(const struct crash *crash, const char *program,
                                        uint32_t tid)
{
    static const char script[] = "import gdb, os\n"
                                 "def show(frame):\n"
                                 "    if frame.type() == gdb.TAILCALL_FRAME:\n"
                                 "        return\n"
                                 "    table = frame.find_sal().symtab\n"
                                 "    name = os.path.basename(table.filename) if table else ''\n"
                                 "    if name == 'program.c':\n"
                                 "        print('@0x%x %s %s:%d' % (frame.pc(), frame.name(), "
                                 "name, frame.find_sal().line))\n"
                                 "    elif frame.type() != gdb.INLINE_FRAME:\n"
                                 "        print('@0x%x' % frame.pc())\n"
                                 "for thread in gdb.selected_inferior().threads():\n"
                                 "    if thread.ptid[1] != tid:\n"
                                 "        continue\n"
                                 "    thread.switch()\n"
                                 "    frame = gdb.newest_frame()\n"
                                 "    while frame:\n"
                                 "        show(frame)\n"
                                 "        frame = frame.older()\n";
    _cleanup_free_ char *script_path = crash_path(crash, "frames.py");
    _cleanup_free_ char *path = crash_path(crash, "gdb.out");
    crash_fail(file_write(script_path, script, strlen(script), 0666));
    crash_shell(crash,
                "gdb -nx -q -batch -iex 'set debuginfod enabled off' "
                "-ex 'set backtrace past-main on' -ex 'python tid = %u' -ex 'source frames.py' "
                "'%s' core >gdb.out 2>gdb.err",
                tid, program);
    struct file_bytes output = FILE_BYTES_INIT;
    crash_fail(file_read(path, &output));
    struct strbuf text = STRBUF_INIT;
    for (char *line = (char *)output.data, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (line[0] == '@')
            strbuf_printf(&text, "%s\n", line + 1);
    }
    file_bytes_deinit(&output);
    return strbuf_steal(&text);
}

static inline void crash_compare_with_gdb(const struct crash *crash, const char *program)
{
    uint32_t tid = core_thread_at(crash->core, 0)->tid;
    _cleanup_free_ char *ours = crash_our_backtrace(&crash->stack);
    _cleanup_free_ char *theirs = crash_gdb_backtrace(crash, program, tid);
    assert_string_equal(ours, theirs);
}

static inline bool crash_frame_is(const struct unwind_frame *frame, const char *function)
{
    struct debug_info *info = NULL;
    uint64_t at = unwind_frame_lookup(frame);
    struct error *err = frame->module ? debug_info_open(frame->module, &info) : NULL;
    error_destroy(err);
    const struct debug_scope *scope = info ? debug_scope_at(info, at) : NULL;
    struct module_symbol symbol;
    if (!scope)
        return frame->module && module_symbol_at(frame->module, at, &symbol) &&
               strcmp(symbol.name, function) == 0;
    while (scope && strcmp(scope->name, function) != 0)
        scope = scope->parent;
    return scope != NULL;
}

/* The number of the first physical frame from number from on with a function of that name. */
static inline size_t crash_find_frame(const struct crash *crash, const char *function, size_t from)
{
    for (size_t i = from; i < crash->stack.count; i++) {
        if (crash_frame_is(&crash->stack.frames[i], function))
            return i;
    }
    fail_msg("no frame of '%s'", function);
    return 0;
}

#endif
