/* SPDX-License-Identifier: MIT */
// The keys of [schedule NAME], and how they reach the schedules of the process.
#include "server/config/schedule_section.h"

#include "core/broker.h"
#include "schedule/schedule.h"
#include "server/schedule_service.h"
#include "server/config/settings.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOURLY "[schedule hourly]\ncron = @hourly\nqueue = q\n"

static struct settings *try_load(const char *text, struct error_text *why)
{
    char path[] = "/tmp/tandem-schedules-XXXXXX";
    const struct settings_source source = {.path = path};
    FILE *file = fdopen(mkstemp(path), "w");
    struct settings *settings;

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    settings = settings_load(&source, why);
    (void)unlink(path);
    return settings;
}

static struct settings *load(const char *text)
{
    struct error_text why = {""};
    struct settings *settings = try_load(text, &why);

    if (!settings) {
        fail_msg("%s", why.text);
    }
    return settings;
}

static void refused(const char *text, const char *words)
{
    struct error_text why = {""};

    if (try_load(text, &why) || !strstr(why.text, words)) {
        fail_msg("expected \"%s\" in: %s", words, why.text);
    }
}

static struct schedule_spec spec_of(const struct settings *settings, size_t index)
{
    return schedule_section_spec(&settings->named[SETTINGS_SCHEDULES].all[index]);
}

static void a_section_sets_the_job_and_its_times(void **state)
{
    struct settings *settings =
        load("[schedule nightly.1]\ncron = 30 2 * * mon-fri\n"
             "timezone = Europe/Berlin\nqueue = reports\nbody = {\"a\": 1}\n"
             "pri = 7\nttr = 90s\nmissed = once\noverlap = skip\n" HOURLY);
    struct schedule_spec spec = spec_of(settings, 0);

    (void)state;
    assert_true(slice_equal(spec.name, SLICE("nightly.1")));
    assert_true(slice_equal(spec.cron, SLICE("30 2 * * mon-fri")));
    assert_true(slice_equal(spec.timezone, SLICE("Europe/Berlin")));
    assert_true(slice_equal(spec.queue, SLICE("reports")));
    assert_true(slice_equal(spec.body, SLICE("{\"a\": 1}")));
    assert_int_equal(spec.pri, 7);
    assert_int_equal(spec.ttr_for, 90 * NSEC_PER_SEC);
    assert_int_equal(spec.missed, SCHEDULE_MISSED_ONCE);
    assert_int_equal(spec.overlap, SCHEDULE_OVERLAP_SKIP);
    spec = spec_of(settings, 1);
    assert_int_equal(spec.timezone.len, 0);
    assert_int_equal(spec.body.len, 0);
    assert_int_equal(spec.pri, PRI_NORMAL);
    assert_int_equal(spec.ttr_for, 0);
    assert_int_equal(spec.missed, SCHEDULE_MISSED_SKIP);
    assert_int_equal(spec.overlap, SCHEDULE_OVERLAP_ALLOW);
    settings_free(settings);
}

static void a_section_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    refused("[schedule]\n", "the name of a schedule has 1 to 64");
    refused("[schedule a b]\n", "the name of a schedule has 1 to 64");
    refused("[schedule a]\nqueue = q\n", "cron: has 1 to 256 bytes");
    refused("[schedule a]\ncron = @daily\n", "queue: has 1 to 512 bytes");
    refused("[schedule a]\nqueue = q\ncron = daily\n",
            "[schedule a]: cron: `daily` is not minute, hour, day of month, month and day of week");
    refused("[schedule a]\nqueue = q\ncron = 0 0 31 2 *\n",
            "cron: day of month: `31` is a day that does not exist in any of the months");
    refused("[schedule a]\nqueue = q\ncron = 0 0 * * funday\n",
            "cron: day of week: `funday` is neither a number nor a name");
    refused("[schedule a]\nqueue = q\ncron = @daily\ntimezone = Mars/Olympus\n",
            "timezone: this machine has no such zone");
    refused("[schedule a]\nqueue = q\ncron = @daily\nmissed = all\noverlap = skip\n",
            "missed: `all` and `overlap = skip` contradict each other");
    refused("[schedule a]\nqueue = q\ncron = @daily\nmissed = never\n", "skip");
    refused("[schedule a]\nqueue = q\ncron = @daily\nwhen = now\n", "when");
    refused(HOURLY HOURLY, "hourly");
}

struct place {
    struct broker *broker;
    struct schedules *schedules;
};

static int setup(void **state)
{
    static struct place place;
    struct settings *settings = load(HOURLY "[schedule b]\ncron = @daily\nqueue = q\n");
    struct error_text why = {""};

    place.broker = broker_new(&(const struct broker_options){0},
                              (struct instant){NSEC_PER_SEC, 1700000000 * NSEC_PER_SEC});
    assert_non_null(place.broker);
    place.schedules = schedule_service_open(place.broker, settings, &why);
    assert_non_null(place.schedules);
    settings_free(settings);
    *state = &place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;

    schedules_free(place->schedules);
    broker_free(place->broker);
    return 0;
}

static void sections_that_are_read_again_are_taken_over(void **state)
{
    struct settings *settings = load("[schedule hourly]\ncron = 30 * * * *\nqueue = r\n"
                                     "[schedule c]\ncron = @daily\nqueue = q\n");
    struct place *place = *state;
    struct schedule_info info;
    struct error_text why = {""};

    assert_true(schedule_service_adopt(place->schedules, settings, &why));
    settings_free(settings);
    assert_true(schedules_find(place->schedules, SLICE("hourly"), &info));
    assert_true(slice_equal(info.spec->queue, SLICE("r")));
    assert_true(schedules_find(place->schedules, SLICE("c"), &info));
    assert_false(schedules_find(place->schedules, SLICE("b"), &info));
}

static void without_memory_nothing_is_taken_over(void **state)
{
    struct settings *settings = load(HOURLY "[schedule c]\ncron = @daily\nqueue = q\n");
    struct place *place = *state;
    struct schedule_info info;
    struct error_text why = {""};
    bool taken = false;

    for (size_t n = 1; !taken; n++) {
        nth_alloc_fail(n);
        taken = schedule_service_adopt(place->schedules, settings, &why);
        nth_alloc_fail(0);
        assert_int_equal(schedules_find(place->schedules, SLICE("c"), &info), taken);
        assert_int_equal(schedules_find(place->schedules, SLICE("b"), &info), !taken);
        if (!taken) {
            assert_memory_equal(why.text, "schedules: ", 11);
        }
    }
    settings_free(settings);
}

static void a_schedule_service_needs_memory_to_open(void **state)
{
    struct settings *settings = load(HOURLY);
    struct place *place = *state;
    struct schedules *schedules = NULL;
    struct error_text why = {""};
    size_t n = 0;

    while (!schedules) {
        nth_alloc_fail(++n);
        schedules = schedule_service_open(place->broker, settings, &why);
        nth_alloc_fail(0);
    }
    assert_in_range(n, 4, 20);
    schedules_free(schedules);
    settings_free(settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_section_sets_the_job_and_its_times),
        cmocka_unit_test(a_section_that_makes_no_sense_is_refused),
        cmocka_unit_test_setup_teardown(sections_that_are_read_again_are_taken_over, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_taken_over, setup, teardown),
        cmocka_unit_test_setup_teardown(a_schedule_service_needs_memory_to_open, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
