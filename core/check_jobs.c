/* SPDX-License-Identifier: MIT */
#include "core/check_private.h"

#include "core/kept_lease.h"
#include "core/job.h"
#include "core/key.h"
#include "core/lookup.h"
#include "core/watch.h"
#include "core/past.h"

static void check_interest(const struct broker *broker, const struct job *job)
{
    const struct interest *interest = job_interest(job);

    if (!interest) {
        return;
    }
    ENSURE(interest->job == job && interest->broker == broker);
    ENSURE(interest_listeners(interest) == check_list(&interest->watches));
    ENSURE(interest->untold == check_list(&interest->events));
    list_each (node, &interest->events) {
        const struct queued_event *event = list_item(node, struct queued_event, in_interest);

        ENSURE(event->interest == interest);
    }
    ENSURE(list_linked(&interest->in_broker) == (interest->untold > 0));
    ENSURE(job->state != JOB_BURIED);
    list_each (node, &interest->watches) {
        ENSURE(list_item(node, struct watch, in_interest)->interest == interest);
    }
}

// From the first of each name, all who hold it are reached, and nobody else.
static void check_namesakes(struct tally *tally, struct job_extra *extra)
{
    const struct list_node *ring = &job_namesake(extra)->ring;

    tally->named++;
    if (!extra->first) {
        return;
    }
    tally->firsts++;
    tally->ringed += 1 + check_list(ring);
    ENSURE(broker_find_name(tally->broker, job_key(extra->job).bytes) == extra->job);
    list_each (node, ring) {
        struct job_extra *other = job_of_namesake(list_item(node, struct namesake, ring));

        ENSURE(!other->first && other->keyed && other->key_kind == KEY_NAME);
        ENSURE(other->name_hash == extra->name_hash && other->job->queue != extra->job->queue);
        ENSURE(slice_equal(job_key(other->job).bytes, job_key(extra->job).bytes));
    }
}

static void check_key(struct tally *tally, const struct job *job)
{
    struct job_extra *extra = job->extra;
    struct key_hash hash;

    ENSURE(key_find(tally->broker, queue_at(tally->broker, job), job_key(job), &hash) == job);
    ENSURE(hash.whole == extra->key_hash);
    tally->keyed++;
    if (extra->key_kind == KEY_NAME) {
        check_namesakes(tally, extra);
    }
}

static void check_past(struct tally *tally, const struct job *job)
{
    struct job_past past;

    if (job->noted) {
        ENSURE(job->durable && job_past(tally->broker, job, &past) && past.queue.len > 0);
        tally->noted++;
    }
}

static bool is_kept_lease(const struct broker *broker, const struct job *job)
{
    struct kept_state kept;

    return job->state == JOB_RESERVED && job->durable && kept_lease_find(broker, job->id, &kept);
}

void check_job(struct tally *tally, const struct job *job, enum job_state state)
{
    const struct broker *broker = tally->broker;
    const struct job_extra *extra = job->extra;

    ENSURE(job->state == state);
    ENSURE(broker_find(broker, job->id) == job);
    ENSURE(job->id < broker->next.id && job->seq < broker->next.seq);
    ENSURE(!job->abandoned || (!job->durable && state == JOB_RESERVED));
    ENSURE(!extra || !extra->claims || (!extra->keyed && tally->broker->restoring.active));
    ENSURE(!(state == JOB_BURIED && (!job->durable || (extra && extra->keyed))));
    ENSURE(!extra || extra->job == job);
    ENSURE(state == JOB_RESERVED || !extra || extra->limit_at == 0);
    ENSURE(!extra || !extra->lease_kept || is_kept_lease(broker, job));
    tally->jobs[state]++;
    tally->bytes += state == JOB_BURIED ? 0 : job_body(job).len;
    ENSURE(!extra || extra->keyed || !extra->first);
    if (extra && extra->keyed) {
        check_key(tally, job);
    }
    check_past(tally, job);
    check_interest(broker, job);
}
