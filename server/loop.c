/* SPDX-License-Identifier: MIT */
#include "server/loop.h"

#include "core/base/log.h"
#include "server/conn.h"

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

// A connection asks for edges and for the news that its peer has gone; without these it would be
// deaf, or turn for ever. What the library's variables in the environment (EVENT_NOEPOLL) would
// choose instead is not heard.
static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config &&
        event_config_require_features(config, EV_FEATURE_ET | EV_FEATURE_EARLY_CLOSE) == 0 &&
        event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV) == 0) {
        base = event_base_new_with_config(config);
    }
    if (config) {
        event_config_free(config);
    }
    return base;
}

bool loop_init(struct loop *loop, struct broker *broker, struct instant (*now)(void))
{
    memset(loop, 0, sizeof *loop);
    loop->broker = broker;
    loop->now = now;
    loop->timer_at = NSEC_NEVER;
    list_init(&loop->all);
    list_init(&loop->touched);
    list_init(&loop->held);
    list_init(&loop->paused);
    loop->buffer = malloc(LOOP_KEPT_MAX + LOOP_READ_MAX);
    loop->base = make_base();
    if (!loop->buffer || !loop->base ||
        evtimer_assign(&loop->timer, loop->base, loop_timer_fired, loop) != 0) {
        loop_close(loop);
        return false;
    }
    return true;
}

void loop_use_store(struct loop *loop, struct store *store)
{
    loop->store = store;
    loop->pool.reached = store->ops->reached(store);
}

void loop_close_all(struct loop *loop)
{
    while (!list_empty(&loop->all)) {
        conn_close(list_item(list_first(&loop->all), struct conn, all));
    }
}

void loop_close(struct loop *loop)
{
    if (!loop->now) {
        return;
    }
    loop_close_all(loop);
    output_pool_clear(&loop->pool);
    if (loop->base) {
        if (event_initialized(&loop->timer)) {
            (void)event_del(&loop->timer);
        }
        event_base_free(loop->base);
    }
    free(loop->buffer);
    memset(loop, 0, sizeof *loop);
}

void loop_finish_all(struct loop *loop)
{
    list_each (node, &loop->all) {
        conn_go(list_item(node, struct conn, all));
    }
}

void loop_tick(struct loop *loop)
{
    if (!loop->ticked) {
        loop->ticked = true;
        broker_tick(loop->broker, loop->now());
    }
}

bool loop_may_complain(struct loop *loop)
{
    nsec_t now_at = broker_now(loop->broker).mono;

    if (loop->complained_at != 0 && now_at - loop->complained_at < NSEC_PER_SEC) {
        return false;
    }
    loop->complained_at = now_at;
    return true;
}

// Whether the turn has lasted so long that what comes after `count` connections has to wait.
static bool loop_lasted(const struct loop *loop, nsec_t lasts_for, unsigned count)
{
    return count % LOOP_LOOK == 0 && loop->now().mono - broker_now(loop->broker).mono >= lasts_for;
}

void loop_count_event(struct loop *loop)
{
    loop->events++;
    if (loop->events >= LOOP_BATCH || loop_lasted(loop, LOOP_INPUT_FOR, loop->events)) {
        (void)event_base_loopbreak(loop->base);
    }
}

void loop_count_bytes(struct loop *loop, size_t len)
{
    loop->bytes += len;
    if (loop->bytes >= LOOP_BYTES_MAX) {
        (void)event_base_loopbreak(loop->base);
    }
}

static nsec_t loop_next_due(const struct loop *loop)
{
    const struct tree_node *first = tree_first(&loop->deadlines);
    nsec_t due_at = broker_next_due(loop->broker);

    if (first) {
        nsec_t deadline_at = deadline_of(first)->at;

        due_at = deadline_at < due_at ? deadline_at : due_at;
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
    wait_for = due_at - loop->now().mono;
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
    return loop->unsettled || !list_empty(&loop->touched) ||
           due_at <= broker_now(loop->broker).mono;
}

static void loop_wait(struct loop *loop, bool wait)
{
    nsec_t due_at = loop_next_due(loop);
    int flags = EVLOOP_ONCE;

    if (!wait || loop_has_work(loop, due_at)) {
        flags |= EVLOOP_NONBLOCK;
    } else {
        loop_set_timer(loop, due_at);
    }
    (void)event_base_loop(loop->base, flags);
}

static void loop_expire(struct loop *loop)
{
    nsec_t now_at = broker_now(loop->broker).mono;

    for (unsigned i = 0; i < BROKER_SLICE; i++) {
        struct tree_node *first = tree_first(&loop->deadlines);

        if (!first || deadline_of(first)->at > now_at) {
            return;
        }
        conn_expire(deadline_of(first)->conn);
    }
}

// Moves the connections that have been touched for the longest to `batch`, which has `count`
// already; returns how many there are then.
static unsigned loop_take(struct loop *loop, struct list_node *batch, unsigned count)
{
    for (; count < LOOP_BATCH && !list_empty(&loop->touched); count++) {
        struct list_node *node = list_first(&loop->touched);

        list_remove(node);
        list_append(batch, node);
        list_item(node, struct conn, touched)->parked = false;
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
    while (!list_empty(batch) && !(count && loop_lasted(loop, LOOP_INPUT_FOR, count))) {
        struct conn *conn = list_item(list_first(batch), struct conn, touched);

        list_remove(&conn->touched);
        list_append(&done, &conn->touched);
        if (conn->runs) {
            conn_run(conn);
            count++;
        }
    }
    list_append_all(batch, &done);
}

// Nobody whose output is held will be answered.
static void loop_give_up(struct loop *loop)
{
    int64_t count = 0;

    list_each (node, &loop->all) {
        struct conn *conn = list_item(node, struct conn, all);

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
    enum store_pressure before = loop->pressure;
    uint64_t reached;

    store->ops->turn(store);
    reached = store->ops->reached(store);
    loop->pressure = store->ops->pressure(store);
    if (reached != loop->pool.reached) {
        loop->pool.reached = reached;
        list_append_all(&loop->touched, &loop->held);
    }
    if (loop->pressure < before) {
        list_append_all(&loop->touched, &loop->paused);
    }
    if (store->ops->gave_up(store)) {
        loop_give_up(loop);
    }
}

// Those that the turn has no bytes or no time left for come first in the next one.
static void loop_finish(struct loop *loop, struct list_node *batch)
{
    unsigned count = 0;

    while (!list_empty(batch) && loop->bytes < LOOP_BYTES_MAX &&
           !(count && loop_lasted(loop, LOOP_OUTPUT_FOR, count))) {
        struct conn *conn = list_item(list_first(batch), struct conn, touched);

        list_remove(&conn->touched);
        conn_end_turn(conn);
        count++;
    }
    while (!list_empty(batch)) {
        struct list_node *last = batch->prev;

        list_remove(last);
        list_insert_before(loop->touched.next, last);
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
    nsec_t passed_for = loop->now().mono - broker_now(loop->broker).mono;

    return used_for < passed_for ? used_for : passed_for;
}

static void loop_steps(struct loop *loop, bool wait)
{
    struct list_node batch;
    unsigned count;

    list_init(&batch);
    loop->ticked = false;
    loop->events = 0;
    loop->bytes = 0;
    loop_wait(loop, wait);
    loop_tick(loop);
    loop_expire(loop);
    loop->unsettled = broker_settle(loop->broker);
    count = loop_take(loop, &batch, 0);
    loop_run(loop, &batch);
    if (loop->store) {
        loop_store_step(loop);
        // What may leave now need not wait for another turn.
        (void)loop_take(loop, &batch, count);
    }
    // What was received must not keep anything from being sent.
    loop->bytes = 0;
    loop_finish(loop, &batch);
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
