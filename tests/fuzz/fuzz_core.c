// SPDX-License-Identifier: Apache-2.0
// cost: 5
/*
 * Cores: opened, joined with an executable, unwound, variables read. The executable is a small
 * program without a library, compiled and crashed in a signal handler when the fuzzer starts. An
 * input is a core as it is or, when it starts with 0x01, edits of the real one: first two bytes of
 * length to cut it to (0: whole), then triples of region and offset, and a byte.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/file.h"
#include "evidence/core/core.h"
#include "evidence/core/dwarf.h"
#include "evidence/core/modules.h"
#include "evidence/core/unwind.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char source[] =
    "struct action { void *handler; unsigned long flags; void *restorer; unsigned long mask; };\n"
    "extern void restorer(void);\n"
    "__asm__(\"restorer: mov $15, %rax; syscall\");\n"
    "static void handler(int number) { volatile int local = number; __builtin_trap(); }\n"
    "static int work(int n, int *p) { volatile int local = n; return n ? work(n - 1, p) + local : "
    "*p; }\n"
    "void _start(void) {\n"
    "    struct action action = {handler, 0x04000000, restorer, 0};\n"
    "    register long size __asm__(\"r10\") = 8;\n"
    "    long result;\n"
    "    __asm__ volatile(\"syscall\" : \"=a\"(result)\n"
    "                     : \"a\"(13), \"D\"(11), \"S\"(&action), \"d\"(0), \"r\"(size)\n"
    "                     : \"rcx\", \"r11\", \"memory\");\n"
    "    work(5, (int *)8);\n"
    "}\n";

static char directory[] = "/tmp/fuzz_core.XXXXXX";
static char *program;
static struct file_bytes real;
static size_t stack_offset; // of the stack pointer, in the real core

static void remove_directory(void)
{
    static const char *const names[] = {"program", "program.c", "core"};
    for (size_t i = 0; i < 3; i++) {
        char *path = file_join(directory, names[i]);
        unlink(path);
        free(path);
    }
    rmdir(directory);
}

static void crash_program(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    pid_t child = fork();
    if (child == 0) {
        if (chdir(directory) == 0 && setrlimit(RLIMIT_CORE, &limit) == 0)
            execl(program, program, (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    if (!mkdtemp(directory))
        abort();
    atexit(remove_directory);
    char *text = file_join(directory, "program.c"), *path = file_join(directory, "core");
    program = file_join(directory, "program");
    char *command = xasprintf("clang-19 -w -g -O0 -fno-stack-protector -static -nostdlib "
                              "-Wl,--build-id %s -o %s",
                              text, program);
    struct core *core;
    struct error *err = file_write(text, source, strlen(source), 0666);
    if (err || system(command) != 0)
        abort();
    crash_program();
    err = file_read(path, &real);
    if (!err)
        err = core_open_memory(real.data, real.size, "core", &core);
    if (err) { // no cores on this machine: raw inputs only
        error_warn(err);
    } else {
        uint64_t rsp = core_thread_at(core, 0)->registers[CORE_RSP];
        const struct core_segment *segment = core_segment_of(core, rsp);
        stack_offset = segment->offset + (rsp - segment->start);
        core_destroy(core);
    }
    free(text);
    free(path);
    free(command);
    return 0;
}

static void read_frame(const struct modules *modules, const struct unwind_frame *frame)
{
    struct debug_info *info;
    struct module_symbol symbol;
    struct debug_row row;
    unsigned char bytes[8];
    if (!frame->module)
        return;
    uint64_t at = unwind_frame_lookup(frame);
    module_symbol_at(frame->module, at, &symbol);
    struct error *err = debug_info_open(frame->module, &info);
    if (err) {
        error_destroy(err);
        return;
    }
    debug_row_at(info, at, &row);
    for (const struct debug_scope *scope = debug_scope_at(info, at); scope; scope = scope->parent) {
        const struct debug_variable *local = debug_scope_variable(scope, "local");
        if (local)
            debug_variable_read(local, modules, frame, 0, bytes, sizeof(bytes), NULL);
    }
}

static void read_core(const struct core *core)
{
    struct modules *modules;
    struct modules_options options = {.executable = program, .sysroot = "/nonexistent"};
    struct error *err = modules_open(core, &options, &modules);
    if (err) {
        error_destroy(err);
        return;
    }
    struct unwinder *unwinder = unwinder_create(modules);
    for (size_t i = 0; i < core_thread_count(core) && i < 8; i++) {
        struct unwind_stack stack;
        unwind_thread(unwinder, core_thread_at(core, i), &stack);
        for (size_t k = 0; k < stack.count && k < 64; k++)
            read_frame(modules, &stack.frames[k]);
        unwind_stack_deinit(&stack);
    }
    unwinder_destroy(unwinder);
    modules_destroy(modules);
}

static size_t edit_core(unsigned char *copy, const uint8_t *data, size_t size)
{
    size_t cut = (size_t)(data[1] | data[2] << 8) * 16;
    for (const uint8_t *edit = data + 3; edit + 3 < data + size; edit += 4) {
        size_t at = (size_t)(edit[1] | edit[2] << 8);
        if (edit[0] & 1) // near the top of the stack
            at = stack_offset + at % 4096;
        else if (edit[0] & 2)
            at = at << 4 | edit[0] >> 4;
        copy[at % real.size] = edit[3];
    }
    return cut && cut < real.size ? cut : real.size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct core *core;
    unsigned char *copy = NULL;
    if (size >= 3 && data[0] == 1 && real.size) {
        copy = xmemdup(real.data, real.size);
        size = edit_core(copy, data, size);
        data = copy;
    }
    struct error *err = core_open_memory(data, size, "core", &core);
    if (!err) {
        read_core(core);
        core_destroy(core);
    }
    error_destroy(err);
    free(copy);
    return 0;
}
