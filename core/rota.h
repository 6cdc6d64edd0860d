/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_ROTA_H
#define TANDEM_CORE_ROTA_H

// Private to the core: whose turn it is, for a session that chooses in turn; for other sessions
// these functions do nothing.

#include "core/session.h"

void rota_init(struct session *session);
void rota_join(struct subscription *subscription); // its turn comes first
void rota_leave(struct subscription *subscription);
void rota_to_back(struct subscription *subscription); // it has just been served: comes last

// The queue has nothing: the subscription is passed over until the queue opens again.
void rota_set_idle(struct subscription *subscription);

// Brings back those whose queues have opened; says how many queues it looked at.
size_t rota_bring_back(struct session *session);

// Whose turn comes after that one's, or first of all (NULL); NULL for none.
struct subscription *rota_next(const struct session *session, const struct subscription *after);

#endif
