// SPDX-License-Identifier: Apache-2.0
// Names that the text form's writer and reader share, besides those in model.h.
#ifndef PROGRAM_MODEL_TEXT_H
#define PROGRAM_MODEL_TEXT_H

// NULL when there is no such level or state.
const char *model_level_name(unsigned level);
const char *linked_name(unsigned linked);

#endif
