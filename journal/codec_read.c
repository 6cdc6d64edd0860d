/* SPDX-License-Identifier: MIT */

// Decodes records. Nothing is trusted: lengths must be consistent, and values must be possible for
// a job, so that the broker can restore each decoded record.

#include "journal/codec.h"

#include "core/broker.h"
#include "journal/codec_layout.h"

uint64_t codec_record_size(const char *head)
{
    return ((uint64_t)CODEC_HEAD + get32(head + HEAD_LEN) + 7) & ~UINT64_C(7);
}

uint8_t codec_record_type(const char *head)
{
    return get8(head + HEAD_TYPE);
}

bool codec_head_good(const char *head, uint64_t salt, uint64_t offset)
{
    uint8_t type = codec_record_type(head);

    // The type is compared first: a search can reject most bytes without computing a checksum.
    return type >= CODEC_JOB && type <= CODEC_LAST && get8(head + HEAD_ZERO8) == 0 &&
           get16(head + HEAD_ZERO16) == 0 && get32(head + HEAD_SUM) == head_sum(head, salt, offset);
}

static bool codec_all_zero(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

static bool codec_parts_good(const char *bytes, size_t start, struct slice body,
                             const char *padding, uint64_t salt, uint64_t offset)
{
    uint32_t sum = data_seed(salt, offset);
    size_t pad_len = codec_padded(start + body.len) - start - body.len;

    sum = sum_more(sum, bytes + CODEC_HEAD, start - CODEC_HEAD);
    sum = sum_more(sum_more(sum, body.ptr, body.len), padding, pad_len);
    return ~sum == get32(bytes + HEAD_DATA_SUM) && codec_all_zero(padding, pad_len);
}

static bool codec_dead_letter_fits(size_t len, bool past)
{
    return past ? len > DEAD_LETTER_FIXED_LEN && len <= DEAD_LETTER_FIXED_LEN + QUEUE_NAME_MAX
                : len == 0;
}

static bool codec_read_dead_letter(struct slice bytes, bool is_there, struct dead_letter *past)
{
    static const char zeros[PAST_QUEUE - PAST_ZERO];
    uint8_t why;

    *past = (struct dead_letter){.why = DEAD_NOT};
    if (!is_there || !codec_dead_letter_fits(bytes.len, is_there)) {
        return codec_dead_letter_fits(bytes.len, is_there);
    }
    why = get8(bytes.ptr + PAST_WHY);
    if (why == 0 || why >= CODEC_DEAD_REASONS) {
        return false;
    }
    past->why = codec_dead_reasons[why];
    past->at_ms = get64(bytes.ptr + PAST_AT);
    past->attempts = get16(bytes.ptr + PAST_ATTEMPTS);
    past->queue = slice_of(bytes.ptr + PAST_QUEUE, bytes.len - PAST_QUEUE);
    return past->at_ms <= INT64_MAX / NSEC_PER_MSEC && past->attempts <= JOB_ATTEMPTS_MAX &&
           get16(bytes.ptr + PAST_QUEUE_LEN) == past->queue.len &&
           memcmp(bytes.ptr + PAST_ZERO, zeros, sizeof zeros) == 0 &&
           !memchr(past->queue.ptr, 0, past->queue.len);
}

static bool codec_id_good(uint64_t id)
{
    return id >= 1 && id <= CODEC_ID_MAX;
}

// Decodes a job's state, moment and flags. False if the combination is impossible.
static bool codec_read_state(uint8_t state, uint64_t moment, uint8_t flags,
                             struct job_change *change)
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

// Whether a record of this type can leave a job in this state.
static bool codec_type_fits(enum codec_type type, uint8_t state)
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

// Decodes a change that may have only these flags.
static bool codec_read_change_fields(const char *data, uint8_t most_flags,
                                     struct codec_record *record)
{
    struct job_change *change = &record->change;
    uint8_t flags = get8(data + CHANGE_FLAGS);

    change->id = get64(data + JOB_ID);
    change->pri = get32(data + CHANGE_PRI);
    change->delay = get32(data + CHANGE_DELAY);
    change->attempts = get16(data + CHANGE_ATTEMPTS);
    return (flags & ~most_flags) == 0 && codec_id_good(change->id) &&
           change->attempts <= JOB_ATTEMPTS_MAX &&
           codec_read_state(get8(data + CHANGE_STATE), get64(data + JOB_MOMENT), flags, change) &&
           codec_type_fits(record->type, change->state);
}

// Decodes the counters after the first `fixed` bytes of `len`. Returns where they end, or 0 if they
// do not fit. Records of older versions have none.
static size_t codec_read_change_counters(const char *data, size_t fixed, size_t len,
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

static bool codec_read_change(const char *data, size_t len, struct codec_record *record)
{
    return len >= CHANGE_FIXED &&
           codec_read_change_counters(data, CHANGE_FIXED, len, &record->change) == len &&
           codec_read_change_fields(data, FLAGS_CHANGE, record);
}

// Whether the name is valid for a queue.
static bool codec_name_good(struct slice name)
{
    return name.len >= 1 && name.len <= QUEUE_NAME_MAX && !memchr(name.ptr, 0, name.len);
}

static bool codec_read_move(const char *data, size_t len, struct codec_record *record)
{
    size_t name_at =
        len < MOVE_FIXED ? 0 : codec_read_change_counters(data, MOVE_FIXED, len, &record->change);

    if (name_at == 0) {
        return false;
    }
    record->queue_kept = (get8(data + CHANGE_FLAGS) & FLAG_QUEUE_KEPT) != 0;
    record->name = slice_of(data + name_at, get16(data + MOVE_NAME_LEN));
    return record->name.len <= len - name_at && get16(data + MOVE_ZERO) == 0 &&
           codec_name_good(record->name) && codec_read_change_fields(data, FLAGS_MOVE, record) &&
           codec_read_dead_letter(
               slice_of(data + name_at + record->name.len, len - name_at - record->name.len),
               get8(data + CHANGE_FLAGS) & FLAG_PAST, &record->dead_letter);
}

// Decodes the queue's name, the key, the reducer and the dead letter, which precede the body.
static bool codec_read_names(const char *data, size_t body_at, struct job_image *image)
{
    const char *at = data + JOB_NAMES;

    image->queue = slice_of(at, get16(data + JOB_QUEUE_LEN));
    at += image->queue.len;
    image->key = slice_of(at, get16(data + JOB_KEY_LEN));
    at += image->key.len;
    image->reducer = slice_of(at, get16(data + JOB_REDUCER_LEN));
    at += image->reducer.len;
    return codec_name_good(image->queue) &&
           codec_read_dead_letter(slice_of(at, (size_t)(data + body_at - at)),
                                  get8(data + JOB_FLAGS) & FLAG_PAST, &image->dead_letter);
}

static bool codec_key_good(const struct job_image *image)
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

static void codec_read_counters(const char *data, struct job_image *image)
{
    image->ttr = get32(data + JOB_TTR);
    image->now.counters.reserves = get32(data + JOB_RESERVES);
    image->now.counters.timeouts = get32(data + JOB_TIMEOUTS);
    image->now.counters.releases = get32(data + JOB_RELEASES);
    image->now.counters.buries = get32(data + JOB_BURIES);
    image->now.counters.kicks = get32(data + JOB_KICKS);
}

// Decodes all of a job but its body, which begins at `body_at`; `image->body` is already set.
static bool codec_read_job_data(const char *data, size_t body_at, struct job_image *image)
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
    codec_read_counters(data, image);
    return codec_id_good(now->id) && image->created_ms <= CREATED_MAX &&
           now->attempts <= JOB_ATTEMPTS_MAX && image->max_attempts <= JOB_ATTEMPTS_MAX &&
           codec_read_state(get8(data + JOB_STATE), get64(data + JOB_MOMENT), flags, now) &&
           codec_read_names(data, body_at, image) && codec_key_good(image);
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
           names <= all && *len <= all - names && codec_dead_letter_fits(all - names - *len, past);
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
    return codec_read_job_data(bytes + CODEC_HEAD, start - CODEC_HEAD, &record->job);
}

static bool codec_read_number(const char *data, size_t len, struct codec_record *record)
{
    if (len != NUMBER_LEN) {
        return false;
    }
    record->number = get64(data);
    switch (record->type) {
    case CODEC_END:
        return codec_id_good(record->number);
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

static bool codec_read_pause(const char *data, size_t len, struct codec_record *record)
{
    if (len < PAUSE_NAME) {
        return false;
    }
    record->pause_for = (nsec_t)get64(data);
    record->until_at = (nsec_t)get64(data + PAUSE_UNTIL);
    record->name = slice_of(data + PAUSE_NAME, get16(data + PAUSE_NAME_LEN));
    return record->pause_for >= 0 && record->until_at >= 0 &&
           record->name.len == len - PAUSE_NAME &&
           codec_all_zero(data + PAUSE_ZERO, PAUSE_NAME - PAUSE_ZERO) &&
           codec_name_good(record->name);
}

static bool codec_read_job_whole(const char *bytes, size_t len, struct codec_record *record)
{
    size_t start, body_len;

    if (len < JOB_NAMES || !codec_job_body(bytes, &start, &body_len)) {
        return false;
    }
    record->job.body = slice_of(bytes + start, body_len);
    return codec_read_job_data(bytes + CODEC_HEAD, start - CODEC_HEAD, &record->job);
}

bool codec_memo_value(const char *fixed, size_t *start, size_t *len)
{
    const char *data = fixed + CODEC_HEAD;
    size_t key = get16(data + MEMO_KEY_LEN);
    size_t all = get32(fixed + HEAD_LEN);

    *start = CODEC_MEMO_FIXED + key;
    *len = get32(data + MEMO_VALUE_LEN);
    return key >= 1 && key <= MEMO_KEY_MAX && *len <= MEMO_VALUE_MAX &&
           *len + key + MEMO_KEY == all;
}

// Decodes all of a memo but its value.
static bool codec_read_memo_fixed(const char *data, struct codec_record *record)
{
    struct memo *memo = &record->memo;
    uint8_t kind = get8(data + MEMO_KIND);
    uint8_t flags = get8(data + MEMO_FLAGS);

    memo->number = get64(data + MEMO_NUMBER);
    memo->until_at = (nsec_t)get64(data + MEMO_UNTIL);
    memo->kind = (enum memo_kind)kind;
    memo->key = slice_of(data + MEMO_KEY, get16(data + MEMO_KEY_LEN));
    memo->blob = NULL;
    record->forgotten = flags == MEMO_FORGOTTEN;
    if (kind >= MEMO_KINDS || flags > MEMO_FORGOTTEN || memo->until_at < 0) {
        return false;
    }
    return record->forgotten ? memo->number == 0 && memo->until_at == 0 && memo->value.len == 0
                             : memo->number >= 1 && memo->number <= CODEC_MEMO_NUMBER_MAX;
}

static bool codec_read_memo(const char *data, size_t len, struct codec_record *record)
{
    size_t start, value_len;

    if (len < MEMO_KEY || !codec_memo_value(data - CODEC_HEAD, &start, &value_len)) {
        return false;
    }
    record->memo.value = slice_of(data - CODEC_HEAD + start, value_len);
    return codec_read_memo_fixed(data, record);
}

bool codec_read_memo_parts(const char *bytes, struct slice value, const char *padding,
                           uint64_t salt, uint64_t offset, struct codec_record *record)
{
    size_t start, len;

    if (codec_record_type(bytes) != CODEC_MEMO || !codec_memo_value(bytes, &start, &len) ||
        len != value.len || !codec_parts_good(bytes, start, value, padding, salt, offset)) {
        return false;
    }
    record->type = CODEC_MEMO;
    record->memo.value = value;
    return codec_read_memo_fixed(bytes + CODEC_HEAD, record);
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
        return codec_read_job_whole(bytes, len, record);
    case CODEC_RELEASE:
    case CODEC_BURY:
    case CODEC_KICK:
    case CODEC_TAKE:
    case CODEC_START:
    case CODEC_SET:
        return codec_read_change(data, len, record);
    case CODEC_MOVE:
        return codec_read_move(data, len, record);
    case CODEC_END:
    case CODEC_IDS:
    case CODEC_SYNCED:
    case CODEC_DROPPED:
        return codec_read_number(data, len, record);
    case CODEC_PAUSE:
        return codec_read_pause(data, len, record);
    case CODEC_MEMO:
        return codec_read_memo(data, len, record);
    }
    UNREACHABLE();
}
