/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_HTTP_WIRE_HTTP_H
#define TANDEM_TESTS_PROTO_HTTP_WIRE_HTTP_H

// HTTP conversations in memory: what a client says, and what the answers are. Every answer that is
// heard is taken apart to the byte, so that one that is malformed fails the test whatever it looks
// for. The workers of the world are Gearman's.

#include "core/broker.h"

#include "proto_beanstalk/beanstalk.h"
#include "proto_gearman/gearman.h"
#include "proto_http/http.h"

#include "tests/proto_common/wire_host.h"
#include "tests/proto_gearman/wire_gear.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

// The fixture of a test; *state points to it.
struct web {
    struct rig *rig;
    struct web_options settings; // live settings may be changed at any time
    struct gear_options gear_settings;
    struct bean_options bean_settings;
    size_t store_room;  // how many more records the store has room for; plenty at first
    struct peer *a, *b; // HTTP peers, connected from the start
    struct peer *w, *v; // Gearman peers, or beanstalk peers where the world is theirs
};

// A test in a fresh world.
#define HTTP(test) cmocka_unit_test_setup_teardown(test, http_setup, http_teardown)
int http_setup(void **state);
int http_teardown(void **state);

// A test whose `w` and `v` are beanstalk peers.
#define HTTP_BEAN(test) cmocka_unit_test_setup_teardown(test, http_setup_bean, http_teardown)
int http_setup_bean(void **state);

// A world that differs: `setup` calls this with what it wants, of which the settings begin as
// HTTP_DEFAULTS.
int http_setup_with(void **state, struct rig_options options, struct web_options settings);
#define HTTP_DEFAULTS                                                                              \
    ((struct web_options){.max_body = 64 << 20,                                                    \
                          .max_result = 64 << 20,                                                  \
                          .max_header_bytes = 16 << 10,                                            \
                          .header_timeout = 10,                                                    \
                          .body_timeout = 60,                                                      \
                          .idle_timeout = 75,                                                      \
                          .lease = 60,                                                             \
                          .max_leases = 10000,                                                     \
                          .idempotency_for = 24 * SECONDS(3600),                                   \
                          .max_kept_answers = 64 << 20,                                            \
                          .cors_origins = gear_no_prefix,                                          \
                          .hosts = gear_no_prefix,                                                 \
                          .functions = gear_no_prefix,                                             \
                          .tokens = gear_no_prefix,                                                \
                          .job_retries = -1,                                                       \
                          .handle_prefix = gear_no_prefix})

//
// Requests: good until the 64th from now
//

// Of HTTP/1.1, with a Host and these headers, each with its CR LF.
struct slice http_get(const char *target, const char *headers);
struct slice http_bare(const char *method, const char *target, const char *headers);
// With a body of a known length, or in one chunk.
struct slice http_post(const char *target, const char *headers, struct slice body);
struct slice http_chunked(const char *target, const char *headers, struct slice body);
#define POST(target, headers, body) http_post((target), (headers), SLICE(body))

//
// Answers
//

#define HTTP_FIELDS_MAX 16

struct http_answer {
    int minor; // of its version
    unsigned status;
    size_t count; // of the headers
    struct {
        struct slice name, value;
    } fields[HTTP_FIELDS_MAX];
    struct slice body; // out of its chunks, where it came in some
    size_t len;        // of all of it
    bool open;         // its body has not ended yet
};

// Takes the first answer off what was heard; `to_head`: it is to a HEAD, and has no body. False
// where there is none; fails where it is malformed.
bool http_take(struct slice *heard, bool to_head, struct http_answer *answer);

// The value of a header; NULL `ptr` where it is not there. Fails where it is there twice.
struct slice http_field(const struct http_answer *answer, const char *name);

// Asserts a header's value, or, with NULL, that it is not there.
#define field_is(answer, name, value) http_field_is((answer), (name), (value), __FILE__, __LINE__)
void http_field_is(const struct http_answer *answer, const char *name, const char *value,
                   const char *file, int line);

// Asserts that the answer's body is that text.
#define body_is(answer, text) http_body_is((answer), SLICE(text), __FILE__, __LINE__)
void http_body_is(const struct http_answer *answer, struct slice body, const char *file, int line);

// The peer sends `said` and hears one answer of that status, and nothing else. Errors (but for
// those of jobs) must have a body that says so. The answer is good until the next but three.
#define asks(peer, said, status) http_asks((peer), (said), (status), __FILE__, __LINE__)
const struct http_answer *http_asks(struct peer *peer, struct slice said, unsigned status,
                                    const char *file, int line);

// The same for what was heard meanwhile.
#define answered(peer, status) http_answered((peer), (status), __FILE__, __LINE__)
const struct http_answer *http_answered(struct peer *peer, unsigned status, const char *file,
                                        int line);

// The peer sends `said`, which is answered by nothing yet.
#define waits(peer, said) http_waits((peer), (said), __FILE__, __LINE__)
void http_waits(struct peer *peer, struct slice said, const char *file, int line);

// The peer hears nothing.
#define silent(peer) http_waits((peer), NOTHING, __FILE__, __LINE__)

// The last answer leaves the connection open for another request, or not.
#define stays(peer, answer) http_stays((peer), (answer), true, __FILE__, __LINE__)
#define ends(peer, answer) http_stays((peer), (answer), false, __FILE__, __LINE__)
void http_stays(struct peer *peer, const struct http_answer *answer, bool stays, const char *file,
                int line);

//
// Jobs
//

// The worker can do the function.
void http_can_do(struct peer *worker, const char *function);

// The worker, which can do it, gets a job of the function with that body: its handle.
#define grabs(worker, function, body) http_grabs((worker), (function), (body), __FILE__, __LINE__)
const char *http_grabs(struct peer *worker, const char *function, const char *body,
                       const char *file, int line);

// The worker grabs the only job of the function `f`, whatever its body, and completes it.
void http_completes(struct peer *worker, const char *body, const char *result);

// The live job of that id; fails where there is none.
struct job_info http_job(const struct web *t, uint64_t id);

// How many jobs there are in all.
uint64_t http_jobs(const struct web *t);

#endif
