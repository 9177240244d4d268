// SPDX-License-Identifier: Apache-2.0
/*
 * Programs for tests of path/dataflow.h: C text compiled by clang, read as a model.
 *
 *     struct subject subject;
 *     subject_init(&subject, source, SUBJECT_POINTS_TO);
 *     ... subject.dataflow ...
 *     subject_deinit(&subject);
 */
#ifndef TESTS_UNIT_DATAFLOW_FIXTURE_H
#define TESTS_UNIT_DATAFLOW_FIXTURE_H

#include "model_fixture.h"

#include "analysis/points_to.h"
#include "common/budget.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "path/dataflow.h"
#include "program/model.h"
#include "solve/flow.h"

enum subject_option {
    SUBJECT_POINTS_TO = 1u << 0,
    SUBJECT_OPTIMISING = 1u << 1, // as -O2 has it before its passes: lifetimes, no optnone
    SUBJECT_ALL = 1u << 2,        // all variables
};

struct subject {
    struct model *model;
    struct points_to *points_to;
    struct flow *flow;
    struct dataflow *dataflow;
    char *assembly;
    char *directory;
};

FIXTURE_FUNCTION char *subject_assembly(const char *directory, const char *source, uint32_t options)
{
    char *path = file_join(directory, "test.c");
    const char *level = options & SUBJECT_OPTIMISING ? "-O2 -Xclang -disable-llvm-passes"
                                                     : "-O0 -Xclang -disable-O0-optnone";
    char *command = xasprintf("cd '%s' && clang-19 -w -g -fPIC %s -S -emit-llvm test.c -o test.ll",
                              directory, level);
    FILE *file = fopen(path, "w");
    struct strbuf text = STRBUF_INIT;
    char buffer[4096];
    size_t size;

    assert_non_null(file);
    fputs(source, file);
    assert_int_equal(fclose(file), 0);
    if (system(command) != 0)
        fail_msg("clang does not take:\n%s", source);
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

FIXTURE_FUNCTION void subject_init(struct subject *subject, const char *source, uint32_t options)
{
    *subject = (struct subject){.directory = fixture_directory()};
    char *path = file_join(subject->directory, "prog");
    struct fixture_bytes frames = {0}, record = {0};

    subject->assembly = subject_assembly(subject->directory, source, options);
    fixture_append_module(&frames, subject->assembly);
    fixture_append_link(&record, FIXTURE_CRT);
    fixture_write_elf(path, &(struct fixture_elf){0}, &frames, &record);
    fixture_check(model_open(path, &(struct model_options){.no_cache = true}, &subject->model));
    fixture_check(model_complete(subject->model));
    if (options & SUBJECT_POINTS_TO) {
        struct callee_table callees;
        struct budget budget;
        budget_init(&budget, 0, 0);
        subject->points_to = points_to_create(subject->model, &budget);
        points_to_callees(subject->points_to, &callees);
        model_replace_callees(subject->model, &callees);
    }
    subject->flow = flow_from_model(subject->model);
    subject->dataflow =
        dataflow_create(subject->model, subject->flow,
                        &(struct dataflow_options){.points_to = subject->points_to,
                                                   .all_variables = options & SUBJECT_ALL});
    free(frames.data);
    free(record.data);
    free(path);
}

FIXTURE_FUNCTION void subject_deinit(struct subject *subject)
{
    dataflow_destroy(subject->dataflow);
    flow_destroy(subject->flow);
    points_to_destroy(subject->points_to);
    model_destroy(subject->model);
    free(subject->assembly);
    fixture_remove_directory(subject->directory);
}

FIXTURE_FUNCTION uint32_t subject_function(const struct subject *subject, const char *name)
{
    struct function_id *found;

    assert_int_equal(model_find_name(subject->model, name, &found), 1);
    uint32_t function = found[0].value;
    free(found);
    return function;
}

#endif
