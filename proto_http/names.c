/* SPDX-License-Identifier: MIT */
#include "proto_http/names.h"

#include "core/base/base64.h"
#include "proto_common/field_name.h"

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
    size_t len;
    bool good;

    if (text) {
        return json_object_set_new(object, "data", text) == 0;
    }
    len = base64_encoded_len(data.len);
    base64 = malloc(len + 1);
    if (!base64) {
        return false;
    }
    base64_encode(data, base64);
    good = json_object_set_new(object, "data", json_stringn_nocheck(base64, len)) == 0 &&
           json_object_set_new(object, "encoding", json_string("base64")) == 0;
    free(base64);
    return good;
}
