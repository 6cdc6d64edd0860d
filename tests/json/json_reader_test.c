/* SPDX-License-Identifier: MIT */
// Members of JSON objects, and the messages for wrong ones.
#include "json/json_reader.h"
#include "tests/support/with_cmocka.h"

#include <string.h>

static const char *const colours[] = {"red", "green", "blue", NULL};

static json_t *parsed(const char *text)
{
    json_t *object = json_loads(text, JSON_ALLOW_NUL, NULL);

    assert_non_null(object);
    return object;
}

static void a_missing_member_leaves_the_value(void **state)
{
    struct json_reader reader = {.object = parsed("{}")};
    uint64_t number = 7;
    double seconds = 7;
    bool flag = true;
    size_t place = 2;
    unsigned bits = 3;
    struct slice text = SLICE("old");

    (void)state;
    assert_false(json_reader_number(&reader, "a", 9, &number));
    assert_false(json_reader_seconds(&reader, "a", 9, &seconds));
    assert_false(json_reader_flag(&reader, "a", &flag));
    assert_false(json_reader_word(&reader, "a", colours, &place));
    assert_false(json_reader_words(&reader, "a", colours, &bits));
    assert_false(json_reader_text(&reader, "a", &text));
    assert_false(json_reader_bytes(&reader, "a", &text));
    assert_true(number == 7 && seconds == 7 && flag && place == 2 && bits == 3);
    assert_true(slice_equal(text, SLICE("old")));
    assert_false(reader.bad);
    json_decref(reader.object);
}

static void members_are_read(void **state)
{
    struct json_reader reader = {
        .object = parsed("{\"n\": 9, \"s\": 1.5, \"f\": true, \"w\": \"blue\", \"l\": [\"red\", "
                         "\"blue\"], \"t\": \"x\", \"b\": {\"encoding\": \"base64\", \"data\": "
                         "\"AAE=\"}, \"c\": {\"encoding\": \"text\", \"data\": \"y\"}}")};
    uint64_t number = 0;
    double seconds = 0;
    bool flag = false;
    size_t place = 0;
    unsigned bits = 0;
    struct slice text, bytes, plain;

    (void)state;
    assert_true(json_reader_number(&reader, "n", 9, &number));
    assert_true(json_reader_seconds(&reader, "s", 9, &seconds));
    assert_true(json_reader_flag(&reader, "f", &flag));
    assert_true(json_reader_word(&reader, "w", colours, &place));
    assert_true(json_reader_words(&reader, "l", colours, &bits));
    assert_true(json_reader_text(&reader, "t", &text));
    assert_true(json_reader_bytes(&reader, "b", &bytes));
    assert_true(json_reader_bytes(&reader, "c", &plain));
    assert_true(number == 9 && seconds == 1.5 && flag && place == 2 && bits == 5);
    assert_true(slice_equal(text, SLICE("x")));
    assert_true(slice_equal(bytes, slice_of("\0\1", 2)));
    assert_true(slice_equal(plain, SLICE("y")));
    json_decref(reader.object);
}

static void null_is_missing_only_where_it_is_allowed(void **state)
{
    struct json_reader strict = {.object = parsed("{\"n\": null}")};
    struct json_reader lenient = {.object = strict.object, .null_is_missing = true};
    uint64_t number = 7;

    (void)state;
    assert_false(json_reader_number(&strict, "n", 9, &number));
    assert_string_equal(strict.why, "n is not an integer from 0 to 9");
    assert_false(json_reader_number(&lenient, "n", 9, &number));
    assert_false(lenient.bad);
    json_decref(strict.object);
}

enum kind { NUMBER, SECONDS, FLAG, TEXT, WORD, WORDS, BYTES, PART, KNOWN };

static void refuse(enum kind kind, const char *document, const char *why)
{
    static const char *const known[] = {"a", NULL};
    struct json_reader reader = {.object = parsed(document)};
    struct json_reader part;
    uint64_t number;
    double seconds;
    bool flag;
    size_t place;
    unsigned bits;
    struct slice text;

    switch (kind) {
    case NUMBER:
        assert_false(json_reader_number(&reader, "a", 9, &number));
        break;
    case SECONDS:
        assert_false(json_reader_seconds(&reader, "a", 9, &seconds));
        break;
    case FLAG:
        assert_false(json_reader_flag(&reader, "a", &flag));
        break;
    case TEXT:
        assert_false(json_reader_text(&reader, "a", &text));
        break;
    case WORD:
        assert_false(json_reader_word(&reader, "a", colours, &place));
        break;
    case WORDS:
        assert_false(json_reader_words(&reader, "a", colours, &bits));
        break;
    case BYTES:
        assert_false(json_reader_bytes(&reader, "a", &text));
        break;
    case PART:
        assert_false(json_reader_part(&reader, "a", &part));
        break;
    case KNOWN:
        json_reader_known(&reader, known);
        break;
    }
    assert_true(reader.bad);
    assert_string_equal(reader.why, why);
    json_decref(reader.object);
}

static void wrong_members_are_refused(void **state)
{
    (void)state;
    refuse(NUMBER, "{\"a\": 10}", "a is not an integer from 0 to 9");
    refuse(NUMBER, "{\"a\": -1}", "a is not an integer from 0 to 9");
    refuse(NUMBER, "{\"a\": 1.0}", "a is not an integer from 0 to 9");
    refuse(SECONDS, "{\"a\": \"1\"}", "a is not a number of seconds from 0 to 9");
    refuse(SECONDS, "{\"a\": 9.5}", "a is not a number of seconds from 0 to 9");
    refuse(FLAG, "{\"a\": 1}", "a is not true or false");
    refuse(TEXT, "{\"a\": 1}", "a is not a string");
    refuse(WORD, "{\"a\": \"pink\"}", "a: pink is not one of the allowed values: red, green, blue");
    refuse(WORDS, "{\"a\": \"red\"}", "a is not a list");
    refuse(WORDS, "{\"a\": [1]}", "a is not a list of strings");
    refuse(BYTES, "{\"a\": 1}", "a is not a string or an object with encoding and data");
    refuse(BYTES, "{\"a\": {\"encoding\": \"rot13\", \"data\": \"\"}}",
           "a: the encoding is not text or base64");
    refuse(BYTES, "{\"a\": {\"encoding\": \"base64\", \"data\": \"?\"}}",
           "a: the data is not valid base64");
    refuse(BYTES, "{\"a\": {\"encoding\": \"text\", \"data\": \"\", \"truncated\": true}}",
           "a is truncated");
    refuse(PART, "{\"a\": 1}", "a is not an object");
    refuse(KNOWN, "{\"a\": 1, \"b\": 2}", "b is not a known member");
}

static void the_first_error_stays(void **state)
{
    struct json_reader reader = {.object = parsed("{\"a\": 1, \"b\": 2}")};
    struct slice text;
    uint64_t number;

    (void)state;
    assert_false(json_reader_text(&reader, "a", &text));
    assert_false(json_reader_number(&reader, "b", 9, &number));
    assert_false(json_reader_text(&reader, "b", &text));
    assert_string_equal(reader.why, "a is not a string");
    json_decref(reader.object);
}

static void an_error_in_a_part_names_the_part(void **state)
{
    struct json_reader reader = {.object = parsed("{\"part\": {\"a\": 1}}")};
    struct json_reader part;
    struct slice text;

    (void)state;
    assert_true(json_reader_part(&reader, "part", &part));
    assert_false(json_reader_text(&part, "a", &text));
    json_reader_part_end(&reader, "part", &part);
    assert_string_equal(reader.why, "part: a is not a string");
    json_decref(reader.object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_member_leaves_the_value),
        cmocka_unit_test(members_are_read),
        cmocka_unit_test(null_is_missing_only_where_it_is_allowed),
        cmocka_unit_test(wrong_members_are_refused),
        cmocka_unit_test(the_first_error_stays),
        cmocka_unit_test(an_error_in_a_part_names_the_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
