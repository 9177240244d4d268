// SPDX-License-Identifier: Apache-2.0
// Reports as bytes (docs/formats/suspects_report.md), and how one is made of a live file.
#include "suspects/report.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "common/vec.h"

#define REPORT_MAGIC   "INQREPT\n" // 8 bytes, no terminator
#define REPORT_VERSION 1u

enum {
    REPORT_HEADER = 16, // magic, version, length
    REPORT_HASH = 8,
    VARINT_MOST = 10,
};

VEC_DEFINE(count_vec, struct suspects_count);
VEC_DEFINE(module_vec, struct suspects_report_module);
VEC_DEFINE(frame_vec, struct suspects_frame);

const char *suspects_outcome_name(enum suspects_outcome outcome)
{
    switch (outcome) {
    case SUSPECTS_PASSED:
        return "passed";
    case SUSPECTS_FAILED:
        return "failed";
    default:
        return "unknown";
    }
}

void suspects_report_destroy(struct suspects_report *report)
{
    if (!report)
        return;
    free(report->modules);
    free(report->counts);
    free(report->frames);
    free(report);
}

// ---- Writing

static void put_fixed(struct strbuf *out, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++, value >>= 8)
        strbuf_append_char(out, (char)(value & 0xff));
}

// Seven bits a byte, least significant first; the high bit says that more follow.
static void put_varint(struct strbuf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        strbuf_append_char(out, (char)(value | 0x80));
    strbuf_append_char(out, (char)value);
}

static void put_module(struct strbuf *out, const struct suspects_report *report,
                       const struct suspects_report_module *module)
{
    uint32_t next = 0;

    put_fixed(out, module->module_id, 8);
    put_varint(out, module->counter_count);
    put_varint(out, module->count);
    for (uint32_t i = 0; i < module->count; i++) {
        const struct suspects_count *count = &report->counts[module->first + i];

        assert(count->counter >= next && count->counter < module->counter_count && count->value);
        put_varint(out, count->counter - next);
        put_varint(out, count->value);
        next = count->counter + 1;
    }
}

// A module by its number among the report's, from 1; 0: not one of them, its id follows.
static void put_frame(struct strbuf *out, const struct suspects_report *report,
                      const struct suspects_frame *frame)
{
    uint32_t m = 0;

    while (m < report->module_count && report->modules[m].module_id != frame->module_id)
        m++;
    put_varint(out, m < report->module_count ? (uint64_t)m + 1 : 0);
    if (m == report->module_count)
        put_fixed(out, frame->module_id, 8);
    put_varint(out, (uint32_t)(frame->function + 1)); // SUSPECTS_NONE becomes 0
    put_varint(out, (uint32_t)(frame->node + 1));
}

void suspects_report_write(const struct suspects_report *report, struct strbuf *out)
{
    size_t start = out->length;

    strbuf_append_bytes(out, REPORT_MAGIC, 8);
    put_fixed(out, REPORT_VERSION, 4);
    put_fixed(out, 0, 4);
    strbuf_append_bytes(out, report->run_id, sizeof(report->run_id));
    strbuf_append_char(out, (char)report->build_id_length);
    strbuf_append_bytes(out, report->build_id, report->build_id_length);
    strbuf_append_char(out, (char)report->outcome);
    put_varint(out, report->signal);
    put_varint(out, report->exit_status);
    put_varint(out, report->rate);
    put_varint(out, report->seed);
    put_varint(out, report->start);
    put_varint(out, report->module_count);
    for (uint32_t m = 0; m < report->module_count; m++) {
        assert(m == 0 || report->modules[m - 1].module_id < report->modules[m].module_id);
        put_module(out, report, &report->modules[m]);
    }
    put_varint(out, report->frame_count);
    for (uint32_t f = 0; f < report->frame_count; f++)
        put_frame(out, report, &report->frames[f]);
    size_t length = out->length - start + REPORT_HASH;
    assert(length <= UINT32_MAX);
    for (unsigned i = 0; i < 4; i++)
        out->data[start + 12 + i] = (char)(length >> (8 * i));
    put_fixed(out, hash_bytes(HASH_SEED, out->data + start, out->length - start), REPORT_HASH);
}

// ---- Reading

struct reader {
    const unsigned char *bytes;
    size_t at, end; // end: where the hash begins
    const char *name;
    struct error *err; // the first thing that was wrong; nothing is read after it
};

static void refuse(struct reader *reader, const char *what)
{
    if (!reader->err)
        reader->err = error_create_at_offset(ERROR_FORMAT, reader->name, reader->at,
                                             "damaged report: %s", what);
}

static const unsigned char *take(struct reader *reader, size_t size)
{
    if (reader->err || size > reader->end - reader->at) {
        refuse(reader, "it ends too early");
        return NULL;
    }
    const unsigned char *bytes = reader->bytes + reader->at;
    reader->at += size;
    return bytes;
}

static uint64_t get_fixed(const unsigned char *bytes, unsigned size)
{
    uint64_t value = 0;

    for (unsigned i = size; bytes && i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static uint64_t get_varint(struct reader *reader)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < VARINT_MOST; i++) {
        const unsigned char *byte = take(reader, 1);
        if (!byte)
            return 0;
        if ((i == VARINT_MOST - 1 && *byte > 1) || (i > 0 && *byte == 0))
            break; // more than 64 bits; or longer than need be
        value |= (uint64_t)(*byte & 0x7f) << (7 * i);
        if (!(*byte & 0x80))
            return value;
    }
    refuse(reader, "a number is malformed");
    return 0;
}

static uint32_t get_u32(struct reader *reader)
{
    uint64_t value = get_varint(reader);

    if (value > UINT32_MAX)
        refuse(reader, "a number is too large");
    return (uint32_t)value;
}

// How many things of at least `size` bytes each follow.
static uint32_t get_count(struct reader *reader, size_t size)
{
    uint64_t count = get_varint(reader);

    if (reader->err)
        return 0;
    if (count > UINT32_MAX || count > (reader->end - reader->at) / size) {
        refuse(reader, "it promises more than it holds");
        return 0;
    }
    return (uint32_t)count;
}

static void get_module(struct reader *reader, struct module_vec *modules, struct count_vec *counts)
{
    struct suspects_report_module module = {.module_id = get_fixed(take(reader, 8), 8),
                                            .first = (uint32_t)counts->length};
    uint64_t next = 0;

    module.counter_count = get_u32(reader);
    module.count = get_count(reader, 2);
    if (modules->length && module.module_id <= module_vec_last(modules)->module_id)
        refuse(reader, "its modules are not in order");
    for (uint32_t i = 0; i < module.count && !reader->err; i++) {
        uint64_t counter = next + get_u32(reader);
        uint32_t value = get_u32(reader);

        if (counter >= module.counter_count)
            refuse(reader, "a counter is beyond its module's");
        else if (value == 0)
            refuse(reader, "it holds a counter of 0");
        count_vec_push(counts, (struct suspects_count){(uint32_t)counter, value});
        next = counter + 1;
    }
    module_vec_push(modules, module);
}

static void get_frame(struct reader *reader, const struct module_vec *modules,
                      struct frame_vec *frames)
{
    struct suspects_frame frame = {0};
    uint32_t number = get_u32(reader);

    if (number > modules->length)
        refuse(reader, "a frame is in a module that it does not have");
    else if (number)
        frame.module_id = modules->data[number - 1].module_id;
    else
        frame.module_id = get_fixed(take(reader, 8), 8);
    for (size_t m = 0; !number && m < modules->length; m++)
        if (modules->data[m].module_id == frame.module_id)
            refuse(reader, "a frame's module is given in two ways");
    frame.function = get_u32(reader) - 1;
    frame.node = get_u32(reader) - 1;
    frame_vec_push(frames, frame);
}

static void get_body(struct reader *reader, struct suspects_report *report)
{
    struct module_vec modules = VEC_INIT;
    struct count_vec counts = VEC_INIT;
    struct frame_vec frames = VEC_INIT;

    report->signal = get_u32(reader);
    report->exit_status = get_u32(reader);
    report->rate = get_varint(reader);
    report->seed = get_varint(reader);
    report->start = get_varint(reader);
    if (!reader->err && report->rate == 0)
        refuse(reader, "its rate is 0");
    uint32_t module_count = get_count(reader, 10);
    for (uint32_t m = 0; m < module_count && !reader->err; m++)
        get_module(reader, &modules, &counts);
    uint32_t frame_count = get_count(reader, 3);
    for (uint32_t f = 0; f < frame_count && !reader->err; f++)
        get_frame(reader, &modules, &frames);
    if (!reader->err && reader->at != reader->end)
        refuse(reader, "there are bytes behind its end");
    report->module_count = (uint32_t)modules.length;
    report->modules = module_vec_steal(&modules);
    report->count_count = (uint32_t)counts.length;
    report->counts = count_vec_steal(&counts);
    report->frame_count = (uint32_t)frames.length;
    report->frames = frame_vec_steal(&frames);
}

static void get_head(struct reader *reader, struct suspects_report *report)
{
    const unsigned char *run = take(reader, sizeof(report->run_id));
    const unsigned char *length = take(reader, 1);

    if (length && *length > SUSPECTS_BUILD_ID)
        refuse(reader, "its build-id is too long");
    const unsigned char *build = length ? take(reader, *length) : NULL;
    const unsigned char *outcome = build ? take(reader, 1) : NULL;
    if (outcome && *outcome > SUSPECTS_FAILED)
        refuse(reader, "its outcome is none that there is");
    if (reader->err)
        return;
    memcpy(report->run_id, run, sizeof(report->run_id));
    memcpy(report->build_id, build, *length);
    report->build_id_length = *length;
    report->outcome = (enum suspects_outcome) * outcome;
}

// What is known of the bytes as a whole, before anything in them is believed.
static struct error *check_whole(const unsigned char *bytes, size_t length, const char *name)
{
    if (length < 8 || memcmp(bytes, REPORT_MAGIC, 8) != 0) {
        size_t part = length < 8 ? length : 8;
        if (memcmp(bytes, REPORT_MAGIC, part) != 0 || length >= 8)
            return error_create_file(ERROR_FORMAT, name, "not a report of a run");
        return error_create_file(ERROR_FORMAT, name, "truncated report: %zu bytes", length);
    }
    if (length < REPORT_HEADER)
        return error_create_file(ERROR_FORMAT, name, "truncated report: %zu bytes", length);
    uint64_t version = get_fixed(bytes + 8, 4), whole = get_fixed(bytes + 12, 4);
    if (version != REPORT_VERSION)
        return error_create_file(ERROR_MISMATCH, name,
                                 "report of version %llu; this inquest reads version %u",
                                 (unsigned long long)version, REPORT_VERSION);
    if (length < whole)
        return error_create_file(ERROR_FORMAT, name, "truncated report: %zu bytes of %llu", length,
                                 (unsigned long long)whole);
    if (length > whole || length < REPORT_HEADER + REPORT_HASH)
        return error_create_file(ERROR_FORMAT, name,
                                 "damaged report: its length is given as %llu bytes, not %zu",
                                 (unsigned long long)whole, length);
    if (get_fixed(bytes + length - REPORT_HASH, REPORT_HASH) !=
        hash_bytes(HASH_SEED, bytes, length - REPORT_HASH))
        return error_create_file(ERROR_FORMAT, name, "damaged report: its hash is wrong");
    return NULL;
}

struct error *suspects_report_read(const void *bytes, size_t length, const char *name,
                                   struct suspects_report **ret)
{
    struct error *err = check_whole(bytes, length, name);
    if (err)
        return err;
    struct suspects_report *report = xcalloc(1, sizeof(*report));
    struct reader reader = {
        .bytes = bytes, .at = REPORT_HEADER, .end = length - REPORT_HASH, .name = name};
    get_head(&reader, report);
    if (!reader.err)
        get_body(&reader, report);
    if (reader.err) {
        suspects_report_destroy(report);
        return reader.err;
    }
    *ret = report;
    return NULL;
}

// ---- Live files

static struct error *check_live(const struct suspects_live *live, size_t length, const char *name)
{
    static const char nothing[8];

    if (memcmp(live->magic, nothing, 8) == 0)
        return error_create_file(ERROR_FORMAT, name,
                                 "unfinished live file: its process ended while making it");
    if (memcmp(live->magic, SUSPECTS_LIVE_MAGIC, 8) != 0)
        return error_create_file(ERROR_FORMAT, name, "not a live file");
    if (live->version != SUSPECTS_LIVE_VERSION)
        return error_create_file(ERROR_MISMATCH, name,
                                 "live file of version %u; this inquest reads version %u",
                                 live->version, SUSPECTS_LIVE_VERSION);
    if (live->header_length > length)
        return error_create_file(ERROR_FORMAT, name, "truncated live file: %zu bytes", length);
    if (live->header_length < sizeof(*live) ||
        live->module_count >
            (live->header_length - sizeof(*live)) / sizeof(struct suspects_live_module))
        return error_create_file(ERROR_FORMAT, name,
                                 "damaged live file: its modules do not fit into its header");
    if (live->build_id_length > SUSPECTS_BUILD_ID || live->rate == 0)
        return error_create_file(ERROR_FORMAT, name, "damaged live file: %s",
                                 live->rate ? "its build-id is too long" : "its rate is 0");
    return NULL;
}

static struct error *check_live_module(const struct suspects_live_module *module,
                                       const struct suspects_live *live, size_t length,
                                       const char *name)
{
    uint64_t size = (uint64_t)module->counter_count * sizeof(uint32_t);

    if (module->offset % SUSPECTS_PAGE || module->offset < live->header_length)
        return error_create_at_offset(ERROR_FORMAT, name, module->offset,
                                      "damaged live file: counters cannot be there");
    if (module->offset > length || size > length - module->offset)
        return error_create_at_offset(ERROR_FORMAT, name, module->offset,
                                      "truncated live file: %zu bytes, and counters lie behind",
                                      length);
    return NULL;
}

static int by_module(const void *a, const void *b)
{
    const struct suspects_live_module *x = a, *y = b;

    if (x->module_id != y->module_id)
        return x->module_id < y->module_id ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static uint32_t counter_at(const unsigned char *bytes, const struct suspects_live_module *module,
                           uint32_t counter)
{
    uint32_t value;

    memcpy(&value, bytes + module->offset + (size_t)counter * sizeof(value), sizeof(value));
    return value;
}

// `same` modules of one id, which is one source linked so many times: their sums.
static void sum_modules(const unsigned char *bytes, const struct suspects_live_module *modules,
                        uint32_t same, struct module_vec *out, struct count_vec *counts)
{
    struct suspects_report_module module = {.module_id = modules->module_id,
                                            .counter_count = modules->counter_count,
                                            .first = (uint32_t)counts->length};

    for (uint32_t c = 0; c < module.counter_count; c++) {
        uint64_t sum = 0;
        for (uint32_t s = 0; s < same; s++)
            sum += counter_at(bytes, &modules[s], c);
        if (sum)
            count_vec_push(
                counts, (struct suspects_count){c, sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum});
    }
    module.count = (uint32_t)counts->length - module.first;
    module_vec_push(out, module);
}

static struct error *live_modules(const unsigned char *bytes, size_t length, const char *name,
                                  const struct suspects_live *live, struct module_vec *out,
                                  struct count_vec *counts)
{
    uint32_t count = live->module_count;
    struct suspects_live_module *modules = xmalloc_array(count, sizeof(*modules));
    struct error *err = NULL;

    memcpy(modules, bytes + sizeof(*live), count * sizeof(*modules));
    if (count)
        qsort(modules, count, sizeof(*modules), by_module);
    for (uint32_t m = 0; m < count && !err; m++) {
        err = check_live_module(&modules[m], live, length, name);
        if (!err && m && modules[m - 1].module_id == modules[m].module_id &&
            modules[m - 1].counter_count != modules[m].counter_count)
            err = error_create_file(ERROR_FORMAT, name,
                                    "damaged live file: a module has two numbers of counters");
    }
    for (uint32_t m = 0, same = 1; m < count && !err; m += same) {
        same = 1;
        while (m + same < count && modules[m + same].module_id == modules[m].module_id)
            same++;
        sum_modules(bytes, &modules[m], same, out, counts);
    }
    free(modules);
    return err;
}

struct error *suspects_report_from_live(const void *bytes, size_t length, const char *name,
                                        struct suspects_report **ret)
{
    struct suspects_live live;
    struct module_vec modules = VEC_INIT;
    struct count_vec counts = VEC_INIT;

    if (length < sizeof(live))
        return error_create_file(ERROR_FORMAT, name, "truncated live file: %zu bytes", length);
    memcpy(&live, bytes, sizeof(live));
    struct error *err = check_live(&live, length, name);
    if (!err)
        err = live_modules(bytes, length, name, &live, &modules, &counts);
    if (err) {
        module_vec_deinit(&modules);
        count_vec_deinit(&counts);
        return err;
    }
    struct suspects_report *report = xcalloc(1, sizeof(*report));
    memcpy(report->run_id, live.run_id, sizeof(report->run_id));
    memcpy(report->build_id, live.build_id, live.build_id_length);
    report->build_id_length = live.build_id_length;
    report->rate = live.rate;
    report->seed = live.seed;
    report->start = live.start;
    report->module_count = (uint32_t)modules.length;
    report->modules = module_vec_steal(&modules);
    report->count_count = (uint32_t)counts.length;
    report->counts = count_vec_steal(&counts);
    *ret = report;
    return NULL;
}
