#include "instrument/driver/taken.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "common/arena.h"
#include "common/map.h"
#include "instrument/driver/arguments.h"
#include "program/link_record.h"

struct mention {
    unsigned count; /* of files by that name */
    bool seen;
};
MAP_DEFINE_STRING(mentions, struct mention);

static const char blanks[] = " \t\r\n";

/* What maps call it, without directories. */
static const char *member_key(struct arena *arena, const struct link_input *input,
                              const struct link_member *member)
{
    return arena_printf(arena, "%s(%s)", path_name(input->path), path_name(member->name));
}

/* Whether the map can tell of it. */
static bool is_told(const struct link_member *member, const char *key)
{
    return member->taken == LINK_TAKEN_UNKNOWN && member->kind == LINK_OBJECT &&
           !key[strcspn(key, blanks)];
}

/* All that the map may mention: members, and whatever else bears the name of one of a thin archive.
 */
static void expect(struct mentions *mentions, struct arena *arena, const struct link_input *input)
{
    if (!link_is_archive(input))
        mentions_put(mentions, path_name(input->path))->count++;
    for (size_t m = 0; m < input->members.length; m++) {
        const struct link_member *member = &input->members.data[m];
        mentions_put(mentions, member_key(arena, input, member))->count++;
        if (input->kind == LINK_THIN)
            mentions_put(mentions, path_name(member->name))->count++;
    }
}

/* One word of the map: "DIRECTORY/libx.a(y.o):(.text)", "DIRECTORY/y.o", or anything. */
static void see(struct mentions *mentions, const char *word, size_t length)
{
    char key[NAME_MAX];
    const char *open = memchr(word, '(', length);
    const char *close = open ? memchr(open, ')', length - (size_t)(open - word)) : NULL;
    const char *end = close ? close + 1 : word + length;
    const char *slash = memrchr(word, '/', (size_t)((close ? open : end) - word));
    const char *start = slash ? slash + 1 : word;
    size_t size = (size_t)(end - start);
    if (size >= sizeof(key))
        return;
    memcpy(key, start, size);
    key[size] = '\0';
    struct mention *mention = mentions_get(mentions, key);
    if (mention)
        mention->seen = true;
}

static void judge(const struct mentions *mentions, struct arena *arena,
                  const struct link_input *input, struct link_member *member)
{
    const char *key = member_key(arena, input, member);
    struct mention mention = *mentions_get(mentions, key);
    if (!is_told(member, key) || strlen(key) >= NAME_MAX)
        return;
    if (input->kind == LINK_THIN && !mention.seen)
        mention = *mentions_get(mentions, path_name(member->name));
    if (!mention.seen)
        member->taken = LINK_TAKEN_NO;
    else if (mention.count == 1)
        member->taken = LINK_TAKEN_YES;
}

void taken_read(struct link_record *record, struct arena *arena, const char *map, size_t size)
{
    struct mentions mentions = MAP_INIT;
    const char *end = map + size;
    for (size_t i = 0; i < record->inputs.length; i++)
        expect(&mentions, arena, &record->inputs.data[i]);
    while (map < end) {
        size_t length = strcspn(map, blanks); /* a NUL stands at the end */
        see(&mentions, map, length);
        map += length;
        map += map < end ? 1 : 0;
    }
    for (size_t i = 0; i < record->inputs.length; i++) {
        struct link_members *members = &record->inputs.data[i].members;
        for (size_t m = 0; m < members->length; m++)
            judge(&mentions, arena, &record->inputs.data[i], &members->data[m]);
    }
    mentions_deinit(&mentions);
}
