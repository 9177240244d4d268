// SPDX-License-Identifier: Apache-2.0
/*
 * The version of Inquest, as `--version` and the "inquest" field of every JSON document give it.
 *
 * Formats carry their own version numbers; this one is for people.
 */
#ifndef INQUEST_COMMON_VERSION_H
#define INQUEST_COMMON_VERSION_H

#define INQUEST_VERSION "0.1.0"

#endif
