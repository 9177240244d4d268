// SPDX-License-Identifier: Apache-2.0
// Parts of inquest-cc's link step that can be tested by themselves: maps of prefixes, members that
// a linker may take, members that its map names, options of linkers.
#include "model_fixture.h"

#include "instrument/driver/arguments.c"
#include "instrument/driver/extraction.c"
#include "instrument/driver/link_options.c"
#include "instrument/driver/prefix_map.c"
#include "instrument/driver/taken.c"

// ---- Prefixes. What is expected was found by asking clang-19 for DW_AT_comp_dir.

static void expect_mapped(const char *first, const char *second, const char *path,
                          const char *wanted)
{
    struct arena arena;
    struct prefix_map map = PREFIX_MAP_INIT;

    arena_init(&arena);
    assert_true(prefix_map_take(&map, &arena, first));
    assert_true(!*second || prefix_map_take(&map, &arena, second));
    assert_string_equal(prefix_map_path(&map, &arena, path), wanted);
    prefix_map_deinit(&map);
    arena_deinit(&arena);
}

static void paths(void **state)
{
    (void)state;
    expect_mapped("-fdebug-prefix-map=/w/pm=A", "-fdebug-prefix-map=/w=B", "/w/pm", "B/pm");
    expect_mapped("-fdebug-prefix-map=/w=B", "-fdebug-prefix-map=/w/pm=A", "/w/pm", "A");
    expect_mapped("-ffile-prefix-map=/w/pm=A", "-fdebug-prefix-map=/w=B", "/w/pm", "B/pm");
    expect_mapped("-fdebug-prefix-map=/tr=Z", "", "/tree", "Zee");
    expect_mapped("-fdebug-prefix-map==Z", "", "/tree", "Z/tree");
    expect_mapped("-fdebug-prefix-map=/tree==W", "", "/tree/x", "=W/x");
    expect_mapped("-fdebug-prefix-map=/tree/=B", "", "/tree/x", "Bx");
    expect_mapped("-fdebug-prefix-map=/other=B", "", "/tree/x", "/tree/x");
}

static void expect_argument(const char *map_option, const char *argument, const char *wanted)
{
    struct arena arena;
    struct prefix_map map = PREFIX_MAP_INIT;

    arena_init(&arena);
    prefix_map_take(&map, &arena, map_option);
    assert_string_equal(prefix_map_argument(&map, &arena, argument), wanted);
    prefix_map_deinit(&map);
    arena_deinit(&arena);
}

static void arguments_with_paths(void **state)
{
    static const char map[] = "-ffile-prefix-map=/b/d=.";

    (void)state;
    expect_argument(map, "/b/d/x.o", "./x.o");
    expect_argument(map, "-L/b/d/lib", "-L./lib");
    expect_argument(map, "--version-script=/b/d/v", "--version-script=./v");
    expect_argument(map, "-Wl,-rpath,/b/d/l:/b/d/m", "-Wl,-rpath,./l:./m");
    expect_argument(map, "x/b/d/y", "x/b/d/y");
    expect_argument(map, "-soname", "-soname");
    expect_argument("-ffile-prefix-map=s=t", "-static", "-static"); // a word is no path
    expect_argument("-ffile-prefix-map==t", "/x", "/x");
}

static void directories(void **state)
{
    struct arena arena;
    struct prefix_map map = PREFIX_MAP_INIT;

    (void)state;
    arena_init(&arena);
    assert_false(prefix_map_take(&map, &arena, "-fmacro-prefix-map=a=b"));
    assert_true(prefix_map_take(&map, &arena, "-fdebug-prefix-map=bad")); // clang refuses it
    assert_true(prefix_map_take(&map, &arena, "-ffile-compilation-dir=/one"));
    assert_true(prefix_map_take(&map, &arena, "-fdebug-compilation-dir=/two/x"));
    assert_string_equal(prefix_map_directory(&map, &arena), "/two/x");
    prefix_map_take(&map, &arena, "-fdebug-prefix-map=/two=B");
    assert_string_equal(prefix_map_directory(&map, &arena), "B/x");
    prefix_map_deinit(&map);
    arena_deinit(&arena);
}

// ---- Members that may be taken: against a fixpoint by brute force, over random archives.

enum { MEMBERS = 12, SYMBOLS = 16 };

static const char *const symbol_names[SYMBOLS] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                                  "i", "j", "k", "l", "m", "n", "o", "p"};

static void add_names(struct arguments *names, unsigned bits)
{
    for (unsigned s = 0; s < SYMBOLS; s++)
        if (bits >> s & 1)
            arguments_push(names, symbol_names[s]);
}

static unsigned next_random(unsigned *random)
{
    *random = *random * 1103515245u + 12345;
    return *random >> 12 & 0xffff;
}

static void extraction_is_a_closure(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed < 3000; seed++) {
        struct arena arena;
        struct extraction extraction = EXTRACTION_INIT;
        unsigned random = seed * 2654435761u, defines[MEMBERS], wants[MEMBERS], wanted = 0,
                 taken = 0;
        arena_init(&arena);
        for (unsigned m = 0; m < MEMBERS; m++) {
            struct arguments defined = VEC_INIT, needed = VEC_INIT;
            defines[m] = next_random(&random) & next_random(&random);
            wants[m] = next_random(&random) & next_random(&random);
            add_names(&defined, defines[m]);
            add_names(&needed, wants[m]);
            assert_int_equal(extraction_add_member(&extraction, &defined, &needed), m);
            arguments_deinit(&defined);
            arguments_deinit(&needed);
        }
        wanted = 1u << seed % SYMBOLS;
        extraction_want(&extraction, symbol_names[seed % SYMBOLS]);
        extraction_close(&extraction, &arena);
        for (unsigned round = 0; round < MEMBERS; round++)
            for (unsigned m = 0; m < MEMBERS; m++)
                if (defines[m] & wanted) {
                    taken |= 1u << m;
                    wanted |= wants[m];
                }
        for (unsigned m = 0; m < MEMBERS; m++)
            assert_int_equal(extraction_may_take(&extraction, m), taken >> m & 1);
        extraction_deinit(&extraction);
        arena_deinit(&arena);
    }
}

static void wrapped_names(void **state)
{
    struct arena arena;
    struct extraction extraction = EXTRACTION_INIT;
    struct arguments wrap = VEC_INIT, real = VEC_INIT, plain = VEC_INIT, none = VEC_INIT;

    (void)state;
    arena_init(&arena);
    arguments_push(&wrap, "__wrap_f");
    arguments_push(&real, "__real_f");
    arguments_push(&plain, "f");
    uint32_t wrapper = extraction_add_member(&extraction, &wrap, &real);
    uint32_t original = extraction_add_member(&extraction, &plain, &none);
    uint32_t other = extraction_add_member(&extraction, &none, &plain);
    extraction.wraps = true;
    extraction_want(&extraction, "f");
    extraction_close(&extraction, &arena);
    assert_true(extraction_may_take(&extraction, wrapper));
    assert_true(extraction_may_take(&extraction, original));
    assert_false(extraction_may_take(&extraction, other));
    extraction_deinit(&extraction);
    arguments_deinit(&wrap);
    arguments_deinit(&real);
    arguments_deinit(&plain);
    arena_deinit(&arena);
}

// ---- Maps of linkers

static void maps(void **state)
{
    static const char text[] =
        "Archivbestandteil eingebunden wegen Datei (Symbol)\n\n"
        "dir/libx.a(one.o)             main.o (one)\n"
        "/abs/libx.a(a_very_long_member_name.o)\n                              main.o (two)\n"
        "  1750  1750  b  16   libx.a(lld.o):(.text.f)\n"
        "LOAD libx.a\nthin/loose.o  main.o (f)\n x(y) ) ( a(b\n liby.a(one.o)x libx.a(double.o)";
    struct link_record record;
    struct arena arena;

    (void)state;
    arena_init(&arena);
    link_record_init(&record);
    struct link_input *input = link_record_add_input(&record, LINK_ARCHIVE, LINK_USER, "q/libx.a");
    static const char *const names[] = {"one.o",        "a_very_long_member_name.o",
                                        "lld.o",        "not.o",
                                        "with blank.o", "double.o",
                                        "double.o",     "bitcode.o"};
    static const enum link_taken wanted[] = {
        LINK_TAKEN_YES,     LINK_TAKEN_YES,     LINK_TAKEN_YES,     LINK_TAKEN_NO,
        LINK_TAKEN_UNKNOWN, LINK_TAKEN_UNKNOWN, LINK_TAKEN_UNKNOWN, LINK_TAKEN_UNKNOWN};
    for (uint32_t i = 0; i < 8; i++)
        link_input_add_member(input, i, i == 7 ? LINK_BITCODE : LINK_OBJECT, names[i]);
    input = link_record_add_input(&record, LINK_THIN, LINK_USER, "thin.a");
    link_input_add_member(input, 0, LINK_OBJECT, "thin/loose.o");
    link_input_add_member(input, 1, LINK_OBJECT, "thin/other.o");
    input = link_record_add_input(&record, LINK_ARCHIVE, LINK_USER, "liby.a");
    link_input_add_member(input, 0, LINK_OBJECT, "one.o");
    link_input_add_member(input, 1, LINK_OBJECT, "whole.o")->taken = LINK_TAKEN_YES;
    taken_read(&record, &arena, text, strlen(text));
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(record.inputs.data[0].members.data[i].taken, wanted[i]);
    assert_int_equal(record.inputs.data[1].members.data[0].taken, LINK_TAKEN_YES);
    assert_int_equal(record.inputs.data[1].members.data[1].taken, LINK_TAKEN_NO);
    assert_int_equal(record.inputs.data[2].members.data[0].taken, LINK_TAKEN_YES);
    assert_int_equal(record.inputs.data[2].members.data[1].taken, LINK_TAKEN_YES);
    link_record_deinit(&record);
    arena_deinit(&arena);
}

// ---- Options

static void expect_option(const char *first, const char *second, enum option_use use,
                          const char *value, size_t before, bool is_next)
{
    struct arguments arguments = VEC_INIT;

    arguments_push(&arguments, first);
    if (second)
        arguments_push(&arguments, second);
    struct option option = walk_option(&arguments, 0);
    assert_int_equal(option.use, use);
    if (value)
        assert_string_equal(option.value, value);
    else
        assert_null(option.value);
    assert_int_equal(option.before, before);
    assert_int_equal(option.is_next, is_next);
    arguments_deinit(&arguments);
}

static void options(void **state)
{
    (void)state;
    for (size_t i = 1; i < KNOWN_COUNT; i++)
        assert_true(strcmp(known_options[i - 1].name, known_options[i].name) < 0);
    expect_option("-lfoo", NULL, OPTION_LIBRARY, "foo", 2, false);
    expect_option("-l", "foo", OPTION_LIBRARY, "foo", 0, true);
    expect_option("--library=foo", NULL, OPTION_LIBRARY, "foo", 10, false);
    expect_option("-library", "foo", OPTION_LIBRARY, "foo", 0, true);
    expect_option("-L=usr", NULL, OPTION_DIRECTORY, "=usr", 2, false);
    expect_option("-Tx.ld", NULL, OPTION_SCRIPT, "x.ld", 2, false);
    expect_option("-Ttext=0x1000", NULL, OPTION_OTHER, "0x1000", 7, false);
    expect_option("-Ttext-segment", "0x1000", OPTION_OTHER, "0x1000", 0, true);
    expect_option("--script", "x.ld", OPTION_SCRIPT, "x.ld", 0, true);
    expect_option("--version-script=v", NULL, OPTION_FILE, "v", 17, false);
    expect_option("-cref", NULL, OPTION_OTHER, NULL, 0, false);
    expect_option("-c", "commands", OPTION_COMMANDS, "commands", 0, true);
    expect_option("-ofile", NULL, OPTION_OUTPUT, "file", 2, false);
    expect_option("--as-needed", "x.o", OPTION_OTHER, NULL, 0, false);
    expect_option("-pie", "x.o", OPTION_OTHER, NULL, 0, false);
    expect_option("-r", "x.o", OPTION_OTHER, NULL, 0, false);
    expect_option("-l", NULL, OPTION_LIBRARY, NULL, 0, false);
    assert_true(walk_is_option("-whole-archive", "whole-archive"));
    assert_true(walk_is_option("--whole-archive", "whole-archive"));
    assert_false(walk_is_option("--no-whole-archive", "whole-archive"));
    assert_false(walk_is_option("---static", "static"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),         cmocka_unit_test(arguments_with_paths),
        cmocka_unit_test(directories),   cmocka_unit_test(extraction_is_a_closure),
        cmocka_unit_test(wrapped_names), cmocka_unit_test(maps),
        cmocka_unit_test(options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
