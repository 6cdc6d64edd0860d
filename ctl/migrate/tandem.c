/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/tandem.h"

#include "core/record.h"
#include "core/submit.h"
#include "core/types.h"
#include "ctl/api/call.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/state.h"
#include "ctl/migrate/tubes.h"
#include "ctl/print/text.h"
#include "ctl/print/need.h"
#include "transfer/job_line.h"
#include "transfer/job_version.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// The time for which copies of ready jobs are held back, in seconds.
#define HOLD_SECONDS 30
#define LIST_PAGE 20000
#define LIST_LINE_MOST ((size_t)4096)

//
// Exports, which arrive in pieces
//

struct stream {
    struct migration *migration;
    struct text line; // incomplete
    size_t line_most;
    bool (*take)(struct stream *stream, struct slice line);
    struct listing *listing; // for a list
    struct text next;        // cursor; empty: none
    bool ended, bad;
};

static bool tandem_stream_fail(struct stream *stream, const char *what)
{
    stream->bad = true;
    (void)problem_set(stream->migration->problem, OUTCOME_FAILED, "%s has sent %s",
                      stream->migration->from_name, what);
    return false;
}

static bool tandem_take_end(struct stream *stream, struct slice line)
{
    json_t *end = json_loadb(line.ptr, line.len, 0, NULL);

    text_cut(&stream->next, 0);
    text_add(&stream->next, field_text(end, "next"));
    stream->ended = json_object_get(end, "next") != NULL;
    json_decref(end);
    return stream->ended || tandem_stream_fail(stream, "a line that does not belong to an export");
}

static bool tandem_take_bytes(void *context, struct slice bytes)
{
    struct stream *stream = context;

    while (bytes.len > 0) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t len = end ? (size_t)(end - bytes.ptr) + 1 : bytes.len;
        struct slice line;

        if (stream->line.len + len > stream->line_most) {
            return tandem_stream_fail(stream, "a line that is longer than any job");
        }
        text_add(&stream->line, slice_of(bytes.ptr, len));
        bytes = slice_from(bytes, len);
        if (!end) {
            return true;
        }
        line = slice_of(stream->line.data, stream->line.len - 1);
        if (line.len >= 8 && memcmp(line.ptr, "{\"next\":", 8) == 0) {
            if (!tandem_take_end(stream, line)) {
                return false;
            }
        } else if (!stream->take(stream, line)) {
            return false;
        }
        text_cut(&stream->line, 0);
    }
    return true;
}

static bool tandem_run_stream(struct stream *stream, const char *method, const char *path,
                              const char *body)
{
    struct migration *migration = stream->migration;
    struct client *client = migration->source_api;
    struct request request = {.method = method,
                              .path = path,
                              .body = body,
                              .accept = "*/*",
                              .take = tandem_take_bytes,
                              .context = stream};
    struct answer answer = {0};
    enum outcome outcome;

    stream->ended = false;
    text_cut(&stream->line, 0);
    outcome = client_send(client, &request, &answer, migration->problem);
    if (outcome == OUTCOME_DONE && (answer.status < 200 || answer.status >= 300)) {
        outcome = call_refused(client, &answer, migration->problem);
    }
    if (outcome == OUTCOME_DONE && !stream->bad && !stream->ended) {
        outcome = problem_set(migration->problem, OUTCOME_FAILED, "the reply of %s is incomplete",
                              migration->from_name);
    }
    answer_free(&answer);
    return outcome == OUTCOME_DONE && !stream->bad;
}

//
// Lists of jobs
//

bool tandem_identify(struct client *client, char id[SERVER_ID_MAX + 1], struct problem *problem)
{
    struct reply reply = {0};
    bool good = call(client, "GET", "/api/v1/process", NULL, &reply, problem) == OUTCOME_DONE;
    struct slice host = field_text(reply.json, "host");

    if (good) {
        (void)snprintf(id, SERVER_ID_MAX + 1, "%.20s-%llu-%.3f", host.len > 0 ? host.ptr : "",
                       (unsigned long long)field_count(reply.json, "pid"),
                       field_number(reply.json, "started_at"));
    }
    reply_free(&reply);
    return good;
}

static char tandem_state_letter(const json_t *line)
{
    struct slice state = field_text(line, "state");

    if (state.len == 0) {
        return '?';
    }
    if (field_true(line, "held")) {
        return 'h';
    }
    return *state.ptr;
}

static bool tandem_take_listed(struct stream *stream, struct slice line)
{
    struct listing *listing = stream->listing;
    json_t *json = json_loadb(line.ptr, line.len, 0, NULL);
    const struct listed job = {.id = field_count(json, "id"),
                               .burial = field_count(json, "burial"),
                               .size = field_count(json, "size"),
                               .state = tandem_state_letter(json),
                               .durable = field_true(json, "durable")};

    json_decref(json);
    if (job.id == 0 || !strchr("rdbh", job.state)) {
        return tandem_stream_fail(stream,
                                  "a line without a job: is its version that of this tandemctl?");
    }
    if (listing->count == listing->capacity) {
        listing->capacity = listing->capacity ? listing->capacity * 2 : 1024;
        listing->jobs = need(reallocarray(listing->jobs, listing->capacity, sizeof *listing->jobs));
    }
    listing->jobs[listing->count++] = job;
    return true;
}

// By id; buried jobs come last, in the order of their burials.
static int tandem_compare_listed(const void *a, const void *b)
{
    const struct listed *one = a;
    const struct listed *other = b;
    uint64_t first = one->state == 'b' ? one->burial : one->id;
    uint64_t second = other->state == 'b' ? other->burial : other->id;

    if ((one->state == 'b') != (other->state == 'b')) {
        return one->state == 'b' ? 1 : -1;
    }
    return first < second ? -1 : first > second;
}

bool tandem_list(struct migration *migration, struct listing *listing)
{
    struct stream stream = {.migration = migration,
                            .line_most = LIST_LINE_MOST,
                            .take = tandem_take_listed,
                            .listing = listing};
    bool good = true;

    listing->count = 0;
    do {
        struct text path = {0};

        text_put(&path, "/api/v1/export");
        path_add_text(&path, "what", "versions");
        path_add_text(&path, "queue", migration->settings->tubes);
        path_add_number(&path, "limit", LIST_PAGE);
        path_add_text(&path, "cursor", stream.next.len ? text_string(&stream.next) : NULL);
        good = tandem_run_stream(&stream, "GET", text_string(&path), NULL);
        text_free(&path);
    } while (good && stream.next.len > 0);
    text_free(&stream.line);
    text_free(&stream.next);
    if (good && listing->count > 0) {
        qsort(listing->jobs, listing->count, sizeof *listing->jobs, tandem_compare_listed);
    }
    return good;
}

void listing_free(struct listing *listing)
{
    free(listing->jobs);
    *listing = (struct listing){0};
}

static bool tandem_take_fetched(struct stream *stream, struct slice line)
{
    struct job_batch *batch = &stream->migration->batch;
    json_t *json = json_loadb(line.ptr, line.len, JSON_ALLOW_NUL, NULL);
    uint64_t id = field_count(json, "id");
    uint64_t version = 0;
    bool good = id > 0 && job_version_read(field_text(json, "version"), &version);
    char letter = tandem_state_letter(json);

    if (good && letter != 'h') {
        struct item *item = job_batch_add(batch, id, (enum kind)letter);

        item->hash = version;
        job_batch_set_body(batch, item, line);
    }
    json_decref(json);
    return good || tandem_stream_fail(stream, "a line that is not a job");
}

bool tandem_fetch(struct migration *migration, const uint64_t *ids, size_t count)
{
    struct stream stream = {
        .migration = migration, .line_most = SIZE_MAX / 2, .take = tandem_take_fetched};
    struct text body = {0};
    bool good;

    for (size_t i = 0; i < count; i++) {
        text_format(&body, "%llu\n", (unsigned long long)ids[i]);
    }
    good = tandem_run_stream(&stream, "POST", "/api/v1/export", text_string(&body));
    text_free(&body);
    text_free(&stream.line);
    text_free(&stream.next);
    return good;
}

bool tandem_open_line(struct migration *migration, struct item *item)
{
    struct slice line = job_batch_body(&migration->batch, item);
    struct tube *tube;
    struct job_line read;
    nsec_t now_at = nsec_from_seconds((uint64_t)time(NULL));
    bool good = job_line_read(line, now_at, &read) == JOB_LINE_JOB && is_tube(read.image.queue);

    if (good) {
        const struct job_change *now = &read.image.now;
        nsec_t left = now->state == JOB_DELAYED && now->due_at > now_at ? now->due_at - now_at : 0;
        uint64_t seconds = (uint64_t)((left + NSEC_PER_SEC - 1) / NSEC_PER_SEC);

        item->priority = now->pri;
        item->ttr = read.image.ttr;
        // Rounded up: no job starts early.
        item->delay = seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX;
        tube = tubes_make(migration->tubes, read.image.queue);
        item->tube = (size_t)(tube - migration->tubes->list);
        migration->counts.keys += read.image.key.len > 0;
        job_batch_set_body(&migration->batch, item, read.image.body);
    }
    job_line_end(&read);
    return good;
}

//
// Requests of lines, whose reply has an outcome for each line
//

struct lines_request {
    struct client *client;
    const char *path;
    // Takes the outcome of the item with that index.
    void (*hear)(struct migration *migration, size_t index, const json_t *said);
    const size_t *items; // the index of the item, for each line
    struct text *lines;
};

static bool tandem_send_part(struct migration *migration, const struct lines_request *sending,
                             size_t first, size_t count, bool *refused);

// Splits a request that is larger than the server accepts.
static bool tandem_send_halves(struct migration *migration, const struct lines_request *sending,
                               size_t first, size_t count, bool *refused)
{
    size_t half = count / 2;

    if (count == 1) {
        json_t *said = json_pack("{s:i, s:s}", "status", 413, "error", "admin.max_body");

        sending->hear(migration, sending->items[first], need(said));
        json_decref(said);
        return true;
    }
    return tandem_send_part(migration, sending, first, half, refused) &&
           (*refused || tandem_send_part(migration, sending, first + half, count - half, refused));
}

static bool tandem_read_outcomes(struct migration *migration, const struct lines_request *sending,
                                 size_t first, size_t count, const json_t *answer, bool *refused)
{
    const json_t *said;
    size_t i;

    json_array_foreach(field_get(answer, "lines"), i, said)
    {
        uint64_t line = field_count(said, "line");

        if (line >= 1 && line <= count) {
            sending->hear(migration, sending->items[first + line - 1], said);
        }
    }
    if (field_is_set(answer, "stopped")) {
        struct text why = {0};

        text_add_escaped(&why, field_text(answer, "stopped.error"), false);
        (void)problem_set(migration->problem, OUTCOME_NOT_NOW,
                          "%s accepts no more jobs for now: %s", client_address(sending->client),
                          text_string(&why));
        text_free(&why);
        *refused = true;
    }
    return field_is_set(answer, "counts") ||
           (problem_set(migration->problem, OUTCOME_FAILED, "the reply of %s is incomplete",
                        client_address(sending->client)),
            false);
}

static bool tandem_send_part(struct migration *migration, const struct lines_request *sending,
                             size_t first, size_t count, bool *refused)
{
    struct text body = {0};
    struct request request = {.method = "POST", .path = sending->path};
    struct answer answer = {0};
    enum outcome outcome;
    bool good;

    for (size_t i = first; i < first + count; i++) {
        text_add(&body, text_slice(&sending->lines[i]));
        text_put_char(&body, '\n');
    }
    request.body = text_string(&body);
    outcome = client_send(sending->client, &request, &answer, migration->problem);
    text_free(&body);
    if (outcome != OUTCOME_DONE) {
        good = false;
    } else if (answer.status == 413) {
        good = tandem_send_halves(migration, sending, first, count, refused);
    } else if (answer.status < 200 || answer.status >= 300) {
        (void)call_refused(sending->client, &answer, migration->problem);
        good = false;
    } else {
        json_t *json = json_loadb(text_string(&answer.body), answer.body.len, 0, NULL);

        good = tandem_read_outcomes(migration, sending, first, count, json, refused);
        json_decref(json);
    }
    answer_free(&answer);
    return good;
}

// The lines for some items of the batch.
struct request_lines {
    struct text *lines;
    size_t *items;
    size_t count;
};

static void request_lines_begin(struct request_lines *lines, const struct job_batch *batch)
{
    lines->lines = need(calloc(batch->count + 1, sizeof *lines->lines));
    lines->items = need(calloc(batch->count + 1, sizeof *lines->items));
    lines->count = 0;
}

static struct text *request_lines_add(struct request_lines *lines, size_t item)
{
    lines->items[lines->count] = item;
    return &lines->lines[lines->count++];
}

static bool request_lines_send(struct migration *migration, struct request_lines *lines,
                               struct client *client, const char *path,
                               void (*hear)(struct migration *migration, size_t index,
                                            const json_t *said),
                               bool *refused)
{
    const struct lines_request sending = {
        .client = client, .path = path, .hear = hear, .items = lines->items, .lines = lines->lines};
    bool good =
        lines->count == 0 || tandem_send_part(migration, &sending, 0, lines->count, refused);

    for (size_t i = 0; i < lines->count; i++) {
        text_free(&lines->lines[i]);
    }
    free(lines->lines);
    free(lines->items);
    return good;
}

//
// Deleting
//

static void tandem_add_deletion(struct text *line, uint64_t id, uint64_t version)
{
    char text[JOB_VERSION_SIZE];

    job_version_write(version, text);
    text_format(line, "{\"id\":%llu,\"version\":\"%s\"}", (unsigned long long)id, text);
}

static void tandem_read_deletion(struct migration *migration, size_t index, const json_t *said)
{
    struct item *item = &migration->batch.items[index];
    struct slice outcome = field_text(said, "outcome");

    item->gone = !slice_equal(outcome, SLICE("deleted"));
    item->missing = slice_equal(outcome, SLICE("missing"));
}

bool tandem_delete(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;
    struct request_lines lines;
    bool refused = false;

    request_lines_begin(&lines, batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        // Without an outcome, the job was not deleted.
        item->gone = item->to != 0;
        item->missing = false;
        if (item->to != 0) {
            tandem_add_deletion(request_lines_add(&lines, i), item->from, item->hash);
        }
    }
    return request_lines_send(migration, &lines, migration->source_api, "/api/v1/delete",
                              tandem_read_deletion, &refused) &&
           !refused;
}

static void tandem_read_taken_back(struct migration *migration, size_t index, const json_t *said)
{
    struct item *item = &migration->batch.items[index];

    item->back = item->back || slice_equal(field_text(said, "outcome"), SLICE("deleted"));
}

static bool tandem_take_back_as(struct migration *migration, bool started)
{
    struct job_batch *batch = &migration->batch;
    struct request_lines lines;
    bool refused = false;

    request_lines_begin(&lines, batch);
    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        if (item->gone && item->to != 0 && !item->back && !item->joined) {
            tandem_add_deletion(request_lines_add(&lines, i), item->to,
                                started ? item->to_started : item->to_version);
        }
    }
    return request_lines_send(migration, &lines, migration->target_api, "/api/v1/delete",
                              tandem_read_taken_back, &refused) &&
           !refused;
}

// A copy that was held back may have become ready by itself meanwhile, which is its other version.
bool tandem_take_back(struct migration *migration)
{
    return tandem_take_back_as(migration, false) && tandem_take_back_as(migration, true);
}

//
// Importing
//

static void tandem_write_line(const struct migration *migration, const struct item *item,
                              struct text *line)
{
    struct slice body = job_batch_body(&migration->batch, item);
    const char *tube = migration->tubes->list[item->tube].name;
    uint64_t now = (uint64_t)time(NULL);
    struct job_image image = {
        .queue = slice_str(tube),
        .body = body,
        .ttr = item->ttr,
        .on_fail = ON_FAIL_BURY,
        .on_loss = ON_LOSS_FRONT,
        .created_ms = (item->put_by < now ? item->put_by : now) * 1000,
        .now = {.id = item->from, .pri = item->priority, .delay = item->delay},
    };
    char *text;

    image.now.state = item->kind == KIND_BURIED    ? JOB_BURIED
                      : item->kind == KIND_DELAYED ? JOB_DELAYED
                                                   : JOB_READY;
    image.now.due_at = nsec_from_seconds(now + item->delay);
    text = need(job_line_write(&image));
    text_put(line, text);
    free(text);
}

static bool tandem_status_is_temporary(uint64_t status)
{
    return status == 409 || status == 429 || status == 503 || status == 507 || status == 403;
}

static void tandem_read_import(struct migration *migration, size_t index, const json_t *said)
{
    struct item *item = &migration->batch.items[index];

    if (!field_is_set(said, "error")) {
        item->to = field_count(said, "id");
        item->joined = field_true(said, "joined");
        (void)job_version_read(field_text(said, "version"), &item->to_version);
        (void)job_version_read(field_text(said, "started"), &item->to_started);
        return;
    }
    if (tandem_status_is_temporary(field_count(said, "status"))) {
        struct text why = {0};

        text_add_escaped(&why, field_text(said, "error"), false);
        (void)problem_set(migration->problem, OUTCOME_NOT_NOW, "%s refuses job %llu of %s: %s",
                          migration->to_name, (unsigned long long)item->from, migration->from_name,
                          text_string(&why));
        text_free(&why);
        migration->refused = true;
        return;
    }
    item->left = true;
    migration->unmoved_held += !migration->source_api && item->kind == KIND_READY;
    unmoved_note(migration, item->from,
                 field_count(said, "status") == 413 ? UNMOVED_LARGE : UNMOVED_REFUSED, item->kind);
}

bool tandem_import(struct migration *migration, bool *refused)
{
    struct job_batch *batch = &migration->batch;
    struct text path = {0};
    struct request_lines lines;
    bool good;

    *refused = false;
    migration->refused = false;
    text_put(&path, "/api/v1/import");
    path_add_text(&path, "source", state_batch(migration->state));
    if (migration->source_api) {
        path_add_number(&path, "hold_seconds", HOLD_SECONDS);
    }
    request_lines_begin(&lines, batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct text *line = request_lines_add(&lines, i);

        if (migration->source_api) {
            text_add(line, job_batch_body(batch, &batch->items[i]));
        } else {
            tandem_write_line(migration, &batch->items[i], line);
        }
    }
    good = request_lines_send(migration, &lines, migration->target_api, text_string(&path),
                              tandem_read_import, refused);
    text_free(&path);
    *refused = *refused || migration->refused;
    return good;
}

// Sends a request about the whole batch.
static bool tandem_call_for_batch(struct migration *migration, const char *method, const char *what,
                                  struct reply *reply)
{
    struct text path = {0};
    bool good;

    text_put(&path, what);
    path_add_text(&path, "source", state_batch(migration->state));
    good = call(migration->target_api, method, text_string(&path), NULL, reply,
                migration->problem) == OUTCOME_DONE;
    text_free(&path);
    if (good && field_is_set(reply->json, "stopped")) {
        (void)problem_set(migration->problem, OUTCOME_NOT_NOW, "%s has no room to continue",
                          migration->to_name);
        good = false;
    }
    return good;
}

bool tandem_confirm(struct migration *migration)
{
    struct reply reply = {0};
    bool good = tandem_call_for_batch(migration, "DELETE", "/api/v1/import", &reply);

    reply_free(&reply);
    return good;
}

bool tandem_end_import(struct migration *migration, struct job_batch *unfinished)
{
    struct reply reply = {0};
    bool good = tandem_call_for_batch(migration, "POST", "/api/v1/import/end", &reply);
    const json_t *said;
    size_t i;

    for (size_t at = 0; at < unfinished->count; at++) {
        unfinished->items[at].to = 0;
    }
    json_array_foreach(good ? field_get(reply.json, "jobs") : NULL, i, said)
    {
        uint64_t from = field_count(said, "source_id");

        for (size_t at = 0; at < unfinished->count; at++) {
            struct item *item = &unfinished->items[at];

            if (item->from == from) {
                item->to = field_count(said, "id");
                item->joined = field_true(said, "joined");
                (void)job_version_read(field_text(said, "version"), &item->to_version);
                (void)job_version_read(field_text(said, "started"), &item->to_started);
            }
        }
    }
    reply_free(&reply);
    return good;
}
