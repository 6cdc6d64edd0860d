/* SPDX-License-Identifier: MIT */

// Records as bytes: the way there. codec_read.c has the way back.

#include "journal/codec.h"

#include "core/broker.h"
#include "journal/codec_past.h"
#include "journal/layout.h"

static void put_head(char *to, enum codec_type type, uint32_t data_len)
{
    memset(to, 0, CODEC_HEAD);
    put32(to + HEAD_LEN, data_len);
    to[HEAD_TYPE] = (char)type;
}

// Zeros at the end of a record of `len` bytes, up to the next multiple of 8. To be called before
// its last bytes are put, some of which it clears, too.
static void pad(char *record, size_t len)
{
    memset(record + codec_padded(len) - 8, 0, 8);
}

static char state_byte(const struct job_change *change)
{
    switch ((enum job_state)change->state) {
    case JOB_READY:
        return STATE_READY;
    case JOB_DELAYED:
        return change->imposed ? STATE_IMPOSED : STATE_DELAYED;
    case JOB_BURIED:
        return STATE_BURIED;
    case JOB_RESERVED:
    case JOB_GONE:
        break;
    }
    UNREACHABLE();
}

static uint64_t moment_of(const struct job_change *change)
{
    if (change->state == JOB_DELAYED) {
        return (uint64_t)change->due_at;
    }
    return change->state == JOB_BURIED ? change->burial : (uint64_t)change->ready_at;
}

static unsigned change_flags(const struct job_change *change)
{
    return (change->state == JOB_DELAYED && change->on_wall ? FLAG_ON_WALL : 0u) |
           (change->keyed ? FLAG_KEYED : 0u);
}

static char *put_bytes(char *to, struct slice bytes)
{
    if (bytes.len) {
        memcpy(to, bytes.ptr, bytes.len);
    }
    return to + bytes.len;
}

static char job_flags(const struct job_image *image)
{
    unsigned flags = change_flags(&image->now);

    flags |= image->on_fail == ON_FAIL_DROP ? FLAG_DROP_ON_FAIL : 0u;
    flags |= image->on_loss == ON_LOSS_BACK ? FLAG_BACK_ON_LOSS : 0u;
    flags |= image->queue_kept ? FLAG_QUEUE_KEPT : 0u;
    flags |= image->dead_letter.why != DEAD_NOT ? FLAG_PAST : 0u;
    return (char)(flags | (unsigned)image->key_kind * FLAG_KEY_KIND);
}

static void put_job_fixed(char *data, const struct job_image *image)
{
    const struct job_change *now = &image->now;

    put64(data + JOB_ID, now->id);
    put64(data + JOB_MOMENT, moment_of(now));
    put64(data + JOB_CREATED, image->created_ms);
    put32(data + JOB_PRI, now->pri);
    put32(data + JOB_DELAY, now->delay);
    put32(data + JOB_TTR, image->ttr);
    put32(data + JOB_RESERVES, image->now.counters.reserves);
    put32(data + JOB_TIMEOUTS, image->now.counters.timeouts);
    put32(data + JOB_RELEASES, image->now.counters.releases);
    put32(data + JOB_BURIES, image->now.counters.buries);
    put32(data + JOB_KICKS, image->now.counters.kicks);
    put32(data + JOB_BODY_LEN, (uint32_t)image->body.len);
    put16(data + JOB_ATTEMPTS, now->attempts);
    put16(data + JOB_MAX_ATTEMPTS, image->max_attempts);
    put16(data + JOB_QUEUE_LEN, (uint16_t)image->queue.len);
    put16(data + JOB_KEY_LEN, (uint16_t)image->key.len);
    put16(data + JOB_REDUCER_LEN, (uint16_t)image->reducer.len);
    data[JOB_STATE] = state_byte(now);
    data[JOB_FLAGS] = job_flags(image);
}

size_t codec_put_job(char *to, const struct job_image *image, bool with_body)
{
    size_t names = codec_names_len(image);
    size_t data_len = JOB_NAMES + names + image->body.len;
    char *end;

    ENSURE(names <= CODEC_NAMES_MAX && data_len <= UINT32_MAX - 7);
    put_head(to, CODEC_JOB, (uint32_t)data_len);
    if (with_body) {
        pad(to, CODEC_HEAD + data_len);
    }
    put_job_fixed(to + CODEC_HEAD, image);
    end = put_bytes(to + CODEC_JOB_FIXED, image->queue);
    end = put_bytes(end, image->key);
    end = put_bytes(end, image->reducer);
    if (image->dead_letter.why != DEAD_NOT) {
        end = codec_put_past(end, &image->dead_letter);
    }
    if (!with_body) {
        return (size_t)(end - to);
    }
    (void)put_bytes(end, image->body);
    return codec_padded(CODEC_HEAD + data_len);
}

static void put_change(char *data, const struct job_change *change)
{
    put64(data + JOB_ID, change->id);
    put64(data + JOB_MOMENT, moment_of(change));
    put32(data + CHANGE_PRI, change->pri);
    put32(data + CHANGE_DELAY, change->delay);
    put16(data + CHANGE_ATTEMPTS, change->attempts);
    data[CHANGE_STATE] = state_byte(change);
}

static char *put_counters(char *to, const struct job_counters *counters)
{
    put32(to + COUNT_RESERVES, counters->reserves);
    put32(to + COUNT_TIMEOUTS, counters->timeouts);
    put32(to + COUNT_RELEASES, counters->releases);
    put32(to + COUNT_BURIES, counters->buries);
    put32(to + COUNT_KICKS, counters->kicks);
    return to + COUNTERS_LEN;
}

void codec_put_change(char *to, enum codec_type type, const struct job_change *change)
{
    char *data = to + CODEC_HEAD;

    put_head(to, type, CHANGE_FIXED + COUNTERS_LEN);
    put_change(data, change);
    data[CHANGE_FLAGS] = (char)(change_flags(change) | FLAG_COUNTED);
    (void)put_counters(data + CHANGE_FIXED, &change->counters);
}

void codec_put_move(char *to, const struct job_change *change, struct slice name, bool kept,
                    const struct dead_letter *past)
{
    char *data = to + CODEC_HEAD;
    size_t len = MOVE_FIXED + COUNTERS_LEN + name.len + dead_letter_len(past);

    put_head(to, CODEC_MOVE, (uint32_t)len);
    pad(to, CODEC_HEAD + len);
    put_change(data, change);
    data[CHANGE_FLAGS] =
        (char)(change_flags(change) | FLAG_COUNTED | (kept ? FLAG_QUEUE_KEPT : 0u) |
               (past->why != DEAD_NOT ? FLAG_PAST : 0u));
    put16(data + MOVE_NAME_LEN, (uint16_t)name.len);
    put16(data + MOVE_ZERO, 0);
    data = put_counters(data + MOVE_FIXED, &change->counters);
    (void)codec_put_past(put_bytes(data, name), past);
}

void codec_put_number(char *to, enum codec_type type, uint64_t number)
{
    put_head(to, type, NUMBER_LEN);
    put64(to + CODEC_HEAD, number);
}

void codec_put_pause(char *to, struct slice name, nsec_t pause_for, nsec_t until_at)
{
    char *data = to + CODEC_HEAD;

    put_head(to, CODEC_PAUSE, (uint32_t)(PAUSE_NAME + name.len));
    pad(to, CODEC_HEAD + PAUSE_NAME + name.len);
    put64(data, (uint64_t)pause_for);
    put64(data + PAUSE_UNTIL, (uint64_t)until_at);
    memset(data + PAUSE_NAME_LEN, 0, PAUSE_NAME - PAUSE_NAME_LEN);
    put16(data + PAUSE_NAME_LEN, (uint16_t)name.len);
    memcpy(data + PAUSE_NAME, name.ptr, name.len);
}

void codec_seal(char *record, size_t len, struct slice tail, uint64_t salt, uint64_t offset)
{
    static const char zeros[8];
    uint64_t missing = codec_record_size(record) - len - tail.len;
    uint32_t sum = sum_more(data_seed(salt, offset), record + CODEC_HEAD, len - CODEC_HEAD);

    ENSURE(missing < 8);
    sum = sum_more(sum_more(sum, tail.ptr, tail.len), zeros, missing);
    put32(record + HEAD_DATA_SUM, ~sum);
    put32(record + HEAD_SUM, head_sum(record, salt, offset));
}
