// SPDX-License-Identifier: Apache-2.0
/*
 * SHA-256, for the identity of files: two with the same hash are the same, an adversary's too.
 * Where nobody tries to deceive, common/hash.h is quicker.
 *
 *     struct sha256 hash = sha256_of(data, size);
 *     char text[SHA256_TEXT_SIZE];
 *     sha256_format(&hash, text);                     // 64 hexadecimal digits
 *     if (!sha256_parse(text, &hash) || !sha256_equal(&hash, &other))
 *             ...
 */
#ifndef INQUEST_COMMON_SHA256_H
#define INQUEST_COMMON_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define SHA256_SIZE      32
#define SHA256_TEXT_SIZE (2 * SHA256_SIZE + 1)

struct sha256 {
    unsigned char bytes[SHA256_SIZE];
};

struct sha256 sha256_of(const void *data, size_t size);

/* In lower case, with a NUL. */
void sha256_format(const struct sha256 *hash, char text[SHA256_TEXT_SIZE]);
/* Exactly what sha256_format writes; false for all else. */
bool sha256_parse(const char *text, struct sha256 *ret);

static inline bool sha256_equal(const struct sha256 *a, const struct sha256 *b)
{
    return memcmp(a->bytes, b->bytes, SHA256_SIZE) == 0;
}

#endif
