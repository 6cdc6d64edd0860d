/* SPDX-License-Identifier: MIT */
// The process, its journal and its settings.
#include "tests/admin/wire_admin.h"
#include "tests/proto_common/wire_callers.h"

#include <string.h>

static json_t *sees_process(struct admin *admin)
{
    return tells(admin->a, SEES("/api/v1/process"), 200);
}

static void the_process_shows_its_identity_and_start(void **state)
{
    struct admin *admin = *state;
    json_t *document = sees_process(admin);

    assert_string_equal(text_at(document, "version"), "0.1.0");
    assert_string_equal(text_at(document, "host"), "test.host");
    assert_int_equal(number_at(document, "pid"), 4242);
    assert_int_equal(number_at(document, "uptime_seconds"), 77);
    assert_int_equal(number_at(document, "now"), 1700000000);
    assert_int_equal(number_at(document, "started_at"), 1700000000 - 77);
    assert_true(number_at(document, "cpu/system_seconds") == 1.5);
    assert_true(json_is_false(admin_at(document, "draining")));
    json_decref(document);
}

static void the_process_shows_jobs_workers_and_producers_of_all_queues(void **state)
{
    struct admin *admin = *state;
    json_t *document;

    peer_ask(admin->w, SLICE("put 5 0 60 1\r\na\r\nuse mail\r\nput 5 60 60 1\r\nb\r\n"));
    peer_ask(admin->v, SLICE("reserve\r\n"));
    document = sees_process(admin);
    assert_int_equal(number_at(document, "jobs/reserved"), 1);
    assert_int_equal(number_at(document, "jobs/delayed"), 1);
    assert_int_equal(number_at(document, "jobs/ready"), 0);
    assert_int_equal(number_at(document, "totals/submitted"), 2);
    assert_int_equal(number_at(document, "queues"), 2);
    assert_int_equal(number_at(document, "workers"), 1);
    assert_int_equal(number_at(document, "producers"), 1);
    assert_int_equal(number_at(document, "waiting"), 0);
    json_decref(document);
}

static void the_process_shows_the_introspection_of_its_host(void **state)
{
    struct admin *admin = *state;
    json_t *document = sees_process(admin);

    assert_int_equal(json_array_size(admin_at(document, "protocols")), 3);
    assert_string_equal(text_at(document, "protocols/1/name"), "gearman");
    assert_string_equal(text_at(document, "protocols/1/listening/1"), "tls:127.0.0.1:4731");
    assert_int_equal(number_at(document, "protocols/1/connections"), 12);
    assert_int_equal(number_at(document, "protocols/1/accepted"), 22);
    assert_int_equal(number_at(document, "protocols/1/commands"), 102);
    assert_int_equal(number_at(document, "protocols/1/received_bytes"), 1002);
    assert_int_equal(number_at(document, "protocols/1/sent_bytes"), 2002);
    assert_int_equal(number_at(document, "protocols/1/refusals/forbidden"), 32);
    assert_int_equal(number_at(document, "protocols/1/refusals/idle"), 0);
    assert_int_equal(number_at(document, "loop/turns"), 5001);
    assert_true(number_at(document, "loop/longest_seconds") == 0.002);
    assert_true(number_at(document, "loop/lag_seconds") == 0.007);
    assert_int_equal(number_at(document, "loop/io_threads"), 2);
    assert_int_equal(number_at(document, "memory/used_bytes"), 1000000);
    assert_int_equal(number_at(document, "memory/kinds/output"), 300000);
    assert_int_equal(number_at(document, "memory/resident_bytes"), 9437184);
    assert_int_equal(number_at(document, "descriptors/open"), 48);
    json_decref(document);
}

static void the_process_shows_the_rights_of_its_caller(void **state)
{
    struct admin *admin = *state;
    json_t *document = sees_process(admin);

    assert_int_equal(json_array_size(admin_at(document, "may")), 6);
    json_decref(document);
    rig_callers(admin->rig)->default_grants = GRANTS({MAY_OBSERVE, "mail"}, {MAY_SUBMIT, "*"});
    assert_false(peer_grant(admin->a, rig_callers(admin->rig)->default_grants));
    document = sees_process(admin);
    assert_int_equal(json_array_size(admin_at(document, "may")), 2);
    assert_string_equal(text_at(document, "may/0"), "submit");
    assert_string_equal(text_at(document, "may/1"), "observe");
    json_decref(document);
}

static void the_journal_shows_its_size_and_sync_times(void **state)
{
    struct admin *admin = *state;
    json_t *document = tells(admin->a, SEES("/api/v1/journal"), 200);

    assert_true(json_is_true(admin_at(document, "enabled")));
    assert_string_equal(text_at(document, "directory"), "/var/lib/tandem");
    assert_string_equal(text_at(document, "fsync"), "always");
    assert_int_equal(number_at(document, "bytes"), 20971520);
    assert_int_equal(number_at(document, "segments"), 2);
    assert_int_equal(number_at(document, "batches"), 9);
    assert_int_equal(number_at(document, "free_bytes"), 5000000000);
    assert_int_equal(number_at(document, "syncs/count"), 8);
    assert_true(number_at(document, "syncs/sum_seconds") == 0.04);
    assert_true(number_at(document, "syncs/buckets/1/le_seconds") == 0.01);
    assert_int_equal(number_at(document, "syncs/buckets/1/count"), 2);
    assert_true(json_is_null(admin_at(document, "syncs/buckets/2/le_seconds")));
    json_decref(document);
    admin->introspect.journal.disk_free = UINT64_MAX;
    document = tells(admin->a, SEES("/api/v1/journal"), 200);
    assert_true(json_is_null(admin_at(document, "free_bytes")));
    json_decref(document);
}

static void the_configuration_requires_the_right_to_observe_every_queue(void **state)
{
    struct admin *admin = *state;
    json_t *document = tells(admin->a, SEES("/api/v1/config"), 200);

    assert_string_equal(text_at(document, "file"), "/etc/tandem/tandemd.conf");
    assert_int_equal(json_array_size(admin_at(document, "settings")), 2);
    assert_string_equal(text_at(document, "settings/0/section"), "server");
    assert_string_equal(text_at(document, "settings/0/key"), "max_memory");
    assert_string_equal(text_at(document, "settings/0/value"), "64M");
    assert_string_equal(text_at(document, "settings/0/default"), "0");
    assert_true(json_is_true(admin_at(document, "settings/0/live")));
    json_decref(document);
    admin->introspect.config_file = NULL;
    document = tells(admin->a, SEES("/api/v1/config"), 200);
    assert_true(json_is_null(admin_at(document, "file")));
    json_decref(document);
    rig_callers(admin->rig)->default_grants = GRANTS({MAY_OBSERVE, "mail"});
    assert_false(peer_grant(admin->a, rig_callers(admin->rig)->default_grants));
    json_decref(tells(admin->a, SEES("/api/v1/config"), 403));
}

static void an_unknown_parameter_is_refused(void **state)
{
    struct admin *admin = *state;

    json_decref(tells(admin->a, SEES("/api/v1/process?all=1"), 400));
    json_decref(tells(admin->a, SEES("/api/v1/journal?all=1"), 400));
    json_decref(tells(admin->a, SEES("/api/v1/config?all=1"), 400));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        ADMIN(the_process_shows_its_identity_and_start),
        ADMIN(the_process_shows_jobs_workers_and_producers_of_all_queues),
        ADMIN(the_process_shows_the_introspection_of_its_host),
        ADMIN(the_process_shows_the_rights_of_its_caller),
        ADMIN(the_journal_shows_its_size_and_sync_times),
        ADMIN(the_configuration_requires_the_right_to_observe_every_queue),
        ADMIN(an_unknown_parameter_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
