/* SPDX-License-Identifier: MIT */

// Where there are rules, however requests are cut into pieces, the answers are the same; and if
// an allocation fails, no client gets access that the rules deny.

#include "tests/proto_common/wire_host.h"
#include "tests/proto_http/wire_rules.h"
#include "tests/support/nth_alloc.h"

#include "tests/support/broker_check.h"

#include <string.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define PAGE "/-/jobs/" GEAR_PREFIX
#define SAID_MAX 8192
#define HEARD_MAX 16384

static char said_bytes[SAID_MAX];

// Every answer that rules know, by callers that take turns.
static struct slice script(void)
{
    struct slice said = MANY(
        POST("/f", BACKGROUND ALPHA, "one"), http_get("/f", ""), http_get(PAGE "1", ALPHA),
        http_get("/g", ALPHA), http_get("/f", BEARER("alph")), POST("/g", BACKGROUND OMEGA, "two"),
        http_get(PAGE "2", ALPHA), http_bare("DELETE", PAGE "1", EYE), http_get("/f", BEARER("")),
        http_bare("DELETE", PAGE "2", OMEGA), http_get("/f", ALPHA ALPHA),
        http_bare("OPTIONS", "*", ""), POST("/g", "Authorization: Basic x\r\n", "never"));

    assert_true(said.len <= sizeof said_bytes);
    memcpy(said_bytes, said.ptr, said.len);
    return slice_of(said_bytes, said.len);
}

struct heard {
    char bytes[HEARD_MAX];
    size_t len;
};

static void note(struct heard *heard, struct slice bytes)
{
    assert_true(bytes.len <= sizeof heard->bytes);
    memcpy(heard->bytes, bytes.ptr, bytes.len);
    heard->len = bytes.len;
}

// The reply if the first piece has `first` bytes, and the others have `piece`.
static void play(struct slice said, size_t first, size_t piece, struct heard *heard)
{
    struct web *t;
    void *state;

    rules_setup(&state);
    t = state;
    peer_send_pieces(t->a, said, first, piece);
    note(heard, peer_hear(t->a));
    assert_int_equal(http_jobs(t), 1);
    http_teardown(&state);
}

static void however_requests_are_cut_the_answers_are_the_same(void **state)
{
    static struct heard whole, cut;
    struct slice said = script();

    (void)state;
    play(said, said.len, said.len, &whole);
    assert_true(whole.len > 0);
    for (size_t first = 1; first < said.len; first++) {
        play(said, first, said.len, &cut);
        assert_int_equal(cut.len, whole.len);
        assert_memory_equal(cut.bytes, whole.bytes, whole.len);
    }
    play(said, 1, 1, &cut);
    assert_int_equal(cut.len, whole.len);
    assert_memory_equal(cut.bytes, whole.bytes, whole.len);
}

// The same with the n-th allocation failing; false where there were fewer.
static bool play_failing(struct slice said, size_t n, struct heard *heard)
{
    struct web *t;
    void *state;
    bool failed;

    rules_setup(&state);
    t = state;
    nth_alloc_fail(n);
    peer_send_pieces(t->a, said, 100, 100);
    failed = nth_alloc_count() >= n;
    nth_alloc_fail(0);
    note(heard, peer_hear(t->a));
    assert_true(http_jobs(t) <= 2);
    broker_check(rig_broker(t->rig));
    http_teardown(&state);
    return failed;
}

// Of all answers that are heard, none is better than the one with memory: 401, 403 and 404 stay, or
// become 503, or the connection ends.
static void without_memory_every_client_is_refused(void **state)
{
    static const unsigned with_memory[] = {200, 401, 200, 403, 401, 200, 404,
                                           403, 401, 204, 400, 204, 401};
    static struct heard heard;
    struct slice said = script();
    size_t n = 1;

    (void)state;
    for (; play_failing(said, n, &heard); n++) {
        struct slice rest = slice_of(heard.bytes, heard.len);
        struct http_answer answer;

        for (size_t i = 0; http_take(&rest, false, &answer); i++) {
            assert_true(i < sizeof with_memory / sizeof *with_memory);
            if (answer.status != with_memory[i] && answer.status != 503) {
                assert_int_equal(answer.status, 404);
                assert_true(with_memory[i] < 300 || i == 7);
            }
        }
    }
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(however_requests_are_cut_the_answers_are_the_same),
        cmocka_unit_test(without_memory_every_client_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
