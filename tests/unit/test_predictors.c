// SPDX-License-Identifier: Apache-2.0
// Lists of predictors: what is read, where it sits in a model, and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "layout/suspects.h"
#include "path/predictors.h"
#include "program/model.h"

static const char model_text[] =
    "inquest-model 1\n"
    "file 0 \"/src\" \"a.c\"\n"
    "image 0 executable \"prog\"\n"
    "module 0 image 0 id 00000000000000ff level paths flags 0 source \"a.c\"\n"
    "function 0 module 0 \"main\" debug \"main\" source \"main\" at 0:1 linked unknown level paths "
    "record 0\n"
    "  node 0 at 0:2:3 flags call,block -> 1\n"
    "    site \"f\" callees 1 callbacks 0\n"
    "  node 1 at 0:3:3 flags return,block\n"
    "function 1 module 0 \"f\" debug \"f\" source \"f\" at 0:7 linked unknown level paths record "
    "0\n"
    "  node 0 at 0:8:3 flags block -> 1 2\n"
    "  node 1 at 0:9:3 flags block -> 2\n"
    "  node 2 at 0:10:3 flags return,block\n"
    "set 1 1\n"
    "root 0 main\n";

static struct model *model;

static int open_model(void **state)
{
    (void)state;
    assert_null(model_read_text("model.txt", model_text, sizeof(model_text) - 1, &model));
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    model_destroy(model);
    return 0;
}

// The list in a file of its own; `text` with ' for ".
static struct error *read_text(const char *text, struct predictors *ret)
{
    char path[] = "/tmp/test_predictors.XXXXXX";
    int descriptor = mkstemp(path);
    _cleanup_free_ char *copy = strdup(text);

    for (char *at = copy; (at = strchr(at, '\''));)
        *at = '"';
    assert_true(descriptor >= 0);
    close(descriptor);
    assert_null(file_write(path, copy, strlen(copy), 0600));
    predictors_init(ret);
    struct error *err = predictors_read(ret, path);
    unlink(path);
    return err ? err : predictors_fit(ret, model);
}

#define HEAD   "{'inquest': '0', 'schema': 'predictors/1', 'complete': true, 'clusters': ["
#define ON_F_1 "'module': '0xff', 'function_index': 1, 'node': 1, 'importance': 0.5"

static void test_reads_all(void **state)
{
    struct predictors predictors;

    (void)state;
    assert_null(read_text(
        HEAD "{'cluster': 3, 'failing': 97, 'predictors': ["
             "{" ON_F_1 ", 'function': 'f', 'file': 'a.c', 'line': 8, 'column': 2, 'kind': 'pair',"
             " 'predicate': 'x > 4', 'failing': 97, 'passing': 2, 'condition':"
             " {'variable': 'x', 'operator': '>', 'constant': -4, 'unsigned': true, 'at': 'end'}},"
             "{'module': '0xff', 'function_index': 0, 'node': 0, 'importance': -2}]},"
             "{'predictors': [{" ON_F_1 ", 'condition':"
             " {'variable': 'y', 'operator': '!=', 'constant': 0, 'at': 'begin'}}]}]}",
        &predictors));
    assert_true(predictors.complete);
    assert_int_equal(predictors.clusters.length, 2);
    assert_int_equal(predictors.clusters.data[0].number, 3);
    assert_int_equal(predictors.clusters.data[0].count, 2);
    assert_int_equal(predictors.clusters.data[1].number, 2); // by its place
    assert_int_equal(predictors.clusters.data[1].first, 2);
    const struct path_predictor *one = predictors.all.data;
    assert_int_equal(one[0].node, 3); // behind main's two
    assert_true(one[0].score == 0.5 && one[1].score == -2);
    assert_string_equal(one[0].predicate, "x > 4");
    assert_string_equal(one[0].variable, "x");
    assert_int_equal(one[0].comparison, SUSPECTS_GREATER);
    assert_true(one[0].constant == -4 && one[0].is_unsigned && one[0].failing == 97);
    assert_int_equal(one[1].node, 0);
    assert_null(one[1].variable);
    assert_null(one[2].variable); // the branch says it
    assert_int_equal(one[2].cluster, 1);
    predictors_deinit(&predictors);
}

static void test_an_empty_list_is_fine(void **state)
{
    struct predictors predictors;

    (void)state;
    assert_null(
        read_text("{'schema': 'predictors/1', 'clusters': [], 'complete': false}", &predictors));
    assert_false(predictors.complete);
    assert_int_equal(predictors.all.length, 0);
    predictors_deinit(&predictors);
}

static void refuses(const char *text, const char *why)
{
    struct predictors predictors;
    struct error *err = read_text(text, &predictors);

    if (!err)
        fail_msg("is taken: %s", text);
    _cleanup_free_ char *message = error_text(err);
    if (!strstr(message, why))
        fail_msg("'%s' is not in '%s'", why, message);
    assert_non_null(strstr(message, "/tmp/test_predictors."));
    error_destroy(err);
    predictors_deinit(&predictors);
}

static void test_refuses_what_is_wrong(void **state)
{
    (void)state;
    refuses("", "JSON");
    refuses("[]", "not a JSON object");
    refuses("{'schema': 'path/1', 'clusters': []}", "the schema is 'path/1'");
    refuses("{'schema': 'predictors/2', 'clusters': []}", "newer");
    refuses("{'schema': 'predictors/1'}", "clusters");
    refuses(HEAD "7]}", "clusters[0]");
    refuses(HEAD "{'predictors': [7]}]}", "predictors[0]");
    refuses(HEAD "{'predictors': [{'module': '0xff'}]}]}", "function_index");
    refuses(HEAD "{'predictors': [{'module': '0xff', 'function_index': 1, 'node': 1}]}]}",
            "'importance' is missing");
    refuses(HEAD "{'predictors': [{" ON_F_1 ", 'condition': {'variable': 'x', 'operator': '=', "
                 "'constant': 1}}]}]}",
            "operator");
    refuses(HEAD "{'predictors': [{" ON_F_1 ", 'condition': {'variable': 'x', 'operator': '<', "
                 "'constant': 1, 'at': 'here'}}]}]}",
            "'at' is begin or end");
}

static void test_refuses_another_build(void **state)
{
    (void)state;
    refuses(HEAD "{'predictors': [{'module': '0xfe', 'function_index': 1, 'node': 1, "
                 "'importance': 1, 'function': 'f'}]}]}",
            "no module 0xfe");
    refuses(HEAD "{'predictors': [{'module': '0xff', 'function_index': 2, 'node': 1, "
                 "'importance': 1, 'function': 'f'}]}]}",
            "no function number 2");
    refuses(HEAD "{'predictors': [{" ON_F_1 ", 'function': 'g'}]}]}", "is 'f', not 'g'");
    refuses(HEAD "{'predictors': [{'module': '0xff', 'function_index': 1, 'node': 3, "
                 "'importance': 1}]}]}",
            "none of number 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_all),
        cmocka_unit_test(test_an_empty_list_is_fine),
        cmocka_unit_test(test_refuses_what_is_wrong),
        cmocka_unit_test(test_refuses_another_build),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}
