/* SPDX-License-Identifier: MIT */
#include "proto_gearman/gear_reply.h"

#include "core/base/macros.h"

#include "proto_gearman/gear_admin.h"

#include <endian.h>
#include <string.h>

// The most numbers of a status.
#define STATUS_NUMBERS 5

struct gear_error {
    const char *code, *text;
    int counts_as; // enum refusal_kind; -1: it is not counted
};

static const struct gear_error gear_errors[] = {
#define X(name, counts_as, code, text) [GEAR_REFUSE_##name] = {code, text, counts_as},
    GEAR_REFUSALS(X)
#undef X
};

static char *gear_write_slice(char *at, struct slice bytes)
{
    if (bytes.len > 0) {
        memcpy(at, bytes.ptr, bytes.len);
    }
    return at + bytes.len;
}

// The output for packets: while a list is written, they come after it.
static struct output *gear_out(struct gear_conn *conn)
{
    return conn->state == GEAR_LISTING ? gear_listing_behind(conn) : &conn->wire->out;
}

// Reserves room for a header and `len` bytes. NULL: the output has failed.
static char *gear_reserve(struct output *out, size_t len)
{
    return output_reserve(out, GEAR_HEADER + len);
}

// Completes a packet: writes the header to `start`, and commits the bytes up to `end`. The caller
// then stages the last `more` bytes of the packet.
static void gear_commit(struct output *out, enum gear_type type, char *start, const char *end,
                        size_t more)
{
    static const char magic[4] = {0, 'R', 'E', 'S'};
    size_t len = (size_t)(end - start);
    const uint32_t numbers[] = {htobe32((uint32_t)type),
                                htobe32((uint32_t)(len - GEAR_HEADER + more))};

    memcpy(start, magic, sizeof magic);
    memcpy(start + sizeof magic, numbers, sizeof numbers);
    output_commit(out, len);
}

void gear_hold(struct gear_conn *conn, uint64_t position)
{
    if (position) {
        output_hold(gear_out(conn), position);
    }
}

size_t gear_held_back(struct gear_conn *conn)
{
    return conn->state == GEAR_LISTING ? output_pending(gear_listing_behind(conn)) : 0;
}

void gear_refuse(struct gear_conn *conn, enum gear_refusal refusal)
{
    struct output *out = gear_out(conn);
    struct slice code = slice_str(gear_errors[refusal].code);
    struct slice text = slice_str(gear_errors[refusal].text);
    char *start = gear_reserve(out, code.len + 1 + text.len);
    char *at;

    wire_log_refused(conn->wire, code);
    if (gear_errors[refusal].counts_as >= 0) {
        wire_refused(conn->wire, (enum refusal_kind)gear_errors[refusal].counts_as);
    }
    if (start) {
        at = gear_write_slice(start + GEAR_HEADER, code);
        *at++ = 0;
        gear_commit(out, GEAR_ERROR, start, gear_write_slice(at, text), 0);
    }
}

static enum gear_refusal gear_refusal_to(enum status status, enum gear_refusal not_found)
{
    switch (status) {
    case STATUS_NO_MEMORY:
        return GEAR_REFUSE_MEMORY;
    case STATUS_NO_SPACE:
        return GEAR_REFUSE_ROOM;
    case STATUS_FORBIDDEN:
        return GEAR_REFUSE_FORBIDDEN;
    case STATUS_NOT_FOUND:
        return not_found;
    case STATUS_DRAINING:
        return GEAR_REFUSE_DRAINING;
    case STATUS_QUEUE_FULL:
        return GEAR_REFUSE_FULL;
    case STATUS_TOO_MANY_QUEUES:
        return GEAR_REFUSE_QUEUES;
    case STATUS_TOO_LARGE:
        return GEAR_REFUSE_LONG_ARGUMENT;
    case STATUS_JOB_TOO_LARGE:
        return GEAR_REFUSE_LARGE_WORKLOAD;
    case STATUS_BAD_NAME:
        return GEAR_REFUSE_FUNCTION_NAME;
    case STATUS_OK:
    case STATUS_HELD:
    case STATUS_EMPTY:
    case STATUS_LEASE_SOON:
    case STATUS_TIMED_OUT:
    case STATUS_LAST_ONE:
    case STATUS_IN_USE:
    case STATUS_WRONG_STATE:
    case STATUS_MORE:
        break;
    }
    UNREACHABLE();
}

void gear_refuse_status(struct gear_conn *conn, enum status status, enum gear_refusal not_found)
{
    gear_refuse(conn, gear_refusal_to(status, not_found));
}

void gear_reply(struct gear_conn *conn, enum gear_type type)
{
    struct output *out = gear_out(conn);
    char *start = gear_reserve(out, 0);

    if (start) {
        gear_commit(out, type, start, start + GEAR_HEADER, 0);
    }
}

void gear_reply_data(struct gear_conn *conn, enum gear_type type, struct slice data,
                     struct blob *blob)
{
    struct output *out = gear_out(conn);
    char *start = gear_reserve(out, 0);

    if (!start) {
        return;
    }
    gear_commit(out, type, start, start + GEAR_HEADER, data.len);
    // The data is not reserved with the header: reserved room is contiguous, so long data would
    // leave spans of the output half empty.
    output_body(out, data, blob);
}

void gear_reply_handle(struct gear_conn *conn, enum gear_type type, uint64_t id)
{
    struct output *out = gear_out(conn);
    char *start = gear_reserve(out, HANDLE_MAX);

    if (start) {
        gear_commit(out, type, start, handle_write(&conn->shared->handles, id, start + GEAR_HEADER),
                    0);
    }
}

void gear_reply_work(struct gear_conn *conn, enum gear_type type, uint64_t id, struct blob *data)
{
    struct output *out = gear_out(conn);
    char *start = gear_reserve(out, HANDLE_MAX + 1);
    char *at;

    if (!start) {
        return;
    }
    at = handle_write(&conn->shared->handles, id, start + GEAR_HEADER);
    *at++ = 0;
    gear_commit(out, type, start, at, data ? data->len : 0);
    if (data) {
        output_body(out, blob_slice(data), data);
    }
}

void gear_reply_progress(struct gear_conn *conn, const struct job_event *event)
{
    struct output *out = gear_out(conn);
    char *start = gear_reserve(out, HANDLE_MAX + 1 + DIGITS_MAX + 1 + DIGITS_MAX);
    char *at;

    if (start) {
        at = handle_write(&conn->shared->handles, event->job_id, start + GEAR_HEADER);
        *at++ = 0;
        at = digits_write(at, event->numerator);
        *at++ = 0;
        gear_commit(out, GEAR_WORK_STATUS, start, digits_write(at, event->denominator), 0);
    }
}

// A body of at most this many bytes is copied into one piece with the arguments.
#define JOINED_MAX 256

void gear_reply_assign(struct gear_conn *conn, enum gear_type type, const struct job *job)
{
    struct output *out = gear_out(conn);
    struct slice function = queue_name(job_queue(conn->shared->broker, job));
    struct slice unique = SLICE(""), reducer = SLICE("");
    struct job_info info;
    struct slice body = job_body(job);
    char *start, *at;
    size_t len, joined;

    gear_hold(conn, broker_job_position(conn->shared->broker, job));
    if (type != GEAR_JOB_ASSIGN) {
        broker_job_info(conn->shared->broker, job, &info);
        // A job that is unique by its workload was submitted with `-`.
        unique = info.key_kind == KEY_CONTENT ? SLICE("-") : info.key;
        reducer = info.reducer;
        type = type == GEAR_JOB_ASSIGN_ALL && reducer.len > 0 ? type : GEAR_JOB_ASSIGN_UNIQ;
    }
    len = GEAR_HEADER + HANDLE_MAX + function.len + unique.len + reducer.len + 4;
    joined = body.len <= JOINED_MAX ? body.len : 0;
    start = output_deliver(out, len + joined, job_id(job));
    if (!start) {
        return;
    }
    at = handle_write(&conn->shared->handles, job_id(job), start + GEAR_HEADER);
    *at++ = 0;
    at = gear_write_slice(at, function);
    *at++ = 0;
    if (type != GEAR_JOB_ASSIGN) {
        at = gear_write_slice(at, unique);
        *at++ = 0;
    }
    if (type == GEAR_JOB_ASSIGN_ALL) {
        at = gear_write_slice(at, reducer);
        *at++ = 0;
    }
    if (joined > 0) {
        gear_commit(out, type, start, gear_write_slice(at, body), 0);
        return;
    }
    gear_commit(out, type, start, at, body.len);
    output_body(out, body, job_blob(job));
}

void gear_reply_status(struct gear_conn *conn, enum gear_type type, struct slice subject,
                       const struct job *job)
{
    struct output *out = gear_out(conn);
    struct job_info info = {.state = JOB_GONE};
    char *start = gear_reserve(out, 0);
    char tail[STATUS_NUMBERS * (1 + DIGITS_MAX)];
    char *at = tail;

    if (job) {
        broker_job_info(conn->shared->broker, job, &info);
    }
    const uint64_t numbers[STATUS_NUMBERS] = {
        job != NULL, info.state == JOB_RESERVED, info.numerator, info.denominator, info.watches,
    };

    for (int i = 0; i < (type == GEAR_STATUS_RES_UNIQUE ? STATUS_NUMBERS : 4); i++) {
        *at++ = 0;
        at = digits_write(at, numbers[i]);
    }
    if (start) {
        gear_commit(out, type, start, start + GEAR_HEADER, subject.len + (size_t)(at - tail));
        output_write(out, subject);
        output_write(out, slice_of(tail, (size_t)(at - tail)));
    }
}
