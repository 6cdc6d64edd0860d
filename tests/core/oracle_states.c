/* SPDX-License-Identifier: MIT */
#include "tests/core/oracle_states.h"

#include "tests/core/oracle_gates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_tell(struct oracle *o, int session, const char *what, uint64_t id)
{
    char *line = o->told[o->lines++];

    assert_true(o->lines < ORACLE_LINES);
    if (id) {
        (void)snprintf(line, ORACLE_LINE, "s%d %s %llu", session, what, (unsigned long long)id);
    } else {
        (void)snprintf(line, ORACLE_LINE, "s%d %s", session, what);
    }
}

void model_tell_watchers(struct oracle *o, const struct oracle_job *job, const char *what)
{
    for (int i = 0; i < job->watches; i++) {
        model_tell(o, job->watchers[i], what, job->id);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

// The events of one step have an order only within one session and one job, and these get at most
// one event per step.
void oracle_expect_told(struct oracle *o, struct stage *s)
{
    char lines[ORACLE_LINES][ORACLE_LINE];
    struct stage_text *told = &s->told;
    size_t count = 0;
    char *text = told->bytes;

    told->bytes[told->len] = '\0';
    for (char *end; told->len && text; text = end ? end + 2 : NULL) {
        size_t len;

        end = strstr(text, "; ");
        len = end ? (size_t)(end - text) : strlen(text);
        assert_true(count < ORACLE_LINES && len < ORACLE_LINE);
        memcpy(lines[count], text, len);
        lines[count++][len] = '\0';
    }
    told->len = 0;
    qsort(lines, count, sizeof *lines, by_text);
    qsort(o->told, o->lines, sizeof *o->told, by_text);
    for (size_t i = 0; i < count && i < o->lines; i++) {
        assert_string_equal(lines[i], o->told[i]);
    }
    assert_int_equal(count, o->lines);
    o->lines = 0;
}

nsec_t model_min(nsec_t a, nsec_t b)
{
    return a < b ? a : b;
}

nsec_t oracle_lease_end(const struct oracle_job *job)
{
    return model_min(job->ttr_at, job->limit_at);
}

struct oracle_job *oracle_find(struct oracle *o, uint64_t id)
{
    EACH_JOB(o, job)
    {
        if (job->id == id) {
            return job;
        }
    }
    return NULL;
}

struct oracle_job *model_held(struct oracle *o, int session, uint64_t id)
{
    struct oracle_job *job = oracle_find(o, id);

    return job && job->state == JOB_RESERVED && job->holder == session ? job : NULL;
}

struct oracle_job *oracle_namesake(struct oracle *o, int queue, const char *key)
{
    EACH_JOB(o, job)
    {
        if (key && job->keyed && job->queue == queue && strcmp(job->plan.key, key) == 0) {
            return job;
        }
    }
    return NULL;
}

const struct oracle_job *oracle_first_of_name(const struct oracle *o, const char *key)
{
    const struct oracle_job *first = NULL;

    for (const struct oracle_job *job = o->jobs; job < o->jobs + ORACLE_JOBS; job++) {
        if (job->id && job->keyed && strcmp(job->plan.key, key) == 0 &&
            (!first || job->claimed < first->claimed)) {
            first = job;
        }
    }
    return first;
}

void model_end(struct oracle *o, struct oracle_job *job, const char *told)
{
    if (told) {
        model_tell_watchers(o, job, told);
    }
    job->id = 0;
}

//
// Counters
//

static void add_time(struct oracle_times *times, nsec_t span)
{
    times->count++;
    times->sum_us += (uint64_t)(span / NSEC_PER_USEC);
}

// In whole steps of 2^20 ns.
nsec_t oracle_waited_for(const struct oracle *o, const struct oracle_job *job)
{
    nsec_t step = 1 << 20;

    return (o->now.mono / step - job->ready_at / step) * step;
}

void model_done(struct oracle *o, const struct oracle_job *job)
{
    bool exact = job->plan.ttr_for && !job->renewed && job->limit_at == NSEC_NEVER;
    nsec_t unit = exact ? 1 : 1000;

    if (job->state == JOB_RESERVED) {
        add_time(&o->run_of[job->queue], (o->now.mono / unit - job->begun_at / unit) * unit);
    }
}

void model_forget_counts(struct oracle *o, int queue)
{
    o->ever_of[queue] = (struct counts){0};
    o->wait_of[queue] = (struct oracle_times){0};
    o->run_of[queue] = (struct oracle_times){0};
}

//
// From state to state
//

void model_lease(struct oracle *o, struct oracle_job *job, int session, bool by_id)
{
    struct oracle_sub *sub = &o->sessions[session].subs[job->queue];
    bool limited = !by_id && sub->limit_for;

    if (job->last_holder) {
        model_tell_watchers(o, job, "retried");
    }
    if (job->state == JOB_READY) {
        add_time(&o->wait_of[job->queue], oracle_waited_for(o, job));
    }
    job->placed = ++o->stamp;
    job->begun_at = o->now.mono;
    job->renewed = false;
    job->state = JOB_RESERVED;
    job->holder = session;
    job->by_id = by_id;
    job->last_holder = 0;
    job->reserves++;
    job->ttr_at = job->plan.ttr_for ? o->now.mono + job->plan.ttr_for : NSEC_NEVER;
    job->limit_at = limited ? o->now.mono + sub->limit_for : NSEC_NEVER;
    job->on_limit = limited ? sub->on_limit : ON_LIMIT_RETRY;
    if (!by_id) {
        sub->served = (int64_t)++o->stamp;
        model_gate_take(o, job->queue);
    }
}

bool model_is_barred(const struct oracle_session *who)
{
    bool some = false, good = false;

    for (int queue = 0; queue < ORACLE_QUEUES; queue++) {
        some = some || who->subs[queue].on;
        good = good || (who->subs[queue].on && !who->subs[queue].barred);
    }
    return some && !good;
}

static uint64_t waits_since(const struct oracle_session *session, int queue)
{
    uint64_t joined = session->subs[queue].joined;

    return joined > session->waits_since ? joined : session->waits_since;
}

// The session that has waited longest on the queue, -1 for none.
static int longest_waiting(const struct oracle *o, int queue)
{
    int longest = -1;

    for (int i = 0; i < ORACLE_SESSIONS; i++) {
        const struct oracle_session *session = &o->sessions[i];

        if (session->wait_state == ORACLE_WAITS_FOR_JOB && session->subs[queue].on &&
            !session->subs[queue].barred &&
            (longest < 0 ||
             waits_since(session, queue) < waits_since(&o->sessions[longest], queue))) {
            longest = i;
        }
    }
    return longest;
}

// True where the job went to a waiter.
bool model_assign(struct oracle *o, struct oracle_job *job)
{
    int waiter = model_open(o, job->queue) ? longest_waiting(o, job->queue) : -1;

    if (waiter < 0) {
        return false;
    }
    o->sessions[waiter].wait_state = ORACLE_WAITS_NOT;
    model_lease(o, job, waiter, false);
    model_tell(o, waiter, "leased", job->id);
    return true;
}

static struct oracle_job *first_ready(struct oracle *o, int queue)
{
    struct oracle_job *first = NULL;

    EACH_JOB(o, job)
    {
        if (job->queue == queue && job->state == JOB_READY &&
            (!first || job->pri < first->pri ||
             (job->pri == first->pri && job->seq < first->seq))) {
            first = job;
        }
    }
    return first;
}

void model_ready(struct oracle *o, struct oracle_job *job)
{
    if (job->state != JOB_READY) {
        job->ready_at = o->now.mono;
    }
    job->placed = ++o->stamp;
    job->state = JOB_READY;
    if (!o->gathering) {
        model_meet_all(o);
    }
}

// The best job of all queues that sessions wait on; NULL for none.
static struct oracle_job *best_wanted(struct oracle *o)
{
    struct oracle_job *best = NULL;

    for (int queue = 0; queue < ORACLE_QUEUES; queue++) {
        struct oracle_job *first =
            model_open(o, queue) && longest_waiting(o, queue) >= 0 ? first_ready(o, queue) : NULL;

        if (first && (!best || first->pri < best->pri ||
                      (first->pri == best->pri && first->seq < best->seq))) {
            best = first;
        }
    }
    return best;
}

// Assigns the best jobs while there are ready jobs and sessions that wait for them.
void model_meet_all(struct oracle *o)
{
    struct oracle_job *best;

    while ((best = best_wanted(o)) != NULL) {
        (void)model_assign(o, best);
    }
}

// The time from now to that start, whichever clock it is given by.
nsec_t model_left_until(const struct oracle *o, nsec_t at, bool on_wall)
{
    return at - (on_wall ? o->now.wall : o->now.mono);
}

void model_start(struct oracle *o, struct oracle_job *job, nsec_t at, bool on_wall)
{
    if (model_left_until(o, at, on_wall) > 0) {
        job->state = JOB_DELAYED;
        job->delayed = ++o->stamp;
        job->placed = o->stamp;
        job->due_at = at;
        job->on_wall = on_wall;
        job->imposed = false;
    } else {
        model_ready(o, job);
    }
}

void model_bury(struct oracle *o, struct oracle_job *job)
{
    model_tell_watchers(o, job, "failed");
    job->watches = 0;
    job->state = JOB_BURIED;
    job->buried = ++o->stamp;
    job->placed = o->stamp;
    ORACLE_COUNT(o, job, buried);
    job->keyed = false;
}

void model_failed(struct oracle *o, struct oracle_job *job)
{
    ORACLE_COUNT(o, job, failed);
    if (job->durable && job->plan.on_fail == ON_FAIL_BURY) {
        model_bury(o, job);
    } else {
        model_end(o, job, "failed");
    }
}

bool model_abandoned(const struct oracle_job *job)
{
    return !job->durable && job->watches == 0;
}

void model_lost(struct oracle *o, struct oracle_job *job, enum loss why)
{
    uint32_t most = job->plan.max_attempts;

    job->attempts++;
    if (why != LOST_LEFT) {
        job->timeouts++;
        ORACLE_COUNT(o, job, timeouts);
    }
    if (model_abandoned(job)) {
        ORACLE_COUNT(o, job, failed);
        model_end(o, job, NULL);
    } else if ((most && job->attempts >= most) ||
               (why == LOST_LIMIT && job->on_limit == ON_LIMIT_FAIL)) {
        model_failed(o, job);
    } else {
        ORACLE_COUNT(o, job, retries);
        if (why != LOST_TTR) {
            model_tell_watchers(o, job, "retried");
        }
        if (job->plan.on_loss == ON_LOSS_BACK) {
            job->seq = ++o->stamp;
        }
        job->last_holder = why == LOST_TTR ? o->sessions[job->holder].number : 0;
        model_ready(o, job);
    }
}

// To be called before a buried job leaves that state.
void model_reclaim_key(struct oracle *o, struct oracle_job *job)
{
    if (job->state == JOB_BURIED && job->plan.key &&
        !oracle_namesake(o, job->queue, job->plan.key)) {
        job->keyed = true;
        job->claimed = ++o->stamp;
    }
}

void model_kick(struct oracle *o, struct oracle_job *job)
{
    model_reclaim_key(o, job);
    job->kicks++;
    ORACLE_COUNT(o, job, kicks);
    job->attempts = 0;
    model_ready(o, job);
}

// Whether one job comes before the other in that state.
static bool kicked_before(const struct oracle *o, const struct oracle_job *a,
                          const struct oracle_job *b)
{
    nsec_t a_for = model_left_until(o, a->due_at, a->on_wall);
    nsec_t b_for = model_left_until(o, b->due_at, b->on_wall);

    if (a->state == JOB_BURIED) {
        return a->buried < b->buried;
    }
    if (a_for != b_for || a->on_wall != b->on_wall) {
        return a_for != b_for ? a_for < b_for : b->on_wall;
    }
    return a->delayed < b->delayed;
}

static struct oracle_job *next_to_kick(struct oracle *o, int queue, enum job_state state)
{
    struct oracle_job *next = NULL;

    EACH_JOB(o, job)
    {
        if (job->queue == queue && job->state == state && (!next || kicked_before(o, job, next))) {
            next = job;
        }
    }
    return next;
}

uint32_t oracle_kick(struct oracle *o, int queue, uint32_t bound)
{
    enum job_state state = next_to_kick(o, queue, JOB_BURIED) ? JOB_BURIED : JOB_DELAYED;
    struct oracle_job *job;
    uint32_t kicked = 0;

    while (kicked < bound && (job = next_to_kick(o, queue, state)) != NULL) {
        model_kick(o, job);
        kicked++;
    }
    return kicked;
}

enum status oracle_kick_id(struct oracle *o, uint64_t id)
{
    struct oracle_job *job = oracle_find(o, id);

    if (!job || job->state == JOB_READY || job->state == JOB_RESERVED) {
        return STATUS_NOT_FOUND;
    }
    model_kick(o, job);
    return STATUS_OK;
}
