/* SPDX-License-Identifier: MIT */
#include "core/base/memory.h"
#include "core/broker.h"
#include "schedule/schedule.h"

#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/json/json_values.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <stdbool.h>
#include <string.h>

static struct schedules *schedules_of(const struct http1_conn *conn)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;

    return introspect ? introspect->schedules(introspect->host) : NULL;
}

//
// The documents. Each function returns NULL if there is no memory.
//

static const char *const schedule_missed_names[] = {
    [SCHEDULE_MISSED_SKIP] = "skip",
    [SCHEDULE_MISSED_ONCE] = "once",
    [SCHEDULE_MISSED_ALL] = "all",
    NULL,
};

static const char *const schedule_overlap_names[] = {
    [SCHEDULE_OVERLAP_ALLOW] = "allow",
    [SCHEDULE_OVERLAP_SKIP] = "skip",
    NULL,
};

static json_t *moment_json(nsec_t at)
{
    return at == 0 || at == NSEC_NEVER ? json_null() : seconds_json(at);
}

// The outcome of the last planned time.
static json_t *last_outcome_json(const struct schedule_info *info)
{
    static const char *const outcomes[] = {
        [SCHEDULE_NOTHING] = "nothing", [SCHEDULE_FIRED] = "fired",
        [SCHEDULE_MISSED] = "missed",   [SCHEDULE_OVERLAPPED] = "overlapped",
        [SCHEDULE_REFUSED] = "refused", [SCHEDULE_GIVEN_UP] = "given_up",
    };
    bool refused = info->outcome == SCHEDULE_REFUSED || info->outcome == SCHEDULE_GIVEN_UP;

    return json_pack("{s:s, s:o, s:o, s:o}", "outcome", outcomes[info->outcome], "at",
                     moment_json(info->outcome_at), "why",
                     refused ? json_string(status_text(info->status)) : json_null(), "job",
                     info->outcome == SCHEDULE_FIRED ? json_integer((json_int_t)info->job_id)
                                                     : json_null());
}

// `Schedule`.
static json_t *schedule_json(const struct schedule_info *info)
{
    const struct schedule_counts *counts = &info->counts;
    const struct schedule_spec *spec = info->spec;

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:o, "
        "s:{s:I, s:I, s:I, s:I, s:I, s:I}}",
        "name", text_json(spec->name), "cron", text_json(spec->cron), "timezone",
        text_or_null_json(spec->timezone), "queue", text_json(spec->queue), "queue_path",
        path_json(spec->queue), "priority", (json_int_t)spec->pri, "ttr_seconds",
        seconds_json(spec->ttr_for), "missed", schedule_missed_names[spec->missed], "overlap",
        schedule_overlap_names[spec->overlap], "in_file", (int)info->in_file, "at_run_time",
        (int)info->at_run_time, "next_at", moment_json(info->next_at), "silent_until",
        moment_json(info->silent_until), "fired_at", moment_json(info->fired_at), "last",
        last_outcome_json(info), "counts", "fired", json_int_of(counts->fired), "late",
        json_int_of(counts->late), "missed", json_int_of(counts->missed), "overlapped",
        json_int_of(counts->overlapped), "refused", json_int_of(counts->refused), "given_up",
        json_int_of(counts->given_up));
}

// `ScheduleDetail`: with the body of its jobs.
static json_t *schedule_detail_json(const struct schedule_info *info)
{
    json_t *document = schedule_json(info);

    json_member_add(&document, "body", text_json(info->spec->body));
    return document;
}

//
// The list, by name
//

#define SCHEDULES_LIMIT_MAX 1000
#define SCHEDULES_LIMIT_DEFAULT 100
// Maximum numbers per slice.
#define SCHEDULES_VISITED_AT_ONCE BROKER_SLICE
#define SCHEDULES_WRITTEN_AT_ONCE 16

struct schedule_list {
    char visited[SCHEDULE_NAME_MAX + 1]; // the last visited name
    size_t visited_len;
    char written[SCHEDULE_NAME_MAX]; // the last written name
    size_t written_len;
    uint64_t left; // the number of further schedules on the page
    bool begun, over, more, wrote;
};

// Visits the next schedule; false at the end.
static bool schedule_list_next(const struct http1_conn *conn, struct schedule_list *list,
                               struct schedule_info *info)
{
    const struct schedules *schedules = schedules_of(conn);

    if (!schedules ||
        !schedules_next(schedules, slice_of(list->visited, list->visited_len), info)) {
        return false;
    }
    memcpy(list->visited, info->spec->name.ptr, info->spec->name.len);
    list->visited_len = info->spec->name.len;
    return true;
}

// Writes a slice. When the page is full, it still looks for one more schedule.
static void schedule_list_write(struct http1_conn *conn, struct schedule_list *list)
{
    struct schedule_info info;
    int written = 0;

    for (int i = 0;
         i < SCHEDULES_VISITED_AT_ONCE && written < SCHEDULES_WRITTEN_AT_ONCE && !list->over; i++) {
        if (!schedule_list_next(conn, list, &info)) {
            list->over = true;
        } else if (!session_may_by_name(conn->session, MAY_OBSERVE, info.spec->queue)) {
            continue;
        } else if (list->left == 0) {
            list->more = true;
            list->over = true;
        } else {
            admin_put(conn, list->wrote ? SLICE(",") : SLICE(""));
            admin_put_json(conn, schedule_json(&info));
            list->wrote = true;
            list->left--;
            memcpy(list->written, info.spec->name.ptr, info.spec->name.len);
            list->written_len = info.spec->name.len;
            written++;
        }
    }
}

static enum http1_progress schedule_list_make(struct http1_conn *conn, void *making)
{
    struct schedule_list *list = making;

    if (!list->begun) {
        list->begun = true;
        admin_put(conn, SLICE("{\"schedules\":["));
    }
    if (!list->over) {
        schedule_list_write(conn, list);
        return HTTP1_WROTE;
    }
    if (list->more) {
        // The name of a schedule needs no escapes.
        admin_put(conn, SLICE("],\"next\":\""));
        admin_put(conn, slice_of(list->written, list->written_len));
        admin_put(conn, SLICE("\"}"));
    } else {
        admin_put(conn, SLICE("],\"next\":null}"));
    }
    return HTTP1_ENDED;
}

static void schedule_list_forget(void *making)
{
    memory_free(making, sizeof(struct schedule_list));
}

static size_t schedule_list_holds(const void *making)
{
    (void)making;
    return sizeof(struct schedule_list);
}

static enum http1_next answer_schedule_list(struct http1_conn *conn, struct slice body,
                                            struct blob *blob)
{
    static const struct admin_maker maker = {
        .make = schedule_list_make, .forget = schedule_list_forget, .holds = schedule_list_holds};
    static const char *const parameters[] = {"limit", "cursor", NULL};
    struct schedule_list *list = memory_zeroed(sizeof *list);
    struct input input;

    (void)body;
    (void)blob;
    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    list->left = SCHEDULES_LIMIT_DEFAULT;
    input_begin_query(&input, conn);
    input_parameters(&input, parameters);
    (void)input_query_number(&input, "limit", 1, SCHEDULES_LIMIT_MAX, &list->left);
    (void)input_query_text(&input, "cursor", list->visited, sizeof list->visited,
                           &list->visited_len);
    if (!input_good(&input)) {
        schedule_list_forget(list);
        return input_refuse(&input);
    }
    return admin_make_json(conn, &maker, list);
}

//
// One schedule
//

static bool may_change_schedule(const struct http1_conn *conn, struct slice queue)
{
    return session_may_by_name(conn->session, MAY_OPERATE, queue) &&
           session_may_by_name(conn->session, MAY_SUBMIT, queue);
}

// The schedule with this name; STATUS_NOT_FOUND if the caller may not observe its queue, and
// STATUS_FORBIDDEN if it is to be changed and the caller may not.
static enum status schedule_find(struct http1_conn *conn, struct slice name, bool change,
                                 struct schedule_info *info)
{
    struct schedules *schedules = schedules_of(conn);

    if (!schedules || !schedules_find(schedules, name, info) ||
        !session_may_by_name(conn->session, MAY_OBSERVE, info->spec->queue)) {
        return STATUS_NOT_FOUND;
    }
    return change && !may_change_schedule(conn, info->spec->queue) ? STATUS_FORBIDDEN : STATUS_OK;
}

// The schedule that a path names.
struct schedule_request {
    char text[SCHEDULE_NAME_MAX + 1];
    struct slice name;
    struct schedule_info info;
};

// Reads a request without a body and finds its schedule. On failure the request has been answered,
// with `*next`.
static bool read_schedule_request(struct http1_conn *conn, struct schedule_request *request,
                                  bool change, enum http1_next *next)
{
    struct input input;
    enum status status;
    size_t len = 0;

    input_begin_plain(&input, conn);
    (void)input_path_text(&input, 0, request->text, sizeof request->text, &len);
    if (!input_good(&input)) {
        *next = input_refuse(&input);
        return false;
    }
    request->name = slice_of(request->text, len);
    status = schedule_find(conn, request->name, change, &request->info);
    if (status != STATUS_OK) {
        *next = admin_refuse_status(conn, status);
    }
    return status == STATUS_OK;
}

static enum http1_next answer_schedule(struct http1_conn *conn, struct slice body,
                                       struct blob *blob)
{
    struct schedule_request request;
    enum http1_next next;

    (void)body;
    (void)blob;
    if (!read_schedule_request(conn, &request, false, &next)) {
        return next;
    }
    return admin_reply_json(conn, 200, schedule_detail_json(&request.info));
}

// Delays the reply until the change is as durable as configured.
static void hold_schedule_change(struct http1_conn *conn)
{
    wire_hold(conn->wire, schedules_position(schedules_of(conn)));
}

// Answers a change with the schedule, or with 204 if the caller may not observe it.
static enum http1_next reply_changed_schedule(struct http1_conn *conn, struct slice name)
{
    struct schedule_info info;

    hold_schedule_change(conn);
    if (schedule_find(conn, name, false, &info) != STATUS_OK) {
        return admin_reply_nothing(conn);
    }
    return admin_reply_json(conn, 200, schedule_detail_json(&info));
}

static void read_required_text(struct input *input, const char *name, struct slice *text)
{
    if (!input_text(input, name, text)) {
        input_blame(input, 400, "%s is missing", name);
    }
}

static void read_schedule_spec(struct input *input, struct schedule_spec *spec)
{
    static const char *const members[] = {"cron",        "timezone", "queue",   "body", "priority",
                                          "ttr_seconds", "missed",   "overlap", NULL};
    uint64_t pri = PRI_NORMAL, ttr = 0;
    size_t missed = SCHEDULE_MISSED_SKIP, overlap = SCHEDULE_OVERLAP_ALLOW;

    input_members(input, members);
    read_required_text(input, "cron", &spec->cron);
    read_required_text(input, "queue", &spec->queue);
    (void)input_text(input, "timezone", &spec->timezone);
    (void)input_text(input, "body", &spec->body);
    (void)input_number(input, "priority", UINT32_MAX, &pri);
    (void)input_number(input, "ttr_seconds", UINT32_MAX, &ttr);
    (void)input_word(input, "missed", schedule_missed_names, &missed);
    (void)input_word(input, "overlap", schedule_overlap_names, &overlap);
    spec->pri = (uint32_t)pri;
    spec->ttr_for = nsec_from_seconds((uint32_t)ttr);
    spec->missed = (enum schedule_missed)missed;
    spec->overlap = (enum schedule_overlap)overlap;
}

// The caller needs the rights on the new queue, and on the old one if the schedule exists.
static enum status put_schedule(struct http1_conn *conn, const struct schedule_spec *spec,
                                struct error_text *why)
{
    struct schedules *schedules = schedules_of(conn);
    struct schedule_info info;

    if (!schedules) {
        return STATUS_NOT_FOUND;
    }
    if (!may_change_schedule(conn, spec->queue) || (schedules_find(schedules, spec->name, &info) &&
                                                    !may_change_schedule(conn, info.spec->queue))) {
        return STATUS_FORBIDDEN;
    }
    return schedules_put(schedules, spec, why);
}

static enum http1_next answer_schedule_put(struct http1_conn *conn, struct slice body,
                                           struct blob *blob)
{
    char text[SCHEDULE_NAME_MAX + 1];
    struct error_text why = {""};
    struct schedule_spec spec = {.name = SLICE("")};
    enum http1_next next;
    struct input input;
    enum status status;
    size_t len = 0;

    (void)blob;
    input_begin(&input, conn, body, false);
    (void)input_path_text(&input, 0, text, sizeof text, &len);
    spec.name = slice_of(text, len);
    read_schedule_spec(&input, &spec);
    if (!input_good(&input)) {
        next = input_refuse(&input);
        goto out;
    }
    status = put_schedule(conn, &spec, &why);
    if (status == STATUS_OK) {
        next = reply_changed_schedule(conn, spec.name);
    } else {
        next =
            *why.text ? admin_refuse_text(conn, 400, why.text) : admin_refuse_status(conn, status);
    }
out:
    input_end(&input);
    return next;
}

static enum http1_next answer_schedule_delete(struct http1_conn *conn, struct slice body,
                                              struct blob *blob)
{
    struct schedule_request request;
    enum http1_next next;
    enum status status;

    (void)body;
    (void)blob;
    if (!read_schedule_request(conn, &request, true, &next)) {
        return next;
    }
    status = schedules_remove(schedules_of(conn), request.name);
    if (status == STATUS_IN_USE) {
        return admin_refuse(conn, 409,
                            "the schedule is in the configuration file: remove it there");
    }
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    hold_schedule_change(conn);
    return admin_reply_nothing(conn);
}

static enum http1_next answer_schedule_run(struct http1_conn *conn, struct slice body,
                                           struct blob *blob)
{
    struct schedule_request request;
    struct submission submission;
    enum http1_next next;
    enum status status;

    (void)body;
    (void)blob;
    if (!read_schedule_request(conn, &request, true, &next)) {
        return next;
    }
    status = schedules_run(schedules_of(conn), request.name, &submission);
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    hold_schedule_change(conn);
    return admin_reply_json(
        conn, 201,
        json_pack("{s:I, s:b}", "id", (json_int_t)submission.id, "joined", (int)submission.joined));
}

static enum http1_next answer_schedule_replan(struct http1_conn *conn, struct slice body,
                                              struct blob *blob)
{
    struct schedule_request request;
    enum http1_next next;
    enum status status;

    (void)body;
    (void)blob;
    if (!read_schedule_request(conn, &request, true, &next)) {
        return next;
    }
    status = schedules_replan(schedules_of(conn), request.name);
    return status == STATUS_OK ? reply_changed_schedule(conn, request.name)
                               : admin_refuse_status(conn, status);
}

const struct admin_route schedule_routes[] = {
    {.path = "/api/v1/schedules",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_schedule_list},
    {.path = "/api/v1/schedules/{name}",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_schedule},
    {.path = "/api/v1/schedules/{name}",
     .method = HTTP1_PUT,
     .right = MAY_OPERATE,
     .takes_body = true,
     .answer = answer_schedule_put},
    {.path = "/api/v1/schedules/{name}",
     .method = HTTP1_DELETE,
     .right = MAY_OPERATE,
     .answer = answer_schedule_delete},
    {.path = "/api/v1/schedules/{name}/run",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .answer = answer_schedule_run},
    {.path = "/api/v1/schedules/{name}/replan",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .answer = answer_schedule_replan},
    {.path = NULL},
};
