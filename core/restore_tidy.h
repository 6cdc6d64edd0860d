/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RESTORE_TIDY_H
#define TANDEM_CORE_RESTORE_TIDY_H

// Private to the core: what is left over while jobs come back. A queue that is empty may get its
// next job from the next record, so none goes on its own: it stands in a list until things are
// tidied.

#include "core/broker_private.h"

// Where there is no job in the queue, it is looked at when things are tidied next.
void restore_note_idle(struct broker *broker, struct queue *queue);

// All is back: looks at all queues that were noted. Those that are empty and neither kept nor
// paused go.
void restore_end_idle(struct broker *broker);

#endif
