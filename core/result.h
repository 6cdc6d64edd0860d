/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RESULT_H
#define TANDEM_CORE_RESULT_H

// The outcome of jobs that no client waits for: following a live job, and the kept results of
// durable jobs in queues whose policy keeps them (`keep_result_for`). Results are memos (memo.h) by
// the id of the job, up to a limit in bytes; the oldest are evicted first. The end of a job is
// never refused for its result: a result without room is recorded without its data.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct broker;
struct session;
struct watch;

// In the order of their numbers in a store.
enum result_end {
    RESULT_COMPLETE,
    RESULT_FAILED,   // for good, whatever happened to the job then
    RESULT_EXCEPTION // the same, with an explanation
};

enum result_data {
    RESULT_WHOLE,
    RESULT_TOO_LARGE, // larger than RESULT_MAX, or than the limit of all results
    RESULT_LOST       // without memory
};

// The most bytes of data of one result.
#define RESULT_MAX ((size_t)1 << 20)

struct result {
    uint64_t id; // of the job
    enum result_end end;
    enum result_data data_state; // there are no data unless RESULT_WHOLE
    uint64_t ended_ms;           // wall clock
    nsec_t until_at;             // wall clock
    struct slice queue;
    struct slice data; // all parts that the worker reported in the last attempt, and the final one
};

// The kept result of the job of that id; false for none. Borrowed as a memo is. Before it is shown,
// the position broker_results_position() must be reached, and the caller must be allowed to observe
// the queue.
bool broker_result(const struct broker *broker, uint64_t id, struct result *result);

uint64_t broker_results_position(const struct broker *broker);

// Has the session told of the job from now on, by a watch that broker_unwatch() ends. A follower
// does not count as waiting for the job: a job that is not durable does not live for it, and is
// retried as if it had no watch. STATUS_NOT_FOUND, also if the session may not observe the queue;
// STATUS_WRONG_STATE (a buried job tells no events); STATUS_NO_MEMORY.
enum status broker_follow(struct session *session, uint64_t id, struct watch **watch) MUST_USE;

#endif
