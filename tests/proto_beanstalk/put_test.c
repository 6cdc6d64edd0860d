/* SPDX-License-Identifier: MIT */

// `put`, from its line to the CRLF after the body.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/support/policies.h"

#include "core/base/log.h"
#include "core/policy.h"

#include <stdlib.h>
#include <string.h>

static void a_put_is_answered_with_rising_ids(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 1\r\na\r\nput 0 0 1 1\r\nb\r\n", "INSERTED 1\r\nINSERTED 2\r\n");
    says(t->b, "put 0 0 1 1\r\nc\r\n", "INSERTED 3\r\n");
}

static void a_body_may_be_empty(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 0\r\n\r\n", "INSERTED 1\r\n");
    says(t->a, "put 0 0 1 0\r\n", "");
    says(t->a, "\r", "");
    says(t->a, "\n", "INSERTED 2\r\n");
    says(t->a, "peek 2\r\n", "FOUND 2 0\r\n\r\n");
}

static void a_body_may_hold_any_bytes(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 8\r\n\0\r\n\xff\r\n\r\n\r\n", "INSERTED 1\r\n");
    says(t->a, "peek 1\r\n", "FOUND 1 8\r\n\0\r\n\xff\r\n\r\n\r\n");
}

static void a_body_that_is_too_long_is_refused_and_its_rest_is_a_command(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 1\r\nabc\r\nlist-tube-used\r\n",
         "EXPECTED_CRLF\r\nUNKNOWN_COMMAND\r\nUSING default\r\n");
    says(t->a, "put 0 0 1 1\r\na", "");
    says(t->a, "b", "");
    says(t->a, "c", "EXPECTED_CRLF\r\n");
    says(t->a, "\r\n", "UNKNOWN_COMMAND\r\n");
    says(t->a, "put 0 0 1 1\r\na\rx\r\n", "EXPECTED_CRLF\r\nUNKNOWN_COMMAND\r\n");
}

static void a_failed_put_uses_no_id(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 1\r\nabc", "EXPECTED_CRLF\r\n");
    says(t->b, "put 0 0 1 1\r\na\r\n", "INSERTED 1\r\n");
}

static void the_body_of_a_malformed_put_is_read_as_commands(void **state)
{
    struct bean *t = *state;

    says(t->a, "put x 0 1 14\r\nlist-tube-used\r\n", "BAD_FORMAT\r\nUSING default\r\n");
    says(t->a, "put 0 0 1 14 \r\nlist-tube-used\r\n", "BAD_FORMAT\r\nUSING default\r\n");
    stat_is(t->a, "stats\r\n", "cmd-put", 1); // the numbers of the second are valid
    stat_is(t->a, "stats\r\n", "current-producers", 0);
}

static void a_body_of_the_largest_size_is_accepted(void **state)
{
    struct bean *t = *state;

    t->settings.max_job_size = 5;
    says(t->a, "put 0 0 1 5\r\nabcde\r\n", "INSERTED 1\r\n");
    says(t->a, "put 0 0 1 6\r\nabcdef\r\nlist-tube-used\r\n", "JOB_TOO_BIG\r\nUSING default\r\n");
    t->settings.max_job_size = 0;
    says(t->a, "put 0 0 1 0\r\n\r\n", "INSERTED 2\r\n");
    says(t->a, "put 0 0 1 1\r\na\r\n", "JOB_TOO_BIG\r\n");
}

static void a_body_too_big_is_skipped_before_the_reply(void **state)
{
    struct bean *t = *state;

    t->settings.max_job_size = 5;
    says(t->a, "put 0 0 1 6 junk\r\n", "");
    says(t->a, "quit\r\n", "");
    says(t->a, "x", "");
    says(t->a, "y", "JOB_TOO_BIG\r\n"); // even without CRLF after it
    stat_is(t->a, "stats\r\n", "current-producers", 0);
    stat_is(t->a, "stats\r\n", "cmd-put", 1);
}

static void a_body_too_big_may_announce_thirty_two_bits(void **state)
{
    static char junk[1 << 20];
    struct bean *t = *state;
    uint64_t left = (uint64_t)UINT32_MAX + 2;

    says(t->a, "put 0 0 1 4294967295\r\n", "");
    while (left > sizeof junk) {
        peer_send(t->a, slice_of(junk, sizeof junk));
        rig_run(t->rig);
        left -= sizeof junk;
    }
    peer_send(t->a, slice_of(junk, left - 1));
    says(t->a, "", "");
    says(t->a, "x", "JOB_TOO_BIG\r\n");
    says(t->a, "put 0 0 1 4294967296\r\n", "BAD_FORMAT\r\n");
}

static void a_drained_broker_refuses_after_the_body(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 1\r\n", "");
    broker_drain(rig_broker(t->rig));
    says(t->a, "a\r\n", "DRAINING\r\n");
    says(t->a, "put 0 0 1 1\r\nabc", "EXPECTED_CRLF\r\n");
    says(t->a, "put 0 0 1 1\r\n", "");
    says(t->a, "a\r\nlist-tube-used\r\n", "DRAINING\r\nUSING default\r\n");
}

static void count_line(void *context, enum log_level level, const char *event,
                       const struct log_field *fields, size_t count)
{
    size_t *lines = context;

    assert_int_equal(level, LOG_LEVEL_DEBUG);
    // There is also the log line that every refusal has.
    if (strcmp(event, "refused") == 0) {
        return;
    }
    assert_string_equal(event, "put_refused_draining");
    assert_int_equal(count, 1);
    assert_int_equal(fields[0].number, 2); // the second connection
    ++*lines;
}

static void a_refusal_while_draining_is_logged(void **state)
{
    struct bean *t = *state;
    size_t lines = 0;

    broker_drain(rig_broker(t->rig));
    log_set_sink(count_line, &lines, LOG_LEVEL_DEBUG);
    says(t->b, "put 0 0 1 1\r\na\r\n", "DRAINING\r\n");
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    assert_int_equal(lines, 1);
}

static void a_full_store_or_queue_is_out_of_memory(void **state)
{
    static const uint32_t limits[BAND_COUNT] = {1, 1, 1};
    struct bean *t = *state;

    t->store_room = 0;
    says(t->a, "put 0 0 1 1\r\na\r\n", "OUT_OF_MEMORY\r\n");
    t->store_room = SIZE_MAX;
    assert_int_equal(
        STATUS_OK,
        broker_queue_limit(NULL, broker_queue_find(rig_broker(t->rig), SLICE("default")), limits));
    says(t->a, "put 0 0 1 1\r\na\r\n", "INSERTED 1\r\n");
    says(t->a, "put 0 0 1 1\r\na\r\n", "OUT_OF_MEMORY\r\n");
}

static void a_policy_limits_the_size_and_number_of_jobs(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("default"),
                                     .spec = {.max_jobs = 1, .max_job_size = 2}};
    struct bean *t = *state;

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    rig_run(t->rig);
    says(t->a, "put 0 0 1 3\r\nabc\r\n", "JOB_TOO_BIG\r\n");
    says(t->a, "put 0 0 1 2\r\nab\r\n", "INSERTED 1\r\n");
    says(t->a, "put 0 0 1 2\r\nab\r\n", "OUT_OF_MEMORY\r\n");
}

static void a_body_too_big_is_logged_with_the_setting(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("small"), .spec = {.max_job_size = 2}};
    struct bean *t = *state;

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    t->settings.max_job_size = 5;
    says(t->a, "put 0 0 1 5\r\nabcde\r\n", "INSERTED 1\r\n");
    assert_int_equal(rig_too_large(t->rig).count, 0);
    says(t->a, "put 0 0 1 6\r\nabcdef\r\n", "JOB_TOO_BIG\r\n");
    assert_true(rig_logged_too_large(t->rig, 6, "beanstalk.max_job_size"));
    says(t->a, "put-unique 0 0 1 7 k\r\nabcdefg\r\n", "JOB_TOO_BIG\r\n");
    assert_true(rig_logged_too_large(t->rig, 7, "beanstalk.max_job_size"));
    says(t->a, "reserve\r\n", "RESERVED 1 5\r\nabcde\r\n");
    says(t->a, "complete 1 8\r\nabcdefgh\r\n", "JOB_TOO_BIG\r\n");
    assert_true(rig_logged_too_large(t->rig, 8, "beanstalk.max_job_size"));
    says(t->a, "use small\r\nput 0 0 1 3\r\nabc\r\n", "USING small\r\nJOB_TOO_BIG\r\n");
    assert_true(rig_logged_too_large(t->rig, 0, "max_job_size of the queue"));
}

static void an_unfinished_put_is_not_visible(void **state)
{
    struct bean *t = *state;

    says(t->a, "use x\r\nput 0 0 1 5\r\nabc", "USING x\r\n");
    says(t->b, "peek 1\r\nstats-job 1\r\ndelete 1\r\n", "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    stat_is(t->b, "stats-tube x\r\n", "total-jobs", 0);
    peer_free(t->a);
    says(t->b, "stats-tube x\r\n", "NOT_FOUND\r\n");
    says(t->b, "put 0 0 1 1\r\na\r\n", "INSERTED 1\r\n");
}

static void an_unfinished_put_reports_its_memory(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 1000\r\n", "");
    assert_in_range(peer_holds(t->a), 1, 999);
    says(t->a, "abc", "");
    assert_in_range(peer_holds(t->a), 1000, 1999);
    peer_half_close(t->a);
    assert_int_equal(peer_holds(t->b), 0);
}

// Hashing a body while it arrives takes memory, too.
static size_t held_of_a_long_put(struct bean *t, const char *line)
{
    struct peer *peer = peer_new(t->rig);
    size_t held;

    says_text(peer, line, "");
    held = peer_holds(peer);
    peer_free(peer);
    return held;
}

static void a_long_body_that_is_a_key_is_hashed_while_it_arrives(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("*"), .spec = {.unique_body = true}};
    struct bean *t = *state;
    size_t plain;

    t->settings.max_job_size = 100000;
    plain = held_of_a_long_put(t, "put 0 0 1 65537\r\n");

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    rig_run(t->rig);
    assert_true(held_of_a_long_put(t, "put 0 0 1 65537\r\n") > plain);
    assert_int_equal(held_of_a_long_put(t, "put 0 0 1 65536\r\n"), plain);
    assert_int_equal(held_of_a_long_put(t, "put-unique 0 0 1 65537 k\r\n"), plain + 1);
}

static void a_job_has_the_values_of_its_line(void **state)
{
    struct bean *t = *state;

    says(t->a, "use mail\r\nput 7 100 0 3\r\nabc\r\n", "USING mail\r\nINSERTED 1\r\n");
    says_yaml(t->a, "stats-job 1\r\n",
              "---\nid: 1\ntube: \"mail\"\nstate: delayed\npri: 7\nage: 0\ndelay: 100\nttr: 1\n"
              "time-left: 100\nfile: 0\nreserves: 0\ntimeouts: 0\nreleases: 0\nburies: 0\n"
              "kicks: 0\n");
    says(t->a, "put 4294967295 0 4294967295 0\r\n\r\n", "INSERTED 2\r\n");
    stat_is(t->a, "stats-job 2\r\n", "pri", 4294967295);
    stat_is(t->a, "stats-job 2\r\n", "ttr", 4294967295);
    says(t->a, "put 0 4294967295 1 0\r\n\r\n", "INSERTED 3\r\n");
    stat_is(t->a, "stats-job 3\r\n", "delay", 4294967295);
}

// Makes a body of letters, and the put with it.
static char *compose_put(size_t size, size_t *len)
{
    char *text = malloc(size + 64);
    int head = snprintf(text, 64, "put 0 0 1 %zu\r\n", size);

    assert_non_null(text);
    for (size_t i = 0; i < size; i++) {
        text[(size_t)head + i] = (char)('a' + i % 23);
    }
    text[(size_t)head + size] = '\r';
    text[(size_t)head + size + 1] = '\n';
    *len = (size_t)head + size + 2;
    return text;
}

static void check_body(struct peer *peer, size_t size)
{
    char head[64];
    struct slice found = peer_ask(peer, SLICE("peek-ready\r\n"));
    int len = snprintf(head, sizeof head, "FOUND 1 %zu\r\n", size);

    assert_int_equal(found.len, (size_t)len + size + 2);
    assert_memory_equal(found.ptr, head, (size_t)len);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(found.ptr[(size_t)len + i], (char)('a' + i % 23));
    }
    assert_memory_equal(found.ptr + len + size, "\r\n", 2);
}

// Sizes around every limit at which a body is stored or received in another way.
static void a_body_of_any_size_arrives_whole_in_pieces_of_any_size(void **state)
{
    static const size_t sizes[] = {1,    256,  257,   2048,  2049,  4094,  4095,
                                   4096, 4097, 16383, 16384, 16385, 65535, 300000};
    static const size_t pieces[] = {1000, 4096, 16384, 40000, 1000000};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
            void *world;
            struct bean *t;
            size_t len;
            char *text = compose_put(sizes[s], &len);

            bean_setup(&world);
            t = world;
            t->settings.max_job_size = sizes[s];
            for (size_t at = 0; at < len; at += pieces[p]) {
                peer_send(t->a, slice_of(text + at, len - at < pieces[p] ? len - at : pieces[p]));
                rig_run(t->rig);
            }
            hears(t->a, "INSERTED 1\r\n");
            check_body(t->a, sizes[s]);
            free(text);
            bean_teardown(&world);
        }
    }
}

static void half_closing_in_a_body_closes_without_a_reply(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 5\r\nabc", "");
    peer_half_close(t->a);
    hears(t->a, "");
    assert_true(peer_closed(t->a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEAN(a_put_is_answered_with_rising_ids),
        BEAN(a_body_may_be_empty),
        BEAN(a_body_may_hold_any_bytes),
        BEAN(a_body_that_is_too_long_is_refused_and_its_rest_is_a_command),
        BEAN(a_failed_put_uses_no_id),
        BEAN(the_body_of_a_malformed_put_is_read_as_commands),
        BEAN(a_body_of_the_largest_size_is_accepted),
        BEAN(a_body_too_big_is_skipped_before_the_reply),
        BEAN(a_body_too_big_may_announce_thirty_two_bits),
        BEAN(a_drained_broker_refuses_after_the_body),
        BEAN(a_refusal_while_draining_is_logged),
        BEAN(a_full_store_or_queue_is_out_of_memory),
        BEAN(a_policy_limits_the_size_and_number_of_jobs),
        BEAN(a_body_too_big_is_logged_with_the_setting),
        BEAN(an_unfinished_put_is_not_visible),
        BEAN(an_unfinished_put_reports_its_memory),
        BEAN(a_long_body_that_is_a_key_is_hashed_while_it_arrives),
        BEAN(a_job_has_the_values_of_its_line),
        cmocka_unit_test(a_body_of_any_size_arrives_whole_in_pieces_of_any_size),
        BEAN(half_closing_in_a_body_closes_without_a_reply),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
