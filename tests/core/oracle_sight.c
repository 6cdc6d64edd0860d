/* SPDX-License-Identifier: MIT */
#include "tests/core/oracle_sight.h"

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

// Of each priority, the first job stands for all.
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

static void compare_queue(const struct sight *sight, int index)
{
    const struct queue *queue = stage_find(sight->s, sight->queue_names[index]);
    const struct oracle_job *oldest = oldest_ready(sight->o, index);
    const struct queue_times *times = queue ? queue_times(queue) : NULL;
    nsec_t age_for = 0;
    struct counts counts;

    if (!queue) {
        assert_null(oldest);
        return;
    }
    queue_counts(queue, &counts);
    assert_memory_equal(&counts, &sight->o->ever_of[index], sizeof counts);
    assert_true(times || sight->o->wait_of[index].count + sight->o->run_of[index].count == 0);
    if (times) {
        compare_times(&times->wait, &sight->o->wait_of[index]);
        compare_times(&times->run, &sight->o->run_of[index]);
    }
    assert_int_equal(queue_oldest_ready(sight->s->broker, queue, &age_for) != NULL, oldest != NULL);
    assert_int_equal(age_for, oldest ? oracle_waited_for(sight->o, oldest) : 0);
}

// Of the queues, one in turn: to compare all of them each time takes longer than all else.
static void compare_counts(struct sight *sight)
{
    struct counts counts;

    broker_counts(sight->s->broker, &counts);
    assert_memory_equal(&counts, &sight->o->ever, sizeof counts);
    compare_queue(sight, sight->turn);
    sight->turn = (sight->turn + 1) % sight->queues;
}

//
// The walk over all jobs: whatever lived all the time is seen once
//

static size_t times_seen(const struct sight *sight, uint64_t id)
{
    size_t times = 0;

    for (size_t i = 0; i < sight->seen_count; i++) {
        times += sight->seen[i] == id;
    }
    return times;
}

static void walk_on(struct sight *sight, uint64_t last_id)
{
    const struct job *job = NULL;
    enum status status = broker_job_next(sight->s->broker, &sight->walk, &job);

    if (status == STATUS_OK) {
        assert_ptr_equal(broker_find(sight->s->broker, job_id(job)), job);
        assert_int_equal(times_seen(sight, job_id(job)), 0);
        assert_true(sight->seen_count < SIGHT_SEEN);
        sight->seen[sight->seen_count++] = job_id(job);
    } else if (status == STATUS_EMPTY) {
        EACH_JOB(sight->o, all)
        {
            assert_true(all->id > sight->walk_began || times_seen(sight, all->id) == 1);
        }
        sight->walk = (struct job_walk){0};
        sight->walk_began = last_id;
        sight->seen_count = 0;
    }
}

//
// The walk over one queue's jobs of one state: whatever stayed there all the time is seen once
//

// When it was seen last; 0: it was not.
static uint64_t listed_at(const struct sight *sight, uint64_t id)
{
    uint64_t at = 0;

    for (size_t i = 0; i < sight->listed_count; i++) {
        at = sight->listed[i].id == id ? sight->listed[i].at : at;
    }
    return at;
}

static void list_end(struct sight *sight)
{
    EACH_JOB(sight->o, job)
    {
        assert_true(job->queue != sight->list_queue || job->state != sight->list_state ||
                    job->placed > sight->list_began || listed_at(sight, job->id));
    }
    sight->list = (struct job_cursor){0};
    sight->list_began = sight->o->stamp;
    sight->listed_count = 0;
    sight->list_state = (enum job_state)((sight->list_state + 1) % JOB_STATES);
    sight->list_queue = (sight->list_queue + (sight->list_state == JOB_DELAYED)) % sight->queues;
}

static void list_on(struct sight *sight)
{
    const struct queue *queue = stage_find(sight->s, sight->queue_names[sight->list_queue]);
    const struct oracle_job *known;
    const struct job *job = NULL;
    enum status status =
        queue ? queue_jobs_next(sight->s->broker, queue, sight->list_state, &sight->list, &job)
              : STATUS_EMPTY;

    if (status == STATUS_EMPTY) {
        list_end(sight);
        return;
    }
    assert_status(STATUS_OK, status);
    known = oracle_find(sight->o, job_id(job));
    assert_non_null(known);
    assert_true(known->queue == sight->list_queue && known->state == sight->list_state);
    assert_true(known->placed > listed_at(sight, known->id) || !listed_at(sight, known->id));
    assert_true(sight->listed_count < SIGHT_SEEN);
    sight->listed[sight->listed_count].id = known->id;
    sight->listed[sight->listed_count++].at = sight->o->stamp;
}

void sight_compare(struct sight *sight, uint64_t last_id, uint32_t walk_steps, uint32_t list_steps)
{
    compare_counts(sight);
    for (; walk_steps > 0; walk_steps--) {
        walk_on(sight, last_id);
    }
    for (; list_steps > 0; list_steps--) {
        list_on(sight);
    }
}
