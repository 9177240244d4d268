// SPDX-License-Identifier: Apache-2.0
// What a link needs, input by input. See link_needs.h.
#include "program/link_needs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/map.h"
#include "layout/section.h"
#include "program/archive.h"
#include "program/image.h"

MAP_DEFINE_U64(id_set, bool);

struct search {
    const struct image *image;
    const char *directory; // of the link, now
    struct id_set modules; // whose bitcode is in the image
    struct id_set records;
    const struct link_record *record; // the one that is looked at
    struct link_needs *needs;
};

// ---- Where things are

// The path as it is now: below the directory of the link where it was there.
static char *present_path(const struct search *search, const char *path)
{
    const char *old = search->record->directory;
    size_t length = strlen(old);

    if (path[0] != '/')
        return file_join(search->directory, path);
    if (length > 1 && strncmp(path, old, length) == 0 && path[length] == '/')
        return xasprintf("%s%s", search->directory, path + length);
    return xstrdup(path);
}

static void add(struct search *search, uint32_t input, const struct link_member *member,
                enum link_status status, char *path)
{
    const struct link_record *record = search->record;
    const char *name = input == LINK_NONE ? record->linker : record->inputs.data[input].path;
    struct link_need need = {
        .record = record, .input = input, .member = member, .status = status, .path = path};

    need.name = member ? xasprintf("%s(%s)", name, member->name) : xstrdup(name);
    link_needs_push(search->needs, need);
}

static enum link_status compare_bytes(const struct link_content *content, const void *data,
                                      size_t size)
{
    struct sha256 hash = sha256_of(data, size);

    return sha256_equal(&hash, &content->hash) ? LINK_STATUS_SAME : LINK_STATUS_DIFFERS;
}

static enum link_status compare_file(const struct link_content *content, const char *path)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(path, &bytes);

    if (err) {
        error_destroy(err);
        return LINK_STATUS_MISSING;
    }
    return compare_bytes(content, bytes.data, bytes.size);
}

// ---- Code

static bool has_ids(const struct id_set *set, const struct link_ids *ids)
{
    for (size_t i = 0; i < ids->length; i++)
        if (!id_set_get(set, ids->data[i]))
            return false;
    return true;
}

// Whether it can be made without a file: from bitcode, or from what is embedded.
static bool is_inside(const struct search *search, const struct link_content *content,
                      enum link_status *ret)
{
    *ret = content->has_hash ? LINK_STATUS_EMBEDDED : LINK_STATUS_MODEL;
    if (content->has_hash)
        return image_has_object(search->image, &content->hash);
    return has_ids(&search->modules, &content->models) &&
           has_ids(&search->records, &content->records);
}

static void need_content(struct search *search, uint32_t number)
{
    const struct link_input *input = &search->record->inputs.data[number];
    enum link_status status;

    if (is_inside(search, &input->content, &status)) {
        add(search, number, NULL, status, NULL);
        return;
    }
    // what the command itself made was a temporary file, and bitcode comes from the program alone
    bool temporary = input->kind == LINK_SOURCE || input->kind == LINK_ASSEMBLER;
    bool had = input->content.has_hash && !temporary;
    char *path = had ? present_path(search, input->path) : NULL;
    add(search, number, NULL, had ? compare_file(&input->content, path) : LINK_STATUS_MISSING,
        path);
}

// ---- Archives

VEC_DEFINE(archive_members, struct archive_member);

struct open_archive {
    struct arena arena;
    struct file_bytes bytes;
    char *path;
    struct archive_members members; // none where the file is missing, or no archive
};

static void open_archive(const struct search *search, const char *path, struct open_archive *ret)
{
    struct archive archive;
    struct archive_member member;

    *ret = (struct open_archive){.path = present_path(search, path)};
    arena_init(&ret->arena);
    struct error *err = file_map(ret->path, &ret->bytes);
    if (!err && archive_is(ret->bytes.data, ret->bytes.size)) {
        archive_init(&archive, ret->path, ret->bytes.data, ret->bytes.size);
        while (archive_next(&archive, &ret->arena, &member))
            archive_members_push(&ret->members, member);
    }
    error_destroy(err);
}

static void close_archive(struct open_archive *archive)
{
    archive_members_deinit(&archive->members);
    file_bytes_deinit(&archive->bytes);
    arena_deinit(&archive->arena);
    free(archive->path);
}

static enum link_status compare_member(const struct link_member *wanted,
                                       const struct archive_member *found)
{
    if (found->path)
        return compare_file(&wanted->content, found->path);
    return compare_bytes(&wanted->content, found->data, found->size);
}

// The member of this name; of several the one that is the same.
static enum link_status find_member(const struct open_archive *archive,
                                    const struct link_member *wanted)
{
    enum link_status status = LINK_STATUS_MISSING;

    for (size_t i = 0; i < archive->members.length && status != LINK_STATUS_SAME; i++)
        if (strcmp(archive->members.data[i].name, wanted->name) == 0)
            status = compare_member(wanted, &archive->members.data[i]);
    return status;
}

static void need_members(struct search *search, uint32_t number)
{
    const struct link_input *input = &search->record->inputs.data[number];
    struct open_archive archive;

    open_archive(search, input->path, &archive);
    for (size_t m = 0; m < input->members.length; m++) {
        const struct link_member *member = &input->members.data[m];
        enum link_status status;
        bool inside = is_inside(search, &member->content, &status);
        // of a module that is not in the program nothing was taken
        if (member->taken == LINK_TAKEN_NO ||
            (!inside && !member->content.has_hash && member->taken == LINK_TAKEN_UNKNOWN))
            continue;
        bool file = !inside && member->content.has_hash;
        if (!inside)
            status = file ? find_member(&archive, member) : LINK_STATUS_MISSING;
        add(search, number, member, status, file ? xstrdup(archive.path) : NULL);
    }
    close_archive(&archive);
}

// ---- Libraries and tools

static enum link_status compare_build_id(const char *build_id, const char *path)
{
    if (access(path, R_OK) != 0)
        return LINK_STATUS_MISSING;
    _cleanup_free_ char *found = image_build_id_of(path);
    return found && strcmp(found, build_id) == 0 ? LINK_STATUS_SAME : LINK_STATUS_DIFFERS;
}

// By path, then as the program finds it when it runs.
static void need_library(struct search *search, uint32_t number)
{
    const struct link_input *input = &search->record->inputs.data[number];
    char *path = present_path(search, input->path);
    enum link_status status = input->build_id ? compare_build_id(input->build_id, path)
                                              : compare_file(&input->content, path);
    char *other = status != LINK_STATUS_SAME && input->soname
                      ? image_find_needed(search->image, input->soname)
                      : NULL;

    if (other) {
        enum link_status there = input->build_id ? compare_build_id(input->build_id, other)
                                                 : compare_file(&input->content, other);
        if (there < status) {
            char *before = path;
            path = other;
            other = before;
            status = there;
        }
    }
    free(other);
    add(search, number, NULL, status, path);
}

static void need_linker(struct search *search)
{
    const struct link_record *record = search->record;
    char *path = present_path(search, record->linker);
    enum link_status status = access(path, X_OK) == 0 ? LINK_STATUS_SAME : LINK_STATUS_MISSING;

    if (status == LINK_STATUS_SAME && *record->linker_build_id)
        status = compare_build_id(record->linker_build_id, path);
    add(search, LINK_NONE, NULL, status, path);
}

// ---- All of it

static void need_input(struct search *search, uint32_t number)
{
    const struct link_input *input = &search->record->inputs.data[number];

    switch (input->kind) {
    case LINK_ARCHIVE:
    case LINK_THIN:
        need_members(search, number);
        break;
    case LINK_SHARED:
    case LINK_PLUGIN:
        need_library(search, number);
        break;
    case LINK_UNREAD:
        add(search, number, NULL, LINK_STATUS_MISSING, NULL);
        break;
    default:
        need_content(search, number);
        break;
    }
}

static void need_link(struct search *search, const struct link_record *record,
                      const char *directory)
{
    search->record = record;
    search->directory = directory ? directory : *record->directory ? record->directory : ".";
    need_linker(search);
    for (size_t i = 0; i < record->inputs.length; i++)
        need_input(search, (uint32_t)i);
}

static void collect_ids(struct search *search)
{
    const struct image *image = search->image;

    for (uint32_t f = 0; f < image->frame_count; f++) {
        const struct image_frame *frame = &image->frames[f];
        struct section_module module;
        if (frame->kind != SECTION_KIND_MODULE || frame->length < sizeof(module))
            continue;
        memcpy(&module, frame->payload, sizeof(module));
        *id_set_put(&search->modules, module.module_id) = true;
    }
    for (uint32_t l = 0; l < image->link_count; l++)
        *id_set_put(&search->records, image->links[l].id) = true;
}

struct error *link_needs_find(const struct image *image, const char *directory,
                              struct link_needs *ret)
{
    const struct image_link *final = image_final_link(image);
    struct search search = {.image = image, .needs = ret};

    if (!final)
        return error_create_file(ERROR_NOT_FOUND, image->path,
                                 "no record of the link: was it linked with inquest-cc?");
    *ret = (struct link_needs)VEC_INIT;
    collect_ids(&search);
    need_link(&search, &final->record, directory);
    for (uint32_t l = 0; l < image->link_count; l++)
        if (&image->links[l] != final)
            need_link(&search, &image->links[l].record, directory);
    id_set_deinit(&search.modules);
    id_set_deinit(&search.records);
    return NULL;
}

void link_needs_destroy(struct link_needs *needs)
{
    for (size_t i = 0; i < needs->length; i++) {
        free(needs->data[i].name);
        free(needs->data[i].path);
    }
    link_needs_deinit(needs);
}

const char *link_status_name(enum link_status status)
{
    static const char *const names[LINK_STATUS_COUNT] = {
        [LINK_STATUS_MODEL] = "model",     [LINK_STATUS_EMBEDDED] = "embedded",
        [LINK_STATUS_SAME] = "same",       [LINK_STATUS_DIFFERS] = "differs",
        [LINK_STATUS_MISSING] = "missing",
    };

    return names[status];
}

const char *link_need_advice(const struct link_need *need)
{
    const struct link_input *input =
        need->input == LINK_NONE ? NULL : &need->record->inputs.data[need->input];
    const struct link_content *content = need->member ? &need->member->content
                                         : input      ? &input->content
                                                      : NULL;

    if (!input)
        return "install the linker that the program was linked with, or accept another";
    if (input->kind == LINK_SHARED || input->kind == LINK_PLUGIN)
        return "install the version of the library that the program was linked with";
    if (input->kind == LINK_UNREAD)
        return "inquest-cc could not look into it: give it as a regular file and link again";
    if (!content->has_hash)
        return "its model has been taken out of the program: use the file that has it";
    if (input->origin == LINK_TOOLCHAIN)
        return "install the version of the package that the program was linked with, or link it "
               "again with -finquest-embed-objects";
    return "put the file back, or link the program again with -finquest-embed-objects";
}
