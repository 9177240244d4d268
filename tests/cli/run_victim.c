// SPDX-License-Identifier: Apache-2.0
/* The program that test_run.sh runs: `run_victim MODE [ARGUMENT]`; every mode is one way to end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *self;
static const char *argument;
static int *volatile nowhere;
static volatile sig_atomic_t caught;
static sigjmp_buf back;

__attribute__((noinline)) static int fault(int depth)
{
    volatile int local = depth;
    if (depth == 0)
        *nowhere = 1;
    return depth ? fault(depth - 1) + local : local;
}

static int mode_segv(void)
{
    return fault(4);
}

static int mode_abort(void)
{
    abort();
}

static int mode_fpe(void)
{
    volatile int seven = 7;
    volatile int zero = 0;
    return seven / zero;
}

static int mode_ill(void)
{
    __asm__ volatile("ud2");
    return 0;
}

static int mode_trap(void)
{
    __asm__ volatile("int3");
    return 0;
}

static int mode_bus(void)
{
    char name[] = "run_victim.XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    if (file < 0 || ftruncate(file, 4096) < 0)
        return 99;
    volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    if (ftruncate(file, 0) < 0)
        return 99;
    return page[0];
}

static int mode_raise(void)
{
    raise((int)strtol(argument, NULL, 10));
    return 0;
}

static int mode_exit(void)
{
    return (int)strtol(argument, NULL, 10);
}

static int mode_blocked(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return fault(1);
}

static int mode_ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    return fault(1);
}

static void leap(int number)
{
    caught = number;
    siglongjmp(back, 1);
}

/* Every one of these is the program's own business. */
static int mode_handled(void)
{
    static const int numbers[] = {SIGSEGV, SIGABRT, SIGFPE, SIGQUIT, SIGUSR1};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        signal(numbers[i], leap);
        if (sigsetjmp(back, 1) == 0) {
            if (numbers[i] == SIGSEGV)
                fault(1);
            raise(numbers[i]);
            return 98;
        }
        if (caught != numbers[i])
            return 97;
    }
    signal(SIGQUIT, SIG_IGN);
    raise(SIGQUIT);
    return 7;
}

static void die_again(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static int mode_reraise(void)
{
    signal(SIGSEGV, die_again);
    return fault(1);
}

static int mode_overflow(void)
{
    volatile char room[4096];
    room[0] = 1;
    return mode_overflow() + room[0];
}

static void never(int number)
{
    (void)number;
}

/* The handler has no stack to run on. */
static int mode_overflow_handled(void)
{
    signal(SIGSEGV, never);
    return mode_overflow();
}

static pthread_barrier_t barrier;

static void *wait_forever(void *context)
{
    pthread_barrier_wait(&barrier);
    for (;;)
        pause();
    return context;
}

static void *spin_forever(void *context)
{
    pthread_barrier_wait(&barrier);
    for (volatile unsigned long n = 0;; n++)
        ;
    return context;
}

static void *fault_in_thread(void *context)
{
    pthread_barrier_wait(&barrier);
    fault(2);
    return context;
}

static int mode_threads(void)
{
    pthread_t threads[4];
    pthread_barrier_init(&barrier, NULL, 5);
    pthread_create(&threads[0], NULL, wait_forever, NULL);
    pthread_create(&threads[1], NULL, spin_forever, NULL);
    pthread_create(&threads[2], NULL, fault_in_thread, NULL);
    pthread_create(&threads[3], NULL, wait_forever, NULL);
    pthread_barrier_wait(&barrier);
    pthread_join(threads[0], NULL);
    return 0;
}

static void *brief(void *context)
{
    return context;
}

/* Threads come and go while one fails. */
static void *churn(void *context)
{
    pthread_barrier_wait(&barrier);
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, brief, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return context;
}

static int mode_churn(void)
{
    pthread_t threads[4];
    pthread_barrier_init(&barrier, NULL, 5);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, churn, NULL);
    pthread_barrier_wait(&barrier);
    for (volatile int n = 0; n < 3000000; n++)
        ;
    return fault(3);
}

static int mode_child(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(fault(2));
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? 3 : 98;
}

static int mode_spawn(void)
{
    char *argv[] = {(char *)self, (char *)"abort", NULL};
    char *environment[] = {NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, self, NULL, NULL, argv, environment) != 0)
        return 98;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 4 : 98;
}

static int mode_two_children(void)
{
    mode_child();
    return mode_spawn();
}

static void *exec_in_thread(void *context)
{
    execl(self, self, "segv", NULL);
    return context;
}

static int mode_thread_exec(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&threads[0], NULL, wait_forever, NULL);
    pthread_barrier_wait(&barrier);
    pthread_create(&threads[1], NULL, exec_in_thread, NULL);
    pthread_join(threads[1], NULL);
    return 98;
}

/* A filter of the program's own kills it; no tracer is shown that signal. */
static int mode_seccomp_kill(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        return 98;
    return (int)getppid();
}

static void on_continue(int number)
{
    caught = number;
}

/* A child stops us, sees that we stand still, and continues us. */
static int mode_stop(void)
{
    volatile unsigned long *shared =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signal(SIGCONT, on_continue);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        while (shared[0] < 1000)
            sched_yield();
        kill(parent, SIGSTOP);
        int still = 0;
        for (unsigned long seen = 0; still < 2000; sched_yield()) {
            still = shared[0] == seen ? still + 1 : 0;
            seen = shared[0];
        }
        if (caught)
            _exit(1);
        kill(parent, SIGCONT);
        _exit(0);
    }
    while (!caught) {
        shared[0]++;
        sched_yield();
    }
    int status;
    waitpid(child, &status, 0);
    return status == 0 ? 11 : 98;
}

static int mode_dispositions(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "Sig", 3) == 0 || strncmp(line, "Shd", 3) == 0)
            fputs(line, stdout);
    }
    printf("%d %d\n", getpgrp() == getpgid(getppid()), isatty(1));
    for (int i = 0; i < 64; i++) {
        if (fcntl(i, F_GETFD) >= 0 && i != fileno(file))
            printf("fd %d\n", i);
    }
    return 0;
}

static int mode_hang(void)
{
    volatile unsigned long turns = 0;
    while (turns + 1 != 0)
        turns++;
    return 0;
}

static int mode_hang_child(void)
{
    pid_t child = fork();
    if (child == 0)
        mode_hang();
    waitpid(child, NULL, 0);
    return 0;
}

/* Waits to be told; for signals that come from outside. */
static int mode_wait_term(void)
{
    struct sigaction action = {.sa_handler = on_continue};
    sigaction(SIGTERM, &action, NULL);
    sigset_t set;
    sigset_t old;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &old);
    printf("ready\n");
    fflush(stdout);
    while (!caught)
        sigsuspend(&old);
    return 12;
}

static void tell_continue(int number)
{
    (void)number;
    if (write(1, "cont\n", 5) < 0)
        _exit(97);
}

/* For job control: says when it is there and when it is continued. */
static int mode_wait_loop(void)
{
    signal(SIGCONT, tell_continue);
    printf("ready\n");
    fflush(stdout);
    while (pause() < 0)
        ;
    return 0;
}

static int mode_daemon(void)
{
    int end[2];
    if (pipe(end) < 0 || fork() != 0)
        return 5;
    setsid();
    close(0);
    close(1);
    close(2);
    /* Nobody writes: it lives until it is killed. */
    FILE *file = fopen(argument, "w");
    fprintf(file, "%d\n", getpid());
    fclose(file);
    char byte;
    return (int)read(end[0], &byte, 1);
}

static int mode_sparse(void)
{
    size_t size = (size_t)16 << 30;
    char *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        return 98;
    area[0] = 1;
    area[size / 2] = 2;
    abort();
}

/* --- output --- */

__attribute__((noinline)) static void say_right(int line)
{
    printf("line %d\n", line);
}

__attribute__((noinline)) static void say_wrong(void)
{
    printf("line three\n");
}

static int mode_print_right(void)
{
    for (int i = 1; i <= 4; i++)
        say_right(i);
    return 6;
}

static int mode_print_wrong(void)
{
    say_right(1);
    say_right(2);
    say_wrong();
    say_right(4);
    return 6;
}

static int mode_print_short(void)
{
    say_right(1);
    say_right(2);
    return 6;
}

static int mode_print_long(void)
{
    for (int i = 1; i <= 5; i++)
        say_right(i);
    return 6;
}

__attribute__((noinline)) static void emit(int descriptor, const char *text)
{
    if (write(descriptor, text, strlen(text)) < 0)
        _exit(97);
}

static int mode_write_bytes(void)
{
    const char *text = "line 1\nline 2\nline 3\nline 4\n";
    for (; *text; text++) {
        char byte[2] = {*text, 0};
        emit(1, byte);
    }
    return 6;
}

static int mode_writev_wrong(void)
{
    struct iovec right[2] = {{(void *)"line ", 5}, {(void *)"1\n", 2}};
    struct iovec wrong[3] = {{(void *)"line 2\n", 7}, {NULL, 0}, {(void *)"lame 3\n", 7}};
    if (writev(1, right, 2) < 0 || writev(1, wrong, 3) < 0)
        return 97;
    return 6;
}

static int mode_dup_wrong(void)
{
    int other = fcntl(1, F_DUPFD, 20);
    emit(1, "line 1\n");
    emit(other, "line 2\n");
    emit(other, "line X\n");
    return 6;
}

static int mode_child_wrong(void)
{
    emit(1, "line 1\n");
    if (fork() == 0) {
        emit(1, "line 7\n");
        _exit(0);
    }
    wait(NULL);
    return 6;
}

/* The child writes the end, and outlives us. */
static int mode_child_rest(void)
{
    emit(1, "line 1\n");
    if (fork() == 0) {
        emit(1, "line 2\nline 3\n");
        emit(1, "line 4\n");
        _exit(0);
    }
    return 6;
}

static int mode_sendfile(void)
{
    int file = open(argument, O_RDONLY);
    while (sendfile(1, file, NULL, 9) > 0)
        ;
    return 6;
}

static int mode_stderr_noise(void)
{
    fprintf(stderr, "noise\n");
    return mode_print_right();
}

static int mode_stderr_wrong(void)
{
    fprintf(stderr, "good\n");
    emit(2, "bad\n");
    return 6;
}

static void *write_bytes_in_thread(void *context)
{
    for (int i = 0; i < 500; i++)
        emit(1, "x");
    return context;
}

static int mode_many_writers(void)
{
    pthread_t threads[4];
    pid_t child = fork();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, write_bytes_in_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return 6;
}

static int mode_segv_after_output(void)
{
    emit(1, "line 1\n");
    return fault(2);
}

static const struct {
    const char *name;
    int (*run)(void);
} modes[] = {
    {"segv", mode_segv},
    {"abort", mode_abort},
    {"fpe", mode_fpe},
    {"ill", mode_ill},
    {"trap", mode_trap},
    {"bus", mode_bus},
    {"raise", mode_raise},
    {"exit", mode_exit},
    {"blocked", mode_blocked},
    {"ignored", mode_ignored},
    {"handled", mode_handled},
    {"reraise", mode_reraise},
    {"overflow", mode_overflow},
    {"overflow-handled", mode_overflow_handled},
    {"threads", mode_threads},
    {"churn", mode_churn},
    {"child", mode_child},
    {"spawn", mode_spawn},
    {"two-children", mode_two_children},
    {"thread-exec", mode_thread_exec},
    {"seccomp-kill", mode_seccomp_kill},
    {"stop", mode_stop},
    {"dispositions", mode_dispositions},
    {"hang", mode_hang},
    {"hang-child", mode_hang_child},
    {"wait-term", mode_wait_term},
    {"wait-loop", mode_wait_loop},
    {"daemon", mode_daemon},
    {"sparse", mode_sparse},
    {"print-right", mode_print_right},
    {"print-wrong", mode_print_wrong},
    {"print-short", mode_print_short},
    {"print-long", mode_print_long},
    {"write-bytes", mode_write_bytes},
    {"writev-wrong", mode_writev_wrong},
    {"dup-wrong", mode_dup_wrong},
    {"child-wrong", mode_child_wrong},
    {"child-rest", mode_child_rest},
    {"sendfile", mode_sendfile},
    {"stderr-noise", mode_stderr_noise},
    {"stderr-wrong", mode_stderr_wrong},
    {"many-writers", mode_many_writers},
    {"segv-after-output", mode_segv_after_output},
};

int main(int argc, char **argv)
{
    self = argv[0];
    argument = argc > 2 ? argv[2] : "";
    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++) {
        if (strcmp(modes[i].name, argv[1]) == 0)
            return modes[i].run();
    }
    return 99;
}
