#include "instrument/driver/linker.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "instrument/driver/arguments.h"
#include "instrument/driver/collector.h"
#include "instrument/driver/link_inputs.h"
#include "instrument/driver/link_object.h"
#include "instrument/driver/object.h"
#include "instrument/driver/plugin.h"
#include "instrument/driver/prefix_map.h"
#include "instrument/driver/process.h"
#include "instrument/driver/request.h"
#include "instrument/driver/taken.h"
#include "program/link_record.h"

#define PLAIN_NAME  "ld"
#define LLD_NAME    "ld.lld" /* clang goes by this name where it decides on options for -flto */
#define WHY_EXTRACT "why-extract"

struct linker {
    struct arena arena;
    struct request request;
    struct arguments arguments; /* clang's, response files expanded */
    struct arguments added;     /* ours, but for the record */
    struct prefix_map map;
    struct link_inputs inputs;
    struct link_record record;
    struct strbuf frame;        /* the record, as it was written */
    const char *object;         /* path of the object with it, or NULL */
    const char *map_file;       /* what names the members that were taken, or NULL */
    const char *map_option;     /* by which the linker writes it for us; NULL: the user has it so */
    bool explains;              /* by --why-extract, which lld knows from version 13 on */
    struct collector collector; /* of lld's */
    bool collects;
    struct arguments final;
};

bool linker_is_called(const char *name)
{
    return strcmp(name, PLAIN_NAME) == 0 || strcmp(name, LLD_NAME) == 0;
}

struct error *linker_stand_in(struct arena *arena, const char *linker, const char **ret_path)
{
    const char *name = path_name(linker);
    if (process_is_self(linker))
        return error_create_file(ERROR_USAGE, linker, "inquest-cc itself is not a linker");
    bool is_lld = has_prefix(name, LLD_NAME) && strchr(".", name[strlen(LLD_NAME)]);
    return plugin_find_linker(arena, is_lld ? LLD_NAME : PLAIN_NAME, ret_path);
}

/* Of no error: nothing. */
static void warn(const struct linker *linker, struct error *err)
{
    if (err && !linker->request.warnings_off) {
        char *text = error_text(err);
        fprintf(stderr, "%s: warning: %s\n", linker->request.driver, text);
        free(text);
    }
    error_destroy(err);
}

static void fail(const struct linker *linker, struct error *err) __attribute__((__noreturn__));

/* As clang's own trouble. */
static void fail(const struct linker *linker, struct error *err)
{
    char *text = error_text(err);
    fprintf(stderr, "%s: error: %s\n", linker->request.driver, text);
    exit(1);
}

/* Options of the linker. */

/* The first argument, dashes left out, that starts with prefix, or NULL. */
static const char *find_prefix(const struct linker *linker, const char *prefix)
{
    for (size_t i = 0; i < linker->arguments.length; i++) {
        const char *argument = linker->arguments.data[i];
        size_t dashes = strspn(argument, "-");
        if (dashes && has_prefix(argument + dashes, prefix))
            return argument + dashes;
    }
    return NULL;
}

/* The value of --NAME=VALUE or --NAME VALUE, dashes one or two; NULL when it is not there. */
static const char *find_value(const struct linker *linker, const char *name)
{
    for (size_t i = 0; i < linker->arguments.length; i++) {
        const char *argument = linker->arguments.data[i];
        size_t dashes = strspn(argument, "-");
        if (!dashes || !has_prefix(argument + dashes, name))
            continue;
        const char *rest = argument + dashes + strlen(name);
        if (*rest == '=')
            return rest + 1;
        if (!*rest && i + 1 < linker->arguments.length)
            return linker->arguments.data[i + 1];
    }
    return NULL;
}

static const char *find_output(const struct linker *linker)
{
    for (size_t i = linker->arguments.length; i-- > 0;) {
        const char *argument = linker->arguments.data[i];
        if (strcmp(argument, "-o") == 0 && i + 1 < linker->arguments.length)
            return linker->arguments.data[i + 1];
    }
    const char *output = find_value(linker, "output");
    return output ? output : "a.out";
}

static bool has(const struct linker *linker, const char *argument)
{
    return arguments_contain(&linker->arguments, argument);
}

static bool is_relocatable(const struct linker *linker)
{
    return has(linker, "-r") || has(linker, "--relocatable") || has(linker, "-relocatable") ||
           has(linker, "-i");
}

/* By its name, or by what it says of itself. */
static bool is_lld(const struct linker *linker)
{
    return strstr(path_name(linker->request.linker), "lld") ||
           strstr(linker->record.linker_version, "LLD ");
}

/* Whether the linker makes code itself, from bitcode. lld does so for any input that needs it. */
static bool may_make_code(const struct linker *linker)
{
    return find_prefix(linker, "plugin-opt=") || is_lld(linker);
}

/* What we add. */

/* Whole, since nothing refers to it yet where it stands. */
static void add_runtime(struct linker *linker)
{
    const char *runtime = NULL;
    struct error *err = plugin_find_runtime(&linker->arena, &runtime);
    if (err)
        fail(linker, err);
    arguments_push(&linker->added, "--push-state");
    arguments_push(&linker->added, "--whole-archive");
    arguments_push(&linker->added, runtime);
    arguments_push(&linker->added, "--pop-state");
}

static void find_additions(struct linker *linker)
{
    const struct request *request = &linker->request;
    bool relocatable = is_relocatable(linker);
    if (!relocatable && !find_prefix(linker, "build-id"))
        arguments_push(&linker->added, "--build-id");
    if (request->has_plugin && may_make_code(linker) &&
        !find_prefix(linker, "plugin-opt=-use-unknown") && !has(linker, UNKNOWN_LOCATIONS))
        arguments_push(&linker->added, "-plugin-opt=" UNKNOWN_LOCATIONS);
    if (request->has_plugin && request->samples && !relocatable)
        add_runtime(linker);
}

/* The record. */

/* Options that map prefixes are taken out: they name what is not to be named. */
static void read_command(struct linker *linker)
{
    const struct arguments *given = &linker->request.given;
    struct arena *arena = &linker->arena;
    _cleanup_arguments_ struct arguments kept = VEC_INIT;
    for (size_t i = 0; i < given->length; i++) {
        static const char directory[] = "-fdebug-compilation-dir";
        const char *argument = given->data[i];
        if (strcmp(argument, directory) == 0 && i + 1 < given->length)
            argument = arena_printf(arena, "%s=%s", directory, given->data[++i]);
        if (!prefix_map_take(&linker->map, arena, argument))
            arguments_push(&kept, argument);
    }
    _cleanup_strbuf_ struct strbuf command = STRBUF_INIT;
    strbuf_append(&command, linker->request.driver);
    for (size_t i = 0; i < kept.length; i++) {
        strbuf_append_char(&command, ' ');
        arguments_quote_shell(prefix_map_argument(&linker->map, arena, kept.data[i]), &command);
    }
    linker->record.command = arena_strdup(arena, command.data);
}

/*
 * What the linker says of its version. lld takes long to start, and says it in the output; a script
 * in a linker's place is run once, for what it is there for.
 */
static const char *linker_version(struct linker *linker)
{
    _cleanup_close_ int answer = -1;
    _cleanup_arguments_ struct arguments question = VEC_INIT;
    const char *text = "";
    size_t size = 0;
    int status = 0;
    if (is_lld(linker))
        return "";
    struct error *err = memory_file_create("version", &answer);
    struct process_streams streams = {PROCESS_NULL, answer, PROCESS_NULL};
    arguments_push(&question, "--version");
    if (!err)
        err = process_run(&linker->arena, linker->request.linker, &question, streams, &status);
    if (!err && status == 0)
        err = memory_file_read(&linker->arena, answer, &text, &size);
    error_destroy(err);
    return arena_strndup(&linker->arena, text, strcspn(text, "\n"));
}

static void read_linker(struct linker *linker)
{
    struct link_record *record = &linker->record;
    struct arena *arena = &linker->arena;
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(linker->request.linker, &bytes);
    const char *build_id = err ? NULL : object_build_id(arena, bytes.data, bytes.size);
    error_destroy(err);
    record->compiler = linker->request.compiler;
    record->linker_build_id = build_id ? build_id : "";
    bool is_program = bytes.size > SELFMAG && memcmp(bytes.data, ELFMAG, SELFMAG) == 0;
    record->linker_version = is_program ? linker_version(linker) : "";
    linker->explains = is_program && is_lld(linker) && !find_value(linker, WHY_EXTRACT) &&
                       memmem(bytes.data, bytes.size, WHY_EXTRACT, strlen(WHY_EXTRACT));
}

/* What GNU ld heeds. */
static void read_environment(struct linker *linker)
{
    static const char *const names[] = {"GNUTARGET", "LDEMULATION", "LD_LIBRARY_PATH",
                                        "LD_RUN_PATH"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *value = getenv(names[i]);
        if (!value)
            continue;
        const char *mapped = prefix_map_argument(&linker->map, &linker->arena, value);
        link_variables_push(&linker->record.environment, (struct link_variable){names[i], mapped});
    }
}

static void make_record(struct linker *linker)
{
    linker->inputs.arena = &linker->arena;
    linker->inputs.request = &linker->request;
    linker->inputs.arguments = &linker->arguments;
    linker->inputs.added = &linker->added;
    linker->inputs.map = &linker->map;
    linker->record.relocatable = is_relocatable(linker);
    linker->record.output = "a.out";
    read_command(linker);
    linker->record.linker = prefix_map_path(&linker->map, &linker->arena, linker->request.linker);
    read_environment(linker);
    linker->record.directory = prefix_map_directory(&linker->map, &linker->arena);
    link_inputs_read(&linker->inputs, &linker->record);
    const char *outdated = linker->inputs.outdated;
    if (outdated)
        warn(linker, error_create_file(ERROR_MISMATCH, outdated,
                                       "compiled by another version of inquest-cc; 'inquest' will "
                                       "not read the program until it is compiled again"));
}

static bool may_record(enum link_kind kind, const struct link_content *content)
{
    return content->models.length || kind == LINK_BITCODE;
}

/* Whether the output may have coverage of its own. */
static bool has_coverage(const struct link_record *record)
{
    for (size_t i = 0; i < record->inputs.length && !record->relocatable; i++) {
        const struct link_input *input = &record->inputs.data[i];
        if (input->kind != LINK_SHARED && may_record(input->kind, &input->content))
            return true;
        for (size_t j = 0; j < input->members.length; j++)
            if (may_record(input->members.data[j].kind, &input->members.data[j].content))
                return true;
    }
    return false;
}

static struct error *write_record(struct linker *linker)
{
    int fd = -1;
    struct error *err = memory_file_create("link", &fd);
    strbuf_init(&linker->frame);
    link_object_frame(&linker->record, &linker->frame);
    if (!err)
        err = link_object_write(&linker->frame, &linker->inputs.bodies, linker->request.embeds,
                                has_coverage(&linker->record), fd);
    if (!err)
        linker->object = memory_file_path(&linker->arena, fd);
    return err;
}

/* The link. */

static void take_users_map(struct linker *linker, const char *path)
{
    struct stat status;
    bool regular = stat(path, &status) != 0 || S_ISREG(status.st_mode);
    linker->map_file = regular && strcmp(path, "-") != 0 ? path : NULL;
}

/*
 * GNU ld and gold want a regular file, lld anything else (collector.h). lld's map takes a while for
 * large programs; the list of what it took, and why, costs nothing.
 */
static void ask_for_map(struct linker *linker)
{
    int fd = -1;
    struct error *err = NULL;
    linker->map_option = linker->explains ? "--" WHY_EXTRACT "=" : "-Map=";
    if (is_lld(linker)) {
        err = collector_begin(&linker->collector, &linker->arena);
        linker->collects = !err;
        linker->map_file = err ? NULL : linker->collector.path;
    } else if (has_prefix(linker->record.linker_version, "GNU ")) {
        err = memory_file_create("map", &fd);
        linker->map_file = err ? NULL : memory_file_path(&linker->arena, fd);
    }
    error_destroy(err);
}

/*
 * Where the linker says which members it took: in the map that the user has it write, or in one for
 * us. None where the user wants it on standard output.
 */
static void prepare_map(struct linker *linker)
{
    const char *given = find_value(linker, "Map");
    bool printed = has(linker, "-M") || has(linker, "--print-map") || has(linker, "-print-map");
    if (!linker->object || !linker->inputs.members_open)
        return;
    if (linker->explains || (!given && !printed))
        ask_for_map(linker);
    else if (!printed)
        take_users_map(linker, given);
}

static void make_arguments(struct linker *linker)
{
    const struct arguments *arguments = &linker->arguments;
    size_t position = linker->inputs.position;
    arguments_append(&linker->final, arguments->data, position);
    if (linker->object)
        arguments_push(&linker->final, linker->object);
    arguments_append(&linker->final, linker->added.data, linker->added.length);
    if (linker->map_file && linker->map_option)
        arguments_push(&linker->final,
                       arena_printf(&linker->arena, "%s%s", linker->map_option, linker->map_file));
    arguments_append(&linker->final, arguments->data + position, arguments->length - position);
}

/* Takes the record, which is gone by then, out of the list: it would make the output out of date.
 */
static struct error *clean_dependencies(const char *path, const char *object)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct stat status;
    struct error *err = file_read(path, &bytes);
    if (err)
        return err;
    _cleanup_strbuf_ struct strbuf kept = STRBUF_INIT;
    const char *at = (const char *)bytes.data;
    while (*at) {
        size_t length = strcspn(at, "\n");
        length += at[length] == '\n';
        if (!has_prefix(at + strspn(at, " "), object))
            strbuf_append_bytes(&kept, at, length);
        at += length;
    }
    if (kept.length == bytes.size || stat(path, &status) != 0)
        return NULL;
    return file_write(path, kept.data, kept.length, status.st_mode & 07777);
}

/* Says in the output which members were taken. */
static struct error *finish_record(struct linker *linker, const char *map, size_t size)
{
    _cleanup_strbuf_ struct strbuf frame = STRBUF_INIT;
    if (size == 0)
        return NULL;
    taken_read(&linker->record, &linker->arena, map, size);
    link_object_frame(&linker->record, &frame);
    return link_object_replace(find_output(linker), &linker->frame, &frame);
}

static struct error *read_map(struct linker *linker)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    if (linker->collects)
        return finish_record(linker, linker->collector.text.data, linker->collector.text.length);
    struct error *err = file_read(linker->map_file, &bytes);
    if (err)
        return err;
    return finish_record(linker, (const char *)bytes.data, bytes.size);
}

/* As a child, even with nothing to do afterwards: some scripts in linkers' places close what they
 * inherit, and the record is in a file of ours. */
static void __attribute__((__noreturn__)) link_output(struct linker *linker)
{
    const char *dependencies = linker->object ? find_value(linker, "dependency-file") : NULL;
    struct process_streams streams = {PROCESS_INHERIT, PROCESS_INHERIT, PROCESS_INHERIT};
    int status = 0;
    prepare_map(linker);
    make_arguments(linker);
    struct error *err =
        process_run(&linker->arena, linker->request.linker, &linker->final, streams, &status);
    if (linker->collects)
        collector_end(&linker->collector);
    if (err)
        fail(linker, err);
    if (status == 0 && linker->map_file)
        warn(linker, read_map(linker));
    if (status == 0 && dependencies)
        warn(linker, clean_dependencies(dependencies, linker->object));
    process_end_like(status);
}

void linker_main(int argc, char **argv)
{
    static struct linker linker = {.request = {.driver = "inquest-cc"}};
    struct error *err = request_receive(&linker.arena, &linker.request);
    if (err)
        fail(&linker, err);
    arguments_expand(&linker.arena, (const char *const *)argv + 1, (size_t)argc - 1,
                     &linker.arguments);
    link_record_init(&linker.record);
    read_linker(&linker);
    find_additions(&linker);
    make_record(&linker);
    warn(&linker, error_prefix(write_record(&linker), "linking without a record"));
    link_output(&linker);
}
