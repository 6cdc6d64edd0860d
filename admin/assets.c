/* SPDX-License-Identifier: MIT */
#include "admin/assets.h"

#include "core/base/macros.h"
#include "http1/list.h"
#include "http1/reply.h"

#include "admin/context.h"

#include <stdio.h>
#include <string.h>

#define TAG_MAX 40

// A file of the page may change with the program only, but its name stays: browsers keep it, and
// ask whether it is still the same. Nothing comes from elsewhere, and nothing is run but its files.
#define COMMON                                                                                     \
    "Cache-Control: no-cache\r\n"                                                                  \
    "Vary: Accept-Encoding\r\n"                                                                    \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "           \
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; "          \
    "form-action 'none'\r\n"                                                                       \
    "X-Content-Type-Options: nosniff\r\n"                                                          \
    "Referrer-Policy: same-origin\r\n"

static const struct asset *find(struct slice path)
{
    for (const struct asset *asset = admin_assets; asset->path; asset++) {
        if (slice_equal(path, slice_str(asset->path))) {
            return asset;
        }
    }
    UNREACHABLE();
}

// Whether what follows a coding's name, `;q=0.5`, says that it is not wanted: a weight of zero.
static bool weighs_nothing(struct slice params)
{
    const char *end = params.ptr + params.len;
    const char *at = memchr(params.ptr, '=', params.len);

    if (!at) {
        return false;
    }
    for (at++; at < end && (*at == '0' || *at == '.' || *at == ' '); at++) {
    }
    return at == end;
}

// Whether Accept-Encoding names gzip, and wants it.
static bool takes_gzip(struct slice list)
{
    const struct slice name = SLICE("gzip");

    while (list.len > 0) {
        const char *comma = memchr(list.ptr, ',', list.len);
        size_t len = comma ? (size_t)(comma - list.ptr) : list.len;
        struct slice item = slice_of(list.ptr, len);

        list = slice_from(list, comma ? len + 1 : len);
        while (item.len > 0 && *item.ptr == ' ') {
            item = slice_from(item, 1);
        }
        if (item.len >= name.len && http1_same_word(slice_of(item.ptr, name.len), name) &&
            (item.len == name.len || item.ptr[name.len] == ';' || item.ptr[name.len] == ' ')) {
            return !weighs_nothing(slice_from(item, name.len));
        }
    }
    return false;
}

// Whether If-None-Match names the tag.
static bool has_it(struct slice tags, struct slice tag)
{
    struct slice word;

    while (http1_list_next(&tags, &word)) {
        if (word.len > 2 && memcmp(word.ptr, "W/", 2) == 0) {
            word = slice_from(word, 2);
        }
        if (slice_equal(word, tag) || slice_equal(word, SLICE("*"))) {
            return true;
        }
    }
    return false;
}

enum http1_next asset_answer(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct admin_request *request = admin_request(conn);
    const struct asset *asset = find(request->path);
    bool gzip = takes_gzip(request->accept_encoding);
    struct slice bytes = gzip ? slice_of((const char *)asset->gzip, asset->gzip_len)
                              : slice_of((const char *)asset->plain, asset->plain_len);
    char tag[TAG_MAX];
    char extra[sizeof COMMON + TAG_MAX + 64];
    struct http1_reply reply = {.status = 200, .type = asset->type, .extra = extra};
    int len = snprintf(tag, sizeof tag, "\"%s%s\"", asset->tag, gzip ? "-gzip" : "");

    (void)body;
    (void)blob;
    (void)snprintf(extra, sizeof extra, COMMON "ETag: %s\r\n%s", tag,
                   gzip ? "Content-Encoding: gzip\r\n" : "");
    if (has_it(request->none_match, slice_of(tag, (size_t)len))) {
        reply.status = 304;
        http1_reply_head(conn, &reply, 0);
        return HTTP1_NEXT_REQUEST;
    }
    http1_reply(conn, &reply, bytes);
    return HTTP1_NEXT_REQUEST;
}
