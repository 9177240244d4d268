// SPDX-License-Identifier: Apache-2.0
// Clocks, calendars, timers, random numbers.
#include "analysis/effects_table.h"

// A struct tm has a pointer to the name of its zone.
#define READS_TM(i) READS(AT(i), BYTES(56)), READS(AT_AT(i), STRING)
#define FILLS_TM(i) WRITES(AT(i), BYTES(56)), MOVES(STATE(TIME), AT(i), BYTES(56))
// TZ and its files are looked at.
#define ZONE                                                                                       \
    CHANGES(TIME), USES(ENVIRONMENT), READS(AT_STATE(ENVIRONMENT), STRING), CHANGES(FILES),        \
        CHANGES(HEAP), FAILS

const struct effects_entry effects_time[] = {
    EFFECTS("time", SETS(AT(0), BYTES(8)), USES(TIME), FAILS),
    EFFECTS("clock", USES(TIME), USES(PROCESS), FAILS),
    EFFECTS("gettimeofday", WRITES(AT(0), BYTES(16)), WRITES(AT(1), BYTES(8)), USES(TIME), FAILS),
    EFFECTS("settimeofday", READS(AT(0), BYTES(16)), READS(AT(1), BYTES(8)), LEAVES(TIME), FAILS),
    EFFECTS("clock_gettime clock_getres", WRITES(AT(1), BYTES(16)), USES(TIME), FAILS),
    EFFECTS("timespec_get timespec_getres", WRITES(AT(0), BYTES(16)), USES(TIME), FAILS),
    EFFECTS("clock_settime", READS(AT(1), BYTES(16)), LEAVES(TIME), FAILS),
    EFFECTS("clock_getcpuclockid", WRITES(AT(1), BYTES(4)), USES(PROCESS)),
    EFFECTS("clock_nanosleep", READS(AT(2), BYTES(16)), WRITES(AT(3), BYTES(16)), CHANGES(TIME),
            FAILS),
    EFFECTS("nanosleep", READS(AT(0), BYTES(16)), WRITES(AT(1), BYTES(16)), CHANGES(TIME), FAILS),
    EFFECTS("sleep usleep", CHANGES(TIME), FAILS),
    EFFECTS("adjtime", READS(AT(0), BYTES(16)), WRITES(AT(1), BYTES(16)), CHANGES(TIME), FAILS),
    EFFECTS("ftime", WRITES(AT(0), BYTES(16)), USES(TIME)),
    NO_EFFECTS("difftime dysize"),

    EFFECTS("localtime", READS(AT(0), BYTES(8)), ZONE, RETURNS(STATE(TIME))),
    EFFECTS("gmtime", READS(AT(0), BYTES(8)), ZONE, RETURNS(STATE(TIME))),
    EFFECTS("localtime_r gmtime_r", READS(AT(0), BYTES(8)), FILLS_TM(1), ZONE, RETURNS(ARG(1))),
    EFFECTS("mktime timelocal timegm", READS_TM(0), FILLS_TM(0), ZONE),
    EFFECTS("asctime", READS_TM(0), USES(LOCALE), CHANGES(TIME), FAILS, RETURNS(STATE(TIME))),
    EFFECTS("asctime_r", READS_TM(0), WRITES(AT(1), ANY), USES(LOCALE), FAILS, RETURNS(ARG(1))),
    EFFECTS("ctime", READS(AT(0), BYTES(8)), ZONE, USES(LOCALE), RETURNS(STATE(TIME))),
    EFFECTS("ctime_r", READS(AT(0), BYTES(8)), WRITES(AT(1), ANY), ZONE, USES(LOCALE),
            RETURNS(ARG(1))),
    EFFECTS("strftime", WRITES(AT(0), TIMES(1)), READS_STRING(2), READS_TM(3), USES(LOCALE), ZONE),
    EFFECTS("strftime_l", WRITES(AT(0), TIMES(1)), READS_STRING(2), READS_TM(3), READS(AT(4), ANY),
            ZONE),
    EFFECTS("wcsftime", WRITES(AT(0), SCALED(1, 4)), READS_STRING(2), READS_TM(3), USES(LOCALE),
            ZONE),
    EFFECTS("strptime", READS_STRING(0), READS_STRING(1), READS_TM(2), FILLS_TM(2), USES(LOCALE),
            ZONE, RETURNS_WITHIN(ARG(0))),
    EFFECTS("getdate", READS_STRING(0), ZONE, STDIO, RETURNS(STATE(TIME))),
    EFFECTS("tzset", ZONE),
    EFFECTS("stime", READS(AT(0), BYTES(8)), LEAVES(TIME), FAILS),

    EFFECTS("setitimer", READS(AT(1), BYTES(32)), WRITES(AT(2), BYTES(32)), CHANGES(PROCESS),
            FAILS),
    EFFECTS("getitimer", WRITES(AT(1), BYTES(32)), USES(PROCESS), FAILS),
    // What it is given comes back with the signal or as the argument of the function.
    EFFECTS("timer_create", READS(AT(1), BYTES(64)), MOVES(AT(1), STATE(PROCESS), BYTES(64)),
            CALLS(AT(1), AT(1)), WRITES(AT(2), BYTES(8)), CHANGES(PROCESS), CHANGES(HEAP), FAILS),
    EFFECTS("timer_settime", READS(AT(2), BYTES(32)), WRITES(AT(3), BYTES(32)), CHANGES(PROCESS),
            FAILS),
    EFFECTS("timer_gettime", WRITES(AT(1), BYTES(32)), USES(PROCESS), FAILS),
    EFFECTS("timer_delete timer_getoverrun", CHANGES(PROCESS), CHANGES(HEAP), FAILS),

    // Also of a state that is the caller's (initstate).
    EFFECTS("rand srand random srandom", CHANGES(RANDOM), READS(AT_STATE(RANDOM), ANY),
            WRITES(AT_STATE(RANDOM), ANY)),
    EFFECTS("drand48 lrand48 mrand48 srand48", CHANGES(RANDOM)),
    EFFECTS("arc4random arc4random_uniform", CHANGES(RANDOM)),
    EFFECTS("arc4random_buf", SETS(AT(0), TIMES(1)), CHANGES(RANDOM)),
    EFFECTS("rand_r", UPDATES(0, 4)),
    EFFECTS("erand48 nrand48 jrand48", UPDATES(0, 6), CHANGES(RANDOM)),
    EFFECTS("seed48", READS(AT(0), BYTES(6)), CHANGES(RANDOM), RETURNS(STATE(STRINGS)),
            LEAVES(STRINGS)),
    EFFECTS("lcong48", READS(AT(0), BYTES(14)), CHANGES(RANDOM)),
    // The state is the caller's memory from then on; what was is given back.
    EFFECTS("initstate", WRITES(AT(1), TIMES(2)), COPIES(ARG(1), STATE(RANDOM), ANY),
            COPIES(STATE(RANDOM), RESULT, ANY), CHANGES(RANDOM), READS(AT_STATE(RANDOM), ANY),
            WRITES(AT_STATE(RANDOM), ANY), FAILS),
    EFFECTS("setstate", READS(AT(0), ANY), WRITES(AT(0), ANY), COPIES(ARG(0), STATE(RANDOM), ANY),
            COPIES(STATE(RANDOM), RESULT, ANY), CHANGES(RANDOM), READS(AT_STATE(RANDOM), ANY),
            WRITES(AT_STATE(RANDOM), ANY), FAILS),
    EFFECTS("random_r", READS(AT(0), BYTES(48)), WRITES(AT(0), BYTES(48)), READS(AT_AT(0), ANY),
            WRITES(AT_AT(0), ANY), WRITES(AT(1), BYTES(4)), MOVES(AT(0), AT(0), BYTES(48)), FAILS),
    EFFECTS("srandom_r", UPDATES(1, 48), READS(AT_AT(1), ANY), WRITES(AT_AT(1), ANY),
            MOVES(AT(1), AT(1), BYTES(48)), FAILS),
    EFFECTS("initstate_r", WRITES(AT(1), TIMES(2)), UPDATES(3, 48), READS(AT_AT(3), ANY),
            WRITES(AT_AT(3), ANY), MOVES(ARG(1), AT(3), BYTES(48)), FAILS),
    EFFECTS("getrandom", WRITES(AT(0), TIMES(1)), CHANGES(RANDOM), FAILS),
    EFFECTS("getentropy", WRITES(AT(0), TIMES(1)), CHANGES(RANDOM), FAILS),
};
AREA_END(time)
