// SPDX-License-Identifier: Apache-2.0
/*
 * `inquest doctor`: what on this machine would stop a core from being had, and what to do about it.
 * core(5) and ptrace(2) are where the rules come from.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/color.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/strbuf.h"
#include "common/vec.h"
#include "program/image.h"
#include "program/link_needs.h"

enum health {
    HEALTH_OK,
    HEALTH_WARN,
    HEALTH_FAIL,
};

struct finding {
    enum health health;
    const char *name;
    char *found;
    char *advice; // or NULL
};

VEC_DEFINE(finding_vec, struct finding);

struct doctor {
    struct finding_vec findings;
    char *pattern;        // core_pattern, or NULL
    bool piped;           // to a program
    char *core_directory; // where a core would be written; NULL when piped
};

static void find(struct doctor *doctor, enum health health, const char *name, const char *advice,
                 const char *format, ...) __attribute__((__format__(__printf__, 5, 6)));

static void find(struct doctor *doctor, enum health health, const char *name, const char *advice,
                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct finding finding = {health, name, xvasprintf(format, arguments),
                              advice ? xstrdup(advice) : NULL};
    va_end(arguments);
    finding_vec_push(&doctor->findings, finding);
}

// The first line of a small file; NULL when it cannot be read. To be freed.
static char *read_line(const char *path)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_read(path, &bytes);
    if (err) {
        error_destroy(err);
        return NULL;
    }
    return xstrndup((const char *)bytes.data, strcspn((const char *)bytes.data, "\n"));
}

static bool read_number(const char *path, int base, uint64_t *out)
{
    _cleanup_free_ char *line = read_line(path);
    char *end = NULL;
    if (!line)
        return false;
    *out = strtoull(line, &end, base);
    return end != line;
}

// --- core files ---

#define RUN_INSTEAD "use 'inquest run -- CMD', which needs no core from the kernel"

static void check_limit(struct doctor *doctor)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) != 0)
        return;
    if (doctor->piped && limit.rlim_cur != 1)
        find(doctor, HEALTH_OK, "core size limit", NULL,
             "does not count: cores are piped to a program");
    else if (limit.rlim_cur == RLIM_INFINITY)
        find(doctor, HEALTH_OK, "core size limit", NULL, "unlimited");
    else if (limit.rlim_cur <= 1 && limit.rlim_max > 1)
        find(doctor, HEALTH_FAIL, "core size limit", "ulimit -c unlimited",
             "%" PRIu64 ": no core is written", (uint64_t)limit.rlim_cur);
    else if (limit.rlim_cur <= 1)
        find(doctor, HEALTH_FAIL, "core size limit",
             "have the hard limit raised (limits.conf, LimitCORE= of systemd, docker run --ulimit "
             "core=-1), or " RUN_INSTEAD,
             "%" PRIu64 ", and the hard limit forbids more: no core is written",
             (uint64_t)limit.rlim_cur);
    else
        find(doctor, HEALTH_WARN, "core size limit", "ulimit -c unlimited",
             "%" PRIu64 " bytes: larger cores are cut, and a cut core is refused",
             (uint64_t)limit.rlim_cur);
}

static void check_file_limit(struct doctor *doctor)
{
    struct rlimit limit;
    if (doctor->piped || getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY)
        find(doctor, HEALTH_OK, "file size limit", NULL, "unlimited");
    else
        find(doctor, HEALTH_WARN, "file size limit", "ulimit -f unlimited",
             "%" PRIu64 " bytes: larger cores are cut", (uint64_t)limit.rlim_cur);
}

static void check_pipe(struct doctor *doctor)
{
    const char *program = doctor->pattern + 1;
    _cleanup_free_ char *path = xstrndup(program, strcspn(program, " "));
    if (strstr(path, "systemd-coredump"))
        find(doctor, HEALTH_OK, "core pattern", "fetch a core with: coredumpctl -o core dump PID",
             "piped to systemd-coredump");
    else if (strstr(path, "apport"))
        find(doctor, HEALTH_WARN, "core pattern",
             "apport drops cores of programs that are in no package: sysctl "
             "kernel.core_pattern=core, or " RUN_INSTEAD,
             "piped to apport");
    else if (access(path, X_OK) != 0)
        find(doctor, HEALTH_FAIL, "core pattern",
             "sysctl kernel.core_pattern=core, or " RUN_INSTEAD,
             "piped to '%s', which is not there (it may be on the host of this container)", path);
    else
        find(doctor, HEALTH_WARN, "core pattern",
             "find out where it keeps cores; or sysctl kernel.core_pattern=core; or " RUN_INSTEAD,
             "piped to '%s'", path);
}

static void check_pattern(struct doctor *doctor)
{
    if (!doctor->pattern)
        find(doctor, HEALTH_WARN, "core pattern", RUN_INSTEAD,
             "/proc/sys/kernel/core_pattern cannot be read");
    else if (doctor->piped)
        check_pipe(doctor);
    else if (doctor->pattern[0] == '\0')
        find(doctor, HEALTH_FAIL, "core pattern",
             "sysctl kernel.core_pattern=core, or " RUN_INSTEAD,
             "empty: cores have no name and are not written");
    else
        find(
            doctor, HEALTH_OK, "core pattern", NULL, "'%s': written to %s", doctor->pattern,
            doctor->pattern[0] == '/' ? doctor->core_directory : "the program's current directory");
}

static void check_directory(struct doctor *doctor)
{
    struct statvfs status;
    const char *directory = doctor->core_directory;
    if (!directory)
        return;
    if (access(directory, W_OK | X_OK) != 0)
        find(doctor, HEALTH_FAIL, "core directory",
             "run the program elsewhere, or have kernel.core_pattern changed, or " RUN_INSTEAD,
             "'%s' cannot be written to: %s", directory, strerror(errno));
    else
        find(doctor, HEALTH_OK, "core directory", NULL, "'%s' can be written to", directory);
    if (statvfs(directory, &status) != 0)
        return;
    uint64_t mebibytes = (uint64_t)status.f_bavail * status.f_frsize >> 20;
    enum health health = mebibytes < 16 ? HEALTH_FAIL : mebibytes < 1024 ? HEALTH_WARN : HEALTH_OK;
    find(doctor, health, "disk space",
         health == HEALTH_OK ? NULL : "make room: a core is as large as the program's memory",
         "%" PRIu64 " MiB free in '%s'", mebibytes, directory);
}

static void check_dumpable(struct doctor *doctor)
{
    uint64_t value;
    if (!read_number("/proc/sys/fs/suid_dumpable", 10, &value))
        return;
    if (value == 0)
        find(doctor, HEALTH_OK, "set-user-ID programs", NULL,
             "leave no core (fs.suid_dumpable is 0); others are not concerned");
    else
        find(doctor, HEALTH_OK, "set-user-ID programs", NULL, "fs.suid_dumpable is %" PRIu64,
             value);
}

// Bits as in core(5): 0 private memory, 4 ELF headers. Pages as they are in a file (bit 2) are read
// from that file.
static void check_filter(struct doctor *doctor)
{
    uint64_t value;
    if (!read_number("/proc/self/coredump_filter", 16, &value))
        return;
    if (!(value & 1u << 0))
        find(doctor, HEALTH_FAIL, "core filter", "echo 0x33 > /proc/self/coredump_filter",
             "0x%" PRIx64 ": stacks and data are left out of cores", value);
    else if (!(value & (1u << 4 | 1u << 2)))
        find(doctor, HEALTH_WARN, "core filter", "echo 0x33 > /proc/self/coredump_filter",
             "0x%" PRIx64 ": without ELF headers cores cannot be tied to their build for certain",
             value);
    else
        find(doctor, HEALTH_OK, "core filter", NULL, "0x%" PRIx64, value);
}

// --- the machine ---

static void check_container(struct doctor *doctor)
{
    const char *kind = getenv("container");
    if (access("/.dockerenv", F_OK) == 0)
        kind = "docker";
    else if (access("/run/.containerenv", F_OK) == 0)
        kind = "podman";
    else if (access("/run/systemd/container", F_OK) == 0)
        kind = "systemd";
    if (kind && doctor->piped)
        find(doctor, HEALTH_WARN, "container", RUN_INSTEAD,
             "this is a container (%s): core_pattern is its host's, and so is where cores go",
             kind);
    else if (kind)
        find(doctor, HEALTH_OK, "container", NULL, "this is a container (%s)", kind);
    else
        find(doctor, HEALTH_OK, "container", NULL, "none that can be seen");
}

// Tries what `inquest run` does: a child that asks to be traced. 0, or an errno value.
static int try_trace(void)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return errno;
    if (child == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : errno);
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return errno;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINVAL;
}

static void check_trace(struct doctor *doctor)
{
    int failed = try_trace();
    uint64_t scope = 0;
    bool has_scope = read_number("/proc/sys/kernel/yama/ptrace_scope", 10, &scope);
    if (failed)
        find(doctor, HEALTH_FAIL, "ptrace",
             has_scope && scope > 1 ? "sysctl kernel.yama.ptrace_scope=1"
                                    : "allow ptrace in this container (docker run "
                                      "--cap-add=SYS_PTRACE)",
             "'inquest run' cannot trace its child: %s", strerror(failed));
    else if (has_scope)
        find(doctor, HEALTH_OK, "ptrace", NULL,
             "'inquest run' can trace its child (ptrace_scope %" PRIu64 ")", scope);
    else
        find(doctor, HEALTH_OK, "ptrace", NULL, "'inquest run' can trace its child");
}

// --- the compiler side ---

// Whether a program of that name is in PATH; *out is its path, to be freed.
static bool find_program(const char *name, char **out)
{
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t length = strcspn(at, ":");
        _cleanup_free_ char *directory = xstrndup(at, length);
        _cleanup_free_ char *path = file_join(length ? directory : ".", name);
        if (access(path, X_OK) == 0) {
            *out = no_cleanup_ptr(path);
            return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

static void check_compiler(struct doctor *doctor)
{
    _cleanup_free_ char *path = NULL;
    if (find_program("clang-19", &path))
        find(doctor, HEALTH_OK, "clang-19", NULL, "%s", path);
    else
        find(doctor, HEALTH_FAIL, "clang-19", "apt-get install clang-19",
             "not found: inquest-cc cannot compile");
}

// The directory of this very program; NULL when the kernel does not tell. To be freed.
static char *own_directory(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    return slash ? xstrndup(path, (size_t)(slash - path)) : NULL;
}

static void check_file(struct doctor *doctor, const char *name, const char *path, int mode)
{
    if (access(path, mode) == 0)
        find(doctor, HEALTH_OK, name, NULL, "%s", path);
    else
        find(doctor, HEALTH_FAIL, name, "install Inquest again", "'%s': %s", path, strerror(errno));
}

static void check_own_files(struct doctor *doctor)
{
    _cleanup_free_ char *directory = own_directory();
    if (!directory)
        return;
    _cleanup_free_ char *driver = file_join(directory, "inquest-cc");
    _cleanup_free_ char *plugin = file_join(directory, "../lib/inquest/inquest-plugin.so");
    check_file(doctor, "inquest-cc", driver, X_OK);
    check_file(doctor, "compiler plugin", plugin, R_OK);
}

// --- linking again ---

static enum health need_health(const struct link_need *need)
{
    bool is_user =
        need->input != LINK_NONE && need->record->inputs.data[need->input].origin == LINK_USER;
    if (need->status < LINK_STATUS_DIFFERS)
        return HEALTH_OK;
    return need->status == LINK_STATUS_DIFFERS && !is_user ? HEALTH_WARN : HEALTH_FAIL;
}

static void check_need(struct doctor *doctor, const struct link_need *need)
{
    enum health health = need_health(need);
    if (health == HEALTH_OK)
        return;
    bool differs = need->status == LINK_STATUS_DIFFERS;
    find(doctor, health, "link input", link_need_advice(need), "'%s' %s%s%s%s", need->name,
         differs ? "is another than was linked" : "is missing", need->path ? ": '" : "",
         need->path ? need->path : "", need->path ? "'" : "");
}

// What the program was linked from: a line for each input that is not there, and one that counts
// all.
static struct error *check_link(struct doctor *doctor, const char *path, const char *directory)
{
    struct image *image = NULL;
    struct link_needs needs = VEC_INIT;
    size_t counts[LINK_STATUS_COUNT] = {0};
    struct error *err = image_open(path, NULL, 0, &image);
    if (!err)
        err = link_needs_find(image, directory, &needs);
    for (size_t i = 0; !err && i < needs.length; i++) {
        counts[needs.data[i].status]++;
        check_need(doctor, &needs.data[i]);
    }
    if (!err)
        find(doctor, HEALTH_OK, "link inputs", NULL,
             "%zu in the model, %zu embedded, %zu files the same, %zu others, %zu missing",
             counts[LINK_STATUS_MODEL], counts[LINK_STATUS_EMBEDDED], counts[LINK_STATUS_SAME],
             counts[LINK_STATUS_DIFFERS], counts[LINK_STATUS_MISSING]);
    link_needs_destroy(&needs);
    image_destroy(image);
    return err;
}

// --- all of it ---

static void doctor_init(struct doctor *doctor)
{
    *doctor = (struct doctor){.pattern = read_line("/proc/sys/kernel/core_pattern")};
    doctor->piped = doctor->pattern && doctor->pattern[0] == '|';
    if (doctor->piped)
        return;
    const char *slash = doctor->pattern ? strrchr(doctor->pattern, '/') : NULL;
    if (slash && doctor->pattern[0] == '/')
        doctor->core_directory = slash == doctor->pattern
                                     ? xstrdup("/")
                                     : xstrndup(doctor->pattern, (size_t)(slash - doctor->pattern));
    else
        doctor->core_directory = get_current_dir_name();
}

static void doctor_deinit(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->findings.length; i++) {
        free(doctor->findings.data[i].found);
        free(doctor->findings.data[i].advice);
    }
    finding_vec_deinit(&doctor->findings);
    free(doctor->pattern);
    free(doctor->core_directory);
}

static void examine(struct doctor *doctor)
{
    check_limit(doctor);
    check_file_limit(doctor);
    check_pattern(doctor);
    check_directory(doctor);
    check_filter(doctor);
    check_dumpable(doctor);
    check_container(doctor);
    check_trace(doctor);
    check_compiler(doctor);
    check_own_files(doctor);
}

static enum health worst(const struct doctor *doctor)
{
    enum health health = HEALTH_OK;
    for (size_t i = 0; i < doctor->findings.length; i++) {
        if (doctor->findings.data[i].health > health)
            health = doctor->findings.data[i].health;
    }
    return health;
}

static const char *const health_names[] = {
    [HEALTH_OK] = "ok",
    [HEALTH_WARN] = "warn",
    [HEALTH_FAIL] = "fail",
};

static void print_text(const struct doctor *doctor, bool quiet)
{
    static const enum color colors[] = {COLOR_GREEN, COLOR_YELLOW, COLOR_RED};
    bool color = color_enabled(stdout);
    for (size_t i = 0; i < doctor->findings.length; i++) {
        const struct finding *finding = &doctor->findings.data[i];
        if (quiet && finding->health == HEALTH_OK)
            continue;
        _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
        strbuf_append_escaped(&text, finding->found);
        printf("%s%-4s%s %s: %s\n", color_start(color, colors[finding->health]),
               health_names[finding->health], color_end(color), finding->name, text.data);
        if (finding->advice)
            printf("       %s%s%s\n", color_start(color, COLOR_DIM), finding->advice,
                   color_end(color));
    }
}

static struct error *print_json(const struct doctor *doctor)
{
    _cleanup_json_ json_t *document = json_document_create("doctor/1", true);
    json_t *checks = json_array();
    for (size_t i = 0; i < doctor->findings.length; i++) {
        const struct finding *finding = &doctor->findings.data[i];
        json_t *check = json_object();
        json_set(check, "name", json_text(finding->name));
        json_set(check, "status", json_text(health_names[finding->health]));
        json_set(check, "found", json_text(finding->found));
        json_set(check, "advice", json_text(finding->advice));
        json_push(checks, check);
    }
    json_set(document, "status", json_text(health_names[worst(doctor)]));
    json_set(document, "checks", checks);
    return json_document_write(document, stdout);
}

int cli_doctor(int argc, char **argv)
{
    const char *directory = NULL;
    const struct option_spec specs[] = {
        {"directory", 0, "DIR", "where EXE was linked, if that has moved", OPTION_TEXT, &directory},
        {0}};
    const struct command_help help = {
        .name = "doctor",
        .usage = "[EXE [--directory DIR]]",
        .about =
            "Says what on this machine would stop a core from being had: limits, where the kernel\n"
            "sends cores, disk space, containers, ptrace, and whether the compiler side is there.\n"
            "Of a program EXE also, whether what it was linked from is there, so that it could be\n"
            "linked again. Each line is ok, warn or fail, with what to do. Run it where, and as\n"
            "whom, the program runs. Exit status 1 when a line says fail.",
        .example = "inquest doctor",
        .specs = specs,
        .most = 1,
    };
    struct options options;
    struct error *err = options_parse(&options, &help, argc, argv);
    if (err)
        return options_fail(&options, err);
    if (options.help) {
        options_deinit(&options);
        return CLI_FOUND;
    }
    struct doctor doctor;
    doctor_init(&doctor);
    examine(&doctor);
    if (options.argument_count)
        err = check_link(&doctor, options.arguments[0], directory);
    if (!err && options.json)
        err = print_json(&doctor);
    else if (!err)
        print_text(&doctor, options.quiet);
    int status = worst(&doctor) == HEALTH_FAIL ? CLI_NOT_FOUND : CLI_FOUND;
    doctor_deinit(&doctor);
    if (err)
        return options_fail(&options, err);
    options_deinit(&options);
    return status;
}
