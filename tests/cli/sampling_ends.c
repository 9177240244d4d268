// Counts 1000 calls, then ends in the way that it is told. For tests of what is left when a process dies.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

int work(int i) // expect entry
{
    if (i % 4 == 0) // a quarter is true
        sink += i;
    return i;
}

static void repeat(int count)
{
    for (int i = 0; i < count; i++)
        work(i);
}

static void *thread(void *unused)
{
    repeat(25000);
    return unused;
}

static int threads(void)
{
    pthread_t all[8];

    for (int i = 0; i < 8; i++)
        if (pthread_create(&all[i], NULL, thread, NULL) != 0)
            return 2;
    for (int i = 0; i < 8; i++)
        pthread_join(all[i], NULL);
    return 0;
}

// The child does 300 more, the parent 200.
static int forked(pid_t child)
{
    int status;

    if (child == 0) {
        repeat(300);
        _exit(0);
    }
    repeat(200);
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 2;
}

static int vforked(char *self)
{
    int status;
    pid_t child = vfork();

    if (child == 0) {
        execl(self, self, "return", (char *)NULL);
        _exit(127);
    }
    repeat(200);
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 2;
}

static void on_signal(int number)
{
    (void)number;
    repeat(10);
}

static int signals(void)
{
    signal(SIGALRM, on_signal);
    for (int i = 0; i < 50; i++)
        raise(SIGALRM);
    return 0;
}

// What a guest must not change: errno, and the next descriptor.
// The file of counters is mapped, and not kept open.
static int is_open_live(void)
{
    for (int fd = 0; fd < 1024; fd++) {
        char name[64], target[4096];

        snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        ssize_t length = readlink(name, target, sizeof(target) - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strstr(target, ".live"))
            return 1;
    }
    return 0;
}

static int manners(void)
{
    errno = 77;
    repeat(100);
    return errno == 77 && !is_open_live() ? 0 : 2;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";

    repeat(1000);
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "exit"))
        _exit(0);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "crash"))
        *(volatile int *)8 = 1;
    if (!strcmp(how, "threads"))
        return threads();
    if (!strcmp(how, "fork"))
        return forked(fork());
    if (!strcmp(how, "raw"))
        return forked((pid_t)syscall(SYS_fork));
    if (!strcmp(how, "vfork"))
        return vforked(argv[0]);
    if (!strcmp(how, "signals"))
        return signals();
    if (!strcmp(how, "manners"))
        return manners();
    if (!strcmp(how, "library")) {
        void *library = dlopen(argv[2], RTLD_NOW);
        int (*function)(int) = library ? (int (*)(int))dlsym(library, "in_library") : NULL;
        if (!function)
            return 2;
        for (int i = 0; i < 70; i++)
            function(i);
    }
    return 0;
}
