// SPDX-License-Identifier: Apache-2.0
// Threads, locks, data of threads, semaphores.
#include "analysis/effects_table.h"

#define LOCKS(i, n) UPDATES(i, n), CHANGES(THREADS)

const struct effects_entry effects_threads[] = {
    // What the function returns is for pthread_join.
    EFFECTS("pthread_create", WRITES(AT(0), BYTES(8)), READS(ALL_FROM(1), BYTES(56)),
            CALLS_INTO(STATE(THREADS), ARG(2), ARG(3)), CHANGES(THREADS)),
    EFFECTS("thrd_create", WRITES(AT(0), BYTES(8)), CALLS(ARG(1), ARG(2)), CHANGES(THREADS)),
    EFFECTS("pthread_join pthread_tryjoin_np", WRITES(AT(1), BYTES(8)),
            COPIES(STATE(THREADS), AT(1), BYTES(8)), CHANGES(THREADS)),
    EFFECTS("pthread_timedjoin_np", WRITES(AT(1), BYTES(8)),
            COPIES(STATE(THREADS), AT(1), BYTES(8)), READS(AT(2), BYTES(16)), CHANGES(THREADS)),
    EFFECTS("thrd_join", WRITES(AT(1), BYTES(4)), CHANGES(THREADS)),
    NEVER_RETURNS("pthread_exit", COPIES(ARG(0), STATE(THREADS), ANY), CHANGES(THREADS)),
    NEVER_RETURNS("thrd_exit", CHANGES(THREADS)),
    EFFECTS("pthread_detach thrd_detach pthread_kill pthread_cancel pthread_testcancel"
            " pthread_yield thrd_yield pthread_setconcurrency",
            CHANGES(THREADS)),
    EFFECTS("pthread_setcancelstate pthread_setcanceltype", WRITES(AT(1), BYTES(4)),
            CHANGES(THREADS)),
    EFFECTS("pthread_self thrd_current", USES(THREADS)),
    NO_EFFECTS("pthread_equal thrd_equal"),
    EFFECTS("pthread_sigqueue", COPIES(ARG(2), STATE(PROCESS), ANY), CHANGES(PROCESS)),
    EFFECTS("pthread_setname_np", READS_STRING(1), CHANGES(THREADS), FAILS),
    EFFECTS("pthread_getname_np", WRITES(AT(1), TIMES(2)), USES(THREADS), FAILS),
    EFFECTS("pthread_getattr_np", WRITES(AT(1), BYTES(56)), ALLOCATES(AT(1)), USES(THREADS),
            CHANGES(HEAP)),
    EFFECTS("pthread_getcpuclockid", WRITES(AT(1), BYTES(4)), USES(THREADS)),
    EFFECTS("pthread_setaffinity_np", READS(AT(2), TIMES(1)), CHANGES(THREADS)),
    EFFECTS("pthread_getaffinity_np", WRITES(AT(2), TIMES(1)), USES(THREADS)),
    EFFECTS("pthread_setschedparam", READS(AT(2), BYTES(4)), CHANGES(THREADS)),
    EFFECTS("pthread_getschedparam", WRITES(AT(1), BYTES(4)), WRITES(AT(2), BYTES(4)),
            USES(THREADS)),
    EFFECTS("thrd_sleep", READS(AT(0), BYTES(16)), WRITES(AT(1), BYTES(16)), CHANGES(TIME)),

    EFFECTS("pthread_attr_init", SETS(AT(0), BYTES(56))),
    EFFECTS("pthread_attr_destroy", READS(AT(0), BYTES(56)), WRITES(AT(0), BYTES(56)),
            RELEASES(AT(0)), CHANGES(HEAP)),
    EFFECTS("pthread_attr_setstacksize pthread_attr_setdetachstate pthread_attr_setguardsize"
            " pthread_attr_setscope pthread_attr_setinheritsched pthread_attr_setschedpolicy",
            UPDATES(0, 56)),
    EFFECTS("pthread_attr_setschedparam", UPDATES(0, 56), READS(AT(1), BYTES(4))),
    EFFECTS("pthread_attr_setstack pthread_attr_setstackaddr", UPDATES(0, 56),
            MOVES(ARG(1), AT(0), BYTES(56))),
    EFFECTS("pthread_attr_getstack", READS(AT(0), BYTES(56)), MOVES(AT(0), AT(1), BYTES(8)),
            WRITES(AT(1), BYTES(8)), WRITES(AT(2), BYTES(8))),
    EFFECTS("pthread_attr_getstacksize pthread_attr_getguardsize", READS(AT(0), BYTES(56)),
            WRITES(AT(1), BYTES(8))),
    EFFECTS("pthread_attr_getdetachstate pthread_attr_getscope pthread_attr_getinheritsched"
            " pthread_attr_getschedpolicy pthread_attr_getschedparam",
            READS(AT(0), BYTES(56)), WRITES(AT(1), BYTES(4))),

    EFFECTS("pthread_mutex_init", WRITES(AT(0), BYTES(40)), READS(AT(1), BYTES(4)),
            CHANGES(THREADS)),
    EFFECTS("mtx_init", WRITES(AT(0), BYTES(40)), CHANGES(THREADS)),
    EFFECTS("pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock"
            " pthread_mutex_consistent mtx_destroy mtx_lock mtx_trylock mtx_unlock",
            LOCKS(0, 40)),
    EFFECTS("pthread_mutex_timedlock mtx_timedlock", LOCKS(0, 40), READS(AT(1), BYTES(16))),
    EFFECTS("pthread_mutex_clocklock", LOCKS(0, 40), READS(AT(2), BYTES(16))),
    EFFECTS("pthread_mutexattr_init pthread_mutexattr_destroy pthread_mutexattr_settype"
            " pthread_mutexattr_setpshared pthread_mutexattr_setrobust"
            " pthread_mutexattr_setprotocol pthread_condattr_init pthread_condattr_destroy"
            " pthread_condattr_setclock pthread_condattr_setpshared",
            UPDATES(0, 4)),
    EFFECTS("pthread_mutexattr_gettype pthread_mutexattr_getpshared", READS(AT(0), BYTES(4)),
            WRITES(AT(1), BYTES(4))),
    EFFECTS("pthread_cond_init", WRITES(AT(0), BYTES(48)), READS(AT(1), BYTES(4)),
            CHANGES(THREADS)),
    EFFECTS("cnd_init", WRITES(AT(0), BYTES(48)), CHANGES(THREADS)),
    EFFECTS("pthread_cond_destroy pthread_cond_signal pthread_cond_broadcast cnd_destroy"
            " cnd_signal cnd_broadcast",
            LOCKS(0, 48)),
    EFFECTS("pthread_cond_wait cnd_wait", LOCKS(0, 48), UPDATES(1, 40)),
    EFFECTS("pthread_cond_timedwait cnd_timedwait", LOCKS(0, 48), UPDATES(1, 40),
            READS(AT(2), BYTES(16))),
    EFFECTS("pthread_cond_clockwait", LOCKS(0, 48), UPDATES(1, 40), READS(AT(3), BYTES(16))),
    EFFECTS("pthread_rwlock_init", WRITES(AT(0), BYTES(56)), READS(AT(1), BYTES(8)),
            CHANGES(THREADS)),
    EFFECTS("pthread_rwlock_destroy pthread_rwlock_rdlock pthread_rwlock_wrlock"
            " pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_unlock",
            LOCKS(0, 56)),
    EFFECTS("pthread_rwlockattr_init pthread_rwlockattr_destroy pthread_rwlockattr_setkind_np",
            UPDATES(0, 8)),
    EFFECTS("pthread_spin_init pthread_spin_destroy pthread_spin_lock pthread_spin_trylock"
            " pthread_spin_unlock",
            LOCKS(0, 4)),
    EFFECTS("pthread_barrier_init", WRITES(AT(0), BYTES(32)), READS(AT(1), BYTES(4))),
    EFFECTS("pthread_barrier_wait pthread_barrier_destroy", LOCKS(0, 32)),

    // Data of a thread: the function that ends it gets what was set.
    EFFECTS("pthread_key_create tss_create", WRITES(AT(0), BYTES(4)), CALLS(ARG(1), STATE(THREADS)),
            CHANGES(THREADS)),
    EFFECTS("pthread_key_delete tss_delete", CHANGES(THREADS)),
    EFFECTS("pthread_setspecific tss_set", COPIES(ARG(1), STATE(THREADS), ANY), CHANGES(THREADS),
            CHANGES(HEAP)),
    EFFECTS("pthread_getspecific tss_get", COPIES(STATE(THREADS), RESULT, ANY), USES(THREADS)),
    EFFECTS("pthread_once call_once", CALLS(ARG(1)), UPDATES(0, 4), CHANGES(THREADS)),
    EFFECTS("pthread_atfork __register_atfork", CALLS(ARG(0)), CALLS(ARG(1)), CALLS(ARG(2)),
            CHANGES(PROCESS)),
    EFFECTS("_pthread_cleanup_push _pthread_cleanup_push_defer", WRITES(AT(0), BYTES(32)),
            COPIES(ARG(1), AT(0), BYTES(32)), COPIES(ARG(2), AT(0), BYTES(32)),
            MOVES(STATE(THREADS), AT(0), BYTES(32)), COPIES(ARG(0), STATE(THREADS), ANY),
            CALLS(ARG(1), ARG(2)), CHANGES(THREADS)),
    EFFECTS("_pthread_cleanup_pop _pthread_cleanup_pop_restore", READS(AT(0), BYTES(32)),
            CALLS(AT(0), AT(0)), CHANGES(THREADS)),
    EFFECTS("__pthread_register_cancel __pthread_unregister_cancel __pthread_register_cancel_defer"
            " __pthread_unregister_cancel_restore",
            UPDATES(0, 104), COPIES(ARG(0), STATE(THREADS), ANY), CHANGES(THREADS)),
    NEVER_RETURNS("__pthread_unwind_next", READS(AT(0), BYTES(104)), CHANGES(THREADS)),

    EFFECTS("sem_init", WRITES(AT(0), BYTES(32)), FAILS),
    EFFECTS("sem_destroy sem_post sem_wait sem_trywait", LOCKS(0, 32), FAILS),
    EFFECTS("sem_timedwait", LOCKS(0, 32), READS(AT(1), BYTES(16)), FAILS),
    EFFECTS("sem_clockwait", LOCKS(0, 32), READS(AT(2), BYTES(16)), FAILS),
    EFFECTS("sem_getvalue", READS(AT(0), BYTES(32)), WRITES(AT(1), BYTES(4)), FAILS),
    EFFECTS("sem_open", READS_STRING(0), ALLOCATES(RESULT), ALLOCATOR, KERNEL),
    EFFECTS("sem_close", RELEASES(ARG(0)), CHANGES(HEAP), KERNEL),
    EFFECTS("sem_unlink shm_unlink shm_open", READS_STRING(0), KERNEL),
    EFFECTS("shmget semget msgget", KERNEL),
    EFFECTS("shmctl msgctl", READS(AT(2), BYTES(120)), WRITES(AT(2), BYTES(120)), KERNEL),
    EFFECTS("semctl", READS(ALL_FROM(3), ANY), WRITES(ALL_FROM(3), ANY), KERNEL),
    EFFECTS("semop", READS(AT(1), SCALED(2, 6)), KERNEL),
    EFFECTS("semtimedop", READS(AT(1), SCALED(2, 6)), READS(AT(3), BYTES(16)), KERNEL),
    EFFECTS("msgsnd", TO_FILE(1, ANY), KERNEL),
    EFFECTS("msgrcv", FROM_FILE(1, ANY), KERNEL),
    EFFECTS("ftok", READS_STRING(0), KERNEL),
};
AREA_END(threads)
