/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_PUSH_H
#define TANDEM_PUSH_PUSH_H

// Push: the broker sends the jobs of some queues to HTTP endpoints, and takes the response for the
// report of a worker. To the core, an endpoint is a worker: a session that takes jobs and reports
// about them. PUSH.md beside this file describes the requests.
//
// The endpoints are made as a plan, from settings; everything that can fail fails when the plan is
// made. The policies of the core say which queues an endpoint has: a rule with `tell` whose glob is
// the name of the endpoint's section.
//
// Push works in the event loop of its host. Events of sockets only set marks; push_work() calls the
// verbs, a limited number in each turn in which push_due() has come. It has one thread, and never
// blocks.

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/types.h"
#include "proto_common/handle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUSH_CONNECTIONS_MAX 256

// The settings of a section with an endpoint. Texts are not NULL; an empty text is a missing key.
struct push_settings {
    const char *name;        // of the section: a queue, or a glob of queues
    const char *url;         // http or https
    const char *secret;      // push_secret, see signature.h
    const char *secret_file; // with further secrets
    const char *ca_file;  // certificates in PEM by which that of the endpoint is verified; empty:
                          // the system's
    nsec_t timeout_for;   // the limit for a request with its response; at least 1 ms
    uint64_t max_answer;  // the limit for a result, in bytes
    unsigned connections; // the limit of jobs being sent; 1 to PUSH_CONNECTIONS_MAX
    bool may_be_private;  // the endpoint may have a special address (special_address.h)
};

// Whether the settings are valid; reads the files that they name. If not, sets `*why`.
bool push_settings_check(const struct push_settings *settings, struct error_text *why) MUST_USE;

struct event_base;
struct push;
struct push_plan;
struct introspect_distribution;
struct introspect_push;

struct push_host {
    void *context;
    // Tells the broker the present time. Called by events of sockets.
    void (*tick)(void *context);
    // The log position that the store has reached.
    uint64_t (*reached)(void *context);
    // Whether requests may be sent now. While not, push_work() must not be called.
    bool (*may_send)(void *context);
    const struct handles *handles; // the prefix of job handles
};

// Creates push without endpoints; borrows its arguments. NULL, with `*why`: no memory, or libcurl
// would block while it resolves names.
struct push *push_new(const struct push_host *host, struct broker *broker, struct event_base *base,
                      struct error_text *why) MUST_USE;

// Gives back the jobs that are being sent, and frees everything. NULL is allowed.
void push_free(struct push *push);

// Makes endpoints from `count` settings; they do nothing yet. NULL, with `*why`: a failure.
struct push_plan *push_plan_new(struct push *push, const struct push_settings *settings,
                                size_t count, struct error_text *why) MUST_USE;

// Frees a plan that is not adopted. NULL is allowed.
void push_plan_free(struct push_plan *plan);

// Replaces the endpoints by those of the plan, and frees the plan. An endpoint that has not changed
// goes on, and a pause of it ends. An endpoint that is not in the plan takes no further jobs, and
// is freed after its last response.
void push_adopt(struct push *push, struct push_plan *plan);

// When push_work() has something to do, by the monotonic clock; in constant time. NSEC_NEVER: it
// has nothing to do.
nsec_t push_due(const struct push *push);

// Does a limited part of the work that is due.
void push_work(struct push *push);

// The process is about to stop: no further job is taken or sent. Requests that have been sent
// continue.
void push_stop(struct push *push);
bool push_is_busy(const struct push *push);

// Ends a pause of the endpoint of that section, for an operator. False: there is no such endpoint,
// or it is about to be freed.
bool push_resume(struct push *push, struct slice section);

// Describes the endpoint at that position. False: there are fewer endpoints.
bool push_endpoint_info(const struct push *push, size_t place, struct introspect_push *info);

// Describes the endpoint of the queue. False: it has none.
bool push_queue_endpoint_info(const struct push *push, const struct queue *queue,
                              struct introspect_push *info);

// The times from requests to their responses, of all endpoints since the start.
void push_durations_info(const struct push *push, struct introspect_distribution *info);

#endif
