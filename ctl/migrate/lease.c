/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/lease.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/migrate/about.h"
#include "ctl/migrate/left.h"
#include "ctl/migrate/tubes.h"

#include <string.h>

//
// Reserving
//

// What was asked of one tube.
struct asked {
    struct tube *tube;
    size_t count;
};

static void say_asked(struct migration *migration, const struct asked *asked, const char *before)
{
    remote_put(migration->source, "watch %s", asked->tube->name);
    if (strcmp(before, asked->tube->name) != 0) {
        remote_put(migration->source, "ignore %s", before);
    }
    for (size_t i = 0; i < asked->count; i++) {
        remote_put(migration->source, "reserve-with-timeout 0");
    }
}

// One that is too large stays reserved until the end, or else it would come again at once.
static bool take_body(struct migration *migration, const struct remote_reply *answer)
{
    struct load *batch = &migration->batch;
    uint64_t id = answer->numbers[0];
    uint64_t len = answer->numbers[1];
    struct slice body;

    if (len > migration->has_most) {
        return remote_reply_unexpected(migration->source, answer, "reserve-with-timeout");
    }
    if (len > migration->takes_most) {
        migration->left_held += !left_has(migration, id);
        left_note(migration, id, LEFT_LARGE, KIND_READY);
        return remote_skip_body(migration->source, len);
    }
    if (!remote_body(migration->source, len, &body)) {
        return false;
    }
    load_set_body(batch, load_add(batch, id, KIND_READY), body);
    return true;
}

static bool hear_asked(struct migration *migration, const struct asked *asked, bool ignored)
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
        } else if (!take_body(migration, &answer)) {
            return false;
        }
    }
    asked->tube->ready =
        more && asked->tube->ready > asked->count ? asked->tube->ready - asked->count : 0;
    return true;
}

#define TUBES_TOGETHER 64

// Chooses tubes that have ready jobs, for as many as a batch reserves.
static size_t choose(struct migration *migration, struct asked *asked, size_t *next)
{
    struct tubes *tubes = migration->tubes;
    size_t want = migration->want;
    size_t count = 0;

    while (*next < tubes->count && count < TUBES_TOGETHER && want > 0) {
        struct tube *tube = &tubes->list[*next];
        size_t take = tube->ready < want ? (size_t)tube->ready : want;

        if (take > 0) {
            asked[count++] = (struct asked){tube, take};
            want -= take;
        }
        if (take == tube->ready) {
            ++*next;
        }
    }
    return count;
}

static bool reserve(struct migration *migration, size_t *next, bool *any)
{
    struct asked asked[TUBES_TOGETHER];
    size_t count = choose(migration, asked, next);
    char first[sizeof asked->tube->name];
    const char *before = first;

    *any = count > 0;
    (void)memcpy(first, migration->watched, sizeof first);
    for (size_t i = 0; i < count; i++) {
        say_asked(migration, &asked[i], before);
        before = asked[i].tube->name;
    }
    (void)memcpy(migration->watched, before == first ? first : asked[count - 1].tube->name,
                 sizeof first);
    before = first;
    for (size_t i = 0; i < count; i++) {
        if (!hear_asked(migration, &asked[i], strcmp(before, asked[i].tube->name) != 0)) {
            return false;
        }
        before = asked[i].tube->name;
    }
    return true;
}

bool lease_take(struct migration *migration, size_t *next)
{
    bool any = true;

    while (any && migration->batch.count == 0) {
        migration->leased_at = remote_now();
        if (!reserve(migration, next, &any)) {
            return false;
        }
    }
    return about_ask(migration);
}

//
// Keeping
//

static nsec_t shortest(const struct load *batch)
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

bool lease_keep(struct migration *migration)
{
    struct load *batch = &migration->batch;
    struct remote_reply answer;

    if (!migration->source || remote_now() - migration->leased_at < shortest(batch) / 2) {
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
            migration->tally.lost++;
        }
    }
    load_pack(batch);
    return true;
}
