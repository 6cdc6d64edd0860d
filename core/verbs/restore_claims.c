/* SPDX-License-Identifier: MIT */
#include "core/verbs/restore_claims.h"

#include "core/base/list_sort.h"
#include "core/model/broker_private.h"
#include "core/model/key.h"
#include "core/model/lookup.h"

void restore_set_claim(struct broker *broker, struct job *job, bool claims)
{
    struct job_extra *extra = job->extra;

    if (!extra || extra->claims == claims || job_key(job).len == 0) {
        return;
    }
    extra->claims = claims;
    if (extra->key_kind == KEY_CONTENT) {
        broker->restoring.contents = true;
    } else if (claims) {
        list_append(&broker->restoring.names, &job_namesake(extra)->ring);
    } else {
        list_remove(&job_namesake(extra)->ring);
    }
}

static enum status claim(struct broker *broker, struct job *job)
{
    if (!key_make_room(broker)) {
        return STATUS_NO_MEMORY;
    }
    restore_set_claim(broker, job, false);
    key_claim(broker, job);
    return STATUS_OK;
}

static bool submitted_before(const struct list_node *a, const struct list_node *b)
{
    struct namesake *x = list_item((struct list_node *)(uintptr_t)a, struct namesake, ring);
    struct namesake *y = list_item((struct list_node *)(uintptr_t)b, struct namesake, ring);

    return job_of_namesake(x)->job->id < job_of_namesake(y)->job->id;
}

// Of those who hold the same name in different queues, the one submitted first comes first.
static enum status claim_names(struct broker *broker)
{
    enum status status = STATUS_OK;

    list_sort(&broker->restoring.names, submitted_before);
    while (status == STATUS_OK && !list_empty(&broker->restoring.names)) {
        struct namesake *first =
            list_item(list_first(&broker->restoring.names), struct namesake, ring);

        status = claim(broker, job_of_namesake(first)->job);
    }
    return status;
}

static enum status claim_contents(struct broker *broker)
{
    struct job_walk walk = {.over = !broker->restoring.contents};
    enum status status;

    do {
        const struct job *job;

        status = broker_job_next(broker, &walk, &job);
        if (status == STATUS_OK && job->extra && job->extra->claims &&
            claim(broker, broker_job(broker, job->id)) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
    } while (status != STATUS_EMPTY);
    broker->restoring.contents = false;
    return STATUS_OK;
}

enum status restore_claim_keys(struct broker *broker)
{
    enum status status = claim_names(broker);

    return status == STATUS_OK ? claim_contents(broker) : status;
}
