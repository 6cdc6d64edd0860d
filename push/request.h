/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_REQUEST_H
#define TANDEM_PUSH_REQUEST_H

// One of the requests that an endpoint may have on its way at a time. Its transfer is set up once;
// for each job it gets header fields, a body, which is not copied where it is large, and a time.
// What it comes to is told as an outcome.
//
// A job goes through it in these steps: it is held until the store has reached the position at
// which it may be shown; the body is signed, a piece in a turn; it is sent; it is over, and its
// outcome is to be carried out.

#include "core/base/blob.h"
#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "push/answer.h"
#include "push/outcome.h"
#include "push/parcel.h"
#include "push/signature.h"
#include "push/spec.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

struct request {
    struct list_node step; // in its endpoint's list of those that are as far
    uint64_t job_id;
    uint64_t position;      // held: what the store must have reached
    nsec_t began_at;        // monotonic: when the job was taken, and then when it was sent
    bool busy;              // it has a job
    bool noted;             // what its outcome says of the endpoint was taken note of
    bool stale;             // its job is another request's by now, or nobody's: nothing comes of it
    struct outcome outcome; // once it is over
    const struct push_spec *spec; /* private */
    CURL *transfer;               /* private, but for multi.h */
    struct curl_slist *fields;    /* private */
    struct blob *body;            /* private: NULL: none */
    size_t signed_len;            /* private */
    struct signature signature;   /* private */
    struct answer answer;         /* private */
    bool sent;                    /* private: the endpoint may have seen some of it */
    bool kept_out;                /* private: a special address was met */
    char error[CURL_ERROR_SIZE];  /* private */
};

// Sets up what all its transfers share; `spec` must outlive it. False without memory, or where
// libcurl lacks something; to be closed in any case.
bool request_open(struct request *request, const struct push_spec *spec) MUST_USE;
void request_close(struct request *request);

// Begins with a job: `body`, NULL for none, becomes the request's. It may take `time_for`, but at
// most the endpoint's time. False without memory; to be cleared in any case.
bool request_begin(struct request *request, const struct parcel *parcel, struct blob *body,
                   nsec_t time_for) MUST_USE;

enum signing { SIGNING_MORE, SIGNING_DONE, SIGNING_FAILED };

// Signs at most `*budget` bytes of the body, and takes them off it.
enum signing request_sign(struct request *request, size_t *budget) MUST_USE;

// The transfer is over: sets the outcome.
void request_judge(struct request *request, CURLcode result);

// Forgets the job, and what came of it. Not while its transfer is with a multi.
void request_clear(struct request *request);

#endif
