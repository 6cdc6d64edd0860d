/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_CALL_H
#define TANDEM_CTL_API_CALL_H

// Calls of the API: JSON in both directions. A refusal becomes a problem with a readable text.

#include "ctl/api/client.h"

#include <jansson.h>

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

#endif
