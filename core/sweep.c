/* SPDX-License-Identifier: MIT */

// One act done to many jobs, in slices. The place of a sweep is told by the keys that order jobs,
// as in inspect.c; what has come since it began, by the rising numbers that jobs, queues and
// sessions get as they come. So a job that the sweep changes is not met again: if it becomes ready
// or buried, its new place is passed or is not of the sweep's; if it becomes delayed, it has a new
// number.

// memmem is a GNU function.
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier)

#include "core/operate.h"

#include "core/base/glob.h"
#include "core/charge.h"
#include "core/job_state.h"
#include "core/key.h"
#include "core/observe.h"

#include <string.h>

//
// Filters
//

// Searches about `most` bytes of the job's body for `bytes`, and goes on from where `*search`,
// zeroed at first, says. STATUS_OK: they were found, or `bytes` is empty; STATUS_EMPTY: the body
// does not have them; STATUS_MORE: not found so far. `*searched` becomes the number of bytes that
// were read, `bytes` included.
static enum status body_search(const struct job *job, struct slice bytes,
                               struct body_search *search, size_t most, size_t *searched)
{
    // The search of another job begins at its start, and so does one whose body has become shorter.
    bool goes_on = search->id == job->id && search->at <= job_body(job).len;
    size_t from = goes_on ? (size_t)search->at : 0;
    struct slice part = slice_from(job_body(job), from);
    bool all = part.len <= most + bytes.len;

    if (bytes.len == 0) {
        return STATUS_OK;
    }
    part.len = all ? part.len : most + bytes.len;
    *searched = part.len;
    if (part.len < bytes.len) {
        return STATUS_EMPTY;
    }
    // memmem() reads the bytes that it is to find first.
    *searched += bytes.len;
    if (memmem(part.ptr, part.len, bytes.ptr, bytes.len)) {
        return STATUS_OK;
    }
    if (all) {
        return STATUS_EMPTY;
    }
    // The bytes may begin at the end of the part.
    *search = (struct body_search){.id = job->id, .at = from + part.len - (bytes.len - 1)};
    return STATUS_MORE;
}

//
// Beginning
//

static unsigned sweep_default_states(const struct job_act *act)
{
    switch (act->kind) {
    case ACT_RELEASE:
    case ACT_TOUCH:
        return JOB_IN(JOB_RESERVED);
    case ACT_KICK:
        return act_states(act);
    case ACT_DELETE:
    case ACT_BURY:
    case ACT_CHANGE:
    case ACT_MOVE:
        return act_states(act) | JOB_IN(JOB_RESERVED);
    }
    UNREACHABLE();
}

static void sweep_choose_states(struct sweep *sweep)
{
    const struct job_act *act = &sweep->act;
    unsigned named = sweep->filter.states & JOB_IN_ANY;
    unsigned can = act_states(act);
    unsigned states = named ? named & (can | JOB_IN(JOB_RESERVED)) : sweep_default_states(act);

    sweep->walk.states = (uint8_t)states;
    sweep->walk.takes_held = (can & JOB_IN(JOB_RESERVED)) &&
                             (named || act->kind == ACT_RELEASE || act->kind == ACT_TOUCH);
}

static enum status sweep_check(struct broker *broker, const struct session *by,
                               const struct sweep *sweep)
{
    const struct slice to = sweep->act.to;
    bool may = sweep->queue.len > 0 ? session_may_by_name(by, MAY_OPERATE, sweep->queue)
                                    : session_may_somewhere(by, MAY_OPERATE);

    if (!may) {
        return STATUS_FORBIDDEN;
    }
    if (sweep->queue.len > 0 && !broker_queue_find(broker, sweep->queue)) {
        return STATUS_NOT_FOUND;
    }
    if (sweep->act.kind != ACT_MOVE || sweep->act.back) {
        return STATUS_OK;
    }
    if (to.len == 0 || memchr(to.ptr, '\0', to.len)) {
        return STATUS_BAD_NAME;
    }
    if (to.len > QUEUE_NAME_MAX) {
        return STATUS_TOO_LARGE;
    }
    return session_may_by_name(by, MAY_SUBMIT, to) ? STATUS_OK : STATUS_FORBIDDEN;
}

enum status broker_sweep_begin(struct broker *broker, const struct session *by, struct sweep *sweep)
{
    enum status status = sweep_check(broker, by, sweep);
    const struct queue *queue;
    const uint64_t *jobs;

    if (status != STATUS_OK) {
        return status;
    }
    queue = sweep->queue.len > 0 ? broker_queue_find(broker, sweep->queue) : NULL;
    jobs = queue ? queue->jobs : broker->count.jobs;
    sweep->counts = (struct sweep_counts){0};
    sweep->search = (struct body_search){0};
    sweep->walk = (struct sweep_walk){
        .moment = broker->snapshots.moment,
        .id = broker->next.id,
        .seq = broker->next.seq,
        .burial = broker->next.burial,
        .order = broker->next.delay,
        .session = broker->next.session,
        .began_at = broker->now.mono,
    };
    sweep_choose_states(sweep);
    sweep->total = 0;
    for (unsigned state = 0; state < JOB_STATES; state++) {
        sweep->total += sweep->walk.states & JOB_IN(state) ? jobs[state] : 0;
    }
    // A job that is taken again meanwhile may be met again: bounded, so that the sweep ends.
    if (sweep->walk.states & JOB_IN(JOB_RESERVED) && jobs[JOB_RESERVED] > 0) {
        sweep->walk.leases = 2 * broker->count.jobs[JOB_RESERVED];
    }
    return STATUS_OK;
}

//
// Steps
//

// A slice is a number of credits. One job met costs one; an act costs several, and so does a long
// read or comparison: of a body that is searched or is a key, or of a glob.
#define CREDITS_PER_UNIT 8
#define BYTES_PER_CREDIT 512

static const enum job_state sweep_phases[] = {JOB_READY, JOB_DELAYED, JOB_BURIED};
#define SWEEP_PHASES (sizeof sweep_phases / sizeof *sweep_phases)

struct sweep_step {
    struct broker *broker;
    struct session *by;
    struct sweep *sweep;
    uint64_t credits; // left in this slice
};

static void sweep_pay(struct sweep_step *step, uint64_t credits)
{
    step->credits -= credits < step->credits ? credits : step->credits;
}

// Whether the act would change nothing about the job.
static bool sweep_changes_nothing(const struct job *job, const struct job_act *act)
{
    return act->kind == ACT_CHANGE && (!act->sets_pri || job->pri == act->pri) &&
           (!act->sets_delay || (act->delay_for == 0 && job->state == JOB_READY));
}

// Whether the sweep is about that queue, and the caller may see it.
static bool sweep_wants(struct sweep_step *step, const struct queue *queue)
{
    const struct sweep *sweep = step->sweep;
    struct slice name = queue_name(queue);
    bool matches;

    if (queue->came_at > sweep->walk.moment ||
        (sweep->act.kind == ACT_MOVE && slice_equal(sweep->act.to, name))) {
        return false;
    }
    if (sweep->queue.len > 0) {
        matches = slice_equal(sweep->queue, name);
    } else {
        sweep_pay(step, sweep->queues.len * name.len / BYTES_PER_CREDIT);
        matches = glob_matches(sweep->queues, name);
    }
    return matches && caller_may(step->by, MAY_OBSERVE, queue);
}

//
// Walking: each of these functions returns STATUS_OK with a job, STATUS_MORE, or STATUS_EMPTY
//

// Whether the lease is older than the sweep. A job that the sweep releases may be taken at once by
// a session that the sweep meets later, and must not be taken from that one, too.
static bool sweep_was_held(const struct sweep_step *step, const struct job *job)
{
    nsec_t since_begin = step->broker->now.mono - step->sweep->walk.began_at;
    nsec_t held_for;

    // The beginning of some leases is known in microseconds only, rounded down.
    return step->sweep->act.kind != ACT_RELEASE || !job_held_for(step->broker, job, &held_for) ||
           held_for / NSEC_PER_USEC >= since_begin / NSEC_PER_USEC;
}

// Meets the leases of a session last to first: a lease that is renewed goes to a place that was
// passed.
static enum status sweep_next_held(struct sweep_step *step, const struct job **job)
{
    struct sweep_walk *walk = &step->sweep->walk;
    uint32_t place = walk->session_place;
    const struct session *session = table_next(&step->broker->index.sessions, &place);

    if (!session) {
        walk->leases = 0;
        return STATUS_MORE;
    }
    if (walk->lease_session != session->number) {
        walk->lease_session = session->number;
        walk->lease_at = (uint64_t)NSEC_NEVER;
        walk->lease_seq = JOB_SEQ_MAX;
    }
    *job = session->number < walk->session
               ? session_lease_before(session, (nsec_t)walk->lease_at, walk->lease_seq)
               : NULL;
    walk->session_place = *job ? session->place : place;
    if (!*job) {
        return STATUS_MORE;
    }
    walk->leases--;
    walk->lease_at = (uint64_t)(*job)->due_at;
    walk->lease_seq = (*job)->seq;
    return (*job)->id < walk->id && sweep_was_held(step, *job) &&
                   sweep_wants(step, queue_at(step->broker, *job))
               ? STATUS_OK
               : STATUS_MORE;
}

static void sweep_end_phase(struct sweep_walk *walk)
{
    walk->phase++;
    walk->cursor = (struct job_cursor){.part = 0};
}

// Whether the job, the next one in the order of its state, was there when the sweep began. If all
// jobs that follow in that order have come since, too, the walk passes over them, and so it does
// over ready jobs that have the wanted priority already.
static bool sweep_was_there(const struct sweep_step *step, const struct job *job)
{
    struct sweep_walk *walk = &step->sweep->walk;
    struct job_cursor *cursor = &walk->cursor;
    uint32_t delays = step->broker->next.delay - walk->order; // that were set since

    if (job->state == JOB_READY &&
        (job->seq >= walk->seq || sweep_changes_nothing(job, &step->sweep->act))) {
        cursor->at[1] = JOB_SEQ_MAX;
        return false;
    }
    if (job->state == JOB_DELAYED && job->due_at > walk->last_due[job_due_on_wall(job)]) {
        *cursor = (struct job_cursor){.part = cursor->part + 1};
        return false;
    }
    if (job->state == JOB_BURIED && job->burial >= walk->burial) {
        sweep_end_phase(walk);
        return false;
    }
    return job->id < walk->id && (job->state != JOB_DELAYED || job->order - walk->order >= delays);
}

// Lets the walk meet the jobs of that queue next.
static void sweep_enter(struct sweep *sweep, const struct queue *queue)
{
    struct sweep_walk *walk = &sweep->walk;
    unsigned states = walk->states & ~JOB_IN(JOB_RESERVED);

    if (sweep->act.kind == ACT_KICK && !sweep->filter.states) {
        states = JOB_IN(queue->jobs[JOB_BURIED] > 0 ? JOB_BURIED : JOB_DELAYED);
    }
    walk->queue_place = queue->place;
    walk->queue_came_at = queue->came_at;
    walk->queue_states = (uint8_t)states;
    walk->phase = 0;
    walk->cursor = (struct job_cursor){.part = 0};
    for (unsigned clock = 0; clock < CLOCKS; clock++) {
        const struct job *last = queue_delayed_last(queue, (enum clock)clock);

        walk->last_due[clock] = last ? last->due_at : 0;
    }
    walk->in_queue = true;
}

static enum status sweep_next_queue(struct sweep_step *step)
{
    struct sweep *sweep = step->sweep;
    const struct queue *queue;

    if (sweep->queue.len == 0) {
        queue = broker_queue_next(step->broker, &sweep->walk.next_place);
    } else {
        queue = sweep->walk.next_place == 0 ? broker_queue_find(step->broker, sweep->queue) : NULL;
        sweep->walk.next_place = 1;
    }
    if (queue && sweep_wants(step, queue)) {
        sweep_enter(sweep, queue);
    }
    return queue ? STATUS_MORE : STATUS_EMPTY;
}

// The queue that the sweep is in; NULL if it has gone.
static const struct queue *sweep_queue(const struct sweep_step *step)
{
    const struct sweep_walk *walk = &step->sweep->walk;
    uint32_t place = walk->queue_place;
    const struct queue *queue =
        walk->in_queue ? table_next(&step->broker->index.queues, &place) : NULL;

    return queue && queue->place == walk->queue_place && queue->came_at == walk->queue_came_at &&
                   !queue->gone
               ? queue
               : NULL;
}

static enum status sweep_next_waiting(struct sweep_step *step, const struct job **job)
{
    struct sweep_walk *walk = &step->sweep->walk;
    const struct queue *queue = sweep_queue(step);
    enum status status = STATUS_EMPTY;

    if (!queue || walk->phase == SWEEP_PHASES) {
        walk->in_queue = false;
        return sweep_next_queue(step);
    }
    if (walk->queue_states & JOB_IN(sweep_phases[walk->phase])) {
        status =
            queue_jobs_next(step->broker, queue, sweep_phases[walk->phase], &walk->cursor, job);
    }
    if (status == STATUS_EMPTY) {
        sweep_end_phase(walk);
    } else if (status == STATUS_MORE) {
        sweep_pay(step, BROKER_SLICE);
    }
    return status == STATUS_OK && sweep_was_there(step, *job) ? STATUS_OK : STATUS_MORE;
}

//
// Acting
//

static enum status sweep_act(struct sweep_step *step, const struct job *job)
{
    struct sweep *sweep = step->sweep;
    bool buried = job->state == JOB_BURIED;
    const struct list_node *before = buried ? job->place.list.prev : NULL;
    uint64_t id_before =
        buried && before != &queue_at(step->broker, job)->buried ? job_in_list(before)->id : 0;
    // If a short body is the key of a job that is moved, it is read.
    size_t key_len = sweep->act.kind == ACT_MOVE ? job_key(job).bytes.len : 0;
    unsigned units = BROKER_SLICE;
    enum status status = broker_act(step->broker, step->by, job->id, &sweep->act);

    if (buried) {
        // The act may have removed the job: the walk goes on behind the one before it.
        sweep->walk.cursor.at[1] = id_before;
    }
    charge_pay_unit(step->broker, &units);
    sweep_pay(step,
              (uint64_t)(BROKER_SLICE - units) * CREDITS_PER_UNIT + key_len / BYTES_PER_CREDIT);
    return status;
}

// STATUS_OK: the job passes the filter; STATUS_EMPTY: it does not; STATUS_MORE: not known yet.
static enum status sweep_filter(struct sweep_step *step, const struct job *job)
{
    const struct job_filter *filter = &step->sweep->filter;
    struct slice body = job_body(job);
    nsec_t age_for = calendar_since(step->broker, job->created_ms);
    size_t most = (size_t)(step->credits + 1) * BYTES_PER_CREDIT;
    size_t searched = 0;
    enum status status;

    if ((filter->states && !(filter->states & JOB_IN(job->state))) || job->pri < filter->min_pri ||
        job->pri > filter->max_pri || body.len < filter->min_body || body.len > filter->max_body ||
        age_for < filter->min_age_for || age_for > filter->max_age_for) {
        return STATUS_EMPTY;
    }
    status = body_search(job, filter->contains, &step->sweep->search, most, &searched);
    sweep_pay(step, searched / BYTES_PER_CREDIT);
    return status;
}

// The queues that jobs are moved back to are not known before the jobs are met.
static bool sweep_is_forbidden(const struct sweep_step *step, const struct job *job)
{
    const struct job_act *act = &step->sweep->act;
    struct dead_letter letter;

    return !caller_may(step->by, MAY_OPERATE, queue_at(step->broker, job)) ||
           (act->kind == ACT_MOVE && act->back && job_dead_letter(step->broker, job, &letter) &&
            !session_may_by_name(step->by, MAY_SUBMIT, letter.queue));
}

// STATUS_OK; STATUS_MORE: the job is to be met again; or why the sweep cannot go on, now or at all.
static enum status sweep_meet(struct sweep_step *step, const struct job *job)
{
    struct sweep *sweep = step->sweep;
    bool no_way_back = sweep->act.kind == ACT_MOVE && sweep->act.back && !job->dead_letter;
    enum status status = sweep_filter(step, job);

    if (status == STATUS_MORE) {
        return status;
    }
    if (status == STATUS_EMPTY || sweep_changes_nothing(job, &sweep->act) || no_way_back) {
        status = STATUS_OK;
        sweep->counts.looked++;
    } else if (sweep_is_forbidden(step, job)) {
        sweep->counts.looked++;
        sweep->counts.forbidden++;
    } else if (job->state == JOB_RESERVED && !sweep->walk.takes_held) {
        sweep->counts.looked++;
        sweep->counts.held++;
    } else {
        status = sweep->dry ? STATUS_OK : sweep_act(step, job);
        sweep->counts.looked += status == STATUS_OK;
        sweep->counts.done += status == STATUS_OK;
    }
    return status;
}

// Finds the next job, if it can, and meets it.
static enum status sweep_advance(struct sweep_step *step)
{
    struct sweep *sweep = step->sweep;
    const struct sweep_walk before = sweep->walk;
    const struct job *job = NULL;
    enum status status;

    if (sweep->most > 0 && sweep->counts.done >= sweep->most) {
        return STATUS_EMPTY;
    }
    sweep_pay(step, 1);
    status = before.leases > 0 ? sweep_next_held(step, &job) : sweep_next_waiting(step, &job);
    if (status == STATUS_OK) {
        ENSURE(job);
        status = sweep_meet(step, job);
        if (status != STATUS_OK) {
            sweep->walk = before;
        }
    }
    return status;
}

enum status broker_sweep(struct broker *broker, struct session *by, struct sweep *sweep)
{
    struct sweep_step step = {broker, by, sweep, (uint64_t)BROKER_SLICE * CREDITS_PER_UNIT};
    enum status status = STATUS_OK;
    uint64_t position = 0;

    ENSURE(!broker->settling);
    while (step.credits > 0 && (status == STATUS_OK || status == STATUS_MORE)) {
        broker->store.position = 0;
        status = sweep_advance(&step);
        position = broker->store.position > position ? broker->store.position : position;
    }
    broker->store.position = position;
    if (status == STATUS_EMPTY) {
        return STATUS_OK;
    }
    return status == STATUS_OK ? STATUS_MORE : status;
}
