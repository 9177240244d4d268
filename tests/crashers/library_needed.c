// SPDX-License-Identifier: Apache-2.0
// A library that the program is linked with stays until the end, whoever calls dlclose().
// links: dlopen_again_library.c
// ldflags: -ldl
// truth: none
// signal: SIGSEGV
// expect: stack library_crash main
// expect: coverage library_work library_note no
#include <dlfcn.h>
#include <stddef.h>

int library_work(int value);
int library_crash(int value);

int main(int argc, char **argv)
{
    (void)argv;
    void *self = dlopen(NULL, RTLD_NOW);

    if (argc > 1)
        return library_work(argc);
    if (self)
        dlclose(self);
    return library_crash(8) + 1;
}
