/*
 * inquest-cc and inquest-c++: clang-19 and clang++-19 with Inquest's plugin.
 *
 * One program; its name says which language it drives. It works out what clang has to be told in
 * addition, then becomes clang. Nothing is left to do afterwards, but for --version, where a line
 * is added. Where clang links, it runs this program again under a linker's name (linker.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "common/version.h"
#include "instrument/driver/arguments.h"
#include "instrument/driver/command.h"
#include "instrument/driver/jobs.h"
#include "instrument/driver/linker.h"
#include "instrument/driver/options.h"
#include "instrument/driver/plugin.h"
#include "instrument/driver/process.h"
#include "instrument/driver/request.h"

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
    if (command->assembles_outside)
        arguments_push(&driver->final, "-fbinutils-version=2.36");
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

/* What the linker's arguments are made from by this very command. */
static void find_made(struct driver *driver, const struct jobs *jobs, const struct job *link,
                      struct arguments *ret)
{
    for (size_t i = 0; i < link->count; i++) {
        const struct job *maker = jobs_find_maker(jobs, link->arguments[i]);
        const char *kind = maker && job_assembles(maker) ? REQUEST_ASSEMBLER : REQUEST_SOURCE;
        arguments_push(ret,
                       maker ? arena_printf(&driver->arena, "%s%s", kind, job_input(maker)) : "");
    }
}

static struct error *send_request(struct driver *driver, const struct jobs *jobs,
                                  const struct job *link, const char *version)
{
    struct request request = {
        .driver = driver->name,
        .linker = link->program,
        .compiler = version,
        .has_plugin = driver->plugin != NULL,
        .samples = options_sample(&driver->command.options),
        .embeds = driver->command.options.embeds,
        .warnings_off = driver->command.warnings_off,
    };
    find_made(driver, jobs, link, &request.made);
    arguments_append(&request.given, driver->given.data, driver->given.length);
    struct error *err = request_send(&request, &driver->arena);
    request_deinit(&request);
    return err;
}

/* In front, and instead of the user's: of several the last one counts. */
static void stand_in(struct driver *driver, const char *path)
{
    struct arguments *given = &driver->command.arguments;
    size_t kept = 0;
    for (size_t i = 0; i < given->length; i++) {
        if (!has_prefix(given->data[i], "--ld-path="))
            given->data[kept++] = given->data[i];
    }
    given->length = kept;
    arguments_push(&driver->final, arena_printf(&driver->arena, "--ld-path=%s", path));
}

/* Where we cannot stand in the linker's place the link is a plain one. */
static struct error *link_output(struct driver *driver, const struct jobs *jobs,
                                 const struct job *link, const char *version)
{
    const char *path = NULL;
    struct error *err = linker_stand_in(&driver->arena, link->program, &path);
    if (!err)
        err = send_request(driver, jobs, link, version);
    begin_additions(driver);
    add_for_compiling(driver);
    if (err) {
        if (!driver->command.warnings_off)
            say(driver, "warning", error_prefix(err, "linking without a record"));
        error_destroy(err);
    } else {
        stand_in(driver, path);
    }
    end_additions(driver);
    return become_clang(driver, &driver->final);
}

/* Everything up to the link, as far as clang goes: it is asked first what it would do. */
static struct error *drive(struct driver *driver)
{
    _cleanup_jobs_ struct jobs jobs = VEC_INIT;
    begin_additions(driver);
    add_for_compiling(driver);
    end_additions(driver);
    const char *version = "";
    struct error *err = jobs_ask(&driver->arena, driver->clang, &driver->final, &jobs, &version);
    if (err)
        return err;
    if (compiles(&jobs))
        warn_plain(driver);
    if (!jobs.length) /* nothing to do, or an error that clang will report */
        return become_clang(driver, &driver->command.arguments);
    const struct job *job = jobs_find_link(&jobs);
    return job ? link_output(driver, &jobs, job, version) : become_clang(driver, &driver->final);
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
    if (argc > 0 && linker_is_called(path_name(argv[0])))
        linker_main(argc, argv);
    driver_init(&driver, argc, argv);
    int code = fail(&driver, run(&driver));
    driver_deinit(&driver);
    return code;
}
