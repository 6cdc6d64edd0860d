/* SPDX-License-Identifier: MIT */
#include "tests/journal/sealed.h"

#include <string.h>

void sealed_finish(struct sealed *sealed)
{
    sealed->size = (size_t)codec_record_size(sealed->bytes);
    assert_true(sealed->size <= sizeof sealed->bytes && sealed->size % 8 == 0);
    codec_seal(sealed->bytes, sealed->size, slice_of(NULL, 0), SALT, OFFSET);
}

bool sealed_read_at(const struct sealed *sealed, uint64_t salt, uint64_t offset,
                    struct codec_record *record)
{
    static char room[sizeof sealed->bytes];
    char *bytes = room + sizeof room - sealed->size;

    memcpy(bytes, sealed->bytes, sealed->size);
    return codec_head_good(bytes, salt, offset) && codec_record_size(bytes) == sealed->size &&
           codec_read(bytes, salt, offset, record);
}

void flip_bit(char *bytes, size_t bit)
{
    unsigned byte = (unsigned char)bytes[bit / 8];

    bytes[bit / 8] = (char)(byte ^ (1u << bit % 8));
}

bool sealed_read(const struct sealed *sealed)
{
    struct codec_record record = {.number = 0};

    return sealed_read_at(sealed, SALT, OFFSET, &record);
}

const struct dead_letter some_past = {
    .queue = {"posts", 5}, .why = DEAD_EXCEPTION, .attempts = 1000, .at_ms = 1700000000456};
const struct dead_letter no_past = {.why = DEAD_NOT};

struct job_image full_image(void)
{
    return (struct job_image){
        .now = {.id = 77,
                .state = JOB_DELAYED,
                .on_wall = true,
                .keyed = true,
                .attempts = 3,
                .pri = 4000000000,
                .delay = 9,
                .due_at = 1234567890123456789,
                .counters = {.reserves = 1, .timeouts = 2, .releases = 3, .buries = 4, .kicks = 5}},
        .queue = SLICE("mail"),
        .queue_kept = true,
        .key_kind = KEY_NAME,
        .on_fail = ON_FAIL_DROP,
        .on_loss = ON_LOSS_BACK,
        .max_attempts = 1000,
        .ttr = 120,
        .created_ms = 1700000000123,
        .dead_letter = some_past,
        .key = SLICE("a key"),
        .reducer = SLICE("sum"),
        .body = SLICE("the body"),
    };
}

struct job_change change_to(enum job_state state)
{
    return (struct job_change){
        .id = 5,
        .state = (uint8_t)state,
        .imposed = state == JOB_DELAYED,
        .attempts = 7,
        .pri = 8,
        .delay = 9,
        .counted = true,
        .counters = {.reserves = 11, .timeouts = 12, .releases = 13, .buries = 14, .kicks = 15}};
}

void sealed_job(struct sealed *sealed, const struct job_image *image)
{
    assert_int_equal(codec_put_job(sealed->bytes, image, true),
                     codec_job_size(image->queue.len + image->key.len + image->reducer.len +
                                    dead_letter_len(&image->dead_letter) + image->body.len));
    sealed_finish(sealed);
}

void sealed_without_counters(struct sealed *sealed)
{
    const size_t fixed = codec_record_type(sealed->bytes) == CODEC_MOVE ? 32 : 28;
    const size_t counters = 20;
    char *data = sealed->bytes + CODEC_HEAD;
    size_t len = (unsigned char)sealed->bytes[8];

    memmove(data + fixed, data + fixed + counters, len - fixed - counters);
    memset(data + len - counters, 0, counters);
    sealed->bytes[8] = (char)(len - counters);
    data[27] = (char)(data[27] & ~4);
    sealed_finish(sealed);
}

void sealed_change(struct sealed *sealed, enum codec_type type, struct job_change change)
{
    codec_put_change(sealed->bytes, type, &change);
    sealed_finish(sealed);
    assert_int_equal(sealed->size, CODEC_CHANGE_SIZE);
}
