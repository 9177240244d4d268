// SPDX-License-Identifier: Apache-2.0
// Streams and scanning: a line depends on those that were read before it.
// input: alpha 70\nbeta 9,4
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char first[32], second[32], word[32], cut[8];
    int number = 0, other = 0; // out: both are set
    (void)argc;
    (void)argv;
    fgets(first, sizeof(first), stdin);        // in
    sscanf(first, "%31s %d", word, &other);    // out
    fgets(second, sizeof(second), stdin);      // in
    sscanf(second, "%31s %d", word, &number);  // in
    strncpy(cut, word, 4);                     // in
    cut[4] = 0;                                // out
    strcpy(cut + 3, "xy");                     // out
    char *token = strtok(second, ",");         // out
    token = strtok(NULL, ",");                 // out
    *(volatile int *)(long)(number + cut[1]) = // in
        0;
    return other + token[0];
}
