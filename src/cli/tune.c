// SPDX-License-Identifier: Apache-2.0
/*
 * `inquest tune`: switches functions of an executable or library off and on. The entry of one that
 * is off jumps to its plain copy, which records nothing; its flag byte tells readers so.
 *
 * The file is copied, edited and renamed into place, so that nobody sees half an edit. Functions
 * are found by name through the model, their switches by the data before their entries: it works on
 * stripped files.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/options.h"
#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/color.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_stream.h"
#include "common/strbuf.h"
#include "common/vec.h"
#include "evidence/core/code_switch.h"
#include "evidence/core/flag_bytes.h"
#include "evidence/evidence.h"
#include "layout/frame.h"
#include "layout/section.h"
#include "program/model.h"

// A function with a flag byte.
struct tunable {
    uint64_t module_id;
    uint32_t index;
    const char *name; // both borrowed from the model
    const char *file; // or NULL
    uint32_t line;
    uint64_t offset; // of its flag byte in the file
    bool switchable; // has a plain copy, and code of its own
    bool on;
};

VEC_DEFINE(tunable_vec, struct tunable);

struct tune {
    char *path; // symbolic links resolved
    struct model *model;
    unsigned char *data; // the whole file
    size_t size;
    struct stat status;
    struct tunable_vec functions;
    struct code_switch *switches; // sorted by module and function
    size_t switch_count;
};

static void tune_deinit(struct tune *tune)
{
    model_destroy(tune->model);
    tunable_vec_deinit(&tune->functions);
    free(tune->switches);
    free(tune->path);
    free(tune->data);
}

// --- reading ---

static struct error *read_program(struct tune *tune, const char *path)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    tune->path = realpath(path, NULL);
    if (!tune->path || stat(tune->path, &tune->status) != 0)
        return error_errno(errno, path, "cannot open");
    struct error *err = file_read(tune->path, &bytes);
    if (err)
        return err;
    tune->data = xmemdup(bytes.data, bytes.size);
    tune->size = bytes.size;
    return NULL;
}

// The first switch of a function, or NULL.
static const struct code_switch *find_switch(const struct tune *tune, uint64_t module_id,
                                             uint32_t index)
{
    size_t low = 0, high = tune->switch_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct code_switch *at = &tune->switches[middle];
        if (at->module_id < module_id || (at->module_id == module_id && at->function < index))
            low = middle + 1;
        else
            high = middle;
    }
    const struct code_switch *at = &tune->switches[low];
    return low < tune->switch_count && at->module_id == module_id && at->function == index ? at
                                                                                           : NULL;
}

static struct error *add_function(struct tune *tune, const struct flag_bytes *flags, uint32_t index,
                                  const struct model_function *function)
{
    uint64_t offset = flags->offset + index;
    const struct code_switch *at = find_switch(tune, flags->module_id, index);
    bool on = true;
    struct error *err = at ? code_switch_get(at, tune->path, tune->data, &on) : NULL;
    if (err)
        return err;
    struct tunable tunable = {
        .module_id = flags->module_id,
        .index = index,
        .name = function->name,
        .file = model_file_path(tune->model, function->file),
        .line = function->line,
        .offset = offset,
        .switchable = at != NULL,
        .on = on,
    };
    tunable_vec_push(&tune->functions, tunable);
    return NULL;
}

// The functions of one module.
static struct error *add_module(struct tune *tune, const struct flag_bytes *flags)
{
    struct module_id id;
    struct model *model = tune->model;
    if (!model_find_module(model, flags->module_id, &id))
        return error_create_file(ERROR_FORMAT, tune->path, "the model lacks module 0x%" PRIx64,
                                 flags->module_id);
    if (flags->level < SECTION_LEVEL_CALLS)
        return NULL;
    struct error *err = model_load_module(model, id);
    if (err)
        return err;
    if (model_module(model, id)->function_count != flags->function_count)
        return error_create_file(ERROR_FORMAT, tune->path,
                                 "model and flags of module 0x%" PRIx64 " do not agree",
                                 flags->module_id);
    for (uint32_t i = 0; !err && i < flags->function_count; i++) {
        struct function_id function;
        if (model_find_function(model, id, i, &function))
            err = add_function(tune, flags, i, model_function(model, function));
    }
    return err;
}

static size_t count_switchable(const struct tune *tune)
{
    size_t count = 0;
    for (size_t i = 0; i < tune->functions.length; i++)
        count += tune->functions.data[i].switchable;
    return count;
}

static struct error *tune_open(struct tune *tune, const char *path, bool no_cache)
{
    struct error *err = read_program(tune, path);
    if (err)
        return err;
    _cleanup_free_ struct flag_bytes *modules = NULL;
    size_t count;
    err = flag_bytes_find(path, tune->data, tune->size, &modules, &count);
    if (!err)
        err =
            code_switches_find(path, tune->data, tune->size, &tune->switches, &tune->switch_count);
    if (!err)
        err = model_open(path, &(struct model_options){.no_cache = no_cache}, &tune->model);
    for (size_t i = 0; !err && i < count; i++)
        err = add_module(tune, &modules[i]);
    if (!err && count_switchable(tune) == 0)
        err = error_create_file(ERROR_NOT_FOUND, path,
                                "no function can be switched on or off (built with "
                                "-fno-inquest-tunable, or at level 'none')");
    return err;
}

// --- changing ---

// GLOB matches a function's name, FILE:GLOB also its source file, at path components from the end.
static bool matches(const struct tunable *function, const char *pattern)
{
    const char *colon = strrchr(pattern, ':');
    if (fnmatch(pattern, function->name, 0) == 0)
        return true;
    if (!colon || !function->file || fnmatch(colon + 1, function->name, 0) != 0)
        return false;
    _cleanup_free_ char *file = xstrndup(pattern, (size_t)(colon - pattern));
    for (const char *end = function->file; end; end = strchr(end, '/')) {
        end += *end == '/';
        if (fnmatch(file, end, FNM_PATHNAME) == 0)
            return true;
    }
    return fnmatch(file, function->file, FNM_PATHNAME) == 0;
}

// Whether there was one.
static bool set_matching(struct tune *tune, const char *pattern, bool on)
{
    bool any = false;
    for (size_t i = 0; i < tune->functions.length; i++) {
        if (matches(&tune->functions.data[i], pattern)) {
            tune->functions.data[i].on = on;
            any = true;
        }
    }
    return any;
}

static int compare_tunables(const void *a, const void *b)
{
    const struct tunable *x = a, *y = b;
    if (x->module_id != y->module_id)
        return x->module_id < y->module_id ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// On for the functions of one failed run's stacks. The functions are sorted.
static void set_on_stack(struct tune *tune, const struct evidence *evidence)
{
    for (uint32_t t = 0; t < evidence->thread_count; t++) {
        const struct evidence_thread *thread = &evidence->threads[t];
        for (uint32_t f = 0; f < thread->frame_count; f++) {
            const struct evidence_function *function = &thread->frames[f].function;
            struct tunable key = {.module_id = function->module_id, .index = function->index};
            if (thread->frames[f].kind != EVIDENCE_FRAME_MODEL)
                continue;
            struct tunable *found = bsearch(&key, tune->functions.data, tune->functions.length,
                                            sizeof(key), compare_tunables);
            if (found)
                found->on = true;
        }
    }
}

static struct error *set_on_stacks(struct tune *tune, const char *executable,
                                   const struct option_values *cores, const char **more,
                                   size_t more_count, bool no_cache)
{
    for (size_t i = 0; i < tune->functions.length; i++)
        tune->functions.data[i].on = false;
    qsort(tune->functions.data, tune->functions.length, sizeof(*tune->functions.data),
          compare_tunables);
    for (size_t i = 0; i < cores->count + more_count; i++) {
        struct input input = {.no_cache = no_cache};
        struct error *err = input_open(
            &input, executable, i < cores->count ? cores->data[i].text : more[i - cores->count]);
        if (err)
            return err;
        set_on_stack(tune, input.evidence);
        input_deinit(&input);
    }
    return NULL;
}

// --- writing ---

// That the file may be replaced: it is not running, and writable.
static struct error *check_writable(const struct tune *tune)
{
    _cleanup_close_ int descriptor = open(tune->path, O_WRONLY | O_CLOEXEC);
    if (descriptor >= 0)
        return NULL;
    if (errno == ETXTBSY)
        return error_create_file(ERROR_SYSTEM, tune->path,
                                 "cannot change a program that is running");
    return error_errno(errno, tune->path, "cannot change");
}

static struct error *keep_owner_and_mode(const struct tune *tune, int descriptor)
{
    const struct stat *status = &tune->status;
    // chown() takes set-user-ID bits away, so the mode comes second.
    if ((status->st_uid != geteuid() || status->st_gid != getegid()) &&
        fchown(descriptor, status->st_uid, status->st_gid) != 0)
        return error_errno(errno, tune->path, "cannot keep the owner of");
    if (fchmod(descriptor, status->st_mode & 07777) != 0)
        return error_errno(errno, tune->path, "cannot keep the mode of");
    return NULL;
}

static struct error *write_program(const struct tune *tune)
{
    _cleanup_file_writer_ struct file_writer writer = {NULL, NULL, NULL};
    struct error *err = check_writable(tune);
    if (!err)
        err = file_writer_init(&writer, tune->path, 0600);
    if (!err)
        err = keep_owner_and_mode(tune, fileno(writer.stream));
    if (err)
        return err;
    // A short write leaves the stream's error flag set, which the commit finds.
    (void)!fwrite(tune->data, 1, tune->size, writer.stream);
    return file_writer_commit(&writer);
}

// Sets switches and flags in the copy of the file; how many functions changed.
static uint32_t edit(struct tune *tune)
{
    uint32_t changed = 0;
    for (size_t i = 0; i < tune->functions.length; i++) {
        const struct tunable *function = &tune->functions.data[i];
        const struct code_switch *at = find_switch(tune, function->module_id, function->index);
        unsigned char *flag = &tune->data[function->offset];
        unsigned char wanted = function->on ? LAYOUT_FLAG_ON : LAYOUT_FLAG_OFF;
        if (!function->switchable)
            continue;
        changed += *flag != wanted;
        *flag = wanted;
        for (; at && at < tune->switches + tune->switch_count &&
               at->module_id == function->module_id && at->function == function->index;
             at++)
            code_switch_set(at, tune->data, function->on);
    }
    return changed;
}

// --- printing ---

static void print_list(const struct tune *tune)
{
    bool color = color_enabled(stdout);
    for (size_t i = 0; i < tune->functions.length; i++) {
        const struct tunable *function = &tune->functions.data[i];
        _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
        strbuf_append_escaped(&text, function->name);
        if (function->file) {
            strbuf_append_char(&text, ' ');
            strbuf_append_escaped(&text, function->file);
            strbuf_printf(&text, ":%u", function->line);
        }
        bool on = function->switchable && function->on;
        printf("%s%-3s%s %s\n", color_start(color, on ? COLOR_GREEN : COLOR_DIM),
               on                     ? "on"
               : function->switchable ? "off"
                                      : "-",
               color_end(color), text.data);
    }
}

static uint32_t count_on(const struct tune *tune)
{
    uint32_t on = 0;
    for (size_t i = 0; i < tune->functions.length; i++)
        on += tune->functions.data[i].switchable && tune->functions.data[i].on;
    return on;
}

static json_t *function_json(const struct tunable *function)
{
    json_t *object = json_object();
    json_set(object, "function", json_text(function->name));
    json_set(object, "file", json_text(function->file));
    json_set(object, "line", function->line ? json_integer(function->line) : json_null());
    json_set(object, "module", json_address(function->module_id));
    json_set(object, "index", json_integer(function->index));
    json_set(object, "on", function->switchable ? json_boolean(function->on) : json_null());
    return object;
}

static struct error *print_json(const struct tune *tune, uint32_t changed)
{
    struct json_stream out;
    json_stream_begin(&out, stdout, "tune/1");
    json_stream_member(&out, "changed", json_integer(changed));
    json_stream_member(&out, "on", json_integer(count_on(tune)));
    json_stream_open(&out, "functions", '[');
    for (size_t i = 0; i < tune->functions.length; i++)
        json_stream_element(&out, function_json(&tune->functions.data[i]));
    json_stream_close(&out);
    return json_stream_end(&out, true);
}

// --- the command ---

struct request {
    struct option_values patterns; // of --on and --off, in order
    struct option_values cores;
    bool list;
    bool no_cache;
    bool unmatched; // out: a pattern matched nothing
};

static struct error *check_request(const struct options *options, const struct request *request)
{
    if (options->argument_count > 1 && !request->cores.count)
        return error_create(ERROR_USAGE, "unexpected argument '%s'", options->arguments[1]);
    if (!request->patterns.count && !request->cores.count && !request->list)
        return error_create(ERROR_USAGE, "nothing to do: --on, --off, --on-stack or --list");
    return NULL;
}

static struct error *apply(struct tune *tune, const struct options *options,
                           struct request *request)
{
    struct error *err = NULL;
    if (request->cores.count)
        err = set_on_stacks(tune, options->arguments[0], &request->cores, options->arguments + 1,
                            options->argument_count - 1, request->no_cache);
    for (size_t i = 0; !err && i < request->patterns.count; i++) {
        const struct option_value *pattern = &request->patterns.data[i];
        request->unmatched = !set_matching(tune, pattern->text, strcmp(pattern->name, "on") == 0);
        if (request->unmatched)
            err = error_create_file(ERROR_NOT_FOUND, options->arguments[0],
                                    "no function matches '%s'", pattern->text);
    }
    return err;
}

static struct error *run(const struct options *options, struct request *request)
{
    _cleanup_(tune_deinit) struct tune tune = {0};
    struct error *err = check_request(options, request);
    if (!err)
        err = tune_open(&tune, options->arguments[0], request->no_cache);
    if (!err)
        err = apply(&tune, options, request);
    if (err)
        return err;
    uint32_t changed = edit(&tune);
    if (changed)
        err = write_program(&tune);
    if (!err && options->json)
        return print_json(&tune, changed);
    if (!err && request->list)
        print_list(&tune);
    if (!err && !request->list && !options->quiet)
        printf("%u of %zu functions record, %u changed\n", count_on(&tune), count_switchable(&tune),
               changed);
    return err;
}

static const char about[] =
    "Switches functions of an executable or library off, so that they run as if they had been\n"
    "compiled by plain clang and record nothing, and on again. What a function that is off did, "
    "and\n"
    "what it called in its own source file, is MAYBE afterwards. A function that was inlined\n"
    "belongs to the one it was inlined into. PATTERN is a shell pattern for function names, or\n"
    "FILE:PATTERN. --on-stack first switches all functions off, then on those that were on a "
    "stack\n"
    "in one of the cores; --on and --off follow, in the order given. --list marks functions that\n"
    "cannot be switched (nothing to record, inlined everywhere, or code that cannot stand\n"
    "twice) with '-'. The file is replaced as a whole; one that is running is refused. Exit\n"
    "status 1, and no change, when a pattern matches nothing.";

int cli_tune(int argc, char **argv)
{
    struct request request = {0};
    const struct option_spec specs[] = {
        {"on", 0, "PATTERN", "these functions record", OPTION_MANY, &request.patterns},
        {"off", 0, "PATTERN", "these run their plain copies", OPTION_MANY, &request.patterns},
        {"on-stack", 0, "CORE...", "on is what was on the stacks of cores", OPTION_MANY,
         &request.cores},
        {"list", 0, NULL, "print every function with its setting", OPTION_FLAG, &request.list},
        {"no-cache", 0, NULL, "read the model anew", OPTION_FLAG, &request.no_cache},
        {0},
    };
    const struct command_help help = {
        .name = "tune",
        .usage = "EXE [--on PATTERN] [--off PATTERN] [--list]\n"
                 "EXE --on-stack CORE... [--on PATTERN] [--off PATTERN]",
        .about = about,
        .example = "inquest tune ./prog --off '*' --on 'parse_*' --on 'src/lexer.c:*'\n"
                   "inquest tune ./prog --on-stack core.1 core.2",
        .specs = specs,
        .least = 1,
        .most = OPTIONS_ANY};
    struct options options;
    struct error *err = options_parse(&options, &help, argc, argv);
    if (!err && !options.help)
        err = run(&options, &request);
    free(request.patterns.data);
    free(request.cores.data);
    if (!err)
        options_deinit(&options);
    int status = err ? options_fail(&options, err) : CLI_FOUND;
    return request.unmatched ? CLI_NOT_FOUND : status;
}
