/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_STORE_STORE_H
#define TANDEM_SERVER_STORE_STORE_H

// A store keeps durable jobs beyond the end of the process. The core appends to it by a recorder
// (core/record.h); here are all other duties, in the order in which they are called. In the program
// each store is a journal (journal_store.h); tests have stores of their own. If jobs are in memory
// only, there is no store, and the pointer to it is NULL.
//
// A store is made before the broker, which records from the beginning. It is opened, and gives the
// broker its jobs back, once the process runs as the user that owns the files. From then on
// each turn of the loop ends with store_ops.turn, and output that depends on a position is held
// until the store has reached that (loop.h). The loop's thread makes all calls. A store may have
// threads of its own, and tells of news through a descriptor in the loop's event base.

#include "core/base/error_text.h"
#include "core/base/fence.h"
#include "core/broker.h"
#include "core/restore.h"
#include "proto_common/introspect.h"
#include "server/net/budget.h"
#include "server/process/daemon.h"

#include <event2/event.h>
#include <stdio.h>

// Options of the command line, beside the settings.
struct store_options {
    bool repair;        // accept a damaged journal and keep what is good
    bool ignore_binlog; // leave jobs of beanstalkd in the same directory where they are
    bool must_exist;    // do not create a missing directory
    bool yields;        // let other processes own the store first, after a handover
    bool again;         // this process has owned or followed the store: if it is refused, wait
};

// Who owns a store that several processes may share.
enum store_standing {
    STORE_ALONE,   // it is not shared: files, or no store at all
    STORE_FOLLOWS, // it is being opened, which lasts as long as another process owns it
    STORE_OWNS,    // this process owns it
    STORE_UNSURE,  // the same, but another process may have taken it: no answer may leave
    STORE_LOST     // another process owns it: it must be closed, and opened again
};

struct store_owner {
    char name[128];
    char address[512]; // that it has advertised; empty: no process owns the store now
    uint64_t epoch;
};

struct store;
struct introspect_cluster;

struct store_ops {
    // Sets the recorder of a new broker.
    void (*record)(struct store *store, struct broker_options *options);

    // Begins to open in the background, and to give the broker its jobs back. Until that is done,
    // which ends a wait of the event base, no other thread touches the broker. False with the
    // reason.
    bool (*open_begin)(struct store *store, struct event_base *base, struct broker *broker,
                       struct error_text *why);
    bool (*is_opening)(const struct store *store);
    void (*progress)(const struct store *store, struct restore_progress *progress);
    // Logs the progress, `since_for` after opening began. Returns whether there was any since the
    // last call.
    bool (*log_progress)(struct store *store, nsec_t since_for);
    // Makes opening end soon.
    void (*stop_opening)(struct store *store);
    // Ends opening, and logs what was opened. False with the reason: the store is not open.
    bool (*open_end)(struct store *store, struct error_text *why);
    // The name of the host on which the open store began; empty: unknown.
    const char *(*host)(const struct store *store);

    // The end of a turn: takes the new durable position, and gives new records to the thread.
    void (*turn)(struct store *store);
    // The position that has been reached: output that waits for it or a lower one may leave.
    uint64_t (*reached)(const struct store *store);
    // When the next turn must come even if nothing else happens; NSEC_NEVER: it need not.
    nsec_t (*next_due)(const struct store *store);
    enum store_pressure (*pressure)(const struct store *store);
    // True once each time that the store gives up: clients that wait for a position that has not
    // been reached will get no answer.
    bool (*gave_up)(struct store *store);

    // The broker was told the time after the machine was suspended: failures are not counted for
    // that time. May be NULL.
    void (*resumed)(struct store *store);

    // Fills in what operators see of an open store.
    void (*show)(const struct store *store, struct introspect_journal *journal);

    // Makes everything durable, waiting for that, and frees the store. False if that failed. The
    // broker and the event base still exist, the last connection has gone, and opening has ended.
    // Also for a store that was never opened.
    bool (*close)(struct store *store);
};

// Further duties of a store that several processes share.
struct store_shared_ops {
    // Before opening: the addresses by which other processes reach this one
    // (server/proxy/owner_address.h). The text is copied.
    void (*advertise)(struct store *store, const char *addresses);
    enum store_standing (*standing)(const struct store *store);
    // Until when answers may leave.
    const struct fence *(*fence)(const struct store *store);
    // Lets another process own the store once it is closed.
    void (*hand_over)(struct store *store);
    void (*owner)(const struct store *store, struct store_owner *owner);
    // What operators see of the sharing; texts are valid until the turn ends.
    void (*cluster)(const struct store *store, struct introspect_cluster *cluster);
};

struct store {
    const struct store_ops *ops;
    const struct store_shared_ops *shared; // NULL: no other process may own it
};

struct settings;
struct store_settings;

// Makes the store of the settings, or sets NULL if they ask for none. The settings and the name of
// the host must outlive it. False with the reason.
bool store_make(struct store **store, const struct settings *settings,
                const struct store_options *options, const char *host,
                struct error_text *why) MUST_USE;

// These accept a store that is NULL, which has nothing to do and is open at once.
void store_record(struct store *store, struct broker_options *options);
bool store_open_begin(struct store *store, struct event_base *base, struct broker *broker,
                      struct error_text *why) MUST_USE;
bool store_is_opening(const struct store *store);
void store_progress(const struct store *store, struct restore_progress *progress);
void store_stop_opening(struct store *store);
bool store_open_end(struct store *store, struct error_text *why) MUST_USE;
const char *store_host(const struct store *store);
enum store_standing store_standing(const struct store *store);
bool store_close(struct store *store) MUST_USE;

// `tandemd --init-store`: creates in the database of the settings what a store needs and is
// missing, and prints the SQL that grants the broker's role its rights. If that fails, the reason
// is in `why`.
enum exit_reason store_init(const struct store_settings *settings, FILE *output,
                            struct error_text *why) MUST_USE;

#endif
