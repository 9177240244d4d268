# SPDX-License-Identifier: Apache-2.0
"""The process: threads, signals, children, what runs before main and after it, what the linker binds."""

from .fragment import feature


@feature("threads", weight=14)
def threads(f):
    """Threads that work on parts, with storage of their own, a lock, a condition; the result does not depend on their order."""
    draw, count = f.draw, f.draw.between(2, 4)
    f.include("pthread.h", "stdlib.h")
    f.flags.add("-pthread")
    f.spend(60000)
    body = f.statements(["a"], draw.between(1, 3), times=30)  # while the fragment is safe: only what threads may call
    f.safe = False
    f.add(
        """
static pthread_mutex_t ${n}_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ${n}_ready = PTHREAD_COND_INITIALIZER;
static u32 ${n}_total, ${n}_waiting, ${n}_order;
static _Thread_local u32 ${n}_own = 3, ${n}_zero;
static __thread u32 ${n}_array[8];
struct ${n}_job { u32 number, from, to, result; };
${s1} u32 ${n}_part(u32 from, u32 to)
{
    u32 a = from;
    for (u32 i = from; i < to; i++) {
        $body
        ${n}_own = mix(${n}_own, a ^ i);
        ${n}_array[i & 7u] += a;
        ${n}_zero++;
    }
    return ${n}_own + ${n}_zero + ${n}_array[3];
}
static void *${n}_thread(void *argument)
{
    struct ${n}_job *job = argument;
    job->result = ${n}_part(job->from, job->to);
    pthread_mutex_lock(&${n}_lock);
    ${n}_total += job->result;
    while (${n}_order != job->number)
        pthread_cond_wait(&${n}_ready, &${n}_lock);
    ${n}_waiting = mix(${n}_waiting, job->number);
    ${n}_order++;
    pthread_cond_broadcast(&${n}_ready);
    pthread_mutex_unlock(&${n}_lock);
    $end
}""",
        s1=f.static(),
        body=body,
        end="pthread_exit(job);" if draw.chance(40) and f.layout != "static" else "return job;",
    )
    f.entry(
        """
pthread_t ids[$count];
struct ${n}_job jobs[$count];
u32 sum = x;
${n}_total = ${n}_waiting = ${n}_order = 0;
for (u32 i = 0; i < ${count}u; i++) {
    jobs[i] = (struct ${n}_job){i, i * 5u + (x & 7u), i * 5u + (x & 7u) + 6u, 0};
    if (pthread_create(&ids[i], NULL, ${n}_thread, &jobs[i]))
        abort();
}
for (u32 i = 0; i < ${count}u; i++) {
    void *result;
    pthread_join(ids[i], &result);
    sum = mix(sum, ((struct ${n}_job *)result)->result);
}
return sum + ${n}_total + ${n}_waiting + ${n}_own;""",
        count=count,
    )


@feature("threads", weight=7, static=False)
def thread_ends(f):
    """Threads that are cancelled or leave from the depths; cleanup handlers, keys with destructors, once."""
    draw = f.draw
    f.include("pthread.h", "stdlib.h", "unistd.h")
    f.flags.add("-pthread")
    f.spend(60000)
    body = f.statements(["a"], 1, times=6)
    f.safe = False
    f.frames = 20
    f.add(
        """
static pthread_key_t ${n}_key;
static pthread_once_t ${n}_once = PTHREAD_ONCE_INIT;
static u32 ${n}_seen;
static void ${n}_destroy(void *value) { ${n}_seen += *(u32 *)value; free(value); }
static void ${n}_setup(void) { pthread_key_create(&${n}_key, ${n}_destroy); ${n}_seen += 1000u; }
static void ${n}_cleanup(void *value) { ${n}_seen = ${n}_seen * 3u + *(u32 *)value; }
static void ${n}_drop(u32 *value) { ${n}_seen ^= *value << 8; }
${s1} void ${n}_deep(u32 depth, u32 how)
{
    u32 a = depth;
    u32 __attribute__((cleanup(${n}_drop))) held = depth + 1u;
    $body
    pthread_cleanup_push(${n}_cleanup, &held);
    if (depth > 0)
        ${n}_deep(depth - 1, how);
    else if (how & 1u)
        pthread_exit(NULL);
    else
        for (;;)
            pause();
    pthread_cleanup_pop(1);
}
static void *${n}_thread(void *argument)
{
    u32 *value = malloc(sizeof(*value));
    if (!value)
        abort();
    pthread_once(&${n}_once, ${n}_setup);
    *value = 5;
    pthread_setspecific(${n}_key, value);
    ${n}_deep(${depth}u, *(u32 *)argument);
    return argument;
}""",
        s1=draw.of("static", "static __attribute__((noinline))"),
        depth=draw.between(0, 5),
        body=body,
    )
    f.flags.add(draw.of("-fexceptions", "-pthread"))
    f.entry(
        """
u32 left = 1, cancelled = 0;
pthread_t id;
void *result;
${n}_seen = x & 255u;
if (pthread_create(&id, NULL, ${n}_thread, &left))
    abort();
pthread_join(id, &result);
u32 sum = result == NULL;
if (pthread_create(&id, NULL, ${n}_thread, &cancelled))
    abort();
pthread_cancel(id);
pthread_join(id, &result);
return mix(sum + (result == PTHREAD_CANCELED), ${n}_seen);"""
    )


@feature("signals", weight=8)
def signals(f):
    """Handlers: plain, with information, on a stack of their own, nested, that interrupt a real computation."""
    draw = f.draw
    f.include("signal.h", "stdlib.h", "unistd.h", "sys/time.h")
    f.spend(30000)
    body = f.statements(["a"], 2, times=8)
    f.safe = False
    f.add(
        """
static volatile u32 ${n}_sum, ${n}_depth, ${n}_ticks;
static void ${n}_plain(int number)
{
    u32 a = ${n}_sum;
    $body
    ${n}_sum = mix(a, (u32)number);
    if (++${n}_depth < ${depth}u)
        raise(number);
    ${n}_depth = ${n}_depth;
}
static void ${n}_detailed(int number, siginfo_t *info, void *context)
{
    (void)context;
    ${n}_sum += (u32)number * 3u + (u32)(info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE) + (u32)info->si_value.sival_int;
}
static void ${n}_tick(int number) { (void)number; ${n}_ticks++; }""",
        depth=draw.between(1, 5),
        body=body,
    )
    f.entry(
        """
struct sigaction plain = {.sa_handler = ${n}_plain, .sa_flags = SA_NODEFER}, tick = {.sa_handler = ${n}_tick}, old;
struct sigaction detailed = {.sa_sigaction = ${n}_detailed, .sa_flags = SA_SIGINFO | $onstack};
char *memory = malloc(65536);
stack_t stack = {.ss_sp = memory, .ss_size = 65536}, before;
if (!memory)
    abort();
sigaltstack(&stack, &before);
${n}_sum = x;
${n}_depth = ${n}_ticks = 0;
sigaction(SIGUSR1, &plain, &old);
sigaction(SIGUSR2, &detailed, NULL);
raise(SIGUSR1);
sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 17});
kill(getpid(), SIGUSR2);
sigset_t set, pending;
sigemptyset(&set);
sigaddset(&set, SIGUSR1);
sigprocmask(SIG_BLOCK, &set, NULL);
raise(SIGUSR1);
sigpending(&pending);
u32 sum = (u32)sigismember(&pending, SIGUSR1);
sigprocmask(SIG_UNBLOCK, &set, NULL);
$timer
sigaction(SIGUSR1, &old, NULL);
stack.ss_flags = SS_DISABLE;
sigaltstack(&stack, NULL);
free(memory);
return sum + ${n}_sum + (${n}_ticks > 0);""",
        onstack=draw.of("SA_ONSTACK", "0"),
        timer=f.fill(
            """
sigaction(SIGALRM, &tick, &detailed);
struct itimerval soon = {.it_value = {0, 2000}};
setitimer(ITIMER_REAL, &soon, NULL);
u32 spin = x;
while (!${n}_ticks)
    spin = mix(spin, 3u);
sigaction(SIGALRM, &detailed, NULL);"""
        )
        if draw.chance(30)
        else "(void)tick;",
    )


@feature("processes", weight=7)
def children(f):
    """fork, vfork, a pipe between, and how the child ended."""
    draw = f.draw
    f.include("unistd.h", "sys/wait.h", "stdlib.h", "stdio.h", "signal.h")
    f.spend(150_000)
    body, call = f.statements(["a"], 3, times=2), f.call()
    f.safe = False
    f.add(
        """
${s1} u32 ${n}_work(u32 a) { $body return a; }
__attribute__((noinline)) static u32 ${n}_vfork(u32 x)
{
    volatile u32 shared = x;
    pid_t child = vfork();
    if (child == 0) {
        shared = $call(x);
        _exit((int)(shared & 63u));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    return shared + (u32)status;
}
static u32 ${n}_fork(u32 x)
{
    int ends[2], status;
    u32 got = 0;
    if (pipe(ends))
        abort();
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        abort();
    if (child == 0) {
        u32 v = ${n}_work(x);
        if (write(ends[1], &v, sizeof(v)) != (ssize_t)sizeof(v))
            _exit(99);
        $end
        _exit((int)(v & 31u));
    }
    close(ends[1]);
    if (read(ends[0], &got, sizeof(got)) != (ssize_t)sizeof(got))
        got = 1;
    close(ends[0]);
    while (waitpid(child, &status, 0) != child)
        ;
    return mix(got, (u32)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) + 256));
}""",
        s1=f.static(),
        body=body,
        call=call,
        end=draw.of("", "", "raise(SIGKILL);", "abort();", "if (v & 1u) { signal(SIGSEGV, SIG_DFL); raise(SIGSEGV); }"),
    )
    f.entry("return ${n}_fork(x) ^ ${n}_vfork(x) ^ ${n}_work(x);")


@feature("processes", weight=3)
def commands(f):
    """Children that execute something: posix_spawn, system, popen."""
    f.include("spawn.h", "sys/wait.h", "stdlib.h", "stdio.h", "unistd.h")
    f.budget += 1_000_000
    f.spend(1_000_000)
    f.safe = False
    f.entry(
        """
extern char **environ;
char number[16], *arguments[] = {"sh", "-c", "exit $$((7 + 2))", NULL};
pid_t child;
int status = 0;
u32 sum = x;
fflush(NULL);
if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0 && waitpid(child, &status, 0) == child)
    sum = mix(sum, (u32)WEXITSTATUS(status));
FILE *pipe = popen("echo 123", "r");
if (pipe && fgets(number, sizeof(number), pipe))
    sum += (u32)atoi(number);
if (pipe)
    sum += (u32)pclose(pipe);
$body
return sum;""",
        body=f.statements(["sum"], 1),
    )


# Not allowed in shared libraries. It has a variable of its own: LLVM may run a constructor when it compiles, before everything else.
PREINIT = """
static u32 ${n}_early = 1;
static void ${n}_earliest(int argc, char **argv, char **environment)
{
    (void)argv, (void)environment;
    ${n}_early = mix(${n}_early, tip((u32)argc));
}
static __attribute__((section(".preinit_array"), used)) void (*${n}_hook)(int, char **, char **) = ${n}_earliest;"""


@feature("ends", weight=10)
def before_and_after(f):
    """Constructors, destructors and atexit functions, in their order."""
    draw = f.draw
    f.include("stdlib.h", "stdio.h")
    body = f.statements(["a"], 2, times=3)
    f.safe = False
    f.constructors = True
    f.add(
        """
static u32 ${n}_value = 5;
static __attribute__((constructor($p1))) void ${n}_first(void) { ${n}_value = mix(${n}_value, 1u); }
static __attribute__((constructor)) void ${n}_second(void) { u32 a = ${n}_value; $body ${n}_value = mix(a, 2u); }
static __attribute__((destructor($p2))) void ${n}_last(void) { say("$n last", ${n}_value); }
static __attribute__((destructor)) void ${n}_late(void) { ${n}_value = mix(${n}_value, 3u); say("$n late", ${n}_value); }
$early
static void ${n}_exit1(void) { ${n}_value ^= 0x11u; say("$n exit1", ${n}_value); }
static void ${n}_exit2(void) { ${n}_value += 9u; atexit(${n}_exit1); }
static void ${n}_on(int status, void *value) { say("$n on", *(u32 *)value + (u32)status); }""",
        p1=draw.between(101, 500),
        p2=draw.between(101, 500),
        early=f.fill(PREINIT if f.layout != "shared" and draw.chance(50) else "enum { ${n}_early = 3 };"),
        body=body,
    )
    f.entry(
        """
atexit(${n}_exit1);
atexit(${n}_exit2);
on_exit(${n}_on, &${n}_value);
return mix(x, ${n}_value) + (u32)${n}_early;"""
    )


@feature("linking", weight=6, static=False)
def resolved(f):
    """Functions chosen when the program is loaded (ifunc), found by name, and replaced weak ones."""
    draw = f.draw
    f.include("dlfcn.h")
    f.flags.add("-rdynamic")
    f.add(
        """
static u32 ${n}_one(u32 a) { return a * 3u; }
static u32 ${n}_two(u32 a) { return a * 5u; }
static __typeof__(${n}_one) *${n}_resolve(void) { return ${which} ? ${n}_one : ${n}_two; }
u32 ${n}_ifunc(u32 a) __attribute__((ifunc("${n}_resolve")));
__attribute__((visibility("default"), used, noinline)) u32 ${n}_found(u32 a) { $body return a + 1u; }
__attribute__((weak, noinline)) u32 ${n}_hook(u32 a) { return a + 2u; }
__attribute__((target_clones("default", "sse4.2"))) u32 ${n}_cloned(u32 a) { u32 s = 0; for (u32 i = 0; i < 9; i++) s += (u32)__builtin_popcount(a >> i); return s; }""",
        which=draw.below(2),
        body=f.statements(["a"], 1, times=2),
    )
    f.entry(
        """
u32 (*found)(u32) = (u32 (*)(u32))dlsym(RTLD_DEFAULT, "${n}_found");
u32 sum = ${n}_ifunc(x) + ${n}_hook(x) + ${n}_cloned(x);
return found ? mix(sum, found(x)) + (found == ${n}_found) : sum;"""
    )


@feature("linking", weight=4, static=False, once=True)
def own_allocator(f):
    """malloc of the program's own, which the library calls too, before main runs."""
    f.include("stdlib.h", "string.h", "stdio.h", "stddef.h", "stdatomic.h")
    f.safe = False
    f.add(
        """
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
static _Alignas(16) char ${n}_heap[1 << 22];
static _Atomic size_t ${n}_used;
static _Atomic u32 ${n}_calls;
${a}void *malloc(size_t size)
{
    size_t need = (size + 31) & ~(size_t)15, at = atomic_fetch_add(&${n}_used, need);
    ${n}_calls++;
    if (at + need > sizeof(${n}_heap))
        return NULL;
    *(size_t *)(${n}_heap + at) = size;
    return ${n}_heap + at + 16;
}
${a}void free(void *memory) { (void)memory; }
${a}void *calloc(size_t count, size_t size) { void *memory = malloc(count * size); if (memory) memset(memory, 0, count * size); return memory; }
${a}void *realloc(void *old, size_t size)
{
    void *memory = malloc(size);
    if (memory && old) {
        size_t had = *(size_t *)((char *)old - 16);
        memcpy(memory, old, had < size ? had : size);
    }
    return memory;
}
#else
static u32 ${n}_calls;
#endif""",
        a=f.draw.of("", "__attribute__((noinline)) "),
    )
    f.entry(
        """
char *text = strdup("some text");
u32 sum = x;
if (text) {
    text = realloc(text, 40);
    sum += (u32)strlen(text);
    free(text);
}
return sum + (${n}_calls > 0);"""
    )


@feature("processes", weight=3)
def again(f):
    """main called once more, with other arguments."""
    f.include("stdlib.h")
    f.safe = False
    f.spend(20)
    f.add("int main(int, char **);\nstatic u32 ${n}_inside;")
    f.entry(
        """
char *arguments[] = {"again", "$number", NULL};
if (${n}_inside)
    return x;
${n}_inside = 1;
u32 sum = mix(x, (u32)main(2, arguments));
${n}_inside = 0;
return sum;""",
        number=f.draw.between(1, 99),
    )
