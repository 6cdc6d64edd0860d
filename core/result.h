/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RESULT_H
#define TANDEM_CORE_RESULT_H

// What becomes of jobs that nobody waits for: following one that lives, and what those have ended
// with that were durable and in a queue whose policy keeps results (`keep_result_for`). Results are
// memos (memo.h): by the id of the job, up to a limit in bytes, the oldest go first. The end of a
// job is never refused for its result: one that cannot be kept leaves word of that.

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
    RESULT_FAILED,   // for good, whatever has become of the job then
    RESULT_EXCEPTION // the same, with an explanation
};

enum result_data {
    RESULT_WHOLE,
    RESULT_TOO_LARGE, // more than RESULT_MAX, or than all results may take
    RESULT_LOST       // for want of memory
};

// Bytes of the data of one result.
#define RESULT_MAX ((size_t)1 << 20)

struct result {
    uint64_t id; // of the job
    enum result_end end;
    enum result_data kept; // no data where they are not whole
    uint64_t ended_ms;     // wall clock
    nsec_t until_at;       // wall clock
    struct slice queue;
    struct slice data; // all parts that the worker reported in the last attempt, and its last word
};

// The kept result of the job of that id; false where there is none. Borrowed as a memo is. Whoever
// shows it waits for broker_results_position(), and asks whether its caller may observe the queue.
bool broker_result(const struct broker *broker, uint64_t id, struct result *result);

// The next one behind `*cursor`, which is 0 at first and may be kept; false at the end.
bool broker_result_next(const struct broker *broker, uint64_t *cursor, struct result *result);

uint64_t broker_results_position(const struct broker *broker);

// The session is told of the job from now on, as by a watch, which broker_unwatch() ends, too. To
// the job it is nobody who waits: a job that is not durable does not stay for it, and is retried as
// if there were nobody. STATUS_NOT_FOUND, also for who may not observe its queue,
// STATUS_WRONG_STATE (it is buried: nobody is told of it any more), STATUS_NO_MEMORY.
enum status broker_follow(struct session *session, uint64_t id, struct watch **watch) MUST_USE;

#endif
