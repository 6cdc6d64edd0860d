/* SPDX-License-Identifier: MIT */
#include "core/base/memory.h"
#include "core/broker.h"

#include "transfer/job_version.h"

#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/api/body_lines.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

// Maximum number of parts of a line, which is an object with two members, and of its bytes.
#define DELETION_PARTS_MOST 8
#define DELETION_LINE_MOST 200

enum deletion_outcome { DELETION_DONE, DELETION_CHANGED, DELETION_HELD, DELETION_MISSING };
#define DELETION_OUTCOMES 4
static const char *const deletion_outcomes[DELETION_OUTCOMES] = {"deleted", "changed", "held",
                                                                 "missing"};

struct deletion {
    struct line_reply reply;
    uint64_t counts[DELETION_OUTCOMES];
};

// Returns false if the line has another form.
static bool deletion_read(struct slice text, uint64_t *id, uint64_t *version)
{
    json_t *line;
    json_t *number;
    json_t *digits;
    bool good;

    if (text.len > DELETION_LINE_MOST || !json_parts_fit(text, DELETION_PARTS_MOST)) {
        return false;
    }
    line = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, NULL);
    number = json_object_get(line, "id");
    digits = json_object_get(line, "version");
    good =
        json_is_integer(number) && json_integer_value(number) > 0 && json_is_string(digits) &&
        job_version_read(slice_of(json_string_value(digits), json_string_length(digits)), version);
    *id = good ? (uint64_t)json_integer_value(number) : 0;
    json_decref(line);
    return good;
}

// Deletes the job if it has this version and no worker holds it. Another status than STATUS_OK is
// an error of the broker.
static enum status deletion_apply(struct http1_conn *conn, uint64_t id, uint64_t version,
                                  enum deletion_outcome *outcome)
{
    const struct job_act act = {.kind = ACT_DELETE};
    struct broker *broker = admin_broker(conn);
    const struct job *job = broker_find(broker, id);
    struct job_image image;

    *outcome = DELETION_MISSING;
    if (!job || !session_may(conn->session, MAY_OBSERVE, job_queue(broker, job))) {
        return STATUS_OK;
    }
    job_describe(broker, job, &image);
    *outcome = job_holder(broker, job)          ? DELETION_HELD
               : job_version(&image) != version ? DELETION_CHANGED
                                                : DELETION_DONE;
    return *outcome == DELETION_DONE ? broker_act(broker, conn->session, id, &act) : STATUS_OK;
}

static void deletion_take_line(struct http1_conn *conn, void *making, struct slice text)
{
    struct deletion *deletion = making;
    struct line_reply *reply = &deletion->reply;
    enum deletion_outcome outcome;
    uint64_t version = 0;
    enum status status;
    uint64_t id;

    if (!deletion_read(text, &id, &version)) {
        line_reply_refuse(conn, reply, 400, "the line must have an id and a version");
        return;
    }
    status = deletion_apply(conn, id, version, &outcome);
    if (status == STATUS_NO_SPACE || status == STATUS_NO_MEMORY) {
        line_reply_stop(conn, reply, status);
    } else if (status != STATUS_OK) {
        line_reply_refuse_status(conn, reply, status);
    } else {
        deletion->counts[outcome]++;
        line_reply_write(conn, reply,
                         json_pack("{s:I, s:I, s:s}", "line", (json_int_t)reply->lines.line, "id",
                                   (json_int_t)id, "outcome", deletion_outcomes[outcome]));
    }
}

static json_t *deletion_counts(const void *making)
{
    const struct deletion *deletion = making;
    json_t *counts = json_pack("{s:I}", "refused", (json_int_t)deletion->reply.refused);

    for (size_t i = 0; i < DELETION_OUTCOMES; i++) {
        (void)json_object_set_new(counts, deletion_outcomes[i],
                                  json_integer((json_int_t)deletion->counts[i]));
    }
    return counts;
}

static enum http1_progress deletion_make(struct http1_conn *conn, void *making)
{
    static const struct line_reply_ops ops = {.take = deletion_take_line,
                                              .counts = deletion_counts};

    return line_reply_make(conn, making, &ops);
}

static void deletion_forget(void *making)
{
    struct deletion *deletion = making;

    line_reply_end(&deletion->reply);
    memory_free(deletion, sizeof *deletion);
}

static size_t deletion_holds(const void *making)
{
    const struct deletion *deletion = making;

    return sizeof *deletion + line_reply_holds(&deletion->reply);
}

static enum http1_next answer_deletion(struct http1_conn *conn, struct slice body,
                                       struct blob *blob)
{
    static const struct admin_maker maker = {
        .make = deletion_make, .forget = deletion_forget, .holds = deletion_holds};
    struct deletion *deletion;
    struct input input;

    input_begin_plain(&input, conn);
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    deletion = memory_zeroed(sizeof *deletion);
    if (!deletion || !body_lines_begin(&deletion->reply.lines, body, blob)) {
        memory_free(deletion, sizeof *deletion);
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    return admin_make_json(conn, &maker, deletion);
}

const struct admin_route deletion_routes[] = {
    {.path = "/api/v1/delete",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .takes_body = true,
     .answer = answer_deletion},
    {.path = NULL},
};
