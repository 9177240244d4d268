// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a program instruction by instruction from main and, at chosen instructions, leaves a core of
 * exactly that moment.
 *
 *     stepper PLAN OUT PROGRAM NAME ARGUMENT...        (NAME is its argv[0])
 *
 * The core is the kernel's own, and the signal is real: at a chosen instruction the tracee is made
 * to fork (a system call is run on its behalf and all its registers are put back), and the child,
 * an exact copy that has not moved, is sent the signal. The parent goes on, so that one run gives
 * many crashes.
 *
 * Library calls are run at full speed, with a breakpoint at the return address, except those that
 * the plan names (they call back, or jump elsewhere) and one in SAMPLE of the others.
 *
 * PLAN, one item a line, numbers in hexadecimal as addresses in the ELF file unless said otherwise:
 *     image NAME           file name that /proc/PID/maps has for the program
 *     first ADDRESS        lowest address of its first loaded segment
 *     main ADDRESS         where stepping begins
 *     text LOW HIGH        code of the program proper (PLT excluded)
 *     function LOW HIGH    a function whose entries are counted
 *     through ADDRESS      a PLT entry to step through
 *     limit N              steps at most (decimal)
 *     random N             which calls are followed, whatever the stops are (decimal)
 *     stop N SIGNAL        leave a core after N steps (decimal, ascending)
 *
 * OUT/steps gets one line a core:
 *     core FILE step N signal S pc P sp Q entries E stack RETURN...
 * with addresses as in the process, innermost return address first; `entries` counts function
 * entries so far. A line `base ADDRESS` comes first, and `end REASON` last. OUT/entries has the
 * entered functions' addresses as in the ELF file, 64 bits each, in order; OUT/calls the addresses
 * of executed call instructions of the program with the number of the core before which they ran
 * first, as text.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLE = 64, FRAMES_MAX = 1 << 20 };

struct range {
    uint64_t low, high;
};

struct stop {
    uint64_t step;
    int signal;
};

struct plan {
    char image[4096];
    uint64_t first, main, limit, random;
    struct range text;
    struct range *functions;
    size_t function_count;
    uint64_t *through;
    size_t through_count;
    struct stop *stops;
    size_t stop_count;
};

// One activation: where its return address lies and what it is.
struct frame {
    uint64_t slot, returns_to;
};

struct stepper {
    struct plan plan;
    const char *out;
    FILE *steps, *entries;
    pid_t pid;
    int memory;    // /proc/PID/mem
    uint64_t base; // what to add to addresses of the ELF file
    uint64_t syscall_address;
    struct user_regs_struct now, before;
    struct frame *frames;
    size_t depth;
    uint64_t step, entry_count;
    size_t stop_next, cores;
    uint32_t *call_seen; // by offset in text: 1 + number of cores before it ran first
    uint64_t random;
};

static void die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("stepper: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

static void *grow(void *array, size_t count, size_t size)
{
    if (count & (count - 1))
        return array;
    array = realloc(array, (count ? count * 2 : 1) * size);
    if (!array)
        die("out of memory");
    return array;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return x->low < y->low ? -1 : x->low > y->low;
}

static void read_plan_line(struct plan *plan, const char *line)
{
    unsigned long long a, b;
    int signal;

    if (sscanf(line, "image %4095[^\n]", plan->image) == 1)
        return;
    if (sscanf(line, "first %llx", &a) == 1)
        plan->first = a;
    else if (sscanf(line, "main %llx", &a) == 1)
        plan->main = a;
    else if (sscanf(line, "text %llx %llx", &a, &b) == 2)
        plan->text = (struct range){a, b};
    else if (sscanf(line, "limit %llu", &a) == 1)
        plan->limit = a;
    else if (sscanf(line, "random %llu", &a) == 1)
        plan->random = a;
    else if (sscanf(line, "function %llx %llx", &a, &b) == 2) {
        plan->functions = grow(plan->functions, plan->function_count, sizeof(struct range));
        plan->functions[plan->function_count++] = (struct range){a, b};
    } else if (sscanf(line, "through %llx", &a) == 1) {
        plan->through = grow(plan->through, plan->through_count, sizeof(uint64_t));
        plan->through[plan->through_count++] = a;
    } else if (sscanf(line, "stop %llu %d", &a, &signal) == 2) {
        plan->stops = grow(plan->stops, plan->stop_count, sizeof(struct stop));
        plan->stops[plan->stop_count++] = (struct stop){a, signal};
    } else
        die("bad line in the plan: %s", line);
}

static void read_plan(struct plan *plan, const char *name)
{
    FILE *file = fopen(name, "r");
    char line[8192];

    if (!file)
        die("cannot open '%s'", name);
    while (fgets(line, sizeof(line), file))
        read_plan_line(plan, line);
    fclose(file);
    if (plan->function_count)
        qsort(plan->functions, plan->function_count, sizeof(struct range), compare_ranges);
}

static void start_tracee(struct stepper *s, char **command)
{
    struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    cpu_set_t one;
    int status;

    // on one processor the two take turns without waking up another one
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    s->pid = fork();
    if (s->pid == 0) {
        setrlimit(RLIMIT_CORE, &unlimited);
        for (int number = 1; number < 32; number++)
            signal(number, SIG_DFL); // a shell in the background ignores some
        personality(ADDR_NO_RANDOMIZE);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(command[0], command + 1);
        _exit(127);
    }
    if (waitpid(s->pid, &status, 0) < 0 || !WIFSTOPPED(status))
        die("cannot start '%s'", command[0]);
    ptrace(PTRACE_SETOPTIONS, s->pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK);
    char name[64];
    snprintf(name, sizeof(name), "/proc/%d/mem", (int)s->pid);
    s->memory = open(name, O_RDWR | O_CLOEXEC);
    if (s->memory < 0)
        die("cannot open '%s'", name);
}

static void peek(const struct stepper *s, uint64_t address, void *data, size_t size)
{
    if (pread(s->memory, data, size, (off_t)address) != (ssize_t)size)
        die("cannot read memory at %#llx", (unsigned long long)address);
}

static void poke(const struct stepper *s, uint64_t address, const void *data, size_t size)
{
    if (pwrite(s->memory, data, size, (off_t)address) != (ssize_t)size)
        die("cannot write memory at %#llx", (unsigned long long)address);
}

static uint64_t find_base(const struct stepper *s)
{
    char name[64], line[8192], path[4096];
    unsigned long long low;

    snprintf(name, sizeof(name), "/proc/%d/maps", (int)s->pid);
    FILE *maps = fopen(name, "r");
    while (maps && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%llx-%*x %*s %*s %*s %*s %4095[^\n]", &low, path) == 2 &&
            strcmp(path, s->plan.image) == 0) {
            fclose(maps);
            return low - (s->plan.first & ~4095ull);
        }
    die("'%s' is not mapped", s->plan.image);
    return 0;
}

// A `syscall` instruction somewhere in the code of a library.
static uint64_t find_syscall(const struct stepper *s)
{
    char name[64], line[8192], access[8], path[4096];
    unsigned long long low, high;
    static unsigned char code[1 << 16];
    uint64_t found = 0;

    snprintf(name, sizeof(name), "/proc/%d/maps", (int)s->pid);
    FILE *maps = fopen(name, "r");
    while (maps && !found && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%llx-%llx %7s %*s %*s %*s %4095[^\n]", &low, &high, access, path) != 4 ||
            access[2] != 'x')
            continue;
        for (uint64_t at = low; at < high && !found; at += sizeof(code)) {
            size_t left = high - at < sizeof(code) ? high - at : sizeof(code);
            ssize_t size = pread(s->memory, code, left, (off_t)at);
            for (ssize_t i = 0; i + 1 < size; i++)
                if (code[i] == 0x0f && code[i + 1] == 0x05) {
                    found = at + (uint64_t)i;
                    break;
                }
        }
    }
    if (maps)
        fclose(maps);
    if (!found)
        die("no system call instruction found");
    return found;
}

static void finish(struct stepper *s, const char *reason)
{
    char name[8192];

    fprintf(s->steps, "end %s after %llu steps\n", reason, (unsigned long long)s->step);
    fclose(s->steps);
    fclose(s->entries);
    snprintf(name, sizeof(name), "%s/calls", s->out);
    FILE *calls = fopen(name, "w");
    for (uint64_t i = 0; calls && i < s->plan.text.high - s->plan.text.low; i++)
        if (s->call_seen[i])
            fprintf(calls, "%llx %u\n", (unsigned long long)(s->plan.text.low + i),
                    s->call_seen[i] - 1);
    if (calls)
        fclose(calls);
    kill(s->pid, SIGKILL);
    exit(0);
}

// Continues and waits for the next trap; other signals are passed on.
static void resume(struct stepper *s, int request)
{
    int status, signal = 0;

    for (;;) {
        if (ptrace(request, s->pid, 0, (long)signal) < 0)
            die("ptrace: %s", strerror(errno));
        if (waitpid(s->pid, &status, 0) < 0)
            die("waitpid: %s", strerror(errno));
        if (WIFEXITED(status))
            finish(s, "exit");
        if (WIFSIGNALED(status))
            finish(s, "signal");
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_FORK << 8)) {
            unsigned long child = 0;
            int child_status;

            ptrace(PTRACE_GETEVENTMSG, s->pid, 0, &child);
            waitpid((pid_t)child, &child_status, __WALL);
            ptrace(PTRACE_DETACH, (pid_t)child, 0, 0);
            signal = 0;
            continue;
        }
        signal = WSTOPSIG(status);
        if (signal == SIGTRAP)
            return;
        if (signal == SIGCHLD)
            signal = 0; // one of our copies of it has ended
    }
}

static void get_registers(struct stepper *s)
{
    if (ptrace(PTRACE_GETREGS, s->pid, 0, &s->now) < 0)
        die("cannot read registers");
}

static void run_to(struct stepper *s, uint64_t address, uint64_t above)
{
    unsigned char trap = 0xcc, original;

    peek(s, address, &original, 1);
    for (;;) {
        poke(s, address, &trap, 1);
        resume(s, PTRACE_CONT);
        poke(s, address, &original, 1);
        get_registers(s);
        if (s->now.rip != address + 1)
            die("an unexpected trap at %#llx", s->now.rip);
        s->now.rip = address;
        if (ptrace(PTRACE_SETREGS, s->pid, 0, &s->now) < 0)
            die("cannot write registers");
        if (s->now.rsp > above)
            return;
        resume(s, PTRACE_SINGLESTEP);
    }
}

static bool in_text(const struct stepper *s, uint64_t pc)
{
    return pc - s->base >= s->plan.text.low && pc - s->base < s->plan.text.high;
}

// The counted function that holds an address, or NULL.
static const struct range *function_at(const struct stepper *s, uint64_t pc)
{
    uint64_t address = pc - s->base;
    size_t low = 0, high = s->plan.function_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (s->plan.functions[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address >= s->plan.functions[low - 1].high)
        return NULL;
    return &s->plan.functions[low - 1];
}

static void note_entry(struct stepper *s, bool called)
{
    const struct range *function = function_at(s, s->now.rip);
    uint64_t address = s->now.rip - s->base;

    if (!function || function->low != address)
        return;
    if (!called && function_at(s, s->before.rip) == function)
        return;
    fwrite(&address, sizeof(address), 1, s->entries);
    s->entry_count++;
}

// Did the last instruction push the address behind it, and go elsewhere?
static bool was_call(const struct stepper *s, uint64_t *returns_to)
{
    if (s->now.rsp != s->before.rsp - 8)
        return false;
    peek(s, s->now.rsp, returns_to, sizeof(*returns_to));
    return *returns_to > s->before.rip && *returns_to <= s->before.rip + 15 &&
           s->now.rip != *returns_to;
}

// What the last instruction did to the stack.
static void follow(struct stepper *s)
{
    uint64_t sp = s->now.rsp, returns_to;
    bool called = was_call(s, &returns_to);

    while (s->depth && s->frames[s->depth - 1].slot < sp)
        s->depth--;
    if (called) {
        if (s->depth == FRAMES_MAX)
            die("the stack is too deep");
        s->frames[s->depth++] = (struct frame){sp, returns_to};
        if (in_text(s, s->before.rip)) {
            uint32_t *seen = &s->call_seen[s->before.rip - s->base - s->plan.text.low];
            if (!*seen)
                *seen = (uint32_t)s->cores + 1;
        }
    }
    if (in_text(s, s->now.rip))
        note_entry(s, called);
}

static bool steps_through(struct stepper *s)
{
    for (size_t i = 0; i < s->plan.through_count; i++)
        if (s->plan.through[i] + s->base == s->now.rip)
            return true;
    s->random = s->random * 6364136223846793005ull + 1442695040888963407ull;
    return (s->random >> 33) % SAMPLE == 0;
}

static void rename_core(const struct stepper *s, pid_t child, char *name, size_t size)
{
    char with_pid[64];

    snprintf(name, size, "%s/core.%zu", s->out, s->cores);
    snprintf(with_pid, sizeof(with_pid), "core.%d", (int)child);
    if (rename(with_pid, name) != 0 && rename("core", name) != 0)
        die("no core in the working directory: see /proc/sys/kernel/core_pattern");
}

// A child that stands where the tracee stands.
static pid_t fork_tracee(struct stepper *s)
{
    struct user_regs_struct changed = s->now;
    unsigned long child = 0;
    int status;

    changed.rip = s->syscall_address;
    changed.rax = SYS_fork;
    changed.orig_rax = (unsigned long long)-1;
    ptrace(PTRACE_SETREGS, s->pid, 0, &changed);
    do
        ptrace(PTRACE_SINGLESTEP, s->pid, 0, 0);
    while (waitpid(s->pid, &status, 0) >= 0 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGCHLD);
    if (status >> 8 != (SIGTRAP | PTRACE_EVENT_FORK << 8))
        die("the tracee did not fork: status %#x", (unsigned)status);
    ptrace(PTRACE_GETEVENTMSG, s->pid, 0, &child);
    ptrace(PTRACE_SINGLESTEP, s->pid, 0, 0);
    if (waitpid(s->pid, &status, 0) < 0 || !WIFSTOPPED(status))
        die("the tracee is lost after fork");
    ptrace(PTRACE_SETREGS, s->pid, 0, &s->now);
    if (waitpid((pid_t)child, &status, __WALL) < 0 || !WIFSTOPPED(status))
        die("the child is lost after fork");
    struct user_regs_struct copy = s->now;
    copy.orig_rax = (unsigned long long)-1;
    ptrace(PTRACE_SETREGS, (pid_t)child, 0, &copy);
    return (pid_t)child;
}

// A signal that the program catches would run its handler: then another one.
static int uncaught(const struct stepper *s, int wanted)
{
    static const int others[] = {SIGQUIT, SIGILL, SIGSYS, SIGFPE, SIGBUS, SIGSEGV};
    char name[64], line[256];
    unsigned long long caught = 0;

    snprintf(name, sizeof(name), "/proc/%d/status", (int)s->pid);
    FILE *status = fopen(name, "r");
    while (status && fgets(line, sizeof(line), status))
        if (sscanf(line, "SigCgt: %llx", &caught) == 1)
            break;
    if (status)
        fclose(status);
    for (size_t i = 0; caught >> (wanted - 1) & 1 && i < sizeof(others) / sizeof(others[0]); i++)
        wanted = others[i];
    return wanted;
}

static void leave_core(struct stepper *s, int signal)
{
    signal = uncaught(s, signal);
    pid_t child = fork_tracee(s);
    int status;
    char name[8192];

    // a handler of the program must not see it
    for (;;) {
        ptrace(PTRACE_CONT, child, 0, (long)signal);
        if (waitpid(child, &status, __WALL) < 0)
            die("the child is lost");
        if (WIFSIGNALED(status))
            break;
        if (WIFEXITED(status) || WSTOPSIG(status) == SIGTRAP)
            die("signal %d did not end the child: status %#x", signal, (unsigned)status);
        signal = WSTOPSIG(status);
    }
    if (!WCOREDUMP(status))
        die("the kernel left no core: see ulimit -c and /proc/sys/kernel/core_pattern");
    rename_core(s, child, name, sizeof(name));
    fprintf(s->steps, "core core.%zu step %llu signal %d pc %llx sp %llx entries %llu stack",
            s->cores, (unsigned long long)s->step, WTERMSIG(status), s->now.rip, s->now.rsp,
            (unsigned long long)s->entry_count);
    for (size_t i = s->depth; i-- > 0;)
        fprintf(s->steps, " %llx", (unsigned long long)s->frames[i].returns_to);
    fputc('\n', s->steps);
    s->cores++;
}

static void step_all(struct stepper *s)
{
    while (s->step < s->plan.limit) {
        s->before = s->now;
        resume(s, PTRACE_SINGLESTEP);
        get_registers(s);
        s->step++;
        follow(s);
        while (s->stop_next < s->plan.stop_count && s->plan.stops[s->stop_next].step <= s->step)
            leave_core(s, s->plan.stops[s->stop_next++].signal);
        if (s->stop_next == s->plan.stop_count)
            finish(s, "stops");
        if (!in_text(s, s->now.rip) && in_text(s, s->before.rip) && s->depth &&
            s->frames[s->depth - 1].slot == s->now.rsp && !steps_through(s)) {
            struct frame *top = &s->frames[s->depth - 1];

            if (!in_text(s, top->returns_to))
                continue;
            run_to(s, top->returns_to, top->slot);
            s->depth--;
            // the next step starts in the program again; nothing was called meanwhile
        }
    }
    finish(s, "limit");
}

static FILE *open_output(const struct stepper *s, const char *name)
{
    char path[8192];

    snprintf(path, sizeof(path), "%s/%s", s->out, name);
    FILE *file = fopen(path, "w");
    if (!file)
        die("cannot write '%s'", path);
    return file;
}

int main(int argc, char **argv)
{
    static struct stepper s;

    if (argc < 5)
        die("usage: stepper PLAN OUT PROGRAM NAME ARGUMENT...");
    read_plan(&s.plan, argv[1]);
    s.out = argv[2];
    s.random = s.plan.random;
    s.steps = open_output(&s, "steps");
    s.entries = open_output(&s, "entries");
    s.frames = malloc(FRAMES_MAX * sizeof(*s.frames));
    s.call_seen = calloc(s.plan.text.high - s.plan.text.low + 1, sizeof(uint32_t));
    if (!s.frames || !s.call_seen)
        die("out of memory");
    start_tracee(&s, argv + 3);
    s.base = find_base(&s);
    fprintf(s.steps, "base %llx\n", (unsigned long long)s.base);
    get_registers(&s);
    run_to(&s, s.base + s.plan.main, 0);
    s.syscall_address = find_syscall(&s);
    // main was called, by code that is not ours
    uint64_t returns_to;
    peek(&s, s.now.rsp, &returns_to, sizeof(returns_to));
    s.frames[s.depth++] = (struct frame){s.now.rsp, returns_to};
    note_entry(&s, true);
    step_all(&s);
    return 0;
}
