// SPDX-License-Identifier: Apache-2.0
/*
 * The file that the counters of this process live in (layout/suspects.h). It is mapped over the
 * counters of every module, so that counting is writing the file, and nothing is left to be done
 * when the process ends, in whatever way.
 *
 * A child that is forked has its parent's mappings. It gets a file of its own before it counts
 * anything: by the handler that libc runs in it, or, where the kernel was asked directly, because
 * the page `here` is empty in a child. A child of vfork shares all memory, that page too, and
 * counts for its parent until it is another program.
 */
#include "layout/suspects.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

struct runtime __inquest_runtime;

extern const struct suspects_descriptor __start_inquest_suspects[]
    __attribute__((weak, visibility("hidden")));
extern const struct suspects_descriptor __stop_inquest_suspects[]
    __attribute__((weak, visibility("hidden")));
extern char **environ __attribute__((weak));
extern void *__dso_handle __attribute__((weak, visibility("hidden")));
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso)
    __attribute__((weak));

static uint8_t here_page[SUSPECTS_PAGE] __attribute__((aligned(SUSPECTS_PAGE)));
static const uint8_t here_always = 1;
static struct suspects_live header;

// ---- The file

static uint64_t page_up(uint64_t size)
{
    return (size + SUSPECTS_PAGE - 1) / SUSPECTS_PAGE * SUSPECTS_PAGE;
}

static uint32_t module_count(void)
{
    return (uint32_t)(__stop_inquest_suspects - __start_inquest_suspects);
}

static uint64_t counters_size(const struct suspects_descriptor *module)
{
    return page_up((uint64_t)module->counter_count * sizeof(uint32_t));
}

static uint64_t header_size(void)
{
    return page_up(sizeof(header) + module_count() * sizeof(struct suspects_live_module));
}

static uint64_t file_size(void)
{
    uint64_t size = header_size();

    for (uint32_t m = 0; m < module_count(); m++)
        size += counters_size(&__start_inquest_suspects[m]);
    return size;
}

static bool write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    return system_call(SYS_pwrite64, fd, (long)data, (long)size, (long)offset, 0, 0) == (long)size;
}

// Room on disk for all of it: a page that could not be written would kill the program.
static bool reserve(int fd, uint64_t size)
{
    static const uint8_t zeros[SUSPECTS_PAGE];
    struct rlimit limit;

    if (system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) == 0 &&
        limit.rlim_cur < size)
        return false; // the signal that comes with it would kill, too
    if (system_call(SYS_fallocate, fd, 0, 0, (long)size, 0, 0) == 0)
        return true;
    for (uint64_t at = 0; at < size; at += sizeof(zeros))
        if (!write_at(fd, zeros, sizeof(zeros), at))
            return false;
    return true;
}

static bool write_modules(int fd)
{
    uint64_t offset = header_size();

    for (uint32_t m = 0; m < module_count(); m++) {
        const struct suspects_descriptor *module = &__start_inquest_suspects[m];
        struct suspects_live_module entry = {.module_id = module->module_id,
                                             .counter_count = module->counter_count,
                                             .offset = offset};

        if (!write_at(fd, &entry, sizeof(entry), sizeof(header) + m * sizeof(entry)))
            return false;
        offset += counters_size(module);
    }
    return true;
}

static bool map_modules(int fd)
{
    uint64_t offset = header_size();

    for (uint32_t m = 0; m < module_count(); m++) {
        const struct suspects_descriptor *module = &__start_inquest_suspects[m];
        uintptr_t counters = (uintptr_t)module + (uintptr_t)module->counters_offset;
        uint64_t size = counters_size(module);

        if (size && system_call(SYS_mmap, (long)counters, (long)size, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_FIXED, fd, (long)offset) != (long)counters)
            return false;
        offset += size;
    }
    return true;
}

// Memory that nobody else sees in place of what was mapped.
static void unmap_modules(void)
{
    for (uint32_t m = 0; m < module_count(); m++) {
        const struct suspects_descriptor *module = &__start_inquest_suspects[m];

        if (module->counter_count)
            system_call(SYS_mmap, (long)((uintptr_t)module + (uintptr_t)module->counters_offset),
                        (long)counters_size(module), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
}

static void describe(uint32_t parent)
{
    struct timespec now = {0, 0};

    header.version = SUSPECTS_LIVE_VERSION;
    header.header_length = (uint32_t)header_size();
    header.module_count = module_count();
    header.rate = __inquest_runtime.options.rate;
    header.process = __inquest_runtime.process;
    header.parent = parent;
    system_call_3(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0);
    header.start = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (system_call_3(SYS_getrandom, (long)header.run_id, sizeof(header.run_id), 0) !=
        (long)sizeof(header.run_id)) {
        uint64_t state = header.start ^ (uint64_t)header.process << 32;

        for (unsigned i = 0; i < sizeof(header.run_id); i++)
            header.run_id[i] = (uint8_t)__inquest_random(&state);
    }
    struct runtime_options *options = &__inquest_runtime.options;
    for (unsigned i = 0; !options->has_seed && i < 7; i++)
        options->seed = options->seed << 8 | header.run_id[i];
    options->has_seed = true;
    header.seed = options->seed;
}

// DIRECTORY/PROCESS-RUN.live
static bool make_name(char *name)
{
    static const char digits[] = "0123456789abcdef", suffix[] = ".live";
    char number[12];
    size_t at = 0, count = 0;

    for (const char *c = __inquest_runtime.options.directory; *c; c++)
        name[at++] = *c;
    if (at + 64 > RUNTIME_PATH)
        return false;
    name[at++] = '/';
    for (uint32_t rest = header.process; rest || !count; rest /= 10)
        number[count++] = (char)('0' + rest % 10);
    while (count)
        name[at++] = number[--count];
    name[at++] = '-';
    for (unsigned i = 0; i < sizeof(header.run_id); i++) {
        name[at++] = digits[header.run_id[i] >> 4];
        name[at++] = digits[header.run_id[i] & 15];
    }
    for (const char *c = suffix; *c; c++)
        name[at++] = *c;
    name[at] = '\0';
    return true;
}

static bool fill(int fd)
{
    static const char no_magic[sizeof(header.magic)];

    for (unsigned i = 0; i < sizeof(header.magic); i++)
        header.magic[i] = no_magic[i];
    return reserve(fd, file_size()) && write_at(fd, &header, sizeof(header), 0) &&
           write_modules(fd) && map_modules(fd) &&
           write_at(fd, SUSPECTS_LIVE_MAGIC, sizeof(header.magic), 0);
}

static bool open_file(uint32_t parent)
{
    static char name[RUNTIME_PATH];

    describe(parent);
    if (!make_name(name))
        return false;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, (long)name,
                              O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644, 0, 0);
    if (fd < 0)
        return false;
    bool ok = fill(fd);
    system_call_3(SYS_close, fd, 0, 0);
    if (!ok)
        system_call_3(SYS_unlink, (long)name, 0, 0);
    return ok;
}

// ---- Start and fork

static const char *find_options(void)
{
    static const char name[] = "INQUEST_OPTIONS=";

    // somebody else's files are not to be made with the rights of this program
    if (system_call_3(SYS_getuid, 0, 0, 0) != system_call_3(SYS_geteuid, 0, 0, 0) ||
        system_call_3(SYS_getgid, 0, 0, 0) != system_call_3(SYS_getegid, 0, 0, 0))
        return NULL;
    for (char **variable = &environ ? environ : NULL; variable && *variable; variable++) {
        size_t i = 0;

        while (name[i] && (*variable)[i] == name[i])
            i++;
        if (!name[i])
            return *variable + i;
    }
    return NULL;
}

static void set_here(void)
{
    if (__inquest_runtime.here != here_page &&
        system_call_3(SYS_madvise, (long)here_page, sizeof(here_page), MADV_WIPEONFORK) != 0) {
        __inquest_runtime.here = &here_always;
        return;
    }
    here_page[0] = 1;
    __inquest_runtime.here = here_page;
}

static uint32_t process_number(void)
{
    return (uint32_t)system_call_3(SYS_getpid, 0, 0, 0);
}

static int start(void)
{
    struct runtime *runtime = &__inquest_runtime;

    if (!__start_inquest_suspects || !__inquest_options_read(find_options(), &runtime->options))
        return RUNTIME_OFF;
    runtime->process = process_number();
    __inquest_image_describe(&header);
    if (!open_file(0)) {
        unmap_modules();
        return RUNTIME_OFF;
    }
    runtime->seed = runtime->options.seed;
    runtime->scale = __inquest_gap_scale(runtime->options.rate);
    set_here();
    return RUNTIME_ON;
}

// In a new process. Its sequence follows from its parent's and from how many were forked before.
static int restart(void)
{
    struct runtime *runtime = &__inquest_runtime;
    uint32_t parent = runtime->process;

    runtime->process = process_number();
    runtime->threads = 0;
    runtime->epoch++;
    runtime->seed += runtime->forks + 1;
    __inquest_random(&runtime->seed);
    runtime->forks = 0;
    bool ok = open_file(parent);
    if (!ok)
        unmap_modules();
    set_here();
    return ok ? RUNTIME_ON : RUNTIME_OFF;
}

RUNTIME_CALLED void __inquest_live_start(void)
{
    struct runtime *runtime = &__inquest_runtime;
    int state = RUNTIME_NEW;

    if (__atomic_compare_exchange_n(&runtime->state, &state, RUNTIME_BUSY, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        __atomic_store_n(&runtime->state, start(), __ATOMIC_RELEASE);
        return;
    }
    if (state != RUNTIME_ON || *(const volatile uint8_t *)runtime->here)
        return;
    if (__atomic_compare_exchange_n(&runtime->state, &state, RUNTIME_BUSY, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
        __atomic_store_n(&runtime->state, restart(), __ATOMIC_RELEASE);
}

static void before_fork(void)
{
    __atomic_fetch_add(&__inquest_runtime.forks, 1, __ATOMIC_RELAXED);
}

static void in_child(void)
{
    struct runtime *runtime = &__inquest_runtime;

    if (runtime->here == &here_always && process_number() != runtime->process &&
        runtime->state == RUNTIME_ON)
        runtime->state = restart();
    else
        __inquest_live_start();
}

// As early as constructors get; what runs before comes to a head and starts all the same.
__attribute__((constructor(101))) static void construct(void)
{
    __inquest_live_start();
    if (__inquest_runtime.state == RUNTIME_ON && __register_atfork)
        __register_atfork(before_fork, NULL, in_child, &__dso_handle ? &__dso_handle : NULL);
}
