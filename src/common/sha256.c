// SPDX-License-Identifier: Apache-2.0
#include "common/sha256.h"

#include <nettle/sha2.h>
#include <stdint.h>

struct sha256 sha256_of(const void *data, size_t size)
{
    struct sha256_ctx context;
    struct sha256 hash;

    sha256_init(&context);
    sha256_update(&context, size, data);
    sha256_digest(&context, sizeof(hash.bytes), hash.bytes);
    return hash;
}

void sha256_format(const struct sha256 *hash, char text[SHA256_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < SHA256_SIZE; i++) {
        text[2 * i] = digits[hash->bytes[i] >> 4];
        text[2 * i + 1] = digits[hash->bytes[i] & 15];
    }
    text[SHA256_TEXT_SIZE - 1] = '\0';
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool sha256_parse(const char *text, struct sha256 *ret)
{
    struct sha256 hash;

    for (int i = 0; i < SHA256_SIZE; i++) {
        int high = digit(text[2 * i]);
        int low = high < 0 ? -1 : digit(text[2 * i + 1]);
        if (low < 0)
            return false;
        hash.bytes[i] = (unsigned char)(high << 4 | low);
    }
    if (text[SHA256_TEXT_SIZE - 1])
        return false;
    *ret = hash;
    return true;
}
