/* SPDX-License-Identifier: MIT */
// A service manager that waits for the start is asked for more time while jobs come back, as long
// as that gets on; a start that hangs is left to its patience. The five seconds between two looks
// are milliseconds here.
#include "server/store_opening.h"
#include "core/base/macros.h"
#include "server/process/clock.h"
#include "tests/server/manager_socket.h"
#include "tests/support/with_cmocka.h"

#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOOKS_MAX = 4 };

// A store that is open after a number of checks, with progress between the marked ones.
struct slow_store {
    struct store store;
    unsigned looks;
    unsigned last;
    bool moves[LOOKS_MAX];
};

int __real_event_add(struct event *event, const struct timeval *after);
int __wrap_event_add(struct event *event, const struct timeval *after);

int __wrap_event_add(struct event *event, const struct timeval *after)
{
    static const struct timeval soon = {.tv_usec = 1000};

    return __real_event_add(event, after && after->tv_sec == 5 ? &soon : after);
}

static bool slow_begin(struct store *store, struct event_base *base, struct broker *broker,
                       struct error_text *why)
{
    (void)store;
    (void)base;
    (void)broker;
    (void)why;
    return true;
}

static bool slow_is_opening(const struct store *store)
{
    const struct slow_store *slow = (const struct slow_store *)(const void *)store;

    return slow->looks < slow->last;
}

static bool slow_log_progress(struct store *store, nsec_t since_for)
{
    struct slow_store *slow = container_of(store, struct slow_store, store);

    (void)since_for;
    // The loop may look once more before it sees that it is over.
    return slow->looks < slow->last && slow->moves[slow->looks++];
}

static bool slow_end(struct store *store, struct error_text *why)
{
    (void)store;
    return error_set(why, "it was never to be open");
}

static const struct store_ops ops = {.open_begin = slow_begin,
                                     .is_opening = slow_is_opening,
                                     .log_progress = slow_log_progress,
                                     .open_end = slow_end};

static void nothing(void *context)
{
    (void)context;
}

// Opens the store, and expects the number of extensions that the manager was asked for.
static void expect_asked(struct slow_store *slow, unsigned times)
{
    const struct broker_options options = {.secret = 1};
    struct instant now = clock_now();
    struct broker *broker = broker_new(&options, now);
    int manager = manager_socket();
    struct notifier notifier;
    struct opening opening = {
        .store = &slow->store, .notifier = &notifier, .broker = broker, .turned = nothing};
    struct loop loop;
    struct error_text why;
    char text[NOTIFY_TEXT_MAX];

    slow->store.ops = &ops;
    assert_non_null(broker);
    assert_true(opening_init(&opening, &options, now));
    assert_true(loop_init(&loop, opening_broker(&opening), clock_now));
    notifier_open(&notifier, loop.turn.base);
    assert_int_equal(opening_run(&opening, &loop, &why), OPENING_FAILED);
    for (unsigned i = 0; i < times; i++) {
        ssize_t len = recv(manager, text, sizeof text - 1, MSG_DONTWAIT);

        assert_true(len > 0);
        text[len] = '\0';
        assert_string_equal(text, "EXTEND_TIMEOUT_USEC=60000000");
    }
    assert_int_equal(recv(manager, text, sizeof text, MSG_DONTWAIT), -1);
    notifier_close(&notifier);
    loop_close(&loop);
    opening_clear(&opening);
    broker_free(broker);
    assert_int_equal(close(manager), 0);
}

static void start_that_gets_on_asks_for_time_at_each_look(void **state)
{
    struct slow_store slow = {.last = 3, .moves = {true, true, true}};

    (void)state;
    expect_asked(&slow, 3);
}

static void start_that_hangs_asks_for_no_more_time(void **state)
{
    struct slow_store slow = {.last = 4, .moves = {true, false, false, true}};

    (void)state;
    expect_asked(&slow, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_that_gets_on_asks_for_time_at_each_look),
        cmocka_unit_test(start_that_hangs_asks_for_no_more_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
