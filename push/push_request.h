/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_PUSH_REQUEST_H
#define TANDEM_PUSH_PUSH_REQUEST_H

// A request of an endpoint. Its libcurl transfer is set up once, and used for one job after the
// other: for each it gets header fields, a body, which is not copied if it is large, and a time
// limit.
//
// For a job, it has these steps: it is held until the store has reached the job's log position; the
// body is signed, a piece in each turn; the request is sent; it is over, and its outcome is carried
// out.

#include "core/base/blob.h"
#include "core/base/digits.h"
#include "core/base/list.h"
#include "push/push_spec.h"

#include <curl/curl.h>

//
// Messages: a job as the header fields of its request describe it
//

// The longest webhook-id: a handle, a hyphen, a number.
#define PUSH_WEBHOOK_ID_MAX (HANDLE_MAX + 1 + DIGITS_MAX)

struct push_message {
    uint64_t id;                        // of the job
    char queue[3 * QUEUE_NAME_MAX + 1]; // its name, escaped as in a URL
    char handle[HANDLE_MAX + 1];
    char webhook_id[PUSH_WEBHOOK_ID_MAX + 1];
    unsigned attempt;   // the first is 1
    nsec_t sent_at;     // wall clock
    nsec_t deadline_at; // wall clock: a later response does not count
};

// Sets the names of the job. No other job has or had the same webhook-id: the ids of a broker
// without a journal begin again at each start, so it also contains the moment of submission.
void push_message_name(struct push_message *message, const struct handles *handles, uint64_t id,
                       nsec_t created_at, struct slice queue);

//
// Outcomes
//
//   completed     2xx: the job is completed, the response is its result
//   deferred      429, or 503 with Retry-After: the job is given back as if it had not been taken,
//                 and the endpoint is paused for the time that it asks for
//   unreachable   nothing was sent, because there was no connection: the job is given back, too
//   unsent        the request was not sent for lack of memory, or because the broker stops: the job
//                 is given back, too
//   refused       any other response: a failed attempt, as all that follow
//   broken        the connection broke, or the response is not HTTP
//   timed out     the request was sent, and not answered in time
//   too large     the response is larger than push_max_answer

#define OUTCOMES(X)                                                                                \
    X(OUTCOME_COMPLETED, "completed")                                                              \
    X(OUTCOME_DEFERRED, "deferred")                                                                \
    X(OUTCOME_UNREACHABLE, "unreachable")                                                          \
    X(OUTCOME_UNSENT, "unsent")                                                                    \
    X(OUTCOME_REFUSED, "refused")                                                                  \
    X(OUTCOME_BROKEN, "broken")                                                                    \
    X(OUTCOME_TIMED_OUT, "timed_out")                                                              \
    X(OUTCOME_TOO_LARGE, "too_large")
enum push_outcome_kind {
#define X(name, word) name,
    OUTCOMES(X)
#undef X
};
#define OUTCOME_KINDS (OUTCOME_TOO_LARGE + 1)

// The names in metrics, the API and the log, by kind.
extern const char *const push_outcome_names[OUTCOME_KINDS];

#define OUTCOME_WHY_MAX 192

struct push_outcome {
    enum push_outcome_kind kind;
    long status;               // of HTTP; 0: no response
    nsec_t pause_for;          // DEFERRED: the time that the endpoint asks for; 0: none
    struct blob *result;       // COMPLETED; NULL: empty
    bool down;                 // the endpoint seems to be down
    char why[OUTCOME_WHY_MAX]; // a text, except for COMPLETED
};

//
// Responses, while they are received. The body of a 2xx becomes the result of the job; of other
// responses, only the status counts.
//

enum push_response_fault {
    RESPONSE_GOOD,
    RESPONSE_HEAD_TOO_LARGE,
    RESPONSE_TOO_LARGE, // the result
    RESPONSE_NO_MEMORY
};

struct push_response {
    struct blob_builder body; /* private */
    size_t head_len;          /* private */
    size_t ignored_len;       /* private */
    enum push_response_fault fault;
};

//
// Requests
//

struct push_request {
    struct list_node step; // in the endpoint's list of requests in this step
    uint64_t job_id;
    uint64_t position; // held: the log position that the store must reach
    nsec_t began_at;   // monotonic: when the job was taken; later, when the request was sent
    bool busy;         // it has a job
    bool noted;        // the endpoint's state has been updated by the outcome
    bool stale;        // the endpoint has lost the job and taken it again: the outcome is ignored
    struct push_outcome outcome;   // when it is over
    const struct push_spec *spec;  /* private */
    CURL *transfer;                /* private, except for multi.h */
    struct curl_slist *fields;     /* private */
    struct blob *body;             /* private: NULL: none */
    size_t signed_len;             /* private */
    struct signature signature;    /* private */
    struct push_response response; /* private */
    bool sent;                     /* private: the endpoint may have received a part of it */
    bool address_refused;          /* private: it was not connected to a special address */
    char error[CURL_ERROR_SIZE];   /* private */
};

// Sets up the transfer; `spec` must outlive the request. False: no memory, or libcurl lacks a
// feature. The request must be closed in either case.
bool push_request_open(struct push_request *request, const struct push_spec *spec) MUST_USE;
void push_request_close(struct push_request *request);

// Begins with a job; takes ownership of `body`, which may be NULL. The request may take `time_for`.
// False: no memory. The request must be cleared in either case.
bool push_request_begin(struct push_request *request, const struct push_message *message,
                        struct blob *body, nsec_t time_for) MUST_USE;

enum push_signing { SIGNING_MORE, SIGNING_DONE, SIGNING_FAILED };

// Signs at most `*budget` bytes of the body, and subtracts them from it.
enum push_signing push_request_sign(struct push_request *request, size_t *budget) MUST_USE;

// The transfer is over: sets the outcome.
void push_request_judge(struct push_request *request, CURLcode result);

// Removes the job and its outcome. The transfer must not be in a multi.
void push_request_clear(struct push_request *request);

#endif
