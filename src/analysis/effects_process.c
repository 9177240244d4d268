// SPDX-License-Identifier: Apache-2.0
// Processes, their ids and limits, signals, jumps, how a program begins and ends.
#include "analysis/effects_table.h"

#define PROCESSES      CHANGES(PROCESS), FAILS
#define READS_TEXTS(i) READS(AT(i), ANY), READS(AT_AT(i), STRING)
#define READS_ENVIRON  USES(ENVIRONMENT), READS(AT_STATE(ENVIRONMENT), ANY)
// A program is run instead of this one: streams are not flushed, files are.
#define RUNS PROCESSES, KERNEL
// A handler gets the signal, and with SA_SIGINFO what the kernel knows of it.
#define HANDLES(place, i) CALLS(place(i), NOTHING, STATE(PROCESS), STATE(PROCESS))
#define INSTALLS(i)                                                                                \
    HANDLES(ARG, i), COPIES(ARG(i), STATE(PROCESS), ANY), COPIES(STATE(PROCESS), RESULT, ANY),     \
        PROCESSES
// Before the program ends: functions that were registered (CALLS there), and streams.
#define LAST_THINGS STDIO, CHANGES(PROCESS)

const struct effects_entry effects_process[] = {
    EFFECTS("getpid getppid getuid geteuid getgid getegid gettid getpgrp getpgid getsid"
            " getpagesize __getpagesize getpriority get_nprocs get_nprocs_conf get_phys_pages"
            " get_avphys_pages sched_getcpu sched_get_priority_max sched_get_priority_min"
            " sched_getscheduler sysconf",
            USES(PROCESS), FAILS),
    EFFECTS("setpgid setpgrp setsid setuid setgid seteuid setegid setreuid setregid setresuid"
            " setresgid setfsuid setfsgid nice setpriority sched_yield personality unshare setns"
            " alarm ualarm ulimit arch_prctl",
            PROCESSES),
    EFFECTS("setgroups", READS(AT(1), SCALED(0, 4)), PROCESSES),
    EFFECTS("initgroups", READS_STRING(0), PROCESSES, KERNEL),
    EFFECTS("getgroups", WRITES(AT(1), SCALED(0, 4)), USES(PROCESS), FAILS),
    EFFECTS("getgrouplist", READS_STRING(0), WRITES(AT(2), ANY), UPDATES(3, 4), USES(PROCESS),
            KERNEL),
    EFFECTS("getresuid getresgid", WRITES(AT(0), BYTES(4)), WRITES(AT(1), BYTES(4)),
            WRITES(AT(2), BYTES(4)), USES(PROCESS), FAILS),
    EFFECTS("getrlimit getrlimit64", WRITES(AT(1), BYTES(16)), USES(PROCESS), FAILS),
    EFFECTS("setrlimit setrlimit64", READS(AT(1), BYTES(16)), PROCESSES),
    EFFECTS("prlimit prlimit64", READS(AT(2), BYTES(16)), WRITES(AT(3), BYTES(16)), PROCESSES),
    EFFECTS("getrusage", WRITES(AT(1), BYTES(144)), USES(PROCESS), FAILS),
    EFFECTS("times", WRITES(AT(0), BYTES(32)), USES(PROCESS), USES(TIME), FAILS),
    EFFECTS("prctl", READS(ALL_FROM(1), ANY), WRITES(AT(1), ANY), READS(ALL_FROM(2), ANY),
            WRITES(AT(2), ANY), READS(ALL_FROM(3), ANY), READS(ALL_FROM(4), ANY), PROCESSES),
    EFFECTS("ptrace", READS(ALL_FROM(2), ANY), READS(ALL_FROM(3), ANY), WRITES(ALL_FROM(2), ANY),
            WRITES(ALL_FROM(3), ANY), PROCESSES),
    EFFECTS("sched_getaffinity", WRITES(AT(2), TIMES(1)), USES(PROCESS), FAILS),
    EFFECTS("sched_setaffinity", READS(AT(2), TIMES(1)), PROCESSES),
    EFFECTS("sched_setscheduler", READS(AT(2), BYTES(4)), PROCESSES),
    EFFECTS("sched_setparam", READS(AT(1), BYTES(4)), PROCESSES),
    EFFECTS("sched_getparam", WRITES(AT(1), BYTES(4)), USES(PROCESS), FAILS),
    EFFECTS("__sched_cpucount", READS(AT(1), TIMES(0))),
    EFFECTS("__sched_cpualloc", ALLOCATES(RESULT), ALLOCATOR),
    EFFECTS("__sched_cpufree", RELEASES(ARG(0)), CHANGES(HEAP)),

    EFFECTS("fork vfork _Fork", PROCESSES, KERNEL),
    EFFECTS("daemon", PROCESSES, KERNEL),
    EFFECTS("wait", WRITES(AT(0), BYTES(4)), PROCESSES),
    EFFECTS("waitpid", WRITES(AT(1), BYTES(4)), PROCESSES),
    EFFECTS("wait3", WRITES(AT(0), BYTES(4)), WRITES(AT(2), BYTES(144)), PROCESSES),
    EFFECTS("wait4", WRITES(AT(1), BYTES(4)), WRITES(AT(3), BYTES(144)), PROCESSES),
    EFFECTS("waitid", WRITES(AT(2), BYTES(128)), PROCESSES),
    EFFECTS("system", READS_STRING(0), READS_ENVIRON, RUNS),
    EFFECTS("execl execlp", READS_STRING(0), READS_STRING(1), READS(AT_REST(2), STRING),
            READS_ENVIRON, RUNS),
    // The last one is the environment.
    EFFECTS("execle", READS_STRING(0), READS_STRING(1), READS(AT_REST(2), ANY), RUNS),
    EFFECTS("execv execvp", READS_STRING(0), READS_TEXTS(1), READS_ENVIRON, RUNS),
    EFFECTS("execve execvpe", READS_STRING(0), READS_TEXTS(1), READS_TEXTS(2), USES(ENVIRONMENT),
            READS(AT_STATE(ENVIRONMENT), ANY), RUNS),
    EFFECTS("fexecve", READS_TEXTS(1), READS_TEXTS(2), RUNS),
    EFFECTS("execveat", READS_STRING(1), READS_TEXTS(2), READS_TEXTS(3), RUNS),
    EFFECTS("posix_spawn posix_spawnp", WRITES(AT(0), BYTES(4)), READS_STRING(1),
            READS(ALL_FROM(2), ANY), READS(AT(3), ANY), READS_TEXTS(4), READS_TEXTS(5),
            READS_ENVIRON, RUNS),
    EFFECTS("posix_spawn_file_actions_init", WRITES(AT(0), BYTES(80))),
    EFFECTS("posix_spawn_file_actions_destroy", READS(AT(0), BYTES(80)), READS(AT_AT(0), ANY),
            RELEASES(AT(0)), CHANGES(HEAP)),
    EFFECTS("posix_spawn_file_actions_adddup2 posix_spawn_file_actions_addclose"
            " posix_spawn_file_actions_addfchdir_np posix_spawn_file_actions_addclosefrom_np",
            UPDATES(0, 80), WRITES(AT_AT(0), ANY), RELEASES(AT(0)), ALLOCATES(AT(0)), ALLOCATOR),
    EFFECTS("posix_spawn_file_actions_addopen", READS_STRING(2), UPDATES(0, 80),
            WRITES(AT_AT(0), ANY), RELEASES(AT(0)), ALLOCATES(AT(0)), ALLOCATOR),
    EFFECTS("posix_spawn_file_actions_addchdir_np", READS_STRING(1), UPDATES(0, 80),
            WRITES(AT_AT(0), ANY), RELEASES(AT(0)), ALLOCATES(AT(0)), ALLOCATOR),
    EFFECTS("posix_spawnattr_init posix_spawnattr_setflags posix_spawnattr_setpgroup"
            " posix_spawnattr_setschedpolicy",
            WRITES(AT(0), ANY)),
    EFFECTS("posix_spawnattr_setsigmask posix_spawnattr_setsigdefault", WRITES(AT(0), ANY),
            READS(AT(1), BYTES(128))),
    EFFECTS("posix_spawnattr_getflags posix_spawnattr_getpgroup", READS(AT(0), ANY),
            WRITES(AT(1), BYTES(4))),
    EFFECTS("posix_spawnattr_setschedparam", WRITES(AT(0), ANY), READS(AT(1), BYTES(4))),
    NO_EFFECTS("posix_spawnattr_destroy"),

    EFFECTS("kill killpg raise", PROCESSES),
    EFFECTS("tgkill pidfd_open pidfd_send_signal", READS(AT(2), BYTES(128)), PROCESSES),
    EFFECTS("pause sigpause sigblock sigsetmask siggetmask siginterrupt sighold sigrelse sigignore",
            PROCESSES),
    EFFECTS("sigqueue", COPIES(ARG(2), STATE(PROCESS), ANY), PROCESSES),
    // There are 64 signals; a sigset_t has room for more.
    EFFECTS("sigemptyset sigfillset", SETS(AT(0), BYTES(8)), WRITES(AT(0), BYTES(128)), FAILS),
    EFFECTS("sigaddset sigdelset", UPDATES(0, 128), FAILS),
    EFFECTS("sigismember", READS(AT(0), BYTES(128)), FAILS),
    EFFECTS("sigisemptyset", READS(AT(0), BYTES(128))),
    EFFECTS("sigandset sigorset", WRITES(AT(0), BYTES(128)), READS(AT(1), BYTES(128)),
            READS(AT(2), BYTES(128)), FAILS),
    EFFECTS("sigprocmask pthread_sigmask", READS(AT(1), BYTES(128)), WRITES(AT(2), BYTES(128)),
            PROCESSES),
    EFFECTS("sigpending", WRITES(AT(0), BYTES(128)), USES(PROCESS), FAILS),
    EFFECTS("sigsuspend", READS(AT(0), BYTES(128)), PROCESSES),
    EFFECTS("sigwait", READS(AT(0), BYTES(128)), WRITES(AT(1), BYTES(4)), PROCESSES),
    EFFECTS("sigwaitinfo", READS(AT(0), BYTES(128)), WRITES(AT(1), BYTES(128)),
            MOVES(STATE(PROCESS), AT(1), BYTES(128)), PROCESSES),
    EFFECTS("sigtimedwait", READS(AT(0), BYTES(128)), WRITES(AT(1), BYTES(128)),
            MOVES(STATE(PROCESS), AT(1), BYTES(128)), READS(AT(2), BYTES(16)), PROCESSES),
    EFFECTS("signalfd", READS(AT(1), BYTES(128)), KERNEL),
    EFFECTS("sigaltstack", READS(AT(0), BYTES(24)), COPIES(AT(0), STATE(PROCESS), BYTES(24)),
            WRITES(AT(1), BYTES(24)), COPIES(STATE(PROCESS), AT(1), BYTES(24)), PROCESSES),
    EFFECTS("signal bsd_signal sysv_signal __sysv_signal ssignal sigset", INSTALLS(1)),
    EFFECTS("sigaction sigvec", READS(AT(1), BYTES(152)), HANDLES(AT, 1),
            COPIES(AT(1), STATE(PROCESS), BYTES(152)), WRITES(AT(2), BYTES(152)),
            COPIES(STATE(PROCESS), AT(2), BYTES(152)), PROCESSES),
    EFFECTS("gsignal", PROCESSES),
    EFFECTS("__libc_current_sigrtmin __libc_current_sigrtmax", USES(PROCESS)),

    EFFECTS("setjmp _setjmp sigsetjmp __sigsetjmp", WRITES(AT(0), BYTES(200)), USES(PROCESS)),
    NEVER_RETURNS("longjmp _longjmp siglongjmp __longjmp_chk", READS(AT(0), BYTES(200)),
                  LEAVES(PROCESS)),
    EFFECTS("getcontext", WRITES(AT(0), ANY), USES(PROCESS), FAILS),

    NEVER_RETURNS("exit quick_exit", LAST_THINGS),
    NEVER_RETURNS("_exit _Exit", CHANGES(PROCESS)),
    NEVER_RETURNS("abort", CHANGES(PROCESS)),
    NEVER_RETURNS("__assert_fail __assert", READS_STRING(0), READS_STRING(1), READS_STRING(3),
                  STDIO),
    NEVER_RETURNS("__assert_perror_fail", READS_STRING(1), READS_STRING(3), STDIO),
    NEVER_RETURNS("__stack_chk_fail __chk_fail __fortify_fail", CHANGES(PROCESS)),
    ENDS("__builtin_unreachable"),
    EFFECTS("atexit at_quick_exit", CALLS(ARG(0)), CHANGES(PROCESS)),
    EFFECTS("__cxa_atexit __cxa_at_quick_exit __cxa_thread_atexit_impl", CALLS(ARG(0), ARG(1)),
            COPIES(ARG(0), STATE(PROCESS), ANY), COPIES(ARG(1), STATE(PROCESS), ANY),
            CHANGES(PROCESS)),
    EFFECTS("on_exit", CALLS(ARG(0), NOTHING, ARG(1)), COPIES(ARG(0), STATE(PROCESS), ANY),
            COPIES(ARG(1), STATE(PROCESS), ANY), CHANGES(PROCESS)),
    EFFECTS("__cxa_finalize", CHANGES(PROCESS)),
    // The constructors and destructors that it is given take no pointers; main takes argv.
    NEVER_RETURNS("__libc_start_main", CALLS(ARG(0), NOTHING, ARG(2), STATE(ENVIRONMENT)),
                  CALLS(ARG(3), NOTHING, ARG(2), STATE(ENVIRONMENT)), CALLS(ARG(4)), CALLS(ARG(5)),
                  READS(AT(2), ANY), LAST_THINGS),
    NO_EFFECTS("__gmon_start__ _mcleanup __monstartup monstartup moncontrol"),
    EFFECTS("sethostname setdomainname", READS(AT(0), TIMES(1)), PROCESSES),
    EFFECTS("gethostname getdomainname", WRITES(AT(0), TIMES(1)), USES(PROCESS), FAILS),
};
AREA_END(process)
