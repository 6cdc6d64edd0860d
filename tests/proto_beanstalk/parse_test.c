/* SPDX-License-Identifier: MIT */

// The parser alone: the input is a line, the output a command.

#include "proto_beanstalk/bean_parse.h"

#include "tests/proto_common/wire_pages.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static struct bean_command parse(struct slice line)
{
    struct bean_command command = {0};

    bean_parse(line, &command);
    return command;
}

static struct bean_command parse_text(const char *line)
{
    return parse(slice_str(line));
}

struct expectation {
    const char *line;
    enum bean_verb verb;
    enum bean_validity validity;
};

static void check_table(const struct expectation *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bean_command command = parse_text(rows[i].line);

        if (command.verb != rows[i].verb || command.validity != rows[i].validity) {
            print_error("line `%s`: verb %d, validity %d\n", rows[i].line, (int)command.verb,
                        (int)command.validity);
        }
        assert_int_equal(command.verb, rows[i].verb);
        assert_int_equal(command.validity, rows[i].validity);
    }
}

static void every_command_is_recognised(void **state)
{
    static const struct expectation rows[] = {
        {"put 0 0 0 0", BEAN_PUT, BEAN_GOOD},
        {"peek 1", BEAN_PEEK, BEAN_GOOD},
        {"peek-ready", BEAN_PEEK_READY, BEAN_GOOD},
        {"peek-delayed", BEAN_PEEK_DELAYED, BEAN_GOOD},
        {"peek-buried", BEAN_PEEK_BURIED, BEAN_GOOD},
        {"reserve", BEAN_RESERVE, BEAN_GOOD},
        {"auth x", BEAN_AUTH, BEAN_GOOD},
        {"reserve-with-timeout 1", BEAN_RESERVE_WITH_TIMEOUT, BEAN_GOOD},
        {"reserve-job 1", BEAN_RESERVE_JOB, BEAN_GOOD},
        {"delete 1", BEAN_DELETE, BEAN_GOOD},
        {"release 1 2 3", BEAN_RELEASE, BEAN_GOOD},
        {"bury 1 2", BEAN_BURY, BEAN_GOOD},
        {"kick 1", BEAN_KICK, BEAN_GOOD},
        {"kick-job 1", BEAN_KICK_JOB, BEAN_GOOD},
        {"touch 1", BEAN_TOUCH, BEAN_GOOD},
        {"stats", BEAN_STATS, BEAN_GOOD},
        {"stats-job 1", BEAN_STATS_JOB, BEAN_GOOD},
        {"stats-tube a", BEAN_STATS_TUBE, BEAN_GOOD},
        {"use a", BEAN_USE, BEAN_GOOD},
        {"watch a", BEAN_WATCH, BEAN_GOOD},
        {"ignore a", BEAN_IGNORE, BEAN_GOOD},
        {"list-tubes", BEAN_LIST_TUBES, BEAN_GOOD},
        {"list-tube-used", BEAN_LIST_TUBE_USED, BEAN_GOOD},
        {"list-tubes-watched", BEAN_LIST_TUBES_WATCHED, BEAN_GOOD},
        {"pause-tube a 1", BEAN_PAUSE_TUBE, BEAN_GOOD},
        {"quit", BEAN_QUIT, BEAN_GOOD},
        {"reserve-batch 1 2", BEAN_RESERVE_BATCH, BEAN_GOOD},
        {"put-unique 0 0 0 0 k", BEAN_PUT_UNIQUE, BEAN_GOOD},
        {"complete 1 2", BEAN_COMPLETE, BEAN_GOOD},
        {"progress 1 2 3", BEAN_PROGRESS, BEAN_GOOD},
        {"clear-tube a", BEAN_CLEAR_TUBE, BEAN_GOOD},
    };

    (void)state;
    assert_int_equal(COUNT_OF(rows), BEAN_VERBS - 1);
    check_table(rows, COUNT_OF(rows));
}

static void a_command_without_its_space_is_unknown(void **state)
{
    static const char *const lines[] = {
        "put",       "peek",        "delete",  "release", "bury",         "kick",
        "kick-job",  "touch",       "use",     "watch",   "ignore",       "",
        "list-tube", "PUT 0 0 0 0", "Reserve", "STATS",   " put 0 0 0 0", "foo",
        "~",         "{",           "kick\t1", "zzz",     "peek-read",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct expectation row = {lines[i], BEAN_UNKNOWN, BEAN_GOOD};

        check_table(&row, 1);
    }
}

static void a_command_is_matched_by_prefix(void **state)
{
    static const struct expectation rows[] = {
        {"reserve-with-timeout", BEAN_RESERVE, BEAN_BAD},
        {"reserve-job", BEAN_RESERVE, BEAN_BAD},
        {"reserved", BEAN_RESERVE, BEAN_BAD},
        {"reserve ", BEAN_RESERVE, BEAN_BAD},
        {"stats-job", BEAN_STATS, BEAN_BAD},
        {"stats-tube", BEAN_STATS, BEAN_BAD},
        {"stats ", BEAN_STATS, BEAN_BAD},
        {"list-tubes ", BEAN_LIST_TUBES, BEAN_BAD},
        {"list-tubes-watch", BEAN_LIST_TUBES, BEAN_BAD},
        {"list-tubes-watched ", BEAN_LIST_TUBES_WATCHED, BEAN_BAD},
        {"list-tube-used ", BEAN_LIST_TUBE_USED, BEAN_BAD},
        {"peek-ready ", BEAN_PEEK_READY, BEAN_BAD},
        {"peek-delayed ", BEAN_PEEK_DELAYED, BEAN_BAD},
        {"peek-buriedx", BEAN_PEEK_BURIED, BEAN_BAD},
        {"quitter", BEAN_QUIT, BEAN_GOOD},
        {"quit now", BEAN_QUIT, BEAN_GOOD},
        {"pause-tubea 1", BEAN_PAUSE_TUBE, BEAN_GOOD},
    };

    (void)state;
    check_table(rows, COUNT_OF(rows));
}

// The shortest beginning of a line that the parser recognizes as the command.
static struct slice token_of(const char *line)
{
    enum bean_verb verb = parse_text(line).verb;
    size_t len = 0;

    while (parse(slice_of(line, len)).verb != verb) {
        len++;
    }
    return slice_of(line, len);
}

static bool begins_with(struct slice line, struct slice token)
{
    return line.len >= token.len && memcmp(line.ptr, token.ptr, token.len) == 0;
}

static const char *const old_lines[] = {
    "put 0 0 0 0",   "delete 1",       "reserve-with-timeout 1",
    "reserve-job 1", "reserve",        "release 1 2 3",
    "touch 1",       "bury 1 2",       "use a",
    "watch a",       "ignore a",       "kick 1",
    "kick-job 1",    "peek 1",         "peek-ready",
    "peek-delayed",  "peek-buried",    "stats-job 1",
    "stats-tube a",  "stats",          "list-tubes-watched",
    "list-tubes",    "list-tube-used", "pause-tube a 1",
    "quit",          "auth x",
};
static const char *const new_lines[] = {"reserve-batch 1 2", "put-unique 0 0 0 0 k", "complete 1 2",
                                        "progress 1 2 3", "clear-tube a"};

// Except `reserve`: every longer line is malformed.
static void extensions_need_their_whole_name(void **state)
{
    (void)state;
    assert_int_equal(COUNT_OF(old_lines) + COUNT_OF(new_lines), BEAN_VERBS - 1);
    for (size_t o = 0; o < COUNT_OF(old_lines); o++) {
        struct slice old = token_of(old_lines[o]);

        for (size_t n = 0; n < COUNT_OF(new_lines); n++) {
            struct slice new = token_of(new_lines[n]);

            assert_false(begins_with(old, new));
            if (begins_with(new, old)) {
                assert_true(slice_equal(old, SLICE("reserve")));
                assert_true(slice_equal(new, SLICE("reserve-batch ")));
            }
        }
    }
}

static void extensions_are_distinguished_from_old_commands(void **state)
{
    (void)state;
    for (size_t o = 0; o < COUNT_OF(old_lines); o++) {
        assert_false(bean_is_extension(parse_text(old_lines[o]).verb));
    }
    for (size_t n = 0; n < COUNT_OF(new_lines); n++) {
        assert_true(bean_is_extension(parse_text(new_lines[n]).verb));
    }
    assert_false(bean_is_extension(BEAN_UNKNOWN));
}

static void nul_anywhere_is_malformed(void **state)
{
    const struct slice lines[] = {
        SLICE("reserve\0"),
        SLICE("\0"),
        SLICE("foo\0"),
        SLICE("quit\0"),
        SLICE("put 0 0 0 0\0"),
        SLICE("put 0 \0 0 0"),
        SLICE("kick 1 \0"),
        SLICE("reserve-with-timeout 1 \0"),
        SLICE("delete 1\0"),
        SLICE("watch a\0b"),
        SLICE("pause-tube a\0 1"),
        SLICE("pause-tube -a 1\0"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct bean_command command = parse(lines[i]);

        assert_int_equal(command.verb, BEAN_UNKNOWN);
        assert_int_equal(command.validity, BEAN_BAD);
    }
}

static void ids_have_sixty_four_bits(void **state)
{
    static const struct expectation rows[] = {
        {"delete 18446744073709551615", BEAN_DELETE, BEAN_GOOD},
        {"delete 18446744073709551616", BEAN_DELETE, BEAN_BAD},
        {"delete 99999999999999999999", BEAN_DELETE, BEAN_BAD},
        {"delete 00000000000000000000000000000001", BEAN_DELETE, BEAN_GOOD},
        {"delete    1", BEAN_DELETE, BEAN_GOOD},
        {"delete 1 ", BEAN_DELETE, BEAN_BAD},
        {"delete 1x", BEAN_DELETE, BEAN_BAD},
        {"delete x1", BEAN_DELETE, BEAN_BAD},
        {"delete ", BEAN_DELETE, BEAN_BAD},
        {"delete  ", BEAN_DELETE, BEAN_BAD},
        {"delete +1", BEAN_DELETE, BEAN_BAD},
        {"delete -1", BEAN_DELETE, BEAN_BAD},
        {"delete .1", BEAN_DELETE, BEAN_BAD},
        {"delete 0x1", BEAN_DELETE, BEAN_BAD},
        {"delete \t1", BEAN_DELETE, BEAN_BAD},
    };

    (void)state;
    check_table(rows, COUNT_OF(rows));
    assert_true(parse_text("delete 18446744073709551615").id == UINT64_MAX);
    assert_true(parse_text("delete   007").id == 7);
}

static void numbers_have_thirty_two_bits(void **state)
{
    static const char *const forms[][2] = {
        {"put ", " 1 1 1"},   {"put 1 ", " 1 1"},   {"put 1 1 ", " 1"}, {"put 1 1 1 ", ""},
        {"release 1 ", " 1"}, {"release 1 1 ", ""}, {"bury 1 ", ""},    {"pause-tube a ", ""},
    };
    static const struct {
        const char *number;
        bool good;
    } numbers[] = {
        {"4294967295", true}, {"4294967296", false}, {"0", true},   {"0000000000012", true},
        {" 1", true},         {"-1", false},         {"+1", false}, {"1.0", false},
        {"", false},          {"x", false},          {"\t1", false}};
    char line[BEAN_LINE_MAX];

    (void)state;
    for (size_t f = 0; f < COUNT_OF(forms); f++) {
        for (size_t n = 0; n < COUNT_OF(numbers); n++) {
            (void)snprintf(line, sizeof line, "%s%s%s", forms[f][0], numbers[n].number,
                           forms[f][1]);
            if ((parse_text(line).validity == BEAN_GOOD) != numbers[n].good) {
                fail_msg("line `%s`", line);
            }
        }
    }
}

static void arguments_are_parsed_into_their_fields(void **state)
{
    struct bean_command put = parse_text("put 1 2 3 4");
    struct bean_command release = parse_text("release 5 6 7");
    struct bean_command bury = parse_text("bury  8  9");

    (void)state;
    assert_int_equal(put.pri, 1);
    assert_int_equal(put.delay, 2);
    assert_int_equal(put.ttr, 3);
    assert_int_equal(put.bytes, 4);
    assert_int_equal(release.id, 5);
    assert_int_equal(release.pri, 6);
    assert_int_equal(release.delay, 7);
    assert_int_equal(bury.id, 8);
    assert_int_equal(bury.pri, 9);
}

static void text_after_the_numbers_of_put_is_counted(void **state)
{
    static const struct expectation rows[] = {
        {"put 1 2 3 4 ", BEAN_PUT, BEAN_BAD_COUNTED},  {"put 1 2 3 4x", BEAN_PUT, BEAN_BAD_COUNTED},
        {"put 1 2 3 4 5", BEAN_PUT, BEAN_BAD_COUNTED}, {"put 1 2 3", BEAN_PUT, BEAN_BAD},
        {"put 1 2 3x 4", BEAN_PUT, BEAN_BAD},          {"put ", BEAN_PUT, BEAN_BAD},
    };

    (void)state;
    check_table(rows, COUNT_OF(rows));
}

static void text_behind_a_timeout_is_ignored(void **state)
{
    static const struct expectation rows[] = {
        {"reserve-with-timeout 2147483647", BEAN_RESERVE_WITH_TIMEOUT, BEAN_GOOD},
        {"reserve-with-timeout 2147483648", BEAN_RESERVE_WITH_TIMEOUT, BEAN_BAD},
        {"reserve-with-timeout 4294967296", BEAN_RESERVE_WITH_TIMEOUT, BEAN_BAD},
        {"reserve-with-timeout 0 junk", BEAN_RESERVE_WITH_TIMEOUT, BEAN_GOOD},
        {"reserve-with-timeout 0x10", BEAN_RESERVE_WITH_TIMEOUT, BEAN_GOOD},
        {"reserve-with-timeout   3 ", BEAN_RESERVE_WITH_TIMEOUT, BEAN_GOOD},
        {"reserve-with-timeout ", BEAN_RESERVE_WITH_TIMEOUT, BEAN_BAD},
        {"reserve-with-timeout junk", BEAN_RESERVE_WITH_TIMEOUT, BEAN_BAD},
        {"reserve-with-timeout -1", BEAN_RESERVE_WITH_TIMEOUT, BEAN_BAD},
    };

    (void)state;
    check_table(rows, COUNT_OF(rows));
    assert_int_equal(parse_text("reserve-with-timeout 12junk").timeout, 12);
}

static void a_kick_bound_is_read_as_c_reads_it(void **state)
{
    static const struct {
        const char *line;
        uint32_t bound;
    } good[] = {
        {"kick 1", 1},
        {"kick  7", 7},
        {"kick \t\v7", 7},
        {"kick 5 junk", 5},
        {"kick 5junk", 5},
        {"kick 0x10", 0},
        {"kick +3", 3},
        {"kick -1", UINT32_MAX},
        {"kick 4294967295", UINT32_MAX},
        {"kick 4294967297", 1},
        {"kick 18446744073709551615", UINT32_MAX},
        {"kick -18446744073709551615", 1},
    };
    static const char *const bad[] = {"kick ",   "kick junk", "kick 18446744073709551616",
                                      "kick -",  "kick  ",    "kick + 1",
                                      "kick --1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct bean_command command = parse_text(good[i].line);

        assert_int_equal(command.validity, BEAN_GOOD);
        assert_int_equal(command.bound, good[i].bound);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(parse_text(bad[i]).validity, BEAN_BAD);
    }
}

static void names_are_made_of_the_allowed_bytes(void **state)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-+/;.$_()";

    (void)state;
    for (int c = 0; c < 256; c++) {
        char name[] = {'a', (char)c};
        bool good = c != 0 && strchr(allowed, c) != NULL;

        assert_int_equal(bean_name_valid(slice_of(name, 2)), good);
        assert_int_equal(bean_name_valid(slice_of(name + 1, 1)), good && c != '-');
    }
}

static void names_have_one_to_two_hundred_bytes(void **state)
{
    char name[201];

    (void)state;
    memset(name, 'n', sizeof name);
    assert_false(bean_name_valid(slice_of(name, 0)));
    assert_true(bean_name_valid(slice_of(name, 1)));
    assert_true(bean_name_valid(slice_of(name, 200)));
    assert_false(bean_name_valid(slice_of(name, 201)));
}

static void exactly_one_space_precedes_a_name(void **state)
{
    static const char *const verbs[] = {"use", "watch", "ignore", "stats-tube"};
    static const char *const bad[] = {"  a", " ",    " a ",       " a b",
                                      " -a", " a:b", " \xc3\xa4", " a\t"};
    char line[64];

    (void)state;
    for (size_t v = 0; v < COUNT_OF(verbs); v++) {
        for (size_t i = 0; i < COUNT_OF(bad); i++) {
            (void)snprintf(line, sizeof line, "%s%s", verbs[v], bad[i]);
            assert_int_equal(parse_text(line).validity, BEAN_BAD);
        }
    }
}

static void pause_tube_skips_spaces_and_checks_the_name_late(void **state)
{
    static const struct expectation rows[] = {
        {"pause-tube a 1", BEAN_PAUSE_TUBE, BEAN_GOOD},
        {"pause-tube   a   1", BEAN_PAUSE_TUBE, BEAN_GOOD},
        {"pause-tube a 1 ", BEAN_PAUSE_TUBE, BEAN_BAD},
        {"pause-tube a", BEAN_PAUSE_TUBE, BEAN_BAD},
        {"pause-tube a ", BEAN_PAUSE_TUBE, BEAN_BAD},
        {"pause-tube", BEAN_PAUSE_TUBE, BEAN_BAD},
        {"pause-tube 1", BEAN_PAUSE_TUBE, BEAN_BAD},
        {"pause-tube  ", BEAN_PAUSE_TUBE, BEAN_BAD},
        {"pause-tube -a 1", BEAN_PAUSE_TUBE, BEAN_BAD_COUNTED},
        {"pause-tube a:b 1", BEAN_PAUSE_TUBE, BEAN_BAD},
        {"pause-tube a:b x", BEAN_PAUSE_TUBE, BEAN_BAD},
    };

    (void)state;
    check_table(rows, COUNT_OF(rows));
    assert_int_equal(parse_text("pause-tube  default  9").name.len, 7);
    assert_int_equal(parse_text("pause-tube  default  9").delay, 9);
}

static void the_parser_reads_nothing_beyond_the_cr(void **state)
{
    static const char *const lines[] = {
        "put 4294967295 0 1 65535",
        "release 18446744073709551615 1 1",
        "bury 1 1",
        "reserve-with-timeout 10",
        "kick -12 ",
        "pause-tube name 10",
        "list-tubes-watched",
        "stats-tube name",
        "use a",
        "put-unique 1 1 1 1 key",
        "reserve-batch 10 10",
        "complete 1 10",
        "progress 1 1 10",
    };
    struct wire_pages pages = wire_pages_map(4096);
    char *end = pages.start + pages.len;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        for (size_t len = 0; len <= strlen(lines[i]); len++) {
            struct bean_command command;
            char *line = end - len - 1;

            memcpy(line, lines[i], len);
            line[len] = '\r';
            bean_parse(slice_of(line, len), &command);
        }
    }
    wire_pages_unmap(pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_is_recognised),
        cmocka_unit_test(a_command_without_its_space_is_unknown),
        cmocka_unit_test(a_command_is_matched_by_prefix),
        cmocka_unit_test(extensions_need_their_whole_name),
        cmocka_unit_test(extensions_are_distinguished_from_old_commands),
        cmocka_unit_test(nul_anywhere_is_malformed),
        cmocka_unit_test(ids_have_sixty_four_bits),
        cmocka_unit_test(numbers_have_thirty_two_bits),
        cmocka_unit_test(arguments_are_parsed_into_their_fields),
        cmocka_unit_test(text_after_the_numbers_of_put_is_counted),
        cmocka_unit_test(text_behind_a_timeout_is_ignored),
        cmocka_unit_test(a_kick_bound_is_read_as_c_reads_it),
        cmocka_unit_test(names_are_made_of_the_allowed_bytes),
        cmocka_unit_test(names_have_one_to_two_hundred_bytes),
        cmocka_unit_test(exactly_one_space_precedes_a_name),
        cmocka_unit_test(pause_tube_skips_spaces_and_checks_the_name_late),
        cmocka_unit_test(the_parser_reads_nothing_beyond_the_cr),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
