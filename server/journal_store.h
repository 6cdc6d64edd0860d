/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_JOURNAL_STORE_H
#define TANDEM_SERVER_JOURNAL_STORE_H

// The journal as a store: its thread, which opens it, too, and what wakes the loop when that thread
// is done. What the journal is kept in is a place, behind a table: a directory (store_files.c), or
// rows of a database (store_postgres.c).

#include "journal/journal.h"
#include "journal/worker.h"
#include "server/config/settings.h"
#include "server/store.h"

#include <event2/event_struct.h>

struct journal_store;

struct journal_place {
    const char *key;    // what the log calls the name by
    const char *medium; // what its bytes are in
    const char *(*name)(const struct journal_store *store);
    // Before the journal is opened; on the journal's thread. False with the reason.
    bool (*open)(struct journal_store *store, struct error_text *why);
    // What only the place knows.
    void (*show)(const struct journal_store *store, struct sight_journal *journal);
    // The journal and its thread are gone: frees the rest, the store included.
    void (*free)(struct journal_store *store);
    bool commits; // what is written is always safe: `fsync` has no meaning
};

// The first member of what a place adds to it.
struct journal_store {
    struct store store;
    const struct journal_place *place;
    const struct store_settings *settings; // borrowed
    struct store_options options;
    struct journal *journal;      /* private: as what follows */
    struct worker_thread *thread; //
    struct event woken;           //
    int wake_fd;                  // an eventfd
    struct broker *broker;        // gets its jobs back
    struct error_text why;        // why it is not opened
    nsec_t opened_for;            // how long that took
    bool opened;                  //
    bool ready;                   // it is, and the loop has been told
    uint64_t read;                // bytes, as they were logged last
};

// Makes the journal and its thread for a store whose public fields are set; `storage` and `host`
// as journal_new() takes them. False with the reason: journal_store_close() is to be called in any
// case.
bool journal_store_make(struct journal_store *store, struct storage *storage,
                        const struct task_runner *runner, const char *host,
                        struct error_text *why) MUST_USE;
struct journal_store *journal_store_of(const struct store *store);

// store_ops of the same names.
void journal_store_record(struct store *store, struct broker_options *options);
bool journal_store_open_begin(struct store *store, struct event_base *base, struct broker *broker,
                              struct error_text *why);
bool journal_store_is_opening(const struct store *store);
void journal_store_progress(const struct store *store, struct store_progress *progress);
bool journal_store_log_progress(struct store *store, nsec_t since_for);
void journal_store_stop_opening(struct store *store);
bool journal_store_open_end(struct store *store, struct error_text *why);
const char *journal_store_host(const struct store *store);
void journal_store_turn(struct store *store);
uint64_t journal_store_reached(const struct store *store);
nsec_t journal_store_next_due(const struct store *store);
enum store_pressure journal_store_pressure(const struct store *store);
bool journal_store_gave_up(struct store *store);
void journal_store_resumed(struct store *store);
void journal_store_show(const struct store *store, struct sight_journal *journal);
bool journal_store_close(struct store *store);

// What a place does not do by itself.
#define JOURNAL_STORE_OPS                                                                          \
    .record = journal_store_record, .open_begin = journal_store_open_begin,                        \
    .is_opening = journal_store_is_opening, .progress = journal_store_progress,                    \
    .log_progress = journal_store_log_progress, .stop_opening = journal_store_stop_opening,        \
    .open_end = journal_store_open_end, .host = journal_store_host, .turn = journal_store_turn,    \
    .reached = journal_store_reached, .next_due = journal_store_next_due,                          \
    .pressure = journal_store_pressure, .gave_up = journal_store_gave_up,                          \
    .resumed = journal_store_resumed, .show = journal_store_show, .close = journal_store_close

#endif
