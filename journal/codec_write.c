/* SPDX-License-Identifier: MIT */

// Encodes records; codec_read.c decodes them.

#include "journal/codec.h"

#include "core/broker.h"
#include "journal/codec_layout.h"

static void codec_put_head(char *to, enum codec_type type, uint32_t data_len)
{
    memset(to, 0, CODEC_HEAD);
    put32(to + HEAD_LEN, data_len);
    to[HEAD_TYPE] = (char)type;
}

// Puts the zeros at the end of a record of `len` bytes. To be called before the record's last bytes
// are put, since it clears some of them.
static void codec_put_padding(char *record, size_t len)
{
    memset(record + codec_padded(len) - 8, 0, 8);
}

static char codec_state_byte(const struct job_change *change)
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

static uint64_t codec_moment(const struct job_change *change)
{
    if (change->state == JOB_DELAYED) {
        return (uint64_t)change->due_at;
    }
    return change->state == JOB_BURIED ? change->burial : (uint64_t)change->ready_at;
}

static unsigned codec_change_flags(const struct job_change *change)
{
    return (change->state == JOB_DELAYED && change->on_wall ? FLAG_ON_WALL : 0u) |
           (change->keyed ? FLAG_KEYED : 0u);
}

static char *codec_put_bytes(char *to, struct slice bytes)
{
    if (bytes.len) {
        memcpy(to, bytes.ptr, bytes.len);
    }
    return to + bytes.len;
}

static char codec_job_flags(const struct job_image *image)
{
    unsigned flags = codec_change_flags(&image->now);

    flags |= image->on_fail == ON_FAIL_DROP ? FLAG_DROP_ON_FAIL : 0u;
    flags |= image->on_loss == ON_LOSS_BACK ? FLAG_BACK_ON_LOSS : 0u;
    flags |= image->queue_kept ? FLAG_QUEUE_KEPT : 0u;
    flags |= image->dead_letter.why != DEAD_NOT ? FLAG_PAST : 0u;
    return (char)(flags | (unsigned)image->key_kind * FLAG_KEY_KIND);
}

static void codec_put_job_fixed(char *data, const struct job_image *image)
{
    const struct job_change *now = &image->now;

    put64(data + JOB_ID, now->id);
    put64(data + JOB_MOMENT, codec_moment(now));
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
    data[JOB_STATE] = codec_state_byte(now);
    data[JOB_FLAGS] = codec_job_flags(image);
}

static char codec_dead_reason_byte(enum dead_reason why)
{
    for (size_t i = 1; i < CODEC_DEAD_REASONS; i++) {
        if (codec_dead_reasons[i] == why) {
            return (char)i;
        }
    }
    UNREACHABLE();
}

static char *codec_put_dead_letter(char *to, const struct dead_letter *past)
{
    if (past->why == DEAD_NOT) {
        return to;
    }
    memset(to, 0, DEAD_LETTER_FIXED_LEN);
    put64(to + PAST_AT, past->at_ms);
    put16(to + PAST_ATTEMPTS, past->attempts);
    put16(to + PAST_QUEUE_LEN, (uint16_t)past->queue.len);
    to[PAST_WHY] = codec_dead_reason_byte(past->why);
    memcpy(to + PAST_QUEUE, past->queue.ptr, past->queue.len);
    return to + PAST_QUEUE + past->queue.len;
}

size_t codec_put_job(char *to, const struct job_image *image, bool with_body)
{
    size_t names = codec_names_len(image);
    size_t data_len = JOB_NAMES + names + image->body.len;
    char *end;

    ENSURE(names <= CODEC_NAMES_MAX && data_len <= UINT32_MAX - 7);
    codec_put_head(to, CODEC_JOB, (uint32_t)data_len);
    if (with_body) {
        codec_put_padding(to, CODEC_HEAD + data_len);
    }
    codec_put_job_fixed(to + CODEC_HEAD, image);
    end = codec_put_bytes(to + CODEC_JOB_FIXED, image->queue);
    end = codec_put_bytes(end, image->key);
    end = codec_put_bytes(end, image->reducer);
    if (image->dead_letter.why != DEAD_NOT) {
        end = codec_put_dead_letter(end, &image->dead_letter);
    }
    if (!with_body) {
        return (size_t)(end - to);
    }
    (void)codec_put_bytes(end, image->body);
    return codec_padded(CODEC_HEAD + data_len);
}

static void codec_put_change_fields(char *data, const struct job_change *change)
{
    put64(data + JOB_ID, change->id);
    put64(data + JOB_MOMENT, codec_moment(change));
    put32(data + CHANGE_PRI, change->pri);
    put32(data + CHANGE_DELAY, change->delay);
    put16(data + CHANGE_ATTEMPTS, change->attempts);
    data[CHANGE_STATE] = codec_state_byte(change);
}

static char *codec_put_counters(char *to, const struct job_counters *counters)
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

    codec_put_head(to, type, CHANGE_FIXED + COUNTERS_LEN);
    codec_put_change_fields(data, change);
    data[CHANGE_FLAGS] = (char)(codec_change_flags(change) | FLAG_COUNTED);
    (void)codec_put_counters(data + CHANGE_FIXED, &change->counters);
}

void codec_put_move(char *to, const struct job_change *change, struct slice name, bool kept,
                    const struct dead_letter *past)
{
    char *data = to + CODEC_HEAD;
    size_t len = MOVE_FIXED + COUNTERS_LEN + name.len + dead_letter_len(past);

    codec_put_head(to, CODEC_MOVE, (uint32_t)len);
    codec_put_padding(to, CODEC_HEAD + len);
    codec_put_change_fields(data, change);
    data[CHANGE_FLAGS] =
        (char)(codec_change_flags(change) | FLAG_COUNTED | (kept ? FLAG_QUEUE_KEPT : 0u) |
               (past->why != DEAD_NOT ? FLAG_PAST : 0u));
    put16(data + MOVE_NAME_LEN, (uint16_t)name.len);
    put16(data + MOVE_ZERO, 0);
    data = codec_put_counters(data + MOVE_FIXED, &change->counters);
    (void)codec_put_dead_letter(codec_put_bytes(data, name), past);
}

void codec_put_number(char *to, enum codec_type type, uint64_t number)
{
    codec_put_head(to, type, NUMBER_LEN);
    put64(to + CODEC_HEAD, number);
}

void codec_put_pause(char *to, struct slice name, nsec_t pause_for, nsec_t until_at)
{
    char *data = to + CODEC_HEAD;

    codec_put_head(to, CODEC_PAUSE, (uint32_t)(PAUSE_NAME + name.len));
    codec_put_padding(to, CODEC_HEAD + PAUSE_NAME + name.len);
    put64(data, (uint64_t)pause_for);
    put64(data + PAUSE_UNTIL, (uint64_t)until_at);
    memset(data + PAUSE_NAME_LEN, 0, PAUSE_NAME - PAUSE_NAME_LEN);
    put16(data + PAUSE_NAME_LEN, (uint16_t)name.len);
    memcpy(data + PAUSE_NAME, name.ptr, name.len);
}

//
// Memos
//

_Static_assert(CODEC_HEAD + MEMO_KEY == CODEC_MEMO_FIXED, "the key follows what is fixed");
_Static_assert(MEMO_RESULT == 0 && MEMO_RATE == MEMO_KINDS - 1, "kinds are written as they are");

static void codec_put_memo_fixed(char *to, const struct memo *memo, unsigned flags)
{
    char *data = to + CODEC_HEAD;

    memset(to, 0, CODEC_HEAD);
    put32(to + HEAD_LEN, (uint32_t)(MEMO_KEY + memo->key.len + memo->value.len));
    to[HEAD_TYPE] = CODEC_MEMO;
    put64(data + MEMO_NUMBER, memo->number);
    put64(data + MEMO_UNTIL, (uint64_t)memo->until_at);
    put32(data + MEMO_VALUE_LEN, (uint32_t)memo->value.len);
    put16(data + MEMO_KEY_LEN, (uint16_t)memo->key.len);
    data[MEMO_KIND] = (char)memo->kind;
    data[MEMO_FLAGS] = (char)flags;
    memcpy(data + MEMO_KEY, memo->key.ptr, memo->key.len);
}

static size_t codec_put_memo_whole(char *to, const struct memo *memo, unsigned flags)
{
    size_t size = codec_memo_size(memo->key.len, memo->value.len);
    size_t fixed = CODEC_MEMO_FIXED + memo->key.len;

    memset(to + size - 8, 0, 8);
    codec_put_memo_fixed(to, memo, flags);
    if (memo->value.len > 0) {
        memcpy(to + fixed, memo->value.ptr, memo->value.len);
    }
    return size;
}

size_t codec_put_memo(char *to, const struct memo *memo, bool with_value)
{
    ENSURE(memo->key.len <= MEMO_KEY_MAX && memo->value.len <= MEMO_VALUE_MAX);
    if (with_value) {
        return codec_put_memo_whole(to, memo, 0);
    }
    codec_put_memo_fixed(to, memo, 0);
    return CODEC_MEMO_FIXED + memo->key.len;
}

void codec_put_forget(char *to, enum memo_kind kind, struct slice key)
{
    const struct memo memo = {.kind = kind, .key = key};

    (void)codec_put_memo_whole(to, &memo, MEMO_FORGOTTEN);
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
