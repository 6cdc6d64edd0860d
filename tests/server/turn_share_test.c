/* SPDX-License-Identifier: MIT */
// Turns that some clients fill completely: the others get their share of them.
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// A clock by which each feed takes longer than the time of a turn.
static const struct bed *fed;

static struct instant feeding_now(void)
{
    struct instant now = bed_clock;

    now.mono += fed->front.feeds * 2 * TURN_OUTPUT_FOR;
    return now;
}

static void send_raw(int client, const char *text)
{
    assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

// Several clients are busy, each in each of some turns.
static void answer_beside(unsigned busy_count)
{
    enum { MOST = 8, LINES = 100 * CONN_COMMANDS_MAX };
    static char lines[2 * LINES + 1];
    struct bed bed;
    int busy[MOST], quick;
    char answer[8];

    for (size_t i = 0; i < LINES; i++) {
        memcpy(lines + 2 * i, "x\n", 3);
    }
    memset(&bed, 0, sizeof bed);
    fed = &bed;
    bed_init(&bed, feeding_now);
    quick = bed_connect(&bed);
    for (unsigned i = 0; i < busy_count; i++) {
        busy[i] = bed_connect(&bed);
        send_raw(busy[i], lines);
    }
    bed_turns(&bed, busy_count);
    send_raw(quick, "line\n");
    bed_turns(&bed, 4 * busy_count);
    assert_int_equal(recv(quick, answer, sizeof answer, MSG_DONTWAIT), 5);
    for (unsigned i = 0; i < busy_count; i++) {
        (void)close(busy[i]);
    }
    (void)close(quick);
    bed_close(&bed);
}

static void small_request_is_answered_beside_connections_that_fill_a_turn(void **state)
{
    (void)state;
    for (unsigned busy_count = 1; busy_count <= 8; busy_count++) {
        answer_beside(busy_count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_request_is_answered_beside_connections_that_fill_a_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
