// SPDX-License-Identifier: Apache-2.0
/*
 * Points-to of small programs of C, compiled by clang. A line that ends in `//= NAMES` says,
 * written by hand, what the last pointer that is dereferenced there may point to. With `--write
 * EXE` the program prints the points-to sets of an executable, for tests/truth/points_to.
 */
#include "model_fixture.h"

#include <ctype.h>

#include "analysis/points_to.h"
#include "common/budget.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "program/model.h"

struct subject {
    struct model *model;
    struct points_to *points_to;
};

// ---- Making one

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "r");
    struct strbuf text = STRBUF_INIT;
    char buffer[4096];
    size_t size;

    assert_non_null(file);
    while ((size = fread(buffer, 1, sizeof(buffer), file)) > 0)
        strbuf_append_bytes(&text, buffer, size);
    fclose(file);
    return strbuf_steal(&text);
}

static char *assembly_of(const char *directory, const char *source)
{
    char *path = file_join(directory, "t.c"), *to = file_join(directory, "t.ll");
    char *command = xasprintf("cd '%s' && clang-19 -w -g -O0 -Xclang -disable-O0-optnone -S "
                              "-emit-llvm t.c -o t.ll",
                              directory);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(source, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(system(command), 0);
    char *text = read_all(to);
    free(path);
    free(to);
    free(command);
    return text;
}

static void subject_init(struct subject *subject, const char *const *sources)
{
    char *directory = fixture_directory(), *path = file_join(directory, "prog");
    struct fixture_bytes frames = {0}, record = {0};
    struct budget budget;

    for (; *sources; sources++) {
        char *assembly = assembly_of(directory, *sources);
        fixture_append_module(&frames, assembly);
        free(assembly);
    }
    fixture_append_link(&record, FIXTURE_CRT);
    fixture_write_elf(path, &(struct fixture_elf){0}, &frames, &record);
    fixture_check(model_open(path, &(struct model_options){.no_cache = true}, &subject->model));
    fixture_check(model_complete(subject->model));
    budget_init(&budget, 0, 0);
    subject->points_to = points_to_create(subject->model, &budget);
    assert_true(points_to_is_complete(subject->points_to));
    free(frames.data);
    free(record.data);
    free(path);
    fixture_remove_directory(directory);
}

static void subject_deinit(struct subject *subject)
{
    points_to_destroy(subject->points_to);
    model_destroy(subject->model);
}

// ---- Expectations

// The address of the last load or store on the line that no variable's name gives.
static bool find_access(const struct code *code, uint32_t line, struct operand *ret)
{
    bool found = false;

    for (uint32_t i = 0; i < code->insns_count; i++) {
        const struct insn *insn = &code->insns[i];
        const struct place *place = code_place(code, insn->place);
        if (!place || place->line != line ||
            (insn->opcode != INSN_LOAD && insn->opcode != INSN_STORE))
            continue;
        struct operand address = code_operand(code, insn, insn->opcode == INSN_STORE);
        if (operand_kind(address) == OPERAND_INSN &&
            code->insns[operand_index(address)].opcode != INSN_ALLOCA) {
            *ret = address;
            found = true;
        }
    }
    return found;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Names without places, sorted, a comma between two.
static char *names_of(const struct points_to *points_to, struct cell_set set)
{
    struct strbuf text = STRBUF_INIT, all = STRBUF_INIT;
    char **names = xmalloc_array(set.count + 1, sizeof(*names));

    for (uint32_t i = 0; i < set.count; i++) {
        const char *name = points_to_cell_name(points_to, set.data[i], &text);
        if (strncmp(name, "t.c:", 4) == 0)
            name = strchr(name, ' ') + 1;
        names[i] = xstrdup(name);
        char *of = strstr(names[i], " of ");
        if (of && !strstr(names[i], "arguments")) { // keep what follows the function's name
            char *rest = strchr(of + 4, '[');
            memmove(of, rest ? rest : "", rest ? strlen(rest) + 1 : 1);
        }
    }
    qsort(names, set.count, sizeof(*names), compare_texts);
    for (uint32_t i = 0; i < set.count; i++) {
        strbuf_printf(&all, "%s%s", i ? ", " : "", names[i]);
        free(names[i]);
    }
    free(names);
    strbuf_deinit(&text);
    return strbuf_steal(&all);
}

static int check_source(const struct subject *subject, uint32_t module, const char *source)
{
    const struct code *code = model_module(subject->model, (struct module_id){module})->code;
    int checked = 0;
    uint32_t line = 1;

    for (const char *at = source; *at; line++) {
        const char *end = strchr(at, '\n'), *mark = strstr(at, "//= ");
        if (mark && mark < end) {
            char *expected = xstrndup(mark + 4, (size_t)(end - mark - 4));
            struct operand address;
            if (!find_access(code, line, &address))
                fail_msg("no access on line %u", line);
            struct cell_set set =
                points_to_value(subject->points_to, (struct module_id){module}, address);
            char *names = names_of(subject->points_to, set);
            if (strcmp(names, expected) != 0)
                fail_msg("line %u: expected '%s', got '%s'", line, expected, names);
            free(names);
            free(expected);
            checked++;
        }
        at = end + 1;
    }
    return checked;
}

static void check_all(const char *const *sources)
{
    struct subject subject;
    int checked = 0;

    subject_init(&subject, sources);
    for (uint32_t i = 0; sources[i]; i++)
        checked += check_source(&subject, i, sources[i]);
    assert_true(checked > 0);
    subject_deinit(&subject);
}

#define CHECK(...) check_all((const char *const[]){__VA_ARGS__, NULL})

// ---- Sets

static void fields_are_told_apart(void **unused)
{
    (void)unused;
    CHECK("struct s { int *p, *q; struct s *next; } g;\n"
          "int a, b, c;\n"
          "int main(void) {\n"
          "    struct s *x = &g;\n"
          "    x->p = &a; //= g\n"
          "    x->q = &b; //= g[8]\n"
          "    x->next = x; //= g[16]\n"
          "    *x->next->p = 1; //= a\n"
          "    return *x->next->next->q; //= b\n"
          "}\n");
}

static void arrays_are_folded(void **unused)
{
    (void)unused;
    CHECK("struct s { int n; int *many[4]; int *one; } g, all[3];\n"
          "int a, b, c;\n"
          "int main(int i) {\n"
          "    struct s *x = &g;\n"
          "    x->many[i] = &a; //= g[8]\n"
          "    x->many[2] = &b; //= g[8]\n"
          "    x->one = &c; //= g[40]\n"
          "    *x->many[1] = 1; //= a, b\n"
          "    *x->one = 1; //= c\n"
          "    struct s *y = &all[i];\n"
          "    y[1].one = &b; //= all[40]\n"
          "    return *all[2].one; //= b\n"
          "}\n");
}

static void pointers_walk_arrays(void **unused)
{
    (void)unused;
    CHECK("struct s { char name[8]; int *p; char last[4]; } g;\n"
          "int main(void) {\n"
          "    char *at = g.name;\n"
          "    while (*at) at++; //= g\n"
          "    char *other = g.last;\n"
          "    other += 2;\n"
          "    *other = 0; //= g[16]\n"
          "    struct s *x = &g;\n"
          "    return *x->p; //= \n"
          "}\n");
}

static void unions_share(void **unused)
{
    (void)unused;
    CHECK("union u { int *p; long n; struct { int *q; int *r; } s; } g;\n"
          "int a, b;\n"
          "int main(void) {\n"
          "    union u *x = &g;\n"
          "    x->p = &a; //= g\n"
          "    x->s.r = &b; //= g[8]\n"
          "    return *x->s.q + *(int *)x->n; //= a\n"
          "}\n");
}

static void lists_are_followed(void **unused)
{
    (void)unused;
    CHECK("#include <stdlib.h>\n"
          "struct n { struct n *next; int *value; };\n"
          "int a;\n"
          "struct n *push(struct n *list, int *v) {\n"
          "    struct n *x = malloc(sizeof(*x));\n"
          "    x->value = v; //= malloc at t.c:5 for t.c:11 +8, malloc at t.c:5 for t.c:12 +8\n"
          "    x->next = list;\n"
          "    return x;\n"
          "}\n"
          "int main(void) {\n"
          "    struct n *l = push(NULL, &a);\n"
          "    struct n *m = push(l, NULL);\n"
          "    return *m->next->value; //= a\n"
          "}\n");
}

static void wrappers_are_cloned(void **unused)
{
    (void)unused;
    CHECK("#include <stdlib.h>\n"
          "#include <string.h>\n"
          "void *xmalloc(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }\n"
          "char *xstrdup(const char *s) { return strcpy(xmalloc(strlen(s) + 1), s); }\n"
          "void *xrealloc(void *p, size_t n) { p = realloc(p, n); if (!p) abort(); return p; }\n"
          "int main(int n, char **v) {\n"
          "    char *a = xmalloc(4);\n"
          "    char *b = xmalloc(8);\n"
          "    char *c = xstrdup(v[0]);\n"
          "    *a = 1; //= malloc at t.c:3 for t.c:7\n"
          "    *b = 1; //= malloc at t.c:3 for t.c:8\n"
          "    *c = 1; //= malloc at t.c:3 for t.c:9\n"
          "    int **d = xrealloc(a, 24), **e = xrealloc(NULL, 16);\n"
          "    *d = NULL; //= malloc at t.c:3 for t.c:7, realloc at t.c:5 for t.c:13\n"
          "    *e = NULL; //= realloc at t.c:5 for t.c:13\n"
          "    return 0;\n"
          "}\n");
}

static void function_pointers_and_callbacks(void **unused)
{
    (void)unused;
    CHECK("#include <stdlib.h>\n"
          "int a, b, keys[4];\n"
          "int *first(int *p) { return p; }\n"
          "int *second(int *p) { *p = 1; return &b; } //= a\n"
          "int *(*const table[2])(int *) = {first, second};\n"
          "int order(const void *x, const void *y) { return *(const int *)x; } //= keys\n"
          "int main(int i) {\n"
          "    int *r = table[i](&a);\n"
          "    qsort(keys, 4, sizeof(int), order);\n"
          "    return *r; //= a, b\n"
          "}\n");
}

static void variadic_arguments(void **unused)
{
    (void)unused;
    CHECK("#include <stdarg.h>\n"
          "int a, b;\n"
          "int *get(int n, ...) {\n"
          "    va_list l;\n"
          "    va_start(l, n);\n"
          "    int *p = va_arg(l, int *);\n"
          "    va_end(l);\n"
          "    return p;\n"
          "}\n"
          "int main(void) {\n"
          "    int *p = get(2, &a, &b);\n"
          "    return *p; //= a, b\n"
          "}\n");
}

static void copies_of_structs(void **unused)
{
    (void)unused;
    CHECK("#include <string.h>\n"
          "struct s { int *p, *q; char c[4]; int *r; };\n"
          "struct s g, h, k;\n"
          "int a, b, c;\n"
          "int *take(struct s by_value) { return by_value.q; }\n"
          "struct s big(struct s *x) { return *x; }\n"
          "int main(void) {\n"
          "    g.p = &a;\n"
          "    g.q = &b;\n"
          "    g.r = &c;\n"
          "    h = g;\n"
          "    memcpy(&k, &h, sizeof(k));\n"
          "    *k.p = 1; //= a\n"
          "    *k.q = 1; //= b\n"
          "    *k.r = 1; //= c\n"
          "    *take(h) = 1; //= b\n"
          "    struct s l = big(&k);\n"
          "    return *l.p; //= a\n"
          "}\n");
}

static void integers_carry(void **unused)
{
    (void)unused;
    CHECK("#include <stdint.h>\n"
          "#include <stddef.h>\n"
          "struct s { long x; int y; } g;\n"
          "int a;\n"
          "int main(int n) {\n"
          "    uintptr_t u = (uintptr_t)&a | 1;\n"
          "    int *p = (int *)(u & ~(uintptr_t)1);\n"
          "    *p = 1; //= a\n"
          "    int *y = &g.y;\n"
          "    struct s *s = (struct s *)((char *)y - offsetof(struct s, y));\n"
          "    s->x = 1; //= g\n"
          "    char bytes[8], *q;\n"
          "    for (int i = 0; i < 8; i++) bytes[i] = ((char *)&p)[i];\n"
          "    for (int i = 0; i < 8; i++) ((char *)&q)[i] = bytes[i];\n"
          "    return *q; //= a\n"
          "}\n");
}

static void modules_share_variables(void **unused)
{
    (void)unused;
    CHECK("extern int *shared;\n"
          "void set(int **);\n"
          "int a;\n"
          "int main(void) {\n"
          "    set(&shared);\n"
          "    shared = &a;\n"
          "    return *shared; //= a, b\n"
          "}\n",
          "int *shared;\n"
          "static int b;\n"
          "void set(int **p) { *p = &b; } //= shared\n");
}

static void unknown_code_takes_all(void **unused)
{
    (void)unused;
    CHECK("struct s { int *p; } g;\n"
          "int a, b;\n"
          "void *unknown_function(void *);\n"
          "int main(void) {\n"
          "    int *kept = &b;\n"
          "    g.p = &a;\n"
          "    int *x = unknown_function(&g);\n"
          "    *kept = 1; //= b\n"
          "    *x = 1; //= world\n"
          "    return *g.p; //= world\n"
          "}\n");
}

// ---- Others

static uint32_t object_named(const struct subject *subject, const char *name)
{
    struct strbuf text = STRBUF_INIT;
    uint32_t found = MODEL_NONE;

    for (uint32_t o = 0; o < points_to_object_count(subject->points_to); o++) {
        const struct object *object = points_to_object(subject->points_to, (struct object_id){o});
        points_to_cell_name(subject->points_to, (struct cell_id){object->first_cell}, &text);
        if (strstr(text.data, name))
            found = o;
    }
    strbuf_deinit(&text);
    assert_int_not_equal(found, MODEL_NONE);
    return found;
}

static bool is_single(const struct subject *subject, const char *name)
{
    return points_to_object(subject->points_to, (struct object_id){object_named(subject, name)})
        ->is_single;
}

static void singles(void **unused)
{
    struct subject subject;

    (void)unused;
    subject_init(&subject, (const char *const[]){
                               "#include <pthread.h>\n"
                               "int g; __thread int t;\n"
                               "int down(int n) { int deep; return n ? down(n - 1) : deep; }\n"
                               "void *start(void *p) { int threaded; return p; }\n"
                               "int main(void) { int plain; pthread_t id; t = 1;\n"
                               "    pthread_create(&id, 0, start, &g);\n"
                               "    return down(3) + plain; }\n",
                               NULL});
    assert_true(is_single(&subject, " g"));
    assert_false(is_single(&subject, " t"));
    assert_false(is_single(&subject, "deep of down"));
    assert_false(is_single(&subject, "threaded of start"));
    assert_true(is_single(&subject, "plain of main"));
    subject_deinit(&subject);
}

static uint32_t site_on_line(const struct subject *subject, uint32_t line)
{
    const struct code *code = subject->model->modules[0].code;

    for (uint32_t s = 0; s < code->sites_count; s++)
        if (code_place(code, code->insns[code->sites[s].insn].place)->line == line)
            return s;
    fail();
    return 0;
}

static void callees_are_narrowed(void **unused)
{
    struct subject subject;
    struct callee_table table;

    (void)unused;
    subject_init(
        &subject,
        (const char *const[]){
            "#include <stdlib.h>\n"
            "int one(int x) { return x; }\n"
            "int two(int x) { return x; }\n"
            "int by(const void *a, const void *b) { return 0; }\n"
            "int (*f)(int) = one, (*g)(int) = two;\n"
            "int main(void) { int a[2] = {1, 2}; int (*order)(const void *, const void *) = by;\n"
            "    f(1);\n"
            "    qsort(a, 2, 4, order);\n"
            "    return g(2); }\n",
            NULL});
    struct site_id at = {site_on_line(&subject, 7)}, sorts = {site_on_line(&subject, 8)};
    assert_true(model_callees(subject.model, at).count >= 2);
    assert_true(model_callbacks(subject.model, sorts).count >= 3);
    points_to_callees(subject.points_to, &table);
    model_replace_callees(subject.model, &table);
    assert_int_equal(model_callees(subject.model, at).count, 1);
    assert_int_equal(model_callees(subject.model, at).data[0].value, 0);
    assert_int_equal(model_callbacks(subject.model, sorts).count, 1);
    assert_int_equal(model_callbacks(subject.model, sorts).data[0].value, 2);
    subject_deinit(&subject);
}

static struct accesses accesses_on(const struct subject *subject, uint32_t line,
                                   enum insn_opcode opcode)
{
    const struct code *code = subject->model->modules[0].code;
    struct accesses found = {{0}, {0}, {0}};

    for (uint32_t i = 0; i < code->insns_count; i++) {
        const struct place *place = code_place(code, code->insns[i].place);
        if (place && place->line == line && code->insns[i].opcode == opcode)
            found = points_to_accesses(subject->points_to, (struct module_id){0}, i);
    }
    return found;
}

static void assert_cells(const struct subject *subject, struct cell_set set, const char *expected)
{
    char *names = names_of(subject->points_to, set);

    assert_string_equal(names, expected);
    free(names);
}

static void accesses_of_instructions(void **unused)
{
    struct subject subject;
    struct accesses found;

    (void)unused;
    subject_init(&subject,
                 (const char *const[]){"#include <string.h>\n"
                                       "#include <stdio.h>\n"
                                       "struct s { int a, b; } g, h; char text[8]; int n;\n"
                                       "int main(int c) {\n"
                                       "    struct s *p = c ? &g : &h, *q = &g; p->b = 1;\n"
                                       "    p->a = 1;\n"
                                       "    q->b = 2;\n"
                                       "    memset(&h, 0, sizeof(h));\n"
                                       "    memcpy(&g, &h, sizeof(g));\n"
                                       "    printf(\"%d\", n);\n"
                                       "    strcpy(text, \"x\");\n"
                                       "    return 0; }\n",
                                       NULL});
    found = accesses_on(&subject, 6, INSN_STORE);
    assert_cells(&subject, found.writes, "g, h");
    assert_int_equal(found.certain.count, 0);
    found = accesses_on(&subject, 7, INSN_STORE);
    assert_cells(&subject, found.writes, "g[4]");
    assert_cells(&subject, found.certain, "g[4]");
    found = accesses_on(&subject, 8, INSN_CALL);
    assert_cells(&subject, found.writes, "h, h[4]");
    assert_cells(&subject, found.certain, "h, h[4]");
    found = accesses_on(&subject, 9, INSN_CALL);
    assert_cells(&subject, found.reads, "h, h[4]");
    assert_cells(&subject, found.certain, "g, g[4]");
    found = accesses_on(&subject, 10, INSN_CALL);
    assert_true(found.writes.count > 0);
    found = accesses_on(&subject, 11, INSN_CALL);
    assert_cells(&subject, found.writes, "text");
    assert_int_equal(found.certain.count, 0);
    subject_deinit(&subject);
}

static void a_spent_budget_is_anything(void **unused)
{
    char *directory = fixture_directory(), *path = file_join(directory, "prog");
    char *assembly = assembly_of(directory, "int a; int main(void) { int *p = &a; return *p; }\n");
    struct fixture_bytes frames = {0};
    struct model *model;
    struct budget budget;
    struct callee_table table;

    (void)unused;
    fixture_append_module(&frames, assembly);
    fixture_write_elf(path, &(struct fixture_elf){0}, &frames, NULL);
    fixture_check(model_open(path, &(struct model_options){.no_cache = true}, &model));
    fixture_check(model_complete(model));
    budget_init(&budget, 0, 0);
    budget.state = BUDGET_TIME_SPENT;
    struct points_to *points_to = points_to_create(model, &budget);
    assert_false(points_to_is_complete(points_to));
    assert_true(points_to_accesses(points_to, (struct module_id){0}, 0).reads.is_anything);
    assert_true(points_to_value(points_to, (struct module_id){0}, operand_make(OPERAND_INSN, 0))
                    .is_anything);
    points_to_callees(points_to, &table);
    model_replace_callees(model, &table);
    points_to_destroy(points_to);
    model_destroy(model);
    free(assembly);
    free(frames.data);
    free(path);
    fixture_remove_directory(directory);
}

// ---- Printing

static int write_sets(const char *path)
{
    struct model *model;
    struct budget budget;
    struct strbuf text = STRBUF_INIT;
    struct error *err = model_open(path, &(struct model_options){0}, &model);

    if (!err)
        err = model_add_needed(model);
    if (!err)
        err = model_complete(model);
    if (err) {
        error_print(err);
        error_destroy(err);
        return 2;
    }
    budget_init(&budget, 0, 0);
    struct points_to *points_to = points_to_create(model, &budget);
    points_to_write_text(points_to, &text);
    fputs(text.data, stdout);
    strbuf_deinit(&text);
    points_to_destroy(points_to);
    model_destroy(model);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_told_apart),
        cmocka_unit_test(arrays_are_folded),
        cmocka_unit_test(pointers_walk_arrays),
        cmocka_unit_test(unions_share),
        cmocka_unit_test(lists_are_followed),
        cmocka_unit_test(wrappers_are_cloned),
        cmocka_unit_test(function_pointers_and_callbacks),
        cmocka_unit_test(variadic_arguments),
        cmocka_unit_test(copies_of_structs),
        cmocka_unit_test(integers_carry),
        cmocka_unit_test(modules_share_variables),
        cmocka_unit_test(unknown_code_takes_all),
        cmocka_unit_test(singles),
        cmocka_unit_test(callees_are_narrowed),
        cmocka_unit_test(accesses_of_instructions),
        cmocka_unit_test(a_spent_budget_is_anything),
    };

    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_sets(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
