/* SPDX-License-Identifier: MIT */
// Actions of the command line that do not serve clients.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

static const char CHECKED[] = "[server]\n"
                              "user = \n"
                              "pid_file = \n"
                              "socket_mode = \n"
                              "access_file = \n"
                              "max_connections = 0\n"
                              "max_queues = 0\n"
                              "max_connection_memory = 0\n"
                              "max_memory = 0\n"
                              "max_kept_results = 64M\n"
                              "max_kept_keys = 64M\n"
                              "max_connections_per_address = 0\n"
                              "proxies = \n"
                              "io_threads = auto\n"
                              "io_spread = auto\n"
                              "handshake_timeout = 10\n"
                              "write_timeout = 60\n"
                              "slow_turn = 0\n"
                              "log_level = debug\n"
                              "log_format = text\n"
                              "log_file = \n"
                              "log_commands = \n"
                              "\n"
                              "[tls]\n"
                              "certificate = \n"
                              "key = \n"
                              "client_ca = \n"
                              "client_certs = none\n"
                              "min_version = 1.2\n"
                              "ciphers = \n"
                              "\n"
                              "[journal]\n"
                              "store = file\n"
                              "dir = \n"
                              "fsync = always\n"
                              "segment_size = 64M\n"
                              "max_pending = 64M\n"
                              "fail_timeout = 5\n"
                              "import = \n"
                              "postgres = \n"
                              "shard = main\n"
                              "role = auto\n"
                              "standby = proxy\n"
                              "address = \n"
                              "require_quorum = warn\n"
                              "lease_ttl = 5\n"
                              "\n"
                              "[beanstalk]\n"
                              "listen = :7\n"
                              "max_job_size = 128k\n"
                              "quote_names = yes\n"
                              "extensions = on\n"
                              "idle_timeout = 0\n"
                              "body_timeout = 0\n"
                              "\n"
                              "[gearman]\n"
                              "listen = \n"
                              "max_job_size = 64M\n"
                              "max_unread = 1G\n"
                              "job_retries = -1\n"
                              "worker_wakeup = 0\n"
                              "min_timeout = 1000\n"
                              "exceptions = false\n"
                              "on_timeout = retry\n"
                              "on_fail = drop\n"
                              "handle_prefix = \n"
                              "idle_timeout = 0\n"
                              "body_timeout = 0\n"
                              "\n"
                              "[http]\n"
                              "listen = \n"
                              "max_body = 64M\n"
                              "max_result = 64M\n"
                              "max_header_bytes = 16k\n"
                              "header_timeout = 10\n"
                              "body_timeout = 60\n"
                              "idle_timeout = 75\n"
                              "wait_timeout = 0\n"
                              "lease = 60\n"
                              "max_leases = 10000\n"
                              "idempotency_for = 1d\n"
                              "max_kept_answers = 64M\n"
                              "status_codes = honest\n"
                              "cors_origins = \n"
                              "hosts = \n"
                              "functions = \n"
                              "tokens = \n"
                              "\n"
                              "[admin]\n"
                              "listen = \n"
                              "max_body = 1M\n"
                              "max_header_bytes = 16k\n"
                              "header_timeout = 10\n"
                              "body_timeout = 60\n"
                              "idle_timeout = 75\n"
                              "hosts = \n"
                              "max_series_queues = 1000\n"
                              "metrics_names = \n";

static void wrong_configuration_exits_with_2_and_names_the_line(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;

    sandbox_configure(sandbox, "[beanstalk]\n\nmax_job_size = lots\n");
    PROCESS_START(process, "--config", sandbox->config);
    process_expect_exit(process, 2, "tandemd.conf:3: max_job_size: `lots` is not a size");
    PROCESS_START(process, "--config", sandbox->socket);
    process_expect_exit(process, 2, "No such file or directory");
    PROCESS_START(process, "--set", "beanstalk.width=7");
    process_expect_exit(process, 2, "--set beanstalk.width=7: there is no key `width`");
    PROCESS_START(process, "--colour");
    process_expect_exit(process, 2, "--colour: no such option");
}

static void check_config_prints_the_settings_that_result(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;

    sandbox_configure(sandbox, "[server]\nlog_level = debug\n[beanstalk]\nmax_job_size = 128k\n");
    PROCESS_START(process, "-C", sandbox->config, "--set", "beanstalk.listen=:7", "--check-config");
    assert_int_equal(process_wait(process), 0);
    assert_string_equal(process->text, CHECKED);
}

static void version_and_help_exit_with_zero(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;

    PROCESS_START(process, "--version");
    process_expect_exit(process, 0, "tandemd ");
    PROCESS_START(process, "-v");
    process_expect_exit(process, 0, "tandemd ");
    PROCESS_START(process, "--help");
    process_expect_exit(process, 0, "Usage: tandemd");
    PROCESS_START(process, "-h");
    process_expect_exit(process, 0, "Usage: tandemd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(wrong_configuration_exits_with_2_and_names_the_line),
        SANDBOX_TEST(check_config_prints_the_settings_that_result),
        SANDBOX_TEST(version_and_help_exit_with_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
