/* SPDX-License-Identifier: MIT */

#include "core/dead_letter_private.h"

#include "core/broker_private.h"
#include "core/job_private.h"

struct dead_letter_entry {
    struct hash_node by_job;
    const struct job *job;
    uint64_t at_ms;
    uint16_t attempts;
    uint16_t queue_len;
    uint8_t why; // enum dead_reason
    char queue[];
};

static struct dead_letter_entry *dead_letter_of_node(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct dead_letter_entry, by_job);
}

static size_t dead_letter_entry_size(size_t queue_len)
{
    return offsetof(struct dead_letter_entry, queue) + queue_len;
}

uint64_t dead_letter_hash_of(const struct hash_node *node)
{
    return hash_mix(dead_letter_of_node(node)->job->id);
}

static struct dead_letter_entry *dead_letter_find(const struct broker *broker,
                                                  const struct job *job)
{
    struct hash_node *node =
        job->dead_letter ? hash_first(&broker->index.dead_letters, hash_mix(job->id)) : NULL;

    while (node && dead_letter_of_node(node)->job != job) {
        node = node->next;
    }
    return node ? dead_letter_of_node(node) : NULL;
}

bool dead_letter_set(struct broker *broker, struct job *job, const struct dead_letter *letter)
{
    struct dead_letter_entry *dead_letter =
        hash_make_room(&broker->index.dead_letters)
            ? slab_alloc(&broker->slab, dead_letter_entry_size(letter->queue.len))
            : NULL;

    if (!dead_letter) {
        return false;
    }
    dead_letter_remove(broker, job);
    dead_letter->job = job;
    dead_letter->at_ms = letter->at_ms;
    dead_letter->attempts = letter->attempts;
    dead_letter->queue_len = (uint16_t)letter->queue.len;
    dead_letter->why = (uint8_t)letter->why;
    memcpy(dead_letter->queue, letter->queue.ptr, letter->queue.len);
    hash_insert(&broker->index.dead_letters, &dead_letter->by_job);
    job->dead_letter = true;
    return true;
}

APART void dead_letter_remove(struct broker *broker, struct job *job)
{
    struct dead_letter_entry *dead_letter = dead_letter_find(broker, job);

    if (dead_letter) {
        hash_remove(&broker->index.dead_letters, &dead_letter->by_job);
        slab_free(&broker->slab, dead_letter, dead_letter_entry_size(dead_letter->queue_len));
        job->dead_letter = false;
    }
}

bool job_dead_letter(const struct broker *broker, const struct job *job, struct dead_letter *letter)
{
    const struct dead_letter_entry *dead_letter = dead_letter_find(broker, job);

    *letter = (struct dead_letter){.why = DEAD_NOT};
    if (dead_letter) {
        *letter = (struct dead_letter){
            .queue = slice_of(dead_letter->queue, dead_letter->queue_len),
            .why = (enum dead_reason)dead_letter->why,
            .attempts = dead_letter->attempts,
            .at_ms = dead_letter->at_ms,
        };
    }
    return dead_letter != NULL;
}

const char *dead_reason_text(enum dead_reason why)
{
    switch (why) {
    case DEAD_NOT:
        return "";
    case DEAD_ATTEMPTS:
        return "attempts";
    case DEAD_FAILED:
        return "failed";
    case DEAD_EXCEPTION:
        return "exception";
    case DEAD_EXPIRED:
        return "expired";
    }
    UNREACHABLE();
}
