/* SPDX-License-Identifier: MIT */
#include "ctl/api/base64.h"

#include "core/base/base64.h"

void base64_add(struct text *to, struct slice bytes)
{
    size_t at = to->len;

    text_fill(to, '=', base64_encoded_len(bytes.len));
    base64_encode(bytes, to->data + at);
}

bool base64_read(struct text *to, struct slice from)
{
    size_t at = to->len;
    size_t len;
    bool good;

    text_fill(to, '\0', base64_decoded_room(from.len));
    good = base64_decode(from, to->data + at, &len);
    text_cut(to, at + len);
    return good;
}
