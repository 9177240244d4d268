// SPDX-License-Identifier: Apache-2.0
/*
 * Cleanup attributes, as drgn's cleanup.h has them: a local that owns something frees it when it
 * leaves scope, and hands it over explicitly.
 *
 *     _cleanup_free_ char *name = xstrdup(path);
 *     struct error *err = parse(name);
 *     if (err)
 *             return err;                 // name is freed
 *     *ret = no_cleanup_ptr(name);        // handed over: name is now NULL
 *     return NULL;
 *
 * Initialise such a local where it is declared: the cleanup runs on every way out of the scope.
 */
#ifndef INQUEST_COMMON_CLEANUP_H
#define INQUEST_COMMON_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Call function(&variable) at the end of scope. */
#define _cleanup_(function) __attribute__((__cleanup__(function)))

static inline void cleanup_free(void *pointer_address)
{
    free(*(void **)pointer_address);
}

static inline void cleanup_close(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
}

static inline void cleanup_fclose(FILE **file)
{
    if (*file)
        fclose(*file);
}

/* free() a pointer; NULL is fine. */
#define _cleanup_free_ _cleanup_(cleanup_free)
/* close() a file descriptor; a negative one is fine. */
#define _cleanup_close_ _cleanup_(cleanup_close)
/* fclose() a FILE; NULL is fine. Where the result matters, close by hand. */
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)

/* The value of a pointer, which is set to NULL so that its cleanup does nothing. */
#define no_cleanup_ptr(p)                                                                          \
    ({                                                                                             \
        __typeof__(p) *cleanup_address_ = &(p);                                                    \
        __typeof__(p) cleanup_value_ = *cleanup_address_;                                          \
        *cleanup_address_ = NULL;                                                                  \
        cleanup_value_;                                                                            \
    })

/* The value of a file descriptor, which is set to -1 so that its cleanup does nothing. */
#define no_cleanup_fd(fd)                                                                          \
    ({                                                                                             \
        int *cleanup_address_ = &(fd);                                                             \
        int cleanup_value_ = *cleanup_address_;                                                    \
        *cleanup_address_ = -1;                                                                    \
        cleanup_value_;                                                                            \
    })

#define return_ptr(p) return no_cleanup_ptr(p)

#endif
