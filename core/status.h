/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_STATUS_H
#define TANDEM_CORE_STATUS_H

// The answer of a verb. A status reports a condition of the world (a client's mistake, no memory, a
// full queue); a bug of ours is an assertion instead. One list defines the enum and the texts.

#define STATUS_LIST(X)                                                                             \
    X(STATUS_OK, "ok")                                                                             \
    X(STATUS_NO_MEMORY, "out of memory")                                                           \
    X(STATUS_NO_SPACE, "the store has no room")                                                    \
    X(STATUS_FORBIDDEN, "not allowed")                                                             \
    X(STATUS_NOT_FOUND, "not found")                                                               \
    X(STATUS_HELD, "a worker holds the job")                                                       \
    X(STATUS_EMPTY, "no job is ready")                                                             \
    X(STATUS_LEASE_SOON, "a lease of the session ends soon")                                       \
    X(STATUS_TIMED_OUT, "the wait is over")                                                        \
    X(STATUS_DRAINING, "the broker accepts no new jobs")                                           \
    X(STATUS_QUEUE_FULL, "the queue is full")                                                      \
    X(STATUS_TOO_MANY_QUEUES, "there are too many queues")                                         \
    X(STATUS_JOB_TOO_LARGE, "the job is larger than its queue allows")                             \
    X(STATUS_TOO_LARGE, "too large")                                                               \
    X(STATUS_BAD_NAME, "not a valid name")                                                         \
    X(STATUS_LAST_ONE, "the only subscription cannot be ended")                                    \
    X(STATUS_IN_USE, "the queue is in use")                                                        \
    X(STATUS_WRONG_STATE, "not possible in the state of the job")                                  \
    X(STATUS_MORE, "not done yet, call again")

enum status {
#define X(name, text) name,
    STATUS_LIST(X)
#undef X
};

// A short English text; static.
const char *status_text(enum status status);

#endif
