/* SPDX-License-Identifier: MIT */
#include "proto_http/framing.h"

#include "core/base/digits.h"

#include "proto_http/answer.h"

// Answers, and is done with the request; always false.
static bool refuse(struct web_conn *conn, unsigned status, const char *why)
{
    web_refuse_status(conn, status, why);
    return false;
}

static bool read_length(struct web_conn *conn, const struct http1_fields *fields,
                        struct web_framing *framing)
{
    struct slice length = fields->values[WEB_FIELD_CONTENT_LENGTH];

    if (http1_has(fields, WEB_FIELD_CONTENT_LENGTH) && !digits_read(length, &framing->len)) {
        return refuse(conn, 400, "Content-Length is no number");
    }
    if (framing->len > conn->shared->options->max_body) {
        return refuse(conn, 413, "the body is larger than http.max_body");
    }
    return true;
}

static bool read_coding(struct web_conn *conn, const struct http1_fields *fields,
                        struct web_framing *framing)
{
    if (!http1_has(fields, WEB_FIELD_TRANSFER_ENCODING)) {
        return true;
    }
    if (fields->version_1_0) {
        return refuse(conn, 400, "HTTP/1.0 knows no Transfer-Encoding");
    }
    if (!http1_same_word(fields->values[WEB_FIELD_TRANSFER_ENCODING], SLICE("chunked"))) {
        return refuse(conn, 501, "Transfer-Encoding can only be chunked");
    }
    framing->chunked = true;
    return true;
}

bool web_framing_read(struct web_conn *conn, const struct http1_fields *fields,
                      struct web_framing *framing)
{
    bool measured = http1_has(fields, WEB_FIELD_CONTENT_LENGTH);

    *framing = (struct web_framing){.chunked = false};
    if (http1_repeats(fields, WEB_FIELD_HOST) ||
        (!http1_has(fields, WEB_FIELD_HOST) && !fields->version_1_0)) {
        return refuse(conn, 400, "there must be one Host");
    }
    if (http1_repeats(fields, WEB_FIELD_CONTENT_LENGTH) ||
        http1_repeats(fields, WEB_FIELD_TRANSFER_ENCODING) ||
        (measured && http1_has(fields, WEB_FIELD_TRANSFER_ENCODING))) {
        return refuse(conn, 400, "there can be one Content-Length or one Transfer-Encoding");
    }
    if (http1_has(fields, WEB_FIELD_UPGRADE)) {
        return refuse(conn, 400, "there is nothing to upgrade to");
    }
    if (http1_has(fields, WEB_FIELD_EXPECT) &&
        !http1_same_word(fields->values[WEB_FIELD_EXPECT], SLICE("100-continue"))) {
        return refuse(conn, 417, "Expect can only be 100-continue");
    }
    framing->expects = http1_has(fields, WEB_FIELD_EXPECT) && !fields->version_1_0;
    return read_coding(conn, fields, framing) && read_length(conn, fields, framing);
}
