/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_EVENTS_H
#define TANDEM_CTL_API_EVENTS_H

// Server-sent events, out of the bytes of a stream, wherever these are cut.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>

struct events {
    // Called for each event; says whether to go on. Both are valid during the call.
    bool (*each)(void *context, struct slice name, struct slice data);
    void *context;
    struct text line; /* private */
    struct text name; /* private */
    struct text data; /* private */
    bool has_data;    /* private */
    bool overflowed;  // an event was larger than ANSWER_MAX; nothing is read any more
};

// False where `each` said so, or it has overflowed.
bool events_feed(struct events *events, struct slice bytes);
void events_free(struct events *events);

#endif
