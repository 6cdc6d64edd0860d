/* SPDX-License-Identifier: MIT */

// If there is no memory for an event stream, the client is refused or its connection is closed:
// it gets complete events only, and nothing leaks.

#include "tests/admin/wire_admin.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <string.h>

#define QUEUES 40

// The number of tubes that the worker watches.
static void watch(struct peer *peer)
{
    char said[40];

    for (int i = 0; i < QUEUES; i++) {
        int len = snprintf(said, sizeof said, "watch tube-%d\r\n", i);

        (void)peer_ask(peer, slice_of(said, (size_t)len));
    }
}

// Opens a stream and reads two rounds, while the n-th allocation fails. False where there were
// fewer.
static bool play(size_t n)
{
    struct slice said, heard;
    struct admin *t;
    void *state;
    bool failed;

    admin_setup(&state);
    t = state;
    watch(t->w);
    said = SEES("/api/v1/events?queues=30&queue=tube-1&sort=-name");
    nth_alloc_fail(n);
    peer_send(t->a, said);
    rig_run(t->rig);
    (void)peer_ask(t->w, SLICE("ignore tube-1\r\nignore tube-39\r\n"));
    rig_advance(t->rig, SECONDS(1));
    failed = nth_alloc_count() >= n;
    nth_alloc_fail(0);
    heard = peer_hear(t->a);
    if (!failed) {
        assert_non_null(strstr(heard.ptr, "event: gone"));
        assert_false(peer_closed(t->a));
    } else if (!strstr(heard.ptr, "event: gone")) {
        assert_true(peer_failed(t->a) || strstr(heard.ptr, "HTTP/1.1 503 "));
    }
    admin_teardown(&state);
    return failed;
}

static void every_allocation_fails_once(void **state)
{
    size_t n = 1;

    (void)state;
    while (play(n)) {
        n++;
    }
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
