/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_NOTIFY_H
#define TANDEM_SERVER_PROCESS_NOTIFY_H

// What the service manager is told (sd_notify). Without one ($NOTIFY_SOCKET), nothing is. A manager
// that does not read makes nobody wait: what it has no room for is told a moment later, in order.
//
// Where it watches us ($WATCHDOG_USEC), it is told twice in that time that we live, by a timer of
// the event loop: a loop that hangs says nothing, and the manager starts another process.

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#define NOTIFY_TEXT_MAX 192
// As many as wait at most: the oldest are forgotten before the state as it is now.
#define NOTIFY_WAITING 8

struct notifier {
    int fd;                                        /* private: -1: nobody is to be told */
    struct sockaddr_un manager;                    /* private */
    socklen_t manager_len;                         /* private */
    struct event retry;                            /* private */
    struct event beat;                             /* private: there where `watched` is set */
    bool watched;                                  /* private */
    char waiting[NOTIFY_WAITING][NOTIFY_TEXT_MAX]; /* private: oldest first */
    size_t count;                                  /* private: of those that wait */
};

// Finds the manager. Never fails: a manager that cannot be told is none.
void notifier_open(struct notifier *notifier, struct event_base *base);

// A zeroed notifier is allowed. What still waits is tried once more.
void notifier_close(struct notifier *notifier);

void notify_ready(struct notifier *notifier);
// What it does, for people; a long text is cut.
void notify_status(struct notifier *notifier, const char *text);
// Getting ready takes longer: it is to wait for so many seconds from now on.
void notify_extend(struct notifier *notifier, unsigned seconds);
void notify_reloading(struct notifier *notifier);
// From now on it is not told that we live any more, and does not ask.
void notify_stopping(struct notifier *notifier);

#endif
