/* SPDX-License-Identifier: MIT */
#include "tests/core/oracle_restart.h"

// The oracle's job that was buried first in the queue, among jobs that `again` still has.
static uint64_t longest_buried(const struct oracle *o, struct stage *again, int queue)
{
    const struct oracle_job *first = NULL;

    for (const struct oracle_job *job = o->jobs; job < o->jobs + ORACLE_JOBS; job++) {
        if (job->id && job->state == JOB_BURIED && job->queue == queue &&
            stage_state(again, job->id) == JOB_BURIED && (!first || job->buried < first->buried)) {
            first = job;
        }
    }
    return first ? first->id : 0;
}

static void compare_buried(const struct oracle *o, struct stage *again, int queue, const char *name)
{
    uint64_t id;

    do {
        const struct queue *found = stage_find(again, name);
        const struct job *first = found ? queue_peek_buried(found) : NULL;

        id = longest_buried(o, again, queue);
        assert_int_equal(first ? job_id(first) : 0, id);
        if (id) {
            assert_status(STATUS_OK, stage_cancel(again, id));
        }
    } while (id);
}

// `stepped`: the clock was set meanwhile, so that the delay may be over or not.
static void compare_pause(nsec_t left_for, struct stage *again, const char *name, bool stepped)
{
    if (!stage_find(again, name)) {
        assert_true(left_for == 0 || stepped);
        return;
    }
    if (!stepped) {
        assert_int_equal(stage_queue(again, name).pause_remaining_for, left_for);
    }
    assert_status(STATUS_OK, stage_pause(again, name, 0));
}

// All ready jobs: the best first, equals by their ids.
static void compare_takes(struct stage *again, const char *const queue_names[ORACLE_QUEUES])
{
    struct actor *worker = stage_open(again, "worker");
    uint64_t ready = stage_info(again).jobs[JOB_READY];
    uint64_t last_id = 0;
    uint32_t last_pri = 0;

    for (size_t i = 0; i < ORACLE_QUEUES; i++) {
        act_subscribe(worker, queue_names[i]);
    }
    for (; ready > 0; ready--) {
        uint64_t id = act_take(worker);
        uint32_t pri = stage_job(again, id).pri;

        assert_true(pri > last_pri || (pri == last_pri && id > last_id));
        last_id = id;
        last_pri = pri;
    }
    assert_int_equal(act_take(worker), 0);
}

static void compare_key(struct stage *again, const struct oracle_job *job, const char *name)
{
    const struct job *holder = NULL;

    if (job->plan.key) {
        holder =
            broker_find_key(again->broker, stage_find(again, name), stage_slice(job->plan.key));
    }
    assert_int_equal(holder && job_id(holder) == job->id, job->keyed);
}

// Losses, and taking a job that is delayed, are not recorded.
static void compare_replayed(const struct oracle *o, const struct job_change *live,
                             const struct job_change *replayed)
{
    struct job_change expected = *live;

    expected.attempts = replayed->attempts;
    if (live->state == JOB_READY && replayed->state == JOB_DELAYED) {
        expected.state = JOB_DELAYED;
        expected.due_at = replayed->due_at;
        expected.on_wall = replayed->on_wall;
        expected.imposed = replayed->imposed;
    }
    if (o->stepped && live->state == JOB_DELAYED && !live->on_wall) {
        // If the clock was set meanwhile, the delay may be over, and never exceeds its whole
        // length.
        expected.state = replayed->state == JOB_READY ? JOB_READY : JOB_DELAYED;
        expected.due_at = replayed->due_at;
        expected.imposed = replayed->state == JOB_DELAYED && live->imposed;
        assert_true(replayed->due_at - o->now.wall <= nsec_from_seconds(live->delay));
    }
    stage_expect_same_change(&expected, replayed);
}

static void compare_job(const struct oracle *o, struct stage *live, struct stage *again,
                        uint64_t id, bool replayed)
{
    struct job_image original = stage_image(live, id);
    struct job_image copy = stage_image(again, id);

    assert_int_equal(original.queue.len, copy.queue.len);
    assert_memory_equal(original.queue.ptr, copy.queue.ptr, copy.queue.len);
    if (replayed) {
        compare_replayed(o, &original.now, &copy.now);
        // Leases may have begun and ended since the last record.
        assert_true(copy.now.counters.reserves <= original.now.counters.reserves &&
                    copy.now.counters.timeouts <= original.now.counters.timeouts);
        assert_true(copy.now.counters.reserves >= copy.now.attempts);
        assert_int_equal(original.now.counters.releases, copy.now.counters.releases);
        assert_int_equal(original.now.counters.buries, copy.now.counters.buries);
        assert_int_equal(original.now.counters.kicks, copy.now.counters.kicks);
    } else {
        stage_expect_same_image(&original, &copy);
    }
}

void oracle_expect_restarted(const struct oracle *o, struct stage *live, struct stage *again,
                             const char *const queue_names[ORACLE_QUEUES], bool replayed)
{
    uint64_t durable = 0;

    for (const struct oracle_job *job = o->jobs; job < o->jobs + ORACLE_JOBS; job++) {
        if (job->id && job->durable) {
            compare_job(o, live, again, job->id, replayed);
            compare_key(again, job, queue_names[job->queue]);
            durable++;
        }
    }
    for (unsigned state = 0; state < JOB_STATES; state++) {
        durable -= stage_info(again).jobs[state];
    }
    assert_int_equal(durable, 0);
    for (int queue = 0; queue < ORACLE_QUEUES; queue++) {
        nsec_t until = o->paused_until[queue];

        compare_pause(until ? until - o->now.mono : 0, again, queue_names[queue],
                      replayed && (o->stepped || o->pause_over[queue]));
        compare_buried(o, again, queue, queue_names[queue]);
    }
    compare_takes(again, queue_names);
    stage_free(again);
}
