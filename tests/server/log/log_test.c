/* SPDX-License-Identifier: MIT */
// How log lines look, and that nothing in a field can forge one.
#include "server/log/log_line.h"
#include "server/log/log_output.h"
#include "tests/support/with_cmocka.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// 2026-01-31T09:15:00.250Z
#define MOMENT (INT64_C(1769850900250) * NSEC_PER_MSEC)

static struct log_event event_of(const struct log_field *fields, size_t count)
{
    return (struct log_event){.wall_at = MOMENT,
                              .level = LOG_LEVEL_WARN,
                              .name = "odd_thing",
                              .fields = fields,
                              .count = count};
}

static void expect_text(struct slice value, const char *want)
{
    struct log_field field = log_text("key", value);
    struct log_event event = event_of(&field, 1);
    char line[LOG_LINE_MAX];
    char wanted[256];
    int len =
        snprintf(wanted, sizeof wanted, "2026-01-31T09:15:00.250Z warn odd_thing key=%s\n", want);

    assert_int_equal(log_line_text(&event, line), len);
    assert_memory_equal(line, wanted, (size_t)len);
}

static void plain_values_stand_as_they_are(void **state)
{
    (void)state;
    expect_text(SLICE("127.0.0.1:11300"), "127.0.0.1:11300");
    expect_text(SLICE("[::1]:11300"), "[::1]:11300");
    expect_text(SLICE("/var/run/x-1_2.sock"), "/var/run/x-1_2.sock");
}

static void other_values_stand_in_quotes(void **state)
{
    (void)state;
    expect_text(SLICE(""), "\"\"");
    expect_text(SLICE("two words"), "\"two words\"");
    expect_text(SLICE("a=b"), "\"a=b\"");
    expect_text(SLICE("say \"hi\" \\o/"), "\"say \\\"hi\\\" \\\\o/\"");
}

static void bytes_that_do_not_print_are_escaped(void **state)
{
    (void)state;
    expect_text(SLICE("a\nb"), "\"a\\x0ab\"");
    expect_text(SLICE("\r\n\t\0\x1b[31m"), "\"\\x0d\\x0a\\x09\\x00\\x1b[31m\"");
    expect_text(SLICE("caf\xc3\xa9\x7f"), "\"caf\\xc3\\xa9\\x7f\"");
}

static void numbers_and_several_fields_are_written_in_order(void **state)
{
    const struct log_field fields[] = {log_number("a", INT64_MIN), log_string("b", "x"),
                                       log_number("c", 7)};
    struct log_event event = event_of(fields, 3);
    static const char want[] =
        "2026-01-31T09:15:00.250Z warn odd_thing a=-9223372036854775808 b=x c=7\n";
    char line[LOG_LINE_MAX];

    (void)state;
    assert_int_equal(log_line_text(&event, line), sizeof want - 1);
    assert_memory_equal(line, want, sizeof want - 1);
}

static void line_that_is_too_long_is_cut_and_still_ends(void **state)
{
    char *big = calloc(1, 100000);
    struct log_field field = log_text("key", slice_of(big, 100000));
    struct log_event event = event_of(&field, 1);
    char line[LOG_LINE_MAX];

    (void)state;
    memset(big, '\n', 100000);
    assert_int_equal(log_line_text(&event, line), LOG_LINE_MAX);
    assert_int_equal(line[LOG_LINE_MAX - 1], '\n');
    assert_null(memchr(line, '\n', LOG_LINE_MAX - 1));
    assert_in_range(log_line_json(&event, line), 1, LOG_LINE_MAX);
    free(big);
}

// Each line must be valid JSON, also if it is cut.
static void json_line_that_is_too_long_is_cut_and_still_json(void **state)
{
    enum { FIELDS = 40, BYTES = 1000 };
    static const char *const units[] = {
        "\n", "a", "\xff", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    static char keys[FIELDS][8];
    struct log_field fields[FIELDS];
    char text[BYTES + 1];

    (void)state;
    for (size_t unit = 0; unit < sizeof units / sizeof *units; unit++) {
        size_t unit_len = strlen(units[unit]);
        size_t len = 0;

        while (len + unit_len <= BYTES) {
            memcpy(text + len, units[unit], unit_len);
            len += unit_len;
        }
        for (size_t i = 0; i < FIELDS; i++) {
            (void)snprintf(keys[i], sizeof keys[i], "key%zu", i);
            fields[i] = log_text(keys[i], slice_of(text, len));
        }
        for (size_t count = 1; count <= FIELDS; count++) {
            struct log_event event = event_of(fields, count);
            char line[LOG_LINE_MAX];
            size_t line_len = log_line_json(&event, line);
            json_error_t error;
            json_t *object;

            assert_in_range(line_len, 1, LOG_LINE_MAX);
            assert_ptr_equal(memchr(line, '\n', line_len), line + line_len - 1);
            object = json_loadb(line, line_len, 0, &error);
            assert_non_null(object);
            assert_int_equal(json_object_size(object), count + 3);
            if (strcmp(units[unit], "\xff") != 0) {
                assert_null(strstr(json_string_value(json_object_get(object, "key0")), "\\x"));
            }
            json_decref(object);
        }
    }
}

static json_t *parse_json(const struct log_field *fields, size_t count)
{
    struct log_event event = event_of(fields, count);
    char line[LOG_LINE_MAX];
    size_t len = log_line_json(&event, line);
    json_t *object;

    assert_in_range(len, 1, LOG_LINE_MAX);
    assert_ptr_equal(memchr(line, '\n', len), line + len - 1);
    for (size_t i = 0; i + 1 < len; i++) {
        assert_in_range(line[i], 0x20, 0x7e);
    }
    object = json_loadb(line, len, 0, NULL);
    assert_non_null(object);
    return object;
}

static void json_line_is_one_object(void **state)
{
    const struct log_field fields[] = {log_number("conn", 17), log_string("peer", "1.2.3.4:5")};
    json_t *object = parse_json(fields, 2);

    (void)state;
    assert_int_equal(json_object_size(object), 5);
    assert_string_equal(json_string_value(json_object_get(object, "time")),
                        "2026-01-31T09:15:00.250Z");
    assert_string_equal(json_string_value(json_object_get(object, "level")), "warn");
    assert_string_equal(json_string_value(json_object_get(object, "event")), "odd_thing");
    assert_int_equal(json_integer_value(json_object_get(object, "conn")), 17);
    assert_string_equal(json_string_value(json_object_get(object, "peer")), "1.2.3.4:5");
    json_decref(object);
}

static void json_holds_any_bytes(void **state)
{
    const struct log_field fields[] = {
        log_text("quotes", SLICE("a\"b\\c\n\x1b")), log_text("utf8", SLICE("caf\xc3\xa9")),
        log_text("latin", SLICE("caf\xe9\n")), log_text("empty", SLICE(""))};
    json_t *object = parse_json(fields, 4);

    (void)state;
    assert_string_equal(json_string_value(json_object_get(object, "quotes")), "a\"b\\c\n\x1b");
    assert_string_equal(json_string_value(json_object_get(object, "utf8")), "caf\xc3\xa9");
    assert_string_equal(json_string_value(json_object_get(object, "latin")), "caf\\xe9\\x0a");
    assert_string_equal(json_string_value(json_object_get(object, "empty")), "");
    json_decref(object);
}

// The content of the file, NUL-terminated.
static void read_file(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    size_t len;

    assert_non_null(file);
    len = fread(text, 1, room - 1, file);
    text[len] = '\0';
    (void)fclose(file);
}

static void reopening_follows_a_file_that_was_moved_away(void **state)
{
    char dir[] = "/tmp/tandem-log-XXXXXX";
    char path[64];
    char moved[64];
    char text[512];
    struct log_output output;
    struct error_text why;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/log", dir);
    (void)snprintf(moved, sizeof moved, "%s/log.1", dir);
    log_output_init(&output);
    assert_true(log_output_open(&output, path, LOG_FORMAT_TEXT, LOG_LEVEL_INFO, &why));
    log_info("first", log_number("n", 1));
    log_debug("unheard", log_number("n", 1));
    assert_int_equal(rename(path, moved), 0);
    log_info("second", log_number("n", 2));
    assert_true(log_output_open(&output, path, LOG_FORMAT_JSON, LOG_LEVEL_DEBUG, &why));
    log_debug("third", log_number("n", 3));
    assert_false(log_output_open(&output, dir, LOG_FORMAT_TEXT, LOG_LEVEL_ERROR, &why));
    log_debug("fourth", log_number("n", 4));
    log_output_close(&output);
    log_error("after", log_number("n", 5));
    read_file(moved, text, sizeof text);
    assert_non_null(strstr(text, " info first n=1\n"));
    assert_non_null(strstr(text, " info second n=2\n"));
    assert_null(strstr(text, "unheard"));
    read_file(path, text, sizeof text);
    assert_non_null(strstr(text, "\"event\":\"third\""));
    assert_non_null(strstr(text, "\"event\":\"fourth\""));
    assert_null(strstr(text, "after"));
    (void)unlink(path);
    (void)unlink(moved);
    (void)rmdir(dir);
}

// Reads whole lines until `done` says so of one of them.
static void read_lines(int reader, bool (*done)(void *context, const char *line), void *context)
{
    char text[8192];
    size_t len = 0;

    for (;;) {
        struct pollfd waiting = {.fd = reader, .events = POLLIN};
        char *line = text;
        char *end;
        ssize_t n;

        assert_int_equal(poll(&waiting, 1, 120000), 1);
        n = read(reader, text + len, sizeof text - 1 - len);
        assert_true(n > 0);
        text[len + (size_t)n] = '\0';
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            if (done(context, line)) {
                return;
            }
        }
        len = strlen(line);
        memmove(text, line, len);
    }
}

// Lines that came, and lines that are reported as dropped.
struct tally {
    unsigned wanted;
    unsigned got;
    unsigned long dropped;
};

static bool tally_line(void *context, const char *line)
{
    static const char words[] = " warn log_lines_dropped lines=";
    struct tally *tally = context;
    const char *found = strstr(line, words);

    if (found) {
        tally->dropped += strtoul(found + sizeof words - 1, NULL, 10);
    } else {
        tally->got++;
    }
    return tally->got + tally->dropped >= tally->wanted;
}

static void lines_without_a_reader_are_dropped_and_counted(void **state)
{
    enum { LINES = 2 * LOG_BACKLOG / 64 };
    char dir[] = "/tmp/tandem-log-XXXXXX";
    char path[64];
    struct tally tally = {.wanted = LINES};
    struct log_output output;
    struct error_text why;
    int reader;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    reader = open(path, O_RDONLY | O_NONBLOCK);
    log_output_init(&output);
    assert_true(log_output_open(&output, path, LOG_FORMAT_TEXT, LOG_LEVEL_INFO, &why));
    for (int i = 0; i < LINES; i++) {
        log_info("a_line_that_has_some_length", log_number("n", 100000 + i));
    }
    read_lines(reader, tally_line, &tally);
    assert_int_equal(tally.got + tally.dropped, LINES);
    assert_in_range(tally.dropped, 1, LINES - 1);
    log_output_close(&output);
    assert_int_equal(close(reader), 0);
    (void)unlink(path);
    (void)rmdir(dir);
}

static bool find_line(void *context, const char *line)
{
    const char *const *words = context;

    return strstr(line, *words) != NULL;
}

static void lines_that_cannot_be_written_are_counted_too(void **state)
{
    static const char *words = " warn log_lines_dropped lines=3";
    char dir[] = "/tmp/tandem-log-XXXXXX";
    char path[64];
    struct log_output output;
    struct error_text why;
    int reader;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    reader = open(path, O_RDONLY | O_NONBLOCK);
    log_output_init(&output);
    assert_true(log_output_open(&output, path, LOG_FORMAT_TEXT, LOG_LEVEL_INFO, &why));
    assert_int_equal(close(reader), 0);
    for (int i = 1; i <= 3; i++) {
        log_info("unheard", log_number("n", i));
    }
    log_drain();
    reader = open(path, O_RDONLY | O_NONBLOCK);
    log_info("after", log_number("n", 4));
    read_lines(reader, find_line, &words);
    log_output_close(&output);
    assert_int_equal(close(reader), 0);
    (void)unlink(path);
    (void)rmdir(dir);
}

// Lines from before the change are in the old file, even if its reader stalls meanwhile.
static void change_of_the_file_waits_for_the_lines_before_it(void **state)
{
    char dir[] = "/tmp/tandem-log-XXXXXX";
    char path[64];
    char pipe_path[64];
    char text[512];
    struct tally tally = {.wanted = 2001};
    struct log_output output;
    struct error_text why;
    int reader;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(pipe_path, sizeof pipe_path, "%s/pipe", dir);
    (void)snprintf(path, sizeof path, "%s/log", dir);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    reader = open(pipe_path, O_RDONLY | O_NONBLOCK);
    log_output_init(&output);
    assert_true(log_output_open(&output, pipe_path, LOG_FORMAT_TEXT, LOG_LEVEL_INFO, &why));
    // More than a pipe holds, less than the backlog does.
    for (int i = 0; i < 2000; i++) {
        log_info("a_line_that_has_some_length", log_number("n", 100000 + i));
    }
    log_info("last", log_number("n", 1));
    assert_true(log_output_open(&output, dir, LOG_FORMAT_TEXT, LOG_LEVEL_INFO, &why) == false);
    assert_true(log_output_open(&output, path, LOG_FORMAT_TEXT, LOG_LEVEL_INFO, &why));
    log_info("first", log_number("n", 2));
    read_lines(reader, tally_line, &tally);
    assert_int_equal(tally.got, 2001);
    log_output_close(&output);
    read_file(path, text, sizeof text);
    assert_non_null(strstr(text, " info first n=2\n"));
    assert_int_equal(strcspn(text, "\n") + 1, strlen(text));
    assert_int_equal(close(reader), 0);
    (void)unlink(path);
    (void)unlink(pipe_path);
    (void)rmdir(dir);
}

static void *log_some(void *count)
{
    for (int i = 0; i < *(const int *)count; i++) {
        log_info("of_a_thread", log_number("n", i));
    }
    return NULL;
}

// Counts the lines of a file that end as they should.
static int count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[LOG_LINE_MAX];
    int count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        const char *number = strstr(line, " info of_a_thread n=");

        assert_non_null(number);
        assert_int_equal(strspn(strchr(number, '=') + 1, "0123456789\n"),
                         strlen(strchr(number, '=') + 1));
        count++;
    }
    (void)fclose(file);
    return count;
}

// The journal's thread logs while the configuration is read again.
static void changes_while_another_thread_logs_lose_no_line(void **state)
{
    char dir[] = "/tmp/tandem-log-XXXXXX";
    char paths[2][64];
    int count = 1000;
    int counted = 0;
    struct log_output output;
    struct error_text why;
    pthread_t thread;

    (void)state;
    assert_non_null(mkdtemp(dir));
    log_output_init(&output);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "%s/log.%d", dir, i);
        assert_true(log_output_open(&output, paths[i], LOG_FORMAT_TEXT, LOG_LEVEL_INFO, &why));
    }
    assert_int_equal(pthread_create(&thread, NULL, log_some, &count), 0);
    for (int i = 0; i < 20; i++) {
        assert_true(log_output_open(&output, paths[i % 2], LOG_FORMAT_TEXT,
                                    i % 3 ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG, &why));
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    // It waits, but not for long.
    for (int i = 0; i < 15 && counted < count; i++) {
        log_drain();
        counted = count_lines(paths[0]) + count_lines(paths[1]);
    }
    assert_int_equal(counted, count);
    log_output_close(&output);
    for (int i = 0; i < 2; i++) {
        (void)unlink(paths[i]);
    }
    (void)rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_values_stand_as_they_are),
        cmocka_unit_test(other_values_stand_in_quotes),
        cmocka_unit_test(bytes_that_do_not_print_are_escaped),
        cmocka_unit_test(numbers_and_several_fields_are_written_in_order),
        cmocka_unit_test(line_that_is_too_long_is_cut_and_still_ends),
        cmocka_unit_test(json_line_that_is_too_long_is_cut_and_still_json),
        cmocka_unit_test(json_line_is_one_object),
        cmocka_unit_test(json_holds_any_bytes),
        cmocka_unit_test(reopening_follows_a_file_that_was_moved_away),
        cmocka_unit_test(lines_without_a_reader_are_dropped_and_counted),
        cmocka_unit_test(lines_that_cannot_be_written_are_counted_too),
        cmocka_unit_test(change_of_the_file_waits_for_the_lines_before_it),
        cmocka_unit_test(changes_while_another_thread_logs_lose_no_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
