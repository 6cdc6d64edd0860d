/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_WATCH_H
#define TANDEM_CORE_WATCH_H

// Private to the core: watches of jobs, and the events that they are told.
//
// The interest of a job has its watches, its last progress and its pending events. The events of
// one job are told in the order in which they happened, each to every watch that existed then. Jobs
// take turns: a few notices each, or notices of as many bytes, so that no job waits for one with a
// large number of watches or long events. The final event is embedded, so that the end of a job
// needs no memory; the interest of a job that has ended lives until all watches have been told.

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
    struct job *job; // NULL after its end
    struct list_node watches;
    struct list_node events;    // struct queued_event
    struct list_node in_broker; // in broker->telling.interests, while there are events
    struct list_node *next;     // while an event is told: the next watch; else NULL
    uint32_t count;             // of watches that do not follow
    uint32_t followers;         // of watches that only follow (core/result.h)
    uint32_t untold;            // of events
    bool has_progress;
    struct partial_result *partial_result; // of the present attempt, if the result is kept
    uint64_t numerator, denominator;
    struct blob *progress_text;   // of the last progress, as the worker wrote it; or NULL
    struct queued_event catch_up; // tells the last progress to watches that joined since
    struct queued_event retried;
    struct queued_event final;
};

struct watch {
    struct interest *interest;
    struct session *session;
    struct list_node in_interest;
    struct list_node in_session;
    uint64_t since;      // the number of the last event before it joined
    bool wants_catch_up; // it joined after progress was reported
    bool follows;
};

// Adds a watch of the session to the job; NULL without memory. A watch that only `follows` does not
// count as a party that waits for the job.
struct watch *watch_add(struct session *session, struct job *job, bool follows) MUST_USE;

// The job's interest, made if it is missing; NULL without memory.
struct interest *interest_of(struct broker *broker, struct job *job) MUST_USE;

// Takes a watch out and frees it. Consequences for the job are up to the caller.
void watch_remove(struct watch *watch);

// Handles a report of the job's holder: stores its progress, and tells the watches.
// STATUS_NO_MEMORY.
enum status interest_report(struct broker *broker, struct job *job, const struct job_event *event);

// The lease timed out; the attempt continues if its holder is only late.
void interest_expired(struct interest *interest);

// The attempt that the job was in is lost.
void interest_retried(struct interest *interest);

// The job has ended, or is buried: tells all watches once that position of the store is reached,
// and separates the interest from the job. NULL is allowed.
void interest_end(struct interest *interest, enum job_event_kind kind, struct blob *data,
                  uint64_t position);

// Frees an interest without watches, or that of a broker that is freed.
void interest_free(struct interest *interest);

static inline uint32_t interest_listeners(const struct interest *interest)
{
    return interest->count + interest->followers;
}

// Tells the watches of all jobs of the pending events, at most `*budget` times; the interests take
// turns.
void interest_tell_all(struct broker *broker, unsigned *budget);

// About the number of pending notices.
static inline uint64_t interest_untold(const struct interest *interest)
{
    return (uint64_t)interest->untold * interest_listeners(interest);
}

//
// Partial results: the data that a worker has reported in parts, if the result of the job is to be
// kept (core/result.h). They stand in the job's interest until the attempt ends, at most RESULT_MAX
// bytes of them.
//

struct partial_result {
    size_t len;
    size_t room;
    enum result_data data_state; // not RESULT_WHOLE: no data are kept any more
    char bytes[];
};

// Adds a part. Without room for it, no data are kept from then on; false without memory to record
// that.
bool partial_result_add(struct interest *interest, const struct blob *part);

#endif
