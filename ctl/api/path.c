/* SPDX-License-Identifier: MIT */
#include "ctl/api/path.h"

#include <stdio.h>
#include <string.h>

static void add_encoded(struct text *path, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    for (; *name; name++) {
        // Dots are plain, but a name of dots alone would be a relative step of the path.
        if (memchr(plain, *name, sizeof plain - 1)) {
            text_put_char(path, *name);
        } else {
            text_format(path, "%%%02X", (unsigned)(unsigned char)*name);
        }
    }
}

void path_add_name(struct text *path, const char *name)
{
    text_put_char(path, '/');
    add_encoded(path, name);
}

void path_add_text(struct text *path, const char *key, const char *value)
{
    if (value) {
        text_put_char(path, memchr(text_string(path), '?', path->len) ? '&' : '?');
        text_format(path, "%s=", key);
        add_encoded(path, value);
    }
}

void path_add_number(struct text *path, const char *key, uint64_t number)
{
    char digits[24];

    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    path_add_text(path, key, digits);
}
