/* SPDX-License-Identifier: MIT */
#include "core/unique.h"

#include "core/job_private.h"
#include "core/memo_private.h"
#include "core/policy_private.h"
#include "core/queue_private.h"

#include <endian.h>

// As FORMAT.md of the journal says them.
struct secret {
    struct siphash_key halves[2];
};
struct hashed {
    uint64_t halves[2]; // little-endian
};

static const struct slice secret_name = {"unique", 6};

static bool find_secret(const struct broker *broker, struct secret *secret)
{
    const struct memo *memo = broker_memo_find(broker, MEMO_SECRET, secret_name);

    if (!memo || memo->value.len != sizeof *secret) {
        return false;
    }
    memcpy(secret, memo->value.ptr, sizeof *secret);
    for (int half = 0; half < 2; half++) {
        secret->halves[half].words[0] = le64toh(secret->halves[half].words[0]);
        secret->halves[half].words[1] = le64toh(secret->halves[half].words[1]);
    }
    return true;
}

// It outlives the process, unlike the key that it is drawn from. False where it cannot be kept.
static bool make_secret(struct broker *broker)
{
    const char *const words[] = {"unique 1", "unique 2", "unique 3", "unique 4"};
    uint64_t value[4];
    const struct memo memo = {
        .kind = MEMO_SECRET,
        .key = secret_name,
        .value = slice_of((const char *)value, sizeof value),
        .until_at = NSEC_NEVER,
    };

    for (int i = 0; i < 4; i++) {
        value[i] = htole64(siphash(&broker->key, words[i], strlen(words[i])));
    }
    return memo_set(broker, &memo) == STATUS_OK;
}

static uint64_t hash(const struct siphash_key *secret, const struct queue *queue, struct key key)
{
    const struct slice name = queue_name(queue);
    const uint64_t parts[] = {
        htole64(siphash(secret, key.bytes.ptr, key.bytes.len)),
        htole64(siphash(secret, name.ptr, name.len)),
        htole64((uint64_t)key.space),
    };

    return htole64(siphash(secret, (const char *)parts, sizeof parts));
}

static struct slice hash_key(const struct secret *secret, const struct queue *queue, struct key key,
                             struct hashed *room)
{
    for (int half = 0; half < 2; half++) {
        room->halves[half] = hash(&secret->halves[half], queue, key);
    }
    return slice_of((const char *)room, sizeof *room);
}

void unique_keep(struct broker *broker, const struct job *job)
{
    const struct queue *queue = queue_at(broker, job);
    const struct policy_spec *policy = POLICY_OF(queue);
    uint64_t id = htole64(job->id);
    struct secret secret;
    struct hashed room;
    struct memo memo = {.kind = MEMO_UNIQUE, .value = slice_of((const char *)&id, sizeof id)};

    if (!policy || policy->unique_for_for == 0 || !job->extra || !job->extra->keyed ||
        (!find_secret(broker, &secret) && !(make_secret(broker) && find_secret(broker, &secret)))) {
        return;
    }
    memo.key = hash_key(&secret, queue, job_key(job), &room);
    memo.until_at = nsec_add(broker->now.wall, policy->unique_for_for);
    (void)memo_set(broker, &memo);
}

uint64_t unique_find(struct broker *broker, const struct queue *queue, struct key key)
{
    const struct memo *memo = NULL;
    struct secret secret;
    struct hashed room;
    uint64_t id = 0;

    if (find_secret(broker, &secret)) {
        memo = broker_memo_find(broker, MEMO_UNIQUE, hash_key(&secret, queue, key, &room));
    }
    if (memo && memo->value.len == sizeof id) {
        memcpy(&id, memo->value.ptr, sizeof id);
    }
    return le64toh(id);
}
