/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_MOMENT_H
#define TANDEM_ADMIN_METRICS_MOMENT_H

// All metrics as they were at one moment. First all queues are looked at, in slices, to find the
// busiest; then, in one turn, the numbers of those are taken, those of the broker, and those of the
// process. What the broker has and they have not is the rest. Afterwards nothing changes: a moment
// is read by as many as asked for metrics while it was being prepared, as slowly as they like.
//
// A moment keeps some 700 bytes for each queue that has a name in it, counted; there may be
// METRICS_MOMENTS of them. Where one more is wanted, the last one has to do for that reader, too,
// if it is young; otherwise those who read the oldest one are dropped: who does not read keeps
// nobody from metrics.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"

#include "admin/metrics_names.h"
#include "admin/metrics_numbers.h"
#include "admin/metrics_pick.h"
#include "admin/metrics_series.h"
#include "admin/metrics_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_facts;
struct sight;
struct wire;

// So many moments are kept at a time, for those who read them.
#define METRICS_MOMENTS 8
// So old may one be that another reader is told where there are so many.
#define METRICS_SHARED_FOR (5 * NSEC_PER_SEC)

// A queue, or the rest of them.
struct metric_row {
    struct metric_name *name; // a reference; NULL: the rest
    bool timed;               // times of it were counted
    struct metric_seen seen;
    struct metric_numbers numbers;
    uint64_t tube[TUBE_COUNT]; // not of the rest
};

struct metrics_moment {
    struct list_node node;    // in the moments of `struct metrics`, the oldest first
    struct list_node readers; // it is there as long as there are any
    nsec_t ready_at;
    bool ready; // all below is there, and stays
    // Preparing.
    uint32_t cursor; // of the walk over all queues
    size_t named_at; // how far the named ones of before were passed
    struct metric_picks picks;
    struct metric_named next; // becomes that of `struct metrics`
    // What is told.
    size_t count, room;
    uint64_t unnamed; // queues that are in the rest
    unsigned names;   // of exporters that are told, too (metrics_names.h)
    struct metric_row rest;
    struct metrics_text process[2]; // plain, and as OpenMetrics
    struct metric_row rows[];
};

// Who reads a moment.
struct metrics_reader {
    struct wire *wire; // to be set
    struct metrics_moment *moment;
    struct list_node node; // among its readers
};

// What is kept from one moment to the next.
struct metrics {
    struct broker *broker;
    const struct process_facts *facts;
    const struct sight *sight;        // NULL: the process shows nothing of itself
    unsigned names;                   // of exporters, from the next moment on
    struct metric_named named;        // at the last moment
    struct metrics_moment *preparing; // the one that is not ready yet; NULL: there is none
    struct list_node moments;         // those that are there
    unsigned count;                   // of them
};

// All else zeroed.
void metrics_begin(struct metrics *metrics, struct broker *broker,
                   const struct process_facts *facts, const struct sight *sight);

// Nothing may be read any more.
void metrics_end(struct metrics *metrics);

// Has one read the moment that is being prepared, or a new one, with at most so many names, or the
// last one. False without memory.
bool metrics_read(struct metrics *metrics, struct metrics_reader *reader,
                  size_t most_names) MUST_USE;

// It reads no more. One that never did is allowed, if it is zeroed.
void metrics_read_end(struct metrics *metrics, struct metrics_reader *reader);

// Does a slice of what is to be done for it. True: it is ready.
bool metrics_moment_step(struct metrics *metrics, struct metrics_moment *moment);

// Bytes that it keeps. In constant time.
size_t metrics_moment_size(const struct metrics_moment *moment);

#endif
