// SPDX-License-Identifier: Apache-2.0
// `inquest suspects COMMAND STORE ...`: what predicts failure, from many runs.
#include "cli/suspects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "report/suspects.h"
#include "suspects/sites.h"

struct subcommand {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *usage, *about;
};

static const struct subcommand subcommands[] = {
    {"add", cli_suspects_add, "STORE [EXE...] REPORT|DIR...", "reports of runs into the store"},
    {"rank", cli_suspects_rank, "STORE",
     "the predicates that predict failure, a list for each bug"},
    {"show", cli_suspects_show, "STORE [FILE:LINE|TEXT]", "what is in the store"},
    {"merge", cli_suspects_merge, "STORE OTHER...", "all that is in other stores into the store"},
};

enum { SUBCOMMANDS = sizeof(subcommands) / sizeof(subcommands[0]) };

static int print_usage(void)
{
    printf("usage: inquest suspects COMMAND STORE [ARGUMENTS]\n"
           "\n"
           "Finds what tells failing runs from passing ones, in many runs of a program built with\n"
           "'inquest-cc -finquest=paths,suspects' (docs/suspects.md). STORE is a file (SQLite) or\n"
           "the URL of a PostgreSQL database (postgresql://...).\n"
           "\n"
           "commands:\n");
    for (int i = 0; i < SUBCOMMANDS; i++) {
        _cleanup_strbuf_ struct strbuf left = STRBUF_INIT;
        strbuf_printf(&left, "%s %s", subcommands[i].name, subcommands[i].usage);
        printf("  %-34s %s\n", left.data, subcommands[i].about);
    }
    printf("\n"
           "Each takes --json, --quiet, --time, --memory, --verbose and --help, which tells more.\n"
           "\n"
           "example: for i in $(seq 2000); do inquest run -q --suspects runs -- ./prog $i; done\n"
           "         inquest suspects add runs.db ./prog runs\n"
           "         inquest suspects rank runs.db\n");
    return CLI_FOUND;
}

static int unknown(const char *name)
{
    const char *names[SUBCOMMANDS + 1] = {NULL};

    for (int i = 0; i < SUBCOMMANDS; i++)
        names[i] = subcommands[i].name;
    const char *nearest = options_nearest(name, names);
    if (nearest)
        fprintf(stderr, "inquest: suspects has no command '%s', did you mean '%s'?\n", name,
                nearest);
    else
        fprintf(stderr, "inquest: suspects has no command '%s' (see 'inquest suspects --help')\n",
                name);
    return CLI_TROUBLE;
}

int cli_suspects(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "inquest: suspects needs a command: add, rank, show or merge (see "
                        "'inquest suspects --help')\n");
        return CLI_TROUBLE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_usage();
    for (int i = 0; i < SUBCOMMANDS; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return subcommands[i].main(argc - 1, argv + 1);
    return unknown(argv[1]);
}

// ---- What they share

struct error *suspects_parse_count(const char *option, const char *text, uint32_t least,
                                   uint32_t *ret)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || text[0] < '0' || text[0] > '9' || value < least || value > UINT32_MAX)
        return error_create(ERROR_USAGE, "'--%s %s' is not a number from %u", option, text, least);
    *ret = (uint32_t)value;
    return NULL;
}

static void append_builds(struct strbuf *out, const struct store_build *builds, uint32_t count)
{
    for (uint32_t b = 0; b < count; b++) {
        _cleanup_free_ char *id = suspects_build_id(builds[b].build_id, builds[b].build_id_length);
        strbuf_printf(out, "%s%.12s (%s)", b ? ", " : "", *id ? id : "no id", builds[b].path);
    }
}

// The builds whose id begins so.
static struct error *choose_by_prefix(struct store *store, const char *text,
                                      struct suspects_build *build)
{
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct store_build *builds;
    uint32_t count, found = 0;
    struct error *err = store_builds(store, &arena, &builds, &count);

    if (err)
        return err;
    for (uint32_t b = 0; b < count; b++) {
        _cleanup_free_ char *id = suspects_build_id(builds[b].build_id, builds[b].build_id_length);
        if (!*text || strncasecmp(id, text, strlen(text)) != 0)
            continue;
        found++;
        memcpy(build->id, builds[b].build_id, sizeof(build->id));
        build->length = builds[b].build_id_length;
    }
    if (found == 1)
        return NULL;
    _cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
    append_builds(&names, builds, count);
    return error_create(ERROR_NOT_FOUND, "%s of the store %s '%s'; it has: %s",
                        found ? "several builds" : "no build", found ? "begin with" : "is", text,
                        count ? names.data : "none");
}

struct error *suspects_choose_build(struct store *store, const char *text,
                                    struct suspects_build *build,
                                    struct store_rank_request *request)
{
    struct error *err;

    if (!text)
        return NULL;
    if (strchr(text, '/') || access(text, F_OK) == 0) {
        struct suspects_sites *sites;
        err = suspects_sites_open(text, &sites);
        if (err)
            return err;
        memcpy(build->id, sites->build_id, sizeof(build->id));
        build->length = sites->build_id_length;
        suspects_sites_destroy(sites);
    } else {
        err = choose_by_prefix(store, text, build);
        if (err)
            return err;
    }
    request->build_id = build->id;
    request->build_id_length = build->length;
    return NULL;
}

struct suspects_sites *suspects_find_sites(const struct store_build *build)
{
    struct suspects_sites *sites;
    struct error *err = suspects_sites_open(build->path, &sites);

    if (err) {
        error_destroy(err);
        return NULL;
    }
    if (sites->build_id_length == build->build_id_length &&
        memcmp(sites->build_id, build->build_id, build->build_id_length) == 0)
        return sites;
    suspects_sites_destroy(sites);
    return NULL;
}
