// LLVM makes no call of calloc in calloc itself, and none of memset in memset, which it knows by their names: the plain
// copies have others, and went round in circles.
// opt: -O1 -O2 -Os
// more: own_library_parts.c
// levels: calls paths full untunable off off=calloc
// output: 0 7 9
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *calloc(size_t count, size_t size)
{
    void *memory = malloc(count * size);

    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

void *own_memset(void *at, int byte, size_t size);

int main(void)
{
    int *volatile kept = calloc(10, sizeof(*kept));
    char text[40];
    char *volatile where = text;

    own_memset(where, 7, sizeof(text));
    printf("%d %d %d\n", kept[3], where[39], kept[5] + 9);
    return 0;
}
