// SPDX-License-Identifier: Apache-2.0
/* What debug information says at the frames of real cores. */
#include "test_core_program.h"

/* Records as the compiler plugin will make them, here by hand. */
static const char source_records[] =
    "struct record { unsigned cookie, pending; unsigned long sum; unsigned char calls[3]; };\n"
    "#define RECORD(c, p, s) \\\n"
    "    volatile struct record __inquest_frame; \\\n"
    "    __asm__ volatile(\"\" : \"=m\"(__inquest_frame)); \\\n"
    "    __inquest_frame.cookie = c; \\\n"
    "    __inquest_frame.pending = p; \\\n"
    "    __inquest_frame.sum = s; \\\n"
    "    __inquest_frame.calls[1] = p + 1\n"
    "int __inquest_module_00000000deadbeef = 1;\n"
    "volatile int sink;\n"
    "static inline int leaf(int *p, int k) {\n"
    "    RECORD(0x1111, k, 100 + k);\n"
    "    return *p + __inquest_frame.pending;\n"
    "}\n"
    "static inline int middle(int *p, int k) {\n"
    "    RECORD(0x2222, k, 200 + k);\n"
    "    int r = leaf(p, k + 1);\n"
    "    return r + __inquest_frame.pending;\n"
    "}\n"
    "static __attribute__((noinline)) int outer(int n, int *p) {\n"
    "    RECORD(0x3333, n, 300 + n);\n"
    "    int r = n ? outer(n - 1, p) : middle(p, 7);\n"
    "    sink = r;\n"
    "    return r + __inquest_frame.pending;\n"
    "}\n"
    "static __attribute__((noinline)) int unused_function(int n) { return n; }\n"
    "int main(int argc, char **argv) {\n"
    "    int r = outer(5, (int *)8);\n"
    "    sink = r;\n"
    "    return r;\n"
    "}\n";

struct record {
    uint32_t cookie, pending;
    uint64_t sum;
    unsigned char calls[3];
};

static struct record read_record(const struct crash *crash, const struct unwind_frame *frame,
                                 const struct debug_scope *scope)
{
    const struct debug_variable *variable = debug_scope_variable(scope, "__inquest_frame");
    assert_non_null(variable);
    assert_ptr_equal(debug_scope_variable(scope, "__inquest_frame"), variable);
    assert_int_equal(debug_variable_size(variable), 24);
    struct record record, again;
    bool present[sizeof(record)];
    assert_int_equal(
        debug_variable_read(variable, crash->modules, frame, 0, &record, sizeof(record), present),
        sizeof(record));
    for (size_t i = 0; i < sizeof(record); i++)
        assert_true(present[i]);
    // The same by bytes.
    for (size_t i = 0; i < sizeof(record); i++)
        assert_int_equal(debug_variable_read(variable, crash->modules, frame, i,
                                             (unsigned char *)&again + i, 1, NULL),
                         1);
    assert_memory_equal(&record, &again, sizeof(record));
    return record;
}

static void assert_record(struct record record, uint32_t cookie, uint32_t pending, uint64_t sum)
{
    assert_int_equal(record.cookie, cookie);
    assert_int_equal(record.pending, pending);
    assert_int_equal(record.sum, sum);
    assert_int_equal(record.calls[1], pending + 1);
}

static void check_records(const char *flags)
{
    struct crash crash;
    struct debug_info *info;
    crash_init(&crash);
    crash_build(&crash, source_records, flags);
    crash_run(&crash, NULL);
    crash_open(&crash);
    crash_fail(debug_info_open(modules_executable(crash.modules), &info));
    size_t physical = 0, outers = 0;
    for (; physical < crash.stack.count && outers < 6; physical++) {
        const struct unwind_frame *frame = &crash.stack.frames[physical];
        const struct debug_scope *scope = debug_scope_at(info, unwind_frame_lookup(frame));
        for (; scope; scope = scope->parent) {
            uint64_t id = 0;
            assert_true(debug_unit_module_id(scope->origin, &id));
            assert_true(id == 0xdeadbeef);
            struct record record = read_record(&crash, frame, scope);
            if (strcmp(scope->name, "leaf") == 0) {
                assert_record(record, 0x1111, 8, 108);
                assert_int_equal(physical, 0);
            } else if (strcmp(scope->name, "middle") == 0) {
                assert_record(record, 0x2222, 7, 207);
            } else {
                assert_string_equal(scope->name, "outer");
                assert_null(scope->parent);
                assert_record(record, 0x3333, (uint32_t)outers, 300 + outers);
                outers++;
            }
        }
    }
    assert_int_equal(outers, 6);
    crash_deinit(&crash);
}

static void test_records(void **state)
{
    (void)state;
    check_records("-O0");
    check_records("-O0 -gdwarf-4 -fomit-frame-pointer");
    check_records("-O1");
    check_records("-O2");
    check_records("-O2 -gdwarf-4 -fno-omit-frame-pointer");
    check_records("-O2 -gsplit-dwarf");
    check_records("-O2 -static");
    check_records("-Os");
}

/* Without the asm statement the optimiser takes the record to pieces; what it says is still true.
 */
static void test_pieces(void **state)
{
    (void)state;
    struct crash crash;
    struct debug_info *info;
    crash_init(&crash);
    crash_build(&crash,
                "struct record { unsigned long a, b, c; };\n"
                "volatile long sink;\n"
                "static __attribute__((noinline)) long work(int *p, long k) {\n"
                "    struct record __inquest_frame = {77, k, 0};\n"
                "    sink = __inquest_frame.b;\n"
                "    long r = *p;\n"
                "    sink = r + __inquest_frame.b;\n"
                "    return r;\n"
                "}\n"
                "int main(int argc, char **argv) {\n"
                "    long r = work((int *)8, argc + 41);\n"
                "    sink = r;\n"
                "    return r;\n"
                "}\n",
                "-O2");
    crash_run(&crash, NULL);
    crash_open(&crash);
    crash_fail(debug_info_open(modules_executable(crash.modules), &info));
    const struct unwind_frame *frame = &crash.stack.frames[0];
    const struct debug_scope *scope = debug_scope_at(info, frame->pc);
    const struct debug_variable *variable = debug_scope_variable(scope, "__inquest_frame");
    assert_non_null(variable);
    struct debug_location location;
    debug_variable_locate(variable, crash.modules, frame, &location);
    assert_true(location.count >= 2);
    uint64_t values[3];
    bool present[24];
    size_t known =
        debug_variable_read(variable, crash.modules, frame, 0, values, sizeof(values), present);
    assert_true(known >= 8);
    assert_true(present[0] || present[8]);
    if (present[0])
        assert_int_equal(values[0], 77);
    if (present[8])
        assert_int_equal(values[1], 42);
    assert_null(debug_scope_variable(scope, "no_such_variable"));
    crash_deinit(&crash);
}

static void test_functions_and_scopes(void **state)
{
    (void)state;
    struct crash crash;
    struct debug_info *info;
    crash_init(&crash);
    crash_build(&crash, source_records, "-O2");
    crash_run(&crash, NULL);
    crash_open(&crash);
    crash_fail(debug_info_open(modules_executable(crash.modules), &info));
    size_t index = 0, count;
    struct debug_unit *unit = debug_info_next_unit(info, 0xdeadbeef, &index);
    assert_non_null(unit);
    assert_null(debug_info_next_unit(info, 0xdeadbeef, &index));
    index = 0;
    assert_null(debug_info_next_unit(info, 1, &index));
    _cleanup_free_ char *path = crash_path(&crash, "program.c");
    assert_string_equal(debug_unit_name(unit), path);
    // What is not emitted is not there.
    assert_non_null(debug_unit_function(unit, "outer"));
    assert_non_null(debug_unit_function(unit, "main"));
    assert_null(debug_unit_function(unit, "leaf"));
    assert_null(debug_unit_function(unit, "unused_function"));
    assert_int_equal(debug_unit_function_count(unit), 2);
    struct debug_function *outer = debug_unit_function(unit, "outer");
    const struct debug_scope *scopes = debug_function_scopes(outer, &count);
    bool has_leaf = false;
    for (size_t i = 1; i < count; i++) {
        assert_true(scopes[i].parent >= scopes && scopes[i].parent < &scopes[i]);
        assert_true(scopes[i].range_count > 0);
        assert_string_equal(scopes[i].call_file, path);
        if (strcmp(scopes[i].name, "leaf") == 0) {
            has_leaf = true;
            assert_string_equal(scopes[i].parent->name, "middle");
            assert_int_equal(scopes[i].call_line, 17);
            assert_int_equal(scopes[i].line, 11);
            assert_string_equal(scopes[i].file, path);
        }
    }
    assert_true(has_leaf);
    assert_ptr_equal(debug_function_at(info, scopes[0].ranges[0].start), outer);
    assert_null(debug_function_at(info, 8));
    crash_deinit(&crash);
}

static void test_rows(void **state)
{
    (void)state;
    struct crash crash;
    struct debug_info *info;
    crash_init(&crash);
    crash_build(&crash, source_records, "-O2 -mllvm -use-unknown-locations=Enable");
    crash_run(&crash, NULL);
    crash_open(&crash);
    crash_fail(debug_info_open(modules_executable(crash.modules), &info));
    struct debug_function *function = debug_function_at(info, crash.stack.frames[0].pc);
    size_t count, scope_count;
    const struct debug_scope *scope = debug_function_scopes(function, &scope_count);
    uint64_t start = scope->ranges[0].start, end = scope->ranges[0].end;
    struct debug_row *rows = debug_rows_in(info, start, end, &count);
    assert_true(count > 3);
    assert_true(rows[0].start == start && rows[count - 1].end == end);
    for (size_t i = 0; i < count; i++) {
        struct debug_row row;
        assert_true(rows[i].start < rows[i].end);
        assert_true(i == 0 || rows[i].start == rows[i - 1].end);
        for (uint64_t at = rows[i].start; at < rows[i].end; at++) {
            assert_true(debug_row_at(info, at, &row));
            assert_int_equal(row.start, rows[i].start);
            assert_int_equal(row.line, rows[i].line);
        }
    }
    free(rows);
    rows = debug_rows_in(info, start + 1, start + 2, &count);
    assert_int_equal(count, 1);
    free(rows);
    struct debug_row row;
    assert_false(debug_row_at(info, 8, &row));
    crash_deinit(&crash);
}

/* Two calls in one line: discriminators tell the rows and the inlined calls apart. */
static void test_discriminators(void **state)
{
    (void)state;
    struct crash crash;
    struct debug_info *info;
    crash_init(&crash);
    crash_build(&crash,
                "volatile int sink;\n"
                "static inline int get(int *p) { return *p; }\n"
                "int main(int argc, char **argv) {\n"
                "    if (argc > 5) sink = 4; else if (argc > 4) sink = 6; else sink = get((int "
                "*)(8L * argc));\n"
                "    return 0;\n"
                "}\n",
                "-O1 -fdebug-info-for-profiling");
    crash_run(&crash, NULL);
    crash_open(&crash);
    crash_fail(debug_info_open(modules_executable(crash.modules), &info));
    const struct debug_scope *scope = debug_scope_at(info, crash.stack.frames[0].pc);
    assert_string_equal(scope->name, "get");
    assert_int_equal(scope->call_line, 4);
    assert_true(scope->call_discriminator != 0);
    crash_deinit(&crash);
}

static void test_tail_calls(void **state)
{
    (void)state;
    struct crash crash;
    struct debug_info *info;
    crash_init(&crash);
    crash_build(
        &crash,
        "volatile int sink;\n"
        "__attribute__((noinline)) int last(int *p) { sink = 1; int r = *p; sink = 2; return r; }\n"
        "__attribute__((noinline)) int jumper(int *p) { sink = 3; return last(p + 1); }\n"
        "int main(int argc, char **argv) {\n"
        "    int r = jumper((int *)(8L * argc));\n"
        "    sink = r;\n"
        "    return r;\n"
        "}\n",
        "-O2");
    crash_run(&crash, NULL);
    crash_open(&crash);
    crash_fail(debug_info_open(modules_executable(crash.modules), &info));
    assert_int_equal(crash_find_frame(&crash, "last", 0), 0);
    assert_int_equal(crash_find_frame(&crash, "main", 0), 1); // jumper has left no frame
    const struct debug_call_site *site = debug_call_site_at(info, crash.stack.frames[1].pc);
    assert_non_null(site);
    assert_false(site->is_tail);
    assert_string_equal(site->target, "jumper");
    assert_string_equal(debug_scope_at(info, site->address - 1)->name, "main");
    struct debug_function *jumper = debug_unit_function(debug_info_unit_at(info, 0), "jumper");
    size_t count;
    const struct debug_call_site *sites = debug_function_call_sites(jumper, &count);
    assert_int_equal(count, 1);
    assert_true(sites[0].is_tail && !sites[0].is_return);
    assert_string_equal(sites[0].target, "last");
    assert_true(debug_function_has_all_calls(jumper));
    assert_true(debug_function_has_all_tail_calls(jumper));
    crash_deinit(&crash);
}

/* The same inline function in two units at -O0: one copy is linked. */
static void test_linked_copy(void **state)
{
    (void)state;
    struct crash crash;
    struct debug_info *info;
    crash_init(&crash);
    crash_shell(&crash,
                "printf 'template <class T> T get(T *p) { return *p; }\\n' >get.h && "
                "printf '#include \"get.h\"\\nint one(int *p) { return get(p); }\\n"
                "static int dropped() { return 3; }\\n' >one.cc && "
                "printf '#include \"get.h\"\\nint one(int *);\\nint zero();\\n"
                "int main() { return get(&(int &)*new int) + one((int *)8); }\\n' >two.cc && "
                "clang++-19 -g -O0 -ffunction-sections -Wl,--gc-sections one.cc two.cc "
                "-o program");
    crash_run(&crash, NULL);
    crash_open(&crash);
    crash_fail(debug_info_open(modules_executable(crash.modules), &info));
    assert_int_equal(debug_info_unit_count(info), 2);
    struct debug_unit *one = debug_info_unit_at(info, 0), *two = debug_info_unit_at(info, 1);
    assert_non_null(debug_unit_function(one, "_Z3getIiET_PS0_"));
    assert_null(debug_unit_function(two, "_Z3getIiET_PS0_"));
    assert_non_null(debug_unit_function(two, "main"));
    const struct debug_scope *scope = debug_scope_at(info, crash.stack.frames[0].pc);
    assert_string_equal(scope->linkage_name, "_Z3getIiET_PS0_");
    assert_ptr_equal(scope->origin, one);
    crash_deinit(&crash);
}

/* A function inlined across units by link-time optimisation keeps its unit. */
static void test_link_time_optimisation(void **state)
{
    (void)state;
    struct crash crash;
    struct debug_info *info;
    crash_init(&crash);
    if (system("command -v ld.lld-19 >/dev/null 2>&1 || command -v ld.lld >/dev/null 2>&1") != 0) {
        crash_deinit(&crash);
        skip();
    }
    crash_shell(&crash, "printf 'int __inquest_module_0000000000000001 = 1;\\n"
                        "int get(int *p) { return *p; }\\n' >one.c && "
                        "printf 'int __inquest_module_0000000000000002 = 1;\\nint get(int *);\\n"
                        "int main(void) { return get((int *)8); }\\n' >two.c && "
                        "clang-19 -g -O2 -flto -fuse-ld=lld one.c two.c -o program");
    crash_run(&crash, NULL);
    crash_open(&crash);
    crash_fail(debug_info_open(modules_executable(crash.modules), &info));
    const struct debug_scope *scope = debug_scope_at(info, crash.stack.frames[0].pc);
    uint64_t id;
    assert_string_equal(scope->name, "get");
    assert_non_null(scope->parent);
    assert_true(debug_unit_module_id(scope->origin, &id));
    assert_int_equal(id, 1);
    assert_true(debug_unit_module_id(scope->parent->origin, &id));
    assert_int_equal(id, 2);
    crash_deinit(&crash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_functions_and_scopes),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_discriminators),
        cmocka_unit_test(test_tail_calls),
        cmocka_unit_test(test_linked_copy),
        cmocka_unit_test(test_link_time_optimisation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
