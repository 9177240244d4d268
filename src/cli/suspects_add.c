// SPDX-License-Identifier: Apache-2.0
// `inquest suspects add STORE [EXE...] REPORT|DIR...`, and `merge`.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/run_suspects.h"
#include "cli/suspects.h"
#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/progress.h"
#include "common/vec.h"
#include "program/image.h"
#include "suspects/report.h"
#include "suspects/sites.h"

VEC_DEFINE(path_vec, char *);
VEC_DEFINE(report_vec, const struct suspects_report *);

enum { BATCH = 500 }; // reports a transaction

struct add {
    struct options options;
    const char *outcome_text;
    enum suspects_outcome outcome; // of live files; unknown: they are refused
    struct store *store;
    struct path_vec images, files;
    const char *directory; // one that was looked through, or NULL

    struct report_vec batch;
    struct path_vec batch_names; // borrowed from `files`

    uint64_t added, known, refused, builds;
    json_t *refusals;
};

static const char about[] =
    "Puts reports of runs ('inquest run --suspects DIR') into the store, which is made where it "
    "is\n"
    "not there. EXE is needed once a build: an executable or library whose predicates the reports\n"
    "are about (libraries that it is linked with are looked at, too). A report that is there\n"
    "already is not added again. What is refused is said, with the reason, and does not hinder "
    "the\n"
    "others; exit status 2: nothing could be added.\n"
    "\n"
    "Live files of runs whose 'inquest run' was killed are taken with --outcome.";

static void refuse(struct add *add, const char *path, struct error *err)
{
    _cleanup_free_ char *text = error_text(err);

    add->refused++;
    if (add->options.json) {
        json_t *item = json_object();
        json_set(item, "file", json_text(path));
        json_set(item, "reason", json_text(text));
        json_push(add->refusals, item);
    } else if (!add->options.quiet) {
        if (strstr(text, path))
            fprintf(stderr, "inquest: refused: %s\n", text);
        else
            fprintf(stderr, "inquest: refused '%s': %s\n", path, text);
    }
    error_destroy(err);
}

// ---- What there is

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name);

    return length > strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

// A run that is still going on has its directory locked.
static bool is_in_use(const char *path)
{
    _cleanup_close_ int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return descriptor >= 0 && flock(descriptor, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static struct error *walk(struct add *add, const char *path)
{
    DIR *directory = opendir(path);
    struct error *err = NULL;

    if (!directory)
        return error_errno(errno, path, "cannot read");
    for (struct dirent *entry; !err && (entry = readdir(directory));) {
        _cleanup_free_ char *inner = file_join(path, entry->d_name);
        bool is_run = strncmp(entry->d_name, RUN_SUSPECTS_PREFIX, strlen(RUN_SUSPECTS_PREFIX)) == 0;

        if (ends_with(entry->d_name, ".report") || ends_with(entry->d_name, ".live"))
            path_vec_push(&add->files, no_cleanup_ptr(inner));
        else if (is_run && !is_in_use(inner))
            err = walk(add, inner);
    }
    closedir(directory);
    return err;
}

static bool begins_with(const char *path, const char *magic, size_t length)
{
    char bytes[8] = "";
    _cleanup_close_ int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    return descriptor >= 0 && read(descriptor, bytes, length) == (ssize_t)length &&
           memcmp(bytes, magic, length) == 0;
}

static struct error *sort_arguments(struct add *add)
{
    for (size_t i = 1; i < add->options.argument_count; i++) {
        const char *path = add->options.arguments[i];
        struct stat status;
        struct error *err = NULL;

        if (stat(path, &status) < 0) {
            err = error_errno(errno, path, "cannot open");
        } else if (S_ISDIR(status.st_mode)) {
            add->directory = path;
            err = walk(add, path);
        } else {
            bool is_image = begins_with(path, "\177ELF", 4);
            path_vec_push(is_image ? &add->images : &add->files, xstrdup(path));
        }
        if (err)
            return err;
    }
    return NULL;
}

// ---- Builds

static struct error *add_build(struct add *add, const char *path)
{
    struct suspects_sites *sites;
    struct error *err = suspects_sites_open(path, &sites);

    if (err)
        return err;
    err = store_add_build(add->store, sites);
    add->builds += !err;
    suspects_sites_destroy(sites);
    return err;
}

// Those of the libraries that it is linked with that sample as well.
static struct error *add_needed(struct add *add, const char *path)
{
    struct image *image;
    struct error *err = image_open(path, NULL, 0, &image);

    for (uint32_t i = 0; !err && i < image->needed_count; i++) {
        _cleanup_free_ char *found = image_find_needed(image, image->needed[i]);
        err = found ? add_build(add, found) : NULL;
        if (err && err->code != ERROR_SYSTEM) {
            error_destroy(err);
            err = NULL;
        }
    }
    if (!err)
        image_destroy(image);
    return err;
}

static struct error *add_builds(struct add *add)
{
    struct error *err = NULL;

    for (size_t i = 0; i < add->images.length && !err; i++) {
        const char *path = add->images.data[i];
        _cleanup_free_ char *absolute = realpath(path, NULL);
        err = add_build(add, absolute ? absolute : path);
        bool is_plain = err && err->code == ERROR_NOT_FOUND;
        struct error *needed = err && !is_plain ? NULL : add_needed(add, path);
        if (is_plain && add->builds) { // but a library of it samples
            error_destroy(err);
            err = NULL;
        }
        if (err)
            error_destroy(needed);
        else
            err = needed;
    }
    return err;
}

// ---- Reports

static struct error *read_one(const struct add *add, const char *path, struct suspects_report **ret)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_read(path, &bytes);

    if (err)
        return err;
    bool is_live = ends_with(path, ".live") ||
                   (bytes.size >= 8 && memcmp(bytes.data, SUSPECTS_LIVE_MAGIC, 8) == 0);
    if (!is_live)
        return suspects_report_read(bytes.data, bytes.size, path, ret);
    if (add->outcome == SUSPECTS_UNKNOWN)
        return error_create_file(ERROR_NOT_FOUND, path,
                                 "left by a run that was not finished; --outcome passed or failed "
                                 "says how it ended");
    err = suspects_report_from_live(bytes.data, bytes.size, path, ret);
    if (!err)
        (*ret)->outcome = add->outcome;
    return err;
}

static struct error *flush_batch(struct add *add)
{
    size_t count = add->batch.length;
    struct store_added *results = xcalloc(count, sizeof(*results));
    struct error *err = count ? store_add_many(add->store, add->batch.data, count, results) : NULL;

    for (size_t i = 0; i < count; i++) {
        if (!err && results[i].refused)
            refuse(add, add->batch_names.data[i], results[i].refused);
        else if (!err && results[i].result == STORE_ADDED)
            add->added++;
        else if (!err)
            add->known++;
        suspects_report_destroy((struct suspects_report *)add->batch.data[i]);
    }
    report_vec_clear(&add->batch);
    path_vec_clear(&add->batch_names);
    free(results);
    return err;
}

static struct error *add_reports(struct add *add)
{
    struct progress progress;
    struct budget budget;
    struct error *err = NULL;

    options_budget(&add->options, &budget);
    progress_init(&progress, "adding reports", add->files.length, add->options.quiet);
    for (size_t i = 0; i < add->files.length && !err; i++) {
        struct suspects_report *report;
        struct error *refused = read_one(add, add->files.data[i], &report);

        if (refused) {
            refuse(add, add->files.data[i], refused);
        } else {
            report_vec_push(&add->batch, report);
            path_vec_push(&add->batch_names, add->files.data[i]);
        }
        if (add->batch.length == BATCH)
            err = flush_batch(add);
        progress_update(&progress, i + 1);
        if (!err && budget_is_spent(&budget))
            err = budget_error(&budget);
    }
    progress_finish(&progress);
    struct error *last = flush_batch(add);
    if (err)
        error_destroy(last);
    return err ? err : last;
}

// ---- The command

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct error *add_all(struct add *add)
{
    struct error *err = sort_arguments(add);

    if (!err && !add->files.length && add->directory)
        err = error_create(ERROR_NOT_FOUND, "no reports in '%s'", add->directory);
    if (!err)
        err = store_open(add->options.arguments[0], STORE_CREATE, &add->store);
    if (!err)
        err = add_builds(add);
    // an order that does not depend on the file system's
    if (add->files.length)
        qsort(add->files.data, add->files.length, sizeof(*add->files.data), by_path);
    return err ? err : add_reports(add);
}

static struct error *parse_outcome(struct add *add)
{
    static const char *const names[] = {"passed", "failed", NULL};

    if (!add->outcome_text)
        return NULL;
    for (int i = 0; i < 2; i++)
        if (strcmp(add->outcome_text, names[i]) == 0) {
            add->outcome = i ? SUSPECTS_FAILED : SUSPECTS_PASSED;
            return NULL;
        }
    return error_create(ERROR_USAGE, "'--outcome %s' is neither 'passed' nor 'failed'",
                        add->outcome_text);
}

static struct error *add_parse(struct add *add, int argc, char **argv)
{
    const struct option_spec specs[] = {
        {"outcome", 0, "passed|failed", "of live files that a killed 'inquest run' has left",
         OPTION_TEXT, &add->outcome_text},
        {0},
    };
    const struct command_help help = {
        .name = "suspects add",
        .usage = "STORE [EXE...] REPORT|DIR...",
        .about = about,
        .example = "inquest suspects add runs.db ./prog runs\n"
                   "inquest suspects add postgresql://db/fleet runs",
        .specs = specs,
        .least = 2,
        .most = OPTIONS_ANY,
    };
    struct error *err = options_parse(&add->options, &help, argc, argv);

    return err || add->options.help ? err : parse_outcome(add);
}

static struct error *print_result(struct add *add, bool complete)
{
    if (!add->options.json) {
        if (!add->options.quiet)
            printf("%llu added, %llu known already, %llu refused\n", (unsigned long long)add->added,
                   (unsigned long long)add->known, (unsigned long long)add->refused);
        return NULL;
    }
    _cleanup_json_ json_t *document = json_document_create("suspects_add/1", complete);
    json_set(document, "added", json_integer((json_int_t)add->added));
    json_set(document, "known", json_integer((json_int_t)add->known));
    json_set(document, "refused", json_incref(add->refusals));
    return json_document_write(document, stdout);
}

static void add_deinit(struct add *add)
{
    for (size_t i = 0; i < add->images.length; i++)
        free(add->images.data[i]);
    for (size_t i = 0; i < add->files.length; i++)
        free(add->files.data[i]);
    path_vec_deinit(&add->images);
    path_vec_deinit(&add->files);
    report_vec_deinit(&add->batch);
    path_vec_deinit(&add->batch_names);
    json_decref(add->refusals);
    store_close(add->store);
}

int cli_suspects_add(int argc, char **argv)
{
    struct add add = {.refusals = json_array()};
    struct error *err = add_parse(&add, argc, argv);

    if (!err && add.options.help) {
        add_deinit(&add);
        options_deinit(&add.options);
        return CLI_FOUND;
    }
    if (!err)
        err = add_all(&add);
    bool is_spent = err && err->code == ERROR_LIMIT;
    if (!err || add.added || add.known || add.refused) {
        struct error *wrong = print_result(&add, !err);
        if (err)
            error_destroy(wrong);
        else
            err = wrong;
    }
    bool nothing = add.refused && !add.added && !add.known;
    add_deinit(&add);
    if (err) {
        options_fail(&add.options, err);
        return is_spent ? CLI_UNDECIDED : CLI_TROUBLE;
    }
    options_deinit(&add.options);
    return nothing ? CLI_TROUBLE : CLI_FOUND;
}

// ---- merge

static const char merge_about[] = "Adds all builds and runs of other stores that the store does "
                                  "not have. Stores may be files and\n"
                                  "PostgreSQL databases, mixed as one likes.";

static struct error *merge_all(const struct options *options, uint64_t *added, uint64_t *known)
{
    struct store *store = NULL;
    struct error *err = store_open(options->arguments[0], STORE_CREATE, &store);

    for (size_t i = 1; i < options->argument_count && !err; i++) {
        struct store *other = NULL;
        uint64_t some = 0, others = 0;

        err = store_open(options->arguments[i], STORE_READ, &other);
        if (!err)
            err = store_merge(store, other, &some, &others);
        *added += some;
        *known += others;
        store_close(other);
    }
    store_close(store);
    return err;
}

int cli_suspects_merge(int argc, char **argv)
{
    const struct command_help help = {
        .name = "suspects merge",
        .usage = "STORE OTHER...",
        .about = merge_about,
        .example = "inquest suspects merge all.db monday.db tuesday.db",
        .least = 2,
        .most = OPTIONS_ANY,
    };
    struct options options;
    uint64_t added = 0, known = 0;
    struct error *err = options_parse(&options, &help, argc, argv);

    if (!err && options.help) {
        options_deinit(&options);
        return CLI_FOUND;
    }
    if (!err)
        err = merge_all(&options, &added, &known);
    if (err)
        return options_fail(&options, err);
    if (options.json) {
        _cleanup_json_ json_t *document = json_document_create("suspects_merge/1", true);
        json_set(document, "added", json_integer((json_int_t)added));
        json_set(document, "known", json_integer((json_int_t)known));
        err = json_document_write(document, stdout);
    } else if (!options.quiet) {
        printf("%llu added, %llu known already\n", (unsigned long long)added,
               (unsigned long long)known);
    }
    if (err)
        return options_fail(&options, err);
    options_deinit(&options);
    return CLI_FOUND;
}
