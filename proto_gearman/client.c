/* SPDX-License-Identifier: MIT */
#include "proto_gearman/client.h"

#include "core/base/macros.h"

#include "proto_gearman/reply.h"
#include "proto_gearman/schedule.h"

// The arguments of submissions, by their place.
enum { FUNCTION, UNIQUE, EPOCH, REDUCER = 2, SCHEDULE = 2 };

// Data longer than this that was gathered becomes the job's body as it is; shorter data is copied,
// so that the job is one piece of memory.
#define COPIED_MAX ((size_t)4096)

#define FORM(pri_, background)                                                                     \
    {                                                                                              \
        .pri = (pri_), .on_loss = ON_LOSS_BACK, .durable = (background)                            \
    }

// What the contract begins with, by the form of the submission.
static const struct job_spec forms[GEAR_TYPE_COUNT] = {
    [GEAR_SUBMIT_JOB] = FORM(PRI_NORMAL, false),
    [GEAR_SUBMIT_JOB_BG] = FORM(PRI_NORMAL, true),
    [GEAR_SUBMIT_JOB_HIGH] = FORM(PRI_HIGH, false),
    [GEAR_SUBMIT_JOB_HIGH_BG] = FORM(PRI_HIGH, true),
    [GEAR_SUBMIT_JOB_LOW] = FORM(PRI_LOW, false),
    [GEAR_SUBMIT_JOB_LOW_BG] = FORM(PRI_LOW, true),
    [GEAR_SUBMIT_JOB_SCHED] = FORM(PRI_NORMAL, true),
    [GEAR_SUBMIT_JOB_EPOCH] = FORM(PRI_NORMAL, true),
    [GEAR_SUBMIT_REDUCE_JOB] = FORM(PRI_NORMAL, false),
    [GEAR_SUBMIT_REDUCE_JOB_BACKGROUND] = FORM(PRI_NORMAL, true),
};

#undef FORM

static uint32_t attempts_of(int64_t retries)
{
    if (retries < 0) {
        return 0;
    }
    return retries == 0 ? 1 : (uint32_t)retries;
}

static void set_key(struct job_spec *spec, struct slice unique)
{
    if (slice_equal(unique, SLICE("-"))) {
        spec->key_kind = KEY_CONTENT;
    } else if (unique.len > 0) {
        spec->key_kind = KEY_NAME;
        spec->key = unique;
    }
}

static void set_body(struct job_spec *spec, const struct gear_packet *packet)
{
    if (packet->blob && packet->data.len > COPIED_MAX) {
        spec->body_blob = packet->blob;
    } else {
        spec->body = packet->data;
    }
}

// When it starts. False where the packet does not say it properly.
static bool set_start(const struct gear_conn *conn, struct job_spec *spec,
                      const struct gear_packet *packet)
{
    if (packet->type == GEAR_SUBMIT_JOB_EPOCH) {
        spec->start_kind = START_AT;
        return gear_epoch_parse(packet->args[EPOCH], &spec->start);
    }
    if (packet->type == GEAR_SUBMIT_JOB_SCHED) {
        spec->start_kind = START_AT;
        return gear_schedule_next(&packet->args[SCHEDULE], broker_now(conn->shared->broker).wall,
                                  &spec->start);
    }
    return true;
}

// The contract, but for its queue. False with the reason to refuse it.
static bool spec_of(const struct gear_conn *conn, const struct gear_packet *packet,
                    struct job_spec *spec, enum gear_refusal *why)
{
    const struct gear_options *options = conn->shared->options;

    *spec = forms[packet->type];
    spec->max_attempts = attempts_of(options->job_retries);
    spec->on_fail = options->on_fail == GEAR_FAIL_BURIES ? ON_FAIL_BURY : ON_FAIL_DROP;
    if (packet->type == GEAR_SUBMIT_REDUCE_JOB ||
        packet->type == GEAR_SUBMIT_REDUCE_JOB_BACKGROUND) {
        spec->reducer = packet->args[REDUCER];
    }
    set_key(spec, packet->args[UNIQUE]);
    set_body(spec, packet);
    if (packet->args[UNIQUE].len > GEAR_UNIQUE_MAX) {
        *why = GEAR_REFUSE_LONG_UNIQUE;
        return false;
    }
    *why = GEAR_REFUSE_MOMENT;
    return set_start(conn, spec, packet);
}

void gear_submit(struct gear_conn *conn, const struct gear_packet *packet)
{
    enum gear_refusal why;
    struct submission submission;
    struct job_spec spec;
    enum status status;

    if (!spec_of(conn, packet, &spec, &why)) {
        gear_refuse(conn, why);
        return;
    }
    // A function that a job was submitted for is there until it is dropped.
    status = broker_submit_to(conn->shared->broker, packet->args[FUNCTION], &spec,
                              spec.durable ? NULL : conn->session, &submission);
    if (status == STATUS_OK) {
        wire_submitted(conn->wire, broker_position(conn->shared->broker));
        gear_reply_handle(conn, GEAR_JOB_CREATED, submission.id);
    } else {
        gear_refuse_status(conn, status, GEAR_REFUSE_RESULT);
    }
}

void gear_get_status(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct slice handle = packet->args[0];
    const struct job *job = NULL;
    uint64_t id;

    if (handle_read(&conn->shared->handles, handle, &id)) {
        job = broker_find(conn->shared->broker, id);
    }
    gear_reply_status(conn, GEAR_STATUS_RES, handle, job);
}

void gear_get_status_unique(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct slice unique = packet->args[0];

    gear_reply_status(conn, GEAR_STATUS_RES_UNIQUE, unique,
                      broker_find_name(conn->shared->broker, unique));
}
