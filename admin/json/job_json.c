/* SPDX-License-Identifier: MIT */
#include "admin/json/job_json.h"

#include "core/grants.h"
#include "core/dead_letter.h"
#include "proto_common/wire.h"

#include "admin/json/json_values.h"
#include "admin/request/admin_context.h"

const char *const job_state_names[JOB_STATES + 1] = {
    [JOB_DELAYED] = "delayed",
    [JOB_READY] = "ready",
    [JOB_RESERVED] = "reserved",
    [JOB_BURIED] = "buried",
};

void job_json_hold(const struct http1_conn *conn, const struct job *job)
{
    wire_hold(conn->wire, broker_job_position(admin_broker(conn), job));
}

const struct job *job_find_observed(const struct http1_conn *conn, uint64_t id)
{
    const struct broker *broker = admin_broker(conn);
    const struct job *job = broker_find(broker, id);

    return job && session_may(conn->session, MAY_OBSERVE, job_queue(broker, job)) ? job : NULL;
}

//
// Job
//

static json_t *progress_json(const struct job_info *info)
{
    if (info->denominator == 0 && info->numerator == 0) {
        return json_null();
    }
    // A worker may report any numbers.
    return json_pack("{s:I, s:I}", "numerator", json_int_of(info->numerator), "denominator",
                     json_int_of(info->denominator));
}

static json_t *holder_json(const struct http1_conn *conn, const struct job *job)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    const struct session *holder = job_holder(admin_broker(conn), job);
    uint64_t number =
        introspect && holder ? introspect->connection_of(introspect->host, holder) : 0;

    return number ? json_integer((json_int_t)number) : json_null();
}

static json_t *dead_letter_json(const struct broker *broker, const struct job *job)
{
    struct dead_letter letter;

    if (!job_dead_letter(broker, job, &letter)) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:s, s:I, s:o}", "queue", text_json(letter.queue), "queue_path",
                     path_json(letter.queue), "why", dead_reason_text(letter.why), "attempts",
                     (json_int_t)letter.attempts, "at",
                     seconds_json((nsec_t)letter.at_ms * NSEC_PER_MSEC));
}

json_t *job_json(const struct http1_conn *conn, const struct job *job)
{
    struct job_info info;
    struct slice name;

    broker_job_info(admin_broker(conn), job, &info);
    name = queue_name(info.queue);
    return json_pack(
        "{s:I, s:o, s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:I, "
        "s:{s:I, s:I, s:I, s:I, s:I}, s:b, s:I, s:o, s:o, s:I, s:o, s:o}",
        "id", (json_int_t)info.id, "queue", text_json(name), "queue_path", path_json(name), "state",
        job_state_names[info.state], "priority", (json_int_t)info.pri, "age_seconds",
        seconds_json(info.age_for), "created_at", seconds_json(info.created_at), "left_seconds",
        seconds_json(info.remaining_for), "delay_seconds", seconds_json(info.delay_for),
        "ttr_seconds", seconds_json(info.ttr_for), "attempts", (json_int_t)info.attempts,
        "max_attempts", (json_int_t)info.max_attempts, "counts", "reserves",
        (json_int_t)info.reserves, "timeouts", (json_int_t)info.timeouts, "releases",
        (json_int_t)info.releases, "buries", (json_int_t)info.buries, "kicks",
        (json_int_t)info.kicks, "durable", (int)info.durable, "watches", (json_int_t)info.watches,
        "progress", progress_json(&info),
        // A key that is the body is part of the detail document only.
        "key", info.key_kind == KEY_NAME ? text_json(info.key) : json_null(), "body_bytes",
        (json_int_t)job_body(job).len, "holder", holder_json(conn, job), "past",
        dead_letter_json(admin_broker(conn), job));
}

//
// Result
//

static json_t *result_json(const struct result *result)
{
    static const char *const ends[] = {
        [RESULT_COMPLETE] = "complete",
        [RESULT_FAILED] = "failed",
        [RESULT_EXCEPTION] = "exception",
    };
    static const char *const kept[] = {
        [RESULT_WHOLE] = "whole",
        [RESULT_TOO_LARGE] = "too_large",
        [RESULT_LOST] = "lost",
    };

    return json_pack("{s:s, s:o, s:o, s:s, s:I}", "end", ends[result->end], "ended_at",
                     seconds_json((nsec_t)result->ended_ms * NSEC_PER_MSEC), "until",
                     seconds_json(result->until_at), "kept", kept[result->data_state], "bytes",
                     (json_int_t)result->data.len);
}

bool result_find_observed(const struct http1_conn *conn, uint64_t id, struct result *result)
{
    const struct broker *broker = admin_broker(conn);

    if (!broker_result(broker, id, result) ||
        !session_may_by_name(conn->session, MAY_OBSERVE, result->queue)) {
        return false;
    }
    wire_hold(conn->wire, broker_results_position(broker));
    return true;
}

json_t *ended_job_json(const struct result *result)
{
    return json_pack("{s:I, s:o, s:o, s:s, s:o}", "id", (json_int_t)result->id, "queue",
                     text_json(result->queue), "queue_path", path_json(result->queue), "state",
                     "ended", "result", result_json(result));
}

//
// Detail
//

// Adds the event if it has happened. The ownership of `at` passes.
static void history_add(json_t **history, const char *event, json_t *at, uint64_t times)
{
    if (times == 0) {
        json_decref(at);
    } else {
        json_list_add(history, json_pack("{s:s, s:o, s:I}", "event", event, "at", at, "times",
                                         (json_int_t)times));
    }
}

// The last entry is the present state and its beginning, if known. Buried jobs have none: the
// burial is already an entry.
static json_t *history_json(const struct broker *broker, const struct job *job,
                            const struct job_info *info)
{
    static const char *const present[JOB_STATES] = {
        [JOB_DELAYED] = "delayed", [JOB_READY] = "ready", [JOB_RESERVED] = "held"};
    json_t *history = json_array();
    nsec_t since_for;
    bool known = job_state_for(broker, job, &since_for);

    history_add(&history, "submitted", seconds_json(info->created_at), 1);
    history_add(&history, "reserved", json_null(), info->reserves);
    history_add(&history, "timed_out", json_null(), info->timeouts);
    history_add(&history, "released", json_null(), info->releases);
    history_add(&history, "buried", json_null(), info->buries);
    history_add(&history, "kicked", json_null(), info->kicks);
    if (present[info->state]) {
        history_add(&history, present[info->state],
                    known ? seconds_json(broker_now(broker).wall - since_for) : json_null(), 1);
    }
    return history;
}

json_t *job_detail_json(const struct http1_conn *conn, const struct job *job)
{
    static const char *const key_kinds[] = {
        [KEY_NONE] = "none", [KEY_NAME] = "name", [KEY_CONTENT] = "content"};
    const struct broker *broker = admin_broker(conn);
    struct job_info info;
    struct result result;

    broker_job_info(broker, job, &info);
    return json_merge(job_json(conn, job),
                      json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "on_failure",
                                info.on_fail == ON_FAIL_BURY ? "bury" : "drop", "on_loss",
                                info.on_loss == ON_LOSS_FRONT ? "front" : "back", "key_kind",
                                key_kinds[info.key_kind], "reducer",
                                text_or_null_json(info.reducer), "history",
                                history_json(broker, job, &info), "result",
                                result_find_observed(conn, info.id, &result) ? result_json(&result)
                                                                             : json_null()));
}
