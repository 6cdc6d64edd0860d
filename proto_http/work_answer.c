/* SPDX-License-Identifier: MIT */
#include "proto_http/work_answer.h"

#include "core/base/digits.h"
#include "core/base/memory.h"
#include "http1/http1_answer.h"
#include "http1/reply.h"
#include "proto_common/field_name.h"
#include "json/json_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lease_description {
    struct job_info info;
    uint64_t attempt;
    int64_t deadline_ms; // Unix time
    size_t handle_len;
    char handle[HANDLE_MAX];
    char token[LEASE_TOKEN_TEXT];
};

static int64_t deadline_of(const struct broker *broker, const struct job_info *info)
{
    return nsec_add(broker_now(broker).wall, info->remaining_for) / NSEC_PER_MSEC;
}

static void read_lease(const struct web_shared *shared, const struct web_lease *lease,
                       struct lease_description *description)
{
    const struct broker *broker = shared->http1.broker;

    broker_job_info(broker, broker_find(broker, lease->job_id), &description->info);
    description->attempt = (uint64_t)description->info.attempts + 1;
    description->deadline_ms = deadline_of(broker, &description->info);
    description->handle_len =
        (size_t)(handle_write(&shared->handles, lease->job_id, description->handle) -
                 description->handle);
    lease_token_write(&lease->token, description->token);
}

static char *put_text(char *to, struct slice text)
{
    memcpy(to, text.ptr, text.len);
    return to + text.len;
}

static char *put_name_header(char *to, struct slice header, struct slice name)
{
    return put_text(field_name_write(name, put_text(to, header)), SLICE("\r\n"));
}

static char *put_number_header(char *to, struct slice header, uint64_t number)
{
    return put_text(digits_write(put_text(to, header), number), SLICE("\r\n"));
}

size_t lease_headers_write(const struct web_shared *shared, const struct web_lease *lease, char *to)
{
    struct lease_description description;
    char *at = to;

    read_lease(shared, lease, &description);
    at = put_text(at, SLICE("X-Gearman-Job-Handle: "));
    at =
        put_text(put_text(at, slice_of(description.handle, description.handle_len)), SLICE("\r\n"));
    if (description.info.key_kind == KEY_NAME) {
        at = put_name_header(at, SLICE("X-Gearman-Unique: "), description.info.key);
    }
    at = put_name_header(at, SLICE("X-Tandem-Queue: "), queue_name(description.info.queue));
    at = put_number_header(at, SLICE("X-Tandem-Attempt: "), description.attempt);
    at = put_number_header(at, SLICE("X-Tandem-Deadline: "), (uint64_t)description.deadline_ms);
    at = put_text(at, SLICE("X-Tandem-Lease: "));
    at = put_text(put_text(at, slice_of(description.token, sizeof description.token)),
                  SLICE("\r\n"));
    return (size_t)(at - to);
}

void lease_deadline_write(const struct web_shared *shared, const struct web_lease *lease, char *to)
{
    const struct broker *broker = shared->http1.broker;
    struct job_info info;

    broker_job_info(broker, broker_find(broker, lease->job_id), &info);
    (void)snprintf(to, LEASE_DEADLINE_ROOM, "X-Tandem-Deadline: %lld\r\n",
                   (long long)deadline_of(broker, &info));
}

json_t *lease_describe(const struct web_shared *shared, const struct web_lease *lease)
{
    struct lease_description description;
    json_t *object;

    read_lease(shared, lease, &description);
    object =
        json_pack("{s:s%, s:s%, s:o, s:I, s:I}", "lease", description.token,
                  sizeof description.token, "handle", description.handle, description.handle_len,
                  "queue", web_name_json(queue_name(description.info.queue)), "attempt",
                  (json_int_t)description.attempt, "deadline", (json_int_t)description.deadline_ms);
    if (object && description.info.key_kind == KEY_NAME &&
        json_object_set_new(object, "unique", web_name_json(description.info.key)) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

//
// JSON
//

struct batch_item {
    char *object;      // owned: the object without its closing brace; NULL once it is written
    struct blob *body; // a reference
};

struct web_batch {
    uint32_t count, next;
    size_t bytes; // of bodies
    bool chunked;
    struct json_body body; // of `next`
    struct batch_item items[];
};

static size_t batch_size(uint32_t count)
{
    return sizeof(struct web_batch) + count * sizeof(struct batch_item);
}

// A reference to the body, owned by the caller: the job may end before the body is written.
static struct blob *body_ref(const struct job *job)
{
    return job_blob(job) ? blob_ref(job_blob(job)) : blob_copy(job_body(job));
}

static bool batch_add(struct http1_conn *conn, const struct web_lease *lease,
                      struct web_batch *batch)
{
    struct batch_item *item = &batch->items[batch->count];
    json_t *object = lease_describe(web_shared(conn), lease);

    item->object = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    item->body = body_ref(broker_find(conn->shared->broker, lease->job_id));
    batch->count++;
    batch->bytes += item->body ? item->body->len : 0;
    return item->object && item->body;
}

_Static_assert(HTTP1_ANSWER_MAX + WEB_BATCH_MAX * OUTPUT_DELIVERY <= OUTPUT_CHUNK,
               "the head of an answer follows the marks of all of its jobs");

// Delays the answer until the store has all its jobs, and marks it as their delivery.
static void hold_delivery(struct http1_conn *conn, struct web_holder *holder)
{
    const struct broker *broker = conn->shared->broker;
    size_t len = HTTP1_ANSWER_MAX + holder->count * OUTPUT_DELIVERY;
    uint64_t last = 0;

    for (uint32_t i = 0; i < holder->count; i++) {
        uint64_t position = broker_job_position(broker, broker_find(broker, holder->all[i].job_id));

        last = position > last ? position : last;
    }
    holder->held_until = last;
    wire_hold(conn->wire, last);
    // Each job is marked, so that any of them that is still held identifies the holder even if the
    // first lease has expired.
    for (uint32_t i = 0; i < holder->count; i++) {
        len -= OUTPUT_DELIVERY;
        (void)output_deliver(&conn->wire->out, len, holder->all[i].job_id);
    }
}

static void batch_begin_item(struct web_batch *batch)
{
    if (batch->next < batch->count) {
        struct batch_item *item = &batch->items[batch->next];

        json_body_begin(&batch->body, item->body, SIZE_MAX);
        item->body = NULL;
    }
}

enum status web_batch_begin(struct http1_conn *conn, struct web_holder *holder,
                            struct web_batch **begun)
{
    const struct http1_reply reply = {
        .status = 200, .type = HTTP1_JSON, .extra = "Cache-Control: no-store\r\n"};
    struct web_batch *batch = memory_zeroed_of(MEMORY_OUTPUT, batch_size(holder->count));
    bool good = batch;

    for (uint32_t i = 0; good && i < holder->count; i++) {
        good = batch_add(conn, &holder->all[i], batch);
    }
    if (!good) {
        web_batch_free(batch);
        return STATUS_NO_MEMORY;
    }
    hold_delivery(conn, holder);
    batch->chunked = http1_reply_open(conn, &reply);
    batch_begin_item(batch);
    *begun = batch;
    return STATUS_OK;
}

static void batch_put(struct http1_conn *conn, const struct web_batch *batch, struct slice text)
{
    http1_piece(&conn->wire->out, batch->chunked, &text, 1);
}

static void batch_put_object(struct http1_conn *conn, struct web_batch *batch)
{
    struct batch_item *item = &batch->items[batch->next];

    if (item->object) {
        // The body follows, then the closing brace.
        struct slice parts[] = {
            batch->next == 0 ? SLICE("{\"jobs\":[") : SLICE(","),
            slice_of(item->object, strlen(item->object) - 1),
            SLICE(",\"body\":"),
        };

        http1_piece(&conn->wire->out, batch->chunked, parts, sizeof parts / sizeof *parts);
        free(item->object);
        item->object = NULL;
    }
}

enum http1_progress web_batch_step(struct http1_conn *conn, struct web_batch *batch,
                                   struct feed_turn *turn)
{
    char text[JSON_BODY_ROOM];
    bool ended;
    size_t len;

    if (!http1_slice_begins(conn, turn)) {
        return HTTP1_AGAIN;
    }
    if (!json_body_check(&batch->body)) {
        return HTTP1_WROTE;
    }
    batch_put_object(conn, batch);
    len = json_body_write(&batch->body, text, &ended);
    batch_put(conn, batch, slice_of(text, len));
    if (ended) {
        json_body_end(&batch->body);
        batch->next++;
        batch_put(conn, batch, batch->next < batch->count ? SLICE("}") : SLICE("}]}\n"));
        batch_begin_item(batch);
    }
    if (batch->next < batch->count) {
        return HTTP1_WROTE;
    }
    http1_pieces_end(&conn->wire->out, batch->chunked);
    return HTTP1_ENDED;
}

size_t web_batch_holds(const struct web_batch *batch)
{
    return batch ? batch_size(batch->count) + batch->bytes : 0;
}

void web_batch_free(struct web_batch *batch)
{
    if (!batch) {
        return;
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        free(batch->items[i].object);
        blob_unref(batch->items[i].body);
    }
    json_body_end(&batch->body);
    memory_free_of(MEMORY_OUTPUT, batch, batch_size(batch->count));
}

//
// multipart/mixed
//

// The boundary is random: the chance that a body contains it is about one in 2^128.
#define TYPE_ROOM (sizeof "multipart/mixed; boundary=" + LEASE_TOKEN_TEXT)

static void put_part(struct http1_conn *conn, struct output *parts, const char *boundary,
                     const struct web_lease *lease)
{
    const struct job *job = broker_find(conn->shared->broker, lease->job_id);
    char headers[LEASE_HEADERS_ROOM];
    char begin[LEASE_TOKEN_TEXT + 128];
    int len = snprintf(begin, sizeof begin,
                       "--%s\r\nContent-Type: " HTTP1_BYTES "\r\nContent-Length: %zu\r\n", boundary,
                       job_body(job).len);

    output_write(parts, slice_of(begin, (size_t)len));
    output_write(parts, slice_of(headers, lease_headers_write(web_shared(conn), lease, headers)));
    output_write(parts, SLICE("\r\n"));
    output_body(parts, job_body(job), job_blob(job));
    output_write(parts, SLICE("\r\n"));
}

enum status web_batch_multipart(struct http1_conn *conn, struct web_holder *holder)
{
    char type[TYPE_ROOM];
    const struct http1_reply reply = {
        .status = 200, .type = type, .extra = "Cache-Control: no-store\r\n"};
    char boundary[LEASE_TOKEN_TEXT + 1] = {0};
    struct lease_token token;
    struct output parts;
    bool good;

    if (!lease_tokens_make(&web_shared(conn)->leases.tokens, &token)) {
        return STATUS_NO_MEMORY;
    }
    lease_token_write(&token, boundary);
    output_init(&parts, conn->wire->out.pool);
    for (uint32_t i = 0; i < holder->count; i++) {
        put_part(conn, &parts, boundary, &holder->all[i]);
    }
    output_write(&parts, SLICE("--"));
    output_write(&parts, slice_of(boundary, LEASE_TOKEN_TEXT));
    output_write(&parts, SLICE("--\r\n"));
    good = !output_failed(&parts);
    if (good) {
        hold_delivery(conn, holder);
        (void)snprintf(type, sizeof type, "multipart/mixed; boundary=%s", boundary);
        http1_reply_head(conn, &reply, output_pending(&parts));
        output_append(&conn->wire->out, &parts);
    }
    output_clear(&parts);
    return good ? STATUS_OK : STATUS_NO_MEMORY;
}
