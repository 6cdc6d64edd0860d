/* SPDX-License-Identifier: MIT */
// Globs, whose matching is told byte by byte.
#include "core/base/glob.h"
#include "tests/proto_common/wire_pages.h"
#include "tests/support/chance.h"
#include "tests/support/with_cmocka.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct slice text(const char *string)
{
    return slice_str(string);
}

static bool fits(const char *glob, const char *name)
{
    assert_true(glob_valid(text(glob)));
    return glob_matches(text(glob), text(name));
}

static void plain_bytes_stand_for_themselves(void **state)
{
    (void)state;
    assert_true(fits("mail", "mail"));
    assert_false(fits("mail", "mai"));
    assert_false(fits("mail", "mails"));
    assert_false(fits("mail", "Mail"));
    assert_true(fits("a-b.c]!^", "a-b.c]!^"));
    assert_true(fits("", ""));
    assert_false(fits("", "a"));
    assert_true(glob_matches(slice_of(NULL, 0), slice_of(NULL, 0)));
}

static void a_star_stands_for_any_bytes_and_none(void **state)
{
    (void)state;
    assert_true(fits("*", ""));
    assert_true(fits("*", "web.mail/x"));
    assert_true(fits("web.*", "web."));
    assert_false(fits("web.*", "web"));
    assert_true(fits("*.mail", ".mail"));
    assert_true(fits("a*b*c", "a-b-b-c-c"));
    assert_false(fits("a*b*c", "a-c-b"));
    assert_true(fits("**", "x"));
    assert_false(fits("*a", "ab"));
    assert_true(fits("*ab", "aab"));
}

static void a_question_mark_stands_for_one_byte(void **state)
{
    (void)state;
    assert_true(fits("a?", "ab"));
    assert_false(fits("a?", "a"));
    assert_false(fits("a?", "abc"));
    assert_true(fits("?*", "a"));
    assert_false(fits("?*", ""));
    assert_true(fits("??", "\xc3\xa4"));
}

static void a_set_stands_for_one_of_its_bytes(void **state)
{
    (void)state;
    assert_true(fits("[abc]x", "bx"));
    assert_false(fits("[abc]x", "dx"));
    assert_false(fits("[abc]", ""));
    assert_true(fits("[a-f0-3]", "e") && fits("[a-f0-3]", "3"));
    assert_false(fits("[a-f0-3]", "g") || fits("[a-f0-3]", "4") || fits("[a-f0-3]", "-"));
    assert_true(fits("[a-a]", "a"));
    assert_true(fits("[]a]", "]") && fits("[]a]", "a"));
    assert_true(fits("[-a]", "-") && fits("[a-]", "-") && fits("[a-]", "a"));
    assert_true(fits("[*?]", "*") && fits("[*?]", "?"));
    assert_false(fits("[*?]", "x"));
    assert_true(fits("[a!^]", "!") && fits("[a!^]", "^"));
    assert_true(fits("*[0-9]", "job-7"));
    assert_true(fits("[[]", "["));
}

static void a_set_that_is_turned_round_stands_for_other_bytes(void **state)
{
    (void)state;
    assert_true(fits("[!a-c]", "d") && fits("[^a-c]", "d"));
    assert_false(fits("[!a-c]", "b") || fits("[^a-c]", "b"));
    assert_false(fits("[!a-c]", ""));
    assert_true(fits("[!]]", "a"));
    assert_false(fits("[!]]", "]"));
}

static void a_backslash_takes_the_meaning_away(void **state)
{
    (void)state;
    assert_true(fits("\\*", "*"));
    assert_false(fits("\\*", "x"));
    assert_true(fits("\\?\\[\\\\", "?[\\"));
    assert_true(fits("\\a", "a"));
    assert_true(fits("[\\]]", "]"));
    assert_false(fits("[\\]]", "\\"));
    assert_true(fits("[a\\-c]", "-"));
    assert_false(fits("[a\\-c]", "b"));
    assert_true(fits("[\\!a]", "!") && fits("[\\a-\\c]", "b"));
}

static void bytes_are_compared_without_a_sign_or_a_locale(void **state)
{
    const struct slice nul = {"a\0b", 3};

    (void)state;
    assert_true(fits("[\x7f-\xff]", "\x80"));
    assert_true(fits("[\x01-\xfe]", "\xfe"));
    assert_false(fits("[\x01-\xfe]", "\xff"));
    assert_false(fits("[a-z]", "\xe4"));
    assert_true(glob_matches(SLICE("a?b"), nul));
    assert_true(glob_matches(slice_of("a[\0]b", 5), nul));
    assert_true(glob_matches(nul, nul));
    assert_false(glob_matches(nul, SLICE("a")));
    assert_false(glob_matches(SLICE("a"), nul));
}

static void malformed_globs_are_detected_and_match_nothing(void **state)
{
    static const char *const globs[] = {
        "[",     "[a",          "[!",      "[]",      "[!]",     "[a-",     "[a-]x[",
        "a[b\\", "[z-a]",       "\\",      "a\\",     "[\\]",    "[\\",     "*[",
        "[a-\\", "[[:alpha:]]", "[[.a.]]", "[[=a=]]", "[a-[:x]", "*[b-a]*", "[\xff-\xfe]"};
    static const char *const names[] = {"", "a", "[", "]", "\\", "[a", "a[b", "x", "[]", "alpha"};

    (void)state;
    for (size_t i = 0; i < sizeof globs / sizeof *globs; i++) {
        assert_false(glob_valid(text(globs[i])));
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            assert_false(glob_matches(text(globs[i]), text(names[j])));
        }
    }
}

// A copy that ends at an unmapped page.
static struct slice at_the_edge(struct wire_pages pages, struct slice bytes)
{
    char *at = pages.start + pages.len - bytes.len;

    if (bytes.len > 0) {
        memcpy(at, bytes.ptr, bytes.len);
    }
    return slice_of(at, bytes.len);
}

static void no_byte_behind_either_is_read(void **state)
{
    static const char *const globs[] = {"a*[b-d]?\\*x", "[!a]*[]-]", "*\\", "*[a-", "[a-\\", "?*?"};
    const struct slice name = SLICE("abc*x-]a[\\");
    struct wire_pages left = wire_pages_map(4096), right = wire_pages_map(4096);

    (void)state;
    for (size_t i = 0; i < sizeof globs / sizeof *globs; i++) {
        for (size_t len = 0; len <= strlen(globs[i]); len++) {
            struct slice glob = at_the_edge(left, slice_of(globs[i], len));

            (void)glob_valid(glob);
            for (size_t end = 0; end <= name.len; end++) {
                (void)glob_matches(glob, at_the_edge(right, slice_of(name.ptr, end)));
            }
        }
    }
    wire_pages_unmap(left);
    wire_pages_unmap(right);
}

static void a_glob_that_is_made_to_be_slow_is_not(void **state)
{
    static char name[10000], glob[2001];

    (void)state;
    memset(name, 'a', sizeof name);
    for (size_t i = 0; i + 1 < sizeof glob; i += 2) {
        glob[i] = '*';
        glob[i + 1] = 'a';
    }
    glob[sizeof glob - 1] = 'b';
    assert_false(glob_matches(slice_of(glob, sizeof glob), slice_of(name, sizeof name)));
}

static struct slice random_text(char *room, uint32_t most, const char *of)
{
    size_t len = below(most + 1);

    for (size_t i = 0; i < len; i++) {
        room[i] = of[below((uint32_t)strlen(of))];
    }
    room[len] = '\0';
    return slice_of(room, len);
}

static void valid_globs_mean_what_they_mean_to_the_system(void **state)
{
    char glob_room[16], name_room[16];
    unsigned fitting = 0;

    (void)state;
    // In musl's fnmatch(), a backslash between brackets is an ordinary character.
    if (fnmatch("[\\]]", "]", 0) != 0) {
        skip();
    }
    for (unsigned i = 0; i < 300000; i++) {
        struct slice glob = random_text(glob_room, 9, "ab*?[]!-\\c");
        struct slice name = random_text(name_room, 5, "abc]-!");

        if (glob_valid(glob)) {
            bool told = fnmatch(glob_room, name_room, 0) == 0;

            if (glob_matches(glob, name) != told) {
                fail_msg("%s on %s: the system says %d", glob_room, name_room, told);
            }
            fitting += told;
        }
    }
    assert_true(fitting > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_bytes_stand_for_themselves),
        cmocka_unit_test(a_star_stands_for_any_bytes_and_none),
        cmocka_unit_test(a_question_mark_stands_for_one_byte),
        cmocka_unit_test(a_set_stands_for_one_of_its_bytes),
        cmocka_unit_test(a_set_that_is_turned_round_stands_for_other_bytes),
        cmocka_unit_test(a_backslash_takes_the_meaning_away),
        cmocka_unit_test(bytes_are_compared_without_a_sign_or_a_locale),
        cmocka_unit_test(malformed_globs_are_detected_and_match_nothing),
        cmocka_unit_test(no_byte_behind_either_is_read),
        cmocka_unit_test(a_glob_that_is_made_to_be_slow_is_not),
        cmocka_unit_test(valid_globs_mean_what_they_mean_to_the_system),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
