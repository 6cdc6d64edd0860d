/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_VERBS_H
#define TANDEM_CTL_VERBS_H

// Words for acts on jobs and queues.

#include "core/base/slice.h"

#include <stdbool.h>

// The past participle of an action: "deleted", "kicked" ...
const char *verb_past(struct slice action);

// Whether the action applies to queues, and not to jobs.
bool verb_is_of_queues(struct slice action);

#endif
