/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SUBSCRIPTION_WALK_H
#define TANDEM_CORE_SUBSCRIPTION_WALK_H

// Private to the core: walks over the subscriptions of a session while these change.

#include "core/session.h"

// Walks that would come to the subscription next go on behind it.
void subscription_walks_pass_over(const struct subscription *subscription);

// The session goes: walks over its subscriptions are at their end.
void subscription_walks_stop(struct session *session);

#endif
