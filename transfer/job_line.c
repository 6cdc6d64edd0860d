/* SPDX-License-Identifier: MIT */
#include "transfer/job_line.h"

#include "core/dead_letter.h"
#include "core/submit.h"

#include "transfer/members.h"
#include "transfer/line_words.h"

#include <string.h>

#define TTR_PRESET 60
// Milliseconds since 1970 have 42 bits in a job; a moment in nanoseconds has 63.
#define CREATED_MOST 4.3e9
#define DUE_MOST 9223372036.0

static uint32_t number_of(struct members *members, const char *name, uint64_t most, uint64_t preset)
{
    (void)members_number(members, name, most, &preset);
    return (uint32_t)preset;
}

static uint8_t word_of(struct members *members, const char *name, const char *const *words,
                       size_t preset)
{
    (void)members_word(members, name, words, &preset);
    return (uint8_t)preset;
}

static void read_name(struct members *members, const char *name, size_t most, struct slice *to)
{
    if (members_bytes(members, name, to) && (to->len == 0 || to->len > most)) {
        members_blame(members, "%s%s has 1 to %zu bytes", members->of, name, most);
    }
}

static void read_place(struct members *members, nsec_t now_at, struct job_change *now)
{
    now->state = word_of(members, "state", line_states, JOB_READY);
    if (now->state == JOB_RESERVED) {
        now->state = JOB_READY;
    }
    now->pri = number_of(members, "priority", UINT32_MAX, PRI_NORMAL);
    now->delay = number_of(members, "delay_seconds", UINT32_MAX, 0);
    now->attempts = (uint16_t)number_of(members, "attempts", JOB_ATTEMPTS_MAX, 0);
    if (now->state == JOB_DELAYED) {
        (void)members_flag(members, "due_by_calendar", &now->on_wall);
        (void)members_flag(members, "delay_imposed", &now->imposed);
        if (now->on_wall && now->imposed) {
            members_blame(members, "delay_imposed goes with no due_by_calendar");
        }
        if (!members_seconds(members, "due_at", DUE_MOST, &now->due_at)) {
            now->due_at = nsec_add(now_at, nsec_from_seconds(now->delay));
        }
    }
}

static void read_counts(struct members *members, struct job_image *image)
{
    static const char *const names[] = {"reserves", "timeouts", "releases",
                                        "buries",   "kicks",    NULL};
    struct members counts = {.of = "counts: "};

    if (!members_part(members, "counts", &counts)) {
        return;
    }
    members_known(&counts, names);
    image->now.counters.reserves = number_of(&counts, "reserves", UINT32_MAX, 0);
    image->now.counters.timeouts = number_of(&counts, "timeouts", UINT32_MAX, 0);
    image->now.counters.releases = number_of(&counts, "releases", UINT32_MAX, 0);
    image->now.counters.buries = number_of(&counts, "buries", UINT32_MAX, 0);
    image->now.counters.kicks = number_of(&counts, "kicks", UINT32_MAX, 0);
    members_part_end(members, &counts);
}

static void read_past(struct members *members, struct dead_letter *past)
{
    static const char *const names[] = {"queue", "queue_path", "why", "attempts", "at", NULL};
    struct members part = {.of = "past: "};
    nsec_t at = 0;

    if (!members_part(members, "past", &part)) {
        return;
    }
    members_known(&part, names);
    read_name(&part, "queue", QUEUE_NAME_MAX, &past->queue);
    past->why = (enum dead_reason)(word_of(&part, "why", line_dead_whys, 0) + 1);
    past->attempts = (uint16_t)number_of(&part, "attempts", JOB_ATTEMPTS_MAX, 0);
    (void)members_seconds(&part, "at", CREATED_MOST, &at);
    past->at_ms = (uint64_t)(at / NSEC_PER_MSEC);
    if (past->queue.len == 0) {
        members_blame(&part, "past: queue lacks");
    }
    members_part_end(members, &part);
}

static void read_key(struct members *members, struct job_image *image)
{
    read_name(members, "key", JOB_KEY_MAX, &image->key);
    image->key_kind =
        word_of(members, "key_kind", line_key_kinds, image->key.len > 0 ? KEY_NAME : KEY_NONE);
    if ((image->key_kind == KEY_NAME) != (image->key.len > 0)) {
        members_blame(members, "key goes with the key_kind name, and with no other");
    }
}

static void read_image(struct members *members, nsec_t now_at, struct job_image *image)
{
    static const char *const names[] = {"id",
                                        "queue",
                                        "state",
                                        "burial",
                                        "priority",
                                        "delay_seconds",
                                        "due_at",
                                        "ttr_seconds",
                                        "attempts",
                                        "key",
                                        "due_by_calendar",
                                        "delay_imposed",
                                        "max_attempts",
                                        "on_failure",
                                        "on_loss",
                                        "key_kind",
                                        "reducer",
                                        "counts",
                                        "created_at",
                                        "past",
                                        "body",
                                        "version",
                                        "held",
                                        NULL};
    nsec_t created_at = now_at;

    members_known(members, names);
    read_name(members, "queue", QUEUE_NAME_MAX, &image->queue);
    read_place(members, now_at, &image->now);
    image->ttr = number_of(members, "ttr_seconds", UINT32_MAX, TTR_PRESET);
    image->max_attempts = (uint16_t)number_of(members, "max_attempts", JOB_ATTEMPTS_MAX, 0);
    image->on_fail = word_of(members, "on_failure", line_on_fail, ON_FAIL_BURY);
    image->on_loss = word_of(members, "on_loss", line_on_loss, ON_LOSS_FRONT);
    (void)members_seconds(members, "created_at", CREATED_MOST, &created_at);
    image->created_ms = (uint64_t)(created_at / NSEC_PER_MSEC);
    read_key(members, image);
    read_name(members, "reducer", JOB_KEY_MAX, &image->reducer);
    read_counts(members, image);
    read_past(members, &image->dead_letter);
    (void)members_bytes(members, "body", &image->body);
    if (image->queue.len == 0) {
        members_blame(members, "queue lacks");
    }
}

static bool is_end(const json_t *document)
{
    return json_object_size(document) == 1 && json_object_get(document, "next");
}

enum job_line_kind job_line_read(struct slice text, nsec_t now_at, struct job_line *line)
{
    struct members members = {.of = ""};
    json_error_t error;

    memset(line, 0, sizeof *line);
    members.why = line->why;
    members.why_size = sizeof line->why;
    line->document =
        json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!line->document && json_error_code(&error) == json_error_out_of_memory) {
        return JOB_LINE_NO_MEMORY;
    }
    if (!line->document) {
        members_blame(&members, "it is no JSON: at byte %d: %s", error.position, error.text);
        return JOB_LINE_BAD;
    }
    if (!json_is_object(line->document)) {
        members_blame(&members, "it is no object");
        return JOB_LINE_BAD;
    }
    if (is_end(line->document)) {
        return JOB_LINE_END;
    }
    members.object = line->document;
    line->image.body = SLICE("");
    read_image(&members, now_at, &line->image);
    return members.bad ? JOB_LINE_BAD : JOB_LINE_JOB;
}

void job_line_end(struct job_line *line)
{
    json_decref(line->document);
    line->document = NULL;
}
