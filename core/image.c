/* SPDX-License-Identifier: MIT */
#include "core/image.h"

#include "core/dead_letter_private.h"

// The highest id and the highest burial are refused: there must be numbers above them.
bool image_possible_change(const struct job_change *change)
{
    return change->id > 0 && change->id < UINT64_MAX && change->burial < UINT64_MAX &&
           change->attempts <= JOB_ATTEMPTS_MAX &&
           (change->state == JOB_READY || change->state == JOB_DELAYED ||
            change->state == JOB_BURIED);
}

bool image_possible_dead_letter(const struct dead_letter *letter)
{
    return letter->why == DEAD_NOT ||
           (letter->why < DEAD_REASONS && letter->attempts <= JOB_ATTEMPTS_MAX &&
            letter->queue.len > 0 && letter->queue.len <= QUEUE_NAME_MAX &&
            letter->at_ms <= INT64_MAX / NSEC_PER_MSEC);
}

enum status image_check(const struct job_image *image)
{
    if (!image_possible_change(&image->now) || !image_possible_dead_letter(&image->dead_letter) ||
        image->key_kind > KEY_CONTENT || image->on_fail > ON_FAIL_DROP ||
        image->on_loss > ON_LOSS_BACK) {
        return STATUS_BAD_NAME;
    }
    if (image->key.len > JOB_KEY_MAX || image->reducer.len > JOB_KEY_MAX) {
        return STATUS_TOO_LARGE;
    }
    return STATUS_OK;
}

nsec_t image_on_mono_clock(const struct broker *broker, nsec_t at, nsec_t most_for)
{
    nsec_t left_for = at - broker->now.wall;

    return nsec_add(broker->now.mono, left_for < most_for ? left_for : most_for);
}

struct job_place image_place(struct broker *broker, const struct job_change *change)
{
    struct job_place place = {.state = (enum job_state)change->state, .pri = change->pri};
    // 0 stands for a delay of unknown length.
    nsec_t delay_for = change->delay ? nsec_from_seconds(change->delay) : NSEC_NEVER;

    if (change->state == JOB_BURIED) {
        place.burial = change->burial;
        if (broker->next.burial <= change->burial) {
            broker->next.burial = change->burial + 1;
        }
    } else if (change->state == JOB_DELAYED && change->due_at > broker->now.wall) {
        place.on_wall = change->on_wall;
        place.imposed = change->imposed;
        place.due_at = change->on_wall ? change->due_at
                                       : image_on_mono_clock(broker, change->due_at, delay_for);
    } else {
        place.state = JOB_READY;
    }
    return place;
}

static uint32_t image_counter(uint32_t count)
{
    return count < JOB_COUNT_MAX ? count : JOB_COUNT_MAX;
}

bool image_set_counters(struct broker *broker, struct job *job, const struct job_counters *counters)
{
    uint32_t beyond = counters->reserves > 15 ? counters->reserves & ~15u : 0;

    job->reserves = counters->reserves & 15u;
    if (beyond || counters->timeouts || counters->releases || counters->buries || counters->kicks ||
        job->extra) {
        struct job_extra *extra = job_extra(broker, job);

        if (!extra) {
            return false;
        }
        extra->reserves = beyond;
        extra->timeouts = image_counter(counters->timeouts) & JOB_COUNT_MAX;
        extra->releases = image_counter(counters->releases) & JOB_COUNT_MAX;
        extra->buries = image_counter(counters->buries) & JOB_COUNT_MAX;
        extra->kicks = image_counter(counters->kicks) & JOB_COUNT_MAX;
    }
    return true;
}

static bool image_set_delay(struct broker *broker, struct job *job, uint32_t delay)
{
    struct job_extra *extra = delay ? job_extra(broker, job) : job->extra;

    if (extra) {
        extra->delay = delay;
    }
    return extra || !delay;
}

bool image_set_dead_letter(struct broker *broker, struct job *job, const struct dead_letter *letter)
{
    if (letter->why != DEAD_NOT) {
        return dead_letter_set(broker, job, letter);
    }
    dead_letter_remove(broker, job);
    return true;
}

struct job *image_job_new(struct broker *broker, struct queue *queue, const struct job_image *image)
{
    const struct job_spec spec = {
        .queue = queue,
        .pri = image->now.pri,
        .ttr_for = nsec_from_seconds(image->ttr),
        .key_kind = (enum key_kind)image->key_kind,
        .key = image->key,
        .reducer = image->reducer,
        .max_attempts = image->max_attempts,
        .on_fail = (enum on_fail)image->on_fail,
        .on_loss = (enum on_loss)image->on_loss,
        .durable = true,
        .body = image->body,
        .body_blob = image->blob,
    };
    struct job *job = job_new(broker, &spec);

    if (!job) {
        return NULL;
    }
    job->id = image->now.id;
    job->seq = job->id & JOB_SEQ_MAX;
    job->created_ms = calendar_from_wall_ms(broker, image->created_ms) & ((UINT64_C(1) << 42) - 1);
    job->attempts = image->now.attempts & 0x3ffu;
    if (!image_set_counters(broker, job, &image->now.counters) ||
        !image_set_delay(broker, job, image->now.delay) ||
        !image_set_dead_letter(broker, job, &image->dead_letter)) {
        job_free(broker, job);
        return NULL;
    }
    return job;
}
