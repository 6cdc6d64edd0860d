/* SPDX-License-Identifier: MIT */
#include "tests/journal/file/forge.h"

#include "core/broker.h"
#include "journal/codec.h"
#include "journal/segment.h"

#include <stdlib.h>
#include <string.h>

static char *extend(struct forge *forge, size_t len)
{
    if (forge->len + len > forge->room) {
        forge->room = 2 * (forge->len + len);
        forge->bytes = realloc(forge->bytes, forge->room);
        ENSURE(forge->bytes);
    }
    forge->len += len;
    return forge->bytes + forge->len - len;
}

void forge_begin(struct forge *forge, uint64_t number, uint64_t previous_end)
{
    const struct segment_head head = {.number = number,
                                      .salt = number * UINT64_C(0x9e3779b97f4a7c15),
                                      .previous = number - 1,
                                      .previous_end = previous_end,
                                      .ids_end = forge->ids_end ? forge->ids_end : 1,
                                      .created_ms = 1000};

    forge->number = number;
    forge->salt = head.salt;
    forge->len = 0;
    forge->count = 0;
    codec_put_segment_head(extend(forge, CODEC_SEGMENT_HEAD), &head);
}

void forge_unsure(struct forge *forge)
{
    struct segment_head head;

    ENSURE(codec_read_segment_head(forge->bytes, &head) == CODEC_HEAD_GOOD);
    head.previous_unsure = true;
    codec_put_segment_head(forge->bytes, &head);
}

void forge_free(struct forge *forge)
{
    free(forge->bytes);
    *forge = (struct forge){0};
}

void forge_seal(struct forge *forge)
{
    size_t at = forge->marks[forge->count - 1];

    codec_seal(forge->bytes + at, (size_t)codec_record_size(forge->bytes + at), slice_of(NULL, 0),
               forge->salt, at);
}

static char *begin_record(struct forge *forge, size_t size)
{
    ENSURE(forge->count < FORGE_MARKS);
    forge->marks[forge->count++] = forge->len;
    return extend(forge, size);
}

void forge_job(struct forge *forge, const struct job_image *image)
{
    size_t len = image->queue.len + image->key.len + image->reducer.len + image->body.len;

    (void)codec_put_job(begin_record(forge, codec_job_size(len)), image, true);
    forge_seal(forge);
}

void forge_plain(struct forge *forge, uint64_t id, const char *body)
{
    forge_job(forge, &(struct job_image){.now = {.id = id, .state = JOB_READY},
                                         .queue = SLICE("q"),
                                         .body = slice_str(body)});
}

void forge_change(struct forge *forge, enum codec_type type, const struct job_change *change)
{
    codec_put_change(begin_record(forge, CODEC_CHANGE_SIZE), type, change);
    forge_seal(forge);
}

void forge_move(struct forge *forge, const struct job_change *change, struct slice name)
{
    const struct dead_letter none = {.why = DEAD_NOT};

    codec_put_move(begin_record(forge, codec_move_size(name.len, 0)), change, name, false, &none);
    forge_seal(forge);
}

void forge_number(struct forge *forge, enum codec_type type, uint64_t number)
{
    codec_put_number(begin_record(forge, CODEC_NUMBER_SIZE), type, number);
    forge_seal(forge);
}

void forge_pause(struct forge *forge, struct slice name, nsec_t pause_for, nsec_t until_at)
{
    codec_put_pause(begin_record(forge, codec_pause_size(name.len)), name, pause_for, until_at);
    forge_seal(forge);
}

void forge_memo(struct forge *forge, const struct memo *memo)
{
    size_t size = codec_memo_size(memo->key.len, memo->value.len);

    (void)codec_put_memo(begin_record(forge, size), memo, true);
    forge_seal(forge);
}

void forge_forget(struct forge *forge, enum memo_kind kind, struct slice key)
{
    codec_put_forget(begin_record(forge, codec_memo_size(key.len, 0)), kind, key);
    forge_seal(forge);
}

void forge_bytes(struct forge *forge, struct slice bytes)
{
    memcpy(extend(forge, bytes.len), bytes.ptr, bytes.len);
}

void forge_zeros(struct forge *forge, size_t len)
{
    memset(extend(forge, len), 0, len);
}

void forge_put(const struct forge *forge, struct fake_disk *disk)
{
    char name[SEGMENT_NAME_MAX];

    segment_name(forge->number, name);
    fake_disk_put(disk, name, forge->bytes, forge->len);
}
