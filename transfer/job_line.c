/* SPDX-License-Identifier: MIT */
#include "transfer/job_line.h"

#include "core/base/base64.h"
#include "core/base/utf8.h"
#include "core/dead_letter.h"
#include "core/submit.h"
#include "json/json_reader.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//
// The words of a line, by the values of enums. Each list ends with NULL.
//

// enum job_state. In a line, a held job is ready.
static const char *const line_states[] = {
    [JOB_DELAYED] = "delayed", [JOB_READY] = "ready", [JOB_RESERVED] = "reserved",
    [JOB_BURIED] = "buried",   [JOB_STATES] = NULL,
};

static const char *const line_on_fail[] = {
    [ON_FAIL_BURY] = "bury",
    [ON_FAIL_DROP] = "drop",
    [ON_FAIL_DROP + 1] = NULL,
};

static const char *const line_on_loss[] = {
    [ON_LOSS_FRONT] = "front",
    [ON_LOSS_BACK] = "back",
    [ON_LOSS_BACK + 1] = NULL,
};

static const char *const line_key_kinds[] = {
    [KEY_NONE] = "none",
    [KEY_NAME] = "name",
    [KEY_CONTENT] = "content",
    [KEY_CONTENT + 1] = NULL,
};

// enum dead_reason, without the first.
static const char *const line_dead_whys[] = {
    [DEAD_ATTEMPTS - 1] = "attempts",   [DEAD_FAILED - 1] = "failed",
    [DEAD_EXCEPTION - 1] = "exception", [DEAD_EXPIRED - 1] = "expired",
    [DEAD_REASONS - 1] = NULL,
};

//
// Reading
//

#define TTR_DEFAULT 60
// A job stores milliseconds since 1970 in 42 bits, and nsec_t has 63.
#define CREATED_MAX 4.3e9
#define DUE_MAX 9223372036.0

static uint32_t line_read_number(struct json_reader *reader, const char *name, uint64_t most,
                                 uint64_t fallback)
{
    (void)json_reader_number(reader, name, most, &fallback);
    return (uint32_t)fallback;
}

static uint8_t line_read_word(struct json_reader *reader, const char *name,
                              const char *const *words, size_t fallback)
{
    (void)json_reader_word(reader, name, words, &fallback);
    return (uint8_t)fallback;
}

// A time or a duration, to the nearest millisecond.
static bool line_read_time(struct json_reader *reader, const char *name, double most, nsec_t *time)
{
    double seconds;

    if (!json_reader_seconds(reader, name, most, &seconds)) {
        return false;
    }
    *time = (nsec_t)llround(seconds * 1000) * NSEC_PER_MSEC;
    return true;
}

static void line_read_name(struct json_reader *reader, const char *name, size_t most,
                           struct slice *to)
{
    if (json_reader_bytes(reader, name, to) && (to->len == 0 || to->len > most)) {
        json_reader_blame(reader, "%s must have 1 to %zu bytes", name, most);
    }
}

static void line_read_place(struct json_reader *reader, nsec_t now_at, struct job_change *now)
{
    now->state = line_read_word(reader, "state", line_states, JOB_READY);
    if (now->state == JOB_RESERVED) {
        now->state = JOB_READY;
    }
    now->pri = line_read_number(reader, "priority", UINT32_MAX, PRI_NORMAL);
    now->delay = line_read_number(reader, "delay_seconds", UINT32_MAX, 0);
    now->attempts = (uint16_t)line_read_number(reader, "attempts", JOB_ATTEMPTS_MAX, 0);
    if (now->state == JOB_DELAYED) {
        (void)json_reader_flag(reader, "due_by_calendar", &now->on_wall);
        (void)json_reader_flag(reader, "delay_imposed", &now->imposed);
        if (now->on_wall && now->imposed) {
            json_reader_blame(reader, "give delay_imposed or due_by_calendar, not both");
        }
        if (!line_read_time(reader, "due_at", DUE_MAX, &now->due_at)) {
            now->due_at = nsec_add(now_at, nsec_from_seconds(now->delay));
        }
    }
}

static void line_read_counts(struct json_reader *reader, struct job_image *image)
{
    static const char *const names[] = {"reserves", "timeouts", "releases",
                                        "buries",   "kicks",    NULL};
    struct json_reader counts;

    if (!json_reader_part(reader, "counts", &counts)) {
        return;
    }
    json_reader_known(&counts, names);
    image->now.counters.reserves = line_read_number(&counts, "reserves", UINT32_MAX, 0);
    image->now.counters.timeouts = line_read_number(&counts, "timeouts", UINT32_MAX, 0);
    image->now.counters.releases = line_read_number(&counts, "releases", UINT32_MAX, 0);
    image->now.counters.buries = line_read_number(&counts, "buries", UINT32_MAX, 0);
    image->now.counters.kicks = line_read_number(&counts, "kicks", UINT32_MAX, 0);
    json_reader_part_end(reader, "counts", &counts);
}

static void line_read_dead_letter(struct json_reader *reader, struct dead_letter *dead_letter)
{
    static const char *const names[] = {"queue", "queue_path", "why", "attempts", "at", NULL};
    struct json_reader part;
    nsec_t at = 0;

    if (!json_reader_part(reader, "past", &part)) {
        return;
    }
    json_reader_known(&part, names);
    line_read_name(&part, "queue", QUEUE_NAME_MAX, &dead_letter->queue);
    dead_letter->why = (enum dead_reason)(line_read_word(&part, "why", line_dead_whys, 0) + 1);
    dead_letter->attempts = (uint16_t)line_read_number(&part, "attempts", JOB_ATTEMPTS_MAX, 0);
    (void)line_read_time(&part, "at", CREATED_MAX, &at);
    dead_letter->at_ms = (uint64_t)(at / NSEC_PER_MSEC);
    if (dead_letter->queue.len == 0) {
        json_reader_blame(&part, "queue is missing");
    }
    json_reader_part_end(reader, "past", &part);
}

static void line_read_key(struct json_reader *reader, struct job_image *image)
{
    line_read_name(reader, "key", JOB_KEY_MAX, &image->key);
    image->key_kind = line_read_word(reader, "key_kind", line_key_kinds,
                                     image->key.len > 0 ? KEY_NAME : KEY_NONE);
    if ((image->key_kind == KEY_NAME) != (image->key.len > 0)) {
        json_reader_blame(reader, "key_kind name requires a key, and other kinds allow none");
    }
}

static void line_read_image(struct json_reader *reader, nsec_t now_at, struct job_image *image)
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

    json_reader_known(reader, names);
    line_read_name(reader, "queue", QUEUE_NAME_MAX, &image->queue);
    line_read_place(reader, now_at, &image->now);
    image->ttr = line_read_number(reader, "ttr_seconds", UINT32_MAX, TTR_DEFAULT);
    image->max_attempts = (uint16_t)line_read_number(reader, "max_attempts", JOB_ATTEMPTS_MAX, 0);
    image->on_fail = line_read_word(reader, "on_failure", line_on_fail, ON_FAIL_BURY);
    image->on_loss = line_read_word(reader, "on_loss", line_on_loss, ON_LOSS_FRONT);
    (void)line_read_time(reader, "created_at", CREATED_MAX, &created_at);
    image->created_ms = (uint64_t)(created_at / NSEC_PER_MSEC);
    line_read_key(reader, image);
    line_read_name(reader, "reducer", JOB_KEY_MAX, &image->reducer);
    line_read_counts(reader, image);
    line_read_dead_letter(reader, &image->dead_letter);
    (void)json_reader_bytes(reader, "body", &image->body);
    if (image->queue.len == 0) {
        json_reader_blame(reader, "queue is missing");
    }
}

enum job_line_kind job_line_read(struct slice text, nsec_t now_at, struct job_line *line)
{
    struct json_reader reader = {.null_is_missing = true};
    json_error_t error;

    memset(line, 0, sizeof *line);
    line->document =
        json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!line->document && json_error_code(&error) == json_error_out_of_memory) {
        return JOB_LINE_NO_MEMORY;
    }
    if (json_object_size(line->document) == 1 && json_object_get(line->document, "next")) {
        return JOB_LINE_END;
    }
    if (!line->document) {
        json_reader_blame(&reader, "not valid JSON: at byte %d: %s", error.position, error.text);
    } else if (!json_is_object(line->document)) {
        json_reader_blame(&reader, "not a JSON object");
    } else {
        reader.object = line->document;
        line->image.body = SLICE("");
        line_read_image(&reader, now_at, &line->image);
    }
    if (reader.bad) {
        (void)snprintf(line->why, sizeof line->why, "%s", reader.why);
    }
    return reader.bad ? JOB_LINE_BAD : JOB_LINE_JOB;
}

void job_line_end(struct job_line *line)
{
    json_decref(line->document);
    line->document = NULL;
}

//
// Writing
//

// Enough digits for seconds to be exact to a millisecond.
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

static bool line_is_text(struct slice bytes)
{
    return bytes.len == 0 || (!memchr(bytes.ptr, '\0', bytes.len) && utf8_valid(bytes));
}

static json_t *line_base64_json(struct slice bytes)
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

static json_t *line_text_json(struct slice bytes)
{
    return json_stringn_nocheck(bytes.len > 0 ? bytes.ptr : "", bytes.len);
}

static json_t *line_name_json(struct slice bytes)
{
    return line_is_text(bytes)
               ? line_text_json(bytes)
               : json_pack("{s:s, s:o}", "encoding", "base64", "data", line_base64_json(bytes));
}

static json_t *line_name_or_null_json(struct slice bytes)
{
    return bytes.len > 0 ? line_name_json(bytes) : json_null();
}

// At most the last whole second of nsec_t: job_line_read() refuses larger numbers.
static json_t *line_seconds_json(nsec_t at)
{
    const nsec_t most = NSEC_NEVER / NSEC_PER_SEC * NSEC_PER_SEC;

    at = at < most ? at : most;
    return json_real((double)llround((double)at / (double)NSEC_PER_MSEC) / 1000.0);
}

static json_t *line_dead_letter_json(const struct dead_letter *dead_letter)
{
    if (dead_letter->why == DEAD_NOT) {
        return json_null();
    }
    return json_pack("{s:o, s:s, s:I, s:o}", "queue", line_name_json(dead_letter->queue), "why",
                     line_dead_whys[dead_letter->why - 1], "attempts",
                     (json_int_t)dead_letter->attempts, "at",
                     line_seconds_json((nsec_t)dead_letter->at_ms * NSEC_PER_MSEC));
}

static json_t *line_counts_json(const struct job_image *image)
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
        buried ? json_integer((json_int_t)now->burial) : json_null(), "queue",
        line_name_json(image->queue), "state", line_states[now->state], "priority",
        (json_int_t)now->pri, "delay_seconds", (json_int_t)now->delay, "due_at",
        delayed ? line_seconds_json(now->due_at) : json_null(), "due_by_calendar",
        (int)(delayed && now->on_wall), "delay_imposed", (int)(delayed && now->imposed),
        "ttr_seconds", (json_int_t)image->ttr, "attempts", (json_int_t)now->attempts,
        "max_attempts", (json_int_t)image->max_attempts, "on_failure", line_on_fail[image->on_fail],
        "on_loss", line_on_loss[image->on_loss], "key_kind", line_key_kinds[image->key_kind], "key",
        line_name_or_null_json(image->key), "reducer", line_name_or_null_json(image->reducer),
        "counts", line_counts_json(image), "created_at",
        line_seconds_json((nsec_t)image->created_ms * NSEC_PER_MSEC), "past",
        line_dead_letter_json(&image->dead_letter));
}

static json_t *line_body_json(struct slice bytes)
{
    bool text = line_is_text(bytes);

    return json_pack("{s:s, s:o, s:b}", "encoding", text ? "text" : "base64", "data",
                     text ? line_text_json(bytes) : line_base64_json(bytes), "truncated", 0);
}

char *job_line_write(const struct job_image *image)
{
    json_t *line = job_line_head(image);
    char *text = NULL;

    if (line && json_object_set_new(line, "body", line_body_json(image->body)) == 0) {
        text = json_dumps(line, DUMP_FLAGS);
    }
    json_decref(line);
    return text;
}
