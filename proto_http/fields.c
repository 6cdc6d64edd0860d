/* SPDX-License-Identifier: MIT */
#include "proto_http/fields.h"

static const char *const own[] = {
#define X(name, text) [WEB_FIELD_##name - HTTP1_FIELD_COUNT] = (text),
    WEB_FIELDS(X)
#undef X
};

void web_names_begin(struct http1_names *names)
{
    http1_names_begin(names, own, sizeof own / sizeof *own);
}

const char *web_field_name(enum web_field field)
{
    return own[field - HTTP1_FIELD_COUNT];
}
