/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_CALL_H
#define TANDEM_CTL_API_CALL_H

// Calls of the API: JSON there and back, and what is refused as a problem in plain words.

#include "ctl/api/client.h"

#include <jansson.h>

// What came back. A zeroed one can be freed.
struct reply {
    struct answer answer; // the JSON as it came
    json_t *json;         // NULL: the answer has no body
};

// Takes the body over; NULL: none. Anything but a good answer is a problem, and the reply is empty
// then.
enum outcome call(struct client *client, const char *method, const char *path, json_t *body,
                  struct reply *reply, struct problem *problem);
void reply_free(struct reply *reply);

// What a status says to who cannot go on; `said` is the body of the answer.
enum outcome call_refused(const struct client *client, const struct answer *answer,
                          struct problem *problem);

#endif
