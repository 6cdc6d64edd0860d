/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_PARCEL_H
#define TANDEM_PUSH_PARCEL_H

// A job on its way to an endpoint: what is told of it in the header fields of its request.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/types.h"
#include "proto_common/handle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct curl_slist;

// The longest webhook-id: a handle, a hyphen, a number.
#define PARCEL_MARK_MAX (HANDLE_MAX + 1 + DIGITS_MAX)

struct parcel {
    uint64_t id;                        // of the job
    char queue[3 * QUEUE_NAME_MAX + 1]; // its name, escaped as in a URL
    char handle[HANDLE_MAX + 1];
    char mark[PARCEL_MARK_MAX + 1]; // webhook-id
    unsigned attempt;               // the first is 1
    nsec_t sent_at;                 // wall clock
    nsec_t deadline_at;             // wall clock: when the answer comes too late
};

// Fills in the names of the job. Its mark is one that no other job has or had: of a broker without
// a journal, ids begin anew with each start, so the moment of its submission is in it, too.
void parcel_name(struct parcel *parcel, const struct handles *handles, uint64_t id,
                 nsec_t created_at, struct slice queue);

// The header fields of its request, without signature; NULL without memory.
struct curl_slist *parcel_fields(const struct parcel *parcel) MUST_USE;

// Adds a field; `*fields` stays where it answers false, for lack of memory.
bool parcel_add_field(struct curl_slist **fields, const char *name, const char *value) MUST_USE;

#endif
