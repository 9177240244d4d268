// SPDX-License-Identifier: Apache-2.0
// Who calls whom: binding of names, calls through pointers, callbacks, roots.
#include "model_fixture.h"

#include "common/file.h"
#include "program/image.h"
#include "program/library.h"
#include "program/model.h"

#define MAX_MODULES 4

// A complete model of these modules in one executable, linked with this record.
static struct model *model_of(const char *link, const char *const modules[MAX_MODULES])
{
    char *directory = fixture_directory(), *path = file_join(directory, "prog");
    struct fixture_bytes frames = {0}, record = {0};
    struct model *model;

    for (int i = 0; i < MAX_MODULES && modules[i]; i++)
        fixture_append_module(&frames, modules[i]);
    if (link)
        fixture_append_link(&record, link);
    fixture_write_elf(path, &(struct fixture_elf){0}, &frames, link ? &record : NULL);
    fixture_check(model_open(path, &(struct model_options){.no_cache = true}, &model));
    fixture_check(model_complete(model));
    free(frames.data);
    free(record.data);
    free(path);
    fixture_remove_directory(directory);
    return model;
}

#define MODEL(link, ...) model_of(link, (const char *const[MAX_MODULES]){__VA_ARGS__})

// "name@module name@module", in the order of the set.
static char *names_of(const struct model *model, struct function_list list)
{
    char *text = xstrdup("");

    for (uint32_t i = 0; i < list.count; i++) {
        const struct model_function *function = model_function(model, list.data[i]);
        char *longer =
            xasprintf("%s%s%s@%u", text, i ? " " : "", function->name, function->module.value);
        free(text);
        text = longer;
    }
    return text;
}

static void assert_list(const struct model *model, struct function_list list, const char *expected)
{
    char *names = names_of(model, list);

    assert_string_equal(names, expected);
    free(names);
}

// Site number `index` of the first function of this name.
static struct site_id site_of(const struct model *model, const char *function, uint32_t index)
{
    struct function_id *found;

    assert_true(model_find_name(model, function, &found) > 0);
    struct site_id site = model_site_at(model, found[0], index);
    free(found);
    return site;
}

static void assert_callees(const struct model *model, const char *function, uint32_t index,
                           const char *expected)
{
    assert_list(model, model_callees(model, site_of(model, function, index)), expected);
}

static void assert_callbacks(const struct model *model, const char *function, uint32_t index,
                             const char *expected)
{
    assert_list(model, model_callbacks(model, site_of(model, function, index)), expected);
}

static bool is_root(const struct model *model, const char *name, enum root_reason reason)
{
    for (uint32_t r = 0; r < model->root_count; r++)
        if (model->roots[r].reason == reason &&
            strcmp(model->functions[model->roots[r].function.value].name, name) == 0)
            return true;
    return false;
}

#define LINK FIXTURE_CRT

// ---- Names

static void names_bind_as_linked(void **state)
{
    struct model *model =
        MODEL(LINK,
              "define i32 @main() {\n"
              "  call void @s()\n  call void @w()\n  call void @v()\n  call void @e()\n"
              "  call void @o()\n  call void @alias()\n  ret i32 0\n}\n"
              "define internal void @s() {\n ret void\n}\n"
              "define weak void @w() {\n ret void\n}\n"
              "define weak void @v() {\n ret void\n}\n"
              "define available_externally void @e() {\n ret void\n}\n"
              "define linkonce_odr void @o() {\n ret void\n}\n"
              "declare void @alias()\n",
              "define void @s() {\n ret void\n}\n"
              "define void @w() {\n ret void\n}\n"
              "define weak void @v() {\n ret void\n}\n"
              "define void @e() {\n ret void\n}\n"
              "define linkonce_odr void @o() {\n ret void\n}\n"
              "@alias = alias void (), ptr @real\n"
              "define internal void @real() {\n ret void\n}\n"
              "define void @caller() {\n  call void @o()\n  call void @s()\n  call void @w()\n ret "
              "void\n}\n");

    (void)state;
    assert_callees(model, "main", 0, "s@0");     // its own comes first
    assert_callees(model, "main", 1, "w@1");     // strong beats weak
    assert_callees(model, "main", 2, "v@0 v@1"); // which copy was linked is not known
    assert_callees(model, "main", 3, "e@0 e@1"); // the copy may have been inlined
    assert_callees(model, "main", 4, "o@0 o@1");
    assert_callees(model, "main", 5, "real@1");
    assert_callees(model, "caller", 1, "s@1");
    assert_callees(model, "caller", 2, "w@1");
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(model_site(model, site_of(model, "main", i))->flags & SITE_EXTERNAL, 0);
    model_destroy(model);
}

static void linked_copies_count(void **state)
{
    static const char weak[] = "define weak void @v() {\n ret void\n}\n"
                               "define linkonce_odr void @o() {\n ret void\n}\n"
                               "define i32 @main() {\n  call void @v()\n  call void @o()\n"
                               "  ret i32 0\n}\n";
    static const char other[] = "define weak void @v() {\n  unreachable\n}\n"
                                "define linkonce_odr void @o() {\n  unreachable\n}\n"
                                "@keep = global ptr @o\n";
    char *directory = fixture_directory(), *path = file_join(directory, "prog");
    struct fixture_bytes frames = {0};
    struct model *model;

    (void)state;
    fixture_append_module(&frames, weak);
    fixture_append_module(&frames, other);
    fixture_write_elf(path, &(struct fixture_elf){0}, &frames, NULL);
    fixture_check(model_open(path, &(struct model_options){.no_cache = true}, &model));
    model_set_linked(model, (struct function_id){0}, LINKED_NO);
    model_set_linked(model, (struct function_id){1}, LINKED_NO);
    model_set_linked(model, (struct function_id){3}, LINKED_YES);
    model_set_linked(model, (struct function_id){4}, LINKED_YES);
    fixture_check(model_complete(model));
    assert_callees(model, "main", 0, "v@1");
    assert_callees(model, "main", 1, "o@0 o@1"); // the other copy may be inlined here
    model_destroy(model);
    free(frames.data);
    free(path);
    fixture_remove_directory(directory);
}

// ---- Pointers

static void pointers_call_what_fits(void **state)
{
    struct model *model =
        MODEL(LINK,
              "@table = global [5 x ptr] [ptr @none, ptr @one, ptr @two, ptr @real, ptr @far]\n"
              "define i32 @main() {\n"
              "  %f = load ptr, ptr @table\n"
              "  call void %f()\n"
              "  call void %f(i64 1)\n"
              "  %r = call i32 (ptr, ...) %f(ptr null, i32 2)\n"
              "  call void %f(double 1.0)\n"
              "  ret i32 0\n}\n"
              "declare void @far(i32)\n"
              "define internal void @none() {\n ret void\n}\n"
              "define internal i32 @one(ptr %p) {\n ret i32 1\n}\n"
              "define internal void @two(i32 %a, ptr %p) {\n ret void\n}\n"
              "define internal void @real(double %d) {\n ret void\n}\n"
              "define internal void @untaken() {\n ret void\n}\n",
              "define void @far(i32 %x) {\n  call void @untaken()\n ret void\n}\n"
              "define internal void @untaken() {\n ret void\n}\n");

    (void)state;
    assert_callees(model, "main", 0, "none@0");
    assert_callees(model, "main", 1, "none@0 one@0 far@1");
    assert_callees(model, "main", 2, "none@0 one@0 two@0 real@0 far@1");
    assert_callees(model, "main", 3, "none@0 real@0");
    assert_true(model_site(model, site_of(model, "main", 0))->flags & SITE_EXTERNAL);
    assert_callbacks(model, "main", 0, "");
    assert_callees(model, "far", 0, "untaken@1");
    model_destroy(model);
}

// ---- Library functions

#define DECLARATIONS                                                                               \
    "declare void @qsort(ptr, i64, i64, ptr)\ndeclare i64 @strlen(ptr)\n"                          \
    "declare i32 @printf(ptr, ...)\ndeclare void @exit(i32) noreturn\n"

static void libraries_call_back(void **state)
{
    struct model *model = MODEL(
        LINK "input\tarchive\tuser\tlib.a\nmodelless\nundefined\tmalloc\nundefined\thook\n",
        DECLARATIONS
        "@llvm.global_dtors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 "
        "1, ptr @late, ptr null }]\n"
        "define i32 @main(ptr %f) {\n"
        "  call void @qsort(ptr null, i64 0, i64 0, ptr @compare)\n"
        "  call void @qsort(ptr null, i64 0, i64 0, ptr %f)\n"
        "  %l = call i64 @strlen(ptr null)\n"
        "  %p = call i32 (ptr, ...) @printf(ptr null)\n"
        "  call void @exit(i32 0)\n"
        "  unreachable\n}\n"
        "@keep = global ptr @other\n"
        "define internal i32 @compare(ptr %a, ptr %b) {\n ret i32 0\n}\n"
        "define internal void @other() {\n ret void\n}\n"
        "define internal void @late() {\n ret void\n}\n"
        "define ptr @malloc(i64 %n) {\n ret ptr null\n}\n"
        "define void @hook() {\n ret void\n}\n"
        "define void @unseen() {\n ret void\n}\n");

    (void)state;
    assert_callbacks(model, "main", 0, "compare@0 malloc@0");
    assert_callbacks(model, "main", 1, "compare@0 other@0 malloc@0 hook@0");
    assert_callbacks(model, "main", 2, "");
    assert_callbacks(model, "main", 3, "malloc@0");
    assert_callbacks(model, "main", 4, "compare@0 other@0 late@0 malloc@0 hook@0");
    assert_int_equal(model_site(model, site_of(model, "main", 2))->flags, SITE_EXTERNAL);
    assert_int_equal(model_site(model, site_of(model, "main", 4))->flags,
                     SITE_EXTERNAL | SITE_NORETURN | SITE_EXITS | SITE_CALLS_BACK);
    assert_true(is_root(model, "main", ROOT_MAIN));
    assert_false(is_root(model, "main", ROOT_MODELLESS));
    assert_true(is_root(model, "late", ROOT_DESTRUCTOR));
    assert_true(is_root(model, "malloc", ROOT_MODELLESS));
    assert_true(is_root(model, "hook", ROOT_MODELLESS));
    assert_true(is_root(model, "other", ROOT_ESCAPED));
    assert_false(is_root(model, "other", ROOT_SIGNAL));
    assert_false(is_root(model, "unseen", ROOT_MODELLESS));
    model_destroy(model);
}

static void unknown_code_may_do_anything(void **state)
{
    static const char text[] = "declare void @mystery(ptr)\n"
                               "define i32 @main() {\n"
                               "  call void @mystery(ptr null)\n"
                               "  ret i32 0\n}\n"
                               "@keep = global [2 x ptr] [ptr @a, ptr @b]\n"
                               "define internal void @a() {\n ret void\n}\n"
                               "define internal void @b(i64 %a, i64 %b, i64 %c, i64 %d) {\n"
                               "  ret void\n}\n"
                               "define void @open() {\n ret void\n}\n";
    struct model *model = MODEL(LINK, text);

    (void)state;
    assert_callbacks(model, "main", 0, "a@0 b@0");
    assert_int_equal(model_site(model, site_of(model, "main", 0))->flags,
                     SITE_EXTERNAL | SITE_CALLS_BACK | SITE_MAY_LONGJMP);
    assert_true(is_root(model, "a", ROOT_SIGNAL));
    assert_true(is_root(model, "a", ROOT_THREAD));
    assert_false(is_root(model, "b", ROOT_SIGNAL));
    assert_false(is_root(model, "open", ROOT_MODELLESS));
    model_destroy(model);
    // linked by something else: nothing is known of the other inputs
    model = MODEL(NULL, text);
    assert_callbacks(model, "main", 0, "a@0 b@0 open@0");
    assert_true(is_root(model, "open", ROOT_MODELLESS));
    assert_false(is_root(model, "main", ROOT_MODELLESS));
    model_destroy(model);
    model = MODEL(LINK "input\tbitcode\tuser\tx.bc\nmodelless\nopaque\n", text);
    assert_true(is_root(model, "open", ROOT_MODELLESS));
    model_destroy(model);
}

static void handlers_threads_and_jumps(void **state)
{
    static const char rest[] = "@keep = global [2 x ptr] [ptr @h, ptr @t]\n"
                               "define internal void @h(i32 %s) {\n"
                               "  call void @longjmp(ptr null, i32 1)\n  unreachable\n}\n"
                               "define internal ptr @t(ptr %p) {\n ret ptr null\n}\n"
                               "define internal void @x() {\n ret void\n}\n"
                               "declare void @longjmp(ptr, i32) noreturn\n"
                               "declare i32 @setjmp(ptr) returns_twice\n"
                               "declare ptr @signal(i32, ptr)\n"
                               "declare i32 @sigaction(i32, ptr, ptr)\n"
                               "declare i32 @atexit(ptr)\n"
                               "declare i32 @pthread_create(ptr, ptr, ptr, ptr)\n";
    char *text =
        xasprintf("define i32 @main() {\n"
                  "  %%a = call i32 @setjmp(ptr null)\n"
                  "  %%b = call ptr @signal(i32 2, ptr @h)\n"
                  "  %%c = call ptr @signal(i32 3, ptr inttoptr (i64 1 to ptr))\n"
                  "  %%d = call i32 @pthread_create(ptr null, ptr null, ptr @t, ptr null)\n"
                  "  %%e = call i32 @atexit(ptr @x)\n"
                  "  ret i32 0\n}\n%s",
                  rest);
    struct model *model = MODEL(LINK, text);

    (void)state;
    assert_true(is_root(model, "h", ROOT_SIGNAL));
    assert_false(is_root(model, "t", ROOT_SIGNAL));
    assert_true(is_root(model, "t", ROOT_THREAD));
    assert_false(is_root(model, "h", ROOT_THREAD));
    assert_true(is_root(model, "x", ROOT_AT_EXIT));
    assert_int_equal(model->landing_count, 1);
    assert_int_equal(model->landings[0].value, site_of(model, "main", 0).value);
    assert_true(model_site(model, site_of(model, "h", 0))->flags & SITE_LONGJMP);
    model_destroy(model);
    free(text);
    // a handler in a struct may be any
    text = xasprintf("define i32 @main() {\n"
                     "  %%b = call i32 @sigaction(i32 2, ptr @keep, ptr null)\n"
                     "  ret i32 0\n}\n%s",
                     rest);
    model = MODEL(LINK, text);
    assert_true(is_root(model, "h", ROOT_SIGNAL));
    assert_true(is_root(model, "t", ROOT_SIGNAL));
    model_destroy(model);
    free(text);
}

static void other_roots(void **state)
{
    struct model *model =
        MODEL(LINK,
              "module asm \"call in_asm\"\n"
              "@llvm.used = appending global [1 x ptr] [ptr @kept], section \"llvm.metadata\"\n"
              "@entry = global ptr @listed, section \".init_array.5\"\n"
              "@fast = ifunc void (), ptr @choose\n"
              "define i32 @main() {\n"
              "  call void asm sideeffect \"jmp inlined\", \"\"()\n"
              "  call void @fast()\n"
              "  ret i32 0\n}\n"
              "define internal ptr @choose() {\n  ret ptr @slow\n}\n"
              "define internal void @slow() {\n ret void\n}\n"
              "define internal void @kept() {\n ret void\n}\n"
              "define internal void @listed() {\n ret void\n}\n"
              "define internal void @inlined() {\n ret void\n}\n"
              "define ptr @memcpy(ptr %a, ptr %b, i64 %n) {\n ret ptr %a\n}\n"
              "define void @quiet() {\n ret void\n}\n",
              "define void @in_asm() {\n ret void\n}\n");

    (void)state;
    assert_true(is_root(model, "kept", ROOT_USED));
    assert_true(is_root(model, "listed", ROOT_CONSTRUCTOR));
    assert_true(is_root(model, "in_asm", ROOT_ASSEMBLY));
    assert_true(is_root(model, "inlined", ROOT_ASSEMBLY));
    assert_true(is_root(model, "choose", ROOT_IFUNC_RESOLVER));
    assert_true(is_root(model, "memcpy", ROOT_BUILTIN));
    for (int reason = 0; reason < ROOT_REASON_COUNT; reason++)
        assert_false(is_root(model, "quiet", (enum root_reason)reason));
    assert_callees(model, "main", 0, "slow@0 listed@0");
    assert_true(model_site(model, site_of(model, "main", 0))->flags & SITE_IFUNC);
    model_destroy(model);
}

static void library_table(void **state)
{
    (void)state;
    assert_int_equal(library_find("strlen")->kind, LIBRARY_PURE);
    assert_int_equal(library_find("__strcpy_chk")->kind, LIBRARY_PURE);
    assert_int_equal(library_find("__isoc99_sscanf")->kind, LIBRARY_CLOSED);
    assert_int_equal(library_find("__fprintf_chk")->kind, LIBRARY_CLOSED);
    assert_int_equal(library_find("bsearch")->callbacks, 16);
    assert_null(library_find("trlen"));
    assert_null(library_find("str"));
    assert_null(library_find("obstack_free"));
    assert_null(library_find(""));
    assert_null(library_find("strlen strcmp"));
    assert_true(library_is_replaceable("malloc"));
    assert_false(library_is_replaceable("lloc"));
}

static void callees_can_be_narrowed(void **state)
{
    struct model *model =
        MODEL(LINK, "@keep = global ptr @a\n"
                    "define i32 @main(ptr %f) {\n  call void %f()\n  ret i32 0\n}\n"
                    "define internal void @a() {\n ret void\n}\n");
    struct callee_table table = {.callees_of_site = xcalloc(2, sizeof(uint32_t)),
                                 .callbacks_of_site = xcalloc(2, sizeof(uint32_t)),
                                 .set_start = xcalloc(2, sizeof(uint32_t)),
                                 .members = xcalloc(1, sizeof(struct function_id)),
                                 .set_count = 1};

    (void)state;
    assert_callees(model, "main", 0, "a@0");
    model_replace_callees(model, &table);
    assert_null(table.members);
    assert_callees(model, "main", 0, "");
    model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_bind_as_linked),
        cmocka_unit_test(linked_copies_count),
        cmocka_unit_test(pointers_call_what_fits),
        cmocka_unit_test(libraries_call_back),
        cmocka_unit_test(unknown_code_may_do_anything),
        cmocka_unit_test(handlers_threads_and_jumps),
        cmocka_unit_test(other_roots),
        cmocka_unit_test(library_table),
        cmocka_unit_test(callees_can_be_narrowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
