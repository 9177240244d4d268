// SPDX-License-Identifier: Apache-2.0
/*
 * Calls that -D_FORTIFY_SOURCE replaces by checking ones, in branches and loops. The first argument
 * is a length: past 16 the checking function has to abort.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static int copies(const char *text, size_t length)
{
    char room[16], other[16];

    memset(room, 0, sizeof(room));
    for (size_t i = 0; i < 2; i++)
        if (length & 1)
            memcpy(room, text, length);
        else
            memmove(room, text, length);
    strncpy(other, text, length);
    return room[0] + other[1];
}

__attribute__((noinline)) static int prints(const char *text, size_t length)
{
    char room[16];

    if (length > 4)
        snprintf(room, length, "%s", text);
    else
        sprintf(room, "%s", text);
    printf("%s\n", room);
    fprintf(stdout, "%zu\n", length);
    return room[0];
}

__attribute__((noinline)) static int strings(const char *text, size_t length)
{
    char room[16] = "";

    while (length-- > 14)
        strcat(room, text);
    strcpy(room, text);
    return room[0];
}

__attribute__((noinline)) static long reads(size_t length)
{
    char room[16];

    if (length > 100)
        return read(-1, room, length);
    return fread(room, 1, length, stdin) + (fgets(room, (int)length, stdin) != NULL);
}

int main(int argc, char **argv)
{
    size_t length = argc > 1 ? (size_t)atoi(argv[1]) : 4;
    const char *text = argc > 2 ? argv[2] : "abc";

    return (copies(text, length) + prints(text, length) + strings(text, length) + reads(length)) &
           0;
}
