/* SPDX-License-Identifier: MIT */
// What the peers of links may do, to their own connections and to those of others: they send
// nothing more, take nothing, or send without end. It must mean what it means without I/O threads.
#include "server/io/io_private.h"

#include "tests/server/server_bed.h"
#include "tests/server/server_cmocka.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int peer_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    bed_init(bed, bed_now);
    *state = bed;
    return 0;
}

static int peer_teardown(void **state)
{
    struct bed *bed = *state;

    bed_close(bed);
    free(bed);
    return 0;
}

static int connect_remote(struct bed *bed)
{
    int client = bed_connect(bed);

    bed_turns(bed, 2);
    assert_true(bed_latest(bed)->remote);
    return client;
}

static void core_turn(struct bed *bed)
{
    loop_turn(&bed->loop, false);
}

static void send_bytes(int client, const char *bytes, size_t len)
{
    assert_int_equal(send(client, bytes, len, MSG_NOSIGNAL), len);
}

static void send_text(int client, const char *text)
{
    send_bytes(client, text, strlen(text));
}

// More than a thread hands over at once, then no more. The thread knows of the end before it has
// read what comes before that.
enum { LONG_BODY = 100000 };

static char *long_body(void)
{
    char *body = calloc(1, LONG_BODY + 1);

    assert_non_null(body);
    memset(body, 'x', LONG_BODY);
    return body;
}

static void input_before_the_end_is_used_where_the_end_means_that_the_peer_has_gone(void **state)
{
    struct bed *bed = *state;
    char *body = long_body();
    int client = connect_remote(bed);

    bed_keep(bed);
    bed->front.eof_means_gone = true;
    send_text(client, "keep first\ntake 100000\n");
    send_bytes(client, body, LONG_BODY);
    send_text(client, "last\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    (void)thread_round(bed_latest(bed)->link->side.thread, false);
    core_turn(bed);
    core_turn(bed);
    // The answer leaves while the thread has not read on.
    bed->front.store.reached = 1;
    core_turn(bed);
    bed_expect(bed, client, "first\ntook ");
    bed_expect(bed, client, body);
    bed_expect(bed, client, "\nlast\n");
    bed_expect_end(bed, client);
    assert_int_equal(bed->front.eofs, 1);
    free(body);
}

#define PEER_TEST(f) cmocka_unit_test_setup_teardown(f, peer_setup, peer_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PEER_TEST(input_before_the_end_is_used_where_the_end_means_that_the_peer_has_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
