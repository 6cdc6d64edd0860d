/* SPDX-License-Identifier: MIT */

// A connection on which requests come, whatever they ask for: its states, and what ends them.

#include "tests/http1/echo.h"

#include <stdio.h>
#include <string.h>

#define OK_HEAD "HTTP/1.1 200 OK\r\n" ECHO_COMMON "Content-Type: text/plain\r\n"
#define GET_NONE ECHO_ASK("GET /none", "\r\n")
#define NONE "HTTP/1.1 304 Not Modified\r\n" ECHO_COMMON "ETag: \"1\"\r\n\r\n"
#define GET_WAIT ECHO_ASK("GET /wait", "\r\n")
#define NOT_NOW "503 Service Unavailable"
#define LATER "Retry-After: 1\r\n"

static bool ends_with(struct slice heard, const char *end)
{
    size_t len = strlen(end);

    return heard.len >= len && memcmp(heard.ptr + heard.len - len, end, len) == 0;
}

//
// Bodies
//

static void a_body_comes_whole_or_in_chunks(void **state)
{
    struct echo *t = *state;

    hears(t->peer, ECHO_ASK("POST /echo", "Content-Length: 3\r\n\r\none"),
          OK_HEAD "Content-Length: 3\r\n\r\none");
    hears(t->peer,
          ECHO_ASK("PUT /echo", "Transfer-Encoding: chunked\r\n\r\n1\r\nt\r\n2\r\nwo\r\n0\r\n\r\n"),
          OK_HEAD "Content-Length: 3\r\n\r\ntwo");
    hears(t->peer, ECHO_ASK("POST /echo", "\r\n"), OK_HEAD "Content-Length: 0\r\n\r\n");
    assert_int_equal(echo_forgotten(), 3);
}

static void a_client_that_asks_first_is_told_to_go_on(void **state)
{
    struct echo *t = *state;

    hears(t->peer, ECHO_ASK("POST /echo", "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n"),
          "HTTP/1.1 100 Continue\r\n\r\n");
    hears(t->peer, "one", OK_HEAD "Content-Length: 3\r\n\r\none");
}

static void a_body_that_is_too_large_is_refused_before_it_comes(void **state)
{
    struct echo *t = *state;

    refuses(t->peer, ECHO_ASK("POST /echo", "Content-Length: 65537\r\n\r\n"),
            "413 Content Too Large", "", ECHO_CLOSES, "the body is larger than echo.max_body");
    // The rest of it is discarded without a reply.
    assert_true(peer_shut(t->peer));
    hears(t->peer, GET_NONE, "");
    assert_int_equal(peer_kept(t->peer), 0);
}

static void a_user_may_want_less_of_a_body(void **state)
{
    static const char *const bodies[] = {
        ECHO_ASK("POST /small", "Content-Length: 11\r\n\r\n"),
        ECHO_ASK("POST /small", "Transfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n5\r\n7"),
    };
    struct echo *t = *state;

    hears(t->peer, ECHO_ASK("POST /small", "Content-Length: 10\r\n\r\n1234567890"),
          OK_HEAD "Content-Length: 10\r\n\r\n1234567890");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct peer *peer = peer_new(t->rig);

        peer_send(peer, slice_str(bodies[i]));
        refuses(peer, "", "413 Content Too Large", "", ECHO_CLOSES,
                "the body is larger than echo.max_body");
    }
}

static void malformed_chunks_end_the_connection(void **state)
{
    struct echo *t = *state;

    refuses(t->peer, ECHO_ASK("POST /echo", "Transfer-Encoding: chunked\r\n\r\nx\r\n"),
            "400 Bad Request", "", ECHO_CLOSES, "the chunks of the body are malformed");
}

static void a_body_on_its_way_is_counted(void **state)
{
    struct echo *t = *state;
    size_t before;

    assert_int_equal(peer_holds(t->peer), 0);
    hears(t->peer, ECHO_ASK("POST /echo", "Content-Length: 10000\r\n\r\n"), "");
    before = peer_holds(t->peer);
    // The request itself, and what its user says that it keeps.
    assert_true(before > 1000 && before < 3000);
    hears(t->peer, "a", "");
    assert_true(peer_holds(t->peer) > before);
}

//
// Answers
//

static void a_head_is_answered_without_the_body(void **state)
{
    struct echo *t = *state;

    hears(t->peer, ECHO_ASK("HEAD /blob", "\r\n"), OK_HEAD "Content-Length: 5000\r\n\r\n");
    hears(t->peer, GET_NONE, NONE);
}

static void a_blob_is_the_body_as_it_is(void **state)
{
    struct echo *t = *state;
    struct slice heard = peer_ask(t->peer, SLICE(ECHO_ASK("GET /blob", "\r\n")));
    const char head[] = OK_HEAD "Content-Length: 5000\r\n\r\n";

    assert_int_equal(heard.len, sizeof head - 1 + ECHO_BLOB);
    assert_memory_equal(heard.ptr, head, sizeof head - 1);
    assert_int_equal(heard.ptr[heard.len - 1], 'b');
}

static void an_unknown_method_is_the_users_to_refuse(void **state)
{
    struct echo *t = *state;

    refuses(t->peer, ECHO_ASK("PATCH /none", "\r\n"), "405 Method Not Allowed", "Allow: GET\r\n",
            ECHO_CLOSES, "no such method");
}

static void a_long_answer_is_made_in_slices(void **state)
{
    struct echo *t = *state;
    struct slice heard = peer_ask(t->peer, SLICE(ECHO_ASK("GET /slices", "\r\n") GET_NONE));

    assert_memory_equal(heard.ptr, OK_HEAD "Transfer-Encoding: chunked\r\n\r\nbb8\r\nxxx",
                        sizeof(OK_HEAD "Transfer-Encoding: chunked\r\n\r\nbb8\r\nxxx") - 1);
    assert_true(ends_with(heard, "xxx\r\n0\r\n\r\n" NONE));
    assert_true(heard.len > ECHO_SLICES * ECHO_SLICE);
}

// With a budget of one command each slice has a turn of its own.
static void slices_are_made_in_turns(void **state)
{
    struct echo *t = *state;
    unsigned long before = rig_feeds(t->rig);
    struct slice heard = peer_ask(t->peer, SLICE(ECHO_ASK("GET /slices", "\r\n") GET_NONE));

    assert_true(ends_with(heard, "xxx\r\n0\r\n\r\n" NONE));
    assert_true(rig_feeds(t->rig) - before > ECHO_SLICES);
}

static void on_1_0_the_end_of_the_connection_ends_a_long_answer(void **state)
{
    struct echo *t = *state;
    struct slice heard =
        peer_ask(t->peer, SLICE("GET /slices HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    const char head[] = "HTTP/1.0 200 OK\r\n" ECHO_COMMON "Content-Type: text/plain\r\n"
                        "Connection: close\r\n\r\n";

    assert_int_equal(heard.len, sizeof head - 1 + ECHO_SLICES * ECHO_SLICE);
    assert_memory_equal(heard.ptr, head, sizeof head - 1);
    assert_true(peer_closed(t->peer));
}

static void a_stream_waits_for_more(void **state)
{
    struct echo *t = *state;
    struct slice heard = peer_ask(t->peer, SLICE(ECHO_ASK("GET /events", "\r\n")));

    assert_true(ends_with(heard, "1c\r\nid: 5\nevent: tick\ndata: {}\n\n\r\n"));
    assert_true(peer_blocked(t->peer));
    rig_advance(t->rig, SECONDS(1000));
    assert_false(peer_closed(t->peer));
    rig_stop(t->rig);
    hears(t->peer, "", "0\r\n\r\n");
    assert_true(peer_closed(t->peer));
}

//
// Waiting
//

static void what_follows_a_request_waits_for_its_answer(void **state)
{
    struct echo *t = *state;

    hears(t->peer, GET_WAIT GET_NONE, "");
    assert_true(peer_blocked(t->peer));
    assert_int_equal(peer_kept(t->peer), sizeof GET_NONE - 1);
    echo_answer("done");
    hears(t->peer, "", "HTTP/1.1 200 OK\r\n" ECHO_COMMON "Content-Length: 4\r\n\r\ndone" NONE);
}

static void a_request_waits_only_so_long(void **state)
{
    struct echo *t = *state;

    hears(t->peer, GET_WAIT, "");
    rig_advance(t->rig, SECONDS(2));
    hears(t->peer, "", "");
    rig_advance(t->rig, SECONDS(1));
    begins(t->peer, GET_NONE, "HTTP/1.1 504 Gateway Timeout\r\n");
    assert_int_equal(echo_forgotten(), 2);
}

static void a_client_that_goes_is_forgotten(void **state)
{
    struct echo *t = *state;

    hears(t->peer, GET_WAIT, "");
    peer_free(t->peer);
    assert_int_equal(echo_forgotten(), 1);
}

//
// Time
//

static void a_head_may_take_so_long(void **state)
{
    struct echo *t = *state;

    hears(t->peer, "GET", "");
    rig_advance(t->rig, SECONDS(9));
    assert_false(peer_closed(t->peer));
    rig_advance(t->rig, SECONDS(2));
    begins(t->peer, "", "HTTP/1.1 408 Request Timeout\r\n");
    assert_true(peer_closed(t->peer));
}

static void a_body_may_take_so_long(void **state)
{
    struct echo *t = *state;

    hears(t->peer, ECHO_ASK("POST /echo", "Content-Length: 3\r\n\r\no"), "");
    rig_advance(t->rig, SECONDS(59));
    assert_false(peer_closed(t->peer));
    rig_advance(t->rig, SECONDS(2));
    begins(t->peer, "", "HTTP/1.1 408 Request Timeout\r\n");
    assert_true(peer_closed(t->peer));
    assert_int_equal(echo_forgotten(), 1);
}

static void an_idle_connection_is_closed_in_silence(void **state)
{
    struct echo *t = *state;

    rig_advance(t->rig, SECONDS(74));
    assert_false(peer_closed(t->peer));
    rig_advance(t->rig, SECONDS(2));
    hears(t->peer, "", "");
    assert_true(peer_closed(t->peer));
}

static void a_refused_client_has_some_time_to_go(void **state)
{
    struct echo *t = *state;

    begins(t->peer, "nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n");
    rig_advance(t->rig, SECONDS(4));
    assert_false(peer_closed(t->peer));
    rig_advance(t->rig, SECONDS(2));
    assert_true(peer_closed(t->peer));
}

//
// The end of input, and input that is not a request
//

static void at_the_end_each_request_is_answered(void **state)
{
    struct echo *t = *state;
    struct peer *waits = peer_new(t->rig), *sends = peer_new(t->rig), *begun = peer_new(t->rig);

    hears(t->peer, GET_NONE, NONE);
    hears(waits, GET_WAIT, "");
    hears(sends, ECHO_ASK("POST /echo", "Content-Length: 3\r\n\r\no"), "");
    hears(begun, "GET", "");
    rig_stop(t->rig);
    refuses(waits, "", NOT_NOW, LATER, ECHO_CLOSES, "the broker is stopping");
    refuses(sends, "", NOT_NOW, LATER, ECHO_CLOSES, "the broker is stopping");
    refuses(begun, "", NOT_NOW, LATER, ECHO_CLOSES, "the broker is stopping");
    hears(t->peer, "", "");
    assert_true(peer_closed(t->peer) && peer_closed(waits));
    assert_int_equal(echo_forgotten(), 3);
}

// As Java's HttpClient, curl --http2 and Apache's client send it.
static void an_offer_to_upgrade_is_ignored(void **state)
{
    static const char *const offers[] = {
        ("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
         "HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA\r\n"),
        "Upgrade: TLS/1.2\r\nConnection: Upgrade\r\n",
        "Connection: upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n",
        "Upgrade: websocket\r\n",
    };
    struct echo *t = *state;
    char said[1000];

    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++) {
        const struct slice answers = SLICE(OK_HEAD "Content-Length: 2\r\n\r\nhi" OK_HEAD
                                                   "Content-Length: 2\r\n\r\nhi" NONE NONE);
        int len =
            snprintf(said, sizeof said,
                     "POST /echo HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 2\r\n\r\nhi"
                     "POST /echo HTTP/1.1\r\nHost: localhost\r\n%sTransfer-Encoding: chunked\r\n"
                     "\r\n2\r\nhi\r\n0\r\n\r\n"
                     "GET /none HTTP/1.1\r\nHost: localhost\r\n%s\r\n" GET_NONE,
                     offers[i], offers[i], offers[i]);

        assert_true(slice_equal(peer_ask(t->peer, slice_of(said, (size_t)len)), answers));
    }
}

static void empty_lines_are_skipped(void **state)
{
    struct echo *t = *state;

    hears(t->peer, "\r\n\r\n" GET_NONE "\r", NONE);
    hears(t->peer, "\n" GET_NONE, NONE);
}

static void tls_is_met_with_silence(void **state)
{
    struct echo *t = *state;

    hears(t->peer, "\x16\x03\x01", "");
    assert_true(peer_closed(t->peer));
}

static void a_head_that_is_no_request_is_refused(void **state)
{
    static const struct {
        const char *said, *status, *why;
    } heads[] = {
        {"GET / HTTP/2.0\r\n\r\n", "505 HTTP Version Not Supported",
         "only HTTP/1.0 and HTTP/1.1 are supported"},
        {"GET  / HTTP/1.1\r\n\r\n", "400 Bad Request", "the head of the request is malformed"},
    };
    struct echo *t = *state;

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct peer *peer = peer_new(t->rig);

        peer_send(peer, slice_str(heads[i].said));
        refuses(peer, "", heads[i].status, "", ECHO_CLOSES, heads[i].why);
    }
}

static void a_head_has_a_length(void **state)
{
    struct echo *t = *state;
    static const char start[] = {'G', 'E', 'T', ' ', '/'};
    char head[5000];

    memset(head, 'x', sizeof head);
    memcpy(head, start, sizeof start);
    peer_send(t->peer, slice_of(head, sizeof head));
    refuses(t->peer, "", "431 Request Header Fields Too Large", "", ECHO_CLOSES,
            "the head is longer than echo.max_header_bytes, or has more than 100 headers");
}

// All that may be left out of a user's table is.
static void a_user_may_say_little(void **state)
{
    struct echo *t = *state;

    hears(t->peer, GET_WAIT, "");
    assert_true(peer_blocked(t->peer));
    echo_answer("done");
    begins(t->peer, GET_WAIT, "HTTP/1.1 200 OK\r\n");
    rig_stop(t->rig);
    hears(t->peer, "", "");
    assert_true(peer_closed(t->peer));
}

static int setup_turns(void **state)
{
    return echo_setup_with(state, ECHO_DEFAULTS, 1);
}

static int setup_bare(void **state)
{
    struct echo_options settings = ECHO_DEFAULTS;

    settings.is_bare = true;
    return echo_setup_with(state, settings, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ECHO(a_body_comes_whole_or_in_chunks),
        ECHO(a_client_that_asks_first_is_told_to_go_on),
        ECHO(a_body_that_is_too_large_is_refused_before_it_comes),
        ECHO(a_user_may_want_less_of_a_body),
        ECHO(malformed_chunks_end_the_connection),
        ECHO(a_body_on_its_way_is_counted),
        ECHO(a_head_is_answered_without_the_body),
        ECHO(a_blob_is_the_body_as_it_is),
        ECHO(an_unknown_method_is_the_users_to_refuse),
        ECHO(a_long_answer_is_made_in_slices),
        cmocka_unit_test_setup_teardown(slices_are_made_in_turns, setup_turns, echo_teardown),
        ECHO(on_1_0_the_end_of_the_connection_ends_a_long_answer),
        ECHO(a_stream_waits_for_more),
        ECHO(what_follows_a_request_waits_for_its_answer),
        ECHO(a_request_waits_only_so_long),
        ECHO(a_client_that_goes_is_forgotten),
        ECHO(a_head_may_take_so_long),
        ECHO(a_body_may_take_so_long),
        ECHO(an_idle_connection_is_closed_in_silence),
        ECHO(a_refused_client_has_some_time_to_go),
        ECHO(at_the_end_each_request_is_answered),
        ECHO(an_offer_to_upgrade_is_ignored),
        ECHO(empty_lines_are_skipped),
        ECHO(tls_is_met_with_silence),
        ECHO(a_head_that_is_no_request_is_refused),
        ECHO(a_head_has_a_length),
        cmocka_unit_test_setup_teardown(a_user_may_say_little, setup_bare, echo_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
