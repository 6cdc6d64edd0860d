/* SPDX-License-Identifier: MIT */
#include "proto_gearman/client.h"

#include "proto_common/contract.h"
#include "proto_common/intake.h"

#include "proto_gearman/caller.h"
#include "proto_gearman/reply.h"
#include "proto_gearman/schedule.h"

// The arguments of submissions, by their place.
enum { FUNCTION, UNIQUE, EPOCH, REDUCER = 2, SCHEDULE = 2 };

struct form {
    uint32_t pri;
    bool background;
};

// What the type of a submission says of its job.
static const struct form forms[GEAR_TYPE_COUNT] = {
    [GEAR_SUBMIT_JOB] = {PRI_NORMAL, false},
    [GEAR_SUBMIT_JOB_BG] = {PRI_NORMAL, true},
    [GEAR_SUBMIT_JOB_HIGH] = {PRI_HIGH, false},
    [GEAR_SUBMIT_JOB_HIGH_BG] = {PRI_HIGH, true},
    [GEAR_SUBMIT_JOB_LOW] = {PRI_LOW, false},
    [GEAR_SUBMIT_JOB_LOW_BG] = {PRI_LOW, true},
    [GEAR_SUBMIT_JOB_SCHED] = {PRI_NORMAL, true},
    [GEAR_SUBMIT_JOB_EPOCH] = {PRI_NORMAL, true},
    [GEAR_SUBMIT_REDUCE_JOB] = {PRI_NORMAL, false},
    [GEAR_SUBMIT_REDUCE_JOB_BACKGROUND] = {PRI_NORMAL, true},
};

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
    const struct form form = forms[packet->type];

    *spec = contract_begin(form.pri, form.background, options->job_retries,
                           (enum contract_on_fail)options->on_fail);
    if (packet->type == GEAR_SUBMIT_REDUCE_JOB ||
        packet->type == GEAR_SUBMIT_REDUCE_JOB_BACKGROUND) {
        spec->reducer = packet->args[REDUCER];
    }
    intake_set_body(spec, packet->data, packet->blob);
    if (!contract_set_unique(spec, packet->args[UNIQUE])) {
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
    status = contract_submit(conn->shared->broker, conn->wire, conn->session,
                             packet->args[FUNCTION], &spec, &submission);
    if (status == STATUS_OK) {
        gear_reply_handle(conn, GEAR_JOB_CREATED, submission.id);
    } else {
        if (status == STATUS_JOB_TOO_LARGE) {
            wire_log_too_large(conn->wire, "a job", packet->data.len, WIRE_QUEUE_JOB_SIZE);
        }
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
    if (job && !gear_may_follow(conn, job)) {
        job = NULL;
    }
    gear_reply_status(conn, GEAR_STATUS_RES, handle, job);
}

void gear_get_status_unique(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct slice unique = packet->args[0];
    const struct job *job = broker_find_name(conn->shared->broker, unique);

    // Of those that have it first, one that the connection may know of; a turn has its bounds.
    for (int i = 0; job && !gear_may_follow(conn, job); i++) {
        job = i < BROKER_SLICE ? job_next_of_name(job) : NULL;
    }
    gear_reply_status(conn, GEAR_STATUS_RES_UNIQUE, unique, job);
}
