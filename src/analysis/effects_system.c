// SPDX-License-Identifier: Apache-2.0
// The machine, the loader, the library itself.
#include "analysis/effects_table.h"

const struct effects_entry effects_system[] = {
    EFFECTS("__errno_location", RETURNS(STATE(ERRNO))),
    EFFECTS("__h_errno_location __res_state", RETURNS(STATE(DATABASE))),
    EFFECTS("uname", WRITES(AT(0), ANY), USES(PROCESS), FAILS),
    EFFECTS("sysinfo", WRITES(AT(0), BYTES(112)), USES(PROCESS), FAILS),
    EFFECTS("confstr", WRITES(AT(1), TIMES(2)), USES(PROCESS), FAILS),
    EFFECTS("getloadavg", WRITES(AT(0), SCALED(1, 8)), USES(PROCESS), KERNEL),
    EFFECTS("getauxval", USES(PROCESS), FAILS, RETURNS_WITHIN(STATE(STRINGS))),
    NO_EFFECTS("makedev major minor gnu_dev_major gnu_dev_minor gnu_dev_makedev __fdelt_chk"
               " __fdelt_warn"),
    EFFECTS("dlerror", LEAVES(STRINGS), RETURNS(STATE(STRINGS))),
    // Names of files and symbols, and where they are: near the address.
    EFFECTS("dladdr", WRITES(AT(1), BYTES(32)), MOVES(STATE(STRINGS), AT(1), BYTES(32)),
            MOVES(ARG(0), AT(1), BYTES(32))),
    EFFECTS("dladdr1", WRITES(AT(1), BYTES(32)), MOVES(STATE(STRINGS), AT(1), BYTES(32)),
            MOVES(ARG(0), AT(1), BYTES(32)), WRITES(AT(2), BYTES(8)),
            MOVES(STATE(STRINGS), AT(2), BYTES(8))),
    EFFECTS("dlinfo", READS(AT(0), ANY), WRITES(AT(2), ANY), MOVES(STATE(STRINGS), AT(2), ANY),
            COPIES(ARG(0), AT(2), ANY), LEAVES(STRINGS)),
    EFFECTS("dl_iterate_phdr", USES(STRINGS), CALLS(ARG(0), STATE(STRINGS), NOTHING, ARG(1))),
    EFFECTS("backtrace", WRITES(AT(0), SCALED(1, 8)), USES(PROCESS)),
    EFFECTS("backtrace_symbols", READS(AT(0), SCALED(1, 8)), ALLOCATES(RESULT),
            COPIES(RESULT, AT_RESULT, ANY), ALLOCATOR),
    EFFECTS("backtrace_symbols_fd", READS(AT(0), SCALED(1, 8)), KERNEL),
    EFFECTS("__cxa_get_globals __cxa_get_globals_fast", RETURNS(STATE(THREADS))),
    EFFECTS("__cxa_guard_acquire __cxa_guard_release __cxa_guard_abort", UPDATES(0, 8),
            CHANGES(THREADS)),
};
AREA_END(system)
