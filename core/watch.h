/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_WATCH_H
#define TANDEM_CORE_WATCH_H

// Private to the core: who is told about a job, and what.
//
// The watches of a job, its last progress and the events that are still to be told form its
// interest. Events of one job are told in the order in which they happened, each to every watch of
// the job that was there then. Different jobs take turns: a few tellings of each, or as many as
// cost as much in bytes, so that none waits for one that has very many watches or long events. The
// final event is embedded, so that the end of a job needs no memory; when the job goes, its
// interest lives on by itself until everybody has been told.

#include "core/base/list.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "core/result.h"

#include <stdint.h>

struct queued_event {
    struct interest *interest;
    struct list_node in_interest;
    uint64_t number;       // rising, over all events of the broker
    struct job_event what; // owns a reference to its data
};

struct interest {
    struct broker *broker;
    struct job *job; // NULL once it is gone
    struct list_node watches;
    struct list_node events;    // struct queued_event
    struct list_node in_broker; // in broker->telling.interests, while there are events
    struct list_node *next; // while an event is being told: the watch to be told next; else NULL
    uint32_t count;         // of watches, but those that follow
    uint32_t followers;     // of watches that are nobody who waits (result.h)
    uint32_t untold;        // of events
    bool has_progress;
    struct partial_result
        *partial_result; // what the present attempt has reported of a result that is kept
    uint64_t numerator, denominator;
    struct blob *progress_text;   // of the last progress, as the worker wrote it; may be NULL
    struct queued_event catch_up; // tells the last progress to those who joined since
    struct queued_event retried;
    struct queued_event final;
};

struct watch {
    struct interest *interest;
    struct session *session;
    struct list_node in_interest;
    struct list_node in_session;
    uint64_t since;      // the number of the last event before it joined
    bool wants_catch_up; // joined after progress had been reported
    bool follows;
    void *owner;
};

// Adds a watch of the session to the job; NULL without memory. A watch that only `follows` does not
// count as a party that waits for the job.
struct watch *watch_add(struct session *session, struct job *job, bool follows) MUST_USE;

// The job's interest, made where there is none yet; NULL without memory.
struct interest *interest_of(struct broker *broker, struct job *job) MUST_USE;

// Takes a watch out and frees it, whatever that means for the job.
void watch_remove(struct watch *watch);

// A report of the job's holder: kept as its progress, and told to the watches. STATUS_NO_MEMORY.
enum status interest_report(struct broker *broker, struct job *job, const struct job_event *event);

// The time to run is over; the attempt goes on if its holder is only late.
void interest_expired(struct interest *interest);

// The attempt that the job was in is lost.
void interest_retried(struct interest *interest);

// The job is over, or buried: tells all watches so, which waits for that position of the store; the
// job gives its interest up. NULL is allowed.
void interest_end(struct interest *interest, enum job_event_kind kind, struct blob *data,
                  uint64_t position);

// Frees the interest of a job that has no watch left, or of a broker that is freed.
void interest_free(struct interest *interest);

static inline uint32_t interest_listeners(const struct interest *interest)
{
    return interest->count + interest->followers;
}

// How many tellings are still to be made, about.
static inline uint64_t interest_untold(const struct interest *interest)
{
    return (uint64_t)interest->untold * interest_listeners(interest);
}

// Private to the core: the events of a job that its watches are still to be told. They stand in the
// job's interest in the order in which they happened; while there is one, the interest stands in
// the broker's list of those that have something to tell. (No name here may be one of libevent's,
// such as event_add or event_new: the server links both.)

// So many tellings are made of one job before the other jobs have their turn.
#define TELLINGS_AT_ONCE (BROKER_SLICE / 8)

void queued_event_init(struct interest *interest, struct queued_event *event);

// What a worker reported, with a reference to its data; NULL without memory.
struct queued_event *queued_event_new(struct interest *interest, const struct job_event *what);

// It has happened now. One that is still to be told is told once, as what happened last.
void queued_event_add(struct queued_event *event);

// It has been told to all, or nobody is left.
void queued_event_done(struct queued_event *event);

// Whether the interest whose turn comes next has nothing older to tell; this one has something.
bool queued_event_is_next(const struct interest *interest);

// The interest's turn is over: the next one, where there is more, comes behind those of others, or,
// unless it has spent all of its turn, of those that have something older to tell.
void queued_event_pass_on(struct interest *interest, bool spent);

// Private to the core: data that the worker of a job reports in parts, where the job's result is to
// be kept (result.h). They stand in the job's interest until the attempt ends, at most RESULT_MAX
// bytes of them.

struct blob;
struct interest;

struct partial_result {
    size_t len;
    size_t room;
    enum result_data kept; // not WHOLE: nothing is kept any more
    char bytes[];
};

// One part more; where it cannot be kept, nothing is from then on. False where not even that can be
// noted.
bool partial_result_add(struct interest *interest, const struct blob *part);

// The attempt is over. An interest that has gathered nothing is left alone.
void partial_result_drop(struct interest *interest);

#endif
