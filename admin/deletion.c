/* SPDX-License-Identifier: MIT */
#include "admin/deletion.h"

#include "core/base/memory.h"
#include "core/broker.h"

#include "lines/job_version.h"

#include "admin/body_lines.h"
#include "admin/change.h"
#include "admin/context.h"
#include "admin/input.h"
#include "admin/parts.h"
#include "admin/reply.h"

#include <stdlib.h>
#include <string.h>

// An object of two members has fewer parts.
#define DELETION_PARTS_MOST 8
// A line is shorter.
#define DELETION_LINE_MOST 200

enum deletion_outcome { DELETION_DONE, DELETION_CHANGED, DELETION_HELD, DELETION_MISSING };
#define DELETION_OUTCOMES 4
static const char *const deletion_words[DELETION_OUTCOMES] = {"deleted", "changed", "held",
                                                              "missing"};

struct deletion {
    struct body_lines lines;
    uint64_t counts[DELETION_OUTCOMES];
    uint64_t refused;
    json_t *stopped; // owned: why the rest was not looked at
    bool begun, wrote;
};

static void deletion_write(struct http1_conn *conn, struct deletion *deletion, json_t *item)
{
    change_hold(conn);
    admin_put(conn, deletion->wrote ? SLICE(",\n") : SLICE(""));
    admin_put_json(conn, item);
    deletion->wrote = true;
}

static json_t *deletion_refusal(const struct deletion *deletion, unsigned status, const char *why)
{
    return json_pack("{s:I, s:i, s:s}", "line", (json_int_t)deletion->lines.line, "status",
                     (int)status, "error", why);
}

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

static void delete_line(struct http1_conn *conn, struct deletion *deletion, struct slice text)
{
    enum deletion_outcome outcome;
    uint64_t version = 0;
    enum status status;
    uint64_t id;

    if (!deletion_read(text, &id, &version)) {
        deletion->refused++;
        deletion_write(conn, deletion,
                       deletion_refusal(deletion, 400, "a line is an id and a version"));
        return;
    }
    status = deletion_apply(conn, id, version, &outcome);
    if (status == STATUS_NO_SPACE || status == STATUS_NO_MEMORY) {
        body_lines_stop(&deletion->lines);
        deletion->stopped =
            deletion_refusal(deletion, admin_status_code(status), status_text(status));
        if (!deletion->stopped) {
            output_fail(&conn->wire->out);
        }
        return;
    }
    if (status != STATUS_OK) {
        deletion->refused++;
        deletion_write(conn, deletion,
                       deletion_refusal(deletion, admin_status_code(status), status_text(status)));
        return;
    }
    deletion->counts[outcome]++;
    deletion_write(conn, deletion,
                   json_pack("{s:I, s:I, s:s}", "line", (json_int_t)deletion->lines.line, "id",
                             (json_int_t)id, "outcome", deletion_words[outcome]));
}

static void deletion_write_end(struct http1_conn *conn, const struct deletion *deletion)
{
    json_t *counts = json_pack("{s:I}", "refused", (json_int_t)deletion->refused);
    json_t *end;
    char *text;

    for (size_t i = 0; i < DELETION_OUTCOMES; i++) {
        (void)json_object_set_new(counts, deletion_words[i],
                                  json_integer((json_int_t)deletion->counts[i]));
    }
    end = json_pack("{s:o, s:o}", "counts", counts, "stopped",
                    deletion->stopped ? json_incref(deletion->stopped) : json_null());
    text = admin_dump(end);
    json_decref(end);
    if (!text) {
        output_fail(&conn->wire->out);
        return;
    }
    admin_put(conn, SLICE("],"));
    admin_put(conn, slice_of(text + 1, strlen(text) - 1));
    free(text);
}

static enum http1_progress deletion_make(struct http1_conn *conn, void *making)
{
    struct deletion *deletion = making;
    size_t from = deletion->lines.at;
    struct slice text;

    if (!deletion->begun) {
        deletion->begun = true;
        admin_put(conn, SLICE("{\"lines\":["));
    }
    for (int i = 0; i < LINES_AT_ONCE && deletion->lines.at - from < LINE_BYTES_AT_ONCE; i++) {
        if (!body_lines_next(&deletion->lines, &text)) {
            deletion_write_end(conn, deletion);
            return HTTP1_ENDED;
        }
        if (text.len > 0) {
            delete_line(conn, deletion, text);
        }
    }
    return HTTP1_WROTE;
}

static void deletion_forget(void *making)
{
    struct deletion *deletion = making;

    json_decref(deletion->stopped);
    body_lines_end(&deletion->lines);
    memory_free(deletion, sizeof *deletion);
}

static size_t deletion_holds(const void *making)
{
    const struct deletion *deletion = making;

    return sizeof *deletion + blob_slice(deletion->lines.blob).len;
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
    if (!deletion || !body_lines_begin(&deletion->lines, body, blob)) {
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
