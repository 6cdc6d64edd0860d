/* SPDX-License-Identifier: MIT */
#include "admin/metrics_text.h"

#include "core/base/digits.h"
#include "core/base/memory.h"

#include <string.h>

#define ROOM_AT_FIRST 4096
#define NANO UINT64_C(1000000000)
#define MICRO UINT64_C(1000000)

void metrics_text_free(struct metrics_text *text)
{
    memory_free(text->bytes, text->room);
    text->bytes = NULL;
    text->len = text->room = 0;
}

// Room for so many more bytes, at the end; NULL where there is none.
static char *reserve(struct metrics_text *text, size_t len)
{
    size_t room = text->room ? text->room : ROOM_AT_FIRST;
    char *bytes;

    if (text->failed) {
        return NULL;
    }
    while (room - text->len < len) {
        room *= 2;
    }
    if (room == text->room) {
        return text->bytes + text->len;
    }
    bytes = memory_resize(text->bytes, text->room, room);
    if (!bytes) {
        text->failed = true;
        return NULL;
    }
    text->bytes = bytes;
    text->room = room;
    return text->bytes + text->len;
}

static void put(struct metrics_text *text, struct slice bytes)
{
    char *at = reserve(text, bytes.len);

    if (at && bytes.len > 0) {
        memcpy(at, bytes.ptr, bytes.len);
        text->len += bytes.len;
    }
}

static void put_text(struct metrics_text *text, const char *bytes)
{
    put(text, slice_str(bytes));
}

static void put_number(struct metrics_text *text, uint64_t number)
{
    char *at = reserve(text, DIGITS_MAX);

    if (at) {
        text->len += (size_t)(digits_write(at, number) - at);
    }
}

// All decimals that there are, and no zeros behind them.
static void put_seconds(struct metrics_text *text, uint64_t parts, uint64_t per_second)
{
    uint64_t rest = parts % per_second * (NANO / per_second);
    char decimals[10] = ".";
    size_t len = sizeof decimals;

    put_number(text, parts / per_second);
    if (rest == 0) {
        return;
    }
    for (size_t i = len - 1; i > 0; i--) {
        decimals[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    while (decimals[len - 1] == '0') {
        len--;
    }
    put(text, slice_of(decimals, len));
}

static struct slice type_name(enum metric_type type)
{
    return type == METRIC_GAUGE     ? SLICE(" gauge\n")
           : type == METRIC_COUNTER ? SLICE(" counter\n")
                                    : SLICE(" histogram\n");
}

// What is behind the last underline of the name, if that is a unit; empty otherwise.
static const char *unit_of(const char *name)
{
    const char *last = strrchr(name, '_');

    return last && (strcmp(last, "_seconds") == 0 || strcmp(last, "_bytes") == 0) ? last + 1 : "";
}

static void put_family(struct metrics_text *text, const struct metric_family *family)
{
    put_text(text, family->name);
    if (family->type == METRIC_COUNTER && !text->open_metrics) {
        put(text, SLICE("_total"));
    }
}

void metrics_text_head(struct metrics_text *text, const struct metric_family *family)
{
    put(text, SLICE("# HELP "));
    put_family(text, family);
    put(text, SLICE(" "));
    put_text(text, family->help);
    put(text, SLICE("\n# TYPE "));
    put_family(text, family);
    put(text, type_name(family->type));
    if (text->open_metrics && *unit_of(family->name)) {
        put(text, SLICE("# UNIT "));
        put_family(text, family);
        put(text, SLICE(" "));
        put_text(text, unit_of(family->name));
        put(text, SLICE("\n"));
    }
}

// All of a sample but its value.
static void put_series(struct metrics_text *text, const char *name, struct slice suffix,
                       struct slice labels)
{
    put_text(text, name);
    put(text, suffix);
    if (labels.len > 0) {
        put(text, SLICE("{"));
        put(text, labels);
        put(text, SLICE("}"));
    }
    put(text, SLICE(" "));
}

static struct slice suffix_of(const struct metric_family *family)
{
    return family->type == METRIC_COUNTER ? SLICE("_total") : SLICE("");
}

void metrics_text_count(struct metrics_text *text, const struct metric_family *family,
                        struct slice labels, uint64_t value)
{
    put_series(text, family->name, suffix_of(family), labels);
    put_number(text, value);
    put(text, SLICE("\n"));
}

void metrics_text_seconds(struct metrics_text *text, const struct metric_family *family,
                          struct slice labels, uint64_t nanoseconds)
{
    put_series(text, family->name, suffix_of(family), labels);
    put_seconds(text, nanoseconds, NANO);
    put(text, SLICE("\n"));
}

// The end of a bucket. OpenMetrics wants the same bound spelt the same way by all, with a point.
static void put_bound(struct metrics_text *text, const struct metric_histogram *histogram,
                      size_t bucket)
{
    uint64_t end = (uint64_t)histogram->ends[bucket];

    if (bucket + 1 == histogram->buckets) {
        put(text, SLICE("+Inf"));
        return;
    }
    if (histogram->nanoseconds) {
        put_seconds(text, end, NANO);
    } else {
        put_number(text, end);
    }
    if (text->open_metrics && (!histogram->nanoseconds || end % NANO == 0)) {
        put(text, SLICE(".0"));
    }
}

void metrics_text_histogram(struct metrics_text *text, const struct metric_family *family,
                            struct slice labels, const struct metric_histogram *histogram)
{
    uint64_t count = 0;

    for (size_t i = 0; i < histogram->buckets; i++) {
        count += histogram->counts[i];
        put_text(text, family->name);
        put(text, SLICE("_bucket{"));
        put(text, labels);
        put(text, labels.len > 0 ? SLICE(",le=\"") : SLICE("le=\""));
        put_bound(text, histogram, i);
        put(text, SLICE("\"} "));
        put_number(text, count);
        put(text, SLICE("\n"));
    }
    put_series(text, family->name, SLICE("_sum"), labels);
    if (histogram->nanoseconds) {
        put_seconds(text, histogram->sum, histogram->sum_in_us ? MICRO : NANO);
    } else {
        put_number(text, histogram->sum);
    }
    put(text, SLICE("\n"));
    put_series(text, family->name, SLICE("_count"), labels);
    put_number(text, count);
    put(text, SLICE("\n"));
}

void metrics_text_end(struct metrics_text *text)
{
    if (text->open_metrics) {
        put(text, SLICE("# EOF\n"));
    }
}
