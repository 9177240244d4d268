// SPDX-License-Identifier: Apache-2.0
// The table of effects: that it is well formed, complete, documented, and true of the C library.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <ftw.h>

#include "analysis/effects.h"
#include "common/strbuf.h"
#include "effects_cases.h"
#include "effects_kept.h"
#include "effects_packages.h"
#include "program/library.h"

// Calls take(name) for each word.
static void for_each_word(const char *words, void (*take)(const char *word, const void *extra),
                          const void *extra)
{
    char word[64];

    for (const char *at = words + strspn(words, " "); *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        assert_true(length < sizeof(word));
        memcpy(word, at, length);
        word[length] = '\0';
        take(word, extra);
        at += length;
    }
}

static uint32_t called, absent;
static char called_names[16384];

static void call_named(const char *name, const void *test)
{
    library_function *function = function_named(name);
    char pattern[80];

    if (!function) { // strlcpy is younger than some libraries
        absent++;
        return;
    }
    run_case(name, test, function);
    snprintf(pattern, sizeof(pattern), " %s ", name);
    if (!strstr(called_names, pattern)) {
        called++;
        size_t length = strlen(called_names);
        snprintf(called_names + length, sizeof(called_names) - length, " %s ", name);
    }
}

static void on_faults(void (*handler)(int))
{
    signal(SIGSEGV, handler);
    signal(SIGBUS, handler);
}

static void test_calls(void **state)
{
    (void)state;
    if (dlsym(RTLD_DEFAULT, "__asan_init") || dlsym(RTLD_DEFAULT, "__msan_init"))
        skip(); // a sanitizer's own functions stand before the library's
    failures = 0;
    on_faults(on_fault);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for_each_word(cases[i].names, call_named, &cases[i]);
    on_faults(SIG_DFL);
    print_message("%u functions called, %zu sets of arguments\n", called,
                  sizeof(cases) / sizeof(*cases));
    assert_true(called >= 250);
    assert_true(absent <= 20);
    assert_int_equal(failures, 0);
}

// ---- The table itself

static void check_place(const char *name, struct effect_place place)
{
    if (place.kind > EFFECT_LISTED_POINTEE)
        fail_msg("%s: a place of no kind", name);
    bool is_state = place.kind == EFFECT_STATE || place.kind == EFFECT_STATE_POINTEE;
    bool has_none = place.kind == EFFECT_NOTHING || place.kind == EFFECT_RESULT ||
                    place.kind == EFFECT_RESULT_POINTEE;
    if (place.index >= (is_state ? EFFECT_STATE_COUNT : has_none ? 1u : 8u))
        fail_msg("%s: a place %u of kind %u", name, place.index, place.kind);
}

static bool is_value(struct effect_place place)
{
    return place.kind == EFFECT_ARGUMENT || place.kind == EFFECT_VARIADIC ||
           place.kind == EFFECT_LISTED || place.kind == EFFECT_NOTHING;
}

static void check_effect(const char *name, const struct effect *effect)
{
    static const struct {
        bool from, to, extent;
    } needs[] = {
        [EFFECT_READ] = {1, 0, 1},  [EFFECT_WRITE] = {0, 1, 1},     [EFFECT_COPY] = {1, 1, 1},
        [EFFECT_SETS] = {0, 1, 1},  [EFFECT_ALLOCATES] = {0, 1, 0}, [EFFECT_RELEASES] = {1, 0, 0},
        [EFFECT_CALLS] = {1, 0, 0}, [EFFECT_RETURNS] = {1, 0, 0},
    };

    if (effect->kind > EFFECT_RETURNS)
        fail_msg("%s: an effect of no kind", name);
    check_place(name, effect->from);
    check_place(name, effect->to);
    if ((effect->from.kind != EFFECT_NOTHING) != needs[effect->kind].from)
        fail_msg("%s: effect %u and its source", name, effect->kind);
    if ((effect->to.kind != EFFECT_NOTHING) != needs[effect->kind].to &&
        effect->kind != EFFECT_CALLS)
        fail_msg("%s: effect %u and its target", name, effect->kind);
    // What is passed by value cannot be written.
    if (needs[effect->kind].to && is_value(effect->to))
        fail_msg("%s: effect %u writes a value", name, effect->kind);
    if (effect->extent.kind > EFFECT_SCALED ||
        (!needs[effect->kind].extent && effect->extent.kind != EFFECT_ANY_LENGTH))
        fail_msg("%s: an extent of kind %u", name, effect->extent.kind);
    if (effect->extent.kind == EFFECT_TIMES || effect->extent.kind == EFFECT_SCALED)
        assert_true(effect->extent.length < 8);
    if (effect->extent.kind == EFFECT_SCALED || effect->extent.kind == EFFECT_BYTES)
        assert_true(effect->extent.kind == EFFECT_BYTES ? effect->extent.length
                                                        : effect->extent.other);
    for (uint32_t i = 0; i < EFFECT_MOST_ARGUMENTS; i++) {
        check_place(name, effect->arguments[i]);
        if (effect->kind != EFFECT_CALLS)
            assert_int_equal(effect->arguments[i].kind, EFFECT_NOTHING);
    }
}

static void test_well_formed(void **state)
{
    (void)state;
    assert_true(effects_count() > 1500);
    for (uint32_t i = 0; i < effects_count(); i++) {
        const char *name = effects_name(i);
        const struct effects *effects = effects_find(name);

        if (i && strcmp(effects_name(i - 1), name) >= 0)
            fail_msg("%s is there twice, or not in order", name);
        assert_non_null(effects);
        assert_true(effects->count < 64);
        assert_true((effects->list != NULL) == (effects->count != 0));
        for (uint32_t k = 0; k < effects->count; k++)
            check_effect(name, &effects->list[k]);
        assert_true(effects->printf_format < 8 || effects->printf_format == EFFECT_NO_ARGUMENT);
    }
}

// What the analysis of control flow knows is known here, but for what is open.
static void test_knows_the_library(void **state)
{
    static const char open_names[] =
        " dlopen dlmopen dlclose dlsym dlvsym setcontext swapcontext register_printf_function"
        " register_printf_specifier register_printf_type __tls_get_addr __overflow_arg ";
    char name[64], pattern[80];
    uint32_t count = 0, missing = 0;

    (void)state;
    for (; library_name(count, name, sizeof(name)); count++) {
        snprintf(pattern, sizeof(pattern), " %s ", name);
        assert_non_null(library_find(name));
        bool is_open = strstr(open_names, pattern) != NULL;
        if ((effects_find(name) == NULL) != is_open) {
            print_error("%s\n", name);
            missing++;
        }
    }
    assert_true(count > 800);
    assert_int_equal(missing, 0);
}

static void find_named(const char *name, const void *missing)
{
    enum effect_state state;

    if (!effects_find(name) && !effects_variable(name, &state)) {
        print_error("%s\n", name);
        ++*(uint32_t *)missing;
    }
}

static void test_knows_what_packages_use(void **state)
{
    uint32_t missing = 0;

    (void)state;
    for_each_word(package_names, find_named, &missing);
    assert_int_equal(missing, 0);
}

static void test_spellings(void **state)
{
    enum effect_state where = EFFECT_STATE_COUNT;

    (void)state;
    assert_ptr_equal(effects_find("__memcpy_chk"), effects_find("memcpy"));
    assert_ptr_equal(effects_find("__isoc99_sscanf"), effects_find("sscanf"));
    assert_ptr_equal(effects_find("__isoc23_strtol"), effects_find("strtol"));
    assert_ptr_equal(effects_find("llvm.memcpy.p0.p0.i64"), effects_find("llvm.memmove.p0.p0.i32"));
    assert_ptr_equal(effects_find("llvm.memcpy.inline.p0.p0.i64"), effects_find("llvm.memcpy.*"));
    assert_int_equal(effects_find("__snprintf_chk")->printf_format, 4);
    assert_int_equal(effects_find("snprintf")->printf_format, 2);
    assert_int_equal(effects_find("strlen")->printf_format, EFFECT_NO_ARGUMENT);
    assert_true(effects_find("exit")->never_returns && effects_find("longjmp")->never_returns);
    assert_false(effects_find("execve")->never_returns);
    assert_null(effects_find("llvm.eh.typeid.for"));
    assert_null(effects_find("strle"));
    assert_null(effects_find(""));
    assert_null(effects_find("*"));
    assert_null(effects_find("main"));
    assert_true(effects_variable("optarg", &where));
    assert_int_equal(where, EFFECT_STATE_TOKENS);
    assert_false(effects_variable("strlen", &where));
}

// A fortified function that is found without its prefix and suffix must take its further argument
// last: then what the call shows is the same. Those that take it elsewhere have their own entry.
static void test_fortified(void **state)
{
    static const char elsewhere[] =
        "__asprintf_chk __dprintf_chk __fgets_chk __fgets_unlocked_chk __fgetws_chk"
        " __fgetws_unlocked_chk __fprintf_chk __fread_chk __fread_unlocked_chk __fwprintf_chk"
        " __printf_chk __recv_chk __recvfrom_chk __snprintf_chk __sprintf_chk __swprintf_chk"
        " __syslog_chk __vasprintf_chk __vdprintf_chk __vfprintf_chk __vfwprintf_chk __vprintf_chk"
        " __vsnprintf_chk __vsprintf_chk __vswprintf_chk __vsyslog_chk __vwprintf_chk"
        " __wprintf_chk ";

    (void)state;
    for (const char *at = elsewhere; *at; at += strcspn(at, " ") + 1) {
        char name[64], plain[64];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " "), at);
        assert_true(library_plain_name(name, plain, sizeof(plain)));
        assert_non_null(effects_find(name));
        assert_ptr_not_equal(effects_find(name), effects_find(plain));
    }
}

// ---- The document

static const char list_begins[] = "<!-- table -->\n";

static void write_area(const char *area, struct strbuf *text)
{
    strbuf_printf(text, "\n### %s\n\n", area);
    for (uint32_t i = 0; i < effects_count(); i++) {
        const struct effects *effects = effects_find(effects_name(i));
        bool is_first = true;
        if (strcmp(effects_area(i), area) != 0)
            continue;
        for (uint32_t k = 0; k < i && is_first; k++)
            is_first = effects_find(effects_name(k)) != effects;
        if (!is_first)
            continue;
        strbuf_append(text, "-");
        for (uint32_t k = i; k < effects_count(); k++)
            if (effects_find(effects_name(k)) == effects)
                strbuf_printf(text, " `%s`", effects_name(k));
        strbuf_append(text, ": ");
        effects_write_text(effects, text);
        strbuf_append(text, "\n");
    }
}

static void write_list(struct strbuf *text)
{
    static const char *const areas[] = {
        "strings", "wide",   "memory", "stdio",   "formats", "files",  "process",   "threads",
        "time",    "locale", "math",   "sockets", "search",  "system", "databases", "compiler"};

    for (size_t i = 0; i < sizeof(areas) / sizeof(*areas); i++)
        write_area(areas[i], text);
}

static char *document(const char **list)
{
    FILE *stream = fopen("docs/library.md", "r");
    char *text = NULL;
    size_t size = 0;

    assert_non_null(stream);
    assert_true(getdelim(&text, &size, '\0', stream) > 0);
    fclose(stream);
    char *found = strstr(text, list_begins);
    assert_non_null(found);
    *list = found + strlen(list_begins);
    return text;
}

static void test_document(void **state)
{
    struct strbuf text = STRBUF_INIT;
    const char *list;
    char *all = document(&list);

    (void)state;
    write_list(&text);
    if (strcmp(list, text.data) != 0)
        fail_msg("docs/library.md is not what the table says: run test_effects --write");
    strbuf_deinit(&text);
    free(all);
}

static int write_document(void)
{
    struct strbuf text = STRBUF_INIT;
    const char *list;
    char *all = document(&list);

    strbuf_append_bytes(&text, all, (size_t)(list - all));
    write_list(&text);
    FILE *stream = fopen("docs/library.md", "w");
    bool ok = stream && fputs(text.data, stream) >= 0;
    ok = stream && fclose(stream) == 0 && ok;
    strbuf_deinit(&text);
    free(all);
    return ok ? 0 : 1;
}

// ---- Calls leave files behind: they do so in a folder of their own

static char folder[] = "/tmp/inquest-effects-XXXXXX";
static int home = -1;

static int enter_folder(void **state)
{
    (void)state;
    home = open(".", O_RDONLY | O_DIRECTORY);
    return home < 0 || !mkdtemp(folder) || chdir(folder) != 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static int leave_folder(void **state)
{
    (void)state;
    return fchdir(home) != 0 || nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_well_formed),
        cmocka_unit_test(test_knows_the_library),
        cmocka_unit_test(test_knows_what_packages_use),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_fortified),
        cmocka_unit_test(test_document),
        cmocka_unit_test(test_tokens_are_kept),
        cmocka_unit_test(test_buffers_are_kept),
        cmocka_unit_test(test_cookies),
        cmocka_unit_test(test_environment_is_kept),
        cmocka_unit_test(test_threads_give_back),
        cmocka_unit_test(test_handlers_are_kept),
        cmocka_unit_test(test_pointers_through_a_pipe),
        cmocka_unit_test(test_reallocation),
        cmocka_unit_test_setup_teardown(test_calls, enter_folder, leave_folder),
    };

    if (argc > 1 && strcmp(argv[1], "--write") == 0)
        return write_document();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
