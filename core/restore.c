/* SPDX-License-Identifier: MIT */
#include "core/restore.h"

#include "core/base/list.h"
#include "core/expiry.h"
#include "core/gate.h"
#include "core/image.h"
#include "core/key.h"
#include "core/lease.h"
#include "core/observe.h"
#include "core/outcome.h"

//
// Keys of jobs that come back. A job holds its key as soon as it is there, unless a job that was
// submitted before it holds that key: then it waits until all jobs are back.
//

static void claim_begin_waiting(struct broker *broker, struct job *job)
{
    struct job_extra *extra = job->extra;

    extra->claims = true;
    if (extra->key_kind == KEY_CONTENT) {
        broker->restoring.contents = true;
    } else {
        list_append(&broker->restoring.names, &job_namesake(extra)->ring);
    }
}

static void claim_end_waiting(struct job *job)
{
    struct job_extra *extra = job->extra;

    extra->claims = false;
    if (extra->key_kind == KEY_NAME) {
        list_remove(&job_namesake(extra)->ring);
    }
}

// Sets whether the job is to hold its key.
static void claim_set(struct broker *broker, struct job *job, bool claims)
{
    const struct job_extra *extra = job->extra;
    struct key_hash hash;
    struct job *rival;

    if (!extra || claims == (extra->keyed || extra->claims) || !job_has_key(job)) {
        return;
    }
    if (!claims) {
        if (extra->claims) {
            claim_end_waiting(job);
        } else {
            key_yield(broker, job);
        }
        return;
    }
    rival = key_find_rival(broker, job, &hash);
    if (rival && rival->id < job->id) {
        claim_begin_waiting(broker, job);
        return;
    }
    if (rival) {
        key_yield(broker, rival);
        claim_begin_waiting(broker, rival);
    }
    key_claim(broker, job);
    broker->restoring.shared |= extra->key_kind == KEY_NAME && !extra->first;
}

static struct job_extra *claim_extra_in(const struct list_node *ring)
{
    return job_of_namesake(list_item((struct list_node *)(uintptr_t)ring, struct namesake, ring));
}

static bool claim_is_older(const struct list_node *a, const struct list_node *b)
{
    return claim_extra_in(a)->job->id < claim_extra_in(b)->job->id;
}

static void claim_all_names(struct broker *broker)
{
    list_sort(&broker->restoring.names, claim_is_older);
    while (!list_empty(&broker->restoring.names)) {
        struct job *job = claim_extra_in(list_first(&broker->restoring.names))->job;

        claim_end_waiting(job);
        key_claim(broker, job);
        broker->restoring.shared = true;
    }
}

static void claim_all_contents(struct broker *broker)
{
    struct job_walk walk = {.over = !broker->restoring.contents};
    const struct job *job;
    enum status status;

    while ((status = broker_job_next(broker, &walk, &job)) != STATUS_EMPTY) {
        if (status == STATUS_OK && job->extra && job->extra->claims) {
            job->extra->claims = false;
            key_claim(broker, broker_job(broker, job->id));
        }
    }
    broker->restoring.contents = false;
}

// `extra` was the first of the jobs that hold its name.
static void claim_sort_ring(struct broker *broker, struct job_extra *extra)
{
    struct list_node ring;
    struct job_extra *first;

    list_init(&ring);
    list_insert_before(&job_namesake(extra)->ring, &ring);
    list_sort(&ring, claim_is_older);
    first = claim_extra_in(list_first(&ring));
    list_remove(&ring);
    if (first != extra) {
        hash_remove(&broker->index.jobs_by_key, &first->by_key);
        hash_replace(&broker->index.jobs_by_name, &extra->by_key, &first->by_key);
        hash_insert(&broker->index.jobs_by_key, &extra->by_key);
        extra->first = false;
        first->first = true;
    }
}

static void claim_sort_rings(struct broker *broker)
{
    uint64_t position = 0;
    uint64_t last = broker->restoring.shared ? 0 : UINT64_MAX;

    for (; last != UINT64_MAX; position = last + 1) {
        struct hash_node *node = hash_stretch(&broker->index.jobs_by_name, position, &last);

        while (node) {
            struct job_extra *extra = container_of(node, struct job_extra, by_key);

            node = node->next;
            if (list_linked(&job_namesake(extra)->ring)) {
                claim_sort_ring(broker, extra);
            }
        }
    }
    broker->restoring.shared = false;
}

//
// Queues that are empty. The next record may bring such a queue its next job, so it stands in a
// list until the broker tidies up.
//

// If the queue has no job, it is examined when the broker tidies up next.
static void restore_note_idle(struct broker *broker, struct queue *queue)
{
    if (queue_jobs(queue) == 0 && !list_linked(&queue->nudging)) {
        list_append(&broker->restoring.idle, &queue->nudging);
    }
}

// Removes the queue that was noted first from the list; NULL if the list is empty.
static struct queue *restore_next_idle(struct broker *broker)
{
    struct list_node *node = list_first(&broker->restoring.idle);

    if (!node) {
        return NULL;
    }
    list_remove(node);
    return list_item(node, struct queue, nudging);
}

//
// Jobs and pauses
//

// From now until broker_restore_finish(), no queue vanishes: its jobs may still come.
static void restore_begin(struct broker *broker)
{
    ENSURE(broker->count.sessions == 0 && !broker->settling);
    // Buried jobs that come back are in another container than those of a running broker.
    ENSURE(broker->restoring.active || broker->count.queues == 0);
    broker->restoring.active = true;
}

// Records that follow each other are mostly of one queue.
static enum status restore_find_queue(struct broker *broker, struct slice name,
                                      struct queue **queue)
{
    enum status status;

    *queue = broker->restoring.queue;
    if (*queue && slice_equal(queue_name(*queue), name)) {
        return STATUS_OK;
    }
    status = broker_queue_hold_uncapped(broker, name, queue);
    if (status == STATUS_OK) {
        broker_queue_drop(broker, *queue);
        broker->restoring.queue = *queue;
        restore_note_idle(broker, *queue);
    }
    return status;
}

static void restore_remove_job(struct broker *broker, struct job *job)
{
    struct queue *queue = queue_at(broker, job);
    uint64_t seq = job->seq;

    claim_set(broker, job, false);
    job_end(broker, job);
    job_give_up_bound(broker, queue, seq);
    restore_note_idle(broker, queue);
}

// A ready job may have been ready for a while: it has waited since the moment in the record, or
// since its delay ended, whether or not its queue lets jobs expire, for policies that were set at
// run time come when all jobs are back. If neither is known, its wait begins now, so that a job
// does not expire for a time that was not counted before.
static void restore_ready_time(struct broker *broker, struct job *job,
                               const struct job_change *change)
{
    struct queue *queue = queue_at(broker, job);
    nsec_t since_at = change->state == JOB_DELAYED ? change->due_at : change->ready_at;
    nsec_t waited_for = since_at > 0 ? broker->now.wall - since_at : 0;
    nsec_t most_for =
        queue_expires(queue) ? queue->policy->rule.spec.expire_after_for : POLICY_EXPIRE_MAX;

    if (job->state == JOB_READY) {
        waited_for = waited_for < most_for ? waited_for : most_for;
        waited_for = waited_for > 0 ? waited_for : 0;
        expiry_set_since(broker, queue, job, job->ready_at_step - wait_step(waited_for));
    }
}

static void restore_put_job(struct broker *broker, struct job *job, const struct job_change *change)
{
    const struct job_place place = image_place(broker, change);
    struct job *old = broker_job(broker, job->id);

    if (old) {
        restore_remove_job(broker, old);
    }
    if (broker->next.id <= job->id) {
        broker->next.id = job->id + 1;
    }
    if (broker->next.seq <= job->id) {
        broker->next.seq = job->id + 1;
    }
    job_begin(broker, job, &place);
    restore_ready_time(broker, job, change);
    claim_set(broker, job, change->keyed && change->state != JOB_BURIED);
}

enum status broker_restore_job(struct broker *broker, const struct job_image *image,
                               const struct job **job)
{
    enum status status = image_check(image);
    struct job *restored;
    struct queue *queue;

    restore_begin(broker);
    if (status == STATUS_OK) {
        status = restore_find_queue(broker, image->queue, &queue);
    }
    if (status != STATUS_OK) {
        return status;
    }
    restored = image_job_new(broker, queue, image);
    if (!restored) {
        return STATUS_NO_MEMORY;
    }
    if (!id_map_make_room(&broker->index.jobs_by_id) ||
        (job_has_key(restored) && !key_make_room(broker))) {
        job_free(broker, restored);
        return STATUS_NO_MEMORY;
    }
    queue->kept = queue->kept || image->queue_kept;
    key_know_content(broker, restored);
    restore_put_job(broker, restored, &image->now);
    *job = restored;
    return STATUS_OK;
}

// Without memory for the counters, they stay as they are.
static void restore_set_counters(struct broker *broker, struct job *job, enum record_kind kind,
                                 const struct job_change *change)
{
    struct job_change now;
    uint32_t least;

    if (change->counted) {
        (void)image_set_counters(broker, job, &change->counters);
        return;
    }
    // A record of an older format says only by its kind what it adds to the counters. The number of
    // reserves is not known then, but it is at least the number of leases that ended.
    job_describe_change(broker, job, &now);
    now.counters.releases += kind == RECORD_RELEASE;
    now.counters.buries += kind == RECORD_BURY;
    now.counters.kicks += kind == RECORD_KICK;
    least = job->attempts + now.counters.releases;
    if (now.counters.reserves < least) {
        now.counters.reserves = least;
    }
    (void)image_set_counters(broker, job, &now.counters);
}

static void restore_apply_change(struct broker *broker, struct job *job, enum record_kind kind,
                                 const struct job_change *change)
{
    struct job_place place = image_place(broker, change);

    // A record of an older format does not say that the delay of a release was imposed.
    place.imposed = place.imposed || (kind == RECORD_RELEASE && !change->counted);
    job->attempts = change->attempts & 0x3ffu;
    restore_set_counters(broker, job, kind, change);
    job_set_delay(broker, job, nsec_from_seconds(change->delay));
    claim_set(broker, job, change->keyed && change->state != JOB_BURIED);
    job_move(broker, job, &place);
    restore_ready_time(broker, job, change);
}

enum status broker_restore_change(struct broker *broker, enum record_kind kind,
                                  const struct job_change *change)
{
    struct job *job = broker_job(broker, change->id);

    restore_begin(broker);
    if (kind != RECORD_SET) {
        lease_memo_restored_end(broker, change->id);
    }
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    if (!image_possible_change(change)) {
        return STATUS_BAD_NAME;
    }
    restore_apply_change(broker, job, kind, change);
    return STATUS_OK;
}

enum status broker_restore_move(struct broker *broker, const struct job_change *change,
                                struct slice name, bool kept, const struct dead_letter *letter)
{
    struct job *job = broker_job(broker, change->id);
    struct queue *queue;
    enum status status;

    restore_begin(broker);
    lease_memo_restored_end(broker, change->id);
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    status = image_possible_change(change) && image_possible_dead_letter(letter)
                 ? restore_find_queue(broker, name, &queue)
                 : STATUS_BAD_NAME;
    if (status == STATUS_OK && !image_set_dead_letter(broker, job, letter)) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        struct queue *from = queue_at(broker, job);

        queue->kept = queue->kept || kept;
        claim_set(broker, job, false);
        job_transfer(broker, job, queue);
        restore_note_idle(broker, from);
        key_know_content(broker, job);
        restore_apply_change(broker, job, RECORD_MOVE, change);
    }
    return status;
}

enum status broker_restore_end(struct broker *broker, uint64_t id)
{
    struct job *job = broker_job(broker, id);

    restore_begin(broker);
    lease_memo_restored_end(broker, id);
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    restore_remove_job(broker, job);
    return STATUS_OK;
}

enum status broker_restore_pause(struct broker *broker, struct slice name, nsec_t pause_for,
                                 nsec_t until_at, const struct queue **queue)
{
    struct queue *paused;
    enum status status;

    restore_begin(broker);
    status = restore_find_queue(broker, name, &paused);
    if (status != STATUS_OK) {
        return status;
    }
    if (pause_for > 0 && until_at > broker->now.wall) {
        queue_pause(broker, paused, pause_for, image_on_mono_clock(broker, until_at, pause_for));
    } else if (queue_paused(paused)) {
        queue_resume(broker, paused);
        restore_note_idle(broker, paused);
    }
    *queue = paused;
    return STATUS_OK;
}

//
// Memos. Nothing is recorded; if they are too many, some go when all are back
//

enum status broker_restore_memo(struct broker *broker, const struct memo *memo,
                                const struct memo **restored)
{
    struct memo_entry *old = memo_lookup(broker, memo->kind, memo->key);
    bool ended = memo_has_ended(broker, memo);
    // There must be numbers above the highest one.
    bool numbered = memo->number > 0 && memo->number < UINT64_C(1) << 62;
    enum status status = numbered ? memo_check(memo) : STATUS_BAD_NAME;
    struct memo_entry *kept;

    *restored = NULL;
    if (status != STATUS_OK) {
        return status;
    }
    kept = ended ? NULL : memo_copy(broker, memo);
    if (!ended && !kept) {
        return STATUS_NO_MEMORY;
    }
    if (old) {
        memo_remove(broker, old);
    }
    // An ended memo counts, too: it comes back if the clock is set back before the next start.
    if (broker->memos.last < memo->number) {
        broker->memos.last = memo->number;
    }
    if (kept) {
        kept->memo.number = memo_number_for(&broker->memos, memo);
        memo_insert(broker, kept);
        broker->memos.over_limit = true;
        *restored = &kept->memo;
    }
    return STATUS_OK;
}

enum status broker_restore_forget(struct broker *broker, enum memo_kind kind, struct slice key)
{
    struct memo_entry *kept = memo_lookup(broker, kind, key);

    if (kept) {
        memo_remove(broker, kept);
    }
    return kept ? STATUS_OK : STATUS_NOT_FOUND;
}

//
// Following a store that another process writes: the present, and the changes that time alone
// makes, which the store does not record
//

void broker_restore_now(struct broker *broker, struct instant now)
{
    ENSURE(broker->count.sessions == 0 && now.mono >= broker->now.mono);
    broker->now = now;
    calendar_review(broker);
}

static bool restore_end_pause(struct broker *broker)
{
    struct timer *first = timer_first(&broker->timers.pauses);
    struct queue *queue;

    if (!first || first->at > broker->now.mono) {
        return false;
    }
    queue = container_of(first, struct queue, pause_end);
    queue_resume(broker, queue);
    restore_note_idle(broker, queue);
    return true;
}

static bool restore_end_memo(struct broker *broker)
{
    struct timer *first = timer_first(&broker->memos.ends);

    if (!first || first->at > broker->now.wall) {
        return false;
    }
    memo_end(broker, first);
    return true;
}

// A queue without jobs and pause goes, even if it is marked as kept: the record that marked it is
// no longer stored.
static bool restore_end_queue(struct broker *broker)
{
    struct queue *queue = restore_next_idle(broker);

    if (queue && queue_jobs(queue) == 0 && !queue_paused(queue)) {
        if (broker->restoring.queue == queue) {
            broker->restoring.queue = NULL;
        }
        queue_free(broker, queue);
    }
    return queue != NULL;
}

bool broker_restore_tidy(struct broker *broker, unsigned most)
{
    ENSURE(broker->count.sessions == 0);
    while (most > 0 &&
           (restore_end_pause(broker) || restore_end_memo(broker) || restore_end_queue(broker))) {
        most--;
    }
    return most > 0;
}

//
// The end of the restart
//

enum status broker_restore_finish(struct broker *broker, uint64_t first_id)
{
    uint32_t cursor = 0;
    struct queue *queue;

    restore_begin(broker);
    ENSURE(first_id >= broker->next.seq);
    // Jobs that wait for a key get it, if it has become free. Of the jobs that hold the same name
    // in different queues, the one that was submitted first comes first.
    claim_all_names(broker);
    claim_all_contents(broker);
    claim_sort_rings(broker);

    broker->next.id = first_id;
    broker->restoring.active = false;
    broker->restoring.ended_at = broker->now.mono;
    broker->restoring.queue = NULL;
    while ((queue = table_next(&broker->index.queues, &cursor))) {
        queue_end_return(queue);
        if (queue->gate) {
            gate_restore_rate(broker, queue);
        }
        if (queue_expires(queue)) {
            expiry_review(broker, queue);
        }
    }
    while ((queue = restore_next_idle(broker))) {
        queue_vanish_if_idle(broker, queue);
    }
    return STATUS_OK;
}
