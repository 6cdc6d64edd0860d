/* SPDX-License-Identifier: MIT */
#include "proto_http/words.h"

#include "core/base/digits.h"
#include "http1/request_target.h"
#include "http1/reply.h"

#include "proto_http/lease_about.h"

#include <stdio.h>
#include <string.h>

#define WHY_MAX 128
#define BIT(number) (1u << (number))

struct number_kind {
    struct slice name;
    uint64_t most;
};

static const struct number_kind numbers[WEB_NUMBERS] = {
    [WEB_DELAY] = {{"delay", 5}, UINT32_MAX},
    [WEB_PRI] = {{"pri", 3}, UINT32_MAX},
    [WEB_DONE] = {{"done", 4}, INT64_MAX},
    [WEB_TOTAL] = {{"total", 5}, INT64_MAX},
};

struct web_verb {
    struct slice name;
    bool ends;      // the lease
    bool reports;   // to clients that wait for the job
    bool has_body;  // a body is allowed
    bool says_none; // an empty body counts as a body
    unsigned takes; // set of numbers allowed
    unsigned needs; // set of numbers required
    enum status (*say)(const struct web_lease *lease, const struct web_word *word,
                       struct blob *body);
};

//
// Actions
//

static enum status say_complete(const struct web_lease *lease, const struct web_word *word,
                                struct blob *body)
{
    (void)word;
    return broker_complete(lease->holder->session, lease->job_id, body);
}

static enum status say_fail(const struct web_lease *lease, const struct web_word *word,
                            struct blob *body)
{
    (void)word;
    (void)body;
    return broker_fail(lease->holder->session, lease->job_id, NULL);
}

static enum status say_exception(const struct web_lease *lease, const struct web_word *word,
                                 struct blob *body)
{
    (void)word;
    return broker_fail(lease->holder->session, lease->job_id, body);
}

// The new priority, by default the present one.
static uint32_t pri_of(const struct web_lease *lease, const struct web_word *word)
{
    const struct broker *broker = lease->holder->leases->broker;
    struct job_info info;

    if (word->present & BIT(WEB_PRI)) {
        return (uint32_t)word->numbers[WEB_PRI];
    }
    broker_job_info(broker, broker_find(broker, lease->job_id), &info);
    return info.pri;
}

static enum status say_release(const struct web_lease *lease, const struct web_word *word,
                               struct blob *body)
{
    (void)body;
    return broker_release(lease->holder->session, lease->job_id, pri_of(lease, word),
                          nsec_from_seconds(word->numbers[WEB_DELAY]));
}

static enum status say_bury(const struct web_lease *lease, const struct web_word *word,
                            struct blob *body)
{
    (void)body;
    return broker_bury(lease->holder->session, lease->job_id, pri_of(lease, word));
}

static enum status say_touch(const struct web_lease *lease, const struct web_word *word,
                             struct blob *body)
{
    (void)word;
    (void)body;
    return broker_touch(lease->holder->session, lease->job_id);
}

static enum status say_progress(const struct web_lease *lease, const struct web_word *word,
                                struct blob *body)
{
    const struct job_event event = {
        .kind = JOB_EVENT_PROGRESS,
        .numerator = word->numbers[WEB_DONE],
        .denominator = word->numbers[WEB_TOTAL],
    };

    (void)body;
    return broker_report(lease->holder->session, lease->job_id, &event);
}

static enum status say_data(const struct web_lease *lease, const struct web_word *word,
                            struct blob *body)
{
    const struct job_event event = {.kind = JOB_EVENT_DATA, .data = body};

    (void)word;
    return broker_report(lease->holder->session, lease->job_id, &event);
}

static enum status say_warning(const struct web_lease *lease, const struct web_word *word,
                               struct blob *body)
{
    const struct job_event event = {.kind = JOB_EVENT_WARNING, .data = body};

    (void)word;
    return broker_report(lease->holder->session, lease->job_id, &event);
}

#define NAME(text) .name = {(text), sizeof(text) - 1}

static const struct web_verb verbs[] = {
    {NAME("complete"), .ends = true, .has_body = true, .say = say_complete},
    {NAME("fail"), .ends = true, .say = say_fail},
    {NAME("exception"), .ends = true, .has_body = true, .says_none = true, .say = say_exception},
    {NAME("release"), .ends = true, .takes = BIT(WEB_DELAY) | BIT(WEB_PRI), .say = say_release},
    {NAME("bury"), .ends = true, .takes = BIT(WEB_PRI), .say = say_bury},
    {NAME("touch"), .say = say_touch},
    {NAME("progress"), .reports = true, .takes = BIT(WEB_DONE) | BIT(WEB_TOTAL),
     .needs = BIT(WEB_DONE) | BIT(WEB_TOTAL), .say = say_progress},
    {NAME("data"), .reports = true, .has_body = true, .say = say_data},
    {NAME("warning"), .reports = true, .has_body = true, .say = say_warning},
};

//
// The head
//

// Answers an error and ends the request; always false.
static bool refuse(struct http1_conn *conn, unsigned status, const char *why)
{
    http1_refuse_status(conn, status, why);
    return false;
}

static bool refuse_over(struct http1_conn *conn)
{
    return refuse(conn, 410, "the lease is over");
}

static struct slice token_of(const struct http1_conn *conn)
{
    struct slice name = web_target_name(&web_request(conn)->target);
    const char *slash = memchr(name.ptr, '/', name.len);

    return slice_of(name.ptr, slash ? (size_t)(slash - name.ptr) : name.len);
}

static const struct web_verb *verb_of(const struct http1_conn *conn)
{
    struct slice name = web_target_name(&web_request(conn)->target);
    size_t token = token_of(conn).len;

    for (size_t i = 0; token < name.len && i < sizeof verbs / sizeof *verbs; i++) {
        if (slice_equal(slice_from(name, token + 1), verbs[i].name)) {
            return &verbs[i];
        }
    }
    return NULL;
}

static bool read_number(struct http1_conn *conn, struct slice name, struct slice value,
                        struct web_word *word)
{
    char why[WHY_MAX];

    for (int i = 0; i < WEB_NUMBERS; i++) {
        if (!slice_equal(name, numbers[i].name) || !(word->verb->takes & BIT(i))) {
            continue;
        }
        if (!(word->present & BIT(i)) && digits_read(value, &word->numbers[i]) &&
            word->numbers[i] <= numbers[i].most) {
            word->present |= BIT(i);
            return true;
        }
        (void)snprintf(why, sizeof why,
                       "the parameter %s is no number in its range, or is there twice",
                       numbers[i].name.ptr);
        return refuse(conn, 400, why);
    }
    return refuse(conn, 400, "the query has a parameter that does not go with that word");
}

static bool read_numbers(struct http1_conn *conn, struct web_word *word)
{
    struct slice query = web_request(conn)->target.query;
    struct slice name, value;

    while (http1_query_next(&query, &name, &value)) {
        if (!read_number(conn, name, value, word)) {
            return false;
        }
    }
    return (word->present & word->verb->needs) == word->verb->needs ||
           refuse(conn, 400, "progress takes two numbers, done and total");
}

bool web_word_check(struct http1_conn *conn, const struct http1_framing *framing)
{
    struct web_word *word = &web_request(conn)->word;

    word->verb = verb_of(conn);
    if (!word->verb) {
        return refuse(conn, 404, "there is no such thing to say of a lease");
    }
    if (!read_numbers(conn, word)) {
        return false;
    }
    if (http1_has_body(framing) && !word->verb->has_body) {
        return refuse(conn, 400, "that word has no body");
    }
    // Without a body, the action itself finds the lease or refuses.
    return !http1_has_body(framing) || web_lease_find(&web_shared(conn)->leases, token_of(conn)) ||
           refuse_over(conn);
}

//
// The answer
//

static void answer(struct http1_conn *conn, struct web_lease *lease)
{
    char deadline[LEASE_DEADLINE_ROOM];

    if (web_request(conn)->word.verb->ends) {
        wire_hold(conn->wire, broker_position(conn->shared->broker));
        web_lease_end(lease);
        http1_reply(conn, &(struct http1_reply){.status = 204}, SLICE(""));
    } else {
        web_lease_renew(lease);
        lease_deadline_write(web_shared(conn), lease, deadline);
        http1_reply(conn, &(struct http1_reply){.status = 204, .extra = deadline}, SLICE(""));
    }
}

static void say(struct http1_conn *conn, struct web_lease *lease, struct blob *body)
{
    const struct web_word *word = &web_request(conn)->word;
    enum status status = word->verb->say(lease, word, body);

    if (status == STATUS_OK) {
        answer(conn, lease);
    } else if (status == STATUS_NO_MEMORY) {
        http1_refuse_memory(conn);
    } else {
        wire_refused_status(conn->wire, status);
        http1_refuse(conn, &(struct http1_reply){.status = 503, .extra = HTTP1_RETRY},
                     status_text(status));
    }
}

static bool is_early(const struct http1_conn *conn, const struct web_lease *lease)
{
    return web_request(conn)->word.verb->reports &&
           broker_report_waits(lease->holder->session, lease->job_id);
}

enum http1_next web_word_say(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct web_word *word = &web_request(conn)->word;
    // The lease may have ended while the body arrived.
    struct web_lease *lease = web_lease_find(&web_shared(conn)->leases, token_of(conn));

    if (!lease) {
        (void)refuse_over(conn);
        return HTTP1_NEXT_REQUEST;
    }
    if (body.len > 0 || word->verb->says_none) {
        word->body = blob ? blob_ref(blob) : blob_copy(body);
        if (!word->body) {
            if (word->verb->say == say_data) {
                broker_data_lost(lease->holder->session, lease->job_id);
            }
            http1_refuse_memory(conn);
            return HTTP1_NEXT_REQUEST;
        }
    }
    if (is_early(conn, lease)) {
        return HTTP1_NEXT_WAIT;
    }
    say(conn, lease, word->body);
    return HTTP1_NEXT_REQUEST;
}

enum http1_progress web_word_step(struct http1_conn *conn)
{
    struct web_lease *lease = web_lease_find(&web_shared(conn)->leases, token_of(conn));

    if (!lease) {
        (void)refuse_over(conn);
    } else if (is_early(conn, lease)) {
        return HTTP1_AGAIN;
    } else {
        say(conn, lease, web_request(conn)->word.body);
    }
    return HTTP1_ENDED;
}

void web_word_stopped(struct http1_conn *conn)
{
    conn->request->keep_alive = false;
    http1_refuse(conn, &(struct http1_reply){.status = 503, .extra = HTTP1_RETRY}, HTTP1_STOPS);
}

void web_word_forget(struct web_word *word)
{
    blob_unref(word->body);
    word->body = NULL;
}

size_t web_word_holds(const struct web_word *word)
{
    return word->body ? word->body->len : 0;
}
