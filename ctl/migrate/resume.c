/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/resume.h"

#include "ctl/beanstalk/answer.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/state.h"
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

// A copy that was to be buried is.
static bool bury_again(struct migration *migration, const struct item *item)
{
    struct link *target = migration->target;
    struct answer_line answer;
    struct slice stats;
    uint64_t priority = 0;
    bool found;

    link_say(target, "stats-job %llu", (unsigned long long)item->to);
    if (!answer_document(target, "stats-job", &stats, &found)) {
        return false;
    }
    if (!found || is_state(stats, SLICE("buried"))) {
        return true;
    }
    (void)yaml_count(stats, SLICE("pri"), &priority);
    link_say(target, "reserve-job %llu", (unsigned long long)item->to);
    link_say(target, "bury %llu %llu", (unsigned long long)item->to, (unsigned long long)priority);
    if (!answer_read(target, &answer) || (answer_is(&answer, "RESERVED") && answer.count == 2 &&
                                          !link_pass_over(target, answer.numbers[1]))) {
        return false;
    }
    if (!answer_read(target, &answer)) {
        return false;
    }
    if (!answer_is(&answer, "BURIED")) {
        report_line(migration, "not buried: a worker has job %llu of %s, which was buried",
                    (unsigned long long)item->to, link_name(target));
    }
    return true;
}

// Whether it was deleted, and otherwise, whether it is there.
static bool delete_at_source(struct migration *migration, uint64_t id, bool *deleted, bool *there)
{
    struct answer_line answer;
    struct slice stats;

    link_say(migration->source, "delete %llu", (unsigned long long)id);
    if (!answer_read(migration->source, &answer)) {
        return false;
    }
    *deleted = answer_is(&answer, "DELETED");
    *there = false;
    if (*deleted) {
        return true;
    }
    link_say(migration->source, "stats-job %llu", (unsigned long long)id);
    return answer_document(migration->source, "stats-job", &stats, there);
}

// Whether the server, which has been started anew, still has the job that had the id then. A server
// that keeps no jobs gives the same ids to others: a job is the one only if it is older than the
// process, whose age is asked for after the job's.
static bool is_older(struct link *ask, uint64_t id, bool *there, bool *older)
{
    struct slice stats;
    uint64_t age = 0;
    uint64_t uptime = UINT64_MAX;
    bool found;

    link_say(ask, "stats-job %llu", (unsigned long long)id);
    link_say(ask, "stats");
    if (!answer_document(ask, "stats-job", &stats, there)) {
        return false;
    }
    (void)yaml_count(stats, SLICE("age"), &age);
    if (!answer_document(ask, "stats", &stats, &found)) {
        return false;
    }
    (void)yaml_count(stats, SLICE("uptime"), &uptime);
    *older = *there && age > uptime;
    return true;
}

// Whether nothing is lost where the job is deleted at the source: the copy is what it was, and so
// is the job, or it has gone.
static bool check_servers(struct migration *migration, const struct item *item, bool *safe)
{
    bool there = true;
    bool older = true;

    *safe = true;
    if (strcmp(migration->target_then, migration->target_id) != 0) {
        if (!is_older(migration->target, item->to, &there, &older)) {
            return false;
        }
        *safe = older;
    }
    if (*safe && strcmp(migration->source_then, migration->source_id) != 0) {
        if (!is_older(migration->source, item->from, &there, &older)) {
            return false;
        }
        *safe = older || !there;
    }
    return true;
}

static bool settle_acknowledged(struct migration *migration, struct item *item, nsec_t until)
{
    bool deleted;
    bool there;
    bool safe;

    if (!check_servers(migration, item, &safe)) {
        return false;
    }
    if (!safe) {
        migration->tally.doubtful++;
        report_line(migration,
                    "in doubt: job %llu of %s is kept, which was put as job %llu of %s before a "
                    "server was started anew",
                    (unsigned long long)item->from, link_name(migration->source),
                    (unsigned long long)item->to, link_name(migration->target));
        return true;
    }
    if (item->kind == KIND_BURIED && !bury_again(migration, item)) {
        return false;
    }
    if (!delete_at_source(migration, item->from, &deleted, &there)) {
        return false;
    }
    while (there && link_now() < until) {
        (void)poll(NULL, 0, LOOK_EACH_MSEC);
        if (!delete_at_source(migration, item->from, &deleted, &there)) {
            return false;
        }
    }
    if (there) {
        migration->tally.duplicates++;
        report_duplicate(migration, item);
        return true;
    }
    migration->tally.moved++;
    if (!deleted) {
        migration->tally.already++;
        report_line(migration, "gone already: job %llu of %s, which is job %llu of %s",
                    (unsigned long long)item->from, link_name(migration->source),
                    (unsigned long long)item->to, link_name(migration->target));
    }
    return true;
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

static bool settle_unknown(struct migration *migration, struct load *left)
{
    for (size_t i = 0; i < left->count; i++) {
        if (left->items[i].to != 0) {
            left->items[i].from = 0;
        }
    }
    load_pack(left);
    if (!twins_find(migration, left)) {
        return false;
    }
    for (size_t i = 0; i < left->count; i++) {
        const struct item *item = &left->items[i];

        if (item->back) {
            continue;
        }
        migration->tally.doubtful++;
        report_line(migration, "in doubt: job %llu of %s may stand at %s, too",
                    (unsigned long long)item->from, link_name(migration->source),
                    link_name(migration->target));
        if (item->to) {
            report_line(migration, "in doubt: job %llu of %s is as job %llu of %s",
                        (unsigned long long)item->from, link_name(migration->source),
                        (unsigned long long)item->to, link_name(migration->target));
        }
    }
    return true;
}

bool resume(struct migration *migration, struct load *left)
{
    nsec_t until = link_now() + RELEASED_WITHIN;
    size_t unknown = count_unknown(left);

    if (left->count == 0) {
        return true;
    }
    report_line(migration,
                "resumed: of a batch of %zu jobs, %zu had been put, of %zu it is unknown",
                left->count, left->count - unknown, unknown);
    for (size_t i = 0; i < left->count; i++) {
        if (left->items[i].to != 0 && !settle_acknowledged(migration, &left->items[i], until)) {
            return false;
        }
    }
    if (unknown > 0 && !settle_unknown(migration, left)) {
        return false;
    }
    load_clear(left);
    return state_done(migration->state, &migration->tally);
}
