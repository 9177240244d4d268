// SPDX-License-Identifier: Apache-2.0
/* Core files as such: what they say, and every way in which they can be bad. */
#include "test_core_program.h"

#include <elf.h>

static const char source[] = "#include <signal.h>\n"
                             "int main(int argc, char **argv) {\n"
                             "#ifdef OTHER\n"
                             "    raise(SIGTERM);\n"
                             "#endif\n"
                             "    return *(volatile int *)0x1234;\n"
                             "}\n";

static struct crash shared;
static struct file_bytes shared_core; // the bytes of its core

static int set_up(void **state)
{
    (void)state;
    crash_init(&shared);
    crash_build(&shared, source, "-O0 -Wl,--build-id=sha1");
    crash_run(&shared, (const char *[]){"first", "second word", NULL});
    crash_fail(file_read(shared.core_path, &shared_core));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    file_bytes_deinit(&shared_core);
    crash_deinit(&shared);
    return 0;
}

static void test_facts(void **state)
{
    (void)state;
    struct core *core;
    crash_fail(core_open(shared.core_path, &core));
    const struct core_signal *signal = core_signal(core);
    assert_int_equal(signal->number, SIGSEGV);
    assert_true(signal->has_details && signal->has_address && !signal->has_sender);
    assert_int_equal(signal->code, SEGV_MAPERR);
    assert_int_equal(signal->address, 0x1234);
    assert_string_equal(core_program_name(core), "program");
    assert_non_null(strstr(core_command_line(core), "first second word"));
    assert_int_equal(core_thread_count(core), 1);
    assert_int_equal(core_thread_at(core, 0)->tid, core_pid(core));
    assert_true(core_has_private_memory(core));
    uint64_t page;
    assert_true(core_auxv(core, AT_PAGESZ, &page));
    assert_int_equal(page, 4096);
    assert_false(core_auxv(core, 0x7777, &page));
    core_destroy(core);
}

static void test_memory(void **state)
{
    (void)state;
    struct core *core;
    crash_fail(core_open(shared.core_path, &core));
    size_t absent = 0;
    for (size_t i = 0; i < core_segment_count(core); i++) {
        const struct core_segment *segment = core_segment_at(core, i);
        unsigned char bytes[16];
        assert_ptr_equal(core_segment_of(core, segment->start), segment);
        assert_ptr_equal(core_segment_of(core, segment->end - 1), segment);
        assert_int_equal(core_read(core, segment->start, bytes, 16), segment->dumped ? 16 : 0);
        if (segment->dumped)
            assert_memory_equal(bytes, shared_core.data + segment->offset, 16);
        // Across the end of what was dumped: only what is there.
        const struct core_segment *next =
            i + 1 < core_segment_count(core) ? core_segment_at(core, i + 1) : NULL;
        bool goes_on = next && next->start == segment->end && next->dumped;
        if (segment->dumped < segment->end - segment->start || !goes_on) {
            if (segment->dumped)
                assert_int_equal(core_read(core, segment->start + segment->dumped - 5, bytes, 16),
                                 5);
            absent++;
        }
    }
    assert_true(absent > 0);
    assert_null(core_segment_of(core, 8));
    assert_int_equal(core_read(core, UINT64_MAX - 3, &absent, 8), 0);
    core_destroy(core);
}

static void assert_bad(struct error *err, enum error_code code, const char *word)
{
    assert_non_null(err);
    _cleanup_free_ char *text = error_text(err);
    if (err->code != code || !strstr(text, word))
        fail_msg("code %d: %s", err->code, text);
    assert_null(strchr(text, '\n'));
    error_destroy(err);
}

static void check_cut(size_t length)
{
    struct core *core;
    unsigned char *copy = xmemdup(shared_core.data, length); // so that overruns are found
    assert_bad(core_open_memory(copy, length, "core", &core), ERROR_FORMAT, "truncated core: ");
    free(copy);
}

static void test_truncated(void **state)
{
    (void)state;
    for (size_t length = 0; length < 8192 && length < shared_core.size; length++)
        check_cut(length);
    for (size_t length = 8192; length < shared_core.size; length += 997)
        check_cut(length);
    check_cut(shared_core.size - 1);
    struct core *core;
    assert_bad(core_open_memory(shared_core.data, shared_core.size - 100, "core", &core),
               ERROR_FORMAT, "truncated core: 100 of ");
    crash_fail(core_open_memory(shared_core.data, shared_core.size, "core", &core));
    core_destroy(core);
}

static void test_zstd(void **state)
{
    (void)state;
    struct core *core;
    crash_shell(&shared, "zstd -q -f core -o core.zst");
    _cleanup_free_ char *path = crash_path(&shared, "core.zst");
    crash_fail(core_open(path, &core));
    assert_int_equal(core_signal(core)->address, 0x1234);
    unsigned char mine[64];
    uint64_t rsp = core_thread_at(core, 0)->registers[CORE_RSP];
    assert_int_equal(core_read(core, rsp, mine, sizeof(mine)), sizeof(mine));
    core_destroy(core);
    struct core *plain;
    unsigned char theirs[64];
    crash_fail(core_open(shared.core_path, &plain));
    core_read(plain, rsp, theirs, sizeof(theirs));
    assert_memory_equal(mine, theirs, sizeof(mine));
    core_destroy(plain);

    struct file_bytes bytes = FILE_BYTES_INIT;
    crash_fail(file_read(path, &bytes));
    for (size_t length = 1; length < bytes.size; length += 1 + bytes.size / 150 * (length > 64)) {
        struct error *err = core_open_memory(bytes.data, length, "core.zst", &core);
        assert_bad(err, ERROR_FORMAT, "truncated core: ");
    }
    unsigned char *broken = xmemdup(bytes.data, bytes.size);
    memset(broken + bytes.size / 2, 0xa5, 64);
    assert_bad(core_open_memory(broken, bytes.size, "core.zst", &core), ERROR_FORMAT, "");
    free(broken);
    file_bytes_deinit(&bytes);
}

static void check_changed(size_t offset, const void *change, size_t size, enum error_code code,
                          const char *word)
{
    struct core *core;
    unsigned char *copy = xmemdup(shared_core.data, shared_core.size);
    memcpy(copy + offset, change, size);
    assert_bad(core_open_memory(copy, shared_core.size, "core", &core), code, word);
    free(copy);
}

static void test_not_a_core(void **state)
{
    (void)state;
    struct core *core;
    assert_bad(core_open_memory("#!/bin/sh\n", 10, "x", &core), ERROR_FORMAT, "not a core dump");
    assert_bad(core_open_memory("\x1f\x8b\x08 and so on", 12, "x", &core), ERROR_UNSUPPORTED,
               "gzip");
    assert_bad(core_open("/nonexistent/core", &core), ERROR_SYSTEM, "cannot open");
    assert_bad(core_open(shared.program, &core), ERROR_FORMAT, "not a core dump but");
    uint16_t machine = EM_AARCH64, count = 0, entry = 7;
    check_changed(offsetof(Elf64_Ehdr, e_machine), &machine, 2, ERROR_UNSUPPORTED, "aarch64");
    check_changed(offsetof(Elf64_Ehdr, e_phnum), &count, 2, ERROR_FORMAT, "without any thread");
    check_changed(offsetof(Elf64_Ehdr, e_phentsize), &entry, 2, ERROR_FORMAT, "malformed");
    unsigned char class = ELFCLASS32;
    check_changed(EI_CLASS, &class, 1, ERROR_UNSUPPORTED, "another architecture");
}

/* With 65535 program headers or more their number is in a section header behind everything. */
static void test_many_segments(void **state)
{
    (void)state;
    struct core *core;
    Elf64_Ehdr header;
    size_t size = shared_core.size + sizeof(Elf64_Shdr);
    unsigned char *copy = xcalloc(1, size);
    memcpy(copy, shared_core.data, shared_core.size);
    memcpy(&header, copy, sizeof(header));
    Elf64_Shdr section = {.sh_info = header.e_phnum};
    header.e_phnum = PN_XNUM;
    header.e_shoff = shared_core.size;
    memcpy(copy, &header, sizeof(header));
    memcpy(copy + shared_core.size, &section, sizeof(section));
    crash_fail(core_open_memory(copy, size, "core", &core));
    assert_int_equal(core_thread_count(core), 1);
    assert_int_equal(core_signal(core)->address, 0x1234);
    core_destroy(core);
    assert_bad(core_open_memory(copy, size - 1, "core", &core), ERROR_FORMAT, "truncated core: ");
    free(copy);
}

/* Any byte of headers and notes changed: an error or a core, never a crash. */
static void test_flipped_bytes(void **state)
{
    (void)state;
    unsigned char *copy = xmemdup(shared_core.data, shared_core.size);
    size_t bad = 0;
    for (size_t i = 0; i < 16384 && i < shared_core.size; i++) {
        struct core *core;
        copy[i] ^= 0xff;
        struct error *err = core_open_memory(copy, shared_core.size, "core", &core);
        if (err)
            bad++;
        else
            core_destroy(core);
        error_destroy(err);
        copy[i] ^= 0xff;
    }
    assert_true(bad > 0);
    free(copy);
}

/* --- joined with executables --- */

static void test_other_build(void **state)
{
    (void)state;
    struct core *core;
    struct modules *modules;
    crash_shell(&shared, "clang-19 -g -O0 -DOTHER -Wl,--build-id=sha1 program.c -o other");
    _cleanup_free_ char *other = crash_path(&shared, "other");
    crash_fail(core_open(shared.core_path, &core));
    struct modules_options options = {.executable = other};
    assert_bad(modules_open(core, &options, &modules), ERROR_MISMATCH, "core of another build");
    // Without build-ids the headers tell.
    crash_shell(&shared, "clang-19 -g -O0 -DOTHER -Wl,--build-id=none program.c -o other");
    assert_bad(modules_open(core, &options, &modules), ERROR_MISMATCH, "core of another build");
    options.executable = shared.core_path;
    assert_bad(modules_open(core, &options, &modules), ERROR_MISMATCH, "");
    options.executable = "/nonexistent/program";
    assert_bad(modules_open(core, &options, &modules), ERROR_SYSTEM, "cannot open");
    _cleanup_free_ char *text = crash_path(&shared, "program.c");
    options.executable = text;
    assert_bad(modules_open(core, &options, &modules), ERROR_FORMAT, "not an ELF file");
    core_destroy(core);
}

static void test_moved_and_replaced(void **state)
{
    (void)state;
    struct core *core;
    struct modules *modules;
    crash_fail(core_open(shared.core_path, &core));
    // EXE is read in place of what is at the recorded path.
    crash_shell(&shared, "mkdir -p away && cp program away/renamed");
    _cleanup_free_ char *moved = crash_path(&shared, "away/renamed");
    struct modules_options options = {.executable = moved};
    crash_fail(modules_open(core, &options, &modules));
    const struct module_info *info = module_info(modules_executable(modules));
    assert_true(info->verified && info->is_executable);
    assert_string_equal(info->file, moved);
    assert_int_equal(info->build_id_size, 20);
    assert_int_equal(modules_warning_count(modules), 0);
    assert_true(modules_count(modules) > 2);
    modules_destroy(modules);
    // Libraries that are not there are said, and not used.
    options.sysroot = "/nonexistent";
    crash_fail(modules_open(core, &options, &modules));
    assert_true(modules_warning_count(modules) >= 2);
    for (size_t i = 1; i < modules_count(modules); i++)
        assert_null(module_info(modules_at(modules, i))->file);
    modules_destroy(modules);
    core_destroy(core);
}

static void test_library_of_another_build(void **state)
{
    (void)state;
    struct crash crash;
    crash_init(&crash);
    crash_shell(&crash, "echo 'int broken(int *p) { return *p; }' >lib.c && "
                        "clang-19 -g -fPIC -shared -Wl,--build-id=sha1 lib.c -o libbroken.so");
    crash_build(&crash, "int broken(int *);\nint main(void) {\n    return broken((int *)8);\n}\n",
                "-L. -lbroken -Wl,-rpath,'$ORIGIN'");
    crash_run(&crash, NULL);
    crash_open(&crash);
    assert_int_equal(modules_warning_count(crash.modules), 0);
    assert_int_equal(crash_find_frame(&crash, "broken", 0), 0);
    assert_int_equal(crash.stack.end, UNWIND_END_COMPLETE);
    crash_compare_with_gdb(&crash, crash.program);
    crash_close(&crash);
    crash_shell(&crash, "echo 'int other;' >>lib.c && "
                        "clang-19 -g -fPIC -shared -Wl,--build-id=sha1 lib.c -o libbroken.so");
    crash_open(&crash);
    assert_int_equal(modules_warning_count(crash.modules), 1);
    assert_int_equal(modules_warning_at(crash.modules, 0)->code, ERROR_MISMATCH);
    assert_null(module_info(crash.stack.frames[0].module)->file);
    crash_deinit(&crash);
}

/* Started through the dynamic linker, AT_PHDR is not the program's. */
static void test_started_through_the_linker(void **state)
{
    (void)state;
    if (!crash_pattern_is_plain())
        skip();
    struct crash crash;
    crash_init(&crash);
    crash_build(&crash, source, "-O0 -Wl,--build-id=sha1");
    crash_shell(&crash,
                "linker=$(readelf -l program | sed -n 's/.*interpreter: \\(.*\\)]/\\1/p') && "
                "(ulimit -c unlimited; \"$linker\" ./program || true) >/dev/null 2>&1");
    crash_find_core(&crash);
    crash_open(&crash);
    assert_true(module_info(modules_executable(crash.modules))->verified);
    assert_int_equal(crash_find_frame(&crash, "main", 0), 0);
    assert_int_equal(crash.stack.end, UNWIND_END_COMPLETE);
    crash_deinit(&crash);
}

static void test_file_alone(void **state)
{
    (void)state;
    struct modules *modules;
    struct module_section section;
    struct debug_info *info;
    crash_fail(modules_open_file(shared.program, NULL, &modules));
    struct module *module = modules_executable(modules);
    assert_true(module_section(module, ".text", &section));
    assert_true(section.is_loaded && section.data && section.size > 0);
    assert_true(module_section(module, ".comment", &section));
    assert_false(section.is_loaded);
    assert_false(module_section(module, ".absent", &section));
    crash_fail(debug_info_open(module, &info));
    assert_non_null(debug_unit_function(debug_info_unit_at(info, 0), "main"));
    // what no process can have changed can be read
    unsigned char bytes[16];
    assert_true(module_section(module, ".text", &section));
    assert_int_equal(modules_read(modules, section.address, bytes, sizeof(bytes)), sizeof(bytes));
    assert_memory_equal(bytes, section.data, sizeof(bytes));
    assert_true(module_section(module, ".data", &section));
    assert_int_equal(modules_read(modules, section.address, bytes, 1), 0);
    assert_int_equal(modules_read(modules, UINT64_MAX - 8, bytes, sizeof(bytes)), 0);
    modules_destroy(modules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_zstd),
        cmocka_unit_test(test_not_a_core),
        cmocka_unit_test(test_many_segments),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_other_build),
        cmocka_unit_test(test_moved_and_replaced),
        cmocka_unit_test(test_library_of_another_build),
        cmocka_unit_test(test_started_through_the_linker),
        cmocka_unit_test(test_file_alone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
