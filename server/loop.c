/* SPDX-License-Identifier: MIT */
#include "server/loop.h"

#include "core/base/fence.h"
#include "core/base/log.h"
#include "server/chores.h"
#include "server/conn.h"
#include "server/io/io.h"
#include "server/net/event_loop.h"
#include "server/process/clock.h"
#include "server/process/suspend.h"
#include "server/roster.h"
#include "server/turn_conns.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// How long the timer is set for at most. It counts on a clock that stops while the machine is
// suspended: where the resume is not told (process/suspend.h), the loop is late by no more.
#define TIMER_MOST (30 * NSEC_PER_SEC)
// How often a fence that is closed is looked at.
#define FENCE_LOOK_EVERY (20 * NSEC_PER_MSEC)

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

void loop_use_broker(struct loop *loop, struct broker *broker)
{
    loop->turn.broker = broker;
    broker_tick(broker, loop->turn.now());
    loop->unsettled = false;
}

void loop_use_store(struct loop *loop, struct store *store)
{
    loop->store = store;
    loop->turn.fence = store->ops->fence ? store->ops->fence(store) : NULL;
    loop->turn.pool.reached = store->ops->reached(store);
}

void loop_leave_store(struct loop *loop)
{
    struct turn *turn = &loop->turn;

    loop->store = NULL;
    turn->fence = NULL;
    turn->fenced = false;
    turn->pressure = STORE_EASY;
    turn->pool.reached = 0;
    turn->chores = NULL;
}

void loop_drop_all(struct loop *loop)
{
    for (struct conn *conn = roster_first(&loop->turn); conn; conn = roster_next(conn)) {
        conn_break(conn, "this process does not own the journal any more");
    }
    loop_close_all(loop);
}

void loop_close_all(struct loop *loop)
{
    struct conn *conn;

    while ((conn = roster_first(&loop->turn))) {
        conn_close(conn);
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
    for (struct conn *conn = roster_first(&loop->turn); conn; conn = roster_next(conn)) {
        conn_stop(conn);
    }
}

static const struct deadline *loop_first_deadline(const struct loop *loop)
{
    const struct tree_node *first = tree_first(&loop->turn.deadlines);

    return first ? container_of((struct tree_node *)(uintptr_t)first, struct deadline, node) : NULL;
}

// When the fence is to be looked at even if nothing else happens: as it is about to close, and then
// often, for whoever opens it wakes nobody.
static nsec_t loop_fence_due(const struct turn *turn)
{
    nsec_t until_at = fence_until(turn->fence);
    nsec_t now_at = turn->now().mono;

    if (turn->fenced) {
        return now_at + FENCE_LOOK_EVERY;
    }
    return until_at == NSEC_NEVER ? NSEC_NEVER : now_at + (until_at - clock_boot());
}

static nsec_t loop_next_due(const struct loop *loop)
{
    const struct deadline *first = loop_first_deadline(loop);
    nsec_t due_at = broker_next_due(loop->turn.broker);

    if (first) {
        due_at = first->at < due_at ? first->at : due_at;
    }
    if (loop->turn.chores) {
        nsec_t chores_at = chores_due(&loop->turn);

        due_at = chores_at < due_at ? chores_at : due_at;
    }
    if (loop->store) {
        nsec_t store_at = loop->store->ops->next_due(loop->store);

        due_at = store_at < due_at ? store_at : due_at;
    }
    if (loop->turn.fence) {
        nsec_t fence_at = loop_fence_due(&loop->turn);

        due_at = fence_at < due_at ? fence_at : due_at;
    }
    return due_at;
}

// Sets the timer to `due_at`. It is rounded up, so that what is due is due when it fires. (Should
// the library's coarser clock make it fire early, or is `due_at` far off, the next turn sets it
// again.)
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
    wait_for = wait_for < TIMER_MOST ? wait_for : TIMER_MOST;
    micros = wait_for > 0 ? (wait_for + 999) / 1000 : 0;
    tv.tv_sec = (time_t)(micros / 1000000);
    tv.tv_usec = (suseconds_t)(micros % 1000000);
    if (event_add(&loop->timer, &tv) != 0) {
        // Without memory for the timer the next turn tries again.
        loop->timer_at = NSEC_NEVER;
    }
}

void loop_resumed(struct loop *loop, nsec_t slept_for)
{
    // The turn may have been told of the present before that.
    loop->turn.ticked = false;
    turn_tick(&loop->turn);
    loop->timer_at = NSEC_NEVER;
    (void)event_del(&loop->timer);
    if (slept_for == 0) {
        return;
    }
    loop->turn.woke_at = broker_now(loop->turn.broker).mono;
    // What fell due meanwhile is not late.
    loop->due_at = NSEC_NEVER;
    if (loop->store && loop->store->ops->resumed) {
        loop->store->ops->resumed(loop->store);
    }
}

// Whether something is left to do that no event will announce.
static bool loop_has_work(const struct loop *loop, nsec_t due_at)
{
    return loop->unsettled || loop->sheds || turn_walks(&loop->turn, WALK_JUDGE) ||
           turn_walks(&loop->turn, WALK_REVIEW) || !list_empty(&loop->turn.dear) ||
           !list_empty(&loop->turn.bulky) || !list_empty(&loop->turn.touched) ||
           due_at <= broker_now(loop->turn.broker).mono;
}

// Whatever else was due before the last turn was looked at then.
static void loop_note_due(struct loop *loop, nsec_t due_at)
{
    const struct deadline *first = loop_first_deadline(loop);
    nsec_t before_at = broker_now(loop->turn.broker).mono;

    loop->due_at = due_at > before_at ? due_at : before_at;
    if (first && first->at < loop->due_at) {
        loop->due_at = first->at;
    }
}

static void loop_wait(struct loop *loop, bool wait)
{
    nsec_t due_at = loop_next_due(loop);
    int flags = EVLOOP_ONCE;

    loop_note_due(loop, due_at);

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

// The rules have changed: what those may do who are connected is found out anew, of some in a turn,
// or of one that takes from very many queues, a part. No client is charged for that.
static void loop_judge(struct loop *loop)
{
    struct conn *conn;
    unsigned count = 0;

    while (count < BROKER_SLICE && !(count && turn_lasted(&loop->turn, TURN_INPUT_FOR, count)) &&
           (conn = roster_walk(&loop->turn, WALK_JUDGE))) {
        if (!conn_judge_again(conn)) {
            roster_walk_back(conn, WALK_JUDGE);
            break;
        }
        count++;
    }
    (void)broker_take_links(loop->turn.broker);
}

// Nobody whose output is held will be answered.
static void loop_break_held(struct loop *loop)
{
    int64_t count = 0;

    for (struct conn *conn = roster_first(&loop->turn); conn; conn = roster_next(conn)) {
        if (conn_is_held(conn)) {
            conn_break(conn, "its answer cannot be made to last");
            count++;
        }
    }
    if (count > 0) {
        log_error("answers_given_up", log_number("connections", count));
    }
}

static void loop_store_step(struct loop *loop)
{
    struct store *store = loop->store;
    enum store_pressure before = loop->turn.pressure;
    bool was_fenced = loop->turn.fenced;
    uint64_t reached;

    store->ops->turn(store);
    reached = store->ops->reached(store);
    loop->turn.pressure = store->ops->pressure(store);
    loop->turn.fenced = false;
    (void)turn_may_send(&loop->turn);
    if (reached != loop->turn.pool.reached) {
        loop->turn.pool.reached = reached;
        list_append_all(&loop->turn.touched, &loop->turn.held);
    }
    if (loop->turn.pressure < before || (was_fenced && !loop->turn.fenced)) {
        list_append_all(&loop->turn.touched, &loop->turn.paused);
    }
    if (store->ops->gave_up(store)) {
        loop_break_held(loop);
    }
}

static void loop_review_some(struct turn *turn)
{
    struct conn *conn;

    for (unsigned i = 0; i < BROKER_SLICE && (conn = roster_walk(turn, WALK_REVIEW)); i++) {
        conn_look_again(conn);
    }
}

static nsec_t loop_cpu_time(void)
{
    struct timespec used = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (nsec_t)used.tv_sec * NSEC_PER_SEC + used.tv_nsec;
}

// As long as a suspend that is not told as one (process/suspend.h).
#define LOOP_JUMP NSEC_PER_SEC

// Much time has passed since the last turn. Where the machine was suspended meanwhile, what it kept
// from happening is not to be held against peers and disks: the event that tells of it may come
// later in the wait than others that end it, or after it.
static void loop_look_for_suspend(struct loop *loop, nsec_t before_at)
{
    if (broker_now(loop->turn.broker).mono - before_at >= LOOP_JUMP && loop->suspend_watch) {
        suspend_look(loop->suspend_watch);
    }
}

static void loop_steps(struct loop *loop, bool wait)
{
    nsec_t before_at = broker_now(loop->turn.broker).mono;
    struct list_node batch;
    struct list_node ran;
    unsigned count;

    list_init(&batch);
    list_init(&ran);
    turn_begin(&loop->turn);
    if (loop->turn.io) {
        loop_wait_for_io(loop, wait);
    } else {
        loop_wait(loop, wait);
        turn_tick(&loop->turn);
    }
    loop_look_for_suspend(loop, before_at);
    loop_expire(loop);
    if (turn_walks(&loop->turn, WALK_JUDGE)) {
        loop_judge(loop);
    }
    if (turn_walks(&loop->turn, WALK_REVIEW)) {
        loop_review_some(&loop->turn);
    }
    chores_work(&loop->turn);
    loop->unsettled = broker_settle(loop->turn.broker);
    count = turn_take_touched(&loop->turn, &batch, 0);
    turn_run(&loop->turn, &batch, &ran);
    if (loop->store) {
        loop_store_step(loop);
        // What may leave now need not wait for another turn.
        (void)turn_take_touched(&loop->turn, &ran, count);
    }
    turn_finish(&loop->turn, &ran, &batch);
    loop->sheds = shed_step(&loop->shed, &loop->turn);
    if (loop->turn.io) {
        io_flush(loop->turn.io, broker_now(loop->turn.broker).mono);
    }
}

// Not the time that passed: a busy machine makes no turn slow. But no more than passed since the
// wait, either: on a virtual machine the thread's clock is corrected later, in a jump, for time
// that was stolen.
static void loop_judge_turn(struct loop *loop, nsec_t slow_for, nsec_t cpu_for, nsec_t passed_for)
{
    nsec_t used_for = cpu_for < passed_for ? cpu_for : passed_for;

    if (used_for > slow_for) {
        loop->watch.slow_turns++;
        log_warn("slow_turn", log_number("us", used_for / 1000));
    }
}

void loop_turn(struct loop *loop, bool wait)
{
    // The turn itself may set another.
    nsec_t slow_for = loop->slow_for;
    nsec_t cpu_began_at = slow_for > 0 ? loop_cpu_time() : 0;
    nsec_t began_at;
    nsec_t now_at;

    loop_steps(loop, wait);
    began_at = broker_now(loop->turn.broker).mono;
    now_at = loop->turn.now().mono;
    loop_watch_turn(&loop->watch, now_at, now_at - began_at, began_at - loop->due_at);
    if (slow_for > 0) {
        loop_judge_turn(loop, slow_for, loop_cpu_time() - cpu_began_at, now_at - began_at);
    }
}
