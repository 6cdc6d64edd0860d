/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_NOTIFY_H
#define TANDEM_SERVER_PROCESS_NOTIFY_H

// Messages to the service manager (sd_notify). Without a manager ($NOTIFY_SOCKET), nothing is sent.
// Sending never blocks: messages that the manager has no room for are sent a moment later, in
// order.
//
// If the manager has a watchdog ($WATCHDOG_USEC), a timer of the event loop sends keep-alives at
// twice the required rate. A loop that hangs sends none, and the manager restarts the process.

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#define NOTIFY_TEXT_MAX 192
// The maximum number of unsent messages. Older ones are dropped in favour of the current state.
#define NOTIFY_WAITING 8

struct notifier {
    int fd;                                        /* private: -1: no manager */
    struct sockaddr_un manager;                    /* private */
    socklen_t manager_len;                         /* private */
    struct event retry;                            /* private */
    struct event beat;                             /* private: valid if `watched` */
    bool watched;                                  /* private */
    char waiting[NOTIFY_WAITING][NOTIFY_TEXT_MAX]; /* private: unsent messages, oldest first */
    size_t count;                                  /* private: of these */
};

// Finds the manager. Never fails: a manager that cannot be reached counts as no manager.
void notifier_open(struct notifier *notifier, struct event_base *base);

// Tries the unsent messages once more. A zeroed notifier is allowed.
void notifier_close(struct notifier *notifier);

void notify_ready(struct notifier *notifier);
// A status for people; a long text is truncated.
void notify_status(struct notifier *notifier, const char *text);
// Starting takes longer: the manager waits `seconds` from now.
void notify_extend(struct notifier *notifier, unsigned seconds);
void notify_reloading(struct notifier *notifier);
// Also ends the watchdog.
void notify_stopping(struct notifier *notifier);

#endif
