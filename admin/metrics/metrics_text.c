/* SPDX-License-Identifier: MIT */
#include "admin/metrics/metrics_text.h"

#include "core/base/digits.h"
#include "core/base/memory.h"
#include "core/base/utf8.h"

#include <string.h>
#include <strings.h>

#define INITIAL_ROOM 4096
#define NANO UINT64_C(1000000000)
#define MICRO UINT64_C(1000000)
#define BYTES_PREFIX "bytes:"

//
// The Accept header
//

// Takes the part up to the next divider off the list, without blanks around it. False at the end;
// the part is empty then.
static bool accept_next(struct slice *list, char divider, struct slice *part)
{
    const char *end;

    *part = SLICE("");
    if (list->len == 0) {
        return false;
    }
    end = memchr(list->ptr, divider, list->len);
    *part = slice_of(list->ptr, end ? (size_t)(end - list->ptr) : list->len);
    *list = slice_from(*list, part->len + (end != NULL));
    *part = slice_trim(*part);
    return true;
}

static bool accept_is(struct slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

// In thousandths. The text is `0` or `1`, or one of them with a point and up to three digits; any
// other text is 0.
static unsigned accept_quality(struct slice text)
{
    unsigned quality = 0;
    unsigned weight = 1000;

    for (size_t i = 0; i < text.len; i++) {
        if (i == 1 && text.ptr[i] == '.') {
            continue;
        }
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return 0;
        }
        quality += (unsigned)(text.ptr[i] - '0') * weight;
        weight /= 10;
    }
    return quality < 1000 ? quality : 1000;
}

// The quality of a range, and its type; 0 for an unsupported version of OpenMetrics.
static unsigned accept_range_quality(struct slice range, struct slice *type)
{
    unsigned quality = 1000;
    struct slice parameter, name, value;

    (void)accept_next(&range, ';', type);
    while (accept_next(&range, ';', &parameter)) {
        (void)accept_next(&parameter, '=', &name);
        (void)accept_next(&parameter, '\0', &value);
        if (accept_is(name, "q")) {
            quality = accept_quality(value);
        } else if (accept_is(name, "version") && accept_is(*type, "application/openmetrics-text") &&
                   !accept_is(value, "1.0.0")) {
            return 0;
        }
    }
    return quality;
}

bool metrics_accept_open(struct slice accept)
{
    unsigned open = 0;
    unsigned plain = 0;
    struct slice range, type;

    while (accept_next(&accept, ',', &range)) {
        unsigned quality = accept_range_quality(range, &type);

        if (accept_is(type, "application/openmetrics-text")) {
            open = quality > open ? quality : open;
        } else if (accept_is(type, "text/plain")) {
            plain = quality > plain ? quality : plain;
        }
    }
    return open > 0 && open >= plain;
}

//
// The text
//

void metrics_text_free(struct metrics_text *text)
{
    memory_free(text->bytes, text->room);
    text->bytes = NULL;
    text->len = text->room = 0;
}

// Returns the end of the text, with room for `len` more bytes; NULL if the text has failed.
static char *metrics_reserve(struct metrics_text *text, size_t len)
{
    size_t room = text->room ? text->room : INITIAL_ROOM;
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

static void metrics_put(struct metrics_text *text, struct slice bytes)
{
    char *at = metrics_reserve(text, bytes.len);

    if (at && bytes.len > 0) {
        memcpy(at, bytes.ptr, bytes.len);
        text->len += bytes.len;
    }
}

static void metrics_put_number(struct metrics_text *text, uint64_t number)
{
    char *at = metrics_reserve(text, DIGITS_MAX);

    if (at) {
        text->len += (size_t)(digits_write(at, number) - at);
    }
}

// Writes all decimals, without trailing zeros.
static void metrics_put_seconds(struct metrics_text *text, uint64_t parts, uint64_t per_second)
{
    uint64_t rest = parts % per_second * (NANO / per_second);
    char decimals[10] = ".";
    size_t len = sizeof decimals;

    metrics_put_number(text, parts / per_second);
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
    metrics_put(text, slice_of(decimals, len));
}

static void metrics_put_family_name(struct metrics_text *text, const struct metric_family *family)
{
    metrics_put(text, slice_str(family->name));
    if (family->type == METRIC_COUNTER && !text->open_metrics) {
        metrics_put(text, SLICE("_total"));
    }
}

void metrics_text_head(struct metrics_text *text, const struct metric_family *family)
{
    static const char *const types[] = {[METRIC_GAUGE] = " gauge\n",
                                        [METRIC_COUNTER] = " counter\n",
                                        [METRIC_HISTOGRAM] = " histogram\n"};
    const char *end = strrchr(family->name, '_');

    metrics_put(text, SLICE("# HELP "));
    metrics_put_family_name(text, family);
    metrics_put(text, SLICE(" "));
    metrics_put(text, slice_str(family->help));
    metrics_put(text, SLICE("\n# TYPE "));
    metrics_put_family_name(text, family);
    metrics_put(text, slice_str(types[family->type]));
    if (text->open_metrics && end && (strcmp(end, "_seconds") == 0 || strcmp(end, "_bytes") == 0)) {
        metrics_put(text, SLICE("# UNIT "));
        metrics_put_family_name(text, family);
        metrics_put(text, SLICE(" "));
        metrics_put(text, slice_str(end + 1));
        metrics_put(text, SLICE("\n"));
    }
}

// Writes a sample up to its value.
static void metrics_put_series(struct metrics_text *text, const char *name, struct slice suffix,
                               struct slice labels)
{
    metrics_put(text, slice_str(name));
    metrics_put(text, suffix);
    if (labels.len > 0) {
        metrics_put(text, SLICE("{"));
        metrics_put(text, labels);
        metrics_put(text, SLICE("}"));
    }
    metrics_put(text, SLICE(" "));
}

static struct slice family_suffix(const struct metric_family *family)
{
    return family->type == METRIC_COUNTER ? SLICE("_total") : SLICE("");
}

void metrics_text_count(struct metrics_text *text, const struct metric_family *family,
                        struct slice labels, uint64_t value)
{
    metrics_put_series(text, family->name, family_suffix(family), labels);
    metrics_put_number(text, value);
    metrics_put(text, SLICE("\n"));
}

void metrics_text_seconds(struct metrics_text *text, const struct metric_family *family,
                          struct slice labels, uint64_t nanoseconds)
{
    metrics_put_series(text, family->name, family_suffix(family), labels);
    metrics_put_seconds(text, nanoseconds, NANO);
    metrics_put(text, SLICE("\n"));
}

// OpenMetrics requires a point in integral bounds, so that all writers spell a bound the same way.
static void metrics_put_bound(struct metrics_text *text, const struct metric_histogram *histogram,
                              size_t bucket)
{
    uint64_t end = (uint64_t)histogram->ends[bucket];

    if (bucket + 1 == histogram->buckets) {
        metrics_put(text, SLICE("+Inf"));
        return;
    }
    if (histogram->nanoseconds) {
        metrics_put_seconds(text, end, NANO);
    } else {
        metrics_put_number(text, end);
    }
    if (text->open_metrics && (!histogram->nanoseconds || end % NANO == 0)) {
        metrics_put(text, SLICE(".0"));
    }
}

void metrics_text_histogram(struct metrics_text *text, const struct metric_family *family,
                            struct slice labels, const struct metric_histogram *histogram)
{
    uint64_t count = 0;

    for (size_t i = 0; i < histogram->buckets; i++) {
        count += histogram->counts[i];
        metrics_put(text, slice_str(family->name));
        metrics_put(text, SLICE("_bucket{"));
        metrics_put(text, labels);
        metrics_put(text, labels.len > 0 ? SLICE(",le=\"") : SLICE("le=\""));
        metrics_put_bound(text, histogram, i);
        metrics_put(text, SLICE("\"} "));
        metrics_put_number(text, count);
        metrics_put(text, SLICE("\n"));
    }
    metrics_put_series(text, family->name, SLICE("_sum"), labels);
    if (histogram->nanoseconds) {
        metrics_put_seconds(text, histogram->sum, histogram->sum_in_us ? MICRO : NANO);
    } else {
        metrics_put_number(text, histogram->sum);
    }
    metrics_put(text, SLICE("\n"));
    metrics_put_series(text, family->name, SLICE("_count"), labels);
    metrics_put_number(text, count);
    metrics_put(text, SLICE("\n"));
}

void metrics_text_end(struct metrics_text *text)
{
    if (text->open_metrics) {
        metrics_put(text, SLICE("# EOF\n"));
    }
}

//
// Label values
//

// The format escapes these three bytes between quotes.
static char *label_put(char *to, char byte)
{
    if (byte == '\n') {
        *to++ = '\\';
        *to++ = 'n';
        return to;
    }
    if (byte == '\\' || byte == '"') {
        *to++ = '\\';
    }
    *to++ = byte;
    return to;
}

size_t metrics_label(char *to, struct slice name)
{
    static const char digits[] = "0123456789abcdef";
    const struct slice prefix = SLICE(BYTES_PREFIX);
    bool has_prefix = name.len >= prefix.len && memcmp(name.ptr, prefix.ptr, prefix.len) == 0;
    char *end = to;

    if (!has_prefix && utf8_valid(name)) {
        for (size_t i = 0; i < name.len; i++) {
            end = label_put(end, name.ptr[i]);
        }
        return (size_t)(end - to);
    }
    memcpy(end, prefix.ptr, prefix.len);
    end += prefix.len;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char byte = (unsigned char)name.ptr[i];
        bool printable = byte >= ' ' && byte <= '~';

        if (!printable || byte == '\\') {
            end = label_put(end, '\\');
        }
        if (printable) {
            end = label_put(end, name.ptr[i]);
        } else {
            *end++ = 'x';
            *end++ = digits[byte >> 4];
            *end++ = digits[byte & 15];
        }
    }
    return (size_t)(end - to);
}

size_t metrics_escape(char *to, struct slice text)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    char *end = to;
    size_t len;

    for (size_t i = 0; i < text.len; i += len) {
        len = utf8_sequence(at + i, text.len - i);
        if (len == 1) {
            end = label_put(end, text.ptr[i]);
        } else if (len == 0) {
            len = 1;
            *end++ = '?';
        } else {
            memcpy(end, text.ptr + i, len);
            end += len;
        }
    }
    return (size_t)(end - to);
}
