/* SPDX-License-Identifier: MIT */
#include "admin/metrics_accept.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static struct slice trim(struct slice text)
{
    while (text.len > 0 && is_blank(text.ptr[0])) {
        text = slice_from(text, 1);
    }
    while (text.len > 0 && is_blank(text.ptr[text.len - 1])) {
        text.len--;
    }
    return text;
}

// Takes off what is in front of the next `divider`, without blanks around it; false, and nothing,
// at the end.
static bool take(struct slice *left, char divider, struct slice *part)
{
    const char *end;

    *part = SLICE("");
    if (left->len == 0) {
        return false;
    }
    end = memchr(left->ptr, divider, left->len);
    *part = slice_of(left->ptr, end ? (size_t)(end - left->ptr) : left->len);
    *left = slice_from(*left, part->len + (end != NULL));
    *part = trim(*part);
    return true;
}

static bool same(struct slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

// In thousandths: `0`, `1`, or these with a point and up to three digits; 0 for anything else.
static unsigned quality_of(struct slice text)
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

// How much the client likes the range, whose type is in `type` then; 0 for a version of it that we
// do not speak.
static unsigned liking(struct slice range, struct slice *type)
{
    unsigned quality = 1000;
    struct slice parameter, name;

    (void)take(&range, ';', type);
    while (take(&range, ';', &parameter)) {
        (void)take(&parameter, '=', &name);
        if (same(name, "q")) {
            quality = quality_of(trim(parameter));
        } else if (same(name, "version") && same(*type, "application/openmetrics-text") &&
                   !same(trim(parameter), "1.0.0")) {
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

    while (take(&accept, ',', &range)) {
        unsigned quality = liking(range, &type);

        if (same(type, "application/openmetrics-text")) {
            open = quality > open ? quality : open;
        } else if (same(type, "text/plain")) {
            plain = quality > plain ? quality : plain;
        }
    }
    return open > 0 && open >= plain;
}
