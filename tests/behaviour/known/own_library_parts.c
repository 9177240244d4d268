// malloc of a pool, and a memset under a name of its own: see own_library.c.
#include <stddef.h>
#include <stdlib.h>

static char pool[1 << 20];
static size_t used;

void *malloc(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (used + size > sizeof(pool))
        abort();
    used += size;
    return pool + used - size;
}

void free(void *memory)
{
    (void)memory;
}

void *memset(void *at, int byte, size_t size)
{
    char *bytes = at;

    if (!bytes)
        abort();
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)byte;
    return at;
}

void *own_memset(void *at, int byte, size_t size)
{
    return memset(at, byte, size);
}
