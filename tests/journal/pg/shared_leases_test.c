/* SPDX-License-Identifier: MIT */
// Leases of workers without a connection, with a journal in a database: the process that takes over
// has them.
#include "core/broker.h"
#include "core/durable_lease.h"
#include "tests/journal/pg/shared_bed.h"

static struct shared_bed *bed;
static uint64_t ended_id;

static int setup(void **state)
{
    (void)state;
    bed = shared_bed_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    shared_bed_free(bed);
    return 0;
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static struct durable_lease name_of(uint64_t id)
{
    return (struct durable_lease){
        .job_id = id, .limit_for = SEC(3600), .name = {(unsigned char)id}};
}

// A job that is held; its lease is kept, and acknowledged.
static uint64_t lease_kept(struct member *member)
{
    uint64_t id = member_put_kept(member, 10);
    const struct durable_lease lease = name_of(id);
    const struct job *job;

    assert_int_equal(broker_take_id(member->session, id, &job), STATUS_OK);
    assert_int_equal(broker_limit(member->session, id, lease.limit_for), STATUS_OK);
    broker_lease_persist(member->session, &lease);
    (void)member_put_kept(member, 10);
    return id;
}

static void expect_only(struct member *member, uint64_t id)
{
    const struct durable_lease meant = name_of(id);
    struct durable_lease lease = {.job_id = 0};
    uint64_t cursor = 0;

    assert_true(broker_durable_lease_next(member->broker, &cursor, &lease));
    assert_int_equal(lease.job_id, id);
    assert_int_equal(lease.limit_for, meant.limit_for);
    assert_memory_equal(lease.name, meant.name, sizeof meant.name);
    assert_int_equal(broker_lease_resume(member->session, &lease), STATUS_OK);
    assert_false(broker_durable_lease_next(member->broker, &cursor, &lease));
    assert_int_equal(broker_complete(member->session, id, NULL), STATUS_OK);
}

static void leases_pass_to_the_next_owner_after_a_kill(void **state)
{
    uint64_t id;

    (void)state;
    member_begin(&bed->a);
    id = lease_kept(&bed->a);
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
    expect_only(&bed->b, id);
}

static void end_one_and_leave(struct member *self)
{
    struct member *a = &self->bed->a;

    if (self->step == 2) {
        assert_int_equal(broker_complete(a->session, ended_id, NULL), STATUS_OK);
        (void)member_put_kept(a, 10);
    } else if (self->step == 4) {
        broker_retire(a->broker);
        member_close(a);
    }
}

static void leases_pass_to_the_next_owner_after_a_clean_end(void **state)
{
    uint64_t id;

    (void)state;
    member_begin(&bed->a);
    ended_id = lease_kept(&bed->a);
    id = lease_kept(&bed->a);
    bed->b.script = end_one_and_leave;
    member_begin(&bed->b);
    assert_false(member_has(&bed->b, ended_id));
    expect_only(&bed->b, id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(leases_pass_to_the_next_owner_after_a_kill),
        STORY(leases_pass_to_the_next_owner_after_a_clean_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
