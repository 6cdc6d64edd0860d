/* SPDX-License-Identifier: MIT */

// Requests whose replies are much longer: the output that one feed stages for a pipeline of them is
// limited, and all are answered when their peer reads.

#include "tests/proto_http/wire_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUESTIONS 250
// The output when a feed ends: its limit, and a reply that had begun.
#define STAGED_MAX (FEED_STAGED_MAX + (size_t)64 * 1024)
// The output for a peer that does not read: the limit of the rig, and one more feed.
#define UNREAD_MAX (((size_t)1 << 20) + STAGED_MAX)

// Sends QUESTIONS requests in a pipeline, and checks how often `mark` is in the replies.
static void pipeline(struct web *t, struct peer *peer, const char *question, const char *mark)
{
    size_t found = 0;
    const char *at;

    peer_stop_reading(peer);
    for (int i = 0; i < QUESTIONS; i++) {
        peer_send(peer, slice_str(question));
    }
    rig_feed(t->rig);
    // A Gearman list is sent when it is complete, so nothing may be staged yet.
    assert_true(peer_unread(peer) <= STAGED_MAX);
    rig_run(t->rig);
    assert_in_range(peer_unread(peer), 1, UNREAD_MAX);
    peer_read_again(peer);
    rig_run(t->rig);
    at = peer_hear(peer).ptr;
    while ((at = strstr(at, mark)) != NULL) {
        found++;
        at += strlen(mark);
    }
    assert_int_equal(found, QUESTIONS);
}

// Many tubes with names of the maximum length.
static void make_tubes(struct peer *peer, int count)
{
    char line[300];

    for (int i = 0; i < count; i++) {
        (void)snprintf(line, sizeof line, "watch %0190d\r\n", i);
        (void)peer_ask(peer, slice_str(line));
    }
}

static void lists_of_tubes_are_staged_a_few_at_a_time(void **state)
{
    struct web *t = *state;

    // A step makes one list.
    make_tubes(t->v, BROKER_SLICE - 2);
    pipeline(t, t->w, "list-tubes\r\n", "OK ");
    pipeline(t, t->v, "list-tubes-watched\r\n", "OK ");
}

static void bodies_are_staged_a_few_at_a_time(void **state)
{
    struct web *t = *state;
    char put[20100];
    int head = snprintf(put, sizeof put, "put 0 0 1 20000\r\n");

    memset(put + head, 'b', 20000);
    put[head + 20000] = '\r';
    put[head + 20001] = '\n';
    (void)peer_ask(t->v, slice_of(put, (size_t)head + 20002));
    pipeline(t, t->w, "peek 1\r\n", "FOUND ");
}

static void statistics_are_staged_a_few_at_a_time(void **state)
{
    struct web *t = *state;

    pipeline(t, t->w, "stats\r\n", "OK ");
    pipeline(t, t->w, "stats-tube default\r\n", "OK ");
}

static void gearman_s_lists_are_staged_a_few_at_a_time(void **state)
{
    struct web *t = *state;
    char function[200];

    for (int i = 0; i < 250; i++) {
        (void)snprintf(function, sizeof function, "%0150d", i);
        http_can_do(t->v, function);
    }
    pipeline(t, t->w, "status\n", "\n.\n");
    pipeline(t, t->w, "prioritystatus\n", "\n.\n");
    pipeline(t, t->w, "workers\n", "\n.\n");
    pipeline(t, t->w, "frobnicate\n", "ERR ");
}

static void gearman_s_lists_of_jobs_are_staged_a_few_at_a_time(void **state)
{
    struct web *t = *state;

    for (int i = 0; i < 250; i++) {
        (void)peer_ask(t->v, REQ(SUBMIT_JOB_BG, "f", gear_handle((uint64_t)i + 1000), "x"));
    }
    pipeline(t, t->w, "show jobs\n", "\n.\n");
    pipeline(t, t->w, "show unique jobs\n", "\n.\n");
}

static void replies_of_http_are_staged_a_few_at_a_time(void **state)
{
    struct web *t = *state;
    char name[600];

    (void)snprintf(name, sizeof name, "/%0500d", 1);
    asks(t->b, POST(name, "X-Gearman-Background: 1\r\n", "x"), 200);
    pipeline(t, t->a, "GET /-/jobs/" GEAR_PREFIX "1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
             "\"handle\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP_BEAN(lists_of_tubes_are_staged_a_few_at_a_time),
        HTTP_BEAN(bodies_are_staged_a_few_at_a_time),
        HTTP_BEAN(statistics_are_staged_a_few_at_a_time),
        HTTP(gearman_s_lists_are_staged_a_few_at_a_time),
        HTTP(gearman_s_lists_of_jobs_are_staged_a_few_at_a_time),
        HTTP(replies_of_http_are_staged_a_few_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
