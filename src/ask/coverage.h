// SPDX-License-Identifier: Apache-2.0
/*
 * What ran, for every node and line: yes, no or maybe.
 *
 *     struct ask_coverage coverage;
 *     ask_coverage_init(&coverage, ask, ASK_SOLVER_VPA, &budget);
 *     if (coverage.contradiction) ... // the evidence fits no run: no answer is given
 *     coverage.answers[node]
 *     ask_coverage_deinit(&coverage);
 *
 * Yes: certain in some thread. No: impossible in every one.
 */
#ifndef ASK_COVERAGE_H
#define ASK_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "program/model.h"

struct ask_case;
struct budget;

enum ask_answer {
    ASK_NO,
    ASK_YES,
    ASK_MAYBE,
};

enum ask_solver {
    ASK_SOLVER_AUTO,
    ASK_SOLVER_UTL,
    ASK_SOLVER_FSA,
    ASK_SOLVER_VPA,
    ASK_SOLVER_CSI, // reachability alone: slice/active.h
};

// An answer for a line: yes when a node of it is, no when all are.
struct ask_line {
    struct file_id file;
    uint32_t line;
    enum ask_answer answer;
};

struct ask_coverage {
    const struct ask_case *ask;
    enum ask_solver solver;    // the one that answered
    const char *contradiction; // one sentence, or NULL
    bool complete;             // false: the budget was spent, more is maybe than need be
    uint8_t *answers;          // enum ask_answer, by node of the model
    struct ask_line *lines;    // sorted by file and line
    uint32_t line_count;
};

void ask_coverage_init(struct ask_coverage *coverage, const struct ask_case *ask,
                       enum ask_solver solver, struct budget *budget);
// Of answers that were found elsewhere, by node of the model, which are copied.
void ask_coverage_init_answers(struct ask_coverage *coverage, const struct ask_case *ask,
                               enum ask_solver solver, const uint8_t *answers);
void ask_coverage_deinit(struct ask_coverage *coverage);

const char *ask_answer_name(enum ask_answer answer);
const char *ask_solver_name(enum ask_solver solver);
// False: there is no such solver.
bool ask_solver_parse(const char *name, enum ask_solver *ret);

#endif
