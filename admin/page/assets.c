/* SPDX-License-Identifier: MIT */
#include "admin/page/assets.h"

#include "core/base/macros.h"
#include "http1/http1_options.h"
#include "http1/reply.h"

#include "admin/request/admin_context.h"

#include <stdio.h>
#include <string.h>

#define TAG_MAX 40

// A new version of the program may change a file under the same name, so browsers must revalidate
// it. The policy allows only files of this page, and no inline scripts.
#define ASSET_HEADERS                                                                              \
    "Cache-Control: no-cache\r\n"                                                                  \
    "Vary: Accept-Encoding\r\n"                                                                    \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "           \
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; "          \
    "form-action 'none'\r\n"                                                                       \
    "X-Content-Type-Options: nosniff\r\n"                                                          \
    "Referrer-Policy: same-origin\r\n"

static const struct asset *asset_find(struct slice path)
{
    for (const struct asset *asset = admin_assets; asset->path; asset++) {
        if (slice_equal(path, slice_str(asset->path))) {
            return asset;
        }
    }
    UNREACHABLE();
}

// Whether the parameters of a coding, such as `;q=0.0`, have the weight zero.
static bool has_zero_weight(struct slice params)
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

// Whether the value of Accept-Encoding accepts gzip.
static bool accepts_gzip(struct slice list)
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
            return !has_zero_weight(slice_from(item, name.len));
        }
    }
    return false;
}

// Whether the value of If-None-Match contains the tag.
static bool tags_contain(struct slice tags, struct slice tag)
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
    const struct asset *asset = asset_find(request->path);
    bool gzip = accepts_gzip(request->accept_encoding);
    struct slice bytes = gzip ? slice_of((const char *)asset->gzip, asset->gzip_len)
                              : slice_of((const char *)asset->plain, asset->plain_len);
    char tag[TAG_MAX];
    char extra[sizeof ASSET_HEADERS + TAG_MAX + 64];
    struct http1_reply reply = {.status = 200, .type = asset->type, .extra = extra};
    int len = snprintf(tag, sizeof tag, "\"%s%s\"", asset->tag, gzip ? "-gzip" : "");

    (void)body;
    (void)blob;
    (void)snprintf(extra, sizeof extra, ASSET_HEADERS "ETag: %s\r\n%s", tag,
                   gzip ? "Content-Encoding: gzip\r\n" : "");
    if (tags_contain(request->none_match, slice_of(tag, (size_t)len))) {
        reply.status = 304;
        http1_reply_head(conn, &reply, 0);
        return HTTP1_NEXT_REQUEST;
    }
    http1_reply(conn, &reply, bytes);
    return HTTP1_NEXT_REQUEST;
}
