/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_VERBS_H
#define TANDEM_CTL_VERBS_H

// The words for what is done to jobs and queues.

#include "core/base/slice.h"

#include <stdbool.h>

// "deleted", "kicked" ...: what has become of them.
const char *verb_past(struct slice action);

// Whether it is done to queues, and not to jobs.
bool verb_is_of_queues(struct slice action);

#endif
