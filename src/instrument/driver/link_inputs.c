#include "instrument/driver/link_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "instrument/driver/arguments.h"
#include "instrument/driver/jobs.h"
#include "instrument/driver/link_record.h"
#include "instrument/driver/process.h"
#include "instrument/driver/references.h"

/*
 * Options of GNU ld, gold and lld whose value is the next argument, without their dashes; sorted.
 * Those that name inputs or directories are taken care of before.
 */
static const char *const separate_options[] = {
    "A",
    "F",
    "G",
    "I",
    "Map",
    "R",
    "Tbss",
    "Tdata",
    "Ttext",
    "Ttext-segment",
    "Y",
    "a",
    "architecture",
    "assert",
    "auxiliary",
    "b",
    "c",
    "call-graph-ordering-file",
    "chroot",
    "defsym",
    "dependency-file",
    "dynamic-linker",
    "dynamic-list",
    "e",
    "entry",
    "exclude-libs",
    "export-dynamic-symbol",
    "export-dynamic-symbol-list",
    "f",
    "filter",
    "fini",
    "format",
    "h",
    "hash-style",
    "ignore-unresolved-symbol",
    "image-base",
    "init",
    "just-symbols",
    "m",
    "mllvm",
    "mri-script",
    "o",
    "oformat",
    "out-implib",
    "output",
    "plugin",
    "plugin-opt",
    "reproduce",
    "require-defined",
    "retain-symbols-file",
    "rpath",
    "rpath-link",
    "section-start",
    "soname",
    "sort-section",
    "symbol-ordering-file",
    "trace-symbol",
    "u",
    "undefined",
    "undefined-glob",
    "unresolved-symbols",
    "version-script",
    "why-extract",
    "wrap",
    "y",
    "z",
};
#define SEPARATE_COUNT (sizeof(separate_options) / sizeof(separate_options[0]))

/* Where GNU ld looks after all of -L; clang names the others itself. */
static const char *const builtin_directories[] = {
    "/usr/local/lib/x86_64-linux-gnu", "/usr/local/lib", "/usr/local/lib64", "/lib64", "/usr/lib64",
};
#define BUILTIN_COUNT (sizeof(builtin_directories) / sizeof(builtin_directories[0]))

#define STATES_MAX  32 /* of --push-state */
#define NESTING_MAX 8  /* of linker scripts */

struct walk {
    const struct link_inputs *inputs;
    struct link_record *record;
    struct arguments arguments; /* of the linker, its own response files expanded */
    struct arguments directories;
    struct name_set user;
    struct name_set done;
    const char *sysroot;
    bool archives_only; /* -Bstatic is in force */
    bool states[STATES_MAX];
    unsigned state_count;
    unsigned nesting;
};

static void read_file(struct walk *walk, const char *path, bool user);
static void read_library(struct walk *walk, const char *name, bool user);

static void add_references(struct walk *walk, const struct references *references, const char *path,
                           bool user)
{
    if (!references->modelless)
        return;
    enum link_input kind = user ? LINK_INPUT_MODELLESS : LINK_INPUT_TOOLCHAIN;
    link_record_add_input(walk->record, references->opaque ? LINK_INPUT_OPAQUE : kind, path);
    for (size_t i = 0; i < references->symbols.length; i++)
        link_record_add_undefined(walk->record, references->symbols.data[i]);
}

/* Sources that are assembled by this very command. */

/* Runs an assembler's or preprocessor's job with its result in memory, in place of a file. */
static struct error *run_job(struct arena *arena, const struct job *job, const char *input,
                             int output)
{
    _cleanup_arguments_ struct arguments arguments = VEC_INIT;
    arguments_append(&arguments, job->arguments, job->count - 1);
    arguments_push(&arguments, input);
    for (size_t i = 1; i < arguments.length; i++) {
        if (strcmp(arguments.data[i - 1], "-o") == 0)
            arguments.data[i] = "-";
    }
    int status = 0;
    struct process_streams streams = {PROCESS_NULL, output, PROCESS_NULL};
    struct error *err = process_run(arena, job->program, &arguments, streams, &status);
    if (!err && status != 0)
        err = error_create_file(ERROR_OTHER, job_input(job), "cannot assemble");
    return err;
}

/* The object that assembling gives, in the arena. preprocess may be NULL. */
static struct error *assemble(struct arena *arena, const struct job *preprocess,
                              const struct job *job, const char **ret_data, size_t *ret_size)
{
    _cleanup_close_ int source = -1;
    _cleanup_close_ int object = -1;
    const char *input = job_input(job);
    struct error *err = memory_file_create("source", &source);
    if (!err && preprocess) {
        input = memory_file_path(arena, source);
        err = run_job(arena, preprocess, job_input(preprocess), source);
    }
    if (!err)
        err = memory_file_create("object", &object);
    if (!err)
        err = run_job(arena, job, input, object);
    if (!err)
        err = memory_file_read(arena, object, ret_data, ret_size);
    return err;
}

/*
 * An assembler source has no model. What it refers to is known once it is assembled, which clang
 * will do only after us, so it is done twice; both are quick. Standard input can be read once only,
 * and an outside assembler does not write to memory: those stay opaque.
 */
static void read_assembler(struct walk *walk, const struct job *preprocess, const struct job *job)
{
    struct arena *arena = walk->inputs->arena;
    const char *source = job_input(preprocess ? preprocess : job);
    struct references references = REFERENCES_INIT;
    const char *data = NULL;
    size_t size = 0;
    struct error *err = NULL;
    if (job->kind == JOB_ASSEMBLER && strcmp(source, "-") != 0)
        err = assemble(arena, preprocess, job, &data, &size);
    if (data)
        references_read_bytes(&references, arena, (const unsigned char *)data, size);
    else
        references.modelless = references.opaque = true;
    error_destroy(err);
    add_references(walk, &references, source, true);
    references_deinit(&references);
}

/* The output of one of the jobs. */
static void read_made(struct walk *walk, const struct job *maker)
{
    const struct job *before = jobs_find_maker(walk->inputs->jobs, job_input(maker));
    const char *language = before ? job_option(before, "-x") : NULL;
    if (maker->kind != JOB_FRONTEND && !before) {
        read_assembler(walk, NULL, maker);
        return;
    }
    if (maker->kind != JOB_FRONTEND && before->kind == JOB_FRONTEND && language &&
        has_prefix(language, "assembler")) {
        read_assembler(walk, before, maker);
        return;
    }
    while (before) { /* the source, through preprocessed text and assembler text */
        maker = before;
        before = jobs_find_maker(walk->inputs->jobs, job_input(maker));
    }
    if (!walk->inputs->models_made)
        link_record_add_input(walk->record, LINK_INPUT_OPAQUE, job_input(maker));
}

/* Linker scripts, as far as they name inputs: INPUT(FILE -lNAME AS_NEEDED(FILE)), GROUP(...). */

/* The next word or parenthesis at *text, which moves behind it; NULL at the end. */
static const char *script_word(struct arena *arena, const char **text)
{
    const char *at = *text;
    for (;;) {
        at += strspn(at, " \t\r\n,;");
        if (strncmp(at, "/*", 2) != 0)
            break;
        const char *end = strstr(at + 2, "*/");
        at = end ? end + 2 : at + strlen(at);
    }
    size_t length = strcspn(at, " \t\r\n,;()\"");
    if (*at == '(' || *at == ')') {
        length = 1;
    } else if (*at == '"') {
        const char *word = at + 1;
        length = strcspn(word, "\"");
        *text = word + length + (word[length] == '"');
        return arena_strndup(arena, word, length);
    }
    *text = at + length;
    return length ? arena_strndup(arena, at, length) : NULL;
}

static const char *in_sysroot(const struct walk *walk, const char *path)
{
    if (path[0] == '=')
        return arena_printf(walk->inputs->arena, "%s%s", walk->sysroot, path + 1);
    return path;
}

static void read_script_file(struct walk *walk, const char *file, bool user)
{
    struct arena *arena = walk->inputs->arena;
    const char *path = in_sysroot(walk, file);
    if (path[0] == '/' && *walk->sysroot) {
        const char *rooted = arena_printf(arena, "%s%s", walk->sysroot, path);
        path = access(rooted, F_OK) == 0 ? rooted : path;
    }
    for (size_t i = 0; path[0] != '/' && access(path, F_OK) != 0; i++) {
        if (i == walk->directories.length)
            break;
        const char *found = arena_printf(arena, "%s/%s", walk->directories.data[i], file);
        path = access(found, F_OK) == 0 ? found : path;
    }
    if (access(path, F_OK) == 0)
        read_file(walk, path, user);
    else
        link_record_add_input(walk->record, LINK_INPUT_OPAQUE, path);
}

/* What stands between the parentheses of INPUT or GROUP. */
static const char *read_script_inputs(struct walk *walk, const char *text, bool user)
{
    unsigned depth = 0;
    for (const char *word; (word = script_word(walk->inputs->arena, &text));) {
        if (strcmp(word, "(") == 0)
            depth++;
        else if (strcmp(word, ")") == 0 && --depth == 0)
            break;
        else if (depth == 0)
            break; /* INPUT without a parenthesis is some other word */
        else if (has_prefix(word, "-l"))
            read_library(walk, word + 2, user);
        else if (strcmp(word, ")") != 0 && strcmp(word, "AS_NEEDED") != 0)
            read_script_file(walk, word, user);
    }
    return text;
}

static void read_script(struct walk *walk, const char *path, bool user)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_read(path, &bytes);
    if (err) {
        error_destroy(err);
        return;
    }
    const char *text = (const char *)bytes.data; /* a NUL follows */
    walk->nesting++;
    for (const char *word; (word = script_word(walk->inputs->arena, &text));) {
        if (strcmp(word, "INPUT") == 0 || strcmp(word, "GROUP") == 0)
            text = read_script_inputs(walk, text, user);
        else if (strcmp(word, "INCLUDE") == 0)
            link_record_add_input(walk->record, LINK_INPUT_OPAQUE, path);
    }
    walk->nesting--;
}

/* Files and libraries. */

static void read_file(struct walk *walk, const char *path, bool user)
{
    bool is_new = false;
    name_set_put_new(&walk->done, path, &is_new);
    if (!is_new)
        return;
    struct references references = REFERENCES_INIT;
    references_read(&references, walk->inputs->arena, path);
    add_references(walk, &references, path, user);
    if (references.text && walk->nesting < NESTING_MAX)
        read_script(walk, path, user);
    references_deinit(&references);
}

static const char *find_library(const struct walk *walk, const char *directory, const char *name)
{
    struct arena *arena = walk->inputs->arena;
    if (name[0] == ':') {
        const char *path = arena_printf(arena, "%s/%s", directory, name + 1);
        return access(path, F_OK) == 0 ? path : NULL;
    }
    const char *path = arena_printf(arena, "%s/lib%s.so", directory, name);
    if (!walk->archives_only && access(path, F_OK) == 0)
        return path;
    path = arena_printf(arena, "%s/lib%s.a", directory, name);
    return access(path, F_OK) == 0 ? path : NULL;
}

static void read_library(struct walk *walk, const char *name, bool user)
{
    const char *path = NULL;
    for (size_t i = 0; !path && i < walk->directories.length; i++)
        path = find_library(walk, walk->directories.data[i], name);
    for (size_t i = 0; !path && i < BUILTIN_COUNT; i++)
        path = find_library(walk, builtin_directories[i], name);
    if (path)
        read_file(walk, path, user);
    else
        link_record_add_input(walk->record, LINK_INPUT_OPAQUE,
                              arena_printf(walk->inputs->arena, "-l%s", name));
}

/* The linker's options. */

static int compare_names(const void *key, const void *element)
{
    return strcmp(key, *(const char *const *)element);
}

/*
 * The value of an option that has both a short form, joined or not, and a long one, joined by '='
 * or not; *index moves onto it. NULL when the argument is something else.
 */
static const char *option_value(const struct arguments *arguments, size_t *index,
                                const char *short_name, const char *long_name)
{
    const char *argument = arguments->data[*index];
    const char *next = *index + 1 < arguments->length ? arguments->data[*index + 1] : NULL;
    size_t dashes = strspn(argument, "-");
    size_t length = strlen(long_name);
    if (dashes && strncmp(argument + dashes, long_name, length) == 0) {
        if (argument[dashes + length] == '=')
            return argument + dashes + length + 1;
        if (!argument[dashes + length] && next)
            return ++*index, next;
    }
    if (*short_name && has_prefix(argument, short_name)) {
        if (argument[strlen(short_name)])
            return argument + strlen(short_name);
        if (next)
            return ++*index, next;
    }
    return NULL;
}

static bool is_any(const char *argument, const char *const *values)
{
    for (; *values; values++) {
        if (strcmp(argument, *values) == 0)
            return true;
    }
    return false;
}

static void set_state(struct walk *walk, const char *argument)
{
    static const char *const archives[] = {"-Bstatic", "-dn", "-non_shared", "-static", NULL};
    static const char *const any[] = {"-Bdynamic", "-dy", "-call_shared", NULL};
    const char *name = has_prefix(argument, "--") ? argument + 1 : argument;
    if (is_any(name, archives))
        walk->archives_only = true;
    else if (is_any(name, any))
        walk->archives_only = false;
    else if (strcmp(name, "-push-state") == 0 && walk->state_count < STATES_MAX)
        walk->states[walk->state_count++] = walk->archives_only;
    else if (strcmp(name, "-pop-state") == 0 && walk->state_count > 0)
        walk->archives_only = walk->states[--walk->state_count];
}

/* Directories count for all libraries, wherever they stand. */
static void find_directories(struct walk *walk)
{
    for (size_t i = 0; i < walk->arguments.length; i++) {
        const char *value = option_value(&walk->arguments, &i, "", "sysroot");
        if (value)
            walk->sysroot = value;
    }
    for (size_t i = 0; i < walk->arguments.length; i++) {
        const char *value = option_value(&walk->arguments, &i, "-L", "library-path");
        if (value)
            arguments_push(&walk->directories, in_sysroot(walk, value));
    }
}

static bool is_user(const struct walk *walk, const char *argument)
{
    return name_set_get(&walk->user, argument) != NULL;
}

/* -Ttext=ADDRESS and its like are not -T with a script. */
static bool places_section(const char *name)
{
    return has_prefix(name, "Ttext") || has_prefix(name, "Tdata") || has_prefix(name, "Tbss") ||
           has_prefix(name, "Trodata") || has_prefix(name, "Tldata");
}

static void read_option(struct walk *walk, size_t *index)
{
    const char *argument = walk->arguments.data[*index];
    const char *value = option_value(&walk->arguments, index, "-l", "library");
    if (value) {
        read_library(walk, value, is_user(walk, argument));
        return;
    }
    if (option_value(&walk->arguments, index, "-L", "library-path") ||
        option_value(&walk->arguments, index, "", "sysroot"))
        return;
    const char *name = argument + strspn(argument, "-");
    if (bsearch(name, separate_options, SEPARATE_COUNT, sizeof(separate_options[0]),
                compare_names)) {
        ++*index;
        return;
    }
    if (!places_section(name))
        value = option_value(&walk->arguments, index, "-T", "script");
    if (value)
        read_script(walk, value, true);
    else
        set_state(walk, argument);
}

static void find_user_arguments(struct walk *walk)
{
    const struct arguments *user = walk->inputs->user;
    struct arena *arena = walk->inputs->arena;
    for (size_t i = 0; i < user->length; i++) {
        const char *argument = user->data[i];
        *name_set_put(&walk->user, argument) = true;
        if (strcmp(argument, "-l") == 0 && i + 1 < user->length)
            *name_set_put(&walk->user, arena_printf(arena, "-l%s", user->data[i + 1])) = true;
        if (!has_prefix(argument, "-Wl,"))
            continue;
        char *rest = arena_strdup(arena, argument + strlen("-Wl,"));
        for (const char *piece; (piece = strsep(&rest, ","));)
            *name_set_put(&walk->user, piece) = true;
    }
}

static void walk_arguments(struct walk *walk)
{
    const struct job *link = walk->inputs->link;
    arguments_expand(walk->inputs->arena, link->arguments, link->count, &walk->arguments);
    find_user_arguments(walk);
    find_directories(walk);
    for (size_t i = 0; i < walk->arguments.length; i++) {
        const char *argument = walk->arguments.data[i];
        const struct job *maker = jobs_find_maker(walk->inputs->jobs, argument);
        if (argument[0] == '-' && argument[1])
            read_option(walk, &i);
        else if (maker)
            read_made(walk, maker);
        else
            read_file(walk, argument, is_user(walk, argument));
    }
}

void link_inputs_read(const struct link_inputs *inputs, struct link_record *record)
{
    struct walk walk = {
        .inputs = inputs,
        .record = record,
        .arguments = VEC_INIT,
        .directories = VEC_INIT,
        .user = MAP_INIT,
        .done = MAP_INIT,
        .sysroot = "",
    };
    walk_arguments(&walk);
    arguments_deinit(&walk.arguments);
    arguments_deinit(&walk.directories);
    name_set_deinit(&walk.user);
    name_set_deinit(&walk.done);
}
