/* SPDX-License-Identifier: MIT */
#include "schedule/kept.h"

#include "core/base/memory.h"

#define VERSION 1
#define FIRED_MAX (1 + 8 + 8 + 4 + SCHEDULE_CRON_MAX + 4 + SCHEDULE_ZONE_MAX)

struct reader {
    struct slice rest;
    bool failed;
};

static char *put_number(char *at, uint64_t number, int bytes)
{
    for (; bytes > 0; bytes--, number >>= 8) {
        *at++ = (char)(number & 0xff);
    }
    return at;
}

static char *put_text(char *at, struct slice text)
{
    at = put_number(at, text.len, 4);
    if (text.len) {
        memcpy(at, text.ptr, text.len);
    }
    return at + text.len;
}

static uint64_t get_number(struct reader *reader, int bytes)
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

static struct slice get_text(struct reader *reader)
{
    uint64_t len = get_number(reader, 4);
    struct slice text;

    if (reader->failed || reader->rest.len < len) {
        reader->failed = true;
        return slice_of(NULL, 0);
    }
    text = slice_of(reader->rest.ptr, (size_t)len);
    reader->rest = slice_from(reader->rest, (size_t)len);
    return text;
}

enum status kept_put_spec(struct broker *broker, const struct schedule_spec *spec)
{
    size_t most = 1 + 1 + 1 + 4 + 4 + 4 * 4 + spec->cron.len + spec->timezone.len +
                  spec->queue.len + spec->body.len;
    char *value = malloc(most), *at = value;
    enum status status;

    if (!value) {
        return STATUS_NO_MEMORY;
    }
    at = put_number(at, VERSION, 1);
    at = put_number(at, spec->missed, 1);
    at = put_number(at, spec->overlap, 1);
    at = put_number(at, spec->pri, 4);
    at = put_number(at, nsec_units(spec->ttr_for, NSEC_PER_SEC, UINT32_MAX), 4);
    at = put_text(at, spec->cron);
    at = put_text(at, spec->timezone);
    at = put_text(at, spec->queue);
    at = put_text(at, spec->body);
    status =
        broker_memo_set(broker, &(const struct memo){.kind = MEMO_SCHEDULE,
                                                     .key = spec->name,
                                                     .value = slice_of(value, (size_t)(at - value)),
                                                     .until_at = NSEC_NEVER});
    free(value);
    return status;
}

bool kept_read_spec(const struct memo *memo, struct schedule_spec *spec)
{
    struct reader reader = {.rest = memo->value};
    uint64_t version = get_number(&reader, 1);
    uint64_t missed = get_number(&reader, 1), overlap = get_number(&reader, 1);

    *spec = (struct schedule_spec){
        .name = memo->key,
        .missed = (enum schedule_missed)missed,
        .overlap = (enum schedule_overlap)overlap,
    };
    spec->pri = (uint32_t)get_number(&reader, 4);
    spec->ttr_for = nsec_from_seconds(get_number(&reader, 4));
    spec->cron = get_text(&reader);
    spec->timezone = get_text(&reader);
    spec->queue = get_text(&reader);
    spec->body = get_text(&reader);
    return !reader.failed && reader.rest.len == 0 && version == VERSION &&
           missed <= SCHEDULE_MISSED_ALL && overlap <= SCHEDULE_OVERLAP_SKIP;
}

enum status kept_put_fired(struct broker *broker, const struct schedule *schedule)
{
    const struct schedule_spec *spec = &schedule_plan(schedule)->spec;
    char value[FIRED_MAX], *at = value;

    at = put_number(at, VERSION, 1);
    at = put_number(at, (uint64_t)schedule->decided_at, 8);
    at = put_number(at, (uint64_t)schedule->fired_at, 8);
    at = put_text(at, spec->cron);
    at = put_text(at, spec->timezone);
    return broker_memo_set(broker,
                           &(const struct memo){.kind = MEMO_FIRED,
                                                .key = schedule_name(schedule),
                                                .value = slice_of(value, (size_t)(at - value)),
                                                .until_at = NSEC_NEVER});
}

bool kept_read_fired(const struct broker *broker, struct schedule *schedule)
{
    const struct memo *memo = broker_memo_find(broker, MEMO_FIRED, schedule_name(schedule));
    struct reader reader = {.rest = memo ? memo->value : slice_of(NULL, 0)};
    uint64_t version = get_number(&reader, 1);
    nsec_t decided_at = (nsec_t)get_number(&reader, 8), fired_at = (nsec_t)get_number(&reader, 8);
    struct slice cron = get_text(&reader), timezone = get_text(&reader);

    if (reader.failed || version != VERSION || decided_at < 0) {
        return false;
    }
    schedule->fired_at = fired_at;
    schedule->decided_at = decided_at;
    return plan_same_moments(schedule_plan(schedule), cron, timezone);
}
