/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_OPERATE_PRIVATE_H
#define TANDEM_CORE_OPERATE_PRIVATE_H

// Private to the core: what sweeps (sweep.c) ask of the acts on single jobs, and of their bodies.

#include "core/base/slice.h"
#include "core/operate.h"
#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

// The states in which jobs are to which that can be done: JOB_IN(...) of each.
unsigned act_states(const struct act *act);

// Looks for the bytes in the job's body, in at most about so many of it, and goes on where
// `*search`, which is zeroed at first, says that it has been looked for. STATUS_OK: they are there,
// or none are asked for; STATUS_EMPTY: they are not; STATUS_MORE: so far. `*searched` becomes how
// many bytes were looked through, those that are looked for included.
enum status body_search(const struct job *job, struct slice bytes, struct body_search *search,
                        size_t most, size_t *searched);

#endif
