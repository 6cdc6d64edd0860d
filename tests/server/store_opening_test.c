/* SPDX-License-Identifier: MIT */
// tandemd while its journal is being opened: it can be stopped, whatever the disk does.
#include "tests/server/hung_disk.h"
#include "tests/support/with_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void a_start_that_hangs_in_the_disk_is_logged_and_can_be_stopped(void **state)
{
    struct sandbox *sandbox = *state;
    struct hung_disk disk;

    HUNG_DISK_START(&disk, sandbox, NULL);
    process_expect(&sandbox->process, "journal_slow", NULL);
    process_signal(&sandbox->process, SIGTERM);
    process_expect_exit(&sandbox->process, 0, "the disk does not answer");
    hung_disk_close(&disk);
}

// It may not have come to the disk yet.
static void a_start_can_be_stopped_at_once(void **state)
{
    struct sandbox *sandbox = *state;
    struct hung_disk disk;

    HUNG_DISK_START(&disk, sandbox, NULL);
    process_signal(&sandbox->process, SIGTERM);
    process_expect(&sandbox->process, "stopping", NULL);
    process_signal(&sandbox->process, SIGINT);
    process_expect_exit(&sandbox->process, 0, "stopped");
    hung_disk_close(&disk);
}

// Of contradictory signals, the last one counts.
static void signals_that_come_during_the_start_take_effect_in_their_order(void **state)
{
    struct sandbox *sandbox = *state;
    struct hung_disk disk;
    int client;

    HUNG_DISK_START(&disk, sandbox, NULL);
    process_signal(&sandbox->process, SIGUSR2);
    process_expect(&sandbox->process, "journal_slow", NULL);
    process_signal(&sandbox->process, SIGUSR1);
    hung_disk_answer(&disk);
    process_expect(&sandbox->process, "started", NULL);
    client = client_connect(&sandbox->process);
    client_send(client, "put 0 0 10 1\r\nb\r\n");
    client_expect(client, "DRAINING\r\n");
    process_stop(&sandbox->process);
    hung_disk_close(&disk);
    (void)close(client);
}

// Operators are served meanwhile, by the new settings.
static void settings_reloaded_during_the_start_apply_at_once(void **state)
{
    struct sandbox *sandbox = *state;
    struct hung_disk disk;

    HUNG_DISK_START(&disk, sandbox, NULL);
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, "reloaded", NULL);
    hung_disk_stop(&disk);
    hung_disk_close(&disk);
}

// Reading all of the file would take hours.
static void a_youngest_file_that_is_one_great_hole_costs_nothing(void **state)
{
    struct sandbox *sandbox = *state;
    char path[JOURNAL_SETTING_MAX];
    char dir[JOURNAL_SETTING_MAX];
    int client;

    leave_journal(sandbox);
    (void)snprintf(path, sizeof path, "%s/journal.0000000001", sandbox->journal);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", journal_setting(sandbox, dir));
    client = client_connect(&sandbox->process);
    client_send(client, "peek-ready\r\n");
    client_expect(client, "FOUND 1 1\r\na\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(a_start_that_hangs_in_the_disk_is_logged_and_can_be_stopped),
        SANDBOX_TEST(a_start_can_be_stopped_at_once),
        SANDBOX_TEST(signals_that_come_during_the_start_take_effect_in_their_order),
        SANDBOX_TEST(settings_reloaded_during_the_start_apply_at_once),
        SANDBOX_TEST(a_youngest_file_that_is_one_great_hole_costs_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
