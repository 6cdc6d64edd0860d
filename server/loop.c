/* SPDX-License-Identifier: MIT */
#include "server/loop.h"

#include "core/base/log.h"
#include "server/conn.h"
#include "server/io/io.h"
#include "server/net/event_loop.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void loop_timer_fired(evutil_socket_t fd, short what, void *context)
{
    struct loop *loop = context;

    (void)fd;
    (void)what;
    loop->timer_at = NSEC_NEVER;
}

bool loop_init(struct loop *loop, struct broker *broker, struct instant (*now)(void))
{
    memset(loop, 0, sizeof *loop);
    turn_init(&loop->turn, event_loop_new(), malloc(CONN_JOIN_MAX + CONN_READ_MAX), broker, now);
    loop->timer_at = NSEC_NEVER;
    if (!loop->turn.buffer || !loop->turn.base ||
        evtimer_assign(&loop->timer, loop->turn.base, loop_timer_fired, loop) != 0) {
        loop_close(loop);
        return false;
    }
    return true;
}

void loop_use_store(struct loop *loop, struct store *store)
{
    loop->store = store;
    loop->turn.pool.reached = store->ops->reached(store);
}

static struct conn *conn_of_all(struct list_node *node)
{
    return conn_of(list_item(node, struct turn_member, all));
}

static struct conn *conn_of_touched(struct list_node *node)
{
    return conn_of(list_item(node, struct turn_member, touched));
}

void loop_close_all(struct loop *loop)
{
    while (!list_empty(&loop->turn.all)) {
        conn_close(conn_of_all(list_first(&loop->turn.all)));
    }
}

void loop_close(struct loop *loop)
{
    if (!loop->turn.now) {
        return;
    }
    loop_close_all(loop);
    if (event_initialized(&loop->timer)) {
        (void)event_del(&loop->timer);
    }
    turn_clear(&loop->turn);
    memset(loop, 0, sizeof *loop);
}

void loop_stop_conns(struct loop *loop)
{
    list_each (node, &loop->turn.all) {
        conn_stop(conn_of_all(node));
    }
}

static const struct deadline *loop_first_deadline(const struct loop *loop)
{
    const struct tree_node *first = tree_first(&loop->turn.deadlines);

    return first ? container_of((struct tree_node *)(uintptr_t)first, struct deadline, node) : NULL;
}

static nsec_t loop_next_due(const struct loop *loop)
{
    const struct deadline *first = loop_first_deadline(loop);
    nsec_t due_at = broker_next_due(loop->turn.broker);

    if (first) {
        due_at = first->at < due_at ? first->at : due_at;
    }
    if (loop->store) {
        nsec_t store_at = loop->store->ops->next_due(loop->store);

        due_at = store_at < due_at ? store_at : due_at;
    }
    return due_at;
}

// Sets the timer to `due_at`. It is rounded up, so that what is due is due when it fires. (Should
// the library's coarser clock make it fire early, the next turn sets it again.)
static void loop_set_timer(struct loop *loop, nsec_t due_at)
{
    nsec_t wait_for;
    nsec_t micros;
    struct timeval tv;

    if (due_at == loop->timer_at) {
        return;
    }
    loop->timer_at = due_at;
    if (due_at == NSEC_NEVER) {
        (void)event_del(&loop->timer);
        return;
    }
    wait_for = due_at - loop->turn.now().mono;
    micros = wait_for > 0 ? (wait_for + 999) / 1000 : 0;
    tv.tv_sec = (time_t)(micros / 1000000);
    tv.tv_usec = (suseconds_t)(micros % 1000000);
    if (event_add(&loop->timer, &tv) != 0) {
        // Without memory for the timer the next turn tries again.
        loop->timer_at = NSEC_NEVER;
    }
}

// Whether something is left to do that no event will announce.
static bool loop_has_work(const struct loop *loop, nsec_t due_at)
{
    return loop->unsettled || !list_empty(&loop->turn.touched) ||
           due_at <= broker_now(loop->turn.broker).mono;
}

static void loop_wait(struct loop *loop, bool wait)
{
    nsec_t due_at = loop_next_due(loop);
    int flags = EVLOOP_ONCE;

    if (!wait || loop_has_work(loop, due_at)) {
        flags |= EVLOOP_NONBLOCK;
    } else {
        loop_set_timer(loop, due_at);
        if (loop->turn.io && !io_lie_down(loop->turn.io)) {
            flags |= EVLOOP_NONBLOCK;
        }
    }
    (void)event_base_loop(loop->turn.base, flags);
}

// Waits for what the I/O threads tell, too, and calls connections with it. Where the loop's own
// connections use up a turn, links come first in the next one: neither keeps the other waiting.
static void loop_wait_for_io(struct loop *loop, bool wait)
{
    struct io *io = loop->turn.io;
    nsec_t began_at = loop->turn.now().mono;
    bool links_first = loop->links_first;

    if (links_first) {
        turn_tick(&loop->turn);
        io_drain(io);
    }
    loop_wait(loop, wait && !links_first);
    turn_tick(&loop->turn);
    io_get_up(io, broker_now(loop->turn.broker).mono - began_at);
    if (!links_first) {
        io_drain(io);
    }
    loop->links_first = !links_first && io_is_behind(io);
}

static void loop_expire(struct loop *loop)
{
    nsec_t now_at = broker_now(loop->turn.broker).mono;

    for (unsigned i = 0; i < BROKER_SLICE; i++) {
        const struct deadline *first = loop_first_deadline(loop);

        if (!first || first->at > now_at) {
            return;
        }
        conn_expire(first->conn);
    }
}

// Moves the connections that have been touched for the longest to `batch`, which has `count`
// already; returns how many there are then.
static unsigned loop_take_touched(struct loop *loop, struct list_node *batch, unsigned count)
{
    for (; count < TURN_CONNS_MAX && !list_empty(&loop->turn.touched); count++) {
        struct list_node *node = list_first(&loop->turn.touched);

        list_remove(node);
        list_append(batch, node);
        conn_unpark(conn_of_touched(node));
    }
    return count;
}

// Each connection once: what comes up meanwhile waits for the next turn. So do those that there is
// no time for; they come before the others then.
static void loop_run(const struct loop *loop, struct list_node *batch)
{
    struct list_node done;
    unsigned count = 0;

    list_init(&done);
    while (!list_empty(batch) && !(count && turn_lasted(&loop->turn, TURN_INPUT_FOR, count))) {
        struct list_node *node = list_first(batch);

        list_remove(node);
        list_append(&done, node);
        count += conn_run(conn_of_touched(node)) ? 1 : 0;
    }
    list_append_all(batch, &done);
}

// Nobody whose output is held will be answered.
static void loop_break_held(struct loop *loop)
{
    int64_t count = 0;

    list_each (node, &loop->turn.all) {
        struct conn *conn = conn_of_all(node);

        if (conn_is_held(conn)) {
            conn_break(conn, "its answer cannot be made to last");
            count++;
        }
    }
    log_error("answers_given_up", log_number("connections", count));
}

static void loop_store_step(struct loop *loop)
{
    struct store *store = loop->store;
    enum store_pressure before = loop->turn.pressure;
    uint64_t reached;

    store->ops->turn(store);
    reached = store->ops->reached(store);
    loop->turn.pressure = store->ops->pressure(store);
    if (reached != loop->turn.pool.reached) {
        loop->turn.pool.reached = reached;
        list_append_all(&loop->turn.touched, &loop->turn.held);
    }
    if (loop->turn.pressure < before) {
        list_append_all(&loop->turn.touched, &loop->turn.paused);
    }
    if (store->ops->gave_up(store)) {
        loop_break_held(loop);
    }
}

// Those that the turn has no bytes or no time left for come first in the next one.
static void loop_finish(struct loop *loop, struct list_node *batch)
{
    unsigned count = 0;

    while (!list_empty(batch) && loop->turn.bytes < TURN_BYTES_MAX &&
           !(count && turn_lasted(&loop->turn, TURN_OUTPUT_FOR, count))) {
        struct list_node *node = list_first(batch);

        list_remove(node);
        conn_end_turn(conn_of_touched(node));
        count++;
    }
    while (!list_empty(batch)) {
        struct list_node *last = batch->prev;

        list_remove(last);
        list_insert_before(loop->turn.touched.next, last);
    }
}

static nsec_t loop_cpu_time(void)
{
    struct timespec used = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (nsec_t)used.tv_sec * NSEC_PER_SEC + used.tv_nsec;
}

// How much processor time the turn used. Not the time that passed: a busy machine makes no turn
// slow. But no more than passed since the wait, either: on a virtual machine the thread's clock is
// corrected later, in a jump, for time that was stolen.
static nsec_t loop_used_for(const struct loop *loop, nsec_t cpu_began_at)
{
    nsec_t used_for = loop_cpu_time() - cpu_began_at;
    nsec_t passed_for = loop->turn.now().mono - broker_now(loop->turn.broker).mono;

    return used_for < passed_for ? used_for : passed_for;
}

static void loop_steps(struct loop *loop, bool wait)
{
    struct list_node batch;
    unsigned count;

    list_init(&batch);
    turn_begin(&loop->turn);
    if (loop->turn.io) {
        loop_wait_for_io(loop, wait);
    } else {
        loop_wait(loop, wait);
        turn_tick(&loop->turn);
    }
    loop_expire(loop);
    loop->unsettled = broker_settle(loop->turn.broker);
    count = loop_take_touched(loop, &batch, 0);
    loop_run(loop, &batch);
    if (loop->store) {
        loop_store_step(loop);
        // What may leave now need not wait for another turn.
        (void)loop_take_touched(loop, &batch, count);
    }
    // What was received must not keep anything from being sent.
    loop->turn.bytes = 0;
    loop_finish(loop, &batch);
    if (loop->turn.io) {
        io_flush(loop->turn.io, broker_now(loop->turn.broker).mono);
    }
}

void loop_turn(struct loop *loop, bool wait)
{
    // The turn itself may set another.
    nsec_t slow_for = loop->slow_for;
    nsec_t began_at;
    nsec_t used_for;

    if (slow_for == 0) {
        loop_steps(loop, wait);
        return;
    }
    began_at = loop_cpu_time();
    loop_steps(loop, wait);
    used_for = loop_used_for(loop, began_at);
    if (used_for > slow_for) {
        log_warn("slow_turn", log_number("us", used_for / 1000));
    }
}
