/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_OUTCOME_H
#define TANDEM_PUSH_OUTCOME_H

// What a request came to, and how that is found out when its transfer is over.

#include "core/base/blob.h"
#include "core/base/nsec.h"
#include "push/outcome_kind.h"

#include <curl/curl.h>
#include <stdbool.h>

#define OUTCOME_WHY_MAX 192

struct outcome {
    enum outcome_kind kind;
    long status;               // of HTTP; 0: there was none
    nsec_t pause_for;          // DEFERRED: what was asked for, 0 where nothing was
    struct blob *result;       // COMPLETED; NULL: empty
    bool down;                 // it looks as if the endpoint were down
    char why[OUTCOME_WHY_MAX]; // in words, but for COMPLETED
};

// What is known when a transfer is over.
struct ending {
    CURLcode result;
    const char *error;      // libcurl's words, which may be empty
    long status;            // of the answer; 0: none came
    curl_off_t retry_after; // seconds; 0: not said
    bool sent;              // the endpoint may have seen some of the request
    bool kept_out;          // an address was not connected to since it is special
    bool too_large;         // the answer's result
};

// Of all but the result, which is for the caller to add.
void outcome_judge(struct outcome *outcome, const struct ending *ending);

#endif
