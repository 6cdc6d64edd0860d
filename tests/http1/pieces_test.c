/* SPDX-License-Identifier: MIT */

// However input is cut into pieces, the answers are the same to the byte; and wherever an
// allocation fails, the client gets an error, or its connection is closed.

#include "tests/http1/echo.h"
#include "tests/proto_common/wire_host.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <string.h>

#define HEARD_MAX 60000

static char origins[] = "http://app.example";

// Requests of every kind, and behind the last one what is not read any more.
static const char said[] =
    "\r\n" ECHO_ASK("GET /none", "\r\n") ECHO_ASK("POST /echo", "Content-Length: 5\r\n\r\nwhole")
        ECHO_ASK("PUT /echo", "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
                              "3\r\nthe\r\n00b\r\n parts of i\r\n1\r\nt\r\n0\r\n\r\n\r\n")
            ECHO_ASK("GET /slices", "Origin: http://app.example\r\n\r\n")
                ECHO_ASK("HEAD /blob", "\r\n") ECHO_ASK("OPTIONS /none", "\r\n")
                    ECHO_ASK("GET /nothing", "Authorization: Basic x\r\n\r\n")
                        ECHO_ASK("GET /blob", "Accept: */*\r\n\r\n")
                            ECHO_ASK("POST /small", "Content-Length: 11\r\n\r\n12345678901")
                                ECHO_ASK("GET /none", "\r\n");

struct outcome {
    char heard[HEARD_MAX];
    size_t len;
    bool closed;  // the connection was, for want of memory
    bool refused; // a client was told that memory has run out
    bool at_all;  // an allocation failed
};

static void play(size_t first, size_t piece, unsigned budget, size_t failing,
                 struct outcome *outcome)
{
    struct echo_options settings = ECHO_DEFAULTS;
    struct peer *peer;
    struct slice heard = SLICE("");
    struct echo *t;
    void *state;

    settings.http1.cors_origins = origins;
    echo_setup_with(&state, settings, budget);
    t = state;
    nth_alloc_fail(failing);
    peer = peer_new(t->rig);
    if (peer) {
        peer_send_pieces(peer, SLICE(said), first, piece);
    }
    outcome->at_all = failing > 0 && nth_alloc_count() >= failing;
    nth_alloc_fail(0);
    if (peer) {
        heard = peer_hear(peer);
    }
    assert_true(heard.len < HEARD_MAX);
    memcpy(outcome->heard, heard.ptr, heard.len);
    outcome->heard[heard.len] = '\0';
    outcome->len = heard.len;
    outcome->closed = !peer || peer_failed(peer);
    outcome->refused = strstr(outcome->heard, "no room at all") != NULL;
    echo_teardown(&state);
}

static bool same(const struct outcome *a, const struct outcome *b)
{
    return a->len == b->len && memcmp(a->heard, b->heard, a->len) == 0;
}

static void every_split_is_answered_alike(void **state)
{
    static struct outcome whole, split;

    (void)state;
    play(sizeof said, sizeof said, 0, 0, &whole);
    assert_true(whole.len > ECHO_SLICES * ECHO_SLICE + ECHO_BLOB);
    for (size_t first = 1; first < sizeof said; first++) {
        play(first, sizeof said, 0, 0, &split);
        assert_true(same(&whole, &split));
    }
}

static void small_pieces_and_small_turns_are_answered_alike(void **state)
{
    static struct outcome whole, split;

    (void)state;
    play(sizeof said, sizeof said, 0, 0, &whole);
    for (size_t piece = 1; piece < 8; piece++) {
        for (unsigned budget = 1; budget < 4; budget++) {
            play(piece, piece, budget, 0, &split);
            assert_true(same(&whole, &split));
        }
    }
}

static void check_each_failing(size_t piece)
{
    static struct outcome whole, lacking;
    size_t n = 0;

    play(piece, piece, 0, 0, &whole);
    do {
        play(piece, piece, 0, ++n, &lacking);
        if (lacking.at_all && !same(&whole, &lacking) && !lacking.closed && !lacking.refused) {
            fail_msg("allocation %zu changed the answers in silence: %s", n, lacking.heard);
        }
    } while (lacking.at_all);
    assert_true(n > 5);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    check_each_failing(sizeof said);
    check_each_failing(7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_split_is_answered_alike),
        cmocka_unit_test(small_pieces_and_small_turns_are_answered_alike),
        cmocka_unit_test(every_allocation_fails_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
