/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_CALL_H
#define TANDEM_CTL_API_CALL_H

// Calls of the API: paths, JSON in both directions, and the fields of replies. A refusal becomes a
// problem with a readable text.

#include "core/base/slice.h"
#include "ctl/api/client.h"
#include "ctl/print/text.h"

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

// A zeroed reply may be freed.
struct reply {
    struct answer answer; // the JSON as received
    json_t *json;         // NULL: no body
};

// Takes ownership of `body`; NULL: none. A status other than 2xx is a failure, and after any
// failure the reply is empty.
enum outcome call(struct client *client, const char *method, const char *path, json_t *body,
                  struct reply *reply, struct problem *problem);
void reply_free(struct reply *reply);

// Sets the problem for an answer with an error status. Returns the outcome.
enum outcome call_refused(const struct client *client, const struct answer *answer,
                          struct problem *problem);

//
// Paths, with percent-encoded names and queries
//

// Adds a slash and the name, which may contain any bytes.
void path_add_name(struct text *path, const char *name);

// Adds a query parameter; nothing if the value is NULL.
void path_add_text(struct text *path, const char *key, const char *value);
void path_add_number(struct text *path, const char *key, uint64_t number);

//
// Fields of replies, by paths such as "jobs.ready"
//
// A missing field, or one of another type, is 0, empty or false, so that this program works with
// newer and older brokers.
//

// NULL if it is missing.
const json_t *field_get(const json_t *from, const char *path);
// A fraction is truncated.
uint64_t field_count(const json_t *from, const char *path);
double field_number(const json_t *from, const char *path);
bool field_true(const json_t *from, const char *path);
// Whether the field exists and is not null.
bool field_is_set(const json_t *from, const char *path);
// Valid as long as `from`. May contain NUL.
struct slice field_text(const json_t *from, const char *path);

//
// Base64, the form of bytes in JSON
//

void base64_add(struct text *to, struct slice bytes);

// Decodes `from` into `to`. False if it is not valid base64; some bytes may have been added.
bool base64_read(struct text *to, struct slice from);

#endif
