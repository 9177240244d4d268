#include "instrument/driver/object_bitcode.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "layout/section.h"
#include "program/link_record.h"

bool bitcode_is(const unsigned char *data, size_t size)
{
    return size >= 4 &&
           (memcmp(data, "BC\xc0\xde", 4) == 0 || memcmp(data, "\xde\xc0\x17\x0b", 4) == 0);
}

#define CHUNK_BITS  6
#define NAME_CHUNKS 2 /* of every character of the section's name */

/* The bits of the section's name, from bit `shift` of the first byte on; how many there are. */
static size_t name_bits(unsigned shift, unsigned char *pattern, size_t size)
{
    static const char name[] = SECTION_MODEL;
    size_t bits = (sizeof(name) - 1) * NAME_CHUNKS * CHUNK_BITS;
    assert((bits + shift) / 8 < size);
    memset(pattern, 0, size);
    for (size_t i = 0; i < bits; i++) {
        unsigned character = (unsigned char)name[i / (NAME_CHUNKS * CHUNK_BITS)];
        unsigned coded = (character & 31) | 32 | character >> 5 << CHUNK_BITS;
        if (coded >> i % (NAME_CHUNKS * CHUNK_BITS) & 1)
            pattern[(i + shift) / 8] |= (unsigned char)(1u << (i + shift) % 8);
    }
    return bits;
}

/* The character at bit *at, which moves behind it; 0 at the end, or where there is none. */
static char next_character(const unsigned char *data, size_t size, size_t *at)
{
    unsigned value = 0;
    for (unsigned chunk = 0; chunk < NAME_CHUNKS; chunk++) {
        unsigned bits = 0;
        for (unsigned i = 0; i < CHUNK_BITS; i++, ++*at) {
            if (*at / 8 >= size)
                return 0;
            bits |= (unsigned)(data[*at / 8] >> *at % 8 & 1) << i;
        }
        value |= (bits & 31) << 5 * chunk;
        if (!(bits & 32))
            return value < 128 ? (char)value : 0;
    }
    return 0;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The 16 bytes that the next .octa stands for, as two numbers. */
static bool next_octa(const unsigned char *data, size_t size, size_t *at, uint64_t ret[2])
{
    char before = 0;
    for (unsigned skipped = 0; skipped < 128; skipped++) {
        char character = next_character(data, size, at);
        if (character == 'x' && before == '0')
            break;
        if (!character)
            return false;
        before = character;
    }
    for (unsigned i = 0; i < 32; i++) {
        int digit = hex_digit(next_character(data, size, at));
        if (digit < 0)
            return false;
        ret[1 - i / 16] = ret[1 - i / 16] << 4 | (unsigned)digit;
    }
    return true;
}

/* The frame behind the section's name: its header, and the first member of struct section_module.
 */
static void read_frame(const unsigned char *data, size_t size, size_t at, struct link_ids *ret,
                       bool *ret_outdated)
{
    uint64_t words[3][2] = {{0}};
    uint64_t magic = 0;
    memcpy(&magic, SECTION_MAGIC, sizeof(magic));
    for (unsigned i = 0; i < 3; i++) {
        if (!next_octa(data, size, &at, words[i]))
            return;
    }
    if (words[0][0] != magic || words[0][1] >> 32 != SECTION_KIND_MODULE)
        return;
    if ((uint32_t)words[0][1] != SECTION_VERSION)
        *ret_outdated = true;
    else
        link_ids_push(ret, words[2][0]);
}
_Static_assert(sizeof(struct section_header) == 32, "two octas, the module's id is in the third");

void bitcode_read_modules(const unsigned char *data, size_t size, struct link_ids *ret,
                          bool *ret_outdated)
{
    unsigned char pattern[64];
    for (unsigned shift = 0; shift < 8; shift++) {
        size_t bits = name_bits(shift, pattern, sizeof(pattern));
        size_t first = shift ? 1 : 0; /* whole bytes of the pattern are looked for */
        size_t length = (bits + shift) / 8 - first;
        const unsigned char *at = data + first;
        const unsigned char *end = data + size;
        while (at < end && (at = memmem(at, (size_t)(end - at), pattern + first, length))) {
            read_frame(data, size, (size_t)(at - first - data) * 8 + shift + bits, ret,
                       ret_outdated);
            at++;
        }
    }
}
