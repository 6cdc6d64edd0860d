/* SPDX-License-Identifier: MIT */
#include "proto_http/fields.h"

const char *const web_field_names[WEB_FIELD_COUNT] = {
#define X(name, text) [WEB_FIELD_##name - HTTP1_FIELD_COUNT] = (text),
    WEB_FIELDS(X)
#undef X
};

const char *web_field_name(enum web_field field)
{
    return web_field_names[field - HTTP1_FIELD_COUNT];
}
