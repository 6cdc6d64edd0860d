/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_PUSH_PRIVATE_H
#define TANDEM_PUSH_PUSH_PRIVATE_H

// Shared between the sources of push only.

#include "core/base/list.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "push/endpoint.h"
#include "push/push.h"
#include "push/times.h"

struct push {
    struct push_host host;
    struct broker *broker;
    struct event_base *base;
    struct list_node endpoints;
    struct list_node holding; // endpoints with jobs that are held for the store
    struct tree due;          // endpoints by due_at
    uint64_t reached;         // by the store, when those were last looked at
    nsec_t search_at;         // when queues are looked through anew; NSEC_NEVER: they need not be
    uint32_t search_cursor;   //
    bool stops;
    struct times times; // of all requests that were answered
};

static inline nsec_t push_now(const struct push *push)
{
    return broker_now(push->broker).mono;
}

// The endpoint that is to be called first; NULL: none is to be called.
struct endpoint *push_first_due(const struct push *push);

// The endpoint is to be called at that moment, and not before; NSEC_NEVER: not at all.
void push_call_at(struct push *push, struct endpoint *endpoint, nsec_t due_at);

// The endpoint is to be called at that moment, or before.
void push_call_by(struct push *push, struct endpoint *endpoint, nsec_t due_at);

#endif
