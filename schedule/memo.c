/* SPDX-License-Identifier: MIT */

// The memos of schedules. Numbers are little-endian, and a text is stored after its length (u32).
//
//   MEMO_SCHEDULE, key: the name  u8 version 1, u8 missed, u8 overlap, u32 priority, u32 time to
//                                 run (seconds); cron, timezone, queue, body
//   MEMO_FIRED, key: the name     u8 version 1, u64 the moment up to which all are decided, u64 the
//                                 moment of the last job, 0 for none (nanoseconds since 1970);
//                                 cron, timezone: they say which moments are meant

#include "schedule/schedule_private.h"

#include "core/base/memory.h"

#define MEMO_VERSION 1
#define FIRED_LEN_MAX (1 + 8 + 8 + 4 + SCHEDULE_CRON_MAX + 4 + SCHEDULE_ZONE_MAX)

static char *schedule_memo_write_number(char *at, uint64_t number, int bytes)
{
    for (; bytes > 0; bytes--, number >>= 8) {
        *at++ = (char)(number & 0xff);
    }
    return at;
}

static char *schedule_memo_write_text(char *at, struct slice text)
{
    at = schedule_memo_write_number(at, text.len, 4);
    if (text.len) {
        memcpy(at, text.ptr, text.len);
    }
    return at + text.len;
}

struct schedule_memo_reader {
    struct slice rest;
    bool failed; // the memo is too short
};

static uint64_t schedule_memo_read_number(struct schedule_memo_reader *reader, int bytes)
{
    uint64_t number = 0;

    if (reader->failed || reader->rest.len < (size_t)bytes) {
        reader->failed = true;
        return 0;
    }
    for (int i = bytes; i > 0; i--) {
        number = number << 8 | (unsigned char)reader->rest.ptr[i - 1];
    }
    reader->rest = slice_from(reader->rest, (size_t)bytes);
    return number;
}

static struct slice schedule_memo_read_text(struct schedule_memo_reader *reader)
{
    uint64_t len = schedule_memo_read_number(reader, 4);
    struct slice text;

    if (reader->failed || reader->rest.len < len) {
        reader->failed = true;
        return slice_of(NULL, 0);
    }
    text = slice_of(reader->rest.ptr, (size_t)len);
    reader->rest = slice_from(reader->rest, (size_t)len);
    return text;
}

static enum status schedule_memo_put(struct broker *broker, enum memo_kind kind, struct slice key,
                                     const char *value, const char *end)
{
    const struct memo memo = {
        .kind = kind,
        .key = key,
        .value = slice_of(value, (size_t)(end - value)),
        .until_at = NSEC_NEVER,
    };

    return broker_memo_set(broker, &memo);
}

enum status schedule_memo_put_spec(struct broker *broker, const struct schedule_spec *spec)
{
    size_t most = 1 + 1 + 1 + 4 + 4 + 4 * 4 + spec->cron.len + spec->timezone.len +
                  spec->queue.len + spec->body.len;
    char *value = malloc(most), *at = value;
    enum status status;

    if (!value) {
        return STATUS_NO_MEMORY;
    }
    at = schedule_memo_write_number(at, MEMO_VERSION, 1);
    at = schedule_memo_write_number(at, spec->missed, 1);
    at = schedule_memo_write_number(at, spec->overlap, 1);
    at = schedule_memo_write_number(at, spec->pri, 4);
    at = schedule_memo_write_number(at, nsec_units(spec->ttr_for, NSEC_PER_SEC, UINT32_MAX), 4);
    at = schedule_memo_write_text(at, spec->cron);
    at = schedule_memo_write_text(at, spec->timezone);
    at = schedule_memo_write_text(at, spec->queue);
    at = schedule_memo_write_text(at, spec->body);
    status = schedule_memo_put(broker, MEMO_SCHEDULE, spec->name, value, at);
    free(value);
    return status;
}

bool schedule_memo_read_spec(const struct memo *memo, struct schedule_spec *spec)
{
    struct schedule_memo_reader reader = {.rest = memo->value};
    uint64_t version = schedule_memo_read_number(&reader, 1);
    uint64_t missed = schedule_memo_read_number(&reader, 1),
             overlap = schedule_memo_read_number(&reader, 1);

    *spec = (struct schedule_spec){
        .name = memo->key,
        .missed = (enum schedule_missed)missed,
        .overlap = (enum schedule_overlap)overlap,
    };
    spec->pri = (uint32_t)schedule_memo_read_number(&reader, 4);
    spec->ttr_for = nsec_from_seconds(schedule_memo_read_number(&reader, 4));
    spec->cron = schedule_memo_read_text(&reader);
    spec->timezone = schedule_memo_read_text(&reader);
    spec->queue = schedule_memo_read_text(&reader);
    spec->body = schedule_memo_read_text(&reader);
    return !reader.failed && reader.rest.len == 0 && version == MEMO_VERSION &&
           missed <= SCHEDULE_MISSED_ALL && overlap <= SCHEDULE_OVERLAP_SKIP;
}

enum status schedule_memo_put_fired(struct broker *broker, const struct schedule *schedule)
{
    const struct schedule_spec *spec = &schedule_plan(schedule)->spec;
    char value[FIRED_LEN_MAX], *at = value;

    at = schedule_memo_write_number(at, MEMO_VERSION, 1);
    at = schedule_memo_write_number(at, (uint64_t)schedule->decided_at, 8);
    at = schedule_memo_write_number(at, (uint64_t)schedule->fired_at, 8);
    at = schedule_memo_write_text(at, spec->cron);
    at = schedule_memo_write_text(at, spec->timezone);
    return schedule_memo_put(broker, MEMO_FIRED, schedule_name(schedule), value, at);
}

bool schedule_memo_read_fired(const struct broker *broker, struct schedule *schedule)
{
    const struct memo *memo = broker_memo_find(broker, MEMO_FIRED, schedule_name(schedule));
    struct schedule_memo_reader reader = {.rest = memo ? memo->value : slice_of(NULL, 0)};
    uint64_t version = schedule_memo_read_number(&reader, 1);
    nsec_t decided_at = (nsec_t)schedule_memo_read_number(&reader, 8);
    nsec_t fired_at = (nsec_t)schedule_memo_read_number(&reader, 8);
    struct slice cron = schedule_memo_read_text(&reader),
                 timezone = schedule_memo_read_text(&reader);

    if (reader.failed || version != MEMO_VERSION || decided_at < 0) {
        return false;
    }
    schedule->fired_at = fired_at;
    schedule->decided_at = decided_at;
    return schedule_plan_has_moments(schedule_plan(schedule), cron, timezone);
}
