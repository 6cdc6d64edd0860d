/* SPDX-License-Identifier: MIT */

// Decoding: from bytes to records. Nothing is taken on trust: lengths must add up, and values must
// be such as a job can have, so that the broker can restore what a record says.

#include "journal/codec.h"

#include "core/broker.h"
#include "journal/codec_memo.h"
#include "journal/codec_parts.h"
#include "journal/codec_past.h"
#include "journal/layout.h"

static bool id_good(uint64_t id)
{
    return id >= 1 && id <= CODEC_ID_MAX;
}

// Decodes a job's state, moment and flags. False where they cannot go together.
static bool read_state(uint8_t state, uint64_t moment, uint8_t flags, struct job_change *change)
{
    change->keyed = (flags & FLAG_KEYED) != 0;
    change->on_wall = (flags & FLAG_ON_WALL) != 0;
    change->imposed = false;
    change->due_at = 0;
    change->ready_at = 0;
    change->burial = 0;
    if (moment > INT64_MAX) {
        return false;
    }
    switch (state) {
    case STATE_READY:
        change->state = JOB_READY;
        change->ready_at = (nsec_t)moment;
        return !change->on_wall;
    case STATE_DELAYED:
        change->state = JOB_DELAYED;
        change->due_at = (nsec_t)moment;
        return true;
    case STATE_IMPOSED:
        change->state = JOB_DELAYED;
        change->imposed = true;
        change->due_at = (nsec_t)moment;
        return !change->on_wall;
    case STATE_BURIED:
        change->state = JOB_BURIED;
        change->burial = moment;
        // A buried job has given up its key.
        return !change->on_wall && !change->keyed;
    default:
        return false;
    }
}

// Whether a record of this type leaves a job in this state.
static bool type_fits(enum codec_type type, uint8_t state)
{
    switch (type) {
    case CODEC_RELEASE:
    case CODEC_START:
        return state == JOB_READY || state == JOB_DELAYED;
    case CODEC_BURY:
        return state == JOB_BURIED;
    case CODEC_KICK:
    case CODEC_TAKE:
        return state == JOB_READY;
    case CODEC_SET:
    case CODEC_MOVE:
        return true;
    case CODEC_JOB:
    case CODEC_END:
    case CODEC_PAUSE:
    case CODEC_IDS:
    case CODEC_SYNCED:
    case CODEC_DROPPED:
    case CODEC_MEMO:
        break;
    }
    return false;
}

// Decodes a change with no flags but these.
static bool read_change_fields(const char *data, uint8_t most_flags, struct codec_record *record)
{
    struct job_change *change = &record->change;
    uint8_t flags = get8(data + CHANGE_FLAGS);

    change->id = get64(data + JOB_ID);
    change->pri = get32(data + CHANGE_PRI);
    change->delay = get32(data + CHANGE_DELAY);
    change->attempts = get16(data + CHANGE_ATTEMPTS);
    return (flags & ~most_flags) == 0 && id_good(change->id) &&
           change->attempts <= JOB_ATTEMPTS_MAX &&
           read_state(get8(data + CHANGE_STATE), get64(data + JOB_MOMENT), flags, change) &&
           type_fits(record->type, change->state);
}

// The counters stand behind the first `fixed` bytes of `len`, which are there; where they end, or 0
// where there is no room for them. Records of older versions have none.
static size_t read_change_counters(const char *data, size_t fixed, size_t len,
                                   struct job_change *change)
{
    const char *from = data + fixed;

    change->counted = (get8(data + CHANGE_FLAGS) & FLAG_COUNTED) != 0;
    change->counters = (struct job_counters){0};
    if (!change->counted) {
        return fixed;
    }
    if (len - fixed < COUNTERS_LEN) {
        return 0;
    }
    change->counters = (struct job_counters){
        .reserves = get32(from + COUNT_RESERVES),
        .timeouts = get32(from + COUNT_TIMEOUTS),
        .releases = get32(from + COUNT_RELEASES),
        .buries = get32(from + COUNT_BURIES),
        .kicks = get32(from + COUNT_KICKS),
    };
    return fixed + COUNTERS_LEN;
}

static bool read_change(const char *data, size_t len, struct codec_record *record)
{
    return len >= CHANGE_FIXED &&
           read_change_counters(data, CHANGE_FIXED, len, &record->change) == len &&
           read_change_fields(data, FLAGS_CHANGE, record);
}

// Whether a queue can have that name.
static bool name_good(struct slice name)
{
    return name.len >= 1 && name.len <= QUEUE_NAME_MAX && !memchr(name.ptr, 0, name.len);
}

static bool read_move(const char *data, size_t len, struct codec_record *record)
{
    size_t name_at =
        len < MOVE_FIXED ? 0 : read_change_counters(data, MOVE_FIXED, len, &record->change);

    if (name_at == 0) {
        return false;
    }
    record->queue_kept = (get8(data + CHANGE_FLAGS) & FLAG_QUEUE_KEPT) != 0;
    record->name = slice_of(data + name_at, get16(data + MOVE_NAME_LEN));
    return record->name.len <= len - name_at && get16(data + MOVE_ZERO) == 0 &&
           name_good(record->name) && read_change_fields(data, FLAGS_MOVE, record) &&
           codec_read_past(
               slice_of(data + name_at + record->name.len, len - name_at - record->name.len),
               get8(data + CHANGE_FLAGS) & FLAG_PAST, &record->dead_letter);
}

// The queue's name, the key, the reducer and the past, which stand one after the other, before the
// body. False where the queue's name cannot be one, or the past none.
static bool read_names(const char *data, size_t body_at, struct job_image *image)
{
    const char *at = data + JOB_NAMES;

    image->queue = slice_of(at, get16(data + JOB_QUEUE_LEN));
    at += image->queue.len;
    image->key = slice_of(at, get16(data + JOB_KEY_LEN));
    at += image->key.len;
    image->reducer = slice_of(at, get16(data + JOB_REDUCER_LEN));
    at += image->reducer.len;
    return name_good(image->queue) &&
           codec_read_past(slice_of(at, (size_t)(data + body_at - at)),
                           get8(data + JOB_FLAGS) & FLAG_PAST, &image->dead_letter);
}

static bool key_good(const struct job_image *image)
{
    switch (image->key_kind) {
    case KEY_NONE:
        return image->key.len == 0 && !image->now.keyed;
    case KEY_NAME:
        return !image->now.keyed || image->key.len > 0;
    case KEY_CONTENT:
        return image->key.len == 0 && (!image->now.keyed || image->body.len > 0);
    default:
        return false;
    }
}

static void read_counters(const char *data, struct job_image *image)
{
    image->ttr = get32(data + JOB_TTR);
    image->now.counters.reserves = get32(data + JOB_RESERVES);
    image->now.counters.timeouts = get32(data + JOB_TIMEOUTS);
    image->now.counters.releases = get32(data + JOB_RELEASES);
    image->now.counters.buries = get32(data + JOB_BURIES);
    image->now.counters.kicks = get32(data + JOB_KICKS);
}

// Decodes all of a job but its body, which stands at `body_at`: `image->body` is set before.
static bool read_job(const char *data, size_t body_at, struct job_image *image)
{
    struct job_change *now = &image->now;
    uint8_t flags = get8(data + JOB_FLAGS);

    now->id = get64(data + JOB_ID);
    now->pri = get32(data + JOB_PRI);
    now->delay = get32(data + JOB_DELAY);
    now->attempts = get16(data + JOB_ATTEMPTS);
    image->created_ms = get64(data + JOB_CREATED);
    image->max_attempts = get16(data + JOB_MAX_ATTEMPTS);
    image->queue_kept = (flags & FLAG_QUEUE_KEPT) != 0;
    image->on_fail = flags & FLAG_DROP_ON_FAIL ? ON_FAIL_DROP : ON_FAIL_BURY;
    image->on_loss = flags & FLAG_BACK_ON_LOSS ? ON_LOSS_BACK : ON_LOSS_FRONT;
    image->key_kind = flags / FLAG_KEY_KIND & KEY_KIND_MOST;
    image->blob = NULL;
    read_counters(data, image);
    return id_good(now->id) && image->created_ms <= CREATED_MAX &&
           now->attempts <= JOB_ATTEMPTS_MAX && image->max_attempts <= JOB_ATTEMPTS_MAX &&
           read_state(get8(data + JOB_STATE), get64(data + JOB_MOMENT), flags, now) &&
           read_names(data, body_at, image) && key_good(image);
}

bool codec_job_body(const char *fixed, size_t *start, size_t *len)
{
    const char *data = fixed + CODEC_HEAD;
    size_t queue = get16(data + JOB_QUEUE_LEN);
    size_t key = get16(data + JOB_KEY_LEN);
    size_t reducer = get16(data + JOB_REDUCER_LEN);
    size_t names = JOB_NAMES + queue + key + reducer;
    size_t all = get32(fixed + HEAD_LEN);
    bool past = get8(data + JOB_FLAGS) & FLAG_PAST;

    *len = get32(data + JOB_BODY_LEN);
    *start = CODEC_HEAD + all - *len;
    return queue <= QUEUE_NAME_MAX && key <= JOB_KEY_MAX && reducer <= JOB_KEY_MAX &&
           names <= all && *len <= all - names && codec_past_fits(all - names - *len, past);
}

bool codec_read_job(const char *bytes, struct slice body, const char *padding, uint64_t salt,
                    uint64_t offset, struct codec_record *record)
{
    size_t start, len;

    if (codec_record_type(bytes) != CODEC_JOB || !codec_job_body(bytes, &start, &len) ||
        len != body.len || !codec_parts_good(bytes, start, body, padding, salt, offset)) {
        return false;
    }
    record->type = CODEC_JOB;
    record->job.body = body;
    return read_job(bytes + CODEC_HEAD, start - CODEC_HEAD, &record->job);
}

static bool read_number(const char *data, size_t len, struct codec_record *record)
{
    if (len != NUMBER_LEN) {
        return false;
    }
    record->number = get64(data);
    switch (record->type) {
    case CODEC_END:
        return id_good(record->number);
    case CODEC_IDS:
        return record->number >= 1 && record->number <= CODEC_ID_MAX + 1;
    case CODEC_SYNCED:
    case CODEC_DROPPED:
        return true;
    case CODEC_JOB:
    case CODEC_RELEASE:
    case CODEC_BURY:
    case CODEC_KICK:
    case CODEC_TAKE:
    case CODEC_START:
    case CODEC_SET:
    case CODEC_MOVE:
    case CODEC_PAUSE:
    case CODEC_MEMO:
        break;
    }
    UNREACHABLE();
}

static bool read_pause(const char *data, size_t len, struct codec_record *record)
{
    if (len < PAUSE_NAME) {
        return false;
    }
    record->pause_for = (nsec_t)get64(data);
    record->until_at = (nsec_t)get64(data + PAUSE_UNTIL);
    record->name = slice_of(data + PAUSE_NAME, get16(data + PAUSE_NAME_LEN));
    return record->pause_for >= 0 && record->until_at >= 0 &&
           record->name.len == len - PAUSE_NAME &&
           codec_all_zero(data + PAUSE_ZERO, PAUSE_NAME - PAUSE_ZERO) && name_good(record->name);
}

static bool read_job_whole(const char *bytes, size_t len, struct codec_record *record)
{
    size_t start, body_len;

    if (len < JOB_NAMES || !codec_job_body(bytes, &start, &body_len)) {
        return false;
    }
    record->job.body = slice_of(bytes + start, body_len);
    return read_job(bytes + CODEC_HEAD, start - CODEC_HEAD, &record->job);
}

bool codec_read(const char *bytes, uint64_t salt, uint64_t offset, struct codec_record *record)
{
    const char *data = bytes + CODEC_HEAD;
    size_t len = get32(bytes + HEAD_LEN);
    size_t size = (size_t)codec_record_size(bytes) - CODEC_HEAD;

    if (~sum_more(data_seed(salt, offset), data, size) != get32(bytes + HEAD_DATA_SUM) ||
        !codec_all_zero(data + len, size - len)) {
        return false;
    }
    record->type = (enum codec_type)codec_record_type(bytes);
    switch (record->type) {
    case CODEC_JOB:
        return read_job_whole(bytes, len, record);
    case CODEC_RELEASE:
    case CODEC_BURY:
    case CODEC_KICK:
    case CODEC_TAKE:
    case CODEC_START:
    case CODEC_SET:
        return read_change(data, len, record);
    case CODEC_MOVE:
        return read_move(data, len, record);
    case CODEC_END:
    case CODEC_IDS:
    case CODEC_SYNCED:
    case CODEC_DROPPED:
        return read_number(data, len, record);
    case CODEC_PAUSE:
        return read_pause(data, len, record);
    case CODEC_MEMO:
        return codec_read_memo(data, len, record);
    }
    UNREACHABLE();
}
