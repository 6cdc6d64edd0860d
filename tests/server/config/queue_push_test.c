/* SPDX-License-Identifier: MIT */
// The keys of [queue GLOB] for an endpoint.

#include "core/base/log.h"

#include "server/config/queue_section.h"
#include "server/config/settings.h"
#include "server/process/resources.h"
#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define SECRET_SET "queue b.*.push_secret=" SECRET

static struct settings *load(const char *const *sets, size_t count, struct error_text *why)
{
    const struct settings_source source = {.sets = sets, .set_count = count};

    return settings_load(&source, why);
}

static void every_key_reaches_the_endpoint(void **state)
{
    const char *const sets[] = {
        "queue a.push=",
        "queue b.*.push=http://10.1.2.3/x",
        "queue b.*.push_connections=256",
        "queue b.*.push_timeout=2m",
        "queue b.*.push_max_answer=2k",
        (SECRET_SET),
        "queue b.*.push_private=yes",
        "queue c.push=https://example.com/",
    };
    struct error_text why = {""};
    struct settings *settings = load(sets, sizeof sets / sizeof *sets, &why);
    struct push_settings *list;
    size_t count;

    (void)state;
    assert_string_equal(why.text, "");
    list = queue_push_list(&settings->named[SETTINGS_QUEUES], &count, &why);
    assert_int_equal(count, 2);
    assert_string_equal(list[0].name, "b.*");
    assert_string_equal(list[0].url, "http://10.1.2.3/x");
    assert_int_equal(list[0].connections, 256);
    assert_int_equal(list[0].timeout_for, 120 * NSEC_PER_SEC);
    assert_int_equal(list[0].max_answer, 2048);
    assert_string_equal(list[0].secret, SECRET);
    assert_true(list[0].may_be_private);
    assert_string_equal(list[1].name, "c");
    assert_int_equal(list[1].connections, 8);
    assert_int_equal(list[1].timeout_for, 30 * NSEC_PER_SEC);
    assert_int_equal(list[1].max_answer, 1 << 20);
    assert_string_equal(list[1].secret, "");
    assert_false(list[1].may_be_private);
    free(list);
    settings_free(settings);
}

static void descriptors_of_endpoints_are_not_for_clients(void **state)
{
    const char *const sets[] = {"queue a.push=http://example.com/", "queue a.push_connections=5",
                                "queue b.push=http://example.com/", "queue c.push_connections=9"};
    struct error_text why = {""};
    struct settings *settings = load(sets, sizeof sets / sizeof *sets, &why);
    struct rlimit before;
    struct rlimit few;

    (void)state;
    assert_non_null(settings);
    assert_int_equal(queue_push_descriptors(&settings->named[SETTINGS_QUEUES]), 2 + 10 + 2 + 16);
    settings_free(settings);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){.rlim_cur = 240, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(capacity_connections(0, 8, 0) - capacity_connections(0, 8, 30), 30);
    assert_int_equal(capacity_connections(0, 8, 5000), capacity_connections(0, 8, 0) / 2);
    assert_int_equal(capacity_passed(0, 8, 0), capacity_connections(0, 8, 0) / CAPACITY_PASSED);
    assert_int_equal(capacity_passed(5, 8, 0), 5);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void secret_is_not_printed(void **state)
{
    const char *const sets[] = {"queue a.push=http://example.com/", "queue a.push_secret=" SECRET};
    struct error_text why = {""};
    struct settings *settings = load(sets, 2, &why);
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    (void)state;
    assert_non_null(settings);
    config_print(&settings->config, file);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "push_secret = (hidden)\n"));
    assert_null(strstr(text, "whsec"));
    free(text);
    settings_free(settings);
}

static void of_a_url_only_scheme_host_and_port_are_shown(void **state)
{
    static const struct {
        const char *url, *shown;
    } cases[] = {
        {"", ""},
        {"https://example.com", "https://example.com"},
        {"https://example.com:8443/", "https://example.com:8443/"},
        {"https://example.com/services/T0/B1/abc", "https://example.com/(hidden)"},
        {"https://example.com?key=abc", "https://example.com/(hidden)"},
        {"https://example.com#abc", "https://example.com/(hidden)"},
        {"https://user:abc@example.com/", "(hidden)"},
        {"example.com/abc", "(hidden)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t len;
        FILE *file = open_memstream(&text, &len);

        queue_push_show_url(cases[i].url, file);
        assert_int_equal(fclose(file), 0);
        assert_string_equal(text, cases[i].shown);
        free(text);
    }
}

static char seen[4096];

static void on_line(void *context, enum log_level level, const char *event,
                    const struct log_field *fields, size_t count)
{
    (void)context;
    (void)level;
    (void)event;
    for (size_t i = 0; i < count; i++) {
        if (fields[i].is_text) {
            (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%.*s ",
                           (int)fields[i].text.len, fields[i].text.ptr);
        }
    }
}

static void url_that_changes_is_not_logged(void **state)
{
    const char *const sets[] = {"queue a.push=http://example.com/abc"};
    const char *const others[] = {"queue a.push=http://example.com/abcd"};
    struct error_text why = {""};
    struct settings *settings = load(sets, 1, &why);
    struct settings *changed = load(others, 1, &why);

    (void)state;
    seen[0] = '\0';
    log_set_sink(on_line, NULL, LOG_LEVEL_INFO);
    sections_adopt(&settings->named[SETTINGS_QUEUES], &changed->named[SETTINGS_QUEUES]);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    assert_non_null(strstr(seen, "http://example.com/(hidden)"));
    assert_null(strstr(seen, "abc"));
    settings_free(changed);
    settings_free(settings);
}

static void invalid_endpoint_is_an_error_of_its_section(void **state)
{
    static const struct {
        const char *sets[2];
        const char *why;
    } cases[] = {
        {{"queue a.push=ftp://example.com/", NULL}, "push: neither http nor https"},
        {{"queue a.push=example", NULL}, "push: "},
        {{"queue a.push=http://", NULL}, "push: "},
        {{"queue a.push=http://user:word@example.com/", NULL}, "push: a user or password"},
        {{"queue a.push=http://example.com/a b", NULL}, "push: not a URL"},
        {{"queue a.push=http://127.0.0.1/", NULL}, "push_private"},
        {{"queue a.push=http://[fd00::1]:80/", NULL}, "push_private"},
        {{"queue a.push=http://2130706433/", NULL}, "push_private"},
        {{"queue a.push=http://example.com/", "queue a.push_secret=" SECRET "x"}, "push_secret: "},
        {{"queue a.push=http://example.com/", "queue a.push_secret_file=/dev/null"},
         "push_secret_file: /dev/null: not a regular file"},
        {{"queue a.push=https://example.com/", "queue a.push_ca=/dev/null"},
         "push_ca: /dev/null: not a regular file"},
        {{"queue a.push_secret=" SECRET, NULL}, "push_secret needs push"},
        {{"queue a.push_secret_file=/x", NULL}, "push_secret needs push"},
        {{"queue a.push_ca=/x", NULL}, "push_ca needs push"},
        {{"queue a.push_connections=0", NULL}, "is not between 1 and 256"},
        {{"queue a.push_timeout=9ms", NULL}, "is not between 10ms and 1h"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error_text why = {""};

        assert_null(load(cases[i].sets, cases[i].sets[1] ? 2 : 1, &why));
        if (!strstr(why.text, cases[i].why)) {
            fail_msg("%s: %s", cases[i].sets[0], why.text);
        }
        assert_null(strstr(why.text, "MfKQ"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_reaches_the_endpoint),
        cmocka_unit_test(descriptors_of_endpoints_are_not_for_clients),
        cmocka_unit_test(secret_is_not_printed),
        cmocka_unit_test(of_a_url_only_scheme_host_and_port_are_shown),
        cmocka_unit_test(url_that_changes_is_not_logged),
        cmocka_unit_test(invalid_endpoint_is_an_error_of_its_section),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
