// SPDX-License-Identifier: Apache-2.0
/* The tracer: events, registers and memory, single steps, start failures. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "trace/ptrace.h"

static void assert_no_error(struct error *err)
{
    if (err) {
        error_print(err);
        error_destroy(err);
        fail();
    }
}

/* What a run was like. */
struct record {
    size_t counts[TRACER_TIMEOUT + 1];
    size_t steps;
    size_t writes;
    int status;
    int signal;
    enum tracee_fate fate;
    bool step;
    bool inside; /* step by tracee_step in one handler */
};

static struct error *on_event(struct tracer *tracer, struct tracer_event *event, void *context)
{
    struct record *record = context;
    record->counts[event->kind]++;
    struct user_regs_struct registers;
    if (event->tracee && event->tracee->stopped)
        assert_no_error(tracee_get_registers(event->tracee, &registers));
    switch (event->kind) {
    case TRACER_EXEC:
        if (record->step)
            event->resume = TRACEE_STEP;
        for (int i = 0; record->inside && i < 100; i++) {
            struct user_regs_struct after;
            unsigned char code[2];
            size_t size;
            assert_true(tracee_step(tracer, event->tracee));
            assert_no_error(tracee_get_registers(event->tracee, &after));
            assert_no_error(tracee_read(event->tracee, after.rip, code, sizeof(code), &size));
            /* The first step only ends execve. */
            assert_true(i == 0 ? after.rip == registers.rip : after.rip != registers.rip);
            registers = after;
            record->steps++;
        }
        break;
    case TRACER_STEP:
        record->steps++;
        if (record->steps == 2000)
            event->resume = TRACEE_CONTINUE;
        break;
    case TRACER_SYSCALL_ENTER:
        record->writes += registers.orig_rax == SYS_write;
        break;
    case TRACER_SIGNAL:
        record->signal = event->signal;
        record->fate = tracee_signal_fate(event->tracee, event->signal);
        break;
    case TRACER_GONE:
        record->status = event->status;
        break;
    default:
        break;
    }
    return NULL;
}

static void trace(unsigned flags, struct tracer_command *command, struct record *record)
{
    struct tracer *tracer = tracer_create(flags);
    struct error *err = tracer_start(tracer, command, NULL);
    if (err && strncmp(err->message, "cannot trace", 12) == 0) {
        error_destroy(err);
        tracer_destroy(tracer);
        skip();
    }
    assert_no_error(err);
    assert_no_error(tracer_run(tracer, on_event, record));
    tracer_destroy(tracer);
}

static void test_exit(void **state)
{
    (void)state;
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 9", NULL};
    struct record record = {0};
    trace(TRACER_FOLLOW | TRACER_EXIT_KILL, &(struct tracer_command){.argv = argv}, &record);
    assert_int_equal(record.status, W_EXITCODE(9, 0));
    assert_int_equal(record.counts[TRACER_EXEC], 1);
    assert_int_equal(record.counts[TRACER_GONE], 1);
    assert_int_equal(record.counts[TRACER_SYSCALL_ENTER], 0);
}

static void test_steps(void **state)
{
    (void)state;
    char *argv[] = {(char *)"true", NULL};
    struct record record = {.step = true};
    trace(0, &(struct tracer_command){.argv = argv}, &record);
    assert_int_equal(record.steps, 2000);
    assert_int_equal(record.status, 0);
    record = (struct record){.inside = true};
    trace(0, &(struct tracer_command){.argv = argv}, &record);
    assert_int_equal(record.steps, 100);
    assert_int_equal(record.status, 0);
}

static void test_signal(void **state)
{
    (void)state;
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"kill -ABRT $$", NULL};
    struct record record = {0};
    trace(TRACER_FOLLOW, &(struct tracer_command){.argv = argv}, &record);
    assert_int_equal(record.signal, SIGABRT);
    assert_int_equal(record.fate, TRACEE_DUMPS_CORE);
    assert_int_equal(WTERMSIG(record.status), SIGABRT);
}

static void test_children(void **state)
{
    (void)state;
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"/bin/true; /bin/true; exit 0", NULL};
    struct record record = {0};
    trace(TRACER_FOLLOW, &(struct tracer_command){.argv = argv}, &record);
    assert_int_equal(record.counts[TRACER_NEW], 2);
    assert_int_equal(record.counts[TRACER_EXEC], 3);
    assert_int_equal(record.counts[TRACER_GONE], 3);
    record = (struct record){0};
    trace(0, &(struct tracer_command){.argv = argv}, &record);
    assert_int_equal(record.counts[TRACER_EXEC], 1);
    assert_int_equal(record.counts[TRACER_GONE], 1);
}

static void test_filter(void **state)
{
    (void)state;
    static const int calls[] = {SYS_write};
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"echo a >/dev/null; echo b >/dev/null",
                    NULL};
    struct record record = {0};
    trace(TRACER_FOLLOW,
          &(struct tracer_command){
              .argv = argv, .stop_at_syscalls = calls, .stop_at_syscall_count = 1},
          &record);
    assert_int_equal(record.writes, 2);
    assert_int_equal(record.status, 0);
    /* Without the filter, the same by stopping at all of them. */
    struct record all = {0};
    trace(TRACER_FOLLOW | TRACER_SYSCALLS, &(struct tracer_command){.argv = argv}, &all);
    assert_int_equal(all.writes, 2);
    assert_true(all.counts[TRACER_SYSCALL_ENTER] > record.counts[TRACER_SYSCALL_ENTER]);
    assert_true(all.counts[TRACER_SYSCALL_EXIT] > 10);
}

static void test_find_command(void **state)
{
    (void)state;
    _cleanup_free_ char *path = NULL;
    assert_no_error(tracer_find_command("sh", &path));
    assert_int_equal(access(path, X_OK), 0);
    static const char *const bad[] = {"no-such-command-here", "/no/such/file", "/", "/etc/passwd"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        char *none = NULL;
        struct error *err = tracer_find_command(bad[i], &none);
        assert_non_null(err);
        assert_null(none);
        error_destroy(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit),   cmocka_unit_test(test_steps),
        cmocka_unit_test(test_signal), cmocka_unit_test(test_children),
        cmocka_unit_test(test_filter), cmocka_unit_test(test_find_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
