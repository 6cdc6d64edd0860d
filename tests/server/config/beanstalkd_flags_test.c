/* SPDX-License-Identifier: MIT */
// The flags of beanstalkd, alone and among our options: the resulting settings.
#include "server/config/settings.h"

#include "core/base/log.h"
#include "proto_beanstalk/beanstalk.h"
#include "server/config/command_line.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <string.h>

#define ARGS_MAX 8

// The default of the cases.
#define LISTEN "127.0.0.1:11300"
#define SIZE 65535

static void parse(struct command_line *options, const char *const *args, struct error_text *why,
                  enum exit_reason *result)
{
    static char copies[ARGS_MAX][128]; // getopt wants what it may permute
    char *argv[ARGS_MAX + 2] = {"tandemd"};
    int argc = 1;

    for (; args[argc - 1]; argc++) {
        assert_in_range(argc, 1, ARGS_MAX);
        (void)snprintf(copies[argc - 1], sizeof copies[0], "%s", args[argc - 1]);
        argv[argc] = copies[argc - 1];
    }
    *result = command_line_parse(options, argc, argv, why);
}

// Loads without any file: one may be installed on this machine.
static struct settings *load(const struct command_line *options)
{
    const struct settings_source source = {.presets = (const char *const *)options->presets.all,
                                           .preset_count = options->presets.count,
                                           .sets = (const char *const *)options->sets.all,
                                           .set_count = options->sets.count};
    struct error_text why;

    return settings_load(&source, &why);
}

static const struct good_case {
    const char *args[ARGS_MAX];
    const char *listen; // NULL: LISTEN
    const char *user;   // NULL: none
    uint64_t limit;     // with `limited`
    bool limited;
    bool verbose;
    size_t notes;
    const char *dir;   // NULL: none
    const char *fsync; // NULL: always
    uint64_t segment;  // 0: 64M
} good_cases[] = {
    {.args = {"-l", "10.0.0.1"}, .listen = "10.0.0.1:11300"},
    {.args = {"-l10.0.0.1"}, .listen = "10.0.0.1:11300"},
    {.args = {"-l", "localhost", "-p", "7"}, .listen = "localhost:7"},
    {.args = {"-p7", "-llocalhost"}, .listen = "localhost:7"},
    {.args = {"-l", "::1"}, .listen = "[::1]:11300"},
    {.args = {"-l", "::", "-p", "7"}, .listen = "*:7"},
    {.args = {"-l", "tls"}, .listen = "[tls]:11300"},
    {.args = {"-l", "unix:/run/b"}, .listen = "unix:/run/b"},
    {.args = {"-lunix:/run/b", "-p", "7"}, .listen = "unix:/run/b"},
    {.args = {"-p", "0"}, .listen = "0.0.0.0:0"},
    {.args = {"-p", "65535"}, .listen = "0.0.0.0:65535"},
    {.args = {"-p", "7", "-p", "8"}, .listen = "0.0.0.0:8"},
    {.args = {"-u", "nobody"}, .user = "nobody"},
    {.args = {"-unobody"}, .user = "nobody"},
    {.args = {"-z", "0"}, .limit = 0, .limited = true},
    {.args = {"-z100"}, .limit = 100, .limited = true},
    {.args = {"-z", "1073741824"}, .limit = 1073741824, .limited = true},
    {.args = {"-z", "1073741825"}, .limit = 1073741824, .limited = true, .notes = 1},
    {.args = {"-z", "99999999999999999999999"}, .limit = 1073741824, .limited = true, .notes = 1},
    {.args = {"-z", "-1"}, .limit = 1073741824, .limited = true, .notes = 1},
    {.args = {"-b", "/d"}, .dir = "/d", .fsync = "50"},
    {.args = {"-b/d", "-f", "7"}, .dir = "/d", .fsync = "7"},
    {.args = {"-b", "/d", "-f0"}, .dir = "/d"},
    {.args = {"-Fb", "/d"}, .dir = "/d", .fsync = "never"},
    // The last one counts.
    {.args = {"-b", "/d", "-f0", "-F"}, .dir = "/d", .fsync = "never"},
    {.args = {"-b", "/d", "-F", "-f0"}, .dir = "/d"},
    {.args = {"-b", "/d", "-f0", "-f9"}, .dir = "/d", .fsync = "9"},
    {.args = {"-f", "50"}, .fsync = "50"},
    {.args = {"-f0"}},
    {.args = {"-f-1"}, .fsync = "86400000"},
    {.args = {"-F"}, .fsync = "never"},
    {.args = {"-s", "10485760"}, .segment = 10485760},
    {.args = {"-s4096"}, .segment = 4096},
    {.args = {"-s0"}, .segment = 4096},
    {.args = {"-s-1"}, .segment = UINT64_C(17179869184)},
    {.args = {"-b", "/d", "--set", "journal.fsync=always"}, .dir = "/d"},
    {.args = {"-V"}, .verbose = true},
    {.args = {"-VVV"}, .verbose = true},
    {.args = {"-c"}, .notes = 1},
    {.args = {"-n"}, .notes = 1},
    {.args = {"-cnc", "-z", "2000000000", "-n"}, .limit = 1073741824, .limited = true, .notes = 3},
    {.args = {"-VFVu", "nobody"}, .user = "nobody", .verbose = true, .fsync = "never"},
    {.args = {"-VFVunobody"}, .user = "nobody", .verbose = true, .fsync = "never"},
    {.args = {"-Fp7", "-Vz", "9"},
     .listen = "0.0.0.0:7",
     .limit = 9,
     .limited = true,
     .verbose = true,
     .fsync = "never"},
    // A value may look like a flag.
    {.args = {"-u", "-v"}, .user = "-v"},
    // Ours among them; --set has the last word wherever it stands.
    {.args = {"--set", "server.user=me", "-u", "nobody"}, .user = "me"},
    {.args = {"-p", "7", "--set", "beanstalk.listen=:8"}, .listen = ":8"},
    {.args = {"--set", "beanstalk.max_job_size=5", "-V"},
     .limit = 5,
     .limited = true,
     .verbose = true},
};

// Only -l and -p say where to listen, and then nothing else does.
static bool says_where(const struct good_case *c)
{
    for (size_t i = 0; i < ARGS_MAX && c->args[i]; i++) {
        if (c->args[i][0] == '-' && (c->args[i][1] == 'l' || strchr(c->args[i], 'p'))) {
            return true;
        }
    }
    return false;
}

static void check_good(const struct good_case *c, const struct settings *settings)
{
    const struct bean_options *bean = settings->protocols[0].options;
    bool alone = says_where(c);

    assert_string_equal(settings->protocols[0].listen, c->listen ? c->listen : LISTEN);
    assert_string_equal(settings->protocols[1].listen, alone ? "" : "127.0.0.1:4730");
    assert_string_equal(settings->protocols[2].listen, alone ? "" : "127.0.0.1:8080");
    assert_string_equal(settings->protocols[3].listen, alone ? "" : "127.0.0.1:9180");
    assert_string_equal(settings->server.user, c->user ? c->user : "");
    assert_int_equal(bean->max_job_size, c->limited ? c->limit : SIZE);
    assert_int_equal(settings->server.log_level, c->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
    assert_string_equal(settings->journal.dir, c->dir ? c->dir : "");
    assert_string_equal(settings->journal.fsync, c->fsync ? c->fsync : "always");
    assert_int_equal(settings->journal.segment_size, c->segment ? c->segment : 67108864);
}

static void every_flag_means_the_same_as_in_beanstalkd(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_cases / sizeof *good_cases; i++) {
        const struct good_case *c = &good_cases[i];
        struct command_line options;
        struct settings *settings;
        struct error_text why = {""};
        enum exit_reason result;

        parse(&options, c->args, &why, &result);
        if (result != EXIT_REASON_NONE) {
            fail_msg("%s: %s", c->args[0], why.text);
        }
        assert_int_equal(options.codes, EXIT_CODES_BEANSTALKD);
        assert_int_equal(options.action, ACTION_RUN);
        assert_int_equal(options.notes.count, c->notes);
        settings = load(&options);
        assert_non_null(settings);
        check_good(c, settings);
        settings_free(settings);
        command_line_clear(&options);
    }
}

static const struct bad_case {
    const char *args[ARGS_MAX];
    int code; // the exit code
    const char *why;
} bad_cases[] = {
    {{"-l"}, 5, "-l: a value is missing"},
    {{"-p"}, 5, "-p: a value is missing"},
    {{"-b"}, 5, "-b: a value is missing"},
    {{"-f"}, 5, "-f: a value is missing"},
    {{"-z"}, 5, "-z: a value is missing"},
    {{"-s"}, 5, "-s: a value is missing"},
    {{"-u"}, 5, "-u: a value is missing"},
    {{"-VFp"}, 5, "-p: a value is missing"},
    {{"-l", ""}, 5, "-l: the value is empty"},
    {{"-u", ""}, 5, "-u: the value is empty"},
    {{"-f", "often"}, 5, "-f: `often` is not a whole number"},
    {{"-s", "1k"}, 5, "-s: `1k` is not a whole number"},
    {{"-z", "abc"}, 5, "-z: `abc` is not a whole number"},
    {{"-zabc"}, 5, "-z: `abc` is not a whole number"},
    {{"-z", "-"}, 5, "-z: `-` is not a whole number"},
    {{"-z", ""}, 5, "-z: `` is not a whole number"},
    {{"-z", "-v"}, 5, "-z: `-v` is not a whole number"},
    {{"-VxF"}, 5, "-x: no such option"},
    {{"-V", "-U", "nobody"}, 5, "-U: no such option"},
    {{"-V", "--colour"}, 5, "--colour: no such option"},
    {{"-V", "extra"}, 5, "extra: no such argument"},
    {{"-p", "65536"}, 111, "-p: `65536` is not between 0 and 65535"},
    {{"-p", "99999999999999999999999"}, 111, "is not between 0 and 65535"},
    {{"-p", "no-such-service"}, 111, "-p: `no-such-service` is neither a port nor"},
    {{"-p", "-v"}, 111, "-p: `-v` is neither a port nor"},
    {{"-l", "10.0.0.1 10.0.0.2"}, 111, "-l: `10.0.0.1 10.0.0.2` is not an address"},
    {{"-b", ""}, 5, "-b: the value is empty"},
    // Nothing of beanstalkd's was there: our own exit codes.
    {{"-x"}, 2, "-x: no such option"},
    {{"-C"}, 2, "-C: a value is missing"},
    {{"--config"}, 2, "--config: a value is missing"},
    {{"--version=3"}, 2, "--version=3: no such option"},
    {{"extra"}, 2, "extra: no such argument"},
};

static void bad_use_has_the_exit_code_of_beanstalkd(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_cases / sizeof *bad_cases; i++) {
        const struct bad_case *c = &bad_cases[i];
        struct command_line options;
        struct error_text why = {""};
        enum exit_reason result;

        parse(&options, c->args, &why, &result);
        if (!strstr(why.text, c->why)) {
            fail_msg("%s: expected \"%s\", got \"%s\"", c->args[0], c->why, why.text);
        }
        if (exit_reason_code(result, options.codes) != c->code) {
            fail_msg("%s: %d", c->args[0], exit_reason_code(result, options.codes));
        }
        command_line_clear(&options);
    }
}

// Jobs of that directory would be brought in and kept nowhere.
static void a_journal_cannot_be_taken_away_from_b_but_with_what_it_imports(void **state)
{
    static const char *const bad[] = {"-b", "/d", "--set", "journal.dir=", NULL};
    static const char *const good[] = {
        "-b", "/d", "--set", "journal.dir=", "--set", "journal.import=", NULL};
    struct command_line options;
    struct settings *settings;
    enum exit_reason result;
    struct error_text why;

    (void)state;
    parse(&options, bad, &why, &result);
    assert_int_equal(result, EXIT_REASON_NONE);
    assert_null(load(&options));
    command_line_clear(&options);
    parse(&options, good, &why, &result);
    assert_int_equal(result, EXIT_REASON_NONE);
    settings = load(&options);
    assert_string_equal(settings->journal.dir, "");
    settings_free(settings);
    command_line_clear(&options);
}

static void service_name_is_a_port(void **state)
{
    static const char *const args[] = {"-p", "http", NULL};
    struct command_line options;
    struct error_text why = {""};
    enum exit_reason result;

    (void)state;
    parse(&options, args, &why, &result);
    if (result != EXIT_REASON_NONE) {
        // A machine without /etc/services has no names.
        assert_non_null(strstr(why.text, "neither a port nor the name of a service"));
    } else {
        assert_string_equal(options.sets.all[0], "beanstalk.listen=0.0.0.0:80");
    }
    command_line_clear(&options);
}

// As in beanstalkd, later arguments are ignored, even if they are wrong.
static void version_and_help_end_the_reading(void **state)
{
    static const struct {
        const char *args[ARGS_MAX];
        enum action action;
    } cases[] = {
        {{"-v"}, ACTION_VERSION},
        {{"-h"}, ACTION_HELP},
        {{"-vx"}, ACTION_VERSION},
        {{"-hx"}, ACTION_HELP},
        {{"-Vv", "extra"}, ACTION_VERSION},
        {{"-c", "-n", "-v"}, ACTION_VERSION},
        {{"-b", "/tmp", "-v"}, ACTION_VERSION},
        {{"--version"}, ACTION_VERSION},
        {{"--help"}, ACTION_HELP},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command_line options;
        struct error_text why;
        enum exit_reason result;

        parse(&options, cases[i].args, &why, &result);
        assert_int_equal(result, EXIT_REASON_NONE);
        assert_int_equal(options.action, cases[i].action);
        command_line_clear(&options);
    }
}

static void our_own_options_do_not_take_its_place(void **state)
{
    static const char *const args[] = {"-C", "a.conf", "--set", "server.log_level=warn", NULL};
    struct command_line options;
    struct settings *settings;
    struct error_text why;
    enum exit_reason result;

    (void)state;
    parse(&options, args, &why, &result);
    assert_int_equal(result, EXIT_REASON_NONE);
    assert_int_equal(options.codes, EXIT_CODES_OURS);
    settings = load(&options);
    assert_string_equal(settings->protocols[0].listen, "127.0.0.1:11300");
    settings_free(settings);
    command_line_clear(&options);
}

static void any_failed_allocation_fails_the_whole(void **state)
{
    static const char *const args[] = {"-VFVu", "nobody", "-p7", "-z", "5", "-b/d", "-s9", NULL};

    (void)state;
    for (size_t n = 1;; n++) {
        struct command_line options;
        struct error_text why;
        enum exit_reason result;
        size_t count;

        nth_alloc_fail(n);
        parse(&options, args, &why, &result);
        count = nth_alloc_count();
        nth_alloc_fail(0);
        command_line_clear(&options);
        if (count < n) {
            assert_int_equal(result, EXIT_REASON_NONE);
            break;
        }
        assert_int_equal(result, EXIT_REASON_OTHER);
        assert_string_equal(why.text, "out of memory");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flag_means_the_same_as_in_beanstalkd),
        cmocka_unit_test(bad_use_has_the_exit_code_of_beanstalkd),
        cmocka_unit_test(a_journal_cannot_be_taken_away_from_b_but_with_what_it_imports),
        cmocka_unit_test(service_name_is_a_port),
        cmocka_unit_test(version_and_help_end_the_reading),
        cmocka_unit_test(our_own_options_do_not_take_its_place),
        cmocka_unit_test(any_failed_allocation_fails_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
