/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/twins.h"

#include "ctl/beanstalk/answer.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/print/need.h"
#include "ctl/migrate/state.h"
#include "ctl/migrate/target.h"

// Ids that are asked for together, how many of them may be of no job before it is taken for the
// end, and how many are looked at at most.
#define TOGETHER 256
#define GAP_MOST 4096
#define LOOK_MOST ((uint64_t)1 << 20)

// One of the two servers' jobs, as the other may have it. The strings are the item's.
struct looks {
    char tube[204];
    uint64_t priority, ttr, delay;
    struct text body;
    bool there;
};

static bool read_stats(struct link *link, struct looks *looks)
{
    struct slice stats;
    struct slice name;

    if (!answer_document(link, "stats-job", &stats, &looks->there)) {
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

static bool read_body(const struct migration *migration, struct link *link, struct looks *looks)
{
    uint64_t most = link == migration->source ? migration->has_most : migration->takes_most;
    struct answer_line answer;
    struct slice body;

    if (!answer_read(link, &answer)) {
        return false;
    }
    if (answer_is(&answer, "NOT_FOUND")) {
        looks->there = false;
        return true;
    }
    if (!answer_is(&answer, "FOUND") || answer.count < 2 || answer.numbers[1] > most) {
        return answer_odd(link, &answer, "peek");
    }
    if (!link_body(link, answer.numbers[1], &body)) {
        return false;
    }
    text_cut(&looks->body, 0);
    text_add(&looks->body, body);
    return true;
}

// Jobs with the ids first, first + step ... of an array, or in a row.
static bool look(const struct migration *migration, struct link *link, const uint64_t *ids,
                 struct looks *looks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        looks[i].there = false;
        link_say(link, "stats-job %llu", (unsigned long long)ids[i]);
        link_say(link, "peek %llu", (unsigned long long)ids[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (!read_stats(link, &looks[i]) || !read_body(migration, link, &looks[i])) {
            return false;
        }
    }
    return true;
}

static bool is_alike(const struct migration *migration, const struct looks *one,
                     const struct looks *other)
{
    uint64_t ttr = one->ttr ? one->ttr : migration->settings->ttr;

    return one->there && other->there && strcmp(one->tube, other->tube) == 0 &&
           one->priority == other->priority && ttr == other->ttr &&
           slice_equal(text_slice(&one->body), text_slice(&other->body));
}

static bool delete_hidden(struct migration *migration, struct item *item, uint64_t id)
{
    struct answer_line answer;

    link_say(migration->target, "delete %llu", (unsigned long long)id);
    if (!answer_read(migration->target, &answer)) {
        return false;
    }
    item->back = answer_is(&answer, "DELETED");
    return true;
}

// A job of the target, beside all that are unknown.
static bool match(struct migration *migration, struct load *unknown, const struct looks *known,
                  const struct looks *found, uint64_t id)
{
    for (size_t i = 0; i < unknown->count; i++) {
        struct item *item = &unknown->items[i];

        if (item->to == 0 && !item->back && is_alike(migration, &known[i], found)) {
            if (item->kind == KIND_BURIED && found->delay == HIDDEN_FOR) {
                return delete_hidden(migration, item, id);
            }
            item->to = id;
            return true;
        }
    }
    return true;
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
        if (!look(migration, migration->target, ids, found, TOGETHER)) {
            return false;
        }
        for (size_t i = 0; i < TOGETHER; i++) {
            gap = found[i].there ? 0 : gap + 1;
            if (found[i].there && !match(migration, unknown, known, &found[i], ids[i])) {
                return false;
            }
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
    good = look(migration, migration->source, ids, known, unknown->count) &&
           scan(migration, unknown, known, found);
    looks_free(known, unknown->count);
    looks_free(found, TOGETHER);
    free(ids);
    return good;
}
