/* SPDX-License-Identifier: MIT */

// The packets of clients: submissions, and questions about the status of jobs.

#include "proto_gearman/gear_conn.h"

#include "core/base/digits.h"
#include "proto_common/intake.h"
#include "schedule/cron.h"

#include "proto_gearman/gear_reply.h"

#include <time.h>

//
// SUBMIT_JOB_EPOCH and SUBMIT_JOB_SCHED: the moment at which a job starts
//

// 0 is Monday.
enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, SCHEDULE_FIELDS };

static const struct gear_schedule_range {
    int least, most;
} gear_schedule_ranges[SCHEDULE_FIELDS] = {
    [MINUTE] = {0, 59}, [HOUR] = {0, 23}, [DAY] = {1, 31}, [MONTH] = {1, 12}, [WEEKDAY] = {0, 6},
};

// The set of the values that match a field: all for an empty field and for `*`, otherwise the
// number. False: it is neither.
static bool gear_parse_schedule_field(struct slice text, struct gear_schedule_range range,
                                      uint64_t *set)
{
    uint64_t number;

    if (text.len == 0 || slice_equal(text, SLICE("*"))) {
        *set = UINT64_MAX;
        return true;
    }
    if (!digits_read(text, &number) || number > (uint64_t)range.most ||
        number < (uint64_t)range.least) {
        return false;
    }
    *set = UINT64_C(1) << number;
    return true;
}

// A job starts only once, so its schedule is not a daily time: it means real time, and both fields
// for days must match.
static bool gear_parse_schedule(const struct slice fields[SCHEDULE_FIELDS], struct cron *cron)
{
    uint64_t sets[SCHEDULE_FIELDS];

    for (int i = 0; i < SCHEDULE_FIELDS; i++) {
        if (!gear_parse_schedule_field(fields[i], gear_schedule_ranges[i], &sets[i])) {
            return false;
        }
    }
    *cron = (struct cron){
        .minutes = sets[MINUTE],
        .hours = (uint32_t)sets[HOUR],
        .days = (uint32_t)sets[DAY],
        .months = (uint32_t)sets[MONTH],
        // Gearman's week begins with Monday, cron's with Sunday.
        .weekdays = (uint32_t)((sets[WEEKDAY] << 1 | (sets[WEEKDAY] >> 6 & 1)) & 0x7f),
        .real_time = true,
    };
    return cron_has_dates(cron);
}

static int32_t gear_local_offset_at(const struct zone *zone, int64_t at)
{
    time_t moment = (time_t)at;
    struct tm local;

    (void)zone;
    return localtime_r(&moment, &local) ? (int32_t)local.tm_gmtoff : 0;
}

// The positions of the arguments.
enum { FUNCTION, UNIQUE, EPOCH, REDUCER = 2, SCHEDULE = 2 };

// Sets when the job starts: at a number of seconds since 1970, or in the first minute that matches
// all fields of a schedule, in the local time of the machine. False: the packet has no valid
// moment.
static bool gear_set_start(const struct gear_conn *conn, struct job_spec *spec,
                           const struct gear_packet *packet)
{
    static const struct zone local = {.offset_at = gear_local_offset_at};
    const uint64_t most = (uint64_t)(NSEC_NEVER / NSEC_PER_SEC);
    uint64_t seconds;
    struct cron cron;

    if (packet->type == GEAR_SUBMIT_JOB_EPOCH) {
        if (!digits_read(packet->args[EPOCH], &seconds)) {
            return false;
        }
        spec->start_kind = START_AT;
        spec->start = (nsec_t)(seconds < most ? seconds : most) * NSEC_PER_SEC;
    } else if (packet->type == GEAR_SUBMIT_JOB_SCHED) {
        spec->start_kind = START_AT;
        return gear_parse_schedule(&packet->args[SCHEDULE], &cron) &&
               cron_next(&cron, &local, broker_now(conn->shared->broker).wall, &spec->start);
    }
    return true;
}

//
// Submissions
//

// The priority and the kind of the job, by the type of the packet.
static const struct gear_submission {
    uint32_t pri;
    bool background;
} gear_submissions[GEAR_TYPE_COUNT] = {
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

void gear_submit(struct gear_conn *conn, const struct gear_packet *packet)
{
    const struct gear_options *options = conn->shared->options;
    const struct gear_submission kind = gear_submissions[packet->type];
    struct job_spec spec = contract_begin(kind.pri, kind.background, options->job_retries,
                                          (enum contract_on_fail)options->on_fail);
    struct submission submission;
    enum status status;

    if (packet->type == GEAR_SUBMIT_REDUCE_JOB ||
        packet->type == GEAR_SUBMIT_REDUCE_JOB_BACKGROUND) {
        spec.reducer = packet->args[REDUCER];
    }
    intake_set_body(&spec, packet->data, packet->blob);
    if (!contract_set_unique(&spec, packet->args[UNIQUE])) {
        gear_refuse(conn, GEAR_REFUSE_LONG_UNIQUE);
        return;
    }
    if (!gear_set_start(conn, &spec, packet)) {
        gear_refuse(conn, GEAR_REFUSE_MOMENT);
        return;
    }
    status = contract_submit(conn->shared->broker, conn->wire, conn->session,
                             packet->args[FUNCTION], &spec, &submission);
    if (status == STATUS_OK) {
        gear_reply_handle(conn, GEAR_JOB_CREATED, submission.id);
        return;
    }
    if (status == STATUS_JOB_TOO_LARGE) {
        wire_log_too_large(conn->wire, "a job", packet->data.len, WIRE_QUEUE_JOB_SIZE);
    }
    gear_refuse_status(conn, status, GEAR_REFUSE_RESULT);
}

//
// The status of jobs
//

// A caller that may submit a job may also see its status.
static bool gear_may_see_status(const struct gear_conn *conn, const struct job *job)
{
    const struct queue *queue = job_queue(conn->shared->broker, job);

    return session_may(conn->session, MAY_OBSERVE, queue) ||
           session_may(conn->session, MAY_SUBMIT, queue);
}

void gear_get_status(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct slice handle = packet->args[0];
    const struct job *job = NULL;
    uint64_t id;

    if (handle_read(&conn->shared->handles, handle, &id)) {
        job = broker_find(conn->shared->broker, id);
    }
    if (job && !gear_may_see_status(conn, job)) {
        job = NULL;
    }
    gear_reply_status(conn, GEAR_STATUS_RES, handle, job);
}

void gear_get_status_unique(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct slice unique = packet->args[0];
    const struct job *job = broker_find_name(conn->shared->broker, unique);

    // The first job with the unique that the connection may see. The search is limited, because it
    // is made in one turn.
    for (int i = 0; job && !gear_may_see_status(conn, job); i++) {
        job = i < BROKER_SLICE ? job_next_of_name(job) : NULL;
    }
    gear_reply_status(conn, GEAR_STATUS_RES_UNIQUE, unique, job);
}
