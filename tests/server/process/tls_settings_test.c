/* SPDX-License-Identifier: MIT */
// The settings of TLS and the files that they name: at a check, at the start, and on SIGHUP.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANY_PORT_TLS "--set", "beanstalk.listen=tls:127.0.0.1:0"

static int certificates_setup(void **state)
{
    int result = sandbox_setup(state);

    sandbox_make_certificates(*state);
    return result;
}

#define TLS_TEST(name) cmocka_unit_test_setup_teardown(name, certificates_setup, sandbox_teardown)

// Text for a test, of which it has several at a time; `%s` is the directory of certificates.
struct text {
    char bytes[256];
};

static struct text in_dir(const struct sandbox *sandbox, const char *format)
{
    struct text text;
    const char *hole = strstr(format, "%s");

    assert_non_null(hole);
    (void)snprintf(text.bytes, sizeof text.bytes, "%.*s%s%s", (int)(hole - format), format,
                   sandbox->tls, hole + 2);
    return text;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void damage(const struct sandbox *sandbox, const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", sandbox->tls, name);
    write_file(path, "no longer what it was\n");
}

// The file of settings, with the certificate of that name and whatever else [server] is to have.
static void configure(const struct sandbox *sandbox, const char *name, const char *more)
{
    char text[512];

    (void)snprintf(text, sizeof text,
                   "[tls]\ncertificate = %s/%s.pem\nkey = %s/%s.key\n[server]\n%s\n", sandbox->tls,
                   name, sandbox->tls, name, more);
    write_file(sandbox->config, text);
}

static void address_with_tls_needs_a_certificate(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    static const char words[] = "[beanstalk] listen: an address with TLS needs a certificate in "
                                "[tls]";

    PROCESS_START(process, "-C", "/dev/null", ANY_PORT_TLS, "--check-config");
    process_expect_exit(process, 2, words);
    PROCESS_START(process, "-C", "/dev/null", ANY_PORT_TLS);
    process_expect_exit(process, 2, words);
}

// Neither a check nor a start takes them.
static void expect_refused(struct sandbox *sandbox, const char *certificate, const char *key,
                           const char *more, const char *words)
{
    struct text first = in_dir(sandbox, certificate);
    struct text second = in_dir(sandbox, key);

    PROCESS_START(&sandbox->process, "-C", "/dev/null", "--set", first.bytes, "--set", second.bytes,
                  "--set", more, "--check-config");
    process_expect_exit(&sandbox->process, 2, words);
    PROCESS_START(&sandbox->process, "-C", "/dev/null", ANY_PORT_TLS, "--set", first.bytes, "--set",
                  second.bytes, "--set", more);
    process_expect_exit(&sandbox->process, 2, words);
}

static void check_and_start_refuse_files_that_cannot_serve(void **state)
{
    struct sandbox *sandbox = *state;
    struct text missing = in_dir(sandbox, "tls.certificate %s/none.pem: No such file");
    struct text stray = in_dir(sandbox, "%s/client.key");
    struct text damaged = in_dir(sandbox, "tls.certificate %s/client.pem: ");

    expect_refused(sandbox, "tls.certificate=%s/none.pem", "tls.key=%s/server.key",
                   "tls.min_version=1.2", missing.bytes);
    expect_refused(sandbox, "tls.certificate=%s/server.pem", "tls.key=%s/client.key",
                   "tls.min_version=1.2", stray.bytes);
    expect_refused(sandbox, "tls.certificate=%s/server.pem", "tls.key=%s/server.key",
                   "tls.client_certs=required", "tls.client_c");
    expect_refused(sandbox, "tls.certificate=%s/server.pem", "tls.key=%s/server.key",
                   "tls.ciphers=NOTHING-LIKE-IT", "tls.ciphers");
    damage(sandbox, "client.pem");
    expect_refused(sandbox, "tls.certificate=%s/client.pem", "tls.key=%s/client.key",
                   "tls.min_version=1.2", damaged.bytes);
}

static void check_takes_files_that_can_serve(void **state)
{
    struct sandbox *sandbox = *state;
    struct text ca = in_dir(sandbox, "tls.client_ca=%s/ca.pem");

    configure(sandbox, "server", "");
    PROCESS_START(&sandbox->process, "-C", sandbox->config, "--check-config");
    process_expect_exit(&sandbox->process, 0, "/server.pem\n");
    PROCESS_START(&sandbox->process, "-C", sandbox->config, "--set", ca.bytes, "--set",
                  "tls.client_certs=required", ANY_PORT_TLS, "--check-config");
    process_expect_exit(&sandbox->process, 0, "client_certs = required\n");
}

static void addresses_of_one_protocol_have_tls_or_not(void **state)
{
    struct sandbox *sandbox = *state;
    char setting[128];
    char address[128];
    int client;

    configure(sandbox, "server", "");
    (void)snprintf(setting, sizeof setting,
                   "beanstalk.listen=127.0.0.1:0 tls:127.0.0.1:0 tls:unix:%s", sandbox->socket);
    PROCESS_START(&sandbox->process, "-C", sandbox->config, "--set", setting);
    process_address(&sandbox->process, 1, address);
    assert_memory_equal(address, "tls:127.0.0.1:", 14);
    process_address(&sandbox->process, 2, address);
    assert_memory_equal(address, "tls:unix:/", 10);
    client = client_connect(&sandbox->process);
    client_send(client, "list-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_stop(&sandbox->process);
    client_expect_end(client);
}

// All or nothing: who asks for a reload must be able to rely on it.
static void hup_with_a_bad_file_changes_nothing(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct text words = in_dir(sandbox, "why=\"tls.certificate %s/server.pem: ");
    size_t from = 0;

    configure(sandbox, "server", "slow_turn = 1");
    PROCESS_START(process, "-C", sandbox->config, ANY_PORT_TLS);
    process_expect(process, " info started ", &from);
    damage(sandbox, "server.pem");
    configure(sandbox, "server", "slow_turn = 5");
    process_signal(process, SIGHUP);
    process_expect(process, " error reload_failed ", &from);
    process_expect(process, words.bytes, &from);
    process_expect(process, "what was read before holds", &from);
    process_stop(process);
    assert_null(strstr(process->text, " setting_changed "));
    assert_null(strstr(process->text, " reloaded "));
}

static void hup_with_other_files_that_cannot_serve_changes_nothing(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    size_t from = 0;

    configure(sandbox, "server", "slow_turn = 1");
    PROCESS_START(process, "-C", sandbox->config, ANY_PORT_TLS);
    process_expect(process, " info started ", &from);
    configure(sandbox, "none", "slow_turn = 5");
    process_signal(process, SIGHUP);
    process_expect(process, " error reload_failed why=\"tls.certificate ", &from);
    process_expect(process, "/none.pem: No such file", &from);
    process_expect(process, "what was read before holds", &from);
    // Without any, the listener that there is could not go on.
    write_file(sandbox->config, "[server]\nslow_turn = 5\n");
    process_signal(process, SIGHUP);
    process_expect(process, " error reload_failed why=\"[beanstalk] listen: ", &from);
    configure(sandbox, "client", "slow_turn = 1");
    process_signal(process, SIGHUP);
    process_expect(process, " info setting_changed section=tls key=certificate ", &from);
    process_expect(process, " info reloaded ", &from);
    process_stop(process);
    assert_null(strstr(process->text, "key=slow_turn"));
}

// Where nothing listens with TLS, it is still said that nothing could.
static void hup_checks_files_that_are_not_in_use_yet(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    size_t from = 0;

    write_file(sandbox->config, "");
    PROCESS_START(process, "-C", sandbox->config, ANY_PORT);
    process_expect(process, " info started ", &from);
    configure(sandbox, "none", "");
    process_signal(process, SIGHUP);
    process_expect(process, " error reload_failed why=\"tls.certificate ", &from);
    configure(sandbox, "server", "");
    process_signal(process, SIGHUP);
    process_expect(process, " info reloaded ", &from);
    process_stop(process);
}

// A process that has changed its user cannot be searched for leaks, since it cannot be traced.
static void without_leaks(void *context)
{
    (void)context;
    if (setenv("ASAN_OPTIONS", "detect_leaks=0", 1) != 0) {
        _exit(126);
    }
}

static const struct passwd *need_root(void)
{
    const struct passwd *user = getpwnam("nobody");

    if (geteuid() != 0 || !user) {
        skip();
    }
    return user;
}

// As it stands with most keys: root's alone.
static void key_that_only_root_can_read_serves_until_it_changes(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct text key = in_dir(sandbox, "why=\"tls.key %s/server.key: Permission denied");
    size_t from = 0;

    (void)need_root();
    assert_int_equal(chmod(sandbox->dir, 0755), 0);
    assert_int_equal(chmod(sandbox->tls, 0755), 0);
    configure(sandbox, "server", "user = nobody");
    assert_int_equal(chmod(sandbox->config, 0644), 0);
    PROCESS_PREPARED(process, without_leaks, NULL, "-C", sandbox->config, ANY_PORT_TLS);
    process_expect(process, " warn tls_not_readable user=nobody ", &from);
    process_expect(process, key.bytes, &from);
    process_expect(process, " info started ", &from);
    process_signal(process, SIGHUP);
    process_expect(process, " error reload_failed why=\"tls.key ", &from);
    process_stop(process);
    assert_null(strstr(process->text, " reloaded "));
}

static void key_of_the_user_is_read_again(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    const struct passwd *user = need_root();
    struct text key = in_dir(sandbox, "%s/server.key");
    size_t from = 0;

    assert_int_equal(chmod(sandbox->dir, 0755), 0);
    assert_int_equal(chmod(sandbox->tls, 0755), 0);
    assert_int_equal(chown(key.bytes, user->pw_uid, user->pw_gid), 0);
    configure(sandbox, "server", "user = nobody");
    assert_int_equal(chmod(sandbox->config, 0644), 0);
    PROCESS_PREPARED(process, without_leaks, NULL, "-C", sandbox->config, ANY_PORT_TLS);
    process_expect(process, " info started ", &from);
    process_signal(process, SIGHUP);
    process_expect(process, " info reloaded ", &from);
    process_stop(process);
    assert_null(strstr(process->text, "tls_"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(address_with_tls_needs_a_certificate),
        TLS_TEST(check_and_start_refuse_files_that_cannot_serve),
        TLS_TEST(check_takes_files_that_can_serve),
        TLS_TEST(addresses_of_one_protocol_have_tls_or_not),
        TLS_TEST(hup_with_a_bad_file_changes_nothing),
        TLS_TEST(hup_with_other_files_that_cannot_serve_changes_nothing),
        TLS_TEST(hup_checks_files_that_are_not_in_use_yet),
        TLS_TEST(key_that_only_root_can_read_serves_until_it_changes),
        TLS_TEST(key_of_the_user_is_read_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
