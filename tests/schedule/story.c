/* SPDX-License-Identifier: MIT */
#include "tests/schedule/story.h"

#include "tests/core/stage_restart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMOS_MAX 8
#define TEXT_MAX 8192

struct made_zone story_zone;
size_t story_zones_open;

// The memos of schedules at story_snapshot().
static struct {
    char key[64], value[512];
    size_t key_len, value_len;
} snapshot[MEMOS_MAX];
static size_t snapshot_count;

static struct zone *open_zone(struct slice name)
{
    struct zone *zone = slice_equal(name, SLICE("Made")) ? &story_zone.zone
                        : name.len == 0 || slice_equal(name, SLICE("UTC"))
                            ? (struct zone *)(uintptr_t)&zone_utc
                            : NULL;

    story_zones_open += zone != NULL;
    return zone;
}

static void close_zone(struct zone *zone)
{
    story_zones_open -= zone != NULL;
}

const struct zone_source story_zones = {.open = open_zone, .close = close_zone};

int story_setup(void **state)
{
    struct story *t = calloc(1, sizeof *t);
    void *stage = NULL;

    assert_non_null(t);
    (void)stage_setup(&stage);
    t->stage = stage;
    made_zone(&story_zone, 60);
    t->schedules = schedules_new(t->stage->broker, &story_zones);
    assert_non_null(t->schedules);
    *state = t;
    return 0;
}

int story_teardown(void **state)
{
    struct story *t = *state;
    void *stage = t->stage;

    schedules_free(t->schedules);
    assert_int_equal(story_zones_open, 0);
    (void)stage_teardown(&stage);
    free(t);
    return 0;
}

struct schedule_spec story_spec(const struct sketch *sketch)
{
    return (struct schedule_spec){
        .name = stage_slice(sketch->name ? sketch->name : "n"),
        .cron = stage_slice(sketch->cron),
        .timezone = stage_slice(sketch->timezone ? sketch->timezone : "UTC"),
        .queue = stage_slice(sketch->queue ? sketch->queue : "q"),
        .body = stage_slice(sketch->body),
        .pri = sketch->pri,
        .ttr_for = sketch->ttr_for,
        .missed = sketch->missed,
        .overlap = sketch->overlap,
    };
}

void story_adopt(struct story *t, const struct sketch *sketch)
{
    struct error_text why = {""};
    struct schedule_spec spec;

    if (sketch) {
        spec = story_spec(sketch);
    }
    if (!schedules_adopt(t->schedules, &spec, sketch != NULL, &why)) {
        print_error("%s\n", why.text);
        fail();
    }
    stage_step(t->stage);
}

enum status story_put(struct story *t, const struct sketch *sketch)
{
    struct schedule_spec spec = story_spec(sketch);
    struct error_text why;
    enum status status = schedules_put(t->schedules, &spec, &why);

    stage_step(t->stage);
    return status;
}

void works(struct story *t)
{
    for (int slices = 0; schedules_due(t->schedules) <= t->stage->now.mono; slices++) {
        assert_in_range(slices, 0, 1000);
        schedules_work(t->schedules);
        stage_step(t->stage);
    }
}

void passes(struct story *t, nsec_t time_for)
{
    while (time_for > 0) {
        nsec_t step_for = time_for > SEC(600) ? SEC(60) : SEC(1);

        step_for = step_for < time_for ? step_for : time_for;
        stage_advance(t->stage, step_for);
        works(t);
        time_for -= step_for;
    }
}

void clock_steps(struct story *t, nsec_t by_for)
{
    stage_step_wall(t->stage, by_for);
    works(t);
}

void passes_until(struct story *t, const char *at)
{
    passes(t, moment(at) - t->stage->now.wall);
}

static void set_memos(struct broker *to, const struct broker *from, enum memo_kind kind)
{
    const struct memo *memo;
    uint64_t cursor = 0;

    while ((memo = broker_memo_next(from, kind, &cursor))) {
        assert_status(STATUS_OK, broker_memo_set(to, memo));
    }
}

void story_snapshot(struct story *t)
{
    const struct memo *memo;
    uint64_t cursor = 0;

    snapshot_count = 0;
    while ((memo = broker_memo_next(t->stage->broker, MEMO_FIRED, &cursor))) {
        assert_in_range(snapshot_count, 0, MEMOS_MAX - 1);
        memcpy(snapshot[snapshot_count].key, memo->key.ptr, memo->key.len);
        snapshot[snapshot_count].key_len = memo->key.len;
        memcpy(snapshot[snapshot_count].value, memo->value.ptr, memo->value.len);
        snapshot[snapshot_count++].value_len = memo->value.len;
    }
}

static void restart(struct story *t, nsec_t down_for, bool torn)
{
    struct stage *old = t->stage;

    schedules_free(t->schedules);
    t->stage = stage_restart(old, down_for);
    set_memos(t->stage->broker, old->broker, MEMO_SCHEDULE);
    set_memos(t->stage->broker, old->broker, MEMO_FIRED);
    for (size_t i = 0; torn && i < snapshot_count; i++) {
        struct memo memo = {
            .kind = MEMO_FIRED,
            .key = slice_of(snapshot[i].key, snapshot[i].key_len),
            .value = slice_of(snapshot[i].value, snapshot[i].value_len),
            .until_at = NSEC_NEVER,
        };

        assert_status(STATUS_OK, broker_memo_set(t->stage->broker, &memo));
    }
    stage_free(old);
    t->schedules = schedules_new(t->stage->broker, &story_zones);
    assert_non_null(t->schedules);
    stage_step(t->stage);
}

void restarts(struct story *t, nsec_t down_for)
{
    restart(t, down_for, false);
}

void restarts_torn(struct story *t, nsec_t down_for)
{
    restart(t, down_for, true);
}

// Appends "n@2023-11-15T00:00:00Z" as "2023-11-15 00:00".
static void add_key(char *text, struct slice key)
{
    const char *at = memchr(key.ptr, '@', key.len);
    size_t len = strlen(text);

    assert_non_null(at);
    (void)snprintf(text + len, TEXT_MAX - len, "%s%.*s%.10s %.5s", *text ? "," : "",
                   slice_equal(slice_of(key.ptr, (size_t)(at - key.ptr)), SLICE("n"))
                       ? 0
                       : (int)(at + 1 - key.ptr),
                   key.ptr, at + 1, at + 12);
}

void does_at_line(struct story *t, const char *queue, const char *expected, const char *file,
                  int line)
{
    struct actor *worker = stage_worker(t->stage, "w", queue);
    char text[TEXT_MAX] = "";
    uint64_t id;

    while ((id = act_take(worker)) != 0) {
        struct job_info job = stage_job(t->stage, id);

        assert_true(job.durable);
        add_key(text, job.key);
        assert_status(STATUS_OK, act_complete(worker, id, NULL));
    }
    act_close(worker);
    if (strcmp(text, expected) != 0) {
        print_error("did %s\nexpected %s\n", text, expected);
        _fail(file, line);
    }
}

struct schedule_info story_info(struct story *t, const char *name)
{
    struct schedule_info info;

    assert_true(schedules_find(t->schedules, stage_slice(name), &info));
    return info;
}

void counts_are_line(struct story *t, const char *expected, const char *file, int line)
{
    struct schedule_counts counts;
    char text[256] = "";

    schedules_counts(t->schedules, &counts);
    const struct {
        const char *name;
        uint64_t count;
    } all[] = {{"fired", counts.fired},     {"late", counts.late},
               {"missed", counts.missed},   {"overlapped", counts.overlapped},
               {"refused", counts.refused}, {"given_up", counts.given_up}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].count) {
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %llu",
                           *text ? " " : "", all[i].name, (unsigned long long)all[i].count);
        }
    }
    if (strcmp(text, expected) != 0) {
        print_error("counts are \"%s\", expected \"%s\"\n", text, expected);
        _fail(file, line);
    }
}
