/* SPDX-License-Identifier: MIT */
#include "tests/core/oracle_inspect.h"

#include "tests/core/oracle_states.h"

//
// Counts
//

static void compare_times(const struct histogram *spans, const struct oracle_times *times)
{
    uint64_t count = 0;

    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        count += spans->in[i];
    }
    assert_int_equal(count, times->count);
    assert_int_equal(spans->sum_us, times->sum_us);
}

// The first job of each priority represents the others.
static const struct oracle_job *oldest_ready(const struct oracle *o, int queue)
{
    const struct oracle_job *oldest = NULL;

    for (const struct oracle_job *job = o->jobs; job < o->jobs + ORACLE_JOBS; job++) {
        bool first = job->id && job->queue == queue && job->state == JOB_READY;

        for (const struct oracle_job *other = o->jobs; other < o->jobs + ORACLE_JOBS; other++) {
            first = first && !(other->id && other->queue == queue && other->state == JOB_READY &&
                               other->pri == job->pri && other->seq < job->seq);
        }
        if (first && (!oldest || oracle_waited_for(o, job) > oracle_waited_for(o, oldest))) {
            oldest = job;
        }
    }
    return oldest;
}

static void compare_queue(const struct oracle_inspector *inspector, int index)
{
    const struct queue *queue = stage_find(inspector->s, inspector->queue_names[index]);
    const struct oracle_job *oldest = oldest_ready(inspector->o, index);
    const struct queue_times *times = queue ? queue_times(queue) : NULL;
    nsec_t age_for = 0;
    struct counts counts;

    if (!queue) {
        assert_null(oldest);
        return;
    }
    queue_counts(queue, &counts);
    assert_memory_equal(&counts, &inspector->o->ever_of[index], sizeof counts);
    assert_true(times ||
                inspector->o->wait_of[index].count + inspector->o->run_of[index].count == 0);
    if (times) {
        compare_times(&times->wait, &inspector->o->wait_of[index]);
        compare_times(&times->run, &inspector->o->run_of[index]);
    }
    assert_int_equal(queue_oldest_ready(inspector->s->broker, queue, &age_for) != NULL,
                     oldest != NULL);
    assert_int_equal(age_for, oldest ? oracle_waited_for(inspector->o, oldest) : 0);
}

// One queue in turn: comparing all of them each time would take most of the run.
static void compare_counts(struct oracle_inspector *inspector)
{
    struct counts counts;

    broker_counts(inspector->s->broker, &counts);
    assert_memory_equal(&counts, &inspector->o->ever, sizeof counts);
    compare_queue(inspector, inspector->turn);
    inspector->turn = (inspector->turn + 1) % inspector->queues;
}

//
// The walk over all jobs: a job that lives all the time is seen once
//

static size_t times_seen(const struct oracle_inspector *inspector, uint64_t id)
{
    size_t times = 0;

    for (size_t i = 0; i < inspector->seen_count; i++) {
        times += inspector->seen[i] == id;
    }
    return times;
}

static void walk_on(struct oracle_inspector *inspector, uint64_t last_id)
{
    const struct job *job = NULL;
    enum status status = broker_job_next(inspector->s->broker, &inspector->walk, &job);

    if (status == STATUS_OK) {
        assert_ptr_equal(broker_find(inspector->s->broker, job_id(job)), job);
        assert_int_equal(times_seen(inspector, job_id(job)), 0);
        assert_true(inspector->seen_count < SIGHT_SEEN);
        inspector->seen[inspector->seen_count++] = job_id(job);
    } else if (status == STATUS_EMPTY) {
        EACH_JOB(inspector->o, all)
        {
            assert_true(all->id > inspector->walk_began || times_seen(inspector, all->id) == 1);
        }
        inspector->walk = (struct job_walk){0};
        inspector->walk_began = last_id;
        inspector->seen_count = 0;
    }
}

//
// The walk over one queue's jobs of one state: a job that stays there all the time is seen once
//

// When the walk saw the job last; 0: not yet.
static uint64_t listed_at(const struct oracle_inspector *inspector, uint64_t id)
{
    uint64_t at = 0;

    for (size_t i = 0; i < inspector->listed_count; i++) {
        at = inspector->listed[i].id == id ? inspector->listed[i].at : at;
    }
    return at;
}

static void list_end(struct oracle_inspector *inspector)
{
    EACH_JOB(inspector->o, job)
    {
        assert_true(job->queue != inspector->list_queue || job->state != inspector->list_state ||
                    job->placed > inspector->list_began || listed_at(inspector, job->id));
    }
    inspector->list = (struct job_cursor){0};
    inspector->list_began = inspector->o->stamp;
    inspector->listed_count = 0;
    inspector->list_state = (enum job_state)((inspector->list_state + 1) % JOB_STATES);
    inspector->list_queue =
        (inspector->list_queue + (inspector->list_state == JOB_DELAYED)) % inspector->queues;
}

static void list_on(struct oracle_inspector *inspector)
{
    const struct queue *queue =
        stage_find(inspector->s, inspector->queue_names[inspector->list_queue]);
    const struct oracle_job *known;
    const struct job *job = NULL;
    enum status status = queue ? queue_jobs_next(inspector->s->broker, queue, inspector->list_state,
                                                 &inspector->list, &job)
                               : STATUS_EMPTY;

    if (status == STATUS_EMPTY) {
        list_end(inspector);
        return;
    }
    assert_status(STATUS_OK, status);
    known = oracle_find(inspector->o, job_id(job));
    assert_non_null(known);
    assert_true(known->queue == inspector->list_queue && known->state == inspector->list_state);
    assert_true(known->placed > listed_at(inspector, known->id) ||
                !listed_at(inspector, known->id));
    assert_true(inspector->listed_count < SIGHT_SEEN);
    inspector->listed[inspector->listed_count].id = known->id;
    inspector->listed[inspector->listed_count++].at = inspector->o->stamp;
}

void oracle_inspect_compare(struct oracle_inspector *inspector, uint64_t last_id,
                            uint32_t walk_steps, uint32_t list_steps)
{
    compare_counts(inspector);
    for (; walk_steps > 0; walk_steps--) {
        walk_on(inspector, last_id);
    }
    for (; list_steps > 0; list_steps--) {
        list_on(inspector);
    }
}
