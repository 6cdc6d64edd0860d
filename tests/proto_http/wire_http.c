/* SPDX-License-Identifier: MIT */
#include "tests/proto_http/wire_http.h"

#include "tests/proto_common/record_quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS 64
#define ANSWERS 4
#define HEAD_MAX 9000
#define SHOWN 2000
// Room for chunks that were put together.
#define BODY_MAX ((size_t)1 << 20)

//
// The world
//

int http_setup_with(void **state, struct rig_options options, struct web_options settings)
{
    struct web *web = calloc(1, sizeof *web);

    assert_non_null(web);
    web->settings = settings;
    web->gear_settings = GEAR_DEFAULTS;
    web->bean_settings.max_job_size = 65535;
    web->store_room = RECORD_QUOTA_PLENTY;
    options.frontend = &http_frontend;
    options.settings = &web->settings;
    if (!options.other) {
        options.other = &gearman_frontend;
    }
    options.other_settings = options.other == &gearman_frontend ? (void *)&web->gear_settings
                                                                : (void *)&web->bean_settings;
    options.broker.recorder = &record_quota;
    options.broker.store = &web->store_room;
    web->rig = rig_new(&options);
    assert_non_null(web->rig);
    web->a = peer_new(web->rig);
    web->b = peer_new(web->rig);
    web->w = peer_new_other(web->rig);
    web->v = peer_new_other(web->rig);
    assert_true(web->a && web->b && web->w && web->v);
    *state = web;
    return 0;
}

int http_setup(void **state)
{
    return http_setup_with(state, (struct rig_options){0}, HTTP_DEFAULTS);
}

int http_setup_bean(void **state)
{
    return http_setup_with(state, (struct rig_options){.other = &beanstalk_frontend},
                           HTTP_DEFAULTS);
}

int http_teardown(void **state)
{
    struct web *web = *state;

    rig_free(web->rig);
    free(web);
    return 0;
}

//
// Requests
//

// Puts a body between what is before and behind it.
static struct slice compose(struct slice head, struct slice body, struct slice tail)
{
    static char *kept[REQUESTS];
    static size_t next;
    char **place = &kept[next++ % REQUESTS];
    size_t len = head.len + body.len + tail.len;

    free(*place);
    *place = malloc(len + 1);
    assert_non_null(*place);
    memcpy(*place, head.ptr, head.len);
    memcpy(*place + head.len, body.ptr, body.len);
    memcpy(*place + head.len + body.len, tail.ptr, tail.len);
    (*place)[len] = '\0';
    return slice_of(*place, len);
}

static struct slice written(const char *head, int len)
{
    assert_true(len > 0 && len < HEAD_MAX);
    return slice_of(head, (size_t)len);
}

struct slice http_bare(const char *method, const char *target, const char *headers)
{
    char head[HEAD_MAX];
    int len = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", method,
                       target, headers);

    return compose(written(head, len), NOTHING, NOTHING);
}

struct slice http_get(const char *target, const char *headers)
{
    return http_bare("GET", target, headers);
}

struct slice http_post(const char *target, const char *headers, struct slice body)
{
    char head[HEAD_MAX];
    int len = snprintf(head, sizeof head,
                       "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n",
                       target, headers, body.len);

    return compose(written(head, len), body, NOTHING);
}

struct slice http_chunked(const char *target, const char *headers, struct slice body)
{
    char head[HEAD_MAX];
    int len = snprintf(head, sizeof head,
                       "POST %s HTTP/1.1\r\nHost: localhost\r\n%sTransfer-Encoding: chunked\r\n"
                       "\r\n%zX\r\n",
                       target, headers, body.len);

    return compose(written(head, len), body, SLICE("\r\n0\r\n\r\n"));
}

//
// Answers
//

static bool take_line(struct slice *text, struct slice *line)
{
    const char *end = text->len ? memchr(text->ptr, '\n', text->len) : NULL;

    if (!end) {
        return false;
    }
    assert_true(end > text->ptr && end[-1] == '\r');
    *line = slice_of(text->ptr, (size_t)(end - text->ptr) - 1);
    assert_null(memchr(line->ptr, '\r', line->len));
    *text = slice_from(*text, line->len + 2);
    return true;
}

static void read_status_line(struct slice line, struct http_answer *answer)
{
    assert_true(line.len > 13 && memcmp(line.ptr, "HTTP/1.", 7) == 0 && line.ptr[8] == ' ' &&
                line.ptr[12] == ' ');
    answer->minor = line.ptr[7] - '0';
    answer->status = (unsigned)strtoul(line.ptr + 9, NULL, 10);
    assert_in_range(answer->minor, 0, 1);
}

static void read_field(struct slice line, struct http_answer *answer)
{
    const char *colon = memchr(line.ptr, ':', line.len);

    assert_true(colon && colon > line.ptr && colon[1] == ' ');
    assert_true(answer->count < HTTP_FIELDS_MAX);
    answer->fields[answer->count].name = slice_of(line.ptr, (size_t)(colon - line.ptr));
    answer->fields[answer->count].value = slice_from(line, (size_t)(colon - line.ptr) + 2);
    answer->count++;
}

struct slice http_field(const struct http_answer *answer, const char *name)
{
    struct slice value = {0};

    for (size_t i = 0; i < answer->count; i++) {
        if (slice_equal(answer->fields[i].name, slice_str(name))) {
            assert_null(value.ptr);
            value = answer->fields[i].value;
        }
    }
    return value;
}

// Takes chunks as far as they are there, into a store of their own.
static void read_chunks(struct slice *rest, struct http_answer *answer)
{
    static char bodies[ANSWERS][BODY_MAX];
    static size_t next;
    char *start = bodies[next++ % ANSWERS];
    size_t len = 0;
    struct slice line;

    answer->open = true;
    while (answer->open && take_line(rest, &line)) {
        char *end;
        size_t size = strtoul(line.ptr, &end, 16);

        assert_true(line.len > 0 && end == line.ptr + line.len);
        assert_true(rest->len >= size + 2 && memcmp(rest->ptr + size, "\r\n", 2) == 0);
        assert_true(len + size <= BODY_MAX);
        memcpy(start + len, rest->ptr, size);
        len += size;
        *rest = slice_from(*rest, size + 2);
        answer->open = size > 0;
    }
    answer->body = slice_of(start, len);
}

// An answer without a length has no body by its nature, comes in chunks, or ends with the
// connection.
static void read_body(struct slice *rest, bool to_head, struct http_answer *answer)
{
    struct slice length = http_field(answer, "Content-Length");
    struct slice coding = http_field(answer, "Transfer-Encoding");
    bool none = to_head || answer->status < 200 || answer->status == 204 || answer->status == 304;

    answer->body = slice_of(rest->ptr, 0);
    assert_false(length.ptr && coding.ptr);
    if (none) {
        assert_true(to_head || (!length.ptr && !coding.ptr));
    } else if (coding.ptr) {
        assert_true(slice_equal(coding, SLICE("chunked")) && answer->minor == 1);
        read_chunks(rest, answer);
    } else if (length.ptr) {
        answer->body.len = strtoul(length.ptr, NULL, 10);
        assert_true(rest->len >= answer->body.len);
        *rest = slice_from(*rest, answer->body.len);
    } else {
        assert_int_equal(answer->minor, 0);
        field_is(answer, "Connection", "close");
        answer->body = *rest;
        answer->open = true;
        *rest = slice_from(*rest, rest->len);
    }
}

bool http_take(struct slice *heard, bool to_head, struct http_answer *answer)
{
    struct slice rest = *heard;
    struct slice line = {0};

    *answer = (struct http_answer){0};
    if (rest.len == 0) {
        return false;
    }
    if (!take_line(&rest, &line)) {
        fail_msg("no line: %.*s", (int)rest.len, rest.ptr);
        return false;
    }
    read_status_line(line, answer);
    while (take_line(&rest, &line) && line.len > 0) {
        read_field(line, answer);
    }
    assert_int_equal(line.len, 0);
    if (answer->status >= 200) {
        assert_non_null(http_field(answer, "Server").ptr);
        assert_non_null(http_field(answer, "Date").ptr);
    }
    read_body(&rest, to_head, answer);
    answer->len = heard->len - rest.len;
    *heard = rest;
    return true;
}

static void show(const char *what, struct slice bytes)
{
    print_error("%s:\n%.*s\n", what, (int)(bytes.len < SHOWN ? bytes.len : SHOWN), bytes.ptr);
}

void http_field_is(const struct http_answer *answer, const char *name, const char *value,
                   const char *file, int line)
{
    struct slice got = http_field(answer, name);

    if (value ? !got.ptr || !slice_equal(got, slice_str(value)) : !!got.ptr) {
        print_error("%s is \"%.*s\", expected %s\n", name, (int)got.len, got.ptr ? got.ptr : "",
                    value ? value : "none");
        _fail(file, line);
    }
}

void http_body_is(const struct http_answer *answer, struct slice body, const char *file, int line)
{
    if (!slice_equal(answer->body, body)) {
        show("body", answer->body);
        show("expected", body);
        _fail(file, line);
    }
}

// An error of ours says why, as JSON, or, of the process's health, as text.
static bool is_complete(const struct http_answer *answer)
{
    struct slice start = SLICE("{\"error\": \"");

    return slice_equal(http_field(answer, "Content-Type"), SLICE("text/plain; charset=utf-8")) ||
           answer->status < 400 ||
           slice_equal(http_field(answer, "X-Gearman-Command"), SLICE("WORK_EXCEPTION")) ||
           (slice_equal(http_field(answer, "Content-Type"), SLICE("application/json")) &&
            answer->body.len > start.len && memcmp(answer->body.ptr, start.ptr, start.len) == 0);
}

const struct http_answer *http_answered(struct peer *peer, unsigned status, const char *file,
                                        int line)
{
    static struct http_answer answers[ANSWERS];
    static size_t next;
    struct http_answer *answer = &answers[next++ % ANSWERS];
    struct slice heard = peer_hear(peer);
    struct slice rest = heard;

    if (!http_take(&rest, false, answer) || rest.len > 0 || answer->status != status ||
        !is_complete(answer)) {
        show("heard", heard);
        print_error("expected one answer: %u\n", status);
        _fail(file, line);
    }
    return answer;
}

const struct http_answer *http_asks(struct peer *peer, struct slice said, unsigned status,
                                    const char *file, int line)
{
    http_waits(peer, NOTHING, file, line);
    peer_send(peer, said);
    rig_run(peer_rig(peer));
    return http_answered(peer, status, file, line);
}

void http_waits(struct peer *peer, struct slice said, const char *file, int line)
{
    struct slice heard = peer_ask(peer, said);

    if (heard.len > 0) {
        show("unexpected output", heard);
        _fail(file, line);
    }
}

void http_stays(struct peer *peer, const struct http_answer *answer, bool stays, const char *file,
                int line)
{
    struct slice connection = http_field(answer, "Connection");
    bool closes = slice_equal(connection, SLICE("close"));

    if (stays ? closes || peer_closed(peer) : !closes) {
        print_error("Connection: %.*s, and it is %s\n", (int)connection.len,
                    connection.ptr ? connection.ptr : "", peer_closed(peer) ? "closed" : "open");
        _fail(file, line);
    }
    if (!stays) {
        http_waits(peer, http_get("/-/nothing", ""), file, line);
    }
}

//
// Jobs
//

void http_can_do(struct peer *worker, const char *function)
{
    gear_says(worker, REQ(CAN_DO, function), NOTHING);
}

const char *http_grabs(struct peer *worker, const char *function, const char *body,
                       const char *file, int line)
{
    return gear_handle(gear_grabs_at(worker, function, body, file, line));
}

void http_completes(struct peer *worker, const char *body, const char *result)
{
    http_can_do(worker, "f");
    gear_says(worker, REQ(WORK_COMPLETE, grabs(worker, "f", body), result), NOTHING);
}

struct job_info http_job(const struct web *t, uint64_t id)
{
    struct broker *broker = rig_broker(t->rig);
    const struct job *job = broker_find(broker, id);
    struct job_info info;

    assert_non_null(job);
    broker_job_info(broker, job, &info);
    return info;
}

uint64_t http_jobs(const struct web *t)
{
    struct broker_info info;
    uint64_t count = 0;

    broker_info(rig_broker(t->rig), &info);
    for (size_t i = 0; i < JOB_STATES; i++) {
        count += info.jobs[i];
    }
    return count;
}
