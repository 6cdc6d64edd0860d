/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/walk.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/migrate/about.h"
#include "ctl/migrate/left.h"
#include "ctl/migrate/tubes.h"

#define TUBES_TOGETHER 64
// Ids that are looked at together: between these, by how many of them are delayed jobs.
#define WINDOW_LEAST ((uint64_t)1)
#define WINDOW_MOST ((uint64_t)1024)
#define IDS_TOGETHER 4096

// The first job of a tube.
struct first {
    struct tube *tube;
    uint64_t id; // 0: there is none, or none that can be moved
};

//
// The first ones
//

// Which tubes are asked; they have jobs of the kind, and the first can be moved.
static size_t choose(const struct migration *migration, enum kind kind, struct first *first)
{
    size_t most = migration->want < TUBES_TOGETHER ? migration->want : TUBES_TOGETHER;
    size_t count = 0;

    for (size_t i = 0; i < migration->tubes->count && count < most; i++) {
        struct tube *tube = &migration->tubes->list[i];

        if (!tube->stuck && (kind == KIND_BURIED ? tube->buried : tube->delayed) > 0) {
            first[count++] = (struct first){.tube = tube};
        }
    }
    return count;
}

// Keeps the body where the batch is to have it.
static bool hear_first(struct migration *migration, struct first *first, enum kind kind)
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
    // No job has the id 0: it would be asked for again and again.
    if (!remote_reply_is(&answer, "FOUND") || answer.count < 2 || answer.numbers[0] == 0 ||
        answer.numbers[1] > migration->has_most) {
        return remote_reply_unexpected(source, &answer, "peek");
    }
    if (answer.numbers[1] > migration->takes_most) {
        first->tube->stuck = true;
        left_note(migration, answer.numbers[0], LEFT_LARGE, kind);
        return remote_skip_body(source, answer.numbers[1]);
    }
    if (left_has(migration, answer.numbers[0])) {
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
    load_set_body(&migration->batch, load_add(&migration->batch, first->id, kind), body);
    return true;
}

static bool ask_first(struct migration *migration, struct first *first, size_t count,
                      enum kind kind)
{
    for (size_t i = 0; i < count; i++) {
        remote_put(migration->source, "use %s", first[i].tube->name);
        remote_put(migration->source, kind == KIND_BURIED ? "peek-buried" : "peek-delayed");
    }
    for (size_t i = 0; i < count; i++) {
        if (!hear_first(migration, &first[i], kind)) {
            return false;
        }
    }
    return true;
}

//
// Their bodies
//

static bool hear_body(struct migration *migration, struct item *item)
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
        answer.numbers[1] > migration->has_most) {
        return remote_reply_unexpected(migration->source, &answer, "peek");
    }
    if (answer.numbers[1] > migration->takes_most) {
        left_note(migration, id, LEFT_LARGE, KIND_DELAYED);
        return remote_skip_body(migration->source, answer.numbers[1]);
    }
    if (!remote_body(migration->source, answer.numbers[1], &body)) {
        return false;
    }
    item->from = id;
    load_set_body(&migration->batch, item, body);
    return true;
}

static bool ask_bodies(struct migration *migration)
{
    struct load *batch = &migration->batch;

    for (size_t i = 0; i < batch->count; i++) {
        remote_put(migration->source, "peek %llu", (unsigned long long)batch->items[i].from);
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (!hear_body(migration, &batch->items[i])) {
            return false;
        }
    }
    load_pack(batch);
    return true;
}

//
// Near ones
//

static bool is_there(const uint64_t *bases, size_t count, uint64_t base)
{
    for (size_t i = 0; i < count; i++) {
        if (bases[i] == base) {
            return true;
        }
    }
    return false;
}

// Fills the batch with all ids of the windows that the first ones are in.
static void add_near(struct migration *migration, const struct first *first, size_t count)
{
    uint64_t window = migration->window;
    uint64_t bases[TUBES_TOGETHER];
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t base = first[i].id - first[i].id % window;

        if (first[i].id == 0 || is_there(bases, found, base) ||
            (found + 1) * window > IDS_TOGETHER) {
            continue;
        }
        bases[found++] = base;
        for (uint64_t at = 0; at < window; at++) {
            if (base + at > 0 && !left_has(migration, base + at)) {
                (void)load_add(&migration->batch, base + at, KIND_DELAYED);
            }
        }
    }
}

// More than a batch may have are looked at again with the next one.
static void cut(struct migration *migration, size_t looked_at)
{
    struct load *batch = &migration->batch;

    if (batch->count * 8 >= looked_at && migration->window < WINDOW_MOST) {
        migration->window *= 2;
    } else if (batch->count * 32 < looked_at && migration->window > WINDOW_LEAST) {
        migration->window /= 2;
    }
    if (batch->count > migration->want) {
        batch->count = migration->want;
    }
}

// In this pass nothing more is to be had from tubes whose first jobs have led to nothing: a worker
// took them meanwhile, or they cannot be moved.
static void give_up(const struct migration *migration, const struct first *first, size_t count)
{
    for (size_t i = 0; i < count && migration->batch.count == 0; i++) {
        first[i].tube->stuck |= first[i].id != 0;
    }
}

bool walk_delayed(struct migration *migration)
{
    struct first first[TUBES_TOGETHER];
    size_t count;
    size_t looked_at;

    do {
        count = choose(migration, KIND_DELAYED, first);
        if (!ask_first(migration, first, count, KIND_DELAYED)) {
            return false;
        }
        add_near(migration, first, count);
        looked_at = migration->batch.count;
        if (!about_ask(migration)) {
            return false;
        }
        cut(migration, looked_at);
        if (!ask_bodies(migration)) {
            return false;
        }
        give_up(migration, first, count);
    } while (count > 0 && migration->batch.count == 0);
    return true;
}

bool walk_buried(struct migration *migration)
{
    struct first first[TUBES_TOGETHER];
    size_t count;

    do {
        count = choose(migration, KIND_BURIED, first);
        if (!ask_first(migration, first, count, KIND_BURIED) || !about_ask(migration)) {
            return false;
        }
        give_up(migration, first, count);
    } while (count > 0 && migration->batch.count == 0);
    return true;
}
