/*
 * In the linker's place: makes the record of the link, runs the linker that clang would have run,
 * and says in the output which members of archives were taken. See request.h for why.
 *
 * Whatever becomes of the record, the link goes on; what went wrong is one warning.
 */
#ifndef INQUEST_INSTRUMENT_DRIVER_LINKER_H
#define INQUEST_INSTRUMENT_DRIVER_LINKER_H

#include <stdbool.h>

struct arena;
struct error;

#define UNKNOWN_LOCATIONS "-use-unknown-locations=Enable" /* for whoever makes code */

/* Whether clang runs us as a linker, by the name we were called. */
bool linker_is_called(const char *name);

/* The path to name to clang in place of the linker. */
struct error *linker_stand_in(struct arena *arena, const char *linker, const char **ret_path);

/* Does not come back. */
void linker_main(int argc, char **argv) __attribute__((__noreturn__));

#endif
