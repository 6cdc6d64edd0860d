/* SPDX-License-Identifier: MIT */
#include "proto_http/names.h"

#include "proto_common/field_name.h"

#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>

json_t *web_name_json(struct slice name)
{
    json_t *text = json_stringn(name.ptr, name.len);
    char escaped[WEB_NAME_ROOM];

    return text ? text : json_stringn(escaped, (size_t)(field_name_write(name, escaped) - escaped));
}

bool web_data_json(json_t *object, struct slice data)
{
    json_t *text = json_stringn(data.len > 0 ? data.ptr : "", data.len);
    char *base64;
    bool good;

    if (text) {
        return json_object_set_new(object, "data", text) == 0;
    }
    base64 = data.len <= INT32_MAX ? malloc((data.len + 2) / 3 * 4 + 1) : NULL;
    if (!base64) {
        return false;
    }
    (void)EVP_EncodeBlock((unsigned char *)base64, (const unsigned char *)data.ptr, (int)data.len);
    good = json_object_set_new(object, "data", json_string_nocheck(base64)) == 0 &&
           json_object_set_new(object, "encoding", json_string("base64")) == 0;
    free(base64);
    return good;
}
