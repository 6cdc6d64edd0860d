/* SPDX-License-Identifier: MIT */
// The text of a rule: words, comments, rights, and queues.
#include "tests/access/rules.h"

#define NOBODY ((struct access_peer){.has_address = false})

static unsigned any_on(const char *text, const char *queue)
{
    struct access *access = rules_of(text);
    unsigned rights = rights_of(access, NOBODY, queue);

    access_free(access);
    return rights;
}

static void without_a_rule_nothing_is_granted(void **state)
{
    (void)state;
    assert_int_equal(any_on("", "q"), 0);
    assert_int_equal(any_on("# any admin *\n", "q"), 0);
    assert_int_equal(any_on("any submit other\n", "q"), 0);
    assert_int_equal(any_on("token:t:" HASH_ABC " admin *\n", "q"), 0);
}

static void each_word_grants_its_right(void **state)
{
    (void)state;
    assert_int_equal(any_on("any submit q", "q"), MAY_SUBMIT);
    assert_int_equal(any_on("any work q", "q"), MAY_WORK);
    assert_int_equal(any_on("any observe q", "q"), MAY_OBSERVE);
    assert_int_equal(any_on("any operate q", "q"), MAY_OPERATE | MAY_CANCEL);
    assert_int_equal(any_on("any admin q", "q"), MAY_EVERYTHING);
    assert_int_equal(any_on("any submit,work q", "q"), MAY_SUBMIT | MAY_WORK);
    assert_int_equal(any_on("any work,work q", "q"), MAY_WORK);
}

static void an_unknown_right_is_refused(void **state)
{
    static const char *const words[] = {"sumbit", "submi", "submits", "Submit", "all", "*", "1"};
    char text[64], reason[256];

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        (void)snprintf(text, sizeof text, "any work,%s q", words[i]);
        (void)snprintf(reason, sizeof reason,
                       "rules:1: \"%s\": MAY must be a list of submit, work, observe, operate and "
                       "admin, separated by commas",
                       words[i]);
        expect_refused(text, reason);
    }
}

#define MAY_WRONG                                                                                  \
    ": MAY must be a list of submit, work, observe, operate and admin, separated by commas"

static void an_empty_item_is_refused(void **state)
{
    (void)state;
    expect_refused("any submit, q", "rules:1" MAY_WRONG);
    expect_refused("any ,submit q", "rules:1" MAY_WRONG);
    expect_refused("any submit,,work q", "rules:1" MAY_WRONG);
    expect_refused("any work a,,b", "rules:1: the list of queues has an empty glob");
    expect_refused("any work a,", "rules:1: the list of queues has an empty glob");
    expect_refused("any work ,", "rules:1: the list of queues has an empty glob");
}

static void rules_add_up(void **state)
{
    const char *text = "any submit a*\nany work *b\nany observe ab\n";

    (void)state;
    assert_int_equal(any_on(text, "ab"), MAY_SUBMIT | MAY_WORK | MAY_OBSERVE);
    assert_int_equal(any_on(text, "aa"), MAY_SUBMIT);
    assert_int_equal(any_on(text, "bb"), MAY_WORK);
    assert_int_equal(any_on(text, "c"), 0);
}

static void blanks_separate_words_and_lines_may_be_empty(void **state)
{
    const char *text = "\n  \t\n \tany\t work  \t q\t role \t\r\n\r\n\nany observe q\n";

    (void)state;
    assert_int_equal(any_on(text, "q"), MAY_WORK | MAY_OBSERVE);
    assert_int_equal(any_on("any work q", "q"), MAY_WORK);
    assert_int_equal(any_on("any work q\r\n", "q"), MAY_WORK);
    assert_int_equal(any_on("any work q role\r\n", "q"), MAY_WORK);
}

static void a_comment_begins_a_line_or_follows_a_blank(void **state)
{
    (void)state;
    assert_int_equal(any_on("#any work q\n \t# any work q\n", "q"), 0);
    assert_int_equal(any_on("any work q # any work\n", "q"), MAY_WORK);
    assert_int_equal(any_on("any work q role #x\n", "q"), MAY_WORK);
    assert_int_equal(any_on("any work q#1\n", "q#1"), MAY_WORK);
    expect_refused("any work # q\n", "rules:1: a rule is WHO MAY QUEUES [ROLE]");
}

static void a_rule_has_three_words_or_four(void **state)
{
    (void)state;
    expect_refused("\nany\n", "rules:2: a rule is WHO MAY QUEUES [ROLE]");
    expect_refused("any work", "rules:1: a rule is WHO MAY QUEUES [ROLE]");
    expect_refused("any work q role more", "rules:1: \"more\": only a comment may follow ROLE");
}

static void the_first_invalid_line_refuses_the_file(void **state)
{
    (void)state;
    expect_refused("any work *\r\n# fine\n\nwho work *\nany nothing *\n",
                   "rules:4: \"who\": WHO must be any, token:, cert:, user:, group: or net:");
    expect_refused("Any work *",
                   "rules:1: \"Any\": WHO must be any, token:, cert:, user:, group: or "
                   "net:");
    expect_refused("any: work *",
                   "rules:1: \"any:\": WHO must be any, token:, cert:, user:, group: or "
                   "net:");
}

static void queues_are_globs_with_commas(void **state)
{
    const char *text = "any work web.*,mail,[0-9]?,x\\,y,\\*";

    (void)state;
    assert_int_equal(any_on(text, "web.a"), MAY_WORK);
    assert_int_equal(any_on(text, "mail"), MAY_WORK);
    assert_int_equal(any_on(text, "7x"), MAY_WORK);
    assert_int_equal(any_on(text, "x,y"), MAY_WORK);
    assert_int_equal(any_on(text, "*"), MAY_WORK);
    assert_int_equal(any_on(text, "web"), 0);
    assert_int_equal(any_on(text, "mails"), 0);
    assert_int_equal(any_on(text, "x"), 0);
    assert_int_equal(any_on(text, "y"), 0);
    assert_int_equal(any_on("any work *", ""), MAY_WORK);
}

static void a_malformed_glob_is_refused_by_name(void **state)
{
#define MALFORMED "the glob is malformed: a set, a range or a \\ is not complete"
    (void)state;
    expect_refused("any work a,[b", "rules:1: \"[b\": " MALFORMED);
    expect_refused("any work a\\", "rules:1: \"a\\\": " MALFORMED);
    expect_refused("any work [z-a]", "rules:1: \"[z-a]\": " MALFORMED);
    expect_refused("any work [a,b]", "rules:1: \"[a\": " MALFORMED);
}

static void bytes_that_a_line_cannot_hold_are_written_in_hexadecimal(void **state)
{
    struct access *access = rules_of("any work a\\x20b\\x2Cc\\x0a,\\x00*,\\x2a,[\\x61-\\x63]1,"
                                     "\\\\x62,\xc3\xa4,\\x5cy");

    (void)state;
    assert_int_equal(rights_of(access, NOBODY, "a b,c\n"), MAY_WORK);
    assert_int_equal(rights_of(access, NOBODY, "*"), MAY_WORK);
    assert_int_equal(rights_of(access, NOBODY, "z"), 0);
    assert_int_equal(rights_of(access, NOBODY, "b1"), MAY_WORK);
    assert_int_equal(rights_of(access, NOBODY, "\\x62"), MAY_WORK);
    assert_int_equal(rights_of(access, NOBODY, "b"), 0);
    assert_int_equal(rights_of(access, NOBODY, "\xc3\xa4"), MAY_WORK);
    assert_int_equal(rights_of(access, NOBODY, "\\y"), MAY_WORK);
    access_free(access);
#define NO_DIGITS "\\x is not followed by two hexadecimal digits"
    expect_refused("any work \\x", "rules:1: \"\\x\": " NO_DIGITS);
    expect_refused("any work a\\x4", "rules:1: \"a\\x4\": " NO_DIGITS);
    expect_refused("any work \\x41\\x4", "rules:1: \"\\x41\\x4\": " NO_DIGITS);
    expect_refused("any work \\x41[", "rules:1: \"\\A[\": " MALFORMED);
    expect_refused("any work a\\x4g", "rules:1: \"a\\x4g\": " NO_DIGITS);
}

static void control_characters_are_refused(void **state)
{
    (void)state;
    expect_refused_bytes(slice_of("any work q\0\n", 12),
                         "rules:1: the line has a control character");
    expect_refused_bytes(slice_of("any work *\n#\0\n", 14),
                         "rules:2: the line has a control character");
    expect_refused("any work\rq", "rules:1: the line has a control character");
    expect_refused("any work q\x7f", "rules:1: the line has a control character");
    expect_refused("any work \x1b[31m", "rules:1: the line has a control character");
}

static void unprintable_bytes_of_a_word_are_escaped(void **state)
{
    (void)state;
    expect_refused("\xef\xbb\xbf"
                   "any work *",
                   "rules:1: \"\\xef\\xbb\\xbf"
                   "any\": WHO must be any, token:, cert:, user:, group: or "
                   "net:");
}

static void lines_are_bounded(void **state)
{
    static char text[5000];
    struct access *access;

    (void)state;
    memset(text, '#', sizeof text);
    expect_refused_bytes(slice_of(text, 4097), "rules:1: the line is too long");
    text[4096] = '\n';
    text[4097] = '\0';
    access = rules_of(text);
    access_free(access);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_rule_nothing_is_granted),
        cmocka_unit_test(each_word_grants_its_right),
        cmocka_unit_test(an_unknown_right_is_refused),
        cmocka_unit_test(an_empty_item_is_refused),
        cmocka_unit_test(rules_add_up),
        cmocka_unit_test(blanks_separate_words_and_lines_may_be_empty),
        cmocka_unit_test(a_comment_begins_a_line_or_follows_a_blank),
        cmocka_unit_test(a_rule_has_three_words_or_four),
        cmocka_unit_test(the_first_invalid_line_refuses_the_file),
        cmocka_unit_test(queues_are_globs_with_commas),
        cmocka_unit_test(a_malformed_glob_is_refused_by_name),
        cmocka_unit_test(bytes_that_a_line_cannot_hold_are_written_in_hexadecimal),
        cmocka_unit_test(control_characters_are_refused),
        cmocka_unit_test(unprintable_bytes_of_a_word_are_escaped),
        cmocka_unit_test(lines_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
