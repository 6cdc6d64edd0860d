/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_BACKGROUND_H
#define TANDEM_SERVER_PROCESS_BACKGROUND_H

// Going to the background: a process of its own session does the work, and the one that was started
// waits until that one is ready, or has failed, so that whoever started it learns by its exit code
// what has become of it. Only the calling thread lives on in the new process: it is to be done
// before there is another.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>

struct background {
    int starter; /* private: what tells the process that waits; -1: nobody waits */
};

// Nobody waits.
static inline void background_none(struct background *background)
{
    background->starter = -1;
}

// Returns in the new process only; the one that was started ends with 0 once the new one is ready,
// or as the new one has ended before, but never with 0 then. False with the reason in `why`, in the
// process that was started, where there is no new one.
bool background_enter(struct background *background, struct error_text *why) MUST_USE;

// All is well: the one that waits ends, and the standard files are /dev/null from now on, so that
// no terminal or pipe of whoever started it is kept open. Nothing where nobody waits.
void background_ready(struct background *background);

#endif
