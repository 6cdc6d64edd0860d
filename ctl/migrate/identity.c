/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/identity.h"

#include "core/base/siphash.h"
#include "ctl/beanstalk/remote.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/migrate/tubes.h"

#include <string.h>
#include <time.h>

// The seconds by which clocks may have been set between two runs.
#define CLOCK_OFF_BY ((uint64_t)2)

// The key need not be secret: a client that makes two jobs with one hash harms only these.
static uint64_t identity_hash(struct slice tube, struct slice body)
{
    static const struct siphash_key key = {{UINT64_C(0x74616e64656d2d6d), 2}};
    const struct siphash_key of_body = {{siphash(&key, tube.ptr, tube.len), body.len}};

    return siphash(&of_body, body.ptr, body.len);
}

void identity_note(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;

    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];
        const char *tube = migration->tubes->list[item->tube].name;

        item->hash = identity_hash(slice_str(tube), job_batch_body(batch, item));
    }
}

uint64_t identity_put_by(struct slice stats)
{
    uint64_t now = (uint64_t)time(NULL);
    uint64_t age;

    // Without an age, no job is too young.
    return yaml_count(stats, SLICE("age"), &age) && age < now ? now - age : UINT64_MAX;
}

//
// Checking
//

// The statistics of a job.
struct identity_stats {
    bool there;
    uint64_t put_after; // the earliest second at which it can have been put
    size_t tube_len;
    char tube[TUBE_NAME_MAX];
};

static bool identity_read_stats(struct remote *remote, uint64_t asked_at,
                                struct identity_stats *stats_of_job)
{
    struct slice stats;
    struct slice tube;
    uint64_t age;

    *stats_of_job = (struct identity_stats){0};
    if (!remote_reply_document(remote, "stats-job", &stats, &stats_of_job->there)) {
        return false;
    }
    if (yaml_text(stats, SLICE("tube"), &tube) && is_tube(tube)) {
        memcpy(stats_of_job->tube, tube.ptr, tube.len);
        stats_of_job->tube_len = tube.len;
    }
    // Ages are in whole seconds.
    if (yaml_count(stats, SLICE("age"), &age) && age < asked_at) {
        stats_of_job->put_after = asked_at - age - 1;
    }
    return true;
}

static bool identity_check(struct remote *remote, uint64_t id, uint64_t most,
                           const struct item *item, uint64_t put_by, enum job_identity *identity)
{
    uint64_t asked_at = (uint64_t)time(NULL);
    struct remote_reply answer;
    struct identity_stats stats_of_job;
    struct slice body;

    remote_put(remote, "stats-job %llu", (unsigned long long)id);
    remote_put(remote, "peek %llu", (unsigned long long)id);
    if (!identity_read_stats(remote, asked_at, &stats_of_job) ||
        !remote_reply_read(remote, &answer)) {
        return false;
    }
    *identity = IDENTITY_MISSING;
    if (remote_reply_is(&answer, "NOT_FOUND")) {
        return true;
    }
    if (!remote_reply_is(&answer, "FOUND") || answer.count < 2 || answer.numbers[1] > most) {
        return remote_reply_unexpected(remote, &answer, "peek");
    }
    if (!remote_body(remote, answer.numbers[1], &body)) {
        return false;
    }
    if (stats_of_job.there) {
        bool younger =
            put_by < UINT64_MAX - CLOCK_OFF_BY && stats_of_job.put_after > put_by + CLOCK_OFF_BY;
        bool alike =
            item->hash == identity_hash(slice_of(stats_of_job.tube, stats_of_job.tube_len), body);

        *identity = alike && !younger ? IDENTITY_SAME : IDENTITY_OTHER;
    }
    return true;
}

bool identity_check_source(struct migration *migration, const struct item *item,
                           enum job_identity *identity)
{
    return identity_check(migration->source, item->from, migration->source_body_max, item,
                          item->put_by, identity);
}

bool identity_check_target(struct migration *migration, const struct item *item,
                           enum job_identity *identity)
{
    return identity_check(migration->target, item->to, migration->target_body_max, item, UINT64_MAX,
                          identity);
}
