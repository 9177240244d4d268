// SPDX-License-Identifier: Apache-2.0
/*
 * Functions with buffers (buffers.c) and who overflows them (overflow.c, which is the same object
 * in every program that is compared).
 */
#ifndef BUFFERS_H
#define BUFFERS_H

#include <stddef.h>

// Buffer number `which` of the function that is tried; the chosen one is filled and run over.
void hit(int which, void *buffer, size_t size);

// A value that the compiler does not know, so that branches and loops stay.
int some(int value);

typedef int tried_function(int n);

struct tried {
    const char *name;
    tried_function *function;
};

extern const struct tried all_tried[]; // the last one has no name

#endif
