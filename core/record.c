/* SPDX-License-Identifier: MIT */

// Records for the store, and the descriptions of jobs and pauses in them.

#include "core/record_private.h"

#include "core/expiry.h"
#include "core/job_private.h"
#include "core/observe.h"
#include "core/queue_private.h"
#include "core/timers.h"

bool record_ask(struct broker *broker, enum record_kind kind, const struct job *job)
{
    const struct record record = {
        .kind = kind,
        .was_buried = job->state == JOB_BURIED,
        .job = job,
        .queue = queue_at(broker, job),
    };

    return broker->store.recorder->has_space(broker->store.context, &record);
}

uint64_t record_tell(struct broker *broker, enum record_kind kind, const struct job *job,
                     bool was_buried)
{
    const struct record record = {
        .kind = kind,
        .was_buried = was_buried,
        .job = job,
        .queue = queue_at(broker, job),
    };
    uint64_t position = broker->store.recorder->append(broker->store.context, &record);

    broker_await_position(broker, position);
    return position;
}

bool record_move_has_space(struct broker *broker, const struct job *job, const struct queue *to,
                           const struct dead_letter *letter)
{
    const struct record record = {
        .kind = RECORD_MOVE,
        .was_buried = job->state == JOB_BURIED,
        .job = job,
        .queue = to,
        .dead_letter = letter,
    };

    return !job_is_recorded(broker, job) ||
           broker->store.recorder->has_space(broker->store.context, &record);
}

uint64_t record_move_append(struct broker *broker, const struct job *job, const struct queue *from,
                            size_t was_len)
{
    struct dead_letter letter;
    const struct record record = {
        .kind = RECORD_MOVE,
        .was_buried = job->state == JOB_BURIED,
        .job = job,
        .queue = from,
        .dead_letter = &letter,
        .was_len = was_len,
    };
    uint64_t position;

    if (!job_is_recorded(broker, job)) {
        return 0;
    }
    (void)job_dead_letter(broker, job, &letter);
    position = broker->store.recorder->append(broker->store.context, &record);
    broker_await_position(broker, position);
    return position;
}

uint64_t broker_position(const struct broker *broker)
{
    return broker->store.position;
}

uint64_t broker_job_position(const struct broker *broker, const struct job *job)
{
    return broker->store.recorder ? broker->store.recorder->position(broker->store.context, job)
                                  : 0;
}

bool broker_store_info(const struct broker *broker, struct store_info *info)
{
    *info = (struct store_info){0};
    if (!broker->store.recorder) {
        return false;
    }
    broker->store.recorder->info(broker->store.context, info);
    return true;
}

bool record_memo_has_space(struct broker *broker, enum record_kind kind, const struct memo *memo)
{
    const struct record record = {.kind = kind, .memo = memo};

    return !broker->store.recorder ||
           broker->store.recorder->has_space(broker->store.context, &record);
}

void record_memo_append(struct broker *broker, enum record_kind kind, const struct memo *memo)
{
    const struct record record = {.kind = kind, .memo = memo};

    if (broker->store.recorder) {
        broker_await_position(broker,
                              broker->store.recorder->append(broker->store.context, &record));
    }
}

bool record_pause_has_space(struct broker *broker, const struct queue *queue)
{
    const struct record record = {.kind = RECORD_PAUSE, .queue = queue};

    return !broker->store.recorder ||
           broker->store.recorder->has_space(broker->store.context, &record);
}

uint64_t record_pause_append(struct broker *broker, const struct queue *queue)
{
    const struct record record = {.kind = RECORD_PAUSE, .queue = queue};

    return broker->store.recorder ? broker->store.recorder->append(broker->store.context, &record)
                                  : 0;
}

// Converts a moment of the monotonic clock to the wall clock. A moment in the past is the present.
static nsec_t on_wall_clock(const struct broker *broker, nsec_t at)
{
    nsec_t left = at - broker->now.mono;

    return left > 0 ? nsec_add(broker->now.wall, left) : broker->now.wall;
}

// When the job became ready, by the wall clock, if its queue lets jobs expire. Not for a held job,
// which becomes ready again.
static APART nsec_t ready_since(const struct broker *broker, const struct job *job)
{
    nsec_t at = broker->now.wall - job_waited_for(broker, job);

    return queue_expires(queue_at(broker, job)) && at > 0 ? at : 0;
}

// `change` is zeroed.
static inline void job_describe_now(const struct broker *broker, const struct job *job,
                                    struct job_change *change)
{
    change->id = job->id;
    change->state = job->state == JOB_RESERVED ? JOB_READY : job->state;
    change->attempts = job->attempts;
    change->pri = job->pri;
    if (job->extra) {
        change->keyed = job->extra->keyed;
        change->delay = job->extra->delay;
    }
    if (job->state == JOB_BURIED) {
        change->burial = job->burial;
    } else if (job->state == JOB_DELAYED) {
        change->on_wall = job_due_on_wall(job);
        change->imposed = job_wait_imposed(job);
        change->due_at = change->on_wall ? job->due_at : on_wall_clock(broker, job->due_at);
    } else if (job->state == JOB_READY && broker->gates.expiring > 0) {
        change->ready_at = ready_since(broker, job);
    }
}

static inline void job_describe_counters(const struct job *job, struct job_counters *counters)
{
    const struct job_extra *extra = job->extra;

    counters->reserves = job->reserves;
    if (extra) {
        counters->reserves += extra->reserves;
        counters->timeouts = extra->timeouts;
        counters->releases = extra->releases;
        counters->buries = extra->buries;
        counters->kicks = extra->kicks;
    }
}

void job_describe_change(const struct broker *broker, const struct job *job,
                         struct job_change *change)
{
    *change = (struct job_change){.counted = true};
    job_describe_now(broker, job, change);
    job_describe_counters(job, &change->counters);
}

void job_describe(const struct broker *broker, const struct job *job, struct job_image *image)
{
    const struct job_extra *extra = job->extra;
    const struct queue *queue = queue_at(broker, job);

    *image = (struct job_image){
        .queue = queue_name(queue),
        .queue_kept = queue->kept,
        .on_fail = job->on_fail,
        .on_loss = job->on_loss,
        .ttr = job->ttr,
        .created_ms = calendar_to_wall_ms(broker, job->created_ms),
        .body = job_body(job),
        .blob = job_blob(job),
    };
    job_describe_now(broker, job, &image->now);
    job_describe_counters(job, &image->now.counters);
    if (job->dead_letter) {
        (void)job_dead_letter(broker, job, &image->dead_letter);
    }
    if (extra) {
        image->key_kind = extra->key_kind;
        image->max_attempts = extra->max_attempts;
        image->key = slice_of(extra->names, extra->key_len);
        image->reducer = slice_of(extra->names + extra->key_len, extra->reducer_len);
    }
}

size_t job_variable_len(const struct broker *broker, const struct job *job)
{
    const struct job_extra *extra = job->extra;
    size_t len = queue_at(broker, job)->name_len + job_body(job).len;

    if (extra) {
        len += (size_t)extra->key_len + extra->reducer_len;
    }
    if (job->dead_letter) {
        struct dead_letter letter;

        (void)job_dead_letter(broker, job, &letter);
        len += dead_letter_len(&letter);
    }
    return len;
}

bool job_is_buried(const struct job *job)
{
    return job->state == JOB_BURIED;
}

bool job_is_durable(const struct job *job)
{
    return job->durable;
}

bool queue_describe_pause(const struct broker *broker, const struct queue *queue, nsec_t *pause_for,
                          nsec_t *until_at)
{
    if (!queue_paused(queue)) {
        return false;
    }
    *pause_for = queue->pause_for;
    *until_at = on_wall_clock(broker, queue->pause_end.at);
    return true;
}

uint64_t broker_next_id(const struct broker *broker)
{
    return broker->next.id;
}

uint32_t job_mark(const struct job *job)
{
    return job->mark;
}

void job_set_mark(const struct job *job, uint32_t mark)
{
    ((struct job *)(uintptr_t)job)->mark = mark;
}

uint32_t queue_mark(const struct queue *queue)
{
    return queue->mark;
}

void queue_set_mark(struct broker *broker, const struct queue *queue, uint32_t mark)
{
    struct queue *marked = (struct queue *)(uintptr_t)queue;

    marked->mark = mark;
    if (list_linked(&marked->recorded)) {
        list_remove(&marked->recorded);
        list_append(&broker->paused.by_record, &marked->recorded);
    }
}

const struct queue *broker_pause_oldest(const struct broker *broker)
{
    struct list_node *node = list_first(&broker->paused.by_record);

    return node ? list_item(node, struct queue, recorded) : NULL;
}

void broker_pauses(const struct broker *broker, uint64_t *count, uint64_t *names)
{
    *count = broker->paused.count;
    *names = broker->paused.names_len;
}
