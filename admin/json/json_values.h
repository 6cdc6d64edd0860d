/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JSON_JSON_VALUES_H
#define TANDEM_ADMIN_JSON_JSON_VALUES_H

// JSON values that several documents of the API share. Names and keys may contain any bytes: they
// are written as text, and queue names also in the exact form that paths use. Each function returns
// NULL if there is no memory; json_pack() and the functions here accept that and return NULL, too.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include <jansson.h>

// Text, with U+FFFD for each byte that is not UTF-8, and for NUL, which ends strings in C clients.
json_t *text_json(struct slice bytes);

// The same, or null if there are no bytes.
json_t *text_or_null_json(struct slice bytes);

// Percent-encodes everything except letters, digits and -._~ (RFC 3986, unreserved).
json_t *path_json(struct slice name);

json_t *seconds_json(nsec_t span);

// For json_pack() with "I". A larger number becomes the largest integer.
static inline json_int_t json_int_of(uint64_t number)
{
    return number <= INT64_MAX ? (json_int_t)number : INT64_MAX;
}

// Appends the item, whose ownership passes. If either is NULL, or there is no memory, `*list`
// becomes NULL.
void json_list_add(json_t **list, json_t *item);

// Sets the member; otherwise as json_list_add().
void json_member_add(json_t **object, const char *name, json_t *value);

// Adds the members of `more` to `document`. The ownership of both passes; returns the result.
json_t *json_merge(json_t *document, json_t *more);

// Numbers of jobs, of a queue or of all queues: `Jobs`, `Bands`, `Totals`.
json_t *jobs_json(const uint64_t jobs[JOB_STATES]);
json_t *bands_json(const uint64_t bands[BAND_COUNT]);
json_t *totals_json(const struct counts *counts);

#endif
