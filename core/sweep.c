/* SPDX-License-Identifier: MIT */

// One act done to many jobs, in slices. Where a sweep stands is told by what orders jobs, as in
// job_list.c, and what has come since it began by the numbers that things get as they come. So what
// is changed on the way is not met again: a job that is ready or buried then has got to a place
// that was passed, or that is none of the sweep's; one that is delayed then has a new number.

#include "core/operate_private.h"

#include "core/base/glob.h"
#include "core/job_state.h"
#include "core/session_private.h"
#include "core/charge.h"
#include "core/job_private.h"
#include "core/key.h"
#include "core/observe.h"
#include "core/queue_private.h"

// A slice is so many looks; an act counts for several, and so does what takes long to be read or
// compared: a body that is searched or is a key, and a glob.
#define LOOKS_PER_UNIT 8
#define BYTES_PER_LOOK 512

static const enum job_state phases[] = {JOB_READY, JOB_DELAYED, JOB_BURIED};
#define PHASES (sizeof phases / sizeof *phases)

struct step {
    struct broker *broker;
    struct session *by;
    struct sweep *sweep;
    uint64_t looks; // that are left
};

static void pay(struct step *step, uint64_t looks)
{
    step->looks -= looks < step->looks ? looks : step->looks;
}

// Whether the act would change nothing about the job.
static bool is_so(const struct job *job, const struct act *act)
{
    return act->kind == ACT_CHANGE && (!act->sets_pri || job->pri == act->pri) &&
           (!act->sets_delay || (act->delay_for == 0 && job->state == JOB_READY));
}

// Whether it has nowhere to go back to.
static bool stays(const struct job *job, const struct act *act)
{
    return act->kind == ACT_MOVE && act->back && !job->dead_letter;
}

// Whether the sweep is about queues of that name.
static bool is_named(struct step *step, struct slice name)
{
    const struct sweep *sweep = step->sweep;

    if (sweep->queue.len > 0) {
        return slice_equal(sweep->queue, name);
    }
    pay(step, sweep->queues.len * name.len / BYTES_PER_LOOK);
    return glob_matches(sweep->queues, name);
}

// Of a queue that the sweep is about, and that the caller may see.
static bool is_wanted(struct step *step, const struct queue *queue)
{
    const struct sweep *sweep = step->sweep;
    struct slice name = queue_name(queue);

    if (queue->came_at > sweep->walk.moment ||
        (sweep->act.kind == ACT_MOVE && slice_equal(sweep->act.to, name))) {
        return false;
    }
    return is_named(step, name) && caller_may(step->by, MAY_OBSERVE, queue);
}

//
// Walking: each of these answers STATUS_OK with a job, STATUS_MORE, or STATUS_EMPTY
//

// Whether the lease is older than the sweep. A job that it releases may be held again at once, by a
// session that it meets later: it is not taken from that one, too.
static bool was_held(const struct step *step, const struct job *job)
{
    nsec_t since_begin = step->broker->now.mono - step->sweep->walk.began_at;
    nsec_t held_for;

    // The beginning of some is known in microseconds, rounded down.
    return step->sweep->act.kind != ACT_RELEASE || !job_held_for(step->broker, job, &held_for) ||
           held_for / NSEC_PER_USEC >= since_begin / NSEC_PER_USEC;
}

// The leases of a session are met last to first: one that is renewed goes to a place that was
// passed.
static enum status next_held(struct step *step, const struct job **job)
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
    return (*job)->id < walk->id && was_held(step, *job) &&
                   is_wanted(step, queue_at(step->broker, *job))
               ? STATUS_OK
               : STATUS_MORE;
}

static void end_phase(struct sweep_walk *walk)
{
    walk->phase++;
    walk->cursor = (struct job_cursor){.part = 0};
}

// Whether the job, the next one in the order of its state, was there when the sweep began. Where
// all that follow have come since, too, they are passed over, and so are those of the priority that
// jobs are given.
static bool was_there(const struct step *step, const struct job *job)
{
    struct sweep_walk *walk = &step->sweep->walk;
    struct job_cursor *cursor = &walk->cursor;
    uint32_t delays = step->broker->next.delay - walk->order; // that were set since

    if (job->state == JOB_READY && (job->seq >= walk->seq || is_so(job, &step->sweep->act))) {
        cursor->at[1] = JOB_SEQ_MAX;
        return false;
    }
    if (job->state == JOB_DELAYED && job->due_at > walk->last_due[job_due_on_wall(job)]) {
        *cursor = (struct job_cursor){.part = cursor->part + 1};
        return false;
    }
    if (job->state == JOB_BURIED && job->burial >= walk->burial) {
        end_phase(walk);
        return false;
    }
    return job->id < walk->id && (job->state != JOB_DELAYED || job->order - walk->order >= delays);
}

// Its jobs are met next.
static void enter(struct sweep *sweep, const struct queue *queue)
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

static enum status next_queue(struct step *step)
{
    struct sweep *sweep = step->sweep;
    const struct queue *queue;

    if (sweep->queue.len == 0) {
        queue = broker_queue_next(step->broker, &sweep->walk.next_place);
    } else {
        queue = sweep->walk.next_place == 0 ? broker_queue_find(step->broker, sweep->queue) : NULL;
        sweep->walk.next_place = 1;
    }
    if (queue && is_wanted(step, queue)) {
        enter(sweep, queue);
    }
    return queue ? STATUS_MORE : STATUS_EMPTY;
}

// The queue that the sweep is in; NULL where it has gone.
static const struct queue *present_queue(const struct step *step)
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

static enum status next_waiting(struct step *step, const struct job **job)
{
    struct sweep_walk *walk = &step->sweep->walk;
    const struct queue *queue = present_queue(step);
    enum status status = STATUS_EMPTY;

    if (!queue || walk->phase == PHASES) {
        walk->in_queue = false;
        return next_queue(step);
    }
    if (walk->queue_states & JOB_IN(phases[walk->phase])) {
        status = queue_jobs_next(step->broker, queue, phases[walk->phase], &walk->cursor, job);
    }
    if (status == STATUS_EMPTY) {
        end_phase(walk);
    } else if (status == STATUS_MORE) {
        pay(step, BROKER_SLICE);
    }
    return status == STATUS_OK && was_there(step, *job) ? STATUS_OK : STATUS_MORE;
}

//
// Acting
//

// A buried job that goes is where the walk stands: it goes on behind the one before it.
static uint64_t buried_before(const struct step *step, const struct job *job)
{
    const struct queue *queue = queue_at(step->broker, job);
    const struct list_node *before = job->place.list.prev;

    return before == &queue->buried ? 0 : job_in_list(before)->id;
}

static enum status act(struct step *step, const struct job *job)
{
    struct sweep *sweep = step->sweep;
    bool buried = job->state == JOB_BURIED;
    uint64_t before = buried ? buried_before(step, job) : 0;
    // Where the key of a job that is moved is its body, and short, that is read.
    size_t key_len = sweep->act.kind == ACT_MOVE ? job_key(job).bytes.len : 0;
    unsigned units = BROKER_SLICE;
    enum status status = broker_act(step->broker, step->by, job->id, &sweep->act);

    if (buried) {
        sweep->walk.cursor.at[1] = before;
    }
    charge_pay_unit(step->broker, &units);
    pay(step, (uint64_t)(BROKER_SLICE - units) * LOOKS_PER_UNIT + key_len / BYTES_PER_LOOK);
    return status;
}

// STATUS_OK: the job passes the filter; STATUS_EMPTY: it does not; STATUS_MORE: not known so far.
static enum status fits(struct step *step, const struct job *job)
{
    struct sweep *sweep = step->sweep;
    size_t most = (size_t)(step->looks + 1) * BYTES_PER_LOOK;
    size_t searched = 0;
    enum status status;

    if (!job_fits(step->broker, job, &sweep->filter)) {
        return STATUS_EMPTY;
    }
    status = body_search(job, sweep->filter.contains, &sweep->search, most, &searched);
    pay(step, searched / BYTES_PER_LOOK);
    return status;
}

// The queues that jobs go back to are not known before they are met.
static bool is_forbidden(const struct step *step, const struct job *job)
{
    const struct act *act = &step->sweep->act;
    struct dead_letter past;

    return !caller_may(step->by, MAY_OPERATE, queue_at(step->broker, job)) ||
           (act->kind == ACT_MOVE && act->back && job_dead_letter(step->broker, job, &past) &&
            !session_may_by_name(step->by, MAY_SUBMIT, past.queue));
}

// STATUS_OK; STATUS_MORE: it is to be met again; or why the sweep cannot go on, for now or ever.
static enum status meet(struct step *step, const struct job *job)
{
    struct sweep *sweep = step->sweep;
    enum status status = fits(step, job);

    if (status == STATUS_MORE) {
        return status;
    }
    if (status == STATUS_EMPTY || is_so(job, &sweep->act) || stays(job, &sweep->act)) {
        status = STATUS_OK;
        sweep->counts.looked++;
    } else if (is_forbidden(step, job)) {
        sweep->counts.looked++;
        sweep->counts.forbidden++;
    } else if (job->state == JOB_RESERVED && !sweep->walk.takes_held) {
        sweep->counts.looked++;
        sweep->counts.held++;
    } else {
        status = sweep->dry ? STATUS_OK : act(step, job);
        sweep->counts.looked += status == STATUS_OK;
        sweep->counts.done += status == STATUS_OK;
    }
    return status;
}

// The next job, if one is found.
static enum status look(struct step *step)
{
    struct sweep *sweep = step->sweep;
    const struct sweep_walk before = sweep->walk;
    const struct job *job = NULL;
    enum status status;

    if (sweep->most > 0 && sweep->counts.done >= sweep->most) {
        return STATUS_EMPTY;
    }
    pay(step, 1);
    status = before.leases > 0 ? next_held(step, &job) : next_waiting(step, &job);
    if (status == STATUS_OK) {
        ENSURE(job);
        status = meet(step, job);
        if (status != STATUS_OK) {
            sweep->walk = before;
        }
    }
    return status;
}

enum status broker_sweep(struct broker *broker, struct session *by, struct sweep *sweep)
{
    struct step step = {broker, by, sweep, (uint64_t)BROKER_SLICE * LOOKS_PER_UNIT};
    enum status status = STATUS_OK;
    uint64_t position = 0;

    ENSURE(!broker->settling);
    while (step.looks > 0 && (status == STATUS_OK || status == STATUS_MORE)) {
        broker->store.position = 0;
        status = look(&step);
        position = broker->store.position > position ? broker->store.position : position;
    }
    broker->store.position = position;
    if (status == STATUS_EMPTY) {
        return STATUS_OK;
    }
    return status == STATUS_OK ? STATUS_MORE : status;
}
