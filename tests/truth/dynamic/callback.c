// SPDX-License-Identifier: Apache-2.0
// A failure inside of what the library calls: that it is called again depends on earlier answers.
#include <stdlib.h>

static int count, noise;

static int compare(const void *a, const void *b)
{
    noise += 2;                               // out
    if (++count == 3)                         // in
        *(volatile int *)16 = 0;              // in
    return *(const int *)a - *(const int *)b; // in
}

int main(int argc, char **argv)
{
    int numbers[4];
    int *freed = malloc(4); // out
    (void)argv;
    for (int i = 0; i < 4; i++)              // in
        numbers[i] = argc * 7 - i;           // in
    *freed = 3;                              // out, writes heap
    free(freed);                             // out
    noise += *freed;                         // out, reads stale
    qsort(numbers, 4, sizeof(int), compare); // in
    return noise;
}
