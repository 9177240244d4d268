// SPDX-License-Identifier: Apache-2.0
/*
 * 64-bit hashes that never change from one version to the next: they are stored in executables
 * (bitcode, function checksums) and compared by readers built later.
 *
 *     uint64_t hash = HASH_SEED;
 *     hash = hash_bytes(hash, data, size);
 *     hash = hash_u64(hash, count);
 *
 * Bytes go through FNV-1a (64 bits, offset basis and prime as published), integers as their eight
 * bytes, least significant first. One changed byte always changes the result. Not meant to
 * withstand an adversary. Free of libc, so that layout/ and the plugin can use it.
 */
#ifndef INQUEST_COMMON_HASH_H
#define INQUEST_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_SEED  UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x00000100000001b3)

/* hash, continued by size bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * HASH_PRIME;
    return hash;
}

/* hash, continued by a NUL-terminated string without its NUL. */
static inline uint64_t hash_string(uint64_t hash, const char *string)
{
    for (; *string; string++)
        hash = (hash ^ (unsigned char)*string) * HASH_PRIME;
    return hash;
}

/* hash, continued by the eight bytes of value, least significant first. */
static inline uint64_t hash_u64(uint64_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        hash = (hash ^ (value & 0xff)) * HASH_PRIME;
    return hash;
}

/* A quick bijection with good high and low bits (splitmix64's), for hash tables and for seeds. */
static inline uint64_t hash_mix(uint64_t value)
{
    value ^= value >> 30;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 27;
    value *= UINT64_C(0x94d049bb133111eb);
    value ^= value >> 31;
    return value;
}

#endif
