/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/twins.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/print/need.h"
#include "ctl/migrate/state.h"
#include "ctl/migrate/tandem.h"
#include "ctl/migrate/target.h"
#include "ctl/migrate/tubes.h"

#include <string.h>

// Ids that are asked for together, how many of them may be of no job before it is taken for the
// end, and how many are looked at at most.
#define TOGETHER 256
#define GAP_MOST 4096
#define LOOK_MOST ((uint64_t)1 << 20)

// One of the two servers' jobs, as the other may have it. Of the target's, the body is compared
// when it comes and is not kept: there may be many, and large ones.
struct looks {
    char tube[204]; // a string
    uint64_t priority, ttr, delay;
    struct text body;
    bool there;
    bool asked; // for its body
};

static bool read_stats(struct remote *remote, struct looks *looks)
{
    struct slice stats;
    struct slice name;

    if (!remote_reply_document(remote, "stats-job", &stats, &looks->there)) {
        return false;
    }
    if (looks->there && yaml_text(stats, SLICE("tube"), &name) && is_tube(name)) {
        (void)memcpy(looks->tube, name.ptr, name.len);
        looks->tube[name.len] = '\0';
    }
    (void)yaml_count(stats, SLICE("pri"), &looks->priority);
    (void)yaml_count(stats, SLICE("ttr"), &looks->ttr);
    (void)yaml_count(stats, SLICE("delay"), &looks->delay);
    return true;
}

// False in `*there`: it has gone meanwhile.
static bool read_body(const struct migration *migration, struct remote *remote, struct slice *body,
                      bool *there)
{
    uint64_t most = remote == migration->source ? migration->has_most : migration->takes_most;
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

static bool ask_stats(struct remote *remote, const uint64_t *ids, struct looks *looks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        looks[i].there = false;
        remote_put(remote, "stats-job %llu", (unsigned long long)ids[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (!read_stats(remote, &looks[i])) {
            return false;
        }
    }
    return true;
}

static void say_peek(struct remote *remote, struct looks *looks, uint64_t id)
{
    looks->asked = true;
    remote_put(remote, "peek %llu", (unsigned long long)id);
}

// The same of a Tandem, by its API. Those that have changed since are others.
static bool learn_exported(struct migration *migration, const struct load *unknown,
                           const uint64_t *ids, struct looks *known, size_t count)
{
    struct load *batch = &migration->batch;
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
            text_add(&known[at].body, load_body(batch, item));
        }
    }
    tubes_free(migration->tubes);
    load_clear(batch);
    return good;
}

// The jobs of the source, with their bodies.
static bool learn(const struct migration *migration, const uint64_t *ids, struct looks *known,
                  size_t count)
{
    struct slice body = slice_of(NULL, 0);

    if (!ask_stats(migration->source, ids, known, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        say_peek(migration->source, &known[i], ids[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (!read_body(migration, migration->source, &body, &known[i].there)) {
            return false;
        }
        if (known[i].there) {
            text_add(&known[i].body, body);
        }
    }
    return true;
}

static bool is_open(const struct item *item)
{
    return item->to == 0 && !item->back;
}

// But for the body.
static bool is_alike(const struct migration *migration, const struct looks *one,
                     const struct looks *other)
{
    uint64_t ttr = one->ttr ? one->ttr : migration->settings->ttr;

    return one->there && other->there && strcmp(one->tube, other->tube) == 0 &&
           one->priority == other->priority && ttr == other->ttr;
}

static bool is_like_any(const struct migration *migration, const struct load *unknown,
                        const struct looks *known, const struct looks *found)
{
    for (size_t i = 0; i < unknown->count; i++) {
        if (is_open(&unknown->items[i]) && is_alike(migration, &known[i], found)) {
            return true;
        }
    }
    return false;
}

// A job of the target, beside all that are unknown. The hidden copy of a buried one is `back`, and
// yet to be deleted.
static void match(const struct migration *migration, struct load *unknown,
                  const struct looks *known, const struct looks *found, struct slice body,
                  uint64_t id)
{
    for (size_t i = 0; i < unknown->count; i++) {
        struct item *item = &unknown->items[i];

        if (is_open(item) && is_alike(migration, &known[i], found) &&
            slice_equal(text_slice(&known[i].body), body)) {
            item->to = id;
            item->back = item->kind == KIND_BURIED && found->delay == HIDDEN_FOR;
            return;
        }
    }
}

static bool delete_hidden(struct migration *migration, struct load *unknown)
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

// Jobs of the target with ids in a row.
static bool compare(struct migration *migration, struct load *unknown, const struct looks *known,
                    const uint64_t *ids, struct looks *found)
{
    struct slice body = slice_of(NULL, 0);
    bool there;

    if (!ask_stats(migration->target, ids, found, TOGETHER)) {
        return false;
    }
    for (size_t i = 0; i < TOGETHER; i++) {
        found[i].asked = false;
        if (is_like_any(migration, unknown, known, &found[i])) {
            say_peek(migration->target, &found[i], ids[i]);
        }
    }
    for (size_t i = 0; i < TOGETHER; i++) {
        if (!found[i].asked) {
            continue;
        }
        if (!read_body(migration, migration->target, &body, &there)) {
            return false;
        }
        if (there) {
            match(migration, unknown, known, &found[i], body, ids[i]);
        }
    }
    return delete_hidden(migration, unknown);
}

static bool scan(struct migration *migration, struct load *unknown, const struct looks *known,
                 struct looks *found)
{
    uint64_t first = state_last(migration->state) + 1;
    uint64_t ids[TOGETHER];
    uint64_t gap = 0;

    for (uint64_t at = first; at - first < LOOK_MOST && gap < GAP_MOST; at += TOGETHER) {
        for (size_t i = 0; i < TOGETHER; i++) {
            ids[i] = at + i;
        }
        if (!compare(migration, unknown, known, ids, found)) {
            return false;
        }
        for (size_t i = 0; i < TOGETHER; i++) {
            gap = found[i].there ? 0 : gap + 1;
        }
    }
    return true;
}

static struct looks *looks_new(size_t count)
{
    return need(calloc(count + 1, sizeof(struct looks)));
}

static void looks_free(struct looks *looks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_free(&looks[i].body);
    }
    free(looks);
}

bool twins_find(struct migration *migration, struct load *unknown)
{
    struct looks *known = looks_new(unknown->count);
    struct looks *found = looks_new(TOGETHER);
    uint64_t *ids = need(calloc(unknown->count + 1, sizeof *ids));
    bool good;

    for (size_t i = 0; i < unknown->count; i++) {
        ids[i] = unknown->items[i].from;
    }
    good = (migration->source_api ? learn_exported(migration, unknown, ids, known, unknown->count)
                                  : learn(migration, ids, known, unknown->count)) &&
           scan(migration, unknown, known, found);
    looks_free(known, unknown->count);
    looks_free(found, TOGETHER);
    free(ids);
    return good;
}
