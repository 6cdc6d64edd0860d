/* SPDX-License-Identifier: MIT */

// Event streams with sources of the test, which are linked in place of those of admin/events.

#include "admin/events/event_source.h"
#include "admin/events/event_stream.h"
#include "core/base/memory.h"

#include "tests/admin/wire_admin.h"
#include "tests/proto_common/wire_callers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GET_EVENTS "/api/v1/events"

// The data of the sources.
static struct {
    int steady;      // the document of the first source
    int slices;      // slices that the second source needs, if `?slow=1` requests it
    int news;        // documents that the third source makes
    unsigned rounds; // of the first source
    unsigned steps;  // of the second source
    unsigned open;   // states that are not closed
    int large;       // additional bytes in documents of the second source
} world;

struct state {
    int left; // of this round
    bool begun;
};

static char *text_of(json_t *document)
{
    char *text = json_dumps(document, JSON_COMPACT);

    assert_non_null(text);
    json_decref(document);
    return text;
}

static void *state_new(void)
{
    struct state *state = calloc(1, sizeof *state);

    assert_non_null(state);
    world.open++;
    return state;
}

static void close_state(void *state)
{
    world.open--;
    free(state);
}

static void *open_steady(struct input *input)
{
    (void)input;
    return state_new();
}

static enum status make_steady(struct http1_conn *conn, void *context, const char **event,
                               char **text)
{
    struct state *state = context;

    (void)conn;
    state->begun = !state->begun;
    if (!state->begun) {
        return STATUS_EMPTY;
    }
    world.rounds++;
    *event = "steady";
    *text = text_of(json_pack("{s:i}", "n", world.steady));
    return STATUS_OK;
}

static void *open_slow(struct input *input)
{
    uint64_t asked = 0;

    return input_query_number(input, "slow", 1, 1, &asked) ? state_new() : NULL;
}

static enum status make_slow(struct http1_conn *conn, void *context, const char **event,
                             char **text)
{
    struct state *state = context;
    char *long_text;

    (void)conn;
    if (!state->begun) {
        state->begun = true;
        state->left = world.slices;
    }
    world.steps++;
    if (state->left > 0) {
        state->left--;
        return STATUS_MORE;
    }
    if (state->left < 0) {
        state->begun = false;
        return STATUS_EMPTY;
    }
    state->left = -1;
    long_text = malloc((size_t)world.large + 1);
    assert_non_null(long_text);
    memset(long_text, 'x', (size_t)world.large);
    *event = "slow";
    *text = text_of(json_pack("{s:i, s:s#}", "n", world.steady, "x", long_text, world.large));
    free(long_text);
    return STATUS_OK;
}

static enum status make_news(struct http1_conn *conn, void *context, const char **event,
                             char **text)
{
    (void)conn;
    (void)context;
    if (world.news == 0) {
        return STATUS_EMPTY;
    }
    world.news--;
    *event = "news";
    *text = text_of(json_object());
    return STATUS_OK;
}

static size_t holds_much(const void *state)
{
    (void)state;
    return 100000;
}

static const struct event_source steady = {open_steady, make_steady, close_state, NULL, false};
static const struct event_source slow = {open_slow, make_slow, close_state, holds_much, false};
static const struct event_source news = {open_steady, make_news, close_state, NULL, true};

const struct event_source *const event_sources[EVENT_SOURCES_MAX + 1] = {&steady, &slow, &news};
const char *const event_parameters[] = {"slow", NULL};

static int setup(void **state)
{
    memset(&world, 0, sizeof world);
    return admin_setup(state);
}

// All states of streams must be closed.
static int teardown(void **state)
{
    admin_teardown(state);
    assert_int_equal(world.open, 0);
    return 0;
}

// The stream that the peer has received, without chunk sizes.
static const char *hears_more(struct peer *peer)
{
    static char text[1 << 20];
    struct slice heard = peer_hear(peer);
    size_t len = 0;

    while (heard.len > 0) {
        char *end;
        size_t size = strtoul(heard.ptr, &end, 16);

        assert_memory_equal(end, "\r\n", 2);
        memcpy(text + len, end + 2, size);
        len += size;
        heard = slice_from(heard, (size_t)(end + 2 - heard.ptr) + size);
        assert_memory_equal(heard.ptr, "\r\n", 2);
        heard = slice_from(heard, 2);
    }
    text[len] = '\0';
    return text;
}

#define hears(peer, events) assert_string_equal(hears_more(peer), (events))

// The peer opens a stream and receives this at once.
static void opens(struct peer *peer, const char *target, const char *events)
{
    struct http_answer answer;
    struct slice heard = peer_ask(peer, SEES(target));

    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 200);
    assert_true(answer.open);
    field_is(&answer, "Content-Type", "text/event-stream");
    field_is(&answer, "Cache-Control", "no-store");
    field_is(&answer, "X-Accel-Buffering", "no");
    assert_int_equal(answer.body.len, strlen(events));
    assert_memory_equal(answer.body.ptr, events, answer.body.len);
}

#define STEADY(id, n) "id: " id "\nevent: steady\ndata: {\"n\":" n "}\n\n"
#define NEWS(id) "id: " id "\nevent: news\ndata: {}\n\n"
#define BYE(id) "id: " id "\nevent: bye\ndata: {}\n\n"

static void a_stream_begins_with_the_complete_state(void **state)
{
    struct admin *t = *state;

    world.news = 1;
    opens(t->a, GET_EVENTS, STEADY("1", "0") NEWS("2"));
}

static void only_changed_documents_are_sent(void **state)
{
    struct admin *t = *state;

    opens(t->a, GET_EVENTS, STEADY("1", "0"));
    rig_advance(t->rig, SECONDS(3));
    hears(t->a, "");
    world.steady = 1;
    rig_advance(t->rig, SECONDS(1));
    hears(t->a, STEADY("2", "1"));
    world.steady = 0;
    rig_advance(t->rig, SECONDS(1));
    hears(t->a, STEADY("3", "0"));
}

// Proxies close idle connections.
static void an_idle_stream_has_a_comment_every_fifteen_seconds(void **state)
{
    struct admin *t = *state;

    opens(t->a, GET_EVENTS, STEADY("1", "0"));
    for (int i = 0; i < 3; i++) {
        rig_advance(t->rig, SECONDS(14));
        hears(t->a, "");
        rig_advance(t->rig, SECONDS(1));
        hears(t->a, ":\n\n");
    }
    rig_advance(t->rig, SECONDS(10));
    world.steady = 1;
    rig_advance(t->rig, SECONDS(1));
    hears(t->a, STEADY("2", "1"));
    rig_advance(t->rig, SECONDS(14));
    hears(t->a, "");
    rig_advance(t->rig, SECONDS(1));
    hears(t->a, ":\n\n");
}

static void equal_documents_of_such_a_source_are_sent(void **state)
{
    struct admin *t = *state;

    opens(t->a, GET_EVENTS, STEADY("1", "0"));
    world.news = 2;
    rig_advance(t->rig, SECONDS(1));
    hears(t->a, NEWS("2") NEWS("3"));
}

static void sources_are_polled_once_a_second(void **state)
{
    struct admin *t = *state;

    opens(t->a, GET_EVENTS, STEADY("1", "0"));
    assert_int_equal(world.rounds, 1);
    rig_advance(t->rig, SECONDS(1) - 1);
    assert_int_equal(world.rounds, 1);
    rig_advance(t->rig, SECONDS(100) + 1);
    assert_int_equal(world.rounds, 102);
}

// An hour passes without any work.
static void no_work_is_done_without_an_open_stream(void **state)
{
    struct admin *t = *state;
    unsigned long before;

    opens(t->a, GET_EVENTS, STEADY("1", "0"));
    peer_free(t->a);
    rig_run(t->rig);
    before = rig_feeds(t->rig);
    rig_advance(t->rig, SECONDS(60));
    assert_int_equal(rig_feeds(t->rig), before);
    assert_int_equal(world.rounds, 1);
}

static void a_source_that_is_not_requested_is_not_polled(void **state)
{
    struct admin *t = *state;

    opens(t->a, GET_EVENTS, STEADY("1", "0"));
    assert_int_equal(world.steps, 0);
    opens(t->b, GET_EVENTS "?slow=1",
          STEADY("1", "0") "id: 2\nevent: slow\ndata: {\"n\":0,\"x\":\"\"}\n\n");
    assert_int_equal(world.steps, 2);
}

// 5,000 slices take 5 seconds: at most one in a millisecond.
static void much_work_is_followed_by_a_pause(void **state)
{
    struct admin *t = *state;

    world.slices = 5000;
    opens(t->a, GET_EVENTS "?slow=1",
          STEADY("1", "0") "id: 2\nevent: slow\ndata: {\"n\":0,\"x\":\"\"}\n\n");
    assert_int_equal(world.rounds, 1);
    rig_advance(t->rig, SECONDS(5));
    assert_int_equal(world.rounds, 1);
    rig_advance(t->rig, SECONDS(1));
    assert_int_equal(world.rounds, 2);
}

// With a budget of a few commands, each slice has a turn of its own, and other connections come
// between.
static void much_work_does_not_delay_other_connections(void **state)
{
    struct admin *t = *state;

    world.slices = 100;
    peer_send(t->a, SEES(GET_EVENTS "?slow=1"));
    rig_feed(t->rig);
    assert_true(world.steps < 50);
    rig_run(t->rig);
    assert_int_equal(world.steps, 102);
}

static void no_documents_are_made_for_a_client_that_does_not_read(void **state)
{
    struct admin *t = *state;
    unsigned before;

    opens(t->a, GET_EVENTS, STEADY("1", "0"));
    peer_stop_reading(t->a);
    world.steady = 1;
    rig_advance(t->rig, SECONDS(1));
    before = world.rounds;
    for (world.steady = 2; world.steady < 100; world.steady++) {
        rig_advance(t->rig, SECONDS(1));
    }
    assert_int_equal(world.rounds, before);
    assert_true(peer_unread(t->a) < 100);
    peer_read_again(t->a);
    hears(t->a, STEADY("2", "1"));
    // The next document contains what it missed.
    rig_advance(t->rig, SECONDS(1));
    hears(t->a, STEADY("3", "100"));
}

// Otherwise it may leave one round unread for as long as the host allows.
static void if_memory_is_short_a_client_that_does_not_read_is_disconnected(void **state)
{
    struct admin *t = *state;

    world.large = 100000;
    peer_stop_reading(t->a);
    peer_send(t->a, SEES(GET_EVENTS "?slow=1"));
    rig_advance(t->rig, SECONDS(10));
    assert_false(peer_dropped(t->a));
    memory_set_limit(1);
    rig_advance(t->rig, SECONDS(1));
    memory_set_limit(0);
    assert_true(peer_dropped(t->a));
    assert_int_equal(world.open, 0);
}

static void the_number_of_open_streams_is_limited(void **state)
{
    struct admin *t = *state;
    struct peer *peers[EVENTS_STREAMS];

    for (size_t i = 0; i < EVENTS_STREAMS; i++) {
        peers[i] = peer_new(t->rig);
        opens(peers[i], GET_EVENTS, STEADY("1", "0"));
    }
    asks(t->a, SEES(GET_EVENTS), 503);
    peer_free(peers[0]);
    opens(t->a, GET_EVENTS, STEADY("1", "0"));
}

static void an_invalid_query_opens_no_stream(void **state)
{
    struct admin *t = *state;

    for (int i = 0; i < 2 * EVENTS_STREAMS; i++) {
        asks(t->a, SEES(GET_EVENTS "?slow=2"), 400);
        asks(t->a, SEES(GET_EVENTS "?fast=1"), 400);
    }
    assert_int_equal(world.open, 0);
    opens(t->a, GET_EVENTS, STEADY("1", "0"));
}

static void a_head_request_opens_no_stream(void **state)
{
    struct admin *t = *state;
    struct slice heard = peer_ask(t->a, http_bare("HEAD", GET_EVENTS, ""));
    struct http_answer answer;

    assert_true(http_take(&heard, true, &answer));
    assert_int_equal(answer.status, 200);
    assert_int_equal(world.open, 0);
    assert_int_equal(world.rounds, 0);
}

static void a_stopping_broker_sends_bye(void **state)
{
    struct admin *t = *state;

    opens(t->a, GET_EVENTS, STEADY("1", "0"));
    rig_stop(t->rig);
    assert_string_equal(peer_hear(t->a).ptr, "1b\r\n" BYE("2") "\r\n0\r\n\r\n");
    assert_true(peer_closed(t->a));
}

static void a_caller_whose_right_was_revoked_gets_bye(void **state)
{
    struct admin *t = *state;

    opens(t->a, GET_EVENTS, STEADY("1", "0"));
    peer_may(t->a, {MAY_SUBMIT, "*"});
    rig_advance(t->rig, SECONDS(1));
    hears(t->a, BYE("2"));
    assert_false(peer_closed(t->a));
    assert_int_equal(world.open, 0);
}

static void the_memory_of_a_stream_is_counted(void **state)
{
    struct admin *t = *state;
    size_t small;

    opens(t->a, GET_EVENTS, STEADY("1", "0"));
    small = peer_holds(t->a);
    assert_true(small > 100 && small < 2000);
    opens(t->b, GET_EVENTS "?slow=1",
          STEADY("1", "0") "id: 2\nevent: slow\ndata: {\"n\":0,\"x\":\"\"}\n\n");
    assert_true(peer_holds(t->b) > small + 99000);
}

#define STREAM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static int setup_turns(void **state)
{
    memset(&world, 0, sizeof world);
    return admin_setup_with(state, (struct rig_options){.budget = 64}, ADMIN_DEFAULTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STREAM(a_stream_begins_with_the_complete_state),
        STREAM(only_changed_documents_are_sent),
        STREAM(an_idle_stream_has_a_comment_every_fifteen_seconds),
        STREAM(equal_documents_of_such_a_source_are_sent),
        STREAM(sources_are_polled_once_a_second),
        STREAM(no_work_is_done_without_an_open_stream),
        STREAM(a_source_that_is_not_requested_is_not_polled),
        STREAM(much_work_is_followed_by_a_pause),
        cmocka_unit_test_setup_teardown(much_work_does_not_delay_other_connections, setup_turns,
                                        teardown),
        STREAM(no_documents_are_made_for_a_client_that_does_not_read),
        STREAM(if_memory_is_short_a_client_that_does_not_read_is_disconnected),
        STREAM(the_number_of_open_streams_is_limited),
        STREAM(an_invalid_query_opens_no_stream),
        STREAM(a_head_request_opens_no_stream),
        STREAM(a_stopping_broker_sends_bye),
        STREAM(a_caller_whose_right_was_revoked_gets_bye),
        STREAM(the_memory_of_a_stream_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
