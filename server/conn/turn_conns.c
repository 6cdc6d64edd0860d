/* SPDX-License-Identifier: MIT */
#include "server/conn/loop_turn.h"

#include "server/conn/conn.h"

static struct conn *conn_of_touched(struct list_node *node)
{
    return conn_of(list_item(node, struct turn_member, touched));
}

unsigned turn_take_touched(struct turn *turn, struct list_node *batch, unsigned count)
{
    for (; count < TURN_CONNS_MAX && !list_empty(&turn->touched); count++) {
        struct list_node *node = list_first(&turn->touched);

        list_remove(node);
        list_append(batch, node);
        conn_unpark(conn_of_touched(node));
    }
    return count;
}

// An expensive connection sends its replies before it is fed again.
static void turn_run_cheap(const struct turn *turn, struct list_node *batch, struct list_node *ran)
{
    unsigned count = 0;

    while (!list_empty(batch) && !(count && turn_lasted(turn, TURN_INPUT_FOR, count))) {
        struct list_node *node = list_first(batch);
        struct conn *conn = conn_of_touched(node);

        list_remove(node);
        list_append(ran, node);
        count += !conn_is_expensive(conn) && conn_run(conn) ? 1 : 0;
    }
}

static void turn_run_expensive(struct turn *turn, struct list_node *ran)
{
    nsec_t end_at;

    if (list_empty(&turn->expensive)) {
        return;
    }
    end_at = turn->now().mono + TURN_EXPENSIVE_FOR;
    do {
        struct list_node *node = list_first(&turn->expensive);

        list_remove(node);
        list_append(ran, node);
        conn_take_turn(conn_of_touched(node));
    } while (!list_empty(&turn->expensive) && turn->now().mono < end_at);
}

void turn_run(struct turn *turn, struct list_node *batch, struct list_node *ran)
{
    turn_run_cheap(turn, batch, ran);
    turn_run_expensive(turn, ran);
}

// Connections for which the turn has no bytes or no time left come first in the next one.
static void turn_finish_small(struct turn *turn, struct list_node *batch)
{
    unsigned count = 0;

    while (!list_empty(batch) && turn->bytes < TURN_BYTES_MAX &&
           !(count && turn_lasted(turn, TURN_OUTPUT_FOR, count))) {
        struct list_node *node = list_first(batch);

        list_remove(node);
        if (conn_is_bulky(conn_of_touched(node))) {
            list_append(&turn->bulky, node);
        } else {
            conn_end_turn(conn_of_touched(node));
            count++;
        }
    }
    while (!list_empty(batch)) {
        struct list_node *last = batch->prev;

        list_remove(last);
        list_insert_before(turn->touched.next, last);
    }
}

static void turn_finish_bulky(struct turn *turn)
{
    nsec_t end_at;

    if (list_empty(&turn->bulky)) {
        return;
    }
    end_at = turn->now().mono + TURN_BULKY_FOR;
    do {
        struct list_node *node = list_first(&turn->bulky);

        list_remove(node);
        conn_end_turn(conn_of_touched(node));
    } while (!list_empty(&turn->bulky) && turn->bytes < TURN_BYTES_MAX &&
             turn->now().mono < end_at);
}

void turn_finish(struct turn *turn, struct list_node *ran, struct list_node *batch)
{
    struct list_node later;

    // The bytes received do not count for sending.
    turn->bytes = 0;
    turn_finish_small(turn, ran);
    list_init(&later);
    list_append_all(&later, &turn->touched);
    turn_finish_small(turn, batch);
    list_append_all(&turn->touched, &later);
    turn_finish_bulky(turn);
}
