/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_MULTI_H
#define TANDEM_PUSH_MULTI_H

// libcurl's transfers in an event loop. The sockets that libcurl waits for are events of the event
// base, and its timer is a moment at which the owner calls multi_run(). The only threads are those
// of libcurl's resolver.
//
// If a socket cannot be watched for lack of memory, its transfer ends at its time limit.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"

#include <curl/curl.h>
#include <stdbool.h>

struct event_base;

struct multi_ops {
    // The present time, monotonic.
    nsec_t (*now)(void *owner);
    // Whether requests may be sent now. While not, multi_run() must not be called.
    bool (*may_send)(void *owner);
    // multi->timer_at has changed, or a transfer is over. May only set a mark.
    void (*changed)(void *owner);
    // The transfer is over and has been removed. Must not call functions of this header.
    void (*over)(void *owner, CURL *transfer, CURLcode result);
};

struct multi {
    CURLM *handle;               /* private */
    struct event_base *base;     /* private */
    struct list_node watches;    /* private: of sockets */
    const struct multi_ops *ops; /* private */
    void *owner;                 /* private */
    bool rests;                  /* private: no socket is watched until multi_run() */
    nsec_t timer_at;             // when multi_run() is to be called; NSEC_NEVER: not at all
};

// Opens at most `connections`. False: no memory; then there is nothing to close.
bool multi_open(struct multi *multi, struct event_base *base, unsigned connections,
                const struct multi_ops *ops, void *owner) MUST_USE;

// Closes idle connections, too. All transfers must have been removed. A zeroed struct is allowed.
void multi_close(struct multi *multi);

// Begins the transfer. False: no memory.
bool multi_add(struct multi *multi, CURL *transfer) MUST_USE;

// Removes the transfer, in any state; ops->over is not called.
void multi_remove(struct multi *multi, CURL *transfer);

// To be called at timer_at.
void multi_run(struct multi *multi);

#endif
