/* SPDX-License-Identifier: MIT */
// Sections with a name, and what [queue GLOB] says.
#include "server/config/queue_section.h"

#include "core/base/log.h"
#include "server/config/settings.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_ROOM 64

static void write_file(char path[PATH_ROOM], const char *text)
{
    FILE *file;

    (void)snprintf(path, PATH_ROOM, "/tmp/tandem-sections-XXXXXX");
    file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct settings *load_with(const char *text, const char *set, char path[PATH_ROOM],
                                  struct error_text *why)
{
    const struct settings_source source = {.path = path, .sets = &set, .set_count = set ? 1 : 0};
    struct settings *settings;

    write_file(path, text);
    settings = settings_load(&source, why);
    (void)unlink(path);
    return settings;
}

static struct settings *load(const char *text)
{
    char path[PATH_ROOM];
    struct error_text why = {""};
    struct settings *settings = load_with(text, NULL, path, &why);

    if (!settings) {
        fail_msg("%s", why.text);
    }
    return settings;
}

static void expect_refused(const char *text, int line, const char *words)
{
    char path[PATH_ROOM];
    char place[2 * PATH_ROOM];
    struct error_text why;

    assert_null(load_with(text, NULL, path, &why));
    (void)snprintf(place, sizeof place, "%s:%d: ", path, line);
    if (strncmp(why.text, place, strlen(place)) != 0 || !strstr(why.text, words)) {
        fail_msg("expected line %d and \"%s\" in: %s", line, words, why.text);
    }
}

static const struct config_sections *queues(const struct settings *settings)
{
    return &settings->named[SETTINGS_QUEUES];
}

static const struct policy_spec *spec_of(const struct settings *settings, size_t index)
{
    const struct queue_section *values = queues(settings)->all[index].values;

    return &values->spec;
}

static void a_section_without_keys_has_no_effect(void **state)
{
    struct settings *settings = load("[queue a*]\n[queue b]\n");
    const struct policy_spec *spec = spec_of(settings, 0);
    struct policy_rule rule = queue_section_rule(&queues(settings)->all[1]);

    (void)state;
    assert_int_equal(queues(settings)->count, 2);
    assert_int_equal(spec->max_attempts, 0);
    assert_int_equal(spec->backoff, BACKOFF_NONE);
    assert_int_equal(spec->on_exhausted, ON_EXHAUSTED_CONTRACT);
    assert_int_equal(spec->dead_queue.len, 0);
    assert_int_equal(spec->rate_interval_for, 0);
    assert_int_equal(spec->expire_after_for, 0);
    assert_false(spec->unique_body || spec->count_releases);
    assert_memory_equal(rule.glob.ptr, "b", 1);
    assert_int_equal(rule.glob.len, 1);
    assert_false(rule.tell);
    settings_free(settings);
}

static void every_key_reaches_the_rule(void **state)
{
    struct settings *settings = load("[queue mail.[a-z]*]  ; out\n"
                                     "max_attempts = 7\n"
                                     "backoff = exponential\n"
                                     "backoff_min = 500ms\n"
                                     "backoff_max = 5m\n"
                                     "backoff_jitter = 0.25\n"
                                     "count_releases = yes\n"
                                     "on_exhausted = move\n"
                                     "dead_queue = dead.{queue}\n"
                                     "max_jobs = 100000\n"
                                     "max_bytes = 1G\n"
                                     "max_job_size = 64k\n"
                                     "max_running = 10\n"
                                     "rate = 5/m\n"
                                     "burst = 3\n"
                                     "expire_after = 7d\n"
                                     "on_expired = move\n"
                                     "weight = 4\n"
                                     "unique = body\n"
                                     "unique_for = 2h\n"
                                     "keep_result = 10\n"
                                     "push = http://example.com/\n");
    struct policy_rule rule = queue_section_rule(&queues(settings)->all[0]);
    const struct policy_spec *spec = &rule.spec;

    (void)state;
    assert_int_equal(rule.glob.len, strlen("mail.[a-z]*"));
    assert_memory_equal(rule.glob.ptr, "mail.[a-z]*", rule.glob.len);
    assert_int_equal(spec->max_attempts, 7);
    assert_int_equal(spec->backoff, BACKOFF_EXPONENTIAL);
    assert_int_equal(spec->backoff_min_for, 500 * NSEC_PER_MSEC);
    assert_int_equal(spec->backoff_max_for, 300 * NSEC_PER_SEC);
    assert_int_equal(spec->backoff_jitter, POLICY_JITTER_WHOLE / 4);
    assert_true(spec->count_releases);
    assert_int_equal(spec->on_exhausted, ON_EXHAUSTED_MOVE);
    assert_int_equal(spec->dead_queue.len, strlen("dead.{queue}"));
    assert_memory_equal(spec->dead_queue.ptr, "dead.{queue}", spec->dead_queue.len);
    assert_int_equal(spec->max_jobs, 100000);
    assert_int_equal(spec->max_bytes, 1 << 30);
    assert_int_equal(spec->max_job_size, 65536);
    assert_int_equal(spec->max_running, 10);
    assert_int_equal(spec->rate_interval_for, 12 * NSEC_PER_SEC);
    assert_int_equal(spec->burst, 3);
    assert_int_equal(spec->expire_after_for, 7 * 86400 * NSEC_PER_SEC);
    assert_int_equal(spec->on_expired, ON_EXPIRED_MOVE);
    assert_int_equal(spec->weight, 4);
    assert_true(spec->unique_body);
    assert_int_equal(spec->unique_for_for, 7200 * NSEC_PER_SEC);
    assert_int_equal(spec->keep_result_for, 10 * NSEC_PER_SEC);
    assert_true(rule.tell);
    settings_free(settings);
}

// Each in its place of the list is what the core takes it for.
static void choices_are_the_values_that_the_core_knows(void **state)
{
    struct settings *settings = load("[queue a]\nbackoff = fixed\non_exhausted = bury\n"
                                     "[queue b]\non_exhausted = drop\non_expired = drop\n"
                                     "[queue c]\nbackoff = none\non_exhausted = contract\n");

    (void)state;
    assert_int_equal(spec_of(settings, 0)->backoff, BACKOFF_FIXED);
    assert_int_equal(spec_of(settings, 0)->on_exhausted, ON_EXHAUSTED_BURY);
    assert_int_equal(spec_of(settings, 1)->on_exhausted, ON_EXHAUSTED_DROP);
    assert_int_equal(spec_of(settings, 1)->on_expired, ON_EXPIRED_DROP);
    assert_int_equal(spec_of(settings, 2)->backoff, BACKOFF_NONE);
    assert_int_equal(spec_of(settings, 2)->on_exhausted, ON_EXHAUSTED_CONTRACT);
    settings_free(settings);
}

static void sections_stay_in_the_order_of_the_file(void **state)
{
    char path[PATH_ROOM];
    char origin[2 * PATH_ROOM];
    struct error_text why;
    struct settings *settings =
        load_with("[queue z]\n[server]\nlog_level = debug\n[queue a]\n[queue *]\nweight = 2\n",
                  "queue new.*.max_jobs=5", path, &why);

    (void)state;
    assert_non_null(settings);
    assert_int_equal(queues(settings)->count, 4);
    assert_string_equal(queues(settings)->all[0].name, "z");
    assert_string_equal(queues(settings)->all[1].name, "a");
    assert_string_equal(queues(settings)->all[2].name, "*");
    (void)snprintf(origin, sizeof origin, "%s:5", path);
    assert_string_equal(queues(settings)->all[2].origin, origin);
    assert_string_equal(queues(settings)->all[3].name, "new.*");
    assert_string_equal(queues(settings)->all[3].origin, "--set");
    assert_int_equal(spec_of(settings, 3)->max_jobs, 5);
    settings_free(settings);
}

static void set_changes_a_section_of_the_file(void **state)
{
    char path[PATH_ROOM];
    struct error_text why;
    struct settings *settings =
        load_with("[queue a.b=c]\nmax_jobs = 3\n", "queue a.b=c.dead_queue=x", path, &why);

    (void)state;
    // The part between the first dot and the first sign is taken for a key.
    assert_null(settings);
    assert_non_null(strstr(why.text, "there is no key `b` in sections [queue ...]"));
    settings = load_with("[queue a=c]\nmax_jobs = 3\n", "queue a=c.max_jobs=4", path, &why);
    assert_non_null(settings);
    assert_int_equal(queues(settings)->count, 1);
    assert_int_equal(spec_of(settings, 0)->max_jobs, 4);
    settings_free(settings);
}

static void an_error_names_the_line_and_the_reason(void **state)
{
    (void)state;
    expect_refused("[queue a]\nmax_tries = 3\n", 2,
                   "there is no key `max_tries` in sections [queue ...]");
    expect_refused("[queue a]\nmax_attempts = 1001\n", 2, "`1001` is not between 0 and 1000");
    expect_refused("[queue a]\nbackoff = linear\n", 2,
                   "`linear` is not one of none|fixed|exponential");
    expect_refused("[queue a]\nbackoff_min = 31d\n", 2, "`31d` is not between 1ms and 30d");
    expect_refused("[queue a]\nexpire_after = 31d\n", 2, "`31d` is not between 0 and 30d");
    expect_refused("[queue a]\nbackoff_jitter = 2\n", 2, "is not a number from 0 to 1");
    expect_refused("[queue a]\nrate = fast\n", 2, "rate: `fast` is not a rate");
    expect_refused("[queue a]\nweight = -1\n", 2, "`-1` is not between 0 and 1000");
    expect_refused("[queue a]\ndead_queue = dead.{tube}\n", 2, "only {queue} may be in braces");
    expect_refused("\n[queue a[]\n", 2, "[queue a[]: the glob is malformed");
    expect_refused("[queue]\n", 1, "the glob of queue names is missing");
    expect_refused("[queue a]\nrate = 5/s\nweight = 1\nrate = 6/s\n", 4,
                   "rate: line 2 has this key already");
    expect_refused("[queue a ]\n", 1, "[queue a ]: a name must not begin or end with a blank");
    expect_refused("[queue a\t]\n", 1, "a name must not begin or end with a blank");
    expect_refused("[queue a]\n\n[queue a]\n", 3, "there is a section [queue a] already, at ");
    expect_refused("[queues a]\n", 1, "there is no section [queues a]");
}

static void a_name_that_is_too_long_is_an_error(void **state)
{
    char name[QUEUE_NAME_MAX + 2] = "";
    char text[2 * QUEUE_NAME_MAX];

    (void)state;
    memset(name, 'x', sizeof name - 1);
    (void)snprintf(text, sizeof text, "[queue a]\ndead_queue = %s\n", name);
    expect_refused(text, 2, "the name of a queue is longer than 512 bytes");
    (void)snprintf(text, sizeof text, "[queue %s]\n", name);
    assert_false(queue_section_kind.check_name(name, &(struct error_text){""}));
    name[QUEUE_NAME_MAX] = '\0';
    assert_true(queue_section_kind.check_name(name, &(struct error_text){""}));
}

static void keys_that_contradict_each_other_are_an_error_of_their_section(void **state)
{
    static const struct {
        const char *keys, *words;
    } cases[] = {
        {"on_exhausted = move\n", "on_exhausted = move needs a dead_queue"},
        {"expire_after = 1s\non_expired = move\n", "on_expired = move needs a dead_queue"},
        {"dead_queue = d\n", "dead_queue needs on_exhausted = move"},
        {"on_expired = move\ndead_queue = d\n", "on_expired = move needs expire_after"},
        {"backoff = exponential\nbackoff_min = 10s\nbackoff_max = 5s\n",
         "backoff_max is less than backoff_min"},
        {"backoff = fixed\nbackoff_max = 5s\n", "backoff_max needs backoff = exponential"},
        {"backoff_jitter = 0.5\n", "backoff_jitter needs a backoff"},
        {"burst = 5\n", "burst needs a rate"},
        {"max_bytes = 1k\nmax_job_size = 2k\n", "max_job_size is more than max_bytes"},
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)snprintf(text, sizeof text, "[queue ok]\n\n[queue a.*]\n%s", cases[i].keys);
        expect_refused(text, 3, "[queue a.*]: ");
        expect_refused(text, 3, cases[i].words);
    }
}

static char *printed(const struct settings *settings, const char *queue)
{
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    if (queue) {
        queue_section_explain(queues(settings), queue, file);
    } else {
        config_print(&settings->config, file);
    }
    assert_int_equal(fclose(file), 0);
    return text;
}

static void what_is_printed_can_be_read_back(void **state)
{
    static const char keys[] = "[queue a.*]\n"
                               "max_attempts = 5\n"
                               "backoff = exponential\n"
                               "backoff_min = 2s\n"
                               "backoff_max = 1h\n"
                               "backoff_jitter = 0.5\n"
                               "rate = 7/m\n"
                               "unique = body\n";
    struct settings *settings = load(keys);
    char *first = printed(settings, NULL);
    struct settings *again = load(first);
    char *second = printed(again, NULL);

    (void)state;
    assert_non_null(strstr(first, keys));
    assert_non_null(strstr(second, keys));
    settings_free(settings);
    settings_free(again);
    free(first);
    free(second);
}

static void the_first_section_that_fits_is_the_queues(void **state)
{
    struct settings *settings =
        load("[queue mail.out]\nweight = 2\n[queue mail.*]\nmax_jobs = 9\n[queue *.out]\n");
    char *text = printed(settings, "mail.out");
    const char *first;
    const char *second;

    (void)state;
    assert_non_null(strstr(text, "This is the first section"));
    assert_non_null(strstr(text, ":1\n[queue mail.out]\nweight = 2\n"));
    first = strstr(text, "# [queue mail.*], at ");
    second = strstr(text, "# [queue *.out], at ");
    assert_non_null(first);
    assert_non_null(second);
    assert_true(first < second);
    free(text);
    text = printed(settings, "mail.in");
    assert_non_null(strstr(text, "[queue mail.*]\nmax_jobs = 9\n"));
    assert_null(strstr(text, "also matches"));
    free(text);
    text = printed(settings, "other");
    assert_string_equal(text, "# No section [queue GLOB] matches other.\n");
    free(text);
    settings_free(settings);
}

static void gather(void *context, enum log_level level, const char *event,
                   const struct log_field *fields, size_t count)
{
    FILE *lines = context;

    (void)level;
    (void)fputs(event, lines);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, "origin") != 0) {
            (void)fprintf(lines, " %.*s", (int)fields[i].text.len, fields[i].text.ptr);
        }
    }
    (void)fputc('\n', lines);
}

static void reload_applies_all_sections_and_logs_the_changes(void **state)
{
    struct settings *settings = load("[queue a]\nmax_jobs = 1\n[queue b]\n[queue c]\n");
    struct settings *fresh = load("[queue c]\n[queue a]\nmax_jobs = 2\nrate = 1/s\n[queue d]\n");
    char *text = NULL;
    size_t len;
    FILE *lines = open_memstream(&text, &len);

    (void)state;
    log_set_sink(gather, lines, LOG_LEVEL_DEBUG);
    config_adopt(&settings->config, &fresh->config);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    assert_int_equal(fclose(lines), 0);
    assert_string_equal(text, "section_removed queue b\n"
                              "section_changed queue a max_jobs 1 2\n"
                              "section_changed queue a rate 0 1/s\n"
                              "section_added queue d\n"
                              "sections_reordered queue\n");
    assert_string_equal(queues(settings)->all[0].name, "c");
    assert_int_equal(spec_of(settings, 1)->max_jobs, 2);
    free(text);
    settings_free(fresh);
    settings_free(settings);
}

// 1,000 are read within the time of a test, and one more is refused.
static void a_thousand_sections_are_read(void **state)
{
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);
    struct settings *settings;

    (void)state;
    for (int i = 0; i < QUEUE_SECTIONS_MAX; i++) {
        (void)fprintf(file, "[queue tenant%d.*]\nmax_jobs = %d\n", i, i + 1);
    }
    (void)fflush(file);
    settings = load(text);
    assert_int_equal(queues(settings)->count, QUEUE_SECTIONS_MAX);
    assert_int_equal(spec_of(settings, 999)->max_jobs, 1000);
    settings_free(settings);
    (void)fputs("[queue more]\n", file);
    assert_int_equal(fclose(file), 0);
    expect_refused(text, 2 * QUEUE_SECTIONS_MAX + 1,
                   "there can be no more than 1000 sections [queue ...]");
    free(text);
}

static void any_failed_allocation_fails_the_whole(void **state)
{
    const char *const sets[] = {"queue a.*.max_jobs=1", "queue b.on_exhausted=bury"};
    const struct settings_source source = {.sets = sets, .set_count = 2};

    (void)state;
    for (size_t n = 1;; n++) {
        struct error_text why;
        struct settings *settings;

        nth_alloc_fail(n);
        settings = settings_load(&source, &why);
        if (nth_alloc_count() < n) {
            assert_non_null(settings);
            settings_free(settings);
            break;
        }
        assert_null(settings);
        assert_non_null(strstr(why.text, "out of memory"));
    }
    nth_alloc_fail(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_section_without_keys_has_no_effect),
        cmocka_unit_test(every_key_reaches_the_rule),
        cmocka_unit_test(choices_are_the_values_that_the_core_knows),
        cmocka_unit_test(sections_stay_in_the_order_of_the_file),
        cmocka_unit_test(set_changes_a_section_of_the_file),
        cmocka_unit_test(an_error_names_the_line_and_the_reason),
        cmocka_unit_test(a_name_that_is_too_long_is_an_error),
        cmocka_unit_test(keys_that_contradict_each_other_are_an_error_of_their_section),
        cmocka_unit_test(what_is_printed_can_be_read_back),
        cmocka_unit_test(the_first_section_that_fits_is_the_queues),
        cmocka_unit_test(reload_applies_all_sections_and_logs_the_changes),
        cmocka_unit_test(a_thousand_sections_are_read),
        cmocka_unit_test(any_failed_allocation_fails_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
