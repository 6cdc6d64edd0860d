/* SPDX-License-Identifier: MIT */
#include "http1/http1_options.h"

#include "http1/head.h"

#include <string.h>

// The most bytes of an invalid word in a message.
#define QUOTED_MAX 128

static bool divides_list(char c)
{
    return c == ',' || c == ' ' || c == '\t';
}

bool http1_list_next(struct slice *list, struct slice *word)
{
    size_t len = 0;

    while (list->len > 0 && divides_list(*list->ptr)) {
        *list = slice_from(*list, 1);
    }
    while (len < list->len && !divides_list(list->ptr[len])) {
        len++;
    }
    *word = slice_of(list->ptr, len);
    *list = slice_from(*list, len);
    return len > 0;
}

bool http1_list_names(const char *list, struct slice text)
{
    struct slice rest = slice_str(list);
    struct slice word;

    while (http1_list_next(&rest, &word)) {
        if (http1_same_word(word, text)) {
            return true;
        }
    }
    return false;
}

// Whether the word contains one of the bytes.
static bool has_any(struct slice word, const char *bytes)
{
    for (size_t i = 0; i < word.len; i++) {
        if (strchr(bytes, word.ptr[i])) {
            return true;
        }
    }
    return false;
}

// Whether the word begins with `head` and ends with `tail`.
static bool begins_and_ends(struct slice word, struct slice head, struct slice tail)
{
    return word.len >= head.len + tail.len && http1_same_word(slice_of(word.ptr, head.len), head) &&
           slice_equal(slice_from(word, word.len - tail.len), tail);
}

// Whether it is an origin as browsers send it: `scheme://host`, perhaps with a port other than the
// scheme's default, and no path; or `null`. Anything else would match no page.
static bool is_valid_origin(struct slice origin)
{
    const char *end = origin.ptr + origin.len;
    const char *colon = memchr(origin.ptr, ':', origin.len);

    if (slice_equal(origin, SLICE("*")) || slice_equal(origin, SLICE("null"))) {
        return true;
    }
    return colon && colon > origin.ptr && end - colon > 3 && memcmp(colon, "://", 3) == 0 &&
           !has_any(slice_of(colon + 3, (size_t)(end - colon) - 3), "/*?#@") &&
           !begins_and_ends(origin, SLICE("http://"), SLICE(":80")) &&
           !begins_and_ends(origin, SLICE("https://"), SLICE(":443"));
}

static bool check_origins(const char *origins, struct error_text *why)
{
    struct slice list = slice_str(origins);
    struct slice origin;

    while (http1_list_next(&list, &origin)) {
        if (!is_valid_origin(origin)) {
            return error_set(why,
                             "cors_origins: `%.*s` is not an origin, such as https://app.example",
                             origin.len < QUOTED_MAX ? (int)origin.len : QUOTED_MAX, origin.ptr);
        }
    }
    return true;
}

// The part of the word after its first byte; false if the word is not of the form `*.suffix`.
static bool host_suffix(struct slice word, struct slice *suffix)
{
    *suffix = slice_from(word, 1);
    return word.len > 2 && word.ptr[0] == '*' && word.ptr[1] == '.';
}

bool http1_hosts_have(const char *hosts, struct slice name)
{
    struct slice list = slice_str(hosts);
    struct slice word, suffix;

    while (http1_list_next(&list, &word)) {
        if (host_suffix(word, &suffix)
                ? name.len > suffix.len &&
                      http1_same_word(slice_from(name, name.len - suffix.len), suffix)
                : http1_same_word(word, name)) {
            return true;
        }
    }
    return false;
}

// A host must be a whole name without a port, because that is compared; or `*`, or `*.suffix`.
static bool check_hosts(const char *hosts, struct error_text *why)
{
    struct slice list = slice_str(hosts);
    struct slice host, suffix;

    while (http1_list_next(&list, &host)) {
        struct slice plain = host_suffix(host, &suffix) ? slice_from(suffix, 1) : host;

        if (!slice_equal(host, SLICE("*")) && has_any(plain, *host.ptr == '[' ? "*/@" : "*/@:")) {
            return error_set(why,
                             "hosts: `%.*s` is not a host name, such as app.example, nor `*` or "
                             "`*.app.example`",
                             host.len < QUOTED_MAX ? (int)host.len : QUOTED_MAX, host.ptr);
        }
    }
    return true;
}

bool http1_options_check(const struct http1_options *options, struct error_text *why)
{
    return (!options->cors_origins || check_origins(options->cors_origins, why)) &&
           check_hosts(options->hosts, why);
}

void http1_limits(const void *settings, struct pace_limits *limits)
{
    const struct http1_options *options = settings;

    limits->idle_for = 0;
    limits->body_for = nsec_from_seconds((uint64_t)options->body_timeout);
}
