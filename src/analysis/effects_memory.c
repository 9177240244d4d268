// SPDX-License-Identifier: Apache-2.0
// The heap, mappings, and the environment.
#include "analysis/effects_table.h"

const struct effects_entry effects_memory[] = {
    EFFECTS("malloc valloc pvalloc", ALLOCATES(RESULT), ALLOCATOR),
    EFFECTS("calloc", ALLOCATES(RESULT), SETS(AT_RESULT, TIMES2(0, 1)), ALLOCATOR),
    EFFECTS("aligned_alloc memalign", ALLOCATES(RESULT), ALLOCATOR),
    EFFECTS("posix_memalign", ALLOCATES(AT(0)), WRITES(AT(0), BYTES(8)), CHANGES(HEAP)),
    EFFECTS("realloc reallocarray", READS(AT(0), ANY), ALLOCATES(RESULT),
            COPIES(AT(0), AT_RESULT, ANY), RETURNS(ARG(0)), RELEASES(ARG(0)), ALLOCATOR),
    EFFECTS("free cfree", RELEASES(ARG(0)), CHANGES(HEAP)),
    EFFECTS("free_sized free_aligned_sized", RELEASES(ARG(0)), CHANGES(HEAP)),
    EFFECTS("malloc_usable_size", USES(HEAP)),
    EFFECTS("malloc_trim mallopt malloc_stats", CHANGES(HEAP)),
    EFFECTS("mallinfo mallinfo2", USES(HEAP), WRITES(AT(0), BYTES(80))),
    EFFECTS("malloc_info", USES(HEAP), STREAM(1)),

    // Of a file: what others wrote there.
    EFFECTS("mmap mmap64", ALLOCATES(RESULT), MOVES(STATE(FILES), AT_RESULT, TIMES(1)),
            RETURNS(ARG(0)), WRITES(AT(0), TIMES(1)), KERNEL),
    EFFECTS("munmap", RELEASES(ARG(0)), MOVES(AT(0), STATE(FILES), TIMES(1)),
            READS(AT(0), TIMES(1)), KERNEL),
    EFFECTS("mremap", ALLOCATES(RESULT), COPIES(AT(0), AT_RESULT, TIMES(1)), READS(AT(0), TIMES(1)),
            RETURNS(ARG(0)), RETURNS(REST(4)), RELEASES(ARG(0)), KERNEL),
    EFFECTS("mprotect mlock munlock mlock2 mlockall munlockall pkey_mprotect", KERNEL),
    EFFECTS("msync", MOVES(AT(0), STATE(FILES), TIMES(1)), READS(AT(0), TIMES(1)), KERNEL),
    EFFECTS("madvise posix_madvise", WRITES(AT(0), TIMES(1)), KERNEL),
    EFFECTS("mincore", WRITES(AT(2), ANY), KERNEL),
    EFFECTS("brk", CHANGES(HEAP), FAILS),
    EFFECTS("sbrk", ALLOCATES(RESULT), ALLOCATOR),
    EFFECTS("shmat", ALLOCATES(RESULT), MOVES(STATE(FILES), AT_RESULT, ANY), RETURNS(ARG(1)),
            KERNEL),
    EFFECTS("shmdt", RELEASES(ARG(0)), MOVES(AT(0), STATE(FILES), ANY), READS(AT(0), ANY), KERNEL),

    // A text that was given to putenv is part of the environment from then on.
    EFFECTS("getenv secure_getenv __secure_getenv", READS_STRING(0), USES(ENVIRONMENT),
            READS(AT_STATE(ENVIRONMENT), STRING), MOVES(STATE(ENVIRONMENT), RESULT, ANY),
            RETURNS_WITHIN(STATE(ENVIRONMENT))),
    EFFECTS("setenv", READS_STRING(0), READS_STRING(1), CHANGES(ENVIRONMENT),
            READS(AT_STATE(ENVIRONMENT), STRING), FAILS),
    EFFECTS("unsetenv", READS_STRING(0), CHANGES(ENVIRONMENT), READS(AT_STATE(ENVIRONMENT), STRING),
            WRITES(AT_STATE(ENVIRONMENT), ANY), FAILS),
    EFFECTS("putenv", READS_STRING(0), COPIES(ARG(0), STATE(ENVIRONMENT), ANY),
            CHANGES(ENVIRONMENT), READS(AT_STATE(ENVIRONMENT), STRING), FAILS),
    EFFECTS("clearenv", LEAVES(ENVIRONMENT)),
};
AREA_END(memory)
