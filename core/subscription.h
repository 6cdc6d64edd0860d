/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SUBSCRIPTION_H
#define TANDEM_CORE_SUBSCRIPTION_H

#include "core/session_private.h"

// Private to the core: subscriptions of sessions to queues, at most one for each queue; walks over
// them; and their round robin.

// The queue of the subscription.
struct queue *subscription_queue(const struct subscription *subscription);

// The session's subscription to the queue, NULL for none.
struct subscription *session_find(const struct session *session, const struct queue *queue);

// Subscribes the session to the queue, to which it has no subscription; NULL without memory.
struct subscription *subscription_new(struct session *session, struct queue *queue) MUST_USE;

// Sets its terms; NULL for none.
void subscription_set_terms(struct subscription *subscription,
                            const struct subscription_terms *terms);

// Links it in its queue for the wait of its session; or unlinks it, if it is linked.
void subscription_wait(struct subscription *subscription);
void subscription_stop_waiting(struct subscription *subscription);

// Bars it, or ends that. Its link is up to the caller.
void subscription_bar(struct subscription *subscription, bool bar);

// Takes it out of its session, its queue and the walks, and frees it.
void subscription_remove(struct subscription *subscription);

//
// Walks over the subscriptions of a session while these change (core/session.h)
//

// Ends all walks over the subscriptions of a session that goes.
void subscription_walks_stop(struct session *session);

//
// Round robin, for a session that chooses in turn. For other sessions these functions do nothing.
//

void round_robin_init(struct session *session);

// It was served: its turn comes last.
void round_robin_to_back(struct subscription *subscription);

// Its queue has no job: the subscription is skipped until the queue opens again.
void round_robin_set_idle(struct subscription *subscription);

// Wakes idle subscriptions whose queues have opened. Returns the number of queues it looked at.
size_t round_robin_wake_opened(struct session *session);

// The subscription whose turn follows that of `after`, or is the first (NULL); NULL for none.
struct subscription *round_robin_next(const struct session *session,
                                      const struct subscription *after);

#endif
