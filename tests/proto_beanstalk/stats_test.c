/* SPDX-License-Identifier: MIT */

// The YAML of `stats`, `stats-job` and `stats-tube`, and when each counter changes.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/support/policies.h"

#include "core/policy.h"

#include <stdio.h>
#include <string.h>

static void stats_has_the_keys_of_beanstalkd_in_order_and_ours_last(void **state)
{
    struct bean *t = *state;

    *rig_store_info(t->rig) = (struct store_info){
        .oldest = 3, .current = 5, .written = 70, .migrated = 4, .file_max = 8192};
    says_yaml(t->a, "stats\r\n",
              "---\n"
              "current-jobs-urgent: 0\ncurrent-jobs-ready: 0\ncurrent-jobs-reserved: 0\n"
              "current-jobs-delayed: 0\ncurrent-jobs-buried: 0\n"
              "cmd-put: 0\ncmd-peek: 0\ncmd-peek-ready: 0\ncmd-peek-delayed: 0\n"
              "cmd-peek-buried: 0\ncmd-reserve: 0\ncmd-reserve-with-timeout: 0\ncmd-delete: 0\n"
              "cmd-release: 0\ncmd-use: 0\ncmd-watch: 0\ncmd-ignore: 0\ncmd-bury: 0\n"
              "cmd-kick: 0\ncmd-touch: 0\ncmd-stats: 1\ncmd-stats-job: 0\ncmd-stats-tube: 0\n"
              "cmd-list-tubes: 0\ncmd-list-tube-used: 0\ncmd-list-tubes-watched: 0\n"
              "cmd-pause-tube: 0\n"
              "job-timeouts: 0\ntotal-jobs: 0\nmax-job-size: 65535\ncurrent-tubes: 1\n"
              "current-connections: 3\ncurrent-producers: 0\ncurrent-workers: 0\n"
              "current-waiting: 0\ntotal-connections: 3\npid: 4242\nversion: \"1.13\"\n"
              "rusage-utime: 3.000002\nrusage-stime: 1.500000\nuptime: 77\n"
              "binlog-oldest-index: 3\nbinlog-current-index: 5\nbinlog-records-migrated: 4\n"
              "binlog-records-written: 70\nbinlog-max-size: 8192\n"
              "draining: false\nid: a123456789abcdef\nhostname: \"test.host\"\nos: \"#1 SMP\"\n"
              "platform: \"x86_64\"\n"
              "tandem-version: \"0.1.0\"\nbinlog-errors: 0\nbinlog-failing: false\n"
              "cmd-reserve-batch: 0\ncmd-put-unique: 0\ncmd-complete: 0\ncmd-progress: 0\n"
              "cmd-clear-tube: 0\n");
}

// Checks the first line of the reply that begins with the key.
static void line_is(struct peer *peer, struct slice command, const char *key, const char *line)
{
    const char *found = strstr(peer_ask(peer, command).ptr, key);

    assert_non_null(found);
    if (strncmp(found, line, strlen(line)) != 0) {
        fail_msg("not `%s`: %s", line, found);
    }
}

static void names_have_no_quotes_if_configured(void **state)
{
    struct bean *t = *state;

    says(t->a, "use 12\r\nput 0 0 9 0\r\n\r\n", "USING 12\r\nINSERTED 1\r\n");
    line_is(t->a, SLICE("stats-job 1\r\n"), "tube: ", "tube: \"12\"\n");
    t->settings.quote_names = BEAN_BARE_NAMES;
    line_is(t->a, SLICE("stats-job 1\r\n"), "tube: ", "tube: 12\n");
    line_is(t->a, SLICE("stats-tube 12\r\n"), "name: ", "name: 12\n");
    line_is(t->a, SLICE("stats\r\n"), "version: ", "version: 1.13\n");
    line_is(t->a, SLICE("stats\r\n"), "hostname: ",
            "hostname: test.host\nos: #1 SMP\n"
            "platform: x86_64\ntandem-version: 0.1.0\n");
}

static void stats_shows_a_failing_store(void **state)
{
    struct bean *t = *state;

    rig_store_info(t->rig)->errors = 2;
    rig_store_info(t->rig)->failing = true;
    stat_is(t->a, "stats\r\n", "binlog-errors", 2);
    assert_non_null(strstr(peer_ask(t->a, SLICE("stats\r\n")).ptr, "\nbinlog-failing: true\n"));
}

static void stats_shows_the_durability_of_a_shared_store(void **state)
{
    struct bean *t = *state;

    *rig_store_info(t->rig) = (struct store_info){.epoch = 7, .durable = true};
    assert_non_null(strstr(peer_ask(t->a, SLICE("stats\r\n")).ptr,
                           "\ncmd-clear-tube: 0\ncluster-epoch: 7\ncluster-durable: true\n"
                           "cluster-replicated: false\n"));
    *rig_store_info(t->rig) = (struct store_info){.epoch = 8, .replicated = true};
    assert_non_null(strstr(peer_ask(t->a, SLICE("stats\r\n")).ptr,
                           "\ncluster-epoch: 8\ncluster-durable: false\n"
                           "cluster-replicated: true\n"));
}

static void without_a_store_the_keys_are_those_of_a_server_without_binlog(void **state)
{
    const struct bean_options settings = {.max_job_size = 65535};
    struct rig *rig =
        rig_new(&(struct rig_options){.frontend = &beanstalk_frontend, .settings = &settings});
    struct peer *peer = peer_new(rig);

    (void)state;
    says(peer, "put 0 0 9 0\r\n\r\n", "INSERTED 1\r\n");
    stat_is(peer, "stats\r\n", "binlog-oldest-index", 0);
    stat_is(peer, "stats\r\n", "binlog-current-index", 0);
    stat_is(peer, "stats\r\n", "binlog-records-migrated", 0);
    stat_is(peer, "stats\r\n", "binlog-records-written", 0);
    stat_is(peer, "stats\r\n", "binlog-max-size", 10485760);
    stat_is(peer, "stats\r\n", "binlog-errors", 0);
    stat_is(peer, "stats-job 1\r\n", "file", 0);
    rig_free(rig);
}

static void stats_job_names_the_file_that_the_job_is_in(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 0\r\n\r\n", "INSERTED 1\r\n");
    job_set_mark(broker_find(rig_broker(t->rig), 1), UINT32_MAX);
    stat_is(t->a, "stats-job 1\r\n", "file", UINT32_MAX);
}

static void stats_counts_jobs_by_state(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 1023 0 9 0\r\n\r\nput 1024 0 9 0\r\n\r\nput 0 9 9 0\r\n\r\n",
         "INSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\n");
    stat_is(t->a, "stats\r\n", "current-jobs-urgent", 1);
    stat_is(t->a, "stats\r\n", "current-jobs-ready", 2);
    stat_is(t->a, "stats\r\n", "current-jobs-delayed", 1);
    says(t->a, "reserve\r\nreserve\r\nbury 1 0\r\n",
         "RESERVED 1 0\r\n\r\nRESERVED 2 0\r\n\r\nBURIED\r\n");
    stat_is(t->a, "stats\r\n", "current-jobs-urgent", 0);
    stat_is(t->a, "stats\r\n", "current-jobs-reserved", 1);
    stat_is(t->a, "stats\r\n", "current-jobs-buried", 1);
    stat_is(t->a, "stats\r\n", "total-jobs", 3);
}

static void producers_and_workers_are_counted_by_their_commands(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 0\r\n\r\nput 0 0 9 0\r\n\r\n", "INSERTED 1\r\nINSERTED 2\r\n");
    says(t->b, "reserve\r\nreserve-with-timeout 0\r\nreserve-with-timeout 0\r\n",
         "RESERVED 1 0\r\n\r\nRESERVED 2 0\r\n\r\nTIMED_OUT\r\n");
    stat_is(t->c, "stats\r\n", "current-producers", 1);
    stat_is(t->c, "stats\r\n", "current-workers", 1);
    says(t->a, "reserve\r\n", "");
    stat_is(t->c, "stats\r\n", "current-workers", 2);
    stat_is(t->c, "stats\r\n", "current-waiting", 1);
    peer_free(t->a);
    stat_is(t->c, "stats\r\n", "current-producers", 0);
    stat_is(t->c, "stats\r\n", "current-workers", 1);
    stat_is(t->c, "stats\r\n", "current-waiting", 0);
    stat_is(t->c, "stats\r\n", "current-connections", 2);
    stat_is(t->c, "stats\r\n", "total-connections", 3);
}

static void a_command_counts_if_its_arguments_are_valid(void **state)
{
    static const struct {
        const char *good, *bad, *key;
    } rows[] = {
        {"peek 1\r\n", "peek x\r\n", "cmd-peek"},
        {"peek-ready\r\n", "peek-ready \r\n", "cmd-peek-ready"},
        {"peek-delayed\r\n", "peek-delayed \r\n", "cmd-peek-delayed"},
        {"peek-buried\r\n", "peek-buried \r\n", "cmd-peek-buried"},
        {"reserve-with-timeout 0\r\n", "reserve-with-timeout\r\n", "cmd-reserve-with-timeout"},
        {"reserve\r\n", "reserve \r\n", "cmd-reserve"},
        {"delete 1\r\n", "delete 1 \r\n", "cmd-delete"},
        {"release 1 1 1\r\n", "release 1 1\r\n", "cmd-release"},
        {"use a\r\n", "use  a\r\n", "cmd-use"},
        {"watch a\r\n", "watch :\r\n", "cmd-watch"},
        {"ignore nosuch\r\n", "ignore \r\n", "cmd-ignore"},
        {"bury 1 1\r\n", "bury 1\r\n", "cmd-bury"},
        {"kick 1\r\n", "kick x\r\n", "cmd-kick"},
        {"touch 1\r\n", "touch -1\r\n", "cmd-touch"},
        {"stats-job 1\r\n", "stats-job x\r\n", "cmd-stats-job"},
        {"stats-tube a\r\n", "stats-tube -\r\n", "cmd-stats-tube"},
        {"list-tubes\r\n", "list-tubes \r\n", "cmd-list-tubes"},
        {"list-tube-used\r\n", "list-tube-used \r\n", "cmd-list-tube-used"},
        {"list-tubes-watched\r\n", "list-tubes-watched \r\n", "cmd-list-tubes-watched"},
        {"pause-tube nosuch 1\r\n", "pause-tube nosuch x\r\n", "cmd-pause-tube"},
        {"put 1 1 1 0\r\n\r\n", "put 1 1 1\r\n", "cmd-put"},
    };
    struct bean *t = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct peer *peer = peer_new(t->rig);

        says_text(peer, rows[i].bad, "BAD_FORMAT\r\n");
        stat_is(t->b, "stats\r\n", rows[i].key, 0);
        peer_ask(peer, slice_str(rows[i].good));
        stat_is(t->b, "stats\r\n", rows[i].key, 1);
        peer_free(peer);
    }
    says(t->a, "stats \r\n", "BAD_FORMAT\r\n");
    stat_is(t->b, "stats\r\n", "cmd-stats", 2 * sizeof rows / sizeof *rows + 1);
}

static void the_limit_in_stats_is_the_present_one(void **state)
{
    struct bean *t = *state;

    t->settings.max_job_size = 7;
    stat_is(t->a, "stats\r\n", "max-job-size", 7);
}

static void draining_is_shown(void **state)
{
    struct bean *t = *state;

    broker_drain(rig_broker(t->rig));
    assert_non_null(strstr(peer_ask(t->a, SLICE("stats\r\n")).ptr, "\ndraining: true\n"));
}

static void uptime_counts_whole_seconds(void **state)
{
    struct bean *t = *state;

    rig_advance(t->rig, SECONDS(3) - 1);
    stat_is(t->a, "stats\r\n", "uptime", 79);
    rig_advance(t->rig, 1);
    stat_is(t->a, "stats\r\n", "uptime", 80);
}

static void stats_tube_shows_last_why_a_policy_closes_the_tube(void **state)
{
    const struct policy_rule rule = {
        .glob = SLICE("default"),
        .spec = {.max_running = 1, .rate_interval_for = 90 * NSEC_PER_SEC}};
    struct bean *t = *state;

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    rig_run(t->rig);
    line_is(t->a, SLICE("stats-tube default\r\n"), "closed: ", "closed: no\n");
    says(t->a, "put 0 0 9 3\r\nabc\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 3\r\nabc\r\n");
    line_is(t->a, SLICE("stats-tube default\r\n"), "closed: ", "closed: rate+running\n");
    stat_is(t->a, "stats-tube default\r\n", "rate-time-left", 90);
    stat_is(t->a, "stats-tube default\r\n", "current-bytes", 3);
}

static void stats_tube_shows_one_tube(void **state)
{
    struct bean *t = *state;

    says(t->a, "use x\r\nput 1023 0 9 0\r\n\r\nput 1024 0 9 0\r\n\r\nput 0 9 9 0\r\n\r\n",
         "USING x\r\nINSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\n");
    says(t->b, "watch x\r\nreserve\r\ndelete 1\r\npause-tube x 30\r\nreserve\r\n",
         "WATCHING 2\r\nRESERVED 1 0\r\n\r\nDELETED\r\nPAUSED\r\n");
    says_yaml(t->c, "stats-tube x\r\n",
              "---\nname: \"x\"\ncurrent-jobs-urgent: 0\ncurrent-jobs-ready: 1\n"
              "current-jobs-reserved: 0\ncurrent-jobs-delayed: 1\ncurrent-jobs-buried: 0\n"
              "total-jobs: 3\ncurrent-using: 1\ncurrent-watching: 1\ncurrent-waiting: 1\n"
              "cmd-delete: 1\ncmd-pause-tube: 1\npause: 30\npause-time-left: 30\n");
    says(t->c, "stats-tube y\r\n", "NOT_FOUND\r\n");
}

static void stats_job_shows_any_job(void **state)
{
    struct bean *t = *state;

    says(t->a, "use x\r\nput 9 0 120 2\r\nab\r\nwatch x\r\nreserve\r\n",
         "USING x\r\nINSERTED 1\r\nWATCHING 2\r\nRESERVED 1 2\r\nab\r\n");
    rig_advance(t->rig, SECONDS(10));
    says_yaml(
        t->b, "stats-job 1\r\n",
        "---\nid: 1\ntube: \"x\"\nstate: reserved\npri: 9\nage: 10\ndelay: 0\nttr: 120\n"
        "time-left: 110\nfile: 0\nreserves: 1\ntimeouts: 0\nreleases: 0\nburies: 0\nkicks: 0\n");
    says(t->b, "stats-job 2\r\n", "NOT_FOUND\r\n");
}

static void a_name_of_another_protocol_is_escaped(void **state)
{
    struct bean *t = *state;
    struct broker *broker = rig_broker(t->rig);
    struct job_spec spec = {.pri = 3, .durable = true};
    struct submission submission;

    assert_int_equal(broker_queue_hold(broker, SLICE("a\"b\\c\n\x7f\xc3 d"), &spec.queue),
                     STATUS_OK);
    assert_int_equal(broker_submit(broker, &spec, NULL, &submission), STATUS_OK);
    broker_queue_drop(broker, spec.queue);
    says_yaml(t->a, "stats-job 1\r\n",
              "---\nid: 1\ntube: \"a\\x22b\\x5cc\\x0a\\x7f\\xc3 d\"\nstate: ready\npri: 3\nage: 0\n"
              "delay: 0\nttr: 0\ntime-left: 0\nfile: 0\nreserves: 0\ntimeouts: 0\nreleases: 0\n"
              "buries: 0\nkicks: 0\n");
    t->settings.quote_names = BEAN_BARE_NAMES;
    line_is(t->a, SLICE("stats-job 1\r\n"), "tube: ", "tube: \"a\\x22b\\x5cc\\x0a\\x7f\\xc3 d\"\n");
}

static void stats_job_of_a_dead_letter_shows_last_where_it_came_from(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("default"),
                                     .spec = {.max_attempts = 1,
                                              .count_releases = true,
                                              .on_exhausted = ON_EXHAUSTED_MOVE,
                                              .dead_queue = SLICE("{queue}.dead")}};
    struct bean *t = *state;
    char answer[512];
    const char *kicks;

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    rig_run(t->rig);
    says(t->a, "put 0 0 1 1\r\na\r\n", "INSERTED 1\r\n");
    assert_null(strstr(peer_ask(t->a, SLICE("stats-job 1\r\n")).ptr, "dead"));
    says(t->a, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
    says(t->a, "release 1 0 0\r\n", "RELEASED\r\n");
    kicks = strstr(peer_ask(t->a, SLICE("stats-job 1\r\n")).ptr, "kicks: ");
    assert_non_null(kicks);
    (void)snprintf(answer, sizeof answer,
                   "kicks: 0\ndead-from: \"default\"\ndead-why: attempts\ndead-attempts: 1\n"
                   "dead-at: %lld\n\r\n",
                   (long long)(broker_now(rig_broker(t->rig)).wall / NSEC_PER_SEC));
    assert_memory_equal(kicks, answer, strlen(answer));
    line_is(t->a, SLICE("stats-job 1\r\n"), "tube: ", "tube: \"default.dead\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEAN(stats_has_the_keys_of_beanstalkd_in_order_and_ours_last),
        BEAN(names_have_no_quotes_if_configured),
        BEAN(stats_shows_a_failing_store),
        BEAN(stats_shows_the_durability_of_a_shared_store),
        cmocka_unit_test(without_a_store_the_keys_are_those_of_a_server_without_binlog),
        BEAN(stats_job_names_the_file_that_the_job_is_in),
        BEAN(stats_job_of_a_dead_letter_shows_last_where_it_came_from),
        BEAN(stats_counts_jobs_by_state),
        BEAN(producers_and_workers_are_counted_by_their_commands),
        BEAN(a_command_counts_if_its_arguments_are_valid),
        BEAN(the_limit_in_stats_is_the_present_one),
        BEAN(draining_is_shown),
        BEAN(uptime_counts_whole_seconds),
        BEAN(stats_tube_shows_one_tube),
        BEAN(stats_tube_shows_last_why_a_policy_closes_the_tube),
        BEAN(stats_job_shows_any_job),
        BEAN(a_name_of_another_protocol_is_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
