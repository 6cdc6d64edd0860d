/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_EVENTS_H
#define TANDEM_CTL_API_EVENTS_H

// Parses server-sent events from a stream, which may be split anywhere.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>

struct events {
    // Called for each event; returns whether to continue. Both slices are valid during the call.
    bool (*each)(void *context, struct slice name, struct slice data);
    void *context;
    struct text line; /* private */
    struct text name; /* private */
    struct text data; /* private */
    bool has_data;    /* private */
    bool overflowed;  // an event exceeded ANSWER_MAX; no more input is parsed
};

// False if `each` returned false, or after an overflow.
bool events_feed(struct events *events, struct slice bytes);
void events_free(struct events *events);

#endif
