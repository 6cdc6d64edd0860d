/* SPDX-License-Identifier: MIT */

// Tokens: who may submit to which functions.

#include "tests/proto_http/wire_rules.h"

#include "access/access.h"
#include "access/token.h"
#include "proto_http/web_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"

static char token_path[64];

static void write_tokens(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void write_tokens(const char *format, ...)
{
    FILE *file = fopen(token_path, "we");
    va_list args;

    assert_non_null(file);
    va_start(args, format);
    assert_true(vfprintf(file, format, args) >= 0);
    va_end(args);
    assert_int_equal(fclose(file), 0);
}

static const char *hash_of(const char *token)
{
    static char hashes[4][TOKEN_HASH_SIZE];
    static size_t next;
    char *hash = hashes[next++ % 4];
    struct token_digest digest;

    assert_true(token_digest(slice_str(token), &digest));
    token_digest_write(&digest, hash);
    return hash;
}

static int setup_tokens(void **state)
{
    static char dir[] = "/tmp/tandem-http-XXXXXX";
    struct web_options settings = HTTP_DEFAULTS;

    (void)snprintf(dir, sizeof dir, "/tmp/tandem-http-XXXXXX");
    assert_non_null(mkdtemp(dir));
    (void)snprintf(token_path, sizeof token_path, "%s/tokens", dir);
    write_tokens("# who may do what\n\n%s f,mail-*\r\n%s\t *\n%s  g , h  \n", hash_of("alpha"),
                 hash_of("omega"), hash_of("gamma"));
    settings.tokens = token_path;
    return http_setup_with(state, (struct rig_options){0}, settings);
}

static int teardown_tokens(void **state)
{
    (void)unlink(token_path);
    *strrchr(token_path, '/') = '\0';
    (void)rmdir(token_path);
    return http_teardown(state);
}

#define TOKENS(test) cmocka_unit_test_setup_teardown(test, setup_tokens, teardown_tokens)
#define GAMMA BEARER("gamma")

static void a_hash_is_sha_256_in_hexadecimal(void **state)
{
    (void)state;
    assert_string_equal(hash_of("abc"),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void without_a_good_token_nothing_is_done(void **state)
{
    static const char *const bad[] = {"",
                                      "Authorization: Bearer\r\n",
                                      "Authorization: Bearer \r\n",
                                      "Authorization: Bearer alph\r\n",
                                      "Authorization: Bearer alphaa\r\n",
                                      "Authorization: Bearer Alpha\r\n",
                                      "Authorization: alpha\r\n",
                                      "Authorization: Basic alpha\r\n",
                                      "Authorization: Beareralpha\r\n",
                                      "X-Authorization: Bearer alpha\r\n",
                                      "Authorization: Bearer alpha x\r\n",
                                      "Sec-Fetch-Site: same-origin\r\n"};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct http_answer *answer = asks(t->a, http_get("/f", bad[i]), 401);

        assert_true(http_field(answer, "WWW-Authenticate").len > 6);
        assert_memory_equal(http_field(answer, "WWW-Authenticate").ptr, "Bearer", 6);
        field_is(answer, "X-Gearman-Command", NULL);
        asks(t->a, http_get("/", bad[i]), 401);
        asks(t->a, http_get("/-/jobs/x", bad[i]), 401);
        stays(t->a, asks(t->a, http_bare("DELETE", "/f", bad[i]), 401));
    }
    assert_int_equal(http_jobs(t), 0);
}

static void the_hash_itself_is_no_token(void **state)
{
    struct web *t = *state;
    char headers[200];

    (void)snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", hash_of("alpha"));
    asks(t->a, http_get("/f", headers), 401);
}

static void a_token_is_for_the_functions_of_its_globs(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND ALPHA, ""), 200);
    asks(t->a, POST("/mail-send", BACKGROUND ALPHA, ""), 200);
    asks(t->a, POST("/f", BACKGROUND "authorization:  bearer alpha\r\n", ""), 200);
    asks(t->a, POST("/g", BACKGROUND ALPHA, ""), 403);
    stays(t->a, asks(t->a, POST("/ff", BACKGROUND ALPHA, ""), 403));
    asks(t->a, POST("/any/thing", BACKGROUND OMEGA, ""), 200);
    asks(t->a, POST("/h", BACKGROUND GAMMA, ""), 200);
    asks(t->a, POST("/f", BACKGROUND GAMMA, ""), 403);
    assert_int_equal(http_jobs(t), 5);
}

// The rules of `server.access_file` apply to clients without a token.
static void beside_rules_both_kinds_of_tokens_are_good(void **state)
{
    struct web *t = *state;

    anybody_may(t, MAY_SUBMIT, "public");
    token_may(t, "delta", MAY_SUBMIT, "g");
    asks(t->a, POST("/public", BACKGROUND, ""), 200);
    asks(t->a, POST("/public", BACKGROUND ALPHA, ""), 403);
    asks(t->a, POST("/f", BACKGROUND ALPHA, ""), 200);
    asks(t->a, POST("/f", BACKGROUND, ""), 401);
    asks(t->a, POST("/g", BACKGROUND BEARER("delta"), ""), 200);
    asks(t->a, POST("/g", BACKGROUND BEARER("beta"), ""), 401);
    asks(t->a, POST("/f", BACKGROUND BEARER("delta"), ""), 403);
    asks(t->b, http_get("/public", "Authorization: Basic x\r\n" BACKGROUND), 200);
    asks(t->b, http_get("/public", "Origin: http://x\r\n" BACKGROUND), 403);
    assert_int_equal(http_jobs(t), 4);
}

#define ELSEWHERE "Host: tandem:8080\r\n"

static void a_token_proves_more_than_a_host_or_a_page(void **state)
{
    struct web *t = *state;

    asks(t->a,
         POST("/f",
              BACKGROUND ALPHA "Origin: http://x\r\nSec-Fetch-Site: cross-site\r\n"
                               "Referer: http://x/\r\n",
              ""),
         200);
    asks(t->a, SLICE("POST /f HTTP/1.1\r\n" ELSEWHERE ALPHA BACKGROUND "\r\n"), 200);
    asks(t->a, SLICE("GET /-/jobs/" GEAR_PREFIX "1 HTTP/1.1\r\n" ELSEWHERE ALPHA "\r\n"), 200);
    asks(t->a, SLICE("OPTIONS /f HTTP/1.1\r\n" ELSEWHERE "\r\n"), 204);
    assert_int_equal(http_jobs(t), 2);
    asks(t->a, SLICE("POST /f HTTP/1.1\r\n" ELSEWHERE BACKGROUND "\r\n"), 401);
    asks(t->a, SLICE("POST /f HTTP/1.1\r\n" ELSEWHERE GAMMA BACKGROUND "\r\n"), 403);
    assert_int_equal(http_jobs(t), 2);
}

static void options_and_a_head_of_the_root_need_no_token(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    asks(t->a, http_bare("OPTIONS", "/f", ""), 204);
    heard = peer_ask(t->a, http_bare("HEAD", "/", ""));
    assert_true(http_take(&heard, true, &answer));
    assert_int_equal(answer.status, 200);
    heard = peer_ask(t->a, http_bare("HEAD", "/f", ""));
    assert_true(http_take(&heard, true, &answer));
    assert_int_equal(answer.status, 401);
}

static void jobs_of_other_functions_are_not_there(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/g", BACKGROUND OMEGA, ""), 200);
    asks(t->a, http_get("/-/jobs/" GEAR_PREFIX "1", ALPHA), 404);
    asks(t->a, http_bare("DELETE", "/-/jobs/" GEAR_PREFIX "1", ALPHA), 404);
    assert_int_equal(http_jobs(t), 1);
    asks(t->a, http_get("/-/jobs/" GEAR_PREFIX "1", GAMMA), 200);
    asks(t->a, http_bare("DELETE", "/-/jobs/" GEAR_PREFIX "1", GAMMA), 204);
    assert_int_equal(http_jobs(t), 0);
}

static void globs_and_offers_must_both_match(void **state)
{
    static char offered[] = "mail-a g";
    struct web *t = *state;

    t->settings.functions = offered;
    asks(t->a, POST("/f", BACKGROUND ALPHA, ""), 403);
    asks(t->a, POST("/g", BACKGROUND ALPHA, ""), 403);
    asks(t->a, POST("/mail-a", BACKGROUND ALPHA, ""), 200);
}

// Whether settings with that file of tokens are taken.
static bool are_taken(char *path)
{
    struct web_options settings = HTTP_DEFAULTS;
    struct error_text why = {.text = ""};
    bool taken;

    settings.tokens = path;
    taken = http_frontend.check(&settings, &why);
    if (!taken) {
        assert_memory_equal(why.text, "tokens: ", 8);
        assert_non_null(strstr(why.text, path));
    }
    return taken;
}

static bool is_taken(const char *text)
{
    write_tokens("%s", text);
    return are_taken(token_path);
}

#define HASH "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void a_file_that_is_wrong_in_any_line_is_not_taken(void **state)
{
    static char nowhere[] = "/nonexistent/tokens";
    static char folder[] = "/";

    (void)state;
    assert_true(is_taken(""));
    assert_true(is_taken("# nothing\n\n"));
    assert_true(is_taken(HASH " f"));
    assert_true(is_taken(HASH " f\n" HASH "\tg,h\n"));
    assert_false(is_taken(HASH "\n"));
    assert_false(is_taken(HASH " \n"));
    assert_false(is_taken(HASH "0 f\n"));
    assert_false(is_taken("x" HASH " f\n"));
    assert_false(is_taken("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD f\n"));
    assert_false(is_taken(HASH " f\ntoken f\n"));
    assert_false(is_taken(HASH " f[\n"));
    assert_false(are_taken(nowhere));
    assert_false(are_taken(folder));
}

static void a_line_that_is_too_long_is_wrong(void **state)
{
    static char text[10000];

    (void)state;
    (void)snprintf(text, sizeof text, HASH " %s\n", gear_run('f', 5000));
    assert_false(is_taken(text));
}

// The callers that are allowed after the front-end has read its settings again.
static bool knows(const struct web_shared *shared, const char *token)
{
    return access_find_token(shared->http1.tokens, slice_str(token)) != 0;
}

// Whether tokens at that path can be read; where they can, they hold.
static bool reloads(struct web_shared *shared, char *path)
{
    struct web_options fresh = *shared->options;
    struct error_text why = {""};

    fresh.tokens = path;
    if (!http_frontend.prepare(shared, &fresh, &why)) {
        assert_memory_equal(why.text, "tokens: /", strlen("tokens: /"));
        http_frontend.discard(shared);
        return false;
    }
    http_frontend.reload(shared);
    return true;
}

static void tokens_are_read_again_and_stay_where_they_cannot_be(void **state)
{
    struct web_options settings = HTTP_DEFAULTS;
    const struct process_facts facts = {.hostname = "test.host", .version = "0"};
    struct error_text why = {""};
    struct web_shared shared = {0};
    struct web *t = *state;
    static char nowhere[] = "/nonexistent/tokens";
    static char none[] = "";

    settings.tokens = token_path;
    assert_int_equal(http_frontend.start(&shared, rig_broker(t->rig), &settings, &facts),
                     STATUS_OK);
    assert_true(knows(&shared, "alpha") && !knows(&shared, "new"));
    write_tokens("%s f\n", hash_of("new"));
    // Something else of the settings is wrong.
    assert_true(http_frontend.prepare(&shared, &settings, &why));
    http_frontend.discard(&shared);
    assert_true(knows(&shared, "alpha") && !knows(&shared, "new"));
    assert_true(reloads(&shared, token_path));
    assert_true(!knows(&shared, "alpha") && knows(&shared, "new"));
    write_tokens("nonsense\n");
    assert_false(reloads(&shared, token_path));
    assert_false(reloads(&shared, nowhere));
    assert_true(knows(&shared, "new"));
    assert_true(reloads(&shared, none));
    assert_null(shared.http1.tokens);
    http_frontend.stop(&shared);
}

static void a_server_does_not_start_without_its_tokens(void **state)
{
    struct web_options settings = HTTP_DEFAULTS;
    struct rig_options options = {.frontend = &http_frontend, .settings = &settings};
    static char nowhere[] = "/nonexistent/tokens";

    (void)state;
    settings.tokens = nowhere;
    assert_null(rig_new(&options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hash_is_sha_256_in_hexadecimal),
        TOKENS(without_a_good_token_nothing_is_done),
        TOKENS(the_hash_itself_is_no_token),
        TOKENS(a_token_is_for_the_functions_of_its_globs),
        TOKENS(a_token_proves_more_than_a_host_or_a_page),
        TOKENS(beside_rules_both_kinds_of_tokens_are_good),
        TOKENS(options_and_a_head_of_the_root_need_no_token),
        TOKENS(jobs_of_other_functions_are_not_there),
        TOKENS(globs_and_offers_must_both_match),
        TOKENS(a_file_that_is_wrong_in_any_line_is_not_taken),
        TOKENS(a_line_that_is_too_long_is_wrong),
        TOKENS(tokens_are_read_again_and_stay_where_they_cannot_be),
        cmocka_unit_test(a_server_does_not_start_without_its_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
