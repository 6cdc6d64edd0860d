/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_STORE_H
#define TANDEM_SERVER_STORE_H

// The journal at work in this process: a directory, the thread that writes to it, and what wakes
// the loop when that thread is done. Where journal.dir is empty there is none, and all of this does
// nothing.
//
// It is made before the broker, which records from the beginning; it is opened, and jobs come back,
// once the process is the user that the files are to belong to.

#include "core/broker.h"
#include "journal/worker.h"
#include "journal/file/io.h"
#include "journal/journal.h"
#include "server/loop.h"
#include "server/config/settings.h"

// What is asked of a journal beside its settings.
struct store_wishes {
    bool repair;        // it is taken over as far as it is good
    bool ignore_binlog; // jobs of beanstalkd in the same directory stay where they are
    bool must_exist;    // the directory is not made where it is missing
};

struct store {
    const struct store_settings *settings; /* private */
    struct journal *journal;               /* private: NULL where there is none */
    struct worker_thread *thread;          /* private */
    struct journal_io io;                  /* private */
    struct event woken;                    /* private */
    int wake_fd;                           /* private: an eventfd */
    struct broker *broker;                 /* private: gets its jobs back */
    struct store_wishes wishes;            /* private */
    struct reason why;                     /* private: why it is not opened */
    nsec_t opened_for;                     /* private: how long that took */
    bool opened;                           /* private */
    struct loop_store duties;              /* private */
};

// Makes what the settings, which must outlive it, as must the name of the host, ask for. False with
// the reason in `why`; the store is to be closed in any case.
bool store_make(struct store *store, const struct settings *settings,
                const struct store_wishes *wishes, const char *host, struct reason *why) MUST_USE;

// Who records for a new broker.
void store_record(const struct store *store, struct broker_options *options);

// Begins to claim the directory and to give the loop's broker its jobs back, which may take a
// while. It is the journal's thread that does it. Until it is done, which ends a wait of the loop,
// nobody else touches the broker. False with the reason in `why`.
bool store_open_begin(struct store *store, const struct store_wishes *wishes, struct loop *loop,
                      struct reason *why) MUST_USE;
bool store_is_opening(const struct store *store);
void store_progress(const struct store *store, struct journal_progress *progress);
// Has it end soon.
void store_stop_opening(struct store *store);
// Once that is done. From now on the loop looks after the store; the log says what there is. False
// with the reason in `why`.
bool store_open_end(struct store *store, struct loop *loop, struct reason *why) MUST_USE;

// The name of the host on which the journal that is open began; empty where it is not known.
const char *store_host(const struct store *store);

// Makes everything last, waiting for the disk, and frees what there is. False where that failed.
// To be called while the broker and the loop are still there, after the last connection has gone,
// and not while it is being opened. A zeroed store is allowed.
bool store_close(struct store *store) MUST_USE;

#endif
