/* SPDX-License-Identifier: MIT */
// The turn: which connections are served, the time, and when there is something to do.
#include "core/base/log.h"
#include "server/conn/conn_private.h"
#include "server/process/clock.h"
#include "server/conn/conn.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int turn_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    bed_init(bed, bed_now);
    *state = bed;
    return 0;
}

static int turn_teardown(void **state)
{
    struct bed *bed = *state;

    bed_close(bed);
    free(bed);
    return 0;
}

static void send_raw(int client, const char *text)
{
    assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void command_counts_from_the_moment_of_its_turn(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_clock.mono += 500 * NSEC_PER_SEC;
    bed_send(bed, client, "now\n");
    bed_expect(bed, client, "1500\n");
    (void)close(client);
}

static void long_pipeline_does_not_hold_up_others(void **state)
{
    struct bed *bed = *state;
    int busy = bed_connect(bed);
    int other = bed_connect(bed);
    char text[10001];
    char reply[16];

    for (size_t i = 0; i < 5000; i++) {
        memcpy(text + 2 * i, "x\n", 3);
    }
    send_raw(busy, text);
    send_raw(other, "quick\n");
    bed_turns(bed, 1);
    assert_int_equal(recv(other, reply, sizeof reply, 0), 6);
    assert_in_range(backlog_len(&conn_registry_first(&bed->loop.turn)->input), 5000, 9999);
    bed_expect(bed, busy, text);
    (void)close(busy);
    (void)close(other);
}

static void loop_with_work_left_does_not_sleep(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char reply[16];

    // Nothing would end the sleep of a loop that waits here.
    send_raw(client, "again\nagain\n");
    for (int turns = 0; turns < 3; turns++) {
        bed_turn(bed, true);
    }
    assert_int_equal(recv(client, reply, sizeof reply, 0), 12);
    (void)close(client);
}

static void deadline_fires_once_at_its_time(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "late 10\n");
    bed_expect_silence(bed, client);
    bed_clock.mono += 10 * NSEC_PER_SEC - 1;
    bed_expect_silence(bed, client);
    bed_clock.mono += 1;
    bed_expect(bed, client, "late\n");
    bed_clock.mono += 100 * NSEC_PER_SEC;
    bed_expect_silence(bed, client);
    (void)close(client);
}

static void deadline_can_be_moved_either_way(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "late 10\nlate 20\n");
    bed_clock.mono += 15 * NSEC_PER_SEC;
    bed_expect_silence(bed, client);
    bed_send(bed, client, "late 1\n");
    bed_clock.mono += NSEC_PER_SEC;
    bed_expect(bed, client, "late\n");
    (void)close(client);
}

static void deadline_postponed_in_its_turn_does_not_fire(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "late 1\n");
    bed_clock.mono += NSEC_PER_SEC;
    send_raw(client, "late 5\n");
    bed_expect_silence(bed, client);
    bed_clock.mono += 5 * NSEC_PER_SEC;
    bed_expect(bed, client, "late\n");
    (void)close(client);
}

static void many_deadlines_all_fire(void **state)
{
    enum { MANY = 300 };
    struct bed *bed = *state;
    int clients[MANY];

    for (int i = 0; i < MANY; i++) {
        clients[i] = bed_connect(bed);
        bed_send(bed, clients[i], i % 3 ? "late 7\n" : "late 5\n");
    }
    bed_clock.mono += 5 * NSEC_PER_SEC;
    for (int i = 0; i < MANY; i += 3) {
        bed_expect(bed, clients[i], "late\n");
    }
    bed_expect_silence(bed, clients[1]);
    bed_clock.mono += 2 * NSEC_PER_SEC;
    for (int i = 0; i < MANY; i++) {
        if (i % 3) {
            bed_expect(bed, clients[i], "late\n");
        }
        (void)close(clients[i]);
    }
}

static void deadline_of_a_connection_that_has_gone_is_forgotten(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "late 1\n");
    (void)close(client);
    bed_turns(bed, 2);
    assert_int_equal(bed->front.open, 0);
    bed_clock.mono += 10 * NSEC_PER_SEC;
    bed_turns(bed, 2);
}

static void deadline_ends_the_sleep_of_an_idle_loop(void **state)
{
    struct bed bed;
    char reply[16];
    int client;

    (void)state;
    bed_init(&bed, clock_now);
    client = bed_connect(&bed);
    bed_send(&bed, client, "late 0\n");
    bed_expect(&bed, client, "late\n");
    bed_latest(&bed)->wire.deadline_at = clock_now().mono + 20 * NSEC_PER_MSEC;
    conn_touch(bed_latest(&bed));
    bed_turns(&bed, 1);
    while (recv(client, reply, sizeof reply, 0) < 0) {
        bed_turn(&bed, true);
    }
    assert_memory_equal(reply, "late\n", 5);
    (void)close(client);
    bed_close(&bed);
}

static void due_work_of_the_broker_ends_the_sleep(void **state)
{
    struct bed bed;
    struct submission submission;
    struct job_spec spec = {
        .start_kind = START_AFTER, .start = 20 * NSEC_PER_MSEC, .durable = true};

    (void)state;
    bed_init(&bed, clock_now);
    assert_int_equal(broker_queue_hold(bed.broker, SLICE("q"), &spec.queue), STATUS_OK);
    assert_int_equal(broker_submit(bed.broker, &spec, NULL, &submission), STATUS_OK);
    assert_null(queue_peek_ready(spec.queue));
    while (!queue_peek_ready(spec.queue)) {
        bed_turn(&bed, true);
    }
    broker_queue_drop(bed.broker, spec.queue);
    bed_close(&bed);
}

// The environment may ask libevent for a method without edges.
static void loop_uses_edges_despite_the_environment(void **state)
{
    static const char *const names[] = {"EVENT_NOEPOLL", "EVENT_NOPOLL", "EVENT_NOSELECT",
                                        "EVENT_EPOLL_USE_CHANGELIST", "EVENT_PRECISE_TIMER"};
    const int needed = EV_FEATURE_ET | EV_FEATURE_EARLY_CLOSE;
    struct bed bed;
    int client;

    (void)state;
    // All of these together would leave no method; only the first would leave poll.
    for (size_t count = 1; count <= sizeof names / sizeof *names; count++) {
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(setenv(names[i], "1", 1), 0);
        }
        bed_init(&bed, bed_now);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(unsetenv(names[i]), 0);
        }
        assert_int_equal(event_base_get_features(bed.loop.turn.base) & needed, needed);
        client = bed_connect(&bed);
        bed_send(&bed, client, "hello\n");
        bed_expect(&bed, client, "hello\n");
        (void)close(client);
        bed_turns(&bed, 2);
        bed_close(&bed);
    }
}

static void finishing_sends_staged_output_and_closes(void **state)
{
    struct bed *bed = *state;
    int idle = bed_connect(bed);
    int busy = bed_connect(bed);
    char *big = malloc(900002);

    memset(big, 'B', 900000);
    memcpy(big + 900000, "\n", 2);
    bed_send(bed, busy, "big 900000\nblock\nafter\n");
    loop_stop_conns(&bed->loop);
    bed_expect_end(bed, idle);
    assert_int_equal(bed->front.open, 1);
    bed_expect(bed, busy, big);
    bed_expect(bed, busy, "going\n");
    bed_expect_end(bed, busy);
    assert_int_equal(bed->front.open, 0);
    free(big);
}

static void waiting_client_is_answered_before_its_connection_is_closed(void **state)
{
    struct bed *bed = *state;
    int done = bed_connect(bed);
    int waiting;

    bed_send(bed, done, "big 900000\nquit\n");
    waiting = bed_connect(bed);
    bed_send(bed, waiting, "block\n");
    loop_stop_conns(&bed->loop);
    // A connection that had its last answer is not asked.
    assert_int_equal(bed->front.goings, 1);
    bed_expect(bed, waiting, "going\n");
    bed_expect_end(bed, waiting);
    (void)close(done);
    bed_turns(bed, 2);
}

static void input_that_comes_after_finishing_is_not_parsed(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    send_raw(client, "late\n");
    loop_stop_conns(&bed->loop);
    bed_expect_end(bed, client);
    assert_int_equal(bed->front.feeds, 0);
}

static void turn_reads_a_bounded_number_of_connections(void **state)
{
    enum { CLIENTS = 2 * TURN_CONNS_MAX + 10 };
    struct bed *bed = *state;
    int clients[CLIENTS];

    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = bed_connect(bed);
    }
    bed_turns(bed, 5);
    for (int i = 0; i < CLIENTS; i++) {
        send_raw(clients[i], "line\n");
    }
    bed->front.feeds = 0;
    for (unsigned turns = 1; turns <= 3; turns++) {
        bed_turn(bed, false);
        assert_in_range(bed->front.feeds, 0, turns * TURN_CONNS_MAX);
    }
    for (int i = 0; i < CLIENTS; i++) {
        bed_expect(bed, clients[i], "line\n");
    }
    assert_int_equal(bed->front.feeds, CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        (void)close(clients[i]);
    }
    bed_turns(bed, 10);
    assert_int_equal(bed->front.open, 0);
}

// A clock by which only feeding takes time.
static const struct bed *fed;
static nsec_t feed_lasts_for;

static struct instant feeding_now(void)
{
    struct instant now = bed_clock;

    now.mono += fed->front.feeds * feed_lasts_for;
    return now;
}

#define FEED_FOR (TURN_INPUT_FOR / 10)
enum { LONG_TURN = 20, FEEDS_IN_TIME = 12 };
_Static_assert(FEEDS_IN_TIME *FEED_FOR >= TURN_INPUT_FOR &&
                   (FEEDS_IN_TIME - TURN_CLOCK_EVERY) * FEED_FOR < TURN_INPUT_FOR,
               "feeds that a turn has time for");

static void connect_all(struct bed *bed, int *clients)
{
    memset(bed, 0, sizeof *bed);
    fed = bed;
    feed_lasts_for = FEED_FOR;
    bed_init(bed, feeding_now);
    for (int i = 0; i < LONG_TURN; i++) {
        clients[i] = bed_connect(bed);
    }
    bed_turns(bed, 2);
}

static void close_all(struct bed *bed, const int *clients)
{
    for (int i = 0; i < LONG_TURN; i++) {
        (void)close(clients[i]);
    }
    bed_close(bed);
}

static void turn_that_lasts_long_leaves_the_rest_to_the_next(void **state)
{
    struct bed bed;
    int clients[LONG_TURN];

    (void)state;
    connect_all(&bed, clients);
    for (int i = 0; i < LONG_TURN; i++) {
        send_raw(clients[i], "line\n");
    }
    bed_turn(&bed, false);
    assert_int_equal(bed.front.feeds, FEEDS_IN_TIME);
    for (int i = 0; i < LONG_TURN; i++) {
        bed_expect(&bed, clients[i], "line\n");
    }
    close_all(&bed, clients);
}

static void connections_left_over_by_a_long_turn_come_first_in_the_next(void **state)
{
    struct bed bed;
    int clients[LONG_TURN];

    (void)state;
    connect_all(&bed, clients);
    feed_lasts_for = TURN_OUTPUT_FOR;
    send_raw(clients[0], "line\n");
    for (struct conn *conn = conn_registry_first(&bed.loop.turn); conn;
         conn = conn_registry_next(conn)) {
        conn_touch(conn);
    }
    bed_turn(&bed, false);
    assert_false(list_empty(&bed.loop.turn.touched));
    bed_turn(&bed, false);
    assert_true(list_empty(&bed.loop.turn.touched));
    bed_expect(&bed, clients[0], "line\n");
    close_all(&bed, clients);
}

// The largest number of bytes kept for a connection, less the smallest.
static size_t unevenness(struct bed *bed)
{
    size_t most = 0;
    size_t least = SIZE_MAX;

    for (const struct conn *conn = conn_registry_first(&bed->loop.turn); conn;
         conn = conn_registry_next(conn)) {
        size_t len = backlog_len(&conn->input);

        most = len > most ? len : most;
        least = len < least ? len : least;
    }
    return most - least;
}

static void long_pipelines_come_on_evenly_where_turns_last_long(void **state)
{
    enum { LINES = 40 * CONN_COMMANDS_MAX };
    struct bed bed;
    int clients[LONG_TURN];
    char lines[2 * LINES + 1] = "";

    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        memcpy(lines + 2 * i, "x\n", 3);
    }
    connect_all(&bed, clients);
    for (int i = 0; i < LONG_TURN; i++) {
        send_raw(clients[i], lines);
    }
    for (int turns = 0; turns < 50; turns++) {
        bed_turn(&bed, false);
        assert_in_range(bed.front.most, 1, CONN_COMMANDS_MAX);
    }
    assert_in_range(unevenness(&bed), 0, 10 * CONN_COMMANDS_MAX);
    for (int i = 0; i < LONG_TURN; i++) {
        bed_expect(&bed, clients[i], lines);
    }
    close_all(&bed, clients);
}

// After this many turns, a connection has sent more than a socket holds.
enum { UNTIL_FULL = 40 };

static void client_that_takes_no_output_is_dropped_in_the_end(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char taken[4096];

    bed->loop.turn.unread_for = 60 * NSEC_PER_SEC;
    bed_send(bed, client, "big 9000000\n");
    bed_turns(bed, UNTIL_FULL);
    bed_clock.mono += 50 * NSEC_PER_SEC;
    bed_turns(bed, 2);
    // When the peer reads, and there is room in the socket, the time begins again.
    while (recv(client, taken, sizeof taken, 0) > 0) {
        // Everything that the socket holds.
    }
    bed_turns(bed, UNTIL_FULL);
    bed_clock.mono += 60 * NSEC_PER_SEC - 1;
    bed_turns(bed, 2);
    assert_int_equal(bed->front.open, 1);
    bed_clock.mono += 1;
    bed_turns(bed, 2);
    assert_int_equal(bed->front.open, 0);
    (void)close(client);
}

static void client_without_pending_output_may_be_silent_for_ever(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed->loop.turn.unread_for = 60 * NSEC_PER_SEC;
    bed_send(bed, client, "line\n");
    bed_expect(bed, client, "line\n");
    bed_clock.mono += 5000 * NSEC_PER_SEC;
    bed_turns(bed, 2);
    assert_int_equal(bed->front.open, 1);
    (void)close(client);
}

// The work of a turn, and its duration by a virtual clock.
struct busy {
    nsec_t works_for; // by the thread's clock
    nsec_t lasts_for;
    struct loop *silenced; // from this turn on, no turn is slow
    unsigned slow_lines;
    nsec_t said_for; // in the last of these
};

static nsec_t thread_clock(void)
{
    struct timespec used = {0};

    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used), 0);
    return (nsec_t)used.tv_sec * NSEC_PER_SEC + used.tv_nsec;
}

static struct busy busy;

// The store's share of a turn.
static void busy_turn(struct store *store)
{
    nsec_t end_at = thread_clock() + busy.works_for;

    (void)store;
    while (thread_clock() < end_at) {
        // Only that.
    }
    bed_clock.mono += busy.lasts_for;
    if (busy.silenced) {
        busy.silenced->slow_for = 0;
    }
}

static void busy_see(void *context, enum log_level level, const char *event,
                     const struct log_field *fields, size_t count)
{
    (void)context;
    assert_int_equal(level, LOG_LEVEL_WARN);
    assert_string_equal(event, "slow_turn");
    assert_int_equal(count, 1);
    busy.slow_lines++;
    busy.said_for = fields[0].number * 1000;
}

// One turn that works for 2 ms. It is an hour since the last one.
static void busy_through_turn(struct bed *bed, nsec_t slow_for)
{
    static struct store_ops ops;

    busy.works_for = 2 * NSEC_PER_MSEC;
    bed_keep(bed);
    ops = *bed->front.store.store.ops;
    ops.turn = busy_turn;
    bed->front.store.store.ops = &ops;
    bed->loop.slow_for = slow_for;
    bed_clock.mono += 3600 * NSEC_PER_SEC;
    log_set_sink(busy_see, NULL, LOG_LEVEL_WARN);
    bed_turn(bed, false);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
}

static void turn_with_much_processor_time_is_logged(void **state)
{
    busy = (struct busy){.lasts_for = 3600 * NSEC_PER_SEC};
    busy_through_turn(*state, NSEC_PER_MSEC);
    assert_int_equal(busy.slow_lines, 1);
    assert_in_range(busy.said_for, 2 * NSEC_PER_MSEC, 3599 * NSEC_PER_SEC);
}

static void logged_time_is_at_most_the_duration_of_the_turn(void **state)
{
    busy = (struct busy){.lasts_for = NSEC_PER_MSEC + 1000};
    busy_through_turn(*state, NSEC_PER_MSEC);
    assert_int_equal(busy.slow_lines, 1);
    assert_int_equal(busy.said_for, NSEC_PER_MSEC + 1000);
}

static void turn_in_which_no_time_passes_is_not_slow(void **state)
{
    busy = (struct busy){.lasts_for = 0};
    busy_through_turn(*state, NSEC_PER_MSEC);
    assert_int_equal(busy.slow_lines, 0);
}

static void turn_that_changes_the_limit_is_judged_by_the_old_one(void **state)
{
    struct bed *bed = *state;

    busy = (struct busy){.lasts_for = 3600 * NSEC_PER_SEC, .silenced = &bed->loop};
    busy_through_turn(bed, 1800 * NSEC_PER_SEC);
    assert_int_equal(busy.slow_lines, 0);
}

#define TURN_TEST(name) cmocka_unit_test_setup_teardown(name, turn_setup, turn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TURN_TEST(command_counts_from_the_moment_of_its_turn),
        TURN_TEST(long_pipeline_does_not_hold_up_others),
        TURN_TEST(turn_reads_a_bounded_number_of_connections),
        cmocka_unit_test(turn_that_lasts_long_leaves_the_rest_to_the_next),
        cmocka_unit_test(connections_left_over_by_a_long_turn_come_first_in_the_next),
        cmocka_unit_test(long_pipelines_come_on_evenly_where_turns_last_long),
        TURN_TEST(turn_with_much_processor_time_is_logged),
        TURN_TEST(logged_time_is_at_most_the_duration_of_the_turn),
        TURN_TEST(turn_in_which_no_time_passes_is_not_slow),
        TURN_TEST(turn_that_changes_the_limit_is_judged_by_the_old_one),
        TURN_TEST(loop_with_work_left_does_not_sleep),
        TURN_TEST(client_that_takes_no_output_is_dropped_in_the_end),
        TURN_TEST(client_without_pending_output_may_be_silent_for_ever),
        TURN_TEST(deadline_fires_once_at_its_time),
        TURN_TEST(deadline_can_be_moved_either_way),
        TURN_TEST(deadline_postponed_in_its_turn_does_not_fire),
        TURN_TEST(many_deadlines_all_fire),
        TURN_TEST(deadline_of_a_connection_that_has_gone_is_forgotten),
        cmocka_unit_test(deadline_ends_the_sleep_of_an_idle_loop),
        cmocka_unit_test(due_work_of_the_broker_ends_the_sleep),
        cmocka_unit_test(loop_uses_edges_despite_the_environment),
        TURN_TEST(finishing_sends_staged_output_and_closes),
        TURN_TEST(waiting_client_is_answered_before_its_connection_is_closed),
        TURN_TEST(input_that_comes_after_finishing_is_not_parsed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
