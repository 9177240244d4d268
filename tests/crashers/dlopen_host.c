// SPDX-License-Identifier: Apache-2.0
// A stack that crosses from the program into an instrumented library and back.
// library: dlopen_library.c
// cflags: -rdynamic
// ldflags: -rdynamic -ldl
// truth: none
// signal: SIGSEGV
// expect: stack host_callback library_work host_use main
// expect: candidates library_work exact
// expect: coverage library_work library_never maybe
#include <dlfcn.h>
#include <stdio.h>

typedef int work(int (*callback)(int), int n);

__attribute__((noinline)) int host_callback(int n)
{
    return n > 2 ? *(volatile int *)16 : n;
}

__attribute__((noinline)) static int host_use(work *use)
{
    int sum = use(host_callback, 2);

    return sum + use(host_callback, 6);
}

int main(int argc, char **argv)
{
    void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
    work *use = library ? (work *)dlsym(library, "library_work") : NULL;

    if (!use) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return host_use(use) + 1;
}
