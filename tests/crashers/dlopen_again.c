// SPDX-License-Identifier: Apache-2.0
// A library that is unloaded and loaded again: its bytes do not know of the calls before.
// library: dlopen_again_library.c
// ldflags: -ldl
// truth: none
// signal: SIGSEGV
// expect: stack library_crash main
// expect: coverage library_work library_note maybe
// expect: coverage main host_never no
#include <dlfcn.h>
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) static void host_never(void)
{
    sink++;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    void *library = dlopen(name, RTLD_NOW);
    int (*work)(int) = library ? (int (*)(int))dlsym(library, "library_work") : NULL;

    if (!work)
        return 1;
    sink = work(1);
    if (sink > 100)
        host_never();
    dlclose(library);
    library = dlopen(name, RTLD_NOW);
    work = (int (*)(int))dlsym(library, "library_crash");
    return work(8) + 1;
}
