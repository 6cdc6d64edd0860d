/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/identity.h"

#include "core/base/siphash.h"
#include "ctl/beanstalk/remote.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/migrate/tubes.h"

#include <string.h>
#include <time.h>

// By how many seconds clocks may have been set while no run was under way.
#define CLOCK_OFF_BY ((uint64_t)2)

// No secret is needed: who makes two jobs that look the same harms these.
static uint64_t hash_of(struct slice tube, struct slice body)
{
    static const struct siphash_key key = {{UINT64_C(0x74616e64656d2d6d), 2}};
    const struct siphash_key of_body = {{siphash(&key, tube.ptr, tube.len), body.len}};

    return siphash(&of_body, body.ptr, body.len);
}

void identity_note(struct migration *migration)
{
    struct load *batch = &migration->batch;

    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];
        const char *tube = migration->tubes->list[item->tube].name;

        item->hash = hash_of(slice_str(tube), load_body(batch, item));
    }
}

uint64_t identity_put_by(struct slice stats)
{
    uint64_t now = (uint64_t)time(NULL);
    uint64_t age;

    // Where no age is told, none is too young.
    return yaml_count(stats, SLICE("age"), &age) && age < now ? now - age : UINT64_MAX;
}

//
// Looking
//

// What a server has told of a job.
struct told {
    bool there;
    uint64_t put_after; // the earliest second at which it can have been put
    size_t tube_len;
    char tube[TUBE_NAME_MAX];
};

static bool hear_stats(struct remote *remote, uint64_t asked_at, struct told *told)
{
    struct slice stats;
    struct slice tube;
    uint64_t age;

    *told = (struct told){0};
    if (!remote_reply_document(remote, "stats-job", &stats, &told->there)) {
        return false;
    }
    if (yaml_text(stats, SLICE("tube"), &tube) && is_tube(tube)) {
        memcpy(told->tube, tube.ptr, tube.len);
        told->tube_len = tube.len;
    }
    // Ages are told in whole seconds.
    if (yaml_count(stats, SLICE("age"), &age) && age < asked_at) {
        told->put_after = asked_at - age - 1;
    }
    return true;
}

static bool see(struct remote *remote, uint64_t id, uint64_t most, const struct item *item,
                uint64_t put_by, enum seen *seen)
{
    uint64_t asked_at = (uint64_t)time(NULL);
    struct remote_reply answer;
    struct told told;
    struct slice body;

    remote_put(remote, "stats-job %llu", (unsigned long long)id);
    remote_put(remote, "peek %llu", (unsigned long long)id);
    if (!hear_stats(remote, asked_at, &told) || !remote_reply_read(remote, &answer)) {
        return false;
    }
    *seen = SEEN_NONE;
    if (remote_reply_is(&answer, "NOT_FOUND")) {
        return true;
    }
    if (!remote_reply_is(&answer, "FOUND") || answer.count < 2 || answer.numbers[1] > most) {
        return remote_reply_unexpected(remote, &answer, "peek");
    }
    if (!remote_body(remote, answer.numbers[1], &body)) {
        return false;
    }
    if (told.there) {
        bool younger = put_by < UINT64_MAX - CLOCK_OFF_BY && told.put_after > put_by + CLOCK_OFF_BY;
        bool alike = item->hash == hash_of(slice_of(told.tube, told.tube_len), body);

        *seen = alike && !younger ? SEEN_SAME : SEEN_OTHER;
    }
    return true;
}

bool identity_see_source(struct migration *migration, const struct item *item, enum seen *seen)
{
    return see(migration->source, item->from, migration->has_most, item, item->put_by, seen);
}

bool identity_see_target(struct migration *migration, const struct item *item, enum seen *seen)
{
    return see(migration->target, item->to, migration->takes_most, item, UINT64_MAX, seen);
}
