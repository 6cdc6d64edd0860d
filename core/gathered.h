/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_GATHERED_H
#define TANDEM_CORE_GATHERED_H

// Private to the core: data that the worker of a job reports in parts, where the job's result is to
// be kept (results.h). They stand in the job's interest until the attempt ends, at most RESULT_MAX
// bytes of them.

#include "core/base/slice.h"
#include "core/results.h"

struct blob;
struct interest;

struct gathered {
    size_t len;
    size_t room;
    enum result_data kept; // not WHOLE: nothing is kept any more
    char bytes[];
};

// One part more; where it cannot be kept, nothing is from then on. False where not even that can be
// noted.
bool gathered_add(struct interest *interest, const struct blob *part);

// The attempt is over. An interest that has gathered nothing is left alone.
void gathered_drop(struct interest *interest);

#endif
