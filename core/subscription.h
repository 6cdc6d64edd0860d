/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SUBSCRIPTION_H
#define TANDEM_CORE_SUBSCRIPTION_H

#include "core/session_private.h"

// Private to the core: what a session takes jobs from: one subscription for each queue.

// The queue that a subscription is for.
struct queue *subscription_queue(const struct subscription *subscription);

// The session's subscription to the queue, NULL for none.
struct subscription *session_find(const struct session *session, const struct queue *queue);

// Subscribes the session to the queue, to which it has no subscription; NULL without memory.
struct subscription *subscription_new(struct session *session, struct queue *queue) MUST_USE;

// Its terms from now on; NULL for none.
void subscription_set_terms(struct subscription *subscription,
                            const struct subscription_terms *terms);

// It waits along from now on with its session, which waits; or does so no
// longer, if it ever did.
void subscription_wait(struct subscription *subscription);
void subscription_stop_waiting(struct subscription *subscription);

// Whether the caller may not have it from now on; what its link says is for the caller to see to.
void subscription_bar(struct subscription *subscription, bool bar);

// Takes the subscription out of its session, its queue and the walks, and frees it.
void subscription_remove(struct subscription *subscription);

// Private to the core: walks over the subscriptions of a session while these change.

// Walks that would come to the subscription next go on behind it.
void subscription_walks_pass_over(const struct subscription *subscription);

// The session goes: walks over its subscriptions are at their end.
void subscription_walks_stop(struct session *session);

// Private to the core: whose turn it is, for a session that chooses in turn; for other sessions
// these functions do nothing.

void round_robin_init(struct session *session);
void round_robin_join(struct subscription *subscription); // its turn comes first
void round_robin_leave(struct subscription *subscription);
void round_robin_to_back(struct subscription *subscription); // it has just been served: comes last

// The queue has nothing: the subscription is passed over until the queue opens again.
void round_robin_set_idle(struct subscription *subscription);

// Brings back those whose queues have opened; says how many queues it looked at.
size_t round_robin_wake_opened(struct session *session);

// Whose turn comes after that one's, or first of all (NULL); NULL for none.
struct subscription *round_robin_next(const struct session *session,
                                      const struct subscription *after);

#endif
