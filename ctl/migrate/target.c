/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/target.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/tubes.h"

// An id that no server reaches.
#define NO_ID "9223372036854775807"

bool target_ask(struct migration *migration)
{
    struct remote_reply answer;

    remote_put(migration->target, "reserve-job " NO_ID);
    if (!remote_reply_read(migration->target, &answer)) {
        return false;
    }
    migration->buries = remote_reply_is(&answer, "NOT_FOUND");
    remote_put(migration->target, "kick-job " NO_ID);
    if (!remote_reply_read(migration->target, &answer)) {
        return false;
    }
    migration->kicks = remote_reply_is(&answer, "NOT_FOUND");
    return true;
}

//
// Putting
//

static void target_say_put(struct migration *migration, struct item *item)
{
    uint32_t delay = item->kind == KIND_BURIED ? HIDDEN_FOR : item->delay;
    uint32_t ttr = item->ttr ? item->ttr : (uint32_t)migration->settings->ttr;

    item->staged = item->kind == KIND_READY && migration->source_api && migration->kicks;
    if (item->staged) {
        delay = STAGED_FOR;
    }
    remote_put(migration->target, "put %u %u %u %zu", (unsigned)item->priority, (unsigned)delay,
               (unsigned)ttr, item->body_len);
    remote_put_body(migration->target, job_batch_body(&migration->batch, item));
}

static bool target_refuse(struct migration *migration, const struct remote_reply *answer)
{
    struct remote *target = migration->target;

    if (remote_reply_is(answer, "DRAINING")) {
        (void)remote_fail(target, OUTCOME_NOT_NOW, "accepts no new jobs: it drains");
    } else if (remote_reply_is(answer, "OUT_OF_MEMORY") || remote_reply_is(answer, "BURIED")) {
        (void)remote_fail(target, OUTCOME_NOT_NOW, "has no room for more jobs");
    } else {
        (void)remote_reply_unexpected(target, answer, "put");
    }
    return true;
}

// Deletes copies that the target buried for lack of memory; the jobs stay at the source. If a copy
// does not exist, it was kicked, and a worker has taken it.
static bool target_drop_spoilt(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;
    struct remote_reply answer;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].spoilt) {
            remote_put(migration->target, "delete %llu",
                       (unsigned long long)batch->items[i].spoilt);
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        if (!item->spoilt) {
            continue;
        }
        if (!remote_reply_read(migration->target, &answer)) {
            return false;
        }
        if (!remote_reply_is(&answer, "DELETED")) {
            migration->counts.doubtful++;
            report_spoilt(migration, item);
        }
    }
    return true;
}

bool target_put(struct migration *migration, bool *refused)
{
    struct job_batch *batch = &migration->batch;
    struct remote_reply answer;
    size_t tube = SIZE_MAX;

    *refused = false;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].tube != tube) {
            tube = batch->items[i].tube;
            remote_put(migration->target, "use %s", migration->tubes->list[tube].name);
        }
        target_say_put(migration, &batch->items[i]);
    }
    tube = SIZE_MAX;
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        if (item->tube != tube) {
            tube = item->tube;
            if (!remote_reply_expect(migration->target, "use", "USING", 0, &answer)) {
                return false;
            }
        }
        if (!remote_reply_read(migration->target, &answer)) {
            return false;
        }
        if (remote_reply_is(&answer, "INSERTED") && answer.count > 0) {
            item->to = answer.numbers[0];
        } else {
            item->spoilt =
                remote_reply_is(&answer, "BURIED") && answer.count > 0 ? answer.numbers[0] : 0;
            *refused = target_refuse(migration, &answer);
        }
        migration->counts.no_ttr += item->to && item->ttr == 0;
    }
    return target_drop_spoilt(migration);
}

//
// Burying
//

static bool target_item_is_hidden(const struct item *item)
{
    return item->kind == KIND_BURIED && item->to != 0;
}

static bool target_read_buried(struct migration *migration, struct item *item)
{
    struct remote_reply answer;

    if (!remote_reply_read(migration->target, &answer)) {
        return false;
    }
    if (remote_reply_is(&answer, "NOT_FOUND")) {
        item->to = 0;
    } else if (!remote_reply_is(&answer, "RESERVED") || answer.count < 2) {
        return remote_reply_unexpected(migration->target, &answer, "reserve-job");
    } else if (!remote_skip_body(migration->target, answer.numbers[1])) {
        return false;
    }
    return remote_reply_read(migration->target, &answer) &&
           (remote_reply_is(&answer, "BURIED") || item->to == 0 ||
            remote_reply_unexpected(migration->target, &answer, "bury"));
}

bool target_bury(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;

    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        if (target_item_is_hidden(item)) {
            remote_put(migration->target, "reserve-job %llu", (unsigned long long)item->to);
            remote_put(migration->target, "bury %llu %u", (unsigned long long)item->to,
                       (unsigned)item->priority);
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (target_item_is_hidden(&batch->items[i]) &&
            !target_read_buried(migration, &batch->items[i])) {
            return false;
        }
    }
    return true;
}

//
// Taking back
//

bool target_take_back(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;
    struct remote_reply answer;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].gone) {
            remote_put(migration->target, "delete %llu", (unsigned long long)batch->items[i].to);
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].gone) {
            if (!remote_reply_read(migration->target, &answer)) {
                return false;
            }
            batch->items[i].back = remote_reply_is(&answer, "DELETED");
        }
    }
    return true;
}

//
// Beginning
//

static bool target_item_is_staged(const struct item *item)
{
    return item->staged && item->to != 0 && !item->back;
}

bool target_begin(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;
    struct remote_reply answer;

    for (size_t i = 0; i < batch->count; i++) {
        if (target_item_is_staged(&batch->items[i])) {
            remote_put(migration->target, "kick-job %llu", (unsigned long long)batch->items[i].to);
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (target_item_is_staged(&batch->items[i]) &&
            !remote_reply_read(migration->target, &answer)) {
            return false;
        }
    }
    return true;
}
