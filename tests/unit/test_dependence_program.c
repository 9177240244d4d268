// SPDX-License-Identifier: Apache-2.0
// Dependences of small programs of C, compiled by clang: what depends on which line. Brute force is
// in test_dependence.c.
#include "model_fixture.h"

#include "analysis/dependence.h"
#include "analysis/points_to.h"
#include "common/budget.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "program/model.h"

struct subject {
    struct model *model;
    struct points_to *points_to;
    struct dependence *dependence;
};

static char *assembly_of(const char *directory, const char *source)
{
    char *path = file_join(directory, "test.c");
    char *command = xasprintf("cd '%s' && clang-19 -w -g -O0 -Xclang -disable-O0-optnone -S "
                              "-emit-llvm test.c -o test.ll",
                              directory);
    FILE *file = fopen(path, "w");
    struct strbuf text = STRBUF_INIT;
    char buffer[4096];
    size_t size;

    assert_non_null(file);
    fputs(source, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(system(command), 0);
    free(path);
    free(command);
    path = file_join(directory, "test.ll");
    file = fopen(path, "r");
    assert_non_null(file);
    while ((size = fread(buffer, 1, sizeof(buffer), file)) > 0)
        strbuf_append_bytes(&text, buffer, size);
    fclose(file);
    free(path);
    return strbuf_steal(&text);
}

static void subject_init(struct subject *subject, const char *source)
{
    char *directory = fixture_directory(), *path = file_join(directory, "prog");
    char *assembly = assembly_of(directory, source);
    struct fixture_bytes frames = {0}, record = {0};
    struct callee_table callees;
    struct budget budget;

    fixture_append_module(&frames, assembly);
    fixture_append_link(&record, FIXTURE_CRT);
    fixture_write_elf(path, &(struct fixture_elf){0}, &frames, &record);
    fixture_check(model_open(path, &(struct model_options){.no_cache = true}, &subject->model));
    fixture_check(model_complete(subject->model));
    budget_init(&budget, 0, 0);
    subject->points_to = points_to_create(subject->model, &budget);
    assert_true(points_to_is_complete(subject->points_to));
    points_to_callees(subject->points_to, &callees);
    model_replace_callees(subject->model, &callees);
    subject->dependence = dependence_create(subject->model, subject->points_to);
    free(assembly);
    free(frames.data);
    free(record.data);
    free(path);
    fixture_remove_directory(directory);
}

static void subject_deinit(struct subject *subject)
{
    dependence_destroy(subject->dependence);
    points_to_destroy(subject->points_to);
    model_destroy(subject->model);
}

static struct function_id function_named(const struct subject *subject, const char *name)
{
    struct function_id *found;

    assert_int_equal(model_find_name(subject->model, name, &found), 1);
    struct function_id function = found[0];
    free(found);
    return function;
}

// ---- Lines

static uint32_t line_of(const struct subject *subject, struct insn_id insn)
{
    struct module_id module;
    const struct insn *at = dependence_insn_at(subject->dependence, insn, &module, NULL);
    const struct place *place = code_place(subject->model->modules[module.value].code, at->place);

    return place ? place->line : 0;
}

struct lines {
    bool writers[100], calls[100], jumps[100], aside[100], entry;
};

static void mark(const struct subject *subject, const struct insn_id *insns, size_t count,
                 bool *lines)
{
    for (size_t i = 0; i < count; i++)
        lines[line_of(subject, insns[i])] = true;
}

static void add(const struct subject *subject, struct definitions *definitions, struct lines *lines)
{
    mark(subject, definitions->writers.data, definitions->writers.length, lines->writers);
    mark(subject, definitions->calls.data, definitions->calls.length, lines->calls);
    mark(subject, definitions->jumps.data, definitions->jumps.length, lines->jumps);
    mark(subject, definitions->asynchronous.data, definitions->asynchronous.count, lines->aside);
    lines->entry |= definitions->from_entry;
    definitions_deinit(definitions);
}

static void write_lines(const char *word, const bool *lines, struct strbuf *text)
{
    for (uint32_t line = 0; line < 100; line++)
        if (lines[line])
            strbuf_printf(text, "%s%s%u", text->length ? " " : "", word, line);
}

static void assert_lines(const struct lines *lines, const char *expected)
{
    struct strbuf text = STRBUF_INIT;

    write_lines("", lines->writers, &text);
    write_lines("call:", lines->calls, &text);
    write_lines("jump:", lines->jumps, &text);
    write_lines("aside:", lines->aside, &text);
    if (lines->entry)
        strbuf_append(&text, text.length ? " entry" : "entry");
    assert_string_equal(text.data, expected);
    strbuf_deinit(&text);
}

static bool is_named(const struct subject *subject, struct class_id class, const char *name)
{
    struct strbuf text = STRBUF_INIT;
    bool found = strstr(dependence_class_name(subject->dependence, class, &text), name) != NULL;

    strbuf_deinit(&text);
    return found;
}

// What the reads of this variable on this line may have been written by.
static void assert_read(const struct subject *subject, uint32_t line, const char *name,
                        const char *expected)
{
    struct lines lines = {0};
    uint32_t found = 0;

    for (uint32_t i = 0; i < dependence_insn_count(subject->dependence); i++) {
        struct insn_id insn = {i};
        struct class_set reads = dependence_accesses(subject->dependence, insn).reads;
        for (uint32_t k = 0; k < reads.count && line_of(subject, insn) == line; k++) {
            struct definitions definitions;
            if (!is_named(subject, reads.data[k], name))
                continue;
            dependence_reaching(subject->dependence, insn, reads.data[k], NULL, &definitions);
            add(subject, &definitions, &lines);
            found++;
        }
    }
    assert_true(found > 0);
    assert_lines(&lines, expected);
}

static struct class_id class_named(const struct subject *subject, const char *name)
{
    struct class_id found = {0};

    for (uint32_t c = 1; c < dependence_class_count(subject->dependence); c++)
        if (is_named(subject, (struct class_id){c}, name)) {
            assert_int_equal(found.value, 0);
            found.value = c;
        }
    assert_int_not_equal(found.value, 0);
    return found;
}

static void assert_left(const struct subject *subject, const char *function, const char *name,
                        bool by_jump, const char *expected)
{
    struct definitions definitions;
    struct lines lines = {0};

    (by_jump ? dependence_reaching_jump : dependence_reaching_exit)(
        subject->dependence, function_named(subject, function), class_named(subject, name), NULL,
        &definitions);
    add(subject, &definitions, &lines);
    assert_lines(&lines, expected);
}

// The lines of the last instructions of nodes that decide about this line.
static void assert_control(const struct subject *subject, uint32_t line, const char *expected)
{
    struct strbuf text = STRBUF_INIT;
    bool lines[100] = {0}, entry = false;

    for (uint32_t i = 0; i < dependence_insn_count(subject->dependence); i++) {
        if (line_of(subject, (struct insn_id){i}) != line)
            continue;
        struct node_id node = dependence_insn_node(subject->dependence, (struct insn_id){i});
        struct control control = dependence_control(subject->dependence, node);
        entry |= control.is_entry;
        for (uint32_t k = 0; k < control.count; k++) {
            const struct code_node *on = model_code_node(subject->model, control.nodes[k]);
            lines[line_of(subject, dependence_insn(subject->dependence, (struct module_id){0},
                                                   on->first_insn + on->insn_count - 1))] = true;
        }
    }
    write_lines("", lines, &text);
    if (entry)
        strbuf_append(&text, text.length ? " entry" : "entry");
    assert_string_equal(text.data, expected);
    strbuf_deinit(&text);
}

static bool may_stay(const struct subject *subject, const char *name)
{
    return dependence_may_stay(subject->dependence, function_named(subject, name));
}

static bool has_class(const struct subject *subject, struct class_set set, const char *name)
{
    for (uint32_t i = 0; i < set.count; i++)
        if (is_named(subject, set.data[i], name))
            return true;
    return false;
}

// ---- The programs. Line numbers are those of the strings.

static void the_last_write_counts(void **state)
{
    struct subject subject;

    (void)state;
    subject_init(&subject, "int shown;\n"                      // 1
                           "int main(int argc, char **argv)\n" // 2
                           "{\n"                               // 3
                           "    shown = 1;\n"                  // 4
                           "    shown = 2;\n"                  // 5
                           "    if (argc > 1)\n"               // 6
                           "        shown = 3;\n"              // 7
                           "    while (argc-- > 0) {\n"        // 8
                           "        if (shown == argc)\n"      // 9
                           "            break;\n"              // 10
                           "        shown = argc;\n"           // 11
                           "    }\n"                           // 12
                           "    return shown;\n"               // 13
                           "}\n");
    assert_read(&subject, 9, "shown", "5 7 11");
    assert_read(&subject, 13, "shown", "5 7 11");
    assert_left(&subject, "main", "shown", false, "5 7 11");
    assert_control(&subject, 7, "6");
    assert_control(&subject, 11, "9");
    assert_control(&subject, 9, "8");
    assert_control(&subject, 13, "entry");
    assert_false(may_stay(&subject, "main"));
    subject_deinit(&subject);
}

static void calls_write_and_read(void **state)
{
    struct subject subject;
    struct dependence *dependence;

    (void)state;
    subject_init(&subject, "int shown, other;\n"                      // 1
                           "static void set(int *where, int value)\n" // 2
                           "{\n"                                      // 3
                           "    if (value)\n"                         // 4
                           "        *where = value;\n"                // 5
                           "}\n"                                      // 6
                           "static int get(void) { return shown; }\n" // 7
                           "int main(int argc, char **argv)\n"        // 8
                           "{\n"                                      // 9
                           "    int mine = 1;\n"                      // 10
                           "    shown = 1;\n"                         // 11
                           "    set(&shown, argc);\n"                 // 12
                           "    set(&mine, argc);\n"                  // 13
                           "    other = 2;\n"                         // 14
                           "    return get() + mine;\n"               // 15
                           "}\n");
    dependence = subject.dependence;
    assert_read(&subject, 7, "shown", "entry");
    assert_read(&subject, 15, "mine", "10 call:12 call:13"); // set is not told apart by its callers
    assert_left(&subject, "set", "shown", false, "5 entry");
    assert_left(&subject, "main", "shown", false, "11 call:12 call:13");
    assert_true(
        has_class(&subject, dependence_mod(dependence, function_named(&subject, "set")), "mine"));
    assert_false(has_class(&subject, dependence_mod(dependence, function_named(&subject, "main")),
                           "mine")); // it is dead then
    assert_true(
        has_class(&subject, dependence_mod(dependence, function_named(&subject, "main")), "other"));
    assert_true(
        has_class(&subject, dependence_ref(dependence, function_named(&subject, "get")), "shown"));
    assert_false(
        has_class(&subject, dependence_mod(dependence, function_named(&subject, "get")), "shown"));
    subject_deinit(&subject);
}

static void recursion_has_locals_of_its_own(void **state)
{
    struct subject subject;

    (void)state;
    subject_init(&subject, "int *saved;\n"                    // 1
                           "int f(int n)\n"                   // 2
                           "{\n"                              // 3
                           "    int stays = 1, leaves = 1;\n" // 4
                           "    if (n) {\n"                   // 5
                           "        stays = f(n - 1);\n"      // 6
                           "        stays = 2;\n"             // 7
                           "        saved = &leaves;\n"       // 8
                           "        leaves = f(n - 1);\n"     // 9
                           "    } else if (saved) {\n"        // 10
                           "        *saved = 3;\n"            // 11
                           "    }\n"                          // 12
                           "    return stays + leaves;\n"     // 13
                           "}\n"                              // 14
                           "int main(int argc, char **argv) { return f(argc); }\n");
    assert_read(&subject, 13, "stays", "4 7");
    // *saved may be an outer activation's, and so may what was there at entry
    assert_read(&subject, 13, "leaves", "4 9 11 call:6 call:9 entry");
    assert_true(has_class(
        &subject, dependence_mod(subject.dependence, function_named(&subject, "f")), "leaves"));
    assert_false(has_class(
        &subject, dependence_mod(subject.dependence, function_named(&subject, "f")), "stays"));
    subject_deinit(&subject);
}

static void parts_of_objects_are_apart(void **state)
{
    struct subject subject;

    (void)state;
    subject_init(&subject, "#include <stdlib.h>\n#include <string.h>\n" // 1, 2
                           "struct pair { int a, b; } one, two;\n"      // 3
                           "int list[8];\n"                             // 4
                           "int main(int argc, char **argv)\n"          // 5
                           "{\n"                                        // 6
                           "    one.a = 1;\n"                           // 7
                           "    one.b = 2;\n"                           // 8
                           "    one.a = 3;\n"                           // 9
                           "    list[0] = one.b;\n"                     // 10
                           "    list[1] = one.a;\n"                     // 11
                           "    list[argc] = 4;\n"                      // 12
                           "    int *heap = malloc(4);\n"               // 13
                           "    *heap = 5;\n"                           // 14
                           "    *heap = 6;\n"                           // 15
                           "    one.a = list[2];\n"                     // 16
                           "    two = one;\n"                           // 17
                           "    return *heap + two.a;\n"                // 18
                           "}\n");
    assert_read(&subject, 10, "one", "8");
    assert_read(&subject, 11, "one", "9");
    assert_read(&subject, 16, "list", "10 11 12 entry"); // an element kills nothing
    assert_read(&subject, 17, "one", "8 16");
    assert_read(&subject, 18, "malloc", "13 14 15 entry"); // nor does what malloc gave
    assert_read(&subject, 18, "two", "17");
    subject_deinit(&subject);
}

static void calls_may_stay_away(void **state)
{
    struct subject subject;

    (void)state;
    subject_init(&subject, "#include <stdio.h>\n#include <stdlib.h>\n" // 1, 2
                           "void die(void) { exit(1); }\n"             // 3
                           "void spin(void)\n"                         // 4
                           "{\n"                                       // 5
                           "    for (;;)\n"                            // 6
                           "        puts(\"spin\");\n"                 // 7
                           "}\n"                                       // 8
                           "void fine(void) { puts(\"fine\"); }\n"     // 9
                           "void check(int n)\n"                       // 10
                           "{\n"                                       // 11
                           "    if (n)\n"                              // 12
                           "        die();\n"                          // 13
                           "    fine();\n"                             // 14
                           "}\n"                                       // 15
                           "int main(int argc, char **argv)\n"         // 16
                           "{\n"                                       // 17
                           "    fine();\n"                             // 18
                           "    check(argc);\n"                        // 19
                           "    puts(\"checked\");\n"                  // 20
                           "    if (argc > 3)\n"                       // 21
                           "        spin();\n"                         // 22
                           "    return 0;\n"                           // 23
                           "}\n");
    assert_true(may_stay(&subject, "die"));
    assert_true(may_stay(&subject, "spin"));
    assert_true(may_stay(&subject, "check"));
    assert_true(may_stay(&subject, "main"));
    assert_false(may_stay(&subject, "fine"));
    assert_control(&subject, 13, "12 13"); // the way behind the call is on its line
    assert_control(&subject, 14, "12 13");
    assert_control(&subject, 19, "entry");
    assert_control(&subject, 20, "19");
    assert_control(&subject, 22, "21 22");
    assert_control(&subject, 23, "21 22");
    subject_deinit(&subject);
}

static void jumps_land_behind_setjmp(void **state)
{
    struct subject subject;

    (void)state;
    subject_init(&subject, "#include <setjmp.h>\n"             // 1
                           "jmp_buf back;\n"                   // 2
                           "int shown;\n"                      // 3
                           "void leave(int n)\n"               // 4
                           "{\n"                               // 5
                           "    shown = 1;\n"                  // 6
                           "    if (n)\n"                      // 7
                           "        longjmp(back, 1);\n"       // 8
                           "    shown = 2;\n"                  // 9
                           "}\n"                               // 10
                           "int main(int argc, char **argv)\n" // 11
                           "{\n"                               // 12
                           "    shown = 3;\n"                  // 13
                           "    if (setjmp(back))\n"           // 14
                           "        return shown;\n"           // 15
                           "    shown = 4;\n"                  // 16
                           "    leave(argc);\n"                // 17
                           "    shown = 5;\n"                  // 18
                           "    return shown;\n"               // 19
                           "}\n");
    assert_read(&subject, 15, "shown", "13 16 jump:17");
    assert_read(&subject, 19, "shown", "18");
    assert_left(&subject, "leave", "shown", true, "6");
    assert_left(&subject, "leave", "shown", false, "9");
    assert_control(&subject, 17, "14");
    assert_control(&subject, 18, "17"); // does it come back?
    assert_true(dependence_may_jump(subject.dependence, function_named(&subject, "leave")));
    subject_deinit(&subject);
}

static void handlers_write_at_any_time(void **state)
{
    struct subject subject;

    (void)state;
    subject_init(&subject, "#include <signal.h>\n"             // 1
                           "int stop, count;\n"                // 2
                           "static void handler(int n)\n"      // 3
                           "{\n"                               // 4
                           "    stop = count;\n"               // 5
                           "}\n"                               // 6
                           "int main(int argc, char **argv)\n" // 7
                           "{\n"                               // 8
                           "    stop = 0;\n"                   // 9
                           "    signal(SIGINT, handler);\n"    // 10
                           "    count = 1;\n"                  // 11
                           "    return stop + count;\n"        // 12
                           "}\n");
    assert_read(&subject, 12, "stop", "9 aside:5");
    assert_read(&subject, 12, "count", "11");
    assert_read(&subject, 5, "count", "aside:11 entry");
    subject_deinit(&subject);
}

static void callbacks_come_in_between(void **state)
{
    struct subject subject;
    struct definitions definitions;
    struct lines lines = {0};

    (void)state;
    subject_init(&subject, "#include <stdlib.h>\n"                              // 1
                           "int count, list[4];\n"                              // 2
                           "static int compare(const void *a, const void *b)\n" // 3
                           "{\n"                                                // 4
                           "    count++;\n"                                     // 5
                           "    return *(int *)a - *(int *)b;\n"                // 6
                           "}\n"                                                // 7
                           "int main(int argc, char **argv)\n"                  // 8
                           "{\n"                                                // 9
                           "    count = 0;\n"                                   // 10
                           "    qsort(list, 4, sizeof(*list), compare);\n"      // 11
                           "    return count;\n"                                // 12
                           "}\n");
    assert_read(&subject, 12, "count", "10 call:11");
    for (uint32_t i = 0; i < dependence_insn_count(subject.dependence); i++) {
        struct insn_id insn = {i};
        if (line_of(&subject, insn) != 11 ||
            dependence_insn_at(subject.dependence, insn, NULL, NULL)->opcode != INSN_CALL)
            continue;
        dependence_reaching_callee(subject.dependence, insn, class_named(&subject, "count"), NULL,
                                   &definitions);
        add(&subject, &definitions, &lines);
    }
    assert_lines(&lines, "10 call:11"); // compare was called before
    subject_deinit(&subject);
}

static void all_is_written_as_text(void **state)
{
    struct subject subject;
    struct strbuf text = STRBUF_INIT;

    (void)state;
    subject_init(&subject, "int shown;\n"
                           "int main(int argc, char **argv)\n"
                           "{\n"
                           "    if (argc > 1)\n"
                           "        shown = 3;\n"
                           "    return shown;\n"
                           "}\n");
    dependence_write_text(subject.dependence, function_named(&subject, "main"), &text);
    assert_string_equal(text.data, "function 0 \"main\" mod 1 ref 1\n"
                                   "  node 0 entry\n"
                                   "    insn 3 store writes 2 certain 2\n"
                                   "    insn 4 store writes 3 certain 3\n"
                                   "    insn 5 store writes 4 certain 4\n"
                                   "    insn 6 load reads 3\n"
                                   "      from 3: writers 4\n"
                                   "  node 1 on 0\n"
                                   "    insn 9 store writes 1 certain 1\n"
                                   "  node 2 entry\n"
                                   "    insn 11 load reads 1\n"
                                   "      from 1: writers 9 entry\n"
                                   "  exit 1: writers 9 entry\n"
                                   "class 1 \"test.c:1 shown\"\n"
                                   "class 2 \"(temporary) of main\"\n"
                                   "class 3 \"test.c:2 argc of main\"\n"
                                   "class 4 \"test.c:2 argv of main\"\n");
    strbuf_deinit(&text);
    subject_deinit(&subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_write_counts),
        cmocka_unit_test(calls_write_and_read),
        cmocka_unit_test(recursion_has_locals_of_its_own),
        cmocka_unit_test(parts_of_objects_are_apart),
        cmocka_unit_test(calls_may_stay_away),
        cmocka_unit_test(jumps_land_behind_setjmp),
        cmocka_unit_test(handlers_write_at_any_time),
        cmocka_unit_test(callbacks_come_in_between),
        cmocka_unit_test(all_is_written_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
