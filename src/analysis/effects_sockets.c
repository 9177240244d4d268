// SPDX-License-Identifier: Apache-2.0
// Sockets and addresses. A socket's address is 128 bytes at most.
#include "analysis/effects_table.h"

#define GIVES_ADDRESS(address, length) WRITES(AT(address), BYTES(128)), UPDATES(length, 4)

const struct effects_entry effects_sockets[] = {
    EFFECTS("socket listen shutdown sockatmark isfdtype", KERNEL),
    EFFECTS("socketpair", WRITES(AT(3), BYTES(8)), KERNEL),
    EFFECTS("bind connect", READS(AT(1), TIMES(2)), KERNEL),
    EFFECTS("accept accept4 getsockname getpeername", GIVES_ADDRESS(1, 2), KERNEL),
    EFFECTS("send", TO_FILE(1, TIMES(2)), KERNEL),
    EFFECTS("sendto", TO_FILE(1, TIMES(2)), READS(AT(4), TIMES(5)), KERNEL),
    EFFECTS("sendmsg sendmmsg", READS(ALL_FROM(1), ANY), WRITES(AT(1), ANY),
            MOVES(ALL_FROM(1), STATE(FILES), ANY), KERNEL),
    EFFECTS("recv", FROM_FILE(1, TIMES(2)), KERNEL),
    EFFECTS("__recv_chk", FROM_FILE(1, TIMES(2)), KERNEL),
    EFFECTS("recvfrom", FROM_FILE(1, TIMES(2)), GIVES_ADDRESS(4, 5), KERNEL),
    EFFECTS("__recvfrom_chk", FROM_FILE(1, TIMES(2)), GIVES_ADDRESS(5, 6), KERNEL),
    EFFECTS("recvmsg", READS(ALL_FROM(1), ANY), WRITES(ALL_FROM(1), ANY),
            MOVES(STATE(FILES), ALL_FROM(1), ANY), KERNEL),
    EFFECTS("recvmmsg", READS(ALL_FROM(1), ANY), WRITES(ALL_FROM(1), ANY),
            MOVES(STATE(FILES), ALL_FROM(1), ANY), UPDATES(4, 16), KERNEL),
    EFFECTS("getsockopt", READS(AT(3), ANY), WRITES(AT(3), ANY), UPDATES(4, 4), KERNEL),
    EFFECTS("setsockopt", READS(ALL_FROM(3), ANY), KERNEL),
    NO_EFFECTS("htons htonl ntohs ntohl inet_makeaddr inet_lnaof inet_netof"),
    EFFECTS("inet_pton", READS_STRING(1), WRITES(AT(2), BYTES(16)), FAILS),
    EFFECTS("inet_ntop", READS(AT(1), BYTES(16)), WRITES(AT(2), TIMES(3)), FAILS, RETURNS(ARG(2))),
    EFFECTS("inet_addr inet_network", READS_STRING(0)),
    EFFECTS("inet_aton", READS_STRING(0), WRITES(AT(1), BYTES(4))),
    EFFECTS("inet_ntoa", LEAVES(STRINGS), RETURNS(STATE(STRINGS))),
    EFFECTS("if_nametoindex", READS_STRING(0), KERNEL),
    EFFECTS("if_indextoname", WRITES(AT(1), BYTES(16)), KERNEL, RETURNS(ARG(1))),
    EFFECTS("if_nameindex", ALLOCATES(RESULT), COPIES(RESULT, AT_RESULT, ANY), ALLOCATOR, KERNEL),
    EFFECTS("if_freenameindex", READS(AT(0), ANY), RELEASES(ARG(0)), CHANGES(HEAP)),
    EFFECTS("getifaddrs", ALLOCATES_STRUCTURE(0), KERNEL),
    EFFECTS("freeifaddrs", RELEASES(ARG(0)), CHANGES(HEAP)),
    EFFECTS("ether_ntoa", READS(AT(0), BYTES(6)), LEAVES(STRINGS), RETURNS(STATE(STRINGS))),
    EFFECTS("ether_aton", READS_STRING(0), LEAVES(STRINGS), RETURNS(STATE(STRINGS))),
};
AREA_END(sockets)
