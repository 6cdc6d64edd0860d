/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_CLIENT_H
#define TANDEM_CTL_API_CLIENT_H

// Requests to a broker's API, one after the other, over a connection that is kept. An answer that
// is larger than ANSWER_MAX is refused, unless it is taken piece by piece.

#include "core/base/slice.h"
#include "ctl/api/outcome.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>

// A body of 16 MiB as base64, in JSON, is smaller.
#define ANSWER_MAX ((size_t)64 * 1024 * 1024)

struct client_settings {
    const char *address;    // NULL: that of TANDEM_ADDRESS, or else ADDRESS_DEFAULT
    const char *token_file; // NULL: TANDEM_TOKEN
    bool no_token;          // none is shown
    const char *cacert;     // NULL: what the system trusts
    const char *cert;       // NULL: no certificate is shown
    const char *key;        // NULL: it is in the same file as the certificate
    double timeout;         // seconds for an answer
};

struct client;

// False with the reason. The strings must outlive it.
bool client_new(struct client **client, const struct client_settings *settings,
                struct problem *problem);
void client_free(struct client *client);

// While it waits for an answer it also waits for these descriptors (-1: none), and asks now and
// then whether to stop; such a request ends as OUTCOME_INTERRUPTED. NULL: it waits for the answer
// alone.
void client_watch(struct client *client, const int fds[2], bool (*stops)(void *context),
                  void *context);

struct request {
    const char *method;
    const char *path;   // of the API, with its query
    const char *body;   // JSON; NULL: none
    const char *accept; // kinds of answer; NULL: JSON
    // Takes the body of a good answer piece by piece, and says whether to go on; NULL: it is
    // gathered.
    bool (*take)(void *context, struct slice bytes);
    void *context;
    bool endless; // no timeout once it is connected
};

// What came. A zeroed one can be freed.
struct answer {
    long status; // of HTTP
    struct text body;
};

// Sends it and waits. OUTCOME_DONE: there is an answer, whatever it says; also where `take` ended
// it. Frees what was in the answer.
enum outcome client_send(struct client *client, const struct request *request,
                         struct answer *answer, struct problem *problem);
void answer_free(struct answer *answer);

// For the words of a problem.
const char *client_address(const struct client *client);

#endif
