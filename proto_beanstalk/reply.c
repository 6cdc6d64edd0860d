/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/bean_reply.h"

#include "core/base/macros.h"

#include <string.h>

static const struct slice bean_answers[] = {
#define X(word) [BEAN_##word] = {#word "\r\n", sizeof(#word "\r\n") - 1},
    BEAN_ANSWERS(X)
#undef X
};

static const struct slice crlf = {"\r\n", 2};

static char *bean_append(char *at, struct slice bytes)
{
    memcpy(at, bytes.ptr, bytes.len);
    return at + bytes.len;
}

void bean_reply(struct output *out, enum bean_answer answer)
{
    output_write(out, bean_answers[answer]);
}

static enum refusal_kind bean_refusal_kind(enum bean_answer answer)
{
    switch (answer) {
    case BEAN_FORBIDDEN:
        return REFUSAL_FORBIDDEN;
    case BEAN_JOB_TOO_BIG:
        return REFUSAL_TOO_LARGE;
    case BEAN_OUT_OF_MEMORY:
        return REFUSAL_MEMORY;
    case BEAN_DRAINING:
        return REFUSAL_DRAINING;
    case BEAN_BAD_FORMAT:
    case BEAN_EXPECTED_CRLF:
    case BEAN_UNKNOWN_COMMAND:
        return REFUSAL_BAD;
    case BEAN_BURIED:
    case BEAN_DEADLINE_SOON:
    case BEAN_DELETED:
    case BEAN_INTERNAL_ERROR:
    case BEAN_KICKED:
    case BEAN_NOT_FOUND:
    case BEAN_NOT_IGNORED:
    case BEAN_OK:
    case BEAN_PAUSED:
    case BEAN_RELEASED:
    case BEAN_REPORTED:
    case BEAN_TIMED_OUT:
    case BEAN_TOUCHED:
        break;
    }
    UNREACHABLE();
}

static void bean_log_refused(const struct wire *wire, enum bean_answer answer)
{
    wire_log_refused(wire, slice_of(bean_answers[answer].ptr, bean_answers[answer].len - 2));
}

void bean_refuse(struct wire *wire, enum bean_answer answer)
{
    bean_log_refused(wire, answer);
    wire_refused(wire, bean_refusal_kind(answer));
    bean_reply(&wire->out, answer);
}

static enum bean_answer bean_answer_to(enum status status)
{
    switch (status) {
    case STATUS_NO_MEMORY:
    case STATUS_NO_SPACE:
    case STATUS_QUEUE_FULL:
    case STATUS_TOO_MANY_QUEUES:
        return BEAN_OUT_OF_MEMORY;
    case STATUS_FORBIDDEN:
        return BEAN_FORBIDDEN;
    case STATUS_NOT_FOUND:
    case STATUS_HELD:
    case STATUS_WRONG_STATE:
        return BEAN_NOT_FOUND;
    case STATUS_LEASE_SOON:
        return BEAN_DEADLINE_SOON;
    case STATUS_EMPTY:
    case STATUS_TIMED_OUT:
        return BEAN_TIMED_OUT;
    case STATUS_DRAINING:
        return BEAN_DRAINING;
    case STATUS_LAST_ONE:
        return BEAN_NOT_IGNORED;
    case STATUS_JOB_TOO_LARGE:
        return BEAN_JOB_TOO_BIG;
    case STATUS_TOO_LARGE:
    case STATUS_BAD_NAME:
    case STATUS_IN_USE:
        return BEAN_INTERNAL_ERROR;
    case STATUS_OK:
    case STATUS_MORE:
        break;
    }
    UNREACHABLE();
}

// TIMED_OUT and DEADLINE_SOON are not refusals.
static APART void bean_refuse_status(struct wire *wire, enum status status)
{
    enum bean_answer answer = bean_answer_to(status);

    if (answer != BEAN_TIMED_OUT && answer != BEAN_DEADLINE_SOON) {
        bean_log_refused(wire, answer);
    }
    wire_refused_status(wire, status);
    bean_reply(&wire->out, answer);
}

void bean_reply_status(struct wire *wire, enum status status, enum bean_answer done)
{
    if (status == STATUS_OK) {
        bean_reply(&wire->out, done);
    } else {
        bean_refuse_status(wire, status);
    }
}

void bean_reply_number(struct output *out, struct slice word, uint64_t number)
{
    char *start = output_reserve(out, BEAN_HEAD_MAX);

    if (start) {
        char *at = bean_append(start, word);

        at = digits_write(at, number);
        at = bean_append(at, crlf);
        output_commit(out, (size_t)(at - start));
    }
}

void bean_reply_using(struct output *out, struct slice name)
{
    output_write(out, SLICE("USING "));
    output_write(out, name);
    output_write(out, crlf);
}

// A body of at most this many bytes is copied into one piece with its head.
#define JOINED_MAX 256

static inline size_t bean_job_room(struct slice body)
{
    return BEAN_HEAD_MAX + (body.len <= JOINED_MAX ? body.len + crlf.len : 0);
}

// Writes to `start`, for which the caller has reserved the room; NULL: there is none.
static inline void bean_reply_job(struct output *out, char *start, struct slice word,
                                  const struct job *job, struct slice body)
{
    char *at = start;

    if (!start) {
        return;
    }
    at = bean_append(at, word);
    at = digits_write(at, job_id(job));
    *at++ = ' ';
    at = digits_write(at, body.len);
    at = bean_append(at, crlf);
    if (body.len <= JOINED_MAX) {
        at = bean_append(bean_append(at, body), crlf);
        output_commit(out, (size_t)(at - start));
        return;
    }
    output_commit(out, (size_t)(at - start));
    output_body(out, body, job_blob(job));
    output_write(out, crlf);
}

void bean_reply_delivery(struct output *out, const struct job *job)
{
    struct slice body = job_body(job);

    bean_reply_job(out, output_deliver(out, bean_job_room(body), job_id(job)), SLICE("RESERVED "),
                   job, body);
}

void bean_reply_found(struct output *out, const struct job *job)
{
    struct slice body = job_body(job);

    bean_reply_job(out, output_reserve(out, bean_job_room(body)), SLICE("FOUND "), job, body);
}

void bean_reply_body(struct output *out, struct blob *body)
{
    bean_reply_number(out, SLICE("OK "), body->len);
    output_body(out, blob_slice(body), body);
    output_write(out, crlf);
}
