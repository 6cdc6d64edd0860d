/* SPDX-License-Identifier: MIT */
#include "core/base/memory.h"
#include "core/broker.h"

#include "transfer/job_line.h"
#include "transfer/job_version.h"

#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/api/body_lines.h"
#include "admin/api/source_memo.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <stdio.h>
#include <string.h>

// Maximum number of memos that a slice visits.
#define MEMOS_AT_ONCE 32
#define HOLD_SECONDS_MOST 3600
// Maximum number of parts of a line.
#define LINE_PARTS_MOST 200

struct job_import {
    struct line_reply reply;
    char source[IMPORT_SOURCE_MAX + 1];
    size_t source_len; // 0: the import has no source, and nothing is remembered
    nsec_t hold_for;
    uint64_t imported, joined, repeated;
};

//
// A line with a source
//

// Whether the job of the memo was imported. If the memo was written before its job, the job counts
// if it exists.
static bool was_imported(const struct broker *broker, struct source_memo *memo)
{
    const struct job *job = memo->done ? NULL : broker_find(broker, memo->id);
    struct job_image image;

    if (job) {
        job_describe(broker, job, &image);
        memo->done = job_contents(&image) == memo->contents;
    }
    return memo->done;
}

// Sets the versions with which the client can delete the job, now and after its delay.
static void memo_set_versions(const struct broker *broker, struct source_memo *memo)
{
    const struct job *job = broker_find(broker, memo->id);
    struct job_image image;

    if (!job) {
        return;
    }
    job_describe(broker, job, &image);
    memo->version = job_version(&image);
    memo->started = memo->version;
    if (memo->held) {
        image.now.state = JOB_READY;
        memo->started = job_version(&image);
    }
}

// Delays a ready job until the import is confirmed; a duplicate does not end the delay. Without a
// confirmation, or if the process ends before, the job becomes ready after `hold_for`.
static void import_delay(struct broker *broker, const struct job_import *import,
                         struct job_image *image, struct source_memo *memo)
{
    memo->held = import->hold_for > 0 && image->now.state == JOB_READY;
    if (memo->held) {
        image->now.state = JOB_DELAYED;
        image->now.on_wall = false;
        image->now.imposed = true;
        image->now.due_at = nsec_add(broker_now(broker).wall, import->hold_for);
    }
}

static enum status import_remembered(struct http1_conn *conn, const struct job_import *import,
                                     const struct job_image *image, struct source_memo *memo)
{
    struct broker *broker = admin_broker(conn);
    struct slice source = slice_of(import->source, import->source_len);
    struct job_image job = *image;
    struct imported imported;
    enum status status;

    import_delay(broker, import, &job, memo);
    memo->id = broker_next_id(broker);
    memo->contents = job_contents(&job);
    status = source_memo_put(broker, source, memo);
    if (status != STATUS_OK) {
        return status;
    }
    admin_hold_change(conn);
    status = broker_import(broker, &job, conn->session, &imported);
    if (status != STATUS_OK) {
        // A memo that cannot be dropped is harmless: no other job has these contents.
        if (source_memo_drop(broker, source, memo->from) == STATUS_OK) {
            admin_hold_change(conn);
        }
        return status;
    }
    admin_hold_change(conn);
    memo->id = imported.id;
    memo->joined = imported.joined;
    memo->held = memo->held && !imported.joined;
    memo->done = true;
    if (!memo->joined) {
        memo_set_versions(broker, memo);
    }
    // If there is no room for it, the first memo still finds the job while that exists.
    return source_memo_put(broker, source, memo);
}

// Whether the job of the line was imported. Otherwise the line is refused, or, if the reason is
// temporary, the import stops.
static bool import_accepts(struct http1_conn *conn, struct job_import *import, enum status status)
{
    if (status == STATUS_NO_MEMORY || status == STATUS_NO_SPACE || status == STATUS_DRAINING) {
        line_reply_stop(conn, &import->reply, status);
    } else if (status != STATUS_OK) {
        line_reply_refuse_status(conn, &import->reply, status);
    }
    return status == STATUS_OK;
}

static void import_source_line(struct http1_conn *conn, struct job_import *import,
                               const struct job_line *line)
{
    struct slice source = slice_of(import->source, import->source_len);
    const json_t *id = json_object_get(line->document, "id");
    char version[JOB_VERSION_SIZE], started[JOB_VERSION_SIZE];
    struct source_memo memo;
    enum status status = STATUS_OK;
    bool again;

    if (!json_is_integer(id) || json_integer_value(id) <= 0) {
        line_reply_refuse(conn, &import->reply, 400, "with a source, the line must have an id");
        return;
    }
    if (import_source_sealed(admin_broker(conn), source)) {
        line_reply_refuse(conn, &import->reply, 409, "the source is closed: its import has ended");
        return;
    }
    again = source_memo_get(admin_broker(conn), source, (uint64_t)json_integer_value(id), &memo) &&
            was_imported(admin_broker(conn), &memo);
    if (!again) {
        memo = (struct source_memo){.from = (uint64_t)json_integer_value(id)};
        status = import_remembered(conn, import, &line->image, &memo);
    }
    if (!import_accepts(conn, import, status)) {
        return;
    }
    import->imported += !again && !memo.joined;
    import->joined += !again && memo.joined;
    import->repeated += again;
    job_version_write(memo.version, version);
    job_version_write(memo.started, started);
    line_reply_write(conn, &import->reply,
                     json_pack("{s:I, s:I, s:b, s:b, s:s, s:s}", "line",
                               (json_int_t)import->reply.lines.line, "id", (json_int_t)memo.id,
                               "joined", (int)memo.joined, "repeated", (int)again, "version",
                               version, "started", started));
}

//
// Lines
//

static void import_plain_line(struct http1_conn *conn, struct job_import *import,
                              const struct job_image *image)
{
    struct imported imported;
    enum status status = broker_import(admin_broker(conn), image, conn->session, &imported);

    if (!import_accepts(conn, import, status)) {
        return;
    }
    import->imported += !imported.joined;
    import->joined += imported.joined;
    line_reply_write(conn, &import->reply,
                     json_pack("{s:I, s:I, s:b}", "line", (json_int_t)import->reply.lines.line,
                               "id", (json_int_t)imported.id, "joined", (int)imported.joined));
}

static void import_take_line(struct http1_conn *conn, void *making, struct slice text)
{
    struct job_import *import = making;
    struct job_line line;

    if (!json_parts_fit(text, LINE_PARTS_MOST)) {
        line_reply_refuse(conn, &import->reply, 400, "the line has too many members");
        return;
    }
    switch (job_line_read(text, broker_now(admin_broker(conn)).wall, &line)) {
    case JOB_LINE_JOB:
        if (import->source_len > 0) {
            import_source_line(conn, import, &line);
        } else {
            import_plain_line(conn, import, &line.image);
        }
        break;
    case JOB_LINE_BAD:
        line_reply_refuse(conn, &import->reply, 400, line.why);
        break;
    case JOB_LINE_NO_MEMORY:
        line_reply_stop(conn, &import->reply, STATUS_NO_MEMORY);
        break;
    case JOB_LINE_END:
        break;
    }
    job_line_end(&line);
}

static json_t *import_counts(const void *making)
{
    const struct job_import *import = making;

    return json_pack("{s:I, s:I, s:I, s:I}", "imported", (json_int_t)import->imported, "joined",
                     (json_int_t)import->joined, "repeated", (json_int_t)import->repeated,
                     "refused", (json_int_t)import->reply.refused);
}

static enum http1_progress import_make(struct http1_conn *conn, void *making)
{
    static const struct line_reply_ops ops = {.take = import_take_line, .counts = import_counts};

    return line_reply_make(conn, making, &ops);
}

static void import_forget(void *making)
{
    struct job_import *import = making;

    line_reply_end(&import->reply);
    memory_free(import, sizeof *import);
}

static size_t import_holds(const void *making)
{
    const struct job_import *import = making;

    return sizeof *import + line_reply_holds(&import->reply);
}

// Reads the parameter `source`; returns its length, 0 if it is missing, which is an error unless
// `optional`.
static size_t read_import_source(struct input *input, bool optional,
                                 char source[IMPORT_SOURCE_MAX + 1])
{
    size_t len = 0;

    if (!input_query_text(input, "source", source, IMPORT_SOURCE_MAX + 1, &len)) {
        if (!optional) {
            input_blame(input, 400, "source is missing");
        }
        return 0;
    }
    if (!import_source_valid(slice_of(source, len))) {
        input_blame(input, 400,
                    "source must have 1 to 64 letters, digits, dots, dashes or underscores");
    }
    return len;
}

static enum http1_next answer_import(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const struct admin_maker maker = {
        .make = import_make, .forget = import_forget, .holds = import_holds};
    static const char *const names[] = {"source", "hold_seconds", NULL};
    struct job_import *import = memory_zeroed(sizeof *import);
    uint64_t hold = 0;
    struct input input;

    if (!import || !body_lines_begin(&import->reply.lines, body, blob)) {
        memory_free(import, sizeof *import);
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    import->source_len = read_import_source(&input, true, import->source);
    if (input_query_number(&input, "hold_seconds", 1, HOLD_SECONDS_MOST, &hold) &&
        import->source_len == 0) {
        input_blame(&input, 400, "hold_seconds requires source");
    }
    if (!input_good(&input)) {
        enum http1_next next = input_refuse(&input);

        import_forget(import);
        return next;
    }
    import->hold_for = nsec_from_seconds((uint32_t)hold);
    return admin_make_json(conn, &maker, import);
}

//
// The end of an import with a source: a walk over its memos, which lists or forgets them
//

enum { IMPORT_LISTS, IMPORT_FORGETS }; // variants of the route

struct import_end {
    char source[IMPORT_SOURCE_MAX + 1];
    size_t source_len;
    uint64_t cursor;
    uint64_t count;
    enum status stopped; // why not all memos were forgotten
    bool forgets;
    bool begun, wrote;
};

// Drops the memo, after it has ended the delay of its job if that is unchanged. The job gets the
// place of its arrival.
static void forget_memo(struct http1_conn *conn, struct import_end *end,
                        const struct source_memo *memo)
{
    const struct job_act act = {.kind = ACT_RELEASE};
    struct broker *broker = admin_broker(conn);
    const struct job *job = memo->held ? broker_find(broker, memo->id) : NULL;
    struct job_image image;

    if (job) {
        job_describe(broker, job, &image);
        if (image.now.state == JOB_DELAYED && job_contents(&image) == memo->contents &&
            job_version(&image) == memo->version) {
            end->stopped = broker_act(broker, NULL, memo->id, &act);
            admin_hold_change(conn);
        }
    }
    if (end->stopped == STATUS_OK) {
        end->stopped = source_memo_drop(broker, slice_of(end->source, end->source_len), memo->from);
        admin_hold_change(conn);
        end->count += end->stopped == STATUS_OK;
    }
}

static void write_memo(struct http1_conn *conn, struct import_end *end, struct source_memo *memo)
{
    struct broker *broker = admin_broker(conn);
    char version[JOB_VERSION_SIZE];
    char started[JOB_VERSION_SIZE];

    if (!memo->done && was_imported(broker, memo)) {
        memo_set_versions(broker, memo);
    }
    if (memo->done) {
        job_version_write(memo->version, version);
        job_version_write(memo->started, started);
        admin_put(conn, end->wrote ? SLICE(",\n") : SLICE(""));
        admin_put_json(conn, json_pack("{s:I, s:I, s:b, s:s, s:s}", "source_id",
                                       (json_int_t)memo->from, "id", (json_int_t)memo->id, "joined",
                                       (int)memo->joined, "version", version, "started", started));
        end->wrote = true;
        end->count++;
    }
}

static enum http1_progress import_end_make(struct http1_conn *conn, void *making)
{
    struct import_end *end = making;
    unsigned budget = MEMOS_AT_ONCE;
    struct source_memo memo;
    const char *stopped;
    char text[128];
    int len;

    if (!end->begun) {
        end->begun = true;
        admin_put(conn, SLICE("{\"jobs\":["));
    }
    while (end->stopped == STATUS_OK &&
           source_memo_next(admin_broker(conn), slice_of(end->source, end->source_len),
                            &end->cursor, &budget, &memo)) {
        if (end->forgets) {
            forget_memo(conn, end, &memo);
        } else {
            write_memo(conn, end, &memo);
        }
    }
    if (end->stopped == STATUS_OK && budget == 0) {
        return HTTP1_WROTE;
    }
    stopped = end->stopped == STATUS_OK ? NULL : status_text(end->stopped);
    len = snprintf(text, sizeof text, "],\"count\":%llu,\"stopped\":%s%s%s}\n",
                   (unsigned long long)end->count, stopped ? "\"" : "", stopped ? stopped : "null",
                   stopped ? "\"" : "");
    admin_put(conn, slice_of(text, (size_t)len));
    return HTTP1_ENDED;
}

static void import_end_forget(void *making)
{
    memory_free(making, sizeof(struct import_end));
}

static size_t import_end_holds(const void *making)
{
    (void)making;
    return sizeof(struct import_end);
}

// POST /api/v1/import/end, and with the variant IMPORT_FORGETS DELETE /api/v1/import.
static enum http1_next answer_import_end(struct http1_conn *conn, struct slice body,
                                         struct blob *blob)
{
    static const struct admin_maker maker = {
        .make = import_end_make, .forget = import_end_forget, .holds = import_end_holds};
    static const char *const names[] = {"source", NULL};
    struct import_end *end = memory_zeroed(sizeof *end);
    enum status status = STATUS_OK;
    struct input input;

    (void)body;
    (void)blob;
    if (!end) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    end->forgets = admin_request(conn)->route->variant == IMPORT_FORGETS;
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    end->source_len = read_import_source(&input, false, end->source);
    if (!input_good(&input)) {
        import_end_forget(end);
        return input_refuse(&input);
    }
    if (!end->forgets) {
        status = import_source_seal(admin_broker(conn), slice_of(end->source, end->source_len));
        admin_hold_change(conn);
    }
    if (status != STATUS_OK) {
        import_end_forget(end);
        return admin_refuse_status(conn, status);
    }
    return admin_make_json(conn, &maker, end);
}

const struct admin_route import_routes[] = {
    {.path = "/api/v1/import",
     .method = HTTP1_POST,
     .right = MAY_SUBMIT,
     .takes_body = true,
     .answer = answer_import},
    {.path = "/api/v1/import",
     .method = HTTP1_DELETE,
     .right = MAY_SUBMIT,
     .variant = IMPORT_FORGETS,
     .answer = answer_import_end},
    {.path = "/api/v1/import/end",
     .method = HTTP1_POST,
     .right = MAY_SUBMIT,
     .answer = answer_import_end},
    {.path = NULL},
};
