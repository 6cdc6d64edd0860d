/* SPDX-License-Identifier: MIT */
#include "ctl/api/field.h"

#include <string.h>

// Paths are constants of this program, and short.
#define KEY_MAX 64

const json_t *field_get(const json_t *from, const char *path)
{
    char key[KEY_MAX];

    while (from && *path) {
        size_t len = strcspn(path, ".");

        if (len >= sizeof key) {
            return NULL;
        }
        memcpy(key, path, len);
        key[len] = '\0';
        from = json_object_get(from, key);
        path += len + (path[len] == '.');
    }
    return from;
}

uint64_t field_count(const json_t *from, const char *path)
{
    const json_t *value = field_get(from, path);

    if (json_is_real(value)) {
        double number = json_real_value(value);

        return number > 0 && number < 0x1p64 ? (uint64_t)number : 0;
    }
    return json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

double field_number(const json_t *from, const char *path)
{
    return json_number_value(field_get(from, path));
}

bool field_true(const json_t *from, const char *path)
{
    return json_is_true(field_get(from, path));
}

bool field_is_set(const json_t *from, const char *path)
{
    const json_t *value = field_get(from, path);

    return value && !json_is_null(value);
}

struct slice field_text(const json_t *from, const char *path)
{
    const json_t *value = field_get(from, path);

    return slice_of(json_string_value(value), json_string_length(value));
}
