/* SPDX-License-Identifier: MIT */
#include "tests/core/oracle_gates.h"
#include "tests/core/oracle_states.h"

#include <string.h>

//
// Sessions
//

void oracle_open(struct oracle *o, int session, bool in_turn)
{
    o->sessions[session] = (struct oracle_session){
        .number = ++o->stamp, .in_turn = in_turn, .wait_state = ORACLE_WAITS_NOT};
}

// The lease of the session that ends first, among jobs of `queue`; -1: of any queue.
static struct oracle_job *first_lease(struct oracle *o, int session, int queue)
{
    struct oracle_job *first = NULL;

    EACH_JOB(o, job)
    {
        if (job->state != JOB_RESERVED || job->holder != session ||
            (queue >= 0 && (job->queue != queue || job->by_id))) {
            continue;
        }
        if (!first || oracle_lease_end(job) < oracle_lease_end(first) ||
            (oracle_lease_end(job) == oracle_lease_end(first) && job->seq < first->seq)) {
            first = job;
        }
    }
    return first;
}

void oracle_close(struct oracle *o, int session)
{
    struct oracle_job *job;

    o->sessions[session].wait_state = ORACLE_WAITS_NOT;
    memset(o->sessions[session].subs, 0, sizeof o->sessions[session].subs);
    EACH_JOB(o, watched)
    {
        for (int i = watched->watches - 1; i >= 0 && watched->id; i--) {
            if (watched->watchers[i] == session) {
                oracle_unwatch(o, watched, i);
            }
        }
    }
    o->gathering = true;
    while ((job = first_lease(o, session, -1)) != NULL) {
        model_lost(o, job, LOST_LEFT);
    }
    o->gathering = false;
    model_meet_all(o);
}

void oracle_subscribe(struct oracle *o, int session, int queue,
                      const struct subscription_terms *terms)
{
    struct oracle_sub *sub = &o->sessions[session].subs[queue];

    if (!sub->on) {
        *sub = (struct oracle_sub){.on = true, .served = -(int64_t)++o->stamp};
    }
    sub->limit_for = terms->limit_for;
    sub->on_limit = terms->on_limit;
}

void oracle_unsubscribe(struct oracle *o, int session, int queue, bool give_back)
{
    struct oracle_job *job;
    bool was_on = o->sessions[session].subs[queue].on;

    o->sessions[session].subs[queue].on = false;
    o->gathering = true;
    while (was_on && give_back && (job = first_lease(o, session, queue)) != NULL) {
        model_lost(o, job, LOST_LEFT);
    }
    o->gathering = false;
    model_meet_all(o);
}

//
// Submitting
//

static void add_watch(struct oracle_job *job, int watcher, struct watch *handle)
{
    if (watcher >= 0) {
        assert_true(job->watches < ORACLE_WATCHES);
        job->watchers[job->watches] = watcher;
        job->handles[job->watches++] = handle;
    }
}

void oracle_put(struct oracle *o, int queue, const struct plan *plan, uint64_t id, int watcher,
                struct watch *handle)
{
    struct oracle_job *job = oracle_namesake(o, queue, plan->key);
    nsec_t at = plan->at ? plan->at : o->now.mono + plan->delay_for;
    bool on_wall = plan->at != 0;

    if (job) {
        assert_int_equal(job->id, id);
        add_watch(job, watcher, handle);
        job->durable = job->durable || !plan->fleeting;
        if (job->state == JOB_DELAYED && !job->imposed &&
            (!job->on_wall || plan->at || plan->delay_for) &&
            model_left_until(o, at, on_wall) < model_left_until(o, job->due_at, job->on_wall)) {
            model_start(o, job, at, on_wall);
        }
        return;
    }
    assert_null(oracle_find(o, id));
    for (job = o->jobs; job->id; job++) {
        assert_true(job + 1 < o->jobs + ORACLE_JOBS);
    }
    *job = (struct oracle_job){.id = id, .plan = *plan, .queue = queue, .pri = plan->pri};
    job->seq = ++o->stamp;
    job->created_at = o->now.mono;
    job->keyed = plan->key != NULL;
    job->claimed = job->seq;
    job->durable = !plan->fleeting;
    ORACLE_COUNT(o, job, submitted);
    add_watch(job, watcher, handle);
    model_start(o, job, at, on_wall);
}

void oracle_unwatch(struct oracle *o, struct oracle_job *job, int place)
{
    job->watches--;
    for (int i = place; i < job->watches; i++) {
        job->watchers[i] = job->watchers[i + 1];
        job->handles[i] = job->handles[i + 1];
    }
    if (model_abandoned(job) && job->state != JOB_RESERVED) {
        ORACLE_COUNT(o, job, deleted);
        ORACLE_COUNT(o, job, unwanted);
        model_end(o, job, NULL);
    }
}

//
// Working
//

static bool goes_before(const struct oracle_session *session, const struct oracle_job *a,
                        const struct oracle_job *b)
{
    const struct oracle_sub *x = &session->subs[a->queue];
    const struct oracle_sub *y = &session->subs[b->queue];

    if (a->pri != b->pri) {
        return a->pri < b->pri;
    }
    if (session->in_turn && x != y) {
        return x->served < y->served;
    }
    return a->seq < b->seq;
}

static struct oracle_job *best_job(struct oracle *o, int session)
{
    const struct oracle_session *who = &o->sessions[session];
    struct oracle_job *best = model_weigh(o, session);

    if (best) {
        return best;
    }
    EACH_JOB(o, job)
    {
        if (job->state == JOB_READY && who->subs[job->queue].on && !who->subs[job->queue].barred &&
            model_open(o, job->queue) && (!best || goes_before(who, job, best))) {
            best = job;
        }
    }
    return best;
}

uint64_t oracle_take(struct oracle *o, int session)
{
    struct oracle_job *job = best_job(o, session);

    if (!job) {
        return 0;
    }
    model_weigh_take(o, session, job);
    model_lease(o, job, session, false);
    return job->id;
}

bool oracle_may_work(const struct oracle *o, int session, int queue)
{
    return !o->sessions[session].ruled || o->sessions[session].allowed[queue];
}

void oracle_grant(struct oracle *o, int session, const bool *allowed)
{
    struct oracle_session *who = &o->sessions[session];
    struct oracle_job *best;

    who->ruled = allowed != NULL;
    for (int queue = 0; queue < ORACLE_QUEUES; queue++) {
        struct oracle_sub *sub = &who->subs[queue];
        bool was_barred = sub->barred;

        who->allowed[queue] = allowed && allowed[queue];
        sub->barred = sub->on && !oracle_may_work(o, session, queue);
        sub->joined = was_barred && !sub->barred ? ++o->stamp : sub->joined;
    }
    best = who->wait_state == ORACLE_WAITS_FOR_JOB ? best_job(o, session) : NULL;
    if (best) {
        who->wait_state = ORACLE_WAITS_NOT;
        model_weigh_take(o, session, best);
        model_lease(o, best, session, false);
        model_tell(o, session, "leased", best->id);
    }
}

enum status oracle_take_id(struct oracle *o, int session, uint64_t id)
{
    struct oracle_job *job = oracle_find(o, id);

    if (job && !oracle_may_work(o, session, job->queue)) {
        return STATUS_FORBIDDEN;
    }

    if (!job || job->state == JOB_RESERVED) {
        return STATUS_NOT_FOUND;
    }
    model_reclaim_key(o, job);
    model_lease(o, job, session, true);
    return STATUS_OK;
}

// When the session is warned of a lease that ends; NSEC_NEVER for never.
static nsec_t warned_at(const struct oracle *o, int session, nsec_t margin_for)
{
    nsec_t first = NSEC_NEVER;

    for (const struct oracle_job *job = o->jobs; job < o->jobs + ORACLE_JOBS; job++) {
        if (job->id && job->state == JOB_RESERVED && job->holder == session) {
            first = model_min(first, oracle_lease_end(job));
        }
    }
    return margin_for < 0 || first == NSEC_NEVER ? NSEC_NEVER : first - margin_for;
}

enum status oracle_wait(struct oracle *o, int session, nsec_t until, nsec_t margin_for)
{
    struct oracle_session *who = &o->sessions[session];

    if (model_is_barred(who)) {
        return STATUS_FORBIDDEN;
    }
    if (warned_at(o, session, margin_for) <= o->now.mono) {
        return STATUS_LEASE_SOON;
    }
    if (until <= o->now.mono) {
        return STATUS_TIMED_OUT;
    }
    who->wait_state = ORACLE_WAITS_FOR_JOB;
    who->waits_since = ++o->stamp;
    who->until = until;
    who->margin_for = margin_for;
    return STATUS_OK;
}

void oracle_await_nudge(struct oracle *o, int session)
{
    o->sessions[session].wait_state = ORACLE_WAITS_FOR_NUDGE;
}

void oracle_unwait(struct oracle *o, int session)
{
    o->sessions[session].wait_state = ORACLE_WAITS_NOT;
}

// The job that the session holds, or held until its time to run was over; NULL for none.
static struct oracle_job *finishable(struct oracle *o, int session, uint64_t id)
{
    struct oracle_job *job = oracle_find(o, id);

    if (job && (model_held(o, session, id) ||
                (job->state == JOB_READY && job->last_holder == o->sessions[session].number))) {
        return job;
    }
    return NULL;
}

enum status oracle_complete(struct oracle *o, int session, uint64_t id)
{
    struct oracle_job *job = finishable(o, session, id);

    if (!job) {
        return STATUS_NOT_FOUND;
    }
    ORACLE_COUNT(o, job, completed);
    model_done(o, job);
    model_end(o, job, "complete");
    return STATUS_OK;
}

enum status oracle_fail(struct oracle *o, int session, uint64_t id)
{
    struct oracle_job *job = model_held(o, session, id);

    if (!job) {
        return STATUS_NOT_FOUND;
    }
    model_done(o, job);
    model_failed(o, job);
    return STATUS_OK;
}

enum status oracle_release(struct oracle *o, int session, uint64_t id, uint32_t pri,
                           nsec_t delay_for)
{
    struct oracle_job *job = model_held(o, session, id);

    if (!job) {
        return STATUS_NOT_FOUND;
    }
    if (model_abandoned(job)) {
        ORACLE_COUNT(o, job, failed);
        model_end(o, job, NULL);
        return STATUS_OK;
    }
    job->pri = pri;
    job->releases++;
    ORACLE_COUNT(o, job, releases);
    ORACLE_COUNT(o, job, retries);
    model_tell_watchers(o, job, "retried");
    model_start(o, job, o->now.mono + delay_for, false);
    job->imposed = true;
    return STATUS_OK;
}

enum status oracle_bury(struct oracle *o, int session, uint64_t id, uint32_t pri)
{
    struct oracle_job *job = model_held(o, session, id);

    if (!job) {
        return STATUS_NOT_FOUND;
    }
    model_done(o, job);
    if (!job->durable) {
        ORACLE_COUNT(o, job, failed);
        model_end(o, job, "failed");
        return STATUS_OK;
    }
    job->pri = pri;
    model_bury(o, job);
    return STATUS_OK;
}

enum status oracle_touch(struct oracle *o, int session, uint64_t id)
{
    struct oracle_job *job = model_held(o, session, id);

    if (!job) {
        return STATUS_NOT_FOUND;
    }
    job->ttr_at = job->plan.ttr_for ? o->now.mono + job->plan.ttr_for : NSEC_NEVER;
    job->renewed = true;
    job->placed = ++o->stamp;
    return STATUS_OK;
}

void oracle_end_limits(struct oracle *o, int session)
{
    EACH_JOB(o, job)
    {
        if (model_held(o, session, job->id) && job->limit_at != NSEC_NEVER) {
            job->limit_at = NSEC_NEVER;
            (void)oracle_touch(o, session, job->id);
        }
    }
}

enum status oracle_data(struct oracle *o, int session, uint64_t id)
{
    struct oracle_job *job = finishable(o, session, id);

    if (!job) {
        return STATUS_NOT_FOUND;
    }
    model_tell_watchers(o, job, "data");
    (void)oracle_touch(o, session, id);
    return STATUS_OK;
}

enum status oracle_cancel(struct oracle *o, uint64_t id, bool even_held)
{
    struct oracle_job *job = oracle_find(o, id);

    if (!job) {
        return STATUS_NOT_FOUND;
    }
    if (job->state == JOB_RESERVED && !even_held) {
        return STATUS_HELD;
    }
    ORACLE_COUNT(o, job, deleted);
    model_end(o, job, "cancelled");
    return STATUS_OK;
}

//
// Queues
//

static bool ends_before(const struct oracle *o, const struct oracle_job *a,
                        const struct oracle_job *b)
{
    nsec_t x = oracle_lease_end(a), y = oracle_lease_end(b);
    uint64_t of_a = o->sessions[a->holder].number, of_b = o->sessions[b->holder].number;

    if (x != y || of_a != of_b) {
        return x != y ? x < y : of_a < of_b;
    }
    return a->seq < b->seq;
}

void oracle_pause(struct oracle *o, int queue, nsec_t pause_for)
{
    o->pause_over[queue] = false;
    if (pause_for) {
        o->paused_until[queue] = o->now.mono + pause_for;
    } else if (o->paused_until[queue]) {
        o->paused_until[queue] = 0;
        model_meet_all(o);
    }
}

//
// Time
//

static struct oracle_job *delay_due(struct oracle *o, bool on_wall)
{
    struct oracle_job *first = NULL;

    EACH_JOB(o, job)
    {
        if (job->state == JOB_DELAYED && job->on_wall == on_wall &&
            model_left_until(o, job->due_at, on_wall) <= 0 &&
            (!first || job->due_at < first->due_at ||
             (job->due_at == first->due_at && job->delayed < first->delayed))) {
            first = job;
        }
    }
    return first;
}

// The next lease that is over: the one that ends first, then that of the session that was opened
// first, then the first by place among equals.
static struct oracle_job *lease_due(struct oracle *o)
{
    struct oracle_job *first = NULL;

    EACH_JOB(o, job)
    {
        if (job->state == JOB_RESERVED && oracle_lease_end(job) <= o->now.mono &&
            (!first || ends_before(o, job, first))) {
            first = job;
        }
    }
    return first;
}

// Sessions in the order in which they were opened; -1 after the last.
static int next_opened(const struct oracle *o, uint64_t after)
{
    int next = -1;

    for (int i = 0; i < ORACLE_SESSIONS; i++) {
        if (o->sessions[i].number > after &&
            (next < 0 || o->sessions[i].number < o->sessions[next].number)) {
            next = i;
        }
    }
    return next;
}

static void end_waits(struct oracle *o)
{
    for (int i = next_opened(o, 0); i >= 0; i = next_opened(o, o->sessions[i].number)) {
        struct oracle_session *session = &o->sessions[i];

        if (session->wait_state != ORACLE_WAITS_FOR_JOB) {
            continue;
        }
        if (warned_at(o, i, session->margin_for) <= o->now.mono) {
            session->wait_state = ORACLE_WAITS_NOT;
            model_tell(o, i, "lease_soon", 0);
        } else if (session->until <= o->now.mono) {
            session->wait_state = ORACLE_WAITS_NOT;
            model_tell(o, i, "timed_out", 0);
        }
    }
}

void oracle_tick(struct oracle *o, struct instant now)
{
    struct oracle_job *due;

    o->stepped = o->stepped || now.wall - o->now.wall != now.mono - o->now.mono;
    o->now = now;
    o->gathering = true;
    while ((due = delay_due(o, false)) != NULL || (due = delay_due(o, true)) != NULL) {
        model_ready(o, due);
    }
    for (int i = 0; i < ORACLE_QUEUES; i++) {
        if (o->paused_until[i] && o->paused_until[i] <= now.mono) {
            o->pause_over[i] = true;
            o->paused_until[i] = 0;
        }
    }
    model_gates_tick(o);
    model_expire_all(o);
    while ((due = lease_due(o)) != NULL) {
        model_lost(o, due, due->limit_at <= now.mono ? LOST_LIMIT : LOST_TTR);
    }
    o->gathering = false;
    model_meet_all(o);
    end_waits(o);
}

void oracle_settle(struct oracle *o)
{
    model_meet_all(o);
    for (int i = 0; i < ORACLE_SESSIONS; i++) {
        if (o->sessions[i].wait_state == ORACLE_WAITS_FOR_NUDGE && best_job(o, i)) {
            o->sessions[i].wait_state = ORACLE_WAITS_NOT;
            model_tell(o, i, "nudged", 0);
        }
    }
    for (int queue = 0; queue < ORACLE_QUEUES; queue++) {
        bool used = false;

        for (int i = 0; i < ORACLE_SESSIONS; i++) {
            used = used || o->sessions[i].subs[queue].on;
        }
        EACH_JOB(o, job)
        {
            used = used || job->queue == queue;
        }
        if (!used && !o->paused_until[queue] && !model_gate_keeps(o, queue)) {
            model_forget_counts(o, queue);
        }
    }
}

nsec_t oracle_next_due(const struct oracle *o)
{
    nsec_t next = NSEC_NEVER;

    for (const struct oracle_job *job = o->jobs; job < o->jobs + ORACLE_JOBS; job++) {
        if (job->id && job->state == JOB_RESERVED) {
            next = model_min(next, oracle_lease_end(job));
        } else if (job->id && job->state == JOB_DELAYED) {
            nsec_t left = model_left_until(o, job->due_at, job->on_wall);

            // The wall clock may be set at any time, so it must be read again.
            next = model_min(next, o->now.mono + (job->on_wall ? model_min(left, SEC(1)) : left));
        } else if (job->id) {
            next = model_min(next, model_over_at(o, job));
        }
    }
    for (int i = 0; i < ORACLE_QUEUES; i++) {
        next = o->paused_until[i] ? model_min(next, o->paused_until[i]) : next;
        next = model_min(next, o->gates[i].wakes_at);
    }
    for (int i = 0; i < ORACLE_SESSIONS; i++) {
        const struct oracle_session *session = &o->sessions[i];

        if (session->wait_state == ORACLE_WAITS_FOR_JOB) {
            next = model_min(next, model_min(session->until, warned_at(o, i, session->margin_for)));
        }
    }
    return next;
}
