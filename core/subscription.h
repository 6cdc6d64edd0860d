/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SUBSCRIPTION_H
#define TANDEM_CORE_SUBSCRIPTION_H

// Private to the core: what a session takes jobs from: one subscription for each queue.

#include "core/session.h"

// The queue that a subscription is for.
struct queue *subscription_queue(const struct subscription *subscription);

// The session's subscription to the queue, NULL for none.
struct subscription *session_find(const struct session *session, const struct queue *queue);

// Subscribes the session to the queue, to which it has no subscription; NULL without memory.
struct subscription *subscription_new(struct session *session, struct queue *queue) MUST_USE;

// Its terms from now on; NULL for none.
void subscription_set_terms(struct subscription *subscription, const struct terms *terms);

// It waits along from now on with its session, which waits; or does so no
// longer, if it ever did.
void subscription_wait(struct subscription *subscription);
void subscription_stop_waiting(struct subscription *subscription);

// Whether the caller may not have it from now on; what its link says is for the caller to see to.
void subscription_bar(struct subscription *subscription, bool bar);

// Takes the subscription out of its session, its queue and the walks, and frees it.
void subscription_remove(struct subscription *subscription);

#endif
