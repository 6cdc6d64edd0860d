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
#include "core/broker.h"

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
    uint32_t followers;     // of watches that are nobody who waits (results.h)
    uint32_t untold;        // of events
    bool has_progress;
    struct gathered *gathered; // what the present attempt has reported of a result that is kept
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

// Adds a watch of that session to the job, or one that only follows it; NULL without memory.
struct watch *watch_add(struct session *session, struct job *job) MUST_USE;
struct watch *watch_follow(struct session *session, struct job *job) MUST_USE;

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

#endif
