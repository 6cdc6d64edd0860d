/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/resume.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/migrate/identity.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/settle.h"
#include "ctl/migrate/state.h"
#include "ctl/migrate/tandem.h"
#include "ctl/migrate/target.h"
#include "ctl/migrate/twins.h"

#include <poll.h>
#include <stdint.h>
#include <string.h>

// The connection of a run that was killed may still hold jobs for a moment.
#define RELEASED_WITHIN (2 * NSEC_PER_SEC)
#define LOOK_EACH_MSEC 20

//
// Acknowledged ones
//

static bool is_state(struct slice stats, struct slice word)
{
    struct slice state;

    return yaml_text(stats, SLICE("state"), &state) && slice_equal(state, word);
}

// A copy that was to be buried is. By its delay it is known: no other job has such a one.
static bool bury_again(struct migration *migration, const struct item *item)
{
    struct remote *target = migration->target;
    struct remote_reply answer;
    struct slice stats;
    uint64_t priority = 0;
    uint64_t delay = 0;
    bool found;

    remote_put(target, "stats-job %llu", (unsigned long long)item->to);
    if (!remote_reply_document(target, "stats-job", &stats, &found)) {
        return false;
    }
    (void)yaml_count(stats, SLICE("pri"), &priority);
    (void)yaml_count(stats, SLICE("delay"), &delay);
    if (!found || is_state(stats, SLICE("buried")) || delay != HIDDEN_FOR) {
        return true;
    }
    remote_put(target, "reserve-job %llu", (unsigned long long)item->to);
    remote_put(target, "bury %llu %llu", (unsigned long long)item->to,
               (unsigned long long)priority);
    if (!remote_reply_read(target, &answer) ||
        (remote_reply_is(&answer, "RESERVED") && answer.count == 2 &&
         !remote_skip_body(target, answer.numbers[1]))) {
        return false;
    }
    if (!remote_reply_read(target, &answer)) {
        return false;
    }
    if (!remote_reply_is(&answer, "BURIED")) {
        report_line(migration, "not buried: a worker has job %llu of %s, which was buried",
                    (unsigned long long)item->to, migration->to_name);
    }
    return true;
}

// Whether it was deleted, and otherwise, whether it is there.
static bool delete_at_source(struct migration *migration, uint64_t id, bool *deleted, bool *there)
{
    struct remote_reply answer;
    struct slice stats;

    remote_put(migration->source, "delete %llu", (unsigned long long)id);
    if (!remote_reply_read(migration->source, &answer)) {
        return false;
    }
    *deleted = remote_reply_is(&answer, "DELETED");
    *there = false;
    if (*deleted) {
        return true;
    }
    remote_put(migration->source, "stats-job %llu", (unsigned long long)id);
    return remote_reply_document(migration->source, "stats-job", &stats, there);
}

// Whether the target, another process of which has been asked to put the job, still has the copy.
// One that keeps no jobs gives the same ids to others: a job is the one only if it is older than
// the process, whose age is asked for after the job's.
static bool is_kept(struct migration *migration, const struct item *item, bool *kept)
{
    struct remote *target = migration->target;
    struct slice stats;
    uint64_t age = 0;
    uint64_t uptime = UINT64_MAX;
    enum seen seen;
    bool found;

    remote_put(target, "stats-job %llu", (unsigned long long)item->to);
    remote_put(target, "stats");
    if (!remote_reply_document(target, "stats-job", &stats, &found)) {
        return false;
    }
    (void)yaml_count(stats, SLICE("age"), &age);
    if (!remote_reply_document(target, "stats", &stats, &found)) {
        return false;
    }
    (void)yaml_count(stats, SLICE("uptime"), &uptime);
    if (!identity_see_target(migration, item, &seen)) {
        return false;
    }
    *kept = seen == SEEN_SAME && age > uptime;
    return true;
}

// Whether another process of the source has given the number to another job; false with a problem.
static bool see_source(struct migration *migration, const struct item *item, bool *other)
{
    enum seen seen = SEEN_SAME;

    // By its version a Tandem knows its jobs itself.
    if (!migration->source_api && strcmp(migration->source_then, migration->source_id) != 0 &&
        !identity_see_source(migration, item, &seen)) {
        return false;
    }
    *other = seen == SEEN_OTHER;
    if (*other) {
        report_line(migration, "another job has this number now: job %llu of %s",
                    (unsigned long long)item->from, migration->from_name);
    }
    return true;
}

// Whether the copy is what it was; otherwise the job is left, and moved again.
static bool see_target(struct migration *migration, const struct item *item, bool *kept)
{
    *kept = true;
    // A Tandem has said so itself.
    if (!migration->target_api && strcmp(migration->target_then, migration->target_id) != 0 &&
        !is_kept(migration, item, kept)) {
        return false;
    }
    if (!*kept) {
        migration->tally.doubtful++;
        report_line(migration,
                    "in doubt: job %llu of %s is kept, which was put as job %llu of %s before a "
                    "server was started anew",
                    (unsigned long long)item->from, migration->from_name,
                    (unsigned long long)item->to, migration->to_name);
    }
    return true;
}

static void report_gone(struct migration *migration, const struct item *item)
{
    report_line(migration, "gone already: job %llu of %s, which is job %llu of %s",
                (unsigned long long)item->from, migration->from_name, (unsigned long long)item->to,
                migration->to_name);
}

// It is at the target, and no longer at the source.
static void count_moved(struct migration *migration, const struct item *item, bool deleted)
{
    migration->tally.moved++;
    if (!deleted) {
        report_gone(migration, item);
    }
}

static bool delete_acknowledged(struct migration *migration, struct item *item, nsec_t until)
{
    bool deleted;
    bool there;

    if (!delete_at_source(migration, item->from, &deleted, &there)) {
        return false;
    }
    while (there && remote_now() < until) {
        (void)poll(NULL, 0, LOOK_EACH_MSEC);
        if (!delete_at_source(migration, item->from, &deleted, &there)) {
            return false;
        }
    }
    if (there && migration->target_api) {
        item->gone = true;
    } else if (there) {
        migration->tally.duplicates++;
        report_duplicate(migration, item);
    } else {
        count_moved(migration, item, deleted);
    }
    return true;
}

static bool settle_acknowledged(struct migration *migration, struct item *item, nsec_t until)
{
    bool kept;
    bool other;

    if (!see_source(migration, item, &other) || (!other && !see_target(migration, item, &kept))) {
        return false;
    }
    if (!other && !kept) {
        return true;
    }
    if (item->kind == KIND_BURIED && !migration->target_api && !bury_again(migration, item)) {
        return false;
    }
    if (other) {
        count_moved(migration, item, false);
        return true;
    }
    return delete_acknowledged(migration, item, until);
}

//
// All
//

static size_t count_unknown(const struct load *left)
{
    size_t count = 0;

    for (size_t i = 0; i < left->count; i++) {
        count += left->items[i].to == 0;
    }
    return count;
}

// Leaves those whose put was not acknowledged, and that the source may still have.
static bool keep_unknown(struct migration *migration, struct load *left)
{
    for (size_t i = 0; i < left->count; i++) {
        struct item *item = &left->items[i];
        bool other = false;

        if (item->to == 0 && !see_source(migration, item, &other)) {
            return false;
        }
        if (other) {
            report_line(migration, "in doubt: whether the one that was put stands at %s",
                        migration->to_name);
        }
        if (item->to != 0 || other) {
            item->from = 0;
        }
    }
    load_pack(left);
    return true;
}

static bool settle_unknown(struct migration *migration, struct load *left)
{
    if (!keep_unknown(migration, left) || !twins_find(migration, left)) {
        return false;
    }
    for (size_t i = 0; i < left->count; i++) {
        const struct item *item = &left->items[i];

        if (item->back) {
            continue;
        }
        migration->tally.doubtful++;
        report_line(migration, "in doubt: job %llu of %s may stand at %s, too",
                    (unsigned long long)item->from, migration->from_name, migration->to_name);
        if (item->to) {
            report_line(migration, "in doubt: job %llu of %s is as job %llu of %s",
                        (unsigned long long)item->from, migration->from_name,
                        (unsigned long long)item->to, migration->to_name);
        }
    }
    return true;
}

// Jobs of a beanstalkd that have a copy; a Tandem takes back copies of those that workers have.
static bool settle_reserved(struct migration *migration, struct load *left)
{
    struct load *batch = &migration->batch;
    nsec_t until = remote_now() + RELEASED_WITHIN;

    for (size_t i = 0; i < left->count; i++) {
        if (left->items[i].to != 0 && !settle_acknowledged(migration, &left->items[i], until)) {
            return false;
        }
    }
    if (!migration->target_api) {
        return true;
    }
    for (size_t i = 0; i < left->count; i++) {
        if (left->items[i].gone) {
            *load_add(batch, left->items[i].from, left->items[i].kind) = left->items[i];
        }
    }
    if (!settle_copies(migration)) {
        return false;
    }
    settle_count(migration);
    load_clear(batch);
    return true;
}

// Jobs of a Tandem that have a copy. One that is not there any more was deleted by the other run,
// or done by a worker since: nobody can tell, so its copy stays.
static bool settle_exported(struct migration *migration, const struct load *left)
{
    struct load *batch = &migration->batch;

    for (size_t i = 0; i < left->count; i++) {
        if (left->items[i].to != 0) {
            *load_add(batch, left->items[i].from, left->items[i].kind) = left->items[i];
            batch->items[batch->count - 1].staged = left->items[i].kind == KIND_READY;
        }
    }
    for (size_t i = 0; i < batch->count && migration->target; i++) {
        if (batch->items[i].kind == KIND_BURIED && !bury_again(migration, &batch->items[i])) {
            return false;
        }
    }
    if (!settle_deletions(migration)) {
        return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        batch->items[i].gone = batch->items[i].gone && !batch->items[i].missing;
        if (batch->items[i].missing) {
            report_gone(migration, &batch->items[i]);
        }
    }
    if (!settle_copies(migration)) {
        return false;
    }
    settle_count(migration);
    load_clear(batch);
    return true;
}

bool resume(struct migration *migration, struct load *left)
{
    size_t unknown;

    if (left->count == 0) {
        return true;
    }
    if (migration->target_api && !tandem_end_import(migration, left)) {
        return false;
    }
    unknown = count_unknown(left);
    report_line(migration,
                migration->target_api
                    ? "resumed: of a batch of %zu jobs, %zu had been put, %zu not"
                    : "resumed: of a batch of %zu jobs, %zu had been put, of %zu it is unknown",
                left->count, left->count - unknown, unknown);
    if (!(migration->source_api ? settle_exported(migration, left)
                                : settle_reserved(migration, left))) {
        return false;
    }
    if (!migration->target_api && unknown > 0 && !settle_unknown(migration, left)) {
        return false;
    }
    load_clear(left);
    return state_done(migration->state, &migration->tally);
}
