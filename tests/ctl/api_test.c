/* SPDX-License-Identifier: MIT */
#include "ctl/api/client.h"
#include "ctl/api/call.h"
#include "ctl/api/events.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>

//
// Addresses
//

static void an_address_is_a_scheme_a_host_and_a_port(void **state)
{
    static const struct {
        const char *from, *base, *socket;
        bool tls;
    } cases[] = {
        {"http://127.0.0.1:9180", "http://127.0.0.1:9180", "", false},
        {"http://box/", "http://box:9180", "", false},
        {"HTTPS://box.example:443", "https://box.example:443", "", true},
        {"box:1", "http://box:1", "", false},
        {"[::1]:80", "http://[::1]:80", "", false},
        {"http://[fe80::1]", "http://[fe80::1]:9180", "", false},
        {"unix:/run/a b.sock", "http://localhost", "/run/a b.sock", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct address address;
        struct problem problem;

        assert_true(address_read(&address, cases[i].from, &problem));
        assert_string_equal(text_string(&address.base), cases[i].base);
        assert_string_equal(text_string(&address.socket), cases[i].socket);
        assert_int_equal(address.tls, cases[i].tls);
        address_free(&address);
    }
}

static void anything_else_is_no_address(void **state)
{
    static const char *const bad[] = {"",           "http://",     "http://:80", "ftp://box",
                                      "unix:run",   "unix:",       "box:0",      "box:65536",
                                      "::1",        "a b",         "http://a/b", "http://u@box",
                                      "http://a?b", "http://a\nb", "http://a#b"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct address address;
        struct problem problem;

        assert_false(address_read(&address, bad[i], &problem));
        assert_int_equal(problem.outcome, OUTCOME_USAGE);
    }
}

static void names_and_values_are_encoded_in_a_path(void **state)
{
    struct text path = {0};

    (void)state;
    text_put(&path, "/q");
    path_add_name(&path, "a/.. %\xff");
    path_add_text(&path, "none", NULL);
    path_add_text(&path, "x", "1&y=2");
    path_add_number(&path, "n", UINT64_MAX);
    assert_string_equal(text_string(&path),
                        "/q/a%2F%2E%2E%20%25%FF?x=1%26y%3D2&n=18446744073709551615");
    text_free(&path);
}

//
// Base64
//

static void base64_is_that_of_the_rfc(void **state)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text text = {0};
        struct text bytes = {0};

        base64_add(&text, slice_str(cases[i].bytes));
        assert_string_equal(text_string(&text), cases[i].text);
        assert_true(base64_read(&bytes, text_slice(&text)));
        assert_string_equal(text_string(&bytes), cases[i].bytes);
        text_free(&text);
        text_free(&bytes);
    }
}

static void what_is_no_base64_is_refused(void **state)
{
    static const char *const bad[] = {"Z", "Zm9vY", "Zm 9", "Zg=a", "Zm9*", "====a", "===="};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct text bytes = {0};

        assert_false(base64_read(&bytes, slice_str(bad[i])));
        text_free(&bytes);
    }
}

//
// Events
//

static bool note_event(void *context, struct slice name, struct slice data)
{
    struct text *seen = context;

    text_add(seen, name);
    text_put_char(seen, '=');
    text_add(seen, data);
    text_put_char(seen, ';');
    return !slice_equal(name, SLICE("bye"));
}

static void events_are_the_same_wherever_the_stream_is_cut(void **state)
{
    static const char stream[] = "retry: 5\n\n: words\nevent: process\ndata: {\"a\":1}\n\n"
                                 "event:queue\r\ndata:one\r\ndata: two\r\n\r\ndata: plain\n\n"
                                 "event: none\n\ndata\n\n";

    (void)state;
    for (size_t cut = 0; cut < sizeof stream; cut++) {
        struct text seen = {0};
        struct events events = {.each = note_event, .context = &seen};

        assert_true(events_feed(&events, slice_of(stream, cut)));
        assert_true(events_feed(&events, slice_of(stream + cut, sizeof stream - 1 - cut)));
        assert_string_equal(text_string(&seen), "process={\"a\":1};queue=one\ntwo;message=plain;");
        events_free(&events);
        text_free(&seen);
    }
}

static void events_end_where_the_caller_has_had_enough(void **state)
{
    struct text seen = {0};
    struct events events = {.each = note_event, .context = &seen};

    (void)state;
    assert_false(events_feed(&events, SLICE("event: bye\ndata: 1\n\ndata: 2\n\n")));
    assert_string_equal(text_string(&seen), "bye=1;");
    assert_false(events.overflowed);
    events_free(&events);
    text_free(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_a_scheme_a_host_and_a_port),
        cmocka_unit_test(anything_else_is_no_address),
        cmocka_unit_test(names_and_values_are_encoded_in_a_path),
        cmocka_unit_test(base64_is_that_of_the_rfc),
        cmocka_unit_test(what_is_no_base64_is_refused),
        cmocka_unit_test(events_are_the_same_wherever_the_stream_is_cut),
        cmocka_unit_test(events_end_where_the_caller_has_had_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
