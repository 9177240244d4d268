// SPDX-License-Identifier: Apache-2.0
// Functions of the library: what they read and wrote, by the lengths that there were.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char name[32], copy[32], line[32], rest[8];
    char *number;
    (void)argv;
    strcpy(name, "other");          // out: overwritten
    strcpy(rest, "zz");             // out
    sprintf(name, "%d", argc + 11); // in
    strcpy(copy, name);             // in
    name[0] = 'x';                  // out
    snprintf(line, sizeof(line),    // in
             "%s-%s", copy, "99");
    snprintf(rest, sizeof(rest), "%s", copy); // out
    number = strdup(line);                    // in
    line[0] = '7';                            // out
    memmove(number + 3, number, 2);           // out: beyond the number's end
    number[2] = 0;                            // in, writes heap
    int n = (int)strlen(rest);                // out
    int value = atoi(number);                 // in
    *(volatile int *)(long)value = 0;         // in
    free(number);
    return n; // out
}
