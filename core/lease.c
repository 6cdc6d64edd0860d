/* SPDX-License-Identifier: MIT */
#include "core/lease.h"

#include "core/charge.h"
#include "core/image.h"
#include "core/observe.h"
#include "core/record.h"
#include "core/record_private.h"
#include "core/watch.h"

#include <endian.h>
#include <limits.h>

//
// Memos of leases
//

// A value: the lease's end, its limit, how often the job was reserved, flags, zeros, the name of
// the lease. journal/FORMAT.md specifies it.
enum {
    LEASE_VALUE_UNTIL = 0,
    LEASE_VALUE_LIMIT = 8,
    LEASE_VALUE_RESERVES = 16,
    LEASE_VALUE_FLAGS = 20,
    LEASE_VALUE_NAME = 24
};
enum { LEASE_VALUE_LEN = LEASE_VALUE_NAME + DURABLE_LEASE_NAME, LEASE_KEY_LEN = 8 };
enum { LEASE_FLAG_DATA = 1 };

static struct slice lease_key(uint64_t job_id, char room[LEASE_KEY_LEN])
{
    uint64_t bytes = htole64(job_id);

    memcpy(room, &bytes, sizeof bytes);
    return slice_of(room, LEASE_KEY_LEN);
}

static uint64_t lease_get_number(const char *from)
{
    uint64_t number;

    memcpy(&number, from, sizeof number);
    return le64toh(number);
}

static void lease_put_number(char *to, uint64_t number)
{
    number = htole64(number);
    memcpy(to, &number, sizeof number);
}

// False for a memo of another kind, and for one that cannot be read.
static bool lease_memo_read(const struct memo *memo, struct lease_memo *content)
{
    const char *value = memo->value.ptr;
    uint32_t reserves;

    if (memo->kind != MEMO_LEASE || memo->key.len != LEASE_KEY_LEN ||
        memo->value.len != LEASE_VALUE_LEN) {
        return false;
    }
    memcpy(&reserves, value + LEASE_VALUE_RESERVES, sizeof reserves);
    *content = (struct lease_memo){
        .lease = {.job_id = lease_get_number(memo->key.ptr),
                  .until_at = (nsec_t)lease_get_number(value + LEASE_VALUE_UNTIL),
                  .limit_for = (nsec_t)lease_get_number(value + LEASE_VALUE_LIMIT)},
        .reserves = le32toh(reserves),
        .data_reported = (value[LEASE_VALUE_FLAGS] & LEASE_FLAG_DATA) != 0,
    };
    memcpy(content->lease.name, value + LEASE_VALUE_NAME, DURABLE_LEASE_NAME);
    return content->lease.until_at >= 0 && content->lease.limit_for >= 0;
}

bool lease_memo_find(const struct broker *broker, uint64_t job_id, struct lease_memo *content)
{
    char room[LEASE_KEY_LEN];
    const struct memo *memo = broker_memo_find(broker, MEMO_LEASE, lease_key(job_id, room));

    return memo && lease_memo_read(memo, content);
}

// The memo has no end of its own: the broker sees the lease's end by another clock.
static bool lease_memo_write(struct broker *broker, const struct lease_memo *content)
{
    uint32_t reserves = htole32(content->reserves);
    char value[LEASE_VALUE_LEN] = {0};
    char room[LEASE_KEY_LEN];
    const struct memo memo = {
        .kind = MEMO_LEASE,
        .key = lease_key(content->lease.job_id, room),
        .value = slice_of(value, LEASE_VALUE_LEN),
        .until_at = NSEC_NEVER,
    };

    lease_put_number(value + LEASE_VALUE_UNTIL, (uint64_t)content->lease.until_at);
    lease_put_number(value + LEASE_VALUE_LIMIT, (uint64_t)content->lease.limit_for);
    memcpy(value + LEASE_VALUE_RESERVES, &reserves, sizeof reserves);
    value[LEASE_VALUE_FLAGS] = content->data_reported ? LEASE_FLAG_DATA : 0;
    memcpy(value + LEASE_VALUE_NAME, content->lease.name, DURABLE_LEASE_NAME);
    return memo_set_unawaited(broker, &memo) == STATUS_OK;
}

// Takes the end of the lease and the job's counters from the job.
static void lease_memo_update(const struct broker *broker, const struct job *job,
                              struct lease_memo *content)
{
    nsec_t left_for = job->due_at - broker->now.mono;
    nsec_t end_at = nsec_add(broker->now.wall, left_for > 0 ? left_for : 0);
    struct job_change now;

    job_describe_change(broker, job, &now);
    content->reserves = now.counters.reserves;
    content->data_reported = job->extra->data_reported;
    // Rounded up to a second, so that a worker that reports all the time has one record written per
    // second.
    end_at = nsec_add(end_at, NSEC_PER_SEC - 1);
    content->lease.until_at = end_at - end_at % NSEC_PER_SEC;
}

// The lease has another end, or its holder has reported data.
static void lease_memo_renew(struct broker *broker, const struct job *job)
{
    struct lease_memo before;
    struct lease_memo now;

    if (job->due_at == NSEC_NEVER || !lease_memo_find(broker, job->id, &before)) {
        return;
    }
    now = before;
    lease_memo_update(broker, job, &now);
    if (now.lease.until_at > before.lease.until_at || now.data_reported != before.data_reported) {
        // If the store has no room, the old memo stays.
        (void)lease_memo_write(broker, &now);
    }
}

void lease_memo_drop(struct broker *broker, uint64_t job_id, bool recorded)
{
    char room[LEASE_KEY_LEN];
    struct memo_entry *kept = memo_lookup(broker, MEMO_LEASE, lease_key(job_id, room));

    if (kept && recorded) {
        memo_remove(broker, kept);
    } else if (kept) {
        memo_forget_unawaited(broker, kept);
    }
}

//
// Beginning and renewing
//

// When a lease that begins or is renewed now ends; not after `limit_at`, unless that is 0.
static nsec_t lease_end_at(const struct broker *broker, const struct job *job, nsec_t limit_at)
{
    nsec_t end = job->ttr ? nsec_add(broker->now.mono, nsec_from_seconds(job->ttr)) : NSEC_NEVER;

    return limit_at && limit_at < end ? limit_at : end;
}

// Drops the data of the last attempt, which was kept in case its holder was only late.
static void lease_begin_attempt(struct job *job)
{
    if (!job->extra) {
        return;
    }
    job->extra->data_reported = false;
    job->extra->data_lost = false;
    job->extra->result_lost = false;
    job->extra->begun = false;
    if (job->extra->interest && job_expired(job)) {
        interest_retried(job->extra->interest);
    }
}

// The caller has made the room for the limit: in the job, or as the session's spare part.
static void lease_set_limit(struct session *session, struct job *job, nsec_t limit_at, bool fails)
{
    if (!job->extra) {
        ENSURE(session->extra && session->extra->spare);
        job->extra = session->extra->spare;
        job->extra->job = job;
        session->extra->spare = NULL;
    }
    job->extra->limit_at = limit_at;
    job->extra->fail_on_limit = fails;
}

void lease_begin(struct session *session, struct job *job, const struct subscription *by)
{
    struct broker *broker = session->broker;
    bool limited = by && by->limit_ms > 0;
    bool fresh = job->state == JOB_GONE;
    nsec_t limit_at =
        limited ? nsec_add(broker->now.mono, (nsec_t)by->limit_ms * NSEC_PER_MSEC) : 0;
    const struct job_place held = {
        .state = JOB_RESERVED,
        .pri = job->pri,
        .to_back = fresh,
        .due_at = lease_end_at(broker, job, limit_at),
        .holder = session,
    };

    job_count_reserve(broker, job);
    job->renewed = false;
    job->data_unkept = false;
    lease_begin_attempt(job);
    if (broker->observing) {
        observe_taken(broker, job, limited);
    }
    if (fresh) {
        job_begin(broker, job, &held);
    } else {
        job_move(broker, job, &held);
    }
    job->imposed_or_by_id = !by;
    if (limited) {
        lease_set_limit(session, job, limit_at, by->fail_on_limit);
    }
}

void lease_renew(struct session *session, struct job *job)
{
    const struct job_place place = {
        .state = JOB_RESERVED,
        .pri = job->pri,
        .holder = session,
        .due_at = lease_end_at(session->broker, job, job->extra ? job->extra->limit_at : 0),
    };

    if (session->broker->observing) {
        observe_renewal(session->broker, job);
    }
    job->renewed = true;
    if (place.due_at != job->due_at) {
        job_move(session->broker, job, &place);
    }
    if (job->extra && job->extra->lease_durable) {
        lease_memo_renew(session->broker, job);
    }
}

bool session_walk_leases(struct session *session, nsec_t until, lease_fn act,
                         const struct subscription *subscription)
{
    struct session_extra none = {.walked_due_at = 0};
    struct session_extra *walk = NULL;
    unsigned budget = BROKER_SLICE;
    struct job *job;

    // A walk that was begun in slices goes on from its place, however few leases are left.
    if (session->lease_count > BROKER_SLICE || (session->extra && session->extra->walked_due_at)) {
        walk = session_extra(session);
    }
    if (!walk) {
        walk = &none;
        budget = UINT_MAX; // never used up
    }
    while ((job = session_lease_after(session, walk->walked_due_at, walk->walked_seq)) &&
           job->due_at <= until) {
        if (budget == 0) {
            return false;
        }
        walk->walked_due_at = job->due_at;
        walk->walked_seq = job->seq;
        act(session, job, subscription);
        charge_pay_unit(session->broker, &budget);
    }
    walk->walked_due_at = 0;
    walk->walked_seq = 0;
    return true;
}

//
// Leases that outlive the process
//

void broker_lease_persist(struct session *session, const struct durable_lease *lease)
{
    struct broker *broker = session->broker;
    struct job *job = broker_held_job(session, lease->job_id);
    struct lease_memo content = {.lease = *lease};
    struct job_extra *extra;

    ENSURE(!broker->settling && job);
    extra = job_is_recorded(broker, job) ? job_extra(broker, job) : NULL;
    if (!extra) {
        return;
    }
    extra->lease_durable = false;
    if (job->due_at != NSEC_NEVER) {
        lease_memo_update(broker, job, &content);
        extra->lease_durable = lease_memo_write(broker, &content);
    }
}

bool broker_durable_lease_next(struct broker *broker, uint64_t *cursor, struct durable_lease *lease)
{
    const struct memo *memo;
    struct lease_memo content;

    while ((memo = broker_memo_next(broker, MEMO_LEASE, cursor))) {
        if (lease_memo_read(memo, &content)) {
            *lease = content.lease;
            return true;
        }
        memo_forget(broker, memo_lookup(broker, MEMO_LEASE, memo->key));
    }
    return false;
}

// When the limit ends a lease that is resumed until `end_at`; 0 if it has no limit. If the limit is
// not longer than the time to run, the lease ends by its limit. Otherwise renewals may move the end
// back, up to the limit: the memo does not say when that began, but it was not before now.
static nsec_t lease_resumed_limit(const struct broker *broker, const struct job *job,
                                  nsec_t limit_for, nsec_t end_at)
{
    if (limit_for == 0) {
        return 0;
    }
    return job->ttr == 0 || limit_for <= nsec_from_seconds(job->ttr)
               ? end_at
               : nsec_add(broker->now.mono, limit_for);
}

// The job's lease has begun again, with all of its time and counted as one more: makes it the one
// of the memo.
static void lease_continue(struct session *session, struct job *job,
                           const struct lease_memo *content, uint32_t reserves, nsec_t end_at)
{
    struct broker *broker = session->broker;
    const struct job_place held = {
        .state = JOB_RESERVED,
        .pri = job->pri,
        .due_at = end_at,
        .holder = session,
    };
    struct job_change now;

    job->renewed = true; // its end does not tell when it began
    job->extra->limit_at = lease_resumed_limit(broker, job, content->lease.limit_for, end_at);
    job_move(broker, job, &held);
    job_describe_change(broker, job, &now);
    now.counters.reserves = reserves > content->reserves ? reserves : content->reserves;
    (void)image_set_counters(broker, job, &now.counters); // cannot fail: the extra part is there
    job->extra->data_reported = content->data_reported;
    job->data_unkept = content->data_reported; // that data was lost with the process
    job->extra->lease_durable = true;
}

enum status broker_lease_resume(struct session *session, const struct durable_lease *lease)
{
    struct broker *broker = session->broker;
    struct job *job = broker_job(broker, lease->job_id);
    struct lease_memo content;
    struct job_change before;
    nsec_t whole_for; // of a lease that is not renewed
    nsec_t end_at;

    ENSURE(!broker->settling && !broker->restoring.active);
    if (!job || job->state != JOB_READY || !lease_memo_find(broker, job->id, &content) ||
        content.lease.until_at <= broker->now.wall) {
        return STATUS_NOT_FOUND;
    }
    whole_for = job->ttr ? nsec_from_seconds(job->ttr) : NSEC_NEVER;
    if (content.lease.limit_for > 0 && content.lease.limit_for < whole_for) {
        whole_for = content.lease.limit_for;
    }
    end_at = image_on_mono_clock(broker, content.lease.until_at, whole_for);
    if (!job_extra(broker, job)) {
        return STATUS_NO_MEMORY;
    }
    job_describe_change(broker, job, &before);
    session_works(session);
    lease_begin(session, job, NULL);
    lease_continue(session, job, &content, before.counters.reserves, end_at);
    return STATUS_OK;
}

void broker_lease_discard(struct broker *broker, uint64_t job_id)
{
    const struct job *job = broker_job(broker, job_id);

    ENSURE(!broker->settling && !(job && job->extra && job->extra->lease_durable));
    lease_memo_drop(broker, job_id, false);
}
