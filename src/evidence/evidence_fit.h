// SPDX-License-Identifier: Apache-2.0
/*
 * Does evidence fit a model? For evidence that was read from a file: a core is checked when
 * decoded.
 *
 *     err = evidence_fit(evidence, model);      // ERROR_MISMATCH: of another build
 *
 * The model has one of the executable's modules, where the evidence names any; and every function,
 * node and call site of the evidence that is of a module of the model is there. Modules that the
 * model does not have (libraries) are left aside. Loads the modules that are on the
 * stack and those with a point of an observation.
 */
#ifndef EVIDENCE_EVIDENCE_FIT_H
#define EVIDENCE_EVIDENCE_FIT_H

struct error;
struct evidence;
struct model;

struct error *evidence_fit(const struct evidence *evidence, struct model *model);

#endif
