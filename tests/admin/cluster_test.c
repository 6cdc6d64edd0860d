/* SPDX-License-Identifier: MIT */
// A journal that several processes share.
#include "tests/admin/wire_metrics.h"
#include "tests/proto_common/wire_callers.h"

static const struct introspect_member members[] = {
    {.node = "one",
     .address = "beanstalk=one:11300",
     .owner = true,
     .takes_over = true,
     .epoch = 7,
     .seen_for = 1},
    {.node = "two",
     .address = "beanstalk=two:11300",
     .self = true,
     .epoch = 7,
     .behind = 12,
     .seen_for = NSEC_PER_SEC / 2},
};

// `two` follows `one`.
static struct introspect_cluster *share(struct admin *t, enum cluster_role role)
{
    t->introspect.cluster = (struct introspect_cluster){.role = role,
                                                        .shard = "main",
                                                        .node = "two",
                                                        .owner = "one",
                                                        .owner_address = "beanstalk=one:11300",
                                                        .epoch = 7,
                                                        .since_ms = 1700000000500,
                                                        .seq = 1000,
                                                        .behind = 12,
                                                        .takeovers = 3,
                                                        .lease_left_for = 2 * NSEC_PER_SEC,
                                                        .connected = true,
                                                        .durable = true,
                                                        .replicated = true,
                                                        .durability = "synchronous_commit = on",
                                                        .why = "",
                                                        .members = members,
                                                        .count = 2,
                                                        .proxied = 4,
                                                        .proxied_total = 40};
    t->introspect.is_opening = role == CLUSTER_STANDBY || role == CLUSTER_OPENING;
    return &t->introspect.cluster;
}

static void a_process_without_a_cluster_is_alone(void **state)
{
    struct admin *t = *state;
    json_t *document = tells(t->a, SEES("/api/v1/cluster"), 200);

    assert_string_equal(text_at(document, "role"), "alone");
    assert_true(json_is_null(admin_at(document, "owner")));
    assert_true(json_is_null(admin_at(document, "since")));
    assert_int_equal(number_at(document, "epoch"), 0);
    assert_int_equal(number_at(document, "database/syncs/count"), 0);
    json_decref(document);
    body_is(asks(t->a, SEES("/readyz"), 200), "ok\n");
    t->introspect.introspect.cluster = NULL;
    document = tells(t->a, SEES("/api/v1/cluster"), 200);
    assert_string_equal(text_at(document, "role"), "alone");
    json_decref(document);
}

static void a_standby_shows_the_owner_and_how_far_behind_each_member_is(void **state)
{
    struct admin *t = *state;
    json_t *document;

    share(t, CLUSTER_STANDBY);
    document = tells(t->a, SEES("/api/v1/cluster"), 200);
    assert_string_equal(text_at(document, "role"), "standby");
    assert_string_equal(text_at(document, "shard"), "main");
    assert_string_equal(text_at(document, "node"), "two");
    assert_string_equal(text_at(document, "owner"), "one");
    assert_string_equal(text_at(document, "owner_address"), "beanstalk=one:11300");
    assert_int_equal(number_at(document, "epoch"), 7);
    assert_true(number_at(document, "since") == 1700000000.5);
    assert_true(number_at(document, "lease_left_seconds") == 2);
    assert_int_equal(number_at(document, "rows"), 1000);
    assert_int_equal(number_at(document, "behind"), 12);
    assert_int_equal(number_at(document, "takeovers"), 3);
    assert_int_equal(number_at(document, "proxied/connections"), 4);
    assert_int_equal(number_at(document, "proxied/total"), 40);
    assert_string_equal(text_at(document, "members/0/node"), "one");
    assert_true(json_is_true(admin_at(document, "members/0/owner")));
    assert_true(json_is_true(admin_at(document, "members/0/takes_over")));
    assert_true(json_is_false(admin_at(document, "members/1/takes_over")));
    assert_int_equal(number_at(document, "members/1/behind"), 12);
    assert_true(json_is_true(admin_at(document, "members/1/self")));
    assert_true(number_at(document, "members/1/seen_seconds") == 0.5);
    assert_true(json_is_true(admin_at(document, "database/connected")));
    assert_true(json_is_null(admin_at(document, "database/why")));
    assert_true(json_is_false(admin_at(document, "database/trusted")));
    assert_string_equal(text_at(document, "database/settings"), "synchronous_commit = on");
    assert_int_equal(number_at(document, "database/syncs/count"), 8);
    json_decref(document);
}

static void only_an_owner_is_ready_and_other_roles_give_the_reason(void **state)
{
    struct admin *t = *state;

    share(t, CLUSTER_OWNER);
    body_is(asks(t->a, SEES("/readyz"), 200), "ok\n");
    share(t, CLUSTER_UNSURE)->connected = false;
    body_is(asks(t->a, SEES("/readyz"), 503),
            "unsure: ownership of the journal could not be confirmed (shard main, epoch 7); no "
            "request is served until it is; the database cannot be reached\n");
    asks(t->a, SEES("/healthz"), 200);
    share(t, CLUSTER_STANDBY);
    ends(t->a, asks(t->a, SEES("/readyz"), 503));
    share(t, CLUSTER_OPENING);
    body_is(asks(t->b, SEES("/readyz"), 503),
            "opening: the journal is being read (shard main), 12 rows behind\n");
}

static void a_process_without_its_database_is_not_ready(void **state)
{
    struct admin *t = *state;

    share(t, CLUSTER_OPENING)->connected = false;
    body_is(asks(t->a, SEES("/readyz"), 503),
            "opening: the database cannot be reached (shard main), 12 rows behind\n");
}

static void a_standby_is_not_ready_and_names_the_owner(void **state)
{
    struct admin *t = *state;
    struct introspect_cluster *cluster = share(t, CLUSTER_STANDBY);

    body_is(asks(t->a, SEES("/readyz"), 503),
            "standby: one owns the journal (shard main, epoch 7), 12 rows behind\n");
    cluster->owner = "";
    body_is(asks(t->b, SEES("/readyz"), 503),
            "standby: no process owns the journal (shard main, epoch 7), 12 rows behind\n");
}

static void
an_owner_whose_commits_are_not_safe_says_so_and_is_ready_unless_that_is_required(void **state)
{
    struct admin *t = *state;
    struct introspect_cluster *cluster = share(t, CLUSTER_OWNER);

    cluster->replicated = false;
    cluster->durability = "synchronous_standby_names is empty";
    body_is(asks(t->a, SEES("/readyz"), 200),
            "ok\nwarning: acknowledged changes are on one server of the database only "
            "(synchronous_standby_names is empty)\n");
    cluster->trusted = true;
    body_is(asks(t->a, SEES("/readyz"), 200), "ok\n");
    cluster->trusted = false;
    cluster->required = true;
    asks(t->a, SEES("/readyz"), 503);
    cluster->durable = false;
    cluster->durability = "fsync = off";
    body_is(asks(t->a, SEES("/readyz"), 503),
            "not safe\nwarning: acknowledged changes are on no disk yet (fsync = off)\n");
    broker_drain(rig_broker(t->rig));
    body_is(asks(t->a, SEES("/readyz"), 503), "the broker drains: it refuses new jobs\n");
}

static void a_handover_is_begun_by_an_administrator(void **state)
{
    struct admin *t = *state;
    json_t *document;

    share(t, CLUSTER_OWNER);
    t->introspect.hands_over = true;
    document = tells(t->a, admin_change("POST", "/api/v1/cluster/handover", ""), 202);
    assert_string_equal(text_at(document, "from"), "two");
    assert_int_equal(number_at(document, "epoch"), 7);
    json_decref(document);
    assert_int_equal(t->introspect.hand_overs, 1);
    asks(t->a, POST("/api/v1/cluster/handover", "", ""), 403);
    json_decref(tells(t->a, admin_change("POST", "/api/v1/cluster/handover?to=me", ""), 400));
    rig_callers(t->rig)->default_grants = GRANTS({MAY_ADMINISTER, "mail"});
    assert_false(peer_grant(t->a, rig_callers(t->rig)->default_grants));
    json_decref(tells(t->a, admin_change("POST", "/api/v1/cluster/handover", ""), 403));
    assert_int_equal(t->introspect.hand_overs, 1);
}

static void a_handover_without_a_standby_is_refused(void **state)
{
    struct admin *t = *state;

    json_decref(tells(t->a, admin_change("POST", "/api/v1/cluster/handover", ""), 409));
    share(t, CLUSTER_STANDBY);
    json_decref(tells(t->a, admin_change("POST", "/api/v1/cluster/handover", ""), 409));
    assert_int_equal(t->introspect.hand_overs, 2);
}

static void metrics_of_a_cluster_exist_only_with_a_shared_journal(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer = asks(t->a, SEES("/metrics"), 200);

    assert_false(metrics_say(answer, "tandem_cluster"));
    share(t, CLUSTER_OWNER);
    answer = asks(t->a, SEES("/metrics"), 200);
    assert_int_equal(sample_of(answer, "tandem_cluster_role{shard=\"main\",role=\"owner\"}"), 1);
    assert_int_equal(sample_of(answer, "tandem_cluster_role{shard=\"main\",role=\"standby\"}"), 0);
    assert_int_equal(sample_of(answer, "tandem_cluster_epoch"), 7);
    assert_true(metrics_say(answer, "\ntandem_cluster_owner_since_seconds 1700000000.5\n"));
    assert_true(metrics_say(answer, "\ntandem_cluster_lease_left_seconds 2\n"));
    assert_int_equal(sample_of(answer, "tandem_cluster_takeovers_total"), 3);
    assert_int_equal(sample_of(answer, "tandem_cluster_behind_rows"), 12);
    assert_int_equal(sample_of(answer, "tandem_cluster_members"), 2);
    assert_int_equal(sample_of(answer, "tandem_cluster_member_behind_rows{node=\"two\"}"), 12);
    assert_int_equal(sample_of(answer, "tandem_cluster_database_replicated"), 1);
    assert_int_equal(sample_of(answer, "tandem_cluster_database_trusted"), 0);
    assert_int_equal(sample_of(answer, "tandem_cluster_proxied_connections"), 4);
    assert_int_equal(sample_of(answer, "tandem_cluster_connections_proxied_total"), 40);
}

// A standby counts as opening for as long as it is one.
static void a_standby_has_metrics_and_is_not_opening(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;

    share(t, CLUSTER_STANDBY);
    answer = asks(t->a, SEES("/metrics"), 200);
    assert_int_equal(sample_of(answer, "tandem_opening"), 0);
    assert_int_equal(sample_of(answer, "tandem_cluster_role{shard=\"main\",role=\"standby\"}"), 1);
    share(t, CLUSTER_OPENING);
    assert_int_equal(sample_of(asks(t->b, SEES("/metrics"), 200), "tandem_opening"), 1);
}

static void the_page_comes_from_a_standby_too(void **state)
{
    struct admin *t = *state;

    share(t, CLUSTER_STANDBY);
    ends(t->a, asks(t->a, SEES("/"), 200));
    asks(t->b, SEES("/api/v1/process"), 503);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        ADMIN(a_process_without_a_cluster_is_alone),
        ADMIN(a_standby_shows_the_owner_and_how_far_behind_each_member_is),
        ADMIN(only_an_owner_is_ready_and_other_roles_give_the_reason),
        ADMIN(a_process_without_its_database_is_not_ready),
        ADMIN(a_standby_is_not_ready_and_names_the_owner),
        ADMIN(an_owner_whose_commits_are_not_safe_says_so_and_is_ready_unless_that_is_required),
        ADMIN(a_handover_is_begun_by_an_administrator),
        ADMIN(a_handover_without_a_standby_is_refused),
        ADMIN(metrics_of_a_cluster_exist_only_with_a_shared_journal),
        ADMIN(a_standby_has_metrics_and_is_not_opening),
        ADMIN(the_page_comes_from_a_standby_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
