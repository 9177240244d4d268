// SPDX-License-Identifier: Apache-2.0
/*
 * A typed vector, made by a macro.
 *
 *     VEC_DEFINE(node_vec, struct node);   // struct node_vec and node_vec_*()
 *
 *     struct node_vec nodes = VEC_INIT;
 *     node_vec_push(&nodes, node);
 *     for (size_t i = 0; i < nodes.length; i++)
 *             use(&nodes.data[i]);
 *     node_vec_deinit(&nodes);
 *
 * data holds length elements; it is NULL or owned by the vector. Growing moves it: a pointer into
 * it lives until the next push, reserve, resize or append. Elements are plain values; whoever puts
 * something owned into a vector frees it.
 */
#ifndef INQUEST_COMMON_VEC_H
#define INQUEST_COMMON_VEC_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

#define VEC_INIT {NULL, 0, 0}

#define VEC_FUNCTION static inline __attribute__((__unused__))

#define VEC_DEFINE(name, type)                                                                     \
    struct name {                                                                                  \
        type *data;                                                                                \
        size_t length;                                                                             \
        size_t capacity;                                                                           \
    };                                                                                             \
                                                                                                   \
    VEC_FUNCTION void name##_init(struct name *vec)                                                \
    {                                                                                              \
        *vec = (struct name)VEC_INIT;                                                              \
    }                                                                                              \
                                                                                                   \
    VEC_FUNCTION void name##_deinit(struct name *vec)                                              \
    {                                                                                              \
        free(vec->data);                                                                           \
        *vec = (struct name)VEC_INIT;                                                              \
    }                                                                                              \
                                                                                                   \
    /* Room for capacity elements in all. */                                                       \
    VEC_FUNCTION void name##_reserve(struct name *vec, size_t capacity)                            \
    {                                                                                              \
        if (capacity <= vec->capacity)                                                             \
            return;                                                                                \
        size_t grown = vec->capacity + vec->capacity / 2;                                          \
        if (grown < 8)                                                                             \
            grown = 8;                                                                             \
        if (grown < capacity)                                                                      \
            grown = capacity;                                                                      \
        vec->data = xrealloc_array(vec->data, grown, sizeof(type));                                \
        vec->capacity = grown;                                                                     \
    }                                                                                              \
                                                                                                   \
    VEC_FUNCTION void name##_push(struct name *vec, type value)                                    \
    {                                                                                              \
        if (vec->length == vec->capacity)                                                          \
            name##_reserve(vec, vec->length + 1);                                                  \
        vec->data[vec->length++] = value;                                                          \
    }                                                                                              \
                                                                                                   \
    /* The removed last element. */                                                                \
    VEC_FUNCTION type name##_pop(struct name *vec)                                                 \
    {                                                                                              \
        assert(vec->length > 0);                                                                   \
        return vec->data[--vec->length];                                                           \
    }                                                                                              \
                                                                                                   \
    VEC_FUNCTION type *name##_last(const struct name *vec)                                         \
    {                                                                                              \
        assert(vec->length > 0);                                                                   \
        return &vec->data[vec->length - 1];                                                        \
    }                                                                                              \
                                                                                                   \
    /* Checked access. */                                                                          \
    VEC_FUNCTION type *name##_at(const struct name *vec, size_t index)                             \
    {                                                                                              \
        assert(index < vec->length);                                                               \
        return &vec->data[index];                                                                  \
    }                                                                                              \
                                                                                                   \
    /* New elements are zero-filled. */                                                            \
    VEC_FUNCTION void name##_resize(struct name *vec, size_t length)                               \
    {                                                                                              \
        name##_reserve(vec, length);                                                               \
        if (length > vec->length)                                                                  \
            memset(&vec->data[vec->length], 0, (length - vec->length) * sizeof(type));             \
        vec->length = length;                                                                      \
    }                                                                                              \
                                                                                                   \
    /* values may not point into the vector itself. */                                             \
    VEC_FUNCTION void name##_append(struct name *vec, type const *values, size_t count)            \
    {                                                                                              \
        if (count == 0)                                                                            \
            return;                                                                                \
        assert(count <= SIZE_MAX - vec->length);                                                   \
        name##_reserve(vec, vec->length + count);                                                  \
        memcpy(&vec->data[vec->length], values, count * sizeof(type));                             \
        vec->length += count;                                                                      \
    }                                                                                              \
                                                                                                   \
    /* Keeps the memory. */                                                                        \
    VEC_FUNCTION void name##_clear(struct name *vec)                                               \
    {                                                                                              \
        vec->length = 0;                                                                           \
    }                                                                                              \
                                                                                                   \
    /* The elements, now the caller's to free; NULL when none was ever held. */                    \
    VEC_FUNCTION type *name##_steal(struct name *vec)                                              \
    {                                                                                              \
        type *data = vec->data;                                                                    \
        *vec = (struct name)VEC_INIT;                                                              \
        return data;                                                                               \
    }

#endif
