/*
 * The options that are Inquest's own, and how the plugin gets them.
 *
 *     -finquest=LEVEL[,SCHEME...]   none, calls, paths (the default) or full; suspects
 *     -f[no-]inquest-tunable        whether each function keeps its original body too (the default)
 *     -finquest-include=PATTERN     instrument the functions that match, and no others
 *     -finquest-exclude=PATTERN     do not instrument the functions that match
 *     -f[no-]inquest-embed-objects  whether objects without a model are put into the output
 *
 * They never reach clang. A pass plugin's own command line options are not known yet when clang
 * parses -mllvm, so the driver puts them into the environment of the clang that it runs, always,
 * so that a value from outside has no effect:
 *
 *     INQUEST_PLUGIN=level=paths:tunable=1:scheme=suspects:include=parse_*:exclude=*_fast
 *
 * The value is a list of KEY=VALUE, separated by ':'. level and tunable occur exactly once,
 * scheme, include, exclude and map (a prefix of paths, OLD=NEW) any number of times (but for scheme
 * in the order of the command line). In a VALUE the bytes ':' '%' '=' ',' and all below 0x21 or
 * above 0x7e are written as '%' and two upper-case hexadecimal digits ("a:b" is "a%3Ab"); nothing
 * else is. A reader refuses a '%' that no two hexadecimal digits follow, and a KEY that it does not
 * know.
 *
 * A function is instrumented when it matches some include pattern (or there is none) and no exclude
 * pattern. Patterns are globs as fnmatch(3) without flags has them, over the name in the object
 * file.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_OPTIONS_H
#define INQUEST_INSTRUMENT_DRIVER_OPTIONS_H

#include <stdbool.h>

#include "instrument/driver/arguments.h"
#include "layout/section.h"

struct error;

#define OPTIONS_VARIABLE "INQUEST_PLUGIN"
#define OPTIONS_SUSPECTS "suspects" /* the scheme: sampled predicates */

struct options {
    enum section_level level;
    bool tunable;
    bool embeds; /* the linker's matter: the plugin does not get it */
    struct arguments schemes;
    struct arguments includes;
    struct arguments excludes;
    struct arguments maps; /* OLD=NEW, of clang's options that map prefixes of paths */
};

#define OPTIONS_INIT {SECTION_LEVEL_PATHS, true, false, VEC_INIT, VEC_INIT, VEC_INIT, VEC_INIT}

void options_deinit(struct options *options);

/*
 * Takes argument when it is one of ours, which *ret_taken then says. Strings taken from it live in
 * the arena or as long as argument.
 */
struct error *options_parse(struct options *options, struct arena *arena, const char *argument,
                            bool *ret_taken);

/* Are predicates sampled? */
bool options_sample(const struct options *options);

/* Appends the value for INQUEST_PLUGIN. */
void options_encode(const struct options *options, struct strbuf *ret);

/* What `inquest-cc --help` says of them. */
extern const char options_help[];

#endif
