// SPDX-License-Identifier: Apache-2.0
// `inquest dump EXE --points-to`: where pointers may point (docs/formats/points_to.md).
#ifndef CLI_DUMP_POINTS_TO_H
#define CLI_DUMP_POINTS_TO_H

#include <stdbool.h>

struct budget;
struct error;
struct model;

// Writes it to stdout, as text or JSON. *ret_complete: the budget was enough; else any pointer may
// point anywhere.
struct error *dump_points_to(struct model *model, struct budget *budget, bool json,
                             bool *ret_complete);

#endif
