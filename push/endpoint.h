/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_ENDPOINT_H
#define TANDEM_PUSH_ENDPOINT_H

// An endpoint at work: a session of the core that takes jobs of its queues, as many at a time as it
// has requests, and the transfers by which they are sent. What one endpoint does costs the others
// nothing but its share of the turn: it has its own connections, and at most so many jobs.
//
// The lease of a job is not renewed while it is on its way: the request has the job's time to run,
// or the endpoint's time-out where that is shorter, and fails shortly before the lease ends. So no
// second request for a job begins while the first may still be answered.

#include "core/base/list.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "push/breaker.h"
#include "push/multi.h"
#include "push/push.h"
#include "push/request.h"
#include "push/spec.h"

#include <stdbool.h>
#include <stdint.h>

struct endpoint {
    struct push *push;
    struct list_node all;     // in push->endpoints, or in a plan
    struct list_node holding; // in push->holding, while jobs are held for the store
    struct tree_node due;     // in push->due, unless due_at is NSEC_NEVER
    nsec_t due_at;
    struct push_spec *spec;
    struct session *session;
    struct multi multi;
    struct breaker breaker;
    struct request *requests; // spec->connections
    // Those that have no job; whose job is held, is signed, is sent; that are over.
    struct list_node idle, held, signing, sent, over;
    uint32_t busy;       // requests that are not idle
    nsec_t paused_until; // as it asked for, or for lack of memory
    nsec_t sweep_at;     // when queues that are not needed any more are looked for
    bool sweeps;         // that is under way
    struct subscription_walk walk;
    bool deferred; // it was paused as it asked for, and has not taken a job since
    bool awaits;   // a nudge
    bool leaving;  // it takes no more jobs
    uint64_t outcomes[OUTCOME_KINDS];
    nsec_t complained_at; // when a failure was last logged
    uint64_t unlogged;    // failures since then
    char last_failure[OUTCOME_WHY_MAX];
};

// The spec becomes the endpoint's. NULL with the reason, and the spec is freed.
struct endpoint *endpoint_new(struct push *push, struct push_spec *spec,
                              struct error_text *why) MUST_USE;

// Gives back what it has taken. The endpoint is in no list; nobody calls it any more.
void endpoint_free(struct endpoint *endpoint);

// It takes no more jobs.
void endpoint_leave(struct endpoint *endpoint);

// Whether it does not work any more, and can be freed.
bool endpoint_has_left(const struct endpoint *endpoint);

// Does what it can do now, a bounded part of it, and sets due_at anew.
void endpoint_work(struct endpoint *endpoint);

// What operators see of it; borrowed.
void endpoint_show(const struct endpoint *endpoint, struct sight_push *shown);

//
// Between the sources of an endpoint: endpoint.c calls the first two, which call the others.
//

// Of endpoint_finish.c: carries out what the requests that are over have come to.
void endpoint_finish(struct endpoint *endpoint);

// Of endpoint_send.c: sends what was taken, as far as the store and the time allow.
void endpoint_send(struct endpoint *endpoint);

// Of endpoint_job.c.

// Gives the job back as if it had not been taken, ready, at its place among others. False: the
// store has no room for that now. True as well where it is not the endpoint's any more.
bool endpoint_give_back(struct endpoint *endpoint, uint64_t id);

// The request has no job any more.
void endpoint_idle(struct endpoint *endpoint, struct request *request);

// Takes nothing for so long.
void endpoint_pause(struct endpoint *endpoint, nsec_t pause_for);

// Somebody wants it tried again now, whatever it asked for and however often it has failed.
void endpoint_try_again(struct endpoint *endpoint);

// The same, at an operator's word, which is logged where it is paused.
void endpoint_resume(struct endpoint *endpoint);

#endif
