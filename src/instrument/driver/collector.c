#include "instrument/driver/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/error.h"
#include "instrument/driver/process.h"

#define PIECE (64 * 1024)

static void *collect(void *argument)
{
    struct collector *collector = argument;
    for (;;) {
        strbuf_reserve(&collector->text, PIECE);
        ssize_t size =
            read(collector->reader, collector->text.data + collector->text.length, PIECE);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return NULL;
        collector->text.length += (size_t)size;
        collector->text.data[collector->text.length] = '\0';
    }
}

struct error *collector_begin(struct collector *collector, struct arena *arena)
{
    int ends[2];
    strbuf_init(&collector->text);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_errno(errno, NULL, "cannot make a pipe");
    collector->reader = ends[0];
    collector->writer = ends[1];
    collector->path = memory_file_path(arena, collector->writer);
    int errnum = pthread_create(&collector->thread, NULL, collect, collector);
    if (errnum == 0)
        return NULL;
    close(ends[0]);
    close(ends[1]);
    return error_errno(errnum, NULL, "cannot make a thread");
}

void collector_end(struct collector *collector)
{
    close(collector->writer);
    pthread_join(collector->thread, NULL);
    close(collector->reader);
}

void collector_deinit(struct collector *collector)
{
    strbuf_deinit(&collector->text);
}
