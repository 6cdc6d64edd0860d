/* SPDX-License-Identifier: MIT */
// The API of schedules, and its rights.
#include "tests/admin/wire_admin.h"
#include "tests/proto_common/wire_callers.h"

#include "schedule/schedule.h"

#include <stdio.h>
#include <string.h>

#define HOURLY "{\"cron\":\"@hourly\",\"queue\":\"mail\"}"
#define AT(name) "/api/v1/schedules/" name

static int32_t utc_offset_at(const struct zone *zone, int64_t at)
{
    (void)zone;
    (void)at;
    return 0;
}

static struct zone *open_zone(struct slice name)
{
    static struct zone utc = {.offset_at = utc_offset_at};

    return name.len == 0 || slice_equal(name, SLICE("UTC")) ? &utc : NULL;
}

static void close_zone(struct zone *zone)
{
    (void)zone;
}

static const struct zone_source zones = {.open = open_zone, .close = close_zone};

static int setup(void **state)
{
    struct admin *t;

    (void)admin_setup(state);
    t = *state;
    t->introspect.schedules = schedules_new(rig_broker(t->rig), &zones);
    assert_non_null(t->introspect.schedules);
    return 0;
}

static int teardown(void **state)
{
    struct admin *t = *state;

    schedules_free(t->introspect.schedules);
    t->introspect.schedules = NULL;
    return admin_teardown(state);
}

static void puts_schedule(struct admin *t, const char *target)
{
    json_decref(tells(t->a, admin_change("PUT", target, HOURLY), 200));
}

static void may(struct admin *t, unsigned rights, const char *queues)
{
    grants_unref(rig_callers(t->rig)->default_grants);
    rig_callers(t->rig)->default_grants = GRANTS({rights, queues});
    (void)peer_grant(t->a, rig_callers(t->rig)->default_grants);
}

static void a_schedule_is_made_and_shown(void **state)
{
    struct admin *t = *state;
    json_t *document =
        tells(t->a,
              admin_change(
                  "PUT", AT("n.1"),
                  "{\"cron\":\"5 * * * *\",\"queue\":\"mail\",\"timezone\":\"UTC\",\"body\":\"b\","
                  "\"priority\":7,\"ttr_seconds\":60,\"missed\":\"once\",\"overlap\":\"skip\"}"),
              200);

    assert_string_equal(text_at(document, "name"), "n.1");
    assert_string_equal(text_at(document, "cron"), "5 * * * *");
    assert_string_equal(text_at(document, "timezone"), "UTC");
    assert_string_equal(text_at(document, "queue"), "mail");
    assert_string_equal(text_at(document, "body"), "b");
    assert_int_equal(number_at(document, "priority"), 7);
    assert_int_equal(number_at(document, "ttr_seconds"), 60);
    assert_string_equal(text_at(document, "missed"), "once");
    assert_string_equal(text_at(document, "overlap"), "skip");
    assert_true(json_is_true(admin_at(document, "at_run_time")));
    assert_true(json_is_false(admin_at(document, "in_file")));
    assert_true(json_is_null(admin_at(document, "fired_at")));
    assert_string_equal(text_at(document, "last/outcome"), "nothing");
    assert_true(json_is_null(admin_at(document, "last/job")));
    json_decref(document);
    puts_schedule(t, AT("b"));
    document = tells(t->a, SEES(AT("b")), 200);
    assert_true(json_is_null(admin_at(document, "timezone")));
    assert_int_equal(number_at(document, "priority"), 65536);
    assert_string_equal(text_at(document, "missed"), "skip");
    json_decref(document);
}

static void a_firing_and_a_refusal_are_shown(void **state)
{
    struct admin *t = *state;
    json_t *document;

    puts_schedule(t, AT("n"));
    broker_drain(rig_broker(t->rig));
    json_decref(tells(t->a, admin_change("POST", AT("n/run"), ""), 503));
    broker_end_drain(rig_broker(t->rig));
    document = tells(t->a, admin_change("POST", AT("n/run"), ""), 201);
    assert_int_equal(number_at(document, "id"), 1);
    assert_true(json_is_false(admin_at(document, "joined")));
    json_decref(document);
    document = tells(t->a, SEES(AT("n")), 200);
    assert_string_equal(text_at(document, "last/outcome"), "fired");
    assert_int_equal(number_at(document, "last/job"), 1);
    assert_int_equal(number_at(document, "counts/fired"), 1);
    json_decref(document);
}

static void schedules_come_in_pages(void **state)
{
    struct admin *t = *state;
    json_t *document;

    puts_schedule(t, AT("c"));
    puts_schedule(t, AT("a"));
    puts_schedule(t, AT("b"));
    document = tells(t->a, SEES("/api/v1/schedules?limit=2"), 200);
    assert_int_equal(json_array_size(admin_at(document, "schedules")), 2);
    assert_string_equal(text_at(document, "schedules/0/name"), "a");
    assert_string_equal(text_at(document, "next"), "b");
    assert_null(admin_at(document, "schedules/0/body"));
    json_decref(document);
    document = tells(t->a, SEES("/api/v1/schedules?limit=2&cursor=b"), 200);
    assert_string_equal(text_at(document, "schedules/0/name"), "c");
    assert_true(json_is_null(admin_at(document, "next")));
    json_decref(document);
    json_decref(tells(t->a, SEES("/api/v1/schedules?limit=1001"), 400));
}

static void an_invalid_schedule_is_refused_with_its_key(void **state)
{
    static const struct {
        const char *document, *why;
    } wrong[] = {
        {"{\"queue\":\"q\"}", "cron is missing"},
        {"{\"cron\":\"@daily\"}", "queue is missing"},
        {"{\"queue\":\"q\",\"cron\":\"0 25 * * *\"}", "cron: hour: `25` is not between 0 and 23"},
        {"{\"queue\":\"q\",\"cron\":\"@daily\",\"timezone\":\"X\"}",
         "timezone: this machine has no such zone"},
        {"{\"queue\":\"q\",\"cron\":\"@daily\",\"when\":1}", "when"},
    };
    struct admin *t = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *document = tells(t->a, admin_change("PUT", AT("n"), wrong[i].document), 400);

        if (!strstr(text_at(document, "error"), wrong[i].why)) {
            fail_msg("expected \"%s\" in: %s", wrong[i].why, text_at(document, "error"));
        }
        json_decref(document);
    }
    json_decref(tells(t->a, admin_change("PUT", AT("a%20b"), HOURLY), 400));
    json_decref(tells(t->a, SEES(AT("n")), 404));
}

static void a_missing_schedule_is_404_and_one_of_the_file_is_409(void **state)
{
    struct admin *t = *state;
    struct error_text why;
    const struct schedule_spec spec = {
        .name = SLICE("f"), .cron = SLICE("@daily"), .queue = SLICE("mail")};

    json_decref(tells(t->a, admin_change("DELETE", AT("n"), ""), 404));
    json_decref(tells(t->a, admin_change("POST", AT("n/run"), ""), 404));
    assert_true(schedules_adopt(t->introspect.schedules, &spec, 1, &why));
    json_decref(tells(t->a, admin_change("DELETE", AT("f"), ""), 409));
    puts_schedule(t, AT("f"));
    assert_memory_equal(peer_ask(t->a, admin_change("DELETE", AT("f"), "")).ptr, "HTTP/1.1 204",
                        12);
    json_decref(tells(t->a, SEES(AT("f")), 200));
}

static void a_clock_set_back_is_shown_and_a_schedule_is_planned_again(void **state)
{
    struct admin *t = *state;
    json_t *document;

    puts_schedule(t, AT("n"));
    document = tells(t->a, SEES(AT("n")), 200);
    assert_true(json_is_null(admin_at(document, "silent_until")));
    json_decref(document);
    rig_step_wall(t->rig, -86400 * NSEC_PER_SEC);
    document = tells(t->a, SEES(AT("n")), 200);
    assert_true(json_is_number(admin_at(document, "silent_until")));
    json_decref(document);
    document = tells(t->a, admin_change("POST", AT("n/replan"), ""), 200);
    assert_true(json_is_null(admin_at(document, "silent_until")));
    json_decref(document);
    json_decref(tells(t->a, admin_change("POST", AT("none/replan"), ""), 404));
    may(t, MAY_OBSERVE | MAY_OPERATE, "mail");
    json_decref(tells(t->a, admin_change("POST", AT("n/replan"), ""), 403));
}

static void only_schedules_of_observable_queues_are_shown(void **state)
{
    struct admin *t = *state;
    json_t *document;

    puts_schedule(t, AT("n"));
    may(t, MAY_OBSERVE, "other*");
    json_decref(tells(t->a, SEES(AT("n")), 404));
    document = tells(t->a, SEES("/api/v1/schedules"), 200);
    assert_int_equal(json_array_size(admin_at(document, "schedules")), 0);
    json_decref(document);
}

static void changing_requires_both_rights_on_the_queue(void **state)
{
    static const unsigned short_of[] = {MAY_OBSERVE | MAY_OPERATE,
                                        MAY_OBSERVE | MAY_OPERATE | MAY_CANCEL};
    struct admin *t = *state;

    puts_schedule(t, AT("n"));
    for (size_t i = 0; i < sizeof short_of / sizeof *short_of; i++) {
        may(t, short_of[i], "*");
        json_decref(tells(t->a, admin_change("PUT", AT("n"), HOURLY), 403));
        json_decref(tells(t->a, admin_change("PUT", AT("m"), HOURLY), 403));
        json_decref(tells(t->a, admin_change("DELETE", AT("n"), ""), 403));
        json_decref(tells(t->a, admin_change("POST", AT("n/run"), ""), 403));
    }
    // The rights are required on the old queue, too.
    may(t, MAY_OBSERVE | MAY_OPERATE | MAY_SUBMIT, "other");
    json_decref(tells(
        t->a, admin_change("PUT", AT("n"), "{\"cron\":\"@hourly\",\"queue\":\"other\"}"), 403));
    may(t, MAY_OBSERVE | MAY_OPERATE | MAY_SUBMIT, "mail");
    puts_schedule(t, AT("n"));
}

#define WITH_SCHEDULES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCHEDULES(a_schedule_is_made_and_shown),
        WITH_SCHEDULES(a_firing_and_a_refusal_are_shown),
        WITH_SCHEDULES(schedules_come_in_pages),
        WITH_SCHEDULES(an_invalid_schedule_is_refused_with_its_key),
        WITH_SCHEDULES(a_missing_schedule_is_404_and_one_of_the_file_is_409),
        WITH_SCHEDULES(a_clock_set_back_is_shown_and_a_schedule_is_planned_again),
        WITH_SCHEDULES(only_schedules_of_observable_queues_are_shown),
        WITH_SCHEDULES(changing_requires_both_rights_on_the_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
