/* SPDX-License-Identifier: MIT */

// The reasons of errors: the client is told which setting would help, and the log at debug which
// part of the request was wrong.

#include "tests/proto_http/wire_http.h"
#include "tests/support/policies.h"

#include "core/base/log.h"

#include "access/token.h"
#include "proto_http/web_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define UNIQUE "X-Gearman-Unique: u\r\n"

// The answer's body must have that in it.
static void says_why(const struct http_answer *answer, const char *why)
{
    char text[256];

    (void)snprintf(text, sizeof text, "%.*s", (int)answer->body.len, answer->body.ptr);
    if (!strstr(text, why)) {
        fail_msg("`%s` does not say `%s`", text, why);
    }
}

//
// Settings
//

static void who_is_refused_learns_which_setting_would_help(void **state)
{
    static char offered[] = "g";
    struct web *t = *state;

    says_why(asks(t->a, SLICE("GET /f HTTP/1.1\r\nHost: tandem:8080\r\n\r\n"), 403), "http.hosts");
    says_why(asks(t->a, http_get("/f", "Origin: http://x\r\n"), 403), "http.cors_origins");
    says_why(asks(t->a, http_get("/f", "Sec-Fetch-Site: cross-site\r\n"), 403),
             "http.cors_origins");
    says_why(asks(t->a, http_get("/f", "Referer: http://x/\r\n"), 403), "http.cors_origins");
    says_why(asks(t->a, http_get("/metrics", ""), 404), "http.functions");
    t->settings.functions = offered;
    says_why(asks(t->a, http_get("/f", ""), 403), "http.functions");
}

static void what_is_too_large_or_too_slow_names_its_limit(void **state)
{
    struct web *t = *state;
    struct peer *c = peer_new(t->rig);

    t->settings.max_body = 3;
    says_why(asks(t->a, POST("/f", "", "1234"), 413), "http.max_body");
    says_why(asks(t->b, http_chunked("/f", "", SLICE("1234")), 413), "http.max_body");
    t->settings.header_timeout = 1;
    waits(c, SLICE("GET"));
    rig_advance(t->rig, SECONDS(2));
    says_why(answered(c, 408), "http.header_timeout");
    peer_free(c);
    c = peer_new(t->rig);
    t->settings.body_timeout = 1;
    waits(c, SLICE("POST /f HTTP/1.0\r\nContent-Length: 3\r\n\r\n1"));
    rig_advance(t->rig, SECONDS(2));
    says_why(answered(c, 408), "http.body_timeout");
    peer_free(c);
    c = peer_new(t->rig);
    t->settings.max_header_bytes = 1024;
    says_why(asks(c, http_get(gear_run('/', 2000), ""), 431), "http.max_header_bytes");
    peer_free(c);
}

static void a_result_that_is_too_large_names_its_limit(void **state)
{
    struct web *t = *state;

    t->settings.max_result = 3;
    waits(t->a, POST("/f", "", "x"));
    http_completes(t->w, "x", "1234");
    says_why(answered(t->a, 502), "http.max_result");
}

static void what_is_too_large_is_logged_with_the_setting(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("small"), .spec = {.max_job_size = 2}};
    struct web *t = *state;
    struct peer *c = peer_new(t->rig);

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    t->settings.max_body = 3;
    t->settings.max_result = 3;
    says_why(asks(t->a, POST("/f", "", "1234"), 413), "http.max_body");
    assert_true(rig_logged_too_large(t->rig, 4, "http.max_body"));
    says_why(asks(t->b, http_chunked("/f", "", SLICE("1234")), 413), "http.max_body");
    assert_true(rig_logged_too_large(
        t->rig, 0, "http.max_body")); // how many more chunks there are is not known
    asks(c, POST("/small", "", "123"), 413);
    assert_true(rig_logged_too_large(t->rig, 0, "max_job_size of the queue"));
    waits(c, POST("/f", "", "x"));
    http_completes(t->w, "x", "1234");
    says_why(answered(c, 502), "http.max_result");
    assert_true(rig_logged_too_large(t->rig, 0, "http.max_result"));
    waits(c, POST("/f", "", "x"));
    http_completes(t->w, "x", "123");
    (void)answered(c, 200);
    assert_int_equal(rig_too_large(t->rig).count, 0);
    peer_free(c);
}

//
// Jobs that are not done in time
//

static void a_job_that_goes_with_its_last_client_is_said_to_be_dropped(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "X-Gearman-Timeout: 1\r\n", "x"));
    rig_advance(t->rig, SECONDS(1));
    says_why(answered(t->a, 504), "was dropped");
    assert_int_equal(http_jobs(t), 0);
}

static void a_job_that_somebody_else_wants_is_said_to_go_on(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", UNIQUE "X-Gearman-Timeout: 1\r\n", "x"));
    waits(t->b, POST("/f", UNIQUE, "x"));
    rig_advance(t->rig, SECONDS(1));
    says_why(answered(t->a, 504), "has not ended");
    assert_int_equal(http_jobs(t), 1);
}

static void a_job_that_a_worker_holds_is_said_to_go_on(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "X-Gearman-Timeout: 1\r\n", "x"));
    http_can_do(t->w, "f");
    (void)grabs(t->w, "f", "x");
    rig_advance(t->rig, SECONDS(1));
    says_why(answered(t->a, 504), "has not ended");
    assert_int_equal(http_jobs(t), 1);
}

static void a_job_that_ends_as_the_wait_does_is_told_as_it_ended(void **state)
{
    struct web *t = *state;

    t->settings.job_retries = 1;
    waits(t->a, POST("/f", "X-Gearman-Timeout: 5\r\nX-Gearman-Ttr: 5\r\n", "x"));
    http_can_do(t->w, "f");
    (void)grabs(t->w, "f", "x");
    rig_advance(t->rig, SECONDS(5));
    says_why(answered(t->a, 500), "has failed");
}

//
// Tokens
//

static char token_path[64];

static int setup_tokens(void **state)
{
    struct web_options settings = HTTP_DEFAULTS;
    char hash[TOKEN_HASH_SIZE];
    struct token_digest digest;
    FILE *file;
    int fd;

    (void)snprintf(token_path, sizeof token_path, "/tmp/tandem-http-XXXXXX");
    fd = mkstemp(token_path);
    assert_true(fd >= 0);
    file = fdopen(fd, "w");
    assert_non_null(file);
    assert_true(token_digest(SLICE("alpha"), &digest));
    token_digest_write(&digest, hash);
    assert_true(fprintf(file, "%s f\n", hash) > 0);
    assert_int_equal(fclose(file), 0);
    settings.tokens = token_path;
    return http_setup_with(state, (struct rig_options){0}, settings);
}

static int teardown_tokens(void **state)
{
    (void)unlink(token_path);
    return http_teardown(state);
}

// A request with these headers is answered 401 for that reason, and so much of a challenge.
static void is_challenged(struct web *t, const char *headers, const char *why,
                          const char *challenge)
{
    const struct http_answer *answer = asks(t->a, http_get("/f", headers), 401);

    says_why(answer, why);
    field_is(answer, "WWW-Authenticate", challenge);
}

#define CHALLENGE "Bearer realm=\"tandem\""

static void a_wrong_token_is_told_apart_from_none(void **state)
{
    struct web *t = *state;

    is_challenged(t, "", "a token is required", CHALLENGE);
    is_challenged(t, "Authorization: Basic YTpi\r\n", "not contain a Bearer token", CHALLENGE);
    is_challenged(t, "Authorization: Bearer\r\n", "not contain a Bearer token", CHALLENGE);
    is_challenged(t, "Authorization: Bearer beta\r\n", "http.tokens",
                  CHALLENGE ", error=\"invalid_token\"");
    says_why(asks(t->a, http_get("/g", "Authorization: Bearer alpha\r\n"), 403),
             "no rule in server.access_file or http.tokens");
}

//
// The log
//

static char lines[1024];

// Appends the line, with its fields in order.
static void note(void *context, enum log_level level, const char *event,
                 const struct log_field *fields, size_t count)
{
    size_t len = strlen(lines);

    (void)context;
    len += (size_t)snprintf(lines + len, sizeof lines - len, "%d %s", (int)level, event);
    for (size_t i = 0; i < count && len < sizeof lines; i++) {
        const struct log_field *field = &fields[i];
        int text_len = field->is_text ? (int)field->text.len : 0;

        len += field->is_text ? (size_t)snprintf(lines + len, sizeof lines - len, " %s=%.*s",
                                                 field->key, text_len, field->text.ptr)
                              : (size_t)snprintf(lines + len, sizeof lines - len, " %s=%lld",
                                                 field->key, (long long)field->number);
    }
    assert_true(len + 1 < sizeof lines);
    lines[len] = '\n';
    lines[len + 1] = '\0';
}

// The log lines from here to the next call.
static void logs(const char *text)
{
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    assert_string_equal(lines, text);
    lines[0] = '\0';
    log_set_sink(note, NULL, LOG_LEVEL_DEBUG);
}

static void a_debug_log_says_why_a_request_is_refused(void **state)
{
    struct web *t = *state;

    logs("");
    asks(t->a, SLICE("GET /f HTTP/1.1\r\nHost: tandem:8080\r\n\r\n"), 403);
    logs("3 error_answered conn=1 status=403 value=tandem:8080 why=Host is not an IP address, "
         "localhost or in http.hosts\n");
    asks(t->b, http_get("/f", "Origin: http://x\r\n"), 403);
    logs("3 error_answered conn=2 status=403 value=http://x why=Origin is not in "
         "http.cors_origins\n");
    asks(t->a, http_get("/", ""), 404);
    logs("3 error_answered conn=1 status=404 why=the path must name a function\n");
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
}

static void a_debug_log_says_why_a_connection_is_closed_without_an_answer(void **state)
{
    struct web *t = *state;

    logs("");
    t->settings.idle_timeout = 1;
    asks(t->a, http_get("/", ""), 404);
    logs("3 error_answered conn=1 status=404 why=the path must name a function\n");
    rig_advance(t->rig, SECONDS(3));
    logs("3 closing conn=1 why=no request for http.idle_timeout\n");
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    assert_true(peer_closed(t->a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(who_is_refused_learns_which_setting_would_help),
        HTTP(what_is_too_large_or_too_slow_names_its_limit),
        HTTP(a_result_that_is_too_large_names_its_limit),
        HTTP(what_is_too_large_is_logged_with_the_setting),
        HTTP(a_job_that_goes_with_its_last_client_is_said_to_be_dropped),
        HTTP(a_job_that_somebody_else_wants_is_said_to_go_on),
        HTTP(a_job_that_a_worker_holds_is_said_to_go_on),
        HTTP(a_job_that_ends_as_the_wait_does_is_told_as_it_ended),
        cmocka_unit_test_setup_teardown(a_wrong_token_is_told_apart_from_none, setup_tokens,
                                        teardown_tokens),
        HTTP(a_debug_log_says_why_a_request_is_refused),
        HTTP(a_debug_log_says_why_a_connection_is_closed_without_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
