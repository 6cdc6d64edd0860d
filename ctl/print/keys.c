/* SPDX-License-Identifier: MIT */
#include "ctl/print/keys.h"

// Sequences after ESC [ or ESC O, by parameters and final byte.
static const struct {
    struct slice bytes;
    int key;
} sequences[] = {
    {{"A", 1}, KEY_UP},       {{"B", 1}, KEY_DOWN},       {{"C", 1}, KEY_RIGHT},
    {{"D", 1}, KEY_LEFT},     {{"H", 1}, KEY_HOME},       {{"F", 1}, KEY_END},
    {{"5~", 2}, KEY_PAGE_UP}, {{"6~", 2}, KEY_PAGE_DOWN}, {{"1~", 2}, KEY_HOME},
    {{"4~", 2}, KEY_END},
};

int keys_take(struct slice bytes, size_t *len)
{
    size_t end = 2;

    *len = 1;
    if (*bytes.ptr != '\033') {
        return (unsigned char)*bytes.ptr;
    }
    if (bytes.len < 3 || (bytes.ptr[1] != '[' && bytes.ptr[1] != 'O')) {
        return KEY_ESCAPE;
    }
    // Parameter bytes, then a final byte.
    while (end < bytes.len && bytes.ptr[end] >= '0' && bytes.ptr[end] <= '?') {
        end++;
    }
    if (end == bytes.len) {
        return KEY_ESCAPE;
    }
    *len = end + 1;
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        if (slice_equal(slice_of(bytes.ptr + 2, end - 1), sequences[i].bytes)) {
            return sequences[i].key;
        }
    }
    return KEY_NONE;
}
