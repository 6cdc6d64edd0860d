/* SPDX-License-Identifier: MIT */

// Decoding: from bytes to records and heads of segments. Nothing is taken on trust: lengths must
// add up, and values must be such as a job can have, so that the broker can restore what a record
// says.

#include "journal/codec.h"

#include "core/broker.h"
#include "journal/layout.h"

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

    // The type is compared first: for most bytes that are no record, a search needs no checksum.
    return type >= CODEC_JOB && type <= CODEC_LAST && get8(head + HEAD_ZERO8) == 0 &&
           get16(head + HEAD_ZERO16) == 0 && get32(head + HEAD_SUM) == head_sum(head, salt, offset);
}

static bool all_zero(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

static bool id_good(uint64_t id)
{
    return id >= 1 && id <= CODEC_ID_MAX;
}

// Decodes a job's state, moment and flags. False where they cannot go together.
static bool read_state(uint8_t state, uint64_t moment, uint8_t flags, struct job_change *change)
{
    change->keyed = (flags & FLAG_KEYED) != 0;
    change->on_wall = (flags & FLAG_ON_WALL) != 0;
    change->due_at = 0;
    change->burial = 0;
    if (moment > INT64_MAX) {
        return false;
    }
    switch (state) {
    case STATE_READY:
        change->state = JOB_READY;
        return moment == 0 && !change->on_wall;
    case STATE_DELAYED:
        change->state = JOB_DELAYED;
        change->due_at = (nsec_t)moment;
        return true;
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
    case CODEC_JOB:
    case CODEC_END:
    case CODEC_PAUSE:
    case CODEC_IDS:
    case CODEC_SYNCED:
    case CODEC_DROPPED:
        break;
    }
    return false;
}

static bool read_change(const char *data, size_t len, struct codec_record *record)
{
    struct job_change *change = &record->change;
    uint8_t flags;

    if (len != CHANGE_LEN) {
        return false;
    }
    change->id = get64(data + JOB_ID);
    change->pri = get32(data + CHANGE_PRI);
    change->delay = get32(data + CHANGE_DELAY);
    change->attempts = get16(data + CHANGE_ATTEMPTS);
    flags = get8(data + CHANGE_FLAGS);
    return flags <= FLAGS_CHANGE && id_good(change->id) && change->attempts <= JOB_ATTEMPTS_MAX &&
           read_state(get8(data + CHANGE_STATE), get64(data + JOB_MOMENT), flags, change) &&
           type_fits(record->type, change->state);
}

// The queue's name, the key and the reducer, which stand one after the other. False where the
// queue's name cannot be one.
static bool read_names(const char *data, struct job_image *image)
{
    const char *at = data + JOB_NAMES;

    image->queue = slice_of(at, get16(data + JOB_QUEUE_LEN));
    at += image->queue.len;
    image->key = slice_of(at, get16(data + JOB_KEY_LEN));
    at += image->key.len;
    image->reducer = slice_of(at, get16(data + JOB_REDUCER_LEN));
    return image->queue.len >= 1 && image->queue.len <= QUEUE_NAME_MAX &&
           !memchr(image->queue.ptr, 0, image->queue.len);
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
    image->reserves = get32(data + JOB_RESERVES);
    image->timeouts = get32(data + JOB_TIMEOUTS);
    image->releases = get32(data + JOB_RELEASES);
    image->buries = get32(data + JOB_BURIES);
    image->kicks = get32(data + JOB_KICKS);
}

// Decodes all of a job but its body: `image->body` is set before.
static bool read_job(const char *data, struct job_image *image)
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
    image->key_kind = flags / FLAG_KEY_KIND;
    image->blob = NULL;
    read_counters(data, image);
    return flags <= FLAGS_JOB && id_good(now->id) && image->created_ms <= CREATED_MAX &&
           now->attempts <= JOB_ATTEMPTS_MAX && image->max_attempts <= JOB_ATTEMPTS_MAX &&
           read_state(get8(data + JOB_STATE), get64(data + JOB_MOMENT), flags, now) &&
           read_names(data, image) && key_good(image);
}

bool codec_job_body(const char *fixed, size_t *start, size_t *len)
{
    const char *data = fixed + CODEC_HEAD;
    size_t queue = get16(data + JOB_QUEUE_LEN);
    size_t key = get16(data + JOB_KEY_LEN);
    size_t reducer = get16(data + JOB_REDUCER_LEN);
    size_t before = JOB_NAMES + queue + key + reducer;
    size_t all = get32(fixed + HEAD_LEN);

    *start = CODEC_HEAD + before;
    *len = get32(data + JOB_BODY_LEN);
    return queue <= QUEUE_NAME_MAX && key <= JOB_KEY_MAX && reducer <= JOB_KEY_MAX &&
           before <= all && *len == all - before;
}

bool codec_read_job(const char *bytes, struct slice body, const char *padding, uint64_t salt,
                    uint64_t offset, struct codec_record *record)
{
    uint32_t sum = data_seed(salt, offset);
    size_t start, len, pad_len;

    if (codec_record_type(bytes) != CODEC_JOB || !codec_job_body(bytes, &start, &len) ||
        len != body.len) {
        return false;
    }
    pad_len = codec_padded(start + len) - start - len;
    sum = sum_more(sum, bytes + CODEC_HEAD, start - CODEC_HEAD);
    sum = sum_more(sum_more(sum, body.ptr, body.len), padding, pad_len);
    record->type = CODEC_JOB;
    record->job.body = body;
    return ~sum == get32(bytes + HEAD_DATA_SUM) && all_zero(padding, pad_len) &&
           read_job(bytes + CODEC_HEAD, &record->job);
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
    case CODEC_PAUSE:
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
    return record->pause_for >= 0 && record->until_at >= 0 && record->name.len >= 1 &&
           record->name.len <= QUEUE_NAME_MAX && record->name.len == len - PAUSE_NAME &&
           all_zero(data + PAUSE_ZERO, PAUSE_NAME - PAUSE_ZERO) &&
           !memchr(record->name.ptr, 0, record->name.len);
}

static bool read_job_whole(const char *bytes, size_t len, struct codec_record *record)
{
    size_t start, body_len;

    if (len < JOB_NAMES || !codec_job_body(bytes, &start, &body_len)) {
        return false;
    }
    record->job.body = slice_of(bytes + start, body_len);
    return read_job(bytes + CODEC_HEAD, &record->job);
}

bool codec_read(const char *bytes, uint64_t salt, uint64_t offset, struct codec_record *record)
{
    const char *data = bytes + CODEC_HEAD;
    size_t len = get32(bytes + HEAD_LEN);
    size_t size = (size_t)codec_record_size(bytes) - CODEC_HEAD;

    if (~sum_more(data_seed(salt, offset), data, size) != get32(bytes + HEAD_DATA_SUM) ||
        !all_zero(data + len, size - len)) {
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
        return read_change(data, len, record);
    case CODEC_END:
    case CODEC_IDS:
    case CODEC_SYNCED:
    case CODEC_DROPPED:
        return read_number(data, len, record);
    case CODEC_PAUSE:
        return read_pause(data, len, record);
    }
    UNREACHABLE();
}

//
// Heads of segments
//

static bool segment_head_checks(const char *head)
{
    return memcmp(head, SEGMENT_MAGIC, SEGMENT_VERSION) == 0 &&
           get32(head + SEGMENT_SUM) == segment_sum(head);
}

enum codec_head codec_read_segment_head(const char from[CODEC_SEGMENT_HEAD],
                                        struct segment_head *head)
{
    uint32_t version = get32(from + SEGMENT_VERSION);
    uint64_t previous_end = get64(from + SEGMENT_PREVIOUS_END);

    // The magic bytes, the version and the checksum stand at the same place in all versions.
    if (!segment_head_checks(from)) {
        return CODEC_HEAD_BAD;
    }
    if (version < CODEC_VERSION_OLDEST || version > CODEC_VERSION) {
        return CODEC_HEAD_OTHER_VERSION;
    }
    *head = (struct segment_head){
        .number = get64(from + SEGMENT_NUMBER),
        .salt = get64(from + SEGMENT_SALT),
        .previous = get64(from + SEGMENT_PREVIOUS),
        .previous_end = previous_end & ~PREVIOUS_UNSURE,
        .previous_unsure = (previous_end & PREVIOUS_UNSURE) != 0,
        .ids_end = get64(from + SEGMENT_IDS_END),
        .created_ms = get64(from + SEGMENT_CREATED),
    };
    return get32(from + SEGMENT_SIZE) == CODEC_SEGMENT_HEAD && get32(from + SEGMENT_ZERO) == 0 &&
                   head->ids_end <= CODEC_ID_MAX + 1 &&
                   (version >= CODEC_VERSION_UNSURE || !head->previous_unsure)
               ? CODEC_HEAD_GOOD
               : CODEC_HEAD_BAD;
}

bool codec_mend_segment_head(char head[CODEC_SEGMENT_HEAD])
{
    uint32_t said = get32(head + SEGMENT_SUM);
    struct segment_head read;

    put32(head + SEGMENT_ZERO, 0);
    // Where one byte of the checksum itself is wrong, the other three agree.
    for (unsigned i = 0; i < sizeof said; i++) {
        uint32_t wrong = (said ^ segment_sum(head)) & ~(UINT32_C(0xff) << (8 * i));

        if (wrong == 0) {
            put32(head + SEGMENT_SUM, segment_sum(head));
            return codec_read_segment_head(head, &read) == CODEC_HEAD_GOOD;
        }
    }
    for (unsigned i = 0; i < SEGMENT_SUM * 256u; i++) {
        char was = head[i / 256];

        head[i / 256] = (char)(i % 256);
        if (codec_read_segment_head(head, &read) == CODEC_HEAD_GOOD) {
            return true;
        }
        head[i / 256] = was;
    }
    return false;
}
