/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/bean_source.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/migrate/identity.h"
#include "ctl/migrate/migration_private.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/tubes.h"

#include <string.h>

#define TUBES_TOGETHER 64
// Delayed jobs are searched in windows of ids, whose size adapts to the share of ids in them that
// are of delayed jobs.
#define WINDOW_MIN ((uint64_t)1)
#define WINDOW_MAX ((uint64_t)1024)
#define IDS_TOGETHER 4096

//
// The properties of jobs other than their bodies
//

static bool source_read_u32(struct slice stats, struct slice key, uint32_t *value)
{
    uint64_t number;

    if (!yaml_count(stats, key, &number) || number > UINT32_MAX) {
        return false;
    }
    *value = (uint32_t)number;
    return true;
}

static bool source_read_properties(const struct migration *migration, struct item *item,
                                   struct slice stats)
{
    const struct tube *tube;
    struct slice name;
    uint32_t left = 0;

    if (!yaml_text(stats, SLICE("tube"), &name) ||
        !source_read_u32(stats, SLICE("pri"), &item->priority) ||
        !source_read_u32(stats, SLICE("ttr"), &item->ttr)) {
        return false;
    }
    tube = tubes_find(migration->tubes, name);
    if (!tube) {
        return false;
    }
    item->tube = (size_t)(tube - migration->tubes->list);
    item->put_by = identity_put_by(stats);
    if (item->kind == KIND_DELAYED) {
        if (!source_read_u32(stats, SLICE("time-left"), &left)) {
            return false;
        }
        // The server reports whole seconds: a second more ensures that no job starts early.
        item->delay = left < UINT32_MAX ? left + 1 : left;
    }
    return true;
}

// This process holds a ready job. If its lease has ended, that is found later.
static bool source_state_matches(struct slice stats, enum kind kind)
{
    struct slice state;

    return kind == KIND_READY ||
           (yaml_text(stats, SLICE("state"), &state) &&
            slice_equal(state, kind == KIND_BURIED ? SLICE("buried") : SLICE("delayed")));
}

// Asks the source about all jobs of the batch. Jobs that are gone, that changed their state, or
// whose tube is not moved leave the batch.
static bool source_ask_properties(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;
    struct slice document;
    bool found;

    for (size_t i = 0; i < batch->count; i++) {
        remote_put(migration->source, "stats-job %llu", (unsigned long long)batch->items[i].from);
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        if (!remote_reply_document(migration->source, "stats-job", &document, &found)) {
            return false;
        }
        if (!found || !source_state_matches(document, item->kind) ||
            !source_read_properties(migration, item, document)) {
            item->from = 0;
        }
    }
    job_batch_pack(batch);
    return true;
}

//
// Reserving
//

// The reserves that were sent for one tube.
struct tube_reserves {
    struct tube *tube;
    size_t count;
};

static void source_say_reserves(struct migration *migration, const struct tube_reserves *asked,
                                const char *before)
{
    remote_put(migration->source, "watch %s", asked->tube->name);
    if (strcmp(before, asked->tube->name) != 0) {
        remote_put(migration->source, "ignore %s", before);
    }
    for (size_t i = 0; i < asked->count; i++) {
        remote_put(migration->source, "reserve-with-timeout 0");
    }
}

// A job that is too large stays reserved until the end; otherwise the next reserve would get it
// again.
static bool source_take_reserved_body(struct migration *migration,
                                      const struct remote_reply *answer)
{
    struct job_batch *batch = &migration->batch;
    uint64_t id = answer->numbers[0];
    uint64_t len = answer->numbers[1];
    struct slice body;

    if (len > migration->source_body_max) {
        return remote_reply_unexpected(migration->source, answer, "reserve-with-timeout");
    }
    if (len > migration->target_body_max) {
        migration->unmoved_held += !unmoved_has(migration, id);
        unmoved_note(migration, id, UNMOVED_LARGE, KIND_READY);
        return remote_skip_body(migration->source, len);
    }
    if (!remote_body(migration->source, len, &body)) {
        return false;
    }
    job_batch_set_body(batch, job_batch_add(batch, id, KIND_READY), body);
    return true;
}

static bool source_read_reserves(struct migration *migration, const struct tube_reserves *asked,
                                 bool ignored)
{
    struct remote_reply answer;
    bool more = true;

    if (!remote_reply_expect(migration->source, "watch", "WATCHING", 0, &answer) ||
        (ignored && !remote_reply_expect(migration->source, "ignore", "WATCHING", 0, &answer))) {
        return false;
    }
    for (size_t i = 0; i < asked->count; i++) {
        if (!remote_reply_read(migration->source, &answer)) {
            return false;
        }
        if (remote_reply_is(&answer, "TIMED_OUT") || remote_reply_is(&answer, "DEADLINE_SOON")) {
            more = false;
        } else if (!remote_reply_is(&answer, "RESERVED") || answer.count < 2) {
            return remote_reply_unexpected(migration->source, &answer, "reserve-with-timeout");
        } else if (!source_take_reserved_body(migration, &answer)) {
            return false;
        }
    }
    asked->tube->ready =
        more && asked->tube->ready > asked->count ? asked->tube->ready - asked->count : 0;
    return true;
}

// Chooses tubes that have ready jobs, with the number of jobs that a batch reserves.
static size_t source_choose_ready_tubes(struct migration *migration, struct tube_reserves *asked,
                                        size_t *next)
{
    struct tubes *tubes = migration->tubes;
    size_t want = migration->want;
    size_t count = 0;

    while (*next < tubes->count && count < TUBES_TOGETHER && want > 0) {
        struct tube *tube = &tubes->list[*next];
        size_t take = tube->ready < want ? (size_t)tube->ready : want;

        if (take > 0) {
            asked[count++] = (struct tube_reserves){tube, take};
            want -= take;
        }
        if (take == tube->ready) {
            ++*next;
        }
    }
    return count;
}

static bool source_reserve_some(struct migration *migration, size_t *next, bool *any)
{
    struct tube_reserves asked[TUBES_TOGETHER];
    size_t count = source_choose_ready_tubes(migration, asked, next);
    char first[sizeof asked->tube->name];
    const char *before = first;

    *any = count > 0;
    (void)memcpy(first, migration->watched, sizeof first);
    for (size_t i = 0; i < count; i++) {
        source_say_reserves(migration, &asked[i], before);
        before = asked[i].tube->name;
    }
    (void)memcpy(migration->watched, before == first ? first : asked[count - 1].tube->name,
                 sizeof first);
    before = first;
    for (size_t i = 0; i < count; i++) {
        if (!source_read_reserves(migration, &asked[i], strcmp(before, asked[i].tube->name) != 0)) {
            return false;
        }
        before = asked[i].tube->name;
    }
    return true;
}

bool source_reserve_ready(struct migration *migration, size_t *next)
{
    bool any = true;

    while (any && migration->batch.count == 0) {
        migration->leased_at = remote_now();
        if (!source_reserve_some(migration, next, &any)) {
            return false;
        }
    }
    return source_ask_properties(migration);
}

//
// Extending leases
//

static nsec_t source_shortest_ttr(const struct job_batch *batch)
{
    nsec_t least = NSEC_NEVER;

    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        if (item->kind == KIND_READY && nsec_from_seconds(item->ttr) < least) {
            least = nsec_from_seconds(item->ttr);
        }
    }
    return least;
}

bool source_extend_leases(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;
    struct remote_reply answer;

    if (!migration->source ||
        remote_now() - migration->leased_at < source_shortest_ttr(batch) / 2) {
        return true;
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].kind == KIND_READY) {
            remote_put(migration->source, "touch %llu", (unsigned long long)batch->items[i].from);
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].kind != KIND_READY) {
            continue;
        }
        if (!remote_reply_read(migration->source, &answer)) {
            return false;
        }
        if (!remote_reply_is(&answer, "TOUCHED")) {
            batch->items[i].from = 0;
            migration->counts.lost++;
        }
    }
    job_batch_pack(batch);
    return true;
}

// The first job of a tube.
struct first_job {
    struct tube *tube;
    uint64_t id; // 0: there is no job, or it cannot be moved
};

//
// The first job of each tube
//

// Chooses tubes that have jobs of the kind, of which the first can be moved.
static size_t source_choose_peek_tubes(const struct migration *migration, enum kind kind,
                                       struct first_job *first)
{
    size_t most = migration->want < TUBES_TOGETHER ? migration->want : TUBES_TOGETHER;
    size_t count = 0;

    for (size_t i = 0; i < migration->tubes->count && count < most; i++) {
        struct tube *tube = &migration->tubes->list[i];

        if (!tube->stuck && (kind == KIND_BURIED ? tube->buried : tube->delayed) > 0) {
            first[count++] = (struct first_job){.tube = tube};
        }
    }
    return count;
}

// Adds a buried job to the batch. Of a delayed one, only the id is used.
static bool source_read_first(struct migration *migration, struct first_job *first, enum kind kind)
{
    struct remote *source = migration->source;
    struct remote_reply answer;
    struct slice body;

    if (!remote_reply_expect(source, "use", "USING", 0, &answer) ||
        !remote_reply_read(source, &answer)) {
        return false;
    }
    if (remote_reply_is(&answer, "NOT_FOUND")) {
        *(kind == KIND_BURIED ? &first->tube->buried : &first->tube->delayed) = 0;
        return true;
    }
    // No job has the id 0: it would be requested without end.
    if (!remote_reply_is(&answer, "FOUND") || answer.count < 2 || answer.numbers[0] == 0 ||
        answer.numbers[1] > migration->source_body_max) {
        return remote_reply_unexpected(source, &answer, "peek");
    }
    if (answer.numbers[1] > migration->target_body_max) {
        first->tube->stuck = true;
        unmoved_note(migration, answer.numbers[0], UNMOVED_LARGE, kind);
        return remote_skip_body(source, answer.numbers[1]);
    }
    if (unmoved_has(migration, answer.numbers[0])) {
        first->tube->stuck = true;
        return remote_skip_body(source, answer.numbers[1]);
    }
    first->id = answer.numbers[0];
    if (kind == KIND_DELAYED) {
        return remote_skip_body(source, answer.numbers[1]);
    }
    if (!remote_body(source, answer.numbers[1], &body)) {
        return false;
    }
    job_batch_set_body(&migration->batch, job_batch_add(&migration->batch, first->id, kind), body);
    return true;
}

static bool source_peek_first(struct migration *migration, struct first_job *first, size_t count,
                              enum kind kind)
{
    for (size_t i = 0; i < count; i++) {
        remote_put(migration->source, "use %s", first[i].tube->name);
        remote_put(migration->source, kind == KIND_BURIED ? "peek-buried" : "peek-delayed");
    }
    for (size_t i = 0; i < count; i++) {
        if (!source_read_first(migration, &first[i], kind)) {
            return false;
        }
    }
    return true;
}

//
// Bodies of delayed jobs
//

static bool source_read_peeked_body(struct migration *migration, struct item *item)
{
    struct remote_reply answer;
    struct slice body;
    uint64_t id = item->from;

    item->from = 0;
    if (!remote_reply_read(migration->source, &answer)) {
        return false;
    }
    if (remote_reply_is(&answer, "NOT_FOUND")) {
        return true;
    }
    if (!remote_reply_is(&answer, "FOUND") || answer.count < 2 || answer.numbers[0] != id ||
        answer.numbers[1] > migration->source_body_max) {
        return remote_reply_unexpected(migration->source, &answer, "peek");
    }
    if (answer.numbers[1] > migration->target_body_max) {
        unmoved_note(migration, id, UNMOVED_LARGE, KIND_DELAYED);
        return remote_skip_body(migration->source, answer.numbers[1]);
    }
    if (!remote_body(migration->source, answer.numbers[1], &body)) {
        return false;
    }
    item->from = id;
    job_batch_set_body(&migration->batch, item, body);
    return true;
}

static bool source_peek_bodies(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;

    for (size_t i = 0; i < batch->count; i++) {
        remote_put(migration->source, "peek %llu", (unsigned long long)batch->items[i].from);
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (!source_read_peeked_body(migration, &batch->items[i])) {
            return false;
        }
    }
    job_batch_pack(batch);
    return true;
}

//
// Delayed jobs near the first ones
//

static bool source_base_is_listed(const uint64_t *bases, size_t count, uint64_t base)
{
    for (size_t i = 0; i < count; i++) {
        if (bases[i] == base) {
            return true;
        }
    }
    return false;
}

// Fills the batch with all ids of the windows that contain the first jobs.
static void source_add_ids_near(struct migration *migration, const struct first_job *first,
                                size_t count)
{
    uint64_t window = migration->window;
    uint64_t bases[TUBES_TOGETHER];
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t base = first[i].id - first[i].id % window;

        if (first[i].id == 0 || source_base_is_listed(bases, found, base) ||
            (found + 1) * window > IDS_TOGETHER) {
            continue;
        }
        bases[found++] = base;
        for (uint64_t at = 0; at < window; at++) {
            if (base + at > 0 && !unmoved_has(migration, base + at)) {
                (void)job_batch_add(&migration->batch, base + at, KIND_DELAYED);
            }
        }
    }
}

// Cuts the batch to its size; the jobs that are cut off are found again for the next batch.
static void source_adapt_window(struct migration *migration, size_t searched)
{
    struct job_batch *batch = &migration->batch;

    if (batch->count * 8 >= searched && migration->window < WINDOW_MAX) {
        migration->window *= 2;
    } else if (batch->count * 32 < searched && migration->window > WINDOW_MIN) {
        migration->window /= 2;
    }
    if (batch->count > migration->want) {
        batch->count = migration->want;
    }
}

// Skips tubes in this pass if their first jobs gave an empty batch: a worker has taken them
// meanwhile, or they cannot be moved.
static void source_mark_stuck(const struct migration *migration, const struct first_job *first,
                              size_t count)
{
    for (size_t i = 0; i < count && migration->batch.count == 0; i++) {
        first[i].tube->stuck |= first[i].id != 0;
    }
}

bool source_peek_delayed(struct migration *migration)
{
    struct first_job first[TUBES_TOGETHER];
    size_t count;
    size_t searched;

    do {
        count = source_choose_peek_tubes(migration, KIND_DELAYED, first);
        if (!source_peek_first(migration, first, count, KIND_DELAYED)) {
            return false;
        }
        source_add_ids_near(migration, first, count);
        searched = migration->batch.count;
        if (!source_ask_properties(migration)) {
            return false;
        }
        source_adapt_window(migration, searched);
        if (!source_peek_bodies(migration)) {
            return false;
        }
        source_mark_stuck(migration, first, count);
    } while (count > 0 && migration->batch.count == 0);
    return true;
}

bool source_peek_buried(struct migration *migration)
{
    struct first_job first[TUBES_TOGETHER];
    size_t count;

    do {
        count = source_choose_peek_tubes(migration, KIND_BURIED, first);
        if (!source_peek_first(migration, first, count, KIND_BURIED) ||
            !source_ask_properties(migration)) {
            return false;
        }
        source_mark_stuck(migration, first, count);
    } while (count > 0 && migration->batch.count == 0);
    return true;
}

//
// Deleting
//

bool source_delete_originals(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;
    struct remote_reply answer;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].to) {
            remote_put(migration->source, "delete %llu", (unsigned long long)batch->items[i].from);
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        if (item->to == 0) {
            continue;
        }
        if (!remote_reply_read(migration->source, &answer)) {
            return false;
        }
        item->gone = remote_reply_is(&answer, "NOT_FOUND");
        if (!item->gone && !remote_reply_is(&answer, "DELETED")) {
            return remote_reply_unexpected(migration->source, &answer, "delete");
        }
    }
    return true;
}
