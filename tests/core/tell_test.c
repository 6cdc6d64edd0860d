/* SPDX-License-Identifier: MIT */
// The order in which watches are told: the events of each job keep their order, and a job with very
// many watches does not hold up the others.
#include "core/base/hash.h"
#include "tests/core/stage.h"
#include "tests/support/broker_check.h"

#include <stdlib.h>
#include <string.h>

enum { VERY_MANY = 20 * BROKER_SLICE };

// A watch, and the last event that it was told.
struct listener {
    struct hash_node by_watch;
    const struct watch *watch;
    uint64_t job;
    uint64_t heard; // how many events
    uint64_t last;  // the number that the worker gave the last part; 0: none yet
    size_t encodes; // bytes at each event
    bool over;
};

struct hall {
    struct broker *broker;
    struct session *worker;
    struct session *client;
    struct queue *queue;
    struct hash listeners; // by their watches, until these end
    bool settling;
    uint64_t *heard; // NULL: the order of jobs is not noted
    uint64_t order[16];
};

static struct listener *listener_at(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct listener, by_watch);
}

static uint64_t hash_of_watch(const struct hash_node *node)
{
    return hash_mix((uintptr_t)listener_at(node)->watch);
}

static struct listener *listener_of(const struct hall *hall, const struct watch *watch)
{
    struct hash_node *node = hash_first(&hall->listeners, hash_mix((uintptr_t)watch));

    while (node && listener_at(node)->watch != watch) {
        node = node->next;
    }
    assert_non_null(node);
    return listener_at(node);
}

static void on_leased(void *owner, const struct job *job)
{
    (void)owner;
    (void)job;
    fail();
}

static void on_wait_over(void *owner, enum wait_end why)
{
    (void)owner;
    (void)why;
    fail();
}

static void on_nudged(void *owner)
{
    (void)owner;
    fail();
}

static void on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    struct hall *hall = owner;
    struct listener *listener = listener_of(hall, watch);

    assert_true(hall->settling && !listener->over);
    assert_int_equal(event->job_id, listener->job);
    listener->heard++;
    if (hall->heard) {
        *hall->heard++ = event->job_id;
    }
    broker_charge_bytes(hall->broker, listener->encodes);
    if (event->kind == JOB_EVENT_COMPLETE) {
        listener->over = true;
        hash_remove(&hall->listeners, &listener->by_watch);
    } else {
        uint64_t number;

        assert_int_equal(event->kind, JOB_EVENT_DATA);
        memcpy(&number, event->data->bytes, sizeof number);
        assert_true(listener->last == 0 || number == listener->last + 1);
        listener->last = number;
    }
}

static const struct session_ops ops = {
    .leased = on_leased,
    .wait_over = on_wait_over,
    .nudged = on_nudged,
    .job_event = on_job_event,
};

static void open_hall(struct hall *hall)
{
    const struct subscription_terms terms = {0};

    *hall =
        (struct hall){.broker = broker_new(&(struct broker_options){0}, (struct instant){1, 1})};
    assert_non_null(hall->broker);
    hash_init(&hall->listeners, hash_of_watch);
    assert_status(STATUS_OK,
                  broker_session_open(hall->broker, &ops, hall, CHOICE_OLDEST, &hall->worker));
    assert_status(STATUS_OK,
                  broker_session_open(hall->broker, &ops, hall, CHOICE_OLDEST, &hall->client));
    assert_status(STATUS_OK, broker_queue_hold(hall->broker, SLICE("q"), &hall->queue));
    assert_status(STATUS_OK, broker_subscribe(hall->worker, SLICE("q"), &terms));
}

static bool settle(struct hall *hall)
{
    bool more;

    hall->settling = true;
    more = broker_settle(hall->broker);
    hall->settling = false;
    return more;
}

static void close_hall(struct hall *hall)
{
    broker_queue_drop(hall->broker, hall->queue);
    broker_session_close(hall->worker);
    broker_session_close(hall->client);
    broker_free(hall->broker);
    hash_clear(&hall->listeners);
}

// A watch on the job of that key.
static struct watch *listen(struct hall *hall, const char *key, struct listener *listener)
{
    const struct job_spec spec = {
        .queue = hall->queue,
        .key_kind = KEY_NAME,
        .key = slice_str(key),
        .watched = true,
    };
    struct submission submission;

    assert_status(STATUS_OK, broker_submit(hall->broker, &spec, hall->client, &submission));
    *listener = (struct listener){.watch = submission.watch, .job = submission.id};
    assert_true(hash_make_room(&hall->listeners));
    hash_insert(&hall->listeners, &listener->by_watch);
    return submission.watch;
}

static uint64_t take(struct hall *hall)
{
    const struct job *job;

    assert_status(STATUS_OK, broker_take(hall->worker, &job));
    return job_id(job);
}

static void say(struct hall *hall, uint64_t id, uint64_t number)
{
    struct blob *data = blob_copy(slice_of((const char *)&number, sizeof number));
    const struct job_event event = {.kind = JOB_EVENT_DATA, .data = data};

    assert_non_null(data);
    assert_status(STATUS_OK, broker_report(hall->worker, id, &event));
    blob_unref(data);
}

static struct listener *listen_often(struct hall *hall, const char *key, size_t times)
{
    struct listener *listeners = calloc(times, sizeof *listeners);

    assert_non_null(listeners);
    for (size_t i = 0; i < times; i++) {
        (void)listen(hall, key, &listeners[i]);
    }
    return listeners;
}

static size_t how_many_are_over(const struct listener *listeners, size_t count)
{
    size_t over = 0;

    for (size_t i = 0; i < count; i++) {
        over += listeners[i].over;
    }
    return over;
}

static void many_watches_of_one_job_do_not_delay_the_results_of_others(void **state)
{
    struct hall hall;
    struct listener *crowd;
    struct listener others[10];

    (void)state;
    open_hall(&hall);
    crowd = listen_often(&hall, "crowd", VERY_MANY);
    for (size_t i = 0; i < 10; i++) {
        (void)listen(&hall, (const char[]){(char)('a' + i), '\0'}, &others[i]);
    }
    for (int i = 0; i < 11; i++) {
        assert_status(STATUS_OK, broker_complete(hall.worker, take(&hall), NULL));
    }
    assert_true(settle(&hall));
    assert_int_equal(how_many_are_over(others, 10), 10);
    assert_in_range(how_many_are_over(crowd, VERY_MANY), 1, BROKER_SLICE);
    broker_check(hall.broker);
    while (settle(&hall)) {
    }
    assert_int_equal(how_many_are_over(crowd, VERY_MANY), VERY_MANY);
    close_hall(&hall);
    free(crowd);
}

static void jobs_with_many_watches_advance_side_by_side(void **state)
{
    struct hall hall;
    struct listener *crowds[3];
    size_t least = 0;

    (void)state;
    open_hall(&hall);
    for (size_t i = 0; i < 3; i++) {
        crowds[i] = listen_often(&hall, (const char[]){(char)('a' + i), '\0'}, VERY_MANY);
    }
    for (int i = 0; i < 3; i++) {
        assert_status(STATUS_OK, broker_complete(hall.worker, take(&hall), NULL));
    }
    while (settle(&hall)) {
        size_t over[3];

        for (size_t i = 0; i < 3; i++) {
            over[i] = how_many_are_over(crowds[i], VERY_MANY);
            assert_in_range(over[i], over[0] > BROKER_SLICE ? over[0] - BROKER_SLICE : 0,
                            over[0] + BROKER_SLICE);
        }
        least = over[2];
    }
    assert_true(least > VERY_MANY / 2);
    close_hall(&hall);
    for (size_t i = 0; i < 3; i++) {
        free(crowds[i]);
    }
}

static void new_events_do_not_delay_events_that_take_long(void **state)
{
    struct hall hall;
    struct listener *crowd;
    uint64_t id;
    unsigned turns = 0;

    (void)state;
    open_hall(&hall);
    crowd = listen_often(&hall, "crowd", VERY_MANY);
    id = take(&hall);
    assert_status(STATUS_OK, broker_complete(hall.worker, id, NULL));
    while (how_many_are_over(crowd, VERY_MANY) < VERY_MANY) {
        struct listener others[BROKER_SLICE];

        for (size_t i = 0; i < BROKER_SLICE; i++) {
            (void)listen(&hall, "other", &others[i]);
            assert_status(STATUS_OK, broker_complete(hall.worker, take(&hall), NULL));
        }
        (void)settle(&hall);
        (void)settle(&hall);
        (void)settle(&hall);
        assert_int_equal(how_many_are_over(others, BROKER_SLICE), BROKER_SLICE);
        assert_true(turns++ < VERY_MANY / BROKER_SLICE + 2);
    }
    close_hall(&hall);
    free(crowd);
}

static void long_events_of_one_job_do_not_delay_the_results_of_others(void **state)
{
    struct hall hall;
    struct listener reader;
    struct listener other;
    uint64_t id;

    (void)state;
    open_hall(&hall);
    (void)listen(&hall, "long", &reader);
    (void)listen(&hall, "other", &other);
    reader.encodes = (size_t)BROKER_SLICE * ENCODED_AT_ONCE;
    id = take(&hall);
    for (uint64_t number = 1; number <= 100; number++) {
        say(&hall, id, number);
    }
    assert_status(STATUS_OK, broker_complete(hall.worker, id, NULL));
    assert_status(STATUS_OK, broker_complete(hall.worker, take(&hall), NULL));
    assert_true(settle(&hall));
    assert_true(settle(&hall));
    assert_true(other.over);
    assert_in_range(reader.heard, 1, 4);
    broker_check(hall.broker);
    while (settle(&hall)) {
    }
    assert_int_equal(reader.heard, 101);
    close_hall(&hall);
}

static void report_where_allowed(struct hall *hall, struct listener *crowds[], uint64_t numbers[],
                                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!broker_report_waits(hall->worker, crowds[i]->job)) {
            say(hall, crowds[i]->job, ++numbers[i]);
        }
    }
}

// One report of each of these jobs is told to all its watches before the next one is accepted. A
// job whose last report has been told may always report again, and that is told in its turn.
static void reports_with_many_watches_do_not_delay_reports_of_other_jobs(void **state)
{
    static struct listener *crowds[BROKER_SLICE];
    uint64_t numbers[BROKER_SLICE] = {0};
    struct hall hall;
    struct listener other;
    uint64_t id;

    (void)state;
    open_hall(&hall);
    (void)listen(&hall, "other", &other);
    id = take(&hall);
    for (int i = 0; i < BROKER_SLICE; i++) {
        const char key[] = {(char)('a' + i % 16), (char)('a' + i / 16), '\0'};

        crowds[i] = listen_often(&hall, key, BROKER_SLICE);
        (void)take(&hall);
    }
    for (uint64_t number = 1; number <= 8; number++) {
        unsigned turns = 0;

        report_where_allowed(&hall, crowds, numbers, BROKER_SLICE);
        assert_true(broker_report_waits(hall.worker, crowds[0]->job));
        assert_false(broker_report_waits(hall.worker, id));
        say(&hall, id, number);
        assert_true(broker_report_waits(hall.worker, id));
        while (other.heard < number) {
            assert_true(settle(&hall));
            report_where_allowed(&hall, crowds, numbers, BROKER_SLICE);
            assert_true(++turns <= BROKER_SLICE / 8 + 1);
        }
    }
    broker_check(hall.broker);
    close_hall(&hall);
    for (size_t i = 0; i < BROKER_SLICE; i++) {
        free(crowds[i]);
    }
}

// A turn also ends when encoding has taken as long as the events of a turn would.
static void long_events_of_many_jobs_are_told_in_slices(void **state)
{
    static struct listener readers[BROKER_SLICE];
    struct hall hall;
    size_t heard = 0;
    unsigned turns = 0;

    (void)state;
    open_hall(&hall);
    for (int i = 0; i < BROKER_SLICE; i++) {
        const char key[] = {(char)('a' + i % 16), (char)('a' + i / 16), '\0'};

        (void)listen(&hall, key, &readers[i]);
        readers[i].encodes = (size_t)16 * ENCODED_AT_ONCE;
        say(&hall, take(&hall), 1);
    }
    while (settle(&hall)) {
        size_t before = heard;

        heard = 0;
        for (size_t i = 0; i < BROKER_SLICE; i++) {
            heard += readers[i].heard;
        }
        assert_in_range(heard - before, 1, BROKER_SLICE / 16 + 1);
        turns++;
    }
    assert_in_range(turns, BROKER_SLICE / 5, BROKER_SLICE);
    close_hall(&hall);
}

static void events_of_jobs_with_few_watches_are_told_as_they_happened(void **state)
{
    static const char *const order = "abacbbca";
    static struct listener listeners[3];
    uint64_t numbers[3] = {0};
    uint64_t ids[3];
    struct hall hall;

    (void)state;
    open_hall(&hall);
    for (int i = 0; i < 3; i++) {
        (void)listen(&hall, (const char[]){(char)('a' + i), '\0'}, &listeners[i]);
        ids[i] = take(&hall);
    }
    hall.heard = hall.order;
    for (const char *at = order; *at; at++) {
        say(&hall, ids[*at - 'a'], ++numbers[*at - 'a']);
    }
    assert_false(settle(&hall));
    for (size_t i = 0; order[i]; i++) {
        assert_int_equal(hall.order[i], ids[order[i] - 'a']);
    }
    close_hall(&hall);
}

//
// Random runs: jobs with many watches and with few
//

enum { JOBS = 6, WATCHES = 400, STEPS = 20000, REPORTS_MOST = 4 };

struct talk {
    char key[2];
    uint64_t id; // 0: not taken yet
    uint64_t number;
    size_t count;
    struct watch *watches[WATCHES];
    struct listener *listeners[WATCHES];
    uint64_t since[WATCHES]; // the number of the last part before it joined
};

static uint32_t below(uint64_t *random, uint32_t bound)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*random >> 33) % bound;
}

static void join_talk(struct hall *hall, struct talk *talk)
{
    struct listener *listener = calloc(1, sizeof *listener);

    assert_non_null(listener);
    talk->listeners[talk->count] = listener;
    talk->since[talk->count] = talk->number;
    talk->watches[talk->count++] = listen(hall, talk->key, listener);
}

static void leave_talk(struct hall *hall, struct talk *talk)
{
    if (talk->count > 1) {
        broker_unwatch(talk->watches[--talk->count]);
        hash_remove(&hall->listeners, &talk->listeners[talk->count]->by_watch);
        free(talk->listeners[talk->count]);
    }
}

// Each watch is told of all reports since it joined, and of the end.
static void end_talk(struct hall *hall, struct talk *talk)
{
    assert_status(STATUS_OK, broker_complete(hall->worker, talk->id, NULL));
    while (settle(hall)) {
    }
    for (size_t i = 0; i < talk->count; i++) {
        assert_true(talk->listeners[i]->over);
        assert_int_equal(talk->listeners[i]->heard, talk->number - talk->since[i] + 1);
        free(talk->listeners[i]);
    }
    talk->count = 0;
    talk->id = 0;
    talk->number = 0;
}

static void step_talk(struct hall *hall, struct talk *talk, uint32_t what, size_t most)
{
    if (talk->count == 0) {
        join_talk(hall, talk);
        talk->id = take(hall);
    } else if (what < 500) {
        if (talk->count < most) {
            join_talk(hall, talk);
        }
    } else if (what < 600) {
        leave_talk(hall, talk);
    } else if (what < 998) {
        for (uint32_t i = 0; i < what % REPORTS_MOST; i++) {
            say(hall, talk->id, ++talk->number);
        }
    } else {
        end_talk(hall, talk);
    }
}

static void each_watch_is_told_all_in_order_beside_any_other_work(void **state)
{
    static struct talk talks[JOBS];
    struct hall hall;
    uint64_t random = 1;

    (void)state;
    open_hall(&hall);
    memset(talks, 0, sizeof talks);
    for (int step = 0; step < STEPS; step++) {
        uint32_t which = below(&random, JOBS);

        talks[which].key[0] = (char)('a' + which);
        step_talk(&hall, &talks[which], below(&random, 1000), which % 2 ? 3 : WATCHES);
        if (below(&random, 2)) {
            (void)settle(&hall);
        }
        broker_check(hall.broker);
    }
    for (size_t i = 0; i < JOBS; i++) {
        if (talks[i].count > 0) {
            end_talk(&hall, &talks[i]);
        }
    }
    close_hall(&hall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_watches_of_one_job_do_not_delay_the_results_of_others),
        cmocka_unit_test(jobs_with_many_watches_advance_side_by_side),
        cmocka_unit_test(new_events_do_not_delay_events_that_take_long),
        cmocka_unit_test(long_events_of_one_job_do_not_delay_the_results_of_others),
        cmocka_unit_test(reports_with_many_watches_do_not_delay_reports_of_other_jobs),
        cmocka_unit_test(long_events_of_many_jobs_are_told_in_slices),
        cmocka_unit_test(events_of_jobs_with_few_watches_are_told_as_they_happened),
        cmocka_unit_test(each_watch_is_told_all_in_order_beside_any_other_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
