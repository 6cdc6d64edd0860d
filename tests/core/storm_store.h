/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_STORM_STORE_H
#define TANDEM_TESTS_CORE_STORM_STORE_H

// A store in memory that refuses at random, knows which jobs it has, and gives them back. It
// asserts that room was asked for before each record, except for ends and burials.

#include "core/broker.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORM_IDS (1u << 18)
// The records between two restarts.
#define STORM_RECORDS (1u << 16)
#define STORM_BYTES ((size_t)64 << 20)

struct storm_record {
    enum record_kind kind;
    struct job_image image; // `now` alone of a change
    struct slice to_queue;  // MOVE, PAUSE
    bool to_kept;
    nsec_t pause_for, until_at;
    struct memo memo;
};

struct storm_store {
    struct broker *broker; // whose store it is
    uint64_t random;
    unsigned refuses;  // one request for room in this number is refused; 0: none is
    uint64_t position; // of the last record
    unsigned roomy;    // kinds for which there was room since the last verb began
    struct storm_record *records;
    size_t count;
    char *bytes; // what their slices refer to
    size_t used;
    bool has[STORM_IDS]; // the jobs that it has, by id
    size_t jobs;
};

extern const struct recorder storm_recorder; // its store is a struct storm_store

// Allocates all its memory, so that it needs none while allocations fail.
void storm_store_init(struct storm_store *store);
void storm_store_clear(struct storm_store *store);

// A verb begins: earlier grants of room are dropped.
void storm_store_begin(struct storm_store *store);

// Asserts that the broker has exactly the durable jobs that the store has.
void storm_store_compare(const struct storm_store *store);

// Replaces the records by full records of all jobs of its broker.
void storm_store_compact(struct storm_store *store);

// Gives all records to that broker, which is new, and finishes. At random moments it sets the
// present and tidies up, as a standby does while another process writes.
void storm_store_restore(struct storm_store *store, struct broker *to, struct instant now);

#endif
