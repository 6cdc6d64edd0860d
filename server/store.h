/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_STORE_H
#define TANDEM_SERVER_STORE_H

// A store: what keeps durable jobs beyond the end of the process, as the server sees it. The core
// knows a store by the recorder (core/record.h) that it appends to; here are all other duties, in
// the order in which they are called for. A kind of store is a table of them, and a struct that
// begins with a struct store. Where jobs are in memory only there is no store, and the pointer to
// it is NULL.
//
// A store is made before the broker, which records from the beginning. It is opened, and jobs come
// back, once the process is the user that what it keeps is to belong to. From then on each turn of
// the loop ends with store_ops.turn, and the output that depends on a position is held until the
// store has reached that (loop.h). Everything is called by the loop's thread; a store may have
// threads of its own, and says through a descriptor in the loop's event base that there is news.

#include "core/base/fence.h"
#include "core/broker.h"
#include "proto_common/sight.h"
#include "server/net/budget.h"
#include "core/base/error_text.h"

#include <event2/event.h>

// What the command line asks of a store, beside its settings.
struct store_options {
    bool repair;        // what is damaged is taken over as far as it is good
    bool ignore_binlog; // jobs of beanstalkd in the same directory stay where they are
    bool must_exist;    // the directory is not made where it is missing
    bool yields;        // others may own it first, after a handover
    bool again;         // this process has had it, or has followed: what is refused is waited for
};

// How far a store is that is being opened.
struct store_progress {
    uint64_t read; // bytes
    uint64_t size; // of all that is to be read; 0: not known yet
    uint64_t jobs; // that the broker has been given back, about
};

// How this process stands to what is kept, where others may have it, too.
enum store_standing {
    STORE_ALONE,   // nobody else may: files, or no store at all
    STORE_FOLLOWS, // it is being opened, and as long as somebody else owns it, that goes on
    STORE_OWNS,    // it is open
    STORE_UNSURE,  // the same, but somebody else may have taken it: nothing may be answered
    STORE_LOST     // somebody else has, or is to have it: it must be closed, and opened anew
};

// Who owns what is kept.
struct store_owner {
    char name[128];
    char address[512]; // as it was set for store_make(); empty: nobody owns it now
    uint64_t epoch;
};

struct store;
struct sight_cluster;

struct store_ops {
    // Sets who records for a new broker.
    void (*record)(struct store *store, struct broker_options *options);

    // Begins to open, and to give the broker its jobs back, in the background. Until that is done,
    // which ends a wait of the event base, nobody else touches the broker. False with the reason.
    bool (*open_begin)(struct store *store, struct event_base *base, struct broker *broker,
                       struct error_text *why);
    bool (*is_opening)(const struct store *store);
    // How far that is.
    void (*progress)(const struct store *store, struct store_progress *progress);
    // Logs how far the opening is, `since_for` after it began. Whether it got on since the last
    // call.
    bool (*log_progress)(struct store *store, nsec_t since_for);
    // Has the opening end soon.
    void (*stop_opening)(struct store *store);
    // Once it is done; the log says what there is. False with the reason: it is not open.
    bool (*open_end)(struct store *store, struct error_text *why);
    // The name of the host on which the open store began; empty where it is not known.
    const char *(*host)(const struct store *store);

    // The end of a turn: takes in what was made safe, and hands on what is to be.
    void (*turn)(struct store *store);
    // The position that has been reached: output that waits for it, or a lower one, may leave.
    uint64_t (*reached)(const struct store *store);
    // When the next turn must come even if nothing else happens; NSEC_NEVER: it need not.
    nsec_t (*next_due)(const struct store *store);
    enum store_pressure (*pressure)(const struct store *store);
    // True once each time that the store gives up: who waits for a position that has not been
    // reached will not be answered.
    bool (*gave_up)(struct store *store);

    // The broker has been told of the present after the machine was suspended: what could not be
    // done meanwhile is no failure. May be NULL.
    void (*resumed)(struct store *store);

    // What operators are shown of it: sets what it knows. Only of one that is open.
    void (*show)(const struct store *store, struct sight_journal *journal);

    // What follows is NULL where nobody else may have what is kept.

    // Before it is opened: where this process listens, as others are to know it (advertise.h). The
    // text is copied.
    void (*advertise)(struct store *store, const char *addresses);
    // Valid at any time, on the loop's thread.
    enum store_standing (*standing)(const struct store *store);
    // Until when answers may leave.
    const struct fence *(*fence)(const struct store *store);
    // Has somebody else own it from when the store is closed on.
    void (*hand_over)(struct store *store);
    void (*owner)(const struct store *store, struct store_owner *owner);
    // What operators are shown of that; texts are valid until the turn ends.
    void (*cluster)(const struct store *store, struct sight_cluster *cluster);

    // Makes everything last, waiting for that, and frees the store. False where that failed. The
    // broker and the event base are still there, the last connection has gone, and it is not being
    // opened. Also for a store that was never opened.
    bool (*close)(struct store *store);
};

struct store {
    const struct store_ops *ops;
};

struct settings;

// Makes the store that the settings ask for, or NULL where they ask for none. They must outlive it,
// as must the name of the host. False with the reason in `why`.
bool store_make(struct store **store, const struct settings *settings,
                const struct store_options *options, const char *host,
                struct error_text *why) MUST_USE;

// The duties of a store that may be NULL, which has nothing to do and is open at once.
void store_record(struct store *store, struct broker_options *options);
bool store_open_begin(struct store *store, struct event_base *base, struct broker *broker,
                      struct error_text *why) MUST_USE;
bool store_is_opening(const struct store *store);
void store_progress(const struct store *store, struct store_progress *progress);
void store_stop_opening(struct store *store);
bool store_open_end(struct store *store, struct error_text *why) MUST_USE;
const char *store_host(const struct store *store);
enum store_standing store_standing(const struct store *store);
bool store_close(struct store *store) MUST_USE;

#endif
