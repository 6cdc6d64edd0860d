/* SPDX-License-Identifier: MIT */
// Where the configuration is looked for, and the files that a service manager hands over.
#include "server/config/command_line.h"
#include "server/config/settings.h"
#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Distributions set the folder, and then it does not follow from the prefix.
static bool build_sets_folder(void)
{
    return TANDEM_SYSCONFDIR[0] == '/';
}

static void configuration_is_where_the_build_or_the_prefix_of_the_program_has_it(void **state)
{
    static const struct {
        const char *program;
        const char *config;
    } cases[] = {
        {"/usr/bin/tandemd", "/etc/tandem/tandemd.conf"},
        {"/bin/tandemd", "/etc/tandem/tandemd.conf"},
        {"/usr/local/bin/tandemd", "/usr/local/etc/tandem/tandemd.conf"},
        {"/home/ada/tandem/bin/tandemd", "/home/ada/tandem/etc/tandem/tandemd.conf"},
        {"/opt/tandem/bin/tandemd", "/etc/opt/tandem/tandem/tandemd.conf"},
        {"/opt/bin/tandemd", "/opt/etc/tandem/tandemd.conf"},
        {"/src/tandem/build/release/server/tandemd", "/etc/tandem/tandemd.conf"},
        {"/home/cabin/tandemd", "/etc/tandem/tandemd.conf"},
        {"tandemd", "/etc/tandem/tandemd.conf"},
        {"", "/etc/tandem/tandemd.conf"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[PATH_MAX];

        assert_true(default_config_of(cases[i].program, path));
        assert_string_equal(path, build_sets_folder() ? TANDEM_SYSCONFDIR "/tandem/tandemd.conf"
                                                      : cases[i].config);
    }
}

static void path_that_is_too_long_is_not_used(void **state)
{
    static const char end[] = "/bin/tandemd";
    char program[PATH_MAX];
    char path[PATH_MAX];

    (void)state;
    memset(program, 'a', sizeof program);
    program[0] = '/';
    memcpy(program + sizeof program - sizeof end, end, sizeof end);
    assert_int_equal(default_config_of(program, path), build_sets_folder());
}

static struct settings *load(const char *set, struct error_text *why)
{
    const struct settings_source source = {.sets = &set, .set_count = 1, .again = true};

    return settings_load(&source, why);
}

static void configuration_from_nowhere_can_be_read_again(void **state)
{
    static const char *const sets[] = {"beanstalk.listen=:1"};
    struct settings_source source = {.path = "/dev/null", .sets = sets, .set_count = 1};
    struct error_text why;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct settings *settings = settings_load(&source, &why);

        assert_non_null(settings);
        assert_string_equal(settings->protocols[0].listen, ":1");
        settings_free(settings);
        source.again = true;
    }
}

static void credential_is_a_file_in_the_managers_directory(void **state)
{
    struct error_text why;
    struct settings *settings;

    (void)state;
    (void)setenv("CREDENTIALS_DIRECTORY", "/run/credentials/tandemd.service", 1);
    settings = load("tls.key=credential:tandemd.key", &why);
    assert_non_null(settings);
    assert_string_equal(settings->tls.key, "/run/credentials/tandemd.service/tandemd.key");
    settings_free(settings);
    settings = load("server.access_file=credential:..rules", &why);
    assert_non_null(settings);
    assert_string_equal(settings->server.access_file, "/run/credentials/tandemd.service/..rules");
    settings_free(settings);
    // A file of that name, since no key of the manager's would be written to.
    settings = load("server.log_file=credential:log", &why);
    assert_non_null(settings);
    assert_string_equal(settings->server.log_file, "credential:log");
    settings_free(settings);
}

static struct settings *load_database(struct error_text *why)
{
    static const char *const sets[] = {"journal.store=postgres", "journal.postgres=credential:db"};
    const struct settings_source source = {.sets = sets, .set_count = 2};

    return settings_load(&source, why);
}

static void write_credential(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void credential_may_be_the_connection_string_of_the_database(void **state)
{
    char dir[] = "/tmp/tandem-credential-XXXXXX";
    char path[64];
    char line[8192];
    struct error_text why;
    struct settings *settings;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/db", dir);
    (void)setenv("CREDENTIALS_DIRECTORY", dir, 1);
    assert_null(load_database(&why));
    assert_non_null(strstr(why.text, "No such file"));
    write_credential(path, "host=a password=b\n");
    settings = load_database(&why);
    assert_non_null(settings);
    assert_string_equal(settings->journal.postgres, "host=a password=b");
    settings_free(settings);
    write_credential(path, "");
    assert_null(load_database(&why));
    assert_non_null(strstr(why.text, "needs `postgres`"));
    write_credential(path, "host=a\npassword=geheim\n");
    assert_null(load_database(&why));
    assert_non_null(strstr(why.text, "not one line"));
    assert_null(strstr(why.text, "geheim"));
    memset(line, 'a', sizeof line);
    line[4096] = '\0';
    write_credential(path, line);
    assert_null(load_database(&why));
    line[4095] = '\0';
    write_credential(path, line);
    settings = load_database(&why);
    assert_non_null(settings);
    settings_free(settings);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(dir), 0);
}

static void expect_refused(const char *set, const char *words)
{
    struct error_text why;

    assert_null(load(set, &why));
    assert_non_null(strstr(why.text, words));
}

static void credential_leads_nowhere_else(void **state)
{
    static const char *const sets[] = {"tls.key=credential:", "tls.key=credential:.",
                                       "tls.key=credential:..", "tls.key=credential:../key",
                                       "tls.certificate=credential:/etc/shadow"};

    (void)state;
    (void)setenv("CREDENTIALS_DIRECTORY", "/run/credentials/tandemd.service", 1);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        expect_refused(sets[i], "is not the name of a credential");
    }
}

static void without_credentials_a_credential_is_an_error(void **state)
{
    static const char words[] =
        "`credential:key`: no credentials were handed over ($CREDENTIALS_DIRECTORY)";

    (void)state;
    (void)unsetenv("CREDENTIALS_DIRECTORY");
    expect_refused("tls.key=credential:key", words);
    // Not below wherever it was started.
    (void)setenv("CREDENTIALS_DIRECTORY", "credentials", 1);
    expect_refused("http.tokens=credential:key", words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configuration_is_where_the_build_or_the_prefix_of_the_program_has_it),
        cmocka_unit_test(path_that_is_too_long_is_not_used),
        cmocka_unit_test(configuration_from_nowhere_can_be_read_again),
        cmocka_unit_test(credential_is_a_file_in_the_managers_directory),
        cmocka_unit_test(credential_may_be_the_connection_string_of_the_database),
        cmocka_unit_test(credential_leads_nowhere_else),
        cmocka_unit_test(without_credentials_a_credential_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
