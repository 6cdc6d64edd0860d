/* SPDX-License-Identifier: MIT */

// Peers that use another protocol: browsers that were tricked into using this port, and TLS.

#include "tests/proto_gearman/wire_gear.h"

#include "tests/proto_common/wire_closings.h"
#include "tests/proto_common/wire_host.h"

#include <stdio.h>
#include <string.h>

// A command that a page would like to send.
#define BODY "Host: x\r\n\r\ncreate function evil\r\n"

static void is_closed_unanswered(struct gear *t, struct peer *peer)
{
    gear_hears(peer, NOTHING);
    assert_true(peer_closed(peer));
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("evil")));
}

static void a_request_of_a_browser_is_not_answered(void **state)
{
    struct gear *t = *state;

    peer_send(t->a, SLICE("GET / HTTP/1.1\r\n" BODY));
    peer_send(t->b, SLICE("POST /status HTTP/1.0\n" BODY));
    peer_send(t->c, SLICE("create function evil HTTP/1.9\r\n" BODY));
    rig_run(t->rig);
    is_closed_unanswered(t, t->a);
    is_closed_unanswered(t, t->b);
    is_closed_unanswered(t, t->c);
}

static void a_request_of_any_length_is_not_answered(void **state)
{
    static const size_t lengths[] = {20,   222,  223,  224,  225,  226,  5000,
                                     8190, 8191, 8192, 8193, 8194, 20000};
    static char line[21000];
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (size_t piece = 1000; piece <= 30000; piece += 29000) {
            struct peer *peer = peer_new(t->rig);
            int path = (int)(lengths[i] - sizeof "POST / HTTP/1.1" + 1);
            int len = snprintf(line, sizeof line, "POST /%0*d HTTP/1.1\r\n" BODY, path, 0);

            for (size_t at = 0; at < (size_t)len; at += piece) {
                size_t left = (size_t)len - at;

                peer_send(peer, slice_of(line + at, left < piece ? left : piece));
                rig_run(t->rig);
            }
            is_closed_unanswered(t, peer);
            peer_free(peer);
        }
    }
}

static void a_request_is_noticed_whatever_its_pieces(void **state)
{
    struct gear *t = *state;
    struct slice request = SLICE("GET / HTTP/1.1\r\n" BODY);

    for (size_t i = 0; i < request.len; i++) {
        peer_send(t->a, slice_of(request.ptr + i, 1));
        rig_run(t->rig);
    }
    is_closed_unanswered(t, t->a);
}

static void a_tls_hello_is_not_answered(void **state)
{
    struct gear *t = *state;

    peer_send(t->a, SLICE("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"));
    peer_send(t->b, SLICE("\x16"));
    rig_run(t->rig);
    is_closed_unanswered(t, t->a);
    is_closed_unanswered(t, t->b);
    assert_int_equal(rig_tls_hellos(t->rig), 2);
}

static void a_proxy_head_is_refused_and_disconnected(void **state)
{
    struct slice told =
        SLICE("ERR PROXY_PROTOCOL no PROXY protocol is expected here: only one head, at a "
              "listen address with proxy: in front\r\n");
    struct gear *t = *state;

    gear_says(t->a, SLICE("PROXY TCP4 10.1.2.3 10.0.0.1 1234 4730\r\ncreate function evil\n"),
              told);
    gear_says(t->b,
              SLICE("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\1\2\3\x0a\0\0\1\4\xd2\x2c\x24"
                    "\0REQ\0\0\0\x10\0\0\0\0"),
              told);
    is_closed_unanswered(t, t->a);
    is_closed_unanswered(t, t->b);
    assert_int_equal(rig_proxy_heads(t->rig), 2);
    assert_int_equal(rig_refusals(t->rig, REFUSAL_BAD), 2);
}

static void only_the_first_message_is_checked(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(ECHO_REQ, "x"), RES(ECHO_RES, "x"));
    assert_true(peer_ask(t->a, SLICE("GET / HTTP/1.1\r\n")).len > 0);
    gear_says(t->a, REQ(ECHO_REQ, "x"), RES(ECHO_RES, "x"));
    gear_says(t->b, SLICE("getpid\n"), SLICE("OK 4242\n"));
    assert_true(peer_ask(t->b, SLICE("GET / HTTP/1.1\r\n")).len > 0);
    gear_says(t->b, SLICE("getpid\n"), SLICE("OK 4242\n"));
}

static void a_debug_log_says_why_another_protocol_gets_no_reply(void **state)
{
    struct gear *t = *state;
    char why[CLOSINGS_ROOM] = "";

    closings_note(why);
    peer_send(t->a, SLICE("\x16"));
    rig_run(t->rig);
    peer_send(t->b, SLICE("GET / HTTP/1.1\r\n"));
    rig_run(t->rig);
    peer_send(t->c, slice_of(gear_run('x', 10000), 10000));
    rig_run(t->rig);
    closings_end();
    assert_string_equal(why, "it speaks TLS.it speaks HTTP.its line is too long.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(a_request_of_a_browser_is_not_answered),
        GEAR(a_request_of_any_length_is_not_answered),
        GEAR(a_request_is_noticed_whatever_its_pieces),
        GEAR(a_tls_hello_is_not_answered),
        GEAR(a_proxy_head_is_refused_and_disconnected),
        GEAR(only_the_first_message_is_checked),
        GEAR(a_debug_log_says_why_another_protocol_gets_no_reply),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
