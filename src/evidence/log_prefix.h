// SPDX-License-Identifier: Apache-2.0
/*
 * What stands before a message in a log: times, hosts, programs with their process ids, levels,
 * in the forms that loggers use. Whoever wrote them (syslog, ts, the program itself), the message
 * may begin behind any of them.
 *
 *     struct log_prefix prefix;
 *     log_prefix_read(bytes, length, &prefix);
 *     for (unsigned i = 0; i < prefix.count; i++)
 *             may_begin_at(prefix.ends[i]);
 *
 * "Mar  1 12:00:00 host prog[123]: <warning> text" has an end behind the time, the host, the
 * program and the level. A prefix begins with a time (a date, a clock, seconds since the Epoch or,
 * with a fraction, since the start), a priority, or a program with its process id; levels, names
 * and short texts in brackets may follow. Levels alone are no prefix: programs write those
 * themselves.
 */
#ifndef EVIDENCE_LOG_PREFIX_H
#define EVIDENCE_LOG_PREFIX_H

#include <stddef.h>
#include <stdint.h>

#define LOG_PREFIX_MOST 8

struct log_prefix {
    unsigned count;
    size_t ends[LOG_PREFIX_MOST]; // ascending, behind white space
    int64_t pid;                  // of "prog[123]:"; 0: none
};

void log_prefix_read(const char *bytes, size_t length, struct log_prefix *ret);

#endif
