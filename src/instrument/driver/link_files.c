/* What the files of a link are. See link_walk.h. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/error.h"
#include "instrument/driver/link_walk.h"
#include "instrument/driver/prefix_map.h"

#define LINKS_MAX   16                    /* symbolic ones, one after another */
#define UNASKED_MAX ((size_t)1024 * 1024) /* of what is embedded without being asked for */

const char *walk_mapped(const struct walk *walk, const char *path)
{
    return prefix_map_path(walk->inputs->map, walk->arena, path);
}

static uint32_t add_input(struct walk *walk, enum link_kind kind, const char *path, bool user)
{
    struct link_input *input = link_record_add_input(
        walk->record, kind, user ? LINK_USER : LINK_TOOLCHAIN, walk_mapped(walk, path));
    input->within = walk->within;
    return (uint32_t)walk->record->inputs.length - 1;
}

static struct link_input *input_at(struct walk *walk, uint32_t number)
{
    return &walk->record->inputs.data[number];
}

/* It may hold any code, and refer to anything. */
static void set_opaque(struct walk *walk, uint32_t number)
{
    input_at(walk, number)->modelless = true;
    input_at(walk, number)->opaque = true;
    walk->extraction.all = true;
}

uint32_t walk_add_missing(struct walk *walk, const char *name, bool user)
{
    uint32_t number = add_input(walk, LINK_UNREAD, name, user);
    set_opaque(walk, number);
    return number;
}

/* Contents. */

void walk_hash(struct walk *walk, struct link_content *content, const unsigned char *data,
               size_t size, enum link_embedding embedding)
{
    struct link_body body = {data, size, sha256_of(data, size), embedding};
    char text[SHA256_TEXT_SIZE];
    bool is_new = false;
    content->has_hash = true;
    content->hash = body.hash;
    content->size = size;
    sha256_format(&body.hash, text);
    name_set_put_new(&walk->hashes, arena_strdup(walk->arena, text), &is_new);
    if (is_new)
        link_bodies_push(&walk->inputs->bodies, body);
}

static void want(struct walk *walk, const struct arguments *names)
{
    for (size_t i = 0; i < names->length; i++)
        extraction_want(&walk->extraction, names->data[i]);
}

static void note_needed(struct walk *walk, uint32_t number, const char *path,
                        const struct object *object)
{
    const char *name = path_name(path);
    const char *origin =
        name == path ? "." : arena_strndup(walk->arena, path, (size_t)(name - path));
    for (size_t i = 0; i < object->needed.length; i++) {
        struct walk_needed needed = {number, object->needed.data[i], origin, VEC_INIT};
        arguments_append(&needed.search, object->search.data, object->search.length);
        walk_needed_list_push(&walk->needed, needed);
    }
}

void walk_take_object(struct walk *walk, uint32_t number, const char *path, struct object *object)
{
    struct link_input *input = input_at(walk, number);
    input->content = object->content;
    object->content = (struct link_content){0};
    input->modelless = object->modelless;
    input->opaque = object->opaque;
    input->soname = object->soname;
    input->build_id = object->build_id;
    link_names_append(&input->undefined, object->undefined.data, object->undefined.length);
    want(walk, &object->wanted);
    note_needed(walk, number, path, object);
    walk->extraction.all |= object->opaque || object->kind == OBJECT_BITCODE;
    if (object->outdated)
        walk->inputs->outdated = input->path;
}

/* Files. */

/* A regular file, mapped until the record is written. */
static bool map_file(struct walk *walk, const char *path, struct file_bytes *ret)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    struct error *err = file_map(path, ret);
    if (err) {
        error_destroy(err);
        return false;
    }
    file_list_push(&walk->inputs->files, *ret);
    return true;
}

/* Where the file's own symbolic links lead; those among its directories stay, as maps know them. */
static const char *resolve(struct walk *walk, const char *path)
{
    char target[PATH_MAX];
    const char *at = path;
    for (unsigned i = 0; i < LINKS_MAX; i++) {
        ssize_t length = readlink(at, target, sizeof(target) - 1);
        if (length <= 0)
            break;
        target[length] = '\0';
        int directory = target[0] == '/' ? 0 : (int)(path_name(at) - at);
        at = arena_printf(walk->arena, "%.*s%s", directory, at, target);
    }
    return at == path ? NULL : walk_mapped(walk, at);
}

/* Whether the file is still to be looked into; its number and its bytes. */
static bool open_file(struct walk *walk, const char *path, bool user, uint32_t *ret_number,
                      struct file_bytes *ret_bytes)
{
    const uint32_t *known = input_numbers_get(&walk->done, path);
    if (known) {
        *ret_number = *known - 1;
        return false;
    }
    uint32_t number = *ret_number = add_input(walk, LINK_UNREAD, path, user);
    *input_numbers_put(&walk->done, path) = number + 1;
    if (map_file(walk, path, ret_bytes)) {
        input_at(walk, number)->resolved = resolve(walk, path);
        return true;
    }
    if (access(path, F_OK) == 0) /* else the linker will say so */
        set_opaque(walk, number);
    return false;
}

/* What nobody can get elsewhere is embedded unasked, unless it is large. */
static enum link_embedding embedding_of(const struct walk *walk, const struct link_input *input,
                                        size_t size)
{
    bool script = input->kind == LINK_SCRIPT && input->origin == LINK_USER;
    if (input->kind == LINK_SHARED || input->kind == LINK_PLUGIN)
        return LINK_EMBED_NEVER;
    return (script || walk->makes) && size <= UNASKED_MAX ? LINK_EMBED_ALWAYS : LINK_EMBED_ASKED;
}

static void read_object(struct walk *walk, uint32_t number, const char *path,
                        const struct file_bytes *bytes)
{
    static const enum link_kind kinds[] = {
        [OBJECT_CODE] = LINK_OBJECT,
        [OBJECT_SHARED] = LINK_SHARED,
        [OBJECT_BITCODE] = LINK_BITCODE,
        [OBJECT_OTHER] = LINK_SCRIPT,
    };
    struct object object = OBJECT_INIT;
    object_read(&object, walk->arena, bytes->data, bytes->size);
    struct link_input *input = input_at(walk, number);
    input->kind = kinds[object.kind];
    walk_take_object(walk, number, path, &object);
    if (object_is_needed(&object))
        walk_hash(walk, &input->content, bytes->data, bytes->size,
                  embedding_of(walk, input, bytes->size));
    object_deinit(&object);
}

uint32_t walk_read_file(struct walk *walk, const char *path, bool user)
{
    struct file_bytes bytes;
    uint32_t number = 0;
    if (!open_file(walk, path, user, &number, &bytes))
        return number;
    if (walk->binary) {
        input_at(walk, number)->kind = LINK_DATA;
        walk_hash(walk, &input_at(walk, number)->content, bytes.data, bytes.size, LINK_EMBED_ASKED);
    } else if (archive_is(bytes.data, bytes.size)) {
        walk_read_archive(walk, number, path, bytes.data, bytes.size);
    } else {
        read_object(walk, number, path, &bytes);
        if (input_at(walk, number)->kind == LINK_SCRIPT)
            walk_read_script(walk, &bytes, number, user);
    }
    return number;
}

uint32_t walk_read_option_file(struct walk *walk, const char *path, enum link_kind kind, bool user)
{
    struct file_bytes bytes;
    uint32_t number = 0;
    if (!open_file(walk, path, user, &number, &bytes))
        return number;
    struct link_input *input = input_at(walk, number);
    input->kind = kind;
    if (kind == LINK_PLUGIN)
        input->build_id = object_build_id(walk->arena, bytes.data, bytes.size);
    if (!input->build_id)
        walk_hash(walk, &input->content, bytes.data, bytes.size,
                  embedding_of(walk, input, bytes.size));
    return number;
}
