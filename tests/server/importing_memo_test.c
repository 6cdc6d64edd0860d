/* SPDX-License-Identifier: MIT */
// The memos of imports in the journal, whose sources may contain a password.
#include "server/importing_memo.h"
#include "tests/support/with_cmocka.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PAIRS(password) "gearmand-postgres:host=db password=" password " dbname=jobs"
#define FILES "beanstalkd:/var/lib/beanstalkd"

static int begin(void **state)
{
    const struct broker_options options = {.first_id = 1};

    *state = broker_new(&options, (struct instant){.mono = 1, .wall = 1});
    return *state ? 0 : -1;
}

static int end(void **state)
{
    broker_free(*state);
    return 0;
}

// As older versions have left it.
static void remember(struct broker *broker, const char *key, const char *value)
{
    const struct memo memo = {.kind = MEMO_IMPORT,
                              .key = slice_str(key),
                              .value = slice_str(value),
                              .until_at = NSEC_NEVER};

    assert_int_equal(broker_memo_set(broker, &memo), STATUS_OK);
}

// All keys, one in a line.
static const char *keys(const struct broker *broker, char text[1024])
{
    const struct memo *memo;
    uint64_t cursor = 0;
    size_t len = 0;

    text[0] = '\0';
    while ((memo = broker_memo_next(broker, MEMO_IMPORT, &cursor))) {
        assert_true(len + memo->key.len + 2 < 1024);
        len +=
            (size_t)snprintf(text + len, 1024 - len, "%.*s\n", (int)memo->key.len, memo->key.ptr);
    }
    return text;
}

static void no_password_is_remembered(void **state)
{
    struct broker *broker = *state;
    struct error_text why;
    struct slice print;
    char text[1024];

    assert_true(import_memo_set(broker, PAIRS("one"), IMPORT_BEGUN, SLICE("print"), &why));
    assert_string_equal(keys(broker, text), PAIRS("(hidden)") "\n");
    assert_int_equal(import_memo_find(broker, PAIRS("one"), &print), IMPORT_BEGUN);
    assert_true(slice_equal(print, SLICE("print")));
    assert_int_equal(import_memo_find(broker, PAIRS("another"), &print), IMPORT_BEGUN);
    assert_false(import_memo_unfinished(broker, PAIRS("another"), &print));
    assert_true(import_memo_unfinished(broker, FILES, &print));
    assert_true(slice_equal(print, SLICE(PAIRS("(hidden)"))));
}

static void memos_of_older_versions_lose_their_passwords_and_nothing_else(void **state)
{
    struct broker *broker = *state;
    struct error_text why;
    struct slice print;
    char text[1024];

    remember(broker, PAIRS("hunter2"), "dprint");
    remember(broker, FILES, "bfiles");
    for (unsigned start = 0; start < 2; start++) {
        assert_true(import_memo_renew(broker, &why));
        assert_string_equal(keys(broker, text), FILES "\n" PAIRS("(hidden)") "\n");
        assert_int_equal(import_memo_find(broker, PAIRS("hunter3"), &print), IMPORT_DONE);
        assert_true(slice_equal(print, SLICE("print")));
        assert_int_equal(import_memo_find(broker, FILES "//", &print), IMPORT_BEGUN);
        assert_true(slice_equal(print, SLICE("files")));
    }
}

static void entries_under_the_new_key_stay(void **state)
{
    struct broker *broker = *state;
    struct error_text why;
    struct slice print;
    char text[1024];

    remember(broker, PAIRS("hunter2"), "bold");
    remember(broker, PAIRS("(hidden)"), "dnew");
    assert_true(import_memo_renew(broker, &why));
    assert_string_equal(keys(broker, text), PAIRS("(hidden)") "\n");
    assert_int_equal(import_memo_find(broker, PAIRS("hunter2"), &print), IMPORT_DONE);
}

static void entries_stored_as_text_are_found_under_another_key(void **state)
{
    struct broker *broker = *state;
    struct error_text why;
    struct slice print;
    struct slice key;
    uint64_t cursor = 0;
    char text[1024];

    remember(broker, FILES "/", "dprint");
    remember(broker, PAIRS("(hidden)"), "dother");
    assert_true(import_memo_renew(broker, &why));
    assert_true(import_memo_rename(broker, SLICE(FILES), "beanstalkd:(here)", &why));
    assert_int_equal(import_memo_find(broker, FILES, &print), IMPORT_NONE);
    assert_int_equal(import_memo_find(broker, "beanstalkd:(here)", &print), IMPORT_DONE);
    assert_true(import_memo_next(broker, FILES, &cursor, &key, &print));
    assert_true(slice_equal(key, SLICE("beanstalkd:(here)")));
    assert_true(slice_equal(print, SLICE("print")));
    assert_false(import_memo_next(broker, FILES, &cursor, &key, &print));
    assert_true(import_memo_rename(broker, SLICE("beanstalkd:/gone"), "beanstalkd:/new", &why));
    assert_string_equal(keys(broker, text), PAIRS("(hidden)") "\nbeanstalkd:(here)\n");
}

static void a_memo_without_ids_is_not_an_import(void **state)
{
    struct broker *broker = *state;
    struct error_text why;
    struct slice other;
    uint64_t cursor = 0;
    struct slice print;

    assert_false(import_memo_is_unused(broker));
    for (unsigned again = 0; again < 2; again++) {
        assert_true(import_memo_set_unused(broker, true, &why));
        assert_true(import_memo_renew(broker, &why));
        assert_true(import_memo_is_unused(broker));
        assert_false(import_memo_unfinished(broker, FILES, &other));
        assert_false(import_memo_next(broker, FILES, &cursor, &other, &print));
    }
    for (unsigned again = 0; again < 2; again++) {
        assert_true(import_memo_set_unused(broker, false, &why));
        assert_false(import_memo_is_unused(broker));
    }
}

static void a_source_that_was_never_scanned_is_unknown(void **state)
{
    struct broker *broker = *state;
    struct slice print;

    remember(broker, FILES, "b");
    assert_int_equal(import_memo_find(broker, FILES, &print), IMPORT_NONE);
    assert_false(import_memo_unfinished(broker, "", &print));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_password_is_remembered, begin, end),
        cmocka_unit_test_setup_teardown(
            memos_of_older_versions_lose_their_passwords_and_nothing_else, begin, end),
        cmocka_unit_test_setup_teardown(entries_under_the_new_key_stay, begin, end),
        cmocka_unit_test_setup_teardown(entries_stored_as_text_are_found_under_another_key, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_memo_without_ids_is_not_an_import, begin, end),
        cmocka_unit_test_setup_teardown(a_source_that_was_never_scanned_is_unknown, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
