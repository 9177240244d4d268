/*
 * inquest-cc and inquest-c++: clang-19 and clang++-19 with Inquest's plugin.
 *
 * One program; its name says which language it drives. It works out what clang has to be told in
 * addition, then becomes clang. Nothing is left to do afterwards, with two exceptions: --version,
 * where a line is added, and links that write a dependency file, in which the record of the link
 * must not appear.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strbuf.h"
#include "common/version.h"
#include "instrument/driver/arguments.h"
#include "instrument/driver/command.h"
#include "instrument/driver/jobs.h"
#include "instrument/driver/link_inputs.h"
#include "instrument/driver/link_record.h"
#include "instrument/driver/options.h"
#include "instrument/driver/plugin.h"
#include "instrument/driver/process.h"

#define UNKNOWN_LOCATIONS "-use-unknown-locations=Enable"

struct driver {
    struct arena arena;
    const char *name;          /* inquest-cc or inquest-c++, however it was called */
    struct arguments given;    /* response files expanded */
    struct command command;    /* what they ask for */
    const char *clang;         /* path */
    const char *plugin;        /* path, or NULL */
    const char *headers;       /* directory */
    struct error *plugin_lost; /* why it is NULL */
    struct arguments final;    /* what clang is told */
};

static void driver_init(struct driver *driver, int argc, char **argv)
{
    *driver = (struct driver){.command = COMMAND_INIT, .given = VEC_INIT, .final = VEC_INIT};
    arena_init(&driver->arena);
    const char *called = argc > 0 ? path_name(argv[0]) : "";
    driver->name = strstr(called, "++") ? "inquest-c++" : "inquest-cc";
    if (argc > 1)
        arguments_expand(&driver->arena, (const char *const *)argv + 1, (size_t)argc - 1,
                         &driver->given);
}

static void driver_deinit(struct driver *driver)
{
    error_destroy(driver->plugin_lost);
    command_deinit(&driver->command);
    arguments_deinit(&driver->given);
    arguments_deinit(&driver->final);
    arena_deinit(&driver->arena);
}

static void say(const struct driver *driver, const char *how, const struct error *err)
{
    char *text = error_text(err);
    fprintf(stderr, "%s: %s: %s\n", driver->name, how, text);
    free(text);
}

/* Clang reports its own trouble with 1, and so does whoever stands in for it. */
static int fail(const struct driver *driver, struct error *err)
{
    say(driver, "error", err);
    error_destroy(err);
    return 1;
}

static void warn_plain(const struct driver *driver)
{
    if (!driver->plugin && !driver->command.warnings_off) {
        say(driver, "warning", driver->plugin_lost);
        fprintf(stderr, "%s: warning: compiling without instrumentation\n", driver->name);
    }
}

static struct error *find_programs(struct driver *driver)
{
    bool cxx = strcmp(driver->name, "inquest-c++") == 0;
    driver->plugin_lost = plugin_find(&driver->arena, &driver->plugin);
    struct error *err = plugin_find_headers(&driver->arena, &driver->headers);
    if (err)
        return err;
    return process_find(&driver->arena, cxx ? "clang++-19" : "clang-19", &driver->clang);
}

/* The plugin's options; always set, so that a value from outside never counts. */
static struct error *set_environment(const struct driver *driver)
{
    _cleanup_strbuf_ struct strbuf value = STRBUF_INIT;
    options_encode(&driver->command.options, &value);
    if (setenv(OPTIONS_VARIABLE, value.data, 1) != 0)
        return error_create(ERROR_SYSTEM, "cannot set '%s'", OPTIONS_VARIABLE);
    return NULL;
}

static struct error *become_clang(struct driver *driver, const struct arguments *arguments)
{
    return process_become(&driver->arena, driver->clang, arguments);
}

/* What clang does not need for this command (no source, say) it may not complain about. */
static void begin_additions(struct driver *driver)
{
    arguments_clear(&driver->final);
    arguments_push(&driver->final, "--start-no-unused-arguments");
}

/* For <inquest.h>, after all directories that others may have put theirs into. */
static void add_for_preprocessing(struct driver *driver)
{
    arguments_push(&driver->final, "-idirafter");
    arguments_push(&driver->final, driver->headers);
    if (options_sample(&driver->command.options))
        arguments_push(&driver->final, "-D__INQUEST_SUSPECTS__=1");
}

static void add_for_compiling(struct driver *driver)
{
    const struct command *command = &driver->command;
    add_for_preprocessing(driver);
    if (!driver->plugin)
        return;
    if (!command->debug_given)
        arguments_push(&driver->final, "-g");
    arguments_push(&driver->final,
                   arena_printf(&driver->arena, "-fpass-plugin=%s", driver->plugin));
    if (!command->unknown_locations_given) {
        arguments_push(&driver->final, "-mllvm");
        arguments_push(&driver->final, UNKNOWN_LOCATIONS);
    }
}

static void end_additions(struct driver *driver)
{
    const struct arguments *given = &driver->command.arguments;
    arguments_push(&driver->final, "--end-no-unused-arguments");
    arguments_append(&driver->final, given->data, given->length);
}

/* --version: clang's words, then ours. */
static struct error *show_version(struct driver *driver)
{
    int status = 0;
    struct process_streams streams = {PROCESS_INHERIT, PROCESS_INHERIT, PROCESS_INHERIT};
    struct error *err =
        process_run(&driver->arena, driver->clang, &driver->command.arguments, streams, &status);
    if (err)
        return err;
    uint64_t hash = 0;
    if (driver->plugin) {
        err = plugin_hash(driver->plugin, &hash);
        if (err)
            return err;
        printf("inquest-cc %s plugin %016" PRIx64 "\n", INQUEST_VERSION, hash);
    } else {
        printf("inquest-cc %s plugin none\n", INQUEST_VERSION);
    }
    fflush(stdout);
    process_end_like(status);
}

static struct error *show_help(struct driver *driver)
{
    fputs(options_help, stdout);
    fflush(stdout);
    return become_clang(driver, &driver->command.arguments);
}

static struct error *compile(struct driver *driver)
{
    warn_plain(driver);
    begin_additions(driver);
    add_for_compiling(driver);
    end_additions(driver);
    return become_clang(driver, &driver->final);
}

/* Links. */

static bool compiles(const struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->length; i++) {
        const char *language = job_option(&jobs->data[i], "-x");
        if (jobs->data[i].kind == JOB_FRONTEND && language && !has_prefix(language, "assembler"))
            return true;
    }
    return false;
}

static bool is_relocatable(const struct job *link)
{
    return job_has(link, "-r") || job_has(link, "--relocatable") || job_has(link, "-relocatable") ||
           job_has(link, "-i");
}

/* The first argument, dashes left out, that starts with prefix, or NULL. */
static const char *find_prefix(const struct job *link, const char *prefix)
{
    for (size_t i = 0; i < link->count; i++) {
        const char *argument = link->arguments[i];
        size_t dashes = strspn(argument, "-");
        if (dashes && has_prefix(argument + dashes, prefix))
            return argument + dashes;
    }
    return NULL;
}

/* Whether the linker makes code itself, from bitcode. lld does so for any input that needs it. */
static bool may_make_code(const struct job *link)
{
    return find_prefix(link, "plugin-opt=") || strstr(path_name(link->program), "lld");
}

/* The record as an object file in memory; *ret_path stays NULL when the link needs none. */
static struct error *make_record(struct driver *driver, const struct jobs *jobs,
                                 const struct job *link, const char **ret_path)
{
    struct link_inputs inputs = {
        .arena = &driver->arena,
        .jobs = jobs,
        .link = link,
        .user = &driver->given,
        .models_made = driver->plugin && !driver->command.passes_disabled,
    };
    struct link_record record;
    link_record_init(&record, driver->name, &driver->given);
    link_inputs_read(&inputs, &record);
    struct error *err = NULL;
    /* Of a relocatable link only what the final link could not find out any more is kept. */
    if (!is_relocatable(link) || record.has_user_input) {
        int fd = -1;
        err = memory_file_create("link", &fd);
        if (!err)
            err = link_record_write(&record, fd);
        if (!err)
            *ret_path = memory_file_path(&driver->arena, fd);
    }
    link_record_deinit(&record);
    return err;
}

/* Whole, since nothing refers to it yet where it stands on the command line. */
static struct error *add_runtime(struct driver *driver, const struct job *link)
{
    const char *runtime = NULL;
    if (!driver->plugin || is_relocatable(link) || !options_sample(&driver->command.options))
        return NULL;
    struct error *err = plugin_find_runtime(&driver->arena, &runtime);
    if (!err)
        arguments_push(&driver->final, arena_printf(&driver->arena,
                                                    "-Wl,--push-state,--whole-archive,%s,"
                                                    "--pop-state",
                                                    runtime));
    return err;
}

static void add_for_linking(struct driver *driver, const struct job *link, const char *record)
{
    /* As an option of the linker: of no language, and not an input of clang. */
    if (record)
        arguments_push(&driver->final, arena_printf(&driver->arena, "-Wl,%s", record));
    if (!is_relocatable(link) && !find_prefix(link, "build-id"))
        arguments_push(&driver->final, "-Wl,--build-id");
    if (driver->plugin && may_make_code(link) && !find_prefix(link, "plugin-opt=-use-unknown") &&
        !job_has(link, UNKNOWN_LOCATIONS))
        arguments_push(&driver->final, "-Wl,-plugin-opt=" UNKNOWN_LOCATIONS);
}

/* The file that the linker writes its inputs to for make, or NULL. */
static const char *dependency_file(const struct job *link)
{
    static const char option[] = "dependency-file=";
    const char *joined = find_prefix(link, option);
    return joined ? joined + strlen(option) : job_option(link, "--dependency-file");
}

/* Takes the record, which is gone by then, out of the list: it would make the output out of date.
 */
static struct error *clean_dependencies(const char *path, const char *record)
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
        if (!has_prefix(at + strspn(at, " "), record))
            strbuf_append_bytes(&kept, at, length);
        at += length;
    }
    if (kept.length == bytes.size || stat(path, &status) != 0)
        return NULL;
    return file_write(path, kept.data, kept.length, status.st_mode & 07777);
}

static struct error *link_with_dependencies(struct driver *driver, const char *path,
                                            const char *record)
{
    int status = 0;
    struct process_streams streams = {PROCESS_INHERIT, PROCESS_INHERIT, PROCESS_INHERIT};
    struct error *err =
        process_run(&driver->arena, driver->clang, &driver->final, streams, &status);
    if (!err && status == 0)
        err = clean_dependencies(path, record);
    if (!err)
        process_end_like(status);
    return err;
}

static struct error *link_output(struct driver *driver, const struct jobs *jobs,
                                 const struct job *job)
{
    const char *record = NULL;
    struct error *err = make_record(driver, jobs, job, &record);
    if (err)
        return err;
    begin_additions(driver);
    add_for_compiling(driver);
    add_for_linking(driver, job, record);
    err = add_runtime(driver, job);
    if (err)
        return err;
    end_additions(driver);
    const char *dependencies = record ? dependency_file(job) : NULL;
    if (dependencies)
        return link_with_dependencies(driver, dependencies, record);
    return become_clang(driver, &driver->final);
}

/* Everything up to the link, as far as clang goes: it is asked first what it would do. */
static struct error *drive(struct driver *driver)
{
    _cleanup_jobs_ struct jobs jobs = VEC_INIT;
    begin_additions(driver);
    add_for_compiling(driver);
    end_additions(driver);
    struct error *err = jobs_ask(&driver->arena, driver->clang, &driver->final, &jobs);
    if (err)
        return err;
    if (compiles(&jobs))
        warn_plain(driver);
    if (!jobs.length) /* nothing to do, or an error that clang will report */
        return become_clang(driver, &driver->command.arguments);
    const struct job *job = jobs_find_link(&jobs);
    return job ? link_output(driver, &jobs, job) : become_clang(driver, &driver->final);
}

/* No code is made; sources may be read. */
static struct error *ask(struct driver *driver)
{
    if (!driver->command.preprocesses)
        return become_clang(driver, &driver->command.arguments);
    begin_additions(driver);
    add_for_preprocessing(driver);
    end_additions(driver);
    return become_clang(driver, &driver->final);
}

/* Comes back with an error only. */
static struct error *run(struct driver *driver)
{
    struct error *err = command_parse(&driver->command, &driver->arena, &driver->given);
    if (!err)
        err = find_programs(driver);
    if (!err)
        err = set_environment(driver);
    if (err)
        return err;
    switch (driver->command.kind) {
    case COMMAND_VERSION:
        return show_version(driver);
    case COMMAND_HELP:
        return show_help(driver);
    case COMMAND_PLAIN:
        return ask(driver);
    case COMMAND_COMPILE:
        return compile(driver);
    case COMMAND_DRIVE:
        return drive(driver);
    }
    abort();
}

int main(int argc, char **argv)
{
    struct driver driver;
    driver_init(&driver, argc, argv);
    int code = fail(&driver, run(&driver));
    driver_deinit(&driver);
    return code;
}
