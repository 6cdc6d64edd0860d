/* SPDX-License-Identifier: MIT */
#include "admin/deletion.h"

#include "core/base/memory.h"
#include "core/broker.h"

#include "transfer/job_version.h"

#include "admin/body_lines.h"
#include "admin/context.h"
#include "admin/input.h"
#include "admin/parts.h"
#include "admin/reply.h"

// An object of two members has fewer parts.
#define DELETION_PARTS_MOST 8
// A line is shorter.
#define DELETION_LINE_MOST 200

enum deletion_outcome { DELETION_DONE, DELETION_CHANGED, DELETION_HELD, DELETION_MISSING };
#define DELETION_OUTCOMES 4
static const char *const deletion_words[DELETION_OUTCOMES] = {"deleted", "changed", "held",
                                                              "missing"};

struct deletion {
    struct line_answer answer;
    uint64_t counts[DELETION_OUTCOMES];
};

// False where the line says something else.
static bool deletion_read(struct slice text, uint64_t *id, uint64_t *version)
{
    json_t *line;
    json_t *number;
    json_t *word;
    bool good;

    if (text.len > DELETION_LINE_MOST || !parts_fit(text, DELETION_PARTS_MOST)) {
        return false;
    }
    line = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, NULL);
    number = json_object_get(line, "id");
    word = json_object_get(line, "version");
    good = json_is_integer(number) && json_integer_value(number) > 0 && json_is_string(word) &&
           job_version_read(slice_of(json_string_value(word), json_string_length(word)), version);
    *id = good ? (uint64_t)json_integer_value(number) : 0;
    json_decref(line);
    return good;
}

// Deletes the job where it is as the version says. Any other status: the verb's.
static enum status deletion_apply(struct http1_conn *conn, uint64_t id, uint64_t version,
                                  enum deletion_outcome *outcome)
{
    const struct act act = {.kind = ACT_DELETE};
    struct broker *broker = admin_broker(conn);
    const struct job *job = broker_find(broker, id);
    struct job_image image;
    enum status status;

    *outcome = DELETION_MISSING;
    if (!job || !session_may(conn->session, MAY_OBSERVE, job_queue(broker, job))) {
        return STATUS_OK;
    }
    job_describe(broker, job, &image);
    *outcome = job_holder(broker, job)          ? DELETION_HELD
               : job_version(&image) != version ? DELETION_CHANGED
                                                : DELETION_DONE;
    if (*outcome != DELETION_DONE) {
        return STATUS_OK;
    }
    status = broker_act(broker, conn->session, id, &act);
    return status;
}

static void delete_line(struct http1_conn *conn, void *making, struct slice text)
{
    struct deletion *deletion = making;
    struct line_answer *answer = &deletion->answer;
    enum deletion_outcome outcome;
    uint64_t version = 0;
    enum status status;
    uint64_t id;

    if (!deletion_read(text, &id, &version)) {
        line_answer_refuse(conn, answer, 400, "a line is an id and a version");
        return;
    }
    status = deletion_apply(conn, id, version, &outcome);
    if (status == STATUS_NO_SPACE || status == STATUS_NO_MEMORY) {
        line_answer_stop(conn, answer, status);
    } else if (status != STATUS_OK) {
        line_answer_refuse_status(conn, answer, status);
    } else {
        deletion->counts[outcome]++;
        line_answer_write(conn, answer,
                          json_pack("{s:I, s:I, s:s}", "line", (json_int_t)answer->lines.line, "id",
                                    (json_int_t)id, "outcome", deletion_words[outcome]));
    }
}

static json_t *deletion_counts(const void *making)
{
    const struct deletion *deletion = making;
    json_t *counts = json_pack("{s:I}", "refused", (json_int_t)deletion->answer.refused);

    for (size_t i = 0; i < DELETION_OUTCOMES; i++) {
        (void)json_object_set_new(counts, deletion_words[i],
                                  json_integer((json_int_t)deletion->counts[i]));
    }
    return counts;
}

static enum http1_progress deletion_make(struct http1_conn *conn, void *making)
{
    static const struct line_answer_ops ops = {.take = delete_line, .counts = deletion_counts};

    return line_answer_make(conn, making, &ops);
}

static void deletion_forget(void *making)
{
    struct deletion *deletion = making;

    line_answer_end(&deletion->answer);
    memory_free(deletion, sizeof *deletion);
}

static size_t deletion_holds(const void *making)
{
    const struct deletion *deletion = making;

    return sizeof *deletion + line_answer_holds(&deletion->answer);
}

static const struct admin_maker deletion_maker = {
    .make = deletion_make,
    .forget = deletion_forget,
    .holds = deletion_holds,
};

static enum http1_next answer_deletion(struct http1_conn *conn, struct slice body,
                                       struct blob *blob)
{
    static const char *const names[] = {NULL};
    struct deletion *deletion;
    struct input input;

    input_begin_query(&input, conn);
    input_parameters(&input, names);
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    deletion = memory_zeroed(sizeof *deletion);
    if (!deletion || !body_lines_begin(&deletion->answer.lines, body, blob)) {
        memory_free(deletion, sizeof *deletion);
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON},
                      &deletion_maker, deletion);
}

const struct admin_route deletion_routes[] = {
    {.path = "/api/v1/delete",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .takes_body = true,
     .answer = answer_deletion},
    {.path = NULL},
};
