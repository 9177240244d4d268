// SPDX-License-Identifier: Apache-2.0
/*
 * A small compressor. Reads the input, compresses it block by block, unpacks what it has made and
 * says how both compare.
 *
 *     lz [-b BLOCK] [-e] [-v]     -e: tries harder, -v: says what each block has
 *
 * A block is a list of tokens: a literal run (its length, then the bytes) or a match (length and
 * distance). The first byte of a token tells: 0 a run, else the length of the match.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_SIZE   1024
#define CHAIN_MOST  32
#define MATCH_LEAST 4
#define MATCH_MOST  64
#define RUN_MOST    200
#define BLOCK_MOST  4096

struct buffer {
    unsigned char *bytes;
    size_t length, capacity;
};

struct packer {
    const unsigned char *data;
    int length;
    int head[HASH_SIZE]; // the last position of a hash, -1: none
    int previous[BLOCK_MOST];
    bool hard;
    struct buffer *out;
    int runs, matches, literals;
};

struct unpacker {
    const unsigned char *at, *end;
    struct buffer *out;
    size_t start; // of this block in the output
    const char *error;
};

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

static void buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->length + more <= buffer->capacity)
        return;
    buffer->capacity = (buffer->length + more) * 2;
    buffer->bytes = must(realloc(buffer->bytes, buffer->capacity));
}

static void buffer_put(struct buffer *buffer, int byte)
{
    buffer_reserve(buffer, 1);
    buffer->bytes[buffer->length++] = (unsigned char)byte;
}

static void buffer_add(struct buffer *buffer, const void *bytes, size_t count)
{
    if (count == 0)
        return;
    buffer_reserve(buffer, count);
    memcpy(buffer->bytes + buffer->length, bytes, count);
    buffer->length += count;
}

static void put_number(struct buffer *buffer, int number)
{
    buffer_put(buffer, number & 0xff);
    buffer_put(buffer, number >> 8);
}

// ---- Packing

static unsigned hash(const unsigned char *at)
{
    unsigned value = at[0] | (unsigned)at[1] << 8 | (unsigned)at[2] << 16 | (unsigned)at[3] << 24;
    return value * 2654435761u >> 22;
}

static void packer_insert(struct packer *packer, int at)
{
    if (at + MATCH_LEAST > packer->length)
        return;
    unsigned bucket = hash(packer->data + at);
    packer->previous[at] = packer->head[bucket];
    packer->head[bucket] = at;
}

static int common(const struct packer *packer, int a, int b)
{
    int length = 0;
    while (length < MATCH_MOST && b + length < packer->length &&
           packer->data[a + length] == packer->data[b + length])
        length++;
    return length;
}

// The length of the best match for position `at`; 0: none.
static int find_match(const struct packer *packer, int at, int *distance)
{
    int best = 0;
    if (at + MATCH_LEAST > packer->length)
        return 0;
    int candidate = packer->head[hash(packer->data + at)];
    for (int tries = packer->hard ? CHAIN_MOST : 4; candidate >= 0 && tries > 0; tries--) {
        int length = common(packer, candidate, at);
        if (length > best) {
            best = length;
            *distance = at - candidate;
        }
        candidate = packer->previous[candidate];
    }
    return best >= MATCH_LEAST ? best : 0;
}

static void put_run(struct packer *packer, int start, int end)
{
    while (start < end) {
        int length = end - start < RUN_MOST ? end - start : RUN_MOST;
        buffer_put(packer->out, 0);
        buffer_put(packer->out, length);
        buffer_add(packer->out, packer->data + start, (size_t)length);
        start += length;
        packer->runs++;
        packer->literals += length;
    }
}

static void put_match(struct packer *packer, int length, int distance)
{
    buffer_put(packer->out, length);
    put_number(packer->out, distance);
    packer->matches++;
}

static void pack(struct packer *packer)
{
    int run = 0;
    for (int i = 0; i < HASH_SIZE; i++)
        packer->head[i] = -1;
    for (int at = 0; at < packer->length;) {
        int distance = 0, next_distance;
        int length = find_match(packer, at, &distance);
        packer_insert(packer, at);
        if (length > 0 && packer->hard && find_match(packer, at + 1, &next_distance) > length + 1)
            length = 0; // the next one is better
        if (length == 0) {
            at++;
            continue;
        }
        put_run(packer, run, at);
        put_match(packer, length, distance);
        for (int i = 1; i < length; i++)
            packer_insert(packer, at + i);
        at += length;
        run = at;
    }
    put_run(packer, run, packer->length);
}

static void pack_block(const unsigned char *data, int length, bool hard, bool verbose,
                       struct buffer *out)
{
    struct packer packer = {.data = data, .length = length, .hard = hard, .out = out};
    size_t start = out->length;
    put_number(out, length);
    put_number(out, 0);
    pack(&packer);
    int packed = (int)(out->length - start - 4);
    out->bytes[start + 2] = (unsigned char)packed;
    out->bytes[start + 3] = (unsigned char)(packed >> 8);
    if (verbose)
        printf("block of %d: %d runs, %d literals, %d matches, %d bytes\n", length, packer.runs,
               packer.literals, packer.matches, packed);
}

// ---- Unpacking

static int get_number(struct unpacker *unpacker)
{
    if (unpacker->end - unpacker->at < 2) {
        unpacker->error = "the block ends too early";
        return 0;
    }
    int number = unpacker->at[0] | unpacker->at[1] << 8;
    unpacker->at += 2;
    return number;
}

static void unpack_run(struct unpacker *unpacker)
{
    signed char length = (signed char)*unpacker->at++;
    if (unpacker->end - unpacker->at < length) {
        unpacker->error = "a run is cut";
        return;
    }
    buffer_add(unpacker->out, unpacker->at, (size_t)length);
    unpacker->at += length;
}

static void unpack_match(struct unpacker *unpacker, int length)
{
    int distance = get_number(unpacker);
    struct buffer *out = unpacker->out;
    if (distance == 0 || (size_t)distance > out->length - unpacker->start) {
        unpacker->error = "a match reaches too far";
        return;
    }
    for (int i = 0; i < length; i++)
        buffer_put(out, out->bytes[out->length - (size_t)distance]);
}

static const char *unpack_block(const unsigned char **at, const unsigned char *end,
                                struct buffer *out)
{
    struct unpacker unpacker = {.at = *at, .end = end, .out = out, .start = out->length};
    int length = get_number(&unpacker), packed = get_number(&unpacker);
    if (unpacker.error == NULL && end - unpacker.at < packed)
        return "a block is cut";
    unpacker.end = unpacker.at + packed;
    while (unpacker.error == NULL && unpacker.end - unpacker.at >= 2) {
        int kind = *unpacker.at++;
        if (kind == 0)
            unpack_run(&unpacker);
        else
            unpack_match(&unpacker, kind);
    }
    *at = unpacker.end;
    if (unpacker.error == NULL && out->length - unpacker.start != (size_t)length)
        return "the length is wrong";
    return unpacker.error;
}

// ---- Both

static unsigned checksum(const unsigned char *bytes, size_t length)
{
    unsigned a = 1, b = 0;
    for (size_t i = 0; i < length; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void read_all(FILE *file, struct buffer *buffer)
{
    unsigned char chunk[1024];
    size_t count;
    while ((count = fread(chunk, 1, sizeof chunk, file)) > 0)
        buffer_add(buffer, chunk, count);
}

static int unpack(const struct buffer *packed, struct buffer *out)
{
    const unsigned char *at = packed->bytes, *end = packed->bytes + packed->length;
    int blocks = 0;
    while (at != NULL && at < end) {
        const char *error = unpack_block(&at, end, out);
        if (error != NULL) {
            printf("block %d: %s\n", blocks, error);
            return 1;
        }
        blocks++;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct buffer data = {0}, packed = {0}, unpacked = {0};
    int block = BLOCK_MOST, status = 0;
    bool hard = false, verbose = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-b") == 0 && i + 1 < argc)
            block = atoi(argv[++i]);
        else if (strcmp(argv[i], "-e") == 0)
            hard = true;
        else if (strcmp(argv[i], "-v") == 0)
            verbose = true;
    }
    if (block < 16 || block > BLOCK_MOST)
        block = BLOCK_MOST;
    read_all(stdin, &data);
    for (size_t at = 0; at < data.length; at += (size_t)block) {
        size_t rest = data.length - at;
        pack_block(data.bytes + at, rest < (size_t)block ? (int)rest : block, hard, verbose,
                   &packed);
    }
    status = unpack(&packed, &unpacked);
    if (status == 0 &&
        (unpacked.length != data.length ||
         checksum(unpacked.bytes, unpacked.length) != checksum(data.bytes, data.length)))
        status = 2;
    printf("%zu bytes, %zu packed, sum %08x\n", data.length, packed.length,
           checksum(packed.bytes, packed.length));
    free(data.bytes);
    free(packed.bytes);
    free(unpacked.bytes);
    return status;
}
