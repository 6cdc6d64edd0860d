/* SPDX-License-Identifier: MIT */

// Long lists of tubes are made while the client reads them, and are correct although tubes come and
// go.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/support/broker_check.h"
#include "tests/support/live_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Names of the maximum length.
#define NAME 200
// A list of this many tubes is about 4 MB.
#define MANY 20000

static int setup(void **state)
{
    return bean_setup_with(state, (struct rig_options){.unchecked = true});
}

#define LONG(test) cmocka_unit_test_setup_teardown(test, setup, bean_teardown)

static struct slice name_of(unsigned number, char text[NAME + 1])
{
    return slice_of(text, (size_t)snprintf(text, NAME + 1, "%0*u", NAME, number));
}

static struct queue **hold_tubes(struct bean *t, unsigned count)
{
    struct queue **queues = calloc(count, sizeof *queues);

    assert_non_null(queues);
    for (unsigned i = 0; i < count; i++) {
        char text[NAME + 1];

        assert_int_equal(broker_queue_hold(rig_broker(t->rig), name_of(i, text), &queues[i]),
                         STATUS_OK);
    }
    return queues;
}

static void drop_tubes(struct bean *t, struct queue **queues, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        broker_queue_drop(rig_broker(t->rig), queues[i]);
    }
}

// Checks that the output begins with a list of `default` and these tubes, in the order in which
// they were created; returns the output after it.
static struct slice take_list(struct slice heard, unsigned count)
{
    char *body;
    size_t len;
    char item[NAME + 4];

    assert_true(heard.len > 3 && memcmp(heard.ptr, "OK ", 3) == 0);
    len = strtoul(heard.ptr + 3, &body, 10);
    body += 2;
    assert_int_equal(len, 4 + sizeof "- default\n" - 1 + (size_t)count * (NAME + 3));
    assert_true(heard.len >= (size_t)(body - heard.ptr) + len + 2);
    assert_memory_equal(body, "---\n- default\n", 14);
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(item, sizeof item, "- %0*u\n", NAME, i);
        assert_memory_equal(body + 14 + (size_t)i * (NAME + 3), item, NAME + 3);
    }
    assert_memory_equal(body + len, "\r\n", 2);
    return slice_from(heard, (size_t)(body - heard.ptr) + len + 2);
}

static void is_list(struct slice heard, unsigned count)
{
    assert_int_equal(take_list(heard, count).len, 0);
}

static void lists_of_every_length_are_whole(void **state)
{
    // Sizes around the largest gathered list, and around a list of several steps.
    static const unsigned counts[] = {1, 255, 256, 257, 321, 322, 323, 324, 600, 5000};
    struct bean *t = *state;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct queue **queues = hold_tubes(t, counts[i]);

        is_list(peer_ask(t->a, SLICE("list-tubes\r\n")), counts[i]);
        drop_tubes(t, queues, counts[i]);
        free(queues);
    }
}

static void tubes_are_listed_in_the_order_in_which_they_were_made(void **state)
{
    struct bean *t = *state;

    says(t->a, "watch d\r\nwatch b\r\nwatch a\r\nwatch c\r\n",
         "WATCHING 2\r\nWATCHING 3\r\nWATCHING 4\r\nWATCHING 5\r\n");
    says_yaml(t->a, "list-tubes\r\n", "---\n- default\n- d\n- b\n- a\n- c\n");
    says(t->a, "ignore d\r\nignore a\r\n", "WATCHING 4\r\nWATCHING 3\r\n");
    says_yaml(t->a, "list-tubes\r\n", "---\n- default\n- b\n- c\n");
    says(t->a, "use test1\r\nwatch test2\r\nwatch a\r\n",
         "USING test1\r\nWATCHING 4\r\nWATCHING 5\r\n");
    says_yaml(t->a, "list-tubes\r\n", "---\n- default\n- b\n- c\n- test1\n- test2\n- a\n");
}

static void watched_tubes_are_listed_in_the_order_in_which_they_were_watched(void **state)
{
    struct bean *t = *state;

    says(t->b, "watch c\r\nwatch b\r\n", "WATCHING 2\r\nWATCHING 3\r\n");
    says(t->a, "watch a\r\nwatch b\r\nwatch c\r\nwatch a\r\n",
         "WATCHING 2\r\nWATCHING 3\r\nWATCHING 4\r\nWATCHING 4\r\n");
    says_yaml(t->a, "list-tubes-watched\r\n", "---\n- default\n- a\n- b\n- c\n");
    says(t->a, "ignore default\r\nignore b\r\n", "WATCHING 3\r\nWATCHING 2\r\n");
    says_yaml(t->a, "list-tubes-watched\r\n", "---\n- a\n- c\n");
    says(t->a, "watch b\r\nwatch default\r\n", "WATCHING 3\r\nWATCHING 4\r\n");
    says_yaml(t->a, "list-tubes-watched\r\n", "---\n- a\n- c\n- b\n- default\n");
}

static void a_long_list_of_watched_tubes_is_whole(void **state)
{
    struct bean *t = *state;

    for (unsigned i = 0; i < 2000; i++) {
        char text[NAME + 1];
        char said[NAME + 16];
        int len = snprintf(said, sizeof said, "watch %s\r\n", name_of(i, text).ptr);

        peer_send(t->a, slice_of(said, (size_t)len));
        rig_run(t->rig);
    }
    peer_hear(t->a);
    is_list(peer_ask(t->a, SLICE("list-tubes-watched\r\n")), 2000);
}

static void a_list_that_is_not_read_is_not_made(void **state)
{
    struct bean *t = *state;
    struct queue **queues = hold_tubes(t, MANY);
    size_t before = live_bytes();

    peer_stop_reading(t->a);
    peer_send(t->a, SLICE("list-tubes\r\nlist-tubes\r\nlist-tubes\r\nlist-tube-used\r\n"));
    rig_run(t->rig);
    assert_in_range(peer_unread(t->a), 1, (1 << 20) + FEED_STAGED_MAX);
    assert_in_range(live_bytes() - before, 0, (1 << 20) + 2 * FEED_STAGED_MAX);
    peer_read_again(t->a);
    struct slice heard = peer_hear(t->a);
    for (unsigned i = 0; i < 3; i++) {
        heard = take_list(heard, MANY);
    }
    assert_true(slice_equal(heard, SLICE("USING default\r\n")));
    drop_tubes(t, queues, MANY);
    free(queues);
}

static void tubes_that_are_removed_meanwhile_are_listed_and_new_ones_are_not(void **state)
{
    struct bean *t = *state;
    struct queue **queues = hold_tubes(t, MANY);

    peer_stop_reading(t->a);
    peer_send(t->a, SLICE("list-tubes\r\n"));
    rig_run(t->rig);
    drop_tubes(t, queues, MANY);
    says(t->b, "use new\r\n", "USING new\r\n");
    says_yaml(t->b, "list-tubes\r\n", "---\n- default\n- new\n");
    peer_read_again(t->a);
    is_list(peer_hear(t->a), MANY);
    says_yaml(t->a, "list-tubes\r\n", "---\n- default\n- new\n");
    assert_int_equal(check_retained_queues(rig_broker(t->rig)), 0);
    free(queues);
}

static void tubes_that_are_removed_before_they_are_counted_are_listed(void **state)
{
    struct bean *t = *state;
    struct queue **queues = hold_tubes(t, MANY);

    peer_send(t->a, SLICE("list-tubes\r\n"));
    rig_feed(t->rig);
    drop_tubes(t, queues, MANY);
    rig_run(t->rig);
    is_list(peer_hear(t->a), MANY);
    free(queues);
}

static void a_client_that_disconnects_in_a_list_leaves_no_memory(void **state)
{
    struct bean *t = *state;
    struct queue **queues = hold_tubes(t, MANY);

    for (unsigned feeds = 1; feeds < 200; feeds += 20) {
        struct peer *peer = peer_new(t->rig);

        peer_send(peer, SLICE("list-tubes\r\nlist-tubes\r\n"));
        for (unsigned i = 0; i < feeds; i++) {
            rig_feed(t->rig);
        }
        peer_free(peer);
    }
    peer_send(t->a, SLICE("list-tubes\r\n"));
    rig_feed(t->rig);
    drop_tubes(t, queues, MANY);
    assert_int_equal(check_retained_queues(rig_broker(t->rig)), MANY);
    peer_free(t->a);
    rig_run(t->rig);
    assert_int_equal(check_retained_queues(rig_broker(t->rig)), 0);
    free(queues);
}

static void a_list_has_the_rights_of_its_beginning(void **state)
{
    static const struct grant some[] = {{MAY_OBSERVE, {"default", 7}},
                                        {MAY_OBSERVE, {"0*", 2}},
                                        {MAY_WORK, {"seen-by-workers", 15}}};
    struct bean *t = *state;
    struct grants *grants = grants_new(some, 3);
    struct grants *none = grants_new(some, 0);
    struct queue **queues = hold_tubes(t, MANY);

    says(t->b, "use seen-by-workers\r\n", "USING seen-by-workers\r\n");
    says(t->c, "use hidden\r\n", "USING hidden\r\n");
    assert_false(peer_grant(t->a, grants));
    peer_stop_reading(t->a);
    peer_send(t->a, SLICE("list-tubes\r\n"));
    rig_run(t->rig);
    (void)peer_grant(t->a, none);
    peer_read_again(t->a);
    is_list(peer_hear(t->a), MANY);
    drop_tubes(t, queues, MANY);
    grants_unref(grants);
    grants_unref(none);
    free(queues);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LONG(lists_of_every_length_are_whole),
        LONG(tubes_are_listed_in_the_order_in_which_they_were_made),
        LONG(watched_tubes_are_listed_in_the_order_in_which_they_were_watched),
        LONG(a_long_list_of_watched_tubes_is_whole),
        LONG(a_list_that_is_not_read_is_not_made),
        LONG(tubes_that_are_removed_meanwhile_are_listed_and_new_ones_are_not),
        LONG(tubes_that_are_removed_before_they_are_counted_are_listed),
        LONG(a_client_that_disconnects_in_a_list_leaves_no_memory),
        LONG(a_list_has_the_rights_of_its_beginning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
