/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_STORE_JOURNAL_STORE_H
#define TANDEM_SERVER_STORE_JOURNAL_STORE_H

// Private to server/store: a journal as a store, with its worker thread, which also opens it, and
// an event that wakes the loop when that thread is done. A directory (store_files.c) and a database
// (store_postgres.c) differ by a struct journal_place.

#include "journal/journal.h"
#include "journal/worker.h"
#include "server/config/settings.h"
#include "server/store/store.h"

#include <event2/event_struct.h>

struct journal_store;

struct journal_place {
    const char *key;    // of the name in the log
    const char *medium; // for the log
    bool commits;       // writing makes durable: the setting `fsync` has no meaning
    const char *(*name)(const struct journal_store *store);
    // Before the journal is opened, on the loop's thread. False with the reason. NULL: nothing.
    bool (*prepare)(struct journal_store *store, struct error_text *why);
    // The same on the worker thread. NULL: nothing.
    bool (*open)(struct journal_store *store, struct error_text *why);
    // Opening is to end soon. NULL: the journal alone sees to it.
    void (*stop_opening)(struct journal_store *store);
    // The journal is about to be closed. NULL: nothing.
    void (*closing)(struct journal_store *store);
    // Fills in what only the place knows.
    void (*show)(const struct journal_store *store, struct introspect_journal *journal);
    // The journal and its thread are gone: frees the rest, the store included.
    void (*free)(struct journal_store *store);
};

// The first member of the store of each place.
struct journal_store {
    struct store store;
    const struct journal_place *place;
    const struct store_settings *settings; // borrowed
    struct store_options options;
    struct journal *journal;      /* private: as the following */
    struct worker_thread *thread; //
    struct event woken;           //
    int wake_fd;                  // an eventfd
    struct broker *broker;        // gets its jobs back
    struct error_text why;        // why it could not be opened
    nsec_t opened_for;            // how long opening took
    bool opened;                  //
    bool ready;                   // it is open, and the loop was told
    uint64_t read;                // bytes, as logged last
};

struct journal_store *journal_store_of(const struct store *store);

// Makes the journal and its thread for a store whose place, settings and options are set; takes
// `storage` and `host` as journal_new(). False with the reason: the store is freed then.
bool journal_store_make(struct journal_store *store, struct storage *storage,
                        const struct task_runner *runner, const char *host,
                        struct error_text *why) MUST_USE;

// The stores of the two places. `settings` and `host` must outlive them. NULL with the reason.
struct store *store_files_make(const struct store_settings *settings,
                               const struct store_options *options, const char *host,
                               struct error_text *why) MUST_USE;
struct store *store_postgres_make(const struct store_settings *settings,
                                  const struct store_options *options, const char *host,
                                  struct error_text *why) MUST_USE;

#endif
