/* SPDX-License-Identifier: MIT */
#include "http1/framing.h"

static bool refuse(struct http1_refusal *refusal, unsigned status, const char *why)
{
    *refusal = (struct http1_refusal){status, why};
    return false;
}

// The value must be exactly that word: http-parser's flag also accepts a list that ends with it,
// and misses it before a tab.
static bool check_coding(const struct http1_fields *fields, struct http1_refusal *refusal)
{
    struct slice coding = fields->values[HTTP1_FIELD_TRANSFER_ENCODING];

    if (!http1_has(fields, HTTP1_FIELD_TRANSFER_ENCODING)) {
        return true;
    }
    if (fields->version_1_0) {
        return refuse(refusal, 400, "HTTP/1.0 knows no Transfer-Encoding");
    }
    return http1_same_word(coding, SLICE("chunked")) ||
           refuse(refusal, 501, "Transfer-Encoding can only be chunked");
}

bool http1_framing_read(const struct http1_fields *fields, struct http1_framing *framing,
                        struct http1_refusal *refusal)
{
    bool measured = http1_has(fields, HTTP1_FIELD_CONTENT_LENGTH);
    bool coded = http1_has(fields, HTTP1_FIELD_TRANSFER_ENCODING);

    *framing = (struct http1_framing){
        .chunked = coded,
        .expects = http1_has(fields, HTTP1_FIELD_EXPECT) && !fields->version_1_0,
        .len = fields->length,
    };
    if (http1_repeats(fields, HTTP1_FIELD_HOST) ||
        (!http1_has(fields, HTTP1_FIELD_HOST) && !fields->version_1_0)) {
        return refuse(refusal, 400, "there must be one Host");
    }
    if (http1_repeats(fields, HTTP1_FIELD_CONTENT_LENGTH) ||
        http1_repeats(fields, HTTP1_FIELD_TRANSFER_ENCODING) || (measured && coded)) {
        return refuse(refusal, 400, "there can be one Content-Length or one Transfer-Encoding");
    }
    if (http1_has(fields, HTTP1_FIELD_EXPECT) &&
        !http1_same_word(fields->values[HTTP1_FIELD_EXPECT], SLICE("100-continue"))) {
        return refuse(refusal, 417, "Expect can only be 100-continue");
    }
    return check_coding(fields, refusal);
}
