/* SPDX-License-Identifier: MIT */
#include "server/loop.h"

#include "core/base/fence.h"
#include "core/base/log.h"
#include "server/conn/conn.h"
#include "server/conn/loop_turn.h"
#include "server/io/io.h"
#include "server/net/edge_socket.h"
#include "server/process/clock.h"
#include "server/process/suspend.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// The longest time that the timer is set for. It uses a clock that stops while the machine is
// suspended: if a resume is not reported (process/suspend.h), the loop is late by at most this.
#define LOOP_TIMER_MAX (30 * NSEC_PER_SEC)
// How often a closed fence is checked.
#define FENCE_CHECK_EVERY (20 * NSEC_PER_MSEC)

// Begins the present window. After a long time without turns, all windows are over.
static void loop_watch_roll(struct loop_watch *watch, nsec_t now_at)
{
    nsec_t late_for = now_at - watch->ends_at;

    if (late_for >= LOOP_WATCH_WINDOWS * LOOP_WATCH_WINDOW_FOR) {
        memset(watch->windows, 0, sizeof watch->windows);
        watch->ends_at = now_at + LOOP_WATCH_WINDOW_FOR;
        return;
    }
    while (now_at >= watch->ends_at) {
        watch->at = (watch->at + 1) % LOOP_WATCH_WINDOWS;
        watch->windows[watch->at] = (struct loop_window){0};
        watch->ends_at += LOOP_WATCH_WINDOW_FOR;
    }
}

void loop_watch_turn(struct loop_watch *watch, nsec_t now_at, nsec_t took_for, nsec_t lag_for)
{
    struct loop_window *window;

    watch->turns++;
    if (now_at >= watch->ends_at) {
        loop_watch_roll(watch, now_at);
    }
    window = &watch->windows[watch->at];
    window->longest_for = took_for > window->longest_for ? took_for : window->longest_for;
    window->lag_for = lag_for > window->lag_for ? lag_for : window->lag_for;
}

struct loop_window loop_watch_worst(struct loop_watch *watch, nsec_t now_at)
{
    struct loop_window worst = {0};

    if (now_at >= watch->ends_at) {
        loop_watch_roll(watch, now_at);
    }
    for (unsigned i = 0; i < LOOP_WATCH_WINDOWS; i++) {
        const struct loop_window *window = &watch->windows[i];

        worst.longest_for =
            window->longest_for > worst.longest_for ? window->longest_for : worst.longest_for;
        worst.lag_for = window->lag_for > worst.lag_for ? window->lag_for : worst.lag_for;
    }
    return worst;
}

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
    turn_init(&loop->turn, edge_base_new(), malloc(CONN_JOIN_MAX + CONN_READ_MAX), broker, now);
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
    loop->turn.fence = store->shared ? store->shared->fence(store) : NULL;
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
    turn->tasks = NULL;
}

void loop_drop_all(struct loop *loop)
{
    for (struct conn *conn = conn_registry_first(&loop->turn); conn;
         conn = conn_registry_next(conn)) {
        conn_break(conn, "this process does not own the journal any more");
    }
    loop_close_all(loop);
}

void loop_close_all(struct loop *loop)
{
    struct conn *conn;

    while ((conn = conn_registry_first(&loop->turn))) {
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
    for (struct conn *conn = conn_registry_first(&loop->turn); conn;
         conn = conn_registry_next(conn)) {
        conn_stop(conn);
    }
}

static const struct deadline *loop_first_deadline(const struct loop *loop)
{
    const struct tree_node *first = tree_first(&loop->turn.deadlines);

    return first ? container_of((struct tree_node *)(uintptr_t)first, struct deadline, node) : NULL;
}

// When the fence must be checked even if nothing else happens: when it is about to close, and often
// while it is closed, as the thread that opens it wakes no other.
static nsec_t loop_fence_due(const struct turn *turn)
{
    nsec_t until_at = fence_until(turn->fence);
    nsec_t now_at = turn->now().mono;

    if (turn->fenced) {
        return now_at + FENCE_CHECK_EVERY;
    }
    return until_at == NSEC_NEVER ? NSEC_NEVER : now_at + (until_at - clock_boot());
}

static nsec_t loop_earlier(nsec_t a_at, nsec_t b_at)
{
    return a_at < b_at ? a_at : b_at;
}

static nsec_t loop_next_due(const struct loop *loop)
{
    const struct deadline *first = loop_first_deadline(loop);
    nsec_t due_at = broker_next_due(loop->turn.broker);

    if (first) {
        due_at = loop_earlier(first->at, due_at);
    }
    if (loop->turn.tasks) {
        due_at = loop_earlier(turn_tasks_due(&loop->turn), due_at);
    }
    if (loop->store) {
        due_at = loop_earlier(loop->store->ops->next_due(loop->store), due_at);
    }
    if (loop->turn.fence) {
        due_at = loop_earlier(loop_fence_due(&loop->turn), due_at);
    }
    return due_at;
}

// Sets the timer to `due_at`, rounded up, so that the deadline is over when it fires. If the coarse
// clock of libevent makes it fire early, or `due_at` is far away, the next turn sets it again.
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
    wait_for = wait_for < LOOP_TIMER_MAX ? wait_for : LOOP_TIMER_MAX;
    micros = wait_for > 0 ? (wait_for + 999) / 1000 : 0;
    tv.tv_sec = (time_t)(micros / 1000000);
    tv.tv_usec = (suseconds_t)(micros % 1000000);
    if (event_add(&loop->timer, &tv) != 0) {
        // Without memory for the timer, the next turn tries again.
        loop->timer_at = NSEC_NEVER;
    }
}

void loop_resumed(struct loop *loop, nsec_t slept_for)
{
    // The turn may have set the broker's time before the resume.
    loop->turn.ticked = false;
    turn_tick(&loop->turn);
    loop->timer_at = NSEC_NEVER;
    (void)event_del(&loop->timer);
    if (slept_for == 0) {
        return;
    }
    loop->turn.woke_at = broker_now(loop->turn.broker).mono;
    // What fell due during the suspension is not late.
    loop->due_at = NSEC_NEVER;
    if (loop->store && loop->store->ops->resumed) {
        loop->store->ops->resumed(loop->store);
    }
}

static void loop_wait(struct loop *loop, bool wait)
{
    const struct turn *turn = &loop->turn;
    const struct deadline *first = loop_first_deadline(loop);
    nsec_t before_at = broker_now(turn->broker).mono;
    nsec_t due_at = loop_next_due(loop);
    int flags = EVLOOP_ONCE;
    // No event will report this work.
    bool has_work = loop->unsettled || loop->evicts || turn_walks(turn, WALK_AUTHORIZE) ||
                    turn_walks(turn, WALK_REVIEW) || !list_empty(&turn->expensive) ||
                    !list_empty(&turn->bulky) || !list_empty(&turn->touched) || due_at <= before_at;

    // Everything that was due before the last turn, except deadlines, was done in it.
    loop->due_at = due_at > before_at ? due_at : before_at;
    if (first) {
        loop->due_at = loop_earlier(first->at, loop->due_at);
    }
    if (!wait || has_work) {
        flags |= EVLOOP_NONBLOCK;
    } else {
        loop_set_timer(loop, due_at);
        if (loop->turn.io && !io_begin_sleep(loop->turn.io)) {
            flags |= EVLOOP_NONBLOCK;
        }
    }
    (void)event_base_loop(loop->turn.base, flags);
}

// Waits, and drains the news of the I/O threads. If the loop's own connections use up a turn, links
// come first in the next one, so that neither starves the other.
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
    io_end_sleep(io, broker_now(loop->turn.broker).mono - began_at);
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

// The access rules have changed: authorizes some connections again, or a part of one that takes
// from very many queues. No client is charged for the work.
static void loop_authorize_some(struct loop *loop)
{
    struct conn *conn;
    unsigned count = 0;

    while (count < BROKER_SLICE && !(count && turn_lasted(&loop->turn, TURN_INPUT_FOR, count)) &&
           (conn = conn_registry_walk(&loop->turn, WALK_AUTHORIZE))) {
        if (!conn_authorize_again(conn)) {
            conn_registry_walk_back(conn, WALK_AUTHORIZE);
            break;
        }
        count++;
    }
    (void)broker_take_links(loop->turn.broker);
}

// The store has given up: held output will never be sent.
static void loop_break_held(struct loop *loop)
{
    int64_t count = 0;

    for (struct conn *conn = conn_registry_first(&loop->turn); conn;
         conn = conn_registry_next(conn)) {
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

static nsec_t loop_cpu_time(void)
{
    struct timespec used = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (nsec_t)used.tv_sec * NSEC_PER_SEC + used.tv_nsec;
}

// As long as a suspension that is not recognized as one (process/suspend.h).
#define LOOP_JUMP NSEC_PER_SEC

static void loop_steps(struct loop *loop, bool wait)
{
    nsec_t before_at = broker_now(loop->turn.broker).mono;
    struct list_node batch;
    struct list_node ran;
    struct conn *conn;
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
    // Much time has passed since the last turn. If the machine was suspended, that time must not
    // count against peers and disks. The event that reports the resume may come after others that
    // end the wait.
    if (broker_now(loop->turn.broker).mono - before_at >= LOOP_JUMP && loop->suspend_watch) {
        suspend_check(loop->suspend_watch);
    }
    loop_expire(loop);
    if (turn_walks(&loop->turn, WALK_AUTHORIZE)) {
        loop_authorize_some(loop);
    }
    for (unsigned i = 0; i < BROKER_SLICE && (conn = conn_registry_walk(&loop->turn, WALK_REVIEW));
         i++) {
        conn_review(conn);
    }
    turn_run_tasks(&loop->turn);
    loop->unsettled = broker_settle(loop->turn.broker);
    count = turn_take_touched(&loop->turn, &batch, 0);
    turn_run(&loop->turn, &batch, &ran);
    if (loop->store) {
        loop_store_step(loop);
        // Output that is durable now is sent in this turn.
        (void)turn_take_touched(&loop->turn, &ran, count);
    }
    turn_finish(&loop->turn, &ran, &batch);
    loop->evicts = eviction_step(&loop->eviction, &loop->turn);
    if (loop->turn.io) {
        io_flush(loop->turn.io, broker_now(loop->turn.broker).mono);
    }
}

void loop_turn(struct loop *loop, bool wait)
{
    // The turn may change the setting.
    nsec_t slow_for = loop->slow_for;
    nsec_t cpu_began_at = slow_for > 0 ? loop_cpu_time() : 0;
    nsec_t began_at;
    nsec_t now_at;
    nsec_t used_for;

    loop_steps(loop, wait);
    began_at = broker_now(loop->turn.broker).mono;
    now_at = loop->turn.now().mono;
    loop_watch_turn(&loop->watch, now_at, now_at - began_at, began_at - loop->due_at);
    if (slow_for > 0) {
        // Processor time, as a turn is not slow because the machine is busy; but not more than has
        // elapsed: on a virtual machine, the thread's clock is corrected late, in a jump, for
        // stolen time.
        used_for = loop_earlier(loop_cpu_time() - cpu_began_at, now_at - began_at);
        if (used_for > slow_for) {
            loop->watch.slow_turns++;
            log_warn("slow_turn", log_number("us", used_for / 1000));
        }
    }
}
