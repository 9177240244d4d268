// SPDX-License-Identifier: Apache-2.0
// Code that is not known hands out what it was given.
#include <envz.h>
#include <unistd.h>

struct pair {
    char name, is, value, end;
};

int main(int argc, char **argv)
{
    struct pair pairs[2] = {{'a', '=', '1', 0}, {'b', '=', '2', 0}};
    struct pair others[2] = {{'a', '=', '1', 0}, {'b', '=', '2', 0}}; // out
    (void)argv;
    const char *found = envz_get((char *)pairs, sizeof(pairs), "b"); // in
    pairs[argc].value = (char)(argc + 3);                            // in, writes local
    others[argc].value = 4;                                          // out, writes local
    (void)getpid();
    *(volatile char *)(long)*found // in
        = 0;
    return others[argc].value;
}
