// SPDX-License-Identifier: Apache-2.0
// `inquest dump EXE --link`: the records of the links that made a program, as text or JSON
// (docs/formats/sections.md, docs/formats/link.md).
#ifndef CLI_DUMP_LINK_H
#define CLI_DUMP_LINK_H

#include <stdbool.h>

struct error;
struct image;

struct error *dump_link(const struct image *image, bool json);

#endif
