/* SPDX-License-Identifier: MIT */
#include "core/kept_lease.h"

#include "core/memo_private.h"
#include "core/record.h"

#include <endian.h>

// A value: its end, its limit, how often the job was reserved, flags, zeros, its name. FORMAT.md
// says it in prose.
enum { VALUE_UNTIL = 0, VALUE_LIMIT = 8, VALUE_RESERVES = 16, VALUE_FLAGS = 20, VALUE_NAME = 24 };
enum { VALUE_LEN = VALUE_NAME + DURABLE_LEASE_NAME, KEY_LEN = 8 };
enum { FLAG_DATA = 1 };

static struct slice key_of(uint64_t id, char room[KEY_LEN])
{
    uint64_t bytes = htole64(id);

    memcpy(room, &bytes, sizeof bytes);
    return slice_of(room, KEY_LEN);
}

static uint64_t number_at(const char *from)
{
    uint64_t number;

    memcpy(&number, from, sizeof number);
    return le64toh(number);
}

static void put_number(char *to, uint64_t number)
{
    number = htole64(number);
    memcpy(to, &number, sizeof number);
}

bool kept_lease_read(const struct memo *memo, struct kept_state *state)
{
    const char *value = memo->value.ptr;
    uint32_t reserves;

    if (memo->kind != MEMO_LEASE || memo->key.len != KEY_LEN || memo->value.len != VALUE_LEN) {
        return false;
    }
    memcpy(&reserves, value + VALUE_RESERVES, sizeof reserves);
    *state = (struct kept_state){
        .lease = {.job_id = number_at(memo->key.ptr),
                  .until_at = (nsec_t)number_at(value + VALUE_UNTIL),
                  .limit_for = (nsec_t)number_at(value + VALUE_LIMIT)},
        .reserves = le32toh(reserves),
        .data_reported = (value[VALUE_FLAGS] & FLAG_DATA) != 0,
    };
    memcpy(state->lease.name, value + VALUE_NAME, DURABLE_LEASE_NAME);
    return state->lease.until_at >= 0 && state->lease.limit_for >= 0;
}

bool kept_lease_find(const struct broker *broker, uint64_t job_id, struct kept_state *state)
{
    char room[KEY_LEN];
    const struct memo *memo = broker_memo_find(broker, MEMO_LEASE, key_of(job_id, room));

    return memo && kept_lease_read(memo, state);
}

static void put_value(char to[VALUE_LEN], const struct kept_state *state)
{
    uint32_t reserves = htole32(state->reserves);

    memset(to, 0, VALUE_LEN);
    put_number(to + VALUE_UNTIL, (uint64_t)state->lease.until_at);
    put_number(to + VALUE_LIMIT, (uint64_t)state->lease.limit_for);
    memcpy(to + VALUE_RESERVES, &reserves, sizeof reserves);
    to[VALUE_FLAGS] = state->data_reported ? FLAG_DATA : 0;
    memcpy(to + VALUE_NAME, state->lease.name, DURABLE_LEASE_NAME);
}

// It does not end by itself: its end is the lease's, which the broker sees by another clock.
static bool set(struct broker *broker, const struct kept_state *state)
{
    char value[VALUE_LEN];
    char room[KEY_LEN];
    const struct memo memo = {
        .kind = MEMO_LEASE,
        .key = key_of(state->lease.job_id, room),
        .value = slice_of(value, VALUE_LEN),
        .until_at = NSEC_NEVER,
    };

    put_value(value, state);
    return memo_set_unawaited(broker, &memo) == STATUS_OK;
}

// Rounded up, so that a worker that reports without end has a record written once a second.
static nsec_t end_on_wall(const struct broker *broker, const struct job *job)
{
    nsec_t left_for = job->due_at - broker->now.mono;
    nsec_t at = nsec_add(broker->now.wall, left_for > 0 ? left_for : 0);
    nsec_t up = nsec_add(at, NSEC_PER_SEC - 1);

    return up - up % NSEC_PER_SEC;
}

// What is to be kept of the job as it is.
static void describe(const struct broker *broker, const struct job *job, struct kept_state *state)
{
    struct job_change now;

    job_describe_change(broker, job, &now);
    state->reserves = now.counters.reserves;
    state->data_reported = job->extra->data_reported;
    state->lease.until_at = end_on_wall(broker, job);
}

bool kept_lease_set(struct broker *broker, const struct job *job, const struct durable_lease *lease)
{
    struct kept_state state = {.lease = *lease};

    if (job->due_at == NSEC_NEVER) {
        return false;
    }
    describe(broker, job, &state);
    return set(broker, &state);
}

void kept_lease_renewed(struct broker *broker, const struct job *job)
{
    struct kept_state before;
    struct kept_state now;

    if (job->due_at == NSEC_NEVER || !kept_lease_find(broker, job->id, &before)) {
        return;
    }
    now = before;
    describe(broker, job, &now);
    if (now.lease.until_at > before.lease.until_at || now.data_reported != before.data_reported) {
        // Without room, what was kept before stands.
        (void)set(broker, &now);
    }
}

void kept_lease_forget(struct broker *broker, uint64_t job_id, bool told)
{
    char room[KEY_LEN];
    struct memo_entry *kept = memo_lookup(broker, MEMO_LEASE, key_of(job_id, room));

    if (kept && told) {
        memo_remove(broker, kept);
    } else if (kept) {
        memo_forget_unawaited(broker, kept);
    }
}

void kept_lease_end(struct broker *broker, struct job *job, bool told)
{
    job->extra->lease_durable = false;
    kept_lease_forget(broker, job->id, told);
}
