// SPDX-License-Identifier: Apache-2.0
// The model itself, made from text: walking, finding, numbering, and the way back to text.
#include "model_fixture.h"

#include "program/model.h"
#include "program/path_number.h"

static const char text[] =
    "inquest-model 1\n"
    "file 0 \"/src\" \"dir/a.c\"\n"
    "file 1 \"/src\" \"/abs/b\\\"\\\\\\x0a.c\"\n"
    "image 0 executable \"prog\"\n"
    "image 1 library \"lib.so\"\n"
    "module 0 image 0 id 00000000000000ff level paths flags 1 source \"dir/a.c\"\n"
    "module 1 image 1 id 8000000000000000 level full flags 0 source \"b.c\"\n"
    "# a comment\n"
    "function 0 module 0 \"main\" debug \"main\" source \"main\" at 0:3 linked unknown level paths "
    "record 1 flags setjmp,nounwind\n"
    "  node 0 at 0:4:5 flags call,returns-twice,block -> 1\n"
    "    site \"setjmp\" flags returns-twice,external callees 0 callbacks 0\n"
    "  node 1 at 0:5:1 -> 2 4!\n"
    "    | an instruction, for people\n"
    "  node 2 at - flags call,block -> 3\n"
    "    site * flags indirect,external,calls-back callees 1 callbacks 2  # calls f\n"
    "  node 3 at 0:6:2 -> 1\n"
    "  node 4 at 0:7:1 flags return,block\n"
    "function 1 module 1 \"f\" debug \"_f\" source \"f\" at 1:9 linked yes level full record 0\n"
    "  node 0 at 1:10:1 flags block -> 0 1\n"
    "  node 1 at 1:11:1 flags return,block\n"
    "function 2 module 1 \"g\" debug \"\" source \"g\" at - linked no level none record 2 flags "
    "weak\n"
    "  node 0 at - flags unreachable,block\n"
    "set 1 1\n"
    "set 2 1 2\n"
    "root 0 main  # main\n"
    "root 1 escaped\n"
    "root 1 signal\n";

static struct model *read_model(void)
{
    struct model *model;

    fixture_check(model_read_text("text", text, strlen(text), &model));
    return model;
}

static void walking(void **state)
{
    struct model *model = read_model();

    (void)state;
    assert_true(model->complete);
    assert_int_equal(model->node_count, 8);
    assert_int_equal(model->edge_count, 7);
    assert_int_equal(model->function_count, 3);
    assert_int_equal(model->site_count, 2);
    struct node_list next = model_successors(model, (struct node_id){1});
    assert_int_equal(next.count, 2);
    assert_int_equal(next.data[1].value, 4);
    assert_int_equal(model->edge_flags[model->successor_start[1] + 1], PATH_EDGE_SHARED);
    next = model_successors(model, (struct node_id){5}); // f's first
    assert_int_equal(next.count, 2);
    assert_int_equal(next.data[0].value, 5);
    assert_int_equal(next.data[1].value, 6);
    assert_int_equal(model_successors(model, (struct node_id){7}).count, 0);
    assert_int_equal(model_node_at(model, (struct function_id){1}, 1).value, 6);
    assert_int_equal(model_node_index(model, (struct node_id){6}), 1);
    assert_int_equal(model_site_function(model, (struct site_id){1}).value, 0);
    assert_int_equal(model_callees(model, (struct site_id){1}).count, 1);
    assert_int_equal(model_callbacks(model, (struct site_id){1}).count, 2);
    assert_int_equal(model_callees(model, (struct site_id){0}).count, 0);
    assert_int_equal(model->landing_count, 1);
    assert_int_equal(model->root_count, 3);
    assert_int_equal(model_function(model, (struct function_id){1})->linked, LINKED_YES);
    assert_int_equal(model_function_level(model, (struct function_id){2}), SECTION_LEVEL_NONE);
    model_destroy(model);
}

static void finding(void **state)
{
    struct model *model = read_model();
    struct module_id module;
    struct function_id function, *functions;
    struct node_id *nodes;

    (void)state;
    assert_true(model_find_module(model, UINT64_C(0x8000000000000000), &module));
    assert_int_equal(module.value, 1);
    assert_true(model_find_module_in(model, (struct image_id){1}, UINT64_C(1) << 63, &module));
    assert_false(model_find_module_in(model, (struct image_id){0}, UINT64_C(1) << 63, &module));
    fixture_check(model_find_debug_name(model, module, "_f", &function));
    assert_int_equal(function.value, 1);
    fixture_check(model_find_debug_name(model, module, "g", &function)); // by its symbol
    assert_int_equal(function.value, 2);
    assert_int_equal(model_find_name(model, "f", &functions), 1);
    free(functions);
    assert_int_equal(model_find_name(model, "nobody", &functions), 0);
    free(functions);

    static const struct {
        const char *file;
        uint32_t line, count;
    } lines[] = {{"a.c", 4, 1},      {"dir/a.c", 4, 1},   {"/src/dir/a.c", 4, 1}, {"./a.c", 4, 1},
                 {"ir/a.c", 4, 0},   {"a.c", 8, 0},       {"a.c", 0, 0},          {"b.c", 10, 0},
                 {"/dir/a.c", 4, 1}, {"b\"\\\n.c", 10, 1}};
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        uint32_t count = model_find_line(model, lines[i].file, lines[i].line, false, &nodes);
        if (count != lines[i].count)
            fail_msg("%s:%u: %u nodes", lines[i].file, lines[i].line, count);
        free(nodes);
    }
    assert_string_equal(model_file_path(model, (struct file_id){0}), "/src/dir/a.c");
    assert_null(model_file_path(model, (struct file_id){MODEL_NONE}));
    model_destroy(model);
}

static void numbering(void **state)
{
    struct model *model = read_model();

    (void)state;
    const struct path_numbering *numbers = model_numbering(model, (struct function_id){0});
    assert_ptr_equal(numbers, model_numbering(model, (struct function_id){0}));
    // a loop from 1 over 3 back to 1, in which control can be elsewhere after 1 -> 4, a shared edge
    assert_true(path_in_loop(numbers, 1, 3));
    assert_false(path_in_loop(numbers, 1, 0));
    struct layout_shape shape = model_shape(model, (struct function_id){2});
    assert_int_equal(shape.words, 0); // says that it has no record
    model_destroy(model);
}

static void text_round_trip(void **state)
{
    struct model *model = read_model();
    char *once, *twice;
    size_t once_size, twice_size;

    (void)state;
    FILE *stream = open_memstream(&once, &once_size);
    model_write_text(model, (struct function_id){MODEL_NONE}, false, stream);
    fclose(stream);
    model_destroy(model);
    fixture_check(model_read_text("text", once, once_size, &model));
    stream = open_memstream(&twice, &twice_size);
    model_write_text(model, (struct function_id){MODEL_NONE}, false, stream);
    fclose(stream);
    assert_string_equal(once, twice);
    assert_non_null(strstr(once, "  node 1 at 0:5:1 -> 2 4!\n"));
    assert_non_null(strstr(once, "file 1 \"/src\" \"/abs/b\\\"\\\\\\x0a.c\"\n"));
    model_destroy(model);
    free(once);
    free(twice);
}

// Every line left out, and every cut: an error or a model, never a crash.
static void broken_text(void **state)
{
    struct model *model;

    (void)state;
    fixture_expect(model_read_text("t", "", 0, &model), ERROR_FORMAT, "nothing there");
    fixture_expect(model_read_text("t", "x\n", 2, &model), ERROR_FORMAT, "line 1");
    fixture_expect(model_read_text("t", "inquest-model 1\nfoo\n", 20, &model), ERROR_FORMAT,
                   "no such kind of line: 't', line 2");
    for (size_t size = 0; size < sizeof(text) - 1; size++) {
        struct error *err = model_read_text("t", text, size, &model);
        if (!err)
            model_destroy(model);
        error_destroy(err);
    }
    size_t errors = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        size_t length = (size_t)(strchr(line, '\n') + 1 - line);
        char *cut = xstrdup(text);
        memmove(cut + (line - text), line + length, strlen(line + length) + 1);
        struct error *err = model_read_text("t", cut, strlen(cut), &model);
        errors += err != NULL;
        if (!err)
            model_destroy(model);
        error_destroy(err);
        free(cut);
    }
    // only the comment, the instruction, the last set's roots and last nodes may be missing
    assert_true(errors >= 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walking),     cmocka_unit_test(finding),
        cmocka_unit_test(numbering),   cmocka_unit_test(text_round_trip),
        cmocka_unit_test(broken_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
