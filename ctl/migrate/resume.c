/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/resume.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/migrate/identity.h"
#include "ctl/migrate/migration_private.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/pass.h"
#include "ctl/migrate/state.h"
#include "ctl/migrate/tandem.h"
#include "ctl/migrate/target.h"
#include "ctl/migrate/tubes.h"
#include "ctl/print/need.h"

#include <poll.h>
#include <stdint.h>
#include <string.h>

//
// Copies whose put was not acknowledged: equal jobs at the target
//

// The number of ids that are asked for together, the number of unused ids that means the end, and
// the maximum of ids.
#define IDS_ASKED_TOGETHER 256
#define IDS_GAP_MAX 4096
#define IDS_ASKED_MAX ((uint64_t)1 << 20)

// The traits by which jobs of the two servers are compared. Bodies of the target are compared when
// they arrive and are not stored, because they may be many and large.
struct job_traits {
    char tube[204]; // a string
    uint64_t priority, ttr, delay;
    struct text body;
    bool there;
    bool asked; // its body was requested
};

static bool copy_read_stats(struct remote *remote, struct job_traits *traits)
{
    struct slice stats;
    struct slice name;

    if (!remote_reply_document(remote, "stats-job", &stats, &traits->there)) {
        return false;
    }
    if (traits->there && yaml_text(stats, SLICE("tube"), &name) && is_tube(name)) {
        (void)memcpy(traits->tube, name.ptr, name.len);
        traits->tube[name.len] = '\0';
    }
    (void)yaml_count(stats, SLICE("pri"), &traits->priority);
    (void)yaml_count(stats, SLICE("ttr"), &traits->ttr);
    (void)yaml_count(stats, SLICE("delay"), &traits->delay);
    return true;
}

// `*there` is false if the job does not exist any more.
static bool copy_read_body(const struct migration *migration, struct remote *remote,
                           struct slice *body, bool *there)
{
    uint64_t most =
        remote == migration->source ? migration->source_body_max : migration->target_body_max;
    struct remote_reply answer;

    if (!remote_reply_read(remote, &answer)) {
        return false;
    }
    *there = !remote_reply_is(&answer, "NOT_FOUND");
    if (!*there) {
        return true;
    }
    if (!remote_reply_is(&answer, "FOUND") || answer.count < 2 || answer.numbers[1] > most) {
        return remote_reply_unexpected(remote, &answer, "peek");
    }
    return remote_body(remote, answer.numbers[1], body);
}

static bool copy_ask_stats(struct remote *remote, const uint64_t *ids, struct job_traits *traits,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        traits[i].there = false;
        remote_put(remote, "stats-job %llu", (unsigned long long)ids[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (!copy_read_stats(remote, &traits[i])) {
            return false;
        }
    }
    return true;
}

static void copy_say_peek(struct remote *remote, struct job_traits *traits, uint64_t id)
{
    traits->asked = true;
    remote_put(remote, "peek %llu", (unsigned long long)id);
}

// The jobs of a Tandem, by its API. A job that has changed since is another job.
static bool copy_learn_from_tandem(struct migration *migration, const struct job_batch *unknown,
                                   const uint64_t *ids, struct job_traits *known, size_t count)
{
    struct job_batch *batch = &migration->batch;
    bool good = tandem_fetch(migration, ids, count);

    for (size_t i = 0; good && i < batch->count; i++) {
        struct item *item = &batch->items[i];
        size_t at = 0;

        while (at < count && ids[at] != item->from) {
            at++;
        }
        if (at < count && item->hash == unknown->items[at].hash &&
            tandem_open_line(migration, item)) {
            const char *tube = migration->tubes->list[item->tube].name;

            known[at].there = true;
            memcpy(known[at].tube, tube, strlen(tube) + 1);
            known[at].priority = item->priority;
            known[at].ttr = item->ttr;
            text_add(&known[at].body, job_batch_body(batch, item));
        }
    }
    tubes_free(migration->tubes);
    job_batch_clear(batch);
    return good;
}

// The jobs of a beanstalkd, with their bodies.
static bool copy_learn_from_source(const struct migration *migration, const uint64_t *ids,
                                   struct job_traits *known, size_t count)
{
    struct slice body = slice_of(NULL, 0);

    if (!copy_ask_stats(migration->source, ids, known, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        copy_say_peek(migration->source, &known[i], ids[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (!copy_read_body(migration, migration->source, &body, &known[i].there)) {
            return false;
        }
        if (known[i].there) {
            text_add(&known[i].body, body);
        }
    }
    return true;
}

static bool copy_is_searched(const struct item *item)
{
    return item->to == 0 && !item->back;
}

// Compares all traits except for the body.
static bool copy_is_alike(const struct migration *migration, const struct job_traits *one,
                          const struct job_traits *other)
{
    uint64_t ttr = one->ttr ? one->ttr : migration->settings->ttr;

    return one->there && other->there && strcmp(one->tube, other->tube) == 0 &&
           one->priority == other->priority && ttr == other->ttr;
}

static bool copy_is_like_any(const struct migration *migration, const struct job_batch *unknown,
                             const struct job_traits *known, const struct job_traits *found)
{
    for (size_t i = 0; i < unknown->count; i++) {
        if (copy_is_searched(&unknown->items[i]) && copy_is_alike(migration, &known[i], found)) {
            return true;
        }
    }
    return false;
}

// Compares a job of the target with all jobs in doubt. The hidden copy of a buried job becomes
// `back`; it is deleted later.
static void copy_match(const struct migration *migration, struct job_batch *unknown,
                       const struct job_traits *known, const struct job_traits *found,
                       struct slice body, uint64_t id)
{
    for (size_t i = 0; i < unknown->count; i++) {
        struct item *item = &unknown->items[i];

        if (copy_is_searched(item) && copy_is_alike(migration, &known[i], found) &&
            slice_equal(text_slice(&known[i].body), body)) {
            item->to = id;
            item->back = item->kind == KIND_BURIED && found->delay == HIDDEN_FOR;
            return;
        }
    }
}

static bool copy_delete_hidden(struct migration *migration, struct job_batch *unknown)
{
    struct remote_reply answer;

    for (size_t i = 0; i < unknown->count; i++) {
        struct item *item = &unknown->items[i];

        if (item->back && item->to != 0) {
            remote_put(migration->target, "delete %llu", (unsigned long long)item->to);
            if (!remote_reply_read(migration->target, &answer)) {
                return false;
            }
            item->back = remote_reply_is(&answer, "DELETED");
            item->to = 0;
        }
    }
    return true;
}

// Compares jobs of the target with consecutive ids.
static bool copy_compare(struct migration *migration, struct job_batch *unknown,
                         const struct job_traits *known, const uint64_t *ids,
                         struct job_traits *found)
{
    struct slice body = slice_of(NULL, 0);
    bool there;

    if (!copy_ask_stats(migration->target, ids, found, IDS_ASKED_TOGETHER)) {
        return false;
    }
    for (size_t i = 0; i < IDS_ASKED_TOGETHER; i++) {
        found[i].asked = false;
        if (copy_is_like_any(migration, unknown, known, &found[i])) {
            copy_say_peek(migration->target, &found[i], ids[i]);
        }
    }
    for (size_t i = 0; i < IDS_ASKED_TOGETHER; i++) {
        if (!found[i].asked) {
            continue;
        }
        if (!copy_read_body(migration, migration->target, &body, &there)) {
            return false;
        }
        if (there) {
            copy_match(migration, unknown, known, &found[i], body, ids[i]);
        }
    }
    return copy_delete_hidden(migration, unknown);
}

static bool copy_scan(struct migration *migration, struct job_batch *unknown,
                      const struct job_traits *known, struct job_traits *found)
{
    uint64_t first = state_last(migration->state) + 1;
    uint64_t ids[IDS_ASKED_TOGETHER];
    uint64_t gap = 0;

    for (uint64_t at = first; at - first < IDS_ASKED_MAX && gap < IDS_GAP_MAX;
         at += IDS_ASKED_TOGETHER) {
        for (size_t i = 0; i < IDS_ASKED_TOGETHER; i++) {
            ids[i] = at + i;
        }
        if (!copy_compare(migration, unknown, known, ids, found)) {
            return false;
        }
        for (size_t i = 0; i < IDS_ASKED_TOGETHER; i++) {
            gap = found[i].there ? 0 : gap + 1;
        }
    }
    return true;
}

static struct job_traits *job_traits_new(size_t count)
{
    return need(calloc(count + 1, sizeof(struct job_traits)));
}

static void job_traits_free(struct job_traits *traits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_free(&traits[i].body);
    }
    free(traits);
}

// Searches the jobs of the target that are newer than the last known one. An item whose copy is
// found gets its id; the hidden copy of a buried job is deleted, and the item is `back`. False with
// a problem.
static bool copy_find_all(struct migration *migration, struct job_batch *unknown)
{
    struct job_traits *known = job_traits_new(unknown->count);
    struct job_traits *found = job_traits_new(IDS_ASKED_TOGETHER);
    uint64_t *ids = need(calloc(unknown->count + 1, sizeof *ids));
    bool good;

    for (size_t i = 0; i < unknown->count; i++) {
        ids[i] = unknown->items[i].from;
    }
    good = (migration->source_api
                ? copy_learn_from_tandem(migration, unknown, ids, known, unknown->count)
                : copy_learn_from_source(migration, ids, known, unknown->count)) &&
           copy_scan(migration, unknown, known, found);
    job_traits_free(known, unknown->count);
    job_traits_free(found, IDS_ASKED_TOGETHER);
    free(ids);
    return good;
}

// The connection of a killed run may still hold jobs for a moment.
#define RELEASED_WITHIN (2 * NSEC_PER_SEC)
#define LOOK_EACH_MSEC 20

//
// Jobs whose put was acknowledged
//

static bool resume_state_is(struct slice stats, struct slice word)
{
    struct slice state;

    return yaml_text(stats, SLICE("state"), &state) && slice_equal(state, word);
}

// Buries the hidden copy of a buried job, which is identified by its delay.
static bool resume_bury(struct migration *migration, const struct item *item)
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
    if (!found || resume_state_is(stats, SLICE("buried")) || delay != HIDDEN_FOR) {
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

// `*deleted`: it was deleted now; otherwise `*there`: it exists.
static bool resume_delete(struct migration *migration, uint64_t id, bool *deleted, bool *there)
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

// Whether the target, which has restarted since the put, still has the copy. Without a journal, it
// gives the same ids again: the job is the copy only if it is older than the process, whose age is
// asked for after the age of the job.
static bool resume_copy_exists(struct migration *migration, const struct item *item, bool *kept)
{
    struct remote *target = migration->target;
    struct slice stats;
    uint64_t age = 0;
    uint64_t uptime = UINT64_MAX;
    enum job_identity seen;
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
    if (!identity_check_target(migration, item, &seen)) {
        return false;
    }
    *kept = seen == IDENTITY_SAME && age > uptime;
    return true;
}

// `*other`: the source has restarted, and another job has the id. False with a problem.
static bool resume_check_source(struct migration *migration, const struct item *item, bool *other)
{
    enum job_identity seen = IDENTITY_SAME;

    // A Tandem identifies its jobs by their versions.
    if (!migration->source_api && strcmp(migration->source_id_before, migration->source_id) != 0 &&
        !identity_check_source(migration, item, &seen)) {
        return false;
    }
    *other = seen == IDENTITY_OTHER;
    if (*other) {
        report_line(migration, "another job has this id now: job %llu of %s",
                    (unsigned long long)item->from, migration->from_name);
    }
    return true;
}

// `*kept`: the target still has the copy; otherwise the job is moved again.
static bool resume_check_target(struct migration *migration, const struct item *item, bool *kept)
{
    *kept = true;
    // A Tandem has reported its copies.
    if (!migration->target_api && strcmp(migration->target_id_before, migration->target_id) != 0 &&
        !resume_copy_exists(migration, item, kept)) {
        return false;
    }
    if (!*kept) {
        migration->counts.doubtful++;
        report_line(
            migration,
            "in doubt: job %llu of %s is moved again: it was put as job %llu of %s before a "
            "server was restarted",
            (unsigned long long)item->from, migration->from_name, (unsigned long long)item->to,
            migration->to_name);
    }
    return true;
}

static void resume_report_gone(struct migration *migration, const struct item *item)
{
    report_line(migration, "gone already: job %llu of %s, which is job %llu of %s",
                (unsigned long long)item->from, migration->from_name, (unsigned long long)item->to,
                migration->to_name);
}

// The job is at the target, and no longer at the source.
static void resume_count_moved(struct migration *migration, const struct item *item, bool deleted)
{
    migration->counts.moved++;
    if (!deleted) {
        resume_report_gone(migration, item);
    }
}

static bool resume_delete_acknowledged(struct migration *migration, struct item *item, nsec_t until)
{
    bool deleted;
    bool there;

    if (!resume_delete(migration, item->from, &deleted, &there)) {
        return false;
    }
    while (there && remote_now() < until) {
        (void)poll(NULL, 0, LOOK_EACH_MSEC);
        if (!resume_delete(migration, item->from, &deleted, &there)) {
            return false;
        }
    }
    if (there && migration->target_api) {
        item->gone = true;
    } else if (there) {
        migration->counts.duplicates++;
        report_duplicate(migration, item);
    } else {
        resume_count_moved(migration, item, deleted);
    }
    return true;
}

static bool resume_acknowledged(struct migration *migration, struct item *item, nsec_t until)
{
    bool kept;
    bool other;

    if (!resume_check_source(migration, item, &other) ||
        (!other && !resume_check_target(migration, item, &kept))) {
        return false;
    }
    if (!other && !kept) {
        return true;
    }
    if (item->kind == KIND_BURIED && !migration->target_api && !resume_bury(migration, item)) {
        return false;
    }
    if (other) {
        resume_count_moved(migration, item, false);
        return true;
    }
    return resume_delete_acknowledged(migration, item, until);
}

//
// The unfinished batch
//

static size_t resume_count_unknown(const struct job_batch *unfinished)
{
    size_t count = 0;

    for (size_t i = 0; i < unfinished->count; i++) {
        count += unfinished->items[i].to == 0;
    }
    return count;
}

// Reduces the batch to the jobs whose put was not acknowledged, and that the source may still have.
static bool resume_keep_unknown(struct migration *migration, struct job_batch *unfinished)
{
    for (size_t i = 0; i < unfinished->count; i++) {
        struct item *item = &unfinished->items[i];
        bool other = false;

        if (item->to == 0 && !resume_check_source(migration, item, &other)) {
            return false;
        }
        if (other) {
            report_line(migration, "in doubt: the job that was put may be at %s",
                        migration->to_name);
        }
        if (item->to != 0 || other) {
            item->from = 0;
        }
    }
    job_batch_pack(unfinished);
    return true;
}

static bool resume_unknown(struct migration *migration, struct job_batch *unfinished)
{
    if (!resume_keep_unknown(migration, unfinished) || !copy_find_all(migration, unfinished)) {
        return false;
    }
    for (size_t i = 0; i < unfinished->count; i++) {
        const struct item *item = &unfinished->items[i];

        if (item->back) {
            continue;
        }
        migration->counts.doubtful++;
        report_line(migration, "in doubt: job %llu of %s may also be at %s",
                    (unsigned long long)item->from, migration->from_name, migration->to_name);
        if (item->to) {
            report_line(migration, "in doubt: job %llu of %s is equal to job %llu of %s",
                        (unsigned long long)item->from, migration->from_name,
                        (unsigned long long)item->to, migration->to_name);
        }
    }
    return true;
}

// Jobs of a beanstalkd that have a copy. At a Tandem, the copies of jobs that workers hold are
// deleted again.
static bool resume_from_beanstalkd(struct migration *migration, struct job_batch *unfinished)
{
    struct job_batch *batch = &migration->batch;
    nsec_t until = remote_now() + RELEASED_WITHIN;

    for (size_t i = 0; i < unfinished->count; i++) {
        if (unfinished->items[i].to != 0 &&
            !resume_acknowledged(migration, &unfinished->items[i], until)) {
            return false;
        }
    }
    if (!migration->target_api) {
        return true;
    }
    for (size_t i = 0; i < unfinished->count; i++) {
        if (unfinished->items[i].gone) {
            *job_batch_add(batch, unfinished->items[i].from, unfinished->items[i].kind) =
                unfinished->items[i];
        }
    }
    if (!migrate_release_copies(migration)) {
        return false;
    }
    migrate_count_batch(migration);
    job_batch_clear(batch);
    return true;
}

// Jobs of a Tandem that have a copy. If one does not exist any more, the killed run has deleted it,
// or a worker has done it since; this is unknown, so its copy stays.
static bool resume_from_tandem(struct migration *migration, const struct job_batch *unfinished)
{
    struct job_batch *batch = &migration->batch;

    for (size_t i = 0; i < unfinished->count; i++) {
        if (unfinished->items[i].to != 0) {
            *job_batch_add(batch, unfinished->items[i].from, unfinished->items[i].kind) =
                unfinished->items[i];
            batch->items[batch->count - 1].staged = unfinished->items[i].kind == KIND_READY;
        }
    }
    for (size_t i = 0; i < batch->count && migration->target; i++) {
        if (batch->items[i].kind == KIND_BURIED && !resume_bury(migration, &batch->items[i])) {
            return false;
        }
    }
    if (!migrate_delete_originals(migration)) {
        return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        batch->items[i].gone = batch->items[i].gone && !batch->items[i].missing;
        if (batch->items[i].missing) {
            resume_report_gone(migration, &batch->items[i]);
        }
    }
    if (!migrate_release_copies(migration)) {
        return false;
    }
    migrate_count_batch(migration);
    job_batch_clear(batch);
    return true;
}

bool migration_resume(struct migration *migration, struct job_batch *unfinished)
{
    size_t unknown;

    if (unfinished->count == 0) {
        return true;
    }
    if (migration->target_api && !tandem_end_import(migration, unfinished)) {
        return false;
    }
    unknown = resume_count_unknown(unfinished);
    report_line(migration,
                migration->target_api
                    ? "resumed: of a batch of %zu jobs, %zu had been put, %zu not"
                    : "resumed: of a batch of %zu jobs, %zu had been put, %zu are unknown",
                unfinished->count, unfinished->count - unknown, unknown);
    if (!(migration->source_api ? resume_from_tandem(migration, unfinished)
                                : resume_from_beanstalkd(migration, unfinished))) {
        return false;
    }
    if (!migration->target_api && unknown > 0 && !resume_unknown(migration, unfinished)) {
        return false;
    }
    job_batch_clear(unfinished);
    return state_done(migration->state, &migration->counts);
}
