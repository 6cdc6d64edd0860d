/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_PUSH_H
#define TANDEM_PUSH_PUSH_H

// Push: the broker hands the jobs of some queues to HTTP endpoints by itself, and takes the answer
// for the worker's word. To the core an endpoint is a worker like others, a session that takes jobs
// and says what became of them. PUSH.md beside this file tells what endpoints see.
//
// Which endpoints there are is a plan, made of settings; everything that may fail fails when the
// plan is made. Which queues go to which endpoint is said by the core's policies: a rule with
// `tell` whose glob is the name of an endpoint's section.
//
// It works in the host's loop: sockets are events of the event base, and what they lead to is only
// noted; push_work() calls the verbs, a bounded number, in each turn in which push_due() has come.
// One thread, nothing waits.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/types.h"
#include "proto_common/handle.h"
#include "core/base/error_text.h"
#include "push/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct push;
struct push_plan;
struct sight_distribution;
struct sight_push;

struct push_host {
    void *context;
    // Sees to it that the broker knows the present of this turn. Called by events of sockets.
    void (*tick)(void *context);
    // The position that the store has reached (record.h).
    uint64_t (*reached)(void *context);
    // Whether anything may be sent at this moment. As long as not, nobody calls push_work().
    bool (*may_send)(void *context);
    const struct handles *handles; // what handles of jobs begin with
};

// Starts without endpoints; all of it is borrowed. NULL with the reason: without memory, or where
// libcurl cannot look up names without holding up its caller.
struct push *push_new(const struct push_host *host, struct broker *broker, struct event_base *base,
                      struct error_text *why) MUST_USE;

// Gives back the jobs that are on their way, and frees everything. NULL is allowed.
void push_free(struct push *push);

// Makes endpoints of so many settings, which do nothing yet. NULL with the reason.
struct push_plan *push_plan_new(struct push *push, const struct push_settings *settings,
                                size_t count, struct error_text *why) MUST_USE;

// A plan that is not wanted after all; NULL is allowed.
void push_plan_free(struct push_plan *plan);

// From now on the endpoints of the plan are those that there are. One that is as before goes on,
// and is tried again at once if it is paused; one that is not in it any more takes no further job,
// and goes when those that it has sent are answered. Frees the plan.
void push_adopt(struct push *push, struct push_plan *plan);

// When push_work() is wanted, monotonic; in constant time. NSEC_NEVER: not at all.
nsec_t push_due(const struct push *push);

// Does what is due, a bounded part of it.
void push_work(struct push *push);

// The process is about to stop: nothing more is taken or sent. What is on its way goes on as long
// as the host lets it.
void push_stop(struct push *push);
bool push_is_busy(const struct push *push);

// An operator wants the endpoint of that section tried again now, if it is paused. False: there is
// none, or it is leaving.
bool push_resume(struct push *push, struct slice section);

// What operators see of the endpoint of that place; false behind the last one.
bool push_show(const struct push *push, size_t place, struct sight_push *shown);

// The endpoint that the queue goes to; false where it goes to none.
bool push_show_of(const struct push *push, const struct queue *queue, struct sight_push *shown);

// How long requests have taken until their answers, of all endpoints that there ever were.
void push_show_seconds(const struct push *push, struct sight_distribution *shown);

#endif
