/* Members of archives, and the libraries that shared libraries need. See link_walk.h. */
#include <string.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/error.h"
#include "instrument/driver/link_walk.h"

/* Archives. */

/* The bytes of a member that lies outside of its archive, which is a thin one. */
static void map_thin_member(struct walk *walk, struct archive_member *member)
{
    struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(member->path, &bytes);
    if (err) {
        error_destroy(err);
        return;
    }
    file_list_push(&walk->inputs->files, bytes);
    member->data = bytes.data;
    member->size = bytes.size;
}

static void read_member(struct walk *walk, struct walk_archive *archive, struct walk_member *member)
{
    struct object *object = &member->object;
    if (member->file.path)
        map_thin_member(walk, &member->file);
    if (member->file.data)
        object_read(object, walk->arena, member->file.data, member->file.size);
    /* An archive within a thin one, or one that is not there. Other files are never linked. */
    if (!member->file.data || archive_is(member->file.data, member->file.size))
        object->kind = OBJECT_CODE, object->modelless = object->opaque = true;
    member->extraction =
        extraction_add_member(&walk->extraction, &object->defined, &object->wanted);
    walk->extraction.all |= object->opaque || object->kind == OBJECT_BITCODE;
    if (object->outdated)
        walk->inputs->outdated = walk->record->inputs.data[archive->input].path;
}

/* Of an archive all members count, whichever are taken. */
static void sum_up(struct walk *walk, const struct walk_archive *archive, bool damaged)
{
    struct link_input *input = &walk->record->inputs.data[archive->input];
    struct name_set known = MAP_INIT;
    input->modelless = input->opaque = damaged;
    for (size_t m = 0; m < archive->members.length; m++) {
        const struct object *object = &archive->members.data[m].object;
        input->modelless |= object->modelless;
        input->opaque |= object->opaque;
        for (size_t i = 0; i < object->undefined.length; i++) {
            bool is_new = false;
            name_set_put_new(&known, object->undefined.data[i], &is_new);
            if (is_new)
                link_names_push(&input->undefined, object->undefined.data[i]);
        }
    }
    name_set_deinit(&known);
}

void walk_read_archive(struct walk *walk, uint32_t input, const char *path,
                       const unsigned char *data, size_t size)
{
    struct walk_archive found = {.input = input, .members = VEC_INIT};
    struct archive archive;
    struct archive_member file;
    archive_init(&archive, path, data, size);
    while (archive_next(&archive, walk->arena, &file)) {
        struct walk_member member = {.file = file, .object = OBJECT_INIT};
        read_member(walk, &found, &member);
        walk_members_push(&found.members, member);
    }
    walk->record->inputs.data[input].kind = archive.thin ? LINK_THIN : LINK_ARCHIVE;
    walk->extraction.all |= archive.damaged;
    sum_up(walk, &found, archive.damaged);
    walk_archives_push(&walk->archives, found);
}

void walk_note_whole(struct walk *walk, uint32_t input)
{
    for (size_t i = 0; walk->state.whole && i < walk->archives.length; i++) {
        if (walk->archives.data[i].input == input)
            walk->archives.data[i].whole = true;
    }
}

static void want_all(struct walk *walk, const struct walk_archive *archive)
{
    for (size_t m = 0; archive->whole && m < archive->members.length; m++) {
        const struct arguments *wanted = &archive->members.data[m].object.wanted;
        for (size_t i = 0; i < wanted->length; i++)
            extraction_want(&walk->extraction, wanted->data[i]);
    }
}

static void add_member(struct walk *walk, const struct walk_archive *archive,
                       struct walk_member *member)
{
    struct link_member *added = link_input_add_member(
        &walk->record->inputs.data[archive->input], member->file.number,
        member->object.kind == OBJECT_BITCODE ? LINK_BITCODE : LINK_OBJECT, member->file.name);
    added->taken = archive->whole ? LINK_TAKEN_YES : LINK_TAKEN_UNKNOWN;
    walk->inputs->members_open |= !archive->whole;
    added->content = member->object.content;
    member->object.content = (struct link_content){0};
    if (member->object.modelless && member->file.data)
        walk_hash(walk, &added->content, member->file.data, member->file.size, LINK_EMBED_ASKED);
}

void walk_choose_members(struct walk *walk)
{
    for (size_t a = 0; a < walk->archives.length; a++)
        want_all(walk, &walk->archives.data[a]);
    extraction_close(&walk->extraction, walk->arena);
    for (size_t a = 0; a < walk->archives.length; a++) {
        struct walk_archive *archive = &walk->archives.data[a];
        for (size_t m = 0; m < archive->members.length; m++) {
            struct walk_member *member = &archive->members.data[m];
            if (member->object.kind != OBJECT_OTHER &&
                (archive->whole || extraction_may_take(&walk->extraction, member->extraction)))
                add_member(walk, archive, member);
        }
    }
}

/* Shared libraries that others need. */

static bool is_known(const struct walk *walk, const char *name)
{
    for (size_t i = 0; i < walk->record->inputs.length; i++) {
        const struct link_input *input = &walk->record->inputs.data[i];
        if (input->kind == LINK_SHARED &&
            strcmp(input->soname ? input->soname : path_name(input->path), name) == 0)
            return true;
    }
    return false;
}

static const char *find_in(const struct walk *walk, const char *directory, const char *name)
{
    const char *path = arena_printf(walk->arena, "%s/%s", directory, name);
    return access(path, F_OK) == 0 ? path : NULL;
}

static const char *find_in_all(const struct walk *walk, const struct arguments *directories,
                               const char *name)
{
    const char *path = NULL;
    for (size_t i = 0; !path && i < directories->length; i++)
        path = find_in(walk, directories->data[i], name);
    return path;
}

/* $ORIGIN is the directory of the library that needs it. */
static const char *find_beside(const struct walk *walk, const struct walk_needed *needed)
{
    static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
    const char *path = NULL;
    for (size_t i = 0; !path && i < needed->search.length; i++) {
        const char *directory = needed->search.data[i];
        for (size_t w = 0; w < 2; w++) {
            if (has_prefix(directory, words[w]))
                directory =
                    arena_printf(walk->arena, "%s%s", needed->origin, directory + strlen(words[w]));
        }
        path = find_in(walk, directory, needed->name);
    }
    return path;
}

/* As GNU ld searches, in what clang names of the system's directories. */
static const char *find_needed(const struct walk *walk, const struct walk_needed *needed)
{
    if (strchr(needed->name, '/'))
        return access(needed->name, F_OK) == 0 ? needed->name : NULL;
    const char *path = find_in_all(walk, &walk->library_directories, needed->name);
    if (!path)
        path = find_beside(walk, needed);
    return path ? path : find_in_all(walk, &walk->directories, needed->name);
}

/* The list grows while it is read. What is not found the linker does without. */
void walk_read_needed(struct walk *walk)
{
    for (size_t i = 0; i < walk->needed.length; i++) {
        struct walk_needed needed = walk->needed.data[i];
        const char *path = is_known(walk, needed.name) ? NULL : find_needed(walk, &needed);
        walk->within = needed.input;
        if (path)
            walk_read_file(walk, path, false);
    }
    walk->within = LINK_NONE;
}
