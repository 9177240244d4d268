// SPDX-License-Identifier: Apache-2.0
// Users, groups, hosts, services, protocols.
#include "analysis/effects_table.h"

#define LOOKS_UP CHANGES(DATABASE), CHANGES(HEAP), KERNEL
#define GIVES    LEAVES(DATABASE), LOOKS_UP, RETURNS(STATE(DATABASE))
// A structure with pointers into a buffer, both the caller's; *found is it, or NULL.
#define FILLS(structure, bytes, buffer, found)                                                     \
    WRITES(AT(structure), BYTES(bytes)), MOVES(ARG(buffer), AT(structure), BYTES(bytes)),          \
        WRITES(AT(buffer), ANY), MOVES(ARG(buffer), AT(buffer), ANY),                              \
        COPIES(ARG(structure), AT(found), BYTES(8)), WRITES(AT(found), BYTES(8)), LOOKS_UP

const struct effects_entry effects_databases[] = {
    EFFECTS("getpwnam getgrnam getspnam getprotobyname getnetbyname", READS_STRING(0), GIVES),
    EFFECTS("getpwuid getgrgid getprotobynumber getnetbyaddr", GIVES),
    EFFECTS("getpwent getgrent getspent gethostent getservent getprotoent getnetent", GIVES),
    EFFECTS("setpwent setgrent setspent sethostent setservent setprotoent setnetent endpwent"
            " endgrent endspent endhostent endservent endprotoent endnetent",
            LOOKS_UP),
    EFFECTS("fgetpwent fgetgrent", STREAM(0), GIVES),
    EFFECTS("getpwnam_r", READS_STRING(0), FILLS(1, 48, 2, 4)),
    EFFECTS("getgrnam_r", READS_STRING(0), FILLS(1, 32, 2, 4)),
    EFFECTS("getspnam_r", READS_STRING(0), FILLS(1, 72, 2, 4)),
    EFFECTS("getpwuid_r", FILLS(1, 48, 2, 4)),
    EFFECTS("getgrgid_r", FILLS(1, 32, 2, 4)),
    EFFECTS("getpwent_r", FILLS(0, 48, 1, 3)),
    EFFECTS("getgrent_r", FILLS(0, 32, 1, 3)),
    EFFECTS("getlogin", LOOKS_UP, USES(PROCESS), LEAVES(STRINGS), RETURNS(STATE(STRINGS))),
    EFFECTS("getlogin_r", WRITES(AT(0), TIMES(1)), LOOKS_UP, USES(PROCESS)),

    EFFECTS("gethostbyname gethostbyname2", READS_STRING(0), GIVES),
    EFFECTS("gethostbyaddr", READS(AT(0), TIMES(1)), GIVES),
    EFFECTS("getservbyname", READS_STRING(0), READS_STRING(1), GIVES),
    EFFECTS("getservbyport", READS_STRING(1), GIVES),
    EFFECTS("gethostbyname_r", READS_STRING(0), FILLS(1, 32, 2, 4), WRITES(AT(5), BYTES(4))),
    EFFECTS("gethostbyname2_r", READS_STRING(0), FILLS(2, 32, 3, 5), WRITES(AT(6), BYTES(4))),
    EFFECTS("gethostbyaddr_r", READS(AT(0), TIMES(1)), FILLS(3, 32, 4, 6), WRITES(AT(7), BYTES(4))),
    EFFECTS("gethostent_r getnetent_r", FILLS(0, 32, 1, 3), WRITES(AT(4), BYTES(4))),
    EFFECTS("getservent_r getprotoent_r", FILLS(0, 32, 1, 3)),
    EFFECTS("getservbyname_r", READS_STRING(0), READS_STRING(1), FILLS(2, 32, 3, 5)),
    EFFECTS("getservbyport_r", READS_STRING(1), FILLS(2, 32, 3, 5)),
    EFFECTS("getprotobyname_r", READS_STRING(0), FILLS(1, 24, 2, 4)),
    EFFECTS("getprotobynumber_r", FILLS(1, 24, 2, 4)),
    EFFECTS("getnetbyname_r", READS_STRING(0), FILLS(1, 24, 2, 4), WRITES(AT(5), BYTES(4))),
    EFFECTS("getnetbyaddr_r", FILLS(2, 24, 3, 5), WRITES(AT(6), BYTES(4))),
    EFFECTS("getaddrinfo", READS_STRING(0), READS_STRING(1), READS(AT(2), BYTES(48)),
            ALLOCATES_STRUCTURE(3), LOOKS_UP),
    EFFECTS("freeaddrinfo", READS(ALL_FROM(0), ANY), RELEASES(ARG(0)), RELEASES(AT(0)),
            CHANGES(HEAP)),
    EFFECTS("getnameinfo", READS(AT(0), TIMES(1)), WRITES(AT(2), TIMES(3)), WRITES(AT(4), TIMES(5)),
            LOOKS_UP),
    EFFECTS("gai_strerror hstrerror", USES(STRINGS), USES(LOCALE), RETURNS(STATE(STRINGS))),
    EFFECTS("herror", READS_STRING(0), USES(DATABASE), KERNEL),
    EFFECTS("res_init __res_init", LOOKS_UP),
    EFFECTS("res_query res_search", READS_STRING(0), WRITES(AT(3), TIMES(4)), LOOKS_UP),
    EFFECTS("dn_expand", READS(AT(0), ANY), READS(AT(1), ANY), READS(AT(2), ANY),
            WRITES(AT(3), TIMES(4)), FAILS),
};
AREA_END(databases)
