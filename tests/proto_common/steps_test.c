/* SPDX-License-Identifier: MIT */
// The step loop: the steps that it makes, its result for the host, and the budget that it charges.
// The front-end of these tests has a protocol of single letters; a digit announces a body.
#include "proto_common/steps.h"
#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_LEN (INTAKE_DIRECT_MIN + 100)

enum state { LETTERS, BODY, WAITING, OVER };

struct conn {
    struct broker *broker;
    struct session *session;
    struct output_pool pool;
    struct wire wire;
    enum state state;
    struct intake body;
    char did[200]; // the letters that were carried out, `!` for a body
};

static void note(struct conn *conn, char what)
{
    size_t len = strlen(conn->did);

    assert_true(len + 1 < sizeof conn->did);
    conn->did[len] = what;
}

static enum step carry_out(struct conn *conn, char letter)
{
    static const char much[FEED_STAGED_MAX];

    note(conn, letter);
    switch (letter) {
    case 'w':
        conn->state = WAITING;
        break;
    case 'q':
        conn->state = OVER;
        break;
    case 's': // a slice of a long reply
        return STEP_AGAIN;
    case 'l':
        output_write(&conn->wire.out, slice_of(much, sizeof much));
        break;
    case 'n': // visits all subscriptions
        (void)broker_await_nudge(conn->session);
        break;
    case '1':
        conn->state = BODY;
        intake_begin(&conn->body, BODY_LEN);
        break;
    default:
        break;
    }
    return STEP_ON;
}

static enum step step_letters(struct conn *conn, struct feed_turn *turn)
{
    char letter;

    assert_non_null(turn->input.ptr);
    if (turn->input.len == 0) {
        return STEP_MORE;
    }
    if (feed_turn_is_over(turn, &conn->wire)) {
        return STEP_AGAIN;
    }
    letter = *turn->input.ptr;
    turn->budget--;
    turn->input = slice_from(turn->input, 1);
    return carry_out(conn, letter);
}

static enum step step_body(struct conn *conn, struct feed_turn *turn)
{
    if (intake_take(&conn->body, &turn->input) == INTAKE_MORE) {
        return STEP_MORE;
    }
    intake_discard(&conn->body);
    note(conn, '!');
    conn->state = LETTERS;
    return STEP_ON;
}

static enum step make(void *state, struct feed_turn *turn)
{
    struct conn *conn = state;

    switch (conn->state) {
    case LETTERS:
        return step_letters(conn, turn);
    case BODY:
        return step_body(conn, turn);
    case WAITING:
        return STEP_BLOCKED;
    case OVER:
        break;
    }
    return STEP_FINISHED;
}

static struct intake *intake_of(void *state)
{
    struct conn *conn = state;

    return conn->state == BODY ? &conn->body : NULL;
}

static const struct steps steps = {.make = make, .intake = intake_of};

static struct feed feed(struct conn *conn, const char *input, unsigned budget)
{
    struct slice bytes = input ? slice_str(input) : (struct slice){NULL, 0};

    return steps_feed(&steps, conn, &conn->wire, conn->broker, bytes, budget);
}

static void expect(struct feed fed, enum feed_state state, size_t used)
{
    assert_int_equal(fed.state, state);
    assert_int_equal(fed.used, used);
}

static int setup(void **state)
{
    static const struct session_ops ops;
    const struct subscription_terms terms = {.limit_for = 0};
    struct conn *conn = calloc(1, sizeof *conn);

    conn->broker = broker_new(&(struct broker_options){0}, (struct instant){0});
    assert_int_equal(broker_session_open(conn->broker, &ops, conn, CHOICE_OLDEST, &conn->session),
                     STATUS_OK);
    for (int i = 0; i < 2 * LINKS_PER_COMMAND; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "q%d", i);

        assert_int_equal(broker_subscribe(conn->session, slice_of(name, (size_t)len), &terms),
                         STATUS_OK);
    }
    (void)broker_take_links(conn->broker);
    output_init(&conn->wire.out, &conn->pool);
    *state = conn;
    return 0;
}

static int teardown(void **state)
{
    struct conn *conn = *state;

    intake_discard(&conn->body);
    output_clear(&conn->wire.out);
    output_pool_clear(&conn->pool);
    broker_session_close(conn->session);
    broker_free(conn->broker);
    free(conn);
    return 0;
}

static void steps_are_made_until_the_input_is_used_up(void **state)
{
    struct conn *conn = *state;

    expect(feed(conn, "abc", 100), FEED_MORE, 3);
    assert_string_equal(conn->did, "abc");
}

static void empty_input_is_never_a_null_pointer(void **state)
{
    struct conn *conn = *state;

    expect(feed(conn, NULL, 100), FEED_MORE, 0);
}

static void a_spent_budget_leaves_the_rest_to_the_next_turn(void **state)
{
    struct conn *conn = *state;

    expect(feed(conn, "abcde", 3), FEED_AGAIN, 3);
    expect(feed(conn, "de", 3), FEED_MORE, 2);
    assert_string_equal(conn->did, "abcde");
}

static void much_output_leaves_the_rest_to_the_next_turn(void **state)
{
    struct conn *conn = *state;

    expect(feed(conn, "alb", 100), FEED_AGAIN, 2);
    // Output that was staged in an earlier turn does not count.
    expect(feed(conn, "blc", 100), FEED_AGAIN, 2);
    assert_string_equal(conn->did, "albl");
}

static void a_verb_that_visits_many_queues_is_charged_to_its_connection(void **state)
{
    struct conn *conn = *state;

    // One for the command and two for the subscriptions that it visited.
    expect(feed(conn, "naaaa", 4), FEED_AGAIN, 2);
    // The cost of the last command is not charged to the next turn, which may be another
    // connection's.
    assert_int_equal(broker_take_links(conn->broker), 0);
}

static void a_feed_that_uses_more_than_a_quarter_of_its_budget_is_dear(void **state)
{
    struct conn *conn = *state;

    assert_false(feed(conn, "a", 4).dear);
    assert_true(feed(conn, "aa", 4).dear);
    assert_false(feed(conn, "n", 100).dear);
    // Two of the three commands are for the subscriptions that the verb visited.
    assert_true(feed(conn, "n", 8).dear);
    assert_true(feed(conn, "as", 100).dear);
}

static void a_slice_of_a_reply_ends_the_turn(void **state)
{
    struct conn *conn = *state;

    expect(feed(conn, "asb", 100), FEED_AGAIN, 2);
}

static void a_blocking_step_leaves_the_input_with_the_host(void **state)
{
    struct conn *conn = *state;

    expect(feed(conn, "awb", 100), FEED_BLOCKED, 2);
    expect(feed(conn, "b", 100), FEED_BLOCKED, 0);
    conn->state = LETTERS;
    expect(feed(conn, "b", 100), FEED_MORE, 1);
    assert_string_equal(conn->did, "awb");
}

static void no_step_is_made_after_the_end(void **state)
{
    struct conn *conn = *state;

    expect(feed(conn, "aqb", 100), FEED_FINISHED, 2);
    assert_string_equal(conn->did, "aq");
}

static void a_large_body_is_received_in_place(void **state)
{
    struct conn *conn = *state;
    struct feed fed = feed(conn, "1xy", 100);
    size_t left = BODY_LEN - 2;

    expect(fed, FEED_MORE, 3);
    while (fed.into) {
        assert_true(left >= INTAKE_DIRECT_MIN && fed.into_len <= left);
        memset(fed.into, 'x', fed.into_len);
        left -= fed.into_len;
        steps_take(&steps, conn, fed.into_len);
        fed = feed(conn, NULL, 100);
        expect(fed, FEED_MORE, 0);
    }
    assert_true(left > 0 && left < INTAKE_DIRECT_MIN);
    assert_string_equal(conn->did, "1");
    while (left > 0) {
        expect(feed(conn, "x", 100), FEED_MORE, 1);
        left--;
    }
    assert_string_equal(conn->did, "1!");
}

static void only_a_body_has_a_buffer(void **state)
{
    struct conn *conn = *state;

    assert_null(feed(conn, "abc", 100).into);
    assert_null(feed(conn, "w", 100).into);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(steps_are_made_until_the_input_is_used_up),
        TEST(empty_input_is_never_a_null_pointer),
        TEST(a_spent_budget_leaves_the_rest_to_the_next_turn),
        TEST(much_output_leaves_the_rest_to_the_next_turn),
        TEST(a_verb_that_visits_many_queues_is_charged_to_its_connection),
        TEST(a_feed_that_uses_more_than_a_quarter_of_its_budget_is_dear),
        TEST(a_slice_of_a_reply_ends_the_turn),
        TEST(a_blocking_step_leaves_the_input_with_the_host),
        TEST(no_step_is_made_after_the_end),
        TEST(a_large_body_is_received_in_place),
        TEST(only_a_body_has_a_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
