/* SPDX-License-Identifier: MIT */
#include "core/restore_claims.h"

#include "core/base/list_sort.h"
#include "core/broker_private.h"
#include "core/key.h"
#include "core/job_private.h"

static void begin_waiting(struct broker *broker, struct job *job)
{
    struct job_extra *extra = job->extra;

    extra->claims = true;
    if (extra->key_kind == KEY_CONTENT) {
        broker->restoring.contents = true;
    } else {
        list_append(&broker->restoring.names, &job_namesake(extra)->ring);
    }
}

static void end_waiting(struct job *job)
{
    struct job_extra *extra = job->extra;

    extra->claims = false;
    if (extra->key_kind == KEY_NAME) {
        list_remove(&job_namesake(extra)->ring);
    }
}

static void claim(struct broker *broker, struct job *job)
{
    struct key_hash hash;
    struct job *rival = key_find_rival(broker, job, &hash);

    if (rival && rival->id < job->id) {
        begin_waiting(broker, job);
        return;
    }
    if (rival) {
        key_yield(broker, rival);
        begin_waiting(broker, rival);
    }
    key_claim(broker, job);
    broker->restoring.shared |= job->extra->key_kind == KEY_NAME && !job->extra->first;
}

void restore_set_claim(struct broker *broker, struct job *job, bool claims)
{
    const struct job_extra *extra = job->extra;

    if (!extra || claims == (extra->keyed || extra->claims) || !job_has_key(job)) {
        return;
    }
    if (claims) {
        claim(broker, job);
    } else if (extra->claims) {
        end_waiting(job);
    } else {
        key_yield(broker, job);
    }
}

static struct job_extra *extra_in(const struct list_node *ring)
{
    return job_of_namesake(list_item((struct list_node *)(uintptr_t)ring, struct namesake, ring));
}

static bool submitted_before(const struct list_node *a, const struct list_node *b)
{
    return extra_in(a)->job->id < extra_in(b)->job->id;
}

static void claim_names(struct broker *broker)
{
    list_sort(&broker->restoring.names, submitted_before);
    while (!list_empty(&broker->restoring.names)) {
        struct job *job = extra_in(list_first(&broker->restoring.names))->job;

        end_waiting(job);
        key_claim(broker, job);
        broker->restoring.shared = true;
    }
}

static void claim_contents(struct broker *broker)
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

// `extra` has been the first of those who hold its name.
static void sort_ring(struct broker *broker, struct job_extra *extra)
{
    struct list_node ring;
    struct job_extra *first;

    list_init(&ring);
    list_insert_before(&job_namesake(extra)->ring, &ring);
    list_sort(&ring, submitted_before);
    first = extra_in(list_first(&ring));
    list_remove(&ring);
    if (first != extra) {
        hash_remove(&broker->index.jobs_by_key, &first->by_key);
        hash_replace(&broker->index.jobs_by_name, &extra->by_key, &first->by_key);
        hash_insert(&broker->index.jobs_by_key, &extra->by_key);
        extra->first = false;
        first->first = true;
    }
}

static void sort_rings(struct broker *broker)
{
    uint64_t position = 0;
    uint64_t last = broker->restoring.shared ? 0 : UINT64_MAX;

    for (; last != UINT64_MAX; position = last + 1) {
        struct hash_node *node = hash_stretch(&broker->index.jobs_by_name, position, &last);

        while (node) {
            struct job_extra *extra = container_of(node, struct job_extra, by_key);

            node = node->next;
            if (list_linked(&job_namesake(extra)->ring)) {
                sort_ring(broker, extra);
            }
        }
    }
    broker->restoring.shared = false;
}

void restore_settle_claims(struct broker *broker)
{
    claim_names(broker);
    claim_contents(broker);
    sort_rings(broker);
}
