/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_CLIENT_H
#define TANDEM_CTL_API_CLIENT_H

// Sends requests to a broker's API, one at a time, over a persistent connection. An answer larger
// than ANSWER_MAX is refused, unless it is received piece by piece.
//
// The token that authenticates the caller comes from a file or the environment, but never from the
// command line, which other users of the machine can see.

#include "core/base/slice.h"
#include "ctl/api/problem.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>

// Larger than a body of 16 MiB as base64 in JSON.
#define ANSWER_MAX ((size_t)64 * 1024 * 1024)

#define ADDRESS_DEFAULT "http://127.0.0.1:9180"

// The address of a broker's API. A zeroed address may be freed.
struct address {
    struct text base;   // scheme, host and port, without a trailing slash
    struct text socket; // the path of a Unix socket; empty: none
    bool tls;
};

// Parses http://host:port, https://host:port, host:port, or unix:/path. False with a problem of
// OUTCOME_USAGE.
bool address_read(struct address *address, const char *from, struct problem *problem);
void address_free(struct address *address);

struct client_settings {
    const char *address;    // NULL: TANDEM_ADDRESS, or else ADDRESS_DEFAULT
    const char *token_file; // its first line is the token; NULL: TANDEM_TOKEN
    bool no_token;          // sends no token
    const char *cacert;     // NULL: the certificates that the system trusts
    const char *cert;       // NULL: no client certificate
    const char *key;        // NULL: in the file of the certificate
    double timeout;         // seconds to wait for an answer
};

struct client;

// False with a problem. The strings must outlive the client.
bool client_new(struct client **client, const struct client_settings *settings,
                struct problem *problem);
void client_free(struct client *client);

// While it waits for an answer, the client also polls these descriptors (-1: none), and calls
// `stops` after each event and at intervals. If that returns true, the request ends with
// OUTCOME_INTERRUPTED. NULL: no calls.
void client_watch(struct client *client, const int fds[2], bool (*stops)(void *context),
                  void *context);

struct request {
    const char *method;
    const char *path;   // of the API, including its query
    const char *body;   // JSON; NULL: none
    const char *accept; // accepted content types; NULL: JSON
    // Receives the body of a successful answer piece by piece, and returns whether to continue.
    // NULL: the body is collected in the answer.
    bool (*take)(void *context, struct slice bytes);
    void *context;
    bool endless; // no timeout after connecting
};

// A zeroed answer may be freed.
struct answer {
    long status; // HTTP status
    struct text body;
};

// Sends the request and waits. OUTCOME_DONE: an answer with any status was received, or `take`
// ended it. Frees the previous contents of the answer.
enum outcome client_send(struct client *client, const struct request *request,
                         struct answer *answer, struct problem *problem);
void answer_free(struct answer *answer);

// The address as given, for messages.
const char *client_address(const struct client *client);

#endif
