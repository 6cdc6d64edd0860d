/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_MULTI_H
#define TANDEM_PUSH_MULTI_H

// libcurl's transfers in an event loop: which sockets libcurl waits for are events of the loop's
// base, and when it wants to be called is a moment that the owner keeps. There is no thread but
// those of libcurl's resolver, which look up names.
//
// Should a socket not be watched, for lack of memory, its transfer ends with its time.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"

#include <curl/curl.h>
#include <stdbool.h>

struct event_base;

struct multi_ops {
    // The present, monotonic.
    nsec_t (*now)(void *owner);
    // Whether anything may be sent at this moment. As long as not, nobody calls multi_run().
    bool (*may_send)(void *owner);
    // multi->timer_at is another moment now, or a transfer is over. Only sets a mark.
    void (*changed)(void *owner);
    // The transfer is over, and no longer one of the multi's. May call no function of this header.
    void (*over)(void *owner, CURL *transfer, CURLcode result);
};

struct multi {
    CURLM *handle;               /* private */
    struct event_base *base;     /* private */
    struct list_node watches;    /* private: of sockets */
    const struct multi_ops *ops; /* private */
    void *owner;                 /* private */
    bool rests;                  /* private: until multi_run() no socket is watched */
    nsec_t timer_at;             // when multi_run() is wanted; NSEC_NEVER: not at all
};

// At most `connections` are open. False without memory; there is nothing to close then.
bool multi_open(struct multi *multi, struct event_base *base, unsigned connections,
                const struct multi_ops *ops, void *owner) MUST_USE;

// All transfers must have been taken off. Closes idle connections, too. A zeroed one is allowed.
void multi_close(struct multi *multi);

// Begins the transfer. False without memory.
bool multi_add(struct multi *multi, CURL *transfer) MUST_USE;

// Ends it, wherever it is; ops->over is not called.
void multi_take_off(struct multi *multi, CURL *transfer);

// Once timer_at has come.
void multi_run(struct multi *multi);

#endif
