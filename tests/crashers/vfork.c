// SPDX-License-Identifier: Apache-2.0
// vfork: the child runs on the parent's stack and comes back before the parent does.
// signal: SIGSEGV
// expect: stack after main
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) static void child_work(int n)
{
    sink += n;
}

__attribute__((noinline)) static void after(int status)
{
    if (status == 0)
        *(volatile int *)16 = sink;
    sink--;
}

int main(void)
{
    int status = 1;
    pid_t child = vfork();

    if (child == 0) {
        child_work(3);
        _exit(0);
    }
    waitpid(child, &status, 0);
    after(status);
    return 0;
}
