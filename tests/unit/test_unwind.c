// SPDX-License-Identifier: Apache-2.0
/* Stacks of real cores, compared with gdb's. */
#include "test_core_program.h"

/* Calls that are inlined at -O2, through a library function, down to a crash. */
static const char source_inline[] = "#include <stdlib.h>\n"
                                    "volatile int sink;\n"
                                    "static inline int leaf(int *p, int k) {\n"
                                    "    sink = k;\n"
                                    "    return *p + k;\n"
                                    "}\n"
                                    "static inline int middle(int *p, int k) {\n"
                                    "    int r = 0;\n"
                                    "    for (int i = 0; i < k; i++) {\n"
                                    "        sink = i;\n"
                                    "        r += leaf(p, i);\n"
                                    "    }\n"
                                    "    return r;\n"
                                    "}\n"
                                    "static __attribute__((noinline)) int outer(int *p, int k) {\n"
                                    "    int r = middle(p, k) + 1;\n"
                                    "    sink = r;\n"
                                    "    return r;\n"
                                    "}\n"
                                    "static int compare(const void *a, const void *b) {\n"
                                    "    int r = outer((int *)(unsigned long)*(const int *)a, 3);\n"
                                    "    sink = r;\n"
                                    "    return r - *(const int *)b;\n"
                                    "}\n"
                                    "int main(int argc, char **argv) {\n"
                                    "    int data[4] = {16, 8, 4, 12};\n"
                                    "    qsort(data, 4, sizeof(int), compare);\n"
                                    "    return data[0] + sink;\n"
                                    "}\n";

static void check_inline(const char *flags)
{
    struct crash crash;
    crash_init(&crash);
    crash_build(&crash, source_inline, flags);
    crash_run(&crash, NULL);
    crash_open(&crash);
    assert_int_equal(crash.stack.end, UNWIND_END_COMPLETE);
    assert_int_equal(core_signal(crash.core)->number, SIGSEGV);
    assert_true(core_signal(crash.core)->has_address);
    assert_true(core_signal(crash.core)->address < 64);
    crash_compare_with_gdb(&crash, crash.program);
    crash_find_frame(&crash, "compare", 0);
    crash_deinit(&crash);
}

static void test_dynamic(void **state)
{
    (void)state;
    check_inline("-O0");
    check_inline("-O1");
    check_inline("-O2 -fno-optimize-sibling-calls");
    check_inline("-O2 -gdwarf-4 -fno-optimize-sibling-calls");
    check_inline("-O2 -no-pie -fno-pie -fno-optimize-sibling-calls");
    check_inline("-O2 -gz -fno-optimize-sibling-calls");
    check_inline("-O0 -fomit-frame-pointer -fno-asynchronous-unwind-tables");
}

static void test_static(void **state)
{
    (void)state;
    check_inline("-O2 -static -fno-optimize-sibling-calls");
    check_inline("-O2 -static-pie -fPIE -fno-optimize-sibling-calls");
    check_inline("-O0 -static-pie -fPIE");
}

static void test_split_dwarf(void **state)
{
    (void)state;
    check_inline("-O2 -gsplit-dwarf -fno-optimize-sibling-calls");
    check_inline("-O0 -gsplit-dwarf -gdwarf-4");
}

static const char source_handler[] =
    "#define _GNU_SOURCE\n"
    "#include <signal.h>\n"
    "#include <stdlib.h>\n"
    "volatile int sink;\n"
    "static void handler(int number) {\n"
    "    sink = number;\n"
    "    abort();\n"
    "}\n"
    "static __attribute__((noinline)) int broken(int *p) {\n"
    "    sink = 1;\n"
    "    return *p;\n"
    "}\n"
    "int main(int argc, char **argv) {\n"
    "    static char alternate[65536];\n"
    "    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};\n"
    "    struct sigaction action = {.sa_handler = handler};\n"
    "    if (argc > 1) {\n"
    "        sigaltstack(&stack, 0);\n"
    "        action.sa_flags = SA_ONSTACK;\n"
    "    }\n"
    "    sigaction(SIGSEGV, &action, 0);\n"
    "    return broken((int *)(8L * argc)) + sink;\n"
    "}\n";

static void check_handler(const char *flags, const char *const *arguments)
{
    struct crash crash;
    crash_init(&crash);
    crash_build(&crash, source_handler, flags);
    crash_run(&crash, arguments);
    crash_open(&crash);
    assert_int_equal(crash.stack.end, UNWIND_END_COMPLETE);
    assert_int_equal(core_signal(crash.core)->number, SIGABRT);
    assert_true(core_signal(crash.core)->has_sender);
    size_t at = crash_find_frame(&crash, "broken", 0);
    assert_true(at > 1);
    assert_true(crash.stack.frames[at].flags & UNWIND_EXACT);
    assert_true(crash.stack.frames[at - 1].flags & UNWIND_SIGNAL);
    assert_int_equal(crash.stack.frames[at].known, (1u << CORE_REGISTERS) - 1);
    uint64_t rdi;
    assert_true(unwind_frame_register(&crash.stack.frames[at], CORE_RDI, &rdi));
    assert_int_equal(rdi, arguments ? 16 : 8);
    crash_compare_with_gdb(&crash, crash.program);
    crash_deinit(&crash);
}

static void test_signal_frames(void **state)
{
    (void)state;
    check_handler("-O0", NULL);
    check_handler("-O2", NULL);
    check_handler("-O0", (const char *[]){"alternate", NULL});
    check_handler("-O2", (const char *[]){"alternate", NULL});
    check_handler("-O2 -static", (const char *[]){"alternate", NULL});
}

static const char source_threads[] = "#include <pthread.h>\n"
                                     "#include <unistd.h>\n"
                                     "static pthread_barrier_t barrier;\n"
                                     "static void work(long number, int depth) {\n"
                                     "    if (depth > 0) {\n"
                                     "        work(number, depth - 1);\n"
                                     "        return;\n"
                                     "    }\n"
                                     "    pthread_barrier_wait(&barrier);\n"
                                     "    if (number == 3)\n"
                                     "        *(volatile int *)number = 1;\n"
                                     "    for (;;)\n"
                                     "        pause();\n"
                                     "}\n"
                                     "static void *start(void *argument) {\n"
                                     "    work((long)argument, 10 * (long)argument);\n"
                                     "    return 0;\n"
                                     "}\n"
                                     "int main(void) {\n"
                                     "    pthread_barrier_init(&barrier, 0, 5);\n"
                                     "    for (long i = 1; i < 5; i++) {\n"
                                     "        pthread_t thread;\n"
                                     "        pthread_create(&thread, 0, start, (void *)i);\n"
                                     "    }\n"
                                     "    work(0, 0);\n"
                                     "}\n";

static void test_threads(void **state)
{
    (void)state;
    struct crash crash;
    crash_init(&crash);
    crash_build(&crash, source_threads, "-O0");
    crash_run(&crash, NULL);
    crash_open(&crash);
    assert_int_equal(core_thread_count(crash.core), 5);
    assert_int_equal(core_signal(crash.core)->address, 3);
    crash_compare_with_gdb(&crash, crash.program);
    unsigned depths = 0;
    for (size_t i = 0; i < 5; i++) {
        struct unwind_stack stack;
        unwind_thread(crash.unwinder, core_thread_at(crash.core, i), &stack);
        assert_int_equal(stack.end, UNWIND_END_COMPLETE);
        uint32_t tid = core_thread_at(crash.core, i)->tid;
        _cleanup_free_ char *text = crash_our_backtrace(&stack);
        _cleanup_free_ char *theirs = crash_gdb_backtrace(&crash, crash.program, tid);
        assert_string_equal(text, theirs);
        size_t depth = 0;
        for (char *at = text; (at = strstr(at, "work ")); at++)
            depth++;
        assert_true(depth % 10 == 1 && depth <= 41);
        depths |= 1u << depth / 10;
        if (i == 0)
            assert_int_equal(depth, 31);
        unwind_stack_deinit(&stack);
    }
    assert_int_equal(depths, 31); // 1, 11, 21, 31 and 41: each once
    crash_deinit(&crash);
}

static const char source_deep[] = "#include <stdlib.h>\n"
                                  "volatile int sink;\n"
                                  "static __attribute__((noinline)) int even(int n, int *p);\n"
                                  "static __attribute__((noinline)) int odd(int n, int *p) {\n"
                                  "    sink = n;\n"
                                  "    return even(n - 1, p) + 1;\n"
                                  "}\n"
                                  "static int even(int n, int *p) {\n"
                                  "    sink = n;\n"
                                  "    if (n <= 0)\n"
                                  "        return *p;\n"
                                  "    return odd(n - 1, p) + 2;\n"
                                  "}\n"
                                  "int main(int argc, char **argv) {\n"
                                  "    return even(atoi(argv[1]), (int *)8) + sink;\n"
                                  "}\n";

static void check_deep(const char *flags, size_t depth)
{
    struct crash crash;
    crash_init(&crash);
    crash_build(&crash, source_deep, flags);
    _cleanup_free_ char *number = xasprintf("%zu", depth);
    crash_run(&crash, (const char *[]){number, NULL});
    crash_open(&crash);
    assert_int_equal(crash.stack.end, UNWIND_END_COMPLETE);
    struct debug_info *info;
    crash_fail(debug_info_open(modules_executable(crash.modules), &info));
    for (size_t i = 0; i <= depth; i++) {
        const struct unwind_frame *frame = &crash.stack.frames[i];
        const struct debug_scope *scope = debug_scope_at(info, unwind_frame_lookup(frame));
        assert_non_null(scope);
        assert_string_equal(scope->name, i % 2 ? "odd" : "even");
    }
    assert_int_equal(crash_find_frame(&crash, "main", depth), depth + 1);
    crash_deinit(&crash);
}

static void test_deep_recursion(void **state)
{
    (void)state;
    check_deep("-O0", 100000);
    check_deep("-O2", 100000);
}

static const char source_smashed[] =
    "#include <string.h>\n"
    "volatile int sink;\n"
    "static __attribute__((noinline)) void fill(char *to, int value, int count) {\n"
    "    for (int i = 0; i < count; i++)\n"
    "        to[i] = value;\n"
    "}\n"
    "static __attribute__((noinline)) void smash(int value, int count) {\n"
    "    char buffer[16];\n"
    "    fill(buffer, value, count);\n"
    "    if (sink)\n"
    "        __builtin_trap();\n"
    "    sink = buffer[0];\n"
    "}\n"
    "int main(int argc, char **argv) {\n"
    "    sink = argc > 2;\n"
    "    smash(argv[1][0], 64);\n"
    "    return 0;\n"
    "}\n";

static void test_smashed_stack(void **state)
{
    (void)state;
    struct crash crash;
    crash_init(&crash);
    crash_build(&crash, source_smashed, "-O0 -fno-stack-protector");
    // It runs into its own return instruction, ...
    crash_run(&crash, (const char *[]){"A", NULL});
    crash_open(&crash);
    assert_int_equal(crash.stack.count, 1);
    assert_int_equal(crash.stack.end, UNWIND_END_NO_CODE);
    assert_true(crash.stack.end_address == UINT64_C(0x4141414141414141));
    assert_non_null(strstr(crash.stack.end_text, "0x4141414141414141"));
    crash_find_frame(&crash, "smash", 0);
    assert_false(core_signal(crash.core)->has_address); // not canonical: the kernel gives none
    crash_close(&crash);
    // ... or stops before, with the stack overwritten.
    crash_run(&crash, (const char *[]){"B", "trap", NULL});
    crash_open(&crash);
    assert_int_equal(core_signal(crash.core)->number, SIGILL);
    assert_int_equal(crash.stack.count, 1);
    assert_int_equal(crash.stack.end, UNWIND_END_NO_CODE);
    crash_find_frame(&crash, "smash", 0);
    crash_deinit(&crash);
}

static const char source_null_call[] =
    "volatile int sink;\n"
    "static __attribute__((noinline)) int indirect(int (*function)(int), int k) {\n"
    "    int r = function(k);\n"
    "    sink = r;\n"
    "    return r + 1;\n"
    "}\n"
    "int main(int argc, char **argv) {\n"
    "    int r = indirect((int (*)(int))(argc > 1 ? 0x1234567812345678 : 0), 3);\n"
    "    sink = r;\n"
    "    return r;\n"
    "}\n";

static void check_null_call(const char *flags, const char *const *arguments)
{
    struct crash crash;
    crash_init(&crash);
    crash_build(&crash, source_null_call, flags);
    crash_run(&crash, arguments);
    crash_open(&crash);
    assert_int_equal(crash.stack.end, UNWIND_END_COMPLETE);
    size_t at = crash_find_frame(&crash, "indirect", 0);
    if (!arguments) { // a bad address that is not canonical faults in the call itself
        assert_int_equal(at, 1);
        assert_int_equal(crash.stack.frames[0].pc, 0);
        assert_null(crash.stack.frames[0].module);
        assert_false(crash.stack.frames[1].flags & UNWIND_GUESSED); // the call leads there
    }
    assert_int_equal(crash_find_frame(&crash, "main", at), at + 1);
    crash_deinit(&crash);
}

static void test_call_through_bad_pointer(void **state)
{
    (void)state;
    check_null_call("-O0", NULL);
    check_null_call("-O2", NULL);
    check_null_call("-O2", (const char *[]){"far", NULL});
}

static const char source_assembly[] = "extern int no_information(int *p);\n"
                                      "volatile int sink;\n"
                                      "__asm__(\".text\\nno_information:\\n\"\n"
                                      "        \"push %rbp\\nmov %rsp, %rbp\\nsub $32, %rsp\\n\"\n"
                                      "        \"mov (%rdi), %eax\\nleave\\nret\\n\");\n"
                                      "int main(int argc, char **argv) {\n"
                                      "    sink = no_information((int *)4);\n"
                                      "    return 0;\n"
                                      "}\n";

static void test_code_without_information(void **state)
{
    (void)state;
    struct crash crash;
    crash_init(&crash);
    crash_build(&crash, source_assembly, "-O1");
    crash_run(&crash, NULL);
    crash_open(&crash);
    assert_int_equal(crash.stack.end, UNWIND_END_COMPLETE);
    assert_false(crash.stack.frames[0].flags & UNWIND_GUESSED);
    assert_int_equal(crash_find_frame(&crash, "no_information", 0), 0);
    assert_int_equal(crash_find_frame(&crash, "main", 0), 1);
    assert_true(crash.stack.frames[1].flags & UNWIND_GUESSED);
    assert_true(crash.stack.frames[2].flags & UNWIND_GUESSED);
    crash_deinit(&crash);
}

static const char source_filter[] =
    "#include <stdio.h>\n"
    "int initialised = 77;\n"
    "int zeroed;\n"
    "static char untouched[1 << 16];\n"
    "const char *text = \"a constant\";\n"
    "int main(int argc, char **argv) {\n"
    "    FILE *file = fopen(\"/proc/self/coredump_filter\", \"w\");\n"
    "    fputs(argv[1], file);\n"
    "    fclose(file);\n"
    "    zeroed = 78;\n"
    "    return *(volatile int *)8 + untouched[argc];\n"
    "}\n";

static void check_filter(const char *filter, bool has_stack, bool is_verified)
{
    struct crash crash;
    crash_init(&crash);
    crash_build(&crash, source_filter, "-O0");
    crash_run(&crash, (const char *[]){filter, NULL});
    crash_open(&crash);
    const struct module_info *info = module_info(modules_executable(crash.modules));
    assert_int_equal(info->verified, is_verified);
    assert_int_equal(core_has_private_memory(crash.core), has_stack);
    if (has_stack) {
        assert_int_equal(crash.stack.end, UNWIND_END_COMPLETE);
    } else {
        assert_int_equal(crash.stack.end, UNWIND_END_UNREADABLE);
        assert_int_equal(crash.stack.count, 1);
    }
    // Code comes from the file when the core lacks it; written data never does.
    struct module_symbol symbol;
    unsigned char code[4], byte = 1;
    assert_true(
        module_symbol_at(modules_executable(crash.modules), crash.stack.frames[0].pc, &symbol));
    assert_string_equal(symbol.name, "main");
    assert_int_equal(modules_read(crash.modules, symbol.address, code, 4), 4);
    assert_memory_equal(code, "\x55\x48\x89\xe5", 4);
    struct module_section section;
    // behind _init, which has no size and ends with its section
    assert_true(module_section(modules_executable(crash.modules), ".plt", &section));
    assert_false(module_symbol_at(modules_executable(crash.modules), section.address, &symbol));
    assert_true(module_section(modules_executable(crash.modules), ".bss", &section));
    assert_null(section.data);
    uint64_t behind = section.address + section.size - 1;
    assert_int_equal(modules_read(crash.modules, behind, &byte, 1), has_stack);
    assert_int_equal(byte, has_stack ? 0 : 1);
    crash_deinit(&crash);
}

static void test_dump_filters(void **state)
{
    (void)state;
    if (!crash_pattern_is_plain())
        skip();
    check_filter("0x33", true, true);
    check_filter("0x7f", true, true);
    check_filter("0x23", true, false);
    check_filter("0x30", false, true);
}

static void test_separate_debug_files(void **state)
{
    (void)state;
    struct crash crash;
    struct debug_info *info;
    crash_init(&crash);
    crash_build(&crash, source_inline, "-O2 -fno-optimize-sibling-calls -Wl,--build-id=sha1");
    crash_run(&crash, NULL);
    crash_shell(&crash, "cp program whole && objcopy --only-keep-debug program program.dbg && "
                        "strip program");
    // None at hand: names from .dynsym only, and a clear word about it.
    crash_open(&crash);
    struct error *err = debug_info_open(modules_executable(crash.modules), &info);
    assert_non_null(err);
    assert_int_equal(err->code, ERROR_NOT_FOUND);
    error_destroy(err);
    assert_int_equal(crash.stack.end, UNWIND_END_COMPLETE);
    crash_close(&crash);
    // By build-id in a directory, ...
    _cleanup_free_ char *debug = crash_path(&crash, "debug");
    crash_shell(&crash, "id=$(readelf -n program | sed -n 's/.*Build ID: //p') && "
                        "d=debug/.build-id/$(echo $id | cut -c1-2) && mkdir -p $d && "
                        "mv program.dbg $d/$(echo $id | cut -c3-).debug");
    crash_open_with(&crash, crash.program, (const char *[]){debug, NULL});
    assert_null(module_info(modules_executable(crash.modules))->debug); // not sought before
    crash_compare_with_gdb(&crash, "whole");
    assert_non_null(strstr(module_info(modules_executable(crash.modules))->debug, ".build-id"));
    crash_close(&crash);
    // ... beside the program, ...
    crash_shell(&crash, "cp $(find debug -name '*.debug') program.debug && rm -r debug");
    crash_open(&crash);
    crash_compare_with_gdb(&crash, "whole");
    crash_close(&crash);
    // ... or by .gnu_debuglink.
    crash_shell(&crash, "mkdir .debug && mv program.debug .debug/symbols && "
                        "objcopy --add-gnu-debuglink=.debug/symbols program");
    crash_open(&crash);
    crash_compare_with_gdb(&crash, "whole");
    crash_deinit(&crash);
}

/* A core that gdb wrote of a process that it had stopped. */
static void test_gcore(void **state)
{
    (void)state;
    struct crash crash;
    crash_init(&crash);
    crash_build(&crash, source_inline, "-O2 -fno-optimize-sibling-calls");
    crash_shell(&crash, "gdb -nx -q -batch -iex 'set debuginfod enabled off' -ex 'break outer' "
                        "-ex run -ex 'generate-core-file core' ./program >/dev/null 2>&1");
    crash_open(&crash);
    assert_int_equal(crash.stack.end, UNWIND_END_COMPLETE);
    assert_int_equal(crash_find_frame(&crash, "outer", 0), 0);
    crash_compare_with_gdb(&crash, crash.program);
    crash_deinit(&crash);
}

/*
 * In an entry of the procedure linkage table: the state just after the call, made from that of the
 * function that the entry goes to. lld writes no call frame information for it.
 */
static void check_linkage_entry(const char *flags)
{
    struct crash crash;
    struct unwind_stack stack;
    int32_t distance;
    crash_init(&crash);
    crash_build(&crash,
                "#include <string.h>\n"
                "unsigned long zero;\n"
                "int main(int argc, char **argv) {\n"
                "    return strlen((char *)8) + zero;\n"
                "}\n",
                flags);
    crash_run(&crash, NULL);
    crash_open(&crash);
    size_t at = crash_find_frame(&crash, "main", 0);
    const struct unwind_frame *caller = &crash.stack.frames[at];
    assert_int_equal(modules_read(crash.modules, caller->pc - 4, &distance, 4), 4);
    struct core_thread thread = *core_thread_at(crash.core, 0);
    thread.registers[CORE_RIP] = caller->pc + (uint64_t)(int64_t)distance;
    thread.registers[CORE_RSP] = caller->rsp - 8;
    unwind_thread(crash.unwinder, &thread, &stack);
    assert_int_equal(stack.end, UNWIND_END_COMPLETE);
    assert_true(stack.count > 2);
    assert_true(stack.frames[1].pc == caller->pc && stack.frames[1].rsp == caller->rsp);
    unwind_stack_deinit(&stack);
    crash_deinit(&crash);
}

static void test_linkage_entries(void **state)
{
    (void)state;
    check_linkage_entry("-O1 -fno-builtin");
    if (system("command -v ld.lld-19 >/dev/null 2>&1 || command -v ld.lld >/dev/null 2>&1") == 0)
        check_linkage_entry("-O1 -fno-builtin -fuse-ld=lld -Wl,-z,lazy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_static),
        cmocka_unit_test(test_split_dwarf),
        cmocka_unit_test(test_signal_frames),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_deep_recursion),
        cmocka_unit_test(test_smashed_stack),
        cmocka_unit_test(test_call_through_bad_pointer),
        cmocka_unit_test(test_code_without_information),
        cmocka_unit_test(test_dump_filters),
        cmocka_unit_test(test_separate_debug_files),
        cmocka_unit_test(test_gcore),
        cmocka_unit_test(test_linkage_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
