// SPDX-License-Identifier: Apache-2.0
#include "dep_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "dep_table.h"

#define PAGE    4096u
#define LARGEST (64ull << 20) // objects beyond that are not looked after

struct page {
    uint64_t number;
    uint32_t writers[PAGE];
    uint32_t objects[PAGE];
};

struct object {
    uint32_t identity;
    bool ended;
    uint64_t address, size;
};

static struct {
    struct page **pages; // by hash
    uint32_t page_count, page_room;
    struct page *last;
    struct object *objects;
    uint32_t objects_count, objects_room;
    struct dep_identity *identities;
    uint32_t identities_count, identities_room;
    uint32_t *identity_slots, identity_slot_count;
    struct dep_access *accesses;
    uint32_t access_count, access_room;
} shadow;

static uint32_t mix(uint64_t key)
{
    key ^= key >> 31;
    key *= 0x9e3779b97f4a7c15ull;
    return (uint32_t)(key >> 32);
}

static void *zeros(size_t count, size_t size)
{
    void *data = calloc(count, size);

    if (!data)
        dep_fail("out of memory", "shadow");
    return data;
}

// ---------------------------------------------------------------- pages

static struct page **page_slot(uint64_t number)
{
    uint32_t at = mix(number) & (shadow.page_room - 1);

    while (shadow.pages[at] && shadow.pages[at]->number != number)
        at = (at + 1) & (shadow.page_room - 1);
    return &shadow.pages[at];
}

static void more_pages(void)
{
    struct page **old = shadow.pages;
    uint32_t room = shadow.page_room;

    shadow.page_room = room ? room * 2 : 1024;
    shadow.pages = zeros(shadow.page_room, sizeof(*shadow.pages));
    for (uint32_t i = 0; i < room; i++)
        if (old[i])
            *page_slot(old[i]->number) = old[i];
    free(old);
}

// NULL when there is none and none is to be made.
static struct page *page_at(uint64_t address, bool make)
{
    uint64_t number = address / PAGE;

    if (shadow.last && shadow.last->number == number)
        return shadow.last;
    if (shadow.page_count * 2 >= shadow.page_room)
        more_pages();
    struct page **slot = page_slot(number);
    if (!*slot && make) {
        *slot = zeros(1, sizeof(**slot));
        (*slot)->number = number;
        shadow.page_count++;
    }
    if (*slot)
        shadow.last = *slot;
    return *slot;
}

uint32_t dep_writer(uint64_t address)
{
    const struct page *page = page_at(address, false);

    return page ? page->writers[address % PAGE] : 0;
}

void dep_set_writer(uint64_t address, uint64_t length, uint32_t writer)
{
    for (uint64_t i = 0; i < length; i++) {
        struct page *page = page_at(address + i, writer != 0);
        if (page)
            page->writers[(address + i) % PAGE] = writer;
    }
}

// ---------------------------------------------------------------- objects

static uint32_t *identity_slot(const struct dep_identity *identity)
{
    uint32_t at = mix(((uint64_t)identity->kind << 60) ^ identity->index ^
                      ((uint64_t)identity->outer[0] << 20) ^ ((uint64_t)identity->outer[1] << 31));

    for (;; at++) {
        uint32_t *slot = &shadow.identity_slots[at & (shadow.identity_slot_count - 1)];
        if (!*slot || memcmp(&shadow.identities[*slot], identity, sizeof(*identity)) == 0)
            return slot;
    }
}

static uint32_t intern(const struct dep_identity *identity)
{
    if (shadow.identities_count * 2 >= shadow.identity_slot_count) {
        free(shadow.identity_slots);
        shadow.identity_slot_count =
            shadow.identity_slot_count ? shadow.identity_slot_count * 2 : 1024;
        shadow.identity_slots = zeros(shadow.identity_slot_count, sizeof(uint32_t));
        if (!shadow.identities_count)
            *DEP_PUSH(&shadow, identities) = (struct dep_identity){0}; // 0 is "other"
        for (uint32_t i = 1; i < shadow.identities_count; i++)
            *identity_slot(&shadow.identities[i]) = i;
    }
    uint32_t *slot = identity_slot(identity);
    if (!*slot) {
        *slot = shadow.identities_count;
        *DEP_PUSH(&shadow, identities) = *identity;
    }
    return *slot;
}

uint32_t dep_begin_object(const struct dep_identity *identity, uint64_t address, uint64_t size)
{
    if (size > LARGEST)
        return 0;
    if (!shadow.objects_count)
        (void)DEP_PUSH(&shadow, objects); // 0 is none
    uint32_t object = shadow.objects_count;
    *DEP_PUSH(&shadow, objects) = (struct object){intern(identity), false, address, size};
    for (uint64_t i = 0; i < size; i++)
        page_at(address + i, true)->objects[(address + i) % PAGE] = object;
    return object;
}

void dep_forget_object(uint32_t object)
{
    const struct object *gone = &shadow.objects[object];

    for (uint64_t i = 0; object && i < gone->size; i++) {
        struct page *page = page_at(gone->address + i, false);
        if (page && page->objects[(gone->address + i) % PAGE] == object) {
            page->objects[(gone->address + i) % PAGE] = 0;
            page->writers[(gone->address + i) % PAGE] = 0;
        }
    }
}

static uint32_t any_object_at(uint64_t address)
{
    const struct page *page = page_at(address, false);

    return page ? page->objects[address % PAGE] : 0;
}

// NULL when there is none that has not ended.
static struct object *live_object_at(uint64_t address)
{
    uint32_t object = any_object_at(address);

    return object && !shadow.objects[object].ended ? &shadow.objects[object] : NULL;
}

void dep_release(uint64_t address, bool keeps)
{
    struct object *object = live_object_at(address);

    if (!object || object->address != address)
        return;
    object->ended = true;
    if (!keeps)
        dep_set_writer(address, object->size, 0);
}

void dep_clobber(uint64_t address)
{
    const struct object *object = live_object_at(address);

    if (object)
        dep_set_writer(object->address, object->size, 0);
}

// ---------------------------------------------------------------- accesses

static struct dep_access *access_slot(uint32_t insn, uint32_t identity, bool is_write,
                                      bool is_stale)
{
    uint32_t at = mix((uint64_t)insn << 32 ^ (uint64_t)identity << 2 ^ (uint64_t)is_write << 1 ^
                      (uint64_t)is_stale);

    for (;; at++) {
        struct dep_access *access = &shadow.accesses[at & (shadow.access_room - 1)];
        if (!access->used || (access->insn == insn && access->identity == identity &&
                              access->is_write == is_write && access->is_stale == is_stale))
            return access;
    }
}

static void more_accesses(void)
{
    struct dep_access *old = shadow.accesses;
    uint32_t room = shadow.access_room;

    shadow.access_room = room ? room * 2 : 4096;
    shadow.accesses = zeros(shadow.access_room, sizeof(*shadow.accesses));
    for (uint32_t i = 0; i < room; i++)
        if (old[i].used)
            *access_slot(old[i].insn, old[i].identity, old[i].is_write, old[i].is_stale) = old[i];
    free(old);
}

static void add_span(struct dep_access *access, uint64_t offset, uint64_t length)
{
    for (uint32_t i = 0; i < access->span_count; i++)
        if (access->spans[i].offset == offset && access->spans[i].length == length)
            return;
    if (access->span_count == DEP_SPANS) {
        access->has_more = true;
        return;
    }
    if (!access->spans)
        access->spans = zeros(DEP_SPANS, sizeof(*access->spans));
    access->spans[access->span_count].offset = offset;
    access->spans[access->span_count++].length = length;
}

void dep_note_access(uint32_t insn, bool is_write, uint64_t address, uint64_t length)
{
    uint32_t object = any_object_at(address);
    uint32_t identity = object ? shadow.objects[object].identity : 0;
    bool is_stale = object && shadow.objects[object].ended;

    if (shadow.access_count * 2 >= shadow.access_room)
        more_accesses();
    struct dep_access *access = access_slot(insn, identity, is_write, is_stale);
    if (!access->used) {
        *access = (struct dep_access){.insn = insn,
                                      .identity = identity,
                                      .is_write = is_write,
                                      .is_stale = is_stale,
                                      .used = true};
        shadow.access_count++;
    }
    if (object)
        add_span(access, address - shadow.objects[object].address, length);
}

const struct dep_identity *dep_identity(uint32_t identity)
{
    static const struct dep_identity other;

    return identity ? &shadow.identities[identity] : &other;
}

const struct dep_access *dep_accesses(uint32_t *count)
{
    *count = shadow.access_room;
    return shadow.accesses;
}
