/* SPDX-License-Identifier: MIT */
#include "proto_http/once.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/memo.h"
#include "http1/caller.h"

#include "proto_http/submission.h"
#include "proto_http/web_answer.h"
#include "proto_http/web_request.h"

#include <arpa/inet.h>
#include <openssl/sha.h>
#include <string.h>

_Static_assert(ONCE_PRINT_SIZE == SHA256_DIGEST_LENGTH, "prints are of SHA-256");

#define KEY_LEN_MAX 255
// Bytes of a body that are digested in one slice.
#define LOOKED_AT_ONCE ((size_t)256 * 1024)
// After a restart, ids continue after the last block: the last job may be this far back.
#define MEND_IDS UINT64_C(131072)

//
// The head
//

// Answers an error and ends the request; always false.
static bool refuse_key(struct http1_conn *conn, const char *why)
{
    web_refuse_error(conn, 400, why);
    return false;
}

// The credentials that the request's key belongs to; empty, for all callers, without a token.
static struct slice owner_of(const struct http1_conn *conn, const struct http1_fields *fields)
{
    struct slice value = fields->values[HTTP1_FIELD_AUTHORIZATION];
    size_t len = 0;

    if (!http1_caller_has_rules(conn) || !http1_has(fields, HTTP1_FIELD_AUTHORIZATION)) {
        return SLICE("");
    }
    // The credentials follow the scheme.
    while (len < value.len && value.ptr[value.len - len - 1] != ' ') {
        len++;
    }
    return slice_from(value, value.len - len);
}

// Identifies the caller: by a valid token, otherwise by address. Of an IPv6 address, only the
// network half counts, because a host chooses the rest freely.
static struct slice caller_of(const struct http1_conn *conn, const struct http1_fields *fields,
                              char room[WIRE_PEER_MAX])
{
    struct slice owner = owner_of(conn, fields);
    struct in6_addr v6;

    if (owner.len > 0) {
        return owner;
    }
    wire_peer(conn->wire, room);
    if (inet_pton(AF_INET6, room, &v6) == 1) {
        memcpy(room, &v6, sizeof v6 / 2);
        return slice_of(room, sizeof v6 / 2);
    }
    return slice_str(room);
}

// Replaces the digest by that of itself and the digest of `bytes`.
static bool add_print(unsigned char *print, struct slice bytes)
{
    unsigned char both[2 * ONCE_PRINT_SIZE];

    memcpy(both, print, ONCE_PRINT_SIZE);
    return SHA256((const unsigned char *)bytes.ptr, bytes.len, both + ONCE_PRINT_SIZE) &&
           SHA256(both, sizeof both, print);
}

// Names the key and its caller, finds the caller's share of the memory for answers, and begins the
// digest of the request. Digests are the same after a restart.
static bool once_digest_head(const struct http1_conn *conn, const struct http1_fields *fields,
                             struct web_once *once)
{
    const char method = conn->request->method == HTTP1_PUT ? 'P' : 'p';
    struct slice key = fields->values[WEB_FIELD_IDEMPOTENCY_KEY];
    unsigned char print[ONCE_PRINT_SIZE] = {0};
    unsigned char caller_print[ONCE_PRINT_SIZE];
    char room[WIRE_PEER_MAX];
    struct slice caller = caller_of(conn, fields, room);

    if (!SHA256((const unsigned char *)caller.ptr, caller.len, caller_print) ||
        !add_print(print, owner_of(conn, fields)) || !add_print(print, key) ||
        !add_print(once->print, slice_of(&method, 1)) ||
        !add_print(once->print, web_target_name(&web_request(conn)->target))) {
        return false;
    }
    once->share = (uint16_t)((caller_print[0] | caller_print[1] << 8) % MEMO_SHARES);
    memcpy(once->name, ONCE_PREFIX, sizeof ONCE_PREFIX - 1);
    base64url_encode(slice_of((const char *)print, sizeof print),
                     once->name + sizeof ONCE_PREFIX - 1);
    return true;
}

static bool once_begin(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct web_request *request = web_request(conn);
    struct web_once *once = memory_zeroed(sizeof *once);

    request->once = once;
    if (!once || !once_digest_head(conn, fields, once)) {
        web_refuse_memory(conn);
        return false;
    }
    memcpy(request->unique, once->name, ONCE_NAME_LEN);
    request->unique_len = ONCE_NAME_LEN;
    return true;
}

bool web_once_read(struct http1_conn *conn, const struct http1_fields *fields)
{
    size_t len = fields->values[WEB_FIELD_IDEMPOTENCY_KEY].len;

    if (!http1_has(fields, WEB_FIELD_IDEMPOTENCY_KEY)) {
        return true;
    }
    if (web_shared(conn)->options->idempotency_for == 0) {
        return refuse_key(conn, "Idempotency-Key is disabled: http.idempotency_for is 0");
    }
    if (len == 0 || len > KEY_LEN_MAX) {
        return refuse_key(conn, "Idempotency-Key must have 1 to 255 bytes");
    }
    if (conn->request->method == HTTP1_GET) {
        return refuse_key(conn, "Idempotency-Key requires POST or PUT");
    }
    if (!web_request(conn)->background) {
        return refuse_key(conn, "Idempotency-Key requires X-Gearman-Background");
    }
    if (http1_has(fields, WEB_FIELD_UNIQUE)) {
        return refuse_key(conn, "Idempotency-Key and X-Gearman-Unique cannot both be given");
    }
    return once_begin(conn, fields);
}

//
// Memos
//

// Version 1 has no share.
enum { VERSION = 2, AT_KNOWN = 1, AT_ID = 2, AT_PRINT = 10, AT_SHARE = 42, VALUE_SIZE = 44 };

// The share that a memo is charged to.
static unsigned share_of(struct slice value)
{
    return value.len != VALUE_SIZE ? 0
                                   : ((unsigned char)value.ptr[AT_SHARE] |
                                      (unsigned)(unsigned char)value.ptr[AT_SHARE + 1] << 8) %
                                         MEMO_SHARES;
}

enum status web_once_begin(const struct web_shared *shared)
{
    broker_memo_limit(shared->http1.broker, MEMO_ANSWER, shared->options->max_kept_answers);
    return broker_memo_share(shared->http1.broker, MEMO_ANSWER, share_of) ? STATUS_OK
                                                                          : STATUS_NO_MEMORY;
}

// Makes a memo whose value is in `value`. `print` may be NULL if the request is unknown.
static struct memo memo_of(const struct web_shared *shared, struct slice name, uint64_t id,
                           const unsigned char *print, unsigned share, char value[VALUE_SIZE])
{
    memset(value, 0, VALUE_SIZE);
    value[0] = VERSION;
    value[AT_SHARE] = (char)(share & 0xff);
    value[AT_SHARE + 1] = (char)(share >> 8);

    value[AT_KNOWN] = print ? 1 : 0;
    for (int i = 0; i < 8; i++) {
        value[AT_ID + i] = (char)(id >> 8 * i & 0xff);
    }
    if (print) {
        memcpy(value + AT_PRINT, print, ONCE_PRINT_SIZE);
    }
    return (struct memo){.kind = MEMO_ANSWER,
                         .key = name,
                         .value = slice_of(value, VALUE_SIZE),
                         .until_at = nsec_add(broker_now(shared->http1.broker).wall,
                                              shared->options->idempotency_for)};
}

// Reads the id of the job from the memo; false if the memo's format is unknown.
static bool recall(const struct memo *memo, uint64_t *id)
{
    *id = 0;
    if (!(memo->value.len == VALUE_SIZE && memo->value.ptr[0] == VERSION) &&
        !(memo->value.len == AT_SHARE && memo->value.ptr[0] == 1)) {
        return false;
    }
    for (int i = 0; i < 8; i++) {
        *id |= (uint64_t)(unsigned char)memo->value.ptr[AT_ID + i] << 8 * i;
    }
    return true;
}

//
// The request
//

static void refuse_memo(struct http1_conn *conn, const struct memo *memo, enum status status)
{
    if (status == STATUS_NO_MEMORY) {
        web_refuse_memory(conn);
    } else if (status == STATUS_QUEUE_FULL) {
        const struct broker *broker = conn->shared->broker;

        wire_refused(conn->wire, REFUSAL_LIMIT);
        web_refuse_after(conn, 429, broker_memo_room_at(broker, memo) - broker_now(broker).wall,
                         "too many answers are kept for this caller (http.max_kept_answers)");
    } else {
        wire_refused_status(conn->wire, status);
        web_refuse_later(conn, 503, status_text(status));
    }
}

static void once_submit(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct web_once *once = web_request(conn)->once;
    struct submission submission;
    enum status status = web_submit_job(conn, body, blob, &submission);
    char value[VALUE_SIZE];
    struct memo memo;

    if (status != STATUS_OK) {
        web_submit_refuse(conn, status);
        return;
    }
    memo = memo_of(web_shared(conn), slice_of(once->name, ONCE_NAME_LEN), submission.id,
                   once->print, once->share, value);
    status = broker_memo_set(conn->shared->broker, &memo);
    if (status != STATUS_OK) {
        if (!submission.joined) {
            enum status cancelled = broker_cancel(conn->shared->broker, NULL, submission.id, true);

            ENSURE(cancelled == STATUS_OK); // no client knows of the job
        }
        refuse_memo(conn, &memo, status);
        return;
    }
    web_shared(conn)->once_position = broker_position(conn->shared->broker);
    wire_submitted(conn->wire, web_shared(conn)->once_position);
    web_submit_answer(conn, submission.id);
}

// Carries the request out once the whole body is digested, or repeats its answer.
static void carry_out(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct web_once *once = web_request(conn)->once;
    const struct memo *memo =
        broker_memo_find(conn->shared->broker, MEMO_ANSWER, slice_of(once->name, ONCE_NAME_LEN));
    uint64_t id;

    if (!memo || !recall(memo, &id)) {
        once_submit(conn, body, blob);
    } else if (memo->value.ptr[AT_KNOWN] &&
               memcmp(memo->value.ptr + AT_PRINT, once->print, ONCE_PRINT_SIZE) != 0) {
        http1_refuse_status(conn, 422, "the Idempotency-Key was used for another request");
    } else {
        // The first answer may not be in the store yet.
        wire_hold(conn->wire, web_shared(conn)->once_position);
        web_submit_answer(conn, id);
    }
}

// Digests a slice of the body, and carries the request out after the last.
static enum http1_progress once_digest(struct http1_conn *conn, struct slice body,
                                       struct blob *blob)
{
    struct web_once *once = web_request(conn)->once;
    struct slice slice = slice_from(body, once->at);

    slice.len = slice.len < LOOKED_AT_ONCE ? slice.len : LOOKED_AT_ONCE;
    once->at += slice.len;
    if (!add_print(once->print, slice)) {
        web_refuse_memory(conn);
    } else if (once->at < body.len) {
        return HTTP1_WROTE;
    } else {
        carry_out(conn, body, blob);
    }
    return HTTP1_ENDED;
}

enum http1_next web_once_submit(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct web_once *once = web_request(conn)->once;

    if (blob && body.len > LOOKED_AT_ONCE) {
        once->body = blob_ref(blob);
        return HTTP1_NEXT_WAIT;
    }
    while (once_digest(conn, body, blob) != HTTP1_ENDED) {
    }
    return HTTP1_NEXT_REQUEST;
}

enum http1_progress web_once_step(struct http1_conn *conn, struct feed_turn *turn)
{
    struct web_once *once = web_request(conn)->once;

    if (!http1_slice_begins(conn, turn)) {
        return HTTP1_AGAIN;
    }
    return once_digest(conn, blob_slice(once->body), once->body);
}

void web_once_free(struct web_once *once)
{
    if (once) {
        blob_unref(once->body);
        memory_free(once, sizeof *once);
    }
}

size_t web_once_holds(const struct web_once *once)
{
    return once ? sizeof *once + (once->body ? once->body->len : 0) : 0;
}

//
// After a crash
//

void web_once_mend(const struct web_shared *shared)
{
    struct broker *broker = shared->http1.broker;
    uint64_t next = broker_next_id(broker);
    uint64_t first = next > MEND_IDS ? next - MEND_IDS : 1;
    const struct job *job = NULL;
    char value[VALUE_SIZE];
    struct job_info info;
    struct memo memo;

    while (next > first && !job) {
        job = broker_find(broker, --next);
    }
    if (!job) {
        return;
    }
    broker_job_info(broker, job, &info);
    memo = memo_of(shared, info.key, info.id, NULL, 0, value);
    if (info.key_kind == KEY_NAME && info.key.len == ONCE_NAME_LEN &&
        memcmp(info.key.ptr, ONCE_PREFIX, sizeof ONCE_PREFIX - 1) == 0 &&
        info.age_for < shared->options->idempotency_for &&
        !broker_memo_find(broker, MEMO_ANSWER, info.key) &&
        broker_memo_set(broker, &memo) != STATUS_OK) {
        // No room: while the job lives, its unique name still joins repeated requests to it.
        log_warn("answer_not_remembered", log_number("job", (int64_t)info.id));
    }
}
