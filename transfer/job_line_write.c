/* SPDX-License-Identifier: MIT */
#include "transfer/job_line.h"

#include "core/base/base64.h"
#include "core/base/utf8.h"
#include "core/submit.h"
#include "transfer/line_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Numbers of seconds are read back as they were to a millisecond.
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

static bool is_text(struct slice bytes)
{
    return bytes.len == 0 || (!memchr(bytes.ptr, '\0', bytes.len) && utf8_valid(bytes));
}

static json_t *encoded(struct slice bytes)
{
    size_t len = base64_encoded_len(bytes.len);
    char *text = malloc(len + 1);
    json_t *shown = NULL;

    if (text) {
        base64_encode(bytes, text);
        shown = json_stringn_nocheck(text, len);
        free(text);
    }
    return shown;
}

static json_t *plain(struct slice bytes)
{
    return json_stringn_nocheck(bytes.len > 0 ? bytes.ptr : "", bytes.len);
}

static json_t *name(struct slice bytes)
{
    return is_text(bytes) ? plain(bytes)
                          : json_pack("{s:s, s:o}", "encoding", "base64", "data", encoded(bytes));
}

static json_t *name_or_null(struct slice bytes)
{
    return bytes.len > 0 ? name(bytes) : json_null();
}

// What is beyond the last whole second is not read back.
static json_t *seconds(nsec_t at)
{
    const nsec_t most = NSEC_NEVER / NSEC_PER_SEC * NSEC_PER_SEC;

    at = at < most ? at : most;
    return json_real((double)llround((double)at / (double)NSEC_PER_MSEC) / 1000.0);
}

static json_t *past(const struct dead_letter *past)
{
    if (past->why == DEAD_NOT) {
        return json_null();
    }
    return json_pack("{s:o, s:s, s:I, s:o}", "queue", name(past->queue), "why",
                     line_dead_whys[past->why - 1], "attempts", (json_int_t)past->attempts, "at",
                     seconds((nsec_t)past->at_ms * NSEC_PER_MSEC));
}

static json_t *counts(const struct job_image *image)
{
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I}", "reserves", (json_int_t)image->now.counters.reserves,
        "timeouts", (json_int_t)image->now.counters.timeouts, "releases",
        (json_int_t)image->now.counters.releases, "buries", (json_int_t)image->now.counters.buries,
        "kicks", (json_int_t)image->now.counters.kicks);
}

json_t *job_line_head(const struct job_image *image)
{
    const struct job_change *now = &image->now;
    bool delayed = now->state == JOB_DELAYED;
    bool buried = now->state == JOB_BURIED;

    return json_pack(
        "{s:I, s:o, s:o, s:s, s:I, s:I, s:o, s:b, s:b, s:I, s:I, s:I, s:s, s:s, s:s, s:o, s:o, "
        "s:o, "
        "s:o, s:o}",
        "id", (json_int_t)now->id, "burial",
        buried ? json_integer((json_int_t)now->burial) : json_null(), "queue", name(image->queue),
        "state", line_states[now->state], "priority", (json_int_t)now->pri, "delay_seconds",
        (json_int_t)now->delay, "due_at", delayed ? seconds(now->due_at) : json_null(),
        "due_by_calendar", (int)(delayed && now->on_wall), "delay_imposed",
        (int)(delayed && now->imposed), "ttr_seconds", (json_int_t)image->ttr, "attempts",
        (json_int_t)now->attempts, "max_attempts", (json_int_t)image->max_attempts, "on_failure",
        line_on_fail[image->on_fail], "on_loss", line_on_loss[image->on_loss], "key_kind",
        line_key_kinds[image->key_kind], "key", name_or_null(image->key), "reducer",
        name_or_null(image->reducer), "counts", counts(image), "created_at",
        seconds((nsec_t)image->created_ms * NSEC_PER_MSEC), "past", past(&image->dead_letter));
}

static json_t *body(struct slice bytes)
{
    bool text = is_text(bytes);

    return json_pack("{s:s, s:o, s:b}", "encoding", text ? "text" : "base64", "data",
                     text ? plain(bytes) : encoded(bytes), "truncated", 0);
}

char *job_line_write(const struct job_image *image)
{
    json_t *line = job_line_head(image);
    char *text = NULL;

    if (line && json_object_set_new(line, "body", body(image->body)) == 0) {
        text = json_dumps(line, DUMP_FLAGS);
    }
    json_decref(line);
    return text;
}
