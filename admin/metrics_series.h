/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_SERIES_H
#define TANDEM_ADMIN_METRICS_SERIES_H

// The queues that metrics have by name, as they were at the last moment that was told, and what
// each of them has to leave with the rest, so that
//
//   - what is told by name and the rest together are what the broker has, to the last job; and
//   - no counter falls, that of the rest neither, whichever queues are named.
//
// A queue that is named after others had it counted among the rest is therefore counted by name
// from that moment on: its base, what it had then, stays with the rest. It has none where it came
// since the last moment, or where nothing was told before. A queue that goes, or is no longer
// named, leaves all that it has to the rest.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "admin/metrics_numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The name of a queue, shared by all moments that tell of it.
struct metric_name {
    unsigned refs;
    uint16_t len, label_len;
    char text[]; // the name, then the label (metrics_label.h)
};

static inline struct slice metric_name_text(const struct metric_name *name)
{
    return slice_of(name->text, name->len);
}

static inline struct slice metric_name_label(const struct metric_name *name)
{
    return slice_of(name->text + name->len, name->label_len);
}

// NULL is allowed.
void metric_name_unref(struct metric_name *name);

struct metric_series {
    struct metric_name *name;    // a reference
    struct metric_numbers *base; // owned; NULL: nothing
    uint32_t place;              // of the queue, in the broker's table
};

// All that are named, by rising place.
struct metric_named {
    struct metric_series *all; // owned
    size_t count, room;
    bool told;     // a moment was told before
    bool complete; // there was no other queue at that moment
};

void metric_named_free(struct metric_named *named);

// Room in an empty set for so many; false without memory.
bool metric_named_begin(struct metric_named *named, size_t room) MUST_USE;

// Whether the queue at that place was named; `*at` goes up with the places that are asked for,
// which rise, from 0.
bool metric_named_has(const struct metric_named *named, size_t *at, uint32_t place);

// Names the queue of that name and place, which is above those before, and has these numbers; takes
// its base, that which `before` has for it, off them. False, and nothing has changed, without
// memory. Reads `before` from `*at` on, as metric_named_has() does, and takes bases out of it.
bool metric_named_add(struct metric_named *named, struct metric_named *before, size_t *at,
                      struct slice name, uint32_t place, struct metric_numbers *numbers) MUST_USE;

#endif
