/* SPDX-License-Identifier: MIT */
// The settings of the process as a whole, the file that documents them, and the command line.
#include "server/config/settings.h"

#include "core/base/log.h"
#include "server/config/journal_settings.h"
#include "server/config/setting.h"
#include "server/config/command_line.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct settings *load(const char *path, const char *set, struct error_text *why)
{
    const struct settings_source source = {.path = path, .sets = &set, .set_count = set ? 1 : 0};

    return settings_load(&source, why);
}

static void defaults_need_no_file(void **state)
{
    struct error_text why;
    struct settings *settings = load(NULL, NULL, &why);

    (void)state;
    assert_non_null(settings);
    assert_int_equal(settings->server.log_level, LOG_LEVEL_INFO);
    assert_string_equal(settings->server.log_file, "");
    assert_string_equal(settings->protocols[0].listen, "127.0.0.1:11300");
    settings_free(settings);
}

static void set_reaches_every_section(void **state)
{
    struct error_text why;
    struct settings *settings = load(NULL, "beanstalk.listen=:0 unix:/s", &why);

    (void)state;
    assert_string_equal(settings->protocols[0].listen, ":0 unix:/s");
    settings_free(settings);
    settings = load(NULL, "server.log_level=debug", &why);
    assert_int_equal(settings->server.log_level, LOG_LEVEL_DEBUG);
    settings_free(settings);
}

static void environment_overrides_the_file_and_set_the_environment(void **state)
{
    static const char *const environment[] = {"TANDEM_SERVER_LOG_LEVEL=debug",
                                              "TANDEM_SERVER_MAX_QUEUES=3", NULL};
    static const char *const set = "server.max_queues=4";
    char path[] = "/tmp/tandem-environment-XXXXXX";
    struct settings_source source = {
        .path = path, .environment = environment, .sets = &set, .set_count = 1};
    int fd = mkstemp(path);
    struct error_text why;
    struct settings *settings;

    (void)state;
    assert_true(dprintf(fd, "[server]\nlog_level = warn\nmax_queues = 2\nmax_memory = 1G\n") > 0);
    settings = settings_load(&source, &why);
    (void)close(fd);
    (void)unlink(path);
    assert_non_null(settings);
    assert_int_equal(settings->environment_count, 2);
    assert_int_equal(settings->server.log_level, LOG_LEVEL_DEBUG);
    assert_int_equal(settings->server.max_queues, 4);
    assert_int_equal(settings->server.max_memory, 1 << 30);
    settings_free(settings);
}

// Every key has a variable, which is not ignored as one of another program.
static void every_key_can_be_set_in_the_environment(void **state)
{
    struct error_text why;
    struct settings *settings = load(NULL, NULL, &why);

    (void)state;
    for (size_t i = 0; i < settings->config.count; i++) {
        const struct config_table *table = &settings->config.tables[i];

        for (const struct option *option = table->options; option->name; option++) {
            const char *section = option->section ? option->section : table->section;
            char variable[1024];
            const char *const environment[] = {variable, NULL};
            size_t count;
            int len = snprintf(variable, sizeof variable, "TANDEM_%s_%s=%s", section, option->name,
                               option->default_value);

            for (char *at = variable; *at != '='; at++) {
                *at = (char)toupper((unsigned char)*at);
            }
            assert_in_range(len, 1, sizeof variable - 1);
            assert_true(
                config_set_from_environment(&settings->config, environment, true, &count, &why));
            assert_int_equal(count, 1);
        }
    }
    settings_free(settings);
}

static void malformed_address_is_found_when_settings_are_read(void **state)
{
    struct error_text why;

    (void)state;
    assert_null(load(NULL, "beanstalk.listen=localhost", &why));
    assert_non_null(strstr(why.text, "listen: `localhost`: expected host:port"));
}

static uint64_t kept_before(const char *set, const char *other)
{
    const char *const sets[] = {set, other};
    const struct settings_source source = {.sets = sets, .set_count = other ? 2 : 1};
    struct error_text why;
    struct settings *settings = settings_load(&source, &why);
    uint64_t before;

    assert_non_null(settings);
    before = connection_memory_before(settings);
    settings_free(settings);
    return before;
}

static void a_connection_may_use_the_memory_beside_the_largest_job(void **state)
{
    (void)state;
    assert_int_equal(kept_before("server.max_connection_memory=0", NULL), 64 << 20);
    assert_int_equal(kept_before("http.max_result=1G", NULL), 64 << 20);
    assert_int_equal(kept_before("server.max_connection_memory=66M", NULL), 2 << 20);
    assert_int_equal(kept_before("server.max_connection_memory=1026M", "beanstalk.max_job_size=1G"),
                     2 << 20);
}

static void a_connection_must_have_room_for_every_job(void **state)
{
    static const char *const larger[] = {"beanstalk.max_job_size=70M", "gearman.max_job_size=70M",
                                         "http.max_body=70M", "http.max_result=70M"};
    struct error_text why;

    (void)state;
    assert_null(load(NULL, "server.max_connection_memory=65M", &why));
    assert_non_null(strstr(why.text, "[server] max_connection_memory: must be 0 or at least "
                                     "69206016, 2M more than the largest job"));
    for (size_t i = 0; i < 4; i++) {
        const char *const sets[] = {"server.max_connection_memory=71M", larger[i]};
        const struct settings_source source = {.sets = sets, .set_count = 2};

        assert_null(settings_load(&source, &why));
    }
}

static void sync_is_always_never_or_a_number_of_milliseconds(void **state)
{
    static const struct {
        const char *text;
        nsec_t every_for;
    } good[] = {
        {"always", 0},         {"0", 0}, {"1", NSEC_PER_MSEC}, {"86400000", 86400 * NSEC_PER_SEC},
        {"never", NSEC_NEVER},
    };
    static const char *const bad[] = {
        "", "often", "-1", "5s", " 5", "86400001", "99999999999999999999999"};
    char set[64];
    struct error_text why;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        nsec_t every_for = -1;

        assert_true(fsync_parse(good[i].text, &every_for, &why));
        assert_int_equal(every_for, good[i].every_for);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        (void)snprintf(set, sizeof set, "journal.fsync=%s", bad[i]);
        assert_null(load(NULL, set, &why));
        assert_non_null(strstr(why.text, "fsync: "));
    }
}

static void any_failed_allocation_fails_the_whole(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        struct error_text why;
        struct settings *settings;

        nth_alloc_fail(n);
        settings = load(NULL, "server.log_file=/tmp/x", &why);
        if (nth_alloc_count() < n) {
            assert_non_null(settings);
            settings_free(settings);
            break;
        }
        assert_null(settings);
        assert_non_null(strstr(why.text, "out of memory"));
    }
    nth_alloc_fail(0);
}

static void expect_refused(const char *set, const char *words)
{
    struct error_text why;

    assert_null(load(NULL, set, &why));
    if (!strstr(why.text, words)) {
        fail_msg("expected \"%s\" in: %s", words, why.text);
    }
}

static void half_of_the_processors_have_io_threads_from_four_on(void **state)
{
    static const struct {
        unsigned processors;
        unsigned threads;
    } cases[] = {{1, 0}, {2, 0}, {3, 0}, {4, 2}, {8, 4}, {16, 8}, {17, 8}, {128, 8}};
    unsigned threads;
    struct error_text why;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(io_threads_auto(cases[i].processors), cases[i].threads);
    }
    assert_true(io_threads_parse("64", &threads, &why));
    assert_int_equal(threads, 64);
    assert_true(io_threads_parse("0", &threads, &why));
    assert_int_equal(threads, 0);
}

static void limit_of_the_container_bounds_the_processors(void **state)
{
    const struct cgroup_limits none = {0}, one = {.processors = 1}, many = {.processors = 1 << 20};
    unsigned count = processors_available(&none);

    (void)state;
    assert_true(count > 0);
    assert_int_equal(processors_available(&one), 1);
    assert_int_equal(processors_available(&many), count);
}

static void memory_follows_from_the_limit_of_the_container_if_it_is_auto(void **state)
{
    static const struct {
        uint64_t memory, most;
    } cases[] = {{0, 0}, {64, 16}, {128, 58}, {256, 174}, {512, 384}, {1024, 768}, {65536, 49152}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cgroup_limits limits = {.memory = cases[i].memory << 20};
        uint64_t most = max_memory_in_force(OPTION_AUTO, &limits);

        assert_int_equal(most >> 20, cases[i].most);
        // What the process needs beside it fits, if the container is not tiny.
        assert_true(cases[i].memory < 128 || most + most / 10 + (64 << 20) <= limits.memory);
        assert_int_equal(max_memory_in_force(5, &limits), 5);
        assert_int_equal(max_memory_in_force(0, &limits), 0);
    }
}

static void memory_may_be_auto_but_no_other_size(void **state)
{
    struct error_text why;
    struct settings *settings = load(NULL, "server.max_memory=auto", &why);
    char text[16];

    (void)state;
    assert_non_null(settings);
    assert_int_equal(settings->server.max_memory, OPTION_AUTO);
    for (const struct option *option = settings->config.tables[0].options; option->name; option++) {
        if (strcmp(option->name, "max_memory") == 0) {
            setting_text(option, &settings->server, text, sizeof text);
        }
    }
    assert_string_equal(text, "auto");
    settings_free(settings);
    expect_refused("server.max_memory=Auto", "`Auto` is not `auto` or a size");
    expect_refused("server.max_kept_results=auto", "`auto` is not a size");
}

static void tls_is_off_by_default_and_threads_are_bounded(void **state)
{
    struct error_text why;
    struct settings *settings = load(NULL, NULL, &why);

    (void)state;
    assert_string_equal(settings->server.io_threads, "auto");
    assert_int_equal(settings->server.io_spread, IO_SPREAD_AUTO);
    assert_int_equal(settings->server.handshake_timeout, 10);
    assert_string_equal(settings->tls.certificate, "");
    assert_int_equal(settings->tls.client_certs, TLS_CLIENT_CERTS_NONE);
    assert_int_equal(settings->tls.min_version, TLS_MIN_VERSION_1_2);
    settings_free(settings);
    expect_refused("server.io_threads=65", "`65` is neither `auto` nor a number from 0 to 64");
    expect_refused("server.io_threads=-1", "`-1` is neither `auto` nor a number from 0 to 64");
    expect_refused("server.io_threads=", "`` is neither `auto` nor a number from 0 to 64");
    expect_refused("server.handshake_timeout=0", "`0` is not between 1 and 3600");
    expect_refused("tls.min_version=1.1", "`1.1` is not one of 1.2|1.3");
    expect_refused("tls.client_certs=yes", "`yes` is not one of none|optional|required");
}

static void import_needs_a_known_source_and_a_journal(void **state)
{
    struct error_text why;
    struct settings *settings = load(NULL, NULL, &why);

    (void)state;
    assert_string_equal(settings->journal.import, "");
    settings_free(settings);
    expect_refused("journal.import=sqlite", "`sqlite` is not KIND:PLACE with one of these kinds:");
    expect_refused("journal.import=other:/tmp", "`other:...` is not KIND:PLACE");
}

static struct settings *load_all(const char *const *sets, struct error_text *why)
{
    struct settings_source source = {.sets = sets};

    while (sets[source.set_count]) {
        source.set_count++;
    }
    return settings_load(&source, why);
}

#define LOAD_ALL(why, ...) load_all((const char *const[]){__VA_ARGS__, NULL}, why)
#define POSTGRES "journal.store=postgres", "journal.postgres=dbname=jobs"

static void a_journal_in_postgres_needs_a_database_and_no_directory(void **state)
{
    struct error_text why;
    struct settings *settings = LOAD_ALL(&why, POSTGRES, "journal.shard=two_2",
                                         "journal.address=10.0.0.1", "journal.lease_ttl=9");

    (void)state;
    assert_non_null(settings);
    assert_int_equal(settings->journal.store, STORE_POSTGRES);
    assert_string_equal(settings->journal.postgres, "dbname=jobs");
    assert_string_equal(settings->journal.shard, "two_2");
    assert_string_equal(settings->journal.address, "10.0.0.1");
    assert_int_equal(settings->journal.lease_ttl, 9);
    settings_free(settings);
    assert_null(LOAD_ALL(&why, "journal.postgres=dbname=jobs"));
    assert_string_equal(why.text, "[journal] postgres: needs `store = postgres`");
    assert_null(LOAD_ALL(&why, "journal.store=postgres"));
    assert_string_equal(why.text, "[journal] store = postgres: needs `postgres`, the database");
    assert_null(LOAD_ALL(&why, POSTGRES, "journal.dir=/tmp"));
    assert_non_null(strstr(why.text, "dir: must be empty with `store = postgres`"));
    assert_null(LOAD_ALL(&why, POSTGRES, "journal.import=beanstalkd:/tmp"));
    assert_non_null(strstr(why.text, "import: needs `store = file`"));
}

static void names_of_shards_and_hosts_are_checked(void **state)
{
    (void)state;
    expect_refused("journal.shard=",
                   "`` is not a name of 1 to 32 characters of a to z, 0 to 9 and _");
    expect_refused("journal.shard=Main", "`Main` is not a name");
    expect_refused("journal.shard=a-b", "`a-b` is not a name");
    expect_refused("journal.shard=a23456789012345678901234567890123", "is not a name");
    expect_refused("journal.address=10.0.0.1 10.0.0.2", "neither a host name nor an IP address");
    expect_refused("journal.address=a=b", "neither a host name nor an IP address");
    expect_refused("journal.lease_ttl=0", "`0` is not between 1 and 60");
    expect_refused("journal.lease_ttl=61", "`61` is not between 1 and 60");
}

static void expect_shown(void (*show)(const char *text, FILE *file), const char *text,
                         const char *shown)
{
    char *written = NULL;
    size_t size;
    FILE *file = open_memstream(&written, &size);

    assert_non_null(file);
    show(text, file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(written, shown);
    free(written);
}

static void passwords_of_databases_are_not_shown(void **state)
{
    static const char *const texts[][2] = {
        {"", ""},
        {"dbname=a host=b,c port=1", "dbname=a host=b,c port=1"},
        {"password=b", "password=(hidden)"},
        {" host = a password = 'b c' user=d ", " host = a password = (hidden) user=d "},
        {"password='a\\'b c\\\\' user=d", "password=(hidden) user=d"},
        {"password=a\\ b user=d", "password=(hidden) user=d"},
        {"sslpassword=x passfile=/y", "sslpassword=(hidden) passfile=/y"},
        {"password=it is long", "password=(hidden) (hidden)"},
        {"user=a password='b", "user=a (hidden)"},
        {"user=a password=b\\", "user=a (hidden)"},
        {"secret", "(hidden)"},
        {"postgres://u:p@h,i:5/d?a=b", "postgres://u:(hidden)@h,i:5/d?a=b"},
        {"postgresql://u:p@q/?@h/d", "postgresql://u:(hidden)@h/d"},
        {"postgresql://u@h:5/d", "postgresql://u@h:5/d"},
        {"postgresql:///d?user=a&password=b&c=d", "postgresql:///d?user=a&password=(hidden)&c=d"},
        {"postgresql:///d?p%61ssword=b", "postgresql:///d?p%61ssword=(hidden)"},
        {"postgresql://h", "postgresql://h"},
        {"postgresql://", "postgresql://"},
        {"postgresql://h/d?", "postgresql://h/d?"},
        {"postgresql://h/d?a&", "postgresql://h/d?a&"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        expect_shown(conninfo_show, texts[i][0], texts[i][1]);
    }
    expect_shown(import_show, "beanstalkd:/password=x", "beanstalkd:/password=x");
    expect_shown(import_show, "gearmand-postgres:host=a password=b",
                 "gearmand-postgres:host=a password=(hidden)");
    expect_shown(import_show, "gearmand-postgres:postgresql://a:b@c?table=d",
                 "gearmand-postgres:postgresql://a:(hidden)@c?table=d");
}

// It is neither in the output of --check-config nor in the message about a wrong line.
static void a_password_does_not_leave_the_settings(void **state)
{
    struct error_text why;
    struct settings *settings =
        LOAD_ALL(&why, "journal.store=postgres", "journal.postgres=user=a password=geheim");
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    assert_non_null(settings);
    config_print(&settings->config, file);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "\npostgres = user=a password=(hidden)\n"));
    free(text);
    settings_free(settings);
    assert_null(load(NULL, "journal.import=postgres:password=geheim", &why));
    assert_null(strstr(why.text, "geheim"));
    assert_non_null(strstr(why.text, "--set journal.import: import: `postgres:...` is not"));
}

// Each in its place of the list is what the code takes it for.
static void choices_are_the_values_that_the_code_knows(void **state)
{
    struct error_text why;
    struct settings *settings = load(NULL, "server.io_spread=always", &why);

    (void)state;
    assert_int_equal(settings->server.io_spread, IO_SPREAD_ALWAYS);
    settings_free(settings);
    settings = load(NULL, "tls.min_version=1.3", &why);
    assert_int_equal(settings->tls.min_version, TLS_MIN_VERSION_1_3);
    settings_free(settings);
    settings = load(NULL, "tls.client_certs=optional", &why);
    assert_int_equal(settings->tls.client_certs, TLS_CLIENT_CERTS_OPTIONAL);
    settings_free(settings);
    settings = load(NULL, "tls.client_certs=required", &why);
    assert_int_equal(settings->tls.client_certs, TLS_CLIENT_CERTS_REQUIRED);
    settings_free(settings);
    settings = LOAD_ALL(&why, "journal.role=standby", "journal.standby=refuse",
                        "journal.require_quorum=yes");
    assert_int_equal(settings->journal.role, STORE_ROLE_STANDBY);
    assert_int_equal(settings->journal.standby, STANDBY_REFUSE);
    assert_int_equal(settings->journal.quorum, QUORUM_YES);
    settings_free(settings);
}

// Whether the options have the key with this default.
static bool has_default(const struct option *option, const char *name, const char *value)
{
    for (; option->name; option++) {
        if (strcmp(option->name, name) == 0) {
            return strcmp(option->default_value, value) == 0;
        }
    }
    return false;
}

// Whether the tables have.
static bool is_documented_right(const struct config *config, const char *section, const char *name,
                                const char *value)
{
    const char *unused;
    const struct config_sections *kind = config_kind_of(config, section, &unused);

    for (size_t i = 0; i < config->count; i++) {
        const struct config_table *table = &config->tables[i];

        if (strcmp(table->section, section) == 0 && has_default(table->options, name, value)) {
            return true;
        }
    }
    return kind && has_default(kind->kind->options, name, value);
}

static size_t count_keys(const struct config *config)
{
    size_t count = 0;

    for (size_t i = 0; i < config->count; i++) {
        for (const struct option *option = config->tables[i].options; option->name; option++) {
            // A key of another section is documented there.
            count += !option->section;
        }
    }
    for (size_t i = 0; i < config->kinds; i++) {
        for (const struct option *option = config->named[i].kind->options; option->name; option++) {
            count++;
        }
    }
    return count;
}

static void example_file_has_every_key_with_its_default_and_no_other(void **state)
{
    struct error_text why;
    struct settings *settings = load(TANDEMD_CONF, NULL, &why);
    FILE *file = fopen(TANDEMD_CONF, "r");
    char section[64] = "";
    char line[256];
    size_t keys = 0;

    (void)state;
    assert_non_null(settings);
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char name[64];
        char value[128] = "";

        if (sscanf(line, "[%63[^]]]", section) == 1 || sscanf(line, "#[%63[^]]]", section) == 1 ||
            sscanf(line, "#%63[a-z_] =", name) != 1) {
            continue;
        }
        (void)sscanf(line, "#%*[a-z_] = %127[^\n]", value);
        if (!is_documented_right(&settings->config, section, name, value)) {
            fail_msg("[%s] %s = %s is not what the tables say", section, name, value);
        }
        keys++;
    }
    (void)fclose(file);
    assert_int_equal(keys, count_keys(&settings->config));
    settings_free(settings);
}

#define ARGS(...) ((char *[]){"tandemd", __VA_ARGS__, NULL})

static enum exit_reason parse(struct command_line *options, char **argv, struct error_text *why)
{
    int argc = 0;

    while (argv[argc]) {
        argc++;
    }
    return command_line_parse(options, argc, argv, why);
}

static void command_line_names_file_and_settings(void **state)
{
    struct command_line options;
    struct error_text why;

    (void)state;
    assert_int_equal(parse(&options, ARGS("-C", "a.conf", "--set", "x.y=1", "--set=x.z=2"), &why),
                     EXIT_REASON_NONE);
    assert_int_equal(options.action, ACTION_RUN);
    assert_string_equal(options.config_path, "a.conf");
    assert_int_equal(options.sets.count, 2);
    assert_string_equal(options.sets.all[0], "x.y=1");
    assert_string_equal(options.sets.all[1], "x.z=2");
    command_line_clear(&options);
    assert_int_equal(parse(&options, ARGS("--config", "b.conf", "--check-config"), &why),
                     EXIT_REASON_NONE);
    assert_int_equal(options.action, ACTION_CHECK);
    assert_string_equal(options.config_path, "b.conf");
    assert_null(options.queue);
    assert_false(options.repair || options.ignore_binlog);
    command_line_clear(&options);
    assert_int_equal(parse(&options, ARGS("--check-config", "--queue", "mail"), &why),
                     EXIT_REASON_NONE);
    assert_string_equal(options.queue, "mail");
    command_line_clear(&options);
    assert_int_equal(parse(&options, ARGS("--repair", "--ignore-binlog"), &why), EXIT_REASON_NONE);
    assert_true(options.repair && options.ignore_binlog);
    assert_int_equal(options.codes, EXIT_CODES_OURS);
    command_line_clear(&options);
    assert_int_equal(parse(&options, ARGS("--init-store"), &why), EXIT_REASON_NONE);
    assert_int_equal(options.action, ACTION_INIT_STORE);
    command_line_clear(&options);
}

static void wrong_command_line_is_an_error_that_names_the_argument(void **state)
{
    struct command_line options;
    struct error_text why;

    (void)state;
    assert_int_equal(parse(&options, ARGS("--sett", "x"), &why), EXIT_REASON_USAGE);
    assert_string_equal(why.text, "--sett: no such option (see --help)");
    command_line_clear(&options);
    assert_int_equal(parse(&options, ARGS("-C"), &why), EXIT_REASON_USAGE);
    assert_string_equal(why.text, "-C: a value is missing (see --help)");
    command_line_clear(&options);
    assert_int_equal(parse(&options, ARGS("start"), &why), EXIT_REASON_USAGE);
    assert_string_equal(why.text, "start: no such argument (see --help)");
    command_line_clear(&options);
    assert_int_equal(parse(&options, ARGS("--queue", "mail"), &why), EXIT_REASON_USAGE);
    assert_string_equal(why.text, "--queue: only with --check-config");
    command_line_clear(&options);
}

static void help_lists_every_option(void **state)
{
    static const char *const words[] = {
        "--config",   "--set",    "--check-config",  "--version", "--help",
        "Exit codes", "--repair", "--ignore-binlog", "--queue",   "--init-store"};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_non_null(strstr(command_line_help, words[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_need_no_file),
        cmocka_unit_test(set_reaches_every_section),
        cmocka_unit_test(environment_overrides_the_file_and_set_the_environment),
        cmocka_unit_test(every_key_can_be_set_in_the_environment),
        cmocka_unit_test(malformed_address_is_found_when_settings_are_read),
        cmocka_unit_test(a_connection_may_use_the_memory_beside_the_largest_job),
        cmocka_unit_test(a_connection_must_have_room_for_every_job),
        cmocka_unit_test(sync_is_always_never_or_a_number_of_milliseconds),
        cmocka_unit_test(half_of_the_processors_have_io_threads_from_four_on),
        cmocka_unit_test(limit_of_the_container_bounds_the_processors),
        cmocka_unit_test(memory_follows_from_the_limit_of_the_container_if_it_is_auto),
        cmocka_unit_test(memory_may_be_auto_but_no_other_size),
        cmocka_unit_test(tls_is_off_by_default_and_threads_are_bounded),
        cmocka_unit_test(a_journal_in_postgres_needs_a_database_and_no_directory),
        cmocka_unit_test(names_of_shards_and_hosts_are_checked),
        cmocka_unit_test(passwords_of_databases_are_not_shown),
        cmocka_unit_test(a_password_does_not_leave_the_settings),
        cmocka_unit_test(import_needs_a_known_source_and_a_journal),
        cmocka_unit_test(choices_are_the_values_that_the_code_knows),
        cmocka_unit_test(any_failed_allocation_fails_the_whole),
        cmocka_unit_test(example_file_has_every_key_with_its_default_and_no_other),
        cmocka_unit_test(command_line_names_file_and_settings),
        cmocka_unit_test(wrong_command_line_is_an_error_that_names_the_argument),
        cmocka_unit_test(help_lists_every_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
