/* SPDX-License-Identifier: MIT */
// The messages to a service manager with a watchdog.
#include "server/process/notify.h"
#include "tests/server/manager_socket.h"
#include "tests/support/with_cmocka.h"

#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SILENCE_MS = 200 };

struct manager {
    int fd;
    struct event_base *base;
    struct notifier notifier;
};

static int manager_setup(void **state)
{
    struct manager *manager = calloc(1, sizeof *manager);

    assert_non_null(manager);
    manager->fd = manager_socket();
    manager->base = event_base_new();
    assert_non_null(manager->base);
    (void)unsetenv("WATCHDOG_PID");
    (void)setenv("WATCHDOG_USEC", "20000", 1);
    *state = manager;
    return 0;
}

static int manager_teardown(void **state)
{
    struct manager *manager = *state;

    notifier_close(&manager->notifier);
    event_base_free(manager->base);
    (void)close(manager->fd);
    free(manager);
    return 0;
}

static void expect_silence(const struct manager *manager)
{
    struct pollfd waiting = {.fd = manager->fd, .events = POLLIN};

    assert_int_equal(poll(&waiting, 1, SILENCE_MS), 0);
}

static void expect_told(const struct manager *manager, const char *words)
{
    char text[NOTIFY_TEXT_MAX];
    ssize_t len = recv(manager->fd, text, sizeof text - 1, MSG_DONTWAIT);

    assert_true(len > 0);
    text[len] = '\0';
    assert_string_equal(text, words);
}

static void loop_that_hangs_sends_no_keep_alive(void **state)
{
    struct manager *manager = *state;

    notifier_open(&manager->notifier, manager->base);
    expect_silence(manager);
    assert_int_equal(event_base_loop(manager->base, EVLOOP_ONCE), 0);
    expect_told(manager, "WATCHDOG=1");
    expect_silence(manager);
}

static void message_that_waits_is_not_displaced(void **state)
{
    struct manager *manager = *state;
    unsigned sent = 0;
    char text[NOTIFY_TEXT_MAX];
    ssize_t len;

    notifier_open(&manager->notifier, manager->base);
    // The manager does not read: its socket fills, and what comes then waits.
    while (manager->notifier.count == 0) {
        notify_extend(&manager->notifier, ++sent);
    }
    (void)recv(manager->fd, text, sizeof text, MSG_DONTWAIT);
    assert_int_equal(event_base_loop(manager->base, EVLOOP_ONCE), 0);
    while ((len = recv(manager->fd, text, sizeof text - 1, MSG_DONTWAIT)) > 0) {
        text[len] = '\0';
        assert_null(strstr(text, "WATCHDOG"));
    }
}

static void expect_no_timer(struct manager *manager)
{
    notifier_open(&manager->notifier, manager->base);
    assert_int_equal(event_base_get_num_events(manager->base, EVENT_BASE_COUNT_ADDED), 0);
}

static void without_a_watchdog_there_is_no_timer(void **state)
{
    (void)unsetenv("WATCHDOG_USEC");
    expect_no_timer(*state);
}

static void watchdog_of_another_process_is_not_ours(void **state)
{
    (void)setenv("WATCHDOG_PID", "1", 1);
    expect_no_timer(*state);
}

static void watchdog_without_a_number_is_ignored(void **state)
{
    static const char *const texts[] = {"", "0", "-5", "20000x", "99999999999999999999"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct manager *manager = *state;

        (void)setenv("WATCHDOG_USEC", texts[i], 1);
        expect_no_timer(manager);
        notifier_close(&manager->notifier);
    }
}

#define MANAGER_TEST(name) cmocka_unit_test_setup_teardown(name, manager_setup, manager_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MANAGER_TEST(loop_that_hangs_sends_no_keep_alive),
        MANAGER_TEST(message_that_waits_is_not_displaced),
        MANAGER_TEST(without_a_watchdog_there_is_no_timer),
        MANAGER_TEST(watchdog_of_another_process_is_not_ours),
        MANAGER_TEST(watchdog_without_a_number_is_ignored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
