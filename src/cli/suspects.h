// SPDX-License-Identifier: Apache-2.0
/*
 * The commands of `inquest suspects`, one file each, and what they share.
 */
#ifndef CLI_SUSPECTS_H
#define CLI_SUSPECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "suspects/store.h"

struct error;
struct suspects_sites;

int cli_suspects_add(int argc, char **argv);
int cli_suspects_rank(int argc, char **argv);
int cli_suspects_show(int argc, char **argv);
int cli_suspects_merge(int argc, char **argv);

// Which build of a store is meant.
struct suspects_build {
    uint8_t id[SUSPECTS_BUILD_ID];
    uint32_t length;
};

// What --build says: a file, or the beginning of a build-id. NULL: `request` is left as it is.
struct error *suspects_choose_build(struct store *store, const char *text,
                                    struct suspects_build *build,
                                    struct store_rank_request *request);
// "12", from `least`.
struct error *suspects_parse_count(const char *option, const char *text, uint32_t least,
                                   uint32_t *ret);
// The sites of the file that a build was added from, where that still is the same; else NULL.
struct suspects_sites *suspects_find_sites(const struct store_build *build);

#endif
