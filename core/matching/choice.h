/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MATCHING_CHOICE_H
#define TANDEM_CORE_MATCHING_CHOICE_H

// Private to the core: which job a session takes, where it takes from several queues.

#include "core/model/session.h"

// The best job that the session may take now, and by which subscription; NULL for none. What it
// looked at is charged (charge.h).
struct job *choice_best(struct session *session, struct subscription **by);

#endif
