// SPDX-License-Identifier: Apache-2.0
/*
 * What the lines of a log prove together: entries are collected line by line and become
 * observations.
 *
 *     struct log_observer *observer = log_observer_create(catalogue, path, &options, evidence);
 *     log_observer_line(observer, number, &line);          // for each line, in order
 *     log_observer_finish(observer);                       // adds to the evidence
 *     log_observer_destroy(observer);
 *
 * An entry has a place in the order of a stream when all that may have written it write to that
 * stream, in the order of visits, and when it cannot be more of the output that the entry before it
 * saw. All others are observed without order.
 */
#ifndef EVIDENCE_LOG_OBSERVE_H
#define EVIDENCE_LOG_OBSERVE_H

#include "evidence/log.h"
#include "evidence/log_match.h"

struct evidence;
struct log_observer;

// All arguments have to outlive it.
struct log_observer *log_observer_create(const struct log_catalogue *catalogue, const char *path,
                                         const struct log_options *options,
                                         struct evidence *evidence);
void log_observer_destroy(struct log_observer *observer); // NULL is fine

void log_observer_line(struct log_observer *observer, uint32_t number, const struct log_line *line);
// A line that was not looked at, or not to its end: anything may be lost with it.
void log_observer_gap(struct log_observer *observer);
// The log ends within a line, or begins behind the start of the run.
void log_observer_cut(struct log_observer *observer);
void log_observer_finish(struct log_observer *observer);

#endif
