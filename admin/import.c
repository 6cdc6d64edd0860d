/* SPDX-License-Identifier: MIT */
#include "admin/import.h"

#include "core/base/memory.h"
#include "core/broker.h"
#include "core/import.h"

#include "transfer/job_line.h"
#include "transfer/job_version.h"

#include "admin/body_lines.h"
#include "admin/change.h"
#include "admin/context.h"
#include "admin/source_memo.h"
#include "admin/input.h"
#include "admin/parts.h"
#include "admin/reply.h"

#include <stdio.h>
#include <string.h>

// Memos that a slice looks at.
#define MEMOS_AT_ONCE 32
// How long jobs may be held back, in seconds.
#define HOLD_MOST 3600
// A line has fewer members, words and lists.
#define PARTS_MOST 200

struct import {
    struct line_answer answer;
    char source[IMPORT_SOURCE_MAX + 1];
    size_t source_len; // 0: the import has no source, and nothing is remembered
    nsec_t hold_for;
    uint64_t imported, joined, repeated;
};

//
// Once under the name of a source
//

static struct slice source_of(const struct import *import)
{
    return slice_of(import->source, import->source_len);
}

// A memo that was written before its job counts where the job is there.
static bool was_brought_in(const struct broker *broker, struct source_memo *memo)
{
    const struct job *job = memo->done ? NULL : broker_find(broker, memo->id);
    struct job_image image;

    if (job) {
        job_describe(broker, job, &image);
        memo->done = job_contents(&image) == memo->contents;
    }
    return memo->done;
}

// What is to be known of the job to take it back, or to begin it.
static void note_versions(const struct broker *broker, struct source_memo *memo)
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

// Ready jobs that are held back are delayed meanwhile, and no duplicate ends that. Where nobody
// confirms the import, or the process ends before, they are ready by themselves.
static void hold_back(struct broker *broker, const struct import *import, struct job_image *image,
                      struct source_memo *memo)
{
    memo->held = import->hold_for > 0 && image->now.state == JOB_READY;
    if (memo->held) {
        image->now.state = JOB_DELAYED;
        image->now.on_wall = false;
        image->now.imposed = true;
        image->now.due_at = nsec_add(broker_now(broker).wall, import->hold_for);
    }
}

static enum status bring_in_once(struct http1_conn *conn, const struct import *import,
                                 const struct job_image *image, struct source_memo *memo)
{
    struct broker *broker = admin_broker(conn);
    struct slice source = source_of(import);
    struct job_image job = *image;
    struct imported imported;
    enum status status;

    hold_back(broker, import, &job, memo);
    memo->id = broker_next_id(broker);
    memo->contents = job_contents(&job);
    status = source_memo_put(broker, source, memo);
    if (status != STATUS_OK) {
        return status;
    }
    change_hold(conn);
    status = broker_import(broker, &job, conn->session, &imported);
    if (status != STATUS_OK) {
        // Where it cannot be dropped, it does no harm: no other job has these contents.
        if (source_memo_drop(broker, source, memo->from) == STATUS_OK) {
            change_hold(conn);
        }
        return status;
    }
    change_hold(conn);
    memo->id = imported.id;
    memo->joined = imported.joined;
    memo->held = memo->held && !imported.joined;
    memo->done = true;
    if (!memo->joined) {
        note_versions(broker, memo);
    }
    // Where there is no room for it, the first memo still finds the job while that is there.
    return source_memo_put(broker, source, memo);
}

static void write_once(struct http1_conn *conn, struct import *import,
                       const struct source_memo *memo, bool again)
{
    char version[JOB_VERSION_SIZE];
    char started[JOB_VERSION_SIZE];

    job_version_write(memo->version, version);
    job_version_write(memo->started, started);
    line_answer_write(conn, &import->answer,
                      json_pack("{s:I, s:I, s:b, s:b, s:s, s:s}", "line",
                                (json_int_t)import->answer.lines.line, "id", (json_int_t)memo->id,
                                "joined", (int)memo->joined, "repeated", (int)again, "version",
                                version, "started", started));
}

static bool is_for_later(enum status status)
{
    return status == STATUS_NO_MEMORY || status == STATUS_NO_SPACE || status == STATUS_DRAINING;
}

static void import_job_once(struct http1_conn *conn, struct import *import,
                            const struct job_line *line)
{
    const json_t *id = json_object_get(line->document, "id");
    struct source_memo memo;
    enum status status = STATUS_OK;
    bool again;

    if (!json_is_integer(id) || json_integer_value(id) <= 0) {
        line_answer_refuse(conn, &import->answer, 400,
                           "a source needs the id that the job has there");
        return;
    }
    if (import_source_sealed(admin_broker(conn), source_of(import))) {
        line_answer_refuse(conn, &import->answer, 409,
                           "the source is closed: an import of it was ended");
        return;
    }
    again = source_memo_get(admin_broker(conn), source_of(import), (uint64_t)json_integer_value(id),
                            &memo) &&
            was_brought_in(admin_broker(conn), &memo);
    if (!again) {
        memo = (struct source_memo){.from = (uint64_t)json_integer_value(id)};
        status = bring_in_once(conn, import, &line->image, &memo);
    }
    if (is_for_later(status)) {
        line_answer_stop(conn, &import->answer, status);
    } else if (status != STATUS_OK) {
        line_answer_refuse_status(conn, &import->answer, status);
    } else {
        import->imported += !again && !memo.joined;
        import->joined += !again && memo.joined;
        import->repeated += again;
        write_once(conn, import, &memo, again);
    }
}

//
// Lines
//

static void import_job(struct http1_conn *conn, struct import *import,
                       const struct job_image *image)
{
    struct imported imported;
    enum status status = broker_import(admin_broker(conn), image, conn->session, &imported);

    if (is_for_later(status)) {
        line_answer_stop(conn, &import->answer, status);
        return;
    }
    if (status != STATUS_OK) {
        line_answer_refuse_status(conn, &import->answer, status);
        return;
    }
    import->imported += !imported.joined;
    import->joined += imported.joined;
    line_answer_write(conn, &import->answer,
                      json_pack("{s:I, s:I, s:b}", "line", (json_int_t)import->answer.lines.line,
                                "id", (json_int_t)imported.id, "joined", (int)imported.joined));
}

static void import_line(struct http1_conn *conn, void *making, struct slice text)
{
    struct import *import = making;
    struct job_line line;

    if (!parts_fit(text, PARTS_MOST)) {
        line_answer_refuse(conn, &import->answer, 400, "it has too many members");
        return;
    }
    switch (job_line_read(text, broker_now(admin_broker(conn)).wall, &line)) {
    case JOB_LINE_JOB:
        if (import->source_len > 0) {
            import_job_once(conn, import, &line);
        } else {
            import_job(conn, import, &line.image);
        }
        break;
    case JOB_LINE_BAD:
        line_answer_refuse(conn, &import->answer, 400, line.why);
        break;
    case JOB_LINE_NO_MEMORY:
        line_answer_stop(conn, &import->answer, STATUS_NO_MEMORY);
        break;
    case JOB_LINE_END:
        break;
    }
    job_line_end(&line);
}

static json_t *import_counts(const void *making)
{
    const struct import *import = making;

    return json_pack("{s:I, s:I, s:I, s:I}", "imported", (json_int_t)import->imported, "joined",
                     (json_int_t)import->joined, "repeated", (json_int_t)import->repeated,
                     "refused", (json_int_t)import->answer.refused);
}

static enum http1_progress import_make(struct http1_conn *conn, void *making)
{
    static const struct line_answer_ops ops = {.take = import_line, .counts = import_counts};

    return line_answer_make(conn, making, &ops);
}

static void import_forget(void *making)
{
    struct import *import = making;

    line_answer_end(&import->answer);
    memory_free(import, sizeof *import);
}

static size_t import_holds(const void *making)
{
    const struct import *import = making;

    return sizeof *import + line_answer_holds(&import->answer);
}

static const struct admin_maker maker = {
    .make = import_make,
    .forget = import_forget,
    .holds = import_holds,
};

// The source that the request names; it is blamed where there is none, unless `optional`.
static size_t read_source(struct input *input, bool optional, char source[IMPORT_SOURCE_MAX + 1])
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
    static const char *const names[] = {"source", "hold_seconds", NULL};
    struct import *import = memory_zeroed(sizeof *import);
    uint64_t hold = 0;
    struct input input;

    if (!import || !body_lines_begin(&import->answer.lines, body, blob)) {
        memory_free(import, sizeof *import);
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    import->source_len = read_source(&input, true, import->source);
    if (input_query_number(&input, "hold_seconds", 1, HOLD_MOST, &hold) &&
        import->source_len == 0) {
        input_blame(&input, 400, "hold_seconds requires source");
    }
    if (!input_good(&input)) {
        enum http1_next next = input_refuse(&input);

        import_forget(import);
        return next;
    }
    import->hold_for = nsec_from_seconds((uint32_t)hold);
    return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON}, &maker,
                      import);
}

//
// The end of an import of a source
//

// A walk over the memos of a source: what is remembered is told, or forgotten.
struct import_end {
    char source[IMPORT_SOURCE_MAX + 1];
    size_t source_len;
    uint64_t cursor;
    uint64_t count;
    enum status stopped; // why not all of it was forgotten
    bool forgets;
    bool begun, wrote;
};

// A job that was held back is ready now, at the place that it was given when it came.
static enum status begin_held(struct http1_conn *conn, const struct source_memo *memo)
{
    const struct act act = {.kind = ACT_RELEASE};
    struct broker *broker = admin_broker(conn);
    const struct job *job = memo->held ? broker_find(broker, memo->id) : NULL;
    struct job_image image;
    enum status status = STATUS_OK;

    if (job) {
        job_describe(broker, job, &image);
        if (image.now.state == JOB_DELAYED && job_contents(&image) == memo->contents &&
            job_version(&image) == memo->version) {
            status = broker_act(broker, NULL, memo->id, &act);
            change_hold(conn);
        }
    }
    return status;
}

static void end_memo(struct http1_conn *conn, struct import_end *end, struct source_memo *memo)
{
    struct broker *broker = admin_broker(conn);
    char version[JOB_VERSION_SIZE];
    char started[JOB_VERSION_SIZE];

    if (end->forgets) {
        end->stopped = begin_held(conn, memo);
        if (end->stopped == STATUS_OK) {
            end->stopped =
                source_memo_drop(broker, slice_of(end->source, end->source_len), memo->from);
            change_hold(conn);
            end->count += end->stopped == STATUS_OK;
        }
        return;
    }
    if (!memo->done && was_brought_in(broker, memo)) {
        note_versions(broker, memo);
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

static void write_ended(struct http1_conn *conn, const struct import_end *end)
{
    char text[128];
    const char *stopped = end->stopped == STATUS_OK ? NULL : status_text(end->stopped);

    admin_put(conn, slice_of(text, (size_t)snprintf(
                                       text, sizeof text, "],\"count\":%llu,\"stopped\":%s%s%s}\n",
                                       (unsigned long long)end->count, stopped ? "\"" : "",
                                       stopped ? stopped : "null", stopped ? "\"" : "")));
}

static enum http1_progress end_make(struct http1_conn *conn, void *making)
{
    struct import_end *end = making;
    unsigned budget = MEMOS_AT_ONCE;
    struct source_memo memo;

    if (!end->begun) {
        end->begun = true;
        admin_put(conn, SLICE("{\"jobs\":["));
    }
    while (end->stopped == STATUS_OK &&
           source_memo_next(admin_broker(conn), slice_of(end->source, end->source_len),
                            &end->cursor, &budget, &memo)) {
        end_memo(conn, end, &memo);
    }
    if (end->stopped == STATUS_OK && budget == 0) {
        return HTTP1_WROTE;
    }
    write_ended(conn, end);
    return HTTP1_ENDED;
}

static void end_forget(void *making)
{
    memory_free(making, sizeof(struct import_end));
}

static size_t end_holds(const void *making)
{
    (void)making;
    return sizeof(struct import_end);
}

static const struct admin_maker end_maker = {
    .make = end_make,
    .forget = end_forget,
    .holds = end_holds,
};

static enum http1_next answer_end_of(struct http1_conn *conn, bool forgets)
{
    static const char *const names[] = {"source", NULL};
    struct import_end *end = memory_zeroed(sizeof *end);
    enum status status = STATUS_OK;
    struct input input;

    if (!end) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    end->forgets = forgets;
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    end->source_len = read_source(&input, false, end->source);
    if (!input_good(&input)) {
        end_forget(end);
        return input_refuse(&input);
    }
    if (!forgets) {
        status = import_source_seal(admin_broker(conn), slice_of(end->source, end->source_len));
        change_hold(conn);
    }
    if (status != STATUS_OK) {
        end_forget(end);
        return admin_refuse_status(conn, status);
    }
    return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON}, &end_maker,
                      end);
}

static enum http1_next answer_import_end(struct http1_conn *conn, struct slice body,
                                         struct blob *blob)
{
    (void)body;
    (void)blob;
    return answer_end_of(conn, false);
}

static enum http1_next answer_import_forget(struct http1_conn *conn, struct slice body,
                                            struct blob *blob)
{
    (void)body;
    (void)blob;
    return answer_end_of(conn, true);
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
     .answer = answer_import_forget},
    {.path = "/api/v1/import/end",
     .method = HTTP1_POST,
     .right = MAY_SUBMIT,
     .answer = answer_import_end},
    {.path = NULL},
};
