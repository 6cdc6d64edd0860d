/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_STATUS_H
#define TANDEM_CORE_STATUS_H

// What a verb answers. A status tells of the world (a client's mistake, no memory, a full queue);
// a bug in us is an assertion instead. One list serves the enum and the texts.

#define STATUS_LIST(X)                                                                             \
    X(STATUS_OK, "ok")                                                                             \
    X(STATUS_NO_MEMORY, "out of memory")                                                           \
    X(STATUS_NO_SPACE, "the store has no room")                                                    \
    X(STATUS_FORBIDDEN, "not allowed")                                                             \
    X(STATUS_NOT_FOUND, "no such thing")                                                           \
    X(STATUS_HELD, "a worker holds the job")                                                       \
    X(STATUS_EMPTY, "no job is ready")                                                             \
    X(STATUS_LEASE_SOON, "a lease of the session ends soon")                                       \
    X(STATUS_TIMED_OUT, "the wait is over")                                                        \
    X(STATUS_DRAINING, "the broker takes no new jobs")                                             \
    X(STATUS_QUEUE_FULL, "the queue is full")                                                      \
    X(STATUS_TOO_MANY_QUEUES, "there are too many queues")                                         \
    X(STATUS_JOB_TOO_LARGE, "the job is larger than its queue takes")                              \
    X(STATUS_TOO_LARGE, "too large")                                                               \
    X(STATUS_BAD_NAME, "not a name")                                                               \
    X(STATUS_LAST_ONE, "the only subscription stays")                                              \
    X(STATUS_IN_USE, "the queue is in use")                                                        \
    X(STATUS_WRONG_STATE, "not what is done to a job in its state")                                \
    X(STATUS_MORE, "not done yet, call again")

enum status {
#define X(name, text) name,
    STATUS_LIST(X)
#undef X
};

// A short English text; static.
const char *status_text(enum status status);

#endif
