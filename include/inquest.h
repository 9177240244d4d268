// SPDX-License-Identifier: Apache-2.0
/*
 * For programs that are investigated with Inquest.
 *
 * INQUEST_WATCH(EXPR) states a predicate: compiled with `inquest-cc -finquest=LEVEL,suspects`, the
 * program counts how often EXPR was true and how often it was false where it stands, and
 * `inquest suspects` tells whether that goes with failures. It is a statement without a value.
 *
 *     #include <inquest.h>
 *     INQUEST_WATCH(list->length == 0);
 *
 * With any other compiler, or without the scheme, EXPR is checked by the compiler but not
 * evaluated. As with assert(), it should have no side effects.
 */
#ifndef INQUEST_H
#define INQUEST_H

#ifdef __INQUEST_SUSPECTS__
#define INQUEST_WATCH(...)                                                                         \
    ((void)__builtin_annotation((__VA_ARGS__) ? 1 : 0, "inquest:watch:" #__VA_ARGS__))
#else
#define INQUEST_WATCH(...) ((void)sizeof((__VA_ARGS__) ? 1 : 0))
#endif

#endif
