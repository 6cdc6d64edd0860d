/* SPDX-License-Identifier: MIT */
#include "proto_gearman/handle.h"

#include "core/log.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *gear_digits(char *at, uint64_t number)
{
    char reversed[GEAR_DIGITS_MAX];
    size_t len = 0;

    do {
        reversed[len++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (len > 0) {
        *at++ = reversed[--len];
    }
    return at;
}

bool gear_number_parse(struct slice text, uint64_t *number)
{
    uint64_t value = 0;

    if (text.len == 0) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.ptr[i] - '0';

        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *number = value;
    return true;
}

int64_t gear_number_read(struct slice text)
{
    char copy[GEAR_DIGITS_MAX + 2];
    size_t spaces = 0;
    size_t len;

    while (spaces < text.len && isspace((unsigned char)text.ptr[spaces])) {
        spaces++;
    }
    len = text.len - spaces < sizeof copy - 1 ? text.len - spaces : sizeof copy - 1;
    memcpy(copy, text.ptr + spaces, len);
    copy[len] = '\0';
    return strtoll(copy, NULL, 10);
}

char *gear_handle_write(const struct gear_shared *shared, uint64_t id, char *at)
{
    memcpy(at, shared->prefix.ptr, shared->prefix.len);
    return gear_digits(at + shared->prefix.len, id);
}

bool gear_handle_parse(const struct gear_shared *shared, struct slice text, uint64_t *id)
{
    struct slice prefix = shared->prefix;

    return text.len > prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0 &&
           text.ptr[prefix.len] != '0' && gear_number_parse(slice_from(text, prefix.len), id);
}

static bool is_word(const char *text)
{
    while (*text && !iscntrl((unsigned char)*text) && *text != ' ') {
        text++;
    }
    return *text == '\0';
}

bool gear_handle_prefix(struct gear_shared *shared, const char *prefix, const char *hostname)
{
    // A byte more than is kept shows that something was cut.
    char text[GEAR_PREFIX_MAX + 2];
    int wanted = *prefix ? snprintf(text, sizeof text, "%s", prefix)
                         : snprintf(text, sizeof text, "H:%s", hostname);
    size_t len = strnlen(text, GEAR_PREFIX_MAX);

    if (!is_word(text)) {
        log_error("handle_prefix_bad", log_string("prefix", text),
                  log_string("why", "a handle must have no blanks and no control bytes"));
        return false;
    }
    if (wanted > GEAR_PREFIX_MAX) {
        log_warn("handle_prefix_cut", log_text("prefix", slice_of(text, len)));
    }
    memcpy(shared->prefix_text, text, len);
    shared->prefix_text[len] = ':';
    shared->prefix = slice_of(shared->prefix_text, len + 1);
    return true;
}
