/* SPDX-License-Identifier: MIT */
// Settings: values of each kind, the file, --set, printing, and what a reload may change.
#include "server/config/config.h"

#include "core/base/log.h"
#include "server/config/config_introspect.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct engine {
    uint64_t size;
    int64_t count;
    bool fast;
    char *name;
    int colour;
};

static const struct option engine_options[] = {
    {.name = "size",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct engine, size),
     .default_value = "64k",
     .min = 1,
     .max = INT64_C(1) << 40,
     .live = true},
    {.name = "count",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct engine, count),
     .default_value = "-1",
     .min = -1,
     .max = 100},
    {.name = "fast",
     .kind = OPTION_BOOL,
     .offset = offsetof(struct engine, fast),
     .default_value = "false",
     .live = true},
    {.name = "name",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct engine, name),
     .default_value = "",
     .live = true},
    {.name = "colour",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct engine, colour),
     .default_value = "red",
     .choices = "red|green|dark red"},
    {.name = NULL},
};

struct extra {
    int64_t doors;
};

static const struct option extra_options[] = {
    {.name = "doors",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct extra, doors),
     .default_value = "4",
     .min = 0,
     .max = 9},
    {.name = NULL},
};

static bool check_not_five(const struct option *option, const char *text, struct error_text *why)
{
    (void)option;
    if (strcmp(text, "5") == 0) {
        return error_set(why, "five is right out");
    }
    return true;
}

// Two tables that share a section, as those of a front-end do.
struct car {
    struct engine engine;
    struct extra extra;
    struct config_table tables[2];
    struct config config;
    struct error_text why;
    char path[64];
};

static void car_init(struct car *car)
{
    memset(car, 0, sizeof *car);
    car->tables[0] =
        (struct config_table){.section = "car", .options = engine_options, .values = &car->engine};
    car->tables[1] = (struct config_table){
        .section = "car", .options = extra_options, .values = &car->extra, .check = check_not_five};
    car->config = (struct config){.tables = car->tables, .count = 2};
    assert_true(config_preset(&car->config, &car->why));
}

static int car_setup(void **state)
{
    struct car *car = malloc(sizeof *car);

    nth_alloc_fail(0);
    car_init(car);
    *state = car;
    return 0;
}

static int car_teardown(void **state)
{
    struct car *car = *state;

    nth_alloc_fail(0);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    if (car->path[0]) {
        (void)unlink(car->path);
    }
    config_clear(&car->config);
    free(car);
    return 0;
}

static bool load_bytes(struct car *car, const char *text, size_t len)
{
    FILE *file;

    (void)snprintf(car->path, sizeof car->path, "/tmp/tandem-config-XXXXXX");
    file = fdopen(mkstemp(car->path), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    return config_load(&car->config, car->path, true, &car->why);
}

static bool load(struct car *car, const char *text)
{
    return load_bytes(car, text, strlen(text));
}

// The file is refused, in that line, for a reason in which `words` occur.
static void expect_refused(struct car *car, const char *text, int line, const char *words)
{
    char place[128];

    assert_false(load(car, text));
    (void)snprintf(place, sizeof place, "%s:%d: ", car->path, line);
    (void)unlink(car->path);
    if (strncmp(car->why.text, place, strlen(place)) != 0 || !strstr(car->why.text, words)) {
        fail_msg("expected line %d and \"%s\" in: %s", line, words, car->why.text);
    }
}

static void presets_are_the_defaults(void **state)
{
    struct car *car = *state;

    assert_int_equal(car->engine.size, 65536);
    assert_int_equal(car->engine.count, -1);
    assert_false(car->engine.fast);
    assert_string_equal(car->engine.name, "");
    assert_int_equal(car->engine.colour, 0);
    assert_int_equal(car->extra.doors, 4);
}

static void file_sets_values_of_every_kind(void **state)
{
    struct car *car = *state;

    assert_true(load(car, "# about the car\n"
                          "[car]\n"
                          "size = 3M\n"
                          "  count=7   ; seven of them\n"
                          "\n"
                          "; more\n"
                          "fast = true\r\n"
                          "name = two words\n"
                          "colour = dark red\n"
                          "doors = 2"));
    assert_int_equal(car->engine.size, 3 << 20);
    assert_int_equal(car->engine.count, 7);
    assert_true(car->engine.fast);
    assert_string_equal(car->engine.name, "two words");
    assert_int_equal(car->engine.colour, 2);
    assert_int_equal(car->extra.doors, 2);
}

static void sizes_come_with_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t size;
    } good[] = {{"1", 1},           {"10k", 10240},
                {"10K", 10240},     {"2m", 2097152},
                {"2M", 2097152},    {"3G", UINT64_C(3221225472)},
                {"0001g", 1 << 30}, {"1024G", UINT64_C(1) << 40}};
    static const char *const bad[] = {"",
                                      "k",
                                      "1 k",
                                      "1kb",
                                      "1.5M",
                                      "+1",
                                      "0",
                                      "-1k",
                                      "1T",
                                      "x",
                                      "1k2",
                                      "1025G",
                                      "9223372036854775808",
                                      "9223372036854775807G"};
    struct car *car = *state;
    char text[64];

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        (void)snprintf(text, sizeof text, "car.size=%s", good[i].text);
        assert_true(config_assign(&car->config, text, &car->why));
        assert_int_equal(car->engine.size, good[i].size);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        (void)snprintf(text, sizeof text, "car.size=%s", bad[i]);
        assert_false(config_assign(&car->config, text, &car->why));
        assert_int_equal(car->engine.size, UINT64_C(1) << 40);
    }
}

static void error_names_the_line_and_the_reason(void **state)
{
    struct car *car = *state;

    expect_refused(car, "[car]\ncount = 3\nwheels = 4\n", 3, "no key `wheels` in section [car]");
    expect_refused(car, "[car]\n\n[boat]\nname = x\n", 3, "no section [boat]");
    expect_refused(car, "name = x\n[car]\n", 1, "`name` is before any section");
    expect_refused(car, "[car]\ncount = many\n", 2, "count: `many` is not a whole number");
    expect_refused(car, "[car]\ncount = 7k\n", 2, "`7k` is not a whole number");
    expect_refused(car, "[car]\ncount = 101\n", 2, "`101` is not between -1 and 100");
    expect_refused(car, "[car]\nsize = big\n", 2, "size: `big` is not a size");
    expect_refused(car, "[car]\nfast = maybe\n", 2, "fast: `maybe` is neither");
    expect_refused(car, "[car]\ncolour = dark\n", 2, "`dark` is not one of red|green|dark red");
    expect_refused(car, "[car]\ndoors = 5\n", 2, "doors: five is right out");
    expect_refused(car, "[car]\nname\n", 2, "neither a [section] nor");
    expect_refused(car, "[car\nname = x\n", 1, "neither a [section] nor");
}

// It looks like a comment, and was made a part of the value.
static void hash_behind_a_value_is_an_error(void **state)
{
    struct car *car = *state;

    expect_refused(car, "[car]\nname = x # the name\n", 2, "name: a comment after a value");
    expect_refused(car, "[car]\nname = x\t# the name\n", 2, "begins with ` ;`");
    expect_refused(car, "[car]\nname = # none\n", 2, "or is on a line of its own");
    assert_true(load(car, "[car]\nname = x#y ; z # no\n"));
    assert_string_equal(car->engine.name, "x#y");
    assert_true(config_assign(&car->config, "car.name=x #y", &car->why));
    assert_string_equal(car->engine.name, "x #y");
}

static void first_of_several_errors_is_reported(void **state)
{
    struct car *car = *state;

    expect_refused(car, "[car]\nname\ncount = x\n", 2, "neither a [section] nor");
    expect_refused(car, "[car]\ncount = x\nname\n", 2, "count: `x`");
    expect_refused(car, "[car]\n# c\n\ncount = x\nfast = y\n", 4, "count: `x`");
}

static void missing_file_is_an_error(void **state)
{
    struct car *car = *state;

    assert_false(config_load(&car->config, "/nonexistent/tandemd.conf", true, &car->why));
    assert_string_equal(car->why.text, "/nonexistent/tandemd.conf: No such file or directory");
    assert_false(config_load(&car->config, "/", true, &car->why));
    assert_non_null(strstr(car->why.text, "cannot be read"));
}

// 16,384 bytes between the two.
static void long_line(char *text, size_t room, const char *before, const char *after)
{
    char filler[16385] = "";

    memset(filler, 'x', sizeof filler - 1);
    (void)snprintf(text, room, "%s%s%s", before, filler, after);
}

static void line_that_is_too_long_is_an_error_and_not_two_lines(void **state)
{
    struct car *car = *state;
    char text[17000];

    long_line(text, sizeof text, "[car]\nname = ", "\ncount = 3\n");
    expect_refused(car, text, 2, "the line has more than");
}

static void comment_may_be_of_any_length(void **state)
{
    struct car *car = *state;
    char text[17000];

    long_line(text, sizeof text, "[car]\n  # ", "\ncount = 3\n");
    assert_true(load(car, text));
    assert_int_equal(car->engine.count, 3);
}

static void nul_in_the_file_is_an_error(void **state)
{
    struct car *car = *state;
    static const char text[] = "[car]\nname = a\0b\n";

    assert_false(load_bytes(car, text, sizeof text - 1));
    assert_non_null(strstr(car->why.text, ":2: "));
}

static void indented_line_is_a_key_and_not_a_continuation(void **state)
{
    struct car *car = *state;

    assert_true(load(car, "[car]\nname = a\n    count = 3\n\tdoors = 1\n"));
    assert_string_equal(car->engine.name, "a");
    assert_int_equal(car->engine.count, 3);
    assert_int_equal(car->extra.doors, 1);
}

static void assignment_sets_one_key(void **state)
{
    struct car *car = *state;

    assert_true(config_assign(&car->config, "car.name=a=b.c", &car->why));
    assert_string_equal(car->engine.name, "a=b.c");
    assert_true(config_assign(&car->config, "car.name=", &car->why));
    assert_string_equal(car->engine.name, "");
}

// Which of the values was meant, only its author knows.
static void key_that_is_there_twice_is_an_error(void **state)
{
    struct car *car = *state;

    expect_refused(car, "[car]\ncount = 3\n\ncount = 3\n", 4, "count: line 2 has this key already");
    expect_refused(car, "[car]\ncount = 3\nfast = true\n[car]\ncount = 4\n", 5,
                   "count: line 2 has this key already");
    assert_true(load(car, "[car]\ncount = 3\n[car]\nfast = true\n"));
}

static void malformed_assignment_is_an_error(void **state)
{
    static const char *const bad[] = {
        "",       "car",     "car.name",    "name=x",       "car=x.name",
        "car.=x", ".name=x", "boat.name=x", "car.wheels=4", "car.count=x"};
    struct car *car = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(config_assign(&car->config, bad[i], &car->why));
        assert_memory_equal(car->why.text, "--set ", 6);
    }
    assert_string_equal(car->why.text, "--set car.count=x: count: `x` is not a whole number");
}

static void what_is_printed_can_be_read_back(void **state)
{
    static const char want[] = "[car]\n"
                               "size = 5M\n"
                               "count = 0\n"
                               "fast = true\n"
                               "name = n\n"
                               "colour = green\n"
                               "doors = 4\n";
    struct car *car = *state;
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    assert_true(load(car, want));
    config_print(&car->config, file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, want);
    free(text);
}

static void size_is_printed_without_loss(void **state)
{
    static const char *const sizes[] = {"1", "1023", "1k", "1025", "1500k", "1M", "65535", "1024G"};
    struct car *car = *state;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char assignment[64];
        char line[64];
        char *text = NULL;
        size_t len;
        FILE *file = open_memstream(&text, &len);

        (void)snprintf(assignment, sizeof assignment, "car.size=%s", sizes[i]);
        (void)snprintf(line, sizeof line, "\nsize = %s\n", sizes[i]);
        assert_true(config_assign(&car->config, assignment, &car->why));
        config_print(&car->config, file);
        assert_int_equal(fclose(file), 0);
        assert_non_null(strstr(text, line));
        free(text);
    }
}

// Gathers the logged events and keys, with the old and new values.
static void gather(void *context, enum log_level level, const char *event,
                   const struct log_field *fields, size_t count)
{
    FILE *lines = context;

    (void)level;
    assert_int_equal(count, 4);
    (void)fprintf(lines, "%s %.*s: %.*s, %.*s\n", event, (int)fields[1].text.len,
                  fields[1].text.ptr, (int)fields[2].text.len, fields[2].text.ptr,
                  (int)fields[3].text.len, fields[3].text.ptr);
}

static void reload_applies_live_keys_and_names_the_others(void **state)
{
    struct car *car = *state;
    struct car fresh;
    char *text = NULL;
    size_t len;
    FILE *lines = open_memstream(&text, &len);

    car_init(&fresh);
    assert_true(load(&fresh, "[car]\nsize=1k\ncount=5\nname=new\ncolour=green\n"));
    (void)unlink(fresh.path);
    log_set_sink(gather, lines, LOG_LEVEL_DEBUG);
    config_adopt(&car->config, &fresh.config);
    assert_int_equal(fclose(lines), 0);
    assert_string_equal(text, "setting_changed size: 64k, 1k\n"
                              "setting_needs_restart count: -1, 5\n"
                              "setting_changed name: , new\n"
                              "setting_needs_restart colour: red, green\n");
    assert_int_equal(car->engine.size, 1024);
    assert_int_equal(car->engine.count, -1);
    assert_string_equal(car->engine.name, "new");
    assert_int_equal(car->engine.colour, 0);
    config_clear(&fresh.config);
    free(text);
}

static bool set_from(struct car *car, const char *const *environment, size_t *count)
{
    return config_set_from_environment(&car->config, environment, true, count, &car->why);
}

#define SET_FROM(car, count, ...) set_from(car, (const char *const[]){__VA_ARGS__, NULL}, count)

static void variables_of_the_environment_set_keys(void **state)
{
    struct car *car = *state;
    size_t count;

    assert_true(SET_FROM(car, &count, "PATH=/bin", "TANDEM_CAR_SIZE=3M", "TANDEMCAR_COUNT=3",
                         "TANDEM_CAR_COLOUR=dark red", "TANDEM_CAR_NAME=a=b", "TANDEM_CAR_DOORS=2",
                         "TANDEM_CAR_COUNT"));
    assert_int_equal(count, 4);
    assert_int_equal(car->engine.size, 3 << 20);
    assert_int_equal(car->engine.count, -1);
    assert_int_equal(car->engine.colour, 2);
    assert_string_equal(car->engine.name, "a=b");
    assert_int_equal(car->extra.doors, 2);
    assert_true(SET_FROM(car, &count, "TANDEM_CAR_NAME="));
    assert_string_equal(car->engine.name, "");
}

static void expect_variable_refused(struct car *car, const char *variable, const char *words)
{
    size_t count;

    assert_false(SET_FROM(car, &count, variable));
    assert_memory_equal(car->why.text, variable, strcspn(variable, "="));
    if (!strstr(car->why.text, words)) {
        fail_msg("expected \"%s\" in: %s", words, car->why.text);
    }
}

static void variable_that_is_no_setting_is_an_error(void **state)
{
    static const char *const bad[] = {
        "TANDEM_=1",         "TANDEM_CAR=1",     "TANDEM_CAR_=1",        "TANDEM_CAR_SIZES=1",
        "TANDEM_car_size=1", "TANDEM_CAR_SIZ=1", "TANDEM_VAN_SIZE=1",    "TANDEM_CAR_SIZE_=1",
        "TANDEM_FILE=1",     "TANDEM__FILE=1",   "TANDEM_CAR_X_FILE=/x", "TANDEM_PORT=1",
    };
    struct car *car = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_variable_refused(car, bad[i], " in the environment: there is no such setting");
    }
    expect_variable_refused(car, "TANDEM_CAR_SIZE=1T", "size: `1T` is not a size");
    expect_variable_refused(car, "TANDEM_CAR_DOORS=5", "doors: five is right out");
}

static void variables_that_others_set_are_ignored(void **state)
{
    struct car *car = *state;
    size_t count;

    assert_true(SET_FROM(
        car, &count, "TANDEM_ADDRESS=http://h:1", "TANDEM_TOKEN=t", "TANDEM_SERVICE_HOST=10.0.0.1",
        "TANDEM_SERVICE_PORT=1", "TANDEM_SERVICE_PORT_HTTP=1", "TANDEM_PORT=tcp://10.0.0.1:1",
        "TANDEM_PORT_1_TCP=tcp://10.0.0.1:1", "TANDEM_PORT_1_TCP_ADDR=10.0.0.1",
        "TANDEM_CAR_SERVICE_HOST=10.0.0.1", "TANDEM_CAR_PORT=udp://10.0.0.1:1",
        "TANDEM_CAR_PORT_80_TCP_PROTO=tcp", "TANDEM_NAME=/us/tandem", "TANDEM_X_NAME=/us/tandem-x",
        "TANDEM_ENV_TANDEM_CAR_SIZE=1", "TANDEM_X_ENV_PATH=/bin"));
    assert_int_equal(count, 0);
}

static void variable_may_name_a_file_with_the_value(void **state)
{
    struct car *car = *state;
    char variable[128], too[] = "TANDEM_CAR_NAME=b";
    size_t count;

    (void)load(car, "secret #1\n");
    (void)snprintf(variable, sizeof variable, "TANDEM_CAR_NAME_FILE=%s", car->path);
    assert_true(SET_FROM(car, &count, variable));
    assert_int_equal(count, 1);
    assert_string_equal(car->engine.name, "secret #1");
    assert_false(SET_FROM(car, &count, variable, too));
    assert_string_equal(car->why.text,
                        "TANDEM_CAR_NAME in the environment: TANDEM_CAR_NAME_FILE is set, too");
    (void)unlink(car->path);
    expect_variable_refused(car, variable, "No such file or directory");
    (void)load(car, "two\nlines\n");
    (void)snprintf(variable, sizeof variable, "TANDEM_CAR_NAME_FILE=%s", car->path);
    expect_variable_refused(car, variable, ": not one line of less than 4096 bytes");
    assert_null(strstr(car->why.text, "two"));
}

static void text_without_memory_leaves_the_setting_as_it_was(void **state)
{
    struct car *car = *state;

    nth_alloc_fail(1);
    assert_false(config_assign(&car->config, "car.name=x", &car->why));
    assert_non_null(strstr(car->why.text, "out of memory"));
    assert_string_equal(car->engine.name, "");
}

#define CONFIG_TEST(name) cmocka_unit_test_setup_teardown(name, car_setup, car_teardown)

static void settings_are_shown_one_by_one_as_they_are_in_force(void **state)
{
    static struct config_introspection shown;
    struct car *car = *state;
    struct introspect_setting setting;

    assert_true(load(car, "[car]\nsize = 3M\ncolour = dark red\n"));
    assert_true(config_introspect_setting(&shown, &car->config, 0, &setting));
    assert_string_equal(setting.section, "car");
    assert_string_equal(setting.key, "size");
    assert_string_equal(setting.value, "3M");
    assert_string_equal(setting.default_value, "64k");
    assert_true(setting.live);
    assert_true(config_introspect_setting(&shown, &car->config, 4, &setting));
    assert_string_equal(setting.value, "dark red");
    assert_true(config_introspect_setting(&shown, &car->config, 3, &setting));
    assert_string_equal(setting.value, "");
    assert_true(config_introspect_setting(&shown, &car->config, 5, &setting));
    assert_string_equal(setting.key, "doors");
    assert_false(setting.live);
    assert_false(config_introspect_setting(&shown, &car->config, 6, &setting));
    config_introspect_clear(&shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONFIG_TEST(presets_are_the_defaults),
        CONFIG_TEST(file_sets_values_of_every_kind),
        CONFIG_TEST(sizes_come_with_units),
        CONFIG_TEST(error_names_the_line_and_the_reason),
        CONFIG_TEST(hash_behind_a_value_is_an_error),
        CONFIG_TEST(first_of_several_errors_is_reported),
        CONFIG_TEST(missing_file_is_an_error),
        CONFIG_TEST(line_that_is_too_long_is_an_error_and_not_two_lines),
        CONFIG_TEST(comment_may_be_of_any_length),
        CONFIG_TEST(nul_in_the_file_is_an_error),
        CONFIG_TEST(indented_line_is_a_key_and_not_a_continuation),
        CONFIG_TEST(assignment_sets_one_key),
        CONFIG_TEST(key_that_is_there_twice_is_an_error),
        CONFIG_TEST(malformed_assignment_is_an_error),
        CONFIG_TEST(what_is_printed_can_be_read_back),
        CONFIG_TEST(size_is_printed_without_loss),
        CONFIG_TEST(reload_applies_live_keys_and_names_the_others),
        CONFIG_TEST(variables_of_the_environment_set_keys),
        CONFIG_TEST(variable_that_is_no_setting_is_an_error),
        CONFIG_TEST(variables_that_others_set_are_ignored),
        CONFIG_TEST(variable_may_name_a_file_with_the_value),
        CONFIG_TEST(text_without_memory_leaves_the_setting_as_it_was),
        CONFIG_TEST(settings_are_shown_one_by_one_as_they_are_in_force),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
