/* SPDX-License-Identifier: MIT */
#include "admin/shown_job.h"

#include "core/dead_letter.h"
#include "proto_common/wire.h"

#include "admin/context.h"
#include "admin/shown.h"
#include "admin/shown_result.h"

const char *const shown_states[JOB_STATES + 1] = {
    [JOB_DELAYED] = "delayed",
    [JOB_READY] = "ready",
    [JOB_RESERVED] = "reserved",
    [JOB_BURIED] = "buried",
};

static json_t *shown_counts(const struct job_info *info)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "reserves", (json_int_t)info->reserves,
                     "timeouts", (json_int_t)info->timeouts, "releases", (json_int_t)info->releases,
                     "buries", (json_int_t)info->buries, "kicks", (json_int_t)info->kicks);
}

// What its worker said, in numbers that may be any.
static json_t *shown_progress(const struct job_info *info)
{
    const uint64_t most = INT64_MAX;

    if (info->denominator == 0 && info->numerator == 0) {
        return json_null();
    }
    return json_pack("{s:I, s:I}", "numerator",
                     (json_int_t)(info->numerator < most ? info->numerator : most), "denominator",
                     (json_int_t)(info->denominator < most ? info->denominator : most));
}

// A key that is the body is not shown twice.
static json_t *shown_key(const struct job_info *info)
{
    return info->key_kind == KEY_NAME ? shown_text(info->key) : json_null();
}

static json_t *shown_holder(const struct http1_conn *conn, const struct job *job)
{
    const struct sight *sight = admin_shared(conn)->sight;
    const struct session *holder = job_holder(admin_broker(conn), job);
    uint64_t number = sight && holder ? sight->connection_of(sight->host, holder) : 0;

    return number ? json_integer((json_int_t)number) : json_null();
}

static json_t *shown_past(const struct broker *broker, const struct job *job)
{
    struct dead_letter past;

    if (!job_dead_letter(broker, job, &past)) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:s, s:I, s:o}", "queue", shown_text(past.queue), "queue_path",
                     shown_path(past.queue), "why", dead_reason_text(past.why), "attempts",
                     (json_int_t)past.attempts, "at",
                     shown_seconds((nsec_t)past.at_ms * NSEC_PER_MSEC));
}

json_t *shown_job(const struct http1_conn *conn, const struct job *job)
{
    struct job_info info;
    struct slice name;

    broker_job_info(admin_broker(conn), job, &info);
    name = queue_name(info.queue);
    return json_pack(
        "{s:I, s:o, s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:b, s:I, s:o, s:o, "
        "s:I, s:o, s:o}",
        "id", (json_int_t)info.id, "queue", shown_text(name), "queue_path", shown_path(name),
        "state", shown_states[info.state], "priority", (json_int_t)info.pri, "age_seconds",
        shown_seconds(info.age_for), "created_at", shown_seconds(info.created_at), "left_seconds",
        shown_seconds(info.remaining_for), "delay_seconds", shown_seconds(info.delay_for),
        "ttr_seconds", shown_seconds(info.ttr_for), "attempts", (json_int_t)info.attempts,
        "max_attempts", (json_int_t)info.max_attempts, "counts", shown_counts(&info), "durable",
        (int)info.durable, "watches", (json_int_t)info.watches, "progress", shown_progress(&info),
        "key", shown_key(&info), "body_bytes", (json_int_t)job_body(job).len, "holder",
        shown_holder(conn, job), "past", shown_past(admin_broker(conn), job));
}

//
// History
//

// Adds an event, where it happened at all; `at` becomes its own.
static bool add_event(json_t *history, const char *event, json_t *at, uint64_t times)
{
    if (times == 0) {
        json_decref(at);
        return true;
    }
    return json_array_append_new(history, json_pack("{s:s, s:o, s:I}", "event", event, "at", at,
                                                    "times", (json_int_t)times)) == 0;
}

// Where it is now, and since when, as far as that is known. That it is buried has been said.
static bool add_present(json_t *history, const struct broker *broker, const struct job *job,
                        enum job_state state)
{
    static const char *const words[JOB_STATES] = {
        [JOB_DELAYED] = "delayed", [JOB_READY] = "ready", [JOB_RESERVED] = "held"};
    nsec_t since_for;
    bool known = job_state_for(broker, job, &since_for);

    return !words[state] ||
           add_event(history, words[state],
                     known ? shown_seconds(broker_now(broker).wall - since_for) : json_null(), 1);
}

static json_t *shown_history(const struct broker *broker, const struct job *job,
                             const struct job_info *info)
{
    json_t *history = json_array();

    if (history && add_event(history, "submitted", shown_seconds(info->created_at), 1) &&
        add_event(history, "reserved", json_null(), info->reserves) &&
        add_event(history, "timed_out", json_null(), info->timeouts) &&
        add_event(history, "released", json_null(), info->releases) &&
        add_event(history, "buried", json_null(), info->buries) &&
        add_event(history, "kicked", json_null(), info->kicks) &&
        add_present(history, broker, job, info->state)) {
        return history;
    }
    json_decref(history);
    return NULL;
}

json_t *shown_job_detail(const struct http1_conn *conn, const struct job *job)
{
    static const char *const key_kinds[] = {
        [KEY_NONE] = "none", [KEY_NAME] = "name", [KEY_CONTENT] = "content"};
    const struct broker *broker = admin_broker(conn);
    json_t *shown = shown_job(conn, job);
    struct job_info info;
    json_t *more;

    broker_job_info(broker, job, &info);
    more =
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "on_failure",
                  info.on_fail == ON_FAIL_BURY ? "bury" : "drop", "on_loss",
                  info.on_loss == ON_LOSS_FRONT ? "front" : "back", "key_kind",
                  key_kinds[info.key_kind], "reducer", shown_text_or_null(info.reducer), "history",
                  shown_history(broker, job, &info), "result", shown_result(conn, info.id));
    if (!shown || !more || json_object_update(shown, more) != 0) {
        json_decref(shown);
        shown = NULL;
    }
    json_decref(more);
    return shown;
}

void shown_job_hold(const struct http1_conn *conn, const struct job *job)
{
    wire_hold(conn->wire, broker_job_position(admin_broker(conn), job));
}

const struct job *shown_job_find(const struct http1_conn *conn, uint64_t id)
{
    const struct broker *broker = admin_broker(conn);
    const struct job *job = broker_find(broker, id);

    return job && session_may(conn->session, MAY_OBSERVE, job_queue(broker, job)) ? job : NULL;
}
