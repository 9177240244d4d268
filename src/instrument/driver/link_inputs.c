/* A linker's arguments, one after another. See link_inputs.h. */
#include "instrument/driver/link_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/arena.h"
#include "instrument/driver/link_walk.h"
#include "instrument/driver/prefix_map.h"
#include "instrument/driver/request.h"

/* Arguments in the record. */

static void add_argument(struct walk *walk, const char *text)
{
    const char *mapped = prefix_map_argument(walk->inputs->map, walk->arena, text);
    link_arguments_vec_push(&walk->record->arguments,
                            (struct link_argument){mapped, LINK_NONE, ""});
}

static void add_input_argument(struct walk *walk, const char *text, uint32_t input,
                               const char *before)
{
    const char *mapped = prefix_map_argument(walk->inputs->map, walk->arena, text);
    link_arguments_vec_push(&walk->record->arguments,
                            (struct link_argument){mapped, input, before});
}

/* Whose an argument is. */

static bool is_user(const struct walk *walk, const char *argument)
{
    return name_set_get(&walk->user, argument) != NULL;
}

static void find_user_arguments(struct walk *walk)
{
    const struct arguments *user = &walk->inputs->request->given;
    for (size_t i = 0; i < user->length; i++) {
        const char *argument = user->data[i];
        *name_set_put(&walk->user, argument) = true;
        if (strcmp(argument, "-l") == 0 && i + 1 < user->length)
            *name_set_put(&walk->user, arena_printf(walk->arena, "-l%s", user->data[i + 1])) = true;
        if (!has_prefix(argument, "-Wl,"))
            continue;
        char *rest = arena_strdup(walk->arena, argument + strlen("-Wl,"));
        for (const char *piece; (piece = strsep(&rest, ","));)
            *name_set_put(&walk->user, piece) = true;
    }
}

/*
 * The source of a temporary object (NAME-012345.o, as clang names them) without its suffix. For
 * command lines that are too long for clang to say beforehand what it will make.
 */
static const char *temporary_source(const struct walk *walk, const char *argument)
{
    const char *name = path_name(argument);
    size_t length = strlen(name);
    static const char pattern[] = "-012345.o";
    if (is_user(walk, argument) || name == argument || length < sizeof(pattern))
        return NULL;
    const char *end = name + length + 1 - sizeof(pattern);
    if (*end != '-' || strspn(end + 1, "0123456789abcdef") != 6 || strcmp(end + 7, ".o") != 0)
        return NULL;
    return arena_printf(walk->arena, "%s%.*s", REQUEST_SOURCE, (int)(end - name), name);
}

/* What the command itself made of a source, or NULL. */
static const char *made_from(const struct walk *walk, size_t index)
{
    const struct arguments *made = &walk->inputs->request->made;
    if (made->length != walk->inputs->arguments->length)
        return temporary_source(walk, walk->inputs->arguments->data[index]);
    return *made->data[index] ? made->data[index] : NULL;
}

/* Options. */

static void set_state(struct walk *walk, const char *argument)
{
    static const struct {
        const char *name;
        bool sets_whole; /* else whether archives alone are looked for */
        bool value;
    } states[] = {
        {"Bstatic", false, true},          {"dn", false, true},
        {"non_shared", false, true},       {"static", false, true},
        {"Bdynamic", false, false},        {"dy", false, false},
        {"call_shared", false, false},     {"whole-archive", true, true},
        {"no-whole-archive", true, false},
    };
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        if (!walk_is_option(argument, states[i].name))
            continue;
        if (states[i].sets_whole)
            walk->state.whole = states[i].value;
        else
            walk->state.archives_only = states[i].value;
    }
    if (walk_is_option(argument, "push-state") && walk->state_count < WALK_STATES_MAX)
        walk->states[walk->state_count++] = walk->state;
    else if (walk_is_option(argument, "pop-state") && walk->state_count > 0)
        walk->state = walk->states[--walk->state_count];
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The input that an option names; LINK_NONE: it names none. */
static uint32_t read_named(struct walk *walk, const struct option *option, bool user)
{
    switch (option->use) {
    case OPTION_LIBRARY:
        return walk_read_library(walk, option->value, user);
    case OPTION_FILE:
        return walk_read_option_file(walk, walk_find_script(walk, option->value), LINK_SCRIPT,
                                     user);
    case OPTION_COMMANDS:
        return walk_add_missing(walk, option->value, user);
    case OPTION_PLUGIN:
        return walk_read_option_file(walk, option->value, LINK_PLUGIN, user);
    case OPTION_SCRIPT:
        return walk_read_file(walk, walk_find_script(walk, option->value), user);
    case OPTION_OBJECT:
        if (!is_directory(option->value))
            return walk_read_file(walk, option->value, user);
        return LINK_NONE;
    default:
        return LINK_NONE;
    }
}

static void heed_option(struct walk *walk, const struct option *option)
{
    switch (option->use) {
    case OPTION_FORMAT:
        walk->binary = strcmp(option->value, "binary") == 0;
        break;
    case OPTION_SYMBOL:
        extraction_want(&walk->extraction, option->value);
        break;
    case OPTION_EXPRESSION:
        walk_want_words(walk, option->value);
        break;
    case OPTION_WRAP:
        walk->extraction.wraps = true;
        break;
    case OPTION_ANY_SYMBOL:
        walk->extraction.all = true;
        break;
    case OPTION_OUTPUT:
        walk->record->output = walk_mapped(walk, option->value);
        break;
    default:
        break;
    }
}

/* -l NAME in two arguments, or in one: the whole stands for the path. */
static void add_library_argument(struct walk *walk, const struct option *option, uint32_t input)
{
    walk_note_whole(walk, input);
    add_input_argument(walk, arena_printf(walk->arena, "-l%s", option->value), input, "");
}

static void read_option(struct walk *walk, size_t *index)
{
    const char *argument = walk->inputs->arguments->data[*index];
    struct option option = walk_option(walk->inputs->arguments, *index);
    *index += option.is_next;
    if (!option.value) {
        set_state(walk, argument);
        add_argument(walk, argument);
        return;
    }
    bool user = is_user(walk, argument) || (option.is_next && is_user(walk, option.value));
    uint32_t input = read_named(walk, &option, user);
    heed_option(walk, &option);
    if (input != LINK_NONE && option.use == OPTION_LIBRARY) {
        add_library_argument(walk, &option, input);
        return;
    }
    if (option.is_next)
        add_argument(walk, argument);
    const char *text = option.is_next ? option.value : argument;
    if (input == LINK_NONE)
        add_argument(walk, text);
    else
        add_input_argument(walk, text, input, arena_strndup(walk->arena, argument, option.before));
}

static void add_library_directories(struct walk *walk, const char *paths)
{
    char *rest = arena_strdup(walk->arena, paths);
    for (const char *path; (path = strsep(&rest, ":"));) {
        if (*path)
            arguments_push(&walk->library_directories, path);
    }
}

/* Directories count for all libraries, wherever they stand. */
static void find_directories(struct walk *walk)
{
    const struct arguments *arguments = walk->inputs->arguments;
    for (size_t i = 0; i < arguments->length; i++) {
        struct option option =
            arguments->data[i][0] == '-' ? walk_option(arguments, i) : (struct option){0};
        i += option.is_next;
        if (!option.value)
            continue;
        if (option.use == OPTION_SYSROOT)
            walk->sysroot = option.value;
        else if (option.use == OPTION_DIRECTORY)
            arguments_push(&walk->directories, option.value);
        else if (option.use == OPTION_RUN_PATH)
            add_library_directories(walk, option.value);
    }
    const char *environment = getenv("LD_LIBRARY_PATH"); /* GNU ld's, too */
    add_library_directories(walk, environment ? environment : "");
    for (size_t i = 0; i < walk->directories.length; i++)
        walk->directories.data[i] = walk_in_sysroot(walk, walk->directories.data[i]);
}

/* Inputs. */

/* An object that the command made: its own name is a temporary one. */
static void read_made(struct walk *walk, const char *path, const char *made)
{
    bool assembled = has_prefix(made, REQUEST_ASSEMBLER);
    const char *source =
        walk_mapped(walk, made + strlen(assembled ? REQUEST_ASSEMBLER : REQUEST_SOURCE));
    walk->makes = true;
    uint32_t number = walk_read_file(walk, path, true);
    walk->makes = false;
    struct link_input *input = &walk->record->inputs.data[number];
    if (input->kind == LINK_OBJECT || input->kind == LINK_BITCODE)
        input->kind = assembled ? LINK_ASSEMBLER : LINK_SOURCE;
    input->path = source;
    link_arguments_vec_push(&walk->record->arguments, (struct link_argument){source, number, ""});
}

static void read_input(struct walk *walk, size_t index)
{
    const char *argument = walk->inputs->arguments->data[index];
    const char *made = made_from(walk, index);
    if (made) {
        read_made(walk, argument, made);
        return;
    }
    uint32_t number = walk_read_file(walk, argument, is_user(walk, argument));
    walk_note_whole(walk, number);
    add_input_argument(walk, argument, number, "");
}

/* What we add stands before the first input of the user's. */
static bool begins_inputs(const struct walk *walk, size_t index)
{
    const char *argument = walk->inputs->arguments->data[index];
    bool option = argument[0] == '-' && argument[1];
    return !option && (made_from(walk, index) || is_user(walk, argument));
}

static void read_added(struct walk *walk)
{
    const struct arguments *given = walk->inputs->arguments;
    walk->inputs->arguments = walk->inputs->added;
    for (size_t i = 0; i < walk->inputs->added->length; i++) {
        const char *argument = walk->inputs->added->data[i];
        if (argument[0] == '-')
            read_option(walk, &i);
        else
            read_input(walk, i);
    }
    walk->inputs->arguments = given;
}

static void read_arguments(struct walk *walk)
{
    const struct arguments *arguments = walk->inputs->arguments;
    bool added = false;
    for (size_t i = 0; i < arguments->length; i++) {
        const char *argument = arguments->data[i];
        if (!added && begins_inputs(walk, i)) {
            walk->inputs->position = i;
            added = true;
            read_added(walk);
        }
        if (argument[0] == '-' && argument[1])
            read_option(walk, &i);
        else
            read_input(walk, i);
    }
    if (added)
        return;
    walk->inputs->position = arguments->length;
    read_added(walk);
}

static void walk_deinit(struct walk *walk)
{
    for (size_t a = 0; a < walk->archives.length; a++) {
        struct walk_members *members = &walk->archives.data[a].members;
        for (size_t m = 0; m < members->length; m++)
            object_deinit(&members->data[m].object);
        walk_members_deinit(members);
    }
    walk_archives_deinit(&walk->archives);
    for (size_t i = 0; i < walk->needed.length; i++)
        arguments_deinit(&walk->needed.data[i].search);
    walk_needed_list_deinit(&walk->needed);
    arguments_deinit(&walk->directories);
    arguments_deinit(&walk->library_directories);
    name_set_deinit(&walk->user);
    name_set_deinit(&walk->hashes);
    input_numbers_deinit(&walk->done);
    extraction_deinit(&walk->extraction);
}

void link_inputs_read(struct link_inputs *inputs, struct link_record *record)
{
    static const char *const entries[] = {"_start", "_init", "_fini"};
    struct walk walk = {
        .inputs = inputs,
        .arena = inputs->arena,
        .record = record,
        .sysroot = "",
        .within = LINK_NONE,
        .extraction = EXTRACTION_INIT,
    };
    for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++)
        extraction_want(&walk.extraction, entries[i]);
    find_user_arguments(&walk);
    find_directories(&walk);
    read_arguments(&walk);
    walk_read_needed(&walk);
    walk_choose_members(&walk);
    walk_deinit(&walk);
}

void link_inputs_deinit(struct link_inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.length; i++)
        file_bytes_deinit(&inputs->files.data[i]);
    file_list_deinit(&inputs->files);
    link_bodies_deinit(&inputs->bodies);
}
